/*
 * Numbers records so that equal keys get the same number. The key is the first bytes of a record; its unused
 * bytes must be 0.
 */
#pragma once

#include "base/memory.h"

typedef struct {
    size_t size, key; /* size of a record and of its key; set both, and set the rest to 0 */
    unsigned char *bytes;
    size_t count, room;
    uint32_t *slot; /* number + 1, or 0 */
    size_t slots;
} ks_table;

/* The number of a record, which may be new. Returns 0 and sets *failed to the bytes if memory is short. */
uint32_t ks_table_number(ks_table *t, const void *record, size_t *failed);
void ks_table_free(ks_table *t);

static inline void *ks_table_at(const ks_table *t, size_t number) { return t->bytes + number * t->size; }
