/*
 * Averages one estimator over splits of the trials, over the two orders of a pair, and over random orders of
 * rows and columns. Every choice gives an equally good estimate of the same moments.
 */
#pragma once

#include "base/groups.h"
#include "moments/plan.h"
#include "moments/trials.h"

typedef struct {
    const kspec_moments_opts *o;
    const ks_trials *trials;
    ks_tasks *tasks;
    ks_halves halves;
    /*
     * The jackknife leaves out one of these groups at a time. Without groups, each row and each column is a
     * group.
     */
    const ks_groups *rows, *cols;
    /*
     * cycles[n-1] is the fraction of cycles of order n without missing entries. NULL if no entry is missing.
     */
    double *cycles;
    /*
     * terms[n-1] is the largest sum of |terms| of the exact estimator at order n. Scratch of the same length
     * follows. If terms is NULL, nothing is written.
     */
    double *terms;
    /*
     * If stands_out is not NULL, it receives 1 when the exact estimator finds an outlying entry. If apart is
     * 1, the exact estimator splits off an outlying entry (exact/apart.h).
     */
    int *stands_out;
    int apart;
} ks_source;

/*
 * Writes sum->m[n-1] for n = 1 ... task->last. If sum->rows is not NULL, the function also writes the
 * leave-one-out estimates: n x rows->count and n x cols->count numbers. If square is 1, the function uses the
 * squared entries of the matrix, whose moments are the second moments of a cycle's value.
 */
kspec_status ks_average(const ks_run *run, ks_source *s, const ks_task *task, int square,
                        const ks_moments_out *sum, kspec_error *err);

/*
 * Averages under the assignment scheme, which draws a random admissible trial for every edge. Only the path
 * estimator supports this scheme, without leave-one-out estimates.
 */
kspec_status ks_average_assigned(const ks_run *run, ks_source *s, const ks_task *task,
                                 const ks_moments_out *sum, kspec_error *err);
