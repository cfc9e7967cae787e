#include "base/sort.h"
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
        ks_sort_descending(all, (size_t)k);
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
    CHECK_FAILS(kspec_theory_rbf_moments(NULL, 1, 4, m, NULL, &e), KSPEC_E_ARG, e, "eta is missing (NULL)");
    CHECK_FAILS(kspec_theory_rbf_eigenvalues(NULL, 1, 4, m, NULL, &e), KSPEC_E_ARG, e,
                "eta is missing (NULL)");
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

/* ---- Sigma and Sigma_x ---- */

/* Random S = T T^T and Sx = T diag(eta) T^T, so that eta is known; decreasing, the last `zeros` of them 0 */
static void pair(size_t d, size_t zeros, uint64_t seed, double *eta, double *S, double *Sx) {
    double T[100], u[10];
    kspec_random_normal(seed, 1, 0, d * d, T);
    kspec_random_uniform(seed, 2, 0, d, u);
    for (size_t i = 0; i < d; i++) {
        T[i * d + i] += (double)d; /* well conditioned */
        eta[i] = i + zeros < d ? exp(4 * u[i] - 2) : 0;
    }
    ks_sort_descending(eta, d);
    for (size_t i = 0; i < d; i++)
        for (size_t j = 0; j < d; j++) {
            long double s = 0, x = 0;
            for (size_t k = 0; k < d; k++) {
                s += (long double)T[i * d + k] * T[j * d + k];
                x += (long double)T[i * d + k] * T[j * d + k] * eta[k];
            }
            S[i * d + j] = (double)s;
            Sx[i * d + j] = (double)x;
        }
}

TEST(eta_of_two_matrices) {
    double want[10], got[10], S[100], Sx[100];
    for (size_t d = 1; d <= 10; d++)
        for (size_t zeros = 0; zeros < d && zeros < 3; zeros++)
            for (uint64_t seed = 0; seed < 20; seed++) {
                pair(d, zeros, seed, want, S, Sx);
                kspec_matrix s = {S, d, d, (ptrdiff_t)d, 1}, x = {Sx, d, d, 1, (ptrdiff_t)d};
                kspec_error e;
                size_t count;
                CHECK_MSG(kspec_theory_rbf_eta(&s, &x, got, &count, &e) == KSPEC_OK, "%s", e.msg);
                CHECK_MSG(count == d - zeros, "%zu of %zu, %zu zeros", count, d, zeros);
                for (size_t i = 0; i < count; i++)
                    CHECK_MSG(fabs(got[i] - want[i]) < 1e-13 * want[0], "d %zu: %g %g", d, got[i], want[i]);
            }
}

/* One matrix alone; a diagonal pair whose entries lie far apart */
TEST(eta_of_diagonal_matrices) {
    double S[9] = {4e-12, 0, 0, 0, 1, 0, 0, 0, 9e12}, Sx[9] = {2e-12, 0, 0, 0, 7, 0, 0, 0, 9e12}, eta[3];
    kspec_matrix s = {S, 3, 3, 3, 1}, x = {Sx, 3, 3, 3, 1};
    size_t count;
    CHECK(kspec_theory_rbf_eta(&s, NULL, eta, &count, NULL) == KSPEC_OK &&
          count == 2); /* 1.1e-13 beside 2.5e11 is 0 */
    CHECK_CLOSE(eta[0], 2.5e11, 1e-14);
    CHECK_CLOSE(eta[1], 1, 1e-4);
    CHECK(kspec_theory_rbf_eta(NULL, &x, eta, &count, NULL) == KSPEC_OK && count == 2);
    CHECK_CLOSE(eta[0], 9e12, 1e-14);
    S[0] = Sx[0] = 1, S[8] = 0.5;
    CHECK(kspec_theory_rbf_eta(&s, NULL, eta, &count, NULL) == KSPEC_OK && count == 3);
    CHECK_CLOSE(eta[0], 2, 1e-15);
    CHECK(eta[1] == 1 && eta[2] == 1);
}

