#include "simd/pairs.h"
#include "simd/vec.h"

/* Where not centred P and R alone are kept, and their product. */

void KS_K(ks_pairs_add_row)(const ks_pairs_row *r, int centered, ks_pairs_own own);
void KS_K(ks_pairs_add_row)(const ks_pairs_row *r, int centered, ks_pairs_own own) {
    const vd x = vd_set(r->x), z = vd_set(r->z);
    for (int j = 0; j < KS_PAIRS_STRIP; j += VL) {
        const vd y = vd_load(r->y + j), w = vd_load(r->w + j);
        vd f = vd_set(r->f);
        if (r->seen_y) f = f * vd_load(r->seen_y + j) * vd_load(r->seen_w + j);
#define ADD(k, value) vd_store(&own[k][j], vd_fma(f, value, vd_load(&own[k][j])))
        ADD(KS_PAIR_P, x * y);
        ADD(KS_PAIR_R, z * w);
        if (!centered) continue;
        vd_store(&own[KS_PAIR_N][j], vd_load(&own[KS_PAIR_N][j]) + f);
        ADD(KS_PAIR_X, x);
        ADD(KS_PAIR_Y, y);
        ADD(KS_PAIR_Z, z);
        ADD(KS_PAIR_W, w);
        ADD(KS_PAIR_D, x * z);
        ADD(KS_PAIR_E, y * w);
#undef ADD
    }
}

/* The products of one unit's means, in registers */
#define PRODUCTS(_)                                                                                       \
    const vd xy = x * y, zw = z * w, xz = x * z, yw = y * w, xw = x * w, yz = y * z;                      \
    _(KS_PAIR_N, n)                                                                                       \
    _(KS_PAIR_X, x) _(KS_PAIR_Y, y) _(KS_PAIR_Z, z) _(KS_PAIR_W, w) _(KS_PAIR_P, p) _(KS_PAIR_R, r)       \
        _(KS_PAIR_D, d) _(KS_PAIR_E, e) _(KS_PAIR_XY, xy) _(KS_PAIR_ZW, zw) _(KS_PAIR_XZ, xz)             \
            _(KS_PAIR_YW, yw) _(KS_PAIR_XW, xw) _(KS_PAIR_YZ, yz) _(KS_PAIR_PR, p *r) _(KS_PAIR_XR, x *r) \
                _(KS_PAIR_YR, y *r) _(KS_PAIR_ZP, z *p) _(KS_PAIR_WP, w *p) _(KS_PAIR_DE, d *e)           \
                    _(KS_PAIR_XE, x *e) _(KS_PAIR_ZE, z *e) _(KS_PAIR_YD, y *d) _(KS_PAIR_WD, w *d)       \
                        _(KS_PAIR_XYR, xy *r) _(KS_PAIR_ZWP, zw *p) _(KS_PAIR_XZE, xz *e)                 \
                            _(KS_PAIR_YWD, yw *d) _(KS_PAIR_XYZ, xy *z) _(KS_PAIR_XYW, xy *w)             \
                                _(KS_PAIR_XZW, xz *w) _(KS_PAIR_YZW, yz *w) _(KS_PAIR_XYZW, xy *zw)

#define MEANS(own, j)                                                          \
    const vd n = vd_load(&own[KS_PAIR_N][j]), x = vd_load(&own[KS_PAIR_X][j]), \
             y = vd_load(&own[KS_PAIR_Y][j]), z = vd_load(&own[KS_PAIR_Z][j]), \
             w = vd_load(&own[KS_PAIR_W][j]), p = vd_load(&own[KS_PAIR_P][j]), \
             r = vd_load(&own[KS_PAIR_R][j]), d = vd_load(&own[KS_PAIR_D][j]), \
             e = vd_load(&own[KS_PAIR_E][j]);

void KS_K(ks_pairs_add_unit)(const ks_pairs_own own, int centered, ks_pairs_sums s);
void KS_K(ks_pairs_add_unit)(const ks_pairs_own own, int centered, ks_pairs_sums s) {
#define INTO(k, value) vd_store(&s[k][j], vd_load(&s[k][j]) + (value));
    for (int j = 0; j < KS_PAIRS_STRIP; j += VL) {
        MEANS(own, j)
        if (!centered) {
            INTO(KS_PAIR_P, p) INTO(KS_PAIR_R, r) INTO(KS_PAIR_PR, p * r) continue;
        }
        PRODUCTS(INTO)
    }
#undef INTO
}

/* The estimate of each pair from its sums, times its weight (moments/pairs.c) */
KS_INLINE void estimate(const vd *s, vd keep, vd *moment, vd *square, vd *weight) {
    const vd one = vd_set(1), two = vd_set(2), three = vd_set(3);
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

void KS_K(ks_pairs_left)(const ks_pairs_sums sums, const ks_pairs_own own, const double *keep, int centered,
                         ks_pairs_total *all, double *each);
void KS_K(ks_pairs_left)(const ks_pairs_sums sums, const ks_pairs_own own, const double *keep, int centered,
                         ks_pairs_total *all, double *each) {
    vd total[3] = {vd_set(0), vd_set(0), vd_set(0)};
    for (int j = 0; j < KS_PAIRS_STRIP; j += VL) {
        const vd kept = vd_load(keep + j);
        vd s[KS_PAIR_SUMS], value[3];
        MEANS(own, j)
        if (centered) {
#define LEFT(k, v) s[k] = vd_load(&sums[k][j]) - (v);
            PRODUCTS(LEFT)
            estimate(s, kept, &value[0], &value[1], &value[2]);
        } else {
            LEFT(KS_PAIR_P, p)
            LEFT(KS_PAIR_R, r) LEFT(KS_PAIR_PR, p * r) value[0] =
                kept * (s[KS_PAIR_P] * s[KS_PAIR_R] - s[KS_PAIR_PR]);
            value[1] = vd_set(0);
            value[2] = kept;
#undef LEFT
        }
        for (int k = 0; k < 3; k++) {
            total[k] = total[k] + value[k];
            if (each) vd_store(each + k * KS_PAIRS_STRIP + j, value[k]);
        }
    }
    all->moment += vd_sum(total[0]);
    all->square += vd_sum(total[1]);
    all->weight += vd_sum(total[2]);
}
