/* Reads labels that mark which rows and columns depend on each other. */
#include "commands/groups.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int read_labels(const cli_common *c, const char *option, const char *path, const char *column,
                       const char *select_rows, kspec_labels **out) {
    kspec_error err;
    const kspec_read_opts how = {
        .size = sizeof how, .select_cols = column, .select_rows = select_rows, .team = cli_ranks_reading(c)};
    kspec_status st = kspec_read_labels(path, &how, out, &err);
    if (st) return cli_fail(st, &err);
    if (option) cli_note_input(c, option, &path, 1, NULL, NULL);
    return cli_ranks_bytes(c, path, (*out)->of, (*out)->count * sizeof *(*out)->of);
}

/* Returns the selection (--select-cols) of all columns except the column of the labels. */
static char *others(const kspec_labels *l) {
    char *s = malloc(96), *p = s;
    if (!s) return NULL;
    if (l->column > 0) p += sprintf(p, "0-%zu", l->column - 1);
    if (l->column + 1 < l->columns) sprintf(p, "%s%zu-%zu", p > s ? "," : "", l->column + 1, l->columns - 1);
    return s;
}

/* Checks that the tables of all trials give a row the same group, because trials share their rows. */
static int same_labels(const cli_common *c, const cli_group_files *f, size_t k, const kspec_labels *first) {
    kspec_labels *other = NULL;
    int status = read_labels(c, NULL, c->inputs[k], f->column, c->select_rows, &other);
    if (!status &&
        (other->count != first->count || memcmp(other->of, first->of, first->count * sizeof *first->of) != 0))
        status = cli_error(EXIT_INPUT, "column '%s' of %s and of %s must have the same groups", f->column,
                           c->inputs[k], c->inputs[0]);
    kspec_free(other);
    return status;
}

/* Takes the labels from a column of the table, and excludes this column from the features. */
static int take_column(cli_common *c, const cli_group_files *f, cli_groups *g) {
    if (f->rows) return cli_error(EXIT_USAGE, "--groups and --groups-column cannot be combined");
    if (strcmp(c->inputs[0], "-") == 0)
        return cli_error(EXIT_USAGE,
                         "--groups-column reads its table twice, which standard input does not allow");
    if (c->axes && strcmp(c->axes, "rows,cols") != 0)
        return cli_error(EXIT_USAGE, "--groups-column needs a table of rows and columns, not --axes %s",
                         c->axes);
    int status = read_labels(c, NULL, c->inputs[0], f->column, c->select_rows, &g->rows);
    for (size_t k = 1; k < c->input_count && !status; k++) status = same_labels(c, f, k, g->rows);
    if (status || c->select_cols) return status;
    if (g->rows->columns < 2)
        return cli_error(EXIT_INPUT, "%s has no column besides '%s'", c->inputs[0], f->column);
    c->select_cols = g->others = others(g->rows);
    return g->others ? EXIT_DONE : cli_no_memory();
}

static int check_length(const char *path, const kspec_labels *l, size_t count, const char *what) {
    if (l->count == count) return EXIT_DONE;
    return cli_error(EXIT_INPUT, "%s has %zu label%s, the matrix has %zu %s%s", path, l->count,
                     cli_s(l->count), count, what, cli_s(count));
}

/* Returns 1 if row (or column) k lacks a value in some trial. */
static int has_missing(const kspec_dataset *d, int rows, size_t k) {
    for (size_t t = 0; t < d->trials; t++)
        for (size_t l = 0; l < (rows ? d->cols : d->rows); l++)
            if (isnan(d->data[(t * d->rows + (rows ? k : l)) * d->cols + (rows ? l : k)])) return 1;
    return 0;
}

/* Drops the labels of rows (columns) that were omitted for missing values. To find the omitted rows, the
 * function reads the file again and keeps all rows. */
