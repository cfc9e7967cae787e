/*
 * What docs/moments.md says of variance, bias and coverage, measured: over many seeds, matrices of a process
 * whose moments are known; the mean, the standard deviation, the jackknife's standard error, and how often
 * the nominal 95% interval covers the truth. Usage: bench_variance [SEEDS [FIRST_SEED]]
 */
#include "kspec.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct {
    size_t P, Q, dim;
    double eta;
} setting;

static const setting settings[] = {{60, 60, 4, 1}, {100, 200, 2, 1}, {100, 100, 5, 4},
                                   {30, 60, 4, 4}, {50, 80, 3, 2},   {40, 120, 6, 1}};

typedef struct {
    const char *name;
    unsigned estimator;
    int permutations;
} contender;

static const contender contenders[] = {
    {"naive", KSPEC_ESTIMATOR_NAIVE, 0},           {"path", KSPEC_ESTIMATOR_PATH, 0},
    {"path, 4 orders", KSPEC_ESTIMATOR_PATH, 4},   {"path, 8 orders", KSPEC_ESTIMATOR_PATH, 8},
    {"path, 16 orders", KSPEC_ESTIMATOR_PATH, 16}, {"exact", KSPEC_ESTIMATOR_EXACT, 0},
};

enum { NMAX = 6 };

static void die(const kspec_error *e) {
    fprintf(stderr, "%s\n", e->msg);
    exit(1);
}

int main(int argc, char **argv) {
    int seeds = argc > 1 ? atoi(argv[1]) : 500;
    uint64_t first = argc > 2 ? strtoull(argv[2], NULL, 10) : 0;
    kspec_error e;
    for (size_t s = 0; s < sizeof settings / sizeof *settings; s++) {
        const setting *t = &settings[s];
        double *x = malloc(t->P * t->Q * sizeof *x), eta[16], truth[NMAX];
        for (size_t l = 0; l < t->dim; l++) eta[l] = t->eta;
        if (!x || kspec_theory_rbf_moments(eta, t->dim, NMAX, truth, NULL, &e)) die(&e);
        printf("\nP = %zu, Q = %zu, d = %zu, eta = %g, %d seeds\n", t->P, t->Q, t->dim, t->eta, seeds);
        printf("| estimator | n | mean / truth | SD / truth | jackknife / SD | coverage of 95%% "
               "|\n|---|---|---|---|---|---|\n");
        for (size_t c = 0; c < sizeof contenders / sizeof *contenders; c++) {
            int nmax = contenders[c].estimator == KSPEC_ESTIMATOR_EXACT ? 4 : NMAX;
            double sum[NMAX] = {0}, sum2[NMAX] = {0}, se[NMAX] = {0};
            int covered[NMAX] = {0};
            for (int seed = 0; seed < seeds; seed++) {
                kspec_generate_opts g = {.size = sizeof g,
                                         .process = KSPEC_GENERATE_RFF,
                                         .rows = t->P,
                                         .cols = t->Q,
                                         .dim = t->dim,
                                         .eta = &t->eta,
                                         .eta_count = 1,
                                         .seed = first + (uint64_t)seed,
                                         .threads = 1};
                kspec_generator *make;
                if (kspec_generate_open(&g, &make, &e) || kspec_generate_rows(make, 0, 0, t->P, x, &e))
                    die(&e);
                kspec_generate_close(make);
                kspec_matrix phi = {x, t->P, t->Q, (ptrdiff_t)t->Q, 1};
                kspec_moments_opts o = {.size = sizeof o,
                                        .nmax = nmax,
                                        .estimators = contenders[c].estimator,
                                        .permutations = contenders[c].permutations,
                                        .seed = first + (uint64_t)seed,
                                        .threads = 1};
                kspec_moments_result *r;
                if (kspec_moments(&phi, 1, &o, &r, &e)) die(&e);
                for (int n = 0; n < nmax; n++) {
                    const kspec_estimate *m = r->estimates[n];
                    sum[n] += m->value, sum2[n] += m->value * m->value, se[n] += m->std_error * m->std_error;
                    covered[n] += m->ci_low <= truth[n] && truth[n] <= m->ci_high;
                }
                kspec_moments_free(r);
            }
            for (int n = 1; n < nmax; n++) {
                double mean = sum[n] / seeds, sd = sqrt((sum2[n] - seeds * mean * mean) / (seeds - 1));
                printf("| %s | %d | %.3f | %.3f | %.2f | %.1f%% |\n", contenders[c].name, n + 1,
                       mean / truth[n], sd / truth[n], sqrt(se[n] / seeds) / sd, 100.0 * covered[n] / seeds);
            }
        }
        free(x);
    }
    return 0;
}
