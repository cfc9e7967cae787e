/* Computes standard errors and intervals from leave-one-out estimates by the jackknife. */
#include "moments/jackknife.h"

#include "base/student.h"

#include <math.h>

double ks_signed_root(double x, int n) {
    return copysign(n == 1 ? fabs(x) : n == 2 ? sqrt(fabs(x)) : pow(fabs(x), 1.0 / n), x);
}

/* ---- spread ---- */

/*
 * A list of fewer than FEW_VALUES values hardly shows how uneven its values are. Two deviations, for example,
 * always have equal squares. For so few values, the function raises the variance of the variance to the value
 * for normal data. The jackknife then has at most N - 1 degrees of freedom.
 */
enum { FEW_VALUES = 10 };

void ks_spread_add_sample(ks_spread *s, const double *x, size_t N, double of, double share, double excess) {
    const size_t first = s->count;
    s->count += N;
    if (share == 0) return; /* a complete side */
    double mean = 0, sum = 0, squares = 0, cubes = 0;
    const double f = (of - 1) / of, times = of / (double)N;
    for (size_t i = 0; i < N; i++) mean += x[i] / (double)N;
    for (size_t i = 0; i < N; i++) {
        double d = x[i] - mean, u = d * d;
        sum += u, squares += u * u, cubes += u * d;
        if (share * f * u > s->most) s->most = share * f * u, s->which = first + i;
    }
    const double variance = share * (f * (times * sum));
    double noise = share * share * (f * f * times * (squares - sum * sum / (double)N));
    if (N < FEW_VALUES) noise = fmax(noise, 2 * variance * variance / (double)(N - 1));
    s->variance += variance, s->noise += noise;
    s->cube -= share * f * f * f * (times * cubes);
    s->bias += share * (of - 1) * excess;
}

void ks_spread_add(ks_spread *s, const double *x, size_t N, double share, double all) {
    double mean = 0;
    for (size_t i = 0; i < N; i++) mean += x[i] / (double)N;
    ks_spread_add_sample(s, x, N, (double)N, share, mean - all);
}

double ks_spread_degrees(const ks_spread *s) {
    return s->noise > 0 ? 2 * s->variance * s->variance / s->noise : INFINITY;
}

/*
 * The interval needs the quantiles of t = (estimate - truth) / s, which differ from the normal ones for two
 * reasons. If a few values dominate the variance s^2, Student's quantile q replaces z. If these values also
 * lie on one side, the estimate has the skewness g = cube / s^3, and Cornish and Fisher's first term moves
 * the quantiles by g (2 z^2 + 1) / 6. A single value that causes the whole spread has |g| = 1, but says
 * nothing about values that might have occurred. The code therefore divides by (1 - |g|)^DOMINATED. The
 * exponent was chosen by coverage (docs/calibration.md).
 */
static const double DOMINATED = 1.25;

void ks_spread_ends(const ks_spread *s, double other, double ends[2]) {
    const double sd = sqrt(s->variance), z = KS_Z95, q = ks_student_quantile(ks_spread_degrees(s)),
                 g = sd > 0 ? s->cube / (sd * sd * sd) : 0, rest = fmax(1 - fabs(g), 1e-3),
                 shift = fabs(g) * (2 * z * z + 1) / 6, more = shift / pow(rest, DOMINATED),
                 opposite = other * (other < 0 ? shift : more), low = g < 0 ? more : opposite,
                 high = g > 0 ? more : opposite;
    ends[0] = fmin(0, -s->bias - (q + low) * sd);
    ends[1] = fmax(0, -s->bias + (q + high) * sd);
}

/* ---- moments ---- */

/* Summarises the list x, which contains the leave-one-out values of one side after the other. */
static ks_spread spread_of(const double *x, const ks_sides *of, double all) {
    ks_spread s = {0};
    for (size_t k = 0; k < of->count; x += of->size[k++])
        ks_spread_add(&s, x, of->size[k], of->share[k], all);
    return s;
}

