/*
 * The participation ratio of kspec_moments(): by its definition in long double, with error bars from matrices
 * of which a row or a column really is left out; and that it is kspec_dimension()'s.
 */
#include "kspec.h"
#include "help/interval.h"
#include "help/isa.h"
#include "moments/second.h"
#include "oracle/pairs.h"
#include "test.h"

enum { P = 9, Q = 7 };

typedef struct {
    double at[2][P * Q];
    size_t rows, cols, trials;
} sample;

static sample draw(uint64_t seed, size_t trials) {
    sample s = {.rows = P, .cols = Q, .trials = trials};
    double x[2 * P], w[2 * Q];
    kspec_random_normal(seed, 10, 0, 2 * P, x);
    kspec_random_normal(seed, 11, 0, 2 * Q, w);
    for (int t = 0; t < 2; t++) {
        kspec_random_normal(seed, 12 + (uint64_t)t, 0, P * Q, s.at[t]);
        for (size_t i = 0; i < P; i++)
            for (size_t k = 0; k < Q; k++)
                s.at[t][i * Q + k] = 0.3 * s.at[t][i * Q + k] + 0.4 + x[i] * w[k] + x[P + i] * w[Q + k];
    }
    return s;
}

static sample without(const sample *s, size_t row, size_t col) {
    sample r = {.rows = s->rows - (row < s->rows), .cols = s->cols - (col < s->cols), .trials = s->trials};
    for (size_t t = 0; t < s->trials; t++) {
        size_t at = 0;
        for (size_t i = 0; i < s->rows; i++)
            for (size_t k = 0; k < s->cols; k++)
                if (i != row && k != col) r.at[t][at++] = s->at[t][i * s->cols + k];
    }
    return r;
}

/* Columns with their means taken off, where the rows are complete and the columns a sample */
static sample centre(sample s) {
    for (size_t t = 0; t < s.trials; t++)
        for (size_t k = 0; k < s.cols; k++) {
            double mean = 0;
            for (size_t i = 0; i < s.rows; i++) mean += s.at[t][i * s.cols + k] / (double)s.rows;
            for (size_t i = 0; i < s.rows; i++) s.at[t][i * s.cols + k] -= mean;
        }
    return s;
}

/* m(1)^2 (traces) or m(2), not centred: the mean over rows i, j and columns a, b, distinct where sampled */
static double plain(const sample *s, kspec_sampled sampled, int traces) {
    const double *x = s->at[0], *z = s->at[s->trials - 1];
    size_t cols = s->cols;
    long double sum = 0, count = 0;
    for (size_t i = 0; i < s->rows; i++)
        for (size_t j = 0; j < s->rows; j++)
            for (size_t a = 0; a < cols; a++)
                for (size_t b = 0; b < cols; b++) {
                    if (i == j && sampled != KSPEC_SAMPLED_COLS) continue;
                    if (a == b && sampled != KSPEC_SAMPLED_ROWS) continue;
                    long double v = traces ? (long double)x[i * cols + a] * z[i * cols + a] *
                                                 x[j * cols + b] * z[j * cols + b]
                                           : (long double)x[i * cols + a] * z[j * cols + a] *
                                                 x[j * cols + b] * z[i * cols + b];
                    sum += v, count++;
                }
    return (double)(sum / count);
}

static double centred(const sample *s, kspec_sampled sampled, int traces) {
    oracle_matrix x = {s->at[0], s->cols}, z = {s->at[s->trials - 1], s->cols};
    long double sum = 0, count = 0;
    for (size_t a = 0; a < s->cols; a++)
        for (size_t b = 0; b < s->cols; b++) {
            if (a == b && sampled != KSPEC_SAMPLED_ROWS) continue;
            sum += traces ? oracle_product(s->rows, SIZE_MAX, 1, x, a, z, a, z, b, x, b)
                          : oracle_product(s->rows, SIZE_MAX, 1, x, a, z, b, z, a, x, b);
            count++;
        }
    return (double)(sum / count);
}

static double definition(const sample *s, kspec_sampled sampled, int center) {
    if (center && sampled == KSPEC_SAMPLED_COLS) {
        sample c = centre(*s);
        return definition(&c, sampled, 0);
    }
    return center ? centred(s, sampled, 1) / centred(s, sampled, 0)
                  : plain(s, sampled, 1) / plain(s, sampled, 0);
}

