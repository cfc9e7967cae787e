/*
 * The GPU backend calls the plugin. Each operation is short. Between operations the library reports progress,
 * and the caller may cancel.
 */
#include "base/clock.h"
#include "base/error.h"
#include "base/memory.h"
#include "device/device.h"
#include "device/gpu.h"
#include "team/team.h"

#include <string.h>

static int suits(const ks_run *run, ks_holding how, double work) {
    (void)how, (void)work;
    return run->device != NULL;
}

kspec_status ks_gpu_hold(const ks_run *run, size_t count, const char *what, double **out, kspec_error *err) {
    ks_device *d = run->device;
    void *p = NULL;
    ks_plugin_status st = d->plugin->alloc(d->gpu, ks_size(count, sizeof(double)), &p);
    *out = p;
    return ks_device_status(d, st, what, err);
}

void ks_gpu_drop(const ks_run *run, double *p) {
    if (p) run->device->plugin->release(run->device->gpu, p);
}

static kspec_status hold(const ks_run *run, size_t rows, size_t cols, const char *what, ks_mat **out,
                         kspec_error *err) {
    double *p;
    kspec_status st = ks_gpu_hold(run, ks_size(rows, cols), what, &p, err);
    *out = ks_mat_of(p);
    return st;
}

static void drop(const ks_run *run, ks_mat *p) { ks_gpu_drop(run, ks_mat_address(p)); }

static kspec_status copy_in(const ks_run *run, const double *host, size_t rows, size_t cols, const char *what,
                            const ks_mat **out, kspec_error *err) {
    ks_device *d = run->device;
    double *p;
    *out = ks_device_has(d, host) ? ks_mat_of(host) : NULL;
    if (*out) return KSPEC_OK;
    kspec_status st = ks_gpu_hold(run, ks_size(rows, cols), what, &p, err);
    if (st) return st;
    const double start = ks_now();
    st = ks_device_status(d, d->plugin->put(d->gpu, p, host, rows * cols), what, err);
    d->copying += ks_now() - start;
    if (st)
        ks_gpu_drop(run, p);
    else
        *out = ks_mat_of(p);
    return st;
}

static void release(const ks_run *run, const ks_mat *p) {
    if (!ks_device_has(run->device, ks_mat_address(p))) ks_gpu_drop(run, ks_mat_address(p));
}

static kspec_status put(const ks_run *run, ks_mat *to, const double *from, size_t count, kspec_error *err) {
    ks_device *d = run->device;
    return ks_device_status(d, d->plugin->put(d->gpu, ks_mat_address(to), from, count), "copying", err);
}

static kspec_status get(const ks_run *run, double *to, const ks_mat *from, size_t count, size_t step,
                        kspec_error *err) {
    ks_device *d = run->device;
    return ks_device_status(d, d->plugin->get(d->gpu, to, ks_mat_address(from), count, step), "copying", err);
}

static kspec_status diagonal(const ks_run *run, double *to, const ks_mat *from, size_t n, kspec_error *err) {
    return get(run, to, from, n, n + 1, err);
}

static kspec_status cancelled(kspec_error *err) { return ks_fail(err, KSPEC_E_CANCELLED, "cancelled"); }

kspec_status ks_gpu_product(const ks_run *run, const ks_matmul *p, kspec_error *err) {
    ks_device *d = run->device;
    if (ks_run_report(run, 0)) return cancelled(err);
    d->multiplied += (double)p->m * (double)p->n * (double)p->k * (p->symmetric ? 0.5 : 1);
    return ks_device_status(d, d->plugin->product(d->gpu, p), "a product", err);
}

static kspec_status product(const ks_run *run, const ks_mat_product *p, kspec_error *err) {
    const ks_matmul plain = ks_mat_plain(p);
    return ks_gpu_product(run, &plain, err);
}

kspec_status ks_gpu_expression(const ks_run *run, const ks_expression *e, ks_tile_result what, double *out,
                               kspec_error *err) {
    ks_device *d = run->device;
    if (ks_run_report(run, 0)) return cancelled(err);
    return ks_device_status(d, d->plugin->expression(d->gpu, e, what, out), "an expression", err);
}

static kspec_status expression(const ks_run *run, const ks_mat_expression *of, ks_tile_result what,
                               ks_mat *out, double *sums, kspec_error *err) {
    const ks_expression e = ks_mat_plain_expression(of);
    return ks_gpu_expression(run, &e, what, out ? ks_mat_address(out) : sums, err);
}

static kspec_status symmetrise(const ks_run *run, size_t n, ks_mat *X, kspec_error *err) {
    ks_device *d = run->device;
    return ks_device_status(d, d->plugin->symmetrise(d->gpu, n, ks_mat_address(X)), "an expression", err);
}

static kspec_status triangle(const ks_run *run, size_t n, ks_mat *X, kspec_error *err) {
    /* Row i of the triangle starts so that it has n-1-i ones, in a line of n zeros followed by n ones. */
    double *line = ks_zalloc(n, 2 * sizeof *line);
    kspec_status st = line ? KSPEC_OK : ks_nomem(err, "a triangle", ks_size(n, 2 * sizeof *line));
    for (size_t i = 0; i < n && !st; i++) line[n + i] = 1;
    for (size_t i = 0; i < n && !st; i++) st = put(run, ks_mat_view(X, i * n), line + n - 1 - i, n, err);
    ks_free(line);
    return st;
}

