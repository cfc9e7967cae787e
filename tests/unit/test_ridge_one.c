/*
 * Ridge regression on features of one kernel: kernels against quadrature, predictions against dense formulas
 * and against actual regressions; the options that prepare the data; recommendations.
 */
#include "help/ridge.h"
#include "oracle/one.h"
#include "ridge/activation.h"

static real relu(real t) { return t > 0 ? t : 0; }
static real leaky(real t) { return t > 0 ? t : 0.3L * t; }
static real sign_of(real t) { return (t > 0) - (t < 0); }
static real square_of(real t) { return t * t; }

static const struct {
    kspec_ridge_activation kind;
    oracle_function f;
} functions[] = {
    {KSPEC_RIDGE_ACTIVATION_RELU, relu},
    {KSPEC_RIDGE_ACTIVATION_LEAKY, leaky},
    {KSPEC_RIDGE_ACTIVATION_ERF, erfl},
    {KSPEC_RIDGE_ACTIVATION_SIGN, sign_of},
    {KSPEC_RIDGE_ACTIVATION_ABS, fabsl},
    {KSPEC_RIDGE_ACTIVATION_COS, cosl},
    {KSPEC_RIDGE_ACTIVATION_QUADRATIC, square_of},
};
enum { FUNCTIONS = sizeof functions / sizeof *functions };

TEST(kernels_by_quadrature) {
    static const double cases[][3] = {{1, 1, 0.4}, {0.5, 2, -0.7}, {1.5, 0.3, 0.6}};
    for (size_t k = 0; k < FUNCTIONS; k++)
        for (size_t c = 0; c < 3; c++) {
            const ks_activation f = {functions[k].kind, 0.3};
            const double *q = cases[c], got = ks_activation_kernel(&f, q[2], q[0], q[1]);
            const double want = (double)oracle_expectation(functions[k].f, q[0], q[1], q[2]);
            CHECK_MSG(fabs(got - want) < 2e-4, "function %zu, case %zu: %g is not %g", k, c, got, want);
            double x = 0.37;
            ks_activate(&f, &x, NULL, 1);
            CHECK_MSG(fabs(x - (double)functions[k].f(0.37L)) < 1e-15, "function %zu at 0.37: %g", k, x);
            x = -1.2;
            ks_activate(&f, &x, NULL, 1);
            CHECK_MSG(fabs(x - (double)functions[k].f(-1.2L)) < 1e-15, "function %zu at -1.2: %g", k, x);
        }
}

static void oracle_kernel(const ks_activation *f, const problem *q, square K, square Kt, real *tt) {
    for (size_t i = 0; i < q->n + q->nt; i++) {
        const double *a = i < q->n ? q->X + i * q->p : q->Xt + (i - q->n) * q->p;
        double aa = 0;
        for (size_t l = 0; l < q->p; l++) aa += a[l] * a[l];
        if (i >= q->n) tt[i - q->n] = ks_activation_kernel(f, aa, aa, aa);
        for (size_t j = 0; j < q->n; j++) {
            const double *b = q->X + j * q->p;
            double ab = 0, bb = 0;
            for (size_t l = 0; l < q->p; l++) ab += a[l] * b[l], bb += b[l] * b[l];
            (i < q->n ? K[i] : Kt[i - q->n])[j] = ks_activation_kernel(f, i == j ? aa : ab, aa, bb);
        }
    }
}

TEST(formulas_in_long_double) {
    static square K, Kt;
    real tt[ORACLE_MAX];
    static const size_t shapes[][3] = {{1, 2, 1}, {9, 0, 3}, {24, 17, 5}, {31, 20, 8}};
    for (int kind = KSPEC_RIDGE_ACTIVATION_RELU; kind <= KSPEC_RIDGE_ACTIVATION_PHASES; kind++)
        for (size_t s = 0; s < 4; s++) {
            problem q = make_problem(91 + s, shapes[s][0], shapes[s][1], shapes[s][2]);
            const ks_activation f = {(kspec_ridge_activation)kind, 0.3};
            const kspec_ridge_opts o = {.size = sizeof o, .activation = f.kind, .slope = 0.3};
            kspec_ridge *r = open_problem(&q, &o);
            oracle_kernel(&f, &q, K, Kt, tt);
            static const size_t features[] = {1, 17, 31, 90};
            static const double lambda[] = {1e-2, 0.7};
            for (size_t k = 0; k < 8; k++) {
                const size_t N = features[k / 2];
                const kspec_ridge_point p = predict(r, N, lambda[k % 2]);
                const oracle_one_point want =
                    oracle_one(q.n, q.nt, K, Kt, tt, q.y, q.yt, (real)N, lambda[k % 2]);
                CHECK_CLOSE(p.delta_cos, (double)want.delta, 1e-9);
                CHECK_CLOSE(p.train_mse, (double)want.train, 1e-8);
                if (q.nt) CHECK_CLOSE(p.test_mse, (double)want.test, 1e-8);
                CHECK_MSG(p.iterations <= 25, "%d steps", p.iterations);
                CHECK(isnan(p.delta_sin) && p.state == KSPEC_RIDGE_STATE_CONVERGED);
            }
            kspec_ridge_close(r);
            free_problem(&q);
        }
}

