/* Finds the launcher that started this process, and the plugin for its MPI */
#define _GNU_SOURCE
#include "base/beside.h"
#include "base/error.h"
#include "base/memory.h"
#include "team/plugin.h"
#include "kspec/host.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const ks_mpi *loaded;

/* Reads a number from an environment variable; returns 0 if the variable does not contain a number. */
static int count_in(const char *variable) {
    const char *text = getenv(variable);
    long n = text ? strtol(text, NULL, 10) : 0;
    return n > 0 && n < 1 << 24 ? (int)n : 0;
}

/* Returns the name of the MPI that the environment variables show, and sets the number of ranks (0 if
 * unknown). Open MPI's mpirun sets OMPI_COMM_WORLD_SIZE. PMIx (srun --mpi=pmix) sets PMIX_RANK. MPICH's
 * mpirun and srun --mpi=pmi2 set PMI_RANK. Without PMIx and PMI, srun starts processes that do not know
 * of each other. */
static const char *launcher(int *ranks) {
    const int tasks = count_in("SLURM_STEP_NUM_TASKS");
    if ((*ranks = count_in("OMPI_COMM_WORLD_SIZE"))) return "openmpi";
    *ranks = tasks;
    if (getenv("PMIX_RANK")) return "openmpi";
    if (getenv("PMI_RANK")) {
        if (count_in("PMI_SIZE")) *ranks = count_in("PMI_SIZE");
        return "mpich";
    }
    return tasks > 1 ? "srun" : NULL;
}

static ks_finding find(const char *mpi, char file[64], char path[PATH_MAX]) {
    snprintf(file, 64, "libkspec_%s.so", mpi);
    return ks_beside_plugin(file, path);
}

const char *kspec_mpi(void) {
    static const char *const both = "openmpi, mpich";
    char file[64], path[PATH_MAX];
    const int openmpi = find("openmpi", file, path) == KS_FOUND,
              mpich = find("mpich", file, path) == KS_FOUND;
    return openmpi && mpich ? both : openmpi ? "openmpi" : mpich ? "mpich" : NULL;
}

static kspec_status load(const char *mpi, int ranks, kspec_error *err) {
    char path[PATH_MAX], file[64];
    ks_finding f = find(mpi, file, path);
    if (f == KS_STRANGE)
        return ks_fail(err, KSPEC_E_ARG,
                       "%.300s belongs neither to root nor to this user, or everybody can write to it", path);
    if (f == KS_ABSENT)
        return ks_fail(
            err, KSPEC_E_ARG,
            "%d processes were started together, but this installation has no %s; build kspec where "
            "that MPI is installed, or set KSPEC_MPI=none for separate runs",
            ranks, file);
    /* MPI loads components at run time, and these components need the symbols of the MPI library. */
    void *library = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
    const char *why = library ? NULL : dlerror();
    if (!library) return ks_fail(err, KSPEC_E_ARG, "%.400s", why ? why : "the plugin cannot be opened");
    void *symbol = dlsym(library, KS_MPI_ENTRY);
    ks_mpi_entry entry = NULL;
    memcpy(&entry, &symbol, sizeof entry);
    const ks_mpi *table = entry ? entry() : NULL;
    if (!table || table->version != KS_MPI_VERSION)
        return ks_fail(err, KSPEC_E_ARG, "%.400s is of another version than this library", path);
    loaded = table;
    return KSPEC_OK;
}

kspec_status kspec_mpi_open(kspec_comm **out, kspec_error *err) {
    kspec_error own;
    if (!err) err = &own;
    kspec_status st = ks_begin(err, out);
    if (st) return st;
    int ranks;
    const char *mpi = launcher(&ranks), *wish = getenv("KSPEC_MPI");
    if (wish && wish[0]) {
        if (strcmp(wish, "openmpi") != 0 && strcmp(wish, "mpich") != 0 && strcmp(wish, "none") != 0)
            return ks_fail(err, KSPEC_E_ARG, "KSPEC_MPI=%.100s must be openmpi, mpich or none", wish);
        mpi = strcmp(wish, "none") == 0 ? NULL : wish;
    }
    if (!mpi || ranks == 1) return KSPEC_OK;
    if (strcmp(mpi, "srun") == 0)
        return ks_fail(err, KSPEC_E_ARG,
                       "srun started %d processes without MPI; use srun --mpi=pmix (Open MPI) or --mpi=pmi2 "
                       "(MPICH), or set "
                       "KSPEC_MPI=none for separate runs",
                       ranks);
    if (!loaded && (st = load(mpi, ranks, err))) return st;
    kspec_comm *comm = ks_zalloc(1, sizeof *comm);
    if (!comm) return ks_nomem(err, "a communicator", sizeof *comm);
    char why[200];
    if (loaded->begin(comm, why, sizeof why)) {
        ks_free(comm);
        return ks_fail(err, KSPEC_E_ARG, "%s: %s", loaded->name, why);
    }
    *out = comm;
    return KSPEC_OK;
}

void kspec_mpi_close(kspec_comm *comm) {
    if (!comm) return;
    loaded->end();
    ks_free(comm);
}
