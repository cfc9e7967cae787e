/*
 * --method cvpca: estimates cross-validated eigenvalues (cvpca.c), averaged over splits of the trials and
 * over the two orders of the halves, with intervals by a jackknife over rows.
 *
 * The jackknife leaves out random groups of rows: an eigenproblem for each row would take too long, and
 * neighbouring rows may be alike. Each of the `groups` estimates leaves out one group. The variance is
 * (groups-1)/groups times the sum of their squared deviations. Student's distribution turns the variance into
 * an interval.
 */
#include "base/center.h"
#include "base/error.h"
#include "base/streams.h"
#include "linalg/linalg.h"
#include "moments/trials.h"
#include "spectrum/cvpca.h"
#include "spectrum/methods.h"
#include "spectrum/sample.h"
#include "team/team.h"

#include <math.h>
#include <string.h>

/* Groups of rows; SPLITS as in kspec_moments() */
enum { GROUPS = 20, SPLITS = 8, LEAST_ROWS = 4 };

/* The 97.5% quantiles of Student's distribution with 1 ... GROUPS-1 degrees of freedom */
static const double student[GROUPS - 1] = {12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365,
                                           2.306,  2.262, 2.228, 2.201, 2.179, 2.160, 2.145,
                                           2.131,  2.120, 2.110, 2.101, 2.093};

typedef struct {
    ks_pair pair;
    /* 1: subtract the mean of each column */
    int center;
    /* n: min(P,Q). groups: the groups of the jackknife; 0: no error bars. */
    size_t n, groups;
    /* the group of each row, and the size of the largest group */
    size_t *group, largest;
    /*
     * scratch of each worker: the remaining rows of both halves, means (Q), and the eigenproblem's matrices
     */
    double **left;
    ks_cvpca_room *room;
    /* 2 (1 + groups) x n: estimate c / 2 (0: from all rows) in order c % 2 */
    double *lambda;
} cvpca;

/*
 * Copies the rows of X outside group g to `out`, and centres the copy again if requested. Returns the number
 * of rows.
 */
static size_t leave_out(const cvpca *c, const double *X, size_t g, double *mean, double *out) {
    size_t P = c->pair.P, Q = c->pair.Q, kept = 0;
    for (size_t i = 0; i < P; i++)
        if (c->group[i] != g) memcpy(out + kept++ * Q, X + i * Q, Q * sizeof *out);
    if (!c->center) return kept;
    memset(mean, 0, Q * sizeof *mean);
    for (size_t i = 0; i < kept; i++)
        for (size_t j = 0; j < Q; j++) mean[j] += out[i * Q + j] / (double)kept;
    for (size_t i = 0; i < kept; i++)
        for (size_t j = 0; j < Q; j++) out[i * Q + j] -= mean[j];
    return kept;
}

/* Computes one estimate of one split, in one order of the halves */
static kspec_status one_estimate(void *ctx, size_t chunk, const ks_worker *worker) {
    const cvpca *c = ctx;
    size_t P = c->pair.P, Q = c->pair.Q, estimate = chunk / 2;
    const double *A = chunk % 2 ? c->pair.B : c->pair.A, *B = chunk % 2 ? c->pair.A : c->pair.B;
    double *lambda = c->lambda + chunk * c->n, *left = c->left[worker->index];
    if (estimate) {
        leave_out(c, A, estimate - 1, left + 2 * P * Q, left);
        P = leave_out(c, B, estimate - 1, left + 2 * P * Q, left + P * Q);
        A = left;
        B = left + c->pair.P * Q;
    }
    /* with fewer rows ks_cvpca() may set fewer eigenvalues */
    for (size_t k = 0; k < c->n; k++) lambda[k] = 0;
    return ks_cvpca(A, B, P, Q, &c->room[worker->index], lambda, worker->err);
}

