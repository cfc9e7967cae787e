/*
 * What an estimator does with matrices, wherever they are: a table of functions for each kind of memory that
 * holds them, and a list of these tables (backends.c). A new one is a file, and a line of that list.
 * An estimator says what to compute and never looks behind a ks_mat; vectors are in the host's memory, unless
 * an expression says otherwise.
 */
#pragma once

#include "base/parallel.h"
#include "device/plugin.h"

/* A matrix of a backend, which alone knows what that is: no such struct exists. */
typedef struct ks_mat ks_mat;

/*
 * As ks_matmul, ks_factor and ks_expression (device/plugin.h), of a backend's matrices. A product's members
 * are in the order of the arguments of ks_gemm().
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
    /* instead of row and col, where `view` is: the backend's; sums then are, too */
    const ks_mat *row_held, *col_held;
} ks_mat_expression;

/* What room() is asked for: a matrix, or what an operation holds beside its own. One of these. */
enum { KS_WHOLE_A = 1, KS_WHOLE_B = 2 };
typedef struct {
    size_t rows, cols;
    const ks_mat_product *product;
    int whole; /* which of its operands copy_in() made, KS_WHOLE_A and KS_WHOLE_B */
    const ks_mat_expression *expression;
    ks_tile_result what;
    size_t symmetrise; /* rows */
} ks_room;

/* How matrices may be held for a computation */
typedef enum {
    KS_HOLD_ADDRESSES, /* dense, and ks_mat an address, as what only a GPU has (device/gpu.h) takes them */
    KS_HOLD_WHOLE,     /* by each process that computes */
    KS_HOLD_SHARED     /* or in strips, by the processes of a team */
} ks_holding;

typedef struct {
    /* Is it for this run, whose products are so many multiply-adds? The first of the list that says so is. */
    int (*suits)(const ks_run *run, ks_holding how, double work);
    /* doubles in the memory of this process, at most; a dry run's matrices are not looked at */
    size_t (*room)(const ks_run *run, const ks_room *of);
    /* memory for a matrix; what it is for is named in the failure */
    kspec_status (*hold)(const ks_run *run, size_t rows, size_t cols, const char *what, ks_mat **out,
                         kspec_error *err);
    void (*drop)(const ks_run *run, ks_mat *p);
    /* what is in it is not read again before it is written; NULL: of no use to this backend */
    void (*idle)(const ks_run *run, ks_mat *p);
    /* the host's matrix as one of this backend: itself, or a copy; and its end. What the device has already
       (ks_device_has()) stays as it is. */
    kspec_status (*copy_in)(const ks_run *run, const double *host, size_t rows, size_t cols, const char *what,
                            const ks_mat **out, kspec_error *err);
    void (*release)(const ks_run *run, const ks_mat *p);
    /* the diagonal of an n x n matrix as a vector */
    kspec_status (*diagonal)(const ks_run *run, double *to, const ks_mat *from, size_t n, kspec_error *err);
    /* what begins at this entry, for as long as p is; NULL, as put and get, where matrices are in strips */
    ks_mat *(*view)(const ks_mat *p, size_t entry);
    /* its entries, where they are in the host's memory; NULL where they are not */
    double *(*host)(const ks_mat *p);
    /* part of a matrix, from the host's memory */
    kspec_status (*put)(const ks_run *run, ks_mat *to, const double *from, size_t count, kspec_error *err);
    /* to[i] = from[i*step]: part of a matrix as a vector */
    kspec_status (*get)(const ks_run *run, double *to, const ks_mat *from, size_t count, size_t step,
                        kspec_error *err);
    kspec_status (*product)(const ks_run *run, const ks_mat_product *p, kspec_error *err);
    /* into `out`, or sums into the host's vector where that is NULL */
    kspec_status (*expression)(const ks_run *run, const ks_mat_expression *e, ks_tile_result what,
                               ks_mat *out, double *sums, kspec_error *err);
    kspec_status (*symmetrise)(const ks_run *run, size_t n, ks_mat *X, kspec_error *err);
    /* X[i,j] = 1 where i < j, else 0 */
    kspec_status (*triangle)(const ks_run *run, size_t n, ks_mat *X, kspec_error *err);
} ks_backend;

extern const ks_backend ks_cpu_backend, ks_gpu_backend, ks_resident_backend, ks_ranks_backend;

/* The list, up to NULL; a test may put another one first. */
extern const ks_backend *ks_backends[];

/* For matrices that have addresses: run->device, or the processor's */
const ks_backend *ks_backend_of(const ks_run *run);

/* The same for a computation whose matrices may be too large for the device (device/resident.h) */
const ks_backend *ks_backend_alone(const ks_run *run);

/* The same, or a team's, which shares matrices out where products of P x Q data take longer than messages */
const ks_backend *ks_backend_for(const ks_run *run, size_t P, size_t Q);

/* For tests: a team shares matrices out where P Q max(P,Q) is at least this (1e8). */
extern double ks_ranks_least;

/* ---- for backends whose matrices are addresses ---- */

static inline double *ks_mat_address(const ks_mat *p) { return (double *)(void *)p; }
static inline ks_mat *ks_mat_of(const double *p) { return (ks_mat *)(void *)p; }
ks_matmul ks_mat_plain(const ks_mat_product *p);
ks_expression ks_mat_plain_expression(const ks_mat_expression *e);
ks_mat *ks_mat_view(const ks_mat *p, size_t entry);
size_t ks_mat_room(const ks_run *run, const ks_room *of);
/* What such a backend's table has: statics of its file by the members' names */
#define KS_BACKEND_OF_ADDRESSES                                                                              \
    .suits = suits, .room = ks_mat_room, .hold = hold, .drop = drop, .copy_in = copy_in, .release = release, \
    .diagonal = diagonal, .view = ks_mat_view, .put = put, .get = get, .product = product,                   \
    .expression = expression, .symmetrise = symmetrise, .triangle = triangle
