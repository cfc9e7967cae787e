/* Reads the data of `kspec ridge`: files of rows and of targets, and classes picked from them. */
#include "commands/ridge.h"
#include "commands/target.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void ridge_set_free(ridge_set *s) {
    kspec_free(s->x_file);
    kspec_free(s->y_file);
    free(s->x_rows);
    free(s->y_rows);
    free(s->complete);
}

static double at(const kspec_matrix *m, size_t i, size_t j) {
    return m->data[(ptrdiff_t)i * m->row_stride + (ptrdiff_t)j * m->col_stride];
}

/* Copies row i of m, and returns 0 if an entry is missing. */
static int copy_complete(const kspec_matrix *m, size_t i, double *to) {
    for (size_t j = 0; j < m->cols; j++)
        if (isnan(to[j] = at(m, i, j))) return 0;
    return 1;
}

/* With --nan omit-rows, keeps only the rows whose entries and targets are all present. */
static int omit_rows(const ridge_args *a, const char *name, ridge_set *s) {
    const size_t rows = s->x.rows, p = s->x.cols, m = s->y.cols;
    size_t n = 0;
    double *x = malloc(rows * (p + m) * sizeof *x);
    if (!x) return cli_no_memory();
    double *y = x + rows * p;
    for (size_t i = 0; i < rows; i++)
        n += copy_complete(&s->x, i, x + n * p) && copy_complete(&s->y, i, y + n * m);
    s->complete = x;
    if (n == 0) return cli_error(EXIT_INPUT, "%s: each of the %zu rows has a missing value", name, rows);
    if (n < rows)
        cli_warn(&a->common, "%s: left out %zu of %zu rows for missing values", name, rows - n, rows);
    s->x = (kspec_matrix){x, n, p, (ptrdiff_t)p, 1};
    s->y = (kspec_matrix){y, n, m, (ptrdiff_t)m, 1};
    return EXIT_DONE;
}

/* Reads the rows and the targets of INPUT (role NULL) or of --test. --select-rows applies to INPUT. y is
 * a file, or NULL if columns of x hold the targets. */
static int read_pair(const ridge_args *a, const char *role, const char *x, const char *y, ridge_set *s) {
    const char *rows = role ? NULL : a->common.select_rows;
    const kspec_nan nan = a->common.nan == KSPEC_NAN_OMIT_ROWS ? KSPEC_NAN_KEEP : KSPEC_NAN_ERROR;
    char *rest = y ? NULL : cli_all_but(a->common.select_cols, a->target);
    if (!y && !rest) return cli_no_memory();
    const kspec_read_opts of_x = {.size = sizeof of_x,
                                  .axes = a->common.axes,
                                  .select_rows = rows,
                                  .select_cols = y ? a->common.select_cols : rest,
                                  .fill = a->common.fill.at,
                                  .fill_count = a->common.fill.count,
                                  .nan = nan,
                                  .in_place = 1},
                          of_y = {.size = sizeof of_y,
                                  .axes = y ? NULL : a->common.axes,
                                  .select_rows = rows,
                                  .select_cols = y ? a->target_cols : a->target,
                                  .fill = a->common.fill.at,
                                  .fill_count = a->common.fill.count,
                                  .nan = nan};
    /* The target of a table is read first, because a wrong target name is the most likely mistake. */
    int status = EXIT_DONE;
    for (int k = 0; k < 2 && !status; k++)
        if ((k == 0) == !y)
            status = cli_read_one(&a->common, role ? "test_target" : "target", y ? y : x, &of_y, &s->y_file);
        else
            status = cli_read_one(&a->common, role, x, &of_x, &s->x_file);
    free(rest);
    if (status) return status;
    if (s->x_file->rows != s->y_file->rows)
        return cli_error(EXIT_INPUT, "%s has %zu row%s, but its target %s has %zu", x, s->x_file->rows,
                         cli_s(s->x_file->rows), y ? y : a->target, s->y_file->rows);
    s->x = kspec_dataset_trial(s->x_file, 0);
    s->y = kspec_dataset_trial(s->y_file, 0);
    return nan == KSPEC_NAN_KEEP ? omit_rows(a, x, s) : EXIT_DONE;
}

