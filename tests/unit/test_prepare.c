/* Standardized columns, blocks of rows, and two matrices whose rows come in groups: against plain sums. */
#include "base/matrix.h"
#include "kspec.h"
#include "moments/prepare.h"
#include "moments/second.h"
#include "test.h"

static void normal(uint64_t seed, double *x, size_t n) { kspec_random_normal(seed, 7, 0, n, x); }

/* ---- two matrices, rows in groups ---- */

enum { P = 7, Q = 3, R = 4, GROUPS = 5 };
static const uint64_t labels[P] = {4, 4, 1, 0, 1, 3, 2};

/* Four trials' entries; without: a group, or a column of either, that is left out */
typedef struct {
    const double *X, *Z, *Y, *W;
    int group, col, other;
} both;

static int differ(const int *rows, int n) {
    for (int i = 0; i < n; i++)
        for (int k = 0; k < i; k++)
            if (labels[rows[i]] == labels[rows[k]]) return 0;
    return 1;
}

/* The mean over rows of different groups of what stands at rows[of[0]] ... of x, y, z and w */
static double mean_of(const both *b, int a, int c, int n, const int of[4]) {
    double sum = 0, count = 0;
    int r[4] = {0};
    for (int code = 0, most = (int)pow(P, n); code < most; code++) {
        int bad = 0;
        for (int k = 0, rest = code; k < n; k++, rest /= P)
            r[k] = rest % P, bad |= (int)labels[r[k]] == b->group;
        if (bad || !differ(r, n)) continue;
        sum +=
            b->X[r[of[0]] * Q + a] * b->Y[r[of[1]] * R + c] * b->Z[r[of[2]] * Q + a] * b->W[r[of[3]] * R + c];
        count++;
    }
    return sum / count;
}

static double brute(const both *b, int centered) {
    double sum = 0, count = 0;
    for (int a = 0; a < Q; a++)
        for (int c = 0; c < R; c++) {
            if (a == b->col || c == b->other) continue;
            double m = mean_of(b, a, c, 2, (int[]){0, 0, 1, 1});
            if (centered)
                m += mean_of(b, a, c, 4, (int[]){0, 1, 2, 3}) - mean_of(b, a, c, 3, (int[]){0, 1, 2, 2}) -
                     mean_of(b, a, c, 3, (int[]){0, 0, 1, 2});
            sum += m, count++;
        }
    return sum / count;
}

static void open_one(ks_measured *m, const kspec_matrix *phi, size_t trials, int centered, ks_arena *arena) {
    size_t missing;
    const double population[2] = {INFINITY, INFINITY};
    const ks_dependence how = {.population = population, .row_groups = labels};
    CHECK(ks_measured_open_dependent(m, phi, trials, NULL, &how, centered, "m", &missing, arena, NULL) ==
          KSPEC_OK);
}

TEST(cross_of_groups) {
    for (int centered = 0; centered < 2; centered++)
        for (int trials = 1; trials <= 2; trials++) {
            double x[2][P * Q], y[2][P * R], *cross, own;
            ks_arena arena = {0};
            ks_measured first, second;
            ks_lost lost;
            ks_run run;
            for (int t = 0; t < 2; t++)
                normal((uint64_t)(3 + t), x[t], (size_t)P * Q),
                    normal((uint64_t)(5 + t), y[t], (size_t)P * R);
            for (int k = 0; k < P * R; k++) y[0][k] *= 1e4, y[1][k] *= 1e4;
            const kspec_matrix phi[2] = {ks_matrix_of(x[0], P, Q), ks_matrix_of(x[1], P, Q)},
                               psi[2] = {ks_matrix_of(y[0], P, R), ks_matrix_of(y[1], P, R)};
            open_one(&first, phi, (size_t)trials, centered, &arena);
            open_one(&second, psi, (size_t)trials, centered, &arena);
            CHECK(ks_run_init(&run, 1, (kspec_progress){0}, NULL) == KSPEC_OK);
            CHECK(ks_cross_make(&run, &first, &second, 1, 0, &cross, &lost, &own, &arena, NULL) == KSPEC_OK);
            const int e = 2 * (first.trials.exponent + second.trials.exponent), last = trials - 1;
            for (int k = 0; k < 1 + GROUPS + Q + R; k++) {
                /* groups are numbered in order of first appearance: 4, 1, 0, 3, 2 */
                static const int group[GROUPS] = {4, 1, 0, 3, 2};
                const both b = {x[0],
                                x[last],
                                y[last],
                                y[0],
                                k >= 1 && k <= GROUPS ? group[k - 1] : -1,
                                k > GROUPS && k <= GROUPS + Q ? k - 1 - GROUPS : -1,
                                k > GROUPS + Q ? k - 1 - GROUPS - Q : -1};
                if (centered && b.group >= 0 && k > 2) continue; /* the brute force takes its time */
                const double want = brute(&b, centered), got = ldexp(cross[k], e);
                CHECK_MSG(fabs(got - want) <= 1e-11 * 1e8 || (isnan(want) && isnan(got)),
                          "centred %d, trials %d, %d: %.15g != %.15g", centered, trials, k, got, want);
            }
            ks_arena_free(&arena);
        }
}

