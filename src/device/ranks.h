/* Declares the internal functions of the team backend (device/backend.h). */
#pragma once

#include "device/backend.h"
#include "device/strips.h"
#include "linalg/linalg.h"

/* Returns the strips of a matrix of this backend. */
static inline const ks_strips *ks_strips_at(const ks_mat *p) { return (const ks_strips *)p; }

/* Waits for the other ranks before a sum or a product, and sends them the status of this rank. */
static inline kspec_status ks_ranks_synchronise(kspec_team *t, kspec_status mine, kspec_error *err) {
    return ks_team_synchronise(t, KS_AT_LOOP, mine, "step", 0, err);
}

/*
 * Describes a piece of op(A) or op(B), which starts at i0 and k0. The index i runs over rows of op(A), or
 * over columns of op(B). The index k is the inner dimension.
 */
typedef struct {
    const double *x;
    size_t ld, i0, k0;
    int turned; /* k by i */
} ks_view;

static inline const double *ks_view_at(const ks_view *v, size_t i, size_t k) {
    return v->turned ? v->x + (k - v->k0) * v->ld + (i - v->i0) : v->x + (i - v->i0) * v->ld + (k - v->k0);
}

/* An operand of a symmetric product, which is wholly local, or contains only the i of this rank's strips. */
typedef struct {
    ks_view own;
    int local;
} ks_operand;

/* Returns the inner dimension of a piece of a product. */
static inline size_t ks_depth(size_t k) { return k < KS_DEPTH ? k : KS_DEPTH; }

kspec_status ks_ranks_product(const ks_run *run, const ks_mat_product *p, kspec_error *err);

/* Multiplies A and B in shared memory, with all of C in shared memory and beta = 0 (ranks_shared.c). */
kspec_status ks_ranks_shared(const ks_run *run, const ks_mat_product *p, const double *A, const double *B,
                             double *C, kspec_error *err);

/*
 * Computes a symmetric product from the operands A and B, or from one operand if both are the same
 * (ranks_symmetric.c).
 */
kspec_status ks_ranks_symmetric(const ks_run *run, const ks_mat_product *p, const ks_operand *operands,
                                int count, kspec_error *err);

/*
 * Returns the number of doubles that a product needs in addition to its matrices, or 0 if ranks <= 1. ks_room
 * explains `whole`.
 */
size_t ks_ranks_product_room(int ranks, const ks_mat_product *p, int whole);
size_t ks_ranks_symmetric_room(int ranks, const ks_mat_product *p, int whole);
