/*
 * The communicator of an MPI. MPI counts in int, so the code sends everything in pieces. One thread makes all
 * calls (MPI_THREAD_FUNNELED). A failure inside MPI ends all ranks, which is MPI's default.
 *
 * Large broadcasts go through memory that the ranks of a machine share: one rank writes, the others copy, and
 * one rank of each machine passes the data on to the next machine. Large gathers on one machine use it, too:
 * all ranks write to it at once. MPI's own functions would copy from rank to rank.
 */
#include "team/plugin.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PIECE = 1 << 28, WINDOW = 1 << 22, LARGE = 1 << 18 };

/* For this machine: its ranks, and two pieces of memory that they share, or NULL */
static struct {
    MPI_Comm local;
    MPI_Win window;
    char *shared;
    /* number of pieces so far, which tells the half to use next */
    size_t pieces;
    /* for several machines: the first rank of each; for each rank, the index of its machine among them */
    int machines;
    MPI_Comm first;
    int *machine;
} node;

static char name[MPI_MAX_LIBRARY_VERSION_STRING];
static int started_here;

static size_t piece(size_t left) { return left < PIECE ? left : PIECE; }

/* A piece is in one half of the window while ranks still copy the piece before it from the other half. */
static int broadcast_shared(int root, int rank, char *data, size_t bytes) {
    int failed = 0;
    for (size_t at = 0; at < bytes && !failed; at += WINDOW) {
        const size_t n = bytes - at < WINDOW ? bytes - at : WINDOW;
        char *half = node.shared + node.pieces++ % 2 * WINDOW;
        if (rank == root) memcpy(half, data + at, n);
        if (node.machines > 1) {
            MPI_Win_sync(node.window);
            failed |= MPI_Barrier(node.local);
            if (node.first != MPI_COMM_NULL)
                failed |= MPI_Bcast(half, (int)n, MPI_BYTE, node.machine[root], node.first);
        }
        MPI_Win_sync(node.window);
        failed |= MPI_Barrier(node.local);
        MPI_Win_sync(node.window);
        if (rank != root) memcpy(data + at, half, n);
    }
    return failed != 0;
}

static int broadcast(void *context, int root, void *data, size_t bytes) {
    (void)context;
    if (node.shared && bytes >= LARGE) {
        int rank;
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        return broadcast_shared(root, rank, data, bytes);
    }
    for (size_t at = 0; at < bytes; at += PIECE)
        if (MPI_Bcast((char *)data + at, (int)piece(bytes - at), MPI_BYTE, root, MPI_COMM_WORLD)) return 1;
    return 0;
}

/* The number of bytes of the piece at `at` */
static size_t piece_at(size_t at, size_t bytes, size_t most) {
    const size_t left = at < bytes ? bytes - at : 0;
    return left < most ? left : most;
}

/* On one machine: a piece of every rank at a time, each in its part of one half of the window */
static int gather_shared(int rank, int ranks, const char *mine, char *all, const size_t *bytes) {
    const size_t part = WINDOW / (size_t)ranks;
    size_t longest = 0, n;
    for (int r = 0; r < ranks; r++) longest = bytes[r] > longest ? bytes[r] : longest;
    int failed = 0;
    for (size_t at = 0; at < longest && !failed; at += part) {
        char *half = node.shared + node.pieces++ % 2 * WINDOW;
        if ((n = piece_at(at, bytes[rank], part))) memcpy(half + (size_t)rank * part, mine + at, n);
        MPI_Win_sync(node.window);
        failed |= MPI_Barrier(node.local);
        MPI_Win_sync(node.window);
        size_t before = 0;
        for (int r = 0; r < ranks; before += bytes[r++])
            if ((n = piece_at(at, bytes[r], part))) memcpy(all + before + at, half + (size_t)r * part, n);
    }
    return failed != 0;
}

/* Small data at once; large data through shared memory, or one rank at a time, each into its place. */
static int gather(void *context, const void *mine, void *all, const size_t *bytes) {
    int rank, ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    size_t total = 0;
    for (int r = 0; r < ranks; r++) total += bytes[r];
    if (node.shared && node.machines == 1 && total >= LARGE)
        return gather_shared(rank, ranks, mine, all, bytes);
    if (total < PIECE) {
        int *counts = malloc(2 * (size_t)ranks * sizeof *counts), *at = counts + ranks;
        if (!counts) return 1;
        for (int r = 0, sum = 0; r < ranks; sum += counts[r++]) counts[r] = (int)bytes[r], at[r] = sum;
        int failed = MPI_Allgatherv(mine, counts[rank], MPI_BYTE, all, counts, at, MPI_BYTE, MPI_COMM_WORLD);
        free(counts);
        return failed != 0;
    }
    char *to = all;
    for (int r = 0; r < ranks; to += bytes[r++]) {
        if (r == rank) memcpy(to, mine, bytes[r]);
        if (broadcast(context, r, to, bytes[r])) return 1;
    }
    return 0;
}

