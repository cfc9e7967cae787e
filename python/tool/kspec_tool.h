/*
 * kspec_tool.h - the commands of the tool inside another program.
 *
 * libkspec_tool is libkspec together with the tool's commands. The Python package opens it: a call there is a
 * command line, whose INPUTs are arrays in memory, so that options, checks, messages, tables and JSON
 * objects are the tool's own. It is not installed, and no promise to C programs.
 */
#ifndef KSPEC_TOOL_H
#define KSPEC_TOOL_H

#include "kspec.h"
#include "kspec/host.h"

/* How a command ended. */
typedef struct {
    /* the exit status that the tool would have: 0 done, 1 failed, 2 wrong usage, 3 unfit input */
    int status;
    /* of the library call that failed; KSPEC_OK where the command itself refused */
    kspec_status code;
    /* one line, "" where it is done; the table and the JSON object, NULL where it is not */
    char *message, *table, *json;
} kspec_tool_result;

/*
 * Runs the command argv[0] with its arguments, in this thread. It borrows `arrays` (kspec_borrow(): an
 * argument is an array where it is the pointer to its name; NULL: none), reads files into memory, and asks
 * progress also while it waits for one. Prints nothing. Several threads may run commands at once, and a
 * progress callback may run another one. progress may be NULL; it is asked up to 20 times a second. The
 * result is NULL without memory.
 */
KSPEC_API kspec_tool_result *kspec_tool_run(int argc, const char *const *argv, const kspec_borrowed *arrays,
                                            const kspec_progress *progress);
/*
 * The same of the rows that an accumulator has had: what `dimension` tells of its matrix, or `compare` of its
 * two. It reads nothing and reports no progress.
 */
KSPEC_API kspec_tool_result *kspec_tool_accumulated(kspec_accumulator *rows);
KSPEC_API void kspec_tool_free(kspec_tool_result *result);

/*
 * The commands and their options, as a JSON array made from the tool's tables, for free(); NULL without
 * memory.
 */
KSPEC_API char *kspec_tool_describe(void);

#endif
