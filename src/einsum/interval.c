#include "einsum/interval.h"

#include "base/student.h"
#include "moments/jackknife.h"

#include <math.h>

/* The spread of f(without), on the scale of the values or of their logarithm */
static ks_spread spread_of(double value, const double *const *without, const size_t *size, const double *share,
                           size_t axes) {
    ks_spread s = {0};
    for (size_t k = 0; k < axes; k++) ks_spread_add(&s, without[k], size[k], share[k], value);
    return s;
}

void ks_interval_make(double value, const double *const *without, const size_t *size, const double *share,
                      size_t axes, double *part, ks_interval *out) {
    double ends[2];
    for (size_t k = 0; k < axes; k++) {
        const ks_spread one = spread_of(value, without + k, size + k, share + k, 1);
        part[k] = sqrt(one.variance);
    }
    const ks_spread s = spread_of(value, without, size, share, axes);
    *out = (ks_interval){.std_error = sqrt(s.variance)};
    ks_spread_ends(&s, 0, ends);
    out->low = value + ends[0];
    out->high = value + ends[1];
}
