/*
 * Complete sides and finite populations in kspec_dimension() and kspec_compare(): averaged over all samples
 * from a small population the estimates are the population's own values; error bars from matrices of which a
 * row or a column really is left out; rotations; refusals.
 */
#include "kspec.h"
#include "help/interval.h"
#include "oracle/terms.h"
#include "test.h"

enum { N = 7, M = 5, MOST = 16 };

static kspec_matrix view(const double *x, size_t P, size_t Q) {
    return (kspec_matrix){x, P, Q, (ptrdiff_t)Q, 1};
}

/* The next subset of `size` indices below n in increasing order; 0: there is none */
static int next(size_t *at, size_t size, size_t n) {
    size_t k = size;
    while (k > 0 && at[k - 1] == n - size + k - 1) k--;
    if (k == 0) return 0;
    for (at[k - 1]++; k < size; k++) at[k] = at[k - 1] + 1;
    return 1;
}

static void draw(uint64_t seed, size_t count, double *x) {
    kspec_random_normal(seed, 10, 0, count, x);
    for (size_t k = 0; k < count; k++) x[k] += 0.5 + 0.3 * (double)(k % 3);
}

/* m(1)^2, m(1) and m(2) of a whole matrix of two trials, centred by its own means or not */
static void own(const double *x, const double *z, int centered, double *square, double *moment) {
    double a[N * M], b[N * M], trace = 0;
    memcpy(a, x, sizeof a), memcpy(b, z, sizeof b);
    if (centered) terms_centre(a, N, M, 1), terms_centre(b, N, M, 1);
    *moment = 0;
    for (size_t k = 0; k < M; k++)
        for (size_t l = 0; l < M; l++) {
            double s = 0, r = 0;
            for (size_t i = 0; i < N; i++) s += a[i * M + k] * b[i * M + l], r += b[i * M + k] * a[i * M + l];
            *moment += s * r / (N * N * M * M);
            if (k == l) trace += s / (N * M);
        }
    *square = trace * trace;
}

/* The mean over all samples of P rows and Q columns of the estimates for this population */
static void check_mean(size_t P, size_t Q, int centered, int trials, kspec_sampled sampled) {
    double x[2][N * M], part[2][N * M], square, moment, trace_sum = 0, square_sum = 0, moment_sum = 0;
    size_t rows[N], count = 0;
    draw(3, N * M, x[0]), draw(trials == 2 ? 4 : 3, N * M, x[1]);
    own(x[0], x[1], centered, &square, &moment);
    for (size_t i = 0; i < P; i++) rows[i] = i;
    do {
        size_t cols[M];
        for (size_t k = 0; k < Q; k++) cols[k] = k;
        do {
            for (size_t i = 0; i < P; i++)
                for (size_t k = 0; k < Q; k++)
                    for (int t = 0; t < 2; t++) part[t][i * Q + k] = x[t][rows[i] * M + cols[k]];
            const kspec_matrix m[2] = {view(part[0], P, Q), view(part[1], P, Q)};
            const kspec_dimension_opts o = {.size = sizeof o,
                                            .center = centered ? KSPEC_CENTER_ROWS : KSPEC_CENTER_NONE,
                                            .sampled = sampled,
                                            .population_rows = sampled == KSPEC_SAMPLED_COLS ? 0 : N,
                                            .population_cols = sampled == KSPEC_SAMPLED_ROWS ? 0 : M};
            kspec_dimension_result *r;
            kspec_error err;
            CHECK_MSG(kspec_dimension(m, (size_t)trials, &o, &r, &err) == KSPEC_OK, "%s", err.msg);
            if (!r) return;
            trace_sum += r->trace, square_sum += r->trace_squared, moment_sum += r->second_moment, count++;
            kspec_free(r);
        } while (next(cols, Q, M));
    } while (next(rows, P, N));
    CHECK_CLOSE(trace_sum / (double)count, copysign(sqrt(square), trace_sum), 1e-11);
    CHECK_CLOSE(square_sum / (double)count, square, 1e-11);
    CHECK_CLOSE(moment_sum / (double)count, moment, 1e-11);
}

