/* A hash table of column names. */
#include "io/names.h"

#include "base/error.h"
#include "base/memory.h"

#include <string.h>

/* Returns the slot of a name, or the empty slot where the name belongs. */
static ks_named *look(const ks_names *t, uint64_t hash, const char *s, size_t len) {
    /* The low bits of an FNV hash depend only on the low bits of the characters, so the index also uses
     * the high bits. */
    size_t at = (size_t)(hash ^ hash >> 32) & t->mask;
    for (; t->slots[at].name; at = (at + 1) & t->mask)
        if (strncmp(t->slots[at].name, s, len) == 0 && !t->slots[at].name[len]) break;
    return &t->slots[at];
}

kspec_status ks_names_open(ks_names *t, char *const *names, size_t n, kspec_error *err) {
    size_t count = 2;
    while (count < ks_size(n, 2) && count <= SIZE_MAX / 4) count *= 2;
    *t = (ks_names){.slots = ks_zalloc(count, sizeof *t->slots), .mask = count - 1};
    if (!t->slots) return ks_nomem(err, "the index of the column names", ks_size(count, sizeof *t->slots));
    for (size_t i = 0; i < n; i++) {
        uint64_t hash = KS_NAMES_SEED;
        size_t len = 0;
        for (; names[i][len]; len++) hash = ks_names_hash(hash, names[i][len]);
        if (!len) continue;
        if (len > t->longest) t->longest = len;
        ks_named *slot = look(t, hash, names[i], len);
        if (!slot->name)
            *slot = (ks_named){names[i], i, SIZE_MAX};
        else if (slot->second == SIZE_MAX)
            slot->second = i;
    }
    return KSPEC_OK;
}

void ks_names_close(ks_names *t) {
    ks_free(t->slots);
    *t = (ks_names){0};
}

const ks_named *ks_names_find(const ks_names *t, uint64_t hash, const char *s, size_t len) {
    const ks_named *slot = look(t, hash, s, len);
    return slot->name ? slot : NULL;
}

kspec_status ks_names_copy(const char *const *names, const size_t *taken, size_t count, const char *what,
                           char ***out, kspec_error *err) {
    size_t bytes = ks_size(count, sizeof **out);
    for (size_t j = 0; j < count; j++) {
        const char *from = names[taken ? taken[j] : j];
        bytes = ks_size_add(bytes, from ? strlen(from) + 1 : 1);
    }
    char **copy = *out = ks_alloc(bytes, 1);
    if (!copy) return ks_nomem(err, what, bytes);
    char *to = (char *)(copy + count);
    for (size_t j = 0; j < count; j++) {
        const char *from = names[taken ? taken[j] : j];
        size_t size = from ? strlen(from) + 1 : 1;
        copy[j] = memcpy(to, from ? from : "", size);
        to += size;
    }
    return KSPEC_OK;
}
