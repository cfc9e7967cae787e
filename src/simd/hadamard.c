/* Multiplies vectors elementwise. */
#include "simd/vec.h"

/*
 * The loop reads each factor once and keeps the running product in a register, because reading the factors
 * takes most of the time.
 */
KS_DECLARE(hadamard);
void KS_K(ks_hadamard)(double *z, size_t n, int add, double w, const double *col, int count,
                       const double *const *x, const int *power) {
    size_t j = 0;
    for (; j + VL <= n; j += VL) {
        vd v = vd_set(w);
        if (col) v *= vd_load(col + j);
        for (int k = 0; k < count; k++) {
            vd f = vd_load(x[k] + j);
            for (int p = 0; p < power[k]; p++) v *= f;
        }
        if (add) v += vd_load(z + j);
        vd_store(z + j, v);
    }
    for (; j < n; j++) {
        double v = col ? w * col[j] : w;
        for (int k = 0; k < count; k++)
            for (int p = 0; p < power[k]; p++) v *= x[k][j];
        z[j] = add ? v + z[j] : v;
    }
}
