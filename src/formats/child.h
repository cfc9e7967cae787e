/*
 * How the program kspec-hdf5 answers the library: the library creates one memory file, which the program
 * inherits as descriptor KS_CHILD_FD. The file holds this header and, KS_CHILD_DATA bytes from the start, the
 * values as native doubles. The program sets `status` last, after everything else.
 *
 *     kspec-hdf5 FILE KEY hdf5|mat        KEY "" asks for the only array
 *     kspec-hdf5 "" "" probe              answers UNFIT with "seccomp" if its sandbox works, or "none"
 *
 * The library checks every field before it uses it, because a damaged file may have misled the program.
 */
#pragma once

#include <stdint.h>

#define KS_CHILD_PROGRAM "kspec-hdf5"
#define KS_CHILD_PROBE   "probe"
#define KS_CHILD_MAGIC   UINT64_C(0x35666468636b736b) /* "kskchdf5" */

enum { KS_CHILD_FD = 3, KS_CHILD_VERSION = 1, KS_CHILD_DATA = 4096 };

enum {
    KS_CHILD_UNFINISHED = 0,
    KS_CHILD_DONE,  /* success: ndim, shape and the values are set */
    KS_CHILD_UNFIT, /* the file or the request cannot be read; message says why */
    KS_CHILD_NOMEM  /* the values do not fit in memory; message says why */
};

typedef struct {
    uint64_t magic;
    uint32_t version;
    uint32_t status;
    uint32_t ndim;
    uint32_t column_major; /* 1: the first index runs fastest, as in MATLAB; 0: the last index does */
    uint64_t shape[3];     /* the lengths, always in the order of the user's indices */
    char message[400];     /* one line, without the name of the file */
    uint64_t memory;       /* set by the library: the bytes that memory limits leave; 0: unknown */
} ks_child_header;

_Static_assert(sizeof(ks_child_header) <= KS_CHILD_DATA, "the header must end before the values begin");
