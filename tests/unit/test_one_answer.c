/* One matrix has one dimension: every call that gives it gives the same bits. */
#include "kspec.h"
#include "test.h"

enum { TRIALS = 5 };

/* Means of columns and rows have the scales `column` and `row`; one in so many entries is missing, 0: none */
static const struct {
    size_t P, Q, trials;
    double column, row;
    size_t missing;
} cases[] = {{40, 30, 1, 0, 0, 0},  {40, 30, 1, 5, 0, 0},  {40, 30, 1, 0, 5, 0},   {40, 30, 1, 1e6, 0, 0},
             {200, 12, 1, 0, 0, 0}, {200, 12, 1, 3, 0, 0}, {12, 200, 1, 0, 0, 0},  {12, 200, 1, 3, 0, 0},
             {30, 40, 2, 0, 0, 0},  {30, 40, 2, 4, 0, 0},  {150, 10, 2, 2, 0, 0},  {10, 150, 2, 2, 1, 0},
             {25, 35, 3, 0, 0, 0},  {25, 35, 5, 4, 1, 0},  {190, 180, 1, 1, 0, 0}, {70, 65, 4, 0.5, 0, 0},
             {60, 20, 1, 0, 0, 41}, {60, 20, 1, 4, 0, 41}, {50, 15, 2, 3, 0, 67},  {40, 80, 3, 1, 1, 97}};
enum { CASES = sizeof cases / sizeof *cases };

/* A signal of three dimensions, noise that differs between trials, means, holes; free() what is in phi */
static void draw(size_t c, kspec_matrix *phi) {
    const size_t P = cases[c].P, Q = cases[c].Q;
    double *x = malloc(4 * P * sizeof *x), *w = malloc(4 * Q * sizeof *w);
    kspec_random_normal(c, 1, 0, 4 * P, x);
    kspec_random_normal(c, 2, 0, 4 * Q, w);
    for (size_t t = 0; t < cases[c].trials; t++) {
        double *y = malloc(P * Q * sizeof *y);
        kspec_random_normal(c, 3 + t, 0, P * Q, y);
        for (size_t i = 0; i < P; i++)
            for (size_t k = 0; k < Q; k++) {
                double *e = &y[i * Q + k];
                *e = 0.7 * *e + cases[c].column * w[3 * Q + k] + cases[c].row * x[3 * P + i];
                for (size_t d = 0; d < 3; d++) *e += x[d * P + i] * w[d * Q + k];
                if (cases[c].missing && (i * Q + k + t) % cases[c].missing == 5) *e = NAN;
            }
        phi[t] = (kspec_matrix){y, P, Q, (ptrdiff_t)Q, 1};
    }
    free(x), free(w);
}

static double by_dimension(const kspec_matrix *phi, size_t trials, kspec_center center, int pairwise) {
    kspec_dimension_opts o = {.size = sizeof o, .center = center, .pairwise = pairwise};
    kspec_dimension_result *r;
    CHECK(kspec_dimension(phi, trials, &o, &r, NULL) == KSPEC_OK);
    CHECK(r->center == (center ? center : KSPEC_CENTER_ROWS));
    const double value = r->dimension;
    kspec_free(r);
    return value;
}

static double by_moments(const kspec_matrix *phi, size_t trials, kspec_center center, int pairwise,
                         unsigned estimators) {
    kspec_moments_opts o = {
        .size = sizeof o, .nmax = 2, .center = center, .pairwise = pairwise, .estimators = estimators};
    kspec_moments_result *r;
    CHECK(kspec_moments(phi, trials, &o, &r, NULL) == KSPEC_OK);
    CHECK(r->center == (center ? center : KSPEC_CENTER_NONE));
    const double value = r->participation_ratio;
    kspec_free(r);
    return value;
}

static void check_compare(const kspec_matrix *phi, size_t trials, kspec_center center, double want) {
    kspec_compare_opts o = {.size = sizeof o, .center = center, .nmax = 2, .no_shared = 1};
    kspec_compare_result *r;
    CHECK(kspec_compare(phi, trials, phi, trials, &o, &r, NULL) == KSPEC_OK);
    CHECK(r->center == (center ? center : KSPEC_CENTER_ROWS));
    CHECK(r->dimension == want && r->other_dimension == want);
    kspec_free(r);
}

