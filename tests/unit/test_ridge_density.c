/*
 * The density of eigenvalues: Marchenko and Pastur's law, a damped fixed point, closed moments, and the
 * eigenvalues of actual draws.
 */
#include "help/ridge.h"
#include "linalg/eigen.h"
#include "ridge/density.h"

#include <complex.h>
#include <string.h>

/* K = I: eigenvalues of S S^T/n have the law of Marchenko and Pastur, of ratio n/N and scale N/n */
TEST(marchenko_pastur) {
    enum { N_ROWS = 40 };
    double l[N_ROWS];
    for (int i = 0; i < N_ROWS; i++) l[i] = 1;
    const ks_one b = {.n = N_ROWS, .l = l};
    for (double share = 0.5; share < 4; share *= 2) {
        const double c = 1 / share, low = pow(1 - sqrt(c), 2) * share, high = pow(1 + sqrt(c), 2) * share;
        for (double x = 0.05; x < 1.2 * high; x *= 1.1) {
            double f;
            ks_density(&b, share * N_ROWS, &x, 1, &f);
            const double y = x / share; /* a Wishart matrix over its degrees of freedom N */
            const double want =
                x > low && x < high ? sqrt((high - x) * (x - low)) / (2 * acos(-1) * x * share * c) / 1 : 0;
            if (fabs(x - low) > 0.05 * low && fabs(x - high) > 0.05 * high)
                CHECK_MSG(fabs(f - want) < 2e-3 * (1 + want), "N/n = %g, x = %g (%g): %g, not %g", share, x,
                          y, f, want);
        }
    }
}

/* How far the distribution function of the density is from that of the draw; *mass: of the density */
static double furthest(const kspec_ridge_density_result *d, double *mass) {
    double most = 0;
    size_t below = 0;
    *mass = 0;
    for (size_t k = 0; k < d->count; k++) {
        if (k) *mass += (d->density[k] + d->density[k - 1]) / 2 * (d->x[k] - d->x[k - 1]);
        while (below < d->n && d->eigenvalues[below] < d->x[k]) below++;
        most = fmax(most, fabs(d->atom + *mass - (double)below / (double)d->n));
    }
    return most;
}

/*
 * Of draws: the density's mass is 1 - atom, and its distribution function is that of n eigenvalues within
 * 0.03, which for eigenvalues, far more rigid than independent numbers, is many standard deviations
 */
static void against_draw(const problem *q, const kspec_ridge_opts *o, size_t N, size_t count, double atom) {
    kspec_ridge *r = open_problem(q, o);
    kspec_ridge_density_result *d;
    kspec_error e;
    CHECK_MSG(kspec_ridge_density(r, N, count, &d, &e) == KSPEC_OK, "%s", e.msg);
    CHECK(d->n == q->n && d->count == count);
    CHECK_CLOSE(d->atom, atom, 1e-15);
    double mass;
    const double most = furthest(d, &mass);
    CHECK_MSG(fabs(mass + d->atom - 1) < 0.02, "activation %d, N = %zu: mass %g, atom %g", (int)o->activation,
              N, mass, d->atom);
    CHECK_MSG(most < 0.03, "activation %d, n = %zu, N = %zu: %g", (int)o->activation, q->n, N, most);
    kspec_free(d);
    kspec_ridge_close(r);
}

TEST(against_draws) {
    const kspec_ridge_activation kinds[] = {KSPEC_RIDGE_ACTIVATION_RELU, KSPEC_RIDGE_ACTIVATION_PHASES,
                                            KSPEC_RIDGE_ACTIVATION_ABS};
    problem q = make_problem(5, 200, 10, 40);
    for (size_t a = 0; a < 3; a++)
        for (size_t N = 100; N <= 800; N *= 2) {
            const kspec_ridge_opts o = {.size = sizeof o, .activation = kinds[a], .sigma = 0.3};
            against_draw(&q, &o, N, 600, fmax(0, 1 - (double)N / 200));
        }
    free_problem(&q);
}

/* Pairs of cosine and sine, whose rank is 2N, and features of a Matern kernel, one delta for each scale */
TEST(pairs_against_draws) {
    problem q = make_problem(5, 200, 10, 40), large = make_problem(6, 400, 10, 60);
    const kspec_ridge_opts o = {.size = sizeof o, .sigma = 0.3}, wide = {.size = sizeof o, .sigma = 0.6},
                           matern = {
                               .size = sizeof o, .sigma = 0.3, .kernel = KSPEC_KERNEL_MATERN, .nu = 1.5};
    for (size_t N = 50; N <= 200; N *= 2) against_draw(&q, &o, N, 64, fmax(0, 1 - (double)N / 100));
    against_draw(&q, &wide, 60, 64, 0.4);
    against_draw(&large, &o, 120, 32, 0.4);
    problem small = make_problem(7, 120, 10, 40);
    against_draw(&small, &matern, 40, 48, 1 - 80.0 / 120);
    free_problem(&q), free_problem(&large), free_problem(&small);
}

