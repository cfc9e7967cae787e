/*
 * kspec.h - what a finite matrix of measurements says about the infinite kernel behind it.
 *
 * This header is the manual. It compiles alone as C11 and as C++.
 *
 * Conventions, true of every function here:
 *
 *  - A function that can fail returns a kspec_status. Its last argument is an optional kspec_error, owned by
 *    the caller, which receives the status and a one-line message naming the value and the bound it broke.
 *    Pass NULL if you do not want it. The library never prints, never exits, and never asserts on your input.
 *  - Inputs are borrowed and const. A result struct is filled by the call and released with its own _free
 *    function; after a failure it is empty (all zero), owns nothing, and may be freed all the same.
 *  - An options struct begins with `size`, which must be sizeof the struct; every other field means "the
 *    default" when it is zero. A NULL options pointer means all defaults. The size field lets a program built
 *    against an older header run with a newer library.
 *  - The status says whether the call worked; the result says how good the answer is.
 *  - The same seed gives the same bits at any number of threads.
 *  - Calls may be made from several threads at once. While a call runs, the process's OpenBLAS is set to
 *    one thread and put back at the end: kspec runs its own threads around single-threaded BLAS calls.
 */
#ifndef KSPEC_H
#define KSPEC_H

#include <stddef.h>
#include <stdint.h>

#define KSPEC_VERSION "0.1.0" /* the one place where the version is written */

#if defined(_WIN32)
#define KSPEC_API
#else
#define KSPEC_API __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------------ status */

typedef enum {
    KSPEC_OK = 0,
    KSPEC_E_ARG,      /* an argument is out of its range */
    KSPEC_E_NOMEM,    /* memory could not be had */
    KSPEC_E_NUMERIC,  /* the computation broke down (overflow, matrix not positive definite, ...) */
    KSPEC_E_IO,       /* a file could not be read or written, or does not hold what it should */
    KSPEC_E_CANCELLED /* the progress callback asked to stop */
} kspec_status;

typedef struct {
    kspec_status code;
    char msg[512];
} kspec_error;

/* A short English name of a status, such as "out of memory". Never NULL. */
KSPEC_API const char *kspec_status_name(kspec_status status);

/* The version of the library that is running; compare with KSPEC_VERSION, that of the header. */
KSPEC_API const char *kspec_version(void);

/* ------------------------------------------------------------- environment */

/*
 * The instruction set in use: "generic", "avx2" or "avx512". Chosen once, at first use, as the best that the
 * processor has; the environment variable KSPEC_ISA forces a lower one (a higher one, or a name that is none
 * of the three, is an error that every call with a `threads` option reports).
 */
KSPEC_API const char *kspec_isa(void);

/* The BLAS in use, such as "OpenBLAS 0.3.21 SkylakeX". */
KSPEC_API const char *kspec_blas(void);

/*
 * The speed of the BLAS on one thread: multiply-adds per second of a product of two n x n matrices, the best of
 * `repeats` runs; 0 if there is no memory for it. What other speeds are measured against.
 */
KSPEC_API double kspec_gemm_rate(size_t n, int repeats);

/*
 * The number of threads a call uses when its options say 0: the processors this process may run on, or the
 * environment variable KSPEC_THREADS where it is set to a positive number. Between 1 and 1024.
 */
KSPEC_API int kspec_default_threads(void);

/*
 * Every allocation of the library goes through one pair of functions. `alloc` returns memory aligned to at
 * least `align` bytes (a power of two) or NULL; `release` takes back what `alloc` gave. Set them before any
 * other call, or not at all; NULL restores the default. Useful for accounting and for failure tests.
 */
typedef struct {
    void *(*alloc)(void *ctx, size_t size, size_t align);
    void (*release)(void *ctx, void *ptr);
    void *ctx;
} kspec_allocator;
KSPEC_API void kspec_set_allocator(const kspec_allocator *allocator);

/*
 * Called now and then from the thread that made the call, with the fraction done so far (0 to 1). Return 0 to
 * go on; anything else cancels: the call then returns KSPEC_E_CANCELLED with nothing leaked.
 */
typedef struct {
    int (*report)(void *ctx, double fraction);
    void *ctx;
} kspec_progress;

/* ------------------------------------------------------------------ matrix */

/*
 * A view of rows x cols doubles: entry (i,j) is data[i*row_stride + j*col_stride]; strides count doubles. A
 * dense row-major matrix has row_stride = cols and col_stride = 1; a Fortran or MATLAB one has row_stride = 1
 * and col_stride = rows.
 */
typedef struct {
    const double *data;
    size_t rows, cols;
    ptrdiff_t row_stride, col_stride;
} kspec_matrix;

/* ---------------------------------------------------------- random numbers */

