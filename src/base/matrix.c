/* Checks and copies matrices. */
#include "base/matrix.h"

#include "base/error.h"

#include <math.h>

kspec_status ks_matrix_check(const kspec_matrix *m, const char *what, kspec_error *err) {
    if (!m) return ks_fail(err, KSPEC_E_ARG, "%s is missing (NULL)", what);
    if (m->rows == 0 || m->cols == 0)
        return ks_fail(err, KSPEC_E_ARG, "%s is empty: %zu x %zu", what, m->rows, m->cols);
    if (!m->data) return ks_fail(err, KSPEC_E_ARG, "%s has no data (NULL)", what);
    return KSPEC_OK;
}

static kspec_status unfit(const char *what, size_t i, size_t j, double v, kspec_error *err) {
    return ks_fail(err, KSPEC_E_DATA, "%s: row %zu, column %zu (from 0) is %s", what, i, j,
                   isnan(v) ? "NaN" : "infinite");
}

kspec_status ks_matrix_copy(const kspec_matrix *m, size_t first, size_t count, const char *what, double *out,
                            kspec_error *err) {
    for (size_t i = first; i < first + count; i++)
        for (size_t j = 0; j < m->cols; j++) {
            double v = ks_at(m, i, j);
            if (!isfinite(v)) return unfit(what, i, j, v, err);
            *out++ = v;
        }
    return KSPEC_OK;
}

kspec_status ks_matrix_finite(const kspec_matrix *m, const char *what, kspec_error *err) {
    for (size_t i = 0; i < m->rows; i++)
        for (size_t j = 0; j < m->cols; j++) {
            double v = ks_at(m, i, j);
            if (!isfinite(v)) return unfit(what, i, j, v, err);
        }
    return KSPEC_OK;
}
