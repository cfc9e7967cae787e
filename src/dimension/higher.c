/* Runs the exact estimator for m(3) and m(4), with leave-one-out values. */
#include "dimension/higher.h"

#include "base/center.h"
#include "base/error.h"
#include "moments/average.h"

#include <math.h>

int ks_higher_most(const ks_measured *m) {
    /*
     * The exact estimator needs n rows (2n if centred) and n columns. The jackknife needs one more row and
     * one more column.
     */
    const ks_trials *t = &m->trials;
    const size_t sampled = (t->P - 1) / (ks_centred(t->center) ? 2 : 1),
                 shorter = sampled < t->Q - 1 ? sampled : t->Q - 1;
    return shorter < KS_HIGHER_MOST ? (int)shorter : KS_HIGHER_MOST;
}

/*
 * Plans the exact estimator for m(3) and m(4), up to nmax and as far as memory allows. *last receives the
 * highest possible order, or 0. Call ks_tasks_free() afterwards.
 */
static kspec_status plan_higher(const ks_higher *how, const ks_measured *m, kspec_moments_opts *o,
                                ks_tasks *tasks, int *last, kspec_error *err) {
    const ks_trials *t = &m->trials;
    const int most = ks_higher_most(m);
    *o = (kspec_moments_opts){.size = sizeof *o,
                              .nmax = how->nmax < most ? how->nmax : most,
                              .estimators = KSPEC_ESTIMATOR_AUTO | KSPEC_ESTIMATOR_EXACT,
                              .seed = how->seed,
                              .splits = how->splits,
                              .center = t->center,
                              .team = how->team,
                              .sampled = how->sampled,
                              .population_rows = how->population_rows,
                              .population_cols = how->population_cols};
    *tasks = (ks_tasks){0};
    *last = 0;
    if (o->nmax <= 2 || m->rows.of) return KSPEC_OK;
    kspec_status st =
        ks_tasks_make(o, t->P, t->Q, ks_trials_splits(t, o->splits), t->count > 1, NULL, tasks, err);
    const ks_task *task = &tasks->task[0];
    if (!st && tasks->count > 0 && task->method == KSPEC_ESTIMATOR_EXACT && task->last > 2)
        *last = task->last;
    return st;
}

kspec_status ks_higher_load(const ks_higher *how, const ks_measured *m, ks_load *l, kspec_error *err) {
    kspec_moments_opts o;
    ks_tasks tasks;
    int last;
    double work = 0;
    size_t bytes = 0, entries = ks_size(m->trials.P, m->trials.Q);
    kspec_status st = plan_higher(how, m, &o, &tasks, &last, err);
    if (!st && last) st = ks_exact_cost(&tasks.exact, last, 1, &work, &bytes, err);
    ks_tasks_free(&tasks);
    l->work += work * (double)ks_trials_splits(&m->trials, how->splits);
    bytes = ks_size_add(bytes, ks_size(m->trials.count > 1 ? 2 : 1, ks_size(entries, sizeof(double))));
    if (last && bytes > l->bytes) l->bytes = bytes;
    return st;
}

kspec_status ks_higher_make(const ks_run *run, const ks_higher *how, const ks_measured *m,
                            double *of[1 + KS_HIGHER_MOST], int *highest, ks_arena *arena, kspec_error *err) {
    ks_trials t = m->trials;
    kspec_moments_opts o;
    ks_tasks tasks;
    int found;
    ks_source source = {.o = &o, .trials = &t, .tasks = &tasks, .rows = &m->rows, .cols = &m->cols};
    kspec_status st = plan_higher(how, m, &o, &tasks, &found, err);
    *highest = 2;
    const ks_task *task = &tasks.task[0];
    if (found) st = ks_trials_scale(&t, task->last, err);
    if (found && !st) st = ks_trials_alloc(&t, arena, &source.halves, err);
    if (found && !st) {
        size_t n = (size_t)task->last;
        ks_moments_out sum = {ks_arena_alloc(arena, n, sizeof(double)),
                              ks_arena_alloc(arena, ks_size(n, t.P), sizeof(double)),
                              ks_arena_alloc(arena, ks_size(n, t.Q), sizeof(double))};
        for (int k = 3; k <= task->last; k++) of[k] = ks_arena_alloc(arena, 1 + t.P + t.Q, sizeof(double));
        st = arena->failed ? ks_nomem(err, "the differences", arena->failed)
                           : ks_average(run, &source, task, 0, &sum, err);
        for (int k = 3; k <= task->last && !st; k++) {
            double *x = of[k], *rows = sum.rows + (size_t)(k - 1) * t.P,
                   *cols = sum.cols + (size_t)(k - 1) * t.Q;
            int e = 2 * k * (t.exponent - how->unit);
            x[0] = ldexp(sum.m[k - 1], e);
            for (size_t i = 0; i < t.P; i++) x[1 + i] = ldexp(rows[i], e);
            for (size_t a = 0; a < t.Q; a++) x[1 + t.P + a] = ldexp(cols[a], e);
            const ks_left_out left = {k, x[0], x + 1, x + 1 + t.P};
            if (!ks_standard_known(m))
                st = ks_standard_left_out(t.phi, t.count, t.row_trials, &m->rows, &left, 1, err);
        }
        *highest = task->last;
    }
    ks_tasks_free(&tasks);
    return st;
}
