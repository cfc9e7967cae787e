/* Weighted least squares with any features, and the decay of kernels. */
#include "base/streams.h"
#include "kspec.h"
#include "test.h"

enum { MOST = 40 };

static kspec_matrix view(const double *x, size_t rows, size_t cols) {
    return (kspec_matrix){x, rows, cols, (ptrdiff_t)cols, 1};
}

/* The map from y to theta by definition, in long double: M = B (A Psi B)^+ A, full rank, by Gauss-Jordan */
static void plain_map(size_t N, size_t p, size_t P, const double *psi, const double *A, const double *B,
                      long double *M) {
    static long double F[MOST * MOST], S[MOST * 2 * MOST], R[MOST * MOST];
    size_t n = p < N ? p : N;
    for (size_t i = 0; i < N; i++)
        for (size_t k = 0; k < p; k++) {
            F[i * p + k] = 0;
            for (size_t a = 0; a < N; a++)
                for (size_t b = 0; b < p; b++)
                    F[i * p + k] += (long double)A[i * N + a] * psi[a * P + b] * B[b * p + k];
        }
    memset(S, 0, sizeof S);
    for (size_t i = 0; i < n; i++) { /* [G | I], G the smaller Gram matrix */
        for (size_t k = 0; k < n; k++)
            for (size_t l = 0; l < (p < N ? N : p); l++)
                S[i * 2 * n + k] += p < N ? F[l * p + i] * F[l * p + k] : F[i * p + l] * F[k * p + l];
        S[i * 2 * n + n + i] = 1;
    }
    for (size_t c = 0; c < n; c++) {
        long double d = S[c * 2 * n + c];
        for (size_t k = 0; k < 2 * n; k++) S[c * 2 * n + k] /= d;
        for (size_t i = 0; i < n; i++) {
            long double f = S[i * 2 * n + c];
            for (size_t k = 0; k < 2 * n && i != c; k++) S[i * 2 * n + k] -= f * S[c * 2 * n + k];
        }
    }
    memset(R, 0, sizeof R);
    for (size_t k = 0; k < p; k++) /* F^+ = G^-1 F^T or F^T G^-1 */
        for (size_t j = 0; j < N; j++)
            for (size_t l = 0; l < n; l++)
                R[k * N + j] +=
                    p < N ? S[k * 2 * n + n + l] * F[j * p + l] : F[l * p + k] * S[l * 2 * n + n + j];
    for (size_t k = 0; k < p; k++)
        for (size_t j = 0; j < N; j++) {
            M[k * N + j] = 0;
            for (size_t b = 0; b < p; b++)
                for (size_t a = 0; a < N; a++) M[k * N + j] += B[k * p + b] * R[b * N + a] * A[a * N + j];
        }
}

/* x x^T + 0.1 I for random x: symmetric and positive */
static void covariance(size_t n, uint64_t stream, double *out) {
    double x[MOST * MOST];
    kspec_random_normal(9, stream, 0, n * n, x);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < n; k++) {
            out[i * n + k] = i == k ? 0.1 : 0;
            for (size_t l = 0; l < n; l++) out[i * n + k] += x[i * n + l] * x[k * n + l] / (double)n;
        }
}

