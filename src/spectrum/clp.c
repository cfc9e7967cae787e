/*
 * COIN-OR Clp, through its C interface.
 *
 * Clp's own scaling is switched off, since the caller scales. On columns whose entries span twenty decades
 * (powers of small grid points) Clp's geometric scaling was seen to end "optimal" far from the optimum. For
 * the same reason every answer is checked by its certificate: x feasible, y dual feasible, no gap.
 */
#include "base/error.h"
#include "base/memory.h"
#include "spectrum/lp.h"

#include <coin/ClpConfig.h>
#include <coin/Clp_C_Interface.h>
#include <math.h>
#include <string.h>

static const double tolerance = 1e-10, certified = 1e-8, negligible = 1e-15;

const char *kspec_lp_solver(void) { return "Clp " CLP_VERSION; }

static kspec_status load(Clp_Simplex *model, const ks_lp *lp, kspec_error *err) {
    size_t m = lp->rows, n = lp->cols, k = 0;
    ks_arena arena = {0};
    CoinBigIndex *start = ks_arena_alloc(&arena, n + 1, sizeof *start);
    int *index = ks_arena_alloc(&arena, ks_size(m, n), sizeof *index);
    double *value = ks_arena_alloc(&arena, ks_size(m, n), sizeof *value);
    double *lower = ks_arena_zalloc(&arena, n, sizeof *lower);
    if (arena.failed) {
        size_t wanted = arena.failed;
        ks_arena_free(&arena);
        return ks_nomem(err, "the linear program", wanted);
    }
    for (size_t j = 0; j < n; j++) {
        start[j] = (CoinBigIndex)k;
        for (size_t i = 0; i < m; i++)
            if (fabs(lp->A[j * m + i]) > negligible) {
                index[k] = (int)i;
                value[k++] = lp->A[j * m + i];
            }
    }
    start[n] = (CoinBigIndex)k;
    Clp_loadProblem(model, (int)n, (int)m, start, index, value, lower, NULL, lp->c, lp->b, lp->b);
    ks_arena_free(&arena);
    return KSPEC_OK;
}

/*
 * The worst of: a broken constraint, a negative x, a negative reduced cost, the duality gap. NaN is infinite.
 */
static double breach(const ks_lp *lp, const double *x, const double *y) {
    double worst = 0, primal = 0, dual = 0;
    for (size_t i = 0; i < lp->rows; i++) {
        double r = -lp->b[i];
        for (size_t j = 0; j < lp->cols; j++) r += lp->A[j * lp->rows + i] * x[j];
        worst = fmax(worst, fabs(r));
        dual += y[i] * lp->b[i];
    }
    for (size_t j = 0; j < lp->cols; j++) {
        double reduced = lp->c[j];
        for (size_t i = 0; i < lp->rows; i++) reduced -= lp->A[j * lp->rows + i] * y[i];
        worst = fmax(worst, fmax(-reduced, -x[j]));
        primal += lp->c[j] * x[j];
    }
    double gap = fabs(primal - dual);
    return isfinite(gap) ? fmax(worst, gap) : INFINITY;
}

kspec_status ks_lp_solve(const ks_lp *lp, double *x, double *y, int *iterations, kspec_error *err) {
    double off = INFINITY;
    *iterations = 0;
    for (int attempt = 0; attempt < 3 && !(off <= certified); attempt++) {
        Clp_Simplex *model = Clp_newModel();
        if (!model) return ks_nomem(err, "the linear program", 0);
        Clp_setLogLevel(model, 0);
        kspec_status st = load(model, lp, err);
        if (st) {
            Clp_deleteModel(model);
            return st;
        }
        Clp_setPrimalTolerance(model, tolerance);
        Clp_setDualTolerance(model, tolerance);
        Clp_scaling(model, attempt == 2 ? 3 : 0);
        if (attempt == 0)
            Clp_primal(model, 0);
        else
            Clp_dual(model, 0);
        *iterations += Clp_numberIterations(model);
        memcpy(x, Clp_primalColumnSolution(model), lp->cols * sizeof *x);
        memcpy(y, Clp_dualRowSolution(model), lp->rows * sizeof *y);
        off = Clp_status(model) == 0 ? breach(lp, x, y) : INFINITY;
        Clp_deleteModel(model);
    }
    if (off <= certified) return KSPEC_OK;
    return ks_fail(err, KSPEC_E_NUMERIC,
                   "the linear program was not solved: Clp's answer is off by %.2g, more than %g", off,
                   certified);
}
