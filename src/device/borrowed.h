/* Matrices of the caller's that are in the memory of a GPU (KSPEC_MEMORY_DEVICE). */
#pragma once

#include "base/memory.h"
#include "device/backend.h"
#include "device/device.h"

/*
 * In place of ks_placement_open(): the GPU that holds all `count` matrices, opened unless the caller
 * wants the processor. KSPEC_E_ARG where they are not in a GPU's memory, or not in that of the GPU asked
 * for by number.
 */
kspec_status ks_placement_of_data(ks_placement *p, kspec_device want, const kspec_matrix *m, size_t count,
                                  kspec_error *err);

/* out (room for as many, on run->device) = alpha m, row by row; m is there, with any strides. */
kspec_status ks_borrowed_pack(const ks_run *run, const kspec_matrix *m, double alpha, ks_mat *out,
                              kspec_error *err);

/* Copies of them in the host's memory, whose views are `to`. Opens their GPU where p has none open. */
kspec_status ks_borrowed_fetch(ks_placement *p, const kspec_matrix *from, size_t count, kspec_matrix *to,
                               ks_arena *arena, kspec_error *err);

/* Are its entries one after the other, row by row? Or column by column? */
int ks_borrowed_by_rows(const kspec_matrix *m);
int ks_borrowed_by_cols(const kspec_matrix *m);

/* KSPEC_E_ARG where memory is not a kspec_memory */
kspec_status ks_borrowed_check(kspec_memory memory, kspec_error *err);

/*
 * For calls that compute on the host's copy: ks_placement_open() or ks_placement_of_data(), and *x becomes a
 * view of the copy where it is on a GPU.
 */
kspec_status ks_borrowed_open(ks_placement *p, kspec_device want, kspec_memory memory, kspec_matrix *x,
                              ks_arena *arena, kspec_error *err);
