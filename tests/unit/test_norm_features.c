/*
 * Features and Gram matrices: the kernels of every instruction set, and the matrices, against plain versions.
 */
#include "base/sort.h"
#include "features/inputs.h"
#include "kspec.h"
#include "kspec/host.h"
#include "norm/gram.h"
#include "test.h"

#include <sys/wait.h>
#include <unistd.h>

static long double cos_turns(long double t) {
    long double r = t - rintl(t);
    return cosl(2 * acosl(-1) * r);
}

TEST(cosines_of_every_instruction_set) {
    for (int isa = KS_ISA_GENERIC; isa <= (int)ks_isa_best(); isa++) {
        const ks_simd *k = ks_simd_of((ks_isa)isa);
        double worst = 0, z[40], b[40], t[40];
        for (int e = -40; e <= 60; e++)
            for (size_t n = 1; n <= 37; n += 4) {
                kspec_random_normal(1, (uint64_t)(e + 50), 0, 40, t);
                kspec_random_uniform(2, (uint64_t)(e + 50), 0, 40, b);
                for (size_t i = 0; i < 40; i++) z[i] = t[i] = ldexp(t[i], e);
                k->cos_turns(z, b, 1.5, n);
                for (size_t i = 0; i < n; i++)
                    worst = fmax(worst, (double)fabsl(z[i] / 1.5L - cos_turns((long double)(t[i] + b[i]))));
                CHECK(n == 40 || z[n] == t[n]); /* nothing beyond is touched */
            }
        CHECK_MSG(worst < 4e-16, "isa %d: %g", isa, worst);
        double exact[4] = {0, 0.25, 0.5, 1e15}, none[4] = {0};
        k->cos_turns(exact, none, 1, 4);
        CHECK(fabs(exact[0] - 1) < 4e-16 && exact[1] == 0 && fabs(exact[2] + 1) < 4e-16 &&
              fabs(exact[3] - 1) < 4e-16);
    }
}

TEST(exponentials_of_every_instruction_set) {
    for (int isa = KS_ISA_GENERIC; isa <= (int)ks_isa_best(); isa++) {
        const ks_simd *k = ks_simd_of((ks_isa)isa);
        double worst = 0, c[8], h[8];
        for (double x = 1e-18; x < 2000; x *= 1.01) {
            for (int i = 0; i < 8; i++) c[i] = -x * (1 + i / 7.0), h[i] = 0;
            k->gram_exp(c, h, 0, 8);
            for (int i = 0; i < 8; i++) worst = fmax(worst, (double)fabsl(c[i] - expl(-x * (1 + i / 7.0))));
        }
        CHECK_MSG(worst < 4e-16, "isa %d: %g", isa, worst);
        for (int i = 0; i < 8; i++) c[i] = 3, h[i] = 1 + i; /* what rounding leaves above 0 is 0 */
        k->gram_exp(c, h, 1.5, 8);
        CHECK(c[0] == 1 && fabs(c[1] - exp(-0.5)) < 1e-15 && fabs(c[7] - exp(-6.5)) < 1e-15);
    }
}

TEST(products_of_every_instruction_set) {
    enum { R = 23, C = 40 };
    double K[R * C], x[C], y[R];
    kspec_random_normal(3, 0, 0, R * C, K);
    kspec_random_normal(3, 1, 0, C, x);
    kspec_random_normal(3, 2, 0, R, y);
    for (int isa = KS_ISA_GENERIC; isa <= (int)ks_isa_best(); isa++) {
        const ks_simd *k = ks_simd_of((ks_isa)isa);
        for (size_t rows = 0; rows <= R; rows++) {
            double left[R] = {0}, right[C] = {0}, alone[R] = {0}, w[C] = {0};
            k->tile_product(K, C, rows, C, x, y, left, right);
            k->tile_product(K, C, rows, C, x, NULL, alone, NULL);
            for (size_t i = 0; i < R; i++) {
                double want = 0;
                for (size_t j = 0; j < C && i < rows; j++) want += K[i * C + j] * x[j];
                CHECK(fabs(left[i] - want) < 1e-13 && left[i] == alone[i]);
            }
            for (size_t j = 0; j < C; j++) {
                double want = 0;
                for (size_t i = 0; i < rows; i++) want += K[i * C + j] * y[i];
                CHECK(fabs(right[j] - want) < 1e-13);
            }
            size_t n = 1 + rows * 37 % C; /* rows of any length, one after the other */
            k->normal_product(K, rows, n, x, w);
            for (size_t j = 0; j < n; j++) {
                double want = 0;
                for (size_t i = 0; i < rows; i++)
                    for (size_t l = 0; l < n; l++) want += K[i * n + j] * K[i * n + l] * x[l];
                CHECK(fabs(w[j] - want) < 1e-11);
            }
            CHECK(n == C || w[n] == 0);
        }
    }
}

