/* Copies an array of any memory order into a row-major one. */
#include "io/read.h"

#include "base/memory.h"

#include <string.h>

/* Source and destination have different memory orders. With tiles of 8 x 32 x 32 the cache lines of both
 * fit in the cache. */
static const size_t tile[3] = {8, 32, 32};

void ks_view_free(ks_view *v) {
    for (int k = 0; k < 3; k++) {
        ks_free(v->index[k]);
        ks_free(v->origin[k]);
    }
    *v = (ks_view){0};
}

size_t ks_view_origin(const ks_view *v, int axis, size_t i) {
    return v->index[axis] ? v->index[axis][i] : v->origin[axis] ? v->origin[axis][i] : i;
}

int ks_view_is_dense(const ks_view *v) {
    size_t step = 1;
    for (int k = 2; k >= 0; k--) {
        if (v->index[k] || (v->shape[k] > 1 && v->stride[k] != (ptrdiff_t)step)) return 0;
        step *= v->shape[k];
    }
    return 1;
}

static inline const double *at(const ks_view *v, int axis, const double *p, size_t i) {
    return p + (ptrdiff_t)(v->index[axis] ? v->index[axis][i] : i) * v->stride[axis];
}

static size_t least(size_t a, size_t b) { return a < b ? a : b; }

static void copy_tile(const ks_view *v, double *dst, size_t t0, size_t i0, size_t j0) {
    size_t rows = v->shape[1], cols = v->shape[2];
    size_t t1 = least(t0 + tile[0], v->shape[0]), i1 = least(i0 + tile[1], rows),
           j1 = least(j0 + tile[2], cols);
    for (size_t t = t0; t < t1; t++)
        for (size_t i = i0; i < i1; i++) {
            const double *src = at(v, KS_ROWS, at(v, KS_TRIALS, v->data, t), i);
            double *to = dst + (t * rows + i) * cols;
            for (size_t j = j0; j < j1; j++) to[j] = *at(v, KS_COLS, src, j);
        }
}

void ks_view_copy(const ks_view *v, double *dst) {
    size_t trials = v->shape[0], rows = v->shape[1], cols = v->shape[2];
    if (v->stride[KS_COLS] == 1 && !v->index[KS_COLS]) { /* whole rows */
        for (size_t t = 0; t < trials; t++)
            for (size_t i = 0; i < rows; i++, dst += cols)
                memcpy(dst, at(v, KS_ROWS, at(v, KS_TRIALS, v->data, t), i), cols * sizeof *dst);
        return;
    }
    for (size_t t = 0; t < trials; t += tile[0])
        for (size_t i = 0; i < rows; i += tile[1])
            for (size_t j = 0; j < cols; j += tile[2]) copy_tile(v, dst, t, i, j);
}
