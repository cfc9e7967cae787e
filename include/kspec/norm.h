/* Part of kspec.h: Gram matrices of a kernel, their random features, and their spectral norm. */
#ifndef KSPEC_NORM_H
#define KSPEC_NORM_H
#include "kspec/doubt.h"
#include "kspec/kernel.h"

/* The methods that estimate the norm; a set of bits. */
typedef enum {
    KSPEC_NORM_METHOD_DEFAULT = 0,           /* LANCZOS */
    KSPEC_NORM_METHOD_EIGEN = 1 << 0,        /* LAPACK on the whole n x n matrix: time n^3, n <= 32,000 */
    KSPEC_NORM_METHOD_POWER = 1 << 1,        /* power iteration on K: time n^2 per update */
    KSPEC_NORM_METHOD_LANCZOS = 1 << 2,      /* Lanczos iteration on K: far fewer products than power */
    KSPEC_NORM_METHOD_RFF_POWER = 1 << 3,    /* sigma_1(Z)^2: time n q per update; may be far too large */
    KSPEC_NORM_METHOD_NYSTROM = 1 << 4,      /* (n/r) |K_r| of r sampled rows, by Lanczos iteration */
    KSPEC_NORM_METHOD_RFF_NYSTROM = 1 << 5,  /* (n/r) sigma_1(Z_r)^2 of r sampled rows */
    KSPEC_NORM_METHOD_RFF_DEBIASED = 1 << 6, /* from unbiased moments of Z: time n q^2, q <= 4096 */
    /* LANCZOS if it takes a few seconds of one core, RFF_DEBIASED if LANCZOS is left out or takes longer. A
     * note among the doubts names the method left out. For a Gram matrix: LANCZOS. */
    KSPEC_NORM_METHOD_AUTO = 1 << 7
} kspec_norm_method;

typedef struct {
    size_t size;
    unsigned methods; /* a set of kspec_norm_method; default LANCZOS */
    kspec_kernel kernel;
    double sigma, gamma; /* give one of the two (kspec_kernel); default sigma 1 */
    /* 1: sigma is the median distance of two rows instead (L1 for the Laplace kernel), over all pairs of at
     * most 2048 rows that the seed draws. sigma and gamma must be 0 then. */
    int median_sigma;
    kspec_scaling scaling;
    /* 1: the given matrix is K itself: finite, symmetric, positive semidefinite. For EIGEN, POWER, LANCZOS
     * and NYSTROM; kernel, sigma, gamma, median_sigma and scaling must be 0 then. */
    int gram;
    size_t features;  /* q, at most 1,000,000; default 256; with `tolerance`, the first q */
    size_t sample;    /* r, the rows of a Nystrom sample, at most n; default min(n, 1000) */
    int sample_first; /* 1: the sample is the first r rows; default: r rows that the seed draws */
    int updates;      /* the largest number of updates of an iteration; default 1000 */
    double stop;      /* an iteration ends at this relative error, between 0 and 1; default 1e-10 */
    int repeats;      /* draws of features and samples to average over, at most 1,000,000; default 1 */
    double tolerance; /* doubles q, up to 4096, until RFF_DEBIASED's interval is this fraction of its value */
    size_t memory; /* bytes: K and Z are stored if they fit, else computed for each product; default 1 GiB */
    uint64_t seed;
    int threads;
    kspec_progress progress;
    kspec_team *team; /* each process has its part of K and Z */
    /* A GPU computes the products with K for POWER, LANCZOS and NYSTROM, tile by tile, if K is not given, and
     * the features, products and moments of the RFF methods. EIGEN always runs on the CPU. */
    kspec_device device;
    kspec_memory data_memory; /* the call copies x from a GPU to the host, and scales and centres x there */
    double nu; /* the smoothness of KSPEC_KERNEL_MATERN, above 0 and at most 100,000; default 1.5 */
    kspec_frequencies frequencies; /* ORTHOGONAL: for RFF_POWER and RFF_NYSTROM */
    double error; /* chooses q, `features` or more, for this relative error of RFF_POWER; between 0 and 1 */
} kspec_norm_opts;

/* One draw of features and samples. Only RFF_DEBIASED has intervals. */
typedef struct {
    double value, ci_low, ci_high;
} kspec_norm_draw;

