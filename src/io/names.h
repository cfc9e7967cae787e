/* Finds columns by name: a table of the hashes of their names. */
#pragma once

#include "kspec/base.h"

/* A name, and the first two columns with this name. `second` is SIZE_MAX if only one column has this
 * name. In an empty entry `name` is NULL. */
typedef struct {
    const char *name;
    size_t first, second;
} ks_named;

typedef struct {
    ks_named *slots; /* with linear probing */
    size_t mask;     /* the size of the table minus 1; the size is a power of 2 */
    size_t longest;  /* the length of the longest name */
} ks_names;

/* Indexes n names, which must stay in memory; skips empty names. */
kspec_status ks_names_open(ks_names *t, char *const *names, size_t n, kspec_error *err);
void ks_names_close(ks_names *t);

/* Returns the entry whose name equals the `len` characters at s, or NULL. The caller passes the hash of
 * these characters. */
const ks_named *ks_names_find(const ks_names *t, uint64_t hash, const char *s, size_t len);

/* Computes the hash FNV-1a, character by character. */
#define KS_NAMES_SEED UINT64_C(0xcbf29ce484222325)
static inline uint64_t ks_names_hash(uint64_t hash, char c) {
    return (hash ^ (unsigned char)c) * UINT64_C(0x100000001b3);
}

/* Copies `count` names into one allocation, which ks_free() frees. These are the names with the numbers
 * taken[0], taken[1], ..., or the first names if `taken` is NULL. A NULL name becomes empty. Error
 * messages call the owner of the names `what`. */
kspec_status ks_names_copy(const char *const *names, const size_t *taken, size_t count, const char *what,
                           char ***out, kspec_error *err);
