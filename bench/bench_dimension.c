/*
 * The coverage and the levels in docs/measurements/dimension.md: bench_dimension [SEEDS [FIRST_SEED [TABLE]]]
 *
 * Draws matrices of processes whose dimension is known, one per seed. Prints for each process and size how
 * often the nominal 95% interval of the dimension covers the truth; then, for two matrices of the same rows
 * and one kernel, how often the interval of the alignment covers 1 and how often p falls below 0.05; then,
 * for two kernels with the same eigenfunctions and other eigenvalues, whose alignment and differences are
 * known, how often the intervals of these cover the truth. Under mpirun the ranks share the seeds out.
 */
#include "bench/lib/seeds.h"
#include "kspec.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct {
    const char *name;
    kspec_process kind;
    size_t dim;
    /* linear: eigenvalue l is l^-power; rff: eta of every dimension */
    double power, eta;
    /* 1: every column is scaled, so that its entries over features have Student's t distribution */
    int heavy;
} process;

static const process processes[] = {
    {"linear, 10 equal eigenvalues", KSPEC_PROCESS_LINEAR, 10, 0, 0, 0},
    {"linear, 30 eigenvalues 1/i", KSPEC_PROCESS_LINEAR, 30, 1, 0, 0},
    {"the same, features Student t₅", KSPEC_PROCESS_LINEAR, 30, 1, 0, 1},
    {"linear, 30 eigenvalues 1/i²", KSPEC_PROCESS_LINEAR, 30, 2, 0, 0},
    {"rff, 2 dimensions", KSPEC_PROCESS_RFF, 2, 0, 1, 0},
};
enum { PROCESSES = sizeof processes / sizeof *processes, MOST = 32 };

/* pairs of matrices: all but the first and the last two */
static const size_t sizes[][2] = {{30, 30}, {50, 50}, {100, 100}, {100, 300}, {300, 20}, {300, 600}};
enum { SIZES = sizeof sizes / sizeof *sizes };

static void check(kspec_status st, const kspec_error *e) {
    if (!st) return;
    fprintf(stderr, "%s\n", e->msg);
    exit(1);
}

/*
 * Centred. Of rff: m(1) = 1, m(2) = E k^2, c_1 = E k(x,y), c_2 = E (E_y k(x,y))^2, Gaussian integrals each;
 * m_c(1) = m(1) - c_1 and m_c(2) = m(2) - 2 c_2 + c_1^2.
 */
static double truth(const process *p) {
    double sum = 0, squares = 0, d = (double)p->dim, eta = p->eta;
    if (p->kind == KSPEC_PROCESS_RFF) {
        double m2 = pow(1 + 4 * eta, -d / 2), c1 = pow(1 + 2 * eta, -d / 2),
               c2 = pow((1 + eta) * (1 + 3 * eta), -d / 2);
        return (1 - c1) * (1 - c1) / (m2 - 2 * c2 + c1 * c1);
    }
    for (size_t l = 1; l <= p->dim; l++) {
        double x = pow((double)l, -p->power);
        sum += x, squares += x * x;
    }
    return sum * sum / squares;
}

/* Column by column times 1/sqrt(chi^2 of 5 degrees): all eigenvalues take one factor, the dimension none. */
static void scale_columns(size_t P, size_t Q, uint64_t seed, double *x) {
    for (size_t k = 0; k < Q; k++) {
        double z[5], sum = 0;
        kspec_random_normal(seed, UINT64_MAX, 5 * k, 5, z);
        for (int l = 0; l < 5; l++) sum += z[l] * z[l];
        for (size_t i = 0; i < P; i++) x[i * Q + k] /= sqrt(sum);
    }
}

