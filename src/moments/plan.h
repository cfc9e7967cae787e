/* What to compute: the caller's set of estimators becomes a list of tasks, each one method up to an order. */
#pragma once

#include "device/device.h"
#include "exact/exact.h"

typedef struct {
    /* what the result calls it, and what is run: path with one side complete is Kong-Valiant */
    kspec_estimator label, method;
    /* the orders it reports; it computes 1 ... last */
    int first, last;
    /* random orders to average over; 0: the given order, once */
    int permutations;
    /*
     * AUTO's exact: what takes its place where rounding spoils it, and in how many random orders; 0: nothing
     */
    kspec_estimator instead;
    int instead_orders;
} ks_task;

enum { KS_MAX_TASKS = 8 };

typedef struct {
    ks_task task[KS_MAX_TASKS];
    int count;
    /* path runs on the transpose */
    int transposed;
    /* an order that AUTO left out to stay within its budget, and nothing else gives; 0: none */
    int left_out;
    /* exact is made by pairs of columns (pairs/pairs.h), up to order 2 */
    int pairs;
    /* the GPU that was asked for by name, whose memory counts; NULL: none was */
    const ks_device *device;
    /* the plan of exact */
    ks_exact_plan exact;
} ks_tasks;

/*
 * Fills in the defaults of *o, checks every option against the P x Q matrix, and makes the list. repeats: how
 * many pairs of matrices the trials give; two: whether their members differ; device: as in ks_tasks. Call
 * ks_tasks_free() afterwards, also after a failure.
 */
kspec_status ks_tasks_make(kspec_moments_opts *o, size_t P, size_t Q, size_t repeats, int two,
                           const ks_device *device, ks_tasks *tasks, kspec_error *err);

/*
 * The same where rows or columns come in G and H groups (fewer than P, or than Q), or where entries are
 * missing and the data are centred. Refuses what does not go with them.
 */
kspec_status ks_tasks_make_grouped(kspec_moments_opts *o, size_t P, size_t Q, size_t G, size_t H,
                                   size_t repeats, ks_tasks *tasks, kspec_error *err);
kspec_status ks_tasks_make_holes(kspec_moments_opts *o, size_t P, size_t Q, ks_tasks *tasks,
                                 kspec_error *err);

/* Checks every option that does not depend on the matrix, and fills in its default; nmax = 0 stays. */
kspec_status ks_tasks_check(kspec_moments_opts *o, kspec_error *err);

/* Refuses what groups, or missing entries, do not go with: `what` names them. */
kspec_status ks_tasks_check_mixture(const kspec_moments_opts *o, const char *what, kspec_error *err);

/* How many random orders of rows and columns path takes under AUTO; 0: the given one */
int ks_auto_orders(const kspec_moments_opts *o, const ks_tasks *tasks, size_t repeats);

void ks_tasks_free(ks_tasks *tasks);
