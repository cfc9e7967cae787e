/* Matrix-vector products that read each entry of the matrix once and use it twice. */
#include "simd/vec.h"

enum { ROWS = 4 }; /* These rows share one pass over v and w. */

KS_DECLARE(tile_product);
void KS_K(ks_tile_product)(const double *K, size_t ld, size_t rows, size_t cols, const double *x,
                           const double *y, double *left, double *right) {
    size_t i = 0;
    for (; i + ROWS <= rows; i += ROWS) {
        const double *k = K + i * ld;
        vd sum[ROWS], w[ROWS];
        for (int r = 0; r < ROWS; r++) sum[r] = vd_set(0), w[r] = vd_set(right ? y[i + (size_t)r] : 0);
        for (size_t j = 0; j < cols; j += VL) {
            vd xj = vd_load(x + j), out = vd_set(0);
            KS_UNROLL
            for (int r = 0; r < ROWS; r++) {
                vd e = vd_load(k + (size_t)r * ld + j);
                sum[r] = vd_fma(e, xj, sum[r]);
                out = vd_fma(e, w[r], out);
            }
            if (right) vd_store(right + j, vd_load(right + j) + out);
        }
        for (int r = 0; r < ROWS; r++) left[i + (size_t)r] += vd_sum(sum[r]);
    }
    for (; i < rows; i++) {
        vd sum = vd_set(0), w = vd_set(right ? y[i] : 0);
        for (size_t j = 0; j < cols; j += VL) {
            vd e = vd_load(K + i * ld + j);
            sum = vd_fma(e, vd_load(x + j), sum);
            if (right) vd_store(right + j, vd_fma(e, w, vd_load(right + j)));
        }
        left[i] += vd_sum(sum);
    }
}

/* Adds Z^T (Z v) to w for up to ROWS rows of Z. */
KS_INLINE void normal_rows(const double *Z, int count, size_t n, const double *v, double *w) {
    vd sum[ROWS];
    double s[ROWS];
    size_t whole = n / VL * VL;
    for (int r = 0; r < count; r++) sum[r] = vd_set(0);
    for (size_t j = 0; j < whole; j += VL)
        for (int r = 0; r < count; r++)
            sum[r] = vd_fma(vd_load(Z + (size_t)r * n + j), vd_load(v + j), sum[r]);
    for (int r = 0; r < count; r++) {
        s[r] = vd_sum(sum[r]);
        for (size_t j = whole; j < n; j++) s[r] += Z[(size_t)r * n + j] * v[j];
        sum[r] = vd_set(s[r]);
    }
    for (size_t j = 0; j < whole; j += VL) {
        vd out = vd_load(w + j);
        for (int r = 0; r < count; r++) out = vd_fma(vd_load(Z + (size_t)r * n + j), sum[r], out);
        vd_store(w + j, out);
    }
    for (size_t j = whole; j < n; j++)
        for (int r = 0; r < count; r++) w[j] += Z[(size_t)r * n + j] * s[r];
}

KS_DECLARE(normal_product);
void KS_K(ks_normal_product)(const double *Z, size_t rows, size_t n, const double *v, double *w) {
    size_t i = 0;
    for (; i + ROWS <= rows; i += ROWS) normal_rows(Z + i * n, ROWS, n, v, w);
    for (; i < rows; i++) normal_rows(Z + i * n, 1, n, v, w);
}
