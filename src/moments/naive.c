/*
 * naive: tr(K^n), K = A B^T / PQ, by powers of K on the shorter side: tr(K^(a+b)) = <K^a, (K^b)^T>, so orders
 * up to nmax need K ... K^h with h = ceil(nmax/2): h - 1 products after the Gram matrix itself.
 *
 * Error bars. S(x,y) = tr((X A Y B^T)^n) with row weights x and column weights y is homogeneous of degree n
 * in each, and dS/dx_i = n (K^n)_ii, dS/dy_a = n (B^T K^(n-1) A)_aa. Leaving row i out is S - dS/dx_i to
 * first order.
 */
#include "moments/naive.h"

#include "base/error.h"
#include "base/memory.h"
#include "linalg/linalg.h"

#include <math.h>

/* The estimate without one of N rows (or columns), whose first-order share of S is d */
static double without_one(double S, double d, size_t N, int n) {
    return N > 1 ? (S - d) * pow((double)N / (double)(N - 1), n) : NAN;
}

typedef struct {
    const ks_pair *p;
    double **power; /* power[k] = K^(k+1) */
    int half;
    double *diag; /* nmax x P: (K^n)_ii */
} diag_job;

enum { BLOCK = 8 }; /* rows at a time, so that K^b is read down its columns a cache line at a time */

static kspec_status diag_block(void *ctx, size_t chunk, int worker) {
    (void)worker;
    const diag_job *d = ctx;
    size_t P = d->p->P, first = chunk * BLOCK, rows = P - first < BLOCK ? P - first : BLOCK;
    for (int n = 1; n <= d->p->nmax; n++) {
        double sum[BLOCK] = {0};
        const double *X = d->power[(n <= d->half ? n : d->half) - 1] + first * P;
        if (n <= d->half) {
            for (size_t i = 0; i < rows; i++) sum[i] = X[i * P + first + i];
        } else {
            const double *Y = d->power[n - d->half - 1] + first;
            for (size_t j = 0; j < P; j++)
                for (size_t i = 0; i < rows; i++) sum[i] += X[i * P + j] * Y[j * P + i];
        }
        for (size_t i = 0; i < rows; i++) d->diag[(size_t)(n - 1) * P + first + i] = sum[i];
    }
    return KSPEC_OK;
}

/* cols[n-1][a] = the estimate without column a. T holds K^(n-1) A, remade for each order: P x P x Q a time.
 */
static kspec_status columns(const ks_run *run, const ks_pair *p, const double *K, double *T, double *T2,
                            const ks_moments_out *out, kspec_error *err) {
    size_t P = p->P, Q = p->Q;
    for (size_t k = 0; k < P * Q; k++) T[k] = p->A[k] / ((double)P * (double)Q);
    for (int n = 1; n <= p->nmax; n++) {
        double *col = out->cols + (size_t)(n - 1) * Q;
        for (size_t a = 0; a < Q; a++) col[a] = 0;
        for (size_t i = 0; i < P; i++)
            for (size_t a = 0; a < Q; a++) col[a] += p->B[i * Q + a] * T[i * Q + a];
        for (size_t a = 0; a < Q; a++) col[a] = without_one(out->m[n - 1], n * col[a], Q, n);
        if (n == p->nmax) break;
        ks_run part = ks_run_part(run, (n - 1.0) / p->nmax, (double)n / p->nmax);
        kspec_status st = ks_gemm_tiled(&part, 0, 0, P, Q, P, 1, K, P, T, Q, 0, T2, Q, err);
        if (st) return st;
        double *swap = T;
        T = T2;
        T2 = swap;
    }
    return KSPEC_OK;
}

static kspec_status shorter_rows(const ks_run *run, const ks_pair *p, const ks_moments_out *out,
                                 ks_arena *arena, kspec_error *err) {
    size_t P = p->P, Q = p->Q;
    int half = (p->nmax + 1) / 2;
    double *diag = ks_arena_alloc(arena, ks_size((size_t)p->nmax, P), sizeof *diag);
    double **power = ks_arena_zalloc(arena, (size_t)half, sizeof *power);
    for (int k = 0; k < half && power; k++) power[k] = ks_arena_alloc(arena, ks_size(P, P), sizeof(double));
    double *T = NULL, *T2 = NULL;
    if (out->cols) {
        T = ks_arena_alloc(arena, ks_size(P, Q), sizeof *T);
        T2 = ks_arena_alloc(arena, ks_size(P, Q), sizeof *T2);
    }
    if (arena->failed) return ks_nomem(err, "naive: powers of the Gram matrix", arena->failed);

    double steps = half + (out->cols ? 2.0 * p->nmax : 0);
    ks_run part = ks_run_part(run, 0, 1 / steps);
    kspec_status st = ks_gemm_tiled(&part, 0, 1, P, P, Q, 1 / ((double)P * (double)Q), p->A, Q, p->B, Q, 0,
                                    power[0], P, err);
    for (int k = 1; k < half && !st; k++) {
        part = ks_run_part(run, k / steps, (k + 1) / steps);
        st = ks_gemm_tiled(&part, 0, 0, P, P, P, 1, power[0], P, power[k - 1], P, 0, power[k], P, err);
    }
    if (st) return st;

    diag_job d = {p, power, half, diag};
    part = ks_run_part(run, half / steps, half / steps);
    if ((st = ks_parallel_for(&part, (P + BLOCK - 1) / BLOCK, diag_block, &d, err))) return st;
    for (int n = 1; n <= p->nmax; n++) {
        const double *row = diag + (size_t)(n - 1) * P;
        double sum = 0;
        for (size_t i = 0; i < P; i++) sum += row[i];
        out->m[n - 1] = sum;
        for (size_t i = 0; i < P && out->rows; i++)
            out->rows[(size_t)(n - 1) * P + i] = without_one(sum, n * row[i], P, n);
    }
    if (!out->cols) return KSPEC_OK;
    part = ks_run_part(run, half / steps, 1);
    return columns(&part, p, power[0], T, T2, out, err);
}

kspec_status ks_naive(const ks_run *run, const ks_pair *p, const ks_moments_out *out, kspec_error *err) {
    ks_arena arena = {0};
    kspec_status st;
    if (p->P <= p->Q) {
        st = shorter_rows(run, p, out, &arena, err);
    } else { /* tr((A B^T)^n) = tr((A^T B)^n) */
        ks_pair t;
        st = ks_pair_transpose(p, &t, &arena, err);
        if (!st) st = shorter_rows(run, &t, &(ks_moments_out){out->m, out->cols, out->rows}, &arena, err);
    }
    ks_arena_free(&arena);
    return st;
}
