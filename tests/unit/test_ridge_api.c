/* What surrounds the formulas: inputs, threads, targets of several columns, searches, measured errors. */
#include "base/sort.h"
#include "base/streams.h"
#include "help/ridge.h"

/* ---- inputs ---- */

/* center, scale, sigma and noise do what they say: the same by hand gives the same */
TEST(normalisation) {
    problem q = make_problem(8, 41, 17, 7);
    for (size_t k = 0; k < q.n * q.p; k++) q.X[k] = 3 * q.X[k] + 5;
    for (size_t k = 0; k < q.nt * q.p; k++) q.Xt[k] = 3 * q.Xt[k] + 5;
    kspec_ridge_opts o = {.size = sizeof o, .center = 1, .unit_length = 1, .sigma = 0.7};
    kspec_ridge *r = open_problem(&q, &o);
    kspec_ridge_point p = predict(r, 15, 0.01);
    CHECK(kspec_ridge_sigma(r) == 0.7);
    kspec_ridge_close(r);
    long double square = 0;
    for (size_t j = 0; j < q.p; j++) {
        long double mean = 0;
        for (size_t i = 0; i < q.n; i++) mean += q.X[i * q.p + j];
        for (size_t i = 0; i < q.nt; i++) mean += q.Xt[i * q.p + j];
        mean /= (long double)(q.n + q.nt);
        for (size_t i = 0; i < q.n; i++) q.X[i * q.p + j] -= (double)mean;
        for (size_t i = 0; i < q.nt; i++) q.Xt[i * q.p + j] -= (double)mean;
    }
    for (size_t k = 0; k < q.n * q.p; k++) square += q.X[k] * q.X[k];
    for (size_t k = 0; k < q.nt * q.p; k++) square += q.Xt[k] * q.Xt[k];
    double f = 1 / sqrt((double)square / (double)(q.n + q.nt)) / 0.7;
    for (size_t k = 0; k < q.n * q.p; k++) q.X[k] *= f;
    for (size_t k = 0; k < q.nt * q.p; k++) q.Xt[k] *= f;
    r = open_problem(&q, NULL);
    kspec_ridge_point w = predict(r, 15, 0.01);
    CHECK_CLOSE(p.delta_cos, w.delta_cos, 1e-11);
    CHECK_CLOSE(p.delta_sin, w.delta_sin, 1e-11);
    CHECK_CLOSE(p.train_mse, w.train_mse, 1e-11);
    CHECK_CLOSE(p.test_mse, w.test_mse, 1e-11);
    kspec_ridge_close(r);
    free_problem(&q);
}

TEST(median_distance) {
    for (size_t n = 2; n <= 47; n += 15) {
        problem q = make_problem(n, n, 0, 3);
        if (n > 20) memcpy(q.X + 3, q.X, 3 * sizeof *q.X); /* ties */
        double *d = malloc(n * n * sizeof *d);
        size_t c = 0;
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j < i; j++) {
                double s = 0;
                for (size_t k = 0; k < 3; k++) s += pow(q.X[i * 3 + k] - q.X[j * 3 + k], 2);
                d[c++] = sqrt(s);
            }
        ks_sort_ascending(d, c);
        kspec_ridge_opts o = {.size = sizeof o, .median_sigma = 1};
        kspec_ridge *r = open_problem(&q, &o);
        CHECK_CLOSE(kspec_ridge_sigma(r), (d[(c - 1) / 2] + d[c / 2]) / 2, 1e-10);
        kspec_ridge_close(r);
        free(d);
        free_problem(&q);
    }
}

/*
 * Noise on the training rows makes a test set of them; with hardly any the test error is the training error
 */
TEST(noise) {
    problem q = make_problem(6, 50, 0, 20);
    double last = 0;
    for (double s = 1e-9; s < 1; s *= 10) {
        kspec_ridge_opts o = {.size = sizeof o, .test_noise = s, .unit_length = 1, .seed = 4};
        kspec_ridge *r = open_problem(&q, &o);
        kspec_ridge_point p = predict(r, 25, 1e-3);
        if (s < 1e-8) CHECK_CLOSE(p.test_mse, p.train_mse, 1e-6);
        if (s > 0.005) CHECK_MSG(p.test_mse > last, "noise %g: %g after %g", s, p.test_mse, last);
        last = p.test_mse;
        kspec_ridge_close(r);
    }
    CHECK(last > 0.1);
    free_problem(&q);
}

