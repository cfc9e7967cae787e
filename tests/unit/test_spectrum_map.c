/*
 * The pieces of the fit: the pilot, the forward map and its derivatives, the covariance of the sample's
 * eigenvalues, the leverages. Against plain sums, limits, and values of the reference program.
 */
#include "help/isa.h"
#include "linalg/eigen.h"
#include "linalg/linalg.h"
#include "fit/fit.h"
#include "fit/pilot.h"
#include "fit/scatter.h"
#include "test.h"

#include "oracle/spectrum_values.inc"

#include "kspec.h"

#include <complex.h>

enum { MOST = 400 };
static const double pi = 3.14159265358979323846;

/* A spectrum of n nodes: the arrays are padded here. */
typedef struct {
    double lambda[MOST], weight[MOST];
    ks_spectrum s;
} spectrum;

static void make(spectrum *a, size_t n, double (*lambda)(size_t), size_t ones, double dust, double P,
                 double Q) {
    double total = 0;
    for (size_t l = 0; l < ks_padded(n); l++) {
        a->lambda[l] = l < n ? lambda(l) : 1;
        a->weight[l] = l < ones ? 1 : l < n ? (double)(l - ones + 2) : 0;
        total += a->weight[l];
    }
    const ks_simd *simd;
    CHECK(ks_simd_choose(&simd, NULL) == KSPEC_OK);
    a->s = (ks_spectrum){n, a->lambda, a->weight, ones, total, dust, P, Q, simd, NULL};
}

static double harmonic(size_t l) { return 1 / (double)(l + 1); }
static double steep(size_t l) { return exp(-0.7 * (double)l); }
static double one(size_t l) { return 1 + 0 * (double)l; }

/* ---- the hot loop ---- */

static void check_resolvent(void) {
    spectrum a;
    for (size_t n = 1; n < 60; n += 3)
        for (size_t ones = 0; ones <= n; ones += 1 + n / 3)
            for (int k = 0; k < 12; k++) {
                make(&a, n, k % 2 ? harmonic : steep, ones, 0, 1, 1);
                double size = pow(10, -k), angle = k < 6 ? pi - pow(10, -k) : 0.1 + 0.2 * k, got[5];
                double complex kappa = size * cexp(I * angle), D = 0, E = 0;
                double sum = 0;
                for (size_t l = 0; l < n; l++) {
                    double complex r = 1 / (a.lambda[l] + kappa);
                    D += a.weight[l] * a.lambda[l] * r;
                    E += a.weight[l] * a.lambda[l] * r * r;
                    sum += a.weight[l] * carg(a.lambda[l] + kappa);
                }
                a.s.simd->resolvent(a.lambda, a.weight, ones / 8 * 8, ks_padded(n), creal(kappa),
                                    cimag(kappa), got);
                CHECK(cabs(got[0] + I * got[1] - D) < 1e-12 * cabs(D) + 1e-12 * fabs(creal(D)));
                CHECK(cabs(got[2] + I * got[3] - E) < 1e-11 * (1 + cabs(E)) * (1 + 1 / size));
                CHECK_MSG(fabs(got[4] - sum) < 1e-12 * (1 + fabs(sum)), "%.17g != %.17g, n %zu", got[4], sum,
                          n);
            }
}

TEST(sums_over_nodes_on_every_instruction_set) { EACH_ISA(check_resolvent()); }

/* ---- the map ---- */

static void solve(const spectrum *a, size_t K, double first, ks_cplx *log_c, double *log_x, double *x_rho) {
    double level[MOST];
    for (size_t i = 0; i < K; i++) {
        level[i] = first + (double)i;
        log_c[i] = (ks_cplx){NAN, NAN};
    }
    ks_forward(&a->s, K, level, log_c, log_x, x_rho);
}

