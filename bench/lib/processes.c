#include "bench/lib/processes.h"

#include "linalg/eigen.h"
#include "linalg/linalg.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double pi = 3.14159265358979323846;

/* ---- spectra of linear processes ---- */

/* Factors of rank at most DEEP; population of a process of rows */
enum { DEEP = 1500, ROWS = 1500 };

static double flat(int i) { return i <= 20 ? 0.3 : 0; }
static double two_levels(int i) { return i <= 5 ? 1 : i <= 20 ? 0.1 : 0; }
static double three_levels(int i) { return i <= 4 ? 1 : i <= 16 ? 0.2 : i <= 56 ? 0.02 : 0; }
static double power1(int i) { return 1.0 / i; }
static double power15(int i) { return pow(i, -1.5); }
static double power2(int i) { return 1.0 / i / i; }
static double geometric(int i) { return pow(0.8, i); }
static double stretched(int i) { return exp(-sqrt(i)); }
static double spiked(int i) { return i == 1 ? 4 : i == 2 ? 2 : i == 3 ? 1 : i <= 103 ? 0.05 : 0; }
static double cut40(int i) { return i <= 40 ? 1.0 / i : 0; }

/* What the factors of a linear process are like. */
typedef enum { NORMAL, UNIFORM, HEAVY } factors;
/* Or which features, of which rows. */
typedef enum { LINEAR, RFF, ROWS_OF_NORMALS, ROWS_OF_IMAGES, ROWS_OF_A_TABLE } source;

static const struct {
    const char *name;
    source from;
    double (*lambda)(int i);
    factors how;
    /* of rff and of normal rows; 1: ReLU, 0: Fourier features of rows */
    int dim;
    double eta;
    int relu;
} table[PROCESSES] = {
    {"flat", LINEAR, flat, NORMAL},
    {"two-levels", LINEAR, two_levels, NORMAL},
    {"three-levels", LINEAR, three_levels, NORMAL},
    {"power1", LINEAR, power1, NORMAL},
    {"power1.5", LINEAR, power15, NORMAL},
    {"power2", LINEAR, power2, NORMAL},
    {"geometric", LINEAR, geometric, NORMAL},
    {"stretched", LINEAR, stretched, NORMAL},
    {"spiked", LINEAR, spiked, NORMAL},
    {"cut40", LINEAR, cut40, NORMAL},
    {"uniform", LINEAR, power1, UNIFORM},
    {"heavy", LINEAR, power1, HEAVY},
    {"rff-4x2", RFF, .dim = 2, .eta = 4},
    {"rff-4x5", RFF, .dim = 5, .eta = 4},
    {"rff-1x4", RFF, .dim = 4, .eta = 1},
    {"rff-400x1", RFF, .dim = 1, .eta = 400},
    {"relu-10", ROWS_OF_NORMALS, .dim = 10, .relu = 1},
    {"images-relu", ROWS_OF_IMAGES, .relu = 1},
    {"images-rff", ROWS_OF_IMAGES, .relu = 0},
    {"table-rff", ROWS_OF_A_TABLE, .relu = 0},
};

struct process {
    int k;
    size_t count;
    double *lambda, trace;
    /* n x dim: the rows that are sampled */
    size_t n, dim;
    double *rows;
};

const char *process_name(int k) { return table[k].name; }

/* Streams of our own */
enum { OF_ROWS = 10, OF_COLS, OF_SCALES, OF_PHASES, OF_CHOICES, OF_NOISE, OF_POPULATION };

/* ---- processes of rows ---- */

static int read_rows(process *p, const char *data, const char *file, size_t columns) {
    char path[4096];
    const char *name = path;
    kspec_dataset *d;
    if (!data) return 0;
    snprintf(path, sizeof path, "%s/%s", data, file);
    if (kspec_read(&name, 1, NULL, &d, NULL)) return 0;
    kspec_matrix m = kspec_dataset_trial(d, 0);
    p->n = m.rows < ROWS ? m.rows : ROWS;
    p->dim = columns && columns < m.cols ? columns : m.cols;
    p->rows = malloc(p->n * p->dim * sizeof *p->rows);
    for (size_t i = 0; i < p->n; i++)
        for (size_t j = 0; j < p->dim; j++)
            p->rows[i * p->dim + j] = m.data[(ptrdiff_t)i * m.row_stride + (ptrdiff_t)j * m.col_stride];
    kspec_free(d);
    return 1;
}

