/*
 * Every constant of the fit that was chosen and not derived, with the reason. docs/measurements/spectrum.md
 * says what happens when one is changed, and which were not measured.
 */
#pragma once

#include <stddef.h>

/*
 * A build with -DKSPEC_ABLATION takes the values of the environment instead, so that bench/ablation.sh can
 * measure what each constant does without compiling anew.
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

/* Below this share of the largest an eigenvalue of the sample is rounding. */
KS_CONSTANT(KS_ROUNDING, 1e-11);
/* Eigenvalues are used until this share of the trace lies beyond: what is less tells nothing. */
KS_CONSTANT(KS_SHARE, 1e-5);
/*
 * The first are fitted one by one. Then groups grow by a ratio, and the middle one of each stands for it:
 * near ones say the same. Beyond what is used the nodes of the operator's spectrum grow faster.
 */
enum { KS_SINGLE = 24 };
KS_CONSTANT(KS_FINE, 1.07);
KS_CONSTANT(KS_COARSE, 1.25);
/* The correction for uneven leverages is of first order; levels where it exceeds this share are not used. */
KS_CONSTANT(KS_CUT, 0.12);

/* ---- how far they scatter ---- */

/* The variance of one counting function is taken between levels this far above and below it. */
KS_CONSTANT(KS_DIAGONAL, 0.1);
/* The path of the leverages' correction: this share of pi away from the positive axis. */
KS_CONSTANT(KS_PATH_ANGLE, 0.9);
/* Points of the path in a factor of e. */
KS_CONSTANT(KS_PATH_POINTS, 6);
/* What the forward map itself may be wrong by: of each log eigenvalue, and of the share beyond. */
KS_CONSTANT(KS_MODEL_ERROR, 0.02);
KS_CONSTANT(KS_TAIL_ERROR, 0.01);
/* The errors of the leverages' correction resemble each other over this distance in log i. */
KS_CONSTANT(KS_SHIFT_LENGTH, 0.5);
/* The variance of the share beyond is taken this many times: its jackknife is blind to a heavy tail. */
KS_CONSTANT(KS_TAIL_VARIANCE, 1.5);

/* Steps of the logarithm of the columns' noise variances, each of which is one number for the forward map. */
enum { KS_COLUMN_LEVELS = 10 };
/* Columns whose noise variances differ less than this (relative variance) are taken as equal. */
KS_CONSTANT(KS_COLUMNS_EQUAL, 0.02);

/* ---- the nodes ---- */

/* Nodes reach this many times min(P,Q): eigenvalues that no matrix of this size can show one by one. */
KS_CONSTANT(KS_EXTENT, 10);

/* ---- the families of spectra ---- */

/*
 * Shapes: log lambda is a line plus integrated Brownian motion plus a short-range term, smooth in log i
 * (coordinate 0) or in (i - 1/2)^coordinate; or constant, where `flat`.
 */
typedef struct {
    int flat;
    double coordinate, curvature, roughness;
} ks_shape;
static const ks_shape KS_SHAPES[] = {{0, 0, 1, 0.1}, {0, 0, 1, 0.45}, {0, 0.5, 1, 0.1}, {0, 0.5, 1, 0.45},
                                     {0, 1, 1, 0.1}, {1, 0, 0, 0},    {0, 0, 30, 0.3}};
/* how many compete; the last is flat, and the one behind it is rough: its cuts are where breaks are tried */
enum { KS_SHAPE_COUNT = 6, KS_SHAPE_FLAT = 5, KS_SHAPE_ROUGH = 6 };
KS_CONSTANT(KS_ROUGH_WEIGHT, -1);
/* The log weight of a flat family where the rank is seen: one sharp edge makes others likelier. */
KS_CONSTANT(KS_FLAT_WEIGHT, 2);
/* The length of the short-range term in log i. */
KS_CONSTANT(KS_ROUGHNESS_LENGTH, 0.4);
/* Standard deviations of the line's level and slope, and the slope's mean, over the levels that are used. */
KS_CONSTANT(KS_LEVEL_SD, 10);
KS_CONSTANT(KS_SLOPE_SD, 4);
KS_CONSTANT(KS_SLOPE, -2);
/* Of a step and of a kink at a break. */
KS_CONSTANT(KS_STEP_SD, 1.5);
KS_CONSTANT(KS_KINK_SD, 3);
/* What is left of a constant family's freedom: the variance of each log eigenvalue. */
KS_CONSTANT(KS_FLAT_JITTER, 1e-4);
/*
 * Each break, and an end, takes this much from the log weight; so many are tried in turn. Flat spectra begin
 * with the cuts of the rough one into up to so many pieces, or with the first few eigenvalues by themselves.
 */
KS_CONSTANT(KS_MOVE_COST, 2.5);
enum { KS_MOVES_MAX = 1, KS_PIECES_MAX = 4, KS_SPIKES_MAX = 3, KS_BREAKS_MAX = 4 };
/* Flat spectra are first given an end beyond the sample's, in units of the eigenvalues used. */
KS_CONSTANT(KS_FLAT_END, 1.6);
/*
 * Ends that are tried, in units of the eigenvalues used. Evidence is integrated over the log of the end, one
 * step of this list being one unit.
 */
static const double KS_ENDS[] = {0.1, 0.16, 0.25, 0.4, 0.6, 0.8, 1, 1.6, 2.5, 4};
KS_CONSTANT(KS_END_UNIT, 0.4);
enum { KS_END_COUNT = 10 };
/*
 * Noise that is not given: mean and deviation of its log, beside the lower half of the sample's spectrum, in
 * which noise alone has a tenth of its sum (P = Q) to a half (P far from Q).
 */
KS_CONSTANT(KS_NOISE_MEAN, 1);
KS_CONSTANT(KS_NOISE_SD, 2);
/* The standard deviation of the log of noise that is given; the error that trials show is added. */
KS_CONSTANT(KS_NOISE_GIVEN_SD, 0.01);

/* ---- what is reported ---- */

/* Eigenvalues are resolved up to the last whose interval spans no more than this factor. */
KS_CONSTANT(KS_RESOLVED, 4);
/*
 * Laplace's approximation is too sure of itself: standard deviations in intervals are taken this much wider,
 * those of sums over the spectrum more, since how the tail and the noise share the trace varies less within a
 * family than it might.
 */
KS_CONSTANT(KS_WIDER, 1.15);
KS_CONSTANT(KS_WIDER_SUMS, 1.6);
/* Where the noise differs between columns gains do, too, and split eigenvalues that are equal. */
KS_CONSTANT(KS_WIDER_COLUMNS, 1.6);
/* Where a fitted moment and the unbiased one differ by more standard errors, intervals are widened. */
KS_CONSTANT(KS_DISAGREE, 3);
/*
 * The two traces come from one sample: one standard error, of what other samples would have, is a gross
 * difference.
 */
KS_CONSTANT(KS_DISAGREE_TRACE, 1);
/* A first eigenvalue above the sample's own, by more than this factor, is too large. */
KS_CONSTANT(KS_ABOVE_SAMPLE, 1.05);
/* An effective dimension is given at t from this many times the last resolved eigenvalue. */
KS_CONSTANT(KS_T_RESOLVED, 0.3);
/* The fewest eigenvalues over which an exponent is measured, unless a range is given. */
enum { KS_EXPONENT_LEAST = 8 };
/*
 * The largest share of the mean square that is taken for noise: trials of noise alone may say more than all.
 */
KS_CONSTANT(KS_NOISE_MOST, 0.99);
/* Families below this share of the best are left out of the intervals. */
KS_CONSTANT(KS_NEGLIGIBLE, 1e-3);
