/* kspec_moments() of several trials: which trial each edge gets, and units that do not matter. */
#include "kspec.h"
#include "oracle/brute.h"
#include "test.h"

static kspec_matrix view(const double *x, size_t P, size_t Q) {
    return (kspec_matrix){x, P, Q, (ptrdiff_t)Q, 1};
}

/*
 * The assignment scheme: the one cycle of order 2 of a 2 x 2 matrix, whose entries are primes, in each trial
 * others. The factors tell which trial each edge got: never that of its neighbours, and each as often.
 */
TEST(the_trials_of_an_assignment) {
    enum { T = 4, SEEDS = 200 };
    static const int prime[T][4] = {{2, 3, 5, 7}, {11, 13, 17, 19}, {23, 29, 31, 37}, {41, 43, 47, 53}};
    double x[T][4];
    kspec_matrix phi[T];
    for (int t = 0; t < T; t++) {
        for (int k = 0; k < 4; k++) x[t][k] = prime[t][k];
        phi[t] = view(x[t], 2, 2);
    }
    int met[T] = {0}, alike = 0;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        kspec_moments_opts o = {.size = sizeof o,
                                .nmax = 2,
                                .estimators = KSPEC_ESTIMATOR_PATH,
                                .scheme = KSPEC_TRIALS_ASSIGNMENT,
                                .splits = 1,
                                .seed = seed};
        kspec_moments_result *r;
        CHECK(kspec_moments(phi, T, &o, &r, NULL) == KSPEC_OK);
        long product = lround(r->estimates[1]->value);
        CHECK_CLOSE(r->estimates[1]->value, (double)product, 1e-12);
        int trial[4] = {-1, -1, -1, -1}; /* of (0,0), (0,1), (1,0), (1,1) */
        for (int t = 0; t < T; t++)
            for (int k = 0; k < 4; k++)
                if (product % prime[t][k] == 0) trial[k] = t, product /= prime[t][k], met[t]++;
        CHECK(product == 1 && trial[0] >= 0 && trial[1] >= 0 && trial[2] >= 0 && trial[3] >= 0);
        /* neighbours share a row or a column */
        CHECK_MSG(trial[0] != trial[1] && trial[1] != trial[3] && trial[3] != trial[2] &&
                      trial[2] != trial[0],
                  "seed %d: %d %d / %d %d", (int)seed, trial[0], trial[1], trial[2], trial[3]);
        alike += trial[0] == trial[3];
        kspec_free(r);
    }
    /* 6 standard deviations of 800 independent edges, which they are not quite */
    for (int t = 0; t < T; t++) CHECK_MSG(abs(met[t] - 200) < 74, "trial %d: %d of 800 edges", t, met[t]);
    CHECK_MSG(alike > 10 && alike < 190, "%d of 200 have one trial at opposite edges", alike);
}

/* What is normalised has no unit: the same bits in each, whichever power of two that is */
TEST(normalised_in_any_unit) {
    enum { P = 7, Q = 6, TRIALS = 3 };
    double x[TRIALS][P * Q], first[3] = {0};
    for (int e = -4; e <= 4; e++) {
        kspec_matrix phi[TRIALS];
        for (int t = 0; t < TRIALS; t++) {
            brute_matrix(20 + (uint64_t)t, P * Q, x[t]);
            for (int k = 0; k < P * Q; k++) x[t][k] = ldexp(x[t][k], e);
            phi[t] = view(x[t], P, Q);
        }
        kspec_moments_opts o = {.size = sizeof o, .nmax = 3, .normalize = 1, .splits = 2};
        kspec_moments_result *r;
        CHECK(kspec_moments(phi, TRIALS, &o, &r, NULL) == KSPEC_OK);
        for (int n = 0; n < 3; n++) {
            if (e == -4) first[n] = r->estimates[n]->value;
            CHECK_MSG(r->estimates[n]->value == first[n], "unit 2^%d: m(%d) = %g, not %g", e, n + 1,
                      r->estimates[n]->value, first[n]);
        }
        kspec_free(r);
    }
}

int main(void) {
    RUN(the_trials_of_an_assignment);
    RUN(normalised_in_any_unit);
    return test_done();
}
