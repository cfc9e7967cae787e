/* Checks the options of a kernel. */
#include "features/kernel.h"

#include "base/error.h"
#include "features/matern.h"

#include <math.h>

kspec_status ks_kernel_check(ks_kernel *k, kspec_error *err) {
    if ((size_t)k->kind > KSPEC_KERNEL_MATERN)
        return ks_fail(err, KSPEC_E_ARG, "unknown kernel %d", (int)k->kind);
    const int matern = k->kind == KSPEC_KERNEL_MATERN;
    if (k->nu != 0 && !matern)
        return ks_refuse(err, KSPEC_E_ARG, "nu", NULL, "nu %g is for the Matern kernel", k->nu);
    if (!(k->nu >= 0 && k->nu <= KS_MATERN_SMOOTHEST))
        return ks_fail(err, KSPEC_E_ARG, "nu %g is not above 0 and at most %g", k->nu, KS_MATERN_SMOOTHEST);
    if (k->nu == 0) k->nu = 1.5;
    if ((size_t)k->frequencies > KSPEC_FREQUENCIES_ORTHOGONAL)
        return ks_fail(err, KSPEC_E_ARG, "unknown frequencies %d", (int)k->frequencies);
    if (k->frequencies == KSPEC_FREQUENCIES_ORTHOGONAL && !matern && k->kind != KSPEC_KERNEL_GAUSSIAN)
        return ks_refuse(err, KSPEC_E_ARG, "frequencies", NULL,
                         "orthogonal frequencies are for the Gaussian and the Matern kernel");
    return KSPEC_OK;
}

kspec_status ks_bandwidth_check(const ks_bandwidth *b, kspec_error *err) {
    if (!(b->sigma >= 0 && b->sigma <= 1e300))
        return ks_fail(err, KSPEC_E_ARG, "sigma %g is not between 0 and 1e300", b->sigma);
    if (!(b->gamma >= 0 && b->gamma <= 1e300))
        return ks_fail(err, KSPEC_E_ARG, "gamma %g is not between 0 and 1e300", b->gamma);
    if (b->sigma > 0 && b->gamma > 0)
        return ks_refuse(err, KSPEC_E_ARG, "sigma", NULL, "sigma %g and gamma %g: give only one of them",
                         b->sigma, b->gamma);
    if (b->median && (b->sigma > 0 || b->gamma > 0))
        return ks_refuse(err, KSPEC_E_ARG, "sigma", NULL, "%s %g and median_sigma: give only one of them",
                         b->sigma > 0 ? "sigma" : "gamma", b->sigma > 0 ? b->sigma : b->gamma);
    return KSPEC_OK;
}

static int by_length(kspec_kernel kernel) {
    return kernel == KSPEC_KERNEL_LAPLACE || kernel == KSPEC_KERNEL_MATERN;
}

static double to_sigma(kspec_kernel kernel, double gamma) {
    if (by_length(kernel)) return 1 / gamma;
    return 1 / sqrt(kernel == KSPEC_KERNEL_CAUCHY ? gamma : 2 * gamma);
}

double ks_gamma(kspec_kernel kernel, double sigma) {
    if (by_length(kernel)) return 1 / sigma;
    return 1 / (kernel == KSPEC_KERNEL_CAUCHY ? sigma * sigma : 2 * sigma * sigma);
}

kspec_status ks_bandwidth_sigma(const ks_bandwidth *b, kspec_kernel kernel, const ks_inputs *rows,
                                uint64_t seed, double *sigma, kspec_error *err) {
    if (b->median) return ks_inputs_median(rows, kernel, seed, sigma, err);
    *sigma = b->gamma > 0 ? to_sigma(kernel, b->gamma) : b->sigma > 0 ? b->sigma : 1;
    return KSPEC_OK;
}
