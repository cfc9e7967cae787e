/*
 * A library to preload into kspec. In place of main() it runs a server: for each fault of the plan it forks a
 * child, which runs main() with that one fault, and looks at what came out.
 *
 *     FAULT_PLAN    kinds, separated by commas: alloc-once, alloc-ever (allocation k fails, or it and all
 *                   later ones), kill (the process dies at system call k), short (system call k reads or
 *                   writes half of it), or an error's name such as EIO (system call k fails with it)
 *     FAULT_STRIDE  every how many cases one is tried (1), from FAULT_FIRST (0)
 *     FAULT_FOLDER  what becomes of a folder, which is a checkpoint: "drop" (it is removed after each case),
 *                   "resume" (before that a run without faults goes on from it, and must end as if nothing
 *                   had been), "keep" (the first run leaves a whole one, from which each case goes on)
 *     FAULT_TICK    seconds by which the clock advances whenever it is read (0)
 *
 * A child is right where it ends with status 0 and exactly the output and files of a run without faults, or
 * with another status, one line on standard error, and no file that is not complete. System calls are caught
 * by a seccomp filter, so that those inside the C library count, too.
 */
#define _GNU_SOURCE
#include "faults.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct shared *shared;
int fault_kind;
static int armed;
static long target;

/* ---- allocations ---- */

extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t),
    *__libc_memalign(size_t, size_t);

/* OpenBLAS does not look whether it got its memory; kspec keeps a reserve (docs/explanation/testing.md). */
static struct { char *from, *to; } excused[64];
static int excused_count;

static int note_segments(struct dl_phdr_info *info, size_t size, void *ctx) {
    (void)size, (void)ctx;
    if (!strstr(info->dlpi_name, "openblas") && !strstr(info->dlpi_name, "lapack")) return 0;
    for (int i = 0; i < info->dlpi_phnum && excused_count < 64; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        if (p->p_type != PT_LOAD || !(p->p_flags & PF_X)) continue;
        excused[excused_count].from = (char *)info->dlpi_addr + p->p_vaddr;
        excused[excused_count].to = excused[excused_count].from + p->p_memsz;
        excused_count++;
    }
    return 0;
}

static int fails(void *caller) {
    if (!armed) return 0;
    for (int i = 0; i < excused_count; i++)
        if ((char *)caller >= excused[i].from && (char *)caller < excused[i].to) {
            __atomic_add_fetch(&shared->excused, 1, __ATOMIC_RELAXED);
            return 0;
        }
    long k = __atomic_fetch_add(&shared->allocations, 1, __ATOMIC_RELAXED);
    if (fault_kind == KIND_ALLOC_ONCE ? k != target : fault_kind != KIND_ALLOC_EVER || k < target) return 0;
    if (!shared->where) shared->where = caller;
    errno = ENOMEM;
    return 1;
}

void *malloc(size_t n) { return fails(__builtin_return_address(0)) ? NULL : __libc_malloc(n); }
void *calloc(size_t n, size_t size) {
    return fails(__builtin_return_address(0)) ? NULL : __libc_calloc(n, size);
}
void *realloc(void *p, size_t n) { return fails(__builtin_return_address(0)) ? NULL : __libc_realloc(p, n); }
void *aligned_alloc(size_t align, size_t n) {
    return fails(__builtin_return_address(0)) ? NULL : __libc_memalign(align, n);
}
void *memalign(size_t align, size_t n) {
    return fails(__builtin_return_address(0)) ? NULL : __libc_memalign(align, n);
}
int posix_memalign(void **to, size_t align, size_t n) {
    if (fails(__builtin_return_address(0))) return ENOMEM;
    *to = __libc_memalign(align, n);
    return *to ? 0 : ENOMEM;
}

/* Times would differ from run to run. */
static long now = 1000, tick;

int clock_gettime(clockid_t clock, struct timespec *t) {
    if (armed) {
        *t = (struct timespec){__atomic_fetch_add(&now, tick, __ATOMIC_RELAXED), 0};
        return 0;
    }
    return (int)syscall(SYS_clock_gettime, clock, t);
}

int clock_advances(void) { return tick != 0; }

/* ---- one case ---- */

static int (*real_main)(int, char **, char **);
static int main_argc;
static char **main_argv, **main_envp;

static void child(int kind, long k, int out, int err) {
    int null = open_null();
    dup2(null, 0), dup2(out, 1), dup2(err, 2);
    close(null), close(out), close(err);
    fault_kind = kind, target = k;
    if (kind >= KIND_KILL) trap_system_calls(k);
    armed = 1;
    exit(real_main(main_argc, main_argv, main_envp));
}

/* Runs it; what came out is in the files of `r`. */
static void run_case(int kind, long k, struct result *r) {
    r->out = memfd_create("out", MFD_CLOEXEC), r->err = memfd_create("err", MFD_CLOEXEC);
    *shared = (struct shared){0};
    pid_t pid = fork();
    if (pid == 0) child(kind, k, r->out, r->err);
    int fd = (int)syscall(SYS_pidfd_open, pid, 0);
    struct pollfd p = {fd, POLLIN, 0};
    r->hung = poll(&p, 1, 30000) == 0;
    if (r->hung) kill(pid, SIGKILL);
    close(fd);
    waitpid(pid, &r->status, 0);
    look_at(r);
}

