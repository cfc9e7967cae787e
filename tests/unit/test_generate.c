#include "simd/simd.h"
#include "kspec.h"
#include "kspec/host.h"
#include "linalg/covariance.h"
#include "test.h"

/* The streams of the generators, as documented in generate.c and noise.c */
enum { X = 1, W = 2, B = 3, NOISE = 1000 };
static const uint64_t ROW_NOISE = (uint64_t)1 << 40, COL_NOISE = (uint64_t)2 << 40;

static double *make(size_t rows, size_t cols, const kspec_generate_opts *o, size_t trial, size_t band) {
    kspec_generator *g;
    kspec_error e;
    double *out = malloc(rows * cols * sizeof *out);
    CHECK_MSG(kspec_generate_open(rows, cols, o, &g, &e) == KSPEC_OK, "%s", e.msg);
    for (size_t i = 0; i < rows; i += band) {
        size_t n = rows - i < band ? rows - i : band;
        CHECK(kspec_generate_rows(g, trial, i, n, out + i * cols, &e) == KSPEC_OK);
    }
    kspec_generate_close(g);
    return out;
}

/* Entry by entry from the random streams, in long double */
TEST(rff_and_linear_against_the_definition) {
    double eta[3] = {4, 0.5, 1}, c[3] = {0.3, 2, 0};
    for (int linear = 0; linear < 2; linear++) {
        kspec_generate_opts o = {.size = sizeof o,
                                 .process = linear ? KSPEC_PROCESS_LINEAR : KSPEC_PROCESS_RFF,
                                 .dim = 3,
                                 .eta = eta,
                                 .eta_count = linear ? 0 : 3,
                                 .eigenvalues = c,
                                 .eigenvalue_count = linear ? 3 : 0,
                                 .seed = 11,
                                 .trials = 3,
                                 .noise = 0.5};
        static double x[70 * 3], w[3 * 37], b[37], noise[70 * 37];
        kspec_random_normal(11, X, 0, 70 * 3, x);
        kspec_random_normal(11, W, 0, 3 * 37, w);
        kspec_random_uniform(11, B, 0, 37, b);
        for (size_t t = 0; t < 3; t++) {
            double *got = make(70, 37, &o, t, 70);
            kspec_random_normal(11, NOISE + t, 0, 70 * 37, noise);
            for (size_t i = 0; i < 70; i++)
                for (size_t j = 0; j < 37; j++) {
                    long double s = 0;
                    for (size_t l = 0; l < 3; l++)
                        s += (long double)x[i * 3 + l] * w[l * 37 + j] * sqrtl(linear ? c[l] : eta[l]);
                    if (!linear) s = sqrtl(2) * sinl(s + 2 * 3.14159265358979323846264338328L * b[j]);
                    s += 0.5L * noise[i * 37 + j];
                    CHECK_MSG(fabs(got[i * 37 + j] - (double)s) < 1e-13, "%g %g", got[i * 37 + j], (double)s);
                }
            free(got);
        }
    }
}

/* ---- Sigma and Sigma_x ---- */

enum { D = 4 };
typedef long double square[D][D];

static void cholesky(const double *S, square L) {
    for (int i = 0; i < D; i++)
        for (int j = 0; j <= i; j++) {
            long double s = S[i * D + j];
            for (int k = 0; k < j; k++) s -= L[i][k] * L[j][k];
            L[i][j] = i == j ? sqrtl(s) : s / L[j][j];
        }
}

/* Random covariances; Sx of the rank given */
static void covariances(uint64_t seed, int rank, double *S, double *Sx) {
    double T[2 * D * D];
    kspec_random_normal(seed, 9, 0, 2 * D * D, T);
    memset(S, 0, D * D * sizeof *S);
    memset(Sx, 0, D * D * sizeof *Sx);
    for (int i = 0; i < D; i++)
        for (int j = 0; j < D; j++) {
            for (int k = 0; k < D; k++) S[i * D + j] += T[i * D + k] * T[j * D + k] + (i == j);
            for (int k = 0; k < rank; k++) Sx[i * D + j] += T[D * D + i * D + k] * T[D * D + j * D + k];
        }
}