TEST(against_the_definition) {
    const size_t sizes[][3] = {{7, 4, 9}, {9, 9, 9}, {5, 11, 13}, {1, 1, 1}, {20, 3, 3}, {3, 17, 17}};
    static double psi[MOST * MOST], A[MOST * MOST], B[MOST * MOST], K[MOST * MOST], C[MOST * MOST],
        y[2 * MOST];
    static long double M[MOST * MOST];
    for (int s = 0; s < 6; s++) {
        size_t N = sizes[s][0], p = sizes[s][1], P = sizes[s][2];
        kspec_random_normal(1, (uint64_t)s, 0, N * P, psi);
        kspec_random_normal(2, (uint64_t)s, 0, 2 * N, y);
        covariance(N, 10, A), covariance(p, 11, B), covariance(P, 12, K), covariance(N, 13, C);
        kspec_matrix mpsi = view(psi, N, P), my = view(y, N, 2), mA = view(A, N, N), mB = view(B, p, p),
                     mK = view(K, P, P), mC = view(C, N, N);
        kspec_wls_features_result *r = NULL;
        kspec_error e;
        double first_error = 0;
        for (int threads = 1; threads <= 3; threads++) {
            kspec_wls_features_opts o = {sizeof o, p, &mA, &mB, &mK, &mC, &mpsi, 0, threads, {0}};
            CHECK_MSG(kspec_wls_features(&mpsi, &my, &o, &r, &e) == KSPEC_OK, "%s", e.msg);
            if (threads == 1) first_error = r->error_noise_free;
            CHECK(r->error_noise_free == first_error);
            if (threads < 3) kspec_free(r);
        }
        CHECK(r->p == p && r->rank == (N < p ? N : p) && r->N == N && r->P == P && r->outputs == 2);
        CHECK(r->predicted_rows == N && r->singular_count == r->rank);
        plain_map(N, p, P, psi, A, B, M);
        long double E0 = 0, En = 0, V = 0, residual = 0;
        for (size_t k = 0; k < p; k++)
            for (int out = 0; out < 2; out++) {
                long double t = 0, size = 0;
                for (size_t j = 0; j < N; j++)
                    t += M[k * N + j] * y[2 * j + (size_t)out], size += fabsl(M[k * N + j]);
                CHECK_MSG(fabsl(t - r->theta[2 * k + (size_t)out]) < 1e-9L * size, "%d %Lg %g", s, t,
                          r->theta[2 * k + (size_t)out]);
            }
        for (size_t j = 0; j < N; j++)
            for (int out = 0; out < 2; out++) {
                long double f = 0;
                for (size_t k = 0; k < p; k++)
                    f += psi[j * P + k] * (long double)r->theta[2 * k + (size_t)out];
                CHECK(fabsl(f - r->fitted[2 * j + (size_t)out]) < 1e-9L);
                CHECK(fabsl(f - r->predicted[2 * j + (size_t)out]) < 1e-9L); /* at the same points */
                residual += (y[2 * j + (size_t)out] - f) * (y[2 * j + (size_t)out] - f);
            }
        CHECK(fabs(r->residual - (double)sqrtl(residual / (long double)(2 * N))) < 1e-9);
        for (size_t k = 0; k < P; k++) /* sum over rows of E K E^T */
            for (size_t a = 0; a < P; a++)
                for (size_t b = 0; b < P; b++) {
                    long double ea = -(long double)(a == k), eb = -(long double)(b == k);
                    for (size_t j = 0; j < N && k < p; j++)
                        ea += M[k * N + j] * psi[j * P + a], eb += M[k * N + j] * psi[j * P + b];
                    E0 += ea * K[a * P + b] * eb;
                }
        for (size_t k = 0; k < p; k++)
            for (size_t l = 0; l < p; l++) {
                long double h = 0;
                for (size_t i = 0; i < N; i++)
                    for (size_t j = 0; j < N; j++) h += M[k * N + i] * C[i * N + j] * M[l * N + j];
                if (k == l) En += h;
                V += 2 * h * h;
            }
        CHECK(fabs(r->error_noise_free - (double)E0) < 1e-8 * (double)E0 + 1e-20); /* 0 where p = P <= N */
        CHECK_CLOSE(r->error_noise, (double)En, 1e-8);
        CHECK_CLOSE(r->variance, (double)V, 1e-8);
        kspec_free(r);
    }
}

