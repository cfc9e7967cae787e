#include "moments/pairs.h"

#include "base/error.h"

#include <math.h>
#include <string.h>

/*
 * For columns a < c of the trials A and B, x and z are A and B in column a, y and w are B and A in column
 * c, and a unit g is a group of rows. With f_g the mean over the rows of g (f_g the value itself where g is
 * one row),
 *
 *     P = xy, R = zw, D = xz, E = yw as means of products; x, y, z, w as means.
 *
 * The kernel's cycle takes P of one unit and R of another; two 1-cycles take D and E. Centred, P = xy may be
 * split into x of one unit and minus y of another, and so on, so that with S the sum over different units
 *
 *     m(2):    S(P,R) / (n)_2 - (S(x,y,R) + S(z,w,P)) / (n)_3 + S(x,y,z,w) / (n)_4,
 *     m(1)^2:  S(D,E) / (n)_2 - (S(x,z,E) + S(y,w,D)) / (n)_3 + S(x,y,z,w) / (n)_4,
 *
 * n the number of units. Each S follows from the sums over units of products of these, all of which are kept,
 * with and without the unit that is left out.
 */
/* clang-format off */
enum {
    N, /* 1, where both columns are seen */
    X, Y, Z, W, P, R, D, E,
    XY, ZW, XZ, YW, XW, YZ,
    PR, XR, YR, ZP, WP,
    DE, XE, ZE, YD, WD,
    XYR, ZWP, XZE, YWD,
    XYZ, XYW, XZW, YZW, XYZW,
    SUMS
};

/* The products among them, each of two that come before */
static const int product[][3] = {
    {XY, X, Y},   {ZW, Z, W},   {XZ, X, Z},   {YW, Y, W},   {XW, X, W}, {YZ, Y, Z},
    {PR, P, R},   {XR, X, R},   {YR, Y, R},   {ZP, Z, P},   {WP, W, P},
    {DE, D, E},   {XE, X, E},   {ZE, Z, E},   {YD, Y, D},   {WD, W, D},
    {XYR, XY, R}, {ZWP, ZW, P}, {XZE, XZ, E}, {YWD, YW, D},
    {XYZ, XY, Z}, {XYW, XY, W}, {XZW, XZ, W}, {YZW, YZ, W}, {XYZW, XY, ZW},
};
/* clang-format on */

enum { STRIP = 64, MAX_CHUNKS = 64 };

/* The sums of a strip of columns c */
typedef double strip[SUMS][STRIP];

/* What the pairs add up to: estimates times weights, and the weights */
typedef struct {
    double moment, square, weight;
} total;

typedef struct {
    const ks_pairs *in;
    size_t chunks, units;
    /* per chunk: all, without each group of rows, and of the pairs with each column */
    total *all, *row, *col;
} job;

/* ---- one unit of rows, one column and a strip of others ---- */

static void products(strip s, size_t count) {
    for (size_t k = 0; k < sizeof product / sizeof *product; k++)
        for (size_t j = 0; j < count; j++) s[product[k][0]][j] = s[product[k][1]][j] * s[product[k][2]][j];
}

/* 1 where an entry is seen in both trials */
static double seen_at(const ks_pairs *in, size_t at) {
    return in->seen_a ? in->seen_a[at] * in->seen_b[at] : 1;
}

/* Row i, times f, added to the strip of columns c0 ... */
static void add_row(const ks_pairs *in, size_t i, size_t a, size_t c0, size_t count, double f, strip s) {
    const size_t Q = in->cols->n;
    const double *A = in->A + i * Q, *B = in->B + i * Q, x = A[a], z = B[a];
    for (size_t j = 0; j < count && !in->centered; j++) {
        s[P][j] += x * B[c0 + j];
        s[R][j] += z * A[c0 + j];
    }
    const double here = seen_at(in, i * Q + a);
    for (size_t j = 0; j < count && in->centered; j++) {
        const double both = here * seen_at(in, i * Q + c0 + j) * f, y = B[c0 + j], w = A[c0 + j];
        s[N][j] += both;
        s[X][j] += both * x, s[Y][j] += both * y;
        s[Z][j] += both * z, s[W][j] += both * w;
        s[P][j] += both * x * y, s[R][j] += both * z * w;
        s[D][j] += both * x * z, s[E][j] += both * y * w;
    }
}