static const char *where(void) {
    static char text[300];
    Dl_info i;
    if (!shared->where || !dladdr(shared->where, &i)) return "";
    const char *file = strrchr(i.dli_fname, '/');
    snprintf(text, sizeof text, " for %s+0x%lx (%s)", file ? file + 1 : i.dli_fname,
             (long)((char *)shared->where - (char *)i.dli_fbase), i.dli_sname ? i.dli_sname : "?");
    return text;
}

static long number(const char *name, long otherwise) {
    const char *text = getenv(name);
    return text ? atol(text) : otherwise;
}

/* A run from the checkpoint that a case has left, whatever it was: it ends as one from the start. */
static const char *judge_resumed(const struct result *want, struct result *got) {
    static char text[500];
    run_case(KIND_NONE, -1, got);
    const char *problem = judge(want, got);
    if (!problem && got->status != 0) problem = "it fails";
    if (problem) snprintf(text, sizeof text, "resumed, %s", problem);
    return problem ? text : NULL;
}

static int serve(void) {
    static const struct kind {
        const char *name;
        int kind;
    } kinds[] = {{"alloc-once", KIND_ALLOC_ONCE},
                 {"alloc-ever", KIND_ALLOC_EVER},
                 {"kill", KIND_KILL},
                 {"short", KIND_SHORT},
                 {"EIO", KIND_ERRNO + EIO},
                 {"ENOSPC", KIND_ERRNO + ENOSPC},
                 {"EINTR", KIND_ERRNO + EINTR},
                 {"EACCES", KIND_ERRNO + EACCES},
                 {"EMFILE", KIND_ERRNO + EMFILE},
                 {"ENOMEM", KIND_ERRNO + ENOMEM},
                 {NULL, 0}};
    const char *plan = getenv("FAULT_PLAN"), *folder = getenv("FAULT_FOLDER");
    const int keep = folder && strcmp(folder, "keep") == 0, resume = folder && strcmp(folder, "resume") == 0;
    tick = number("FAULT_TICK", 0);
    long stride = number("FAULT_STRIDE", 1), first = number("FAULT_FIRST", 0), count[4] = {0};
    struct result want = {0}, again = {0};
    remember_files();
    run_case(KIND_NONE, -1, &want);
    keep_files();
    if (keep) { /* what goes on from a checkpoint may say so */
        discard(&want);
        run_case(KIND_NONE, -1, &want);
    } else {
        drop_folders();
    }
    run_case(KIND_ERRNO + 4095, -1, &again); /* counts system calls, and fails none */
    long allocations = shared->allocations, calls = shared->calls, all_excused = shared->excused;
    const char *problem = again.hung || want.hung ? "hangs" : judge(&want, &again);
    if (problem || want.status != 0) {
        printf("FAIL without a fault: %s, status %#x: %s\n", problem ? problem : "it fails", want.status,
               want.err_text);
        return 1;
    }
    discard(&again);
    if (!keep) drop_folders();
    for (const struct kind *d = kinds; d->name; d++) {
        size_t n = strlen(d->name);
        const char *at = strstr(plan, d->name);
        if (!at || (at[n] && at[n] != ',')) continue;
        long most = d->kind < KIND_KILL ? allocations : calls;
        for (long k = first % stride; k < most; k += stride) {
            struct result got = {0};
            run_case(d->kind, k, &got);
            int reached = shared->where || shared->call;
            if (!reached && !judge(&want, &got)) { /* it has no k-th one, or ended before */
                if (!keep) drop_folders();
                break;
            }
            count[0]++;
            problem = d->kind == KIND_KILL ? judge_killed(&want, &got) : judge(&want, &got);
            if (!problem && resume && got.status != 0) {
                discard(&got);
                problem = judge_resumed(&want, &got);
            }
            if (!keep) drop_folders();
            int kind = got.hung ? 3 : got.crashed ? 2 : 1;
            if (problem && count[kind]++ < 4)
                printf("FAIL %s %ld%s%s: %s, status %#x: %.300s\n", d->name, k, where(), called(), problem,
                       got.status, got.err_text);
            fflush(stdout); /* a child would have it, too */
            discard(&got);
        }
    }
    printf("cases %ld wrong %ld crashes %ld hangs %ld allocations %ld calls %ld excused %ld\n", count[0],
           count[1], count[2], count[3], allocations, calls, all_excused);
    return count[1] || count[2] || count[3];
}

static int server(int argc, char **argv, char **envp) {
    if (!getenv("FAULT_PLAN") || strcmp(program_invocation_short_name, "kspec") != 0)
        return real_main(argc, argv, envp);
    main_argc = argc, main_argv = argv, main_envp = envp;
    unsetenv("LD_PRELOAD"); /* not for children */
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    dl_iterate_phdr(note_segments, NULL);
    int status = serve();
    fflush(stdout);
    _exit(status);
}

int __libc_start_main(int (*main)(int, char **, char **), int argc, char **argv, void (*init)(void),
                      void (*fini)(void), void (*rtld_fini)(void), void *stack) {
    int (*start)(int (*)(int, char **, char **), int, char **, void (*)(void), void (*)(void), void (*)(void),
                 void *) = dlsym(RTLD_NEXT, "__libc_start_main");
    real_main = main;
    return start(server, argc, argv, init, fini, rtld_fini, stack);
}
