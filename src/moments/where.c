/* Adds up the work and memory of a call, and decides whether it runs on the GPU. */
#include "moments/where.h"

#include "base/memory.h"

#include <math.h>

/* Computes the number of multiply-adds that one task takes on the CPU. */
static kspec_status work_of(const ks_source *s, const ks_task *t, double *work, size_t *bytes,
                            kspec_error *err) {
    const size_t P = s->trials->P, Q = s->trials->Q, n = (size_t)t->last;
    const int loo = !s->o->no_stderr;
    const double p = (double)P, q = (double)Q, orders = fmax(1, t->permutations);
    const size_t side = t->method == KSPEC_ESTIMATOR_NAIVE    ? (P < Q ? P : Q)
                        : t->method == KSPEC_ESTIMATOR_KV_COL ? Q
                                                              : P;
    const double square = (double)side * (double)side, matrices = loo ? 8 : 5;
    switch (t->method) {
    case KSPEC_ESTIMATOR_EXACT: return ks_exact_cost(&s->tasks->exact, t->last, loo, work, bytes, err);
    case KSPEC_ESTIMATOR_PATH:
        *work = (double)n * p * q * (s->tasks->transposed ? q : p) * orders * (loo ? 8 : 1);
        *bytes = 0;
        return KSPEC_OK;
    case KSPEC_ESTIMATOR_NAIVE:
        *work = (square * fmax(p, q) + (double)n / 2 * square * (double)side) +
                (loo ? 2.0 * (double)n * square * fmax(p, q) : 0);
        *bytes = ks_size(ks_size(side, side), sizeof(double) * ((n + 1) / 2 + 1)) +
                 (loo ? 3 : 1) * P * Q * sizeof(double);
        return KSPEC_OK;
    default:
        *work = orders * ((double)n * square * (double)side * (loo ? 3 : 1) +
                          square * p * q / (double)side * (loo ? (double)n : 1));
        *bytes = (size_t)(matrices * square * sizeof(double)) + 2 * P * Q * sizeof(double);
        return KSPEC_OK;
    }
}

/* Returns the reason why a GPU cannot run this task, or NULL. */
static const char *refusal(const ks_source *s, const ks_task *t) {
    if (s->rows->of || s->cols->of) return "groups of rows or columns";
    if (s->o->scheme == KSPEC_TRIALS_ASSIGNMENT) return "assignment scheme";
    if (t->method == KSPEC_ESTIMATOR_EXACT && s->tasks->pairs) return "centring with missing entries";
    return NULL;
}

/*
 * Returns the part of the path estimator that the GPU cannot run, or NULL. The plugin limits the orders and
 * the memory.
 */
static const char *path_refusal(const ks_placement *placement, const ks_source *s, const ks_task *t,
                                size_t *bytes) {
    const size_t P = s->trials->P, Q = s->trials->Q;
    const ks_plugin *plugin = placement->device->plugin;
    const int loo = !s->o->no_stderr, turned = s->tasks->transposed;
    static double none;
    const ks_path_job job = {.A = &none,
                             .B = s->trials->count > 1 ? NULL : &none,
                             .P = turned ? Q : P,
                             .Q = turned ? P : Q,
                             .nmax = t->last,
                             .rows = loo ? &none : NULL};
    if (t->last > plugin->path_orders) return "path of this order";
    if (loo && t->last > plugin->path_loo_orders) return "error bars of path at this order";
    *bytes = plugin->path_memory(placement->device->gpu, &job);
    return NULL;
}

kspec_status ks_where(ks_placement *placement, const ks_source *s, size_t repeats, kspec_error *err) {
    const size_t matrix = ks_size(ks_size(s->trials->P, s->trials->Q), sizeof(double));
    const char *refused = NULL;
    int moved = 0; /* whether tasks need whole matrices */
    double total = 0, work;
    size_t most = 0, whole = 0, bytes;
    if (placement->want == KSPEC_DEVICE_CPU || placement->unusable) return KSPEC_OK;
    for (int k = 0; k < s->tasks->count; k++) {
        kspec_status st = work_of(s, &s->tasks->task[k], &work, &bytes, err);
        if (st) return st;
        total += work * (double)repeats;
        if (bytes > most) most = bytes;
        if (!refused) refused = refusal(s, &s->tasks->task[k]);
        moved |= s->tasks->task[k].method == KSPEC_ESTIMATOR_PATH ||
                 s->tasks->task[k].method == KSPEC_ESTIMATOR_KV_COL;
    }
    kspec_status st = ks_placement_decide(placement, total, refused, err);
    if (st || !placement->device) return st;
    for (int k = 0; k < s->tasks->count && !refused; k++) {
        if (s->tasks->task[k].method != KSPEC_ESTIMATOR_PATH) continue;
        refused = path_refusal(placement, s, &s->tasks->task[k], &bytes);
        if (bytes > whole) whole = bytes;
    }
    if (refused) return ks_placement_refuse(placement, refused, err);
    /* Count each trial twice, because a task may use its transpose. */
    const size_t data = ks_size(s->trials->count > 1 ? 4 : 2, matrix),
                 room = ks_device_available(placement->device);
    const size_t all = ks_size_add(most > whole ? most : whole, data);
    if (all > room && (!moved || ks_size_add(whole, data) <= room) &&
        ks_placement_stream(placement, ks_size_add(most, data)))
        return KSPEC_OK;
    return ks_placement_fit(placement, all, err);
}

void ks_load_sums(ks_load *l, size_t P, size_t Q, size_t R, int two, size_t repeats) {
    const double p = (double)P, q = (double)Q, r = (double)R;
    const size_t columns = ks_size(Q, R), rows = ks_size(P, P), both = ks_size_add(Q, R),
                 trials = ks_size(two ? 2 : 1, ks_size(P, both)),
                 held = ks_size_add(ks_size(2, columns < rows ? columns : rows), ks_size(P, both));
    const size_t bytes = ks_size(ks_size_add(trials, held), sizeof(double));
    /* One trial needs two products. Two trials need four for each of the two orders of the trials. */
    l->work += (two ? 8 : 2) * p * fmin(q * r, p * (q + r) / 2) * (double)repeats;
    if (bytes > l->bytes) l->bytes = bytes;
}

kspec_status ks_where_second(ks_placement *placement, const ks_load *l, const char *refused,
                             kspec_error *err) {
    kspec_status st = ks_placement_decide(placement, l->work, refused, err);
    if (st || !placement->device || l->bytes <= ks_device_available(placement->device)) return st;
    return ks_placement_stream(placement, l->bytes) ? KSPEC_OK : ks_placement_fit(placement, l->bytes, err);
}
