/* Computes random features f(w.x) and their kernels. */
#include "ridge/activation.h"

#include "base/error.h"
#include "linalg/linalg.h"

#include <math.h>

static const double pi = 3.14159265358979323846;

kspec_status ks_activation_check(kspec_ridge_activation kind, kspec_error *err) {
    if ((int)kind >= KSPEC_RIDGE_ACTIVATION_FOURIER && (int)kind <= KSPEC_RIDGE_ACTIVATION_PHASES)
        return KSPEC_OK;
    return ks_fail(err, KSPEC_E_ARG, "unknown activation %d", (int)kind);
}

void ks_activate(const ks_activation *f, double *x, const double *phases, size_t count) {
    switch (f->kind) {
    case KSPEC_RIDGE_ACTIVATION_RELU:
        for (size_t k = 0; k < count; k++) x[k] = fmax(x[k], 0);
        break;
    case KSPEC_RIDGE_ACTIVATION_LEAKY:
        for (size_t k = 0; k < count; k++) x[k] = x[k] > 0 ? x[k] : f->slope * x[k];
        break;
    case KSPEC_RIDGE_ACTIVATION_ERF:
        for (size_t k = 0; k < count; k++) x[k] = erf(x[k]);
        break;
    case KSPEC_RIDGE_ACTIVATION_SIGN:
        for (size_t k = 0; k < count; k++) x[k] = x[k] > 0 ? 1 : x[k] < 0 ? -1 : 0;
        break;
    case KSPEC_RIDGE_ACTIVATION_ABS:
        for (size_t k = 0; k < count; k++) x[k] = fabs(x[k]);
        break;
    case KSPEC_RIDGE_ACTIVATION_COS:
        for (size_t k = 0; k < count; k++) x[k] = cos(x[k]);
        break;
    case KSPEC_RIDGE_ACTIVATION_QUADRATIC:
        for (size_t k = 0; k < count; k++) x[k] *= x[k];
        break;
    default:
        for (size_t k = 0; k < count; k++) x[k] = sqrt(2.0) * cos(x[k] + phases[k]);
    }
}

/* ---- kernels ---- */

/* Returns the arc-cosine kernel E max(u,0) max(v,0), for standard normal u and v of correlation rho. */
static double arc_cosine(double rho) { return (rho * acos(-rho) + sqrt(fmax(0, 1 - rho * rho))) / (2 * pi); }

double ks_activation_kernel(const ks_activation *f, double product, double square, double other) {
    /*
     * For a row with itself, rho must be exactly 1: near 1, asin turns a rounding error of 1e-16 into
     * 1e-8.
     */
    const double lengths = square == other ? square : sqrt(square) * sqrt(other), s = f->slope;
    const double rho = lengths > 0 ? fmax(-1, fmin(1, product / lengths)) : 0;
    switch (f->kind) {
    case KSPEC_RIDGE_ACTIVATION_RELU: return lengths * arc_cosine(rho);
    case KSPEC_RIDGE_ACTIVATION_LEAKY:
        return lengths * ((1 + s * s) * arc_cosine(rho) - 2 * s * arc_cosine(-rho));
    case KSPEC_RIDGE_ACTIVATION_ABS:
        return lengths * (2 / pi) * (rho * asin(rho) + sqrt(fmax(0, 1 - rho * rho)));
    case KSPEC_RIDGE_ACTIVATION_ERF: {
        const double t = 2 * product / (sqrt(1 + 2 * square) * sqrt(1 + 2 * other));
        return (2 / pi) * asin(fmax(-1, fmin(1, t)));
    }
    case KSPEC_RIDGE_ACTIVATION_SIGN: return lengths > 0 ? (2 / pi) * asin(rho) : 0;
    case KSPEC_RIDGE_ACTIVATION_QUADRATIC: return square * other + 2 * product * product;
    case KSPEC_RIDGE_ACTIVATION_COS: { /* This form avoids cosh(), which overflows. */
        const double sum = square + other;
        return (exp(fmin(0, product - sum / 2)) + exp(fmin(0, -product - sum / 2))) / 2;
    }
    default: return exp(fmin(0, product - (square + other) / 2));
    }
}

void ks_activation_matrix(const ks_activation *f, const double *A, const double *qa, size_t rows,
                          const double *B, const double *qb, size_t n, size_t p, double *K) {
    ks_gemm(0, 1, rows, n, p, 1, A, p, B, p, 0, K, n);
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < n; j++) K[i * n + j] = ks_activation_kernel(f, K[i * n + j], qa[i], qb[j]);
}

/* ---- an intercept ---- */

double ks_kernel_means(const double *K, size_t n, double *mean) {
    double all = 0;
    for (size_t i = 0; i < n; i++) {
        mean[i] = 0;
        for (size_t j = 0; j < n; j++) mean[i] += K[i * n + j] / (double)n;
        all += mean[i] / (double)n;
    }
    return all;
}

void ks_kernel_center(double *K, size_t rows, size_t n, const double *mean, double *own, double all) {
    for (size_t i = 0; i < rows; i++) {
        double of_row = own ? 0 : mean[i];
        for (size_t j = 0; j < n && own; j++) of_row += K[i * n + j] / (double)n;
        for (size_t j = 0; j < n; j++) K[i * n + j] += all - mean[j] - of_row;
        if (own) own[i] += all - 2 * of_row;
    }
}
