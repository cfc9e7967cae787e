/* Centred kernels and finite populations by `exact`, against sums over all tuples of rows and columns. */
#include "test.h"

#include "help/isa.h"
#include "exact/terms.h"
#include "oracle/terms.h"

static const ks_run one = {1, {NULL, NULL}, 0, 1};

/* The data without the means that the form removes, and their estimates */
static void estimate(const terms_oracle *t, const ks_run *run, int nmax, double *m, double *terms,
                     double *rows, double *cols) {
    size_t P = t->p.P, Q = t->p.Q;
    int two = t->p.A != t->p.B;
    double *x[2];
    for (int k = 0; k < 2; k++) {
        x[k] = malloc(P * Q * sizeof(double));
        memcpy(x[k], k ? t->p.B : t->p.A, P * Q * sizeof(double));
        if (t->split[0]) terms_centre(x[k], P, Q, 1);
        if (t->split[1]) terms_centre(x[k], P, Q, 0);
    }
    ks_exact_plan plan = {.P = P,
                          .Q = Q,
                          .two = two,
                          .center = (kspec_center)(KSPEC_CENTER_NONE + t->split[0] + 2 * t->split[1])};
    for (int s = 0; s < 2; s++) plan.population[s] = isinf(t->population[s]) ? 0 : t->population[s];
    ks_pair p = {x[0], x[two], P, Q, nmax};
    kspec_error err = {0};
    CHECK_MSG(ks_exact_terms(run, &plan, &p, &(ks_moments_out){m, rows, cols}, terms, &err) == KSPEC_OK, "%s",
              err.msg);
    ks_exact_plan_free(&plan);
    free(x[0]), free(x[1]);
}

#define CHECK_TERMS(a, b, terms)                                                                         \
    CHECK_MSG(fabs((a) - (b)) <= 1e-13 * (terms), "%.17g != %.17g (terms %g)", (double)(a), (double)(b), \
              (double)(terms))

/* One form on one shape: the estimates, and those without each row and column, against the definition */
static void compare(terms_oracle t, int nmax) {
    size_t P = t.p.P, Q = t.p.Q;
    double m[4], terms[4], again[4], *rows = malloc(4 * P * sizeof *rows),
                                     *cols = malloc(4 * Q * sizeof *cols);
    estimate(&t, &one, nmax, m, terms, rows, cols);
    estimate(&t, &one, nmax, again, terms, NULL, NULL);
    for (int n = 1; n <= nmax; n++) {
        double want = terms_moment(&t, n), unit = terms[n - 1];
        CHECK_TERMS(m[n - 1], want, unit);
        CHECK_TERMS(again[n - 1], want, unit);
        for (int side = 0; side < 2; side++) {
            size_t size = side ? Q : P, needs = (size_t)(t.split[side] ? 2 * n : n);
            const double *loo = side ? cols + (size_t)(n - 1) * Q : rows + (size_t)(n - 1) * P;
            for (size_t i = 0; i < size; i++) {
                if (t.population[side] == (double)size) { /* complete: nothing is left out */
                    CHECK(loo[i] == m[n - 1]);
                } else if (needs >= size) {
                    CHECK(isnan(loo[i]));
                } else {
                    terms_oracle less = t;
                    int row = side ? -1 : (int)i, col = side ? (int)i : -1;
                    double *A = oracle_without(t.p.A, P, Q, row, col),
                           *B = oracle_without(t.p.B, P, Q, row, col);
                    less.p = (ks_pair){A, B, P - !side, Q - (size_t)side, n};
                    CHECK_TERMS(loo[i], terms_moment(&less, n), unit);
                    free(A), free(B);
                }
            }
        }
    }
    free(rows), free(cols);
}

/* What the oracle goes through for all leave-one-out estimates, roughly */
static double tuples(size_t P, size_t Q, const int split[2], const double population[2], int n) {
    double count = (double)(P + Q);
    for (int s = 0; s < 2; s++) {
        int slots = split[s] ? 2 * n : n;
        double size = (double)(s ? Q : P) + (isinf(population[s]) ? 0 : slots);
        for (int k = 0; k < slots; k++) count *= size - k < 1 ? 1 : size - k;
    }
    return count;
}

/*
 * Every centring and several populations, one and two trials, on every shape that has enough rows and columns
 */