TEST(map_and_derivatives_of_the_reference) {
    spectrum a;
    ks_cplx k[20], above[20], below[20];
    double log_x[20], x_rho[20], unused[20], J[20 * 30], V[20 * 20];
    make(&a, 30, harmonic, 30, 0, 80, 120);
    solve(&a, 20, 0.5, k, log_x, x_rho);
    for (int i = 0; i < 20; i++) {
        CHECK(fabs(log_x[i] - forward_log_x[i]) < 1e-6);
        CHECK_CLOSE(x_rho[i], forward_x_rho[i], 1e-5);
        CHECK_CLOSE(exp(k[i].re) * cos(k[i].im), forward_kappa_re[i], 1e-5);
        CHECK_CLOSE(exp(k[i].re) * sin(k[i].im), forward_kappa_im[i], 1e-5);
    }
    ks_elasticity(&a.s, 20, k, J, 30);
    for (int l = 0; l < 30; l++) {
        CHECK_CLOSE(J[l], forward_elasticity_0[l], 1e-5);
        CHECK_CLOSE(J[9 * 30 + l], forward_elasticity_9[l], 1e-5);
    }
    solve(&a, 20, 0.4, above, unused, V);
    solve(&a, 20, 0.6, below, unused, V);
    ks_scatter(20, k, above, below, x_rho, V);
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < 6; j++) CHECK_CLOSE(V[i * 20 + j], forward_covariance[i * 6 + j], 1e-4);
}

/* Columns with a quarter, once and four times the mean variance of noise, in shares whose mean is 1 */
static const double ratio[] = {0.25, 1, 4}, share[] = {0.64, 0.2, 0.16};
static const ks_columns unequal = {3, ratio, share};

/* T = log t and L at c as they are defined, by the sums over columns: tau, s, h and d */
static void by_definition(const ks_spectrum *s, double complex c, double complex *T, double complex *L) {
    static const double just = 1;
    static const ks_columns equal = {1, &just, &just};
    const ks_columns *law = s->columns ? s->columns : &equal;
    double v = isinf(s->Q) ? 0 : s->dust / s->Q;
    double complex h = 0, D = 0, columns = 0;
    for (size_t k = 0; k < law->count; k++) h += law->share[k] / (c + v * law->ratio[k]);
    *L = 0;
    for (size_t l = 0; l < s->n; l++) {
        D += s->weight[l] * s->lambda[l] * h / (1 + s->lambda[l] * h);
        *L += s->weight[l] * clog(1 + s->lambda[l] * h);
    }
    if (isinf(s->Q)) {
        D += s->dust / c;
        *L += s->dust / c;
        *T = clog(c);
    } else {
        double complex small = D / h / s->Q, tau = c - small;
        for (size_t k = 0; k < law->count; k++) {
            double complex d = tau + small + v * law->ratio[k];
            columns += s->Q * law->share[k] / d;
            *L += s->Q * law->share[k] * (clog(d * h) - clog(tau * h));
        }
        *L -= s->Q * small * h;
        D = s->Q - tau * columns;
        *T = clog(1 / h) + clog(tau * h);
    }
    if (isinf(s->P)) return;
    double complex a = 1 - D / s->P;
    *T += clog(a);
    *L += s->P * (a - clog(a));
}

/* Both equations hold at what is found, in gaps, without noise and with, tall and wide. */
TEST(solutions_solve_the_equations) {
    const double shapes[][2] = {{30, 40}, {400, 12}, {7, 7}, {50, INFINITY}, {INFINITY, 50}};
    double (*const kinds[])(size_t) = {harmonic, steep, one};
    for (int s = 0; s < 5; s++)
        for (int kind = 0; kind < 3; kind++)
            for (int noise = 0; noise < 4; noise++) {
                spectrum a;
                double P = shapes[s][0], Q = shapes[s][1], log_x[5], x_rho[5];
                ks_cplx l[5];
                if (noise == 3 && isinf(P)) continue; /* noise is then as many atoms as ratios */
                make(&a, 20, kinds[kind], 12, noise == 3 ? 30 : noise ? 0.3 : 0, P, Q);
                if (noise > 1 && !isinf(Q)) a.s.columns = &unequal;
                solve(&a, 5, 0.5, l, log_x, x_rho);
                for (int i = 0; i < 5; i++) {
                    double complex T, L;
                    by_definition(&a.s, cexp(l[i].re + I * l[i].im), &T, &L);
                    CHECK_MSG(fabs(cimag(T) - pi) < 1e-6, "shape %d kind %d noise %d level %d: %g", s, kind,
                              noise, i, cimag(T) - pi);
                    CHECK_MSG(fabs(-cimag(L) / pi - i - 0.5) < 1e-5, "shape %d kind %d noise %d level %d: %g",
                              s, kind, noise, i, -cimag(L) / pi);
                    CHECK(fabs(log_x[i] - creal(T)) < 1e-6 && x_rho[i] > 0);
                    CHECK(i == 0 || log_x[i] < log_x[i - 1]);
                }
            }
}

