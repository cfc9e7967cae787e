/* Computes the singular values and leverages of the mean over trials. */
#include "fit/decompose.h"

#include "base/center.h"
#include "base/error.h"
#include "base/matrix.h"
#include "checks/check.h"
#include "device/product.h"
#include "linalg/eigen.h"
#include "linalg/linalg.h"
#include "moments/trials.h"
#include "fit/tuning.h"

#include <math.h>

/*
 * Sets G to the smaller of share M M^T and share M^T M. s receives the eigenvalues of G, in increasing order.
 * The rows of Z receive the eigenvectors of the last `top` eigenvalues. If Z is NULL, G receives all
 * eigenvectors.
 */
static kspec_status eigenpairs(const ks_run *run, size_t P, size_t Q, double share, const double *M,
                               double *G, double *s, size_t top, double *Z, kspec_error *err) {
    size_t n = P < Q ? P : Q;
    kspec_status st = ks_gram_of_host(run, P, Q, share, M, G, "the Gram matrix", err);
    if (st) return st;
    return ks_eigen_of_host(run, 1, n, G, s, top, Z, err);
}

/*
 * Computes the squares of the leading singular vectors. The rows of Z are `top` singular vectors of the
 * shorter side, in the order of increasing singular values.
 */
static kspec_status leverages(const ks_run *run, ks_decomposed *x, const double *M, size_t top,
                              const double *Z, double *U2, double *V2, kspec_error *err) {
    const ks_decomposition *d = &x->d;
    size_t P = d->P, Q = d->Q, side = P < Q ? P : Q, longer = P < Q ? Q : P;
    double *near = P <= Q ? U2 : V2, *far = P <= Q ? V2 : U2;
    for (size_t k = 0; k < d->vectors; k++)
        for (size_t i = 0; i < side; i++) near[k * side + i] = Z[(top - 1 - k) * side + i];
    const ks_matmul others = {0, P > Q, d->vectors, longer, side, 1, near, side, M, Q, 0, far, longer};
    kspec_status st = ks_product_of_host(run, &others, "the singular vectors", err);
    for (size_t k = 0; k < d->vectors && !st; k++) {
        double norm = 1 / ks_dot(longer, far + k * longer, far + k * longer);
        for (size_t i = 0; i < longer; i++) far[k * longer + i] *= far[k * longer + i] * norm;
        for (size_t i = 0; i < side; i++) near[k * side + i] *= near[k * side + i];
    }
    return st;
}

/* Counts the eigenvalues above rounding errors. A fall of four decades in one step shows a low rank. */
static void count_rank(ks_decomposed *x, size_t possible) {
    const double *s = x->all;
    size_t n = 0;
    while (n < x->all_count && s[n] > KS_ROUNDING * s[0]) n++;
    x->d.n = n;
    double next = n < x->all_count ? fmax(s[n], 1e-300) : 1e-300;
    x->low_rank = (double)n <= 0.9 * (double)possible && s[n - 1] > 1e4 * next && s[n - 1] > 1e-7 * s[0];
}

/*
 * Computes ks_decomposed.uneven. A mean square over P rows has the variance of the squares divided by P - 1.
 * mean is scratch of Q numbers.
 */
static double uneven(size_t P, size_t Q, const double *M, double *mean) {
    const double p = (double)P, q = (double)Q;
    double all = 0, squares = 0, fourth = 0, own = 0;
    for (size_t k = 0; k < Q; k++) mean[k] = 0;
    for (size_t i = 0; i < P; i++)
        for (size_t k = 0; k < Q; k++) {
            const double x = M[i * Q + k] * M[i * Q + k];
            mean[k] += x / p;
            fourth += x * x / (p * q);
        }
    for (size_t k = 0; k < Q; k++) all += mean[k] / q, squares += mean[k] * mean[k] / q;
    own = (fourth - squares) / (p - 1);
    return ((squares - all * all) * q / (q - 1) - own) / (all * all);
}

/* The exponent of the tail of the columns' mean squares times `factor`, minus their noise. Changes mean. */
static double tail_of(size_t Q, double *mean, double factor, const double *noise) {
    for (size_t k = 0; k < Q; k++) mean[k] = mean[k] * factor - noise[k];
    return ks_tail_exponent(Q, KS_TAIL_PART, mean);
}

