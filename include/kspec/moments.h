/* Part of kspec.h: spectral moments of the kernel operator. */
#ifndef KSPEC_MOMENTS_H
#define KSPEC_MOMENTS_H
#include "kspec/doubt.h"

/* The kernel operator T behind Phi has eigenvalues lambda_1, lambda_2, ..., and kspec_moments() estimates the
 * moments m(n) = tr T^n = sum_j lambda_j^n. The first two give the dimensionality (participation ratio)
 * m(1)^2/m(2). All estimators average over cycles. A cycle of order n is a closed walk over rows and columns,
 * i_1 a_1 i_2 a_2 ... i_n a_n i_1, and its value is prod_l Phi[i_l,a_l] Phi[i_{l+1},a_l]. The average over
 * all cycles with distinct rows and distinct columns is an unbiased estimate of m(n). */
typedef enum {
    KSPEC_ESTIMATOR_DEFAULT = 0,     /* AUTO */
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

/* PATH runs on the matrix, in time P^2 Q, or on its transpose, in time P Q^2: AUTO chooses the cheaper. */
typedef enum { KSPEC_SIDE_AUTO = 0, KSPEC_SIDE_GIVEN, KSPEC_SIDE_TRANSPOSED } kspec_side;

#define KSPEC_BLOCK_AUTO SIZE_MAX /* the data determine the size of blocks */

/* Which sides of the matrix are samples of a larger population. */
typedef enum { KSPEC_SAMPLED_BOTH = 0, KSPEC_SAMPLED_ROWS, KSPEC_SAMPLED_COLS } kspec_sampled;

/* How to use more than two trials. SPLIT divides them at random into two halves, whose means are the two
 * trials. ASSIGNMENT: every edge of a cycle takes a random trial, unlike its neighbours'; PATH only, without
 * error bars. */
typedef enum { KSPEC_TRIALS_SPLIT = 0, KSPEC_TRIALS_ASSIGNMENT } kspec_trials;

/* Does the matrix contain a signal, or is every entry independent noise? NONE: z < 2, as in 97% of noise
 * matrices. CLEAR: z >= 4, as in 0.2%. With one trial, noise common to a row counts as signal.
 * UNKNOWN with groups, missing entries, fewer than 5 rows (3 not centred) or fewer than 3 columns. */
typedef enum {
    KSPEC_EVIDENCE_UNKNOWN = 0,
    KSPEC_EVIDENCE_NONE,
    KSPEC_EVIDENCE_WEAK,
    KSPEC_EVIDENCE_CLEAR
} kspec_evidence;

typedef struct {
    size_t size;
    /* The highest order, up to 10,000. Default min(6, P, Q); where only EXACT is possible, the highest that
     * AUTO's effort allows, but at least 2. */
    int nmax;
    unsigned estimators; /* a set of kspec_estimator values */
    uint64_t seed;
    int threads;
    kspec_progress progress;
    /* Ragged trials: row i was measured row_trials[i] times, in trials 0 ... row_trials[i]-1 (2 to ntrials of
     * them); its entries in the other trials are ignored. NULL: every row has all trials. */
    const size_t *row_trials;
    int splits; /* the random splits (or assignments) of more than two trials to average; default 8 */
    kspec_trials scheme;
    int permutations; /* PATH and Kong-Valiant: random orders to average over; default 1, AUTO up to 8 */
    kspec_side side;
    kspec_sampled sampled; /* on a complete side EXACT repeats indices, and PATH becomes Kong-Valiant */
    int no_stderr;         /* 1: no error bars */
    int normalize;         /* 1: divide Phi by the root mean square of all its entries */
    /* 1: divide each column by its standard deviation over the rows, pooled over the trials. This lowers m(2)
     * by a fraction of about 4/P. The error bars of PATH, EXACT and the dimension include the estimate's
     * error, except if columns are centred, grouped or complete, or entries miss. Host memory only. */
    int standardize;
    /* The moments of the centred kernel, tr (HTH)^n, unbiased by EXACT for n <= 4 (both sides: 3), with at
     * least 2n rows (columns). NAIVE subtracts the matrix's own means; others are refused. Default NONE. */
    kspec_center center;
    int bound; /* 1: give the variance bound of PATH and EXACT, from Phi squared elementwise */
    int scale_free, correlation; /* 1: give m(n)/m(1)^n, the errors' correlation; not without error bars */
    double effort; /* AUTO only: the work it may do, as a multiple of the default 1, which is a few seconds */
    /* Rows that depend on each other (tokens of one document, time bins of one trial) come in groups: P
     * labels, compared only for equality; the same for the Q columns. A cycle then takes at most one row and
     * one column of each group, and the jackknife leaves out a group at a time. For EXACT to order 2 and,
     * without center, PATH; both sides sampled, without bound. If groups of rows differ in size, large means
     * of columns add to the variance: subtract them first. */
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
    kspec_team *team;
    /* The call uses the GPU with one or two trials there, in the given order, without center, bound,
     * pairwise, ragged trials, groups or populations, and for a root mean square of 1e-100 to 1e100. */
    kspec_memory data_memory;
} kspec_moments_opts;

/* One estimate of one moment. */
typedef struct {
    kspec_estimator estimator; /* never AUTO. PATH with one side complete is Kong-Valiant. */
    int n;
    double value, std_error, ci_low, ci_high; /* m(n), with a two-way jackknife over rows and columns */
    double root; /* sign(value) |value|^(1/n): of the order of the largest eigenvalue, for every n */
    double variance_bound;                /* (1/P + 1/Q) n^2 V, V the variance of one cycle's value */
    double chebyshev_low, chebyshev_high; /* the 95% interval from variance_bound by Chebyshev's inequality */
    double cycles;   /* the fraction of all cycles without missing entries, 0 to 1; 1 if none is missing */
    double rounding; /* of EXACT, 0 for others. Above a tenth of the standard error it is a doubt. */
    /* m(n)/m(1)^n, which does not change if Phi is multiplied by a factor: the ratio of the estimates minus
     * its jackknife bias. NaN also if leaving one out leaves no cycle. */
    double scale_free, scale_free_std_error, scale_free_ci_low, scale_free_ci_high;
} kspec_estimate;

typedef struct {
    size_t count; /* the estimates, by estimator and then by order */
    kspec_estimate **estimates;
    double *correlation; /* of the estimates' errors, count x count in their order, by the jackknife */
    kspec_side side;     /* the side on which PATH ran; GIVEN without PATH */
    int permutations;    /* the number of orders that PATH or Kong-Valiant averaged over; 0 without them */
    /* The dimensionality m(1)^2/m(2), as by kspec_dimension(), for all estimators. NaN if either estimate is
     * not positive or rounding may exceed it, if nmax is 1, for too few rows or columns, and if m(1)^2 has no
     * unbiased estimate: both sides centred, or ragged trials with columns centred. */
    double participation_ratio, participation_ratio_rounding;
    /* mean_share: the part of m(1) from the mean of each column, about 0 to 1; NaN if columns are centred */
    double mean_share, seconds;
    /* as in kspec_dimension_result */
    double participation_ratio_std_error, participation_ratio_ci_low, participation_ratio_ci_high;
    double participation_ratio_naive;
    size_t groups, col_groups; /* numbers of row and column groups; 0 without groups */
    size_t block, missing;     /* the largest number of rows in a block; missing entries of all trials */
    kspec_device_used device;
    kspec_center center;
    size_t doubt_count;
    kspec_doubt **doubts;
} kspec_moments_result;

/* Estimates the spectral moments of the kernel operator behind Phi (docs/explanation/moments.md). phi points
 * to ntrials >= 1 matrices of one shape: repeated measurements of the same rows and columns. With two, the
 * edges of each cycle alternate between the trials, so that correlated noise causes no bias. With more, the
 * call uses both orders of two halves, averaged over `splits`. Ragged rows are split separately, which does
 * not remove noise that several rows share in one trial.
 *
 * Error bars come from leave-one-out estimates (docs/explanation/error-bars.md); a complete side contributes
 * nothing. No error bars at n = min(P,Q) (P/2 if rows are centred), where no cycle remains without one row or
 * column, and for the assignment scheme.
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
#endif
