#include "spectrum/draws.h"

#include "base/error.h"

#include <math.h>
#include <string.h>

typedef struct {
    const ks_drawing *d;
    double *lambda, *number;
    /* per worker: the measure (T), scratch (2K) */
    double **p, **z;
} job;

double ks_draw_list(const ks_drawing *d, const double *p, double *lambda) {
    if (d->fit.free_mass) return ks_measure_counts(&d->fit, p, d->unit, d->rank, lambda);
    ks_measure_quantiles(&d->fit, p, d->quantile, d->rank, lambda);
    return (double)d->rank;
}

static kspec_status one_draw(void *ctx, size_t k, const ks_worker *worker) {
    const job *j = ctx;
    const ks_drawing *d = j->d;
    double *z = j->z[worker->index], *drawn = z + d->fit.K, objective;
    int iterations;
    ks_errors_draw(d->errors, d->mu, d->seed, k, z, drawn);
    kspec_status st =
        ks_fit_measure(&d->fit, drawn, j->p[worker->index], &objective, &iterations, worker->err);
    if (st == KSPEC_E_NUMERIC) { /* one program in many that was not solved is left out */
        j->lambda[k * d->rank] = NAN;
        return KSPEC_OK;
    }
    if (!st) j->number[k] = ks_draw_list(d, j->p[worker->index], j->lambda + k * d->rank);
    return st;
}

/* Moves the draws that were solved to the front; returns their number. */
static size_t gather(const ks_drawing *d, double *lambda, double *number) {
    size_t made = 0;
    for (size_t k = 0; k < d->draws; k++)
        if (!isnan(lambda[k * d->rank])) {
            memmove(lambda + made * d->rank, lambda + k * d->rank, d->rank * sizeof *lambda);
            number[made++] = number[k];
        }
    return made;
}

kspec_status ks_draw_eigenvalues(const ks_run *run, const ks_drawing *d, double *lambda, double *number,
                                 size_t *made, kspec_error *err) {
    size_t workers = (size_t)ks_workers(run, d->draws);
    ks_arena arena = {0};
    job j = {d, lambda, number, ks_arena_alloc(&arena, workers, sizeof *j.p),
             ks_arena_alloc(&arena, workers, sizeof *j.z)};
    for (size_t w = 0; w < workers && !arena.failed; w++) {
        j.p[w] = ks_arena_alloc(&arena, d->fit.T, sizeof(double));
        j.z[w] = ks_arena_alloc(&arena, 2 * d->fit.K, sizeof(double));
    }
    kspec_status st = arena.failed ? ks_nomem(err, "the draws", arena.failed)
                                   : ks_parallel_for(run, d->draws, one_draw, &j, err);
    ks_arena_free(&arena);
    if (!st && 2 * (*made = gather(d, lambda, number)) < d->draws)
        st = ks_fail(err, KSPEC_E_NUMERIC,
                     "the linear program was solved for only %zu of %zu draws of the moments", *made,
                     d->draws);
    return st;
}
