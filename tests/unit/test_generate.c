#include "kernels/kernels.h"
#include "kspec.h"
#include "test.h"

/* The streams of the generators, as documented in generate.c */
enum { X = 1, W = 2, B = 3, NOISE = 1000 };

static double *make(const kspec_generate_opts *o, size_t trial, size_t band) {
    kspec_generator *g;
    kspec_error e;
    double *out = malloc(o->rows * o->cols * sizeof *out);
    CHECK_MSG(kspec_generate_open(o, &g, &e) == KSPEC_OK, "%s", e.msg);
    for (size_t i = 0; i < o->rows; i += band) {
        size_t n = o->rows - i < band ? o->rows - i : band;
        CHECK(kspec_generate_rows(g, trial, i, n, out + i * o->cols, &e) == KSPEC_OK);
    }
    kspec_generate_close(g);
    return out;
}

/* Entry by entry from the random streams, in long double */
TEST(rff_and_linear_against_the_definition) {
    double eta[3] = {4, 0.5, 1}, c[3] = {0.3, 2, 0};
    for (int linear = 0; linear < 2; linear++) {
        kspec_generate_opts o = {.size = sizeof o,
                                 .process = linear ? KSPEC_GENERATE_LINEAR : KSPEC_GENERATE_RFF,
                                 .rows = 70,
                                 .cols = 37,
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
            double *got = make(&o, t, 70);
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

TEST(same_bits_however_banded_and_threaded) {
    for (int process = KSPEC_GENERATE_RFF; process <= KSPEC_GENERATE_GAUSSIAN; process++) {
        kspec_generate_opts o = {.size = sizeof o,
                                 .process = (kspec_process)process,
                                 .rows = 601,
                                 .cols = 53,
                                 .dim = 4,
                                 .seed = 5,
                                 .noise = 0.1,
                                 .threads = 1};
        double *first = make(&o, 0, 601);
        const size_t bands[] = {1, 64, 100, 600};
        for (int k = 0; k < 4; k++) {
            o.threads = k + 1;
            double *other = make(&o, 0, bands[k]);
            CHECK_MSG(memcmp(first, other, 601 * 53 * sizeof *first) == 0, "process %d, band %zu", process,
                      bands[k]);
            free(other);
        }
        o.seed = 6;
        double *other = make(&o, 0, 601);
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
    enum { P = 10, Q = 20000, D = 2 };
    double eta[D] = {0.7, 1.9}, x[P * D];
    kspec_random_normal(8, X, 0, P * D, x);
    for (int process = KSPEC_GENERATE_RFF; process <= KSPEC_GENERATE_GAUSSIAN; process += 2) {
        kspec_generate_opts o = {.size = sizeof o,
                                 .process = (kspec_process)process,
                                 .rows = P,
                                 .cols = Q,
                                 .dim = D,
                                 .eta = eta,
                                 .eta_count = D,
                                 .seed = 8};
        double *phi = make(&o, 0, P);
        for (size_t i = 0; i < P; i++)
            for (size_t j = 0; j <= i; j++) {
                double s = 0, d = 0;
                for (size_t a = 0; a < Q; a++) s += phi[i * Q + a] * phi[j * Q + a] / Q;
                for (size_t l = 0; l < D; l++)
                    d += eta[l] * (x[i * D + l] - x[j * D + l]) * (x[i * D + l] - x[j * D + l]);
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
            ks_kernels_of((ks_isa)isa)->sin_features(got, b, n);
            for (size_t k = 0; k < 40; k++) {
                double want = k < n ? (double)(sqrtl(2) * sinl((long double)(z[k] + b[k]))) : z[k];
                CHECK_MSG(fabs(got[k] - want) < 1e-15, "isa %d n %zu k %zu", isa, n, k);
            }
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
    kspec_generate_opts ok = {
        .size = sizeof ok, .process = KSPEC_GENERATE_RFF, .rows = 3, .cols = 4, .dim = 5};
    kspec_generate_opts o = ok;
    o.process = 0;
    CHECK_FAILS(kspec_generate_open(&o, &g, &e), KSPEC_E_ARG, e, "process 0");
    o = ok, o.rows = 0;
    CHECK_FAILS(kspec_generate_open(&o, &g, &e), KSPEC_E_ARG, e, "rows 0");
    o = ok, o.eta = &bad, o.eta_count = 1;
    CHECK_FAILS(kspec_generate_open(&o, &g, &e), KSPEC_E_ARG, e, "eta -1");
    o = ok, o.eta = two, o.eta_count = 2;
    CHECK_FAILS(kspec_generate_open(&o, &g, &e), KSPEC_E_ARG, e, "2 values of eta for dimension 5");
    o = ok, o.noise = NAN;
    CHECK_FAILS(kspec_generate_open(&o, &g, &e), KSPEC_E_ARG, e, "noise");
    o = ok, o.process = KSPEC_GENERATE_GAUSSIAN, o.rows = 20001;
    CHECK_FAILS(kspec_generate_open(&o, &g, &e), KSPEC_E_ARG, e, "20001 rows exceed 20000");
    o = ok, o.process = KSPEC_GENERATE_LINEAR, o.eigenvalues = &bad, o.eigenvalue_count = 1;
    CHECK_FAILS(kspec_generate_open(&o, &g, &e), KSPEC_E_ARG, e, "eigenvalue -1");
    o = ok, o.rows = SIZE_MAX / 4;
    CHECK_FAILS(kspec_generate_open(&o, &g, &e), KSPEC_E_ARG, e, "address space");
    CHECK(g == NULL);
    CHECK(kspec_generate_open(&ok, &g, &e) == KSPEC_OK);
    CHECK_FAILS(kspec_generate_rows(g, 1, 0, 1, row, &e), KSPEC_E_ARG, e, "trial 1");
    CHECK_FAILS(kspec_generate_rows(g, 0, 3, 1, row, &e), KSPEC_E_ARG, e, "exceed the matrix's 3 rows");
    kspec_generate_close(g);
    o = ok, o.progress.report = cancel;
    CHECK(kspec_generate_open(&o, &g, &e) == KSPEC_OK);
    CHECK(kspec_generate_rows(g, 0, 0, 1, row, &e) == KSPEC_E_CANCELLED);
    kspec_generate_close(g);
    kspec_generate_close(NULL);
}

int main(void) {
    RUN(rff_and_linear_against_the_definition);
    RUN(same_bits_however_banded_and_threaded);
    RUN(columns_have_the_kernel_as_covariance);
    RUN(sine_kernel_on_every_instruction_set);
    RUN(bad_input);
    return test_done();
}
