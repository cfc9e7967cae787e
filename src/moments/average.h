/*
 * One task, averaged over everything that gives another estimate of the same moments: splits of the trials,
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
    /* what is left out at a time: each row and column where there are no groups */
    const ks_groups *rows, *cols;
    /* where entries are missing, for each order: the part of the cycles that is left; otherwise NULL */
    double *cycles;
    /*
     * for each order the largest sum of |terms| that exact met, and room for as many more numbers; NULL: not
     * wanted
     */
    double *terms;
    /* set where exact met what stands out (NULL: not wanted), and whether to take it apart: exact_apart.h */
    int *stands_out;
    int apart;
} ks_source;

/*
 * Writes sum->m[n-1], and the leave-one-out estimates where sum->rows is given, for n = 1 ... task->last:
 * n x rows->count and n x cols->count of them.
 * With `square` the entries are squared first: the moments of Phi o Phi are the second moments of the cycle's
 * value.
 */
kspec_status ks_average(const ks_run *run, ks_source *s, const ks_task *task, int square,
                        const ks_moments_out *sum, kspec_error *err);

/*
 * The same under the assignment scheme: a random admissible trial for every edge. Path only, no
 * leave-one-out.
 */
kspec_status ks_average_assigned(const ks_run *run, ks_source *s, const ks_task *task,
                                 const ks_moments_out *sum, kspec_error *err);
