/* Computes dimensions, exponents and shares of a spectrum, with intervals from the families of the fit. */
#include "fit/describe.h"

#include "base/error.h"
#include "linalg/linalg.h"
#include "fit/mixture.h"

#include <math.h>
#include <string.h>

/*
 * Every quantity except the exponent is positive, so the fit describes its logarithm. Each function below
 * returns the logarithm (or the exponent). If g is not NULL, it receives the derivatives with respect to log
 * lambda.
 */
typedef struct {
    size_t n;
    const double *theta, *weight, *position;
} points;

static double weight_of(const points *p, size_t l) { return p->weight ? p->weight[l] : 1; }
static double position_of(const points *p, size_t l) {
    return p->position ? p->position[l] : (double)(l + 1);
}

static double log_dimension(const points *p, double t, double *g) {
    double sum = 0;
    for (size_t l = 0; l < p->n; l++) {
        double r = t * exp(-p->theta[l]), term = weight_of(p, l) / (1 + r);
        sum += term;
        if (g) g[l] = term * r / (1 + r);
    }
    for (size_t l = 0; l < p->n && g; l++) g[l] /= sum;
    return sum > 0 ? log(sum) : -INFINITY;
}

static double log_moment(const points *p, double order, double *g) {
    double sum = 0;
    for (size_t l = 0; l < p->n; l++) {
        double term = weight_of(p, l) * exp(order * p->theta[l]);
        sum += term;
        if (g) g[l] = order * term;
    }
    for (size_t l = 0; l < p->n && g; l++) g[l] /= sum;
    return sum > 0 ? log(sum) : -INFINITY;
}

static double log_ratio(const points *p, double *g, double *scratch) {
    double first = log_moment(p, 1, g), second = log_moment(p, 2, scratch);
    for (size_t l = 0; l < p->n && g; l++) g[l] = 2 * g[l] - scratch[l];
    return 2 * first - second;
}

/*
 * A node stands for the eigenvalues from position - weight/2 to position + weight/2. A node across the border
 * counts in part.
 */
static double log_beyond(const points *p, size_t from, double *g) {
    double all = 0, beyond = 0;
    for (size_t l = 0; l < p->n; l++) {
        double w = weight_of(p, l), inside = position_of(p, l) + 0.5 * w - 0.5 - (double)from;
        double term = exp(p->theta[l]), part = fmin(fmax(inside, 0), w) * term;
        all += w * term;
        beyond += part;
        if (g) g[l] = part;
    }
    for (size_t l = 0; l < p->n && g; l++)
        g[l] = (beyond > 0 ? g[l] / beyond : 0) - weight_of(p, l) * exp(p->theta[l]) / all;
    return log(beyond / all);
}

/*
 * In the regression for the exponent, eigenvalue i has the weight i^-power. A node has the total weight of
 * its eigenvalues.
 */
static double exponent(const points *p, size_t from, size_t to, double power, double *g) {
    double total = 0, mean = 0, square = 0, slope = 0;
    for (int step = 0; step < 3; step++)
        for (size_t l = 0; l < p->n; l++) {
            double at = position_of(p, l), x = log(at), w = weight_of(p, l) * pow(at, -power);
            int inside = at >= (double)from - 0.5 && at <= (double)to + 0.5;
            if (step == 2 && g) g[l] = inside ? -w * (x - mean) / square : 0;
            if (!inside) continue;
            if (step == 0) {
                mean = (mean * total + w * x) / (total + w);
                total += w;
            }
            if (step == 1) square += w * (x - mean) * (x - mean);
            if (step == 2) slope += w * (x - mean) * p->theta[l] / square;
        }
    return square > 0 ? -slope : NAN;
}

static double describe(const ks_quantity *q, const points *p, double *g, double *scratch) {
    switch (q->kind) {
    case KS_EFFECTIVE_DIMENSION: return log_dimension(p, q->at, g);
    case KS_MOMENT: return log_moment(p, q->at, g);
    case KS_PARTICIPATION_RATIO: return log_ratio(p, g, scratch);
    case KS_SHARE_BEYOND: return log_beyond(p, q->from, g);
    case KS_EXPONENT: return exponent(p, q->from, q->to, q->at, g);
    case KS_NOISE: break;
    }
    return NAN;
}

