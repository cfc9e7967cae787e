/*
 * Several processes, one result. Every rank runs the same code on the same inputs; loops over chunks are
 * shared out, and each chunk's results are handed to all. So every rank has everything that the code between
 * loops needs, in the bits that one process would have, and takes the same decisions.
 *
 * Ranks synchronise at every shared loop, and at the end of every public call. Each tells the others which
 * loop it has reached and whether it has failed. So nobody waits for a rank that will not come.
 */
#pragma once

#include "base/shared.h"
#include "kspec/team.h"

typedef struct ks_store ks_store;

struct kspec_team {
    const ks_team_calls *calls; /* first: base/shared.h */
    kspec_comm comm;
    /* of shared loops so far: the name of the next one's part of the checkpoint */
    uint64_t loops;
    /* the kind of synchronisation that a rank which failed waits at: the others go straight to it; 0: none */
    int over;
    /* the others cannot be reached: it stays over */
    int lost;
    kspec_error failure;
    /* one for each rank: what they show */
    struct ks_card *cards;
    size_t *bytes;
    unsigned char *flags;
    /* team/area.h: what all share, or NULL; bytes of a part of it; whether it cannot be had, or stays */
    void *area;
    size_t area_part;
    int no_area, area_lasts;
    /* meetings so far, when each part was handed out, and the rounds in which it was written */
    uint64_t meetings, area_used[3], area_rounds;
    /* the checkpoint, or NULL */
    ks_store *store;
    /* how many public calls are being made by another one: their ends are not its end */
    int within;
    /* bytes that this rank has received */
    double received;
};

/* 0 of 1 without a team */
int ks_team_rank(const ks_run *run);
int ks_team_ranks(const ks_run *run);

/* What the ranks are at: a comparison or a shared loop, the end of a call, of all calls. A failure skips. */
typedef enum { KS_AT_SAME = 1, KS_AT_LOOP, KS_AT_END, KS_AT_AGREE } ks_sync_point;

/*
 * All show their status, and a number that must be the same. KSPEC_OK where all are well, or the failure of
 * the lowest that is not.
 */
kspec_status ks_team_synchronise(kspec_team *t, ks_sync_point at, kspec_status mine, const char *what,
                                 uint64_t number, kspec_error *err);

/*
 * The end of a public call, always to be reached: returns the status for all. A call between
 * ks_team_within(t, 1) and ks_team_within(t, -1) is a part of another one, and ends with that.
 */
kspec_status ks_team_end(kspec_team *t, kspec_status mine, kspec_error *err);
static inline void ks_team_within(kspec_team *t, int more) {
    if (t) t->within += more;
}

/* Rank 0's value for all: what depends on a rank's own machine, such as the memory that is free */
kspec_status ks_team_decide(kspec_team *t, void *value, size_t bytes, kspec_error *err);

/* The communicator's functions, with a failure for what they return */
kspec_status ks_team_gather(kspec_team *t, const void *mine, void *all, const size_t *bytes,
                            kspec_error *err);
kspec_status ks_team_broadcast(kspec_team *t, int root, void *data, size_t bytes, kspec_error *err);
kspec_status ks_team_exchange(kspec_team *t, const void *from, const size_t *send, void *to,
                              const size_t *receive, kspec_error *err);

/*
 * ks_parallel_for() whose chunks are shared out, chunk c to rank c mod ranks; all get the results. Without a
 * team, ks_parallel_for() itself. `what` names the loop in the checkpoint (letters); what is stored in it is
 * not computed again. fn must not share out anything itself.
 */
kspec_status ks_team_for(const ks_run *run, const char *what, size_t chunks, ks_chunk_fn fn, void *ctx,
                         const ks_share *shares, int count, kspec_error *err);

/*
 * The same where each chunk takes a little less time than the one before it: the order of ranks is turned
 * round after each of them has had one, so that all have as much to do.
 */
kspec_status ks_team_for_falling(const ks_run *run, const char *what, size_t chunks, ks_chunk_fn fn,
                                 void *ctx, const ks_share *shares, int count, kspec_error *err);

/*
 * The same where a rank makes its chunks in one go, as a GPU does: fn is told which, in increasing order, at
 * once or, where they are stored, some after the other. Without a team it is all of them.
 */
typedef kspec_status (*ks_chunks_fn)(void *ctx, const ks_run *run, const size_t *chunks, size_t count,
                                     kspec_error *err);
kspec_status ks_team_for_all(const ks_run *run, const char *what, size_t chunks, ks_chunks_fn fn, void *ctx,
                             const ks_share *shares, int count, kspec_error *err);

/*
 * A step that all ranks take together, such as one point of a path. What it shares out itself is not stored;
 * its results are, by rank 0. Where the checkpoint has them, fn is not called.
 */
typedef kspec_status (*ks_step_fn)(void *ctx, const ks_run *run, kspec_error *err);
kspec_status ks_team_step(const ks_run *run, const char *what, ks_step_fn fn, void *ctx,
                          const ks_share *shares, int count, kspec_error *err);

/*
 * A loop whose chunk c makes the vector `from` + c*stride of n numbers, and then y += these vectors, in the
 * order of chunks. In a team chunk c is run by rank c mod ranks, each rank adds up a part of y, and the parts
 * are handed round: a rank receives chunks*n/ranks + n numbers, not chunks*n.
 */
kspec_status ks_team_sum(const ks_run *run, const char *what, size_t chunks, ks_chunk_fn fn, void *ctx,
                         const double *from, size_t stride, size_t n, double *y, kspec_error *err);

/* Of the memory that is free, what one rank may count on: others on the same machine have as much. */
size_t ks_team_memory(const ks_run *run);

/* The same run without a team: what a chunk runs within itself */
static inline ks_run ks_run_alone(const ks_run *run) {
    ks_run r = *run;
    r.team = NULL;
    return r;
}
