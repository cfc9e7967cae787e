/*
 * kspec_dimension() and kspec_compare(): against their definitions in long double, with error bars from
 * matrices of which a row or a column really is left out; reference values of a matrix that is remade here;
 * scales and refusals.
 */
#include "kspec.h"
#include "help/interval.h"
#include "oracle/pairs.h"
#include "test.h"

enum { MOST = 14 };

/* ---- one matrix by definition ---- */

typedef struct {
    size_t P, Q;
    double at[2][MOST * MOST];
    int trials;
} sample;

static sample draw(uint64_t seed, size_t P, size_t Q, int trials) {
    sample s = {.P = P, .Q = Q, .trials = trials};
    double x[MOST * 2], w[MOST * 2];
    kspec_random_normal(seed, 10, 0, 2 * P, x);
    kspec_random_normal(seed, 11, 0, 2 * Q, w);
    for (int t = 0; t < 2; t++) {
        kspec_random_normal(seed, 12 + (uint64_t)t, 0, P * Q, s.at[t]);
        for (size_t i = 0; i < P; i++)
            for (size_t k = 0; k < Q; k++) /* two dimensions, a mean, and noise */
                s.at[t][i * Q + k] = 0.3 * s.at[t][i * Q + k] + 0.4 + x[i] * w[k] + x[P + i] * w[Q + k];
    }
    return s;
}

static sample without(const sample *s, size_t row, size_t col) {
    sample r = {.P = s->P - (row < s->P), .Q = s->Q - (col < s->Q), .trials = s->trials};
    for (int t = 0; t < 2; t++) {
        size_t at = 0;
        for (size_t i = 0; i < s->P; i++)
            for (size_t k = 0; k < s->Q; k++)
                if (i != row && k != col) r.at[t][at++] = s->at[t][i * s->Q + k];
    }
    return r;
}

static void views(const sample *s, kspec_matrix *m) {
    for (int t = 0; t < 2; t++) m[t] = (kspec_matrix){s->at[t], s->P, s->Q, (ptrdiff_t)s->Q, 1};
}

/* The mean over pairs of different columns of the product of two (co)variances */
static double definition(const sample *s, int centered, int traces) {
    oracle_matrix x = {s->at[0], s->Q}, z = {s->at[s->trials - 1], s->Q};
    long double sum = 0;
    for (size_t a = 0; a < s->Q; a++)
        for (size_t b = 0; b < s->Q; b++)
            if (a != b)
                sum += traces ? oracle_product(s->P, SIZE_MAX, centered, x, a, z, a, z, b, x, b)
                              : oracle_product(s->P, SIZE_MAX, centered, x, a, z, b, z, a, x, b);
    return (double)(sum / (long double)(s->Q * (s->Q - 1)));
}

static double dimension_of(const sample *s, int no_center) {
    kspec_matrix m[2];
    views(s, m);
    kspec_dimension_opts o = {.size = sizeof o, .center = no_center ? KSPEC_CENTER_NONE : KSPEC_CENTER_ROWS};
    kspec_dimension_result *r;
    kspec_error err;
    CHECK_MSG(kspec_dimension(m, (size_t)s->trials, &o, &r, &err) == KSPEC_OK, "%s", err.msg);
    double d = r ? r->dimension : NAN;
    kspec_free(r);
    return d;
}

static double side(const double *x, size_t N) {
    double mean = 0, sum = 0;
    for (size_t i = 0; i < N; i++) mean += x[i] / (double)N;
    for (size_t i = 0; i < N; i++) sum += (x[i] - mean) * (x[i] - mean);
    return sum * (double)(N - 1) / (double)N;
}

TEST(dimension_is_its_definition) {
    for (int kind = 0; kind < 4; kind++) {
        int no_center = kind & 1, trials = 1 + (kind >> 1);
        sample s = draw(5 + (uint64_t)kind, 9, 7, trials);
        kspec_matrix m[2];
        views(&s, m);
        kspec_dimension_opts o = {.size = sizeof o,
                                  .center = no_center ? KSPEC_CENTER_NONE : KSPEC_CENTER_ROWS};
        kspec_dimension_result *r;
        kspec_error err;
        CHECK_MSG(kspec_dimension(m, (size_t)trials, &o, &r, &err) == KSPEC_OK, "%s", err.msg);
        if (!r) continue;
        double square = definition(&s, !no_center, 1), moment = definition(&s, !no_center, 0);
        CHECK_CLOSE(r->trace_squared, square, 1e-11);
        CHECK_CLOSE(r->second_moment, moment, 1e-11);
        CHECK_CLOSE(r->dimension, square / moment, 1e-11);
        CHECK(r->P == 9 && r->Q == 7 && r->trials == (size_t)trials &&
              r->center == (no_center ? KSPEC_CENTER_NONE : KSPEC_CENTER_ROWS));
        CHECK(r->curve == NULL && r->curve_count == 0);
        double logs[MOST * 2];
        for (size_t i = 0; i < s.P; i++) {
            sample less = without(&s, i, SIZE_MAX);
            logs[i] = log(dimension_of(&less, no_center));
        }
        for (size_t k = 0; k < s.Q; k++) {
            sample less = without(&s, SIZE_MAX, k);
            logs[s.P + k] = log(dimension_of(&less, no_center));
        }
        double sd = sqrt(side(logs, s.P) + side(logs + s.P, s.Q));
        CHECK_CLOSE(r->std_error, r->dimension * sd, 1e-9);
        double ends[2];
        interval_ends(logs, s.P, s.Q, (const double[2]){1, 1}, log(r->dimension), 0.5, ends);
        CHECK_CLOSE(r->ci_low, fmax(1, r->dimension * exp(ends[0])), 1e-8);
        CHECK_CLOSE(r->ci_high, fmax(1, r->dimension * exp(ends[1])), 1e-8);
        kspec_free(r);
    }
}

