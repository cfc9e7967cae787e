/*
 * The alignment of a target with a kernel against its definition, a sum over all different rows and columns;
 * the null distribution of an alignment against all orders of the rows; the signal share against its own.
 */
#include "base/gamma.h"
#include "dimension/permuted.h"
#include "kspec.h"
#include "test.h"

enum { P = 7, Q = 4, T = 3 };

typedef struct {
    double x[T][P * Q], y[P];
    kspec_matrix phi[T], target;
} sample;

static void draw(uint64_t seed, double mean, sample *s) {
    double common[P * Q];
    kspec_random_normal(seed, 1, 0, (size_t)P * Q, common);
    kspec_random_normal(seed, 2, 0, P, s->y);
    for (int t = 0; t < T; t++) {
        kspec_random_normal(seed, 3 + (uint64_t)t, 0, (size_t)P * Q, s->x[t]);
        for (int k = 0; k < P * Q; k++) s->x[t][k] = mean + common[k] + 0.5 * s->x[t][k] + 2 * s->y[k / Q];
        s->phi[t] = (kspec_matrix){s->x[t], P, Q, Q, 1};
    }
    for (int i = 0; i < P; i++) s->y[i] += mean;
    s->target = (kspec_matrix){s->y, P, 1, 1, 1};
}

/* ---- by definition ---- */

/*
 * <y, T^n y>, not centred: the mean of y_i A_ia B_ja ... y_k over different rows and different columns;
 * edges alternate between the trials A and B. Centred: each of the n+1 rows of the cycle stands for itself,
 * or, with a minus sign, for two different rows, one for each of its two factors.
 */
typedef struct {
    const double *A, *B, *y;
    int n, centred, rows;
    int row[8], used[P], col[2];
    double sum, count;
} walk;

static double factor(const walk *w, int at, const int *left, const int *right) {
    (void)at;
    const double *A = w->A, *B = w->B;
    if (w->n == 1)
        return w->y[left[0]] * A[right[0] * Q + w->col[0]] * B[left[1] * Q + w->col[0]] * w->y[right[1]];
    return w->y[left[0]] * A[right[0] * Q + w->col[0]] * B[left[1] * Q + w->col[0]] *
           A[right[1] * Q + w->col[1]] * B[left[2] * Q + w->col[1]] * w->y[right[2]];
}

static void columns(walk *w, int split) {
    int left[3], right[3], at = 0;
    for (int k = 0; k <= w->n; k++) {
        left[k] = right[k] = w->row[at++];
        if (split >> k & 1) right[k] = w->row[at++];
    }
    for (w->col[0] = 0; w->col[0] < Q; w->col[0]++)
        for (w->col[1] = 0; w->col[1] < (w->n == 2 ? Q : 1); w->col[1]++) {
            if (w->n == 2 && w->col[0] == w->col[1]) continue;
            w->sum += factor(w, 0, left, right), w->count++;
        }
}

static void rows(walk *w, int at, int split) {
    if (at == w->rows) {
        columns(w, split);
        return;
    }
    for (int i = 0; i < P; i++) {
        if (w->used[i]) continue;
        w->used[i] = 1, w->row[at] = i;
        rows(w, at + 1, split);
        w->used[i] = 0;
    }
}

static double defined(const double *A, const double *B, const double *y, int n, int centred) {
    double value = 0;
    for (int split = 0; split < (centred ? 1 << (n + 1) : 1); split++) {
        int more = __builtin_popcount((unsigned)split);
        walk w = {.A = A, .B = B, .y = y, .n = n, .rows = n + 1 + more};
        rows(&w, 0, split);
        value += (more % 2 ? -1 : 1) * w.sum / w.count;
    }
    return value;
}

/* ---- */

static kspec_dimension_result *run(const sample *s, size_t trials, kspec_center center) {
    kspec_dimension_opts o = {.size = sizeof o, .center = center, .target = &s->target};
    kspec_dimension_result *r = NULL;
    kspec_error err;
    kspec_status st = kspec_dimension(s->phi, trials, &o, &r, &err);
    CHECK_MSG(st == KSPEC_OK, "%s", err.msg);
    return r;
}

