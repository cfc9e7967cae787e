/* Fits of data on the grid, and their expected errors where the truth is described. */
#include "commands/wls.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* clang-format off */
static const cli_option options[] = {
    WLS_LEARN_OPTION, WLS_FIT_OPTIONS, WLS_GRID_OPTIONS, WLS_DRAW_OPTIONS, {0},
};
/* clang-format on */

/* One fit. theta (p pairs) and f (a pair for each x) are kept where they are shown, else NULL. */
typedef struct {
    kspec_wls_point q;
    kspec_wls_fit_info info;
    double *theta, *f;
} fit;

/* xs: how many x there are to predict at. m: measured errors, or NULL. */
typedef struct {
    const wls_args *a;
    kspec_wls_opts o;
    size_t xs;
    fit *fits;
    kspec_wls_measured *m;
} output;

/* ---- output ---- */

static json_t *to_json(const void *result) {
    const output *u = result;
    json_t *points = json_array();
    for (size_t i = 0; i < u->a->learn.count; i++) {
        const fit *x = &u->fits[i];
        json_t *point = wls_point_json(&x->q, u->m ? &u->m[i] : NULL);
        json_object_set_new(point, "residual", cli_real(x->info.residual));
        json_object_set_new(point, "iterations", json_integer(x->info.iterations));
        json_object_set_new(point, "seconds", json_real(x->info.seconds));
        if (x->theta) json_object_set_new(point, "theta", cli_real_rows(x->theta, x->q.p, 2));
        if (x->f) json_object_set_new(point, "predictions", cli_real_rows(x->f, u->xs, 2));
        json_array_append_new(points, point);
    }
    return wls_json(u->a, "fit", &u->o, points);
}

static void print_table(FILE *f, const void *result) {
    const output *u = result;
    const wls_args *a = u->a;
    int expects = wls_expects(a);
    wls_print_setting(f, a, &u->o);
    fprintf(f, "%s%8s  %-6s  %14s  %10s  %9s%s%s\n", cli_bold(&a->common), "p", "regime", "residual (rms)",
            "iterations", "seconds", expects ? "  expected error" : "", cli_plain(&a->common));
    for (size_t i = 0; i < a->learn.count; i++) {
        const fit *x = &u->fits[i];
        fprintf(f, "%8zu  %-6s  %14.6g  %10d  %9.3g", x->q.p, kspec_wls_regime_name(x->q.regime),
                x->info.residual, x->info.iterations, x->info.seconds);
        if (expects) fprintf(f, "  %14.6g", x->q.error_noise_free + x->q.error_noise);
        fputc('\n', f);
    }
    if (a->learn.count > 1) return;
    if (u->fits->theta) wls_print_rows(f, a, "       k  coefficient", u->fits->theta, u->fits->q.p, 2, 1);
    if (u->fits->f) wls_print_rows(f, a, "       i  prediction", u->fits->f, u->xs, 2, 1);
}

/* ---- the fits ---- */

/* Where the truth is not described, nothing is known of a fit's error. */
static kspec_status expect(output *u, kspec_error *err) {
    const wls_args *a = u->a;
    const size_t *p = a->learn.at, count = a->learn.count;
    kspec_wls_point *q = calloc(count, sizeof *q);
    kspec_status st = KSPEC_OK;
    if (!q) {
        *err = (kspec_error){KSPEC_E_NOMEM, "out of memory"};
        return KSPEC_E_NOMEM;
    }
    for (size_t i = 0; i < count; i++)
        q[i] = (kspec_wls_point){.p = p[i],
                                 .regime = p[i] < u->o.N ? KSPEC_WLS_UNDER : KSPEC_WLS_OVER,
                                 .error_noise_free = NAN,
                                 .error_noise = NAN,
                                 .variance = NAN,
                                 .accuracy = NAN};
    if (wls_expects(a)) st = kspec_wls_theory(&u->o, p, count, q, err);
    if (!st && u->m) st = kspec_wls_empirical(&u->o, p, count, a->draws, u->m, err);
    for (size_t i = 0; i < count; i++) u->fits[i].q = q[i];
    free(q);
    return st;
}

/* A copy of what will be shown */
static double *keep(const double *x, size_t count, int wanted) {
    double *copy = wanted ? malloc((count + 1) * sizeof *copy) : NULL;
    return copy ? memcpy(copy, x, count * sizeof *copy) : NULL;
}

