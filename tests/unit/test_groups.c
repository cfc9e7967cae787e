/*
 * kspec_moments() with groups and with missing entries: against every tuple, renamed and of one member,
 * without bias where the plain estimates fail, and what is refused.
 */
#include "help/average.h"
#include "help/isa.h"
#include "kspec.h"
#include "oracle/golden.h"
#include "oracle/groups.h"
#include "test.h"

static kspec_matrix view(const double *x, size_t P, size_t Q) {
    return (kspec_matrix){x, P, Q, (ptrdiff_t)Q, 1};
}

static const kspec_estimate *find(const kspec_moments_result *r, kspec_estimator e, int n) {
    for (size_t k = 0; k < r->count; k++)
        if (r->estimates[k]->estimator == e && r->estimates[k]->n == n) return r->estimates[k];
    return NULL;
}

static int same_bits(const kspec_moments_result *a, const kspec_moments_result *b) {
    int same = a->count == b->count;
    for (size_t k = 0; same && k < a->count; k++)
        same = !memcmp(a->estimates[k], b->estimates[k], sizeof **a->estimates);
    return same;
}

/* The groups in order of first appearance, by which path's cycles increase */
static size_t by_appearance(const uint64_t *labels, size_t n, size_t *of) {
    size_t count = 0;
    for (size_t i = 0; i < n; i++) {
        size_t k = 0;
        while (labels[k] != labels[i]) k++;
        of[i] = k == i ? count++ : of[k];
    }
    return count;
}

/* (count-1)/count sum of squared deviations: one side's part of the jackknife variance */
static double spread(const double *x, size_t count) {
    double mean = 0, sum = 0;
    for (size_t k = 0; k < count; k++) mean += x[k] / (double)count;
    for (size_t k = 0; k < count; k++) sum += (x[k] - mean) * (x[k] - mean);
    return sum * (double)(count - 1) / (double)count;
}

static double jackknife(grouped g, size_t G, size_t H, int n, int increasing) {
    double rows[8], cols[8];
    for (size_t k = 0; k < G; k++) g.no_row = k, rows[k] = grouped_mean(&g, n, increasing);
    g.no_row = SIZE_MAX;
    for (size_t k = 0; k < H; k++) g.no_col = k, cols[k] = grouped_mean(&g, n, increasing);
    return sqrt(spread(rows, G) + spread(cols, H));
}

TEST(against_every_tuple) {
    static const uint64_t rows[][6] = {{9, 4, 9, 1, 4, 2}, {1, 2, 3, 4, 1, 1}, {5, 5, 6, 6, 7, 8}};
    static const uint64_t cols[][5] = {{1, 1, 2, 3, 4}, {8, 6, 4, 8, 2}, {0, 3, 1, 2, 4}};
    enum { P = 6, Q = 5 };
    for (size_t k = 0; k < 9; k++)
        for (size_t trials = 1; trials <= 2; trials++) {
            double x[2][P * Q];
            brute_matrix(k + 1, P * Q, x[0]);
            brute_matrix(k + 31, P * Q, x[1]);
            size_t row_of[P], col_of[Q], G = by_appearance(rows[k / 3], P, row_of),
                                         H = by_appearance(cols[k % 3], Q, col_of);
            kspec_matrix phi[2] = {view(x[0], P, Q), view(x[1], P, Q)};
            kspec_moments_opts o = {.size = sizeof o,
                                    .nmax = 3,
                                    .estimators = KSPEC_ESTIMATOR_PATH | KSPEC_ESTIMATOR_EXACT,
                                    .side = KSPEC_SIDE_GIVEN,
                                    .row_groups = rows[k / 3],
                                    .col_groups = cols[k % 3]};
            kspec_moments_result *r;
            kspec_error e;
            CHECK_MSG(kspec_moments(phi, trials, &o, &r, &e) == KSPEC_OK, "%s", e.msg);
            CHECK(r->groups == G && r->col_groups == (H < Q ? H : 0));
            grouped g = {x[0], x[trials - 1], P, Q, row_of, col_of, SIZE_MAX, SIZE_MAX};
            for (int n = 1; n <= 3; n++) {
                CHECK_CLOSE(find(r, KSPEC_ESTIMATOR_PATH, n)->value, grouped_mean(&g, n, 1), 1e-11);
                if (n < 3)
                    CHECK_CLOSE(find(r, KSPEC_ESTIMATOR_PATH, n)->std_error, jackknife(g, G, H, n, 1), 1e-9);
                if (n == 3) continue;
                CHECK_CLOSE(find(r, KSPEC_ESTIMATOR_EXACT, n)->value, grouped_mean(&g, n, 0), 1e-11);
                CHECK_CLOSE(find(r, KSPEC_ESTIMATOR_EXACT, n)->std_error, jackknife(g, G, H, n, 0), 1e-9);
            }
            CHECK(find(r, KSPEC_ESTIMATOR_EXACT, 3) == NULL);
            kspec_free(r);
            /* on the transpose path's cycles are others, those of the transposed matrix */
            double turned[2][P * Q];
            for (size_t i = 0; i < P * Q; i++)
                turned[0][i % Q * P + i / Q] = x[0][i], turned[1][i % Q * P + i / Q] = x[trials - 1][i];
            o.side = KSPEC_SIDE_TRANSPOSED;
            o.estimators = KSPEC_ESTIMATOR_PATH;
            CHECK(kspec_moments(phi, trials, &o, &r, &e) == KSPEC_OK && r->side == KSPEC_SIDE_TRANSPOSED);
            grouped t = {turned[0], turned[1], Q, P, col_of, row_of, SIZE_MAX, SIZE_MAX};
            for (int n = 1; n <= 3; n++) {
                CHECK_CLOSE(find(r, KSPEC_ESTIMATOR_PATH, n)->value, grouped_mean(&t, n, 1), 1e-11);
                if (n < 3)
                    CHECK_CLOSE(find(r, KSPEC_ESTIMATOR_PATH, n)->std_error, jackknife(t, H, G, n, 1), 1e-9);
            }
            kspec_free(r);
        }
}

