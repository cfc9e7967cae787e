/* Part of kspec.h: many processes that compute one result together. */
#ifndef KSPEC_TEAM_H
#define KSPEC_TEAM_H
#include "kspec/base.h"

/* The communicator: functions that reach the other processes, filled by kspec_mpi_open() or by the caller.
 * All ranks 0 ... ranks-1 call each function, in the same order, from the thread that called the library. It
 * returns 0, or another number if the others cannot be reached any more. */
typedef struct {
    size_t size;
    int rank, ranks;
    int local_rank, local_ranks; /* the number of this rank, and of ranks, on this machine */
    void *context;
    int (*broadcast)(void *context, int root, void *data, size_t bytes); /* from the rank `root` to all */
    /* sends bytes[r] bytes of every rank r to all, one after the other by rank; `mine` is not in `all` */
    int (*gather)(void *context, const void *mine, void *all, const size_t *bytes);
    /* sends send[r] bytes to every rank r, one after the other in `from`; receive[r] from each, into `to` */
    int (*exchange)(void *context, const void *from, const size_t *send, void *to, const size_t *receive);
    int (*barrier)(void *context);            /* returns when all have called it */
    void (*abort)(void *context, int status); /* ends all ranks at once */
} kspec_comm;

/* The communicator of the launcher that started this process (mpirun of Open MPI or MPICH, srun), through its
 * plugin; the environment variable KSPEC_MPI (openmpi, mpich, none) overrides the choice. *out is NULL,
 * without a failure, for a single process. KSPEC_E_ARG if the plugin is missing. Once per process. */
KSPEC_API kspec_status kspec_mpi_open(kspec_comm **out, kspec_error *err);
KSPEC_API void kspec_mpi_close(kspec_comm *comm);

/* A team divides the work of a call among the ranks; pass it as `team` of the call's options. All ranks make
 * the same calls with the same inputs and options. All get the same result, with the bits of one process
 * alone, or the failure of the lowest rank that failed. comm is borrowed; NULL: a team of one, for a
 * checkpoint. One call at a time may use a team. KSPEC_E_DATA if ranks run different versions, instruction
 * sets or BLAS kernels. */
KSPEC_API kspec_status kspec_team_open(const kspec_comm *comm, kspec_team **out, kspec_error *err);
KSPEC_API void kspec_team_close(kspec_team *team);

/* Stores the results of later calls in a directory, which all ranks must see, part by part. After the
 * processes were killed, the same calls with the same inputs, in the same order, continue to the same bits,
 * with any number of ranks and threads. `identity` describes the computation, in lines "name value": the call
 * refuses a directory with a different one, or of another version or instruction set. A further call with the
 * same directory describes the calls that follow. */
KSPEC_API kspec_status kspec_team_checkpoint(kspec_team *team, const char *directory, const char *identity,
                                             kspec_error *err);
#endif