/* Features less their means over the training rows: the kernel centred as the definition has it */
static void oracle_center(const problem *q, square K, square Kt, real *tt) {
    static square C, Ct;
    const real n = (real)q->n;
    for (size_t i = 0; i < q->n + q->nt; i++)
        for (size_t j = 0; j < q->n; j++) {
            const int test = i >= q->n;
            const real *row = test ? Kt[i - q->n] : K[i];
            real sum = row[j];
            for (size_t k = 0; k < q->n; k++) sum -= row[k] / n + K[k][j] / n;
            for (size_t k = 0; k < q->n * q->n; k++) sum += K[k / q->n][k % q->n] / (n * n);
            (test ? Ct[i - q->n] : C[i])[j] = sum;
        }
    for (size_t t = 0; t < q->nt; t++) {
        for (size_t k = 0; k < q->n; k++) tt[t] -= 2 * Kt[t][k] / n;
        for (size_t k = 0; k < q->n * q->n; k++) tt[t] += K[k / q->n][k % q->n] / (n * n);
    }
    memcpy(K, C, sizeof C), memcpy(Kt, Ct, sizeof Ct);
}

static void subtract_mean(const problem *q) {
    double mean = 0;
    for (size_t i = 0; i < q->n; i++) mean += q->y[i] / (double)q->n;
    for (size_t i = 0; i < q->n; i++) q->y[i] -= mean;
    for (size_t i = 0; i < q->nt; i++) q->yt[i] -= mean;
}

TEST(intercept) {
    static square K, Kt;
    real tt[ORACLE_MAX];
    for (int kind = KSPEC_RIDGE_ACTIVATION_RELU; kind <= KSPEC_RIDGE_ACTIVATION_PHASES; kind++) {
        problem q = make_problem(95, 24, 17, 5);
        const ks_activation f = {(kspec_ridge_activation)kind, 0.3};
        const kspec_ridge_opts o = {.size = sizeof o, .activation = f.kind, .slope = 0.3, .intercept = 1};
        kspec_ridge *r = open_problem(&q, &o);
        subtract_mean(&q);
        oracle_kernel(&f, &q, K, Kt, tt);
        oracle_center(&q, K, Kt, tt);
        for (size_t N = 9; N < 100; N *= 3) {
            const kspec_ridge_point p = predict(r, N, 0.05);
            const oracle_one_point want = oracle_one(q.n, q.nt, K, Kt, tt, q.y, q.yt, (real)N, 0.05L);
            CHECK_CLOSE(p.train_mse, (double)want.train, 1e-8);
            CHECK_CLOSE(p.test_mse, (double)want.test, 1e-8);
        }
        double lambda = 0;
        kspec_ridge_result *none;
        kspec_error err;
        CHECK_FAILS(kspec_ridge_predict(r, (size_t[]){9}, 1, &lambda, 1, &none, &err), KSPEC_E_ARG, err,
                    "lambda 0 and an intercept");
        kspec_ridge_close(r);
        free_problem(&q);
    }
}

/* Pairs with an intercept: two deltas, which are one far from the origin; and the regressions themselves.
 * Targets and rows far from zero make it matter. Fixed seeds: within 8% of the mean of 40 draws. */
