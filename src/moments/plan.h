/* Turns the caller's set of estimators into a list of tasks. Each task runs one method up to an order. */
#pragma once

#include "device/device.h"
#include "exact/exact.h"

const char *ks_estimator_name(kspec_estimator e);

typedef struct {
    /*
     * label is the estimator named in the result, and `method` is the one that runs. With one side complete,
     * a request for path runs Kong-Valiant.
     */
    kspec_estimator label, method;
    /* The task computes the orders 1 ... last and reports first ... last. */
    int first, last;
    /* The task averages `permutations` random orders of rows and columns. 0 means the given order. */
    int permutations;
    /*
     * If rounding spoils an exact result under AUTO, the method `instead` replaces exact and averages
     * `instead_orders` random orders. 0 means that no method replaces exact.
     */
    kspec_estimator instead;
    int instead_orders;
} ks_task;

enum { KS_MAX_TASKS = 8 };

typedef struct {
    ks_task task[KS_MAX_TASKS];
    int count;
    /* path uses transposes */
    int transposed;
    /*
     * AUTO omitted this order and higher ones to stay within its budget. 0 means that AUTO omitted nothing.
     */
    int left_out;
    /*
     * If pairs is 1, the exact estimator computes m(1) and m(2) by sums over pairs of columns
     * (pairs/pairs.h).
     */
    int pairs;
    /*
     * The GPU that the caller requested by name. The memory of this GPU limits the tasks. `device` is NULL if
     * the caller requested no GPU.
     */
    const ks_device *device;
    ks_exact_plan exact;
} ks_tasks;

/*
 * Sets the defaults of *o, checks every option against the P x Q matrix, and lists the tasks. repeats is the
 * number of pairs of matrices that the trials give, and two is 1 if the members of a pair differ. Call
 * ks_tasks_free() afterwards, also after a failure.
 */
kspec_status ks_tasks_make(kspec_moments_opts *o, size_t P, size_t Q, size_t repeats, int two,
                           const ks_device *device, ks_tasks *tasks, kspec_error *err);

/*
 * Does the same as ks_tasks_make() for rows in G groups (G < P), for columns in H groups (H < Q), or for
 * centred data with missing entries. Rejects options that cannot be combined with groups or missing entries.
 */
kspec_status ks_tasks_make_grouped(kspec_moments_opts *o, size_t P, size_t Q, size_t G, size_t H,
                                   size_t repeats, ks_tasks *tasks, kspec_error *err);
kspec_status ks_tasks_make_holes(kspec_moments_opts *o, size_t P, size_t Q, ks_tasks *tasks,
                                 kspec_error *err);

/* Checks every option that does not depend on the matrix, and sets defaults for all options except nmax. */
kspec_status ks_tasks_check(kspec_moments_opts *o, kspec_error *err);

/*
 * Rejects options that cannot be combined with groups or missing entries. Messages name the groups or missing
 * entries by the string `what`.
 */
kspec_status ks_tasks_check_mixture(const kspec_moments_opts *o, const char *what, kspec_error *err);

/*
 * Returns the number of random orders of rows and columns that the path estimator averages under AUTO. 0
 * means the given order.
 */
int ks_auto_orders(const kspec_moments_opts *o, const ks_tasks *tasks, size_t repeats);

void ks_tasks_free(ks_tasks *tasks);
