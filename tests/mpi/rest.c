/*
 * Makes ranks rest while they wait, so that many of them get on with few processors. MPI's own loops ask for
 * news without a pause, and each rank spends its share of a processor on that. LD_PRELOAD puts these
 * functions in front of the system's and UCX's; what the ranks send and compute stays the same.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <time.h>

enum { PATIENCE = 50, NANOSECONDS = 20000 };

static void rest(void) { nanosleep(&(struct timespec){.tv_nsec = NANOSECONDS}, NULL); }

int sched_yield(void) {
    rest();
    return 0;
}

/* MPICH's loop: the number of messages that moved, after too many times none */
unsigned ucp_worker_progress(void *worker) {
    static unsigned (*real)(void *);
    static int idle;
    if (!real) *(void **)&real = dlsym(RTLD_NEXT, "ucp_worker_progress");
    const unsigned moved = real(worker);
    idle = moved ? 0 : idle + 1;
    if (idle > PATIENCE) rest();
    return moved;
}
