/*
 * kspec_moments() and kspec_dimension() with missing entries: against the cycles that are there, one by one;
 * without bias; a full matrix as ever; what is refused.
 */
#include "help/average.h"
#include "help/isa.h"
#include "kspec.h"
#include "oracle/golden.h"
#include "test.h"

static kspec_matrix view(const double *x, size_t P, size_t Q) {
    return (kspec_matrix){x, P, Q, (ptrdiff_t)Q, 1};
}

static const kspec_estimate *find(const kspec_moments_result *r, kspec_estimator e, int n) {
    for (size_t k = 0; k < r->count; k++)
        if (r->estimates[k]->estimator == e && r->estimates[k]->n == n) return r->estimates[k];
    return NULL;
}

/* Takes a part of the entries away, by a generator of its own. */
static void make_holes(uint64_t seed, double part, size_t count, double *x) {
    double u[4096];
    kspec_random_uniform(seed, 77, 0, count, u);
    for (size_t k = 0; k < count; k++)
        if (u[k] < part) x[k] = NAN;
}

/* Without row i and column a: NaN throughout is as good as leaving out, since no cycle through it remains. */
static void blank(double *x, size_t P, size_t Q, size_t row, size_t col) {
    for (size_t k = 0; k < P * Q; k++)
        if (k / Q == row || k % Q == col) x[k] = NAN;
}

/* The mean over the cycles that are there, and their part of all */
static double mean_on_device(const double *A, const double *B, size_t P, size_t Q, int n, brute_order order,
                             double *part) {
    double a[64], b[64], u[64], v[64];
    for (size_t k = 0; k < P * Q; k++) {
        a[k] = isnan(A[k]) ? 0 : A[k], b[k] = isnan(B[k]) ? 0 : B[k];
        u[k] = !isnan(A[k]), v[k] = !isnan(B[k]);
    }
    *part = brute_mean(u, v, P, Q, n, order, order);
    return brute_mean(a, b, P, Q, n, order, order) / *part;
}

static double side(const double *x, size_t count) {
    double mean = 0, sum = 0;
    for (size_t k = 0; k < count; k++) mean += x[k] / (double)count;
    for (size_t k = 0; k < count; k++) sum += (x[k] - mean) * (x[k] - mean);
    return sum * (double)(count - 1) / (double)count;
}

static double jackknife(const double *A, const double *B, size_t P, size_t Q, int n, brute_order order) {
    double rows[8], cols[8], a[64], b[64], part;
    for (size_t k = 0; k < P + Q; k++) {
        memcpy(a, A, P * Q * sizeof *a), memcpy(b, B, P * Q * sizeof *b);
        blank(a, P, Q, k < P ? k : SIZE_MAX, k < P ? SIZE_MAX : k - P);
        blank(b, P, Q, k < P ? k : SIZE_MAX, k < P ? SIZE_MAX : k - P);
        *(k < P ? &rows[k] : &cols[k - P]) = mean_on_device(a, b, P, Q, n, order, &part);
    }
    return sqrt(side(rows, P) + side(cols, Q));
}

TEST(against_every_cycle) {
    for (uint64_t seed = 1; seed <= 6; seed++)
        for (size_t trials = 1; trials <= 2; trials++) {
            enum { P = 6, Q = 5 };
            double x[2][P * Q], part;
            for (int t = 0; t < 2; t++) {
                brute_matrix(seed + 20 * (uint64_t)t, P * Q, x[t]);
                make_holes(seed + 50 * (uint64_t)t, 0.15, P * Q, x[t]);
            }
            kspec_matrix phi[2] = {view(x[0], P, Q), view(x[1], P, Q)};
            kspec_moments_opts o = {.size = sizeof o,
                                    .nmax = 3,
                                    .estimators = KSPEC_ESTIMATOR_PATH | KSPEC_ESTIMATOR_EXACT,
                                    .side = KSPEC_SIDE_GIVEN,
                                    .threads = 1 + (int)seed % 3,
                                    .pairwise = 1};
            kspec_moments_result *r;
            kspec_error e;
            CHECK_MSG(kspec_moments(phi, trials, &o, &r, &e) == KSPEC_OK, "%s", e.msg);
            CHECK(r->missing > 0);
            for (int n = 1; n <= 3; n++)
                for (int exact = 0; exact < 2; exact++) {
                    const kspec_estimate *got =
                        find(r, exact ? KSPEC_ESTIMATOR_EXACT : KSPEC_ESTIMATOR_PATH, n);
                    brute_order order = exact ? BRUTE_DISTINCT : BRUTE_INCREASING;
                    const double *A = x[0], *B = x[trials - 1];
                    CHECK_CLOSE(got->value, mean_on_device(A, B, P, Q, n, order, &part), 1e-9);
                    CHECK_CLOSE(got->cycles, part, 1e-10);
                    double want = jackknife(A, B, P, Q, n, order);
                    CHECK(isnan(want) ? isnan(got->std_error) : fabs(got->std_error / want - 1) < 1e-7);
                }
            kspec_free(r);
        }
}

