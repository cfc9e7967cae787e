/*
 * Keeps a uniform sample of the rows of a stream. The sample consists of the rows with the smallest keys,
 * which are random numbers of (seed, stream, row number). So the sample does not depend on the order in which
 * parts of the stream are merged.
 */
#pragma once

#include "base/memory.h"
#include "kspec/base.h"

typedef struct {
    double key;
    uint64_t stream, row;
    size_t place; /* The row's entries start at rows + place * width. */
} ks_kept;

typedef struct {
    uint64_t seed;
    size_t capacity, width, count;
    ks_kept *kept; /* The kept rows form a heap, in which the row with the largest key comes first. */
    double *rows;
} ks_reservoir;

/* Opens an empty sample in the arena, with memory for `capacity` rows of `width` numbers. */
kspec_status ks_reservoir_open(ks_reservoir *r, uint64_t seed, size_t capacity, size_t width, ks_arena *arena,
                               kspec_error *err);

/*
 * Returns the memory for row number `row` of a stream, which the caller fills. Returns NULL if the sample
 * does not contain this row.
 */
double *ks_reservoir_place(ks_reservoir *r, uint64_t stream, uint64_t row);

/* Offers row number `row` of a stream to the sample, which copies the row if its key is small enough. */
void ks_reservoir_offer(ks_reservoir *r, uint64_t stream, uint64_t row, const double *x);

/* Merges another sample with the same seed, capacity and width. */
void ks_reservoir_merge(ks_reservoir *r, const ks_reservoir *other);