/* Columns of y are regressions of their own; strides do not matter */
TEST(columns_and_strides) {
    enum { N = 30, NT = 11, P = 4, M = 3 };
    problem q = make_problem(15, N, NT, P);
    double Y[M * N], Yt[M * NT], X[P * N];
    kspec_random_normal(1, 0, 0, M * N, Y);
    kspec_random_normal(2, 0, 0, M * NT, Yt);
    for (size_t i = 0; i < N; i++)
        for (size_t k = 0; k < P; k++) X[k * N + i] = q.X[i * P + k];
    kspec_matrix x = {X, N, P, 1, N}, y = {Y, N, M, 1, N}; /* Fortran order */
    kspec_matrix xt = view(q.Xt, NT, P), yt = {Yt, NT, M, 1, NT};
    kspec_ridge *r;
    CHECK(kspec_ridge_open(&x, &y, &xt, &yt, NULL, &r, NULL) == KSPEC_OK);
    const double lambda[] = {0.1, 1e-3};
    kspec_ridge_point one[2];
    kspec_ridge_result *all;
    double mean[2][2] = {{0}};
    CHECK(kspec_ridge_predict(r, &(size_t){12}, 1, lambda, 2, &all, NULL) == KSPEC_OK);
    CHECK(all->count == 2 && all->targets == M && all->seconds >= 0 && !all->at_low && !all->at_high);
    for (size_t j = 0; j < M; j++) {
        memcpy(q.y, Y + j * N, sizeof(double) * N);
        memcpy(q.yt, Yt + j * NT, sizeof(double) * NT);
        kspec_ridge *s = open_problem(&q, NULL);
        predict_all(s, 12, lambda, 2, one);
        for (int l = 0; l < 2; l++) {
            const kspec_ridge_point *p = all->points[l];
            CHECK(p->delta_cos == one[l].delta_cos && p->lambda == lambda[l] && p->N == 12);
            CHECK_CLOSE(p->train_columns[j], one[l].train_mse, 1e-11);
            CHECK_CLOSE(p->test_columns[j], one[l].test_mse, 1e-11);
            mean[l][0] += p->train_columns[j] / M, mean[l][1] += p->test_columns[j] / M;
        }
        kspec_ridge_close(s);
    }
    for (int l = 0; l < 2; l++) {
        CHECK_CLOSE(all->points[l]->train_mse, mean[l][0], 1e-14);
        CHECK_CLOSE(all->points[l]->test_mse, mean[l][1], 1e-14);
    }
    kspec_free(all);
    kspec_ridge_close(r);
    free_problem(&q);
}

/* Rows of zeros have no sines: one feature, the constant, is fitted */
TEST(rows_of_zeros) {
    problem q = make_problem(5, 12, 7, 3);
    memset(q.X, 0, q.n * q.p * sizeof *q.X);
    memset(q.Xt, 0, q.nt * q.p * sizeof *q.Xt);
    for (size_t i = 0; i < q.n; i++) q.y[i] = (double)(i % 3);
    for (size_t i = 0; i < q.nt; i++) q.yt[i] = 1;
    kspec_ridge *r = open_problem(&q, NULL);
    for (double lambda = 1; lambda > 1e-7; lambda /= 10) {
        double fit = 5 / (5 + lambda); /* of the mean, 1, by 5 columns of ones */
        kspec_ridge_point p = predict(r, 5, lambda);
        kspec_ridge_measured m;
        CHECK(p.delta_sin == 0 && p.delta_cos > 0 && p.state != KSPEC_RIDGE_STATE_UNFINISHED);
        CHECK_MSG(p.delta_error < 1e-8, "lambda %g: delta_error %g", lambda, p.delta_error);
        measure(r, 5, &lambda, 1, 2, &m);
        CHECK_CLOSE(m.train_mse, 2.0 / 3 + (1 - fit) * (1 - fit), 1e-9);
        CHECK(fabs(p.kernel_test_mse - (1 - fit) * (1 - fit)) < 1e-12);
        CHECK_CLOSE(p.train_mse, m.train_mse, 0.2); /* 5 features are few for a theory of many */
    }
    double zero = 0;
    kspec_ridge_result *out;
    kspec_error e;
    CHECK_FAILS(kspec_ridge_predict(r, &(size_t){5}, 1, &zero, 1, &out, &e), KSPEC_E_NUMERIC, e, "lambda 0");
    CHECK_FAILS(kspec_ridge_predict(r, &(size_t){9}, 1, &zero, 1, &out, &e), KSPEC_E_NUMERIC, e, "lambda 0");
    kspec_ridge_close(r);
    free_problem(&q);
}

