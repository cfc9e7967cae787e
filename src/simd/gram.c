/* Computes entries of Gram matrices. */
#include "simd/gram.h"

#include "simd/vec.h"

/*
 * The coefficients of the minimax polynomial of 2^f on [-1/2, 1/2]. The polynomial's relative error is 3e-18
 * before rounding.
 */
static const double E[] = {0.9999999999999999971,     0.69314718055994533046,     0.24022650695910156204,
                           0.055504108664819921605,   0.0096181291075883352443,   0.0013333558146789921722,
                           0.00015403530462514432062, 0.000015252733489988525649, 1.321543308967639918e-6,
                           1.0178198021671930844e-7,  7.0741056135081427963e-9,   4.4352827069572771511e-10};

/*
 * Returns exp(x) for x <= 0 with an absolute error below 3e-16. The argument y of 2^y has a relative rounding
 * error of 1e-16, which does little harm because y exp(-y) is small. The result is at least 2^-1022.
 */
KS_INLINE vd exp_negative(vd x) {
    vd y = vd_max(x * vd_set(1.4426950408889634), vd_set(-1022)), k = vd_round(y), f = y - k,
       p = vd_set(E[11]);
    KS_UNROLL
    for (int l = 10; l >= 0; l--) p = vd_fma(p, f, vd_set(E[l]));
    return p * vd_pow2(k);
}

KS_DECLARE(gram_exp);
void KS_K(ks_gram_exp)(double *c, const double *h, double hi, size_t n) {
    const vd H = vd_set(hi), zero = vd_set(0);
    for (size_t j = 0; j < n; j += VL)
        vd_store(c + j, exp_negative(vd_min(zero, vd_load(c + j) - (H + vd_load(h + j)))));
}

KS_INLINE void row(ks_metric metric, const double *x, const double *Yt, size_t ldy, size_t p, double *out,
                   size_t n) {
    const vd one = vd_set(1);
    for (size_t j = 0; j < n; j += VL) {
        vd sum = vd_set(metric == KS_METRIC_CAUCHY ? 1 : 0);
        for (size_t l = 0; l < p; l++) {
            vd d = vd_set(x[l]) - vd_load(Yt + l * ldy + j);
            if (metric == KS_METRIC_GAUSSIAN || metric == KS_METRIC_SQUARE) sum = vd_fma(d, d, sum);
            if (metric == KS_METRIC_LAPLACE) sum = sum + vd_abs(d);
            if (metric == KS_METRIC_CAUCHY) sum = sum * vd_fma(d, d, one);
        }
        vd k;
        if (metric == KS_METRIC_CAUCHY)
            k = one / sum;
        else if (metric == KS_METRIC_SQUARE)
            k = sum;
        else
            k = exp_negative(sum * vd_set(metric == KS_METRIC_LAPLACE ? -1 : -0.5));
        vd_store(out + j, k);
    }
}

KS_DECLARE(gram_row);
void KS_K(ks_gram_row)(ks_metric metric, const double *x, const double *Yt, size_t ldy, size_t p, double *out,
                       size_t n) {
    /* Each metric has its own loop, so that the compiler knows the metric. */
    if (metric == KS_METRIC_GAUSSIAN) row(KS_METRIC_GAUSSIAN, x, Yt, ldy, p, out, n);
    if (metric == KS_METRIC_LAPLACE) row(KS_METRIC_LAPLACE, x, Yt, ldy, p, out, n);
    if (metric == KS_METRIC_CAUCHY) row(KS_METRIC_CAUCHY, x, Yt, ldy, p, out, n);
    if (metric == KS_METRIC_SQUARE) row(KS_METRIC_SQUARE, x, Yt, ldy, p, out, n);
}