TEST(centred) {
    enum { P = 7, Q = 4, G = 5 };
    const uint64_t labels[P] = {3, 1, 3, 4, 1, 5, 9};
    const size_t row_of[P] = {0, 1, 0, 2, 1, 3, 4}, col_of[Q] = {0, 1, 2, 3};
    const double weight[P] = {1, 1, 1, 1, 1, 1, 1};
    double x[2][P * Q];
    brute_matrix(5, P * Q, x[0]);
    brute_matrix(6, P * Q, x[1]);
    for (size_t trials = 1; trials <= 2; trials++) {
        kspec_matrix phi[2] = {view(x[0], P, Q), view(x[1], P, Q)};
        kspec_moments_opts o = {.size = sizeof o, .center = KSPEC_CENTER_ROWS, .row_groups = labels};
        kspec_moments_result *r;
        CHECK(kspec_moments(phi, trials, &o, &r, NULL) == KSPEC_OK && r->count == 2);
        second_order s = {{x[0], x[trials - 1], P, Q, row_of, col_of, SIZE_MAX, SIZE_MAX}, 0, weight};
        CHECK_CLOSE(r->estimates[0]->value, first_by_definition(&s, 1), 1e-12);
        CHECK_CLOSE(r->estimates[1]->value, second_by_definition(&s, 1), 1e-10);
        kspec_free(r);
    }
}

/* Groups of two neighbours; of an odd number of rows the last is alone, so that groups differ in size. */
TEST(golden_values) {
    for (size_t k = 0; k < GOLDEN_CASES; k++) {
        const golden_case *g = &GOLDEN[k];
        double x[GOLDEN_MOST];
        uint64_t labels[16];
        golden_matrix(g, x);
        for (size_t i = 0; i < 16; i++) labels[i] = i / 2;
        kspec_matrix phi = view(x, g->P, g->Q);
        kspec_moments_opts o = {.size = sizeof o,
                                .nmax = 3,
                                .estimators = KSPEC_ESTIMATOR_PATH,
                                .side = KSPEC_SIDE_GIVEN,
                                .row_groups = labels,
                                .col_groups = labels};
        kspec_moments_result *r;
        CHECK(kspec_moments(&phi, 1, &o, &r, NULL) == KSPEC_OK);
        for (size_t n = 0; n < 3; n++) CHECK_CLOSE(r->estimates[n]->value, g->path[n], 1e-8);
        kspec_free(r);
        o.nmax = 4, o.col_groups = NULL;
        CHECK(kspec_moments(&phi, 1, &o, &r, NULL) == KSPEC_OK);
        for (size_t n = 0; n < 4; n++) CHECK_CLOSE(r->estimates[n]->value, g->row_path[n], 1e-8);
        kspec_free(r);
        o.nmax = 2, o.estimators = KSPEC_ESTIMATOR_EXACT;
        for (int center = 0; center < 2; center++) {
            o.center = center ? KSPEC_CENTER_ROWS : KSPEC_CENTER_NONE;
            CHECK(kspec_moments(&phi, 1, &o, &r, NULL) == KSPEC_OK);
            CHECK_CLOSE(r->estimates[1]->value, center ? g->centred : g->exact, 1e-8);
            kspec_free(r);
        }
    }
}

