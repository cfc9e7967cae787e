/* Estimates m(1), m(1)^2 and m(2) of one matrix, with leave-one-out values and rounding bounds. */
#include "moments/second.h"

#include "base/center.h"
#include "base/error.h"
#include "device/backend.h"
#include "device/device.h"
#include "linalg/linalg.h"
#include "device/squares.h"
#include "moments/careful.h"
#include "moments/jackknife.h"
#include "pairs/pairs.h"
#include "pairs/sums.h"
#include "device/pair_device.h"
#include "moments/trials_device.h"
#include "team/team.h"

#include <float.h>
#include <math.h>
#include <string.h>

kspec_status ks_measured_open(ks_measured *m, const kspec_matrix *phi, size_t ntrials,
                              const size_t *row_trials, const double population[2], int center,
                              const char *what, ks_arena *arena, kspec_error *err) {
    size_t none;
    return ks_measured_open_dependent(m, phi, ntrials, row_trials, &(ks_dependence){.population = population},
                                      center, what, &none, arena, err);
}

kspec_status ks_populations(kspec_sampled sampled, const uint64_t given[2], size_t P, size_t Q,
                            double population[2], kspec_error *err) {
    const size_t size[2] = {P, Q};
    if (sampled < KSPEC_SAMPLED_BOTH || sampled > KSPEC_SAMPLED_COLS)
        return ks_fail(err, KSPEC_E_ARG, "unknown sampled %d", (int)sampled);
    for (int side = 0; side < 2; side++) {
        const int complete = sampled == (side ? KSPEC_SAMPLED_ROWS : KSPEC_SAMPLED_COLS);
        const char *what = side ? "columns" : "rows", *option = side ? "population_cols" : "population_rows";
        population[side] = complete ? (double)size[side] : given[side] ? (double)given[side] : INFINITY;
        if (given[side] && given[side] < size[side])
            return ks_refuse(err, KSPEC_E_ARG, option, NULL,
                             "a population of %llu %s is smaller than the sample of %zu",
                             (unsigned long long)given[side], what, size[side]);
        if (complete && given[side] > size[side])
            return ks_refuse(err, KSPEC_E_ARG, option, NULL,
                             "a population of %llu %s contradicts sampled, which has all %zu",
                             (unsigned long long)given[side], what, size[side]);
    }
    return KSPEC_OK;
}

kspec_status ks_dependence_check(const ks_dependence *how, const size_t *row_trials, kspec_error *err) {
    const int groups = how->row_groups || how->col_groups;
    const int complete = how->alike && how->row_groups && !how->col_groups && how->population &&
                         how->population[1] <= (double)how->cols;
    for (int side = 0; side < 2 && how->population && (groups || how->pairwise); side++)
        if (!isinf(how->population[side]) && !(side && complete))
            return ks_refuse(err, KSPEC_E_ARG, groups ? NULL : "pairwise", NULL,
                             "%s cannot be combined with complete %s or with a finite population",
                             groups ? "groups" : "missing entries (pairwise)", side ? "columns" : "rows");
    if (!how->pairwise || (!groups && !row_trials)) return KSPEC_OK;
    return ks_refuse(err, KSPEC_E_ARG, "pairwise", NULL,
                     "%s and missing entries (pairwise) cannot be combined",
                     groups ? "groups" : "ragged trials");
}

static kspec_status open_groups(ks_measured *m, const ks_dependence *how, const char *what, ks_arena *arena,
                                kspec_error *err) {
    size_t least = ks_centred(m->trials.center) ? 5 : 3;
    const int dependent = how->row_groups || how->col_groups;
    kspec_status st = ks_dependence_check(how, m->trials.row_trials, err);
    if (!st) st = ks_groups_make(&m->rows, how->row_groups, m->trials.P, "row", arena, err);
    if (!st) st = ks_groups_make(&m->cols, how->col_groups, m->trials.Q, "column", arena, err);
    const size_t least_cols = m->population[1] <= (double)m->trials.Q ? 1 : 3;
    if (!st && dependent && (m->rows.count < least || m->cols.count < least_cols))
        st = ks_fail(err, KSPEC_E_ARG,
                     "%s: %zu groups of rows and %zu of columns are too few: %zu and %zu are needed", what,
                     m->rows.count, m->cols.count, least, least_cols);
    return st;
}

