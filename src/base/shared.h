/*
 * What rooms below team/ ask of a team of processes, by a table that every team begins with (team/team.h says
 * what each function does).
 */
#pragma once

#include "base/parallel.h"

/*
 * Where the results of a loop lie: `count` elements of `each` bytes. Chunk c makes elements c*per ...
 * (c+1)*per-1, as far as there are, or with per = 0 those of numbers c, c + chunks, c + 2 chunks ...
 */
typedef struct {
    void *to;
    size_t each, count, per;
    /* the number of the element at `to`: those before it are elsewhere */
    size_t first;
} ks_share;

typedef struct {
    /* a loop whose chunks are shared out; `falling`: where each takes a little less time than the last */
    kspec_status (*loop)(const ks_run *run, const char *what, size_t chunks, ks_chunk_fn fn, void *ctx,
                         const ks_share *shares, int count, kspec_error *err);
    kspec_status (*falling)(const ks_run *run, const char *what, size_t chunks, ks_chunk_fn fn, void *ctx,
                            const ks_share *shares, int count, kspec_error *err);
    /* the number of this process and how many there are; a loop that has no chunks is counted as one */
    int (*rank)(const kspec_team *t);
    int (*ranks)(const kspec_team *t);
    void (*count)(kspec_team *t);
    /* all show how they fare before what follows; what rank 0 has becomes everyone's; the end of a call */
    kspec_status (*synchronise)(kspec_team *t, kspec_status mine, const char *what, uint64_t number,
                                kspec_error *err);
    kspec_status (*send)(kspec_team *t, void *data, size_t bytes, kspec_error *err);
    kspec_status (*end)(kspec_team *t, kspec_status mine, kspec_error *err);
} ks_team_calls;

static inline const ks_team_calls *ks_calls_of(const kspec_team *t) {
    return *(const ks_team_calls *const *)(const void *)t;
}