TEST(labels_are_names) {
    enum { P = 23, Q = 17 };
    double x[P * Q];
    uint64_t rows[P], cols[Q], other_rows[P], other_cols[Q], alone[P];
    brute_matrix(8, P * Q, x);
    for (size_t i = 0; i < P; i++)
        rows[i] = i * i % 7, other_rows[i] = UINT64_MAX - 5 * rows[i], alone[i] = 100 - i;
    for (size_t a = 0; a < Q; a++) cols[a] = a / 2, other_cols[a] = (cols[a] * 5 + 3) % 11;
    kspec_matrix phi = view(x, P, Q);
    kspec_moments_opts o = {.size = sizeof o, .nmax = 4, .row_groups = rows, .col_groups = cols};
    kspec_moments_result *a, *b;
    for (int permutations = 0; permutations < 6; permutations += 5) {
        o.permutations = permutations, o.threads = 1 + permutations % 3;
        o.row_groups = rows, o.col_groups = cols;
        CHECK(kspec_moments(&phi, 1, &o, &a, NULL) == KSPEC_OK);
        o.row_groups = other_rows, o.col_groups = other_cols, o.threads = 3;
        CHECK(kspec_moments(&phi, 1, &o, &b, NULL) == KSPEC_OK);
        CHECK(same_bits(a, b));
        kspec_free(a), kspec_free(b);
    }
    /* groups of one are no groups */
    o = (kspec_moments_opts){.size = sizeof o, .nmax = 6, .permutations = 3};
    o.estimators = KSPEC_ESTIMATOR_PATH | KSPEC_ESTIMATOR_EXACT;
    CHECK(kspec_moments(&phi, 1, &o, &a, NULL) == KSPEC_OK);
    o.row_groups = o.col_groups = alone;
    CHECK(kspec_moments(&phi, 1, &o, &b, NULL) == KSPEC_OK);
    CHECK(same_bits(a, b) && b->groups == 0);
    kspec_free(a), kspec_free(b);
}

/* ---- without bias ---- */

/*
 * Phi = x w^T + mean + noise with d = 3, each row's x repeated in 1 to 4 rows (so that rows of a group are
 * equal but for the noise), each column's w in two. Centred m(1) = 3 + noise, m(2) = 3; the mean's share is 1
 * for every column's square.
 */
enum { GROUPS = 12, PAIRS = 7, ROWS = 30, COLS = 14, DIM = 3 };
static void repeated(uint64_t seed, double *x, uint64_t *rows, uint64_t *cols) {
    double g[GROUPS * DIM], w[PAIRS * DIM], noise[ROWS * COLS];
    kspec_random_normal(seed, 1, 0, GROUPS * DIM, g);
    kspec_random_normal(seed, 2, 0, PAIRS * DIM, w);
    kspec_random_normal(seed, 3, 0, ROWS * COLS, noise);
    for (size_t i = 0, k = 0, used = 0; i < ROWS; i++) {
        rows[i] = k;
        if (++used > k % 4) k++, used = 0; /* 1, 2, 3, 4, 1, ... rows: 12 groups in 30 rows */
    }
    for (size_t a = 0; a < COLS; a++) cols[a] = a / 2;
    for (size_t i = 0; i < ROWS; i++)
        for (size_t a = 0; a < COLS; a++) {
            double v = 0.5 * noise[i * COLS + a];
            for (size_t d = 0; d < DIM; d++) v += g[rows[i] * DIM + d] * w[cols[a] * DIM + d];
            x[i * COLS + a] = v;
        }
}

/*
 * Six z-values; |z| > 4 by chance in one of 2600 runs. The plain estimates are off by more than 10 of
 * theirs.
 */
