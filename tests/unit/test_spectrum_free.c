/* Eigenvalues from moments where no rank is given: the measure's mass is free. */
#include "help/spectrum.h"
#include "kspec.h"
#include "lp/draws.h"
#include "test.h"

#include <string.h>

/* ---- the program, against all vertices ---- */

/* x of the square system A x = b (columns of A of length n <= 3), by Cramer's rule; 0 if singular */
static double det(int n, double (*M)[3]) {
    if (n == 1) return M[0][0];
    if (n == 2) return M[0][0] * M[1][1] - M[0][1] * M[1][0];
    return M[0][0] * (M[1][1] * M[2][2] - M[1][2] * M[2][1]) -
           M[0][1] * (M[1][0] * M[2][2] - M[1][2] * M[2][0]) +
           M[0][2] * (M[1][0] * M[2][1] - M[1][1] * M[2][0]);
}

static int cramer(int n, double (*columns)[3], const double *b, double *x) {
    double M[3][3], whole = 0;
    for (int k = -1; k < n; k++) {
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) M[i][j] = j == k ? b[i] : columns[j][i];
        if (k < 0) {
            whole = det(n, M);
            if (fabs(whole) < 1e-12) return 0;
        } else {
            x[k] = det(n, M) / whole;
        }
    }
    return 1;
}

/* The least cost over all vertices x >= 0 of A x = b, A having n rows */
static double all_vertices(int n, int cols, double (*A)[3], const double *b, const double *c) {
    double best = INFINITY;
    for (unsigned set = 0; set < 1u << cols; set++) {
        if (__builtin_popcount(set) != n) continue;
        double B[3][3], x[3], costs[3], cost = 0;
        int k = 0, ok = 1;
        for (int j = 0; j < cols; j++)
            if (set >> j & 1) {
                memcpy(B[k], A[j], sizeof B[k]);
                costs[k++] = c[j];
            }
        if (!cramer(n, B, b, x)) continue;
        for (k = 0; k < n; k++) ok &= x[k] >= -1e-10, cost += costs[k] * x[k];
        if (ok && cost < best) best = cost;
    }
    return best;
}

/*
 * Moments that a measure has and that none has, with weights: the residual is the least there is, and of the
 * measures with the fitted moments the one with the fewest eigenvalues is taken
 */
TEST(nearest_and_fewest_of_all_vertices) {
    enum { T = 8 };
    int possible = 0;
    for (int t = 0; t < 200; t++) {
        int K = 1 + t % 3, cols = T + 2 * K;
        double s[T], u[T], mu[3] = {0}, W[9] = {0}, A[T + 6][3] = {{0}}, V[T][3], b[3] = {0}, c[T + 6] = {0},
                           p[T], fitted[3], objective, count = 0, counts[T];
        int iterations;
        for (int i = 0; i < T; i++) s[i] = (i + 1.0) / T;
        kspec_random_uniform((uint64_t)t, 1, 0, T, u);
        for (int i = 0; i < T; i++)
            for (int n = 0; n < K; n++) mu[n] += 10 * u[i] * u[i] * pow(s[i], n);
        if (t % 2) mu[K - 1] *= t % 4 == 1 ? -0.5 : 3; /* no measure has these */
        for (int n = 0; n < K; n++)
            for (int l = 0; l <= n; l++) W[n * K + l] = n == l ? 1 + u[n] : t % 5 ? u[n + l] - 0.5 : 0;
        for (int n = 0; n < K; n++)
            for (int l = 0; l <= n; l++) {
                b[n] += W[n * K + l] * mu[l];
                for (int i = 0; i < T; i++) A[i][n] += W[n * K + l] * pow(s[i], l);
            }
        for (int n = 0; n < K; n++) {
            A[T + n][n] = 1, A[T + K + n][n] = -1;
            c[T + n] = c[T + K + n] = 1;
        }
        ks_fit f = {(size_t)K, T, s, W, 1};
        CHECK(ks_fit_measure(&f, mu, p, &objective, &iterations, NULL) == KSPEC_OK);
        CHECK(fabs(objective - all_vertices(K, cols, A, b, c)) < 1e-7);
        /* the residual of p itself is that */
        double residual = 0;
        ks_measure_moments(&f, p, fitted);
        for (int n = 0; n < K; n++) {
            double r = 0, plain = 0;
            for (int l = 0; l <= n; l++) r += W[n * K + l] * (mu[l] - fitted[l]);
            for (int i = 0; i < T; i++) plain += p[i] * pow(s[i], n);
            CHECK(fabs(plain - fitted[n]) < 1e-12);
            residual += fabs(r);
        }
        CHECK(fabs(residual - objective) < 1e-7);
        possible += objective < 1e-9;
        for (int i = 0; i < T; i++) {
            count += p[i] / s[i];
            counts[i] = 1 / s[i];
            for (int n = 0; n < K; n++) V[i][n] = pow(s[i], n);
        }
        double least = all_vertices(K, T, V, fitted, counts);
        if (isfinite(least)) /* not where the fitted moments are a vertex that rounding has moved outside */
            CHECK_MSG(count < least + 1e-5, "%d: %g eigenvalues, %g would do", t, count, least);
    }
    CHECK(possible >= 100 && possible < 150);
}