TEST(alignments_are_their_definition) {
    for (int centred = 0; centred < 2; centred++)
        for (size_t trials = 1; trials <= 2; trials++) {
            sample s;
            draw(5 + trials, 0.5, &s);
            kspec_dimension_result *r = run(&s, trials, centred ? KSPEC_CENTER_ROWS : KSPEC_CENTER_NONE);
            if (!r) continue;
            const double *B = s.x[trials - 1];
            CHECK(r->target_count == 1);
            const kspec_target *t = r->targets[0];
            CHECK_CLOSE(t->alignment, defined(s.x[0], B, s.y, 1, centred), 1e-11);
            CHECK_CLOSE(t->second, defined(s.x[0], B, s.y, 2, centred), 1e-10);
            CHECK(t->alignment_ci_low <= t->alignment && t->alignment <= t->alignment_ci_high);
            CHECK(t->second_ci_low <= t->second && t->second <= t->second_ci_high);
            CHECK(isnan(t->p) == !centred);
            kspec_free(r);
        }
}

TEST(alignments_follow_units_and_constants) {
    sample s, moved;
    draw(9, 0, &s);
    moved = s;
    for (int k = 0; k < P * Q; k++) moved.x[0][k] = 1e40 * (s.x[0][k] + 3);
    for (int i = 0; i < P; i++) moved.y[i] = 1e-30 * (s.y[i] - 7);
    moved.phi[0].data = moved.x[0], moved.target.data = moved.y, s.phi[0].data = s.x[0], s.target.data = s.y;
    kspec_dimension_result *a = run(&s, 1, KSPEC_CENTER_ROWS), *b = run(&moved, 1, KSPEC_CENTER_ROWS);
    if (!a || !b) return;
    const kspec_target *t = a->targets[0], *u = b->targets[0];
    CHECK_CLOSE(u->alignment, 1e20 * t->alignment, 1e-11);
    CHECK_CLOSE(u->second, 1e100 * t->second, 1e-10);
    CHECK_CLOSE(u->share, t->share, 1e-11);
    CHECK_CLOSE(u->share_ci_high, t->share_ci_high, 1e-9);
    CHECK_CLOSE(u->p, t->p, 1e-9);
    kspec_free(a);
    kspec_free(b);
}

/* Groups of one row each change nothing; the alignment of order 2 is not made with them. */
TEST(groups_of_one_are_none) {
    enum { ROWS = 12, COLS = 5 };
    double x[ROWS * COLS], y[ROWS];
    uint64_t pairs[ROWS], cols[COLS] = {1, 1, 2, 3, 4};
    kspec_random_normal(3, 1, 0, (size_t)ROWS * COLS, x);
    kspec_random_normal(3, 2, 0, ROWS, y);
    for (size_t i = 0; i < ROWS; i++) pairs[i] = i / 2;
    const kspec_matrix phi = {x, ROWS, COLS, COLS, 1}, target = {y, ROWS, 1, 1, 1};
    kspec_dimension_opts o = {.size = sizeof o, .target = &target, .row_groups = pairs, .col_groups = cols};
    kspec_dimension_result *r = NULL;
    CHECK(kspec_dimension(&phi, 1, &o, &r, NULL) == KSPEC_OK);
    if (!r) return;
    /* by definition, not centred rows: pairs of rows of different groups, with sums over three terms */
    double sum = 0, one = 0, two = 0, n1 = 0, n2 = 0, n3 = 0;
    for (int i = 0; i < ROWS; i++)
        for (int k = 0; k < ROWS; k++)
            for (int l = 0; l < ROWS; l++)
                for (int m = 0; m < ROWS; m++) {
                    if (i / 2 == k / 2) continue;
                    const int third = l / 2 != i / 2 && l / 2 != k / 2,
                              fourth = third && m / 2 != l / 2 && m / 2 != i / 2 && m / 2 != k / 2;
                    for (int a = 0; a < COLS; a++) {
                        if (l == 0 && m == 0) sum += y[i] * x[i * COLS + a] * x[k * COLS + a] * y[k], n1++;
                        if (third && m == 0) one += y[i] * x[i * COLS + a] * x[k * COLS + a] * y[l], n2++;
                        if (fourth) two += y[i] * x[l * COLS + a] * x[k * COLS + a] * y[m], n3++;
                    }
                }
    CHECK_CLOSE(r->targets[0]->alignment, sum / n1 - 2 * one / n2 + two / n3, 1e-11);
    CHECK(isnan(r->targets[0]->second) && isnan(r->targets[0]->p));
    kspec_free(r);
}

