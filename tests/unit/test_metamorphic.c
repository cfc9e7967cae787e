/*
 * Groups, missing entries and centred kernels, the same data put differently: in another order, with other
 * signs, in other units, with columns that cannot contribute. Two orders of addition agree to the
 * rounding that is told of either.
 */
#include "help/isa.h"
#include "kspec.h"
#include "oracle/brute.h"
#include "test.h"

#include <math.h>
#include <string.h>

enum { P = 21, Q = 37, MORE = Q + 1, TRIALS = 2 };

/* What is asked of the matrices: each of these is tried with one trial and with two */
typedef struct {
    const char *name;
    int nmax, rows_in_groups, cols_in_groups, holes;
    kspec_center center;
    uint64_t population_rows;
    /* every group is as large, so that a constant added to a column changes nothing */
    int even;
} setting;

static const setting SETTINGS[] = {
    {"groups of rows", 2, 1, 0, 0, KSPEC_CENTER_NONE, 0, 0},
    {"groups of rows and columns", 2, 1, 1, 0, KSPEC_CENTER_NONE, 0, 0},
    {"groups of rows, centred", 2, 1, 0, 0, KSPEC_CENTER_ROWS, 0, 0},
    {"groups of both, centred", 2, 1, 1, 0, KSPEC_CENTER_ROWS, 0, 0},
    {"even groups, centred", 2, 1, 0, 0, KSPEC_CENTER_ROWS, 0, 1},
    {"missing", 4, 0, 0, 1, KSPEC_CENTER_NONE, 0, 0},
    {"missing, centred", 2, 0, 0, 1, KSPEC_CENTER_ROWS, 0, 1},
    {"centred", 4, 0, 0, 0, KSPEC_CENTER_ROWS, 0, 1},
    {"centred on both sides", 3, 0, 0, 0, KSPEC_CENTER_BOTH, 0, 1},
    {"centred, of a population", 4, 0, 0, 0, KSPEC_CENTER_ROWS, 50, 1},
};

typedef struct {
    double x[TRIALS][P * MORE];
    uint64_t rows[P], cols[MORE];
    size_t width;
} sample;

static void draw(sample *s, const setting *how, uint64_t seed) {
    s->width = Q;
    for (int t = 0; t < TRIALS; t++) {
        brute_matrix(seed + 100 * (uint64_t)t, P * Q, s->x[t]);
        for (size_t k = 0; k < P * Q && how->holes; k++)
            if ((k * 7 + seed + (uint64_t)t) % 11 == 0) s->x[t][k] = NAN;
    }
    for (size_t i = 0; i < P; i++) s->rows[i] = how->even ? i / 3 : i * i % 13;
    for (size_t a = 0; a < MORE; a++) s->cols[a] = a < Q ? a * a % 17 : 99;
}

static kspec_moments_result *estimates(const sample *s, const setting *how, size_t trials) {
    kspec_matrix phi[TRIALS];
    for (int t = 0; t < TRIALS; t++) phi[t] = (kspec_matrix){s->x[t], P, s->width, (ptrdiff_t)s->width, 1};
    const kspec_moments_opts o = {.size = sizeof o,
                                  .nmax = how->nmax,
                                  .estimators = KSPEC_ESTIMATOR_EXACT,
                                  .threads = 2,
                                  .center = how->center,
                                  .row_groups = how->rows_in_groups ? s->rows : NULL,
                                  .col_groups = how->cols_in_groups ? s->cols : NULL,
                                  .pairwise = how->holes,
                                  .population_rows = how->population_rows};
    kspec_moments_result *r = NULL;
    kspec_error e;
    CHECK_MSG(kspec_moments(phi, trials, &o, &r, &e) == KSPEC_OK, "%s: %s", how->name, e.msg);
    return r;
}

/* Values to what is told of rounding, which is small, and error bars; m(n) of b is factor[n-1] times a's. */
static void agree(const setting *how, const char *what, const kspec_moments_result *a,
                  const kspec_moments_result *b, const double *factor, int bars) {
    CHECK(a->count == (size_t)how->nmax && b->count == a->count);
    for (size_t k = 0; k < a->count; k++) {
        const kspec_estimate *x = a->estimates[k], *y = b->estimates[k];
        double f = factor ? factor[k] : 1;
        CHECK_MSG(x->rounding > 0 && x->rounding < 1e-10, "%s: rounding %g", how->name, x->rounding);
        CHECK_MSG(fabs(y->value - f * x->value) <= f * x->rounding + y->rounding,
                  "%s, %s, m(%zu): %.17g is not %.17g, by %g", how->name, what, k + 1, y->value, f * x->value,
                  y->rounding);
        if (bars)
            CHECK_MSG(fabs(y->std_error / (f * x->std_error) - 1) < 1e-8, "%s, %s: %.17g is not %.17g",
                      how->name, what, y->std_error, f * x->std_error);
    }
}

/* Rows, columns and their labels in another order; signs of columns */
static void shuffle(const sample *from, sample *to) {
    *to = *from;
    for (size_t i = 0; i < P; i++)
        for (size_t a = 0; a < Q; a++) {
            size_t row = (i * 8 + 5) % P, col = (a * 10 + 3) % Q;
            to->rows[row] = from->rows[i], to->cols[col] = from->cols[a];
            for (int t = 0; t < TRIALS; t++)
                to->x[t][row * Q + col] = (a % 3 ? 1 : -1) * from->x[t][i * Q + a];
        }
}

