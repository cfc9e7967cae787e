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
    size_t n, tile; /* the number of rows, and of rows in a tile */
    double scale;
    const ks_mat *X, *W, *b; /* on the device */
    ks_mat *Z;               /* on the device: all tiles, or room for one tile */
    int held;
    ks_mat *vectors; /* on the device: v and the part of w from a tile, q numbers each, and Z v of a tile */
    double *part;    /* the part of w from a tile, in host memory */
} ks_rff_device;

/* The number of entries in a tile; tests set a smaller number. */
extern size_t ks_rff_device_entries;

/* The smallest number of bytes that the features need on a device, without G */
size_t ks_rff_device_bytes(size_t n, size_t p, size_t q);

/*
 * Opens the features. Stores Z if it takes at most `memory` bytes and half of the free memory. Always close
 * z.
 */
kspec_status ks_rff_device_open(ks_rff_device *z, const ks_run *run, const ks_inputs *x, const ks_fourier *f,
                                double scale, size_t memory, ks_arena *arena, kspec_error *err);
void ks_rff_device_close(ks_rff_device *z, const ks_run *run);

/* The operations of norm/rff.h on a device */
kspec_status ks_rff_device_apply(ks_rff_device *z, const ks_run *run, const double *v, double *w,
                                 kspec_error *err);
kspec_status ks_rff_device_gram(ks_rff_device *z, const ks_run *run, double *G, kspec_error *err);
