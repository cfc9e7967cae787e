/* The density of eigenvalues: Marchenko and Pastur's law, its mass, and the eigenvalues of actual draws. */
#include "help/ridge.h"
#include "ridge/density.h"

/* K = I: eigenvalues of S S^T/n have the law of Marchenko and Pastur, of ratio n/N and scale N/n */
TEST(marchenko_pastur) {
    enum { N_ROWS = 40 };
    double l[N_ROWS];
    for (int i = 0; i < N_ROWS; i++) l[i] = 1;
    const ks_one b = {.n = N_ROWS, .l = l};
    for (double share = 0.5; share < 4; share *= 2) {
        const double c = 1 / share, low = pow(1 - sqrt(c), 2) * share, high = pow(1 + sqrt(c), 2) * share;
        for (double x = 0.05; x < 1.2 * high; x *= 1.1) {
            double f;
            ks_density(&b, share * N_ROWS, &x, 1, &f);
            const double y = x / share; /* a Wishart matrix over its degrees of freedom N */
            const double want =
                x > low && x < high ? sqrt((high - x) * (x - low)) / (2 * acos(-1) * x * share * c) / 1 : 0;
            if (fabs(x - low) > 0.05 * low && fabs(x - high) > 0.05 * high)
                CHECK_MSG(fabs(f - want) < 2e-3 * (1 + want), "N/n = %g, x = %g (%g): %g, not %g", share, x,
                          y, f, want);
        }
    }
}

/*
 * Of draws: the density's mass is 1 - atom, and its distribution function is that of n eigenvalues within
 * 3/sqrt(n), which for these, far more rigid than independent ones, is many standard deviations
 */
TEST(against_draws) {
    const kspec_ridge_activation kinds[] = {KSPEC_RIDGE_ACTIVATION_RELU, KSPEC_RIDGE_ACTIVATION_PHASES,
                                            KSPEC_RIDGE_ACTIVATION_ABS};
    problem q = make_problem(5, 200, 10, 40);
    for (size_t a = 0; a < 3; a++)
        for (size_t N = 100; N <= 800; N *= 2) {
            const kspec_ridge_opts o = {.size = sizeof o, .activation = kinds[a], .sigma = 0.3};
            kspec_ridge *r = open_problem(&q, &o);
            kspec_ridge_density_result *d;
            kspec_error e;
            CHECK_MSG(kspec_ridge_density(r, N, 600, &d, &e) == KSPEC_OK, "%s", e.msg);
            double mass = 0, furthest = 0;
            size_t below = 0;
            CHECK(d->n == 200 && d->count == 600);
            CHECK_CLOSE(d->atom, fmax(0, 1 - (double)N / 200), 1e-15);
            for (size_t k = 1; k < d->count; k++) {
                mass += (d->density[k] + d->density[k - 1]) / 2 * (d->x[k] - d->x[k - 1]);
                while (below < d->n && d->eigenvalues[below] < d->x[k]) below++;
                furthest = fmax(furthest, fabs(d->atom + mass - (double)below / (double)d->n));
            }
            CHECK_MSG(fabs(mass + d->atom - 1) < 0.02, "%zu, N = %zu: mass %g, atom %g", a, N, mass, d->atom);
            CHECK_MSG(furthest < 0.03, "%zu, N = %zu: %g", a, N, furthest);
            kspec_free(d);
            kspec_ridge_close(r);
        }
    free_problem(&q);
}

TEST(refusals) {
    problem q = make_problem(5, 20, 10, 4);
    const kspec_ridge_opts o = {.size = sizeof o},
                           relu = {.size = sizeof o, .activation = KSPEC_RIDGE_ACTIVATION_RELU};
    kspec_ridge *r = open_problem(&q, &o), *s = open_problem(&q, &relu);
    kspec_ridge_density_result *d;
    kspec_error e;
    CHECK_FAILS(kspec_ridge_density(r, 5, 10, &d, &e), KSPEC_E_ARG, e, "needs features of one kernel");
    CHECK_FAILS(kspec_ridge_density(s, 0, 10, &d, &e), KSPEC_E_ARG, e, "N = 0");
    CHECK_FAILS(kspec_ridge_density(s, 5, 0, &d, &e), KSPEC_E_ARG, e, "count 0");
    kspec_ridge_close(r), kspec_ridge_close(s);
    free_problem(&q);
}

int main(void) {
    RUN(marchenko_pastur);
    RUN(against_draws);
    RUN(refusals);
    return test_done();
}
