#include "commands/groups.h"

#include <math.h>
#include <stdlib.h>

enum { CURVE_POINTS = 12 };

typedef struct {
    cli_common common;
    int no_center, curve, splits;
    cli_group_files groups;
} dimension_args;

#define ARG(field)    offsetof(dimension_args, field)
#define GROUPS(field) offsetof(dimension_args, groups.field)

/* clang-format off */
static const cli_option options[] = {
    {"no-center", 0, OPT_FLAG, ARG(no_center), NULL, "do not subtract the mean of each column"},
    {"curve",     0, OPT_FLAG, ARG(curve),     NULL, "also from fewer rows and columns, taken at random"},
    {"splits",    0, OPT_INT,  ARG(splits),    "R",
     "more than two trials: random splits to average over (default 8)", .min = 1},
    CLI_GROUPS_OPTIONS(GROUPS),
    {0},
};
/* clang-format on */

typedef struct {
    const dimension_args *a;
    const kspec_dataset *d;
    const kspec_dimension_result *r;
} output;

static json_t *to_json(const void *result) {
    const output *u = result;
    const kspec_dimension_result *r = u->r;
    json_t *curve = json_array();
    for (size_t k = 0; k < r->curve_count; k++) {
        const kspec_dimension_point *p = r->curve[k];
        json_array_append_new(curve, json_pack("{s:I, s:I, s:o, s:o}", "rows", (json_int_t)p->rows, "cols",
                                               (json_int_t)p->cols, "dimension", cli_real(p->dimension),
                                               "naive", cli_real(p->naive)));
    }
    json_t *o =
        json_pack("{s:I, s:I, s:I, s:b, s:I}", "rows", (json_int_t)r->P, "cols", (json_int_t)r->Q, "trials",
                  (json_int_t)r->trials, "centered", r->centered, "seed", (json_int_t)u->a->common.seed);
    cli_set_reals(o, (cli_member[]){{"dimension", r->dimension},
                                    {"stderr", r->std_error},
                                    {"ci_low", r->ci_low},
                                    {"ci_high", r->ci_high},
                                    {"naive", r->naive},
                                    {"trace", r->trace},
                                    {"trace_squared", r->trace_squared},
                                    {"second_moment", r->second_moment},
                                    {"seconds", r->seconds},
                                    {0}});
    json_object_set_new(o, "curve", curve);
    cli_groups_json(o, r->groups, r->col_groups);
    if (u->a->common.nan == KSPEC_NAN_KEEP) {
        json_object_set_new(o, "missing", json_integer((json_int_t)r->missing));
        json_object_set_new(o, "cycles", cli_real(r->cycles));
    }
    return o;
}

static void print_table(FILE *f, const void *result) {
    const output *u = result;
    const cli_common *c = &u->a->common;
    const kspec_dimension_result *r = u->r;
    fputs("dimension ", f);
    if (isfinite(r->dimension))
        fprintf(f, "%.4g", r->dimension);
    else
        fputs("undefined", f);
    if (isfinite(r->ci_low)) fprintf(f, " (95%% interval %.4g … %.4g)", r->ci_low, r->ci_high);
    if (isfinite(r->naive)) fprintf(f, "; of the matrix itself, biased by its size: %.4g", r->naive);
    fputs("\n\n", f);
    cli_print_shape(f, c, u->d);
    cli_groups_print(f, r->groups, r->col_groups);
    if (c->nan == KSPEC_NAN_KEEP) {
        double entries = (double)u->d->trials * (double)u->d->rows * (double)u->d->cols;
        fprintf(f, "%zu of %.0f entries missing (%.3g%%), which leaves %.3g%% of the cycles\n", r->missing,
                entries, 100 * (double)r->missing / entries, 100 * r->cycles);
    }
    fputs(r->centered ? "centred: the mean of each column takes no part\n"
                      : "not centred: the mean of each column counts as a dimension\n",
          f);
    if (r->trials == 1)
        fputs("one trial: noise that is independent in every entry counts as dimensions; repeat the "
              "measurement to be free of it\n",
              f);
    if (!r->curve_count) return;
    fprintf(f, "\n%s%8s  %8s  %12s  %12s%s\n", cli_bold(c), "rows", "columns", "dimension", "of the part",
            cli_plain(c));
    for (size_t k = 0; k < r->curve_count; k++) {
        const kspec_dimension_point *p = r->curve[k];
        fprintf(f, "%8zu  %8zu", p->rows, p->cols);
        cli_cell(f, "%.4g", 12, p->dimension);
        cli_cell(f, "%.4g", 12, p->naive);
        fputc('\n', f);
    }
}

