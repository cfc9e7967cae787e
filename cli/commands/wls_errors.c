/* Expected and measured errors on the grid, and what is best: kspec wls theory and kspec wls select. */
#include "commands/wls.h"

#include <math.h>
#include <stdlib.h>

/* What --best-weights found for one p */
typedef struct {
    double weight;
    kspec_wls_point point;
} best_weight;

/* q, m and b have an entry for each p of --learn; m and b are NULL where they are not asked for. */
typedef struct {
    const wls_args *a;
    kspec_wls_opts o;
    kspec_wls_point *q, best;
    kspec_wls_measured *m;
    best_weight *b;
} output;

static double total(const kspec_wls_point *q) { return q->error_noise_free + q->error_noise; }

static const char *weight_name(const kspec_wls_point *q, size_t N) {
    return q->p < N ? "alpha" : q->p > N ? "beta" : NULL;
}

/* ---- JSON ---- */

static json_t *best_json(const best_weight *b, size_t N) {
    const char *name = weight_name(&b->point, N);
    return json_pack("{s:o, s:o, s:o, s:o}", "weight", name ? json_string(name) : json_null(), "value",
                     name ? cli_real(b->weight) : json_null(), "error_noise_free",
                     cli_real(b->point.error_noise_free), "error_noise", cli_real(b->point.error_noise));
}

static json_t *to_json(const void *result) {
    const output *u = result;
    const wls_args *a = u->a;
    json_t *points = json_array();
    for (size_t i = 0; i < a->learn.count; i++) {
        json_t *point = wls_point_json(&u->q[i], u->m ? &u->m[i] : NULL);
        if (u->b) json_object_set_new(point, "best_weight", best_json(&u->b[i], a->grid));
        json_array_append_new(points, point);
    }
    json_t *o = wls_json(a, a->best_p || a->best_weights ? "select" : "theory", &u->o, points);
    if (a->draws) json_object_set_new(o, "draws", json_integer((json_int_t)a->draws));
    if (a->best_p) json_object_set_new(o, "best", wls_point_json(&u->best, NULL));
    return o;
}

/* ---- table ---- */

static void print_points(FILE *f, const output *u) {
    const cli_common *c = &u->a->common;
    fprintf(f, "%s%8s  %-6s  %12s  %12s  %12s  %12s%s%s%s\n", cli_bold(c), "p", "regime", "noise-free",
            "noise", "error", "SD of noise", u->m ? "      measured  std. error" : "",
            u->b ? "   best weight     its error" : "", cli_plain(c));
    for (size_t i = 0; i < u->a->learn.count; i++) {
        const kspec_wls_point *q = &u->q[i];
        const char *weight = weight_name(q, u->o.N);
        fprintf(f, "%8zu  %-6s  %12.6g  %12.6g  %12.6g  %12.4g", q->p, kspec_wls_regime_name(q->regime),
                q->error_noise_free, q->error_noise, total(q), sqrt(q->variance));
        if (u->m) fprintf(f, "  %12.6g  %10.2g", u->m[i].error, u->m[i].error_se);
        if (u->b && weight)
            fprintf(f, "  %5s = %-6.4g  %12.6g", weight, u->b[i].weight, total(&u->b[i].point));
        else if (u->b)
            fprintf(f, "  %14s  %12.6g", "any", total(q));
        fputc('\n', f);
    }
}

static void print_table(FILE *f, const void *result) {
    const output *u = result;
    size_t count = u->a->learn.count;
    wls_print_setting(f, u->a, &u->o);
    if (count) print_points(f, u);
    if (u->a->best_p)
        fprintf(f, "%sleast error %.6g at p = %zu\n", count ? "\n" : "", total(&u->best), u->best.p);
}

/* ---- */

static kspec_status compute(output *u, kspec_error *err) {
    const wls_args *a = u->a;
    const size_t *p = a->learn.at, count = a->learn.count;
    kspec_status st = KSPEC_OK;
    if (count) st = kspec_wls_theory(&u->o, p, count, u->q, err);
    if (!st && u->m) st = kspec_wls_empirical(&u->o, p, count, a->draws, u->m, err);
    for (size_t i = 0; i < count && u->b && !st; i++)
        st = kspec_wls_best_weight(&u->o, p[i], 0, 3, &u->b[i].weight, &u->b[i].point, err);
    if (!st && a->best_p) st = kspec_wls_best_p(&u->o, p, count, &u->best, err);
    return st;
}

int wls_errors(wls_args *a) {
    size_t room = a->learn.count + 1;
    output u = {.a = a, .o = wls_opts(a), .q = calloc(room, sizeof *u.q)};
    if (a->draws) u.m = calloc(room, sizeof *u.m);
    if (a->best_weights) u.b = calloc(room, sizeof *u.b);
    int status = EXIT_DONE;
    kspec_error err;
    if (!u.q || (a->draws && !u.m) || (a->best_weights && !u.b)) {
        status = cli_error(EXIT_FAILED, "out of memory for %zu values of p", a->learn.count);
    } else {
        kspec_status st = compute(&u, &err);
        status = st ? cli_fail(st, &err) : cli_done(&a->common, print_table, to_json, &u);
    }
    free(u.q);
    free(u.m);
    free(u.b);
    return status;
}