/*
 * Counter-based random numbers (Philox4x64-10, Random123): number `index` of stream `stream` of `seed` is a
 * pure function of the three. Any part of a stream can be made anywhere, in any order, by any thread, and
 * every instruction set gives the same bits. These write the `count` numbers with indices first, first+1, ...
 */

/* Uniform on the open interval (0,1): (k + 1/2) / 2^52, k = 0 ... 2^52-1. */
KSPEC_API void kspec_random_uniform(uint64_t seed, uint64_t stream, uint64_t first, size_t count,
                                    double *out);

/* Standard normal (Box-Muller), |value| < 8.6. */
KSPEC_API void kspec_random_normal(uint64_t seed, uint64_t stream, uint64_t first, size_t count, double *out);

/* A uniformly random permutation of 0 ... count-1 (Fisher-Yates on the stream's numbers, free of modulo
 * bias). */
KSPEC_API void kspec_random_permutation(uint64_t seed, uint64_t stream, size_t count, size_t *out);

/* ------------------------------------------------------------------ theory */

/*
 * Spectrum of the RBF kernel exp(-(x-x')^T S^-1 (x-x') / 2) under x ~ N(0, Sx) (MATH: closed forms). It
 * depends only on eta_1 ... eta_d > 0, the eigenvalues of Sx S^-1: m(n) = prod_i 1 / ((eta_i phi_i)^n -
 * phi_i^-n),   phi_i = (1 + sqrt(1 + 4 eta_i)) / (2 eta_i), lambda_u = prod_i (eta_i^(1+u_i)
 * phi_i^(1+2u_i))^-1,   u in N^d.
 */

/*
 * Writes m(1) ... m(nmax) to moments and their natural logarithms to logs; either may be NULL. What is below the
 * smallest double is 0, and its logarithm is still right.
 */
KSPEC_API kspec_status kspec_theory_rbf_moments(const double *eta, size_t dim, int nmax, double *moments,
                                                double *logs, kspec_error *err);

/*
 * Writes the `count` largest eigenvalues, in decreasing order and repeated by multiplicity, to eigenvalues and their
 * logarithms to logs; either may be NULL. Cost O(count log count) time and memory, whatever the dimension.
 */
KSPEC_API kspec_status kspec_theory_rbf_eigenvalues(const double *eta, size_t dim, size_t count,
                                                    double *eigenvalues, double *logs, kspec_error *err);

/* ------------------------------------------------------------- generators */

typedef enum {
    KSPEC_GENERATE_RFF = 1, /* sqrt(2) sin(w.x + b): kernel exp(-|x-x'|^2 eta/2), x ~ N(0,I) in R^dim */
    KSPEC_GENERATE_LINEAR,  /* sum_l sqrt(c_l) x_l w_l, x and w standard normal: eigenvalues c_l */
    KSPEC_GENERATE_GAUSSIAN /* columns are draws of the Gaussian process with the same kernel as rff */
} kspec_process;

typedef struct {
    size_t size;
    kspec_process process;
    size_t rows, cols;         /* P inputs, Q features; both at least 1 */
    size_t dim;                /* input dimension; linear: number of eigenvalues if just one is given */
    const double *eta;         /* rff, gaussian: one value, or one per dimension; > 0; default 1 */
    size_t eta_count;          /* how many eta points to: 0, 1 or dim */
    const double *eigenvalues; /* linear: the c_l >= 0, one (repeated dim times) or dim of them; default 1 */
    size_t eigenvalue_count;
    double noise;  /* standard deviation of independent normal noise added to every entry of every trial */
    size_t trials; /* T repeated measurements of the same rows and columns; default 1 */
    uint64_t seed;
    int threads;
    kspec_progress progress;
} kspec_generate_opts;

/*
 * The matrix is made in bands of rows, so that it need not fit in memory. kspec_generate_open() draws what
 * all bands share (inputs are made as needed); kspec_generate_rows() fills `out` (count x cols, row-major)
 * with rows first ... first+count-1 of trial t. The same seed gives the same entries however rows are banded.
 * The Gaussian process needs a rows x rows Cholesky factor: rows may be at most 20,000 there.
 */
typedef struct kspec_generator kspec_generator;
KSPEC_API kspec_status kspec_generate_open(const kspec_generate_opts *opts, kspec_generator **out,
                                           kspec_error *err);
KSPEC_API kspec_status kspec_generate_rows(kspec_generator *g, size_t trial, size_t first, size_t count,
                                           double *out, kspec_error *err);
KSPEC_API void kspec_generate_close(kspec_generator *g);

/* ----------------------------------------------------------------- moments */

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

/* ------------------------------------------------------------ reading files */

