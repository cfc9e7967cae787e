/* Part of kspec.h: the kinds of kernels, and how the columns of a data table are scaled first. */
#ifndef KSPEC_KERNEL_H
#define KSPEC_KERNEL_H
#include "kspec/base.h"
KSPEC_BEGIN_DECLS

/* Shift-invariant kernels k(x,y) with k(x,x) = 1 and bandwidth sigma; d = x - y has p coordinates. Each
 * comment gives the kernel with sigma and with gamma, then the distribution of w for which E cos(w.d) =
 * k(x,y). The coordinates of w are independent, except for Matern's. */
typedef enum {
    KSPEC_KERNEL_GAUSSIAN = 0, /* exp(-sum d_l^2 / (2 sigma^2)) = exp(-gamma |d|^2);  w_l ~ N(0, sigma^-2) */
    KSPEC_KERNEL_LAPLACE, /* exp(-sum |d_l| / sigma) = exp(-gamma |d|_1);  w_l ~ Cauchy of scale 1/sigma */
    /* prod 1/(1 + d_l^2/sigma^2) = prod 1/(1 + gamma d_l^2);  w_l ~ Laplace of scale 1/sigma */
    KSPEC_KERNEL_CAUCHY,
    /* Smoothness nu, with r = |d|/sigma and z = sqrt(2 nu) r: 2^(1-nu)/Gamma(nu) z^nu K_nu(z): exp(-r) for nu
     * = 1/2, (1 + z) exp(-z) for 3/2, (1 + z + z^2/3) exp(-z) for 5/2. gamma is 1/sigma. w = v sqrt(2 nu/c),
     * v ~ N(0, sigma^-2 I), c ~ chi^2 with 2 nu degrees of freedom, one c for each w: Student's distribution.
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
KSPEC_END_DECLS
#endif
