/*
 * Entries that differ widely: the sums that exact adds and subtracts cancel. It takes one entry or row apart;
 * with more, what it gives lies within the rounding that it tells, and auto takes path instead.
 *
 * The truth comes from exact itself where nothing cancels. A cycle uses an entry at most once, so that every
 * moment of order 2 and more is linear in each entry: m(e) = m(0) + e (m(1) - m(0)).
 */
#include "kspec.h"
#include "moments/doubts.h"
#include "oracle/exact.h"
#include "test.h"

#include <math.h>
#include <stdlib.h>

static kspec_moments_result *moments(const double *x, size_t P, size_t Q, unsigned estimators, int n) {
    kspec_matrix phi = {x, P, Q, (ptrdiff_t)Q, 1};
    kspec_moments_opts o = {.size = sizeof o, .nmax = n, .estimators = estimators, .threads = 2};
    kspec_moments_result *r = NULL;
    kspec_error err;
    CHECK_MSG(kspec_moments(&phi, 1, &o, &r, &err) == KSPEC_OK, "%s", err.msg);
    return r;
}

/* m(1 ... n) with entries (0,0) and (1,1) set to `e` and `f`, from those with 0 and 1 */
static void truth(double *x, size_t P, size_t Q, double e, double f, int n, double *m) {
    for (int i = 0; i < n; i++) m[i] = 0;
    for (int k = 0; k < 4; k++) {
        x[0] = k & 1, x[Q + 1] = k >> 1;
        kspec_moments_result *r = moments(x, P, Q, KSPEC_ESTIMATOR_EXACT, n);
        for (int i = 0; i < n; i++)
            m[i] += (k & 1 ? e : 1 - e) * (k >> 1 ? f : 1 - f) * r->estimates[i]->value;
        kspec_free(r);
    }
    x[0] = e, x[Q + 1] = f;
}

/*
 * A large entry, or two; `alone`: the others of their columns are 0, so that no cycle but of order 1 can use
 * them. Returns exact's largest error in units of the rounding that it tells.
 */
static double large_entries(size_t P, size_t Q, int n, double entry, int two, int alone, uint64_t seed) {
    double *x = oracle_matrix(seed, P, Q), m[5], worst = 0;
    for (size_t i = 0; i < P && alone; i++) x[i * Q] = x[i * Q + 1] = 0;
    truth(x, P, Q, entry, two ? entry : 0.5, n, m);
    kspec_moments_result *r = moments(x, P, Q, KSPEC_ESTIMATOR_EXACT, n);
    for (int i = 1; i < n; i++) {
        const kspec_estimate *e = r->estimates[i];
        /* what m is made of is rounded, too */
        double known = 1e-12 * (two ? entry * entry : entry) * fabs(e->std_error);
        CHECK_MSG(fabs(e->value - m[i]) <= e->rounding + known,
                  "%zu x %zu, entry %g: m(%d) = %g, %g with rounding %g", P, Q, entry, i + 1, e->value, m[i],
                  e->rounding);
        worst = fmax(worst, fabs(e->value - m[i]) / e->rounding);
    }
    const kspec_estimate *last = r->estimates[n - 1];
    CHECK_MSG(two ? last->rounding > 0.1 * last->std_error : last->rounding < 1e-6 * last->std_error,
              "%d large, %g: rounding %g, standard error %g", 1 + two, entry, last->rounding,
              last->std_error);
    kspec_free(r);
    r = moments(x, P, Q, KSPEC_ESTIMATOR_AUTO, n);
    for (int i = 1; i < n; i++) {
        const kspec_estimate *e = r->estimates[i];
        CHECK(e->n == i + 1 && !(e->rounding > 0.1 * e->std_error));
        CHECK_MSG(fabs(e->value - m[i]) < 5 * e->std_error, "auto: m(%d) = %g ± %g, not %g", i + 1, e->value,
                  e->std_error, m[i]);
    }
    CHECK(r->estimates[0]->estimator == KSPEC_ESTIMATOR_EXACT);
    CHECK(r->estimates[n - 1]->estimator == (two ? KSPEC_ESTIMATOR_PATH : KSPEC_ESTIMATOR_EXACT));
    CHECK(!two || r->permutations >= 1);
    kspec_free(r);
    free(x);
    return worst;
}

