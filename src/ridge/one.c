/* Solves the fixed point of features of a single kernel, in the kernel's eigenvectors. */
#include "ridge/one.h"

#include "base/error.h"
#include "linalg/eigen.h"
#include "linalg/linalg.h"

#include <float.h>
#include <math.h>

/* ---- the basis ---- */

size_t ks_one_size(size_t n, size_t nt, size_t m, size_t p) {
    size_t size = ks_size_add(ks_size(3, ks_size(n, n)), ks_size(2, ks_size(nt, n)));
    return ks_size_add(size, ks_size_add(ks_size(n, ks_size_add(m, 3)), ks_size(ks_size_add(n, nt), p + 2)));
}

void ks_one_alloc(ks_one *b, ks_arena *a) {
    const size_t n = b->n, nt = b->nt;
    b->V = ks_arena_alloc(a, ks_size(n, n), sizeof *b->V);
    b->P = ks_arena_alloc(a, ks_size(nt, n), sizeof *b->P);
    b->scratch = ks_arena_alloc(a, ks_size(nt, n), sizeof *b->scratch);
    b->l = ks_arena_alloc(a, n, sizeof *b->l);
    b->pp = ks_arena_alloc(a, n, sizeof *b->pp);
    b->w = ks_arena_alloc(a, ks_size(n, b->m), sizeof *b->w);
    b->kt = ks_arena_alloc(a, nt, sizeof *b->kt);
}

/* Copies rows, optionally minus the mean training row, and computes their squared lengths. */
static void prepare(const ks_one *b, const ks_one_rows *rows, const double *A, size_t count, double *to,
                    double *square) {
    const size_t n = b->n, p = rows->p;
    for (size_t j = 0; j < p; j++) {
        double mean = 0;
        for (size_t i = 0; i < n && ks_activation_of_differences(b->f.kind); i++)
            mean += rows->x[i * p + j] / (double)n;
        for (size_t i = 0; i < count; i++) to[i * p + j] = A[i * p + j] - mean;
    }
    for (size_t i = 0; i < count; i++) square[i] = ks_dot(p, to + i * p, to + i * p);
}

/* Centres K, for features minus their means; mean has room for n doubles. */
static void center(ks_one *b, double *mean) {
    const size_t n = b->n;
    const double all = ks_kernel_means(b->V, n, mean);
    ks_kernel_center(b->V, n, n, mean, NULL, all);
    if (b->nt) ks_kernel_center(b->scratch, b->nt, n, mean, b->kt, all);
    b->trace_t = b->largest = 0;
    for (size_t i = 0; i < n; i++) b->largest = fmax(b->largest, b->V[i * n + i]);
    for (size_t t = 0; t < b->nt; t++) b->trace_t += b->kt[t];
}

