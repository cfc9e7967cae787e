/* Estimates m(1), m(1)^2 and m(2) pair by pair of columns, with groups and missing entries. */
#include "pairs/pairs.h"

#include "base/error.h"
#include "simd/simd.h"
#include "team/team.h"

#include <math.h>
#include <string.h>

/*
 * For columns a < c of the trials A and B, let x and z be A and B in column a, and let y and w be B and A in
 * column c. A unit g is a group of rows (or one row). Let
 *
 *     P = xy, R = zw, D = xz, E = yw, x, y, z, w be sums over the rows of a unit.
 *
 * A cycle of order 2 contains P from one unit and R from another, and two cycles of order 1 contain D and E.
 * Centring replaces a product such as P = xy by x from one unit times y from another, with a minus sign. Let
 * S be the sum over different units. Then
 *
 *     m(2):    S(P,R) / N_2 - (S(x,y,R) + S(z,w,P)) / N_3 + S(x,y,z,w) / N_4,
 *     m(1)^2:  S(D,E) / N_2 - (S(x,z,E) + S(y,w,D)) / N_3 + S(x,y,z,w) / N_4,
 *
 * where N_k = S(s,...,s) counts the k-tuples of rows from different units, and s is the number of rows of a
 * unit. Each S follows from sums over units of products of P, R, D and so on. The code computes these sums
 * with all units and without each unit. If all tuples have equal weight, each term is the mean over the same
 * tuples of four rows. Then a pair of units has the number of pairs of rows from two other units as its
 * weight, and three units have the number of rows in other units.
 */
enum { STRIP = KS_PAIRS_STRIP, MAX_CHUNKS = 64 };

/*
 * Sums over pairs of columns: of estimates times weights, of the weights, and of the sizes of the moment's
 * terms.
 */
typedef struct {
    double moment, square, weight, terms;
} total;

/*
 * Contains the scratch of one worker. A strip is a range of STRIP consecutive columns, and y, w and seen
 * contain all rows of a strip. x, z and here contain one column.
 */
typedef struct {
    double *y, *w, *seen, *x, *z, *here;
} scratch;

typedef struct {
    const ks_pairs *in;
    const ks_simd *k;
    size_t chunks, units;
    ks_group_order order;
    scratch *workers;
    /*
     * Each chunk has sums over all its pairs, over the pairs with each column, and without each group of rows
     * (three vectors of lanes).
     */
    total *all, *col;
    double *left;
    /* If groups are centred, the counts for ks_pairs_panel.counts. Otherwise NULL. */
    double *counts;
} job;

/* Returns 1 if both trials contain this entry, and 0 otherwise. */
static double seen_at(const ks_pairs *in, size_t at) {
    return in->seen_a ? in->seen_a[at] * in->seen_b[at] : 1;
}

/* ---- pairs ---- */

static void add(total *to, const total *from) {
    to->moment += from->moment;
    to->square += from->square;
    to->weight += from->weight;
    to->terms += from->terms;
}

/*
 * Copies all rows of the columns c0 ... c0+count-1 to the strip, and fills the remaining columns of the strip
 * with zeros.
 */
static void take_strip(const job *j, size_t c0, size_t count, scratch *w) {
    const ks_pairs *in = j->in;
    for (size_t i = 0; i < in->rows->n; i++)
        for (size_t k = 0; k < STRIP; k++) {
            const size_t at = j->order.place[i] * in->cols->n + c0 + k;
            w->y[i * STRIP + k] = k < count ? in->B[at] : 0;
            w->w[i * STRIP + k] = k < count ? in->A[at] : 0;
            if (in->seen_a) w->seen[i * STRIP + k] = k < count ? seen_at(in, at) : 0;
        }
}

static void take_column(const job *j, size_t a, scratch *w) {
    const ks_pairs *in = j->in;
    for (size_t i = 0; i < in->rows->n; i++) {
        const size_t at = j->order.place[i] * in->cols->n + a;
        w->x[i] = in->A[at], w->z[i] = in->B[at];
        if (in->seen_a) w->here[i] = seen_at(in, at);
    }
}

