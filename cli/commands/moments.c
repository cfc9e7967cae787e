#include "commands/estimation.h"

#include <math.h>
#include <stdlib.h>

typedef struct {
    cli_common common;
    cli_estimation how;
    int bound;
    const char *truth;
} moments_args;

#define ARG(field) offsetof(moments_args, field)
#define HOW(field) offsetof(moments_args, how.field)

static const cli_option options[] = {
    {"estimator", 0, OPT_STRING, HOW(estimator), "LIST",
     "auto (the default), naive, kv-row, kv-col, path, exact, separated by commas, or all",
     cli_estimator_names},
    CLI_ESTIMATION_OPTIONS(HOW),
    {"bound", 0, OPT_FLAG, ARG(bound), NULL, "the variance bound and its Chebyshev interval, too"},
    {"truth", 0, OPT_STRING, ARG(truth), "M1,M2,...|FILE",
     "known moments to print beside: a list, or JSON of kspec theory"},
    {0},
};

/* ---- output ---- */

static const char *side_name(const kspec_moments_result *r) {
    return r->side == KSPEC_SIDE_TRANSPOSED ? "transposed" : "given";
}

static json_t *estimate_json(const moments_args *a, const kspec_estimate *e) {
    json_t *o =
        json_pack("{s:s, s:i, s:o, s:o, s:o, s:o, s:o}", "estimator", kspec_estimator_name(e->estimator), "n",
                  e->n, "value", cli_real(e->value), "stderr", cli_real(e->std_error), "ci_low",
                  cli_real(e->ci_low), "ci_high", cli_real(e->ci_high), "root", cli_real(e->root));
    if (a->bound) {
        json_object_set_new(o, "variance_bound", cli_real(e->variance_bound));
        json_object_set_new(o, "chebyshev_low", cli_real(e->chebyshev_low));
        json_object_set_new(o, "chebyshev_high", cli_real(e->chebyshev_high));
    }
    return o;
}

static json_t *to_json(const moments_args *a, const kspec_dataset *d, const kspec_moments_result *r,
                       const cli_list *truth, json_t *warnings) {
    json_t *list = json_array();
    for (size_t k = 0; k < r->count; k++) json_array_append_new(list, estimate_json(a, &r->estimates[k]));
    json_t *o = json_pack("{s:s, s:I, s:I, s:I, s:s, s:I, s:o, s:o, s:o, s:f}", "command", "moments", "rows",
                          (json_int_t)d->rows, "cols", (json_int_t)d->cols, "trials", (json_int_t)d->trials,
                          "side", side_name(r), "seed", (json_int_t)a->common.seed, "estimates", list,
                          "participation_ratio", cli_real(r->participation_ratio), "mean_share",
                          cli_real(r->mean_share), "seconds", r->seconds);
    if (r->permutations) json_object_set_new(o, "permutations", json_integer(r->permutations));
    if (truth->count) json_object_set_new(o, "truth", cli_reals(truth->at, truth->count));
    json_object_set_new(o, "warnings", warnings);
    return o;
}

static void print_table(const moments_args *a, const kspec_dataset *d, const kspec_moments_result *r,
                        const cli_list *truth) {
    FILE *f = cli_text();
    const char *bold = cli_bold(&a->common), *plain = cli_plain(&a->common);
    cli_print_shape(f, &a->common, d);
    fprintf(f, "\n%s   n  estimator      estimate   std. error%s     95%% interval from … to    %10s%s%s\n",
            bold, truth->count ? "       truth" : "", "root", a->bound ? "    Chebyshev from … to" : "",
            plain);
    kspec_estimator last = 0;
    for (size_t k = 0; k < r->count; k++) {
        const kspec_estimate *e = &r->estimates[k];
        if (last && e->estimator != last) fputc('\n', f);
        last = e->estimator;
        fprintf(f, "%4d  %-9s", e->n, kspec_estimator_name(e->estimator));
        cli_cell(f, "%.5g", 12, e->value);
        cli_cell(f, "%.2g", 11, e->std_error);
        if (truth->count) cli_cell(f, "%.5g", 10, (size_t)e->n <= truth->count ? truth->at[e->n - 1] : NAN);
        cli_cell(f, "%.4g", 12, e->ci_low);
        cli_cell(f, "%.4g", 12, e->ci_high);
        cli_cell(f, "%.5g", 10, e->root);
        if (a->bound) {
            cli_cell(f, "%.3g", 11, e->chebyshev_low);
            cli_cell(f, "%.3g", 11, e->chebyshev_high);
        }
        fputc('\n', f);
    }
    if (r->permutations > 1 || r->side == KSPEC_SIDE_TRANSPOSED)
        fprintf(f, "\npath: %s matrix%s", side_name(r), r->permutations > 1 ? "" : "\n");
    if (r->permutations > 1)
        fprintf(f, ", averaged over %d random orders of rows and columns\n", r->permutations);
    fprintf(f, "\nparticipation ratio m(1)²/m(2): ");
    if (isfinite(r->participation_ratio))
        fprintf(f, "%.4g\n", r->participation_ratio);
    else
        fputs("undefined (m(2) is not positive, or not computed)\n", f);
}

static int run(void *args) {
    moments_args *a = args;
    cli_list truth;
    kspec_dataset d;
    kspec_moments_opts opts;
    int status = cli_estimation_opts(&a->common, &a->how, &opts);
    if (status) return status;
    if ((status = cli_known_moments("--truth", a->truth, &truth))) return status;
    if ((status = cli_read(&a->common, &d))) {
        free(truth.at);
        return status;
    }
    opts.bound = a->bound;
    opts.progress = cli_progress(&a->common);
    kspec_matrix *phi = cli_estimation_trials(&d, &opts);
    kspec_moments_result r = {0};
    kspec_error err = {KSPEC_E_NOMEM, "out of memory"};
    kspec_status st = phi ? kspec_moments(phi, d.trials, &opts, &r, &err) : KSPEC_E_NOMEM;
    if (st) {
        status = cli_fail(st, &err);
    } else {
        json_t *warnings = json_array(), *o = NULL;
        cli_estimation_warn(&a->common, &a->how, &d, &r, warnings);
        if (!a->common.json) print_table(a, &d, &r, &truth);
        if (cli_wants_object(&a->common))
            o = to_json(a, &d, &r, &truth, warnings);
        else
            json_decref(warnings);
        status = cli_finish(&a->common, o);
    }
    kspec_moments_free(&r);
    kspec_dataset_free(&d);
    free(phi);
    free(truth.at);
    return status;
}

const cli_command cmd_moments = {
    .name = "moments",
    .summary = "spectral moments of the kernel operator behind a matrix",
    .synopsis = "moments INPUT... [-n NMAX] [--estimator LIST] [--permutations R] [--side SIDE] [--sampled "
                "WHICH] [OPTIONS]",
    .description =
        "Estimates m(n) = tr T^n of the kernel operator T behind a matrix (rows: inputs, columns: "
        "features).\n"
        "INPUT is .npy, .npz:key, .h5:/path, .mat:name, idx or text; several are trials of one matrix.",
    .options = options,
    .args_size = sizeof(moments_args),
    .reads_input = 1,
    .run = run,
};
