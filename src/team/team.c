/* Opens a team of processes and synchronises its ranks. */
#include "team/team.h"

#include "base/digest.h"
#include "base/error.h"
#include "base/memory.h"
#include "team/area.h"
#include "team/store.h"
#include "kspec/host.h"

#include <stdio.h>
#include <string.h>

/* The message that a rank sends when it synchronises. */
typedef struct ks_card {
    uint32_t at;
    uint64_t loops, number;
    kspec_error error;
} card;

int ks_team_rank(const ks_run *run) { return run->team ? run->team->comm.rank : 0; }
int ks_team_ranks(const ks_run *run) { return run->team ? run->team->comm.ranks : 1; }

size_t ks_team_memory(const ks_run *run) {
    size_t all = ks_memory_available();
    return run->team && run->team->comm.local_ranks > 1 ? all / (size_t)run->team->comm.local_ranks : all;
}

/* ---- the communicator ---- */

static kspec_status lost(kspec_team *t, kspec_error *err) {
    t->lost = 1, t->over = KS_AT_AGREE;
    ks_fail(&t->failure, KSPEC_E_IO, "rank %d: the other ranks cannot be reached", t->comm.rank);
    return ks_fail_again(err, &t->failure);
}

kspec_status ks_team_gather(kspec_team *t, const void *mine, void *all, const size_t *bytes,
                            kspec_error *err) {
    if (t->comm.ranks == 1) {
        memcpy(all, mine, bytes[0]);
        return KSPEC_OK;
    }
    for (int r = 0; r < t->comm.ranks; r++) t->received += r == t->comm.rank ? 0 : (double)bytes[r];
    return t->comm.gather(t->comm.context, mine, all, bytes) ? lost(t, err) : KSPEC_OK;
}

kspec_status ks_team_broadcast(kspec_team *t, int root, void *data, size_t bytes, kspec_error *err) {
    if (t->comm.ranks == 1) return KSPEC_OK;
    if (root != t->comm.rank) t->received += (double)bytes;
    return t->comm.broadcast(t->comm.context, root, data, bytes) ? lost(t, err) : KSPEC_OK;
}

kspec_status ks_team_exchange(kspec_team *t, const void *from, const size_t *send, void *to,
                              const size_t *receive, kspec_error *err) {
    if (t->comm.ranks == 1) {
        memcpy(to, from, send[0]);
        return KSPEC_OK;
    }
    for (int r = 0; r < t->comm.ranks; r++) t->received += r == t->comm.rank ? 0 : (double)receive[r];
    return t->comm.exchange(t->comm.context, from, send, to, receive) ? lost(t, err) : KSPEC_OK;
}

/* ---- synchronisation ---- */

/* Returns the lowest rank that failed. A cancelled rank counts only if no other rank has failed. */
static int worst(const kspec_team *t) {
    int found = -1;
    for (int r = 0; r < t->comm.ranks; r++) {
        const kspec_status st = t->cards[r].error.code;
        if (st && (found < 0 || (t->cards[found].error.code == KSPEC_E_CANCELLED && st != KSPEC_E_CANCELLED)))
            found = r;
    }
    return found;
}

/*
 * Reports the failure of rank `who` on all ranks. If every rank has the same failure, the message is the
 * message of a single process.
 */
static kspec_status common(kspec_team *t, int who, kspec_error *err) {
    const kspec_error *e = &t->cards[who].error;
    int same = 1;
    for (int r = 0; r < t->comm.ranks; r++)
        same &= t->cards[r].error.code == e->code && strcmp(t->cards[r].error.msg, e->msg) == 0;
    if (same || e->code == KSPEC_E_CANCELLED) return ks_fail_again(err, e);
    return ks_refuse(err, e->code, e->option, e->setting, "rank %d: %s", who, e->msg);
}

/* Fails because rank r has reached another place in the program, or has a different number at the same
 * place. The reason is that files differ between ranks, or that the ranks decided differently. */
