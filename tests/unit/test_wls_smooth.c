/* Smooth curves: a plain twin of evidence and posterior, what does not change the curve, and the bands. */
#include "kspec.h"
#include "test.h"
#include "wls/smooth_data.h"

#include "base/error.h"
#include "linalg/linalg.h"

static const double TURN = 6.28318530717958647693;
static kspec_error err;

static int done(kspec_status st) {
    CHECK_MSG(st == KSPEC_OK, "%s", err.msg);
    return st == KSPEC_OK;
}

/* ---- the twin: dense covariances of y, each function by its formula ---- */

enum { MOST = 40 };

static double legendre(size_t l, double u) {
    double before = 1, now = u;
    if (l == 0) return 1;
    for (size_t k = 1; k < l; k++) {
        const double next = ((2 * (double)k + 1) * u * now - (double)k * before) / ((double)k + 1);
        before = now, now = next;
    }
    return now;
}

static double function(const ks_basis *b, size_t k, double x, int part) {
    const double u = (x - b->low) / (b->high - b->low), l = (double)ks_basis_level(b, k);
    const double root2 = k < ks_basis_parts(b) ? 1 : sqrt(2);
    switch (b->kind) {
    case KSPEC_WLS_BASIS_REAL: return k % 2 ? root2 * cos(TURN * l * u) : k ? root2 * sin(TURN * l * u) : 1;
    case KSPEC_WLS_BASIS_FOURIER:
        if (k % 2) return part ? cos(TURN * l * u) : -sin(TURN * l * u);
        return part ? sin(TURN * l * u) : cos(TURN * l * u);
    case KSPEC_WLS_BASIS_COSINE: return root2 * cos(TURN / 2 * l * u);
    case KSPEC_WLS_BASIS_CHEBYSHEV: return root2 * cos(l * acos(fmax(-1, fmin(1, 2 * u - 1))));
    default: return sqrt(2 * l + 1) * legendre((size_t)l, 2 * u - 1);
    }
}

/* L of C = L L^T in place (lower triangle); the logarithm of the determinant */
static double factor(size_t n, long double C[2 * MOST][2 * MOST]) {
    long double log_det = 0;
    for (size_t j = 0; j < n; j++)
        for (size_t i = j; i < n; i++) {
            long double sum = C[i][j];
            for (size_t k = 0; k < j; k++) sum -= C[i][k] * C[j][k];
            C[i][j] = i == j ? sqrtl(sum) : sum / C[j][j];
            if (i == j) log_det += 2 * logl(C[j][j]);
        }
    return (double)log_det;
}

static void solve(size_t n, long double L[2 * MOST][2 * MOST], long double *x) {
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < i; k++) x[i] -= L[i][k] * x[k];
        x[i] /= L[i][i];
    }
    for (size_t i = n; i-- > 0;) {
        for (size_t k = i + 1; k < n; k++) x[i] -= L[k][i] * x[k];
        x[i] /= L[i][i];
    }
}

/*
 * The curve and its variance at the points for the power law alone with a known noise: the mean over the
 * grid of scales, weighted by the marginal likelihood of y. The flat functions have a large variance instead.
 */
