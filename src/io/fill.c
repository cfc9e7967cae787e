/* Replaces values that stand for missing ones by NaN, before the policy for missing values applies. */
#include "io/read.h"

#include "base/error.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* Returns 1 if x is the fill value, possibly rounded to float32 or printed with six digits or more. */
static int means(double x, double value) {
    enum { HUGE_VALUE = 1000000000 };
    return x == value || (float)x == (float)value ||
           (fabs(value) > HUGE_VALUE && fabs(x - value) <= 1e-5 * fabs(value));
}

static int is_fill(double x, const kspec_read_opts *o) {
    for (size_t k = 0; k < o->fill_count; k++)
        if (means(x, o->fill[k])) return 1;
    return 0;
}

kspec_status ks_fill_check(const kspec_read_opts *o, kspec_error *err) {
    if (o->fill_count && !o->fill)
        return ks_fail(err, KSPEC_E_ARG, "fill is NULL, fill_count %zu", o->fill_count);
    for (size_t k = 0; k < o->fill_count; k++)
        if (isnan(o->fill[k])) return ks_fail(err, KSPEC_E_ARG, "fill is NaN, which is missing already");
    return KSPEC_OK;
}

int ks_fill_found(const kspec_matrix *m, const kspec_read_opts *o) {
    for (size_t i = 0; i < m->rows && o->fill_count; i++)
        for (size_t j = 0; j < m->cols; j++)
            if (is_fill(m->data[(ptrdiff_t)i * m->row_stride + (ptrdiff_t)j * m->col_stride], o)) return 1;
    return 0;
}

void ks_fill_entries(double *x, size_t count, const kspec_read_opts *o) {
    for (size_t k = 0; k < count && o->fill_count; k++)
        if (is_fill(x[k], o)) x[k] = NAN;
}

kspec_status ks_fill_apply(ks_dataset *set, const char *name, const kspec_read_opts *o, kspec_error *err) {
    kspec_dataset *d = &set->d;
    const size_t shape[3] = {d->trials, d->rows, d->cols}, n = d->trials * d->rows * d->cols;
    /* the data must be in the library's memory, since a mapped file cannot be changed */
    double *y = set->storage.storage.heap ? (double *)d->data : NULL;
    const kspec_matrix all = {d->data, 1, n, 0, 1};
    if (!ks_fill_found(&all, o)) return KSPEC_OK;
    if (!y) {
        ks_array fresh = {0};
        kspec_status st = ks_array_new(&fresh, 3, shape, &y, name, err);
        if (st) return st;
        memcpy(y, d->data, n * sizeof *y);
        ks_array_free(&set->storage);
        set->storage = fresh;
        d->data = y, d->file = NULL;
    }
    ks_fill_entries(y, n, o);
    return KSPEC_OK;
}