static double kernel(kspec_kernel kernel, const double *x, const double *y, size_t p, double sigma) {
    long double sum = 0, product = 1;
    for (size_t l = 0; l < p; l++) {
        long double d = ((long double)x[l] - y[l]) / sigma;
        sum += kernel == KSPEC_KERNEL_LAPLACE ? fabsl(d) : d * d / 2;
        product *= 1 + d * d;
    }
    return (double)(kernel == KSPEC_KERNEL_CAUCHY ? 1 / product : expl(-sum));
}

static kspec_matrix view(const double *x, size_t n, size_t p) {
    return (kspec_matrix){x, n, p, (ptrdiff_t)p, 1};
}

/* Every kernel, every instruction set and a shape with tails; symmetric to the bit, ones on the diagonal */
TEST(gram_matrices) {
    static double x[600 * 17], K[600 * 600], again[600 * 600];
    const size_t ns[] = {1, 2, 7, 255, 256, 257, 600}, ps[] = {1, 3, 17};
    for (int which = 0; which < 3; which++)
        for (size_t a = 0; a < 7; a++)
            for (size_t b = 0; b < 3; b++) {
                size_t n = ns[a], p = ps[b];
                double sigma = 0.5 + (double)b, worst = 0;
                kspec_random_normal(4, a * 3 + b, 0, n * p, x);
                kspec_matrix m = view(x, n, p);
                kspec_norm_opts o = {
                    .size = sizeof o, .kernel = (kspec_kernel)which, .sigma = sigma, .threads = 1};
                kspec_error e;
                CHECK_MSG(kspec_gram(&m, &o, K, &e) == KSPEC_OK, "%s", e.msg);
                for (size_t i = 0; i < n; i++)
                    for (size_t j = 0; j <= i; j++) {
                        worst = fmax(worst,
                                     fabs(K[i * n + j] - kernel(o.kernel, x + i * p, x + j * p, p, sigma)));
                        if (K[i * n + j] != K[j * n + i]) CHECK_MSG(0, "not symmetric at %zu, %zu", i, j);
                    }
                CHECK_MSG(worst < 3e-14 && K[0] == 1 && K[n * n - 1] == 1, "kernel %d, %zu x %zu: %g", which,
                          n, p, worst);
                o.threads = 3;
                CHECK(kspec_gram(&m, &o, again, &e) == KSPEC_OK && memcmp(K, again, n * n * sizeof *K) == 0);
            }
}

/*
 * Rows far from the origin: a common offset does no harm (the rows are centred), nor do two clusters far
 * apart, where centring is no help (differences are taken). A matrix product of the rows as they are would
 * lose all digits.
 */
