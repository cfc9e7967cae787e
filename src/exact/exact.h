/*
 * The `exact` estimator: the mean over all cycles with distinct rows and distinct columns (the U-statistic),
 * or with one side complete, where only the sampled side's indices need to differ.
 */
#pragma once

#include "device/pair.h"
#include "exact/cycles.h"

/*
 * The plan for data of one shape, which does not depend on their entries: it is made once and used for all
 * splits of the trials, with and without error bars. Set the fields before `plan` and leave the others 0.
 * They hold the plan of the order that was asked for last.
 */
typedef struct {
    size_t P, Q;
    kspec_sampled sampled;
    /* whether A and B differ */
    int two;
    /*
     * Or, with `sampled` both: which side's mean is removed, from the kernel and beforehand from the data,
     * and what the rows and the columns are samples of, 0: of infinitely many.
     */
    kspec_center center;
    double population[2];
    /* for the memory that it takes; 0: kspec_default_threads() */
    int threads;

    ks_cycles cycles;
    /* what the plan costs without leave-one-out estimates, and with them; 0: not yet counted */
    double work[2];
    size_t bytes[2];
    /* for a rank of which it is counted; NULL: none */
    kspec_team *team;
} ks_exact_plan;

void ks_exact_plan_free(ks_exact_plan *e);

/*
 * Costs are those of a rank of this team (NULL: of one process) from now on, on this many threads (0:
 * kspec_default_threads()). A device takes no more.
 */
void ks_exact_share(ks_exact_plan *e, kspec_team *team, int threads);

/*
 * What ks_exact() costs up to order nmax, by a dry run: multiply-adds at the rate of a matrix product, and an
 * upper bound on the bytes it holds beyond its inputs.
 */
kspec_status ks_exact_cost(ks_exact_plan *e, int nmax, int with_loo, double *work, size_t *bytes,
                           kspec_error *err);

/* Is it centred, or from a finite population? */
int ks_exact_weighted(const ks_exact_plan *e);

/* The highest order: 5; 4 where centred or from a finite population, 3 where both sides are centred. */
int ks_exact_highest(const ks_exact_plan *e);

/*
 * The highest order for which a side (KS_ROW, KS_COL) has enough indices, n or, where it is
 * centred, 2n; SIZE_MAX where it is complete.
 */
size_t ks_exact_enough(const ks_exact_plan *e, int side);
/* The failure of an order above it */
kspec_status ks_exact_too_few(const ks_exact_plan *e, int side, int n, kspec_error *err);

/* 1 - P/N of a side, by which sampling without replacement lowers the variance; 0 where it is complete */
double ks_exact_sampled_share(const ks_exact_plan *e, int side);

/*
 * p is of the planned shape; p->nmax is at most ks_exact_highest() and ks_exact_enough(). Order 5 with both
 * sides sampled takes P^2 Q^2 multiply-adds and more; orders to 4 a few matrix products. Leaving out a row or
 * column of a complete side changes nothing: those entries are m itself.
 */
kspec_status ks_exact(const ks_run *run, ks_exact_plan *e, const ks_pair *p, const ks_moments_out *out,
                      kspec_error *err);

/*
 * The same; abs_terms[n-1] (where not NULL) is the sum of the absolute values of the terms whose sum is m(n),
 * in units of m(n): rounding errors are a small multiple of 1e-16 of it.
 */
kspec_status ks_exact_terms(const ks_run *run, ks_exact_plan *e, const ks_pair *p, const ks_moments_out *out,
                            double *abs_terms, kspec_error *err);
