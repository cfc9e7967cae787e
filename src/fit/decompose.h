/* The singular values and leverages of a matrix, in units in which its mean square is 1. */
#pragma once

#include "base/memory.h"
#include "kspec/moments.h"
#include "fit/columns.h"
#include "fit/leverage.h"

typedef struct {
    ks_decomposition d;
    /* (eigenvalue of d) times `unit` times 2^exponent is an eigenvalue of the operator */
    double unit;
    int exponent;
    /*
     * All min(P,Q) eigenvalues of M M^T/(PQ), decreasing, in the units of d. d.s contains only eigenvalues
     * above rounding.
     */
    size_t all_count;
    double *all;
    /* The noise in an entry of M, estimated from differences of trials */
    ks_noise noise;
    /*
     * The relative variance of the columns' mean squares (of the mean of the trials), minus the variance that
     * sampling so few rows causes
     */
    double uneven;
    /* The exponent of the tail of the columns' mean squares without noise; INFINITY if unknown */
    double tail;
    /* 1: the rank is clearly lower than both sides. */
    int low_rank;
} ks_decomposed;

/* The most singular vectors that the fit computes */
enum { KS_VECTORS_MAX = 4096 };

/*
 * Decomposes M, the mean of the trials, centred or normalised as `how` says. kspec_moments() has already
 * checked the trials. Computes at most `most` singular vectors, but all singular values. The arena holds the
 * result. Returns KSPEC_E_DATA for a matrix of zeros.
 */
kspec_status ks_decompose(const ks_run *run, const kspec_matrix *phi, size_t ntrials,
                          const kspec_moments_opts *how, size_t most, ks_arena *arena, ks_decomposed *out,
                          kspec_error *err);
