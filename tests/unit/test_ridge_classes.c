/*
 * Errors of classification: the spread of single outputs adds up to the squared error, and the share of wrong
 * classes is that of actual regressions.
 */
#include "help/ridge.h"
#include "ridge/classify.h"
#include "ridge/one.h"

enum { N_TRAIN = 120, N_TEST = 90, P = 12, CLASSES = 3 };

/* Rows near one of three centres, and one-hot targets; of two classes -1 and 1 */
static void classes(uint64_t seed, size_t rows, size_t m, double *X, double *Y) {
    double centre[CLASSES * P];
    kspec_random_normal(1, 5, 0, CLASSES * P, centre);
    kspec_random_normal(seed, 6, 0, rows * P, X);
    for (size_t i = 0; i < rows; i++) {
        const size_t k = i % (m == 1 ? 2 : CLASSES);
        for (size_t l = 0; l < P; l++) X[i * P + l] = (X[i * P + l] + 0.7 * centre[k * P + l]) / sqrt(P);
        for (size_t j = 0; j < m; j++) Y[i * m + j] = m == 1 ? (k ? 1 : -1) : j == k;
    }
}

static kspec_ridge *open_classes(size_t m, const kspec_ridge_opts *o) {
    static double X[N_TRAIN * P], Y[N_TRAIN * CLASSES], Xt[N_TEST * P], Yt[N_TEST * CLASSES];
    classes(2, N_TRAIN, m, X, Y);
    classes(3, N_TEST, m, Xt, Yt);
    const kspec_matrix x = view(X, N_TRAIN, P), y = view(Y, N_TRAIN, m), xt = view(Xt, N_TEST, P),
                       yt = view(Yt, N_TEST, m);
    kspec_ridge *r;
    kspec_error err;
    CHECK_MSG(kspec_ridge_open(&x, &y, &xt, &yt, o, &r, &err) == KSPEC_OK, "%s", err.msg);
    return r;
}

static const kspec_ridge_activation activations[] = {KSPEC_RIDGE_ACTIVATION_FOURIER,
                                                     KSPEC_RIDGE_ACTIVATION_PHASES,
                                                     KSPEC_RIDGE_ACTIVATION_RELU, KSPEC_RIDGE_ACTIVATION_ERF};

/* E_test = |yt - g|^2/nt + sum_t scale_t form_jj / nt, for each output j */
TEST(spreads_add_up) {
    for (size_t a = 1; a < 4; a++)
        for (double lambda = 1e-3; lambda < 10; lambda *= 100) {
            const kspec_ridge_opts o = {.size = sizeof o, .activation = activations[a], .center_target = 1};
            kspec_ridge *r = open_classes(CLASSES, &o);
            ks_one_solution s;
            double scale[N_TEST], form[CLASSES * CLASSES], train[CLASSES], test[CLASSES];
            double *scratch = malloc((N_TRAIN + N_TEST) * CLASSES * sizeof *scratch), spread = 0;
            const double *g = scratch + N_TRAIN * CLASSES;
            CHECK(ks_one_solve(r->one, 70, lambda, 1e-12, 100, &s, NULL) == KSPEC_OK);
            ks_one_errors(r->one, &s, 1, scratch, train, test);
            ks_one_spread(r->one, &s, scale, form);
            for (size_t t = 0; t < N_TEST; t++) {
                CHECK(scale[t] > 0);
                spread += scale[t] / N_TEST;
            }
            for (size_t j = 0; j < CLASSES; j++) {
                double bias = 0;
                for (size_t t = 0; t < N_TEST; t++)
                    bias += pow(r->Yt[t * CLASSES + j] - g[t * CLASSES + j], 2) / N_TEST;
                CHECK_CLOSE(bias + spread * form[j * CLASSES + j], test[j], 1e-11);
            }
            free(scratch);
            kspec_ridge_close(r);
        }
}

/*
 * The predicted share of wrong classes against 150 regressions, whose mean is known to about 0.003: within
 * 0.02, which is what n = 120 rows leave, where shares are 0.05 to 0.45
 */