kspec_status ks_one_make(ks_one *b, const ks_one_rows *rows, kspec_error *err) {
    const size_t n = b->n, nt = b->nt, m = b->m, p = rows->p;
    ks_arena scratch = {0};
    double *x = ks_arena_alloc(&scratch, ks_size(n, p), sizeof *x),
           *q = ks_arena_alloc(&scratch, n, sizeof *q);
    double *xt = ks_arena_alloc(&scratch, ks_size(nt, p), sizeof *xt);
    double *qt = ks_arena_alloc(&scratch, nt, sizeof *qt);
    kspec_status st = scratch.failed ? ks_nomem(err, "the rows of a kernel", scratch.failed) : KSPEC_OK;
    if (!st) {
        prepare(b, rows, rows->x, n, x, q);
        prepare(b, rows, rows->xt, nt, xt, qt);
        ks_activation_matrix(&b->f, x, q, n, x, q, n, p, b->V);
        if (nt) ks_activation_matrix(&b->f, xt, qt, nt, x, q, n, p, b->scratch);
        b->trace_t = 0, b->largest = 0;
        /* Sets |x - x|^2 to exactly 0, because inner products have rounding errors. */
        for (size_t i = 0; i < n; i++) {
            b->V[i * n + i] = ks_activation_kernel(&b->f, q[i], q[i], q[i]);
            b->largest = fmax(b->largest, b->V[i * n + i]);
        }
        for (size_t i = 0; i < nt; i++)
            b->trace_t += b->kt[i] = ks_activation_kernel(&b->f, qt[i], qt[i], qt[i]);
        if (!(b->largest < 1e200)) /* The products of entries of K must be finite. */
            st = ks_fail(err, KSPEC_E_DATA, "the kernel of the rows exceeds 1e200; scale the data");
    }
    if (!st && b->intercept) center(b, q);
    if (!st) st = ks_syevd(1, n, b->V, n, b->l, err);
    ks_arena_free(&scratch);
    if (st) return st;
    for (size_t i = 0; i < n; i++) b->l[i] = fmax(b->l[i], 0);
    ks_gemm(0, 0, n, m, n, 1, b->V, n, b->Y, m, 0, b->w, m);
    if (!nt) return KSPEC_OK;
    ks_gemm(0, 1, nt, n, n, 1, b->scratch, n, b->V, n, 0, b->P, n);
    for (size_t i = 0; i < n; i++) b->pp[i] = 0;
    for (size_t t = 0; t < nt; t++)
        for (size_t i = 0; i < n; i++) b->pp[i] += b->P[t * n + i] * b->P[t * n + i];
    return KSPEC_OK;
}

/* ---- the fixed point ---- */

/*
 * Runs Newton's method on x - G(x), which is convex: from an upper bound it decreases to the solution
 * (solve.c). Without a ridge, G(x) = (n/N)(shift + x) if K is positive definite, and x = n/(N - n).
 */
kspec_status ks_one_solve(const ks_one *b, double N, double lambda, double tolerance, int most,
                          ks_one_solution *s, kspec_error *err) {
    const double n = (double)b->n;
    *s = (ks_one_solution){.N = N, .lambda = lambda, .shift = 1, .ridge = lambda};
    const int low = lambda == 0 && N < n; /* 1 if x is the limit of lambda delta */
    if (low) s->shift = 0, s->ridge = 1;
    if (lambda == 0 && N == n) {
        s->state = KSPEC_RIDGE_STATE_DIVERGENT;
        return KSPEC_OK;
    }
    size_t rank = 0;
    double trace = 0;
    for (size_t i = 0; i < b->n; i++) {
        trace += b->l[i] / n;
        rank += b->l[i] > n * DBL_EPSILON * b->l[b->n - 1];
    }
    if (lambda == 0 && (double)rank < fmin(n, N + 1))
        return ks_fail(err, KSPEC_E_NUMERIC,
                       "lambda 0: the kernel matrix of the %zu rows has rank %zu; use lambda > 0", b->n,
                       rank);
    if (!(trace > 0)) return ks_fail(err, KSPEC_E_NUMERIC, "the kernel of the rows is 0");
    s->x = s->ridge > 0 ? trace / s->ridge : n / (N - n);
    for (double last = INFINITY;;) {
        double G = 0, D = 0, t0 = 0;
        s->k = N / n / (s->shift + s->x);
        for (size_t i = 0; i < b->n; i++) {
            const double q = 1 / (s->k * b->l[i] + s->ridge), lq = b->l[i] * q;
            G += lq, D += lq * lq, t0 += lq * q;
        }
        G /= n, s->t0 = t0 / n;
        D *= N / (n * n) / ((s->shift + s->x) * (s->shift + s->x));
        s->iterations++;
        s->omega = 1 / (1 - D);
        s->residual = fabs(G - s->x) / s->x;
        const double step = (G - s->x) * s->omega;
        const double floor = DBL_EPSILON * (s->k * b->largest + s->ridge) * s->t0 * s->omega / s->x;
        s->error = fmax(fabs(step) / s->x, floor);
        if (fabs(step) <= tolerance * s->x || s->ridge == 0) return KSPEC_OK;
        if (fabs(step) <= floor * s->x || (fabs(step) < 1e-3 * s->x && fabs(step) >= last / 2)) {
            s->state = KSPEC_RIDGE_STATE_AT_FLOOR;
            return KSPEC_OK;
        }
        if (s->iterations == most) {
            s->state = KSPEC_RIDGE_STATE_UNFINISHED;
            return KSPEC_OK;
        }
        last = fabs(step);
        s->x = s->x + step > 0 ? s->x + step : G;
    }
}

