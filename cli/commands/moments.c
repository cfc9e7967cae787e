/* kspec moments: estimates the spectral moments and the dimensionality of the kernel behind a matrix. */
#include "commands/estimation.h"
#include "commands/groups.h"

#include <math.h>
#include <stdlib.h>

typedef struct {
    cli_common common;
    cli_estimation how;
    int bound, scale_free;
    const char *truth;
    cli_group_files groups;
} moments_args;

#define ARG(field)    offsetof(moments_args, field)
#define HOW(field)    offsetof(moments_args, how.field)
#define GROUPS(field) offsetof(moments_args, groups.field)

/* clang-format off */
static const cli_option options[] = {
    {"estimator", 0, OPT_SET,    HOW(estimators), "LIST",
     "auto (the default), naive, kv-row, kv-col, path, exact, separated by commas, or all", cli_estimators},
    CLI_ESTIMATION_OPTIONS(HOW, "none"),
    {"bound",     0, OPT_FLAG,   ARG(bound),      NULL,
     "also print the variance bound and its Chebyshev interval"},
    {"scale-free", 0, OPT_FLAG,  ARG(scale_free), NULL,
     "also print m(n)/m(1)^n, which does not depend on the scale of the matrix"},
    {"truth",     0, OPT_STRING, ARG(truth),      "M1,M2,...|FILE",
     "known moments to print next to the estimates: a list, or JSON of kspec theory"},
    CLI_GROUPS_OPTIONS(GROUPS),
    CLI_DEVICE_OPTION(HOW),
    {0},
};
/* clang-format on */

typedef struct {
    const moments_args *a;
    const kspec_dataset *d;
    const kspec_moments_result *r;
    const cli_list *truth;
    /* the result of kspec dimension if its dimension differs from the moments' dimension; otherwise NULL */
    const kspec_dimension_result *centred;
} output;

static const char *side_name(const kspec_moments_result *r) {
    return r->side == KSPEC_SIDE_TRANSPOSED ? "transposed" : "given";
}

/* ---- JSON ---- */

static json_t *estimate_json(const moments_args *a, const kspec_moments_result *r, const kspec_estimate *e) {
    json_t *o =
        json_pack("{s:s, s:i}", "estimator", kspec_name(KSPEC_NAMES_ESTIMATOR, e->estimator), "n", e->n);
    cli_set_reals(
        o, (cli_member[]){
               {"value", e->value}, CLI_ERRORS("", e, ), {"root", e->root}, {"rounding", e->rounding}, {0}});
    if (a->bound)
        cli_set_reals(o, (cli_member[]){{"variance_bound", e->variance_bound},
                                        {"chebyshev_low", e->chebyshev_low},
                                        {"chebyshev_high", e->chebyshev_high},
                                        {0}});
    if (a->scale_free)
        cli_set_reals(
            o, (cli_member[]){{"scale_free", e->scale_free}, CLI_ERRORS("scale_free_", e, scale_free_), {0}});
    if (r->missing) cli_set_reals(o, (cli_member[]){{"cycles", e->cycles}, {0}});
    return o;
}

static json_t *to_json(const void *result) {
    const output *u = result;
    const kspec_moments_result *r = u->r;
    json_t *list = json_array();
    for (size_t k = 0; k < r->count; k++)
        json_array_append_new(list, estimate_json(u->a, r, r->estimates[k]));
    json_t *o = json_pack("{s:I, s:I, s:I, s:s, s:I, s:o, s:o, s:o, s:f}", "rows", (json_int_t)u->d->rows,
                          "cols", (json_int_t)u->d->cols, "trials", (json_int_t)u->d->trials, "side",
                          side_name(r), "seed", (json_int_t)u->a->common.seed, "estimates", list,
                          "participation_ratio", cli_real(r->participation_ratio), "mean_share",
                          cli_real(r->mean_share), "seconds", r->seconds);
    cli_set_reals(o, (cli_member[]){CLI_ERRORS("participation_ratio_", r, participation_ratio_),
                                    {"participation_ratio_rounding", r->participation_ratio_rounding},
                                    {"participation_ratio_naive", r->participation_ratio_naive},
                                    {0}});
    cli_set_reals(o, (cli_member[]){{"dimension_centered", u->centred ? u->centred->dimension : NAN},
                                    {"dimension_centered_ci_low", u->centred ? u->centred->ci_low : NAN},
                                    {"dimension_centered_ci_high", u->centred ? u->centred->ci_high : NAN},
                                    {0}});
    cli_estimation_keys(&u->a->how, r->center, o);
    cli_device_keys(&r->device, o);
    if (r->permutations) json_object_set_new(o, "permutations", json_integer(r->permutations));
    if (r->correlation)
        json_object_set_new(o, "correlation", cli_real_rows(r->correlation, r->count, r->count));
    cli_groups_json(o, r->groups, r->col_groups, r->block);
    if (u->a->common.nan == KSPEC_NAN_KEEP)
        json_object_set_new(o, "missing", json_integer((json_int_t)r->missing));
    if (u->truth->count) json_object_set_new(o, "truth", cli_reals(u->truth->at, u->truth->count));
    return o;
}

