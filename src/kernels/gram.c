#include "kernels/gram.h"

#include "kernels/vec.h"

void KS_K(ks_gram_exp)(double *c, const double *h, double hi, size_t n);
void KS_K(ks_gram_exp)(double *c, const double *h, double hi, size_t n) {
    const vd H = vd_set(hi), zero = vd_set(0);
    for (size_t j = 0; j < n; j += VL)
        vd_store(c + j, vd_exp(vd_min(zero, vd_load(c + j) - (H + vd_load(h + j)))));
}

KS_INLINE void row(ks_metric metric, const double *x, const double *Yt, size_t ldy, size_t p, double *out,
                   size_t n) {
    const vd one = vd_set(1);
    for (size_t j = 0; j < n; j += VL) {
        vd sum = vd_set(metric == KS_METRIC_CAUCHY ? 1 : 0);
        for (size_t l = 0; l < p; l++) {
            vd d = vd_set(x[l]) - vd_load(Yt + l * ldy + j);
            if (metric == KS_METRIC_GAUSSIAN) sum = vd_fma(d, d, sum);
            if (metric == KS_METRIC_LAPLACE) sum = sum + vd_abs(d);
            if (metric == KS_METRIC_CAUCHY) sum = sum * vd_fma(d, d, one);
        }
        vd k;
        if (metric == KS_METRIC_CAUCHY)
            k = one / sum;
        else
            k = vd_exp(sum * vd_set(metric == KS_METRIC_LAPLACE ? -1 : -0.5));
        vd_store(out + j, k);
    }
}

void KS_K(ks_gram_row)(ks_metric metric, const double *x, const double *Yt, size_t ldy, size_t p, double *out,
                       size_t n);
void KS_K(ks_gram_row)(ks_metric metric, const double *x, const double *Yt, size_t ldy, size_t p, double *out,
                       size_t n) {
    /* three loops, each for one metric that the compiler knows */
    if (metric == KS_METRIC_GAUSSIAN) row(KS_METRIC_GAUSSIAN, x, Yt, ldy, p, out, n);
    if (metric == KS_METRIC_LAPLACE) row(KS_METRIC_LAPLACE, x, Yt, ldy, p, out, n);
    if (metric == KS_METRIC_CAUCHY) row(KS_METRIC_CAUCHY, x, Yt, ldy, p, out, n);
}
