/* Declares the stages of kspec_read(), which reads the array of each input, names the axes, copies the
 * selected entries and handles missing values. */
#pragma once

#include "base/result.h"
#include "formats/array.h"
#include "formats/printable.h"

enum { KS_TRIALS, KS_ROWS, KS_COLS }; /* The axes of a data set, in the order of memory. */

/* The names of a file's axes: axis d of the file is of[d]. count is 0 if the user gave no names. */
typedef struct {
    int count;
    int of[3];
} ks_axes;

/*
 * An array seen as trials x rows x cols. index[k], if not NULL, lists the selected entries of axis k. If the
 * parser has already selected entries, origin[k] lists them, for messages only.
 */
typedef struct {
    const double *data;
    /* of the selection */
    size_t shape[3];
    ptrdiff_t stride[3];
    size_t *index[3], *origin[3];
} ks_view;

/* One input file and the array that was read from the file. */
typedef struct {
    /* the name of the input in messages */
    ks_name name;
    ks_array array;
    ks_view view;
} ks_part;

/* A data set, followed by the memory that owns its data. */
typedef struct {
    kspec_dataset d;
    ks_array storage;
    /* the trials, if arrays of the caller are used in place (then d.data is NULL); otherwise NULL */
    kspec_matrix *trials;
    /* 1 for a text whose commas between columns may be decimal commas */
    int decimal_commas;
} ks_dataset;

/* Returns an empty data set, which kspec_free() frees, or NULL if memory is out. */
ks_dataset *ks_dataset_new(void);

/* Adds the doubts about a data set that was read from these inputs. `o` may be NULL. */
kspec_status ks_dataset_doubt(kspec_dataset *d, const char *const *paths, size_t count,
                              const kspec_read_opts *o, kspec_error *err);

/* Does the work of kspec_read() in one process. */
kspec_status ks_read(const char *const *inputs, size_t count, const kspec_read_opts *opts,
                     kspec_dataset **out, kspec_error *err);

/* Does the work of kspec_read_labels() in one process. The caller provides `labels`. */
kspec_status ks_read_labels(const char *input, const kspec_read_opts *o, kspec_labels **out,
                            kspec_error *err);
kspec_status ks_labels_new(size_t count, kspec_labels **out, kspec_error *err);

/*
 * Reads the array that an input ("x.npz:key") names. The text parser applies the selection of columns itself.
 */
kspec_status ks_input_read(const char *input, const char *select_cols, const char *name, ks_array *out,
                           kspec_error *err);

/* Checks names such as "cols,rows,trials"; NULL names none. */
kspec_status ks_axes_parse(const char *names, ks_axes *out, kspec_error *err);

/* Gives the part's array the named axes, or the default ones, and selects rows and columns. */
kspec_status ks_view_make(ks_part *part, const ks_axes *axes, const char *select_rows,
                          const char *select_cols, kspec_error *err);
void ks_view_free(ks_view *v); /* frees the indices */

/* Returns the number that entry i along an axis of the view has in the file. */
size_t ks_view_origin(const ks_view *v, int axis, size_t i);

/* Returns 1 if the view's data are already a contiguous row-major array of trials x rows x cols. */
int ks_view_is_dense(const ks_view *v);

/* Writes the view to dst as a contiguous row-major array. */
void ks_view_copy(const ks_view *v, double *dst);

/* Returns the number of missing entries of a matrix in any memory order. */
size_t ks_missing_count(const kspec_matrix *m);

/* These three functions handle the fill values (opts->fill), which stand for missing values. They check
 * that the fill values are numbers, tell whether any are given, and replace them in the data by NaN. */
kspec_status ks_fill_check(const kspec_read_opts *opts, kspec_error *err);
int ks_fill_found(const kspec_matrix *m, const kspec_read_opts *opts);
void ks_fill_entries(double *x, size_t count, const kspec_read_opts *opts);
kspec_status ks_fill_apply(ks_dataset *set, const char *name, const kspec_read_opts *opts, kspec_error *err);

/* Counts the missing values and applies the policy to them. Storage that the library owns is changed in
 * place; a mapped file is replaced by a copy. Messages name the input files, which are the parts. */
kspec_status ks_missing_apply(ks_dataset *set, const ks_part *parts, const kspec_read_opts *opts,
                              kspec_error *err);
