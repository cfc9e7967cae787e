/* Part of kspec.h: spectral moments of the kernel operator. */
#ifndef KSPEC_MOMENTS_H
#define KSPEC_MOMENTS_H

#include "kspec/doubt.h"

KSPEC_BEGIN_DECLS

/*
 * The matrix Phi has P rows (inputs) and Q columns (features). Its kernel operator T has eigenvalues
 * lambda_1, lambda_2, ..., and kspec_moments() estimates the moments m(n) = tr T^n = sum_j lambda_j^n. Two of
 * them give the dimensionality (participation ratio) m(1)^2/m(2).
 *
 * All estimators average over cycles. A cycle of order n is a closed walk over rows and columns, i_1 a_1 i_2
 * a_2 ... i_n a_n i_1, and its value is prod_l Phi[i_l,a_l] Phi[i_{l+1},a_l]. Averaged over cycles whose rows
 * all differ and whose columns all differ, the value is an unbiased estimate of m(n).
 */
typedef enum {
    KSPEC_ESTIMATOR_DEFAULT = 0,     /* the set of estimators that is used where none is named: AUTO */
    KSPEC_ESTIMATOR_NAIVE = 1u << 0, /* All cycles, tr((Phi Phi^T / PQ)^n). Biased by O(1/P + 1/Q). Any n. */
    /* Kong and Valiant: increasing rows, any columns. Biased by the sampling of columns. n <= P. */
    KSPEC_ESTIMATOR_KV_ROW = 1u << 1,
    /* The same with rows and columns exchanged. Biased by the sampling of rows. n <= Q. */
    KSPEC_ESTIMATOR_KV_COL = 1u << 2,
    KSPEC_ESTIMATOR_PATH = 1u << 3, /* Increasing rows and increasing columns. Unbiased. n <= min(P,Q). */
    /* All distinct rows and columns. Unbiased, of least variance. n <= 4, or 5 where affordable. */
    KSPEC_ESTIMATOR_EXACT = 1u << 4,
    /* EXACT up to the highest order that it can do, PATH above, and in its place where rounding exceeds a
     * tenth of EXACT's standard error. Each estimate says which it is. */
    KSPEC_ESTIMATOR_AUTO = 1u << 5
} kspec_estimator;

/* PATH runs on the matrix, in time P^2 Q, or on its transpose, in time P Q^2: two unbiased sums. */
typedef enum {
    KSPEC_SIDE_AUTO = 0, /* the cheaper of the two */
    KSPEC_SIDE_GIVEN,
    KSPEC_SIDE_TRANSPOSED
} kspec_side;

/* A size of blocks that is chosen by the data. */
#define KSPEC_BLOCK_AUTO SIZE_MAX

/* Which sides of the matrix are samples of a larger population. */
typedef enum { KSPEC_SAMPLED_BOTH = 0, KSPEC_SAMPLED_ROWS, KSPEC_SAMPLED_COLS } kspec_sampled;

/* What is done with more than two trials. */
typedef enum {
    KSPEC_TRIALS_SPLIT = 0, /* they are split at random into two halves, whose means are the two trials */
    /* Every edge of a cycle takes a trial at random, neighbours differing. PATH only, without error bars. */
    KSPEC_TRIALS_ASSIGNMENT
} kspec_trials;

/*
 * Is there any signal, or is every entry noise of its own? By z, the unbiased m(2) over its standard error
 * were there nothing else; the columns are first divided by the root of their standard deviation, so that
 * neither large nor small ones decide. NONE: z < 2, as in 97% of matrices of noise. CLEAR: z >= 4, as in 0.2%
 * of them. With one trial, noise that is shared along a row counts as signal; with two or more it does not.
 */
typedef enum {
    KSPEC_EVIDENCE_UNKNOWN = 0, /* groups, missing entries, fewer than 5 rows (3 not centred) or 3 columns */
    KSPEC_EVIDENCE_NONE,
    KSPEC_EVIDENCE_WEAK,
    KSPEC_EVIDENCE_CLEAR
} kspec_evidence;

/* The word for it, such as "clear"; NULL for UNKNOWN */
KSPEC_API const char *kspec_evidence_name(kspec_evidence e);

/* The estimator's name in the tool and in files, such as "kv-row"; NULL where it is not one estimator. */
KSPEC_API const char *kspec_estimator_name(kspec_estimator e);

