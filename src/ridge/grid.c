/* kspec_ridge_grid() and kspec_ridge_predict(): a path of lambda for each number of features. */
#include "base/error.h"
#include "ridge/call.h"
#include "ridge/predict.h"
#include "team/team.h"

typedef struct {
    const size_t *N;
    size_t paths, count; /* count: values of lambda */
    const double *lambda;
    kspec_ridge *r;
    kspec_ridge_result *result;
} grid;

static kspec_status make_some(void *ctx, const ks_run *run, const size_t *list, size_t count,
                              kspec_error *err) {
    const grid *g = ctx;
    kspec_status st = KSPEC_OK;
    for (size_t k = 0; k < count && !st; k++) {
        const ks_run part = ks_run_part(run, (double)k / (double)count, (double)(k + 1) / (double)count);
        st = ks_ridge_path(g->r, &part, g->N[list[k]], g->lambda, g->count,
                           g->result->points + list[k] * g->count, err);
    }
    return st;
}

/*
 * A team makes one path after the other, sharing out each point's work but for the factors, two ninths of it;
 * or, where that is faster, every rank whole paths. The bits are the same. A GPU shares out nothing of a
 * point. A checkpoint keeps points, whatever the number of ranks that goes on from it.
 */
static int by_paths(const ks_run *run, size_t paths) {
    const size_t ranks = (size_t)ks_team_ranks(run), rounds = (paths + ranks - 1) / ranks;
    const double within = 9 / (2 + 7 / (double)ranks);
    if (ranks == 1 || run->team->keep) return 0;
    return paths > 1 && (run->device || (double)paths / (double)rounds >= within);
}

/* Every rank its paths, which are handed round; columns lie elsewhere on each rank */
static kspec_status share_paths(const grid *g, const ks_run *run, kspec_error *err) {
    kspec_ridge_point *all = g->result->points[0];
    const size_t m = g->r->m, points = g->paths * g->count;
    double *columns = all->train_columns;
    const ks_share shares[] = {{all, g->count * sizeof *all, g->paths, 1},
                               {columns, g->count * 2 * m * sizeof *columns, g->paths, 1}};
    kspec_status st = ks_team_for_all(run, "paths", g->paths, make_some, (void *)g, shares, 2, err);
    for (size_t k = 0; k < points && !st; k++)
        all[k].train_columns = columns + 2 * k * m, all[k].test_columns = columns + (2 * k + 1) * m;
    return st;
}

static kspec_status make_grid(kspec_ridge *r, const ks_run *run, void *ctx, kspec_ridge_result *result,
                              kspec_error *err) {
    grid g = *(const grid *)ctx;
    g.r = r, g.result = result;
    if (by_paths(run, g.paths)) return share_paths(&g, run, err);
    kspec_status st = KSPEC_OK;
    for (size_t k = 0; k < g.paths && !st; k++) {
        const ks_run part = ks_run_part(run, (double)k / (double)g.paths, (double)(k + 1) / (double)g.paths);
        st = make_some(&g, &part, &k, 1, err);
    }
    return st;
}

static kspec_status check(const grid *g, kspec_error *err) {
    if (g->paths == 0) return ks_fail(err, KSPEC_E_ARG, "the list of N is empty");
    kspec_status st = ks_check_pointer(err, g->N, "the list of N");
    for (size_t k = 0; k < g->paths && !st; k++) st = ks_ridge_check_N(g->N[k], err);
    return st ? st : ks_ridge_check_lambdas(g->lambda, g->count, err);
}

kspec_status kspec_ridge_grid(kspec_ridge *r, const size_t *N, size_t paths, const double *lambda,
                              size_t count, kspec_ridge_result **out, kspec_error *err) {
    ks_clear(err);
    *out = NULL;
    kspec_status st = ks_check_pointer(err, r, "the plan");
    if (st) return st;
    grid g = {.N = N, .paths = paths, .count = count, .lambda = lambda};
    if ((st = check(&g, err))) return ks_team_end(r->o.team, st, err);
    const size_t points = ks_size(paths, count);
    return ks_ridge_call(r, &(ks_ridge_task){points, (double)points, make_grid, &g}, out, err);
}

kspec_status kspec_ridge_predict(kspec_ridge *r, size_t N, const double *lambda, size_t count,
                                 kspec_ridge_result **out, kspec_error *err) {
    return kspec_ridge_grid(r, &N, 1, lambda, count, out, err);
}
