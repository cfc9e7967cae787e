/*
 * Centred kernels and finite populations are estimated without bias: statistical claims, with fixed seeds.
 * Each mean over S matrices is compared with the truth in units of its own standard error, |z| < 4.5 for each
 * of some 30 comparisons: a false alarm less than once in 4000 changes of the random numbers. What is biased
 * must be seen to be so.
 */
#include "base/streams.h"
#include "kspec.h"
#include "test.h"

enum { NMAX = 4 };

typedef struct {
    double n, mean[NMAX], m2[NMAX];
} stats;

static void note(stats *s, int nmax, const kspec_matrix *phi, size_t trials, kspec_moments_opts o) {
    kspec_moments_result *r;
    kspec_error err = {0};
    o.size = sizeof o, o.nmax = nmax, o.threads = 1, o.no_stderr = 1;
    if (!o.estimators) o.estimators = KSPEC_ESTIMATOR_EXACT;
    if (kspec_moments(phi, trials, &o, &r, &err)) {
        printf("%s\n", err.msg);
        abort();
    }
    s->n++;
    for (int n = 0; n < nmax; n++) { /* Welford */
        double d = r->estimates[n]->value - s->mean[n];
        s->mean[n] += d / s->n;
        s->m2[n] += d * (r->estimates[n]->value - s->mean[n]);
    }
    kspec_free(r);
}

static double z_score(const stats *s, int n, double truth) {
    return (s->mean[n] - truth) / sqrt(s->m2[n] / (s->n - 1) / s->n);
}

static void check_unbiased(const stats *s, int nmax, const double *truth, const char *what) {
    for (int n = 0; n < nmax; n++) {
        double z = z_score(s, n, truth[n]);
        CHECK_MSG(fabs(z) < 4.5, "%s, n = %d: z = %.2f, mean %g, truth %g", what, n + 1, z, s->mean[n],
                  truth[n]);
    }
}

/* ---- features with a mean ---- */

/*
 * sqrt(c) x.w in d dimensions, with a mean that depends on the column (2 + w_1), on the row (x_1 - 1), or
 * both; the centred kernel has d eigenvalues c
 */
static void linear(uint64_t seed, size_t P, size_t Q, size_t d, double c, int of_col, int of_row,
                   double *phi) {
    double *x = malloc(P * d * sizeof *x), *w = malloc(Q * d * sizeof *w);
    kspec_random_normal(seed, 1, 0, P * d, x);
    kspec_random_normal(seed, 2, 0, Q * d, w);
    for (size_t i = 0; i < P; i++)
        for (size_t a = 0; a < Q; a++) {
            double v = (of_col ? 2 + w[a * d] : 0) + (of_row ? x[i * d] - 1 : 0);
            for (size_t k = 0; k < d; k++) v += sqrt(c) * x[i * d + k] * w[a * d + k];
            phi[i * Q + a] = v;
        }
    free(x), free(w);
}

/* sqrt(2) sin(w x + b) in one dimension: the kernel exp(-(x-x')^2/2) of x standard normal; and an offset */
static void rff(uint64_t seed, size_t P, size_t Q, double *phi) {
    double *x = malloc((P + 2 * Q) * sizeof *x), *w = x + P, *b = w + Q;
    kspec_random_normal(seed, 1, 0, P, x);
    kspec_random_normal(seed, 2, 0, Q, w);
    kspec_random_uniform(seed, 3, 0, Q, b);
    for (size_t i = 0; i < P; i++)
        for (size_t a = 0; a < Q; a++)
            phi[i * Q + a] = sqrt(2) * sin(w[a] * x[i] + 2 * acos(-1) * b[a]) + 3 * b[a];
    free(x);
}