typedef struct {
    size_t size; /* sizeof this struct */
    /* The highest order, up to 10,000. Default min(6, P, Q); where nothing stands in for EXACT, what AUTO may
     * spend, but at least 2. */
    int nmax;
    unsigned estimators; /* a set of kspec_estimator values */
    uint64_t seed;       /* for permutations and for splits of the trials */
    int threads;         /* 1 to 1024; default: all processors, or KSPEC_THREADS */
    kspec_progress progress;
    /* Ragged trials: row i was measured row_trials[i] times, in trials 0 ... row_trials[i]-1 (2 to ntrials of
     * them); its entries in the other trials are not looked at. NULL: every row has all trials. */
    const size_t *row_trials;
    int splits; /* How many random splits (or assignments) of more than two trials are averaged. Default 8. */
    kspec_trials scheme;
    /* PATH and Kong-Valiant: over how many random orders of rows and columns they are averaged; 1, the given
     * order, is the default except under AUTO (up to 8). */
    int permutations;
    kspec_side side;
    /* A side that is the whole population: EXACT lets its indices repeat, PATH becomes Kong-Valiant. */
    kspec_sampled sampled;
    int no_stderr; /* 1: no error bars */
    int normalize; /* 1: divide Phi by the root mean square of all its entries */
    /* 1: divide each column by its standard deviation over the rows, pooled over the trials. That is an
     * estimate, and lowers m(2) by about 4/P of itself. The error bars of PATH, EXACT and the dimension
     * contain its error, but where columns are centred, grouped or complete, or entries are missing. Data in
     * the host's memory, as for block. */
    int standardize;
    /* The moments of the centred kernel, tr (HTH)^n, unbiased by EXACT for n <= 4 (both sides: 3) from 2n
     * rows (columns) or more. NAIVE is that of the matrix less its own means; others are refused. Default
     * NONE. */
    kspec_center center;
    int bound; /* 1: give the variance bound of PATH and EXACT, from the moments of Phi squared elementwise */
    int scale_free;  /* 1: give m(n)/m(1)^n, too. Not with no_stderr or the assignment scheme. */
    int correlation; /* 1: give the correlation of the estimates' errors. Not with no_stderr. */
    /* AUTO only: how much work it may spend, as a multiple of the default of 1, which takes a few seconds.
     * With more, EXACT reaches a higher order on a large matrix and PATH is averaged over more orders. */
    double effort;
    /* Rows that depend on each other (tokens of one document, time bins of one trial) come in groups: P
     * labels, of which only equality matters; the same for the Q columns. NULL: all are independent. A cycle
     * then takes at most one row and one column of each group, PATH averages over orders of groups, EXACT
     * goes to order 2, and the jackknife leaves out a group at a time. With center orders are at most 2 and
     * EXACT's; where groups of rows differ in size, subtract large means of columns first, which add to the
     * variance. For PATH, EXACT and AUTO, both sides sampled, without bound. */
    const uint64_t *row_groups, *col_groups;
    /* The rows are a series: consecutive blocks of so many rows are such groups, at least 5 of them. AUTO
     * takes 2.5 times the length over which rows are correlated, and none where they are not. */
    size_t block;
    /* 1: NaN is an entry that is missing, at random. PATH and EXACT then are sums over the cycles that are
     * complete, divided by their number. With center orders are at most 2 and EXACT's: each pair of columns
     * is taken over the rows in which both are seen. In more than two trials an entry's mean is over those in
     * which it is seen. Not with groups, ragged trials, bound, or a complete side. */
    int pairwise;
    /* The rows (columns) are a sample without replacement of a population of this many, and the moments are
     * those of the population's matrix: NAIVE's if it were given whole. 0: of infinitely many; P (Q):
     * complete, as `sampled` says. EXACT for n <= 4, and NAIVE, which knows nothing of it. */
    uint64_t population_rows, population_cols;
    /* A GPU has NAIVE, Kong-Valiant, EXACT, and PATH up to order 16 (8 with error bars), not groups, the
     * assignment scheme, nor `center` with missing entries. The environment's KSPEC_GPU_MEMORY says how many
     * of its GB are used. */
    kspec_device device;
    kspec_team *team; /* The processes among which the work is shared out (kspec/team.h). NULL: this one. */
    /* Where all of phi is. One or two trials on a GPU are used on it: in the given order, without center,
     * bound, pairwise, ragged trials, groups or populations, of a root mean square of 1e-100 to 1e100.
     * Otherwise they are copied to the host first. */
    kspec_memory data_memory;
} kspec_moments_opts;

/* One estimate of one moment. */
typedef struct {
    /* The one that was used, never AUTO. PATH with one side complete is Kong-Valiant. */
    kspec_estimator estimator;
    int n;
    double value; /* m(n) */
    /* From a two-way jackknife over rows and columns; NaN where it is undefined or not asked for. */
    double std_error;
    double ci_low, ci_high; /* A nominal 95% interval; NaN likewise */
    /* sign(value) |value|^(1/n): of the order of the largest eigenvalue, and comparable between orders. */
    double root;
    double variance_bound; /* (1/P + 1/Q) n^2 V, V the variance of one cycle's value; NaN unless asked for */
    /* The 95% interval that Chebyshev's inequality makes of variance_bound; NaN likewise. */
    double chebyshev_low, chebyshev_high;
    double cycles; /* the part of all cycles that missing entries leave, 0 to 1; 1 where none is missing */
    /* EXACT: how far rounding may have moved the value, where entries differ by orders of magnitude. The
     * interval includes it. Above a tenth of the standard error it is a doubt. 0 for the other estimators. */
    double rounding;
    /* m(n)/m(1)^n, which no factor of Phi changes: the ratio of the estimates less its bias by the jackknife,
     * its standard error and a nominal 95% interval. NaN unless asked for, and where leaving one out leaves
     * nothing. */
    double scale_free, scale_free_std_error, scale_free_ci_low, scale_free_ci_high;
} kspec_estimate;