static void twin(const ks_reduced *r, const ks_smooth_data *d, double beta, double noise, double *curve,
                 double *variance) {
    static long double C[2 * MOST][2 * MOST], F[2 * MOST][2 * MOST], v[2 * MOST];
    const size_t parts = ks_basis_parts(&r->basis), n = d->N * parts;
    const double flat = 1e7, square = r->R ? r->R[0] * r->R[0] : (double)d->N;
    const double first = ks_prior_variance(r, KSPEC_WLS_PRIOR_POWER, beta, 1);
    double weights[KS_SCALES], most = -INFINITY, all = 0;
    memset(curve, 0, n * sizeof *curve), memset(variance, 0, n * sizeof *variance);
    for (int pass = 0; pass < 2; pass++)
        for (int s = 0; s < KS_SCALES; s++) {
            const double c = exp(-8 + 0.5 * s) / (first * square);
            if (pass && !(weights[s] > most - 25)) continue;
            for (size_t i = 0; i < n; i++)
                for (size_t j = 0; j < n; j++) {
                    long double sum = 0;
                    for (size_t k = 0; k < r->K; k++) {
                        const double level = (double)ks_basis_level(&r->basis, k);
                        const double a =
                            level > 0 ? c * ks_prior_variance(r, KSPEC_WLS_PRIOR_POWER, beta, level) : flat;
                        /* Nyquist's sine does not show, its aliases are the cosine's */
                        const int nyquist = !r->R && r->basis.kind == KSPEC_WLS_BASIS_REAL &&
                                            2 * k == 2 * d->N - 2 && d->N % 2 == 0;
                        sum += (nyquist ? 0.5L : 1.0L) * a *
                               function(&r->basis, k, d->x[i / parts], (int)(i % parts)) *
                               function(&r->basis, k, d->x[j / parts], (int)(j % parts));
                    }
                    F[i][j] = sum * noise * noise;
                    const double w = d->root_weight ? d->root_weight[i / parts] : 1;
                    C[i][j] = F[i][j] + (i == j ? noise * noise / (w * w) : 0);
                }
            const double log_det = factor(n, C);
            for (size_t i = 0; i < n; i++) v[i] = i % parts ? d->y[i / parts].im : d->y[i / parts].re;
            long double q = 0;
            solve(n, C, v);
            for (size_t i = 0; i < n; i++) q += v[i] * (i % parts ? d->y[i / parts].im : d->y[i / parts].re);
            if (!pass) {
                weights[s] = -0.5 * log_det - 0.5 * (double)q;
                most = fmax(most, weights[s]);
                continue;
            }
            const double w = exp(weights[s] - most);
            all += w;
            for (size_t i = 0; i < n; i++) {
                long double mean = 0, less = 0, column[2 * MOST];
                for (size_t j = 0; j < n; j++) mean += F[i][j] * v[j], column[j] = F[i][j];
                solve(n, C, column);
                for (size_t j = 0; j < n; j++) less += F[i][j] * column[j];
                curve[i] += w * (double)mean, variance[i] += w * (double)(F[i][i] - less);
            }
        }
    for (size_t i = 0; i < n; i++) curve[i] /= all, variance[i] /= all;
}

static void compare(kspec_wls_basis kind, const ks_smooth_data *d, size_t p, int regular) {
    ks_arena arena = {0};
    ks_run run;
    ks_reduced r;
    ks_evidence e;
    ks_posterior post;
    ks_cplx curve[MOST];
    double deviation[MOST], want[2 * MOST], variance[2 * MOST];
    const double beta = 1.5, noise = 0.2;
    const ks_basis b = ks_basis_for(kind, d, 0, p);
    done(ks_run_init(&run, 1, (kspec_progress){0}, &err));
    done(ks_smooth_reduce(&run, &b, d, &arena, &r, &err));
    CHECK((r.R == NULL) == regular);
    done(ks_smooth_evidence(&run, &r, beta, noise, &arena, &e, &err));
    done(ks_smooth_posterior(&e, &arena, &post, &err));
    twin(&r, d, beta, noise, want, variance);
    const size_t parts = ks_basis_parts(&b);
    for (int grid = 0; grid <= regular; grid++) {
        done(grid ? ks_smooth_at_grid(&post, curve, deviation, &err)
                  : ks_smooth_at(&run, &post, d->x, d->N, curve, deviation, &err));
        for (size_t i = 0; i < d->N; i++) {
            CHECK_MSG(fabs(curve[i].re - want[parts * i]) < 2e-6, "basis %d, N %zu, point %zu: %g, not %g",
                      (int)kind, d->N, i, curve[i].re, want[parts * i]);
            if (parts == 2) CHECK_CLOSE(curve[i].im, want[2 * i + 1], 2e-6);
            double most = variance[parts * i];
            if (parts == 2) most = fmax(most, variance[2 * i + 1]);
            CHECK_MSG(fabs(deviation[i] * deviation[i] / most - 1) < 1e-4, "basis %d, point %zu: %g, not %g",
                      (int)kind, i, deviation[i], sqrt(most));
        }
    }
    ks_arena_free(&arena);
}