/* 10^150 and 10^-150 times the data have the same dimension; a constant added to a column changes nothing. */
TEST(dimension_has_no_scale_and_no_mean) {
    sample s = draw(20, 10, 6, 1), t = s;
    double d = dimension_of(&s, 0);
    for (size_t k = 0; k < s.P * s.Q; k++) t.at[0][k] = 1e150 * s.at[0][k];
    CHECK_CLOSE(dimension_of(&t, 0), d, 1e-12);
    for (size_t k = 0; k < s.P * s.Q; k++) t.at[0][k] = 1e-150 * s.at[0][k];
    CHECK_CLOSE(dimension_of(&t, 0), d, 1e-12);
    for (size_t i = 0; i < s.P; i++)
        for (size_t k = 0; k < s.Q; k++) t.at[0][i * s.Q + k] = s.at[0][i * s.Q + k] + 100.0 * (double)k;
    CHECK_CLOSE(dimension_of(&t, 0), d, 1e-9);
}

/* Of 20 equal eigenvalues the naive dimension, 1/(1/20 + 1/P + 1/Q), grows with the part that is taken. */
TEST(the_curve_of_the_naive_dimension_climbs) {
    enum { P = 300, Q = 200, DIM = 20 };
    static double phi[P * Q];
    kspec_generate_opts g_opts = {
        .size = sizeof g_opts, .process = KSPEC_PROCESS_LINEAR, .dim = DIM, .seed = 3};
    kspec_error err;
    CHECK(kspec_generate(P, Q, &g_opts, phi, &err) == KSPEC_OK);
    kspec_matrix m = {phi, P, Q, Q, 1};
    for (int threads = 1; threads <= 3; threads++) {
        kspec_dimension_opts o = {.size = sizeof o, .curve = 6, .threads = threads};
        static kspec_dimension_point first[6];
        kspec_dimension_result *r;
        CHECK_MSG(kspec_dimension(&m, 1, &o, &r, &err) == KSPEC_OK, "%s", err.msg);
        CHECK(r->curve_count == 6 && r->curve[5]->rows == P && r->curve[5]->cols == Q);
        CHECK_CLOSE(r->curve[5]->dimension, r->dimension, 1e-12);
        CHECK_CLOSE(r->curve[5]->naive, r->naive, 1e-12);
        CHECK(r->ci_low < DIM && DIM < r->ci_high && r->naive < 18);
        for (int k = 1; k < 6; k++) {
            CHECK(r->curve[k]->rows > r->curve[k - 1]->rows && r->curve[k]->naive > r->curve[k - 1]->naive);
        }
        /* flat from the first point on; from single parts the first was as far off as 30 */
        for (int k = 0; k < 6; k++)
            CHECK_MSG(fabs(r->curve[k]->dimension - DIM) < 3, "%g", r->curve[k]->dimension);
        CHECK(r->curve[0]->rows == 30 && r->curve[0]->cols == 20);
        for (int k = 0; k < 6; k++) {
            if (threads == 1) first[k] = *r->curve[k];
            CHECK(r->curve[k]->dimension == first[k].dimension && r->curve[k]->naive == first[k].naive);
        }
        kspec_free(r);
    }
}

/* ---- two matrices ---- */

static kspec_compare_result *compare(const sample *a, const sample *b, const kspec_compare_opts *o) {
    kspec_matrix m[2], n[2];
    kspec_compare_result *r;
    kspec_error err;
    views(a, m);
    views(b, n);
    CHECK_MSG(kspec_compare(m, (size_t)a->trials, n, (size_t)b->trials, o, &r, &err) == KSPEC_OK, "%s",
              err.msg);
    return r;
}

