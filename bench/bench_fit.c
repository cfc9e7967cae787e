/*
 * How well `kspec spectrum` recovers eigenvalues (docs/measurements/spectrum.md):
 *     bench_fit [--cell TEXT]... [--seeds FROM COUNT] [--threads N] [--data DIR] [--given] [--csv | --brief]
 *
 * Runs processes x sizes x noise levels x seeds, N matrices at a time, each on one thread. A cell is called
 * "power1 100x300 0.1": --cell takes those whose name holds TEXT, as often as given. --given tells the fit
 * the level of the noise. Prints a table per size and noise, or with --csv one line per matrix, or with
 * --brief one row of a table for all (bench/ablation.sh). Under mpirun the ranks share the matrices out.
 */
#include "base/sort.h"
#include "bench/lib/processes.h"
#include "bench/lib/seeds.h"
#include "fit/describe.h"
#include "kspec/host.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const size_t sizes[][2] = {{50, 50}, {100, 100}, {100, 300}, {300, 100}, {300, 600}};
static const double levels[] = {0, 0.1, 0.5};
enum { SIZES = 5, LEVELS = 3, FIRST = 10, CELLS = PROCESSES * SIZES * LEVELS, FILTERS = 64 };

/*
 * One matrix. Errors are sums of |estimate - truth| over the trace. Of the first ten eigenvalues: covered,
 * and the median width log(high/low).
 */
typedef struct {
    double sample_error, error, sample_top, top, covered[FIRST], width, exponent, dimension, z, seconds;
    double resolved, failed;
} outcome;
enum { NUMBERS = sizeof(outcome) / sizeof(double) };

typedef struct {
    int process, size, level;
    uint64_t seed;
    outcome o;
} job;

static struct {
    process *process[PROCESSES];
    job *jobs;
    size_t count;
    int given, csv, brief;
} bench;

static void cell_name(int which, int size, int level, char *name, size_t room) {
    snprintf(name, room, "%s %zux%zu %g", process_name(which), sizes[size][0], sizes[size][1], levels[level]);
}

static int inside(double low, double x, double high) { return low <= x && x <= high; }

/* Does the interval of the exponent hold that of the truth over the same eigenvalues? NaN: it has none. */
static double exponent_covered(const kspec_spectrum_result *r, size_t n, const double *truth) {
    size_t to = r->fit->exponent_to < n ? r->fit->exponent_to : n;
    double *theta = malloc((to + 1) * sizeof *theta);
    for (size_t i = 0; i < to; i++) theta[i] = log(truth[i]);
    ks_quantity q = {.kind = KS_EXPONENT, .at = 1, .from = r->fit->exponent_from, .to = r->fit->exponent_to};
    double a = r->fit->exponent_to <= n && to > 0 && truth[to - 1] > 0
                   ? ks_quantity_of(&q, to, theta, NULL, NULL)
                   : NAN;
    free(theta);
    return isfinite(a) && isfinite(r->fit->exponent)
               ? inside(r->fit->exponent_ci_low, a, r->fit->exponent_ci_high)
               : NAN;
}

static void measure(const kspec_spectrum_result *r, size_t n, const double *truth, double trace, outcome *o) {
    size_t all = r->rank > n ? r->rank : n;
    double width[FIRST];
    for (size_t i = 0; i < all; i++) {
        double lambda = i < n ? truth[i] : 0;
        o->error += fabs((i < r->rank ? r->eigenvalues[i] : 0) - lambda) / trace;
        o->sample_error += fabs((i < r->sample_count ? r->sample_eigenvalues[i] : 0) - lambda) / trace;
    }
    o->top = fabs(r->eigenvalues[0] / truth[0] - 1);
    o->sample_top = fabs(r->sample_eigenvalues[0] / truth[0] - 1);
    for (size_t i = 0; i < FIRST; i++) {
        o->covered[i] = inside(r->ci_low[i], i < n ? truth[i] : 0, r->ci_high[i]);
        width[i] = fmin(log(r->ci_high[i] / r->ci_low[i]), 20); /* no lower end: 20 */
    }
    ks_sort_ascending(width, FIRST);
    o->width = 0.5 * (width[FIRST / 2 - 1] + width[FIRST / 2]);
    o->exponent = exponent_covered(r, n, truth);
    size_t known = 0; /* where the data resolve it */
    for (size_t k = 0; k < r->t_count; k++) known += isfinite(r->effective_dimension[k]);
    if (!known) o->dimension = NAN;
    for (size_t k = 0; k < r->t_count; k++) {
        if (isnan(r->effective_dimension[k])) continue;
        double d = 0;
        for (size_t i = 0; i < n; i++) d += truth[i] / (truth[i] + r->t[k]);
        o->dimension +=
            (double)inside(r->effective_dimension_ci_low[k], d, r->effective_dimension_ci_high[k]) /
            (double)known;
    }
    o->z = r->fit->z[1];
    o->resolved = (double)r->fit->resolved;
    o->seconds = r->seconds;
}

