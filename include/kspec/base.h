/* Part of kspec.h: version, status, environment, matrices, random numbers. */
#ifndef KSPEC_BASE_H
#define KSPEC_BASE_H
#include <stddef.h>
#include <stdint.h>

/* The version is written only here. kspec_version() returns the version of the running library. */
#define KSPEC_VERSION_MAJOR    0
#define KSPEC_VERSION_MINOR    3
#define KSPEC_VERSION_PATCH    0
#define KSPEC_TEXT_(x)         #x
#define KSPEC_DOTTED_(a, b, c) KSPEC_TEXT_(a) "." KSPEC_TEXT_(b) "." KSPEC_TEXT_(c)
#define KSPEC_VERSION          KSPEC_DOTTED_(KSPEC_VERSION_MAJOR, KSPEC_VERSION_MINOR, KSPEC_VERSION_PATCH)

#ifdef __cplusplus
#define KSPEC_EXTERN_ extern "C"
#else
#define KSPEC_EXTERN_
#endif
#if defined(_WIN32)
#define KSPEC_API KSPEC_EXTERN_
#else
#define KSPEC_API KSPEC_EXTERN_ __attribute__((visibility("default")))
#endif

typedef enum {
    KSPEC_OK = 0,
    KSPEC_E_ARG,   /* an argument or an option is out of its range */
    KSPEC_E_NOMEM, /* there was not enough memory */
    /* the computation broke down: overflow, a matrix not positive definite, no convergence */
    KSPEC_E_NUMERIC,
    KSPEC_E_IO,        /* a file could not be read or written, or has the wrong contents */
    KSPEC_E_CANCELLED, /* the progress callback asked to stop */
    /* the data in memory do not fit: an entry that is not finite, a Gram matrix that is not symmetric, ... */
    KSPEC_E_DATA
} kspec_status;

typedef struct {
    kspec_status code;
    char msg[512];
    /* the field of the call's options that is wrong or would help, and a value for it; or "" */
    char option[32], setting[32];
} kspec_error;

/* The enums whose values have names, such as "out of memory", "dimension-unknown", "clear" or "kv-row" */
typedef enum {
    KSPEC_NAMES_STATUS = 0,
    KSPEC_NAMES_DOUBT,
    KSPEC_NAMES_EVIDENCE,
    KSPEC_NAMES_ESTIMATOR,
    KSPEC_NAMES_NORM_METHOD
} kspec_names;

/* Returns the name of a value of an enum, or NULL for an unknown value. */
KSPEC_API const char *kspec_name(kspec_names of, unsigned value);

/* Frees a result that a call returned by pointer, with everything that belongs to it; NULL is allowed. */
KSPEC_API void kspec_free(void *result);

/* The version of the running library; compare it with KSPEC_VERSION, the version of this header. */
KSPEC_API const char *kspec_version(void);

/* Where a call computes. AUTO chooses a GPU if it is faster for this size, otherwise the CPU; the environment
 * variable KSPEC_DEVICE (auto, cpu, gpu, gpu:K) overrides AUTO. GPU is the first GPU, KSPEC_DEVICE_GPU_FIRST
 * + K is GPU number K. Both fail if that GPU does not exist, or lacks the memory or the method. A GPU gives
 * the same estimates with other rounding errors, and the same bits each time. The library uses it through a
 * plugin, libkspec_cuda.so, in the library's directory; nothing else needs CUDA. */
typedef enum {
    KSPEC_DEVICE_AUTO = 0,
    KSPEC_DEVICE_CPU,
    KSPEC_DEVICE_GPU,
    KSPEC_DEVICE_GPU_FIRST = 16,
    KSPEC_DEVICE_GPU_LAST = 16 + 255
} kspec_device;

/* Which memory holds the numbers of a matrix: host memory, or GPU memory from cudaMalloc(). With GPU memory,
 * a call first waits for the work queued on that GPU. For AUTO and GPU it computes there, or copies the
 * matrix to the host if it must. It fails if `device` is the number of another GPU. */
typedef enum { KSPEC_MEMORY_HOST = 0, KSPEC_MEMORY_DEVICE } kspec_memory;

/* Where a result was computed. */
typedef struct {
    char name[144]; /* "cpu", or such as "gpu:0 NVIDIA H200" */
    char why[160];  /* the reason: "asked for", "faster for this size", "no libkspec_cuda.so" and the like */
    int unusable; /* 1: a GPU exists that the call would have used, but could not, for the reason in `why` */
} kspec_device_used;

/* The library calls `report` several times a second, from the calling thread, with the fraction done (0 to
 * 1). Return 0 to go on; any other value ends the call with KSPEC_E_CANCELLED. */
typedef struct {
    int (*report)(void *ctx, double fraction);
    void *ctx;
} kspec_progress;

typedef struct kspec_team kspec_team; /* processes that compute one result together (kspec/team.h) */

/* A view of rows x cols doubles: entry (i,j) is data[i*row_stride + j*col_stride]. Strides count doubles and
 * may be negative: cols and 1 for a dense row-major matrix, 1 and rows for Fortran or MATLAB. */
typedef struct {
    const double *data;
    size_t rows, cols;
    ptrdiff_t row_stride, col_stride;
} kspec_matrix;

/* Which mean the call removes from the kernel: each feature's mean over the inputs, or each input's mean over
 * the features. A result reports the mean that was removed, never DEFAULT. */
typedef enum {
    /* ROWS for calls about a covariance: dimensions, comparisons, fitted and cross-validated spectra. NONE
     * for the moments of a kernel, and for a spectrum computed from moments. */
    KSPEC_CENTER_DEFAULT = 0,
    KSPEC_CENTER_NONE,
    KSPEC_CENTER_ROWS, /* the mean over the rows, for each column */
    KSPEC_CENTER_COLS, /* the mean over the columns, for each row */
    KSPEC_CENTER_BOTH
} kspec_center;

/* Counter-based random numbers (Philox4x64-10, Random123): number `index` of stream `stream` of `seed` is a
 * pure function of the three. Every instruction set gives the same bits. Each call writes the `count` numbers
 * with indices first, first+1, ... to `out`. The library itself draws from streams 1 to 4, 1000 to 4.2e9, and
 * from 2^40 on (src/base/streams.h). A program that uses one seed for both should take streams from 5 to 999.
 *
 * Uniform on the open interval (0,1): (k + 1/2) / 2^52, k = 0 ... 2^52-1. */
KSPEC_API void kspec_random_uniform(uint64_t seed, uint64_t stream, uint64_t first, size_t count,
                                    double *out);

/* Standard normal (Box-Muller), |value| < 8.6. */
KSPEC_API void kspec_random_normal(uint64_t seed, uint64_t stream, uint64_t first, size_t count, double *out);
#endif
