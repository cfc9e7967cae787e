/*
 * The accuracy that docs/measurements/spectrum.md states: bench_spectrum [SEEDS [FIRST_SEED]]
 *
 * Prints the total absolute error of the recovered eigenvalues, as a share of their sum, for processes whose
 * spectrum is known: for each way to weight the moments, several numbers of moments and several grids. Then
 * how often the nominal 95% intervals cover the truth. Under mpirun the ranks share the seeds out.
 */
#include "bench/lib/seeds.h"
#include "kspec.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { D_MAX = 100, K_MAX = 10 };

typedef struct {
    const char *name;
    kspec_process process;
    size_t P, Q, rank, dim;
    double eta;                  /* rff */
    double (*eigenvalue)(int k); /* linear */
} setting;

static double flat(int k) { return k < 20 ? 0.3 : 0; }
static double two_levels(int k) { return k < 5 ? 1 : 0.1; }
static double harmonic(int k) { return 1.0 / (k + 1); }
static double geometric(int k) { return pow(0.7, k); }

static const setting settings[] = {
    {"20 times 0.3", KSPEC_PROCESS_LINEAR, 100, 100, 20, 20, 0, flat},
    {"5 times 1, 15 times 0.1", KSPEC_PROCESS_LINEAR, 100, 100, 20, 20, 0, two_levels},
    {"1/k, k ≤ 50", KSPEC_PROCESS_LINEAR, 200, 100, 50, 50, 0, harmonic},
    {"0.7^k, k < 30", KSPEC_PROCESS_LINEAR, 150, 150, 30, 30, 0, geometric},
    {"RFF η = 4, 4", KSPEC_PROCESS_RFF, 100, 100, 50, 2, 4, NULL},
    {"RFF η = 1, 1, 1, 1", KSPEC_PROCESS_RFF, 200, 200, 100, 4, 1, NULL},
    {"RFF η = 400", KSPEC_PROCESS_RFF, 20, 20, 50, 1, 400, NULL},
};
enum { SETTINGS = sizeof settings / sizeof *settings };

/* The options that are compared; all others are the defaults */
typedef struct {
    const char *name;
    unsigned estimator;
    /* draws 0: none; sample: the eigenvalues of the sample matrix instead */
    int nmax, draws, sample;
    kspec_spectrum_opts o;
    /* no rank is given */
    int free_mass;
} contender;

enum { AUTO = KSPEC_ESTIMATOR_AUTO, KV = KSPEC_ESTIMATOR_KV_ROW };
#define OPTS .o.size = sizeof(kspec_spectrum_opts)
static const contender contenders[] = {
    {"unit weights", AUTO, 6, 0, 0, OPTS, .o.weights = KSPEC_WEIGHTS_UNIT},
    {"unit weights, 10 moments", AUTO, 10, 0, 0, OPTS, .o.weights = KSPEC_WEIGHTS_UNIT},
    {"1/std. error", AUTO, 6, 0, 0, OPTS, .o.weights = KSPEC_WEIGHTS_STDERR},
    {"1/std. error, 10 moments", AUTO, 10, 0, 0, OPTS, .o.weights = KSPEC_WEIGHTS_STDERR},
    {"covariance", AUTO, 6, 0, 0, OPTS, .o.weights = KSPEC_WEIGHTS_COVARIANCE},
    {"covariance, 10 moments", AUTO, 10, 0, 0, OPTS, .o.weights = KSPEC_WEIGHTS_COVARIANCE},
    {"unit weights, mean of draws", AUTO, 6, 200, 0, OPTS, .o.weights = KSPEC_WEIGHTS_UNIT},
    {"1/std. error, mean of draws", AUTO, 6, 200, 0, OPTS, .o.weights = KSPEC_WEIGHTS_STDERR},
    {"**covariance, mean of draws** (default)", AUTO, 6, 200, 0, OPTS},
    {"… with 4 moments", AUTO, 4, 200, 0, OPTS},
    {"… with 10 moments", AUTO, 10, 200, 0, OPTS},
    {"… with midpoint quantiles", AUTO, 6, 200, 0, OPTS, .o.quantile = KSPEC_QUANTILE_MIDPOINT},
    {"… on a geometric grid", AUTO, 6, 200, 0, OPTS, .o.spacing = KSPEC_GRID_GEOMETRIC},
    {"… on 201 grid points", AUTO, 6, 200, 0, OPTS, .o.grid = 201},
    {"free mass", AUTO, 6, 0, 0, OPTS, .free_mass = 1},
    {"free mass, mean of draws", AUTO, 6, 200, 0, OPTS, .free_mass = 1},
    {"free mass, mean of draws, 10 moments", AUTO, 10, 200, 0, OPTS, .free_mass = 1},
    {"kv-row, 10 moments, unit weights", KV, 10, 0, 0, OPTS, .o.weights = KSPEC_WEIGHTS_UNIT},
    {"eigenvalues of the sample", AUTO, 2, 0, 1, OPTS},
};
enum { CONTENDERS = sizeof contenders / sizeof *contenders };