static int stop_after(void *ctx, double fraction) {
    CHECK(fraction >= 0 && fraction <= 1);
    return --*(int *)ctx < 0;
}

TEST(refusals) {
    problem q = make_problem(1, 10, 6, 3);
    kspec_matrix X = view(q.X, 10, 3), y = view(q.y, 10, 1), Xt = view(q.Xt, 6, 3), yt = view(q.yt, 6, 1);
    kspec_matrix shorter = view(q.y, 9, 1), narrow = view(q.Xt, 6, 2), wide = view(q.yt, 3, 2),
                 none = view(q.X, 0, 3);
    kspec_matrix three = view(q.Xt, 3, 3);
    kspec_ridge *r = (kspec_ridge *)(uintptr_t)1;
    kspec_error e;
    CHECK_FAILS(kspec_ridge_open(&X, &shorter, NULL, NULL, NULL, &r, &e), KSPEC_E_ARG, e,
                "10 training rows, but 9 training targets");
    CHECK(r == NULL);
    CHECK_FAILS(kspec_ridge_open(&X, &y, &narrow, &yt, NULL, &r, &e), KSPEC_E_ARG, e,
                "test rows have 2 columns, but training rows have 3");
    CHECK_FAILS(kspec_ridge_open(&X, &y, &three, &wide, NULL, &r, &e), KSPEC_E_ARG, e,
                "test targets have 2 columns");
    CHECK_FAILS(kspec_ridge_open(&X, &y, &Xt, &y, NULL, &r, &e), KSPEC_E_ARG, e,
                "6 test rows, but 10 test targets");
    CHECK_FAILS(kspec_ridge_open(&X, &y, &Xt, NULL, NULL, &r, &e), KSPEC_E_ARG, e, "go together");
    CHECK_FAILS(kspec_ridge_open(&none, &y, NULL, NULL, NULL, &r, &e), KSPEC_E_ARG, e, "empty: 0 x 3");
    kspec_ridge_opts o = {.size = sizeof o, .sigma = -1};
    CHECK_FAILS(kspec_ridge_open(&X, &y, NULL, NULL, &o, &r, &e), KSPEC_E_ARG, e, "sigma -1");
    o = (kspec_ridge_opts){.size = sizeof o, .sigma = 1e-200};
    CHECK_FAILS(kspec_ridge_open(&X, &y, NULL, NULL, &o, &r, &e), KSPEC_E_ARG, e, "exceed 1e300");
    o = (kspec_ridge_opts){.size = sizeof o, .tolerance = 2};
    CHECK_FAILS(kspec_ridge_open(&X, &y, NULL, NULL, &o, &r, &e), KSPEC_E_ARG, e, "tolerance 2");
    o = (kspec_ridge_opts){.size = sizeof o, .solver = 7};
    CHECK_FAILS(kspec_ridge_open(&X, &y, NULL, NULL, &o, &r, &e), KSPEC_E_ARG, e, "solver 7");
    o = (kspec_ridge_opts){.size = sizeof o,
                           .solver = KSPEC_RIDGE_SOLVER_FIXED_POINT,
                           .activation = KSPEC_RIDGE_ACTIVATION_RELU};
    CHECK_FAILS(kspec_ridge_open(&X, &y, NULL, NULL, &o, &r, &e), KSPEC_E_ARG, e, "by Newton's method only");
    o = (kspec_ridge_opts){.size = sizeof o, .device = (kspec_device)7};
    CHECK_FAILS(kspec_ridge_open(&X, &y, NULL, NULL, &o, &r, &e), KSPEC_E_ARG, e, "unknown device 7");
    o = (kspec_ridge_opts){.size = sizeof o, .test_noise = 1};
    CHECK_FAILS(kspec_ridge_open(&X, &y, &Xt, &yt, &o, &r, &e), KSPEC_E_ARG, e, "test_noise");
    o = (kspec_ridge_opts){.size = sizeof o, .max_iterations = -1};
    CHECK_FAILS(kspec_ridge_open(&X, &y, NULL, NULL, &o, &r, &e), KSPEC_E_ARG, e, "max_iterations -1");
    q.X[4] = NAN;
    CHECK_FAILS(kspec_ridge_open(&X, &y, NULL, NULL, NULL, &r, &e), KSPEC_E_DATA, e,
                "the matrix of training rows: row 1, column 1 (from 0) is NaN");
    q.X[4] = 1e200;
    CHECK_FAILS(kspec_ridge_open(&X, &y, NULL, NULL, NULL, &r, &e), KSPEC_E_DATA, e, "exceeds 1e300");
    o = (kspec_ridge_opts){.size = sizeof o, .center = 1, .unit_length = 1};
    for (size_t k = 0; k < 30; k++) q.X[k] = 2;
    CHECK_FAILS(kspec_ridge_open(&X, &y, NULL, NULL, &o, &r, &e), KSPEC_E_ARG, e, "cannot be scaled");
    o = (kspec_ridge_opts){.size = sizeof o, .median_sigma = 1};
    CHECK_FAILS(kspec_ridge_open(&X, &y, NULL, NULL, &o, &r, &e), KSPEC_E_DATA, e,
                "the median distance is 0; give sigma");
    o.sigma = 2;
    CHECK_FAILS(kspec_ridge_open(&X, &y, NULL, NULL, &o, &r, &e), KSPEC_E_ARG, e,
                "sigma 2 and median_sigma: give only one of them");
    CHECK_FAILS(kspec_ridge_open(NULL, &y, NULL, NULL, NULL, &r, &e), KSPEC_E_ARG, e,
                "the matrix of training rows is missing (NULL)");
    CHECK_FAILS(kspec_ridge_open(&X, NULL, NULL, NULL, NULL, &r, &e), KSPEC_E_ARG, e,
                "the matrix of training targets is missing (NULL)");
    kspec_matrix huge = {q.X, 90000, 1, 0, 0}, huge_y = {q.y, 90000, 1, 0, 0}; /* 259 GB */
    CHECK_FAILS(kspec_ridge_open(&huge, &huge_y, NULL, NULL, NULL, &r, &e), KSPEC_E_NOMEM, e,
                "a prediction for 90000 training and 0 test rows needs 259202.2 MB,");
    huge.rows = huge_y.rows = 200000;
    CHECK_FAILS(kspec_ridge_open(&huge, &huge_y, NULL, NULL, NULL, &r, &e), KSPEC_E_ARG, e,
                "200000 rows exceed");
    CHECK(r == NULL);
    free_problem(&q);
}

