/* Eigenvalues from moments: the linear program, the measure, the errors, and kspec_spectrum() as a whole. */
#include "oracle/brute.h"
#include "kspec.h"
#include "spectrum/draws.h"
#include "spectrum/lp.h"
#include "test.h"

#include <string.h>

/* ---- the linear program ---- */

/* x by Gaussian elimination with pivoting; 0 if singular */
static int solve_square(int n, const double *A, const double *b, double *x) {
    double M[4][5];
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) M[i][j] = A[j * n + i];
        M[i][n] = b[i];
    }
    for (int c = 0; c < n; c++) {
        int p = c;
        for (int r = c; r < n; r++)
            if (fabs(M[r][c]) > fabs(M[p][c])) p = r;
        if (fabs(M[p][c]) < 1e-9) return 0;
        for (int j = 0; j <= n; j++) {
            double t = M[c][j];
            M[c][j] = M[p][j], M[p][j] = t;
        }
        for (int r = 0; r < n; r++)
            for (int j = n; r != c && j >= c; j--) M[r][j] -= M[r][c] / M[c][c] * M[c][j];
    }
    for (int i = 0; i < n; i++) x[i] = M[i][n] / M[i][i];
    return 1;
}

/* The least cost over all vertices: every choice of `rows` columns out of `cols` */
static double brute_lp(const ks_lp *lp) {
    int m = (int)lp->rows, n = (int)lp->cols;
    double best = INFINITY;
    for (unsigned set = 0; set < 1u << n; set++) {
        if (__builtin_popcount(set) != m) continue;
        double B[16], x[4], cost = 0;
        int k = 0, ok = 1;
        for (int j = 0; j < n; j++)
            if (set >> j & 1) memcpy(B + m * k++, lp->A + m * j, (size_t)m * sizeof *B);
        if (!solve_square(m, B, lp->b, x)) continue;
        k = 0;
        for (int j = 0; j < n; j++)
            if (set >> j & 1) {
                ok &= x[k] >= -1e-12;
                cost += lp->c[j] * x[k++];
            }
        if (ok && cost < best) best = cost;
    }
    return best;
}

TEST(linear_program_against_all_vertices) {
    for (int t = 0; t < 60; t++) {
        size_t m = 1 + (size_t)t % 4, n = 10;
        double A[40], b[4] = {0}, c[10], x0[10], x[10], y[4], cost = 0;
        int iterations;
        kspec_random_normal((uint64_t)t, 1, 0, 40, A);
        kspec_random_uniform((uint64_t)t, 2, 0, 10, c); /* costs above 0: bounded */
        kspec_random_uniform((uint64_t)t, 3, 0, 10, x0);
        for (size_t j = 0; j < n; j++)
            for (size_t i = 0; i < m; i++) b[i] += A[j * m + i] * x0[j]; /* feasible */
        ks_lp lp = {m, n, A, b, c};
        CHECK(ks_lp_solve(&lp, x, y, &iterations, NULL) == KSPEC_OK);
        for (size_t j = 0; j < n; j++) cost += c[j] * x[j];
        CHECK_CLOSE(cost, brute_lp(&lp), 1e-8);
        /* the certificate, computed here */
        double dual = 0;
        for (size_t i = 0; i < m; i++) dual += y[i] * b[i];
        CHECK_CLOSE(dual, cost, 1e-7);
        for (size_t j = 0; j < n; j++) {
            double reduced = c[j];
            for (size_t i = 0; i < m; i++) reduced -= y[i] * A[j * m + i];
            CHECK(reduced >= -1e-8 && x[j] >= -1e-8);
        }
    }
}

TEST(linear_program_without_an_optimum) {
    kspec_error e;
    double A[] = {1, 1}, b[] = {-1}, c[] = {1, 1}, x[2], y[1]; /* x1 + x2 = -1 */
    int iterations;
    CHECK_FAILS(ks_lp_solve(&(ks_lp){1, 2, A, b, c}, x, y, &iterations, &e), KSPEC_E_NUMERIC, e,
                "not solved");
    double B[] = {1, -1}, one[] = {1}, gain[] = {-1, 0}; /* x1 - x2 = 1, maximise x1 */
    CHECK_FAILS(ks_lp_solve(&(ks_lp){1, 2, B, one, gain}, x, y, &iterations, &e), KSPEC_E_NUMERIC, e,
                "not solved");
}

/* ---- the measure ---- */

static void unit(size_t K, double *W) {
    memset(W, 0, K * K * sizeof *W);
    for (size_t n = 0; n < K; n++) W[n * K + n] = 1;
}

