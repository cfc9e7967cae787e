/* Ridge prediction on a GPU: factors and inverses beside their definitions, calls beside the processor's. */
#include "device/cholesky.h"
#include "help/bed_faults.h"
#include "help/ridge.h"
#include "ridge/predict.h"
#include "ridge/device.h"

#include <float.h>

/* ---- Cholesky ---- */

/* exp(-(x_i - x_j)^2) of n points, nearly singular, and `ridge` on its diagonal */
static double *kernel_matrix(size_t n, double ridge) {
    double *x = matrix(n, n, 1), *A = malloc(n * n * sizeof *A);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) A[i * n + j] = exp(-(x[i] - x[j]) * (x[i] - x[j])) + (i == j) * ridge;
    free(x);
    return A;
}

/* The factor of A there, with its diagonal; and, unless W is NULL, W = U^-T */
static void factor_on_device(const bed *b, size_t n, const double *A, double *U, double *diagonal,
                             double *W) {
    const ks_backend *at = &ks_gpu_backend;
    const ks_mat *there;
    ks_mat *inverse;
    kspec_error err;
    CHECK(at->copy_in(&b->run, A, n, n, "A", &there, &err) == KSPEC_OK);
    CHECK(at->hold(&b->run, n, n, "W", &inverse, &err) == KSPEC_OK);
    CHECK_MSG(ks_device_factor(&b->run, n, (ks_mat *)there, diagonal, &err) == KSPEC_OK, "%s", err.msg);
    CHECK(at->get(&b->run, U, there, n * n, 1, &err) == KSPEC_OK);
    if (W) CHECK(ks_device_triangle(&b->run, n, there, inverse, &err) == KSPEC_OK);
    if (W) CHECK(at->get(&b->run, W, inverse, n * n, 1, &err) == KSPEC_OK);
    at->drop(&b->run, inverse);
    at->release(&b->run, there);
}

/* Rounding errors as LAPACK's are: |U^T U - A| <= n eps |U^T| |U|, |U^T W - I| <= n eps |U^T| |W| */
static void check_factor(const bed *b, size_t n, double ridge) {
    double *A = kernel_matrix(n, ridge), *U = malloc(2 * n * n * sizeof *U), *W = U + n * n;
    double *diagonal = malloc(n * sizeof *diagonal);
    factor_on_device(b, n, A, U, diagonal, W);
    for (size_t i = 0; i < n; i++) {
        CHECK(diagonal[i] == U[i * n + i]);
        for (size_t j = 0; j < n; j++) {
            long double square = 0, size = 0, one = 0, grown = 0;
            for (size_t k = 0; k <= i; k++) {
                const long double u = U[k * n + i], v = k <= j ? U[k * n + j] : 0, w = W[k * n + j];
                square += u * v, size += fabsl(u * v);
                one += u * w, grown += fabsl(u * w);
            }
            const long double bound = 2 * (long double)(n + 4) * DBL_EPSILON;
            CHECK_MSG(fabsl(square - A[i * n + j]) <= bound * size, "n %zu: A[%zu,%zu] is off by %Lg of %Lg",
                      n, i, j, square - A[i * n + j], size);
            CHECK_MSG(fabsl(one - (i == j)) <= bound * grown, "n %zu: I[%zu,%zu] is off by %Lg of %Lg", n, i,
                      j, one - (i == j), grown);
            if (j > i) CHECK(W[i * n + j] == 0);
        }
    }
    free(A), free(U), free(diagonal);
}

/* Where the leading block is not positive definite, the diagonal is NaN from that row on */
static void check_bad_pivot(const bed *b, size_t n, size_t bad) {
    double *A = kernel_matrix(n, 1), *U = malloc(n * n * sizeof *U), *diagonal = malloc(n * sizeof *diagonal);
    A[bad * n + bad] = -1e-3;
    factor_on_device(b, n, A, U, diagonal, NULL);
    for (size_t i = 0; i < n; i++)
        CHECK_MSG(i < bad ? diagonal[i] > 0 : isnan(diagonal[i]), "n %zu, row %zu of %zu: %g", n, i, bad,
                  diagonal[i]);
    free(A), free(U), free(diagonal);
}

