/*
 * A table that gives equal numbers to records with equal keys. The key is the first bytes of a record. Unused
 * bytes of the key must be 0.
 */
#pragma once

#include "base/memory.h"

typedef struct {
    size_t size, key; /* sizes of a record and of a key; the caller sets both, and all other members to 0 */
    unsigned char *bytes;
    size_t count, room;
    uint32_t *slot; /* number + 1, or 0 if empty */
    size_t slots;
} ks_table;

/* The number of a record, which may be new. Returns 0 and sets *failed to the bytes if memory is short. */
uint32_t ks_table_number(ks_table *t, const void *record, size_t *failed);
void ks_table_free(ks_table *t);

static inline void *ks_table_at(const ks_table *t, size_t number) { return t->bytes + number * t->size; }
