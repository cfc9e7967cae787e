/* Parametric bootstrap: the fit repeated for moments drawn from their error distribution. */
#ifndef KS_SPECTRUM_DRAWS_H
#define KS_SPECTRUM_DRAWS_H

#include "base/parallel.h"
#include "spectrum/errors.h"
#include "spectrum/measure.h"

typedef struct {
    ks_fit fit;
    const ks_errors *errors;
    /* the moments that were given */
    const double *mu;
    kspec_quantile quantile;
    size_t rank, draws;
    uint64_t seed;
} ks_drawing;

/* lambda[k*rank + j] = the j-th largest eigenvalue of draw k, in units of b, for the `made` draws solved. */
kspec_status ks_draw_eigenvalues(const ks_run *run, const ks_drawing *d, double *lambda, size_t *made,
                                 kspec_error *err);

#endif