/* A diagonal as numbers or as a matrix, in any memory order, is the same thing */
TEST(diagonals_and_strides) {
    enum { N = 8, P = 6 };
    double psi[N * P], turned[N * P], w[N], W[N * N] = {0}, y[N], v[P], V[P * P] = {0};
    kspec_random_normal(4, 0, 0, N * P, psi);
    kspec_random_normal(4, 1, 0, N, y);
    kspec_random_uniform(4, 2, 0, N, w);
    kspec_random_uniform(4, 3, 0, P, v);
    for (size_t i = 0; i < N; i++) {
        W[i * N + i] = w[i];
        for (size_t k = 0; k < P; k++) turned[k * N + i] = psi[i * P + k];
    }
    for (size_t k = 0; k < P; k++) V[k * P + k] = v[k];
    kspec_matrix a = view(psi, N, P), b = {turned, N, P, 1, N}, my = view(y, N, 1), vec = view(w, N, 1),
                 mat = view(W, N, N), row = view(w, 1, N), pv = view(v, P, 1), pm = view(V, P, P);
    kspec_wls_features_result *r, *s;
    kspec_wls_features_opts o = {sizeof o, 0, &vec, &pv, &pv, &vec}, m = {sizeof m, 0, &mat, &pm, &pm, &mat},
                            t = {sizeof t, 0, &row, &pv, &pv, &row};
    CHECK(kspec_wls_features(&a, &my, &o, &r, NULL) == KSPEC_OK);
    const kspec_wls_features_opts *others[] = {&m, &t};
    for (int i = 0; i < 2; i++) {
        CHECK(kspec_wls_features(&b, &my, others[i], &s, NULL) == KSPEC_OK);
        for (size_t k = 0; k < P; k++) CHECK_CLOSE(s->theta[k], r->theta[k], 1e-11);
        CHECK_CLOSE(s->error_noise_free, r->error_noise_free, 1e-11);
        CHECK_CLOSE(s->error_noise, r->error_noise, 1e-11);
        CHECK_CLOSE(s->variance, r->variance, 1e-11);
        kspec_free(s);
    }
    kspec_free(r);
    /* without y only errors; without covariances only the fit */
    CHECK(kspec_wls_features(&a, NULL, &o, &r, NULL) == KSPEC_OK && !r->theta && !r->fitted &&
          r->outputs == 0 && isnan(r->residual));
    CHECK(isfinite(r->error_noise));
    kspec_free(r);
    CHECK(kspec_wls_features(&a, &my, NULL, &r, NULL) == KSPEC_OK && isnan(r->error_noise) &&
          isnan(r->error_noise_free));
    kspec_free(r);
}

/*
 * Equal columns: the rank is seen, and of all fits the one of least |w| taken, which gives them equal
 * coefficients
 */
TEST(rank_deficient_features) {
    enum { N = 10, P = 5 };
    double psi[N * P], y[N];
    kspec_random_normal(5, 0, 0, N * P, psi);
    for (size_t i = 0; i < N; i++) {
        psi[i * P + 3] = psi[i * P + 1], psi[i * P + 4] = psi[i * P] - 2 * psi[i * P + 2];
        y[i] = 3 * psi[i * P] + 4 * psi[i * P + 1] + psi[i * P + 2];
    }
    kspec_matrix m = view(psi, N, P), my = view(y, N, 1);
    kspec_wls_features_result *r;
    CHECK(kspec_wls_features(&m, &my, NULL, &r, NULL) == KSPEC_OK);
    CHECK(r->rank == 3 && r->residual < 1e-13 && r->singular_values[3] < 1e-12);
    CHECK_CLOSE(r->theta[1], 2, 1e-12);
    CHECK_CLOSE(r->theta[3], 2, 1e-12);
    kspec_free(r);
    /* the tolerance decides */
    kspec_wls_features_opts o = {.size = sizeof o, .rank_tol = 0.9};
    CHECK(kspec_wls_features(&m, &my, &o, &r, NULL) == KSPEC_OK && r->rank < 3);
    kspec_free(r);
    memset(psi, 0, sizeof psi);
    CHECK(kspec_wls_features(&m, &my, NULL, &r, NULL) == KSPEC_OK && r->rank == 0 && r->theta[0] == 0);
    kspec_free(r);
}

