/*
 * Computes m(n)/m(1)^n without first-order bias. The ratio r of unbiased estimates is itself biased by terms
 * of 1/P and 1/Q. The two-way jackknife subtracts (N-1) (mean of r_{-i} - r) for each side, where r_{-i} is
 * the ratio without row or column i. Dividing the matrix by its root mean square first would give the biased
 * ratio r (docs/explanation/error-bars.md).
 */
#include "moments/scale_free.h"

#include "moments/jackknife.h"

#include <math.h>

void ks_scale_free(kspec_estimate *e, const ks_moments_out *sum, size_t P, size_t Q, const double share[2],
                   double *room) {
    const int n = e->n;
    const double *rows = sum->rows + (size_t)(n - 1) * P, *cols = sum->cols + (size_t)(n - 1) * Q,
                 ratio = sum->m[n - 1] / pow(sum->m[0], n);
    double *left_out = room + P + Q;
    ks_spread s = {0};
    ks_error_bar bar;
    for (size_t i = 0; i < P; i++) left_out[i] = rows[i] / pow(sum->rows[i], n);
    for (size_t a = 0; a < Q; a++) left_out[P + a] = cols[a] / pow(sum->cols[a], n);
    ks_spread_add(&s, left_out, P, share[0], ratio);
    ks_spread_add(&s, left_out + P, Q, share[1], ratio);
    ks_jackknife(ratio, n, left_out, P, left_out + P, Q, share, room, &bar);
    const double value = n == 1 ? 1 : ratio - s.bias;
    if (!(isfinite(value) && isfinite(bar.std_error) && isfinite(bar.low) && isfinite(bar.high))) return;
    e->scale_free = value;
    e->scale_free_std_error = n == 1 ? 0 : bar.std_error;
    e->scale_free_ci_low = n == 1 ? 1 : fmin(value, bar.low);
    e->scale_free_ci_high = n == 1 ? 1 : fmax(value, bar.high);
}
