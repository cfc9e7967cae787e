/* Part of kspec.h: spectral moments of the kernel operator. */
#ifndef KSPEC_MOMENTS_H
#define KSPEC_MOMENTS_H
#include "kspec/doubt.h"
KSPEC_BEGIN_DECLS

/* The matrix Phi has P rows (inputs) and Q columns (features). Its kernel operator T has eigenvalues
 * lambda_1, lambda_2, ..., and kspec_moments() estimates the moments m(n) = tr T^n = sum_j lambda_j^n. The
 * first two give the dimensionality (participation ratio) m(1)^2/m(2).
 *
 * All estimators average over cycles. A cycle of order n is a closed walk over rows and columns, i_1 a_1 i_2
 * a_2 ... i_n a_n i_1, and its value is prod_l Phi[i_l,a_l] Phi[i_{l+1},a_l]. The average over all cycles
 * with distinct rows and distinct columns is an unbiased estimate of m(n). */
typedef enum {
    KSPEC_ESTIMATOR_DEFAULT = 0,     /* the value of an empty set, which means AUTO */
    KSPEC_ESTIMATOR_NAIVE = 1u << 0, /* All cycles, tr((Phi Phi^T / PQ)^n). Biased by O(1/P + 1/Q). Any n. */
    /* Kong and Valiant: increasing rows, any columns. Biased by the sampling of columns. n <= P. */
    KSPEC_ESTIMATOR_KV_ROW = 1u << 1,
    /* Kong-Valiant of the transpose. Biased by the sampling of rows. n <= Q. */
    KSPEC_ESTIMATOR_KV_COL = 1u << 2,
    KSPEC_ESTIMATOR_PATH = 1u << 3, /* Increasing rows and increasing columns. Unbiased. n <= min(P,Q). */
    /* All cycles of distinct rows and columns. Unbiased, least variance. n <= 4, or 5 if affordable. */
    KSPEC_ESTIMATOR_EXACT = 1u << 4,
    /* EXACT up to the highest order that it can compute, PATH above, and also where rounding exceeds a tenth
     * of EXACT's standard error. Each estimate reports its estimator. */
    KSPEC_ESTIMATOR_AUTO = 1u << 5
} kspec_estimator;

/* PATH runs on the matrix, in time P^2 Q, or on its transpose, in time P Q^2. Both sums are unbiased. */
typedef enum {
    KSPEC_SIDE_AUTO = 0, /* the cheaper of the two */
    KSPEC_SIDE_GIVEN,
    KSPEC_SIDE_TRANSPOSED
} kspec_side;

/* The data determine the size of blocks. */
#define KSPEC_BLOCK_AUTO SIZE_MAX

/* Which sides of the matrix are samples of a larger population. */
typedef enum { KSPEC_SAMPLED_BOTH = 0, KSPEC_SAMPLED_ROWS, KSPEC_SAMPLED_COLS } kspec_sampled;

/* How to use more than two trials. */
typedef enum {
    KSPEC_TRIALS_SPLIT = 0, /* split the trials at random into two halves, whose means are the two trials */
    /* Every edge of a cycle takes a random trial, unlike its neighbours'. PATH only, without error bars. */
    KSPEC_TRIALS_ASSIGNMENT
} kspec_trials;

/* Does the matrix contain a signal, or is every entry independent noise? z is the unbiased m(2), of columns
 * divided by the root of their standard deviation, over its standard error for pure noise. NONE: z < 2, as in
 * 97% of noise matrices. CLEAR: z >= 4, as in 0.2%. With one trial, noise common to a row counts as signal.
 */
typedef enum {
    /* unknown with groups, missing entries, fewer than 5 rows (3 not centred) or fewer than 3 columns */
    KSPEC_EVIDENCE_UNKNOWN = 0,
    KSPEC_EVIDENCE_NONE,
    KSPEC_EVIDENCE_WEAK,
    KSPEC_EVIDENCE_CLEAR
} kspec_evidence;

