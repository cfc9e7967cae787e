/* kspec_spectrum() as a whole, from moments and from matrices. Its parts: test_spectrum_fit.c. */
#include "oracle/brute.h"
#include "help/spectrum.h"
#include "kspec.h"
#include "test.h"

#include <string.h>

/*
 * Moments however far beyond the upper end, and errors however small beside it: all mass lies where it is
 * nearest
 */
TEST(far_from_every_measure) {
    double m[5] = {1, 1, 1, 1, 1}, se[5] = {0.01, 0.01, 0.01, 0.01, 0.01};
    const double uppers[] = {1e-2, 1e-10, 1e-30, 1e-60};
    for (int k = 0; k < 4; k++)
        for (int errors = 0; errors < 2; errors++) {
            kspec_spectrum_opts o = {.size = sizeof o, .upper = uppers[k], .draws = 3};
            kspec_spectrum_result *r;
            kspec_error e;
            kspec_status st = spectrum_from(m, errors ? se : NULL, NULL, 5, 5, &o, &r, &e);
            CHECK_MSG(st == KSPEC_OK, "upper %g: %s", uppers[k], e.msg);
            if (st) continue;
            double residual = 0; /* unit weights: sum of 1/(d b^n) - 1 */
            for (int n = 1; n <= 5; n++) residual += 0.2 * pow(uppers[k], -n) - 1;
            for (int j = 0; j < 5; j++) CHECK_CLOSE(r->eigenvalues[j], uppers[k], 1e-12);
            if (!errors) CHECK_CLOSE(r->lp->residual, residual, 1e-9);
            kspec_free(r);
        }
    /* an upper end so high that only the atom at 0 is near */
    kspec_spectrum_opts o = {.size = sizeof o, .upper = 1e12, .draws = 3};
    kspec_spectrum_result *r;
    CHECK(spectrum_from(m, se, NULL, 5, 5, &o, &r, NULL) == KSPEC_OK && r->eigenvalues[0] == 0);
    kspec_free(r);
}

static void power_sums(const double *lambda, size_t d, size_t K, double *m) {
    for (size_t n = 0; n < K; n++) {
        long double sum = 0;
        for (size_t j = 0; j < d; j++) sum += powl(lambda[j], (long double)(n + 1));
        m[n] = (double)sum;
    }
}

/*
 * Exact moments of a few distinct eigenvalues that lie on the grid: they come back, whatever d above their
 * number
 */