TEST(refusals_of_an_open_prediction) {
    problem q = make_problem(1, 10, 6, 3);
    memcpy(q.X + 3, q.X, 3 * sizeof(double)); /* row 1 repeats row 0 */
    kspec_ridge *r = open_problem(&q, NULL);
    kspec_ridge_result *p = (kspec_ridge_result *)(uintptr_t)1;
    kspec_ridge_empirical_result *m = (kspec_ridge_empirical_result *)(uintptr_t)1;
    kspec_error e;
    double l = -0.5, zero = 0, one = 1;
    CHECK_FAILS(kspec_ridge_predict(r, &(size_t){5}, 1, &l, 1, &p, &e), KSPEC_E_ARG, e, "lambda -0.5");
    CHECK(p == NULL);
    CHECK_FAILS(kspec_ridge_predict(r, &(size_t){5}, 1, &one, 0, &p, &e), KSPEC_E_ARG, e,
                "the list of lambda is empty");
    CHECK_FAILS(kspec_ridge_predict(r, &(size_t){5}, 1, NULL, 1, &p, &e), KSPEC_E_ARG, e,
                "the list of lambda is missing (NULL)");
    CHECK_FAILS(kspec_ridge_predict(r, (size_t[]){5}, 0, &one, 1, &p, &e), KSPEC_E_ARG, e,
                "the list of N is empty");
    CHECK_FAILS(kspec_ridge_predict(r, NULL, 1, &one, 1, &p, &e), KSPEC_E_ARG, e,
                "the list of N is missing (NULL)");
    CHECK_FAILS(kspec_ridge_predict(r, (size_t[]){5, 0}, 2, &one, 1, &p, &e), KSPEC_E_ARG, e,
                "N = 0 is below 1");
    CHECK_FAILS(kspec_ridge_predict(r, (size_t[]){5}, 1, &l, 1, &p, &e), KSPEC_E_ARG, e, "lambda -0.5");
    l = 1e-200;
    CHECK_FAILS(kspec_ridge_predict(r, &(size_t){5}, 1, &l, 1, &p, &e), KSPEC_E_ARG, e,
                "neither 0 nor between");
    l = INFINITY;
    CHECK_FAILS(kspec_ridge_predict(r, &(size_t){5}, 1, &l, 1, &p, &e), KSPEC_E_ARG, e,
                "neither 0 nor between");
    l = NAN;
    CHECK_FAILS(kspec_ridge_predict(r, &(size_t){5}, 1, &l, 1, &p, &e), KSPEC_E_ARG, e, "lambda nan");
    CHECK_FAILS(kspec_ridge_predict(r, &(size_t){0}, 1, &one, 1, &p, &e), KSPEC_E_ARG, e, "N = 0 is below 1");
    CHECK_FAILS(kspec_ridge_predict(r, &(size_t){7}, 1, &zero, 1, &p, &e), KSPEC_E_NUMERIC, e,
                "row 1 (from 0) repeats");
    CHECK_FAILS(kspec_ridge_empirical(r, 5, &l, 1, 1, &m, &e), KSPEC_E_ARG, e, "lambda nan");
    CHECK(m == NULL);
    CHECK_FAILS(kspec_ridge_empirical(r, 5, NULL, 1, 1, &m, &e), KSPEC_E_ARG, e, "missing (NULL)");
    CHECK_FAILS(kspec_ridge_empirical(r, 5, &one, 1, 0, &m, &e), KSPEC_E_ARG, e, "draws 0");
    CHECK_FAILS(kspec_ridge_empirical(r, 900000000, &one, 1, 1, &m, &e), KSPEC_E_NOMEM, e,
                "a draw with N = 900000000 for 16 rows needs");
    CHECK_FAILS(kspec_ridge_best_lambda(r, 5, 1, 0.1, &p, &e), KSPEC_E_ARG, e,
                "lambda from 1 to 0.1: the range must be above 0 and increase");
    CHECK_FAILS(kspec_ridge_best_lambda(r, 5, 5e-324, 1e308, &p, &e), KSPEC_E_ARG, e,
                "neither 0 nor between");
    CHECK_FAILS(kspec_ridge_best_lambda(r, 5, 1, INFINITY, &p, &e), KSPEC_E_ARG, e, "neither 0 nor between");
    CHECK_FAILS(kspec_ridge_best_lambda(r, 0, 0.1, 1, &p, &e), KSPEC_E_ARG, e, "N = 0");
    CHECK_FAILS(kspec_ridge_best_features(r, 1, 5, &p, &e), KSPEC_E_ARG, e, "cost of one feature");
    CHECK(predict(r, 4, 0).train_mse > 0); /* 2N below the rank: a limit all the same */
    CHECK(predict(r, 7, 1e-6).state != KSPEC_RIDGE_STATE_DIVERGENT);
    kspec_ridge_close(r);
    for (size_t i = 0; i < 10; i++) memcpy(q.X + 3 * i, q.X + 3 * (i % 4), 3 * sizeof(double)); /* rank 4 */
    r = open_problem(&q, NULL);
    CHECK_FAILS(kspec_ridge_predict(r, &(size_t){3}, 1, &zero, 1, &p, &e), KSPEC_E_NUMERIC, e,
                "rank of at most 2N = 6");
    kspec_ridge_close(r);
    q.nt = 0;
    r = open_problem(&q, NULL);
    CHECK_FAILS(kspec_ridge_best_lambda(r, 5, 0.1, 1, &p, &e), KSPEC_E_ARG, e, "needs a test set");
    kspec_ridge_close(r);
    kspec_ridge_close(NULL);
    kspec_free(NULL);
    kspec_free(NULL);
    free_problem(&q);
}

