/* The expected errors, against the definition. */
#include "help/wls.h"
#include "oracle/wls.h"

static kspec_wls_point theory(size_t N, size_t p, size_t P, double alpha, double beta, double gamma,
                              int complex_noise) {
    kspec_wls_opts o = {.size = sizeof o,
                        .P = P,
                        .alpha = alpha,
                        .beta = beta,
                        .gamma = gamma,
                        .noise = 1,
                        .complex_noise = complex_noise,
                        .threads = 1};
    kspec_wls_point q;
    kspec_error e;
    CHECK_MSG(expect_at(N, p, &o, &q, &e) == KSPEC_OK, "%s", e.msg);
    CHECK(q.error == q.error_noise_free + q.error_noise && q.alpha == alpha && q.beta == beta);
    CHECK(isnan(q.error_se) && isnan(q.variance_se));
    CHECK(q.p == p && q.regime == (p < N ? KSPEC_WLS_REGIME_UNDER : KSPEC_WLS_REGIME_OVER));
    return q;
}

static void compare(size_t N, size_t p, size_t P, double alpha, double beta, double gamma, double tol) {
    oracle_errors want = oracle_wls(N, p, P, alpha, beta, gamma);
    int before = test_failures;
    kspec_wls_point q = theory(N, p, P, alpha, beta, gamma, 0), z = theory(N, p, P, alpha, beta, gamma, 1);
    if (p == N && N == P) /* everything is known */
        CHECK(q.error_noise_free == 0 && want.error < 1e-35L);
    else
        CHECK_CLOSE(q.error_noise_free, (double)want.error, tol);
    CHECK_CLOSE(q.error_noise, (double)want.noise, tol);
    CHECK_CLOSE(q.variance, (double)want.real, tol);
    CHECK_CLOSE(z.variance, (double)want.circular, tol);
    CHECK(z.error_noise == q.error_noise && z.error_noise_free == q.error_noise_free);
    CHECK(q.accuracy > 0 && q.accuracy <= 1e-6);
    if (test_failures > before)
        printf("  N = %zu, p = %zu, P = %zu, alpha = %g, beta = %g, gamma = %g\n", N, p, P, alpha, beta,
               gamma);
}

TEST(every_small_grid_against_the_pseudo_inverse) {
    const double sets[][3] = {{0, 0, 0.5}, {0.4, 0.5, 0.7}, {1.3, 1.1, 0.3}, {-0.6, -0.4, 1.5}};
    for (size_t s = 0; s < 4; s++)
        for (size_t N = 1; N <= 8; N++)
            for (size_t P = N; P <= 24; P++)
                for (size_t p = 1; p <= P; p++) compare(N, p, P, sets[s][0], sets[s][1], sets[s][2], 1e-11);
}

/* Noise of any spectrum, against the dense covariance; white noise by its spectrum is white noise */
TEST(noise_by_its_spectrum) {
    const double sets[][2] = {{0, 0.5}, {0.4, 0.7}, {1.3, 1.1}, {-0.6, -0.4}};
    for (size_t a = 0; a < 4; a++)
        for (size_t N = 1; N <= 13; N += 3)
            for (size_t p = 1; p <= 2 * N; p++) {
                double real[16], any[16], white[16];
                for (size_t m = 0; m < N; m++) {
                    const double f = (double)(m < N - m ? m : N - m);
                    real[m] = 0.3 + 2 / (1 + f * f), any[m] = 0.1 + (double)(m * m % 7), white[m] = 0.49;
                }
                kspec_wls_opts o = {.size = sizeof o,
                                    .P = 2 * N,
                                    .alpha = sets[a][0],
                                    .beta = sets[a][1],
                                    .gamma = 0.5,
                                    .threads = 1,
                                    .noise_spectrum = real};
                kspec_wls_point q;
                kspec_error e;
                oracle_errors want = oracle_noise(N, p, o.alpha, o.beta, real);
                CHECK_MSG(expect_at(N, p, &o, &q, &e) == KSPEC_OK, "%s", e.msg);
                CHECK_CLOSE(q.error_noise, (double)want.noise, 1e-11);
                CHECK_CLOSE(q.variance, (double)want.real, 1e-10);
                o.noise_spectrum = any, o.complex_noise = 1;
                want = oracle_noise(N, p, o.alpha, o.beta, any);
                CHECK(expect_at(N, p, &o, &q, &e) == KSPEC_OK);
                CHECK_CLOSE(q.error_noise, (double)want.noise, 1e-11);
                CHECK_CLOSE(q.variance, (double)want.circular, 1e-10);
                o.noise_spectrum = white, o.complex_noise = 0;
                CHECK(expect_at(N, p, &o, &q, &e) == KSPEC_OK);
                kspec_wls_point w;
                o.noise_spectrum = NULL, o.noise = 0.7;
                CHECK(expect_at(N, p, &o, &w, &e) == KSPEC_OK);
                CHECK_CLOSE(q.error_noise, w.error_noise, 1e-11);
                CHECK_CLOSE(q.variance, w.variance, 1e-10);
            }
}

