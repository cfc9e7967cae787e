/*
 * Sums vectors, one per chunk, in the order of chunks. Every rank sums one range of entries of all vectors.
 */
#include "base/error.h"
#include "base/memory.h"
#include "team/team.h"

#include <string.h>

typedef struct {
    kspec_team *team;
    ks_chunk_fn fn;
    void *ctx;
    size_t chunks, stride, n;
    const double *from;
    /*
     * numbers of bytes: sent to each rank, received from each rank, and in each rank's range of y
     */
    size_t *send, *receive, *parts;
    double *sent, *received, *part;
} sum;

static size_t ranks_of(const sum *s) { return (size_t)s->team->comm.ranks; }

/* Returns the first entry that rank r sums. Rank r sums the entries first(r) to first(r+1)-1. */
static size_t first(const sum *s, size_t r) {
    return s->n / ranks_of(s) * r + s->n % ranks_of(s) * r / ranks_of(s);
}
static size_t length(const sum *s, size_t r) { return first(s, r + 1) - first(s, r); }

/* Returns the number of chunks that rank r runs. */
static size_t chunks_of(const sum *s, size_t r) {
    return s->chunks > r ? (s->chunks - r - 1) / ranks_of(s) + 1 : 0;
}

static kspec_status one(void *ctx, size_t k, const ks_worker *worker) {
    const sum *s = ctx;
    return s->fn(s->ctx, (size_t)s->team->comm.rank + k * ranks_of(s), worker);
}

static kspec_status make_room(sum *s, kspec_error *err) {
    const size_t ranks = ranks_of(s), rank = (size_t)s->team->comm.rank, mine = chunks_of(s, rank);
    s->send = ks_alloc(ranks, 3 * sizeof *s->send);
    s->sent = ks_alloc(ks_size(mine, s->n), sizeof(double));
    s->received = ks_alloc(ks_size(s->chunks, length(s, rank)), sizeof(double));
    s->part = ks_alloc(length(s, rank), sizeof(double));
    if (!s->send || !s->sent || !s->received || !s->part)
        return ks_nomem(err, "the sums of all ranks", ks_size(ks_size(mine + 1, s->n), sizeof(double)));
    s->receive = s->send + ranks, s->parts = s->receive + ranks;
    for (size_t r = 0; r < ranks; r++) {
        s->send[r] = mine * length(s, r) * sizeof(double);
        s->receive[r] = chunks_of(s, r) * length(s, rank) * sizeof(double);
        s->parts[r] = length(s, r) * sizeof(double);
    }
    return KSPEC_OK;
}

static kspec_status hand_round(sum *s, double *y, kspec_error *err) {
    const size_t ranks = ranks_of(s), rank = (size_t)s->team->comm.rank, m = length(s, rank);
    double *at = s->sent;
    for (size_t r = 0; r < ranks; r++)
        for (size_t c = rank; c < s->chunks; c += ranks, at += length(s, r))
            memcpy(at, s->from + c * s->stride + first(s, r), length(s, r) * sizeof *at);
    kspec_status st = ks_team_exchange(s->team, s->sent, s->send, s->received, s->receive, err);
    if (st) return st;
    memcpy(s->part, y + first(s, rank), m * sizeof *y);
    for (size_t c = 0; c < s->chunks; c++) {
        /* In the buffer, earlier chunks of the same rank and all chunks of lower ranks precede chunk c. */
        size_t before = c / ranks;
        for (size_t r = 0; r < c % ranks; r++) before += chunks_of(s, r);
        for (size_t i = 0; i < m; i++) s->part[i] += s->received[before * m + i];
    }
    return ks_team_gather(s->team, s->part, y, s->parts, err);
}

kspec_status ks_team_sum(const ks_run *run, const char *what, size_t chunks, ks_chunk_fn fn, void *ctx,
                         const double *from, size_t stride, size_t n, double *y, kspec_error *err) {
    kspec_team *t = run->team;
    if (!t || t->comm.ranks == 1) {
        kspec_status st = ks_parallel_for(run, chunks, fn, ctx, err);
        for (size_t c = 0; c < chunks && !st; c++)
            for (size_t i = 0; i < n; i++) y[i] += from[c * stride + i];
        return st;
    }
    t->loops++;
    sum s = {.team = t, .fn = fn, .ctx = ctx, .chunks = chunks, .stride = stride, .n = n, .from = from};
    const ks_run alone = ks_run_alone(run);
    kspec_status st = ks_parallel_for(&alone, chunks_of(&s, (size_t)t->comm.rank), one, &s, err);
    /* Allocates memory before the ranks synchronise, because afterwards no rank may fail. */
    if (!st) st = make_room(&s, err);
    st = ks_team_synchronise(t, KS_AT_LOOP, st, what, chunks, err);
    if (!st) st = hand_round(&s, y, err);
    ks_free(s.send);
    ks_free(s.sent);
    ks_free(s.received);
    ks_free(s.part);
    return st;
}
