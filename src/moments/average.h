/*
 * Averages one task over every choice that gives another estimate of the same moments: splits of the trials,
 * the two orders of a pair, and random orders of rows and columns.
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
    /* the units left out one at a time: single rows and columns if the data have no groups */
    const ks_groups *rows, *cols;
    /* with missing entries: for each order, the fraction of cycles that remain; otherwise NULL */
    double *cycles;
    /*
     * for each order the largest sum of |terms| in exact, followed by room for as many more numbers; NULL:
     * not wanted
     */
    double *terms;
    /* set if exact found an outlying entry (NULL: not wanted), and whether to split it off: exact_apart.h */
    int *stands_out;
    int apart;
} ks_source;

/*
 * Writes sum->m[n-1] for n = 1 ... task->last. Where sum->rows is given, it also writes the leave-one-out
 * estimates: n x rows->count and n x cols->count numbers. With `square` the entries are squared first: the
 * moments of Phi o Phi are the second moments of the cycle's value.
 */
kspec_status ks_average(const ks_run *run, ks_source *s, const ks_task *task, int square,
                        const ks_moments_out *sum, kspec_error *err);

/*
 * Averages under the assignment scheme, which draws a random admissible trial for every edge. It supports
 * path only, without leave-one-out estimates.
 */
kspec_status ks_average_assigned(const ks_run *run, ks_source *s, const ks_task *task,
                                 const ks_moments_out *sum, kspec_error *err);
