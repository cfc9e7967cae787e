/*
 * Computes random features of some rows on a device. Tiles of rows of Z are stored, or computed again for
 * each use, with the same bits. Frequencies and phases equal the frequencies and phases on the CPU.
 */
#pragma once

#include "device/backend.h"
#include "features/fourier.h"
#include "features/inputs.h"

typedef struct {
    const ks_fourier *f;
    size_t n, tile; /* the number of rows, and the number of rows in a tile */
    double scale;
    const ks_mat *X, *W, *b; /* on the device */
    ks_mat *Z;               /* device memory for all tiles, or for one tile */
    int held;
    /* device memory for v and the part of w from a tile (q numbers each), and for Z v of a tile */
    ks_mat *vectors;
    double *part; /* the part of w from a tile, in host memory */
} ks_rff_device;

/* This is the number of entries in a tile; tests set a smaller number. */
extern size_t ks_rff_device_entries;

/* Returns the smallest number of bytes that the features need on a device, without G. */
size_t ks_rff_device_bytes(size_t n, size_t p, size_t q);

/*
 * Opens the features. Opens the features. It stores Z if Z takes at most `memory` bytes and half of the
 * free memory. Always close z.
 */
kspec_status ks_rff_device_open(ks_rff_device *z, const ks_run *run, const ks_inputs *x, const ks_fourier *f,
                                double scale, size_t memory, ks_arena *arena, kspec_error *err);
void ks_rff_device_close(ks_rff_device *z, const ks_run *run);

/* These functions do on a device what the functions in norm/rff.h do on the CPU. */
kspec_status ks_rff_device_apply(ks_rff_device *z, const ks_run *run, const double *v, double *w,
                                 kspec_error *err);
kspec_status ks_rff_device_gram(ks_rff_device *z, const ks_run *run, double *G, kspec_error *err);
