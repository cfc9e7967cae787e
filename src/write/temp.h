/*
 * A file that appears complete or not at all. It is written under a temporary name in the directory of its
 * target, and then renamed. Standard output ("-"), devices and pipes are written directly.
 */
#pragma once

#include "kspec/files.h"

#include <limits.h>
#include <sys/types.h>

typedef struct {
    int fd;
    /* the file's position in the table of kspec_write_discard_all(); -1: the target is written directly */
    int slot;
    char target[PATH_MAX]; /* the final name */
    int replaces;          /* ... names an existing file with this owner and mode */
    mode_t mode;
    uid_t uid;
    gid_t gid;
} ks_temp;

/* Is this path written directly? (standard output, or an existing path that is not a regular file) */
int ks_temp_is_direct(const char *path);

/* Can the path be written? Tries to write if that is harmless, and leaves no file behind. */
kspec_status ks_temp_check(const char *path, kspec_error *err);

kspec_status ks_temp_open(ks_temp *t, const char *path, kspec_error *err);

/* Writes all bytes, or fails. */
kspec_status ks_temp_write(ks_temp *t, const void *bytes, size_t count, kspec_error *err);

/* Gives the file its final name. A failure removes the temporary file and does not change the target. */
kspec_status ks_temp_commit(ks_temp *t, kspec_error *err);

/* Removes the temporary file; does nothing after a commit or a discard. */
void ks_temp_discard(ks_temp *t);