/* K_cos and K_sin of rows x (n x p) in units of sigma, from their definition */
static void kernels(const problem *q, double sigma, double *K[2]) {
    const size_t n = q->n;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            double minus = 0, plus = 0;
            for (size_t k = 0; k < q->p; k++) {
                const double a = q->X[i * q->p + k] / sigma, b = q->X[j * q->p + k] / sigma;
                minus += (a - b) * (a - b), plus += (a + b) * (a + b);
            }
            K[0][i * n + j] = (exp(-minus / 2) + exp(-plus / 2)) / 2;
            K[1][i * n + j] = (exp(-minus / 2) - exp(-plus / 2)) / 2;
        }
}

typedef double complex cplx;

/* Replaces A (n x n) by its inverse, by Gauss and Jordan's elimination. */
static void invert(cplx *A, size_t n) {
    for (size_t c = 0; c < n; c++) {
        const cplx pivot = A[c * n + c];
        A[c * n + c] = 1;
        for (size_t j = 0; j < n; j++) A[c * n + j] /= pivot;
        for (size_t i = 0; i < n; i++) {
            const cplx f = A[i * n + c];
            if (i == c) continue;
            A[i * n + c] = 0;
            for (size_t j = 0; j < n; j++) A[i * n + j] -= f * A[c * n + j];
        }
    }
}

/* The density at x by the damped fixed point at -x - 1e-4 x i, as slow as it is simple */
static double damped(size_t n, double N, double *const K[2], double x) {
    const cplx lambda = -x - 1e-4 * x * I;
    cplx *A = malloc(n * n * sizeof *A), delta[2] = {1 / lambda, 1 / lambda}, trace = 0;
    for (int step = 0; step < 200000; step++) {
        double moved = 0;
        for (size_t i = 0; i < n * n; i++)
            A[i] = N / (double)n * (K[0][i] / (1 + delta[0]) + K[1][i] / (1 + delta[1]));
        for (size_t i = 0; i < n; i++) A[i * n + i] += lambda;
        invert(A, n);
        trace = 0;
        for (size_t i = 0; i < n; i++) trace += A[i * n + i];
        for (int a = 0; a < 2; a++) {
            cplx next = 0;
            for (size_t i = 0; i < n * n; i++) next += K[a][i] * A[i];
            next = (next / (double)n + delta[a]) / 2;
            moved = fmax(moved, cabs(next - delta[a]) / cabs(next));
            delta[a] = next;
        }
        if (moved < 1e-12) break;
    }
    free(A);
    return cimag(trace) / (acos(-1) * (double)n);
}

/* At 12 rows, and at 2N below, at and above n, the density is that of the damped fixed point. */
TEST(pairs_against_the_fixed_point) {
    enum { ROWS = 12, POINTS = 40 };
    problem q = make_problem(11, ROWS, 2, 3);
    double cosines[ROWS * ROWS], sines[ROWS * ROWS], *K[2] = {cosines, sines};
    kernels(&q, 0.3, K);
    const size_t list[] = {3, 6, 20};
    for (size_t k = 0; k < 3; k++) {
        const kspec_ridge_opts o = {.size = sizeof o, .sigma = 0.3};
        kspec_ridge *r = open_problem(&q, &o);
        kspec_ridge_density_result *d;
        kspec_error e;
        CHECK_MSG(kspec_ridge_density(r, list[k], POINTS, &d, &e) == KSPEC_OK, "%s", e.msg);
        double largest = 0;
        for (size_t i = 0; i < POINTS; i++) largest = fmax(largest, d->density[i]);
        CHECK(largest > 0.01);
        for (size_t i = 0; i < POINTS; i += 3) {
            const double want = damped(ROWS, (double)list[k], K, d->x[i]);
            CHECK_MSG(fabs(d->density[i] - want) < 1e-5 * want + 1e-8 * largest,
                      "N = %zu, x = %g: %g, not %g", list[k], d->x[i], d->density[i], want);
        }
        kspec_free(d);
        kspec_ridge_close(r);
    }
    free_problem(&q);
}

