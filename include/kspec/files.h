/* Part of kspec.h: reading matrices. */
#ifndef KSPEC_FILES_H
#define KSPEC_FILES_H

#include "kspec/doubt.h"

KSPEC_BEGIN_DECLS

/* ------------------------------------------------------------ reading files */

/* What is done with missing values (NaN, and in text empty fields, NA, N/A, ?, null). */
typedef enum {
    KSPEC_NAN_ERROR = 0, /* an error that names the first one's row and column */
    KSPEC_NAN_OMIT_ROWS, /* leave out every row that misses a value in some trial */
    KSPEC_NAN_OMIT_COLS, /* the same for columns */
    /* a trial that is all missing for a row is a repeat that was not made; each row needs at least 2 */
    KSPEC_NAN_RAGGED_TRIALS,
    KSPEC_NAN_KEEP /* leave NaN in the data */
} kspec_nan;

typedef struct {
    size_t size;
    /* Names of the array's axes, in the file's order: a permutation of "trials,rows,cols" (the default) where
     * there are three, of "rows,cols" where there are two. */
    const char *axes;
    /* Numbers and ranges from 0, such as "0-10,13"; "20-" goes to the end, and what follows an exclamation
     * mark is left out: "!3" is all but 3. NULL: all. */
    const char *select_rows;
    const char *select_cols; /* the same, or names from a text file's header */
    kspec_nan nan;
    /* 1: a NumPy vector of complex numbers is two columns, real and imaginary. 0: it is an error. */
    int complex_pairs;
    /* 1: borrowed arrays (kspec/host.h) are used in place, whatever their strides: `data` of the data
     * set may then be NULL, and kspec_dataset_trial() gives the trials. 0: copied unless row-major. */
    int in_place;
    /* The processes that read together: .npy, HDF5 and MATLAB files are read by each of them, others by rank
     * 0, which sends the data set. NULL: this one alone. kspec_read_labels() does not look at it. */
    kspec_team *team;
    /* 1: arrays borrowed from the memory of a GPU (kspec/host.h) stay on it, `memory` of the data set
     * says so, and nothing looks for missing values in them. That is so with in_place where all inputs are
     * such arrays, all of their rows and columns are taken, and `nan` is KSPEC_NAN_ERROR; otherwise, and with
     * 0, they are copied to the host. */
    int on_device;
    /* fill_count values that mean missing, such as -999; `nan` says what happens to them. A value counts in
     * the form that float32 gives it, too. */
    const double *fill;
    size_t fill_count;
} kspec_read_opts;

typedef struct {
    size_t trials, rows, cols;
    /* trials x rows x cols, row-major: entry (t,i,j) is data[(t*rows + i)*cols + j]; see in_place. */
    const double *data;
    /* KSPEC_NAN_RAGGED_TRIALS: how many trials row i has, moved to the front. Otherwise NULL. */
    size_t *row_trials;
    char **col_names; /* `cols` names from a text file's header, or of a borrowed array. Otherwise NULL. */
    int has_header;   /* 1: the input is a text file whose first line is a header */
    /* The array in the file, before axes were named and rows or columns selected: 1, 2 or 3 axes and their
     * lengths (beyond array_dims: 1). Images of an idx file count as rows. Of several inputs, the first. */
    int array_dims;
    size_t array_shape[3];
    /* Missing values in the selected rows and columns of all trials, before any were left out. */
    size_t missing;
    size_t omitted_rows, omitted_cols; /* rows and columns left out for missing values */
    kspec_memory memory; /* where `data` and the trials are: on a GPU only where `on_device` asked for it */
    /* an index, a time or a trial among the columns, trials that are none: see kspec/doubt.h */
    size_t doubt_count;
    kspec_doubt **doubts;
    int is_complex;   /* 1: a vector of complex numbers that is two columns (complex_pairs) */
    const char *file; /* the file that `data` is mapped from, and changes with; NULL: it is a copy */
} kspec_dataset;