TEST(cancellation) {
    enum { N = 50, P = 4 };
    double x[N * P], y[N * P], K[N * N];
    const double offsets[] = {0, 1e6, 1e9};
    kspec_random_normal(5, 0, 0, N * P, x);
    for (int far = 0; far < 2; far++)
        for (int c = 0; c < 3; c++) {
            /* offsets and rows on a grid of 2^-20, so that adding one loses nothing */
            for (size_t k = 0; k < N * P; k++)
                y[k] = rint(x[k] * 0x1p20) / 0x1p20 + (far && k / P < N / 2 ? 0 : offsets[c]);
            kspec_matrix m = view(y, N, P);
            kspec_norm_opts o = {.size = sizeof o, .sigma = 0.8};
            CHECK(kspec_gram(&m, &o, K, NULL) == KSPEC_OK);
            double worst = 0;
            for (size_t i = 0; i < N; i++)
                for (size_t j = 0; j < N; j++)
                    worst = fmax(worst, fabs(K[i * N + j] - kernel(o.kernel, y + i * P, y + j * P, P, 0.8)));
            /* the mean itself is rounded to 1e-16 of the offset: distances keep 1e-7 at 1e9 */
            CHECK_MSG(worst < 1e-13 + 1e-15 * offsets[c], "offset %g: %g", offsets[c], worst);
        }
    for (size_t k = 0; k < N * P; k++)
        y[k] = x[k % P] + (k / P == 7 ? 1e-9 : 0); /* near-duplicates: never above 1 */
    kspec_matrix m = view(y, N, P);
    kspec_norm_opts o = {.size = sizeof o, .sigma = 0.01};
    CHECK(kspec_gram(&m, &o, K, NULL) == KSPEC_OK);
    for (size_t k = 0; k < N * N; k++)
        if (!(K[k] <= 1 && K[k] > 1 - 1e-13)) CHECK_MSG(0, "%zu: %.17g", k, K[k]);
}

/* y = K x: against the matrix, held or remade and at any number of threads to the same bits */
TEST(gram_operator) {
    static double x[2100 * 3], v[2100], y[4][2100];
    const size_t ns[] = {1, 200, 256, 1000, 2100};
    kspec_random_normal(6, 0, 0, 2100 * 3, x);
    kspec_random_normal(6, 1, 0, 2100, v);
    for (int which = 0; which < 3; which++)
        for (size_t a = 0; a < 5; a++) {
            size_t n = ns[a];
            for (int c = 0; c < 4; c++) { /* 1, 2, 3 threads; and remade */
                ks_arena arena = {0};
                ks_run run = {c == 3 ? 2 : c + 1, {0}, 0, 1};
                ks_inputs in = {x, n, 3, 0};
                ks_gram g;
                const ks_kernel kind = {.kind = (kspec_kernel)which};
                CHECK(ks_gram_open(&g, &run, &in, &kind, c == 3 ? 0 : SIZE_MAX, &arena, NULL) == KSPEC_OK);
                CHECK((g.held == NULL) == (c == 3));
                CHECK(ks_gram_apply(&g, &run, v, y[c], NULL) == KSPEC_OK);
                CHECK(memcmp(y[0], y[c], n * sizeof(double)) == 0);
                ks_arena_free(&arena);
            }
            for (size_t i = 0; i < n; i += 37) {
                double want = 0;
                for (size_t j = 0; j < n; j++)
                    want += kernel((kspec_kernel)which, x + i * 3, x + j * 3, 3, 1) * v[j];
                CHECK(fabs(y[0][i] - want) < 1e-11);
            }
        }
}

/*
 * Z Z^T nears K: with q = 20,000 features an entry has a standard deviation below sqrt(1/q) (the variance of
 * 2 cos cos is at most 1), and 45 pairs within 5.5 of those fail a sound program in 2e-6 of cases; seeds are
 * fixed.
 */
TEST(features_near_the_kernel) {
    enum { N = 10, P = 3, Q = 20000 };
    double x[N * P], *Z = malloc(N * Q * sizeof *Z), *fewer = malloc(N * Q * sizeof *fewer);
    kspec_random_normal(7, 0, 0, N * P, x);
    kspec_matrix m = view(x, N, P);
    for (int which = 0; which < 3; which++) {
        kspec_norm_opts o = {
            .size = sizeof o, .kernel = (kspec_kernel)which, .sigma = 1.5, .features = Q, .threads = 1};
        CHECK(kspec_features(&m, &o, Z, NULL) == KSPEC_OK);
        double off = 0;
        for (size_t i = 0; i < N; i++)
            for (size_t j = 0; j < i; j++) {
                double sum = 0, k = kernel(o.kernel, x + i * P, x + j * P, P, 1.5);
                for (size_t a = 0; a < Q; a++) sum += Z[i * Q + a] * Z[j * Q + a];
                CHECK_MSG(fabs(sum - k) < 5.5 / sqrt(Q), "kernel %d: %g, not %g", which, sum, k);
                off += fabs(k - exp(-0.5));
            }
        CHECK(off > 1); /* kernels that differ: the comparison can fail */
        o.features =
            1234; /* feature j is the same whatever q is, up to sqrt(2/q); and at any number of threads */
        o.threads = 3;
        CHECK(kspec_features(&m, &o, fewer, NULL) == KSPEC_OK);
        for (size_t i = 0; i < N; i++)
            for (size_t j = 0; j < 1234; j++)
                if (!(fabs(fewer[i * 1234 + j] * sqrt(1234) - Z[i * Q + j] * sqrt(Q)) < 1e-9))
                    CHECK_MSG(0, "%zu %zu", i, j);
    }
    free(Z);
    free(fewer);
}