static double unlog(const ks_quantity *q, double x) { return q->kind == KS_EXPONENT ? x : exp(x); }

double ks_quantity_of(const ks_quantity *q, size_t n, const double *log_lambda, const double *weight,
                      const double *position) {
    return unlog(q, describe(q, &(points){n, log_lambda, weight, position}, NULL, NULL));
}

/* Returns |root g|^2, the variance of a quantity with the derivatives g. */
static double variance(size_t N, const double *root, const double *g) {
    double sum = 0;
    for (size_t k = 0; k < N; k++) {
        double x = ks_dot(N, root + k * N, g);
        sum += x * x;
    }
    return sum;
}

/* Computes the mean and standard deviation of each quantity under one family. */
static void by_family(const ks_problem *p, ks_mode_work *w, const ks_mode *m, size_t count,
                      const ks_quantity *q, double *g, double *mean, double *sd) {
    int known = ks_mode_root(p, w, m);
    points at = {w->n, w->theta, w->weight, p->position};
    for (size_t k = 0; k < count; k++) {
        memset(g, 0, p->N * sizeof *g);
        if (q[k].kind == KS_NOISE) {
            mean[k] = p->dust ? w->theta[w->n] : -INFINITY;
            if (p->dust) g[w->n] = 1;
        } else {
            mean[k] = describe(&q[k], &at, g, g + p->N);
        }
        sd[k] = known ? KS_WIDER_SUMS * sqrt(variance(w->N, w->root, g)) : NAN;
    }
}

static void combine(const ks_fitted *f, size_t stride, double *mean, double *sd, ks_quantity *q) {
    double centre = 0, spread = 0;
    q->low = q->high = q->sd = NAN;
    if (q->value == 0 && q->kind != KS_EXPONENT) { /* an empty range has no logarithm */
        q->low = q->high = q->sd = 0;
        return;
    }
    for (size_t k = 0; k < f->count; k++) { /* some families give 0 */
        if (mean[k * stride] < KS_NOTHING) mean[k * stride] = KS_NOTHING;
        if (mean[k * stride] == KS_NOTHING) sd[k * stride] = 0;
        centre += f->weight[k] * mean[k * stride];
    }
    for (size_t k = 0; k < f->count; k++) {
        double from = mean[k * stride] - centre;
        spread += f->weight[k] * (sd[k * stride] * sd[k * stride] + from * from);
    }
    if (!isfinite(spread)) return;
    q->low = fmin(unlog(q, ks_mixture_quantile(f->count, f->weight, mean, sd, stride, 0.025)), q->value);
    q->high = fmax(unlog(q, ks_mixture_quantile(f->count, f->weight, mean, sd, stride, 0.975)), q->value);
    q->sd = sqrt(spread) * (q->kind == KS_EXPONENT ? 1 : q->value);
}

kspec_status ks_describe(const ks_run *run, const ks_fitted *f, size_t count, ks_quantity *q,
                         kspec_error *err) {
    const ks_problem *p = &f->p;
    ks_arena arena = {0};
    ks_mode_work work;
    ks_mode_work_alloc(p, &arena, &work);
    double *mean = ks_arena_alloc(&arena, ks_size(f->count, count), sizeof *mean);
    double *sd = ks_arena_alloc(&arena, ks_size(f->count, count), sizeof *sd);
    double *g = ks_arena_alloc(&arena, 2 * p->N, sizeof *g);
    kspec_status st =
        arena.failed ? ks_nomem(err, "the description of the spectrum", arena.failed) : KSPEC_OK;
    for (size_t m = 0; m < f->count && !st; m++) {
        by_family(p, &work, f->modes[m], count, q, g, mean + m * count, sd + m * count);
        if (ks_run_report(run, (double)(m + 1) / (double)f->count))
            st = ks_fail(err, KSPEC_E_CANCELLED, "cancelled");
    }
    for (size_t k = 0; k < count && !st; k++) {
        q[k].value = q[k].kind == KS_NOISE ? (p->dust ? exp(f->theta[p->n]) : 0)
                                           : ks_quantity_of(&q[k], p->end, f->log_lambda, NULL, NULL);
        combine(f, count, mean + k, sd + k, &q[k]);
    }
    ks_arena_free(&arena);
    return st;
}
