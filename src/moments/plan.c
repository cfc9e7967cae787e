/* Chooses the tasks of a call: which estimators run, up to which order, within which budget. */
#include "moments/plan.h"

#include "base/error.h"
#include "device/backend.h"
#include "moments/weighted.h"
#include "team/team.h"

#include <math.h>

/*
 * A core does 1e10 to 4e10 multiply-adds per second. So AUTO spends a few seconds of one core on the exact
 * estimator, multiplied by `effort`. If the caller requests exact by name, exact may take longer, and has
 * unlimited time up to order 4.
 */
static const double AUTO_WORK = 1e11, EXACT_WORK = 2e13;
static const size_t AUTO_MEMORY = (size_t)4 << 30;
/*
 * The memory estimate counts at most AUTO_THREADS threads, because further threads need hardly more memory.
 */
enum { AUTO_THREADS = 16 };

/*
 * Under AUTO, the path estimator averages over AUTO_PERMUTATIONS random orders
 * (docs/measurements/moments.md), or over fewer to save time.
 */
enum { AUTO_PERMUTATIONS = 8 };
static const double AUTO_PATH_WORK = 2e11;

const char *ks_estimator_name(kspec_estimator e) {
    switch (e) {
    case KSPEC_ESTIMATOR_DEFAULT: return NULL;
    case KSPEC_ESTIMATOR_NAIVE: return "naive";
    case KSPEC_ESTIMATOR_KV_ROW: return "kv-row";
    case KSPEC_ESTIMATOR_KV_COL: return "kv-col";
    case KSPEC_ESTIMATOR_PATH: return "path";
    case KSPEC_ESTIMATOR_EXACT: return "exact";
    case KSPEC_ESTIMATOR_AUTO: return "auto";
    }
    return NULL;
}

/*
 * Returns the highest order that an estimator can reach on this matrix, and names the dimension that sets
 * this limit.
 */
static size_t limit(kspec_estimator e, kspec_sampled s, size_t P, size_t Q, const char **what) {
    int rows = e == KSPEC_ESTIMATOR_KV_ROW || (e >= KSPEC_ESTIMATOR_PATH && s != KSPEC_SAMPLED_COLS);
    int cols = e == KSPEC_ESTIMATOR_KV_COL || (e >= KSPEC_ESTIMATOR_PATH && s != KSPEC_SAMPLED_ROWS);
    *what = rows && cols ? "min(P,Q)" : rows ? "the number of rows, P" : "the number of columns, Q";
    if (e == KSPEC_ESTIMATOR_NAIVE) return SIZE_MAX;
    return !cols ? P : !rows ? Q : P < Q ? P : Q;
}

kspec_status ks_tasks_check(kspec_moments_opts *o, kspec_error *err) {
    if (o->estimators == 0) o->estimators = KSPEC_ESTIMATOR_AUTO;
    if (o->estimators >= KSPEC_ESTIMATOR_AUTO << 1)
        return ks_fail(err, KSPEC_E_ARG, "unknown estimators 0x%x; the known ones are 0x%x", o->estimators,
                       (KSPEC_ESTIMATOR_AUTO << 1) - 1);
    if (o->permutations < 0) return ks_fail(err, KSPEC_E_ARG, "permutations %d is below 1", o->permutations);
    if (o->side < KSPEC_SIDE_AUTO || o->side > KSPEC_SIDE_TRANSPOSED)
        return ks_fail(err, KSPEC_E_ARG, "unknown side %d", (int)o->side);
    if (o->sampled < KSPEC_SAMPLED_BOTH || o->sampled > KSPEC_SAMPLED_COLS)
        return ks_fail(err, KSPEC_E_ARG, "unknown sampled %d", (int)o->sampled);
    if (o->scheme < KSPEC_TRIALS_SPLIT || o->scheme > KSPEC_TRIALS_ASSIGNMENT)
        return ks_fail(err, KSPEC_E_ARG, "unknown trial scheme %d", (int)o->scheme);
    if (!(o->effort >= 0) || isinf(o->effort))
        return ks_fail(err, KSPEC_E_ARG, "effort %g must be a number above 0", o->effort);
    if (o->effort == 0) o->effort = 1;
    if (o->nmax < 0) return ks_fail(err, KSPEC_E_ARG, "order %d is below 1", o->nmax);
    if (o->nmax > 10000) return ks_fail(err, KSPEC_E_ARG, "order %d exceeds 10000", o->nmax);
    return KSPEC_OK;
}

