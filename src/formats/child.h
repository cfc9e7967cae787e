/*
 * Describes how the program kspec-hdf5 sends its result to the library. The library creates one memory file,
 * which the program inherits as descriptor KS_CHILD_FD. The file holds this header and, KS_CHILD_DATA bytes
 * from the start, the values as native doubles. The program sets `status` last, after everything else.
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
    KS_CHILD_DONE,  /* The program has set ndim, shape and the values. */
    KS_CHILD_UNFIT, /* The program cannot read the file or the request, and sets message. */
    KS_CHILD_NOMEM  /* The values do not fit in memory, and message says so. */
};

typedef struct {
    uint64_t magic;
    uint32_t version;
    uint32_t status;
    uint32_t ndim;
    /*
     * If column_major is 1, the first index runs fastest, as in MATLAB. Otherwise the last index runs
     * fastest.
     */
    uint32_t column_major;
    uint64_t shape[3]; /* shape contains the lengths, always in the order of the user's indices. */
    char message[400]; /* One line, without the name of the file. */
    /* The library sets memory to the bytes that memory limits allow, or 0 if unknown. */
    uint64_t memory;
} ks_child_header;

_Static_assert(sizeof(ks_child_header) <= KS_CHILD_DATA, "the header must end before the values begin");
