/* Part of kspec.h: how many dimensions a matrix has, and how alike two matrices are. */
#ifndef KSPEC_DIMENSION_H
#define KSPEC_DIMENSION_H

#include "kspec/moments.h"

KSPEC_BEGIN_DECLS

/*
 * The dimensionality of the kernel behind a matrix Phi (P inputs by Q features) is its participation ratio
 *
 *     m(1)^2 / m(2) = (sum of eigenvalues)^2 / sum of squared eigenvalues:
 *
 * d for d equal eigenvalues. Computed from the matrix's own eigenvalues it is at most min(P,Q) and grows
 * with both. Here the square of the trace and m(2) are estimated without bias, each from distinct rows
 * and distinct columns, so that the ratio is nearly that of all the inputs and features which were not
 * measured. Centred (the default), the kernel is the covariance over inputs, also without bias: the mean
 * takes no part.
 *
 * With one trial, noise that is independent in every entry counts as dimensions, since it adds to the trace.
 * With two or more trials of the same rows and columns it does not; more than two are split into halves, as
 * by kspec_moments().
 */
typedef struct {
    size_t size;
    /* Over what means are taken. Default ROWS: the mean of each column over the inputs. COLS: the mean of
     * each row over the features, which is ROWS of the transpose; not with ragged trials. NONE: second
     * moments instead of covariances, and the mean counts as a dimension. BOTH is refused: its m(1)^2 is not
     * known without bias (kspec_moments() has its moments). */
    kspec_center center;
    /* ragged trials and splits of more than two, as in kspec_moments_opts; default of splits: 8 */
    const size_t *row_trials;
    int splits;
    size_t curve;  /* how many points the curve has, see below; default none, at most 100 */
    uint64_t seed; /* of splits and of the rows and columns of the curve */
    int threads;
    kspec_progress progress;
    /* Labels of dependent rows and columns, and 1 for missing entries, as in kspec_moments_opts: the two
     * halves of each product come from different groups, and the jackknife leaves out a group at a time. A
     * constant that is added to a column changes nothing. With missing entries, a pair of columns is taken
     * over the rows in which both are seen. At least 5 (3 where not centred) and 3 groups. Not with a curve,
     * nor both at once. */
    const uint64_t *row_groups, *col_groups;
    size_t block;    /* blocks of consecutive rows as groups, or KSPEC_BLOCK_AUTO, as in kspec_moments_opts */
    int standardize; /* 1: columns are divided by their standard deviations, as in kspec_moments_opts */
    int pairwise;
    kspec_team *team;    /* shares the work out among processes; NULL: this one alone */
    kspec_device device; /* where products are made; a GPU has neither groups nor missing entries */
    /* What rows and columns are samples of, as in kspec_moments_opts. ROWS where you have all features, such
     * as all units of a layer: the dimension is that of these features, and only rows are left out. A
     * complete side may have 1. Not with missing entries; of groups, those of rows go with ROWS. */
    kspec_sampled sampled;
    uint64_t population_rows, population_cols;
    /* Labels of the rows, P x k: the alignment of each column with the kernel (kspec_target). Centred over
     * rows or not at all, without missing entries, of rows from infinitely many. NULL: none. */
    const kspec_matrix *target;
    /* Where phi is. One trial on a GPU is used on it, without groups, pairwise, curve and target; otherwise
     * it is copied to the host first. Nothing looks for doubts about entries that are on a GPU. */
    kspec_memory data_memory;
} kspec_dimension_opts;

/*
 * How well a target y, a label for each row, agrees with the kernel. <y, T^n y> = sum_l lambda_l^n <y, f_l>^2
 * over the eigenfunctions f_l: large where y lies along few large ones. Unbiased, from distinct rows and
 * columns; y is centred where the kernel is. Intervals are nominally 95%, by the two-way jackknife.
 */
typedef struct {
    double alignment, alignment_std_error, alignment_ci_low, alignment_ci_high; /* n = 1 */
    /* n = 2; NaN with groups, of columns from a finite population, and where it would take more than AUTO may
     * spend in kspec_moments() */
    double second, second_std_error, second_ci_low, second_ci_high;
    /* <y, T y> / (|y|^2 tr T): 1 where the kernel has one eigenfunction, which y is; 1/d where y is one of d
     * alike. NaN where the denominator is not positive. */
    double share, share_std_error, share_ci_low, share_ci_high;
    /* How likely so large an alignment would be if y had nothing to do with the rows: over all orders of y's
     * entries, by three moments. One-sided. NaN where not centred, and with groups. */
    double p;
} kspec_target;