/*
 * The function computes the interval for log m, because the estimate is nearly symmetric on the logarithmic
 * scale. If m does not clearly differ from zero, the function also computes the plain interval for the root
 * of m, and combines both intervals. The plain interval then has the right coverage. The combined interval is
 * at most ten times wider than the plain interval, because wider intervals carry no information.
 * docs/measurements/moments.md reports the coverage.
 */
void ks_jackknife_sides(double m, int n, const ks_sides *of, double *room, ks_error_bar *out) {
    const double cut = 10, root = ks_signed_root(m, n);
    double ends[2], logs[2] = {NAN, NAN};
    int positive = m > 0;
    size_t all = 0;
    for (size_t side = 0; side < of->count; side++)
        for (size_t k = 0; k < of->size[side]; k++, all++) {
            const int whole = of->share[side] == 0;
            room[all] = whole ? 0 : of->values[side][k];
            positive &= whole || room[all] > 0;
        }
    const ks_spread plain = spread_of(room, of, m);
    *out = (ks_error_bar){.std_error = sqrt(plain.variance)};
    for (size_t k = 0; k < all && n > 1; k++) room[k] = ks_signed_root(room[k], n);
    ks_spread s = n > 1 ? spread_of(room, of, root) : plain;
    const int clear = root > KS_Z95 * sqrt(s.variance);
    if (!positive || !clear) {
        ks_spread_ends(&s, of->other, ends);
        out->low = copysign(pow(fabs(root + ends[0]), n), root + ends[0]);
        out->high = copysign(pow(fabs(root + ends[1]), n), root + ends[1]);
    }
    if (positive) {
        for (size_t k = 0; k < all; k++) room[k] = room[k] > 0 ? log(room[k]) * n : 0;
        s = spread_of(room, of, log(m));
        ks_spread_ends(&s, of->other, logs);
        out->high = m * exp(logs[1]);
        if (clear) out->low = m * exp(logs[0]);
    }
    if (!clear) {
        const double half = ks_student_quantile(ks_spread_degrees(&plain)) * out->std_error;
        out->low = fmax(fmin(out->low, m - half), m - cut * half);
        out->high = fmin(fmax(out->high, m + half), m + cut * half);
    }
    out->degrees = ks_spread_degrees(&s), out->which = s.which;
    out->part = s.variance > 0 ? s.most / s.variance : 0;
}

void ks_jackknife(double m, int n, const double *rows, size_t P, const double *cols, size_t Q,
                  const double share[2], double *room, ks_error_bar *out) {
    const double *const values[2] = {rows, cols};
    const size_t size[2] = {P, Q};
    ks_jackknife_sides(m, n, &(ks_sides){values, size, share, 2, 0}, room, out);
}

static double side_mean(const double *x, size_t N) {
    double mean = 0;
    for (size_t i = 0; i < N; i++) mean += x[i] / (double)N;
    return mean;
}

static double side_covariance(const double *x, const double *y, size_t N) {
    double mx = side_mean(x, N), my = side_mean(y, N), sum = 0;
    for (size_t i = 0; i < N; i++) sum += (x[i] - mx) * (y[i] - my);
    return sum * (double)(N - 1) / (double)N;
}

void ks_jackknife_correlation(size_t count, const double *const *loo, size_t P, size_t Q,
                              const double share[2], double *R) {
    for (size_t k = 0; k < count; k++)
        for (size_t l = 0; l <= k; l++) {
            double c = 0;
            if (share[0] > 0) c += share[0] * side_covariance(loo[k], loo[l], P);
            if (share[1] > 0) c += share[1] * side_covariance(loo[k] + P, loo[l] + P, Q);
            R[k * count + l] = c;
        }
    for (size_t k = 0; k < count; k++)
        for (size_t l = 0; l < k; l++) {
            double unit = sqrt(R[k * count + k]) * sqrt(R[l * count + l]);
            R[k * count + l] = R[l * count + k] = unit == 0 ? 0 : R[k * count + l] / unit;
        }
    for (size_t k = 0; k < count; k++) R[k * count + k] = isnan(R[k * count + k]) ? NAN : 1;
}
