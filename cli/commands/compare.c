/* kspec compare: aligns the kernels behind two or more matrices, and compares their dimensions. */
#include "commands/batch.h"
#include "commands/estimation.h"
#include "commands/groups.h"
#include "commands/rows.h"
#include "commands/sides.h"

#include <math.h>
#include <stdlib.h>

typedef struct {
    cli_common common;
    int center, paired, splits, nmax, device, sampled, standardize;
    cli_group_files groups;
    size_t population_rows, population_cols;
    cli_labels labels;
    cli_chunks chunks;
} compare_args;

#define ARG(field)    offsetof(compare_args, field)
#define GROUPS(field) offsetof(compare_args, groups.field)

/* clang-format off */
static const cli_choice pairings[] = {
    {"rows", KSPEC_PAIRED_ROWS}, {"cols", KSPEC_PAIRED_COLS}, {"none", KSPEC_PAIRED_NONE}, {0},
};

static const cli_option options[] = {
    CLI_CENTER_OPTIONS(ARG, "rows"),
    CLI_SAMPLED_OPTIONS(ARG),
    {"paired",    0, OPT_CHOICE, ARG(paired),    "WHICH",
     "the side that the matrices share: rows (the default), cols or none", pairings},
    {"n",       'n', OPT_INT,    ARG(nmax),      "NMAX",
     "highest order of the moments compared, at most 4 (default 2)", .min = 1},
    {"label",     0, OPT_LABEL,  ARG(labels),    "NAME",
     "call the following INPUTs NAME: they are trials of one matrix; may be repeated"},
    {"splits",    0, OPT_INT,    ARG(splits),    "R",
     "with more than two trials, average over R random splits (default 8)", .min = 1},
    CLI_ROW_GROUPS_OPTIONS(GROUPS),
    CLI_STANDARDIZE_OPTION(ARG),
    CLI_CHUNK_OPTION(ARG),
    CLI_DEVICE_OPTION(ARG),
    {0},
};
/* clang-format on */

typedef struct {
    const compare_args *a;
    const cli_recordings *of;
    /* the results, in the order of the pairs (0,1), (0,2), (1,2), (0,3) ... */
    kspec_compare_result **r;
} output;

/* Returns the comparison of the matrices i and k, where i < k. */
static const kspec_compare_result *result_of(const output *u, size_t i, size_t k) {
    return u->r[k * (k - 1) / 2 + i];
}

static size_t pairs(size_t matrices) { return matrices * (matrices - 1) / 2; }

/* ---- JSON ---- */

static json_t *pair_json(const output *u, const kspec_compare_result *r) {
    json_t *list = json_array();
    for (size_t k = 0; k < r->count; k++) {
        const kspec_difference *e = r->differences[k];
        json_t *o = json_pack("{s:s, s:o}", "what", e->what, "n", e->n ? json_integer(e->n) : json_null());
        cli_set_reals(
            o,
            (cli_member[]){
                {"value", e->value}, {"stderr", e->std_error}, {"p", e->p}, {"rounding", e->rounding}, {0}});
        json_array_append_new(list, o);
    }
    json_t *o = json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:b, s:s, s:I}", "rows", (json_int_t)r->P, "cols",
                          (json_int_t)r->Q, "trials", (json_int_t)r->trials, "other_rows",
                          (json_int_t)r->other_P, "other_cols", (json_int_t)r->other_Q, "other_trials",
                          (json_int_t)r->other_trials, "centered", r->center > KSPEC_CENTER_NONE, "paired",
                          cli_choice_name(pairings, (int)r->paired), "seed", (json_int_t)u->a->common.seed);
    cli_set_reals(o, (cli_member[]){{"alignment", r->alignment},
                                    CLI_ERRORS("alignment_", r, alignment_),
                                    {"alignment_rounding", r->alignment_rounding},
                                    {"alignment_biased", r->alignment_biased},
                                    {"row_variance", r->row_variance},
                                    {"col_variance", r->col_variance},
                                    {"other_col_variance", r->other_col_variance},
                                    {"alignment_p", r->alignment_p},
                                    {"shared_dimension", r->shared_dimension},
                                    CLI_ERRORS("shared_dimension_", r, shared_dimension_),
                                    {"dimension", r->dimension},
                                    {"other_dimension", r->other_dimension},
                                    {"seconds", r->seconds},
                                    {0}});
    cli_center_key(r->center, o);
    cli_groups_json(o, r->groups, 0, r->block);
    cli_sampled_keys(u->a->sampled, u->a->population_rows, u->a->population_cols, o);
    cli_device_keys(&r->device, o);
    json_object_set_new(o, "differences", list);
    return o;
}