typedef struct {
    size_t count; /* the estimates, by estimator and then by order */
    kspec_estimate **estimates;
    /* The correlation of the estimates' errors, count x count in their order, by the jackknife; NaN for an
     * estimate without an error bar. NULL unless asked for. */
    double *correlation;
    kspec_side side; /* the side that PATH ran on; GIVEN where it did not run */
    /* How many orders of rows and columns PATH or Kong-Valiant was averaged over; 0 without them. */
    int permutations;
    /* The dimensionality m(1)^2/m(2), both without bias as by kspec_dimension() whatever the estimators. NaN
     * where the estimate of either is not positive, or rounding may be more than it, where nmax is 1 or rows
     * or columns are too few, and where the square of m(1) is not known without bias: with both sides
     * centred, and of ragged trials with columns centred. */
    double participation_ratio;
    /* The share of m(1) that comes from the mean of each column, about 0 to 1. NaN where that is centred
     * away, but for groups of rows that differ in size. */
    double mean_share;
    double seconds;
    /* By the two-way jackknife of its logarithm, with a nominal 95% interval, of which neither end is below
     * 1, the least of any kernel; NaN where undefined. */
    double participation_ratio_std_error, participation_ratio_ci_low, participation_ratio_ci_high;
    /* That of the matrix's own eigenvalues (trials averaged), which grows with its size. */
    double participation_ratio_naive;
    size_t groups, col_groups; /* how many groups of rows and columns there are; 0 where each is by itself */
    size_t block;              /* how many rows a block has at most; 0: none was asked for */
    size_t missing;            /* how many entries are missing, in all trials together */
    kspec_device_used device;
    kspec_center center; /* which mean was removed */
    size_t doubt_count;  /* see kspec/doubt.h */
    kspec_doubt **doubts;
    /* How far rounding may have moved the participation ratio, as in kspec_dimension_result. */
    double participation_ratio_rounding;
} kspec_moments_result;

/*
 * Estimates the spectral moments of the kernel operator behind Phi. docs/explanation/moments.md derives the
 * estimators.
 * phi points to ntrials >= 1 matrices of one shape: repeated measurements of the same rows and columns. With
 * two, the edges of each cycle come from the two trials in turn, so that correlated noise does no harm; with
 * more, both orders of two halves are used, and `splits` such splits averaged. Ragged rows have splits of
 * their own, which do not undo noise that several rows have in common in one trial.
 *
 * Error bars come from leave-one-out estimates; a side that is complete adds none. The interval is that of
 * the logarithm, with Student's quantile and allowing for skewness; where the value is not known to differ
 * from zero it is joined with a plain one around the value. There are no error bars at n =
 * min(P,Q) (P/2 where rows are centred), where leaving one out leaves nothing, nor under the assignment
 * scheme.
 *
 * Time: naive and Kong-Valiant take a few matrix products per order on the shorter side, or on the rows
 * (columns); path takes (nmax-1) P^2 Q multiply-adds for each order of rows; exact a dozen matrix products up
 * to n = 4 and P^2 Q^2 multiply-adds at n = 5; centred, with error bars, twice as long, with two trials 9
 * times. AUTO switches to PATH where EXACT would take more than 1e11 multiply-adds times `effort` and more
 * than PATH, or 4 GiB. EXACT by itself is refused where its P x P intermediates do not fit into memory, and
 * at n = 5 above 2e13 multiply-adds; without nmax, and among others, it gives the orders it can.
 *
 * Memory beyond Phi: a copy where Phi has to be scaled, centred, normalised, transposed, permuted or
 * averaged; naive and Kong-Valiant: squares of a side; path: 8 nmax (P+Q) doubles a thread, times 3 to 100
 * with error bars, the more the higher the order. Every call asks first whether there is room.
 *
 * An entry that is not finite is KSPEC_E_DATA (but for NaN with `pairwise`), and so is an order of which the
 * missing entries leave no cycle. A moment too large for a double is KSPEC_E_NUMERIC.
 */
KSPEC_API kspec_status kspec_moments(const kspec_matrix *phi, size_t ntrials, const kspec_moments_opts *opts,
                                     kspec_moments_result **out, kspec_error *err);
KSPEC_API void kspec_moments_free(kspec_moments_result *result);

KSPEC_END_DECLS
#endif
