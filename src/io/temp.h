/*
 * A file that appears whole or not at all: it is written under a temporary name beside its target, and
 * renamed when it is complete. Standard output ("-"), devices and pipes are written directly.
 */
#ifndef KS_IO_TEMP_H
#define KS_IO_TEMP_H

#include "kspec/files.h"

#include <limits.h>

typedef struct {
    int fd;
    int slot; /* in the table that kspec_write_discard_all() goes through; -1: written directly */
    char target[PATH_MAX]; /* the name it will have */
} ks_temp;

/* Is this path written directly? (standard output, or there and not a regular file) */
int ks_temp_is_direct(const char *path);

kspec_status ks_temp_open(ks_temp *t, const char *path, kspec_error *err);

/* Writes all bytes, or fails. */
kspec_status ks_temp_write(ks_temp *t, const void *bytes, size_t count, kspec_error *err);

/* Gives the file its name. On failure the temporary file is gone and the target as it was. */
kspec_status ks_temp_commit(ks_temp *t, kspec_error *err);

/* Removes the temporary file; does nothing after a commit or a discard. */
void ks_temp_discard(ks_temp *t);

#endif
