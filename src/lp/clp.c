/*
 * Solves linear programs with COIN-OR Clp, through its C interface behind clp_wall.cpp.
 *
 * Clp's scaling is switched off, because the caller scales. For columns whose entries span twenty decades
 * (powers of small grid points) we saw Clp's geometric scaling end "optimal" far from the optimum. For the
 * same reason the code checks every answer by its certificate: x feasible, y dual feasible, no gap.
 */
#include "base/error.h"
#include "base/memory.h"
#include "kspec/host.h"
#include "lp/clp.h"
#include "lp/lp.h"

#include <coin/ClpConfig.h>
#include <math.h>

static const double certified = 1e-8, negligible = 1e-15;

/* Tries these settings one after the other, until an answer is certified */
static const ks_clp_method methods[] = {{1e-10, 0, 0}, {1e-10, 0, 1}, {1e-10, 3, 1}};

const char *kspec_lp_solver(void) { return "Clp " CLP_VERSION; }

/* Copies the columns without their zeros to arrays of the arena; fails without memory. */
static kspec_status lay_out(const ks_lp *lp, ks_clp_problem *p, ks_arena *arena, kspec_error *err) {
    size_t m = lp->rows, n = lp->cols, k = 0;
    int *start = ks_arena_alloc(arena, n + 1, sizeof *start);
    int *index = ks_arena_alloc(arena, ks_size(m, n), sizeof *index);
    double *value = ks_arena_alloc(arena, ks_size(m, n), sizeof *value);
    double *lower = ks_arena_zalloc(arena, n, sizeof *lower);
    if (arena->failed) return ks_nomem(err, "the linear program", arena->failed);
    for (size_t j = 0; j < n; j++) {
        start[j] = (int)k;
        for (size_t i = 0; i < m; i++)
            if (fabs(lp->A[j * m + i]) > negligible) {
                index[k] = (int)i;
                value[k++] = lp->A[j * m + i];
            }
    }
    start[n] = (int)k;
    *p = (ks_clp_problem){(int)m, (int)n, start, index, value, lower, lp->c, lp->b};
    return KSPEC_OK;
}

/*
 * The largest of: the violation of a constraint, a negative x, a negative reduced cost, the duality gap. NaN
 * is infinite.
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
    ks_arena arena = {0};
    ks_clp_problem problem;
    kspec_status st = lay_out(lp, &problem, &arena, err);
    *iterations = 0;
    for (int attempt = 0; attempt < 3 && !st && !(off <= certified); attempt++) {
        ks_clp_outcome outcome = ks_clp_solve(&problem, &methods[attempt], x, y, iterations);
        if (outcome == KS_CLP_NO_MEMORY)
            st = ks_fail(err, KSPEC_E_NOMEM, "out of memory: the linear program of %zu rows and %zu columns",
                         lp->rows, lp->cols);
        else
            off = outcome == KS_CLP_OPTIMAL ? breach(lp, x, y) : INFINITY;
    }
    ks_arena_free(&arena);
    if (st || off <= certified) return st;
    return ks_fail(err, KSPEC_E_NUMERIC,
                   "the linear program was not solved: Clp's answer is off by %.2g, more than %g", off,
                   certified);
}
