/* Path with groups: against its definition on every instruction set, with each group left out, and counts. */
#include "help/isa.h"
#include "path/path.h"
#include "path/groups.h"
#include "oracle/groups.h"
#include "test.h"
#include "kspec/host.h"

enum { MOST = 40, ORDERS = 12 };

/* Groups of the given sizes, one after the other */
typedef struct {
    size_t count, first[MOST + 1], of[MOST];
} sizes;

static sizes make_sizes(size_t n, uint64_t seed, size_t most) {
    sizes s = {0};
    for (size_t at = 0; at < n;) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        size_t size = 1 + (size_t)(seed >> 33) % most;
        if (size > n - at) size = n - at;
        for (size_t i = 0; i < size; i++) s.of[at++] = s.count;
        s.first[++s.count] = at;
    }
    return s;
}

static int run_path(const double *A, const double *B, size_t P, size_t Q, int nmax, const sizes *r,
                    const sizes *c, int threads, double *m, double *rows, double *cols) {
    ks_run run;
    kspec_progress none = {0};
    CHECK(ks_run_init(&run, threads, none, NULL) == KSPEC_OK);
    return ks_path_groups(&run, &(ks_pair){A, B, P, Q, nmax}, (ks_blocks){r->count, r->first},
                          (ks_blocks){c->count, c->first}, &(ks_moments_out){m, rows, cols}, NULL);
}

TEST(against_every_tuple) {
    for (uint64_t seed = 1; seed <= 24; seed++) {
        size_t P = 3 + seed % 4, Q = 3 + seed / 4 % 4;
        double A[36], B[36], m[6], rows[36], cols[36];
        brute_matrix(seed, P * Q, A);
        brute_matrix(seed + 50, P * Q, B);
        const sizes r = make_sizes(P, seed, 3), c = make_sizes(Q, seed + 100, 1 + seed % 3);
        int nmax = (int)(r.count < c.count ? r.count : c.count), two = seed % 2;
        grouped g = {A, two ? B : A, P, Q, r.of, c.of, SIZE_MAX, SIZE_MAX};
        EACH_ISA({
            for (int threads = 1; threads <= 3; threads++) {
                CHECK(run_path(A, g.B, P, Q, nmax, &r, &c, threads, m, rows, cols) == KSPEC_OK);
                for (int n = 1; n <= nmax; n++) {
                    const size_t at = (size_t)n - 1;
                    g.no_row = g.no_col = SIZE_MAX;
                    CHECK_CLOSE(m[n - 1], grouped_mean(&g, n, 1), 1e-12);
                    for (size_t k = 0; k < r.count; k++) {
                        g.no_row = k;
                        double want = grouped_mean(&g, n, 1), got = rows[at * r.count + k];
                        CHECK(isnan(want) ? isnan(got) : fabs(got - want) <= 1e-12);
                    }
                    g.no_row = SIZE_MAX;
                    for (size_t k = 0; k < c.count; k++) {
                        g.no_col = k;
                        double want = grouped_mean(&g, n, 1), got = cols[at * c.count + k];
                        CHECK(isnan(want) ? isnan(got) : fabs(got - want) <= 1e-12);
                    }
                }
            }
        });
    }
}

/* The recursion of the text, one start row at a time, in long double; without groups no_row and no_col */
static void recursion(const grouped *s, size_t row_groups, int nmax, double *m) {
    enum { N = ORDERS + 1 };
    static long double A[MOST][N], next[MOST][N];
    long double sum[N] = {0};
    for (size_t h = 0; h < s->P; h++) {
        if (s->rows[h] == s->no_row) continue;
        memset(A, 0, sizeof A);
        for (size_t b = 0; b < s->Q; b++) A[b][1] = s->cols[b] == s->no_col ? 0 : s->A[h * s->Q + b];
        for (size_t g = s->rows[h] + 1; g < row_groups; g++) {
            memcpy(next, A, sizeof A);
            for (size_t a = 0; a < s->P && g != s->no_row; a++) {
                if (s->rows[a] != g) continue;
                long double R[N] = {0}, S[N] = {0};
                for (size_t b = 0; b < s->Q; b++) {
                    if (b && s->cols[b] != s->cols[b - 1]) memcpy(R, S, sizeof R);
                    if (s->cols[b] == s->no_col) continue;
                    for (int n = 2; n <= nmax; n++) next[b][n] += R[n - 1] * s->A[a * s->Q + b];
                    for (int n = 1; n < nmax; n++) S[n] += A[b][n] * s->B[a * s->Q + b];
                }
            }
            memcpy(A, next, sizeof A);
        }
        for (size_t b = 0; b < s->Q; b++)
            for (int n = 1; n <= nmax; n++) sum[n] += A[b][n] * s->B[h * s->Q + b];
    }
    for (int n = 1; n <= nmax; n++) m[n - 1] = (double)sum[n];
}