kspec_status ks_measured_open_dependent(ks_measured *m, const kspec_matrix *phi, size_t ntrials,
                                        const size_t *row_trials, const ks_dependence *how, int center,
                                        const char *what, size_t *missing, ks_arena *arena,
                                        kspec_error *err) {
    kspec_status st = ks_check_pointer(err, phi, what);
    if (st) return st;
    if (ntrials == 0) return ks_fail(err, KSPEC_E_ARG, "%s: number of trials 0 is below 1", what);
    const double *population = how->population ? how->population : (const double[]){INFINITY, INFINITY};
    size_t P = phi[0].rows, Q = phi[0].cols;
    const int whole = population[0] <= (double)P;
    size_t least = whole ? 1 : center ? 5 : 3, least_cols = population[1] <= (double)Q ? 1 : 3;
    if (P < least || Q < least_cols)
        return ks_fail(err, KSPEC_E_ARG, "%s: %zu rows and %zu columns are too few: %zu and %zu are needed%s",
                       what, P, Q, least, least_cols, center && !whole ? " (3 rows if not centred)" : "");
    if (ntrials == 1 && row_trials)
        return ks_fail(err, KSPEC_E_ARG, "%s: ragged trials need at least 2 trials, not 1", what);
    *m = (ks_measured){.population = {population[0], population[1]}};
    m->trials = (ks_trials){.phi = phi,
                            .count = ntrials,
                            .P = P,
                            .Q = Q,
                            .row_trials = row_trials,
                            .center = center ? KSPEC_CENTER_ROWS : KSPEC_CENTER_NONE,
                            .pairwise = how->pairwise,
                            .on_device = how->on_device != NULL,
                            .threads = how->threads};
    st = open_groups(m, how, what, arena, err);
    m->alike = how->alike && !ks_groups_even(&m->rows);
    m->trials.keep_means = !how->alike && !ks_groups_even(&m->rows);
    if (!st) st = ks_trials_init(&m->trials, err);
    if (!st) st = ks_trials_missing(&m->trials, missing, err);
    if (!st)
        st = how->on_device ? ks_trials_scale_by(how->on_device, &m->trials, 2, err)
                            : ks_trials_scale(&m->trials, 2, err);
    if (!st && how->on_device) st = ks_trials_device_scale(how->on_device, &m->trials, err);
    if (!st) st = ks_trials_alloc(&m->trials, arena, &m->halves, err);
    return st;
}

double *ks_measured_mean(ks_measured *m, ks_arena *arena) {
    const ks_trials *t = &m->trials;
    double *X = ks_arena_alloc(arena, ks_size(t->P, t->Q), sizeof *X);
    if (X) ks_trials_mean(t, m->halves.mean, X);
    return X;
}

ks_pair ks_measured_pair(ks_measured *m, uint64_t seed, size_t r) {
    const ks_trials *t = &m->trials;
    if (t->split || !m->pair.A) ks_trials_split(t, seed, r, &m->halves, &m->pair);
    return m->pair;
}

/* ---- naive ratio ---- */

enum { BAND = 32 };

typedef struct {
    const double *X;
    size_t P, Q;
    /*
     * Each worker has a band of rows of the Gram matrix. Each chunk adds to one number in `trace` and one in
     * `square`, the sum of squares.
     */
    double **band, *trace, *square;
} own_job;

