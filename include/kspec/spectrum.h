/* Part of kspec.h: eigenvalues of the kernel operator. */
#ifndef KSPEC_SPECTRUM_H
#define KSPEC_SPECTRUM_H
#include "kspec/moments.h"

/* The eigenvalues lambda_1 >= lambda_2 >= ... of the kernel operator behind a matrix Phi (P x Q). Sampling
 * spreads the eigenvalues s_i of Phi Phi^T/(PQ): the first are too large, the last too small. The methods
 * correct this (docs/explanation/spectrum.md). */
typedef enum {
    /* fits families of spectra to the s_i and averages them by how well they explain the s_i */
    KSPEC_SPECTRUM_METHOD_FIT = 0,
    /* finds the measure on a grid in [0,b] whose moments are nearest to the unbiased ones, by a linear
     * program (Kong and Valiant, 2017). Given a rank d, the eigenvalues are d quantiles of the measure;
     * without a rank they are counted. If the moments' errors are known, they are means over `draws` vectors
     * of moments. */
    KSPEC_SPECTRUM_METHOD_MOMENTS,
    /* needs trials: lambda_k = (A v_k).(B v_k)/(PQ), v_k the k-th right singular vector of one half A of the
     * trials and B the other half (Stringer et al., 2019), averaged over splits and both orders. Independent
     * noise adds 0 on average, so eigenvalues may be negative; sampling is not corrected. */
    KSPEC_SPECTRUM_METHOD_CVPCA,
    /* a baseline, takes the moments of a rank d <= 10 as exact: Newton's identities give the polynomial whose
     * roots are the eigenvalues. No error bars; estimates nearly always give complex roots from d = 3 on. */
    KSPEC_SPECTRUM_METHOD_NEWTON
} kspec_spectrum_method;

/* The weights W of the residuals: 1, 1/standard error, or W^T W = the inverse of the errors' covariance.
 * DEFAULT: COVARIANCE if the errors of all moments are known, otherwise UNIT. */
typedef enum {
    KSPEC_WEIGHTS_DEFAULT = 0,
    KSPEC_WEIGHTS_UNIT,
    KSPEC_WEIGHTS_STDERR,
    KSPEC_WEIGHTS_COVARIANCE
} kspec_weights;

/* GEOMETRIC: 0, then from b/10^6 to b in equal ratios. */
typedef enum { KSPEC_GRID_UNIFORM = 0, KSPEC_GRID_GEOMETRIC } kspec_grid;

/* The level of the quantile for the j-th smallest of d eigenvalues. PAPER: j/(d+1). MIDPOINT: (j - 1/2)/d. */
typedef enum { KSPEC_QUANTILE_PAPER = 0, KSPEC_QUANTILE_MIDPOINT } kspec_quantile;

typedef struct {
    size_t size;
    kspec_spectrum_method method; /* default FIT; options of MOMENTS only (below) imply MOMENTS */
    kspec_center center;          /* default ROWS; NONE with MOMENTS and NEWTON */
    kspec_center truth_center;    /* centring of eigenvalues to compare with; DEFAULT: no comparison */
    /* How to estimate the moments, and the meaning of rows, columns and trials; one estimator. FIT uses
     * orders up to 4 unless nmax is given. Fields that this struct also has, and correlation, must be 0. */
    const kspec_moments_opts *moments;
    uint64_t seed;
    int threads;
    kspec_progress progress;
    kspec_device device; /* for products and eigenproblems; the CPU computes the fit and cross-validation */
    kspec_team *team;
    /* FIT and MOMENTS: numbers t > 0 at which to give the effective dimension sum_j lambda_j/(lambda_j + t).
     * Default: the largest eigenvalue times 1, 0.1, 0.01 and 0.001. FIT gives NaN below 0.3 times the last
     * resolved eigenvalue, unless that is the last of all. */
    const double *t;
    size_t t_count;
    /* FIT: the standard deviation of independent noise in each entry of each trial. Default: estimated from
     * the differences of several trials, otherwise by the fit. */
    double noise;
    int no_noise; /* 1: the data have no noise */
    /* FIT: the range of eigenvalues that gives the exponent, counted from 1. Default: the last decade of the
     * resolved eigenvalues, if there are 8. */
    size_t exponent_from, exponent_to;
    /* The remaining options belong to MOMENTS; NEWTON also uses the rank, 1 to 10. d, up to 10^8, at least
     * the number of eigenvalues that matter. Default: free mass, listing up to 4096. */
    size_t rank;
    size_t grid; /* points of the grid, 3 to 100,000; default 1001 */
    kspec_grid spacing;
    double upper; /* b, at least the largest eigenvalue; default: see kspec_upper */
    kspec_weights weights;
    kspec_quantile quantile;
    int draws;    /* 1 to 100,000; default 200 */
    int no_draws; /* 1: the eigenvalues come from one solution, without error bars */
} kspec_spectrum_opts;