typedef struct {
    size_t size; /* sizeof this struct */
    /* The highest order, up to 10,000. Default min(6, P, Q); if no estimator can replace EXACT, the highest
     * order that AUTO's effort allows, but at least 2. */
    int nmax;
    unsigned estimators; /* a set of kspec_estimator values */
    uint64_t seed;       /* the seed of permutations and of splits of the trials */
    int threads;         /* 1 to 1024; default: all processors, or KSPEC_THREADS */
    kspec_progress progress;
    /* Ragged trials: row i was measured row_trials[i] times, in trials 0 ... row_trials[i]-1 (2 to ntrials of
     * them); its entries in the other trials are ignored. NULL: every row has all trials. */
    const size_t *row_trials;
    int splits; /* Random splits (or assignments) of more than two trials to average. Default 8. */
    kspec_trials scheme;
    /* PATH and Kong-Valiant: average over this number of random orders of rows and columns. 1, the given
     * order, is the default except under AUTO (up to 8). */
    int permutations;
    kspec_side side;
    /* Which sides are samples. On a complete side EXACT repeats indices, and PATH becomes Kong-Valiant. */
    kspec_sampled sampled;
    int no_stderr; /* 1: no error bars */
    int normalize; /* 1: divide Phi by the root mean square of all its entries */
    /* 1: divide each column by its standard deviation over the rows, pooled over the trials. This lowers m(2)
     * by a fraction of about 4/P. The error bars of PATH, EXACT and the dimension include the estimate's
     * error, except if columns are centred, grouped or complete, or entries miss. Host memory only. */
    int standardize;
    /* The moments of the centred kernel, tr (HTH)^n, unbiased by EXACT for n <= 4 (both sides: 3), with at
     * least 2n rows (columns). NAIVE subtracts the matrix's own means; others are refused. Default NONE. */
    kspec_center center;
    int bound;       /* 1: give the variance bound of PATH and EXACT, from Phi squared elementwise */
    int scale_free;  /* 1: also give m(n)/m(1)^n. Not with no_stderr or the assignment scheme. */
    int correlation; /* 1: give the correlation of the estimates' errors. Not with no_stderr. */
    /* AUTO only: the work it may do, as a multiple of the default of 1, a few seconds. With more, EXACT
     * reaches a higher order on a large matrix and PATH averages over more orders. */
    double effort;
    /* Rows that depend on each other (tokens of one document, time bins of one trial) come in groups: P
     * labels, compared only for equality; the same for the Q columns. NULL: all are independent. A cycle then
     * takes at most one row and one column of each group, and the jackknife leaves out a group at a time.
     * EXACT goes to order 2. With center, only EXACT; if groups of rows differ in size, first subtract large
     * means of columns, which add to the variance. For PATH, EXACT and AUTO, both sides sampled, without
     * bound. */
    const uint64_t *row_groups, *col_groups;
    /* The rows are a series: consecutive blocks of `block` rows are such groups, at least 5 of them. AUTO
     * takes 2.5 times the length over which rows are correlated, and no blocks if they are not. */
    size_t block;
    /* 1: NaN marks an entry that is missing at random. PATH and EXACT then average over the complete cycles.
     * With center, only EXACT and orders up to 2: each pair of columns uses the rows in which both are seen.
     * With more than two trials, an entry's mean uses the trials that have it. Not with groups, ragged
     * trials, bound, or a complete side. */
    int pairwise;
    /* The rows (columns) are a sample without replacement of a population of this size, and the moments are
     * the ones of the population's matrix: NAIVE's, if you had the whole matrix. 0: infinite; P (Q):
     * complete, as `sampled` says. EXACT for n <= 4; NAIVE ignores it. */
    uint64_t population_rows, population_cols;
    /* A GPU computes NAIVE, Kong-Valiant, EXACT, and PATH up to order 16 (8 with error bars), but not groups,
     * the assignment scheme, nor `center` with missing entries. The environment variable KSPEC_GPU_MEMORY
     * limits the GB of GPU memory in use. */
    kspec_device device;
    kspec_team *team; /* Divides the work among processes (kspec/team.h). NULL: this process only. */
    /* The memory that holds all of phi. The call computes on the GPU with one or two trials there, in the
     * given order, without center, bound, pairwise, ragged trials, groups or populations, and for a root mean
     * square of 1e-100 to 1e100. Otherwise it first copies the trials to the host. */
    kspec_memory data_memory;
} kspec_moments_opts;

/* One estimate of one moment. */
typedef struct {
    /* The estimator used, never AUTO. PATH with one side complete is Kong-Valiant. */
    kspec_estimator estimator;
    int n;
    double value; /* m(n) */
    /* From a two-way jackknife over rows and columns; NaN if undefined or not requested. */
    double std_error;
    double ci_low, ci_high; /* A nominal 95% interval; NaN likewise */
    /* sign(value) |value|^(1/n): of the order of the largest eigenvalue, and comparable between orders. */
    double root;
    double variance_bound; /* (1/P + 1/Q) n^2 V, V the variance of one cycle's value; NaN if not requested */
    /* The 95% interval from variance_bound by Chebyshev's inequality; NaN likewise. */
    double chebyshev_low, chebyshev_high;
    double cycles; /* the fraction of all cycles without missing entries, 0 to 1; 1 if none is missing */
    /* EXACT: a bound on the change of the value by rounding, which the interval includes. Above a tenth of
     * the standard error it is a doubt. 0 for others. */
    double rounding;
    /* m(n)/m(1)^n, which does not change if Phi is multiplied by a factor: the ratio of the estimates minus
     * its jackknife bias, its standard error and a nominal 95% interval. NaN if not requested, and if leaving
     * one out leaves no cycle. */
    double scale_free, scale_free_std_error, scale_free_ci_low, scale_free_ci_high;
} kspec_estimate;