static void unit(const ks_pairs *in, size_t g, size_t a, size_t c0, size_t count, strip s) {
    const ks_groups *rows = in->rows;
    const int last = in->centered ? E : R;
    for (int k = 0; k <= last; k++) memset(s[k], 0, count * sizeof(double));
    const size_t size = ks_group_size(rows, g);
    const double f = in->centered ? 1 / (double)size : 1;
    for (size_t i = 0; i < size; i++)
        add_row(in, rows->of ? rows->member[rows->start[g] + i] : g, a, c0, count, f, s);
    if (in->centered)
        products(s, count);
    else
        for (size_t j = 0; j < count; j++) s[PR][j] = s[P][j] * s[R][j];
}

/* ---- estimates ---- */

/*
 * The sums `s` less `own` (NULL: nothing), as estimates of each pair; pairs that do not count (keep = 0, or
 * fewer units than the estimate needs) have the weight 0. Written as products, so that each loop is plain
 * arithmetic.
 */
static void estimates(const ks_pairs *in, strip s, strip own, const double *keep, size_t count, total *each) {
#define OF(k) (own ? s[k][j] - own[k][j] : s[k][j])
    for (size_t j = 0; j < count; j++) {
        each[j] = (total){0, 0, 0};
        if (keep[j] == 0) continue;
        const double p = OF(P), r = OF(R);
        each[j].moment = p * r - OF(PR);
        each[j].weight = 1; /* a tuple's: counted by the caller */
        if (!in->centered) continue;
        const double n = OF(N);
        if (n < 3.5) {
            each[j] = (total){0, 0, 0};
            continue;
        }
        const double x = OF(X), y = OF(Y), z = OF(Z), w = OF(W), d = OF(D), e = OF(E);
        const double xy = OF(XY), zw = OF(ZW), xz = OF(XZ), yw = OF(YW), xw = OF(XW), yz = OF(YZ);
        const double s3 = x * y * r - xy * r - OF(XR) * y - OF(YR) * x + 2 * OF(XYR) + z * w * p - zw * p -
                          OF(ZP) * w - OF(WP) * z + 2 * OF(ZWP);
        const double t3 = x * z * e - xz * e - OF(XE) * z - OF(ZE) * x + 2 * OF(XZE) + y * w * d - yw * d -
                          OF(YD) * w - OF(WD) * y + 2 * OF(YWD);
        const double s4 = x * y * z * w - xy * z * w - xz * y * w - xw * y * z - yz * x * w - yw * x * z -
                          zw * x * y + xy * zw + xz * yw + xw * yz +
                          2 * (OF(XYZ) * w + OF(XYW) * z + OF(XZW) * y + OF(YZW) * x) - 6 * OF(XYZW);
        /* times n (n-1), the pair's weight */
        const double f3 = 1 / (n - 2), f4 = f3 / (n - 3);
        each[j].moment += f4 * s4 - f3 * s3;
        each[j].square = d * e - OF(DE) - f3 * t3 + f4 * s4;
        each[j].weight = n * (n - 1);
    }
#undef OF
}

static void add(total *to, const total *from) {
    to->moment += from->moment;
    to->square += from->square;
    to->weight += from->weight;
}

