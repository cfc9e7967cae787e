/*
 * Ranks that are threads of one process, with a communicator of shared memory: the library's part of a team
 * without an MPI.
 */
#ifndef KSPEC_TESTS_THREADS_COMM_H
#define KSPEC_TESTS_THREADS_COMM_H

#include "kspec.h"
#include "test.h"

#include <pthread.h>
#include <string.h>

enum { MAX_RANKS = 8 };

/* Numbers of ranks to try: all of them, or under a sanitizer, ten times as slow, the first */
static const int rank_counts[] = {3, 2, 1, 4, 7};
enum { RANK_COUNTS = SANITIZED ? 1 : 5 };

typedef struct {
    int ranks;
    pthread_barrier_t barrier;
    const void *from[MAX_RANKS];
    const size_t *bytes[MAX_RANKS];
} ranks_room;

typedef struct {
    ranks_room *room;
    int rank;
    kspec_comm comm;
    /* what the rank does, and what comes of it */
    void (*work)(const kspec_comm *comm, void *ctx);
    void *ctx;
} ranks_seat;

static int seat_broadcast(void *context, int root, void *data, size_t bytes) {
    ranks_seat *s = context;
    s->room->from[s->rank] = data;
    pthread_barrier_wait(&s->room->barrier);
    if (s->rank != root) memcpy(data, s->room->from[root], bytes);
    pthread_barrier_wait(&s->room->barrier);
    return 0;
}

static int seat_gather(void *context, const void *mine, void *all, const size_t *bytes) {
    ranks_seat *s = context;
    unsigned char *to = all;
    s->room->from[s->rank] = mine;
    pthread_barrier_wait(&s->room->barrier);
    for (int r = 0; r < s->room->ranks; to += bytes[r++]) memcpy(to, s->room->from[r], bytes[r]);
    pthread_barrier_wait(&s->room->barrier);
    return 0;
}

static int seat_exchange(void *context, const void *from, const size_t *send, void *to,
                         const size_t *receive) {
    ranks_seat *s = context;
    unsigned char *at = to;
    s->room->from[s->rank] = from;
    s->room->bytes[s->rank] = send;
    pthread_barrier_wait(&s->room->barrier);
    for (int r = 0; r < s->room->ranks; at += receive[r++]) {
        const unsigned char *theirs = s->room->from[r];
        for (int k = 0; k < s->rank; k++) theirs += s->room->bytes[r][k];
        memcpy(at, theirs, receive[r]);
    }
    pthread_barrier_wait(&s->room->barrier);
    return 0;
}

static int seat_barrier(void *context) {
    ranks_seat *s = context;
    pthread_barrier_wait(&s->room->barrier);
    return 0;
}

static void *sit(void *arg) {
    ranks_seat *s = arg;
    s->work(&s->comm, s->ctx);
    return NULL;
}

/* Runs work(comm, ctx[rank]) as `ranks` ranks at once. */
static inline void run_ranks(int ranks, void (*work)(const kspec_comm *comm, void *ctx), void *const *ctx) {
    ranks_room room = {.ranks = ranks};
    ranks_seat seats[MAX_RANKS];
    pthread_t threads[MAX_RANKS];
    pthread_barrier_init(&room.barrier, NULL, (unsigned)ranks);
    for (int r = 0; r < ranks; r++) {
        seats[r] = (ranks_seat){.room = &room, .rank = r, .work = work, .ctx = ctx[r]};
        seats[r].comm = (kspec_comm){.size = sizeof(kspec_comm),
                                     .rank = r,
                                     .ranks = ranks,
                                     .local_rank = r,
                                     .local_ranks = ranks,
                                     .context = &seats[r],
                                     .broadcast = seat_broadcast,
                                     .gather = seat_gather,
                                     .exchange = seat_exchange,
                                     .barrier = seat_barrier};
        pthread_create(&threads[r], NULL, sit, &seats[r]);
    }
    for (int r = 0; r < ranks; r++) pthread_join(threads[r], NULL);
    pthread_barrier_destroy(&room.barrier);
}

#endif
