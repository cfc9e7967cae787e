/* Adds groups of rows to a second-order state, moves its centre, and merges two states. */
#include "pairs/grouped.h"

#include "base/error.h"
#include "linalg/linalg.h"
#include "pairs/stream.h"

#include <math.h>
#include <string.h>

enum { BAND = 128, BLOCK = 1024 };

const int ks_grouped_first[3] = {0, 1, 0}, ks_grouped_second[3] = {0, 1, 1};

/* ---- arrays ---- */

static size_t vectors(size_t all) { return ks_size(KS_G_VECTORS, all); }

size_t ks_grouped_bytes(const size_t cols[2], int centered, int one_size) {
    const size_t all = ks_size_add(cols[0], cols[1]), matrices = !centered ? 1 : one_size ? 2 : 5;
    return ks_size(ks_size_add(vectors(all), ks_size(matrices, ks_size(all, all))), sizeof(double));
}

kspec_status ks_grouped_open(ks_grouped *g, const size_t cols[2], int centered, ks_arena *arena,
                             kspec_error *err) {
    *g = (ks_grouped){
        .cols = {cols[0], cols[1]}, .all = cols[0] + cols[1], .centered = centered, .arena = arena};
    double *at = ks_arena_zalloc(arena, vectors(g->all), sizeof *at);
    g->W[0] = ks_arena_zalloc(arena, ks_size(g->all, g->all), sizeof(double));
    if (centered) g->E[0] = ks_arena_zalloc(arena, ks_size(g->all, g->all), sizeof(double));
    if (arena->failed) return ks_nomem(err, "the products of columns", arena->failed);
    for (int k = 0; k < KS_G_VECTORS; k++) g->vector[k] = at + (size_t)k * g->all;
    return KSPEC_OK;
}

static double power_of(double n, int k) { return k == 0 ? 1 : k == 1 ? n : n * n; }

ks_grouped_matrix ks_grouped_w(const ks_grouped *g, int k) {
    if (k && !g->W[k]) return (ks_grouped_matrix){g->W[0], power_of(g->size, k)};
    return (ks_grouped_matrix){g->W[k], 1};
}

ks_grouped_matrix ks_grouped_e(const ks_grouped *g, int k) {
    if (k == 2 && !g->E[1]) return (ks_grouped_matrix){g->E[0], g->size};
    return (ks_grouped_matrix){g->E[k - 1], 1};
}

static void copy_scaled(const double *from, double f, size_t n, double *to) {
    for (size_t k = 0; k < n; k++) to[k] = f * from[k];
}

kspec_status ks_grouped_expand(ks_grouped *g, double size, kspec_error *err) {
    const size_t n = g->all * g->all;
    if (!g->centered || g->E[1] || (size > 0 && (!g->groups || size == g->size))) return KSPEC_OK;
    const size_t wanted = ks_size(3, ks_size(n, sizeof(double)));
    kspec_status st = ks_check_memory(
        err, wanted,
        "groups of different sizes, which need three more matrices of %zu x %zu products (%.0f MB)", g->all,
        g->all, ks_megabytes(wanted));
    if (st) return st;
    double *more[3];
    for (int k = 0; k < 3; k++) more[k] = ks_arena_alloc(g->arena, n, sizeof **more);
    if (g->arena->failed) return ks_nomem(err, "groups of different sizes", g->arena->failed);
    copy_scaled(g->W[0], g->size, n, more[0]);
    copy_scaled(g->W[0], g->size * g->size, n, more[1]);
    copy_scaled(g->E[0], g->size, n, more[2]);
    g->W[1] = more[0], g->W[2] = more[1], g->E[1] = more[2], g->size = 0;
    return KSPEC_OK;
}

static void loop(int threads, size_t chunks, ks_chunk_fn fn, void *ctx) {
    (void)ks_parallel_for(&(ks_run){.threads = threads, .to = 1}, chunks, fn, ctx, NULL);
}

static size_t bands(size_t all) { return (all + BAND - 1) / BAND; }

static double dot_of(const ks_grouped *g, const double *x, const double *y, int a) {
    const size_t at = a ? g->cols[0] : 0;
    return ks_dot(g->cols[a], x + at, y + at);
}

