/* Runs the path recursion with a separate matrix for every edge of a cycle. */
#include "simd/path.h"
#include "simd/vec.h"

/*
 * If every edge has its own matrix, registers cannot hold the sums of several orders. So the function is a
 * plain loop over rows.
 */
KS_DECLARE(path_sweep_trials);
void KS_K(ks_path_sweep_trials)(const ks_path_cell *c, const double *const *x, const double *const *y) {
    const vd scale = vd_set(c->scale);
    const int nmax = c->nmax;
    for (size_t a = 0; a < c->rows; a++) {
        double *R = c->R + a * (size_t)(nmax - 1) * VL;
        for (size_t b = 0; b < c->cols; b++) {
            const size_t at = a * c->ld + b;
            double *A = c->A + b * (size_t)nmax * VL;
            vd above = vd_set(0);
            for (int n = nmax; n >= 2; n--) {
                vd old = vd_load(A + (n - 1) * VL), below = vd_load(R + (n - 2) * VL);
                vd_store(A + (n - 1) * VL, vd_fma(below, scale * vd_set(x[n - 1][at]), old));
                if (n < nmax) vd_store(R + (n - 1) * VL, vd_fma(old, scale * vd_set(y[n - 1][at]), above));
                above = below;
            }
            vd_store(R, vd_fma(vd_load(A), scale * vd_set(y[0][at]), above));
        }
    }
}
