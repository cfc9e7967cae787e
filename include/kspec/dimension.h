/* Part of kspec.h: how many dimensions a matrix has, and how alike two matrices are. */
#ifndef KSPEC_DIMENSION_H
#define KSPEC_DIMENSION_H
#include "kspec/moments.h"

/* The dimensionality of the kernel behind a matrix Phi (P inputs by Q features) is its participation ratio
 * m(1)^2/m(2) = (sum of eigenvalues)^2 / sum of squared eigenvalues: d for d equal eigenvalues. The ratio of
 * the matrix's own eigenvalues is at most min(P,Q) and grows with both. This call estimates m(1)^2 and m(2)
 * without bias, each from distinct rows and distinct columns. With one trial, independent noise in every
 * entry counts as dimensions. With two or more trials of the same rows and columns it does not; more than two
 * are split into halves. Options of kspec_moments_opts mean the same here. */
typedef struct {
    size_t size;
    /* Default ROWS. COLS is ROWS of the transpose; not with ragged trials. With NONE the mean counts as a
     * dimension. BOTH is refused, because its m(1)^2 has no unbiased estimate. */
    kspec_center center;
    const size_t *row_trials;
    int splits;
    size_t curve; /* the number of points of the curve (see below), at most 100; default 0 */
    uint64_t seed;
    int threads;
    kspec_progress progress;
    /* At least 5 (3 if not centred) row groups and 3 column groups. A curve cannot have groups, blocks or
     * missing entries, nor can groups have missing entries. */
    const uint64_t *row_groups, *col_groups;
    size_t block;
    int standardize, pairwise;
    kspec_team *team;
    kspec_device device; /* a GPU supports neither groups nor missing entries */
    /* With ROWS the result is the dimension of exactly these features, such as all units of a layer. A
     * complete side may have length 1. No missing entries; row groups only with ROWS. */
    kspec_sampled sampled;
    uint64_t population_rows, population_cols;
    /* Labels of the rows, P x k: the alignment of each column with the kernel (kspec_target). Centred over
     * rows or not at all, without missing entries, with rows from an infinite population. NULL: none. */
    const kspec_matrix *target;
    /* The call uses the GPU with one trial there, without groups, pairwise, curve and target. It does not
     * check entries on a GPU. */
    kspec_memory data_memory;
} kspec_dimension_opts;

/* How well a target y, a label for each row, agrees with the kernel: <y, T^n y> = sum_l lambda_l^n <y, f_l>^2
 * over the eigenfunctions f_l, without bias. y is centred if the kernel is. */
typedef struct {
    double alignment, alignment_std_error, alignment_ci_low, alignment_ci_high; /* n = 1 */
    /* n = 2. NaN with groups, for columns from a finite population, and beyond the work limit of AUTO */
    double second, second_std_error, second_ci_low, second_ci_high;
    /* <y, T y> / (|y|^2 tr T): 1 if y is the kernel's only eigenfunction; 1/d if y is one of d with equal
     * eigenvalues. NaN if the denominator is not positive. */
    double share, share_std_error, share_ci_low, share_ci_high;
    /* The probability of an alignment at least this large if y were unrelated to the rows: over all orders of
     * y's entries, by three moments. One-sided. NaN without centring, and with groups. */
    double p;
} kspec_target;

/* The fraction of a column's variance over the rows that repeats from trial to trial */
typedef struct {
    double share, std_error, ci_low, ci_high;
} kspec_signal;

/* A point of the curve: means over up to 16 random parts of `rows` rows and `cols` columns, which grow from a
 * tenth (at least 20) to the whole matrix. */
typedef struct {
    size_t rows, cols;
    double dimension, naive; /* NaN if the second moment is not positive */
} kspec_dimension_point;

typedef struct {
    size_t P, Q, trials;
    kspec_center center;
    double dimension; /* NaN if the estimate of m(2), or of m(1)^2, is not positive */
    /* By the two-way jackknife of the logarithm; ends are at least 1, the smallest dimension of a kernel. */
    double std_error, ci_low, ci_high;
    double naive; /* of the matrix's own eigenvalues (trials averaged); NaN with missing entries */
    kspec_evidence signal;
    double signal_z;
    double trace, trace_squared, second_moment; /* unbiased: m(1), m(1)^2 (not its square), m(2) */
    size_t curve_count;
    kspec_dimension_point **curve;
    double seconds;
    size_t groups, col_groups, block, missing; /* as in kspec_moments_result */
    double cycles;                             /* the fraction of cycles without missing entries */
    size_t doubt_count;
    kspec_doubt **doubts;
    kspec_device_used device;
    size_t target_count; /* one result for each column of the target */
    kspec_target **targets;
    /* The fraction s of a single trial's variance that repeats from trial to trial, of all columns and of
     * each (of each row, if centred over columns). It limits how much of a trial any model can explain; for
     * the mean of T trials the limit is T s / (1 + (T-1) s). NaN for one trial, ragged trials or a constant
     * column. With missing entries it uses the rows that have all trials. */
    double signal_share, signal_share_std_error, signal_share_ci_low, signal_share_ci_high;
    size_t signal_count;
    kspec_signal **signal_columns;
    double rounding;
    double row_variance, col_variance; /* of log dimension: parts that fall like 1/P and like 1/Q */
} kspec_dimension_result;