static void check_elasticities(const ks_columns *columns) {
    spectrum a;
    ks_cplx k[8], other[8];
    double log_x[8], x_rho[8], moved[2][8], J[8 * 17], row;
    make(&a, 16, harmonic, 10, 0.2, 30, 45);
    a.s.columns = columns;
    solve(&a, 8, 0.5, k, log_x, x_rho);
    ks_elasticity(&a.s, 8, k, J, 17);
    for (int i = 0; i < 8; i++) {
        row = 0;
        for (int l = 0; l < 17; l++) row += J[i * 17 + l];
        CHECK_CLOSE(row, 1, 1e-12);
    }
    for (int l = 0; l < 17; l++) {
        const double h = 1e-3;
        double *x = l < 16 ? &a.lambda[l] : &a.s.dust, before = *x;
        for (int side = 0; side < 2; side++) {
            *x = before * exp(side ? h : -h);
            solve(&a, 8, 0.5, other, moved[side], x_rho);
        }
        *x = before;
        for (int i = 0; i < 8; i++) CHECK(fabs((moved[1][i] - moved[0][i]) / (2 * h) - J[i * 17 + l]) < 2e-5);
    }
}

TEST(elasticities_are_derivatives) {
    check_elasticities(NULL);
    check_elasticities(&unequal);
}

/* With many rows and columns the sample's eigenvalues are the operator's. */
TEST(large_samples_do_not_spread) {
    spectrum a;
    ks_cplx k[10];
    double log_x[10], x_rho[10];
    make(&a, 10, steep, 10, 0, 1e9, 1e9);
    solve(&a, 10, 0.5, k, log_x, x_rho);
    for (int i = 0; i < 10; i++) CHECK(fabs(log_x[i] - log(steep((size_t)i))) < 1e-3);
}

/*
 * One side complete and n equal eigenvalues: Marchenko and Pastur. The share of eigenvalues above x of
 * X X^T/P, X of n x P, is the integral of sqrt((b-x)(x-a))/(2 pi c x), c = n/P, a, b = (1 -+ sqrt c)^2.
 */
TEST(one_complete_side_is_marchenko_pastur) {
    enum { N = 100, P = 250 };
    const double c = (double)N / P, low = pow(1 - sqrt(c), 2), high = pow(1 + sqrt(c), 2);
    spectrum a;
    ks_cplx k[N];
    double log_x[N], x_rho[N];
    for (int swap = 0; swap < 2; swap++) {
        make(&a, N, one, N, 0, swap ? INFINITY : P, swap ? P : INFINITY);
        solve(&a, N, 0.5, k, log_x, x_rho);
        for (int i = 0; i < N; i += 9) {
            double x = exp(log_x[i]), above = 0;
            const int steps = 200000;
            /* by x = middle + half cos(phi), which is smooth at both ends */
            double middle = (low + high) / 2, half = (high - low) / 2, end = acos((x - middle) / half);
            for (int j = 0; j < steps; j++) {
                double phi = end * (j + 0.5) / steps, y = middle + half * cos(phi);
                above += pow(half * sin(phi), 2) / (2 * pi * c * y) * end / steps;
            }
            CHECK_MSG(fabs(N * above - i - 0.5) < 1e-4, "%d: %g", i, N * above);
            CHECK_CLOSE(x_rho[i], N * sqrt((high - x) * (x - low)) / (2 * pi * c), 1e-4);
        }
    }
}

