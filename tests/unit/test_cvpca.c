/* Cross-validated eigenvalues: kspec_spectrum() with trials. */
#include "help/spectrum.h"
#include "help/isa.h"
#include "kspec.h"
#include "oracle/brute.h"
#include "oracle/cvpca.h"
#include "test.h"

#include <string.h>

enum { MOST = 30 * 16 };

static kspec_matrix view(const double *x, size_t P, size_t Q) {
    return (kspec_matrix){x, P, Q, (ptrdiff_t)Q, 1};
}

static kspec_spectrum_result *crossed(const kspec_matrix *phi, size_t trials, kspec_moments_opts how,
                                      kspec_spectrum_opts o) {
    kspec_spectrum_result *r;
    kspec_error e;
    how.size = sizeof how;
    o.size = sizeof o;
    o.method = KSPEC_SPECTRUM_METHOD_CVPCA;
    kspec_status st = spectrum_of(phi, trials, &how, &o, &r, &e);
    CHECK_MSG(st == KSPEC_OK, "%s", e.msg);
    return r;
}

/* The mean of both orders of two trials, centred if asked for, without row `out` (or all, if P) */
static void both_orders(double *const *x, size_t P, size_t Q, int center, size_t out, double *lambda) {
    double X[2][MOST], other[16];
    size_t rows = out < P ? P - 1 : P, n = rows < Q ? rows : Q;
    for (int t = 0; t < 2; t++) {
        if (out < P)
            brute_without_row(x[t], P, Q, out, X[t]);
        else
            memcpy(X[t], x[t], P * Q * sizeof(double));
        if (center) oracle_center(X[t], rows, Q);
    }
    oracle_cvpca(X[0], X[1], rows, Q, lambda);
    oracle_cvpca(X[1], X[0], rows, Q, other);
    for (size_t k = 0; k < n; k++) lambda[k] = (lambda[k] + other[k]) / 2;
}

/* Two trials that have something in common, so that singular values are apart */
static void two_trials(uint64_t seed, size_t P, size_t Q, double (*x)[MOST], double *const *to) {
    double common[MOST];
    brute_matrix(seed, P * Q, common);
    for (int t = 0; t < 2; t++) {
        brute_matrix(seed * 7 + 1 + (uint64_t)t, P * Q, x[t]);
        for (size_t i = 0; i < P * Q; i++) to[t][i] = x[t][i] = 2 * common[i] * (double)(1 + i % Q) + x[t][i];
    }
}

/*
 * Both sides longer, every instruction set, 1 to 3 threads. With fewer than 20 rows the groups are single
 * rows, and the error bars those of the jackknife by definition
 */
TEST(against_plain_loops) {
    const size_t shapes[][2] = {{9, 5}, {5, 9}, {7, 7}, {30, 4}, {4, 13}, {12, 1}, {1, 6}, {3, 2}, {2, 3}};
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
        for (int center = 0; center < 2; center++) {
            size_t P = shapes[s][0], Q = shapes[s][1], n = P < Q ? P : Q;
            if (center && P < 2) continue;
            double x[2][MOST], want[16], first[16];
            double *const at[2] = {x[0], x[1]};
            two_trials(s + 3, P, Q, x, at);
            kspec_matrix phi[2] = {view(x[0], P, Q), view(x[1], P, Q)};
            both_orders(at, P, Q, center, P, want);
            EACH_ISA({
                for (int threads = 1; threads <= 3; threads++) {
                    kspec_spectrum_result *r = crossed(
                        phi, 2,
                        (kspec_moments_opts){.center = center ? KSPEC_CENTER_ROWS : KSPEC_CENTER_NONE},
                        (kspec_spectrum_opts){.threads = threads});
                    CHECK(r->rank == n && r->sample_count == n && r->cvpca->splits == 1);
                    CHECK(r->cvpca->groups == (P < 4 ? 0 : P < 20 ? (int)P : 20));
                    for (size_t k = 0; k < n; k++)
                        CHECK_MSG(fabs(r->eigenvalues[k] - want[k]) <= 1e-12 * want[0],
                                  "%zu x %zu: %zu: %g %g", P, Q, k, r->eigenvalues[k], want[k]);
                    if (threads == 1) memcpy(first, r->eigenvalues, n * sizeof *first);
                    CHECK(memcmp(first, r->eigenvalues, n * sizeof *first) == 0);
                    kspec_free(r);
                }
            });
            if (P < 4 || P >= 20) continue;
            kspec_spectrum_result *r = crossed(
                phi, 2, (kspec_moments_opts){.center = center ? KSPEC_CENTER_ROWS : KSPEC_CENTER_NONE},
                (kspec_spectrum_opts){.threads = 2});
            double without[20][16] = {{0}};
            for (size_t i = 0; i < P; i++) both_orders(at, P, Q, center, i, without[i]);
            for (size_t k = 0; k < n; k++) {
                double mean = 0, square = 0;
                for (size_t i = 0; i < P; i++) mean += without[i][k] / (double)P;
                for (size_t i = 0; i < P; i++) square += pow(without[i][k] - mean, 2);
                double se = sqrt(square * ((double)P - 1) / (double)P);
                if (k == P - 1) { /* without a row there is no such eigenvalue */
                    CHECK(isnan(r->std_error[k]) && isnan(r->ci_low[k]));
                    continue;
                }
                CHECK(fabs(r->std_error[k] - se) < 1e-10 * want[0]);
                CHECK_CLOSE(r->ci_high[k] - r->eigenvalues[k], r->eigenvalues[k] - r->ci_low[k], 1e-9);
                CHECK(r->ci_high[k] - r->eigenvalues[k] >= 2.09 * r->std_error[k]);
            }
            kspec_free(r);
        }
}