/* Columns to mean 0 and variance 1 (constant ones to 0), then rows to a mean square of 1 on average. */
static void standardise(process *p) {
    for (size_t j = 0; j < p->dim; j++) {
        double mean = 0, square = 0;
        for (size_t i = 0; i < p->n; i++) mean += p->rows[i * p->dim + j] / (double)p->n;
        for (size_t i = 0; i < p->n; i++) {
            double *x = &p->rows[i * p->dim + j];
            *x -= mean;
            square += *x * *x / (double)p->n;
        }
        for (size_t i = 0; i < p->n; i++) p->rows[i * p->dim + j] *= square > 0 ? 1 / sqrt(square) : 0;
    }
    for (size_t k = 0; k < p->n * p->dim; k++) p->rows[k] /= sqrt((double)p->dim);
}

/* The kernel of the features: of ReLU's the arc-cosine one, of Fourier's exp(-|x-y|^2/2). */
static double kernel(int relu, double xx, double yy, double xy) {
    if (!relu) return exp(-0.5 * (xx + yy - 2 * xy));
    double size = sqrt(xx * yy), c = size > 0 ? fmin(fmax(xy / size, -1), 1) : 0, angle = acos(c);
    return size * (sin(angle) + (pi - angle) * c) / pi;
}

static void spectrum_of_rows(process *p) {
    size_t n = p->n;
    double *G = malloc(n * n * sizeof *G), *square = malloc(n * sizeof *square);
    p->lambda = malloc(n * sizeof *p->lambda);
    if (ks_blas_enter(1, NULL)) abort();
    ks_gemm(0, 1, n, n, p->dim, 1, p->rows, p->dim, p->rows, p->dim, 0, G, n);
    for (size_t i = 0; i < n; i++) square[i] = G[i * n + i];
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            G[i * n + j] = kernel(table[p->k].relu, square[i], square[j], G[i * n + j]) / (double)n;
    if (ks_syevd(0, n, G, n, p->lambda, NULL)) abort();
    ks_blas_exit();
    ks_reverse(n, p->lambda);
    for (size_t i = 0; i < n; i++) p->lambda[i] = fmax(p->lambda[i], 0);
    p->count = n;
    free(G);
    free(square);
}

static int open_rows(process *p, const char *data) {
    switch (table[p->k].from) {
    case ROWS_OF_NORMALS:
        p->n = ROWS;
        p->dim = (size_t)table[p->k].dim;
        p->rows = malloc(p->n * p->dim * sizeof *p->rows);
        kspec_random_normal(1, OF_POPULATION, 0, p->n * p->dim, p->rows);
        break;
    case ROWS_OF_IMAGES:
        if (!read_rows(p, data, "fashion/t10k-images-idx3-ubyte.gz", 0)) return 0;
        break;
    default:
        if (!read_rows(p, data, "wine/winequality-white.csv", 11)) return 0;
    }
    standardise(p);
    spectrum_of_rows(p);
    return 1;
}

/* ---- all ---- */

process *process_open(int k, const char *data) {
    process *p = calloc(1, sizeof *p);
    p->k = k;
    if (table[k].from == LINEAR) {
        p->lambda = malloc(DEEP * sizeof *p->lambda);
        while (p->count < DEEP && table[k].lambda((int)p->count + 1) > 1e-12) {
            p->lambda[p->count] = table[k].lambda((int)p->count + 1);
            p->count++;
        }
    } else if (table[k].from == RFF) {
        double eta[8];
        for (int l = 0; l < 8; l++) eta[l] = table[k].eta;
        p->count = 20000;
        p->lambda = malloc(p->count * sizeof *p->lambda);
        if (kspec_theory_rbf_eigenvalues(eta, (size_t)table[k].dim, p->count, p->lambda, NULL, NULL)) abort();
    } else if (!open_rows(p, data)) {
        process_close(p);
        return NULL;
    }
    for (size_t i = 0; i < p->count; i++) p->trace += p->lambda[i];
    return p;
}

