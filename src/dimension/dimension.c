/*
 * Implements kspec_dimension(), which computes the unbiased participation ratio, its interval, and the ratios
 * of smaller parts of the matrix.
 */
#include "base/center.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/matrix.h"
#include "base/result.h"
#include "base/streams.h"
#include "checks/check.h"
#include "device/borrowed.h"
#include "dimension/set.h"
#include "dimension/signal.h"
#include "dimension/target.h"
#include "moments/doubts.h"
#include "moments/evidence.h"
#include "moments/second.h"
#include "moments/trials_device.h"
#include "moments/where.h"
#include "kspec/dimension.h"
#include "linalg/linalg.h"

#include <math.h>
#include <string.h>

enum { CURVE_MAX = 100 };

static kspec_status check(kspec_dimension_opts *o, kspec_error *err) {
    if (o->splits < 0) return ks_fail(err, KSPEC_E_ARG, "splits %d is below 1", o->splits);
    if (o->splits == 0) o->splits = 8;
    if (o->curve > CURVE_MAX)
        return ks_fail(err, KSPEC_E_ARG, "a curve of %zu points exceeds %d", o->curve, CURVE_MAX);
    if (o->curve && (o->row_groups || o->col_groups || o->block || o->pairwise))
        return ks_refuse(err, KSPEC_E_ARG, "curve", NULL, "a curve and %s cannot be combined",
                         o->pairwise ? "missing entries (pairwise)"
                         : o->block  ? "blocks"
                                     : "groups");
    kspec_status st = ks_center_resolve(&o->center, KSPEC_CENTER_ROWS, err);
    if (st) return st;
    if (o->center == KSPEC_CENTER_BOTH)
        st = ks_fail(err, KSPEC_E_ARG,
                     "the dimension of a kernel that is centred on both sides is not known without bias; "
                     "center over rows or over columns");
    if (o->center == KSPEC_CENTER_COLS && (o->row_trials || o->target))
        st = ks_fail(err, KSPEC_E_ARG, "%s centred over rows only",
                     o->target ? "a target is" : "ragged trials are");
    return st ? ks_about(err, "center", "rows", st) : KSPEC_OK;
}

/* Estimates the dimension. The evidence is NULL if the caller does not request it. */
static kspec_status estimate(const ks_run *run, const kspec_dimension_opts *o, const kspec_matrix *phi,
                             size_t ntrials, ks_second *s, ks_evidence *evidence, kspec_dimension_result *r,
                             ks_arena *arena, kspec_error *err) {
    ks_measured m = {.standardized = 0};
    const double population[2] = {o->population_rows ? (double)o->population_rows : INFINITY,
                                  o->population_cols ? (double)o->population_cols : INFINITY};
    const ks_dependence how = {.population = population,
                               .row_groups = o->row_groups,
                               .col_groups = o->col_groups,
                               .pairwise = o->pairwise,
                               .alike = 1,
                               .cols = phi ? phi->cols : 0,
                               .on_device = o->data_memory == KSPEC_MEMORY_DEVICE ? run : NULL,
                               .threads = run->threads};
    kspec_status st = ks_measured_open_dependent(&m, phi, ntrials, o->row_trials, &how, ks_centred(o->center),
                                                 "the matrix", &r->missing, arena, err);
    m.standardized = o->standardize;
    /* A part of the curve needs no leave-one-out values. */
    m.whole = !evidence && !o->row_groups && !o->col_groups && !o->pairwise;
    if (!st) r->groups = m.rows.of ? m.rows.count : 0, r->col_groups = m.cols.of ? m.cols.count : 0;
    ks_run sums = ks_run_part(run, 0, 0.7), rest = ks_run_part(run, 0.7, 1);
    if (!st) st = ks_second_make(&sums, &m, o->splits, o->seed, s, arena, err);
    if (!st && evidence) st = ks_evidence_make(&rest, &m, s, o->seed, evidence, err);
    if (m.trials.on_device) ks_trials_device_end(run, &m.trials);
    return st;
}

kspec_status ks_dimension_set(const ks_second *s, ks_dimensionality *d, kspec_dimension_result *r,
                              ks_arena *arena, kspec_error *err) {
    kspec_status st = ks_second_check(s, "the matrix", err);
    if (!st) st = ks_ratio_errors(s, d, arena, err);
    if (st) return st;
    r->naive = s->naive, r->rounding = d->rounding;
    r->trace = ldexp(s->trace[0], 2 * s->exponent);
    r->trace_squared = ldexp(s->square[0], 4 * s->exponent);
    r->second_moment = ldexp(s->moment[0], 4 * s->exponent);
    r->dimension = d->value, r->std_error = d->bar.std_error;
    r->ci_low = d->bar.low, r->ci_high = d->bar.high;
    r->row_variance = d->side[0], r->col_variance = d->side[1];
    return KSPEC_OK;
}