/*
 * The sum of all is m(1) by two trials, whatever the splits. Two identical trials have the eigenvalues of the
 * sample; entries times 2^e, the eigenvalues times 4^e
 */
TEST(sums_units_and_equal_trials) {
    double x[4][MOST], y[2][MOST];
    kspec_matrix phi[4], twice[2], far[2];
    for (int t = 0; t < 4; t++) brute_matrix(5 + (uint64_t)t, 15 * 12, x[t]), phi[t] = view(x[t], 15, 12);
    for (size_t trials = 2; trials <= 4; trials++)
        for (int center = 0; center < 2; center++) {
            kspec_moments_opts how = {.center = center ? KSPEC_CENTER_ROWS : KSPEC_CENTER_NONE,
                                      .splits = 3,
                                      .estimators = KSPEC_ESTIMATOR_NAIVE};
            kspec_spectrum_result *r = crossed(phi, trials, how, (kspec_spectrum_opts){.seed = 4});
            double sum = 0;
            for (size_t k = 0; k < 12; k++) sum += r->eigenvalues[k];
            CHECK(r->cvpca->splits == (trials > 2 ? 3 : 1) && r->count == 2);
            CHECK_CLOSE(sum, r->given[0], 1e-12);
            kspec_free(r);
        }
    twice[0] = twice[1] = phi[0];
    kspec_spectrum_result *r =
        crossed(twice, 2, (kspec_moments_opts){.no_stderr = 1}, (kspec_spectrum_opts){0});
    CHECK(r->cvpca->groups == 0 && isnan(r->std_error[0]) && isnan(r->ci_high[0]));
    for (size_t k = 0; k < 12; k++) CHECK_CLOSE(r->eigenvalues[k], r->sample_eigenvalues[k], 1e-9);
    kspec_free(r);
    r = crossed(phi, 2, (kspec_moments_opts){0}, (kspec_spectrum_opts){0});
    for (int e = -70; e <= 70; e += 35) {
        for (int t = 0; t < 2; t++) {
            for (int i = 0; i < 15 * 12; i++) y[t][i] = ldexp(x[t][i], e);
            far[t] = view(y[t], 15, 12);
        }
        kspec_spectrum_result *q = crossed(far, 2, (kspec_moments_opts){0}, (kspec_spectrum_opts){0});
        for (size_t k = 0; k < 12; k++) CHECK_CLOSE(q->eigenvalues[k], ldexp(r->eigenvalues[k], 2 * e), 1e-9);
        CHECK_CLOSE(q->std_error[0], ldexp(r->std_error[0], 2 * e), 1e-9);
        kspec_free(q);
    }
    kspec_free(r);
}

/*
 * Noise alone: the mean of each eigenvalue is 0, where the sample's own are not. And a signal of rank 2 in
 * noise: the sum of all is the signal's on the mean. 400 pairs of trials; means within 4.5 of their standard
 * errors, 14 of them: a false alarm in 10^4 (the seeds are fixed)
 */
TEST(unbiased_for_noise) {
    enum { P = 14, Q = 6, N = 400 };
    for (int signal = 0; signal < 2; signal++) {
        double mean[Q + 1] = {0}, square[Q + 1] = {0}, sample = 0, truth = 0, covered = 0;
        for (uint64_t s = 0; s < N; s++) {
            double x[2][P * Q], u[2 * (P + Q)];
            kspec_random_normal(s, 77, 0, 2 * (P + Q), u);
            for (int t = 0; t < 2; t++) {
                kspec_random_normal(s, 78 + (uint64_t)t, 0, P * Q, x[t]);
                for (size_t i = 0; i < P * Q && signal; i++) {
                    size_t r = i / Q, c = 2 * P + i % Q;
                    double common = 2 * u[r] * u[c] + u[P + r] * u[c + Q];
                    x[t][i] += common;
                    truth += common * common / (P * Q) / (2.0 * N);
                }
            }
            kspec_matrix phi[2] = {view(x[0], P, Q), view(x[1], P, Q)};
            kspec_spectrum_result *r =
                crossed(phi, 2, (kspec_moments_opts){0}, (kspec_spectrum_opts){.threads = 1});
            double sum = 0;
            for (size_t k = 0; k <= Q; k++) {
                double value = k < Q ? r->eigenvalues[k] : sum;
                mean[k] += value / N;
                square[k] += value * value / N;
                sum += value;
            }
            sample += r->sample_eigenvalues[0] / N;
            covered += (r->ci_low[0] <= 0 && 0 <= r->ci_high[0]) / (double)N;
            kspec_free(r);
        }
        for (size_t k = signal ? Q : 0; k <= Q; k++) {
            double se = sqrt((square[k] - mean[k] * mean[k]) / N), want = k == Q ? truth : 0;
            CHECK_MSG(fabs(mean[k] - want) < 4.5 * se, "signal %d, %zu: %g ± %g, not %g", signal, k, mean[k],
                      se, want);
        }
        /* the sample's first is noise; the jackknife's interval holds zero, nominally in 95% of cases */
        CHECK(signal || (sample > 0.1 && covered > 0.9));
        CHECK(!signal || (covered < 0.2 && mean[0] > 10 * fabs(mean[2])));
    }
}