/*
 * Adds the pairs of each column of the strip at c0 with all earlier columns. If columns are complete, also
 * adds the pairs of a column with itself.
 */
static void strip(const job *j, size_t chunk, size_t c0, scratch *w) {
    const ks_pairs *in = j->in;
    const size_t Q = in->cols->n, count = Q - c0 < STRIP ? Q - c0 : STRIP;
    const ks_pairs_panel panel = {.units = j->units,
                                  .first = in->rows->of ? j->order.first : NULL,
                                  .x = w->x,
                                  .z = w->z,
                                  .here = in->seen_a ? w->here : NULL,
                                  .y = w->y,
                                  .w = w->w,
                                  .seen = in->seen_a ? w->seen : NULL,
                                  .centered = in->centered,
                                  .counts = j->counts,
                                  .alike = j->counts && in->alike && !in->seen_a};
    double keep[STRIP], each[4 * STRIP];
    take_strip(j, c0, count, w);
    for (size_t a = 0; a < c0 + count; a++) {
        for (size_t k = 0; k < STRIP; k++) {
            keep[k] = k < count && c0 + k > a && ks_group_of(in->cols, a) != ks_group_of(in->cols, c0 + k);
            /* Other pairs count in both orders, so a column with itself counts half. */
            if (in->complete && c0 + k == a) keep[k] = 0.5;
        }
        if (a + 1 == c0 + count && !in->complete) continue;
        take_column(j, a, w);
        j->k->pairs_strip(&panel, keep, each, j->left + chunk * j->units * 3 * j->k->lanes);
        for (size_t k = 0; k < count; k++) {
            const total t = {each[k], each[STRIP + k], each[2 * STRIP + k], each[3 * STRIP + k]};
            add(&j->all[chunk], &t);
            add(&j->col[chunk * Q + a], &t);
            add(&j->col[chunk * Q + c0 + k], &t);
        }
    }
}

/* Processes the strips chunk, chunk + chunks, ..., so that all chunks take similar time. */
static kspec_status strips(void *ctx, size_t chunk, const ks_worker *worker) {
    const job *j = ctx;
    for (size_t c0 = chunk * STRIP; c0 < j->in->cols->n; c0 += j->chunks * STRIP)
        strip(j, chunk, c0, &j->workers[worker->index]);
    return KSPEC_OK;
}

/* Adds sign times the first four powers of a group's size to p. */
static void add_powers(double size, double sign, double *p) {
    for (int k = 1; k <= 4; k++) p[k] += sign *= size;
}

/*
 * Counts the tuples N_2, N_3 and N_4 of rows from different groups, for all groups and without each group.
 * The counts follow from the power sums of sizes, and are 0 if groups are too few. The function also stores
 * the first two power sums.
 */
static void count_tuples(const ks_groups *rows, double *N) {
    double p[5] = {0};
    for (size_t g = 0; g < rows->count; g++) add_powers((double)ks_group_size(rows, g), 1, p);
    for (size_t g = 0; g <= rows->count; g++, N += KS_PAIRS_COUNTS) {
        const int one = g < rows->count;
        const size_t left = rows->count - (size_t)one;
        if (one) add_powers((double)ks_group_size(rows, g), -1, p);
        N[0] = p[1] * p[1] - p[2];
        N[1] = left < 3 ? 0 : p[1] * (p[1] * p[1] - 3 * p[2]) + 2 * p[3];
        N[2] =
            left < 4 ? 0 : p[1] * (p[1] * (p[1] * p[1] - 6 * p[2]) + 8 * p[3]) + 3 * p[2] * p[2] - 6 * p[4];
        N[3] = p[1], N[4] = p[2];
        if (one) add_powers((double)ks_group_size(rows, g), 1, p);
    }
}

/*
 * Computes the sums over all pairs of columns. j->all[0] receives the total, j->col[k] the sums over pairs
 * with column k, and row[g] the sums without group g.
 */
