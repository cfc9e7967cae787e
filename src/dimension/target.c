/*
 * Estimates <y, T^n y>, a cycle of order n + 1 with y as one of its columns. So <y, T^n y> is the column y's
 * contribution to m(n+1). Let S be the sum over distinct cycles of a matrix. The cycles through y have the
 * sum S([Phi, y]) - S(Phi), and contain y at each of n + 1 places. All properties of S carry over: the
 * estimate is exactly unbiased, for data centred or not, and for one trial or several, and has leave-one-out
 * values.
 */
#include "dimension/target.h"

#include "base/center.h"
#include "base/error.h"
#include "base/matrix.h"
#include "base/result.h"
#include "dimension/higher.h"
#include "dimension/permuted.h"
#include "moments/jackknife.h"
#include "base/student.h"

#include <math.h>
#include <string.h>

/* Contains the second-order sums of [Phi, y] or of Phi, and the sums of order 3 if computed. */
typedef struct {
    ks_measured m;
    ks_second second;
    double *third;
} estimates;

typedef struct {
    const kspec_dimension_opts *o;
    size_t P, Q, trials;
    /* both[t] is the matrix [Phi, y] of trial t, P x (Q+1), divided by 2^exponent. */
    double **both;
    kspec_matrix *wide, *narrow;
    uint64_t *labels;
    int exponent;
    estimates phi;
} job;

static double largest(const kspec_matrix *m) {
    double most = 0;
    for (size_t i = 0; i < m->rows; i++)
        for (size_t k = 0; k < m->cols; k++)
            if (isfinite(ks_at(m, i, k))) most = fmax(most, fabs(ks_at(m, i, k)));
    return most;
}

static kspec_status check(const kspec_dimension_opts *o, const kspec_matrix *phi, kspec_error *err) {
    kspec_status st = ks_matrix_check(o->target, "the target", err);
    if (!st && o->population_rows)
        st = ks_refuse(err, KSPEC_E_ARG, "target", NULL,
                       "a target needs rows that are a sample from an infinite population");
    if (!st && o->target->rows != phi->rows)
        st = ks_fail(err, KSPEC_E_ARG, "the target has %zu rows, the matrix has %zu", o->target->rows,
                     phi->rows);
    if (!st) st = ks_matrix_finite(o->target, "the target", err);
    return st;
}

/* Returns a label that no column has. */
static uint64_t another(const uint64_t *labels, size_t n) {
    for (uint64_t label = 0;; label++) {
        size_t k = 0;
        while (k < n && labels[k] != label) k++;
        if (k == n) return label;
    }
}

static kspec_status open_job(job *j, const kspec_matrix *phi, ks_arena *arena, kspec_error *err) {
    const size_t P = j->P, Q = j->Q, T = j->trials;
    double most = 0;
    j->both = ks_arena_alloc(arena, T, sizeof *j->both);
    j->wide = ks_arena_alloc(arena, T, sizeof *j->wide);
    j->narrow = ks_arena_alloc(arena, T, sizeof *j->narrow);
    j->labels = ks_arena_alloc(arena, Q + 1, sizeof *j->labels);
    for (size_t t = 0; t < T && !arena->failed; t++)
        j->both[t] = ks_arena_alloc(arena, ks_size(P, Q + 1), sizeof(double));
    if (arena->failed) return ks_nomem(err, "a copy of the matrix", arena->failed);
    for (size_t t = 0; t < T; t++) most = fmax(most, largest(&phi[t]));
    frexp(most, &j->exponent);
    for (size_t t = 0; t < T; t++) {
        for (size_t i = 0; i < P; i++)
            for (size_t k = 0; k < Q; k++)
                j->both[t][i * (Q + 1) + k] = ldexp(ks_at(&phi[t], i, k), -j->exponent);
        j->wide[t] = ks_matrix_of(j->both[t], P, Q + 1);
        j->narrow[t] = j->wide[t];
        j->narrow[t].cols = Q;
    }
    for (size_t k = 0; k < Q && j->o->col_groups; k++) j->labels[k] = j->o->col_groups[k];
    if (j->o->col_groups) j->labels[Q] = another(j->labels, Q);
    return KSPEC_OK;
}

