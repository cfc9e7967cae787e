/*
 * A table that gives equal numbers to records with equal keys. The key is the first bytes of a record. Unused
 * bytes of the key must be 0.
 */
#pragma once

#include "base/memory.h"

typedef struct {
    /* The caller sets the sizes of a record and of its key, and sets all other members to 0. */
    size_t size, key;
    unsigned char *bytes;
    size_t count, room;
    uint32_t *slot; /* A slot contains a record's number plus 1, or 0 if it is empty. */
    size_t slots;
} ks_table;

/*
 * Returns the number of a record, and adds the record if its key is new. If memory is short, returns 0 and
 * sets *failed to the bytes requested.
 */
uint32_t ks_table_number(ks_table *t, const void *record, size_t *failed);
void ks_table_free(ks_table *t);

static inline void *ks_table_at(const ks_table *t, size_t number) { return t->bytes + number * t->size; }
