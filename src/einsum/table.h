/*
 * Records by number: those with equal keys get the same number. A key is a record's first bytes, of which
 * unused ones must be 0.
 */
#pragma once

#include "base/memory.h"

typedef struct {
    size_t size, key; /* of a record and of its key; set them, and leave the rest 0 */
    unsigned char *bytes;
    size_t count, room;
    uint32_t *slot; /* number + 1, or 0 */
    size_t slots;
} ks_table;

/* The number of a record, which may be new; 0 and *failed = bytes without memory */
uint32_t ks_table_number(ks_table *t, const void *record, size_t *failed);
void ks_table_free(ks_table *t);

static inline void *ks_table_at(const ks_table *t, size_t number) { return t->bytes + number * t->size; }