/* ---- curve ---- */

/*
 * Returns size number k of `points` sizes, which grow in equal ratios up to `all`. The smallest size is a
 * tenth of `all`, but at least 20 (or half of `all`, if `all` is below 40) and at least `least`. Smaller
 * parts carry no information about the dimension.
 */
static size_t size_at(size_t least, size_t all, size_t k, size_t points) {
    enum { SMALL = 20 };
    double low = fmax((double)least, fmax((double)all / 10, fmin(SMALL, (double)all / 2)));
    if (k + 1 == points || low >= (double)all) return all;
    return (size_t)(low * pow((double)all / low, (double)k / (double)(points - 1)) + 0.5);
}

/* Copies some rows and columns of every trial to a dense matrix. */
static kspec_status take(const kspec_matrix *phi, size_t ntrials, const size_t *rows, size_t P,
                         const size_t *cols, size_t Q, kspec_matrix *out, ks_arena *arena, kspec_error *err) {
    for (size_t t = 0; t < ntrials; t++) {
        double *x = ks_arena_alloc(arena, ks_size(P, Q), sizeof *x);
        if (!x) return ks_nomem(err, "a part of the matrix", arena->failed);
        out[t] = ks_matrix_of(x, P, Q);
        for (size_t i = 0; i < P; i++)
            for (size_t j = 0; j < Q; j++) *x++ = ks_at(&phi[t], rows[i], cols[j]);
    }
    return KSPEC_OK;
}

/* Sums over the parts of one size, in the units of the first part. */
typedef struct {
    double square, moment, naive;
    int exponent, count;
} parts;

/* Adds one part of the matrix, with the first P of the listed rows and the first Q of the listed columns. */
static kspec_status add_part(const ks_run *run, const kspec_dimension_opts *o, const kspec_matrix *phi,
                             size_t ntrials, const size_t *rows, size_t P, const size_t *cols, size_t Q,
                             parts *sum, kspec_error *err) {
    ks_arena arena = {0};
    ks_second s;
    kspec_dimension_opts part = *o;
    kspec_matrix *taken = ks_arena_alloc(&arena, ntrials, sizeof *taken);
    size_t *row_trials = o->row_trials ? ks_arena_alloc(&arena, P, sizeof *row_trials) : NULL;
    kspec_status st = arena.failed ? ks_nomem(err, "a part of the matrix", arena.failed) : KSPEC_OK;
    for (size_t i = 0; i < P && row_trials; i++) row_trials[i] = o->row_trials[rows[i]];
    part.row_trials = row_trials;
    if (!st) st = take(phi, ntrials, rows, P, cols, Q, taken, &arena, err);
    if (!st) st = estimate(run, &part, taken, ntrials, &s, NULL, &(kspec_dimension_result){0}, &arena, err);
    if (!st) {
        if (sum->count++ == 0) sum->exponent = s.exponent;
        sum->square += ldexp(s.square[0], 4 * (s.exponent - sum->exponent));
        sum->moment += ldexp(s.moment[0], 4 * (s.exponent - sum->exponent));
        sum->naive += s.naive;
    }
    ks_arena_free(&arena);
    return st;
}

/*
 * Computes one point of the curve from several parts. Smaller sizes use more parts. The ratio of the mean
 * m(1)^2 and the mean m(2) is less noisy than a mean of ratios. rows and cols contain the random order twice,
 * because a part may start anywhere.
 */
static kspec_status curve_point(const ks_run *run, const kspec_dimension_opts *o, const kspec_matrix *phi,
                                size_t ntrials, const size_t *rows, const size_t *cols,
                                const kspec_dimension_result *r, kspec_dimension_point *point,
                                kspec_error *err) {
    enum { MOST = 16 };
    const size_t P = phi->rows, Q = phi->cols;
    if (point->rows == P && point->cols == Q) { /* the call's own result */
        point->dimension = r->dimension, point->naive = r->naive;
        return KSPEC_OK;
    }
    const double fewer = fmin((double)P / (double)point->rows, (double)Q / (double)point->cols);
    const size_t count = (size_t)fmin(MOST, ceil(2 * fewer));
    parts sum = {0};
    kspec_status st = KSPEC_OK;
    for (size_t k = 0; k < count && !st; k++) {
        ks_run part = ks_run_part(run, (double)k / (double)count, (double)(k + 1) / (double)count);
        st = add_part(&part, o, phi, ntrials, rows + k * P / count, point->rows, cols + k * Q / count,
                      point->cols, &sum, err);
    }
    point->dimension = ks_ratio(sum.square, sum.moment);
    point->naive = sum.naive / (double)count;
    return st;
}

