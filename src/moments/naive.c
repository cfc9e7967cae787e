/*
 * naive: tr(K^n), K = A B^T / PQ, by powers of K on the shorter side: tr(K^(a+b)) = <K^a, (K^b)^T>, so orders
 * up to nmax need K ... K^h with h = ceil(nmax/2): h - 1 products after the Gram matrix itself.
 *
 * Error bars. Leaving row i out of K leaves det(1 - zK_-i) = det(1 - zK) G_ii(z), G(z) = (1 - zK)^-1 = sum
 * z^k K^k, so that with g_k = (K^k)_ii the closed walks lost are, from the logarithm's derivative of G_ii,
 *     l_n = n g_n - sum_{k<n} l_k g_{n-k},     tr(K_-i^n) = tr(K^n) - l_n   (times P^n/(P-1)^n).
 * For column a the same with g_k = (B^T K^(k-1) A)_aa, the diagonal of the Gram matrix of the other side.
 */
#include "moments/naive.h"

#include "base/error.h"
#include "base/memory.h"
#include "linalg/linalg.h"
#include "moments/gram_there.h"
#include "moments/there.h"

#include <math.h>
#include <string.h>

void ks_naive_leave_out(const double *m, int nmax, size_t N, const double *g, double *loo) {
    for (size_t i = 0; i < N; i++)
        for (int n = 1; n <= nmax; n++) {
            double l = n * g[(size_t)(n - 1) * N + i];
            for (int k = 1; k < n; k++) l -= loo[(size_t)(k - 1) * N + i] * g[(size_t)(n - k - 1) * N + i];
            loo[(size_t)(n - 1) * N + i] = l;
        }
    for (int n = 1; n <= nmax; n++)
        for (size_t i = 0; i < N; i++) {
            double *x = &loo[(size_t)(n - 1) * N + i];
            *x = N > 1 ? (m[n - 1] - *x) * pow((double)N / (double)(N - 1), n) : NAN;
        }
}

typedef struct {
    const ks_pair *p;
    double **power; /* power[k] = K^(k+1) */
    int half;
    double *diag; /* nmax x P: (K^n)_ii */
} diag_job;

enum { BLOCK = 8 }; /* rows at a time, so that K^b is read down its columns a cache line at a time */

static kspec_status diag_block(void *ctx, size_t chunk, const ks_worker *worker) {
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

/* g[(n-1)*Q + a] = (B^T K^(n-1) A)_aa / PQ. T holds K^(n-1) A, remade for each order: P x P x Q a time. */
static kspec_status column_diagonals(const ks_run *run, const ks_pair *p, const double *K, double *T,
                                     double *T2, double *g, kspec_error *err) {
    size_t P = p->P, Q = p->Q;
    for (size_t k = 0; k < P * Q; k++) T[k] = p->A[k] / ((double)P * (double)Q);
    for (int n = 1; n <= p->nmax; n++, g += Q) {
        memset(g, 0, Q * sizeof *g);
        for (size_t i = 0; i < P; i++)
            for (size_t a = 0; a < Q; a++) g[a] += p->B[i * Q + a] * T[i * Q + a];
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
    if (run->device) return ks_naive_there(run, p, out, err);
    size_t P = p->P, Q = p->Q;
    int half = (p->nmax + 1) / 2;
    double *diag = ks_arena_alloc(arena, ks_size((size_t)p->nmax, P), sizeof *diag);
    double **power = ks_arena_zalloc(arena, (size_t)half, sizeof *power);
    for (int k = 0; k < half && power; k++) power[k] = ks_arena_alloc(arena, ks_size(P, P), sizeof(double));
    double *T = NULL, *T2 = NULL, *g = NULL;
    if (out->cols) {
        g = ks_arena_alloc(arena, ks_size((size_t)p->nmax, Q), sizeof *g);
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
    }
    if (!out->rows) return KSPEC_OK;
    part = ks_run_part(run, half / steps, 1);
    if ((st = column_diagonals(&part, p, power[0], T, T2, g, err))) return st;
    ks_naive_leave_out(out->m, p->nmax, P, diag, out->rows);
    ks_naive_leave_out(out->m, p->nmax, Q, g, out->cols);
    return KSPEC_OK;
}

kspec_status ks_naive(const ks_run *run, const ks_pair *p, const ks_moments_out *out, kspec_error *err) {
    ks_arena arena = {0};
    kspec_status st;
    if (p->P <= p->Q) {
        st = shorter_rows(run, p, out, &arena, err);
    } else { /* tr((A B^T)^n) = tr((A^T B)^n) */
        ks_moved t;
        st = ks_turn(run, p, &t, err);
        if (!st) st = shorter_rows(run, &t.p, &(ks_moments_out){out->m, out->cols, out->rows}, &arena, err);
        ks_moved_end(run, &t);
    }
    ks_arena_free(&arena);
    return st;
}