/* Returns the dimension of matrix k, which every comparison with this matrix contains. */
static double dimension_of(const output *u, size_t k) {
    return k ? result_of(u, 0, k)->other_dimension : result_of(u, 0, 1)->dimension;
}

static void name_pair(json_t *o, const output *u, size_t i, size_t k) {
    json_object_set_new(o, "first", cli_string(u->of->at[i].name));
    json_object_set_new(o, "second", cli_string(u->of->at[k].name));
}

/* Builds the JSON object. For several matrices it contains their names, dimensions and square table of
 * alignments (1 on the diagonal), and all pairs. */
static json_t *to_json(const void *result) {
    const output *u = result;
    size_t n = u->of->count;
    if (n == 2) {
        json_t *o = pair_json(u, u->r[0]);
        name_pair(o, u, 0, 1);
        return o;
    }
    json_t *labels = json_array(), *dimensions = json_array(), *square = json_array(), *list = json_array();
    for (size_t i = 0; i < n; i++) {
        json_t *row = json_array();
        for (size_t k = 0; k < n; k++) {
            const kspec_compare_result *r = i == k ? NULL : i < k ? result_of(u, i, k) : result_of(u, k, i);
            json_array_append_new(row, cli_real(r ? r->alignment : 1));
            if (i >= k) continue;
            json_t *o = pair_json(u, r);
            name_pair(o, u, i, k);
            json_array_append_new(list, o);
        }
        json_array_append_new(square, row);
        json_array_append_new(labels, cli_string(u->of->at[i].name));
        json_array_append_new(dimensions, cli_real(dimension_of(u, i)));
    }
    return json_pack("{s:o, s:o, s:o, s:o}", "labels", labels, "dimensions", dimensions, "alignments", square,
                     "results", list);
}

/* ---- table ---- */

static void print_alignment(FILE *f, const kspec_compare_result *r) {
    if (r->paired != KSPEC_PAIRED_ROWS) {
        fputs("no alignment: it needs two matrices with the same rows\n", f);
        return;
    }
    fputs(isfinite(r->alignment) ? "alignment " : "alignment undefined", f);
    if (isfinite(r->alignment))
        cli_print_interval(f, r->alignment, r->alignment_ci_low, r->alignment_ci_high);
    if (isfinite(r->alignment_biased))
        fprintf(f, "; of the matrices themselves, biased by their size: %.4g", r->alignment_biased);
    fputc('\n', f);
    cli_sides_print(f, &(cli_parts){r->row_variance, r->col_variance, r->other_col_variance});
    if (isfinite(r->alignment_p)) {
        fputs("p ", f);
        cli_print_p(f, 0, r->alignment_p);
        fputs(", if they had nothing in common\n", f);
    }
    if (!isfinite(r->shared_dimension)) return;
    fputs("shared dimension ", f);
    cli_print_interval(f, r->shared_dimension, r->shared_dimension_ci_low, r->shared_dimension_ci_high);
    fputc('\n', f);
}

