/* Part of kspec.h: many processes that compute one result together. */
#ifndef KSPEC_TEAM_H
#define KSPEC_TEAM_H

#include "kspec/base.h"

KSPEC_BEGIN_DECLS

/*
 * What reaches the other processes: a struct of functions, filled by kspec_mpi_open() or by the caller. The
 * library links no MPI. `ranks` processes are numbered rank = 0 ... ranks-1. Each function is called by all
 * of them, in the same order, from the thread that called the library; it returns 0, or another number where
 * the others cannot be reached any more. There is no reduction: sums are made by the library, in an order
 * that does not depend on the number of ranks.
 */
typedef struct {
    size_t size; /* sizeof this struct */
    int rank, ranks;
    int local_rank, local_ranks; /* which one of how many on this machine */
    void *context;
    /* `bytes` bytes of the rank `root` for all */
    int (*broadcast)(void *context, int root, void *data, size_t bytes);
    /* bytes[r] bytes of every rank r for all, one after the other by rank; `mine` is not in `all` */
    int (*gather)(void *context, const void *mine, void *all, const size_t *bytes);
    /* send[r] bytes to every rank r, one after the other in `from`; receive[r] from each, into `to` */
    int (*exchange)(void *context, const void *from, const size_t *send, void *to, const size_t *receive);
    int (*barrier)(void *context);            /* until all have called it */
    void (*abort)(void *context, int status); /* ends all ranks at once */
} kspec_comm;

/*
 * The communicator of the launcher that started this process (mpirun of Open MPI or MPICH, srun), through the
 * plugin that belongs to it. *out is NULL, without a failure, where no launcher did, or one of a single
 * process. KSPEC_E_ARG where there are several and the plugin is not there. The environment variable
 * KSPEC_MPI (openmpi, mpich, none) names another. Once per process.
 */
KSPEC_API kspec_status kspec_mpi_open(kspec_comm **out, kspec_error *err);
KSPEC_API void kspec_mpi_close(kspec_comm *comm);

/*
 * A team: `team` of a call's options shares its work out among the ranks. All ranks make the same calls with
 * the same inputs and options; all get the same result, with the same bits as one process alone, or the same
 * failure: that of the lowest rank that failed, which the message names. comm NULL: a team of one, for a
 * checkpoint. One call at a time uses a team. comm is borrowed. KSPEC_E_DATA where ranks run different
 * versions, instruction sets or BLAS kernels, which would not give the same bits.
 */
KSPEC_API kspec_status kspec_team_open(const kspec_comm *comm, kspec_team **out, kspec_error *err);
KSPEC_API void kspec_team_close(kspec_team *team);

/*
 * Stores what later calls compute in a directory, part by part; makes the directory where it does not exist.
 * After the processes were killed, the same calls with the same inputs, in the same order, continue, with
 * any number of ranks and threads, to the same bits. All ranks must see the same directory. `identity` is
 * what is computed, in lines "name value": a directory with another one, of another version of kspec or of
 * another instruction set is refused. Called again with the same directory, it says what the calls that
 * follow compute.
 */
KSPEC_API kspec_status kspec_team_checkpoint(kspec_team *team, const char *directory, const char *identity,
                                             kspec_error *err);

KSPEC_END_DECLS
#endif
