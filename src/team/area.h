/* Memory that all ranks of a team share if they run on one machine. After a synchronisation, each rank
 * reads directly what another rank has written. The area has three parts. Ranks write a part until the
 * next synchronisation, and read it until the following one. After the second synchronisation the part is
 * free again. */
#pragma once

#include "team/team.h"

enum { KS_AREA_PARTS = 3 };

/* Gives `count` parts of at least `bytes` bytes each. All ranks call it with the same arguments. The
 * parts are NULL if ranks cannot share memory: on several machines, without enough memory, or on a system
 * that forbids it. The parts last until the end of the public call. If the parts are small compared with
 * the free memory, and nothing failed, later calls reuse them. */
kspec_status ks_area_get(kspec_team *t, size_t bytes, int count, double **area, kspec_error *err);

/* Returns the next of the numbers 0, 1, 2 ..., each of which goes to only one of the calling ranks. Needs
 * an area. Counting restarts at 0 after all ranks have ended the round. A synchronisation must precede
 * the end of the round. */
size_t ks_area_next(kspec_team *t);
void ks_area_round(kspec_team *t);
/* Returns how many numbers ks_area_next() has given out in this round. */
size_t ks_area_taken(const kspec_team *t);

void ks_area_end(kspec_team *t);

/* The largest size of a part in bytes, by default SIZE_MAX. Tests set a smaller size. */
extern size_t ks_area_most;
