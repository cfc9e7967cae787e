/* Estimates of second order by pairs of columns: groups and missing entries against every tuple. */
#include "help/isa.h"
#include "pairs/pairs.h"
#include "oracle/groups.h"
#include "test.h"

enum { MOST = 7 };

typedef struct {
    uint64_t labels[2][MOST];
    size_t P, Q;
    ks_groups rows, cols;
    double A[MOST * MOST], B[MOST * MOST], ones[MOST];
    ks_arena arena;
} sample;

/* Labels drawn from `groups` of them, in no order */
static void draw_labels(uint64_t seed, size_t n, size_t groups, uint64_t *labels) {
    for (size_t i = 0; i < n; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        labels[i] = i < groups ? i : (seed >> 33) % groups;
    }
    for (size_t i = n; i-- > 1;) { /* shuffled, and renamed */
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        size_t k = (size_t)(seed >> 33) % (i + 1);
        uint64_t t = labels[i];
        labels[i] = labels[k], labels[k] = t;
    }
    for (size_t i = 0; i < n; i++) labels[i] = 1000 - 7 * labels[i];
}

static void draw(sample *s, uint64_t seed, size_t P, size_t Q, size_t G, size_t H) {
    *s = (sample){.P = P, .Q = Q};
    brute_matrix(seed, P * Q, s->A);
    brute_matrix(seed + 40, P * Q, s->B);
    draw_labels(seed + 1, P, G, s->labels[0]);
    draw_labels(seed + 2, Q, H, s->labels[1]);
    CHECK(ks_groups_make(&s->rows, s->labels[0], P, "row", &s->arena, NULL) == KSPEC_OK);
    CHECK(ks_groups_make(&s->cols, s->labels[1], Q, "column", &s->arena, NULL) == KSPEC_OK);
    for (size_t i = 0; i < P; i++) s->ones[i] = 1;
}

static void check_value(double got, double want, const char *what, uint64_t seed, size_t k) {
    CHECK_MSG(isnan(want) ? isnan(got) : fabs(got - want) <= 1e-12,
              "%s, seed %d, without %zu: %.15g != %.15g", what, (int)seed, k, got, want);
}

TEST(groups_against_every_tuple) {
    for (uint64_t seed = 1; seed <= 16; seed++)
        for (int centered = 0; centered < 2; centered++) {
            sample s;
            size_t P = 5 + seed % 3, Q = 3 + seed % 4, G = centered ? 5 : 2 + seed % 3, H = 2 + seed % 2;
            draw(&s, seed, P, Q, G, H);
            const double *B = seed % 2 ? s.B : s.A;
            size_t rows[MOST], cols[MOST];
            for (size_t i = 0; i < P; i++) rows[i] = ks_group_of(&s.rows, i);
            for (size_t a = 0; a < Q; a++) cols[a] = ks_group_of(&s.cols, a);
            double trace[20], square[20], moment[20];
            for (int threads = 1; threads <= 3; threads++) {
                ks_run run;
                CHECK(ks_run_init(&run, threads, (kspec_progress){0}, NULL) == KSPEC_OK);
                CHECK(ks_pairs_make(&run, &(ks_pairs){s.A, B, NULL, NULL, &s.rows, &s.cols, centered},
                                    &(ks_pairs_out){trace, square, moment, NULL}, NULL) == KSPEC_OK);
            }
            for (size_t k = 0; k < 1 + G + H; k++) {
                second_order o = {{s.A, B, P, Q, rows, cols, SIZE_MAX, SIZE_MAX}, 0, s.ones};
                if (k >= 1 && k <= G) o.g.no_row = k - 1;
                if (k > G) o.g.no_col = k - 1 - G;
                check_value(trace[k], first_by_definition(&o, centered), "m(1)", seed, k);
                check_value(moment[k], second_by_definition(&o, centered), "m(2)", seed, k);
                o.traces = 1;
                check_value(square[k], second_by_definition(&o, centered), "m(1)^2", seed, k);
            }
            ks_arena_free(&s.arena);
        }
}

