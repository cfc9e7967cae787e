/* kspec_read(): inputs to arrays, arrays to trials x rows x columns, missing values as asked. */
#include "io/read.h"

#include "base/error.h"
#include "base/memory.h"

#include <string.h>

static kspec_status check_arguments(const char *const *inputs, size_t count, const kspec_read_opts *opts,
                                    kspec_error *err) {
    if (!inputs || !count) return ks_fail(err, KSPEC_E_ARG, "no input given");
    if ((unsigned)opts->nan > KSPEC_NAN_KEEP)
        return ks_fail(err, KSPEC_E_ARG, "missing-value policy %d is not one of 0 to %d", (int)opts->nan,
                       (int)KSPEC_NAN_KEEP);
    int standard = 0;
    for (size_t k = 0; k < count; k++) {
        if (!inputs[k] || !*inputs[k]) return ks_fail(err, KSPEC_E_ARG, "input %zu has no name", k + 1);
        if (strcmp(inputs[k], "-") == 0 && standard++)
            return ks_fail(err, KSPEC_E_ARG, "standard input (-) is given twice");
    }
    return KSPEC_OK;
}

/* Text selects its columns while it reads them; they are the data set's rows where the axes say so. */
static kspec_status read_part(ks_part *part, const char *input, const ks_axes *axes,
                              const kspec_read_opts *opts, kspec_error *err) {
    ks_display_name(part->name, input);
    int swapped = axes->count == 2 && axes->of[1] == KS_ROWS;
    const char *select = swapped ? opts->select_rows : opts->select_cols;
    kspec_status st = ks_input_read(input, select, part->name, &part->array, err);
    if (!st && part->array.is_complex && !opts->complex_pairs)
        st = ks_fail(err, KSPEC_E_IO,
                     "%s: complex numbers are not supported; take the real part or the absolute value first",
                     part->name);
    if (!st) st = ks_view_make(part, axes, opts->select_rows, opts->select_cols, err);
    if (!st && swapped) { /* the names are those of rows */
        ks_free(part->array.col_names);
        part->array.col_names = NULL;
    }
    return st;
}

/* All parts have the first one's rows and columns; *trials is how many there are together. */
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

/* One array that is laid out as wanted is used where it lies; otherwise all are copied, and freed as they
 * are. */
static kspec_status gather(ks_part *parts, size_t count, kspec_dataset *out, kspec_error *err) {
    size_t trials;
    kspec_status st = check_shapes(parts, count, &trials, err);
    if (st) return st;
    size_t shape[3] = {trials, parts[0].view.shape[KS_ROWS], parts[0].view.shape[KS_COLS]};
    ks_array *storage = ks_zalloc(1, sizeof *storage);
    if (!storage) return ks_nomem(err, "data set", sizeof *storage);
    out->storage = storage;
    out->trials = shape[KS_TRIALS];
    out->rows = shape[KS_ROWS];
    out->cols = shape[KS_COLS];
    out->array_dims = parts[0].array.ndim;
    out->col_names = parts[0].array.col_names;
    parts[0].array.col_names = NULL;
    if (count == 1 && ks_view_is_dense(&parts[0].view)) {
        *storage = parts[0].array;
        parts[0].array = (ks_array){0};
        out->data = storage->data;
        return KSPEC_OK;
    }
    double *data;
    st = ks_array_new(storage, 3, shape, &data, parts[0].name, err);
    if (st) return st;
    out->data = data;
    for (size_t k = 0; k < count; k++) {
        ks_view_copy(&parts[k].view, data);
        data += parts[k].view.shape[KS_TRIALS] * shape[KS_ROWS] * shape[KS_COLS];
        ks_array_free(&parts[k].array);
    }
    return KSPEC_OK;
}

kspec_status kspec_read(const char *const *inputs, size_t count, const kspec_read_opts *opts,
                        kspec_dataset *out, kspec_error *err) {
    ks_clear(err);
    if (!out) return ks_fail(err, KSPEC_E_ARG, "no place for the data set given");
    *out = (kspec_dataset){0};
    kspec_read_opts o;
    ks_axes axes;
    kspec_status st = ks_take_opts(&o, sizeof o, opts, err);
    if (!st) st = check_arguments(inputs, count, &o, err);
    if (!st) st = ks_axes_parse(o.axes, &axes, err);
    if (st) return st;

    ks_part *parts = ks_zalloc(count, sizeof *parts);
    if (!parts) return ks_nomem(err, "inputs", ks_size(count, sizeof *parts));
    for (size_t k = 0; k < count && !st; k++) st = read_part(&parts[k], inputs[k], &axes, &o, err);
    if (!st) st = gather(parts, count, out, err);
    if (!st) st = ks_missing_apply(out, parts, &o, err);
    for (size_t k = 0; k < count; k++) {
        ks_view_free(&parts[k].view);
        ks_array_free(&parts[k].array);
    }
    ks_free(parts);
    if (st) kspec_dataset_free(out);
    return st;
}

void kspec_dataset_free(kspec_dataset *d) {
    if (!d) return;
    if (d->storage) ks_array_free(d->storage);
    ks_free(d->storage);
    ks_free(d->row_trials);
    ks_free(d->col_names);
    *d = (kspec_dataset){0};
}

kspec_matrix kspec_dataset_trial(const kspec_dataset *d, size_t t) {
    return (kspec_matrix){d->data + t * d->rows * d->cols, d->rows, d->cols, (ptrdiff_t)d->cols, 1};
}
