/*
 * A file that appears whole or not at all: it is written under a temporary name in the directory of its
 * target, and renamed when it is complete. Standard output ("-"), devices and pipes are written directly.
 */
#pragma once

#include "kspec/files.h"

#include <limits.h>
#include <sys/types.h>

typedef struct {
    int fd;
    int slot;              /* in the table of kspec_write_discard_all(); -1: written directly */
    char target[PATH_MAX]; /* the final name */
    int replaces;          /* ... names an existing file with this owner and mode */
    mode_t mode;
    uid_t uid;
    gid_t gid;
} ks_temp;

/* Is this path written directly? (standard output, or an existing path that is not a regular file) */
int ks_temp_is_direct(const char *path);

/* Can the path be written? Tries it if that is harmless, and leaves no file behind. */
kspec_status ks_temp_check(const char *path, kspec_error *err);

kspec_status ks_temp_open(ks_temp *t, const char *path, kspec_error *err);

/* Writes all bytes, or fails. */
kspec_status ks_temp_write(ks_temp *t, const void *bytes, size_t count, kspec_error *err);

/* Gives the file its name. On failure the temporary file is removed and the target unchanged. */
kspec_status ks_temp_commit(ks_temp *t, kspec_error *err);

/* Removes the temporary file; does nothing after a commit or a discard. */
void ks_temp_discard(ks_temp *t);