/* 4000 draws: within five of their standard errors, and refusals */
TEST(noise_of_a_spectrum_drawn) {
    enum { N = 12 };
    double s[N];
    for (size_t m = 0; m < N; m++) s[m] = 1 / (1.0 + (double)(m < N - m ? m : N - m));
    kspec_wls_opts o = {
        .size = sizeof o, .P = 20, .alpha = 0.5, .gamma = 0.8, .seed = 4, .noise_spectrum = s};
    const size_t p[] = {5, 12, 17};
    kspec_wls_result *want, *drawn;
    kspec_error e;
    CHECK_MSG(kspec_wls_theory(N, p, 3, &o, &want, &e) == KSPEC_OK, "%s", e.msg);
    CHECK(kspec_wls_empirical(N, p, 3, 4000, &o, &drawn, &e) == KSPEC_OK);
    for (size_t k = 0; k < 3; k++) {
        const kspec_wls_point *w = want->points[k], *d = drawn->points[k];
        CHECK(fabs(w->error_noise - d->error_noise) < 5 * d->error_noise_se);
        CHECK(fabs(w->variance - d->variance) < 5 * d->variance_se);
    }
    kspec_free(want), kspec_free(drawn);
    s[2] = -1;
    CHECK_FAILS(kspec_wls_theory(N, p, 3, &o, &want, &e), KSPEC_E_DATA, e, "has -1 at frequency 2");
    s[2] = 9;
    CHECK_FAILS(kspec_wls_theory(N, p, 3, &o, &want, &e), KSPEC_E_DATA, e, "is symmetric, but has 9 and");
    o.noise = 1;
    CHECK_FAILS(kspec_wls_theory(N, p, 3, &o, &want, &e), KSPEC_E_ARG, e, "noise 1 and a noise spectrum");
}

TEST(larger_grids) {
    const size_t N[] = {13, 16, 31, 48, 64}, P[] = {40, 16, 64, 131, 200};
    const double alphas[] = {0.3, 0.8, 1.5, -1};
    for (int i = 0; i < 5; i++)
        for (int a = 0; a < 4; a++) {
            compare(N[i], N[i] - 1, P[i], alphas[a], 0, 0.7, 1e-9);
            compare(N[i], N[i] / 2 + (size_t)a, P[i], alphas[a], 0, 0.3, 1e-10);
            compare(N[i], 1 + (size_t)a, P[i], alphas[a], 0, 1.1, 1e-10);
        }
}

/* Weights that span 1e9 and more, where the recursion's own check makes QR take over */
TEST(steep_weights) {
    const double alphas[] = {2.5, 4, -2.5, -4};
    for (int a = 0; a < 4; a++) {
        compare(32, 31, 64, alphas[a], 0, 0.7, 1e-9);
        compare(32, 17, 64, alphas[a], 0, 0.7, 1e-9);
        compare(32, 3, 64, alphas[a], 0, 0.7, 1e-9);
    }
    kspec_error e;
    kspec_wls_opts o = {.size = sizeof o, .P = 512, .alpha = 25};
    kspec_wls_point q;
    CHECK_FAILS(expect_at(512, 100, &o, &q, &e), KSPEC_E_NUMERIC, e, "lower alpha");
    o.P = 100000, o.alpha = 8;
    CHECK_FAILS(expect_at(100000, 50000, &o, &q, &e), KSPEC_E_NUMERIC, e, "above 1e+11");
}

/*
 * Through the singular value decomposition of L^alpha Psi, as Theorem 3.1 and Lemma 4.1 have it (complex
 * noise)
 */
