#include "kspec.h"
#include "test.h"

/* The formulas as they stand in the mathematics, in long double */
static long double phi(long double eta) { return (1 + sqrtl(1 + 4 * eta)) / (2 * eta); }

TEST(moments_against_the_formula) {
    const double etas[] = {1e-3, 0.1, 1, 2.5, 4, 100, 1e4};
    for (size_t i = 0; i < 7; i++)
        for (size_t dim = 1; dim <= 6; dim++) {
            double eta[6], m[12];
            for (size_t l = 0; l < dim; l++) eta[l] = etas[(i + l * l) % 7];
            CHECK(kspec_theory_rbf_moments(eta, dim, 12, m, NULL, NULL) == KSPEC_OK);
            CHECK(m[0] == 1);
            for (int n = 1; n <= 12; n++) {
                long double want = 1;
                for (size_t l = 0; l < dim; l++)
                    want /= powl(eta[l] * phi(eta[l]), n) - powl(phi(eta[l]), -n);
                CHECK_CLOSE(m[n - 1], (double)want, 1e-12);
            }
        }
}

TEST(known_value) {
    double eta[5] = {4, 4, 4, 4, 4}, m[7];
    CHECK(kspec_theory_rbf_moments(eta, 5, 7, m, NULL, NULL) == KSPEC_OK);
    CHECK(fabs(m[1] - 8.39223616e-4) < 1e-12);
}

static int descending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

/* All u in {0 ... 11}^3, sorted: the 100 largest must agree (none of them has an index of 11 or more) */
TEST(eigenvalues_against_enumeration) {
    const double sets[4][3] = {{1, 1, 1}, {0.5, 2, 2}, {0.3, 1, 3}, {4, 0.01, 4}};
    for (int s = 0; s < 4; s++) {
        enum { U = 12 };
        static double all[U * U * U];
        int k = 0, largest = 0;
        const double *e = sets[s];
        for (int a = 0; a < U; a++)
            for (int b = 0; b < U; b++)
                for (int c = 0; c < U; c++) {
                    int u[3] = {a, b, c};
                    long double x = 1;
                    for (int i = 0; i < 3; i++) x /= powl(e[i], 1 + u[i]) * powl(phi(e[i]), 1 + 2 * u[i]);
                    all[k++] = (double)x;
                }
        qsort(all, (size_t)k, sizeof *all, descending);
        /* the product with one index of U, the others 0, is the largest that the enumeration misses */
        double missed = 0;
        for (int i = 0; i < 3; i++) {
            long double x = 1;
            for (int l = 0; l < 3; l++)
                x /= powl(e[l], 1 + (l == i) * U) * powl(phi(e[l]), 1 + 2 * (l == i) * U);
            missed = fmax(missed, (double)x);
        }
        while (largest < k && all[largest] > missed) largest++;
        CHECK(largest > 30);
        double *got = malloc((size_t)largest * sizeof *got);
        CHECK(kspec_theory_rbf_eigenvalues(e, 3, (size_t)largest, got, NULL, NULL) == KSPEC_OK);
        for (int i = 0; i < largest; i++) CHECK_CLOSE(got[i], all[i], 1e-12);
        free(got);
    }
}

TEST(eigenvalues_sum_to_the_moments) {
    const double sets[3][4] = {{4, 4, 0, 0}, {1, 2, 3, 0}, {0.5, 0.5, 0.5, 0.5}};
    const size_t dims[3] = {2, 3, 4};
    size_t K = 1000000;
    double *lambda = malloc(K * sizeof *lambda), m[6];
    for (int s = 0; s < 3; s++) {
        CHECK(kspec_theory_rbf_eigenvalues(sets[s], dims[s], K, lambda, NULL, NULL) == KSPEC_OK);
        CHECK(kspec_theory_rbf_moments(sets[s], dims[s], 6, m, NULL, NULL) == KSPEC_OK);
        for (size_t k = 1; k < K; k++)
            if (lambda[k] > lambda[k - 1] * (1 + 1e-12)) CHECK_MSG(0, "not decreasing at %zu", k);
        for (int n = 1; n <= 6; n++) {
            double sum = 0;
            for (size_t k = K; k-- > 0;) sum += pow(lambda[k], n);
            CHECK_CLOSE(sum, m[n - 1], 1e-10);
        }
    }
    free(lambda);
}

TEST(bad_input) {
    kspec_error e;
    double m[4], eta = 1, zero = 0, nan = NAN;
    CHECK_FAILS(kspec_theory_rbf_moments(&eta, 0, 4, m, NULL, &e), KSPEC_E_ARG, e, "dimension 0");
    CHECK_FAILS(kspec_theory_rbf_moments(&eta, 1, 0, m, NULL, &e), KSPEC_E_ARG, e, "order 0");
    CHECK_FAILS(kspec_theory_rbf_moments(&zero, 1, 4, m, NULL, &e), KSPEC_E_ARG, e, "eta 0");
    CHECK_FAILS(kspec_theory_rbf_moments(&nan, 1, 4, m, NULL, &e), KSPEC_E_ARG, e, "eta");
    CHECK_FAILS(kspec_theory_rbf_eigenvalues(&eta, 1, 0, m, NULL, &e), KSPEC_E_ARG, e, "eigenvalues 0");
    double many[3000];
    for (int i = 0; i < 3000; i++) many[i] = 10;
    CHECK(kspec_theory_rbf_moments(many, 3000, 4, m, NULL, &e) ==
          KSPEC_OK); /* underflow is zero, not an error */
    CHECK(m[0] == 1 && m[3] == 0);
    double logs[4], top;
    CHECK(kspec_theory_rbf_moments(many, 3000, 4, NULL, logs, &e) ==
          KSPEC_OK); /* and its logarithm is right */
    long double a = 10 * phi(10), r = 1 / (10 * phi(10) * phi(10));
    CHECK_CLOSE(logs[3], (double)(-3000 * (4 * logl(a) + logl(1 - powl(r, 4)))), 1e-13);
    CHECK(kspec_theory_rbf_eigenvalues(many, 3000, 1, NULL, &top, &e) == KSPEC_OK);
    CHECK_CLOSE(top, (double)(-3000 * logl(a)), 1e-13);
}

int main(void) {
    RUN(moments_against_the_formula);
    RUN(known_value);
    RUN(eigenvalues_against_enumeration);
    RUN(eigenvalues_sum_to_the_moments);
    RUN(bad_input);
    return test_done();
}