TEST(bad_targets_are_refused) {
    sample s;
    draw(1, 0, &s);
    kspec_dimension_opts o = {.size = sizeof o, .target = &s.target};
    kspec_dimension_result *r;
    kspec_error err;
    s.target.rows = P - 1;
    CHECK_FAILS(kspec_dimension(s.phi, 1, &o, &r, &err), KSPEC_E_ARG, err,
                "the target has 6 rows, the matrix has 7");
    s.target.rows = P;
    for (int i = 0; i < P; i++) s.y[i] = 4;
    CHECK_FAILS(kspec_dimension(s.phi, 1, &o, &r, &err), KSPEC_E_DATA, err, "is constant");
    s.y[3] = NAN;
    CHECK_FAILS(kspec_dimension(s.phi, 1, &o, &r, &err), KSPEC_E_DATA, err, "the target: row 3");
    s.y[3] = 1;
    o.center = KSPEC_CENTER_COLS;
    CHECK_FAILS(kspec_dimension(s.phi, 1, &o, &r, &err), KSPEC_E_ARG, err, "a target is centred over rows");
}

/* ---- the null distribution ---- */

static int next_order(int *p, int n) {
    int i = n - 2, j = n - 1;
    while (i >= 0 && p[i] > p[i + 1]) i--;
    if (i < 0) return 0;
    while (p[j] < p[i]) j--;
    int t = p[i];
    p[i] = p[j], p[j] = t;
    for (int a = i + 1, b = n - 1; a < b; a++, b--) t = p[a], p[a] = p[b], p[b] = t;
    return 1;
}

/* A B^T without its diagonal and the sums of its rows and columns, by alternating removal */
static void kernel(const double *A, const double *B, int n, int cols, double *K) {
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            K[i * n + j] = 0;
            for (int a = 0; a < cols && i != j; a++) K[i * n + j] += A[i * cols + a] * B[j * cols + a];
        }
    for (int round = 0; round < 400; round++)
        for (int side = 0; side < 2; side++)
            for (int i = 0; i < n; i++) {
                double sum = 0;
                for (int j = 0; j < n; j++) sum += K[side ? j * n + i : i * n + j];
                for (int j = 0; j < n; j++)
                    if (i != j) K[side ? j * n + i : i * n + j] -= sum / (n - 1);
            }
}

TEST(moments_over_all_orders_are_those_of_all_orders) {
    for (int n = 5; n <= 7; n++)
        for (int two = 0; two < 2; two++) {
            enum { MOST = 7, COLS = 3 };
            double x[4][MOST * COLS], K[MOST * MOST], L[MOST * MOST], second = 0, third = 0, first = 0;
            int order[MOST], count = 0;
            ks_shape k, l;
            double variance, skewness;
            const ks_run run = {.threads = 1, .to = 1};
            for (int m = 0; m < 4; m++)
                kspec_random_normal(7, (uint64_t)(10 * n + m), 0, (size_t)n * COLS, x[m]);
            const double *B = two ? x[1] : x[0], *D = two ? x[3] : x[2];
            kernel(x[0], B, n, COLS, K), kernel(x[2], D, n, COLS, L);
            for (int i = 0; i < n; i++) order[i] = i;
            do {
                double w = 0;
                for (int i = 0; i < n; i++)
                    for (int j = 0; j < n; j++) w += K[i * n + j] * L[order[i] * n + order[j]];
                first += w, second += w * w, third += w * w * w, count++;
            } while (next_order(order, n));
            first /= count, second /= count, third /= count;
            CHECK(ks_shape_make(&run, x[0], B, (size_t)n, COLS, 0, &k, NULL) == KSPEC_OK);
            CHECK(ks_shape_make(&run, x[2], D, (size_t)n, COLS, 0, &l, NULL) == KSPEC_OK);
            ks_permuted_moments(&k, &l, &variance, &skewness);
            CHECK(fabs(first) < 1e-9 * sqrt(second));
            CHECK_CLOSE(variance, second, 1e-9);
            CHECK_CLOSE(skewness, third / pow(second, 1.5), 1e-8);
        }
}