/* The origin of b. SAMPLE: the largest eigenvalue of Phi Phi^T/(PQ), which is biased upwards. MOMENTS: the
 * least (m(n) + 2 std. errors)^(1/n), since lambda_1^n <= m(n) for every n. */
typedef enum { KSPEC_UPPER_GIVEN = 0, KSPEC_UPPER_SAMPLE, KSPEC_UPPER_MOMENTS } kspec_upper;

/* The origin of the noise level. NOWHERE: no noise, as the caller or the rank of the matrix says. */
typedef enum {
    KSPEC_NOISE_FROM_FIT = 0,
    KSPEC_NOISE_FROM_GIVEN,
    KSPEC_NOISE_FROM_TRIALS,
    KSPEC_NOISE_FROM_NOWHERE
} kspec_noise_from;

/* A family of spectra in the fit's average. */
typedef struct {
    const char *name;    /* such as "smooth in log i" */
    double weight, chi2; /* its weight, of 1; the squared residuals of its best member, in their errors */
} kspec_spectrum_family;

/* The results of FIT only. */
typedef struct {
    size_t levels;   /* how many eigenvalues of the sample the fit used one by one */
    size_t resolved; /* how many are resolved: up to the last whose interval spans at most a factor of 4 */
    double beyond, beyond_ci_low, beyond_ci_high; /* the fraction of the trace beyond the resolved ones */
    double noise, noise_ci_low, noise_ci_high;    /* as opts.noise */
    kspec_noise_from noise_from;
    double noise_of_trials; /* from the differences of trials, even if `noise` was given */
    /* as in kspec_dimension_result. Without a signal, if there may be noise, no eigenvalue is resolved.
     * UNKNOWN also if rows and columns are centred. */
    kspec_evidence signal;
    double signal_z;
    /* The exponent a of lambda_i ~ i^-a over the eigenvalues exponent_from ... exponent_to, from a line of
     * log lambda_i by log i with weights 1/i, and unweighted. NaN, and 0 ... 0, if no range is given and
     * fewer than 8 are resolved. */
    double exponent, exponent_ci_low, exponent_ci_high;
    double exponent_unweighted, exponent_unweighted_ci_low, exponent_unweighted_ci_high;
    size_t exponent_from, exponent_to;
    /* How many standard errors the n-th root of the fitted m(n) lies above the root of the unbiased one.
     * Beyond 3 (1 at n = 1), or if the first eigenvalue exceeds the sample's own, one of the two is wrong,
     * and the call widened every interval by the factor `widened`; else that is 1. */
    double *z, widened;
    size_t crossed_count; /* with trials, min(P,Q) up to 4096: eigenvalues of one split, as by CVPCA */
    double *crossed;
    /* The relative variance of the columns' mean squares beyond the value for Gaussian features with this
     * spectrum. Above 1, gains or noise differ between columns; one trial cannot tell these apart. */
    double columns_excess;
    double participation_ratio, participation_ratio_ci_low, participation_ratio_ci_high; /* of the fit */
    double participation_ratio_z;                                                        /* as z above */
    size_t family_count; /* the families in the fit's average, the best first */
    kspec_spectrum_family **families;
} kspec_spectrum_fit;

/* The results of MOMENTS only. */
typedef struct {
    int free_mass, draws; /* free_mass, 1: no rank was given */
    double *plain; /* the eigenvalues of the one solution: of the measure nearest to the given moments */
    size_t atoms;  /* its measure: grid points of positive mass, increasing; with free mass, counts */
    double *support, *mass;
    /* The sum of the masses: the number of eigenvalues down to the least point of the grid. With a rank, d */
    double number, number_ci_low, number_ci_high;
    double residual; /* ||W r||_1 of the one solution: the linear program's objective */
    /* The largest |given - fitted|, at the order distance_order, in standard errors if distance_in_errors is
     * 1, else relative to d b^n. Above 1e-7, usual for estimates, no measure on [0,b] has the moments. */
    double distance;
    int distance_order, distance_in_errors;
    double upper, grid_step; /* b, and the least positive point of the grid: a smaller eigenvalue is 0 */
    kspec_upper upper_from;
    kspec_weights weights; /* in use, never DEFAULT */
    double *listed;        /* the moments of the listed eigenvalues, near `fitted` */
} kspec_spectrum_lp;

