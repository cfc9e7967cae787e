/* The linear kernel: the caller gives its eigenvalues, one per dimension. */
#include "base/error.h"
#include "kspec/theory.h"

#include <math.h>

kspec_status kspec_theory_linear_moments(const double *eigenvalues, size_t count, size_t dim, int nmax,
                                         double *moments, double *logs, kspec_error *err) {
    ks_clear(err);
    if (nmax < 1) return ks_fail(err, KSPEC_E_ARG, "order %d is below 1", nmax);
    if (dim == 0) return ks_fail(err, KSPEC_E_ARG, "dimension 0 is below 1");
    if (count != 1 && count != dim)
        return ks_fail(err, KSPEC_E_ARG, "%zu eigenvalues for dimension %zu", count, dim);
    kspec_status st = ks_check_pointer(err, eigenvalues, "the list of eigenvalues");
    if (st) return st;
    double top = 0;
    for (size_t l = 0; l < count; l++) {
        if (!(eigenvalues[l] >= 0 && eigenvalues[l] <= 1e300))
            return ks_fail(err, KSPEC_E_ARG, "eigenvalue %g is not between 0 and 1e300", eigenvalues[l]);
        top = fmax(top, eigenvalues[l]);
    }
    for (int n = 1; n <= nmax; n++) {
        /* Sums in units of the largest eigenvalue, so that powers neither overflow nor underflow. */
        long double sum = 0;
        for (size_t l = 0; l < count && top > 0; l++) sum += powl(eigenvalues[l] / (long double)top, n);
        long double log_m = n * logl(top) + logl(count == dim ? sum : sum * (long double)dim);
        if (moments) moments[n - 1] = (double)expl(log_m);
        if (logs) logs[n - 1] = (double)log_m;
    }
    return KSPEC_OK;
}