/* L M^T M L^T = Sx, which is all that M has to satisfy; with Sx the identity, M^T = L^-1 itself */
TEST(factor_of_two_covariances) {
    for (uint64_t seed = 0; seed < 20; seed++)
        for (int rank = 0; rank <= D; rank++) {
            double S[D * D], Sx[D * D], M[D * D];
            square L = {{0}}, N = {{0}}; /* N = L M^T */
            covariances(seed, rank, S, Sx);
            kspec_matrix s = {S, D, D, 1, D}, x = {Sx, D, D, D, 1};
            kspec_error e;
            CHECK_MSG(ks_relative_factor(&s, rank ? &x : NULL, D, M, &e) == KSPEC_OK, "%s", e.msg);
            cholesky(S, L);
            for (int i = 0; i < D; i++)
                for (int j = 0; j < D; j++)
                    for (int k = 0; k < D; k++) N[i][j] += L[i][k] * M[j * D + k];
            for (int i = 0; i < D; i++)
                for (int j = 0; j < D; j++) {
                    long double got = 0, want = rank ? Sx[i * D + j] : i == j;
                    for (int k = 0; k < D; k++) got += N[i][k] * N[j][k];
                    CHECK_MSG(fabsl(got - want) < 1e-13, "rank %d: %g %g", rank, (double)got, (double)want);
                    if (!rank) CHECK(fabsl(N[i][j] - (i == j)) < 1e-14);
                }
        }
}

/* sqrt(2) sin(z^T M v + b) entry by entry; columns are more than one block of weights */
TEST(rff_of_covariances_against_the_definition) {
    enum { P = 3, Q = 1100 };
    double S[D * D], Sx[D * D], M[D * D], z[P * D], b[Q];
    static double v[D * Q];
    covariances(3, 2, S, Sx);
    kspec_matrix s = {S, D, D, D, 1}, x = {Sx, D, D, D, 1};
    CHECK(ks_relative_factor(&s, &x, D, M, NULL) == KSPEC_OK);
    kspec_random_normal(5, X, 0, P * D, z);
    kspec_random_normal(5, W, 0, D * Q, v);
    kspec_random_uniform(5, B, 0, Q, b);
    kspec_generate_opts o = {
        .size = sizeof o, .process = KSPEC_PROCESS_RFF, .dim = D, .Sigma = &s, .Sigma_x = &x, .seed = 5};
    double *got = make(P, Q, &o, 0, P);
    for (int i = 0; i < P; i++)
        for (int j = 0; j < Q; j++) {
            long double sum = 2 * 3.14159265358979323846264338328L * b[j];
            for (int k = 0; k < D; k++)
                for (int l = 0; l < D; l++) sum += (long double)z[i * D + k] * M[k * D + l] * v[l * Q + j];
            CHECK_MSG(fabs(got[i * Q + j] - (double)(sqrtl(2) * sinl(sum))) < 1e-13, "%d %d", i, j);
        }
    free(got);
}

/* ---- noise ---- */

