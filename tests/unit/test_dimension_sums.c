/*
 * Second-order sums over pairs of columns against their definition, with every row and column left out in
 * turn.
 */
#include "pairs/sums.h"
#include "kspec.h"
#include "oracle/pairs.h"
#include "test.h"

enum { P_MAX = 7, Q_MAX = 9 };

typedef struct {
    size_t P, Q, R;
    int same, centered, trials;
    double A[2][P_MAX * Q_MAX], B[2][P_MAX * Q_MAX];
} setting;

/*
 * The mean over pairs of columns, a row and a column of either left out; traces: (x,z)(y,w) instead of
 * (x,y)(z,w)
 */
static long double truth(const setting *s, size_t row, size_t col, size_t other, int traces) {
    oracle_matrix x = {s->A[0], s->Q}, z = {s->A[s->trials - 1], s->Q}, y = {s->B[s->trials - 1], s->R},
                  w = {s->B[0], s->R};
    long double sum = 0, count = 0;
    for (size_t a = 0; a < s->Q; a++)
        for (size_t g = 0; g < s->R; g++) {
            if (a == col || g == other || (s->same && (a == g || g == col))) continue;
            sum += traces ? oracle_product(s->P, row, s->centered, x, a, z, a, y, g, w, g)
                          : oracle_product(s->P, row, s->centered, x, a, y, g, z, a, w, g);
            count++;
        }
    return sum / count;
}

static void center(size_t P, size_t Q, double *x) {
    for (size_t k = 0; k < Q; k++) {
        double mean = 0;
        for (size_t i = 0; i < P; i++) mean += x[i * Q + k] / (double)P;
        for (size_t i = 0; i < P; i++) x[i * Q + k] -= mean;
    }
}

static double pairs_of(const setting *s, size_t less, size_t other_less) {
    double Q = (double)(s->Q - less), R = (double)(s->R - other_less);
    return s->same ? Q * (Q - 1) : Q * R;
}

static void compare(const setting *raw, int threads) {
    setting s = *raw;
    ks_run run;
    kspec_error err = {0};
    ks_arena arena = {0};
    ks_sums sums;
    CHECK(ks_run_init(&run, threads, (kspec_progress){0}, &err) == KSPEC_OK);
    for (int t = 0; t < 2 && s.centered; t++) center(s.P, s.Q, s.A[t]), center(s.P, s.R, s.B[t]);
    const double *Z = s.A[s.trials - 1];
    ks_two two = {.X = s.A[0],
                  .Z = Z,
                  .Y = s.same ? Z : s.B[s.trials - 1],
                  .W = s.same ? s.A[0] : s.B[0],
                  .P = s.P,
                  .Q = s.Q,
                  .R = s.R,
                  .same = s.same,
                  .centered = s.centered};
    kspec_status st = ks_sums_make(&run, &two, &sums, &arena, &err);
    CHECK_MSG(st == KSPEC_OK, "%s", err.msg);
    const size_t none = SIZE_MAX;
    const ks_sums_rows all = {s.centered, s.P, INFINITY}, less = {s.centered, s.P - 1, INFINITY};
    double scale = 1; /* entries are near 1: their products, too */
#define NEAR(got, want) \
    CHECK_MSG(fabs((got) - (double)(want)) < 1e-11 * scale, "%.15g != %.15g", got, (double)(want))
    for (int traces = 0; traces < 2 && !st; traces++) {
        double (*of)(const ks_quad *, const ks_sums_rows *, double) = traces ? ks_sums_traces : ks_sums_cross;
        NEAR(of(&sums.all, &all, pairs_of(&s, 0, 0)), truth(raw, none, none, none, traces));
        for (size_t i = 0; i < s.P; i++)
            NEAR(of(&sums.row[i], &less, pairs_of(&s, 0, 0)), truth(raw, i, none, none, traces));
        for (size_t a = 0; a < s.Q; a++)
            NEAR(of(&sums.col[a], &all, pairs_of(&s, 1, 0)), truth(raw, none, a, none, traces));
        for (size_t g = 0; g < s.R && !s.same; g++)
            NEAR(of(&sums.other[g], &all, pairs_of(&s, 0, 1)), truth(raw, none, none, g, traces));
    }
    ks_arena_free(&arena);
}

TEST(sums_are_their_definition) {
    static const size_t shapes[][3] = {{5, 3, 4}, {7, 3, 3}, {6, 9, 8}, {5, 8, 9}, {7, 4, 9}};
    for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++)
        for (int kind = 0; kind < 8; kind++) {
            setting s = {.P = shapes[k][0],
                         .Q = shapes[k][1],
                         .R = shapes[k][2],
                         .same = kind & 1,
                         .centered = kind >> 1 & 1,
                         .trials = 1 + (kind >> 2)};
            if (s.same) s.R = s.Q;
            for (uint64_t t = 0; t < 2; t++) {
                kspec_random_normal(31, 10 * k + t, 0, s.P * s.Q, s.A[t]);
                kspec_random_normal(32, 10 * k + t, 0, s.P * s.R, s.B[t]);
                for (size_t e = 0; e < s.P * s.Q; e++) s.A[t][e] += 0.5; /* a mean */
            }
            if (s.same) memcpy(s.B, s.A, sizeof s.A);
            for (int threads = 1; threads <= 3; threads++) compare(&s, threads);
        }
}

/* m(1) is the trace over all entries; centred, a row's mean has taken one degree of freedom. */
TEST(trace_of_centred_rows) {
    const ks_quad q = {.t = 24};
    CHECK(ks_sums_trace(&q, &(ks_sums_rows){0, 4, INFINITY}, 2) == 3);
    CHECK(ks_sums_trace(&q, &(ks_sums_rows){1, 4, INFINITY}, 2) == 4);
}

int main(void) {
    RUN(sums_are_their_definition);
    RUN(trace_of_centred_rows);
    return test_done();
}
