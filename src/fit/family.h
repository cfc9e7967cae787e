/*
 * Families of spectra: Gaussian priors of theta = log lambda at the nodes, and of the log of the noise. A
 * family has a shape, breaks, and perhaps an end beyond which all eigenvalues are zero.
 */
#pragma once

#include "base/memory.h"
#include "fit/observed.h"
#include "fit/tuning.h"

/*
 * The unknowns: n nodes for the eigenvalues 1 ... end. The first K nodes represent the observed groups. If
 * `dust` is 1, the noise is one more unknown, the last in arrays of N numbers.
 */
typedef struct {
    const ks_observed *o;
    const ks_simd *simd;
    /* N = n + dust */
    size_t n, N;
    /* n numbers; `weight` has ks_padded(n) */
    double *position, *weight;
    /*
     * before[l]: how many eigenvalues the first l nodes represent, 0 <= l <= n. All nodes represent `end`
     * eigenvalues.
     */
    size_t *before, end;
    /* 1: the data have noise, whose log has this mean and variance. given: the noise is known */
    int dust, given;
    double dust_mean, dust_variance;
    /* The prior mean of the first log eigenvalue */
    double level;
    /*
     * The coordinate of each shape (n each), 0 at the first node, 1 at the K-th; the short-range kernel (n x
     * n)
     */
    double *u[KS_SHAPE_COUNT + 1], *rough;
} ks_problem;

/*
 * noise: the variance of the noise if known (0: no noise), otherwise NaN. noise_error: the relative standard
 * error of `noise`.
 */
kspec_status ks_problem_init(ks_problem *p, const ks_observed *o, double noise, double noise_error,
                             const ks_simd *simd, ks_arena *arena, kspec_error *err);

/*
 * Sets theta (N) to starting values of the fit: the pilot, extrapolated downwards beyond its last eigenvalue.
 */
void ks_problem_start(const ks_problem *p, double *theta);

/* theta of nodes beyond the end of the spectrum */
#define KS_NOTHING (-60.0)

typedef struct {
    /* an index of KS_SHAPES */
    size_t shape;
    /* the number of breaks, and the nodes before them, counted from 0 and increasing */
    size_t breaks, at[KS_BREAKS_MAX];
    /* the number of eigenvalues that are not zero, at most the problem's `end` */
    size_t end;
} ks_family;

int ks_family_same(const ks_family *f, const ks_family *g);

/* The prior log weight of a family. */
double ks_family_weight(const ks_problem *p, const ks_family *f);

/* The number of nodes of a family. The last node may represent fewer eigenvalues than in the problem. */
size_t ks_family_nodes(const ks_problem *p, const ks_family *f);

/*
 * Computes the prior's covariance S (N x N) and mean mu (N numbers, followed by scratch of N). N counts the
 * family's nodes and the noise.
 */
void ks_family_prior(const ks_problem *p, const ks_family *f, double *S, double *mu);

/* "smooth in log i, broken after 6, 40 in all" */
void ks_family_name(const ks_problem *p, const ks_family *f, size_t size, char *name);

/*
 * The best segmentations of y (n, weights w) into 1 ... most constant pieces: cut[k-1] has the k-1 places
 * after which a piece ends. Returns the number of segmentations, min(most, n). most <= KS_PIECES_MAX;
 * scratch: 2 (most + 1)(n + 1) + 3 (n + 1) doubles.
 */
size_t ks_segment(size_t n, const double *y, const double *w, size_t most, double *scratch,
                  size_t cut[][KS_PIECES_MAX]);
