/* Finds data sets that are probably a mistake: a row number as a feature, or two data sets as trials. */
#include "io/read.h"

#include "base/doubt.h"
#include "base/error.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

/* Returns entry (i, j) of the first trial. */
static double entry(const kspec_matrix *m, size_t i, size_t j) {
    return m->data[(ptrdiff_t)i * m->row_stride + (ptrdiff_t)j * m->col_stride];
}

static double at(const kspec_dataset *d, size_t i, size_t j) {
    const kspec_matrix m = kspec_dataset_trial(d, 0);
    return entry(&m, i, j);
}

/* Writes a column's number and name, such as "3 ('trial')", or only the number if the column has no name. */
static const char *named(const kspec_dataset *d, size_t j, const char *rest, char *text, size_t size) {
    const int has = d->col_names && d->col_names[j][0];
    ks_print(text, size, has ? "%zu ('%.60s')%s" : "%zu%.0s%s", j, has ? d->col_names[j] : "", rest);
    return text;
}

/* ---- the row number that pandas and R write in the first column ---- */

/* Returns 1 if column j counts the rows, from 0 or from 1. */
static int counts_rows(const kspec_dataset *d, size_t j) {
    double first = at(d, 0, j);
    if (d->rows < 3 || (first != 0 && first != 1)) return 0;
    for (size_t i = 1; i < d->rows; i++)
        if (at(d, i, j) != first + (double)i) return 0;
    return 1;
}

static int doubt_index(ks_doubts to, const char *path, const kspec_dataset *d) {
    char text[160];
    int nameless = d->col_names && !d->col_names[0][0];
    if (d->cols < 2 || d->trials > 1 || !(nameless || counts_rows(d, 0))) return 0;
    named(d, 0, nameless ? " has no name, as an index has" : " counts the rows", text, sizeof text);
    ks_doubt(to, KSPEC_DOUBT_INDEX_COLUMN, path, text, 0);
    return 1;
}

/* ---- a header that was read as data ---- */

/* Reports a doubt if row 0 is a list of years or column numbers, unlike every data row. */
static void doubt_header(ks_doubts to, const char *path, const kspec_dataset *d) {
    enum { LEAST = 4 };
    if (d->trials > 1 || d->array_dims != 2 || d->has_header || d->cols < LEAST || d->rows < 3) return;
    const double first = at(d, 0, 0), step = at(d, 0, 1) - first, last = at(d, 0, d->cols - 1);
    const int years = first >= 1500 && last <= 2200, numbers = (first == 0 || first == 1) && step == 1;
    if (!(years || numbers) || !(step >= 1) || first != floor(first)) return;
    int others = 0; /* If another row looks the same, this is how data rows look. */
    for (size_t j = 1; j < d->cols; j++) {
        if (at(d, 0, j) != first + (double)j * step) return;
        others |= at(d, 1, j) - at(d, 1, j - 1) != step;
    }
    if (others) ks_doubt(to, KSPEC_DOUBT_HEADER_ROW, path, NULL, first, last);
}

/* ---- a time or a trial number: rows that depend on each other ---- */

static int is_word(const char *name, const char *const *words) {
    for (; *words; words++) {
        size_t n = strlen(*words), k = 0;
        while (k < n && tolower((unsigned char)name[k]) == (*words)[k]) k++;
        if (k == n && !isalnum((unsigned char)name[n]))
            return 1; /* matches names such as trial, Trial_id and time (s) */
    }
    return 0;
}

/* Returns the kind of index that column j looks like, by its name or its values, or NULL. Values such as
 * 0,0,1,1,1,2 are trial numbers, and values with equal steps are times. */
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

static void doubt_order(ks_doubts to, const char *path, const kspec_dataset *d, size_t first) {
    char text[160];
    for (size_t j = first; j < d->cols; j++) {
        const char *kind = kind_of_index(d, j);
        if (!kind) continue;
        ks_doubt(to, strcmp(kind, "time") == 0 ? KSPEC_DOUBT_TIME_COLUMN : KSPEC_DOUBT_TRIAL_COLUMN, path,
                 named(d, j, "", text, sizeof text), (double)j);
        return;
    }
}

