/*
 * Every constant of the fit that was chosen rather than derived, with the reason.
 * docs/measurements/spectrum.md reports the effect of changing each one, and lists the constants that were
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

/* ---- which of the sample's eigenvalues are used ---- */

/* An eigenvalue of the sample below this share of the largest is rounding. */
KS_CONSTANT(KS_ROUNDING, 1e-11);
/*
 * The fit uses eigenvalues until this share of the trace remains, because the remaining eigenvalues carry no
 * information.
 */
KS_CONSTANT(KS_SHARE, 1e-5);
/*
 * The first eigenvalues are fitted one by one. The following groups grow by a ratio. The middle eigenvalue
 * represents its group, since neighbours carry the same information. Beyond the eigenvalues used, the nodes
 * of the operator's spectrum grow faster.
 */
enum { KS_SINGLE = 24 };
KS_CONSTANT(KS_FINE, 1.07);
KS_CONSTANT(KS_COARSE, 1.25);
/*
 * The correction for uneven leverages is of first order. The fit does not use levels where the correction
 * exceeds this share.
 */
KS_CONSTANT(KS_CUT, 0.12);

/* ---- the scatter of the sample's eigenvalues ---- */

/* The variance of the count at a level uses levels this far above and below. */
KS_CONSTANT(KS_DIAGONAL, 0.1);
/* The path of the leverages' correction lies this share of pi away from the positive axis. */
KS_CONSTANT(KS_PATH_ANGLE, 0.9);
/* Points of the path per factor of e. */
KS_CONSTANT(KS_PATH_POINTS, 6);
/*
 * The possible error of the forward map itself, in each log eigenvalue and in the share of the trace beyond
 * them.
 */
KS_CONSTANT(KS_MODEL_ERROR, 0.02);
KS_CONSTANT(KS_TAIL_ERROR, 0.01);
/* The errors of the leverages' correction are correlated over this distance in log i. */
KS_CONSTANT(KS_SHIFT_LENGTH, 0.5);
/* The factor on the variance of the share of the trace beyond, because the jackknife misses a heavy tail. */
KS_CONSTANT(KS_TAIL_VARIANCE, 1.5);

/*
 * The number of steps of the log of the columns' noise variances. The forward map uses one number per step.
 */
enum { KS_COLUMN_LEVELS = 10 };
/* Columns whose noise variances have a smaller relative variance count as equal. */
KS_CONSTANT(KS_COLUMNS_EQUAL, 0.02);

/*
 * The trials' difference has a z of at most about 3 if its entries are independent. Above the first bound the
 * noise is shared between columns. Above the second one, the trials' noise level and law do not describe it,
 * and the fit estimates the noise, as from one trial. In between, the level is still nearly right.
 */
KS_CONSTANT(KS_NOISE_SHARED, 6);
KS_CONSTANT(KS_NOISE_UNKNOWN, 50);

/* One column in so many belongs to the tail of the columns' mean squares without noise. */
enum { KS_TAIL_PART = 5 };

/* ---- the nodes ---- */

/*
 * The nodes represent this many times min(P,Q) eigenvalues, more than a matrix of this size can show one by
 * one.
 */
KS_CONSTANT(KS_EXTENT, 10);

/* ---- the families of spectra ---- */

/*
 * Shapes: log lambda is a line plus integrated Brownian motion plus a short-range term, smooth in log i
 * (coordinate 0) or in (i - 1/2)^coordinate. With `flat`, it is constant instead.
 */
typedef struct {
    int flat;
    double coordinate, curvature, roughness;
} ks_shape;
static const ks_shape KS_SHAPES[] = {{0, 0, 1, 0.1}, {0, 0, 1, 0.45}, {0, 0.5, 1, 0.1}, {0, 0.5, 1, 0.45},
                                     {0, 1, 1, 0.1}, {1, 0, 0, 0},    {0, 0, 30, 0.3}};
/*
 * The first KS_SHAPE_COUNT shapes compete, and the last of these is flat. The last shape, rough, only
 * proposes breaks.
 */
enum { KS_SHAPE_COUNT = 6, KS_SHAPE_FLAT = 5, KS_SHAPE_ROUGH = 6 };
KS_CONSTANT(KS_ROUGH_WEIGHT, -1);
/*
 * The log weight of a flat family for a matrix of low rank, because one sharp edge makes other edges
 * likelier.
 */
