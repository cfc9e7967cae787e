/*
 * Prints expected and measured errors on the grid, and the best choices: kspec wls theory and kspec wls
 * select.
 */
#include "commands/wls.h"

#include <math.h>
#include <stdlib.h>

/* Holds the expected errors at each p of --learn and, on request, the measured errors. best_p is the
 * point at the best p. best_weight has a point for each p, at the best weight of this p. */
typedef struct {
    const wls_args *a;
    kspec_wls_opts o;
    kspec_wls_result *expected, *measured, *best_p, **best_weight;
} output;

static const char *weight_name(const kspec_wls_point *q, size_t N) {
    return q->p < N ? "alpha" : q->p > N ? "beta" : NULL;
}

/* ---- JSON ---- */

static json_t *best_json(const kspec_wls_point *q, size_t N) {
    const char *name = weight_name(q, N);
    return json_pack("{s:o, s:o, s:o, s:o}", "weight", name ? json_string(name) : json_null(), "value",
                     name ? cli_real(q->p < N ? q->alpha : q->beta) : json_null(), "error_noise_free",
                     cli_real(q->error_noise_free), "error_noise", cli_real(q->error_noise));
}

static json_t *to_json(const void *result) {
    const output *u = result;
    const wls_args *a = u->a;
    json_t *points = json_array();
    for (size_t i = 0; i < a->learn.count; i++) {
        json_t *point = wls_point_json(u->expected->points[i], u->measured ? u->measured->points[i] : NULL);
        if (u->best_weight)
            json_object_set_new(point, "best_weight", best_json(u->best_weight[i]->points[0], a->grid));
        json_array_append_new(points, point);
    }
    json_t *o = wls_json(a, a->best_p || a->best_weights ? "select" : "theory", &u->o, points);
    if (a->noise_spectrum) json_object_set_new(o, "noise_spectrum", cli_reals(u->o.noise_spectrum, a->grid));
    if (a->draws) json_object_set_new(o, "draws", json_integer((json_int_t)a->draws));
    if (a->best_p) json_object_set_new(o, "best", wls_point_json(u->best_p->points[0], NULL));
    return o;
}

/* ---- table ---- */

static void print_point(FILE *f, const output *u, size_t i) {
    const kspec_wls_point *q = u->expected->points[i], *m = u->measured ? u->measured->points[i] : NULL,
                          *best = u->best_weight ? u->best_weight[i]->points[0] : NULL;
    const char *weight = weight_name(q, u->a->grid);
    fprintf(f, "%8zu  %-6s  %12.6g  %12.6g  %12.6g  %12.4g", q->p, wls_regime(q->regime), q->error_noise_free,
            q->error_noise, q->error, sqrt(q->variance));
    if (m) fprintf(f, "  %12.6g  %10.2g", m->error, m->error_se);
    if (best && weight)
        fprintf(f, "  %5s = %-6.4g  %12.6g", weight, q->p < u->a->grid ? best->alpha : best->beta,
                best->error);
    else if (best)
        fprintf(f, "  %14s  %12.6g", "any", q->error);
    fputc('\n', f);
}

static void print_table(FILE *f, const void *result) {
    const output *u = result;
    const cli_common *c = &u->a->common;
    size_t count = u->a->learn.count;
    wls_print_setting(f, u->a, &u->o);
    if (count)
        fprintf(f, "%s%8s  %-6s  %12s  %12s  %12s  %12s%s%s%s\n", cli_bold(c), "p", "regime", "noise-free",
                "noise", "error", "SD of noise", u->measured ? "      measured  std. error" : "",
                u->best_weight ? "   best weight     its error" : "", cli_plain(c));
    for (size_t i = 0; i < count; i++) print_point(f, u, i);
    if (u->best_p)
        fprintf(f, "%sleast error %.6g at p = %zu\n", count ? "\n" : "", u->best_p->points[0]->error,
                u->best_p->points[0]->p);
}

/* ---- the commands ---- */

static kspec_status compute(output *u, kspec_error *err) {
    const wls_args *a = u->a;
    const size_t *p = a->learn.at, count = a->learn.count, N = a->grid;
    kspec_status st = KSPEC_OK;
    if (count) st = kspec_wls_theory(N, p, count, &u->o, &u->expected, err);
    if (!st && a->draws) st = kspec_wls_empirical(N, p, count, a->draws, &u->o, &u->measured, err);
    for (size_t i = 0; i < count && u->best_weight && !st; i++)
        st = kspec_wls_best_weight(N, p[i], 0, 3, &u->o, &u->best_weight[i], err);
    if (!st && a->best_p) st = kspec_wls_best_p(N, p, count, &u->o, &u->best_p, err);
    return st;
}

/* Reads --noise-spectrum: The result has N numbers, which the caller frees. */
static int read_spectrum(const wls_args *a, double **to) {
    kspec_dataset *d = NULL;
    int status = wls_read(a, "noise_spectrum", a->noise_spectrum, 0, 0, &d);
    if (!status && d->rows * d->cols != a->grid)
        status = cli_error(EXIT_INPUT, "%s has %zu numbers, but the grid has %zu points", a->noise_spectrum,
                           d->rows * d->cols, a->grid);
    if (!status && !(*to = malloc(a->grid * sizeof **to))) status = cli_no_memory();
    kspec_matrix m = {0};
    if (!status) m = kspec_dataset_trial(d, 0);
    for (size_t i = 0; i < m.rows; i++)
        for (size_t k = 0; k < m.cols; k++)
            (*to)[i * m.cols + k] = m.data[(ptrdiff_t)i * m.row_stride + (ptrdiff_t)k * m.col_stride];
    kspec_free(d);
    return status;
}

int wls_errors(wls_args *a) {
    size_t count = a->learn.count;
    output u = {.a = a, .o = wls_opts(a)};
    double *spectrum = NULL;
    if (a->complex_noise && !cli_given(&a->common, "noise") && !a->noise_spectrum)
        cli_warn(&a->common, "--complex-noise has no effect without --noise S or --noise-spectrum FILE");
    if (a->noise_spectrum) {
        const int unread = read_spectrum(a, &spectrum);
        if (unread) {
            free(spectrum);
            return unread;
        }
        u.o.noise_spectrum = spectrum;
    }
    if (a->best_weights) {
        u.best_weight = calloc(count, sizeof *u.best_weight);
        if (!u.best_weight) {
            free(spectrum);
            return cli_error(EXIT_FAILED, "out of memory for %zu values of p", count);
        }
    }
    kspec_error err;
    kspec_status st = cli_team(&a->common, &u.o.team, &err);
    if (!st) st = compute(&u, &err);
    int status = st ? cli_fail(st, &err) : cli_done(&a->common, print_table, to_json, &u);
    kspec_free(u.expected);
    kspec_free(u.measured);
    kspec_free(u.best_p);
    for (size_t i = 0; i < count && u.best_weight; i++) kspec_free(u.best_weight[i]);
    free(u.best_weight);
    free(spectrum);
    return status;
}
