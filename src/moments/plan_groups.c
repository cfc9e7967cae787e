/* Plans the tasks for rows or columns in groups, and for centred data with missing entries. */
#include "base/center.h"
#include "base/error.h"
#include "moments/plan.h"

kspec_status ks_tasks_check_mixture(const kspec_moments_opts *o, const char *what, kspec_error *err) {
    static const kspec_estimator no[] = {KSPEC_ESTIMATOR_NAIVE, KSPEC_ESTIMATOR_KV_ROW,
                                         KSPEC_ESTIMATOR_KV_COL};
    for (size_t k = 0; k < sizeof no / sizeof *no; k++)
        if (o->estimators & no[k])
            return ks_fail(err, KSPEC_E_ARG, "%s does not take %s; use path, exact or auto",
                           ks_estimator_name(no[k]), what);
    if (o->sampled != KSPEC_SAMPLED_BOTH)
        return ks_fail(err, KSPEC_E_ARG, "%s and a complete side (sampled) cannot be combined", what);
    if (o->population_rows || o->population_cols)
        return ks_fail(err, KSPEC_E_ARG, "%s and finite populations cannot be combined", what);
    if (ks_cols_centred(o->center))
        return ks_fail(err, KSPEC_E_ARG, "%s are centred over rows only, not over %s", what,
                       o->center == KSPEC_CENTER_COLS ? "columns" : "both sides");
    if (o->scheme == KSPEC_TRIALS_ASSIGNMENT)
        return ks_fail(err, KSPEC_E_ARG, "%s and the assignment scheme cannot be combined", what);
    if (o->bound) return ks_fail(err, KSPEC_E_ARG, "%s and the variance bound cannot be combined", what);
    if (ks_centred(o->center) && o->estimators & KSPEC_ESTIMATOR_PATH)
        return ks_fail(err, KSPEC_E_ARG, "path does not take %s of centred data; use exact or auto", what);
    if (ks_centred(o->center) && o->nmax > 2)
        return ks_fail(err, KSPEC_E_ARG, "order %d exceeds 2, the highest for %s of centred data", o->nmax,
                       what);
    return KSPEC_OK;
}

static kspec_status check_order(kspec_moments_opts *o, size_t most, const char *what, kspec_error *err) {
    kspec_status st = ks_tasks_check(o, err);
    if (!st && (size_t)o->nmax > most)
        st = ks_fail(err, KSPEC_E_ARG, "order %d exceeds %s=%zu", o->nmax, what, most);
    return st;
}

static void add(ks_tasks *tasks, kspec_estimator e, int first, int last, int orders) {
    if (first <= last) tasks->task[tasks->count++] = (ks_task){e, e, first, last, orders, 0, 0};
}

kspec_status ks_tasks_make_grouped(kspec_moments_opts *o, size_t P, size_t Q, size_t G, size_t H,
                                   size_t repeats, ks_tasks *tasks, kspec_error *err) {
    *tasks = (ks_tasks){.pairs = 1, .exact = {.P = P, .Q = Q}};
    size_t most = G < H ? G : H;
    int asked = o->nmax > 0, usual = ks_centred(o->center) ? 2 : 6;
    kspec_status st = check_order(o, most, "the number of groups", err);
    if (!st) st = ks_tasks_check_mixture(o, "groups", err);
    if (st) return st;
    if (!asked) o->nmax = most < (size_t)usual ? (int)most : usual;
    if (ks_centred(o->center) && G < 2 * (size_t)o->nmax)
        return ks_fail(err, KSPEC_E_ARG,
                       "%zu groups of rows are fewer than %d, which order %d of centred data "
                       "needs",
                       G, 2 * o->nmax, o->nmax);
    tasks->transposed = o->side == KSPEC_SIDE_TRANSPOSED || (o->side == KSPEC_SIDE_AUTO && P > Q);
    int exact = o->nmax < 2 ? o->nmax : 2, given = o->permutations > 1 ? o->permutations : 0;
    if (o->estimators == KSPEC_ESTIMATOR_EXACT && asked && o->nmax > 2)
        return ks_fail(err, KSPEC_E_ARG,
                       "exact: order %d exceeds 2, its highest with groups; use path or auto", o->nmax);
    if (o->estimators & KSPEC_ESTIMATOR_PATH) add(tasks, KSPEC_ESTIMATOR_PATH, 1, o->nmax, given);
    if (o->estimators & KSPEC_ESTIMATOR_EXACT) add(tasks, KSPEC_ESTIMATOR_EXACT, 1, exact, 0);
    if (!(o->estimators & KSPEC_ESTIMATOR_AUTO)) return KSPEC_OK;
    if (!(o->estimators & KSPEC_ESTIMATOR_EXACT)) add(tasks, KSPEC_ESTIMATOR_EXACT, 1, exact, 0);
    if (!(o->estimators & KSPEC_ESTIMATOR_PATH))
        add(tasks, KSPEC_ESTIMATOR_PATH, exact + 1, o->nmax, ks_auto_orders(o, tasks, repeats));
    return KSPEC_OK;
}

kspec_status ks_tasks_make_holes(kspec_moments_opts *o, size_t P, size_t Q, ks_tasks *tasks,
                                 kspec_error *err) {
    *tasks = (ks_tasks){.pairs = 1, .exact = {.P = P, .Q = Q}};
    size_t most = P / 2 < Q ? P / 2 : Q;
    kspec_status st = check_order(o, most, "min(P/2, Q)", err);
    if (st) return st;
    if (o->nmax == 0) o->nmax = most < 2 ? (int)most : 2;
    if (o->nmax == 0) return ks_fail(err, KSPEC_E_ARG, "%zu rows are fewer than 2, which centring needs", P);
    add(tasks, KSPEC_ESTIMATOR_EXACT, 1, o->nmax, 0);
    return KSPEC_OK;
}