/*
 * Noise and next to nothing else: Marchenko and Pastur again, of P x Q numbers of variance 1. x P has the law
 * of the test before with c = P/Q. |kappa| is nearly constant here, and the levels differ by its angle.
 */
static double next_to_nothing(size_t i) { return 1e-9 / (double)(i + 1); }

TEST(noise_alone_is_marchenko_pastur) {
    enum { P = 30, Q = 40 };
    const double c = (double)P / Q, low = pow(1 - sqrt(c), 2), high = pow(1 + sqrt(c), 2);
    spectrum a;
    ks_cplx k[P];
    double log_x[P], x_rho[P];
    for (int size = 0; size < 3; size++) {
        make(&a, 20, next_to_nothing, 20, 1, P, Q);
        for (int l = 0; l < 20; l++) a.lambda[l] *= pow(100, size);
        solve(&a, P, 0.5, k, log_x, x_rho);
        for (int i = 0; i < P; i++) {
            double x = P * exp(log_x[i]), above = 0;
            const int steps = 20000;
            double middle = (low + high) / 2, half = (high - low) / 2,
                   end = acos(fmax(-1, fmin(1, (x - middle) / half)));
            for (int j = 0; j < steps; j++) {
                double phi = end * (j + 0.5) / steps, y = middle + half * cos(phi);
                above += pow(half * sin(phi), 2) / (2 * pi * c * y) * end / steps;
            }
            CHECK_MSG(fabs(P * above - i - 0.5) < 0.02, "%d, %d: %g", size, i, P * above);
        }
    }
}

/*
 * 500 samples of Gaussian factors, 80 x 120, lambda_i = 1/i for i <= 30, without noise, with noise, and with
 * noise of twice the signal's variance that differs between columns by a factor of 16. The map gives the
 * mean of log s to 0.02 and its standard deviation to 4%, in the first ten; beyond that 4 standard errors
 * are allowed, which 60 normal deviates exceed in one of 260 seeds; the seeds are fixed.
 */
TEST(simulated_samples_lie_where_the_map_says) {
    enum { P = 80, Q = 120, D = 30, FIRST = 10, DRAWS = 500 };
    static double X[P * D], W[Q * D], phi[P * Q], noise[P * Q], G[P * P], s[P], V[D * D];
    for (int dusty = 0; dusty < 3; dusty++) {
        double mean[FIRST] = {0}, square[FIRST] = {0}, log_x[D], x_rho[D], unused[D],
               sd_noise = dusty == 2 ? sqrt(8)
                          : dusty    ? 0.5
                                     : 0;
        for (uint64_t draw = 0; draw < DRAWS; draw++) {
            kspec_random_normal(draw, 5, 0, P * D, X);
            kspec_random_normal(draw, 6, 0, Q * D, W);
            kspec_random_normal(draw, 7, 0, P * Q, noise);
            for (size_t k = 0; k < P * D; k++) X[k] *= sqrt(harmonic(k % D));
            CHECK(ks_blas_enter(1, NULL) == KSPEC_OK);
            ks_gemm(0, 1, P, Q, D, 1, X, D, W, D, 0, phi, Q);
            for (size_t k = 0; k < P * Q; k++) {
                double at = ((double)(k % Q) + 0.5) / Q, r = dusty < 2                  ? 1
                                                             : at < share[0]            ? ratio[0]
                                                             : at < share[0] + share[1] ? ratio[1]
                                                                                        : ratio[2];
                phi[k] += sd_noise * sqrt(r) * noise[k];
            }
            ks_gemm(0, 1, P, P, Q, 1.0 / (P * Q), phi, Q, phi, Q, 0, G, P);
            CHECK(ks_syevd(0, P, G, P, s, NULL) == KSPEC_OK);
            ks_blas_exit();
            for (int i = 0; i < FIRST; i++) {
                double x = log(s[P - 1 - i]);
                mean[i] += x / DRAWS;
                square[i] += x * x / DRAWS;
            }
        }
        spectrum a;
        ks_cplx k[D], above[D], below[D];
        make(&a, D, harmonic, D, sd_noise * sd_noise, P, Q);
        if (dusty == 2) a.s.columns = &unequal;
        solve(&a, 20, 0.5, k, log_x, x_rho);
        solve(&a, 20, 0.4, above, unused, V);
        solve(&a, 20, 0.6, below, unused, V);
        ks_scatter(20, k, above, below, x_rho, V);
        for (int i = 0; i < FIRST; i++) {
            double sd = sqrt(square[i] - mean[i] * mean[i]), off = sqrt(V[i * 20 + i]) / sd - 1;
            CHECK_MSG(fabs(mean[i] - log_x[i]) < 0.02 + 4 * sd / sqrt(DRAWS), "dust %d, %d: %g != %g", dusty,
                      i, log_x[i], mean[i]);
            CHECK_MSG(fabs(off) < 0.04 + 4 / sqrt(2.0 * DRAWS), "dust %d, %d: deviation off by %g", dusty, i,
                      off);
        }
    }
}