TEST(equals_the_sum_over_all_tuples) {
    static const double population[][2] = {{INFINITY, INFINITY}, {9, INFINITY}, {INFINITY, 7.0}, {8, 30}};
    uint64_t seed = 500;
    for (size_t P = 1; P <= 6; P++)
        for (size_t Q = 1; Q <= 6; Q++)
            for (int form = 0; form < 16; form++)
                for (int two = 0; two < 2; two++) {
                    int split[2] = {form & 1, form >> 1 & 1};
                    const double *N = population[form >> 2];
                    if (form == 0) continue;
                    size_t rows = P / (split[0] ? 2 : 1), cols = Q / (split[1] ? 2 : 1),
                           most = rows < cols ? rows : cols;
                    /* the oracle is slow, and a sanitizer has seen it at work before that */
                    while (most && tuples(P, Q, split, N, (int)most) > (SANITIZED ? 1e4 : 2e5)) most--;
                    if (most < 1) continue;
                    double *A = oracle_matrix(seed++, P, Q), *B = oracle_matrix(seed++, P, Q);
                    terms_oracle t = {.p = {A, two ? B : A, P, Q, 0}, .split = {split[0], split[1]}};
                    t.population[0] = N[0], t.population[1] = N[1];
                    compare(t, (int)most);
                    free(A), free(B);
                }
}

TEST(fourth_order_equals_the_sum_over_all_tuples) {
    if (SANITIZED) SKIP("sums over all tuples take minutes under a sanitizer; run the tests without one");
    for (int two = 0; two < 2; two++) { /* rows centred, one trial; columns centred, two trials */
        size_t P = two ? 4 : 9, Q = two ? 9 : 4;
        double *A = oracle_matrix(70, P, Q), *B = oracle_matrix(71, P, Q);
        terms_oracle t = {.p = {A, two ? B : A, P, Q, 0}, .split = {!two, two}};
        t.population[0] = t.population[1] = INFINITY;
        compare(t, 4);
        free(A), free(B);
    }
}

/* Weights of a finite population at n = 4, where the oracle takes all partitions of four rows and columns */
TEST(fourth_order_of_a_population) {
    if (SANITIZED) SKIP("sums over all tuples take minutes under a sanitizer; run the tests without one");
    for (int two = 0; two < 2; two++) {
        double *A = oracle_matrix(80, 5, 4), *B = oracle_matrix(81, 5, 4);
        compare((terms_oracle){.p = {A, two ? B : A, 5, 4, 0}, .population = {7, 4}}, 4);
        compare((terms_oracle){.p = {A, two ? B : A, 5, 4, 0}, .population = {5, 11}}, 4);
        /* a complete side may have fewer than n */
        compare((terms_oracle){.p = {A, two ? B : A, 5, 3, 0}, .population = {7, 3}}, 4);
        free(A), free(B);
    }
}

/* Every instruction set and number of threads, on a shape with tails of every kind */
TEST(threads_and_instruction_sets_agree) {
    enum { P = 131, Q = 67 };
    double *A = oracle_matrix(90, P, Q), *B = oracle_matrix(91, P, Q), want[4], unit[4], rows[4 * P],
           cols[4 * Q];
    terms_oracle t = {.p = {A, B, P, Q, 0}, .split = {1, 0}, .population = {1000, INFINITY}};
    estimate(&t, &one, 4, want, unit, rows, cols);
    EACH_ISA({
        double first[4], first_row = 0;
        for (int threads = 1; threads <= 3; threads++) {
            ks_run run = {threads, {NULL, NULL}, 0, 1};
            double m[4], terms[4], r[4 * P], c[4 * Q];
            estimate(&t, &run, 4, m, terms, r, c);
            for (int n = 0; n < 4; n++) {
                CHECK_TERMS(m[n], want[n], unit[n]);
                for (int i = 0; i < P; i++) CHECK_TERMS(r[n * P + i], rows[n * P + i], unit[n]);
                for (int a = 0; a < Q; a++) CHECK_TERMS(c[n * Q + a], cols[n * Q + a], unit[n]);
                if (threads == 1) first[n] = m[n];
                CHECK(m[n] == first[n]);
            }
            if (threads == 1) first_row = r[3 * P + 7];
            CHECK(r[3 * P + 7] == first_row);
        }
    });
    free(A), free(B);
}