static double symmetric(const sizes *s, size_t without, int n) {
    long double e[ORDERS + 1] = {1};
    for (size_t k = 0; k < s->count; k++)
        for (int i = n; i >= 1 && k != without; i--)
            e[i] += e[i - 1] * (long double)(s->first[k + 1] - s->first[k]);
    return (double)e[n];
}

/* Odd sizes, high orders (both kinds of hot loop), several tiles and stretches */
static void check_large(size_t P, size_t Q, int nmax, size_t most_rows, size_t most_cols, uint64_t seed) {
    static double A[MOST * MOST], B[MOST * MOST], rows[ORDERS * MOST], cols[ORDERS * MOST];
    static double absolute[2][MOST * MOST];
    double m[ORDERS], want[ORDERS], size[ORDERS];
    brute_matrix(seed, P * Q, A);
    brute_matrix(seed + 1, P * Q, B);
    const sizes r = make_sizes(P, seed, most_rows), c = make_sizes(Q, seed + 9, most_cols);
    if ((size_t)nmax >= r.count) nmax = (int)r.count - 1;
    if ((size_t)nmax >= c.count) nmax = (int)c.count - 1;
    for (size_t k = 0; k < P * Q; k++) absolute[0][k] = fabs(A[k]), absolute[1][k] = fabs(B[k]);
    grouped positive = {absolute[0], absolute[1], P, Q, r.of, c.of, SIZE_MAX, SIZE_MAX};
    recursion(&positive, r.count, nmax, size);
    EACH_ISA({
        CHECK(run_path(A, B, P, Q, nmax, &r, &c, 2, m, rows, cols) == KSPEC_OK);
        for (size_t k = 0; k <= r.count + c.count; k++) { /* the last: nothing left out */
            grouped g = {A, B, P, Q, r.of, c.of, SIZE_MAX, SIZE_MAX};
            if (k < r.count)
                g.no_row = k;
            else if (k < r.count + c.count)
                g.no_col = k - r.count;
            recursion(&g, r.count, nmax, want);
            for (int n = 1; n <= nmax; n++) {
                double count = symmetric(&r, g.no_row, n) * symmetric(&c, g.no_col, n);
                double got = k < r.count             ? rows[(size_t)(n - 1) * r.count + k]
                             : k < r.count + c.count ? cols[(size_t)(n - 1) * c.count + k - r.count]
                                                     : m[n - 1];
                CHECK_MSG(fabs(got - want[n - 1] / count) <= 1e-14 * size[n - 1] / count,
                          "%zu x %zu without %zu, n = %d, %s: %g", P, Q, k, n, kspec_isa(),
                          got - want[n - 1] / count);
            }
        }
        double plain[ORDERS];
        CHECK(run_path(A, B, P, Q, nmax, &r, &c, 1, plain, NULL, NULL) == KSPEC_OK);
        CHECK(memcmp(plain, m, (size_t)nmax * sizeof *m) == 0); /* with and without error bars */
    });
}

TEST(against_the_recursion) {
    check_large(37, 33, 6, 3, 1, 3);
    check_large(33, 37, 8, 1, 3, 4);
    check_large(40, 39, 12, 4, 2, 5);
    check_large(39, 40, 11, 2, 4, 6);
    check_large(17, 31, 3, 9, 7, 7);
    check_large(40, 40, 2, 20, 20, 8);
    check_large(31, 9, 1, 4, 2, 9);
}

/* Groups of one are no groups: the plain path's values, and its leave-one-out estimates. */
TEST(groups_of_one) {
    enum { P = 29, Q = 23, N = 5 };
    double A[P * Q], m[N], rows[N * P], cols[N * Q], m0[N], rows0[N * P], cols0[N * Q];
    brute_matrix(77, P * Q, A);
    const sizes r = make_sizes(P, 1, 1), c = make_sizes(Q, 1, 1);
    ks_run run;
    CHECK(ks_run_init(&run, 2, (kspec_progress){0}, NULL) == KSPEC_OK);
    CHECK(run_path(A, A, P, Q, N, &r, &c, 2, m, rows, cols) == KSPEC_OK);
    CHECK(ks_path(&run, &(ks_pair){A, A, P, Q, N}, &(ks_moments_out){m0, rows0, cols0}, NULL) == KSPEC_OK);
    for (size_t k = 0; k < N; k++) CHECK_CLOSE(m[k], m0[k], 1e-13);
    for (size_t k = 0; k < N * P; k++) CHECK_CLOSE(rows[k], rows0[k], 1e-11);
    for (size_t k = 0; k < N * Q; k++) CHECK_CLOSE(cols[k], cols0[k], 1e-11);
}

