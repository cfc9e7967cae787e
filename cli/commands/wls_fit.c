/* Fits data on the grid, and computes the expected errors if the truth is described. */
#include "commands/wls.h"

#include <math.h>
#include <stdlib.h>

/* clang-format off */
static const cli_option options[] = {
    {"target", 0, OPT_STRING, WLS_ARG(target), "Y",
     "the measured column of Y, by name or number, if Y has several"},
    WLS_SMOOTH_OPTIONS, WLS_LEARN_OPTION, WLS_FIT_OPTIONS, WLS_GRID_OPTIONS, WLS_DRAW_OPTIONS, {0},
};
/* clang-format on */

/* One fit and its predictions (a pair of numbers for each x). Each pointer becomes NULL after the data
 * are written to a file or hidden. */
typedef struct {
    kspec_wls_fit_result *r;
    int shows_theta;
    double *f;
} fit;

/* The result. xs is the number of points at which to predict. `expected` and `measured` are the errors at
 * each p, or NULL. */
typedef struct {
    const wls_args *a;
    kspec_wls_opts o;
    size_t xs;
    const kspec_dataset *y;
    fit *fits;
    kspec_wls_result *expected, *measured;
} output;

/* ---- output ---- */

/* Returns the expected error of a fit, which is unknown unless the user describes the truth. */
static kspec_wls_point expected_of(const output *u, size_t i) {
    if (u->expected) return *u->expected->points[i];
    const kspec_wls_fit_result *r = u->fits[i].r;
    return (kspec_wls_point){.p = r->p,
                             .regime = r->regime,
                             .error = NAN,
                             .error_noise_free = NAN,
                             .error_noise = NAN,
                             .variance = NAN,
                             .accuracy = NAN};
}

/* Adds the fit at the points of the grid, or its real part for real data. The JSON object says that the
 * error of this fit is unknown. */
static json_t *fitted_json(const output *u) {
    json_t *list = json_array();
    const int pairs = u->y->cols == 2;
    for (size_t j = 0; j < u->a->grid; j++) {
        const double *y = u->y->data + (pairs ? 2 * j : j), *f = u->fits[0].r->fitted + 2 * j;
        json_t *o = json_object();
        cli_set_reals(o, (cli_member[]){{"x", 6.283185307179586 * (double)j / (double)u->a->grid},
                                        {"y", y[0]},
                                        {"value", f[0]},
                                        {"ci_low", NAN},
                                        {"ci_high", NAN},
                                        {0}});
        if (pairs) cli_set_reals(o, (cli_member[]){{"y_imag", y[1]}, {"value_imag", f[1]}, {0}});
        json_array_append_new(list, o);
    }
    return list;
}

static json_t *to_json(const void *result) {
    const output *u = result;
    json_t *points = json_array();
    for (size_t i = 0; i < u->a->learn.count; i++) {
        const fit *x = &u->fits[i];
        const kspec_wls_point q = expected_of(u, i);
        json_t *point = wls_point_json(&q, u->measured ? u->measured->points[i] : NULL);
        json_object_set_new(point, "residual", cli_real(x->r->residual));
        json_object_set_new(point, "iterations", json_integer(x->r->iterations));
        json_object_set_new(point, "seconds", json_real(x->r->seconds));
        if (x->shows_theta) json_object_set_new(point, "theta", cli_real_rows(x->r->theta, x->r->p, 2));
        if (x->f) json_object_set_new(point, "predictions", cli_real_rows(x->f, u->xs, 2));
        json_array_append_new(points, point);
    }
    json_t *o = wls_json(u->a, "fit", &u->o, points);
    if (u->a->learn.count == 1) {
        json_object_set_new(o, "p", json_integer((json_int_t)u->fits[0].r->p));
        json_object_set_new(o, "fitted", fitted_json(u));
    }
    return o;
}

static void print_table(FILE *f, const void *result) {
    const output *u = result;
    const wls_args *a = u->a;
    int expects = wls_expects(a);
    wls_print_setting(f, a, &u->o);
    fprintf(f, "%s%8s  %-6s  %14s  %10s  %9s%s%s\n", cli_bold(&a->common), "p", "regime", "residual (rms)",
            "iterations", "seconds", expects ? "  expected error" : "", cli_plain(&a->common));
    for (size_t i = 0; i < a->learn.count; i++) {
        const kspec_wls_fit_result *r = u->fits[i].r;
        fprintf(f, "%8zu  %-6s  %14.6g  %10d  %9.3g", r->p, wls_regime(r->regime), r->residual, r->iterations,
                r->seconds);
        if (expects) fprintf(f, "  %14.6g", u->expected->points[i]->error);
        fputc('\n', f);
    }
    if (a->learn.count > 1) return;
    const fit *x = u->fits;
    if (x->shows_theta) wls_print_rows(f, a, "       k  coefficient", x->r->theta, x->r->p, 2, 1);
    if (x->f) wls_print_rows(f, a, "       i  prediction", x->f, u->xs, 2, 1);
}

/* ---- the fits ---- */

/* Returns 1 if the first of two columns increases, as x would. */
static int increases(const kspec_dataset *y) {
    for (size_t i = 1; i < y->rows; i++)
        if (!(y->data[2 * i] > y->data[2 * i - 2])) return 0;
    return y->rows > 2;
}

/* Warns if the data would fit another interpretation as well or better. */
static void warn_of(const wls_args *a, const kspec_dataset *y) {
    if (y->cols == 2 && !y->is_complex && increases(y))
        cli_warn(
            &a->common,
            "%s: the 2 columns are read as real and imaginary parts (--complex); use --x COLUMN if one is x",
            a->fit);
    if (y->cols == 1)
        cli_warn(
            &a->common,
            "%s: the data are real, and the modes e^(ikx), k >= 0, leave an imaginary part (--basis real)",
            a->fit);
}