TEST(repeated_rows_without_bias) {
    average path[3] = {{0}}, exact = {0}, centred = {0}, plain = {0}, first = {0};
    for (uint64_t seed = 1; seed <= 3000; seed++) {
        double x[ROWS * COLS];
        uint64_t rows[ROWS], cols[COLS];
        repeated(seed, x, rows, cols);
        kspec_matrix phi = view(x, ROWS, COLS);
        kspec_moments_result *r;
        kspec_moments_opts o = {.size = sizeof o,
                                .nmax = 3,
                                .no_stderr = 1,
                                .threads = 1,
                                .estimators = KSPEC_ESTIMATOR_PATH | KSPEC_ESTIMATOR_EXACT,
                                .row_groups = rows,
                                .col_groups = cols};
        CHECK(kspec_moments(&phi, 1, &o, &r, NULL) == KSPEC_OK);
        for (int n = 2; n <= 3; n++) note(&path[n - 1], find(r, KSPEC_ESTIMATOR_PATH, n)->value);
        note(&exact, find(r, KSPEC_ESTIMATOR_EXACT, 2)->value);
        kspec_free(r);
        o.row_groups = o.col_groups = NULL;
        CHECK(kspec_moments(&phi, 1, &o, &r, NULL) == KSPEC_OK);
        note(&plain, find(r, KSPEC_ESTIMATOR_EXACT, 2)->value);
        kspec_free(r);
        for (size_t k = 0; k < ROWS * COLS; k++) x[k] += 5; /* takes no part where centred */
        o = (kspec_moments_opts){.size = sizeof o, .no_stderr = 1, .threads = 1, .center = KSPEC_CENTER_ROWS};
        o.nmax = 2, o.row_groups = rows, o.col_groups = cols;
        CHECK(kspec_moments(&phi, 1, &o, &r, NULL) == KSPEC_OK);
        note(&first, r->estimates[0]->value);
        note(&centred, r->estimates[1]->value);
        kspec_free(r);
    }
    CHECK_MSG(fabs(z_of(&path[1], 3)) < 4, "path, n = 2: z = %g", z_of(&path[1], 3));
    CHECK_MSG(fabs(z_of(&path[2], 3)) < 4, "path, n = 3: z = %g", z_of(&path[2], 3));
    CHECK_MSG(fabs(z_of(&exact, 3)) < 4, "exact: z = %g", z_of(&exact, 3));
    CHECK_MSG(fabs(z_of(&centred, 3)) < 4, "centred: z = %g", z_of(&centred, 3));
    CHECK_MSG(fabs(z_of(&first, 3.25)) < 4, "centred m(1): z = %g", z_of(&first, 3.25));
    CHECK_MSG(z_of(&plain, 3) > 10, "plain: z = %g", z_of(&plain, 3));
    printf("    z: path %.1f %.1f, exact %.1f, centred %.1f %.1f; without groups %.1f\n", z_of(&path[1], 3),
           z_of(&path[2], 3), z_of(&exact, 3), z_of(&first, 3.25), z_of(&centred, 3), z_of(&plain, 3));
}

/*
 * Rows of an autoregressive process, x_t = 0.96 x_{t-1} + noise, in 8 runs of 10 rows; d = 2, m(2) = 2. Three
 * z-values; |z| > 4 by chance in one of 5000 runs.
 */
TEST(autoregressive_rows) {
    enum { RUNS = 8, LENGTH = 10, P = RUNS * LENGTH, Q = 12, D = 2 };
    average told[3] = {{0}}, untold = {0};
    for (uint64_t seed = 1; seed <= 1500; seed++) {
        double e[P * D], w[Q * D], x[P * Q];
        uint64_t labels[P];
        kspec_random_normal(seed, 11, 0, P * D, e);
        kspec_random_normal(seed, 12, 0, Q * D, w);
        for (size_t k = D; k < P * D; k++) /* stationary, with variance 1 */
            if (k / D % LENGTH) e[k] = 0.96 * e[k - D] + 0.28 * e[k];
        for (size_t i = 0; i < P; i++) {
            labels[i] = i / LENGTH;
            for (size_t a = 0; a < Q; a++) x[i * Q + a] = e[i * D] * w[a * D] + e[i * D + 1] * w[a * D + 1];
        }
        kspec_matrix phi = view(x, P, Q);
        kspec_moments_opts o = {.size = sizeof o, .nmax = 3, .no_stderr = 1, .threads = 1};
        o.row_groups = labels, o.permutations = 1;
        kspec_moments_result *r;
        CHECK(kspec_moments(&phi, 1, &o, &r, NULL) == KSPEC_OK);
        note(&told[0], find(r, KSPEC_ESTIMATOR_EXACT, 2)->value);
        note(&told[1], find(r, KSPEC_ESTIMATOR_PATH, 3)->value);
        kspec_free(r);
        o.nmax = 2, o.center = KSPEC_CENTER_ROWS;
        CHECK(kspec_moments(&phi, 1, &o, &r, NULL) == KSPEC_OK);
        note(&told[2], r->estimates[1]->value);
        kspec_free(r);
        o.row_groups = NULL, o.center = KSPEC_CENTER_NONE;
        CHECK(kspec_moments(&phi, 1, &o, &r, NULL) == KSPEC_OK);
        note(&untold, r->estimates[1]->value);
        kspec_free(r);
    }
    printf("    z: exact %.1f, path %.1f, centred %.1f; without groups %.1f\n", z_of(&told[0], 2),
           z_of(&told[1], 2), z_of(&told[2], 2), z_of(&untold, 2));
    for (int k = 0; k < 3; k++) CHECK(fabs(z_of(&told[k], 2)) < 4);
    CHECK(z_of(&untold, 2) > 4);
}

