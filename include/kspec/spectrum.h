/* Part of kspec.h: eigenvalues of the kernel operator. */
#ifndef KSPEC_SPECTRUM_H
#define KSPEC_SPECTRUM_H

#include "kspec/moments.h"

KSPEC_BEGIN_DECLS

/*
 * The eigenvalues lambda_1 >= lambda_2 >= ... of the kernel operator behind a matrix Phi (P x Q). Those of
 * the matrix itself, s_i of Phi Phi^T/(PQ), are spread by the sampling of rows and columns: the first are too
 * large, the last too small. docs/explanation/spectrum.md derives the methods.
 *
 * FIT inverts that spreading: families of spectra are fitted to the s_i and averaged by how well they explain
 * them. There is nothing to choose: no rank, no upper end.
 *
 * MOMENTS finds the measure on a grid in [0,b] whose moments are nearest to the unbiased ones, by a linear
 * program (Kong and Valiant, 2017). Given a rank d the eigenvalues are d quantiles of it; without, its mass
 * is free and the eigenvalues are counted. Where the moments' errors are known, it is repeated for `draws`
 * vectors of moments drawn from them: the eigenvalues are means over the draws, their errors the spread.
 *
 * CVPCA takes trials: lambda_k = (A v_k).(B v_k)/(PQ), v_k the k-th right singular vector of one half A of
 * the trials and B the other half (Stringer et al., 2019), averaged over splits and both orders. Independent
 * noise adds nothing on the mean, so that they may be negative; the sampling is not undone. The intervals
 * come from a jackknife over rows, in up to 20 groups.
 *
 * NEWTON takes the moments of a given rank d <= 10 at their word: Newton's identities make of m(1) ... m(d)
 * the polynomial whose roots are the eigenvalues. It has no error bars and is a baseline: estimated moments
 * nearly always give complex roots from d = 3 on. The result says how ill-conditioned the problem is.
 */
typedef enum {
    KSPEC_SPECTRUM_METHOD_FIT = 0,
    KSPEC_SPECTRUM_METHOD_MOMENTS,
    KSPEC_SPECTRUM_METHOD_CVPCA,
    KSPEC_SPECTRUM_METHOD_NEWTON
} kspec_spectrum_method;

/* What the residuals are weighted by. */
typedef enum {
    KSPEC_WEIGHTS_DEFAULT = 0, /* COVARIANCE where the errors of all moments are known, otherwise UNIT */
    KSPEC_WEIGHTS_UNIT,        /* W = 1 */
    KSPEC_WEIGHTS_STDERR,      /* W = 1 / standard error */
    KSPEC_WEIGHTS_COVARIANCE   /* W^T W = the inverse of the errors' covariance */
} kspec_weights;

typedef enum {
    KSPEC_GRID_UNIFORM = 0,
    KSPEC_GRID_GEOMETRIC /* 0, then from b/10^6 to b in equal ratios */
} kspec_grid;

/* The level of the quantile that is the j-th smallest of the d eigenvalues. */
typedef enum {
    KSPEC_QUANTILE_PAPER = 0, /* j/(d+1) */
    KSPEC_QUANTILE_MIDPOINT   /* (j - 1/2)/d */
} kspec_quantile;

