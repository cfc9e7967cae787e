/* The kernels of Gram matrices, as functions of d, the difference of two points in units of sigma. */
#pragma once

typedef enum {
    KS_METRIC_GAUSSIAN, /* exp(-sum d_l^2 / 2) */
    KS_METRIC_LAPLACE,  /* exp(-sum |d_l|) */
    KS_METRIC_CAUCHY,   /* prod 1/(1 + d_l^2) */
    KS_METRIC_SQUARE    /* sum d_l^2, for kernels that are functions of this distance */
} ks_metric;
