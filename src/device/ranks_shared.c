/*
 * Multiplies matrices for ranks that share memory (team/area.h), with both operands in shared memory. Any
 * free rank computes the next tile of C, in the same way as a single process. So the bits do not depend on
 * the rank, and no rank waits for a slow one. At the end each rank copies its own rows of C.
 */
#include "device/ranks.h"
#include "team/area.h"

#include <string.h>

typedef struct {
    kspec_team *team;
    ks_tiled product;
} shared;

/* Computes a tile. The loop has as many chunks as tiles, but other ranks compute most tiles. */
static kspec_status next_tile(void *ctx, size_t chunk, const ks_worker *worker) {
    (void)chunk, (void)worker;
    const shared *s = ctx;
    const size_t tile = ks_area_next(s->team);
    if (tile < ks_tiled_count(&s->product)) ks_tiled_make(&s->product, tile);
    return KSPEC_OK;
}

/*
 * Copies a strip of C to this rank's rows. If C is symmetric, entries below the diagonal come from their
 * mirror images.
 */
static void take_strip(const ks_tiled *g, size_t from, size_t rows, double *own) {
    const size_t n = g->n, skip = g->symmetric ? from : 0;
    for (size_t a = 0; a < rows; a++)
        memcpy(own + a * n + skip, g->C + (from + a) * n + skip, (n - skip) * sizeof *own);
    for (size_t c = 0; c < skip; c += KS_STRIP)
        ks_transpose(own + c, n, g->C + c * n + from, n, rows, skip - c < KS_STRIP ? skip - c : KS_STRIP);
    for (size_t a = 0; a < rows && g->symmetric; a++)
        for (size_t b = 0; b < a; b++) own[a * n + from + b] = own[b * n + from + a];
}

kspec_status ks_ranks_shared(const ks_run *run, const ks_mat_product *p, const double *A, const double *B,
                             double *C, kspec_error *err) {
    kspec_team *t = run->team;
    shared s = {t,
                {.ta = p->ta,
                 .tb = p->tb,
                 .m = p->m,
                 .n = p->n,
                 .k = p->k,
                 .alpha = p->alpha,
                 .A = A,
                 .lda = p->lda,
                 .B = B,
                 .ldb = p->ldb,
                 .C = C,
                 .ldc = p->n,
                 .symmetric = p->symmetric}};
    const ks_run alone = ks_run_alone(run);
    kspec_status st = ks_parallel_for(&alone, ks_tiled_count(&s.product), next_tile, &s, err);
    if ((st = ks_ranks_synchronise(t, st, err))) {
        ks_area_end(t); /* drops unused numbers */
        return st;
    }
    ks_area_round(t);
    const ks_range rows = ks_strip_rows(p->m, KS_STRIP, t->comm.rank, t->comm.ranks);
    double *own = ks_strips_at(p->C)->own;
    for (size_t i = rows.from, next; i < rows.to; i = next) {
        next = rows.to - i < KS_STRIP ? rows.to : i + KS_STRIP;
        take_strip(&s.product, i, next - i, own + (i - rows.from) * p->n);
    }
    return KSPEC_OK;
}
