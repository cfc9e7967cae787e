/* Allocates results and finishes public calls. */
#include "base/result.h"

#include <string.h>

/* The arena, and the function that frees everything else, come before the struct in memory. */
typedef struct {
    ks_arena arena;
    void (*release)(void *result);
} head;
enum { HEAD = KS_ALIGN };
_Static_assert(sizeof(head) <= HEAD, "the head must fit in front of the struct");

static head *head_of(void *result) { return (head *)(void *)((char *)result - HEAD); }

void *ks_result_new(size_t size) {
    char *all = ks_alloc(ks_size_add(size, HEAD), 1);
    if (!all) return NULL;
    memset(all, 0, size + HEAD);
    return all + HEAD;
}

ks_arena *ks_result_arena(void *result) { return &head_of(result)->arena; }

void ks_result_owns(void *result, void (*release)(void *result)) { head_of(result)->release = release; }

void kspec_free(void *result) {
    if (!result) return;
    head *h = head_of(result);
    if (h->release) h->release(result);
    ks_arena_free(&h->arena);
    ks_free(h);
}

void *ks_arena_list(ks_arena *a, size_t count, size_t size) {
    void **list = ks_arena_alloc(a, count, sizeof *list);
    char *items = ks_arena_zalloc(a, count, size);
    if (a->failed) return NULL;
    for (size_t k = 0; k < count; k++) list[k] = items + k * size;
    return list;
}
