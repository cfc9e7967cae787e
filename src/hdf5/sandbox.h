/*
 * What kspec-hdf5 may do once it parses: read what is open, allocate, fill the memory it shares, exit. A file
 * that takes over the libraries finds no file, no socket and no process to go on with.
 */
#pragma once

/*
 * Shuts this process in, for good: no new privileges, and a seccomp filter in which every other system call
 * fails with EPERM. `writable` is the one descriptor whose length may be changed. 0: there is no filter,
 * because the kernel refuses it, or because the program runs under a sanitizer or Valgrind, which need more.
 */
int sandbox_enter(int writable);

/* Was this program started by kspec, with a file in memory (base/memfile.h) as this descriptor? */
int sandbox_is_called(int fd);

/* The process ends when its caller does, where the system can do that. */
void sandbox_end_with_caller(void);

/* Inside: do opening a file, a socket and a process fail? */
int sandbox_holds(void);
