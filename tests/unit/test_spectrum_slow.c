/*
 * The paper's example of recovered eigenvalues: phi = sqrt(0.3) x.w in 20 dimensions, 100 x 100, ten moments,
 * 20 seeds. The total absolute error of the 20 eigenvalues is about 0.55 (standard deviation over seeds 0.5)
 * from unbiased moments and unit weights; its mean over 20 seeds has a standard error of 0.12, so that 0.8 is
 * two above, and the seeds are fixed. Kong-Valiant moments and the sample's own eigenvalues must do at least
 * three times worse.
 */
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
    kspec_generator *made;
    CHECK(kspec_generate_open(P, P, &g, &made, NULL) == KSPEC_OK);
    CHECK(kspec_generate_rows(made, 0, 0, P, x, NULL) == KSPEC_OK);
    kspec_generate_close(made);
}

static double total_error(const double *lambda) {
    double sum = 0;
    for (int j = 0; j < D; j++) sum += fabs(lambda[j] - 0.3);
    return sum;
}

/*
 * The mean total error: of unbiased moments plain and by default, of the given other estimator, of the sample
 */
static void mean_errors(unsigned other, double *plain, double *by_default, double *others, double *sample) {
    static double x[P * P];
    *plain = *by_default = *others = *sample = 0;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        draw(100 + seed, x);
        kspec_matrix phi = {x, P, P, P, 1};
        kspec_moments_opts how = {.size = sizeof how, .nmax = MOMENTS};
        kspec_spectrum_opts o = {.size = sizeof o, .rank = D, .weights = KSPEC_WEIGHTS_UNIT, .no_draws = 1};
        kspec_spectrum_result *r;
        CHECK(kspec_spectrum(&phi, 1, &how, &o, &r, NULL) == KSPEC_OK);
        *plain += total_error(r->eigenvalues) / SEEDS;
        *sample += total_error(r->sample_eigenvalues) / SEEDS;
        kspec_spectrum_free(r);
        kspec_spectrum_opts all_defaults = {.size = sizeof all_defaults, .rank = D};
        CHECK(kspec_spectrum(&phi, 1, &how, &all_defaults, &r, NULL) == KSPEC_OK);
        *by_default += total_error(r->eigenvalues) / SEEDS;
        kspec_spectrum_free(r);
        how.estimators = other;
        CHECK(kspec_spectrum(&phi, 1, &how, &o, &r, NULL) == KSPEC_OK);
        *others += total_error(r->eigenvalues) / SEEDS;
        kspec_spectrum_free(r);
    }
}

TEST(twenty_equal_eigenvalues) {
    double plain, by_default, kv, sample;
    mean_errors(KSPEC_ESTIMATOR_KV_ROW, &plain, &by_default, &kv, &sample);
    printf(
        "total absolute error: %.3f with unit weights, %.3f by default; Kong-Valiant %.3f, the sample %.3f\n",
        plain, by_default, kv, sample);
    CHECK_MSG(plain <= 0.8, "%g", plain);
    CHECK_MSG(by_default <= 0.8, "%g", by_default);
    double worse = 3 * fmax(plain, by_default);
    CHECK_MSG(kv >= worse && sample >= worse, "Kong-Valiant %g, the sample %g", kv, sample);
}

/*
 * One-dimensional random Fourier features, eta = 400, 20 x 20, rank 50: the eigenvalues lambda_i = (eta
 * phi)^-1 (eta phi^2)^-i fall from 0.05 by a factor of 0.95; the recovered ones are nearer to them than the
 * sample's, of which there are only 20. Over 20 seeds; 0.918 is the sum of the 50.
 */
TEST(more_eigenvalues_than_rows) {
    const double eta = 400;
    double truth[50], mean = 0, sample = 0, x[400];
    CHECK(kspec_theory_rbf_eigenvalues(&eta, 1, 50, truth, NULL, NULL) == KSPEC_OK);
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        kspec_generate_opts g = {.size = sizeof g,
                                 .process = KSPEC_PROCESS_RFF,
                                 .dim = 1,
                                 .eta = &eta,
                                 .eta_count = 1,
                                 .seed = 300 + seed};
        kspec_generator *made;
        CHECK(kspec_generate_open(20, 20, &g, &made, NULL) == KSPEC_OK);
        CHECK(kspec_generate_rows(made, 0, 0, 20, x, NULL) == KSPEC_OK);
        kspec_generate_close(made);
        kspec_matrix phi = {x, 20, 20, 20, 1};
        kspec_moments_opts how = {.size = sizeof how, .nmax = MOMENTS};
        kspec_spectrum_opts o = {.size = sizeof o, .rank = 50};
        kspec_spectrum_result *r;
        CHECK(kspec_spectrum(&phi, 1, &how, &o, &r, NULL) == KSPEC_OK);
        for (size_t j = 0; j < 50; j++) {
            mean += fabs(r->eigenvalues[j] - truth[j]) / SEEDS;
            sample += fabs((j < r->sample_count ? r->sample_eigenvalues[j] : 0) - truth[j]) / SEEDS;
        }
        kspec_spectrum_free(r);
    }
    printf("total absolute error: %.3f, the sample %.3f\n", mean, sample);
    CHECK_MSG(2 * mean < sample, "%g, the sample %g", mean, sample);
}

int main(void) {
    RUN(twenty_equal_eigenvalues);
    RUN(more_eigenvalues_than_rows);
    return test_done();
}