/* Its centred moments, by the trapezoidal rule, which is exact to rounding for such functions */
static void rff_truth(double *m) {
    enum { G = 160 };
    static double K[G][G], T[G][G], S[G][G];
    double h[G], mean[G] = {0}, all = 0;
    for (int i = 0; i < G; i++) h[i] = exp(-0.5 * pow(-8 + 0.1 * (i + 0.5), 2)) * 0.1 / sqrt(2 * acos(-1));
    for (int i = 0; i < G; i++)
        for (int j = 0; j < G; j++) K[i][j] = exp(-0.5 * 0.01 * (i - j) * (i - j)), mean[i] += h[j] * K[i][j];
    for (int i = 0; i < G; i++) all += h[i] * mean[i];
    for (int i = 0; i < G; i++)
        for (int j = 0; j < G; j++)
            T[i][j] = S[i][j] = (K[i][j] - mean[i] - mean[j] + all) * sqrt(h[i] * h[j]);
    for (int n = 1; n <= NMAX; n++) {
        m[n - 1] = 0;
        for (int i = 0; i < G; i++) m[n - 1] += S[i][i];
        for (int i = 0; i < G; i++) {
            double row[G] = {0};
            for (int k = 0; k < G; k++)
                for (int j = 0; j < G; j++) row[j] += S[i][k] * T[k][j];
            memcpy(S[i], row, sizeof row);
        }
    }
}

/* Noise over a whole row and over a whole column, anew in each trial */
static void add_noise(double *x, size_t P, size_t Q, uint64_t seed) {
    double *u = malloc((P + Q) * sizeof *u);
    kspec_random_normal(seed, 77, 0, P + Q, u);
    for (size_t i = 0; i < P; i++)
        for (size_t a = 0; a < Q; a++) x[i * Q + a] += 0.7 * (u[i] + u[P + a]);
    free(u);
}

TEST(centred_linear_features) {
    enum { P = 24, Q = 20, D = 3, SEEDS = 1500 };
    static double x[P * Q];
    const double c = 0.5, truth[NMAX] = {D * c, D * c * c, D * c * c * c, D * c * c * c * c};
    for (int center = KSPEC_CENTER_ROWS; center <= KSPEC_CENTER_BOTH; center++) {
        stats s = {0}, plain = {0}, plugged = {0};
        int nmax = center == KSPEC_CENTER_BOTH ? 3 : 4;
        kspec_matrix phi = {x, P, Q, Q, 1};
        for (int seed = 0; seed < SEEDS; seed++) {
            linear((uint64_t)seed + 1, P, Q, D, c, center != KSPEC_CENTER_COLS, center != KSPEC_CENTER_ROWS,
                   x);
            note(&s, nmax, &phi, 1, (kspec_moments_opts){.center = (kspec_center)center});
            note(&plugged, nmax, &phi, 1,
                 (kspec_moments_opts){.center = (kspec_center)center, .estimators = KSPEC_ESTIMATOR_NAIVE});
            note(&plain, nmax, &phi, 1, (kspec_moments_opts){0});
        }
        check_unbiased(&s, nmax, truth,
                       center == KSPEC_CENTER_ROWS   ? "rows"
                       : center == KSPEC_CENTER_COLS ? "cols"
                                                     : "both");
        for (int n = 1; n < nmax; n++) {
            CHECK_MSG(z_score(&plain, n, truth[n]) > 6, "not centred, n = %d", n + 1);
            CHECK_MSG(z_score(&plugged, n, truth[n]) > 6, "naive, n = %d", n + 1);
        }
    }
}

/* m(1) of data with the sample's means removed, times (P-1)/P: what is not unbiased shows */
TEST(centred_random_fourier_features) {
    enum { P = 16, Q = 24, SEEDS = 1500 };
    static double x[P * Q];
    double truth[NMAX];
    stats s = {0}, plugged = {0};
    kspec_matrix phi = {x, P, Q, Q, 1};
    rff_truth(truth);
    CHECK(truth[0] > 0.2 && truth[0] < 0.6 && truth[3] > 0 && truth[3] < truth[2]);
    for (int seed = 0; seed < SEEDS; seed++) {
        rff((uint64_t)seed + 1, P, Q, x);
        note(&s, NMAX, &phi, 1, (kspec_moments_opts){.center = KSPEC_CENTER_ROWS});
        note(&plugged, NMAX, &phi, 1,
             (kspec_moments_opts){.center = KSPEC_CENTER_ROWS, .estimators = KSPEC_ESTIMATOR_NAIVE});
    }
    check_unbiased(&s, NMAX, truth, "rff");
    CHECK(z_score(&plugged, 0, truth[0]) < -6); /* (P-1)/P of it */
}

