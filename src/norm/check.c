/* Checks the options and the matrix of kspec_norm(), and chooses methods for AUTO. */
#include "norm/check.h"

#include "base/error.h"
#include "base/matrix.h"
#include "norm/debiased.h"

#include <math.h>

static const unsigned ALL = (KSPEC_NORM_METHOD_RFF_DEBIASED << 1) - 1;

/*
 * Chooses the methods of AUTO for p columns by their multiply-adds. One core computes about 4e10
 * multiply-adds a second. Lanczos takes about 5 products with K, which is recomputed for each product if
 * it does not fit into memory. The moments of q features take 700 q^3, plus work linear in n (measured:
 * 0.33 s at q = 256).
 */
unsigned ks_norm_auto(const kspec_norm_opts *o, size_t rows, size_t p) {
    enum {
        PRODUCTS = 5,
        FUNCTION = 20 /* the cost of an exponential or a cosine in multiply-adds */
    };
    const double BUDGET = 1e11, n = (double)rows, q = (double)(o->features ? o->features : 256);
    const double memory = o->memory ? (double)o->memory : 0x1p30, each = (double)p + FUNCTION;
    const double exact =
        n * n / 2 * each * (n * n * sizeof(double) > memory ? PRODUCTS : 1) + PRODUCTS * n * n;
    const double approximate = n * q * (each + q / 2) + 700 * q * q * q;
    if (o->gram) return KSPEC_NORM_METHOD_LANCZOS;
    return (exact <= BUDGET || exact <= approximate ? KSPEC_NORM_METHOD_LANCZOS : 0U) |
           (exact > BUDGET || approximate <= exact ? KSPEC_NORM_METHOD_RFF_DEBIASED : 0U);
}

/* Checks the numbers of features, samples, updates and draws. */
static kspec_status check_numbers(kspec_norm_opts *o, size_t n, kspec_error *err) {
    if (!o->features) o->features = 256;
    if (o->features > 1000000) return ks_fail(err, KSPEC_E_ARG, "features %zu exceed 1000000", o->features);
    if (o->methods & KSPEC_NORM_METHOD_RFF_DEBIASED && o->features > ks_debiased_features)
        return ks_fail(err, KSPEC_E_ARG, "rff-debiased: %zu features exceed %zu", o->features,
                       ks_debiased_features);
    if (o->methods & KS_NORM_SAMPLED && o->sample > n)
        return ks_fail(err, KSPEC_E_ARG, "sample %zu exceeds the number of rows, %zu", o->sample, n);
    if (!o->sample) o->sample = n < 1000 ? n : 1000;
    if (o->updates < 0) return ks_fail(err, KSPEC_E_ARG, "updates %d is below 1", o->updates);
    if (!o->updates) o->updates = 1000;
    if (!(o->stop >= 0 && o->stop < 1))
        return ks_fail(err, KSPEC_E_ARG, "stop %g is not between 0 and 1", o->stop);
    if (o->stop == 0) o->stop = 1e-10;
    if (o->repeats < 0 || o->repeats > 1000000)
        return ks_fail(err, KSPEC_E_ARG, "repeats %d is not between 1 and 1000000", o->repeats);
    if (!o->repeats) o->repeats = 1;
    if (!(o->tolerance >= 0 && isfinite(o->tolerance)))
        return ks_fail(err, KSPEC_E_ARG, "tolerance %g is not positive", o->tolerance);
    if (o->tolerance > 0 && !(o->methods & KSPEC_NORM_METHOD_RFF_DEBIASED))
        return ks_fail(err, KSPEC_E_ARG, "a tolerance needs the method rff-debiased");
    if (!o->memory) o->memory = (size_t)1 << 30;
    return KSPEC_OK;
}

