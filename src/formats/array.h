/*
 * The bytes of a file, and the array that a format's parser finds in them. Parsers read from memory only, so
 * that they can be fuzzed.
 */
#pragma once

#include "kspec/files.h"

#include <sys/stat.h>

/* The bytes of a file: a regular file is mapped, any other input is read into memory. */
typedef struct {
    const unsigned char *data;
    size_t size;
    /* the mapping to release with munmap(), or NULL */
    void *map;
    size_t map_size;
    /* ks_free(heap) unless NULL */
    void *heap;
    /* for a mapped file: its name, which ks_free() frees, and its state when it was opened */
    char *path;
    struct stat seen;
} ks_bytes;

/* Opens a file; "-" is standard input. Fails if the file changes while it is read into memory. */
kspec_status ks_bytes_open(ks_bytes *b, const char *path, kspec_error *err);
void ks_bytes_close(ks_bytes *b);

/*
 * Fails if a mapped file has changed since it was opened. If another file has taken its name, the mapping
 * still shows the old file.
 */
kspec_status ks_bytes_check(const ks_bytes *b, kspec_error *err);

/*
 * Settings of this thread's host. `copies`: read files into memory and never map them. `waiting`: the
 * callback to call ten times a second while the library waits for a pipe or for the program that reads HDF5.
 */
void ks_bytes_host(int copies, kspec_progress waiting);
kspec_status ks_bytes_waits(kspec_error *err);

/*
 * An array of 1 to 3 axes in the layout of its file; entry (i,j,k) is data[i*stride[0] + j*stride[1] + ...].
 */
typedef struct {
    int ndim;
    size_t shape[3];
    /* counted in doubles */
    ptrdiff_t stride[3];
    const double *data;
    /* 1 if the two columns are the real and imaginary parts of a complex vector */
    int is_complex;
    /* for text with a header: shape[1] names in one allocation, which ks_free() frees; or NULL */
    int has_header;
    /* 1 for text whose commas between columns may be decimal commas */
    int decimal_commas;
    char **col_names;
    /*
     * the parser of text selects columns while it reads: the selected columns, or NULL; and the number of
     * columns in the file
     */
    size_t *col_index, file_cols;
    /* the storage behind data; empty for an array that the caller provides */
    int is_lent;
    ks_bytes storage;
} ks_array;

void ks_array_free(ks_array *a);

/*
 * A row-major array in fresh memory; the caller fills *data. Checks that the product of the shape does not
 * overflow.
 */
kspec_status ks_array_new(ks_array *a, int ndim, const size_t *shape, double **data, const char *name,
                          kspec_error *err);

/*
 * The parsers. `name` is the input's name in messages. If the bytes can be used in place (npy: little-endian
 * f8, 8-byte aligned), a parser moves *bytes into out->storage and clears *bytes; otherwise it copies the
 * values into fresh memory. On failure *out is empty and the caller still owns *bytes.
 */
kspec_status ks_npy_parse(ks_bytes *bytes, const char *name, ks_array *out, kspec_error *err);
kspec_status ks_npz_parse(ks_bytes *bytes, const char *key, const char *name, ks_array *out,
                          kspec_error *err);
kspec_status ks_idx_parse(ks_bytes *bytes, const char *name, ks_array *out, kspec_error *err);
kspec_status ks_text_parse(ks_bytes *bytes, const char *select_cols, const char *name, ks_array *out,
                           kspec_error *err);

/*
 * Do the first bytes look like this format? idx may be gzipped, MATLAB v7.3 is HDF5 behind a 512-byte header,
 * and mat is v5 to v7. A file that matches none of these formats is text.
 */
int ks_npy_match(const ks_bytes *b);
int ks_npz_match(const ks_bytes *b);
int ks_idx_match(const ks_bytes *b);
int ks_hdf5_match(const ks_bytes *b);
int ks_mat_match(const ks_bytes *b);

/* Is the program installed that the next call runs? */
int ks_hdf5_can_read(void);

/* Runs the child process to read `key` ("" for the only array) of the HDF5 or MATLAB file at path. */
kspec_status ks_hdf5_read(const char *path, const char *key, int matlab, const char *name, ks_array *out,
                          kspec_error *err);

/*
 * ks_is_borrowed(): has the caller given this thread an array with this name, and does the array lie on a
 * GPU? The next call returns the array with a copy of its names. It copies the array to host memory, unless
 * the array may stay on the GPU.
 */
int ks_is_borrowed(const char *input);
int ks_is_on_device(const char *input);
kspec_status ks_borrowed_read(const char *input, const char *name, int stay, ks_array *out, kspec_error *err);

/*
 * Can the host itself read HDF5 and MATLAB files (kspec/host.h)? The second call lets the host read the array
 * `key`.
 */
int ks_host_reads_hdf5(void);
kspec_status ks_host_hdf5(const char *path, const char *key, const char *name, ks_array *out,
                          kspec_error *err);

/*
 * Picks indices from 0 ... n-1, separated by commas: numbers, inclusive ranges a-b, open ranges a- (to the
 * end), or names if `names` is given. *index is ks_alloc'd. `what` is "row" or "column". A failure names the
 * wrong part and the bound.
 */
kspec_status ks_select_parse(const char *spec, size_t n, char *const *names, const char *what,
                             const char *name, size_t **index, size_t *count, kspec_error *err);
