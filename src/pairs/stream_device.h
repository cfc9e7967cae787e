/*
 * The state of a stream (pairs/stream.h) on a GPU, while batches come from there: the products of columns and
 * the sample of rows. What has one number a column, or fewer, stays in the host's memory.
 */
#pragma once

#include "device/backend.h"
#include "pairs/reservoir.h"
#include "pairs/stream.h"

typedef struct {
    ks_mat *G[3];    /* of matrices 00, 01 and 11, dense; NULL: the state is in the host's memory */
    ks_mat *rows[2]; /* of the sample, in either matrix */
    int fetched;     /* the host has the same */
} ks_stream_there;

/* Brings the state to run->device, where it is not there yet. */
kspec_status ks_stream_send(const ks_run *run, const ks_stream *s, const ks_reservoir *sample,
                            ks_stream_there *there, kspec_error *err);

/* Has the host's state be the same again. */
kspec_status ks_stream_fetch(const ks_run *run, ks_stream *s, ks_reservoir *sample, ks_stream_there *there,
                             kspec_error *err);

/* Forgets the device's. */
void ks_stream_leave(const ks_run *run, ks_stream_there *there);

/*
 * A batch on the device, looked at, scaled, and ready to be added. *suits = 0: it has entries that are not
 * finite, or of another size than those before, and is for the host to deal with.
 */
typedef struct {
    ks_mat *Y[2]; /* one row more than `count` */
    size_t count;
    double *rows; /* scratch: 4 count */
    ks_arena arena;
} ks_stream_batch;
kspec_status ks_stream_batch_open(const ks_run *run, ks_stream *s, const kspec_matrix *x[2],
                                  ks_stream_batch *b, int *suits, kspec_error *err);
void ks_stream_batch_close(const ks_run *run, ks_stream_batch *b);

/*
 * Adds it, its first row being number `first` of a stream. After a failure the state is neither with nor
 * without these rows.
 */
kspec_status ks_stream_batch_add(const ks_run *run, ks_stream *s, ks_reservoir *sample, uint64_t stream,
                                 uint64_t first, ks_stream_room *room, ks_stream_batch *b,
                                 ks_stream_there *there, kspec_error *err);
