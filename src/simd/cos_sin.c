/*
 * Computes cosines and sines of random Fourier features, and the two kernels that are averages of such
 * features.
 */
#include "simd/vec.h"

/*
 * The last entries use the same vector functions as the others, so that an entry's value does not depend on
 * its position.
 */

KS_INLINE void cos_sin(double *c, double *s) {
    vd_pair r = vd_sincos(vd_load(c));
    vd_store(c, r.y);
    vd_store(s, r.x);
}

KS_DECLARE(cos_sin);
void KS_K(ks_cos_sin)(double *c, double *s, size_t n) {
    size_t k = 0;
    for (; k + VL <= n; k += VL) cos_sin(c + k, s + k);
    if (k == n) return;
    double tc[VL] = {0}, ts[VL];
    for (size_t j = 0; j < n - k; j++) tc[j] = c[k + j];
    cos_sin(tc, ts);
    for (size_t j = 0; j < n - k; j++) c[k + j] = tc[j], s[k + j] = ts[j];
}

/*
 * Computes e^(-d-g) cosh(g) and e^(-d-g) sinh(g) without overflow. c contains g = x.x', and d = |x-x'|^2/2 is
 * q0 + q - s. With h = |g|, e = exp(h - g - d) <= 1 and m = exp(-2h) - 1, the results are e (2 + m)/2 and
 * -sign(g) e m/2. The exponent h - g - d is -|x-x'|^2/2 or -|x+x'|^2/2, but rounding may make it positive.
 */
KS_INLINE void cosh_sinh(double *c, double *s, vd q0, const double *q) {
    const vd half = vd_set(0.5), two = vd_set(2), zero = vd_set(0);
    vd g = vd_load(c), h = vd_abs(g);
    vd d = q0 + vd_load(q) - vd_load(s);
    vd e = half * vd_exp(vd_min(h - g - d, zero)), m = vd_expm1(zero - two * h);
    vd_store(c, e * (two + m));
    vd_store(s, vd_copysign(e * m, g));
}

KS_DECLARE(cosh_sinh);
void KS_K(ks_cosh_sinh)(double *c, double *s, double q0, const double *q, size_t n) {
    size_t k = 0;
    for (; k + VL <= n; k += VL) cosh_sinh(c + k, s + k, vd_set(q0), q + k);
    if (k == n) return;
    double tc[VL] = {0}, ts[VL] = {0}, tq[VL] = {0};
    for (size_t j = 0; j < n - k; j++) tc[j] = c[k + j], ts[j] = s[k + j], tq[j] = q[k + j];
    cosh_sinh(tc, ts, vd_set(q0), tq);
    for (size_t j = 0; j < n - k; j++) c[k + j] = tc[j], s[k + j] = ts[j];
}