/* A measure of r atoms is the only one with its first 2r moments: it must come back, wherever it lies on the grid */
TEST(few_atoms_come_back) {
    for (int geometric = 0; geometric < 2; geometric++)
        for (int t = 0; t < 20; t++) {
            enum { T = 101, K = 8 };
            double s[T], p[T], W[K * K], mu[K], want[T] = {0}, u[6], objective, fitted[K];
            int iterations;
            if (geometric)
                ks_grid_geometric(T, 1e-3, s);
            else
                ks_grid_uniform(T, s);
            CHECK(s[0] == 0 && s[T - 1] == 1);
            unit(K, W);
            kspec_random_uniform((uint64_t)t, 9, 0, 6, u);
            size_t at[3] = {(size_t)(u[0] * 30), 40 + (size_t)(u[1] * 20), 70 + (size_t)(u[2] * 31)};
            double total = u[3] + u[4] + u[5];
            for (int k = 0; k < 3; k++) want[at[k]] += u[3 + k] / total;
            ks_fit f = {K, T, s, W};
            ks_measure_moments(&f, want, mu);
            for (size_t n = 0; n < K; n++) {
                double plain = 0;
                for (size_t i = 0; i < T; i++) plain += want[i] * pow(s[i], (double)(n + 1));
                CHECK_CLOSE(mu[n], plain, 1e-13);
            }
            CHECK(ks_fit_measure(&f, mu, p, &objective, &iterations, NULL) == KSPEC_OK);
            CHECK(objective < 1e-8);
            ks_measure_moments(&f, p, fitted);
            for (size_t n = 0; n < K; n++) CHECK(fabs(fitted[n] - mu[n]) < 1e-8);
            /* the area between the two distribution functions: how far mass was moved, on the mean. The solver's 1e-8 in
               the moments is a few thousandths here: what separates two near atoms is a small part of a moment */
            double moved = 0, gap = 0;
            for (size_t i = 0; i + 1 < T; i++) moved += fabs(gap += p[i] - want[i]) * (s[i + 1] - s[i]);
            CHECK_MSG(moved < 5e-3, "geometric %d, %d: moved by %g", geometric, t, moved);
        }
}

/* K = 1 and 2 by hand: what no measure has gives the nearest, at its distance */
TEST(nearest_measures_by_hand) {
    enum { T = 51 };
    double s[T], p[T], W[4], objective;
    int iterations;
    ks_grid_uniform(T, s);
    unit(1, W);
    ks_fit one = {1, T, s, W};
    const double means[] = {-0.3, 0, 0.37, 1, 1.8}, off[] = {0.3, 0, 0, 0, 0.8};
    for (int k = 0; k < 5; k++) {
        CHECK(ks_fit_measure(&one, &means[k], p, &objective, &iterations, NULL) == KSPEC_OK);
        CHECK(fabs(objective - off[k]) < 1e-9);
    }
    CHECK(p[T - 1] == 1);
    unit(2, W);
    ks_fit two = {2, T, s, W};
    /* m(2) > m(1): the nearest has all mass at 0 and 1, m(2) = m(1) = any between */
    CHECK(ks_fit_measure(&two, (double[]){0.2, 0.5}, p, &objective, &iterations, NULL) == KSPEC_OK);
    CHECK(fabs(objective - 0.3) < 1e-9);
    /* m(2) = -0.1 with m(1) = 0: only the atom at 0 is as near as 0.1 */
    CHECK(ks_fit_measure(&two, (double[]){0, -0.1}, p, &objective, &iterations, NULL) == KSPEC_OK);
    CHECK(fabs(objective - 0.1) < 1e-9 && p[0] == 1);
}

/* Moments however far beyond the upper end, and errors however small beside it: all mass lies where it is nearest */
TEST(far_from_every_measure) {
    double m[5] = {1, 1, 1, 1, 1}, se[5] = {0.01, 0.01, 0.01, 0.01, 0.01};
    const double uppers[] = {1e-2, 1e-10, 1e-30, 1e-60};
    for (int k = 0; k < 4; k++)
        for (int errors = 0; errors < 2; errors++) {
            kspec_spectrum_opts o = {.size = sizeof o, .upper = uppers[k], .draws = 3};
            kspec_spectrum_result *r;
            kspec_error e;
            kspec_status st = kspec_spectrum_from_moments(m, errors ? se : NULL, NULL, 5, 5, &o, &r, &e);
            CHECK_MSG(st == KSPEC_OK, "upper %g: %s", uppers[k], e.msg);
            if (st) continue;
            double residual = 0; /* unit weights: sum of 1/(d b^n) - 1 */
            for (int n = 1; n <= 5; n++) residual += 0.2 * pow(uppers[k], -n) - 1;
            for (int j = 0; j < 5; j++) CHECK_CLOSE(r->eigenvalues[j], uppers[k], 1e-12);
            if (!errors) CHECK_CLOSE(r->residual, residual, 1e-9);
            kspec_spectrum_free(r);
        }
    /* an upper end so high that only the atom at 0 is near */
    kspec_spectrum_opts o = {.size = sizeof o, .upper = 1e12, .draws = 3};
    kspec_spectrum_result *r;
    CHECK(kspec_spectrum_from_moments(m, se, NULL, 5, 5, &o, &r, NULL) == KSPEC_OK && r->eigenvalues[0] == 0);
    kspec_spectrum_free(r);
}

