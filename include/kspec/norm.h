/* Part of kspec.h: Gram matrices of a kernel, their random features, and their spectral norm. */
#ifndef KSPEC_NORM_H
#define KSPEC_NORM_H

#include "kspec/kernel.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    size_t size;
    kspec_kernel kernel;
    double sigma;    /* > 0; default 1 */
    size_t features; /* q; default 256 */
    uint64_t seed;
    int threads;
    kspec_progress progress;
} kspec_kernel_opts;

/*
 * Random Fourier features: Z (n x q, row-major, written to out) with Z_ij = sqrt(2/q) cos(w_j.x_i + b_j), b_j uniform
 * on (0, 2 pi), so that Z Z^T estimates the Gram matrix K of the n rows of x without bias. Feature j is the same
 * whatever q is. The cosine's error is below 4e-16; that of its argument a few 1e-16 of sum_l |w_l x_l|; entries of x
 * beyond 1e12 sigma are refused.
 */
KSPEC_API kspec_status kspec_features(const kspec_matrix *x, const kspec_kernel_opts *opts, double *out,
                                      kspec_error *err);

/* The Gram matrix K_ij = k(x_i, x_j) itself: n x n, row-major, written to out. */
KSPEC_API kspec_status kspec_gram(const kspec_matrix *x, const kspec_kernel_opts *opts, double *out,
                                  kspec_error *err);

/* ------------------------------------------------------------------------------------------- the norm */

typedef enum {
    KSPEC_NORM_EIGEN = 1u << 0,   /* LAPACK on the whole n x n matrix: time n^3, n <= 32,000 */
    KSPEC_NORM_POWER = 1u << 1,   /* power iteration on K: time n^2 per update */
    KSPEC_NORM_LANCZOS = 1u << 2, /* Lanczos iteration on K, far fewer products than power */
    KSPEC_NORM_RFF_POWER =
        1u << 3, /* power iteration on Z: sigma_1(Z)^2, time n q per update. Too large: see below */
    KSPEC_NORM_NYSTROM = 1u << 4,     /* (n/r) |K_r| of r sampled rows, by Lanczos */
    KSPEC_NORM_RFF_NYSTROM = 1u << 5, /* (n/r) sigma_1(Z_r)^2 */
    KSPEC_NORM_RFF_DEBIASED = 1u << 6 /* from unbiased moments of Z, with an interval: time n q^2 */
} kspec_norm_method;

/* The method's name in the tool: "eigen", ... NULL for a value that is not one method. */
KSPEC_API const char *kspec_norm_method_name(kspec_norm_method m);

typedef struct {
    size_t size;
    unsigned methods; /* a set of kspec_norm_method values; default LANCZOS */
    kspec_kernel kernel;
    double sigma,
        gamma; /* one of them > 0; both 0: sigma is the median distance of two rows (the L1 distance for
                            the Laplace kernel), of all pairs of at most 2048 rows drawn by the seed */
    kspec_scaling scaling;
    int gram; /* 1: the matrix given is K itself: finite, symmetric, positive semidefinite. EIGEN, POWER, LANCZOS
                         and NYSTROM only */
    size_t features;  /* q; default 256. With `tolerance`, where the doubling begins */
    size_t sample;    /* r of the Nystrom methods; default min(n, 1000) */
    int sample_first; /* 1: the first r rows instead of r drawn by the seed */
    int updates;      /* at most so many updates of an iteration; default 1000 */
    double stop;      /* iterations end when their estimated relative error is below it; default 1e-10 */
    int repeats;      /* how many draws of features and samples to average over; default 1 */
    double tolerance; /* RFF_DEBIASED: double q until its interval is narrower than this part of the value */
    size_t memory;    /* bytes: K and Z are held if they fit, else remade for each product; default 1 GiB */
    uint64_t seed;
    int threads;
    kspec_progress progress;
} kspec_norm_opts;

/* What is doubtful about a result; a set. */
enum {
    KSPEC_NORM_NEAR_FLOOR =
        1, /* within twice n/q, below which sigma_1(Z)^2 cannot fall: it says little of |K| */
    KSPEC_NORM_DISAGREES = 2,     /* outside the interval of the debiased estimate, or 20% away from that */
    KSPEC_NORM_NOT_CONVERGED = 4, /* the updates ended before the iteration converged */
    KSPEC_NORM_TOLERANCE_MISSED = 8, /* no q up to 4096 gives an interval as narrow as asked for */
    KSPEC_NORM_NO_ORDER = 16 /* debiased: no moment is known well enough; the interval is the trivial one */
};