/* ---- table ---- */

static void print_estimate(FILE *f, const output *u, const kspec_estimate *e) {
    const cli_list *truth = u->truth;
    fprintf(f, "%4d  %-9s", e->n, kspec_name(KSPEC_NAMES_ESTIMATOR, e->estimator));
    cli_cell_rounded(f, 12, e->value, e->std_error);
    cli_cell_rounded(f, 11, e->std_error, e->std_error);
    if (truth->count) cli_cell(f, "%.5g", 10, (size_t)e->n <= truth->count ? truth->at[e->n - 1] : NAN);
    cli_cell_interval(f, 12, e->value, e->ci_low, e->ci_high);
    /* d x^{1/n} = x^{1/n} dx/(n x) */
    cli_cell_rounded(f, 10, e->root, fabs(e->root * e->std_error / (e->n * e->value)));
    if (u->a->bound) {
        cli_cell(f, "%.3g", 11, e->chebyshev_low);
        cli_cell(f, "%.3g", 11, e->chebyshev_high);
    }
    fputc('\n', f);
}

static void print_scale_free(FILE *f, const output *u) {
    const kspec_moments_result *r = u->r;
    const cli_common *c = &u->a->common;
    fprintf(f, "\n%s   n  estimator   m(n)/m(1)^n  std. error     95%% interval from … to%s\n", cli_bold(c),
            cli_plain(c));
    for (size_t k = 0; k < r->count; k++) {
        const kspec_estimate *e = r->estimates[k];
        if (e->n == 1) continue;
        fprintf(f, "%4d  %-9s", e->n, kspec_name(KSPEC_NAMES_ESTIMATOR, e->estimator));
        cli_cell_rounded(f, 12, e->scale_free, e->scale_free_std_error);
        cli_cell_rounded(f, 11, e->scale_free_std_error, e->scale_free_std_error);
        cli_cell_interval(f, 12, e->scale_free, e->scale_free_ci_low, e->scale_free_ci_high);
        fputc('\n', f);
    }
}

/* Returns the name of the estimator that depends on the order of rows and columns: path or Kong-Valiant. */
static const char *ordered_name(const kspec_moments_result *r) {
    kspec_estimator last = KSPEC_ESTIMATOR_PATH;
    for (size_t k = 0; k < r->count; k++) {
        kspec_estimator e = r->estimates[k]->estimator;
        if (e == KSPEC_ESTIMATOR_PATH) return kspec_name(KSPEC_NAMES_ESTIMATOR, e);
        if (e == KSPEC_ESTIMATOR_KV_ROW || e == KSPEC_ESTIMATOR_KV_COL) last = e;
    }
    return kspec_name(KSPEC_NAMES_ESTIMATOR, last);
}

/* Returns 1 if a later estimate in the list has the same order as estimate k. */
static int comes_again(const kspec_moments_result *r, size_t k) {
    for (size_t l = k + 1; l < r->count; l++)
        if (r->estimates[l]->n == r->estimates[k]->n) return 1;
    return 0;
}

/* Prints how many entries are missing, and for each order the share of cycles without a missing entry. */
static void print_missing(FILE *f, const output *u) {
    const kspec_moments_result *r = u->r;
    double entries = (double)u->d->trials * (double)u->d->rows * (double)u->d->cols;
    const char *before = "";
    if (u->a->common.nan != KSPEC_NAN_KEEP) return;
    fprintf(f, "%zu of %.0f entries missing (%.3g%%)", r->missing, entries,
            100 * (double)r->missing / entries);
    if (r->missing) fputs("; cycles left: ", f);
    for (size_t k = 0; k < r->count && r->missing; k++) {
        if (comes_again(r, k)) continue;
        fprintf(f, "%s%.3g%% (n = %d)", before, 100 * r->estimates[k]->cycles, r->estimates[k]->n);
        before = ", ";
    }
    fputc('\n', f);
}

