/* The sandbox of kspec-hdf5: what it needs works inside, and nothing else does. */
#include "hdf5/sandbox.h"
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static int file, memory; /* open before: to read, and to write through a mapping */
static pid_t parent;

/* Runs the attempt in a sandbox of its own; its result, 200 where there is none, 128 + signal. */
static int inside(int (*attempt)(void)) {
    pid_t child = fork();
    if (child == 0) {
        if (!sandbox_enter(memory)) _exit(200);
        _exit(attempt());
    }
    int status = 0;
    if (waitpid(child, &status, 0) != child) return -1;
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* 1 where a system call fails because it is forbidden */
static int forbidden(long result) { return result < 0 && errno == EPERM; }

static int open_file(void) { return forbidden(open("/dev/null", O_RDONLY)); }
static int open_by_openat(void) { return forbidden(syscall(SYS_openat, AT_FDCWD, "/etc/passwd", O_RDONLY)); }
static int make_file(void) { return forbidden(open("/tmp/kspec-sandbox", O_CREAT | O_WRONLY, 0600)); }
static int remove_file(void) { return forbidden(unlink("/tmp/kspec-sandbox-not-there")); }
static int look_at_file(void) {
    struct stat st;
    return forbidden(stat("/etc/passwd", &st));
}
static int make_socket(void) { return forbidden(socket(AF_INET, SOCK_STREAM, 0)); }
static int make_pair(void) {
    int fd[2];
    return forbidden(socketpair(AF_UNIX, SOCK_STREAM, 0, fd));
}
static int make_process(void) {
    pid_t child = fork();
    if (child == 0) _exit(0);
    return forbidden(child);
}
static int run_program(void) {
    char *argv[] = {"true", NULL};
    return forbidden(execv("/bin/true", argv));
}
static int spawn_program(void) {
    char *argv[] = {"true", NULL};
    pid_t child;
    return posix_spawn(&child, "/bin/true", NULL, NULL, argv, argv + 1) == EPERM;
}
static int kill_parent(void) {
    return forbidden(kill(parent, 0)) && forbidden(syscall(SYS_tgkill, parent, parent, 0));
}
static int trace_parent(void) { return forbidden(ptrace(PTRACE_ATTACH, parent, NULL, NULL)); }
static int write_file(void) { return forbidden(write(1, "x", 1)); }
static int cut_other(void) { return forbidden(ftruncate(file, 0)); }
static int raise_limit(void) { return forbidden(syscall(SYS_prlimit64, 0, RLIMIT_AS, NULL, NULL)); }
static int run_code(void) {
    void *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return p == MAP_FAILED && errno == EPERM;
}
static int make_code(void) {
    void *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return p != MAP_FAILED && forbidden(mprotect(p, 4096, PROT_READ | PROT_EXEC));
}
static int io_uring(void) { return forbidden(syscall(425, 1, NULL)); }
static int holds(void) { return sandbox_holds(); }

TEST(there_is_no_way_out) {
    static const struct {
        const char *what;
        int (*attempt)(void);
    } ways[] = {{"open a file", open_file},
                {"open a file by number", open_by_openat},
                {"make a file", make_file},
                {"remove a file", remove_file},
                {"look at a file", look_at_file},
                {"a socket", make_socket},
                {"a pair of sockets", make_pair},
                {"a process", make_process},
                {"a program", run_program},
                {"a program by posix_spawn", spawn_program},
                {"a signal to the parent", kill_parent},
                {"trace the parent", trace_parent},
                {"write", write_file},
                {"cut another file", cut_other},
                {"other limits", raise_limit},
                {"memory that can be executed", run_code},
                {"make memory so", make_code},
                {"io_uring", io_uring},
                {"all of it, as the program tries itself", holds}};
    for (size_t k = 0; k < sizeof ways / sizeof *ways; k++) {
        int got = inside(ways[k].attempt);
        if (got == 200) SKIP("no seccomp in this kernel or build; see kspec config");
        CHECK_MSG(got == 1, "%s: %d", ways[k].what, got);
    }
    CHECK_MSG(!sandbox_holds(), "outside it does not hold");
}

static int duty(void) {
    char bytes[16] = "";
    double *big = malloc(64 << 20);
    if (!big || pread(file, bytes, 4, 0) != 4 || lseek(file, 0, SEEK_SET) != 0 || read(file, bytes, 4) != 4)
        return 2;
    memset(big, 1, 64 << 20);
    free(big);
    if (ftruncate(memory, 8192) != 0) return 3;
    char *map = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
    if (map == MAP_FAILED) return 4;
    memcpy(map + 4096, "done", 4);
    return prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) < 0; /* forbidden, too */
}
static int abort_it(void) { abort(); }
static int crash(void) {
    raise(SIGSEGV);
    return 0;
}

TEST(what_the_program_needs_works) {
    int got = inside(duty);
    if (got == 200) SKIP("no seccomp in this kernel or build; see kspec config");
    CHECK_MSG(got == 1, "%d", got);
    char bytes[5] = "";
    CHECK(pread(memory, bytes, 4, 4096) == 4 && strcmp(bytes, "done") == 0);
    CHECK_MSG((got = inside(abort_it)) == 128 + SIGABRT, "%d", got); /* crashes are told by their signals */
    CHECK_MSG((got = inside(crash)) == 128 + SIGSEGV, "%d", got);
}

int main(void) {
    struct rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
    parent = getpid();
    file = open("/proc/self/exe", O_RDONLY);
    memory = memfd_create("test", 0);
    CHECK(file >= 0 && memory >= 0);
    RUN(there_is_no_way_out);
    RUN(what_the_program_needs_works);
    return test_done();
}