/*
 * Reads a matrix, or several trials of one, from files:
 *
 *     x.npy            NumPy: f2 f4 f8, all integers, bool, either byte and memory order, 1 to 3 axes
 *     x.npz:key        a member of a NumPy archive; the key may be left out where there is just one
 *     x.npz            a sparse matrix as SciPy saves it (CSR or CSC)
 *     x.h5:/path       an HDF5 data set, or a group that is a sparse matrix; the path likewise
 *     x.mat:name       a MATLAB variable (v5, v7, v7.3), in MATLAB's orientation; the name likewise; of
 *                      structs a field, s.x or s(2).x; cells of one shape are trials, c{3} is one of them
 *     idx1/2/3         MNIST's format, plain or gzipped; images read as rows x pixels
 *     text             anything else: comma, tab, semicolon or blanks, header or not; told by content
 *     -                npy or text on standard input
 *
 * A 1-D array is one column. A 3-D array is (trials, rows, columns); several inputs of one shape are trials,
 * too. A 3-D array whose first axis is not the shortest is refused unless `axes` is given, since it is
 * probably in another order. Text and npy may be gzipped. Sparse matrices become full ones. Large row-major
 * f8 .npy files are mapped, not copied. HDF5 and MATLAB files are parsed in a separate process (kspec-hdf5),
 * so that a file that crashes those libraries is an error, not a crash. Where the kernel has seccomp, that
 * process can open nothing once it parses.
 */
KSPEC_API kspec_status kspec_read(const char *const *inputs, size_t count, const kspec_read_opts *opts,
                                  kspec_dataset **out, kspec_error *err);
KSPEC_API void kspec_dataset_free(kspec_dataset *d);

/*
 * One matrix in blocks of so many rows (0: 16 MB of them), for what passes over it once, such as an
 * accumulator: several inputs are more rows of it. .npy and plain text are read block by block, of any size;
 * a file of another kind, gzipped or from standard input is read whole when its turn comes. Rows cannot be
 * selected; missing values are an error, or stay in the block with `nan` KSPEC_NAN_OMIT_ROWS.
 */
typedef struct kspec_blocks kspec_blocks;
KSPEC_API kspec_status kspec_blocks_open(const char *const *inputs, size_t count, const kspec_read_opts *opts,
                                         size_t rows, kspec_blocks **out, kspec_error *err);

/* The next block, which is there until the call after; at the end one of 0 rows. *fraction: what has been
 * read, or NULL */
KSPEC_API kspec_status kspec_blocks_next(kspec_blocks *b, kspec_matrix *block, double *fraction,
                                         kspec_error *err);
KSPEC_API void kspec_blocks_close(kspec_blocks *b);

/* Labels of rows or columns, such as the document that each row comes from: words or numbers, of which only
 * equality matters. */
typedef struct {
    size_t count;
    size_t groups;          /* how many different ones there are */
    uint64_t *of;           /* count numbers, 0 ... groups-1 in order of first appearance */
    size_t column, columns; /* select_cols: which column of how many the labels are in; otherwise 0 of 1 */
} kspec_labels;

/*
 * Reads labels: one a line of a text file (a first line that is a word before nothing but numbers is a
 * header; blank lines do not count), or a vector or column of numbers of any other kind of file. With
 * select_cols they are a column of a table, by name or number; select_rows takes some of the rows. With a
 * team rank 0 reads them for all. The other options are ignored. A missing label is KSPEC_E_IO.
 */
KSPEC_API kspec_status kspec_read_labels(const char *input, const kspec_read_opts *opts, kspec_labels **out,
                                         kspec_error *err);
KSPEC_API void kspec_labels_free(kspec_labels *labels);

/* A view of trial t < trials of a data set. */
KSPEC_API kspec_matrix kspec_dataset_trial(const kspec_dataset *d, size_t t);

KSPEC_END_DECLS
#endif