typedef enum {
    KSPEC_NAN_ERROR = 0,     /* a missing value is an error that names its row and column */
    KSPEC_NAN_OMIT_ROWS,     /* leave out every row in which some trial misses a value */
    KSPEC_NAN_OMIT_COLS,     /* the same for columns */
    KSPEC_NAN_RAGGED_TRIALS, /* a trial that is all missing for a row is a repeat that was not made */
    KSPEC_NAN_KEEP           /* leave NaN in the data */
} kspec_nan_policy;

typedef struct {
    size_t size;
    const char *axes; /* names of a 3-D array's axes, a permutation of "trials,rows,cols" (the default);
                         of a 2-D array's, of "rows,cols" */
    const char *select_rows; /* numbers and ranges from 0: "0-10,13"; NULL takes all */
    const char *select_cols; /* the same, or names of a text file's header */
    kspec_nan_policy nan;
} kspec_read_opts;

typedef struct {
    size_t trials, rows, cols;
    const double *data; /* trials x rows x cols, row-major; entry (t,i,j) is data[(t*rows + i)*cols + j] */
    size_t
        *row_trials;  /* KSPEC_NAN_RAGGED_TRIALS: how many trials row i has, moved to the front; else NULL */
    char **col_names; /* cols names from a text file's header; else NULL */
    int array_dims;   /* 1, 2 or 3: how many axes the file's array had */
    size_t omitted_rows, omitted_cols; /* left out by the missing-value policy */
    void *storage;                     /* private */
} kspec_dataset;

/*
 * Reads a matrix, or several trials of one, from files:
 *
 *     x.npy            NumPy: f2 f4 f8, all integers, bool, either byte order, either memory order, 1 to 3
 * axes x.npz:key        a member of a NumPy archive; the key may be left out where there is just one
 *     x.h5:/path       an HDF5 data set; the path may be left out where there is just one
 *     x.mat:name       a MATLAB variable (v5, v7, v7.3), in MATLAB's orientation; the name likewise
 *     idx1/2/3         MNIST's format, plain or gzipped; images read as rows x pixels
 *     text             anything else: comma, tab, semicolon or blanks, header or not; told by content
 *     -                npy or text on standard input
 *
 * A 1-D array is one column. A 3-D array is (trials, rows, columns); several inputs of one shape are trials
 * too. A 3-D array with more trials than rows is refused unless `axes` is given, since it is probably in
 * another order. Large row-major f8 .npy files are mapped, not copied. HDF5 and MATLAB files are parsed in a
 * separate process (kspec-hdf5), so that a file that crashes those libraries is an error, not a crash.
 */
KSPEC_API kspec_status kspec_read(const char *const *inputs, size_t count, const kspec_read_opts *opts,
                                  kspec_dataset *out, kspec_error *err);
KSPEC_API void kspec_dataset_free(kspec_dataset *d);

/* A view of trial t of a data set. */
KSPEC_API kspec_matrix kspec_dataset_trial(const kspec_dataset *d, size_t t);

/* ------------------------------------------------------------ writing files */

/*
 * Writes a row-major array of 2 or 3 axes band by band: .npy, .csv or .json by the suffix of `path` ("-" is
 * standard output, as npy); .csv takes 2 axes only. The data goes to a temporary file beside `path`, which
 * is flushed and renamed by kspec_write_close(); until then, and after a failure, `path` is untouched.
 * shape[0] * ... * shape[ndim-1] values must be written before close. Abort with kspec_write_abort().
 *
 * Numbers in text have as many digits as give back the same double; .json has null for NaN and infinity. A
 * path that exists and is no regular file (a pipe, /dev/null) is written directly, as npy where it has no
 * suffix. After a failure every call answers with the same error. Close and abort free the writer, whatever
 * close returns. At most 16 files can be written at once.
 */
typedef struct kspec_writer kspec_writer;
KSPEC_API kspec_status kspec_write_open(const char *path, int ndim, const size_t *shape, kspec_writer **out,
                                        kspec_error *err);
KSPEC_API kspec_status kspec_write_values(kspec_writer *w, const double *values, size_t count,
                                          kspec_error *err);
KSPEC_API kspec_status kspec_write_close(kspec_writer *w, kspec_error *err);
KSPEC_API void kspec_write_abort(kspec_writer *w);

/* Writes a whole text file the same way: `path` has all of it or is untouched ("-": standard output, past
 * stdio). */
KSPEC_API kspec_status kspec_write_text(const char *path, const char *text, size_t length, kspec_error *err);

/*
 * Async-signal-safe: removes the temporary files of all writers not yet closed; for a signal handler that is
 * about to _exit().
 */
KSPEC_API void kspec_write_discard_all(void);

#ifdef __cplusplus
}
#endif
#endif
