/*
 * The `exact` estimator of m(n): the mean over all cycles with distinct rows and distinct columns (the
 * U-statistic). With one side complete, only the indices of the sampled side need to differ.
 */
#pragma once

#include "device/pair.h"
#include "exact/cycles.h"

/*
 * The plan for data of one shape. A plan does not depend on the entries, so one plan serves all splits of the
 * trials, with and without error bars. Set the first fields and leave the others 0; these hold the plan of
 * the latest requested order.
 */
typedef struct {
    size_t P, Q;
    kspec_sampled sampled;
    /* 1: A and B differ */
    int two;
    /*
     * Only with `sampled` = both. center: the side whose mean is removed, both from the kernel and,
     * beforehand, from the data. population: the sizes of the populations of rows and columns; 0: infinite
     */
    kspec_center center;
    double population[2];
    /* the number of threads in the estimate of memory; 0: kspec_default_threads() */
    int threads;

    ks_cycles cycles;
    /* the costs without and with leave-one-out estimates; 0: not yet counted */
    double work[2];
    size_t bytes[2];
    /* the costs refer to one rank of this team; NULL: to one process */
    kspec_team *team;
} ks_exact_plan;

void ks_exact_plan_free(ks_exact_plan *e);

/*
 * Sets the team (NULL: one process) and the number of threads (0: kspec_default_threads()). Later costs refer
 * to one rank of the team. On a device the cost is no higher.
 */
void ks_exact_share(ks_exact_plan *e, kspec_team *team, int threads);

/*
 * Counts the cost of ks_exact() up to order nmax by a dry run. The work is in multiply-adds at the rate of a
 * matrix product. The bytes are an upper bound on its memory in addition to its inputs.
 */
kspec_status ks_exact_cost(ks_exact_plan *e, int nmax, int with_loo, double *work, size_t *bytes,
                           kspec_error *err);

/* Is the estimate centred, or from a finite population? */
int ks_exact_weighted(const ks_exact_plan *e);

/* The highest order: 5; 4 if centred or from a finite population; 3 if both sides are centred */
int ks_exact_highest(const ks_exact_plan *e);

/*
 * The highest order for which a side (KS_ROW, KS_COL) has enough indices: order n needs n of them, or 2n if
 * the side is centred. SIZE_MAX if the side is complete.
 */
size_t ks_exact_enough(const ks_exact_plan *e, int side);
/* Reports that a side has too few indices for order n. */
kspec_status ks_exact_too_few(const ks_exact_plan *e, int side, int n, kspec_error *err);

/*
 * 1 - P/N of a side, the factor by which sampling without replacement lowers the variance; 0 if the side is
 * complete
 */
double ks_exact_sampled_share(const ks_exact_plan *e, int side);

/*
 * Computes the estimates of a pair of matrices. p has the planned shape; p->nmax is at most
 * ks_exact_highest() and ks_exact_enough(). Order 5 with both sides sampled takes P^2 Q^2 multiply-adds and
 * more; orders to 4 take a few matrix products. Leaving out a row or column of a complete side changes
 * nothing, so those entries are m itself.
 */
kspec_status ks_exact(const ks_run *run, ks_exact_plan *e, const ks_pair *p, const ks_moments_out *out,
                      kspec_error *err);

/*
 * ks_exact() that also sets abs_terms[n-1] (unless NULL) to the sum of the absolute values of the terms of
 * m(n), in units of m(n). Rounding errors are a small multiple of 1e-16 of this sum.
 */
kspec_status ks_exact_terms(const ks_run *run, ks_exact_plan *e, const ks_pair *p, const ks_moments_out *out,
                            double *abs_terms, kspec_error *err);
