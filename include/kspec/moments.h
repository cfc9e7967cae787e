/* Part of kspec.h: spectral moments of the kernel operator. */
#ifndef KSPEC_MOMENTS_H
#define KSPEC_MOMENTS_H

#include "kspec/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A cycle of order n is i_1 a_1 i_2 a_2 ... i_n a_n i_1 (i: rows, a: columns of the P x Q matrix Phi), with
 * value prod_l Phi[i_l,a_l] Phi[i_{l+1},a_l]. Averaged over cycles whose rows are all different and whose
 * columns are all different, it is an unbiased estimate of m(n) = tr T^n.
 */
typedef enum {
    KSPEC_NAIVE = 1u << 0, /* tr((Phi Phi^T / PQ)^n), all cycles: biased by O(1/P + 1/Q). Any n */
    KSPEC_KV_ROW =
        1u << 1, /* Kong-Valiant, increasing rows, any columns: biased by column sampling. n <= P */
    KSPEC_KV_COL = 1u << 2, /* the same with rows and columns exchanged: biased by row sampling. n <= Q */
    KSPEC_PATH = 1u << 3,   /* increasing rows and increasing columns: unbiased. n <= min(P,Q) */
    KSPEC_EXACT =
        1u << 4, /* all distinct rows and columns: unbiased, least variance. n <= 4, or 5 if affordable */
    KSPEC_AUTO = 1u << 5 /* exact where it can, path above; each estimate says which it was */
} kspec_estimator;

/* Path runs on the matrix or on its transpose: two different unbiased sums. Time P^2 Q or P Q^2. */
typedef enum { KSPEC_SIDE_AUTO = 0, KSPEC_SIDE_GIVEN, KSPEC_SIDE_TRANSPOSED } kspec_side;

/* Which sides of the matrix are samples of a larger population. */
typedef enum { KSPEC_SAMPLED_BOTH = 0, KSPEC_SAMPLED_ROWS, KSPEC_SAMPLED_COLS } kspec_sampled;

/* What is done with more than two trials. */
typedef enum { KSPEC_TRIALS_SPLIT = 0, KSPEC_TRIALS_ASSIGNMENT } kspec_trial_scheme;

/* The estimator's name in the tool and in files: "naive", ... NULL for a value that is not one estimator. */
KSPEC_API const char *kspec_estimator_name(kspec_estimator e);

typedef struct {
    size_t size;
    int nmax;            /* highest order; default min(6, P, Q) */
    unsigned estimators; /* a set of kspec_estimator values; default KSPEC_AUTO */
    uint64_t seed;       /* for permutations and splits of trials */
    int threads;
    kspec_progress progress;
    /*
     * Ragged repeats: row i was measured only row_trials[i] times, in trials 0 ... row_trials[i]-1 (at least
     * 2, at most ntrials); its other trials are not looked at. NULL: every row has all trials.
     */
    const size_t *row_trials;
    int splits; /* how many random splits (or assignments) of more than two trials to average over; default 8 */
    kspec_trial_scheme scheme;
    /*
     * path and Kong-Valiant depend on the order of rows and columns; with permutations > 1 they are averaged over
     * that many random orders, which lowers their variance. 1 is the given order, the default except under AUTO.
     */
    int permutations;
    kspec_side side; /* of path; AUTO takes the cheaper */
    /*
     * If only one side is a sample and the other is the whole population, say so: exact then lets the complete
     * side's indices repeat (unbiased where Kong-Valiant is, with less variance), and path becomes Kong-Valiant.
     */
    kspec_sampled sampled;
    int no_stderr; /* 1: no error bars */
    int normalize; /* 1: divide Phi by the root mean square of all its entries */
    int center; /* 1: subtract the mean of each column; the estimates are then not exactly unbiased any more */
    int bound; /* 1: the variance bound of path and exact, too, from the moments of Phi squared elementwise */
    int correlation; /* 1: the correlation of the estimates' errors, too; not with no_stderr */
} kspec_moments_opts;

