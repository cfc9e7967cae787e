/*
 * Memory that all ranks of a team share, where they run on one machine: what a rank has written there, the
 * others read in place after a meeting. There are two halves, used in turn: who writes into one has met the
 * others since they read it, at the meeting of the other half.
 */
#ifndef KS_TEAM_AREA_H
#define KS_TEAM_AREA_H

#include "team/team.h"

/*
 * The next half, of at least so many bytes, the same for all ranks, who all come; NULL where there is none:
 * several machines, too little memory, a system that does not permit it. To be written, met about once, and
 * read before the next one is asked for. It lasts until the end of the call.
 */
kspec_status ks_area_get(kspec_team *t, size_t bytes, double **area, kspec_error *err);
void ks_area_end(kspec_team *t);

/* For tests: bytes of a half at most (SIZE_MAX) */
extern size_t ks_area_most;

#endif
