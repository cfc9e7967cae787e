/* Solves the equations that map the operator's eigenvalues to the sample's. */
#include "fit/forward.h"

#include <math.h>

static const double pi = 3.14159265358979323846;

static ks_cplx cdiv(ks_cplx a, ks_cplx b) {
    double n = ks_cabs2(b);
    return (ks_cplx){(a.re * b.re + a.im * b.im) / n, (a.im * b.re - a.re * b.im) / n};
}

/* dT and dD are the derivatives of T = log t and of D with respect to log c. `L` contains Im L(kappa). */
typedef struct {
    ks_cplx T, dT, D, dD;
    double L;
} values;

/*
 * Adds the terms of one side of size P. T receives log(1 - D/P), dT receives -D'/(P a), and L receives Im P
 * (a - log a). Adds nothing if P is infinite.
 */
static void add_side(double P, ks_cplx D, ks_cplx dD, values *v) {
    if (isinf(P)) return;
    ks_cplx a = {1 - D.re / P, -D.im / P}, share = cdiv(dD, a);
    double angle = atan2(a.im, a.re);
    v->T.re += 0.5 * log(ks_cabs2(a));
    v->T.im += angle;
    v->dT.re -= share.re / P;
    v->dT.im -= share.im / P;
    v->L += P * (a.im - angle);
}

/* Computes kappa and the noise's part of D at c. With infinite Q the noise cannot differ between columns. */
static ks_columns_at noise_at(const ks_spectrum *s, ks_cplx c) {
    static const ks_columns equal = {0};
    double n = ks_cabs2(c);
    if (!isinf(s->Q)) {
        ks_columns_at at = ks_columns_sums(s->columns ? s->columns : &equal, s->dust / s->Q, c);
        at.part = (ks_cplx){s->Q * at.part.re, s->Q * at.part.im};
        at.part_slope = (ks_cplx){s->Q * at.part_slope.re, s->Q * at.part_slope.im};
        at.angle *= s->Q;
        at.weight *= s->Q;
        return at;
    }
    ks_cplx part = {s->dust * c.re / n, -s->dust * c.im / n};
    return (ks_columns_at){.kappa = c,
                           .slope = {1, 0},
                           .part = part,
                           .part_slope = {-part.re, -part.im},
                           .pull = 1,
                           .weight = s->dust / n};
}

static values evaluate(const ks_spectrum *s, ks_cplx l) {
    double r = exp(l.re);
    ks_cplx c = {r * cos(l.im), r * sin(l.im)};
    ks_columns_at at = noise_at(s, c);
    ks_cplx k = at.kappa, log_k = {0.5 * log(ks_cabs2(k)), atan2(k.im, k.re)};
    ks_cplx slope = ks_cmul(cdiv(c, k), at.slope);
    double sums[5];
    s->simd->resolvent(s->lambda, s->weight, s->ones / 8 * 8, ks_padded(s->n), k.re, k.im, sums);
    ks_cplx D = {sums[0] + at.part.re, sums[1] + at.part.im};
    /* dD/dlog kappa is -kappa times the sum of w lambda/(lambda + kappa)^2. */
    ks_cplx dD = ks_cmul(slope, ks_cmul(k, (ks_cplx){sums[2], sums[3]}));
    dD.re = at.part_slope.re - dD.re;
    dD.im = at.part_slope.im - dD.im;
    values v = {.T = log_k,
                .dT = slope,
                .D = D,
                .dD = dD,
                .L = sums[4] - s->total * log_k.im + at.part.im + at.angle};
    add_side(s->P, D, dD, &v);
    add_side(s->Q, D, dD, &v);
    return v;
}

/* ---- bisection ---- */

/*
 * A bracket contains a root between low and high. False position narrows the bracket, and halves the value at
 * an end that stays fixed (Illinois method).
 */
typedef struct {
    double low, high, f_low, f_high;
    int side;
} bracket;

static double guess(const bracket *b, int iteration) {
    if (iteration % 3 == 2 || b->f_low == b->f_high) return 0.5 * (b->low + b->high);
    return (b->f_low * b->high - b->f_high * b->low) / (b->f_low - b->f_high);
}

/* Narrows the bracket of a decreasing function whose value at `at` is f. */
static void narrow(bracket *b, double at, double f) {
    if (f > 0) {
        b->low = at, b->f_low = f;
        if (b->side == 1) b->f_high *= 0.5;
        b->side = 1;
    } else {
        b->high = at, b->f_high = f;
        if (b->side == -1) b->f_low *= 0.5;
        b->side = -1;
    }
}

