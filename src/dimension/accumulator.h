/* What an accumulator holds: sums, a sample of the rows, and rows that wait until they fill a block. */
#pragma once

#include "device/device.h"
#include "kspec/dimension.h"
#include "pairs/stream_device.h"

struct kspec_accumulator {
    kspec_accumulator_opts o;
    int threads;
    ks_stream sums;
    ks_reservoir sample;
    ks_stream_room room;
    /* the GPU that batches came from, and what of the state is there; lost: it failed with rows on it */
    ks_placement placement;
    ks_stream_there there;
    int lost;
    /* rows in their own units; `block` of them, and room for one more */
    double *waiting;
    size_t held, block;
    uint64_t taken, omitted; /* rows of its own stream so far; of all streams, left out for NaN */
    /* the streams that its rows come from, its own first */
    uint64_t *streams;
    size_t stream_count;
    kspec_accumulator_shape shape; /* as last described */
    ks_arena arena;
};

/* How many rows make a block; for tests */
extern size_t ks_accumulator_block;

/* Adds what waits to the sums, and has all of the state in the host's memory. */
kspec_status ks_accumulator_flush(kspec_accumulator *a, kspec_error *err);

/* The state in the host's memory; it may be on a GPU as well. */
kspec_status ks_accumulator_fetch(const kspec_accumulator *a, kspec_error *err);

/* An accumulator with checked options, blocks of so many rows, and room for so many streams in its list */
kspec_status ks_accumulator_new(size_t features, const kspec_accumulator_opts *o, size_t block,
                                size_t streams, kspec_accumulator **out, kspec_error *err);
