/*
 * Solves the fixed point x = G(x) by Newton's method on F(x) = x - G(x), G_a(x) = tr(K_a Q(x))/n.
 *
 * Q(x)^-1 = sum_a ((shift+x_a)/(N/n) K_a^-1)^-1 + (I/ridge)^-1 is the sum of inverses of matrices that are
 * linear in x. So Q is their parallel sum, which is jointly concave, and increasing, in x (Anderson and
 * Duffin). Hence F is convex, and I - D = dF/dx has no positive entry off its diagonal. If x is at or above
 * the solution, I - D is a nonsingular M-matrix: its inverse, Omega, has no negative entry. Two facts follow
 * for any x at which I - D is an M-matrix:
 *
 *     the Newton point y has F(y) >= F(x) + (I-D)(y-x) = 0, and so lies at or above the solution;
 *     from y on Newton's points decrease to the solution, in each component.
 *
 * So a start that is extrapolated along a path of lambda need not be a bound: if I - D is an M-matrix at the
 * start, one step gives a bound. If it is not, the method starts again from the upper bound tr(K_a)/(n ridge)
 * or a tighter one, from which it cannot fail.
 */
#include "ridge/solve.h"

#include "base/error.h"

#include <float.h>
#include <math.h>

int ks_ridge_omega(const ks_ridge_traces *t, const double b[2], double y[2]) {
    double cc = 1 - t->D[COS][COS], cs = -t->D[COS][SIN], sc = -t->D[SIN][COS], ss = 1 - t->D[SIN][SIN];
    double det = cc * ss - cs * sc;
    if (!(cc > 0 && ss > 0 && det > 0)) return 0;
    y[COS] = (ss * b[COS] - cs * b[SIN]) / det;
    y[SIN] = (cc * b[SIN] - sc * b[COS]) / det;
    return 1;
}

/* Returns the largest relative step |d_a|/x_a over a; x_sin is 0 if all rows are 0. */
static double relative(const double d[2], const double x[2]) {
    double c = fabs(d[COS]) / x[COS], s = d[SIN] == 0 ? 0 : fabs(d[SIN]) / x[SIN];
    return isnan(c) || isnan(s) ? INFINITY : fmax(c, s);
}

/*
 * Checks whether F has reached its floor, below which rounding errors dominate. An estimate from the
 * traces shows this, or steps that no longer shrink.
 */
static int finished(const kspec_ridge *r, ks_ridge_solution *s, double step, double floor, double last) {
    if (step <= r->o.tolerance)
        s->state = KSPEC_RIDGE_STATE_CONVERGED;
    else if (step <= floor || (step < 1e-3 && step >= last / 2))
        s->state = KSPEC_RIDGE_STATE_AT_FLOOR;
    else
        return 0;
    s->error = fmax(step, floor);
    return 1;
}

/* Reports that theta falls to 0: for lambda = 0 and 2N < n, the kernel's rank is too low for the features. */
static kspec_status low_rank(const kspec_ridge *r, const ks_ridge_system *sys, kspec_error *err) {
    return ks_fail(
        err, KSPEC_E_NUMERIC,
        "lambda 0: the kernel matrix of the %zu rows has a rank of at most 2N = %.0f; use lambda > 0", r->n,
        2 * sys->N);
}