static kspec_status decompose(const ks_run *run, ks_trials *t, const kspec_moments_opts *how, size_t top,
                              ks_arena *arena, ks_arena *scratch, ks_decomposed *x, kspec_error *err) {
    size_t P = t->P, Q = t->Q, n = P < Q ? P : Q;
    double *mean = ks_arena_alloc(scratch, Q, sizeof *mean);
    double *M = ks_arena_alloc(scratch, ks_size(P, Q), sizeof *M);
    double *G = ks_arena_alloc(scratch, ks_size(n, n), sizeof *G);
    double *Z = top < n ? ks_arena_alloc(scratch, ks_size(top, n), sizeof *Z) : NULL;
    x->all = ks_arena_alloc(arena, n, sizeof *x->all);
    if (scratch->failed || arena->failed)
        return ks_nomem(err, "the matrix and its Gram matrix", scratch->failed + arena->failed);
    kspec_status st = ks_noise_of_trials(t, arena, &x->noise, err);
    if (st) return st;
    ks_trials_mean(t, mean, M);
    /* Centring a side costs one degree of freedom. */
    int rows_off = ks_rows_centred(t->center), cols_off = ks_cols_centred(t->center);
    double rows = (double)(P - (size_t)rows_off), cols = (double)(Q - (size_t)cols_off),
           entries = rows * cols;
    double square = ks_dot(ks_size(P, Q), M, M) / entries;
    if (!(square > 0))
        return ks_fail(err, KSPEC_E_DATA, "every entry is 0%s: there is nothing to fit",
                       ks_centred(t->center) ? " after centring" : "");
    x->uneven = uneven(P, Q, M, mean);
    x->tail = x->noise.column ? tail_of(Q, mean, (double)P / rows, x->noise.column) : INFINITY;
    st = eigenpairs(run, P, Q, 1 / (entries * square), M, G, x->all, top, Z, err);
    if (st) return st;
    ks_reverse(n, x->all);
    for (size_t i = 0; i < n; i++) x->all[i] = fmax(x->all[i], 0);
    x->all_count = n;
    x->unit = square;
    x->exponent = 2 * t->exponent;
    x->noise.variance /= square;
    count_rank(x, (size_t)fmin(rows, cols));
    size_t vectors = x->d.n < top ? x->d.n : top;
    double *U2 = ks_arena_alloc(arena, ks_size(vectors, P), sizeof *U2);
    double *V2 = ks_arena_alloc(arena, ks_size(vectors, Q), sizeof *V2);
    if (arena->failed) return ks_nomem(err, "the singular vectors", arena->failed);
    x->d = (ks_decomposition){P, Q, x->d.n, vectors, x->all, U2, V2, rows, cols, x->noise.variance, NULL};
    if (how->sampled == KSPEC_SAMPLED_ROWS || how->population_cols == Q) x->d.cols = INFINITY;
    if (how->sampled == KSPEC_SAMPLED_COLS || how->population_rows == P) x->d.rows = INFINITY;
    if (x->noise.law.count && !isinf(x->d.cols)) x->d.columns = &x->noise.law;
    if (isinf(x->d.rows) && isinf(x->d.cols))
        return ks_fail(err, KSPEC_E_ARG,
                       "both sides are complete, so the matrix's own eigenvalues are the exact result");
    return leverages(run, x, M, top, Z ? Z : G, U2, V2, err);
}

kspec_status ks_decompose(const ks_run *run, const kspec_matrix *phi, size_t ntrials,
                          const kspec_moments_opts *how, size_t most, ks_arena *arena, ks_decomposed *out,
                          kspec_error *err) {
    ks_trials t = ks_trials_of(phi, ntrials, how);
    *out = (ks_decomposed){.noise.variance = NAN};
    size_t n = t.P < t.Q ? t.P : t.Q;
    kspec_status st = ks_trials_init(&t, err);
    if (!st) st = ks_trials_scale(&t, 2, err);
    /*
     * The memory holds M, both kinds of singular vectors, the Gram matrix, and the eigenproblem's workspace.
     * If the fit needs only some vectors, the Gram matrix's leading eigenvectors replace the workspace.
     */
    size_t top = n < most ? n : most, square = ks_size(n, n);
    size_t beside = top < n ? ks_size(top, n) : ks_size(3, square),
           vectors = ks_size(top, ks_size_add(t.P, t.Q));
    size_t values = ks_size_add(ks_size_add(ks_size(t.P, t.Q), vectors), ks_size_add(square, beside));
    if (!st)
        st =
            ks_check_memory(err, ks_size(values, sizeof(double)), "a fit of %zu x %zu eigenvalues", t.P, t.Q);
    if (st) return st;
    if ((st = ks_blas_enter(run->threads, err))) return st;
    ks_arena scratch = {0};
    st = decompose(run, &t, how, top, arena, &scratch, out, err);
    ks_blas_exit();
    ks_arena_free(&scratch);
    return st;
}
