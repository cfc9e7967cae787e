/*
 * Allocates the results of public calls. A result is a zeroed struct with a private arena for all its arrays,
 * so that one kspec_free() releases everything. The caller sees only the struct.
 */
#pragma once

#include "base/clock.h"
#include "base/memory.h"
#include "kspec/base.h"

/* Returns a zeroed struct of `size` bytes, for kspec_free(). Returns NULL if memory is short. */
void *ks_result_new(size_t size);

/* Makes kspec_free() first call `release`, which frees memory that the result owns outside its arena. */
void ks_result_owns(void *result, void (*release)(void *result));

/* Returns the arena that owns the arrays of a result. */
ks_arena *ks_result_arena(void *result);

/*
 * Returns a list inside a result: `count` pointers to zeroed structs of `size` bytes. So the structs can grow
 * without breaking compiled programs. Returns NULL if memory is short.
 */
void *ks_arena_list(ks_arena *a, size_t count, size_t size);

/* Stores a result in *out, or frees it after a failure. Returns st. */
#define ks_hand_over(st, result, out) ((st) ? (kspec_free(result), (st)) : (*(out) = (result), KSPEC_OK))

/*
 * Ends a public call that began with ks_begin() at `start`. After a failure the macro frees the result. After
 * a success the macro sets the seconds and stores the result in *out. Returns st.
 */
#define ks_end(st, result, start, out) \
    ((st) ? (kspec_free(result), (st)) \
          : ((result)->seconds = ks_now() - (start), *(out) = (result), KSPEC_OK))