TEST(cancelled) {
    problem q = make_problem(1, 30, 6, 3);
    for (int k = 0, done = 0; !done; k++) {
        int left = k;
        kspec_ridge_opts o = {.size = sizeof o, .threads = 2, .progress = {stop_after, &left}};
        kspec_matrix X = view(q.X, 30, 3), y = view(q.y, 30, 1), Xt = view(q.Xt, 6, 3), yt = view(q.yt, 6, 1);
        kspec_ridge *r;
        kspec_error e;
        const double lambda[] = {1, 0.1};
        kspec_ridge_result *p = NULL, *best = NULL;
        kspec_ridge_empirical_result *m = NULL;
        kspec_status st = kspec_ridge_open(&X, &y, &Xt, &yt, &o, &r, &e);
        if (!st) st = kspec_ridge_predict(r, &(size_t){5}, 1, lambda, 2, &p, &e);
        if (!st) st = kspec_ridge_empirical(r, 5, lambda, 2, 3, &m, &e);
        if (!st) st = kspec_ridge_best_lambda(r, 5, 0.1, 1, &best, &e);
        CHECK_MSG(st == KSPEC_OK || (st == KSPEC_E_CANCELLED && strstr(e.msg, "cancelled")), "%d: %s",
                  (int)st, e.msg);
        done = st == KSPEC_OK;
        CHECK(done == (best != NULL));
        kspec_free(p);
        kspec_free(best);
        kspec_free(m);
        kspec_ridge_close(r);
        CHECK(k < 5000);
        if (k > 5000) break;
    }
    free_problem(&q);
}