/* ---- the list ---- */

/* Counted one by one: the largest x with at least k - 1/2 eigenvalues in [x, 1] */
static double plain_count(size_t T, const double *s, const double *p, double d, size_t k) {
    for (size_t i = T; i-- > 0;) {
        double above = 0;
        for (size_t j = T; j-- > i;) above += d * p[j] / s[j];
        if (above >= (double)k - 0.5) return s[i];
    }
    return 0;
}

/* ... and the list has the measure's moments, up to half the n-th power of its largest point */
TEST(counts_by_definition_and_their_rounding) {
    for (int t = 0; t < 60; t++) {
        enum { LIST = 400 };
        size_t T = 3 + (size_t)t % 40;
        double s[64], p[64], lambda[LIST], number = 0, d = 0.1 + t % 7, largest = 0;
        ks_grid_uniform(T + 1, s);
        memmove(s, s + 1, T * sizeof *s);
        kspec_random_uniform((uint64_t)t, 4, 0, T, p);
        for (size_t i = 0; i < T; i++) {
            p[i] = p[i] < 0.7 ? 0 : p[i] * 0.3;
            number += d * p[i] / s[i];
            if (p[i] > 0) largest = s[i];
        }
        ks_fit f = {1, T, s, NULL, 1};
        CHECK_CLOSE(ks_measure_counts(&f, p, d, LIST, lambda), number, 1e-13);
        for (size_t k = 1; k <= LIST; k++) CHECK(lambda[k - 1] == plain_count(T, s, p, d, k));
        CHECK(number < LIST);
        for (int n = 1; n < 8; n++) {
            double listed = 0, whole = 0;
            for (size_t k = 0; k < LIST; k++) listed += pow(lambda[k], n);
            for (size_t i = 0; i < T; i++) whole += d * p[i] * pow(s[i], n - 1);
            CHECK(fabs(listed - whole) <= 0.5 * pow(largest, n) * (1 + 1e-12));
        }
    }
}

/* ---- whole spectra ---- */

static kspec_spectrum_result *recover(const double *m, const double *se, size_t K, kspec_spectrum_opts o) {
    kspec_spectrum_result *r;
    kspec_error e;
    o.size = sizeof o;
    kspec_status st = spectrum_from(m, se, NULL, K, 0, &o, &r, &e);
    CHECK_MSG(st == KSPEC_OK, "%s", e.msg);
    return r;
}

static void power_sums(const double *lambda, size_t d, size_t K, double *m) {
    for (size_t n = 0; n < K; n++) {
        long double sum = 0;
        for (size_t j = 0; j < d; j++) sum += powl(lambda[j], (long double)(n + 1));
        m[n] = (double)sum;
    }
}

/* m(1) and m(2) alone: the fewest are m(1)^2/m(2) eigenvalues, all equal */
TEST(two_moments_by_hand) {
    for (int k = 1; k <= 50; k++) {
        double x = k / 50.0, m[2] = {12.7 * x, 12.7 * x * x};
        kspec_spectrum_result *r = recover(m, NULL, 2, (kspec_spectrum_opts){.upper = 1, .grid = 51});
        CHECK(r->lp->free_mass && r->lp->atoms >= 1 && r->lp->draws == 0 && isnan(r->lp->number_ci_low));
        CHECK_CLOSE(r->lp->number, 12.7, 1e-9);
        CHECK(r->rank == 13 && r->eigenvalues[0] == r->eigenvalues[12]);
        CHECK_CLOSE(r->eigenvalues[0], x, 1e-12);
        CHECK_CLOSE(r->lp->listed[0], 13 * x, 1e-12);
        kspec_free(r);
    }
}

