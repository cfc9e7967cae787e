/*
 * The theory against simulation. The data are random and fixed, and so are the draws; the prediction is
 * compared with the mean of 40 draws. At n of some hundreds it is off by a few per cent of its own besides
 * the noise of the mean, so that the bound is 4 standard errors (one false alarm in 15,000 comparisons of
 * normal means, 60 are made) plus 4%.
 */
#include "help/ridge.h"

enum { DRAWS = 40 };

static void compare(const char *what, size_t N, double lambda, double predicted, double mean, double sd) {
    double error = sd / sqrt(DRAWS);
    CHECK_MSG(fabs(predicted - mean) <= 4 * error + 0.04 * mean,
              "%s, N %zu, lambda %g: %g predicted, %g +- %g measured", what, N, lambda, predicted, mean,
              error);
}

TEST(predictions_hold) {
    enum { N_ROWS = 300, L = 4 };
    problem q = make_problem(101, N_ROWS, 200, 60);
    kspec_ridge_opts o = {.size = sizeof o, .center = 1, .unit_length = 1, .seed = 7};
    kspec_ridge *r = open_problem(&q, &o);
    static const double lambda[L] = {10, 0.1, 1e-3, 0};
    static const size_t features[] = {15, 60, 100, 220, 300, 900}; /* 2N = n lies between 100 and 220 */
    int worse = 0;
    for (size_t k = 0; k < sizeof features / sizeof *features; k++) {
        kspec_ridge_point p[L];
        kspec_ridge_measured m[L];
        predict_all(r, features[k], lambda, L, p);
        measure(r, features[k], lambda, L, DRAWS, m);
        for (int l = 0; l < L; l++) {
            compare("test", features[k], lambda[l], p[l].test_mse, m[l].test_mse, m[l].test_sd);
            if (p[l].train_mse > 1e-3)
                compare("train", features[k], lambda[l], p[l].train_mse, m[l].train_mse, m[l].train_sd);
            worse += fabs(p[l].kernel_test_mse - m[l].test_mse) >
                     4 * m[l].test_sd / sqrt(DRAWS) + 0.04 * m[l].test_mse;
        }
    }
    CHECK_MSG(worse >= 10, "the kernel's prediction fails only %d times",
              worse); /* the comparison can fail */
    /* the peak, on both sides and at it */
    double before = predict(r, 100, 1e-6).test_mse, at = predict(r, 150, 1e-6).test_mse,
           after = predict(r, 220, 1e-6).test_mse;
    CHECK_MSG(at > 5 * before && at > 5 * after, "%g %g %g", before, at, after);
    kspec_ridge_close(r);
    free_problem(&q);
}

int main(void) {
    RUN(predictions_hold);
    return test_done();
}
