/*
 * Computes with numbers that have twice the digits of a double. A number is the sum of two doubles, where the
 * second is below half a unit of the first. The relative error of an operation is about 2^-103 of its
 * operands, and products must not overflow.
 */
#pragma once

#include <math.h>

typedef struct {
    double hi, lo;
} ks_twice;

#define KS_TWICE_EPSILON 0x1p-102

static inline ks_twice ks_twice_of(double x) { return (ks_twice){x, 0}; }

/* Adds a and b exactly if |a| >= |b| or a = 0. */
static inline ks_twice ks_twice_quick(double a, double b) {
    const double s = a + b;
    return (ks_twice){s, b - (s - a)};
}

/* Returns the exact sum a + b. */
static inline ks_twice ks_twice_sum(double a, double b) {
    const double s = a + b, t = s - a;
    return (ks_twice){s, (a - (s - t)) + (b - t)};
}

/* Returns the exact product a b. */
static inline ks_twice ks_twice_product(double a, double b) {
    const double p = a * b;
    return (ks_twice){p, fma(a, b, -p)};
}

static inline ks_twice ks_twice_add(ks_twice a, ks_twice b) {
    const ks_twice s = ks_twice_sum(a.hi, b.hi);
    return ks_twice_quick(s.hi, s.lo + (a.lo + b.lo));
}

static inline ks_twice ks_twice_minus(ks_twice a) { return (ks_twice){-a.hi, -a.lo}; }

static inline ks_twice ks_twice_mul(ks_twice a, ks_twice b) {
    const ks_twice p = ks_twice_product(a.hi, b.hi);
    return ks_twice_quick(p.hi, p.lo + (a.hi * b.lo + a.lo * b.hi));
}

static inline ks_twice ks_twice_times(ks_twice a, double b) { return ks_twice_mul(a, ks_twice_of(b)); }

/* Returns the quotient a / b. */
static inline ks_twice ks_twice_over(ks_twice a, double b) {
    const double q = a.hi / b;
    const ks_twice rest = ks_twice_add(a, ks_twice_minus(ks_twice_product(q, b)));
    return ks_twice_quick(q, rest.hi / b);
}