const ks_backend ks_gpu_backend = {KS_BACKEND_OF_ADDRESSES};

int ks_device_has_path(const ks_run *run, int nmax, int loo) {
    const ks_device *d = run->device;
    return d && nmax <= (loo ? d->plugin->path_loo_orders : d->plugin->path_orders);
}

static int report(void *ctx, double fraction) { return ks_run_report(ctx, fraction); }

size_t ks_device_path_parts(const ks_run *run, const ks_path_job *job) {
    const ks_device *d = run->device;
    if (job->rows) return d->plugin->path_parts(d->gpu, job);
    return job->P < KS_PARTS ? job->P : KS_PARTS;
}

static kspec_status path_parts(void *ctx, const ks_run *run, const size_t *list, size_t count,
                               kspec_error *err) {
    ks_device *d = run->device;
    ks_path_job job = *(const ks_path_job *)ctx;
    ks_run own = *run;
    const ks_plugin_progress progress = {report, &own};
    if (count == 0) return KSPEC_OK;
    job.part.list = list, job.part.count = count;
    return ks_device_status(d, d->plugin->path(d->gpu, &job, &progress), "path", err);
}

kspec_status ks_device_path(const ks_run *run, const ks_path_job *job, kspec_error *err) {
    ks_path_job on_device = *job;
    const size_t parts = job->part.parts, n = (size_t)job->nmax * sizeof(double);
    const ks_share shares[] = {
        {job->sums, n, job->P, 0}, {job->rows, n * job->P, parts, 1}, {job->cols, n * job->Q, parts, 1}};
    const ks_mat *A = NULL, *B = NULL;
    kspec_status st = copy_in(run, job->A, job->P, job->Q, "path", &A, err);
    if (!st && job->B != job->A) st = copy_in(run, job->B, job->P, job->Q, "path", &B, err);
    on_device.A = ks_mat_address(A), on_device.B = B ? ks_mat_address(B) : on_device.A;
    if (!st)
        st = ks_team_for_all(run, job->rows ? "pathbarsgpu" : "pathgpu", parts, path_parts, &on_device,
                             shares, job->rows ? 3 : 1, err);
    release(run, B);
    release(run, A);
    return st;
}

/* ---- Gram products ---- */

enum { GRAM_PARTS = 16 };

typedef struct {
    const ks_run *run;
    const ks_gram_job *job;
    const double *x;
    double *y; /* The sum of all parts, or one vector for each part. */
} gram_product;

static kspec_status gram_parts(const gram_product *g, const size_t *list, size_t count, size_t stride,
                               kspec_error *err) {
    ks_device *d = g->run->device;
    ks_gram_job job = *g->job;
    ks_run own = *g->run;
    const ks_plugin_progress progress = {report, &own};
    job.part = (ks_parts){GRAM_PARTS, list, count};
    job.stride = stride;
    double *y = g->y + (list ? list[0] * job.n : 0);
    return ks_device_status(d, d->plugin->gram_times(d->gpu, &job, g->x, y, &progress),
                            "a product with the Gram matrix", err);
}

/*
 * Part p belongs to rank p modulo the number of ranks. The chunk of a rank's first part computes all its
 * parts.
 */
static kspec_status gram_chunk(void *ctx, size_t part, const ks_worker *worker) {
    const gram_product *g = ctx;
    const size_t ranks = (size_t)ks_team_ranks(g->run);
    size_t list[GRAM_PARTS], count = 0;
    if (part >= ranks) return KSPEC_OK;
    for (size_t k = part; k < GRAM_PARTS; k += ranks) list[count++] = k;
    return gram_parts(g, list, count, ranks * g->job->n, worker->err);
}

kspec_status ks_device_gram_times(const ks_run *run, const ks_gram_job *job, const double *x, double *y,
                                  kspec_error *err) {
    const size_t n = job->n;
    gram_product g = {run, job, x, y};
    if (ks_team_ranks(run) == 1) return gram_parts(&g, NULL, 0, 0, err);
    g.y = ks_alloc(ks_size(GRAM_PARTS, n), sizeof *y);
    if (!g.y)
        return ks_nomem(err, "a product with the Gram matrix", ks_size(ks_size(GRAM_PARTS, n), sizeof *y));
    ks_run one = *run;
    one.threads = 1; /* the device's thread */
    memset(y, 0, n * sizeof *y);
    kspec_status st = ks_team_sum(&one, "gramgpu", GRAM_PARTS, gram_chunk, &g, g.y, n, n, y, err);
    ks_free(g.y);
    return st;
}

kspec_status ks_device_cosines(const ks_run *run, size_t rows, size_t cols, const ks_mat *b, double scale,
                               ks_mat *Z, kspec_error *err) {
    ks_device *d = run->device;
    if (ks_run_report(run, 0)) return cancelled(err);
    return ks_device_status(
        d, d->plugin->cosines(d->gpu, rows, cols, ks_mat_address(b), scale, ks_mat_address(Z)), "features",
        err);
}
