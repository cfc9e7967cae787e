/* Finds equal rows, or equal columns, by their equal projections. */
#include "checks/parts.h"

#include "base/matrix.h"
#include "base/sort.h"

#include <math.h>
#include <stdlib.h>

typedef struct {
    double image;
    size_t at;
} imaged;

static int by_image(const void *a, const void *b) {
    const imaged *x = a, *y = b;
    if (x->image != y->image) return x->image < y->image ? -1 : 1;
    return x->at < y->at ? -1 : x->at > y->at;
}

/* Looks at rows; for columns the caller transposes the matrix. */
static int same(const kspec_matrix *m, size_t i, size_t k) {
    for (size_t j = 0; j < m->cols; j++)
        if (ks_at(m, i, j) != ks_at(m, k, j)) return 0; /* NaN does not count as equal */
    return 1;
}

/* Are the values rounded, or of so few kinds, that rows may be equal by chance? True if the share of
 * equal pairs of values, as a geometric mean over the columns, is at least 1/200. Rows that equal an
 * earlier row do not count. */
static int is_rounded(const kspec_matrix *m, const unsigned char *repeats) {
    enum { ROWS = 256, COLS = 64 };
    const size_t q = m->cols < COLS ? m->cols : COLS, step = (m->rows + ROWS - 1) / ROWS;
    double x[ROWS], sum = 0;
    for (size_t k = 0; k < q; k++) {
        size_t count = 0, equal = 0;
        for (size_t i = 0; i < m->rows; i += step) {
            const double value = ks_at(m, i, k * m->cols / q);
            if (!repeats[i] && !isnan(value)) x[count++] = value;
        }
        ks_sort_ascending(x, count);
        for (size_t i = 1, run = 1; i <= count; i++) {
            if (i < count && x[i] == x[i - 1]) {
                run++;
                continue;
            }
            equal += run * (run - 1);
            run = 1;
        }
        if (count > 1) sum += log(fmax(1, (double)equal) / ((double)count * (double)(count - 1)));
    }
    return sum / (double)q > log(1 / 200.0);
}

size_t ks_check_repeated(ks_doubts to, const char *where, const ks_checked *c, const ks_scan *s, int columns,
                         ks_arena *arena) {
    const kspec_matrix *phi = &c->phi[0],
                       turned = {phi->data, phi->cols, phi->rows, phi->col_stride, phi->row_stride},
                       *m = columns ? &turned : phi;
    const uint64_t *groups = columns ? c->col_groups : c->row_groups;
    const double *image = columns ? s->col_image : s->row_image, *square = columns ? s->col : s->row;
    size_t n = m->rows, count = 0, equal = 0, first = 0, other = 0;
    if (n < 4 || m->cols < 3) return 0;
    imaged *list = ks_arena_alloc(arena, n, sizeof *list);
    unsigned char *repeats = ks_arena_zalloc(arena, n, 1);
    if (arena->failed) return 0;
    /* Constant columns do not count, because they add nothing to an estimate. */
    for (size_t i = 0; i < n; i++)
        if (isfinite(image[i]) && (!columns || square[i] > 0)) list[count++] = (imaged){image[i], i};
    qsort(list, count, sizeof *list, by_image);
    for (size_t k = 1, start = 0; k < count; k++) {
        if (list[k].image != list[k - 1].image) start = k;
        const size_t i = list[k].at, earlier = list[start].at;
        if (start == k || (groups && groups[i] == groups[earlier]) || !same(m, i, earlier)) continue;
        repeats[i] = 1;
        if (!equal++ || i < first) first = i, other = earlier;
    }
    if (!equal) return 0;
    ks_doubt(to, columns ? KSPEC_DOUBT_REPEATED_COLS : KSPEC_DOUBT_REPEATED_ROWS, where, NULL, (double)equal,
             (double)n, (double)first, (double)other);
    if (is_rounded(m, repeats) || (!columns && (double)equal < 0.01 * (double)n)) ks_doubt_lower(to);
    return equal;
}
