/*
 * Second-order estimates of one matrix or two, averaged over the splits of the trials, with leave-one-out
 * values for each row and column. The jackknife turns these values into error bars.
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
 * The estimates of one matrix. Each list has 1 + P + Q numbers: from all data, without each row, without each
 * column. With groups, P and Q count the groups of rows and of columns.
 */
typedef struct {
    size_t P, Q;
    /* the number of rows; the P left-out rows are a uniform sample of all rows */
    double rows;
    /*
     * unbiased estimates of m(1), m(1)^2 and m(2), in units of 2^(2 exponent), 2^(4 exponent) and 2^(4
     * exponent)
     */
    double *trace, *square, *moment;
    int exponent;
    /*
     * the participation ratio of the matrix's own eigenvalues, and the sum of squares of its Gram matrix.
     * Both are NaN if entries are missing. The sum is also NaN if ks_second_of_moment() did not need the sum
     */
    double naive, own;
    /* the fraction of the cycles of order 2 without missing entries */
    double cycles;
    /*
     * for rows and for columns, the fraction of the variance that sampling without replacement leaves: 1 -
     * P/N, or 1 if N is infinite
     */
    double share[2];
    /* possible rounding errors of trace, square and moment */
    ks_lost lost[3];
    /* the sums of one trial with scaled columns, as in ks_sums */
    ks_quad scaled;
    int has_scaled;
} ks_second;

/*
 * The caller's trials, checked and scaled for order 2, and centred where t->center is set. Rows and columns
 * are samples without replacement from population[0] and population[1]: INFINITY, or at least the number of
 * rows or columns in the data. Leaving out one row or column of a complete side changes nothing.
 */
typedef struct {
    ks_trials trials;
    ks_halves halves;
    double population[2];
    /* 1: columns were divided by their standard deviations, which are estimates as well */
    int standardized;
    /* without groups, each row and column is one group */
    ks_groups rows, cols;
    /* 1: groups of rows differ in size, and all tuples of rows have equal weight (ks_pairs) */
    int alike;
    /* 1: skip the ratio of the matrix's own eigenvalues, which the caller does not need */
    int ratio_unused;
    /* 1: skip the leave-one-out values, whose lists stay 0; this saves half of the products */
    int whole;
    /* the pair of matrices of trials that need no split, after its first use */
    ks_pair pair;
} ks_measured;

/* Split r of the trials */
ks_pair ks_measured_pair(ks_measured *m, uint64_t seed, size_t r);

/*
 * Describes how rows and columns were sampled: the sizes of both populations (NULL: infinite), and labels of
 * dependent rows and of dependent columns, or NULL. pairwise: 1 if NaN is a missing entry
 */
typedef struct {
    const double *population;
    const uint64_t *row_groups, *col_groups;
    int pairwise;
    /*
     * 1: only second order is needed, all tuples of rows have equal weight, and rows may be in groups if
     * columns are complete
     */
    int alike;
    size_t cols; /* the matrix's columns, needed with `alike` */
    /* the run whose device stores the matrix, or NULL */
    const ks_run *on_device;
    int threads; /* threads that prepare the trials; 0: one */
} ks_dependence;

/*
 * The populations of a P x Q matrix, from the complete side and from the given sizes (0: infinite), which
 * must not be smaller than the sample. With given sizes, `sampled` may be KSPEC_SAMPLED_BOTH.
 */
kspec_status ks_populations(kspec_sampled sampled, const uint64_t given[2], size_t P, size_t Q,
                            double population[2], kspec_error *err);

/* Can these options be combined? */
kspec_status ks_dependence_check(const ks_dependence *how, const size_t *row_trials, kspec_error *err);

/*
 * Checks shapes and entries, and whether enough rows and columns remain after leaving out one of each. The
 * least is 5 rows (3 if not centred) and 3 columns, or 1 on a complete side. `what` names the matrix in
 * messages.
 */
kspec_status ks_measured_open(ks_measured *m, const kspec_matrix *phi, size_t ntrials,
                              const size_t *row_trials, const double population[2], int center,
                              const char *what, ks_arena *arena, kspec_error *err);

/*
 * Like ks_measured_open(), with groups or missing entries. The least numbers of rows and columns then apply
 * to groups. Counts the missing entries
 */
