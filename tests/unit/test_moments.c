/* kspec_moments(): naive and Kong-Valiant against brute force, trials, scaling, error bars, bad input. */
#include "oracle/brute.h"
#include "kspec.h"
#include "moments/jackknife.h"
#include "path/kv.h"
#include "path/naive.h"
#include "test.h"
#include "kspec/host.h"

static kspec_matrix view(const double *x, size_t P, size_t Q) {
    return (kspec_matrix){x, P, Q, (ptrdiff_t)Q, 1};
}

/* value of estimator e at order n, NaN if it is not there */
static double value(const kspec_moments_result *r, kspec_estimator e, int n) {
    for (size_t k = 0; k < r->count; k++)
        if (r->estimates[k]->estimator == e && r->estimates[k]->n == n) return r->estimates[k]->value;
    return NAN;
}

/* Are all estimates the same, to the bit? */
static int same_bits(const kspec_moments_result *a, const kspec_moments_result *b) {
    int same = a->count == b->count;
    for (size_t k = 0; same && k < a->count; k++)
        same = !memcmp(a->estimates[k], b->estimates[k], sizeof **a->estimates);
    return same;
}

static const unsigned CLASSIC = KSPEC_ESTIMATOR_NAIVE | KSPEC_ESTIMATOR_KV_ROW | KSPEC_ESTIMATOR_KV_COL;

TEST(against_brute_force) {
    for (size_t P = 1; P <= 5; P++)
        for (size_t Q = 1; Q <= 5; Q++)
            for (int trials = 1; trials <= 2; trials++)
                for (int threads = 1; threads <= 3; threads++) {
                    double x[2][25];
                    brute_matrix(P * 7 + Q, P * Q, x[0]);
                    brute_matrix(P * 9 + Q + 100, P * Q, x[1]);
                    kspec_matrix phi[2] = {view(x[0], P, Q), view(x[1], P, Q)};
                    int nmax = (int)(P < Q ? P : Q);
                    kspec_moments_opts o = {
                        .size = sizeof o, .nmax = nmax, .estimators = CLASSIC, .threads = threads};
                    kspec_moments_result *r;
                    kspec_error e;
                    CHECK(kspec_moments(phi, (size_t)trials, &o, &r, &e) == KSPEC_OK);
                    const double *A = x[0], *B = x[trials - 1];
                    for (int n = 1; n <= nmax && n <= 4; n++) {
                        CHECK_CLOSE(value(r, KSPEC_ESTIMATOR_NAIVE, n),
                                    brute_mean(A, B, P, Q, n, BRUTE_ANY, BRUTE_ANY), 1e-11);
                        CHECK_CLOSE(value(r, KSPEC_ESTIMATOR_KV_ROW, n),
                                    brute_mean(A, B, P, Q, n, BRUTE_INCREASING, BRUTE_ANY), 1e-11);
                        /* kv-col reads the matrix from its columns: the cycle is that of the transposes */
                        double At[25], Bt[25];
                        for (size_t i = 0; i < P; i++)
                            for (size_t j = 0; j < Q; j++)
                                At[j * P + i] = A[i * Q + j], Bt[j * P + i] = B[i * Q + j];
                        CHECK_CLOSE(value(r, KSPEC_ESTIMATOR_KV_COL, n),
                                    brute_mean(At, Bt, Q, P, n, BRUTE_INCREASING, BRUTE_ANY), 1e-11);
                    }
                    kspec_free(r);
                }
}

/* naive at high order equals sums of powers of eigenvalues: a diagonal matrix has them on its diagonal */
TEST(naive_any_order) {
    double x[16] = {0}, d[4] = {1, 2, 3, 0.5};
    for (int i = 0; i < 4; i++) x[5 * i] = d[i];
    kspec_matrix phi = view(x, 4, 4);
    kspec_moments_opts o = {.size = sizeof o, .nmax = 40, .estimators = KSPEC_ESTIMATOR_NAIVE};
    kspec_moments_result *r;
    CHECK(kspec_moments(&phi, 1, &o, &r, NULL) == KSPEC_OK);
    for (int n = 1; n <= 40; n++) {
        double want = 0;
        for (int i = 0; i < 4; i++) want += pow(d[i] * d[i] / 16, n);
        CHECK_CLOSE(value(r, KSPEC_ESTIMATOR_NAIVE, n), want, 1e-12);
    }
    kspec_free(r);
}