TEST(bad_input) {
    double x[6] = {1, 2, 3, 4, 5, 6}, z[64];
    kspec_matrix m = view(x, 3, 2), empty = view(x, 0, 2);
    kspec_error e;
    kspec_norm_opts o = {.size = sizeof o, .sigma = -1};
    CHECK_FAILS(kspec_features(&m, &o, z, &e), KSPEC_E_ARG, e, "sigma -1");
    CHECK_FAILS(kspec_gram(&m, &o, z, &e), KSPEC_E_ARG, e, "sigma -1");
    o.sigma = 1e-200;
    CHECK_FAILS(kspec_gram(&m, &o, z, &e), KSPEC_E_ARG, e, "1e+150 times sigma");
    o.sigma = 1e-13;
    CHECK_FAILS(kspec_features(&m, &o, z, &e), KSPEC_E_ARG, e, "1e+12 times sigma");
    CHECK(kspec_gram(&m, &o, z, &e) == KSPEC_OK && z[0] == 1 && z[1] < 1e-300);
    o.sigma = 0, o.kernel = (kspec_kernel)7;
    CHECK_FAILS(kspec_gram(&m, &o, z, &e), KSPEC_E_ARG, e, "unknown kernel 7");
    o.kernel = KSPEC_KERNEL_GAUSSIAN, o.features = 2000000;
    CHECK_FAILS(kspec_features(&m, &o, z, &e), KSPEC_E_ARG, e, "2000000");
    o.features = 4, o.scaling = KSPEC_SCALING_MINMAX;
    CHECK_FAILS(kspec_features(&m, &o, z, &e), KSPEC_E_ARG, e,
                "scaling 2 and gram 0 are for kspec_norm() alone");
    o.scaling = KSPEC_SCALING_NONE, o.gram = 1;
    CHECK_FAILS(kspec_gram(&m, &o, z, &e), KSPEC_E_ARG, e, "scaling 0 and gram 1 are for kspec_norm() alone");
    CHECK_FAILS(kspec_gram(&empty, NULL, z, &e), KSPEC_E_ARG, e, "empty: 0 x 2");
    x[3] = NAN;
    CHECK_FAILS(kspec_features(&m, NULL, z, &e), KSPEC_E_DATA, e, "row 1, column 1 (from 0) is NaN");
    CHECK_FAILS(kspec_gram(&m, NULL, z, &e), KSPEC_E_DATA, e, "row 1, column 1 (from 0) is NaN");
    x[3] = 4;
    CHECK_FAILS(kspec_features(NULL, NULL, z, &e), KSPEC_E_ARG, e, "the matrix is missing (NULL)");
    CHECK_FAILS(kspec_gram(&m, NULL, NULL, &e), KSPEC_E_ARG, e, "the output array is missing (NULL)");
    o = (kspec_norm_opts){.size = sizeof o, .sigma = 2, .median_sigma = 1};
    CHECK_FAILS(kspec_gram(&m, &o, z, &e), KSPEC_E_ARG, e, "sigma 2 and median_sigma: give only one of them");
    o.sigma = 0, m.rows = 1;
    CHECK_FAILS(kspec_features(&m, &o, z, &e), KSPEC_E_ARG, e, "one row has no median distance");
    /* the message of a worker's chunk names the row of the whole matrix */
    double *far = calloc(1000 * 2, sizeof *far), *Z = malloc(1000 * 4 * sizeof *Z);
    kspec_matrix tall = view(far, 1000, 2);
    o = (kspec_norm_opts){.size = sizeof o, .features = 4, .threads = 2};
    far[777 * 2 + 1] = 1e13;
    CHECK_FAILS(kspec_features(&tall, &o, Z, &e), KSPEC_E_ARG, e,
                "row 777, column 1 (from 0) is beyond 1e+12 times sigma");
    far[777 * 2 + 1] = -INFINITY;
    CHECK_FAILS(kspec_features(&tall, &o, Z, &e), KSPEC_E_DATA, e, "row 777, column 1 (from 0) is infinite");
    free(far), free(Z);
}

