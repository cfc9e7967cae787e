/*
 * Every constant of the fit that was chosen and not derived, with the reason. docs/spectrum.md says what
 * happens without each.
 */
#ifndef KS_SPECTRUM_TUNING_H
#define KS_SPECTRUM_TUNING_H

#include <stddef.h>

/* ---- which of the sample's eigenvalues are used ---- */

/* Below this share of the largest an eigenvalue of the sample is rounding. */
static const double KS_ROUNDING = 1e-11;
/* Eigenvalues are used until this share of the trace lies beyond: what is less tells nothing. */
static const double KS_SHARE = 1e-5;
/* No more than this many, which bounds the time; the others enter as one number, their sum. */
enum { KS_LEVELS_MAX = 150 };
/* The correction for uneven leverages is of first order; levels where it exceeds this share are not used. */
static const double KS_CUT = 0.08;

/* ---- how far they scatter ---- */

/* The variance of one counting function is taken between levels this far above and below it. */
static const double KS_DIAGONAL = 0.1;
/* The path of the leverages' correction: this share of pi away from the positive axis. */
static const double KS_PATH_ANGLE = 0.9;
/* Points of the path in a factor of e. */
static const double KS_PATH_POINTS = 12;
/* What the forward map itself may be wrong by: of each log eigenvalue, and of the share beyond. */
static const double KS_MODEL_ERROR = 0.02, KS_TAIL_ERROR = 0.01;
/* The errors of the leverages' correction resemble each other over this distance in log i. */
static const double KS_SHIFT_LENGTH = 0.5;
/* The variance of the share beyond is taken this many times: its jackknife is blind to a heavy tail. */
static const double KS_TAIL_VARIANCE = 1.5;

/* ---- the nodes ---- */

/* Nodes reach this many times min(P,Q): eigenvalues that no matrix of this size can show one by one. */
static const double KS_EXTENT = 10;
/* Beyond the levels a node stands for this many times more eigenvalues than the one before. */
static const double KS_NODE_RATIO = 1.12;

/* ---- the families of spectra ---- */

/* log lambda is smooth in log i (0), or in (i - 1/2)^c. */
static const double KS_COORDINATES[] = {0, 0.25, 0.5, 1};
enum { KS_COORDINATE_COUNT = 4 };
/* Scale of the integrated Brownian motion, and the log weight of a family with it. */
static const double KS_CURVATURE[] = {30, 3, 0.3}, KS_CURVATURE_WEIGHT[] = {-1, -0.3, 0};
enum { KS_CURVATURE_COUNT = 3 };
/* Scale of the short-range term, and its length in log i. */
static const double KS_ROUGHNESS[] = {0.1, 0.3}, KS_ROUGHNESS_LENGTH = 0.4;
enum { KS_ROUGHNESS_COUNT = 2 };
/* Standard deviations of the line's level and slope, and the slope's mean, over the levels that are used. */
static const double KS_LEVEL_SD = 10, KS_SLOPE_SD = 4, KS_SLOPE = -2;
/* Of a step and of a kink at a break; both scales of a family with breaks are small. */
static const double KS_STEP_SD = 1.5, KS_KINK_SD = 3, KS_BREAK_CURVATURE = 0.3, KS_BREAK_ROUGHNESS = 0.15;
/* Log weight: of each break or step, of each spike, of being piecewise constant. */
static const double KS_BREAK_COST = 2.5, KS_SPIKE_COST = 1, KS_FLAT_BONUS = 1;
enum { KS_STEPS_MAX = 5, KS_SPIKES_MAX = 5, KS_BREAKS_MAX = 3 };
/* Beyond the levels a piecewise constant spectrum drops, and falls, by this much (standard deviations). */
static const double KS_BEYOND_SD = 3, KS_BEYOND_SLOPE = -3;
/* What is left of a piecewise constant family's freedom: the variance of each log eigenvalue. */
static const double KS_FLAT_JITTER = 1e-4;
/* Noise that is not given: mean and deviation of its log, beside the lower half of the sample's spectrum. */
static const double KS_NOISE_MEAN = -3, KS_NOISE_SD = 3;
/* The standard deviation of the log of noise that is given. */
static const double KS_NOISE_GIVEN_SD = 0.01;

/* ---- what is reported ---- */

/* An eigenvalue is resolved where its interval is no wider than this factor. */
static const double KS_RESOLVED = 4;
/* Families below this share of the best are left out of the intervals. */
static const double KS_NEGLIGIBLE = 1e-3;

#endif
