/* Products and eigenproblems of matrices in host memory, on the run's device or CPU. */
#include "device/product.h"

#include "base/memory.h"
#include "device/backend.h"
#include "device/device.h"
#include "linalg/eigen.h"

kspec_status ks_product_of_host(const ks_run *run, const ks_matmul *p, const char *what, kspec_error *err) {
    const ks_backend *at = ks_backend_alone(run);
    ks_mat_product of = {.ta = p->ta,
                         .tb = p->tb,
                         .m = p->m,
                         .n = p->n,
                         .k = p->k,
                         .alpha = p->alpha,
                         .A = ks_mat_of(p->A),
                         .lda = p->lda,
                         .B = ks_mat_of(p->B),
                         .ldb = p->ldb,
                         .C = ks_mat_of(p->C),
                         .ldc = p->ldc,
                         .symmetric = p->symmetric};
    if (!run->device) return at->product(run, &of, err);
    const ks_mat *A = NULL, *B = NULL;
    ks_mat *C = NULL;
    kspec_status st = at->copy_in(run, p->A, p->ta ? p->k : p->m, p->lda, what, &A, err);
    if (!st && p->B != p->A) st = at->copy_in(run, p->B, p->tb ? p->n : p->k, p->ldb, what, &B, err);
    if (!st) st = at->hold(run, p->m, p->n, what, &C, err);
    of.A = A, of.B = B ? B : A, of.C = C;
    if (!st) st = at->product(run, &of, err);
    if (!st) st = at->get(run, p->C, C, ks_size(p->m, p->n), 1, err);
    if (C) at->drop(run, C);
    if (B) at->release(run, B);
    if (A) at->release(run, A);
    return st;
}

kspec_status ks_gram_of_host(const ks_run *run, size_t P, size_t Q, double alpha, const double *M, double *G,
                             const char *what, kspec_error *err) {
    const size_t n = P > Q ? Q : P;
    const ks_matmul gram = {P > Q, P <= Q, n, n, P > Q ? P : Q, alpha, M, Q, M, Q, 0, G, n, 1};
    return ks_product_of_host(run, &gram, what, err);
}

/* ---- eigenproblems ---- */

/* A GPU takes longer for smaller problems, which have too little to do at once. */
size_t ks_eigen_least = 256;

static ks_plugin_status solve(ks_device *d, int vectors, size_t n, double *G, double *w, size_t top,
                              double *Z) {
    const ks_plugin *at = d->plugin;
    void *X = NULL;
    ks_plugin_status st = at->alloc(d->gpu, ks_size(ks_size(n, n), sizeof *G), &X);
    if (!st) st = at->put(d->gpu, X, G, n * n);
    if (!st) st = at->eigen(d->gpu, vectors, n, X, w);
    if (!st && vectors)
        st = at->get(d->gpu, Z ? Z : G, (double *)X + (Z ? (n - top) * n : 0), (Z ? top : n) * n, 1);
    if (X) at->release(d->gpu, X);
    return st;
}

kspec_status ks_eigen_of_host(const ks_run *run, int vectors, size_t n, double *G, double *w, size_t top,
                              double *Z, kspec_error *err) {
    ks_device *d = run->device;
    if (d && n >= ks_eigen_least && d->plugin->has_eigen()) {
        const ks_plugin_status there = solve(d, vectors, n, G, w, top, Z);
        if (there != KS_PLUGIN_NOMEM) return ks_device_status(d, there, "an eigenproblem", err);
    }
    return vectors && Z ? ks_syev_top(n, G, n, w, top, Z, err) : ks_syevd(vectors, n, G, n, w, err);
}