/* The quantile by its definition, one level at a time */
static double plain_quantile(size_t T, const double *s, const double *p, double q) {
    double below = 0;
    for (size_t i = 0; i < T; i++)
        if ((below += p[i]) >= q - 1e-9) return s[i];
    return NAN;
}

TEST(quantiles_by_definition) {
    for (int t = 0; t < 40; t++) {
        size_t T = 3 + (size_t)t, d = 1 + (size_t)(7 * t) % 50;
        double s[64], p[64], lambda[64], total = 0;
        kspec_random_uniform((uint64_t)t, 4, 0, T, p);
        for (size_t i = 0; i < T; i++) total += p[i] = p[i] < 0.6 ? 0 : p[i];
        if (total == 0) total = p[T / 2] = 1;
        for (size_t i = 0; i < T; i++) p[i] /= total;
        ks_grid_uniform(T, s);
        ks_fit f = {1, T, s, NULL};
        for (int kind = 0; kind < 2; kind++) {
            ks_measure_quantiles(&f, p, (kspec_quantile)kind, d, lambda);
            for (size_t j = 1; j <= d; j++) {
                double q = kind ? ((double)j - 0.5) / (double)d : (double)j / (double)(d + 1);
                CHECK(lambda[d - j] == plain_quantile(T, s, p, q));
            }
        }
    }
    /* levels that fall on a step of the distribution */
    double s[3] = {0, 0.5, 1}, p[3] = {0.25, 0.5, 0.25}, lambda[3];
    ks_measure_quantiles(&(ks_fit){1, 3, s, NULL}, p, KSPEC_QUANTILE_PAPER, 3, lambda);
    CHECK(lambda[0] == 0.5 && lambda[1] == 0.5 && lambda[2] == 0);
}

/* ---- the errors ---- */

TEST(weights_whiten_and_draws_have_the_covariance) {
    enum { K = 5, N = 20000 };
    double B[K * K], C[K * K] = {0}, m[K] = {1, 1, 1, 1, 1}, W[K * K], d = 7, b = 0.5;
    kspec_random_normal(5, 1, 0, K * K, B);
    for (int i = 0; i < K; i++)
        for (int j = 0; j < K; j++)
            for (int k = 0; k < K; k++) C[i * K + j] += B[i * K + k] * B[j * K + k] * pow(0.1, i + j);
    double se[K], R[K * K];
    for (int i = 0; i < K; i++) se[i] = sqrt(C[i * K + i]);
    for (int i = 0; i < K * K; i++) R[i] = C[i] / se[i / K] / se[i % K];
    ks_arena arena = {0};
    ks_errors e;
    CHECK(ks_errors_init(&e, K, m, se, R, d, b, &arena, NULL) == KSPEC_OK);
    /* in the units of the fit, and with the ridge of 1e-3 on the correlation */
    double U[K * K];
    for (int i = 0; i < K; i++)
        for (int j = 0; j < K; j++)
            U[i * K + j] = C[i * K + j] * (1 + (i == j) * 1e-3) / (d * d) / pow(b, i + j + 2);
    ks_errors_weights(&e, K, KSPEC_WEIGHTS_COVARIANCE, W);
    for (int i = 0; i < K; i++)
        for (int j = 0; j < K; j++) {
            double x = 0;
            for (int k = 0; k < K; k++)
                for (int l = 0; l < K; l++) x += W[i * K + k] * U[k * K + l] * W[j * K + l];
            CHECK(fabs(x - (i == j)) < 1e-9);
            CHECK(j <= i || W[i * K + j] == 0);
        }
    ks_errors_weights(&e, K, KSPEC_WEIGHTS_STDERR, W);
    for (int i = 0; i < K; i++) CHECK_CLOSE(W[i * K + i], d * pow(b, i + 1) / sqrt(C[i * K + i]), 1e-12);
    /* 20000 draws: the standard error of a covariance is below sqrt(2/N) of the variances; 5.5 of them, 15 entries:
       a false alarm in 2e6 (the seed is fixed) */
    double mu[K] = {0.1, 0.2, 0.3, 0.4, 0.5}, z[K], x[K], S[K * K] = {0};
    for (uint64_t k = 0; k < N; k++) {
        ks_errors_draw(&e, mu, 11, k, z, x);
        for (int i = 0; i < K; i++)
            for (int j = 0; j < K; j++) S[i * K + j] += (x[i] - mu[i]) * (x[j] - mu[j]) / N;
    }
    for (int i = 0; i < K; i++)
        for (int j = 0; j < K; j++)
            CHECK(fabs(S[i * K + j] - U[i * K + j]) <
                  5.5 * sqrt(2.0 / N) * sqrt(U[i * K + i] * U[j * K + j]));
    ks_arena_free(&arena);
    /* not known: none, not finite, zero, below rounding */
    const double bad[] = {NAN, INFINITY, 0, 1e-15};
    for (int k = 0; k < 4; k++) {
        se[2] = bad[k];
        CHECK(ks_errors_init(&e, K, m, se, R, d, b, &arena, NULL) == KSPEC_OK && !e.se);
    }
    CHECK(ks_errors_init(&e, K, m, NULL, NULL, d, b, &arena, NULL) == KSPEC_OK && !e.se);
    /* independent where nothing is said of the correlation */
    se[2] = 1;
    CHECK(ks_errors_init(&e, K, m, se, NULL, d, b, &arena, NULL) == KSPEC_OK && e.se);
    for (int i = 0; i < K * K; i++) CHECK(i / K == i % K ? fabs(e.L[i] - 1) < 1e-3 : e.L[i] == 0);
    /* a correlation of 2 */
    kspec_error err;
    double wrong[4] = {1, 2, 2, 1};
    CHECK_FAILS(ks_errors_init(&e, 2, m, se, wrong, d, b, &arena, &err), KSPEC_E_DATA, err,
                "is not positive definite: order 2 of 2");
    ks_arena_free(&arena);
}

