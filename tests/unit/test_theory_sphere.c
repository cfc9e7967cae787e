#include "kspec.h"
#include "test.h"

static const long double pi = 3.14159265358979323846264338327950288L;

/* ---- Funk-Hecke by quadrature: Gauss-Legendre in the angle, where every integrand is analytic ---- */

enum { NODES = 200 };
static long double node[NODES], weight[NODES]; /* on [0, pi] */

static void gauss_legendre(void) {
    for (int i = 0; i < NODES; i++) {
        long double x = cosl(pi * (i + 0.75L) / (NODES + 0.5L)), slope = 0;
        for (int newton = 0; newton < 30; newton++) {
            long double a = 1, b = x;
            for (int n = 2; n <= NODES; n++) {
                long double c = ((2 * n - 1) * x * b - (n - 1) * a) / n;
                a = b, b = c;
            }
            slope = NODES * (x * b - a) / (x * x - 1);
            x -= b / slope;
        }
        node[i] = pi * (x + 1) / 2;
        weight[i] = pi / ((1 - x * x) * slope * slope);
    }
}

/* P_k(t), P_k(1) = 1: (k+D-2) P_{k+1} = (2k+D-2) t P_k - k P_{k-1} */
static long double legendre(int D, int k, long double t) {
    long double a = 1, b = t;
    if (k == 0) return 1;
    for (int j = 1; j < k; j++) {
        long double c = ((2 * j + D - 2) * t * b - j * a) / (j + D - 2);
        a = b, b = c;
    }
    return b;
}

static long double kernel_of(kspec_sphere kernel, double p, long double theta) {
    long double t = cosl(theta);
    if (kernel == KSPEC_SPHERE_GAUSSIAN) return expl(-(2 - 2 * t) / ((long double)p * p));
    if (kernel == KSPEC_SPHERE_POLYNOMIAL) return powl(1 + t, p);
    long double k0 = (pi - theta) / pi, k1 = (t * (pi - theta) + sinl(theta)) / pi;
    return t * k0 + k1;
}

/* E f(t)^power P_k(t) over the sphere */
static double mean(kspec_sphere kernel, double p, int D, int k, int power) {
    long double sum = 0, all = 0;
    for (int i = 0; i < NODES; i++) {
        long double density = weight[i] * powl(sinl(node[i]), D - 2);
        all += density;
        sum += density * powl(kernel_of(kernel, p, node[i]), power) * legendre(D, k, cosl(node[i]));
    }
    return (double)(sum / all);
}

static const struct {
    kspec_sphere kernel;
    double p;
} kernels[] = {{KSPEC_SPHERE_GAUSSIAN, 0.2}, {KSPEC_SPHERE_GAUSSIAN, 0.7}, {KSPEC_SPHERE_GAUSSIAN, 1},
               {KSPEC_SPHERE_GAUSSIAN, 5},   {KSPEC_SPHERE_POLYNOMIAL, 0}, {KSPEC_SPHERE_POLYNOMIAL, 1},
               {KSPEC_SPHERE_POLYNOMIAL, 3}, {KSPEC_SPHERE_POLYNOMIAL, 8}, {KSPEC_SPHERE_POLYNOMIAL, 20},
               {KSPEC_SPHERE_NTK, 0}};
enum { KERNELS = sizeof kernels / sizeof *kernels };
static const int dims[] = {2, 3, 5, 10, 31};

/* To 1e-10 absolute as promised; and to 1e-13 of lambda_0, which is all that the quadrature has. */
TEST(eigenvalues_against_quadrature) {
    for (int i = 0; i < KERNELS; i++)
        for (int d = 0; d < 5; d++) {
            double lambda[13];
            kspec_error e;
            CHECK_MSG(kspec_theory_sphere_eigenvalues(kernels[i].kernel, kernels[i].p, (size_t)dims[d], 12,
                                                      lambda, NULL, NULL, NULL, &e) == KSPEC_OK,
                      "%s", e.msg);
            for (int k = 0; k <= 12; k++) {
                double want = mean(kernels[i].kernel, kernels[i].p, dims[d], k, 1);
                CHECK_MSG(fabs(lambda[k] - want) < 1e-10 && fabs(lambda[k] - want) <= 1e-13 * lambda[0],
                          "kernel %d D %d k %d: %.17g %.17g", i, dims[d], k, lambda[k], want);
            }
        }
}

