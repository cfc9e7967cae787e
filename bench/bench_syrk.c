/*
 * The dimension with its interval and one pass over a stream, next to a DSYRK by the same BLAS on the same
 * number of threads: bench_syrk [ROWS [COLS [THREADS [REPEATS]]]]
 *
 * Prints the best of REPEATS times of each, in seconds and as multiples of the DSYRK, A^T A of a ROWS x COLS
 * matrix; then the same for the time of all processors together, in which OpenBLAS's threads wait. The kinds
 * take turns, so that a busy machine slows all of them.
 */
#include "base/clock.h"
#include "kspec.h"
#include "kspec/host.h"
#include "linalg/blas.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { BATCH = 1000, LATENT = 40 };

static void check(kspec_status st, const kspec_error *e) {
    if (!st) return;
    fprintf(stderr, "%s\n", e->msg);
    exit(1);
}

typedef struct {
    double *x, *gram;
    size_t P, Q;
    int threads;
    kspec_accumulator *rows;
} data;

static void product(data *d) {
    const int before = ks_blas_threads();
    ks_blas_set_threads(d->threads);
    cblas_dsyrk(CblasRowMajor, CblasUpper, CblasTrans, (int)d->Q, (int)d->P, 1, d->x, (int)d->Q, 0, d->gram,
                (int)d->Q);
    ks_blas_set_threads(before);
}

static void dimension(data *d, kspec_sampled sampled) {
    const kspec_matrix phi = {d->x, d->P, d->Q, (ptrdiff_t)d->Q, 1};
    const kspec_dimension_opts o = {.size = sizeof o, .threads = d->threads, .sampled = sampled};
    kspec_dimension_result *r;
    kspec_error e;
    check(kspec_dimension(&phi, 1, &o, &r, &e), &e);
    kspec_free(r);
}

static void both(data *d) { dimension(d, KSPEC_SAMPLED_BOTH); }
static void rows(data *d) { dimension(d, KSPEC_SAMPLED_ROWS); }

static void update(data *d) {
    const kspec_accumulator_opts o = {.size = sizeof o, .threads = d->threads, .stream = 1};
    kspec_error e;
    kspec_accumulator_close(d->rows);
    check(kspec_accumulator_open(d->Q, &o, &d->rows, &e), &e);
    for (size_t i = 0; i < d->P; i += BATCH) {
        const size_t n = d->P - i < BATCH ? d->P - i : BATCH;
        const kspec_matrix part = {d->x + i * d->Q, n, d->Q, (ptrdiff_t)d->Q, 1};
        check(kspec_accumulator_update(d->rows, &part, NULL, NULL, &e), &e);
    }
}

static void result(data *d) {
    kspec_dimension_result *r;
    kspec_error e;
    check(kspec_accumulator_dimension(d->rows, 0, &r, &e), &e);
    kspec_free(r);
}

static const struct {
    const char *name;
    void (*run)(data *);
} kinds[] = {{"DSYRK", product},
             {"dimension", both},
             {"dimension, sampled rows", rows},
             {"update() of all rows", update},
             {"result()", result}};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* LATENT factors and noise */
static void draw(data *d) {
    double *f = malloc(d->P * LATENT * sizeof *f), *w = malloc(LATENT * d->Q * sizeof *w);
    if (!f || !w) exit(1);
    kspec_random_normal(1, 1, 0, d->P * LATENT, f);
    kspec_random_normal(1, 2, 0, LATENT * d->Q, w);
    kspec_random_normal(1, 3, 0, d->P * d->Q, d->x);
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)d->P, (int)d->Q, LATENT, 1, f, LATENT, w,
                (int)d->Q, 1, d->x, (int)d->Q);
    free(f), free(w);
}

int main(int argc, char **argv) {
    data d = {.P = argc > 1 ? strtoul(argv[1], NULL, 10) : 4000,
              .Q = argc > 2 ? strtoul(argv[2], NULL, 10) : 2000,
              .threads = argc > 3 ? atoi(argv[3]) : 1};
    const int repeats = argc > 4 ? atoi(argv[4]) : 3;
    double best[KINDS], busy[KINDS];
    d.x = malloc(d.P * d.Q * sizeof *d.x), d.gram = malloc(d.Q * d.Q * sizeof *d.gram);
    if (!d.x || !d.gram) return 1;
    draw(&d);
    for (int k = 0; k < KINDS; k++) best[k] = busy[k] = INFINITY;
    for (int r = 0; r < repeats; r++)
        for (int k = 0; k < KINDS; k++) {
            const double start = ks_now(), before = (double)clock();
            kinds[k].run(&d);
            best[k] = fmin(best[k], ks_now() - start);
            busy[k] = fmin(busy[k], ((double)clock() - before) / CLOCKS_PER_SEC);
        }
    printf("%zu x %zu, %d thread%s, %s\n", d.P, d.Q, d.threads, d.threads > 1 ? "s" : "", kspec_blas());
    for (int k = 0; k < KINDS; k++)
        printf("%-24s %8.3f s  %6.2f   of the processors %8.3f s  %6.2f\n", kinds[k].name, best[k],
               best[k] / best[0], busy[k], busy[k] / busy[0]);
    kspec_accumulator_close(d.rows);
    free(d.x), free(d.gram);
    return 0;
}