static void draw(const process *p, size_t P, size_t Q, uint64_t seed, double *x) {
    double eigenvalues[MOST];
    for (size_t l = 0; l < p->dim; l++) eigenvalues[l] = pow((double)(l + 1), -p->power);
    kspec_generate_opts o = {.size = sizeof o, .process = p->kind, .dim = p->dim, .seed = seed, .threads = 1};
    if (p->kind == KSPEC_PROCESS_RFF)
        o.eta = &p->eta, o.eta_count = 1;
    else
        o.eigenvalues = eigenvalues, o.eigenvalue_count = p->dim;
    kspec_error e;
    check(kspec_generate(P, Q, &o, x, &e), &e);
    if (p->heavy) scale_columns(P, Q, seed, x);
}

/* ---- tables: of each seed some numbers, then their sums ---- */

/* What the numbers of a seed are made from */
typedef struct {
    const process *p;
    const struct two_kernels *kernels;
    size_t P, Q;
    uint64_t first;
    kspec_center center;
    /* room for the matrices */
    double *x;
} source;

enum { D_NAIVE, D_LOG, D_ERROR, D_LOW, D_HIGH, D_NUMBERS };

static void dimension_of(void *ctx, size_t seed, double *numbers) {
    const source *s = ctx;
    draw(s->p, s->P, s->Q, s->first + seed, s->x);
    kspec_matrix phi = {s->x, s->P, s->Q, (ptrdiff_t)s->Q, 1};
    kspec_dimension_opts o = {.size = sizeof o, .threads = 1};
    kspec_dimension_result *r;
    kspec_error e;
    check(kspec_dimension(&phi, 1, &o, &r, &e), &e);
    numbers[D_NAIVE] = r->naive, numbers[D_LOG] = log(r->dimension);
    numbers[D_ERROR] = r->std_error / r->dimension;
    numbers[D_LOW] = r->ci_low, numbers[D_HIGH] = r->ci_high;
    kspec_free(r);
}

static void coverage(const source *s, int seeds) {
    double want = truth(s->p), naive = 0, sum = 0, sum2 = 0, variance = 0;
    int covered = 0, defined = 0;
    double *all = seeds_map((size_t)seeds, D_NUMBERS, 1, dimension_of, (void *)s);
    for (int k = 0; k < seeds; k++) {
        const double *r = all + k * D_NUMBERS;
        naive += r[D_NAIVE] / seeds;
        if (isfinite(r[D_LOG]))
            defined++, sum += r[D_LOG], sum2 += r[D_LOG] * r[D_LOG], variance += r[D_ERROR] * r[D_ERROR];
        covered += r[D_LOW] <= want && want <= r[D_HIGH];
    }
    free(all);
    double mean = sum / defined, sd = sqrt((sum2 - defined * mean * mean) / (defined - 1));
    printf("| %s | %zu × %zu | %.2f | %.2f | %.2f | %.3f | %.2f | %.1f%% |\n", s->p->name, s->P, s->Q, want,
           naive, exp(mean), sd, sqrt(variance / defined) / sd, 100.0 * covered / seeds);
    if (defined < seeds) printf("  (undefined for %d seeds)\n", seeds - defined);
}

enum { DIFFERENCES = 5 }; /* dimension, m(1) ... m(4) */

/* The columns are halved: both matrices have the same rows and one kernel. Covered, count, below 0.05 each */
static void level_of(void *ctx, size_t seed, double *numbers) {
    const source *s = ctx;
    const size_t P = s->P, Q = s->Q;
    draw(s->p, P, 2 * Q, s->first + seed, s->x);
    kspec_matrix a = {s->x, P, Q, (ptrdiff_t)(2 * Q), 1}, b = {s->x + Q, P, Q, (ptrdiff_t)(2 * Q), 1};
    kspec_compare_opts o = {.size = sizeof o, .threads = 1, .center = s->center, .nmax = 4};
    kspec_compare_result *r;
    kspec_error e;
    check(kspec_compare(&a, 1, &b, 1, &o, &r, &e), &e);
    numbers[0] = r->alignment_ci_low <= 1 && 1 <= r->alignment_ci_high;
    numbers[1] = (double)r->count;
    for (size_t k = 0; k < r->count; k++) numbers[2 + k] = r->differences[k]->p < 0.05;
    kspec_free(r);
}