/* The part of a column's variance over the rows that repeats from trial to trial, with its interval */
typedef struct {
    double share, std_error, ci_low, ci_high;
} kspec_signal;

/* A point of the curve: both estimates from `rows` and `cols` taken at random, together from a tenth (20 or
 * more) to all, averaged over up to 16 such parts, the more the smaller they are. The naive dimension climbs
 * with the size of the matrix; the unbiased one does not. */
typedef struct {
    size_t rows, cols;
    double dimension, naive; /* NaN where the second moment is not positive */
} kspec_dimension_point;

typedef struct {
    size_t P, Q, trials;
    kspec_center center; /* which mean was removed */
    double dimension;    /* NaN where the estimate of m(2), or of m(1)^2, is not positive */
    /* by the two-way jackknife of its logarithm; the interval is nominally 95%, and neither end is below 1,
     * the least dimension of a kernel, though the estimate may be. NaN where it is undefined */
    double std_error, ci_low, ci_high;
    /* the participation ratio of the matrix's own eigenvalues (trials averaged); NaN with missing entries */
    double naive;
    /* is there any signal, and the z that says so; NaN where UNKNOWN */
    kspec_evidence signal;
    double signal_z;
    /* unbiased estimates of m(1), of m(1)^2 (not the square of the former), and of m(2) */
    double trace, trace_squared, second_moment;
    size_t curve_count;
    kspec_dimension_point **curve;
    double seconds;
    size_t groups, col_groups; /* how many groups of rows and columns there are; 0 where each is by itself */
    size_t block;              /* how many rows a block has at most; 0: none was asked for */
    /* how many entries are missing, in all trials together, and the part of the cycles that is left */
    size_t missing;
    double cycles;
    size_t doubt_count; /* see kspec/doubt.h */
    kspec_doubt **doubts;
    kspec_device_used device;
    size_t target_count; /* one for each column of the target */
    kspec_target **targets;
    /*
     * The part of the variance of a single trial that repeats from trial to trial: of all columns together,
     * and of each (of each row, centred over columns). It is the mean covariance of two different trials over
     * the mean variance of one, and limits how much of a trial any model can explain (its noise ceiling). Of
     * the mean of T trials it is T s / (1 + (T-1) s). NaN, and no list, with one trial or ragged ones; NaN of
     * a column that does not vary. With missing entries, from the rows that have all trials.
     */
    double signal_share, signal_share_std_error, signal_share_ci_low, signal_share_ci_high;
    size_t signal_count;
    kspec_signal **signal_columns;
    /*
     * How far rounding may have moved the dimension. The interval has room for it. Where the digits of
     * doubles do not suffice, the sums are made in twice the digits, if they take no more than a few seconds;
     * the call fails where rounding could still be more than m(1)^2 or m(2).
     */
    double rounding;
} kspec_dimension_result;

/*
 * phi points to ntrials >= 1 matrices of one shape. P must be at least 5 (3 where not centred) and Q at least
 * 3, so that one of each may be left out.
 *
 * Time: two products of a P x Q with a Q x Q matrix (P x P where that is less), for each split. Memory beyond
 * Phi: a copy of each half, and two Q x Q matrices or, where P is less, bands of P x P.
 */
KSPEC_API kspec_status kspec_dimension(const kspec_matrix *phi, size_t ntrials,
                                       const kspec_dimension_opts *opts, kspec_dimension_result **out,
                                       kspec_error *err);

/*
 * The same of `count` matrices, each by itself: matrix k has the trials from phi[k*ntrials] on, and its
 * result is out[k], to be freed by kspec_dimension_free(). Small ones are computed side by side, on a GPU
 * together. On failure all of `out` is NULL, and the message names the matrix.
 */
KSPEC_API kspec_status kspec_dimension_batch(const kspec_matrix *phi, size_t count, size_t ntrials,
                                             const kspec_dimension_opts *opts, kspec_dimension_result **out,
                                             kspec_error *err);