/* ---- the whole ---- */

static void power_sums(const double *lambda, size_t d, size_t K, double *m) {
    for (size_t n = 0; n < K; n++) {
        long double sum = 0;
        for (size_t j = 0; j < d; j++) sum += powl(lambda[j], (long double)(n + 1));
        m[n] = (double)sum;
    }
}

/* Exact moments of a few distinct eigenvalues that lie on the grid: they come back, whatever d above their number */
TEST(exact_moments) {
    double lambda[20], m[10];
    for (int j = 0; j < 20; j++) lambda[j] = j < 2 ? 1 : j < 8 ? 0.6 : 0.1;
    power_sums(lambda, 20, 10, m);
    for (size_t d = 20; d <= 60; d += 40)
        for (int kind = 0; kind < 2; kind++) {
            kspec_spectrum_opts o = {
                .size = sizeof o, .upper = 1, .quantile = (kspec_quantile)kind, .grid = 1001};
            kspec_spectrum_result *r;
            CHECK(kspec_spectrum_from_moments(m, NULL, NULL, 10, d, &o, &r, NULL) == KSPEC_OK);
            CHECK(r->rank == d && r->weights == KSPEC_WEIGHTS_UNIT && r->draws == 0 &&
                  r->upper_from == KSPEC_UPPER_GIVEN);
            CHECK(r->distance < 1e-8 && r->residual < 1e-8 && !r->distance_in_errors);
            double off = 0;
            for (size_t j = 0; j < d; j++) {
                off += fabs(r->eigenvalues[j] - (j < 20 ? lambda[j] : 0));
                CHECK(r->eigenvalues[j] == r->plain[j] && isnan(r->std_error[j]) && isnan(r->ci_low[j]));
            }
            /* a level j/(d+1) may fall one step beside: then one eigenvalue is off by the height of a step */
            CHECK_MSG(off < (kind ? 0.05 : 1.01), "d = %zu: %g", d, off);
            for (size_t n = 0; n < 10; n++) CHECK_CLOSE(r->fitted[n], m[n], 1e-6);
            double mass = 0;
            for (size_t k = 0; k < r->atoms; k++) mass += r->mass[k];
            CHECK_CLOSE(mass, 1, 1e-12);
            CHECK_CLOSE(r->participation_ratio, m[0] * m[0] / m[1], 1e-12);
            for (size_t k = 0; k < r->t_count; k++) {
                double sum = 0;
                for (size_t j = 0; j < d; j++) sum += r->eigenvalues[j] / (r->eigenvalues[j] + r->t[k]);
                CHECK_CLOSE(r->effective_dimension[k], sum, 1e-12);
            }
            kspec_spectrum_free(r);
        }
}