TEST(the_svd_form) {
    const size_t sizes[][3] = {{16, 12, 48}, {16, 5, 64}, {17, 9, 40},
                               {24, 23, 50}, {12, 1, 12}, {10, 10, 31}};
    const double alphas[] = {0, 0.4, 0.8, -0.5};
    for (int i = 0; i < 6; i++)
        for (int a = 0; a < 4; a++) {
            size_t N = sizes[i][0], p = sizes[i][1], P = sizes[i][2];
            oracle_errors want = oracle_svd_form(N, p, P, alphas[a], 0.7);
            kspec_wls_point q = theory(N, p, P, alphas[a], 0.3, 0.7, 1);
            CHECK_CLOSE(q.error_noise_free, (double)want.error, 1e-11);
            CHECK_CLOSE(q.error_noise, (double)want.noise, 1e-11);
            CHECK_CLOSE(q.variance, (double)want.circular, 1e-11);
        }
}

/*
 * Equation (14) of "A Generalized Weighted Optimization Method for Computational Learning and Inversion" as
 * it is printed: a term c sum_{j<p} t^(-2 gamma) too many, and only the modes that are not learned in the
 * last sum.
 */
static double equation_14(size_t N, size_t nu, size_t mu, double beta, double gamma) {
    double c = 0, first = 0, second = 0, third = 0;
    for (size_t k = 0; k < mu * N; k++) c += pow(1 + (double)k, -2 * gamma);
    for (size_t k = 0; k < nu * N; k++) first += pow(1 + (double)k, -2 * gamma);
    for (size_t k = 0; k < N; k++) {
        double s = 0, u = 0, v = 0, rest = 0;
        for (size_t e = 0; e < mu; e++) {
            double t = 1 + (double)(k + N * e);
            if (e < nu) s += pow(t, -2 * beta), u += pow(t, -4 * beta), v += pow(t, -2 * beta - 2 * gamma);
            if (e >= nu) rest += pow(t, -2 * gamma);
        }
        second += v / s, third += u * rest / (s * s);
    }
    return 1 + (first - 2 * second + third) / c;
}

TEST(equation_14_as_printed_is_wrong) {
    for (size_t nu = 1; nu <= 3; nu++) {
        double printed = equation_14(8, nu, 4, 0.5, 0.7),
               ours = theory(8, 8 * nu, 32, 0.3, 0.5, 0.7, 0).error_noise_free;
        CHECK_CLOSE(ours, (double)oracle_wls(8, 8 * nu, 32, 0.3, 0.5, 0.7).error, 1e-13);
        if (nu == 1)
            CHECK_CLOSE(printed, ours, 1e-12); /* with one learned mode a class it happens to be right */
        else
            CHECK_MSG(fabs(printed - ours) > 0.01, "nu = %zu: printed %g, right %g", nu, printed, ours);
    }
}

static double tail(size_t from, size_t P, double gamma) {
    double sum = 0, prior = 0;
    for (size_t k = P; k-- > 0;) {
        prior += pow(1 + (double)k, -2 * gamma);
        if (k >= from) sum += pow(1 + (double)k, -2 * gamma);
    }
    return sum / prior;
}

TEST(identities) {
    const double exponents[] = {-0.5, 0, 0.3, 1, 2};
    for (int a = 0; a < 5; a++)
        for (int b = 0; b < 5; b++) {
            /*
             * p = N: 2c sum_{j>=N} t^(-2 gamma), sigma^2 and 2 sigma^4/N whatever the weights, from both
             * sides
             */
            kspec_wls_point q = theory(30, 30, 100, exponents[a], exponents[b], 0.6, 0);
            CHECK_CLOSE(q.error_noise_free, 2 * tail(30, 100, 0.6), 1e-13);
            CHECK_CLOSE(q.error_noise, 1, 1e-13);
            CHECK_CLOSE(q.variance, 2.0 / 30, 1e-13);
            oracle_errors under = oracle_svd_form(30, 30, 100, exponents[a], 0.6);
            CHECK_CLOSE((double)under.error, 2 * tail(30, 100, 0.6), 1e-13);
            CHECK_CLOSE((double)under.noise, 1, 1e-13);
            /* alpha = beta = 0, p = nu N: equation (16) of the paper, and N sigma^2/p */
            size_t p = 30 * (size_t)(a + 1);
            q = theory(30, p, 150, 0, 0, exponents[b], 0);
            double share = 30 / (double)p;
            CHECK_CLOSE(q.error_noise_free, 1 - share + 2 * share * tail(p, 150, exponents[b]), 1e-12);
            CHECK_CLOSE(q.error_noise, share, 1e-13);
            CHECK_CLOSE(q.variance, 2 * share / (double)p, 1e-13);
        }
    /* alpha = 0, p < N: noise p/N, and what is not learned counts twice if it has an alias that is */
    for (size_t p = 1; p < 30; p++) {
        kspec_wls_point q = theory(30, p, 60, 0, 0.7, 0.6, 0);
        double twice = tail(30, 60, 0.6) - tail(30 + p, 60, 0.6);
        CHECK_CLOSE(q.error_noise_free, tail(p, 60, 0.6) + twice, 1e-12);
        CHECK_CLOSE(q.error_noise, (double)p / 30, 1e-13);
    }
    /* p = N and one less are near each other as N grows */
    kspec_wls_point q = theory(1000, 999, 1000, 0.4, 0, 1, 0);
    CHECK_CLOSE(q.error_noise, 1, 0.01);
}