/* ---- two data sets, read as trials of one ---- */

typedef struct {
    double aa, bb, ab; /* sums over all entries, after the mean of each column is subtracted */
    /* the sum over rows of the squared contribution to ab, which gives its error: rows are independent,
     * columns may not be */
    double squares;
} agreement;

/* Computes these sums for two trials. `share` is scratch memory of one number per row. */
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

/* Trials measure the same quantity, so the correlation between their entries, after subtracting the
 * columns' means, is the share of variance that is not noise. Unrelated matrices have a correlation of
 * about 0. */
static void doubt_unrelated(ks_doubts to, const char *const *paths, size_t count, const kspec_dataset *d) {
    if (count < 2 || d->trials % count || d->row_trials || d->rows < 4) return;
    size_t each = d->trials / count;
    double *share = ks_arena_alloc(to.arena, d->rows, sizeof *share);
    const kspec_matrix first = kspec_dataset_trial(d, 0);
    for (size_t k = 1; k < count && share; k++) {
        const kspec_matrix other = kspec_dataset_trial(d, k * each);
        agreement s = agree(&first, &other, share);
        double cosine = s.ab / sqrt(s.aa) / sqrt(s.bb);
        if (!(cosine < 0.1 && s.ab < 3 * sqrt(s.squares))) continue;
        char text[400];
        ks_print(text, sizeof text, "%.160s and %.160s", paths[0], paths[k]);
        ks_doubt(to, KSPEC_DOUBT_UNRELATED_TRIALS, NULL, text, cosine);
        return;
    }
}

/* ---- rows and columns without a single value ---- */

/* Returns 1 if row i (or column i) has no value in any trial. */
static int is_empty(const kspec_dataset *d, int columns, size_t i) {
    for (size_t t = 0; t < d->trials; t++) {
        const kspec_matrix m = kspec_dataset_trial(d, t);
        for (size_t k = 0; k < (columns ? d->rows : d->cols); k++)
            if (!isnan(columns ? entry(&m, k, i) : entry(&m, i, k))) return 0;
    }
    return 1;
}

static void doubt_empty(ks_doubts to, const char *path, const kspec_dataset *d, int columns) {
    size_t empty = 0, first = 0, all = columns ? d->cols : d->rows;
    for (size_t i = 0; i < all; i++)
        if (is_empty(d, columns, i) && empty++ == 0) first = i;
    if (empty && empty < all)
        ks_doubt(to, columns ? KSPEC_DOUBT_EMPTY_COLS : KSPEC_DOUBT_EMPTY_ROWS, path, NULL, (double)empty,
                 (double)first);
}

kspec_status ks_dataset_doubt(kspec_dataset *d, const char *const *paths, size_t count,
                              const kspec_read_opts *o, kspec_error *err) {
    const ks_doubts to = KS_DOUBTS(d);
    if (d->memory) return KSPEC_OK; /* These checks cannot read numbers in GPU memory. */
    const int index = o && o->axes ? 0 : doubt_index(to, paths[0], d);
    if (!o || !o->axes) doubt_header(to, paths[0], d);
    if (((ks_dataset *)d)->decimal_commas) ks_doubt(to, KSPEC_DOUBT_DECIMAL_COMMA, paths[0], NULL, 0);
    if (d->trials == 1 && d->cols > 1) doubt_order(to, paths[0], d, (size_t)index);
    doubt_unrelated(to, paths, count, d);
    if (d->missing && o && o->nan == KSPEC_NAN_KEEP) {
        doubt_empty(to, paths[0], d, 0);
        doubt_empty(to, paths[0], d, 1);
    }
    return to.arena->failed ? ks_nomem(err, "the doubts about the data", to.arena->failed) : KSPEC_OK;
}
