/*
 * Kong and Valiant: f_n = tr(U^(n-1) K) / C(P,n), K = A B^T / Q, U the strict upper triangle of K. With
 * E_n = U^(n-1) / C(P,n), carried along so that nothing overflows (C(P,n) = C(P,n-1) (P-n+1)/n):
 *     E_1 = I / P,   E_n = E_{n-1} U c_n,   c_n = n / (P-n+1),   f_n = <E_n, K^T>.
 *
 * Error bars from G_n = d f_n / dK. An edge K_ij with i < j stands inside a chain, one with i > j closes it:
 *     (G_n)_ij = (W_n)_ji for i < j,  (E_n)_ji for i > j;   W_1 = 0,   W_n = (U W_{n-1} + K E_{n-1}) c_n.
 * Every cycle through row i leaves it once, so the cycles through it sum to sum_j K_ij G_ij, and leaving the
 * row out is exact. Columns repeat in these cycles: f_n is of degree n in a column's weight, whose derivative
 * is sum_i A_ia (G B)_ia / Q, and leaving the column out is to first order.
 */
#include "moments/kv.h"

#include "base/error.h"
#include "linalg/linalg.h"
#include "moments/gram_there.h"

#include <math.h>
#include <string.h>

typedef struct {
    double *K, *U, *E, *E2; /* P x P */
    double *W, *W2, *G;     /* P x P, for error bars */
    double *GB;             /* P x Q */
} work;

static void swap(double **x, double **y) {
    double *t = *x;
    *x = *y;
    *y = t;
}

static kspec_status product(const ks_run *run, size_t P, size_t n, double alpha, const double *X,
                            const double *Y, double beta, double *Z, kspec_error *err) {
    return ks_gemm_tiled(run, 0, 0, P, n, P, alpha, X, P, Y, n, beta, Z, n, err);
}

static kspec_status leave_one_out(const ks_run *run, const ks_pair *p, int n, work *w,
                                  const ks_moments_out *out, kspec_error *err) {
    size_t P = p->P, Q = p->Q;
    for (size_t i = 0; i < P; i++)
        for (size_t j = 0; j < P; j++)
            w->G[i * P + j] = n == 1  ? (i == j) / (double)P
                              : i < j ? w->W[j * P + i]
                              : i > j ? w->E[j * P + i]
                                      : 0;
    double *row = out->rows + (size_t)(n - 1) * P, *col = out->cols + (size_t)(n - 1) * Q;
    double f = out->m[n - 1];
    for (size_t i = 0; i < P; i++)
        row[i] = P > (size_t)n
                     ? (f - ks_dot(P, w->K + i * P, w->G + i * P)) * (double)P / (double)(P - (size_t)n)
                     : NAN;

    kspec_status st = product(run, P, Q, 1 / (double)Q, w->G, p->B, 0, w->GB, err);
    if (st) return st;
    memset(col, 0, Q * sizeof *col);
    for (size_t i = 0; i < P; i++)
        for (size_t a = 0; a < Q; a++) col[a] += p->A[i * Q + a] * w->GB[i * Q + a];
    /*
     * the derivatives of all columns sum to n f: what a column adds beyond its share is what leaving it out
     * takes away
     */
    for (size_t a = 0; a < Q; a++) col[a] = Q > 1 ? f - (col[a] - n * f / (double)Q) : NAN;
    return KSPEC_OK;
}

static kspec_status recursion(const ks_run *run, const ks_pair *p, work *w, const ks_moments_out *out,
                              kspec_error *err) {
    size_t P = p->P, Q = p->Q;
    ks_run part = ks_run_part(run, 0, 0);
    kspec_status st = ks_gemm_tiled(&part, 0, 1, P, P, Q, 1 / (double)Q, p->A, Q, p->B, Q, 0, w->K, P, err);
    if (st) return st;
    memset(w->E, 0, P * P * sizeof *w->E);
    for (size_t i = 0; i < P; i++) {
        memset(w->U + i * P, 0, (i + 1) * sizeof *w->U);
        memcpy(w->U + i * P + i + 1, w->K + i * P + i + 1, (P - i - 1) * sizeof *w->U);
        w->E[i * P + i] = 1 / (double)P;
    }
    if (out->rows) memset(w->W, 0, P * P * sizeof *w->W);

    for (int n = 1; n <= p->nmax && !st; n++) {
        part = ks_run_part(run, (n - 1.0) / p->nmax, (double)n / p->nmax);
        if (n > 1) {
            double c = (double)n / ((double)P - n + 1);
            if (out->rows) {
                st = product(&part, P, P, c, w->U, w->W, 0, w->W2, err);
                if (!st) st = product(&part, P, P, c, w->K, w->E, 1, w->W2, err);
                swap(&w->W, &w->W2);
            }
            if (!st) st = product(&part, P, P, c, w->E, w->U, 0, w->E2, err);
            if (st) break;
            swap(&w->E, &w->E2);
        }
        double f = 0;
        for (size_t i = 0; i < P; i++) /* E is upper triangular: row i of it against column i of K */
            for (size_t j = i; j < P; j++) f += w->E[i * P + j] * w->K[j * P + i];
        out->m[n - 1] = f;
        if (out->rows) st = leave_one_out(&part, p, n, w, out, err);
    }
    return st;
}

kspec_status ks_kv_row(const ks_run *run, const ks_pair *p, const ks_moments_out *out, kspec_error *err) {
    if (run->device) return ks_kv_there(run, p, out, err);
    ks_arena arena = {0};
    size_t P = p->P;
    work w = {0};
    double **square[] = {&w.K, &w.U, &w.E, &w.E2, &w.W, &w.W2, &w.G};
    for (size_t k = 0; k < (out->rows ? 7 : 4); k++)
        *square[k] = ks_arena_alloc(&arena, ks_size(P, P), sizeof(double));
    if (out->rows) w.GB = ks_arena_alloc(&arena, ks_size(P, p->Q), sizeof(double));
    kspec_status st = arena.failed ? ks_nomem(err, "Kong-Valiant: a Gram matrix", arena.failed)
                                   : recursion(run, p, &w, out, err);
    ks_arena_free(&arena);
    return st;
}