TEST(all_samples_average_to_the_population) {
    for (int kind = 0; kind < 4; kind++) {
        const int centered = kind & 1, trials = 1 + kind / 2;
        check_mean(5, 3, centered, trials, KSPEC_SAMPLED_BOTH);
        check_mean(6, M, centered, trials, KSPEC_SAMPLED_BOTH);
        check_mean(5, M, centered, trials, KSPEC_SAMPLED_ROWS);
        check_mean(N, 3, centered, trials, KSPEC_SAMPLED_COLS);
        check_mean(N, M, centered, trials, KSPEC_SAMPLED_BOTH);
    }
}

/* m(2) as its definition over all tuples of rows and columns reads */
TEST(the_second_moment_is_that_of_all_tuples) {
    double x[6 * 4], z[6 * 4];
    draw(8, 24, x), draw(9, 24, z);
    for (int kind = 0; kind < 16; kind++) {
        const int centered = kind & 1, two = kind >> 1 & 1;
        const uint64_t population[2] = {kind & 4 ? 11 : 0, kind & 8 ? 9 : 4};
        const kspec_matrix m[2] = {view(x, 6, 4), view(z, 6, 4)};
        const kspec_dimension_opts o = {.size = sizeof o,
                                        .center = centered ? KSPEC_CENTER_ROWS : KSPEC_CENTER_NONE,
                                        .population_rows = population[0],
                                        .population_cols = population[1]};
        terms_oracle t = {
            .p = {x, two ? z : x, 6, 4, 2},
            .split = {centered, 0},
            .population = {population[0] ? (double)population[0] : INFINITY, (double)population[1]}};
        kspec_dimension_result *r;
        CHECK(kspec_dimension(m, 1 + (size_t)two, &o, &r, NULL) == KSPEC_OK);
        if (r) CHECK_CLOSE(r->second_moment, terms_moment(&t, 2), 1e-12);
        kspec_free(r);
    }
}

/* ---- error bars ---- */

static double log_dimension(const double *x, size_t P, size_t Q, size_t row, size_t col,
                            const kspec_dimension_opts *o) {
    double less[MOST * MOST];
    size_t at = 0;
    for (size_t i = 0; i < P; i++)
        for (size_t k = 0; k < Q; k++)
            if (i != row && k != col) less[at++] = x[i * Q + k];
    const kspec_matrix m = view(less, P - (row < P), Q - (col < Q));
    kspec_dimension_result *r;
    kspec_error err;
    CHECK_MSG(kspec_dimension(&m, 1, o, &r, &err) == KSPEC_OK, "%s", err.msg);
    const double value = r ? log(r->dimension) : NAN;
    kspec_free(r);
    return value;
}

TEST(error_bars_leave_out_what_is_sampled) {
    enum { P = 14, Q = 8 };
    static const uint64_t populations[][2] = {{0, Q}, {P, 0}, {30, 0}, {0, 20}, {40, 12}, {60, Q}, {P, Q}};
    double x[P * Q], w[2 * (P + Q)], logs[P + Q], ends[2];
    kspec_random_normal(21, 10, 0, 2 * (P + Q), w);
    kspec_random_normal(21, 11, 0, P * Q, x);
    for (size_t i = 0; i < P; i++)
        for (size_t k = 0; k < Q; k++)
            x[i * Q + k] =
                0.3 * x[i * Q + k] + 1 + w[2 * i] * w[2 * (P + k)] + w[2 * i + 1] * w[2 * (P + k) + 1];
    for (size_t kind = 0; kind < 2 * sizeof populations / sizeof *populations; kind++) {
        const uint64_t *population = populations[kind / 2];
        const kspec_dimension_opts o = {.size = sizeof o,
                                        .center = kind % 2 ? KSPEC_CENTER_NONE : KSPEC_CENTER_ROWS,
                                        .population_rows = population[0],
                                        .population_cols = population[1]};
        const double share[2] = {population[0] ? 1 - P / (double)population[0] : 1,
                                 population[1] ? 1 - Q / (double)population[1] : 1};
        const double all = log_dimension(x, P, Q, SIZE_MAX, SIZE_MAX, &o);
        for (size_t i = 0; i < P; i++) logs[i] = share[0] > 0 ? log_dimension(x, P, Q, i, SIZE_MAX, &o) : all;
        for (size_t k = 0; k < Q; k++)
            logs[P + k] = share[1] > 0 ? log_dimension(x, P, Q, SIZE_MAX, k, &o) : all;
        interval_ends(logs, P, Q, share, all, 0.5, ends);
        const kspec_matrix m = view(x, P, Q);
        kspec_dimension_result *r;
        CHECK(kspec_dimension(&m, 1, &o, &r, NULL) == KSPEC_OK);
        if (!r) continue;
        CHECK_CLOSE(r->ci_low, fmax(1, r->dimension * exp(ends[0])), 1e-8);
        CHECK_CLOSE(r->ci_high, fmax(1, r->dimension * exp(ends[1])), 1e-8);
        if (share[0] == 0 && share[1] == 0) CHECK(r->std_error == 0);
        kspec_free(r);
    }
}