TEST(same_bits_at_any_thread_count_and_any_stride) {
    enum { P = 83, Q = 61 };
    static double x[P * Q], xt[P * Q];
    brute_matrix(5, P * Q, x);
    for (size_t i = 0; i < P; i++)
        for (size_t j = 0; j < Q; j++) xt[j * P + i] = x[i * Q + j];
    kspec_moments_result *first = NULL;
    const int threads[] = {1, 2, 3, 7, 1};
    for (int k = 0; k < 5; k++) {
        kspec_matrix phi = view(x, P, Q);
        if (k == 4) phi = (kspec_matrix){xt, P, Q, 1, P}; /* the same matrix in Fortran order */
        kspec_moments_opts o = {.size = sizeof o, .nmax = 6, .estimators = CLASSIC, .threads = threads[k]};
        kspec_moments_result *r;
        CHECK(kspec_moments(&phi, 1, &o, &r, NULL) == KSPEC_OK);
        if (k == 0) {
            first = r;
            continue;
        }
        CHECK(same_bits(first, r));
        kspec_free(r);
    }
    kspec_free(first);
}

/* Phi times c multiplies m(n) by c^2n, exactly for powers of two, however large or small */
TEST(scaling) {
    enum { P = 9, Q = 7 };
    double x[P * Q], y[P * Q];
    brute_matrix(6, P * Q, x);
    kspec_moments_result *a, *b;
    kspec_matrix phi = view(x, P, Q), scaled = view(y, P, Q);
    kspec_moments_opts o = {.size = sizeof o, .nmax = 6, .estimators = CLASSIC};
    CHECK(kspec_moments(&phi, 1, &o, &a, NULL) == KSPEC_OK);
    for (int e = -80; e <= 80; e += 40) {
        for (size_t k = 0; k < P * Q; k++) y[k] = ldexp(x[k], e);
        CHECK(kspec_moments(&scaled, 1, &o, &b, NULL) == KSPEC_OK);
        for (size_t k = 0; k < a->count; k++) {
            int n = a->estimates[k]->n;
            CHECK_CLOSE(b->estimates[k]->value, ldexp(a->estimates[k]->value, 2 * n * e), 1e-12);
            CHECK_CLOSE(b->estimates[k]->std_error, ldexp(a->estimates[k]->std_error, 2 * n * e), 1e-10);
            CHECK_CLOSE(b->estimates[k]->root, ldexp(a->estimates[k]->root, 2 * e), 1e-12);
        }
        CHECK_CLOSE(b->participation_ratio, a->participation_ratio, 1e-12);
        kspec_free(b);
    }
    kspec_error err;
    for (size_t k = 0; k < P * Q; k++) y[k] = x[k] * 1e100; /* m(6) would be about 1e1200 */
    CHECK_FAILS(kspec_moments(&scaled, 1, &o, &b, &err), KSPEC_E_NUMERIC, err, "exceeds the largest double");
    /* near 1e-41 m(4) is below 1e-308: its root is as good as any, its error bar is unknown and not 0 */
    for (size_t k = 0; k < P * Q; k++) y[k] = ldexp(x[k], -136);
    o.estimators = KSPEC_ESTIMATOR_NAIVE, o.bound = 1;
    kspec_free(a);
    CHECK(kspec_moments(&phi, 1, &o, &a, NULL) == KSPEC_OK);
    CHECK(kspec_moments(&scaled, 1, &o, &b, NULL) == KSPEC_OK);
    for (size_t k = 0; k < a->count; k++) {
        const kspec_estimate *e = b->estimates[k];
        CHECK_CLOSE(e->root, ldexp(a->estimates[k]->root, -272), 1e-12);
        CHECK_MSG((e->n < 4) == isfinite(e->std_error), "m(%d) +- %g", e->n, e->std_error);
        CHECK((e->n < 4) == isfinite(e->ci_low) && (e->n < 4) == isfinite(e->ci_high));
        CHECK_CLOSE(e->value, ldexp(a->estimates[k]->value, -272 * e->n), 1e-12);
    }
    kspec_free(b);
    kspec_free(a);
    o.estimators = CLASSIC, o.bound = 0;
    CHECK(kspec_moments(&phi, 1, &o, &a, NULL) == KSPEC_OK);
    for (size_t k = 0; k < P * Q; k++) y[k] = x[k] * 5e-324; /* denormal: every moment is 0 */
    CHECK(kspec_moments(&scaled, 1, &o, &b, &err) == KSPEC_E_NUMERIC);
    CHECK_MSG(strstr(err.msg, "m(1) is below the smallest double"), "%s", err.msg);
    o.normalize = 1; /* and normalising makes m(1) = 1, whatever the scale */
    for (size_t k = 0; k < P * Q; k++) y[k] = x[k] * 1e250;
    CHECK(kspec_moments(&scaled, 1, &o, &b, &err) == KSPEC_OK);
    CHECK_CLOSE(b->estimates[0]->value, 1, 1e-14);
    CHECK_CLOSE(b->estimates[2]->value, a->estimates[2]->value / pow(a->estimates[0]->value, 3), 1e-12);
    kspec_free(b);
    kspec_free(a);
}

