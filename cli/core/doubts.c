/*
 * What was read, and is probably not what was meant: a row number as a feature, two data sets as trials, a
 * row that was never measured.
 */
#include "core/cli.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Of the first trial, whatever the layout: an array of a host's is used where it lies */
static double entry(const kspec_matrix *m, size_t i, size_t j) {
    return m->data[(ptrdiff_t)i * m->row_stride + (ptrdiff_t)j * m->col_stride];
}

static double at(const kspec_dataset *d, size_t i, size_t j) {
    const kspec_matrix m = kspec_dataset_trial(d, 0);
    return entry(&m, i, j);
}

/* " ('trial')", or nothing where the column has no name */
static const char *named(const kspec_dataset *d, size_t j, char *text, size_t size) {
    *text = 0;
    if (d->col_names && d->col_names[j][0]) snprintf(text, size, " ('%.60s')", d->col_names[j]);
    return text;
}

/* ---- the number of a row, as pandas and R write it before the others ---- */

/* Does column j count the rows, from 0 or from 1? */
static int counts_rows(const kspec_dataset *d, size_t j) {
    double first = at(d, 0, j);
    if (d->rows < 3 || (first != 0 && first != 1)) return 0;
    for (size_t i = 1; i < d->rows; i++)
        if (at(d, i, j) != first + (double)i) return 0;
    return 1;
}

static int warn_index(const cli_common *c, const char *path, const kspec_dataset *d) {
    char name[80];
    int nameless = d->col_names && !d->col_names[0][0];
    if (d->cols < 2 || d->trials > 1 || !(nameless || counts_rows(d, 0))) return 0;
    cli_warn(c, "%s: column 0%s %s: it is probably not a feature, and --select-cols %s", path,
             named(d, 0, name, sizeof name), nameless ? "has no name, as an index has" : "counts the rows",
             c->select_cols ? "can leave it out" : "1- leaves it out");
    return 1;
}

/* ---- a time or a trial: rows that depend on each other ---- */

static int is_word(const char *name, const char *const *words) {
    for (; *words; words++) {
        size_t n = strlen(*words), k = 0;
        while (k < n && tolower((unsigned char)name[k]) == (*words)[k]) k++;
        if (k == n && !isalnum((unsigned char)name[n])) return 1; /* trial, Trial_id, time (s) */
    }
    return 0;
}

/* A column whose name says so, or whose values do: runs of 0,0,1,1,1,2, or a clock of equal steps */
static const char *kind_of_index(const kspec_dataset *d, size_t j) {
    static const char *const clocks[] = {"time", "timestamp", "frame", "date", NULL},
                             *const parts[] = {"trial",       "session",  "subject", "block",
                                               "participant", "animal",   "mouse",   "batch",
                                               "day",         "document", "patient", NULL};
    enum { ROWS = 8, KINDS = 3 };
    const char *name = d->col_names ? d->col_names[j] : "";
    if (is_word(name, clocks)) return "time";
    if (is_word(name, parts)) return "trial";
    if (d->rows < ROWS) return NULL;
    int runs = at(d, 0, j) == floor(at(d, 0, j)), clock = 1;
    double step = at(d, 1, j) - at(d, 0, j), changes = 0;
    for (size_t i = 1; i < d->rows && (runs || clock); i++) {
        double change = at(d, i, j) - at(d, i - 1, j);
        runs &= change == 0 || change == 1;
        clock &= change > 0 && fabs(change - step) <= 1e-6 * step;
        changes += change == 1;
    }
    if (runs && changes >= KINDS - 1 && changes <= (double)d->rows / 2) return "trial";
    return clock ? "time" : NULL;
}

static void warn_order(const cli_common *c, const char *path, const kspec_dataset *d, size_t first) {
    char name[80];
    for (size_t j = first; j < d->cols; j++) {
        const char *kind = kind_of_index(d, j);
        if (!kind) continue;
        cli_warn(c,
                 "%s: column %zu%s looks like a %s index: intervals assume independent rows; leave it out "
                 "(--select-cols), and give rows that depend on each other one label (%s)",
                 path, j, named(d, j, name, sizeof name), kind,
                 d->col_names && *kind == 't' && kind[1] == 'r' ? "--groups-column" : "--groups");
        return;
    }
}

/* ---- two data sets, taken as trials of one ---- */

