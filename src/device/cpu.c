/* The processor: memory is the host's, products are the BLAS's, expressions go by tiles. */
#include "base/error.h"
#include "base/memory.h"
#include "device/backend.h"
#include "device/device.h"
#include "device/resident.h"
#include "device/tile.h"
#include "linalg/linalg.h"

#include <string.h>

static kspec_status hold(const ks_run *run, size_t rows, size_t cols, const char *what, double **out,
                         kspec_error *err) {
    (void)run;
    const size_t count = ks_size(rows, cols);
    *out = ks_alloc(count, sizeof **out);
    return *out ? KSPEC_OK : ks_nomem(err, what, ks_size(count, sizeof **out));
}

static void drop(const ks_run *run, double *p) {
    (void)run;
    ks_free(p);
}

static kspec_status bring(const ks_run *run, const double *host, size_t rows, size_t cols, const char *what,
                          const double **out, kspec_error *err) {
    (void)run, (void)rows, (void)cols, (void)what, (void)err;
    *out = host;
    return KSPEC_OK;
}

static void leave(const ks_run *run, const double *p) { (void)run, (void)p; }

static kspec_status put(const ks_run *run, double *to, const double *from, size_t count, kspec_error *err) {
    (void)run, (void)err;
    memcpy(to, from, count * sizeof *to);
    return KSPEC_OK;
}

static kspec_status get(const ks_run *run, double *to, const double *from, size_t count, size_t step,
                        kspec_error *err) {
    (void)run, (void)err;
    for (size_t i = 0; i < count; i++) to[i] = from[i * step];
    return KSPEC_OK;
}

static kspec_status diagonal(const ks_run *run, double *to, const double *from, size_t n, kspec_error *err) {
    return get(run, to, from, n, n + 1, err);
}

static kspec_status product(const ks_run *run, const ks_matmul *p, kspec_error *err) {
    if (p->symmetric && p->beta == 0)
        return ks_gemm_symmetric_tiled(run, p->ta, p->tb, p->n, p->k, p->alpha, p->A, p->lda, p->B, p->ldb,
                                       p->C, p->ldc, err);
    return ks_gemm_tiled(run, p->ta, p->tb, p->m, p->n, p->k, p->alpha, p->A, p->lda, p->B, p->ldb, p->beta,
                         p->C, p->ldc, err);
}

static kspec_status triangle(const ks_run *run, size_t n, double *X, kspec_error *err) {
    (void)run, (void)err;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) X[i * n + j] = i < j;
    return KSPEC_OK;
}

const ks_backend ks_cpu_backend = {.hold = hold,
                                   .drop = drop,
                                   .bring = bring,
                                   .leave = leave,
                                   .diagonal = diagonal,
                                   .put = put,
                                   .get = get,
                                   .product = product,
                                   .expression = ks_tile_run,
                                   .symmetrise = ks_tile_symmetrise,
                                   .triangle = triangle};

const ks_backend *ks_backend_of(const ks_run *run) { return run->device ? &ks_gpu_backend : &ks_cpu_backend; }

const ks_backend *ks_backend_alone(const ks_run *run) {
    return run->device && run->device->streamed ? &ks_resident_backend : ks_backend_of(run);
}

double ks_ranks_least = 1e8;

const ks_backend *ks_backend_for(const ks_run *run, size_t P, size_t Q) {
    const double work = (double)P * (double)Q * (double)(P > Q ? P : Q);
    return run->team && !run->device && work >= ks_ranks_least ? &ks_ranks_backend : ks_backend_alone(run);
}