typedef struct {
    kspec_estimator
        estimator; /* the one really used, never AUTO (PATH with one side complete is Kong-Valiant) */
    int n;
    double value;           /* the estimate of m(n) */
    double std_error;       /* two-way jackknife; NaN where undefined or not asked for */
    double ci_low, ci_high; /* nominal 95% interval; NaN likewise */
    double root;            /* sign(value) |value|^(1/n) */
    double variance_bound;  /* (1/P + 1/Q) n^2 V, V the variance of one cycle's value; NaN unless asked for */
    double chebyshev_low, chebyshev_high; /* the 95% interval that Chebyshev's inequality makes of it */
} kspec_estimate;

typedef struct {
    size_t count; /* estimates, by estimator then by order */
    kspec_estimate *estimates;
    /*
     * The correlation of the estimates' errors, count x count in their order, by the jackknife: NaN for an estimate
     * without error bar. NULL unless asked for.
     */
    double *correlation;
    kspec_side side;  /* the side that path ran on; given where it did not run */
    int permutations; /* how many orders of rows and columns path was averaged over; 0 without path */
    double participation_ratio; /* m(1)^2/m(2) by the least biased estimator; NaN if m(2) <= 0 or unknown */
    double mean_share;          /* the share of m(1) that comes from the mean of each column, about 0 to 1 */
    double seconds;
} kspec_moments_result;

/*
 * Spectral moments of the kernel operator behind Phi (rows: inputs; columns: features).
 *
 * phi points to ntrials >= 1 matrices of one shape: repeated measurements of the same rows and columns. With
 * two, neighbours around each cycle come from different trials, so that noise correlated along rows or
 * columns does no harm; with more, the trials are split at random into two halves, each half is averaged, both
 * orders are used, and `splits` such splits are averaged: no trial is thrown away. Ragged rows have splits of their
 * own: that takes care of noise within a row, whose repeats are separate occasions, not of noise that is common to
 * several rows in one trial.
 *
 * Error bars are a two-way jackknife over rows and columns, from exact leave-one-out estimates (to first order on the
 * side on which Kong-Valiant repeats indices). A side that is complete adds none. The interval comes from the jackknife
 * of the signed root, on whose scale the estimate is less skewed; where that interval reaches zero it is joined with the
 * plain one, value +- 1.96 std_error, and cut off at ten times that. At
 * n = min(P,Q) leaving one out leaves nothing, and under the assignment scheme there are none: NaN.
 *
 * Time: naive and Kong-Valiant a few matrix products per order on the shorter side, or on the rows (columns); path
 * (nmax-1) P^2 Q multiply-adds for each order of rows; exact a dozen matrix products up to n = 4 and P^2 Q^2 at n = 5.
 * AUTO leaves exact where it would take more than 5e11 multiply-adds (all splits together) or 4 GiB. EXACT by itself is
 * refused where its P x P intermediates do not fit into the memory that is available, and at n = 5 above 2e13
 * multiply-adds; without an order it takes the highest it can. Among other estimators EXACT gives the orders it can.
 *
 * Memory beyond Phi: a copy where Phi has to be scaled, centred, normalised, transposed (path on the longer side),
 * permuted or averaged; naive and Kong-Valiant matrices as large as the square of a side (asked for before they are
 * taken); path 8 nmax (P+Q) doubles a thread, times 3 to 100 with error bars, the more the higher the order.
 *
 * Every entry must be finite. Overflow is avoided by scaling; a moment too large for a double is an error.
 */
KSPEC_API kspec_status kspec_moments(const kspec_matrix *phi, size_t ntrials, const kspec_moments_opts *opts,
                                     kspec_moments_result *out, kspec_error *err);
KSPEC_API void kspec_moments_free(kspec_moments_result *result);

#ifdef __cplusplus
}
#endif
#endif
