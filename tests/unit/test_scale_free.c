/* Scale-free moments: by leaving rows and columns out of the matrix itself, and their bias. */
#include "kspec.h"
#include "test.h"

#include <string.h>

enum { P = 9, Q = 8, N = 3 };

static void estimates(const double *x, size_t rows, size_t cols, double *m) {
    kspec_moments_opts o = {.size = sizeof o, .nmax = N, .estimators = KSPEC_ESTIMATOR_EXACT, .no_stderr = 1};
    kspec_moments_result *r;
    CHECK(kspec_moments(&(kspec_matrix){x, rows, cols, (ptrdiff_t)cols, 1}, 1, &o, &r, NULL) == KSPEC_OK);
    for (int n = 0; n < N; n++) m[n] = r->estimates[n]->value;
    kspec_free(r);
}

/* m(n)/m(1)^n less its bias: N r - (N-1) mean of r_{-i}, for each side */
TEST(by_leaving_out) {
    double x[P * Q], part[P * Q], m[N], left[N];
    kspec_random_normal(3, 0, 0, P * Q, x);
    for (int k = 0; k < P * Q; k++) x[k] += x[k / Q] + x[k % Q]; /* a few large eigenvalues */
    estimates(x, P, Q, m);
    double want[N] = {0}, ratio[N];
    for (int n = 0; n < N; n++) want[n] = ratio[n] = m[n] / pow(m[0], n + 1);
    for (int side = 0; side < 2; side++) {
        const int count = side ? Q : P;
        for (int out = 0; out < count; out++) {
            size_t used = 0;
            for (int k = 0; k < P * Q; k++)
                if ((side ? k % Q : k / Q) != out) part[used++] = x[k];
            estimates(part, side ? P : P - 1, side ? Q - 1 : Q, left);
            for (int n = 0; n < N; n++)
                want[n] -= (count - 1.0) / count * (left[n] / pow(left[0], n + 1) - ratio[n]);
        }
    }
    kspec_moments_opts o = {
        .size = sizeof o, .nmax = N, .estimators = KSPEC_ESTIMATOR_EXACT, .scale_free = 1};
    kspec_moments_result *r;
    CHECK(kspec_moments(&(kspec_matrix){x, P, Q, Q, 1}, 1, &o, &r, NULL) == KSPEC_OK);
    for (int n = 1; n < N; n++) {
        const kspec_estimate *e = r->estimates[n];
        CHECK_CLOSE(e->scale_free, want[n], 1e-9);
        CHECK(e->scale_free_ci_low <= want[n] && want[n] <= e->scale_free_ci_high &&
              e->scale_free_std_error > 0);
    }
    CHECK(r->estimates[0]->scale_free == 1 && r->estimates[0]->scale_free_std_error == 0);
    kspec_free(r);
}

/*
 * Three equal eigenvalues: m(2)/m(1)^2 = 1/3, m(3)/m(1)^3 = 1/9. The plain ratio of 10 x 10 matrices is
 * biased; the corrected one is within 4 standard errors of the truth (false alarms: 1e-4), plus what second
 * order leaves.
 */
TEST(the_bias_is_removed) {
    enum { DRAWS = 1500, SIDE = 10 };
    const double c = 1, truth[2] = {1 / 3.0, 1 / 9.0};
    double sum[2] = {0}, square[2] = {0}, plain[2] = {0}, x[SIDE * SIDE];
    for (uint64_t seed = 0; seed < DRAWS; seed++) {
        kspec_generate_opts g = {.size = sizeof g,
                                 .process = KSPEC_PROCESS_LINEAR,
                                 .dim = 3,
                                 .eigenvalues = &c,
                                 .eigenvalue_count = 1,
                                 .seed = seed,
                                 .threads = 1};
        CHECK(kspec_generate(SIDE, SIDE, &g, x, NULL) == KSPEC_OK);
        kspec_moments_opts o = {
            .size = sizeof o, .nmax = 3, .estimators = KSPEC_ESTIMATOR_EXACT, .scale_free = 1, .threads = 1};
        kspec_moments_result *r;
        CHECK(kspec_moments(&(kspec_matrix){x, SIDE, SIDE, SIDE, 1}, 1, &o, &r, NULL) == KSPEC_OK);
        for (int n = 0; n < 2; n++) {
            const double value = r->estimates[n + 1]->scale_free;
            sum[n] += value / DRAWS, square[n] += value * value / DRAWS;
            plain[n] += r->estimates[n + 1]->value / pow(r->estimates[0]->value, n + 2) / DRAWS;
        }
        kspec_free(r);
    }
    for (int n = 0; n < 2; n++) {
        const double se = sqrt((square[n] - sum[n] * sum[n]) / DRAWS);
        printf("m(%d)/m(1)^%d: %.4f of the truth, +- %.4f; the plain ratio %.4f\n", n + 2, n + 2,
               sum[n] / truth[n], se / truth[n], plain[n] / truth[n]);
        CHECK(fabs(sum[n] - truth[n]) < 4 * se + 0.25 * fabs(plain[n] - truth[n]));
        CHECK(fabs(plain[n] - truth[n]) > 4 * se);
    }
}

int main(void) {
    RUN(by_leaving_out);
    RUN(the_bias_is_removed);
    return test_done();
}