/* m(1) = f(1), m(2) = E f^2 by quadrature, m(3) ... by the sum over eigenvalues from quadrature */
TEST(moments_against_quadrature) {
    for (int i = 0; i < KERNELS; i++)
        for (int d = 0; d < 5; d++) {
            double m[6], logs[6], lambda[61], N[61];
            CHECK(kspec_theory_sphere_moments(kernels[i].kernel, kernels[i].p, (size_t)dims[d], 6, m, logs,
                                              NULL) == KSPEC_OK);
            CHECK(kspec_theory_sphere_eigenvalues(kernels[i].kernel, kernels[i].p, (size_t)dims[d], 60,
                                                  lambda, NULL, N, NULL, NULL) == KSPEC_OK);
            CHECK_CLOSE(m[0], (double)kernel_of(kernels[i].kernel, kernels[i].p, 0), 1e-15);
            CHECK_CLOSE(m[1], mean(kernels[i].kernel, kernels[i].p, dims[d], 0, 2), 1e-14);
            for (int n = 3; n <= 6; n++) { /* degrees above 60 hold less than 60^-5 of any */
                double sum = 0;
                for (int k = 60; k >= 0; k--) sum += N[k] * pow(lambda[k], n);
                CHECK_CLOSE(m[n - 1], sum, kernels[i].kernel == KSPEC_SPHERE_NTK ? 1e-9 : 1e-13);
                CHECK_CLOSE(exp(logs[n - 1]), m[n - 1], 1e-14);
            }
        }
}

/* On the circle lambda_k is a Fourier coefficient, and m(3) of the NTK a sum that falls like k^-6 */
TEST(slowly_falling_terms_are_summed_to_the_end) {
    double m[3];
    long double sum = 0;
    CHECK(kspec_theory_sphere_moments(KSPEC_SPHERE_NTK, 0, 2, 3, m, NULL, NULL) == KSPEC_OK);
    for (int k = 20000; k >= 2;
         k -= 2) { /* (1/pi) int f cos(k theta), f = (2 (pi-theta) cos theta + sin theta)/pi */
        long double a = k + 1, b = k - 1, c = (1 / (a * a) + 1 / (b * b)) * 2, s = 1 / a - 1 / b;
        sum += 2 * powl((c + s) / (pi * pi), 3);
    }
    double first[2];
    CHECK(kspec_theory_sphere_eigenvalues(KSPEC_SPHERE_NTK, 0, 2, 1, first, NULL, NULL, NULL, NULL) ==
          KSPEC_OK);
    CHECK_CLOSE(m[2], pow(first[0], 3) + 2 * pow(first[1], 3) + (double)sum, 1e-15);
}

/* Where the numbers themselves have no double: logarithms right to 1e-15 of their size */
TEST(logarithms_at_the_extremes) {
    static const struct {
        kspec_sphere kernel;
        double p;
        int D, k;
        long double log_lambda;
    } cases[] = {
#include "oracle/sphere_values.inc"
    };
    static double logs[1001], lambda[1001];
    double worst = 0;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int k = cases[i].k;
        CHECK(kspec_theory_sphere_eigenvalues(cases[i].kernel, cases[i].p, (size_t)cases[i].D, (size_t)k,
                                              lambda, logs, NULL, NULL, NULL) == KSPEC_OK);
        double want = (double)cases[i].log_lambda, off = fabs(logs[k] - want);
        worst = fmax(worst, off / (1 + fabs(want)));
        CHECK_MSG(off <= 1e-15 * (1 + fabs(want)), "case %zu (kernel %d p %g D %d k %d): %.17g %.17g", i,
                  (int)cases[i].kernel, cases[i].p, cases[i].D, k, logs[k], want);
        CHECK_MSG(lambda[k] == 0     ? want < -745
                  : isinf(lambda[k]) ? want > 709
                                     : fabs(lambda[k] / exp(want) - 1) < 1e-12,
                  "case %zu", i);
    }
    printf("largest error of a logarithm: %.2g of 1 + its size\n", worst);
}

/* N(D,k) = C(k+D-1,k) - C(k+D-3,k-2), by Pascal's triangle in integers */
TEST(multiplicities_are_whole_and_exact) {
    static unsigned long long C[64][64];
    for (int n = 0; n < 64; n++)
        for (int k = 0; k <= n; k++) C[n][k] = k == 0 || k == n ? 1 : C[n - 1][k - 1] + C[n - 1][k];
    for (int D = 2; D <= 25; D++) {
        double N[31], logs[31];
        CHECK(kspec_theory_sphere_eigenvalues(KSPEC_SPHERE_NTK, 0, (size_t)D, 30, NULL, NULL, N, logs,
                                              NULL) == KSPEC_OK);
        for (int k = 0; k <= 30; k++) {
            unsigned long long want = C[k + D - 1][k] - (k >= 2 ? C[k + D - 3][k - 2] : 0);
            if (want < 1ull << 53) CHECK_MSG(N[k] == (double)want, "D %d k %d: %.17g %llu", D, k, N[k], want);
            CHECK_MSG(fabs(logs[k] - log((double)want)) <= 1e-15 * (1 + log((double)want)), "D %d k %d", D,
                      k);
        }
    }
    static double N[1001], logs[1001];
    CHECK(kspec_theory_sphere_eigenvalues(KSPEC_SPHERE_NTK, 0, 1000, 1000, NULL, NULL, N, logs, NULL) ==
          KSPEC_OK);
    CHECK(isinf(N[1000])); /* (2998/1998) C(1998, 1000) = 10^599.9 */
    CHECK_CLOSE(logs[1000], (double)(logl(2998) - logl(1998) + lgammal(1999) - lgammal(1001) - lgammal(999)),
                1e-15);
}