/* ---- the noise of columns ---- */

/* Two trials of noise alone, 100 x 200, whose variance in column k is 4^(k mod 3) or 1. */
static void noise_of(uint64_t seed, int differ, ks_arena *arena, ks_noise *noise) {
    enum { P = 100, Q = 200 };
    static double x[2][P * Q];
    for (uint64_t t = 0; t < 2; t++) {
        kspec_random_normal(seed, 8 + t, 0, P * Q, x[t]);
        for (size_t k = 0; k < P * Q && differ; k++) x[t][k] *= pow(2, (double)(k % Q % 3));
    }
    const kspec_matrix phi[] = {{x[0], P, Q, Q, 1}, {x[1], P, Q, Q, 1}};
    const kspec_moments_opts how = {.size = sizeof how};
    ks_trials t = ks_trials_of(phi, 2, &how);
    CHECK(ks_trials_init(&t, NULL) == KSPEC_OK && ks_trials_scale(&t, 2, NULL) == KSPEC_OK);
    CHECK(ks_noise_of_trials(&t, arena, noise, NULL) == KSPEC_OK);
    noise->variance = ldexp(noise->variance, 2 * t.exponent);
}

/* The mean variance within 4 of its standard errors (one in 16,000), the law's spread within 5%. */
TEST(noise_of_columns_by_trials) {
    for (uint64_t seed = 0; seed < 4; seed++)
        for (int differ = 0; differ < 2; differ++) {
            ks_arena arena = {0};
            ks_noise noise;
            double mean = 0, square = 0, truth = differ ? (67 * 1 + 67 * 4 + 66 * 16) / 200.0 : 1,
                   spread = (67 * 1 + 67 * 16 + 66 * 256) / 200.0 / (truth * truth) - 1;
            noise_of(seed, differ, &arena, &noise);
            CHECK(fabs(2 * noise.variance / truth - 1) < 4 * noise.own_error);
            CHECK_CLOSE(noise.own_error, sqrt(2.0 / 20000 * (differ ? spread + 1 : 1)), 0.1);
            CHECK(noise.error >= noise.own_error && (noise.error > 2 * noise.own_error) == differ);
            CHECK(differ ? noise.law.count > 1 : noise.law.count == 0);
            for (size_t k = 0; k < noise.law.count; k++) {
                mean += noise.law.share[k] * noise.law.ratio[k];
                square += noise.law.share[k] * pow(noise.law.ratio[k], 2);
            }
            if (differ) {
                CHECK_CLOSE(mean, 1, 1e-12);
                CHECK_CLOSE(square - 1, spread, 0.05);
            }
            ks_arena_free(&arena);
        }
}