/* Twenty moments that fall over twelve decades and more, with a good upper end and with a bad one */
TEST(badly_scaled_moments) {
    double lambda[12], m[20];
    for (int j = 0; j < 12; j++) lambda[j] = 0.24 * pow(0.5, j);
    power_sums(lambda, 12, 20, m);
    CHECK(m[19] / m[0] < 1e-12);
    const double uppers[] = {0.24, 0.3, 1, 0};
    for (int k = 0; k < 4; k++)
        for (int geometric = 0; geometric < 2; geometric++) {
            kspec_spectrum_opts o = {.size = sizeof o,
                                     .upper = uppers[k],
                                     .grid = 2001,
                                     .spacing = geometric ? KSPEC_GRID_GEOMETRIC : KSPEC_GRID_UNIFORM};
            kspec_spectrum_result *r;
            kspec_error e;
            kspec_status st = kspec_spectrum_from_moments(m, NULL, NULL, 20, 12, &o, &r, &e);
            CHECK_MSG(st == KSPEC_OK, "upper %g: %s", uppers[k], e.msg);
            if (st) continue;
            /* the largest stand out whatever the grid; all of them where it ends at the largest */
            double off = 0;
            for (int j = 0; j < 12; j++) off += fabs(r->eigenvalues[j] - lambda[j]);
            CHECK_CLOSE(r->eigenvalues[0], lambda[0], 0.01);
            CHECK_CLOSE(r->eigenvalues[1], lambda[1], 0.08);
            CHECK_MSG(off < (k % 3 ? 0.06 : 0.03), "upper %g geometric %d: off by %g", uppers[k], geometric,
                      off);
            /* relative errors (2e-3 a grid step) at every order, not just absolute ones at the largest */
            for (int n = 0; n < 20; n++)
                CHECK_MSG(fabs(r->fitted[n] - m[n]) < (uppers[k] == 1 ? 0.2 : 0.05) * m[n],
                          "upper %g: m(%d) = %g, %g", uppers[k], n + 1, m[n], r->fitted[n]);
            CHECK(k < 3 || (r->upper_from == KSPEC_UPPER_MOMENTS && r->upper >= 0.24 && r->upper < 0.2401));
            kspec_spectrum_free(r);
        }
}

/* In other units of measurement the eigenvalues are the same, to the bit where the unit is a power of two */
TEST(units_do_not_matter) {
    double m[6] = {2, 0.9, 0.5, 0.31, 0.2, 0.14}, se[6], R[36], scaled[6], scaled_se[6];
    for (int n = 0; n < 6; n++) se[n] = 0.1 * m[n];
    for (int i = 0; i < 36; i++) R[i] = i % 7 ? 0.5 : 1;
    for (int e = -150; e <= 150; e += 300) {
        for (int n = 0; n < 6; n++)
            scaled[n] = ldexp(m[n], e * (n + 1)), scaled_se[n] = ldexp(se[n], e * (n + 1));
        kspec_spectrum_opts o = {.size = sizeof o, .upper = 1.5, .draws = 20, .seed = 3};
        kspec_spectrum_result *r, *q;
        CHECK(kspec_spectrum_from_moments(m, se, R, 6, 9, &o, &r, NULL) == KSPEC_OK);
        o.upper = ldexp(1.5, e);
        CHECK(kspec_spectrum_from_moments(scaled, scaled_se, R, 6, 9, &o, &q, NULL) == KSPEC_OK);
        CHECK(r->draws == 20 && r->weights == KSPEC_WEIGHTS_COVARIANCE && r->distance_in_errors);
        for (int j = 0; j < 9; j++) CHECK(q->eigenvalues[j] == ldexp(r->eigenvalues[j], e));
        for (int j = 0; j < 9; j++)
            CHECK(r->ci_low[j] <= r->eigenvalues[j] && r->eigenvalues[j] <= r->ci_high[j]);
        kspec_spectrum_free(r);
        kspec_spectrum_free(q);
    }
}

static kspec_matrix view(const double *x, size_t P, size_t Q) {
    return (kspec_matrix){x, P, Q, (ptrdiff_t)Q, 1};
}

/* The same of a matrix: its entries times 2^e, the eigenvalues times 4^e */
TEST(units_of_a_matrix_do_not_matter) {
    double x[20 * 15], y[20 * 15];
    brute_matrix(13, 300, x);
    kspec_spectrum_opts o = {.size = sizeof o, .rank = 9, .draws = 20};
    kspec_matrix phi = view(x, 20, 15), other = view(y, 20, 15);
    kspec_spectrum_result *r, *q;
    CHECK(kspec_spectrum(&phi, 1, NULL, &o, &r, NULL) == KSPEC_OK && r->draws == 20);
    for (int e = -70; e <= 70; e += 35) {
        for (int i = 0; i < 300; i++) y[i] = ldexp(x[i], e);
        CHECK(kspec_spectrum(&other, 1, NULL, &o, &q, NULL) == KSPEC_OK &&
              q->weights == KSPEC_WEIGHTS_COVARIANCE);
        for (int j = 0; j < 9; j++) CHECK_CLOSE(q->eigenvalues[j], ldexp(r->eigenvalues[j], 2 * e), 1e-6);
        CHECK_CLOSE(q->participation_ratio_std_error, r->participation_ratio_std_error, 1e-9);
        kspec_spectrum_free(q);
    }
    kspec_spectrum_free(r);
}

