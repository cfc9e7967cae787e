/*
 * Lists every constant of the fit that was chosen rather than derived, with the reason.
 * docs/measurements/spectrum.md reports the effect of changing each one, and names the constants that were
 * not measured.
 */
#pragma once

#include <stddef.h>

/*
 * A build with -DKSPEC_ABLATION reads the values from the environment instead, so that bench/ablation.sh can
 * measure the effect of each constant without recompiling.
 */
#ifdef KSPEC_ABLATION
#include <stdlib.h>
#define KS_CONSTANT(name, value)                                \
    static double name = value;                                 \
    __attribute__((constructor)) static void set_##name(void) { \
        if (getenv(#name)) name = atof(getenv(#name));          \
    }                                                           \
    _Static_assert(1, "")
#else
#define KS_CONSTANT(name, value) static const double name = value
#endif

/* ---- sample ---- */

/*
 * The fit treats eigenvalues of the sample as rounding errors if they are smaller than KS_ROUNDING times the
 * largest.
 */
KS_CONSTANT(KS_ROUNDING, 1e-11);
/*
 * The fit uses eigenvalues until the share KS_SHARE of the trace remains, because the remaining eigenvalues
 * carry no information.
 */
KS_CONSTANT(KS_SHARE, 1e-5);
/*
 * The first KS_SINGLE eigenvalues are fitted one by one. The following groups grow by the ratio KS_FINE. The
 * middle eigenvalue represents its group, since neighbours carry the same information. Beyond the eigenvalues
 * used, the nodes of the operator's spectrum grow faster.
 */
enum { KS_SINGLE = 24 };
KS_CONSTANT(KS_FINE, 1.07);
KS_CONSTANT(KS_COARSE, 1.25);
/*
 * The correction for uneven leverages is of first order. The fit does not use levels where the correction
 * exceeds the share KS_CUT.
 */
KS_CONSTANT(KS_CUT, 0.12);

/* ---- scatter ---- */

/* The variance of the count at a level comes from the levels KS_DIAGONAL above and below that level. */
KS_CONSTANT(KS_DIAGONAL, 0.1);
/* The path of the leverages' correction has an angle of KS_PATH_ANGLE pi to the positive axis. */
KS_CONSTANT(KS_PATH_ANGLE, 0.9);
/* The path of the leverages' correction has KS_PATH_POINTS points per factor of e. */
KS_CONSTANT(KS_PATH_POINTS, 6);
/*
 * The forward map itself may have these errors, in each log eigenvalue and in the share of the trace beyond
 * the eigenvalues used.
 */
KS_CONSTANT(KS_MODEL_ERROR, 0.02);
KS_CONSTANT(KS_TAIL_ERROR, 0.01);
/* The errors of the leverages' correction are correlated over the distance KS_SHIFT_LENGTH in log i. */
KS_CONSTANT(KS_SHIFT_LENGTH, 0.5);
/*
 * The factor KS_TAIL_VARIANCE increases the variance of the share of the trace beyond the eigenvalues used,
 * because the jackknife misses a heavy tail.
 */
KS_CONSTANT(KS_TAIL_VARIANCE, 1.5);

/*
 * The forward map divides the logarithms of the columns' noise variances into KS_COLUMN_LEVELS steps, with
 * one number per step.
 */
enum { KS_COLUMN_LEVELS = 10 };
/* Columns count as equal if the relative variance of their noise variances is below KS_COLUMNS_EQUAL. */
KS_CONSTANT(KS_COLUMNS_EQUAL, 0.02);

/*
 * If its entries are independent, the difference of two trials has a z of at most about 3. Above
 * KS_NOISE_SHARED the columns share noise. Above KS_NOISE_UNKNOWN the level and the law of the trials' noise
 * do not describe the noise, and the fit estimates it as with one trial. In between, the level is still
 * nearly right.
 */
KS_CONSTANT(KS_NOISE_SHARED, 6);
KS_CONSTANT(KS_NOISE_UNKNOWN, 50);

/*
 * One column in KS_TAIL_PART belongs to the tail of the columns' mean squares without noise. The exponent
 * is then below 1 in 83 to 98% of matrices of word counts, in 50 to 55% of those of spike counts with
 * log-normal gains, and in at most 1% if no column stands out (bench/processes.py, 40 x 60 to 300 x 100).
 * With a larger part, more log-normal gains look like a tail.
 */
enum { KS_TAIL_PART = 4 };

/* ---- nodes ---- */

/* The nodes represent KS_EXTENT min(P,Q) eigenvalues, more than a matrix of this size can show one by one. */
KS_CONSTANT(KS_EXTENT, 10);

/* ---- families ---- */

/*
 * A shape of the spectrum. log lambda is a line plus integrated Brownian motion plus a short-range term. The
 * shape is smooth in log i if coordinate is 0, and otherwise in (i - 1/2)^coordinate. If `flat` is 1, log
 * lambda is constant instead.
 */
typedef struct {
    int flat;
    double coordinate, curvature, roughness;
} ks_shape;
static const ks_shape KS_SHAPES[] = {{0, 0, 1, 0.1}, {0, 0, 1, 0.45}, {0, 0.5, 1, 0.1}, {0, 0.5, 1, 0.45},
                                     {0, 1, 1, 0.1}, {1, 0, 0, 0},    {0, 0, 30, 0.3}};
/*
 * The first KS_SHAPE_COUNT shapes compete, and the last of these is flat. The additional shape KS_SHAPE_ROUGH
 * only proposes breaks.
 */
enum { KS_SHAPE_COUNT = 6, KS_SHAPE_FLAT = 5, KS_SHAPE_ROUGH = 6 };
KS_CONSTANT(KS_ROUGH_WEIGHT, -1);
/*
 * For a matrix of low rank, a flat family has the log weight KS_FLAT_WEIGHT, because one sharp edge makes
 * other edges likelier.
 */
KS_CONSTANT(KS_FLAT_WEIGHT, 2);
/* The short-range term extends over the distance KS_ROUGHNESS_LENGTH in log i. */
KS_CONSTANT(KS_ROUGHNESS_LENGTH, 0.4);
/*
 * Over the levels used, the line's level and slope have these standard deviations, and the slope has this
 * mean.
 */
KS_CONSTANT(KS_LEVEL_SD, 10);
KS_CONSTANT(KS_SLOPE_SD, 4);
KS_CONSTANT(KS_SLOPE, -2);
/* A step and a kink at a break have these standard deviations. */
KS_CONSTANT(KS_STEP_SD, 1.5);
KS_CONSTANT(KS_KINK_SD, 3);
/* In a constant family, each log eigenvalue has this variance. */
KS_CONSTANT(KS_FLAT_JITTER, 1e-4);
/*
 * Each break, and an end, subtracts KS_MOVE_COST from the log weight. The search makes at most KS_MOVES_MAX
 * moves, one after another. The search for flat spectra starts with the rough mode cut into up to
 * KS_PIECES_MAX pieces, or with up to KS_SPIKES_MAX separate leading eigenvalues.
 */
KS_CONSTANT(KS_MOVE_COST, 2.5);
/*
 * If the noise differs between columns, the map near the noise's edge is approximate. An end or a break then
 * needs more evidence.
 */
KS_CONSTANT(KS_MOVE_COST_COLUMNS, 4);
enum { KS_MOVES_MAX = 1, KS_PIECES_MAX = 4, KS_SPIKES_MAX = 3, KS_BREAKS_MAX = 4 };
/*
 * The search for flat spectra starts with an end beyond the sample's spectrum, at KS_FLAT_END times the
 * number of eigenvalues used.
 */
KS_CONSTANT(KS_FLAT_END, 1.6);
/*
 * The ends that the search tries, as multiples of the number of eigenvalues used. The fit integrates the
 * evidence over the log of the end, in units of KS_END_UNIT.
 */
static const double KS_ENDS[] = {0.1, 0.16, 0.25, 0.4, 0.6, 0.8, 1, 1.6, 2.5, 4};
KS_CONSTANT(KS_END_UNIT, 0.4);
enum { KS_END_COUNT = 10 };
/*
 * The logarithm of unknown noise, relative to the lower half of the sample's spectrum, has the prior mean
 * KS_NOISE_MEAN and the prior standard deviation KS_NOISE_SD. With noise alone, this half contains from a
 * tenth of the sum (P = Q) to half of the sum (P far from Q).
 */
KS_CONSTANT(KS_NOISE_MEAN, 1);
KS_CONSTANT(KS_NOISE_SD, 2);
/*
 * The logarithm of given noise has the prior standard deviation KS_NOISE_GIVEN_SD. Errors known from trials
 * are added.
 */
KS_CONSTANT(KS_NOISE_GIVEN_SD, 0.01);

/* ---- results ---- */

/* An eigenvalue is resolved if the ends of its interval differ by at most the factor KS_RESOLVED. */
KS_CONSTANT(KS_RESOLVED, 4);
/*
 * Laplace's approximation is overconfident, so intervals multiply standard deviations by KS_WIDER. Sums over
 * the spectrum need a larger factor. Within a family, the division of the trace between tail and noise varies
 * less than it might.
 */
KS_CONSTANT(KS_WIDER, 1.15);
KS_CONSTANT(KS_WIDER_SUMS, 1.6);
/*
 * If the noise differs between columns, gains differ as well, and different gains split equal eigenvalues.
 * Intervals then multiply standard deviations by KS_WIDER_COLUMNS.
 */
KS_CONSTANT(KS_WIDER_COLUMNS, 1.6);
/*
 * If a fitted moment differs from the unbiased moment by more standard errors than this, intervals become
 * wider.
 */
KS_CONSTANT(KS_DISAGREE, 3);
/*
 * The fitted trace and the unbiased trace come from one sample, so a difference of KS_DISAGREE_TRACE standard
 * errors is already gross. The standard error describes other samples.
 */
KS_CONSTANT(KS_DISAGREE_TRACE, 1);
/*
 * If the first eigenvalue exceeds the sample's own by more than the factor KS_ABOVE_SAMPLE, it is too large.
 */
KS_CONSTANT(KS_ABOVE_SAMPLE, 1.05);
/* The fit reports an effective dimension for t from KS_T_RESOLVED times the last resolved eigenvalue on. */
KS_CONSTANT(KS_T_RESOLVED, 0.3);
/* Unless the caller gives a range, an exponent needs at least KS_EXPONENT_LEAST eigenvalues. */
enum { KS_EXPONENT_LEAST = 8 };
/*
 * The noise is at most the share KS_NOISE_MOST of the mean square. Trials of pure noise may suggest more than
 * 1.
 */
KS_CONSTANT(KS_NOISE_MOST, 0.99);
/* Intervals ignore families whose weight is below KS_NEGLIGIBLE times the best weight. */
KS_CONSTANT(KS_NEGLIGIBLE, 1e-3);