TEST(matrices_that_are_no_covariances) {
    double eta[3], good[9] = {2, 1, 0, 1, 2, 0, 0, 0, 1};
    const struct {
        double at[9];
        const char *as_S, *as_Sx; /* what is said of it; NULL: nothing */
    } bad[] = {
        {{1, 2, 0, 2, 1, 0, 0, 0, 1},
         "Sigma is not positive definite: the smallest of its 3 eigenvalues is -1, the largest 3",
         "Sigma_x is not positive semidefinite: the smallest of its 3 eigenvalues is -1, the largest 3"},
        {{1, 1, 0, 1, 1, 0, 0, 0, 1}, "Sigma is not positive definite", NULL},
        {{1, 0.1, 0, 0.1, 0.01, 0, 0, 0, 1},
         "Sigma is not positive definite",
         NULL}, /* Cholesky's pivot is 2e-18 */
        {{1, 0.5, 0, 0.4, 1, 0, 0, 0, 1},
         "Sigma is not symmetric: entry (1,0) (from 0) is 0.4 and (0,1) is 0.5",
         "Sigma_x is not symmetric: entry (1,0) (from 0) is 0.4 and (0,1) is 0.5"},
        {{1, 0, 0, 0, NAN, 0, 0, 0, 1},
         "Sigma: row 1, column 1 (from 0) is NaN",
         "Sigma_x: row 1, column 1 (from 0) is NaN"},
        {{1, 0, 0, 0, 1, 0, 0, 0, INFINITY},
         "Sigma: row 2, column 2 (from 0) is infinite",
         "Sigma_x: row 2, column 2 (from 0) is infinite"},
        {{1, 0, 0, 0, 1, 0, 0, 0, 1e301},
         "Sigma: entry (2,2) (from 0), 1e+301, is not",
         "Sigma_x: entry (2,2)"},
        {{0}, "Sigma is not positive definite: the smallest of its 3 eigenvalues is 0", "Sigma_x is zero"},
    };
    kspec_error e;
    kspec_matrix ok = {good, 3, 3, 3, 1};
    size_t count;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        kspec_matrix m = {bad[i].at, 3, 3, 3, 1};
        CHECK_FAILS(kspec_theory_rbf_eta(&m, &ok, eta, &count, &e), KSPEC_E_DATA, e, bad[i].as_S);
        CHECK(count == 0);
        if (bad[i].as_Sx)
            CHECK_FAILS(kspec_theory_rbf_eta(&ok, &m, eta, &count, &e), KSPEC_E_DATA, e, bad[i].as_Sx);
        else
            CHECK_MSG(kspec_theory_rbf_eta(&ok, &m, eta, &count, &e) == KSPEC_OK && count == 2, "%zu: %s", i,
                      e.msg);
    }
    const double dot = 1e-310;
    CHECK_FAILS(kspec_theory_rbf_eta(&(kspec_matrix){&dot, 1, 1, 1, 1}, NULL, eta, &count, &e), KSPEC_E_DATA,
                e, "Sigma is too small");
    kspec_matrix wide = {good, 2, 3, 3, 1}, small = {good, 2, 2, 3, 1};
    CHECK_FAILS(kspec_theory_rbf_eta(&wide, NULL, eta, &count, &e), KSPEC_E_ARG, e,
                "Sigma is 2 x 3, not 2 x 2");
    CHECK_FAILS(kspec_theory_rbf_eta(&ok, &small, eta, &count, &e), KSPEC_E_ARG, e,
                "Sigma_x is 2 x 2, not 3 x 3");
    CHECK_FAILS(kspec_theory_rbf_eta(NULL, NULL, eta, &count, &e), KSPEC_E_ARG, e, "both missing");
    CHECK_FAILS(kspec_theory_rbf_eta(&ok, NULL, NULL, &count, &e), KSPEC_E_ARG, e, "eta is missing (NULL)");
    CHECK_FAILS(kspec_theory_rbf_eta(&ok, NULL, eta, NULL, &e), KSPEC_E_ARG, e, "count is missing (NULL)");
    kspec_matrix empty = {good, 0, 0, 0, 1}, hollow = {NULL, 3, 3, 3, 1};
    CHECK_FAILS(kspec_theory_rbf_eta(&empty, NULL, eta, &count, &e), KSPEC_E_ARG, e, "Sigma is empty: 0 x 0");
    CHECK_FAILS(kspec_theory_rbf_eta(&ok, &hollow, eta, &count, &e), KSPEC_E_ARG, e, "Sigma_x has no data");
}

