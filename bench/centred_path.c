/*
 * Would path do for centred kernels above n = 4? bench_centred_path [SEEDS [P Q]] measures the variance of
 * its increasing sums beside that of exact, on Gaussian features whose centred kernel has the eigenvalues
 * 1/k, k = 1 ... 200, and whose mean makes up some share of m(1).
 *
 * A split position closes one row at a column and opens a later row at a later column, with the opposite
 * sign, so each sum has a state per number of splits s; those of s splits are C(P,n+s) C(Q,n) cycles for each
 * choice of the split positions. Written for its definition, not for speed;
 * under mpirun the ranks share the seeds out.
 */
#include "bench/lib/seeds.h"

#include "base/streams.h"
#include "kspec.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 6, RANK = 200, ORDERS = 8, MOST = 400 };

static double binomial(size_t n, size_t k) {
    double c = 1;
    for (size_t i = 0; i < k; i++) c *= (double)(n - i) / (double)(i + 1);
    return c;
}

/* m[n], n = 1 ... N, of the given order of rows and columns */
static void path(const double *x, size_t P, size_t Q, double *m) {
    /* open[n][s][b]: n columns, the last of them b, a row open there; closed: no row is open any more */
    static double open[N + 1][N + 1][MOST], closed[N + 1][N + 1][MOST], sum[N + 1][N + 1];
    memset(sum, 0, sizeof sum);
    for (size_t h = 0; h < P; h++) {
        memset(open, 0, sizeof open);
        memset(closed, 0, sizeof closed);
        for (size_t b = 0; b < Q; b++) open[1][0][b] = x[h * Q + b];
        for (size_t a = h + 1; a < P; a++) {
            /* over the columns before b: closed by this row, and by those before it */
            double shut[N + 1][N + 1] = {{0}}, was[N + 1][N + 1] = {{0}};
            for (size_t b = 0; b < Q; b++) {
                double f = x[a * Q + b];
                for (int n = N; n >= 1; n--)
                    for (int s = 0; s <= n; s++) {
                        double now = open[n][s][b] * f;
                        /* this row opens: it has closed itself, or another one has */
                        open[n][s][b] += shut[n - 1][s] * f - (s ? was[n - 1][s - 1] * f : 0);
                        was[n][s] += closed[n][s][b];
                        closed[n][s][b] += now;
                        shut[n][s] += now;
                    }
            }
        }
        for (int n = 1; n <= N; n++)
            for (int s = 0; s <= n; s++)
                for (size_t b = 0; b < Q; b++) {
                    sum[n][s] += open[n][s][b] * x[h * Q + b];
                    if (s < n) sum[n][s + 1] -= closed[n][s][b]; /* the first position is split */
                }
    }
    for (int n = 1; n <= N; n++) {
        m[n] = 0;
        for (int s = 0; s <= n; s++)
            m[n] += sum[n][s] / (binomial(P, (size_t)(n + s)) * binomial(Q, (size_t)n));
    }
}

static void permuted(uint64_t seed, uint64_t stream, const double *x, size_t P, size_t Q, double *y) {
    size_t *p = malloc(P * sizeof *p), *q = malloc(Q * sizeof *q);
    ks_random_permutation(seed, stream, P, p);
    ks_random_permutation(seed, stream + 1, Q, q);
    for (size_t i = 0; i < P; i++)
        for (size_t a = 0; a < Q; a++) y[i * Q + a] = x[p[i] * Q + q[a]];
    free(p), free(q);
}

typedef struct {
    size_t P, Q;
    double *u, *v, *mean, *x, *y;
} data;

/* The sum over k of u_ik v_ak / sqrt(k), and a mean of each column */
static void draw(const data *d, uint64_t seed, double mean_sd) {
    kspec_random_normal(seed, 1, 0, d->P * RANK, d->u);
    kspec_random_normal(seed, 2, 0, d->Q * RANK, d->v);
    kspec_random_normal(seed, 3, 0, d->Q, d->mean);
    for (size_t i = 0; i < d->P; i++)
        for (size_t a = 0; a < d->Q; a++) {
            double x = mean_sd * d->mean[a];
            for (size_t k = 0; k < RANK; k++)
                x += d->u[i * RANK + k] * d->v[a * RANK + k] / sqrt((double)(k + 1));
            d->x[i * d->Q + a] = x;
        }
}

