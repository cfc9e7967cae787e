/* A file in memory that processes share, under Linux (memfd); elsewhere a file that has no name any more. */
#pragma once

/* A descriptor of a new, empty file, closed by exec; or -1, with errno. */
int ks_memory_file(void);

/* A second descriptor of one of this user's other processes' files, or -1 (always, without Linux's /proc). */
int ks_memory_file_of(long process, int fd);