/* ---- the same bits at any thread count ---- */

TEST(threads) {
    problem q = make_problem(2, 300, 210, 9); /* three tiles and a rest */
    kspec_ridge_point p[4][3], best[4];
    kspec_ridge_measured m[4][3];
    for (int t = 1; t <= 3; t++) {
        kspec_ridge_opts o = {.size = sizeof o, .threads = t, .center = 1, .unit_length = 1, .sigma = 0.2};
        kspec_ridge *r = open_problem(&q, &o);
        const double lambda[] = {1e-3, 1, 0};
        kspec_ridge_result *found;
        predict_all(r, 100, lambda, 3, p[t]);
        measure(r, 70, lambda, 3, 4, m[t]);
        CHECK(kspec_ridge_best_lambda(r, 150, 0.01, 1, &found, NULL) == KSPEC_OK);
        take_points(found, &best[t]);
        kspec_ridge_close(r);
        for (int k = 0; k < 3 && t > 1; k++) {
            CHECK(p[t][k].delta_cos == p[1][k].delta_cos && p[t][k].theta_sin == p[1][k].theta_sin);
            CHECK(p[t][k].train_mse == p[1][k].train_mse && p[t][k].test_mse == p[1][k].test_mse);
            CHECK(p[t][k].kernel_test_mse == p[1][k].kernel_test_mse && p[t][k].residual == p[1][k].residual);
            CHECK(m[t][k].train_mse == m[1][k].train_mse && m[t][k].test_sd == m[1][k].test_sd);
            CHECK(best[t].lambda == best[1].lambda && best[t].test_mse == best[1].test_mse);
        }
    }
    free_problem(&q);
}

/* ---- searches ---- */

/* A grid is the predictions of each N, one after the other. */
TEST(grid) {
    problem q = make_problem(3, 30, 20, 4);
    kspec_ridge *r = open_problem(&q, NULL);
    const size_t N[] = {40, 3, 11};
    const double lambda[] = {1e-2, 1, 0, 0.3};
    kspec_ridge_result *all = NULL, *one = NULL;
    kspec_error e;
    CHECK(kspec_ridge_predict(r, N, 3, lambda, 4, &all, &e) == KSPEC_OK && all->count == 12);
    for (size_t k = 0; k < 3; k++) {
        CHECK(kspec_ridge_predict(r, &N[k], 1, lambda, 4, &one, &e) == KSPEC_OK && one->count == 4);
        for (size_t l = 0; l < 4; l++) {
            const kspec_ridge_point *a = all->points[4 * k + l], *b = one->points[l];
            CHECK(a->N == N[k] && a->lambda == lambda[l] && a->iterations == b->iterations);
            CHECK(a->delta_cos == b->delta_cos && a->train_mse == b->train_mse && a->test_mse == b->test_mse);
            CHECK(memcmp(a->test_columns, b->test_columns, all->targets * sizeof(double)) == 0);
        }
        kspec_free(one);
    }
    kspec_free(all);
    kspec_ridge_close(r);
    free_problem(&q);
}