TEST(in_another_order) {
    for (size_t k = 0; k < sizeof SETTINGS / sizeof *SETTINGS; k++)
        for (size_t trials = 1; trials <= TRIALS; trials++) {
            const setting *how = &SETTINGS[k];
            sample s, t;
            draw(&s, how, 3 + k);
            shuffle(&s, &t);
            /* the mean over columns is another where signs change */
            for (size_t i = 0; i < P * Q && how->center == KSPEC_CENTER_BOTH; i++)
                for (int e = 0; e < TRIALS; e++)
                    t.x[e][i] *= ((i % Q + Q - 3) * 26 % Q) % 3 ? 1 : -1; /* 26 = 1/10 mod 37 */
            kspec_moments_result *a = estimates(&s, how, trials), *b = estimates(&t, how, trials);
            agree(how, "in another order", a, b, NULL, 1);
            kspec_free(a), kspec_free(b);
        }
}

TEST(in_other_units) {
    for (size_t k = 0; k < sizeof SETTINGS / sizeof *SETTINGS; k++)
        for (int e = -60; e <= 60; e += 40) {
            const setting *how = &SETTINGS[k];
            sample s, t;
            draw(&s, how, 5 + k);
            t = s;
            for (size_t i = 0; i < P * Q; i++)
                for (int c = 0; c < TRIALS; c++) t.x[c][i] = ldexp(s.x[c][i], e);
            kspec_moments_result *a = estimates(&s, how, 2), *b = estimates(&t, how, 2);
            for (size_t n = 0; n < a->count; n++) {
                int by = 2 * (int)(n + 1) * e;
                CHECK_MSG(b->estimates[n]->value == ldexp(a->estimates[n]->value, by) &&
                              b->estimates[n]->std_error == ldexp(a->estimates[n]->std_error, by) &&
                              b->estimates[n]->rounding == ldexp(a->estimates[n]->rounding, by),
                          "%s, 2^%d: m(%zu)", how->name, e, n + 1);
            }
            kspec_free(a), kspec_free(b);
        }
}

/* A constant added to a column, where it changes nothing: to the rounding of the larger entries */
TEST(shifted) {
    for (size_t k = 0; k < sizeof SETTINGS / sizeof *SETTINGS; k++)
        for (size_t trials = 1; trials <= TRIALS; trials++) {
            const setting *how = &SETTINGS[k];
            sample s, t;
            if (!how->even || how->center == KSPEC_CENTER_BOTH) continue;
            draw(&s, how, 7 + k);
            t = s;
            for (size_t i = 0; i < P * Q; i++)
                for (int c = 0; c < TRIALS; c++) t.x[c][i] += 3 * (double)(i % Q % 5) - c;
            kspec_moments_result *a = estimates(&s, how, trials), *b = estimates(&t, how, trials);
            for (size_t n = 0; n < a->count; n++)
                CHECK_MSG(fabs(b->estimates[n]->value - a->estimates[n]->value) <
                              1e-10 * a->estimates[n]->rounding / (16 * 0x1p-52),
                          "%s: m(%zu)", how->name, n + 1);
            kspec_free(a), kspec_free(b);
        }
}

/* Pairs of different groups among the labels of n columns */
static double pairs_of(const uint64_t *labels, size_t n) {
    double pairs = 0;
    for (size_t a = 0; a < n; a++)
        for (size_t b = 0; b < n; b++) pairs += labels[a] != labels[b];
    return pairs;
}

/*
 * One more column: of zeros, by itself, it is in no cycle that counts but changes their number; missing
 * throughout, it changes nothing.
 */
TEST(a_column_that_cannot_contribute) {
    for (size_t k = 0; k < sizeof SETTINGS / sizeof *SETTINGS; k++)
        for (size_t trials = 1; trials <= TRIALS; trials++) {
            const setting *how = &SETTINGS[k];
            sample s, t;
            if (how->center == KSPEC_CENTER_BOTH) continue;
            draw(&s, how, 9 + k);
            t = s;
            t.width = MORE;
            for (size_t i = 0; i < P; i++)
                for (int c = 0; c < TRIALS; c++) {
                    memcpy(t.x[c] + i * MORE, s.x[c] + i * Q, Q * sizeof(double));
                    t.x[c][i * MORE + Q] = how->holes ? NAN : 0;
                }
            double factor[4] = {1, 1, 1, 1};
            for (int n = 0; n < 4 && !how->holes; n++) /* (Q)_n / (Q+1)_n = (Q+1-n) / (Q+1) */
                factor[n] = (double)(Q - n) / (double)(Q + 1);
            if (how->cols_in_groups) factor[1] = pairs_of(s.cols, Q) / pairs_of(t.cols, MORE);
            kspec_moments_result *a = estimates(&s, how, trials), *b = estimates(&t, how, trials);
            agree(how, "one more column", a, b, factor, 0);
            kspec_free(a), kspec_free(b);
        }
}

int main(void) {
    EACH_ISA(RUN(in_another_order));
    RUN(in_other_units);
    RUN(shifted);
    RUN(a_column_that_cannot_contribute);
    return test_done();
}