static int matrices(const ks_grouped *g) { return g->cols[1] ? 2 : 1; }
static int blocks(const ks_grouped *g) { return g->cols[1] ? 3 : 1; }

/* Returns the trace of a matrix over the columns of data matrix a. */
static double trace_of(const ks_grouped *g, ks_grouped_matrix m, int a) {
    double sum = 0;
    for (size_t k = a ? g->cols[0] : 0; k < (a ? g->all : g->cols[0]); k++) sum += m.M[k * g->all + k];
    return m.factor * sum;
}

/* ---- centre ---- */

/* Sets out[b] to M d_b for the two parts of d. Only the upper triangle of M is valid. */
static void times(int threads, const ks_grouped *g, ks_grouped_matrix m, const double *d, double *out[2],
                  double *partial) {
    const ks_stream view = {.cols = {g->cols[0], g->cols[1]}, .all = g->all, .G = (double *)m.M};
    for (int b = 0; b < 2; b++) memset(out[b], 0, g->all * sizeof **out);
    ks_stream_times(threads, &view, d, m.factor, out, partial);
}

typedef struct {
    double *M;
    size_t all;
    const double *p, *e;
    double S;
} shift_job;

/* Replaces a band of rows of M by M - p e' - e p' + S e e'. */
static kspec_status shift_band(void *ctx, size_t chunk, const ks_worker *worker) {
    (void)worker;
    const shift_job *j = ctx;
    const size_t from = chunk * BAND, to = j->all - from < BAND ? j->all : from + BAND;
    for (size_t i = from; i < to; i++)
        for (size_t k = i; k < j->all; k++)
            j->M[i * j->all + k] += j->e[i] * (j->S * j->e[k] - j->p[k]) - j->p[i] * j->e[k];
    return KSPEC_OK;
}

/* Returns the sum over groups of n^2 |u - e|^2 |u - e|^2 for block w of the two data matrices. */
static double shifted_q(const ks_grouped *g, const double *e, const double E[2], const double q2[2], int w,
                        double *E2e[2]) {
    const int a = ks_grouped_first[w], b = ks_grouped_second[w];
    const double *p2 = g->vector[KS_G_P2], pa = dot_of(g, e, p2, a), pb = dot_of(g, e, p2, b);
    return g->number[KS_G_Q + w] - 2 * dot_of(g, e, g->vector[KS_G_V + a], b) -
           2 * dot_of(g, e, g->vector[KS_G_V + b], a) + E[b] * q2[a] + E[a] * q2[b] +
           4 * dot_of(g, E2e[b], e, a) - 2 * E[b] * pa - 2 * E[a] * pb + E[a] * E[b] * g->S[1];
}

/* Moves the numbers and vectors with weight n^k (k = 1 or 2) to the new centre. We[b] is W_k e_b. */
static void shift_weight(ks_grouped *g, int k, const double *e, const double E[2], double *We[2]) {
    const int u = k == 1 ? KS_G_U1 : KS_G_U2, t = k == 1 ? KS_G_T1 : KS_G_T2;
    const ks_grouped_matrix W = ks_grouped_w(g, k);
    double tau[2] = {0};
    for (int w = 0; w < blocks(g); w++) {
        const int a = ks_grouped_first[w], b = ks_grouped_second[w];
        g->number[KS_G_Z + 2 * w + k - 1] +=
            dot_of(g, We[b], e, a) - dot_of(g, e, g->vector[u + b], a) - dot_of(g, e, g->vector[u + a], b);
    }
    for (int a = 0; a < matrices(g); a++) {
        tau[a] = trace_of(g, W, a);
        g->number[KS_G_TR + 2 * a + k - 1] += E[a] * tau[a] - 2 * dot_of(g, e, g->vector[t], a);
    }
    for (size_t j = 0; j < g->all; j++) {
        const double d = W.factor * W.M[j * g->all + j];
        double *z = &g->vector[KS_G_COLUMN_Z + k - 1][j], *c = &g->vector[KS_G_COLUMN_U + k - 1][j];
        *z += e[j] * (e[j] * d - 2 * *c), *c -= e[j] * d;
        for (int b = 0; b < matrices(g); b++) g->vector[u + b][j] -= We[b][j];
        g->vector[t][j] -= tau[j >= g->cols[0]] * e[j];
    }
}