/*
 * Finds the angle phi of c = -r exp(-i phi) with Im T = pi. If r lies in a gap, returns the smallest possible
 * angle.
 */
static double angle_of(const ks_spectrum *s, double log_r) {
    bracket b = {.low = 1e-7, .high = pi, .f_high = -pi};
    b.f_low = evaluate(s, (ks_cplx){log_r, pi - b.low}).T.im - pi;
    if (!(b.f_low > 0)) return b.low;
    double phi = b.low;
    for (int k = 0; k < 60; k++) {
        phi = guess(&b, k);
        double f = evaluate(s, (ks_cplx){log_r, pi - phi}).T.im - pi;
        narrow(&b, phi, f);
        if (fabs(f) < 1e-10 || b.high - b.low < 1e-12) break;
    }
    return phi;
}

static double count_above(const ks_spectrum *s, double log_r) {
    return -evaluate(s, (ks_cplx){log_r, pi - angle_of(s, log_r)}).L / pi;
}

/*
 * If |c| is nearly the same at several levels, the angle phi distinguishes the levels, because N rises with
 * phi.
 */
static ks_cplx turn(const ks_spectrum *s, double level, double log_r) {
    double low = 0, high = pi;
    for (int k = 0; k < 50; k++) {
        double phi = 0.5 * (low + high);
        if (-evaluate(s, (ks_cplx){log_r, pi - phi}).L / pi < level)
            low = phi;
        else
            high = phi;
    }
    return (ks_cplx){log_r, pi - 0.5 * (low + high)};
}

/*
 * Searches log c of a level, starting from log |c| of the previous level. `start` is NaN if there is no
 * previous level.
 */
static ks_cplx search(const ks_spectrum *s, double level, double start) {
    if (isnan(start)) {
        double sum = s->dust, largest = s->lambda[0];
        for (size_t l = 0; l < s->n; l++) {
            sum += s->weight[l] * s->lambda[l];
            largest = fmax(largest, s->lambda[l]);
        }
        start = log(largest) + 2 + log(1 + sum / largest / fmin(s->P, s->Q));
    }
    bracket b = {.high = start, .f_high = count_above(s, start) - level};
    /*
     * The noise of unequal columns may have larger eigenvalues than its sum suggests. So the loop raises the
     * bracket until it contains the root.
     */
    for (int k = 0; k < 60 && b.f_high > 0; k++) b.f_high = count_above(s, b.high += 1) - level;
    double step = 0.1;
    b.low = b.high - step;
    b.f_low = count_above(s, b.low) - level;
    for (int k = 0; k < 60 && !(b.f_low > 0); k++) {
        b.high = b.low, b.f_high = b.f_low;
        b.low = b.high - (step *= 1.6);
        b.f_low = count_above(s, b.low) - level;
    }
    double at = b.low, f = b.f_low;
    for (int k = 0; k < 60; k++) {
        at = guess(&b, k);
        f = count_above(s, at) - level;
        narrow(&b, at, f);
        if (fabs(f) < 1e-8 || b.high - b.low < 1e-11) break;
    }
    return fabs(f) < 1e-3 ? (ks_cplx){at, pi - angle_of(s, at)} : turn(s, level, at);
}

/* ---- Newton ---- */

/*
 * Returns the squared distance from a solution. The misfit of the equation for L is divided by the slope of
 * this equation.
 */
static double misfit(const values *v, double level, double *f1, double *f2) {
    *f1 = v->T.im - pi;
    *f2 = v->L + pi * level;
    return *f1 * *f1 + *f2 * *f2 / (1 + v->D.im * v->D.im);
}

/*
 * Makes the last Newton step, and updates T and D to first order instead of evaluating them. The step is so
 * short that its square, the order of the error, is negligible.
 */
static void last_step(ks_cplx step, ks_cplx *l, values *v) {
    ks_cplx T = ks_cmul(v->dT, step), D = ks_cmul(v->dD, step);
    *l = (ks_cplx){l->re + step.re, l->im + step.im};
    v->T = (ks_cplx){v->T.re + T.re, v->T.im + T.im};
    v->D = (ks_cplx){v->D.re + D.re, v->D.im + D.im};
}

