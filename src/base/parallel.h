/*
 * Runs a loop over fixed chunks on several threads. The caller divides the work into chunks whose number and
 * bounds do not depend on the thread count. Each chunk writes its own results, and the caller combines them
 * in chunk order. So every number of threads gives the same bits.
 */
#pragma once

#include "kspec/base.h"

/*
 * Describes how a computation runs: its threads, the callback for progress, and the fraction of the whole
 * call that it covers. Each public call creates one ks_run and passes it down.
 */
typedef struct {
    int threads; /* at least 1 */
    kspec_progress progress;
    double from, to; /* The current loop covers this part of the whole call. */
    /* The GPU for the work that it can do (device/device.h). NULL means that the CPU computes everything. */
    struct ks_device *device;
    /*
     * team contains the processes that divide the loops among themselves (team/team.h), or is NULL for this
     * process only.
     */
    kspec_team *team;
} ks_run;

/*
 * Checks the number of threads, which is at most 1024, or 0 for the default. Initialises `run`, which covers
 * the fractions 0 to 1.
 */
kspec_status ks_run_init(ks_run *run, int threads, kspec_progress progress, kspec_error *err);

/*
 * Returns a copy of `run` for a step of a longer job. Its progress covers the part [a,b] of the range of
 * `run` (0 <= a <= b <= 1).
 */
ks_run ks_run_part(const ks_run *run, double a, double b);

/*
 * Reports that the fraction f (0 to 1) of this run's part is done. A non-zero result means that the caller
 * cancelled. Only the thread that owns the run may call this function.
 */
int ks_run_report(const ks_run *run, double f);

/*
 * A worker computes chunks, and has a number `index` in 0 ... threads-1. Two calls with the same index never
 * overlap, so a worker can have scratch memory. A chunk that fails writes its message to `err`, which is
 * never NULL.
 */
typedef struct {
    int index;
    kspec_error *err;
} ks_worker;

/*
 * Calls fn(ctx, chunk, worker) once for each chunk in 0 ... nchunks-1. Chunks start in increasing order. A
 * status other than KSPEC_OK stops the loop. The caller then receives the status and message of the lowest
 * chunk that failed. The loop checks for cancellation between chunks, so a chunk should take less than about
 * 0.1 s.
 */
typedef kspec_status (*ks_chunk_fn)(void *ctx, size_t chunk, const ks_worker *worker);
kspec_status ks_parallel_for(const ks_run *run, size_t nchunks, ks_chunk_fn fn, void *ctx, kspec_error *err);

/*
 * Runs a sequence of loops on the same threads: all chunks of step 0, then all chunks of step 1 and so on.
 * Callers use it for many short loops, which would finish before new threads had started. A failure ends all
 * steps. Progress counts every step alike.
 */
typedef struct {
    /* `most` is the largest number of chunks of a step, which also limits the number of threads. */
    size_t steps, most;
    /*
     * Returns the number of chunks of a step. Any of the threads may call it, after the previous step has
     * ended.
     */
    size_t (*chunks)(void *ctx, size_t step);
    kspec_status (*make)(void *ctx, size_t step, size_t chunk, const ks_worker *worker);
} ks_steps;
kspec_status ks_parallel_steps(const ks_run *run, const ks_steps *s, void *ctx, kspec_error *err);

/* Returns the number of workers of a loop of nchunks chunks, min(threads, nchunks) but at least 1. */
int ks_workers(const ks_run *run, size_t nchunks);

/*
 * At most ks_threads_most threads can start in addition to the calling one. INT_MAX means no limit, and only
 * tests change it.
 */
extern int ks_threads_most;