static double side(const double *x, size_t N) {
    double mean = 0, sum = 0;
    for (size_t i = 0; i < N; i++) mean += x[i] / (double)N;
    for (size_t i = 0; i < N; i++) sum += (x[i] - mean) * (x[i] - mean);
    return sum * (double)(N - 1) / (double)N;
}

static void check(const sample *s, kspec_sampled sampled, int center, unsigned estimators, int threads) {
    kspec_matrix m[2];
    for (int t = 0; t < 2; t++) m[t] = (kspec_matrix){s->at[t], P, Q, Q, 1};
    kspec_moments_opts o = {.size = sizeof o,
                            .nmax = 2,
                            .estimators = estimators,
                            .sampled = sampled,
                            .center = center ? KSPEC_CENTER_ROWS : KSPEC_CENTER_NONE,
                            .threads = threads};
    kspec_moments_result *r;
    kspec_error err;
    CHECK_MSG(kspec_moments(m, s->trials, &o, &r, &err) == KSPEC_OK, "%s", err.msg);
    if (!r) return;
    double want = definition(s, sampled, center), logs[P + Q], sd;
    for (size_t k = 0; k < P + Q; k++) {
        sample less = without(s, k < P ? k : SIZE_MAX, k < P ? SIZE_MAX : k - P);
        logs[k] = log(definition(&less, sampled, center));
    }
    sd = sqrt((sampled == KSPEC_SAMPLED_COLS ? 0 : side(logs, P)) +
              (sampled == KSPEC_SAMPLED_ROWS ? 0 : side(logs + P, Q)));
    CHECK_CLOSE(r->participation_ratio, want, 1e-11);
    CHECK_CLOSE(r->participation_ratio_std_error, want * sd, 1e-8);
    const double share[2] = {sampled != KSPEC_SAMPLED_COLS, sampled != KSPEC_SAMPLED_ROWS};
    double ends[2];
    interval_ends(logs, P, Q, share, log(want), 0.5, ends);
    CHECK_CLOSE(r->participation_ratio_ci_low, fmax(1, want * exp(ends[0])), 1e-7);
    CHECK_CLOSE(r->participation_ratio_ci_high, fmax(1, want * exp(ends[1])), 1e-7);
    kspec_free(r);
}

TEST(by_definition) {
    for (size_t trials = 1; trials <= 2; trials++)
        for (int kind = 0; kind < 6; kind++) {
            sample s = draw(30 + (uint64_t)kind, trials);
            for (int threads = 1; threads <= 3; threads++)
                EACH_ISA(check(&s, (kspec_sampled)(kind % 3), kind >= 3, 0, threads));
        }
}

/* Whatever the estimators; path's m(2) of two trials is another sum, and has another leave-one-out. */
TEST(whatever_the_estimators) {
    sample s = draw(40, 1), two = draw(41, 2);
    unsigned each[] = {KSPEC_ESTIMATOR_NAIVE,  KSPEC_ESTIMATOR_KV_ROW,
                       KSPEC_ESTIMATOR_KV_COL, KSPEC_ESTIMATOR_PATH,
                       KSPEC_ESTIMATOR_EXACT,  KSPEC_ESTIMATOR_PATH | KSPEC_ESTIMATOR_EXACT};
    for (size_t k = 0; k < sizeof each / sizeof *each; k++) {
        check(&s, KSPEC_SAMPLED_BOTH, 0, each[k], 1);
        if (each[k] != KSPEC_ESTIMATOR_PATH) check(&two, KSPEC_SAMPLED_BOTH, 0, each[k], 1);
    }
}

/*
 * tr(G)^2 / tr(G^2) of the Gram matrix of the mean over trials. Path and exact have it from their m(2), also
 * where one entry is far larger than the rest, or each row in another unit.
 */
static double naive_ratio(const double *x) {
    double trace = 0, square = 0;
    for (size_t i = 0; i < P; i++)
        for (size_t j = 0; j < P; j++) {
            double g = 0;
            for (size_t k = 0; k < Q; k++) g += x[i * Q + k] * x[j * Q + k];
            if (i == j) trace += g;
            square += g * g;
        }
    return trace * trace / square;
}

