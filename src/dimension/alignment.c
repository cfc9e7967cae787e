#include "dimension/alignment.h"

#include "base/error.h"
#include "base/student.h"

#include <math.h>

/*
 * Without index k of one side: of a side that a matrix does not have, its second moment is that of all. Where
 * some second moment is not positive, the expansion to first order about the alignment of all.
 */
static double leave_one_out(double cross, double m, double m2, const double *all, int positive) {
    double unit = sqrt(all[1] * all[2]);
    if (positive) return cross / sqrt(m * m2);
    return cross / unit - all[0] / unit * (m / all[1] + m2 / all[2] - 2) / 2;
}

/* What its mean without a row exceeds it by: as ks_second_excess(), without what is 0 in the mean of all */
static double excess(const ks_second *a, const ks_second *b, const double *cross, const double *loo,
                     double A) {
    double mean = 0;
    for (size_t k = 1; k <= a->P; k++) {
        double more = loo[k - 1] - A;
        if (a->rows > (double)a->P)
            more -= A * ((cross[k] / cross[0] - 1) - (a->moment[k] / a->moment[0] - 1) / 2 -
                         (b->moment[k] / b->moment[0] - 1) / 2);
        mean += more / (double)a->P;
    }
    return mean;
}

kspec_status ks_alignment_set(const ks_second *a, const ks_second *b, const double *cross, int grouped,
                              kspec_compare_result *r, ks_arena *arena, kspec_error *err) {
    size_t P = a->P, Q = a->Q, R = b->Q, count = P + Q + R;
    const double *m = a->moment, *m2 = b->moment, all[3] = {cross[0], m[0], m2[0]};
    double *loo = ks_arena_alloc(arena, count, sizeof *loo);
    if (!loo) return ks_nomem(err, "the jackknife", arena->failed);
    if (!(m[0] > 0 && m2[0] > 0)) return KSPEC_OK;
    int positive = 1;
    for (size_t k = 0; k < 1 + P + Q; k++) positive &= m[k] > 0;
    for (size_t k = 0; k < 1 + P + R; k++) positive &= m2[k] > 0;
    for (size_t k = 0; k < count; k++) {
        double first = k < P + Q ? m[1 + k] : m[0], other = k < P       ? m2[1 + k]
                                                            : k < P + Q ? m2[0]
                                                                        : m2[1 + k - Q];
        loo[k] = leave_one_out(cross[1 + k], first, other, all, positive);
    }
    r->alignment = cross[0] / sqrt(m[0] * m2[0]);
    const double share[3] = {a->share[0], a->share[1], b->share[1]};
    const size_t side[4] = {0, P, P + Q, count};
    ks_spread spread = {0};
    ks_spread_add_sample(&spread, loo, P, a->rows, share[0], excess(a, b, cross, loo, r->alignment));
    for (int k = 1; k < 3; k++)
        ks_spread_add(&spread, loo + side[k], side[k + 1] - side[k], share[k], r->alignment);
    r->alignment_std_error = sqrt(spread.variance);
    /*
     * Near 1 the estimate, a mean over a geometric mean, is too large by more than its error. The interval is
     * that of the estimate less its bias, and contains the estimate (docs/dimension.md has the coverage).
     */
    const double quantile = grouped ? ks_student_quantile(ks_spread_degrees(&spread)) : KS_Z95;
    double A = r->alignment, half = quantile * r->alignment_std_error, centre = A - spread.bias;
    r->alignment_ci_low = fmin(A, centre - half);
    r->alignment_ci_high = fmax(A, centre + half);
    return KSPEC_OK;
}
