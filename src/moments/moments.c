/*
 * kspec_moments(): checks, prepares pairs of matrices from the trials, has each estimator work on each pair,
 * averages, and makes error bars from the averaged leave-one-out estimates.
 */
#include "base/clock.h"
#include "base/error.h"
#include "linalg/linalg.h"
#include "moments/jackknife.h"
#include "moments/kv.h"
#include "moments/naive.h"
#include "moments/pairs.h"

#include <math.h>
#include <string.h>

enum { ESTIMATORS = 3 };

const char *kspec_estimator_name(kspec_estimator e) {
    switch (e) {
    case KSPEC_NAIVE:
        return "naive";
    case KSPEC_KV_ROW:
        return "kv-row";
    case KSPEC_KV_COL:
        return "kv-col";
    }
    return NULL;
}

typedef struct {
    kspec_moments_opts o;
    ks_trials trials;
    ks_run run;
    ks_arena arena;
    size_t P, Q;
    int nmax;
} job;

static kspec_status check(job *j, const kspec_matrix *phi, size_t ntrials, kspec_error *err) {
    kspec_moments_opts *o = &j->o;
    if (ntrials == 0) return ks_fail(err, KSPEC_E_ARG, "number of trials 0 is below 1");
    size_t P = j->P = phi[0].rows, Q = j->Q = phi[0].cols, min = P < Q ? P : Q;
    if (min == 0) return ks_fail(err, KSPEC_E_ARG, "the matrix is empty: %zu x %zu", P, Q);
    if (ntrials == 1 && o->row_trials)
        return ks_fail(err, KSPEC_E_ARG, "ragged trials need at least 2 trials, not 1");
    if (o->estimators == 0) o->estimators = KSPEC_NAIVE;
    if (o->estimators >> ESTIMATORS)
        return ks_fail(err, KSPEC_E_ARG, "estimators 0x%x: unknown bits above 0x%x", o->estimators,
                       (1u << ESTIMATORS) - 1);
    if (o->splits < 0) return ks_fail(err, KSPEC_E_ARG, "splits %d is below 1", o->splits);
    if (o->splits == 0) o->splits = 8;
    if (o->nmax < 0) return ks_fail(err, KSPEC_E_ARG, "order %d is below 1", o->nmax);
    if (o->nmax == 0) o->nmax = min < 6 ? (int)min : 6;
    if (o->nmax > 10000) return ks_fail(err, KSPEC_E_ARG, "order %d exceeds 10000", o->nmax);
    if (o->estimators & KSPEC_KV_ROW && (size_t)o->nmax > P)
        return ks_fail(err, KSPEC_E_ARG, "kv-row: order %d exceeds the number of rows, P=%zu", o->nmax, P);
    if (o->estimators & KSPEC_KV_COL && (size_t)o->nmax > Q)
        return ks_fail(err, KSPEC_E_ARG, "kv-col: order %d exceeds the number of columns, Q=%zu", o->nmax, Q);
    j->nmax = o->nmax;
    j->trials = (ks_trials){.phi = phi,
                            .count = ntrials,
                            .P = P,
                            .Q = Q,
                            .row_trials = o->row_trials,
                            .center = o->center,
                            .normalize = o->normalize};
    return ks_trials_check(&j->trials, err);
}

/* One estimator on one pair; for the transposed ones rows and columns change places. */
static kspec_status estimate(kspec_estimator e, const ks_run *run, const ks_pair *p,
                             const ks_moments_out *out, kspec_error *err) {
    if (e == KSPEC_NAIVE) return ks_naive(run, p, out, err);
    if (e == KSPEC_KV_ROW) return ks_kv_row(run, p, out, err);
    ks_arena arena = {0};
    ks_pair t;
    kspec_status st = ks_pair_transpose(p, &t, &arena, err);
    if (!st) st = ks_kv_row(run, &t, &(ks_moments_out){out->m, out->cols, out->rows}, err);
    ks_arena_free(&arena);
    return st;
}

/* m, rows and cols in one block of nmax * (1 + P + Q) doubles, so that averaging is one loop */
static ks_moments_out view(const job *j, double *block) {
    size_t n = (size_t)j->nmax;
    if (j->o.no_stderr) return (ks_moments_out){block, NULL, NULL};
    return (ks_moments_out){block, block + n, block + n + n * j->P};
}

static void finish(const job *j, kspec_estimator e, const ks_moments_out *sum, kspec_estimate *out) {
    for (int n = 1; n <= j->nmax; n++, out++) {
        double m = sum->m[n - 1];
        *out = (kspec_estimate){e, n, m, NAN, NAN, NAN, ks_signed_root(m, n)};
        if (!j->o.no_stderr)
            ks_jackknife(m, n, sum->rows + (size_t)(n - 1) * j->P, j->P, sum->cols + (size_t)(n - 1) * j->Q,
                         j->Q, &out->std_error, &out->ci_low, &out->ci_high);
        if (!(isfinite(out->std_error) && isfinite(out->ci_low) && isfinite(out->ci_high)))
            out->std_error = out->ci_low = out->ci_high = NAN;
        /* back to the scale of the data */
        int e2 = 2 * j->trials.exponent;
        out->value = ldexp(m, n * e2);
        out->std_error = ldexp(out->std_error, n * e2);
        out->ci_low = ldexp(out->ci_low, n * e2);
        out->ci_high = ldexp(out->ci_high, n * e2);
        out->root = ldexp(out->root, e2);
    }
}

