/* Multiplies matrices in host memory, on the run's device or CPU. */
#include "device/product.h"

#include "base/memory.h"
#include "device/backend.h"

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