TEST(evidence_and_posterior_are_those_of_dense_matrices) {
    double x[MOST], y[2 * MOST], u[MOST], w[MOST];
    for (int set = 0; set < 6; set++) {
        const size_t N = (size_t[]){16, 15, 12, 14, 9, 13}[set];
        const int irregular = set == 2 || set == 3 || set == 5, is_complex = set >= 4;
        kspec_random_normal(3, 7, (uint64_t)set * 100, 2 * N, y);
        kspec_random_uniform(3, 8, (uint64_t)set * 100, N, u);
        for (size_t i = 0; i < N; i++) {
            x[i] = irregular ? 5 * u[i] : (double)i;
            y[i] = is_complex ? y[i] : 0.3 * y[i] + sin(x[i]);
            w[i] = 0.5 + u[i];
        }
        const kspec_wls_smooth_opts o = {
            .size = sizeof o, .complex_data = is_complex, .weights = set == 3 ? w : NULL};
        ks_arena arena = {0};
        ks_smooth_data d;
        if (!done(ks_smooth_take(N, x, y, &o, &arena, &d, &err))) continue;
        CHECK((d.step == 0) == irregular);
        if (is_complex) {
            compare(KSPEC_WLS_BASIS_FOURIER, &d, 0, !irregular);
        } else {
            compare(KSPEC_WLS_BASIS_REAL, &d, 0, !irregular);
            compare(KSPEC_WLS_BASIS_REAL, &d, 6, !irregular);
            compare(KSPEC_WLS_BASIS_COSINE, &d, 0, !irregular);
            compare(KSPEC_WLS_BASIS_LEGENDRE, &d, 8, 0);
            compare(KSPEC_WLS_BASIS_CHEBYSHEV, &d, 7, 0);
        }
        ks_arena_free(&arena);
    }
}

/* ---- the call ---- */

typedef struct {
    size_t N;
    double *x, *y, *truth;
} problem;

static double signal(int which, double x) {
    switch (which) {
    case 0: return exp(sin(x)) + 0.3 * cos(3 * x);
    case 1: return sin(3 * x) + 0.5 * cos(7 * x);
    case 2: return 1 / (1.3 - cos(x));
    case 3: return x / 2 + sin(2 * x);
    default: return exp(-(x - TURN / 2) * (x - TURN / 2) / 0.32);
    }
}

static problem make(int which, size_t N, int regular, double noise, uint64_t seed) {
    problem p = {N, malloc(N * sizeof(double)), malloc(N * sizeof(double)), malloc(N * sizeof(double))};
    kspec_random_uniform(seed, 11, 0, N, p.x);
    kspec_random_normal(seed, 12, 0, N, p.y);
    for (size_t i = 0; i < N; i++) {
        p.x[i] = regular ? TURN * (double)i / (double)N : TURN * p.x[i];
        p.truth[i] = signal(which, p.x[i]);
        p.y[i] = p.truth[i] + noise * p.y[i];
    }
    return p;
}

static void drop(problem p) { free(p.x), free(p.y), free(p.truth); }

static kspec_wls_smooth_result *fit(const problem *p, const kspec_wls_smooth_opts *o) {
    kspec_wls_smooth_result *r = NULL;
    done(kspec_wls_smooth(p->N, p->x, p->y, o, &r, &err));
    return r;
}

TEST(units_and_order_do_not_matter) {
    problem p = make(3, 40, 0, 0.1, 5), q = make(3, 40, 0, 0.1, 5);
    const kspec_wls_smooth_opts o = {.size = sizeof o, .at = p.x, .at_count = 40};
    for (size_t i = 0; i < 40; i++) q.x[i] = 3 - 2 * p.x[39 - i], q.y[i] = 1e6 + 1e5 * p.y[39 - i];
    kspec_wls_smooth_result *a = fit(&p, &o), *b = fit(&q, NULL);
    CHECK(a->basis == b->basis && a->basis == KSPEC_WLS_BASIS_LEGENDRE);
    CHECK_CLOSE(b->noise, 1e5 * a->noise, 1e-2);
    for (size_t i = 0; i < 40; i++) {
        CHECK_CLOSE(b->fitted[i], 1e6 + 1e5 * a->fitted[39 - i], 1e-1);
        CHECK_CLOSE(b->half_width[i], 1e5 * a->half_width[39 - i], 1e-1);
        CHECK_CLOSE(a->at_fitted[i], a->fitted[i], 1e-12);
    }
    kspec_free(a), kspec_free(b);
    drop(p), drop(q);
}