/* A constant added to a column changes nothing where all groups are as large. */
TEST(shifts_take_no_part) {
    enum { P = 10, Q = 4, COUNT = 1 + 5 + Q };
    struct {
        double A[P * Q], B[P * Q];
    } s;
    ks_arena arena = {0};
    ks_groups rows, cols;
    const uint64_t labels[P] = {3, 1, 4, 1, 5, 3, 2, 4, 2, 5};
    CHECK(ks_groups_make(&rows, labels, P, "row", &arena, NULL) == KSPEC_OK && ks_groups_even(&rows));
    CHECK(ks_groups_make(&cols, NULL, Q, "column", &arena, NULL) == KSPEC_OK);
    brute_matrix(5, P * Q, s.A);
    brute_matrix(6, P * Q, s.B);
    double at[2][3][COUNT];
    ks_run run;
    CHECK(ks_run_init(&run, 1, (kspec_progress){0}, NULL) == KSPEC_OK);
    for (int shifted = 0; shifted < 2; shifted++) {
        CHECK(ks_pairs_make(&run, &(ks_pairs){s.A, s.B, NULL, NULL, &rows, &cols, 1},
                            &(ks_pairs_out){at[shifted][0], at[shifted][1], at[shifted][2], NULL},
                            NULL) == KSPEC_OK);
        for (size_t k = 0; k < P * Q; k++) s.A[k] += 3 + (double)(k % Q), s.B[k] -= 2 * (double)(k % Q);
    }
    for (int e = 0; e < 3; e++)
        for (size_t k = 0; k < COUNT; k++)
            CHECK(k > 0 && k <= 5
                      ? isnan(at[0][e][k]) == isnan(at[1][e][k]) && !(fabs(at[0][e][k] - at[1][e][k]) >= 1e-9)
                      : fabs(at[0][e][k] - at[1][e][k]) < 1e-9);
    ks_arena_free(&arena);
}

/*
 * By the definition: m(2), or m(1)^2, as a mean over columns a and c, and over rows i, j, k, l from four
 * different groups, all of which count alike
 */
static double alike_by_definition(const second_order *o, int complete) {
    const grouped *g = &o->g;
    long double sum = 0, count = 0;
    for (size_t a = 0; a < g->Q; a++)
        for (size_t c = 0; c < g->Q; c++) {
            size_t i[4] = {0};
            if (!complete && (g->cols[a] == g->cols[c] || g->cols[a] == g->no_col || g->cols[c] == g->no_col))
                continue;
            do {
                if (!groups_allowed(i, 4, g->rows, g->no_row, 0)) continue;
                long double x[4], y[4], z[4], w[4];
                for (int k = 0; k < 4; k++) {
                    x[k] = g->A[i[k] * g->Q + a], z[k] = g->B[i[k] * g->Q + a];
                    y[k] = g->B[i[k] * g->Q + c], w[k] = g->A[i[k] * g->Q + c];
                }
                sum += o->traces ? (x[0] - x[1]) * (z[0] - z[1]) * (y[2] - y[3]) * (w[2] - w[3])
                                 : (x[0] - x[1]) * (y[0] - y[1]) * (z[2] - z[3]) * (w[2] - w[3]);
                count += 4;
            } while (brute_next(i, 4, g->P));
        }
    return count > 0 ? (double)(sum / count) : NAN;
}

/* m(1): over rows of two different groups */
static double alike_trace(const second_order *o) {
    const grouped *g = &o->g;
    long double sum = 0, count = 0;
    for (size_t a = 0; a < g->Q; a++)
        for (size_t i = 0; i < g->P; i++)
            for (size_t j = 0; j < g->P; j++) {
                if (g->cols[a] == g->no_col || g->rows[i] == g->no_row || g->rows[j] == g->no_row ||
                    g->rows[i] == g->rows[j])
                    continue;
                sum += ((long double)g->A[i * g->Q + a] - g->A[j * g->Q + a]) *
                       ((long double)g->B[i * g->Q + a] - g->B[j * g->Q + a]) / 2;
                count++;
            }
    return (double)(sum / count);
}