/* |A (Psi B w - y)|^2 + ridge |w|^2: its gradient in w is 0 at the fit, as differences of the sum show */
TEST(ridge) {
    enum { N = 9, P = 14 };
    double psi[N * P], y[N], a[N], b[P], w[P];
    kspec_random_normal(3, 1, 0, N * P, psi);
    kspec_random_normal(3, 2, 0, N, y);
    kspec_random_uniform(3, 3, 0, N, a);
    kspec_random_uniform(3, 4, 0, P, b);
    const kspec_matrix Psi = {psi, N, P, P, 1}, Y = {y, N, 1, 1, 1}, A = {a, N, 1, 1, 1}, B = {b, P, 1, 1, 1};
    for (double ridge = 1e-3; ridge < 20; ridge *= 10) {
        kspec_wls_features_opts o = {
            .size = sizeof o, .data_weights = &A, .feature_weights = &B, .ridge = ridge};
        kspec_wls_features_result *r;
        CHECK(kspec_wls_features(&Psi, &Y, &o, &r, NULL) == KSPEC_OK);
        for (size_t k = 0; k < P; k++) w[k] = r->theta[k] / b[k];
        for (size_t k = 0; k < P; k++) {
            double gradient = ridge * w[k];
            for (size_t i = 0; i < N; i++)
                gradient += a[i] * a[i] * psi[i * P + k] * b[k] * (r->fitted[i] - y[i]);
            CHECK(fabs(gradient) < 1e-13 * (1 + ridge));
        }
        kspec_free(r);
    }
    kspec_wls_features_opts o = {.size = sizeof o, .ridge = -1};
    kspec_wls_features_result *r;
    kspec_error e;
    CHECK_FAILS(kspec_wls_features(&Psi, &Y, &o, &r, &e), KSPEC_E_ARG, e, "ridge -1 is not between 0");
}

TEST(bad_input) {
    enum { N = 4, P = 3 };
    double psi[N * P] = {1, 2, 3, 4, 5, 6, 7, 8, 10, 1, 0, 1}, y[N] = {1, 2, 3, 4}, bad[16] = {0};
    kspec_matrix m = view(psi, N, P), my = view(y, N, 1), mbad = view(bad, 2, 2), short_y = view(y, 3, 1);
    kspec_error e;
    kspec_wls_features_result *r;
    kspec_wls_features_opts o = {.size = sizeof o, .p = 4};
    CHECK_FAILS(kspec_wls_features(&m, &my, &o, &r, &e), KSPEC_E_ARG, e, "p = 4 exceeds the 3 features");
    o.p = 0, o.data_weights = &mbad;
    CHECK_FAILS(kspec_wls_features(&m, &my, &o, &r, &e), KSPEC_E_ARG, e, "data weights is 2 x 2");
    o.data_weights = NULL, o.prior = &mbad, mbad = view(bad, 3, 3), bad[1] = 1;
    CHECK_FAILS(kspec_wls_features(&m, &my, &o, &r, &e), KSPEC_E_DATA, e, "not symmetric");
    bad[1] = 0, bad[4] = -1;
    CHECK_FAILS(kspec_wls_features(&m, &my, &o, &r, &e), KSPEC_E_DATA, e, "-1 on its diagonal");
    bad[0] = bad[4] = bad[8] = 1, bad[1] = bad[3] = 2; /* eigenvalues 3, 1, -1 */
    CHECK_FAILS(kspec_wls_features(&m, &my, &o, &r, &e), KSPEC_E_DATA, e,
                "prior covariance is not positive semidefinite: its eigenvalues are from -1 to 3");
    bad[1] = bad[3] = 1; /* 2, 1, 0 */
    CHECK(kspec_wls_features(&m, &my, &o, &r, &e) == KSPEC_OK);
    kspec_free(r);
    o.prior = NULL;
    CHECK_FAILS(kspec_wls_features(&m, &short_y, &o, &r, &e), KSPEC_E_ARG, e, "the target is 3 x 1");
    o.at = &short_y;
    CHECK_FAILS(kspec_wls_features(&m, &my, &o, &r, &e), KSPEC_E_ARG, e, "predict at are 3 x 1, but p = 3");
    o.at = NULL, o.rank_tol = 2;
    CHECK_FAILS(kspec_wls_features(&m, &my, &o, &r, &e), KSPEC_E_ARG, e, "rank tolerance 2");
    double huge[N] = {1e200, 1e200, 1e200, 1e200}, tiny[N * P];
    kspec_matrix mhuge = view(huge, N, 1), mtiny = view(tiny, N, P);
    for (int i = 0; i < N * P; i++) tiny[i] = psi[i] * 1e-311;
    CHECK_FAILS(kspec_wls_features(&mtiny, &my, NULL, &r, &e), KSPEC_E_NUMERIC, e, "singular values down to");
    psi[0] = 1e200, o.rank_tol = 0, o.data_weights = &mhuge;
    CHECK_FAILS(kspec_wls_features(&m, &my, &o, &r, &e), KSPEC_E_NUMERIC, e,
                "the weighted features exceed the largest double");
    psi[5] = NAN;
    CHECK_FAILS(kspec_wls_features(&m, &my, NULL, &r, &e), KSPEC_E_DATA, e,
                "features: row 1, column 2 (from 0) is NaN");
    CHECK(r == NULL);
    CHECK_FAILS(kspec_wls_features(NULL, &my, NULL, &r, &e), KSPEC_E_ARG, e, "the feature matrix is missing");
    kspec_free(NULL);
}