TEST(intercepts_of_regressions) {
    problem q = make_problem(12, 60, 41, 3), near = make_problem(12, 60, 41, 3);
    for (size_t k = 0; k < q.n * q.p; k++) q.X[k] += 50;
    for (size_t k = 0; k < q.nt * q.p; k++) q.Xt[k] += 50;
    for (size_t i = 0; i < q.n; i++) q.y[i] += 30, near.y[i] += 30;
    for (size_t i = 0; i < q.nt; i++) q.yt[i] += 30, near.yt[i] += 30;
    kspec_ridge_opts o = {.size = sizeof o, .intercept = 1, .seed = 3};
    kspec_ridge *pairs = open_problem(&q, &o), *two = open_problem(&near, &o);
    o.activation = KSPEC_RIDGE_ACTIVATION_PHASES;
    kspec_ridge *phases = open_problem(&q, &o);
    for (size_t N = 10; N < 200; N *= 4) {
        const double lambda = 1e-2, twice = 2e-2;
        kspec_ridge_measured m[3];
        const kspec_ridge_point a = predict(pairs, N, lambda), b = predict(phases, 2 * N, twice),
                                c = predict(two, N, lambda);
        CHECK_CLOSE(a.train_mse, b.train_mse, 1e-8);
        CHECK_CLOSE(a.test_mse, b.test_mse, 1e-8);
        CHECK_CLOSE(a.kernel_test_mse, b.kernel_test_mse, 1e-8);
        measure(pairs, N, &lambda, 1, 40, m), measure(phases, 2 * N, &twice, 1, 40, m + 1);
        measure(two, N, &lambda, 1, 40, m + 2);
        for (int k = 0; k < 3; k++) {
            const double want = k < 2 ? a.test_mse : c.test_mse;
            CHECK_MSG(fabs(want / m[k].test_mse - 1) < 0.08, "N = %zu, %d: %g, measured %g", N, k, want,
                      m[k].test_mse);
        }
    }
    kspec_ridge_close(pairs), kspec_ridge_close(phases), kspec_ridge_close(two);
    free_problem(&q), free_problem(&near);
}

/* lambda = 0 is the limit of small ones, and not there at N = n */
TEST(ridgeless) {
    problem q = make_problem(5, 24, 15, 6);
    const kspec_ridge_opts o = {.size = sizeof o, .activation = KSPEC_RIDGE_ACTIVATION_RELU};
    kspec_ridge *r = open_problem(&q, &o);
    for (size_t N = 12; N <= 48; N += 12) {
        const kspec_ridge_point limit = predict(r, N, 0), near = predict(r, N, 1e-11);
        if (N == 24) {
            CHECK(limit.state == KSPEC_RIDGE_STATE_DIVERGENT && isnan(limit.test_mse));
            continue;
        }
        CHECK_CLOSE(limit.test_mse, near.test_mse, 1e-5);
        CHECK(N > 24 ? limit.theta_cos == 0 : fabs(limit.theta_cos / near.theta_cos - 1) < 1e-6);
        CHECK(N < 24 ? isinf(limit.delta_cos) : limit.train_mse == 0);
        CHECK_CLOSE(limit.kernel_test_mse, near.kernel_test_mse, 1e-5);
    }
    kspec_ridge_close(r);
    free_problem(&q);
}

/* Far from the origin both of Fourier's kernels are half the Gaussian one: N pairs are 2N random phases. */
TEST(pairs_are_phases) {
    problem q = make_problem(12, 40, 21, 3);
    for (size_t k = 0; k < q.n * q.p; k++) q.X[k] += 50;
    for (size_t k = 0; k < q.nt * q.p; k++) q.Xt[k] += 50;
    const kspec_ridge_opts o = {.size = sizeof o, .activation = KSPEC_RIDGE_ACTIVATION_PHASES};
    kspec_ridge *pairs = open_problem(&q, NULL), *phases = open_problem(&q, &o);
    for (size_t N = 5; N < 100; N *= 4) {
        const kspec_ridge_point a = predict(pairs, N, 1e-2), b = predict(phases, 2 * N, 2e-2);
        CHECK_CLOSE(a.train_mse, b.train_mse, 1e-8);
        CHECK_CLOSE(a.test_mse, b.test_mse, 1e-8);
        CHECK_CLOSE(a.delta_cos, b.delta_cos, 1e-8);
        CHECK_CLOSE(a.kernel_test_mse, b.kernel_test_mse, 1e-8);
    }
    kspec_ridge_close(pairs);
    kspec_ridge_close(phases);
    free_problem(&q);
}

