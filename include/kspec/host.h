/*
 * kspec/host.h - functions that a host program needs around the computations: the tool, the Python package, a
 * launcher.
 *
 * NOT STABLE: functions and structs of this header may change in every version. kspec.h does not include it,
 * and a program that only computes does not need it.
 */
#ifndef KSPEC_HOST_H
#define KSPEC_HOST_H

#include "kspec/files.h"
#include "kspec/generate.h"

/* ------------------------------------------------------- facts to print */
/* The instruction sets that the library may choose from on this kind of processor */
#if defined(__aarch64__)
#define KSPEC_ISA_NAMES "generic, neon"
#else
#define KSPEC_ISA_NAMES "generic, avx2, avx512"
#endif

/*
 * The instruction set in use, one of KSPEC_ISA_NAMES. The library chooses it at first use: the best set of
 * the processor, or the lower one named by the environment variable KSPEC_ISA. Any other value of KSPEC_ISA
 * is an error, which every call with a `threads` option reports; the name is then "invalid KSPEC_ISA".
 */
KSPEC_API const char *kspec_isa(void);

/* The BLAS in use, such as "OpenBLAS 0.3.21 SkylakeX". */
KSPEC_API const char *kspec_blas(void);

/*
 * The value that the environment variable OPENBLAS_CORETYPE should have had when this process started, such
 * as "SkylakeX". NULL if the BLAS fits the processor or cannot be changed, or if the variable is set.
 *
 * An OpenBLAS older than the processor may choose routines for a much older one, several times slower: Debian
 * 12's 0.3.21 takes a fifth-generation Xeon for a Prescott (2004). OpenBLAS reads the variable once, when it
 * is loaded. So the user sets it before the program starts, or the program sets it and calls exec() on
 * itself, as the tool does. It changes results in their last digits. KSPEC_ISA has no effect on it.
 */
KSPEC_API const char *kspec_blas_advice(void);

/* The linear-programming solver in use, such as "Clp 1.17.6". */
KSPEC_API const char *kspec_lp_solver(void);

/* The GPU that a call would use, such as "NVIDIA H200, 150.1 GB, sm_90, CUDA 13.0", or NULL; and the reason
 * without a GPU ("this installation has no libkspec_cuda.so"), or NULL with one. The library looks once. */
KSPEC_API const char *kspec_gpu(void);
KSPEC_API const char *kspec_gpu_problem(void);

/* The installed MPI plugins: "openmpi, mpich", one of them, or NULL. Each call looks again. */
KSPEC_API const char *kspec_mpi(void);

/* The sandbox of kspec-hdf5 while it parses: "seccomp", or "none" if the kernel refuses it, or under a
 * sanitizer. NULL if kspec-hdf5 cannot run. The first call runs kspec-hdf5, which tries to escape. */
KSPEC_API const char *kspec_hdf5_sandbox(void);

/* The number of threads of a call whose options say 0: the number of processors of this process, or the value
 * of the environment variable KSPEC_THREADS if that is positive. Between 1 and 1024. */
KSPEC_API int kspec_default_threads(void);

/* ------------------------------------------------------- options as text */
/* The device that a word names: "auto", "cpu", "gpu", "gpu:2"; otherwise KSPEC_E_ARG. */
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
    /* an array of two axes: shape[1] names of its columns, by which they can be selected; or NULL */
    const char *const *col_names;
} kspec_array;

/* Borrowed arrays in GPU memory: which arrays these are, and how the library copies one to the host. */
typedef struct {
    const int *is; /* 1 if array k is on a GPU, else 0 */
    /* The reading thread calls it for array k if the library needs the array on the host. `host` begins as a
     * copy of the array's description; set its data and strides to the same numbers in host memory, valid as
     * long as the borrowed arrays. Return 0; any other value is a failure, KSPEC_E_DATA of the reading
     * call. */
    int (*copy)(void *ctx, size_t k, kspec_array *host);
    void *ctx;
} kspec_device_array;

/* Reads HDF5 and MATLAB files if kspec-hdf5 is not installed, for example with h5py: fill `array` with the
 * array `key` ("": the only one) of the file, valid as long as borrowed arrays, and return 0. Otherwise
 * return 1, with a message in err->msg. */
typedef struct {
    int (*read)(void *ctx, const char *path, const char *key, kspec_array *array, kspec_error *err);
    void *ctx;
} kspec_hdf5_reader;

typedef struct {
    const kspec_array *arrays;
    size_t count;
    const kspec_device_array *on_device; /* NULL: all are in host memory */
    const kspec_hdf5_reader *hdf5;       /* NULL: without kspec-hdf5, such files are an error */
    /* 1: read files into memory. 0: map some of them; if a mapped file shrinks, SIGBUS ends the process. */
    int copies;
    kspec_progress waiting; /* called while the library waits for a pipe or kspec-hdf5 */
} kspec_borrowed;