/* Scaling column by column, and the median of all distances by sorting */
/* gamma says the bandwidth in another way, of every kernel. */
TEST(bandwidth_by_gamma) {
    double x[12], by_sigma[4 * 8], by_gamma[4 * 8];
    kspec_random_normal(9, 5, 0, 12, x);
    const kspec_matrix m = {x, 4, 3, 3, 1};
    for (int k = KSPEC_KERNEL_GAUSSIAN; k <= KSPEC_KERNEL_CAUCHY; k++) {
        kspec_norm_opts o = {.size = sizeof o, .kernel = (kspec_kernel)k, .sigma = 0.5, .features = 8};
        CHECK(kspec_features(&m, &o, by_sigma, NULL) == KSPEC_OK);
        o.sigma = 0;
        o.gamma = k == KSPEC_KERNEL_GAUSSIAN ? 2 : k == KSPEC_KERNEL_LAPLACE ? 2 : 4;
        CHECK(kspec_features(&m, &o, by_gamma, NULL) == KSPEC_OK);
        for (int i = 0; i < 4 * 8; i++) CHECK_CLOSE(by_gamma[i], by_sigma[i], 1e-13);
    }
    kspec_error e;
    const kspec_norm_opts both = {.size = sizeof both, .sigma = 2, .gamma = 1};
    CHECK_FAILS(kspec_features(&m, &both, by_sigma, &e), KSPEC_E_ARG, e, "gamma");
}

TEST(inputs) {
    enum { N = 41, P = 5 };
    double x[N * P];
    kspec_random_normal(8, 0, 0, N * P, x);
    for (size_t i = 0; i < N; i++)
        x[i * P + 3] = 7.25, x[i * P + 1] *= 1e300, x[i * P + 2] = 1e8 + 1e-3 * x[i * P + 2];
    kspec_matrix m = view(x, N, P);
    for (int s = KSPEC_SCALING_STANDARDIZE; s <= KSPEC_SCALING_MINMAX; s++) {
        ks_arena arena = {0};
        ks_inputs in;
        CHECK(ks_inputs_copy(&m, (kspec_scaling)s, &in, &arena, NULL) == KSPEC_OK &&
              in.constant_columns == 1);
        for (size_t l = 0; l < P; l++) {
            double sum = 0, square = 0, low = INFINITY, high = -INFINITY;
            for (size_t i = 0; i < N; i++) {
                double v = in.x[i * P + l];
                sum += v, square += v * v, low = fmin(low, v), high = fmax(high, v);
            }
            if (l == 3)
                CHECK(low == 0 && high == 0);
            else if (s == KSPEC_SCALING_MINMAX)
                CHECK(fabs(low) < 1e-15 && fabs(high - 1) < 1e-15);
            else
                CHECK(fabs(sum) < 1e-12 * N && fabs(square / N - 1) < 1e-12);
        }
        ks_arena_free(&arena);
    }
    for (int which = 0; which < 2; which++)
        for (size_t n = 2; n <= 7; n++) {
            double d[21], y[7 * P], median;
            size_t count = 0;
            kspec_random_normal(9, n, 0, n * P, y);
            for (size_t i = 0; i < n; i++)
                for (size_t j = 0; j < i; j++) {
                    double sum = 0;
                    for (size_t l = 0; l < P; l++)
                        sum +=
                            which ? fabs(y[i * P + l] - y[j * P + l]) : pow(y[i * P + l] - y[j * P + l], 2);
                    d[count++] = which ? sum : sqrt(sum);
                }
            ks_sort_ascending(d, count);
            ks_inputs in = {y, n, P, 0};
            CHECK(ks_inputs_median(&in, which ? KSPEC_KERNEL_LAPLACE : KSPEC_KERNEL_CAUCHY, 0, &median,
                                   NULL) == KSPEC_OK);
            CHECK_CLOSE(median, (d[(count - 1) / 2] + d[count / 2]) / 2, 1e-14);
            for (int e = -900; e <= 900; e += 600) { /* in any unit, whose square may over- or underflow */
                double z[7 * P], scaled;
                for (size_t k = 0; k < n * P; k++) z[k] = ldexp(y[k], e);
                in.x = z;
                CHECK(ks_inputs_median(&in, which ? KSPEC_KERNEL_LAPLACE : KSPEC_KERNEL_CAUCHY, 0, &scaled,
                                       NULL) == KSPEC_OK);
                CHECK(scaled == ldexp(median, e));
            }
        }
}

