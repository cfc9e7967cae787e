/*
 * A GPU, through its plugin. Operations are short; between them the caller may cancel, and is told how far
 * the work is.
 */
#include "base/clock.h"
#include "base/error.h"
#include "base/memory.h"
#include "device/backend.h"
#include "device/device.h"

static kspec_status hold(const ks_run *run, size_t rows, size_t cols, const char *what, double **out,
                         kspec_error *err) {
    ks_device *d = run->device;
    void *p = NULL;
    ks_plugin_status st = d->plugin->alloc(d->gpu, ks_size(ks_size(rows, cols), sizeof(double)), &p);
    *out = p;
    return ks_device_status(d, st, what, err);
}

static void drop(const ks_run *run, double *p) {
    if (p) run->device->plugin->release(run->device->gpu, p);
}

static kspec_status bring(const ks_run *run, const double *host, size_t rows, size_t cols, const char *what,
                          const double **out, kspec_error *err) {
    ks_device *d = run->device;
    double *p;
    *out = ks_device_has(d, host) ? host : NULL;
    if (*out) return KSPEC_OK;
    kspec_status st = hold(run, rows, cols, what, &p, err);
    if (st) return st;
    const double start = ks_now();
    st = ks_device_status(d, d->plugin->put(d->gpu, p, host, rows * cols), what, err);
    d->copying += ks_now() - start;
    if (st)
        drop(run, p);
    else
        *out = p;
    return st;
}

static void leave(const ks_run *run, const double *p) {
    if (p && !ks_device_has(run->device, p)) run->device->plugin->release(run->device->gpu, (void *)p);
}

static kspec_status put(const ks_run *run, double *to, const double *from, size_t count, kspec_error *err) {
    ks_device *d = run->device;
    return ks_device_status(d, d->plugin->put(d->gpu, to, from, count), "copying", err);
}

static kspec_status get(const ks_run *run, double *to, const double *from, size_t count, size_t step,
                        kspec_error *err) {
    ks_device *d = run->device;
    return ks_device_status(d, d->plugin->get(d->gpu, to, from, count, step), "copying", err);
}

static kspec_status diagonal(const ks_run *run, double *to, const double *from, size_t n, kspec_error *err) {
    return get(run, to, from, n, n + 1, err);
}

static kspec_status cancelled(kspec_error *err) { return ks_fail(err, KSPEC_E_CANCELLED, "cancelled"); }

static kspec_status product(const ks_run *run, const ks_matmul *p, kspec_error *err) {
    ks_device *d = run->device;
    if (ks_run_report(run, 0)) return cancelled(err);
    d->multiplied += (double)p->m * (double)p->n * (double)p->k * (p->symmetric ? 0.5 : 1);
    return ks_device_status(d, d->plugin->product(d->gpu, p), "a product", err);
}

static kspec_status expression(const ks_run *run, const ks_expression *e, ks_tile_result what, double *out,
                               kspec_error *err) {
    ks_device *d = run->device;
    if (ks_run_report(run, 0)) return cancelled(err);
    return ks_device_status(d, d->plugin->expression(d->gpu, e, what, out), "an expression", err);
}

static kspec_status symmetrise(const ks_run *run, size_t n, double *X, kspec_error *err) {
    ks_device *d = run->device;
    return ks_device_status(d, d->plugin->symmetrise(d->gpu, n, X), "an expression", err);
}

static kspec_status triangle(const ks_run *run, size_t n, double *X, kspec_error *err) {
    double *line = ks_zalloc(n, 2 * sizeof *line); /* zeros and ones, of which row i has n-1-i */
    kspec_status st = line ? KSPEC_OK : ks_nomem(err, "a triangle", ks_size(n, 2 * sizeof *line));
    for (size_t i = 0; i < n && !st; i++) line[n + i] = 1;
    for (size_t i = 0; i < n && !st; i++) st = put(run, X + i * n, line + n - 1 - i, n, err);
    ks_free(line);
    return st;
}

const ks_backend ks_gpu_backend = {.hold = hold,
                                   .drop = drop,
                                   .bring = bring,
                                   .leave = leave,
                                   .diagonal = diagonal,
                                   .put = put,
                                   .get = get,
                                   .product = product,
                                   .expression = expression,
                                   .symmetrise = symmetrise,
                                   .triangle = triangle};

int ks_device_has_path(const ks_run *run, int nmax, int loo) {
    const ks_device *d = run->device;
    return d && nmax <= (loo ? d->plugin->path_loo_orders : d->plugin->path_orders);
}

static int report(void *ctx, double fraction) { return ks_run_report(ctx, fraction); }

kspec_status ks_device_path(const ks_run *run, const ks_path_job *job, kspec_error *err) {
    ks_device *d = run->device;
    ks_path_job there = *job;
    ks_run own = *run;
    const ks_plugin_progress progress = {report, &own};
    kspec_status st = bring(run, job->A, job->P, job->Q, "path", &there.A, err);
    there.B = there.A;
    if (!st && job->B != job->A) st = bring(run, job->B, job->P, job->Q, "path", &there.B, err);
    if (!st) st = ks_device_status(d, d->plugin->path(d->gpu, &there, &progress), "path", err);
    if (there.B != there.A && there.B != job->B) leave(run, there.B);
    if (there.A != job->A) leave(run, there.A);
    return st;
}

kspec_status ks_device_gram_times(const ks_run *run, const ks_gram_job *job, const double *x, double *y,
                                  kspec_error *err) {
    ks_device *d = run->device;
    ks_run own = *run;
    const ks_plugin_progress progress = {report, &own};
    ks_plugin_status st = d->plugin->gram_times(d->gpu, job, x, y, &progress);
    return ks_device_status(d, st, "a product with the Gram matrix", err);
}

kspec_status ks_device_cosines(const ks_run *run, size_t rows, size_t cols, const double *b, double scale,
                               double *Z, kspec_error *err) {
    ks_device *d = run->device;
    if (ks_run_report(run, 0)) return cancelled(err);
    return ks_device_status(d, d->plugin->cosines(d->gpu, rows, cols, b, scale, Z), "features", err);
}
