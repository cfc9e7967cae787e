/*
 * Declares the interface between libkspec and a GPU plugin (libkspec_cuda.so, from gpu/). The interface is
 * plain C that also compiles as C++, and includes nothing from either side. The plugin exports one function,
 * KS_PLUGIN_ENTRY, which returns its table.
 *
 * Matrices are dense, row-major doubles in device memory. The library never follows pointers to device
 * memory. Vectors, such as `row` and `col` of an expression, are short, and the library computes with them.
 * So vectors are in host memory unless an expression says otherwise.
 *
 * The same call gives the same bits on the same device, because no sum depends on the order in which threads
 * run.
 */
#pragma once

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { KS_PLUGIN_VERSION = 8 };
#define KS_PLUGIN_ENTRY "ks_plugin_table"

/* ---- expressions ---- */

/*
 * The number suffices for the exact estimator, whose expressions contain both data matrices, the largest
 * number of products, and an adjoint.
 */
enum { KS_TILE_FACTORS = 8 };

typedef struct {
    const double *x; /* x is a dense m x n matrix, or n x m if transposed. */
    int transposed, power;
} ks_factor;

/* An expression is X[i,j] = alpha row[i] col[j] times the product over k of F_k[i,j]^power_k. */
typedef struct {
    size_t m, n;
    double alpha;
    const double *row, *col; /* NULL: ones */
    int count;
    ks_factor factor[KS_TILE_FACTORS];
    /*
     * If vectors_on_device is 1, row, col and sums are in device memory like the matrices, and otherwise in
     * host memory.
     */
    int vectors_on_device;
} ks_expression;

typedef enum {
    KS_TILE_STORE,    /* out[i,j] = X[i,j] */
    KS_TILE_ADD,      /* out[i,j] += X[i,j] */
    KS_TILE_ROW_SUMS, /* out[i] sums over j. */
    KS_TILE_COL_SUMS  /* out[j] sums over i. */
} ks_tile_result;

/* ---- products ---- */

/*
 * A product C = alpha op(A) op(B) + beta C, where C is m x n. ta and tb are 1 for a transposed operand. A is
 * m x k (k x m if transposed), and B is k x n. If symmetric is 1, C is known to be symmetric, and was
 * symmetric before if beta is not 0. A team supports symmetric products only with beta = 0.
 */
typedef struct {
    int ta, tb;
    size_t m, n, k;
    double alpha;
    const double *A;
    size_t lda;
    const double *B;
    size_t ldb;
    double beta;
    double *C;
    size_t ldc;
    int symmetric;
} ks_matmul;

/*
 * Long work is divided into parts that depend only on the sizes, so several processes, each with a device,
 * can share it. The bits do not depend on which process computes which part. A call computes a list of parts
 * in increasing order.
 */
enum { KS_PARTS = 256 }; /* at most */
typedef struct {
    size_t parts;       /* all parts, >= 1 */
    const size_t *list; /* The numbers of the `count` parts to compute, or NULL for all parts. */
    size_t count;
} ks_parts;

/* ---- path ---- */

typedef struct {
    const double *A, *B; /* The matrices are P x Q. With one trial, B = A. */
    size_t P, Q;
    int nmax;
    double scale; /* multiplies every entry */
    /* Start row h belongs to part h mod parts. */
    ks_parts part;
    /* In host memory, sums[h*nmax + n-1] is the sum over the cycles of order n that start in row h. */
    double *sums;
    /*
     * Either NULL, or sums over the cycles that start in the rows of part k. rows[(k*nmax + n-1)*P + i]
     * counts the cycles through row i, and cols[(k*nmax + n-1)*Q + a] the cycles through column a. The code
     * recomputes suffixes after row_stretch rows and col_stretch columns (path/loo.c explains why).
     */
    double *rows, *cols;
    size_t row_stretch, col_stretch;
} ks_path_job;

/* ---- Gram products ---- */

typedef struct {
    int metric;      /* a ks_metric */
    const double *X; /* X contains the n x p rows, in units of the bandwidth. */
    size_t n, p;
    /*
     * In host memory, h is |x|^2/2 of each row, if x.y - h_x - h_y is exact enough for a Gaussian. If h is
     * NULL, the code uses differences of coordinates.
     */
    const double *h;
    /*
     * The parts divide the upper triangle. For a partial list, the k-th listed part is summed to y +
     * k*stride.
     */
    ks_parts part;
    size_t stride;
} ks_gram_job;