/* ---- leave one out ---- */

static ks_run one_thread = {1, {0}, 0, 1};
typedef kspec_status (*estimator_fn)(const ks_run *, const ks_pair *, const ks_moments_out *, kspec_error *);

/* The estimates without row (side 0) or column (side 1) c of a pair, by leaving it out */
static void really_without(estimator_fn f, const ks_pair *p, int side, size_t c, double *m) {
    double *a = malloc(p->P * p->Q * sizeof *a), *b = malloc(p->P * p->Q * sizeof *b);
    (side ? brute_without_col : brute_without_row)(p->A, p->P, p->Q, c, a);
    (side ? brute_without_col : brute_without_row)(p->B, p->P, p->Q, c, b);
    ks_pair less = {a, p->A == p->B ? a : b, p->P - !side, p->Q - (size_t)side, p->nmax};
    CHECK(f(&one_thread, &less, &(ks_moments_out){m, NULL, NULL}, NULL) == KSPEC_OK);
    free(a), free(b);
}

/*
 * naive on both sides, and Kong-Valiant on its rows, are exact. A column of Kong-Valiant is left out to first
 * order: its derivative, by central differences in the column's weight, less the mean of all of them
 */
TEST(leave_one_out) {
    enum { P = 7, Q = 6, N = 4 };
    const estimator_fn fns[] = {ks_naive, ks_kv_row};
    for (int f = 0; f < 2; f++)
        for (int trials = 1; trials <= 2; trials++)
            for (int tall = 0; tall < 2; tall++) {
                size_t p = tall ? Q : P, q = tall ? P : Q;
                double A[P * Q], B[P * Q], m[N], rows[N * P], cols[N * P], less[N];
                brute_matrix(31, p * q, A);
                brute_matrix(32, p * q, B);
                ks_pair pair = {A, trials == 2 ? B : A, p, q, N};
                CHECK(fns[f](&one_thread, &pair, &(ks_moments_out){m, rows, cols}, NULL) == KSPEC_OK);
                for (size_t i = 0; i < p; i++) {
                    really_without(fns[f], &pair, 0, i, less);
                    for (int n = 1; n <= N; n++)
                        CHECK_CLOSE(rows[(size_t)(n - 1) * p + i], less[n - 1], 1e-10);
                }
                for (size_t a = 0; a < q; a++) {
                    if (fns[f] == ks_naive) {
                        really_without(fns[f], &pair, 1, a, less);
                        for (int n = 1; n <= N; n++)
                            CHECK_CLOSE(cols[(size_t)(n - 1) * q + a], less[n - 1], 1e-10);
                        continue;
                    }
                    double up[N], down[N], h = 1e-5;
                    for (int s = 0; s < 2; s++) { /* weight 1 +- h: each matrix times its square root */
                        double x[P * Q], y[P * Q], w = sqrt(1 + (s ? -h : h));
                        for (size_t k = 0; k < p * q; k++) {
                            x[k] = A[k] * (k % q == a ? w : 1);
                            y[k] = pair.B[k] * (k % q == a ? w : 1);
                        }
                        ks_pair bent = {x, y, p, q, N};
                        fns[f](&one_thread, &bent, &(ks_moments_out){s ? down : up, NULL, NULL}, NULL);
                    }
                    for (int n = 1; n <= N; n++) {
                        double d = (up[n - 1] - down[n - 1]) / (2 * h),
                               want = m[n - 1] - (d - n * m[n - 1] / (double)q);
                        double got = cols[(size_t)(n - 1) * q + a];
                        CHECK_MSG(fabs(got - want) < 1e-7 * (fabs(want) + fabs(m[n - 1])), "%g %g", got,
                                  want);
                    }
                }
            }
}

