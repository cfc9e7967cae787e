/*
 * Families of spectra: Gaussian priors of theta = log lambda at the nodes, and of the log of the noise.
 */
#ifndef KS_SPECTRUM_FAMILY_H
#define KS_SPECTRUM_FAMILY_H

#include "base/memory.h"
#include "spectrum/observed.h"
#include "spectrum/tuning.h"

/*
 * The unknowns: n nodes at positions 1 ... K, then nodes that stand for more and more eigenvalues, and where
 * `dust` is 1 one more for the noise.
 */
typedef struct {
    const ks_observed *o;
    const ks_simd *simd;
    /* N = n + dust */
    size_t n, N;
    /* ks_padded(n); their sum */
    double *weight, total;
    /* n */
    double *position;
    int dust;
    double dust_mean, dust_variance;
    /* The prior mean of the first log eigenvalue */
    double level;
    /*
     * The coordinates u (n each), 0 at the first node and 1 at the K-th, and the short-range kernel (n x n)
     */
    double *u[KS_COORDINATE_COUNT], *rough;
} ks_problem;

/* noise: its variance where known (0: none), otherwise NaN. */
kspec_status ks_problem_init(ks_problem *p, const ks_observed *o, double noise, const ks_simd *simd,
                             ks_arena *arena, kspec_error *err);

/* Where the fit starts: the pilot, falling on beyond it. theta: N. */
void ks_problem_start(const ks_problem *p, double *theta);

/* The spectrum of theta; lambda: ks_padded(n) numbers that it keeps using. */
ks_spectrum ks_problem_spectrum(const ks_problem *p, const double *theta, double *lambda);

typedef struct {
    /* 1: constant between steps; 0: smooth in coordinate number c */
    int flat;
    size_t c;
    double curvature, roughness;
    /* breaks (smooth) or steps (flat) after these nodes, from 0 */
    size_t breaks, at[KS_STEPS_MAX];
    /* prior log weight */
    double log_weight;
} ks_family;

/* The prior's covariance S (N x N) and mean mu (N; another N behind it are scratch). */
void ks_family_prior(const ks_problem *p, const ks_family *f, double *S, double *mu);

/* "smooth in log i, broken after 6", "constant but for steps after 2, 6, 35" */
void ks_family_name(const ks_family *f, size_t size, char *name);

/*
 * The best segmentations of y (n, weights w) into 1 ... most constant pieces: cut[k-1] has the k-1 places
 * after which a piece ends. Returns how many segmentations there are: min(most, n). most <= KS_STEPS_MAX + 1;
 * scratch: 2 (most + 1)(n + 1) + 3 (n + 1) doubles.
 */
size_t ks_segment(size_t n, const double *y, const double *w, size_t most, double *scratch,
                  size_t cut[][KS_STEPS_MAX]);

#endif