kspec_status ks_measured_open_dependent(ks_measured *m, const kspec_matrix *phi, size_t ntrials,
                                        const size_t *row_trials, const ks_dependence *how, int center,
                                        const char *what, size_t *missing, ks_arena *arena, kspec_error *err);

/* Are standard deviations, if any, treated as known? Yes if columns are grouped, centred or complete. */
int ks_standard_known(const ks_measured *m);

/*
 * Unless the standard deviations are known, calls ks_standard_left_out() for orders 1 ... `orders`. all[n-1]
 * belongs to order n. rows and cols contain one list for each order
 */
kspec_status ks_standard_orders(const ks_measured *m, int orders, const double *all, double *rows,
                                const double *cols, kspec_error *err);

kspec_status ks_second_make(const ks_run *run, ks_measured *m, int splits, uint64_t seed, ks_second *s,
                            ks_arena *arena, kspec_error *err);

/*
 * Like ks_second_make(), for data that are not centred, with a known m(2). moment: 1 + P + Q numbers, from
 * all data and, with `loo`, without each row and column. The function stores no matrix, and does not compute
 * the trace. It multiplies matrices only for `naive` of several trials or a finite population.
 */
kspec_status ks_second_of_moment(const ks_run *run, ks_measured *m, int splits, uint64_t seed, int loo,
                                 const double *moment, ks_second *s, ks_arena *arena, kspec_error *err);

/*
 * Estimates tr T_1 T_2 of two matrices with the same rows. *cross receives 1 + P + Q + R numbers, in units of
 * 2^(2 (e_1 + e_2)): from all data, without each row, and without each column of the first and of the second
 * matrix. lost: the rounding of these numbers. own: <K, L> of the Gram matrices themselves if either matrix
 * has one trial, otherwise NaN.
 */
kspec_status ks_cross_make(const ks_run *run, ks_measured *first, ks_measured *second, int splits,
                           uint64_t seed, double **cross, ks_lost *lost, double *own, ks_arena *arena,
                           kspec_error *err);

/* The mean of a matrix's trials (P x Q, centred where asked) in the arena. */
double *ks_measured_mean(ks_measured *m, ks_arena *arena);

/*
 * Adds the estimates of one matrix with n rows, times `weight`, to the lists of s, and bounds their rounding.
 * `sums` are the matrix's sums over pairs of columns. The list of a complete side repeats the estimate from
 * all data.
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
 * The mean over rows of the logarithm of the ratio without a row, minus the logarithm of the ratio from all
 * data. To first order this mean is exactly zero. For the higher orders, a sample of the rows suffices.
 */
double ks_second_excess(const ks_second *s, const double *logs);

/*
 * The participation ratio from all data, followed by the P + Q ratios without each row and column. If every
 * ratio is positive, `out` contains logarithms. Otherwise it contains the first-order expansion of the
 * logarithm about the ratio from all data, which must be positive.
 */
void ks_log_ratios(const ks_second *s, double *out);

/*
 * Returns the number of ordered pairs of units from different groups. *fewest receives the smallest number
 * that remains without one group
 */
double ks_pairs_of_groups(const ks_groups *g, double *fewest);

/* Returns m(1)^2 / m(2), or NaN if either is not positive */
double ks_ratio(double square, double moment);

/*
 * Returns the possible relative rounding error of the ratio from all data. *spread: the rounding of the
 * logarithm's standard error. *bias: the rounding of the logarithm's jackknife bias.
 */
double ks_ratio_lost(const ks_second *s, double *spread, double *bias);

/* A smaller fraction of m(1)^2 counts as 0, since no dimension is as large as 1e9. */
#define KS_RATIO_NOTHING 1e-9

/* Fails if rounding may exceed the numerator or denominator of the ratio. `what`: the matrix */
kspec_status ks_second_check(const ks_second *s, const char *what, kspec_error *err);

/* The participation ratio with its error bars; NaN if undefined */
typedef struct {
    double value, rounding;
    ks_error_bar bar;
    double side[2]; /* the variance of the logarithm due to rows, and to columns */
} ks_dimensionality;
kspec_status ks_ratio_errors(const ks_second *s, ks_dimensionality *d, ks_arena *arena, kspec_error *err);
