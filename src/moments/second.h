/*
 * Estimates m(1), m(1)^2 and m(2) of one matrix or two, averaged over the splits of the trials, with
 * leave-one-out values for each row and column. The jackknife turns these values into error bars.
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
 * Contains the estimates of one matrix. Each list has 1 + P + Q numbers: from all data, without each row, and
 * without each column. With groups, P and Q count the groups of rows and of columns.
 */
typedef struct {
    size_t P, Q;
    /* If the P left-out rows are a sample, `rows` is the number of all rows. */
    double rows;
    /*
     * trace, square and moment are the unbiased estimates of m(1), m(1)^2 and m(2). The unit of trace is 2^(2
     * exponent), and the unit of square and moment is 2^(4 exponent).
     */
    double *trace, *square, *moment;
    int exponent;
    /*
     * `naive` is the participation ratio of the matrix's own eigenvalues, and `own` is the sum of squares of
     * its Gram matrix. Both are NaN if entries are missing. `own` is also NaN if ks_second_of_moment() did
     * not need the sum.
     */
    double naive, own;
    /* The fraction of the cycles of order 2 without missing entries. */
    double cycles;
    /*
     * For rows and for columns, share = 1 - P/N is the fraction of the variance that sampling P of N units
     * without replacement leaves. For infinite N, share is 1.
     */
    double share[2];
    /* lost contains bounds on the rounding errors of trace, square and moment. */
    ks_lost lost[3];
    /* `scaled` contains the sums of one trial with scaled columns. ks_sums explains these sums. */
    ks_quad scaled;
    int has_scaled;
} ks_second;

/*
 * Describes one matrix whose trials were checked, scaled for order 2, and centred if t->center requests it.
 * Rows and columns are samples without replacement from populations of the sizes population[0] and
 * population[1], which may be INFINITY. A complete side has a population as large as the sample, and leaving
 * out one of its rows or columns changes nothing.
 */
typedef struct {
    ks_trials trials;
    ks_halves halves;
    double population[2];
    /*
     * If standardized is 1, the columns were divided by their standard deviations, which are estimates as
     * well.
     */
    int standardized;
    /* Without groups, each row and column is one group. */
    ks_groups rows, cols;
    /* If alike is 1, groups of rows differ in size, and all tuples of rows have equal weight (ks_pairs). */
    int alike;
    /* If ratio_unused is 1, the functions skip the participation ratio of the matrix's own eigenvalues. */
    int ratio_unused;
    /*
     * If whole is 1, the functions skip the leave-one-out values, whose lists stay 0. A call without
     * leave-one-out values takes half of the products.
     */
    int whole;
    /* If the trials need no split, the first use stores their pair of matrices in `pair`. */
    ks_pair pair;
} ks_measured;

/* Returns the pair of matrices of split r of the trials. */
ks_pair ks_measured_pair(ks_measured *m, uint64_t seed, size_t r);

/*
 * Describes how rows and columns were sampled. `population` contains the sizes of both populations, or is
 * NULL if both are infinite. Two lists label dependent rows and dependent columns, or are NULL. If pairwise
 * is 1, NaN is a missing entry.
 */
typedef struct {
    const double *population;
    const uint64_t *row_groups, *col_groups;
    int pairwise;
    /*
     * If alike is 1, the caller needs second order only, and all tuples of rows have equal weight. Rows may
     * then be in groups if columns are complete.
     */
    int alike;
    size_t cols; /* needed with `alike` */
    /* The run whose device stores the matrix, or NULL. */
    const ks_run *on_device;
    int threads; /* 0 means one thread */
} ks_dependence;

/*
 * Sets the sizes of both populations of a P x Q matrix from the complete side and from the given sizes. A
 * given size of 0 means infinite, and other sizes must not be smaller than the sample. If sizes are given,
 * `sampled` may be KSPEC_SAMPLED_BOTH.
 */
kspec_status ks_populations(kspec_sampled sampled, const uint64_t given[2], size_t P, size_t Q,
                            double population[2], kspec_error *err);

/* Fails if the options in `how` cannot be combined. */
kspec_status ks_dependence_check(const ks_dependence *how, const size_t *row_trials, kspec_error *err);

/*
 * Checks shapes and entries, and whether enough rows and columns remain after leaving out one of each. The
 * data must have at least 5 rows (3 if not centred) and 3 columns. A complete side may have one. Messages
 * name the matrix by the string `what`.
 */
kspec_status ks_measured_open(ks_measured *m, const kspec_matrix *phi, size_t ntrials,
                              const size_t *row_trials, const double population[2], int center,
                              const char *what, ks_arena *arena, kspec_error *err);

/*
 * Does the same as ks_measured_open() for data with groups or missing entries, and counts the missing
 * entries. The least numbers of rows and columns then apply to groups.
 */
kspec_status ks_measured_open_dependent(ks_measured *m, const kspec_matrix *phi, size_t ntrials,
                                        const size_t *row_trials, const ks_dependence *how, int center,
                                        const char *what, size_t *missing, ks_arena *arena, kspec_error *err);