TEST(zeros_are_exact) {
    double lambda[12], logs[12];
    CHECK(kspec_theory_sphere_eigenvalues(KSPEC_SPHERE_POLYNOMIAL, 4, 3, 11, lambda, logs, NULL, NULL,
                                          NULL) == KSPEC_OK);
    for (int k = 0; k < 12; k++)
        CHECK(k <= 4 ? lambda[k] > 0 : lambda[k] == 0 && isinf(logs[k]) && logs[k] < 0);
    CHECK(kspec_theory_sphere_eigenvalues(KSPEC_SPHERE_NTK, 0, 3, 11, lambda, logs, NULL, NULL, NULL) ==
          KSPEC_OK);
    for (int k = 0; k < 12; k++)
        CHECK(k < 2 || k % 2 == 0 ? lambda[k] > 0 : lambda[k] == 0 && isinf(logs[k]) && logs[k] < 0);
}

/* The widths from which the header promises moments of every order */
TEST(narrow_kernels_have_moments) {
    double logs[3];
    for (size_t D = 2; D <= 1000; D = D < 10 ? D + 1 : D * 10) {
        CHECK(kspec_theory_sphere_moments(KSPEC_SPHERE_GAUSSIAN, D < 100 ? 1e-4 : 4e-4, D, 3, NULL, logs,
                                          NULL) == KSPEC_OK);
        CHECK_MSG(isfinite(logs[2]) && logs[2] < logs[1], "D %zu", D);
    }
}

TEST(moments_that_would_take_too_many_degrees_are_nan) {
    double m[4], logs[4];
    CHECK(kspec_theory_sphere_moments(KSPEC_SPHERE_GAUSSIAN, 1e-3, 1000, 4, m, logs, NULL) == KSPEC_OK);
    CHECK(m[0] == 1 && logs[1] < -900 && logs[2] < logs[1] && logs[3] < logs[2]);
    CHECK(kspec_theory_sphere_moments(KSPEC_SPHERE_GAUSSIAN, 1e-6, 1000, 4, m, logs, NULL) == KSPEC_OK);
    CHECK(m[0] == 1 && logs[1] < -900 && isnan(m[2]) && isnan(logs[3]));
    CHECK(kspec_theory_sphere_moments(KSPEC_SPHERE_POLYNOMIAL, 100000, 7, 4, m, logs, NULL) == KSPEC_OK);
    CHECK(isinf(m[0]) && fabs(logs[0] - 100000 * log(2)) < 1e-10 && isfinite(logs[3]));
}

TEST(bad_input) {
    kspec_error e;
    double m[4];
    const kspec_sphere g = KSPEC_SPHERE_GAUSSIAN, q = KSPEC_SPHERE_POLYNOMIAL, ntk = KSPEC_SPHERE_NTK;
    const struct {
        kspec_sphere kernel;
        double p;
        size_t dim, degree;
        const char *message;
    } bad[] = {
        {(kspec_sphere)3, 1, 3, 2, "unknown kernel 3"},
        {ntk, 0, 1, 2, "dimension 1 is not between 2 and 1000"},
        {ntk, 0, 1001, 2, "dimension 1001 is not"},
        {ntk, 0, 3, 1001, "degree 1001 exceeds 1000"},
        {g, 0, 3, 2, "scale 0 is not between"},
        {g, -1, 3, 2, "scale -1"},
        {g, NAN, 3, 2, "scale"},
        {g, INFINITY, 3, 2, "scale inf"},
        {q, -1, 3, 2, "power -1 is not a whole number between 0 and 100000"},
        {q, 2.5, 3, 2, "power 2.5"},
        {q, 100001, 3, 2, "power 100001"},
        {q, NAN, 3, 2, "power"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        CHECK_FAILS(kspec_theory_sphere_eigenvalues(bad[i].kernel, bad[i].p, bad[i].dim, bad[i].degree, m,
                                                    NULL, NULL, NULL, &e),
                    KSPEC_E_ARG, e, bad[i].message);
        if (bad[i].degree < 1001)
            CHECK_FAILS(kspec_theory_sphere_moments(bad[i].kernel, bad[i].p, bad[i].dim, 4, m, NULL, &e),
                        KSPEC_E_ARG, e, bad[i].message);
    }
    CHECK_FAILS(kspec_theory_sphere_moments(ntk, 0, 3, 0, m, NULL, &e), KSPEC_E_ARG, e, "order 0 is below 1");
}

int main(void) {
    gauss_legendre();
    RUN(eigenvalues_against_quadrature);
    RUN(moments_against_quadrature);
    RUN(slowly_falling_terms_are_summed_to_the_end);
    RUN(logarithms_at_the_extremes);
    RUN(multiplicities_are_whole_and_exact);
    RUN(zeros_are_exact);
    RUN(narrow_kernels_have_moments);
    RUN(moments_that_would_take_too_many_degrees_are_nan);
    RUN(bad_input);
    return test_done();
}