static double rms(const double *x, size_t rows, size_t cols, size_t stride) {
    double sum = 0;
    for (size_t i = 0; i < rows; i++)
        for (size_t k = 0; k < cols; k++) sum += x[i * stride + k] * x[i * stride + k];
    return sqrt(sum / ((double)rows * (double)cols));
}

/*
 * Appends y as the last column, scaled to the size of the other columns. *exponent receives the exponent of
 * the scale, which is a power of two.
 */
static kspec_status put_target(job *j, size_t which, int *exponent, kspec_error *err) {
    const size_t P = j->P, stride = j->Q + 1;
    const kspec_matrix *y = j->o->target;
    const int centred = ks_centred(j->o->center);
    const double first = ks_at(y, 0, which);
    double mean = 0, most = 0, *at = j->both[0] + j->Q;
    for (size_t i = 0; i < P && centred; i++) mean += (ks_at(y, i, which) - first) / (double)P;
    for (size_t i = 0; i < P; i++) {
        at[i * stride] = centred ? ks_at(y, i, which) - first - mean : ks_at(y, i, which);
        most = fmax(most, fabs(at[i * stride]));
    }
    if (!(most > 0))
        return ks_fail(err, KSPEC_E_DATA, "column %zu of the target (from 0) is constant", which);
    if (!isfinite(most))
        return ks_fail(err, KSPEC_E_DATA, "column %zu of the target (from 0) is too large", which);
    int e, f;
    frexp(most, &e);
    for (size_t i = 0; i < P; i++) at[i * stride] = ldexp(at[i * stride], -e);
    const double unit = rms(j->both[0], P, j->Q, stride), own = rms(at, P, 1, stride);
    frexp(unit > 0 ? own / unit : own, &f);
    for (size_t i = 0; i < P; i++) at[i * stride] = ldexp(at[i * stride], -f);
    for (size_t t = 1; t < j->trials; t++)
        for (size_t i = 0; i < P; i++) j->both[t][i * stride + j->Q] = at[i * stride];
    *exponent = e + f;
    return KSPEC_OK;
}

static kspec_status estimate(const ks_run *run, const job *j, const kspec_matrix *phi, estimates *e,
                             ks_arena *arena, kspec_error *err) {
    const kspec_dimension_opts *o = j->o;
    const ks_dependence how = {NULL, o->row_groups, o->col_groups ? j->labels : NULL, 0};
    const ks_higher third = {.nmax = 3, .splits = o->splits, .seed = o->seed, .team = o->team};
    const ks_run first = ks_run_part(run, 0, 0.3), rest = ks_run_part(run, 0.3, 1);
    double *of[1 + KS_HIGHER_MOST] = {NULL};
    size_t missing;
    int highest = 2;
    kspec_status st = ks_measured_open_dependent(&e->m, phi, j->trials, o->row_trials, &how,
                                                 ks_centred(o->center), "the matrix", &missing, arena, err);
    if (!st) st = ks_second_make(&first, &e->m, o->splits, o->seed, &e->second, arena, err);
    if (!st && !e->m.rows.of && !e->m.cols.of && !o->population_cols)
        st = ks_higher_make(&rest, &third, &e->m, of, &highest, arena, err);
    e->third = highest > 2 ? of[3] : NULL;
    return st;
}

/* ---- contribution ---- */

/* Counts the columns behind value k of a list, and ordered pairs of these columns from different groups. */
static void count_columns(const job *j, size_t k, double *columns, double *pairs) {
    const ks_groups *g = &j->phi.m.cols;
    const size_t rows = j->phi.m.rows.count;
    double squares = 0;
    for (size_t c = 0; c < g->count; c++) squares += (double)(ks_group_size(g, c) * ks_group_size(g, c));
    const double gone = k > rows ? (double)ks_group_size(g, k - 1 - rows) : 0;
    *columns = (double)j->Q - gone;
    *pairs = *columns * *columns - (squares - gone * gone);
}