/*
 * Exact moments of one and two levels come back with their numbers, wherever the upper end. Of 1/i six and
 * ten moments give three and five levels, and no more eigenvalues than there are
 */
TEST(exact_moments) {
    double flat[20], levels[15], harmonic[50], m[10];
    for (int j = 0; j < 20; j++) flat[j] = 0.5;
    for (int j = 0; j < 15; j++) levels[j] = j < 3 ? 1 : 0.2;
    for (int j = 0; j < 50; j++) harmonic[j] = 1 / (j + 1.0);
    const struct {
        const double *lambda;
        size_t d;
        /* of the number; of the eigenvalues, all together relative to their sum */
        double number, error[2];
    } spectra[] = {
        {flat, 20, 1e-3, {2e-3, 2e-3}}, {levels, 15, 1e-3, {4e-3, 4e-3}}, {harmonic, 50, 0.24, {0.4, 0.2}}};
    for (int c = 0; c < 3; c++)
        for (int more = 0; more < 2; more++)
            for (int k = 0; k < 3; k++) {
                size_t K = more ? 10 : 6, d = spectra[c].d;
                const double uppers[] = {0, 1, 1.7};
                power_sums(spectra[c].lambda, d, K, m);
                kspec_spectrum_result *r = recover(m, NULL, K, (kspec_spectrum_opts){.upper = uppers[k]});
                double off = 0;
                for (size_t j = 0; j < d || j < r->rank; j++)
                    off += fabs((j < r->rank ? r->eigenvalues[j] : 0) - (j < d ? spectra[c].lambda[j] : 0));
                CHECK_MSG(off < spectra[c].error[more] * m[0], "%d, %zu moments, upper %g: off by %g of %g",
                          c, K, r->lp->upper, off, m[0]);
                CHECK_MSG(r->lp->number > (1 - spectra[c].number) * (double)d &&
                              r->lp->number < 1.001 * (double)d,
                          "%d, %zu moments: %g of %zu", c, K, r->lp->number, d);
                CHECK(r->lp->distance < 1e-5 && r->rank == (size_t)(r->lp->number + 0.5));
                double largest = r->lp->support[r->lp->atoms - 1], number = 0;
                for (size_t i = 0; i < r->lp->atoms; i++) number += r->lp->mass[i];
                CHECK_CLOSE(r->lp->number, number, 1e-12);
                for (size_t n = 0; n < K; n++) {
                    double whole = 0, listed = 0;
                    for (size_t i = 0; i < r->lp->atoms; i++)
                        whole += r->lp->mass[i] * pow(r->lp->support[i], (double)n + 1);
                    for (size_t j = 0; j < r->rank; j++) listed += pow(r->eigenvalues[j], (double)n + 1);
                    CHECK_CLOSE(r->fitted[n], whole, 1e-9);
                    CHECK_CLOSE(r->lp->listed[n], listed, 1e-12);
                    CHECK(fabs(whole - listed) <= 0.5 * pow(largest, (double)n + 1) * (1 + 1e-9));
                }
                kspec_free(r);
            }
}

/* In other units the same eigenvalues and as many, to the bit where the unit is a power of two */
TEST(units_do_not_matter) {
    double m[6] = {2, 0.9, 0.5, 0.31, 0.2, 0.14}, se[6], scaled[6], scaled_se[6];
    for (int n = 0; n < 6; n++) se[n] = 0.1 * m[n];
    for (int e = -150; e <= 150; e += 300) {
        for (int n = 0; n < 6; n++)
            scaled[n] = ldexp(m[n], e * (n + 1)), scaled_se[n] = ldexp(se[n], e * (n + 1));
        kspec_spectrum_opts o = {.upper = 1.5, .draws = 20, .seed = 3}, far = o;
        far.upper = ldexp(1.5, e);
        kspec_spectrum_result *r = recover(m, se, 6, o), *q = recover(scaled, scaled_se, 6, far);
        CHECK(r->lp->draws == 20 && r->rank == q->rank && r->lp->number == q->lp->number);
        for (size_t j = 0; j < r->rank; j++) CHECK(q->eigenvalues[j] == ldexp(r->eigenvalues[j], e));
        kspec_free(r);
        kspec_free(q);
    }
}

