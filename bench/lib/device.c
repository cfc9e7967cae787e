#include "base/clock.h"
#include "base/error.h"
#include "base/memory.h"
#include "bench/lib/rates.h"
#include "device/backend.h"
#include "device/device.h"
#include "linalg/linalg.h"
#include "exact/exact.h"
#include "path/kv.h"
#include "path/naive.h"
#include "path/path.h"
#include "kspec/host.h"

#include <math.h>
#include <stdio.h>

static double gemm_rate(const ks_run *run, size_t n, kspec_error *err) {
    const ks_backend *at = ks_backend_of(run);
    ks_mat *X = NULL, *C = NULL;
    double *host = ks_zalloc(n, sizeof *host), best = 0, last;
    if (!host || at->hold(run, n, n, "DGEMM", &X, err) || at->hold(run, n, n, "DGEMM", &C, err)) {
        at->drop(run, X);
        ks_free(host);
        return NAN;
    }
    for (size_t i = 0; i < n; i++) host[i] = 1 / (double)(i + 1);
    for (size_t i = 0; i < n; i++) at->put(run, at->view(X, i * n), host, n, err);
    const ks_mat_product p = {
        .m = n, .n = n, .k = n, .alpha = 1, .A = X, .lda = n, .B = X, .ldb = n, .C = C, .ldc = n};
    for (int r = 0; r < 4; r++) {
        double t = ks_now();
        if (at->product(run, &p, err) || at->get(run, &last, C, 1, 1, err)) break;
        best = fmax(best, (double)n * (double)n * (double)n / (ks_now() - t));
    }
    at->drop(run, X), at->drop(run, C);
    ks_free(host);
    return best;
}

/* Of products to measure: large enough for the full rate, but for what only tests have */
static size_t gemm_size(double entries) { return entries < 1e5 ? 64 : 8192; }

kspec_status bench_gpu_gemm(kspec_device device, size_t n, double *rate, kspec_error *err) {
    ks_placement place;
    kspec_status st = ks_placement_open(&place, device, err);
    const ks_run run = {.threads = 1, .to = 1, .device = place.device};
    *rate = st ? NAN : gemm_rate(&run, gemm_size((double)n * (double)n), err);
    ks_placement_close(&place);
    return st;
}

static kspec_status once(const ks_run *run, const bench_gpu_contest *c, const ks_pair *p,
                         const ks_moments_out *out, kspec_error *err) {
    if (c->method == KSPEC_ESTIMATOR_PATH) return ks_path(run, p, out, err);
    if (c->method == KSPEC_ESTIMATOR_NAIVE) return ks_naive(run, p, out, err);
    if (c->method == KSPEC_ESTIMATOR_KV_ROW) return ks_kv_row(run, p, out, err);
    ks_exact_plan plan = {.P = p->P, .Q = p->Q, .two = c->two};
    kspec_status st = ks_exact(run, &plan, p, out, err);
    ks_exact_plan_free(&plan);
    return st;
}

/* As a call would: what does not fit the device is in the host's memory. */
static kspec_status fit(ks_placement *place, const bench_gpu_contest *c, size_t P, size_t Q,
                        kspec_error *err) {
    ks_exact_plan plan = {.P = P, .Q = Q, .two = c->two};
    double work;
    size_t bytes;
    if (c->method != KSPEC_ESTIMATOR_EXACT) return KSPEC_OK;
    kspec_status st = ks_exact_cost(&plan, c->nmax, c->error_bars, &work, &bytes, err);
    ks_exact_plan_free(&plan);
    if (!st && bytes > ks_device_available(place->device)) ks_placement_stream(place, bytes);
    return st;
}