static kspec_status every_pair(const ks_run *run, job *j, total *row, ks_arena *arena, kspec_error *err) {
    const size_t Q = j->in->cols->n, n = j->in->rows->n, all = (Q + STRIP - 1) / STRIP;
    kspec_status st = ks_simd_choose(&j->k, err);
    if (!st) st = ks_group_order_alloc(&j->order, j->in->rows, arena, err);
    if (st) return st;
    for (size_t g = 0; g < j->units; g++) j->order.group[g] = g;
    ks_group_order_set(&j->order, j->in->rows);
    j->chunks = all < MAX_CHUNKS ? all : MAX_CHUNKS;
    const size_t lanes = j->k->lanes, workers = (size_t)ks_workers(run, j->chunks);
    j->all = ks_arena_zalloc(arena, j->chunks, sizeof(total));
    j->col = ks_arena_zalloc(arena, ks_size(j->chunks, Q), sizeof(total));
    j->left = ks_arena_zalloc(arena, ks_size(j->chunks * 3 * lanes, j->units), sizeof(double));
    if (j->in->centered && j->in->rows->of)
        j->counts = ks_arena_alloc(arena, ks_size(KS_PAIRS_COUNTS, j->units + 1), sizeof(double));
    if (j->counts) count_tuples(j->in->rows, j->counts);
    j->workers = ks_arena_zalloc(arena, workers, sizeof(scratch));
    for (size_t k = 0; k < workers && !arena->failed; k++)
        j->workers[k] = (scratch){.y = ks_arena_alloc(arena, n, STRIP * sizeof(double)),
                                  .w = ks_arena_alloc(arena, n, STRIP * sizeof(double)),
                                  .seen = ks_arena_alloc(arena, n, STRIP * sizeof(double)),
                                  .x = ks_arena_alloc(arena, n, sizeof(double)),
                                  .z = ks_arena_alloc(arena, n, sizeof(double)),
                                  .here = ks_arena_alloc(arena, n, sizeof(double))};
    if (arena->failed) return ks_nomem(err, "pairs of columns", arena->failed);
    const ks_share shares[] = {{j->all, sizeof(total), j->chunks, 1},
                               {j->col, ks_size(Q, sizeof(total)), j->chunks, 1},
                               {j->left, ks_size(3 * lanes * sizeof(double), j->units), j->chunks, 1}};
    st = ks_team_for(run, "pairs", j->chunks, strips, j, shares, 3, err);
    for (size_t c = 0; c < j->chunks && !st; c++) {
        if (c > 0) add(&j->all[0], &j->all[c]);
        for (size_t a = 0; a < Q && c > 0; a++) add(&j->col[a], &j->col[c * Q + a]);
        for (size_t g = 0; g < j->units; g++) {
            const double *left = j->left + (c * j->units + g) * 3 * lanes;
            for (size_t l = 0; l < lanes; l++)
                add(&row[g], &(total){left[l], left[lanes + l], left[2 * lanes + l], 0});
        }
    }
    return st;
}

/* ---- trace ---- */

/*
 * Computes m(1) of one column times the weight N_1, without the unit whose sums are in `own`. The value is
 * the sum of D. For centred data, the function subtracts S(x,z) N_1/N_2. If pairs of rows have equal weight,
 * D of a unit counts once for every row of other units.
 */
enum { T_N, T_X, T_Z, T_D, T_XZ, T_NN, T_ND, T_SUMS };

static void trace_of(int centered, int alike, const double *s, const double *own, double *value,
                     double *weight) {
    double t[T_SUMS];
    for (int k = 0; k < T_SUMS; k++) t[k] = s[k] - (own ? own[k] : 0);
    const double pairs = t[T_N] * t[T_N] - t[T_NN];
    *value = *weight = 0;
    if (centered ? pairs < 0.5 : t[T_N] < 0.5) return;
    *weight = t[T_N];
    *value = t[T_D] - (centered ? (t[T_X] * t[T_Z] - t[T_XZ]) * t[T_N] / pairs : 0);
    if (centered && alike) *value += (t[T_N] * t[T_D] - t[T_ND]) * t[T_N] / pairs - t[T_D];
}