static void print_ratio(FILE *f, const kspec_moments_result *r) {
    fprintf(f, "\nparticipation ratio m(1)²/m(2): ");
    cli_number ratio, error;
    const cli_interval in = cli_round_interval(r->participation_ratio, r->participation_ratio_ci_low,
                                               r->participation_ratio_ci_high);
    if (isfinite(r->participation_ratio))
        fputs(cli_rounded(&ratio, r->participation_ratio,
                          cli_error_shown(r->participation_ratio, r->participation_ratio_std_error)),
              f);
    else if (r->center == KSPEC_CENTER_BOTH)
        fputs("no unbiased estimate exists with both sides centred", f);
    else
        fputs("undefined (the estimate of m(2), or of m(1)², is not positive, or is not computed)", f);
    if (isfinite(r->participation_ratio_std_error))
        fprintf(f, " ± %s (95%% interval %s … %s)",
                cli_rounded(&error, r->participation_ratio_std_error, r->participation_ratio_std_error),
                in.low.text, in.high.text);
    if (isfinite(r->participation_ratio)) fprintf(f, " dimensions (%s)", cli_center_words(r->center));
    if (isfinite(r->participation_ratio_naive))
        fprintf(f, "; of the matrix itself: %.4g", r->participation_ratio_naive);
    fputc('\n', f);
}

static void print_table(FILE *f, const void *result) {
    const output *u = result;
    const kspec_moments_result *r = u->r;
    const cli_common *c = &u->a->common;
    cli_print_shape(f, c, u->d, NULL);
    cli_groups_print(f, r->groups, r->col_groups, r->block);
    print_missing(f, u);
    fprintf(f, "\n%s   n  estimator      estimate   std. error%s     95%% interval from … to    %10s%s%s\n",
            cli_bold(c), u->truth->count ? "       truth" : "", "root",
            u->a->bound ? "    Chebyshev from … to" : "", cli_plain(c));
    for (size_t k = 0; k < r->count; k++) {
        if (k && r->estimates[k]->estimator != r->estimates[k - 1]->estimator) fputc('\n', f);
        print_estimate(f, u, r->estimates[k]);
    }
    cli_left_out_print(f, c, r->doubts, r->doubt_count);
    if (u->a->scale_free) print_scale_free(f, u);
    if (r->permutations > 1 || r->side == KSPEC_SIDE_TRANSPOSED)
        fprintf(f, "\n%s: %s matrix%s", ordered_name(r), side_name(r), r->permutations > 1 ? "" : "\n");
    if (r->permutations > 1)
        fprintf(f, ", averaged over %d random orders of rows and columns\n", r->permutations);
    print_ratio(f, r);
    if (u->centred) {
        const kspec_dimension_result *d = u->centred;
        fprintf(f, "dimension (%s) ", cli_center_words(d->center));
        cli_print_interval(f, d->dimension, d->ci_low, d->ci_high);
        fputs(", the same as of kspec dimension\n", f);
    }
    cli_device_print(f, &r->device);
}

/* ---- the command ---- */

/* Returns 1 if centring can change the dimension D by a tenth. The means contribute the share s of m(1).
 * So centring changes m(1)^2 by a fraction of 2 s, and m(2) by fractions of s^2 D and 2 s sqrt(D), at
 * most. */
static int may_differ(double D, double s) { return !(fabs(s) * (2 + fabs(s) * D + 2 * sqrt(D)) < 0.1); }

/* Computes the centred dimension. Sets *r to the result if this dimension differs from the uncentred one
 * by more than a tenth, else to NULL. */