static kspec_status check(kspec_moments_opts *o, ks_exact_plan *exact, kspec_error *err) {
    size_t P = exact->P, Q = exact->Q;
    size_t min = P < Q ? P : Q;
    kspec_status st = ks_tasks_check(o, err);
    if (!st) st = ks_weighted_resolve(o, exact, err);
    if (!st) st = ks_weighted_check(o, exact, err);
    if (st) return st;
    if (o->nmax == 0) o->nmax = min < 6 ? (int)min : 6;
    for (unsigned e = KSPEC_ESTIMATOR_NAIVE; e <= KSPEC_ESTIMATOR_AUTO && !ks_exact_weighted(exact);
         e <<= 1) {
        const char *what;
        size_t most = limit(e, o->sampled, P, Q, &what);
        if (o->estimators & e && (size_t)o->nmax > most)
            return ks_fail(err, KSPEC_E_ARG, "%s: order %d exceeds %s=%zu", ks_estimator_name(e), o->nmax,
                           what, most);
    }
    return KSPEC_OK;
}

static size_t memory_of(const kspec_moments_opts *o, const ks_tasks *tasks) {
    const ks_run run = {.team = o->team};
    /* The device streams data larger than its memory (device/streamed.h). */
    const size_t host = ks_team_memory(&run), device = tasks->device ? ks_device_available(tasks->device) : 0;
    return host > device ? host : device;
}

/*
 * Returns the work of the path estimator up to nmax for one order of rows and columns, in units of
 * AUTO_PATH_WORK.
 */
static double path_work(const kspec_moments_opts *o, const ks_tasks *tasks) {
    double P = (double)tasks->exact.P, Q = (double)tasks->exact.Q;
    return o->nmax * P * Q * (tasks->transposed ? Q : P) * (o->no_stderr ? 1 : 8);
}

/*
 * Finds the highest order up to nmax at which the exact estimator stays within the budgets, or 0. Under AUTO,
 * exact may also take as long as the path estimator, because path would otherwise replace exact.
 */
static kspec_status affordable(const kspec_moments_opts *o, ks_tasks *tasks, double repeats, int by_name,
                               int *order, kspec_error *err) {
    ks_exact_plan *exact = &tasks->exact;
    double auto_work = fmax(AUTO_WORK * o->effort, path_work(o, tasks) * repeats);
    /*
     * If one side is complete, the alternative is the Kong-Valiant estimator, which needs more memory than
     * exact.
     */
    int all = by_name || o->sampled != KSPEC_SAMPLED_BOTH;
    /* AUTO must make the same choice for any number of ranks and threads. */
    ks_exact_share(exact, all && !tasks->device ? o->team : NULL, all ? o->threads : AUTO_THREADS);
    size_t most_bytes = all ? memory_of(o, tasks) : AUTO_MEMORY;
    kspec_status decided = ks_team_decide(o->team, &most_bytes, sizeof most_bytes, err);
    if (decided) return decided;
    int highest = ks_exact_highest(exact);
    for (*order = o->nmax < highest ? o->nmax : highest; *order > 0; --*order) {
        double work, most_work = !by_name ? auto_work : *order == KS_EXACT_NMAX ? EXACT_WORK : INFINITY;
        size_t bytes;
        kspec_status st = ks_exact_cost(exact, *order, !o->no_stderr, &work, &bytes, err);
        if (st) return st;
        if (work * repeats <= most_work && bytes <= most_bytes) break;
    }
    /* Memory also depends on each rank's threads, so the ranks must agree on one order. */
    return ks_team_decide(o->team, order, sizeof *order, err);
}