TEST(sample_eigenvalues_have_the_naive_moments) {
    const size_t shapes[][2] = {{9, 5}, {5, 9}, {6, 6}, {1, 4}, {3, 1}};
    for (int s = 0; s < 5; s++)
        for (int center = 0; center < 2; center++)
            for (int normalize = 0; normalize < 2; normalize++) {
                size_t P = shapes[s][0], Q = shapes[s][1], n = P < Q ? P : Q;
                double x[81], mean[9] = {0}, y[81], square = 0;
                brute_matrix((uint64_t)s, P * Q, x);
                kspec_matrix phi = view(x, P, Q);
                kspec_moments_opts how = {
                    .size = sizeof how, .center = center, .normalize = normalize, .no_stderr = 1};
                kspec_spectrum_opts o = {.size = sizeof o, .upper = 100};
                kspec_spectrum_result *r;
                CHECK(kspec_spectrum(&phi, 1, &how, &o, &r, NULL) == KSPEC_OK);
                CHECK(r->rank == n && r->sample_count == n);
                for (size_t i = 0; i < P * Q; i++)
                    square += x[i] * x[i] / (double)(P * Q), mean[i % Q] += x[i] / (double)P;
                for (size_t i = 0; i < P * Q; i++)
                    y[i] = (x[i] - center * mean[i % Q]) / (normalize ? sqrt(square) : 1);
                for (int k = 1; k <= 3; k++) {
                    double sum = 0, want = brute_mean(y, y, P, Q, k, BRUTE_ANY, BRUTE_ANY);
                    for (size_t i = 0; i < n; i++) sum += pow(r->sample_eigenvalues[i], k);
                    CHECK(fabs(sum - want) < 1e-11 * fabs(want) + 1e-15);
                }
                for (size_t i = 1; i < n; i++)
                    CHECK(r->sample_eigenvalues[i] <= r->sample_eigenvalues[i - 1]);
                kspec_spectrum_free(r);
            }
    /* trials are averaged */
    double x[2][20], both[20];
    brute_matrix(1, 20, x[0]);
    brute_matrix(2, 20, x[1]);
    for (int i = 0; i < 20; i++) both[i] = (x[0][i] + x[1][i]) / 2;
    kspec_matrix phi[2] = {view(x[0], 4, 5), view(x[1], 4, 5)}, one = view(both, 4, 5);
    kspec_spectrum_opts o = {.size = sizeof o};
    kspec_moments_opts how = {.size = sizeof how, .nmax = 3};
    kspec_spectrum_result *r, *q;
    CHECK(kspec_spectrum(phi, 2, &how, &o, &r, NULL) == KSPEC_OK);
    CHECK(kspec_spectrum(&one, 1, &how, &o, &q, NULL) == KSPEC_OK);
    for (int i = 0; i < 4; i++) CHECK_CLOSE(r->sample_eigenvalues[i], q->sample_eigenvalues[i], 1e-13);
    CHECK(q->upper == q->sample_eigenvalues[0] && q->upper_from == KSPEC_UPPER_SAMPLE);
    kspec_spectrum_free(r);
    kspec_spectrum_free(q);
}

TEST(same_bits_at_any_thread_count) {
    double x[30 * 25], first[10], low[10];
    brute_matrix(4, 750, x);
    kspec_matrix phi = view(x, 30, 25);
    for (int threads = 1; threads <= 3; threads++) {
        kspec_spectrum_opts o = {.size = sizeof o, .rank = 10, .draws = 17, .threads = threads, .seed = 8};
        kspec_spectrum_result *r;
        CHECK(kspec_spectrum(&phi, 1, NULL, &o, &r, NULL) == KSPEC_OK);
        CHECK(r->draws == 17 && r->moments->count == 6);
        if (threads == 1) memcpy(first, r->eigenvalues, sizeof first), memcpy(low, r->ci_low, sizeof low);
        CHECK(memcmp(first, r->eigenvalues, sizeof first) == 0 && memcmp(low, r->ci_low, sizeof low) == 0);
        kspec_spectrum_free(r);
    }
}