/* phi points to ntrials >= 1 matrices of one shape. P must be at least 5 (3 without centring) and Q at least
 * 3. Time: two products of a P x Q with a Q x Q matrix (P x P if that is smaller), for each split; with twice
 * the digits, which the call uses where double precision does not suffice, at most a few seconds more. Memory
 * beyond Phi: a copy of each half, and two Q x Q matrices or, if P is smaller, bands of P x P. */
KSPEC_API kspec_status kspec_dimension(const kspec_matrix *phi, size_t ntrials,
                                       const kspec_dimension_opts *opts, kspec_dimension_result **out,
                                       kspec_error *err);

/* The dimension of each of `count` matrices. Matrix k has the trials from phi[k*ntrials] on; kspec_free()
 * frees its result, out[k]. Small matrices are computed in parallel, on a GPU together. On failure all of
 * `out` is NULL, and the message names the matrix. */
KSPEC_API kspec_status kspec_dimension_batch(const kspec_matrix *phi, size_t count, size_t ntrials,
                                             const kspec_dimension_opts *opts, kspec_dimension_result **out,
                                             kspec_error *err);

/* ------------------------------------------------------------------------------------------ two matrices */
/* What two matrices share: the inputs in their rows, the features in their columns, or neither. */
typedef enum { KSPEC_PAIRED_ROWS = 0, KSPEC_PAIRED_COLS, KSPEC_PAIRED_NONE } kspec_paired;

/* Options of kspec_dimension_opts mean the same here, for both matrices. */
typedef struct {
    size_t size;
    kspec_center center; /* default ROWS; COLS and BOTH are refused */
    kspec_paired paired;
    int splits;
    uint64_t seed;
    int threads;
    kspec_progress progress;
    const size_t *row_trials, *other_row_trials;
    /* For matrices paired by rows, the first's labels apply to both. Moments then end at order 2. */
    const uint64_t *row_groups, *other_row_groups;
    size_t block;
    int standardize;
    int nmax; /* the highest order of the compared moments, 1 to 4; default 2; more may take far longer */
    kspec_team *team;
    const char *name, *other_name; /* in doubts; default "the first matrix" and "the second matrix" */
    kspec_device device;
    /* With ROWS a matrix has alignment 1 with itself, and with a rotation of its columns; if both sides are
     * sampled, it is more. */
    kspec_sampled sampled;
    uint64_t population_rows, population_cols;
    int no_shared;            /* 1: skip the shared dimension, whose plan takes 0.06 s for every size */
    kspec_memory data_memory; /* orders above 2 copy both matrices to the host */
} kspec_compare_opts;

/* A difference between the matrices, first minus second. */
typedef struct {
    const char *what; /* "dimension", or "moment" of order n */
    int n;
    double value, std_error;
    double p; /* the two-sided probability of a larger difference if the true one is 0, by Student's t */
    double rounding; /* NaN above order 2 */
} kspec_difference;

typedef struct {
    size_t P, Q, other_P, other_Q, trials, other_trials;
    kspec_center center;
    kspec_paired paired;
    /* tr(T_1 T_2) / sqrt(tr T_1^2 tr T_2^2), each factor without bias: centred kernel alignment (CKA) free of
     * the bias that brings the usual one near 1 for few rows and many columns. It may exceed 1. NaN if a
     * second moment is not positive, and if the matrices do not share their rows. */
    double alignment, alignment_std_error, alignment_ci_low, alignment_ci_high;
    double alignment_biased; /* the usual alignment, of the matrices themselves; NaN likewise */
    double dimension, other_dimension;
    size_t groups, block; /* of rows, as in kspec_moments_result */
    size_t count;
    kspec_difference **differences;
    double seconds;
    size_t doubt_count;
    kspec_doubt **doubts;
    kspec_device_used device;
    /* The probability of an alignment at least this large for unrelated rows: over all orders of the rows, by
     * three moments; one-sided. Slightly large with more than two trials. NaN if not centred or paired. */
    double alignment_p;
    /* The number of dimensions that both share, (tr Sxy Syx)^2 / tr (Sxy Syx)^2 with S the cross-covariance,
     * each without bias (kspec/unbiased.h). NaN with groups or finite populations, for fewer than 9 rows (5
     * without centring), if not positive, and if it takes more than about a second. */
    double shared_dimension, shared_dimension_std_error, shared_dimension_ci_low, shared_dimension_ci_high;
    double alignment_rounding;
    double row_variance, col_variance, other_col_variance; /* the alignment's: due to rows, to columns */
} kspec_compare_result;

