/* Ridge regression with a Matern kernel: the dense oracle, a fine rule for the scale, limits, and draws. */
#include "features/matern.h"
#include "help/ridge.h"
#include "oracle/mix.h"

static double off(double x, real want) { return (double)fabsl(x / want - 1); }

static kspec_ridge_opts matern(double nu) {
    return (kspec_ridge_opts){.size = sizeof(kspec_ridge_opts), .kernel = KSPEC_KERNEL_MATERN, .nu = nu};
}

/* With the nodes that the library takes: 4 of them for nu = 2.5, 6 for 0.5 */
TEST(against_dense_formulas) {
    const double nus[] = {0.5, 2.5}, lambdas[] = {1e-3, 0.3};
    problem q = make_problem(3, 14, 9, 4);
    for (size_t a = 0; a < 2; a++) {
        oracle_scales scales = {.count = a ? 4 : 6};
        double squares[8];
        CHECK(ks_matern_rule(nus[a], scales.count, squares, scales.share, NULL) == KSPEC_OK);
        for (size_t k = 0; k < scales.count; k++) scales.scale[k] = sqrt(squares[k]);
        const kspec_ridge_opts o = matern(nus[a]);
        kspec_ridge *r = open_problem(&q, &o);
        for (size_t N = 4; N <= 30; N += 13)
            for (size_t l = 0; l < 2; l++) {
                const kspec_ridge_point p = predict(r, N, lambdas[l]);
                const oracle_mixed w =
                    oracle_mix(q.n, q.nt, q.p, q.X, q.Xt, q.y, q.yt, (real)N, lambdas[l], &scales);
                CHECK_MSG(off(p.delta_cos, w.delta[0]) < 1e-9 && off(p.delta_sin, w.delta[1]) < 1e-9 &&
                              off(p.train_mse, w.train) < 1e-8 && off(p.test_mse, w.test) < 1e-8,
                          "nu %g, N = %zu, lambda %g: %g and %g, not %Lg and %Lg", nus[a], N, lambdas[l],
                          p.train_mse, p.test_mse, w.train, w.test);
                CHECK(p.iterations <= 12 && p.state == KSPEC_RIDGE_STATE_CONVERGED);
            }
        kspec_ridge_close(r);
    }
    free_problem(&q);
}

/* The few nodes stand for the whole law of the scale: 20 of them move errors by less than 1% */
TEST(enough_nodes) {
    problem q = make_problem(8, 12, 8, 5);
    for (double nu = 0.5; nu < 4; nu += 1) {
        oracle_scales scales = {.count = 20};
        double squares[20];
        CHECK(ks_matern_rule(nu, 20, squares, scales.share, NULL) == KSPEC_OK);
        for (size_t k = 0; k < 20; k++) scales.scale[k] = sqrt(squares[k]);
        const kspec_ridge_opts o = matern(nu);
        kspec_ridge *r = open_problem(&q, &o);
        const kspec_ridge_point p = predict(r, 9, 0.05);
        const oracle_mixed w = oracle_mix(q.n, q.nt, q.p, q.X, q.Xt, q.y, q.yt, 9, 0.05L, &scales);
        CHECK_MSG(off(p.test_mse, w.test) < 0.01 && off(p.train_mse, w.train) < 0.01, "nu %g: %g %g", nu,
                  off(p.train_mse, w.train), off(p.test_mse, w.test));
        kspec_ridge_close(r);
    }
    free_problem(&q);
}

/* nu = 1e5 is the Gaussian kernel to 1e-5, of every kind of features, with an intercept, and of classes */
TEST(smooth_is_gaussian) {
    const kspec_ridge_activation kinds[] = {KSPEC_RIDGE_ACTIVATION_FOURIER, KSPEC_RIDGE_ACTIVATION_PHASES,
                                            KSPEC_RIDGE_ACTIVATION_COS};
    problem q = make_problem(4, 40, 20, 8);
    for (size_t a = 0; a < 3; a++)
        for (int intercept = 0; intercept < 2; intercept++) {
            kspec_ridge_opts o = {
                .size = sizeof o, .activation = kinds[a], .intercept = intercept, .classify = 1};
            kspec_ridge *gaussian = open_problem(&q, &o);
            o.kernel = KSPEC_KERNEL_MATERN, o.nu = 1e5;
            kspec_ridge *smooth = open_problem(&q, &o);
            const kspec_ridge_point p = predict(gaussian, 30, 0.01), s = predict(smooth, 30, 0.01);
            CHECK(off(s.test_mse, p.test_mse) < 1e-3 && off(s.train_mse, p.train_mse) < 1e-3);
            CHECK(off(s.kernel_test_mse, p.kernel_test_mse) < 1e-3);
            CHECK_MSG(fabs(s.test_error - p.test_error) < 2e-3, "%g, not %g", s.test_error, p.test_error);
            kspec_ridge_close(gaussian), kspec_ridge_close(smooth);
        }
    free_problem(&q);
}