static kspec_status apart(const kspec_team *t, const char *what, kspec_error *err) {
    const card *first = &t->cards[0];
    for (int r = 1; r < t->comm.ranks; r++) {
        const card *c = &t->cards[r];
        if (c->at != first->at || c->loops != first->loops)
            return ks_fail(err, KSPEC_E_NUMERIC, "rank %d is at step %u.%llu, rank 0 at %u.%llu", r, c->at,
                           (unsigned long long)c->loops, first->at, (unsigned long long)first->loops);
        if (c->number != first->number)
            return ks_fail(err, KSPEC_E_DATA, "rank %d: its %s differs from that of rank 0", r, what);
    }
    return KSPEC_OK;
}

static kspec_status remember(kspec_team *t, ks_sync_point until, kspec_status st, const kspec_error *err) {
    t->over = until;
    ks_fail_again(&t->failure, err);
    return t->failure.code = st;
}

kspec_status ks_team_synchronise(kspec_team *t, ks_sync_point at, kspec_status mine, const char *what,
                                 uint64_t number, kspec_error *err) {
    kspec_error own;
    if (!err) {
        err = &own;
        ks_clear(err);
    }
    if (t->over) return ks_fail_again(err, &t->failure);
    card c = {.at = at, .loops = t->loops, .number = number};
    if (mine) ks_refuse(&c.error, mine, err->option, err->setting, "%s", err->msg);
    for (int r = 0; r < t->comm.ranks; r++) t->bytes[r] = sizeof c;
    kspec_status st = ks_team_gather(t, &c, t->cards, t->bytes, err);
    if (st) return st;
    t->meetings++;
    int who = worst(t);
    if (who >= 0) {
        st = common(t, who, err);
        /* A rank that has left the call or the program takes no further part in its synchronisations. */
        uint32_t until = at;
        for (int r = 0; r < t->comm.ranks; r++)
            if (t->cards[r].at > until) until = t->cards[r].at;
        return until > (uint32_t)at ? remember(t, (ks_sync_point)until, st, err) : st;
    }
    st = apart(t, what, err);
    return st ? remember(t, KS_AT_AGREE, st, err) : KSPEC_OK;
}

kspec_status ks_team_end(kspec_team *t, kspec_status mine, kspec_error *err) {
    if (!t || t->within) return mine;
    kspec_status st = ks_team_synchronise(t, KS_AT_END, mine, "end", 0, err);
    if (st || !t->area_lasts) ks_area_end(t);
    if (t->over == KS_AT_END) t->over = 0;
    return st;
}

kspec_status ks_team_decide(kspec_team *t, void *value, size_t bytes, kspec_error *err) {
    kspec_status st = t ? ks_team_synchronise(t, KS_AT_LOOP, KSPEC_OK, "decision", bytes, err) : KSPEC_OK;
    return st || !t ? st : ks_team_broadcast(t, 0, value, bytes, err);
}

/* ---- public ---- */

/* Writes the identity of a computation, which names everything that determines its bits. */
static void program(char text[256]) {
    snprintf(text, 256, "kspec %s\ninstructions %s\nblas %s\n", kspec_version(), kspec_isa(), kspec_blas());
}

static kspec_status same_program(kspec_team *t, kspec_error *err) {
    char text[256];
    program(text);
    return ks_team_synchronise(t, KS_AT_SAME, KSPEC_OK, "version, instruction set (KSPEC_ISA) or BLAS",
                               ks_digest(KS_DIGEST, text, strlen(text)), err);
}

/* ---- functions for lower layers ---- */

static int rank_of(const kspec_team *t) { return t->comm.rank; }
static int ranks_of(const kspec_team *t) { return t->comm.ranks; }
static void count_loop(kspec_team *t) { t->loops++; }
static kspec_status synchronise(kspec_team *t, kspec_status mine, const char *what, uint64_t number,
                                kspec_error *err) {
    return ks_team_synchronise(t, KS_AT_LOOP, mine, what, number, err);
}
static kspec_status send_all(kspec_team *t, void *data, size_t bytes, kspec_error *err) {
    return ks_team_broadcast(t, 0, data, bytes, err);
}
static const ks_team_calls calls = {ks_team_for, ks_team_for_falling, rank_of,  ranks_of,
                                    count_loop,  synchronise,         send_all, ks_team_end};

