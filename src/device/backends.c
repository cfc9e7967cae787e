/* Lists all backends, chooses one for a computation, and shares code among backends with addresses. */
#include "device/backend.h"
#include "device/tile.h"

#include "base/memory.h"

#include <math.h>

/* A run uses the first suitable backend, so backends that suit fewer runs come first. */
const ks_backend *ks_backends[] = {
    &ks_ranks_backend,
    &ks_resident_backend,
    &ks_gpu_backend,
    &ks_cpu_backend,
    NULL,
    /* for a test's backend */ NULL,
};

static const ks_backend *choose(const ks_run *run, ks_holding how, double work) {
    const ks_backend *const *b = ks_backends;
    while (!(*b)->suits(run, how, work)) b++;
    return *b;
}

const ks_backend *ks_backend_of(const ks_run *run) { return choose(run, KS_HOLD_ADDRESSES, 0); }

const ks_backend *ks_backend_alone(const ks_run *run) { return choose(run, KS_HOLD_WHOLE, 0); }

const ks_backend *ks_backend_for(const ks_run *run, size_t P, size_t Q) {
    return choose(run, KS_HOLD_SHARED, (double)P * (double)Q * fmax((double)P, (double)Q));
}

ks_matmul ks_mat_plain(const ks_mat_product *p) {
    return (ks_matmul){.ta = p->ta,
                       .tb = p->tb,
                       .m = p->m,
                       .n = p->n,
                       .k = p->k,
                       .alpha = p->alpha,
                       .A = ks_mat_address(p->A),
                       .lda = p->lda,
                       .B = ks_mat_address(p->B),
                       .ldb = p->ldb,
                       .beta = p->beta,
                       .C = ks_mat_address(p->C),
                       .ldc = p->ldc,
                       .symmetric = p->symmetric};
}

ks_expression ks_mat_plain_expression(const ks_mat_expression *e) {
    ks_expression to = {.m = e->m,
                        .n = e->n,
                        .alpha = e->alpha,
                        .row = e->row_held ? ks_mat_address(e->row_held) : e->row,
                        .col = e->col_held ? ks_mat_address(e->col_held) : e->col,
                        .count = e->count,
                        .vectors_on_device = e->row_held || e->col_held || e->sums_held};
    for (int k = 0; k < e->count; k++)
        to.factor[k] =
            (ks_factor){ks_mat_address(e->factor[k].x), e->factor[k].transposed, e->factor[k].power};
    return to;
}

ks_mat *ks_mat_view(const ks_mat *p, size_t entry) { return ks_mat_of(ks_mat_address(p) + entry); }

size_t ks_mat_room(const ks_run *run, const ks_room *of) {
    if (of->product || of->symmetrise) return 0;
    if (!of->expression) return ks_size(of->rows, of->cols);
    const ks_expression e = ks_mat_plain_expression(of->expression);
    return ks_tile_room(run, &e, of->what);
}
