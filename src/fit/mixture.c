/* Computes weights and quantiles of mixtures of normal distributions. */
#include "fit/mixture.h"

#include <math.h>

void ks_mixture_weights(size_t n, const double *log_weight, double *weight) {
    double top = -INFINITY, sum = 0;
    for (size_t k = 0; k < n; k++) top = fmax(top, log_weight[k]);
    for (size_t k = 0; k < n; k++) sum += weight[k] = exp(log_weight[k] - top);
    for (size_t k = 0; k < n; k++) weight[k] /= sum;
}

double ks_mixture_quantile(size_t n, const double *weight, const double *mean, const double *sd,
                           size_t stride, double q) {
    double low = INFINITY, high = -INFINITY;
    for (size_t k = 0; k < n; k++) {
        low = fmin(low, mean[k * stride] - 8 * sd[k * stride]);
        high = fmax(high, mean[k * stride] + 8 * sd[k * stride]);
    }
    for (int i = 0; i < 60; i++) {
        double x = 0.5 * (low + high), below = 0;
        for (size_t k = 0; k < n; k++) {
            double s = sd[k * stride], from = x - mean[k * stride];
            below += weight[k] * (s > 0 ? 0.5 * erfc(-from / s * sqrt(0.5)) : from >= 0);
        }
        if (below < q)
            low = x;
        else
            high = x;
    }
    return 0.5 * (low + high);
}