static kspec_status make_curve(const ks_run *run, const kspec_dimension_opts *o, const kspec_matrix *phi,
                               size_t ntrials, kspec_dimension_result *r, ks_arena *arena, kspec_error *err) {
    size_t *rows = ks_arena_alloc(arena, ks_size(2, r->P), sizeof *rows),
           *cols = ks_arena_alloc(arena, ks_size(2, r->Q), sizeof *cols);
    r->curve = ks_arena_list(ks_result_arena(r), o->curve, sizeof **r->curve);
    if (arena->failed || !r->curve) return ks_nomem(err, "the curve", arena->failed);
    ks_random_permutation(o->seed, ks_stream(KS_STREAM_CURVE, 0), r->P, rows);
    ks_random_permutation(o->seed, ks_stream(KS_STREAM_CURVE, 1), r->Q, cols);
    memcpy(rows + r->P, rows, r->P * sizeof *rows);
    memcpy(cols + r->Q, cols, r->Q * sizeof *cols);
    kspec_status st = KSPEC_OK;
    for (size_t k = 0; k < o->curve && !st; k++) {
        ks_run part = ks_run_part(run, (double)k / (double)o->curve, (double)(k + 1) / (double)o->curve);
        r->curve[k]->rows = size_at(ks_centred(r->center) ? 5 : 3, r->P, k, o->curve);
        r->curve[k]->cols = size_at(3, r->Q, k, o->curve);
        st = curve_point(&part, o, phi, ntrials, rows, cols, r, r->curve[k], err);
    }
    r->curve_count = o->curve;
    return st;
}

/* ---- call ---- */

typedef struct {
    const kspec_matrix *phi, *raw; /* raw: as given */
    size_t ntrials;
    const kspec_dimension_opts *o;
    kspec_dimension_result *result;
} call;

kspec_status ks_dimension_doubts(kspec_dimension_result *r, kspec_error *err) {
    const ks_doubts to = KS_DOUBTS(r);
    const char *constant = r->center == KSPEC_CENTER_NONE   ? "every entry is 0"
                           : r->center == KSPEC_CENTER_COLS ? "every row is constant"
                                                            : "every column is constant";
    const ks_doubted d = {r->dimension, r->std_error, r->trace_squared, r->second_moment,
                          isfinite(r->naive) || r->missing ? NULL : constant};
    ks_doubt_dimension(to, NULL, &d);
    if (r->signal == KSPEC_EVIDENCE_NONE) ks_doubt(to, KSPEC_DOUBT_ALL_NOISE, NULL, NULL, r->signal_z);
    if (r->trials == 1) ks_doubt(to, KSPEC_DOUBT_ONE_TRIAL, NULL, NULL, 0);
    return to.arena->failed ? ks_nomem(err, "the list of doubts", to.arena->failed) : KSPEC_OK;
}

static kspec_status add_doubts(const call *c, kspec_dimension_result *r, kspec_error *err) {
    const ks_doubts to = KS_DOUBTS(r);
    if (r->device.unusable) ks_doubt(to, KSPEC_DOUBT_GPU_UNUSED, NULL, r->device.why, 0);
    const ks_checked data = KS_CHECKED(c);
    if (!c->o->data_memory) ks_check(to, NULL, &data); /* ks_check() cannot read GPU memory */
    return ks_dimension_doubts(r, err);
}