/* Rejects orthogonal frequencies and a wanted error if the method cannot use them. */
static kspec_status check_features(const kspec_norm_opts *o, unsigned asked, kspec_error *err) {
    if (o->frequencies == KSPEC_FREQUENCIES_ORTHOGONAL && !(asked & KS_NORM_RFF))
        return ks_refuse(err, KSPEC_E_ARG, "frequencies", NULL,
                         "orthogonal frequencies are for rff-power and rff-nystrom");
    if (o->frequencies == KSPEC_FREQUENCIES_ORTHOGONAL && asked & KSPEC_NORM_METHOD_RFF_DEBIASED)
        return ks_refuse(err, KSPEC_E_ARG, "frequencies", NULL,
                         "rff-debiased needs independent features, which orthogonal frequencies do "
                         "not give");
    if (!(o->error >= 0 && o->error < 1))
        return ks_fail(err, KSPEC_E_ARG, "error %g is not between 0 and 1", o->error);
    if (o->error > 0 && (o->tolerance > 0 || !(o->methods & KSPEC_NORM_METHOD_RFF_POWER)))
        return ks_refuse(err, KSPEC_E_ARG, "error", NULL, "a wanted error %s",
                         o->tolerance > 0 ? "and a tolerance cannot be combined"
                                          : "needs the method rff-power");
    return KSPEC_OK;
}

kspec_status ks_norm_check_options(kspec_norm_opts *o, size_t n, unsigned left_out, ks_kernel *kernel,
                                   kspec_error *err) {
    const ks_bandwidth bandwidth = {o->sigma, o->gamma, o->median_sigma};
    if (!o->methods) o->methods = KSPEC_NORM_METHOD_LANCZOS;
    if (o->methods & ~ALL)
        return ks_fail(err, KSPEC_E_ARG, "unknown method 0x%x: methods are bits up to 0x%x",
                       o->methods & ~ALL, ALL);
    if (o->scaling < KSPEC_SCALING_NONE || o->scaling > KSPEC_SCALING_UNIT_COLS)
        return ks_fail(err, KSPEC_E_ARG, "unknown scaling %d", (int)o->scaling);
    *kernel = (ks_kernel){o->kernel, o->nu, o->frequencies};
    kspec_status st = ks_kernel_check(kernel, err);
    if (!st) st = ks_bandwidth_check(&bandwidth, err);
    if (!st) st = check_numbers(o, n, err);
    if (!st) st = check_features(o, o->methods | left_out, err);
    if (st || !o->gram) return st;
    if (o->methods & KS_NORM_RFF)
        return ks_fail(err, KSPEC_E_ARG, "random features need the rows themselves, not their Gram matrix");
    if (o->sigma > 0 || o->gamma > 0 || o->nu != 0 || o->median_sigma || o->scaling != KSPEC_SCALING_NONE ||
        o->kernel != KSPEC_KERNEL_GAUSSIAN)
        return ks_refuse(err, KSPEC_E_ARG, "gram", NULL,
                         "a Gram matrix takes no kernel, sigma, gamma, median_sigma or scaling");
    return KSPEC_OK;
}

kspec_status ks_norm_check_gram(const kspec_matrix *K, double *unit, kspec_error *err) {
    size_t n = K->rows;
    if (n != K->cols)
        return ks_fail(err, KSPEC_E_DATA, "a Gram matrix is square, but this one is %zu x %zu", n, K->cols);
    kspec_status st = ks_matrix_finite(K, "the Gram matrix", err);
    if (st) return st;
    double largest = 0;
    for (size_t i = 0; i < n; i++) {
        double d = ks_at(K, i, i);
        if (d < 0) return ks_fail(err, KSPEC_E_DATA, "not a Gram matrix: entry (%zu, %zu) is %g", i, i, d);
        largest = fmax(largest, d);
    }
    if (largest > 0) *unit = ldexp(1, ilogb(largest));
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < i; k++) {
            double u = ks_at(K, i, k), v = ks_at(K, k, i), most = sqrt(ks_at(K, i, i)) * sqrt(ks_at(K, k, k));
            if (fabs(u - v) > 1e-10 * largest)
                return ks_fail(err, KSPEC_E_DATA,
                               "not a Gram matrix: entries (%zu, %zu) and (%zu, %zu), %g and %g, differ", i,
                               k, k, i, u, v);
            if (fabs(u) > most + 1e-10 * largest)
                return ks_fail(err, KSPEC_E_DATA,
                               "not a Gram matrix: entry (%zu, %zu), %g, exceeds the geometric mean of its "
                               "diagonal entries, %g",
                               i, k, u, most);
        }
    return KSPEC_OK;
}
