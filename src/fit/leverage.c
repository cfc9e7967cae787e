/* Computes how uneven leverages of rows and columns shift and spread the sample's eigenvalues. */
#include "fit/leverage.h"

#include "base/error.h"
#include "base/memory.h"
#include "linalg/linalg.h"
#include "fit/tuning.h"
#include "team/team.h"

#include <math.h>

/*
 * One pass through the singular vectors serves POINTS points. Each point needs two complex sums, which are 4
 * real columns.
 */
enum { POINTS = 16 };

static ks_cplx add(ks_cplx a, ks_cplx b) { return (ks_cplx){a.re + b.re, a.im + b.im}; }
static ks_cplx sub(ks_cplx a, ks_cplx b) { return (ks_cplx){a.re - b.re, a.im - b.im}; }
static ks_cplx times(double x, ks_cplx a) { return (ks_cplx){x * a.re, x * a.im}; }
static ks_cplx inverse(ks_cplx a) {
    double n = ks_cabs2(a);
    return (ks_cplx){a.re / n, -a.im / n};
}
static ks_cplx divide(ks_cplx a, ks_cplx b) { return ks_cmul(a, inverse(b)); }
static const ks_cplx one = {1, 0};

typedef struct {
    const ks_decomposition *d;
    const double *lambda;
    size_t count;
    const ks_cplx *t;
    ks_bias *out;
    /*
     * For each point, the effect of noise that differs between columns, in the absence of signal.
     * ks_leverage_bias() subtracts this effect.
     */
    ks_cplx *known;
    /*
     * rest and unseen contain each row's leverages beyond the known vectors, for rows and for columns.
     * ks_leverage_left() computes them.
     */
    double *rest[2], *unseen[2];
    /* Each worker has matrices of 4 POINTS x n and of 4 POINTS x max(P,Q) numbers. */
    double **R, **sums;
} job;

/*
 * Computes the bias due to one side with m rows, which sampling counts as N. Let g_i = t [(G + t)^-1]_ii and
 * delta_i = 1/g_i - 1. The bias is the mean of (g_i - mean g) times the response of delta_i, times a factor.
 * The rows of x contain sums of leverages times 1/(s + t), and of leverages times 1/(s + t)^2.
 */
static ks_cplx side(const double *const x[4], const double *rest, size_t m, double N, ks_cplx t, ks_cplx D,
                    ks_cplx dD) {
    if (isinf(N)) return (ks_cplx){0, 0};
    /* Since dD = t D', e is -t D'/(N - D). */
    ks_cplx e = divide(times(-1, dD), sub((ks_cplx){N, 0}, D)), scale = times(N, inverse(sub(one, e)));
    ks_cplx t2 = ks_cmul(t, t), mean = {0, 0}, mean_m = {0, 0}, mean_gm = {0, 0};
    for (size_t i = 0; i < m; i++) {
        ks_cplx g = add(ks_cmul(t, (ks_cplx){x[0][i], x[1][i]}), (ks_cplx){rest[i], 0});
        ks_cplx G2 = add(ks_cmul(t2, (ks_cplx){x[2][i], x[3][i]}), (ks_cplx){rest[i], 0});
        ks_cplx h = inverse(g), delta = sub(h, one), slope = sub(ks_cmul(G2, ks_cmul(h, h)), h);
        ks_cplx response = times(-1, add(slope, ks_cmul(e, delta)));
        mean = add(mean, g);
        mean_m = add(mean_m, response);
        mean_gm = add(mean_gm, ks_cmul(g, response));
    }
    double share = 1 / (double)m;
    mean_gm = sub(times(share, mean_gm), times(share * share, ks_cmul(mean, mean_m)));
    return ks_cmul(scale, mean_gm);
}

/*
 * Each row has leverage in directions that the fit does not know. The function adds to sums[i] this leverage
 * times the mean of r over those directions.
 */
static void add_unseen(const ks_decomposition *d, const double *r, size_t m, const double *unseen,
                       double *sums) {
    double mean = 0;
    for (size_t k = d->vectors; k < d->n; k++) mean += r[k] / (double)(d->n - d->vectors);
    for (size_t i = 0; i < m; i++) sums[i] += unseen[i] * mean;
}