/* Fixed seeds; at n = 120 the prediction is within 8% of the mean of 40 draws (2% on average). */
TEST(regressions) {
    problem q = make_problem(31, 120, 100, 20);
    double total = 0;
    size_t count = 0;
    for (int kind = KSPEC_RIDGE_ACTIVATION_RELU; kind <= KSPEC_RIDGE_ACTIVATION_PHASES; kind++) {
        const kspec_ridge_opts o = {.size = sizeof o, .activation = (kspec_ridge_activation)kind, .seed = 3};
        kspec_ridge *r = open_problem(&q, &o);
        static const double lambda[] = {1, 0.1};
        for (size_t N = 40; N <= 360; N *= 3, count += 2) {
            kspec_ridge_point p[2];
            kspec_ridge_measured m[2];
            predict_all(r, N, lambda, 2, p);
            measure(r, N, lambda, 2, 40, m);
            for (int l = 0; l < 2; l++) {
                const double off = fabs(p[l].test_mse / m[l].test_mse - 1);
                CHECK_MSG(off < 0.08, "function %d, N = %zu, lambda %g: %g, measured %g", kind, N, lambda[l],
                          p[l].test_mse, m[l].test_mse);
                total += off;
            }
        }
        kspec_ridge_close(r);
    }
    CHECK_MSG(total / (double)count < 0.02, "off by %g on average", total / (double)count);
    free_problem(&q);
}

/* ---- preparing the data ---- */

/* Standardising and centring by the library are those by hand */
TEST(prepared_data) {
    problem q = make_problem(8, 30, 12, 4), by_hand = make_problem(8, 30, 12, 4);
    for (size_t i = 0; i < q.n; i++) q.y[i] += 7, q.X[i * 4 + 3] = 5; /* a constant column */
    for (size_t i = 0; i < q.nt; i++) q.yt[i] += 7, q.Xt[i * 4 + 3] = 6;
    double mean_y = 0;
    for (size_t i = 0; i < q.n; i++) mean_y += q.y[i] / 30;
    for (size_t j = 0; j < 4; j++) {
        double mean = 0, var = 0;
        for (size_t i = 0; i < 30; i++) mean += q.X[i * 4 + j] / 30;
        for (size_t i = 0; i < 30; i++) var += (q.X[i * 4 + j] - mean) * (q.X[i * 4 + j] - mean) / 30;
        for (size_t i = 0; i < 30; i++)
            by_hand.X[i * 4 + j] = j == 3 ? 0 : (q.X[i * 4 + j] - mean) / sqrt(var);
        for (size_t i = 0; i < 12; i++)
            by_hand.Xt[i * 4 + j] = j == 3 ? 0 : (q.Xt[i * 4 + j] - mean) / sqrt(var);
    }
    double error = 0, train = 0;
    for (size_t i = 0; i < 30; i++) by_hand.y[i] = q.y[i] - mean_y, train += by_hand.y[i] * by_hand.y[i] / 30;
    for (size_t i = 0; i < 12; i++)
        by_hand.yt[i] = q.yt[i] - mean_y, error += by_hand.yt[i] * by_hand.yt[i] / 12;
    const kspec_ridge_opts o = {.size = sizeof o, .standardize = 1, .center_target = 1};
    kspec_ridge *a = open_problem(&q, &o), *b = open_problem(&by_hand, NULL);
    const kspec_ridge_point p = predict(a, 10, 0.1), want = predict(b, 10, 0.1);
    CHECK_CLOSE(p.train_mse, want.train_mse, 1e-10);
    CHECK_CLOSE(p.test_mse, want.test_mse, 1e-10);
    CHECK_CLOSE(p.train_r2, 1 - p.train_mse / train, 1e-10);
    kspec_ridge_result *out;
    kspec_error err;
    CHECK(kspec_ridge_predict(a, (size_t[]){10}, 1, (double[]){0.1}, 1, &out, &err) == KSPEC_OK);
    CHECK_CLOSE(out->mean_test_mse, error, 1e-12);
    CHECK_CLOSE(out->mean_train_mse, train, 1e-12);
    CHECK(out->rows == 30 && out->test_rows == 12);
    kspec_free(out);
    kspec_ridge_close(a);
    kspec_ridge_close(b);
    free_problem(&q);
    free_problem(&by_hand);
}