/* Groups of any sizes, where all tuples count alike: against every tuple, and with a constant added */
TEST(groups_alike_against_every_tuple) {
    for (uint64_t seed = 1; seed <= 16; seed++) {
        const int complete = seed % 3 == 0;
        sample s;
        size_t P = 7, Q = 3 + seed % 3, G = 4 + seed % 3, H = complete ? Q : 2 + seed % 2;
        draw(&s, seed, P, Q, G, H);
        const double *B = seed % 2 ? s.B : s.A;
        size_t rows[MOST], cols[MOST];
        double trace[20], square[20], moment[20];
        ks_run run;
        CHECK(ks_run_init(&run, 2, (kspec_progress){0}, NULL) == KSPEC_OK);
        for (size_t i = 0; i < P; i++) rows[i] = ks_group_of(&s.rows, i);
        for (size_t a = 0; a < Q; a++) cols[a] = ks_group_of(&s.cols, a);
        const ks_pairs in = {.A = s.A,
                             .B = B,
                             .rows = &s.rows,
                             .cols = &s.cols,
                             .centered = 1,
                             .alike = 1,
                             .complete = complete};
        for (int shifted = 0; shifted < 2; shifted++) {
            CHECK(ks_pairs_make(&run, &in, &(ks_pairs_out){trace, square, moment, NULL}, NULL) == KSPEC_OK);
            for (size_t k = 0; k < 1 + G + (complete ? 0 : H) && !shifted; k++) {
                second_order o = {{s.A, B, P, Q, rows, cols, SIZE_MAX, SIZE_MAX}, 0, s.ones};
                if (k >= 1 && k <= G) o.g.no_row = k - 1;
                if (k > G) o.g.no_col = k - 1 - G;
                check_value(trace[k], alike_trace(&o), "m(1)", seed, k);
                check_value(moment[k], alike_by_definition(&o, complete), "m(2)", seed, k);
                o.traces = 1;
                check_value(square[k], alike_by_definition(&o, complete), "m(1)^2", seed, k);
            }
            const double before[3] = {trace[0], square[0], moment[0]};
            if (shifted) continue;
            for (size_t k = 0; k < P * Q; k++) s.A[k] += 3 + (double)(k % Q), s.B[k] -= 2 * (double)(k % Q);
            CHECK(ks_pairs_make(&run, &in, &(ks_pairs_out){trace, square, moment, NULL}, NULL) == KSPEC_OK);
            check_value(trace[0] / before[0], 1, "m(1), shifted", seed, 0);
            CHECK(fabs(square[0] - before[1]) < 1e-8 && fabs(moment[0] - before[2]) < 1e-8);
        }
        ks_arena_free(&s.arena);
    }
}

/* ---- missing entries ---- */

/* By the definition: over the rows where both columns are seen in both trials, weighted by n (n-1) */
static void centred_with_holes(const sample *s, const double *B, const double *seen, size_t row, size_t col,
                               double *trace, double *square, double *moment) {
    long double sums[3] = {0}, weights[2] = {0};
    const size_t own[MOST] = {0, 1, 2, 3, 4, 5, 6}, pair[2] = {0, 1};
    for (size_t a = 0; a < s->Q; a++) {
        double x[2 * MOST], z[2 * MOST];
        size_t n = 0;
        for (size_t i = 0; i < s->P; i++)
            if (i != row && seen[i * s->Q + a]) x[n] = s->A[i * s->Q + a], z[n++] = B[i * s->Q + a];
        second_order one = {{x, z, n, 1, own, pair, SIZE_MAX, SIZE_MAX}, 0, s->ones};
        if (a != col && n >= 2) sums[0] += (long double)n * first_by_definition(&one, 1), weights[0] += n;
        for (size_t c = 0; c < s->Q; c++) {
            if (a == c || a == col || c == col) continue;
            n = 0;
            for (size_t i = 0; i < s->P; i++)
                if (i != row && seen[i * s->Q + a] && seen[i * s->Q + c]) {
                    x[2 * n] = s->A[i * s->Q + a], x[2 * n + 1] = s->A[i * s->Q + c];
                    z[2 * n] = B[i * s->Q + a], z[2 * n + 1] = B[i * s->Q + c];
                    n++;
                }
            if (n < 4) continue;
            second_order two = {{x, z, n, 2, own, pair, SIZE_MAX, SIZE_MAX}, 0, s->ones};
            long double weight = (long double)n * (long double)(n - 1);
            sums[2] += weight * second_by_definition(&two, 1);
            two.traces = 1;
            sums[1] += weight * second_by_definition(&two, 1);
            weights[1] += weight;
        }
    }
    *trace = (double)(sums[0] / weights[0]);
    *square = (double)(sums[1] / weights[1]);
    *moment = (double)(sums[2] / weights[1]);
}

/* Not centred: sums over what is seen, over its number */
static double ratio(const sample *s, const double *A, const double *B, const double *WA, const double *WB,
                    size_t row, size_t col, int what) {
    const size_t own[MOST] = {0, 1, 2, 3, 4, 5, 6};
    second_order v = {{A, B, s->P, s->Q, own, own, row, col}, what == 1, s->ones}, w = v;
    w.g.A = WA, w.g.B = WB;
    if (what == 0) return first_by_definition(&v, 0) / first_by_definition(&w, 0);
    return second_by_definition(&v, 0) / second_by_definition(&w, 0);
}