static void die(const kspec_error *e) {
    fprintf(stderr, "%s\n", e->msg);
    exit(1);
}

static void draw(const setting *s, uint64_t seed, double *x, double *truth) {
    double eta[8], c[D_MAX];
    kspec_error e;
    for (size_t l = 0; l < 8; l++) eta[l] = s->eta;
    for (int k = 0; k < (int)s->rank; k++) truth[k] = c[k] = s->eigenvalue ? s->eigenvalue(k) : 0;
    kspec_generate_opts g = {.size = sizeof g, .process = s->process, .dim = s->dim, .seed = seed};
    if (s->eigenvalue) {
        g.eigenvalues = c, g.eigenvalue_count = s->dim;
    } else {
        g.eta = eta, g.eta_count = s->dim;
        if (kspec_theory_rbf_eigenvalues(eta, s->dim, s->rank, truth, NULL, &e)) die(&e);
    }
    if (kspec_generate(s->P, s->Q, &g, x, &e)) die(&e);
}

/* The moments of one matrix by one estimator, up to K_MAX, and their errors */
typedef struct {
    double m[K_MAX], se[K_MAX], R[K_MAX * K_MAX];
} estimated;

static void estimate(const kspec_matrix *phi, unsigned estimator, estimated *out) {
    kspec_moments_opts how = {.size = sizeof how, .nmax = K_MAX, .estimators = estimator, .correlation = 1};
    kspec_moments_result *r;
    kspec_error e;
    if (kspec_moments(phi, 1, &how, &r, &e)) die(&e);
    for (int n = 0; n < K_MAX; n++) {
        out->m[n] = r->estimates[n]->value;
        out->se[n] = r->estimates[n]->std_error;
    }
    memcpy(out->R, r->correlation, sizeof out->R);
    kspec_free(r);
}

static kspec_spectrum_result *fit(const contender *c, const estimated *from, const kspec_spectrum_opts *o) {
    kspec_spectrum_result *r;
    double R[K_MAX * K_MAX];
    kspec_error e;
    for (int k = 0; k < c->nmax * c->nmax; k++) R[k] = from->R[k / c->nmax * K_MAX + k % c->nmax];
    if (kspec_spectrum_from_moments(from->m, from->se, R, (size_t)c->nmax, o, &r, &e)) die(&e);
    return r;
}

/* Of one matrix: each contender's error, and whether intervals cover the first eigenvalue, the fifth, all */
typedef struct {
    double error[CONTENDERS], covered[3];
} outcome;
enum { NUMBERS = sizeof(outcome) / sizeof(double) };

typedef struct {
    const setting *s;
    uint64_t first;
} source;