TEST(exact_moments) {
    double lambda[20], m[10];
    for (int j = 0; j < 20; j++) lambda[j] = j < 2 ? 1 : j < 8 ? 0.6 : 0.1;
    power_sums(lambda, 20, 10, m);
    for (size_t d = 20; d <= 60; d += 40)
        for (int kind = 0; kind < 2; kind++) {
            kspec_spectrum_opts o = {
                .size = sizeof o, .upper = 1, .quantile = (kspec_quantile)kind, .grid = 1001};
            kspec_spectrum_result *r;
            CHECK(spectrum_from(m, NULL, NULL, 10, d, &o, &r, NULL) == KSPEC_OK);
            CHECK(r->rank == d && r->lp->weights == KSPEC_WEIGHTS_UNIT && r->lp->draws == 0 &&
                  r->lp->upper_from == KSPEC_UPPER_GIVEN);
            CHECK(r->lp->distance < 1e-8 && r->lp->residual < 1e-8 && !r->lp->distance_in_errors);
            double off = 0;
            for (size_t j = 0; j < d; j++) {
                off += fabs(r->eigenvalues[j] - (j < 20 ? lambda[j] : 0));
                CHECK(r->eigenvalues[j] == r->lp->plain[j] && isnan(r->std_error[j]) && isnan(r->ci_low[j]));
            }
            /* a level j/(d+1) may fall one step beside: then one eigenvalue is off by the height of a step */
            CHECK_MSG(off < (kind ? 0.05 : 1.01), "d = %zu: %g", d, off);
            for (size_t n = 0; n < 10; n++) CHECK_CLOSE(r->fitted[n], m[n], 1e-6);
            double mass = 0;
            for (size_t k = 0; k < r->lp->atoms; k++) mass += r->lp->mass[k];
            CHECK_CLOSE(mass, 1, 1e-12);
            CHECK_CLOSE(r->participation_ratio, m[0] * m[0] / m[1], 1e-12);
            for (size_t k = 0; k < r->t_count; k++) {
                double sum = 0;
                for (size_t j = 0; j < d; j++) sum += r->eigenvalues[j] / (r->eigenvalues[j] + r->t[k]);
                CHECK_CLOSE(r->effective_dimension[k], sum, 1e-12);
            }
            kspec_free(r);
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
            kspec_status st = spectrum_from(m, NULL, NULL, 20, 12, &o, &r, &e);
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
            CHECK(k < 3 || (r->lp->upper_from == KSPEC_UPPER_MOMENTS && r->lp->upper >= 0.24 &&
                            r->lp->upper < 0.2401));
            kspec_free(r);
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
        CHECK(spectrum_from(m, se, R, 6, 9, &o, &r, NULL) == KSPEC_OK);
        o.upper = ldexp(1.5, e);
        CHECK(spectrum_from(scaled, scaled_se, R, 6, 9, &o, &q, NULL) == KSPEC_OK);
        CHECK(r->lp->draws == 20 && r->lp->weights == KSPEC_WEIGHTS_COVARIANCE && r->lp->distance_in_errors);
        for (int j = 0; j < 9; j++) CHECK(q->eigenvalues[j] == ldexp(r->eigenvalues[j], e));
        for (int j = 0; j < 9; j++)
            CHECK(r->ci_low[j] <= r->eigenvalues[j] && r->eigenvalues[j] <= r->ci_high[j]);
        kspec_free(r);
        kspec_free(q);
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
    CHECK(spectrum_of(&phi, 1, NULL, &o, &r, NULL) == KSPEC_OK && r->lp->draws == 20);
    for (int e = -70; e <= 70; e += 35) {
        for (int i = 0; i < 300; i++) y[i] = ldexp(x[i], e);
        CHECK(spectrum_of(&other, 1, NULL, &o, &q, NULL) == KSPEC_OK &&
              q->lp->weights == KSPEC_WEIGHTS_COVARIANCE);
        for (int j = 0; j < 9; j++) CHECK_CLOSE(q->eigenvalues[j], ldexp(r->eigenvalues[j], 2 * e), 1e-6);
        CHECK_CLOSE(q->participation_ratio_std_error, r->participation_ratio_std_error, 1e-9);
        kspec_free(q);
    }
    kspec_free(r);
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
                kspec_moments_opts how = {.size = sizeof how, .normalize = normalize, .no_stderr = 1};
                how.center = center ? KSPEC_CENTER_ROWS : KSPEC_CENTER_NONE;
                how.estimators = KSPEC_ESTIMATOR_NAIVE; /* which takes any number of rows */
                kspec_spectrum_opts o = {.size = sizeof o, .upper = 100};
                kspec_spectrum_result *r;
                CHECK(spectrum_of(&phi, 1, &how, &o, &r, NULL) == KSPEC_OK);
                CHECK(r->lp->free_mass && r->sample_count == n);
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
                kspec_free(r);
            }
    /* trials are averaged */
    double x[2][20], both[20];
    brute_matrix(1, 20, x[0]);
    brute_matrix(2, 20, x[1]);
    for (int i = 0; i < 20; i++) both[i] = (x[0][i] + x[1][i]) / 2;
    kspec_matrix phi[2] = {view(x[0], 4, 5), view(x[1], 4, 5)}, one = view(both, 4, 5);
    kspec_spectrum_opts o = {.size = sizeof o, .method = KSPEC_SPECTRUM_METHOD_MOMENTS};
    kspec_moments_opts how = {.size = sizeof how, .nmax = 3};
    kspec_spectrum_result *r, *q;
    CHECK(spectrum_of(phi, 2, &how, &o, &r, NULL) == KSPEC_OK);
    CHECK(spectrum_of(&one, 1, &how, &o, &q, NULL) == KSPEC_OK);
    for (int i = 0; i < 4; i++) CHECK_CLOSE(r->sample_eigenvalues[i], q->sample_eigenvalues[i], 1e-13);
    CHECK(q->lp->upper == q->sample_eigenvalues[0] && q->lp->upper_from == KSPEC_UPPER_SAMPLE);
    kspec_free(r);
    kspec_free(q);
}