static kspec_status compute(const ks_run *run, const kspec_dimension_opts *o, const kspec_matrix *phi,
                            size_t ntrials, kspec_dimension_result *r, ks_arena *arena, kspec_error *err) {
    ks_second s;
    const double part = o->curve || o->target ? 0.3 : 1;
    ks_run first = ks_run_part(run, 0, part), second = ks_run_part(run, part, o->curve ? 0.6 : 1),
           third = ks_run_part(run, 0.6, 1);
    ks_evidence evidence;
    kspec_status st = estimate(&first, o, phi, ntrials, &s, &evidence, r, arena, err);
    if (st) return st;
    r->signal = evidence.signal, r->signal_z = evidence.z;
    r->cycles = r->missing ? s.cycles : 1;
    if (r->missing && !(r->cycles > 0))
        return ks_fail(err, KSPEC_E_DATA,
                       "the %zu missing entries leave no pair of columns with enough rows that have both",
                       r->missing);
    if (r->missing && o->target)
        return ks_refuse(err, KSPEC_E_ARG, "target", NULL,
                         "a target and missing entries (pairwise) cannot be combined");
    r->P = phi[0].rows, r->Q = phi[0].cols, r->trials = ntrials, r->center = o->center;
    ks_dimensionality d;
    st = ks_dimension_set(&s, &d, r, arena, err);
    const ks_labels of = {s.P, s.Q, o->row_groups != NULL, o->col_groups != NULL,
                          o->center == KSPEC_CENTER_COLS};
    if (!st) ks_doubt_dominated(KS_DOUBTS(r), "the dimension", &d.bar, &of);
    ks_groups rows;
    if (!st) st = ks_groups_make(&rows, o->row_groups, r->P, "row", arena, err);
    if (!st) st = ks_signal_make(o, o->center, phi, ntrials, &rows, s.share[1], r, err);
    if (!st) st = ks_targets_make(&second, o, phi, ntrials, r, err);
    return st || !o->curve ? st : make_curve(&third, o, phi, ntrials, r, arena, err);
}

/* Centres over columns by exchanging rows and columns, in the data and in the result. */
static kspec_status compute_turned(const ks_run *run, kspec_dimension_opts o, const kspec_matrix *phi,
                                   size_t ntrials, kspec_dimension_result *r, ks_arena *arena,
                                   kspec_error *err) {
    kspec_matrix *turned = ks_trials_turned(phi, ntrials, arena);
    if (!turned) return ks_nomem(err, "the trials", arena->failed);
    if ((phi[0].rows < 3 || phi[0].cols < 5) && !o.population_rows && !o.population_cols)
        return ks_fail(err, KSPEC_E_ARG, "%zu x %zu is less than the 3 x 5 that centring over columns needs",
                       phi[0].rows, phi[0].cols);
    const uint64_t *rows = o.row_groups;
    o.row_groups = o.col_groups, o.col_groups = rows;
    o.standardize = 0; /* The rows are already standardised, and their standard deviations count as known. */
    const uint64_t population = o.population_rows;
    o.population_rows = o.population_cols, o.population_cols = population;
    kspec_status st = compute(run, &o, turned, ntrials, r, arena, err);
    if (st) return st;
    size_t P = r->P, groups = r->groups;
    r->P = r->Q, r->Q = P;
    r->groups = r->col_groups, r->col_groups = groups;
    const double variance = r->row_variance;
    r->row_variance = r->col_variance, r->col_variance = variance;
    for (size_t k = 0; k < r->curve_count; k++) {
        size_t n = r->curve[k]->rows;
        r->curve[k]->rows = r->curve[k]->cols, r->curve[k]->cols = n;
    }
    return KSPEC_OK;
}

/*
 * A complete side is a population of the size of the sample. A part of the curve is a sample from this
 * population.
 */
static kspec_status set_populations(kspec_dimension_opts *o, const kspec_matrix *phi, size_t ntrials,
                                    kspec_error *err) {
    const uint64_t given[2] = {o->population_rows, o->population_cols};
    double population[2];
    const int some = phi && ntrials; /* 0: refused later */
    kspec_status st =
        ks_populations(o->sampled, given, some ? phi->rows : 0, some ? phi->cols : 0, population, err);
    if (!st && !isinf(population[0])) o->population_rows = (uint64_t)population[0];
    if (!st && !isinf(population[1])) o->population_cols = (uint64_t)population[1];
    return st;
}

/* Adds up the work of the call. A curve has up to 16 smaller parts of each size. */
static kspec_status decide(const call *c, ks_placement *placement, kspec_error *err) {
    const kspec_dimension_opts *o = c->o;
    ks_load l = {0};
    if (c->phi && c->ntrials)
        ks_load_sums(&l, c->phi->rows, c->phi->cols, c->phi->cols, c->ntrials > 1,
                     c->ntrials > 2 || o->row_trials ? (size_t)o->splits : 1);
    l.work *= (double)(1 + o->curve);
    return ks_where_second(placement, &l,
                           o->pairwise                      ? "dimension with missing entries"
                           : o->row_groups || o->col_groups ? "dimension of groups"
                                                            : NULL,
                           err);
}

