/* kspec wls on files: fits on the grid, fits with any features, the decay of kernels. */
#include "commands/wls.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Reads one file into d: one trial, all finite; --select-rows and --select-cols where they apply */
static int read_one(const wls_args *a, const char *path, int rows, int cols, kspec_dataset *d) {
    cli_common c = a->common;
    c.inputs = &path, c.input_count = 1;
    c.complex_pairs = path == a->fit;
    if (!rows) c.select_rows = NULL;
    if (!cols) c.select_cols = NULL;
    int status = cli_read(&c, d);
    if (!status && d->trials > 1) {
        status = cli_error(EXIT_INPUT, "%s: %zu trials, but one matrix is wanted", path, d->trials);
        kspec_dataset_free(d);
    }
    return status;
}

/* rows x cols numbers to a file; an exit status */
static int write_array(const char *path, const double *x, size_t rows, size_t cols) {
    const size_t shape[2] = {rows, cols};
    kspec_error err;
    kspec_writer *w;
    kspec_status st = kspec_write_open(path, 2, shape, &w, &err);
    if (st) return cli_error(st == KSPEC_E_ARG ? EXIT_USAGE : EXIT_FAILED, "%s", err.msg);
    if ((st = kspec_write_values(w, x, rows * cols, &err)))
        kspec_write_abort(w);
    else
        st = kspec_write_close(w, &err);
    return st ? cli_error(EXIT_FAILED, "%s", err.msg) : EXIT_DONE;
}

static json_t *rows_json(const double *x, size_t rows, size_t cols) {
    json_t *list = json_array();
    for (size_t i = 0; i < rows; i++) json_array_append_new(list, cli_reals(x + i * cols, cols));
    return list;
}

/* The first few rows of a result that is too long to print */
static void print_rows(const wls_args *a, const char *title, const double *x, size_t rows, size_t cols,
                       int is_complex) {
    enum { FEW = 8 };
    FILE *f = cli_text();
    fprintf(f, "\n%s%s%s\n", cli_bold(&a->common), title, cli_plain(&a->common));
    for (size_t i = 0; i < rows && i < FEW; i++) {
        fprintf(f, "%8zu", i);
        if (is_complex)
            fprintf(f, "  %14.8g %c %.8g i", x[2 * i], x[2 * i + 1] < 0 ? '-' : '+',
                    x[2 * i + 1] < 0 ? -x[2 * i + 1] : x[2 * i + 1]);
        for (size_t k = 0; k < cols && k < FEW && !is_complex; k++) fprintf(f, "  %14.8g", x[i * cols + k]);
        fputc('\n', f);
    }
    if (rows > FEW) fprintf(f, "     ... %zu in all\n", rows);
}

/* ---- on the grid ---- */

/* What errors are to be expected of the fits, where the truth is described; the measured ones, where asked for */
static kspec_status expected(const wls_args *a, const kspec_wls_opts *o, kspec_wls_point *q,
                             kspec_wls_measured *m, kspec_error *err) {
    kspec_status st = KSPEC_OK;
    for (size_t i = 0; i < a->count; i++) { /* where it is not, nothing is known but p */
        q[i] = (kspec_wls_point){.p = a->p[i], .regime = a->p[i] < o->N ? KSPEC_WLS_UNDER : KSPEC_WLS_OVER};
        q[i].error_noise_free = q[i].error_noise = q[i].variance = q[i].accuracy = NAN;
    }
    if (wls_expects(a)) st = kspec_wls_theory(o, a->p, a->count, q, err);
    if (!st && m) st = kspec_wls_empirical(o, a->p, a->count, a->draws, m, err);
    return st;
}

static void print_fit(const wls_args *a, const kspec_wls_point *q, const kspec_wls_fit_info *info) {
    FILE *f = cli_text();
    fprintf(f, "%8zu  %-6s  %14.6g  %10d  %9.3g", q->p, kspec_wls_regime_name(q->regime), info->residual,
            info->iterations, info->seconds);
    if (wls_expects(a)) fprintf(f, "  %14.6g", q->error_noise_free + q->error_noise);
    fputc('\n', f);
}

