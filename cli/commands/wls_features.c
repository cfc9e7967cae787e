/* kspec wls features: fits data with any features, and computes the expected errors of the fits. */
#include "commands/wls.h"

#include <stdlib.h>

/* clang-format off */
static const cli_option options[] = {
    WLS_FEATURES_OPTIONS, WLS_LEARN_OPTION, WLS_FIT_OPTIONS, WLS_SELECT_OPTIONS, {0},
};
/* clang-format on */

enum { PSI, TARGET, AT, DATA_WEIGHTS, FEATURE_WEIGHTS, PRIOR, NOISE, FILES };

/* Holds the files by number, with NULL in d and m for a missing file, and `count` results. */
typedef struct {
    const wls_args *a;
    const char *paths[FILES];
    kspec_dataset *d[FILES];
    kspec_matrix views[FILES];
    const kspec_matrix *m[FILES];
    kspec_wls_features_result **results;
    size_t count;
    /* with --ntk: the features of PSI, the features of the points of --at, and the target minus the
     * output of the untrained network */
    wls_ntk ntk, ntk_at;
    double *rest;
} work;

/* ---- output ---- */

static json_t *point_json(const work *w, const kspec_wls_features_result *r) {
    kspec_dataset *const *d = w->d;
    json_t *o = json_pack("{s:I, s:s, s:I}", "p", (json_int_t)r->p, "regime",
                          wls_regime(r->p >= d[PSI]->rows), "rank", (json_int_t)r->rank);
    cli_set_reals(o, (cli_member[]){{"residual", r->residual},
                                    {"error_noise_free", r->error_noise_free},
                                    {"error_noise", r->error_noise},
                                    {"variance", r->variance},
                                    {"seconds", r->seconds},
                                    {0}});
    json_object_set_new(o, "singular_values", cli_reals(r->singular_values, r->singular_count));
    if (w->a->target && !w->a->theta)
        json_object_set_new(o, "theta", cli_real_rows(r->theta, r->p, d[TARGET]->cols));
    if (w->a->at && !w->a->predictions)
        json_object_set_new(o, "predictions", cli_real_rows(r->predicted, d[AT]->rows, d[TARGET]->cols));
    return o;
}

static json_t *to_json(const void *result) {
    const work *w = result;
    json_t *points = json_array();
    for (size_t i = 0; i < w->count; i++) json_array_append_new(points, point_json(w, w->results[i]));
    json_t *o = json_pack("{s:s, s:I, s:I, s:o}", "mode", "features", "rows", (json_int_t)w->d[PSI]->rows,
                          "cols", (json_int_t)w->m[PSI]->cols, "points", points);
    if (w->a->ntk) json_object_set_new(o, "ntk", json_integer((json_int_t)w->a->ntk));
    return o;
}

static void print_fit(FILE *f, const work *w, const kspec_wls_features_result *r) {
    const wls_args *a = w->a;
    kspec_dataset *const *d = w->d;
    fprintf(f, "%zu point%s, %zu of %zu feature%s learned, rank %zu; singular values from %.4g to %.4g\n",
            d[PSI]->rows, cli_s(d[PSI]->rows), r->p, w->m[PSI]->cols, cli_s(w->m[PSI]->cols), r->rank,
            r->singular_values[0], r->singular_values[r->singular_count - 1]);
    if (a->target) fprintf(f, "residual (rms)    %.6g\n", r->residual);
    if (a->prior) fprintf(f, "noise-free error  %.6g\n", r->error_noise_free);
    if (a->noise_cov) fprintf(f, "error of noise    %.6g, of variance %.6g\n", r->error_noise, r->variance);
    if (a->target && !a->theta)
        wls_print_rows(f, a, "       k  coefficient", r->theta, r->p, d[TARGET]->cols, 0);
    if (a->at && !a->predictions)
        wls_print_rows(f, a, "       i  prediction", r->predicted, d[AT]->rows, d[TARGET]->cols, 0);
}

static void print_table(FILE *f, const void *result) {
    const work *w = result;
    for (size_t i = 0; i < w->count; i++) {
        if (i) fputc('\n', f);
        print_fit(f, w, w->results[i]);
    }
}

/* ---- the fits ---- */

/*
 * Replaces the rows of PSI and of --at by their NTK features, and the target by the target of the linearised
 * network.
 */
static int make_ntk(work *w) {
    const kspec_matrix *y = w->m[TARGET];
    int status = wls_ntk_make(w->a, w->m[PSI], &w->ntk);
    if (!status && y && y->rows != w->m[PSI]->rows)
        status = cli_error(EXIT_INPUT, "%s has %zu rows, but its target %s has %zu", w->a->features,
                           w->m[PSI]->rows, w->a->target, y->rows);
    if (!status && y) status = wls_ntk_rest(&w->ntk, y, &w->rest);
    if (!status && w->m[AT]) {
        if (w->m[AT]->cols != w->m[PSI]->cols)
            return cli_error(EXIT_INPUT, "%s has %zu columns, but %s has %zu", w->a->at, w->m[AT]->cols,
                             w->a->features, w->m[PSI]->cols);
        status = wls_ntk_make(w->a, w->m[AT], &w->ntk_at);
    }
    if (status) return status;
    w->views[PSI] = w->ntk.view;
    if (w->m[AT]) w->views[AT] = w->ntk_at.view;
    if (y) w->views[TARGET] = (kspec_matrix){w->rest, y->rows, y->cols, (ptrdiff_t)y->cols, 1};
    return EXIT_DONE;
}

