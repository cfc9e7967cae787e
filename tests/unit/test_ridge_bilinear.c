/* Bilinear forms of the resolvent: the dense oracle, the trace that delta is made of, and draws. */
#include "help/ridge.h"
#include "oracle/ridge.h"

static kspec_ridge_bilinear_result *forms_of(kspec_ridge *r, const double *a, const double *b, size_t n,
                                             size_t k, size_t N, double lambda, size_t draws) {
    kspec_matrix A = view(a, n, k), B = view(b, n, k);
    kspec_ridge_bilinear_result *out;
    kspec_error e;
    CHECK_MSG(kspec_ridge_bilinear(r, &A, &B, &N, 1, &lambda, 1, draws, &out, &e) == KSPEC_OK, "%s", e.msg);
    return out;
}

/* Against the inverse by Gauss-Jordan at the delta of the fixed-point iteration */
TEST(against_dense_inverse) {
    static square K[2], Q;
    problem q = make_problem(3, 16, 0, 5);
    double a[16 * 3], b[16 * 3];
    brute_matrix(8, 48, a), brute_matrix(9, 48, b);
    const kspec_ridge_opts o = {.size = sizeof o};
    kspec_ridge *r = open_problem(&q, &o);
    for (size_t N = 4; N <= 16; N += 12) {
        const oracle_point w = oracle_ridge(q.n, 0, q.p, q.X, NULL, q.y, NULL, N, 0.05, 1e-17L);
        oracle_kernels(q.X, q.n, q.X, q.n, q.p, K[0], K[1]);
        oracle_resolvent(q.n, K, (real)N, 1, 0.05L, w.delta, Q);
        kspec_ridge_bilinear_result *f = forms_of(r, a, b, q.n, 3, N, 0.05, 0);
        for (size_t k = 0; k < 3; k++) {
            real want = 0;
            for (size_t i = 0; i < q.n; i++)
                for (size_t j = 0; j < q.n; j++) want += a[i * 3 + k] * Q[i][j] * b[j * 3 + k];
            CHECK_CLOSE(f->points[0]->predicted[k], (double)want, 1e-9);
            CHECK(isnan(f->points[0]->measured[k]));
        }
        kspec_free(f);
    }
    kspec_ridge_close(r);
    free_problem(&q);
}

/* Over 200 draws, of every kind of features: y'Qy is within five standard errors and 3% of their mean */
TEST(against_draws) {
    const struct {
        kspec_ridge_activation kind;
        double nu;
    } kinds[] = {{KSPEC_RIDGE_ACTIVATION_FOURIER, 0},
                 {KSPEC_RIDGE_ACTIVATION_RELU, 0},
                 {KSPEC_RIDGE_ACTIVATION_SIGN, 0},
                 {KSPEC_RIDGE_ACTIVATION_PHASES, 0},
                 {KSPEC_RIDGE_ACTIVATION_FOURIER, 1.5}};
    enum { DRAWS = 200 };
    problem q = make_problem(5, 120, 0, 60);
    for (size_t c = 0; c < 5; c++)
        for (int intercept = 0; intercept < 2; intercept++) {
            kspec_ridge_opts o = {
                .size = sizeof o, .activation = kinds[c].kind, .intercept = intercept, .seed = 7};
            if (kinds[c].nu > 0) o.kernel = KSPEC_KERNEL_MATERN, o.nu = kinds[c].nu;
            kspec_ridge *r = open_problem(&q, &o);
            kspec_ridge_bilinear_result *f = forms_of(r, q.y, q.y, q.n, 1, 80, 0.3, DRAWS);
            const kspec_ridge_bilinear_point *p = f->points[0];
            const double off = fabs(p->predicted[0] - p->measured[0]);
            CHECK_MSG(p->predicted[0] > 0 && off < 5 * p->spread[0] / sqrt(DRAWS) + 0.03 * p->measured[0],
                      "%zu, %d: %g, not %g (%g)", c, intercept, p->predicted[0], p->measured[0],
                      p->spread[0]);
            kspec_free(f), kspec_ridge_close(r);
        }
    free_problem(&q);
}

int main(void) {
    RUN(against_dense_inverse);
    RUN(against_draws);
    return test_done();
}