/* sum_a (mean of column a)^2 over sum of Phi^2: what --center would take away */
static double mean_share(const ks_pair *p, double *mean) {
    double total = 0, share = 0;
    memset(mean, 0, 2 * p->Q * sizeof *mean);
    for (size_t i = 0; i < p->P; i++)
        for (size_t a = 0; a < p->Q; a++) {
            double x = p->A[i * p->Q + a], y = p->B[i * p->Q + a];
            mean[a] += x / (double)p->P;
            mean[p->Q + a] += y / (double)p->P;
            total += x * y / (double)p->P;
        }
    for (size_t a = 0; a < p->Q; a++) share += mean[a] * mean[p->Q + a];
    return total > 0 ? share / total : 0;
}

/* Is the value the same whichever of the two trials comes first? (tr((A B^T)^n) = tr((B A^T)^n)) */
static int symmetric(kspec_estimator e) {
    return e == KSPEC_NAIVE;
}

static kspec_status compute(job *j, kspec_moments_result *out, kspec_error *err) {
    size_t n = (size_t)j->nmax,
           block = ks_size(n, j->o.no_stderr ? 1 : ks_size_add(ks_size_add(j->P, j->Q), 1));
    size_t splits = ks_trials_splits(&j->trials, j->o.splits);
    int orders = splits > 1 || j->trials.count > 2 || j->o.row_trials ? 2 : 1;
    ks_halves halves;
    double *sums[ESTIMATORS] = {0}, *one = ks_arena_alloc(&j->arena, block, sizeof *one);
    double *mean = ks_arena_alloc(&j->arena, ks_size(2, j->Q), sizeof *mean);
    int count = __builtin_popcount(j->o.estimators), done = 0;
    for (int e = 0; e < ESTIMATORS; e++)
        if (j->o.estimators >> e & 1) sums[e] = ks_arena_zalloc(&j->arena, block, sizeof(double));
    kspec_status st = ks_trials_alloc(&j->trials, &j->arena, &halves, err);
    if (st) return st;

    for (size_t r = 0; r < splits && !st; r++) {
        ks_pair p = {.nmax = j->nmax};
        ks_trials_split(&j->trials, j->o.seed, r, &halves, &p);
        if (r == 0) out->mean_share = mean_share(&p, mean);
        for (int e = 0; e < ESTIMATORS && !st; e++) {
            if (!sums[e]) continue;
            ks_run run = ks_run_part(&j->run, (double)done / (double)(splits * (size_t)count),
                                     (double)(done + 1) / (double)(splits * (size_t)count));
            done++;
            int both = symmetric(1u << e) ? 1 : orders;
            for (int order = 0; order < both && !st; order++) {
                ks_pair q = {order ? p.B : p.A, order ? p.A : p.B, p.P, p.Q, p.nmax};
                ks_moments_out v = view(j, one);
                st = estimate(1u << e, &run, &q, &v, err);
                for (size_t k = 0; k < block && !st; k++)
                    sums[e][k] += one[k] / (double)(splits * (size_t)both);
            }
        }
    }
    if (st) return st;

    out->count = (size_t)count * n;
    out->estimates = ks_alloc(out->count, sizeof *out->estimates);
    if (!out->estimates) return ks_nomem(err, "the estimates", out->count * sizeof *out->estimates);
    kspec_estimate *to = out->estimates;
    for (int e = 0; e < ESTIMATORS; e++)
        if (sums[e]) {
            ks_moments_out v = view(j, sums[e]);
            finish(j, 1u << e, &v, to);
            to += n;
        }
    for (size_t k = 0; k < out->count; k++)
        if (!isfinite(out->estimates[k].value))
            return ks_fail(err, KSPEC_E_NUMERIC,
                           "%s: m(%d) exceeds the largest double; scale the data or use normalize",
                           kspec_estimator_name(out->estimates[k].estimator), out->estimates[k].n);
    return KSPEC_OK;
}

/* From the last estimator in the list: they stand in the order of decreasing bias. */
static double participation_ratio(const kspec_moments_result *r, size_t n) {
    if (n < 2) return NAN;
    const kspec_estimate *last = r->estimates + r->count - n;
    double root = last[0].value / sqrt(last[1].value); /* m(1)^2 may overflow where the ratio does not */
    return last[1].value > 0 ? root * root : NAN;
}

kspec_status kspec_moments(const kspec_matrix *phi, size_t ntrials, const kspec_moments_opts *opts,
                           kspec_moments_result *out, kspec_error *err) {
    ks_clear(err);
    memset(out, 0, sizeof *out);
    double start = ks_now();
    job j = {0};
    kspec_status st = ks_take_opts(&j.o, sizeof j.o, opts, err);
    if (!st) st = ks_run_init(&j.run, j.o.threads, j.o.progress, err);
    if (!st) st = check(&j, phi, ntrials, err);
    if (!st) {
        ks_blas_enter();
        st = compute(&j, out, err);
        ks_blas_leave();
    }
    ks_arena_free(&j.arena);
    if (st) {
        kspec_moments_free(out);
        return st;
    }
    out->participation_ratio = participation_ratio(out, (size_t)j.nmax);
    out->seconds = ks_now() - start;
    return KSPEC_OK;
}

void kspec_moments_free(kspec_moments_result *result) {
    ks_free(result->estimates);
    memset(result, 0, sizeof *result);
}