TEST(correlated_noise_against_the_definition) {
    enum { P = 70, Q = 37, T = 2 };
    const double S = 0.8, c = 0; /* of a matrix that is 0 */
    for (int along = KSPEC_NOISE_ROWS; along <= KSPEC_NOISE_BOTH; along++)
        for (int k = 0; k < 2; k++) {
            double rho = k ? 0.3 : 0; /* 0: by default all of it is shared */
            kspec_generate_opts o = {.size = sizeof o,
                                     .process = KSPEC_PROCESS_LINEAR,
                                     .dim = 1,
                                     .eigenvalues = &c,
                                     .eigenvalue_count = 1,
                                     .seed = 11,
                                     .trials = T,
                                     .noise = S,
                                     .noise_correlation = (kspec_noise)along,
                                     .noise_share = rho};
            if (!k) rho = 1;
            double own = sqrt(1 - rho), shared = sqrt(along == KSPEC_NOISE_BOTH ? rho / 2 : rho);
            for (size_t t = 0; t < T; t++) {
                double *got = make(P, Q, &o, t, 50), e[P * Q], r[P], col[Q];
                kspec_random_normal(11, NOISE + t, 0, P * Q, e);
                kspec_random_normal(11, ROW_NOISE + t, 0, P, r);
                kspec_random_normal(11, COL_NOISE + t, 0, Q, col);
                for (int i = 0; i < P; i++)
                    for (int j = 0; j < Q; j++) {
                        double common =
                            (along == KSPEC_NOISE_COLS ? 0 : r[i]) + (along == KSPEC_NOISE_ROWS ? 0 : col[j]);
                        CHECK_MSG(fabs(got[i * Q + j] - S * (own * e[i * Q + j] + shared * common)) < 1e-14,
                                  "along %d rho %g t %zu: %d %d", along, rho, t, i, j);
                    }
                free(got);
            }
        }
}

TEST(same_bits_however_banded_and_threaded) {
    const double S[16] = {3, 1, 0, 0, 1, 3, 1, 0, 0, 1, 3, 1, 0, 0, 1, 3};
    const kspec_matrix sigma = {S, 4, 4, 4, 1};
    for (int kind = 0; kind < 6;
         kind++) { /* each process; again with correlated noise and, but for linear, Sigma */
        int process = KSPEC_PROCESS_RFF + kind % 3;
        kspec_generate_opts o = {.size = sizeof o,
                                 .process = (kspec_process)process,
                                 .dim = 4,
                                 .seed = 5,
                                 .noise = 0.1,
                                 .threads = 1};
        if (kind >= 3) o.noise_correlation = KSPEC_NOISE_BOTH, o.noise_share = 0.5;
        if (kind >= 3 && process != KSPEC_PROCESS_LINEAR) o.Sigma = o.Sigma_x = &sigma;
        double *first = make(601, 53, &o, 0, 601);
        const size_t bands[] = {1, 64, 100, 600};
        for (int k = 0; k < 4; k++) {
            o.threads = k + 1;
            double *other = make(601, 53, &o, 0, bands[k]);
            CHECK_MSG(memcmp(first, other, 601 * 53 * sizeof *first) == 0, "process %d, band %zu", process,
                      bands[k]);
            free(other);
        }
        o.seed = 6;
        double *other = make(601, 53, &o, 0, 601);
        CHECK(memcmp(first, other, 601 * 53 * sizeof *first) != 0);
        free(other);
        free(first);
    }
}

/*
 * Mean over Q = 20,000 columns of phi_i phi_j is the kernel k(x_i, x_j) up to noise whose SD is at most
 * sqrt(2/Q) (Gaussian process: sqrt((1+k^2)/Q)). All 10 x 11/2 pairs within 5 SD: false alarm below 1e-4 a
 * process.
 */
TEST(columns_have_the_kernel_as_covariance) {
    enum { P = 10, Q = 20000, DIM = 2 };
    double eta[DIM] = {0.7, 1.9}, x[P * DIM];
    kspec_random_normal(8, X, 0, P * DIM, x);
    for (int process = KSPEC_PROCESS_RFF; process <= KSPEC_PROCESS_GAUSSIAN; process += 2) {
        kspec_generate_opts o = {.size = sizeof o,
                                 .process = (kspec_process)process,
                                 .dim = DIM,
                                 .eta = eta,
                                 .eta_count = DIM,
                                 .seed = 8};
        double *phi = make(P, Q, &o, 0, P);
        for (size_t i = 0; i < P; i++)
            for (size_t j = 0; j <= i; j++) {
                double s = 0, d = 0;
                for (size_t a = 0; a < Q; a++) s += phi[i * Q + a] * phi[j * Q + a] / Q;
                for (size_t l = 0; l < DIM; l++)
                    d += eta[l] * (x[i * DIM + l] - x[j * DIM + l]) * (x[i * DIM + l] - x[j * DIM + l]);
                CHECK_MSG(fabs(s - exp(-d / 2)) < 5 * sqrt(2.0 / Q), "%d: %zu %zu: %g %g", process, i, j, s,
                          exp(-d / 2));
            }
        free(phi);
    }
}

