/* The path and exact estimators, beside the plain recursion and DGEMM. */
#include "bench/speed/speed.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static double *features(size_t P, size_t Q, uint64_t seed) {
    kspec_generate_opts o = {.size = sizeof o, .process = KSPEC_PROCESS_RFF, .dim = 5, .seed = seed};
    double *x = malloc(P * Q * sizeof *x);
    if (x && kspec_generate(P, Q, &o, x, NULL)) free(x), x = NULL;
    return x;
}

/* The recursion of the path estimator as it stands in the mathematics, one start row at a time */
static void plain_path(const double *phi, size_t P, size_t Q, int nmax, double *m) {
    double *A = malloc((size_t)nmax * Q * sizeof *A), *R = malloc((size_t)nmax * sizeof *R);
    memset(m, 0, (size_t)nmax * sizeof *m);
    for (size_t h = 0; h < P && A && R; h++) {
        memset(A, 0, (size_t)nmax * Q * sizeof *A);
        memcpy(A, phi + h * Q, Q * sizeof *A);
        for (size_t a = h + 1; a < P; a++) {
            memset(R, 0, (size_t)nmax * sizeof *R);
            for (size_t b = 0; b < Q; b++) {
                double x = phi[a * Q + b];
                for (int n = nmax - 1; n > 0; n--) {
                    double old = A[(size_t)n * Q + b];
                    A[(size_t)n * Q + b] += R[n - 1] * x;
                    R[n] += old * x;
                }
                R[0] += A[b] * x;
            }
        }
        for (int n = 0; n < nmax; n++)
            for (size_t b = 0; b < Q; b++) m[n] += A[(size_t)n * Q + b] * phi[h * Q + b];
    }
    for (int n = 0; n < nmax; n++)
        for (int k = 0; k <= n; k++)
            m[n] *= (k + 1) / (double)(P - (size_t)k) * ((k + 1) / (double)(Q - (size_t)k));
    free(A);
    free(R);
}

typedef struct {
    const char *name;
    unsigned estimator;
    int nmax, threads, error_bars;
} contest;

/*
 * Multiply-adds: of path two per (start row, row after it, column, order); of exact those of the 9 matrix
 * products of the orders up to 4, and nothing else.
 */
static double work(const contest *c, double P, double Q) {
    return c->estimator == KSPEC_ESTIMATOR_PATH ? (c->nmax - 1) * P * (P - 1) * Q : 9 * P * Q * sqrt(P * Q);
}

static double best_time(const contest *c, const kspec_matrix *phi, int repeat, kspec_error *err) {
    double best = INFINITY;
    for (int r = 0; r < repeat; r++) {
        kspec_moments_opts o = {.size = sizeof o,
                                .device = KSPEC_DEVICE_CPU,
                                .nmax = c->nmax,
                                .estimators = c->estimator,
                                .threads = c->threads,
                                .side = KSPEC_SIDE_GIVEN,
                                .no_stderr = !c->error_bars};
        kspec_moments_result *result;
        double t = cli_now();
        if (kspec_moments(phi, 1, &o, &result, err)) return NAN;
        best = fmin(best, cli_now() - t);
        kspec_free(result);
    }
    return best;
}

static int compare(const double *x, size_t P, size_t Q, unsigned estimator, int nmax, int error_bars,
                   const double *want) {
    kspec_matrix phi = {x, P, Q, (ptrdiff_t)Q, 1};
    kspec_moments_opts o = {.size = sizeof o,
                            .device = KSPEC_DEVICE_CPU,
                            .nmax = nmax,
                            .estimators = estimator,
                            .side = KSPEC_SIDE_GIVEN,
                            .no_stderr = !error_bars};
    kspec_moments_result *r;
    kspec_error err;
    int status = EXIT_DONE;
    if (kspec_moments(&phi, 1, &o, &r, &err)) return cli_fail(err.code, &err);
    for (int n = 0; n < nmax && !status; n++)
        if (!(fabs(r->estimates[n]->value - want[n]) <= 1e-9 * fabs(want[n])))
            status = cli_error(EXIT_FAILED, "bench: %s: m(%d) = %.17g, but the plain version gives %.17g",
                               kspec_name(KSPEC_NAMES_ESTIMATOR, estimator), n + 1, r->estimates[n]->value,
                               want[n]);
    kspec_free(r);
    return status;
}

