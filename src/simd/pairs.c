/* Estimates second moments from pairs of columns. */
#include "simd/pairs.h"
#include "simd/vec.h"

/* The sums over one unit with VL columns of the strip. Without centring, only p and r are used. */
typedef struct {
    vd n, x, y, z, w, p, r, d, e;
} own_sums;

KS_INLINE own_sums unit(const int centered, const ks_pairs_panel *panel, size_t g, int j) {
    const size_t begin = panel->first ? panel->first[g] : g, end = panel->first ? panel->first[g + 1] : g + 1;
    const vd zero = vd_set(0);
    own_sums m = {zero, zero, zero, zero, zero, zero, zero, zero, zero};
    for (size_t i = begin; i < end; i++) {
        const vd x = vd_set(panel->x[i]), z = vd_set(panel->z[i]);
        const vd y = vd_load(panel->y + i * KS_PAIRS_STRIP + j),
                 w = vd_load(panel->w + i * KS_PAIRS_STRIP + j);
        if (!centered) {
            m.p = vd_fma(x, y, m.p);
            m.r = vd_fma(z, w, m.r);
            continue;
        }
        vd f = vd_set(panel->here ? panel->here[i] : 1);
        if (panel->seen) f = f * vd_load(panel->seen + i * KS_PAIRS_STRIP + j);
        const vd fx = f * x, fz = f * z, fy = f * y, fw = f * w;
        m.n = m.n + f;
        m.x = m.x + fx, m.y = m.y + fy, m.z = m.z + fz, m.w = m.w + fw;
        m.p = vd_fma(fx, y, m.p), m.r = vd_fma(fz, w, m.r);
        m.d = vd_fma(fx, z, m.d), m.e = vd_fma(fy, w, m.e);
    }
    return m;
}

/* The terms of one unit that the loops sum over units. */
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

/* The additional terms of one unit for `alike`. */
/* clang-format off */
#define WEIGHTED(_)                                                                                 \
    const vd nn = n * n, nx = n * x, ny = n * y, nz = n * z, nw = n * w;                            \
    _(KS_PAIR_NX, nx) _(KS_PAIR_NY, ny) _(KS_PAIR_NZ, nz) _(KS_PAIR_NW, nw)                         \
    _(KS_PAIR_NP, n * p) _(KS_PAIR_NR, n * r) _(KS_PAIR_ND, n * d) _(KS_PAIR_NE, n * e)             \
    _(KS_PAIR_NNP, nn * p) _(KS_PAIR_NNR, nn * r) _(KS_PAIR_NND, nn * d) _(KS_PAIR_NNE, nn * e)     \
    _(KS_PAIR_NXY, nx * y) _(KS_PAIR_NZW, nz * w) _(KS_PAIR_NXZ, nx * z) _(KS_PAIR_NYW, ny * w)     \
    _(KS_PAIR_NXR, nx * r) _(KS_PAIR_NYR, ny * r) _(KS_PAIR_NZP, nz * p) _(KS_PAIR_NWP, nw * p)     \
    _(KS_PAIR_NXE, nx * e) _(KS_PAIR_NZE, nz * e) _(KS_PAIR_NYD, ny * d) _(KS_PAIR_NWD, nw * d)     \
    _(KS_PAIR_NXYR, nx * y * r) _(KS_PAIR_NZWP, nz * w * p) _(KS_PAIR_NXZE, nx * z * e)             \
    _(KS_PAIR_NYWD, ny * w * d) _(KS_PAIR_NPR, n * p * r) _(KS_PAIR_NDE, n * d * e)                 \
    _(KS_PAIR_NNPR, nn * p * r) _(KS_PAIR_NNDE, nn * d * e)
/* clang-format on */

/*
 * PLAIN data are not centred. CENTERED data are. With ALIKE, data are centred, and all tuples of four rows
 * count equally.
 */
enum { PLAIN, CENTERED, ALIKE };

static inline int sums_of(int centered) { return centered == ALIKE ? KS_PAIR_ALL : KS_PAIR_SUMS; }

/*
 * Contains the factors 1, N_2/N_3 and N_2/N_4 of the sums over 2, 3 and 4 different units, and the weight
 * N_2. pairs/pairs.c explains these numbers.
 */
typedef struct {
    vd two, three, four, weight;
} factors;