TEST(jackknife_of_a_mean_is_its_standard_error) {
    /* estimates without one of N values of a mean: the jackknife gives s/sqrt(N) exactly */
    static const double both[2] = {1, 1}, part[2] = {0.25, 0}, nan_col[1] = {NAN};
    double x[10] = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3}, loo[10], flat[5] = {3.9, 3.9, 3.9, 3.9, 3.9}, room[15],
           s = 0;
    ks_error_bar bar, quarter;
    for (int i = 0; i < 10; i++) loo[i] = (39 - x[i]) / 9, s += (x[i] - 3.9) * (x[i] - 3.9);
    ks_jackknife(3.9, 1, loo, 10, flat, 5, both, room, &bar);
    CHECK_CLOSE(bar.std_error, sqrt(s / 9 / 10), 1e-12);
    CHECK(bar.which == 5 && bar.part > 0.4 && bar.part < 0.6); /* the 9 */
    /* 30 of 40 rows leave a quarter of the variance; a complete side is not looked at */
    ks_jackknife(3.9, 1, loo, 10, nan_col, 1, part, room, &quarter);
    CHECK_CLOSE(quarter.std_error, 0.5 * bar.std_error, 1e-12);
    CHECK(ks_signed_root(-8, 3) == -2 && ks_signed_root(16, 4) == 2 && ks_signed_root(-3, 1) == -3);
}

/* ---- trials ---- */

TEST(ragged_trials_use_what_is_there) {
    /*
     * trials without noise are equal: any split gives the one-trial answer, and what a row lacks is not
     * looked at
     */
    enum { P = 6, Q = 5, T = 5 };
    double x[T][P * Q];
    size_t have[P] = {2, 3, 5, 4, 2, 5};
    brute_matrix(77, P * Q, x[0]);
    kspec_matrix phi[T];
    for (int t = 0; t < T; t++) {
        for (size_t k = 0; k < P * Q; k++) x[t][k] = (size_t)t < have[k / Q] ? x[0][k] : NAN;
        phi[t] = view(x[t], P, Q);
    }
    kspec_moments_opts o = {.size = sizeof o, .nmax = 4, .estimators = CLASSIC};
    kspec_moments_result *one, *ragged;
    kspec_error e;
    CHECK(kspec_moments(phi, 1, &o, &one, &e) == KSPEC_OK);
    o.row_trials = have;
    o.splits = 3;
    CHECK(kspec_moments(phi, T, &o, &ragged, &e) == KSPEC_OK);
    for (size_t k = 0; k < one->count; k++)
        CHECK_CLOSE(ragged->estimates[k]->value, one->estimates[k]->value, 1e-10);
    kspec_free(ragged);
    /* rows that all have all trials are not ragged: two trials are then the pair (1,2), without a split */
    double y[2][P * Q];
    size_t both[P] = {2, 2, 2, 2, 2, 2};
    brute_matrix(78, P * Q, y[0]);
    brute_matrix(79, P * Q, y[1]);
    kspec_matrix two[2] = {view(y[0], P, Q), view(y[1], P, Q)};
    kspec_moments_result *a, *b;
    o.row_trials = NULL;
    CHECK(kspec_moments(two, 2, &o, &a, &e) == KSPEC_OK);
    o.row_trials = both;
    CHECK(kspec_moments(two, 2, &o, &b, &e) == KSPEC_OK);
    CHECK(same_bits(a, b));
    kspec_free(a);
    kspec_free(b);
    o.row_trials = have;
    have[3] = 1;
    CHECK_FAILS(kspec_moments(phi, T, &o, &ragged, &e), KSPEC_E_ARG, e, "row 3 has 1 trial");
    have[3] = 6;
    CHECK_FAILS(kspec_moments(phi, T, &o, &ragged, &e), KSPEC_E_ARG, e, "row 3 has 6 trials");
    o.row_trials = NULL;
    CHECK_FAILS(kspec_moments(phi, T, &o, &ragged, &e), KSPEC_E_DATA, e,
                "trial 2: row 0, column 0 (from 0) is NaN");
    kspec_free(one);
}

