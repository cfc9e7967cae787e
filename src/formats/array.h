/*
 * Declares the bytes of a file, and the array that a format's parser finds in them. Parsers read from memory
 * only, so that they can be fuzzed.
 */
#pragma once

#include "kspec/files.h"

#include <sys/stat.h>

/* Contains the bytes of a file. A regular file is mapped, and any other input is read into memory. */
typedef struct {
    const unsigned char *data;
    size_t size;
    /* The mapping to release with munmap(), or NULL. */
    void *map;
    size_t map_size;
    /* memory to free */
    void *heap;
    /* For a mapped file, its name, which ks_free() frees, and its state when it was opened. */
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
 * Sets how this thread's host reads files. If copies is 1, the library reads files into memory and never maps
 * them. The library calls `waiting` ten times a second while it waits for a pipe or for the program that
 * reads HDF5.
 */
void ks_bytes_host(int copies, kspec_progress waiting);
kspec_status ks_bytes_waits(kspec_error *err);

/*
 * Describes an array of 1 to 3 axes in the layout of its file. Entry (i,j,k) is data[i*stride[0] +
 * j*stride[1] + k*stride[2]].
 */
typedef struct {
    int ndim;
    size_t shape[3];
    /* counted in doubles */
    ptrdiff_t stride[3];
    const double *data;
    /* If is_complex is 1, the two columns are the real and imaginary parts of a complex vector. */
    int is_complex;
    /*
     * For text with a header, col_names contains shape[1] names in one allocation, which ks_free() frees.
     * Without a header, col_names is NULL.
     */
    int has_header;
    /* If decimal_commas is 1, the text's commas between columns may be decimal commas. */
    int decimal_commas;
    char **col_names;
    /*
     * The parser of text selects columns while it reads. col_index lists the selected columns, or is NULL.
     * file_cols is the number of columns in the file.
     */
    size_t *col_index, file_cols;
    /* storage owns the memory of `data`. The storage is empty for an array that the caller provides. */
    int is_lent;
    ks_bytes storage;
} ks_array;

void ks_array_free(ks_array *a);

/*
 * Allocates a row-major array, whose entries the caller writes to *data. Fails if the product of the shape
 * overflows.
 */
kspec_status ks_array_new(ks_array *a, int ndim, const size_t *shape, double **data, const char *name,
                          kspec_error *err);

/*
 * The functions parse the formats. Messages call the input `name`. If the bytes can be used in place (npy:
 * little-endian f8, 8-byte aligned), a parser moves *bytes into out->storage and clears *bytes. If not, the
 * parser copies the values into new memory. After a failure *out is empty and the caller still owns *bytes.
 */
kspec_status ks_npy_parse(ks_bytes *bytes, const char *name, ks_array *out, kspec_error *err);
kspec_status ks_npz_parse(ks_bytes *bytes, const char *key, const char *name, ks_array *out,
                          kspec_error *err);
kspec_status ks_idx_parse(ks_bytes *bytes, const char *name, ks_array *out, kspec_error *err);
kspec_status ks_text_parse(ks_bytes *bytes, const char *select_cols, const char *name, ks_array *out,
                           kspec_error *err);

/*
 * Do the first bytes look like this format? An idx file may be gzipped. MATLAB v7.3 is HDF5 behind a 512-byte
 * header, and mat is v5 to v7. A file that matches none of these formats is text.
 */
int ks_npy_match(const ks_bytes *b);
int ks_npz_match(const ks_bytes *b);
int ks_idx_match(const ks_bytes *b);
int ks_hdf5_match(const ks_bytes *b);
int ks_mat_match(const ks_bytes *b);

/* Is the program installed that ks_hdf5_read() runs? */
int ks_hdf5_can_read(void);

/* Runs the child process to read `key` ("" for the only array) of the HDF5 or MATLAB file at path. */
kspec_status ks_hdf5_read(const char *path, const char *key, int matlab, const char *name, ks_array *out,
                          kspec_error *err);

/*
 * ks_is_borrowed() tells whether the caller has given this thread an array with this name. ks_is_on_device()
 * tells whether that array is on a GPU. ks_borrowed_read() returns the array with a copy of its names. The
 * function copies the array to host memory, unless the array may stay on the GPU.
 */
int ks_is_borrowed(const char *input);
int ks_is_on_device(const char *input);
kspec_status ks_borrowed_read(const char *input, const char *name, int stay, ks_array *out, kspec_error *err);

/*
 * Can the host program itself read HDF5 and MATLAB files (kspec/host.h)? ks_host_hdf5() lets the host program
 * read the array `key`.
 */
int ks_host_reads_hdf5(void);
kspec_status ks_host_hdf5(const char *path, const char *key, const char *name, ks_array *out,
                          kspec_error *err);

/*
 * Parses a selection from the indices 0 ... n-1. The selection is a list separated by commas, of numbers,
 * inclusive ranges a-b, open ranges a- (to the end), or names if `names` is given. *index is allocated by
 * ks_alloc(). `what` is "row" or "column". An error message names the wrong part and the bound.
 */
kspec_status ks_select_parse(const char *spec, size_t n, char *const *names, const char *what,
                             const char *name, size_t **index, size_t *count, kspec_error *err);