TEST(golden_values) {
    for (size_t k = 0; k < GOLDEN_CASES; k++) {
        const golden_case *g = &GOLDEN[k];
        double x[GOLDEN_MOST], mask[GOLDEN_MOST];
        golden_matrix(g, x);
        brute_matrix(g->seed + 3000, g->P * g->Q, mask);
        for (size_t i = 0; i < g->P * g->Q; i++)
            if (!(mask[i] > -0.55)) x[i] = NAN;
        kspec_matrix phi = view(x, g->P, g->Q);
        kspec_moments_opts o = {
            .size = sizeof o, .nmax = 4, .estimators = KSPEC_ESTIMATOR_EXACT, .pairwise = 1};
        kspec_moments_result *r;
        CHECK(kspec_moments(&phi, 1, &o, &r, NULL) == KSPEC_OK);
        for (size_t n = 0; n < 4; n++) CHECK_CLOSE(r->estimates[n]->value, g->missing[n], 1e-8);
        kspec_free(r);
    }
}

/* Three trials: an entry's half is the mean of the trials in which it is seen. */
TEST(halves_are_means_of_what_is_seen) {
    enum { P = 5, Q = 4, T = 4 };
    double x[T][P * Q], full[P * Q];
    brute_matrix(3, P * Q, full);
    kspec_matrix phi[T];
    for (int t = 0; t < T; t++) {
        memcpy(x[t], full, sizeof full); /* without noise any mean of seen trials is the entry itself */
        make_holes((uint64_t)t + 9, 0.3, P * Q, x[t]);
        x[t][0] = NAN;
        phi[t] = view(x[t], P, Q);
    }
    kspec_moments_result *r;
    kspec_moments_opts o = {.size = sizeof o, .nmax = 1, .splits = 1, .pairwise = 1};
    CHECK(kspec_moments(phi, T, &o, &r, NULL) == KSPEC_OK);
    double sum = 0, squares = 0, seen = r->estimates[0]->cycles * P * Q;
    CHECK_CLOSE(seen, round(seen), 1e-12);
    for (size_t k = 0; k < P * Q; k++) sum += full[k] * full[k], squares = fmax(squares, full[k] * full[k]);
    CHECK(fabs(r->estimates[0]->value * seen - sum) < squares * (P * Q - seen) + 1e-9 && seen < P * Q);
    kspec_free(r);
}

TEST(nothing_missing) {
    enum { P = 17, Q = 9 };
    double x[P * Q];
    brute_matrix(12, P * Q, x);
    kspec_matrix phi = view(x, P, Q);
    kspec_moments_opts o = {.size = sizeof o, .nmax = 5};
    kspec_moments_result *a, *b;
    CHECK(kspec_moments(&phi, 1, &o, &a, NULL) == KSPEC_OK);
    o.pairwise = 1;
    CHECK(kspec_moments(&phi, 1, &o, &b, NULL) == KSPEC_OK && b->missing == 0);
    CHECK(a->count == b->count && a->estimates[0]->cycles == 1);
    for (size_t k = 0; k < a->count; k++)
        CHECK(memcmp(a->estimates[k], b->estimates[k], sizeof **a->estimates) == 0);
    kspec_free(a), kspec_free(b);
    for (size_t k = 0; k < P * Q; k++) x[k] += (double)(k / Q) * (double)(k % Q) / 20; /* a dimension */
    kspec_dimension_opts d = {.size = sizeof d};
    kspec_dimension_result *c, *e;
    CHECK(kspec_dimension(&phi, 1, &d, &c, NULL) == KSPEC_OK);
    d.pairwise = 1;
    CHECK(kspec_dimension(&phi, 1, &d, &e, NULL) == KSPEC_OK);
    CHECK(c->dimension == e->dimension && c->ci_low == e->ci_low && e->cycles == 1 && e->ci_low > 0);
    kspec_free(c), kspec_free(e);
}

/* ---- without bias ---- */

/*
 * Three equal eigenvalues of 1, noise of variance 1/4, 30% missing: m(1) = 3.25, m(n) = 3. Centred, the
 * columns have means of 4. Eight z-values; |z| > 4 by chance in one of 2000 runs. Zeros in the holes would
 * be off by more than 10 of their own.
 */