/* Nothing to resample: zeros, one entry, a constant matrix (all errors zero), the highest order there is */
TEST(odd_matrices) {
    const struct {
        size_t P, Q;
        double value, top;
    } odd[] = {{3, 4, 0, 0}, {1, 1, 2, 4}, {5, 5, -3, 9}, {2, 2, 1e-120, 1e-240}, {4, 3, 1e120, 1e240}};
    for (int k = 0; k < 5; k++) {
        double x[25];
        for (int i = 0; i < 25; i++) x[i] = odd[k].value;
        kspec_matrix phi = view(x, odd[k].P, odd[k].Q);
        kspec_moments_opts how = {.size = sizeof how, .nmax = 1};
        kspec_spectrum_opts o = {.size = sizeof o};
        kspec_spectrum_result *r;
        kspec_error e;
        CHECK_MSG(kspec_spectrum(&phi, 1, &how, &o, &r, &e) == KSPEC_OK, "%d: %s", k, e.msg);
        if (!r) continue;
        CHECK(r->draws == 0 && r->weights == KSPEC_WEIGHTS_UNIT);
        double sum = 0;
        for (size_t j = 0; j < r->rank; j++) sum += r->eigenvalues[j];
        CHECK(sum <= odd[k].top * 1.001);
        kspec_spectrum_free(r);
    }
}

/* NULL options are zeroed ones; without draws the eigenvalues are those of the one solution */
TEST(defaults_and_no_draws) {
    double x[20 * 15], m[3] = {1, 0.5, 0.3}, se[3] = {0.1, 0.1, 0.1};
    brute_matrix(13, 300, x);
    kspec_matrix phi = view(x, 20, 15);
    kspec_moments_opts how = {.size = sizeof how};
    kspec_spectrum_opts o = {.size = sizeof o};
    kspec_spectrum_result *r, *q;
    CHECK(kspec_spectrum(&phi, 1, NULL, NULL, &r, NULL) == KSPEC_OK && r->rank == 15 && r->draws == 200);
    CHECK(kspec_spectrum(&phi, 1, &how, &o, &q, NULL) == KSPEC_OK && r->moments && q->moments);
    CHECK(memcmp(r->eigenvalues, q->eigenvalues, 15 * sizeof *r->eigenvalues) == 0);
    kspec_spectrum_free(r);
    kspec_spectrum_free(q);
    CHECK(kspec_spectrum_from_moments(m, se, NULL, 3, 4, NULL, &r, NULL) == KSPEC_OK && r->draws == 200);
    CHECK(r->rank == 4 && r->moments == NULL && isfinite(r->std_error[0]));
    o.no_draws = 1;
    CHECK(kspec_spectrum_from_moments(m, se, NULL, 3, 4, &o, &q, NULL) == KSPEC_OK && q->draws == 0);
    for (int j = 0; j < 4; j++)
        CHECK(q->eigenvalues[j] == q->plain[j] && q->plain[j] == r->plain[j] && isnan(q->std_error[j]));
    kspec_spectrum_free(r);
    kspec_spectrum_free(q);
    kspec_spectrum_free(NULL);
}

static int stop(void *ctx, double fraction) {
    double *most = ctx;
    *most = fraction > *most ? fraction : *most;
    return fraction > 0.85;
}

TEST(cancelled) {
    double x[400], most = 0;
    brute_matrix(7, 400, x);
    kspec_matrix phi = view(x, 20, 20);
    kspec_spectrum_opts o = {.size = sizeof o, .progress = {stop, &most}, .threads = 1};
    kspec_spectrum_result *r;
    kspec_error e;
    CHECK_FAILS(kspec_spectrum(&phi, 1, NULL, &o, &r, &e), KSPEC_E_CANCELLED, e, "cancelled");
    CHECK(most > 0.85 && most < 0.95 && !r);
}