typedef struct {
    double value, ci_low, ci_high;
} kspec_norm_draw;

typedef struct {
    kspec_norm_method method;
    double value; /* the estimate of |K|; the mean over the draws */
    double ci_low,
        ci_high;       /* RFF_DEBIASED: nominal 95% interval (with repeats, the mean of its ends); else NaN */
    double spread;     /* standard deviation over the draws; NaN for one */
    double seconds;    /* of one draw, on average */
    double iterations; /* updates (power) or products (Lanczos) of one draw, on average; 0 for the others */
    double residual;   /* |K v - value v| / value of the vector found; NaN for RFF_DEBIASED */
    double
        bound; /* RFF: with probability 95% sigma_1(Z)^2 is within this of |K| (of (n/r) |K_r| for RFF_NYSTROM); NaN
                        where it exceeds n and so says nothing, and for the other methods */
    int has_bound; /* 1 for the RFF methods, whether or not the bound says something */
    double
        debiased; /* RFF_POWER, RFF_NYSTROM: the debiased estimate of the same quantity from the same features, the
                        low orders alone, for q <= 1024; else NaN */
    int order;               /* RFF_DEBIASED: the order k at which it was read (of the first draw); else 0 */
    size_t features, sample; /* q and r, 0 where they play no part */
    unsigned doubts;
    size_t draw_count;
    kspec_norm_draw *draws; /* the single draws */
} kspec_norm_entry;

typedef struct {
    size_t n, p;
    double sigma, gamma;     /* in use; NaN for a Gram matrix */
    size_t constant_columns; /* that scaling left at 0 */
    size_t count;            /* entries, in the order of the methods above */
    kspec_norm_entry *entries;
    double seconds;
} kspec_norm_result;

/*
 * The spectral norm |K| of the Gram matrix K_ij = k(x_i, x_j) of the rows of x.
 *
 * K is never held where it does not fit into `memory`: its tiles are made again for each product, from the rows of x.
 * Time per product about n^2/2 exponentials and n^2 p/2 multiply-adds; memory 32 n doubles, up to
 * 97 n more for the basis of Lanczos, and a copy of x.
 *
 * RFF. Z Z^T has rank q and a trace near n, so sigma_1(Z)^2 is at least about n/q, however small |K| is: it
 * overestimates where |K| is not large beside n/q. Two things tell: the doubts of the result, and RFF_DEBIASED. The
 * latter takes sampling of features for sampling of columns: with m(k) = tr (K/n)^k, estimated without bias from the
 * q x q matrix Z^T Z by cycles of distinct columns (all of them for k <= 5, increasing ones in random orders above),
 *
 *     n m(k)/m(k-1) <= |K| <= n m(k)^(1/k)
 *
 * holds for the true moments. The value is n m(k)^(1/k) at the highest order k <= 16 up to which every m(k) has a
 * standard error (a jackknife over columns) below half of itself. The interval goes from the lower 97.5% limit of
 * log n m(k)/m(k-1) to the upper one of log n m(k)^(1/k), both by the jackknife of the logarithm, within [1, n]. What
 * remains biased: m(k)^(1/k) exceeds the norm at finite k, by a part of log(m(k) n^k/|K|^k)/k; and the root of an unbiased
 * moment is smaller than that of the moment by about (k-1)/2 times the square of the value's relative error.
 *
 * The rows must be finite, and within 1e150 sigma of their mean (1e12 for the RFF methods). Errors of K's entries: a
 * few 1e-16 times h = max |x_i - mean|^2/(2 sigma^2) where that is below 1e4 and the kernel Gaussian (inner products);
 * a few 1e-16 otherwise (differences). A Gram matrix is checked: symmetric to 1e-10 of its largest entry, no negative
 * diagonal, |K_ij|^2 <= K_ii K_jj, no negative eigenvalue beyond 1e-3 of the norm in what Lanczos iteration sees.
 */
KSPEC_API kspec_status kspec_gram_norm(const kspec_matrix *x, const kspec_norm_opts *opts,
                                       kspec_norm_result *out, kspec_error *err);
KSPEC_API void kspec_norm_free(kspec_norm_result *result);

#ifdef __cplusplus
}
#endif
#endif
