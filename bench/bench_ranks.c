/*
 * How well ranks share a computation:
 *     mpirun -n R bench_ranks path|exact|norm|ridge P Q N [THREADS [BARS [ALONE [SHARED]]]]
 * ridge: three values of lambda for each of N numbers of features; the target is the last column.
 * All ranks compute it together, then (unless ALONE is 0) each of them all of it by itself, at the same time.
 * SHARED 0: by messages, as between machines, not in memory that they share.
 * Prints both times, the second over R times the first (the efficiency), the bytes that rank 0 received and
 * how long it was sending and receiving, how long ranks waited for each other (the least and the most), how
 * long the system worked for rank 0, and its memory at the peak. Without mpirun: one process.
 */
#include "base/clock.h"
#include "kspec.h"
#include "team/area.h"
#include "team/team.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

static kspec_comm *comm;

/* ---- the communicator, with a clock ---- */

static kspec_comm timed;
enum { BROADCAST, GATHER, EXCHANGE, MEETING, KINDS };
static double spent[KINDS];
static int times[KINDS];

static int since(int what, double start, int failed) {
    spent[what] += ks_now() - start;
    times[what]++;
    return failed;
}

static int broadcast(void *context, int root, void *data, size_t bytes) {
    const double start = ks_now();
    return since(BROADCAST, start, comm->broadcast(context, root, data, bytes));
}

static int gather(void *context, const void *mine, void *all, const size_t *bytes) {
    const double start = ks_now();
    size_t total = 0;
    for (int r = 0; r < comm->ranks; r++) total += bytes[r];
    /* a meeting's cards and short sums: its time is the wait for the last */
    return since(total < 1 << 16 ? MEETING : GATHER, start, comm->gather(context, mine, all, bytes));
}

static int exchange(void *context, const void *from, const size_t *send, void *to, const size_t *receive) {
    const double start = ks_now();
    return since(EXCHANGE, start, comm->exchange(context, from, send, to, receive));
}

static const kspec_comm *with_clock(void) {
    if (!comm) return NULL;
    timed = *comm;
    timed.broadcast = broadcast, timed.gather = gather, timed.exchange = exchange;
    return &timed;
}

/* ---- what is computed ---- */

static void die(const char *text) {
    fprintf(stderr, "%s\n", text);
    if (comm) comm->abort(comm->context, 1);
    exit(1);
}

typedef struct {
    const char *what;
    kspec_matrix phi;
    int nmax, threads, bars;
} task;

static kspec_status norm(const task *t, kspec_team *team, kspec_error *err) {
    kspec_norm_opts o = {.size = sizeof o,
                         .methods = KSPEC_NORM_METHOD_LANCZOS,
                         .median_sigma = 1,
                         .device = KSPEC_DEVICE_CPU,
                         .threads = t->threads,
                         .team = team};
    kspec_norm_result *r = NULL;
    kspec_status st = kspec_norm(&t->phi, &o, &r, err);
    kspec_free(r);
    return st;
}

static kspec_status moments(const task *t, kspec_team *team, kspec_error *err) {
    kspec_moments_opts o = {.size = sizeof o,
                            .nmax = t->nmax,
                            .estimators =
                                strcmp(t->what, "exact") == 0 ? KSPEC_ESTIMATOR_EXACT : KSPEC_ESTIMATOR_PATH,
                            .side = KSPEC_SIDE_GIVEN,
                            .no_stderr = !t->bars,
                            .device = KSPEC_DEVICE_CPU,
                            .threads = t->threads,
                            .team = team};
    kspec_moments_result *r = NULL;
    kspec_status st = kspec_moments(&t->phi, 1, &o, &r, err);
    kspec_free(r);
    return st;
}

static kspec_status ridge(const task *t, kspec_team *team, kspec_error *err) {
    enum { MOST = 1000 };
    static const double lambda[] = {1, 1e-2, 1e-4};
    size_t N[MOST], count = t->nmax < 1 ? 1 : t->nmax > MOST ? MOST : (size_t)t->nmax;
    kspec_matrix x = t->phi, y = t->phi;
    x.cols--, y.cols = 1, y.data += x.cols;
    for (size_t k = 0; k < count; k++) N[k] = 20 * (k + 1);
    kspec_ridge_opts o = {.size = sizeof o,
                          .unit_length = 1,
                          .test_noise = 0.1,
                          .device = KSPEC_DEVICE_CPU,
                          .threads = t->threads,
                          .team = team};
    kspec_ridge *plan = NULL;
    kspec_ridge_result *r = NULL;
    kspec_status st = kspec_ridge_open(&x, &y, NULL, NULL, &o, &plan, err);
    if (!st) st = kspec_ridge_predict(plan, N, count, lambda, 3, &r, err);
    kspec_free(r);
    kspec_ridge_close(plan);
    return st;
}