/* ---- standard deviations without a row ---- */

TEST(standard_deviations_are_left_out_too) {
    enum { ROWS = 80, COLS = 6 };
    double x[ROWS * COLS], common[ROWS];
    normal(11, x, (size_t)ROWS * COLS);
    normal(12, common, ROWS);
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLS; j++) x[i * COLS + j] = (x[i * COLS + j] + common[i]) * pow(10, j) + 5;
    const kspec_matrix raw = ks_matrix_of(x, ROWS, COLS), *phi = &raw;
    ks_arena arena = {0};
    CHECK(ks_standardize(&phi, 1, NULL, &arena, NULL) == KSPEC_OK);
    kspec_moments_opts o = {.size = sizeof o, .nmax = 3, .estimators = KSPEC_ESTIMATOR_EXACT, .threads = 1};
    kspec_moments_result *all, *without;
    CHECK(kspec_moments(phi, 1, &o, &all, NULL) == KSPEC_OK);
    double rows[3][ROWS], cols[3][COLS], exact[3][ROWS], square[3] = {0}, error[3] = {0};
    for (int k = 0; k < COLS; k++) { /* a column left out leaves the others as they are */
        double part[ROWS * (COLS - 1)];
        for (int i = 0; i < ROWS; i++)
            for (int j = 0; j < COLS - 1; j++)
                part[i * (COLS - 1) + j] = ks_at(phi, (size_t)i, (size_t)(j < k ? j : j + 1));
        const kspec_matrix m = ks_matrix_of(part, ROWS, COLS - 1);
        CHECK(kspec_moments(&m, 1, &o, &without, NULL) == KSPEC_OK);
        for (int n = 0; n < 3; n++) cols[n][k] = without->estimates[n]->value;
        kspec_free(without);
    }
    for (int k = 0; k < ROWS; k++) {
        double part[(ROWS - 1) * COLS];
        for (int i = 0; i < ROWS - 1; i++)
            for (int j = 0; j < COLS; j++)
                part[i * COLS + j] = ks_at(phi, (size_t)(i < k ? i : i + 1), (size_t)j);
        const kspec_matrix m = ks_matrix_of(part, ROWS - 1, COLS), *again = &m;
        for (int standard = 0; standard < 2; standard++) {
            if (standard) CHECK(ks_standardize(&again, 1, NULL, &arena, NULL) == KSPEC_OK);
            CHECK(kspec_moments(again, 1, &o, &without, NULL) == KSPEC_OK);
            for (int n = 0; n < 3; n++) (standard ? exact : rows)[n][k] = without->estimates[n]->value;
            kspec_free(without);
        }
    }
    ks_left_out list[3];
    for (int n = 0; n < 3; n++) list[n] = (ks_left_out){n + 1, all->estimates[n]->value, rows[n], cols[n]};
    const ks_groups each = {.n = ROWS, .count = ROWS};
    CHECK(ks_standard_left_out(phi, 1, NULL, &each, list, 3, NULL) == KSPEC_OK);
    for (int n = 0; n < 3; n++) {
        const double m = all->estimates[n]->value;
        for (int k = 0; k < ROWS; k++)
            square[n] += pow(exact[n][k] - m, 2), error[n] += pow(exact[n][k] - rows[n][k], 2);
        /* to first order: what is left is of the order of 1/rows of the deviations */
        CHECK_MSG(error[n] <= pow(0.1, 2) * square[n] + 1e-20, "m(%d): %g of %g", n + 1, sqrt(error[n]),
                  sqrt(square[n]));
    }
    kspec_free(all);

    /* the option does all of it: m(1) of what varies is 1, and its error that of the exact jackknife */
    kspec_dimension_opts d = {.size = sizeof d, .standardize = 1, .threads = 1};
    kspec_dimension_result *r;
    CHECK(kspec_dimension(&raw, 1, &d, &r, NULL) == KSPEC_OK);
    CHECK_CLOSE(r->trace, 1, 1e-12);
    kspec_free(r);
    ks_arena_free(&arena);
}