KS_CONSTANT(KS_FLAT_WEIGHT, 2);
/* The length of the short-range term in log i. */
KS_CONSTANT(KS_ROUGHNESS_LENGTH, 0.4);
/* Standard deviations of the line's level and slope, and the slope's mean, over the levels used. */
KS_CONSTANT(KS_LEVEL_SD, 10);
KS_CONSTANT(KS_SLOPE_SD, 4);
KS_CONSTANT(KS_SLOPE, -2);
/* Standard deviations of a step and of a kink at a break. */
KS_CONSTANT(KS_STEP_SD, 1.5);
KS_CONSTANT(KS_KINK_SD, 3);
/* The variance of each log eigenvalue in a constant family. */
KS_CONSTANT(KS_FLAT_JITTER, 1e-4);
/*
 * Each break, and an end, subtracts KS_MOVE_COST from the log weight. At most KS_MOVES_MAX moves follow each
 * other. The search for flat spectra starts with the rough mode cut into up to KS_PIECES_MAX pieces, or with
 * up to KS_SPIKES_MAX separate leading eigenvalues.
 */
KS_CONSTANT(KS_MOVE_COST, 2.5);
/*
 * If the noise differs between columns, the map near the noise's edge is approximate, and an end or a break
 * needs more evidence.
 */
KS_CONSTANT(KS_MOVE_COST_COLUMNS, 4);
enum { KS_MOVES_MAX = 1, KS_PIECES_MAX = 4, KS_SPIKES_MAX = 3, KS_BREAKS_MAX = 4 };
/* Flat spectra first end beyond the sample's spectrum, at this multiple of the eigenvalues used. */
KS_CONSTANT(KS_FLAT_END, 1.6);
/*
 * The ends that the search tries, as multiples of the number of eigenvalues used. The fit integrates the
 * evidence over the log of the end, in units of KS_END_UNIT.
 */
static const double KS_ENDS[] = {0.1, 0.16, 0.25, 0.4, 0.6, 0.8, 1, 1.6, 2.5, 4};
KS_CONSTANT(KS_END_UNIT, 0.4);
enum { KS_END_COUNT = 10 };
/*
 * The mean and standard deviation of the log of unknown noise, relative to the lower half of the sample's
 * spectrum. With noise alone, this half contains a tenth of the sum (P = Q) to a half of the sum (P far from
 * Q).
 */
KS_CONSTANT(KS_NOISE_MEAN, 1);
KS_CONSTANT(KS_NOISE_SD, 2);
/* The standard deviation of the log of given noise; errors known from trials are added. */
KS_CONSTANT(KS_NOISE_GIVEN_SD, 0.01);

/* ---- what is reported ---- */

/* An eigenvalue is resolved if its interval spans at most this factor. */
KS_CONSTANT(KS_RESOLVED, 4);
/*
 * Laplace's approximation is overconfident, so intervals multiply standard deviations by this factor. Sums
 * over the spectrum need a larger factor, because within a family the division of the trace between tail and
 * noise varies less than it might.
 */
KS_CONSTANT(KS_WIDER, 1.15);
KS_CONSTANT(KS_WIDER_SUMS, 1.6);
/* If the noise differs between columns, gains differ as well, and different gains split equal eigenvalues. */
KS_CONSTANT(KS_WIDER_COLUMNS, 1.6);
/* If a fitted moment and the unbiased moment differ by more standard errors, intervals become wider. */
KS_CONSTANT(KS_DISAGREE, 3);
/*
 * The fitted trace and the unbiased trace come from one sample, so a difference of one standard error is
 * already gross. The standard error describes other samples.
 */
KS_CONSTANT(KS_DISAGREE_TRACE, 1);
/* A first eigenvalue that exceeds the sample's own by more than this factor is too large. */
KS_CONSTANT(KS_ABOVE_SAMPLE, 1.05);
/* An effective dimension is reported for t from this many times the last resolved eigenvalue. */
KS_CONSTANT(KS_T_RESOLVED, 0.3);
/* The fewest eigenvalues for an exponent, unless the caller gives a range. */
enum { KS_EXPONENT_LEAST = 8 };
/* The largest noise share of the mean square: trials of pure noise may suggest more than 1. */
KS_CONSTANT(KS_NOISE_MOST, 0.99);
/* Intervals ignore families whose weight is below this share of the best. */
KS_CONSTANT(KS_NEGLIGIBLE, 1e-3);
