/* Ridge prediction against its formulas in long double, and the identities and orders that the theory has. */
#include "help/bed.h"
#include "help/ridge.h"
#include "oracle/ridge.h"

static void compare(const problem *q, size_t N, double lambda, const kspec_ridge_point *p, double tolerance) {
    oracle_point want = oracle_ridge(q->n, q->nt, q->p, q->X, q->Xt, q->y, q->yt, N, lambda, 1e-17L);
    int under = lambda == 0 && 2 * N < q->n;
    const double got[] = {under ? p->theta_cos : p->delta_cos,
                          under ? p->theta_sin : p->delta_sin,
                          p->train_mse,
                          p->kernel_train_mse,
                          p->test_mse,
                          p->kernel_test_mse};
    const real wanted[] = {want.delta[0],     want.delta[1], want.train,
                           want.kernel_train, want.test,     want.kernel_test};
    for (int k = 0; k < 6; k++) {
        if (k >= 4 && !q->nt)
            CHECK(isnan(got[k]));
        else
            CHECK_MSG(fabs(got[k] - (double)wanted[k]) <= tolerance * fabs((double)wanted[k]) + 1e-300,
                      "n %zu N %zu lambda %g: value %d is %.17g, not %.17Lg", q->n, N, lambda, k, got[k],
                      wanted[k]);
    }
}

TEST(formulas_in_long_double) {
    static const size_t shapes[][3] = {{1, 1, 1}, {2, 3, 2}, {7, 0, 5}, {23, 17, 4}, {31, 1, 8}, {40, 30, 6}};
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
        problem q = make_problem(312 + s, shapes[s][0], shapes[s][1], shapes[s][2]);
        kspec_ridge *r = open_problem(&q, NULL);
        static const size_t features[] = {1, 5, 20, 80};
        static const double lambda[] = {0.3, 1e3, 1e-2};
        for (size_t k = 0; k < 4; k++) {
            kspec_ridge_point p[3];
            predict_all(r, features[k], lambda, 3, p);
            for (size_t l = 0; l < 3; l++) {
                CHECK(p[l].N == features[k] && p[l].lambda == lambda[l] && p[l].iterations > 0);
                CHECK(p[l].state == KSPEC_RIDGE_STATE_CONVERGED && p[l].residual <= 1e-11);
                CHECK(p[l].theta_cos == p[l].lambda * p[l].delta_cos);
                compare(&q, features[k], lambda[l], &p[l], 1e-10);
            }
        }
        kspec_ridge_close(r);
        free_problem(&q);
    }
}

/* Rows far from the origin: their distances are as good as the rows themselves */
TEST(far_from_the_origin) {
    for (double shift = 1e3; shift < 1e10; shift *= 1e3) {
        problem q = make_problem(71, 40, 17, 4);
        for (size_t k = 0; k < q.n * q.p; k++) q.X[k] += shift;
        for (size_t k = 0; k < q.nt * q.p; k++) q.Xt[k] += shift;
        kspec_ridge *r = open_problem(&q, NULL);
        kspec_ridge_point p = predict(r, 15, 1e-2);
        compare(&q, 15, 1e-2, &p, 1e-9);
        kspec_ridge_close(r);
        free_problem(&q);
    }
}

/* lambda = 0 by its own equations, both sides of 2N = n; small ridges tend to it; in between it diverges */
TEST(ridgeless) {
    problem q = make_problem(5, 20, 13, 8);
    kspec_ridge *r = open_problem(&q, NULL);
    static const size_t features[] = {1, 4, 8, 9, 11, 12, 30};
    for (size_t k = 0; k < sizeof features / sizeof *features; k++) {
        size_t N = features[k];
        kspec_ridge_point p = predict(r, N, 0);
        CHECK(p.state == KSPEC_RIDGE_STATE_CONVERGED || p.state == KSPEC_RIDGE_STATE_AT_FLOOR);
        compare(&q, N, 0, &p, 1e-9);
        kspec_ridge_point near = predict(r, N, 1e-9);
        CHECK_MSG(fabs(near.test_mse - p.test_mse) < 1e-3 * p.test_mse, "N %zu: %g, limit %g", N,
                  near.test_mse, p.test_mse);
        if (2 * N < q.n) {
            CHECK(isinf(p.delta_cos) && isinf(p.delta_sin));
            CHECK_MSG(fabs(near.theta_cos - p.theta_cos) < 1e-3 * p.theta_cos, "%g %g", near.theta_cos,
                      p.theta_cos);
            CHECK(fabs(near.train_mse - p.train_mse) < 1e-3 * p.train_mse);
        } else {
            CHECK(p.train_mse == 0 && p.kernel_train_mse == 0 && p.theta_cos == 0);
            CHECK(fabs(near.delta_cos - p.delta_cos) < 1e-3 * p.delta_cos);
        }
    }
    kspec_ridge_point p = predict(r, 10, 0);
    CHECK(p.state == KSPEC_RIDGE_STATE_DIVERGENT && isnan(p.test_mse) && isnan(p.train_mse) &&
          isnan(p.delta_cos));
    CHECK(isfinite(p.kernel_test_mse) && p.iterations == 0);
    kspec_ridge_close(r);
    free_problem(&q);
}

