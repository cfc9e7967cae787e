/* Runs the path recursion that also sums the cycles through every row and column. */
#include "simd/path.h"
#include "simd/vec.h"

/* Registers can hold up to REGISTER_ORDERS orders of a row's sums R, T and W. */
enum { REGISTER_ORDERS = 7 };
#define UP_TO_REGISTER_ORDERS(_) _(1) _(2) _(3) _(4) _(5) _(6) _(7)

/* Contains the sums of one row, the sums of the first column of a tile, and the scaled entries of the row. */
typedef struct {
    /*
     * cols is the number of columns, and next is the distance between the sums of neighbouring columns, in
     * doubles.
     */
    size_t cols, next;
    const double *x, *y;
    double *A, *C, *V, *R, *T, *W;
} line;

/*
 * Processes the row for a constant K = nmax-1, so that the compiler unrolls all loops. Index k of A, R and V
 * is order k+1, and index k of W is order k+2.
 */
KS_INLINE void fixed(const int K, const line *s) {
    vd R[REGISTER_ORDERS], T[REGISTER_ORDERS], W[REGISTER_ORDERS];
    const size_t cols = s->cols, next = s->next;
    const double *px = s->x, *py = s->y;
    double *A = s->A, *C = s->C, *V = s->V;

    KS_UNROLL for (int k = 0; k < K; k++) {
        R[k] = vd_load(s->R + k * VL);
        T[k] = vd_load(s->T + k * VL);
        W[k] = vd_load(s->W + k * VL);
    }
    for (size_t b = 0; b < cols; b++, A += next, C += next, V += next) {
        const vd x = vd_set(px[b]), y = vd_set(py[b]);
        vd v[REGISTER_ORDERS], c = vd_load(C);
        KS_UNROLL for (int j = 0; j < K; j++) {
            T[j] = vd_fnma(x, c, T[j]);
            if (j + 1 < K) {
                c = vd_fnma(y, T[j], vd_load(C + (j + 1) * VL));
                vd_store(C + (j + 1) * VL, c);
            }
        }
        vd_store(A + K * VL, vd_fma(R[K - 1], x, vd_load(A + K * VL)));
        KS_UNROLL for (int k = K - 1; k >= 0; k--) {
            const vd a = vd_load(A + k * VL);
            v[k] = a * T[0];
            KS_UNROLL for (int i = k + 1; i < K; i++) v[i] = vd_fma(a, T[i - k], v[i]);
            R[k] = vd_fma(a, y, R[k]);
            if (k > 0) vd_store(A + k * VL, vd_fma(R[k - 1], x, a));
        }
        KS_UNROLL for (int i = 0; i < K; i++) {
            W[i] = vd_fma(y, v[i], W[i]);
            vd_store(V + (i + 1) * VL, vd_fma(y, v[i], vd_load(V + (i + 1) * VL)));
        }
    }
    KS_UNROLL for (int k = 0; k < K; k++) {
        vd_store(s->R + k * VL, R[k]);
        vd_store(s->T + k * VL, T[k]);
        vd_store(s->W + k * VL, W[k]);
    }
}

/*
 * Adds y sum_{k+j=i} A[k] T[j] to V and W for the orders i0 ... i0+many-1, in blocks of 4 x 4. The last
 * block, where k reaches i, is a triangle. i0 is a multiple of 4, and many is 1 to 4.
 */
KS_INLINE void convolve(const int many, int i0, vd y, const double *A, const double *T, double *V,
                        double *W) {
    vd v[4], a[4], t[7];
    KS_UNROLL for (int d = 0; d < many; d++) v[d] = vd_set(0);
    for (int k0 = 0; k0 < i0; k0 += 4) {
        KS_UNROLL for (int e = 0; e < 4; e++) a[e] = vd_load(A + (k0 + e) * VL);
        KS_UNROLL for (int d = 0; d < many + 3; d++) t[d] = vd_load(T + (i0 - k0 + d - 3) * VL);
        KS_UNROLL for (int e = 0; e < 4; e++) {
            KS_UNROLL for (int d = 0; d < many; d++) v[d] = vd_fma(a[e], t[d - e + 3], v[d]);
        }
    }
    KS_UNROLL for (int e = 0; e < many; e++) {
        a[e] = vd_load(A + (i0 + e) * VL);
        KS_UNROLL for (int d = e; d < many; d++) v[d] = vd_fma(a[e], vd_load(T + (d - e) * VL), v[d]);
    }
    KS_UNROLL for (int d = 0; d < many; d++) {
        double *w = W + (i0 + d) * VL, *u = V + (i0 + d + 1) * VL;
        vd_store(w, vd_fma(y, v[d], vd_load(w)));
        vd_store(u, vd_fma(y, v[d], vd_load(u)));
    }
}

/*
 * Processes the row for any K. The sums of the row stay in memory, because the convolution takes most of the
 * time.
 */
static void any(const int K, const line *s) {
    double *A = s->A, *C = s->C, *V = s->V;
    double *const R = s->R, *const T = s->T, *const W = s->W;
    for (size_t b = 0; b < s->cols; b++, A += s->next, C += s->next, V += s->next) {
        const vd x = vd_set(s->x[b]), y = vd_set(s->y[b]);
        vd c = vd_load(C);
        for (int j = 0; j < K; j++) {
            vd t = vd_fnma(x, c, vd_load(T + j * VL));
            vd_store(T + j * VL, t);
            if (j + 1 < K) {
                c = vd_fnma(y, t, vd_load(C + (j + 1) * VL));
                vd_store(C + (j + 1) * VL, c);
            }
        }
        int i0 = 0;
        for (; i0 + 4 <= K; i0 += 4) convolve(4, i0, y, A, T, V, W);
        if (K - i0 == 3) convolve(3, i0, y, A, T, V, W);
        if (K - i0 == 2) convolve(2, i0, y, A, T, V, W);
        if (K - i0 == 1) convolve(1, i0, y, A, T, V, W);
        vd above = vd_set(0);
        for (int k = K; k > 0; k--) {
            const vd a = vd_load(A + k * VL), below = vd_load(R + (k - 1) * VL);
            vd_store(A + k * VL, vd_fma(below, x, a));
            if (k < K) vd_store(R + k * VL, vd_fma(a, y, above));
            above = below;
        }
        vd_store(R, vd_fma(vd_load(A), y, above));
    }
}

KS_DECLARE(path_loo);
void KS_K(ks_path_loo)(const ks_path_loo_cell *c) {
    const ks_path_cell *cell = &c->cell;
    const int K = cell->nmax - 1;
    const double scale = cell->scale;
    const size_t record = (size_t)K * VL, cols = cell->cols;
    double x[KS_PATH_COLS], y[KS_PATH_COLS];
    line s = {.cols = cols, .next = record + VL, .x = x, .y = y, .A = cell->A, .C = c->C, .V = c->V};
    for (size_t a = 0; a < cell->rows; a++) {
        const double *from_x = cell->x + a * cell->ld, *from_y = cell->y + a * cell->ld;
        for (size_t b = 0; b < cols; b++) x[b] = scale * from_x[b], y[b] = scale * from_y[b];
        s.R = cell->R + a * record, s.T = c->T + a * record, s.W = c->W + a * record;
        switch (K) {
#define FIXED(n) \
    case n: fixed(n, &s); break;
            UP_TO_REGISTER_ORDERS(FIXED)
        default: any(K, &s);
        }
    }
}