/*
 * Every trial has the same weight over many splits: trial t is a multiple c_t of one matrix, so m(1) of a
 * split is (mean of c over one half)(mean over the other) m(1), whose average over all 3 splits of 4 is known
 */
TEST(splits_use_all_trials) {
    enum { P = 8, Q = 8, T = 4 };
    double x[T][P * Q], c[T] = {1, 2, 4, 9};
    kspec_matrix phi[T];
    for (int t = 0; t < T; t++) {
        for (size_t k = 0; k < P * Q; k++) x[t][k] = c[t];
        phi[t] = view(x[t], P, Q);
    }
    kspec_moments_opts o = {
        .size = sizeof o, .nmax = 1, .estimators = KSPEC_ESTIMATOR_NAIVE, .splits = 20000, .no_stderr = 1};
    kspec_moments_result *r;
    CHECK(kspec_moments(phi, T, &o, &r, NULL) == KSPEC_OK);
    double want = ((1 + 2) * (4 + 9) + (1 + 4) * (2 + 9) + (1 + 9) * (2 + 4)) / 12.0;
    /* 20,000 splits, SD of one about 1.9: 5 standard errors is 0.07, a false alarm once in 10^6 */
    CHECK_MSG(fabs(r->estimates[0]->value - want) < 0.07, "%g %g", r->estimates[0]->value, want);
    CHECK(isnan(r->estimates[0]->std_error));
    kspec_free(r);
}

TEST(centring_and_the_share_of_the_mean) {
    enum { P = 40, Q = 6 };
    double x[P * Q], y[P * Q];
    brute_matrix(3, P * Q, x);
    for (size_t j = 0; j < Q; j++) {
        double mean = 0;
        for (size_t i = 0; i < P; i++) mean += x[i * Q + j] / P;
        for (size_t i = 0; i < P; i++)
            x[i * Q + j] += -mean + 10 * (double)j, y[i * Q + j] = x[i * Q + j] - 10 * (double)j;
    }
    kspec_matrix with = view(x, P, Q), without = view(y, P, Q);
    kspec_moments_opts o = {.size = sizeof o, .nmax = 3, .estimators = KSPEC_ESTIMATOR_NAIVE};
    o.center = KSPEC_CENTER_ROWS;
    kspec_moments_result *a, *b;
    CHECK(kspec_moments(&with, 1, &o, &a, NULL) == KSPEC_OK);
    o.center = KSPEC_CENTER_NONE;
    CHECK(kspec_moments(&without, 1, &o, &b, NULL) == KSPEC_OK);
    for (size_t k = 0; k < a->count; k++) CHECK_CLOSE(a->estimates[k]->value, b->estimates[k]->value, 1e-9);
    CHECK_CLOSE(b->mean_share, -1.0 / (P - 1), 1e-9); /* no column mean left, and unbiased */
    kspec_free(a);
    CHECK(kspec_moments(&with, 1, &o, &a, NULL) == KSPEC_OK && a->mean_share > 0.99);
    kspec_free(a);
    kspec_free(b);
    /* as many orders as are asked for, where that is one, too */
    o = (kspec_moments_opts){.size = sizeof o, .nmax = 1, .center = KSPEC_CENTER_ROWS};
    CHECK(kspec_moments(&with, 1, &o, &a, NULL) == KSPEC_OK && a->count == 1);
    kspec_free(a);
}