TEST(best_lambda) {
    enum { GRID = 400 };
    problem q = make_problem(33, 40, 60, 10);
    kspec_ridge *r = open_problem(&q, NULL);
    static const size_t features[] = {5, 20, 100};
    for (size_t k = 0; k < 3; k++) {
        double lambda[GRID], least = INFINITY;
        kspec_ridge_point p[GRID], best;
        kspec_ridge_result *found;
        int at = 0;
        for (int g = 0; g < GRID; g++) lambda[g] = pow(10, -6 + 8.0 * g / (GRID - 1));
        predict_all(r, features[k], lambda, GRID, p);
        for (int g = 0; g < GRID; g++)
            if (p[g].test_mse < least) least = p[g].test_mse, at = g;
        CHECK(kspec_ridge_best_lambda(r, features[k], 1e-6, 100, &found, NULL) == KSPEC_OK);
        CHECK(found->count == 1 && !found->at_low && !found->at_high);
        CHECK(found->points[0]->train_columns[0] == found->points[0]->train_mse); /* one column */
        take_points(found, &best);
        CHECK(at > 0 && at < GRID - 1 && best.N == features[k]);
        CHECK_MSG(best.test_mse <= least * (1 + 1e-9), "%.12g at %g, but %.12g at %g", best.test_mse,
                  best.lambda, least, lambda[at]);
        CHECK(best.lambda > lambda[at - 1] && best.lambda < lambda[at + 1]);
        CHECK_CLOSE(best.test_mse, predict(r, features[k], best.lambda).test_mse, 1e-9);
        /* the least of a range that ends before it is at that end */
        CHECK(kspec_ridge_best_lambda(r, features[k], 1e-6, best.lambda / 3, &found, NULL) == KSPEC_OK);
        CHECK(found->at_high && !found->at_low && found->points[0]->lambda == best.lambda / 3);
        kspec_free(found);
        CHECK(kspec_ridge_best_lambda(r, features[k], best.lambda * 3, best.lambda * 4, &found, NULL) ==
              KSPEC_OK);
        CHECK(found->at_low && !found->at_high && found->points[0]->lambda == best.lambda * 3);
        kspec_free(found);
    }
    kspec_ridge_close(r);
    free_problem(&q);
}

TEST(best_features) {
    problem q = make_problem(34, 40, 60, 10);
    kspec_ridge *r = open_problem(&q, NULL);
    double cost = 0;
    for (size_t N = 1; N < 300; N++) {
        CHECK(kspec_ridge_cost(r, N) > cost);
        cost = kspec_ridge_cost(r, N);
    }
    static const size_t most[] = {1, 7, 19, 60, 300};
    static const double lambda[] = {0, 1e-6, 0.05};
    for (int k = 0; k < 5; k++)
        for (int l = 0; l < 3; l++) {
            kspec_ridge_result *found;
            double least = INFINITY;
            size_t at = 0;
            for (size_t N = 1; N <= most[k]; N++) {
                double e = predict(r, N, lambda[l]).test_mse;
                if (e < least) least = e, at = N;
            }
            double limit = kspec_ridge_cost(r, most[k]) * 1.0001;
            CHECK(kspec_ridge_best_features(r, lambda[l], limit, &found, NULL) == KSPEC_OK);
            size_t N = found->points[0]->N;
            CHECK_MSG(N == at && found->at_high == (at == most[k]) && !found->at_low,
                      "up to %zu, lambda %g: %zu, not %zu", most[k], lambda[l], N, at);
            kspec_free(found);
        }
    kspec_ridge_close(r);
    free_problem(&q);
}

/* ---- measured errors ---- */

enum { N_MAX = 24 };

/* Gauss-Jordan on the normal equations of |y - S b|^2/n + lambda |b|^2, in long double */
static void plain_ridge(size_t n, size_t d, long double S[][2 * N_MAX], const double *y, double lambda,
                        long double *beta) {
    static long double A[2 * N_MAX][2 * N_MAX + 1];
    for (size_t i = 0; i < d; i++) {
        for (size_t j = 0; j <= d; j++) {
            A[i][j] = i == j ? lambda : 0;
            for (size_t k = 0; k < n; k++) A[i][j] += S[k][i] * (j < d ? S[k][j] : y[k]) / n;
        }
    }
    for (size_t c = 0; c < d; c++)
        for (size_t i = 0; i < d; i++) {
            long double f = i == c ? 0 : A[i][c] / A[c][c];
            for (size_t j = 0; j <= d && i != c; j++) A[i][j] -= f * A[c][j];
        }
    for (size_t i = 0; i < d; i++) beta[i] = A[i][d] / A[i][i];
}

