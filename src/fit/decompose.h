/* Computes the singular values and leverages of a matrix, in units in which its mean square is 1. */
#pragma once

#include "base/memory.h"
#include "kspec/moments.h"
#include "fit/columns.h"
#include "fit/leverage.h"

typedef struct {
    ks_decomposition d;
    /* An eigenvalue of d times `unit` times 2^exponent is an eigenvalue of the operator. */
    double unit;
    int exponent;
    /*
     * `all` contains the min(P,Q) eigenvalues of M M^T/(PQ), in decreasing order and in the units of d. The
     * list d.s contains only those above rounding errors.
     */
    size_t all_count;
    double *all;
    /* noise describes the noise in an entry of M, estimated from differences of trials. */
    ks_noise noise;
    /*
     * uneven is the relative variance of the columns' mean squares, minus the variance that sampling so few
     * rows causes. The mean squares are those of the mean of the trials.
     */
    double uneven;
    /* tail is the exponent of the tail of the columns' mean squares without noise, or INFINITY if unknown. */
    double tail;
    /* If low_rank is 1, the rank is clearly lower than both sides. */
    int low_rank;
} ks_decomposed;

/* The fit computes at most KS_VECTORS_MAX singular vectors. */
enum { KS_VECTORS_MAX = 4096 };

/*
 * Decomposes M, the mean of the trials, which is centred or normalised as `how` requests. The caller has
 * already checked the trials in kspec_moments(). The function computes at most `most` singular vectors, but
 * all singular values. The arena owns the results. Returns KSPEC_E_DATA for a matrix of zeros.
 */
kspec_status ks_decompose(const ks_run *run, const kspec_matrix *phi, size_t ntrials,
                          const kspec_moments_opts *how, size_t most, ks_arena *arena, ks_decomposed *out,
                          kspec_error *err);