/* ---- small matrices ---- */

enum { KS_BATCH_ROWS = 6, KS_BATCH_COLS = 5, KS_BATCH_TOTALS = 5 };
typedef struct {
    double *X; /* X contains `count` matrices of P x Q each, which the call overwrites. */
    size_t count, P, Q;
    int centered, by_columns; /* by_columns: X^T X */
    /*
     * In host memory, the lists of each matrix. Each row has the numbers |x|^2, x' X^T X x, 2 sum_a tx_a x_a,
     * sum x^4, sum_a s_a x_a^2 and sum_a s3_a x_a, where tx is the sum over rows of |x|^2 x. After the rows,
     * each column has the numbers s = sum x^2, the sum of squares of its row of X^T X, s3 = sum x^3, sum x^4
     * and sum |x|^2 x^2.
     */
    double *lists;
    /*
     * Let Y be X with its columns divided by the fourth root of their mean square. totals lists |Y Y^T|^2 and
     * the sums of |y|^2 squared, s squared, y^4 and y^2 for each matrix. The same numbers of Y o Y follow for
     * each matrix.
     */
    double *totals;
} ks_batch_job;

/* ---- triangles ---- */

enum { KS_TRIANGLE = 64 };

/* Receives the fraction done between launches. The callback returns non-zero to stop. */
typedef struct {
    int (*report)(void *ctx, double fraction);
    void *ctx;
} ks_plugin_progress;

/* ---- table ---- */

typedef enum { KS_PLUGIN_OK, KS_PLUGIN_NOMEM, KS_PLUGIN_STOPPED, KS_PLUGIN_BROKEN } ks_plugin_status;

/* An open device. Only one thread at a time may use it. */
typedef struct ks_gpu ks_gpu;

typedef struct {
    char name[128], driver[32], architecture[16];
    size_t memory;
} ks_gpu_info;

