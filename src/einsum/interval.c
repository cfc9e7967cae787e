#include "einsum/interval.h"

#include "base/error.h"
#include "base/student.h"
#include "kspec/unbiased.h"
#include "moments/jackknife.h"

#include <math.h>

/* The spread of f(without), on the scale of the values or of their logarithm */
static ks_spread spread_of(double value, const double *const *without, const size_t *size,
                           const double *share, size_t axes) {
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

kspec_status kspec_jackknife(double value, const double *const *without, const size_t *sizes,
                             const double *shares, size_t axes, double *bar, kspec_error *err) {
    enum { MOST = 64 };
    double part[MOST];
    ks_interval all;
    ks_clear(err);
    kspec_status st = ks_check_pointer(err, bar, "bar");
    if (!st) st = ks_check_pointer(err, without, "without");
    if (!st) st = ks_check_pointer(err, sizes, "sizes");
    if (!st) st = ks_check_pointer(err, shares, "shares");
    if (st) return st;
    if (axes < 1 || axes > MOST)
        return ks_fail(err, KSPEC_E_ARG, "there are %zu axes; 1 to %d are expected", axes, MOST);
    for (size_t k = 0; k < axes; k++)
        if (!without[k] || sizes[k] < 2)
            return ks_fail(err, KSPEC_E_ARG, "axis %zu has %zu values; 2 or more are expected", k,
                           without[k] ? sizes[k] : 0);
    ks_interval_make(value, without, sizes, shares, axes, part, &all);
    bar[0] = all.std_error, bar[1] = all.low, bar[2] = all.high;
    return KSPEC_OK;
}
