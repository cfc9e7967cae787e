/* Turns the caller's set of estimators into a list of tasks. Each task runs one method up to an order. */
#pragma once

#include "device/device.h"
#include "exact/exact.h"

/* kspec_name() */
const char *ks_estimator_name(kspec_estimator e);

typedef struct {
    /*
     * label: the name in the result. method: the method that runs. With one side complete, path runs
     * Kong-Valiant.
     */
    kspec_estimator label, method;
    /* the orders to report; the task computes 1 ... last */
    int first, last;
    /* how many random orders of rows and columns to average; 0: only the given order */
    int permutations;
    /*
     * for AUTO's exact: the method that replaces exact if rounding spoils the result, and that method's
     * number of random orders; 0: no method
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
    /* the lowest order that AUTO omitted to stay within its budget; 0: none */
    int left_out;
    /* exact computes by pairs of columns (pairs/pairs.h), up to order 2 */
    int pairs;
    /* the GPU requested by name, whose memory is the limit; NULL: no GPU requested */
    const ks_device *device;
    /* the plan of exact */
    ks_exact_plan exact;
} ks_tasks;

/*
 * Sets the defaults of *o, checks every option against the P x Q matrix, and lists the tasks. repeats: the
 * number of pairs of matrices that the trials give. two: whether the members of a pair differ. device: as in
 * ks_tasks. Call ks_tasks_free() afterwards, also after a failure.
 */
kspec_status ks_tasks_make(kspec_moments_opts *o, size_t P, size_t Q, size_t repeats, int two,
                           const ks_device *device, ks_tasks *tasks, kspec_error *err);

/*
 * Like ks_tasks_make(), for rows in G groups (G < P), columns in H groups (H < Q), or centred data with
 * missing entries. Rejects options that cannot be combined with groups or missing entries.
 */
kspec_status ks_tasks_make_grouped(kspec_moments_opts *o, size_t P, size_t Q, size_t G, size_t H,
                                   size_t repeats, ks_tasks *tasks, kspec_error *err);
kspec_status ks_tasks_make_holes(kspec_moments_opts *o, size_t P, size_t Q, ks_tasks *tasks,
                                 kspec_error *err);

/* Checks every option that does not depend on the matrix, and sets defaults except for nmax = 0. */
kspec_status ks_tasks_check(kspec_moments_opts *o, kspec_error *err);

/*
 * Rejects options that cannot be combined with groups or missing entries. `what` names the groups or missing
 * entries in messages.
 */
kspec_status ks_tasks_check_mixture(const kspec_moments_opts *o, const char *what, kspec_error *err);

/* The number of random orders of rows and columns in path under AUTO; 0: the given order */
int ks_auto_orders(const kspec_moments_opts *o, const ks_tasks *tasks, size_t repeats);

void ks_tasks_free(ks_tasks *tasks);
