/*
 * The communicator of an MPI. MPI counts in int: everything goes in pieces. All calls are made by one thread
 * (MPI_THREAD_FUNNELED). A failure of MPI's own ends all ranks, which is MPI's default.
 */
#include "team/plugin.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PIECE = 1 << 28 };

static char name[MPI_MAX_LIBRARY_VERSION_STRING];
static int started_here;

static size_t piece(size_t left) { return left < PIECE ? left : PIECE; }

static int broadcast(void *context, int root, void *data, size_t bytes) {
    (void)context;
    for (size_t at = 0; at < bytes; at += PIECE)
        if (MPI_Bcast((char *)data + at, (int)piece(bytes - at), MPI_BYTE, root, MPI_COMM_WORLD)) return 1;
    return 0;
}

/* Small ones at once; large ones a rank at a time, each into its place. */
static int gather(void *context, const void *mine, void *all, const size_t *bytes) {
    int rank, ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    size_t total = 0;
    for (int r = 0; r < ranks; r++) total += bytes[r];
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

static int begin(kspec_comm *comm, char *why, size_t size) {
    int provided = 0, started = 0;
    MPI_Initialized(&started);
    if (!started && MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &provided)) {
        snprintf(why, size, "MPI_Init_thread() failed");
        return 1;
    }
    started_here = !started;
    MPI_Comm local;
    comm->size = sizeof *comm;
    MPI_Comm_rank(MPI_COMM_WORLD, &comm->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &comm->ranks);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, comm->rank, MPI_INFO_NULL, &local);
    MPI_Comm_rank(local, &comm->local_rank);
    MPI_Comm_size(local, &comm->local_ranks);
    MPI_Comm_free(&local);
    comm->broadcast = broadcast, comm->gather = gather, comm->exchange = exchange;
    comm->barrier = barrier, comm->abort = give_up;
    return 0;
}

static void end(void) {
    int ended = 0;
    MPI_Finalized(&ended);
    if (started_here && !ended) MPI_Finalize();
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
