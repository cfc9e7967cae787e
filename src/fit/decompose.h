/* The singular values and leverages of a matrix, in units in which its mean square is 1. */
#pragma once

#include "base/memory.h"
#include "kspec/moments.h"
#include "fit/columns.h"
#include "fit/leverage.h"

typedef struct {
    ks_decomposition d;
    /* An eigenvalue of d times unit, times 2^exponent, is one of the operator. */
    double unit;
    int exponent;
    /* All min(P,Q) eigenvalues of M M^T/(PQ), decreasing, in the units of d; d.s has those above rounding. */
    size_t all_count;
    double *all;
    /* The noise in an entry of M, from the differences of trials */
    ks_noise noise;
    /*
     * The relative variance of the columns' mean squares (of the mean of the trials), less what so few rows
     * make of it
     */
    double uneven;
    /* The matrix is of lower rank than its sides, beyond doubt. */
    int low_rank;
} ks_decomposed;

/* Up to this order all singular vectors are taken; beyond it the first so many. */
enum { KS_VECTORS_MAX = 4096 };

/*
 * Of M, the mean of the trials, centred or normalised as `how` says; the trials have been checked by
 * kspec_moments(). At most `most` singular vectors, but all singular values. Everything is held by the arena.
 * KSPEC_E_DATA for a matrix of zeros.
 */
kspec_status ks_decompose(const ks_run *run, const kspec_matrix *phi, size_t ntrials,
                          const kspec_moments_opts *how, size_t most, ks_arena *arena, ks_decomposed *out,
                          kspec_error *err);
