#include "simd/pairs.h"
#include "simd/vec.h"

/* The means of one unit (sums where not centred) with VL columns of the strip; not centred, P and R alone */
typedef struct {
    vd n, x, y, z, w, p, r, d, e;
} means;

KS_INLINE means unit(const int centered, const ks_pairs_panel *panel, size_t g, int j) {
    const size_t begin = panel->first ? panel->first[g] : g, end = panel->first ? panel->first[g + 1] : g + 1;
    const vd zero = vd_set(0);
    means m = {zero, zero, zero, zero, zero, zero, zero, zero, zero};
    for (size_t i = begin; i < end; i++) {
        const vd x = vd_set(panel->x[i]), z = vd_set(panel->z[i]);
        const vd y = vd_load(panel->y + i * KS_PAIRS_STRIP + j),
                 w = vd_load(panel->w + i * KS_PAIRS_STRIP + j);
        if (!centered) {
            m.p = vd_fma(x, y, m.p);
            m.r = vd_fma(z, w, m.r);
            continue;
        }
        vd f = vd_set((panel->here ? panel->here[i] : 1) / (double)(end - begin));
        if (panel->seen) f = f * vd_load(panel->seen + i * KS_PAIRS_STRIP + j);
        const vd fx = f * x, fz = f * z, fy = f * y, fw = f * w;
        m.n = m.n + f;
        m.x = m.x + fx, m.y = m.y + fy, m.z = m.z + fz, m.w = m.w + fw;
        m.p = vd_fma(fx, y, m.p), m.r = vd_fma(fz, w, m.r);
        m.d = vd_fma(fx, z, m.d), m.e = vd_fma(fy, w, m.e);
    }
    return m;
}

/* All that is summed over units, of one of them */
/* clang-format off */
#define PRODUCTS(_)                                                                                  \
    const vd n = m.n, x = m.x, y = m.y, z = m.z, w = m.w, p = m.p, r = m.r, d = m.d, e = m.e;        \
    const vd xy = x * y, zw = z * w, xz = x * z, yw = y * w, xw = x * w, yz = y * z;                 \
    _(KS_PAIR_N, n) _(KS_PAIR_X, x) _(KS_PAIR_Y, y) _(KS_PAIR_Z, z) _(KS_PAIR_W, w)                  \
    _(KS_PAIR_P, p) _(KS_PAIR_R, r) _(KS_PAIR_D, d) _(KS_PAIR_E, e)                                  \
    _(KS_PAIR_XY, xy) _(KS_PAIR_ZW, zw) _(KS_PAIR_XZ, xz)                                            \
    _(KS_PAIR_YW, yw) _(KS_PAIR_XW, xw) _(KS_PAIR_YZ, yz)                                            \
    _(KS_PAIR_PR, p * r) _(KS_PAIR_XR, x * r) _(KS_PAIR_YR, y * r)                                   \
    _(KS_PAIR_ZP, z * p) _(KS_PAIR_WP, w * p) _(KS_PAIR_DE, d * e) _(KS_PAIR_XE, x * e)              \
    _(KS_PAIR_ZE, z * e) _(KS_PAIR_YD, y * d) _(KS_PAIR_WD, w * d)                                   \
    _(KS_PAIR_XYR, xy * r) _(KS_PAIR_ZWP, zw * p) _(KS_PAIR_XZE, xz * e) _(KS_PAIR_YWD, yw * d)      \
    _(KS_PAIR_XYZ, xy * z) _(KS_PAIR_XYW, xy * w) _(KS_PAIR_XZW, xz * w) _(KS_PAIR_YZW, yz * w)      \
    _(KS_PAIR_XYZW, xy * zw)
/* clang-format on */