TEST(known_answers) {
    double ones[35], zeros[35] = {0};
    for (int k = 0; k < 35; k++) ones[k] = -3;
    kspec_matrix c = view(ones, 7, 5), z = view(zeros, 7, 5);
    kspec_moments_opts o = {.size = sizeof o, .nmax = 5, .estimators = CLASSIC};
    kspec_moments_result *r;
    CHECK(kspec_moments(&c, 1, &o, &r, NULL) == KSPEC_OK);
    for (size_t k = 0; k < r->count; k++) {
        CHECK_CLOSE(r->estimates[k]->value, pow(9, r->estimates[k]->n), 1e-12);
        CHECK_CLOSE(r->estimates[k]->root, 9, 1e-12);
        if (r->estimates[k]->n < 5) CHECK(fabs(r->estimates[k]->std_error) < 1e-9 * r->estimates[k]->value);
    }
    CHECK_CLOSE(r->participation_ratio, 1, 1e-12);
    kspec_free(r);
    CHECK(kspec_moments(&z, 1, &o, &r, NULL) == KSPEC_OK);
    for (size_t k = 0; k < r->count; k++) CHECK(r->estimates[k]->value == 0);
    CHECK(isnan(r->participation_ratio));
    kspec_free(r);
}

TEST(bad_input) {
    double x[12] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
    kspec_matrix phi[2] = {view(x, 3, 4), view(x, 4, 3)};
    kspec_moments_result *r;
    kspec_error e;
    kspec_moments_opts o = {.size = sizeof o, .estimators = KSPEC_ESTIMATOR_KV_ROW, .nmax = 4};
    CHECK_FAILS(kspec_moments(phi, 1, &o, &r, &e), KSPEC_E_ARG, e, "order 4 exceeds the number of rows, P=3");
    o.nmax = -1;
    CHECK_FAILS(kspec_moments(phi, 1, &o, &r, &e), KSPEC_E_ARG, e, "order -1");
    o.nmax = 2;
    CHECK_FAILS(kspec_moments(phi, 2, &o, &r, &e), KSPEC_E_ARG, e, "trial 1 is 4 x 3, trial 0 is 3 x 4");
    CHECK_FAILS(kspec_moments(phi, 0, &o, &r, &e), KSPEC_E_ARG, e, "trials 0");
    o.splits = -2;
    CHECK_FAILS(kspec_moments(phi, 1, &o, &r, &e), KSPEC_E_ARG, e, "splits -2");
    o.splits = 0;
    o.estimators = 1u << 20;
    CHECK_FAILS(kspec_moments(phi, 1, &o, &r, &e), KSPEC_E_ARG, e, "unknown estimators 0x100000");
    o.estimators = KSPEC_ESTIMATOR_NAIVE;
    x[5] = INFINITY;
    CHECK_FAILS(kspec_moments(phi, 1, &o, &r, &e), KSPEC_E_DATA, e,
                "the matrix: row 1, column 1 (from 0) is infinite");
    x[5] = NAN;
    CHECK_FAILS(kspec_moments(phi, 1, &o, &r, &e), KSPEC_E_DATA, e, "column 1 (from 0) is NaN");
    kspec_matrix empty = view(x, 0, 3);
    CHECK_FAILS(kspec_moments(&empty, 1, &o, &r, &e), KSPEC_E_ARG, e, "empty: 0 x 3");
    CHECK_FAILS(kspec_moments(NULL, 1, &o, &r, &e), KSPEC_E_ARG, e, "the matrix is missing (NULL)");
    phi[1] = (kspec_matrix){NULL, 3, 4, 4, 1};
    x[5] = 6;
    CHECK_FAILS(kspec_moments(phi, 2, &o, &r, &e), KSPEC_E_ARG, e, "a trial has no data (NULL)");
    CHECK(r == NULL);
    kspec_free(NULL);
}

