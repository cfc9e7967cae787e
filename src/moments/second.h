/*
 * Estimates of second order of one matrix or two, averaged over the splits of their trials, each with every
 * row and column left out in turn; and the jackknife of what is made of them.
 */
#pragma once

#include "base/memory.h"
#include "base/parallel.h"
#include "kspec/moments.h"
#include "base/groups.h"
#include "moments/jackknife.h"
#include "moments/prepare.h"
#include "moments/trials.h"
#include "pairs/sums.h"

/*
 * One matrix. Each list has 1 + P + Q numbers: from all of it, without each row, without each column; or
 * without each of P groups of rows, and of Q groups of columns.
 */
typedef struct {
    size_t P, Q;
    /* how many rows there are, of which the P left out are a uniform sample */
    double rows;
    /* unbiased for m(1), m(1)^2 and m(2), in units of 2^(2 exponent), 2^(4 exponent) and 2^(4 exponent) */
    double *trace, *square, *moment;
    int exponent;
    /* the participation ratio of the matrix's own eigenvalues, and the sum of squares of its Gram matrix;
     * NaN where entries are missing, and the sum where ks_second_of_moment() did not need it */
    double naive, own;
    /* the part of the cycles of order 2 that missing entries leave */
    double cycles;
    /* by side, what sampling without replacement leaves of its variance: 1 - P/N; 1 where N is infinite */
    double share[2];
    /* what rounding may have done to the values of trace, square and moment */
    ks_lost lost[3];
} ks_second;

/*
 * Trials as the caller gave them, checked and scaled for order 2; centred where t->center is set. Rows and
 * columns are samples without replacement of population[0] and population[1]: INFINITY, or as many as there
 * are or more. Leaving out one of a complete side changes nothing.
 */
typedef struct {
    ks_trials trials;
    ks_halves halves;
    double population[2];
    /* 1: columns were divided by their standard deviations, which are estimates as well */
    int standardized;
    /* where there are none: each row and column by itself */
    ks_groups rows, cols;
    /* 1: groups of rows differ in size, and tuples of rows count alike (ks_pairs) */
    int alike;
    /* 1: nobody asks for the ratio of the matrix's own eigenvalues, and what it takes is saved */
    int ratio_unused;
    /* 1: nobody asks for what is left out, and half the products are saved; those lists stay 0 */
    int whole;
} ks_measured;

/*
 * What is sampled, and how: the populations of rows and columns (NULL: infinite), labels of rows and columns
 * that depend on each other, or NULL; 1: NaN is a missing entry
 */
typedef struct {
    const double *population;
    const uint64_t *row_groups, *col_groups;
    int pairwise;
    /* 1: second order alone, where tuples of rows count alike and groups of rows go with complete columns */
    int alike;
    size_t cols; /* of the matrix; with alike */
    /* the matrix is on the device of this run; or NULL */
    const ks_run *on_device;
} ks_dependence;

/*
 * The populations of a P x Q matrix: by the side that is complete, and by their sizes (0: infinite), which
 * must not be smaller than the sample. `sampled` may be KSPEC_SAMPLED_BOTH beside them.
 */
kspec_status ks_populations(kspec_sampled sampled, const uint64_t given[2], size_t P, size_t Q,
                            double population[2], kspec_error *err);

/* Do they go together? */
kspec_status ks_dependence_check(const ks_dependence *how, const size_t *row_trials, kspec_error *err);

/*
 * Checks shapes and entries, and that rows and columns suffice to leave one of each out: 5 rows (3 where not
 * centred) and 3 columns, but 1 of a complete side. `what` names the matrix in messages.
 */
kspec_status ks_measured_open(ks_measured *m, const kspec_matrix *phi, size_t ntrials,
                              const size_t *row_trials, const double population[2], int center,
                              const char *what, ks_arena *arena, kspec_error *err);

/* The same with groups, of which there must be as many, or missing entries, which are counted. */
kspec_status ks_measured_open_dependent(ks_measured *m, const kspec_matrix *phi, size_t ntrials,
                                        const size_t *row_trials, const ks_dependence *how, int center,
                                        const char *what, size_t *missing, ks_arena *arena, kspec_error *err);