/*
 * Reference counts: the graphs whose halves all merge, and those with one vertex fixed. Of a complete side no
 * two positions merge, and so only the partitions of the other give graphs: with rows alone 7 of four
 * positions.
 */
TEST(graphs_are_counted) {
    static const struct {
        int two, rows, cols, pinned, n;
        size_t want;
        int complete[2];
    } known[] = {{0, 0, 0, 0, 4, 45},         {1, 0, 0, 0, 4, 58},         {0, 1, 0, 0, 2, 5},
                 {0, 1, 0, 0, 3, 20},         {0, 1, 0, 0, 4, 107},        {0, 0, 1, 0, 4, 107},
                 {1, 1, 0, 0, 4, 440},        {0, 1, 0, 1, 4, 514},        {0, 0, 1, 1, 4, 514},
                 {1, 1, 0, 1, 4, 2709},       {1, 0, 1, 1, 4, 2709},       {0, 1, 1, 1, 3, 114},
                 {1, 1, 1, 1, 3, 762},        {0, 0, 0, 0, 4, 7, {0, 1}},  {0, 0, 0, 1, 4, 10, {1, 0}},
                 {0, 1, 0, 0, 4, 23, {0, 1}}, {0, 1, 0, 1, 4, 56, {0, 1}}, {0, 0, 1, 1, 4, 56, {1, 0}},
                 {0, 0, 1, 0, 4, 7, {0, 1}},  {0, 1, 1, 1, 3, 15, {0, 1}}, {0, 1, 1, 1, 3, 1, {1, 1}},
                 {0, 1, 0, 1, 4, 1, {1, 1}}};
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        ks_exact_form f = {
            .two_trials = known[k].two, .weighted = 1, .split = {known[k].rows, known[k].cols}};
        f.population[0] = f.population[1] = known[k].rows + known[k].cols ? INFINITY : 900;
        const size_t size[2] = {100, 80};
        for (int s = 0; s < 2; s++) {
            f.pinned[s] = known[k].pinned && !known[k].complete[s];
            if (known[k].complete[s]) f.population[s] = (double)size[s];
        }
        size_t count, room;
        ks_arena arena = {0};
        const ks_graph *g = ks_terms(&f, size, known[k].n, &count, &arena, &room);
        CHECK_MSG(g && count == known[k].want, "case %zu: %zu graphs", k, count);
        ks_arena_free(&arena);
    }
}

/* No graph is hard. */
TEST(every_shape_has_a_plan) {
    static const size_t size[] = {8, 200, 30000};
    for (int k = 0; k < 3 * 3 * 6; k++) {
        int form = k / 9 % 3, two = k / 27;
        size_t rows = size[k % 3], cols = size[k / 3 % 3];
        ks_exact_form f = {
            .two_trials = two, .weighted = 1, .split = {form != 1, form != 0}, .pinned = {1, 1}};
        f.population[0] = f.population[1] = INFINITY;
        ks_cycles c;
        kspec_error err = {0};
        CHECK_MSG(ks_cycles_make(&c, f, rows, cols, form == 2 ? 3 : 4, &err) == KSPEC_OK, "%zu x %zu: %s",
                  rows, cols, err.msg);
        CHECK(!c.plan.any_hard && !c.plan.any_stuck);
        ks_cycles_free(&c);
    }
}

/* ---- kspec_moments() ---- */

static kspec_moments_result *moments(const double *x, size_t P, size_t Q, kspec_moments_opts o) {
    kspec_matrix phi = {x, P, Q, (ptrdiff_t)Q, 1};
    kspec_moments_result *r = NULL;
    kspec_error err = {0};
    o.size = sizeof o;
    CHECK_MSG(kspec_moments(&phi, 1, &o, &r, &err) == KSPEC_OK, "%s", err.msg);
    return r;
}