/* This thread borrows arrays: until the next call, kspec_read() and kspec_read_labels() read such an array
 * from memory if an input's pointer is the array's name. A file of the same name is another input. The caller
 * owns the lists and the data. They must stay valid until the next call, which may give no list (NULL), and
 * until the data sets that use them are freed. Returns the arrays that this thread borrowed before; a call
 * inside a callback of another call restores those. */
KSPEC_API kspec_borrowed kspec_borrow(const kspec_borrowed *now);

/* ------------------------------------------------------- matrices larger than memory */
/*
 * Reads one matrix in blocks of `rows` rows (0: 16 MB), for a computation that reads it once, such as an
 * accumulator. Several inputs follow each other as rows. .npy and plain text of any size are read block by
 * block; a file of another kind, gzipped or from standard input is read completely when its turn comes. Rows
 * cannot be selected. Missing values are an error, or stay in the block with `nan` KSPEC_NAN_OMIT_ROWS.
 */
typedef struct kspec_blocks kspec_blocks;
KSPEC_API kspec_status kspec_blocks_open(const char *const *inputs, size_t count, const kspec_read_opts *opts,
                                         size_t rows, kspec_blocks **out, kspec_error *err);

/* The next block, valid until the next call; at the end it has 0 rows. *fraction: the part read, or NULL */
KSPEC_API kspec_status kspec_blocks_next(kspec_blocks *b, kspec_matrix *block, double *fraction,
                                         kspec_error *err);
KSPEC_API void kspec_blocks_close(kspec_blocks *b);

/*
 * kspec_generate() in bands: kspec_generate_open() draws the data shared by all bands, kspec_generate_rows()
 * fills `out` (count x cols, row-major) with rows first ... first+count-1 of a trial. The same seed gives the
 * same entries for every choice of bands.
 */
typedef struct kspec_generator kspec_generator;
KSPEC_API kspec_status kspec_generate_open(size_t rows, size_t cols, const kspec_generate_opts *opts,
                                           kspec_generator **out, kspec_error *err);
KSPEC_API kspec_status kspec_generate_rows(kspec_generator *g, size_t trial, size_t first, size_t count,
                                           double *out, kspec_error *err);
KSPEC_API void kspec_generate_close(kspec_generator *g);

/* ------------------------------------------------------- writing files */
/*
 * Writes a row-major array of 2 or 3 axes band by band: .npy, .csv or .json by the suffix of `path` ("-" is
 * standard output, as npy); .csv takes 2 axes only. The data go to a temporary file in the directory of
 * `path`, which kspec_write_close() flushes and renames; until then, and after a failure, `path` is
 * unchanged. A symbolic link is followed. A replaced file keeps its mode and, if permitted, its owner. If a
 * process is killed, the next one that writes to the directory removes its temporary file. shape[0] * ... *
 * shape[ndim-1] values must be written before close. Abort with kspec_write_abort().
 *
 * Numbers in text have as many digits as needed to read back the same double; .json has null for NaN and
 * infinity. An existing path that is not a regular file (a pipe, /dev/null) is written directly, as npy if it
 * has no suffix. After a failure every call returns the same error. Close and abort always free the writer;
 * both take NULL. At most 16 files can be written at once.
 */
typedef struct kspec_writer kspec_writer;
KSPEC_API kspec_status kspec_write_open(const char *path, int ndim, const size_t *shape, kspec_writer **out,
                                        kspec_error *err);
KSPEC_API kspec_status kspec_write_values(kspec_writer *w, const double *values, size_t count,
                                          kspec_error *err);
KSPEC_API kspec_status kspec_write_close(kspec_writer *w, kspec_error *err);
KSPEC_API void kspec_write_abort(kspec_writer *w);

/* Writes a whole text file the same way: `path` gets all of it, or stays unchanged. "-" is standard output,
 * written past stdio. */
KSPEC_API kspec_status kspec_write_text(const char *path, const char *text, size_t length, kspec_error *err);

/* Checks that `path` can be written: by kspec_write_text() if ndim is 0, otherwise as an array of `ndim`
 * axes. Call it before a long computation: it reports the errors that writing would report afterwards. It
 * leaves no file behind and does not open a pipe or a device. */
KSPEC_API kspec_status kspec_write_check(const char *path, int ndim, kspec_error *err);

/* Async-signal-safe: removes the temporary files of all writers not yet closed; for a signal handler that is
 * about to _exit(). */
KSPEC_API void kspec_write_discard_all(void);

/* ------------------------------------------------------- processes */
/* Exchanges the status of all ranks between calls or at the end: KSPEC_OK if all report KSPEC_OK. Otherwise
 * all get the failure of the lowest failed rank, including ranks inside a call at that time. `err` carries
 * this rank's message in, and the common one out. */
KSPEC_API kspec_status kspec_team_agree(kspec_team *team, kspec_status mine, kspec_error *err);

/* Checks that all ranks have the same number, such as the digest of a file. If not, it fails with
 * KSPEC_E_DATA and names the first rank whose `what` differs from rank 0's. */
KSPEC_API kspec_status kspec_team_same(kspec_team *team, const char *what, uint64_t number, kspec_error *err);

#endif
