/* What a plugin for one MPI gives the library, which opens it at run time (load.c). It links that MPI. */
#pragma once

#include "kspec/team.h"

enum { KS_MPI_VERSION = 1 };

typedef struct {
    int version;
    /* "Open MPI 4.1.4" */
    const char *name;
    /* Starts MPI and fills `comm`; 0, or not and why. */
    int (*begin)(kspec_comm *comm, char *why, size_t size);
    void (*end)(void);
} ks_mpi;

#define KS_MPI_ENTRY "kspec_mpi_plugin"
typedef const ks_mpi *(*ks_mpi_entry)(void);