TEST(factors) {
    bed b;
    if (!make_bed(&b)) SKIP("no GPU; nothing can be done");
    static const size_t sizes[] = {1, 2, 63, 64, 65, 128, 129, 190, 193, 257};
    for (size_t k = 0; k < (tiny ? 6 : sizeof sizes / sizeof *sizes); k++) {
        check_factor(&b, sizes[k], 1);
        check_factor(&b, sizes[k], 1e-9); /* condition number 1e11 */
        check_bad_pivot(&b, sizes[k], sizes[k] / 2);
        check_bad_pivot(&b, sizes[k], sizes[k] - 1);
    }
    if (!is_small(&b)) check_factor(&b, 1500, 1e-9);
    ks_placement_close(&b.place);
}

/* ---- calls ---- */

static kspec_ridge *open_on(const problem *q, size_t m, kspec_device device) {
    const size_t rows[2] = {q->n, q->nt};
    kspec_matrix X = view(q->X, q->n, q->p), Xt = view(q->Xt, q->nt, q->p), Y[2];
    double *y[2] = {malloc(q->n * m * sizeof(double)), malloc(q->nt * m * sizeof(double) + 8)};
    const kspec_ridge_opts o = {.size = sizeof o, .device = device, .threads = 2};
    kspec_ridge *r = NULL;
    kspec_error err;
    for (int s = 0; s < 2; s++) { /* other targets are sines of the first coordinate */
        for (size_t i = 0; i < rows[s] * m; i++)
            y[s][i] =
                i % m ? sin((double)(i % m) * (s ? q->Xt : q->X)[i / m * q->p]) : (s ? q->yt : q->y)[i / m];
        Y[s] = view(y[s], rows[s], m);
    }
    kspec_status st = kspec_ridge_open(&X, &Y[0], q->nt ? &Xt : NULL, q->nt ? &Y[1] : NULL, &o, &r, &err);
    CHECK_MSG(st == KSPEC_OK, "%s", err.msg);
    free(y[0]), free(y[1]);
    return r;
}

static void near(double x, double y, double tolerance, const char *what, size_t n) {
    CHECK_MSG((isnan(x) && isnan(y)) || x == y || fabs(x - y) <= tolerance * fabs(y),
              "n %zu: %s %.17g, %.17g", n, what, x, y);
}

/* tolerance 0: the same bits */
static void same_points(const kspec_ridge_result *a, const kspec_ridge_result *b, size_t n,
                        double tolerance) {
    CHECK(a->count == b->count && a->targets == b->targets);
    CHECK(a->at_low == b->at_low && a->at_high == b->at_high);
    for (size_t k = 0; k < a->count; k++) {
        const kspec_ridge_point *x = a->points[k], *y = b->points[k];
        CHECK(x->N == y->N && x->state == y->state);
        near(x->lambda, y->lambda, 1e6 * tolerance, "lambda", n); /* a search's */
        near(x->theta_cos, y->theta_cos, tolerance, "theta_cos", n);
        near(x->theta_sin, y->theta_sin, tolerance, "theta_sin", n);
        near(x->kernel_train_mse, y->kernel_train_mse, tolerance, "kernel_train_mse", n);
        near(x->kernel_test_mse, y->kernel_test_mse, tolerance, "kernel_test_mse", n);
        for (size_t j = 0; j < a->targets; j++) {
            near(x->train_columns[j], y->train_columns[j], tolerance, "train_mse", n);
            near(x->test_columns[j], y->test_columns[j], tolerance, "test_mse", n);
        }
    }
}