typedef struct {
    size_t size;                  /* sizeof this struct */
    kspec_spectrum_method method; /* default FIT; what MOMENTS alone has (below) implies MOMENTS */
    kspec_center center;          /* default ROWS; NONE with MOMENTS and NEWTON */
    kspec_center truth_center;    /* of eigenvalues to compare with, such as NONE; DEFAULT: none are */
    /* How the moments are estimated, and what rows, columns and trials are; one estimator. FIT takes orders
     * up to 4 as its check unless nmax says otherwise. Its seed, threads, progress, center, correlation,
     * device and team must be 0: those here are used. */
    const kspec_moments_opts *moments;
    uint64_t seed; /* for the draws, and for permutations and splits of the trials */
    int threads;   /* 1 to 1024; default: all processors, or KSPEC_THREADS */
    kspec_progress progress;
    kspec_device
        device; /* where products are made; eigenproblems, the fit and cross-validation are the host's */
    kspec_team *team; /* shares the work of any method out among processes; NULL: this one alone */
    /* FIT and MOMENTS: where to give the effective dimension sum_j lambda_j/(lambda_j + t), t_count numbers >
     * 0. Default: the largest eigenvalue times 1, 0.1, 0.01 and 0.001. FIT gives NaN below 0.3
     * times the last eigenvalue that is resolved, unless that is the last of all. */
    const double *t;
    size_t t_count;

    /* FIT: the standard deviation of noise that is independent in each entry of each trial. Default: from the
     * differences of trials where there are several, otherwise what the fit finds. */
    double noise;
    int no_noise; /* 1: there is none */
    /* FIT: the eigenvalues over which the exponent is measured, counted from 1. Default: the last decade of
     * those that are resolved, where there are 8. */
    size_t exponent_from, exponent_to;

    /* The rest is MOMENTS'; the rank is NEWTON's, too, 1 to 10. d, up to 10^8, no less than the number of
     * eigenvalues that matter; more add little but zeros. Default: free mass, with a list of up to 4096. */
    size_t rank;
    size_t grid; /* Points of the grid, 3 to 100,000. Default 1001. */
    kspec_grid spacing;
    double upper; /* b, no less than the largest eigenvalue. Default: as kspec_upper says. */
    kspec_weights weights;
    kspec_quantile quantile;
    int draws;    /* 1 to 100,000. Default 200. */
    int no_draws; /* 1: no draws. The eigenvalues are those of the one solution, without error bars. */
} kspec_spectrum_opts;

/* Where b came from. */
typedef enum {
    KSPEC_UPPER_GIVEN = 0,
    KSPEC_UPPER_SAMPLE, /* the largest eigenvalue of Phi Phi^T/(PQ), which is biased upwards */
    KSPEC_UPPER_MOMENTS /* the least (m(n) + 2 std. errors)^(1/n): lambda_1^n <= m(n) for every n */
} kspec_upper;

/* Where the level of noise came from. */
typedef enum {
    KSPEC_NOISE_FROM_FIT = 0,
    KSPEC_NOISE_FROM_GIVEN,
    KSPEC_NOISE_FROM_TRIALS, /* from the differences of trials */
    KSPEC_NOISE_FROM_NOWHERE /* none, as was said, or as the rank of the matrix shows */
} kspec_noise_from;

/* A family of spectra that the fit leans on. */
typedef struct {
    const char *name; /* such as "smooth in log i" */
    double weight;    /* its part in the average, of 1 */
    double chi2;      /* of its best member, the sum of squared residuals in units of their errors */
} kspec_spectrum_family;

