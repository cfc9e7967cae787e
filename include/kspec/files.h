/* Part of kspec.h: reading matrices. */
#ifndef KSPEC_FILES_H
#define KSPEC_FILES_H
#include "kspec/doubt.h"

/* How to treat missing values (NaN, and in text empty fields, NA, N/A, ?, null). */
typedef enum {
    KSPEC_NAN_ERROR = 0,     /* fail, and name the row and column of the first missing value */
    KSPEC_NAN_OMIT_ROWS,     /* omit every row with a missing value in some trial */
    KSPEC_NAN_OMIT_COLS,     /* omit such columns */
    KSPEC_NAN_RAGGED_TRIALS, /* a row has the trials in which it has values, at least 2 */
    KSPEC_NAN_KEEP           /* leave NaN in the data */
} kspec_nan;

typedef struct {
    size_t size;
    const char *axes; /* the array's axes, in the file's order; default "trials,rows,cols" or "rows,cols" */
    /* Numbers and ranges from 0, such as "0-10,13", and for columns names from a header. "20-" goes to the
     * end; an exclamation mark excludes: "!3" is all but 3. NULL: all. */
    const char *select_rows, *select_cols;
    kspec_nan nan;
    int complex_pairs; /* 1: read a NumPy vector of complex numbers as two columns. 0: refuse it. */
    /* 1: use borrowed arrays (kspec/host.h) in place, with any strides: `data` of the data set may then be
     * NULL, and kspec_dataset_trial() gives the trials. 0: copy them unless row-major. */
    int in_place;
    /* Each process reads .npy, HDF5 and MATLAB files itself; rank 0 reads other files and sends them. */
    kspec_team *team;
    /* 1: borrowed arrays in GPU memory stay there (`memory` of the data set), and are not searched for
     * missing values. Needs in_place, all inputs on the GPU, no selection, and `nan` KSPEC_NAN_ERROR;
     * otherwise the call copies them to the host. */
    int on_device;
    /* fill_count values that mean missing, such as -999, also as float32; `nan` applies to them. */
    const double *fill;
    size_t fill_count;
} kspec_read_opts;

typedef struct {
    size_t trials, rows, cols;
    const double *data; /* row-major: entry (t,i,j) is data[(t*rows + i)*cols + j]; see in_place */
    size_t *row_trials; /* KSPEC_NAN_RAGGED_TRIALS: the number of trials of row i, moved to the front */
    char **col_names;   /* `cols` names from a text file's header, or of a borrowed array; or NULL */
    int has_header;     /* 1: the input is a text file whose first line is a header */
    /* The array in the file, before naming axes and selecting rows or columns: 1, 2 or 3 axes and their
     * lengths (beyond array_dims: 1). Images of an idx file count as rows. For several inputs, the first. */
    int array_dims;
    size_t array_shape[3];
    size_t missing, omitted_rows, omitted_cols; /* missing values of all trials; rows and columns omitted */
    kspec_memory memory; /* of `data` and the trials; GPU memory only if `on_device` is 1 */
    size_t doubt_count;  /* such as an index or a time among the columns, or unrelated trials */
    kspec_doubt **doubts;
    int is_complex;   /* 1: the two columns are a vector of complex numbers (complex_pairs) */
    const char *file; /* the file that `data` maps, and changes with; NULL: `data` is a copy */
} kspec_dataset;

/* Reads a matrix, or several trials of one, from files:
 *
 *     x.npy            NumPy: f2 f4 f8, all integers, bool, either byte and memory order, 1 to 3 axes
 *     x.npz:key        a member of a NumPy archive; omit the key if the archive has only one
 *     x.npz            a sparse matrix as SciPy saves it (CSR or CSC)
 *     x.h5:/path       an HDF5 data set, or a group that is a sparse matrix; omit the path if the
 *                      file has only one
 *     x.mat:name       a MATLAB variable (v5, v7, v7.3), in MATLAB's orientation; omit the name if the
 *                      file has only one. s.x and s(2).x are fields of structs. A cell array whose cells
 *                      have one shape is a list of trials; c{3} is one of them
 *     idx1/2/3         MNIST's format, plain or gzipped; images read as rows x pixels
 *     text             anything else: comma, tab, semicolon or blanks, with or without a header (detected)
 *     -                npy or text on standard input
 *
 * A 1-D array is one column. A 3-D array is (trials, rows, columns); several inputs of one shape are also
 * trials. A 3-D array whose first axis is not the shortest is probably in another order; kspec rejects it
 * unless `axes` is given. Text and npy may be gzipped. Sparse matrices become full ones. Large row-major f8
 * .npy files are mapped, not copied. A separate process (kspec-hdf5) parses HDF5 and MATLAB files, so that a
 * file that crashes their libraries is an error; with seccomp it cannot open any file while it parses. */
KSPEC_API kspec_status kspec_read(const char *const *inputs, size_t count, const kspec_read_opts *opts,
                                  kspec_dataset **out, kspec_error *err);

/* Labels of rows or columns, such as the document of each row: words or numbers, only tested for equality. */
typedef struct {
    size_t count, groups;   /* groups: the number of different labels */
    uint64_t *of;           /* count numbers, 0 ... groups-1 in order of first appearance */
    size_t column, columns; /* with select_cols, the column of the labels and the number of columns */
} kspec_labels;

/* Reads labels: one a line of a text file (blank lines do not count, a first line with a word before nothing
 * but numbers is a header), or a vector or column of numbers from any other kind of file; with select_cols a
 * column of a table, by name or number; with select_rows some of the rows. Other options have no effect. In a
 * team, rank 0 reads for all. A missing label is KSPEC_E_IO. */
KSPEC_API kspec_status kspec_read_labels(const char *input, const kspec_read_opts *opts, kspec_labels **out,
                                         kspec_error *err);

/* A view of trial t < trials of a data set */
KSPEC_API kspec_matrix kspec_dataset_trial(const kspec_dataset *d, size_t t);
#endif
