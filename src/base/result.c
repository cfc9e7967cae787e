/* Allocates results and finishes public calls. */
#include "base/result.h"

#include <string.h>

/* The arena lies in front of the struct. */
enum { HEAD = KS_ALIGN };
_Static_assert(sizeof(ks_arena) <= HEAD, "the arena must fit in front of the struct");

void *ks_result_new(size_t size) {
    char *all = ks_alloc(ks_size_add(size, HEAD), 1);
    if (!all) return NULL;
    memset(all, 0, size + HEAD);
    return all + HEAD;
}

ks_arena *ks_result_arena(void *result) { return (ks_arena *)(void *)((char *)result - HEAD); }

void ks_result_free(void *result) {
    if (!result) return;
    ks_arena *arena = ks_result_arena(result);
    ks_arena_free(arena);
    ks_free(arena);
}

void *ks_arena_list(ks_arena *a, size_t count, size_t size) {
    void **list = ks_arena_alloc(a, count, sizeof *list);
    char *items = ks_arena_zalloc(a, count, size);
    if (a->failed) return NULL;
    for (size_t k = 0; k < count; k++) list[k] = items + k * size;
    return list;
}
