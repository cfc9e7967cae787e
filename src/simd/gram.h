/* Names the kernels of Gram matrices, as functions of the difference d of two points in units of sigma. */
#pragma once

typedef enum {
    KS_METRIC_GAUSSIAN, /* exp(-sum d_l^2 / 2) */
    KS_METRIC_LAPLACE,  /* exp(-sum |d_l|) */
    KS_METRIC_CAUCHY,   /* prod 1/(1 + d_l^2) */
    KS_METRIC_SQUARE    /* sum d_l^2 */
} ks_metric;
