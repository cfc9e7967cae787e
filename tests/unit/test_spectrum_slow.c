/*
 * The paper's example of recovered eigenvalues: phi = sqrt(0.3) x.w in 20 dimensions, 100 x 100, ten moments,
 * 20 seeds. The total absolute error of the 20 eigenvalues is about 0.55 (standard deviation over seeds 0.5)
 * from unbiased moments and unit weights; its mean over 20 seeds has a standard error of 0.12, so that 0.8 is
 * two above, and the seeds are fixed. Kong-Valiant moments and the sample's own eigenvalues must do at least
 * three times worse. The fit, which is told no rank, has an error of 0.29 on these seeds; that of the level
 * alone is 0.26.
 */
#include "help/spectrum.h"
#include "kspec.h"
#include "test.h"

enum { D = 20, P = 100, SEEDS = 20, MOMENTS = 10 };

static void draw(uint64_t seed, double *x) {
    const double c = 0.3;
    kspec_generate_opts g = {.size = sizeof g,
                             .process = KSPEC_PROCESS_LINEAR,
                             .dim = D,
                             .eigenvalues = &c,
                             .eigenvalue_count = 1,
                             .seed = seed};
    CHECK(kspec_generate(P, P, &g, x, NULL) == KSPEC_OK);
}

static double total_error(const double *lambda) {
    double sum = 0;
    for (int j = 0; j < D; j++) sum += fabs(lambda[j] - 0.3);
    return sum;
}

/*
 * Mean total errors of the linear program, plain and by default, of another estimator, the sample and the fit
 */
typedef struct {
    double plain, by_default, others, sample, fit;
} mean_errors;

static mean_errors measure(unsigned other) {
    static double x[P * P];
    mean_errors e = {0};
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        draw(100 + seed, x);
        kspec_matrix phi = {x, P, P, P, 1};
        kspec_moments_opts how = {.size = sizeof how, .nmax = MOMENTS};
        kspec_spectrum_opts o = {.size = sizeof o, .rank = D, .weights = KSPEC_WEIGHTS_UNIT, .no_draws = 1};
        kspec_spectrum_result *r;
        CHECK(spectrum_of(&phi, 1, &how, &o, &r, NULL) == KSPEC_OK);
        e.plain += total_error(r->eigenvalues) / SEEDS;
        e.sample += total_error(r->sample_eigenvalues) / SEEDS;
        kspec_free(r);
        kspec_spectrum_opts all_defaults = {.size = sizeof all_defaults, .rank = D};
        CHECK(spectrum_of(&phi, 1, &how, &all_defaults, &r, NULL) == KSPEC_OK);
        e.by_default += total_error(r->eigenvalues) / SEEDS;
        kspec_free(r);
        how.estimators = other;
        CHECK(spectrum_of(&phi, 1, &how, &o, &r, NULL) == KSPEC_OK);
        e.others += total_error(r->eigenvalues) / SEEDS;
        kspec_free(r);
        CHECK(spectrum_of(&phi, 1, NULL, NULL, &r, NULL) == KSPEC_OK);
        CHECK(r->rank == D);
        e.fit += total_error(r->eigenvalues) / SEEDS;
        kspec_free(r);
    }
    return e;
}

TEST(twenty_equal_eigenvalues) {
    mean_errors e = measure(KSPEC_ESTIMATOR_KV_ROW);
    printf(
        "total absolute error: %.3f with unit weights, %.3f by default; Kong-Valiant %.3f, the sample %.3f; "
        "the fit %.3f\n",
        e.plain, e.by_default, e.others, e.sample, e.fit);
    CHECK_MSG(e.plain <= 0.8, "%g", e.plain);
    CHECK_MSG(e.by_default <= 0.8, "%g", e.by_default);
    double worse = 3 * fmax(e.plain, e.by_default);
    CHECK_MSG(e.others >= worse && e.sample >= worse, "Kong-Valiant %g, the sample %g", e.others, e.sample);
    CHECK_MSG(e.fit <= 0.3, "%g", e.fit);
}

/*
 * One-dimensional random Fourier features, eta = 400, 20 x 20, rank 50: the eigenvalues lambda_i = (eta
 * phi)^-1 (eta phi^2)^-i fall from 0.05 by a factor of 0.95; the recovered ones are nearer to them than the
 * sample's, of which there are only 20. Over 20 seeds; 0.918 is the sum of the 50. The fit, which is not told
 * how many there are, is nearer than all that the paper's figure shows: the sample, Kong-Valiant moments and
 * the linear program as published.
 */
