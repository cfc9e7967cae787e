/*
 * Generators against closed forms, and correlated noise against estimators, with fixed seeds. Means over S
 * matrices are compared in units of their own standard error: |z| < 4.5 for some 30 of them, a false alarm
 * less than once in 3000 changes of the random numbers.
 */
#include "kspec.h"
#include "test.h"

enum { NMAX = 3 };

/* A random pair of covariances in three dimensions, neither of them diagonal */
static double S[9], Sx[9];
static const kspec_matrix sigma = {S, 3, 3, 3, 1}, sigma_x = {Sx, 3, 3, 3, 1};

static void random_pair(void) {
    double T[18];
    kspec_random_normal(2026, 1, 0, 18, T);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            for (int k = 0; k < 3; k++) {
                S[3 * i + j] += T[3 * i + k] * T[3 * j + k] + 0.5 * (i == j);
                Sx[3 * i + j] += 4 * T[9 + 3 * i + k] * T[9 + 3 * j + k];
            }
}

static void draw(size_t P, size_t Q, const kspec_generate_opts *o, double *x) {
    kspec_error e;
    CHECK_MSG(kspec_generate(P, Q, o, x, &e) == KSPEC_OK, "%s", e.msg);
}

/* Estimates of one matrix from its first `trials` trials */
static void estimate(size_t P, size_t Q, const double *x, size_t trials, unsigned estimator, double *m,
                     double *error) {
    kspec_matrix phi[2];
    for (size_t t = 0; t < trials; t++) phi[t] = (kspec_matrix){x + t * P * Q, P, Q, (ptrdiff_t)Q, 1};
    kspec_moments_opts opts = {
        .size = sizeof opts, .nmax = NMAX, .estimators = estimator, .no_stderr = !error, .threads = 1};
    kspec_moments_result *r;
    kspec_error e;
    CHECK_MSG(kspec_moments(phi, trials, &opts, &r, &e) == KSPEC_OK, "%s", e.msg);
    for (int n = 0; n < NMAX; n++) {
        m[n] = r->estimates[n]->value;
        if (error) error[n] = r->estimates[n]->std_error;
    }
    kspec_free(r);
}

/* z-scores of the mean over seeds against the truth; the mean of m(2) is returned */
static double z_scores(size_t P, size_t Q, kspec_generate_opts o, size_t trials, int seeds,
                       const double *truth, double *z) {
    double *x = malloc(2 * P * Q * sizeof *x), m[NMAX], mean[NMAX] = {0}, square[NMAX] = {0};
    o.threads = 1;
    for (int s = 0; s < seeds; s++) {
        o.seed = 100 + (uint64_t)s;
        draw(P, Q, &o, x);
        estimate(P, Q, x, trials, KSPEC_ESTIMATOR_EXACT, m, NULL);
        for (int n = 0; n < NMAX; n++) {
            double d = m[n] - mean[n];
            mean[n] += d / (s + 1);
            square[n] += d * (m[n] - mean[n]);
        }
    }
    for (int n = 0; n < NMAX; n++)
        z[n] = (mean[n] - truth[n]) / sqrt(square[n] / (seeds - 1) / seeds + 1e-300);
    free(x);
    return mean[1];
}

static void truth_of_pair(double *m) {
    double eta[3];
    size_t count;
    CHECK(kspec_theory_rbf_eta(&sigma, &sigma_x, eta, &count, NULL) == KSPEC_OK && count == 3);
    CHECK(kspec_theory_rbf_moments(eta, count, NMAX, m, NULL, NULL) == KSPEC_OK);
}

/* Unbiased estimates, averaged over many small matrices */
TEST(moments_of_covariances_are_the_closed_form) {
    double m[NMAX], z[NMAX];
    truth_of_pair(m);
    for (int process = KSPEC_PROCESS_RFF; process <= KSPEC_PROCESS_GAUSSIAN; process += 2) {
        kspec_generate_opts o = {.size = sizeof o,
                                 .process = (kspec_process)process,
                                 .dim = 3,
                                 .Sigma = &sigma,
                                 .Sigma_x = &sigma_x};
        z_scores(50, 60, o, 1, 600, m, z);
        for (int n = 0; n < NMAX; n++)
            CHECK_MSG(fabs(z[n]) < 4.5, "process %d, n = %d: z = %g", process, n + 1, z[n]);
        o.Sigma_x = NULL; /* another kernel: the test sees the difference */
        z_scores(50, 60, o, 1, 100, m, z);
        CHECK_MSG(fabs(z[1]) > 6, "process %d without Sigma_x: z = %g", process, z[1]);
    }
}

