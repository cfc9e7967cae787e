/*
 * Averages one task over equally good estimates of the same moments: splits of the trials, the two orders of
 * a pair, and random orders of rows and columns.
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
     * the groups of rows and of columns that the jackknife leaves out; single rows and columns if the data
     * have no groups
     */
    const ks_groups *rows, *cols;
    /* for each order, the fraction of cycles without missing entries; NULL if no entry is missing */
    double *cycles;
    /*
     * for each order, the largest sum of |terms| in exact, followed by scratch of the same length; NULL: not
     * computed
     */
    double *terms;
    /*
     * stands_out (or NULL): receives 1 if exact found an outlying entry. apart: whether exact splits off such
     * an entry (exact_apart.h).
     */
    int *stands_out;
    int apart;
} ks_source;

/*
 * Writes sum->m[n-1] for n = 1 ... task->last. If sum->rows is not NULL, also writes the leave-one-out
 * estimates: n x rows->count and n x cols->count numbers. With `square` the function uses the squared
 * entries, because the moments of Phi o Phi are the second moments of a cycle's value.
 */
kspec_status ks_average(const ks_run *run, ks_source *s, const ks_task *task, int square,
                        const ks_moments_out *sum, kspec_error *err);

/*
 * Averages under the assignment scheme, which draws a random admissible trial for every edge. The assignment
 * scheme supports path only, without leave-one-out estimates.
 */
kspec_status ks_average_assigned(const ks_run *run, ks_source *s, const ks_task *task,
                                 const ks_moments_out *sum, kspec_error *err);