/* Seconds of one computation */
static double compute(const task *t, kspec_team *team) {
    kspec_error err;
    if (comm && comm->barrier(comm->context)) die("the other ranks cannot be reached");
    const double start = ks_now();
    kspec_status st = strcmp(t->what, "norm") == 0    ? norm(t, team, &err)
                      : strcmp(t->what, "ridge") == 0 ? ridge(t, team, &err)
                                                      : moments(t, team, &err);
    if (st) die(err.msg);
    if (comm && comm->barrier(comm->context)) die("the other ranks cannot be reached");
    return ks_now() - start;
}

/* The least and the most that a rank waited at meetings: all alike, or some more than others? */
static void waits(double *least, double *most) {
    enum { RANKS = 4096 };
    static double all[RANKS];
    static size_t bytes[RANKS];
    *least = *most = spent[MEETING];
    if (!comm || comm->ranks > RANKS) return;
    for (int r = 0; r < comm->ranks; r++) bytes[r] = sizeof *all;
    const double mine = spent[MEETING];
    if (comm->gather(comm->context, &mine, all, bytes)) die("the other ranks cannot be reached");
    for (int r = 0; r < comm->ranks; r++) {
        if (all[r] < *least) *least = all[r];
        if (all[r] > *most) *most = all[r];
    }
}

static struct rusage usage(void) {
    struct rusage u = {0};
    if (getrusage(RUSAGE_SELF, &u)) die("getrusage() failed");
    return u;
}

/* Seconds that the system worked for this process: its pages, mostly */
static double system_time(void) {
    const struct rusage u = usage();
    return (double)u.ru_stime.tv_sec + 1e-6 * (double)u.ru_stime.tv_usec;
}

int main(int argc, char **argv) {
    kspec_error err;
    if (argc < 5) die("usage: bench_ranks path|exact|norm|ridge P Q N [THREADS [BARS [ALONE [SHARED]]]]");
    const size_t P = strtoul(argv[2], NULL, 10), Q = strtoul(argv[3], NULL, 10);
    if (kspec_mpi_open(&comm, &err)) die(err.msg);
    kspec_team *team;
    if (kspec_team_open(with_clock(), &team, &err)) die(err.msg);
    double *x = malloc(P * Q * sizeof *x);
    if (!x) die("out of memory");
    if (kspec_generate(P, Q, NULL, x, &err)) die(err.msg);
    const task t = {argv[1],
                    {x, P, Q, (ptrdiff_t)Q, 1},
                    atoi(argv[4]),
                    argc > 5 ? atoi(argv[5]) : 1,
                    argc > 6 ? atoi(argv[6]) : 0};
    const int ranks = comm ? comm->ranks : 1;
    if (argc > 8 && !atoi(argv[8])) ks_area_most = 0;
    double together = 1e300, received = 0;
    compute(&t, team); /* the first wakes everything up */
    const double memory = (double)usage().ru_maxrss * 1024;
    double system = 0;
    for (int k = 0; k < 2; k++) {
        memset(spent, 0, sizeof spent);
        memset(times, 0, sizeof times);
        const double before = team->received, pages = system_time(), s = compute(&t, team);
        received = team->received - before, system = system_time() - pages;
        if (s < together) together = s;
    }
    double least, most;
    waits(&least, &most);
    const double alone = argc > 7 && !atoi(argv[7]) ? 0 : compute(&t, NULL);
    if (!comm || comm->rank == 0)
        printf("%s %zu x %zu, n = %d%s: alone %.3f s, %d ranks together %.3f s, efficiency %.2f, "
               "%.1f MB received, %.0f MB at most; broadcasts %.2f s (%d), gathers %.2f s (%d), exchanges "
               "%.2f s (%d), meetings %.2f to %.2f s (%d); system %.2f s\n",
               t.what, P, Q, t.nmax, t.bars ? " with error bars" : "", alone, ranks, together,
               alone / (ranks * together), received / 1e6, memory / 1e6, spent[0], times[0], spent[1],
               times[1], spent[2], times[2], least, most, times[3], system);
    kspec_team_close(team);
    kspec_mpi_close(comm);
    free(x);
    return 0;
}