TEST(bad_input) {
    double m[3] = {1, 0.5, 0.3}, x[16], se[3] = {1, 1, 1}, t = -1;
    brute_matrix(1, 16, x);
    kspec_matrix phi = view(x, 4, 4);
    kspec_spectrum_result *r;
    kspec_error e;
    const struct {
        kspec_spectrum_opts o;
        const char *message;
    } bad[] = {
        {{.size = 1}, "size field is 1"},
        {{.size = sizeof bad[0].o, .rank = 4}, "rank 3 and the options' rank 4 differ"},
        {{.size = sizeof bad[0].o, .grid = 2}, "grid of 2 points"},
        {{.size = sizeof bad[0].o, .upper = -1}, "upper end -1"},
        {{.size = sizeof bad[0].o, .upper = NAN}, "upper end"},
        {{.size = sizeof bad[0].o, .weights = KSPEC_WEIGHTS_STDERR}, "weights stderr need"},
        {{.size = sizeof bad[0].o, .weights = (kspec_weights)9}, "unknown weights 9"},
        {{.size = sizeof bad[0].o, .quantile = (kspec_quantile)9}, "unknown quantile 9"},
        {{.size = sizeof bad[0].o, .spacing = (kspec_grid)9}, "unknown grid spacing 9"},
        {{.size = sizeof bad[0].o, .draws = -1}, "draws -1 is below 1"},
        {{.size = sizeof bad[0].o, .draws = 5, .no_draws = 1}, "draws 5 and no_draws exclude each other"},
        {{.size = sizeof bad[0].o, .t = &t, .t_count = 1}, "t -1"},
        {{.size = sizeof bad[0].o, .t_count = 1}, "the list of t is missing (NULL)"},
        {{.size = sizeof bad[0].o, .threads = -1}, "threads -1"},
    };
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        r = (kspec_spectrum_result *)(uintptr_t)1;
        CHECK_FAILS(kspec_spectrum_from_moments(m, NULL, NULL, 3, 3, &bad[k].o, &r, &e), KSPEC_E_ARG, e,
                    bad[k].message);
        CHECK(r == NULL);
    }
    kspec_spectrum_opts o = {.size = sizeof o, .rank = 3};
    CHECK_FAILS(kspec_spectrum_from_moments(m, NULL, NULL, 0, 3, &o, &r, &e), KSPEC_E_ARG, e, "moments 0");
    CHECK_FAILS(kspec_spectrum_from_moments(m, NULL, NULL, 3, 0, NULL, &r, &e), KSPEC_E_ARG, e, "rank 0");
    CHECK_FAILS(kspec_spectrum_from_moments(NULL, NULL, NULL, 3, 3, NULL, &r, &e), KSPEC_E_ARG, e,
                "the moments are missing (NULL)");
    CHECK_FAILS(kspec_spectrum_from_moments((double[]){1, NAN}, NULL, NULL, 2, 3, &o, &r, &e), KSPEC_E_DATA,
                e, "m(2) is NaN");
    CHECK_FAILS(kspec_spectrum_from_moments((double[]){-1, -2}, NULL, NULL, 2, 3, &o, &r, &e), KSPEC_E_ARG, e,
                "no moment is positive");
    CHECK_FAILS(kspec_spectrum(NULL, 1, NULL, NULL, &r, &e), KSPEC_E_ARG, e, "the matrix is missing (NULL)");
    kspec_moments_opts how = {.size = sizeof how, .nmax = 5};
    CHECK_FAILS(kspec_spectrum(&phi, 1, &how, &o, &r, &e), KSPEC_E_ARG, e, "order 5 exceeds min(P,Q)=4");
    how = (kspec_moments_opts){
        .size = sizeof how, .nmax = 2, .estimators = KSPEC_ESTIMATOR_NAIVE | KSPEC_ESTIMATOR_PATH};
    CHECK_FAILS(kspec_spectrum(&phi, 1, &how, &o, &r, &e), KSPEC_E_ARG, e, "one of them");
    /* in units in which a moment is no double */
    double y[16];
    for (int i = 0; i < 16; i++) y[i] = x[i] * 1e-60;
    kspec_matrix far = view(y, 4, 4);
    how = (kspec_moments_opts){.size = sizeof how, .nmax = 3};
    CHECK_FAILS(kspec_spectrum(&far, 1, &how, &o, &r, &e), KSPEC_E_NUMERIC, e,
                "m(3) is below the smallest double");
    how.normalize = 1;
    CHECK(kspec_spectrum(&far, 1, &how, &o, &r, &e) == KSPEC_OK);
    kspec_spectrum_free(r);
    /* a petabyte */
    kspec_spectrum_opts vast = {.size = sizeof vast, .draws = 100000};
    CHECK_FAILS(kspec_spectrum_from_moments(m, se, NULL, 3, 100000000, &vast, &r, &e), KSPEC_E_NOMEM, e,
                "a spectrum of rank 100000000 from 100000 draws of 3 moments on a grid of 1001 needs ");
    /* moments far beyond the upper end */
    o.upper = 1e-200;
    CHECK_FAILS(kspec_spectrum_from_moments(m, se, NULL, 3, 3, &o, &r, &e), KSPEC_E_NUMERIC, e,
                "out of range");
}

int main(void) {
    RUN(linear_program_against_all_vertices);
    RUN(linear_program_without_an_optimum);
    RUN(few_atoms_come_back);
    RUN(nearest_measures_by_hand);
    RUN(far_from_every_measure);
    RUN(quantiles_by_definition);
    RUN(weights_whiten_and_draws_have_the_covariance);
    RUN(exact_moments);
    RUN(badly_scaled_moments);
    RUN(units_do_not_matter);
    RUN(units_of_a_matrix_do_not_matter);
    RUN(sample_eigenvalues_have_the_naive_moments);
    RUN(same_bits_at_any_thread_count);
    RUN(odd_matrices);
    RUN(defaults_and_no_draws);
    RUN(cancelled);
    RUN(bad_input);
    return test_done();
}