/* Step s: to rank + s, from rank - s, so that all links are busy. */
static int exchange(void *context, const void *from, const size_t *send, void *to, const size_t *receive) {
    (void)context;
    int rank, ranks, failed = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int s = 0; s < ranks && !failed; s++) {
        int other = (rank + s) % ranks, source = (rank - s + ranks) % ranks;
        const char *out = from;
        char *in = to;
        for (int r = 0; r < other; r++) out += send[r];
        for (int r = 0; r < source; r++) in += receive[r];
        if (s == 0) {
            memcpy(in, out, send[other]);
            continue;
        }
        size_t longest = send[other] > receive[source] ? send[other] : receive[source];
        for (size_t at = 0; at < longest && !failed; at += PIECE) {
            int give = at < send[other] ? (int)piece(send[other] - at) : 0;
            int take = at < receive[source] ? (int)piece(receive[source] - at) : 0;
            MPI_Request requests[2];
            MPI_Status statuses[2];
            int count = 0;
            if (take)
                failed |= MPI_Irecv(in + at, take, MPI_BYTE, source, 0, MPI_COMM_WORLD, &requests[count++]);
            if (give)
                failed |= MPI_Isend(out + at, give, MPI_BYTE, other, 0, MPI_COMM_WORLD, &requests[count++]);
            failed |= MPI_Waitall(count, requests, statuses);
        }
    }
    return failed != 0;
}

static int barrier(void *context) {
    (void)context;
    return MPI_Barrier(MPI_COMM_WORLD) != 0;
}

static void give_up(void *context, int status) {
    (void)context;
    MPI_Abort(MPI_COMM_WORLD, status);
}

/* Finds the ranks of this machine and, if there are several, the memory that they share. */
static void find_machine(kspec_comm *comm) {
    MPI_Aint bytes;
    int unit, mine = 0;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, comm->rank, MPI_INFO_NULL, &node.local);
    MPI_Comm_rank(node.local, &comm->local_rank);
    MPI_Comm_size(node.local, &comm->local_ranks);
    MPI_Comm_split(MPI_COMM_WORLD, comm->local_rank ? MPI_UNDEFINED : 0, comm->rank, &node.first);
    node.machine = malloc((size_t)comm->ranks * sizeof *node.machine);
    if (node.first != MPI_COMM_NULL) {
        MPI_Comm_size(node.first, &node.machines);
        MPI_Comm_rank(node.first, &mine);
    }
    MPI_Bcast(&node.machines, 1, MPI_INT, 0, node.local);
    MPI_Bcast(&mine, 1, MPI_INT, 0, node.local);
    int whole = node.machine != NULL && node.machines < comm->ranks, all;
    MPI_Allreduce(&whole, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (!all) return;
    MPI_Allgather(&mine, 1, MPI_INT, node.machine, 1, MPI_INT, MPI_COMM_WORLD);
    MPI_Win_allocate_shared(comm->local_rank ? 0 : 2 * WINDOW, 1, MPI_INFO_NULL, node.local, &node.shared,
                            &node.window);
    MPI_Win_shared_query(node.window, 0, &bytes, &unit, &node.shared);
    MPI_Win_lock_all(MPI_MODE_NOCHECK, node.window);
}

static int begin(kspec_comm *comm, char *why, size_t size) {
    int provided = 0, started = 0;
    MPI_Initialized(&started);
    if (!started && MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &provided)) {
        snprintf(why, size, "MPI_Init_thread() failed");
        return 1;
    }
    started_here = !started;
    comm->size = sizeof *comm;
    MPI_Comm_rank(MPI_COMM_WORLD, &comm->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &comm->ranks);
    find_machine(comm);
    comm->broadcast = broadcast, comm->gather = gather, comm->exchange = exchange;
    comm->barrier = barrier, comm->abort = give_up;
    return 0;
}

static void end(void) {
    int ended = 0;
    MPI_Finalized(&ended);
    if (ended) return;
    if (node.shared) {
        MPI_Win_unlock_all(node.window);
        MPI_Win_free(&node.window);
        node.shared = NULL;
    }
    free(node.machine);
    node.machine = NULL;
    if (started_here) MPI_Finalize();
}

__attribute__((visibility("default"))) const ks_mpi *kspec_mpi_plugin(void);

const ks_mpi *kspec_mpi_plugin(void) {
    static ks_mpi plugin = {KS_MPI_VERSION, name, begin, end};
    int length = 0;
    MPI_Get_library_version(name, &length);
    name[strcspn(name, ",\n")] = 0; /* "Open MPI v4.1.4, package: ..." */
    for (char *p = name; *p; p++)
        if (*p == '\t') *p = ' ';
    return &plugin;
}