/* theta and f: room for the largest fit and its predictions */
static int fit_one(const output *u, fit *to, const kspec_dataset *y, const kspec_dataset *x, double *theta,
                   double *f) {
    const wls_args *a = u->a;
    size_t p = to->q.p;
    int shown = cli_wants_object(&a->common) || a->learn.count == 1;
    kspec_error err;
    kspec_status st = kspec_wls_fit(&u->o, p, y->data, y->cols == 2, theta, &to->info, &err);
    if (!st && u->xs) st = kspec_wls_predict(theta, p, x->data, u->xs, f, a->common.threads, &err);
    if (st) return cli_fail(st, &err);
    int keeps_theta = shown && !a->theta, keeps_f = shown && u->xs && !a->predictions;
    to->theta = keep(theta, 2 * p, keeps_theta);
    to->f = keep(f, 2 * u->xs, keeps_f);
    if ((keeps_theta && !to->theta) || (keeps_f && !to->f)) return cli_no_memory();
    int status = wls_write(a->theta, theta, p, 2);
    return status ? status : wls_write(a->predictions, f, u->xs, 2);
}

static int fit_all(const wls_args *a, const kspec_dataset *y, const kspec_dataset *x) {
    size_t count = a->learn.count, most = 0;
    for (size_t i = 0; i < count; i++) most = a->learn.at[i] > most ? a->learn.at[i] : most;
    output u = {.a = a, .o = wls_opts(a), .xs = x->rows, .fits = calloc(count, sizeof *u.fits)};
    if (a->draws) u.m = calloc(count, sizeof *u.m);
    double *theta = most < SIZE_MAX / 32 ? malloc(2 * most * sizeof *theta) : NULL,
           *f = malloc((2 * u.xs + 1) * sizeof *f);
    int status = EXIT_DONE;
    kspec_error err;
    if (!theta || !f || !u.fits || (a->draws && !u.m))
        status = cli_error(EXIT_FAILED, "out of memory for %zu coefficients", most);
    kspec_status st = status ? KSPEC_OK : expect(&u, &err);
    if (st) status = cli_fail(st, &err);
    for (size_t i = 0; i < count && !status; i++) status = fit_one(&u, &u.fits[i], y, x, theta, f);
    if (!status) status = cli_done(&a->common, print_table, to_json, &u);
    for (size_t i = 0; i < count && u.fits; i++) {
        free(u.fits[i].theta);
        free(u.fits[i].f);
    }
    free(theta);
    free(f);
    free(u.fits);
    free(u.m);
    return status;
}

/* ---- */

static int check(const wls_args *a) {
    if (!a->learn.count) return cli_error(EXIT_USAGE, "wls fit: --learn p,... is missing");
    if ((a->draws || a->complex_noise) && !wls_expects(a))
        return cli_error(EXIT_USAGE, "wls fit: --%s needs --modes, --gamma or --noise",
                         a->draws ? "empirical" : "complex-noise");
    return wls_check_outputs(a, "wls fit");
}

/* Y has a column, or two; X has one */
static int check_shapes(const wls_args *a, const kspec_dataset *y, const kspec_dataset *x) {
    if (y->cols > 2)
        return cli_error(EXIT_INPUT,
                         "%s: %zu columns, neither 1 (real data) nor 2 (real and imaginary parts)", a->fit,
                         y->cols);
    if (a->grid && a->grid != y->rows)
        return cli_error(EXIT_INPUT, "%s: %zu rows, but --grid is %zu", a->fit, y->rows, a->grid);
    if (a->at && x->cols != 1) return cli_error(EXIT_INPUT, "%s: %zu columns, but x has 1", a->at, x->cols);
    return EXIT_DONE;
}

static int run(void *args) {
    wls_args *a = args;
    kspec_dataset y = {0}, x = {0};
    a->fit = a->common.inputs[0];
    int status = check(a);
    if (!status) status = wls_read(a, NULL, a->fit, 0, 0, &y);
    if (!status && a->at) status = wls_read(a, "at", a->at, 0, 0, &x);
    if (!status) status = check_shapes(a, &y, &x);
    if (!status) {
        a->grid = y.rows;
        status = fit_all(a, &y, &x);
    }
    kspec_dataset_free(&y);
    kspec_dataset_free(&x);
    return status;
}

const cli_command wls_fit = {
    .name = "wls fit",
    .synopsis = "wls fit Y --learn p,... [--alpha A] [--beta B] [--at X] [--theta FILE] [--predictions FILE] "
                "[OPTIONS]",
    .description =
        "Fits p Fourier modes to the data Y on a grid: a file of one column, or two (real, imaginary).\n"
        "With --modes, --gamma or --noise, which describe the truth, also the expected errors.",
    .options = options,
    .args_size = sizeof(wls_args),
    .takes_files = 1,
    .most_inputs = 1,
    .run = run,
};