/* Improves the guess *l by Newton's method. Returns 1 if *l is now a solution. */
static int newton(const ks_spectrum *s, double level, ks_cplx *l, values *v) {
    static const double converged = 1e-16, near = 1e-9, small = 3e-4;
    double f1, f2;
    *v = evaluate(s, *l);
    double off = misfit(v, level, &f1, &f2);
    for (int k = 0; k < 25; k++) {
        if (off < converged) return 1;
        /* dL = -D dT. The unknowns are the real and imaginary parts of the step. */
        ks_cplx dL = ks_cmul(v->D, v->dT);
        dL.re = -dL.re, dL.im = -dL.im;
        double det = v->dT.im * dL.re - v->dT.re * dL.im;
        if (!(det != 0)) return 0;
        ks_cplx step = {(-f1 * dL.re + f2 * v->dT.re) / det, (-f2 * v->dT.im + f1 * dL.im) / det};
        double length = hypot(step.re, step.im), share = length > 0.5 ? 0.5 / length : 1;
        if (off < near && length < small && l->im + step.im < pi) {
            last_step(step, l, v);
            return 1;
        }
        int better = 0;
        for (int half = 0; half < 6 && !better; half++, share *= 0.5) {
            ks_cplx next = {l->re + share * step.re, l->im + share * step.im};
            if (!(next.im <= pi - 1e-9 && next.im >= 1e-6)) continue;
            double g1, g2;
            values u = evaluate(s, next);
            double nearer = misfit(&u, level, &g1, &g2);
            if (nearer < off || nearer < converged) {
                *l = next, *v = u, off = nearer, f1 = g1, f2 = g2;
                better = 1;
            }
        }
        if (!better) return 0;
    }
    return off < converged;
}

/*
 * Makes a first-order step along the spectrum to the next level. The imaginary part of T stays pi, dL = -D
 * dT, and Im dL = -pi dN.
 */
static ks_cplx along(const values *v, ks_cplx l, double levels) {
    ks_cplx step = cdiv((ks_cplx){pi * levels / v->D.im, 0}, v->dT);
    return (ks_cplx){l.re + step.re, fmin(fmax(l.im + step.im, 1e-6), pi - 1e-9)};
}

void ks_forward(const ks_spectrum *s, size_t K, const double *level, ks_cplx *log_c, double *log_x,
                double *x_rho) {
    values before = {0};
    for (size_t i = 0; i < K; i++) {
        values v;
        int found = !isnan(log_c[i].re) && newton(s, level[i], &log_c[i], &v);
        if (!found && i > 0) {
            log_c[i] = along(&before, log_c[i - 1], level[i] - level[i - 1]);
            found = newton(s, level[i], &log_c[i], &v);
        }
        /* Eigenvalues fall with the level. If they do not, Newton's method found another root. */
        if (found && i > 0 && v.T.re > log_x[i - 1] + 1e-9) found = 0;
        if (!found) {
            ks_cplx safe = log_c[i] = search(s, level[i], i > 0 ? log_c[i - 1].re : NAN);
            v = evaluate(s, safe);
            /* Solve to the last digit, unless Newton's method then finds another root. */
            values exact;
            if (newton(s, level[i], &safe, &exact) && fabs(safe.re - log_c[i].re) < 0.1)
                log_c[i] = safe, v = exact;
        }
        log_x[i] = v.T.re;
        x_rho[i] = -v.D.im / pi;
        before = v;
    }
}

void ks_elasticity(const ks_spectrum *s, size_t K, const ks_cplx *log_c, double *J, size_t ld) {
    for (size_t i = 0; i < K; i++) {
        double r = exp(log_c[i].re);
        ks_columns_at at = noise_at(s, (ks_cplx){r * cos(log_c[i].im), r * sin(log_c[i].im)});
        /*
         * The row contains imaginary parts of lambda/(lambda + kappa), divided by Im(-kappa). `dust` is the
         * noise's part of D, divided in the same way.
         */
        double *row = J + i * ld, dust = at.pull * at.weight, sum = dust;
        for (size_t l = 0; l < s->n; l++) {
            double a = s->lambda[l] + at.kappa.re;
            row[l] = s->weight[l] * s->lambda[l] / (a * a + at.kappa.im * at.kappa.im);
        }
        for (size_t l = 0; l < s->n; l++) sum += row[l];
        for (size_t l = 0; l < s->n; l++) row[l] /= sum;
        if (s->dust > 0) row[s->n] = dust / sum;
    }
}