static void warn(const cli_common *c, const kspec_dimension_result *r) {
    if (!isfinite(r->naive) && !r->missing)
        cli_warn(c, "the dimension is undefined: %s",
                 r->centered ? "every column is constant" : "every entry is 0");
    else if (!(r->second_moment > 0))
        cli_warn(c,
                 "the dimension is undefined: the estimate of m(2), %.3g, is not positive; more rows and "
                 "columns are needed",
                 r->second_moment);
    else if (!isfinite(r->dimension))
        cli_warn(c,
                 "the dimension is undefined: the estimate of m(1)^2, %.3g, is not positive; more rows, "
                 "columns or trials are needed",
                 r->trace_squared);
    else if (r->dimension < 1)
        cli_warn(c, "dimension %.4g is below 1, the least that a kernel has: the estimate is imprecise",
                 r->dimension);
}

static int run(void *args) {
    dimension_args *a = args;
    cli_common *c = &a->common;
    kspec_dataset *d = NULL;
    cli_groups groups = {0};
    int status = cli_read_grouped(c, &a->groups, &d, &groups);
    if (status) return status;
    cli_note_treatment(c, NULL, !a->no_center, 0);
    const kspec_dimension_opts opts = {.size = sizeof opts,
                                       .no_center = a->no_center,
                                       .row_trials = d->row_trials,
                                       .splits = a->splits,
                                       .curve = a->curve ? CURVE_POINTS : 0,
                                       .seed = c->seed,
                                       .threads = c->threads,
                                       .progress = cli_progress(c),
                                       .row_groups = groups.rows ? groups.rows->of : NULL,
                                       .col_groups = groups.cols ? groups.cols->of : NULL,
                                       .pairwise = c->nan == KSPEC_NAN_KEEP};
    kspec_matrix *phi = cli_trials(d);
    kspec_dimension_result *r = NULL;
    kspec_error err = {KSPEC_E_NOMEM, "out of memory"};
    kspec_status st = phi ? kspec_dimension(phi, d->trials, &opts, &r, &err) : KSPEC_E_NOMEM;
    if (st) {
        status = cli_fail_data(st, &err);
    } else {
        warn(c, r);
        status = cli_done(c, print_table, to_json, &(output){a, d, r});
    }
    kspec_dimension_free(r);
    kspec_dataset_free(d);
    cli_groups_free(&groups);
    free(phi);
    return status;
}

const cli_command cmd_dimension = {
    .name = "dimension",
    .summary = "dimensionality of the kernel behind a matrix, with its interval",
    .synopsis = "dimension INPUT... [--no-center] [--curve] [--splits R] [OPTIONS]",
    .description =
        "Estimates the dimensionality (participation ratio) m(1)^2/m(2) of the covariance behind a matrix\n"
        "(rows: inputs, columns: features) without the bias that its size has, and a 95% interval.\n"
        "INPUT is .npy, .npz:key, .h5:/path, .mat:name, idx or text; several are trials of one matrix.",
    .options = options,
    .args_size = sizeof(dimension_args),
    .reads_input = 1,
    .takes_holes = 1,
    .run = run,
};
