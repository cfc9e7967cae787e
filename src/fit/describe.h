/* Computes quantities that follow from a spectrum, with intervals from the families of the fit. */
#pragma once

#include "base/parallel.h"
#include "fit/fit.h"

typedef enum {
    /* sum of lambda/(lambda + at) */
    KS_EFFECTIVE_DIMENSION,
    /* sum of lambda^at */
    KS_MOMENT,
    /* The kind is (sum of lambda)^2 / sum of lambda^2. */
    KS_PARTICIPATION_RATIO,
    /* The kind is the fraction of the sum of lambda beyond the first `from` eigenvalues. */
    KS_SHARE_BEYOND,
    /*
     * The exponent is minus the slope of log lambda with respect to log i over from <= i <= to. Eigenvalue i
     * has the weight i^-at. So at = 1 gives every octave of i equal weight, and at = 0 gives every eigenvalue
     * equal weight.
     */
    KS_EXPONENT,
    /* the noise's variance */
    KS_NOISE
} ks_quantity_kind;

typedef struct {
    ks_quantity_kind kind;
    double at;
    size_t from, to;
    /* ks_describe() sets the value, its standard deviation and its 95% interval. */
    double value, sd, low, high;
} ks_quantity;

kspec_status ks_describe(const ks_run *run, const ks_fitted *f, size_t count, ks_quantity *q,
                         kspec_error *err);

/*
 * Returns the value of a quantity, except the noise, for any n eigenvalues. Without weights, every weight is
 * 1. Without positions, they are 1, 2, ....
 */
double ks_quantity_of(const ks_quantity *q, size_t n, const double *log_lambda, const double *weight,
                      const double *position);