/* Draws: the same bits at any number of threads; means and intervals in order; the number's own interval */
TEST(draws) {
    double m[4] = {2, 0.9, 0.5, 0.31}, se[4] = {0.1, 0.1, 0.1, 0.1}, first[4096];
    size_t rank = 0;
    for (int threads = 1; threads <= 3; threads++) {
        kspec_spectrum_result *r =
            recover(m, se, 4, (kspec_spectrum_opts){.upper = 1, .draws = 31, .threads = threads, .seed = 2});
        if (threads == 1) memcpy(first, r->eigenvalues, (rank = r->rank) * sizeof *first);
        CHECK(r->rank == rank && memcmp(first, r->eigenvalues, rank * sizeof *first) == 0);
        CHECK(r->lp->number_ci_low <= r->lp->number_ci_high && r->lp->number_ci_low > 1);
        CHECK(r->lp->number_ci_high >= r->lp->number || r->lp->number_ci_low <= r->lp->number);
        for (size_t j = 0; j < rank; j++) {
            CHECK(r->ci_low[j] <= r->eigenvalues[j] && r->eigenvalues[j] <= r->ci_high[j]);
            CHECK(j == 0 || r->eigenvalues[j] <= r->eigenvalues[j - 1]);
        }
        kspec_free(r);
    }
}

/* What no measure has, or what is less than an eigenvalue: a list of one zero at least, and finite numbers */
TEST(moments_that_no_measure_has) {
    const struct {
        double m[3], upper;
        /* what is expected of the largest; the number is below `most` */
        double top, most;
    } odd[] = {
        {{-1, -0.1, -1}, 1, 0, 0.1},    {{0, 0, 0}, 1, 0, 0.1},         {{0, 0, 0}, 0, 0, 0.1},
        {{0.1, 0.05, 0.04}, 1, 0, 0.5}, {{1, 1, 1}, 1e-2, 1e-2, 1.1e4}, {{1, -0.1, 0}, 1, 1e-3, 1001},
        {{1, 0.5, 0.3}, 1e4, 0, 0.5},
    };
    for (size_t k = 0; k < sizeof odd / sizeof *odd; k++) {
        kspec_spectrum_result *r = recover(odd[k].m, NULL, 3, (kspec_spectrum_opts){.upper = odd[k].upper});
        if (!r) continue;
        CHECK_MSG(fabs(r->eigenvalues[0] - odd[k].top) <= 1e-9 * odd[k].top && r->lp->number < odd[k].most,
                  "%zu: %g, %g of them", k, r->eigenvalues[0], r->lp->number);
        CHECK(r->rank >= 1);
        kspec_free(r);
    }
    /* more than are listed: the list ends, the number does not */
    double vast[2] = {1, 1e-9};
    kspec_spectrum_result *r =
        recover(vast, NULL, 2, (kspec_spectrum_opts){.upper = 1, .spacing = KSPEC_GRID_GEOMETRIC});
    CHECK(r->rank == 4096 && r->lp->number > 9e5 && r->lp->listed[0] < 0.01 && fabs(r->fitted[0] - 1) < 1e-6);
    kspec_free(r);
    kspec_error e;
    CHECK_FAILS(spectrum_from((double[]){-1, -2}, NULL, NULL, 2, 0, NULL, &r, &e), KSPEC_E_ARG, e,
                "no moment is positive");
    kspec_moments_opts how = {.size = sizeof how};
    kspec_spectrum_opts o = {.size = sizeof o, .moments = &how};
    CHECK_FAILS(spectrum_from(vast, NULL, NULL, 2, 0, &o, &r, &e), KSPEC_E_ARG, e,
                "moments: the moments are given, and none is estimated");
    o = (kspec_spectrum_opts){.size = sizeof o, .noise = 1};
    CHECK_FAILS(spectrum_from(vast, NULL, NULL, 2, 0, &o, &r, &e), KSPEC_E_ARG, e, "need the method fit");
    o = (kspec_spectrum_opts){.size = sizeof o, .quantile = KSPEC_QUANTILE_MIDPOINT};
    CHECK_FAILS(spectrum_from(vast, NULL, NULL, 2, 0, &o, &r, &e), KSPEC_E_ARG, e, "quantiles need a rank");
}

int main(void) {
    RUN(nearest_and_fewest_of_all_vertices);
    RUN(counts_by_definition_and_their_rounding);
    RUN(two_moments_by_hand);
    RUN(exact_moments);
    RUN(units_do_not_matter);
    RUN(draws);
    RUN(moments_that_no_measure_has);
    return test_done();
}
