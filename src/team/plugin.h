/*
 * The interface of a plugin for one MPI library. kspec opens the plugin at run time (load.c), and the plugin
 * links MPI.
 */
#pragma once

#include "kspec/team.h"

enum { KS_MPI_VERSION = 1 };

typedef struct {
    int version;
    /* "Open MPI 4.1.4" */
    const char *name;
    /* Starts MPI and fills in `comm`. Returns 0 on success, or another value and the reason. */
    int (*begin)(kspec_comm *comm, char *why, size_t size);
    void (*end)(void);
} ks_mpi;

#define KS_MPI_ENTRY "kspec_mpi_plugin"
typedef const ks_mpi *(*ks_mpi_entry)(void);
