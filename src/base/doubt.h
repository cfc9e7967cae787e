/* Doubts: one table of what the library may doubt (doubt.c), and how a result gets its list. */
#pragma once

#include "base/memory.h"
#include "kspec/doubt.h"

/* The list of a result, and the memory that it comes from. */
typedef struct {
    ks_arena *arena;
    size_t *count;
    kspec_doubt ***list;
} ks_doubts;

/* That of a result made by ks_result_new(), which has the fields doubt_count and doubts. */
#define KS_DOUBTS(r) ((ks_doubts){ks_result_arena(r), &(r)->doubt_count, &(r)->doubts})

/*
 * Adds a doubt. `where` and `what` are copied, and may be NULL; then come as many numbers as the table has
 * names for. Without memory arena->failed is set, which the caller looks at once, at the end.
 */
#define ks_doubt(to, code, where, what, ...) \
    ks_doubt_add(to, code, where, what, (const double[4]){__VA_ARGS__})
void ks_doubt_add(ks_doubts to, kspec_doubt_code code, const char *where, const char *what,
                  const double *values);

/* Of the doubt that was added last: it is a note, whatever the table says; its option's value is this. */
void ks_doubt_lower(ks_doubts to);
void ks_doubt_set(ks_doubts to, const char *setting);

/* Adds the note that `what` was left out to save time; the option with this setting computes it. */
void ks_doubt_left_out(ks_doubts to, const char *what, const char *option, const char *setting);

/* Adds a doubt of another result. */
void ks_doubt_copy(ks_doubts to, const kspec_doubt *d);
