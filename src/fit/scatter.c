#include "fit/scatter.h"

#include "base/error.h"
#include "linalg/linalg.h"

#include <math.h>

static ks_cplx kappa(ks_cplx l) {
    double r = exp(l.re), re = r * cos(l.im), im = r * sin(l.im);
    return (ks_cplx){re, im};
}

/* Sums of products of real and imaginary parts of 1/(lambda + k_i) and 1/(lambda + k_j). */
typedef struct {
    double rr, ii, ri, ir;
} products;

/* S or B, for k_j (sign 1) or its conjugate (-1) */
static ks_cplx joined(products x, int sign) { return (ks_cplx){x.rr - sign * x.ii, x.ir + sign * x.ri}; }

/* log |(1 - S/P)(1 - S/Q) - k_i k_j B^2/(PQ)| */
static double log_kernel(const ks_spectrum *s, ks_cplx ki, ks_cplx kj, ks_cplx S, ks_cplx B) {
    ks_cplx a = {1 - S.re / s->P, -S.im / s->P}, b = {1 - S.re / s->Q, -S.im / s->Q};
    ks_cplx c = ks_cmul(ks_cmul(ki, kj), ks_cmul(B, B)), ab = ks_cmul(a, b);
    ab.re -= c.re / s->P / s->Q;
    ab.im -= c.im / s->P / s->Q;
    return 0.5 * log(ks_cabs2(ab));
}

static double covariance(const ks_spectrum *s, ks_cplx ki, ks_cplx kj, products S, products B) {
    const double pi = 3.14159265358979323846;
    double sum = 0;
    for (int sign = 1; sign >= -1; sign -= 2) {
        ks_cplx k = {kj.re, sign * kj.im}, kk = ks_cmul(ki, k), b = joined(B, sign);
        /* dust: sum w lambda/(k_i k_j), and nothing in S */
        double n = ks_cabs2(kk);
        b.re += s->dust * kk.re / n;
        b.im -= s->dust * kk.im / n;
        sum += sign * log_kernel(s, ki, k, joined(S, sign), b);
    }
    return sum / (pi * pi);
}

/* The sums for one pair, one after the other. */
static double covariance_of(const ks_spectrum *s, ks_cplx ki, ks_cplx kj) {
    products S = {0}, B = {0};
    for (size_t l = 0; l < s->n; l++) {
        double lambda = s->lambda[l], ai = lambda + ki.re, aj = lambda + kj.re;
        double c = s->weight[l] * lambda / ((ai * ai + ki.im * ki.im) * (aj * aj + kj.im * kj.im));
        products b = {c * ai * aj, c * ki.im * kj.im, -c * ai * kj.im, -c * ki.im * aj};
        B = (products){B.rr + b.rr, B.ii + b.ii, B.ri + b.ri, B.ir + b.ir};
        S = (products){S.rr + lambda * b.rr, S.ii + lambda * b.ii, S.ri + lambda * b.ri,
                       S.ir + lambda * b.ir};
    }
    return covariance(s, ki, kj, S, B);
}

/* The same for all pairs: three matrix products with sqrt(w lambda^power) on either side. */
typedef struct {
    double *rr, *ii, *ri;
} tables;

static void fill(const ks_spectrum *s, size_t K, const ks_cplx *k, int power, double *X, double *Y,
                 tables *t) {
    for (size_t i = 0; i < K; i++)
        for (size_t l = 0; l < s->n; l++) {
            double lambda = s->lambda[l], a = lambda + k[i].re, n = a * a + k[i].im * k[i].im;
            double root = sqrt(s->weight[l] * lambda) * (power == 2 ? sqrt(lambda) : 1);
            X[i * s->n + l] = root * a / n;
            Y[i * s->n + l] = -root * k[i].im / n;
        }
    ks_gemm(0, 1, K, K, s->n, 1, X, s->n, X, s->n, 0, t->rr, K);
    ks_gemm(0, 1, K, K, s->n, 1, Y, s->n, Y, s->n, 0, t->ii, K);
    ks_gemm(0, 1, K, K, s->n, 1, X, s->n, Y, s->n, 0, t->ri, K);
}

static products entry(const tables *t, size_t K, size_t i, size_t j) {
    return (products){t->rr[i * K + j], t->ii[i * K + j], t->ri[i * K + j], t->ri[j * K + i]};
}

kspec_status ks_scatter(const ks_spectrum *s, size_t K, const ks_cplx *log_kappa, const ks_cplx *above,
                        const ks_cplx *below, const double *x_rho, double *V, kspec_error *err) {
    ks_arena arena = {0};
    size_t square = ks_size(K, K);
    ks_cplx *k = ks_arena_alloc(&arena, K, sizeof *k);
    double *X = ks_arena_alloc(&arena, ks_size(K, s->n), sizeof *X);
    double *Y = ks_arena_alloc(&arena, ks_size(K, s->n), sizeof *Y);
    double *all = ks_arena_alloc(&arena, ks_size(6, square), sizeof *all);
    if (arena.failed) {
        size_t wanted = arena.failed;
        ks_arena_free(&arena);
        return ks_nomem(err, "the covariance of the eigenvalues", wanted);
    }
    tables S = {all, all + square, all + 2 * square},
           B = {all + 3 * square, all + 4 * square, all + 5 * square};
    for (size_t i = 0; i < K; i++) k[i] = kappa(log_kappa[i]);
    fill(s, K, k, 2, X, Y, &S);
    fill(s, K, k, 1, X, Y, &B);
    for (size_t i = 0; i < K; i++) {
        for (size_t j = 0; j < i; j++)
            V[i * K + j] = V[j * K + i] =
                covariance(s, k[i], k[j], entry(&S, K, i, j), entry(&B, K, i, j)) / (x_rho[i] * x_rho[j]);
        V[i * K + i] = covariance_of(s, kappa(above[i]), kappa(below[i])) / (x_rho[i] * x_rho[i]);
    }
    ks_arena_free(&arena);
    return KSPEC_OK;
}