/* One fit: written, and added to the table or to points */
static int fit_one(const wls_args *a, const kspec_wls_opts *o, const kspec_dataset *y, const kspec_dataset *x,
                   const kspec_wls_point *q, const kspec_wls_measured *m, double *theta, double *f,
                   json_t *points) {
    size_t p = q->p, count = x ? x->rows : 0;
    int status = EXIT_DONE;
    kspec_wls_fit_info info;
    kspec_error err;
    kspec_status st = kspec_wls_fit(o, p, y->data, y->cols == 2, theta, &info, &err);
    if (!st && x) st = kspec_wls_predict(theta, p, x->data, count, f, a->common.threads, &err);
    if (st) return cli_fail(st, &err);
    if (a->theta) status = write_array(a->theta, theta, p, 2);
    if (a->predictions && !status) status = write_array(a->predictions, f, count, 2);
    if (status) return status;
    if (!a->common.json) {
        print_fit(a, q, &info);
        if (a->count == 1 && !a->theta) print_rows(a, "       k  coefficient", theta, p, 2, 1);
        if (a->count == 1 && x && !a->predictions) print_rows(a, "       i  prediction", f, count, 2, 1);
    }
    if (!cli_wants_object(&a->common)) return EXIT_DONE;
    json_t *point = wls_point_json(q, m);
    json_object_set_new(point, "residual", cli_real(info.residual));
    json_object_set_new(point, "iterations", json_integer(info.iterations));
    json_object_set_new(point, "seconds", json_real(info.seconds));
    if (!a->theta) json_object_set_new(point, "theta", rows_json(theta, p, 2));
    if (x && !a->predictions) json_object_set_new(point, "predictions", rows_json(f, count, 2));
    json_array_append_new(points, point);
    return EXIT_DONE;
}

static int fit_points(const wls_args *a, const kspec_dataset *y, const kspec_dataset *x, json_t *points) {
    kspec_wls_opts o = wls_opts(a);
    size_t most = 0;
    for (size_t i = 0; i < a->count; i++) most = a->p[i] > most ? a->p[i] : most;
    o.P = wls_modes(a);
    double *theta = most < SIZE_MAX / 32 ? malloc(2 * most * sizeof *theta) : NULL,
           *f = malloc((2 * (x ? x->rows : 0) + 1) * sizeof *f);
    kspec_wls_point *q = calloc(a->count, sizeof *q);
    kspec_wls_measured *m = a->draws ? calloc(a->count, sizeof *m) : NULL;
    kspec_error err;
    int status = EXIT_DONE;
    if (!theta || !f || !q || (a->draws && !m))
        status = cli_error(EXIT_FAILED, "out of memory for %zu coefficients", most);
    kspec_status st = status ? KSPEC_OK : expected(a, &o, q, m, &err);
    if (st) status = cli_fail(st, &err);
    if (!status && !a->common.json) {
        wls_print_setting(a, &o);
        fprintf(cli_text(), "%s%8s  %-6s  %14s  %10s  %9s%s%s\n", cli_bold(&a->common), "p", "regime",
                "residual (rms)", "iterations", "seconds", wls_expects(a) ? "  expected error" : "",
                cli_plain(&a->common));
    }
    for (size_t i = 0; i < a->count && !status; i++)
        status = fit_one(a, &o, y, x, &q[i], m ? &m[i] : NULL, theta, f, points);
    free(theta);
    free(f);
    free(q);
    free(m);
    return status;
}

int wls_fit(wls_args *a) {
    kspec_dataset y, x;
    if (!a->count) return cli_error(EXIT_USAGE, "wls: --fit needs --learn p,...");
    if (a->count > 1 && (a->theta || a->predictions))
        return cli_error(EXIT_USAGE, "wls: --theta and --predictions hold one fit, --learn has %zu",
                         a->count);
    if ((a->draws || a->complex_noise) && !wls_expects(a))
        return cli_error(EXIT_USAGE, "wls: --%s needs --modes, --gamma or --noise",
                         a->draws ? "empirical" : "complex-noise");
    int status = read_one(a, a->fit, 0, 0, &y);
    if (status) return status;
    if (y.cols > 2)
        status =
            cli_error(EXIT_INPUT, "%s: %zu columns, neither 1 (real data) nor 2 (real and imaginary parts)",
                      a->fit, y.cols);
    else if (a->grid && a->grid != y.rows)
        status = cli_error(EXIT_INPUT, "%s: %zu rows, but --grid is %zu", a->fit, y.rows, a->grid);
    a->grid = y.rows;
    if (!status && a->at) {
        status = read_one(a, a->at, 0, 0, &x);
        if (!status && x.cols != 1) {
            status = cli_error(EXIT_INPUT, "%s: %zu columns, but x has 1", a->at, x.cols);
            kspec_dataset_free(&x);
        }
    }
    if (!status) {
        json_t *points = json_array();
        status = fit_points(a, &y, a->at ? &x : NULL, points);
        if (a->at) kspec_dataset_free(&x);
        if (status)
            json_decref(points);
        else
            status = cli_finish(&a->common, wls_json(a, "fit", points));
    }
    kspec_dataset_free(&y);
    return status;
}

