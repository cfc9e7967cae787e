/*
 * Adds doubts, which are the warnings and notes of a result, to the result's list. doubt.c contains one table
 * of all doubts.
 */
#pragma once

#include "base/memory.h"
#include "kspec/doubt.h"

/* Contains the list of doubts of one result, and the arena that owns the list. */
typedef struct {
    ks_arena *arena;
    size_t *count;
    kspec_doubt ***list;
} ks_doubts;

/*
 * Returns the list of a result that ks_result_new() created and that has the fields doubt_count and doubts.
 */
#define KS_DOUBTS(r) ((ks_doubts){ks_result_arena(r), &(r)->doubt_count, &(r)->doubts})

/*
 * Adds a doubt. The list copies `where` and `what`, which may be NULL. As many numbers follow as the table
 * has names for. If memory is short, the function sets arena->failed, which the caller checks once, at the
 * end.
 */
#define ks_doubt(to, code, where, what, ...) \
    ks_doubt_add(to, code, where, what, (const double[4]){__VA_ARGS__})
void ks_doubt_add(ks_doubts to, kspec_doubt_code code, const char *where, const char *what,
                  const double *values);

/*
 * ks_doubt_lower() turns the doubt that was added last into a note, regardless of the table. ks_doubt_set()
 * sets the value of its option.
 */
void ks_doubt_lower(ks_doubts to);
void ks_doubt_set(ks_doubts to, const char *setting);

/*
 * Adds the note that the library skipped `what` to save time. The note names the option and the setting with
 * which the library computes `what`.
 */
void ks_doubt_left_out(ks_doubts to, const char *what, const char *option, const char *setting);

/* Adds a copy of another result's doubt. */
void ks_doubt_copy(ks_doubts to, const kspec_doubt *d);

const char *ks_doubt_name(kspec_doubt_code code);