/*
 * Does the library treat the standard deviations as known? Yes if columns are grouped, centred or complete.
 */
int ks_standard_known(const ks_measured *m);

/*
 * Corrects leave-one-out values for standard deviations by ks_standard_left_out(), for orders 1 ... `orders`.
 * Does nothing if the standard deviations are known. all[n-1] is the estimate of order n from all data. rows
 * and cols contain one list for each order.
 */
kspec_status ks_standard_orders(const ks_measured *m, int orders, const double *all, double *rows,
                                const double *cols, kspec_error *err);

kspec_status ks_second_make(const ks_run *run, ks_measured *m, int splits, uint64_t seed, ks_second *s,
                            ks_arena *arena, kspec_error *err);

/*
 * Computes the second-order estimates from a known m(2), for data that are not centred. `moment` contains
 * m(2) from all data and, if loo is 1, without each row and column. The function stores no matrix, and does
 * not compute the trace. The function multiplies matrices only for `naive` of several trials or of a finite
 * population.
 */
kspec_status ks_second_of_moment(const ks_run *run, ks_measured *m, int splits, uint64_t seed, int loo,
                                 const double *moment, ks_second *s, ks_arena *arena, kspec_error *err);

/*
 * Estimates tr T_1 T_2 of two matrices with the same rows. *cross receives 1 + P + Q + R numbers, in units of
 * 2^(2 (e_1 + e_2)): from all data, without each row, and without each column of the first and of the second
 * matrix. lost bounds the rounding of these numbers. own receives the product <K, L> of the two Gram matrices
 * if either matrix has one trial, and otherwise NaN.
 */
kspec_status ks_cross_make(const ks_run *run, ks_measured *first, ks_measured *second, int splits,
                           uint64_t seed, double **cross, ks_lost *lost, double *own, ks_arena *arena,
                           kspec_error *err);

/*
 * Returns the mean of a matrix's trials in the arena. The mean has P x Q numbers, and is centred if the
 * trials request it.
 */
double *ks_measured_mean(ks_measured *m, ks_arena *arena);

/*
 * Adds the estimates of one matrix with n rows, times `weight`, to the lists of s, and bounds their rounding.
 * `sums` are the matrix's sums over pairs of columns. Leaving out part of a complete side repeats the
 * estimate from all data.
 */
void ks_second_add(const ks_sums *sums, size_t n, int centered, const double population[2], double weight,
                   ks_second *s);

/*
 * Adds `weight` times the trace of the product of two matrices' kernel operators to cross, and bounds the
 * rounding. cross contains 1 + P + Q + R numbers. The jackknife leaves out P of the n rows, one at a time.
 */
void ks_cross_add(const ks_sums *sums, size_t n, int centered, double population, const int whole[2],
                  size_t P, size_t Q, size_t R, double weight, double *cross, ks_lost *lost);

/*
 * Returns the mean of log(ratio without a row) over the rows, minus the logarithm of the ratio from all data.
 * To first order the result is exactly zero, so a sample of the rows suffices for the higher orders.
 */
double ks_second_excess(const ks_second *s, const double *logs);

/*
 * Writes the participation ratio from all data, and the P + Q ratios without each row and column. If every
 * ratio is positive, `out` receives logarithms. Otherwise `out` receives the first-order expansion of the
 * logarithm about the ratio from all data, which must be positive.
 */
void ks_log_ratios(const ks_second *s, double *out);

/*
 * Returns the number of ordered pairs of units from different groups. *fewest receives the smallest number of
 * pairs that remains after leaving out one group.
 */
double ks_pairs_of_groups(const ks_groups *g, double *fewest);

/* Returns m(1)^2 / m(2), or NaN if m(1)^2 or m(2) is not positive. */
double ks_ratio(double square, double moment);

/*
 * Returns a bound on the relative rounding error of the ratio from all data. *spread receives the rounding
 * error of the logarithm's standard error, and *bias that of the logarithm's jackknife bias.
 */
double ks_ratio_lost(const ks_second *s, double *spread, double *bias);

/* If m(2) is a smaller fraction of m(1)^2, m(2) counts as 0, since no dimension is as large as 1e9. */
#define KS_RATIO_NOTHING 1e-9

/*
 * Fails if rounding errors may be larger than the numerator or the denominator of the ratio. Messages name
 * the matrix by the string `what`.
 */
kspec_status ks_second_check(const ks_second *s, const char *what, kspec_error *err);

/* Contains the participation ratio with its error bars. All numbers are NaN if the ratio is undefined. */
typedef struct {
    double value, rounding;
    ks_error_bar bar;
    double side[2]; /* side contains the variance of the logarithm due to rows, and due to columns. */
} ks_dimensionality;
kspec_status ks_ratio_errors(const ks_second *s, ks_dimensionality *d, ks_arena *arena, kspec_error *err);