/* ---- linear ---- */

TEST(linear_moments) {
    const double c[4] = {0.5, 2, 0, 1};
    double one = 0.3, zero = 0, huge = 1e300, m[6], logs[6];
    kspec_error e;
    CHECK(kspec_theory_linear_moments(c, 4, 4, 6, m, logs, &e) == KSPEC_OK);
    for (int n = 1; n <= 6; n++) {
        CHECK_CLOSE(m[n - 1], pow(2, n) + 1 + pow(0.5, n), 1e-15);
        CHECK_CLOSE(logs[n - 1], log(m[n - 1]), 1e-15);
    }
    CHECK(kspec_theory_linear_moments(&one, 1, 20, 6, m, NULL, &e) == KSPEC_OK);
    for (int n = 1; n <= 6; n++) CHECK_CLOSE(m[n - 1], 20 * pow(0.3, n), 1e-15);
    CHECK(kspec_theory_linear_moments(&huge, 1, 3, 2, m, logs, &e) == KSPEC_OK);
    CHECK(isinf(m[1]) && fabs(logs[1] - (600 * log(10) + log(3))) < 1e-11);
    CHECK(kspec_theory_linear_moments(&zero, 1, 3, 2, m, logs, &e) == KSPEC_OK);
    CHECK(m[0] == 0 && m[1] == 0 && isinf(logs[1]) && logs[1] < 0);
    CHECK_FAILS(kspec_theory_linear_moments(c, 4, 5, 6, m, NULL, &e), KSPEC_E_ARG, e,
                "4 eigenvalues for dimension 5");
    CHECK_FAILS(kspec_theory_linear_moments(NULL, 1, 1, 6, m, NULL, &e), KSPEC_E_ARG, e, "missing (NULL)");
    CHECK_FAILS(kspec_theory_linear_moments(c, 1, 0, 6, m, NULL, &e), KSPEC_E_ARG, e, "dimension 0");
    CHECK_FAILS(kspec_theory_linear_moments(c, 1, 1, 0, m, NULL, &e), KSPEC_E_ARG, e, "order 0");
    one = -1;
    CHECK_FAILS(kspec_theory_linear_moments(&one, 1, 1, 2, m, NULL, &e), KSPEC_E_ARG, e, "eigenvalue -1");
    one = NAN;
    CHECK_FAILS(kspec_theory_linear_moments(&one, 1, 1, 2, m, NULL, &e), KSPEC_E_ARG, e, "eigenvalue");
}

/* The integral equation and orthonormality by the trapezoidal rule, which is exact to rounding for these */
TEST(eigenfunctions_solve_the_integral_equation) {
    enum { K = 25, GRID = 3201 };
    static double y[GRID], f[GRID * K];
    const double etas[] = {0.05, 1, 4, 30}, reach = 20, h = 2 * reach / (GRID - 1);
    for (int j = 0; j < GRID; j++) y[j] = -reach + j * h;
    for (int e = 0; e < 4; e++) {
        double lambda[K];
        const double eta = etas[e];
        CHECK(kspec_theory_rbf_eigenvalues(&eta, 1, K, lambda, NULL, NULL) == KSPEC_OK);
        CHECK(kspec_theory_rbf_eigenfunctions(&eta, 1, &(kspec_matrix){y, GRID, 1, 1, 1}, K, f, NULL) ==
              KSPEC_OK);
        for (int u = 0; u < K; u++) {
            for (int v = 0; v <= u; v++) {
                double sum = 0;
                for (int j = 0; j < GRID; j++)
                    sum += h * exp(-y[j] * y[j] / 2) / sqrt(2 * M_PI) * f[j * K + u] * f[j * K + v];
                CHECK_MSG(fabs(sum - (u == v)) < 1e-12, "eta %g, degrees %d %d: %g", eta, u, v, sum);
            }
            for (int i = 1200; i <= 2000; i += 80) {
                double Tf = 0;
                for (int j = 0; j < GRID; j++)
                    Tf += h * exp(-y[j] * y[j] / 2 - eta * (y[i] - y[j]) * (y[i] - y[j]) / 2) /
                          sqrt(2 * M_PI) * f[j * K + u];
                CHECK_MSG(fabs(Tf - lambda[u] * f[i * K + u]) < 1e-13, "eta %g, degree %d at %g: %g, not %g",
                          eta, u, y[i], Tf, lambda[u] * f[i * K + u]);
            }
        }
    }
}