static void run_job(job *j) {
    const process *p = bench.process[j->process];
    size_t P = sizes[j->size][0], Q = sizes[j->size][1];
    const double *truth;
    double trace, *x = malloc(P * Q * sizeof *x);
    size_t n = process_truth(p, &truth, &trace);
    process_draw(p, P, Q, levels[j->level] * trace, j->seed, x);
    kspec_matrix phi = {x, P, Q, (ptrdiff_t)Q, 1};
    kspec_spectrum_opts o = {.size = sizeof o, .threads = 1, .center = KSPEC_CENTER_NONE};
    if (bench.given) o.noise = sqrt(levels[j->level] * trace), o.no_noise = levels[j->level] == 0;
    kspec_spectrum_result *r;
    kspec_error e;
    if (kspec_spectrum(&phi, 1, &o, &r, &e)) {
        fprintf(stderr, "%s %zux%zu seed %llu: %s\n", process_name(j->process), P, Q,
                (unsigned long long)j->seed, e.msg);
        j->o.failed = 1;
    } else {
        measure(r, n, truth, trace, &j->o);
        kspec_free(r);
    }
    free(x);
}

static void print_line(const job *j) {
    char name[96];
    const outcome *o = &j->o;
    cell_name(j->process, j->size, j->level, name, sizeof name);
    for (char *c = name; *c; c++)
        if (*c == ' ') *c = ',';
    printf("%s,%llu,%g,%.4f,%.4f,%.4f,%.4f,", name, (unsigned long long)j->seed, o->failed, o->sample_error,
           o->error, o->sample_top, o->top);
    for (int i = 0; i < FIRST; i++) printf("%d", (int)o->covered[i]);
    printf(",%.3f,%g,%.2f,%.2f,%g,%.3f\n", o->width, o->exponent, o->dimension, o->z, o->resolved,
           o->seconds);
}

static void work(void *unused, size_t k, double *numbers) {
    job j = bench.jobs[k];
    (void)unused;
    run_job(&j);
    memcpy(numbers, &j.o, sizeof j.o);
}

/* ---- tables ---- */

/* Sums over the matrices of a row of a table */
typedef struct {
    double n, failed, sample_error, error, sample_top, top, first, ten, width, exponent, exponents, dimension,
        dimensions, seconds, slowest, worst;
} sums;

static void add(sums *s, const outcome *o) {
    s->failed += o->failed;
    if (o->failed) return;
    s->n++;
    s->sample_error += o->sample_error, s->error += o->error;
    s->sample_top += o->sample_top, s->top += o->top;
    s->first += o->covered[0];
    for (int i = 0; i < FIRST; i++) s->ten += o->covered[i] / FIRST;
    s->width += o->width;
    if (!isnan(o->exponent)) s->exponent += o->exponent, s->exponents++;
    if (!isnan(o->dimension)) s->dimension += o->dimension, s->dimensions++;
    s->seconds += o->seconds;
    s->slowest = fmax(s->slowest, o->seconds);
    s->worst += fabs(o->z) > 3;
}

static void print_row(const char *name, const sums *s) {
    if (s->n == 0) return;
    printf("| %s | %.3f, %.3f | %.2f, %.2f | %.0f%% | %.0f%% | %.2f | ", name, s->sample_error / s->n,
           s->error / s->n, s->sample_top / s->n, s->top / s->n, 100 * s->first / s->n, 100 * s->ten / s->n,
           s->width / s->n);
    if (s->exponents > 0) printf("%.0f%%", 100 * s->exponent / s->exponents);
    printf(" | %.0f%% | %.0f%% | %.2f, %.2f |", 100 * s->dimension / s->dimensions, 100 * s->worst / s->n,
           s->seconds / s->n, s->slowest);
    if (s->failed > 0) printf(" %g failed", s->failed);
    printf("\n");
}

