/* Numbers records so that equal keys get the same number. */
#include "einsum/table.h"

#include "base/digest.h"

#include <string.h>

void ks_table_free(ks_table *t) {
    ks_free(t->bytes);
    ks_free(t->slot);
    *t = (ks_table){.size = t->size, .key = t->key};
}

static size_t place(const ks_table *t, const void *record) {
    size_t at = ks_digest(KS_DIGEST, record, t->key) & (t->slots - 1);
    while (t->slot[at] && memcmp(ks_table_at(t, t->slot[at] - 1), record, t->key) != 0)
        at = (at + 1) & (t->slots - 1);
    return at;
}

static int grow(ks_table *t, size_t *failed) {
    ks_table to = {.size = t->size, .key = t->key, .count = t->count, .room = t->room ? 2 * t->room : 64};
    to.slots = 4 * to.room;
    to.bytes = ks_alloc(to.room, to.size);
    to.slot = ks_zalloc(to.slots, sizeof *to.slot);
    if (!to.bytes || !to.slot) {
        *failed = ks_size(to.room, to.size);
        ks_table_free(&to);
        return 0;
    }
    if (t->count) memcpy(to.bytes, t->bytes, t->count * to.size);
    for (size_t k = 0; k < to.count; k++)
        to.slot[place(&to, ks_table_at(&to, (uint32_t)k))] = (uint32_t)k + 1;
    ks_table_free(t);
    *t = to;
    return 1;
}

uint32_t ks_table_number(ks_table *t, const void *record, size_t *failed) {
    if (*failed || (t->count == t->room && !grow(t, failed))) return 0;
    const size_t at = place(t, record);
    if (t->slot[at]) return t->slot[at] - 1;
    memcpy(t->bytes + t->count * t->size, record, t->size);
    t->slot[at] = (uint32_t)++t->count;
    return (uint32_t)t->count - 1;
}
