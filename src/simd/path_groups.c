/* Runs the path recursion on one row, for rows and columns in groups. */
#include "simd/path.h"
#include "simd/vec.h"

/* Registers can hold up to REGISTER_ORDERS orders of a row's sums R, S and W. */
enum { REGISTER_ORDERS = 7 };
#define UP_TO_REGISTER_ORDERS(_) _(1) _(2) _(3) _(4) _(5) _(6) _(7)

/*
 * Processes the row for a constant K = nmax-1, so that the compiler unrolls all loops. Index k of A, R and V
 * is order k+1, and index k of W is order k+2.
 */
KS_INLINE void fixed(const int K, const int through, const ks_path_group_row *r) {
    vd R[REGISTER_ORDERS], S[REGISTER_ORDERS], W[REGISTER_ORDERS];
    const ptrdiff_t dir = r->dir, next = dir * (K + 1) * VL;
    const double *old = r->old, *prefix = r->prefix;
    double *A = r->A, *V = r->V;
    KS_UNROLL for (int k = 0; k < K; k++) {
        R[k] = S[k] = vd_load(r->R + k * VL);
        if (through) W[k] = vd_load(r->W + k * VL);
    }
    for (ptrdiff_t b = 0; b < (ptrdiff_t)r->cols; b++, A += next, old += next) {
        const vd x = vd_set(r->scale * r->x[dir * b]), y = vd_set(r->scale * r->y[dir * b]);
        if (through) {
            vd v[REGISTER_ORDERS];
            KS_UNROLL for (int i = 0; i < K; i++) v[i] = vd_set(0);
            KS_UNROLL for (int k = 0; k < K; k++) {
                const vd p = vd_load(prefix + k * VL);
                KS_UNROLL for (int i = k; i < K; i++) v[i] = vd_fma(p, R[i - k], v[i]);
            }
            KS_UNROLL for (int i = 0; i < K; i++) {
                W[i] = vd_fma(x, v[i], W[i]);
                vd_store(V + (i + 1) * VL, vd_fma(x, v[i], vd_load(V + (i + 1) * VL)));
            }
            prefix += next, V += next;
        }
        vd_store(A + K * VL, vd_fma(R[K - 1], x, vd_load(A + K * VL)));
        KS_UNROLL for (int k = K - 1; k >= 0; k--) {
            S[k] = vd_fma(vd_load(old + k * VL), y, S[k]);
            if (k > 0) vd_store(A + k * VL, vd_fma(R[k - 1], x, vd_load(A + k * VL)));
        }
        if (r->ends[dir * b]) {
            KS_UNROLL for (int k = 0; k < K; k++) R[k] = S[k];
        }
    }
    KS_UNROLL for (int k = 0; k < K; k++) {
        vd_store(r->R + k * VL, R[k]);
        if (through) vd_store(r->W + k * VL, W[k]);
    }
}

/* Processes the row for any K, with the sums of the row in memory. */
static void any(const int K, const ks_path_group_row *r) {
    const ptrdiff_t dir = r->dir, next = dir * (K + 1) * VL;
    const double *old = r->old, *prefix = r->prefix;
    double *A = r->A, *V = r->V, *const R = r->R, *const S = r->S, *const W = r->W;
    for (int k = 0; k < K * VL; k++) S[k] = R[k];
    for (ptrdiff_t b = 0; b < (ptrdiff_t)r->cols; b++, A += next, old += next) {
        const vd x = vd_set(r->scale * r->x[dir * b]), y = vd_set(r->scale * r->y[dir * b]);
        for (int i = 0; i < K && prefix; i++) {
            vd v = vd_set(0);
            for (int k = 0; k <= i; k++) v = vd_fma(vd_load(prefix + k * VL), vd_load(R + (i - k) * VL), v);
            vd_store(W + i * VL, vd_fma(x, v, vd_load(W + i * VL)));
            vd_store(V + (i + 1) * VL, vd_fma(x, v, vd_load(V + (i + 1) * VL)));
        }
        if (prefix) prefix += next, V += next;
        for (int k = K; k >= 0; k--) {
            if (k < K) vd_store(S + k * VL, vd_fma(vd_load(old + k * VL), y, vd_load(S + k * VL)));
            if (k > 0) vd_store(A + k * VL, vd_fma(vd_load(R + (k - 1) * VL), x, vd_load(A + k * VL)));
        }
        for (int k = 0; k < K * VL && r->ends[dir * b]; k++) R[k] = S[k];
    }
}

KS_DECLARE(path_group_row);
void KS_K(ks_path_group_row)(const ks_path_group_row *r) {
    const int K = r->nmax - 1;
    switch (K) {
#define FIXED(n)            \
    case n:                 \
        if (r->prefix)      \
            fixed(n, 1, r); \
        else                \
            fixed(n, 0, r); \
        break;
        UP_TO_REGISTER_ORDERS(FIXED)
    default: any(K, r);
    }
}
