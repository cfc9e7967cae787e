/* Repeats the fit of a measure for random draws of the moments. */
#include "lp/draws.h"

#include "base/error.h"
#include "team/team.h"

#include <math.h>
#include <string.h>

typedef struct {
    const ks_drawing *d;
    double *lambda, *number;
    /* p: the measure of each draw (T numbers). z: scratch of each worker (2K numbers) */
    double *p, **z;
} job;

double ks_draw_list(const ks_drawing *d, const double *p, double *lambda) {
    if (d->fit.free_mass) return ks_measure_counts(&d->fit, p, d->unit, d->rank, lambda);
    ks_measure_quantiles(&d->fit, p, d->quantile, d->rank, lambda);
    return (double)d->rank;
}

static kspec_status one_draw(void *ctx, size_t k, const ks_worker *worker) {
    const job *j = ctx;
    const ks_drawing *d = j->d;
    double *z = j->z[worker->index], *drawn = z + d->fit.K, objective, *p = j->p + k * d->fit.T;
    int iterations;
    ks_errors_draw(d->errors, d->mu, d->seed, k, z, drawn);
    kspec_status st = ks_fit_measure(&d->fit, drawn, p, &objective, &iterations, worker->err);
    if (st == KSPEC_E_NUMERIC) { /* In rare cases the program has no solution; this draw is skipped. */
        j->lambda[k * d->rank] = NAN;
        return KSPEC_OK;
    }
    if (!st) j->number[k] = ks_draw_list(d, p, j->lambda + k * d->rank);
    return st;
}

/* Moves the solved draws to the front, and averages their measures; returns their number. */
static size_t gather(const job *j, double *mean) {
    const ks_drawing *d = j->d;
    size_t made = 0, T = d->fit.T;
    memset(mean, 0, T * sizeof *mean);
    for (size_t k = 0; k < d->draws; k++)
        if (!isnan(j->lambda[k * d->rank])) {
            memmove(j->lambda + made * d->rank, j->lambda + k * d->rank, d->rank * sizeof *j->lambda);
            j->number[made++] = j->number[k];
            for (size_t i = 0; i < T; i++) mean[i] += j->p[k * T + i];
        }
    for (size_t i = 0; i < T && made; i++) mean[i] /= (double)made;
    return made;
}

kspec_status ks_draw_eigenvalues(const ks_run *run, const ks_drawing *d, double *lambda, double *number,
                                 double *mean, size_t *made, kspec_error *err) {
    size_t workers = (size_t)ks_workers(run, d->draws);
    ks_arena arena = {0};
    job j = {d, lambda, number, ks_arena_alloc(&arena, ks_size(d->draws, d->fit.T), sizeof *j.p),
             ks_arena_alloc(&arena, workers, sizeof *j.z)};
    for (size_t w = 0; w < workers && !arena.failed; w++)
        j.z[w] = ks_arena_alloc(&arena, 2 * d->fit.K, sizeof(double));
    const ks_share shares[] = {{lambda, d->rank * sizeof *lambda, d->draws, 1},
                               {number, sizeof *number, d->draws, 1},
                               {j.p, d->fit.T * sizeof *j.p, d->draws, 1}};
    kspec_status st = arena.failed ? ks_nomem(err, "the draws", arena.failed)
                                   : ks_team_for(run, "draws", d->draws, one_draw, &j, shares, 3, err);
    *made = st ? 0 : gather(&j, mean);
    ks_arena_free(&arena);
    if (!st && 2 * *made < d->draws)
        st = ks_fail(err, KSPEC_E_NUMERIC,
                     "the linear program was solved for only %zu of %zu draws of the moments", *made,
                     d->draws);
    return st;
}
