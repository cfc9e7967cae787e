/* The parts of the preloaded library: faults.c (allocations, the server), calls.c, judge.c. */
#ifndef FAULTS_H
#define FAULTS_H

#include <stddef.h>

enum { KIND_NONE, KIND_ALLOC_ONCE, KIND_ALLOC_EVER, KIND_KILL, KIND_SHORT, KIND_ERRNO };
extern int fault_kind;

/* What the child tells the server */
struct shared {
    long allocations, calls, excused;
    void *where;
    long call;
};
extern struct shared *shared;

/* How a child ended */
struct result {
    /* files in memory with its standard output and error; the status of waitpid() */
    int out, err, status;
    int hung, crashed;
    size_t out_size;
    char *out_text, err_text[2000];
};

/* FAULT_TICK: times differ from run to run */
int clock_advances(void);

/* calls.c: from here on system calls are counted, and number k has the fault of fault_kind */
void trap_system_calls(long k);
int open_null(void);
/* " in write(1, ...)", of the call that had the fault; "" where none had */
const char *called(void);

/* judge.c: the files in the working directory before the first run, and those that a run should make */
void remember_files(void);
void keep_files(void);
/* Removes all folders: they hold checkpoints, from which the next run must not resume. */
void drop_folders(void);
/* Reads the child's output. */
void look_at(struct result *r);
void discard(struct result *r);
/* NULL, or what is wrong; removes the files that the child has made */
const char *judge(const struct result *want, struct result *got);
const char *judge_killed(const struct result *want, struct result *got);

#endif