TEST(sine_kernel_on_every_instruction_set) {
    for (int isa = 0; isa <= (int)ks_isa_best(); isa++)
        for (size_t n = 0; n < 40; n++) {
            double z[40], b[40], got[40];
            kspec_random_normal(1, n, 0, 40, z);
            kspec_random_uniform(2, n, 0, 40, b);
            for (size_t k = 0; k < 40; k++) got[k] = z[k] * (k % 3 ? 1 : 1e6); /* large arguments too */
            memcpy(z, got, sizeof z);
            ks_simd_of((ks_isa)isa)->sin_features(got, b, n);
            for (size_t k = 0; k < 40; k++) {
                double want = k < n ? (double)(sqrtl(2) * sinl((long double)(z[k] + b[k]))) : z[k];
                CHECK_MSG(fabs(got[k] - want) < 1e-15, "isa %d n %zu k %zu", isa, n, k);
            }
        }
}

/* No options: random Fourier features of one input dimension; the dimension follows what else is given */
TEST(defaults) {
    enum { P = 5, Q = 4 };
    const double list[3] = {0.5, 1, 2}, S[4] = {2, 1, 1, 2};
    const kspec_matrix sigma = {S, 2, 2, 2, 1};
    const struct {
        kspec_generate_opts given;
        size_t dim;
    } cases[] = {{{0}, 1},
                 {{.eta = list, .eta_count = 3}, 3},
                 {{.process = KSPEC_PROCESS_LINEAR, .eigenvalues = list, .eigenvalue_count = 2}, 2},
                 {{.Sigma = &sigma}, 2},
                 {{.process = KSPEC_PROCESS_GAUSSIAN, .Sigma_x = &sigma}, 2}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        kspec_generate_opts o = cases[k].given;
        o.size = sizeof o;
        double *got = make(P, Q, k ? &o : NULL, 0, P);
        o.dim = cases[k].dim;
        double *want = make(P, Q, &o, 0, P);
        CHECK_MSG(memcmp(got, want, P * Q * sizeof *got) == 0, "case %zu", k);
        free(got), free(want);
    }
}

static int cancel(void *ctx, double f) {
    (void)ctx, (void)f;
    return 1;
}

