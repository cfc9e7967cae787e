/* Computes random Fourier features with the sine. */
#include "simd/vec.h"

KS_DECLARE(sin_features);
void KS_K(ks_sin_features)(double *z, const double *b, size_t n) {
    const vd root2 = vd_set(1.4142135623730951);
    size_t k = 0;
    for (; k + VL <= n; k += VL) vd_store(z + k, root2 * vd_sin(vd_load(z + k) + vd_load(b + k)));
    if (k == n) return;
    /*
     * The last entries use the same vector function, so the value of an entry does not depend on its
     * position.
     */
    double tz[VL] = {0}, tb[VL] = {0};
    for (size_t j = 0; j < n - k; j++) tz[j] = z[k + j], tb[j] = b[k + j];
    vd_store(tz, root2 * vd_sin(vd_load(tz) + vd_load(tb)));
    for (size_t j = 0; j < n - k; j++) z[k + j] = tz[j];
}
