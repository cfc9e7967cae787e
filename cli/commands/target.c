/* Reads the target of a command, and prints the results about the target. */
#include "commands/target.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int cli_names_file(const char *word) {
    static const char *const suffixes[] = {".npy", ".npz",  ".csv", ".tsv", ".txt", ".dat",
                                           ".h5",  ".hdf5", ".mat", ".gz",  NULL};
    struct stat info;
    const size_t length = strlen(word);
    if (strcmp(word, "-") == 0 || strchr(word, '/')) return 1;
    if (stat(word, &info) == 0 && !S_ISDIR(info.st_mode)) return 1;
    for (size_t k = 0; suffixes[k]; k++) {
        const char *at = strstr(word, suffixes[k]);
        const size_t end = at ? (size_t)(at - word) + strlen(suffixes[k]) : 0;
        if (at && (end == length || word[end] == ':')) return 1;
    }
    if (!cli_hosted) return 0;
    kspec_dataset *d = NULL;
    const kspec_read_opts in_place = {.size = sizeof in_place, .in_place = 1};
    const int read = kspec_read(&word, 1, &in_place, &d, NULL) == KSPEC_OK;
    kspec_free(d);
    return read;
}

char *cli_all_but(const char *columns, const char *without) {
    const size_t size = (columns ? strlen(columns) : 0) + strlen(without) + 3;
    char *text = malloc(size);
    if (text) snprintf(text, size, "%s%s!%s", columns ? columns : "", columns ? "," : "", without);
    return text;
}

int cli_target_read(cli_common *c, const char *word, cli_target *t) {
    *t = (cli_target){.name = word};
    if (!word) return EXIT_DONE;
    const int column = !cli_names_file(word);
    const char *input = c->inputs[0];
    if (column && c->input_count != 1)
        return cli_error(EXIT_USAGE, "--target: with %zu INPUTs, the target must be a file, not a column",
                         c->input_count);
    if (column && strcmp(input, "-") == 0)
        return cli_error(EXIT_USAGE, "--target: the target cannot be a column of standard input; use a file");
    const kspec_read_opts how = {.size = sizeof how,
                                 .axes = column ? c->axes : NULL,
                                 .select_rows = c->select_rows,
                                 .select_cols = column ? word : NULL,
                                 .in_place = !column};
    int status = cli_read_one(c, "target", column ? input : word, &how, &t->file);
    if (status) return status;
    t->values = kspec_dataset_trial(t->file, 0);
    if (t->values.rows == 1 && t->values.cols > 1) /* labels in a single row are read as a column */
        t->values = (kspec_matrix){t->values.data, t->values.cols, 1, t->values.col_stride, 1};
    if (!column) return EXIT_DONE;
    c->select_cols = t->others = cli_all_but(c->select_cols, word);
    return t->others ? EXIT_DONE : cli_no_memory();
}

int cli_target_check(const cli_target *t, const kspec_dataset *d, const char *input) {
    if (!t->file || t->values.rows == d->rows) return EXIT_DONE;
    return cli_error(EXIT_INPUT, "%s has %zu row%s, but its target %s has %zu", input, d->rows,
                     cli_s(d->rows), t->name, t->values.rows);
}

void cli_target_free(cli_target *t) {
    kspec_free(t->file);
    free(t->others);
    *t = (cli_target){0};
}

/* Returns the name of column k of the target, or its number if the column has no name. A target of one
 * column has the name of its file. */
static const char *name_of(const cli_target *t, size_t k, char *room, size_t size) {
    if (t->file->col_names && k < t->file->cols) return t->file->col_names[k];
    if (t->values.cols == 1) return t->name;
    snprintf(room, size, "%zu", k);
    return room;
}

static void line(FILE *f, const char *what, double value, double error, double low, double high) {
    fprintf(f, "  %-12s", what);
    cli_cell_rounded(f, 12, value, error);
    cli_cell(f, "%.2g", 10, error);
    cli_cell_rounded(f, 12, low, fabs(value - low));
    cli_cell_rounded(f, 10, high, fabs(high - value));
    fputc('\n', f);
}

void cli_target_print(FILE *f, const cli_common *c, const cli_target *t, const kspec_dimension_result *r) {
    for (size_t k = 0; k < r->target_count; k++) {
        const kspec_target *e = r->targets[k];
        char room[32];
        fprintf(f, "\n%starget ", cli_bold(c));
        cli_print_name(f, name_of(t, k, room, sizeof room), 0);
        fprintf(f, "  alignment, std. error, 95%% interval from … to%s\n", cli_plain(c));
        line(f, "<y, T y>", e->alignment, e->alignment_std_error, e->alignment_ci_low, e->alignment_ci_high);
        line(f, "<y, T^2 y>", e->second, e->second_std_error, e->second_ci_low, e->second_ci_high);
        line(f, "share of y", e->share, e->share_std_error, e->share_ci_low, e->share_ci_high);
        if (!isfinite(e->p)) continue;
        fputs("  p ", f);
        cli_print_p(f, 0, e->p);
        fputs(", if the target were unrelated to the rows\n", f);
    }
}

static json_t *alignment_json(int n, double value, double error, double low, double high) {
    json_t *o = json_pack("{s:i}", "n", n);
    cli_set_reals(
        o, (cli_member[]){{"value", value}, {"stderr", error}, {"ci_low", low}, {"ci_high", high}, {0}});
    return o;
}

void cli_target_json(json_t *o, const cli_target *t, const kspec_dimension_result *r) {
    json_t *list = json_array();
    for (size_t k = 0; k < r->target_count; k++) {
        const kspec_target *e = r->targets[k];
        char room[32];
        json_t *one = json_object(), *alignments = json_array();
        json_object_set_new(one, "name", cli_string(name_of(t, k, room, sizeof room)));
        json_array_append_new(alignments, alignment_json(1, e->alignment, e->alignment_std_error,
                                                         e->alignment_ci_low, e->alignment_ci_high));
        json_array_append_new(alignments, alignment_json(2, e->second, e->second_std_error, e->second_ci_low,
                                                         e->second_ci_high));
        json_object_set_new(one, "alignments", alignments);
        cli_set_reals(one,
                      (cli_member[]){{"share", e->share}, CLI_ERRORS("share_", e, share_), {"p", e->p}, {0}});
        json_array_append_new(list, one);
    }
    if (t->file)
        json_object_set_new(o, "targets", list);
    else
        json_decref(list);
}