/* Returns the sum of the absolute values of the terms of trace(). */
static double trace_terms(int centered, const double *s) {
    const double pairs = s[T_N] * s[T_N] - s[T_NN];
    if (!centered || pairs < 0.5) return fabs(s[T_D]);
    return fabs(s[T_D]) + (fabs(s[T_X] * s[T_Z]) + fabs(s[T_XZ])) * s[T_N] / pairs;
}

/* Computes the sums of unit g in column a. */
static void trace_unit(const ks_pairs *in, size_t g, size_t a, double *own) {
    const ks_groups *rows = in->rows;
    const size_t size = ks_group_size(rows, g), Q = in->cols->n;
    memset(own, 0, T_SUMS * sizeof *own);
    for (size_t i = 0; i < size; i++) {
        const size_t at = (rows->of ? rows->member[rows->start[g] + i] : g) * Q + a;
        const double seen = seen_at(in, at);
        own[T_N] += seen;
        own[T_X] += seen * in->A[at], own[T_Z] += seen * in->B[at];
        own[T_D] += seen * in->A[at] * in->B[at];
    }
    own[T_XZ] = own[T_X] * own[T_Z];
    own[T_NN] = own[T_N] * own[T_N];
    own[T_ND] = own[T_N] * own[T_D];
}

/*
 * Computes 1 + rows.count + cols.count values and weights of m(1). Returns the sum of |terms| of the first
 * value.
 */
static double traces(const ks_pairs *in, double *value, double *weight) {
    const size_t G = in->rows->count, Q = in->cols->n, H = in->cols->count;
    const int alike = in->alike && in->rows->of && !in->seen_a;
    double terms = 0;
    memset(value, 0, (1 + G + H) * sizeof *value);
    memset(weight, 0, (1 + G + H) * sizeof *weight);
    for (size_t a = 0; a < Q; a++) {
        double s[T_SUMS] = {0}, own[T_SUMS], v, w;
        for (size_t g = 0; g < G; g++) {
            trace_unit(in, g, a, own);
            for (int k = 0; k < T_SUMS; k++) s[k] += own[k];
        }
        trace_of(in->centered, alike, s, NULL, &v, &w);
        terms += trace_terms(in->centered, s);
        value[0] += v, weight[0] += w;
        const size_t own_group = 1 + G + ks_group_of(in->cols, a);
        value[own_group] -= v, weight[own_group] -= w;
        for (size_t g = 0; g < G; g++) {
            trace_unit(in, g, a, own);
            trace_of(in->centered, alike, s, own, &v, &w);
            value[1 + g] += v, weight[1 + g] += w;
        }
    }
    for (size_t c = 0; c < H; c++) value[1 + G + c] += value[0], weight[1 + G + c] += weight[0];
    return terms;
}

/* ---- square ---- */

/*
 * Let T be the sum of u = x z over all entries. T_g is the sum over a group of rows, T_c the sum over a group
 * of columns, and T_gc the sum over the entries in both groups. The sum of u u' over different groups of rows
 * and of columns is T^2 - sum T_g^2 - sum T_c^2 + sum T_gc^2. For complete columns this sum is T^2 - sum
 * T_g^2.
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
    for (size_t c = 0; c < H && !in->complete; c++) sum -= cols[c] * cols[c];
    for (size_t k = 0; k < G * H && !in->complete; k++) sum += block[k] * block[k];
    out[0] = sum;
    for (size_t g = 0; g < G; g++) {
        double through = rows[g] * (T - rows[g]);
        for (size_t c = 0; c < H && !in->complete; c++)
            through -= block[g * H + c] * (cols[c] - block[g * H + c]);
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

/* Counts the ordered pairs of units in different groups, without the group `without`. */
static double different(const ks_groups *g, size_t without) {
    double all = (double)g->n, own = without < g->count ? (double)ks_group_size(g, without) : 0, squares = 0;
    for (size_t k = 0; k < g->count; k++)
        squares += (double)ks_group_size(g, k) * (double)ks_group_size(g, k);
    return (all - own) * (all - own) - (squares - own * own);
}

/* ---- estimates ---- */

static double over(double value, double count) { return count > 0 ? value / count : NAN; }