static kspec_status check_memory(const cvpca *c, size_t P, size_t Q, size_t workers, kspec_error *err) {
    size_t each = ks_size_add(ks_size(ks_size(P + 1, Q), 2), ks_size(ks_size(c->n, c->n), 3));
    size_t values = ks_size_add(ks_size(each, workers), ks_size(ks_size(P, Q), 2));
    return ks_check_memory(err, ks_size(values, sizeof(double)),
                           "cross-validated eigenvalues of %zu x %zu on %zu threads", P, Q, workers);
}

static kspec_status prepare(cvpca *c, const ks_spectrum_job *j, size_t P, size_t Q, ks_arena *arena,
                            kspec_error *err) {
    size_t chunks = 2 * (1 + c->groups), workers = (size_t)ks_workers(&j->run, chunks);
    kspec_status st = check_memory(c, P, Q, workers, err);
    if (st) return st;
    size_t *order = ks_arena_alloc(arena, P, sizeof *order);
    c->group = ks_arena_alloc(arena, P, sizeof *c->group);
    c->lambda = ks_arena_alloc(arena, ks_size(chunks, c->n), sizeof *c->lambda);
    c->left = ks_arena_alloc(arena, workers, sizeof *c->left);
    c->room = ks_arena_alloc(arena, workers, sizeof *c->room);
    for (size_t w = 0; w < workers && !arena->failed; w++) {
        c->left[w] = ks_arena_alloc(arena, c->groups ? ks_size(2 * P + 1, Q) : 0, sizeof(double));
        ks_cvpca_alloc(&c->room[w], P, Q, arena);
    }
    if (arena->failed) return ks_nomem(err, "the cross-validated eigenvalues", arena->failed);
    if (!c->groups) return KSPEC_OK;
    ks_random_permutation(j->o.seed, ks_stream(KS_STREAM_GROUPS, 0), P, order);
    for (size_t i = 0; i < P; i++) c->group[order[i]] = i % c->groups;
    c->largest = (P + c->groups - 1) / c->groups;
    return KSPEC_OK;
}

/* The estimates of all splits and both orders: sum (1 + groups) x n */
static kspec_status average(cvpca *c, const ks_spectrum_job *j, const ks_trials *t, int splits, double *sum,
                            ks_arena *arena, kspec_error *err) {
    const size_t count = ks_trials_splits(t, splits), chunks = 2 * (1 + c->groups);
    ks_halves halves;
    kspec_status st = ks_trials_alloc(t, arena, &halves, err);
    memset(sum, 0, (1 + c->groups) * c->n * sizeof *sum);
    if (!st) st = ks_blas_enter(j->run.threads, err);
    if (st) return st;
    for (size_t r = 0; r < count && !st; r++) {
        ks_run part = ks_run_part(&j->run, (double)r / (double)count, (double)(r + 1) / (double)count);
        ks_trials_split(t, j->o.seed, r, &halves, &c->pair);
        const ks_share shares = {c->lambda, c->n * sizeof *c->lambda, chunks, 1};
        st = ks_team_for(&part, "cvpca", chunks, one_estimate, c, &shares, 1, err);
        for (size_t k = 0; k < chunks * c->n && !st; k++)
            sum[k / c->n / 2 * c->n + k % c->n] += ldexp(c->lambda[k], 2 * t->exponent) / (2 * (double)count);
    }
    ks_blas_exit();
    return st;
}

static void jackknife(const cvpca *c, const double *sum, kspec_spectrum_result *r) {
    size_t rows = c->pair.P - c->largest, known = rows < c->n ? rows : c->n;
    double G = (double)c->groups;
    for (size_t k = 0; k < c->n; k++) {
        double mean = 0, square = 0;
        for (size_t g = 1; g <= c->groups; g++) mean += sum[g * c->n + k] / G;
        for (size_t g = 1; g <= c->groups; g++) square += pow(sum[g * c->n + k] - mean, 2);
        r->eigenvalues[k] = sum[k];
        /* without one group, eigenvalues from `known` on are 0 and give no error bar */
        r->std_error[k] = c->groups && k < known ? sqrt((G - 1) / G * square) : NAN;
        double half = c->groups ? student[c->groups - 2] * r->std_error[k] : NAN;
        r->ci_low[k] = sum[k] - half;
        r->ci_high[k] = sum[k] + half;
    }
}

