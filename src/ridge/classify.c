/* Computes how often the outputs name the wrong class. */
#include "ridge/classify.h"

#include "base/error.h"
#include "base/streams.h"

#include <math.h>
#include <string.h>

/* Returns the class that outputs x (m numbers) name after adding the means of the targets. */
static size_t class_of(const kspec_ridge *r, const double *x) {
    if (r->m == 1) return x[0] + r->target_means[0] > 0;
    size_t best = 0;
    for (size_t j = 1; j < r->m; j++)
        if (x[j] + r->target_means[j] > x[best] + r->target_means[best]) best = j;
    return best;
}

/* Computes the lower triangle L with L L^T = C; a pivot lost in rounding becomes 0. */
static void factor(const double *C, size_t m, double *L) {
    memset(L, 0, m * m * sizeof *L);
    for (size_t j = 0; j < m; j++) {
        double d = C[j * m + j];
        for (size_t k = 0; k < j; k++) d -= L[j * m + k] * L[j * m + k];
        const double pivot = L[j * m + j] = d > 1e-12 * C[j * m + j] ? sqrt(d) : 0;
        for (size_t i = j + 1; i < m && pivot > 0; i++) {
            double x = C[i * m + j];
            for (size_t k = 0; k < j; k++) x -= L[i * m + k] * L[j * m + k];
            L[i * m + j] = x / pivot;
        }
    }
}

/* Adds sqrt(scale) L z to the outputs x. */
static void add_noise(double *x, const double *L, size_t m, double scale, const double *z) {
    const double s = sqrt(fmax(0, scale));
    for (size_t i = 0; i < m; i++)
        for (size_t k = 0; k <= i; k++) x[i] += s * L[i * m + k] * z[k];
}

kspec_status ks_ridge_class_error(const kspec_ridge *r, const double *fit, int parts,
                                  const double *const *scale, double *const *form, double *wrong,
                                  kspec_error *err) {
    enum { ALL = 100000, LEAST = 20, MOST = 400 };
    const size_t m = r->m, nt = r->nt;
    const size_t draws = ALL / nt < LEAST ? LEAST : ALL / nt > MOST ? MOST : ALL / nt;
    const size_t of_draw = parts > 2 ? (size_t)parts : 2, each = draws * of_draw * m;
    ks_arena scratch = {0};
    double *z = ks_arena_alloc(&scratch, each, sizeof *z), *x = ks_arena_alloc(&scratch, m, sizeof *x);
    double *L[CLASS_PARTS];
    for (int h = 0; h < parts; h++) L[h] = ks_arena_alloc(&scratch, ks_size(m, m), sizeof **L);
    kspec_status st = scratch.failed ? ks_nomem(err, "draws of the outputs", scratch.failed) : KSPEC_OK;
    for (int h = 0; h < parts && !st; h++) factor(form[h], m, L[h]);
    double sum = 0;
    for (size_t t = 0; t < nt && !st; t++) {
        const size_t truth = class_of(r, r->Yt + t * m);
        if (m == 1) {
            double variance = 0;
            for (int h = 0; h < parts; h++) variance += scale[h][t] * form[h][0];
            const double g = (fit[t] + r->target_means[0]) * (truth ? 1 : -1);
            sum += variance > 0 ? erfc(g / sqrt(2 * variance)) / 2 : g <= 0;
            continue;
        }
        size_t missed = 0;
        kspec_random_normal(r->o.seed, ks_stream(KS_STREAM_RIDGE_CLASSES, 0), t * each, each, z);
        for (size_t d = 0; d < draws; d++) {
            memcpy(x, fit + t * m, m * sizeof *x);
            for (int h = 0; h < parts; h++)
                add_noise(x, L[h], m, scale[h][t], z + (of_draw * d + (size_t)h) * m);
            missed += class_of(r, x) != truth;
        }
        sum += (double)missed / (double)draws;
    }
    *wrong = sum / (double)nt;
    ks_arena_free(&scratch);
    return st;
}

double ks_ridge_wrong_share(const kspec_ridge *r, const double *rest) {
    const size_t m = r->m;
    size_t missed = 0;
    for (size_t t = 0; t < r->nt; t++) {
        const double *y = r->Yt + t * m, *e = rest + t * m;
        double best = -INFINITY;
        size_t named = 0;
        for (size_t j = 0; j < m; j++) {
            const double x = y[j] - e[j] + r->target_means[j];
            if (x > best) best = x, named = j;
        }
        if (m == 1) named = best > 0;
        missed += named != class_of(r, y);
    }
    return (double)missed / (double)r->nt;
}

kspec_status ks_ridge_check_classes(const kspec_ridge *r, kspec_error *err) {
    const size_t m = r->m;
    if (m > r->n)
        return ks_refuse(err, KSPEC_E_DATA, "classify", NULL, "%zu classes exceed the %zu training rows", m,
                         r->n);
    size_t first = 0, others = 0;
    for (size_t i = 0; i < r->n; i++) {
        const size_t k = class_of(r, r->Y + i * m);
        if (i == 0) first = k;
        others += k != first;
    }
    return others ? KSPEC_OK
                  : ks_refuse(err, KSPEC_E_DATA, "classify", NULL,
                              "all %zu training rows have the same class", r->n);
}
