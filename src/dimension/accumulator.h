/*
 * The state of an accumulator, which contains sums, a sample of the rows, and rows that wait until they fill
 * a block.
 */
#pragma once

#include "device/device.h"
#include "kspec/dimension.h"
#include "pairs/grouped.h"
#include "pairs/stream_device.h"

struct kspec_accumulator {
    kspec_accumulator_opts o;
    int threads;
    ks_stream sums;
    ks_reservoir sample;
    /*
     * With o.grouped, groups and group_sample replace sums and sample. In sums, only the numbers of columns
     * are then set.
     */
    ks_grouped groups;
    ks_group_sample group_sample;
    ks_stream_room room;
    /*
     * placement is the GPU of earlier batches. The field `there` is the state on that GPU. lost is 1 if the
     * GPU failed with rows in its state.
     */
    ks_placement placement;
    ks_stream_there there;
    int lost;
    /* waiting contains rows that wait, in their own units, with memory for `block` + 1 rows. */
    double *waiting;
    size_t held, block;
    /*
     * taken counts the rows or groups of the accumulator's own stream. omitted counts the rows with NaN in
     * all streams.
     */
    uint64_t taken, omitted;
    /* `streams` lists the streams of all rows. The first stream is the accumulator's own. */
    uint64_t *streams;
    size_t stream_count;
    kspec_accumulator_shape shape; /* as last described */
    ks_arena arena;
};

/* The number of rows in a block, which tests may change. */
extern size_t ks_accumulator_block;

/* Adds the waiting rows to the sums, and moves the whole state to host memory. */
kspec_status ks_accumulator_flush(kspec_accumulator *a, kspec_error *err);

/* Copies the state to host memory. A GPU may keep its copy. */
kspec_status ks_accumulator_fetch(const kspec_accumulator *a, kspec_error *err);

/* Adds the rows of a checked batch in groups. After a failure, the accumulator is unchanged. */
kspec_status ks_accumulator_add_groups(kspec_accumulator *a, const kspec_matrix *x, const kspec_matrix *other,
                                       const uint64_t *labels, kspec_error *err);

/* Does row i of the batch have an entry that is NaN? */
int ks_accumulator_omits(const kspec_matrix *x, const kspec_matrix *other, size_t i);

/* Copies row i of both matrices to a row of the accumulator. */
void ks_accumulator_row(const kspec_matrix *x, const kspec_matrix *other, size_t i, double *to);

/* Creates an accumulator with checked options, blocks of `block` rows, and space for `streams` streams. */
kspec_status ks_accumulator_new(size_t features, const kspec_accumulator_opts *o, size_t block,
                                size_t streams, kspec_accumulator **out, kspec_error *err);
