/*
 * The differences of kspec_compare(): against moments and dimensions of matrices of which a row or a column
 * really is left out, for every pairing; ragged trials of both matrices; refusals.
 */
#include "kspec.h"
#include "help/interval.h"
#include "help/isa.h"
#include "base/student.h"
#include "test.h"

enum { P = 14, Q = 8, R = 9, ORDERS = 4, MOST = 14 };

typedef struct {
    double at[2][MOST * MOST];
    size_t rows, cols, trials;
} sample;

static sample draw(uint64_t seed, size_t rows, size_t cols, size_t trials) {
    sample s = {.rows = rows, .cols = cols, .trials = trials};
    double x[3 * MOST], w[3 * MOST];
    kspec_random_normal(seed, 10, 0, 3 * rows, x);
    kspec_random_normal(seed, 11, 0, 3 * cols, w);
    for (int t = 0; t < 2; t++) {
        kspec_random_normal(seed, 12 + (uint64_t)t, 0, rows * cols, s.at[t]);
        for (size_t i = 0; i < rows; i++)
            for (size_t k = 0; k < cols; k++) {
                double sum = 1.5; /* a mean, which keeps uncentred moments positive */
                for (size_t l = 0; l < 3; l++) sum += x[l * rows + i] * w[l * cols + k];
                s.at[t][i * cols + k] = sum + 0.2 * s.at[t][i * cols + k];
            }
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

static void views(const sample *s, kspec_matrix *m) {
    for (size_t t = 0; t < s->trials; t++)
        m[t] = (kspec_matrix){s->at[t], s->rows, s->cols, (ptrdiff_t)s->cols, 1};
}

/* The dimension (n = 0) or m(n) of one matrix */
static double value(const sample *s, int n, int no_center) {
    kspec_matrix m[2];
    views(s, m);
    double v = NAN;
    if (n <= 2) {
        kspec_dimension_opts o = {.size = sizeof o,
                                  .center = no_center ? KSPEC_CENTER_NONE : KSPEC_CENTER_ROWS};
        kspec_dimension_result *r;
        CHECK(kspec_dimension(m, s->trials, &o, &r, NULL) == KSPEC_OK);
        if (r) v = n == 0 ? r->dimension : n == 1 ? r->trace : r->second_moment;
        kspec_free(r);
        return v;
    }
    kspec_moments_opts o = {.size = sizeof o,
                            .nmax = n,
                            .estimators = KSPEC_ESTIMATOR_EXACT,
                            .no_stderr = 1,
                            .center = no_center ? KSPEC_CENTER_NONE : KSPEC_CENTER_ROWS};
    kspec_moments_result *r;
    CHECK(kspec_moments(m, s->trials, &o, &r, NULL) == KSPEC_OK);
    if (r) v = r->estimates[n - 1]->value;
    kspec_free(r);
    return v;
}

/* Every second row from `row` on and every second column from `col` on */
static sample quarter_of(const sample *s, size_t row, size_t col) {
    sample r = {.rows = (s->rows - row + 1) / 2, .cols = (s->cols - col + 1) / 2, .trials = s->trials};
    for (size_t t = 0; t < s->trials; t++)
        for (size_t i = 0; i < r.rows; i++)
            for (size_t k = 0; k < r.cols; k++)
                r.at[t][i * r.cols + k] = s->at[t][(row + 2 * i) * s->cols + col + 2 * k];
    return r;
}

/* m(1)^2 of one matrix */
static double square(const sample *s, int no_center) {
    kspec_matrix m[2];
    views(s, m);
    kspec_dimension_opts o = {.size = sizeof o, .center = no_center ? KSPEC_CENTER_NONE : KSPEC_CENTER_ROWS};
    kspec_dimension_result *r;
    CHECK(kspec_dimension(m, s->trials, &o, &r, NULL) == KSPEC_OK);
    double v = r->trace_squared;
    kspec_free(r);
    return v;
}

/* What is compared: the values, their logarithms, or their expansion about those of `all` to first order */
typedef enum { PLAIN, LOGS, EXPANDED } scale;

static double on_scale(const sample *s, const sample *all, int n, int no_center, scale how) {
    if (how == EXPANDED && n == 0)
        return square(s, no_center) / square(all, no_center) -
               value(s, 2, no_center) / value(all, 2, no_center);
    double v = value(s, n, no_center);
    return how == LOGS ? log(v) : how == EXPANDED ? v / value(all, n, no_center) : v;
}

/* By rows and by columns: without each of them */
typedef struct {
    double at[2][MOST];
    size_t size[2];
} left_out;

static left_out leave_out(const sample *s, const sample *all, int n, int no_center, scale how) {
    left_out l = {.size = {s->rows, s->cols}};
    for (int c = 0; c < 2; c++)
        for (size_t i = 0; i < l.size[c]; i++) {
            sample less = without(s, c ? SIZE_MAX : i, c ? i : SIZE_MAX);
            l.at[c][i] = on_scale(&less, all, n, no_center, how);
        }
    return l;
}

/* (N-1)/N sum of squared deviations, and the variance of that */
static double side(const double *x, size_t N, double *noise) {
    double mean = 0, sum = 0, u[MOST], f = (double)(N - 1) / (double)N;
    for (size_t i = 0; i < N; i++) mean += x[i] / (double)N;
    for (size_t i = 0; i < N; i++) sum += u[i] = (x[i] - mean) * (x[i] - mean);
    double own = 0;
    for (size_t i = 0; i < N; i++) own += f * f * (u[i] - sum / (double)N) * (u[i] - sum / (double)N);
    *noise += N < 10 ? fmax(own, 2 * f * f * sum * sum / (double)(N - 1)) : own; /* N - 1 degrees at most */
    return sum * f;
}

/* The jackknife of x - y over the sides that they share and those that they do not */
static double variance(const left_out *x, const left_out *y, kspec_paired paired, double *noise) {
    double sum = 0, both[MOST];
    *noise = 0;
    for (int s = 0; s < 2; s++)
        if ((s == 0 && paired == KSPEC_PAIRED_ROWS) || (s == 1 && paired == KSPEC_PAIRED_COLS)) {
            for (size_t k = 0; k < x->size[s]; k++) both[k] = x->at[s][k] - y->at[s][k];
            sum += side(both, x->size[s], noise);
        } else {
            sum += side(x->at[s], x->size[s], noise) + side(y->at[s], y->size[s], noise);
        }
    return sum;
}

static double pair_variance(const sample *a, const sample *b, const sample *all_a, const sample *all_b, int n,
                            int no_center, scale how, kspec_paired paired, double *noise) {
    left_out x = leave_out(a, all_a, n, no_center, how), y = leave_out(b, all_b, n, no_center, how);
    return variance(&x, &y, paired, noise);
}

/* How much of the variance is taken to be true: 1 - (V'/V - 2)/9 from the quarters' mean V', 1/2 to 1 */
static int shares; /* how many were between the bounds */
static double true_share(const sample *a, const sample *b, int n, int no_center, scale how,
                         kspec_paired paired) {
    const size_t rows = a->rows < b->rows ? a->rows : b->rows, cols = a->cols < b->cols ? a->cols : b->cols;
    double V, quarters = 0, noise;
    if (rows < (no_center ? 6 : 10) || cols < 6) return 1;
    V = pair_variance(a, b, a, b, n, no_center, how, paired, &noise);
    for (size_t q = 0; q < 4; q++) {
        sample x = quarter_of(a, q / 2, q % 2), y = quarter_of(b, q / 2, q % 2);
        quarters += pair_variance(&x, &y, a, b, n, no_center, how, paired, &noise) / 4;
    }
    double share = 1 - (quarters / V - 2) / 9;
    shares += share > 0.5 && share < 1;
    return share < 0.5 ? 0.5 : share > 1 ? 1 : share;
}

static int logarithms; /* how many were compared */

static void check_differences(const sample *a, const sample *b, kspec_paired paired, int no_center, int nmax,
                              int threads) {
    kspec_matrix m[2], n[2];
    views(a, m), views(b, n);
    kspec_compare_opts o = {.size = sizeof o,
                            .paired = paired,
                            .center = no_center ? KSPEC_CENTER_NONE : KSPEC_CENTER_ROWS,
                            .nmax = nmax,
                            .threads = threads};
    kspec_compare_result *r;
    kspec_error err;
    CHECK_MSG(kspec_compare(m, a->trials, n, b->trials, &o, &r, &err) == KSPEC_OK, "%s", err.msg);
    if (!r) return;
    /* centred, m(n) takes 2n rows, and one more for the jackknife */
    size_t rows = a->rows < b->rows ? a->rows : b->rows, most = no_center ? ORDERS : (rows - 1) / 2;
    most = most < ORDERS ? most : ORDERS;
    const size_t asked = nmax ? (size_t)nmax : 2;
    CHECK(r->count == 1 + (asked < most ? asked : most));
    for (size_t k = 0; k < r->count; k++) {
        const kspec_difference *d = r->differences[k];
        CHECK(d->n == (int)k && strcmp(d->what, k ? "moment" : "dimension") == 0);
        const sample *s[2] = {a, b};
        double all[2], noise;
        int positive = 1;
        for (int w = 0; w < 2; w++) {
            all[w] = value(s[w], d->n, no_center);
            left_out logs = leave_out(s[w], s[w], d->n, no_center, LOGS);
            double log_variance =
                side(logs.at[0], logs.size[0], &noise) + side(logs.at[1], logs.size[1], &noise);
            /* known better than to a factor of e; NaN where something is not positive */
            positive &= all[w] > 0 && log_variance < 1;
        }
        double V = pair_variance(a, b, a, b, d->n, no_center, PLAIN, paired, &noise);
        CHECK(fabs(d->value - (all[0] - all[1])) <= 1e-9 * fabs(all[0]));
        CHECK_CLOSE(d->std_error, sqrt(V), 1e-7);
        double x = all[0] - all[1], share = 1;
        if (positive) {
            V = pair_variance(a, b, a, b, d->n, no_center, LOGS, paired, &noise);
            x = log(all[0] / all[1]);
            logarithms++;
        }
        if (d->n <= 2 && (d->n || positive))
            share = true_share(a, b, d->n, no_center, positive ? EXPANDED : PLAIN, paired);
        double want = student(fabs(x) / sqrt(share * V), 2 * V * V / noise, 20000);
        CHECK_MSG(fabs(d->p - want) <= 1e-6, "n = %d: p = %.12g, not %.12g", d->n, d->p, want);
    }
    kspec_free(r);
}

TEST(differences_by_leaving_out) {
    for (size_t trials = 1; trials <= 2; trials++) {
        sample a = draw(3, P, Q, trials), b = draw(4, P, R, trials), c = draw(5, P - 2, Q, 1);
        for (int threads = 1; threads <= 3; threads++)
            EACH_ISA(check_differences(&a, &b, KSPEC_PAIRED_ROWS, 1, 4, threads));
        check_differences(&a, &c, KSPEC_PAIRED_COLS, 1, 3, 1);
        check_differences(&a, &c, KSPEC_PAIRED_NONE, 1, 0, 1);
        check_differences(&a, &b, KSPEC_PAIRED_ROWS, 0, 4, 1);
        sample short_a = a, short_b = b; /* 8 rows: to m(3) */
        short_a.rows = short_b.rows = 8;
        check_differences(&short_a, &short_b, KSPEC_PAIRED_ROWS, 0, 4, 1);
        check_differences(&a, &c, KSPEC_PAIRED_COLS, 0, 1, 1);
    }
    CHECK(logarithms > 30 && shares > 10);
}

/* Where a value is not positive there are no logarithms, and p is that of the plain difference. */
TEST(without_logarithms) {
    sample a = {.rows = P, .cols = Q, .trials = 1}, b = a;
    int plain = 0;
    for (uint64_t seed = 0; seed < 8; seed++) {
        kspec_random_normal(seed, 1, 0, P * Q, a.at[0]);
        kspec_random_normal(seed, 2, 0, P * Q, b.at[0]);
        kspec_matrix m, n;
        views(&a, &m), views(&b, &n);
        kspec_compare_result *r;
        CHECK(kspec_compare(&m, 1, &n, 1, NULL, &r, NULL) == KSPEC_OK);
        const kspec_difference *d = r->differences[2];
        if (!(value(&a, 2, 0) > 0 && value(&b, 2, 0) > 0)) {
            double V, noise, share = true_share(&a, &b, 2, 0, PLAIN, KSPEC_PAIRED_ROWS);
            V = pair_variance(&a, &b, &a, &b, 2, 0, PLAIN, KSPEC_PAIRED_ROWS, &noise);
            CHECK(fabs(d->p - student(fabs(d->value) / sqrt(share * V), 2 * V * V / noise, 20000)) < 1e-6);
            plain++;
        }
        kspec_free(r);
    }
    CHECK(plain > 0); /* noise alone: its m(2) is 0 */
}

/* Ragged trials: where every row has all, as if not ragged; otherwise each dimension is its matrix's own. */
TEST(ragged_trials) {
    sample a = draw(6, P, Q, 2), b = draw(7, P, R, 2), third[2] = {draw(8, P, Q, 1), draw(9, P, R, 1)};
    kspec_matrix m[3], n[3];
    views(&a, m), views(&b, n);
    views(&third[0], m + 2), views(&third[1], n + 2);
    size_t all[P], some[P], other[P];
    for (size_t i = 0; i < P; i++) all[i] = 3, some[i] = 2 + i % 2, other[i] = 3 - i % 3 % 2;
    kspec_compare_opts plain = {.size = sizeof plain, .splits = 3, .seed = 5}, full = plain, ragged = plain;
    full.row_trials = full.other_row_trials = all;
    ragged.row_trials = some, ragged.other_row_trials = other;
    kspec_compare_result *x, *y, *z;
    CHECK(kspec_compare(m, 3, n, 3, &plain, &x, NULL) == KSPEC_OK);
    CHECK(kspec_compare(m, 3, n, 3, &full, &y, NULL) == KSPEC_OK);
    CHECK(x->alignment == y->alignment && x->dimension == y->dimension);
    for (size_t i = 0; i < P; i++)
        for (size_t k = 0; k < Q && some[i] == 2; k++) third[0].at[0][i * Q + k] = NAN; /* not looked at */
    CHECK(kspec_compare(m, 3, n, 3, &ragged, &z, NULL) == KSPEC_OK);
    kspec_dimension_opts d = {.size = sizeof d, .splits = 3, .seed = 5, .row_trials = some};
    kspec_dimension_result *own;
    CHECK(kspec_dimension(m, 3, &d, &own, NULL) == KSPEC_OK);
    CHECK_CLOSE(z->dimension, own->dimension, 1e-10);
    CHECK(isfinite(z->alignment) && z->alignment != x->alignment);
    kspec_free(own);
    kspec_free(x), kspec_free(y), kspec_free(z);
    some[3] = 4;
    kspec_error err;
    CHECK_FAILS(kspec_compare(m, 3, n, 3, &ragged, &x, &err), KSPEC_E_ARG, err, "row 3 has 4 trials");
    ragged.row_trials = NULL;
    CHECK_FAILS(kspec_compare(m, 1, n, 1, &ragged, &x, &err), KSPEC_E_ARG, err, "ragged trials need");
    kspec_compare_opts high = {.size = sizeof high, .nmax = 5};
    CHECK_FAILS(kspec_compare(m, 1, n, 1, &high, &x, &err), KSPEC_E_ARG, err,
                "order 5 is not between 1 and 4");
}

/* From tables: 5% lies beyond these */
TEST(student_by_tables) {
    static const double table[][2] = {{1, 12.7062047362},  {2, 4.3026527297},  {3, 3.1824463053},
                                      {5, 2.5705818356},   {10, 2.2281388520}, {30, 2.0422724563},
                                      {120, 1.9799304051}, {1e9, 1.9599639845}};
    for (size_t k = 0; k < sizeof table / sizeof *table; k++)
        CHECK(fabs(ks_student_tails(table[k][1], table[k][0]) - 0.05) < 1e-9 &&
              fabs(ks_student_quantile(table[k][0]) - table[k][1]) < 1e-8);
    for (double nu = 1; nu < 1e6; nu *= 1.3)
        CHECK(fabs(ks_student_tails(ks_student_quantile(nu), nu) - 0.05) < 1e-9);
    CHECK(ks_student_quantile(0.3) == ks_student_quantile(1) && isnan(ks_student_quantile(NAN)));
    CHECK_CLOSE(ks_student_quantile(INFINITY), 1.959963984540054, 1e-15);
    CHECK(ks_student_tails(0, 3) == 1 && ks_student_tails(INFINITY, 3) == 0);
    CHECK(isnan(ks_student_tails(NAN, 3)) && isnan(ks_student_tails(1, 0)));
    /* with one degree, 1 - 2 atan(t)/pi */
    for (double t = 0.01; t < 1e6; t *= 3)
        CHECK_CLOSE(ks_student_tails(t, 1), 2 * atan(1 / t) / acos(-1), 1e-9);
    for (double nu = 0.7; nu < 400; nu *= 2.3)
        for (double t = 0.2; t < 8; t *= 1.7)
            CHECK(fabs(ks_student_tails(t, nu) - student(t, nu, 20000)) < 1e-9);
}

int main(void) {
    RUN(student_by_tables);
    RUN(differences_by_leaving_out);
    RUN(without_logarithms);
    RUN(ragged_trials);
    return test_done();
}