void process_close(process *p) {
    free(p->lambda);
    free(p->rows);
    free(p);
}

size_t process_truth(const process *p, const double **lambda, double *trace) {
    *lambda = p->lambda;
    *trace = p->trace;
    return p->count;
}

/*
 * n x D factors of unit variance. HEAVY: each row scaled, its square inverse gamma, as Student's t of 8
 * has.
 */
static void draw_factors(factors how, uint64_t seed, uint64_t stream, size_t n, size_t D, double *X) {
    if (how == UNIFORM)
        kspec_random_uniform(seed, stream, 0, n * D, X);
    else
        kspec_random_normal(seed, stream, 0, n * D, X);
    for (size_t k = 0; k < n * D && how == UNIFORM; k++) X[k] = sqrt(12) * (X[k] - 0.5);
    for (size_t i = 0; i < n && how == HEAVY; i++) {
        double g[8], sum = 0;
        kspec_random_normal(seed, OF_SCALES + 100 * stream, 8 * i, 8, g);
        for (int k = 0; k < 8; k++) sum += g[k] * g[k];
        for (size_t k = 0; k < D; k++) X[i * D + k] *= sqrt(6 / sum);
    }
}

static void draw_linear(const process *p, size_t P, size_t Q, uint64_t seed, double *x) {
    size_t D = p->count;
    double *X = malloc(P * D * sizeof *X), *W = malloc(Q * D * sizeof *W);
    draw_factors(table[p->k].how, seed, OF_ROWS, P, D, X);
    draw_factors(table[p->k].how, seed, OF_COLS, Q, D, W);
    for (size_t k = 0; k < P * D; k++) X[k] *= sqrt(p->lambda[k % D]);
    ks_gemm(0, 1, P, Q, D, 1, X, D, W, D, 0, x, Q);
    free(X);
    free(W);
}

static void draw_rff(const process *p, size_t P, size_t Q, uint64_t seed, double *x) {
    double eta[8];
    for (int l = 0; l < 8; l++) eta[l] = table[p->k].eta;
    kspec_generate_opts g = {.size = sizeof g,
                             .process = KSPEC_PROCESS_RFF,
                             .dim = (size_t)table[p->k].dim,
                             .eta = eta,
                             .eta_count = (size_t)table[p->k].dim,
                             .seed = seed};
    if (kspec_generate(P, Q, &g, x, NULL)) abort();
}

static void draw_rows(const process *p, size_t P, size_t Q, uint64_t seed, double *x) {
    size_t D = p->dim;
    double *X = malloc(P * D * sizeof *X), *W = malloc(Q * D * sizeof *W), *u = malloc((P + Q) * sizeof *u);
    kspec_random_uniform(seed, OF_CHOICES, 0, P, u);
    kspec_random_uniform(seed, OF_PHASES, 0, Q, u + P);
    kspec_random_normal(seed, OF_COLS, 0, Q * D, W);
    for (size_t i = 0; i < P; i++)
        memcpy(X + i * D, p->rows + (size_t)(u[i] * (double)p->n) * D, D * sizeof *X);
    ks_gemm(0, 1, P, Q, D, 1, X, D, W, D, 0, x, Q);
    for (size_t k = 0; k < P * Q; k++)
        x[k] = sqrt(2) * (table[p->k].relu ? fmax(x[k], 0) : cos(x[k] + 2 * pi * u[P + k % Q]));
    free(X);
    free(W);
    free(u);
}

void process_draw(const process *p, size_t P, size_t Q, double noise, uint64_t seed, double *x) {
    if (ks_blas_enter(1, NULL)) abort();
    if (table[p->k].from == LINEAR)
        draw_linear(p, P, Q, seed, x);
    else if (table[p->k].from == RFF)
        draw_rff(p, P, Q, seed, x);
    else
        draw_rows(p, P, Q, seed, x);
    ks_blas_exit();
    double *e = malloc(P * Q * sizeof *e);
    kspec_random_normal(seed, OF_NOISE, 0, P * Q, e);
    for (size_t k = 0; k < P * Q; k++) x[k] += sqrt(noise) * e[k];
    free(e);
}