/* ---- rotations ---- */

/* y = x R with R the product of Householder's reflections, one for each of three random vectors */
static void rotate(const double *x, size_t P, size_t Q, double *y) {
    double v[MOST];
    memcpy(y, x, P * Q * sizeof *y);
    for (uint64_t turn = 0; turn < 3; turn++) {
        double square = 0;
        kspec_random_normal(77, turn, 0, Q, v);
        for (size_t k = 0; k < Q; k++) square += v[k] * v[k];
        for (size_t i = 0; i < P; i++) {
            double along = 0;
            for (size_t k = 0; k < Q; k++) along += y[i * Q + k] * v[k];
            for (size_t k = 0; k < Q; k++) y[i * Q + k] -= 2 * along / square * v[k];
        }
    }
}

TEST(a_rotated_copy_is_the_same_kernel) {
    for (int kind = 0; kind < 4; kind++) {
        const size_t P = 16, Q = kind < 2 ? 6 : 15;
        double x[MOST * MOST], y[MOST * MOST];
        draw(30 + (uint64_t)kind, P * Q, x);
        rotate(x, P, Q, y);
        const kspec_matrix a = view(x, P, Q), b = view(y, P, Q);
        kspec_compare_opts o = {.size = sizeof o,
                                .center = kind % 2 ? KSPEC_CENTER_NONE : KSPEC_CENTER_ROWS,
                                .sampled = KSPEC_SAMPLED_ROWS};
        kspec_compare_result *r;
        CHECK(kspec_compare(&a, 1, &b, 1, &o, &r, NULL) == KSPEC_OK);
        if (!r) continue;
        CHECK(fabs(r->alignment - 1) < 1e-12);
        CHECK(r->alignment_std_error < 1e-7); /* the root of rounding */
        for (size_t k = 0; k < r->count; k++)
            CHECK_MSG(fabs(r->differences[k]->value) < 1e-9 * r->dimension, "%zu: %g", k,
                      r->differences[k]->value);
        kspec_free(r);
        o.sampled = KSPEC_SAMPLED_BOTH;
        CHECK(kspec_compare(&a, 1, &a, 1, &o, &r, NULL) == KSPEC_OK);
        if (r) CHECK(isnan(r->alignment) || r->alignment > 1 + 1e-6);
        kspec_free(r);
    }
}

/* One complete column is enough, and the dimension of one is 1. */
TEST(a_complete_side_may_be_short) {
    double x[10];
    draw(41, 10, x);
    const kspec_matrix m = view(x, 10, 1), turned = view(x, 1, 10);
    kspec_dimension_opts o = {.size = sizeof o, .sampled = KSPEC_SAMPLED_ROWS};
    kspec_dimension_result *r;
    CHECK(kspec_dimension(&m, 1, &o, &r, NULL) == KSPEC_OK);
    if (r) CHECK(fabs(log(r->dimension)) < 0.5); /* a variance squared over a squared variance */
    kspec_free(r);
    o = (kspec_dimension_opts){.size = sizeof o, .sampled = KSPEC_SAMPLED_COLS, .center = KSPEC_CENTER_COLS};
    CHECK(kspec_dimension(&turned, 1, &o, &r, NULL) == KSPEC_OK);
    kspec_free(r);
}