static void shift_squares(ks_grouped *g, const double *e, const double E[2], const double q2[2],
                          double *E2e[2]) {
    const ks_grouped_matrix E2 = ks_grouped_e(g, 2);
    const double *p2 = g->vector[KS_G_P2], S = g->S[1];
    double q[3] = {0}, less[2] = {0};
    for (int w = 0; w < blocks(g); w++) q[w] = shifted_q(g, e, E, q2, w, E2e);
    memcpy(g->number + KS_G_Q, q, (size_t)blocks(g) * sizeof *q);
    for (int a = 0; a < matrices(g); a++) less[a] = q2[a] - 2 * dot_of(g, e, p2, a) + E[a] * S;
    for (size_t j = 0; j < g->all; j++) {
        const double d = E2.factor * E2.M[j * g->all + j], f = e[j];
        double *q4 = &g->vector[KS_G_COLUMN_Q][j], *v = &g->vector[KS_G_COLUMN_V][j];
        *q4 += f * (f * (6 * d - f * (4 * p2[j] - f * S)) - 4 * *v);
        *v -= f * (3 * d - f * (3 * p2[j] - f * S));
        for (int a = 0; a < matrices(g); a++)
            g->vector[KS_G_V + a][j] += E[a] * p2[j] - 2 * E2e[a][j] - f * less[a];
    }
}

/* Adds e to the centre, which is the sum of a high and a low part, without rounding. */
static void move_centre(ks_grouped *g, const double *e) {
    for (size_t j = 0; j < g->all; j++) {
        double *high = &g->vector[KS_G_CENTRE][j], *low = &g->vector[KS_G_LOW][j];
        const double a = *high, b = e[j] + *low, sum = a + b, rest = sum - a;
        *high = sum, *low = (a - (sum - rest)) + (b - rest);
    }
}

/* Moves the centre by e. room is scratch of shift_room() numbers. */
static void shift(int threads, ks_grouped *g, const double *e, double *room) {
    double *out[2] = {room, room + g->all}, *partial = room + 2 * g->all;
    double *p1 = g->vector[KS_G_P1], *p2 = g->vector[KS_G_P2], E[2], q2[2];
    for (int a = 0; a < 2; a++) E[a] = dot_of(g, e, e, a), q2[a] = trace_of(g, ks_grouped_e(g, 2), a);
    for (int k = 1; k < 3; k++) {
        times(threads, g, ks_grouped_w(g, k), e, out, partial);
        shift_weight(g, k, e, E, out);
    }
    times(threads, g, ks_grouped_e(g, 2), e, out, partial);
    shift_squares(g, e, E, q2, out);
    shift_job first = {g->E[0], g->all, p1, e, g->S[0]}, second = {g->E[1], g->all, p2, e, g->S[1]};
    loop(threads, bands(g->all), shift_band, &first);
    if (g->E[1]) loop(threads, bands(g->all), shift_band, &second);
    for (size_t j = 0; j < g->all; j++) p1[j] -= g->S[0] * e[j], p2[j] -= g->S[1] * e[j];
    move_centre(g, e);
}

static size_t shift_room(size_t all) { return ks_size(ks_size_add(3, ks_size(2, bands(all))), all); }

/*
 * Moves the centre to the mean of all rows. room contains space for `all` numbers, followed by scratch for
 * shift().
 */
static void recentre(int threads, ks_grouped *g, double *room) {
    for (size_t j = 0; j < g->all; j++) room[j] = g->vector[KS_G_P1][j] / g->S[0];
    shift(threads, g, room, room + g->all);
    g->moved = g->S[0];
}

kspec_status ks_grouped_centre(int threads, ks_grouped *g, kspec_error *err) {
    ks_arena arena = {0};
    if (!g->centered || !g->groups) return KSPEC_OK;
    double *room = ks_arena_alloc(&arena, shift_room(g->all), sizeof *room);
    if (!room) return ks_nomem(err, "moving the centre", arena.failed);
    recentre(threads, g, room);
    ks_arena_free(&arena);
    return KSPEC_OK;
}

/* ---- unit ---- */

