/*
 * What to compute: the caller's set of estimators becomes a list of tasks, each one method run up to an
 * order.
 */
#ifndef KS_MOMENTS_PLAN_H
#define KS_MOMENTS_PLAN_H

#include "moments/exact.h"

typedef struct {
    kspec_estimator label;  /* what the result calls it */
    kspec_estimator method; /* what is run: path with one side complete is Kong-Valiant */
    int first, last;        /* the orders it reports; it computes 1 ... last */
    int permutations;       /* random orders to average over; 0: the given order, once */
} ks_task;

enum { KS_MAX_TASKS = 8 };

typedef struct {
    ks_task task[KS_MAX_TASKS];
    int count;
    int transposed; /* path runs on the transpose */
    /* what exact is planned for, where it was considered at all */
    ks_exact_plan exact;
} ks_tasks;

/*
 * Fills in the defaults of *o (order, splits, ...), checks every option against the P x Q matrix, and makes
 * the list. repeats: how many pairs of matrices the trials give; two: whether their members differ. Call
 * ks_tasks_free() afterwards, also where this failed.
 */
kspec_status ks_tasks_make(kspec_moments_opts *o, size_t P, size_t Q, size_t repeats, int two,
                           ks_tasks *tasks, kspec_error *err);
void ks_tasks_free(ks_tasks *tasks);

#endif