TEST(thirty_per_cent_without_bias) {
    enum { P = 16, Q = 10, D = 3 };
    average exact[3] = {{0}}, path = {0}, first = {0}, centred = {0}, square = {0}, two = {0}, zeros = {0};
    for (uint64_t seed = 1; seed <= 2000; seed++) {
        double x[2][P * Q], f[P * D], w[Q * D], noise[2][P * Q];
        kspec_random_normal(seed, 1, 0, P * D, f);
        kspec_random_normal(seed, 2, 0, Q * D, w);
        for (int t = 0; t < 2; t++) {
            kspec_random_normal(seed, 3 + (uint64_t)t, 0, P * Q, noise[t]);
            for (size_t k = 0; k < P * Q; k++) {
                x[t][k] = 0.5 * noise[t][k];
                for (size_t d = 0; d < D; d++) x[t][k] += f[k / Q * D + d] * w[k % Q * D + d];
            }
            make_holes(10 * seed + (uint64_t)t, 0.3, P * Q, x[t]);
        }
        kspec_matrix phi[2] = {view(x[0], P, Q), view(x[1], P, Q)};
        kspec_moments_opts o = {.size = sizeof o, .nmax = 3, .no_stderr = 1, .threads = 1, .pairwise = 1};
        o.estimators = KSPEC_ESTIMATOR_PATH | KSPEC_ESTIMATOR_EXACT;
        kspec_moments_result *r;
        CHECK(kspec_moments(phi, 1, &o, &r, NULL) == KSPEC_OK);
        for (int n = 1; n <= 3; n++) note(&exact[n - 1], find(r, KSPEC_ESTIMATOR_EXACT, n)->value);
        note(&path, find(r, KSPEC_ESTIMATOR_PATH, 3)->value);
        kspec_free(r);
        o.estimators = 0, o.nmax = 2;
        CHECK(kspec_moments(phi, 2, &o, &r, NULL) == KSPEC_OK);
        note(&two, r->estimates[0]->value);
        kspec_free(r);
        for (size_t k = 0; k < P * Q; k++) x[0][k] += 4;
        kspec_dimension_opts d = {.size = sizeof d, .threads = 1, .pairwise = 1};
        kspec_dimension_result *s;
        CHECK(kspec_dimension(phi, 1, &d, &s, NULL) == KSPEC_OK);
        note(&first, s->trace), note(&centred, s->second_moment), note(&square, s->trace_squared);
        kspec_free(s);
        for (size_t k = 0; k < P * Q; k++) x[0][k] = isnan(x[0][k]) ? 0 : x[0][k] - 4;
        o.pairwise = 0;
        CHECK(kspec_moments(phi, 1, &o, &r, NULL) == KSPEC_OK);
        note(&zeros, r->estimates[1]->value);
        kspec_free(r);
    }
    const double z[] = {
        z_of(&exact[0], 3.25), z_of(&exact[1], 3), z_of(&exact[2], 3), z_of(&path, 3),
        z_of(&two, 3),         z_of(&first, 3.25), z_of(&centred, 3),  z_of(&square, 3.25 * 3.25)};
    printf("    z:");
    for (size_t k = 0; k < sizeof z / sizeof *z; k++) {
        printf(" %.1f", z[k]);
        CHECK_MSG(fabs(z[k]) < 4, "number %zu: z = %g", k, z[k]);
    }
    printf("; zeros in the holes %.1f\n", z_of(&zeros, 3));
    CHECK(z_of(&zeros, 3) < -10);
}

/* ---- rows without entries, and none left ---- */

