/* kspec_read() in one process: reads the array of each input, arranges the arrays as trials x rows x
 * columns, and applies the policy for missing values. */
#include "io/read.h"

#include "base/error.h"
#include "base/matrix.h"
#include "base/memory.h"
#include "io/names.h"

#include <string.h>

static kspec_status check_arguments(const char *const *inputs, size_t count, const kspec_read_opts *opts,
                                    kspec_error *err) {
    if (!inputs || !count) return ks_fail(err, KSPEC_E_ARG, "no input given");
    if ((unsigned)opts->nan > KSPEC_NAN_KEEP)
        return ks_fail(err, KSPEC_E_ARG, "unknown missing-value policy %d", (int)opts->nan);
    kspec_status st = ks_fill_check(opts, err);
    if (st) return st;
    int standard = 0;
    for (size_t k = 0; k < count; k++) {
        if (!inputs[k] || !*inputs[k]) return ks_fail(err, KSPEC_E_ARG, "input %zu has no name", k + 1);
        if (strcmp(inputs[k], "-") == 0 && standard++)
            return ks_fail(err, KSPEC_E_ARG, "standard input (-) is given twice");
    }
    return KSPEC_OK;
}

/* Reads one input. The text parser selects columns of the file while it reads. If the axes are swapped,
 * these columns are the rows of the data set. */
static kspec_status read_part(ks_part *part, const char *input, int stay, const ks_axes *axes,
                              const kspec_read_opts *opts, kspec_error *err) {
    ks_display_name(part->name, input);
    int swapped = axes->count == 2 && axes->of[1] == KS_ROWS;
    const char *select = swapped ? opts->select_rows : opts->select_cols;
    kspec_status st = stay ? ks_borrowed_read(input, part->name, 1, &part->array, err)
                           : ks_input_read(input, select, part->name, &part->array, err);
    if (!st && part->array.is_complex && !opts->complex_pairs)
        st = ks_fail(err, KSPEC_E_IO,
                     "%s: complex numbers are not supported; take the real part or the absolute value first",
                     part->name);
    if (!st) st = ks_view_make(part, axes, opts->select_rows, opts->select_cols, err);
    if (!st && swapped) { /* with swapped axes, the column names of the file belong to rows and are dropped */
        ks_free(part->array.col_names);
        part->array.col_names = NULL;
    }
    return st;
}

/* Checks that all parts have as many rows and columns as the first part, and sets *trials to the total
 * number of trials. */
static kspec_status check_shapes(const ks_part *parts, size_t count, size_t *trials, kspec_error *err) {
    *trials = 0;
    for (size_t k = 0; k < count; k++) {
        const size_t *shape = parts[k].view.shape, *first = parts[0].view.shape;
        if (shape[KS_ROWS] != first[KS_ROWS] || shape[KS_COLS] != first[KS_COLS])
            return ks_fail(err, KSPEC_E_IO, "trial %zu (%s) is %zu x %zu, trial 1 (%s) is %zu x %zu",
                           *trials + 1, parts[k].name, shape[KS_ROWS], shape[KS_COLS], parts[0].name,
                           first[KS_ROWS], first[KS_COLS]);
        *trials = ks_size_add(*trials, shape[KS_TRIALS]);
    }
    return KSPEC_OK;
}

/* Copies the description of the first input's array to the data set, and moves the selected column names
 * to the data set. */
static kspec_status describe(ks_dataset *set, ks_part *part, kspec_error *err) {
    kspec_dataset *d = &set->d;
    ks_array *a = &part->array;
    const size_t *taken = part->view.index[KS_COLS];
    d->has_header = a->has_header;
    set->decimal_commas = a->decimal_commas;
    d->array_dims = a->ndim;
    d->is_complex = a->is_complex;
    for (int k = 0; k < 3; k++) d->array_shape[k] = k < a->ndim ? a->shape[k] : 1;
    if (a->file_cols) d->array_shape[1] = a->file_cols;
    if (a->col_names && taken)
        return ks_names_copy((const char *const *)a->col_names, taken, d->cols, part->name, &d->col_names,
                             err);
    d->col_names = a->col_names;
    a->col_names = NULL;
    return KSPEC_OK;
}

/* Returns 1 if all arrays are borrowed and all entries are selected. Then the library can use the arrays
 * in place. */
static int all_in_place(const ks_part *parts, size_t count) {
    for (size_t k = 0; k < count; k++)
        if (!parts[k].array.is_lent || parts[k].view.index[KS_ROWS] || parts[k].view.index[KS_COLS]) return 0;
    return 1;
}

static kspec_status use_in_place(const ks_part *parts, size_t count, ks_dataset *out, kspec_error *err) {
    kspec_matrix *to = out->trials = ks_alloc(out->d.trials, sizeof *to);
    if (!to) return ks_nomem(err, "the trials", ks_size(out->d.trials, sizeof *to));
    for (size_t k = 0; k < count; k++) {
        const ks_view *v = &parts[k].view;
        for (size_t t = 0; t < v->shape[KS_TRIALS]; t++)
            *to++ = (kspec_matrix){v->data + (ptrdiff_t)t * v->stride[KS_TRIALS], out->d.rows, out->d.cols,
                                   v->stride[KS_ROWS], v->stride[KS_COLS]};
    }
    return KSPEC_OK;
}

