/* Reads the caller's matrices in GPU memory (KSPEC_MEMORY_DEVICE). */
#pragma once

#include "base/memory.h"
#include "device/backend.h"
#include "device/device.h"

/*
 * Finds the GPU that contains all `count` matrices, and opens it unless the caller wants the CPU. The call
 * replaces ks_placement_open(). Returns KSPEC_E_ARG if the matrices are not in GPU memory, or on a different
 * GPU than the one requested by number.
 */
kspec_status ks_placement_of_data(ks_placement *p, kspec_device want, const kspec_matrix *m, size_t count,
                                  kspec_error *err);

/*
 * Sets out to alpha m, row by row. Both matrices have the same size and are on run->device. m may have any
 * strides.
 */
kspec_status ks_borrowed_pack(const ks_run *run, const kspec_matrix *m, double alpha, ks_mat *out,
                              kspec_error *err);

/*
 * Copies matrices to host memory, and sets `to` to views of the copies. Opens the GPU of the matrices if p
 * has no open GPU.
 */
kspec_status ks_borrowed_fetch(ks_placement *p, const kspec_matrix *from, size_t count, kspec_matrix *to,
                               ks_arena *arena, kspec_error *err);

/* Are the entries contiguous, row by row or column by column? */
int ks_borrowed_by_rows(const kspec_matrix *m);
int ks_borrowed_by_cols(const kspec_matrix *m);

/* Returns KSPEC_E_ARG if memory is not a kspec_memory. */
kspec_status ks_borrowed_check(kspec_memory memory, kspec_error *err);

/*
 * Opens the placement of a call that computes on host memory, by ks_placement_open() or
 * ks_placement_of_data(). If the data are on a GPU, *x becomes a view of a host copy.
 */
kspec_status ks_borrowed_open(ks_placement *p, kspec_device want, kspec_memory memory, kspec_matrix *x,
                              ks_arena *arena, kspec_error *err);