/* The results of CVPCA only: how many splits it averaged, and how many groups of rows it left out in turn */
typedef struct {
    int splits, groups;
} kspec_spectrum_cvpca;

/* The results of NEWTON only. */
typedef struct {
    double *imaginary;    /* for each root; `eigenvalues` has the real part */
    size_t complex_count; /* how many roots are complex */
    double condition;     /* how far a relative error in every moment moves a root, relative to the largest */
} kspec_spectrum_newton;

typedef struct {
    kspec_spectrum_method method;
    kspec_center center; /* DEFAULT if moments were given */
    /* The eigenvalues, decreasing. FIT: averages over families, far more than min(P,Q) if the sample implies
     * more; beyond `resolved` they are extrapolations. CVPCA: in the order of one half's singular values.
     * NEWTON: the roots' real parts. */
    size_t rank;
    double *eigenvalues;
    double *std_error, *ci_low, *ci_high;
    /* The moments: as given or estimated without bias, and the spectrum's moments (MOMENTS: of the one
     * solution's measure, times d with a rank; CVPCA, NEWTON: NULL). */
    size_t count;
    double *given, *given_std_error, *fitted;
    /* The effective dimension at each t; 0 and NULL for CVPCA and NEWTON, no intervals for MOMENTS (NULL). */
    size_t t_count;
    double *t, *effective_dimension, *effective_dimension_std_error;
    double *effective_dimension_ci_low, *effective_dimension_ci_high;
    /* Of `moments` below, as from kspec_dimension(), or m(1)^2/m(2) of given moments */
    double participation_ratio, participation_ratio_std_error;
    double participation_ratio_ci_low, participation_ratio_ci_high;
    /* The eigenvalues of Phi Phi^T/(PQ), for comparison: min(P,Q), up to 4096, trials averaged, decreasing */
    size_t sample_count;
    double *sample_eigenvalues;
    kspec_moments_result *moments; /* the estimates in use; NULL if moments were given */
    double seconds;
    size_t doubt_count; /* includes the doubts of `moments` */
    kspec_doubt **doubts;
    kspec_spectrum_fit *fit; /* the results of the method in use; the others are NULL */
    kspec_spectrum_lp *lp;
    kspec_spectrum_cvpca *cvpca;
    kspec_spectrum_newton *newton;
    kspec_device_used device; /* of products and eigenproblems; `moments` has a separate one */
} kspec_spectrum_result;

/* Recovers opts->rank eigenvalues, or with rank 0 as many as the moments imply, from m(1) ... m(count), 1 to
 * 1000 of them, by MOMENTS or NEWTON. std_error: their standard errors, or NULL if they are exact or of
 * unknown error; correlation (count x count): of their errors, or NULL if independent. If no measure has
 * these moments, the result is the nearest one. Time: for each draw a linear program of `count` + 1 rows and
 * `grid` columns, some milliseconds. Memory: `rank` doubles per draw, and one linear program per thread. */
KSPEC_API kspec_status kspec_spectrum_from_moments(const double *m, const double *std_error,
                                                   const double *correlation, size_t count,
                                                   const kspec_spectrum_opts *opts,
                                                   kspec_spectrum_result **out, kspec_error *err);

/* The same from a matrix, or from ntrials of one shape, as kspec_moments() takes them; that call runs first.
 * FIT needs at least 4 rows and 4 columns, and refuses groups, missing entries and finite populations. Time:
 * the eigenproblem of the shorter side n <= 32000, some seconds at n = 2000 and n^3. Memory: a copy of the
 * matrix and n (P + Q + 4n) doubles; beyond n = 4096 n^2 + 4096 (P + Q + n), with the singular vectors of the
 * 4096 largest eigenvalues only. MOMENTS has error bars if every order has one: not at n = min(P,Q). */
KSPEC_API kspec_status kspec_spectrum(const kspec_matrix *phi, size_t ntrials,
                                      const kspec_spectrum_opts *opts, kspec_spectrum_result **out,
                                      kspec_error *err);
#endif