/* What FIT alone finds. */
typedef struct {
    size_t levels; /* how many eigenvalues of the sample were fitted one by one */
    /* How many the data resolve: up to the last whose interval spans no more than a factor of 4. */
    size_t resolved;
    /* The share of the trace beyond them, with its 95% interval. */
    double beyond, beyond_ci_low, beyond_ci_high;
    /* The standard deviation of independent noise in each entry of a trial, with its 95% interval. */
    double noise, noise_ci_low, noise_ci_high;
    kspec_noise_from noise_from;
    /* That by the differences of trials, also where it was given; NaN for one trial. */
    double noise_of_trials;
    /* Is there any signal, and the z that says so. Where there is none, and there may be noise, nothing is
     * resolved. UNKNOWN and NaN also where rows and columns are centred. */
    kspec_evidence signal;
    double signal_z;
    /* The exponent a of lambda_i ~ i^-a over the eigenvalues exponent_from ... exponent_to: minus the slope
     * of the least-squares line of log lambda_i by log i with weights 1/i, so that every octave of i counts
     * alike; and unweighted, as it is usually fitted, where the last octave has half the weight. NaN, and
     * 0 ... 0, where no range is given and fewer than 8 are resolved. */
    double exponent, exponent_ci_low, exponent_ci_high;
    double exponent_unweighted, exponent_unweighted_ci_low, exponent_unweighted_ci_high;
    size_t exponent_from, exponent_to;
    /* How many standard errors the n-th root of the fitted m(n) lies above that of the unbiased one (of the
     * moments themselves where that is not positive); NaN where there is no error bar. For n = 1 in standard
     * errors of the unbiased one, with one trial of fitted trace and noise together. Beyond 3 (1 at n = 1)
     * one of the two is wrong, and every interval was widened: the eigenvalues' by `widened`, the largest gap
     * between the n-th roots, or the factor by which the first eigenvalue exceeds the sample's own. Otherwise
     * that is 1. */
    double *z, widened;
    /* With trials: cross-validated eigenvalues of one split, as by CVPCA, min(P,Q) of them; otherwise, or
     * beyond 4096, 0 and NULL. */
    size_t crossed_count;
    double *crossed;
    /* By how much the relative variance of the columns' mean squares (of the mean of the trials) exceeds what
     * Gaussian features of this spectrum would have. Above 1, gains or noise differ between columns, which
     * one trial cannot tell apart. NaN where m(1) or m(2) is not positive. */
    double columns_excess;
    /* The participation ratio of the fitted eigenvalues, its 95% interval, and z as above. */
    double participation_ratio, participation_ratio_ci_low, participation_ratio_ci_high;
    double participation_ratio_z;
    size_t family_count; /* which families the fit leans on, the best first */
    kspec_spectrum_family **families;
} kspec_spectrum_fit;

/* What MOMENTS alone finds. */
typedef struct {
    int free_mass; /* 1: no rank was given, and the measure's mass is free */
    double *plain; /* the eigenvalues of the one solution: the measure nearest to the moments as they are */
    /* Its measure: grid points of positive mass, increasing; with free mass, the numbers of eigenvalues. */
    size_t atoms;
    double *support, *mass;
    /* The sum of the masses: how many eigenvalues there are down to the least point of the grid, and its 95%
     * interval over the draws. With a rank, d and NaN. */
    double number, number_ci_low, number_ci_high;
    double residual; /* ||W r||_1 of the one solution: the linear program's objective */
    /* The largest |given - fitted|, at the order distance_order, in standard errors where distance_in_errors
     * is 1, otherwise relative to d b^n. Above about 1e-7 no measure on [0,b] has the given moments, which is
     * usual where they are estimates. */
    double distance;
    int distance_order, distance_in_errors;
    double upper; /* b */
    kspec_upper upper_from;
    double grid_step;      /* the least positive point of the grid: an eigenvalue well below it is 0 */
    kspec_weights weights; /* the weights that were used, never DEFAULT */
    int draws;             /* how many draws were made */
    /* The moments of the list: sums of powers of the result's eigenvalues. With free mass those of the one
     * solution's list differ from `fitted` by half the n-th power of the largest point of support at most. */
    double *listed;
} kspec_spectrum_lp;

/* What CVPCA alone knows. */
typedef struct {
    /* How many splits of the trials were averaged, and how many groups of rows left out in turn. */
    int splits, groups;
} kspec_spectrum_cvpca;

/* What NEWTON alone knows. */
typedef struct {
    double *imaginary;    /* of each root, whose real part is in `eigenvalues` */
    size_t complex_count; /* how many roots are complex */
    /* How far, in units of the largest root, errors of a part e in every moment move a root, divided by e;
     * infinite where two roots are equal. */
    double condition;
} kspec_spectrum_newton;

