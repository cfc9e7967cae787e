/* Computes the error bar of an estimate from the estimates without each index. */
#include "einsum/interval.h"

#include "base/error.h"
#include "kspec/unbiased.h"

#include <math.h>

/* Summarises the leave-one-out estimates of the sides from ... to-1. */
static ks_spread spread_of(double value, const ks_sides *of, size_t from, size_t to) {
    ks_spread s = {0};
    for (size_t k = from; k < to; k++) ks_spread_add(&s, of->values[k], of->size[k], of->share[k], value);
    return s;
}

void ks_interval_make(double value, int order, int moment, const ks_sides *of, double *room, double *part,
                      ks_error_bar *out) {
    double ends[2];
    for (size_t k = 0; k < of->count; k++) part[k] = sqrt(spread_of(value, of, k, k + 1).variance);
    if (order > 0) {
        ks_sides shifted = *of;
        shifted.other = moment ? 0 : -1;
        ks_jackknife_sides(value, order, &shifted, room, out);
        return;
    }
    const ks_spread s = spread_of(value, of, 0, of->count);
    ks_spread_ends(&s, 0, ends);
    *out = (ks_error_bar){.std_error = sqrt(s.variance), .low = value + ends[0], .high = value + ends[1]};
}

kspec_status kspec_jackknife(double value, const double *const *without, const size_t *sizes,
                             const double *shares, size_t axes, double *bar, kspec_error *err) {
    enum { MOST = 64 };
    double part[MOST];
    ks_error_bar all;
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
    ks_interval_make(value, 0, 0, &(ks_sides){without, sizes, shares, axes, 0}, NULL, part, &all);
    bar[0] = all.std_error, bar[1] = all.low, bar[2] = all.high;
    return KSPEC_OK;
}