/* With a known noise two equal points are one of twice the weight; a gap or a weight of 0 is no point. */
TEST(repeats_are_weights_and_gaps_are_no_points) {
    problem p = make(0, 30, 0, 0.1, 6), twice = make(0, 31, 0, 0.1, 6);
    double w[31];
    for (size_t i = 0; i < 31; i++) w[i] = i == 4 ? 2 : 1;
    for (size_t i = 0; i < 30; i++) twice.x[i] = p.x[i], twice.y[i] = p.y[i];
    twice.x[30] = p.x[4], twice.y[30] = p.y[4];
    kspec_wls_smooth_opts o = {.size = sizeof o, .noise = 0.1, .p = 9, .basis = KSPEC_WLS_BASIS_REAL};
    o.period = TURN;
    kspec_wls_smooth_result *b = fit(&twice, &o);
    o.weights = w;
    kspec_wls_smooth_result *a = fit(&p, &o);
    for (size_t i = 0; i < 30; i++) CHECK_CLOSE(a->fitted[i], b->fitted[i], 1e-9);
    for (size_t i = 0; i < 30; i++) CHECK_CLOSE(a->half_width[i], b->half_width[i], 1e-9);
    kspec_free(b);
    w[30] = 0, o.at = p.x, o.at_count = 30;
    twice.y[30] = 5;
    b = fit(&twice, &o);
    for (size_t i = 0; i < 30; i++) CHECK_CLOSE(a->fitted[i], b->fitted[i], 1e-12);
    kspec_free(b);
    w[30] = 1, twice.y[30] = NAN, o.gaps = 1;
    b = fit(&twice, &o);
    CHECK(b->gaps == 1);
    for (size_t i = 0; i < 30; i++) CHECK_CLOSE(a->fitted[i], b->fitted[i], 1e-12);
    CHECK_CLOSE(b->fitted[30], a->fitted[4], 1e-12);
    kspec_free(a), kspec_free(b);
    drop(p), drop(twice);
}

TEST(the_same_bits_on_any_threads) {
    for (int regular = 0; regular < 2; regular++) {
        problem p = make(3, 5000, regular, 0.3, 7);
        kspec_wls_smooth_result *r[3];
        for (int t = 0; t < 3; t++) {
            const kspec_wls_smooth_opts o = {.size = sizeof o, .threads = t + 1, .p = 24};
            r[t] = fit(&p, &o);
        }
        for (int t = 1; t < 3; t++) {
            CHECK(memcmp(r[0]->fitted, r[t]->fitted, 5000 * sizeof(double)) == 0);
            CHECK(memcmp(r[0]->half_width, r[t]->half_width, 5000 * sizeof(double)) == 0);
        }
        for (int t = 0; t < 3; t++) kspec_free(r[t]);
        drop(p);
    }
}

/*
 * The evidence prefers Legendre polynomials for a Poisson kernel. The periodic curve stays in their band. Its
 * greatest error is 0.84 times theirs in these draws. The periodic curve of a parabola leaves the band.
 */