/* ---- blocks ---- */

static size_t chosen(uint64_t seed, size_t rows, double rho) {
    enum { COLS = 20 };
    double *x = malloc(rows * COLS * sizeof *x);
    normal(seed, x, rows * COLS);
    for (size_t k = COLS; k < rows * COLS; k++) x[k] = rho * x[k - COLS] + sqrt(1 - rho * rho) * x[k];
    const kspec_matrix m = ks_matrix_of(x, rows, COLS);
    const ks_trials_given given = {&m, 1, NULL};
    ks_arena arena = {0};
    const uint64_t *to = NULL;
    size_t block = KSPEC_BLOCK_AUTO;
    kspec_status st = ks_block_labels(&block, &to, &given, NULL, &arena, NULL);
    if (!st && block > 1) {
        CHECK(to && to[0] == 0 && rows / (to[rows - 1] + 1) >= block - 1 && to[rows - 1] >= 4);
        for (size_t i = 1; i < rows; i++) CHECK(to[i] == to[i - 1] || to[i] == to[i - 1] + 1);
    }
    CHECK(st || (block == 1) == !to);
    ks_arena_free(&arena);
    free(x);
    return st ? 0 : block;
}

TEST(blocks_by_the_length_of_correlations) {
    int alone = 0;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        alone += chosen(seed, 300, 0) == 1;
        const size_t some = chosen(seed, 300, 0.8), many = chosen(seed, 1000, 0.95);
        CHECK_MSG(some >= 6 && some <= 20, "rho 0.8: blocks of %zu", some);
        CHECK_MSG(many >= 25 && many <= 110, "rho 0.95: blocks of %zu", many);
    }
    CHECK_MSG(alone >= 18, "%d of 20", alone); /* more than 2 by chance: 1 in 40,000, at z = 3 */
    CHECK(chosen(1, 60, 0.98) == 0);           /* too short a series is refused */
}

TEST(blocks_of_a_given_length) {
    double x[20 * 3];
    normal(1, x, 60);
    const kspec_matrix m = ks_matrix_of(x, 20, 3);
    kspec_dimension_opts o = {.size = sizeof o, .block = 3};
    kspec_dimension_result *r;
    kspec_error err;
    CHECK(kspec_dimension(&m, 1, &o, &r, &err) == KSPEC_OK && r->groups == 7 && r->block == 3);
    kspec_free(r);
    o.block = 5;
    CHECK(kspec_dimension(&m, 1, &o, &r, &err) == KSPEC_E_ARG && strstr(err.msg, "make 4 of them, 5 are"));
    CHECK(strcmp(err.option, "block") == 0);
    o.block = 1;
    CHECK(kspec_dimension(&m, 1, &o, &r, &err) == KSPEC_OK && r->groups == 0 && r->block == 1);
    kspec_free(r);
    uint64_t own[20] = {0, 1, 2};
    o.row_groups = own, o.block = 3;
    CHECK(kspec_dimension(&m, 1, &o, &r, &err) == KSPEC_E_ARG && strstr(err.msg, "cannot be combined"));
}

int main(void) {
    RUN(cross_of_groups);
    RUN(standard_deviations_are_left_out_too);
    RUN(blocks_by_the_length_of_correlations);
    RUN(blocks_of_a_given_length);
    return test_done();
}