/*
 * Returns the factors without unit g. If units are rows and n of them contain both columns, N_2 = n (n-1),
 * N_3 = N_2 (n-2) and N_4 = N_3 (n-3). Fewer than 4 rows give no estimate.
 */
KS_INLINE factors factors_of(const ks_pairs_panel *panel, size_t g, vd count, vd keep) {
    const vd one = vd_set(1), two = vd_set(2), three = vd_set(3);
    if (panel->counts) {
        const double *N = panel->counts + KS_PAIRS_COUNTS * g;
        const vd there = N[2] > 0 ? keep : vd_set(0);
        return (factors){there, there * vd_set(N[1] > 0 ? N[0] / N[1] : 0),
                         there * vd_set(N[2] > 0 ? N[0] / N[2] : 0), there * vd_set(N[0])};
    }
    /* `there` is 0 for n up to 3, and 1 from n = 4 on. */
    const vd there = keep * vd_min(vd_max(vd_round(count) - three, vd_set(0)), one);
    const vd n = vd_max(count, vd_set(4)), f4 = there / ((n - two) * (n - three));
    return (factors){there, f4 * (n - three), f4, there * n * (n - one)};
}

/*
 * Computes the estimates of m(2) and m(1)^2 from the sums of a pair of columns, times the weight. `minus` is
 * -1. If `minus` is 1 and s contains the absolute values of the sums, the results bound the sums of the
 * absolute values of their terms.
 */
KS_INLINE void estimate(const vd *s, vd minus, const factors *f, vd *moment, vd *square) {
    const vd two = vd_set(2), three = vd_set(3);
    // cppcheck-suppress ctuArrayIndex ; cppcheck mistakes the enumerator KS_PAIR_SUMS for 0
    const vd p = s[KS_PAIR_P], r = s[KS_PAIR_R], d = s[KS_PAIR_D], e = s[KS_PAIR_E];
    const vd x = s[KS_PAIR_X], y = s[KS_PAIR_Y], z = s[KS_PAIR_Z], w = s[KS_PAIR_W];
    const vd xy = s[KS_PAIR_XY], zw = s[KS_PAIR_ZW], xz = s[KS_PAIR_XZ], yw = s[KS_PAIR_YW],
             xw = s[KS_PAIR_XW], yz = s[KS_PAIR_YZ];
    /* s3 is S(x,y,R) + S(z,w,P), and t3 is S(x,z,E) + S(y,w,D). */
    const vd s3 = (x * y + minus * xy) * r + (z * w + minus * zw) * p +
                  minus * (s[KS_PAIR_XR] * y + s[KS_PAIR_YR] * x + s[KS_PAIR_ZP] * w + s[KS_PAIR_WP] * z) +
                  two * (s[KS_PAIR_XYR] + s[KS_PAIR_ZWP]);
    const vd t3 = (x * z + minus * xz) * e + (y * w + minus * yw) * d +
                  minus * (s[KS_PAIR_XE] * z + s[KS_PAIR_ZE] * x + s[KS_PAIR_YD] * w + s[KS_PAIR_WD] * y) +
                  two * (s[KS_PAIR_XZE] + s[KS_PAIR_YWD]);
    /* s4 is S(x,y,z,w). */
    const vd s4 = (x * y + minus * xy) * (z * w + minus * zw) +
                  (xz * yw + minus * (xz * y * w + yw * x * z)) +
                  (xw * yz + minus * (xw * y * z + yz * x * w)) +
                  two * (s[KS_PAIR_XYZ] * w + s[KS_PAIR_XYW] * z + s[KS_PAIR_XZW] * y + s[KS_PAIR_YZW] * x +
                         minus * three * s[KS_PAIR_XYZW]);
    *moment = f->two * (p * r + minus * s[KS_PAIR_PR]) + minus * f->three * s3 + f->four * s4;
    *square = f->two * (d * e + minus * s[KS_PAIR_DE]) + minus * f->three * t3 + f->four * s4;
}

/*
 * A sum over pairs of different units of sizes a and b. Each term counts the pairs of rows in two different
 * other groups. Their number (N-a-b)^2 - (sum of n^2 - a^2 - b^2) is N^2 - sum of n^2 - 2N (a+b) + 2
 * (a^2+b^2) + 2ab. The fields p, r and pr are the sums of p, of r and of their products. The fields named n
 * and nn are the same sums with the terms multiplied by a and by a^2.
 */
