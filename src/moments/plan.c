#include "moments/plan.h"

#include "base/error.h"

#include <math.h>

/*
 * Budgets. A core does 1e10 to 4e10 multiply-adds a second, so that AUTO spends less than a minute of one core on
 * exact; whoever asks for exact by name may wait longer, and up to order 4 as long as it takes.
 */
static const double AUTO_WORK = 5e11, EXACT_WORK = 2e13;
static const size_t AUTO_MEMORY = (size_t)4 << 30;

/* Under AUTO, path is averaged over this many orders (docs/moments.md has the variances), fewer if the work
 * is long. */
enum { AUTO_PERMUTATIONS = 8, EXACT_MAX = 5 };
static const double AUTO_PATH_WORK = 1e12;

const char *kspec_estimator_name(kspec_estimator e) {
    switch (e) {
    case KSPEC_NAIVE: return "naive";
    case KSPEC_KV_ROW: return "kv-row";
    case KSPEC_KV_COL: return "kv-col";
    case KSPEC_PATH: return "path";
    case KSPEC_EXACT: return "exact";
    case KSPEC_AUTO: return "auto";
    }
    return NULL;
}

/* The highest order that an estimator can do on this matrix, and what bounds it */
static size_t limit(kspec_estimator e, kspec_sampled s, size_t P, size_t Q, const char **what) {
    int rows = e == KSPEC_KV_ROW || (e >= KSPEC_PATH && s != KSPEC_SAMPLED_COLS);
    int cols = e == KSPEC_KV_COL || (e >= KSPEC_PATH && s != KSPEC_SAMPLED_ROWS);
    *what = rows && cols ? "min(P,Q)" : rows ? "the number of rows, P" : "the number of columns, Q";
    if (e == KSPEC_NAIVE) return SIZE_MAX;
    return !cols ? P : !rows ? Q : P < Q ? P : Q;
}

static kspec_status check(kspec_moments_opts *o, size_t P, size_t Q, kspec_error *err) {
    size_t min = P < Q ? P : Q;
    if (o->estimators == 0) o->estimators = KSPEC_AUTO;
    if (o->estimators >= KSPEC_AUTO << 1)
        return ks_fail(err, KSPEC_E_ARG, "estimators 0x%x: unknown bits above 0x%x", o->estimators,
                       (KSPEC_AUTO << 1) - 1);
    if (o->permutations < 0) return ks_fail(err, KSPEC_E_ARG, "permutations %d is below 1", o->permutations);
    if (o->side < KSPEC_SIDE_AUTO || o->side > KSPEC_SIDE_TRANSPOSED)
        return ks_fail(err, KSPEC_E_ARG, "side %d is none of auto, given, transposed", (int)o->side);
    if (o->sampled < KSPEC_SAMPLED_BOTH || o->sampled > KSPEC_SAMPLED_COLS)
        return ks_fail(err, KSPEC_E_ARG, "sampled %d is none of both, rows, cols", (int)o->sampled);
    if (o->scheme < KSPEC_TRIALS_SPLIT || o->scheme > KSPEC_TRIALS_ASSIGNMENT)
        return ks_fail(err, KSPEC_E_ARG, "trial scheme %d is none of split, assignment", (int)o->scheme);
    if (o->nmax < 0) return ks_fail(err, KSPEC_E_ARG, "order %d is below 1", o->nmax);
    if (o->nmax == 0) o->nmax = min < 6 ? (int)min : 6;
    if (o->nmax > 10000) return ks_fail(err, KSPEC_E_ARG, "order %d exceeds 10000", o->nmax);
    for (unsigned e = KSPEC_NAIVE; e <= KSPEC_AUTO; e <<= 1) {
        const char *what;
        size_t most = limit(e, o->sampled, P, Q, &what);
        if (o->estimators & e && (size_t)o->nmax > most)
            return ks_fail(err, KSPEC_E_ARG, "%s: order %d exceeds %s=%zu", kspec_estimator_name(e), o->nmax,
                           what, most);
    }
    return KSPEC_OK;
}

/* The highest order up to nmax at which exact stays within the budgets (0: none) */
static kspec_status affordable(const kspec_moments_opts *o, ks_exact_plan *exact, double repeats, int by_name,
                               int *order, kspec_error *err) {
    /* with one side complete what would come instead is Kong-Valiant, which takes more memory, not less */
    size_t most_bytes = by_name || o->sampled != KSPEC_SAMPLED_BOTH ? ks_memory_available() : AUTO_MEMORY;
    for (*order = o->nmax < EXACT_MAX ? o->nmax : EXACT_MAX; *order > 0; --*order) {
        double work, most_work = !by_name ? AUTO_WORK : *order == EXACT_MAX ? EXACT_WORK : INFINITY;
        size_t bytes;
        kspec_status st = ks_exact_cost(exact, *order, !o->no_stderr, &work, &bytes, err);
        if (st) return st;
        if (work * repeats <= most_work && bytes <= most_bytes) break;
    }
    return KSPEC_OK;
}