static void levels(const source *s, int seeds) {
    double sum[2 + DIFFERENCES] = {0};
    double *all = seeds_map((size_t)seeds, 2 + DIFFERENCES, 1, level_of, (void *)s);
    for (int k = 0; k < seeds * (2 + DIFFERENCES); k++) sum[k % (2 + DIFFERENCES)] += all[k];
    free(all);
    printf("| %s | %zu × %zu | %.1f%% |", s->p->name, s->P, s->Q, 100.0 * sum[0] / seeds);
    for (int k = 0; k < sum[1] / seeds; k++) printf(" %.1f%% |", 100.0 * sum[2 + k] / seeds);
    puts("");
}

/* ---- two kernels ---- */

/* Eigenvalue l = 0, 1, ... of DIM */
enum { DIM = 30 };
static double harmonic(size_t l) { return 1 / (double)(l + 1); }
static double square_law(size_t l) { return pow((double)(l + 1), -2); }
static double steeper(size_t l) { return pow((double)(l + 1), -2.5); }
static double reversed(size_t l) { return 1 / (double)(DIM - l); }
static double shifted(size_t l) { return 1 / (double)(1 + (l + 3) % DIM); }
static double equal(size_t l) { return l < DIM ? 1 : 0; }

typedef struct two_kernels {
    const char *name;
    double (*one)(size_t), (*two)(size_t);
    int heavy;
} two_kernels;

static const two_kernels kernels[] = {
    {"1/i and its reverse", harmonic, reversed, 0},
    {"1/i and the same, three further, Student t₅", harmonic, shifted, 1},
    {"1/i and equal", harmonic, equal, 0},
    {"1/i and 1/i²", harmonic, square_law, 0},
    {"1/i² and i^−2.5", square_law, steeper, 0},
};
enum { KERNELS = sizeof kernels / sizeof *kernels };

/* x (P x Q) = inputs (P x DIM) times random weights of these eigenvalues; which: the first or the second */
static void draw_kernel(double (*eigenvalue)(size_t), int heavy, size_t P, size_t Q, uint64_t seed,
                        uint64_t which, double *x) {
    static double inputs[300 * DIM], weights[DIM * 300];
    kspec_random_normal(seed, UINT64_MAX - 1, 0, P * DIM, inputs);
    kspec_random_normal(seed, UINT64_MAX - 2 - which, 0, DIM * Q, weights);
    for (size_t i = 0; i < P; i++)
        for (size_t k = 0; k < Q; k++) {
            double sum = 0;
            for (size_t l = 0; l < DIM; l++)
                sum += inputs[i * DIM + l] * sqrt(eigenvalue(l)) * weights[l * Q + k];
            x[i * Q + k] = sum;
        }
    if (heavy) scale_columns(P, Q, seed + (which << 40), x);
}

/* Of each kernel: its dimension, m(1), m(2); returns the alignment */
static double known(const two_kernels *t, double m[2][3]) {
    double cross = 0;
    for (int k = 0; k < 2; k++) m[k][1] = m[k][2] = 0;
    for (size_t l = 0; l < DIM; l++) {
        double a = t->one(l), b = t->two(l);
        m[0][1] += a, m[0][2] += a * a, m[1][1] += b, m[1][2] += b * b, cross += a * b;
    }
    for (int k = 0; k < 2; k++) m[k][0] = m[k][1] * m[k][1] / m[k][2];
    return cross / sqrt(m[0][2] * m[1][2]);
}