/* ---- what is refused ---- */

TEST(refusals) {
    enum { P = 12, Q = 8 };
    double x[P * Q];
    uint64_t rows[P], one[P] = {0};
    brute_matrix(2, P * Q, x);
    for (size_t i = 0; i < P; i++) rows[i] = i / 3;
    kspec_matrix phi[3] = {view(x, P, Q), view(x, P, Q), view(x, P, Q)};
    kspec_moments_result *r;
    kspec_error e;
#define REFUSES(trials, text, ...)                                                  \
    do {                                                                            \
        const kspec_moments_opts o_ = {.size = sizeof o_, __VA_ARGS__};             \
        CHECK_FAILS(kspec_moments(phi, trials, &o_, &r, &e), KSPEC_E_ARG, e, text); \
        CHECK(r == NULL);                                                           \
    } while (0)
    REFUSES(1, "at least 2 groups", .row_groups = one);
    REFUSES(1, "order 5 exceeds the number of groups=4", .nmax = 5, .row_groups = rows);
    REFUSES(1, "exact: order 3 exceeds 2", .nmax = 3, .row_groups = rows,
            .estimators = KSPEC_ESTIMATOR_EXACT);
    REFUSES(1, "order 3 exceeds 2, the highest for groups of centred", .nmax = 3, .row_groups = rows,
            .center = KSPEC_CENTER_ROWS);
    REFUSES(1, "path does not take groups of centred", .row_groups = rows, .center = KSPEC_CENTER_ROWS,
            .estimators = KSPEC_ESTIMATOR_PATH);
    REFUSES(1, "naive does not take groups", .row_groups = rows, .estimators = KSPEC_ESTIMATOR_NAIVE);
    REFUSES(1, "kv-col does not take groups", .row_groups = rows, .estimators = KSPEC_ESTIMATOR_KV_COL);
    REFUSES(1, "groups and a complete side", .row_groups = rows, .sampled = KSPEC_SAMPLED_ROWS);
    REFUSES(3, "groups and the assignment scheme", .row_groups = rows, .scheme = KSPEC_TRIALS_ASSIGNMENT,
            .estimators = KSPEC_ESTIMATOR_PATH);
    REFUSES(1, "groups and the variance bound", .row_groups = rows, .bound = 1);
    REFUSES(1, "groups and missing entries", .row_groups = rows, .pairwise = 1);
    REFUSES(1, "kv-row does not take missing entries", .pairwise = 1, .estimators = KSPEC_ESTIMATOR_KV_ROW);
    REFUSES(1, "missing entries and a complete side", .pairwise = 1, .sampled = KSPEC_SAMPLED_COLS);
    REFUSES(1, "missing entries and the variance bound", .pairwise = 1, .bound = 1);
    const uint64_t three[P] = {0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2};
    REFUSES(1, "3 groups of rows are fewer than 4", .row_groups = three, .center = KSPEC_CENTER_ROWS,
            .nmax = 2);
}

int main(void) {
    RUN(against_every_tuple);
    RUN(centred);
    EACH_ISA(RUN(golden_values));
    RUN(labels_are_names);
    RUN(repeated_rows_without_bias);
    RUN(autoregressive_rows);
    RUN(refusals);
    return test_done();
}