/* tr T_1 T_2 over distinct rows, and the alignment that it makes */
static double alignment_by_definition(const sample *a, const sample *b, int centered) {
    oracle_matrix x = {a->at[0], a->Q}, z = {a->at[a->trials - 1], a->Q}, y = {b->at[b->trials - 1], b->Q},
                  w = {b->at[0], b->Q};
    long double sum = 0;
    for (size_t k = 0; k < a->Q; k++)
        for (size_t g = 0; g < b->Q; g++)
            sum += oracle_product(a->P, SIZE_MAX, centered, x, k, y, g, z, k, w, g);
    double cross = (double)(sum / (long double)(a->Q * b->Q));
    return cross / sqrt(definition(a, centered, 0) * definition(b, centered, 0));
}

static double alignment_of(const sample *a, const sample *b, int no_center) {
    kspec_compare_opts o = {.size = sizeof o, .center = no_center ? KSPEC_CENTER_NONE : KSPEC_CENTER_ROWS};
    kspec_compare_result *r = compare(a, b, &o);
    double x = r ? r->alignment : NAN;
    kspec_free(r);
    return x;
}

TEST(alignment_is_its_definition) {
    for (int kind = 0; kind < 4; kind++) {
        int no_center = kind & 1, trials = 1 + (kind >> 1);
        sample a = draw(30, 9, 6, trials), b = draw(30, 9, 8, trials);
        kspec_compare_opts o = {.size = sizeof o,
                                .center = no_center ? KSPEC_CENTER_NONE : KSPEC_CENTER_ROWS};
        kspec_compare_result *r = compare(&a, &b, &o);
        if (!r) continue;
        CHECK_CLOSE(r->alignment, alignment_by_definition(&a, &b, !no_center), 1e-10);
        double loo[3][MOST];
        for (size_t i = 0; i < a.P; i++) {
            sample less = without(&a, i, SIZE_MAX), other = without(&b, i, SIZE_MAX);
            loo[0][i] = alignment_of(&less, &other, no_center);
        }
        for (size_t k = 0; k < a.Q; k++) {
            sample less = without(&a, SIZE_MAX, k);
            loo[1][k] = alignment_of(&less, &b, no_center);
        }
        for (size_t k = 0; k < b.Q; k++) {
            sample less = without(&b, SIZE_MAX, k);
            loo[2][k] = alignment_of(&a, &less, no_center);
        }
        double se = sqrt(side(loo[0], a.P) + side(loo[1], a.Q) + side(loo[2], b.Q));
        CHECK_CLOSE(r->alignment_std_error, se, 1e-8);
        double centre = r->alignment; /* less the bias that each side sees */
        for (int k = 0; k < 3; k++) {
            size_t N = k == 0 ? a.P : k == 1 ? a.Q : b.Q;
            for (size_t i = 0; i < N; i++) centre -= (double)(N - 1) * (loo[k][i] - r->alignment) / (double)N;
        }
        CHECK_CLOSE(r->alignment_ci_low, fmin(r->alignment, centre - 1.959963984540054 * se), 1e-7);
        CHECK_CLOSE(r->alignment_ci_high, fmax(r->alignment, centre + 1.959963984540054 * se), 1e-7);
        CHECK(r->alignment_biased > 0 && r->alignment_biased <= 1);
        kspec_free(r);
    }
}

/* <K, L> / (|K| |L|) of the centred matrices themselves */
TEST(the_usual_alignment) {
    sample a = draw(40, 8, 5, 1), b = draw(41, 8, 6, 1);
    double K[2][64] = {{0}}, dot[3] = {0};
    const sample *s[2] = {&a, &b};
    for (int m = 0; m < 2; m++)
        for (size_t k = 0; k < s[m]->Q; k++) {
            double mean = 0;
            for (size_t i = 0; i < 8; i++) mean += s[m]->at[0][i * s[m]->Q + k] / 8;
            for (size_t i = 0; i < 8; i++)
                for (size_t j = 0; j < 8; j++)
                    K[m][i * 8 + j] +=
                        (s[m]->at[0][i * s[m]->Q + k] - mean) * (s[m]->at[0][j * s[m]->Q + k] - mean);
        }
    for (size_t e = 0; e < 64; e++)
        dot[0] += K[0][e] * K[1][e], dot[1] += K[0][e] * K[0][e], dot[2] += K[1][e] * K[1][e];
    kspec_compare_result *r = compare(&a, &b, NULL);
    CHECK_CLOSE(r->alignment_biased, dot[0] / sqrt(dot[1] * dot[2]), 1e-12);
    kspec_free(r);
}

