/* Part of kspec.h: matrices whose kernel is known. */
#ifndef KSPEC_GENERATE_H
#define KSPEC_GENERATE_H

#include "kspec/base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
    KSPEC_GENERATE_RFF = 1, /* sqrt(2) sin(w.x + b): kernel exp(-|x-x'|^2 eta/2), x ~ N(0,I) in R^dim */
    KSPEC_GENERATE_LINEAR,  /* sum_l sqrt(c_l) x_l w_l, x and w standard normal: eigenvalues c_l */
    KSPEC_GENERATE_GAUSSIAN /* columns are draws of the Gaussian process with the same kernel as rff */
} kspec_process;

/*
 * Noise of standard deviation S in every entry, drawn anew in each trial: S e_ia, e_ia standard normal and
 * independent; or a share rho of its variance is common to the entries of a row, of a column, or half and
 * half of both:
 *
 *     S (sqrt(1-rho) e_ia + sqrt(rho) r_i),   S (sqrt(1-rho) e_ia + sqrt(rho) c_a),
 *     S (sqrt(1-rho) e_ia + sqrt(rho/2) (r_i + c_a)).
 *
 * Shared noise biases every estimate of the moments that is made from one trial; two trials undo it.
 */
typedef enum {
    KSPEC_NOISE_INDEPENDENT = 0,
    KSPEC_NOISE_ROWS,
    KSPEC_NOISE_COLS,
    KSPEC_NOISE_BOTH
} kspec_noise_correlation;

typedef struct {
    size_t size;
    kspec_process process;
    size_t rows, cols;         /* P inputs, Q features; both at least 1 */
    size_t dim;                /* input dimension; linear: number of eigenvalues if just one is given */
    const double *eta;         /* rff, gaussian: one value, or one per dimension; > 0; default 1 */
    size_t eta_count;          /* how many eta points to: 0, 1 or dim */
    const double *eigenvalues; /* linear: the c_l >= 0, one (repeated dim times) or dim of them; default 1 */
    size_t eigenvalue_count;
    double noise;  /* S, the standard deviation of the noise added to every entry of every trial; default 0 */
    size_t trials; /* T repeated measurements of the same rows and columns; default 1 */
    uint64_t seed;
    int threads;
    kspec_progress progress;
    /* rff, gaussian, in place of eta: the kernel exp(-(x-x')^T sigma^-1 (x-x')/2) under x ~ N(0, sigma_x).
       dim x dim, symmetric, sigma positive definite, sigma_x positive semidefinite; NULL is the identity. */
    const kspec_matrix *sigma, *sigma_x;
    kspec_noise_correlation noise_correlation;
    double noise_share; /* rho, above 0 and at most 1, of correlated noise; default 1 */
} kspec_generate_opts;

/*
 * The matrix is made in bands of rows, so that it need not fit in memory: beside the caller's band the
 * generator holds dim x cols weights and 64 rows per thread. kspec_generate_open() draws what all bands
 * share (inputs are made as needed); kspec_generate_rows() fills `out` (count x cols, row-major) with rows
 * first ... first+count-1 of trial t. The same seed gives the same entries however rows are banded. The
 * Gaussian process needs a rows x rows Cholesky factor instead of weights, and 512 rows per thread: rows may
 * be at most 20,000 there.
 */
typedef struct kspec_generator kspec_generator;
KSPEC_API kspec_status kspec_generate_open(const kspec_generate_opts *opts, kspec_generator **out,
                                           kspec_error *err);
KSPEC_API kspec_status kspec_generate_rows(kspec_generator *g, size_t trial, size_t first, size_t count,
                                           double *out, kspec_error *err);
KSPEC_API void kspec_generate_close(kspec_generator *g);

#ifdef __cplusplus
}
#endif
#endif