static int degree_of(int vector) {
    if (vector <= KS_G_P2) return 1;
    return vector < KS_G_OWN || (vector >= KS_G_COLUMN_U && vector < KS_G_COLUMN_Q) || vector == KS_G_COLUMN_V
               ? 3
               : 4;
}

static void scale_array(double *x, size_t n, double f) {
    for (size_t k = 0; k < n && x; k++) x[k] *= f;
}

static void rescale(ks_grouped *g, int exponent) {
    const double f = ldexp(1, g->exponent - exponent), of[5] = {1, f, f * f, f * f * f, f * f * f * f};
    for (int v = 0; v < KS_G_VECTORS; v++) scale_array(g->vector[v], g->all, of[degree_of(v)]);
    for (int k = 0; k < 3; k++) scale_array(g->W[k], g->all * g->all, of[2]);
    for (int k = 0; k < 2; k++) scale_array(g->E[k], g->all * g->all, of[2]);
    scale_array(g->number, KS_G_NUMBERS, of[4]);
    g->exponent = exponent;
}

static void set_unit(ks_grouped *g, const double *x, size_t count) {
    int e;
    if (!ks_stream_unit(x, count, g->known, g->exponent, &e)) return;
    if (g->known)
        rescale(g, e);
    else
        g->known = 1, g->exponent = e; /* sums are 0 */
}

/* ---- blocks ---- */

typedef struct {
    ks_grouped *g;
    double *x;
    const size_t *first; /* the groups' first rows */
    size_t groups;
    /*
     * u, Wu[b] and d contain one line of `all` numbers for each group. Wu[b] is W u_b, and d is the diagonal
     * of W.
     */
    double scale, *u;
    double *Wu[2], *d;
    double *numbers; /* KS_G_NUMBERS per group */
    double *r, *t;   /* two per group */
    double **square; /* per worker */
} block;

static size_t size_of(const block *b, size_t k) { return b->first[k + 1] - b->first[k]; }
static double *rows_of(const block *b, size_t k) { return b->x + (b->first[k] - b->first[0]) * b->g->all; }

void ks_group_centre(const ks_grouped *g, size_t n, double *x, double *mean) {
    const size_t all = g->all;
    memset(mean, 0, all * sizeof *mean);
    if (!g->centered) return;
    for (size_t k = 0; k < all; k++) {
        double high = 0, low = 0;
        for (size_t i = 0; i < n; i++) high += x[i * all + k] - x[k];
        high = x[k] + high / (double)n;
        for (size_t i = 0; i < n; i++) low += x[i * all + k] -= high;
        low /= (double)n;
        for (size_t i = 0; i < n; i++) x[i * all + k] -= low;
        mean[k] = (high - g->vector[KS_G_CENTRE][k]) + (low - g->vector[KS_G_LOW][k]);
    }
}

/*
 * Computes |W|^2 for each block from products of rows, or from products of columns if there are fewer
 * columns.
 */
static void squares_of(const ks_grouped *g, const double *x, size_t n, double *room, double *out) {
    const size_t all = g->all;
    out[0] = out[1] = out[2] = 0;
    if (n <= all) {
        double *K[2] = {room, room + n * n};
        for (int a = 0; a < matrices(g); a++) {
            const double *at = x + (a ? g->cols[0] : 0);
            ks_gemm(0, 1, n, n, g->cols[a], 1, at, all, at, all, 0, K[a], n);
        }
        for (int w = 0; w < blocks(g); w++)
            out[w] = ks_dot(n * n, K[ks_grouped_first[w]], K[ks_grouped_second[w]]);
        return;
    }
    ks_gemm(1, 0, all, all, n, 1, x, all, x, all, 0, room, all);
    for (int w = 0; w < blocks(g); w++) {
        const int a = ks_grouped_first[w], b = ks_grouped_second[w];
        const size_t from = a ? g->cols[0] : 0, at = b ? g->cols[0] : 0;
        for (size_t i = from; i < from + g->cols[a]; i++)
            out[w] += ks_dot(g->cols[b], room + i * all + at, room + i * all + at);
    }
}

