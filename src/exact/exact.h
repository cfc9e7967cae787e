/*
 * Computes the exact estimator of m(n), a U-statistic: the mean over all cycles with distinct rows and
 * distinct columns. With one side complete, only the indices of the sampled side need to differ.
 */
#pragma once

#include "device/pair.h"
#include "exact/cycles.h"

/*
 * Contains the plan for data of one shape. A plan does not depend on the entries, so one plan serves all
 * splits of the trials, with and without error bars. The caller sets the fields down to `threads`, and leaves
 * the others 0. After a call, the other fields contain the plan of the latest requested order.
 */
typedef struct {
    size_t P, Q;
    kspec_sampled sampled;
    /* whether A and B differ */
    int two;
    /*
     * center and population matter only if both sides were sampled. center names the side whose mean is
     * removed from the kernel. The caller removes the same mean from the data beforehand. population contains
     * the sizes of the populations of rows and columns, where 0 means infinite.
     */
    kspec_center center;
    double population[2];
    /* The estimate of memory assumes `threads` threads. 0 means kspec_default_threads(). */
    int threads;

    ks_cycles cycles;
    /* `work` and `bytes` are the costs without and with leave-one-out estimates. 0 means not yet counted. */
    double work[2];
    size_t bytes[2];
    /* The costs refer to one rank of this team, or to one process if team is NULL. */
    kspec_team *team;
} ks_exact_plan;

void ks_exact_plan_free(ks_exact_plan *e);

/*
 * Sets the team and the number of threads to which later costs refer. team is NULL for one process, and
 * threads is 0 for kspec_default_threads(). The costs are those of one rank. On a device the cost is no
 * higher.
 */
void ks_exact_share(ks_exact_plan *e, kspec_team *team, int threads);

/*
 * Counts the cost of ks_exact() up to order nmax by a dry run. *work counts multiply-adds at the rate of a
 * matrix product. *bytes is an upper bound on the memory in addition to the inputs.
 */
kspec_status ks_exact_cost(ks_exact_plan *e, int nmax, int with_loo, double *work, size_t *bytes,
                           kspec_error *err);

/* Is the estimate centred, or from a finite population? */
int ks_exact_weighted(const ks_exact_plan *e);

/*
 * Returns the highest order: 5 for plain estimates, 4 for centred estimates and finite populations, and 3 if
 * both sides are centred.
 */
int ks_exact_highest(const ks_exact_plan *e);

/*
 * Returns the highest order for which a side (KS_ROW or KS_COL) has enough indices. Order n needs n of them,
 * or 2n if the side is centred. For a complete side the result is SIZE_MAX.
 */
size_t ks_exact_enough(const ks_exact_plan *e, int side);
/* Reports that a side has too few indices for order n. */
kspec_status ks_exact_too_few(const ks_exact_plan *e, int side, int n, kspec_error *err);

/*
 * Returns 1 - P/N for a side, the factor by which sampling without replacement lowers the variance. The share
 * of a complete side is 0.
 */
double ks_exact_sampled_share(const ks_exact_plan *e, int side);

/*
 * Computes the estimates of a pair of matrices. p has the planned shape, and p->nmax is at most
 * ks_exact_highest() and ks_exact_enough(). Order 5 with both sides sampled takes P^2 Q^2 multiply-adds and
 * more. Orders up to 4 take a few matrix products. Leaving out a row or column of a complete side changes
 * nothing, so the corresponding estimates are m itself.
 */
kspec_status ks_exact(const ks_run *run, ks_exact_plan *e, const ks_pair *p, const ks_moments_out *out,
                      kspec_error *err);

/*
 * Computes the estimates as ks_exact() does. If abs_terms is not NULL, also sets abs_terms[n-1] to the sum of
 * the absolute values of the terms of m(n), in units of m(n). Rounding errors are a small multiple of 1e-16
 * of this sum.
 */
kspec_status ks_exact_terms(const ks_run *run, ks_exact_plan *e, const ks_pair *p, const ks_moments_out *out,
                            double *abs_terms, kspec_error *err);