/* A seeded split takes each row once: the sums over both sets are those of all rows. */
TEST(test_fraction) {
    problem q = make_problem(4, 41, 0, 3);
    kspec_error err;
    kspec_matrix X = view(q.X, 41, 3), y = view(q.y, 41, 1);
    double first = 0;
    for (uint64_t seed = 0; seed < 4; seed++) {
        kspec_ridge_opts o = {.size = sizeof o, .test_fraction = 0.3, .seed = seed % 2};
        kspec_ridge *r;
        CHECK(kspec_ridge_open(&X, &y, NULL, NULL, &o, &r, &err) == KSPEC_OK);
        kspec_ridge_result *out;
        CHECK(kspec_ridge_predict(r, (size_t[]){5}, 1, (double[]){0.1}, 1, &out, &err) == KSPEC_OK);
        CHECK(out->rows == 29 && out->test_rows == 12);
        if (seed == 0) first = out->points[0]->test_mse;
        CHECK((out->points[0]->test_mse == first) == (seed % 2 == 0));
        kspec_free(out);
        kspec_ridge_close(r);
    }
    static const double bad[] = {1, -0.1, 0.001, 0.999, NAN};
    for (size_t k = 0; k < 5; k++) {
        kspec_ridge_opts o = {.size = sizeof o, .test_fraction = bad[k]};
        kspec_ridge *r;
        CHECK(kspec_ridge_open(&X, &y, NULL, NULL, &o, &r, &err) == KSPEC_E_ARG && !r);
        CHECK_MSG(strstr(err.msg, "test_fraction"), "%s", err.msg);
    }
    kspec_ridge_opts o = {.size = sizeof o, .test_fraction = 0.5};
    kspec_ridge *r;
    CHECK_FAILS(kspec_ridge_open(&X, &y, &X, &y, &o, &r, &err), KSPEC_E_ARG, err, "cannot be combined");
    o.test_fraction = 0, o.activation = (kspec_ridge_activation)11;
    CHECK_FAILS(kspec_ridge_open(&X, &y, NULL, NULL, &o, &r, &err), KSPEC_E_ARG, err,
                "unknown activation 11");
    free_problem(&q);
}

/* ---- recommendations ---- */

static kspec_ridge_recommend_result *recommend(const problem *q, const kspec_ridge_opts *o) {
    kspec_error err;
    kspec_ridge_recommend_result *out = NULL;
    kspec_ridge *r = open_problem(q, o);
    CHECK_MSG(kspec_ridge_recommend(r, 0, &out, &err) == KSPEC_OK, "%s", err.msg);
    kspec_ridge_close(r);
    return out;
}

/* Its errors are those that a handle with that sigma predicts, and no smaller N is within 2% of the best. */
TEST(recommendation) {
    problem q = make_problem(19, 60, 40, 5);
    for (int kind = 0; kind < 2; kind++) {
        const kspec_ridge_activation of[] = {KSPEC_RIDGE_ACTIVATION_FOURIER, KSPEC_RIDGE_ACTIVATION_ERF};
        kspec_ridge_opts o = {.size = sizeof o, .activation = of[kind]};
        kspec_ridge_recommend_result *a = recommend(&q, &o);
        CHECK(a->splits == 1 && a->rows == 60 && a->test_rows == 40);
        CHECK(a->recommended->test_mse <= 1.02 * a->best->test_mse && a->recommended->N <= a->best->N);
        int found = 0;
        for (size_t k = 0; k < a->feature_count; k++) {
            const kspec_ridge_curve_point *p = a->features[k];
            CHECK(k == 0 || p->N > a->features[k - 1]->N);
            CHECK(p->test_mse >= a->best->test_mse);
            if (p->N < a->recommended->N) CHECK(p->test_mse > 1.02 * a->best->test_mse);
            found += p->N == a->recommended->N;
        }
        CHECK(found == 1);
        for (size_t k = 0; k < a->lambda_count; k++)
            CHECK(a->lambdas[k]->test_mse >= a->recommended->test_mse);
        for (size_t k = 0; k < a->sigma_count; k++) CHECK(a->sigmas[k]->test_mse >= a->recommended->test_mse);
        /* every point of the curve by sigma, by a handle of its own */
        for (size_t k = 0; k < a->sigma_count; k++) {
            const kspec_ridge_curve_point *p = a->sigmas[k];
            const int pairs = of[kind] == KSPEC_RIDGE_ACTIVATION_FOURIER ? 2 : 1;
            kspec_ridge_opts own = {.size = sizeof own, .sigma = p->sigma, .activation = of[kind]};
            if (pairs == 2) own.activation = KSPEC_RIDGE_ACTIVATION_PHASES;
            kspec_ridge *r = open_problem(&q, &own);
            const kspec_ridge_point want = predict(r, (size_t)pairs * p->N, pairs * p->lambda);
            CHECK_CLOSE(p->test_mse, want.test_mse, 1e-7);
            CHECK_CLOSE(p->train_mse, want.train_mse, 1e-7);
            kspec_ridge_close(r);
        }
        kspec_free(a);
    }
    free_problem(&q);
}