/* ---- any features ---- */

enum { PSI, TARGET, AT, DATA_WEIGHTS, FEATURE_WEIGHTS, PRIOR, NOISE, FILES };

static void print_features(const wls_args *a, const kspec_dataset *d, const kspec_wls_features_result *r) {
    FILE *f = cli_text();
    size_t values = r->p < d[PSI].rows ? r->p : d[PSI].rows;
    fprintf(f, "%zu points, %zu of %zu features learned, rank %zu; singular values from %.4g to %.4g\n",
            d[PSI].rows, r->p, d[PSI].cols, r->rank, r->singular_values[0], r->singular_values[values - 1]);
    if (a->target) fprintf(f, "residual (rms)    %.6g\n", r->residual);
    if (a->prior) fprintf(f, "noise-free error  %.6g\n", r->error_noise_free);
    if (a->noise_cov) fprintf(f, "error of noise    %.6g, of variance %.6g\n", r->error_noise, r->variance);
    if (a->target && !a->theta) print_rows(a, "       k  coefficient", r->theta, r->p, d[TARGET].cols, 0);
    if (a->at && !a->predictions)
        print_rows(a, "       i  prediction", r->predicted, d[AT].rows, d[TARGET].cols, 0);
}

static json_t *features_point(const wls_args *a, const kspec_dataset *d, const kspec_wls_features_result *r) {
    json_t *o = json_pack("{s:I, s:s, s:I, s:o, s:o, s:o, s:o, s:f}", "p", (json_int_t)r->p, "regime",
                          kspec_wls_regime_name(r->p < d[PSI].rows ? KSPEC_WLS_UNDER : KSPEC_WLS_OVER),
                          "rank", (json_int_t)r->rank, "residual", cli_real(r->residual), "error_noise_free",
                          cli_real(r->error_noise_free), "error_noise", cli_real(r->error_noise), "variance",
                          cli_real(r->variance), "seconds", r->seconds);
    json_object_set_new(o, "singular_values",
                        cli_reals(r->singular_values, r->p < d[PSI].rows ? r->p : d[PSI].rows));
    if (a->target && !a->theta) json_object_set_new(o, "theta", rows_json(r->theta, r->p, d[TARGET].cols));
    if (a->at && !a->predictions)
        json_object_set_new(o, "predictions", rows_json(r->predicted, d[AT].rows, d[TARGET].cols));
    return o;
}

static int features_points(wls_args *a, const kspec_dataset *d, const kspec_matrix *m, json_t *points) {
    const char *const paths[FILES] = {a->features,        a->target, a->at,       a->data_weights,
                                      a->feature_weights, a->prior,  a->noise_cov};
    const size_t all = d[PSI].cols;
    int status = EXIT_DONE;
    for (size_t i = 0; i < (a->count ? a->count : 1) && !status; i++) {
        kspec_wls_features_opts o = {.size = sizeof o,
                                     .p = a->count ? a->p[i] : all,
                                     .data_weights = paths[DATA_WEIGHTS] ? &m[DATA_WEIGHTS] : NULL,
                                     .feature_weights = paths[FEATURE_WEIGHTS] ? &m[FEATURE_WEIGHTS] : NULL,
                                     .prior = paths[PRIOR] ? &m[PRIOR] : NULL,
                                     .noise_cov = paths[NOISE] ? &m[NOISE] : NULL,
                                     .at = paths[AT] ? &m[AT] : NULL,
                                     .rank_tol = a->rank_tol,
                                     .threads = a->common.threads,
                                     .progress = cli_progress(&a->common)};
        kspec_wls_features_result r;
        kspec_error err;
        if (o.p > all)
            return cli_error(EXIT_USAGE, "--learn: p = %zu exceeds the %zu features of %s", o.p, all,
                             a->features);
        kspec_status st = kspec_wls_features(&m[PSI], paths[TARGET] ? &m[TARGET] : NULL, &o, &r, &err);
        /* the files do not fit each other; --rank-tol and --learn are options */
        if (st == KSPEC_E_ARG && !strstr(err.msg, "rank tolerance") && !strstr(err.msg, "threads"))
            return cli_error(EXIT_INPUT, "%s", err.msg);
        if (st) return cli_fail(st, &err);
        if (a->theta) status = write_array(a->theta, r.theta, r.p, d[TARGET].cols);
        if (a->predictions && !status)
            status = write_array(a->predictions, r.predicted, d[AT].rows, d[TARGET].cols);
        if (cli_wants_object(&a->common)) json_array_append_new(points, features_point(a, d, &r));
        if (!a->common.json && !status) {
            if (i) fputc('\n', cli_text());
            print_features(a, d, &r);
        }
        kspec_wls_features_free(&r);
    }
    return status;
}

