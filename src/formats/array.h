/*
 * The bytes of a file, and the array that a format's parser finds in them.
 * Parsers work on memory alone, so that they can be fuzzed.
 */
#pragma once

#include "kspec/files.h"

#include <sys/stat.h>

/* Bytes of a file: mapped where it is a regular file, read into memory otherwise. */
typedef struct {
    const unsigned char *data;
    size_t size;
    /* munmap(map, map_size) unless NULL */
    void *map;
    size_t map_size;
    /* ks_free(heap) unless NULL */
    void *heap;
    /* of a mapped file: its name, ks_free(path), and what it was when it was opened */
    char *path;
    struct stat seen;
} ks_bytes;

/* "-" is standard input. A file that changes while it is read into memory is an error. */
kspec_status ks_bytes_open(ks_bytes *b, const char *path, kspec_error *err);
void ks_bytes_close(ks_bytes *b);

/* Has a mapped file changed since? One that was replaced by another is still there as it was. */
kspec_status ks_bytes_check(const ks_bytes *b, kspec_error *err);

/* This thread's host: are files read into memory, never mapped? And who is asked while a pipe, or a program
 * that reads, is waited for; whoever waits asks ten times a second. */
void ks_bytes_host(int copies, kspec_progress waiting);
kspec_status ks_bytes_waits(kspec_error *err);

/*
 * An array of 1 to 3 axes as it stands in the file; entry (i,j,k) is data[i*stride[0] + j*stride[1] + ...].
 */
typedef struct {
    int ndim;
    size_t shape[3];
    /* in doubles */
    ptrdiff_t stride[3];
    const double *data;
    /* two columns that are the real and imaginary parts of a complex vector */
    int is_complex;
    /* text with a header: shape[1] strings in one allocation, ks_free(col_names); or NULL */
    int has_header;
    /* text: the commas between columns may be decimal commas */
    int decimal_commas;
    char **col_names;
    /* text, which selects its columns itself: the ones selected, or NULL; and how many the file has */
    size_t *col_index, file_cols;
    /* what data points into; nothing for an array that was lent */
    int is_lent;
    ks_bytes storage;
} ks_array;

void ks_array_free(ks_array *a);

/* A row-major array in fresh memory; the caller fills *data. Checks the product of the shape. */
kspec_status ks_array_new(ks_array *a, int ndim, const size_t *shape, double **data, const char *name,
                          kspec_error *err);

/*
 * The parsers. `name` is the input as messages say it. A parser either copies what it needs into fresh memory
 * or, where the bytes can be used in place (npy: little-endian f8, 8-byte aligned), moves *bytes into
 * out->storage and clears *bytes. On failure *out is empty and *bytes still the caller's.
 */
kspec_status ks_npy_parse(ks_bytes *bytes, const char *name, ks_array *out, kspec_error *err);
kspec_status ks_npz_parse(ks_bytes *bytes, const char *key, const char *name, ks_array *out,
                          kspec_error *err);
kspec_status ks_idx_parse(ks_bytes *bytes, const char *name, ks_array *out, kspec_error *err);
kspec_status ks_text_parse(ks_bytes *bytes, const char *select_cols, const char *name, ks_array *out,
                           kspec_error *err);

/*
 * Do the first bytes look like this format? idx may be gzipped; MATLAB v7.3 is HDF5 behind a 512-byte header,
 * mat is v5 to v7. Whatever matches none of them is text.
 */
int ks_npy_match(const ks_bytes *b);
int ks_npz_match(const ks_bytes *b);
int ks_idx_match(const ks_bytes *b);
int ks_hdf5_match(const ks_bytes *b);
int ks_mat_match(const ks_bytes *b);

/* Is the program that the next call runs installed? */
int ks_hdf5_can_read(void);

/* Has the child process read `key` ("" for the only one) of the HDF5 or MATLAB file at path. */
kspec_status ks_hdf5_read(const char *path, const char *key, int matlab, const char *name, ks_array *out,
                          kspec_error *err);

/*
 * Was an array of this name lent to this thread, and is it on a GPU? And the array itself, with a copy of its
 * names: in the host's memory, unless it may stay where it is.
 */
int ks_is_borrowed(const char *input);
int ks_is_on_device(const char *input);
kspec_status ks_borrowed_read(const char *input, const char *name, int stay, ks_array *out, kspec_error *err);

/* Can the host read HDF5 and MATLAB files (kspec/host.h), and the array `key` of one by the host */
int ks_host_reads_hdf5(void);
kspec_status ks_host_hdf5(const char *path, const char *key, const char *name, ks_array *out,
                          kspec_error *err);

/*
 * Picks indices from 0 ... n-1: numbers, ranges a-b (inclusive) and a- (to the end), or names where `names`
 * is given, separated by commas. *index is ks_alloc'd. `what` is "row" or "column". Fails with the offending
 * part and the bound.
 */
kspec_status ks_select_parse(const char *spec, size_t n, char *const *names, const char *what,
                             const char *name, size_t **index, size_t *count, kspec_error *err);