TEST(a_large_entry_costs_no_digits) {
    for (uint64_t seed = 0; seed < 6; seed++) {
        large_entries(150, 101, 4, 1000, 0, 1, seed);
        large_entries(60, 81, 4, 1e5, 0, 0, seed);
        large_entries(24, 30, 5, 3e4, 0, 0, seed);
    }
}

TEST(large_entries_are_within_the_rounding_that_is_told) {
    double worst = 0;
    for (uint64_t seed = 0; seed < 6; seed++) {
        worst = fmax(worst, large_entries(150, 101, 4, 1000, 1, 1, seed));
        worst = fmax(worst, large_entries(60, 81, 4, 1e5, 1, 0, seed));
        worst = fmax(worst, large_entries(24, 30, 5, 3e4, 1, 0, seed));
    }
    /* the bound is not far too wide either */
    CHECK_MSG(worst > 1e-3, "at most %g of what is told", worst);
}

TEST(rows_that_are_scaled_apart) {
    for (int k = 0; k <= 40; k += 4) {
        double s = pow(10, -k), x[4] = {0.3, -1.7, 2.1 * s, 0.9 * s}, m = x[0] * x[1] * x[2] * x[3];
        kspec_moments_result *r = moments(x, 2, 2, KSPEC_ESTIMATOR_EXACT, 2);
        CHECK_MSG(fabs(r->estimates[1]->value - m) <= r->estimates[1]->rounding, "%g: %g, not %g", s,
                  r->estimates[1]->value, m);
        kspec_free(r);
        r = moments(x, 2, 2, KSPEC_ESTIMATOR_AUTO, 2);
        CHECK_MSG(fabs(r->estimates[1]->value - m) <= 1e-12 * fabs(m) + r->estimates[1]->rounding,
                  "%g: %g, not %g", s, r->estimates[1]->value, m);
        CHECK_MSG(r->estimates[1]->estimator == KSPEC_ESTIMATOR_EXACT &&
                      (k < 16 || r->estimates[1]->rounding < 1e-11 * fabs(m)),
                  "%g: rounding %g of %g", s, r->estimates[1]->rounding, m);
        kspec_free(r);
    }
}

TEST(ordinary_entries_lose_nothing) {
    double *x = oracle_matrix(3, 80, 60);
    kspec_moments_result *r = moments(x, 80, 60, KSPEC_ESTIMATOR_AUTO, 4);
    for (size_t k = 0; k < r->count; k++) {
        const kspec_estimate *e = r->estimates[k];
        CHECK(e->estimator == KSPEC_ESTIMATOR_EXACT && e->rounding > 0 && e->rounding < 1e-8 * e->std_error);
    }
    kspec_free(r);
    free(x);
}

TEST(rounding_is_held_against_the_standard_error_or_the_value) {
    CHECK(ks_estimate_doubtful(&(kspec_estimate){.value = 1, .std_error = 2, .rounding = 0.21}));
    CHECK(!ks_estimate_doubtful(&(kspec_estimate){.value = 1, .std_error = 2, .rounding = 0.19}));
    CHECK(ks_estimate_doubtful(&(kspec_estimate){.value = -1, .std_error = NAN, .rounding = 0.11}));
}

int main(void) {
    RUN(a_large_entry_costs_no_digits);
    RUN(large_entries_are_within_the_rounding_that_is_told);
    RUN(rows_that_are_scaled_apart);
    RUN(ordinary_entries_lose_nothing);
    RUN(rounding_is_held_against_the_standard_error_or_the_value);
    return test_done();
}