int wls_features(wls_args *a) {
    const char *const paths[FILES] = {a->features,        a->target, a->at,       a->data_weights,
                                      a->feature_weights, a->prior,  a->noise_cov};
    kspec_dataset d[FILES] = {{0}};
    kspec_matrix m[FILES];
    int status = EXIT_DONE;
    if (!a->target && !a->prior && !a->noise_cov)
        return cli_error(EXIT_USAGE,
                         "wls: --features needs --target Y, --prior FILE or --noise-covariance FILE");
    if (a->count > 1 && (a->theta || a->predictions))
        return cli_error(EXIT_USAGE, "wls: --theta and --predictions hold one fit, --learn has %zu",
                         a->count);
    for (int k = 0; k < FILES && !status; k++)
        if (paths[k] &&
            !(status = read_one(a, paths[k], k == PSI || k == TARGET, k == PSI || k == AT, &d[k])))
            m[k] = kspec_dataset_trial(&d[k], 0);
    json_t *points = json_array();
    if (!status) status = features_points(a, d, m, points);
    if (!status) {
        json_t *object = NULL;
        if (cli_wants_object(&a->common))
            object = json_pack("{s:s, s:s, s:I, s:I, s:O}", "command", "wls", "mode", "features", "rows",
                               (json_int_t)d[PSI].rows, "cols", (json_int_t)d[PSI].cols, "points", points);
        status = cli_finish(&a->common, object);
    }
    json_decref(points);
    for (int k = 0; k < FILES; k++) kspec_dataset_free(&d[k]);
    return status;
}

/* ---- decay ---- */

int wls_decay(wls_args *a) {
    kspec_dataset d;
    int status = read_one(a, a->decay, 1, 1, &d),
        polynomial = a->kernel && strcmp(a->kernel, "polynomial") == 0;
    if (status) return status;
    if (a->degree && !polynomial) {
        kspec_dataset_free(&d);
        return cli_error(EXIT_USAGE, "wls: --degree goes with --kernel polynomial");
    }
    kspec_wls_decay_opts o = {.size = sizeof o,
                              .kernel = polynomial ? KSPEC_WLS_POLYNOMIAL : KSPEC_WLS_GAUSSIAN,
                              .scale = a->sigma,
                              .degree = a->degree,
                              .unit_sphere = a->unit,
                              .threads = a->common.threads,
                              .progress = cli_progress(&a->common)};
    kspec_matrix X = kspec_dataset_trial(&d, 0);
    kspec_error err;
    double *s = malloc(d.rows * sizeof *s), exponent;
    kspec_status st = s ? kspec_wls_decay(&X, &o, s, &exponent, &err) : KSPEC_E_NOMEM;
    if (!s)
        status = cli_error(EXIT_FAILED, "out of memory for %zu values", d.rows);
    else if (st == KSPEC_E_ARG && strncmp(err.msg, "row ", 4) == 0) /* what the file holds */
        status = cli_error(EXIT_INPUT, "%s: %s", a->decay, err.msg);
    else if (st)
        status = cli_fail(st, &err);
    json_t *object = NULL;
    if (!status && cli_wants_object(&a->common)) {
        object = json_pack("{s:s, s:s, s:I, s:I, s:s, s:o, s:o}", "command", "wls", "mode", "decay", "rows",
                           (json_int_t)d.rows, "cols", (json_int_t)d.cols, "kernel",
                           polynomial ? "polynomial" : "gaussian", "exponent", cli_real(exponent),
                           "singular_values", cli_reals(s, d.rows));
    }
    if (!status && !a->common.json) {
        FILE *f = cli_text();
        fprintf(f, "%s kernel on %zu rows of %zu columns: singular values like k^-%.3g\n\n",
                polynomial ? "polynomial" : "Gaussian", d.rows, d.cols, exponent);
        fprintf(f, "%s%8s  %14s%s\n", cli_bold(&a->common), "k", "singular value", cli_plain(&a->common));
        for (size_t k = 1; k <= d.rows; k *= 2) fprintf(f, "%8zu  %14.6g\n", k, s[k - 1]);
    }
    if (!status) status = cli_finish(&a->common, object);
    free(s);
    kspec_dataset_free(&d);
    return status;
}