/* Are standard deviations taken as known, if any? Where columns are grouped, centred or complete */
int ks_standard_known(const ks_measured *m);

/* Unless they are, ks_standard_left_out() of orders 1 ... `orders`: all[n-1]; rows and columns by order */
kspec_status ks_standard_orders(const ks_measured *m, int orders, const double *all, double *rows,
                                const double *cols, kspec_error *err);

kspec_status ks_second_make(const ks_run *run, ks_measured *m, int splits, uint64_t seed, ks_second *s,
                            ks_arena *arena, kspec_error *err);

/*
 * The same of data that are not centred, where m(2) is known already (1 + P + Q numbers: of all and, with
 * `loo`, left out): no matrix is held, and no product made but that of `naive` of several trials or a finite
 * population. No trace.
 */
kspec_status ks_second_of_moment(const ks_run *run, ks_measured *m, int splits, uint64_t seed, int loo,
                                 const double *moment, ks_second *s, ks_arena *arena, kspec_error *err);

/*
 * tr T_1 T_2 of two matrices with the same rows: 1 + P + Q + R numbers, in units of 2^(2 (e_1 + e_2)): from
 * all, without each row, without each column of the first and of the second; lost: their rounding. own:
 * <K, L> of the Gram matrices themselves, where either has one trial; NaN otherwise.
 */
kspec_status ks_cross_make(const ks_run *run, ks_measured *first, ks_measured *second, int splits,
                           uint64_t seed, double **cross, ks_lost *lost, double *own, ks_arena *arena,
                           kspec_error *err);

/* The mean of a matrix's trials (P x Q, centred where asked) in the arena. */
double *ks_measured_mean(ks_measured *m, ks_arena *arena);

/*
 * Adds the estimates of one matrix of n rows, each times `weight`, to the lists of s: by its sums over pairs
 * of columns; and what rounding may have done to them. Of a complete side nothing is left out: those lists
 * repeat the estimate of all.
 */
void ks_second_add(const ks_sums *sums, size_t n, int centered, const double population[2], double weight,
                   ks_second *s);

/*
 * The trace of the product of two matrices' kernel operators by their sums, times `weight`: 1 + P + Q + R
 * numbers, where P of the n rows are left out; and what rounding may have done to them.
 */
void ks_cross_add(const ks_sums *sums, size_t n, int centered, double population, const int whole[2],
                  size_t P, size_t Q, size_t R, double weight, double *cross, ks_lost *lost);

/*
 * What the ratio's logarithm without a row exceeds that of all by, in the mean over rows. To first order it
 * is nothing, exactly; what is left is known from a sample of the rows as well.
 */
double ks_second_excess(const ks_second *s, const double *logs);

/*
 * The participation ratio without each row and column (P + Q numbers, after that of all): logarithms where
 * every one is positive, otherwise their expansion to first order about the ratio of all, which must be
 * positive.
 */
void ks_log_ratios(const ks_second *s, double *out);

/* Ordered pairs from different groups: of all, and the fewest that are left without one group */
double ks_pairs_of_groups(const ks_groups *g, double *fewest);

/* m(1)^2 / m(2), or NaN where one of them is not positive. */
double ks_ratio(double square, double moment);

/*
 * How far rounding may have moved the ratio of all, relative to it. *spread: the same of the standard error
 * of the logarithm; *bias: of its bias by the jackknife.
 */
double ks_ratio_lost(const ks_second *s, double *spread, double *bias);

/* A part of m(1)^2 that cannot be told from 0, since no dimension is as large as its inverse */
#define KS_RATIO_NOTHING 1e-9

/* Fails where rounding may have moved the ratio's parts by more than they are. `what`: the matrix */
kspec_status ks_second_check(const ks_second *s, const char *what, kspec_error *err);

/* The participation ratio with its error bars, NaN where undefined */
typedef struct {
    double value, rounding;
    ks_error_bar bar;
} ks_dimensionality;
kspec_status ks_ratio_errors(const ks_second *s, ks_dimensionality *d, ks_arena *arena, kspec_error *err);
