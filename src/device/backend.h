/*
 * The matrix operations that estimators use, independent of where matrices are stored. Each kind of storage
 * has a table of functions, and backends.c lists these tables. A new backend needs a file and a line in that
 * list. An estimator says which operation to perform and never looks inside a ks_mat. Vectors are in host
 * memory, unless an expression says otherwise.
 */
#pragma once

#include "base/parallel.h"
#include "device/plugin.h"

/*
 * ks_mat is a matrix of a backend. No file defines the struct, because only the backend knows what the
 * pointer means.
 */
typedef struct ks_mat ks_mat;

/*
 * The structs below describe operations on a backend's matrices, as ks_matmul, ks_factor and ks_expression
 * (device/plugin.h) do for matrices in device memory. The members of a product are in the order of the
 * arguments of ks_gemm().
 */
typedef struct {
    int ta, tb;
    size_t m, n, k;
    double alpha;
    const ks_mat *A;
    size_t lda;
    const ks_mat *B;
    size_t ldb;
    double beta;
    ks_mat *C;
    size_t ldc;
    int symmetric;
} ks_mat_product;

typedef struct {
    const ks_mat *x;
    int transposed, power;
} ks_mat_factor;

typedef struct {
    size_t m, n;
    double alpha;
    const double *row, *col; /* NULL: ones */
    int count;
    ks_mat_factor factor[KS_TILE_FACTORS];
    /*
     * If the backend has view(), these vectors of the backend replace row and col, and the sums also belong
     * to the backend.
     */
    const ks_mat *row_held, *col_held;
    /* 1: the sums belong to the backend, although both are NULL; so row and col must be NULL */
    int sums_held;
} ks_mat_expression;

/*
 * Asks room() for the memory of a matrix, or for the additional memory of an operation. Exactly one member is
 * set.
 */
enum { KS_WHOLE_A = 1, KS_WHOLE_B = 2 };
typedef struct {
    size_t rows, cols;
    const ks_mat_product *product;
    int whole; /* The names below are ways to store matrices for a computation. */
    const ks_mat_expression *expression;
    ks_tile_result what;
    size_t symmetrise; /* number of rows */
} ks_room;

/* Ways to store matrices for a computation. */
typedef enum {
    /*
     * With KS_HOLD_ADDRESSES, matrices are dense, and a ks_mat is an address that GPU-only functions
     * (device/gpu.h) accept.
     */
    KS_HOLD_ADDRESSES,
    KS_HOLD_WHOLE, /* Each process stores whole matrices. */
    KS_HOLD_SHARED /* The processes of a team may store strips of matrices. */
} ks_holding;

typedef struct {
    /*
     * Is this backend suitable for a run whose products have this many multiply-adds? A run uses the first
     * suitable backend of the list.
     */
    int (*suits)(const ks_run *run, ks_holding how, double work);
    /*
     * Returns the largest number of doubles that this process stores. A dry run does not read the matrices.
     */
    size_t (*room)(const ks_run *run, const ks_room *of);
    /* Allocates a matrix. After a failure, the message names the purpose of the matrix. */
    kspec_status (*hold)(const ks_run *run, size_t rows, size_t cols, const char *what, ks_mat **out,
                         kspec_error *err);
    void (*drop)(const ks_run *run, ks_mat *p);
    /*
     * Declares that the next operation on a matrix overwrites it. idle is NULL if the backend does not need
     * the declaration.
     */
    void (*idle)(const ks_run *run, ks_mat *p);
    /*
     * Turns a host matrix into a matrix of this backend, in the same memory or as a copy. A matrix that is on
     * the device already (ks_device_has()) is not copied. release() ends the use of the result.
     */
    kspec_status (*copy_in)(const ks_run *run, const double *host, size_t rows, size_t cols, const char *what,
                            const ks_mat **out, kspec_error *err);
    void (*release)(const ks_run *run, const ks_mat *p);
    /* Copies the diagonal of an n x n matrix to a vector. */
    kspec_status (*diagonal)(const ks_run *run, double *to, const ks_mat *from, size_t n, kspec_error *err);
    /*
     * Returns the part of the matrix p from this entry on. The part is valid as long as p. If matrices are in
     * strips, view, put and get are NULL.
     */
    ks_mat *(*view)(const ks_mat *p, size_t entry);
    /* Returns the address of the entries if they are in host memory, and otherwise NULL. */
    double *(*host)(const ks_mat *p);
    /* Copies numbers from host memory to a part of a matrix. */
    kspec_status (*put)(const ks_run *run, ks_mat *to, const double *from, size_t count, kspec_error *err);
    /* Copies every step-th entry of a matrix to a vector: to[i] = from[i*step]. */
    kspec_status (*get)(const ks_run *run, double *to, const ks_mat *from, size_t count, size_t step,
                        kspec_error *err);
    kspec_status (*product)(const ks_run *run, const ks_mat_product *p, kspec_error *err);
    /* Writes an expression to the matrix `out`. If `out` is NULL, writes its sums to a host vector. */
    kspec_status (*expression)(const ks_run *run, const ks_mat_expression *e, ks_tile_result what,
                               ks_mat *out, double *sums, kspec_error *err);
    kspec_status (*symmetrise)(const ks_run *run, size_t n, ks_mat *X, kspec_error *err);
    /* Sets X[i,j] to 1 if i < j, and otherwise to 0. */
    kspec_status (*triangle)(const ks_run *run, size_t n, ks_mat *X, kspec_error *err);
} ks_backend;

extern const ks_backend ks_cpu_backend, ks_gpu_backend, ks_resident_backend, ks_ranks_backend;

/* The list of backends ends with NULL. A test may insert another backend first. */
extern const ks_backend *ks_backends[];

/* Returns the backend of run->device, or the CPU backend without a device. Its matrices have addresses. */
const ks_backend *ks_backend_of(const ks_run *run);

/* Returns the backend of a computation whose matrices may be too large for the device (device/resident.h). */
const ks_backend *ks_backend_alone(const ks_run *run);

/*
 * Does the same as ks_backend_alone(). For a team, returns the backend that divides matrices among ranks if
 * products of P x Q data take longer than messages.
 */
const ks_backend *ks_backend_for(const ks_run *run, size_t P, size_t Q);

/*
 * A team divides matrices among its ranks if P Q max(P,Q) is at least ks_ranks_least, usually 1e8. Tests may
 * change ks_ranks_least.
 */
extern double ks_ranks_least;

/* ---- addresses ---- */

static inline double *ks_mat_address(const ks_mat *p) { return (double *)(void *)p; }
static inline ks_mat *ks_mat_of(const double *p) { return (ks_mat *)(void *)p; }
ks_matmul ks_mat_plain(const ks_mat_product *p);
ks_expression ks_mat_plain_expression(const ks_mat_expression *e);
ks_mat *ks_mat_view(const ks_mat *p, size_t entry);
size_t ks_mat_room(const ks_run *run, const ks_room *of);
/*
 * Fills the table of a backend whose matrices have addresses. Its functions are static functions of the file,
 * named like the members.
 */
#define KS_BACKEND_OF_ADDRESSES                                                                              \
    .suits = suits, .room = ks_mat_room, .hold = hold, .drop = drop, .copy_in = copy_in, .release = release, \
    .diagonal = diagonal, .view = ks_mat_view, .put = put, .get = get, .product = product,                   \
    .expression = expression, .symmetrise = symmetrise, .triangle = triangle
