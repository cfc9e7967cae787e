/*
 * Computes random features of some rows. Z (n x q) is stored, or computed again for each use, with the
 * same bits.
 */
#pragma once

#include "base/parallel.h"
#include "features/fourier.h"
#include "features/inputs.h"
#include "norm/rff_device.h"

typedef struct {
    ks_fourier f;
    const double *x; /* the rows, n x p, in units of sigma */
    size_t n;
    double scale; /* sqrt(2/q) */
    /* the features, n x q, or NULL if each product computes them again; in a team, the rows of this rank */
    double *Z;
    size_t rank, ranks;
    size_t band;     /* rows per band */
    double **tile;   /* room for band x q numbers for each worker */
    double *partial; /* room for q numbers for each group of bands */
    /* If the run has a device, this field replaces all fields from Z on. */
    ks_rff_device on_device;
} ks_rff;

/*
 * Opens the features. It stores Z if Z takes at most `memory` bytes. Borrows x. Close z even after a failure.
 */
kspec_status ks_rff_open(ks_rff *z, const ks_run *run, const ks_inputs *x, const ks_kernel *kernel, size_t q,
                         uint64_t seed, uint64_t draw, size_t memory, ks_arena *arena, kspec_error *err);

void ks_rff_close(ks_rff *z, const ks_run *run);

/* Computes w = Z^T Z v, q numbers each; the function is a ks_operator. */
kspec_status ks_rff_apply(void *rff, const ks_run *run, const double *v, double *w, kspec_error *err);

/*
 * Computes G = (q/n) Z^T Z, q x q, the Gram matrix of the features sqrt(2) cos(...), as columns, over n
 * rows.
 */
kspec_status ks_rff_gram(ks_rff *z, const ks_run *run, double *G, kspec_error *err);
