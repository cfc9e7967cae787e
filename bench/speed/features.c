/* Random Fourier features and Gram matrices, each beside its matrix product and one pass over the result. */
#include "bench/speed/speed.h"

#include <math.h>
#include <stdlib.h>

static const size_t DIMENSIONS[] = {2, 11, 100, 784};
enum { COUNT = sizeof DIMENSIONS / sizeof *DIMENSIONS };

/* A line of the table, and what it is made of. madds: those of the matrix product. */
static int add(const bench_args *a, bench_list *list, const char *name, const char *function, double madds,
               const bench_stages *t) {
    bench_entry *e = bench_add(list, name, t->total, madds / t->total, bench_gemm_rate(1000, a->repeat), NAN);
    if (!e) return EXIT_FAILED;
    e->product = t->product, e->function = t->function, e->pass = t->pass;
    e->of_product_and_pass = t->total / (t->product + t->pass);
    snprintf(e->note, sizeof e->note,
             "%.2f of its product (%.4g s) and a pass over memory (%.4g s); %s alone %.4g s",
             e->of_product_and_pass, t->product, t->pass, function, t->function);
    return EXIT_DONE;
}

/* Rows x_il = sin(1 + 3i + 7l), both results by definition; the shape is a multiple of no block size. */
enum { N = 131, P = 5, Q = 37 };

static double entry(size_t i, size_t l) { return sin(1.0 + 3.0 * (double)i + 7.0 * (double)l); }

static int verify_gram(const double *x) {
    kspec_matrix m = {x, N, P, P, 1};
    kspec_norm_opts o = {.size = sizeof o, .sigma = 0.7};
    kspec_error err;
    double *K = malloc(N * N * sizeof *K);
    if (!K) return cli_no_memory();
    int status = kspec_gram(&m, &o, K, &err) ? cli_fail(err.code, &err) : EXIT_DONE;
    for (size_t i = 0; i < N && !status; i++)
        for (size_t k = 0; k < N && !status; k++) {
            double d = 0;
            for (size_t l = 0; l < P; l++) d += pow(x[i * P + l] - x[k * P + l], 2);
            double want = exp(-d / (2 * 0.7 * 0.7));
            if (!(fabs(K[i * N + k] - want) <= 1e-14))
                status =
                    cli_error(EXIT_FAILED, "bench: K[%zu,%zu] = %.17g, but the plain version gives %.17g", i,
                              k, K[i * N + k], want);
        }
    free(K);
    return status;
}

/*
 * The frequencies are not known here, but Z Z^T tends to K as 1/sqrt(q): within six standard errors at q =
 * 64 Q
 */
static int verify_features(const double *x) {
    enum { MANY = 64 * Q };
    kspec_matrix m = {x, N, P, P, 1};
    kspec_norm_opts o = {.size = sizeof o, .sigma = 0.7, .features = MANY};
    kspec_error err;
    double *Z = malloc(N * MANY * sizeof *Z);
    if (!Z) return cli_no_memory();
    int status = kspec_features(&m, &o, Z, &err) ? cli_fail(err.code, &err) : EXIT_DONE;
    for (size_t i = 0; i < N && !status; i++)
        for (size_t k = 0; k < i && !status; k++) {
            double d = 0, sum = 0;
            for (size_t l = 0; l < P; l++) d += pow(x[i * P + l] - x[k * P + l], 2);
            for (size_t j = 0; j < MANY; j++) sum += Z[i * MANY + j] * Z[k * MANY + j];
            if (!(fabs(sum - exp(-d / (2 * 0.7 * 0.7))) <= 6 / sqrt(MANY)))
                status = cli_error(EXIT_FAILED, "bench: (Z Z^T)[%zu,%zu] = %.6g is too far from the kernel",
                                   i, k, sum);
        }
    free(Z);
    return status;
}

static int verify(int (*what)(const double *x)) {
    static double x[N * P];
    for (size_t i = 0; i < N; i++)
        for (size_t l = 0; l < P; l++) x[i * P + l] = entry(i, l);
    return what(x);
}

int bench_features(const bench_args *a, bench_list *list) {
    int status = verify(verify_features);
    for (size_t k = 0; k < COUNT && !status; k++) {
        bench_stages t;
        kspec_error err;
        char name[60];
        size_t p = DIMENSIONS[k];
        if (bench_features_stages(a->rows, p, a->cols, a->repeat, &t, &err)) return cli_fail(err.code, &err);
        snprintf(name, sizeof name, "features, p=%zu, 1 thread", p);
        status = add(a, list, name, "cosines", (double)a->rows * (double)a->cols * (double)p, &t);
    }
    return status;
}

/* kspec_gram() on normal rows, the best time */
static int whole(const bench_args *a, size_t p, double *seconds) {
    double *x = malloc(a->rows * p * sizeof *x), *K = malloc(a->rows * a->rows * sizeof *K);
    kspec_matrix m = {x, a->rows, p, (ptrdiff_t)p, 1};
    kspec_norm_opts o = {.size = sizeof o, .sigma = sqrt((double)p), .threads = 1};
    kspec_error err;
    int status = x && K ? EXIT_DONE : cli_error(EXIT_FAILED, "out of memory for %zu x %zu", a->rows, a->rows);
    if (!status) kspec_random_normal(0, 0, 0, a->rows * p, x);
    *seconds = INFINITY;
    for (int r = 0; r < a->repeat && !status; r++) {
        double t = cli_now();
        if (kspec_gram(&m, &o, K, &err)) status = cli_fail(err.code, &err);
        *seconds = fmin(*seconds, cli_now() - t);
    }
    free(x);
    free(K);
    return status;
}

int bench_norm(const bench_args *a, bench_list *list) {
    int status = verify(verify_gram);
    for (size_t k = 0; k < COUNT && !status; k++) {
        bench_stages t;
        kspec_error err;
        char name[60];
        size_t p = DIMENSIONS[k];
        if (bench_gram_stages(a->rows, p, a->repeat, &t, &err)) return cli_fail(err.code, &err);
        double madds = (double)a->rows * (double)a->rows * (double)p / 2;
        snprintf(name, sizeof name, "Gram tiles, p=%zu, 1 thread", p);
        if ((status = add(a, list, name, "exponentials", madds, &t))) return status;
        snprintf(name, sizeof name, "whole Gram matrix, p=%zu, 1 thread", p);
        double seconds;
        if ((status = whole(a, p, &seconds))) return status;
        bench_entry *e =
            bench_add(list, name, seconds, madds / seconds, bench_gemm_rate(1000, a->repeat), NAN);
        if (!e) return EXIT_FAILED;
        /* made from the triangle's tiles, and all of it written: twice the pass */
        e->of_product_and_pass = seconds / (t.product + 2 * t.pass);
        snprintf(e->note, sizeof e->note,
                 "%.2f of the tiles' product and a pass over the whole matrix (%.4g s)",
                 e->of_product_and_pass, 2 * t.pass);
    }
    return status;
}