static double by_spectrum(const kspec_matrix *phi, size_t trials, kspec_center center,
                          kspec_spectrum_method method) {
    kspec_spectrum_opts o = {.size = sizeof o, .center = center, .method = method};
    kspec_spectrum_result *r;
    CHECK(kspec_spectrum(phi, trials, &o, &r, NULL) == KSPEC_OK);
    const int moments = method == KSPEC_SPECTRUM_METHOD_MOMENTS;
    CHECK(r->center == (center ? center : moments ? KSPEC_CENTER_NONE : KSPEC_CENTER_ROWS));
    const double value = r->participation_ratio;
    kspec_free(r);
    return value;
}

/* Each method that takes the matrix; DEFAULT is ROWS, and NONE where the method is MOMENTS. */
static void check_spectrum(const kspec_matrix *phi, size_t trials, kspec_center center, double want) {
    CHECK(by_spectrum(phi, trials, center, KSPEC_SPECTRUM_METHOD_FIT) == want);
    if (trials > 1) CHECK(by_spectrum(phi, trials, center, KSPEC_SPECTRUM_METHOD_CVPCA) == want);
    if (center == KSPEC_CENTER_ROWS)
        CHECK(by_spectrum(phi, trials, KSPEC_CENTER_DEFAULT, KSPEC_SPECTRUM_METHOD_FIT) == want);
    if (center == KSPEC_CENTER_NONE)
        CHECK(by_spectrum(phi, trials, KSPEC_CENTER_DEFAULT, KSPEC_SPECTRUM_METHOD_MOMENTS) == want);
}

TEST(one_dimension_each) {
    for (size_t c = 0; c < CASES; c++) {
        kspec_matrix phi[TRIALS];
        const size_t n = cases[c].trials;
        const int holes = cases[c].missing > 0;
        draw(c, phi);
        for (int k = KSPEC_CENTER_NONE; k <= (holes ? KSPEC_CENTER_ROWS : KSPEC_CENTER_COLS); k++) {
            const kspec_center center = (kspec_center)k;
            const double want = by_dimension(phi, n, center, holes);
            CHECK(isfinite(want));
            CHECK(by_moments(phi, n, center, holes, 0) == want);
            CHECK(by_moments(phi, n, center, holes, KSPEC_ESTIMATOR_EXACT) == want);
            if (center == KSPEC_CENTER_NONE) {
                CHECK(by_moments(phi, n, KSPEC_CENTER_DEFAULT, holes, 0) == want);
                CHECK(by_moments(phi, n, center, holes, KSPEC_ESTIMATOR_PATH) == want);
            }
            if (center == KSPEC_CENTER_ROWS) CHECK(by_dimension(phi, n, KSPEC_CENTER_DEFAULT, holes) == want);
            if (!holes) check_spectrum(phi, n, center, want);
            if (!holes && center != KSPEC_CENTER_COLS) check_compare(phi, n, center, want);
            if (!holes && center == KSPEC_CENTER_ROWS) check_compare(phi, n, KSPEC_CENTER_DEFAULT, want);
        }
        for (size_t t = 0; t < n; t++) free((void *)phi[t].data);
    }
}

TEST(what_cannot_be_centred_so) {
    kspec_matrix phi[TRIALS];
    kspec_error err;
    draw(0, phi);
    kspec_compare_opts o = {.size = sizeof o, .center = KSPEC_CENTER_COLS, .no_shared = 1};
    kspec_compare_result *r;
    CHECK(kspec_compare(phi, 1, phi, 1, &o, &r, &err) == KSPEC_E_ARG);
    CHECK(strstr(err.msg, "not over columns"));
    o.center = (kspec_center)5;
    CHECK(kspec_compare(phi, 1, phi, 1, &o, &r, &err) == KSPEC_E_ARG);
    CHECK(strstr(err.msg, "unknown center 5"));
    kspec_dimension_opts d = {.size = sizeof d, .center = KSPEC_CENTER_BOTH};
    kspec_dimension_result *s;
    CHECK(kspec_dimension(phi, 1, &d, &s, &err) == KSPEC_E_ARG);
    free((void *)phi[0].data);
}

int main(void) {
    RUN(one_dimension_each);
    RUN(what_cannot_be_centred_so);
    return test_done();
}