static kspec_status one_group(void *ctx, size_t k, const ks_worker *worker) {
    const block *b = ctx;
    const ks_grouped *g = b->g;
    const size_t all = g->all, n = size_of(b, k);
    double *x = rows_of(b, k), *u = b->u + k * all, *d = b->d + k * all, *r = b->r + 2 * k, *t = b->t + 2 * k,
           *number = b->numbers + k * KS_G_NUMBERS, squares[3], z[3] = {0};
    for (size_t i = 0; i < n * all; i++) x[i] *= b->scale;
    ks_group_centre(g, n, x, u);
    memset(d, 0, all * sizeof *d);
    for (int a = 0; a < 2; a++) memset(b->Wu[a] + k * all, 0, all * sizeof *d);
    for (size_t i = 0; i < n; i++) {
        const double *y = x + i * all;
        double along[2] = {0};
        for (size_t j = 0; j < all; j++) d[j] += y[j] * y[j];
        for (int a = 0; a < matrices(g) && g->centered; a++) {
            double *Wu = b->Wu[a] + k * all;
            along[a] = dot_of(g, y, u, a);
            for (size_t j = 0; j < all; j++) Wu[j] += along[a] * y[j];
        }
        for (int w = 0; w < 3; w++) z[w] += along[ks_grouped_first[w]] * along[ks_grouped_second[w]];
    }
    for (int a = 0; a < 2; a++) {
        r[a] = dot_of(g, u, u, a), t[a] = 0;
        for (size_t j = a ? g->cols[0] : 0; j < (a ? all : g->cols[0]); j++) t[a] += d[j];
    }
    squares_of(g, x, n, b->square[worker->index], squares);
    for (int w = 0; w < 3; w++) {
        const int a = ks_grouped_first[w], c = ks_grouped_second[w];
        for (int p = 0; p < 3; p++) number[KS_G_W2 + 3 * w + p] = power_of((double)n, p) * squares[w];
        for (int p = 1; p < 3; p++) number[KS_G_Z + 2 * w + p - 1] = power_of((double)n, p) * z[w];
        number[KS_G_Q + w] = (double)n * (double)n * r[a] * r[c];
    }
    for (int a = 0; a < 2; a++) {
        for (int p = 0; p < 3; p++) number[KS_G_TT + 3 * a + p] = power_of((double)n, p) * t[a] * t[a];
        for (int p = 1; p < 3; p++) number[KS_G_TR + 2 * a + p - 1] = power_of((double)n, p) * t[a] * r[a];
    }
    return KSPEC_OK;
}

/* Adds a chunk's columns to the vectors of the state. */
static kspec_status add_columns(void *ctx, size_t chunk, const ks_worker *worker) {
    (void)worker;
    const block *b = ctx;
    ks_grouped *g = b->g;
    const size_t all = g->all, from = chunk * BAND, to = all - from < BAND ? all : from + BAND;
    double **v = g->vector;
    for (size_t k = 0; k < b->groups; k++) {
        const double n = (double)size_of(b, k), n2 = n * n;
        for (size_t j = from; j < to; j++) {
            const size_t at = k * all + j;
            const double u = b->u[at], d = b->d[at], t = b->t[2 * k + (j >= g->cols[0])], u2 = u * u;
            for (int p = 0; p < 3; p++) v[KS_G_OWN + p][j] += power_of(n, p) * d * d;
            if (!g->centered) continue;
            v[KS_G_P1][j] += n * u, v[KS_G_P2][j] += n2 * u;
            v[KS_G_T1][j] += n * t * u, v[KS_G_T2][j] += n2 * t * u;
            for (int a = 0; a < matrices(g); a++) {
                v[KS_G_U1 + a][j] += n * b->Wu[a][at], v[KS_G_U2 + a][j] += n2 * b->Wu[a][at];
                v[KS_G_V + a][j] += n2 * b->r[2 * k + (size_t)a] * u;
            }
            v[KS_G_COLUMN_Z][j] += n * d * u2, v[KS_G_COLUMN_Z + 1][j] += n2 * d * u2;
            v[KS_G_COLUMN_U][j] += n * d * u, v[KS_G_COLUMN_U + 1][j] += n2 * d * u;
            v[KS_G_COLUMN_Q][j] += n2 * u2 * u2, v[KS_G_COLUMN_V][j] += n2 * u2 * u;
        }
    }
    return KSPEC_OK;
}

