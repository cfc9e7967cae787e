/* Part of kspec.h: spectral moments of the kernel operator. */
#ifndef KSPEC_MOMENTS_H
#define KSPEC_MOMENTS_H

#include "kspec/doubt.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The matrix Phi has P rows (inputs) and Q columns (features). Its kernel operator T has eigenvalues
 * lambda_1, lambda_2, ..., and kspec_moments() estimates the moments m(n) = tr T^n = sum_j lambda_j^n.
 * Two of them give the dimensionality (participation ratio) m(1)^2/m(2).
 *
 * All estimators average over cycles. A cycle of order n is a closed walk over rows and columns, i_1 a_1 i_2
 * a_2 ... i_n a_n i_1, and its value is prod_l Phi[i_l,a_l] Phi[i_{l+1},a_l]. Averaged over cycles whose
 * rows all differ and whose columns all differ, the value is an unbiased estimate of m(n).
 */
typedef enum {
    /* The set of estimators that is used where none is named: AUTO. */
    KSPEC_ESTIMATOR_DEFAULT = 0,
    /* All cycles, tr((Phi Phi^T / PQ)^n). Biased by O(1/P + 1/Q). Any n. */
    KSPEC_ESTIMATOR_NAIVE = 1u << 0,
    /* Kong and Valiant: increasing rows, any columns. Biased by the sampling of columns. n <= P. */
    KSPEC_ESTIMATOR_KV_ROW = 1u << 1,
    /* The same with rows and columns exchanged. Biased by the sampling of rows. n <= Q. */
    KSPEC_ESTIMATOR_KV_COL = 1u << 2,
    /* Increasing rows and increasing columns. Unbiased. n <= min(P,Q). */
    KSPEC_ESTIMATOR_PATH = 1u << 3,
    /*
     * All distinct rows and distinct columns. Unbiased, with the least variance. n <= 4, or 5 where
     * affordable.
     */
    KSPEC_ESTIMATOR_EXACT = 1u << 4,
    /*
     * EXACT up to the highest order that it can do, PATH above, and in its place where rounding exceeds a
     * tenth of EXACT's standard error. Each estimate says which it is.
     */
    KSPEC_ESTIMATOR_AUTO = 1u << 5
} kspec_estimator;

/*
 * PATH runs on the matrix, in time P^2 Q, or on its transpose, in time P Q^2: two different unbiased
 * sums.
 */
typedef enum {
    /* the cheaper of the two */
    KSPEC_SIDE_AUTO = 0,
    KSPEC_SIDE_GIVEN,
    KSPEC_SIDE_TRANSPOSED
} kspec_side;

/* Which sides of the matrix are samples of a larger population. */
typedef enum { KSPEC_SAMPLED_BOTH = 0, KSPEC_SAMPLED_ROWS, KSPEC_SAMPLED_COLS } kspec_sampled;

/* What is done with more than two trials. */
typedef enum {
    /* They are split at random into two halves, whose means are the two trials. */
    KSPEC_TRIALS_SPLIT = 0,
    /* Every edge of a cycle takes a trial at random, neighbours differing. PATH only, without error bars. */
    KSPEC_TRIALS_ASSIGNMENT
} kspec_trials;

/*
 * The estimator's name in the tool and in files, such as "kv-row"; NULL for a value that is not one
 * estimator.
 */
KSPEC_API const char *kspec_estimator_name(kspec_estimator e);

