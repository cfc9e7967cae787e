/*
 * Ridge prediction: Newton's method beside the published iteration, and a long path beside DGEMM; on a GPU,
 * beside its DGEMM and beside the processor.
 */
#include "bench/speed/speed.h"
#include "kspec/host.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Normal rows whose columns fall off as 1/sqrt(j), as real ones do; labels by a plane */
static double *rows_of(size_t n, size_t p, uint64_t seed, double *y) {
    double *x = malloc(n * p * sizeof *x);
    if (!x) return NULL;
    kspec_random_normal(seed, 0, 0, n * p, x);
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < p; j++) x[i * p + j] /= sqrt((double)(j + 1));
        y[i] = x[i * p] + x[i * p + p / 2] > 0 ? 1 : -1;
    }
    return x;
}

/*
 * n is appended to a name that ends in '='. `features` is N/n; `points` values of lambda go from 1 to 1e-5;
 * long_path: n = 2P instead of P/2.
 */
typedef struct {
    const char *name;
    double features;
    size_t points;
    kspec_ridge_solver solver;
    int threads, tested, long_path;
} contest;

static const contest contests[] = {
    {"newton, N = n/10, n =", 0.1, 11, KSPEC_RIDGE_SOLVER_NEWTON, 1, 0, 0},
    {"fixed point, the same", 0.1, 11, KSPEC_RIDGE_SOLVER_FIXED_POINT, 1, 0, 0},
    {"newton, 2N = n =", 0.5, 11, KSPEC_RIDGE_SOLVER_NEWTON, 1, 0, 0},
    {"fixed point, the same", 0.5, 11, KSPEC_RIDGE_SOLVER_FIXED_POINT, 1, 0, 0},
    {"newton, N = 4n, n =", 4, 11, KSPEC_RIDGE_SOLVER_NEWTON, 1, 0, 0},
    {"fixed point, the same", 4, 11, KSPEC_RIDGE_SOLVER_FIXED_POINT, 1, 0, 0},
    {"30 lambda, 2N = n =", 0.5, 30, KSPEC_RIDGE_SOLVER_NEWTON, 1, 0, 1},
    {"30 lambda, as many test rows", 0.5, 30, KSPEC_RIDGE_SOLVER_NEWTON, 1, 1, 1},
    {"the same, 2 threads", 0.5, 30, KSPEC_RIDGE_SOLVER_NEWTON, 2, 1, 1},
};

enum { MOST = 30 };

/*
 * Multiply-adds that the calls of BLAS and LAPACK must make, in n^3: a step factors (1/6) and inverts (1/3),
 * and Newton's has one product (1); a point has one factor for the kernel (1/6), and with test rows a product
 * and a symmetric one.
 */
static double work(const contest *c, double n, const kspec_ridge_point *p) {
    double sum = 0;
    for (size_t l = 0; l < c->points; l++)
        sum += 1.0 / 6 + (c->tested ? 1.5 : 0) +
               (c->solver == KSPEC_RIDGE_SOLVER_NEWTON ? 1.5 * p[l].iterations : 0.5 * p[l].iterations + 1);
    return sum * n * n * n;
}

static kspec_status run_contest(const contest *c, size_t n, kspec_device device, int repeat,
                                kspec_ridge_point *p, double *seconds, kspec_device_used *used,
                                kspec_error *err) {
    size_t cols = n;
    double *y = malloc(2 * n * sizeof *y), *x = y ? rows_of(n, cols, 1, y) : NULL;
    double *xt = x ? rows_of(n, cols, 2, y + n) : NULL, lambda[MOST];
    kspec_matrix X = {x, n, cols, (ptrdiff_t)cols, 1}, Y = {y, n, 1, 1, 1};
    kspec_matrix Xt = {xt, n, cols, (ptrdiff_t)cols, 1}, Yt = {y + n, n, 1, 1, 1};
    kspec_ridge_opts o = {.size = sizeof o,
                          .unit_length = 1,
                          .solver = c->solver,
                          .tolerance = 1e-10,
                          .threads = c->threads,
                          .device = device};
    kspec_ridge *r = NULL;
    kspec_status st = KSPEC_E_NOMEM;
    snprintf(err->msg, sizeof err->msg, "out of memory for %zu rows", n);
    if (xt) st = kspec_ridge_open(&X, &Y, c->tested ? &Xt : NULL, c->tested ? &Yt : NULL, &o, &r, err);
    for (size_t l = 0; l < c->points; l++) lambda[l] = pow(10, -5.0 * (double)l / (double)(c->points - 1));
    size_t N = (size_t)(c->features * (double)n + 0.5);
    *seconds = INFINITY;
    for (int k = 0; k < repeat && !st; k++) {
        kspec_ridge_result *out;
        st = kspec_ridge_predict(r, &(size_t){N ? N : 1}, 1, lambda, c->points, &out, err);
        if (st) break;
        *seconds = fmin(*seconds, out->seconds);
        *used = out->device;
        for (size_t l = 0; l < c->points; l++) p[l] = *out->points[l];
        kspec_free(out);
    }
    kspec_ridge_close(r);
    free(x);
    free(xt);
    free(y);
    return st;
}

