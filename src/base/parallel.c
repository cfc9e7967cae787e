/* Runs the chunks of a loop on several threads. */
#define _GNU_SOURCE
#include "base/parallel.h"

#include "base/cpu.h"
#include "base/error.h"
#include "kspec/host.h"

#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

enum { MAX_THREADS = 1024 };

int ks_threads_most = INT_MAX;

int kspec_default_threads(void) {
    const char *env = getenv("KSPEC_THREADS");
    long n = env ? strtol(env, NULL, 10) : 0;
    if (n <= 0) {
#ifndef KSPEC_PORTABLE
        cpu_set_t set; /* processors of this process */
        n = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
#else
        n = sysconf(_SC_NPROCESSORS_ONLN);
#endif
    }
    return n < 1 ? 1 : n > MAX_THREADS ? MAX_THREADS : (int)n;
}

kspec_status ks_run_init(ks_run *run, int threads, kspec_progress progress, kspec_error *err) {
    if (threads < 0 || threads > MAX_THREADS)
        return ks_fail(err, KSPEC_E_ARG, "threads %d is not between 0 (the default) and %d", threads,
                       MAX_THREADS);
    ks_isa isa;
    kspec_status st = ks_isa_choose(&isa, err); /* reports a bad KSPEC_ISA */
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

/* ---- loop ---- */

typedef struct {
    const ks_run *run;
    const ks_steps *s;
    void *ctx;
    /* next is the next chunk of this step that a worker will take, and nchunks is the number of chunks. */
    atomic_size_t next;
    size_t nchunks;
    atomic_bool stop;
    /* `step` is the current step. `come` counts the workers that have finished it, of `workers` in all. */
    atomic_size_t step;
    atomic_int come, workers;
    /* The lock guards the fields below, and workers sleep under it until `step` changes. */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    /* failed_chunk is the lowest chunk that failed, and failure is its error. */
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
        ks_fail(&l->failure, st, "%s", message[0] ? message : ks_status_name(st));
    }
    pthread_mutex_unlock(&l->lock);
    atomic_store(&l->stop, 1);
}

/* Waits until the other workers have finished the step. Returns the next step. */
static size_t synchronise(loop *l, size_t step) {
    enum { PATIENCE = 200 };
    size_t next = step + 1;
    if (next == l->s->steps) return next;
    if (atomic_fetch_add(&l->come, 1) + 1 == atomic_load(&l->workers)) {
        if (atomic_load(&l->stop))
            next = l->s->steps;
        else
            l->nchunks = l->s->chunks(l->ctx, next);
        atomic_store(&l->next, 0);
        atomic_store(&l->come, 0);
        pthread_mutex_lock(&l->lock);
        atomic_store(&l->step, next);
        pthread_cond_broadcast(&l->changed);
        pthread_mutex_unlock(&l->lock);
        return next;
    }
    for (int k = 0; k < PATIENCE && atomic_load(&l->step) == step; k++) sched_yield();
    if (atomic_load(&l->step) == step) {
        pthread_mutex_lock(&l->lock);
        while (atomic_load(&l->step) == step) pthread_cond_wait(&l->changed, &l->lock);
        pthread_mutex_unlock(&l->lock);
    }
    return atomic_load(&l->step);
}

/* Runs the remaining chunks of a step. */
static void make(loop *l, size_t step, const ks_worker *worker) {
    while (!atomic_load(&l->stop)) {
        size_t chunk = atomic_fetch_add(&l->next, 1);
        if (chunk >= l->nchunks) break;
        ks_clear(worker->err);
        kspec_status st = l->s->make(l->ctx, step, chunk, worker);
        if (st) fail(l, chunk, st, worker->err->msg);
        /* Only worker 0, the calling thread, may report progress. */
        const double done = (double)step + (double)(chunk + 1) / (double)l->nchunks;
        if (worker->index == 0 && ks_run_report(l->run, done / (double)l->s->steps))
            fail(l, l->nchunks, KSPEC_E_CANCELLED, "");
    }
}

static void *work(void *arg) {
    const seat *s = arg;
    kspec_error err;
    const ks_worker worker = {s->index, &err};
    for (size_t step = 0; step < s->l->s->steps; step = synchronise(s->l, step)) make(s->l, step, &worker);
    return NULL;
}

kspec_status ks_parallel_steps(const ks_run *run, const ks_steps *s, void *ctx, kspec_error *err) {
    if (ks_run_report(run, 0)) return ks_fail(err, KSPEC_E_CANCELLED, "cancelled");
    if (!s->steps) return KSPEC_OK;
    loop l = {.run = run, .s = s, .ctx = ctx, .failure = {.code = KSPEC_OK}, .nchunks = s->chunks(ctx, 0)};
    atomic_init(&l.next, 0);
    atomic_init(&l.stop, 0);
    atomic_init(&l.step, 0);
    atomic_init(&l.come, 0);
    atomic_init(&l.workers, MAX_THREADS + 1);
    pthread_mutex_init(&l.lock, NULL);
    pthread_cond_init(&l.changed, NULL);

    int workers = ks_workers(run, s->most), started = 0;
    pthread_t thread[MAX_THREADS];
    seat seats[MAX_THREADS]; /* most use one */
    seats[0] = (seat){&l, 0};
    for (int w = 1; w < workers; w++) seats[w] = (seat){&l, w};
    /* If fewer threads start than requested, these compute all chunks, with the same bits. */
    while (started < workers - 1 && started < ks_threads_most &&
           pthread_create(&thread[started], NULL, work, &seats[started + 1]) == 0)
        started++;
    atomic_store(&l.workers, started + 1);
    work(&seats[0]);
    for (int w = 0; w < started; w++) pthread_join(thread[w], NULL);
    pthread_cond_destroy(&l.changed);
    pthread_mutex_destroy(&l.lock);
    return l.failure.code ? ks_fail_again(err, &l.failure) : KSPEC_OK;
}

/* ---- one step ---- */

typedef struct {
    size_t nchunks;
    ks_chunk_fn fn;
    void *ctx;
} one;

static size_t chunks_of(void *ctx, size_t step) {
    (void)step;
    return ((const one *)ctx)->nchunks;
}

static kspec_status make_one(void *ctx, size_t step, size_t chunk, const ks_worker *worker) {
    (void)step;
    const one *o = ctx;
    return o->fn(o->ctx, chunk, worker);
}

kspec_status ks_parallel_for(const ks_run *run, size_t nchunks, ks_chunk_fn fn, void *ctx, kspec_error *err) {
    one o = {nchunks, fn, ctx};
    return ks_parallel_steps(run, &(ks_steps){1, nchunks, chunks_of, make_one}, &o, err);
}