/* Lists the plugin's functions. A function reports a failure by a line at `why` or in message(). */
typedef struct {
    int version;
    /* Returns the number of devices, or -1 if it is unknown because the driver is missing or too old. */
    int (*count)(char *why, size_t room);
    ks_plugin_status (*describe)(int device, ks_gpu_info *info, char *why, size_t room);
    ks_plugin_status (*open)(int device, ks_gpu **gpu, char *why, size_t room);
    void (*close)(ks_gpu *gpu);
    const char *(*message)(const ks_gpu *gpu);
    /*
     * Finishes the work queued on the device whose memory contains p, and returns this device. Returns -1 if
     * p is not in device memory.
     */
    int (*owner)(const void *p);

    /*
     * Returns the multiply-adds per second in a product of 2048 x 2048 matrices, measured once per device.
     * Returns 0 after a failure.
     */
    double (*rate)(ks_gpu *gpu);
    /*
     * available() returns the free bytes. path_orders and path_loo_orders are the highest orders of path(),
     * without and with sums through rows and columns.
     */
    size_t (*available)(ks_gpu *gpu);
    int path_orders, path_loo_orders;
    /* Returns the bytes that path() takes in addition to A and B. */
    size_t (*path_memory)(ks_gpu *gpu, const ks_path_job *job);
    /*
     * Returns the number of parts of path() with rows and cols. Each part is large enough to occupy the whole
     * device.
     */
    size_t (*path_parts)(ks_gpu *gpu, const ks_path_job *job);

    /*
     * Makes all allocations after the next `after` fail, or none if after is -1. Only tests call this
     * function.
     */
    void (*fail_after)(ks_gpu *gpu, long after);
    ks_plugin_status (*alloc)(ks_gpu *gpu, size_t bytes, void **out);
    void (*release)(ks_gpu *gpu, void *p);
    ks_plugin_status (*put)(ks_gpu *gpu, double *to, const double *from, size_t count);
    /* Copies to[i] = from[i*step]. */
    ks_plugin_status (*get)(ks_gpu *gpu, double *to, const double *from, size_t count, size_t step);
    /*
     * Sets to[i*cols + j] to alpha from[i*row_stride + j*col_stride]. Both matrices are on the device.
     * Strides may have any sign.
     */
    ks_plugin_status (*pack)(ks_gpu *gpu, double alpha, const double *from, size_t rows, size_t cols,
                             ptrdiff_t row_stride, ptrdiff_t col_stride, double *to);
    /* Copies row list[2k] of `from` to row list[2k+1] of `to`; both on the device, list on the host */
    ks_plugin_status (*copy_rows)(ks_gpu *gpu, size_t count, const size_t *list, size_t cols,
                                  const double *from, double *to);
    /*
     * put_block() copies a block of a host matrix, whose rows are ld apart, to a dense matrix for products.
     * get_block() copies it back. put_block() may overlap with the latest product, which uses other matrices.
     * The next product waits for the copy. The host must not change the source until get_block() returns, or
     * until it unlocks the source.
     */
    ks_plugin_status (*put_block)(ks_gpu *gpu, double *to, const double *from, size_t rows, size_t cols,
                                  size_t ld);
    ks_plugin_status (*get_block)(ks_gpu *gpu, double *to, size_t ld, const double *from, size_t rows,
                                  size_t cols);
    /*
     * lock() page-locks host memory, so that copies from and to it run asynchronously. The host must unlock
     * the memory before freeing it. If locking fails, the memory and the copies work as before. unlock()
     * waits for copies, and ignores memory that is not locked.
     */
    ks_plugin_status (*lock)(ks_gpu *gpu, void *p, size_t bytes);
    void (*unlock)(ks_gpu *gpu, void *p);

    ks_plugin_status (*product)(ks_gpu *gpu, const ks_matmul *p);
    ks_plugin_status (*expression)(ks_gpu *gpu, const ks_expression *e, ks_tile_result what, double *out);
    ks_plugin_status (*symmetrise)(ks_gpu *gpu, size_t n, double *X); /* X += X^T */
    ks_plugin_status (*path)(ks_gpu *gpu, const ks_path_job *job, const ks_plugin_progress *progress);
    /*
     * Computes y = K x, n numbers each in host memory. If only some parts are requested, y has one vector per
     * part.
     */
    ks_plugin_status (*gram_times)(ks_gpu *gpu, const ks_gram_job *job, const double *x, double *y,
                                   const ks_plugin_progress *progress);
    /* Sets Z[i,j] to scale cos(2 pi (Z[i,j] + b[j])). b and the matrix Z of rows x cols are on the device. */
    ks_plugin_status (*cosines)(ks_gpu *gpu, size_t rows, size_t cols, const double *b, double scale,
                                double *Z);
    ks_plugin_status (*batch)(ks_gpu *gpu, const ks_batch_job *job);
    /* Adds c to the diagonal of the n x n matrix X. */
    ks_plugin_status (*shift)(ks_gpu *gpu, size_t n, double c, double *X);
    /*
     * Factors a diagonal block of n <= KS_TRIANGLE rows, which are lda apart. U with A = U^T U replaces the
     * upper triangle. The lower triangle does not change. A pivot that is not positive becomes NaN, and so do
     * all later pivots.
     */
    ks_plugin_status (*factor)(ks_gpu *gpu, size_t n, double *A, size_t lda);
    /*
     * Replaces the n x m matrix X, whose rows are ldx apart, by U^-T X by substitution. U comes from
     * factor(), and n <= KS_TRIANGLE.
     */
    ks_plugin_status (*solve)(ks_gpu *gpu, size_t n, const double *U, size_t ldu, size_t m, double *X,
                              size_t ldx);
    /*
     * The eigenvalues of the symmetric X (n x n, on the device), in increasing order, to w in host memory. If
     * `vectors` is 1, row i of X becomes the unit eigenvector of w[i]. has_eigen() returns 0 if there is no
     * solver.
     */
    int (*has_eigen)(void);
    ks_plugin_status (*eigen)(ks_gpu *gpu, int vectors, size_t n, double *X, double *w);
} ks_plugin;

typedef const ks_plugin *(*ks_plugin_entry)(void);

#ifdef __cplusplus
}
#endif