TEST(labels) {
    const uint64_t labels[] = {7, 3, 7, UINT64_MAX, 3, 0, 7};
    const size_t of[] = {0, 1, 0, 2, 1, 3, 0}, place[] = {1, 4, 5, 0, 2, 6, 3};
    ks_arena arena = {0};
    ks_groups g;
    ks_group_order o;
    kspec_error err;
    CHECK(ks_groups_make(&g, labels, 7, "row", &arena, &err) == KSPEC_OK && g.count == 4);
    for (size_t i = 0; i < 7; i++) CHECK(ks_group_of(&g, i) == of[i]);
    CHECK(ks_group_size(&g, 0) == 3 && ks_group_size(&g, 1) == 2 && ks_group_size(&g, 3) == 1);
    CHECK(ks_group_order_alloc(&o, &g, &arena, &err) == KSPEC_OK);
    memcpy(o.group, (size_t[]){1, 3, 0, 2}, 4 * sizeof(size_t));
    ks_group_order_set(&o, &g);
    CHECK(memcmp(o.place, place, sizeof place) == 0 && o.first[1] == 2 && o.first[2] == 3 && o.first[4] == 7);
    CHECK(ks_groups_make(&g, labels, 1, "row", &arena, &err) == KSPEC_E_ARG);
    CHECK(strstr(err.msg, "at least 2 groups"));
    CHECK(ks_groups_make(&g, (uint64_t[]){5, 4, 9}, 3, "row", &arena, &err) == KSPEC_OK);
    CHECK(g.count == 3 && !g.of && ks_group_of(&g, 2) == 2 && ks_group_size(&g, 1) == 1);
    ks_arena_free(&arena);
}

/* e_n of groups of one are binomials, also where they leave a double's range */
TEST(counts_beyond_a_double) {
    enum { COUNT = 3000, N = 900 };
    static size_t first[COUNT + 1];
    static ks_wide e[N + 1];
    for (size_t k = 0; k <= COUNT; k++) first[k] = k;
    ks_group_counts(first, COUNT, SIZE_MAX, N, e);
    double log2_binomial = (lgamma(COUNT + 1.0) - lgamma(N + 1.0) - lgamma(COUNT - N + 1.0)) / log(2);
    CHECK_CLOSE(log2(e[N].f) + e[N].e, log2_binomial, 1e-12);
    ks_group_counts(first, COUNT, 17, N, e);
    log2_binomial = (lgamma(COUNT + 0.0) - lgamma(N + 1.0) - lgamma(COUNT - N + 0.0)) / log(2);
    CHECK_CLOSE(log2(e[N].f) + e[N].e, log2_binomial, 1e-12);
}

/* So many cycles that the entries are scaled: of ones every mean is 1, with and without each group */
TEST(orders_that_need_a_scale) {
    enum { N = 180, COLS = 500, ORDER = 84 };
    double *ones = malloc(sizeof *ones * N * COLS), *m = malloc(sizeof *m * ORDER);
    double *rows = malloc(sizeof *rows * N * ORDER), *cols = malloc(sizeof *cols * COLS * ORDER);
    size_t first[COLS + 1], pairs[N];
    for (size_t k = 0; k < N * COLS; k++) ones[k] = 1;
    for (size_t k = 0; k <= COLS; k++) first[k] = k;
    for (size_t k = 0; k < N; k++) pairs[k] = k + (k > 0); /* the first two rows are one group */
    const ks_run run = {.threads = 2};
    const ks_pair p = {ones, ones, N, COLS, ORDER};
    CHECK(ks_path_groups(&run, &p, (ks_blocks){N - 1, pairs}, (ks_blocks){COLS, first},
                         &(ks_moments_out){m, rows, cols}, NULL) == KSPEC_OK);
    for (int n = 0; n < ORDER; n++) {
        CHECK_CLOSE(m[n], 1, 1e-9);
        for (int k = 0; k < N - 1; k += 43) CHECK_CLOSE(rows[n * (N - 1) + k], 1, 1e-9);
        for (int k = 0; k < COLS; k += 43) CHECK_CLOSE(cols[n * COLS + k], 1, 1e-9);
    }
    free(cols);
    free(rows);
    free(m);
    free(ones);
}

int main(void) {
    RUN(against_every_tuple);
    RUN(against_the_recursion);
    RUN(groups_of_one);
    RUN(labels);
    RUN(counts_beyond_a_double);
    RUN(orders_that_need_a_scale);
    return test_done();
}