TEST(against_regressions) {
    for (size_t a = 0; a < 4; a++)
        for (size_t m = 1; m <= CLASSES; m += 2)
            for (int centered = 0; centered < 2; centered++) {
                const kspec_ridge_opts o = {
                    .size = sizeof o, .activation = activations[a], .center_target = centered, .classify = 1};
                kspec_ridge *r = open_classes(m, &o);
                const size_t N = 80;
                const double lambda[] = {1e-3, 0.1};
                kspec_ridge_result *predicted;
                kspec_ridge_empirical_result *measured;
                CHECK(kspec_ridge_predict(r, &N, 1, lambda, 2, &predicted, NULL) == KSPEC_OK);
                CHECK(kspec_ridge_empirical(r, N, lambda, 2, 150, &measured, NULL) == KSPEC_OK);
                for (size_t k = 0; k < 2; k++) {
                    const double p = predicted->points[k]->test_error, q = measured->points[k]->test_error;
                    CHECK_MSG(fabs(p - q) < 0.02 && q > 0.02, "%zu, m = %zu, lambda %g: %g, measured %g", a,
                              m, lambda[k], p, q);
                }
                kspec_free(predicted);
                kspec_free(measured);
                kspec_ridge_close(r);
            }
}

/* Phi(-y g/s) for one output; with no spread, outputs that are on the wrong side; ties: the first class */
TEST(by_hand) {
    double Yt[] = {1, -1, 1, 1}, mean[] = {0.5}, fit[] = {0.5, 0, -2, -0.5}, scale[] = {1, 4, 0, 1};
    double form[] = {0.25}, wrong;
    const kspec_ridge r = {.nt = 4, .m = 1, .Yt = Yt, .target_means = mean};
    const double want =
        (erfc(1 / 0.5 / sqrt(2)) / 2 + erfc(-0.5 / 1 / sqrt(2)) / 2 + 1 + erfc(0 / sqrt(2)) / 2) / 4;
    CHECK(ks_ridge_class_error(&r, fit, 1, (const double *const[2]){scale, NULL},
                               (double *const[2]){form, NULL}, &wrong, NULL) == KSPEC_OK);
    CHECK_CLOSE(wrong, want, 1e-15);
    double rest[] = {0.5, -1.5, 2, 0.5}; /* outputs 0.5 + 0.5, 0.5 + 0.5, -1 + 0.5, 0.5 + 0.5 */
    CHECK(ks_ridge_wrong_share(&r, rest) == 0.5);
    double three[] = {1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 0}, none[] = {0, 0, 0};
    double off[] = {0, 0, 0, 0, 0.4, -0.5, 0, 0, 2, 0, 1, 0}; /* 1 0 0; 0 0.6 0.5; 0 0 -1; 0 0 0 */
    const kspec_ridge s = {.nt = 4, .m = 3, .Yt = three, .target_means = none};
    CHECK(ks_ridge_wrong_share(&s, off) == 0.5);
}

TEST(refusals) {
    double X[4 * 2] = {1, 2, 3, 4, 5, 6, 7, 9}, Y[4 * 5] = {0};
    const kspec_matrix x = view(X, 4, 2), y = view(Y, 4, 5), one = view(Y, 4, 1);
    const kspec_ridge_opts o = {.size = sizeof o, .classify = 1};
    kspec_ridge *r;
    kspec_error e;
    CHECK_FAILS(kspec_ridge_open(&x, &y, NULL, NULL, &o, &r, &e), KSPEC_E_DATA, e,
                "5 classes exceed the 4 training rows");
    CHECK_FAILS(kspec_ridge_open(&x, &one, NULL, NULL, &o, &r, &e), KSPEC_E_DATA, e,
                "all 4 training rows have the same class");
}

int main(void) {
    RUN(spreads_add_up);
    RUN(against_regressions);
    RUN(by_hand);
    RUN(refusals);
    return test_done();
}