static void compare_calls(size_t n, size_t nt, size_t m) {
    static const double lambda[] = {1, 0, 1e-4};
    problem q = make_problem(n, n, nt, n < 20 ? 5 : 30);
    kspec_ridge *cpu = open_on(&q, m, KSPEC_DEVICE_CPU), *gpu = open_on(&q, m, KSPEC_DEVICE_GPU);
    const size_t features[] = {n / 5 + 1, 2 * n};
    for (int k = 0; k < 2; k++) {
        kspec_ridge_result *here, *there, *again;
        kspec_error err;
        CHECK_MSG(kspec_ridge_predict(cpu, &features[k], 1, lambda, 3, &here, &err) == KSPEC_OK, "%s",
                  err.msg);
        CHECK_MSG(kspec_ridge_predict(gpu, &features[k], 1, lambda, 3, &there, &err) == KSPEC_OK, "%s",
                  err.msg);
        CHECK(kspec_ridge_predict(gpu, &features[k], 1, lambda, 3, &again, &err) == KSPEC_OK);
        CHECK(strcmp(here->device.name, "cpu") == 0 && strncmp(there->device.name, "gpu:0 ", 6) == 0);
        CHECK(strcmp(there->device.why, "asked for") == 0 && !there->device.unusable);
        same_points(there, here, n, 1e-8);
        same_points(again, there, n, 0);
        kspec_free(here), kspec_free(there), kspec_free(again);
    }
    kspec_ridge_close(cpu), kspec_ridge_close(gpu);
    free_problem(&q);
}

TEST(calls) {
    bed b;
    if (!make_bed(&b)) SKIP("no GPU; nothing can be done");
    const int small = is_small(&b);
    ks_placement_close(&b.place);
    compare_calls(9, 0, 1);
    compare_calls(70, 33, 3);
    if (!tiny) compare_calls(131, 140, 1);
    if (!small) compare_calls(1400, 1200, 2);
}

TEST(searches) {
    bed b;
    if (!make_bed(&b)) SKIP("no GPU; nothing can be done");
    ks_placement_close(&b.place);
    problem q = make_problem(8, 40, 30, 6);
    kspec_ridge *r[2] = {open_on(&q, 1, KSPEC_DEVICE_CPU), open_on(&q, 1, KSPEC_DEVICE_GPU)};
    kspec_ridge_result *lambda[2], *features[2];
    kspec_error err;
    for (int k = 0; k < 2; k++) {
        CHECK_MSG(kspec_ridge_best_lambda(r[k], 15, 1e-4, 10, &lambda[k], &err) == KSPEC_OK, "%s", err.msg);
        CHECK(kspec_ridge_best_features(r[k], 1e-2, kspec_ridge_cost(r[k], 30), &features[k], &err) ==
              KSPEC_OK);
        CHECK(strncmp(lambda[k]->device.name, k ? "gpu:0 " : "cpu", 3) == 0);
    }
    same_points(lambda[1], lambda[0], q.n, 1e-8);
    same_points(features[1], features[0], q.n, 1e-8);
    for (int k = 0; k < 2; k++) {
        kspec_free(lambda[k]), kspec_free(features[k]);
        kspec_ridge_close(r[k]);
    }
    free_problem(&q);
}

/* The message of a matrix that is not positive definite names the row, as the processor's does */
TEST(repeated_rows) {
    bed b;
    if (!make_bed(&b)) SKIP("no GPU; nothing can be done");
    ks_placement_close(&b.place);
    problem q = make_problem(5, 80, 0, 40);
    memcpy(q.X + 71 * q.p, q.X + 3 * q.p, q.p * sizeof *q.X);
    kspec_ridge *r = open_on(&q, 1, KSPEC_DEVICE_GPU);
    kspec_ridge_result *out;
    kspec_error err;
    const double lambda = 0;
    CHECK(kspec_ridge_predict(r, &(size_t){200}, 1, &lambda, 1, &out, &err) == KSPEC_E_NUMERIC && !out);
    CHECK_MSG(strstr(err.msg, "row 71 (from 0) repeats"), "%s", err.msg);
    kspec_ridge_close(r);
    free_problem(&q);
}

/* ---- failures ---- */

/* One point with matrices there, as a call makes it */
static kspec_status one_point(void *ctx, const ks_run *run, kspec_error *err) {
    kspec_ridge *r = ctx;
    double columns[2];
    kspec_ridge_point p = {.train_columns = columns, .test_columns = columns + 1};
    ks_ridge_solved solved[1];
    ks_ridge_device there;
    size_t count = 0;
    kspec_status st = ks_ridge_device_open(&there, r, run, err);
    if (!st) st = ks_ridge_point(r, run, 30, 0.1, solved, &count, &p, err);
    ks_ridge_device_close(r, run);
    return st;
}

