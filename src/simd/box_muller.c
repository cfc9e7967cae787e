/* Turns uniform random numbers into normal ones. */
#include "simd/vec.h"

/*
 * The build disables floating-point contraction for this file (see CMakeLists.txt), so that every instruction
 * set rounds alike.
 */
KS_DECLARE(box_muller);
void KS_K(ks_box_muller)(double *u, double *v, size_t n) {
    const vd minus_two = vd_set(-2), two = vd_set(2);
    for (size_t k = 0; k < n; k += VL) {
        vd r = vd_sqrt(minus_two * vd_log_fixed(vd_load(u + k)));
        vd_pair sc = vd_sincospi_fixed(two * vd_load(v + k));
        vd_store(u + k, r * sc.y);
        vd_store(v + k, r * sc.x);
    }
}