/* Column a with the columns after it */
static void column(const job *j, size_t chunk, size_t a, strip s, strip own) {
    const ks_pairs *in = j->in;
    const size_t Q = in->cols->n;
    double keep[STRIP];
    total each[STRIP];
    for (size_t c0 = a + 1; c0 < Q; c0 += STRIP) {
        const size_t count = Q - c0 < STRIP ? Q - c0 : STRIP;
        for (size_t k = 0; k < count; k++)
            keep[k] = ks_group_of(in->cols, a) != ks_group_of(in->cols, c0 + k);
        memset(s, 0, sizeof(strip));
        for (size_t g = 0; g < j->units; g++) {
            unit(in, g, a, c0, count, own);
            for (int k = 0; k < SUMS; k++)
                for (size_t l = 0; l < count && (in->centered || k == P || k == R || k == PR); l++)
                    s[k][l] += own[k][l];
        }
        estimates(in, s, NULL, keep, count, each);
        for (size_t k = 0; k < count; k++) {
            add(&j->all[chunk], &each[k]);
            add(&j->col[chunk * Q + a], &each[k]);
            add(&j->col[chunk * Q + c0 + k], &each[k]);
        }
        for (size_t g = 0; g < j->units; g++) {
            unit(in, g, a, c0, count, own);
            estimates(in, s, own, keep, count, each);
            for (size_t k = 0; k < count; k++) add(&j->row[chunk * j->units + g], &each[k]);
        }
    }
}

/* Columns chunk, chunk + chunks, ..., so that all chunks are about as long */
static kspec_status columns(void *ctx, size_t chunk, const ks_worker *worker) {
    (void)worker;
    const job *j = ctx;
    strip s, own;
    for (size_t a = chunk; a < j->in->cols->n; a += j->chunks) column(j, chunk, a, s, own);
    return KSPEC_OK;
}

static kspec_status every_pair(const ks_run *run, job *j, ks_arena *arena, kspec_error *err) {
    const size_t Q = j->in->cols->n;
    j->chunks = Q < MAX_CHUNKS ? Q : MAX_CHUNKS;
    j->all = ks_arena_zalloc(arena, j->chunks, sizeof(total));
    j->row = ks_arena_zalloc(arena, ks_size(j->chunks, j->units), sizeof(total));
    j->col = ks_arena_zalloc(arena, ks_size(j->chunks, Q), sizeof(total));
    if (arena->failed) return ks_nomem(err, "pairs of columns", arena->failed);
    kspec_status st = ks_parallel_for(run, j->chunks, columns, j, err);
    for (size_t c = 1; c < j->chunks && !st; c++) {
        add(&j->all[0], &j->all[c]);
        for (size_t g = 0; g < j->units; g++) add(&j->row[g], &j->row[c * j->units + g]);
        for (size_t a = 0; a < Q; a++) add(&j->col[a], &j->col[c * Q + a]);
    }
    return st;
}

/* ---- first order ---- */

/*
 * m(1) of column a over the units, but for one (its sums in `own`), times its weight n: sum of D -
 * S(x,z)/(n-1) where centred, D otherwise
 */
enum { T_N, T_X, T_Z, T_D, T_XZ, T_SUMS };

static void trace_of(int centered, const double *s, const double *own, double *value, double *weight) {
    double t[T_SUMS];
    for (int k = 0; k < T_SUMS; k++) t[k] = s[k] - (own ? own[k] : 0);
    *value = *weight = 0;
    if (t[T_N] < (centered ? 1.5 : 0.5)) return;
    *weight = t[T_N];
    *value = t[T_D] - (centered ? (t[T_X] * t[T_Z] - t[T_XZ]) / (t[T_N] - 1) : 0);
}

/* Unit g in column a: means where centred, sums otherwise */
static void trace_unit(const ks_pairs *in, size_t g, size_t a, double *own) {
    const ks_groups *rows = in->rows;
    const size_t size = ks_group_size(rows, g), Q = in->cols->n;
    const double f = in->centered ? 1 / (double)size : 1;
    memset(own, 0, T_SUMS * sizeof *own);
    for (size_t i = 0; i < size; i++) {
        const size_t at = (rows->of ? rows->member[rows->start[g] + i] : g) * Q + a;
        const double seen = seen_at(in, at);
        own[T_N] += f * seen;
        own[T_X] += f * seen * in->A[at], own[T_Z] += f * seen * in->B[at];
        own[T_D] += f * seen * in->A[at] * in->B[at];
    }
    own[T_XZ] = own[T_X] * own[T_Z];
}

