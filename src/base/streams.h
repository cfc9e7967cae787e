/*
 * The registry of random streams. Every use of random numbers in the library has a separate range of streams.
 * So data generated with --seed 7 and draws with --seed 7 are independent. The table is in streams.c.
 * tests/unit/test_streams.c checks that no two ranges overlap, and tests/check_includes.sh checks that every
 * stream in use comes from ks_stream().
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

typedef enum {
    /* generate: inputs x, weights w, phases b, the Gaussian process's normals; noise of trial k */
    KS_STREAM_INPUTS,
    KS_STREAM_WEIGHTS,
    KS_STREAM_PHASES,
    KS_STREAM_FIELD,
    KS_STREAM_NOISE,
    KS_STREAM_NOISE_ROW,
    KS_STREAM_NOISE_COL,
    /*
     * moments: order k of rows and of columns; assignment k; split k of the trials; split k / P of row k % P
     * alone
     */
    KS_STREAM_ROW_ORDER,
    KS_STREAM_COL_ORDER,
    KS_STREAM_ASSIGNMENT,
    KS_STREAM_SPLIT,
    KS_STREAM_RAGGED,
    /* spectrum: all draws of moments; the group of each row */
    KS_STREAM_DRAWS,
    KS_STREAM_GROUPS,
    /*
     * features: frequencies and phases of draw k, and factors that scale its frequencies; rows for a median
     * distance
     */
    KS_STREAM_FREQUENCIES,
    KS_STREAM_SCALES,
    KS_STREAM_TURNS,
    KS_STREAM_MEDIAN,
    /* norm, draw k: sampled rows; start vector of an iteration; orders of the debiased estimate */
    KS_STREAM_SAMPLE,
    KS_STREAM_START,
    KS_STREAM_FEATURE_ORDER,
    /*
     * ridge: W of draw k, its phases, and factors that scale its columns; noise added to the test rows; split
     * k of the rows; the classes whose outputs are read. Split 0 gives training and test rows, split 1 the
     * test rows in use, and splits from 2 on the test rows that a recommendation averages over
     */
    KS_STREAM_RIDGE,
    KS_STREAM_RIDGE_PHASES,
    KS_STREAM_RIDGE_SCALES,
    KS_STREAM_TEST_NOISE,
    KS_STREAM_RIDGE_ROWS,
    KS_STREAM_RIDGE_CLASSES,
    /* wls: coefficients and noise of draw k */
    KS_STREAM_WLS_TRUTH,
    KS_STREAM_WLS_NOISE,
    /* the weights (k = 0) and the output (k = 1) of a network whose derivatives are features */
    KS_STREAM_WLS_NTK,
    /* dimension: the rows (k = 0) and columns (k = 1) that the curve begins with */
    KS_STREAM_CURVE,
    /* checks: the rows that are compared in pairs */
    KS_STREAM_CHECK,
    /* dimension: the rows that give the null distribution of an alignment */
    KS_STREAM_PERMUTED,
    /* blocks: pairs of rows to compare with pairs of consecutive rows */
    KS_STREAM_BLOCKS,
    /* accumulator: number i decides whether the sample contains row i of the stream */
    KS_STREAM_RESERVOIR,
    /* learn: see ks_learn_stream() */
    KS_STREAM_LEARN,
    KS_STREAM_COUNT
} ks_stream_use;

typedef struct {
    uint64_t first, count;
} ks_stream_range;

extern const ks_stream_range ks_stream_ranges[KS_STREAM_COUNT];

/* Stream k of a use. The function reduces k modulo the length of the range, which no realistic k reaches. */
static inline uint64_t ks_stream(ks_stream_use use, uint64_t k) {
    return ks_stream_ranges[use].first + k % ks_stream_ranges[use].count;
}

/* A uniformly random permutation of 0 ... count-1: Fisher-Yates, without modulo bias */
void ks_random_permutation(uint64_t seed, uint64_t stream, size_t count, size_t *out);
