/* Restarts the tool with OpenBLAS settings that fit the CPU and the memory limit. */
#include "core/restart.h"

#include "kspec.h"
#include "kspec/host.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#ifndef KSPEC_PORTABLE
#include <sys/auxv.h>
#endif

/* The variable that tells a restarted process which core OpenBLAS had detected */
#define BEFORE "KSPEC_CORE_BEFORE"

static _Thread_local char before[32];

const char *cli_core_before(void) { return before[0] ? before : NULL; }

/* Reads and removes the variable, so that no child inherits it. */
static void learn_core_before(void) {
    const char *core = getenv(BEFORE);
    if (!core) return;
    snprintf(before, sizeof before, "%s", core);
    unsetenv(BEFORE);
}

/* The path keeps the program's name in ps(1); the link finds a program whose file was deleted. */
#ifndef KSPEC_PORTABLE
static void start_again(char **argv) {
    static const char link[] = "/proc/self/exe";
    char path[PATH_MAX];
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length > 0) {
        path[length] = 0;
        execv(path, argv);
    }
    execv(link, argv);
}

static int limited(int resource) {
    struct rlimit limit;
    return getrlimit(resource, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
}

/* Does the kernel refuse memory that it could not back (vm.overcommit_memory = 2)? */
static int counted(void) {
    FILE *f = fopen("/proc/sys/vm/overcommit_memory", "r");
    int mode = f ? fgetc(f) : EOF;
    if (f) fclose(f);
    return mode == '2';
}

void cli_restart_limited(char **argv) {
    const char *threads = getenv("OPENBLAS_NUM_THREADS");
    if ((threads && strcmp(threads, "1") == 0) || !getauxval(AT_BASE)) return;
    if (!limited(RLIMIT_AS) && !limited(RLIMIT_DATA) && !counted()) return;
    if (setenv("OPENBLAS_NUM_THREADS", "1", 1) == 0) start_again(argv);
}

void cli_restart(char **argv) {
    learn_core_before();
    /* In the restarted process the variable is set, so the advice is NULL. */
    const char *core = kspec_blas_advice();
    if (!core) return;
    /* If the process runs as "ld.so kspec", its program is ld.so, which takes other arguments. */
    if (!getauxval(AT_BASE)) return;
    const char *name = strrchr(kspec_blas(), ' ');
    if (setenv("OPENBLAS_CORETYPE", core, 1) == 0 && setenv(BEFORE, name ? name + 1 : "?", 1) == 0)
        start_again(argv);
    unsetenv("OPENBLAS_CORETYPE");
    unsetenv(BEFORE);
}
#else /* This kind of restart works on Linux only. */
void cli_restart_limited(char **argv) { (void)argv; }

void cli_restart(char **argv) {
    (void)argv;
    learn_core_before();
}
#endif