static int same(const kspec_wls_point *a, const kspec_wls_point *b) { /* to the last bit */
    return a->p == b->p && a->regime == b->regime && a->error_noise_free == b->error_noise_free &&
           a->error_noise == b->error_noise && a->variance == b->variance && a->accuracy == b->accuracy;
}

TEST(lists_and_threads_change_nothing) {
    enum { COUNT = 90, N = 40 };
    size_t p[COUNT];
    kspec_wls_result *first = NULL, *r;
    kspec_wls_point q;
    for (size_t i = 0; i < COUNT; i++) p[i] = 1 + i * 37 % COUNT; /* in no order, and some twice */
    p[3] = p[4], p[5] = p[6];
    for (int threads = 1; threads <= 3; threads++) {
        kspec_wls_opts o = {
            .size = sizeof o, .P = 100, .alpha = 0.7, .beta = 0.4, .gamma = 0.5, .noise = 0.2};
        o.threads = threads;
        CHECK(kspec_wls_theory(N, p, COUNT, &o, &r, NULL) == KSPEC_OK);
        CHECK(r->count == COUNT && r->N == N && r->P == 100 && r->draws == 0 && r->seconds >= 0);
        if (threads == 1) first = r;
        for (size_t i = 0; i < COUNT; i++) {
            CHECK(same(r->points[i], first->points[i]));
            if (threads > 1) continue;
            CHECK(expect_at(N, p[i], &o, &q, NULL) == KSPEC_OK);
            CHECK_MSG(same(r->points[i], &q), "p = %zu", p[i]);
        }
        if (threads > 1) kspec_free(r);
    }
    kspec_free(first);
    kspec_free(NULL);
}

/* NULL options: P = max(N, p), no noise; an empty list has an empty result, and a list is needed otherwise */
TEST(defaults) {
    kspec_wls_result *r;
    kspec_wls_point q;
    kspec_error e;
    const kspec_wls_opts zeroed = {.size = sizeof zeroed};
    CHECK(kspec_wls_theory(40, NULL, 0, NULL, &r, NULL) == KSPEC_OK && r->count == 0);
    kspec_free(r);
    for (int k = 0; k < 2; k++) {
        size_t p = 50;
        CHECK(kspec_wls_theory(40, &p, 1, k ? &zeroed : NULL, &r, NULL) == KSPEC_OK);
        CHECK(r->P == 50 && r->points[0]->error_noise == 0);
        kspec_free(r);
    }
    CHECK(expect_at(40, 3, NULL, &q, NULL) == KSPEC_OK && q.error_noise == 0);
    CHECK_FAILS(kspec_wls_theory(40, NULL, 1, NULL, &r, &e), KSPEC_E_ARG, e, "the list of p is missing");
    CHECK(r == NULL);
}

/* A sweep of a million modes keeps its digits: alpha = beta = 0 is known */
TEST(long_sweeps) {
    size_t p[] = {1000000, 500000, 1000};
    kspec_wls_opts o = {.size = sizeof o, .P = 1000000, .gamma = 0.5, .noise = 1};
    kspec_wls_result *r;
    kspec_wls_point last;
    CHECK(kspec_wls_theory(1000, p, 3, &o, &r, NULL) == KSPEC_OK);
    for (int i = 0; i < 3; i++) {
        const kspec_wls_point *q = r->points[i];
        double share = 1000 / (double)p[i];
        CHECK_CLOSE(q->error_noise_free, 1 - share + 2 * share * tail(p[i], 1000000, 0.5), 1e-12);
        CHECK_CLOSE(q->error_noise, share, 1e-12);
        CHECK_CLOSE(q->variance, 2 * share / (double)p[i], 1e-12);
    }
    kspec_free(r);
    /* a tiny error, free of cancellation */
    o.gamma = 4, o.beta = 4, o.P = 4000;
    CHECK(expect_at(1000, 4000, &o, &last, NULL) == KSPEC_OK);
    CHECK(last.error_noise_free > 0 && last.error_noise_free < 1e-20);
}

