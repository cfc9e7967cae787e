/* Computes the alignment of two matrices and its interval from second-order estimates. */
#include "dimension/alignment.h"

#include "base/error.h"
#include "base/student.h"

#include <math.h>

/*
 * Returns the alignment without one row or column, from its cross term and both second moments m and m2. If
 * some second moment is not positive, the result is the first-order expansion about the alignment from all
 * data.
 */
static double leave_one_out(double cross, double m, double m2, const double *all, int positive) {
    double unit = sqrt(all[1] * all[2]);
    if (positive) return cross / sqrt(m * m2);
    return cross / unit - all[0] / unit * (m / all[1] + m2 / all[2] - 2) / 2;
}

/* Returns a bound on the rounding error of value k of a list. */
static double lost_of(const ks_lost *l, size_t P, size_t k) {
    return k == 0 ? l->all : k <= P ? l->row : l->col;
}

/* Is at least one digit of m(2) known, from all data and without any one row or column? */
static int known(const ks_second *s) {
    const double digit = 10;
    for (size_t k = 0; k < 1 + s->P + s->Q; k++)
        if (!(s->moment[k] > digit * lost_of(&s->lost[2], s->P, k))) return 0;
    return 1;
}

/*
 * Returns a bound on the rounding error of an alignment A, given the rounding errors c, e and f of A's three
 * components.
 */
static double lost_of_ratio(double A, double c, double m, double e, double m2, double f) {
    return c / sqrt(m * m2) + fabs(A) * (e / m + f / m2) / 2 + 2 * KS_LOST_OF_ITSELF * fabs(A);
}

/*
 * Returns the mean over rows of the alignment without a row, minus the alignment A. The function omits terms
 * whose mean is 0, as ks_second_excess() does.
 */
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

kspec_status ks_alignment_set(const ks_second *a, const ks_second *b, const double *cross,
                              const ks_lost *lost, int grouped, kspec_compare_result *r, ks_arena *arena,
                              kspec_error *err) {
    size_t P = a->P, Q = a->Q, R = b->Q, count = P + Q + R;
    const double *m = a->moment, *m2 = b->moment, all[3] = {cross[0], m[0], m2[0]};
    double *loo = ks_arena_alloc(arena, count, sizeof *loo);
    if (!loo) return ks_nomem(err, "the jackknife", arena->failed);
    if (!(m[0] > 0 && m2[0] > 0)) return KSPEC_OK;
    const int positive = known(a) && known(b);
    const double share[3] = {a->share[0], a->share[1], b->share[1]}, A = cross[0] / sqrt(m[0] * m2[0]),
                 rounding = lost_of_ratio(A, lost->all, m[0], a->lost[2].all, m2[0], b->lost[2].all);
    double error = 0, error_of_bias = 0;
    for (size_t k = 0; k < count; k++) {
        double first = k < P + Q ? m[1 + k] : m[0], other = k < P       ? m2[1 + k]
                                                            : k < P + Q ? m2[0]
                                                                        : m2[1 + k - Q];
        loo[k] = leave_one_out(cross[1 + k], first, other, all, positive);
        const int side = k < P ? 0 : k < P + Q ? 1 : 2;
        const double e = lost_of(&a->lost[2], P, side == 2 ? 0 : 1 + k),
                     f = lost_of(&b->lost[2], P,
                                 side == 1 ? 0
                                 : side    ? 1 + k - Q
                                           : 1 + k),
                     N = side == 0 ? a->rows : (double)(side == 1 ? Q : R), c = lost_of(lost, P, 1 + k),
                     x = positive ? lost_of_ratio(loo[k], c, first, e, other, f)
                                  : lost_of_ratio(A, c, m[0], e, m2[0], f),
                     weight = share[side] * (N - 1) /
                              (double)(side == 0   ? P
                                       : side == 1 ? Q
                                                   : R);
        error += weight * x * x, error_of_bias += weight * (x + rounding);
    }
    r->alignment = A, r->alignment_rounding = rounding;
    const size_t side[4] = {0, P, P + Q, count};
    ks_spread spread = {0};
    ks_spread_add_sample(&spread, loo, P, a->rows, share[0], excess(a, b, cross, loo, r->alignment));
    double *const of_side[3] = {&r->row_variance, &r->col_variance, &r->other_col_variance};
    *of_side[0] = spread.variance;
    for (int k = 1; k < 3; k++) {
        const double before = spread.variance;
        ks_spread_add(&spread, loo + side[k], side[k + 1] - side[k], share[k], r->alignment);
        *of_side[k] = spread.variance - before;
    }
    r->alignment_std_error = sqrt(spread.variance);
    /*
     * The alignment is a mean divided by a geometric mean. Near 1, the bias of this estimate exceeds its
     * standard error. So the interval is centred on the estimate minus the bias, and extended to contain the
     * estimate (docs/explanation/alignment.md).
     */
    const double quantile = grouped ? ks_student_quantile(ks_spread_degrees(&spread)) : KS_Z95;
    const double half = quantile * (r->alignment_std_error + sqrt(error)) + rounding + error_of_bias,
                 centre = A - spread.bias;
    r->alignment_ci_low = fmin(A, centre - half);
    r->alignment_ci_high = fmax(A, centre + half);
    return KSPEC_OK;
}