/* Computes the contribution of y to second-order sums, from the pairs of columns that include y. */
static void second_of(const job *j, const double *with, int e, const double *phi, int f, double *out) {
    const size_t count = 1 + j->phi.second.P + j->phi.second.Q;
    for (size_t k = 0; k < count; k++) {
        double columns, pairs;
        count_columns(j, k, &columns, &pairs);
        out[k] =
            ((pairs + 2 * columns) * ldexp(with[k], 4 * e) - pairs * ldexp(phi[k], 4 * f)) / (2 * columns);
    }
}

/*
 * Computes the contribution of y to order 3. Q columns and y form (Q+1) Q triples, and 3 Q
 * triples contain y.
 */
static void third_of(const job *j, const double *with, const double *phi, double *out) {
    for (size_t k = 0; k < 1 + j->P + j->Q; k++) {
        const double Q = (double)j->Q - (k > j->P);
        out[k] = ((Q + 1) * with[k] - (Q - 2) * phi[k]) / 3;
    }
}

/*
 * Computes the interval. The function uses the logarithm if one standard error is less than a factor of four,
 * and otherwise the value itself. Both kinds of intervals allow for skewness (docs/measurements/dimension.md
 * reports the coverage).
 */
static ks_error_bar bar_of(const job *j, const double *x, double *room) {
    const double factor = log(4);
    /* Complete columns change the error of <y, T y>, but not its value. */
    const uint64_t all = j->o->population_cols;
    const double share = all ? 1 - (double)j->Q / (double)all : 1;
    const size_t P = j->phi.second.P, Q = j->phi.second.Q;
    ks_spread s = {0}, logs = {0};
    double ends[2];
    int positive = 1;
    ks_spread_add(&s, x + 1, P, 1, x[0]);
    ks_spread_add(&s, x + 1 + P, Q, share, x[0]);
    ks_spread_ends(&s, 0, ends);
    ks_error_bar bar = {.std_error = sqrt(s.variance), .low = x[0] + ends[0], .high = x[0] + ends[1]};
    for (size_t k = 0; k < 1 + P + Q; k++) positive &= x[k] > 0;
    for (size_t k = 0; k < 1 + P + Q && positive; k++) room[k] = log(x[k]);
    if (!positive) return bar;
    ks_spread_add(&logs, room + 1, P, 1, room[0]);
    ks_spread_add(&logs, room + 1 + P, Q, share, room[0]);
    if (!(sqrt(logs.variance) < factor)) return bar;
    ks_spread_ends(&logs, 0, ends);
    bar.low = x[0] * exp(ends[0]), bar.high = x[0] * exp(ends[1]);
    return bar;
}

/*
 * Computes the probability of such a large alignment if y is unrelated to the rows. The probability is NaN
 * with groups.
 */
static kspec_status set_p(const ks_run *run, job *j, double alignment, double *p, kspec_error *err) {
    *p = NAN;
    if (!ks_centred(j->o->center) || j->phi.m.rows.of || j->phi.m.cols.of) return KSPEC_OK;
    ks_pair pair;
    ks_shape K, L;
    ks_arena arena = {0};
    double *y = ks_arena_alloc(&arena, j->P, sizeof *y);
    if (!y) return ks_nomem(err, "the target", arena.failed);
    for (size_t i = 0; i < j->P; i++) y[i] = j->both[0][i * (j->Q + 1) + j->Q];
    ks_trials_split(&j->phi.m.trials, j->o->seed, 0, &j->phi.m.halves, &pair);
    kspec_status st = ks_shape_make(run, pair.A, pair.B, j->P, j->Q, j->o->seed, &K, err);
    if (!st) st = ks_shape_make(run, y, y, j->P, 1, j->o->seed, &L, err);
    if (!st) *p = ks_permuted_p(&K, &L, j->P, ldexp(alignment * (double)j->Q, -2 * j->phi.m.trials.exponent));
    ks_arena_free(&arena);
    return st;
}