static int stop(void *ctx, double fraction) {
    (void)fraction;
    return ++*(int *)ctx > 2;
}

TEST(bad_input) {
    kspec_error e;
    kspec_wls_point q, m;
    kspec_wls_result *r;
    kspec_wls_opts o = {.size = sizeof o, .P = 16, .gamma = 0.5, .noise = 0.1};
    size_t p[] = {3, 17};
    CHECK_FAILS(kspec_wls_theory(8, p, 2, &o, &r, &e), KSPEC_E_ARG, e,
                "p = 17 exceeds P = 16, the number of modes");
    CHECK(r == NULL);
    p[1] = 0;
    CHECK_FAILS(kspec_wls_theory(8, p, 2, &o, &r, &e), KSPEC_E_ARG, e, "p = 0 is below 1");
    o.P = 7;
    CHECK_FAILS(expect_at(8, 3, &o, &q, &e), KSPEC_E_ARG, e, "P = 7 modes is below the N = 8 points");
    o.P = 16;
    CHECK_FAILS(expect_at(0, 3, &o, &q, &e), KSPEC_E_ARG, e, "N = 0");
    const double bad[] = {-1000, 1e308, 200, INFINITY, NAN};
    double *fields[] = {&o.gamma, &o.alpha, &o.beta};
    const char *names[] = {"gamma", "alpha", "beta"};
    for (int f = 0; f < 3; f++)
        for (int b = 0; b < 5; b++) {
            double kept = *fields[f];
            *fields[f] = bad[b];
            CHECK_FAILS(expect_at(8, 3, &o, &q, &e), KSPEC_E_ARG, e, names[f]);
            *fields[f] = kept;
        }
    o.noise = -1;
    CHECK_FAILS(expect_at(8, 3, &o, &q, &e), KSPEC_E_ARG, e, "noise -1");
    o.noise = NAN;
    CHECK_FAILS(expect_at(8, 3, &o, &q, &e), KSPEC_E_ARG, e, "noise");
    o.noise = 1e100;
    CHECK_FAILS(expect_at(8, 3, &o, &q, &e), KSPEC_E_NUMERIC, e, "p = 3, or its variance, exceeds");
    o.noise = 1;
    /* one point: the mean of the data is all that can be learned */
    o.P = 3;
    CHECK(expect_at(1, 1, &o, &q, &e) == KSPEC_OK);
    CHECK_CLOSE(q.error_noise_free, 2 * tail(1, 3, 0.5), 1e-14);
    CHECK(expect_at(1, 3, &o, &q, &e) == KSPEC_OK);
    CHECK_CLOSE(q.error_noise, 1.0 / 3, 1e-14);
    /* more memory than is available, whatever the system would promise: 2^52 points */
    const size_t many = (size_t)1 << 52;
    o.P = many, o.gamma = 0;
    CHECK_FAILS(expect_at(many, 5, &o, &q, &e), KSPEC_E_NOMEM, e, "MB are available");
    CHECK_FAILS(expect_at(many, many, &o, &q, &e), KSPEC_E_NOMEM, e, "MB are available");
    o.P = 8;
    CHECK_FAILS(measure_at(8, 5, many, &o, &m, &e), KSPEC_E_NOMEM, e, "MB are available");
}

TEST(cancelled) {
    int calls = 0;
    size_t p[20];
    kspec_error e;
    kspec_wls_result *r;
    for (size_t i = 0; i < 20; i++) p[i] = i + 1;
    kspec_wls_opts o = {.size = sizeof o, .alpha = 0.5, .threads = 1, .progress = {stop, &calls}};
    CHECK_FAILS(kspec_wls_theory(64, p, 20, &o, &r, &e), KSPEC_E_CANCELLED, e, "cancelled");
    CHECK(r == NULL);
}

int main(void) {
    RUN(every_small_grid_against_the_pseudo_inverse);
    RUN(noise_by_its_spectrum);
    RUN(noise_of_a_spectrum_drawn);
    RUN(larger_grids);
    RUN(steep_weights);
    RUN(the_svd_form);
    RUN(equation_14_as_printed_is_wrong);
    RUN(identities);
    RUN(lists_and_threads_change_nothing);
    RUN(long_sweeps);
    RUN(defaults);
    RUN(bad_input);
    RUN(cancelled);
    return test_done();
}