/* The values to s, and the exponent to *exponent where it is wanted */
static kspec_status decay(const kspec_matrix *X, const kspec_wls_decay_opts *o, double *s, double *exponent,
                          kspec_error *e) {
    kspec_wls_decay_result *r = (kspec_wls_decay_result *)(uintptr_t)1;
    kspec_status st = kspec_wls_decay(X, o, &r, e);
    CHECK((st == KSPEC_OK) == (r != NULL));
    if (r) {
        CHECK(r->count == X->rows);
        memcpy(s, r->values, r->count * sizeof *s);
        if (exponent) *exponent = r->exponent;
    }
    kspec_free(r);
    return st;
}

/* n points around a circle make a circulant matrix, whose eigenvalues are sums of cosines */
TEST(gaussian_decay_on_a_circle) {
    enum { N = 31 };
    double x[2 * N], s[N], again[N], want[N], exponent;
    for (int i = 0; i < N; i++)
        x[2 * i] = 5 * cos(2 * acos(-1.0) * i / N), x[2 * i + 1] = 5 * sin(2 * acos(-1.0) * i / N);
    kspec_matrix X = view(x, N, 2);
    kspec_wls_decay_opts o = {
        .size = sizeof o, .kernel = KSPEC_WLS_KERNEL_GAUSSIAN, .sigma = 0.4, .unit_sphere = 1};
    CHECK(decay(&X, &o, s, &exponent, NULL) == KSPEC_OK);
    for (int k = 0; k < N; k++) {
        want[k] = 0;
        for (int j = 0; j < N; j++) {
            double half = sin(acos(-1.0) * j / N);
            want[k] += exp(-4 * half * half / (2 * 0.16)) * cos(2 * acos(-1.0) * j * k / N);
        }
    }
    for (int k = 0; k < N; k++) { /* every wanted one is there, in decreasing order */
        int rank = 0;
        for (int l = 0; l < N; l++) rank += fabs(want[l]) > fabs(want[k]) * (1 + 1e-9) + 1e-12;
        CHECK(fabs(s[rank] - fabs(want[k])) < 1e-12);
    }
    CHECK(exponent > 1);
    o.threads = 3;
    CHECK(decay(&X, &o, again, NULL, NULL) == KSPEC_OK && memcmp(again, s, sizeof s) == 0);
}

/*
 * Far from 0 the differences are the same; where they overflow that is said; the narrowest kernel is the
 * identity
 */
TEST(gaussian_decay_far_away) {
    enum { N = 12 };
    double x[2 * N], s[N], again[N];
    kspec_matrix X = view(x, N, 2);
    kspec_error e;
    kspec_wls_decay_opts o = {.size = sizeof o, .kernel = KSPEC_WLS_KERNEL_GAUSSIAN};
    kspec_random_normal(8, 1, 0, 2 * N, x);
    for (int i = 0; i < 2 * N; i++)
        x[i] = round(x[i] * 0x1p20) * 0x1p-20; /* so that moving it changes nothing */
    CHECK(decay(&X, &o, s, NULL, NULL) == KSPEC_OK);
    for (int i = 0; i < 2 * N; i++) x[i] += 0x1p30;
    CHECK(decay(&X, &o, again, NULL, NULL) == KSPEC_OK);
    for (int k = 0; k < N; k++) CHECK_MSG(fabs(s[k] - again[k]) < 1e-6, "%d: %g %g", k, s[k], again[k]);
    for (int i = 0; i < 2 * N; i++) x[i] = (x[i] - 0x1p30) * 1e200;
    CHECK_FAILS(decay(&X, &o, s, NULL, &e), KSPEC_E_NUMERIC, e, "exceeds the largest double");
    for (int i = 0; i < 2 * N; i++) x[i] *= 1e-200;
    o.sigma = 1e-200;
    CHECK(decay(&X, &o, s, NULL, &e) == KSPEC_OK);
    CHECK(s[0] == 1 && s[N - 1] == 1);
}