KSPEC_API void kspec_dimension_free(kspec_dimension_result *result);

/* ------------------------------------------------------------------------------------------ two matrices */

/* What two matrices share: their rows are the same inputs, or their columns the same features, or neither. */
typedef enum { KSPEC_PAIRED_ROWS = 0, KSPEC_PAIRED_COLS, KSPEC_PAIRED_NONE } kspec_paired;

typedef struct {
    size_t size;
    /* Default ROWS; NONE: second moments instead of covariances. COLS and BOTH are refused. */
    kspec_center center;
    kspec_paired paired;
    int splits; /* as in kspec_dimension_opts, for both */
    uint64_t seed;
    int threads;
    kspec_progress progress;
    /* ragged trials of the first and of the second matrix, as in kspec_moments_opts */
    const size_t *row_trials, *other_row_trials;
    /* Labels of rows that depend on each other, as in kspec_moments_opts; paired by rows the first's are
     * those of both. Moments then end at order 2. Or blocks of so many rows of either. */
    const uint64_t *row_groups, *other_row_groups;
    size_t block;
    int standardize; /* 1: the columns of both are divided by their standard deviations */
    /* the highest order of moments to compare, 1 to 4; default 2: more may take many times as long */
    int nmax;
    kspec_team *team; /* shares the work out among processes; NULL: this one alone */
    /* What doubts call the matrices; default "the first matrix" and "the second matrix" */
    const char *name, *other_name;
    /* Where products are made. */
    kspec_device device;
    /* As in kspec_dimension_opts, for both matrices. With ROWS the alignment of a matrix with itself, or with
     * a rotation of its columns, is 1; sampled on both sides it is more. */
    kspec_sampled sampled;
    uint64_t population_rows, population_cols;
    int no_shared; /* 1: without the shared dimension, whose plan takes 0.06 s however small the matrices */
} kspec_compare_opts;

/* A difference between the matrices, first less second. */
typedef struct {
    const char *what; /* "dimension", or "moment" of order n */
    int n;
    double value, std_error;
    /* Two-sided: how likely a larger difference would be if there were none. By Student's distribution, of
     * logarithms where both values are known better than to a factor of e: docs/explanation/alignment.md. */
    double p;
    double rounding; /* how far rounding may have moved the value; NaN above order 2 */
} kspec_difference;

typedef struct {
    size_t P, Q, other_P, other_Q, trials, other_trials;
    kspec_center center; /* which mean was removed from both */
    kspec_paired paired;
    /* tr(T_1 T_2) / sqrt(tr T_1^2 tr T_2^2), each without bias: centred kernel alignment (CKA) free of the
     * bias that makes the usual one near 1 for few rows and many columns. It may exceed 1. NaN where a second
     * moment is not positive, and where the matrices do not share their rows. The interval stands around the
     * estimate less its bias by the jackknife, and contains the estimate. */
    double alignment, alignment_std_error, alignment_ci_low, alignment_ci_high;
    double alignment_biased;           /* the usual one, of the matrices themselves; NaN likewise */
    double dimension, other_dimension; /* the dimension of either */
    size_t groups, block;              /* of rows of the first, as in kspec_dimension_result */
    size_t count;
    kspec_difference **differences;
    double seconds;
    size_t doubt_count; /* see kspec/doubt.h */
    kspec_doubt **doubts;
    kspec_device_used device;
    /* How likely so large an alignment would be if the rows of one had nothing to do with those of the other:
     * over all orders of the rows, by three moments. One-sided, since an alignment is not negative. With more
     * than two trials somewhat too large. NaN where not centred, or where the rows are not shared. */
    double alignment_p;
    /* How many dimensions both share, (tr Sxy Syx)^2 / tr (Sxy Syx)^2 with S the cross-covariance, each
     * without bias (kspec/unbiased.h). NaN with groups or finite populations, of less than 9 rows (5 where
     * not centred), where not positive, and where it takes more than about a second. */
    double shared_dimension, shared_dimension_std_error, shared_dimension_ci_low, shared_dimension_ci_high;
    /* How far rounding may have moved the alignment; the interval has room for it. */
    double alignment_rounding;
} kspec_compare_result;