static void print_two(FILE *f, const output *u) {
    const kspec_compare_result *r = u->r[0];
    const cli_common *c = &u->a->common;
    const double dimensions[2] = {r->dimension, r->other_dimension};
    print_alignment(f, r);
    fputc('\n', f);
    for (int k = 0; k < 2; k++) {
        const cli_common one = cli_of_recording(c, &u->of->at[k]);
        cli_print_shape(f, &one, u->of->at[k].data, NULL);
        if (isfinite(dimensions[k]))
            fprintf(f, "  dimension (%s) %.4g\n", cli_center_words(r->center), dimensions[k]);
        else
            fprintf(f, "  dimension (%s) undefined\n", cli_center_words(r->center));
    }
    cli_groups_print(f, r->groups, 0, r->block);
    fprintf(f, "\n%sfirst less second%12s%14s%10s%s\n", cli_bold(c), "difference", "std. error", "p",
            cli_plain(c));
    for (size_t k = 0; k < r->count; k++) {
        const kspec_difference *e = r->differences[k];
        char name[40];
        snprintf(name, sizeof name, e->n ? "m(%d)" : "dimension", e->n);
        fprintf(f, "%-17s", name);
        cli_cell_rounded(f, 10, e->value, e->std_error);
        cli_cell_rounded(f, 12, e->std_error, e->std_error);
        fputs("  ", f);
        cli_print_p(f, 8, e->p);
        fputc('\n', f);
    }
    fputs("p tests the difference of logarithms if both values are known to within a factor of e\n", f);
    cli_left_out_print(f, c, r->doubts, r->doubt_count);
    cli_sampled_print(f, u->a->sampled, u->a->population_rows, u->a->population_cols);
    cli_device_print(f, &r->device);
}

/* For several matrices, prints a square table: alignments below the diagonal, standard errors above it. */
static void print_table(FILE *f, const void *result) {
    const output *u = result;
    const cli_common *c = &u->a->common;
    size_t n = u->of->count;
    int width = 0;
    if (n == 2) {
        print_two(f, u);
        return;
    }
    for (size_t k = 0; k < n; k++) {
        int length = cli_name_width(u->of->at[k].name);
        width = length > width ? length : width;
    }
    fprintf(f, "%s%*s  %9s  alignment with the matrices above (standard errors: right of the diagonal)%s\n",
            cli_bold(c), width, "", "dimension", cli_plain(c));
    for (size_t i = 0; i < n; i++) {
        cli_print_name(f, u->of->at[i].name, width);
        cli_cell(f, "%.4g", 9, dimension_of(u, i));
        for (size_t k = 0; k < n; k++)
            if (i == k)
                fprintf(f, "  %7s", "1");
            else
                cli_cell(f, k < i ? "%.3f" : "±%.3f", 7,
                         k < i ? result_of(u, k, i)->alignment : result_of(u, i, k)->alignment_std_error);
        fputc('\n', f);
    }
    fprintf(f, "\n%s\n", cli_center_words(u->r[0]->center));
    cli_sampled_print(f, u->a->sampled, u->a->population_rows, u->a->population_cols);
    cli_device_print(f, &u->r[0]->device);
}

/* ---- checks and reading ---- */

/* Checks that the matrices can be compared: their common side must have the same length. */
static int check(const compare_args *a, const cli_recordings *of) {
    if (of->count < 2) return cli_error(EXIT_USAGE, "compare takes two INPUTs or more, not %zu", of->count);
    if (of->count > 2 && a->paired != KSPEC_PAIRED_ROWS)
        return cli_error(EXIT_USAGE,
                         "more than two matrices need the same rows, because only their alignments are "
                         "compared: --paired %s takes two",
                         cli_choice_name(pairings, a->paired));
    const cli_recording *x = &of->at[0];
    for (size_t k = 1; k < of->count; k++)
        if (of->at[k].data->memory != x->data->memory)
            return cli_error(EXIT_USAGE, "%s and %s: all matrices must be on the GPU, or all on the host",
                             x->name, of->at[k].name);
    for (size_t k = 0; k < of->count; k++) {
        const int status =
            cli_check_paired(&of->at[k], a->paired == KSPEC_PAIRED_ROWS, a->paired == KSPEC_PAIRED_COLS);
        if (status) return status;
    }
    for (size_t k = 1; k < of->count; k++) {
        const cli_recording *y = &of->at[k];
        if (a->paired == KSPEC_PAIRED_ROWS && x->data->rows != y->data->rows)
            return cli_error(EXIT_INPUT,
                             "%s has %zu rows and %s has %zu: they cannot be the same inputs; --paired cols "
                             "or none compares only dimensions and moments",
                             x->name, x->data->rows, y->name, y->data->rows);
        if (a->paired == KSPEC_PAIRED_COLS && x->data->cols != y->data->cols)
            return cli_error(EXIT_INPUT,
                             "%s has %zu columns and %s has %zu: they cannot be the same features; use "
                             "--paired rows or none",
                             x->name, x->data->cols, y->name, y->data->cols);
    }
    return EXIT_DONE;
}