TEST(the_naive_one) {
    const unsigned each[] = {KSPEC_ESTIMATOR_AUTO, KSPEC_ESTIMATOR_NAIVE, KSPEC_ESTIMATOR_PATH,
                             KSPEC_ESTIMATOR_EXACT};
    for (size_t trials = 1; trials <= 2; trials++)
        for (int kind = 0; kind < 3; kind++) {
            sample s = draw(60, trials);
            for (size_t k = 0; k < trials; k++) {
                if (kind == 1) s.at[k][2 * Q + 3] = 1e6;
                for (size_t i = 0; i < P * Q && kind == 2; i++)
                    s.at[k][i] = ldexp(s.at[k][i], 7 * (int)(i / Q) - 20);
            }
            kspec_matrix m[2] = {{s.at[0], P, Q, Q, 1}, {s.at[1], P, Q, Q, 1}};
            double x[P * Q];
            for (size_t k = 0; k < P * Q; k++) x[k] = (s.at[0][k] + s.at[trials - 1][k]) / 2;
            for (size_t e = 0; e < sizeof each / sizeof *each; e++)
                for (int no_stderr = 0; no_stderr < 2; no_stderr++) {
                    kspec_moments_opts o = {
                        .size = sizeof o, .nmax = 2, .estimators = each[e], .no_stderr = no_stderr};
                    kspec_moments_result *r;
                    CHECK(kspec_moments(m, trials, &o, &r, NULL) == KSPEC_OK);
                    CHECK_CLOSE(r->participation_ratio_naive, naive_ratio(x), 1e-12);
                    CHECK(isnan(r->participation_ratio_std_error) || !no_stderr);
                    kspec_free(r);
                }
        }
}

/* As kspec_dimension() has it, to the naive one; three trials, so that splits are drawn. */
TEST(as_dimension_has_it) {
    sample s = draw(50, 2), third = draw(51, 1);
    kspec_matrix m[3] = {{s.at[0], P, Q, Q, 1}, {s.at[1], P, Q, Q, 1}, {third.at[0], P, Q, Q, 1}};
    size_t ragged[P] = {3, 2, 3, 3, 2, 3, 3, 3, 2};
    for (int kind = 0; kind < 12; kind++) {
        const kspec_center center = (kspec_center)(KSPEC_CENTER_NONE + kind % 3); /* none, rows, columns */
        size_t trials = kind >= 6 ? 3 : 1;
        const size_t *rows = kind / 3 == 3 && center != KSPEC_CENTER_COLS ? ragged : NULL;
        kspec_moments_opts o = {
            .size = sizeof o, .nmax = 2, .center = center, .row_trials = rows, .splits = 3, .seed = 7};
        kspec_dimension_opts d = {
            .size = sizeof d, .center = center, .row_trials = rows, .splits = 3, .seed = 7};
        kspec_moments_result *a;
        kspec_dimension_result *b;
        CHECK(kspec_moments(m, trials, &o, &a, NULL) == KSPEC_OK);
        CHECK(kspec_dimension(m, trials, &d, &b, NULL) == KSPEC_OK);
        CHECK_CLOSE(a->participation_ratio, b->dimension, 1e-10);
        CHECK_CLOSE(a->participation_ratio_std_error, b->std_error, 1e-8);
        CHECK_CLOSE(a->participation_ratio_ci_low, b->ci_low, 1e-8);
        CHECK_CLOSE(a->participation_ratio_ci_high, b->ci_high, 1e-8);
        CHECK_CLOSE(a->participation_ratio_naive, b->naive, 1e-12);
        kspec_free(a);
        kspec_free(b);
    }
}

/* ---- finite populations ---- */

/* The ratio of rows and columns of the bits of two sets, and m(2); a mean keeps both positive. */
static double ratio_of_sample(const double *x, size_t cols, unsigned rows_in, unsigned cols_in,
                              const uint64_t population[2], double *m2, double *se) {
    double y[64];
    size_t n = 0, p = 0, q = 0;
    for (size_t i = 0; i < 8; i++) {
        if (!(rows_in >> i & 1)) continue;
        p++, q = 0;
        for (size_t k = 0; k < cols; k++)
            if (cols_in >> k & 1) y[n++] = x[i * cols + k], q++;
    }
    kspec_matrix m = {y, p, q, (ptrdiff_t)q, 1};
    kspec_moments_opts o = {.size = sizeof o,
                            .nmax = 2,
                            .estimators = KSPEC_ESTIMATOR_EXACT,
                            .population_rows = population[0],
                            .population_cols = population[1]};
    kspec_moments_result *r;
    CHECK(kspec_moments(&m, 1, &o, &r, NULL) == KSPEC_OK);
    double ratio = r->participation_ratio;
    *m2 = r->estimates[1]->value;
    if (se) *se = r->participation_ratio_std_error;
    kspec_free(r);
    return ratio;
}