/* The matrix of the plain version */
enum { PLAIN_P = 203, PLAIN_Q = 117 };

/*
 * Before anything is timed, path must agree with its plain version on a smaller matrix, whose rate is a line
 * of the table. On a matrix x y^T every cycle of distinct rows and columns is a product of distinct x_i^2
 * and y_a^2: exact and path then have the same value, and the plain version of path checks exact.
 */
static int verify(unsigned estimator, double *plain_seconds) {
    enum { P = PLAIN_P, Q = PLAIN_Q, N = 8 };
    double *x = features(P, Q, 1), m[N];
    if (!x) return cli_no_memory();
    if (estimator == KSPEC_ESTIMATOR_EXACT)
        for (size_t i = P; i-- > 0;)
            for (size_t a = Q; a-- > 0;) x[i * Q + a] = x[i * Q] * x[a];
    double t = cli_now();
    plain_path(x, P, Q, N, m);
    *plain_seconds = cli_now() - t;
    int nmax = estimator == KSPEC_ESTIMATOR_EXACT ? 4 : N, status = compare(x, P, Q, estimator, nmax, 0, m);
    if (!status) status = compare(x, P, Q, estimator, nmax, 1, m);
    free(x);
    return status;
}

static const contest moments_contests[] = {
    {"path n=8, 1 thread", KSPEC_ESTIMATOR_PATH, 8, 1, 0},
    {"path n=4, 1 thread", KSPEC_ESTIMATOR_PATH, 4, 1, 0},
    {"path n=8, 2 threads", KSPEC_ESTIMATOR_PATH, 8, 2, 0},
    {"path n=8, error bars, 1 thread", KSPEC_ESTIMATOR_PATH, 8, 1, 1},
    {0},
};
static const contest exact_contests[] = {
    {"exact n<=4, 1 thread", KSPEC_ESTIMATOR_EXACT, 4, 1, 0},
    {"exact n<=4, 2 threads", KSPEC_ESTIMATOR_EXACT, 4, 2, 0},
    {"exact n<=4, error bars, 1 thread", KSPEC_ESTIMATOR_EXACT, 4, 1, 1},
    {0},
};

static int run_contests(const bench_args *a, const contest *c, bench_list *list) {
    double P = (double)a->rows, Q = (double)a->cols, plain = NAN;
    kspec_error err;
    int status = verify(c->estimator, &plain);
    if (status) return status;
    double *x = features(a->rows, a->cols, 2);
    if (!x) return cli_error(EXIT_FAILED, "out of memory for a %zu x %zu matrix", a->rows, a->cols);
    kspec_matrix phi = {x, a->rows, a->cols, (ptrdiff_t)a->cols, 1};
    if (c->estimator == KSPEC_ESTIMATOR_PATH) {
        const contest same = {.estimator = KSPEC_ESTIMATOR_PATH, .nmax = 8};
        if (!bench_add(list, "path, the plain version, 203 x 117", plain,
                       work(&same, PLAIN_P, PLAIN_Q) / plain, bench_gemm_rate(1000, 3), NAN))
            status = EXIT_FAILED;
    }
    for (; c->name && !status; c++) {
        /* DGEMM just before and just after, so that a noisy machine is noisy for both */
        double before = bench_gemm_rate(1000, a->repeat), t = best_time(c, &phi, a->repeat, &err);
        double gemm = fmax(before, bench_gemm_rate(1000, a->repeat));
        if (!isfinite(t)) {
            status = cli_fail(err.code, &err);
            break;
        }
        double dgemms = c->estimator == KSPEC_ESTIMATOR_EXACT ? t * gemm / (P * Q * sqrt(P * Q)) : NAN;
        if (!bench_add(list, c->name, t, work(c, P, Q) / t, gemm, dgemms)) status = EXIT_FAILED;
    }
    free(x);
    return status;
}

int bench_moments(const bench_args *a, bench_list *list) { return run_contests(a, moments_contests, list); }
int bench_exact(const bench_args *a, bench_list *list) { return run_contests(a, exact_contests, list); }