/* lambda = 0 is the limit of small lambda, with fewer features than rows and with more; equal: divergent */
TEST(ridgeless) {
    problem q = make_problem(6, 30, 12, 20);
    const kspec_ridge_opts o = matern(1.5);
    kspec_ridge *r = open_problem(&q, &o);
    for (size_t N = 8; N <= 24; N += 16) {
        const kspec_ridge_point p = predict(r, N, 0), near = predict(r, N, 1e-7);
        CHECK_MSG(off(p.test_mse, near.test_mse) < 1e-4, "N = %zu: %g, not %g", N, p.test_mse, near.test_mse);
        CHECK(N < 15 ? off(p.theta_cos, near.theta_cos) < 1e-4 && isinf(p.delta_cos) : p.train_mse == 0);
    }
    CHECK(predict(r, 15, 0).state == KSPEC_RIDGE_STATE_DIVERGENT && isnan(predict(r, 15, 0).test_mse));
    kspec_ridge_close(r);
    free_problem(&q);
}

/* Within 6% of the mean of 60 draws at n = 200, whose standard error is 1 to 2% */
TEST(against_draws) {
    problem q = make_problem(5, 200, 100, 60);
    const double nus[] = {0.5, 2.5}, lambdas[] = {0.03, 0.5};
    for (size_t a = 0; a < 2; a++) {
        kspec_ridge_opts o = matern(nus[a]);
        o.seed = 19;
        kspec_ridge *r = open_problem(&q, &o);
        kspec_ridge_measured m[2];
        kspec_ridge_point p[2];
        for (size_t N = 50; N <= 200; N += 150) {
            measure(r, N, lambdas, 2, 60, m);
            predict_all(r, N, lambdas, 2, p);
            for (size_t l = 0; l < 2; l++)
                CHECK_MSG(off(p[l].test_mse, m[l].test_mse) < 0.06,
                          "nu %g, N = %zu, lambda %g: %g, not %g (%g)", nus[a], N, lambdas[l], p[l].test_mse,
                          m[l].test_mse, m[l].test_sd);
        }
        kspec_ridge_close(r);
    }
    free_problem(&q);
}

/* Threads do not change a bit, and the fixed-point iteration ends where Newton's method does */
TEST(threads_and_solvers) {
    problem q = make_problem(7, 60, 30, 10);
    kspec_ridge_opts o = matern(0.5);
    double test[4];
    for (int k = 0; k < 4; k++) {
        o.threads = k < 3 ? k + 1 : 2,
        o.solver = k < 3 ? KSPEC_RIDGE_SOLVER_NEWTON : KSPEC_RIDGE_SOLVER_FIXED_POINT;
        kspec_ridge *r = open_problem(&q, &o);
        test[k] = predict(r, 40, 0.1).test_mse;
        kspec_ridge_close(r);
    }
    CHECK(test[0] == test[1] && test[1] == test[2]);
    CHECK(off(test[3], test[0]) < 1e-9);
    free_problem(&q);
}

static void refuse(const problem *q, kspec_ridge_opts o, const char *message) {
    kspec_matrix X = view(q->X, q->n, q->p), y = view(q->y, q->n, 1);
    kspec_ridge *r;
    kspec_error e;
    CHECK_FAILS(kspec_ridge_open(&X, &y, NULL, NULL, &o, &r, &e), KSPEC_E_ARG, e, message);
}

TEST(refusals) {
    problem q = make_problem(5, 20, 10, 4);
    kspec_ridge_opts o = matern(-1);
    refuse(&q, o, "nu -1 is not above 0");
    o.nu = 1, o.kernel = KSPEC_KERNEL_GAUSSIAN;
    refuse(&q, o, "nu 1 is for the Matern kernel");
    o.nu = 0, o.kernel = KSPEC_KERNEL_LAPLACE;
    refuse(&q, o, "ridge takes the Gaussian and the Matern kernel");
    o.kernel = (kspec_kernel)17;
    refuse(&q, o, "unknown kernel 17");
    o = matern(1), o.activation = KSPEC_RIDGE_ACTIVATION_RELU;
    refuse(&q, o, "a Matern kernel is that of Fourier features");
    o = matern(1);
    kspec_ridge *r = open_problem(&q, &o);
    kspec_ridge_recommend_result *found;
    kspec_error e;
    CHECK_FAILS(kspec_ridge_recommend(r, 0, &found, &e), KSPEC_E_ARG, e, "for the Gaussian kernel");
    kspec_ridge_close(r);
    free_problem(&q);
}

int main(void) {
    RUN(against_dense_formulas);
    RUN(enough_nodes);
    RUN(smooth_is_gaussian);
    RUN(ridgeless);
    RUN(against_draws);
    RUN(threads_and_solvers);
    RUN(refusals);
    return test_done();
}