/* naive and Kong-Valiant hold matrices as large as the square of a side: see naive.h and kv.h */
static kspec_status check_memory(const kspec_moments_opts *o, const ks_task *t, size_t P, size_t Q,
                                 kspec_error *err) {
    size_t side, squares;
    if (t->method == KSPEC_NAIVE) {
        side = P < Q ? P : Q;
        squares = (size_t)(t->last + 1) / 2;
    } else if (t->method == KSPEC_KV_ROW || t->method == KSPEC_KV_COL) {
        side = t->method == KSPEC_KV_ROW ? P : Q;
        squares = o->no_stderr ? 4 : 7;
    } else {
        return KSPEC_OK;
    }
    size_t copies = ks_size(3, ks_size(P, Q)), available = ks_memory_available();
    size_t need = ks_size(ks_size_add(ks_size(squares, ks_size(side, side)), copies), sizeof(double));
    if (need > available)
        return ks_fail(err, KSPEC_E_NOMEM, "%s on %zu x %zu needs %.1f GiB of memory, %.1f GiB are available",
                       kspec_estimator_name(t->label), P, Q, (double)need / 0x1p30,
                       (double)available / 0x1p30);
    return KSPEC_OK;
}

static void add(ks_tasks *tasks, kspec_estimator label, kspec_estimator method, int first, int last,
                int permutations) {
    if (first <= last) tasks->task[tasks->count++] = (ks_task){label, method, first, last, permutations};
}

kspec_status ks_tasks_make(kspec_moments_opts *o, size_t P, size_t Q, size_t repeats, int two,
                           ks_tasks *tasks, kspec_error *err) {
    *tasks = (ks_tasks){0};
    int asked = o->nmax > 0;
    kspec_status st = check(o, P, Q, err);
    if (st) return st;
    tasks->exact = (ks_exact_plan){.P = P, .Q = Q, .sampled = o->sampled, .two = two};
    tasks->transposed = o->side == KSPEC_SIDE_TRANSPOSED || (o->side == KSPEC_SIDE_AUTO && P > Q);
    int random = o->permutations > 1 ? o->permutations : 0, n = o->nmax;
    kspec_estimator path = o->sampled == KSPEC_SAMPLED_ROWS   ? KSPEC_KV_ROW
                           : o->sampled == KSPEC_SAMPLED_COLS ? KSPEC_KV_COL
                                                              : KSPEC_PATH;
    for (unsigned e = KSPEC_NAIVE; e < KSPEC_EXACT; e <<= 1)
        if (o->estimators & e) add(tasks, e, e == KSPEC_PATH ? path : e, 1, n, e == KSPEC_NAIVE ? 0 : random);

    if (o->estimators & KSPEC_EXACT) {
        /* by itself exact must be able to do the order asked for; among others, or where none was, what it can */
        int most, must = o->estimators == KSPEC_EXACT && asked;
        if (n > EXACT_MAX && must)
            return ks_fail(err, KSPEC_E_ARG, "exact: order %d exceeds %d; use path or auto above it", n,
                           EXACT_MAX);
        st = affordable(o, &tasks->exact, (double)repeats, 1, &most, err);
        if (st) return st;
        if (most == 0 || (must && most < n))
            return ks_fail(err, KSPEC_E_ARG,
                           "exact: order %d on %zu x %zu, %zu times, exceeds %.0e multiply-adds (n = 5) "
                           "or the memory there is (%.1f GiB); use path or auto",
                           most + 1, P, Q, repeats, EXACT_WORK, (double)ks_memory_available() / 0x1p30);
        add(tasks, KSPEC_EXACT, KSPEC_EXACT, 1, most, 0);
    }
    if (o->estimators & KSPEC_AUTO) {
        int most = 0;
        if (o->scheme != KSPEC_TRIALS_ASSIGNMENT)
            st = affordable(o, &tasks->exact, (double)repeats, 0, &most, err);
        if (st) return st;
        /* several pairs are averaged anyway: each gets orders of its own, and fewer of them are needed */
        double shorter = tasks->transposed ? (double)Q : (double)P;
        double work = (double)n * (double)P * (double)Q * shorter * (o->no_stderr ? 1 : 8);
        double orders = fmin(AUTO_PERMUTATIONS, AUTO_PATH_WORK / work) / (double)repeats;
        int several = repeats > 1 || orders >= 2; /* one order alone is the given one */
        int permutations = o->permutations ? random : !several ? 0 : orders < 1 ? 1 : (int)orders;
        if (o->scheme == KSPEC_TRIALS_ASSIGNMENT) permutations = 0;
        if (!(o->estimators & KSPEC_EXACT)) add(tasks, KSPEC_EXACT, KSPEC_EXACT, 1, most, 0);
        if (!(o->estimators & path)) add(tasks, path, path, most + 1, n, permutations);
    }
    for (int k = 0; k < tasks->count && !st; k++) st = check_memory(o, &tasks->task[k], P, Q, err);
    return st;
}

void ks_tasks_free(ks_tasks *tasks) { ks_exact_plan_free(&tasks->exact); }
