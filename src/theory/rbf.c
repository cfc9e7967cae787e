/*
 * The RBF kernel under a Gaussian input, in closed form. With phi the positive root of eta phi^2 = phi + 1,
 * put
 *
 *     a = eta phi = (1 + sqrt(1 + 4 eta)) / 2,     r = 1 / (eta phi^2) = 1 / (1 + phi) < 1.
 *
 * In one dimension the eigenvalues are r^u / a, u = 0, 1, .... In several dimensions they are products:
 *
 *     m(n) = prod_i a_i^-n / (1 - r_i^n),          lambda_u = prod_i r_i^u_i / a_i.
 *
 * The code computes both in logarithms, because a^-nd may underflow although its d-th root does not.
 */
#include "base/error.h"
#include "base/memory.h"
#include "base/sort.h"
#include "theory/rbf.h"

#include <math.h>

typedef struct {
    long double log_a;
    long double log_r; /* negative */
} rbf_axis;

static rbf_axis axis(double eta) {
    long double a = (1 + sqrtl(1 + 4 * (long double)eta)) / 2;
    return (rbf_axis){logl(a), -log1pl(a / eta)};
}

kspec_status ks_rbf_check_eta(const double *eta, size_t dim, kspec_error *err) {
    if (dim == 0) return ks_fail(err, KSPEC_E_ARG, "dimension 0 is below 1");
    kspec_status st = ks_check_pointer(err, eta, "eta");
    if (st) return st;
    for (size_t i = 0; i < dim; i++)
        if (!(eta[i] >= 1e-300 && eta[i] <= 1e300))
            return ks_fail(err, KSPEC_E_ARG, "eta %g (number %zu) is not between 1e-300 and 1e300", eta[i],
                           i + 1);
    return KSPEC_OK;
}

kspec_status kspec_theory_rbf_moments(const double *eta, size_t dim, int nmax, double *moments, double *logs,
                                      kspec_error *err) {
    ks_clear(err);
    kspec_status st = ks_rbf_check_eta(eta, dim, err);
    if (st) return st;
    if (nmax < 1) return ks_fail(err, KSPEC_E_ARG, "order %d is below 1", nmax);
    for (int n = 1; n <= nmax; n++) {
        long double log_m = 0;
        for (size_t i = 0; i < dim; i++) {
            rbf_axis x = axis(eta[i]);
            log_m -= n * x.log_a + logl(-expm1l(n * x.log_r));
        }
        /* m(1) = 1 for every eta, since k(x,x) = 1. The sum would have rounding errors. */
        if (n == 1) log_m = 0;
        if (moments) moments[n - 1] = (double)expl(log_m);
        if (logs) logs[n - 1] = (double)log_m;
    }
    return KSPEC_OK;
}

/*
 * The eigenvalues in decreasing order are the multisets of axes in increasing order of their cost s = sum_i
 * u_i log(1/r_i). The search is best first. With the axes sorted by cost, a multiset with dearest axis j has
 * two children, "one more j" and "the last j replaced by j+1". Every non-empty multiset has just one parent,
 * and no child is cheaper than its parent. So a heap of at most count + 1 nodes yields each multiset once, in
 * order. `base` is the multiset without its dearest axis; the search has already found it.
 */
typedef struct {
    double s;
    size_t j, base;
} node;

typedef struct {
    node *at;
    size_t count;
} heap;

static void push(heap *h, node x) {
    size_t i = h->count++;
    while (i > 0 && h->at[(i - 1) / 2].s > x.s) {
        h->at[i] = h->at[(i - 1) / 2];
        i = (i - 1) / 2;
    }
    h->at[i] = x;
}

static node pop(heap *h) {
    node top = h->at[0], x = h->at[--h->count];
    size_t i = 0;
    for (size_t c; (c = 2 * i + 1) < h->count; i = c) {
        if (c + 1 < h->count && h->at[c + 1].s < h->at[c].s) c++;
        if (h->at[c].s >= x.s) break;
        h->at[i] = h->at[c];
    }
    h->at[i] = x;
    return top;
}

kspec_status ks_rbf_enumerate(const double *eta, size_t dim, size_t count, double *eigenvalues, double *logs,
                              ks_rbf_step *steps, kspec_error *err) {
    kspec_status st = ks_rbf_check_eta(eta, dim, err);
    if (st) return st;
    if (count == 0) return ks_fail(err, KSPEC_E_ARG, "number of eigenvalues 0 is below 1");

    ks_arena arena = {0};
    double *cost = ks_arena_alloc(&arena, dim, sizeof *cost);
    size_t *order = ks_arena_alloc(&arena, dim, sizeof *order);
    heap h = {ks_arena_alloc(&arena, ks_size_add(count, 2), sizeof *h.at), 0};
    if (arena.failed) {
        st = ks_nomem(err, "the list of eigenvalues", arena.failed);
        ks_arena_free(&arena);
        return st;
    }
    long double log_top = 0;
    for (size_t i = 0; i < dim; i++) log_top -= axis(eta[i]).log_a;
    ks_order_descending(eta, dim, order); /* a larger eta has a lower cost */
    for (size_t i = 0; i < dim; i++) cost[i] = (double)-axis(eta[order[i]]).log_r;

    node x = {0, 0, 0}; /* the empty multiset, whose only child is {0} */
    for (size_t k = 0; k < count; k++) {
        if (k == 0) {
            push(&h, (node){cost[0], 0, 0});
        } else {
            x = pop(&h);
            push(&h, (node){x.s + cost[x.j], x.j, k});
            if (x.j + 1 < dim) push(&h, (node){x.s + (cost[x.j + 1] - cost[x.j]), x.j + 1, x.base});
        }
        if (eigenvalues) eigenvalues[k] = (double)expl(log_top - x.s);
        if (logs) logs[k] = (double)(log_top - x.s);
        if (steps) steps[k] = (ks_rbf_step){x.base, order[x.j]};
    }
    ks_arena_free(&arena);
    return KSPEC_OK;
}

kspec_status kspec_theory_rbf_eigenvalues(const double *eta, size_t dim, size_t count, double *eigenvalues,
                                          double *logs, kspec_error *err) {
    ks_clear(err);
    return ks_rbf_enumerate(eta, dim, count, eigenvalues, logs, NULL, err);
}
