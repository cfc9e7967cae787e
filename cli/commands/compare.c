#include "core/cli.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    cli_common common;
    int no_center, paired, splits;
} compare_args;

#define ARG(field) offsetof(compare_args, field)

/* clang-format off */
static const cli_choice pairings[] = {
    {"rows", KSPEC_PAIRED_ROWS}, {"cols", KSPEC_PAIRED_COLS}, {"none", KSPEC_PAIRED_NONE}, {0},
};

static const cli_option options[] = {
    {"no-center", 0, OPT_FLAG,   ARG(no_center), NULL, "do not subtract the mean of each column"},
    {"paired",    0, OPT_CHOICE, ARG(paired),    "WHICH",
     "what the matrices share: rows (the default), cols or none", pairings},
    {"splits",    0, OPT_INT,    ARG(splits),    "R",
     "more than two trials: random splits to average over (default 8)", .min = 1},
    {0},
};
/* clang-format on */

typedef struct {
    const compare_args *a;
    kspec_dataset *const *d;
    const kspec_compare_result *r;
} output;

/* ---- JSON ---- */

static json_t *to_json(const void *result) {
    const output *u = result;
    const kspec_compare_result *r = u->r;
    json_t *list = json_array();
    for (size_t k = 0; k < r->count; k++) {
        const kspec_difference *e = r->differences[k];
        json_t *o = json_pack("{s:s, s:o}", "what", e->what, "n", e->n ? json_integer(e->n) : json_null());
        cli_set_reals(o, (cli_member[]){{"value", e->value}, {"stderr", e->std_error}, {"p", e->p}, {0}});
        json_array_append_new(list, o);
    }
    json_t *o = json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:b, s:s, s:I}", "rows", (json_int_t)r->P, "cols",
                          (json_int_t)r->Q, "trials", (json_int_t)r->trials, "other_rows",
                          (json_int_t)r->other_P, "other_cols", (json_int_t)r->other_Q, "other_trials",
                          (json_int_t)r->other_trials, "centered", r->centered, "paired",
                          cli_choice_name(pairings, (int)r->paired), "seed", (json_int_t)u->a->common.seed);
    cli_set_reals(o, (cli_member[]){{"alignment", r->alignment},
                                    {"alignment_stderr", r->alignment_std_error},
                                    {"alignment_ci_low", r->alignment_ci_low},
                                    {"alignment_ci_high", r->alignment_ci_high},
                                    {"alignment_biased", r->alignment_biased},
                                    {"dimension", r->dimension},
                                    {"other_dimension", r->other_dimension},
                                    {"seconds", r->seconds},
                                    {0}});
    json_object_set_new(o, "differences", list);
    return o;
}

/* ---- table ---- */

static void print_alignment(FILE *f, const kspec_compare_result *r) {
    if (r->paired != KSPEC_PAIRED_ROWS) {
        fputs("no alignment: it is of matrices with the same rows\n", f);
        return;
    }
    fputs("alignment ", f);
    if (isfinite(r->alignment))
        fprintf(f, "%.4g (95%% interval %.4g … %.4g)", r->alignment, r->alignment_ci_low,
                r->alignment_ci_high);
    else
        fputs("undefined", f);
    if (isfinite(r->alignment_biased))
        fprintf(f, "; of the matrices themselves, biased by their size: %.4g", r->alignment_biased);
    fputc('\n', f);
}

static void print_table(FILE *f, const void *result) {
    const output *u = result;
    const kspec_compare_result *r = u->r;
    const cli_common *c = &u->a->common;
    const double dimensions[2] = {r->dimension, r->other_dimension};
    print_alignment(f, r);
    fputc('\n', f);
    for (int k = 0; k < 2; k++) {
        cli_common one = *c;
        one.inputs += k, one.input_count = 1;
        cli_print_shape(f, &one, u->d[k]);
        if (isfinite(dimensions[k]))
            fprintf(f, "  dimension %.4g\n", dimensions[k]);
        else
            fputs("  dimension undefined\n", f);
    }
    fprintf(f, "\n%sfirst less second%12s%14s%10s%s\n", cli_bold(c), "difference", "std. error", "p",
            cli_plain(c));
    for (size_t k = 0; k < r->count; k++) {
        const kspec_difference *e = r->differences[k];
        char name[40];
        snprintf(name, sizeof name, e->n ? "m(%d)" : "dimension", e->n);
        fprintf(f, "%-17s", name);
        cli_cell(f, "%.4g", 10, e->value);
        cli_cell(f, "%.2g", 12, e->std_error);
        cli_cell(f, "%.2g", 8, e->p);
        fputc('\n', f);
    }
}

/* ---- */