/* tr(A B)/n of symmetric matrices */
static double mean_trace(const double *A, const double *B, size_t n) {
    double sum = 0;
    for (size_t i = 0; i < n * n; i++) sum += A[i] * B[i];
    return sum / (double)n;
}

/*
 * The moments of the density are those that the equations give in powers of 1/lambda: with c = N/n, S = K_cos
 * + K_sin and t_a = tr K_a/n, m(1) = c tr S/n = c, m(2) = c^2 tr S^2/n + c sum_a t_a^2, m(3) = c^3 tr S^3/n +
 * 3 c^2 sum_a t_a tr(K_a S)/n + c sum_a t_a^3.
 */
TEST(pairs_have_the_moments) {
    enum { ROWS = 60, POINTS = 600 };
    problem q = make_problem(12, ROWS, 2, 20);
    double *K[2] = {malloc(ROWS * ROWS * 8), malloc(ROWS * ROWS * 8)}, *S = malloc(ROWS * ROWS * 8),
           *square = calloc(ROWS * ROWS, 8);
    kernels(&q, 0.3, K);
    for (size_t i = 0; i < ROWS * ROWS; i++) S[i] = K[0][i] + K[1][i];
    for (size_t i = 0; i < ROWS; i++)
        for (size_t j = 0; j < ROWS; j++)
            for (size_t k = 0; k < ROWS; k++) square[i * ROWS + j] += S[i * ROWS + k] * S[k * ROWS + j];
    for (size_t N = 20; N <= 120; N += 50) {
        const double c = (double)N / ROWS;
        double want[3] = {c, c * c * mean_trace(S, S, ROWS), c * c * c * mean_trace(square, S, ROWS)};
        for (int a = 0; a < 2; a++) {
            double t = 0;
            for (size_t i = 0; i < ROWS; i++) t += K[a][i * ROWS + i] / ROWS;
            want[1] += c * t * t;
            want[2] += 3 * c * c * t * mean_trace(K[a], S, ROWS) + c * t * t * t;
        }
        const kspec_ridge_opts o = {.size = sizeof o, .sigma = 0.3};
        kspec_ridge *r = open_problem(&q, &o);
        kspec_ridge_density_result *d;
        kspec_error e;
        CHECK_MSG(kspec_ridge_density(r, N, POINTS, &d, &e) == KSPEC_OK, "%s", e.msg);
        double found[3] = {0};
        for (size_t k = 1; k < POINTS; k++)
            for (int m = 0; m < 3; m++)
                found[m] +=
                    (d->x[k] - d->x[k - 1]) / 2 *
                    (d->density[k] * pow(d->x[k], m + 1) + d->density[k - 1] * pow(d->x[k - 1], m + 1));
        for (int m = 0; m < 3; m++)
            CHECK_MSG(fabs(found[m] / want[m] - 1) < 4e-3, "N = %zu: m(%d) is %g, not %g", N, m + 1, found[m],
                      want[m]);
        kspec_free(d);
        kspec_ridge_close(r);
    }
    free(K[0]), free(K[1]), free(S), free(square);
    free_problem(&q);
}

/*
 * Rows x and -x: cosines are even and sines odd, the kernels commute, and the density is the sum of those of
 * two kernels, whose eigenvalues the test gives to the program for one kernel. Each kernel has rank n/2, so
 * the atom ends at N = n/2.
 */
TEST(opposite_rows_part_the_kernels) {
    enum { HALF = 40, ROWS = 2 * HALF, P = 30 };
    problem q = make_problem(13, ROWS, 2, P);
    for (size_t i = 0; i < HALF * P; i++) q.X[HALF * P + i] = -q.X[i];
    double *K[2] = {malloc(ROWS * ROWS * 8), malloc(ROWS * ROWS * 8)}, l[2][ROWS];
    kernels(&q, 0.4, K);
    kspec_error e;
    for (int a = 0; a < 2; a++) CHECK(ks_syevd(0, ROWS, K[a], ROWS, l[a], &e) == KSPEC_OK);
    for (size_t N = 10; N <= 160; N *= 2) {
        const kspec_ridge_opts o = {.size = sizeof o, .sigma = 0.4};
        kspec_ridge *r = open_problem(&q, &o);
        kspec_ridge_density_result *d;
        CHECK_MSG(kspec_ridge_density(r, N, 200, &d, &e) == KSPEC_OK, "%s", e.msg);
        CHECK_CLOSE(d->atom, fmax(0, 1 - 2.0 * (double)N / ROWS), 1e-15);
        double one[2][200], largest = 0;
        for (int a = 0; a < 2; a++) {
            const ks_one b = {.n = ROWS, .l = l[a]};
            ks_density(&b, (double)N, d->x, 200, one[a]);
        }
        for (size_t k = 0; k < 200; k++) largest = fmax(largest, one[0][k] + one[1][k]);
        for (size_t k = 0; k < 200; k++) {
            /* less the n zeros of both lists, which eta makes a little wide */
            const double eta = 1e-4 * d->x[k], zeros = eta / (d->x[k] * d->x[k] + eta * eta) / acos(-1),
                         want = one[0][k] + one[1][k] - zeros;
            CHECK_MSG(fabs(d->density[k] - want) < 1e-6 * largest, "N = %zu, x = %g: %g, not %g", N, d->x[k],
                      d->density[k], want);
        }
        kspec_free(d);
        kspec_ridge_close(r);
    }
    free(K[0]), free(K[1]);
    free_problem(&q);
}