TEST(a_constant_in_a_column_changes_nothing) {
    enum { P = 21, Q = 9 };
    double *x = oracle_matrix(31, P, Q), *y = oracle_matrix(31, P, Q), m[4], terms[4];
    terms_oracle t = {.p = {x, x, P, Q, 0}, .split = {1, 0}, .population = {INFINITY, INFINITY}};
    estimate(&t, &one, 4, m, terms, NULL, NULL);
    for (int i = 0; i < P * Q; i++) y[i] += 100 * (i % Q) - 333;
    kspec_moments_opts o = {.center = KSPEC_CENTER_ROWS};
    kspec_moments_result *a = moments(x, P, Q, o), *b = moments(y, P, Q, o);
    CHECK(a->count == 4 && b->count == 4);
    for (int n = 0; n < 4; n++) {
        double unit = 1e-10 * terms[n];
        CHECK(fabs(a->estimates[n]->value - m[n]) <= unit);
        CHECK_MSG(fabs(b->estimates[n]->value - m[n]) <= unit, "%g", b->estimates[n]->value - m[n]);
        CHECK(fabs(a->estimates[n]->std_error - b->estimates[n]->std_error) <= unit);
    }
    kspec_free(a), kspec_free(b);
    free(x), free(y);
}

TEST(constant_columns_have_no_moments) {
    double x[12 * 5];
    for (int i = 0; i < 60; i++) x[i] = 0.1 * (i % 5 + 1);
    for (int center = KSPEC_CENTER_ROWS; center <= KSPEC_CENTER_BOTH; center += 2) {
        kspec_moments_result *r =
            moments(x, 12, 5, (kspec_moments_opts){.center = (kspec_center)center, .nmax = 2});
        for (size_t k = 0; k < r->count; k++) CHECK(r->estimates[k]->value == 0);
        kspec_free(r);
    }
}

/* The population is the sample: naive, with no error; 10^12 rows and columns: as if infinitely many. */
TEST(populations_of_extreme_sizes) {
    enum { P = 17, Q = 13 };
    double *x = oracle_matrix(33, P, Q);
    for (int center = KSPEC_CENTER_NONE; center <= KSPEC_CENTER_BOTH; center++) {
        int nmax = center == KSPEC_CENTER_BOTH ? 3 : 4;
        kspec_moments_opts o = {
            .nmax = nmax, .center = (kspec_center)center, .estimators = KSPEC_ESTIMATOR_EXACT};
        kspec_moments_result *infinite = moments(x, P, Q, o);
        o.population_rows = o.population_cols = 1000000000000;
        kspec_moments_result *large = moments(x, P, Q, o);
        o.population_rows = P, o.population_cols = Q;
        kspec_moments_result *whole = moments(x, P, Q, o);
        o.estimators = KSPEC_ESTIMATOR_NAIVE;
        kspec_moments_result *naive = moments(x, P, Q, o);
        for (int n = 0; n < nmax; n++) {
            double want = naive->estimates[n]->value, m = infinite->estimates[n]->value;
            CHECK_CLOSE(whole->estimates[n]->value, want, 1e-12);
            CHECK(whole->estimates[n]->std_error == 0);
            CHECK_MSG(fabs(large->estimates[n]->value - m) <= 1e-9 * want, "%g %g",
                      large->estimates[n]->value, m);
            CHECK_CLOSE(large->estimates[n]->std_error, infinite->estimates[n]->std_error, 1e-6);
        }
        kspec_free(infinite), kspec_free(large), kspec_free(whole), kspec_free(naive);
    }
    free(x);
}

/* `sampled` and a population as large as the sample are one thing, to the bit, centred or not. */
TEST(sampled_is_a_special_case) {
    enum { P = 15, Q = 12 };
    double *x = oracle_matrix(34, P, Q);
    for (int k = 0; k < 4; k++) {
        int rows = k % 2;
        kspec_moments_opts o = {.center = k / 2 ? KSPEC_CENTER_ROWS : KSPEC_CENTER_NONE}, p = o;
        o.sampled = rows ? KSPEC_SAMPLED_ROWS : KSPEC_SAMPLED_COLS;
        *(rows ? &p.population_cols : &p.population_rows) = rows ? Q : P;
        kspec_moments_result *a = moments(x, P, Q, o), *b = moments(x, P, Q, p);
        CHECK(a->count == b->count);
        for (size_t n = 0; n < a->count; n++)
            CHECK(!memcmp(a->estimates[n], b->estimates[n], offsetof(kspec_estimate, root)));
        kspec_free(a), kspec_free(b);
    }
    free(x);
}