/* Computes a band of rows of the smaller of X X^T and X^T X. Each row starts at the diagonal. */
static kspec_status own_band(void *ctx, size_t chunk, const ks_worker *worker) {
    const own_job *j = ctx;
    int rows = j->P <= j->Q;
    size_t N = rows ? j->P : j->Q, M = rows ? j->Q : j->P, from = chunk * BAND,
           m = N - from < BAND ? N - from : BAND, rest = N - from;
    const double *X = j->X + (rows ? from * j->Q : from);
    double *G = j->band[worker->index];
    ks_gemm(!rows, rows, m, rest, M, 1, X, j->Q, X, j->Q, 0, G, rest);
    for (size_t i = 0; i < m; i++) {
        const double *g = G + i * rest;
        j->trace[chunk] += g[i];
        j->square[chunk] += g[i] * g[i] + 2 * ks_dot(rest - i - 1, g + i + 1, g + i + 1);
    }
    return KSPEC_OK;
}

static void set_ratio(double trace, double square, ks_second *s) {
    s->own = square;
    s->naive = square > 0 ? trace * trace / square : NAN;
}

/*
 * Sums the eigenvalues and their squares from bands of the Gram matrix. The whole Gram matrix is never in
 * memory.
 */
static kspec_status naive_ratio(const ks_run *run, const double *X, size_t P, size_t Q, ks_second *s,
                                kspec_error *err) {
    double trace = 0, square = 0;
    if (run->device) { /* If the device has too little memory, the CPU continues. */
        kspec_status on_device = ks_gram_sums_device(run, X, P, Q, &trace, &square, err);
        if (!on_device) set_ratio(trace, square, s);
        if (on_device != KSPEC_E_NOMEM || ks_device_has(run->device, X)) return on_device;
        ks_clear(err);
    }
    size_t N = P <= Q ? P : Q, chunks = (N + BAND - 1) / BAND;
    int workers = ks_workers(run, chunks);
    ks_arena arena = {0};
    own_job j = {.X = X, .P = P, .Q = Q};
    j.band = ks_arena_alloc(&arena, (size_t)workers, sizeof *j.band);
    for (int k = 0; k < workers && j.band; k++)
        j.band[k] = ks_arena_alloc(&arena, ks_size(BAND, N), sizeof(double));
    j.trace = ks_arena_zalloc(&arena, chunks, sizeof(double));
    j.square = ks_arena_zalloc(&arena, chunks, sizeof(double));
    kspec_status st = arena.failed ? ks_nomem(err, "the Gram matrix", arena.failed)
                                   : ks_team_for_falling(run, "gram", chunks, own_band, &j,
                                                         (ks_share[]){{j.trace, sizeof(double), chunks, 1},
                                                                      {j.square, sizeof(double), chunks, 1}},
                                                         2, err);
    for (size_t k = 0; k < chunks && !st; k++) trace += j.trace[k], square += j.square[k];
    ks_arena_free(&arena);
    if (!st) set_ratio(trace, square, s);
    return st;
}

/* Computes the participation ratio of the mean of two trials on the device. */
static kspec_status naive_on_device(const ks_run *run, const ks_measured *m, ks_second *s, kspec_error *err) {
    ks_mat *mean = NULL;
    kspec_status st = ks_trials_device_mean(run, &m->trials, &mean, err);
    if (mean) ks_device_take(run->device, ks_mat_address(mean));
    if (!st) st = naive_ratio(run, ks_mat_address(mean), m->trials.P, m->trials.Q, s, err);
    if (mean) ks_device_forget(run->device, ks_mat_address(mean));
    ks_backend_of(run)->drop(run, mean);
    return st;
}

