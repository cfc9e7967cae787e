/* A team is several processes that compute one result together. Every rank runs the same code on the same
 * inputs. The ranks divide the chunks of a loop among themselves, and all ranks receive each chunk's
 * results. So between loops every rank has all data, with the same bits as a single process, and makes
 * the same decisions. Ranks synchronise at every shared loop, and at the end of every public call. Each
 * rank tells the others which loop it has reached and whether it has failed. So no rank waits for a rank
 * that has failed. */
#pragma once

#include "base/shared.h"
#include "kspec/team.h"

typedef struct ks_store ks_store;

struct kspec_team {
    const ks_team_calls *calls; /* first: base/shared.h */
    kspec_comm comm;
    /* the number of shared loops so far, which is the next loop's name in the checkpoint */
    uint64_t loops;
    /* After a failure: the kind of synchronisation at which the failed rank waits, and to which the other
     * ranks go directly. The value is 0 if no rank has failed. */
    int over;
    /* 1 if the other ranks cannot be reached any more; then `over` stays set */
    int lost;
    kspec_error failure;
    /* the status of each rank */
    struct ks_card *cards;
    size_t *bytes;
    unsigned char *flags;
    /* The shared area (team/area.h), or NULL, and the bytes of a part. Two flags say that ranks cannot
     * share memory, and that the area stays after the call. */
    void *area;
    size_t area_part;
    int no_area, area_lasts;
    /* The number of synchronisations so far, the number of synchronisations before each part was given
     * out, and the number of rounds of ks_area_next(). */
    uint64_t meetings, area_used[3], area_rounds;
    /* the checkpoint, or NULL */
    ks_store *store;
    /* how deeply public calls are nested; the end of an inner call does not end the outer call */
    int within;
    /* the number of bytes that this rank has received */
    double received;
};

/* These functions return rank 0 of 1 if there is no team. */
int ks_team_rank(const ks_run *run);
int ks_team_ranks(const ks_run *run);

/*
 * The place of a synchronisation: a comparison, a shared loop, the end of a call, the end of all calls. After
 * a failure a rank skips to the end.
 */
typedef enum { KS_AT_SAME = 1, KS_AT_LOOP, KS_AT_END, KS_AT_AGREE } ks_sync_point;

/* Exchanges the status of all ranks, and a number that must be equal on all ranks. Returns KSPEC_OK if no
 * rank has failed, otherwise the failure of the lowest failed rank. */
kspec_status ks_team_synchronise(kspec_team *t, ks_sync_point at, kspec_status mine, const char *what,
                                 uint64_t number, kspec_error *err);

/* Ends a public call, and returns the common status of all ranks. Every rank must reach this call. A call
 * between ks_team_within(t, 1) and ks_team_within(t, -1) belongs to another public call, which ends
 * later. */
kspec_status ks_team_end(kspec_team *t, kspec_status mine, kspec_error *err);
static inline void ks_team_within(kspec_team *t, int more) {
    if (t) t->within += more;
}

/*
 * Sends the value of rank 0 to all ranks. Use it for decisions that depend on the machine, such as free
 * memory.
 */
kspec_status ks_team_decide(kspec_team *t, void *value, size_t bytes, kspec_error *err);

/* These functions call the communicator and turn its error codes into failures. */
kspec_status ks_team_gather(kspec_team *t, const void *mine, void *all, const size_t *bytes,
                            kspec_error *err);
kspec_status ks_team_broadcast(kspec_team *t, int root, void *data, size_t bytes, kspec_error *err);
kspec_status ks_team_exchange(kspec_team *t, const void *from, const size_t *send, void *to,
                              const size_t *receive, kspec_error *err);

/* Works like ks_parallel_for(), but rank c mod ranks runs chunk c, and all ranks get the results. Without
 * a team the function is ks_parallel_for(). `what` (letters) names the loop in the checkpoint; chunks
 * stored in the checkpoint are not computed again. fn must not contain a shared loop. */
kspec_status ks_team_for(const ks_run *run, const char *what, size_t chunks, ks_chunk_fn fn, void *ctx,
                         const ks_share *shares, int count, kspec_error *err);

/* Works like ks_team_for(), for chunks that take less and less time. The order of the ranks is reversed
 * after each round, so that all ranks do about the same work. */
kspec_status ks_team_for_falling(const ks_run *run, const char *what, size_t chunks, ks_chunk_fn fn,
                                 void *ctx, const ks_share *shares, int count, kspec_error *err);

/* Works like ks_team_for(), for a rank that computes all its chunks in one call, as a GPU does. fn
 * receives the list of chunks in increasing order, or several lists if a checkpoint stores the results.
 * Without a team the list contains all chunks. */
typedef kspec_status (*ks_chunks_fn)(void *ctx, const ks_run *run, const size_t *chunks, size_t count,
                                     kspec_error *err);
kspec_status ks_team_for_all(const ks_run *run, const char *what, size_t chunks, ks_chunks_fn fn, void *ctx,
                             const ks_share *shares, int count, kspec_error *err);

/* Runs a step that all ranks take together, such as one point of a path. The checkpoint does not store
 * the shared loops inside the step; rank 0 stores the step's results. If the checkpoint contains these
 * results, fn is not called. */
typedef kspec_status (*ks_step_fn)(void *ctx, const ks_run *run, kspec_error *err);
kspec_status ks_team_step(const ks_run *run, const char *what, ks_step_fn fn, void *ctx,
                          const ks_share *shares, int count, kspec_error *err);

/*
 * Runs a loop whose chunk c computes the vector `from` + c*stride of n numbers, and adds these vectors to y
 * in the order of chunks. In a team, rank c mod ranks runs chunk c. Each rank sums a range of y, and the
 * ranks exchange these ranges. So a rank receives chunks*n/ranks + n numbers instead of chunks*n.
 */
kspec_status ks_team_sum(const ks_run *run, const char *what, size_t chunks, ks_chunk_fn fn, void *ctx,
                         const double *from, size_t stride, size_t n, double *y, kspec_error *err);

/* Returns the share of free memory that one rank may use. The ranks on a machine have equal shares. */
size_t ks_team_memory(const ks_run *run);

/* Returns a copy of the run without its team, for the computation inside a chunk. */
static inline ks_run ks_run_alone(const ks_run *run) {
    ks_run r = *run;
    r.team = NULL;
    return r;
}