/* Returns the library's options, which are the same for matrices and for batches. */
static kspec_compare_opts options_of(const compare_args *a, const kspec_labels *groups) {
    return (kspec_compare_opts){.size = sizeof(kspec_compare_opts),
                                .center = (kspec_center)a->center,
                                .splits = a->splits,
                                .seed = a->common.seed,
                                .threads = a->common.threads,
                                .progress = cli_progress(&a->common),
                                .device = (kspec_device)a->device,
                                .row_groups = groups ? groups->of : NULL,
                                .standardize = a->standardize,
                                .sampled = (kspec_sampled)a->sampled,
                                .population_rows = a->population_rows,
                                .population_cols = a->population_cols};
}

static int compare(const compare_args *a, const cli_recording *x, const cli_recording *y,
                   const kspec_labels *groups, int several, kspec_compare_result **r) {
    const cli_common *c = &a->common;
    kspec_compare_opts opts = options_of(a, groups);
    opts.paired = (kspec_paired)a->paired;
    opts.block = a->groups.block;
    opts.row_trials = x->data->row_trials, opts.other_row_trials = y->data->row_trials;
    opts.name = x->name, opts.other_name = y->name;
    opts.nmax = a->nmax;
    opts.data_memory = x->data->memory;
    kspec_matrix *phi = cli_trials(x->data), *psi = cli_trials(y->data);
    kspec_error err = {KSPEC_E_NOMEM, "out of memory"};
    kspec_status st = phi && psi ? cli_team(c, &opts.team, &err) : KSPEC_E_NOMEM;
    if (!st) st = kspec_compare(phi, x->data->trials, psi, y->data->trials, &opts, r, &err);
    free(phi);
    free(psi);
    if (st && several) cli_error_prefix(&err, y->name);
    return st ? cli_fail_data(st, &err) : EXIT_DONE;
}

/* Reads the labels of the rows, which all matrices share. */
static int read_groups(const compare_args *a, const kspec_dataset *d, kspec_labels **out) {
    if (a->paired == KSPEC_PAIRED_ROWS) return cli_read_row_groups(&a->common, a->groups.rows, d->rows, out);
    return cli_error(EXIT_USAGE,
                     "--groups labels the rows that the matrices share, but with --paired %s they share "
                     "none; --block groups consecutive rows",
                     cli_choice_name(pairings, a->paired));
}

/* Reads all matrices. In the JSON object of two matrices, the first is the input and the second is
 * "other". */
static int read_all(const cli_common *c, cli_recordings *of, int centered) {
    if (of->count != 2) return cli_recordings_read(c, of, centered);
    int status = EXIT_DONE;
    for (size_t k = 0; k < 2 && !status; k++) {
        cli_recording *one = &of->at[k];
        const char *role = k ? "other" : NULL;
        status = cli_read_inputs(c, role, one->inputs, one->count, &one->data);
        if (!status) cli_note_treatment(c, role, centered, 0);
    }
    return status;
}

/* Compares the two matrices whose rows an accumulator has collected. */
static int show_rows(const compare_args *a, kspec_accumulator *rows) {
    const cli_common *c = &a->common;
    kspec_error err;
    kspec_compare_result *r = NULL;
    kspec_dataset shape[2];
    cli_recording two[2];
    kspec_status st = kspec_accumulator_compare(rows, &r, &err);
    if (st) return cli_fail_data(st, &err);
    for (int k = 0; k < 2; k++) cli_rows_shape(c, rows, k, &shape[k], &two[k]);
    const cli_recordings of = {.at = two, .count = 2};
    cli_doubts(c, NULL, r->doubts, r->doubt_count);
    const int status = cli_done(c, print_table, to_json, &(output){a, &of, &r});
    kspec_free(r);
    return status;
}