/*
 * Two solvers, or two devices, solve the same equations; the iteration stops by its residual, Newton's method
 * by its error.
 */
static int agree(const contest *c, const kspec_ridge_point *newton, const kspec_ridge_point *other,
                 const char *whose) {
    for (size_t l = 0; l < c->points; l++)
        if (!(fabs(newton[l].delta_cos / other[l].delta_cos - 1) < 1e-6) ||
            !(fabs(newton[l].train_mse / other[l].train_mse - 1) < 1e-6))
            return cli_error(EXIT_FAILED, "bench: ridge, lambda = %g: newton gives %.12g, %s %.12g",
                             newton[l].lambda, newton[l].train_mse, whose, other[l].train_mse);
    return EXIT_DONE;
}

static void name_contest(const contest *c, size_t n, char name[64]) {
    int numbered = c->name[strlen(c->name) - 1] == '=';
    snprintf(name, 64, numbered ? "%s %zu" : "%s", c->name, n);
}

int bench_ridge(const bench_args *a, bench_list *list) {
    kspec_ridge_point p[2][MOST]; /* of Newton's method, and of what follows it */
    kspec_device_used used;
    kspec_error err = {0};
    for (size_t k = 0; k < sizeof contests / sizeof *contests; k++) {
        const contest *c = &contests[k];
        int fixed = c->solver == KSPEC_RIDGE_SOLVER_FIXED_POINT;
        size_t n = c->long_path ? 2 * a->rows : a->rows / 2;
        double before = bench_gemm_rate(1000, a->repeat), seconds;
        kspec_status st = run_contest(c, n, KSPEC_DEVICE_CPU, fixed || c->long_path ? 1 : a->repeat, p[fixed],
                                      &seconds, &used, &err);
        if (st) return cli_fail(st, &err);
        int status = fixed ? agree(c, p[0], p[1], "the fixed point") : EXIT_DONE;
        if (status) return status;
        double gemm = fmax(before, bench_gemm_rate(1000, a->repeat)),
               cube = (double)n * (double)n * (double)n;
        char name[64];
        name_contest(c, n, name);
        if (!bench_add(list, name, seconds, work(c, (double)n, p[fixed]) / seconds, gemm,
                       seconds * gemm / cube))
            return EXIT_FAILED;
    }
    return EXIT_DONE;
}

/* ---- on a GPU ---- */

int bench_ridge_device(const bench_args *a, char name[144], bench_list *list) {
    static const contest there[] = {
        {"11 lambda, N = n/10, n =", 0.1, 11, KSPEC_RIDGE_SOLVER_NEWTON, 0, 0, 0},
        {"11 lambda, 2N = n =", 0.5, 11, KSPEC_RIDGE_SOLVER_NEWTON, 0, 0, 0},
        {"11 lambda, as many test rows", 0.5, 11, KSPEC_RIDGE_SOLVER_NEWTON, 0, 1, 0},
    };
    const kspec_device gpu = (kspec_device)a->device;
    const int threads = a->common.threads ? a->common.threads : kspec_default_threads();
    const size_t n = a->rows;
    kspec_error err = {0};
    for (size_t k = 0; k < sizeof there / sizeof *there; k++) {
        contest c = there[k];
        kspec_ridge_point p[2][MOST]; /* there and here */
        kspec_device_used used;
        double gemm, seconds, here = NAN;
        char title[64];
        c.threads = a->common.threads;
        kspec_status st = bench_gpu_gemm(gpu, n, &gemm, &err);
        if (!st) st = run_contest(&c, n, gpu, 1 + a->repeat, p[0], &seconds, &used, &err);
        if (st) return cli_fail(st, &err);
        snprintf(name, 144, "%s", used.name);
        name_contest(&c, n, title);
        const double all = work(&c, (double)n, p[0]), cube = (double)n * (double)n * (double)n;
        bench_entry *e = bench_add(list, title, seconds, all / seconds, gemm, seconds * gemm / cube);
        if (!e) return EXIT_FAILED;
        if (all > 20 * 1.5e10 * threads) continue;
        st = run_contest(&c, n, KSPEC_DEVICE_CPU, 1, p[1], &here, &used, &err);
        int status = st ? cli_fail(st, &err) : agree(&c, p[0], p[1], "the processor");
        if (status) return status;
        e->cpu_seconds = here;
        snprintf(e->note, sizeof e->note, "the processor: %.4g s, %.3g times as long", here, here / seconds);
    }
    return EXIT_DONE;
}