/* Names the input whose dimension is undefined: then m(2), or m(1)^2, is not positive. */
static void warn(const cli_common *c, const kspec_compare_result *r) {
    const double dimensions[2] = {r->dimension, r->other_dimension};
    for (int k = 0; k < 2; k++)
        if (!isfinite(dimensions[k]))
            cli_warn(c,
                     "%s: the dimension is undefined, since the estimate of m(2), or of m(1)^2, is not "
                     "positive; more rows and columns are needed",
                     c->inputs[k]);
        else if (dimensions[k] < 1)
            cli_warn(c, "%s: dimension %.4g is below 1, the least that a kernel has: it is imprecise",
                     c->inputs[k], dimensions[k]);
    if (r->paired == KSPEC_PAIRED_ROWS && !isfinite(r->alignment))
        cli_warn(c, "the alignment is undefined: the estimate of m(2) of %s is not positive",
                 isfinite(r->dimension)         ? c->inputs[1]
                 : isfinite(r->other_dimension) ? c->inputs[0]
                                                : "one matrix, or of both,");
    else if (r->alignment_ci_low > 1)
        cli_warn(c,
                 "alignment %.4g is above 1, the most that two kernels have: do the matrices share columns, "
                 "or are they too small?",
                 r->alignment);
}

/* Two matrices that can be compared: what they share has one length. */
static int check(const compare_args *a, kspec_dataset *const d[2]) {
    const char *const *in = a->common.inputs;
    for (int k = 0; k < 2; k++)
        if (d[k]->row_trials)
            return cli_error(EXIT_INPUT, "%s: compare does not take ragged trials; select rows that have all",
                             in[k]);
    if (a->paired == KSPEC_PAIRED_ROWS && d[0]->rows != d[1]->rows)
        return cli_error(EXIT_INPUT,
                         "%s has %zu rows and %s has %zu: they cannot be the same inputs; --paired cols or "
                         "none compares dimensions and moments alone",
                         in[0], d[0]->rows, in[1], d[1]->rows);
    if (a->paired == KSPEC_PAIRED_COLS && d[0]->cols != d[1]->cols)
        return cli_error(EXIT_INPUT,
                         "%s has %zu columns and %s has %zu: they cannot be the same features; use --paired "
                         "rows or none",
                         in[0], d[0]->cols, in[1], d[1]->cols);
    return EXIT_DONE;
}

static int compare(const compare_args *a, kspec_dataset *const d[2]) {
    const cli_common *c = &a->common;
    const kspec_compare_opts opts = {.size = sizeof opts,
                                     .no_center = a->no_center,
                                     .paired = (kspec_paired)a->paired,
                                     .splits = a->splits,
                                     .seed = c->seed,
                                     .threads = c->threads,
                                     .progress = cli_progress(c)};
    kspec_matrix *phi = cli_trials(d[0]), *psi = cli_trials(d[1]);
    kspec_compare_result *r = NULL;
    kspec_error err = {KSPEC_E_NOMEM, "out of memory"};
    kspec_status st =
        phi && psi ? kspec_compare(phi, d[0]->trials, psi, d[1]->trials, &opts, &r, &err) : KSPEC_E_NOMEM;
    int status;
    if (st) {
        status = cli_fail_data(st, &err);
    } else {
        warn(c, r);
        status = cli_done(c, print_table, to_json, &(output){a, d, r});
    }
    kspec_compare_free(r);
    free(phi);
    free(psi);
    return status;
}

static int run(void *args) {
    compare_args *a = args;
    const cli_common *c = &a->common;
    kspec_dataset *d[2] = {NULL, NULL};
    if (c->input_count != 2)
        return cli_error(EXIT_USAGE, "compare takes two INPUTs, not %zu", c->input_count);
    if (strcmp(c->inputs[0], "-") == 0 && strcmp(c->inputs[1], "-") == 0)
        return cli_error(EXIT_USAGE, "compare: only one of the INPUTs can be standard input");
    int status = cli_read_input(c, NULL, c->inputs[0], &d[0]);
    if (!status) status = cli_read_input(c, "other", c->inputs[1], &d[1]);
    if (!status) {
        cli_note_treatment(c, NULL, !a->no_center, 0);
        cli_note_treatment(c, "other", !a->no_center, 0);
        status = check(a, d);
    }
    if (!status) status = compare(a, d);
    kspec_dataset_free(d[0]);
    kspec_dataset_free(d[1]);
    return status;
}

const cli_command cmd_compare = {
    .name = "compare",
    .summary = "alignment of the kernels behind two matrices, and the difference of their dimensions",
    .synopsis = "compare A B [--no-center] [--paired WHICH] [--splits R] [OPTIONS]",
    .description =
        "Estimates the alignment (CKA) of the covariances behind two matrices with the same rows, without "
        "the\n"
        "bias that their sizes have, and the differences of dimension and moments, with error bars.\n"
        "A and B are INPUTs: .npy, .npz:key, .h5:/path, .mat:name, idx or text; a 3-D array holds trials.",
    .options = options,
    .args_size = sizeof(compare_args),
    .reads_input = 1,
    .most_inputs = 2,
    .run = run,
};