static void exact(const data *d, double *m) {
    kspec_moments_opts o = {.size = sizeof o, .nmax = 4, .center = KSPEC_CENTER_ROWS, .no_stderr = 1};
    kspec_matrix phi = {d->x, d->P, d->Q, (ptrdiff_t)d->Q, 1};
    kspec_moments_result *r;
    kspec_error err;
    if (kspec_moments(&phi, 1, &o, &r, &err)) {
        fprintf(stderr, "%s\n", err.msg);
        exit(1);
    }
    for (size_t k = 0; k < r->count; k++) m[r->estimates[k]->n] = r->estimates[k]->value;
    kspec_free(r);
}

static void averaged_path(const data *d, uint64_t seed, double *m) {
    for (uint64_t k = 0; k < ORDERS; k++) {
        double one[N + 1];
        permuted(seed, 10 + 2 * k, d->x, d->P, d->Q, d->y);
        path(d->y, d->P, d->Q, one);
        for (int n = 1; n <= N; n++) m[n] += one[n] / ORDERS;
    }
}

/* What the numbers of a seed are made from */
typedef struct {
    const data *d;
    double mean_sd;
} source;

/* m(1) ... m(N) of exact, then of path */
static void both(void *ctx, size_t seed, double *numbers) {
    const source *s = ctx;
    draw(s->d, seed, s->mean_sd);
    exact(s->d, numbers);
    averaged_path(s->d, seed, numbers + N + 1);
}

int main(int argc, char **argv) {
    int seeds = argc > 1 ? atoi(argv[1]) : 200;
    size_t P = argc > 3 ? strtoul(argv[2], NULL, 10) : 60, Q = argc > 3 ? strtoul(argv[3], NULL, 10) : 60;
    if (P < 2 * N || Q < N || Q > MOST || seeds < 2) {
        fprintf(stderr, "12 rows, 6 to %d columns and 2 seeds are the least\n", MOST);
        return 2;
    }
    data d = {P,
              Q,
              malloc(P * RANK * sizeof(double)),
              malloc(Q * RANK * sizeof(double)),
              malloc(Q * sizeof(double)),
              malloc(P * Q * sizeof(double)),
              malloc(P * Q * sizeof(double))};
    double truth[N + 1] = {0};
    for (int n = 1; n <= N; n++)
        for (int k = 1; k <= RANK; k++) truth[n] += pow(k, -n);
    seeds_begin();
    printf("%zu x %zu, eigenvalues 1/k, %d seeds, path over %d orders\n\n", P, Q, seeds, ORDERS);
    printf("| mean's share of m(1) | estimator | n | mean / truth | SD / truth |\n|---|---|---|---|---|\n");
    static const double share[] = {0, 0.5, 0.8};
    for (size_t k = 0; k < sizeof share / sizeof *share; k++) {
        double sum[2][N + 1] = {{0}}, square[2][N + 1] = {{0}};
        source from = {&d, sqrt(truth[1] * share[k] / (1 - share[k]))};
        double *all = seeds_map((size_t)seeds, 2 * (N + 1), 1, both, &from);
        for (int i = 0; i < seeds * 2 * (N + 1); i++) {
            const int e = i / (N + 1) % 2, n = i % (N + 1);
            sum[e][n] += all[i], square[e][n] += all[i] * all[i];
        }
        free(all);
        for (int e = 0; e < 2; e++)
            for (int n = 1; n <= (e ? N : 4); n++) {
                double mean = sum[e][n] / seeds,
                       var = (square[e][n] / seeds - mean * mean) * seeds / (seeds - 1);
                printf("| %g | %s | %d | %.3g ± %.2g | %.3g |\n", share[k], e ? "path" : "exact", n,
                       mean / truth[n], sqrt(var / seeds) / truth[n], sqrt(var) / truth[n]);
            }
    }
    seeds_end();
    free(d.u), free(d.v), free(d.mean), free(d.x), free(d.y);
    return 0;
}
