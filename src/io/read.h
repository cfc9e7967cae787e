/* The stages of kspec_read(): an input's array, its axes named, its entries gathered, its gaps dealt with. */
#pragma once

#include "base/memory.h"
#include "formats/array.h"
#include "formats/printable.h"

enum { KS_TRIALS, KS_ROWS, KS_COLS }; /* the axes of a data set, in its order */

/* Names for the axes of a file: axis d is of[d]. count = 0: none given. */
typedef struct {
    int count;
    int of[3];
} ks_axes;

/*
 * An array seen as trials x rows x cols; index[k], where not NULL, lists the entries taken along axis k. A
 * selection that the parser has made is in origin[k], and messages alone have a use for it.
 */
typedef struct {
    const double *data;
    /* of the part taken */
    size_t shape[3];
    ptrdiff_t stride[3];
    size_t *index[3], *origin[3];
} ks_view;

/* One of the inputs. */
typedef struct {
    /* as messages say it */
    ks_name name;
    ks_array array;
    ks_view view;
} ks_part;

/* A data set, and behind it what owns its data. */
typedef struct {
    kspec_dataset d;
    ks_array storage;
    /* the trials where lent arrays are used in place, and d.data is NULL; otherwise NULL */
    kspec_matrix *trials;
    /* of text: the commas between columns may be decimal commas */
    int decimal_commas;
    /* of the doubts */
    ks_arena arena;
} ks_dataset;

/* Adds what is doubtful about a data set, read from these inputs; o may be NULL. */
kspec_status ks_dataset_doubt(kspec_dataset *d, const char *const *paths, size_t count,
                              const kspec_read_opts *o, kspec_error *err);

/* kspec_read() in one process */
kspec_status ks_read(const char *const *inputs, size_t count, const kspec_read_opts *opts,
                     kspec_dataset **out, kspec_error *err);

/* kspec_read_labels() in one process; labels to be filled */
kspec_status ks_read_labels(const char *input, const kspec_read_opts *o, kspec_labels **out,
                            kspec_error *err);
kspec_status ks_labels_new(size_t count, kspec_labels **out, kspec_error *err);

/* Reads the array that an input ("x.npz:key") names. Text takes the selection of its columns itself. */
kspec_status ks_input_read(const char *input, const char *select_cols, const char *name, ks_array *out,
                           kspec_error *err);

/* Checks names such as "cols,rows,trials"; NULL names none. */
kspec_status ks_axes_parse(const char *names, ks_axes *out, kspec_error *err);

/* Sees the part's array by the axes named, or by the default; takes the selected rows and columns. */
kspec_status ks_view_make(ks_part *part, const ks_axes *axes, const char *select_rows,
                          const char *select_cols, kspec_error *err);
void ks_view_free(ks_view *v); /* frees the indices */

/* Entry i along an axis of the view is this one of the file. */
size_t ks_view_origin(const ks_view *v, int axis, size_t i);

/* Is the view's data already a contiguous row-major trials x rows x cols array? */
int ks_view_is_dense(const ks_view *v);

/* Writes the view to dst as such an array. */
void ks_view_copy(const ks_view *v, double *dst);

/* How many entries of a matrix are missing, whatever its memory order. */
size_t ks_missing_count(const kspec_matrix *m);

/* Values that mean missing (opts->fill): are they numbers, are there any, and NaN in their place. */
kspec_status ks_fill_check(const kspec_read_opts *opts, kspec_error *err);
int ks_fill_found(const kspec_matrix *m, const kspec_read_opts *opts);
void ks_fill_entries(double *x, size_t count, const kspec_read_opts *opts);
kspec_status ks_fill_apply(ks_dataset *set, const char *name, const kspec_read_opts *opts, kspec_error *err);

/*
 * Counts the missing values and deals with them by the policy. The storage is changed in place where it is
 * our own memory, and replaced by a copy where it is a file's. Messages name the parts.
 */
kspec_status ks_missing_apply(ks_dataset *set, const ks_part *parts, const kspec_read_opts *opts,
                              kspec_error *err);