/* NULL, or all fields 0 but the first: the defaults. */
typedef struct {
    /* sizeof this struct */
    size_t size;
    /* The highest order, up to 10,000. Default min(6, P, Q). */
    int nmax;
    /* A set of kspec_estimator values. */
    unsigned estimators;
    /* For permutations and for splits of the trials. */
    uint64_t seed;
    /* 1 to 1024. Default kspec_default_threads(). The result does not depend on it. */
    int threads;
    kspec_progress progress;
    /*
     * Ragged trials: row i was measured row_trials[i] times, in trials 0 ... row_trials[i]-1 (2 to
     * ntrials of them); its entries in the other trials are not looked at. NULL: every row has all
     * trials.
     */
    const size_t *row_trials;
    /* How many random splits (or assignments) of more than two trials are averaged. Default 8. */
    int splits;
    kspec_trials scheme;
    /*
     * PATH and Kong-Valiant depend on the order of rows and columns. Above 1 they are averaged over that
     * many random orders, which lowers their variance. 1 is the given order, and the default except under
     * AUTO (up to 8).
     */
    int permutations;
    kspec_side side;
    /*
     * If only one side is a sample and the other is the whole population, say so: EXACT then lets the
     * complete side's indices repeat (unbiased where Kong-Valiant is, with less variance), and PATH becomes
     * Kong-Valiant.
     */
    kspec_sampled sampled;
    /* 1: no error bars. */
    int no_stderr;
    /* 1: divide Phi by the root mean square of all its entries. */
    int normalize;
    /*
     * The moments of the centred kernel, tr (HTH)^n, unbiased by EXACT for n <= 4 (both sides: 3) from 2n
     * rows (columns) or more. NAIVE is that of the matrix with its own means removed; the others are
     * refused. Default NONE.
     */
    kspec_center center;
    /* 1: give the variance bound of PATH and EXACT, from the moments of Phi squared elementwise. */
    int bound;
    /* 1: give the correlation of the estimates' errors. Not with no_stderr. */
    int correlation;
    /*
     * AUTO only: how much work it may spend, as a multiple of the default of 1, which takes a few seconds.
     * With more, EXACT reaches a higher order on a large matrix and PATH is averaged over more orders.
     */
    double effort;
    /*
     * Rows that depend on each other (tokens of one document, time bins of one trial) come in groups: P
     * labels, of which only equality matters; the same for the Q columns. NULL: all are independent. A
     * cycle then takes at most one row and one column of each group, PATH averages over orders of groups,
     * EXACT goes to order 2, and the jackknife leaves out a group at a time. With center orders are at most
     * 2 and EXACT's: each term is a mean over rows of different groups. Where groups of rows differ in size
     * a constant that is added to a column then changes the estimate, without bias but with more variance:
     * subtract large means first. For PATH, EXACT and AUTO, both sides sampled, without bound.
     */
    const uint64_t *row_groups, *col_groups;
    /*
     * 1: NaN is an entry that is missing, at random. PATH and EXACT then are sums over the cycles that are
     * there, divided by their number. With center orders are at most 2 and EXACT's: each pair of columns is
     * taken over the rows in which both are seen. In more than two trials an entry's mean is over those in
     * which it is seen. Not with groups, ragged trials, bound, or a complete side.
     */
    int pairwise;
    /*
     * The rows (columns) are a sample without replacement of a population of this many, and the moments are
     * those of the population's matrix: NAIVE's if it were given whole. 0: of infinitely many; P (Q):
     * complete, as `sampled` says. EXACT for n <= 4, and NAIVE, which knows nothing of it.
     */
    uint64_t population_rows, population_cols;
    /*
     * A GPU has NAIVE, Kong-Valiant, EXACT, and PATH up to order 16 (8 with error bars), not groups, the
     * assignment scheme, nor `center` with missing entries. Matrices that do not fit it together are in the
     * host's memory while they are not used; KSPEC_GPU_MEMORY in the environment says how many GB count.
     */
    kspec_device device;
    /* The processes among which the work is shared out (kspec/team.h). NULL: this one. */
    kspec_team *team;
    /*
     * Where all of phi is. On a GPU one or two trials are used where they are:
     * in the given order, without center, bound, pairwise, ragged trials, groups or finite populations, and
     * with entries whose root mean square is between 1e-100 and 1e100. In all other cases, and with
     * KSPEC_DEVICE_CPU, they are copied to the host first.
     */
    kspec_memory data_memory;
} kspec_moments_opts;

/* One estimate of one moment. */
typedef struct {
    /* The one that was used, never AUTO. PATH with one side complete is Kong-Valiant. */
    kspec_estimator estimator;
    int n;
    /* m(n) */
    double value;
    /* From a two-way jackknife over rows and columns; NaN where it is undefined or not asked for. */
    double std_error;
    /* A nominal 95% interval; NaN likewise. */
    double ci_low, ci_high;
    /* sign(value) |value|^(1/n): of the order of the largest eigenvalue, and comparable between orders. */
    double root;
    /* (1/P + 1/Q) n^2 V, V the variance of one cycle's value; NaN unless asked for. */
    double variance_bound;
    /* The 95% interval that Chebyshev's inequality makes of variance_bound; NaN likewise. */
    double chebyshev_low, chebyshev_high;
    /* The part of all cycles that missing entries leave, 0 to 1; 1 where none is missing. */
    double cycles;
    /*
     * EXACT: how far rounding may have moved the value. It adds and subtracts sums over cycles whose rows
     * and columns may repeat, which cancel where entries differ by orders of magnitude. Where it would
     * exceed a tenth of the standard error because of one entry, row or column, that one is taken apart, at
     * twice the time. The interval includes it. 0 for the others, which add up what they estimate. See
     * kspec_estimate_doubtful().
     */
    double rounding;
} kspec_estimate;

/*
 * 1 where `rounding` exceeds a tenth of the standard error, or of the value where there is none;
 * otherwise 0
 */
KSPEC_API int kspec_estimate_doubtful(const kspec_estimate *e);