typedef struct {
    double aa, bb, ab; /* sums over entries, the mean of each column removed */
    double squares;    /* of each row's share of ab: rows are independent, where columns may not be */
} agreement;

/* share: room for a number per row */
static agreement agree(const kspec_matrix *a, const kspec_matrix *b, double *share) {
    agreement sum = {0};
    memset(share, 0, a->rows * sizeof *share);
    for (size_t j = 0; j < a->cols; j++) {
        double mean[2] = {0}, n = 0;
        for (size_t i = 0; i < a->rows; i++) {
            double x = entry(a, i, j), y = entry(b, i, j);
            if (!isnan(x) && !isnan(y)) mean[0] += x, mean[1] += y, n++;
        }
        for (size_t i = 0; i < a->rows && n > 0; i++) {
            double x = entry(a, i, j) - mean[0] / n, y = entry(b, i, j) - mean[1] / n;
            if (isnan(x) || isnan(y)) continue;
            sum.aa += x * x, sum.bb += y * y, sum.ab += x * y;
            share[i] += x * y;
        }
    }
    for (size_t i = 0; i < a->rows; i++) sum.squares += share[i] * share[i];
    return sum;
}

/*
 * Trials share what they measure: the correlation of their entries, about the columns' means, is the part of
 * the variance that is not noise. Unrelated matrices have 0 but for chance.
 */
static void warn_unrelated(const cli_common *c, const char *const *paths, size_t count,
                           const kspec_dataset *d) {
    if (count < 2 || d->trials % count || d->row_trials || d->rows < 4) return;
    size_t each = d->trials / count;
    double *share = malloc(d->rows * sizeof *share);
    const kspec_matrix first = kspec_dataset_trial(d, 0);
    for (size_t k = 1; k < count && share; k++) {
        const kspec_matrix other = kspec_dataset_trial(d, k * each);
        agreement s = agree(&first, &other, share);
        double cosine = s.ab / sqrt(s.aa) / sqrt(s.bb);
        if (!(cosine < 0.1 && s.ab < 3 * sqrt(s.squares))) continue;
        cli_warn(c,
                 "%s and %s agree no more than chance (correlation %.2g): several INPUTs mean repeats of the "
                 "same rows and columns; two data sets are for kspec compare",
                 paths[0], paths[k], cosine);
        break;
    }
    free(share);
}

void cli_doubt(const cli_common *c, const char *const *paths, size_t count, const kspec_dataset *d) {
    int index = 0;
    if (!c->axes) index = warn_index(c, paths[0], d);
    const cli_option *o = c->command->options;
    if (o && cli_has_option(o, "groups") && !cli_given(c, "groups") && !cli_given(c, "groups-column") &&
        d->trials == 1 && d->cols > 1)
        warn_order(c, paths[0], d, (size_t)index);
    warn_unrelated(c, paths, count, d);
}

/* ---- rows and columns without a single value, which --nan pairwise passes over ---- */

/* Has row i, or column i, a value in any trial? */
static int is_empty(const kspec_dataset *d, int columns, size_t i) {
    for (size_t t = 0; t < d->trials; t++) {
        const kspec_matrix m = kspec_dataset_trial(d, t);
        for (size_t k = 0; k < (columns ? d->rows : d->cols); k++)
            if (!isnan(columns ? entry(&m, k, i) : entry(&m, i, k))) return 0;
    }
    return 1;
}

static void warn_empty(const cli_common *c, const char *path, const kspec_dataset *d, int columns) {
    const char *what = columns ? "column" : "row";
    size_t empty = 0, first = 0, all = columns ? d->cols : d->rows;
    for (size_t i = 0; i < all; i++)
        if (is_empty(d, columns, i) && empty++ == 0) first = i;
    if (empty == 1) cli_warn(c, "%s: %s %zu (from 0) has no value, and takes no part", path, what, first);
    if (empty > 1 && empty < all)
        cli_warn(c, "%s: %zu %ss have no value, the first of them %s %zu (from 0), and take no part", path,
                 empty, what, what, first);
}

void cli_warn_empty(const cli_common *c, const char *path, const kspec_dataset *d) {
    if (!d->missing || c->nan != KSPEC_NAN_KEEP) return;
    warn_empty(c, path, d, 0);
    warn_empty(c, path, d, 1);
}