/* Two rows at right angles: the matrix is (a b; b a), of singular values a + b and a - b */
TEST(kernels_by_hand) {
    const double x[4] = {1, 0, 0, 1};
    double s[2];
    kspec_matrix X = view(x, 2, 2);
    const kspec_wls_decay_opts wide = {.size = sizeof wide, .sigma = 2, .slope = 9},
                               cubic = {.size = sizeof cubic, .kernel = KSPEC_WLS_KERNEL_POLYNOMIAL},
                               steep = {.size = sizeof steep,
                                        .kernel = KSPEC_WLS_KERNEL_POLYNOMIAL,
                                        .sigma = 9,
                                        .slope = 3,
                                        .degree = 2};
    const struct {
        const kspec_wls_decay_opts *opts;
        double a, b;
    } cases[] = {{NULL, 1, exp(-1)}, {&wide, 1, exp(-0.25)}, {&cubic, 8, 1}, {&steep, 16, 1}};
    for (int k = 0; k < 4; k++) {
        CHECK(decay(&X, cases[k].opts, s, NULL, NULL) == KSPEC_OK);
        CHECK_CLOSE(s[0], cases[k].a + cases[k].b, 1e-14);
        CHECK_CLOSE(s[1], cases[k].a - cases[k].b, 1e-14);
    }
}

/* (x.y + 1)^2 in two dimensions has 6 monomials */
TEST(polynomial_decay_has_a_rank) {
    enum { N = 20 };
    double x[2 * N], s[N], exponent;
    kspec_random_normal(8, 0, 0, 2 * N, x);
    kspec_matrix X = view(x, N, 2);
    kspec_wls_decay_opts o = {.size = sizeof o, .kernel = KSPEC_WLS_KERNEL_POLYNOMIAL, .degree = 2};
    CHECK(decay(&X, &o, s, &exponent, NULL) == KSPEC_OK);
    CHECK(s[5] > 1e-6 * s[0] && s[6] < 1e-13 * s[0] && isfinite(exponent));
    o.degree = 1;
    CHECK(decay(&X, &o, s, &exponent, NULL) == KSPEC_OK && s[2] > 1e-6 * s[0] && s[3] < 1e-13 * s[0]);
    kspec_error e;
    o.degree = -1;
    CHECK_FAILS(decay(&X, &o, s, NULL, &e), KSPEC_E_ARG, e, "degree -1");
    o.degree = 2, o.slope = -1;
    CHECK_FAILS(decay(&X, &o, s, NULL, &e), KSPEC_E_ARG, e, "slope -1");
    o.slope = 1e200;
    CHECK_FAILS(decay(&X, &o, s, NULL, &e), KSPEC_E_NUMERIC, e, "exceeds the largest double");
    o.slope = 1, o.sigma = -1;
    CHECK_FAILS(decay(&X, &o, s, NULL, &e), KSPEC_E_ARG, e, "sigma -1");
    o.sigma = 0, o.kernel = 7;
    CHECK_FAILS(decay(&X, &o, s, NULL, &e), KSPEC_E_ARG, e, "unknown kernel 7");
    o.kernel = KSPEC_WLS_KERNEL_GAUSSIAN, o.unit_sphere = 1, x[4] = x[5] = 0;
    CHECK_FAILS(decay(&X, &o, s, NULL, &e), KSPEC_E_DATA, e, "row 2 (from 0) is zero");
    CHECK_FAILS(decay(NULL, &o, s, NULL, &e), KSPEC_E_ARG, e, "the matrix is missing");
    x[4] = NAN;
    CHECK_FAILS(decay(&X, &o, s, NULL, &e), KSPEC_E_DATA, e, "row 2, column 0");
}