TEST(draws_by_hand) {
    static const size_t shapes[][3] = {{30, 9, 4}, {12, 20, 3}, {16, 1, 5}};
    static const double lambda[] = {0.5, 1e-3, 1e-6};
    for (size_t s = 0; s < 3; s++) {
        size_t n = shapes[s][0], nt = shapes[s][1], p = shapes[s][2];
        problem q = make_problem(50 + s, n, nt, p);
        kspec_ridge_opts o = {.size = sizeof o, .seed = 17};
        kspec_ridge *r = open_problem(&q, &o);
        static const size_t features[] = {1, 8, N_MAX}; /* primal and dual */
        for (size_t k = 0; k < 3; k++) {
            enum { DRAWS = 3 };
            size_t N = features[k];
            kspec_ridge_measured m[3];
            long double error[2][3][DRAWS];
            measure(r, N, lambda, 3, DRAWS, m);
            for (int d = 0; d < DRAWS; d++) {
                static long double S[2][48][2 * N_MAX];
                double W[N_MAX * 5];
                kspec_random_normal(17, ks_stream(KS_STREAM_RIDGE, (uint64_t)d), 0, N * p, W);
                for (int t = 0; t < 2; t++)
                    for (size_t i = 0; i < (t ? nt : n); i++)
                        for (size_t f = 0; f < N; f++) {
                            long double z = 0;
                            for (size_t j = 0; j < p; j++)
                                z += (long double)(t ? q.Xt : q.X)[i * p + j] * W[f * p + j];
                            S[t][i][f] = cosl(z), S[t][i][N + f] = sinl(z);
                        }
                for (int l = 0; l < 3; l++) {
                    long double beta[2 * N_MAX];
                    plain_ridge(n, 2 * N, S[0], q.y, lambda[l], beta);
                    for (int t = 0; t < 2; t++) {
                        size_t rows = t ? nt : n;
                        error[t][l][d] = 0;
                        for (size_t i = 0; i < rows; i++) {
                            long double e = (t ? q.yt : q.y)[i];
                            for (size_t f = 0; f < 2 * N; f++) e -= S[t][i][f] * beta[f];
                            error[t][l][d] += e * e / rows;
                        }
                    }
                }
            }
            for (int l = 0; l < 3; l++)
                for (int t = 0; t < 2; t++) {
                    long double mean = 0, square = 0;
                    for (int d = 0; d < DRAWS; d++) mean += error[t][l][d] / DRAWS;
                    for (int d = 0; d < DRAWS; d++)
                        square += (error[t][l][d] - mean) * (error[t][l][d] - mean);
                    CHECK_CLOSE(t ? m[l].test_mse : m[l].train_mse, (double)mean, 1e-7);
                    CHECK_CLOSE(t ? m[l].test_sd : m[l].train_sd, (double)sqrtl(square / (DRAWS - 1)), 1e-6);
                }
        }
        kspec_ridge_close(r);
        free_problem(&q);
    }
}

/*
 * lambda = 0: the limit of small ones, interpolating where 2N > n; a ridge lost in rounding falls back
 * likewise
 */
TEST(draws_without_a_ridge) {
    problem q = make_problem(3, 20, 10, 6);
    kspec_ridge *r = open_problem(&q, NULL);
    static const size_t features[] = {3, 8, 14, 40};
    for (size_t k = 0; k < 4; k++) {
        const double lambda[] = {0, 1e-10, 1e-90};
        kspec_ridge_measured m[3];
        measure(r, features[k], lambda, 3, 2, m);
        CHECK_CLOSE(m[0].test_mse, m[1].test_mse, 1e-3);
        CHECK_CLOSE(m[0].test_mse, m[2].test_mse, 1e-3);
        if (2 * features[k] > 20)
            CHECK_MSG(m[0].train_mse < 1e-16, "%g", m[0].train_mse);
        else
            CHECK_CLOSE(m[0].train_mse, m[1].train_mse, 1e-3);
    }
    /* many values of lambda go through the eigenvectors, few do not */
    for (size_t N = 8; N <= 14; N += 6) {
        double many[20];
        kspec_ridge_measured all[20], alone;
        for (int k = 0; k < 20; k++) many[k] = pow(10, 1 - 0.2 * k);
        measure(r, N, many, 20, 3, all);
        for (int k = 0; k < 20; k++) {
            measure(r, N, many + k, 1, 3, &alone);
            CHECK_CLOSE(all[k].train_mse, alone.train_mse, 1e-9);
            CHECK_CLOSE(all[k].test_mse, alone.test_mse, 1e-9);
        }
    }
    kspec_ridge_measured one;
    const double l = 0.1;
    measure(r, 3, &l, 1, 1, &one);
    CHECK(isnan(one.train_sd) && one.test_mse > 0);
    kspec_ridge_close(r);
    free_problem(&q);
}

int main(void) {
    RUN(normalisation);
    RUN(median_distance);
    RUN(noise);
    RUN(columns_and_strides);
    RUN(rows_of_zeros);
    RUN(refusals);
    RUN(refusals_of_an_open_prediction);
    RUN(cancelled);
    RUN(threads);
    RUN(grid);
    RUN(best_lambda);
    RUN(best_features);
    RUN(draws_by_hand);
    RUN(draws_without_a_ridge);
    return test_done();
}
