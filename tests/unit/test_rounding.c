/*
 * Entries that differ widely: the sums that exact adds and subtracts cancel. What it gives lies within the
 * rounding that it tells, and auto takes path instead.
 *
 * The truth comes from exact itself where nothing cancels. A cycle uses an entry at most once, so that every
 * moment of order 2 and more is linear in each entry: m(e) = m(0) + e (m(1) - m(0)).
 */
#include "kspec.h"
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

/* m(1 ... n) with entry (0,0) set to `entry`, from those with 0 and 1 */
static void truth(double *x, size_t P, size_t Q, double entry, int n, double *m) {
    double before = x[0];
    for (int k = 0; k < 2; k++) {
        x[0] = k;
        kspec_moments_result *r = moments(x, P, Q, KSPEC_ESTIMATOR_EXACT, n);
        for (int i = 0; i < n; i++)
            m[i] = k ? m[i] + entry * (r->estimates[i]->value - m[i]) : r->estimates[i]->value;
        kspec_moments_free(r);
    }
    x[0] = before;
}

/* One large entry; `alone`: the others of its column are 0, so that no cycle but of order 1 can use it. */
static void large_entry(size_t P, size_t Q, int n, double entry, int alone, uint64_t seed, double *worst) {
    double *x = oracle_matrix(seed, P, Q), m[5];
    for (size_t i = 0; i < P && alone; i++) x[i * Q] = 0;
    truth(x, P, Q, entry, n, m);
    x[0] = entry;
    kspec_moments_result *r = moments(x, P, Q, KSPEC_ESTIMATOR_EXACT, n);
    for (int i = 1; i < n; i++) {
        const kspec_estimate *e = r->estimates[i];
        CHECK_MSG(fabs(e->value - m[i]) <= e->rounding,
                  "%zu x %zu, entry %g: m(%d) = %g, %g with rounding %g", P, Q, entry, i + 1, e->value, m[i],
                  e->rounding);
        *worst = fmax(*worst, fabs(e->value - m[i]) / e->rounding);
    }
    const kspec_estimate *last = r->estimates[n - 1];
    CHECK_MSG(last->rounding > 0.1 * last->std_error, "%g, %g", last->rounding, last->std_error);
    kspec_moments_free(r);
    r = moments(x, P, Q, KSPEC_ESTIMATOR_AUTO, n);
    for (int i = 1; i < n; i++) {
        const kspec_estimate *e = r->estimates[i];
        CHECK(e->n == i + 1 && !(e->rounding > 0.1 * e->std_error));
        CHECK_MSG(fabs(e->value - m[i]) < 5 * e->std_error, "auto: m(%d) = %g ± %g, not %g", i + 1, e->value,
                  e->std_error, m[i]);
    }
    CHECK(r->estimates[0]->estimator == KSPEC_ESTIMATOR_EXACT);
    CHECK(r->estimates[n - 1]->estimator == KSPEC_ESTIMATOR_PATH && r->permutations >= 1);
    kspec_moments_free(r);
    free(x);
}

TEST(a_large_entry_is_within_the_rounding_that_is_told) {
    double worst = 0;
    for (uint64_t seed = 0; seed < 6; seed++) {
        large_entry(150, 101, 4, 1000, 1, seed, &worst);
        large_entry(60, 81, 4, 1e5, 0, seed, &worst);
        large_entry(24, 30, 5, 3e4, 0, seed, &worst);
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
        kspec_moments_free(r);
        r = moments(x, 2, 2, KSPEC_ESTIMATOR_AUTO, 2);
        CHECK_MSG(fabs(r->estimates[1]->value - m) <= 1e-12 * fabs(m) + r->estimates[1]->rounding,
                  "%g: %g, not %g", s, r->estimates[1]->value, m);
        CHECK(k < 16 || r->estimates[1]->estimator == KSPEC_ESTIMATOR_PATH);
        kspec_moments_free(r);
    }
}

TEST(ordinary_entries_lose_nothing) {
    double *x = oracle_matrix(3, 80, 60);
    kspec_moments_result *r = moments(x, 80, 60, KSPEC_ESTIMATOR_AUTO, 4);
    for (size_t k = 0; k < r->count; k++) {
        const kspec_estimate *e = r->estimates[k];
        CHECK(e->estimator == KSPEC_ESTIMATOR_EXACT && e->rounding > 0 && e->rounding < 1e-8 * e->std_error);
    }
    kspec_moments_free(r);
    free(x);
}

int main(void) {
    RUN(a_large_entry_is_within_the_rounding_that_is_told);
    RUN(rows_that_are_scaled_apart);
    RUN(ordinary_entries_lose_nothing);
    return test_done();
}