static kspec_status attempt(void *ctx, ks_placement *placement, kspec_error *err) {
    call *c = ctx;
    const kspec_dimension_opts *o = c->o;
    const int turn = o->center == KSPEC_CENTER_COLS && c->ntrials > 0;
    ks_run run;
    ks_arena arena = {0};
    kspec_dimension_result *r = NULL;
    kspec_status st = ks_run_init(&run, o->threads, o->progress, err);
    run.team = o->team;
    if (!st) st = decide(c, placement, err);
    run.device = placement->device;
    if (!st && o->data_memory && (!run.device || run.device->streamed)) st = KS_RETRY_ON_HOST;
    if (!st && !(r = ks_result_new(sizeof *r))) st = ks_nomem(err, "the result", sizeof *r);
    if (!st && !(st = ks_blas_enter(run.threads, err))) {
        if (turn) st = ks_matrix_check(c->phi, "the matrix", err);
        if (!st)
            st = turn ? compute_turned(&run, *o, c->phi, c->ntrials, r, &arena, err)
                      : compute(&run, o, c->phi, c->ntrials, r, &arena, err);
        const ks_checked data = KS_CHECKED(c);
        if (!o->data_memory) st = ks_check_blame(st, &data, err);
        ks_blas_exit();
    }
    ks_arena_free(&arena);
    if (!st) ks_placement_describe(placement, &r->device);
    if (!st) st = add_doubts(c, r, err);
    return ks_hand_over(st, r, &c->result);
}

/* Runs on the trials in GPU memory if possible, and otherwise on copies in host memory. */
static kspec_status attempt_any(void *ctx, ks_placement *placement, kspec_error *err) {
    call *c = ctx;
    const kspec_dimension_opts *o = c->o;
    if (!o->data_memory) return attempt(c, placement, err);
    const int suits = placement->device && c->ntrials == 1 && !o->row_groups && !o->col_groups &&
                      !o->pairwise && !o->curve && !o->target && !o->row_trials;
    kspec_status st = suits ? attempt(c, placement, err) : KS_RETRY_ON_HOST;
    if (st != KS_RETRY_ON_HOST) return st;
    ks_arena arena = {0};
    kspec_dimension_opts on_host = *o;
    kspec_matrix *host = ks_arena_alloc(&arena, c->ntrials, sizeof *host);
    call copy = {host, host, c->ntrials, &on_host, NULL};
    on_host.data_memory = KSPEC_MEMORY_HOST;
    st = host ? ks_borrowed_fetch(placement, c->phi, c->ntrials, host, &arena, err)
              : ks_nomem(err, "the trials", arena.failed);
    if (!st) st = attempt(&copy, placement, err);
    c->result = copy.result;
    ks_arena_free(&arena);
    return st;
}

static kspec_status open_device(const call *c, ks_placement *placement, kspec_error *err) {
    const kspec_dimension_opts *o = c->o;
    const kspec_device device = ks_device_of_rank(o->device, o->team);
    if (!o->data_memory) return ks_placement_open(placement, device, err);
    const char *what = o->standardize ? "standardize" : o->block ? "block" : NULL;
    if (what) return ks_refuse(err, KSPEC_E_ARG, what, NULL, "%s takes a matrix in the host's memory", what);
    if (c->ntrials == 0) return ks_fail(err, KSPEC_E_ARG, "number of trials 0 is below 1");
    return ks_placement_of_data(placement, device, c->phi, c->ntrials, err);
}

kspec_status kspec_dimension(const kspec_matrix *phi, size_t ntrials, const kspec_dimension_opts *opts,
                             kspec_dimension_result **out, kspec_error *err) {
    if (ks_begin(err, out)) return KSPEC_E_ARG;
    double start = ks_now();
    kspec_dimension_opts o;
    ks_placement placement = {0};
    ks_arena arena = {0};
    call c = {phi, phi, ntrials, &o, NULL};
    kspec_status st = ks_take_opts(&o, sizeof o, opts, err);
    if (st) return st;
    const ks_trials_given given = {phi, ntrials, o.row_trials};
    const int on_host = o.data_memory == KSPEC_MEMORY_HOST;
    st = check(&o, err);
    if (!st) st = ks_borrowed_check(o.data_memory, err);
    if (!st && on_host) st = ks_block_labels(&o.block, &o.row_groups, &given, NULL, &arena, err);
    if (!st && on_host && o.standardize) st = ks_standardize(&c.phi, ntrials, o.row_trials, &arena, err);
    if (!st) st = set_populations(&o, phi, ntrials, err);
    if (!st) st = open_device(&c, &placement, err);
    st = ks_placement_run(&placement, st, o.team, attempt_any, &c, err);
    ks_arena_free(&arena);
    if (!st) c.result->block = o.block;
    return ks_end(st, c.result, start, out);
}