static int drop_labels(const cli_common *c, int rows, kspec_labels *l) {
    const kspec_read_opts how = {.size = sizeof how,
                                 .axes = c->axes,
                                 .select_rows = c->select_rows,
                                 .select_cols = c->select_cols,
                                 .nan = KSPEC_NAN_KEEP,
                                 .fill = c->fill.at,
                                 .fill_count = c->fill.count,
                                 .team = cli_ranks_reading(c)};
    kspec_dataset *all = NULL;
    kspec_error err;
    for (size_t k = 0; k < c->input_count; k++)
        if (strcmp(c->inputs[k], "-") == 0)
            return cli_error(
                EXIT_USAGE,
                "groups with --nan omit-%s read the input twice, which standard input does not allow",
                rows ? "rows" : "cols");
    kspec_status st = kspec_read(c->inputs, c->input_count, &how, &all, &err);
    if (st) return cli_fail(st, &err);
    size_t kept = 0, count = rows ? all->rows : all->cols;
    for (size_t k = 0; k < count && k < l->count; k++)
        if (!has_missing(all, rows, k)) l->of[kept++] = l->of[k];
    l->count = kept;
    kspec_free(all);
    return EXIT_DONE;
}

/* Reads the labels of one side. The file holds a label for each row of INPUT, or for each selected row. */
static int read_side(const cli_common *c, const char *option, const char *path, const char *select,
                     size_t count, const char *what, kspec_labels **out) {
    int status = read_labels(c, option, path, NULL, NULL, out);
    if (!status && select && (*out)->count != count) {
        kspec_free(*out);
        *out = NULL;
        status = read_labels(c, option, path, NULL, select, out);
    }
    return status ? status : check_length(path, *out, count, what);
}

int cli_read_row_groups(const cli_common *c, const char *path, size_t rows, kspec_labels **out) {
    return read_side(c, "groups", path, c->select_rows, rows, "row", out);
}

static int check_features(const cli_group_files *f, const kspec_dataset *d) {
    for (size_t j = 0; d->col_names && j < d->cols; j++)
        if (strcmp(d->col_names[j], f->column) == 0)
            return cli_error(EXIT_USAGE, "--select-cols takes '%s', which is the column of labels",
                             f->column);
    return EXIT_DONE;
}

int cli_read_grouped(cli_common *c, const cli_group_files *f, kspec_dataset **d, cli_groups *g) {
    int status = f->column ? take_column(c, f, g) : EXIT_DONE;
    if (!status) status = cli_read(c, d);
    if (!status && f->column) status = check_features(f, *d);
    const size_t rows = status ? 0 : (*d)->rows + (*d)->omitted_rows,
                 cols = status ? 0 : (*d)->cols + (*d)->omitted_cols;
    if (!status && f->column) status = check_length(f->column, g->rows, rows, "row");
    if (!status && f->rows) status = read_side(c, "groups", f->rows, c->select_rows, rows, "row", &g->rows);
    if (!status && f->cols) status = read_side(c, "col-groups", f->cols, NULL, cols, "column", &g->cols);
    if (!status && g->rows && (*d)->omitted_rows) status = drop_labels(c, 1, g->rows);
    if (!status && g->cols && (*d)->omitted_cols) status = drop_labels(c, 0, g->cols);
    if (status) {
        kspec_free(*d);
        *d = NULL;
        cli_groups_free(g);
    }
    return status;
}

void cli_groups_free(cli_groups *g) {
    kspec_free(g->rows);
    kspec_free(g->cols);
    free(g->others);
    *g = (cli_groups){0};
}

void cli_groups_print(FILE *f, size_t rows, size_t cols, size_t block) {
    if (block == 1) fputs("consecutive rows are not alike, so each row is a block\n", f);
    if (rows && block)
        fprintf(f, "%zu blocks of %zu rows%s", rows, block, cols ? "" : "\n");
    else if (rows)
        fprintf(f, "%zu group%s of rows%s", rows, cli_s(rows), cols ? "" : "\n");
    if (cols && rows) fprintf(f, ", %zu%s of columns\n", cols, block ? " groups" : "");
    if (cols && !rows) fprintf(f, "%zu group%s of columns\n", cols, cli_s(cols));
}

void cli_groups_json(json_t *o, size_t rows, size_t cols, size_t block) {
    if (rows) json_object_set_new(o, "groups", json_integer((json_int_t)rows));
    if (cols) json_object_set_new(o, "col_groups", json_integer((json_int_t)cols));
    if (block) json_object_set_new(o, "block", json_integer((json_int_t)block));
}
