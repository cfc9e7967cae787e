/* The fit against the reference program, on matrices of mixed kind and size. */
#include "help/spectrum.h"
#include "kspec.h"
#include "test.h"

enum { FLAT, LEVELS, HARMONIC, STEEP, GEOMETRIC, SPIKED, RFF };
enum { COUNT = 10, LARGEST = 200 * 150 };

static const struct {
    int kind;
    size_t P, Q, dim;
    double eta, noise;
    size_t trials;
    int given;
    uint64_t seed;
    double lambda[COUNT], low[COUNT], high[COUNT];
} rows[] = {
#include "oracle/spectrum_parity.inc"
};

static double eigenvalue(int kind, double i) {
    switch (kind) {
    case FLAT: return 0.3;
    case LEVELS: return i <= 5 ? 1 : 0.1;
    case HARMONIC: return 1 / i;
    case STEEP: return pow(i, -1.5);
    case GEOMETRIC: return pow(0.8, i);
    case SPIKED: return i == 1 ? 4 : i == 2 ? 2 : 0.05;
    default: return NAN;
    }
}

static void draw(size_t k, double *x) {
    double lambda[LARGEST / 100], eta[8];
    for (size_t i = 0; i < rows[k].dim; i++) lambda[i] = eigenvalue(rows[k].kind, (double)(i + 1));
    for (size_t i = 0; i < 8; i++) eta[i] = rows[k].eta;
    kspec_generate_opts g = {.size = sizeof g,
                             .process = rows[k].kind == RFF ? KSPEC_PROCESS_RFF : KSPEC_PROCESS_LINEAR,
                             .dim = rows[k].dim,
                             .noise = rows[k].noise,
                             .trials = rows[k].trials,
                             .seed = rows[k].seed};
    if (rows[k].kind == RFF)
        g.eta = eta, g.eta_count = rows[k].dim;
    else
        g.eigenvalues = lambda, g.eigenvalue_count = rows[k].dim;
    kspec_error e;
    CHECK_MSG(kspec_generate(rows[k].P, rows[k].Q, &g, x, &e) == KSPEC_OK, "%s", e.msg);
}

/* Every number within a fifth of its interval's half-width; most agree to four digits. */
TEST(eigenvalues_of_the_reference) {
    static double x[2 * LARGEST];
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        size_t P = rows[k].P, Q = rows[k].Q;
        draw(k, x);
        kspec_matrix phi[2] = {{x, P, Q, (ptrdiff_t)Q, 1}, {x + P * Q, P, Q, (ptrdiff_t)Q, 1}};
        kspec_spectrum_opts o = {.size = sizeof o, .noise = rows[k].given ? rows[k].noise : 0};
        kspec_spectrum_result *r;
        kspec_error e;
        CHECK_MSG(spectrum_of(phi, rows[k].trials, NULL, &o, &r, &e) == KSPEC_OK, "row %zu: %s", k, e.msg);
        if (!r) continue;
        for (size_t i = 0; i < COUNT && i < r->rank; i++) {
            double fifth = 0.1 * (rows[k].high[i] - rows[k].low[i]) + 1e-6 * rows[k].lambda[i];
            CHECK_MSG(fabs(r->eigenvalues[i] - rows[k].lambda[i]) <= fifth, "row %zu, %zu: %g != %g", k,
                      i + 1, r->eigenvalues[i], rows[k].lambda[i]);
            CHECK_MSG(fabs(r->ci_low[i] - rows[k].low[i]) <= fifth, "row %zu, low %zu: %g != %g", k, i + 1,
                      r->ci_low[i], rows[k].low[i]);
            CHECK_MSG(fabs(r->ci_high[i] - rows[k].high[i]) <= fifth, "row %zu, high %zu: %g != %g", k, i + 1,
                      r->ci_high[i], rows[k].high[i]);
        }
        kspec_free(r);
    }
}

int main(void) {
    RUN(eigenvalues_of_the_reference);
    return test_done();
}