static void print_table(int size, int level) {
    sums all = {0}, one[PROCESSES] = {{0}};
    for (size_t k = 0; k < bench.count; k++) {
        const job *j = &bench.jobs[k];
        if (j->size != size || j->level != level) continue;
        add(&all, &j->o);
        add(&one[j->process], &j->o);
    }
    if (all.n + all.failed == 0) return;
    printf("\n%zu×%zu, noise %g of the signal's variance%s\n\n", sizes[size][0], sizes[size][1],
           levels[level], bench.given ? ", given" : "");
    printf("| process | total error: sample, fit | λ₁ off by: sample, fit | λ₁ covered | λ₁…λ₁₀ covered | "
           "width | "
           "exponent covered | dimension covered | z beyond 3 | seconds: mean, most |\n"
           "|---|---|---|---|---|---|---|---|---|---|\n");
    for (int p = 0; p < PROCESSES; p++) print_row(process_name(p), &one[p]);
    print_row("**all**", &all);
}

/* Total error at each level of noise, how often intervals cover, and how wide those of the first ten are. */
static void print_brief(void) {
    sums level[LEVELS] = {{0}}, all = {0};
    for (size_t k = 0; k < bench.count; k++) {
        add(&level[bench.jobs[k].level], &bench.jobs[k].o);
        add(&all, &bench.jobs[k].o);
    }
    for (int l = 0; l < LEVELS; l++) printf("| %.3f ", level[l].error / level[l].n);
    printf("| %.1f%% | %.1f%% | %.1f%% | %.2f |\n", 100 * all.first / all.n, 100 * all.ten / all.n,
           100 * all.dimension / all.dimensions, all.width / all.n);
}

static int wanted(const char *name, int filters, const char *const *filter) {
    for (int k = 0; k < filters; k++)
        if (strstr(name, filter[k])) return 1;
    return filters == 0;
}

int main(int argc, char **argv) {
    const char *filter[FILTERS], *data = "../shared/data";
    int filters = 0, threads = kspec_default_threads();
    uint64_t first = 1, seeds = 5;
    for (int k = 1; k < argc; k++) {
        if (strcmp(argv[k], "--cell") == 0 && k + 1 < argc && filters < FILTERS)
            filter[filters++] = argv[++k];
        else if (strcmp(argv[k], "--seeds") == 0 && k + 2 < argc)
            first = strtoull(argv[k + 1], NULL, 10), seeds = strtoull(argv[k + 2], NULL, 10), k += 2;
        else if (strcmp(argv[k], "--threads") == 0 && k + 1 < argc)
            threads = atoi(argv[++k]);
        else if (strcmp(argv[k], "--data") == 0 && k + 1 < argc)
            data = argv[++k];
        else if (strcmp(argv[k], "--given") == 0)
            bench.given = 1;
        else if (strcmp(argv[k], "--csv") == 0)
            bench.csv = 1;
        else if (strcmp(argv[k], "--brief") == 0)
            bench.brief = 1;
        else
            return fprintf(stderr, "usage: bench_fit [--cell TEXT]... [--seeds FROM COUNT] [--threads N] "
                                   "[--data DIR] [--given] [--csv | --brief]\n"),
                   2;
    }
    seeds_begin();
    bench.jobs = calloc(CELLS * (seeds ? seeds : 1), sizeof *bench.jobs);
    /* the largest first, so that no thread is left with one at the end */
    for (int s = SIZES - 1; s >= 0; s--)
        for (int p = 0; p < PROCESSES; p++)
            for (int l = 0; l < LEVELS; l++) {
                char name[96];
                cell_name(p, s, l, name, sizeof name);
                if (!wanted(name, filters, filter)) continue;
                if (!bench.process[p]) bench.process[p] = process_open(p, data);
                if (!bench.process[p]) {
                    fprintf(stderr, "skip: %s has no data below %s; run 'make data'\n", name, data);
                    continue;
                }
                for (uint64_t k = 0; k < seeds; k++)
                    bench.jobs[bench.count++] = (job){.process = p, .size = s, .level = l, .seed = first + k};
            }
    if (threads < 1 || threads > 1024) threads = 1;
    double *all = seeds_map(bench.count, NUMBERS, threads, work, NULL);
    for (size_t k = 0; k < bench.count; k++) memcpy(&bench.jobs[k].o, all + k * NUMBERS, sizeof(outcome));
    free(all);
    if (bench.csv)
        printf("process,size,noise,seed,failed,sample_error,error,sample_top,top,covered,width,exponent,"
               "dimension,z,"
               "resolved,seconds\n");
    for (size_t k = 0; k < bench.count && bench.csv; k++) print_line(&bench.jobs[k]);
    if (bench.brief) print_brief();
    for (int s = 0; s < SIZES && !bench.csv && !bench.brief; s++)
        for (int l = 0; l < LEVELS; l++) print_table(s, l);
    for (int p = 0; p < PROCESSES; p++)
        if (bench.process[p]) process_close(bench.process[p]);
    free(bench.jobs);
    seeds_end();
    return 0;
}