/* The same matrix twice: no difference, and none that could be. Unpaired, the errors add up. */
TEST(differences) {
    sample a = draw(50, 12, 8, 1), b = draw(51, 12, 8, 1);
    for (int paired = 0; paired < 3; paired++) {
        kspec_compare_opts o = {.size = sizeof o, .paired = (kspec_paired)paired, .nmax = 4};
        kspec_compare_result *r = compare(&a, &a, &o), *d = compare(&a, &b, &o);
        for (size_t k = 0; k < r->count; k++) CHECK(fabs(r->differences[k]->value) < 1e-12);
        CHECK(r->count == 5 && strcmp(r->differences[0]->what, "dimension") == 0 &&
              r->differences[2]->n == 2);
        CHECK_CLOSE(d->differences[0]->value, d->dimension - d->other_dimension, 1e-12);
        CHECK(isnan(d->alignment) == (paired != KSPEC_PAIRED_ROWS));
        if (paired == KSPEC_PAIRED_NONE) {
            kspec_matrix m[2];
            kspec_dimension_result *x, *y;
            views(&a, m);
            CHECK(kspec_dimension(m, 1, NULL, &x, NULL) == KSPEC_OK);
            views(&b, m);
            CHECK(kspec_dimension(m, 1, NULL, &y, NULL) == KSPEC_OK);
            /* exp of the logarithms' jackknife, which is not quite the delta method */
            CHECK_CLOSE(d->differences[0]->std_error, hypot(x->std_error, y->std_error), 0.3);
            kspec_free(x);
            kspec_free(y);
        }
        kspec_free(r);
        kspec_free(d);
    }
}

TEST(bad_input) {
    sample a = draw(60, 8, 5, 1), b = draw(61, 7, 5, 1);
    kspec_matrix m[2], n[2];
    kspec_error err;
    views(&a, m);
    views(&b, n);
    kspec_dimension_result *d;
    kspec_compare_result *c;
    CHECK_FAILS(kspec_dimension(m, 0, NULL, &d, &err), KSPEC_E_ARG, err, "number of trials 0 is below 1");
    m[0].rows = 4;
    CHECK_FAILS(kspec_dimension(m, 1, NULL, &d, &err), KSPEC_E_ARG, err,
                "4 rows and 5 columns are too few: 5 and 3 are needed");
    m[0].rows = 8, m[0].cols = 2;
    CHECK_FAILS(kspec_dimension(m, 1, NULL, &d, &err), KSPEC_E_ARG, err,
                "8 rows and 2 columns are too few: 5 and 3 are needed");
    views(&a, m);
    const uint64_t two[] = {0, 1, 0, 1, 0};
    kspec_dimension_opts g = {.size = sizeof g, .col_groups = two};
    CHECK_FAILS(kspec_dimension(m, 1, &g, &d, &err), KSPEC_E_ARG, err,
                "8 groups of rows and 2 of columns are too few: 5 and 3 are needed");
    kspec_dimension_opts o = {.size = sizeof o, .curve = 101};
    CHECK_FAILS(kspec_dimension(m, 1, &o, &d, &err), KSPEC_E_ARG, err, "a curve of 101 points exceeds 100");
    CHECK_FAILS(kspec_compare(m, 1, n, 1, NULL, &c, &err), KSPEC_E_ARG, err, "8 and 7 rows");
    kspec_compare_opts p = {.size = sizeof p, .paired = (kspec_paired)7};
    CHECK_FAILS(kspec_compare(m, 1, n, 1, &p, &c, &err), KSPEC_E_ARG, err, "unknown pairing 7");
    a.at[0][7] = NAN;
    CHECK_FAILS(kspec_dimension(m, 1, NULL, &d, &err), KSPEC_E_DATA, err, "row 1, column 2");
    CHECK(d == NULL && c == NULL);
    /* zeros, a constant, one row repeated: no dimension, and no failure */
    for (size_t k = 0; k < a.P * a.Q; k++) a.at[0][k] = 0;
    CHECK(isnan(dimension_of(&a, 0)) && isnan(dimension_of(&a, 1)));
    for (size_t k = 0; k < a.P * a.Q; k++) a.at[0][k] = 3;
    CHECK(isnan(dimension_of(&a, 0)));
    CHECK_CLOSE(dimension_of(&a, 1), 1, 1e-12);
    /* the mean of these columns is rounded */
    for (size_t k = 0; k < a.P * a.Q; k++) a.at[0][k] = 0.1 + (double)(k % a.Q);
    CHECK(isnan(dimension_of(&a, 0)));
}

int main(void) {
    RUN(dimension_is_its_definition);
    RUN(dimension_has_no_scale_and_no_mean);
    RUN(the_curve_of_the_naive_dimension_climbs);
    RUN(alignment_is_its_definition);
    RUN(the_usual_alignment);
    RUN(differences);
    RUN(bad_input);
    return test_done();
}