/*
 * Compares two matrices: the alignment of their kernels, and the differences of dimension and of the moments
 * m(1) ... m(nmax), with standard errors by the jackknife in which a shared row or column is left out of
 * both. Above n = 2 moments are EXACT's, and left out where they take more than AUTO may spend in
 * kspec_moments(), and where there are fewer than n + 1 rows (2n + 1 where centred) or columns.
 */
KSPEC_API kspec_status kspec_compare(const kspec_matrix *phi, size_t ntrials, const kspec_matrix *psi,
                                     size_t other_ntrials, const kspec_compare_opts *opts,
                                     kspec_compare_result **out, kspec_error *err);
KSPEC_API void kspec_compare_free(kspec_compare_result *result);

/* ------------------------------------------------------------------------------ rows that pass by once */

/*
 * The same estimates of rows that arrive in batches and are not kept: of one matrix, or of two with the
 * same rows. The state takes O(features^2) memory and is exact: batches and merges in any order give what one
 * call with all rows gives, to rounding, however large the means are. For the interval a uniform sample of
 * the rows is left out one at a time. One trial. A handle serves one thread at a time; after a failure it is
 * as before.
 */
typedef struct kspec_accumulator kspec_accumulator;

typedef struct {
    size_t size;
    size_t other_features; /* of a second matrix with the same rows; default 0: there is none */
    kspec_center center;   /* default ROWS; NONE: second moments. COLS and BOTH are refused. */
    kspec_sampled sampled; /* as in kspec_dimension_opts */
    /* How many rows are kept for the interval (default 4096): those with the smallest random numbers of seed,
     * stream and number of the row. Streams tell accumulators apart: two whose rows come from the same one
     * cannot be merged. Default 0: a stream that no other accumulator has. */
    size_t reservoir;
    uint64_t seed, stream;
    int omit_nan; /* 1: rows with NaN are left out and counted; default: they are refused */
    int threads;
} kspec_accumulator_opts;

KSPEC_API kspec_status kspec_accumulator_open(size_t features, const kspec_accumulator_opts *opts,
                                              kspec_accumulator **out, kspec_error *err);
KSPEC_API void kspec_accumulator_close(kspec_accumulator *a);

/* Adds the rows of x, and of `other` where there are two matrices (otherwise NULL). */
KSPEC_API kspec_status kspec_accumulator_update(kspec_accumulator *a, const kspec_matrix *x,
                                                const kspec_matrix *other, kspec_error *err);

/* The same of matrices in the memory of a GPU, which then has the state, until results or rows of the host's
 * are asked for. A batch with entries that are not finite goes by way of the host. */
KSPEC_API kspec_status kspec_accumulator_update_device(kspec_accumulator *a, const kspec_matrix *x,
                                                       const kspec_matrix *other, kspec_error *err);

/* Adds the rows of another accumulator with the same settings, which stays as it is. */
KSPEC_API kspec_status kspec_accumulator_merge(kspec_accumulator *a, const kspec_accumulator *other,
                                               kspec_error *err);

/* What it is of, with its settings; the rows so far, and those left out for NaN */
typedef struct {
    size_t features, other_features;
    kspec_center center;
    kspec_sampled sampled;
    uint64_t stream, rows, omitted;
} kspec_accumulator_shape;
KSPEC_API const kspec_accumulator_shape *kspec_accumulator_describe(kspec_accumulator *a);

/* The dimension of the first matrix (0) or of the second (1), at any moment. Of two matrices, their
 * comparison paired by rows, without alignment_p; differences end at m(2), and their p are a little too
 * large. */
KSPEC_API kspec_status kspec_accumulator_dimension(kspec_accumulator *a, int which,
                                                   kspec_dimension_result **out, kspec_error *err);
KSPEC_API kspec_status kspec_accumulator_compare(kspec_accumulator *a, kspec_compare_result **out,
                                                 kspec_error *err);

/* The state as *size bytes, with a version and a checksum. With to = NULL only *size is set. */
KSPEC_API kspec_status kspec_accumulator_pack(const kspec_accumulator *a, void *to, size_t *size,
                                              kspec_error *err);
KSPEC_API kspec_status kspec_accumulator_unpack(const void *from, size_t size, kspec_accumulator **out,
                                                kspec_error *err);

KSPEC_END_DECLS
#endif