/*
 * Computes side() for columns that differ only by the noise. Then g = tau/(c + v ratio), where tau = t/a and
 * kappa = tau/b.
 */
static void known_by_noise(const job *j, ks_cplx *known) {
    const ks_decomposition *d = j->d;
    for (size_t p = 0; p < j->count; p++) known[p] = (ks_cplx){0, 0};
    if (!d->columns) return;
    double v = d->noise / d->cols;
    ks_cplx c = {NAN, NAN};
    for (size_t p = 0; p < j->count; p++) {
        ks_cplx t = j->t[p], D = {0, 0}, dD = {0, 0};
        for (size_t k = 0; k < d->n; k++) {
            ks_cplx x = inverse((ks_cplx){d->s[k] + t.re, t.im});
            D = add(D, times(d->s[k], x));
            dD = sub(dD, times(d->s[k], ks_cmul(t, ks_cmul(x, x))));
        }
        ks_cplx a = sub(one, times(1 / d->rows, D)), b = sub(one, times(1 / d->cols, D));
        ks_cplx tau = divide(t, a), kappa = divide(tau, b);
        ks_cplx of_tau = add(one, divide(times(1 / d->rows, dD), a)),
                of_kappa = add(of_tau, divide(times(1 / d->cols, dD), b));
        c = ks_columns_solve(d->columns, v, kappa, c);
        ks_cplx dc = divide(ks_cmul(kappa, of_kappa), ks_columns_sums(d->columns, v, c).slope);
        ks_cplx e = divide(times(-1, dD), sub((ks_cplx){d->cols, 0}, D)), mean = {0, 0}, mean_m = {0, 0},
                mean_gm = {0, 0};
        for (size_t k = 0; k < d->columns->count; k++) {
            ks_cplx at = {c.re + v * d->columns->ratio[k], c.im}, h = divide(at, tau), delta = sub(h, one);
            ks_cplx slope = sub(divide(dc, tau), ks_cmul(h, of_tau)),
                    response = times(-1, add(slope, ks_cmul(e, delta))), g = inverse(h);
            double share = d->columns->share[k];
            mean = add(mean, times(share, g));
            mean_m = add(mean_m, times(share, response));
            mean_gm = add(mean_gm, times(share, ks_cmul(g, response)));
        }
        known[p] = ks_cmul(times(d->cols, inverse(sub(one, e))), sub(mean_gm, ks_cmul(mean, mean_m)));
    }
}

static kspec_status some_points(void *ctx, size_t chunk, const ks_worker *worker) {
    const job *j = ctx;
    const ks_decomposition *d = j->d;
    size_t first = chunk * POINTS, points = j->count - first < POINTS ? j->count - first : POINTS, n = d->n;
    double *R = j->R[worker->index], *sums = j->sums[worker->index];
    ks_bias *out = j->out + first;
    for (size_t p = 0; p < points; p++) {
        ks_cplx t = j->t[first + p], D = {0, 0}, dD = {0, 0};
        double *r = R + 4 * p * n;
        for (size_t k = 0; k < n; k++) {
            ks_cplx x = inverse((ks_cplx){d->s[k] + t.re, t.im}), xx = ks_cmul(x, x);
            r[k] = x.re, r[n + k] = x.im, r[2 * n + k] = xx.re, r[3 * n + k] = xx.im;
            D = add(D, times(d->s[k], x));
            dD = sub(dD, times(d->s[k], xx));
        }
        out[p] = (ks_bias){.D = D, .dD = ks_cmul(t, dD)};
    }
    for (int right = 0; right < 2; right++) {
        size_t m = right ? d->Q : d->P;
        ks_gemm(0, 0, 4 * points, m, d->vectors, 1, R, n, right ? d->V2 : d->U2, m, 0, sums, m);
        for (size_t row = 0; row < 4 * points && d->vectors < n; row++)
            add_unseen(d, R + row * n, m, j->unseen[right], sums + row * m);
        for (size_t p = 0; p < points; p++) {
            const double *x = sums + 4 * p * m, *const rows[4] = {x, x + m, x + 2 * m, x + 3 * m};
            out[p].bias = add(out[p].bias, side(rows, j->rest[right], m, right ? d->cols : d->rows,
                                                j->t[first + p], out[p].D, out[p].dD));
        }
    }
    for (size_t p = 0; p < points; p++) {
        /*
         * With Gaussian factors the bias is -(1/P + 1/Q) times the sum of lambda^2 k/(lambda + k)^3 at k =
         * kappa(t). This Gaussian bias counts once for the leverages, and once for the finite size that
         * `bias` includes.
         */
        ks_cplx D = out[p].D, a = sub(one, times(1 / d->rows, D)), b = sub(one, times(1 / d->cols, D));
        ks_cplx k = divide(j->t[first + p], ks_cmul(a, b)), sum = {0, 0};
        for (size_t l = 0; l < n; l++) {
            ks_cplx x = inverse((ks_cplx){j->lambda[l] + k.re, k.im});
            sum = add(sum, times(j->lambda[l] * j->lambda[l], ks_cmul(x, ks_cmul(x, x))));
        }
        ks_cplx gaussian = times(-(1 / d->rows + 1 / d->cols), ks_cmul(k, sum)), all = out[p].bias;
        all = sub(all, j->known[first + p]);
        out[p].bias = sub(all, gaussian);
        out[p].excess = sub(all, times(2, gaussian));
    }
    return KSPEC_OK;
}