/* NULL options are zeroed ones, and unknown values are named */
TEST(options) {
    double x[20];
    brute_matrix(8, 20, x);
    kspec_matrix phi = view(x, 5, 4);
    kspec_moments_result *a, *b;
    kspec_error e;
    kspec_moments_opts o = {.size = sizeof o};
    CHECK(kspec_moments(&phi, 1, NULL, &a, &e) == KSPEC_OK && kspec_moments(&phi, 1, &o, &b, &e) == KSPEC_OK);
    CHECK(a->count == 4 && same_bits(a, b));
    kspec_free(a);
    kspec_free(b);
    const struct {
        kspec_moments_opts o;
        const char *message;
    } bad[] = {{{.size = 3}, "size field is 3"},
               {{.size = sizeof o, .side = (kspec_side)7}, "unknown side 7"},
               {{.size = sizeof o, .sampled = (kspec_sampled)8}, "unknown sampled 8"},
               {{.size = sizeof o, .scheme = (kspec_trials)9}, "unknown trial scheme 9"},
               {{.size = sizeof o, .estimators = 64}, "unknown estimators 0x40"}};
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        a = (kspec_moments_result *)(uintptr_t)1;
        CHECK_FAILS(kspec_moments(&phi, 1, &bad[k].o, &a, &e), KSPEC_E_ARG, e, bad[k].message);
        CHECK(a == NULL);
    }
    for (unsigned k = KSPEC_ESTIMATOR_NAIVE; k <= KSPEC_ESTIMATOR_AUTO; k <<= 1)
        CHECK(kspec_name(KSPEC_NAMES_ESTIMATOR, k));
    CHECK(!kspec_name(KSPEC_NAMES_ESTIMATOR, KSPEC_ESTIMATOR_DEFAULT) &&
          !kspec_name(KSPEC_NAMES_ESTIMATOR, 3) && !kspec_name(KSPEC_NAMES_ESTIMATOR, 64));
}

/*
 * Exact is planned once a call, however many splits there are: more splits take more allocations, but not
 * more plans
 */

static size_t allocated, largest;

static void *watch_alloc(void *ctx, size_t size, size_t align) {
    (void)ctx;
    if (size > largest) largest = size, allocated = 0;
    allocated += size == largest;
    return aligned_alloc(align, (size + align - 1) / align * align);
}

static void watch_release(void *ctx, void *ptr) {
    (void)ctx;
    free(ptr);
}

TEST(exact_is_planned_once) {
    enum { P = 9, Q = 8, T = 4 };
    double x[T][P * Q];
    kspec_matrix phi[T];
    for (int t = 0; t < T; t++) {
        brute_matrix((uint64_t)t, P * Q, x[t]);
        phi[t] = view(x[t], P, Q);
    }
    kspec_set_allocator(&(kspec_allocator){watch_alloc, watch_release, NULL});
    size_t times[2];
    for (int k = 0; k < 2; k++) { /* at this size a table of the plan is the largest block by far */
        kspec_moments_opts o = {.size = sizeof o,
                                .nmax = 5,
                                .estimators = KSPEC_ESTIMATOR_EXACT,
                                .splits = k ? 8 : 1,
                                .threads = 1};
        kspec_moments_result *r;
        allocated = largest = 0;
        CHECK(kspec_moments(phi, T, &o, &r, NULL) == KSPEC_OK);
        CHECK(largest > 10 * sizeof x);
        times[k] = allocated;
        kspec_free(r);
    }
    CHECK(times[0] == times[1]);
    kspec_set_allocator(NULL);
}

/*
 * The correlation of the errors by its definition: the estimates of the matrix without each row and each
 * column in turn
 */
