/*
 * Lists the functions that lower layers need from a team of processes, as a table at the start of every team
 * (team/team.h describes each function).
 */
#pragma once

#include "base/parallel.h"

/*
 * Tells where a loop stores its results, which are `count` elements of `each` bytes. Chunk c computes the
 * elements c*per ... (c+1)*per-1, as far as they exist. If per is 0, chunk c computes the elements c, c +
 * chunks, c + 2 chunks and so on.
 */
typedef struct {
    void *to;
    size_t each, count, per;
    /* first is the number of the element at `to`. This process does not store earlier elements. */
    size_t first;
} ks_share;

typedef struct {
    /*
     * loop() and falling() run loops whose chunks the team divides. In falling(), each chunk takes a little
     * less time than the previous chunk.
     */
    kspec_status (*loop)(const ks_run *run, const char *what, size_t chunks, ks_chunk_fn fn, void *ctx,
                         const ks_share *shares, int count, kspec_error *err);
    kspec_status (*falling)(const ks_run *run, const char *what, size_t chunks, ks_chunk_fn fn, void *ctx,
                            const ks_share *shares, int count, kspec_error *err);
    /*
     * rank() and ranks() return the number of this process, and the number of processes. count() counts a
     * loop without chunks.
     */
    int (*rank)(const kspec_team *t);
    int (*ranks)(const kspec_team *t);
    void (*count)(kspec_team *t);
    /*
     * In synchronise(), all processes exchange their status. send() sends rank 0's data to all processes, and
     * end() ends a call.
     */
    kspec_status (*synchronise)(kspec_team *t, kspec_status mine, const char *what, uint64_t number,
                                kspec_error *err);
    kspec_status (*send)(kspec_team *t, void *data, size_t bytes, kspec_error *err);
    kspec_status (*end)(kspec_team *t, kspec_status mine, kspec_error *err);
} ks_team_calls;

static inline const ks_team_calls *ks_calls_of(const kspec_team *t) {
    return *(const ks_team_calls *const *)(const void *)t;
}