/* The alignment; covered: it, and the three differences */
static void pair_of(void *ctx, size_t seed, double *numbers) {
    const source *s = ctx;
    const two_kernels *t = s->kernels;
    const size_t P = s->P, Q = s->Q;
    double m[2][3], want = known(t, m), *y = s->x + P * Q;
    draw_kernel(t->one, t->heavy, P, Q, s->first + seed, 0, s->x);
    draw_kernel(t->two, t->heavy, P, Q, s->first + seed, 1, y);
    kspec_matrix a = {s->x, P, Q, (ptrdiff_t)Q, 1}, b = {y, P, Q, (ptrdiff_t)Q, 1};
    kspec_compare_opts o = {.size = sizeof o, .threads = 1, .nmax = 2};
    kspec_compare_result *r;
    kspec_error e;
    check(kspec_compare(&a, 1, &b, 1, &o, &r, &e), &e);
    numbers[0] = r->alignment;
    numbers[1] = r->alignment_ci_low <= want && want <= r->alignment_ci_high;
    for (int k = 0; k < 3; k++) {
        const kspec_difference *d = r->differences[k];
        double scale = t->heavy && k ? pow(3, -k) : 1; /* E 1/chi^2 of 5 degrees is 1/3 */
        numbers[2 + k] = fabs(d->value - scale * (m[0][k] - m[1][k])) <= 1.959964 * d->std_error;
    }
    kspec_free(r);
}

static void known_pair(const source *s, int seeds) {
    double m[2][3], want = known(s->kernels, m), sum[5] = {0};
    double *all = seeds_map((size_t)seeds, 5, 1, pair_of, (void *)s);
    for (int k = 0; k < seeds * 5; k++) sum[k % 5] += all[k] / (k % 5 ? 1 : seeds);
    free(all);
    printf("| %s | %zu × %zu | %.3f | %.3f | %.1f%% | %.1f%% | %.1f%% | %.1f%% |\n", s->kernels->name, s->P,
           s->Q, want, sum[0], 100.0 * sum[1] / seeds, 100.0 * sum[2] / seeds, 100.0 * sum[3] / seeds,
           100.0 * sum[4] / seeds);
}

int main(int argc, char **argv) {
    int seeds = argc > 1 ? atoi(argv[1]) : 500;
    uint64_t first = argc > 2 ? strtoull(argv[2], NULL, 10) : 0;
    double *x = malloc(300 * 600 * sizeof *x);
    if (!x) return 1;
    seeds_begin();
    setvbuf(stdout, NULL, _IOLBF, 0);
    int table = argc > 3 ? atoi(argv[3]) : 0; /* 1 to 4; 0: all */
    if (table == 0 || table == 1) {
        printf(
            "| process | size | true dimension | of the matrix, mean | estimate, mean | SD of its logarithm "
            "| jackknife / SD | coverage of 95%% |\n|---|---|---|---|---|---|---|---|\n");
        for (size_t p = 0; p < PROCESSES; p++)
            for (size_t s = 0; s < SIZES; s++)
                coverage(&(source){&processes[p], NULL, sizes[s][0], sizes[s][1], first, 0, x}, seeds);
    }
    for (int plain = 0; plain < 2; plain++) {
        if (table != 0 && table != 2 + plain) continue;
        printf("\n%s\n\n| process | size of each | alignment covers 1 | p < 0.05: dimension | m(1) | m(2) | "
               "m(3) | "
               "m(4) |\n|---|---|---|---|---|---|---|---|\n",
               plain ? "not centred" : "centred");
        for (size_t p = 0; p < PROCESSES; p++)
            for (size_t s = 1; s + 2 < SIZES; s++)
                levels(&(source){&processes[p], NULL, sizes[s][0], sizes[s][1], first, plain, x}, seeds);
    }
    if (table == 0 || table == 4) {
        printf("\n| eigenvalues | size of each | true alignment | estimate, mean | its interval covers | "
               "difference of dimension | of m(1) | of m(2) |\n|---|---|---|---|---|---|---|---|\n");
        for (size_t k = 0; k < KERNELS; k++)
            for (size_t s = 1; s + 2 < SIZES; s++)
                known_pair(&(source){NULL, &kernels[k], sizes[s][0], sizes[s][1], first, 0, x}, seeds);
    }
    seeds_end();
    free(x);
    return 0;
}