TEST(same_bits_at_any_thread_count) {
    double x[30 * 25], first[10], low[10];
    brute_matrix(4, 750, x);
    kspec_matrix phi = view(x, 30, 25);
    for (int threads = 1; threads <= 3; threads++) {
        kspec_spectrum_opts o = {.size = sizeof o, .rank = 10, .draws = 17, .threads = threads, .seed = 8};
        kspec_spectrum_result *r;
        CHECK(spectrum_of(&phi, 1, NULL, &o, &r, NULL) == KSPEC_OK);
        CHECK(r->lp->draws == 17 && r->moments->count == 6);
        if (threads == 1) memcpy(first, r->eigenvalues, sizeof first), memcpy(low, r->ci_low, sizeof low);
        CHECK(memcmp(first, r->eigenvalues, sizeof first) == 0 && memcmp(low, r->ci_low, sizeof low) == 0);
        kspec_free(r);
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
        kspec_spectrum_opts o = {.size = sizeof o, .method = KSPEC_SPECTRUM_METHOD_MOMENTS};
        kspec_spectrum_result *r;
        kspec_error e;
        CHECK_MSG(spectrum_of(&phi, 1, &how, &o, &r, &e) == KSPEC_OK, "%d: %s", k, e.msg);
        if (!r) continue;
        CHECK(r->lp->draws == 0 && r->lp->weights == KSPEC_WEIGHTS_UNIT);
        double sum = 0;
        for (size_t j = 0; j < r->rank; j++) sum += r->eigenvalues[j];
        CHECK(sum <= odd[k].top * 1.001);
        kspec_free(r);
    }
}