/* One large matrix, naive: within 4.5 of its standard errors and its bias, below n^2 (1/P + 1/Q) m(n-1) */
TEST(naive_estimate_of_a_large_sample) {
    enum { P = 2000, Q = 4000 };
    double m[NMAX], got[NMAX], error[NMAX], *x = malloc((size_t)P * Q * sizeof *x);
    truth_of_pair(m);
    for (int process = KSPEC_PROCESS_RFF; process <= KSPEC_PROCESS_GAUSSIAN; process += 2) {
        kspec_generate_opts o = {.size = sizeof o,
                                 .process = (kspec_process)process,
                                 .dim = 3,
                                 .Sigma = &sigma,
                                 .Sigma_x = &sigma_x,
                                 .seed = 1};
        draw(P, Q, &o, x);
        estimate(P, Q, x, 1, KSPEC_ESTIMATOR_NAIVE, got, error);
        for (int n = 2; n <= NMAX; n++) {
            double bias = n * n * (1.0 / P + 1.0 / Q) * m[n - 2];
            printf("process %d: m(%d) = %.6f, naive %.6f +- %.6f\n", process, n, m[n - 1], got[n - 1],
                   error[n - 1]);
            CHECK(error[n - 1] > 0 && error[n - 1] < 0.03 * n * m[n - 1]);
            CHECK(fabs(got[n - 1] - m[n - 1]) < 4.5 * error[n - 1] + bias);
        }
    }
    free(x);
}

TEST(two_trials_undo_correlated_noise_and_one_does_not) {
    double m[NMAX], z[NMAX], eta = 1;
    CHECK(kspec_theory_rbf_moments(&eta, 1, NMAX, m, NULL, NULL) == KSPEC_OK);
    for (int along = KSPEC_NOISE_ROWS; along <= KSPEC_NOISE_BOTH; along++)
        for (int half = 0; half < 2; half++) {
            kspec_generate_opts o = {.size = sizeof o,
                                     .process = KSPEC_PROCESS_RFF,
                                     .dim = 1,
                                     .trials = 2,
                                     .noise = 1,
                                     .noise_correlation = (kspec_noise)along,
                                     .noise_share = half ? 0.5 : 1};
            double one = z_scores(40, 30, o, 1, 400, m, z);
            for (int n = 0; n < NMAX; n++)
                CHECK_MSG(z[n] > 6, "one trial, along %d, n = %d: z = %g", along, n + 1, z[n]);
            double two = z_scores(40, 30, o, 2, 400, m, z);
            printf("along %d, share %g: m(2) = %.3f, from one trial %.3f, from two %.3f\n", along,
                   o.noise_share, m[1], one, two);
            for (int n = 0; n < NMAX; n++)
                CHECK_MSG(fabs(z[n]) < 4.5, "two trials, along %d, n = %d: z = %g", along, n + 1, z[n]);
        }
    /* independent noise needs one trial, but for m(1) */
    kspec_generate_opts o = {
        .size = sizeof o, .process = KSPEC_PROCESS_RFF, .dim = 1, .trials = 1, .noise = 1};
    z_scores(40, 30, o, 1, 400, m, z);
    CHECK_MSG(z[0] > 6, "z = %g", z[0]);
    for (int n = 1; n < NMAX; n++) CHECK_MSG(fabs(z[n]) < 4.5, "independent, n = %d: z = %g", n + 1, z[n]);
}

int main(void) {
    random_pair();
    RUN(moments_of_covariances_are_the_closed_form);
    RUN(naive_estimate_of_a_large_sample);
    RUN(two_trials_undo_correlated_noise_and_one_does_not);
    return test_done();
}
