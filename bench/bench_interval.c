/*
 * What an interval costs: bench_interval [REPEATS] (docs/measurements/moments.md).
 *
 * For m(1), m(2) and the dimension at four sizes, in milliseconds of processor time, the best of several: the
 * library's call, and the steps in it that can be timed alone. These are the checks of the data, the test for
 * a signal, and the interval from leave-one-out estimates. The last column is the time of the call without
 * checks and test, divided by the same with the interval of version 0.2.0 in place of today's. That version
 * used the normal quantile and the scale of roots.
 */
#include "checks/check.h"
#include "kspec.h"
#include "moments/evidence.h"
#include "moments/jackknife.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- the interval of version 0.2.0 ---- */

static double one_side(const double *loo, size_t N, int n) {
    double mean = 0, sum = 0;
    for (size_t i = 0; i < N; i++) mean += ks_signed_root(loo[i], n) / (double)N;
    for (size_t i = 0; i < N; i++) {
        double d = ks_signed_root(loo[i], n) - mean;
        sum += d * d;
    }
    return sum * (double)(N - 1) / (double)N;
}

static void earlier_interval(double m, int n, const double *rows, size_t P, const double *cols, size_t Q,
                             double ends[2]) {
    const double sd = sqrt(one_side(rows, P, 1) + one_side(cols, Q, 1)), root = ks_signed_root(m, n),
                 half = 1.96 * sqrt(one_side(rows, P, n) + one_side(cols, Q, n));
    for (int k = 0; k < 2; k++) {
        const double end = k ? root + half : root - half;
        ends[k] = copysign(pow(fabs(end), n), end);
    }
    if (root - half <= 0) ends[0] = fmin(ends[0], m - 1.96 * sd), ends[1] = fmax(ends[1], m + 1.96 * sd);
}

/* ---- the data ---- */

enum { K = 40 };

typedef struct {
    size_t P, Q;
    double *x;
    kspec_matrix phi;
    /* leave-one-out values near 1, as even as those of benign data */
    double *left, *room;
} data;

static data draw(size_t P, size_t Q) {
    data d = {.P = P, .Q = Q};
    double *u = malloc(P * K * sizeof *u), *w = malloc(K * Q * sizeof *w);
    d.x = malloc(P * Q * sizeof *d.x);
    d.left = malloc((P + Q) * sizeof *d.left), d.room = malloc((P + Q) * sizeof *d.room);
    if (!u || !w || !d.x || !d.left || !d.room) exit(1);
    kspec_random_normal(1, 0, 0, P * K, u);
    kspec_random_normal(1, 1, 0, K * Q, w);
    kspec_random_normal(1, 2, 0, P * Q, d.x);
    kspec_random_normal(1, 3, 0, P + Q, d.left);
    for (size_t k = 0; k < P + Q; k++) d.left[k] = 1 + 0.1 * d.left[k] / (double)(k < P ? P : Q);
    for (size_t i = 0; i < P; i++)
        for (size_t j = 0; j < Q; j++) {
            double sum = 0.5 * d.x[i * Q + j];
            for (size_t k = 0; k < K; k++) sum += u[i * K + k] * w[k * Q + j] / sqrt((double)k + 1);
            d.x[i * Q + j] = sum;
        }
    d.phi = (kspec_matrix){d.x, P, Q, (ptrdiff_t)Q, 1};
    free(u), free(w);
    return d;
}

/* ---- the steps ---- */

typedef enum { CALL, CHECKS, SIGNAL, INTERVAL, EARLIER, STEPS } step;

/* order: of the moment; 0: the dimension, whose interval is that of a ratio of second-order estimates */
static void take_step(step s, const data *d, int order) {
    const double share[2] = {1, 1};
    const int n = order ? order : 1;
    kspec_error err;
    ks_arena arena = {0};
    if (s == CALL && order) {
        const kspec_moments_opts o = {.size = sizeof o, .threads = 1, .nmax = order};
        kspec_moments_result *r;
        if (kspec_moments(&d->phi, 1, &o, &r, &err)) exit(2);
        kspec_free(r);
    } else if (s == CALL) {
        const kspec_dimension_opts o = {.size = sizeof o, .threads = 1};
        kspec_dimension_result *r;
        if (kspec_dimension(&d->phi, 1, &o, &r, &err)) exit(2);
        kspec_free(r);
    } else if (s == CHECKS) {
        size_t count = 0;
        kspec_doubt **list = NULL;
        const kspec_center center = order ? KSPEC_CENTER_NONE : KSPEC_CENTER_ROWS;
        ks_check((ks_doubts){&arena, &count, &list}, NULL,
                 &(ks_checked){.phi = &d->phi, .ntrials = 1, .center = center});
    } else if (s == SIGNAL && !order) {
        const double infinite[2] = {INFINITY, INFINITY};
        ks_run run;
        ks_measured m;
        ks_evidence e;
        if (ks_run_init(&run, 1, (kspec_progress){0}, &err) ||
            ks_measured_open(&m, &d->phi, 1, NULL, infinite, 1, "the matrix", &arena, &err) ||
            ks_evidence_make(&run, &m, NULL, 0, &e, &err))
            exit(2);
    } else if (s == INTERVAL) {
        ks_error_bar bar;
        ks_jackknife(1, n, d->left, d->P, d->left + d->P, d->Q, share, d->room, &bar);
    } else if (s == EARLIER) {
        double ends[2];
        earlier_interval(1, n, d->left, d->P, d->left + d->P, d->Q, ends);
    }
    ks_arena_free(&arena);
}

static double best_of(int repeats, step s, const data *d, int order) {
    double best = INFINITY;
    for (int k = 0; k < repeats; k++) {
        const double start = now();
        take_step(s, d, order);
        best = fmin(best, now() - start);
    }
    return 1e3 * best;
}

int main(int argc, char **argv) {
    static const size_t sizes[][2] = {{40, 60}, {100, 300}, {300, 100}, {1000, 1000}};
    static const char *const names[] = {"dimension", "m(1)", "m(2)"};
    const int repeats = argc > 1 ? atoi(argv[1]) : 50;
    puts("| P × Q | | call, ms | checks | signal | interval | interval of 0.2.0 | ratio |");
    puts("|---|---|---|---|---|---|---|---|");
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        data d = draw(sizes[k][0], sizes[k][1]);
        for (int order = 0; order <= 2; order++) {
            double t[STEPS];
            for (int s = 0; s < STEPS; s++) t[s] = best_of(repeats, (step)s, &d, order);
            const double rest = t[CALL] - t[CHECKS] - t[SIGNAL];
            printf("| %zu × %zu | %s | %.3f | %.3f | %.3f | %.4f | %.4f | %.2f |\n", d.P, d.Q, names[order],
                   t[CALL], t[CHECKS], t[SIGNAL], t[INTERVAL], t[EARLIER],
                   rest / (rest - t[INTERVAL] + t[EARLIER]));
            fflush(stdout);
        }
        free(d.x), free(d.left), free(d.room);
    }
    return 0;
}
