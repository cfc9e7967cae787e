/* The dimension with its interval, beside DGEMM. */
#include "bench/speed/speed.h"

#include <math.h>
#include <stdlib.h>

static int dimension(const double *x, size_t P, size_t Q, int threads, double *naive, double *seconds) {
    kspec_matrix phi = {x, P, Q, (ptrdiff_t)Q, 1};
    kspec_dimension_opts o = {.size = sizeof o, .threads = threads};
    kspec_dimension_result *r;
    kspec_error err;
    double start = cli_now();
    if (kspec_dimension(&phi, 1, &o, &r, &err)) return cli_fail(err.code, &err);
    *seconds = fmin(*seconds, cli_now() - start);
    *naive = r->naive;
    kspec_free(r);
    return EXIT_DONE;
}

/* (tr C)^2 / tr C^2 of the covariance over rows, by its definition */
static int verify(void) {
    enum { P = 61, Q = 37 };
    double x[P * Q], mean[Q] = {0}, trace = 0, squares = 0, found = NAN, seconds = INFINITY;
    kspec_random_normal(1, 0, 0, P * Q, x);
    for (size_t i = 0; i < P; i++)
        for (size_t a = 0; a < Q; a++) mean[a] += x[i * Q + a] / P;
    for (size_t a = 0; a < Q; a++)
        for (size_t b = 0; b < Q; b++) {
            double c = 0;
            for (size_t i = 0; i < P; i++) c += (x[i * Q + a] - mean[a]) * (x[i * Q + b] - mean[b]);
            squares += c * c;
            if (a == b) trace += c;
        }
    int status = dimension(x, P, Q, 1, &found, &seconds);
    double want = trace * trace / squares;
    if (!status && !(fabs(found - want) <= 1e-9 * want))
        return cli_error(EXIT_FAILED,
                         "bench: the naive dimension is %.17g, but the plain version gives %.17g", found,
                         want);
    return status;
}

/* Multiply-adds: of the two products of a P x Q matrix with one that has its shorter side twice */
int bench_dimension(const bench_args *a, bench_list *list) {
    const double P = (double)a->rows, Q = (double)a->cols, work = 2 * P * Q * fmin(P, Q);
    double *x = malloc(a->rows * a->cols * sizeof *x);
    if (!x) return cli_error(EXIT_FAILED, "out of memory for a %zu x %zu matrix", a->rows, a->cols);
    kspec_random_normal(2, 0, 0, a->rows * a->cols, x);
    int status = verify();
    for (int threads = 1; threads <= 2 && !status; threads++) {
        char name[64];
        double before = bench_gemm_rate(1000, a->repeat), seconds = INFINITY, naive;
        for (int k = 0; k < a->repeat && !status; k++)
            status = dimension(x, a->rows, a->cols, threads, &naive, &seconds);
        double gemm = fmax(before, bench_gemm_rate(1000, a->repeat));
        snprintf(name, sizeof name, "dimension, %d thread%s", threads, threads > 1 ? "s" : "");
        if (!status &&
            !bench_add(list, name, seconds, work / seconds, gemm, seconds * gemm / (P * Q * fmin(P, Q))))
            status = EXIT_FAILED;
    }
    free(x);
    return status;
}