static int stop(void *ctx, double fraction) {
    double *most = ctx;
    *most = fraction > *most ? fraction : *most;
    return fraction > 0.4;
}

TEST(refusals) {
    double x[3][MOST], t = 1, most = 0;
    for (int k = 0; k < 3; k++) brute_matrix((uint64_t)k, 100, x[k]);
    kspec_matrix phi[3] = {view(x[0], 10, 10), view(x[1], 10, 10), view(x[2], 10, 10)};
    kspec_spectrum_opts o = {.size = sizeof o, .method = KSPEC_SPECTRUM_METHOD_CVPCA};
    kspec_spectrum_result *r;
    kspec_error e;
    CHECK_FAILS(spectrum_of(phi, 1, NULL, &o, &r, &e), KSPEC_E_DATA, e,
                "cross-validated eigenvalues need at least 2 trials, not 1");
    CHECK_FAILS(spectrum_of(NULL, 2, NULL, &o, &r, &e), KSPEC_E_ARG, e, "the matrix is missing (NULL)");
    CHECK_FAILS(spectrum_from(&t, NULL, NULL, 1, 3, &o, &r, &e), KSPEC_E_ARG, e,
                "the method cvpca needs a matrix");
    kspec_moments_opts how = {
        .size = sizeof how, .scheme = KSPEC_TRIALS_ASSIGNMENT, .estimators = KSPEC_ESTIMATOR_PATH};
    CHECK_FAILS(spectrum_of(phi, 3, &how, &o, &r, &e), KSPEC_E_ARG, e, "split, not assigned");
    kspec_matrix vast[2] = {view(x[0], 5000, 5000), view(x[0], 5000, 5000)};
    CHECK_FAILS(spectrum_of(vast, 2, NULL, &o, &r, &e), KSPEC_E_DATA, e,
                "of 5000 x 5000: the shorter side exceeds 4096");
    how = (kspec_moments_opts){.size = sizeof how, .pairwise = 1};
    CHECK_FAILS(spectrum_of(phi, 2, &how, &o, &r, &e), KSPEC_E_ARG, e,
                "cross-validation does not know of missing entries");
    o.rank = 3;
    CHECK_FAILS(spectrum_of(phi, 2, NULL, &o, &r, &e), KSPEC_E_ARG, e, "the method cvpca has no rank");
    o = (kspec_spectrum_opts){.size = sizeof o, .method = KSPEC_SPECTRUM_METHOD_CVPCA, .t = &t, .t_count = 1};
    CHECK_FAILS(spectrum_of(phi, 2, NULL, &o, &r, &e), KSPEC_E_ARG, e, "the method cvpca has no rank");
    o = (kspec_spectrum_opts){.size = sizeof o, .method = KSPEC_SPECTRUM_METHOD_CVPCA, .noise = 1};
    CHECK_FAILS(spectrum_of(phi, 2, NULL, &o, &r, &e), KSPEC_E_ARG, e, "need the method fit");
    o = (kspec_spectrum_opts){
        .size = sizeof o, .method = KSPEC_SPECTRUM_METHOD_CVPCA, .progress = {stop, &most}, .threads = 1};
    CHECK_FAILS(spectrum_of(phi, 2, NULL, &o, &r, &e), KSPEC_E_CANCELLED, e, "cancelled");
    CHECK(most > 0.4 && most < 0.6 && !r);
    /* rows that are all there are have no error */
    how = (kspec_moments_opts){.sampled = KSPEC_SAMPLED_COLS};
    r = crossed(phi, 2, how, (kspec_spectrum_opts){0});
    CHECK(r->cvpca->groups == 0 && isnan(r->std_error[0]));
    kspec_free(r);
    /* ragged trials */
    size_t counts[10] = {2, 3, 2, 3, 3, 3, 2, 2, 3, 3};
    how = (kspec_moments_opts){.row_trials = counts};
    r = crossed(phi, 3, how, (kspec_spectrum_opts){0});
    CHECK(r->cvpca->splits == 8 && r->cvpca->groups == 10 && isfinite(r->std_error[0]));
    kspec_free(r);
}

int main(void) {
    RUN(against_plain_loops);
    RUN(sums_units_and_equal_trials);
    RUN(unbiased_for_noise);
    RUN(refusals);
    return test_done();
}
