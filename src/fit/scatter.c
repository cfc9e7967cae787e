/* Computes the covariance of the sample's log eigenvalues for Gaussian factors. */
#include "fit/scatter.h"

#include <math.h>

/*
 * Returns the covariance of the counts, K(c_i, c_j) - K(c_i, conj c_j), with the kernel K = log |(t_i -
 * t_j)/(c_i - c_j)|. The terms with t cancel, because t = -x is real.
 */
static double covariance(ks_cplx log_i, ks_cplx log_j) {
    const double pi = 3.14159265358979323846;
    /* Compute (c_i - c_j)/c_j without loss of digits for neighbours. */
    double log_r = log_i.re - log_j.re, r = exp(log_r), turn = log_i.im - log_j.im,
           both = log_i.im + log_j.im, apart = expm1(log_r) * expm1(log_r);
    double same = sin(0.5 * turn), other = sin(0.5 * both);
    double near = apart + 4 * r * same * same, far = apart + 4 * r * other * other;
    return 0.5 * log(far / near) / (pi * pi);
}

void ks_scatter(size_t K, const ks_cplx *log_c, const ks_cplx *above, const ks_cplx *below,
                const double *x_rho, double *V) {
    for (size_t i = 0; i < K; i++) {
        for (size_t j = 0; j < i; j++)
            V[i * K + j] = V[j * K + i] = covariance(log_c[i], log_c[j]) / (x_rho[i] * x_rho[j]);
        V[i * K + i] = covariance(above[i], below[i]) / (x_rho[i] * x_rho[i]);
    }
}
