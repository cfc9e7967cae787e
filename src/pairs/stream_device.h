/*
 * Keeps the second-order state of a stream (pairs/stream.h) on a GPU, for batches on that GPU. The GPU stores
 * the products of columns and the sample of rows. Vectors over the columns, scalars and the diagonal of the
 * products stay in host memory.
 */
#pragma once

#include "device/backend.h"
#include "pairs/reservoir.h"
#include "pairs/stream.h"

typedef struct {
    ks_mat *G[3];    /* G contains the dense blocks 00, 01 and 11. NULL if the state is in host memory. */
    ks_mat *rows[2]; /* `rows` contains the sample's rows of each matrix. */
    int fetched;     /* If fetched is 1, host memory contains the same values as the device. */
} ks_stream_there;

/* Copies the state to run->device, unless the state is already on the device. */
kspec_status ks_stream_send(const ks_run *run, const ks_stream *s, const ks_reservoir *sample,
                            ks_stream_there *there, kspec_error *err);

/* Copies the state back to the host. */
kspec_status ks_stream_fetch(const ks_run *run, ks_stream *s, ks_reservoir *sample, ks_stream_there *there,
                             kspec_error *err);

/* Drops the state on the device without copying it to the host. */
void ks_stream_leave(const ks_run *run, ks_stream_there *there);

/*
 * A batch on the device that is checked, scaled, and ready to be added. If *suits is 0, the host must add the
 * batch. The reason is that entries are not finite, or differ too much in size from earlier entries.
 */
typedef struct {
    ks_mat *Y[2]; /* Each matrix has room for `count` + 1 rows. */
    size_t count;
    /* `vectors` are on the device. `found` receives those that the host needs, and `list` names rows. */
    ks_mat *vectors;
    double *found;
    size_t *list;
    ks_arena arena;
} ks_stream_batch;
kspec_status ks_stream_batch_open(const ks_run *run, ks_stream *s, const ks_reservoir *sample,
                                  const kspec_matrix *x[2], ks_stream_batch *b, int *suits, kspec_error *err);
void ks_stream_batch_close(const ks_run *run, ks_stream_batch *b);

/*
 * Adds the batch, whose first row has number `first` in a stream. After a failure the state is undefined and
 * may contain some of these rows.
 */
kspec_status ks_stream_batch_add(const ks_run *run, ks_stream *s, ks_reservoir *sample, uint64_t stream,
                                 uint64_t first, ks_stream_room *room, ks_stream_batch *b,
                                 ks_stream_there *there, kspec_error *err);