TEST(missing_against_every_tuple) {
    for (uint64_t seed = 1; seed <= 12; seed++)
        for (int centered = 0; centered < 2; centered++) {
            sample s;
            size_t P = 6 + seed % 2, Q = 4 + seed % 3;
            draw(&s, seed, P, Q, P, Q);
            double *B = seed % 2 ? s.B : s.A, WA[MOST * MOST], WB[MOST * MOST], both[MOST * MOST];
            for (size_t k = 0; k < P * Q; k++)
                WA[k] = (k * 7 + seed) % 11 != 0, WB[k] = (k * 5 + seed) % 13 != 0;
            double *WZ = B == s.A ? WA : WB;
            for (size_t k = 0; k < P * Q; k++) {
                s.A[k] *= WA[k];
                if (B != s.A) B[k] *= WB[k];
                both[k] = WA[k] * WZ[k];
            }
            double trace[20], square[20], moment[20], cycles[20];
            ks_run run;
            CHECK(ks_run_init(&run, 2, (kspec_progress){0}, NULL) == KSPEC_OK);
            CHECK(ks_pairs_make(&run, &(ks_pairs){s.A, B, WA, WZ, &s.rows, &s.cols, centered},
                                &(ks_pairs_out){trace, square, moment, cycles}, NULL) == KSPEC_OK);
            CHECK(cycles[0] > 0 && cycles[0] < 1);
            for (size_t k = 0; k < 1 + P + Q; k++) {
                size_t row = k >= 1 && k <= P ? k - 1 : SIZE_MAX, col = k > P ? k - 1 - P : SIZE_MAX;
                double t = ratio(&s, s.A, B, WA, WZ, row, col, 0), q = ratio(&s, s.A, B, WA, WZ, row, col, 1),
                       m = ratio(&s, s.A, B, WA, WZ, row, col, 2);
                if (centered) centred_with_holes(&s, B, both, row, col, &t, &q, &m);
                check_value(trace[k], t, "m(1)", seed, k);
                check_value(square[k], q, "m(1)^2", seed, k);
                check_value(moment[k], m, "m(2)", seed, k);
            }
            ks_arena_free(&s.arena);
        }
}

/* Several strips, the last one short: the same as of the same columns in another order, to rounding. */
TEST(more_columns_than_a_strip) {
    enum { P = 9, Q = 71, COUNT = 1 + P + Q };
    static double x[2][P * Q], seen[2][P * Q], at[2][4][COUNT];
    ks_run run;
    CHECK(ks_run_init(&run, 2, (kspec_progress){0}, NULL) == KSPEC_OK);
    ks_arena arena = {0};
    ks_groups rows, cols;
    CHECK(ks_groups_make(&rows, NULL, P, "row", &arena, NULL) == KSPEC_OK);
    CHECK(ks_groups_make(&cols, NULL, Q, "column", &arena, NULL) == KSPEC_OK);
    brute_matrix(3, P * Q, x[0]);
    for (size_t k = 0; k < P * Q; k++) {
        seen[0][k] = k % 7 != 3;
        x[0][k] *= seen[0][k];
    }
    for (size_t k = 0; k < P * Q; k++) { /* columns reversed */
        size_t to = k / Q * Q + Q - 1 - k % Q;
        x[1][to] = x[0][k], seen[1][to] = seen[0][k];
    }
    for (int centered = 0; centered < 2; centered++) {
        for (int t = 0; t < 2; t++)
            CHECK(ks_pairs_make(&run, &(ks_pairs){x[t], x[t], seen[t], seen[t], &rows, &cols, centered},
                                &(ks_pairs_out){at[t][0], at[t][1], at[t][2], at[t][3]}, NULL) == KSPEC_OK);
        for (int e = 0; e < 4; e++)
            for (size_t k = 0; k < COUNT; k++)
                CHECK_CLOSE(at[1][e][k <= P ? k : COUNT + P - k], at[0][e][k], 1e-10);
    }
    ks_arena_free(&arena);
}

/* Of complete data every cycle is there, whoever is left out */
TEST(cycles_of_complete_data) {
    for (int centered = 0; centered < 2; centered++) {
        sample s;
        draw(&s, 3, 6, 5, 6, 5);
        double trace[20], square[20], moment[20], cycles[20], ones[MOST * MOST];
        for (size_t k = 0; k < MOST * MOST; k++) ones[k] = 1;
        ks_run run;
        CHECK(ks_run_init(&run, 1, (kspec_progress){0}, NULL) == KSPEC_OK);
        const double *seen = centered ? ones : NULL;
        CHECK(ks_pairs_make(&run, &(ks_pairs){s.A, s.B, seen, seen, &s.rows, &s.cols, centered},
                            &(ks_pairs_out){trace, square, moment, cycles, NULL}, NULL) == KSPEC_OK);
        for (size_t k = 0; k < 1 + 6 + 5; k++) CHECK_CLOSE(cycles[k], 1, 1e-14);
        ks_arena_free(&s.arena);
    }
}

int main(void) {
    EACH_ISA(RUN(groups_against_every_tuple));
    EACH_ISA(RUN(missing_against_every_tuple));
    EACH_ISA(RUN(more_columns_than_a_strip));
    RUN(shifts_take_no_part);
    EACH_ISA(RUN(groups_alike_against_every_tuple));
    RUN(cycles_of_complete_data);
    return test_done();
}