/* The estimate of each pair from its sums, times its weight (moments/pairs.c) */
KS_INLINE void estimate(const vd *s, vd keep, vd *moment, vd *square, vd *weight) {
    const vd one = vd_set(1), two = vd_set(2), three = vd_set(3);
    // cppcheck-suppress ctuArrayIndex ; it takes KS_PAIR_SUMS, an enumerator, for 0
    const vd p = s[KS_PAIR_P], r = s[KS_PAIR_R], d = s[KS_PAIR_D], e = s[KS_PAIR_E];
    const vd x = s[KS_PAIR_X], y = s[KS_PAIR_Y], z = s[KS_PAIR_Z], w = s[KS_PAIR_W];
    const vd xy = s[KS_PAIR_XY], zw = s[KS_PAIR_ZW], xz = s[KS_PAIR_XZ], yw = s[KS_PAIR_YW],
             xw = s[KS_PAIR_XW], yz = s[KS_PAIR_YZ];
    /* fewer than 4 units are too few: 0 for n up to 3, 1 from 4 on */
    const vd there = keep * vd_min(vd_max(vd_round(s[KS_PAIR_N]) - three, vd_set(0)), one);
    const vd n = vd_max(s[KS_PAIR_N], vd_set(4)), f4 = one / ((n - two) * (n - three)), f3 = f4 * (n - three);
    /* S(x,y,R) + S(z,w,P) and S(x,z,E) + S(y,w,D) */
    const vd s3 = (x * y - xy) * r + (z * w - zw) * p - s[KS_PAIR_XR] * y - s[KS_PAIR_YR] * x -
                  s[KS_PAIR_ZP] * w - s[KS_PAIR_WP] * z + two * (s[KS_PAIR_XYR] + s[KS_PAIR_ZWP]);
    const vd t3 = (x * z - xz) * e + (y * w - yw) * d - s[KS_PAIR_XE] * z - s[KS_PAIR_ZE] * x -
                  s[KS_PAIR_YD] * w - s[KS_PAIR_WD] * y + two * (s[KS_PAIR_XZE] + s[KS_PAIR_YWD]);
    /* S(x,y,z,w) */
    const vd s4 = (x * y - xy) * (z * w - zw) + (xz * yw - xz * y * w - yw * x * z) +
                  (xw * yz - xw * y * z - yz * x * w) +
                  two * (s[KS_PAIR_XYZ] * w + s[KS_PAIR_XYW] * z + s[KS_PAIR_XZW] * y + s[KS_PAIR_YZW] * x -
                         three * s[KS_PAIR_XYZW]);
    *moment = there * (p * r - s[KS_PAIR_PR] - f3 * s3 + f4 * s4);
    *square = there * (d * e - s[KS_PAIR_DE] - f3 * t3 + f4 * s4);
    *weight = there * n * (n - one);
}

/* One vector of columns */
KS_INLINE void columns(const int centered, const ks_pairs_panel *panel, const double *keep, int j,
                       double *each, double *left) {
    vd sums[KS_PAIR_SUMS], value[3], kept = vd_load(keep + j);
    for (int k = 0; k < KS_PAIR_SUMS; k++) sums[k] = vd_set(0);
    for (size_t g = 0; g < panel->units; g++) {
        const means m = unit(centered, panel, g, j);
        if (centered) {
#define INTO(k, v) sums[k] = sums[k] + (v);
            PRODUCTS(INTO)
        } else {
            INTO(KS_PAIR_P, m.p) INTO(KS_PAIR_R, m.r) INTO(KS_PAIR_PR, m.p * m.r)
#undef INTO
        }
    }
    for (size_t g = 0; g <= panel->units; g++) { /* the last: nothing is left out */
        const vd zero = vd_set(0);
        means m = {zero, zero, zero, zero, zero, zero, zero, zero, zero};
        if (g < panel->units) m = unit(centered, panel, g, j);
        if (centered) {
            vd s[KS_PAIR_SUMS];
#define LEFT(k, v) s[k] = sums[k] - (v);
            PRODUCTS(LEFT)
#undef LEFT
            estimate(s, kept, &value[0], &value[1], &value[2]);
        } else {
            value[0] =
                kept * ((sums[KS_PAIR_P] - m.p) * (sums[KS_PAIR_R] - m.r) - (sums[KS_PAIR_PR] - m.p * m.r));
            value[1] = zero;
            value[2] = kept;
        }
        for (int k = 0; k < 3; k++) {
            if (g == panel->units) {
                vd_store(each + k * KS_PAIRS_STRIP + j, value[k]);
                continue;
            }
            double *to = left + (3 * g + (size_t)k) * VL;
            vd_store(to, vd_load(to) + value[k]);
        }
    }
}

void KS_K(ks_pairs_strip)(const ks_pairs_panel *p, const double *keep, double *each, double *left);
void KS_K(ks_pairs_strip)(const ks_pairs_panel *p, const double *keep, double *each, double *left) {
    for (int j = 0; j < KS_PAIRS_STRIP; j += VL) {
        if (p->centered)
            columns(1, p, keep, j, each, left);
        else
            columns(0, p, keep, j, each, left);
    }
}