static kspec_status newton(kspec_ridge *r, const ks_run *run, const ks_ridge_system *sys,
                           const double upper[2], ks_ridge_solution *s, kspec_error *err) {
    double last = INFINITY;
    for (int bounded = 0;;) {
        kspec_status st = ks_ridge_resolvent(r, run, sys, s->x, 1, &s->t, err);
        if (st) return st;
        s->iterations++;
        const double *G = s->t.G;
        double F[2] = {G[COS] - s->x[COS], G[SIN] - s->x[SIN]}, next[2] = {G[COS], G[SIN]}, step[2], floor[2];
        s->residual = relative(F, s->x);
        if (ks_ridge_omega(&s->t, F, step)) {
            ks_ridge_omega(&s->t, s->t.noise, floor);
            double size = relative(step, s->x);
            if (finished(r, s, size, relative(floor, s->x), last)) return KSPEC_OK;
            last = s->error = size;
            /* Negative values are rounding errors; then take the fixed-point step, which also decreases. */
            if (s->x[COS] + step[COS] > 0 && s->x[SIN] + step[SIN] > 0)
                next[COS] = s->x[COS] + step[COS], next[SIN] = s->x[SIN] + step[SIN];
            bounded = 1;
        } else if (!bounded) {
            next[COS] = upper[COS], next[SIN] = upper[SIN];
            bounded = 1;
        }
        if (s->iterations == r->o.max_iterations) {
            s->state = KSPEC_RIDGE_STATE_UNFINISHED;
            return KSPEC_OK;
        }
        for (int a = COS; a <= SIN; a++) {
            s->x[a] = next[a];
            if (sys->shift == 0 && next[a] < (double)r->n * DBL_EPSILON * upper[a])
                return low_rank(r, sys, err);
        }
    }
}

/*
 * Runs the published iteration x <- G(x), which is monotone from an upper bound, but slow if D has an
 * eigenvalue near 1.
 */
static kspec_status fixed_point(kspec_ridge *r, const ks_run *run, const ks_ridge_system *sys,
                                ks_ridge_solution *s, kspec_error *err) {
    /* After this many steps without a smaller residual, the residual is at its floor. */
    enum { PATIENCE = 100 };
    double best = INFINITY, floor[2], step[2];
    kspec_status st;
    for (int since = 0;; since++) {
        if ((st = ks_ridge_resolvent(r, run, sys, s->x, 0, &s->t, err))) return st;
        s->iterations++;
        double F[2] = {s->t.G[COS] - s->x[COS], s->t.G[SIN] - s->x[SIN]}, size = relative(F, s->x);
        if (size < best) best = size, since = 0;
        if (size <= r->o.tolerance) break;
        if (size <= relative(s->t.noise, s->x) || (since == PATIENCE && size < 1e-3)) {
            s->state = KSPEC_RIDGE_STATE_AT_FLOOR;
            break;
        }
        if (s->iterations == r->o.max_iterations) {
            s->state = KSPEC_RIDGE_STATE_UNFINISHED;
            break;
        }
        s->x[COS] = s->t.G[COS], s->x[SIN] = s->t.G[SIN];
    }
    /* Computes D and t0, which the errors need. */
    if ((st = ks_ridge_resolvent(r, run, sys, s->x, 1, &s->t, err))) return st;
    s->iterations++;
    double F[2] = {s->t.G[COS] - s->x[COS], s->t.G[SIN] - s->x[SIN]};
    s->residual = relative(F, s->x);
    s->error = INFINITY;
    if (ks_ridge_omega(&s->t, F, step) && ks_ridge_omega(&s->t, s->t.noise, floor))
        s->error = fmax(relative(step, s->x), relative(floor, s->x));
    return KSPEC_OK;
}

/*
 * Finds an upper bound of the solution without a ridge. G is then homogeneous in u = 1 + x, and
 * G_cos/u_cos + G_sin/u_sin = n/N < 2 for every u. Once both terms are below 1, a multiple of u has u -
 * G(u) >= 1, and u - 1 is an upper bound. Newton's method on the logarithm of u_sin/u_cos makes the terms
 * equal.
 */
static kspec_status interpolating_bound(kspec_ridge *r, const ks_run *run, const ks_ridge_system *sys,
                                        double x[2], int *iterations, kspec_error *err) {
    double u[2] = {1, 1};
    for (int k = 0; k < 50; k++) {
        double v[2] = {u[COS] - 1, u[SIN] - 1};
        ks_ridge_traces t;
        kspec_status st = ks_ridge_resolvent(r, run, sys, v, 1, &t, err);
        if (st) return st;
        ++*iterations;
        double c = t.G[COS] / u[COS], s = t.G[SIN] / u[SIN], top = fmax(c, s);
        if (top < 1) {
            for (int a = COS; a <= SIN; a++) x[a] = u[a] / ((1 - top) * fmin(u[COS], u[SIN])) - 1;
            return KSPEC_OK;
        }
        double slope = t.D[COS][SIN] * u[SIN] / t.G[COS] + t.D[SIN][COS] * u[COS] / t.G[SIN];
        double shift = exp(fmax(-10, fmin(10, log(c / s) / slope / 2)));
        u[COS] *= shift, u[SIN] /= shift;
    }
    return ks_fail(err, KSPEC_E_NUMERIC, "lambda 0: no upper bound found at 2N = %.0f, n = %zu", 2 * sys->N,
                   r->n);
}