/* value and weight: 1 + rows.count + cols.count of each */
static void traces(const ks_pairs *in, double *value, double *weight) {
    const size_t G = in->rows->count, Q = in->cols->n, H = in->cols->count;
    memset(value, 0, (1 + G + H) * sizeof *value);
    memset(weight, 0, (1 + G + H) * sizeof *weight);
    for (size_t a = 0; a < Q; a++) {
        double s[T_SUMS] = {0}, own[T_SUMS], v, w;
        for (size_t g = 0; g < G; g++) {
            trace_unit(in, g, a, own);
            for (int k = 0; k < T_SUMS; k++) s[k] += own[k];
        }
        trace_of(in->centered, s, NULL, &v, &w);
        value[0] += v, weight[0] += w;
        const size_t own_group = 1 + G + ks_group_of(in->cols, a);
        value[own_group] -= v, weight[own_group] -= w;
        for (size_t g = 0; g < G; g++) {
            trace_unit(in, g, a, own);
            trace_of(in->centered, s, own, &v, &w);
            value[1 + g] += v, weight[1 + g] += w;
        }
    }
    for (size_t c = 0; c < H; c++) value[1 + G + c] += value[0], weight[1 + G + c] += weight[0];
}

/* ---- two 1-cycles, not centred: by sums over blocks ---- */

/*
 * With u = x z, T its sum, T_g and T_c those of a group of rows and of columns, T_gc of both: the sum over
 * different groups on either side is T^2 - sum T_g^2 - sum T_c^2 + sum T_gc^2.
 */
static kspec_status squares(const ks_pairs *in, double *out, kspec_error *err) {
    const size_t n_rows = in->rows->n, Q = in->cols->n, G = in->rows->count, H = in->cols->count;
    ks_arena arena = {0};
    double *block = ks_arena_zalloc(&arena, ks_size(G, H), sizeof *block);
    double *rows = ks_arena_zalloc(&arena, G, sizeof *rows), *cols = ks_arena_zalloc(&arena, H, sizeof *cols);
    if (arena.failed) {
        ks_arena_free(&arena);
        return ks_nomem(err, "sums over groups", ks_size(ks_size(G, H), sizeof(double)));
    }
    double T = 0, sum;
    for (size_t i = 0; i < n_rows; i++)
        for (size_t a = 0; a < Q; a++) {
            const double u = in->A[i * Q + a] * in->B[i * Q + a];
            const size_t g = ks_group_of(in->rows, i), c = ks_group_of(in->cols, a);
            block[g * H + c] += u, rows[g] += u, cols[c] += u, T += u;
        }
    sum = T * T;
    for (size_t g = 0; g < G; g++) sum -= rows[g] * rows[g];
    for (size_t c = 0; c < H; c++) sum -= cols[c] * cols[c];
    for (size_t k = 0; k < G * H; k++) sum += block[k] * block[k];
    out[0] = sum;
    for (size_t g = 0; g < G; g++) {
        double through = rows[g] * (T - rows[g]);
        for (size_t c = 0; c < H; c++) through -= block[g * H + c] * (cols[c] - block[g * H + c]);
        out[1 + g] = sum - 2 * through;
    }
    for (size_t c = 0; c < H; c++) {
        double through = cols[c] * (T - cols[c]);
        for (size_t g = 0; g < G; g++) through -= block[g * H + c] * (rows[g] - block[g * H + c]);
        out[1 + G + c] = sum - 2 * through;
    }
    ks_arena_free(&arena);
    return KSPEC_OK;
}

/* Ordered pairs of different groups, without group `without` */
static double different(const ks_groups *g, size_t without) {
    double all = (double)g->n, own = without < g->count ? (double)ks_group_size(g, without) : 0, squares = 0;
    for (size_t k = 0; k < g->count; k++)
        squares += (double)ks_group_size(g, k) * (double)ks_group_size(g, k);
    return (all - own) * (all - own) - (squares - own * own);
}

/* ---- together ---- */

static double over(double value, double count) { return count > 0 ? value / count : NAN; }