TEST(two_trials_undo_correlated_noise) {
    enum { P = 24, Q = 20, D = 3, SEEDS = 1500 };
    static double x[2][P * Q];
    const double c = 0.5, truth[NMAX] = {D * c, D * c * c, D * c * c * c, D * c * c * c * c};
    stats two = {0}, one = {0};
    kspec_matrix phi[2] = {{x[0], P, Q, Q, 1}, {x[1], P, Q, Q, 1}};
    for (int seed = 0; seed < SEEDS; seed++) {
        for (int k = 0; k < 2; k++) {
            linear((uint64_t)seed + 1, P, Q, D, c, 1, 0, x[k]);
            add_noise(x[k], P, Q, 2 * (uint64_t)seed + (uint64_t)k);
        }
        note(&two, NMAX, phi, 2, (kspec_moments_opts){.center = KSPEC_CENTER_ROWS});
        note(&one, NMAX, phi, 1, (kspec_moments_opts){.center = KSPEC_CENTER_ROWS});
    }
    check_unbiased(&two, NMAX, truth, "two trials");
    CHECK(z_score(&one, 1, truth[1]) > 6); /* the noise of rows counts as one more direction */
}

/* ---- 20 rows and 15 columns of a fixed matrix of 60 x 40 ---- */

TEST(samples_of_a_finite_population) {
    enum { N = 60, M = 40, P = 20, Q = 15, SEEDS = 2000 };
    static double all[N * M], x[P * Q];
    linear(9, N, M, 4, 0.5, 1, 0, all);
    for (int center = 0; center < 2; center++) {
        double truth[NMAX];
        stats s = {0}, infinite = {0};
        kspec_matrix phi = {x, P, Q, Q, 1}, whole = {all, N, M, M, 1};
        kspec_moments_opts o = {.size = sizeof o, .nmax = NMAX, .estimators = KSPEC_ESTIMATOR_NAIVE};
        o.center = center ? KSPEC_CENTER_ROWS : KSPEC_CENTER_NONE;
        kspec_moments_result *r;
        CHECK(kspec_moments(&whole, 1, &o, &r, NULL) == KSPEC_OK);
        for (int n = 0; n < NMAX; n++) truth[n] = r->estimates[n]->value;
        kspec_free(r);
        for (uint64_t seed = 0; seed < SEEDS; seed++) {
            size_t row[N], col[M];
            ks_random_permutation(seed, 1, N, row);
            ks_random_permutation(seed, 2, M, col);
            for (size_t i = 0; i < P; i++)
                for (size_t a = 0; a < Q; a++) x[i * Q + a] = all[row[i] * M + col[a]];
            o = (kspec_moments_opts){.center = center ? KSPEC_CENTER_ROWS : KSPEC_CENTER_NONE};
            note(&infinite, NMAX, &phi, 1, o);
            o.population_rows = N, o.population_cols = M;
            note(&s, NMAX, &phi, 1, o);
        }
        check_unbiased(&s, NMAX, truth, center ? "population, centred" : "population");
        /* not centred, the mean hides it */
        if (center)
            CHECK_MSG(z_score(&infinite, 1, truth[1]) < -6, "z = %g", z_score(&infinite, 1, truth[1]));
    }
}

int main(void) {
    RUN(centred_linear_features);
    RUN(centred_random_fourier_features);
    RUN(two_trials_undo_correlated_noise);
    RUN(samples_of_a_finite_population);
    return test_done();
}