/* kappa is solved for c, where one can tell: to the right of the columns' own levels and off the axis. */
TEST(kappa_gives_c) {
    for (int k = 0; k < 40; k++) {
        const double angle = 0.9 * pi, r = 5 * pow(0.85, k);
        const ks_cplx c = {r * cos(angle), r * sin(angle)};
        const ks_columns_at at = ks_columns_sums(&unequal, 0.05, c);
        const ks_cplx found = ks_columns_solve(&unequal, 0.05, at.kappa, k % 2 ? c : (ks_cplx){NAN, NAN});
        CHECK_MSG(r < 0.2 || hypot(found.re - c.re, found.im - c.im) < 1e-8 * r, "%d: %g %g", k, found.re,
                  found.im);
    }
}

/* ---- the pilot ---- */

TEST(pilot_keeps_the_sum_and_inverts_large_samples) {
    double s[20], lambda[20], sum;
    for (size_t i = 0; i < 20; i++) s[i] = steep(i) * (1 + 0.1 * sin((double)i));
    const double shapes[][2] = {{20, 30}, {30, 20}, {20, 20}, {25, INFINITY}, {1e7, 2e7}};
    for (int k = 0; k < 5; k++) {
        double all = 0;
        sum = 0;
        ks_pilot(20, s, shapes[k][0], shapes[k][1], lambda);
        for (int i = 0; i < 20; i++) sum += s[i], all += lambda[i];
        CHECK_CLOSE(all, sum, k == 2 ? 1e-6 : 1e-9 * fmax(1, shapes[k][0] * 1e-3));
        for (int i = 1; i < 20; i++) CHECK(lambda[i] <= lambda[i - 1]);
        for (int i = 0; i < 20 && k == 4; i++) CHECK_CLOSE(lambda[i], s[i], 1e-4);
    }
}

/* ---- a matrix ---- */

TEST(pieces_of_a_matrix_of_the_reference) {
    const char *path = TEST_SOURCE_DIR "/tests/golden/spectrum_matrix.npy";
    kspec_dataset *data;
    CHECK(kspec_read(&path, 1, NULL, &data, NULL) == KSPEC_OK);
    kspec_matrix phi = kspec_dataset_trial(data, 0);
    kspec_moments_opts how = {.size = sizeof how};
    for (int threads = 1; threads <= 3; threads++) {
        ks_arena arena = {0};
        ks_run run;
        ks_decomposed x;
        ks_observed o;
        CHECK(ks_run_init(&run, threads, (kspec_progress){0}, NULL) == KSPEC_OK);
        CHECK(ks_blas_enter(3, NULL) == KSPEC_OK);
        CHECK(ks_decompose(&run, &phi, 1, &how, KS_VECTORS_MAX, &arena, &x, NULL) == KSPEC_OK);
        CHECK(ks_observe(&run, &x, &arena, &o, NULL) == KSPEC_OK);
        ks_blas_exit();
        CHECK(x.d.n == 60 && o.used == MATRIX_USED && o.K == MATRIX_GROUPS && o.tail && !x.low_rank);
        CHECK_CLOSE(x.unit, matrix_unit, 1e-12);
        CHECK(isnan(x.noise.variance));
        for (int i = 0; i < 60; i++) {
            CHECK_CLOSE(x.d.s[i], matrix_s[i], 1e-9);
            CHECK(fabs(o.pilot[i] - matrix_pilot[i]) < 1e-8);
        }
        for (int i = 0; i < MATRIX_GROUPS; i++) {
            CHECK(o.at[i] == (size_t)matrix_at[i]);
            CHECK(fabs(o.count_shift[i] - matrix_shift[i]) < 1e-6);
            CHECK(fabs(o.count_excess[i] - matrix_excess[i]) < 1e-6);
            CHECK_CLOSE(o.ratio[i], matrix_ratio[i], 1e-6);
        }
        CHECK_CLOSE(o.share, matrix_share, 1e-8);
        CHECK_CLOSE(o.share_variance, matrix_share_variance, 1e-6);
        CHECK(fabs(o.common - matrix_common) < 1e-12);
        ks_arena_free(&arena);
    }
    kspec_free(data);
}