void ks_leverage_left(const ks_decomposition *d, size_t m, const double *X2, double *unseen, double *rest) {
    for (size_t i = 0; i < m; i++) rest[i] = 1;
    for (size_t k = 0; k < d->vectors; k++)
        for (size_t i = 0; i < m; i++) rest[i] -= X2[k * m + i];
    double share = d->n > d->vectors ? (double)(d->n - d->vectors) / (double)(m - d->vectors) : 0;
    for (size_t i = 0; i < m; i++) {
        rest[i] = fmax(rest[i], 0);
        unseen[i] = share * rest[i];
        rest[i] -= unseen[i];
    }
}

kspec_status ks_leverage_bias(const ks_run *run, const ks_decomposition *d, const double *lambda,
                              size_t count, const ks_cplx *t, ks_bias *out, kspec_error *err) {
    size_t chunks = (count + POINTS - 1) / POINTS, workers = (size_t)ks_workers(run, chunks);
    size_t longer = d->P > d->Q ? d->P : d->Q;
    ks_arena arena = {0};
    job j = {d, lambda, count, t, out};
    for (int right = 0; right < 2; right++) {
        j.rest[right] = ks_arena_alloc(&arena, right ? d->Q : d->P, sizeof(double));
        j.unseen[right] = ks_arena_alloc(&arena, right ? d->Q : d->P, sizeof(double));
    }
    j.known = ks_arena_alloc(&arena, count, sizeof *j.known);
    j.R = ks_arena_alloc(&arena, workers, sizeof *j.R);
    j.sums = ks_arena_alloc(&arena, workers, sizeof *j.sums);
    for (size_t w = 0; w < workers && !arena.failed; w++) {
        j.R[w] = ks_arena_alloc(&arena, ks_size(4 * POINTS, d->n), sizeof(double));
        j.sums[w] = ks_arena_alloc(&arena, ks_size(4 * POINTS, longer), sizeof(double));
    }
    kspec_status st = KSPEC_OK;
    if (arena.failed) {
        st = ks_nomem(err, "the leverages", arena.failed);
    } else {
        known_by_noise(&j, j.known);
        ks_leverage_left(d, d->P, d->U2, j.unseen[0], j.rest[0]);
        ks_leverage_left(d, d->Q, d->V2, j.unseen[1], j.rest[1]);
        const ks_share shares = {out, sizeof *out, count, POINTS};
        st = ks_team_for(run, "leverages", chunks, some_points, &j, &shares, 1, err);
    }
    ks_arena_free(&arena);
    return st;
}

/* Interpolates y linearly at x. The n points of y begin at `top` and decrease in equal steps. */
static double interpolate(size_t n, double top, double step, const double *y, double x) {
    double at = fmin(fmax((top - x) / step, 0), (double)(n - 1));
    size_t k = (size_t)at;
    return k + 1 < n ? y[k] + (at - (double)k) * (y[k + 1] - y[k]) : y[n - 1];
}