static kspec_status set_naive(const ks_run *run, ks_measured *m, ks_second *s, kspec_error *err) {
    ks_arena arena = {0};
    const double *X = NULL;
    s->naive = s->own = NAN;
    if (m->trials.pairwise) return KSPEC_OK;
    if (m->trials.on_device && m->trials.count > 1) return naive_on_device(run, m, s, err);
    if (m->trials.count == 1 && !ks_centred(m->trials.center))
        X = ks_measured_pair(m, 0, 0).A;
    else
        X = ks_measured_mean(m, &arena);
    kspec_status st = X ? naive_ratio(run, X, m->trials.P, m->trials.Q, s, err)
                        : ks_nomem(err, "the mean over trials", arena.failed);
    ks_arena_free(&arena);
    return st;
}

/* ---- unbiased estimates ---- */

/* Adds a bound on the rounding error of one split to s->lost. */
static void lose(const ks_sums *sums, size_t rows_of, int centered, const double population[2], double weight,
                 ks_second *s) {
    const double n = (double)rows_of, Q = (double)s->Q, e = weight * ks_sums_epsilon(rows_of);
    const ks_sums_rows rows = {centered, rows_of, population[0]};
    const ks_lost pairs = ks_sums_lost(&rows, ks_sums_pairs(s->Q, population[1]),
                                       ks_sums_pairs(s->Q - 1, population[1]), e * sums->size * sums->size);
    const double trace = e * sums->size / (fmax(1, n - 1) * Q);
    const ks_lost first = {trace, 4 * trace, trace * Q / fmax(1, Q - 1)};
    for (int k = 0; k < 3; k++) {
        const ks_lost *x = k ? &pairs : &first;
        s->lost[k].all += x->all, s->lost[k].row += x->row, s->lost[k].col += x->col;
    }
}

void ks_second_add(const ks_sums *sums, size_t n, int centered, const double population[2], double weight,
                   ks_second *s) {
    const size_t P = s->P, Q = s->Q;
    const int rows = population[0] > (double)n, cols = population[1] > (double)Q;
    const double pairs = ks_sums_pairs(Q, population[1]), fewer = ks_sums_pairs(Q - 1, population[1]);
    for (size_t k = 0; k < (sums->row ? 1 + P + Q : 1); k++) {
        const int row = rows && k >= 1 && k <= P, col = cols && k > P;
        const ks_quad *q = row ? &sums->row[k - 1] : col ? &sums->col[k - 1 - P] : &sums->all;
        const ks_sums_rows of = {centered, row ? n - 1 : n, population[0]};
        const double count = col ? fewer : pairs;
        s->trace[k] += weight * ks_sums_trace(q, &of, col ? Q - 1 : Q);
        s->square[k] += weight * ks_sums_traces(q, &of, count);
        s->moment[k] += weight * ks_sums_cross(q, &of, count);
    }
    lose(sums, n, centered, population, weight, s);
}

static kspec_status add_split(const ks_run *run, const ks_measured *m, const ks_pair *p, double weight,
                              ks_second *s, kspec_error *err) {
    ks_arena scratch = {0};
    ks_sums sums;
    const ks_two two = {.X = p->A,
                        .Z = p->B,
                        .Y = p->B,
                        .W = p->A,
                        .P = p->P,
                        .Q = p->Q,
                        .R = p->Q,
                        .same = 1,
                        .whole = m->whole,
                        .scaled = !m->whole && p->A == p->B,
                        .columns = isinf(m->population[1]) ? 0 : m->population[1],
                        .centered = ks_centred(m->trials.center)};
    kspec_status st = ks_sums_make(run, &two, &sums, &scratch, err);
    if (!st) ks_second_add(&sums, p->P, two.centered, m->population, weight, s);
    if (!st && p->A == p->B) set_ratio(sums.all.t, sums.whole, s);
    if (!st) s->scaled = sums.scaled, s->has_scaled = sums.has_scaled;
    ks_arena_free(&scratch);
    return st;
}

static int dependent(const ks_measured *m) { return m->rows.of || m->cols.of || m->trials.pairwise; }

