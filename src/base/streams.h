/*
 * Lists all random streams. Every use of random numbers in the library has a separate range of streams. So
 * data generated with --seed 7 and draws with --seed 7 are independent. streams.c contains the table.
 * tests/unit/test_streams.c checks that no two ranges overlap, and tests/check_includes.sh checks that every
 * stream in use comes from ks_stream().
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

typedef enum {
    /*
     * The command generate draws inputs x, weights w, phases b, the normal numbers of the Gaussian process,
     * and the noise of trial k.
     */
    KS_STREAM_INPUTS,
    KS_STREAM_WEIGHTS,
    KS_STREAM_PHASES,
    KS_STREAM_FIELD,
    KS_STREAM_NOISE,
    KS_STREAM_NOISE_ROW,
    KS_STREAM_NOISE_COL,
    /*
     * The moments use order k of rows and of columns, assignment k, split k of the trials, and split k / P of
     * row k % P alone.
     */
    KS_STREAM_ROW_ORDER,
    KS_STREAM_COL_ORDER,
    KS_STREAM_ASSIGNMENT,
    KS_STREAM_SPLIT,
    KS_STREAM_RAGGED,
    /* The command spectrum uses all draws of moments, and the group of each row. */
    KS_STREAM_DRAWS,
    KS_STREAM_GROUPS,
    /*
     * The command features draws frequencies and phases of draw k, factors that scale its frequencies, and
     * rows for a median distance.
     */
    KS_STREAM_FREQUENCIES,
    KS_STREAM_SCALES,
    KS_STREAM_TURNS,
    KS_STREAM_MEDIAN,
    /*
     * Draw k of the command norm has sampled rows, the start vector of an iteration, and orders of the
     * debiased estimate.
     */
    KS_STREAM_SAMPLE,
    KS_STREAM_START,
    KS_STREAM_FEATURE_ORDER,
    /*
     * Command ridge: W of draw k, its phases, factors that scale its columns, noise added to the test rows,
     * split k of the rows, and the classes whose outputs are read. Split 0 gives training and test rows, and
     * split 1 the test rows in use. A recommendation averages over the splits 2, 3, ... of the test rows.
     */
    KS_STREAM_RIDGE,
    KS_STREAM_RIDGE_PHASES,
    KS_STREAM_RIDGE_SCALES,
    KS_STREAM_TEST_NOISE,
    KS_STREAM_RIDGE_ROWS,
    KS_STREAM_RIDGE_CLASSES,
    /* The command wls draws coefficients and noise of draw k. */
    KS_STREAM_WLS_TRUTH,
    KS_STREAM_WLS_NOISE,
    /* Command wls: the weights (k = 0) and the output (k = 1) of a network whose derivatives are features. */
    KS_STREAM_WLS_NTK,
    /* The command dimension draws the rows (k = 0) and columns (k = 1) with which the curve begins. */
    KS_STREAM_CURVE,
    /* The data checks draw the rows that they compare in pairs. */
    KS_STREAM_CHECK,
    /* Command dimension: the rows that give the null distribution of an alignment. */
    KS_STREAM_PERMUTED,
    /* The choice of blocks draws pairs of rows, to compare them with pairs of consecutive rows. */
    KS_STREAM_BLOCKS,
    /* The test for signal: number i decides which row of range i shows the noise. */
    KS_STREAM_NOISE_ROWS,
    /* Accumulators: number i decides whether the sample contains row i of the stream. */
    KS_STREAM_RESERVOIR,
    /* see ks_learn_stream() */
    KS_STREAM_LEARN,
    KS_STREAM_COUNT
} ks_stream_use;

typedef struct {
    uint64_t first, count;
} ks_stream_range;

extern const ks_stream_range ks_stream_ranges[KS_STREAM_COUNT];

/*
 * Returns stream k of a use. The function reduces k modulo the length of the range, which no realistic k
 * reaches.
 */
static inline uint64_t ks_stream(ks_stream_use use, uint64_t k) {
    return ks_stream_ranges[use].first + k % ks_stream_ranges[use].count;
}

/*
 * Computes a uniformly random permutation of 0 ... count-1 by Fisher and Yates's method, without modulo bias.
 */
void ks_random_permutation(uint64_t seed, uint64_t stream, size_t count, size_t *out);