TEST(failing) {
    bed b;
    if (!make_bed(&b)) SKIP("no GPU; nothing can be done");
    problem q = make_problem(11, 70, 20, 8);
    failing_alloc_install();
    kspec_ridge *r = open_on(&q, 1, KSPEC_DEVICE_CPU);
    for (int device = 0; device < 2; device++) {
        const long k = bed_failing(&b, device, one_point, r);
        CHECK_MSG(k > (device ? 10 : 4) && k <= 1000, "%ld allocations", k);
    }
    kspec_ridge_close(r);
    failing_alloc_uninstall();
    r = open_on(&q, 1, KSPEC_DEVICE_CPU);
    const long at = bed_cancelling(&b, one_point, r, 1000);
    CHECK(at > 50 && at < 1000);
    kspec_ridge_close(r);
    free_problem(&q);
    ks_placement_close(&b.place);
}

/* AUTO: where the GPU fails in the middle, the processor's numbers, and the reason; by name it is an error */
TEST(retreat) {
    problem q = make_problem(13, 700, 0, 4);
    enum { L = 24 };
    double lambda[L];
    for (int l = 0; l < L; l++) lambda[l] = pow(10, -l / 8.0);
    kspec_ridge_opts o = {.size = sizeof o, .threads = 1};
    kspec_ridge *r[3];
    kspec_ridge_result *out[2];
    kspec_error err;
    setenv("PLAIN_PLUGIN", "small", 1);
    setenv("KSPEC_THREADS", "1", 1); /* so that little work is enough for a GPU */
    for (int k = 0; k < 3; k++) {
        o.device = k == 0 ? KSPEC_DEVICE_AUTO : k == 1 ? KSPEC_DEVICE_CPU : KSPEC_DEVICE_GPU;
        r[k] = open_problem(&q, &o);
        if (k < 2)
            CHECK_MSG(kspec_ridge_predict(r[k], &(size_t){90}, 1, lambda, L, &out[k], &err) == KSPEC_OK, "%s",
                      err.msg);
    }
    CHECK(strcmp(out[0]->device.name, "cpu") == 0 && out[0]->device.unusable);
    CHECK_MSG(strstr(out[0]->device.why, "out of memory"), "%s", out[0]->device.why);
    CHECK(!out[1]->device.unusable && strcmp(out[1]->device.why, "asked for") == 0);
    same_points(out[0], out[1], q.n, 0);
    kspec_free(out[0]), kspec_free(out[1]);
    CHECK(kspec_ridge_predict(r[2], &(size_t){90}, 1, lambda, 1, &out[0], &err) == KSPEC_E_NOMEM && !out[0]);
    CHECK_MSG(strncmp(err.msg, "gpu:0 Plain 0: the targets: out of memory", 41) == 0, "%s", err.msg);
    /* a little work stays on the processor without a word */
    CHECK(kspec_ridge_predict(r[0], &(size_t){90}, 1, lambda, 1, &out[0], &err) == KSPEC_OK);
    CHECK(!out[0]->device.unusable && strstr(out[0]->device.why, "small"));
    kspec_free(out[0]);
    for (int k = 0; k < 3; k++) kspec_ridge_close(r[k]);
    setenv("PLAIN_PLUGIN", "broken", 1);
    o.device = KSPEC_DEVICE_GPU;
    const kspec_matrix X = view(q.X, q.n, q.p), y = view(q.y, q.n, 1);
    CHECK(kspec_ridge_open(&X, &y, NULL, NULL, &o, &r[0], &err) == KSPEC_E_ARG && !r[0]);
    CHECK_MSG(strstr(err.msg, "no GPU can be used: gpu:0"), "%s", err.msg);
    unsetenv("KSPEC_THREADS");
    unsetenv("PLAIN_PLUGIN");
    free_problem(&q);
}

static void all(void) {
    bed b;
    if (!make_bed(&b)) return;
    const int plain = is_plain(&b);
    ks_placement_close(&b.place);
    RUN(factors);
    RUN(calls);
    if (tiny) return;
    RUN(searches);
    RUN(repeated_rows);
    if (!small_only || SANITIZED) RUN(failing);
    if (plain) RUN(retreat);
}

int main(int argc, char **argv) { return bed_main(argc, argv, NULL, all); }