/* Over all samples of 3 x 3 the mean of ratio m(2) is the square of the population's m(1). */
TEST(of_every_sample) {
    enum { N = 6, M = 5 };
    double x[N * M], trace = 0, sum = 0, m2;
    int samples = 0;
    kspec_random_normal(3, 4, 0, N * M, x);
    for (size_t k = 0; k < N * M; k++) x[k] = 4 + x[k], trace += x[k] * x[k] / (N * M);
    const uint64_t population[2] = {N, M};
    for (unsigned rows = 0; rows < 1u << N; rows++)
        for (unsigned cols = 0; cols < 1u << M; cols++) {
            if (__builtin_popcount(rows) != 3 || __builtin_popcount(cols) != 3) continue;
            double ratio = ratio_of_sample(x, M, rows, cols, population, &m2, NULL);
            sum += ratio * m2, samples++;
        }
    CHECK(samples == 200);
    CHECK_CLOSE(sum / samples, trace * trace, 1e-12);
}

/* Error bars by leaving out, with 1 - P/N of each side's variance; N large is N infinite. */
TEST(error_bars_of_a_population) {
    enum { ROWS = 7, COLS = 6 };
    double x[ROWS * COLS], m2, se, none, logs[2][8], sum[2] = {0};
    kspec_random_normal(5, 6, 0, ROWS * COLS, x);
    for (size_t k = 0; k < ROWS * COLS; k++) x[k] += 3;
    const uint64_t finite[2] = {20, 9}, large[2] = {1000000000000, 1000000000000}, infinite[2] = {0, 0};
    const unsigned all[2] = {(1u << ROWS) - 1, (1u << COLS) - 1};
    double ratio = ratio_of_sample(x, COLS, all[0], all[1], finite, &m2, &se);
    for (int side = 0; side < 2; side++) {
        const size_t n = side ? COLS : ROWS;
        double mean = 0;
        for (size_t k = 0; k < n; k++) {
            unsigned less = all[side] & ~(1u << k);
            logs[side][k] =
                log(ratio_of_sample(x, COLS, side ? all[0] : less, side ? less : all[1], finite, &m2, NULL));
            mean += logs[side][k] / (double)n;
        }
        for (size_t k = 0; k < n; k++) sum[side] += (logs[side][k] - mean) * (logs[side][k] - mean);
        sum[side] *= (double)(n - 1) / (double)n * (1 - (double)n / (double)finite[side]);
    }
    CHECK_CLOSE(se, ratio * sqrt(sum[0] + sum[1]), 1e-8);
    CHECK_CLOSE(ratio_of_sample(x, COLS, all[0], all[1], large, &m2, &se),
                ratio_of_sample(x, COLS, all[0], all[1], infinite, &m2, &none), 1e-10);
    CHECK_CLOSE(se, none, 1e-9);
}

/* Too small for error bars, and for any ratio; no error bars asked for; the scale does not matter. */
TEST(edges) {
    sample s = draw(60, 1);
    const struct {
        size_t rows, cols;
        int center, defined, errors;
    } cases[] = {{3, 3, 0, 1, 1}, {2, 5, 0, 1, 0}, {5, 2, 0, 1, 0}, {1, 5, 0, 0, 0},
                 {5, 1, 0, 0, 0}, {5, 3, 1, 1, 1}, {4, 3, 1, 1, 0}, {3, 3, 1, 0, 0}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        kspec_matrix m = {s.at[0], cases[k].rows, cases[k].cols, Q, 1};
        kspec_moments_opts o = {.size = sizeof o,
                                .center = cases[k].center ? KSPEC_CENTER_ROWS : KSPEC_CENTER_NONE};
        kspec_moments_result *r;
        CHECK(kspec_moments(&m, 1, &o, &r, NULL) == KSPEC_OK);
        CHECK(isnan(r->participation_ratio_naive) == !cases[k].defined);
        CHECK(cases[k].defined || isnan(r->participation_ratio));
        CHECK((isfinite(r->participation_ratio_ci_high)) <= cases[k].errors);
        kspec_free(r);
    }
    kspec_matrix m = {s.at[0], P, Q, Q, 1};
    kspec_moments_opts o = {.size = sizeof o, .no_stderr = 1, .nmax = 2};
    kspec_moments_result *r;
    CHECK(kspec_moments(&m, 1, &o, &r, NULL) == KSPEC_OK);
    CHECK(r->participation_ratio > 0 && isnan(r->participation_ratio_std_error));
    kspec_free(r);
}

