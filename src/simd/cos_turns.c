/*
 * Computes cos(2 pi t) from the distance of t to a quarter turn. Let r be t minus the nearest integer, which
 * is exact, and s = 1/4 - |r|. Then cos(2 pi t) = sin(2 pi s) with |s| <= 1/4. The code evaluates this sine
 * as an odd polynomial with a relative error of 3e-19 before rounding. However large the phase, no other
 * range reduction is needed.
 */
#include "simd/vec.h"

/* The coefficients of the minimax polynomial of sin(2 pi s)/s in s^2, for s^2 in [0, 1/16]. */
static const double C[] = {6.2831853071795864753,  -41.341702240399756229,  81.605249276073406093,
                           -76.705859752798497458, 42.058693923785235852,   -15.09464162050996145,
                           3.8199270504789338467,  -0.71772358015544981943, 0.10085633077354055854};

KS_INLINE vd cos_turns(vd t) {
    vd s = vd_set(0.25) - vd_abs(t - vd_round(t)), u = s * s, p = vd_set(C[8]);
    KS_UNROLL
    for (int k = 7; k >= 0; k--) p = vd_fma(p, u, vd_set(C[k]));
    return p * s;
}

KS_DECLARE(cos_turns);
void KS_K(ks_cos_turns)(double *z, const double *b, double scale, size_t n) {
    const vd c = vd_set(scale);
    size_t k = 0;
    for (; k + VL <= n; k += VL) vd_store(z + k, c * cos_turns(vd_load(z + k) + vd_load(b + k)));
    if (k == n) return;
    /* The last entries do not fill a vector, but must use the same vector function. */
    double tz[VL] = {0}, tb[VL] = {0};
    for (size_t j = 0; j < n - k; j++) tz[j] = z[k + j], tb[j] = b[k + j];
    vd_store(tz, c * cos_turns(vd_load(tz) + vd_load(tb)));
    for (size_t j = 0; j < n - k; j++) z[k + j] = tz[j];
}
