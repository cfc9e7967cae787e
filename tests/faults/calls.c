/*
 * Faults of system calls. A seccomp filter turns calls that touch files into a signal, unless they come from
 * the one instruction in raw(); the handler makes the call there, or has it fail. x86-64 only.
 */
#define _GNU_SOURCE
#include "faults.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

static const struct {
    int number;
    const char *name;
    /* the errors that it may have, and whether it can do half of it */
    const char *errors;
    int may_be_short;
} traps[] = {
    {SYS_read, "read", "EIO EINTR", 1},
    {SYS_pread64, "pread", "EIO EINTR", 1},
    {SYS_write, "write", "EIO ENOSPC EINTR", 1},
    {SYS_pwrite64, "pwrite", "EIO ENOSPC EINTR", 1},
    {SYS_writev, "writev", "EIO ENOSPC EINTR", 0},
    {SYS_open, "open", "EIO ENOSPC EINTR EACCES EMFILE ENOMEM", 0},
    {SYS_openat, "openat", "EIO ENOSPC EINTR EACCES EMFILE ENOMEM", 0},
    {SYS_close, "close", "EIO ENOSPC", 0},
    {SYS_fsync, "fsync", "EIO ENOSPC EINTR", 0},
    {SYS_fdatasync, "fdatasync", "EIO ENOSPC EINTR", 0},
    {SYS_rename, "rename", "EIO ENOSPC EACCES", 0},
    {SYS_renameat, "renameat", "EIO ENOSPC EACCES", 0},
    {SYS_renameat2, "renameat2", "EIO ENOSPC EACCES", 0},
    {SYS_link, "link", "EIO ENOSPC EACCES", 0},
    {SYS_linkat, "linkat", "EIO ENOSPC EACCES", 0},
    /* not unlink: the file that it does not remove is left, by whomever */
    {SYS_ftruncate, "ftruncate", "EIO ENOSPC EINTR", 0},
    {SYS_fallocate, "fallocate", "EIO ENOSPC EINTR", 0},
    {SYS_fstat, "fstat", "EIO ENOMEM", 0},
    {SYS_stat, "stat", "EIO EACCES ENOMEM", 0},
    {SYS_newfstatat, "newfstatat", "EIO EACCES ENOMEM", 0},
    {SYS_statx, "statx", "EIO EACCES ENOMEM", 0},
    {SYS_lseek, "lseek", "EIO", 0},
    {SYS_mmap, "mmap", "EACCES EMFILE ENOMEM", 0},
    {SYS_mkdir, "mkdir", "EIO ENOSPC EACCES", 0},
    {SYS_getdents64, "getdents64", "EIO", 0},
    {SYS_memfd_create, "memfd_create", "EMFILE ENOMEM", 0},
    {SYS_pipe2, "pipe2", "EMFILE", 0},
    {SYS_fcntl, "fcntl", "EINTR EIO", 0},
};
enum { TRAPS = sizeof traps / sizeof *traps };

static long target;
static const char *error_name;
static long error_number;

int open_null(void) { return open("/dev/null", O_RDONLY); }

const char *called(void) {
    static char text[60];
    if (!shared->call) return "";
    snprintf(text, sizeof text, " in %s", traps[shared->call - 1].name);
    return text;
}

/* The one place that the filter lets pass */
long faults_raw(long n, long a, long b, long c, long d, long e, long f);
extern char faults_raw_after[];
__asm__(".text\n.globl faults_raw\n.type faults_raw,@function\nfaults_raw:\n"
        "mov %rdi,%rax\nmov %rsi,%rdi\nmov %rdx,%rsi\nmov %rcx,%rdx\nmov %r8,%r10\nmov %r9,%r8\n"
        "mov 8(%rsp),%r9\nsyscall\n.globl faults_raw_after\nfaults_raw_after:\nret\n");

static int trap_of(long number) {
    for (int i = 0; i < TRAPS; i++)
        if (traps[i].number == number) return i;
    return -1;
}

static int applies(int t, const greg_t *r) {
    /* messages must get out to be judged */
    if ((strcmp(traps[t].name, "write") == 0 || strcmp(traps[t].name, "writev") == 0) && r[REG_RDI] == 2)
        return 0;
    if (fault_kind == KIND_KILL) return 1;
    if (fault_kind == KIND_SHORT) return traps[t].may_be_short && r[REG_RDX] > 1;
    return error_name && strstr(traps[t].errors, error_name) != NULL;
}

static void caught(int signal, siginfo_t *info, void *context) {
    int before = errno, t = trap_of(info->si_syscall);
    greg_t *r = ((ucontext_t *)context)->uc_mcontext.gregs;
    (void)signal;
    int now = t >= 0 && applies(t, r) && __atomic_fetch_add(&shared->calls, 1, __ATOMIC_RELAXED) == target;
    if (t >= 0 && fault_kind == KIND_ERRNO + 4095) __atomic_add_fetch(&shared->calls, 1, __ATOMIC_RELAXED);
    if (now) shared->call = t + 1;
    if (now && fault_kind == KIND_KILL) kill(getpid(), SIGKILL);
    if (now && fault_kind >= KIND_ERRNO)
        r[REG_RAX] = -error_number;
    else
        r[REG_RAX] = faults_raw(info->si_syscall, r[REG_RDI], r[REG_RSI],
                                now && fault_kind == KIND_SHORT ? r[REG_RDX] / 2 : r[REG_RDX], r[REG_R10],
                                r[REG_R8], r[REG_R9]);
    errno = before;
}

void trap_system_calls(long k) {
    static const struct {
        int number;
        const char *name;
    } errors[] = {{EIO, "EIO"},       {ENOSPC, "ENOSPC"}, {EINTR, "EINTR"},
                  {EACCES, "EACCES"}, {EMFILE, "EMFILE"}, {ENOMEM, "ENOMEM"}};
    struct sock_filter code[2 * TRAPS + 12];
    unsigned n = 0;
    uint64_t pass = (uint64_t)(uintptr_t)faults_raw_after;
    error_name = NULL;
    error_number = fault_kind - KIND_ERRNO;
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
        if (fault_kind == KIND_ERRNO + errors[i].number) error_name = errors[i].name;
    target = k;
#define LOAD(member) \
    code[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, member))
#define SKIP_UNLESS(value, skip) \
    code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)(value), 0, skip)
#define END(what) code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, what)
    LOAD(instruction_pointer);
    SKIP_UNLESS(pass, 3);
    code[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
                                             offsetof(struct seccomp_data, instruction_pointer) + 4);
    SKIP_UNLESS(pass >> 32, 1);
    END(SECCOMP_RET_ALLOW);
    LOAD(nr);
    for (int i = 0; i < TRAPS; i++) {
        SKIP_UNLESS(traps[i].number, 1);
        END(SECCOMP_RET_TRAP);
    }
    END(SECCOMP_RET_ALLOW);
    struct sock_fprog program = {(unsigned short)n, code};
    struct sigaction a = {.sa_sigaction = caught, .sa_flags = SA_SIGINFO | SA_NODEFER};
    sigaction(SIGSYS, &a, NULL);
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) {
        static const char text[] = "faults: no seccomp filter\n";
        (void)!write(2, text, sizeof text - 1);
        _exit(99);
    }
}