/* Where the published iteration needs thousands of steps; and both solvers agree where it converges */
TEST(at_the_threshold) {
    problem q = make_problem(77, 16, 9, 6);
    kspec_ridge *r = open_problem(&q, NULL);
    kspec_ridge_point p = predict(r, 8, 1e-5);
    compare(&q, 8, 1e-5, &p, 1e-8);
    CHECK_MSG(p.iterations <= 20, "%d steps", p.iterations);
    kspec_ridge_close(r);
    free_problem(&q);

    q = make_problem(3, 100, 20, 30);
    kspec_ridge_opts o = {.size = sizeof o, .solver = KSPEC_RIDGE_SOLVER_FIXED_POINT};
    kspec_ridge *newton = open_problem(&q, NULL), *fixed = open_problem(&q, &o);
    static const size_t features[] = {10, 50, 300};
    static const double lambda[] = {1, 1e-2, 1e-4, 0};
    for (size_t k = 0; k < 3; k++)
        for (size_t l = 0; l < 4; l++) {
            if (features[k] == 50 && l == 3) continue;
            p = predict(newton, features[k], lambda[l]);
            kspec_ridge_point f = predict(fixed, features[k], lambda[l]);
            CHECK_MSG(p.iterations <= f.iterations + 1 && p.iterations <= 20, "%d %d", p.iterations,
                      f.iterations);
            CHECK_CLOSE(f.theta_sin, p.theta_sin, 1e-8);
            CHECK_CLOSE(f.train_mse, p.train_mse, 1e-8);
            CHECK_CLOSE(f.test_mse, p.test_mse, 1e-8);
            CHECK_MSG(f.delta_error >= 0 && f.delta_error < 1e-8, "%g", f.delta_error);
        }
    for (double l = 1; l > 1e-8; l /= 10) CHECK(predict(newton, 50, l).iterations <= 20);
    kspec_ridge_close(newton);
    kspec_ridge_close(fixed);
    o.max_iterations = 3;
    fixed = open_problem(&q, &o);
    p = predict(fixed, 50, 1e-4);
    CHECK(p.state == KSPEC_RIDGE_STATE_UNFINISHED && p.residual > 1e-6 && p.iterations == 4);
    kspec_ridge_close(fixed);
    free_problem(&q);
}

/* (Xt, yt) = (X, y): with (N/n) Phi Q = I - lambda Q the test error is the training error */
TEST(testing_on_the_training_rows) {
    problem q = make_problem(9, 37, 0, 5);
    q.nt = q.n;
    free(q.Xt);
    free(q.yt);
    q.Xt = q.X, q.yt = q.y;
    kspec_ridge *r = open_problem(&q, NULL);
    for (size_t N = 3; N < 200; N *= 3)
        for (double lambda = 100; lambda > 1e-4; lambda /= 10) {
            kspec_ridge_point p = predict(r, N, lambda);
            CHECK_CLOSE(p.test_mse, p.train_mse, 1e-9 + 1e-13 / p.train_mse);
            CHECK_CLOSE(p.kernel_test_mse, p.kernel_train_mse, 1e-9 + 1e-13 / p.kernel_train_mse);
        }
    kspec_ridge_point p = predict(r, 4, 0); /* 2N < n: what the features leave */
    CHECK_CLOSE(p.test_mse, p.train_mse, 1e-9);
    kspec_ridge_close(r);
    q.Xt = malloc(8), q.yt = malloc(8);
    free_problem(&q);
}

