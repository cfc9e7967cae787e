/* Part of kspec.h: the kinds of kernels, and how the columns of a data table are scaled first. */
#ifndef KSPEC_KERNEL_H
#define KSPEC_KERNEL_H
#include "kspec/base.h"

/* Shift-invariant kernels k(x,y) with k(x,x) = 1 and bandwidth sigma; d = x - y has p coordinates. Each
 * comment gives the kernel with sigma and with gamma, then the distribution of w for which E cos(w.d) =
 * k(x,y). The coordinates of w are independent, except for Matern's. */
typedef enum {
    KSPEC_KERNEL_GAUSSIAN = 0, /* exp(-sum d_l^2 / (2 sigma^2)) = exp(-gamma |d|^2);  w_l ~ N(0, sigma^-2) */
    KSPEC_KERNEL_LAPLACE, /* exp(-sum |d_l| / sigma) = exp(-gamma |d|_1);  w_l ~ Cauchy of scale 1/sigma */
    /* prod 1/(1 + d_l^2/sigma^2) = prod 1/(1 + gamma d_l^2);  w_l ~ Laplace of scale 1/sigma */
    KSPEC_KERNEL_CAUCHY,
    /* Smoothness nu: 2^(1-nu)/Gamma(nu) z^nu K_nu(z), z = sqrt(2 nu) |d|/sigma: exp(-z) for nu = 1/2, (1 + z)
     * exp(-z) for 3/2. gamma is 1/sigma. w is Student's: N(0, sigma^-2 I) times one sqrt(2 nu/chi^2_{2 nu})
     */
    KSPEC_KERNEL_MATERN
} kspec_kernel;

/* How the frequencies w of features are drawn. */
typedef enum {
    KSPEC_FREQUENCIES_IID = 0, /* independently */
    /* In blocks of p with orthogonal directions and the same distribution of lengths, each twice, with phases
     * a quarter of a turn apart (Yu et al., Orthogonal random features, 2016). Closer to the kernel, still
     * without bias, but the features are not independent. For the Gaussian and the Matern kernel. */
    KSPEC_FREQUENCIES_ORTHOGONAL
} kspec_frequencies;

/* How to scale a data table first. A constant column becomes 0; a row or column of zeros stays 0. */
typedef enum {
    KSPEC_SCALING_NONE = 0,
    KSPEC_SCALING_STANDARDIZE, /* columns to mean 0 and standard deviation 1 (divisor n) */
    KSPEC_SCALING_MINMAX,      /* columns to the range 0 to 1 */
    KSPEC_SCALING_UNIT_ROWS,   /* each row to length 1 */
    KSPEC_SCALING_UNIT_COLS    /* each column to length 1 */
} kspec_scaling;
#endif