TEST(refusals) {
    double x[8 * 6];
    const uint64_t groups[8] = {0, 0, 1, 1, 2, 3, 4, 5};
    draw(51, 48, x);
    const kspec_matrix m = view(x, 8, 6);
    static const struct {
        kspec_dimension_opts o;
        const char *message;
    } cases[] = {
        {{.sampled = (kspec_sampled)3}, "unknown sampled 3"},
        {{.population_rows = 7}, "a population of 7 rows is smaller than the sample of 8"},
        {{.population_cols = 5}, "a population of 5 columns is smaller than the sample of 6"},
        {{.sampled = KSPEC_SAMPLED_ROWS, .population_cols = 9},
         "a population of 9 columns contradicts sampled, which has all 6"},
        {{.pairwise = 1, .population_rows = 9},
         "missing entries (pairwise) cannot be combined with complete rows or with a finite population"},
    };
    kspec_dimension_result *r;
    kspec_compare_result *c;
    kspec_error err;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        kspec_dimension_opts o = cases[k].o;
        o.size = sizeof o;
        CHECK(kspec_dimension(&m, 1, &o, &r, &err) == KSPEC_E_ARG && r == NULL);
        CHECK_MSG(strcmp(err.msg, cases[k].message) == 0, "%s", err.msg);
        const kspec_compare_opts both = {.size = sizeof both,
                                         .sampled = o.sampled,
                                         .population_rows = o.population_rows,
                                         .population_cols = o.population_cols};
        if (o.pairwise) continue;
        CHECK(kspec_compare(&m, 1, &m, 1, &both, &c, &err) == KSPEC_E_ARG && c == NULL);
        CHECK_MSG(strcmp(err.msg, cases[k].message) == 0, "%s", err.msg);
    }
    kspec_dimension_opts o = {.size = sizeof o, .row_groups = groups, .sampled = KSPEC_SAMPLED_COLS};
    CHECK(kspec_dimension(&m, 1, &o, &r, &err) == KSPEC_E_ARG);
    CHECK_MSG(strstr(err.msg, "groups cannot be combined with complete rows"), "%s", err.msg);
}

/*
 * Groups of rows of different sizes, all columns there: a matrix and its rotated copy are one, and a constant
 * changes nothing.
 */
TEST(groups_with_all_columns) {
    enum { ROWS = 40, COLS = 2 };
    double x[ROWS * COLS], y[ROWS * COLS], z[ROWS * COLS];
    uint64_t groups[ROWS];
    kspec_error err;
    kspec_random_normal(3, 5, 0, ROWS * COLS, x);
    for (size_t i = 0; i < ROWS; i++) {
        groups[i] = i < 12 ? i / 6 : i < 20 ? 9 : i; /* 6, 6, 8, and 20 of one */
        x[COLS * i] *= 2;
        y[COLS * i] = 0.6 * x[COLS * i] + 0.8 * x[COLS * i + 1] + 1000;
        y[COLS * i + 1] = 0.8 * x[COLS * i] - 0.6 * x[COLS * i + 1] - 77;
        z[COLS * i] = x[COLS * i] + 1e4, z[COLS * i + 1] = x[COLS * i + 1];
    }
    const kspec_matrix X = {x, ROWS, COLS, COLS, 1}, Y = {y, ROWS, COLS, COLS, 1},
                       Z = {z, ROWS, COLS, COLS, 1};
    const kspec_compare_opts o = {.size = sizeof o, .row_groups = groups, .sampled = KSPEC_SAMPLED_ROWS};
    const kspec_dimension_opts one = {
        .size = sizeof one, .row_groups = groups, .sampled = KSPEC_SAMPLED_ROWS};
    kspec_compare_result *c;
    kspec_dimension_result *d[2];
    CHECK_MSG(kspec_compare(&X, 1, &Y, 1, &o, &c, &err) == KSPEC_OK, "%s", err.msg);
    CHECK_MSG(fabs(c->alignment - 1) < 1e-12, "%.15g", c->alignment);
    CHECK_MSG(kspec_dimension(&X, 1, &one, &d[0], &err) == KSPEC_OK, "%s", err.msg);
    CHECK_MSG(kspec_dimension(&Z, 1, &one, &d[1], &err) == KSPEC_OK, "%s", err.msg);
    CHECK_CLOSE(d[1]->dimension, d[0]->dimension, 1e-10);
    CHECK_CLOSE(d[1]->trace, d[0]->trace, 1e-10);
    CHECK_CLOSE(d[1]->ci_high, d[0]->ci_high, 1e-8);
    kspec_free(c), kspec_free(d[0]), kspec_free(d[1]);
}

int main(void) {
    RUN(groups_with_all_columns);
    RUN(all_samples_average_to_the_population);
    RUN(the_second_moment_is_that_of_all_tuples);
    RUN(error_bars_leave_out_what_is_sampled);
    RUN(a_rotated_copy_is_the_same_kernel);
    RUN(a_complete_side_may_be_short);
    RUN(refusals);
    return test_done();
}