static kspec_status centred_dimension(const kspec_matrix *phi, const kspec_dataset *d,
                                      const kspec_moments_opts *o, const kspec_moments_result *m,
                                      kspec_dimension_result **r, kspec_error *err) {
    const double D = m->participation_ratio;
    const kspec_dimension_opts how = {.size = sizeof how,
                                      .center = KSPEC_CENTER_ROWS,
                                      .row_trials = o->row_trials,
                                      .splits = o->splits,
                                      .seed = o->seed,
                                      .threads = o->threads,
                                      .row_groups = o->row_groups,
                                      .col_groups = o->col_groups,
                                      .block = o->block,
                                      .standardize = o->standardize,
                                      .pairwise = o->pairwise,
                                      .team = o->team,
                                      .device = o->pairwise ? KSPEC_DEVICE_CPU : o->device};
    if (m->center != KSPEC_CENTER_NONE || o->sampled || o->population_rows || o->population_cols ||
        d->memory == KSPEC_MEMORY_DEVICE || !isfinite(D) || !may_differ(D, m->mean_share))
        return KSPEC_OK;
    kspec_status st = kspec_dimension(phi, d->trials, &how, r, err);
    if (st == KSPEC_E_ARG || st == KSPEC_E_DATA || st == KSPEC_E_NUMERIC)
        return KSPEC_OK; /* the centred dimension is unknown, for example with too few rows */
    if (st) return st;
    if (fabs((*r)->dimension - D) > 0.1 * D) return KSPEC_OK;
    kspec_free(*r);
    *r = NULL;
    return KSPEC_OK;
}

static int run(void *args) {
    moments_args *a = args;
    cli_list truth;
    kspec_dataset *d = NULL;
    cli_groups groups = {0};
    a->common.on_device = a->how.device != KSPEC_DEVICE_CPU && !a->how.standardize && !a->groups.block;
    int status = cli_known_moments(&a->common, "--truth", a->truth, &truth);
    if (!status) status = cli_read_grouped(&a->common, &a->groups, &d, &groups);
    if (status) {
        free(truth.at);
        return status;
    }
    kspec_moments_opts opts = cli_estimation_opts(&a->common, &a->how);
    kspec_matrix *phi = cli_estimation_trials(&a->common, d, &opts);
    opts.bound = a->bound;
    opts.scale_free = a->scale_free;
    opts.correlation = !a->how.no_stderr && cli_wants_object(&a->common);
    opts.row_groups = groups.rows ? groups.rows->of : NULL;
    opts.col_groups = groups.cols ? groups.cols->of : NULL;
    opts.block = a->groups.block;
    opts.pairwise = a->common.nan == KSPEC_NAN_KEEP;
    opts.data_memory = d->memory;
    cli_estimation_all(&opts);
    opts.progress = cli_progress(&a->common);
    kspec_moments_result *r = NULL;
    kspec_dimension_result *centred = NULL;
    kspec_error err = {KSPEC_E_NOMEM, "out of memory"};
    kspec_status st = cli_team(&a->common, &opts.team, &err);
    if (!st) st = phi ? kspec_moments(phi, d->trials, &opts, &r, &err) : KSPEC_E_NOMEM;
    if (!st) st = centred_dimension(phi, d, &opts, r, &centred, &err);
    if (st) {
        status = cli_fail_of(&a->common, d, st, &err);
    } else {
        cli_doubts_of_missing(&a->common, d);
        cli_doubts(&a->common, NULL, r->doubts, r->doubt_count);
        status = cli_done(&a->common, print_table, to_json, &(output){a, d, r, &truth, centred});
    }
    kspec_free(r);
    kspec_free(centred);
    kspec_free(d);
    cli_groups_free(&groups);
    free(phi);
    free(truth.at);
    return status;
}

static const cli_column columns[] = {
    {"rows", "rows"},
    {"columns", "cols"},
    {"trials", "trials"},
    {"m(1)", "estimates.0.value"},
    {"m(2)", "estimates.1.value"},
    {"dimension", "participation_ratio"},
    {"from", "participation_ratio_ci_low"},
    {"to", "participation_ratio_ci_high"},
    {"of the matrix", "participation_ratio_naive"},
    {0},
};

const cli_command cmd_moments = {
    .name = "moments",
    .summary = "spectral moments and dimensionality of the kernel behind a matrix",
    .synopsis = "moments INPUT... [-n NMAX] [--estimator LIST] [--permutations R] [--side SIDE] [--sampled "
                "WHICH] [--center[=WHICH]] [OPTIONS]",
    .description =
        "Estimates m(n) = tr T^n of the kernel operator T behind a matrix (rows: inputs, columns: "
        "features),\n"
        "and the dimensionality (participation ratio) m(1)^2/m(2) that follows from them.\n"
        "INPUT is .npy, .npz:key, .h5:/path, .mat:name, idx or text; several are trials of one matrix;\n"
        "@FILE is a matrix for each of its lines: INPUT, or NAME and INPUTs between tabs.",
    .options = options,
    .args_size = sizeof(moments_args),
    .reads_input = 1,
    .takes_holes = 1,
    .shares = 1,
    .columns = columns,
    .run = run,
};
