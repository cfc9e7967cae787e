/*
 * A file in memory that several processes share: a memfd under Linux, elsewhere a file whose name is deleted
 * at once.
 */
#pragma once

/* A descriptor of a new, empty file, which exec closes; or -1, with errno. */
int ks_memory_file(void);

/*
 * A second descriptor of a file that another process of this user has open, or -1 (always, without Linux's
 * /proc).
 */
int ks_memory_file_of(long process, int fd);
