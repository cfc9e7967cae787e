/*
 * The sandbox of kspec-hdf5. While it parses, the process may only read its open files, allocate memory, fill
 * the shared memory, and exit. So a malicious file cannot reach other files, sockets or processes.
 */
#pragma once

/*
 * Restricts this process permanently: no new privileges, and a seccomp filter in which every other system
 * call fails with EPERM. `writable` is the one descriptor whose length may change. Returns 0 without a
 * filter: the kernel rejects it, or the program runs under a sanitizer or Valgrind, which need more system
 * calls.
 */
int sandbox_enter(int writable);

/* Did kspec start this program, with a memory file (base/memfile.h) as this descriptor? */
int sandbox_is_called(int fd);

/* Ends the process when its caller ends, if the system supports this. */
void sandbox_end_with_caller(void);

/* Inside the sandbox: do opening a file, a socket and a process fail? */
int sandbox_holds(void);