typedef struct {
    vd p, r, pr, np, nr, npr, nnp, nnr, nnpr;
} two_units;

KS_INLINE vd pairs_left(const two_units *t, vd minus, vd N, vd squares) {
    const vd two = vd_set(2);
    return (N * N + minus * squares) * (t->p * t->r + minus * t->pr) +
           minus * two * N * (t->np * t->r + t->p * t->nr + minus * two * t->npr) +
           two * (t->nnp * t->r + t->p * t->nnr + minus * two * t->nnpr) +
           two * (t->np * t->nr + minus * t->nnpr);
}

/*
 * A sum over three different units. Each term counts the rows of other groups: N minus the three sizes. The
 * fields u ... uvw are the sums of u, v, w and of their products. The fields named n are the same sums with
 * the terms multiplied by a.
 */
typedef struct {
    vd u, v, w, uv, uw, vw, uvw, nu, nv, nw, nuv, nuw, nvw, nuvw;
} three_units;

KS_INLINE vd rows_left(const three_units *t, vd minus, vd N) {
    const vd two = vd_set(2);
    const vd all = t->u * t->v * t->w + minus * (t->uv * t->w + t->uw * t->v + t->vw * t->u) + two * t->uvw;
    const vd of_u =
        t->nu * t->v * t->w + minus * (t->nuv * t->w + t->nuw * t->v + t->vw * t->nu) + two * t->nuvw;
    const vd of_v =
        t->u * t->nv * t->w + minus * (t->nuv * t->w + t->uw * t->nv + t->nvw * t->u) + two * t->nuvw;
    const vd of_w =
        t->u * t->v * t->nw + minus * (t->uv * t->nw + t->nuw * t->v + t->nvw * t->u) + two * t->nuvw;
    return N * all + minus * (of_u + of_v + of_w);
}

/*
 * Computes the same as estimate(), but every tuple of four rows from different groups counts alike. The
 * estimate is A - 2B + C, where A, B and C are sums over two, three and four units.
 */
KS_INLINE void estimate_alike(const vd *s, vd minus, const ks_pairs_panel *panel, size_t g, vd keep,
                              vd *moment, vd *square) {
#define S(name) s[KS_PAIR_##name]
    const double *N = panel->counts + KS_PAIRS_COUNTS * g;
    const vd rows = vd_set(N[3]), squares = vd_set(N[4]), scale = keep * vd_set(N[2] > 0 ? N[0] / N[2] : 0);
    const two_units pr = {S(P), S(R), S(PR), S(NP), S(NR), S(NPR), S(NNP), S(NNR), S(NNPR)},
                    de = {S(D), S(E), S(DE), S(ND), S(NE), S(NDE), S(NND), S(NNE), S(NNDE)};
    const three_units xyr = {S(X),  S(Y),  S(R),  S(XY),  S(XR),  S(YR),  S(XYR),
                             S(NX), S(NY), S(NR), S(NXY), S(NXR), S(NYR), S(NXYR)},
                      zwp = {S(Z),  S(W),  S(P),  S(ZW),  S(ZP),  S(WP),  S(ZWP),
                             S(NZ), S(NW), S(NP), S(NZW), S(NZP), S(NWP), S(NZWP)},
                      xze = {S(X),  S(Z),  S(E),  S(XZ),  S(XE),  S(ZE),  S(XZE),
                             S(NX), S(NZ), S(NE), S(NXZ), S(NXE), S(NZE), S(NXZE)},
                      ywd = {S(Y),  S(W),  S(D),  S(YW),  S(YD),  S(WD),  S(YWD),
                             S(NY), S(NW), S(ND), S(NYW), S(NYD), S(NWD), S(NYWD)};
#undef S
    const vd zero = vd_set(0), one = vd_set(1);
    const factors four = {zero, zero, one, one}; /* only S(x,y,z,w) */
    vd s4, same;
    estimate(s, minus, &four, &s4, &same);
    *moment = scale * (pairs_left(&pr, minus, rows, squares) +
                       minus * (rows_left(&xyr, minus, rows) + rows_left(&zwp, minus, rows)) + s4);
    *square = scale * (pairs_left(&de, minus, rows, squares) +
                       minus * (rows_left(&xze, minus, rows) + rows_left(&ywd, minus, rows)) + s4);
}