/* A row that stands twice lowers the rank of both kernels, so that one eigenvalue in n is 0 for any N. */
TEST(the_atom_counts_ranks) {
    enum { ROWS = 20 };
    problem q = make_problem(14, ROWS, 2, 6);
    for (size_t k = 0; k < q.p; k++) q.X[q.p + k] = q.X[k], q.X[2 * q.p + k] = -q.X[k];
    const kspec_ridge_opts pairs = {.size = sizeof pairs, .sigma = 0.3},
                           phases = {.size = sizeof pairs,
                                     .sigma = 0.3,
                                     .activation = KSPEC_RIDGE_ACTIVATION_PHASES};
    const struct {
        const kspec_ridge_opts *o;
        size_t N, zeros;
    } cases[] = {{&phases, 100, 1}, {&phases, 19, 1}, {&phases, 15, 5}, {&pairs, 100, 1},
                 {&pairs, 10, 1},   {&pairs, 9, 2},   {&pairs, 5, 10}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        kspec_ridge *r = open_problem(&q, cases[k].o);
        kspec_ridge_density_result *d;
        kspec_error e;
        CHECK_MSG(kspec_ridge_density(r, cases[k].N, 30, &d, &e) == KSPEC_OK, "%s", e.msg);
        CHECK_CLOSE(d->atom, (double)cases[k].zeros / ROWS, 1e-15);
        size_t zeros = 0;
        while (zeros < ROWS && d->eigenvalues[zeros] < 1e-12 * d->eigenvalues[ROWS - 1]) zeros++;
        CHECK_MSG(zeros == cases[k].zeros, "case %zu: a draw has %zu zeros", k, zeros);
        kspec_free(d);
        kspec_ridge_close(r);
    }
    free_problem(&q);
}

/* The same bits with every number of threads */
TEST(threads) {
    problem q = make_problem(15, 30, 2, 5);
    kspec_ridge_density_result *d[3];
    kspec_error e;
    for (int t = 1; t <= 3; t++) {
        const kspec_ridge_opts o = {.size = sizeof o, .sigma = 0.5, .threads = t};
        kspec_ridge *r = open_problem(&q, &o);
        CHECK_MSG(kspec_ridge_density(r, 10, 50, &d[t - 1], &e) == KSPEC_OK, "%s", e.msg);
        kspec_ridge_close(r);
        CHECK(memcmp(d[t - 1]->density, d[0]->density, 50 * sizeof(double)) == 0);
    }
    for (int t = 0; t < 3; t++) kspec_free(d[t]);
    free_problem(&q);
}

TEST(refusals) {
    problem q = make_problem(5, 20, 10, 4);
    const kspec_ridge_opts o = {.size = sizeof o};
    kspec_ridge *r = open_problem(&q, &o);
    kspec_ridge_density_result *d;
    kspec_error e;
    CHECK_FAILS(kspec_ridge_density(r, 0, 10, &d, &e), KSPEC_E_ARG, e, "N = 0");
    CHECK_FAILS(kspec_ridge_density(r, 5, 0, &d, &e), KSPEC_E_ARG, e, "count 0");
    kspec_ridge_close(r);
    free_problem(&q);
}

int main(void) {
    RUN(marchenko_pastur);
    RUN(against_draws);
    RUN(pairs_against_draws);
    RUN(pairs_against_the_fixed_point);
    RUN(pairs_have_the_moments);
    RUN(opposite_rows_part_the_kernels);
    RUN(the_atom_counts_ranks);
    RUN(threads);
    RUN(refusals);
    return test_done();
}