TEST(correlation_from_leaving_out) {
    enum { P = 7, Q = 6, N = 4 };
    double x[P * Q], loo[P + Q][2 * N];
    brute_matrix(21, P * Q, x);
    kspec_matrix phi = view(x, P, Q);
    for (int sampled = 0; sampled < 3; sampled++) {
        kspec_moments_opts o = {.size = sizeof o,
                                .nmax = N,
                                .estimators = KSPEC_ESTIMATOR_NAIVE | KSPEC_ESTIMATOR_EXACT,
                                .sampled = (kspec_sampled)sampled,
                                .correlation = 1};
        kspec_moments_result *r, *s;
        CHECK(kspec_moments(&phi, 1, &o, &r, NULL) == KSPEC_OK && r->count == 2 * N);
        o.correlation = 0;
        o.no_stderr = 1;
        for (size_t k = 0; k < P + Q; k++) {
            double y[P * Q];
            size_t rows = k < P ? P - 1 : P, cols = k < P ? Q : Q - 1, n = 0;
            for (size_t i = 0; i < P; i++)
                for (size_t j = 0; j < Q; j++)
                    if (k < P ? i != k : j != k - P) y[n++] = x[i * Q + j];
            kspec_matrix less = view(y, rows, cols);
            CHECK(kspec_moments(&less, 1, &o, &s, NULL) == KSPEC_OK && !s->correlation);
            for (size_t e = 0; e < 2 * N; e++) loo[k][e] = s->estimates[e]->value;
            kspec_free(s);
        }
        for (size_t e = N; e < 2 * N;
             e++) /* exact; what naive leaves out is its own leave-one-out, to first order */
            for (size_t f = N; f < 2 * N; f++) {
                double c = 0;
                for (int side = 0; side < 2; side++) {
                    size_t from = side ? P : 0, n = side ? Q : P;
                    double me = 0, mf = 0, sum = 0;
                    if (sampled == (side ? KSPEC_SAMPLED_ROWS : KSPEC_SAMPLED_COLS)) continue;
                    for (size_t k = 0; k < n; k++)
                        me += loo[from + k][e] / (double)n, mf += loo[from + k][f] / (double)n;
                    for (size_t k = 0; k < n; k++) sum += (loo[from + k][e] - me) * (loo[from + k][f] - mf);
                    c += sum * (double)(n - 1) / (double)n;
                }
                c /= r->estimates[e]->std_error * r->estimates[f]->std_error;
                CHECK(fabs(r->correlation[e * 2 * N + f] - c) < 1e-9);
            }
        for (size_t e = 0; e < 2 * N; e++)
            CHECK(r->correlation[e * 2 * N + e] == 1 && r->correlation[e] == r->correlation[e * 2 * N]);
        kspec_free(r);
    }
    kspec_moments_opts o = {.size = sizeof o, .correlation = 1, .no_stderr = 1};
    kspec_moments_result *r;
    kspec_error e;
    CHECK_FAILS(kspec_moments(&phi, 1, &o, &r, &e), KSPEC_E_ARG, e, "cannot be combined");
    /* where there is no error bar there is no correlation */
    o = (kspec_moments_opts){.size = sizeof o, .nmax = Q, .correlation = 1};
    CHECK(kspec_moments(&phi, 1, &o, &r, NULL) == KSPEC_OK);
    CHECK(isnan(r->estimates[Q - 1]->std_error) && isnan(r->correlation[Q * Q - 1]) &&
          isfinite(r->correlation[0]));
    kspec_free(r);
}

int main(void) {
    RUN(against_brute_force);
    RUN(naive_any_order);
    RUN(same_bits_at_any_thread_count_and_any_stride);
    RUN(scaling);
    RUN(leave_one_out);
    RUN(jackknife_of_a_mean_is_its_standard_error);
    RUN(ragged_trials_use_what_is_there);
    RUN(splits_use_all_trials);
    RUN(centring_and_the_share_of_the_mean);
    RUN(known_answers);
    RUN(bad_input);
    RUN(options);
    RUN(exact_is_planned_once);
    RUN(correlation_from_leaving_out);
    return test_done();
}
