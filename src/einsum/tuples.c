/*
 * Counts tuples of rows from different groups without cancellation. For all sizes except the g-th, e_r is the
 * sum over k of e_k(sizes before g) e_(r-k)(sizes after g), and all terms are positive. Dividing size g out
 * of e_r would need subtractions.
 */
#include "einsum/tuples.h"

#include "base/memory.h"

#include <math.h>
#include <string.h>

/* Updates the elementary symmetric sums e_0 ... e_r for one more group. */
static void add_group(double *e, int r, const size_t *first) {
    const double size = (double)(first[1] - first[0]);
    for (int k = r; k > 0; k--) e[k] += size * e[k - 1];
}

double ks_tuples(const size_t *first, size_t groups, int r) {
    double e[64] = {1};
    for (size_t g = 0; g < groups; g++) add_group(e, r, first + g);
    return e[r] * tgamma(r + 1.0);
}

int ks_tuples_ratios(const size_t *first, size_t groups, int r, double *out, size_t *failed) {
    const size_t n = (size_t)r + 1;
    double after[64] = {1}, *before = ks_zalloc(ks_size(groups + 1, n), sizeof *before);
    if (!before) *failed = ks_size(ks_size(groups + 1, n), sizeof *before);
    if (!before) return 0;
    before[0] = 1;
    for (size_t g = 0; g < groups; g++) {
        memcpy(before + (g + 1) * n, before + g * n, n * sizeof *before);
        add_group(before + (g + 1) * n, r, first + g);
    }
    for (size_t g = groups; g-- > 0;) {
        double left = 0;
        for (int k = 0; k <= r; k++) left += before[g * n + (size_t)k] * after[r - k];
        out[g] = before[groups * n + (size_t)r] / left;
        add_group(after, r, first + g);
    }
    ks_free(before);
    return 1;
}
