/* Compares predictions with real draws of the features if the draws are affordable. */
#include "base/doubt.h"
#include "base/error.h"
#include "base/result.h"
#include "ridge/activation.h"
#include "ridge/mix.h"
#include "ridge/one.h"
#include "ridge/call.h"

#include <math.h>

/*
 * The theory holds for n, p and N large. For n in the hundreds, the theory is off by 10% and more if
 * lambda is far below the mean eigenvalue of S S^T/n, N/n. At a tenth of N/n it is off by up to 3%
 * (bench/ridge_band.py).
 */
static const double SMALL = 0.1, FAR = 0.1;

/* Number of multiply-adds that take a second or so. */
static const double LITTLE = 1e10;

static double mean_eigenvalue(const kspec_ridge *r, size_t N) {
    double trace = r->trace[COS] + r->trace[SIN];
    for (size_t i = 0; r->one && i < r->n; i++) trace += r->one->l[i];
    return trace / (double)r->n * (double)N / (double)r->n;
}

static int small(const kspec_ridge *r, const kspec_ridge_point *p) {
    return p->lambda < SMALL * mean_eigenvalue(r, p->N);
}

/* ---- numbers of features to draw ---- */

/* A group holds the points that have the same N. */
typedef struct {
    size_t N, count;
    double least;   /* the smallest lambda n/N in the group */
    double *lambda; /* the group's `count` lambdas, in the order of the points */
} group;

/*
 * Returns the cost of a draw for all values of lambda: one factorisation for each, or one
 * eigendecomposition for all.
 */
static double cost_of(const kspec_ridge *r, const group *g) {
    const double d = fmin((double)(ks_activation_width(r->o.activation) * g->N), (double)r->n);
    return kspec_ridge_cost(r, g->N) + (fmin((double)g->count, 15) - 1) * d * d * d / 6;
}

static double prediction_cost(const kspec_ridge *r, size_t points) {
    const double n = (double)r->n;
    /* A point takes about 5 steps; this is its cost in units of n^3. */
    const double products = r->mix ? 5 * (double)r->mix->count : 7.5;
    return (products * (r->one ? 1 : (double)points) * n + 1.5 * (double)r->nt) * n * n;
}

static size_t make_groups(const kspec_ridge_result *result, group *groups, double *lambda) {
    size_t count = 0;
    for (size_t k = 0; k < result->count; k++) {
        const size_t N = result->points[k]->N;
        size_t g = 0;
        while (g < count && groups[g].N != N) g++;
        if (g < count) continue;
        groups[count] = (group){.N = N, .least = INFINITY, .lambda = lambda};
        for (size_t l = k; l < result->count; l++) {
            if (result->points[l]->N != N) continue;
            groups[g].lambda[groups[g].count++] = result->points[l]->lambda;
            groups[g].least = fmin(groups[g].least, result->points[l]->lambda / (double)N);
        }
        lambda += groups[count++].count;
    }
    return count;
}

/* Returns the group with the smallest lambda n/N among the groups not yet taken (count > 0). */
static group *next_group(group *groups, size_t count) {
    group *best = NULL;
    for (size_t g = 0; g < count; g++)
        if (groups[g].count && (!best || groups[g].least < best->least)) best = &groups[g];
    return best;
}

static kspec_status draw(kspec_ridge *r, const group *g, kspec_ridge_result *result, kspec_ridge_measured *to,
                         kspec_error *err) {
    kspec_ridge_empirical_result *drawn = NULL;
    kspec_status st = kspec_ridge_empirical(r, g->N, g->lambda, g->count, result->draws, &drawn, err);
    for (size_t k = 0, l = 0; k < result->count && !st; k++)
        if (result->points[k]->N == g->N) {
            to[k] = *drawn->points[l++];
            result->points[k]->measured = &to[k];
        }
    kspec_free(drawn);
    return st;
}

/* ---- doubts ---- */

