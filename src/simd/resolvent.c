/* Sums over a spectrum at one point of the complex plane. */
#include "simd/vec.h"

void KS_K(ks_resolvent)(const double *lambda, const double *weight, size_t n, double re, double im,
                        double sums[6]);
void KS_K(ks_resolvent)(const double *lambda, const double *weight, size_t n, double re, double im,
                        double sums[6]) {
    const vd kr = vd_set(re), ki = vd_set(im), one = vd_set(1);
    vd d_re = vd_set(0), d_im = d_re, e_re = d_re, e_im = d_re, angle = d_re, total = d_re;
    for (size_t j = 0; j < n; j += VL) {
        vd l = vd_load(lambda + j), w = vd_load(weight + j), a = l + kr;
        vd inverse = one / vd_fma(a, a, ki * ki), c = w * l, r = a * inverse, i = ki * inverse;
        d_re = vd_fma(c, r, d_re);
        d_im = vd_fnma(c, i, d_im);
        e_re = vd_fma(c, vd_fnma(i, i, r * r), e_re);
        e_im = vd_fnma(c + c, r * i, e_im);
        angle = vd_fma(w, vd_atan2(ki, a), angle);
        total = total + w;
    }
    const vd all[6] = {d_re, d_im, e_re, e_im, angle, total};
    for (int k = 0; k < 6; k++) sums[k] = vd_sum(all[k]);
}