kspec_status ks_leverage_shift(const ks_run *run, const ks_decomposition *d, const double *lambda, size_t K,
                               const size_t *at, double *shift, double *excess, kspec_error *err) {
    const double pi = 3.14159265358979323846, angle = KS_PATH_ANGLE * pi;
    double top = log(20 * d->s[0]), bottom = log(d->s[at[K - 1]]);
    size_t n = (size_t)((top - bottom) * KS_PATH_POINTS) + 2;
    double step = (top - bottom) / (double)(n - 1);
    ks_arena arena = {0};
    ks_cplx *t = ks_arena_alloc(&arena, n, sizeof *t);
    ks_bias *b = ks_arena_alloc(&arena, n, sizeof *b);
    double *N = ks_arena_alloc(&arena, n, sizeof *N);
    kspec_status st = arena.failed ? ks_nomem(err, "the leverages", arena.failed) : KSPEC_OK;
    for (size_t k = 0; k < n && !st; k++) {
        double r = exp(top - step * (double)k);
        t[k].re = r * cos(angle);
        t[k].im = r * sin(angle);
    }
    if (!st) st = ks_leverage_bias(run, d, lambda, n, t, b, err);
    for (int which = 0; which < 2 && !st; which++) {
        /*
         * N is -Im/pi of the integral of bias (1 + (1/(P-D) + 1/(Q-D)) dD/dlog t) over log t, from the top.
         */
        double sum = 0, before = 0;
        for (size_t k = 0; k < n; k++) {
            ks_cplx sides = {0, 0};
            if (!isinf(d->rows)) sides = inverse(sub((ks_cplx){d->rows, 0}, b[k].D));
            if (!isinf(d->cols)) sides = add(sides, inverse(sub((ks_cplx){d->cols, 0}, b[k].D)));
            double f = ks_cmul(which ? b[k].excess : b[k].bias, add(one, ks_cmul(sides, b[k].dD))).im;
            if (k > 0) sum += 0.5 * (f + before) * step;
            before = f;
            N[k] = -sum / pi;
        }
        for (size_t k = 0; k < K; k++)
            (which ? excess : shift)[k] = interpolate(n, top, step, N, log(d->s[at[k]]));
    }
    ks_arena_free(&arena);
    return st;
}

/* Returns the variance of log s_k due to one side, (N sum of squared leverages - 1)/N. */
static double side_variance(size_t m, double N, const double *u) {
    return isinf(N) ? 0 : (((double)m * ks_dot(m, u, u)) - 1) / N;
}

double ks_leverage_spread(const ks_decomposition *d, size_t K, const size_t *at, double *ratio) {
    double gaussian = 2 / d->rows + 2 / d->cols;
    for (size_t k = 0; k < K; k++) {
        double v = side_variance(d->P, d->rows, d->U2 + at[k] * d->P) +
                   side_variance(d->Q, d->cols, d->V2 + at[k] * d->Q);
        ratio[k] = fmin(fmax(v / gaussian, 0.1), 40);
    }
    /*
     * Sum over pairs of the six largest eigenvalues without extreme leverages, and subtract the expected
     * noise of each pair.
     */
    double sum = 0;
    size_t pairs = 0, most = K < 6 ? K : 6;
    for (size_t a = 0; a < most; a++)
        for (size_t b = a + 1; b < most; b++) {
            if (ratio[a] >= 2.5 || ratio[b] >= 2.5) continue;
            const double *ua = d->U2 + a * d->P, *ub = d->U2 + b * d->P;
            const double *va = d->V2 + a * d->Q, *vb = d->V2 + b * d->Q;
            if (!isinf(d->rows))
                sum += ((double)d->P * ks_dot(d->P, ua, ub) - 1) / d->rows + 2 / (d->rows * d->rows);
            if (!isinf(d->cols))
                sum += ((double)d->Q * ks_dot(d->Q, va, vb) - 1) / d->cols + 2 / (d->cols * d->cols);
            pairs++;
        }
    if (!pairs) return 0;
    double noise = (8 / pow(d->rows, 3) + 8 / pow(d->cols, 3)) / (double)pairs;
    return fmax(0, sum / (double)pairs - sqrt(noise));
}