kspec_status kspec_team_open(const kspec_comm *comm, kspec_team **out, kspec_error *err) {
    kspec_error own;
    if (!err) err = &own;
    kspec_status st = ks_begin(err, out);
    if (st) return st;
    kspec_team *t = ks_zalloc(1, sizeof *t);
    if (!t) return ks_nomem(err, "a team", sizeof *t);
    t->calls = &calls;
    t->comm = (kspec_comm){.size = sizeof t->comm, .ranks = 1, .local_ranks = 1};
    if (comm) st = ks_take_opts(&t->comm, sizeof t->comm, comm, err);
    if (!st && (t->comm.ranks < 1 || t->comm.rank < 0 || t->comm.rank >= t->comm.ranks))
        st = ks_fail(err, KSPEC_E_ARG, "rank %d is not one of %d ranks", t->comm.rank, t->comm.ranks);
    if (!st && t->comm.ranks > 1 && !(t->comm.broadcast && t->comm.gather && t->comm.exchange))
        st = ks_fail(err, KSPEC_E_ARG, "a communicator of %d ranks has no broadcast, gather or exchange",
                     t->comm.ranks);
    if (!st) {
        t->cards = ks_alloc((size_t)t->comm.ranks, sizeof *t->cards);
        t->bytes = ks_alloc((size_t)t->comm.ranks, sizeof *t->bytes);
        t->flags = ks_alloc((size_t)t->comm.ranks, 1);
        if (!t->cards || !t->bytes || !t->flags)
            st = ks_nomem(err, "a team", ks_size((size_t)t->comm.ranks, sizeof *t->cards));
    }
    if (!st) st = same_program(t, err);
    if (st)
        kspec_team_close(t);
    else
        *out = t;
    return st;
}

kspec_status kspec_team_checkpoint(kspec_team *t, const char *directory, const char *identity,
                                   kspec_error *err) {
    kspec_error own;
    ks_clear(err ? err : (err = &own));
    kspec_status st = ks_check_pointer(err, t, "the team");
    if (!st) st = ks_check_pointer(err, directory, "the directory of the checkpoint");
    if (!st) st = ks_check_pointer(err, identity, "the identity of the checkpoint");
    if (st) return st;
    if (t->store) return ks_store_more(t->store, directory, identity, err);
    char text[256];
    program(text);
    size_t bytes = strlen(identity) + sizeof text;
    char *all = ks_alloc(bytes, 1);
    if (all)
        snprintf(all, bytes, "%s%s", text, identity);
    else
        st = ks_nomem(err, "the identity of a checkpoint", bytes);
    /*
     * Rank 0 opens the checkpoint first. No rank adds to the checkpoint before all ranks have listed its
     * contents.
     */
    for (int turn = 0; turn < 2; turn++) {
        if (!st && (t->comm.rank == 0) == (turn == 0))
            st = ks_store_open(&t->store, directory, all, t->comm.rank, err);
        if ((st = ks_team_synchronise(t, KS_AT_SAME, st, "checkpoint", (uint64_t)turn, err))) break;
    }
    ks_free(all);
    if (st) {
        ks_store_close(t->store);
        t->store = NULL;
    }
    return st;
}

void kspec_team_close(kspec_team *t) {
    if (!t) return;
    ks_store_close(t->store);
    ks_area_end(t);
    ks_free(t->cards);
    ks_free(t->bytes);
    ks_free(t->flags);
    ks_free(t);
}

kspec_status kspec_team_agree(kspec_team *t, kspec_status mine, kspec_error *err) {
    if (!t) return mine;
    kspec_status st = ks_team_synchronise(t, KS_AT_AGREE, mine, "end", 0, err);
    t->over = t->lost ? KS_AT_AGREE : 0;
    return st;
}

kspec_status kspec_team_same(kspec_team *t, const char *what, uint64_t number, kspec_error *err) {
    if (err) ks_clear(err);
    kspec_status st = ks_check_pointer(err, t, "the team");
    if (!st) st = ks_check_pointer(err, what, "the name of the number");
    return st ? st : ks_team_synchronise(t, KS_AT_SAME, KSPEC_OK, what, number, err);
}