TEST(recommendation_by_threads) {
    problem q = make_problem(23, 90, 0, 5);
    kspec_ridge_recommend_result *first = NULL;
    for (int threads = 1; threads <= 3; threads++) {
        kspec_ridge_opts o = {.size = sizeof o, .test_fraction = 0.3, .threads = threads, .center_target = 1};
        kspec_ridge_recommend_result *a = recommend(&q, &o);
        CHECK(a->splits == 5 && a->rows == 63 && a->test_rows == 27);
        if (first)
            for (size_t k = 0; k < a->feature_count; k++)
                CHECK(memcmp(a->features[k], first->features[k], sizeof **a->features) == 0);
        else
            first = a;
        if (a != first) kspec_free(a);
    }
    kspec_free(first);
    free_problem(&q);
}

/* Is the end of the search for `what` doubted? */
static int end_is_doubted(const kspec_ridge_recommend_result *a, const char *what) {
    for (size_t k = 0; k < a->doubt_count; k++)
        if (a->doubts[k]->code == KSPEC_DOUBT_SEARCH_END && strcmp(a->doubts[k]->where, what) == 0) return 1;
    return 0;
}

/* y is a sine of the first column. A slow one with much noise is nearly linear: large sigmas err alike. */
TEST(only_an_end_where_the_error_still_falls_is_doubted) {
    int ends = 0, falling = 0;
    for (int k = 0; k < 4; k++) {
        problem q = make_problem(40 + (uint64_t)k, 150, 100, 2);
        const double speed = (double[]){0.05, 0.3, 12, 20}[k], noise = k == 0 ? 0.3 : 0.01;
        kspec_random_normal(1, 5, 0, q.n, q.y);
        kspec_random_normal(1, 6, 0, q.nt, q.yt);
        for (size_t i = 0; i < q.n; i++) q.y[i] = sin(speed * q.X[i * 2]) / speed + noise * q.y[i];
        for (size_t i = 0; i < q.nt; i++) q.yt[i] = sin(speed * q.Xt[i * 2]) / speed + noise * q.yt[i];
        kspec_ridge_recommend_result *a = recommend(&q, NULL);
        size_t at = 0, last = a->sigma_count - 1;
        while (a->sigmas[at]->sigma != a->recommended->sigma) at++;
        const size_t inner = at == 0 ? 1 : last - 1;
        const int end = at == 0 || at == last;
        const int falls = end && a->sigmas[inner]->test_mse > 1.02 * a->sigmas[at]->test_mse;
        CHECK_MSG(end_is_doubted(a, "sigma") == falls, "speed %g: sigma %zu of %zu", speed, at, last);
        ends += end, falling += falls;
        kspec_free(a);
        free_problem(&q);
    }
    CHECK_MSG(ends > falling && falling > 0, "%d ends, %d where the error falls", ends, falling);
}

/* Noise alone with many columns: the ridgeless error peaks where the columns are as many as the rows. */
TEST(double_descent) {
    problem q = make_problem(3, 60, 200, 30);
    kspec_random_normal(1, 5, 0, q.n, q.y);
    kspec_random_normal(1, 6, 0, q.nt, q.yt);
    for (size_t i = 0; i < q.n; i++) q.y[i] += 2 * q.X[i * 30];
    for (size_t i = 0; i < q.nt; i++) q.yt[i] += 2 * q.Xt[i * 30];
    kspec_ridge_recommend_result *a = recommend(&q, NULL);
    CHECK(a->peak && a->peak->N == 30);
    kspec_free(a);
    free_problem(&q);
}

int main(void) {
    RUN(kernels_by_quadrature);
    RUN(formulas_in_long_double);
    RUN(intercept);
    RUN(intercepts_of_regressions);
    RUN(ridgeless);
    RUN(pairs_are_phases);
    RUN(regressions);
    RUN(prepared_data);
    RUN(test_fraction);
    RUN(recommendation);
    RUN(recommendation_by_threads);
    RUN(only_an_end_where_the_error_still_falls_is_doubted);
    RUN(double_descent);
    return test_done();
}