static int run_chunks(const compare_args *a) {
    const char *refused = a->labels.count                  ? "label"
                          : a->paired != KSPEC_PAIRED_ROWS ? "paired"
                          : a->nmax > 2                    ? "n"
                          : a->standardize                 ? "standardize"
                          : a->groups.rows                 ? "groups"
                          : a->groups.block                ? "block"
                          : a->population_rows             ? "population-rows"
                          : a->population_cols             ? "population-cols"
                          : a->device > KSPEC_DEVICE_CPU   ? "device"
                                                           : NULL;
    const kspec_accumulator_opts opts = {
        .size = sizeof opts, .center = (kspec_center)a->center, .sampled = (kspec_sampled)a->sampled};
    kspec_accumulator *rows;
    int status = cli_rows_read(&a->common, &a->chunks, 1, refused, &opts, &rows);
    if (!status) status = show_rows(a, rows);
    kspec_accumulator_close(rows);
    return status;
}

/* ---- batches ---- */

typedef struct {
    const compare_args *a;
    /* the two batches; both pointers are equal if a batch is compared with itself */
    const cli_batch *of[2];
    kspec_compare_result **r;
} batches;

static int alone(const batches *u) { return u->of[0] == u->of[1]; }

/* Returns the comparison of the matrices i and k, or NULL if both are the same matrix. */
static const kspec_compare_result *of_batches(const batches *u, size_t i, size_t k) {
    const size_t n = u->of[1]->count;
    return !alone(u) || i < k ? u->r[i * n + k] : i > k ? u->r[k * n + i] : NULL;
}

/* Returns the dimension of matrix k of a batch, from the first comparison of this matrix. */
static double dimension_in(const batches *u, int second, size_t k) {
    if (second) return of_batches(u, 0, k)->other_dimension;
    return alone(u) && k ? u->r[k]->other_dimension : u->r[alone(u) ? 1 : k * u->of[1]->count]->dimension;
}

static void batch_keys(const batches *u, int second, json_t *o) {
    json_t *labels = json_array(), *dimensions = json_array();
    const cli_batch *b = u->of[second];
    for (size_t k = 0; k < b->count; k++) {
        json_array_append_new(labels, cli_string(b->at[k].name));
        json_array_append_new(dimensions, cli_real(dimension_in(u, second, k)));
    }
    json_object_set_new(o, second ? "other_batch" : "batch", json_integer((json_int_t)b->count));
    json_object_set_new(o, second ? "other_labels" : "labels", labels);
    json_object_set_new(o, second ? "other_dimensions" : "dimensions", dimensions);
}

static json_t *batches_json(const void *result) {
    const batches *u = result;
    const output one = {.a = u->a};
    json_t *o = json_object(), *square = json_array(), *list = json_array();
    for (int s = 0; s < (alone(u) ? 1 : 2); s++) batch_keys(u, s, o);
    for (size_t i = 0; i < u->of[0]->count; i++) {
        json_t *row = json_array();
        for (size_t k = 0; k < u->of[1]->count; k++) {
            const kspec_compare_result *r = of_batches(u, i, k);
            json_array_append_new(row, cli_real(r ? r->alignment : 1));
            if (alone(u) && i >= k) continue;
            json_t *pair = pair_json(&one, r);
            json_object_set_new(pair, "first", cli_string(u->of[0]->at[i].name));
            json_object_set_new(pair, "second", cli_string(u->of[1]->at[k].name));
            json_array_append_new(list, pair);
        }
        json_array_append_new(square, row);
    }
    json_object_set_new(o, "alignments", square);
    json_object_set_new(o, "results", list);
    return o;
}