/* Compares two matrices: the alignment of their kernels, and the differences of dimension and of the moments
 * m(1) ... m(nmax). Standard errors come from the jackknife, which leaves a shared row or column out of both.
 * Above n = 2 the call uses EXACT, and skips moments that take longer than AUTO allows in kspec_moments(), or
 * that have fewer than n + 1 rows (2n + 1 with centring) or columns. */
KSPEC_API kspec_status kspec_compare(const kspec_matrix *phi, size_t ntrials, const kspec_matrix *psi,
                                     size_t other_ntrials, const kspec_compare_opts *opts,
                                     kspec_compare_result **out, kspec_error *err);

/* Compares every matrix of one batch with every matrix of another, such as the layers of two networks, with
 * each matrix's own estimates computed once: out[i * other_count + k] is matrix i of phi (trials from
 * phi[i*ntrials] on) and matrix k of psi. psi = NULL: phi with itself; out is NULL unless i < k. Without a
 * shared dimension. Doubts about a matrix are with its first pair. On failure all of `out` is NULL. */
KSPEC_API kspec_status kspec_compare_batch(const kspec_matrix *phi, size_t count, size_t ntrials,
                                           const kspec_matrix *psi, size_t other_count, size_t other_ntrials,
                                           const kspec_compare_opts *opts, kspec_compare_result **out,
                                           kspec_error *err);

/* ------------------------------------------------------------------------------ rows that pass by once */
/* Dimension and alignment for rows that arrive in batches and are not stored, of one matrix or of two with
 * the same rows; one trial. The state takes O(features^2) memory. Batches and merges in any order give the
 * result of one call with all rows, up to rounding. For the interval, the jackknife leaves out a uniform
 * sample of the rows one at a time. A handle serves one thread at a time; a failure does not change it. */
typedef struct kspec_accumulator kspec_accumulator;

typedef struct {
    size_t size;
    size_t other_features; /* of a second matrix with the same rows; 0: none */
    kspec_center center;   /* default ROWS; NONE: second moments. COLS and BOTH are refused. */
    kspec_sampled sampled; /* as in kspec_dimension_opts */
    /* The number of rows kept for the interval (default 4096): those with the smallest random numbers. Two
     * accumulators with the same stream cannot be merged; 0 is a stream that no other one has. */
    size_t reservoir;
    uint64_t seed, stream;
    int omit_nan, threads; /* omit_nan: skip and count rows with NaN; 0: refuse such rows */
    int grouped; /* 1: rows come in whole groups, as row_groups, and the sample keeps groups. Not with COLS */
} kspec_accumulator_opts;

KSPEC_API kspec_status kspec_accumulator_open(size_t features, const kspec_accumulator_opts *opts,
                                              kspec_accumulator **out, kspec_error *err);
KSPEC_API void kspec_accumulator_close(kspec_accumulator *a);

/* Adds the rows of x and, for two matrices, of `other` (otherwise NULL). groups: with opts.grouped, a label
 * for each row; NULL: the rows are one group. */
KSPEC_API kspec_status kspec_accumulator_update(kspec_accumulator *a, const kspec_matrix *x,
                                                const kspec_matrix *other, const uint64_t *groups,
                                                kspec_error *err);

/* Adds a batch in GPU memory. The state then moves to this GPU, until you ask for results or add rows from
 * the host. A batch in groups, or with entries that are not finite, goes through the host. */
KSPEC_API kspec_status kspec_accumulator_update_device(kspec_accumulator *a, const kspec_matrix *x,
                                                       const kspec_matrix *other, kspec_error *err);

/* Adds the rows of another accumulator with the same settings, which does not change. */
KSPEC_API kspec_status kspec_accumulator_merge(kspec_accumulator *a, const kspec_accumulator *other,
                                               kspec_error *err);

/* The features and settings of an accumulator; the rows and groups so far, and rows left out for NaN */
typedef struct {
    size_t features, other_features;
    kspec_center center;
    kspec_sampled sampled;
    uint64_t stream, rows, omitted, groups;
    int grouped;
} kspec_accumulator_shape;
KSPEC_API const kspec_accumulator_shape *kspec_accumulator_describe(kspec_accumulator *a);

/* Computes the dimension of the first matrix (which = 0) or of the second (1), or compares both, at any time.
 * Comparisons have no alignment_p; their differences end at m(2), with a p that is slightly too large. */
KSPEC_API kspec_status kspec_accumulator_dimension(kspec_accumulator *a, int which,
                                                   kspec_dimension_result **out, kspec_error *err);
KSPEC_API kspec_status kspec_accumulator_compare(kspec_accumulator *a, kspec_compare_result **out,
                                                 kspec_error *err);

/* Writes the state as *size bytes, with a version and a checksum. With to = NULL it only sets *size. */
KSPEC_API kspec_status kspec_accumulator_pack(const kspec_accumulator *a, void *to, size_t *size,
                                              kspec_error *err);
KSPEC_API kspec_status kspec_accumulator_unpack(const void *from, size_t size, kspec_accumulator **out,
                                                kspec_error *err);
#endif