static kspec_status complete(const ks_run *run, const ks_pairs *in, const ks_pairs_out *out,
                             kspec_error *err) {
    const size_t Q = in->cols->n, G = in->rows->count, H = in->cols->count, count = 1 + G + H;
    ks_arena arena = {0};
    job j = {.in = in, .units = G};
    double *weight = ks_arena_alloc(&arena, count, sizeof *weight);
    kspec_status st = weight ? every_pair(run, &j, &arena, err) : ks_nomem(err, "pairs", arena.failed);
    if (!st) traces(in, out->trace, weight);
    for (size_t k = 0; k < count && !st; k++) out->trace[k] = over(out->trace[k], weight[k]);
    if (!st && !in->centered) st = squares(in, out->square, err);
    for (size_t k = 0; k < count && !st; k++) {
        total t = k == 0 || k > G ? j.all[0] : j.row[k - 1];
        const size_t c = k - 1 - G;
        for (size_t a = 0; a < Q && k > G; a++) /* a pair has its columns in different groups */
            if (ks_group_of(in->cols, a) == c) {
                const total *gone = &j.col[a];
                t.moment -= gone->moment, t.square -= gone->square, t.weight -= gone->weight;
            }
        /* a pair of columns in either order */
        double pairs = 2 * t.weight;
        if (!in->centered)
            pairs = different(in->rows, k >= 1 && k <= G ? k - 1 : SIZE_MAX) *
                    different(in->cols, k > G ? c : SIZE_MAX);
        out->moment[k] = over(2 * t.moment, pairs);
        out->square[k] = over(in->centered ? 2 * t.square : out->square[k], pairs);
        if (out->cycles) out->cycles[k] = t.weight;
    }
    ks_arena_free(&arena);
    return st;
}

/*
 * Not centred, with holes: the estimates of the matrix with 0 in its holes over those of the matrix of ones
 * and zeros.
 */
static kspec_status with_holes(const ks_run *run, const ks_pairs *in, const ks_pairs_out *out,
                               kspec_error *err) {
    const size_t count = 1 + in->rows->count + in->cols->count;
    ks_arena arena = {0};
    double *room = ks_arena_alloc(&arena, 3 * count, sizeof *room);
    const ks_pairs_out own = {out->trace, out->square, out->moment, NULL},
                       there = {room, room + count, room + 2 * count, NULL};
    const ks_run first = ks_run_part(run, 0, 0.5), second = ks_run_part(run, 0.5, 1);
    kspec_status st = room ? KSPEC_OK : ks_nomem(err, "missing entries", arena.failed);
    const ks_pairs values = {in->A, in->B, NULL, NULL, in->rows, in->cols, 0},
                   seen = {in->seen_a, in->seen_b, NULL, NULL, in->rows, in->cols, 0};
    if (!st) st = complete(&first, &values, &own, err);
    if (!st) st = complete(&second, &seen, &there, err);
    for (size_t k = 0; k < count && !st; k++) {
        out->trace[k] = over(out->trace[k], there.trace[k]);
        out->square[k] = over(out->square[k], there.square[k]);
        out->moment[k] = over(out->moment[k], there.moment[k]);
        if (out->cycles) out->cycles[k] = there.moment[k];
    }
    ks_arena_free(&arena);
    return st;
}

kspec_status ks_pairs_make(const ks_run *run, const ks_pairs *in, const ks_pairs_out *out, kspec_error *err) {
    if (in->seen_a && !in->centered) return with_holes(run, in, out, err);
    kspec_status st = complete(run, in, out, err);
    if (st || !out->cycles) return st;
    /* centred: of the n (n-1) of all pairs, those that are there */
    const double rows = (double)in->rows->n, cols = (double)in->cols->n;
    for (size_t k = 0; k < 1 + in->rows->count + in->cols->count; k++) {
        double n = rows - (k >= 1 && k <= in->rows->count), q = cols - (k > in->rows->count);
        out->cycles[k] = in->centered ? over(2 * out->cycles[k], n * (n - 1) * q * (q - 1)) : 1;
    }
    return KSPEC_OK;
}
