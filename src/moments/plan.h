/* Turns the caller's set of estimators into a list of tasks, each one method up to an order. */
#pragma once

#include "device/device.h"
#include "exact/exact.h"

/* kspec_name() */
const char *ks_estimator_name(kspec_estimator e);

typedef struct {
    /* the name in the result, and the method that runs: path with one side complete runs Kong-Valiant */
    kspec_estimator label, method;
    /* the orders to report; the task computes 1 ... last */
    int first, last;
    /* random orders to average over; 0: the given order, once */
    int permutations;
    /*
     * AUTO's exact: the method that replaces it if rounding spoils it, and its number of random orders; 0:
     * none
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
    /* the order that AUTO omitted to stay within its budget and no other task gives; 0: none */
    int left_out;
    /* exact computes by pairs of columns (pairs/pairs.h), up to order 2 */
    int pairs;
    /* the GPU requested by name, whose memory is the limit; NULL: no GPU requested */
    const ks_device *device;
    /* the plan of exact */
    ks_exact_plan exact;
} ks_tasks;

/*
 * Fills in the defaults of *o, checks every option against the P x Q matrix, and lists the tasks. repeats:
 * the number of pairs of matrices that the trials give. two: whether the members of a pair differ. device: as
 * in ks_tasks. Call ks_tasks_free() afterwards, also after a failure.
 */
kspec_status ks_tasks_make(kspec_moments_opts *o, size_t P, size_t Q, size_t repeats, int two,
                           const ks_device *device, ks_tasks *tasks, kspec_error *err);

/*
 * The same if rows or columns come in G and H groups (fewer than P, or than Q), or if entries of centred data
 * are missing. Rejects options that cannot be combined with them.
 */
kspec_status ks_tasks_make_grouped(kspec_moments_opts *o, size_t P, size_t Q, size_t G, size_t H,
                                   size_t repeats, ks_tasks *tasks, kspec_error *err);
kspec_status ks_tasks_make_holes(kspec_moments_opts *o, size_t P, size_t Q, ks_tasks *tasks,
                                 kspec_error *err);

/* Checks every option that does not depend on the matrix, and fills in its default; nmax = 0 stays. */
kspec_status ks_tasks_check(kspec_moments_opts *o, kspec_error *err);

/* Rejects options that cannot be combined with groups or missing entries; `what` names these. */
kspec_status ks_tasks_check_mixture(const kspec_moments_opts *o, const char *what, kspec_error *err);

/* The number of random orders of rows and columns in path under AUTO; 0: the given order */
int ks_auto_orders(const kspec_moments_opts *o, const ks_tasks *tasks, size_t repeats);

void ks_tasks_free(ks_tasks *tasks);