TEST(empty_rows) {
    enum { P = 8, Q = 5 };
    double x[P * Q], y[(P - 1) * Q];
    brute_matrix(4, P * Q, x);
    memcpy(y, x, 3 * Q * sizeof *x);
    memcpy(y + 3 * Q, x + 4 * Q, (P - 4) * Q * sizeof *x);
    blank(x, P, Q, 3, SIZE_MAX);
    kspec_matrix phi = view(x, P, Q), less = view(y, P - 1, Q);
    kspec_moments_opts o = {.size = sizeof o, .nmax = 4, .pairwise = 1};
    kspec_moments_result *a, *b;
    CHECK(kspec_moments(&phi, 1, &o, &a, NULL) == KSPEC_OK);
    CHECK(kspec_moments(&less, 1, &o, &b, NULL) == KSPEC_OK);
    for (size_t k = 0; k < a->count; k++) CHECK_CLOSE(a->estimates[k]->value, b->estimates[k]->value, 1e-10);
    kspec_free(a), kspec_free(b);
    kspec_error e;
    for (size_t k = 0; k < P * Q; k++) x[k] = k / Q == 2 || k % Q == 1 ? 1 : NAN; /* a row and a column */
    CHECK_FAILS(kspec_moments(&phi, 1, &o, &a, &e), KSPEC_E_DATA, e, "leave no cycle of order 2");
    CHECK(a == NULL);
    o.nmax = 1;
    CHECK(kspec_moments(&phi, 1, &o, &a, &e) == KSPEC_OK && a->estimates[0]->value == 1);
    kspec_free(a);
    kspec_dimension_opts d = {.size = sizeof d, .pairwise = 1};
    kspec_dimension_result *s;
    CHECK_FAILS(kspec_dimension(&phi, 1, &d, &s, &e), KSPEC_E_DATA, e, "leave no pair of columns");
    for (size_t k = 0; k < P * Q; k++) x[k] = NAN;
    CHECK_FAILS(kspec_moments(&phi, 1, &o, &a, &e), KSPEC_E_DATA, e, "all 40 entries are missing");
    x[7] = INFINITY;
    CHECK_FAILS(kspec_moments(&phi, 1, &o, &a, &e), KSPEC_E_DATA, e, "row 1, column 2 (from 0) is infinite");
    const uint64_t labels[P] = {0, 0, 1, 1, 2, 3, 4, 5};
    d.row_groups = labels;
    CHECK_FAILS(kspec_dimension(&phi, 1, &d, &s, &e), KSPEC_E_ARG, e, "groups and missing entries");
    d.pairwise = 0, d.curve = 3;
    CHECK_FAILS(kspec_dimension(&phi, 1, &d, &s, &e), KSPEC_E_ARG, e, "a curve and groups");
}

/*
 * The share of the columns' means by its definition: products of different rows of a column, averaged over
 * the pairs that are there and then over columns, beside those of a row with itself.
 */
static double share_of_means(const double *A, const double *B, size_t P, size_t Q) {
    double share = 0, cols = 0, total = 0, entries = 0;
    for (size_t a = 0; a < Q; a++) {
        double sum = 0, pairs = 0;
        for (size_t i = 0; i < P; i++)
            for (size_t j = 0; j < P; j++) {
                const double x = A[i * Q + a] * B[j * Q + a];
                if (isnan(x)) continue;
                if (i == j)
                    total += x, entries++;
                else
                    sum += x, pairs++;
            }
        if (pairs > 0) share += sum / pairs, cols++;
    }
    return share / cols / (total / entries);
}

TEST(the_share_of_the_means) {
    enum { P = 8, Q = 5 };
    for (int kind = 0; kind < 4; kind++) { /* one trial or two, whole or with holes */
        const size_t trials = kind % 2 ? 2 : 1;
        double x[2][P * Q];
        for (size_t k = 0; k < trials; k++) {
            kspec_random_normal(31 + (uint64_t)kind, k, 0, P * Q, x[k]);
            for (size_t i = 0; i < P * Q; i++) x[k][i] += 0.5 * (double)(i % Q);
            if (kind >= 2) make_holes(41 + k, 0.3, P * Q, x[k]);
        }
        if (kind >= 2) /* a column with one entry has no pair */
            for (size_t i = 0; i < P; i++)
                if (i != 3) x[0][i * Q + 2] = x[trials - 1][i * Q + 2] = NAN;
        const kspec_matrix phi[2] = {view(x[0], P, Q), view(x[1], P, Q)};
        const kspec_moments_opts o = {.size = sizeof o,
                                      .nmax = 1,
                                      .estimators = KSPEC_ESTIMATOR_PATH,
                                      .pairwise = kind >= 2,
                                      .device = KSPEC_DEVICE_CPU};
        kspec_moments_result *r;
        kspec_error e;
        CHECK_MSG(kspec_moments(phi, trials, &o, &r, &e) == KSPEC_OK, "%s", e.msg);
        CHECK_CLOSE(r->mean_share, share_of_means(x[0], x[trials - 1], P, Q), 1e-12);
        kspec_free(r);
    }
}

int main(void) {
    RUN(against_every_cycle);
    RUN(the_share_of_the_means);
    EACH_ISA(RUN(golden_values));
    RUN(halves_are_means_of_what_is_seen);
    RUN(nothing_missing);
    RUN(thirty_per_cent_without_bias);
    RUN(empty_rows);
    return test_done();
}