double ks_pairs_of_groups(const ks_groups *g, double *fewest) {
    double all = (double)g->n, squares = 0;
    for (size_t k = 0; k < g->count; k++) squares += pow((double)ks_group_size(g, k), 2);
    *fewest = all * all - squares;
    for (size_t k = 0; k < g->count; k++) {
        const double own = (double)ks_group_size(g, k),
                     left = (all - own) * (all - own) - (squares - own * own);
        if (left > 0) *fewest = fmin(*fewest, left);
    }
    return all * all - squares;
}

static double size_of(const ks_pair *p) {
    double size = 0;
    for (size_t k = 0; k < p->Q; k++) {
        double a = 0, b = 0;
        for (size_t i = 0; i < p->P; i++)
            a += p->A[i * p->Q + k] * p->A[i * p->Q + k], b += p->B[i * p->Q + k] * p->B[i * p->Q + k];
        size += sqrt(a) * sqrt(b);
    }
    return size;
}

/*
 * A centred estimate has terms of 2, 3 and 4 groups, which together may be 13 times as large as the first
 * term.
 */
static void lose_pairs(const ks_measured *m, const ks_pair *p, double weight, double cycles, ks_second *s) {
    double row_fewest, col_fewest;
    const double terms = ks_centred(m->trials.center) ? 13 : 4,
                 rows = ks_pairs_of_groups(&m->rows, &row_fewest),
                 cols = ks_pairs_of_groups(&m->cols, &col_fewest), size = size_of(p),
                 e = weight * ks_sums_epsilon(p->P) * terms / (cycles > 0 ? cycles : 1),
                 trace = e * size / ((double)p->P * (double)p->Q);
    const double all = e * size * size / (rows * cols);
    const ks_lost pairs = {all, 4 * all * rows / row_fewest, all * cols / col_fewest};
    const ks_lost first = {trace, 4 * trace * rows / row_fewest, trace * cols / col_fewest};
    for (int k = 0; k < 3; k++) {
        const ks_lost *x = k ? &pairs : &first;
        s->lost[k].all += x->all, s->lost[k].row += x->row, s->lost[k].col += x->col;
    }
}

/* Adds the estimates of one split of data with groups or missing entries. */
static kspec_status add_pairs(const ks_run *run, const ks_measured *m, const ks_pair *p, double weight,
                              ks_second *s, kspec_error *err) {
    size_t count = 1 + s->P + s->Q;
    ks_arena scratch = {0};
    double *room = ks_arena_alloc(&scratch, 4 * count, sizeof *room);
    const ks_pairs in = {.A = p->A,
                         .B = p->B,
                         .seen_a = m->halves.seen_a,
                         .seen_b = m->halves.seen_b,
                         .rows = &m->rows,
                         .cols = &m->cols,
                         .centered = ks_centred(m->trials.center),
                         .alike = m->alike,
                         .complete = m->population[1] <= (double)m->trials.Q};
    if (!room) return ks_nomem(err, "pairs", scratch.failed);
    const ks_pairs_out out = {room, room + count, room + 2 * count, room + 3 * count, NULL};
    kspec_status st = ks_pairs_make(run, &in, &out, err);
    for (size_t k = 0; k < count && !st; k++) {
        /* Leaving out part of a complete side changes nothing. */
        const size_t at = in.complete && k > s->P ? 0 : k;
        s->trace[k] += weight * out.trace[at];
        s->square[k] += weight * out.square[at];
        s->moment[k] += weight * out.moment[at];
    }
    if (!st) s->cycles += weight * out.cycles[0];
    if (!st) lose_pairs(m, p, weight, out.cycles[0], s);
    ks_arena_free(&scratch);
    return st;
}

