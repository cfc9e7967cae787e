/* Shared loops: each rank runs some chunks, and then sends their results to all ranks. */
#include "base/digest.h"
#include "base/error.h"
#include "base/memory.h"
#include "team/area.h"
#include "team/store.h"

#include <stdio.h>
#include <string.h>

/* ---- the results of one chunk ---- */

/* Returns the number of the k-th element of chunk `chunk`, or SIZE_MAX if the chunk has fewer elements. */
static size_t element(const ks_share *s, size_t chunks, size_t chunk, size_t k) {
    size_t i = s->per ? chunk * s->per + k : chunk + k * chunks;
    return (s->per && k >= s->per) || i >= s->count ? SIZE_MAX : i;
}

size_t ks_share_bytes(const ks_share *shares, int count, size_t chunks, size_t chunk) {
    size_t bytes = 0;
    for (int i = 0; i < count; i++)
        for (size_t k = 0; element(&shares[i], chunks, chunk, k) != SIZE_MAX; k++) bytes += shares[i].each;
    return bytes;
}

void ks_share_take(const ks_share *shares, int count, size_t chunks, size_t chunk, unsigned char *to) {
    for (int i = 0; i < count; i++) {
        const ks_share *s = &shares[i];
        size_t at;
        for (size_t k = 0; (at = element(s, chunks, chunk, k)) != SIZE_MAX; k++, to += s->each)
            memcpy(to, (const unsigned char *)s->to + (at - s->first) * s->each, s->each);
    }
}

void ks_share_give(const ks_share *shares, int count, size_t chunks, size_t chunk,
                   const unsigned char *from) {
    for (int i = 0; i < count; i++) {
        const ks_share *s = &shares[i];
        size_t at;
        for (size_t k = 0; (at = element(s, chunks, chunk, k)) != SIZE_MAX; k++, from += s->each)
            memcpy((unsigned char *)s->to + (at - s->first) * s->each, from, s->each);
    }
}

/* ---- the loop ---- */

typedef struct {
    kspec_team *team;
    ks_stored_loop stored;
    /* One of these two functions is set: `fn` runs one chunk, `many` runs several chunks. */
    ks_chunk_fn fn;
    ks_chunks_fn many;
    void *ctx;
    /* the numbers of the chunks that this rank must compute */
    size_t *mine, todo;
    /* 1 if later chunks take less time than earlier chunks */
    int falling;
    /* the rank that computed each chunk; NULL if the owner of each chunk is fixed */
    int32_t *maker;
    /* The results that ranks exchange: the number of bytes from each rank, this rank's results, and all
     * results. */
    size_t *bytes;
    unsigned char *sent, *all;
} loop;

static kspec_status one(void *ctx, size_t k, const ks_worker *worker) {
    const loop *l = ctx;
    kspec_status st = l->fn(l->ctx, l->mine[k], worker);
    return st || !l->team->store ? st : ks_store_add(l->team->store, &l->stored, l->mine[k], worker->err);
}

/* Runs all chunks of this rank in one call, or in several calls (ROUNDS) if a checkpoint stores the
 * results. */
static kspec_status all_of_mine(const ks_run *run, const loop *l, kspec_error *err) {
    enum { ROUNDS = 8 };
    ks_store *store = l->team->store;
    const size_t each = store ? (l->todo + ROUNDS - 1) / ROUNDS : l->todo;
    for (size_t k = 0; k < l->todo; k += each) {
        const size_t count = l->todo - k < each ? l->todo - k : each;
        const ks_run part =
            ks_run_part(run, (double)k / (double)l->todo, (double)(k + count) / (double)l->todo);
        kspec_status st = l->many(l->ctx, &part, l->mine + k, count, err);
        for (size_t c = k; c < k + count && store && !st; c++)
            st = ks_store_add(store, &l->stored, l->mine[c], err);
        if (st) return st;
    }
    return KSPEC_OK;
}

/* Returns the rank that computed a chunk. */
static size_t owner(const loop *l, size_t c) {
    const size_t ranks = (size_t)l->team->comm.ranks;
    if (l->maker) return (size_t)l->maker[c];
    return l->falling && c / ranks % 2 ? ranks - 1 - c % ranks : c % ranks;
}

/* Counts the bytes that each rank sends. Chunks from the checkpoint need no sending, because every rank
 * has them. */
static void count_bytes(loop *l) {
    const ks_stored_loop *k = &l->stored;
    memset(l->bytes, 0, (size_t)l->team->comm.ranks * sizeof *l->bytes);
    for (size_t c = 0; c < k->chunks; c++)
        if (!k->have[c]) l->bytes[owner(l, c)] += ks_share_bytes(k->shares, k->count, k->chunks, c);
}