/* Shapes 1 and 1/2 are the exponential and the square of a normal variable; others by recurrence. */
TEST(the_tail_of_the_gamma_distribution) {
    const double at[] = {1e-3, 0.5, 1, 3, 20, 100};
    for (size_t k = 0; k < sizeof at / sizeof *at; k++) {
        const double x = at[k];
        CHECK_CLOSE(ks_gamma_tail(1, x), exp(-x), 1e-12);
        CHECK_CLOSE(ks_gamma_tail(0.5, x), erfc(sqrt(x)), 1e-11);
        CHECK_CLOSE(ks_gamma_tail(4.5, x), ks_gamma_tail(3.5, x) + exp(3.5 * log(x) - x - lgamma(4.5)),
                    1e-11);
    }
    CHECK_CLOSE(ks_gamma_tail(1e8, 1e8), 0.5, 1e-3);
    CHECK_CLOSE(ks_skewed_tail(0, 1.5), erfc(1.5 / sqrt(2)) / 2, 1e-14);
    CHECK_CLOSE(ks_skewed_tail(2, 1.5), exp(-2.5), 1e-12);
    CHECK_CLOSE(ks_skewed_tail(-2, -1.5), 1 - exp(-2.5), 1e-12);
    CHECK(ks_skewed_tail(2, -1.5) == 1 && ks_skewed_tail(-2, 1.5) == 0);
}

/*
 * Fresh rows and columns without anything in common, 400 times: p is below 0.05 in 5 +- 1.1% of cases, below
 * 0.01 in 1 +- 0.5%. Bounds of 4.5 standard deviations: a false alarm in 100,000 for the seeds there are.
 */
TEST(p_is_uniform_where_nothing_is_shared) {
    enum { ROWS = 40, COLS = 30, DRAWS = 400, FACTORS = 8 };
    int below[2][2] = {{0}};
    for (uint64_t seed = 0; seed < DRAWS; seed++) {
        static double x[2][ROWS * COLS], f[2][ROWS * FACTORS], w[2][FACTORS * COLS], y[ROWS];
        kspec_matrix m[2];
        for (int k = 0; k < 2; k++) {
            const uint64_t at = 3 * (2 * seed + (uint64_t)k);
            kspec_random_normal(77, at, 0, (size_t)ROWS * FACTORS, f[k]);
            kspec_random_normal(77, at + 1, 0, (size_t)FACTORS * COLS, w[k]);
            memset(x[k], 0, sizeof x[k]);
            for (int i = 0; i < ROWS; i++)
                for (int l = 0; l < FACTORS; l++)
                    for (int a = 0; a < COLS; a++)
                        x[k][i * COLS + a] += f[k][i * FACTORS + l] * w[k][l * COLS + a] / (1 + l);
            m[k] = (kspec_matrix){x[k], ROWS, COLS, COLS, 1};
        }
        for (int i = 0; i < ROWS; i++) y[i] = f[1][i * FACTORS] > 0 ? exp(f[1][i * FACTORS + 1]) : 0;
        const kspec_matrix target = {y, ROWS, 1, 1, 1};
        kspec_dimension_opts o = {.size = sizeof o, .target = &target, .threads = 1};
        kspec_compare_opts c = {.size = sizeof c, .nmax = 1, .threads = 1, .no_shared = 1};
        kspec_dimension_result *d = NULL;
        kspec_compare_result *r = NULL;
        CHECK(kspec_dimension(&m[0], 1, &o, &d, NULL) == KSPEC_OK);
        CHECK(kspec_compare(&m[0], 1, &m[1], 1, &c, &r, NULL) == KSPEC_OK);
        const double p[2] = {d ? d->targets[0]->p : NAN, r ? r->alignment_p : NAN};
        for (int k = 0; k < 2; k++) below[k][0] += p[k] < 0.05, below[k][1] += p[k] < 0.01;
        kspec_free(d);
        kspec_free(r);
    }
    for (int k = 0; k < 2; k++) {
        CHECK_MSG(abs(below[k][0] - 20) < 20, "%d of 400 below 0.05", below[k][0]);
        CHECK_MSG(below[k][1] < 13, "%d of 400 below 0.01", below[k][1]);
    }
}

/* ---- the signal share ---- */

static double share_of(const sample *s, size_t trials, int without, int centred) {
    double common = 0, total = 0;
    for (int a = 0; a < Q; a++)
        for (size_t t = 0; t < trials; t++)
            for (size_t u = 0; u < trials; u++) {
                double x = 0, z = 0, xz = 0, n = 0;
                for (int i = 0; i < P; i++)
                    if (i != without) x += s->x[t][i * Q + a], z += s->x[u][i * Q + a], n++;
                for (int i = 0; i < P; i++)
                    if (i != without)
                        xz += (s->x[t][i * Q + a] - (centred ? x / n : 0)) *
                              (s->x[u][i * Q + a] - (centred ? z / n : 0));
                if (t == u) total += xz / (double)trials;
                if (t != u) common += xz / (double)(trials * (trials - 1));
            }
    return common / total;
}