TEST(more_eigenvalues_than_rows) {
    const double eta = 400;
    double truth[50], mean = 0, sample = 0, others[3] = {0}, fit = 0, x[400];
    const unsigned estimators[3] = {KSPEC_ESTIMATOR_AUTO, KSPEC_ESTIMATOR_KV_ROW, KSPEC_ESTIMATOR_KV_COL};
    CHECK(kspec_theory_rbf_eigenvalues(&eta, 1, 50, truth, NULL, NULL) == KSPEC_OK);
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        kspec_generate_opts g = {.size = sizeof g,
                                 .process = KSPEC_PROCESS_RFF,
                                 .dim = 1,
                                 .eta = &eta,
                                 .eta_count = 1,
                                 .seed = 300 + seed};
        CHECK(kspec_generate(20, 20, &g, x, NULL) == KSPEC_OK);
        kspec_matrix phi = {x, 20, 20, 20, 1};
        kspec_moments_opts how = {.size = sizeof how, .nmax = MOMENTS};
        kspec_spectrum_opts o = {.size = sizeof o, .rank = 50};
        kspec_spectrum_result *r;
        CHECK(spectrum_of(&phi, 1, &how, &o, &r, NULL) == KSPEC_OK);
        for (size_t j = 0; j < 50; j++) {
            mean += fabs(r->eigenvalues[j] - truth[j]) / SEEDS;
            sample += fabs((j < r->sample_count ? r->sample_eigenvalues[j] : 0) - truth[j]) / SEEDS;
        }
        kspec_free(r);
        for (int k = 0; k < 3; k++) {
            how.estimators = estimators[k];
            kspec_spectrum_opts published = {
                .size = sizeof o, .rank = 50, .weights = KSPEC_WEIGHTS_UNIT, .no_draws = 1};
            CHECK(spectrum_of(&phi, 1, &how, &published, &r, NULL) == KSPEC_OK);
            for (size_t j = 0; j < 50; j++) others[k] += fabs(r->eigenvalues[j] - truth[j]) / SEEDS;
            kspec_free(r);
        }
        CHECK(spectrum_of(&phi, 1, NULL, NULL, &r, NULL) == KSPEC_OK);
        for (size_t j = 0; j < 50; j++) fit += fabs((j < r->rank ? r->eigenvalues[j] : 0) - truth[j]) / SEEDS;
        kspec_free(r);
    }
    printf("total absolute error: %.3f, the sample %.3f; as published %.3f, Kong-Valiant %.3f and %.3f, the "
           "fit %.3f\n",
           mean, sample, others[0], others[1], others[2], fit);
    CHECK_MSG(2 * mean < sample, "%g, the sample %g", mean, sample);
    CHECK_MSG(fit < sample && fit < others[0] && fit < others[1] && fit < others[2], "the fit %g", fit);
}

/*
 * Two trials with noise of half the signal's variance, 100 x 300: by how much lambda_1 and lambda_5 are off
 * on average over 20 seeds, in units of the truth and of the standard error of that mean. Of 1/i they are
 * unbiased within two standard errors. Equal eigenvalues are spread: of two levels the first is too large and
 * the fifth, the last of its level, too small.
 */
TEST(two_trials_with_noise) {
    enum { ROWS = 100, COLS = 300, MOST = 100 };
    static double x[2][ROWS * COLS];
    static const char *const names[] = {"1/i, i <= 100", "0.8^i, i <= 40", "5 of 1, 15 of 0.1"};
    static const size_t dims[] = {100, 40, 20};
    for (int kind = 0; kind < 3; kind++) {
        double lambda[MOST], trace = 0, sum[2] = {0}, squares[2] = {0};
        for (size_t i = 0; i < dims[kind]; i++) {
            double n = (double)(i + 1);
            trace += lambda[i] = kind == 0 ? 1 / n : kind == 1 ? pow(0.8, n) : i < 5 ? 1 : 0.1;
        }
        for (uint64_t seed = 0; seed < SEEDS; seed++) {
            kspec_generate_opts g = {.size = sizeof g,
                                     .process = KSPEC_PROCESS_LINEAR,
                                     .dim = dims[kind],
                                     .eigenvalues = lambda,
                                     .eigenvalue_count = dims[kind],
                                     .noise = sqrt(0.5 * trace),
                                     .trials = 2,
                                     .seed = 700 + seed};
            CHECK(kspec_generate(ROWS, COLS, &g, x[0], NULL) == KSPEC_OK);
            kspec_matrix phi[2] = {{x[0], ROWS, COLS, COLS, 1}, {x[1], ROWS, COLS, COLS, 1}};
            kspec_spectrum_result *r;
            CHECK(spectrum_of(phi, 2, NULL, NULL, &r, NULL) == KSPEC_OK);
            for (int k = 0; k < 2; k++) {
                double off = r->eigenvalues[4 * k] / lambda[4 * k] - 1;
                sum[k] += off;
                squares[k] += off * off;
            }
            kspec_free(r);
        }
        for (int k = 0; k < 2; k++) {
            double mean = sum[k] / SEEDS, error = sqrt((squares[k] / SEEDS - mean * mean) / (SEEDS - 1));
            printf("%s: lambda_%d off by %+.3f +- %.3f\n", names[kind], 4 * k + 1, mean, error);
            CHECK_MSG(fabs(mean) <= (kind == 0 ? 2 * error : 0.25), "%s: %g", names[kind], mean);
        }
    }
}

int main(void) {
    RUN(twenty_equal_eigenvalues);
    RUN(more_eigenvalues_than_rows);
    RUN(two_trials_with_noise);
    return test_done();
}
