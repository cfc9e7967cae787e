/* The only C++ file: it catches every exception of Clp. */
#include "lp/clp.h"

#include <coin/Clp_C_Interface.h>
#include <cstring>
#include <new>

namespace {

/* Deletes the model at the end of the scope, also after an exception. */
struct Model {
    Clp_Simplex *clp;
    Model() : clp(Clp_newModel()) {}
    ~Model() { Clp_deleteModel(clp); }
    Model(const Model &) = delete;
    Model &operator=(const Model &) = delete;
};

ks_clp_outcome solve(const ks_clp_problem *p, const ks_clp_method *how, double *x, double *y,
                     int *iterations) {
    Model model;
    Clp_setLogLevel(model.clp, 0);
    Clp_loadProblem(model.clp, p->cols, p->rows, p->start, p->index, p->value, p->lower, nullptr, p->cost,
                    p->b, p->b);
    Clp_setPrimalTolerance(model.clp, how->tolerance);
    Clp_setDualTolerance(model.clp, how->tolerance);
    Clp_scaling(model.clp, how->scaling);
    if (how->dual)
        Clp_dual(model.clp, 0);
    else
        Clp_primal(model.clp, 0);
    *iterations += Clp_numberIterations(model.clp);
    std::memcpy(x, Clp_primalColumnSolution(model.clp), (std::size_t)p->cols * sizeof *x);
    std::memcpy(y, Clp_dualRowSolution(model.clp), (std::size_t)p->rows * sizeof *y);
    return Clp_status(model.clp) == 0 ? KS_CLP_OPTIMAL : KS_CLP_NOT_SOLVED;
}

} // namespace

extern "C" ks_clp_outcome ks_clp_solve(const ks_clp_problem *p, const ks_clp_method *how, double *x,
                                       double *y, int *iterations) {
    try {
        return solve(p, how, x, y, iterations);
    } catch (const std::bad_alloc &) {
        return KS_CLP_NO_MEMORY;
    } catch (...) {
        return KS_CLP_NOT_SOLVED;
    }
}