static kspec_status open_lists(const ks_measured *m, ks_second *s, ks_arena *arena, kspec_error *err) {
    size_t count = 1 + m->rows.count + m->cols.count;
    *s = (ks_second){
        .P = m->rows.count,
        .Q = m->cols.count,
        .rows = (double)m->rows.count,
        .exponent = m->trials.exponent,
        .share = {1 - (double)m->trials.P / m->population[0], 1 - (double)m->trials.Q / m->population[1]}};
    s->trace = ks_arena_zalloc(arena, count, sizeof(double));
    s->square = ks_arena_zalloc(arena, count, sizeof(double));
    s->moment = ks_arena_zalloc(arena, count, sizeof(double));
    return arena->failed ? ks_nomem(err, "leave-one-out estimates", arena->failed) : KSPEC_OK;
}

int ks_standard_known(const ks_measured *m) {
    return !m->standardized || m->cols.of || m->trials.pairwise || ks_cols_centred(m->trials.center) ||
           isfinite(m->population[1]);
}

kspec_status ks_standard_orders(const ks_measured *m, int orders, const double *all, double *rows,
                                const double *cols, kspec_error *err) {
    const ks_trials *t = &m->trials;
    ks_arena arena = {0};
    if (ks_standard_known(m)) return KSPEC_OK;
    ks_left_out *list = ks_arena_alloc(&arena, (size_t)orders, sizeof *list);
    kspec_status st = list ? KSPEC_OK : ks_nomem(err, "the jackknife", arena.failed);
    for (int k = 0; k < orders && !st; k++)
        list[k] =
            (ks_left_out){k + 1, all[k], rows + (size_t)k * m->rows.count, cols + (size_t)k * m->cols.count};
    if (!st) st = ks_standard_left_out(t->phi, t->count, t->row_trials, &m->rows, list, (size_t)orders, err);
    ks_arena_free(&arena);
    return st;
}

/*
 * Leaving rows out changes the standard deviations of the columns. The function corrects the estimates for
 * this change, and m(2) only if `moment` is 1.
 */
static kspec_status restandardize(const ks_measured *m, ks_second *s, int moment, kspec_error *err) {
    const ks_trials *t = &m->trials;
    const size_t P = s->P;
    if (ks_standard_known(m)) return KSPEC_OK;
    const ks_left_out list[3] = {{2, s->square[0], s->square + 1, s->square + 1 + P},
                                 {1, s->trace[0], s->trace + 1, s->trace + 1 + P},
                                 {2, s->moment[0], s->moment + 1, s->moment + 1 + P}};
    return ks_standard_left_out(t->phi, t->count, t->row_trials, &m->rows, list, moment ? 3 : 1, err);
}

/* Recomputes the estimates with twice the digits if the digits of doubles may not suffice. */
static kspec_status again(const ks_run *run, const ks_measured *m, int splits, uint64_t seed, ks_second *s,
                          kspec_error *err) {
    const size_t count = m->whole ? 1 : 1 + s->P + s->Q;
    const ks_run quiet = ks_run_part(run, 1, 1);
    int made;
    kspec_status st = KSPEC_OK;
    if (ks_lost_matters(s->square, s->P, count, &s->lost[1]) ||
        ks_lost_matters(s->moment, s->P, count, &s->lost[2]))
        st = ks_second_careful(&quiet, m, splits, seed, s, &made, err);
    /* If m(2) and its rounding error are negligible compared with m(1)^2, m(2) counts as 0. */
    if (!st && fabs(s->moment[0]) <= s->lost[2].all && s->lost[2].all <= KS_RATIO_NOTHING * s->square[0])
        s->moment[0] = 0;
    return st;
}