/* Returns the number of bytes from all ranks together. */
static size_t total_bytes(const loop *l) {
    const ks_stored_loop *k = &l->stored;
    size_t total = 0;
    for (size_t c = 0; c < k->chunks; c++)
        if (!k->have[c]) total = ks_size_add(total, ks_share_bytes(k->shares, k->count, k->chunks, c));
    return total;
}

/* Allocates the memory for exchanging results. */
static kspec_status make_room(loop *l, kspec_error *err) {
    const size_t total = total_bytes(l);
    if (!l->maker) count_bytes(l);
    l->sent = ks_alloc(l->maker ? total : l->bytes[l->team->comm.rank], 1);
    l->all = ks_alloc(total, 1);
    return l->sent && l->all ? KSPEC_OK : ks_nomem(err, "the results of all ranks", total);
}

static kspec_status hand_round(loop *l, kspec_error *err) {
    const ks_stored_loop *k = &l->stored;
    const size_t ranks = (size_t)l->team->comm.ranks, rank = (size_t)l->team->comm.rank;
    unsigned char *at = l->sent;
    for (size_t i = 0; i < l->todo; i++) {
        ks_share_take(k->shares, k->count, k->chunks, l->mine[i], at);
        at += ks_share_bytes(k->shares, k->count, k->chunks, l->mine[i]);
    }
    kspec_status st = ks_team_gather(l->team, l->sent, l->all, l->bytes, err);
    at = l->all;
    for (size_t r = 0; r < ranks && !st; r++)
        for (size_t c = 0; c < k->chunks; c++) {
            if (k->have[c] || owner(l, c) != r) continue;
            if (r != rank) ks_share_give(k->shares, k->count, k->chunks, c, at);
            at += ks_share_bytes(k->shares, k->count, k->chunks, c);
        }
    return st;
}

/* ---- the next chunk for any free rank ---- */

/*
 * Ranks that share memory (team/area.h) take the next chunk when they are free, so that no rank waits for one
 * that the system has delayed. This suits loops with many chunks and few results, because the number of bytes
 * from each rank is unknown before the end. With a checkpoint each chunk has a fixed owner.
 */
static kspec_status find_makers(loop *l, kspec_error *err) {
    enum { LITTLE = 1 << 27, EACH = 4 };
    const size_t chunks = l->stored.chunks;
    double *area = NULL;
    if (!l->falling || chunks < EACH * (size_t)l->team->comm.ranks || total_bytes(l) > LITTLE)
        return KSPEC_OK;
    kspec_status st = ks_area_get(l->team, ks_size(chunks, sizeof *l->maker), 1, &area, err);
    l->maker = (int32_t *)(void *)area;
    return st;
}

static kspec_status take_next(void *ctx, size_t unused, const ks_worker *worker) {
    (void)unused;
    const loop *l = ctx;
    const size_t c = ks_area_next(l->team);
    if (c >= l->stored.chunks) return KSPEC_OK;
    l->maker[c] = l->team->comm.rank;
    return l->fn(l->ctx, c, worker);
}

typedef struct {
    const loop *l;
    const ks_run *run;
} watch;

/* the progress shows the chunks that all ranks have taken so far */
static int report_taken(void *ctx, double fraction) {
    (void)fraction;
    const watch *w = ctx;
    const size_t chunks = w->l->stored.chunks, taken = ks_area_taken(w->l->team);
    return ks_run_report(w->run, taken < chunks ? (double)taken / (double)chunks : 1);
}

static kspec_status take_chunks(const ks_run *alone, loop *l, kspec_error *err) {
    watch w = {l, alone};
    ks_run watched = *alone;
    watched.from = 0, watched.to = 1, watched.progress = (kspec_progress){report_taken, &w};
    return ks_parallel_for(&watched, l->stored.chunks, take_next, l, err);
}

/* Finds which rank computed each chunk, after all ranks have synchronised. */
static void count_taken(loop *l) {
    ks_area_round(l->team);
    for (size_t c = 0; c < l->stored.chunks; c++)
        if (l->maker[c] == l->team->comm.rank) l->mine[l->todo++] = c;
    count_bytes(l);
}

/* ---- */

/* Finds the chunks that the checkpoint contains. If the ranks find different chunks, all ranks stop. */
static kspec_status resume(loop *l, kspec_error *err) {
    kspec_status st = ks_store_begin(l->team->store, &l->stored, err);
    uint64_t digest = ks_digest(KS_DIGEST, l->stored.have, l->stored.chunks);
    return ks_team_synchronise(l->team, KS_AT_LOOP, st, "checkpoint", digest, err);
}