/* Adds the outputs of the untrained network to the predictions. */
static void add_start(const work *w, kspec_wls_features_result *r) {
    for (size_t i = 0; i < r->predicted_rows && w->ntk_at.start; i++)
        for (size_t k = 0; k < r->outputs; k++) r->predicted[i * r->outputs + k] += w->ntk_at.start[i];
}

/* Computes a fit, writes its result to w->results[w->count], and increases the count on success. */
static int fit_one(work *w, size_t p) {
    const wls_args *a = w->a;
    const kspec_wls_features_opts o = {.size = sizeof o,
                                       .p = p,
                                       .data_weights = w->m[DATA_WEIGHTS],
                                       .feature_weights = w->m[FEATURE_WEIGHTS],
                                       .prior = w->m[PRIOR],
                                       .noise_cov = w->m[NOISE],
                                       .at = w->m[AT],
                                       .rank_tol = a->rank_tol,
                                       .ridge = a->ridge,
                                       .threads = a->common.threads,
                                       .progress = cli_progress(&a->common)};
    kspec_wls_features_result *r;
    kspec_error err;
    kspec_status st = kspec_wls_features(w->m[PSI], w->m[TARGET], &o, &r, &err);
    if (st) return cli_fail_data(st, &err); /* the files were read, but their sizes do not match */
    w->results[w->count++] = r;
    add_start(w, r);
    int status = wls_write(a->theta, r->theta, r->p, r->outputs);
    return status ? status : wls_write(a->predictions, r->predicted, r->predicted_rows, r->outputs);
}

static int fit_all(work *w) {
    const cli_ranges *learn = &w->a->learn;
    const size_t all = w->m[PSI]->cols, count = learn->count ? learn->count : 1;
    for (size_t i = 0; i < learn->count; i++)
        if (learn->at[i] > all)
            return cli_error(EXIT_USAGE, "--learn: p = %zu exceeds the %zu feature%s of %s", learn->at[i],
                             all, cli_s(all), w->a->features);
    w->results = calloc(count, sizeof *w->results);
    if (!w->results) return cli_no_memory();
    int status = EXIT_DONE;
    for (size_t i = 0; i < count && !status; i++) status = fit_one(w, learn->count ? learn->at[i] : all);
    return status;
}

/* ---- the command ---- */

static int check(const wls_args *a) {
    if (!a->target && !a->prior && !a->noise_cov)
        return cli_error(EXIT_USAGE,
                         "wls features needs --target Y, --prior FILE or --noise-covariance FILE");
    if ((a->at || a->theta) && !a->target)
        return cli_error(EXIT_USAGE, "wls features: --%s needs --target Y", a->at ? "at" : "theta");
    if (a->ntk_scale > 0 && !a->ntk) return cli_error(EXIT_USAGE, "wls features: --ntk-scale needs --ntk M");
    if (a->rank_tol >= 1) return cli_error(EXIT_USAGE, "--rank-tol: %g is not below 1", a->rank_tol);
    return wls_check_outputs(a, "wls features");
}

static int run(void *args) {
    static const char *const roles[FILES] = {
        NULL, "target", "at", "data_weights", "feature_weights", "prior", "noise_covariance"};
    wls_args *a = args;
    a->features = a->common.inputs[0];
    work w = {.a = a,
              .paths = {a->features, a->target, a->at, a->data_weights, a->feature_weights, a->prior,
                        a->noise_cov}};
    int status = check(a);
    for (int k = 0; k < FILES && !status; k++) {
        if (!w.paths[k]) continue;
        status = wls_read(a, roles[k], w.paths[k], k == PSI || k == TARGET, k == PSI || k == AT, &w.d[k]);
        if (status) break;
        w.views[k] = kspec_dataset_trial(w.d[k], 0);
        w.m[k] = &w.views[k];
    }
    if (!status && a->ntk) status = make_ntk(&w);
    if (!status) status = fit_all(&w);
    if (!status) status = cli_done(&a->common, print_table, to_json, &w);
    for (size_t i = 0; i < w.count; i++) kspec_free(w.results[i]);
    free(w.results);
    free(w.rest);
    wls_ntk_free(&w.ntk);
    wls_ntk_free(&w.ntk_at);
    for (int k = 0; k < FILES; k++) kspec_free(w.d[k]);
    return status;
}

const cli_command wls_features = {
    .name = "wls features",
    .synopsis =
        "wls features PSI [--target Y] [--prior FILE] [--noise-covariance FILE] [--learn p,...] [--at X] "
        "[OPTIONS]",
    .description =
        "Fits the data Y with the first p columns of any feature matrix PSI, a file of N x P, and gives the\n"
        "errors to be expected from covariances of the coefficients and of the noise.",
    .options = options,
    .args_size = sizeof(wls_args),
    .takes_files = 1,
    .most_inputs = 1,
    .run = run,
};