TEST(the_periodic_curve_is_used_if_the_data_do_not_tell) {
    int swapped = 0, mistaken = 0;
    double error[2] = {0, 0};
    const kspec_wls_smooth_opts polynomials = {.size = sizeof polynomials, .basis = KSPEC_WLS_BASIS_LEGENDRE};
    for (uint64_t seed = 0; seed < 16; seed++) {
        problem p = make(2, 256, 1, 0.3, 300 + seed);
        kspec_wls_smooth_result *r = fit(&p, NULL), *l = fit(&p, &polynomials);
        swapped += r->basis == KSPEC_WLS_BASIS_REAL && r->choices[0]->basis == KSPEC_WLS_BASIS_LEGENDRE;
        double most[2] = {0, 0};
        for (size_t i = 0; i < p.N; i++) {
            most[0] = fmax(most[0], fabs(r->fitted[i] - p.truth[i]));
            most[1] = fmax(most[1], fabs(l->fitted[i] - p.truth[i]));
        }
        error[0] += most[0], error[1] += most[1];
        kspec_free(r), kspec_free(l);
        for (size_t i = 0; i < p.N; i++) p.y[i] += pow(p.x[i] - TURN / 2, 2) / 4 - p.truth[i];
        r = fit(&p, NULL);
        mistaken += r->basis == KSPEC_WLS_BASIS_REAL && r->choices[0]->basis != KSPEC_WLS_BASIS_REAL;
        kspec_free(r);
        drop(p);
    }
    CHECK_MSG(swapped >= 6 && error[0] < 0.9 * error[1], "%d of 16, errors %g and %g", swapped, error[0],
              error[1]);
    CHECK_MSG(mistaken == 0, "%d of 16 parabolas", mistaken);
}

/* The first functions' projection, of as few as leave what the noise leaves */
TEST(least_squares_stops_at_the_noise) {
    problem p = make(1, 64, 1, 0.1, 8);
    const kspec_wls_smooth_opts o = {.size = sizeof o, .stop_at_noise = 1, .noise = 0.1};
    kspec_wls_smooth_result *r = fit(&p, &o);
    double left = 0;
    for (size_t i = 0; i < 64; i++) left += (p.y[i] - r->fitted[i]) * (p.y[i] - r->fitted[i]);
    CHECK(r->basis == KSPEC_WLS_BASIS_REAL && r->p == 15 && left <= 64 * 0.01);
    for (size_t k = 0; k < r->curve_count; k++)
        if (r->curve[k]->p == 15) CHECK_CLOSE(r->curve[k]->residual, sqrt(left / 64), 1e-12);
    CHECK_CLOSE(r->half_width[3], 1.96 * 0.1 * sqrt(15.0 / 64), 1e-4);
    kspec_free(r);
    drop(p);
}

/* 120 curves: the mean of their coverage has a standard deviation of about 0.01, that of the noise, too. */
TEST(bands_cover_and_the_noise_is_found) {
    double cover = 0, noise = 0;
    int runs = 0;
    for (int which = 0; which < 5; which++)
        for (int regular = 0; regular < 2; regular++)
            for (uint64_t seed = 0; seed < 12; seed++, runs++) {
                problem p = make(which, 64, regular, 0.2, 100 + seed);
                kspec_wls_smooth_result *r = fit(&p, NULL);
                for (size_t i = 0; i < 64; i++)
                    cover += fabs(r->fitted[i] - p.truth[i]) <= r->half_width[i] ? 1. / 64 : 0;
                noise += r->noise / 0.2;
                kspec_free(r);
                drop(p);
            }
    CHECK_MSG(cover / runs > 0.90 && cover / runs < 0.99, "bands cover %g", cover / runs);
    CHECK_MSG(fabs(noise / runs - 1) < 0.06, "the noise is %g of the truth", noise / runs);
}

/*
 * Data without a signal: the band is of the size of the noise, at the points and between them. A polynomial
 * degree that the points hardly determine once made it 1500 times the noise. Over these 120 draws the widest
 * half band is 1.24 times the noise, and each draw's widest one is 0.57 times on average.
 */