/* The result of one method. */
typedef struct {
    kspec_norm_method method;
    double value, ci_low, ci_high; /* the estimate of |K| and its ends: means over the draws */
    double spread;                 /* the standard deviation over the draws; NaN for one draw */
    double seconds, iterations;    /* means over draws; updates of power, else matrix products */
    double residual;               /* |K v - value v| / value for the vector v found; NaN for RFF_DEBIASED */
    /* RFF_POWER, RFF_NYSTROM: with a probability of 95% sigma_1(Z)^2 is within this of |K|, or of (n/r) |K_r|
     * (Theorem 2.1). POWER: |K| exceeds the value by less (Theorem 2.5). NaN above n, and for others. */
    double bound;
    int has_bound;           /* 1: POWER, and with independent frequencies RFF_POWER and RFF_NYSTROM */
    double debiased;         /* RFF_POWER, RFF_NYSTROM, q <= 1024: debiased by low orders from the same Z */
    int order;               /* RFF_DEBIASED: the order k that gave the value (of the first draw); else 0 */
    size_t features, sample; /* q and r; 0 if the method does not use them */
    size_t draw_count;
    kspec_norm_draw **draws;
    int paired; /* RFF_DEBIASED, 1: q/2 cosines and the sines of the same frequencies; 0: q cosines */
} kspec_norm_entry;

typedef struct {
    size_t n, p, constant_columns; /* constant columns became 0 */
    double sigma, gamma;           /* the bandwidth in use; NaN for a given Gram matrix */
    size_t count;                  /* one entry per method, in the order of kspec_norm_method */
    kspec_norm_entry **entries;
    double seconds;
    kspec_device_used device;
    size_t doubt_count; /* for an entry, `where` is the name of its method */
    kspec_doubt **doubts;
    double nu;             /* of the Matern kernel */
    double expected_error; /* relative, of RFF_POWER at the q chosen for opts.error */
} kspec_norm_result;

/* The spectral norm |K|, the largest eigenvalue, of the Gram matrix K_ij = k(x_i, x_j) of the rows of x. K is
 * stored if it fits into `memory`; otherwise each product computes it again, with about n^2/2 exponentials
 * and n^2 p/2 multiply-adds. Additional memory: 32 n doubles, up to 97 n more for Lanczos, and a copy of x.
 *
 * Random features (RFF). Z Z^T has rank q and a trace near n, so sigma_1(Z)^2 is at least about n/q: far too
 * large unless |K| is large compared with n/q. The doubts report this. RFF_DEBIASED estimates tr (K/n)^k
 * without bias from Z, and |K| from these moments up to an order k <= 16 (docs/explanation/norm.md).
 *
 * The rows must be finite (else KSPEC_E_DATA) and within 1e150 sigma of their mean, or 1e12 for the RFF
 * methods (else KSPEC_E_ARG). A given Gram matrix must be symmetric to 1e-10 of its largest entry, with no
 * negative diagonal entry, |K_ij|^2 <= K_ii K_jj, and no negative eigenvalue beyond 1e-3 of the norm among
 * those that Lanczos iteration finds; otherwise KSPEC_E_DATA. */
KSPEC_API kspec_status kspec_norm(const kspec_matrix *x, const kspec_norm_opts *opts, kspec_norm_result **out,
                                  kspec_error *err);

/* Random Fourier features: Z (n x q, row-major, written to out) with Z_ij = sqrt(2/q) cos(w_j.x_i + b_j), b_j
 * uniform on (0, 2 pi). Z Z^T estimates the Gram matrix K of the n rows of x without bias. Feature j does not
 * depend on q, nor, for a given sigma, on other rows. Entries of x beyond 1e12 sigma are KSPEC_E_ARG. Time n
 * q p multiply-adds and n q cosines; memory p q doubles, 128 rows of x per thread, and for median_sigma a
 * copy of x. Only the options kernel, sigma, gamma, median_sigma, features, seed, threads, progress, nu and
 * frequencies have an effect; scaling and gram are KSPEC_E_ARG. */
KSPEC_API kspec_status kspec_features(const kspec_matrix *x, const kspec_norm_opts *opts, double *out,
                                      kspec_error *err);

/* The Gram matrix K_ij = k(x_i, x_j) itself: n x n, row-major, written to out. Symmetric to the last bit,
 * with ones on the diagonal. Options as in kspec_features(). Time n^2 p/2 multiply-adds and n^2/2
 * exponentials; memory a copy of x. */
KSPEC_API kspec_status kspec_gram(const kspec_matrix *x, const kspec_norm_opts *opts, double *out,
                                  kspec_error *err);
#endif