/* NULL options are zeroed ones; without draws the eigenvalues are those of the one solution */
TEST(defaults_and_no_draws) {
    double x[20 * 15], m[3] = {1, 0.5, 0.3}, se[3] = {0.1, 0.1, 0.1};
    brute_matrix(13, 300, x);
    kspec_matrix phi = view(x, 20, 15);
    kspec_moments_opts how = {.size = sizeof how};
    kspec_spectrum_opts o = {.size = sizeof o, .method = KSPEC_SPECTRUM_METHOD_MOMENTS};
    kspec_spectrum_opts implied = {.size = sizeof o, .draws = 200};
    kspec_spectrum_result *r, *q;
    CHECK(spectrum_of(&phi, 1, NULL, &implied, &r, NULL) == KSPEC_OK && r->lp->free_mass &&
          r->lp->draws == 200);
    CHECK(spectrum_of(&phi, 1, &how, &o, &q, NULL) == KSPEC_OK && r->moments && q->moments);
    CHECK(r->method == q->method && q->method == KSPEC_SPECTRUM_METHOD_MOMENTS);
    CHECK(memcmp(r->eigenvalues, q->eigenvalues, r->rank * sizeof *r->eigenvalues) == 0);
    kspec_free(r);
    kspec_free(q);
    /* without anything of the linear program, the fit */
    CHECK(spectrum_of(&phi, 1, NULL, NULL, &r, NULL) == KSPEC_OK && r->method == KSPEC_SPECTRUM_METHOD_FIT);
    kspec_free(r);
    CHECK(spectrum_from(m, se, NULL, 3, 4, NULL, &r, NULL) == KSPEC_OK && r->lp->draws == 200);
    CHECK(r->rank == 4 && r->moments == NULL && isfinite(r->std_error[0]));
    o.no_draws = 1;
    CHECK(spectrum_from(m, se, NULL, 3, 4, &o, &q, NULL) == KSPEC_OK && q->lp->draws == 0);
    for (int j = 0; j < 4; j++)
        CHECK(q->eigenvalues[j] == q->lp->plain[j] && q->lp->plain[j] == r->lp->plain[j] &&
              isnan(q->std_error[j]));
    kspec_free(r);
    kspec_free(q);
    kspec_free(NULL);
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
    kspec_spectrum_opts o = {.size = sizeof o, .rank = 20, .progress = {stop, &most}, .threads = 1};
    kspec_spectrum_result *r;
    kspec_error e;
    CHECK_FAILS(spectrum_of(&phi, 1, NULL, &o, &r, &e), KSPEC_E_CANCELLED, e, "cancelled");
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
        {{.size = sizeof bad[0].o, .center = KSPEC_CENTER_ROWS}, "center: the moments are given"},
        {{.size = sizeof bad[0].o, .device = KSPEC_DEVICE_CPU}, "device: the moments are given"},
        {{.size = sizeof bad[0].o, .grid = 2}, "grid of 2 points"},
        {{.size = sizeof bad[0].o, .upper = -1}, "upper end -1"},
        {{.size = sizeof bad[0].o, .upper = NAN}, "upper end"},
        {{.size = sizeof bad[0].o, .weights = KSPEC_WEIGHTS_STDERR}, "weights stderr need"},
        {{.size = sizeof bad[0].o, .weights = (kspec_weights)9}, "unknown weights 9"},
        {{.size = sizeof bad[0].o, .quantile = (kspec_quantile)9}, "unknown quantile 9"},
        {{.size = sizeof bad[0].o, .spacing = (kspec_grid)9}, "unknown grid spacing 9"},
        {{.size = sizeof bad[0].o, .draws = -1}, "draws -1 is below 1"},
        {{.size = sizeof bad[0].o, .draws = 5, .no_draws = 1}, "draws 5 and no_draws cannot be combined"},
        {{.size = sizeof bad[0].o, .t = &t, .t_count = 1}, "t -1"},
        {{.size = sizeof bad[0].o, .t_count = 1}, "the list of t is missing (NULL)"},
        {{.size = sizeof bad[0].o, .threads = -1}, "threads -1"},
        {{.size = sizeof bad[0].o, .method = (kspec_spectrum_method)9}, "unknown method 9"},
        {{.size = sizeof bad[0].o, .noise = -1}, "noise -1 is not a standard deviation"},
        {{.size = sizeof bad[0].o, .noise = 1, .no_noise = 1}, "noise 1 and no_noise cannot be combined"},
        {{.size = sizeof bad[0].o, .rank = 3, .noise = 1},
         "noise and the exponent's range need the method fit"},
        {{.size = sizeof bad[0].o, .exponent_from = 5, .exponent_to = 5}, "from eigenvalue 5 to 5 needs two"},
    };
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        r = (kspec_spectrum_result *)(uintptr_t)1;
        CHECK_FAILS(spectrum_from(m, NULL, NULL, 3, 3, &bad[k].o, &r, &e), KSPEC_E_ARG, e, bad[k].message);
        CHECK(r == NULL);
    }
    kspec_spectrum_opts o = {.size = sizeof o, .rank = 3};
    CHECK_FAILS(spectrum_from(m, NULL, NULL, 0, 3, &o, &r, &e), KSPEC_E_ARG, e, "moments 0");
    CHECK_FAILS(spectrum_from(NULL, NULL, NULL, 3, 3, NULL, &r, &e), KSPEC_E_ARG, e,
                "the moments are missing (NULL)");
    CHECK_FAILS(spectrum_from((double[]){1, NAN}, NULL, NULL, 2, 3, &o, &r, &e), KSPEC_E_DATA, e,
                "m(2) is NaN");
    CHECK_FAILS(spectrum_from((double[]){-1, -2}, NULL, NULL, 2, 3, &o, &r, &e), KSPEC_E_ARG, e,
                "no moment is positive");
    CHECK_FAILS(spectrum_of(NULL, 1, NULL, NULL, &r, &e), KSPEC_E_ARG, e, "the matrix is missing (NULL)");
    kspec_moments_opts how = {.size = sizeof how, .nmax = 5};
    CHECK_FAILS(spectrum_of(&phi, 1, &how, &o, &r, &e), KSPEC_E_ARG, e, "order 5 exceeds min(P,Q)=4");
    how = (kspec_moments_opts){
        .size = sizeof how, .nmax = 2, .estimators = KSPEC_ESTIMATOR_NAIVE | KSPEC_ESTIMATOR_PATH};
    CHECK_FAILS(spectrum_of(&phi, 1, &how, &o, &r, &e), KSPEC_E_ARG, e, "one of them");
    /* what the spectrum has itself is not set twice */
    const struct {
        kspec_moments_opts how;
        const char *message;
    } twice[] = {
        {{.seed = 1}, "seed is set in the moments' options"},
        {{.threads = 1}, "threads is set in the moments' options"},
        {{.progress = {stop, NULL}}, "progress is set"},
        {{.center = KSPEC_CENTER_ROWS}, "center is set"},
        {{.correlation = 1}, "correlation is set"},
        {{.device = KSPEC_DEVICE_CPU}, "device is set"},
        {{.data_memory = KSPEC_MEMORY_DEVICE}, "a spectrum needs its matrix in the host's memory"},
    };
    for (size_t k = 0; k < sizeof twice / sizeof *twice; k++) {
        how = twice[k].how;
        how.size = sizeof how;
        kspec_spectrum_opts both = {.size = sizeof both, .moments = &how};
        CHECK_FAILS(kspec_spectrum(&phi, 1, &both, &r, &e), KSPEC_E_ARG, e, twice[k].message);
    }
    /* in units in which a moment is no double */
    double y[16];
    for (int i = 0; i < 16; i++) y[i] = x[i] * 1e-60;
    kspec_matrix far = view(y, 4, 4);
    how = (kspec_moments_opts){.size = sizeof how, .nmax = 3};
    CHECK_FAILS(spectrum_of(&far, 1, &how, &o, &r, &e), KSPEC_E_NUMERIC, e,
                "m(3) is below the smallest double");
    how.normalize = 1;
    CHECK(spectrum_of(&far, 1, &how, &o, &r, &e) == KSPEC_OK);
    kspec_free(r);
    /* a petabyte */
    kspec_spectrum_opts vast = {.size = sizeof vast, .draws = 100000};
    CHECK_FAILS(spectrum_from(m, se, NULL, 3, 100000000, &vast, &r, &e), KSPEC_E_NOMEM, e,
                "a spectrum of rank 100000000 from 100000 draws of 3 moments on a grid of 1001 needs ");
    /* moments far beyond the upper end */
    o.upper = 1e-200;
    CHECK_FAILS(spectrum_from(m, se, NULL, 3, 3, &o, &r, &e), KSPEC_E_NUMERIC, e, "out of range");
}

