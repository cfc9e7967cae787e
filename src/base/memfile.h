/*
 * Creates a file in memory that several processes share. Under Linux it is a memfd, and elsewhere a file
 * whose name is deleted at once.
 */
#pragma once

/*
 * Returns a descriptor of a new, empty file, which exec closes. After a failure, returns -1 and sets errno.
 */
int ks_memory_file(void);

/*
 * Returns a second descriptor of a file that another process of this user has open. Returns -1 after a
 * failure, and always without Linux's /proc.
 */
int ks_memory_file_of(long process, int fd);
