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
 * A matrix of a backend. The struct is never defined, because only the backend knows what the pointer means.
 */
typedef struct ks_mat ks_mat;

/*
 * The counterparts of ks_matmul, ks_factor and ks_expression (device/plugin.h) for a backend's matrices. The
 * members of a product are in the order of the arguments of ks_gemm().
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
     * if `view` exists, these vectors of the backend replace row and col, and the sums also belong to the
     * backend
     */
    const ks_mat *row_held, *col_held;
} ks_mat_expression;

/* The question to room(): a matrix, or the memory that an operation holds in addition. One of these. */
enum { KS_WHOLE_A = 1, KS_WHOLE_B = 2 };
typedef struct {
    size_t rows, cols;
    const ks_mat_product *product;
    int whole; /* which operands copy_in() created: KS_WHOLE_A, KS_WHOLE_B */
    const ks_mat_expression *expression;
    ks_tile_result what;
    size_t symmetrise; /* rows */
} ks_room;

/* Ways to hold matrices for a computation */
typedef enum {
    /* matrices are dense, and a ks_mat is an address that GPU-only functions (device/gpu.h) accept */
    KS_HOLD_ADDRESSES,
    KS_HOLD_WHOLE, /* each process stores and uses whole matrices */
    KS_HOLD_SHARED /* the processes of a team may store strips of matrices */
} ks_holding;

typedef struct {
    /*
     * Is this backend suitable for a run whose products have this many multiply-adds? A run uses the first
     * suitable backend of the list.
     */
    int (*suits)(const ks_run *run, ks_holding how, double work);
    /* Returns the most doubles that this process stores. A dry run does not read the matrices. */
    size_t (*room)(const ks_run *run, const ks_room *of);
    /* Allocates a matrix. If that fails, the message names the purpose of the matrix. */
    kspec_status (*hold)(const ks_run *run, size_t rows, size_t cols, const char *what, ks_mat **out,
                         kspec_error *err);
    void (*drop)(const ks_run *run, ks_mat *p);
    /* Declares that a matrix will be overwritten before it is read. NULL: this backend does not need it */
    void (*idle)(const ks_run *run, ks_mat *p);
    /*
     * Turns a host matrix into a matrix of this backend: the same memory or a copy. The next function
     * releases it. A matrix on the device (ks_device_has()) is not copied
     */
    kspec_status (*copy_in)(const ks_run *run, const double *host, size_t rows, size_t cols, const char *what,
                            const ks_mat **out, kspec_error *err);
    void (*release)(const ks_run *run, const ks_mat *p);
    /* Copies the diagonal of an n x n matrix to a vector */
    kspec_status (*diagonal)(const ks_run *run, double *to, const ks_mat *from, size_t n, kspec_error *err);
    /*
     * Returns the part of p from this entry on, which is valid as long as p. NULL, like put and get, for
     * matrices in strips
     */
    ks_mat *(*view)(const ks_mat *p, size_t entry);
    /* Returns the entries if they are in host memory; otherwise NULL */
    double *(*host)(const ks_mat *p);
    /* Copies part of a matrix from host memory */
    kspec_status (*put)(const ks_run *run, ks_mat *to, const double *from, size_t count, kspec_error *err);
    /* Copies part of a matrix to a vector: to[i] = from[i*step] */
    kspec_status (*get)(const ks_run *run, double *to, const ks_mat *from, size_t count, size_t step,
                        kspec_error *err);
    kspec_status (*product)(const ks_run *run, const ks_mat_product *p, kspec_error *err);
    /* Writes an expression to `out`, or if `out` is NULL, its sums to a host vector */
    kspec_status (*expression)(const ks_run *run, const ks_mat_expression *e, ks_tile_result what,
                               ks_mat *out, double *sums, kspec_error *err);
    kspec_status (*symmetrise)(const ks_run *run, size_t n, ks_mat *X, kspec_error *err);
    /* X[i,j] = 1 if i < j, otherwise 0 */
    kspec_status (*triangle)(const ks_run *run, size_t n, ks_mat *X, kspec_error *err);
} ks_backend;

extern const ks_backend ks_cpu_backend, ks_gpu_backend, ks_resident_backend, ks_ranks_backend;

/* The list, ending with NULL; a test may insert another backend first. */
extern const ks_backend *ks_backends[];

/* For matrices with addresses: the backend of run->device, or of the CPU */
const ks_backend *ks_backend_of(const ks_run *run);

/* The backend of a computation whose matrices may be too large for the device (device/resident.h) */
const ks_backend *ks_backend_alone(const ks_run *run);

/*
 * Like ks_backend_alone(). For a team, the backend that divides matrices among ranks, if products of P x Q
 * data take longer than messages
 */
const ks_backend *ks_backend_for(const ks_run *run, size_t P, size_t Q);

/* For tests: a team divides matrices among its ranks if P Q max(P,Q) is at least this (1e8). */
extern double ks_ranks_least;

/* ---- for backends whose matrices are addresses ---- */

static inline double *ks_mat_address(const ks_mat *p) { return (double *)(void *)p; }
static inline ks_mat *ks_mat_of(const double *p) { return (ks_mat *)(void *)p; }
ks_matmul ks_mat_plain(const ks_mat_product *p);
ks_expression ks_mat_plain_expression(const ks_mat_expression *e);
ks_mat *ks_mat_view(const ks_mat *p, size_t entry);
size_t ks_mat_room(const ks_run *run, const ks_room *of);
/* The table of a backend with addresses: static functions of its file, named like the members */
#define KS_BACKEND_OF_ADDRESSES                                                                              \
    .suits = suits, .room = ks_mat_room, .hold = hold, .drop = drop, .copy_in = copy_in, .release = release, \
    .diagonal = diagonal, .view = ks_mat_view, .put = put, .get = get, .product = product,                   \
    .expression = expression, .symmetrise = symmetrise, .triangle = triangle
