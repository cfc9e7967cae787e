/* Checks a sparse matrix and expands it to a full one. */
#include "formats/sparse.h"

static size_t lines_of(const ks_sparse *s) { return s->by_columns ? s->cols : s->rows; }

const char *ks_sparse_unfit(const ks_sparse *s) {
    size_t lines = lines_of(s), length = s->by_columns ? s->rows : s->cols;
    if (!s->rows || !s->cols) return "is a sparse matrix without entries";
    if (s->starts != lines + 1) return "is a sparse matrix whose indptr does not fit its shape";
    if (s->start[0] != 0) return "is a sparse matrix whose indptr does not begin at 0";
    for (size_t k = 0; k < lines; k++)
        if (!(s->start[k + 1] >= s->start[k])) return "is a sparse matrix whose indptr decreases";
    double count = s->start[lines];
    if (!(count <= (double)s->indices && count <= (double)s->values))
        return "is a sparse matrix with fewer values than its indptr says";
    for (size_t k = 0; k <= lines; k++)
        if (s->start[k] != (double)(size_t)s->start[k])
            return "is a sparse matrix whose indptr contains fractions";
    for (size_t k = 0; k < (size_t)count; k++)
        if (!(s->index[k] >= 0 && s->index[k] < (double)length && s->index[k] == (double)(size_t)s->index[k]))
            return "is a sparse matrix with an index outside its shape";
    return NULL;
}

void ks_sparse_expand(const ks_sparse *s, double *dense) {
    for (size_t line = 0; line < lines_of(s); line++)
        for (size_t k = (size_t)s->start[line]; k < (size_t)s->start[line + 1]; k++) {
            size_t at = (size_t)s->index[k];
            dense[s->by_columns ? at * s->cols + line : line * s->cols + at] += s->value[k];
        }
}