typedef struct {
    /* The method and the centring that were used; the latter is DEFAULT where moments were given. */
    kspec_spectrum_method method;
    kspec_center center;
    /* The eigenvalues, decreasing. FIT: averages over families, far more of them than min(P,Q) where the
     * sample says that there are; one beyond `resolved` is an extrapolation. MOMENTS: means over the draws,
     * or those of the one solution. CVPCA: in the order of one half's singular values. NEWTON: the roots'
     * real parts. */
    size_t rank;
    double *eigenvalues;
    double *std_error; /* their standard deviations and 95% intervals; NaN where there are none */
    double *ci_low, *ci_high;
    /* The moments: as given or estimated without bias, and those of the spectrum (MOMENTS: of the one
     * solution's measure, times d where there is a rank; CVPCA, NEWTON: NULL). */
    size_t count;
    double *given, *given_std_error, *fitted;
    /* The effective dimension at each t; 0 and NULL for CVPCA and NEWTON, no intervals for MOMENTS (NULL). */
    size_t t_count;
    double *t, *effective_dimension, *effective_dimension_std_error;
    double *effective_dimension_ci_low, *effective_dimension_ci_high;
    /* That of `moments` below, which kspec_dimension() gives too; m(1)^2/m(2) where moments were given. */
    double participation_ratio, participation_ratio_std_error;
    double participation_ratio_ci_low, participation_ratio_ci_high;
    /* The eigenvalues of the sample matrix Phi Phi^T/(PQ), for comparison: min(P,Q) of them, decreasing,
     * trials averaged. 0 and NULL without a matrix, or where min(P,Q) > 4096. */
    size_t sample_count;
    double *sample_eigenvalues;
    kspec_moments_result *moments; /* the estimates that were used; NULL where moments were given */
    double seconds;
    size_t doubt_count; /* those of `moments` too */
    kspec_doubt **doubts;
    kspec_spectrum_fit *fit; /* the part of the method that was used; the others are NULL */
    kspec_spectrum_lp *lp;
    kspec_spectrum_cvpca *cvpca;
    kspec_spectrum_newton *newton;
    kspec_device_used device; /* where the products were made; `moments` has its own */
} kspec_spectrum_result;

/*
 * Recovers opts->rank eigenvalues, or with 0 as many as there are, from the moments m(1) ... m(count), 1 to
 * 1000 of them, by MOMENTS or NEWTON. std_error has their standard errors, or is NULL where they are exact
 * or nothing is known; correlation (count x count) is that of their errors, or NULL where they are
 * independent. Moments that no measure has give the nearest one.
 *
 * Time: a linear program of `count` + 1 rows and `grid` columns for each draw, some milliseconds. Memory:
 * `rank` doubles for each draw, and the linear program for each thread.
 */
KSPEC_API kspec_status kspec_spectrum_from_moments(const double *m, const double *std_error,
                                                   const double *correlation, size_t count,
                                                   const kspec_spectrum_opts *opts,
                                                   kspec_spectrum_result **out, kspec_error *err);

/*
 * From a matrix, or from ntrials of one shape, as kspec_moments() takes them; that runs first.
 *
 * FIT needs at least 4 rows and 4 columns; groups, missing entries and finite populations are refused. Time:
 * the eigenproblem of the shorter side n <= 32000, some seconds at n = 2000 and n^3. Memory: a copy of the
 * matrix and n (P + Q + 4n) doubles, or beyond n = 4096, where the singular vectors of the 4096 largest
 * eigenvalues alone are taken, n^2 + 4096 (P + Q + n). MOMENTS has error bars where every order has one: not
 * at n = min(P,Q).
 */
KSPEC_API kspec_status kspec_spectrum(const kspec_matrix *phi, size_t ntrials,
                                      const kspec_spectrum_opts *opts, kspec_spectrum_result **out,
                                      kspec_error *err);
KSPEC_API void kspec_spectrum_free(kspec_spectrum_result *result);

KSPEC_END_DECLS
#endif