/*
 * The naive and the Kong-Valiant estimators store matrices as large as the square of a side (naive.h, kv.h).
 * On a GPU, ks_where() checks that such matrices fit.
 */
static kspec_status check_memory(const kspec_moments_opts *o, const ks_task *t, size_t P, size_t Q,
                                 kspec_error *err) {
    size_t side, squares;
    if (t->method == KSPEC_ESTIMATOR_NAIVE) {
        side = P < Q ? P : Q;
        squares = (size_t)(t->last + 1) / 2;
    } else if (t->method == KSPEC_ESTIMATOR_KV_ROW || t->method == KSPEC_ESTIMATOR_KV_COL) {
        side = t->method == KSPEC_ESTIMATOR_KV_ROW ? P : Q;
        squares = o->no_stderr ? 5 : 8;
    } else {
        return KSPEC_OK;
    }
    /* Each rank of a team stores strips of the square matrices. */
    const ks_run run = {.team = o->team};
    const size_t square = ks_backend_for(&run, P, Q)->room(&run, &(ks_room){.rows = side, .cols = side});
    size_t values = ks_size_add(ks_size(squares, square), ks_size(3, ks_size(P, Q)));
    return ks_check_memory(err, ks_size(values, sizeof(double)), "%s on %zu x %zu",
                           ks_estimator_name(t->label), P, Q);
}

/*
 * Returns the number of random orders of rows and columns that the caller requested. 0 means the given order.
 */
static int random_orders(const kspec_moments_opts *o) { return o->permutations > 1 ? o->permutations : 0; }

static void add(ks_tasks *tasks, kspec_estimator label, kspec_estimator method, int first, int last,
                int permutations) {
    if (first <= last)
        tasks->task[tasks->count++] = (ks_task){label, method, first, last, permutations, 0, 0};
}

/*
 * If exact is the only estimator requested, it must reach the requested order. Otherwise exact stops at the
 * highest affordable order.
 */
static kspec_status add_exact(const kspec_moments_opts *o, int asked, size_t repeats, ks_tasks *tasks,
                              kspec_error *err) {
    int weighted = ks_exact_weighted(&tasks->exact);
    int most, must = (o->estimators == KSPEC_ESTIMATOR_EXACT ||
                      (weighted && !(o->estimators & KSPEC_ESTIMATOR_NAIVE))) &&
                     asked;
    if (o->nmax > KS_EXACT_NMAX && must)
        return ks_fail(err, KSPEC_E_ARG, "exact: order %d exceeds %d; use path or auto above it", o->nmax,
                       KS_EXACT_NMAX);
    /* If the caller gives no order, AUTO also stays within its budget, except for m(1) and m(2). */
    const int by_name = asked || o->estimators & KSPEC_ESTIMATOR_EXACT;
    kspec_status st = affordable(o, tasks, (double)repeats, by_name, &most, err);
    if (!st && !by_name && most < 2 && o->nmax >= 2) {
        kspec_moments_opts least = *o;
        least.nmax = 2;
        st = affordable(&least, tasks, (double)repeats, 1, &most, err);
    }
    if (st) return st;
    if (!by_name && most > 0 && most < o->nmax && !(o->estimators & KSPEC_ESTIMATOR_NAIVE))
        tasks->left_out = most + 1;
    if (weighted && (most == 0 || (must && most < o->nmax)))
        return ks_fail(err, KSPEC_E_NOMEM,
                       "exact: order %d on %zu x %zu exceeds the %.1f MB that are available", most + 1,
                       tasks->exact.P, tasks->exact.Q, ks_megabytes(memory_of(o, tasks)));
    if (most == 0 || (must && most < o->nmax))
        return ks_fail(err, KSPEC_E_ARG,
                       "exact: order %d on %zu x %zu, %zu times, exceeds %.0e multiply-adds (n = 5) "
                       "or the %.1f MB that are available; use path or auto",
                       most + 1, tasks->exact.P, tasks->exact.Q, repeats, EXACT_WORK,
                       ks_megabytes(memory_of(o, tasks)));
    add(tasks, KSPEC_ESTIMATOR_EXACT, KSPEC_ESTIMATOR_EXACT, 1, most, 0);
    return KSPEC_OK;
}

