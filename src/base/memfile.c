/* Creates a file in memory that several processes share. */
#ifndef KSPEC_PORTABLE
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* memfd_create */
#endif
#include "base/memfile.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>

int ks_memory_file(void) { return memfd_create("kspec", MFD_CLOEXEC | MFD_ALLOW_SEALING); }

int ks_memory_file_of(long process, int fd) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%ld/fd/%d", process, fd);
    return open(path, O_RDWR | O_CLOEXEC);
}
#else
#include "base/memfile.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int ks_memory_file(void) {
    const char *folder = getenv("TMPDIR");
    char path[4096];
    const int length = snprintf(path, sizeof path, "%s/kspec-XXXXXX", folder && *folder ? folder : "/tmp");
    const int fd = length < (int)sizeof path ? mkstemp(path) : -1;
    if (fd < 0) return -1;
    unlink(path);
    fcntl(fd, F_SETFD, FD_CLOEXEC);
    return fd;
}

int ks_memory_file_of(long process, int fd) {
    (void)process, (void)fd;
    return -1;
}
#endif
