/* Decides which axis of a file's array holds trials, rows and columns. */
#include "io/read.h"

#include "base/error.h"

#include <string.h>

static const char *const axis_names[3] = {"trials", "rows", "cols"};

kspec_status ks_axes_parse(const char *names, ks_axes *out, kspec_error *err) {
    *out = (ks_axes){0};
    if (!names) return KSPEC_OK;
    int seen[3] = {0};
    for (const char *p = names;; p++) {
        size_t len = strcspn(p, ",");
        int axis = 0;
        while (axis < 3 && !(strlen(axis_names[axis]) == len && strncmp(p, axis_names[axis], len) == 0))
            axis++;
        if (axis == 3)
            return ks_fail(err, KSPEC_E_ARG, "axes '%.80s': '%.*s' must be one of trials, rows, cols", names,
                           (int)(len < 40 ? len : 40), p);
        if (seen[axis]++)
            return ks_fail(err, KSPEC_E_ARG, "axes '%.80s' names %s twice", names, axis_names[axis]);
        out->of[out->count++] = axis;
        p += len;
        if (!*p) break;
    }
    if (out->count < 3 && seen[KS_TRIALS])
        return ks_fail(err, KSPEC_E_ARG,
                       "axes '%.80s': trials are an axis of 3-D arrays, whose other axes are rows and cols",
                       names);
    return KSPEC_OK;
}

static void seen_as(ks_view *v, const ks_array *a, int d, int axis) {
    v->shape[axis] = a->shape[d];
    v->stride[axis] = a->stride[d];
}

/* Usually there are fewer trials than rows or columns. If the first axis is not the shortest, its entries
 * are probably not trials, for example in a file of (neurons, images, repeats), and the results would
 * silently be wrong. */
static kspec_status check_order(const ks_part *part, kspec_error *err) {
    const size_t *shape = part->array.shape;
    int shortest = shape[1] < shape[2] ? 1 : 2;
    if (shape[0] <= shape[shortest]) return KSPEC_OK;
    const char *order = shortest == 1 ? "cols,trials,rows" : "cols,rows,trials";
    ks_fail(err, KSPEC_E_IO,
            "%s is %zu x %zu x %zu, which would mean %zu trials of %zu x %zu; name the axes: %s if axis %d, "
            "the shortest, is repeats (its others features and inputs), trials,rows,cols if it is as it "
            "stands",
            part->name, shape[0], shape[1], shape[2], shape[0], shape[1], shape[2], order, shortest);
    return ks_about(err, "axes", order, KSPEC_E_IO);
}

static kspec_status name_axes(ks_part *part, const ks_axes *axes, kspec_error *err) {
    const ks_array *a = &part->array;
    ks_view *v = &part->view;
    *v = (ks_view){.data = a->data, .shape = {1, 1, 1}};
    if (axes->count && axes->count != a->ndim)
        return ks_fail(err, KSPEC_E_ARG, "axes: %d named, but %s has %d", axes->count, part->name, a->ndim);
    for (int d = 0; d < a->ndim; d++)
        seen_as(v, a, d, axes->count ? axes->of[d] : a->ndim == 1 ? KS_ROWS : d + 3 - a->ndim);
    for (int k = 0; k < 3; k++)
        if (!v->shape[k])
            return ks_fail(err, KSPEC_E_IO, "%s is empty: %zu trials x %zu rows x %zu columns", part->name,
                           v->shape[0], v->shape[1], v->shape[2]);
    if (a->ndim == 3 && !axes->count) return check_order(part, err);
    return KSPEC_OK;
}

kspec_status ks_view_make(ks_part *part, const ks_axes *axes, const char *select_rows,
                          const char *select_cols, kspec_error *err) {
    kspec_status st = name_axes(part, axes, err);
    if (st) return st;
    ks_view *v = &part->view;
    /* The text parser has already selected columns of the file, which may be the rows of this view. */
    int text_axis = axes->count == 2 && axes->of[1] == KS_ROWS ? KS_ROWS : KS_COLS;
    v->origin[text_axis] = part->array.col_index;
    part->array.col_index = NULL;
    if (select_rows && !v->origin[KS_ROWS])
        st = ks_select_parse(select_rows, v->shape[KS_ROWS], NULL, "row", part->name, &v->index[KS_ROWS],
                             &v->shape[KS_ROWS], err);
    if (!st && select_cols && !v->origin[KS_COLS])
        st = ks_select_parse(select_cols, v->shape[KS_COLS],
                             text_axis == KS_COLS ? part->array.col_names : NULL, "column", part->name,
                             &v->index[KS_COLS], &v->shape[KS_COLS], err);
    return st;
}