kspec_status ks_second_make(const ks_run *run, ks_measured *m, int splits, uint64_t seed, ks_second *s,
                            ks_arena *arena, kspec_error *err) {
    size_t repeats = ks_trials_splits(&m->trials, splits);
    /* Independent data with one trial get this ratio from their sums, without extra work. */
    const double own = dependent(m) || m->trials.count > 1 ? 0.2 : 0;
    ks_run first = ks_run_part(run, 0, own);
    kspec_status st = open_lists(m, s, arena, err);
    if (!st && own > 0 && !m->ratio_unused) st = set_naive(&first, m, s, err);
    for (size_t r = 0; r < repeats && !st; r++) {
        ks_pair p = ks_measured_pair(m, seed, r);
        ks_run part = ks_run_part(run, own + (1 - own) * (double)r / (double)repeats,
                                  own + (1 - own) * (double)(r + 1) / (double)repeats);
        st = dependent(m) ? add_pairs(&part, m, &p, 1 / (double)repeats, s, err)
                          : add_split(&part, m, &p, 1 / (double)repeats, s, err);
    }
    if (!st) st = again(run, m, splits, seed, s, err);
    return st || m->whole ? st : restandardize(m, s, 1, err);
}

/*
 * Data that are not centred give the square of the trace from sums of t = a b over all entries. Let u_i be
 * the sum of t over row i, v_k the sum over column k, and S the sum over all entries. Over pairs of different
 * rows and different columns, the square is
 *     S^2 - sum u^2 - sum v^2 + sum t^2.
 * In a population of N rows, N of the N^2 pairs of rows are equal. The same fraction of the pairs of columns
 * is equal.
 */
typedef struct {
    double S, u2, v2, t2;
} squares;

/*
 * In a sample of n rows, `different` is the weight of each of the n (n-1) pairs of different rows, and `same`
 * is the weight of each of the n single rows.
 */
typedef struct {
    double different, same;
} pair_weights;

static pair_weights weigh_pairs(double n, double population) {
    return (pair_weights){(1 - 1 / population) / (n * (n - 1)), 1 / (population * n)};
}

static double square_of(const squares *q, pair_weights row, pair_weights col) {
    return row.different * col.different * (q->S * q->S - q->u2 - q->v2 + q->t2) +
           row.same * col.different * (q->u2 - q->t2) + row.different * col.same * (q->v2 - q->t2) +
           row.same * col.same * q->t2;
}

/*
 * Writes to `out` the row sums or the column sums of t^power. If `row` or `col` is not NULL, it contains
 * weights.
 */
static kspec_status sum_of(const ks_run *run, const ks_pair *p, int power, const double *row,
                           const double *col, ks_tile_result what, double *out, kspec_error *err) {
    ks_mat_expression e = {.m = p->P, .n = p->Q, .alpha = 1, .row = row, .col = col, .count = 1};
    e.factor[0] = (ks_mat_factor){ks_mat_of(p->A), 0, p->A == p->B ? 2 * power : power};
    if (p->A != p->B) e.factor[e.count++] = (ks_mat_factor){ks_mat_of(p->B), 0, power};
    return ks_backend_of(run)->expression(run, &e, what, NULL, out, err);
}

/*
 * Adds the estimates of one split to `out`. If loo is 1, also adds the leave-one-out estimates. *sums
 * receives the sums of the split. v is scratch of 3 Q numbers, and crossed is scratch of 3 P numbers.
 */