static kspec_status measure(ks_placement *place, const bench_gpu_contest *c, const ks_pair *p,
                            const ks_moments_out *gpu, const ks_moments_out *cpu, int repeats, int threads,
                            bench_gpu_result *out, kspec_error *err) {
    ks_device *d = place->device;
    const ks_run there = {.threads = d->streamed ? threads : 1, .to = 1, .device = d},
                 here = {.threads = threads, .to = 1};
    const double P = (double)p->P, Q = (double)p->Q;
    const size_t size = gemm_size(P * Q);
    kspec_status st = KSPEC_OK;
    out->gemm = gemm_rate(&there, size, err);
    out->seconds = INFINITY;
    for (int r = 0; r <= repeats && !st; r++) { /* the first one warms up */
        double t = ks_now();
        d->multiplied = d->copying = 0;
        st = once(&there, c, p, gpu, err);
        t = ks_now() - t;
        if (r && t < out->seconds) out->seconds = t, out->copying = d->copying;
        out->multiply_adds = d->multiplied;
    }
    if (c->method == KSPEC_ESTIMATOR_PATH) out->multiply_adds = (c->nmax - 1) * P * (P - 1) * Q;
    out->gemm = fmax(out->gemm, gemm_rate(&there, size, err));
    double more = c->method == KSPEC_ESTIMATOR_PATH && c->error_bars ? 8 : 1;
    if (st || more * out->multiply_adds > 20 * 1.5e10 * threads) return st;
    double t = ks_now();
    st = ks_blas_enter(threads, err);
    if (!st) {
        st = once(&here, c, p, cpu, err);
        ks_blas_exit();
    }
    out->cpu_seconds = ks_now() - t;
    for (int n = 0; n < c->nmax && !st; n++)
        out->difference = fmax(isnan(out->difference) ? 0 : out->difference, fabs(gpu->m[n] / cpu->m[n] - 1));
    return st;
}

kspec_status bench_gpu(kspec_device device, const bench_gpu_contest *c, size_t P, size_t Q, int repeats,
                       int threads, bench_gpu_result *out, kspec_error *err) {
    ks_arena arena = {0};
    ks_placement place = {0};
    const size_t n = (size_t)c->nmax;
    *out = (bench_gpu_result){.cpu_seconds = NAN, .difference = NAN};
    double *x[2] = {ks_arena_alloc(&arena, ks_size(P, Q), sizeof(double)), NULL};
    if (c->two) x[1] = ks_arena_alloc(&arena, ks_size(P, Q), sizeof(double));
    ks_moments_out to[2] = {{0}};
    for (int k = 0; k < 2; k++) {
        to[k].m = ks_arena_alloc(&arena, n, sizeof(double));
        if (c->error_bars) to[k].rows = ks_arena_alloc(&arena, ks_size(n, P), sizeof(double));
        if (c->error_bars) to[k].cols = ks_arena_alloc(&arena, ks_size(n, Q), sizeof(double));
    }
    kspec_status st = arena.failed ? ks_nomem(err, "the matrix", arena.failed) : KSPEC_OK;
    if (!st) st = ks_placement_open(&place, device, err);
    for (int k = 0; k < 1 + c->two && !st; k++) /* the second trial is near the first */
        kspec_random_normal(1, 5 + (uint64_t)k, 0, P * Q, x[k]);
    for (size_t i = 0; i < P * Q && !st; i++) x[0][i] += 1; /* no moment is near 0 */
    for (size_t i = 0; i < P * Q && c->two && !st; i++) x[1][i] = x[0][i] + 0.1 * x[1][i];
    const ks_pair p = {x[0], c->two ? x[1] : x[0], P, Q, c->nmax};
    if (!st) st = fit(&place, c, P, Q, err);
    if (!st)
        snprintf(out->device, sizeof out->device, "%.100s%s", place.device->name,
                 place.device->streamed ? ", matrices in the host's memory" : "");
    if (!st)
        st = measure(&place, c, &p, &to[0], &to[1], repeats, threads ? threads : kspec_default_threads(), out,
                     err);
    ks_placement_close(&place);
    ks_arena_free(&arena);
    return st;
}