TEST(what_does_not_go_together_is_refused) {
    static const struct {
        size_t P, Q;
        kspec_moments_opts o;
        const char *says;
    } bad[] = {
        {7,
         9,
         {.center = KSPEC_CENTER_ROWS, .nmax = 4},
         "order 4 needs 8 rows where they are centred; there are 7"},
        {9,
         7,
         {.center = KSPEC_CENTER_COLS, .nmax = 4},
         "needs 8 columns where they are centred; there are 7"},
        {1, 9, {.center = KSPEC_CENTER_ROWS}, "order 1 needs 2 rows"},
        {20, 20, {.center = KSPEC_CENTER_ROWS, .nmax = 5}, "order 5 exceeds 4, the highest with center"},
        {20,
         20,
         {.center = KSPEC_CENTER_BOTH, .nmax = 4},
         "order 4 exceeds 3, the highest with center on both sides"},
        {20,
         20,
         {.population_rows = 30, .nmax = 5},
         "order 5 exceeds 4, the highest with a finite population"},
        {20, 20, {.population_rows = 19}, "a population of 19 rows is smaller than the sample of 20"},
        {20, 20, {.population_cols = 1}, "a population of 1 column is smaller than the sample of 20"},
        {20,
         20,
         {.population_rows = 30, .sampled = KSPEC_SAMPLED_COLS},
         "a population of 30 rows contradicts sampled"},
        {20, 20, {.center = (kspec_center)5}, "unknown center 5"},
        {20, 20, {.center = KSPEC_CENTER_ROWS, .bound = 1}, "bound cannot be combined with center"},
        {20,
         20,
         {.center = KSPEC_CENTER_ROWS, .scheme = KSPEC_TRIALS_ASSIGNMENT},
         "assignment scheme cannot be combined"},
        {20,
         20,
         {.center = KSPEC_CENTER_ROWS, .estimators = KSPEC_ESTIMATOR_PATH},
         "path cannot be combined with center"},
        {20,
         20,
         {.population_cols = 30, .estimators = KSPEC_ESTIMATOR_KV_COL | KSPEC_ESTIMATOR_EXACT},
         "kv-col cannot be combined with a finite population"},
    };
    double *x = oracle_matrix(35, 20, 20);
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        kspec_matrix phi = {x, bad[k].P, bad[k].Q, (ptrdiff_t)bad[k].Q, 1};
        kspec_moments_opts o = bad[k].o;
        kspec_moments_result *r;
        kspec_error err = {0};
        o.size = sizeof o;
        CHECK_FAILS(kspec_moments(&phi, 1, &o, &r, &err), KSPEC_E_ARG, err, bad[k].says);
    }
    /* naive goes on above what exact can do, and needs no rows */
    kspec_moments_opts o = {.center = KSPEC_CENTER_ROWS, .nmax = 6};
    o.estimators = KSPEC_ESTIMATOR_NAIVE | KSPEC_ESTIMATOR_EXACT;
    kspec_moments_result *r = moments(x, 20, 20, o);
    CHECK(r->count == 10 && r->estimates[9]->estimator == KSPEC_ESTIMATOR_EXACT && r->estimates[9]->n == 4);
    kspec_free(r);
    o.estimators = KSPEC_ESTIMATOR_NAIVE, o.nmax = 3;
    r = moments(x, 1, 20, o);
    CHECK(r->count == 3 && r->estimates[2]->value == 0);
    kspec_free(r);
    /* no order asked for: as high as the rows allow, without error bars at the last */
    r = moments(x, 6, 20, (kspec_moments_opts){.center = KSPEC_CENTER_ROWS});
    CHECK(r->count == 3 && isnan(r->estimates[2]->std_error) && r->estimates[1]->std_error > 0);
    kspec_free(r);
    free(x);
}

int main(void) {
    RUN(equals_the_sum_over_all_tuples);
    RUN(fourth_order_equals_the_sum_over_all_tuples);
    RUN(fourth_order_of_a_population);
    RUN(threads_and_instruction_sets_agree);
    RUN(graphs_are_counted);
    RUN(every_shape_has_a_plan);
    RUN(a_constant_in_a_column_changes_nothing);
    RUN(constant_columns_have_no_moments);
    RUN(populations_of_extreme_sizes);
    RUN(sampled_is_a_special_case);
    RUN(what_does_not_go_together_is_refused);
    return test_done();
}