static kspec_status add_squares(const ks_run *run, const ks_pair *p, const double population[2], int loo,
                                double *v, double *crossed, double weight, double *out, squares *sums,
                                kspec_error *err) {
    size_t P = p->P, Q = p->Q;
    double *u = crossed, *tt = u + P, *vt = tt + P, *tt_col = v + Q, *ut = v + 2 * Q;
    const ks_run near = ks_run_near(run, p->A), quiet = ks_run_part(&near, 0, 0);
    kspec_status st = sum_of(&quiet, p, 1, NULL, NULL, KS_TILE_ROW_SUMS, u, err);
    if (!st) st = sum_of(&quiet, p, 1, NULL, NULL, KS_TILE_COL_SUMS, v, err);
    if (!st) st = sum_of(&quiet, p, 2, NULL, NULL, KS_TILE_ROW_SUMS, tt, err);
    if (!st && loo) st = sum_of(&quiet, p, 2, NULL, NULL, KS_TILE_COL_SUMS, tt_col, err);
    if (!st && loo) st = sum_of(&quiet, p, 1, NULL, v, KS_TILE_ROW_SUMS, vt, err);
    if (!st && loo) st = sum_of(&quiet, p, 1, u, NULL, KS_TILE_COL_SUMS, ut, err);
    if (st) return st;
    squares all = {0};
    for (size_t i = 0; i < P; i++) all.S += u[i], all.u2 += u[i] * u[i], all.t2 += tt[i];
    for (size_t k = 0; k < Q; k++) all.v2 += v[k] * v[k];
    *sums = all;
    const double n = (double)P, m = (double)Q;
    const pair_weights row = weigh_pairs(n, population[0]), col = weigh_pairs(m, population[1]),
                       less_row = weigh_pairs(n - 1, population[0]),
                       less_col = weigh_pairs(m - 1, population[1]);
    out[0] += weight * square_of(&all, row, col);
    if (!loo) return KSPEC_OK;
    for (size_t i = 0; i < P; i++) {
        squares q = {all.S - u[i], all.u2 - u[i] * u[i], all.v2 - 2 * vt[i] + tt[i], all.t2 - tt[i]};
        out[1 + i] += weight * square_of(&q, less_row, col);
    }
    for (size_t k = 0; k < Q; k++) {
        squares q = {all.S - v[k], all.u2 - 2 * ut[k] + tt_col[k], all.v2 - v[k] * v[k], all.t2 - tt_col[k]};
        out[1 + P + k] += weight * square_of(&q, row, less_col);
    }
    return KSPEC_OK;
}

/*
 * Computes the participation ratio of the matrix's own eigenvalues from the estimate of m(2), without the
 * Gram matrix G. With one trial x, the product t of the trials is x^2. Then P (P-1) Q m(2) is the sum
 * over i != j, k != l of x_ik x_jk x_jl x_il, and equals |G|^2 - sum u^2 - sum v^2 + sum t^2. No other term
 * exceeds |G|^2.
 */
static double naive_of_moment(const squares *q, double P, double Q, double moment) {
    double square = P * (P - 1) * Q * (Q - 1) * moment + q->u2 + q->v2 - q->t2;
    return square > 0 ? q->S * q->S / square : NAN;
}

kspec_status ks_second_of_moment(const ks_run *run, ks_measured *m, int splits, uint64_t seed, int loo,
                                 const double *moment, ks_second *s, ks_arena *arena, kspec_error *err) {
    size_t P = m->trials.P, Q = m->trials.Q, repeats = ks_trials_splits(&m->trials, splits);
    const double *population = m->population;
    const int known = m->trials.count == 1 && isinf(population[0]) && isinf(population[1]);
    squares sums = {0};
    double size = 0;
    double *v = ks_arena_alloc(arena, ks_size(3, Q), sizeof *v),
           *crossed = ks_arena_alloc(arena, ks_size(3, P), sizeof *crossed);
    kspec_status st = open_lists(m, s, arena, err);
    if (!st && !known) st = set_naive(run, m, s, err);
    if (!st) memcpy(s->moment, moment, (1 + P + Q) * sizeof *moment);
    for (size_t r = 0; r < repeats && !st; r++) {
        ks_pair p = ks_measured_pair(m, seed, r);
        st = add_squares(run, &p, population, loo, v, crossed, 1 / (double)repeats, s->square, &sums, err);
        size = fmax(size, fabs(sums.S));
    }
    for (int k = 1; k < 3 && !st; k++) {
        const ks_sums_rows rows = {0, P, population[0]};
        s->lost[k] = ks_sums_lost(&rows, ks_sums_pairs(Q, population[1]), ks_sums_pairs(Q - 1, population[1]),
                                  ks_sums_epsilon(P) * size * size);
    }
    if (known) s->naive = naive_of_moment(&sums, (double)P, (double)Q, moment[0]);
    return st || !loo ? st : restandardize(m, s, 0, err);
}
