/*
 * The naive estimator: tr(K^n), K = A B^T / PQ, by powers of K on the shorter side. Since tr(K^(a+b)) = <K^a,
 * (K^b)^T>, orders up to nmax need K ... K^h with h = ceil(nmax/2): h - 1 products after the Gram matrix.
 *
 * Error bars. For the matrix K_-i without row i, det(1 - zK_-i) = det(1 - zK) G_ii(z), with G(z) = (1 -
 * zK)^-1 = sum z^k K^k. With g_k = (K^k)_ii, the logarithmic derivative of G_ii gives the closed walks lost:
 *     l_n = n g_n - sum_{k<n} l_k g_{n-k},     tr(K_-i^n) = tr(K^n) - l_n   (times P^n/(P-1)^n).
 * For column a the formulas for l_n and tr(K_-a^n) are the same, with g_k = (B^T K^(k-1) A)_aa.
 */
#include "path/naive.h"

#include "base/error.h"
#include "base/memory.h"
#include "device/squares.h"
#include "device/pair_device.h"

#include <math.h>

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

static void powers(ks_squares *w, const ks_pair *p, int half, ks_mat **power, double *diag,
                   const ks_moments_out *out) {
    const size_t P = p->P, Q = p->Q;
    const double steps = half + (out->cols ? p->nmax : 0);
    for (int k = 0; k < half && !w->status; k++) {
        const ks_run part = ks_run_part(w->run, k / steps, (k + 1) / steps);
        power[k] = ks_squares_matrix(w, P, P);
        if (k == 0)
            ks_squares_product(w, &part, P, P, Q, 1 / ((double)P * (double)Q), w->A, w->B, 1, 0, power[0]);
        else
            ks_squares_product(w, &part, P, P, P, 1, power[0], power[k - 1], 0, 0, power[k]);
    }
    for (int n = 1; n <= p->nmax && !w->status; n++) { /* (K^n)_ii */
        double *d = diag + (size_t)(n - 1) * P;
        if (n <= half)
            ks_squares_diagonal(w, P, power[n - 1], d);
        else
            ks_squares_sums(w, P, P, 1, power[half - 1], power[n - half - 1], 1, KS_TILE_ROW_SUMS, d);
        out->m[n - 1] = ks_squares_sum(w, P, d);
    }
}

/*
 * g[(n-1)*Q + a] = (B^T K^(n-1) A)_aa / PQ. T holds K^(n-1) A, recomputed for each order in P x P x Q steps.
 */
static void column_diagonals(ks_squares *w, const ks_pair *p, const ks_mat *K, double first, double *g) {
    const size_t P = p->P, Q = p->Q;
    ks_mat *T = ks_squares_matrix(w, P, Q), *T2 = ks_squares_matrix(w, P, Q);
    ks_squares_entries(w, P, Q, 1 / ((double)P * (double)Q), w->A, NULL, 0, T);
    for (int n = 1; n <= p->nmax && !w->status; n++) {
        const ks_run part =
            ks_run_part(w->run, (first + n - 1) / (first + p->nmax), (first + n) / (first + p->nmax));
        ks_squares_sums(w, P, Q, 1, w->B, T, 0, KS_TILE_COL_SUMS, g + (size_t)(n - 1) * Q);
        if (n == p->nmax) break;
        ks_squares_product(w, &part, P, Q, P, 1, K, T, 0, 0, T2);
        ks_mat *swap = T;
        T = T2;
        T2 = swap;
    }
}

static kspec_status shorter_rows(const ks_run *run, const ks_pair *p, const ks_moments_out *out,
                                 kspec_error *err) {
    const size_t P = p->P, Q = p->Q, n = (size_t)p->nmax, half = (n + 1) / 2;
    ks_squares w = ks_squares_begin(run, p, half + 2, "naive: powers of the Gram matrix", err);
    double *diag = ks_squares_vector(&w, ks_size(n, P)),
           *g = out->cols ? ks_squares_vector(&w, ks_size(n, Q)) : NULL;
    ks_mat **power = w.status ? NULL : ks_arena_alloc(&w.arena, half, sizeof *power);
    if (power)
        powers(&w, p, (int)half, power, diag, out);
    else if (!w.status)
        w.status = ks_nomem(err, w.name, w.arena.failed);
    if (out->rows && !w.status) {
        while (w.count > 1) ks_squares_drop_last(&w); /* keep K */
        column_diagonals(&w, p, power[0], (double)half, g);
    }
    if (out->rows && !w.status) {
        ks_naive_leave_out(out->m, p->nmax, P, diag, out->rows);
        ks_naive_leave_out(out->m, p->nmax, Q, g, out->cols);
    }
    return ks_squares_end(&w);
}

kspec_status ks_naive(const ks_run *run, const ks_pair *p, const ks_moments_out *out, kspec_error *err) {
    kspec_status st;
    if (p->P <= p->Q) {
        st = shorter_rows(run, p, out, err);
    } else { /* tr((A B^T)^n) = tr((A^T B)^n) */
        ks_moved t;
        st = ks_turn(run, p, &t, err);
        if (!st) st = shorter_rows(run, &t.p, &(ks_moments_out){out->m, out->cols, out->rows}, err);
        ks_moved_end(run, &t);
    }
    return st;
}
