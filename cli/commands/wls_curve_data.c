/* Reads the points of a curve from columns of one table, or from files. */
#include "commands/target.h"
#include "commands/wls.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void wls_points_free(wls_points *p) {
    kspec_free(p->x);
    kspec_free(p->y);
    kspec_free(p->weights);
    kspec_free(p->at);
}

/* Reads one column, from the table by its name or number, or from a file. `where` describes the source in
 * messages. */
static int read_column(const wls_args *a, const char *role, const char *word, kspec_dataset **d) {
    const int file = cli_names_file(word);
    const char *path = file ? word : a->fit;
    const kspec_read_opts how = {
        .size = sizeof how, .select_cols = file ? NULL : word, .nan = KSPEC_NAN_KEEP};
    int status = cli_read_one(&a->common, role, path, &how, d);
    if (!status && (*d)->cols != 1)
        status = cli_error(EXIT_INPUT, "%s: %zu columns, but --%s has 1", word, (*d)->cols, role);
    for (size_t i = 0; !status && i < (*d)->rows; i++)
        if (isnan((*d)->data[i]))
            status =
                cli_error(EXIT_INPUT,
                          "%s: row %zu (from 0) of --%s %s is missing; only y may have gaps, so omit the row",
                          path, i, role, word);
    return status;
}

/* Sets *columns to a selection such as "!x,!w": all columns of the table except x and the weights. The
 * caller frees the selection; NULL selects all columns. */
static int all_but(const wls_args *a, char **columns) {
    const char *const taken[] = {a->x, a->sample_weight};
    size_t size = 1;
    for (int k = 0; k < 2; k++) size += taken[k] ? strlen(taken[k]) + 2 : 0;
    char *text = *columns = malloc(size);
    if (!text) return cli_no_memory();
    *text = 0;
    for (int k = 0; k < 2; k++)
        if (taken[k] && !cli_names_file(taken[k]))
            sprintf(text + strlen(text), "%s!%s", *text ? "," : "", taken[k]);
    return EXIT_DONE;
}

/* Checks that Y has one column, or two with --complex. A vector of complex numbers also counts as two
 * columns. */
static int check_shapes(const wls_args *a, wls_points *p) {
    const kspec_dataset *y = p->y;
    p->is_complex = a->complex || y->is_complex;
    if (p->is_complex && y->cols != 2)
        return cli_error(EXIT_INPUT, "%s: %zu column%s, but complex data have 2", a->fit, y->cols,
                         cli_s(y->cols));
    if (!p->is_complex && y->cols == 2 && !a->x)
        return cli_error(EXIT_INPUT,
                         "%s: 2 columns may be x and y (--x COLUMN), or real and imaginary parts (--complex)",
                         a->fit);
    if (!p->is_complex && y->cols != 1)
        return cli_error(EXIT_INPUT, "%s: %zu columns%s; name the measured one (--target COLUMN)", a->fit,
                         y->cols, a->x ? " beside x" : "");
    const struct {
        const char *role, *word;
        const kspec_dataset *d;
    } others[] = {{"x", a->x, p->x}, {"sample-weight", a->sample_weight, p->weights}};
    for (int k = 0; k < 2; k++)
        if (others[k].d && others[k].d->rows != y->rows)
            return cli_error(EXIT_INPUT, "%s has %zu row%s, but --%s %s has %zu", a->fit, y->rows,
                             cli_s(y->rows), others[k].role, others[k].word, others[k].d->rows);
    if (p->at && p->at->cols != 1)
        return cli_error(EXIT_INPUT, "%s: %zu columns, but x has 1", a->at, p->at->cols);
    return EXIT_DONE;
}

int wls_points_read(wls_args *a, wls_points *p) {
    char *rest = NULL;
    int status = EXIT_DONE;
    if ((a->x || a->sample_weight || a->target) && strcmp(a->fit, "-") == 0)
        return cli_error(EXIT_USAGE,
                         "wls fit: standard input does not allow a choice of columns; use a file");
    /* Columns with names are read first, because a name that the header lacks is the more likely mistake. */
    if (a->x) status = read_column(a, "x", a->x, &p->x);
    if (!status && a->sample_weight) status = read_column(a, "sample-weight", a->sample_weight, &p->weights);
    if (!status && !p->y) status = all_but(a, &rest);
    if (!status && !p->y) {
        const kspec_read_opts how = {.size = sizeof how,
                                     .select_cols = a->target ? a->target
                                                    : *rest   ? rest
                                                              : NULL,
                                     .nan = a->gaps ? KSPEC_NAN_KEEP : KSPEC_NAN_ERROR,
                                     .complex_pairs = 1};
        status = cli_read_one(&a->common, NULL, a->fit, &how, &p->y);
    }
    if (!status && a->at) status = wls_read(a, "at", a->at, 0, 0, &p->at);
    if (!status) status = check_shapes(a, p);
    if (!status) p->rows = p->y->rows;
    free(rest);
    return status;
}
