/*
 * kspec/host.h - what a host program needs around the computations: the tool, the Python package, a launcher.
 *
 * NOT STABLE: functions and structs of this header may change in every version. kspec.h does not include it,
 * and a program that only computes does not need it.
 */
#ifndef KSPEC_HOST_H
#define KSPEC_HOST_H

#include "kspec/base.h"

KSPEC_BEGIN_DECLS

/* ------------------------------------------------------- facts to print */

/* The instruction sets that the library may choose from on this kind of processor */
#if defined(__aarch64__)
#define KSPEC_ISA_NAMES "generic, neon"
#else
#define KSPEC_ISA_NAMES "generic, avx2, avx512"
#endif

/*
 * The instruction set in use, one of KSPEC_ISA_NAMES. The library chooses it at first use: the best
 * that the processor has, or a lower one that the environment variable KSPEC_ISA names. Any other value of
 * KSPEC_ISA is an error, which every call with a `threads` option reports; the name is then "invalid
 * KSPEC_ISA".
 */
KSPEC_API const char *kspec_isa(void);

/* The BLAS in use, such as "OpenBLAS 0.3.21 SkylakeX". */
KSPEC_API const char *kspec_blas(void);

/*
 * The value that the environment variable OPENBLAS_CORETYPE should have had when this process started, such
 * as "SkylakeX". NULL where the BLAS fits the processor or cannot be changed, and where the variable is set.
 *
 * An OpenBLAS older than the processor may choose routines for a much older one, several times slower: Debian
 * 12's 0.3.21 takes a fifth-generation Xeon for a Prescott (2004). OpenBLAS reads the variable once, when it
 * is loaded. So the user sets it before the program starts, or the program sets it and calls exec() on
 * itself, as the tool does. It changes results in their last digits. KSPEC_ISA has no effect on it.
 */
KSPEC_API const char *kspec_blas_advice(void);

/* The linear-programming solver in use, such as "Clp 1.17.6". */
KSPEC_API const char *kspec_lp_solver(void);

/* The GPU that a call would use, such as "NVIDIA H200, 150.1 GB, sm_90, CUDA 13.0", or NULL; and why there is
 * none ("this installation has no libkspec_cuda.so"), or NULL where there is one. Both look once. */
KSPEC_API const char *kspec_gpu(void);
KSPEC_API const char *kspec_gpu_problem(void);

/* The installed MPI plugins: "openmpi, mpich", one of them, or NULL. Looks each time. */
KSPEC_API const char *kspec_mpi(void);

/* How kspec-hdf5 is confined while it parses: "seccomp"; "none" where the kernel refuses that, or the program
 * runs under a sanitizer; NULL where it cannot be run. Runs it once, and has it try to get out. */
KSPEC_API const char *kspec_hdf5_sandbox(void);

/* How many threads a call uses where its options say 0: as many as this process has processors, or the value
 * of the environment variable KSPEC_THREADS if that is positive. Between 1 and 1024. */
KSPEC_API int kspec_default_threads(void);

/* ------------------------------------------------------- options as text */

/* The device of a word: "auto", "cpu", "gpu", "gpu:2"; KSPEC_E_ARG for another. */
KSPEC_API kspec_status kspec_device_parse(const char *text, kspec_device *device, kspec_error *err);

/* ------------------------------------------------------- memory */

/* Every allocation of the library goes through one pair of functions. `alloc` returns `size` bytes aligned to
 * `align` (a power of two), or NULL; `release` frees them. Set the pair before any other call, or not at all;
 * NULL restores the default. Useful for accounting and for tests of failure. */
typedef struct {
    void *(*alloc)(void *ctx, size_t size, size_t align);
    void (*release)(void *ctx, void *ptr);
    void *ctx;
} kspec_allocator;
KSPEC_API void kspec_set_allocator(const kspec_allocator *allocator);

/* An array in memory that kspec_read() and kspec_read_labels() read as if it were a file: 1 to 3 axes, entry
 * (i,j,k) at data[i * stride[0] + j * stride[1] + k * stride[2]]. Strides count doubles and may be
 * negative. */
typedef struct {
    const char *name; /* the input that means this array, by its address: no file's name is this string */
    const double *data;
    int ndim;
    size_t shape[3];
    ptrdiff_t stride[3];
    /* of an array of two axes: shape[1] names of its columns, by which they can be selected; or NULL */
    const char *const *col_names;
} kspec_array;