/* E_train falls with N and rises with lambda, delta falls with both, lambda delta rises with lambda */
TEST(monotone) {
    enum { L = 13, S = 7 };
    problem q = make_problem(21, 60, 10, 12);
    kspec_ridge *r = open_problem(&q, NULL);
    double lambda[L];
    kspec_ridge_point p[S][L];
    for (int l = 0; l < L; l++) lambda[l] = pow(10, 2 - 0.75 * l);
    for (int k = 0; k < S; k++) {
        static const size_t features[S] = {2, 10, 29, 30, 31, 60, 500};
        predict_all(r, features[k], lambda, L, p[k]);
        for (int l = 0; l < L; l++) {
            const kspec_ridge_point *at = &p[k][l];
            CHECK(at->test_mse > 0 && at->train_mse > 0 && at->train_mse < 1.0001);
            if (l) {
                const kspec_ridge_point *before = &p[k][l - 1];
                CHECK(at->train_mse < before->train_mse);
                CHECK(at->delta_cos > before->delta_cos && at->delta_sin > before->delta_sin);
                CHECK(at->theta_cos < before->theta_cos && at->theta_sin < before->theta_sin);
            }
            if (k) {
                const kspec_ridge_point *before = &p[k - 1][l];
                CHECK(at->train_mse < before->train_mse);
                CHECK(at->delta_cos < before->delta_cos && at->delta_sin < before->delta_sin);
            }
            CHECK(at->kernel_train_mse < at->train_mse);
        }
    }
    /* ... and so much features as to be the kernel */
    kspec_ridge_point many = predict(r, 1000000000, 1e7);
    CHECK_CLOSE(many.train_mse, many.kernel_train_mse, 1e-5);
    CHECK_CLOSE(many.test_mse, many.kernel_test_mse, 1e-5);
    kspec_ridge_close(r);
    free_problem(&q);
}

/* A path finds what each point alone finds, in any order, with repetitions, and in fewer steps */
TEST(paths) {
    enum { L = 9 };
    problem q = make_problem(4, 80, 30, 40);
    kspec_ridge *r = open_problem(&q, NULL);
    static const double lambda[L] = {1e-3, 1, 1e-5, 0.03, 0, 0.03, 1e-4, 10, 1e-2};
    for (size_t N = 25; N <= 100; N += 15) { /* 2N = n among them */
        kspec_ridge_point p[L];
        predict_all(r, N, lambda, L, p);
        int steps = 0, alone = 0;
        for (int l = 0; l < L; l++) {
            kspec_ridge_point one = predict(r, N, lambda[l]);
            if (one.state == KSPEC_RIDGE_STATE_DIVERGENT) {
                CHECK(p[l].state == one.state);
                continue;
            }
            CHECK_CLOSE(p[l].theta_cos, one.theta_cos, 1e-11);
            CHECK_CLOSE(p[l].train_mse, one.train_mse, 1e-8);
            CHECK_CLOSE(p[l].test_mse, one.test_mse, 1e-8);
            steps += p[l].iterations, alone += one.iterations;
        }
        CHECK_MSG(steps < alone, "%d steps along the path, %d alone", steps, alone);
    }
    kspec_ridge_close(r);
    free_problem(&q);
}

/*
 * Smooth kernels, nearly singular: where rounding stops the iteration, delta_error is of the size of the
 * error
 */
TEST(rounding_floor) {
    problem q = make_problem(12, 40, 10, 2);
    kspec_ridge *r = open_problem(&q, NULL);
    int floors = 0;
    for (size_t N = 30; N <= 300; N *= 10)
        for (double lambda = 1e-5; lambda > 1e-10; lambda /= 10) {
            kspec_ridge_point p = predict(r, N, lambda);
            real own = 1e-18L / lambda; /* what long double can do, by the same reckoning */
            oracle_point want = oracle_ridge(q.n, q.nt, q.p, q.X, q.Xt, q.y, q.yt, N, lambda, own);
            double c = fabs(p.delta_cos / (double)want.delta[0] - 1),
                   s = fabs(p.delta_sin / (double)want.delta[1] - 1);
            CHECK_MSG(fmax(c, s) <= 10 * p.delta_error + 10 * (double)own,
                      "N %zu lambda %g: off by %g, said to be %g", N, lambda, fmax(c, s), p.delta_error);
            CHECK_MSG(p.delta_error <= 1e-15 * (1 + (double)N / (double)q.n) / lambda, "N %zu lambda %g: %g",
                      N, lambda, p.delta_error);
            CHECK(p.iterations <= 20);
            floors += p.state == KSPEC_RIDGE_STATE_AT_FLOOR;
        }
    CHECK_MSG(floors >= 3, "%d", floors);
    kspec_ridge_close(r);
    free_problem(&q);
}

static void all(void) {
    RUN(rounding_floor);
    RUN(formulas_in_long_double);
    RUN(far_from_the_origin);
    RUN(ridgeless);
    RUN(at_the_threshold);
    RUN(testing_on_the_training_rows);
    RUN(monotone);
    RUN(paths);
}

/* All of it again there, with the same tolerances */
static void all_on_device(void) {
    setenv("KSPEC_DEVICE", "gpu", 1);
    all();
    unsetenv("KSPEC_DEVICE");
}

int main(int argc, char **argv) {
    unsetenv("KSPEC_DEVICE");
    return bed_main(argc, argv, all, all_on_device);
}