/* ---- errors ---- */

/*
 * With v = Q y: c = v^T K v = sum l q^2 w^2, and as in errors.c with one kernel
 *     E_train = (ridge^2/n) (|v|^2 + (N/n) t0 Omega c / (shift+x)^2)
 *     E_test = |yt - k P q w|^2/nt + (N/n)^2/nt Theta Omega c / (shift+x)^2
 *     Theta = tr K(Xt,Xt)/N + sum_i pp_i (N/n^2 q_i^2 l_i/(shift+x)^2 - (2/n) q_i/(shift+x))
 */
void ks_one_errors(const ks_one *b, const ks_one_solution *s, size_t count, double *scratch, double *train,
                   double *test) {
    const size_t n = b->n, nt = b->nt, m = b->m, wide = m * count;
    double *coefficients = scratch, *fit = scratch + n * wide;
    for (size_t c = 0; c < count; c++) {
        const double u = s[c].shift + s[c].x, share = s[c].N / (double)n;
        double theta = b->trace_t / s[c].N;
        for (size_t j = 0; j < m; j++) {
            double v2 = 0, form = 0;
            for (size_t i = 0; i < n; i++) {
                const double qw = b->w[i * m + j] / (s[c].k * b->l[i] + s[c].ridge);
                v2 += qw * qw, form += b->l[i] * qw * qw;
                coefficients[i * wide + c * m + j] = s[c].k * qw;
            }
            train[c * m + j] =
                s[c].ridge * s[c].ridge / (double)n * (v2 + share * s[c].t0 * s[c].omega * form / (u * u));
            if (test) test[c * m + j] = share * share * s[c].omega * form / (u * u);
        }
        for (size_t i = 0; i < n && test; i++) {
            const double q = 1 / (s[c].k * b->l[i] + s[c].ridge);
            theta += b->pp[i] * (share / (double)n * q * q * b->l[i] / (u * u) - 2 / (double)n * q / u);
        }
        for (size_t j = 0; j < m && test; j++) test[c * m + j] *= theta;
    }
    if (!test) return;
    ks_gemm(0, 0, nt, wide, n, 1, b->P, n, coefficients, wide, 0, fit, wide);
    for (size_t t = 0; t < nt; t++)
        for (size_t k = 0; k < wide; k++) {
            const double d = b->Yt[t * m + k % m] - fit[t * wide + k];
            test[k] += d * d;
        }
    for (size_t k = 0; k < wide; k++) test[k] /= (double)nt;
}

/* Computes the terms of E_test (above) for each test row, with two columns of y in c. */
void ks_one_spread(const ks_one *b, const ks_one_solution *s, double *scale, double *form) {
    const size_t n = b->n, m = b->m;
    const double u = s->shift + s->x, share = s->N / (double)n;
    for (size_t j = 0; j < m * m; j++) form[j] = 0;
    for (size_t i = 0; i < n; i++) {
        const double q = 1 / (s->k * b->l[i] + s->ridge);
        for (size_t j = 0; j < m; j++)
            for (size_t k = 0; k < m; k++)
                form[j * m + k] += b->l[i] * q * q * b->w[i * m + j] * b->w[i * m + k];
    }
    for (size_t t = 0; t < b->nt; t++) {
        double theta = b->kt[t] / s->N;
        for (size_t i = 0; i < n; i++) {
            const double q = 1 / (s->k * b->l[i] + s->ridge), p = b->P[t * n + i];
            theta += p * p * (share / (double)n * q * q * b->l[i] / (u * u) - 2 / (double)n * q / u);
        }
        scale[t] = share * share * s->omega / (u * u) * theta;
    }
}
