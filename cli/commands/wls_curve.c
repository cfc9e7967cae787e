/* kspec wls fit: fits a smooth curve through data, with a band. */
#include "commands/wls.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const cli_choice wls_bases[] = {
    {"auto", KSPEC_WLS_BASIS_AUTO},
    {"real", KSPEC_WLS_BASIS_REAL},
    {"cosine", KSPEC_WLS_BASIS_COSINE},
    {"legendre", KSPEC_WLS_BASIS_LEGENDRE},
    {"chebyshev", KSPEC_WLS_BASIS_CHEBYSHEV},
    {"fourier", KSPEC_WLS_BASIS_FOURIER},
    {0},
};
const cli_choice wls_gaps[] = {{"error", 0}, {"omit-rows", 1}, {0}};

/* The options that apply to a curve only. Any basis except fourier also means a curve. */
static const char *const of_a_curve[] = {"x",   "period",        "complex", "sample-weight",
                                         "nan", "stop-at-noise", "target",  NULL};
/* The options that apply to the papers' model only. This model needs --learn p,.... */
static const char *const of_a_grid[] = {"alpha",     "gamma",         "modes", "grid",
                                        "empirical", "complex-noise", NULL};

static const char *first_given(const wls_args *a, const char *const *names) {
    for (; *names; names++)
        if (cli_given(&a->common, *names)) return *names;
    return NULL;
}

static const char *curve_option(const wls_args *a) {
    const char *name = first_given(a, of_a_curve);
    if (!name && cli_given(&a->common, "basis") && a->basis != KSPEC_WLS_BASIS_FOURIER) name = "basis";
    return name;
}

wls_wanted wls_wants(const wls_args *a) {
    if (!a->learn.count || curve_option(a) || isnan(a->beta) || isnan(a->noise)) return WLS_CURVE;
    if (a->learn.count > 1 || first_given(a, of_a_grid) || cli_given(&a->common, "basis") || a->no_verb)
        return WLS_MODES;
    return WLS_BY_DATA;
}

static int check(const wls_args *a) {
    const char *grid = first_given(a, of_a_grid), *curve = curve_option(a);
    if (grid && curve)
        return cli_error(EXIT_USAGE, "wls fit: --%s needs a curve, but --%s needs the modes of --learn p,...",
                         curve, grid);
    if (grid) return cli_error(EXIT_USAGE, "wls fit: --%s needs --learn p,...", grid);
    if (a->learn.count > 1)
        return cli_error(EXIT_USAGE, "wls fit: --learn has %zu values, but a curve takes one",
                         a->learn.count);
    if (cli_given(&a->common, "beta") && !(a->beta > 0) && !isnan(a->beta))
        return cli_error(EXIT_USAGE, "--beta: %g is not above 0", a->beta);
    if (cli_given(&a->common, "noise") && !(a->noise > 0) && !isnan(a->noise))
        return cli_error(EXIT_USAGE, "--noise: %g is not above 0", a->noise);
    return wls_check_outputs(a, "wls fit");
}

typedef struct {
    const wls_args *a;
    const wls_points *points;
    const kspec_wls_smooth_result *r;
} output;

static void print(FILE *f, const void *result) {
    const output *u = result;
    wls_print_curve(f, u->a, u->points, u->r);
}

static json_t *to_json(const void *result) {
    const output *u = result;
    return wls_curve_json(u->a, u->points, u->r);
}

/* Writes a row for each point, with the value and the ends of the band. For complex data a row has the
 * real part, the imaginary part and half the width of the band. */
static int write_predictions(const wls_args *a, const wls_points *p, const kspec_wls_smooth_result *r) {
    if (!a->predictions) return EXIT_DONE;
    const size_t count = p->at->rows;
    double *rows = malloc(3 * count * sizeof *rows);
    if (!rows) return cli_no_memory();
    for (size_t i = 0; i < count; i++) {
        const double half = r->at_half_width[i];
        double *to = rows + 3 * i;
        if (p->is_complex)
            to[0] = r->at_fitted[2 * i], to[1] = r->at_fitted[2 * i + 1], to[2] = half;
        else
            to[0] = r->at_fitted[i], to[1] = to[0] - half, to[2] = to[0] + half;
    }
    int status = wls_write(a->predictions, rows, count, 3);
    free(rows);
    return status;
}

static double given(double value) { return isnan(value) ? 0 : value; }

int wls_curve(wls_args *a, kspec_dataset *y) {
    wls_points p = {.y = y};
    kspec_wls_smooth_result *r = NULL;
    kspec_error err;
    int status = check(a);
    if (!status) status = wls_points_read(a, &p);
    if (!status) {
        const kspec_wls_smooth_opts o = {.size = sizeof o,
                                         .basis = (kspec_wls_basis)a->basis,
                                         .p = a->learn.count ? a->learn.at[0] : 0,
                                         .beta = given(a->beta),
                                         .noise = given(a->noise),
                                         .period = a->period,
                                         .complex_data = p.is_complex,
                                         .gaps = a->gaps,
                                         .stop_at_noise = a->stop_at_noise,
                                         .weights = p.weights ? p.weights->data : NULL,
                                         .at = p.at ? p.at->data : NULL,
                                         .at_count = p.at ? p.at->rows : 0,
                                         .threads = a->common.threads,
                                         .progress = cli_progress(&a->common)};
        kspec_status st = kspec_wls_smooth(p.rows, p.x ? p.x->data : NULL, p.y->data, &o, &r, &err);
        if (st == KSPEC_E_DATA) cli_error_prefix(&err, a->fit);
        if (st) status = cli_fail(st, &err);
    }
    if (!status) {
        a->grid = p.rows;
        cli_doubts(&a->common, NULL, r->doubts, r->doubt_count);
        status = wls_write(a->theta, r->theta, r->p, r->basis == KSPEC_WLS_BASIS_FOURIER ? 2 : 1);
        if (!status) status = write_predictions(a, &p, r);
    }
    if (!status) status = cli_done(&a->common, print, to_json, &(output){a, &p, r});
    kspec_free(r);
    wls_points_free(&p);
    return status;
}