static kspec_status copy_all(ks_part *parts, size_t count, const size_t *shape, ks_dataset *out,
                             kspec_error *err) {
    double *data;
    kspec_status st = ks_array_new(&out->storage, 3, shape, &data, parts[0].name, err);
    if (st) return st;
    out->d.data = data;
    for (size_t k = 0; k < count; k++) {
        ks_view_copy(&parts[k].view, data);
        data += parts[k].view.shape[KS_TRIALS] * shape[KS_ROWS] * shape[KS_COLS];
        ks_array_free(&parts[k].array);
    }
    return KSPEC_OK;
}

/*
 * Uses a single dense array in place. If in_place is set, also uses whole borrowed arrays of any layout in
 * place. Otherwise copies all arrays, and frees each array after copying it.
 */
static kspec_status gather(ks_part *parts, size_t count, int in_place, ks_dataset *out, kspec_error *err) {
    size_t trials;
    kspec_status st = check_shapes(parts, count, &trials, err);
    if (st) return st;
    size_t shape[3] = {trials, parts[0].view.shape[KS_ROWS], parts[0].view.shape[KS_COLS]};
    out->d.trials = shape[KS_TRIALS];
    out->d.rows = shape[KS_ROWS];
    out->d.cols = shape[KS_COLS];
    st = describe(out, &parts[0], err);
    if (st) return st;
    if (count == 1 && ks_view_is_dense(&parts[0].view)) {
        out->storage = parts[0].array;
        parts[0].array = (ks_array){0};
        out->d.data = out->storage.data;
        out->d.file = out->storage.storage.path;
        return KSPEC_OK;
    }
    if (in_place && all_in_place(parts, count)) return use_in_place(parts, count, out, err);
    return copy_all(parts, count, shape, out, err);
}

/* Applies the policy. An array that was used in place is copied before the policy changes it or reports a
 * missing value. */
static kspec_status deal_with_missing(ks_part *parts, size_t count, const kspec_read_opts *opts,
                                      ks_dataset *set, kspec_error *err) {
    kspec_dataset *d = &set->d;
    kspec_status st = KSPEC_OK;
    if (set->trials) {
        int filled = 0;
        for (size_t t = 0; t < d->trials; t++) {
            d->missing += ks_missing_count(&set->trials[t]);
            filled |= ks_fill_found(&set->trials[t], opts);
        }
        const int as_it_is =
            opts->nan == KSPEC_NAN_KEEP || (!d->missing && opts->nan != KSPEC_NAN_RAGGED_TRIALS);
        if (!filled && as_it_is) return KSPEC_OK;
        ks_free(set->trials);
        set->trials = NULL;
        const size_t shape[3] = {d->trials, d->rows, d->cols};
        st = copy_all(parts, count, shape, set, err);
    }
    if (!st) st = ks_fill_apply(set, parts->name, opts, err);
    return st ? st : ks_missing_apply(set, parts, opts, err);
}

/* Returns 1 if the inputs may stay in GPU memory, because no option requires reading their numbers. */
static int all_stay(const char *const *inputs, size_t count, const kspec_read_opts *o) {
    if (!o->on_device || !o->in_place || o->select_rows || o->select_cols || o->nan != KSPEC_NAN_ERROR ||
        o->fill_count)
        return 0;
    for (size_t k = 0; k < count; k++)
        if (!ks_is_on_device(inputs[k])) return 0;
    return 1;
}

static kspec_status read_all(const char *const *inputs, size_t count, const ks_axes *axes,
                             const kspec_read_opts *opts, ks_dataset *out, kspec_error *err) {
    ks_part *parts = ks_zalloc(count, sizeof *parts);
    if (!parts) return ks_nomem(err, "the inputs", ks_size(count, sizeof *parts));
    kspec_status st = KSPEC_OK;
    const int stay = all_stay(inputs, count, opts);
    for (size_t k = 0; k < count && !st; k++) st = read_part(&parts[k], inputs[k], stay, axes, opts, err);
    if (!st) st = gather(parts, count, opts->in_place, out, err);
    if (!st && !stay) st = deal_with_missing(parts, count, opts, out, err);
    out->d.memory = stay ? KSPEC_MEMORY_DEVICE : KSPEC_MEMORY_HOST;
    for (size_t k = 0; k < count; k++) {
        ks_view_free(&parts[k].view);
        ks_array_free(&parts[k].array);
    }
    ks_free(parts);
    return st;
}

static void release(void *dataset) {
    ks_dataset *set = dataset;
    ks_array_free(&set->storage);
    ks_free(set->trials);
    ks_free(set->d.row_trials);
    ks_free(set->d.col_names);
}

ks_dataset *ks_dataset_new(void) {
    ks_dataset *set = ks_result_new(sizeof *set);
    if (set) ks_result_owns(set, release);
    return set;
}

kspec_status ks_read(const char *const *inputs, size_t count, const kspec_read_opts *opts,
                     kspec_dataset **out, kspec_error *err) {
    ks_clear(err);
    *out = NULL;
    kspec_read_opts o;
    ks_axes axes;
    kspec_status st = ks_take_opts(&o, sizeof o, opts, err);
    if (!st) st = check_arguments(inputs, count, &o, err);
    if (!st) st = ks_axes_parse(o.axes, &axes, err);
    if (st) return st;
    ks_dataset *set = ks_dataset_new();
    if (!set) return ks_nomem(err, "the data set", sizeof *set);
    st = read_all(inputs, count, &axes, &o, set, err);
    return ks_hand_over(st, &set->d, out);
}

kspec_matrix kspec_dataset_trial(const kspec_dataset *d, size_t t) {
    if (!d || t >= d->trials) return (kspec_matrix){0};
    const ks_dataset *set = (const ks_dataset *)d;
    if (set->trials) return set->trials[t];
    return ks_matrix_of(d->data + t * d->rows * d->cols, d->rows, d->cols);
}