typedef struct {
    /* The estimates, by estimator and then by order. */
    size_t count;
    kspec_estimate **estimates;
    /*
     * The correlation of the estimates' errors, count x count in their order, by the jackknife; NaN for an
     * estimate without an error bar. NULL unless asked for.
     */
    double *correlation;
    /* The side that PATH ran on; GIVEN where it did not run. */
    kspec_side side;
    /* How many orders of rows and columns PATH or Kong-Valiant was averaged over; 0 without them. */
    int permutations;
    /*
     * The dimensionality m(1)^2/m(2), both without bias (the square of m(1) is not that of its estimate), as
     * by kspec_dimension() whatever the estimators. NaN where the estimate of either is not positive, where
     * nmax is 1 or rows or columns are too few, and where the square of m(1) is not known without bias: with
     * both sides centred, of a finite population that is centred or of which NAIVE alone is asked for, of
     * ragged trials or a complete side with columns centred.
     */
    double participation_ratio;
    /*
     * The share of m(1) that comes from the mean of each column, about 0 to 1. NaN where that is centred
     * away, but for groups of rows that differ in size.
     */
    double mean_share;
    double seconds;
    /*
     * By the two-way jackknife of its logarithm, with a nominal 95% interval, of which neither end is below
     * 1, the least of any kernel; NaN where undefined.
     */
    double participation_ratio_std_error, participation_ratio_ci_low, participation_ratio_ci_high;
    /* That of the matrix's own eigenvalues (trials averaged), which grows with its size. */
    double participation_ratio_naive;
    /* How many groups of rows and columns there are; 0 where each is by itself. */
    size_t groups, col_groups;
    /* How many entries are missing, in all trials together. */
    size_t missing;
    kspec_device_used device;
    /* which mean was removed */
    kspec_center center;
    /* see kspec/doubt.h */
    size_t doubt_count;
    kspec_doubt **doubts;
} kspec_moments_result;

/*
 * Estimates the spectral moments of the kernel operator behind Phi. kspec_moments_free() releases the
 * result; it takes NULL, and after a failure *out is NULL.
 *
 * phi points to ntrials >= 1 matrices of one shape: repeated measurements of the same rows and columns. With
 * two, the edges of each cycle come from the two trials in turn, so that noise that is correlated along rows
 * or columns does no harm. With more, both orders of two halves are used, and `splits` such splits are
 * averaged: no trial is thrown away. Ragged rows have splits of their own. That takes care of noise within a
 * row, whose repeats are separate occasions, but not of noise that several rows have in common in one trial.
 *
 * Error bars come from exact leave-one-out estimates (to first order on the side on which Kong-Valiant
 * repeats indices). A side that is complete adds none. The interval is that of the signed root, on whose
 * scale the estimate is less skewed; where it reaches zero it is joined with the plain one, value +- 1.96
 * std_error, and cut off at ten times that. There are no error bars at n = min(P,Q) (P/2 where rows are
 * centred), where leaving one out leaves nothing, nor under the assignment scheme.
 *
 * Time: naive and Kong-Valiant take a few matrix products per order on the shorter side, or on the rows
 * (columns); path takes (nmax-1) P^2 Q multiply-adds for each order of rows; exact a dozen matrix
 * products up to n = 4 and P^2 Q^2 multiply-adds at n = 5; centred, with error bars, twice as long, with
 * two trials 9 times. AUTO switches to PATH where EXACT would take more than 1e11 multiply-adds times
 * `effort` (all splits together), and more than PATH, or 4 GiB. EXACT by itself is refused where its P x
 * P intermediates do not fit into the memory that is available, and at n = 5 above 2e13 multiply-adds;
 * where no order is asked for it takes the highest it can. Among other estimators EXACT gives the orders
 * it can.
 *
 * Memory beyond Phi: a copy where Phi has to be scaled, centred, normalised, transposed (path on the longer
 * side), permuted or averaged; naive and Kong-Valiant hold matrices as large as the square of a side, and
 * ask whether there is room for them; path 8 nmax (P+Q) doubles a thread, times 3 to 100 with error bars,
 * the more the higher the order.
 *
 * An entry that is not finite is KSPEC_E_DATA (but for NaN with `pairwise`), and so is an order of which the
 * missing entries leave no cycle. Overflow is avoided by scaling; a moment too large for a double is
 * KSPEC_E_NUMERIC.
 */
KSPEC_API kspec_status kspec_moments(const kspec_matrix *phi, size_t ntrials, const kspec_moments_opts *opts,
                                     kspec_moments_result **out, kspec_error *err);
KSPEC_API void kspec_moments_free(kspec_moments_result *result);

#ifdef __cplusplus
}
#endif
#endif