static kspec_status complete(const ks_run *run, const ks_pairs *in, const ks_pairs_out *out,
                             kspec_error *err) {
    const size_t Q = in->cols->n, G = in->rows->count, H = in->cols->count, count = 1 + G + H;
    ks_arena arena = {0};
    job j = {.in = in, .units = G};
    double *weight = ks_arena_alloc(&arena, count, sizeof *weight);
    total *row = ks_arena_zalloc(&arena, G, sizeof *row);
    kspec_status st =
        arena.failed ? ks_nomem(err, "pairs", arena.failed) : every_pair(run, &j, row, &arena, err);
    double first_terms = st ? 0 : traces(in, out->trace, weight);
    if (!st && out->terms) out->terms[0] = first_terms / weight[0];
    for (size_t k = 0; k < count && !st; k++) out->trace[k] = over(out->trace[k], weight[k]);
    if (!st && !in->centered) st = squares(in, out->square, err);
    for (size_t k = 0; k < count && !st; k++) {
        total t = k == 0 || k > G ? j.all[0] : row[k - 1];
        const size_t c = k - 1 - G;
        for (size_t a = 0; a < Q && k > G; a++)
            if (ks_group_of(in->cols, a) == c) {
                const total *gone = &j.col[a];
                t.moment -= gone->moment, t.square -= gone->square, t.weight -= gone->weight;
            }
        /* A pair of columns counts in both orders. */
        double pairs = 2 * t.weight;
        if (!in->centered)
            pairs = different(in->rows, k >= 1 && k <= G ? k - 1 : SIZE_MAX) *
                    (in->complete ? (double)Q * (double)Q : different(in->cols, k > G ? c : SIZE_MAX));
        out->moment[k] = over(2 * t.moment, pairs);
        out->square[k] = over(in->centered ? 2 * t.square : out->square[k], pairs);
        if (out->cycles) out->cycles[k] = t.weight;
        if (out->terms && k == 0) out->terms[1] = 2 * t.terms / pairs;
    }
    ks_arena_free(&arena);
    return st;
}

/*
 * Estimates moments of data that have missing entries and are not centred. The function divides the estimates
 * of the matrix, with zeros for missing entries, by the estimates of the zero-one mask.
 */
static kspec_status with_holes(const ks_run *run, const ks_pairs *in, const ks_pairs_out *out,
                               kspec_error *err) {
    const size_t count = 1 + in->rows->count + in->cols->count;
    ks_arena arena = {0};
    double *room = ks_arena_alloc(&arena, 3 * count, sizeof *room), terms[2];
    if (!room) return ks_nomem(err, "missing entries", arena.failed);
    const ks_pairs_out own = {out->trace, out->square, out->moment, NULL, out->terms},
                       there = {room, room + count, room + 2 * count, NULL, terms};
    const ks_run first = ks_run_part(run, 0, 0.5), second = ks_run_part(run, 0.5, 1);
    kspec_status st = KSPEC_OK;
    const ks_pairs values = {in->A, in->B, NULL, NULL, in->rows, in->cols, 0},
                   seen = {in->seen_a, in->seen_b, NULL, NULL, in->rows, in->cols, 0};
    if (!st) st = complete(&first, &values, &own, err);
    if (!st) st = complete(&second, &seen, &there, err);
    /* The sum of |terms| of a ratio v/w is (terms of v + |v/w| terms of w) / w. */
    for (int n = 0; n < 2 && !st && out->terms; n++) {
        const double v = n ? out->moment[0] : out->trace[0], w = n ? there.moment[0] : there.trace[0];
        out->terms[n] = (out->terms[n] + fabs(v / w) * terms[n]) / w;
    }
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
    /*
     * For centred data, compute the fraction of pairs of rows that are known, out of n (n-1) for each pair of
     * columns.
     */
    const double rows = (double)in->rows->n, cols = (double)in->cols->n;
    for (size_t k = 0; k < 1 + in->rows->count + in->cols->count; k++) {
        double n = rows - (k >= 1 && k <= in->rows->count), q = cols - (k > in->rows->count);
        out->cycles[k] = in->centered ? over(2 * out->cycles[k], n * (n - 1) * q * (q - 1)) : 1;
    }
    return KSPEC_OK;
}
