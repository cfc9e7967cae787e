/*
 * Describes families of spectra. A family is a Gaussian prior of theta = log lambda at the nodes, and of the
 * logarithm of the noise. A family has a shape, breaks, and perhaps an end beyond which all eigenvalues are
 * zero.
 */
#pragma once

#include "base/memory.h"
#include "fit/observed.h"
#include "fit/tuning.h"

/*
 * A problem has as unknowns n nodes for the eigenvalues 1 ... end. The first K nodes represent the observed
 * groups. If `dust` is 1, the noise is one more unknown, and the last number in arrays of N numbers.
 */
typedef struct {
    const ks_observed *o;
    const ks_simd *simd;
    /* N: includes dust */
    size_t n, N;
    /* position has n numbers, and `weight` has ks_padded(n). */
    double *position, *weight;
    /*
     * before[l] is the number of eigenvalues that the first l nodes represent, for 0 <= l <= n. All nodes
     * represent `end` eigenvalues.
     */
    size_t *before, end;
    /*
     * If dust is 1, the data have noise, whose logarithm has the prior mean dust_mean and the prior variance
     * dust_variance. If given is 1, the noise is known.
     */
    int dust, given;
    double dust_mean, dust_variance;
    /* level is the prior mean of the first log eigenvalue. */
    double level;
    /*
     * u[s] contains the coordinate of shape s at each node, which is 0 at the first node and 1 at the K-th.
     * rough is the n x n matrix of the short-range kernel.
     */
    double *u[KS_SHAPE_COUNT + 1], *rough;
} ks_problem;

/*
 * Sets up the problem. noise is the variance of the noise, 0 without noise, or NaN if unknown. noise_error is
 * the relative standard error of `noise`.
 */
kspec_status ks_problem_init(ks_problem *p, const ks_observed *o, double noise, double noise_error,
                             const ks_simd *simd, ks_arena *arena, kspec_error *err);

/*
 * Sets theta, N numbers, to starting values of the fit. The starting values follow from the pilot,
 * extrapolated downwards beyond its last eigenvalue.
 */
void ks_problem_start(const ks_problem *p, double *theta);

/* At nodes beyond the end of the spectrum, theta is KS_NOTHING. */
#define KS_NOTHING (-60.0)

typedef struct {
    /* index of KS_SHAPES */
    size_t shape;
    /*
     * `breaks` is the number of breaks. The list `at` contains the nodes before the breaks, counted from 0
     * and increasing.
     */
    size_t breaks, at[KS_BREAKS_MAX];
    /* The number of eigenvalues that are not zero, at most the problem's `end`. */
    size_t end;
} ks_family;

int ks_family_same(const ks_family *f, const ks_family *g);

/* Returns the logarithm of a family's prior weight. */
double ks_family_weight(const ks_problem *p, const ks_family *f);

/*
 * Returns the number of nodes of a family. The family's last node may represent fewer eigenvalues than in the
 * problem.
 */
size_t ks_family_nodes(const ks_problem *p, const ks_family *f);

/*
 * Computes the prior's covariance S, N x N, and its mean mu, N numbers followed by scratch of N. N counts the
 * family's nodes and the noise.
 */
void ks_family_prior(const ks_problem *p, const ks_family *f, double *S, double *mu);

/* Writes a name such as "smooth in log i, broken after 6, 40 in all". */
void ks_family_name(const ks_problem *p, const ks_family *f, size_t size, char *name);

/*
 * Finds the best segmentations of y, n numbers with weights w, into 1 ... most constant pieces. cut[k-1]
 * receives the k-1 places after which a piece ends. Returns the number of segmentations, min(most, n). `most`
 * is at most KS_PIECES_MAX, and scratch has 2 (most + 1)(n + 1) + 3 (n + 1) doubles.
 */
size_t ks_segment(size_t n, const double *y, const double *w, size_t most, double *scratch,
                  size_t cut[][KS_PIECES_MAX]);
