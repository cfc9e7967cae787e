/*
 * Random features of some rows on a device: tiles of rows of Z, held or recomputed for each use, with the
 * same bits either way. Frequencies and phases equal the CPU's.
 */
#pragma once

#include "device/backend.h"
#include "features/fourier.h"
#include "features/inputs.h"

typedef struct {
    const ks_fourier *f;
    size_t n, tile; /* rows, and rows of a tile */
    double scale;
    const ks_mat *X, *W, *b; /* on the device */
    ks_mat *Z;               /* on the device: all tiles, or room for one */
    int held;
    ks_mat *vectors; /* on the device: v and a tile's part of w, q each, and Z v of a tile */
    double *part;    /* the same part, in the host's memory */
} ks_rff_device;

/* Entries of a tile; tests make it smaller. */
extern size_t ks_rff_device_entries;

/* The least bytes that it takes on a device, not counting G */
size_t ks_rff_device_bytes(size_t n, size_t p, size_t q);

/* Holds Z if it takes at most `memory` bytes and half of the free memory. Always close it. */
kspec_status ks_rff_device_open(ks_rff_device *z, const ks_run *run, const ks_inputs *x, const ks_fourier *f,
                                double scale, size_t memory, ks_arena *arena, kspec_error *err);
void ks_rff_device_close(ks_rff_device *z, const ks_run *run);

/* The same operations as in norm/rff.h */
kspec_status ks_rff_device_apply(ks_rff_device *z, const ks_run *run, const double *v, double *w,
                                 kspec_error *err);
kspec_status ks_rff_device_gram(ks_rff_device *z, const ks_run *run, double *G, kspec_error *err);
