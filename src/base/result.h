/*
 * Results that the library makes: a zeroed struct with an arena of its own, from which all its arrays come,
 * so that one call frees everything. The caller sees the struct alone.
 */
#pragma once

#include "base/clock.h"
#include "base/memory.h"

/* A zeroed struct of `size` bytes; NULL when memory is out. */
void *ks_result_new(size_t size);

/* Where its arrays come from. */
ks_arena *ks_result_arena(void *result);

/* Frees it and its arrays; NULL is allowed. */
void ks_result_free(void *result);

/*
 * A list as results have them: `count` pointers to zeroed structs of `size` bytes, so that these can grow
 * without breaking compiled programs. NULL when memory is out.
 */
void *ks_arena_list(ks_arena *a, size_t count, size_t size);

/*
 * Ends a public call that began with ks_begin() at `start`: frees the result after a failure, else sets its
 * seconds and hands it over; returns st.
 */
#define ks_end(st, result, start, out)     \
    ((st) ? (ks_result_free(result), (st)) \
          : ((result)->seconds = ks_now() - (start), *(out) = (result), KSPEC_OK))
