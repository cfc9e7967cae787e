/* Sums over a pair of columns with twice the digits of a double. */
#include "simd/twice.h"
#include "simd/vec.h"

/*
 * The build disables contraction for this file. So the compiler adds no fused multiply-adds, and the code
 * names every one.
 */

typedef struct {
    vd hi, lo;
} vt;

KS_INLINE vt quick(vd a, vd b) {
    const vd s = a + b;
    return (vt){s, b - (s - a)};
}

/* Returns the product a b without rounding, as two parts. */
KS_INLINE vt product(vd a, vd b) {
    const vd p = a * b;
#if defined(KS_FOR_AVX512) || defined(KS_FOR_AVX2) || defined(KS_FOR_NEON)
    return (vt){p, vd_fma(a, b, vd_set(0) - p)};
#else /* Dekker's product */
    const double split = 0x1p27 + 1, ac = split * a, bc = split * b, ah = ac - (ac - a), bh = bc - (bc - b),
                 al = a - ah, bl = b - bh;
    return (vt){p, ((ah * bh - p) + ah * bl + al * bh) + al * bl};
#endif
}

KS_INLINE vt add(vt a, vt b) {
    const vd s = a.hi + b.hi, t = s - a.hi, rest = (a.hi - (s - t)) + (b.hi - t);
    return quick(s, rest + (a.lo + b.lo));
}

KS_INLINE vt mul(vt a, vt b) {
    const vt p = product(a.hi, b.hi);
    return quick(p.hi, p.lo + (a.hi * b.lo + a.lo * b.hi));
}

KS_INLINE vt load(const double *const x[2], size_t i) { return (vt){vd_load(x[0] + i), vd_load(x[1] + i)}; }
KS_INLINE vt spread(const double *x) { return (vt){vd_set(x[0]), vd_set(x[1])}; }

/* Adds the lanes of x in their order, without losing digits. */
KS_INLINE void add_lanes(vt x, double out[2]) {
    double hi[VL], lo[VL];
    vd_store(hi, x.hi), vd_store(lo, x.lo);
    double sum = hi[0], rest = lo[0];
    for (int k = 1; k < VL; k++) {
        const double s = sum + hi[k], t = s - sum, e = (sum - (s - t)) + (hi[k] - t) + (rest + lo[k]);
        sum = s + e, rest = e - (sum - s);
    }
    out[0] = sum, out[1] = rest;
}

/* Computes KS_TWICE_SUMS sums over rows, each in two parts. */
KS_DECLARE(twice_sums);
void KS_K(ks_twice_sums)(const ks_twice_pair *c, double *sums) {
    const vt zero = {vd_set(0), vd_set(0)};
    vt s[KS_TWICE_SUMS] = {zero, zero, zero, zero, zero, zero, zero, zero, zero};
    for (size_t i = 0; i < c->n; i += VL) {
        const vt x = load(c->x, i), z = load(c->z, i), y = load(c->y, i), w = load(c->w, i),
                 p = load(c->p, i), q = load(c->q, i), xy = mul(x, y);
        s[KS_TWICE_XY] = add(s[KS_TWICE_XY], xy);
        s[KS_TWICE_ZW] = add(s[KS_TWICE_ZW], mul(z, w));
        s[KS_TWICE_PQ] = add(s[KS_TWICE_PQ], mul(p, q));
        if (!c->centered) continue;
        s[KS_TWICE_XW] = add(s[KS_TWICE_XW], mul(x, w));
        s[KS_TWICE_YZ] = add(s[KS_TWICE_YZ], mul(y, z));
        s[KS_TWICE_XYZ] = add(s[KS_TWICE_XYZ], mul(xy, z));
        s[KS_TWICE_XYW] = add(s[KS_TWICE_XYW], mul(xy, w));
        s[KS_TWICE_XZW] = add(s[KS_TWICE_XZW], mul(p, w));
        s[KS_TWICE_YZW] = add(s[KS_TWICE_YZW], mul(q, z));
    }
    for (int k = 0; k < KS_TWICE_SUMS; k++) add_lanes(s[k], sums + 2 * k);
}

KS_INLINE void add_to(double *lists, size_t n, int k, size_t i, vt x) {
    double *hi = lists + (size_t)(2 * k) * n + i, *lo = hi + n;
    const vt sum = add((vt){vd_load(hi), vd_load(lo)}, x);
    vd_store(hi, sum.hi), vd_store(lo, sum.lo);
}

/*
 * Adds the pair's contribution to each row, times `weight`, to the lists. There are KS_TWICE_LISTS lists of n
 * high parts and n low parts. s, v and v2 are the pair's sums, times `weight`.
 */
KS_DECLARE(twice_rows);
void KS_K(ks_twice_rows)(const ks_twice_pair *c, const double *s, const double *v, const double *v2,
                         double weight, double *lists) {
    const size_t n = c->n;
    const vt xy = spread(s + 2 * KS_TWICE_XY), zw = spread(s + 2 * KS_TWICE_ZW),
             xw = spread(s + 2 * KS_TWICE_XW), yz = spread(s + 2 * KS_TWICE_YZ),
             xyz = spread(s + 2 * KS_TWICE_XYZ), xyw = spread(s + 2 * KS_TWICE_XYW),
             xzw = spread(s + 2 * KS_TWICE_XZW), yzw = spread(s + 2 * KS_TWICE_YZW), V = spread(v),
             V2 = spread(v2), times = {vd_set(weight), vd_set(0)};
    for (size_t i = 0; i < n; i += VL) {
        const vt x = load(c->x, i), z = load(c->z, i), y = load(c->y, i), w = load(c->w, i),
                 p = load(c->p, i), q = load(c->q, i);
        add_to(lists, n, KS_TWICE_OWN, i, add(mul(xy, mul(z, w)), mul(zw, mul(x, y))));
        add_to(lists, n, KS_TWICE_SECOND, i, add(mul(V, q), mul(V2, p)));
        add_to(lists, n, KS_TWICE_ALL, i, mul(times, mul(p, q)));
        if (!c->centered) continue;
        add_to(lists, n, KS_TWICE_THIRD, i, add(mul(xw, mul(y, z)), mul(yz, mul(x, w))));
        add_to(lists, n, KS_TWICE_CUBES, i,
               add(add(mul(xyz, w), mul(xyw, z)), add(mul(xzw, y), mul(yzw, x))));
    }
}