static int by_value(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Sets a->labels to the two given labels, or to all labels that occur in the training targets. */
static int find_labels(ridge_args *a, const ridge_set *train, const char *name) {
    const size_t rows = train->x.rows, count = a->classes.count ? 2 : rows;
    if (train->y.cols != 1)
        return cli_error(EXIT_INPUT, "--classes: the target of %s has %zu columns, not 1", name,
                         train->y.cols);
    a->labels = malloc(count * sizeof *a->labels);
    if (!a->labels) return cli_no_memory();
    if (a->classes.count) {
        memcpy(a->labels, a->classes.at, 2 * sizeof *a->labels);
        a->label_count = 2;
        return EXIT_DONE;
    }
    for (size_t i = 0; i < rows; i++) a->labels[i] = at(&train->y, i, 0);
    qsort(a->labels, rows, sizeof *a->labels, by_value);
    a->label_count = 0;
    for (size_t i = 0; i < rows; i++)
        if (i == 0 || a->labels[i] != a->labels[a->label_count - 1])
            a->labels[a->label_count++] = a->labels[i];
    if (a->label_count < 2)
        return cli_error(EXIT_INPUT, "--classes all: all %zu rows of %s have the class %g", rows, name,
                         a->labels[0]);
    if (2 * a->label_count > rows)
        return cli_error(EXIT_INPUT,
                         "--classes all: %zu classes exceed half of the %zu rows of %s; use no --classes if "
                         "the target is a number to predict",
                         a->label_count, rows, name);
    return EXIT_DONE;
}

/* Returns the number of a row's label, or label_count if the label is not in use. */
static size_t label_of(const ridge_args *a, const ridge_set *from, size_t i) {
    size_t k = 0;
    while (k < a->label_count && at(&from->y, i, 0) != a->labels[k]) k++;
    return k;
}

/* Picks rows of `from` that have one of the labels. In each class the function skips `skip` rows and
 * takes the next `count` rows (0: all), in the file's order. For two classes the targets are -1 and 1.
 * For more classes the targets have one column per class, with 1 in the column of the row's class and 0
 * elsewhere. */
static int pick(const ridge_args *a, const ridge_set *from, const char *name, size_t skip, size_t count,
                ridge_set *to) {
    const size_t rows = from->x.rows, p = from->x.cols, classes = a->label_count,
                 m = classes > 2 ? classes : 1;
    if (from->y.cols != 1)
        return cli_error(EXIT_INPUT, "--classes: the target of %s has %zu columns, not 1", name,
                         from->y.cols);
    size_t *seen = calloc(classes + 1, sizeof *seen), n = 0, most = 0;
    if (!seen) return cli_no_memory();
    int status = EXIT_DONE;
    for (size_t i = 0; i < rows; i++) seen[label_of(a, from, i)]++;
    if (seen[classes] && !a->classes.count)
        status =
            cli_error(EXIT_INPUT, "--classes all: %s has %zu row%s of classes that have no training rows",
                      name, seen[classes], cli_s(seen[classes]));
    const size_t least = !count && !a->classes.count && !skip ? 0 : skip + (count ? count : 1);
    for (size_t k = 0; k < classes && !status; k++) {
        if (seen[k] < least)
            status = cli_error(EXIT_INPUT, "%s has %zu row%s of class %g, fewer than %zu", name, seen[k],
                               cli_s(seen[k]), a->labels[k], least);
        most += count ? count : seen[k] - skip;
    }
    double *x = status ? NULL : malloc(most * p * sizeof *x),
           *y = status ? NULL : calloc(most * m, sizeof *y);
    if (!status) to->x_rows = x, to->y_rows = y;
    if (!status && (!x || !y))
        status = cli_error(EXIT_FAILED, "out of memory for %zu rows of %zu columns", most, p);
    memset(seen, 0, classes * sizeof *seen);
    for (size_t i = 0; i < rows && !status; i++) {
        const size_t k = label_of(a, from, i);
        if (k == classes) continue;
        const size_t place = seen[k]++;
        if (place < skip || (count && place >= skip + count)) continue;
        for (size_t j = 0; j < p; j++) x[n * p + j] = at(&from->x, i, j);
        y[m > 1 ? n * m + k : n] = m > 1 || k ? 1 : -1;
        n++;
    }
    free(seen);
    if (status) return status;
    to->x = (kspec_matrix){x, n, p, (ptrdiff_t)p, 1};
    to->y = (kspec_matrix){y, n, m, (ptrdiff_t)m, 1};
    return EXIT_DONE;
}

static int check_args(const ridge_args *a) {
    if (a->common.nan != KSPEC_NAN_ERROR && a->common.nan != KSPEC_NAN_OMIT_ROWS)
        return cli_error(EXIT_USAGE, "--nan: ridge needs complete rows; it takes error or omit-rows");
    if (!a->target) return cli_error(EXIT_USAGE, "ridge: --target is missing");
    if (a->in_table && a->test_target)
        return cli_error(EXIT_USAGE,
                         "--test-target: not needed, because the target is column %s of INPUT and of --test",
                         a->target);
    if (a->in_table && a->target_cols)
        return cli_error(EXIT_USAGE,
                         "--target-cols is for a --target file; --target names the columns itself");
    if (a->in_table && strcmp(a->common.inputs[0], "-") == 0)
        return cli_error(EXIT_USAGE, "--target: the target cannot be a column of standard input; use a file");
    if (!a->in_table && !a->test != !a->test_target)
        return cli_error(EXIT_USAGE, "ridge: --test needs --test-target, and the reverse");
    if (a->test_fraction > 0 && (a->test || a->test_noise > 0 || a->test_per_class))
        return cli_error(EXIT_USAGE, "--test-fraction: --%s gives the test rows already",
                         a->test             ? "test"
                         : a->test_noise > 0 ? "test-noise"
                                             : "test-per-class");
    if (a->classes.count && a->classes.count != 2)
        return cli_error(EXIT_USAGE, "--classes: %zu given, but two are needed", a->classes.count);
    if (a->classes.count && a->classes.at[0] == a->classes.at[1])
        return cli_error(EXIT_USAGE, "--classes: %g and %g are the same", a->classes.at[0], a->classes.at[1]);
    if (!cli_given(&a->common, "classes") && (a->per_class || a->test_per_class))
        return cli_error(EXIT_USAGE, "--%sper-class needs --classes", a->per_class ? "" : "test-");
    if (a->test_per_class && !a->test && !a->per_class)
        return cli_error(EXIT_USAGE,
                         "--test-per-class without --test needs --per-class, to leave rows for testing");
    return EXIT_DONE;
}

int ridge_read(ridge_args *a, ridge_set *train, ridge_set *test) {
    memset(train, 0, sizeof *train);
    memset(test, 0, sizeof *test);
    a->in_table = a->target && !cli_names_file(a->target);
    int status = check_args(a);
    if (status) return status;
    const char *input = a->common.inputs[0];
    status = read_pair(a, NULL, input, a->in_table ? NULL : a->target, train);
    if (!status && a->test) status = read_pair(a, "test", a->test, a->test_target, test);
    if (status) return status;
    cli_note_treatment(&a->common, NULL, a->center, a->scale);
    cli_note_treatment(&a->common, "test", a->center, a->scale);
    if (a->test && test->x.cols != train->x.cols)
        return cli_error(EXIT_INPUT, "%s has %zu column%s, but %s has %zu", a->test, test->x.cols,
                         cli_s(test->x.cols), input, train->x.cols);
    if (a->test && test->y.cols != train->y.cols)
        return cli_error(EXIT_INPUT, "%s has %zu column%s, but %s has %zu", a->test_target, test->y.cols,
                         cli_s(test->y.cols), a->target, train->y.cols);
    if (!cli_given(&a->common, "classes")) return EXIT_DONE;
    status = find_labels(a, train, input);
    if (status) return status;
    size_t held = a->test_per_class ? a->test_per_class : a->per_class;
    if (a->test)
        status = pick(a, test, a->test, 0, held, test);
    else if (a->test_per_class)
        status = pick(a, train, input, a->per_class, held, test);
    return status ? status : pick(a, train, input, 0, a->per_class, train);
}
