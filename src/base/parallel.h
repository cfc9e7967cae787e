/*
 * Parallel-for over fixed chunks. The caller cuts the work into chunks whose number and bounds do not depend
 * on the thread count, each chunk writes its own results, and the caller combines them in chunk order: so the
 * same bits come out at any number of threads.
 */
#pragma once

#include "kspec/base.h"

/*
 * How a computation runs: on how many threads, whom it tells, and which part of the whole it is. One is made
 * at the top of each public call and handed down.
 */
typedef struct {
    int threads; /* at least 1 */
    kspec_progress progress;
    double from, to; /* the fraction of the whole call that the current loop covers */
    /* the GPU that computes what it can (device/device.h); NULL: this processor */
    struct ks_device *device;
    /* the processes among which loops are shared out (team/team.h); NULL: this one alone */
    kspec_team *team;
} ks_run;

/* Checks threads (0: the default; at most 1024) and fills run, covering the fractions 0 to 1. */
kspec_status ks_run_init(ks_run *run, int threads, kspec_progress progress, kspec_error *err);

/* The same run, covering the part [a,b] of what `run` covers (0 <= a <= b <= 1): a step of a longer job. */
ks_run ks_run_part(const ks_run *run, double a, double b);

/* Reports that the fraction f (0 to 1) of this run's part is done; non-zero means cancelled. Call it from the
   thread that owns the run only. */
int ks_run_report(const ks_run *run, double f);

/*
 * Who works on a chunk: worker `index` of 0 ... threads-1. No two calls with the same index overlap, so
 * scratch memory can be per worker. A chunk that fails writes its message to `err`, which is never NULL.
 */
typedef struct {
    int index;
    kspec_error *err;
} ks_worker;

/*
 * Calls fn(ctx, chunk, worker) once for each chunk in 0 ... nchunks-1. Chunks start in increasing order. A
 * status other than KSPEC_OK stops the loop; the caller gets status and message of the lowest chunk that
 * failed. Cancellation is looked at between chunks, so keep a chunk under about 0.1 s.
 */
typedef kspec_status (*ks_chunk_fn)(void *ctx, size_t chunk, const ks_worker *worker);
kspec_status ks_parallel_for(const ks_run *run, size_t nchunks, ks_chunk_fn fn, void *ctx, kspec_error *err);

/*
 * Loops that follow each other, on the same threads: of step 0 all chunks, then of step 1 all chunks ... For
 * many short ones, which would be over before their threads have started. A failure ends them all. Progress
 * counts every step alike.
 */
typedef struct {
    /* and how many chunks a step has at most: there are no more threads than that */
    size_t steps, most;
    /* how many chunks a step has; asked when the one before it is done, by any of the threads */
    size_t (*chunks)(void *ctx, size_t step);
    kspec_status (*make)(void *ctx, size_t step, size_t chunk, const ks_worker *worker);
} ks_steps;
kspec_status ks_parallel_steps(const ks_run *run, const ks_steps *s, void *ctx, kspec_error *err);

/* How many workers a loop of nchunks chunks will have: min(threads, nchunks), at least 1. */
int ks_workers(const ks_run *run, size_t nchunks);

/* For tests: threads beside the calling one that can be started, at most (INT_MAX) */
extern int ks_threads_most;