TEST(a_band_without_a_signal_is_narrow) {
    enum { BETWEEN = 301 };
    double at[BETWEEN], widest = 0, sum = 0;
    int runs = 0;
    for (kspec_wls_basis basis = KSPEC_WLS_BASIS_AUTO; basis <= KSPEC_WLS_BASIS_CHEBYSHEV; basis++)
        for (int which = 0; which < 4; which++)
            for (uint64_t seed = 0; seed < 6; seed++, runs++) {
                problem p = make(0, which < 2 ? 32 : 100, which % 2, 1, 700 + seed);
                double low = p.x[0], high = p.x[0];
                for (size_t i = 0; i < p.N; i++) {
                    p.y[i] -= p.truth[i];
                    low = fmin(low, p.x[i]), high = fmax(high, p.x[i]);
                }
                for (size_t i = 0; i < BETWEEN; i++) at[i] = low + (high - low) * (double)i / (BETWEEN - 1);
                const kspec_wls_smooth_opts o = {
                    .size = sizeof o, .basis = basis, .at = at, .at_count = BETWEEN};
                kspec_wls_smooth_result *r = fit(&p, &o);
                double most = 0;
                for (size_t i = 0; i < p.N; i++) most = fmax(most, r->half_width[i]);
                for (size_t i = 0; i < BETWEEN; i++) most = fmax(most, r->at_half_width[i]);
                widest = fmax(widest, most), sum += most;
                kspec_free(r);
                drop(p);
            }
    CHECK_MSG(widest < 3 && sum / runs < 1, "the widest half band is %g, on average %g", widest, sum / runs);
}

static void expect_failure(size_t N, const double *x, const double *y, const kspec_wls_smooth_opts *o,
                           kspec_status want, const char *message) {
    kspec_wls_smooth_result *r = NULL;
    const kspec_status st = kspec_wls_smooth(N, x, y, o, &r, &err);
    CHECK_MSG(st == want && !r && strstr(err.msg, message), "status %d: %s", (int)st, err.msg);
}

TEST(what_cannot_be_smoothed) {
    const double x[] = {1, 2, 3, 5}, same[] = {2, 2, 2, 2}, y[] = {1, 3, 2, 5}, hole[] = {1, NAN, 2, 3},
                 infinite[] = {1, INFINITY, 2, 3}, weights[] = {1, -1, 1, 1};
    kspec_wls_smooth_opts o = {.size = sizeof o};
    expect_failure(1, x, y, NULL, KSPEC_E_DATA, "1 point, at least 2");
    expect_failure(4, x, same, NULL, KSPEC_E_DATA, "all 4 values of y are 2");
    expect_failure(4, same, y, NULL, KSPEC_E_DATA, "all 4 values of x are 2");
    expect_failure(4, x, hole, NULL, KSPEC_E_DATA, "y[1] is NaN");
    expect_failure(4, x, infinite, NULL, KSPEC_E_DATA, "y[1] is not a finite number");
    expect_failure(4, hole, y, NULL, KSPEC_E_DATA, "x[1] is not a finite number");
    expect_failure(4, x, NULL, NULL, KSPEC_E_ARG, "y is missing");
    o.p = 5;
    expect_failure(4, x, y, &o, KSPEC_E_ARG, "p = 5 exceeds 4");
    o.p = 0, o.beta = -1;
    expect_failure(4, x, y, &o, KSPEC_E_ARG, "beta -1 is not");
    o.beta = 0, o.noise = NAN;
    expect_failure(4, x, y, &o, KSPEC_E_ARG, "is not a finite number of at least 0");
    o.noise = 0, o.period = -1;
    expect_failure(4, x, y, &o, KSPEC_E_ARG, "period -1 is not");
    o.period = 0, o.weights = weights;
    expect_failure(4, x, y, &o, KSPEC_E_DATA, "weight 1 is -1");
    o.weights = NULL, o.basis = KSPEC_WLS_BASIS_COSINE, o.complex_data = 1;
    expect_failure(2, x, y, &o, KSPEC_E_ARG, "complex data need complex modes");
    o.basis = (kspec_wls_basis)9;
    expect_failure(2, x, y, &o, KSPEC_E_ARG, "unknown basis 9");
}

int main(void) {
    if (ks_blas_enter(1, NULL)) return 1;
    RUN(evidence_and_posterior_are_those_of_dense_matrices);
    RUN(units_and_order_do_not_matter);
    RUN(repeats_are_weights_and_gaps_are_no_points);
    RUN(the_same_bits_on_any_threads);
    RUN(the_periodic_curve_is_used_if_the_data_do_not_tell);
    RUN(least_squares_stops_at_the_noise);
    RUN(bands_cover_and_the_noise_is_found);
    RUN(a_band_without_a_signal_is_narrow);
    RUN(what_cannot_be_smoothed);
    ks_blas_exit();
    return test_done();
}