int ks_auto_orders(const kspec_moments_opts *o, const ks_tasks *tasks, size_t repeats) {
    /* The result averages several pairs anyway, so each pair needs fewer random orders. */
    double affordable_orders = AUTO_PATH_WORK * o->effort / path_work(o, tasks);
    double orders = fmin(AUTO_PERMUTATIONS, affordable_orders) / (double)repeats;
    int several = repeats > 1 || orders >= 2;
    return o->permutations ? random_orders(o) : !several ? 0 : orders < 1 ? 1 : (int)orders;
}

/*
 * Adds the exact estimator up to its highest order, and the path estimator above that order. Skips methods
 * that the caller also requested by name.
 */
static kspec_status add_auto(const kspec_moments_opts *o, size_t repeats, kspec_estimator path,
                             ks_tasks *tasks, kspec_error *err) {
    int most = 0, permutations = 0;
    if (o->scheme != KSPEC_TRIALS_ASSIGNMENT) {
        kspec_status st = affordable(o, tasks, (double)repeats, 0, &most, err);
        if (st) return st;
        permutations = ks_auto_orders(o, tasks, repeats);
    }
    if (!(o->estimators & KSPEC_ESTIMATOR_EXACT))
        add(tasks, KSPEC_ESTIMATOR_EXACT, KSPEC_ESTIMATOR_EXACT, 1, most, 0);
    if (!(o->estimators & KSPEC_ESTIMATOR_EXACT) && most > 0 && path == KSPEC_ESTIMATOR_PATH) {
        tasks->task[tasks->count - 1].instead = path;
        tasks->task[tasks->count - 1].instead_orders = permutations;
    }
    if (!(o->estimators & path)) add(tasks, path, path, most + 1, o->nmax, permutations);
    return KSPEC_OK;
}

kspec_status ks_tasks_make(kspec_moments_opts *o, size_t P, size_t Q, size_t repeats, int two,
                           const ks_device *device, ks_tasks *tasks, kspec_error *err) {
    *tasks = (ks_tasks){.device = device};
    int asked = o->nmax > 0;
    tasks->exact = (ks_exact_plan){.P = P, .Q = Q, .two = two, .threads = o->threads};
    kspec_status st = check(o, &tasks->exact, err);
    if (st) return st;
    /* For centred data or finite populations, no other method can replace exact. */
    unsigned by_exact = KSPEC_ESTIMATOR_EXACT | (ks_exact_weighted(&tasks->exact) ? KSPEC_ESTIMATOR_AUTO : 0);
    tasks->transposed = o->side == KSPEC_SIDE_TRANSPOSED || (o->side == KSPEC_SIDE_AUTO && P > Q);
    kspec_estimator path = o->sampled == KSPEC_SAMPLED_ROWS   ? KSPEC_ESTIMATOR_KV_ROW
                           : o->sampled == KSPEC_SAMPLED_COLS ? KSPEC_ESTIMATOR_KV_COL
                                                              : KSPEC_ESTIMATOR_PATH;
    for (unsigned e = KSPEC_ESTIMATOR_NAIVE; e < KSPEC_ESTIMATOR_EXACT; e <<= 1) {
        kspec_estimator method = e == KSPEC_ESTIMATOR_PATH ? path : e;
        if (o->estimators & e)
            add(tasks, e, method, 1, o->nmax, e == KSPEC_ESTIMATOR_NAIVE ? 0 : random_orders(o));
    }
    if (o->estimators & by_exact) st = add_exact(o, asked, repeats, tasks, err);
    if (!st && o->estimators & KSPEC_ESTIMATOR_AUTO & ~by_exact) st = add_auto(o, repeats, path, tasks, err);
    for (int k = 0; k < tasks->count && !st && !device; k++) st = check_memory(o, &tasks->task[k], P, Q, err);
    return st;
}

void ks_tasks_free(ks_tasks *tasks) { ks_exact_plan_free(&tasks->exact); }
