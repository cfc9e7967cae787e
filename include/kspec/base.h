/* Part of kspec.h: version, status, environment, matrices, random numbers. */
#ifndef KSPEC_BASE_H
#define KSPEC_BASE_H

#include <stddef.h>
#include <stdint.h>

/* The one place where the version is written; kspec_version() is that of the library that runs. */
#define KSPEC_VERSION_MAJOR    0
#define KSPEC_VERSION_MINOR    3
#define KSPEC_VERSION_PATCH    0
#define KSPEC_TEXT_(x)         #x
#define KSPEC_DOTTED_(a, b, c) KSPEC_TEXT_(a) "." KSPEC_TEXT_(b) "." KSPEC_TEXT_(c)
#define KSPEC_VERSION          KSPEC_DOTTED_(KSPEC_VERSION_MAJOR, KSPEC_VERSION_MINOR, KSPEC_VERSION_PATCH)

#if defined(_WIN32)
#define KSPEC_API
#else
#define KSPEC_API __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
#define KSPEC_BEGIN_DECLS extern "C" {
#define KSPEC_END_DECLS   }
#else
#define KSPEC_BEGIN_DECLS
#define KSPEC_END_DECLS
#endif

KSPEC_BEGIN_DECLS

/* ------------------------------------------------------------------ status */

typedef enum {
    KSPEC_OK = 0,
    KSPEC_E_ARG,   /* an argument or an option is out of its range */
    KSPEC_E_NOMEM, /* there was not enough memory */
    /* the computation broke down: overflow, a matrix not positive definite, no convergence */
    KSPEC_E_NUMERIC,
    KSPEC_E_IO,        /* a file could not be read or written, or does not hold what it should */
    KSPEC_E_CANCELLED, /* the progress callback asked to stop */
    /* the data in memory do not fit: an entry that is not finite, a Gram matrix that is not symmetric, ... */
    KSPEC_E_DATA
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
 * Where a call computes. AUTO is a GPU that is faster for this size, else the processor;
 * where it is AUTO, the environment variable KSPEC_DEVICE (auto, cpu, gpu, gpu:K) is asked first. CPU is the
 * processor. GPU is the first GPU, KSPEC_DEVICE_GPU_FIRST + K that of number K, up to KSPEC_DEVICE_GPU_LAST;
 * these fail where no such GPU exists, or where it lacks the memory or the method.
 *
 * A GPU gives the same estimates with other rounding errors, and the same bits each time. It is reached
 * through a plugin, libkspec_cuda.so, that stands beside the library; nothing else needs CUDA.
 */
typedef enum {
    KSPEC_DEVICE_AUTO = 0,
    KSPEC_DEVICE_CPU,
    KSPEC_DEVICE_GPU,
    KSPEC_DEVICE_GPU_FIRST = 16,
    KSPEC_DEVICE_GPU_LAST = 16 + 255
} kspec_device;

/* Where the numbers of a matrix are: in the host's memory, or in that of a GPU, as cudaMalloc() gives it. Of
 * the latter the call waits for what was queued on that GPU before, uses it by AUTO and GPU, and fails where
 * `device` is the number of another. */
typedef enum { KSPEC_MEMORY_HOST = 0, KSPEC_MEMORY_DEVICE } kspec_memory;

/* Where a result was computed. */
typedef struct {
    char name[144]; /* "cpu", or such as "gpu:0 NVIDIA H200" */
    /* why: "asked for", "faster for this size", "this installation has no libkspec_cuda.so" */
    char why[160];
    /* 1: there is a GPU that would have been used, but could not be; `why` says what happened */
    int unusable;
} kspec_device_used;

/* `report` is called several times a second, from the thread that made the call, with the fraction done (0 to
 * 1). Return 0 to go on. Anything else cancels: the call then frees what it holds and returns
 * KSPEC_E_CANCELLED. */
typedef struct {
    int (*report)(void *ctx, double fraction);
    void *ctx;
} kspec_progress;

/* Processes that compute one result together (kspec/team.h); NULL in a call's options: this one alone. */
typedef struct kspec_team kspec_team;

/* ------------------------------------------------------------------ matrix */

/* A view of rows x cols doubles: entry (i,j) is data[i*row_stride + j*col_stride]. Strides count doubles and
 * may be negative. A dense row-major matrix has row_stride = cols and col_stride = 1; one of Fortran or
 * MATLAB has row_stride = 1 and col_stride = rows. */
typedef struct {
    const double *data;
    size_t rows, cols;
    ptrdiff_t row_stride, col_stride;
} kspec_matrix;

/* Which mean is removed from the kernel: that of each feature over the inputs, or of each input over them. A
 * result says which it was, and never DEFAULT. */
typedef enum {
    /* ROWS for what is about a covariance: dimensions, comparisons, fitted and cross-validated spectra. NONE
     * for the moments of a kernel, and for a spectrum from them. */
    KSPEC_CENTER_DEFAULT = 0,
    KSPEC_CENTER_NONE,
    KSPEC_CENTER_ROWS, /* the mean over the rows, for each column */
    KSPEC_CENTER_COLS, /* the mean over the columns, for each row */
    KSPEC_CENTER_BOTH
} kspec_center;

/* ---------------------------------------------------------- random numbers */

/*
 * Counter-based random numbers (Philox4x64-10, Random123): number `index` of stream `stream` of `seed` is a
 * pure function of the three. Every instruction set gives the same bits. Each call writes the `count` numbers
 * of indices first, first+1, ... to `out`.
 *
 * Streams that the library draws from itself: 1 to 4, 1000 to 4.2e9, and from 2^40 on (src/base/streams.h). A
 * program that uses its own seed for both should take streams from 5 to 999.
 */

/* Uniform on the open interval (0,1): (k + 1/2) / 2^52, k = 0 ... 2^52-1. */
KSPEC_API void kspec_random_uniform(uint64_t seed, uint64_t stream, uint64_t first, size_t count,
                                    double *out);

/* Standard normal (Box-Muller), |value| < 8.6. */
KSPEC_API void kspec_random_normal(uint64_t seed, uint64_t stream, uint64_t first, size_t count, double *out);

KSPEC_END_DECLS
#endif