TEST(the_signal_share_is_its_definition) {
    sample s;
    draw(21, 0.3, &s);
    for (int centred = 0; centred < 2; centred++)
        for (size_t trials = 2; trials <= T; trials++) {
            kspec_dimension_opts o = {.size = sizeof o,
                                      .center = centred ? KSPEC_CENTER_ROWS : KSPEC_CENTER_NONE};
            kspec_dimension_result *r = NULL;
            CHECK(kspec_dimension(s.phi, trials, &o, &r, NULL) == KSPEC_OK);
            if (!r) continue;
            CHECK_CLOSE(r->signal_share, share_of(&s, trials, -1, centred), 1e-12);
            CHECK(r->signal_count == Q);
            CHECK(r->signal_share_ci_low < r->signal_share && r->signal_share < r->signal_share_ci_high);
            for (size_t a = 0; a < Q; a++) CHECK(r->signal_columns[a]->share < 1);
            kspec_free(r);
        }
}

/*
 * Ten factors and noise as large, 60 x 40, two trials, 300 draws: the share is 1/2. Its interval covers it in
 * 90% or more (a nominal 95%; four standard deviations are 5%), its mean is within 4 standard errors, and a
 * column's covers the column's own.
 */
TEST(the_signal_share_is_covered) {
    enum { ROWS = 60, COLS = 40, DRAWS = 300, FACTORS = 10 };
    int covered = 0, columns = 0;
    double sum = 0, squares = 0;
    for (uint64_t seed = 0; seed < DRAWS; seed++) {
        static double x[2][ROWS * COLS], f[ROWS * FACTORS], w[FACTORS * COLS];
        kspec_matrix m[2];
        kspec_random_normal(78, 4 * seed, 0, (size_t)ROWS * FACTORS, f);
        kspec_random_normal(78, 4 * seed + 1, 0, (size_t)FACTORS * COLS, w);
        for (int t = 0; t < 2; t++) {
            kspec_random_normal(78, 4 * seed + 2 + (uint64_t)t, 0, (size_t)ROWS * COLS, x[t]);
            for (int i = 0; i < ROWS; i++)
                for (int l = 0; l < FACTORS; l++)
                    for (int a = 0; a < COLS; a++)
                        x[t][i * COLS + a] += f[i * FACTORS + l] * w[l * COLS + a] / sqrt(FACTORS);
            m[t] = (kspec_matrix){x[t], ROWS, COLS, COLS, 1};
        }
        kspec_dimension_opts o = {.size = sizeof o, .threads = 1};
        kspec_dimension_result *r = NULL;
        CHECK(kspec_dimension(m, 2, &o, &r, NULL) == KSPEC_OK);
        if (!r) continue;
        covered += r->signal_share_ci_low < 0.5 && 0.5 < r->signal_share_ci_high;
        sum += r->signal_share / DRAWS, squares += r->signal_share * r->signal_share / DRAWS;
        double own = 0;
        for (int l = 0; l < FACTORS; l++) own += w[l * COLS] * w[l * COLS] / FACTORS;
        own /= own + 1;
        columns += r->signal_columns[0]->ci_low < own && own < r->signal_columns[0]->ci_high;
        kspec_free(r);
    }
    const double error = sqrt((squares - sum * sum) / DRAWS);
    printf("share %.4f +- %.4f, covered %d and %d of %d\n", sum, error, covered, columns, DRAWS);
    CHECK_MSG(covered >= 270, "covered in %d of %d", covered, DRAWS);
    CHECK_MSG(columns >= 270, "a column's covered in %d of %d", columns, DRAWS);
    CHECK_MSG(fabs(sum - 0.5) < 4 * error + 0.005, "mean %g +- %g", sum, error);
}

int main(void) {
    RUN(alignments_are_their_definition);
    RUN(alignments_follow_units_and_constants);
    RUN(groups_of_one_are_none);
    RUN(bad_targets_are_refused);
    RUN(moments_over_all_orders_are_those_of_all_orders);
    RUN(the_tail_of_the_gamma_distribution);
    RUN(p_is_uniform_where_nothing_is_shared);
    RUN(the_signal_share_is_its_definition);
    RUN(the_signal_share_is_covered);
    return test_done();
}
