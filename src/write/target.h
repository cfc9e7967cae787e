/* The place of a file that is written under a temporary name: links, leftovers, the directory on the disk. */
#pragma once

#include <limits.h>

/* Copies path to target, with the symbolic links at its end followed, dangling ones too. 0 or an errno. */
int ks_target_resolve(char target[PATH_MAX], const char *path);

/* A temporary name beside target. 0 or an errno. */
int ks_target_temporary(char name[PATH_MAX], const char *target, unsigned serial);

/*
 * Locks a temporary file that was just made, until it is closed or the process is gone: this is how a later
 * run knows it from a leftover. 0 where such a run has removed it already, before the lock.
 */
int ks_target_hold(int fd);

/*
 * Removes the temporary files in the directory of target that nobody holds: their process was killed. Only
 * our own user's; a directory that was swept last is not swept again.
 */
void ks_target_sweep(const char *target);

/* Flushes the directory of target, so that a rename in it survives a loss of power. 0 or an errno. */
int ks_target_flush(const char *target);
