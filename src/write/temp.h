/*
 * A file that appears whole or not at all: it is written under a temporary name beside its target, and
 * renamed when it is complete. Standard output ("-"), devices and pipes are written directly.
 */
#pragma once

#include "kspec/files.h"

#include <limits.h>
#include <sys/types.h>

typedef struct {
    int fd;
    int slot; /* in the table that kspec_write_discard_all() goes through; -1: written directly */
    char target[PATH_MAX]; /* the name it will have */
    int replaces;          /* ... is that of a file, whose owner and mode these are */
    mode_t mode;
    uid_t uid;
    gid_t gid;
} ks_temp;

/* Is this path written directly? (standard output, or there and not a regular file) */
int ks_temp_is_direct(const char *path);

/* Can it be written? Tries, where that does no harm, and leaves nothing behind. */
kspec_status ks_temp_check(const char *path, kspec_error *err);

kspec_status ks_temp_open(ks_temp *t, const char *path, kspec_error *err);

/* Writes all bytes, or fails. */
kspec_status ks_temp_write(ks_temp *t, const void *bytes, size_t count, kspec_error *err);

/* Gives the file its name. On failure the temporary file is gone and the target as it was. */
kspec_status ks_temp_commit(ks_temp *t, kspec_error *err);

/* Removes the temporary file; does nothing after a commit or a discard. */
void ks_temp_discard(ks_temp *t);