static kspec_status one(const ks_run *run, job *j, size_t which, kspec_target *t, kspec_error *err) {
    ks_arena arena = {0};
    estimates both;
    int e = 0;
    kspec_status st = put_target(j, which, &e, err);
    if (!st) st = estimate(run, j, j->wide, &both, &arena, err);
    const size_t count = 1 + j->phi.second.P + j->phi.second.Q;
    double *x = ks_arena_alloc(&arena, 3 * count, sizeof *x);
    if (!st && !x) st = ks_nomem(err, "the alignment", arena.failed);
    if (!st) {
        double *scale = x + count, *room = x + 2 * count;
        const ks_second *with = &both.second, *phi = &j->phi.second;
        const double nan = NAN;
        *t = (kspec_target){nan, nan, nan, nan, nan, nan, nan, nan, nan, nan, nan, nan, nan};
        second_of(j, with->moment, with->exponent, phi->moment, phi->exponent, x);
        second_of(j, with->square, with->exponent, phi->square, phi->exponent, scale);
        st = set_p(run, j, x[0], &t->p, err);
        const int unit = 2 * (e + j->exponent);
        ks_error_bar bar = bar_of(j, x, room);
        t->alignment = ldexp(x[0], unit), t->alignment_std_error = ldexp(bar.std_error, unit);
        t->alignment_ci_low = ldexp(bar.low, unit), t->alignment_ci_high = ldexp(bar.high, unit);
        int positive = 1;
        for (size_t k = 0; k < count; k++) positive &= scale[k] > 0;
        for (size_t k = 0; k < count && positive; k++) scale[k] = x[k] / scale[k];
        if (positive) {
            bar = bar_of(j, scale, room);
            t->share = scale[0], t->share_std_error = bar.std_error;
            t->share_ci_low = bar.low, t->share_ci_high = bar.high;
        }
        if (both.third && j->phi.third) {
            const int units = unit + 2 * j->exponent;
            third_of(j, both.third, j->phi.third, x);
            bar = bar_of(j, x, room);
            t->second = ldexp(x[0], units), t->second_std_error = ldexp(bar.std_error, units);
            t->second_ci_low = ldexp(bar.low, units), t->second_ci_high = ldexp(bar.high, units);
        }
    }
    ks_arena_free(&arena);
    return st;
}

kspec_status ks_targets_make(const ks_run *run, const kspec_dimension_opts *o, const kspec_matrix *phi,
                             size_t ntrials, kspec_dimension_result *r, kspec_error *err) {
    if (!o->target) return KSPEC_OK;
    kspec_status st = check(o, phi, err);
    if (st) return st;
    const size_t count = o->target->cols;
    ks_arena arena = {0};
    job j = {.o = o, .P = phi->rows, .Q = phi->cols, .trials = ntrials};
    ks_run alone = *run; /* runs on the CPU */
    alone.device = NULL;
    ks_run first = ks_run_part(&alone, 0, 1 / (1.0 + (double)count));
    r->targets = ks_arena_list(ks_result_arena(r), count, sizeof **r->targets);
    if (!r->targets) return ks_nomem(err, "the targets", ks_size(count, sizeof **r->targets));
    st = open_job(&j, phi, &arena, err);
    if (!st) st = estimate(&first, &j, j.narrow, &j.phi, &arena, err);
    for (size_t k = 0; k < count && !st; k++) {
        ks_run part =
            ks_run_part(&alone, (double)(1 + k) / (double)(1 + count), (double)(2 + k) / (double)(1 + count));
        st = one(&part, &j, k, r->targets[k], err);
    }
    if (!st) r->target_count = count;
    ks_arena_free(&arena);
    return st;
}