/* Mercer: sum of lambda f(x) f(y) is the kernel, where three axes differ and two are equal */
TEST(eigenfunctions_sum_to_the_kernel) {
    enum { K = 20000, POINTS = 5 };
    const double eta[3] = {0.3, 1.5, 0.3},
                 x[POINTS * 3] = {0, 0, 0, 1, -0.5, 0.3, -1, 2, 0.7, 0.2, 0.2, -1.5};
    double *lambda = malloc(K * sizeof *lambda), *f = malloc(POINTS * K * sizeof *f);
    CHECK(kspec_theory_rbf_eigenvalues(eta, 3, K, lambda, NULL, NULL) == KSPEC_OK);
    CHECK(kspec_theory_rbf_eigenfunctions(eta, 3, &(kspec_matrix){x, POINTS, 3, 3, 1}, K, f, NULL) ==
          KSPEC_OK);
    for (int i = 0; i < POINTS; i++)
        for (int j = 0; j < POINTS; j++) {
            double sum = 0, square = 0;
            for (int k = 0; k < K; k++) sum += lambda[k] * f[i * K + k] * f[j * K + k];
            for (int l = 0; l < 3; l++) square += eta[l] * pow(x[3 * i + l] - x[3 * j + l], 2);
            CHECK_MSG(fabs(sum - exp(-square / 2)) < 1e-9, "points %d %d: %g", i, j, sum - exp(-square / 2));
        }
    free(lambda);
    free(f);
}

TEST(eigenfunctions_of_far_points_are_finite) {
    enum { K = 3000 };
    const double eta = 2, x[3] = {1e3, 40, 1e-300};
    double *f = malloc(3 * K * sizeof *f);
    CHECK(kspec_theory_rbf_eigenfunctions(&eta, 1, &(kspec_matrix){x, 3, 1, 1, 1}, K, f, NULL) == KSPEC_OK);
    for (int k = 0; k < 3 * K; k++) CHECK(isfinite(f[k]));
    CHECK(f[0] == 0); /* exp(-500,000) */
    CHECK(f[2 * K + 1] > 0 && f[2 * K + 1] < 1e-299);
    kspec_error err;
    CHECK_FAILS(kspec_theory_rbf_eigenfunctions(&eta, 1, &(kspec_matrix){x, 1, 3, 3, 1}, 1, f, &err),
                KSPEC_E_ARG, err, "points in 3 dimensions, but eta has 1");
    free(f);
}

int main(void) {
    RUN(eta_of_two_matrices);
    RUN(eta_of_diagonal_matrices);
    RUN(matrices_that_are_no_covariances);
    RUN(linear_moments);
    RUN(moments_against_the_formula);
    RUN(known_value);
    RUN(eigenvalues_against_enumeration);
    RUN(eigenvalues_sum_to_the_moments);
    RUN(bad_input);
    RUN(eigenfunctions_solve_the_integral_equation);
    RUN(eigenfunctions_sum_to_the_kernel);
    RUN(eigenfunctions_of_far_points_are_finite);
    return test_done();
}
