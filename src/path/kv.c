/*
 * The Kong-Valiant estimator: f_n = tr(U^(n-1) K) / C(P,n), K = A B^T / Q, U the strict upper triangle of K.
 * The recursion carries E_n = U^(n-1) / C(P,n), so that nothing overflows (C(P,n) = C(P,n-1) (P-n+1)/n):
 *     E_1 = I / P,   E_n = E_{n-1} U c_n,   c_n = n / (P-n+1),   f_n = <E_n, K^T>.
 *
 * Error bars use G_n = d f_n / dK. An edge K_ij with i < j lies inside a chain, an edge with i > j closes it:
 *     (G_n)_ij = (W_n)_ji for i < j,  (E_n)_ji for i > j;   W_1 = 0,   W_n = (U W_{n-1} + K E_{n-1}) c_n.
 * Every cycle through row i leaves the row once. So the cycles through it sum to sum_j K_ij G_ij, and leaving
 * the row out is exact. Columns repeat in these cycles: f_n has degree n in a column's weight, with the
 * derivative sum_i A_ia (G B)_ia / Q, so leaving the column out is exact to first order only.
 */
#include "path/kv.h"

#include "device/squares.h"

#include <math.h>

/* M: ones above the diagonal. The P x P matrices of the recursion, and G B */
typedef struct {
    ks_mat *M, *K, *U, *E, *E2, *W, *W2, *G, *GB;
    double *sums;
} squares;

static void leave_one_out(ks_squares *w, const ks_run *part, const ks_pair *p, int n, const squares *s,
                          const ks_moments_out *out) {
    const size_t P = p->P, Q = p->Q;
    double *row = out->rows + (size_t)(n - 1) * P, *col = out->cols + (size_t)(n - 1) * Q;
    const double f = out->m[n - 1];
    if (n == 1) { /* G = I / P */
        ks_squares_diagonal(w, P, s->K, row);
        for (size_t i = 0; i < P && !w->status; i++) row[i] /= (double)P;
        ks_squares_sums(w, P, Q, 1 / ((double)P * (double)Q), w->A, w->B, 0, KS_TILE_COL_SUMS, col);
    } else { /* E_ji is zero above the diagonal */
        ks_squares_entries(w, P, P, 1, s->M, s->W, 1, s->G);
        const ks_mat_expression below = {.m = P, .n = P, .alpha = 1, .count = 1, .factor = {{s->E, 1, 1}}};
        if (!w->status) w->status = w->at->expression(w->run, &below, KS_TILE_ADD, s->G, NULL, w->err);
        ks_squares_sums(w, P, P, 1, s->K, s->G, 0, KS_TILE_ROW_SUMS, row);
        ks_squares_product(w, part, P, Q, P, 1 / (double)Q, s->G, w->B, 0, 0, s->GB);
        ks_squares_sums(w, P, Q, 1, w->A, s->GB, 0, KS_TILE_COL_SUMS, col);
    }
    if (w->status) return;
    for (size_t i = 0; i < P; i++)
        row[i] = P > (size_t)n ? (f - row[i]) * (double)P / (double)(P - (size_t)n) : NAN;
    /*
     * The derivatives with respect to all columns sum to n f. Leaving a column out removes the excess of its
     * derivative over the average n f / Q.
     */
    for (size_t a = 0; a < Q; a++) col[a] = Q > 1 ? f - (col[a] - n * f / (double)Q) : NAN;
}

static void next_order(ks_squares *w, const ks_run *part, size_t P, int n, squares *s) {
    const double c = (double)n / ((double)P - n + 1);
    if (n == 2) { /* starts from E_1 = I / P and W_1 = 0 */
        if (s->W) ks_squares_entries(w, P, P, c / (double)P, s->K, NULL, 0, s->W);
        ks_squares_entries(w, P, P, c / (double)P, s->U, NULL, 0, s->E);
        return;
    }
    if (s->W) {
        ks_squares_product(w, part, P, P, P, c, s->U, s->W, 0, 0, s->W2);
        ks_squares_product(w, part, P, P, P, c, s->K, s->E, 0, 1, s->W2);
    }
    ks_squares_product(w, part, P, P, P, c, s->E, s->U, 0, 0, s->E2);
    ks_mat *E = s->E, *W = s->W;
    s->E = s->E2, s->E2 = E;
    s->W = s->W2, s->W2 = W;
}

static void recursion(ks_squares *w, const ks_pair *p, const ks_moments_out *out) {
    const size_t P = p->P, Q = p->Q;
    squares s = {.sums = ks_squares_vector(w, P)};
    ks_mat **all[] = {&s.M, &s.K, &s.U, &s.E, &s.E2, &s.W, &s.W2, &s.G};
    for (int k = 0; k < (out->rows ? 8 : 5); k++) *all[k] = ks_squares_matrix(w, P, P);
    if (out->rows) s.GB = ks_squares_matrix(w, P, Q);
    if (!w->status) w->status = w->at->triangle(w->run, P, s.M, w->err);
    ks_run part = ks_run_part(w->run, 0, 0);
    ks_squares_product(w, &part, P, P, Q, 1 / (double)Q, w->A, w->B, 1, 0, s.K);
    ks_squares_entries(w, P, P, 1, s.K, s.M, 0, s.U);
    for (int n = 1; n <= p->nmax && !w->status; n++) {
        part = ks_run_part(w->run, (n - 1.0) / p->nmax, (double)n / p->nmax);
        if (n > 1) next_order(w, &part, P, n, &s);
        if (n > 1)
            ks_squares_sums(w, P, P, 1, s.E, s.K, 1, KS_TILE_ROW_SUMS, s.sums);
        else
            ks_squares_diagonal(w, P, s.K, s.sums);
        out->m[n - 1] = ks_squares_sum(w, P, s.sums) / (n > 1 ? 1 : (double)P);
        if (out->rows) leave_one_out(w, &part, p, n, &s, out);
    }
}

kspec_status ks_kv_row(const ks_run *run, const ks_pair *p, const ks_moments_out *out, kspec_error *err) {
    ks_squares w = ks_squares_begin(run, p, 9, "Kong-Valiant: a Gram matrix", err);
    if (!w.status) recursion(&w, p, out);
    return ks_squares_end(&w);
}