static void print_batches(FILE *f, const void *result) {
    const batches *u = result;
    const cli_common *c = &u->a->common;
    const kspec_compare_result *any = of_batches(u, 0, u->of[1]->count - 1);
    fprintf(f, "%sbatch  dimension  alignment with the matrices of %s%s\n", cli_bold(c),
            alone(u) ? "the batch" : "the second batch", cli_plain(c));
    fprintf(f, "%5s  %9s", "", "");
    for (size_t k = 0; k < u->of[1]->count; k++) fprintf(f, "  %7s", u->of[1]->at[k].name);
    fputc('\n', f);
    if (!alone(u)) {
        fprintf(f, "%5s  %9s", "", "");
        for (size_t k = 0; k < u->of[1]->count; k++) {
            fputs("  ", f);
            cli_cell(f, "%.4g", 7, dimension_in(u, 1, k));
        }
        fputs("  (dimensions)\n", f);
    }
    for (size_t i = 0; i < u->of[0]->count; i++) {
        fprintf(f, "%5s", u->of[0]->at[i].name);
        cli_cell(f, "%.4g", 11, dimension_in(u, 0, i));
        for (size_t k = 0; k < u->of[1]->count; k++) {
            const kspec_compare_result *r = of_batches(u, i, k);
            cli_cell(f, "%.3f", 9, r ? r->alignment : 1);
        }
        fputc('\n', f);
    }
    fprintf(f, "\n%s\n", cli_center_words(any->center));
    cli_sampled_print(f, u->a->sampled, u->a->population_rows, u->a->population_cols);
    cli_device_print(f, &any->device);
}

/* Checks that the batches can be compared. */
static int check_batches(const compare_args *a, const cli_recordings *of, const cli_batch b[2]) {
    const kspec_dataset *x = b[0].data[0], *y = of->count > 1 ? b[1].data[0] : x;
    if (of->count == 1 && b[0].count < 2)
        return cli_error(EXIT_INPUT, "%s holds one matrix: nothing to compare it with", of->at[0].name);
    if (x->memory != y->memory)
        return cli_error(EXIT_USAGE, "%s and %s: all matrices must be on the GPU, or all on the host",
                         of->at[0].name, of->at[1].name);
    if (x->rows != y->rows)
        return cli_error(EXIT_INPUT, "%s has %zu rows and %s has %zu: they cannot be the same inputs",
                         of->at[0].name, x->rows, of->at[1].name, y->rows);
    return a->groups.rows && x->memory
               ? cli_error(EXIT_USAGE, "--groups needs matrices in host memory, not on a GPU")
               : EXIT_DONE;
}

static int compute_batches(const compare_args *a, const cli_batch b[2], size_t count, const char *names[2],
                           const kspec_labels *groups, kspec_compare_result **r) {
    const cli_common *c = &a->common;
    kspec_compare_opts opts = options_of(a, groups);
    opts.name = names[0], opts.other_name = names[1];
    opts.data_memory = b[0].data[0]->memory;
    kspec_error err;
    kspec_status st = cli_team(c, &opts.team, &err);
    if (!st)
        st = kspec_compare_batch(b[0].phi, b[0].count, b[0].trials, count > 1 ? b[1].phi : NULL, b[1].count,
                                 b[1].trials, &opts, r, &err);
    return st ? cli_fail_data(st, &err) : EXIT_DONE;
}

static int run_batches(const compare_args *a) {
    const cli_common *c = &a->common;
    const char *refused = a->paired != KSPEC_PAIRED_ROWS ? "paired"
                          : a->nmax > 2                  ? "n"
                          : a->groups.block              ? "block"
                                                         : NULL;
    if (refused) return cli_error(EXIT_USAGE, "--%s and a batch cannot be combined", refused);
    cli_recordings of;
    cli_batch b[2] = {{0}, {0}};
    kspec_labels *groups = NULL;
    int status = cli_recordings_make(c, &a->labels, 1, &of);
    if (!status && (of.count < 1 || of.count > 2))
        status =
            cli_error(EXIT_USAGE, "a batch can be compared with itself or with one other batch, not with %zu",
                      of.count);
    for (size_t k = 0; k < of.count && !status; k++) {
        status = cli_batch_read(c, k ? "other" : NULL, (const char *const *)of.at[k].inputs, of.at[k].count,
                                &b[k]);
        if (!status) cli_note_treatment(c, k ? "other" : NULL, a->center != KSPEC_CENTER_NONE, 0);
    }
    if (!status) status = check_batches(a, &of, b);
    if (!status && a->groups.rows)
        status = cli_read_row_groups(c, a->groups.rows, b[0].data[0]->rows, &groups);
    const size_t count = status ? 0 : b[0].count * (of.count > 1 ? b[1].count : b[0].count);
    kspec_compare_result **r = calloc(count + 1, sizeof *r);
    if (!status && !r) status = cli_no_memory();
    const char *names[2] = {of.count ? of.at[0].name : NULL, of.count > 1 ? of.at[1].name : NULL};
    if (!status) status = compute_batches(a, b, of.count, names, groups, r);
    for (size_t k = 0; k < count && !status; k++)
        if (r[k]) cli_doubts(c, NULL, r[k]->doubts, r[k]->doubt_count);
    if (!status) {
        const batches u = {a, {&b[0], &b[of.count > 1]}, r};
        status = cli_done(c, print_batches, batches_json, &u);
    }
    for (size_t k = 0; k < count && r; k++) kspec_free(r[k]);
    free((void *)r);
    kspec_free(groups);
    for (int k = 0; k < 2; k++) cli_batch_free(&b[k]);
    cli_recordings_free(&of);
    return status;
}