/* Sums one vector of columns over all units. */
KS_INLINE void add_units(const int centered, const ks_pairs_panel *panel, int j, vd *sums) {
    for (int k = 0; k < sums_of(centered); k++) sums[k] = vd_set(0);
    for (size_t g = 0; g < panel->units; g++) {
        const own_sums m = unit(centered, panel, g, j);
        if (centered) {
#define INTO(k, v) sums[k] = sums[k] + (v);
            PRODUCTS(INTO)
            if (centered == ALIKE) {
                WEIGHTED(INTO)
            }
        } else {
            INTO(KS_PAIR_P, m.p) INTO(KS_PAIR_R, m.r) INTO(KS_PAIR_PR, m.p * m.r)
#undef INTO
        }
    }
}

/* Computes m(2), m(1)^2 (only if centred) and the weight, in this order, without unit g. */
KS_INLINE void without(const int centered, const ks_pairs_panel *panel, size_t g, const own_sums *own,
                       const vd *sums, vd keep, vd *value) {
    const own_sums m = *own;
    if (!centered) {
        value[0] =
            keep * ((sums[KS_PAIR_P] - m.p) * (sums[KS_PAIR_R] - m.r) - (sums[KS_PAIR_PR] - m.p * m.r));
        value[1] = vd_set(0);
        value[2] = keep;
        return;
    }
    vd s[KS_PAIR_ALL];
#define LEFT(k, v) s[k] = sums[k] - (v);
    PRODUCTS(LEFT)
    if (centered == ALIKE) {
        WEIGHTED(LEFT)
    }
#undef LEFT
    const factors f = factors_of(panel, g, s[KS_PAIR_N], keep);
    if (centered == ALIKE)
        estimate_alike(s, vd_set(-1), panel, g, keep, &value[0], &value[1]);
    else
        estimate(s, vd_set(-1), &f, &value[0], &value[1]);
    value[2] = f.weight;
}

/* Returns the sum of the absolute values of the terms of m(2). */
KS_INLINE vd magnitude(const int centered, const ks_pairs_panel *panel, const vd *sums, vd keep) {
    vd s[KS_PAIR_ALL], moment, square;
    for (int k = 0; k < sums_of(centered); k++) s[k] = vd_abs(sums[k]);
    if (!centered) return keep * (s[KS_PAIR_P] * s[KS_PAIR_R] + s[KS_PAIR_PR]);
    if (centered == ALIKE) {
        estimate_alike(s, vd_set(1), panel, panel->units, keep, &moment, &square);
        return moment;
    }
    const factors f = factors_of(panel, panel->units, s[KS_PAIR_N], keep);
    estimate(s, vd_set(1), &f, &moment, &square);
    return moment;
}

/* Computes the outputs for one vector of columns of the strip. */
KS_INLINE void columns(const int centered, const ks_pairs_panel *panel, const double *keep, int j,
                       double *each, double *left) {
    const vd zero = vd_set(0), kept = vd_load(keep + j);
    const own_sums nothing = {zero, zero, zero, zero, zero, zero, zero, zero, zero};
    vd sums[KS_PAIR_ALL], value[3];
    add_units(centered, panel, j, sums);
    for (size_t g = 0; g < panel->units; g++) {
        const own_sums own = unit(centered, panel, g, j);
        without(centered, panel, g, &own, sums, kept, value);
        for (size_t k = 0; k < 3; k++) {
            double *to = left + (3 * g + k) * VL;
            vd_store(to, vd_load(to) + value[k]);
        }
    }
    without(centered, panel, panel->units, &nothing, sums, kept, value);
    for (int k = 0; k < 3; k++) vd_store(each + k * KS_PAIRS_STRIP + j, value[k]);
    vd_store(each + 3 * KS_PAIRS_STRIP + j, magnitude(centered, panel, sums, kept));
}

KS_DECLARE(pairs_strip);
void KS_K(ks_pairs_strip)(const ks_pairs_panel *p, const double *keep, double *each, double *left) {
    for (int j = 0; j < KS_PAIRS_STRIP; j += VL) {
        if (p->centered && p->alike)
            columns(ALIKE, p, keep, j, each, left);
        else if (p->centered)
            columns(CENTERED, p, keep, j, each, left);
        else
            columns(PLAIN, p, keep, j, each, left);
    }
}