/* Newton's identities: exact moments give their eigenvalues; the condition number by differences */
TEST(newton_of_exact_moments) {
    const double sets[4][5] = {{3}, {3, 1}, {1, 0.7, 0.1}, {2, 1.5, 1, 0.5, 0.25}};
    const size_t ranks[4] = {1, 2, 3, 5};
    for (int s = 0; s < 4; s++) {
        const size_t d = ranks[s];
        double m[5], moved[5], worst = 0;
        power_sums(sets[s], d, d, m);
        kspec_spectrum_opts o = {.size = sizeof o, .method = KSPEC_SPECTRUM_METHOD_NEWTON};
        kspec_spectrum_result *r, *other;
        CHECK(spectrum_from(m, NULL, NULL, d, d, &o, &r, NULL) == KSPEC_OK);
        CHECK(r->rank == d && r->newton->complex_count == 0 && !r->lp && isnan(r->std_error[0]));
        for (size_t j = 0; j < d; j++) CHECK_CLOSE(r->eigenvalues[j], sets[s][j], 1e-9);
        double change[5] = {0};
        for (size_t n = 0; n < d; n++) {
            memcpy(moved, m, sizeof m);
            moved[n] *= 1 + 1e-7;
            CHECK(spectrum_from(moved, NULL, NULL, d, d, &o, &other, NULL) == KSPEC_OK);
            for (size_t j = 0; j < d; j++) change[j] += fabs(other->eigenvalues[j] - sets[s][j]) / 1e-7;
            kspec_free(other);
        }
        for (size_t j = 0; j < d; j++) worst = fmax(worst, change[j] / sets[s][0]);
        CHECK_CLOSE(r->newton->condition, worst, 1e-3);
        kspec_free(r);
    }
}

/* Moments that are no sums of powers of three numbers: a complex pair, and the sums still hold */
TEST(newton_of_moments_with_an_error) {
    double m[10], lambda[10] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    kspec_spectrum_opts o = {.size = sizeof o, .method = KSPEC_SPECTRUM_METHOD_NEWTON};
    kspec_spectrum_result *r;
    kspec_error e;
    power_sums((const double[]){1, 0.9, 0.8}, 3, 3, m);
    m[1] *= 1.01;
    CHECK(spectrum_from(m, NULL, NULL, 3, 3, &o, &r, NULL) == KSPEC_OK);
    CHECK(r->newton->complex_count == 2 && r->doubt_count == 1 && r->newton->condition > 10);
    double square = 0;
    for (int k = 0; k < 3; k++)
        square += r->eigenvalues[k] * r->eigenvalues[k] - r->newton->imaginary[k] * r->newton->imaginary[k];
    CHECK_CLOSE(square, m[1], 1e-12);
    kspec_free(r);
    /* ten equal ones: the roots are found, no better than their condition allows */
    power_sums(lambda, 10, 10, m);
    CHECK(spectrum_from(m, NULL, NULL, 10, 10, &o, &r, NULL) == KSPEC_OK);
    for (int k = 0; k < 10; k++) CHECK(fabs(r->eigenvalues[k] - 1) < 0.1);
    CHECK(r->newton->condition > 1e6);
    kspec_free(r);
    CHECK_FAILS(spectrum_from(m, NULL, NULL, 10, 11, &o, &r, &e), KSPEC_E_ARG, e,
                "a rank from 1 to 10, not 11");
    CHECK_FAILS(spectrum_from(m, NULL, NULL, 10, 0, &o, &r, &e), KSPEC_E_ARG, e,
                "a rank from 1 to 10, not 0");
    CHECK_FAILS(spectrum_from(m, NULL, NULL, 2, 3, &o, &r, &e), KSPEC_E_ARG, e,
                "rank 3 exceeds the 2 moments that are there");
    o.grid = 11;
    CHECK_FAILS(spectrum_from(m, NULL, NULL, 3, 3, &o, &r, &e), KSPEC_E_ARG, e, "newton has no grid");
}

int main(void) {
    RUN(newton_of_exact_moments);
    RUN(newton_of_moments_with_an_error);
    RUN(far_from_every_measure);
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
