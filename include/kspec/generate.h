/* Part of kspec.h: matrices whose kernel is known. */
#ifndef KSPEC_GENERATE_H
#define KSPEC_GENERATE_H
#include "kspec/base.h"

typedef enum {
    KSPEC_PROCESS_RFF = 0, /* sqrt(2) sin(w.x + b): kernel exp(-|x-x'|^2 eta/2), x ~ N(0,I) in R^dim */
    KSPEC_PROCESS_LINEAR,  /* sum_l sqrt(c_l) x_l w_l, x and w standard normal: eigenvalues c_l */
    KSPEC_PROCESS_GAUSSIAN /* columns are draws of the Gaussian process with the kernel of rff */
} kspec_process;

/* Normal noise of standard deviation S in every entry, drawn anew in each trial: S e_ia; or the entries of a
 * row share a fraction rho of its variance, S (sqrt(1-rho) e_ia + sqrt(rho) r_i), or of a column, with c_a,
 * or of both, S (sqrt(1-rho) e_ia + sqrt(rho/2) (r_i + c_a)). Shared noise biases every estimate of the
 * moments from one trial; two trials remove this bias. */
typedef enum {
    KSPEC_NOISE_INDEPENDENT = 0,
    KSPEC_NOISE_ROWS,
    KSPEC_NOISE_COLS,
    KSPEC_NOISE_BOTH
} kspec_noise;

typedef struct {
    size_t size;
    kspec_process process;
    size_t dim; /* of the inputs; default: as many as eta, eigenvalues or rows of Sigma or Sigma_x, else 1 */
    /* rff, gaussian: eta, above 0; linear: the c_l >= 0. One value for every dimension, or dim; default 1. */
    const double *eta, *eigenvalues;
    size_t eta_count, eigenvalue_count;
    /* rff, gaussian, instead of eta: the kernel exp(-(x-x')^T Sigma^-1 (x-x')/2) under x ~ N(0, Sigma_x).
     * Symmetric, Sigma positive definite, Sigma_x semidefinite (else KSPEC_E_DATA); NULL: identity. */
    const kspec_matrix *Sigma, *Sigma_x;
    double noise; /* S; default 0 */
    kspec_noise noise_correlation;
    double noise_share; /* rho, above 0 and at most 1; default 1 */
    size_t trials;      /* T, repeated measurements of the same rows and columns; default 1 */
    uint64_t seed;
    int threads;
    kspec_progress progress;
} kspec_generate_opts;

/* Draws T matrices of `rows` inputs (P) and `cols` features (Q), the trials, into out: T x rows x cols,
 * row-major. Memory beyond `out`: dim x cols weights, and 64 rows per thread; for the Gaussian process, which
 * has at most 20,000 rows, a rows x rows Cholesky factor and 512 rows per thread. kspec/host.h generates a
 * matrix that does not fit in memory in bands of rows. */
KSPEC_API kspec_status kspec_generate(size_t rows, size_t cols, const kspec_generate_opts *opts, double *out,
                                      kspec_error *err);
#endif