/* f(x) of the network with the weights that kspec_wls_ntk() draws, of which number `moved` is moved by h */
static double network(const double *x, size_t d, size_t neurons, double scale, uint64_t seed, size_t moved,
                      double h) {
    double *w = malloc(neurons * d * sizeof *w), *a = malloc(neurons * sizeof *a), f = 0;
    kspec_random_normal(seed, ks_stream(KS_STREAM_WLS_NTK, 0), 0, neurons * d, w);
    kspec_random_uniform(seed, ks_stream(KS_STREAM_WLS_NTK, 1), 0, neurons, a);
    for (size_t m = 0; m < neurons; m++) {
        double t = 0;
        for (size_t k = 0; k < d; k++) t += x[k] * (scale * w[m * d + k] + (m * d + k == moved ? h : 0));
        f += (2 * a[m] - 1) * fmax(t, 0) / sqrt((double)neurons);
    }
    free(w), free(a);
    return f;
}

/* NTK features are the network's derivatives, by central differences, and its start is its output */
TEST(ntk_features_are_derivatives) {
    enum { N = 6, D = 3, M = 5 };
    double x[N * D], psi[N * M * D], start[N];
    kspec_random_normal(3, 1, 0, N * D, x);
    const kspec_matrix X = {x, N, D, D, 1};
    kspec_error e;
    CHECK_MSG(kspec_wls_ntk(&X, M, 0.7, 11, psi, start, &e) == KSPEC_OK, "%s", e.msg);
    for (size_t i = 0; i < N; i++) {
        CHECK_CLOSE(start[i], network(x + i * D, D, M, 0.7, 11, SIZE_MAX, 0), 1e-12);
        for (size_t c = 0; c < M * D; c++) {
            const double h = 1e-6, up = network(x + i * D, D, M, 0.7, 11, c, h),
                         down = network(x + i * D, D, M, 0.7, 11, c, -h);
            CHECK(fabs(psi[i * M * D + c] - (up - down) / (2 * h)) < 1e-8);
        }
    }
}

/*
 * Psi Psi^T of many neurons nears E[a^2] x.x' (pi - angle)/(2 pi) = x.x' (pi - angle)/(6 pi):
 * 21 pairs within five standard deviations, at most 0.3 |x||x'|/sqrt(M) each
 */
TEST(ntk_of_many_neurons) {
    enum { N = 6, D = 3, M = 40000 };
    double x[N * D], *psi = malloc(sizeof *psi * N * M * D), start[N];
    kspec_random_normal(3, 2, 0, N * D, x);
    const kspec_matrix X = {x, N, D, D, 1};
    CHECK(kspec_wls_ntk(&X, M, 1, 5, psi, start, NULL) == KSPEC_OK);
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j <= i; j++) {
            double got = 0, dot = 0, ii = 0, jj = 0;
            for (size_t c = 0; c < M * D; c++) got += psi[i * M * D + c] * psi[j * M * D + c];
            for (size_t k = 0; k < D; k++)
                dot += x[i * D + k] * x[j * D + k], ii += x[i * D + k] * x[i * D + k],
                    jj += x[j * D + k] * x[j * D + k];
            const double angle = acos(fmax(-1, fmin(1, dot / sqrt(ii * jj)))), pi = acos(-1);
            CHECK_MSG(fabs(got - dot * (pi - angle) / (6 * pi)) < 5 * 0.3 * sqrt(ii * jj / M), "%zu %zu: %g",
                      i, j, got);
        }
    free(psi);
    kspec_error e;
    double one;
    CHECK_FAILS(kspec_wls_ntk(&X, 0, 1, 5, &one, start, &e), KSPEC_E_ARG, e, "neurons 0 is below 1");
    CHECK_FAILS(kspec_wls_ntk(&X, 1, 0, 5, &one, start, &e), KSPEC_E_ARG, e, "scale 0 is not above 0");
}

int main(void) {
    RUN(ntk_features_are_derivatives);
    RUN(ntk_of_many_neurons);
    RUN(against_the_definition);
    RUN(diagonals_and_strides);
    RUN(rank_deficient_features);
    RUN(ridge);
    RUN(bad_input);
    RUN(gaussian_decay_on_a_circle);
    RUN(gaussian_decay_far_away);
    RUN(kernels_by_hand);
    RUN(polynomial_decay_has_a_rank);
    return test_done();
}