static kspec_status share_out(const ks_run *run, loop *l, kspec_error *err) {
    kspec_team *t = l->team;
    kspec_status st = t->store ? resume(l, err) : find_makers(l, err);
    if (st) return st;
    const size_t ranks = (size_t)t->comm.ranks;
    for (size_t c = 0; c < l->stored.chunks && !l->maker; c++)
        if (!l->stored.have[c] && owner(l, c) == (size_t)t->comm.rank) l->mine[l->todo++] = c;
    const ks_run alone = ks_run_alone(run);
    st = l->maker  ? take_chunks(&alone, l, err)
         : l->many ? all_of_mine(&alone, l, err)
                   : ks_parallel_for(&alone, l->todo, one, l, err);
    if (t->store) { /* Finished chunks are stored even if the loop fails. */
        kspec_error second;
        ks_clear(&second);
        kspec_status stored = ks_store_flush(t->store, &l->stored, &second);
        if (stored && !st) st = ks_fail_again(err, &second);
    }
    if (!st && ranks > 1) st = make_room(l, err); /* after synchronising, no rank may fail */
    st = ks_team_synchronise(t, KS_AT_LOOP, st, l->stored.what, l->stored.chunks, err);
    /* this round must end, because some of its numbers may be unused */
    if (st && l->maker) ks_area_end(t);
    if (!st && l->maker) count_taken(l);
    return st || ranks == 1 ? st : hand_round(l, err);
}

/* Runs the chunks of loop l, and exchanges the results */
static kspec_status run_loop(const ks_run *run, loop l, const char *what, size_t chunks,
                             const ks_share *shares, int count, kspec_error *err) {
    kspec_team *t = l.team = run->team;
    t->loops++;
    l.stored = (ks_stored_loop){t->loops, what, chunks, shares, count, ks_zalloc(chunks, 1), {0, chunks}};
    l.mine = ks_alloc(chunks, sizeof(size_t));
    l.bytes = ks_alloc((size_t)t->comm.ranks, sizeof(size_t));
    kspec_status st = l.stored.have && l.mine && l.bytes
                          ? share_out(run, &l, err)
                          : ks_nomem(err, "a shared loop", ks_size(chunks, sizeof(size_t)));
    ks_free(l.stored.have);
    ks_free(l.mine);
    ks_free(l.bytes);
    ks_free(l.sent);
    ks_free(l.all);
    return st;
}

kspec_status ks_team_step(const ks_run *run, const char *what, ks_step_fn fn, void *ctx,
                          const ks_share *shares, int count, kspec_error *err) {
    kspec_team *t = run->team;
    if (!t || !t->store) return fn(ctx, run, err);
    unsigned char have = 0;
    char name[32]; /* the name contains the device, because a GPU's results differ in the last bits */
    snprintf(name, sizeof name, "%s%s", what, run->device ? "gpu" : "");
    const ks_stored_loop stored = {++t->loops, name, 1, shares, count, &have, {0, 1}};
    ks_store *store = t->store;
    kspec_status st = ks_store_begin(store, &stored, err);
    st = ks_team_synchronise(t, KS_AT_LOOP, st, "checkpoint", have, err);
    if (st || have) return st;
    t->store = NULL;
    st = fn(ctx, run, err);
    t->store = store;
    t->loops = stored.loop; /* The step counts as one loop, whether it was computed or loaded. */
    if (st || t->comm.rank > 0) return st;
    st = ks_store_add(store, &stored, 0, err);
    return st ? st : ks_store_flush(store, &stored, err);
}

kspec_status ks_team_for(const ks_run *run, const char *what, size_t chunks, ks_chunk_fn fn, void *ctx,
                         const ks_share *shares, int count, kspec_error *err) {
    if (!run->team) return ks_parallel_for(run, chunks, fn, ctx, err);
    return run_loop(run, (loop){.fn = fn, .ctx = ctx}, what, chunks, shares, count, err);
}

kspec_status ks_team_for_falling(const ks_run *run, const char *what, size_t chunks, ks_chunk_fn fn,
                                 void *ctx, const ks_share *shares, int count, kspec_error *err) {
    if (!run->team) return ks_parallel_for(run, chunks, fn, ctx, err);
    return run_loop(run, (loop){.fn = fn, .ctx = ctx, .falling = 1}, what, chunks, shares, count, err);
}

kspec_status ks_team_for_all(const ks_run *run, const char *what, size_t chunks, ks_chunks_fn fn, void *ctx,
                             const ks_share *shares, int count, kspec_error *err) {
    if (run->team) return run_loop(run, (loop){.many = fn, .ctx = ctx}, what, chunks, shares, count, err);
    size_t *all = ks_alloc(chunks, sizeof *all);
    if (!all) return ks_nomem(err, "a list of chunks", ks_size(chunks, sizeof *all));
    for (size_t c = 0; c < chunks; c++) all[c] = c;
    kspec_status st = fn(ctx, run, all, chunks, err);
    ks_free(all);
    return st;
}
