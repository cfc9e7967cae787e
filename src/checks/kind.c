/* Finds matrices that are not data: correlations, distances, products of rows; and trials that are copies. */
#include "checks/parts.h"

#include "base/matrix.h"

#include <math.h>

/* Equal up to the rounding of float32, or of a program's arithmetic */
static int near(double a, double b) { return fabs(a - b) <= 1e-6 * (fabs(a) + fabs(b)) || a == b; }

/* ---- symmetric matrices ---- */

static const char *kind_of(const kspec_matrix *m) {
    const size_t n = m->rows;
    int ones = 1, zeros = 1, products = 1, plain = 1;
    double most = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++) {
            const double x = ks_at(m, i, j);
            if (!near(x, ks_at(m, j, i))) return NULL;
            products &= x * x <= ks_at(m, i, i) * ks_at(m, j, j) * (1 + 1e-6);
            plain &= x >= 0;
            most = fmax(most, fabs(x));
        }
    for (size_t i = 0; i < n; i++) {
        ones &= near(ks_at(m, i, i), 1);
        zeros &= fabs(ks_at(m, i, i)) <= 1e-6 * most; /* 1 minus a correlation of 1 may not be 0 */
    }
    return ones && products     ? "a correlation matrix (symmetric, ones on its diagonal)"
           : zeros && plain     ? "a matrix of distances (symmetric, zeros on its diagonal)"
           : products && !zeros ? "a Gram or covariance matrix (symmetric, with a dominant diagonal)"
                                : "a table of pairs (symmetric, as no data are)";
}

/* ---- trials ---- */

/* Are two numbers equal, at least as float32? (With a large offset, noise changes little of a value.) */
static int same(double a, double b) { return a == b || fabs(a - b) <= 6.1e-8 * fmax(fabs(a), fabs(b)); }

/* Returns 1 if trial t equals the earlier trial u in every known entry, without being all 0. */
static int is_copy(const ks_checked *c, size_t t, size_t u) {
    int any = 0;
    for (size_t i = 0; i < c->phi->rows; i++) {
        if (!ks_is_seen(c, t, i) || !ks_is_seen(c, u, i)) continue;
        for (size_t j = 0; j < c->phi->cols; j++) {
            const double a = ks_at(&c->phi[t], i, j), b = ks_at(&c->phi[u], i, j);
            if (!(same(a, b) || (isnan(a) && isnan(b)))) return 0;
            any |= a != 0 && !isnan(a);
        }
    }
    return any;
}

void ks_check_kind(ks_doubts to, const char *where, const ks_checked *c) {
    enum { LEAST = 5, ALL = 64 }; /* with more than ALL trials, only neighbours are compared */
    const char *kind =
        c->ntrials == 1 && c->phi->rows == c->phi->cols && c->phi->rows >= LEAST ? kind_of(c->phi) : NULL;
    if (kind) ks_doubt(to, KSPEC_DOUBT_SYMMETRIC, where, kind, (double)c->phi->rows);
    for (size_t t = 1; t < c->ntrials; t++)
        for (size_t u = c->ntrials > ALL ? t - 1 : 0; u < t; u++) {
            if (c->phi->rows * c->phi->cols < LEAST || !is_copy(c, t, u)) continue;
            ks_doubt(to, KSPEC_DOUBT_COPIED_TRIALS, where, NULL, (double)u, (double)t);
            return;
        }
}
