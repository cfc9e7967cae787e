/*
 * Functions around a file that is written under a temporary name: links, leftovers, and flushing the
 * directory.
 */
#pragma once

#include <limits.h>

/*
 * Copies path to target, and follows symbolic links at its end, including dangling ones. Returns 0 or an
 * errno.
 */
int ks_target_resolve(char target[PATH_MAX], const char *path);

/* A temporary name in the directory of target. 0 or an errno. */
int ks_target_temporary(char name[PATH_MAX], const char *target, unsigned serial);

/*
 * Locks a new temporary file until it is closed or the process ends. The lock tells other runs that the file
 * is in use. Returns 0 if such a run has removed the file before we locked it.
 */
int ks_target_hold(int fd);

/*
 * Removes this user's temporary files that no process has locked from the directory of target. Killed
 * processes left them. A directory that was just cleaned is skipped.
 */
void ks_target_sweep(const char *target);

/*
 * Flushes the directory of target, so that a rename in the directory survives a power failure. Returns 0 or
 * an errno.
 */
int ks_target_flush(const char *target);
