/*
 * Memory that all ranks of a team share, where they run on one machine: what a rank has written, the others
 * read in place after all have synchronised. It has three parts. One that was handed out is written until
 * the next synchronisation and read until the one after that: then it is free again.
 */
#pragma once

#include "team/team.h"

enum { KS_AREA_PARTS = 3 };

/*
 * So many parts of it, of at least so many bytes each, the same for all ranks, who all come; NULL where there
 * are none: several machines, too little memory, a system that does not permit it. They last until the end of
 * the call; where they are little beside the memory that is free, and nothing failed, for the calls after it.
 */
kspec_status ks_area_get(kspec_team *t, size_t bytes, int count, double **area, kspec_error *err);

/*
 * Where there is an area: 0, 1, 2 ... to whoever asks, each number once among all ranks, and from 0 again
 * after all have come to the round's end, which is to follow a synchronisation.
 */
size_t ks_area_next(kspec_team *t);
void ks_area_round(kspec_team *t);
/* How many numbers of this round have been asked for */
size_t ks_area_taken(const kspec_team *t);

void ks_area_end(kspec_team *t);

/* For tests: bytes of a part at most (SIZE_MAX) */
extern size_t ks_area_most;
