/*
 * Second-order estimates of one matrix or two, averaged over the splits of their trials, also without each
 * row and each column; and the jackknife of results computed from them.
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
    /* the number of rows; the P left-out rows are a uniform sample of them */
    double rows;
    /* unbiased for m(1), m(1)^2 and m(2), in units of 2^(2 exponent), 2^(4 exponent) and 2^(4 exponent) */
    double *trace, *square, *moment;
    int exponent;
    /*
     * the participation ratio of the matrix's own eigenvalues, and the sum of squares of its Gram matrix. NaN
     * if entries are missing; the sum is also NaN if ks_second_of_moment() did not need it
     */
    double naive, own;
    /* the fraction of the cycles of order 2 without missing entries */
    double cycles;
    /*
     * by side, the fraction of the variance that sampling without replacement leaves: 1 - P/N; 1 if N is
     * infinite
     */
    double share[2];
    /* possible rounding errors of trace, square and moment */
    ks_lost lost[3];
    /* of one trial, as in ks_sums */
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
    /* 1: the caller does not need the ratio of the matrix's own eigenvalues, which saves its cost */
    int ratio_unused;
    /* 1: the caller does not need leave-one-out values, which saves half the products; those lists stay 0 */
    int whole;
    /* the pair of trials that need no split, once it is made */
    ks_pair pair;
} ks_measured;

/* Split r of the trials */
ks_pair ks_measured_pair(ks_measured *m, uint64_t seed, size_t r);

/*
 * How rows and columns were sampled: the populations of both (NULL: infinite); labels of dependent rows and
 * of dependent columns, or NULL; and whether NaN is a missing entry (1)
 */
typedef struct {
    const double *population;
    const uint64_t *row_groups, *col_groups;
    int pairwise;
    /* 1: second order alone; tuples of rows count alike; rows may be in groups if columns are complete */
    int alike;
    size_t cols; /* of the matrix; with alike */
    /* the run whose device holds the matrix; or NULL */
    const ks_run *on_device;
    int threads; /* that prepare the trials; 0: one */
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
 * Checks shapes and entries, and that rows and columns suffice to leave one of each out: 5 rows (3 if not
 * centred) and 3 columns, or 1 on a complete side. `what` names the matrix in messages.
 */
kspec_status ks_measured_open(ks_measured *m, const kspec_matrix *phi, size_t ntrials,
                              const size_t *row_trials, const double population[2], int center,
                              const char *what, ks_arena *arena, kspec_error *err);

/* The same with groups, which must be as many, or with missing entries, which it counts */
kspec_status ks_measured_open_dependent(ks_measured *m, const kspec_matrix *phi, size_t ntrials,
                                        const size_t *row_trials, const ks_dependence *how, int center,
                                        const char *what, size_t *missing, ks_arena *arena, kspec_error *err);

/* Are standard deviations, if any, treated as known? Yes if columns are grouped, centred or complete. */
int ks_standard_known(const ks_measured *m);

/* Unless they are known, ks_standard_left_out() for orders 1 ... `orders`: all[n-1]; rows, cols by order */
kspec_status ks_standard_orders(const ks_measured *m, int orders, const double *all, double *rows,
                                const double *cols, kspec_error *err);

kspec_status ks_second_make(const ks_run *run, ks_measured *m, int splits, uint64_t seed, ks_second *s,
                            ks_arena *arena, kspec_error *err);

/*
 * The same for data that are not centred and whose m(2) is already known: 1 + P + Q numbers, from all data
 * and, with `loo`, without each row and column. It holds no matrix. It multiplies matrices only for `naive`
 * of several trials or a finite population. It gives no trace.
 */
kspec_status ks_second_of_moment(const ks_run *run, ks_measured *m, int splits, uint64_t seed, int loo,
                                 const double *moment, ks_second *s, ks_arena *arena, kspec_error *err);

/*
 * tr T_1 T_2 of two matrices with the same rows: 1 + P + Q + R numbers, in units of 2^(2 (e_1 + e_2)). They
 * are computed from all data, without each row, and without each column of the first and of the second
 * matrix. lost: their rounding. own: <K, L> of the Gram matrices themselves if either matrix has one trial,
 * otherwise NaN.
 */
kspec_status ks_cross_make(const ks_run *run, ks_measured *first, ks_measured *second, int splits,
                           uint64_t seed, double **cross, ks_lost *lost, double *own, ks_arena *arena,
                           kspec_error *err);

/* The mean of a matrix's trials (P x Q, centred where asked) in the arena. */
double *ks_measured_mean(ks_measured *m, ks_arena *arena);

/*
 * Adds the estimates of one matrix with n rows, times `weight`, to the lists of s, and bounds their rounding.
 * It uses the matrix's sums over pairs of columns. On a complete side no row or column is left out: its list
 * repeats the estimate from all data.
 */
void ks_second_add(const ks_sums *sums, size_t n, int centered, const double population[2], double weight,
                   ks_second *s);

/*
 * Adds, times `weight`, the trace of the product of two matrices' kernel operators, and bounds its rounding.
 * The result has 1 + P + Q + R numbers, where P of the n rows are left out one at a time.
 */
void ks_cross_add(const ks_sums *sums, size_t n, int centered, double population, const int whole[2],
                  size_t P, size_t Q, size_t R, double weight, double *cross, ks_lost *lost);

/*
 * The mean over rows of the logarithm of the ratio without a row, minus the logarithm of the ratio from all
 * data. To first order it is exactly zero; a sample of the rows suffices for the rest.
 */
double ks_second_excess(const ks_second *s, const double *logs);

/*
 * The participation ratio from all data, followed by the P + Q ratios without each row and column. They are
 * logarithms if every ratio is positive. Otherwise they are the first-order expansion of the logarithm about
 * the ratio from all data, which must be positive.
 */
void ks_log_ratios(const ks_second *s, double *out);

/* Ordered pairs from different groups: the total, and the fewest that remain without one group */
double ks_pairs_of_groups(const ks_groups *g, double *fewest);

/* m(1)^2 / m(2), or NaN if either is not positive */
double ks_ratio(double square, double moment);

/*
 * Possible relative rounding error of the ratio from all data. *spread: the rounding of the logarithm's
 * standard error; *bias: the rounding of its jackknife bias.
 */
double ks_ratio_lost(const ks_second *s, double *spread, double *bias);

/* A smaller fraction of m(1)^2 cannot be told from 0, since no dimension is as large as its inverse. */
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