/*
 * One dimension in much noise, which leaves the ratio on either side of 1: an interval that reaches below 1,
 * the least of any kernel, starts there, and one that lies below is 1 alone. check() has the ends by
 * definition.
 */
TEST(no_interval_below_one) {
    int reach = 0;
    for (uint64_t seed = 0; seed < 60; seed++) {
        sample s = draw(100 + seed, 1 + seed % 2);
        double x[P], w[Q];
        kspec_random_normal(seed, 20, 0, P, x);
        kspec_random_normal(seed, 21, 0, Q, w);
        for (size_t t = 0; t < 2; t++)
            for (size_t k = 0; k < P * Q; k++)
                s.at[t][k] = 0.3 * s.at[t][k] + (2 + x[k / Q]) * (2 + w[k % Q]);
        kspec_matrix m[2] = {{s.at[0], P, Q, Q, 1}, {s.at[1], P, Q, Q, 1}};
        kspec_moments_opts o = {.size = sizeof o, .nmax = 2};
        kspec_dimension_opts d = {.size = sizeof d, .center = KSPEC_CENTER_NONE};
        kspec_moments_result *r;
        kspec_dimension_result *q;
        CHECK(kspec_moments(m, s.trials, &o, &r, NULL) == KSPEC_OK);
        CHECK(kspec_dimension(m, s.trials, &d, &q, NULL) == KSPEC_OK);
        reach += r->participation_ratio_ci_low == 1 && r->participation_ratio_ci_high > 1;
        CHECK(r->participation_ratio_ci_low >= 1 && q->ci_low >= 1 && q->ci_high >= q->ci_low);
        kspec_free(r), kspec_free(q);
        check(&s, KSPEC_SAMPLED_BOTH, 0, 0, 1);
    }
    CHECK_MSG(reach >= 10, "%d", reach);
    /* (sum of lambda)^2 of half the sum of lambda^2, and sure of it */
    double trace[4] = {0}, square[4] = {2, 2.01, 1.99, 2}, moment[4] = {4, 4.01, 3.99, 4};
    const ks_second half = {
        .P = 2, .Q = 1, .rows = 2, .trace = trace, .square = square, .moment = moment, .share = {1, 1}};
    ks_dimensionality below;
    ks_arena arena = {0};
    CHECK(ks_ratio_errors(&half, &below, &arena, NULL) == KSPEC_OK);
    CHECK(below.value == 0.5 && below.bar.std_error > 0 && below.bar.low == 1 && below.bar.high == 1);
    ks_arena_free(&arena);
}

/* Where one estimate is not positive and has no logarithm, all are taken to first order about the whole. */
TEST(logarithms_of_what_is_not_positive) {
    double trace[4] = {0}, square[4] = {4, 5, 3, 4}, moment[4] = {2, 2, 1, 3}, out[4];
    const ks_second s = {.P = 2, .Q = 1, .rows = 2, .trace = trace, .square = square, .moment = moment};
    ks_log_ratios(&s, out);
    for (int k = 0; k < 4; k++) CHECK_CLOSE(out[k], log(square[k] / moment[k]), 1e-15);
    moment[2] = -1;
    ks_log_ratios(&s, out);
    const double want[4] = {0, 0.25, 0.25, -0.5}; /* (square - 4) / 4 - (moment - 2) / 2 */
    for (int k = 0; k < 4; k++) CHECK_CLOSE(out[k], log(2) + (k == 2 ? -0.25 + 1.5 : want[k]), 1e-15);
}

int main(void) {
    RUN(by_definition);
    RUN(whatever_the_estimators);
    RUN(the_naive_one);
    RUN(as_dimension_has_it);
    RUN(of_every_sample);
    RUN(error_bars_of_a_population);
    RUN(edges);
    RUN(no_interval_below_one);
    RUN(logarithms_of_what_is_not_positive);
    return test_done();
}
