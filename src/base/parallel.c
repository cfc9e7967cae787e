#define _GNU_SOURCE
#include "base/parallel.h"

#include "base/cpu.h"
#include "base/error.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { MAX_THREADS = 1024 };

int kspec_default_threads(void) {
    const char *env = getenv("KSPEC_THREADS");
    long n = env ? strtol(env, NULL, 10) : 0;
    if (n <= 0) {
        cpu_set_t set;
        n = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
    }
    return n < 1 ? 1 : n > MAX_THREADS ? MAX_THREADS : (int)n;
}

kspec_status ks_run_init(ks_run *run, int threads, kspec_progress progress, kspec_error *err) {
    if (threads < 0 || threads > MAX_THREADS)
        return ks_fail(err, KSPEC_E_ARG, "threads %d is not between 0 (the default) and %d", threads,
                       MAX_THREADS);
    ks_isa isa;
    kspec_status st = ks_isa_choose(&isa, err); /* a bad KSPEC_ISA is reported by every computation */
    if (st) return st;
    *run = (ks_run){threads ? threads : kspec_default_threads(), progress, 0, 1, NULL};
    return KSPEC_OK;
}

ks_run ks_run_part(const ks_run *run, double a, double b) {
    ks_run part = *run;
    part.from = run->from + a * (run->to - run->from);
    part.to = run->from + b * (run->to - run->from);
    return part;
}

int ks_run_report(const ks_run *run, double f) {
    if (!run->progress.report) return 0;
    return run->progress.report(run->progress.ctx, run->from + f * (run->to - run->from));
}

int ks_workers(const ks_run *run, size_t nchunks) {
    return nchunks < (size_t)run->threads ? (nchunks ? (int)nchunks : 1) : run->threads;
}

typedef struct {
    const ks_run *run;
    size_t nchunks;
    ks_chunk_fn fn;
    void *ctx;
    /* the next chunk to hand out */
    atomic_size_t next;
    /* set by a failure or a cancellation */
    atomic_bool stop;
    /* guards the two below: the lowest chunk that failed, and how */
    pthread_mutex_t lock;
    size_t failed_chunk;
    kspec_error failure;
} loop;

typedef struct {
    loop *l;
    int index;
} seat;

static void fail(loop *l, size_t chunk, kspec_status st, const char *message) {
    pthread_mutex_lock(&l->lock);
    if (l->failure.code == KSPEC_OK || chunk < l->failed_chunk) {
        l->failed_chunk = chunk;
        ks_fail(&l->failure, st, "%s", message[0] ? message : kspec_status_name(st));
    }
    pthread_mutex_unlock(&l->lock);
    atomic_store(&l->stop, 1);
}

static void *work(void *arg) {
    const seat *s = arg;
    loop *l = s->l;
    kspec_error err;
    const ks_worker worker = {s->index, &err};
    while (!atomic_load(&l->stop)) {
        size_t chunk = atomic_fetch_add(&l->next, 1);
        if (chunk >= l->nchunks) break;
        ks_clear(&err);
        kspec_status st = l->fn(l->ctx, chunk, &worker);
        if (st) fail(l, chunk, st, err.msg);
        /* worker 0 is the calling thread, the only one that may report */
        if (s->index == 0 && ks_run_report(l->run, (double)(chunk + 1) / (double)l->nchunks))
            fail(l, l->nchunks, KSPEC_E_CANCELLED, "");
    }
    return NULL;
}

kspec_status ks_parallel_for(const ks_run *run, size_t nchunks, ks_chunk_fn fn, void *ctx, kspec_error *err) {
    if (ks_run_report(run, 0)) return ks_fail(err, KSPEC_E_CANCELLED, "cancelled");
    loop l = {.run = run, .nchunks = nchunks, .fn = fn, .ctx = ctx, .failure = {.code = KSPEC_OK}};
    atomic_init(&l.next, 0);
    atomic_init(&l.stop, 0);
    pthread_mutex_init(&l.lock, NULL);

    int workers = ks_workers(run, nchunks), started = 0;
    pthread_t thread[MAX_THREADS];
    seat seats[MAX_THREADS] = {{&l, 0}};
    for (int w = 1; w < workers; w++) seats[w] = (seat){&l, w};
    /* fewer threads than asked for are not a failure: the chunks get done all the same, to the same bits */
    while (started < workers - 1 && pthread_create(&thread[started], NULL, work, &seats[started + 1]) == 0)
        started++;
    work(&seats[0]);
    for (int w = 0; w < started; w++) pthread_join(thread[w], NULL);
    pthread_mutex_destroy(&l.lock);
    return l.failure.code ? ks_fail(err, l.failure.code, "%s", l.failure.msg) : KSPEC_OK;
}