/* Borrowed arrays in the memory of a GPU: which they are, and how the library gets one into host memory. */
typedef struct {
    const int *is; /* 1 for array k where it is on a GPU, else 0 */
    /* Called for array k, from the thread that reads, where the library needs it on the host. `host` begins
     * as the array, and gets data and strides of the same numbers in host memory, which stay as long as the
     * others do. Returns 0; anything else is a failure, KSPEC_E_DATA of the call that reads. */
    int (*copy)(void *ctx, size_t k, kspec_array *host);
    void *ctx;
} kspec_device_array;

/* Reads HDF5 and MATLAB files where kspec-hdf5 is not installed, as by h5py: `array` gets the array `key`
 * ("": the only one) of the file, which stays as borrowed ones do. Otherwise it returns 1, with a message in
 * err->msg. */
typedef struct {
    int (*read)(void *ctx, const char *path, const char *key, kspec_array *array, kspec_error *err);
    void *ctx;
} kspec_hdf5_reader;

typedef struct {
    const kspec_array *arrays;
    size_t count;
    const kspec_device_array *on_device; /* NULL: all are in host memory */
    const kspec_hdf5_reader *hdf5;       /* NULL: without kspec-hdf5, such files are an error */
    /* 1: files are read into memory. 0: some are mapped, and one that shrinks ends the process by SIGBUS. */
    int copies;
    kspec_progress waiting; /* asked while a pipe or kspec-hdf5 is waited for */
} kspec_borrowed;

/* This thread borrows arrays: until the next call, kspec_read() and kspec_read_labels() take an input whose
 * pointer is the name of such an array from memory. A file of the same name is another input. The lists and
 * the data are the caller's; they must stay until the next call, which may be with none (NULL), and until the
 * data sets made of them are freed. Returns what this thread borrowed before: a call inside a callback of
 * another one puts that back. */
KSPEC_API kspec_borrowed kspec_borrow(const kspec_borrowed *now);

/* ------------------------------------------------------- writing files */

/*
 * Writes a row-major array of 2 or 3 axes band by band: .npy, .csv or .json by the suffix of `path` ("-" is
 * standard output, as npy); .csv takes 2 axes only. The data go to a temporary file beside `path`, which
 * kspec_write_close() flushes and renames; until then, and after a failure, `path` is untouched. A symbolic
 * link is followed. A file that is replaced keeps its mode and, where we may give it away, its owner. A
 * temporary file whose process was killed is removed by the next one that writes to its directory. shape[0] *
 * ... * shape[ndim-1] values must be written before close. Abort with kspec_write_abort().
 *
 * Numbers in text have as many digits as give back the same double; .json has null for NaN and infinity. A
 * path that exists and is not a regular file (a pipe, /dev/null) is written directly, as npy where it has no
 * suffix. After a failure every call returns the same error. Close and abort free the writer, whatever close
 * returns; both take NULL. At most 16 files can be written at once.
 */
typedef struct kspec_writer kspec_writer;
KSPEC_API kspec_status kspec_write_open(const char *path, int ndim, const size_t *shape, kspec_writer **out,
                                        kspec_error *err);
KSPEC_API kspec_status kspec_write_values(kspec_writer *w, const double *values, size_t count,
                                          kspec_error *err);
KSPEC_API kspec_status kspec_write_close(kspec_writer *w, kspec_error *err);
KSPEC_API void kspec_write_abort(kspec_writer *w);

/* Writes a whole text file the same way: `path` holds all of it, or is untouched. "-" is standard output,
 * written past stdio. */
KSPEC_API kspec_status kspec_write_text(const char *path, const char *text, size_t length, kspec_error *err);

/* Can `path` be written? For ndim 0 by kspec_write_text(), else as an array of so many axes. Fails now as
 * those would after the work, and leaves nothing behind. A pipe or a device is not opened. */
KSPEC_API kspec_status kspec_write_check(const char *path, int ndim, kspec_error *err);

/* Async-signal-safe: removes the temporary files of all writers not yet closed; for a signal handler that is
 * about to _exit(). */
KSPEC_API void kspec_write_discard_all(void);

/* ------------------------------------------------------- processes */

/* What every rank reports between calls or at the end: KSPEC_OK where all report KSPEC_OK. Otherwise all get
 * the failure of the lowest rank that has one, also those that are inside a call meanwhile. `err` carries
 * this rank's message in, and the common one out. */
KSPEC_API kspec_status kspec_team_agree(kspec_team *team, kspec_status mine, kspec_error *err);

/* Do all ranks have the same number, such as the digest of a file? KSPEC_E_DATA, naming the first rank whose
 * `what` differs from rank 0's. */
KSPEC_API kspec_status kspec_team_same(kspec_team *team, const char *what, uint64_t number, kspec_error *err);

KSPEC_END_DECLS
#endif
