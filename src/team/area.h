/*
 * Memory that all ranks of a team share, where they run on one machine: what a rank has written there, the
 * others read in place after a meeting. There are two halves. One that was handed out is written until the
 * next meeting and read until the one after that: by then it is free again.
 */
#ifndef KS_TEAM_AREA_H
#define KS_TEAM_AREA_H

#include "team/team.h"

/*
 * One or both halves (count), of at least so many bytes each, the same for all ranks, who all come; NULL
 * where there is none: several machines, too little memory, a system that does not permit it. It lasts until
 * the end of the call.
 */
kspec_status ks_area_get(kspec_team *t, size_t bytes, int count, double *area[2], kspec_error *err);
void ks_area_end(kspec_team *t);

/* For tests: bytes of a half at most (SIZE_MAX) */
extern size_t ks_area_most;

#endif