static kspec_status make_tile(void *ctx, size_t chunk, const ks_worker *worker) {
    (void)worker;
    ks_tiled_make(ctx, chunk);
    return KSPEC_OK;
}

/* Adds A' B to the upper triangle of M. A has `lines` rows and `all` columns. */
static void add_product(int threads, const ks_grouped *g, const double *A, const double *B, size_t lines,
                        double *M) {
    const size_t all = g->all;
    ks_tiled p = {1, 0, all, all, lines, 1, A, all, B, all, 1, M, all, 1};
    loop(threads, ks_tiled_count(&p), make_tile, &p);
}

/* Adds the block's products to W_k and E_k. copy is scratch for the block's rows. */
static void add_matrices(int threads, const block *b, double *copy) {
    ks_grouped *g = b->g;
    const size_t all = g->all, rows = b->first[b->groups] - b->first[0];
    add_product(threads, g, b->x, b->x, rows, g->W[0]);
    if (!g->centered) return;
    for (size_t k = 0; k < b->groups && g->W[1]; k++)
        copy_scaled(rows_of(b, k), (double)size_of(b, k), size_of(b, k) * all, copy + (rows_of(b, k) - b->x));
    if (g->W[1]) add_product(threads, g, b->x, copy, rows, g->W[1]);
    if (g->W[2]) add_product(threads, g, copy, copy, rows, g->W[2]);
    for (size_t k = 0; k < b->groups; k++)
        copy_scaled(b->u + k * all, (double)size_of(b, k), all, copy + k * all);
    add_product(threads, g, b->u, copy, b->groups, g->E[0]);
    if (g->E[1]) add_product(threads, g, copy, copy, b->groups, g->E[1]);
}

/* Sets the centre of an empty state to the mean of the first groups. */
static void begin(ks_grouped *g, const double *x, size_t rows, double scale) {
    double *c = g->vector[KS_G_CENTRE];
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < g->all; j++) c[j] += x[i * g->all + j] * scale / (double)rows;
}

static void add_block(int threads, block *b, double *copy, double *room) {
    ks_grouped *g = b->g;
    const size_t rows = b->first[b->groups] - b->first[0];
    set_unit(g, b->x, rows * g->all);
    b->scale = ldexp(1, -g->exponent);
    if (!g->groups && g->centered) begin(g, b->x, rows, b->scale);
    loop(threads, b->groups, one_group, b);
    loop(threads, bands(g->all), add_columns, b);
    for (size_t k = 0; k < b->groups; k++) {
        double n = (double)size_of(b, k), power = 1;
        for (int p = 0; p < 4; p++) g->S[p] += power *= n;
        for (int i = 0; i < KS_G_NUMBERS; i++) g->number[i] += b->numbers[k * KS_G_NUMBERS + (size_t)i];
    }
    add_matrices(threads, b, copy);
    g->groups += b->groups, g->rows += rows;
    if (g->centered && g->S[0] >= 2 * g->moved) recentre(threads, g, room);
}

/* Returns the end of the block that starts at group k. The code processes the groups of a block together. */
static size_t block_from(const ks_group_rows *rows, size_t k) {
    size_t end = k + 1;
    while (end < rows->count && rows->first[end + 1] - rows->first[k] <= BLOCK) end++;
    return end;
}

