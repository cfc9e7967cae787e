/*
 * Memory that all ranks of a team share if they run on one machine: after a synchronisation, each rank reads
 * in place what another has written. The area has three parts. A part is written until the next
 * synchronisation, then read until the one after; then it is free again.
 */
#pragma once

#include "team/team.h"

enum { KS_AREA_PARTS = 3 };

/*
 * Gives `count` parts of at least `bytes` bytes each; all ranks call it with the same arguments. The parts
 * are NULL if no area exists: several machines, not enough memory, or a system that does not permit it. They
 * last until the end of the call. If they are small compared with the free memory, and nothing failed, later
 * calls use them again.
 */
kspec_status ks_area_get(kspec_team *t, size_t bytes, int count, double **area, kspec_error *err);

/*
 * Needs an area. Gives 0, 1, 2 ... to the calling ranks, each number once among all ranks, and starts again
 * at 0 after all ranks have reached the end of the round, which must follow a synchronisation.
 */
size_t ks_area_next(kspec_team *t);
void ks_area_round(kspec_team *t);
/* The number of numbers that this round has given out */
size_t ks_area_taken(const kspec_team *t);

void ks_area_end(kspec_team *t);

/* For tests: the largest size of a part in bytes (SIZE_MAX) */
extern size_t ks_area_most;
