/*
 * Ranks that are threads of one process, with a communicator of shared memory: the library's part of a team
 * without an MPI.
 */
#ifndef KSPEC_TESTS_THREADS_COMM_H
#define KSPEC_TESTS_THREADS_COMM_H

#include "kspec.h"
#include "test.h"

#include <dirent.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

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

/* The same with jobs that lie one after the other, each of `size` bytes */
static inline void run_jobs(int ranks, void (*work)(const kspec_comm *comm, void *ctx), void *jobs,
                            size_t size) {
    void *ctx[MAX_RANKS];
    for (int r = 0; r < ranks; r++) ctx[r] = (char *)jobs + (size_t)r * size;
    run_ranks(ranks, work, ctx);
}

/* Entries between -1 and 1, for free() */
static inline double *random_matrix(size_t count, uint64_t seed) {
    double *x = malloc(count * sizeof *x);
    for (size_t i = 0; i < count; i++) {
        seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        x[i] = (double)(int64_t)seed / 9e18;
    }
    return x;
}

/* A directory with files in it, such as a checkpoint, goes. */
static inline void remove_all(const char *dir) {
    char path[600];
    DIR *d = opendir(dir);
    for (struct dirent *e; d && (e = readdir(d));) {
        snprintf(path, sizeof path, "%s/%s", dir, e->d_name);
        unlink(path);
    }
    if (d) closedir(d);
    rmdir(dir);
}

/* Are estimates and participation ratios the same, to the bit? */
static inline int same_estimates(const kspec_moments_result *a, const kspec_moments_result *b) {
    if (a->count != b->count) return 0;
    for (size_t k = 0; k < a->count; k++)
        if (memcmp(a->estimates[k], b->estimates[k], sizeof **a->estimates)) return 0;
    return memcmp(&a->participation_ratio, &b->participation_ratio, sizeof(double)) == 0 &&
           memcmp(&a->participation_ratio_naive, &b->participation_ratio_naive, sizeof(double)) == 0;
}

#endif