static void one_matrix(void *ctx, size_t seed, double *numbers) {
    static double x[200 * 200], truth[D_MAX];
    const setting *s = ((const source *)ctx)->s;
    outcome found = {0};
    draw(s, ((const source *)ctx)->first + seed, x, truth);
    double sum = 0;
    for (size_t j = 0; j < s->rank; j++) sum += truth[j];
    kspec_matrix phi = {x, s->P, s->Q, (ptrdiff_t)s->Q, 1};
    estimated unbiased, kv;
    estimate(&phi, AUTO, &unbiased);
    estimate(&phi, KV, &kv);
    kspec_moments_opts few = {.size = sizeof few, .nmax = 1};
    kspec_spectrum_opts plain = {.size = sizeof plain, .no_draws = 1, .moments = &few};
    kspec_spectrum_result *sample;
    kspec_error e;
    if (kspec_spectrum(&phi, 1, &plain, &sample, &e)) die(&e);
    for (int c = 0; c < CONTENDERS; c++) {
        kspec_spectrum_opts o = contenders[c].o;
        o.draws = contenders[c].draws;
        o.no_draws = !o.draws;
        o.upper = sample->sample_eigenvalues[0];
        const estimated *from = contenders[c].estimator == AUTO ? &unbiased : &kv;
        o.rank = contenders[c].free_mass ? 0 : s->rank;
        kspec_spectrum_result *r = fit(&contenders[c], from, &o);
        for (size_t j = s->rank; j < r->rank; j++) found.error[c] += r->eigenvalues[j] / sum;
        for (size_t j = 0; j < s->rank; j++) {
            double listed = j < r->rank ? r->eigenvalues[j] : 0;
            double of_sample = j < sample->sample_count ? sample->sample_eigenvalues[j] : 0;
            found.error[c] += fabs((contenders[c].sample ? of_sample : listed) - truth[j]) / sum;
            if (!strstr(contenders[c].name, "default")) continue;
            double in = r->ci_low[j] <= truth[j] && truth[j] <= r->ci_high[j];
            found.covered[0] += (j == 0) * in;
            found.covered[1] += (j == 4) * in;
            found.covered[2] += in / (double)s->rank;
        }
        kspec_free(r);
    }
    kspec_free(sample);
    memcpy(numbers, &found, sizeof found);
}

/* Means over the seeds */
static outcome mean_of(const setting *s, uint64_t first, int seeds) {
    double mean[NUMBERS] = {0};
    double *all = seeds_map((size_t)seeds, NUMBERS, 1, one_matrix, &(source){s, first});
    for (int k = 0; k < seeds * NUMBERS; k++) mean[k % NUMBERS] += all[k] / seeds;
    free(all);
    outcome o;
    memcpy(&o, mean, sizeof o);
    return o;
}

int main(int argc, char **argv) {
    int seeds = argc > 1 ? atoi(argv[1]) : 50;
    uint64_t first = argc > 2 ? strtoull(argv[2], NULL, 10) : 0;
    outcome means[SETTINGS];
    seeds_begin();
    for (int k = 0; k < SETTINGS; k++) means[k] = mean_of(&settings[k], first, seeds);
    printf("%d seeds\n\n|", seeds);
    for (int k = 0; k < SETTINGS; k++)
        printf(" | %s, %zu×%zu", settings[k].name, settings[k].P, settings[k].Q);
    printf(" |\n|---");
    for (int k = 0; k < SETTINGS; k++) printf("|---");
    printf("|\n");
    for (int c = 0; c < CONTENDERS; c++) {
        printf("| %s", contenders[c].name);
        for (int k = 0; k < SETTINGS; k++) printf(" | %.3f", means[k].error[c]);
        printf(" |\n");
    }
    const char *what[] = {"λ₁", "λ₅", "all"};
    for (int i = 0; i < 3; i++) {
        printf("| 95%% intervals cover, %s", what[i]);
        for (int k = 0; k < SETTINGS; k++) printf(" | %.0f%%", 100 * means[k].covered[i]);
        printf(" |\n");
    }
    seeds_end();
    return 0;
}