static kspec_status alloc_result(ks_spectrum_job *j, size_t n, kspec_error *err) {
    kspec_spectrum_result *r = j->r;
    double **lists[] = {&r->eigenvalues, &r->std_error, &r->ci_low, &r->ci_high};
    ks_arena *arena = ks_result_arena(r);
    for (size_t k = 0; k < sizeof lists / sizeof *lists; k++)
        *lists[k] = ks_arena_alloc(arena, n, sizeof(double));
    if (arena->failed) return ks_nomem(err, "the spectrum", arena->failed);
    r->rank = n;
    return ks_spectrum_given(j, err);
}

kspec_status ks_check_cvpca(const kspec_matrix *phi, size_t ntrials, const kspec_moments_opts *how,
                            kspec_error *err) {
    if (ntrials == 1)
        return ks_fail(
            err, KSPEC_E_DATA,
            "cross-validated eigenvalues need at least 2 trials, not 1; the other methods take one");
    if (how->scheme == KSPEC_TRIALS_ASSIGNMENT)
        return ks_fail(err, KSPEC_E_ARG,
                       "cross-validated eigenvalues need trials that are split, not assigned");
    size_t n = !phi ? 0 : phi[0].rows < phi[0].cols ? phi[0].rows : phi[0].cols;
    if (n > KS_SAMPLE_MAX)
        return ks_fail(
            err, KSPEC_E_DATA,
            "cross-validated eigenvalues of %zu x %zu: the shorter side exceeds %d; select fewer rows "
            "or columns",
            phi[0].rows, phi[0].cols, KS_SAMPLE_MAX);
    return KSPEC_OK;
}

kspec_status ks_spectrum_by_cvpca(ks_spectrum_job *j, const kspec_matrix *phi, size_t ntrials,
                                  const kspec_moments_opts *how, kspec_error *err) {
    size_t P = phi[0].rows, Q = phi[0].cols, n = P < Q ? P : Q;
    ks_trials t = ks_trials_of(phi, ntrials, how);
    /* rows of a complete side have no sampling error */
    int complete = how->sampled == KSPEC_SAMPLED_COLS || how->population_rows == P;
    int bars = !how->no_stderr && !complete && P >= LEAST_ROWS;
    cvpca c = {.center = ks_rows_centred(how->center), .n = n, .groups = !bars ? 0 : P < GROUPS ? P : GROUPS};
    kspec_status st = ks_trials_init(&t, err);
    if (!st) st = ks_trials_scale(&t, 2, err);
    if (!st) st = alloc_result(j, n, err);
    if (!st) st = prepare(&c, j, P, Q, &j->arena, err);
    if (st) return st;
    double *sum = ks_arena_alloc(&j->arena, ks_size(1 + c.groups, n), sizeof *sum);
    if (!sum) return ks_nomem(err, "the cross-validated eigenvalues", j->arena.failed);
    st = average(&c, j, &t, how->splits ? how->splits : SPLITS, sum, &j->arena, err);
    if (st) return st;
    jackknife(&c, sum, j->r);
    j->r->cvpca->splits = (int)ks_trials_splits(&t, how->splits ? how->splits : SPLITS);
    j->r->cvpca->groups = (int)c.groups;
    return KSPEC_OK;
}

kspec_status ks_spectrum_crossed(ks_spectrum_job *j, const kspec_matrix *phi, size_t ntrials,
                                 const kspec_moments_opts *how, double *lambda, kspec_error *err) {
    const size_t P = phi[0].rows, Q = phi[0].cols;
    ks_trials t = ks_trials_of(phi, ntrials, how);
    cvpca c = {.n = P < Q ? P : Q};
    kspec_status st = ks_trials_init(&t, err);
    if (!st) st = ks_trials_scale(&t, 2, err);
    if (!st) st = prepare(&c, j, P, Q, &j->arena, err);
    return st ? st : average(&c, j, &t, 1, lambda, &j->arena, err);
}