typedef struct {
    size_t count; /* the estimates, by estimator and then by order */
    kspec_estimate **estimates;
    /* The correlation of the estimates' errors, count x count in their order, by the jackknife; NaN for an
     * estimate without an error bar. NULL if not requested. */
    double *correlation;
    kspec_side side; /* the side on which PATH ran; GIVEN without PATH */
    /* The number of orders of rows and columns that PATH or Kong-Valiant averaged over; 0 without them. */
    int permutations;
    /* The dimensionality m(1)^2/m(2), both without bias as by kspec_dimension(), for all estimators. NaN if
     * the estimate of either is not positive or rounding may exceed it, if nmax is 1, for too few rows or
     * columns, and if m(1)^2 has no unbiased estimate: both sides centred, or ragged trials with columns
     * centred. */
    double participation_ratio;
    /* The fraction of m(1) that comes from the mean of each column, about 0 to 1. NaN if columns are centred,
     * but not for groups of rows that differ in size. */
    double mean_share;
    double seconds;
    /* By the two-way jackknife of its logarithm, with a nominal 95% interval whose ends are at least 1, the
     * smallest value for any kernel; NaN if undefined. */
    double participation_ratio_std_error, participation_ratio_ci_low, participation_ratio_ci_high;
    /* The value for the matrix's own eigenvalues (trials averaged), which grows with its size. */
    double participation_ratio_naive;
    size_t groups, col_groups; /* numbers of row and column groups; 0 without groups */
    size_t block;              /* the largest number of rows in a block; 0: no blocks */
    size_t missing;            /* the number of missing entries in all trials together */
    kspec_device_used device;
    kspec_center center; /* the mean that the call removed */
    size_t doubt_count;  /* see kspec/doubt.h */
    kspec_doubt **doubts;
    /* A bound on the change of the participation ratio by rounding, as in kspec_dimension_result. */
    double participation_ratio_rounding;
} kspec_moments_result;

/* Estimates the spectral moments of the kernel operator behind Phi (docs/explanation/moments.md). phi points
 * to ntrials >= 1 matrices of one shape: repeated measurements of the same rows and columns. With two, the
 * edges of each cycle alternate between the trials, so that correlated noise causes no bias. With more, the
 * call uses both orders of two halves, averaged over `splits`. Ragged rows are split separately, which does
 * not remove noise that several rows share in one trial.
 *
 * Error bars come from leave-one-out estimates. A side that is the whole population (`sampled`) contributes
 * nothing. The interval is computed for the logarithm, uses Student's quantile, and allows for skewness; if
 * the value may be zero, it is joined with a plain one. No error bars at n = min(P,Q) (P/2 if rows are
 * centred), where no cycle remains without one row or column, and for the assignment scheme.
 *
 * Time: naive and Kong-Valiant a few matrix products per order; path (nmax-1) P^2 Q multiply-adds for each
 * order of rows; exact a dozen matrix products up to n = 4 and P^2 Q^2 multiply-adds at n = 5, centred twice
 * that, or 9 times with two trials and error bars. AUTO switches to PATH if EXACT would take more than 1e11
 * multiply-adds times `effort` and more than PATH, or 4 GiB. EXACT alone fails if its P x P intermediates
 * exceed memory, or beyond 2e13 multiply-adds. Without nmax, or together with other estimators, it returns
 * the orders that it can compute.
 *
 * Memory beyond Phi: a copy if Phi must be changed; naive and Kong-Valiant: squares of a side; path: 8 nmax
 * (P+Q) doubles a thread, times 3 to 100 with error bars. Every call first checks the free memory.
 * KSPEC_E_DATA: an entry that is not finite (except NaN with `pairwise`), or an order without a complete
 * cycle. KSPEC_E_NUMERIC: a moment too large for a double. */
KSPEC_API kspec_status kspec_moments(const kspec_matrix *phi, size_t ntrials, const kspec_moments_opts *opts,
                                     kspec_moments_result **out, kspec_error *err);
KSPEC_END_DECLS
#endif
