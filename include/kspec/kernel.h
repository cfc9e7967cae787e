/* Part of kspec.h: the kinds of kernels, and how the columns of a data table are scaled first. */
#ifndef KSPEC_KERNEL_H
#define KSPEC_KERNEL_H

#include "kspec/base.h"

KSPEC_BEGIN_DECLS

/* Shift-invariant kernels k(x,y) with k(x,x) = 1 and bandwidth sigma; d = x - y has p coordinates. Each is
 * written with sigma and with gamma, followed by the distribution of w for which E cos(w.d) = k(x,y). The
 * coordinates of w are independent. */
typedef enum {
    KSPEC_KERNEL_GAUSSIAN = 0, /* exp(-sum d_l^2 / (2 sigma^2)) = exp(-gamma |d|^2);  w_l ~ N(0, sigma^-2) */
    KSPEC_KERNEL_LAPLACE, /* exp(-sum |d_l| / sigma) = exp(-gamma |d|_1);  w_l ~ Cauchy of scale 1/sigma */
    /* prod 1/(1 + d_l^2/sigma^2) = prod 1/(1 + gamma d_l^2);  w_l ~ Laplace of scale 1/sigma */
    KSPEC_KERNEL_CAUCHY
} kspec_kernel;

/* How each column of a data table is scaled first. A constant column becomes 0. */
typedef enum {
    KSPEC_SCALING_NONE = 0,
    KSPEC_SCALING_STANDARDIZE, /* to mean 0 and standard deviation 1 (divisor n) */
    KSPEC_SCALING_MINMAX       /* to the range 0 to 1 */
} kspec_scaling;

KSPEC_END_DECLS
#endif
