/*
 * The variance, bias and coverage that docs/measurements/moments.md states.
 *
 *     bench_variance [SEEDS [FIRST_SEED]]
 *
 * Draws matrices of a process whose moments are known, one per seed, and prints for each estimator the mean,
 * the standard deviation, the jackknife's standard error, and how often the nominal 95% interval covers the
 * truth. Under mpirun the ranks share the seeds out.
 */
#include "bench/lib/seeds.h"
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

/* What the numbers of a seed are made from; `x` is room for the matrix */
typedef struct {
    const setting *t;
    const contender *c;
    int nmax;
    uint64_t first;
    double *x;
} source;

/* Of every order: the value, its standard error, the ends of its interval */
enum { M_VALUE, M_ERROR, M_LOW, M_HIGH, M_NUMBERS };

static void moments_of(void *ctx, size_t seed, double *numbers) {
    const source *s = ctx;
    kspec_error e;
    kspec_generate_opts g = {.size = sizeof g,
                             .process = KSPEC_PROCESS_RFF,
                             .dim = s->t->dim,
                             .eta = &s->t->eta,
                             .eta_count = 1,
                             .seed = s->first + seed,
                             .threads = 1};
    if (kspec_generate(s->t->P, s->t->Q, &g, s->x, &e)) die(&e);
    kspec_matrix phi = {s->x, s->t->P, s->t->Q, (ptrdiff_t)s->t->Q, 1};
    kspec_moments_opts o = {.size = sizeof o,
                            .nmax = s->nmax,
                            .estimators = s->c->estimator,
                            .permutations = s->c->permutations,
                            .seed = s->first + seed,
                            .threads = 1};
    kspec_moments_result *r;
    if (kspec_moments(&phi, 1, &o, &r, &e)) die(&e);
    for (int n = 0; n < s->nmax; n++, numbers += M_NUMBERS) {
        const kspec_estimate *m = r->estimates[n];
        numbers[M_VALUE] = m->value, numbers[M_ERROR] = m->std_error;
        numbers[M_LOW] = m->ci_low, numbers[M_HIGH] = m->ci_high;
    }
    kspec_free(r);
}

static void print_rows(const source *s, int seeds, const double *truth) {
    double *all = seeds_map((size_t)seeds, NMAX * M_NUMBERS, 1, moments_of, (void *)s);
    for (int n = 1; n < s->nmax; n++) {
        double sum = 0, sum2 = 0, se = 0;
        int covered = 0;
        for (int seed = 0; seed < seeds; seed++) {
            const double *m = all + (seed * NMAX + n) * M_NUMBERS;
            sum += m[M_VALUE], sum2 += m[M_VALUE] * m[M_VALUE], se += m[M_ERROR] * m[M_ERROR];
            covered += m[M_LOW] <= truth[n] && truth[n] <= m[M_HIGH];
        }
        double mean = sum / seeds, sd = sqrt((sum2 - seeds * mean * mean) / (seeds - 1));
        printf("| %s | %d | %.3f | %.3f | %.2f | %.1f%% |\n", s->c->name, n + 1, mean / truth[n],
               sd / truth[n], sqrt(se / seeds) / sd, 100.0 * covered / seeds);
    }
    free(all);
}

int main(int argc, char **argv) {
    int seeds = argc > 1 ? atoi(argv[1]) : 500;
    uint64_t first = argc > 2 ? strtoull(argv[2], NULL, 10) : 0;
    kspec_error e;
    seeds_begin();
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
            print_rows(&(source){t, &contenders[c], nmax, first, x}, seeds, truth);
        }
        free(x);
    }
    seeds_end();
    return 0;
}
