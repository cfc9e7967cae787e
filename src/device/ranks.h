/* The parts of the backend of a team (device/backend.h) */
#ifndef KS_DEVICE_RANKS_H
#define KS_DEVICE_RANKS_H

#include "device/backend.h"
#include "device/strips.h"

/* The matrix behind a pointer that the backend has handed out */
static inline const ks_strips *ks_strips_at(const double *p) { return (const ks_strips *)(const void *)p; }

/* Where a sum or a product waits for the others, with what became of this rank so far */
static inline kspec_status ks_ranks_meet(kspec_team *t, kspec_status mine, kspec_error *err) {
    return ks_team_meet(t, KS_AT_LOOP, mine, "step", 0, err);
}

/* ranks_product.c */
kspec_status ks_ranks_product(const ks_run *run, const ks_matmul *p, kspec_error *err);

/* Doubles that an operation holds beside its matrices; 0 where ranks <= 1. Which operands are whole? */
enum { KS_WHOLE_A = 1, KS_WHOLE_B = 2 };
size_t ks_ranks_product_room(int ranks, const ks_matmul *p, int whole);
size_t ks_ranks_expression_room(int ranks, const ks_expression *e, ks_tile_result what);

#endif