static kspec_status expect(output *u, kspec_error *err) {
    const wls_args *a = u->a;
    const size_t *p = a->learn.at, count = a->learn.count;
    kspec_status st = KSPEC_OK;
    if (wls_expects(a)) st = kspec_wls_theory(a->grid, p, count, &u->o, &u->expected, err);
    if (!st && a->draws) st = kspec_wls_empirical(a->grid, p, count, a->draws, &u->o, &u->measured, err);
    return st;
}

static int fit_one(const output *u, size_t p, const kspec_dataset *y, const kspec_dataset *x, fit *to) {
    const wls_args *a = u->a;
    int shown = cli_wants_object(&a->common) || a->learn.count == 1;
    kspec_wls_opts o = u->o;
    o.complex_data = y->cols == 2;
    kspec_error err;
    kspec_status st = kspec_wls_fit(a->grid, p, y->data, &o, &to->r, &err);
    if (!st && u->xs) {
        to->f = malloc(2 * u->xs * sizeof *to->f);
        if (!to->f) return cli_error(EXIT_FAILED, "out of memory for %zu predictions", u->xs);
        st = kspec_wls_predict(to->r->theta, p, x->data, u->xs, to->f, a->common.threads, &err);
    }
    if (st) return cli_fail(st, &err);
    to->shows_theta = shown && !a->theta;
    int status = wls_write(a->theta, to->r->theta, p, 2);
    if (!status) status = wls_write(a->predictions, to->f, u->xs, 2);
    if (!shown || a->predictions) {
        free(to->f);
        to->f = NULL;
    }
    return status;
}

static int fit_all(const wls_args *a, const kspec_dataset *y, const kspec_dataset *x) {
    size_t count = a->learn.count;
    output u = {
        .a = a, .o = wls_opts(a), .xs = x ? x->rows : 0, .y = y, .fits = calloc(count, sizeof *u.fits)};
    if (!u.fits) return cli_no_memory();
    warn_of(a, y);
    kspec_error err;
    kspec_status st = expect(&u, &err);
    int status = st ? cli_fail(st, &err) : EXIT_DONE;
    for (size_t i = 0; i < count && !status; i++) status = fit_one(&u, a->learn.at[i], y, x, &u.fits[i]);
    if (!status) status = cli_done(&a->common, print_table, to_json, &u);
    for (size_t i = 0; i < count; i++) {
        kspec_free(u.fits[i].r);
        free(u.fits[i].f);
    }
    free(u.fits);
    kspec_free(u.expected);
    kspec_free(u.measured);
    return status;
}

/* ---- the command ---- */

static int check(const wls_args *a) {
    if ((a->draws || a->complex_noise) && !wls_expects(a))
        return cli_error(EXIT_USAGE, "wls fit: --%s needs --modes, --gamma or --noise",
                         a->draws ? "empirical" : "complex-noise");
    return wls_check_outputs(a, "wls fit");
}

/* Checks that Y has one or two columns, and X one. */
static int check_shapes(const wls_args *a, const kspec_dataset *y, const kspec_dataset *x) {
    if (y->cols > 2)
        return cli_error(EXIT_INPUT,
                         "%s: %zu columns, neither 1 (real data) nor 2 (real and imaginary parts)", a->fit,
                         y->cols);
    if (a->grid && a->grid != y->rows)
        return cli_error(EXIT_INPUT, "%s: %zu row%s, but --grid is %zu", a->fit, y->rows, cli_s(y->rows),
                         a->grid);
    if (a->at && x->cols != 1) return cli_error(EXIT_INPUT, "%s: %zu columns, but x has 1", a->at, x->cols);
    return EXIT_DONE;
}

static int run(void *args) {
    wls_args *a = args;
    kspec_dataset *y = NULL, *x = NULL;
    a->fit = a->common.inputs[0];
    const wls_wanted wanted = wls_wants(a);
    if (wanted == WLS_CURVE) return wls_curve(a, NULL);
    int status = check(a);
    if (!status) status = wls_read(a, NULL, a->fit, 0, 0, &y);
    if (!status && wanted == WLS_BY_DATA && !y->is_complex) return wls_curve(a, y);
    if (!status && a->at) status = wls_read(a, "at", a->at, 0, 0, &x);
    if (!status) status = check_shapes(a, y, x);
    if (!status) {
        a->grid = y->rows;
        status = fit_all(a, y, x);
    }
    kspec_free(y);
    kspec_free(x);
    return status;
}

const cli_command wls_fit = {
    .name = "wls fit",
    .synopsis =
        "wls fit Y [--x COLUMN] [--target COLUMN] [--basis B] [--learn p] [--beta B] [--noise S] [--at X] "
        "[--predictions FILE] [OPTIONS]\n"
        "wls fit Y --learn p,... [--alpha A] [--beta B] [--at X] [--theta FILE] [--predictions FILE] "
        "[OPTIONS]",
    .description =
        "A smooth curve through the data Y, with a 95% band: a file of one column, or several of which --x\n"
        "is one. Basis, smoothness and noise are chosen by the marginal likelihood; what is given is not.\n"
        "With --learn p,... and none of the options of a curve: fits of the first p modes e^{ikx}, k >= 0,\n"
        "to one column on a grid, or two (real, imaginary). Then --modes, --gamma or --noise describe the\n"
        "truth and give the expected errors.",
    .options = options,
    .args_size = sizeof(wls_args),
    .takes_files = 1,
    .most_inputs = 1,
    .run = run,
};
