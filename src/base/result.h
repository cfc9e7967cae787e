/*
 * Results of public calls: a zeroed struct with a private arena for all its arrays, so that one kspec_free()
 * releases everything. The caller sees the struct only.
 */
#pragma once

#include "base/clock.h"
#include "base/memory.h"
#include "kspec/base.h"

/* A zeroed struct of `size` bytes, for kspec_free(); NULL if memory is out. */
void *ks_result_new(size_t size);

/* kspec_free() calls `release` first, for what the result owns outside its arena. */
void ks_result_owns(void *result, void (*release)(void *result));

/* The arena that holds the arrays of a result. */
ks_arena *ks_result_arena(void *result);

/*
 * A list inside a result: `count` pointers to zeroed structs of `size` bytes, so that the structs can grow
 * without breaking compiled programs. NULL if memory is out.
 */
void *ks_arena_list(ks_arena *a, size_t count, size_t size);

/* Hands a result over to *out, or frees it after a failure. Returns st. */
#define ks_hand_over(st, result, out) ((st) ? (kspec_free(result), (st)) : (*(out) = (result), KSPEC_OK))

/*
 * Ends a public call that began with ks_begin() at `start`: after a failure it frees the result, otherwise it
 * sets the seconds and hands the result over. Returns st.
 */
#define ks_end(st, result, start, out) \
    ((st) ? (kspec_free(result), (st)) \
          : ((result)->seconds = ks_now() - (start), *(out) = (result), KSPEC_OK))
