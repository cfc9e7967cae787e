/*
 * The functions that lower layers need from a team of processes, as a table at the start of every team
 * (team/team.h describes each function).
 */
#pragma once

#include "base/parallel.h"

/*
 * Where a loop stores its results: `count` elements of `each` bytes. Chunk c computes elements c*per ...
 * (c+1)*per-1, as far as they exist; with per = 0 it computes elements c, c + chunks, c + 2 chunks ...
 */
typedef struct {
    void *to;
    size_t each, count, per;
    /* the number of the element at `to`; this process does not store earlier elements */
    size_t first;
} ks_share;

typedef struct {
    /*
     * A loop whose chunks the team divides. In `falling` each chunk takes a little less time than the
     * previous chunk.
     */
    kspec_status (*loop)(const ks_run *run, const char *what, size_t chunks, ks_chunk_fn fn, void *ctx,
                         const ks_share *shares, int count, kspec_error *err);
    kspec_status (*falling)(const ks_run *run, const char *what, size_t chunks, ks_chunk_fn fn, void *ctx,
                            const ks_share *shares, int count, kspec_error *err);
    /* The number of this process, and the number of processes. `count` counts a loop without chunks. */
    int (*rank)(const kspec_team *t);
    int (*ranks)(const kspec_team *t);
    void (*count)(kspec_team *t);
    /* All processes exchange their status. Rank 0 sends its data to all. A call ends. */
    kspec_status (*synchronise)(kspec_team *t, kspec_status mine, const char *what, uint64_t number,
                                kspec_error *err);
    kspec_status (*send)(kspec_team *t, void *data, size_t bytes, kspec_error *err);
    kspec_status (*end)(kspec_team *t, kspec_status mine, kspec_error *err);
} ks_team_calls;

static inline const ks_team_calls *ks_calls_of(const kspec_team *t) {
    return *(const ks_team_calls *const *)(const void *)t;
}