static int run(void *args) {
    compare_args *a = args;
    if (cli_hosted && cli_hosted->accumulator) return show_rows(a, cli_hosted->accumulator);
    cli_common *c = &a->common;
    cli_recordings of;
    kspec_compare_result **r = NULL;
    c->on_device = a->device != KSPEC_DEVICE_CPU && a->nmax <= 2 && !a->standardize && !a->groups.block &&
                   !a->groups.rows;
    if (a->nmax > 4) return cli_error(EXIT_USAGE, "-n: %d exceeds 4", a->nmax);
    if (a->chunks.rows) return run_chunks(a);
    if (cli_has_batch(c)) return run_batches(a);
    int status = cli_recordings_make(c, &a->labels, 1, &of);
    if (!status && of.count < 2) status = check(a, &of);
    if (!status) status = read_all(c, &of, a->center != KSPEC_CENTER_NONE);
    if (!status) status = check(a, &of);
    kspec_labels *groups = NULL;
    if (!status && a->groups.rows) status = read_groups(a, of.at[0].data, &groups);
    size_t count = status ? 0 : pairs(of.count), at = 0;
    if (!status && !(r = calloc(count, sizeof *r))) status = cli_no_memory();
    for (size_t k = 1; k < of.count && !status; k++)
        for (size_t i = 0; i < k && !status; i++, at++)
            status = compare(a, &of.at[i], &of.at[k], groups, of.count > 2, &r[at]);
    const output u = {a, &of, r};
    if (!status) {
        for (size_t k = 1; k < of.count; k++)
            for (size_t i = 0; i < k; i++) {
                const kspec_compare_result *pair = result_of(&u, i, k);
                cli_doubts(c, NULL, pair->doubts, pair->doubt_count);
            }
        status = cli_done(c, print_table, to_json, &u);
    }
    for (size_t k = 0; k < count && r; k++) kspec_free(r[k]);
    free((void *)r);
    kspec_free(groups);
    cli_recordings_free(&of);
    return status;
}

const cli_command cmd_compare = {
    .name = "compare",
    .summary = "alignment of the kernels behind matrices, and the difference of their dimensions",
    .synopsis =
        "compare A B... [-n NMAX] [--center[=WHICH] | --no-center] [--sampled WHICH] [--paired WHICH] "
        "[--splits R] [--chunk ROWS] [OPTIONS]\n"
        "compare A [B] --axes batch,rows,cols [OPTIONS]\n"
        "compare --label NAME INPUT... --label NAME INPUT... [OPTIONS]",
    .description =
        "Estimates the alignment (CKA) of the covariances behind two matrices with the same rows, without "
        "the\n"
        "bias that their sizes cause, and the differences of dimension and moments, with error bars. For "
        "more\n"
        "than two matrices it prints the alignment of each pair. With an axis batch, it compares every "
        "matrix of\n"
        "A with every matrix of B, or with the others of A: layers with layers, or times with times.\n"
        "A and B are INPUTs: .npy, .npz:key, .h5:/path, .mat:name, idx or text. A 3-D array holds trials, "
        "and so\n"
        "do several INPUTs after a label. @FILE names one matrix per line.",
    .options = options,
    .args_size = sizeof(compare_args),
    .reads_input = 1,
    .shares = 1,
    .run = run,
};
