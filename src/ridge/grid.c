/* kspec_ridge_predict(): predicts a path of lambda for each number of features. */
#include "base/error.h"
#include "ridge/call.h"
#include "ridge/predict.h"
#include "ridge/result.h"
#include "team/team.h"

typedef struct {
    const size_t *N;
    size_t paths, count; /* paths is the number of values of N, and count the number of lambdas. */
    const double *lambda;
    kspec_ridge *r;
    kspec_ridge_result *result;
    /* the error of each path, if a team computes the paths */
    kspec_error *failures;
} grid;

static kspec_status make_path(const grid *g, const ks_run *run, size_t path, kspec_error *err) {
    return ks_ridge_path(g->r, run, g->N[path], g->lambda, g->count, g->result->points + path * g->count,
                         err);
}

/* ---- in a team ---- */

/*
 * Chooses how a team divides the paths. By default the paths follow each other, and the ranks divide the
 * work of each point. Only Cholesky's factor and its inverse (n^3/3 of 3/2 n^3 multiply-adds) are not
 * divided. If computing whole paths on each rank is faster, the ranks do that, with the same bits. GPUs
 * always compute whole paths. A checkpoint stores points, so any number of ranks can continue from the
 * checkpoint.
 */
static int by_paths(const ks_run *run, size_t paths) {
    const size_t ranks = (size_t)ks_team_ranks(run), rounds = (paths + ranks - 1) / ranks;
    const double alone = 2.0 / 9, within = 1 / (alone + (1 - alone) / (double)ranks);
    if (ranks == 1 || run->team->store || paths == 1) return 0;
    return run->device || (double)paths / (double)rounds >= within;
}

/*
 * Computes some paths. A numeric error of one path does not make its rank fail. All ranks receive the
 * error, and the call returns the error of the path with the lowest index.
 */
static kspec_status make_some(void *ctx, const ks_run *run, const size_t *list, size_t count,
                              kspec_error *err) {
    const grid *g = ctx;
    for (size_t k = 0; k < count; k++) {
        const ks_run part = ks_run_part(run, (double)k / (double)count, (double)(k + 1) / (double)count);
        const kspec_status st = make_path(g, &part, list[k], err);
        if (st == KSPEC_E_NUMERIC) {
            g->failures[list[k]] = *err;
            return KSPEC_OK;
        }
        if (st) return st;
    }
    return KSPEC_OK;
}

static kspec_status share_paths(grid *g, const ks_run *run, kspec_error *err) {
    kspec_ridge_point *points = g->result->points[0];
    double *columns = points->train_columns;
    g->failures = ks_zalloc(g->paths, sizeof *g->failures);
    const ks_share shares[] = {{points, g->count * sizeof *points, g->paths, 1},
                               {columns, g->count * 2 * g->r->m * sizeof *columns, g->paths, 1},
                               {g->failures, sizeof *g->failures, g->paths, 1}};
    kspec_status st = g->failures ? ks_team_for_all(run, "paths", g->paths, make_some, g, shares, 3, err)
                                  : ks_nomem(err, "the paths", ks_size(g->paths, sizeof *g->failures));
    ks_ridge_own_columns(g->result, columns);
    for (size_t k = 0; k < g->paths && !st; k++)
        if (g->failures[k].code) *err = g->failures[k], st = err->code;
    ks_free(g->failures);
    return st;
}

/* ---- the calls ---- */

static kspec_status make_grid(kspec_ridge *r, const ks_run *run, void *ctx, kspec_ridge_result *result,
                              kspec_error *err) {
    grid *g = ctx;
    g->r = r, g->result = result;
    if (by_paths(run, g->paths)) return share_paths(g, run, err);
    kspec_status st = KSPEC_OK;
    for (size_t k = 0; k < g->paths && !st; k++) {
        const double paths = (double)g->paths;
        const ks_run part = ks_run_part(run, (double)k / paths, (double)(k + 1) / paths);
        st = make_path(g, &part, k, err);
    }
    return st;
}

static kspec_status check(const grid *g, kspec_error *err) {
    if (g->paths == 0) return ks_fail(err, KSPEC_E_ARG, "the list of N is empty");
    kspec_status st = ks_check_pointer(err, g->N, "the list of N");
    for (size_t k = 0; k < g->paths && !st; k++) st = ks_ridge_check_N(g->N[k], err);
    return st ? st : ks_ridge_check_lambdas(g->r, g->lambda, g->count, err);
}

kspec_status kspec_ridge_predict(kspec_ridge *r, const size_t *N, size_t paths, const double *lambda,
                                 size_t count, kspec_ridge_result **out, kspec_error *err) {
    if (ks_begin(err, out)) return KSPEC_E_ARG;
    kspec_status st = ks_check_pointer(err, r, "the plan");
    if (st) return st;
    grid g = {.N = N, .paths = paths, .count = count, .lambda = lambda, .r = r};
    if ((st = check(&g, err))) return ks_team_end(r->o.team, st, err);
    const size_t points = ks_size(paths, count);
    return ks_ridge_call(r, &(ks_ridge_task){points, (double)points, make_grid, &g}, out, err);
}