/* The fit with at most `most` singular vectors; everything is held by the arena */
static void fit_with(size_t most, int threads, const kspec_matrix *phi, ks_arena *arena, ks_decomposed *x,
                     ks_observed *o, ks_fitted *f) {
    kspec_moments_opts how = {.size = sizeof how};
    ks_run run;
    CHECK(ks_run_init(&run, threads, (kspec_progress){0}, NULL) == KSPEC_OK);
    CHECK(ks_blas_enter(3, NULL) == KSPEC_OK);
    CHECK(ks_decompose(&run, phi, 1, &how, most, arena, x, NULL) == KSPEC_OK);
    CHECK(ks_observe(&run, x, arena, o, NULL) == KSPEC_OK);
    CHECK(ks_fit_families(&run, o, NAN, 0, arena, f, NULL) == KSPEC_OK);
    ks_blas_exit();
}

/*
 * Of a large matrix the first singular vectors alone are taken, here of one of 60 x 80 and of its transpose:
 * singular values and those vectors are the same, and the eigenvalues lie within a fifth of their interval's
 * half-width.
 */
TEST(the_leading_part_of_a_matrix) {
    const char *path = TEST_SOURCE_DIR "/tests/golden/spectrum_matrix.npy";
    kspec_dataset *data;
    CHECK(kspec_read(&path, 1, NULL, &data, NULL) == KSPEC_OK);
    kspec_matrix given = kspec_dataset_trial(data, 0),
                 turned = {given.data, given.cols, given.rows, given.col_stride, given.row_stride};
    for (int threads = 1; threads <= 3; threads++)
        for (int turn = 0; turn < 2; turn++) {
            const kspec_matrix *phi = turn ? &turned : &given;
            ks_arena arena = {0};
            ks_decomposed x, y;
            ks_observed o, p;
            ks_fitted f, g;
            fit_with(KS_VECTORS_MAX, threads, phi, &arena, &x, &o, &f);
            fit_with(40, threads, phi, &arena, &y, &p, &g);
            CHECK(y.d.n == x.d.n && x.d.vectors == x.d.n && y.d.vectors == 40 && p.used <= 40);
            for (size_t k = 0; k < x.d.n; k++) CHECK(fabs(y.d.s[k] - x.d.s[k]) < 1e-13);
            for (size_t k = 0; k < 40; k++) {
                for (size_t i = 0; i < x.d.P; i++)
                    CHECK(fabs(y.d.U2[k * x.d.P + i] - x.d.U2[k * x.d.P + i]) < 1e-10);
                for (size_t i = 0; i < x.d.Q; i++)
                    CHECK(fabs(y.d.V2[k * x.d.Q + i] - x.d.V2[k * x.d.Q + i]) < 1e-10);
            }
            for (int i = 0; i < 10; i++) {
                double off = fabs(g.log_lambda[i] - f.log_lambda[i]),
                       half = 0.5 * (f.log_high[i] - f.log_low[i]);
                CHECK_MSG(off < 0.2 * half, "%d: off by %g of %g", i, off, half);
            }
            ks_arena_free(&arena);
        }
    kspec_free(data);
}

int main(void) {
    RUN(sums_over_nodes_on_every_instruction_set);
    RUN(map_and_derivatives_of_the_reference);
    RUN(solutions_solve_the_equations);
    RUN(elasticities_are_derivatives);
    RUN(large_samples_do_not_spread);
    RUN(one_complete_side_is_marchenko_pastur);
    RUN(noise_alone_is_marchenko_pastur);
    RUN(simulated_samples_lie_where_the_map_says);
    RUN(noise_of_columns_by_trials);
    RUN(kappa_gives_c);
    RUN(pilot_keeps_the_sum_and_inverts_large_samples);
    RUN(pieces_of_a_matrix_of_the_reference);
    RUN(the_leading_part_of_a_matrix);
    return test_done();
}