kspec_status ks_grouped_add(int threads, ks_grouped *g, const ks_group_rows *rows, kspec_error *err) {
    const size_t all = g->all;
    size_t longest = 0, most = 0, most_rows = 0;
    for (size_t k = 0, end; k < rows->count; k = end) {
        end = block_from(rows, k);
        const size_t lines = rows->first[end] - rows->first[k];
        if (end - k > most) most = end - k;
        if (lines > most_rows) most_rows = lines;
    }
    for (size_t k = 0; k < rows->count; k++)
        if (rows->first[k + 1] - rows->first[k] > longest) longest = rows->first[k + 1] - rows->first[k];
    ks_arena arena = {0};
    const ks_run run = {.threads = threads, .to = 1};
    const size_t workers = (size_t)ks_workers(&run, most), side = longest < all ? longest : all;
    double *lists = ks_arena_alloc(&arena, ks_size(most, ks_size_add(ks_size(4, all), KS_G_NUMBERS + 4)),
                                   sizeof *lists),
           *copy = ks_arena_alloc(&arena, ks_size(most_rows, all), sizeof *copy),
           *room = ks_arena_alloc(&arena, shift_room(all), sizeof *room);
    block b = {.g = g, .square = ks_arena_alloc(&arena, workers, sizeof *b.square)};
    for (size_t k = 0; k < workers && b.square; k++)
        b.square[k] = ks_arena_alloc(&arena, ks_size(2, ks_size(side, side)), sizeof **b.square);
    if (arena.failed) {
        const size_t wanted = arena.failed;
        ks_arena_free(&arena);
        return ks_nomem(err, "a batch of groups", wanted);
    }
    b.u = lists, b.d = b.u + most * all, b.Wu[0] = b.d + most * all, b.Wu[1] = b.Wu[0] + most * all;
    b.numbers = b.Wu[1] + most * all, b.r = b.numbers + most * KS_G_NUMBERS, b.t = b.r + 2 * most;
    for (size_t k = 0; k < rows->count;) {
        const size_t end = block_from(rows, k);
        if (!g->groups && !g->E[1]) g->size = (double)(rows->first[1] - rows->first[0]);
        b.first = rows->first + k, b.groups = end - k, b.x = rows->x + rows->first[k] * all;
        add_block(threads, &b, copy, room);
        k = end;
    }
    ks_arena_free(&arena);
    return KSPEC_OK;
}

/* ---- merging ---- */

static void add_array(const double *from, double f, size_t n, double *to) {
    for (size_t k = 0; k < n; k++) to[k] += f * from[k];
}

kspec_status ks_grouped_merge(int threads, ks_grouped *g, const ks_grouped *other, kspec_error *err) {
    const size_t all = g->all, n = all * all;
    ks_arena arena = {0};
    if (!other->groups) return KSPEC_OK;
    kspec_status st = ks_grouped_expand(g, other->size, err);
    if (st) return st;
    double *room = ks_arena_alloc(&arena, shift_room(all), sizeof *room), *e = room;
    if (!room) return ks_nomem(err, "merging two states", arena.failed);
    if (!g->groups) {
        memcpy(g->vector[KS_G_CENTRE], other->vector[KS_G_CENTRE], all * sizeof(double));
        memcpy(g->vector[KS_G_LOW], other->vector[KS_G_LOW], all * sizeof(double));
        g->size = other->size, g->exponent = other->exponent, g->known = other->known;
    }
    if (other->known && (!g->known || other->exponent > g->exponent)) {
        if (g->known) rescale(g, other->exponent);
        g->known = 1, g->exponent = other->exponent;
    }
    const double f = other->known ? ldexp(1, other->exponent - g->exponent) : 1,
                 of[5] = {1, f, f * f, f * f * f, f * f * f * f};
    if (g->centered && g->groups) {
        for (size_t j = 0; j < all; j++)
            e[j] = (f * other->vector[KS_G_CENTRE][j] - g->vector[KS_G_CENTRE][j]) +
                   (f * other->vector[KS_G_LOW][j] - g->vector[KS_G_LOW][j]);
        shift(threads, g, e, room + all);
    }
    for (int v = KS_G_P1; v < KS_G_VECTORS; v++)
        add_array(other->vector[v], of[degree_of(v)], all, g->vector[v]);
    for (int k = 0; k < KS_G_NUMBERS; k++) g->number[k] += of[4] * other->number[k];
    for (int k = 0; k < 3; k++) {
        const ks_grouped_matrix W = ks_grouped_w(other, k);
        if (g->W[k]) add_array(W.M, of[2] * W.factor, n, g->W[k]);
    }
    for (int k = 0; k < 2 && g->centered; k++) {
        const ks_grouped_matrix E = ks_grouped_e(other, k + 1);
        if (g->E[k]) add_array(E.M, of[2] * E.factor, n, g->E[k]);
    }
    for (int p = 0; p < 4; p++) g->S[p] += other->S[p];
    g->groups += other->groups, g->rows += other->rows;
    if (g->centered) recentre(threads, g, room);
    ks_arena_free(&arena);
    return KSPEC_OK;
}