kspec_status ks_ridge_solve(kspec_ridge *r, const ks_run *run, const ks_ridge_system *sys,
                            const double start[2], const double upper[2], ks_ridge_solution *s,
                            kspec_error *err) {
    *s = (ks_ridge_solution){.x = {start[COS], start[SIN]}};
    double bound[2] = {upper[COS], upper[SIN]};
    /* In this case, all rows are zero. */
    if (sys->shift == 0 && upper[SIN] == 0) return low_rank(r, sys, err);
    if (sys->ridge == 0) {
        kspec_status st = interpolating_bound(r, run, sys, bound, &s->iterations, err);
        if (st) return st;
        s->x[COS] = bound[COS], s->x[SIN] = bound[SIN];
    }
    return r->o.solver == KSPEC_RIDGE_SOLVER_FIXED_POINT ? fixed_point(r, run, sys, s, err)
                                                         : newton(r, run, sys, bound, s, err);
}

/* ---- along a path of lambda ---- */

/* Stores a solved point with its slope. F(x, lambda) = 0 gives (I - D) dx/dlambda = -tr(Q K_a Q)/n. */
ks_ridge_solved ks_ridge_remember(double lambda, const ks_ridge_solution *s) {
    ks_ridge_solved p = {lambda, {s->x[COS], s->x[SIN]}, {-1, -1}};
    double d[2];
    if (ks_ridge_omega(&s->t, s->t.t0, d))
        for (int a = COS; a <= SIN; a++)
            if (s->x[a] > 0) p.slope[a] = fmax(-1, fmin(0, -lambda * d[a] / s->x[a]));
    return p;
}

/*
 * Evaluates at l the cubic with the values and slopes of p and q, in logarithms, or else the line through
 * p.
 */
static double extrapolate(const ks_ridge_solved *p, const ks_ridge_solved *q, int a, double l) {
    double lp = log(p->lambda), yp = log(p->x[a]), line = yp + p->slope[a] * (l - lp);
    if (!q) return line;
    double h = log(q->lambda) - lp, t = (l - lp) / h, rise = log(q->x[a]) - yp;
    double e = p->slope[a] * h, f = q->slope[a] * h;
    return yp + t * (e + t * (3 * rise - 2 * e - f + t * (e + f - 2 * rise)));
}

/*
 * Extrapolates a start from the nearest two solved points, within bounds. As lambda rises, delta falls and
 * lambda delta rises, so each solved point bounds the solution on both sides.
 */
void ks_ridge_start(const kspec_ridge *r, double lambda, const ks_ridge_solved *solved, size_t count,
                    double start[2], double upper[2]) {
    const ks_ridge_solved *near = NULL, *next = NULL;
    double l = log(lambda);
    for (size_t k = 0; k < count; k++) {
        const ks_ridge_solved *p = &solved[k];
        if (!near || fabs(log(p->lambda) - l) < fabs(log(near->lambda) - l))
            next = near, near = p;
        else if (p->lambda != near->lambda &&
                 (!next || fabs(log(p->lambda) - l) < fabs(log(next->lambda) - l)))
            next = p;
    }
    if (next && next->lambda == near->lambda) next = NULL;
    for (int a = COS; a <= SIN; a++) {
        double lower = 0;
        upper[a] = r->trace[a] / ((double)r->n * lambda);
        for (size_t k = 0; k < count; k++) {
            double x = solved[k].x[a], y = x * solved[k].lambda / lambda;
            upper[a] = fmin(upper[a], fmax(x, y));
            lower = fmax(lower, fmin(x, y));
        }
        start[a] = upper[a];
        if (near && near->x[a] > 0)
            start[a] = fmax(lower, fmin(upper[a], exp(extrapolate(near, next, a, l))));
    }
}
