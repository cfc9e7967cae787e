/* Restricts kspec-hdf5 to the system calls that it needs for parsing. */
#ifndef _GNU_SOURCE /* the tests define it */
#define _GNU_SOURCE
#endif
#include "hdf5/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef KSPEC_PORTABLE
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#if defined(__x86_64__)
#define ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCH AUDIT_ARCH_AARCH64
#endif

int sandbox_is_called(int fd) { return fcntl(fd, F_GET_SEALS) >= 0; }

void sandbox_end_with_caller(void) { prctl(PR_SET_PDEATHSIG, SIGKILL); }

static void no_new_privileges(void) { prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); }
#else /* without a filter of system calls, only the limits protect the system */
int sandbox_is_called(int fd) {
    struct stat st;
    return fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_nlink == 0;
}

void sandbox_end_with_caller(void) {}

static void no_new_privileges(void) {}
#endif

#ifdef ARCH
/*
 * Does a sanitizer or Valgrind watch this process? These open files and start processes to report an error.
 */
static int is_observed(void) {
#ifdef KSPEC_SANITIZED
    return 1;
#else
    /* The environment is empty, except for this variable of Valgrind. */
    const char *preload = getenv("LD_PRELOAD");
    return preload && strstr(preload, "vgpreload") != NULL;
#endif
}

/* The low half of argument k, which holds descriptors, flags and process numbers. */
#define ARGUMENT(k) \
    (offsetof(struct seccomp_data, args) + 8 * (k) + (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? 4 : 0))
#define LOAD(at) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)(at))
#define ALLOWED  BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
#define DENIED   BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM)
/*
 * Allows one system call: always, or if an argument equals a value, or if an argument lacks some bits. For
 * other calls the filter continues.
 */
#define ALLOW(call) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_##call, 0, 1), ALLOWED
#define ALLOW_IF(call, k, value)                                               \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_##call, 0, 4), LOAD(ARGUMENT(k)), \
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)(value), 0, 1), ALLOWED, DENIED
#define ALLOW_WITHOUT(call, k, bits)                                           \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_##call, 0, 4), LOAD(ARGUMENT(k)), \
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, (uint32_t)(bits), 1, 0), ALLOWED, DENIED

int sandbox_enter(int writable) {
    const struct sock_filter filter[] = {
        LOAD(offsetof(struct seccomp_data, arch)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCH, 1, 0),
        DENIED,
        LOAD(offsetof(struct seccomp_data, nr)),
#ifdef __x86_64__
        /* Calls of the x32 interface have other numbers. */
        BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 0x40000000, 0, 1),
        DENIED,
#endif
        /* read */
        ALLOW(read),
        ALLOW(pread64),
        ALLOW(readv),
        ALLOW(lseek),
        ALLOW(close),
        ALLOW(fstat),
        /* memory may be allocated, but not executable memory */
        ALLOW_WITHOUT(mmap, 2, PROT_EXEC),
        ALLOW_WITHOUT(mprotect, 2, PROT_EXEC),
        ALLOW(munmap),
        ALLOW(mremap),
        ALLOW(madvise),
        ALLOW(brk),
        ALLOW(futex),
        ALLOW(getrandom),
        /* the length of the shared memory may be set */
        ALLOW_IF(ftruncate, 0, writable),
        /* time */
        ALLOW(clock_gettime),
        ALLOW(gettimeofday),
        /* exit(), and abort(), which sends a signal to its own process */
        ALLOW(exit),
        ALLOW(exit_group),
        ALLOW(rt_sigreturn),
        ALLOW(rt_sigprocmask),
        ALLOW(rt_sigaction),
        ALLOW(getpid),
        ALLOW(gettid),
        ALLOW_IF(tgkill, 0, getpid()),
        DENIED,
    };
    const struct sock_fprog program = {sizeof filter / sizeof *filter, (struct sock_filter *)filter};
    no_new_privileges(); /* The kernel rejects a filter without this call. */
    if (is_observed()) return 0;
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0;
}
#else
int sandbox_enter(int writable) {
    (void)writable;
    no_new_privileges();
    return 0;
}
#endif

int sandbox_holds(void) {
    int file = open("/dev/null", O_RDONLY), talk = socket(AF_UNIX, SOCK_STREAM, 0);
    pid_t child = fork();
    if (child == 0) _exit(0);
    if (child > 0) waitpid(child, NULL, 0);
    return file < 0 && talk < 0 && child < 0;
}
