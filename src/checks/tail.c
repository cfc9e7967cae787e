/* Columns of very different size: might columns outside this sample be larger still? */
#include "checks/parts.h"

#include "base/sort.h"

#include <math.h>

/* Fewer than LEAST columns do not show a tail. Of more columns, at least LEAST_TAIL belong to the tail. */
enum { LEAST = 40, LEAST_TAIL = 6 };

/*
 * Hill's estimator from the k largest values, without the very largest, which other checks examine. By
 * Renyi's representation the sum of log x_j/x_(k+1) over j = 2 ... k has the mean (k - H_k)/a, where
 * H_k = 1 + 1/2 + ... + 1/k.
 */
double ks_tail_exponent(size_t n, size_t part, double *x) {
    const size_t k = n / part > LEAST_TAIL ? n / part : LEAST_TAIL;
    double sum = 0, harmonic = 1;
    if (n < LEAST) return INFINITY;
    ks_sort_descending(x, n);
    if (!(x[k] > 0) || !(x[1] > x[k])) return INFINITY;
    for (size_t j = 1; j < k; j++) sum += log(x[j] / x[k]), harmonic += 1 / (double)(j + 1);
    return ((double)k - harmonic) / sum;
}

/*
 * With an exponent below 1 the mean does not exist, or the sample does not determine it, as for the words of
 * a language. The check is skipped if one column or entry stands out, which another doubt reports, and if
 * labels tell which columns are alike. One column in PART belongs to the tail.
 */
enum { PART = 8 };

void ks_check_tail(ks_doubts to, const char *where, const ks_checked *c, const ks_scan *s, ks_arena *arena) {
    const size_t n = s->Q;
    if (n < LEAST || s->P < 2 || !(s->all > 0) || !isfinite(s->all) || c->col_groups) return;
    double *x = ks_arena_alloc(arena, n, sizeof *x);
    if (!x) return;
    for (size_t j = 0; j < n; j++) x[j] = s->col[j];
    const double exponent = ks_tail_exponent(n, PART, x);
    if (exponent < 1)
        ks_doubt(to, KSPEC_DOUBT_LONG_TAIL, where,
                 c->center == KSPEC_CENTER_NONE ? "mean squares" : "variances", exponent);
}
