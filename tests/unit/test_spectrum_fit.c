/* The parts of kspec_spectrum(): the linear program, the measure, and the errors of the moments. */
#include "kspec.h"
#include "lp/draws.h"
#include "lp/lp.h"
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

/*
 * A measure of r atoms is the only one with its first 2r moments: it must come back, wherever it lies on the
 * grid
 */
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
            /*
             * the area between the two distribution functions: how far mass was moved, on the mean. The
             * solver's 1e-8 in the moments is a few thousandths here: what separates two near atoms is a
             * small part of a moment
             */
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
    /*
     * 20000 draws: the standard error of a covariance is below sqrt(2/N) of the variances; 5.5 of them, 15
     * entries: a false alarm in 2e6 (the seed is fixed)
     */
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

int main(void) {
    RUN(linear_program_against_all_vertices);
    RUN(linear_program_without_an_optimum);
    RUN(few_atoms_come_back);
    RUN(nearest_measures_by_hand);
    RUN(quantiles_by_definition);
    RUN(weights_whiten_and_draws_have_the_covariance);
    return test_done();
}
