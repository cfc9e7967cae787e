/* Computes sums over a spectrum at one point of the complex plane. */
#include "simd/vec.h"

/* In each lane, the angle of a product of numbers above the real axis, with the number of whole turns. */
typedef struct {
    vd re, im, below, turns;
} winding;

/*
 * Each factor turns by less than pi, so the product has completed a turn when it crosses the axis from below.
 */
KS_INLINE void turn(winding *w, vd re, vd im) {
    vd next = vd_fnma(w->im, im, w->re * re);
    w->im = vd_fma(w->re, im, w->im * re);
    w->re = next;
    vd below = vd_below(w->im, vd_set(0));
    w->turns = w->turns + w->below * (vd_set(1) - below);
    w->below = below;
}

KS_INLINE void shorten(winding *w) {
    vd scale = vd_set(1) / vd_sqrt(vd_fma(w->re, w->re, w->im * w->im));
    w->re = w->re * scale;
    w->im = w->im * scale;
}

KS_INLINE double angle(const winding *w) {
    const vd turn = vd_set(6.28318530717958647692);
    return vd_sum(vd_fma(turn, w->turns + w->below, vd_atan2(w->im, w->re)));
}

/* Factors may be as small as 1e-30, so the code rescales the product after LONGEST vectors. */
enum { LONGEST = 8 };

KS_DECLARE(resolvent);
void KS_K(ks_resolvent)(const double *lambda, const double *weight, size_t ones, size_t n, double re,
                        double im, double sums[5]) {
    const vd kr = vd_set(re), ki = vd_set(im), square = ki * ki, one = vd_set(1), zero = vd_set(0);
    vd d_re = zero, d_im = zero, e_re = zero, e_im = zero, angles = zero;
    winding w = {one, zero, zero, zero};
    int since = 0;
    for (size_t j = 0; j < n; j += VL) {
        vd l = vd_load(lambda + j), a = l + kr, c = l;
        vd inverse = one / vd_fma(a, a, square), r = a * inverse, i = ki * inverse;
        if (j < ones) {
            turn(&w, a, ki);
            if (++since == LONGEST) {
                shorten(&w);
                since = 0;
            }
        } else {
            vd times = vd_load(weight + j);
            c = times * l;
            angles = vd_fma(times, vd_atan2(ki, a), angles);
        }
        d_re = vd_fma(c, r, d_re);
        d_im = vd_fnma(c, i, d_im);
        e_re = vd_fma(c, vd_fnma(i, i, r * r), e_re);
        e_im = vd_fnma(c + c, r * i, e_im);
    }
    sums[0] = vd_sum(d_re), sums[1] = vd_sum(d_im);
    sums[2] = vd_sum(e_re), sums[3] = vd_sum(e_im);
    sums[4] = vd_sum(angles) + (ones ? angle(&w) : 0);
}