/* A row's features have the same bits alone and among others, wherever it stands. */
TEST(each_row_by_itself) {
    enum { N = 300, P = 50, MOST = 700 };
    const size_t qs[] = {5, 20, 100, 256, MOST},
                 counts[] = {1, 2, 3, 7, 8, 15, 16, 17, 60, 127, 128, 129, 255};
    double *x = malloc(N * P * sizeof *x), *all = malloc(N * MOST * sizeof *all),
           *few = malloc(N * MOST * sizeof *few);
    kspec_random_normal(11, 0, 0, N * P, x);
    kspec_matrix m = view(x, N, P);
    for (size_t a = 0; a < sizeof qs / sizeof *qs; a++) {
        size_t q = qs[a];
        kspec_norm_opts o = {.size = sizeof o, .sigma = 1.5, .features = q, .threads = 1};
        CHECK(kspec_features(&m, &o, all, NULL) == KSPEC_OK);
        for (size_t b = 0; b < sizeof counts / sizeof *counts; b++)
            for (size_t from = 0; from < 40; from += 13) {
                kspec_matrix some = view(x + from * P, counts[b], P);
                CHECK(kspec_features(&some, &o, few, NULL) == KSPEC_OK);
                CHECK_MSG(memcmp(few, all + from * q, counts[b] * q * sizeof *few) == 0,
                          "%s: q %zu, %zu rows from %zu", kspec_blas(), q, counts[b], from);
            }
    }
    free(x);
    free(all);
    free(few);
}

/* OpenBLAS chooses its core when it is loaded: a process for each that this processor can run. */
TEST(each_row_by_itself_on_every_core) {
    static const struct {
        const char *name;
        int isa;
    } cores[] = {{"Prescott", KS_ISA_GENERIC}, {"Nehalem", KS_ISA_GENERIC}, {"Sandybridge", KS_ISA_AVX2},
                 {"Haswell", KS_ISA_AVX2},     {"Zen", KS_ISA_AVX2},        {"SkylakeX", KS_ISA_AVX512}};
    for (size_t k = 0; k < sizeof cores / sizeof *cores; k++) {
        if (cores[k].isa > (int)ks_isa_best()) continue;
        int status = -1;
        pid_t child = fork();
        if (child == 0) {
            setenv("OPENBLAS_CORETYPE", cores[k].name, 1);
            execl("/proc/self/exe", "test_norm_features", "each_row", (char *)NULL);
            _exit(127);
        }
        CHECK_MSG(waitpid(child, &status, 0) == child && status == 0, "%s: status %d", cores[k].name, status);
    }
}

int main(int argc, char **argv) {
    (void)argv;
    if (argc > 1) { /* in a process of each_row_by_itself_on_every_core */
        RUN(each_row_by_itself);
        return test_done();
    }
    RUN(cosines_of_every_instruction_set);
    RUN(exponentials_of_every_instruction_set);
    RUN(products_of_every_instruction_set);
    RUN(gram_matrices);
    RUN(cancellation);
    RUN(gram_operator);
    RUN(features_near_the_kernel);
    RUN(each_row_by_itself);
    RUN(each_row_by_itself_on_every_core);
    RUN(bad_input);
    RUN(bandwidth_by_gamma);
    RUN(inputs);
    return test_done();
}