TEST(bad_input) {
    kspec_error e;
    kspec_generator *g;
    double bad = -1, two[2] = {1, 2}, row[4];
    kspec_generate_opts ok = {.size = sizeof ok, .process = KSPEC_PROCESS_RFF, .dim = 5};
    kspec_generate_opts o = ok;
    o.process = (kspec_process)3;
    CHECK_FAILS(kspec_generate_open(3, 4, &o, &g, &e), KSPEC_E_ARG, e, "unknown process 3");
    CHECK_FAILS(kspec_generate_open(0, 4, &ok, &g, &e), KSPEC_E_ARG, e, "rows 0 and columns 4 must be");
    CHECK_FAILS(kspec_generate_open(3, 0, &ok, &g, &e), KSPEC_E_ARG, e, "rows 3 and columns 0 must be");
    o = ok, o.eta = &bad, o.eta_count = 1;
    CHECK_FAILS(kspec_generate_open(3, 4, &o, &g, &e), KSPEC_E_ARG, e, "eta -1");
    o = ok, o.eta = two, o.eta_count = 2;
    CHECK_FAILS(kspec_generate_open(3, 4, &o, &g, &e), KSPEC_E_ARG, e, "2 values of eta for dimension 5");
    o = ok, o.noise = NAN;
    CHECK_FAILS(kspec_generate_open(3, 4, &o, &g, &e), KSPEC_E_ARG, e, "noise");
    o = ok, o.eta_count = 1;
    CHECK_FAILS(kspec_generate_open(3, 4, &o, &g, &e), KSPEC_E_ARG, e, "values of eta is missing (NULL)");
    o = ok, o.process = KSPEC_PROCESS_GAUSSIAN;
    CHECK_FAILS(kspec_generate_open(20001, 4, &o, &g, &e), KSPEC_E_ARG, e, "20001 rows exceed 20000");
    o = ok, o.process = KSPEC_PROCESS_LINEAR, o.eigenvalues = &bad, o.eigenvalue_count = 1;
    CHECK_FAILS(kspec_generate_open(3, 4, &o, &g, &e), KSPEC_E_ARG, e, "eigenvalue -1");
    o = ok, o.noise_correlation = (kspec_noise)4;
    CHECK_FAILS(kspec_generate_open(3, 4, &o, &g, &e), KSPEC_E_ARG, e, "unknown noise correlation 4");
    o = ok, o.noise_share = 1.5;
    CHECK_FAILS(kspec_generate_open(3, 4, &o, &g, &e), KSPEC_E_ARG, e,
                "noise share 1.5 is not above 0 and at most 1");
    o = ok, o.noise_share = NAN;
    CHECK_FAILS(kspec_generate_open(3, 4, &o, &g, &e), KSPEC_E_ARG, e, "noise share");
    const double saddle[4] = {1, 2, 2, 1}, one = 1;
    const kspec_matrix sigma = {saddle, 2, 2, 2, 1};
    o = ok, o.Sigma = &sigma;
    CHECK_FAILS(kspec_generate_open(3, 4, &o, &g, &e), KSPEC_E_ARG, e, "Sigma is 2 x 2, not 5 x 5");
    o.dim = 2;
    CHECK_FAILS(kspec_generate_open(3, 4, &o, &g, &e), KSPEC_E_DATA, e,
                "Sigma is not positive definite: the smallest of its 2 "
                "eigenvalues is -1");
    o.eta = &one, o.eta_count = 1;
    CHECK_FAILS(kspec_generate_open(3, 4, &o, &g, &e), KSPEC_E_ARG, e, "cannot be combined");
    o = ok, o.process = KSPEC_PROCESS_LINEAR, o.Sigma_x = &sigma;
    CHECK_FAILS(kspec_generate_open(3, 4, &o, &g, &e), KSPEC_E_ARG, e, "linear takes no Sigma");
    o = ok, o.dim = 10000000;
    CHECK_FAILS(kspec_generate_open(3, INT32_MAX, &o, &g, &e), KSPEC_E_NOMEM, e, "the generator needs 1");
    CHECK_FAILS(kspec_generate_open(SIZE_MAX / 4, 4, &ok, &g, &e), KSPEC_E_ARG, e, "address space");
    CHECK(g == NULL);
    CHECK(kspec_generate_open(3, 4, &ok, &g, &e) == KSPEC_OK);
    CHECK_FAILS(kspec_generate_rows(g, 1, 0, 1, row, &e), KSPEC_E_ARG, e, "trial 1");
    CHECK_FAILS(kspec_generate_rows(g, 0, 3, 1, row, &e), KSPEC_E_ARG, e, "exceed the matrix's 3 rows");
    CHECK_FAILS(kspec_generate_rows(g, 0, 0, 1, NULL, &e), KSPEC_E_ARG, e, "missing (NULL)");
    kspec_generate_close(g);
    o = ok, o.progress.report = cancel;
    CHECK(kspec_generate_open(3, 4, &o, &g, &e) == KSPEC_OK);
    CHECK(kspec_generate_rows(g, 0, 0, 1, row, &e) == KSPEC_E_CANCELLED);
    kspec_generate_close(g);
    kspec_generate_close(NULL);
}

int main(void) {
    RUN(rff_and_linear_against_the_definition);
    RUN(factor_of_two_covariances);
    RUN(rff_of_covariances_against_the_definition);
    RUN(correlated_noise_against_the_definition);
    RUN(same_bits_however_banded_and_threaded);
    RUN(columns_have_the_kernel_as_covariance);
    RUN(sine_kernel_on_every_instruction_set);
    RUN(defaults);
    RUN(bad_input);
    return test_done();
}