static double distance(double predicted, double drawn) { return fabs(log(predicted / drawn)); }

/*
 * Finds the point whose training (or test) error is farthest from its draws. Returns 1 if the difference
 * exceeds 10%.
 */
static int doubt_kind(const kspec_ridge_result *result, ks_doubts to, int test) {
    const kspec_ridge_point *worst = NULL;
    double most = 0, points = 0;
    for (size_t k = 0; k < result->count; k++) {
        const kspec_ridge_point *p = result->points[k];
        if (!p->measured) continue;
        const double predicted = test ? p->test_mse : p->train_mse,
                     drawn = test ? p->measured->test_mse : p->measured->train_mse;
        if (!(predicted > 0 && drawn > 0) || fabs(predicted / drawn - 1) <= FAR) continue;
        points++;
        if (distance(predicted, drawn) > most) most = distance(predicted, drawn), worst = p;
    }
    if (!worst) return 0;
    const kspec_ridge_measured *m = worst->measured;
    const double drawn = test ? m->test_mse : m->train_mse, sd = test ? m->test_sd : m->train_sd;
    char where[80];
    ks_print(where, sizeof where, "N = %zu, lambda = %g", worst->N, worst->lambda);
    ks_doubt(to, KSPEC_DOUBT_DRAWS_DIFFER, where, test ? "test" : "training",
             (test ? worst->test_mse : worst->train_mse) / drawn, (double)result->draws,
             sd / drawn / sqrt((double)result->draws), points);
    return 1;
}

static kspec_status add_doubts(const kspec_ridge *r, kspec_ridge_result *result, kspec_error *err) {
    const ks_doubts to = KS_DOUBTS(result);
    size_t unchecked = 0, grave = 0;
    for (size_t k = 0; k < result->count; k++) {
        const kspec_ridge_point *p = result->points[k];
        if (!p->measured) unchecked++, grave += small(r, p);
    }
    doubt_kind(result, to, 1);
    /* A doubt about the training error is only a note if there is also a test error. */
    if (doubt_kind(result, to, 0) && r->nt) ks_doubt_lower(to);
    if (unchecked) ks_doubt(to, KSPEC_DOUBT_UNCHECKED, NULL, NULL, (double)unchecked, (double)grave);
    if (unchecked && !grave) ks_doubt_lower(to);
    return to.arena->failed ? ks_nomem(err, "the list of doubts", to.arena->failed) : KSPEC_OK;
}

/* ---- the whole check ---- */

kspec_status ks_ridge_check(kspec_ridge *r, kspec_ridge_result *result, kspec_error *err) {
    ks_arena scratch = {0};
    ks_arena *memory = ks_result_arena(result);
    const size_t points = result->count;
    group *groups = ks_arena_alloc(&scratch, points, sizeof *groups), *g;
    double *lambda = ks_arena_alloc(&scratch, points, sizeof *lambda), left = r->o.check_work;
    kspec_ridge_measured *measured = ks_arena_zalloc(memory, points, sizeof *measured);
    kspec_status st = scratch.failed   ? ks_nomem(err, "numbers of features", scratch.failed)
                      : memory->failed ? ks_nomem(err, "measured errors", memory->failed)
                                       : KSPEC_OK;
    if (left == 0) left = fmax(LITTLE, prediction_cost(r, points));
    const size_t count = st ? 0 : make_groups(result, groups, lambda);
    result->draws = r->o.check_draws;
    for (size_t k = 0; result->draws && !st && (g = next_group(groups, count)); k++) {
        const double work = (double)result->draws * cost_of(r, g);
        r->part[0] = 0.5 * (1 + (double)k / (double)count), r->part[1] = r->part[0] + 0.5 / (double)count;
        if (work <= left) st = draw(r, g, result, measured, err), left -= work;
        g->count = 0;
    }
    ks_arena_free(&scratch);
    return st ? st : add_doubts(r, result, err);
}
