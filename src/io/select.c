/* Selects rows and columns by number, range or name. */
#include "formats/array.h"

#include "base/error.h"
#include "base/memory.h"
#include "io/names.h"

#include <string.h>

/* A choice consists of the entries to select from, and the word for an entry in messages. */
typedef struct {
    const char *spec;
    size_t n;
    char *const *names; /* the names of the n entries, or NULL */
    const char *what, *name;
    ks_names index; /* a hash table of the names, if any */
} choice;

/* Returns the edit distance between the first 63 characters of two words. The distance finds the name
 * that a misspelt name may mean. */
static size_t distance(const char *a, size_t alen, const char *b, size_t blen) {
    size_t row[64];
    if (alen > 63) alen = 63;
    if (blen > 63) blen = 63;
    for (size_t j = 0; j <= blen; j++) row[j] = j;
    for (size_t i = 1; i <= alen; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= blen; j++) {
            size_t best = diagonal + (a[i - 1] != b[j - 1]);
            diagonal = row[j];
            if (row[j] + 1 < best) best = row[j] + 1;
            if (row[j - 1] + 1 < best) best = row[j - 1] + 1;
            row[j] = best;
        }
    }
    return row[blen];
}

static kspec_status fail_unknown(const choice *c, const char *part, size_t len, kspec_error *err) {
    int shown = (int)(len < 80 ? len : 80);
    if (!c->names)
        return ks_fail(err, KSPEC_E_ARG,
                       "%s '%.*s' is not a number or a range a-b or a-: %s has %zu %ss, 0 to %zu", c->what,
                       shown, part, c->name, c->n, c->what, c->n - 1);
    size_t best = 0, best_distance = SIZE_MAX;
    for (size_t i = 0; i < c->n; i++) {
        size_t d = distance(part, len, c->names[i], strlen(c->names[i]));
        if (c->names[i][0] && d < best_distance) best = i, best_distance = d;
    }
    if (best_distance > (len < 4 ? 2 : len / 2))
        return ks_fail(err, KSPEC_E_ARG,
                       "%s '%.*s' is neither a number or range of 0 to %zu nor in the header of %s", c->what,
                       shown, part, c->n - 1, c->name);
    return ks_fail(err, KSPEC_E_ARG, "%s '%.*s' is not in the header of %s; did you mean '%.80s'?", c->what,
                   shown, part, c->name, c->names[best]);
}

/* Finds the name at p. A name may contain commas, so the function takes the longest name that fits. The
 * name must end before a comma or at the end of the text, ignoring blanks. **end is the position after
 * the name, or NULL if no name fits. */
static kspec_status take_name(const choice *c, const char *p, size_t *index, const char **end,
                              kspec_error *err) {
    uint64_t hash = KS_NAMES_SEED;
    const ks_named *best = NULL;
    *end = NULL;
    for (size_t len = 1; len <= c->index.longest && p[len - 1]; len++) {
        hash = ks_names_hash(hash, p[len - 1]);
        const char *after = p + len + strspn(p + len, " ");
        if (*after && *after != ',') continue;
        const ks_named *found = ks_names_find(&c->index, hash, p, len);
        if (found) best = found, *end = p + len;
    }
    if (!best) return KSPEC_OK;
    if (best->second != SIZE_MAX)
        return ks_fail(err, KSPEC_E_ARG,
                       "%s '%.80s' is ambiguous: %ss %zu and %zu of %s have this name; use numbers", c->what,
                       best->name, c->what, best->first, best->second, c->name);
    *index = best->first;
    return KSPEC_OK;
}

/* Reads a number below n at p. If the text at p is not a number, *end is unchanged. */
static kspec_status take_number(const choice *c, const char *p, size_t *value, const char **end,
                                kspec_error *err) {
    size_t digits = strspn(p, "0123456789"), v = 0;
    for (size_t i = 0; i < digits; i++) v = ks_size_add(ks_size(v, 10), (size_t)(p[i] - '0'));
    if (digits && v >= c->n)
        return ks_fail(err, KSPEC_E_ARG, "%s %.*s is out of range: %s has %zu %s%s, 0 to %zu", c->what,
                       (int)(digits < 40 ? digits : 40), p, c->name, c->n, c->what, c->n == 1 ? "" : "s",
                       c->n - 1);
    *value = v;
    *end = p + digits;
    return KSPEC_OK;
}

/* Reads the next part of the selection, lo ... hi. *Moves p to the following comma, or to the end of the
 * text. */
static kspec_status take_part(const choice *c, const char **p, size_t *lo, size_t *hi, kspec_error *err) {
    const char *s = *p + strspn(*p, " "), *end = NULL;
    if (!*s || *s == ',')
        return ks_fail(err, KSPEC_E_ARG, "%s selection '%.80s' has an empty part", c->what, c->spec);
    if (c->names) {
        kspec_status st = take_name(c, s, lo, &end, err);
        if (st) return st;
        *hi = *lo;
    }
    if (!end) { /* without a name, the part is a number or a range */
        size_t len = strcspn(s, ",");
        while (s[len - 1] == ' ') len--;
        size_t plain = strspn(s, "0123456789"), dash = s[plain] == '-',
               second = dash ? strspn(s + plain + 1, "0123456789") : 0;
        if (!plain || plain + dash + second != len) return fail_unknown(c, s, len, err);
        kspec_status st = take_number(c, s, lo, &end, err);
        if (st) return st;
        *hi = dash ? c->n - 1 : *lo;
        if (dash) end++;
        if (second) st = take_number(c, s + plain + 1, hi, &end, err);
        if (st) return st;
        if (*lo > *hi)
            return ks_fail(err, KSPEC_E_ARG, "%s range %zu-%zu runs backwards; write %zu-%zu", c->what, *lo,
                           *hi, *hi, *lo);
    }
    *p = end + strspn(end, " ");
    return KSPEC_OK;
}

/* Returns 1 if the name of an entry begins at p. In this case an exclamation mark at p belongs to the
 * name. */
static int is_named(const choice *c, const char *p) {
    size_t index;
    const char *end = NULL;
    return c->names && !take_name(c, p, &index, &end, NULL) && end;
}

enum { TAKEN = 1, LEFT_OUT = 2 };

/*
 * Walks through the parts of a selection. An exclamation mark excludes a part. Marks the entries in `flags`,
 * or writes the selected numbers to index if index is given.
 */
static kspec_status walk(const choice *c, unsigned char *flags, size_t *index, size_t *count,
                         kspec_error *err) {
    const char *p = c->spec;
    for (int flag = TAKEN;; p++) {
        size_t lo, hi;
        const char *s = p + strspn(p, " ");
        if (*s == '!' && !is_named(c, s)) flag = LEFT_OUT, p = s + 1;
        kspec_status st = take_part(c, &p, &lo, &hi, err);
        if (st) return st;
        for (size_t i = lo; i <= hi; i++) {
            if (index && flag == TAKEN && !(flags[i] & LEFT_OUT)) index[(*count)++] = i;
            if (!index && flag == TAKEN && flags[i] & TAKEN)
                return ks_fail(err, KSPEC_E_ARG, "%s %zu is selected twice in '%.80s'", c->what, i, c->spec);
            if (!index) flags[i] |= (unsigned char)flag;
        }
        if (!*p) return KSPEC_OK;
    }
}

/*
 * Marks and counts the selected entries. If the selection consists of exclusions, all other entries are
 * selected. **all is set to 1 if every entry is selected.
 */
static kspec_status mark(const choice *c, unsigned char *flags, size_t *count, int *all, kspec_error *err) {
    kspec_status st = walk(c, flags, NULL, count, err);
    *all = 1;
    for (size_t i = 0; i < c->n && !st; i++) *all &= !(flags[i] & TAKEN);
    for (size_t i = 0; i < c->n && !st; i++) *count += (*all || flags[i] & TAKEN) && !(flags[i] & LEFT_OUT);
    if (!st && !*count) st = ks_fail(err, KSPEC_E_ARG, "%s selection '%.80s' leaves none", c->what, c->spec);
    return st;
}

/* Writes the numbers of the selected entries to `index`, in the order of the selection. */
static kspec_status list(const choice *c, unsigned char *flags, size_t *index, int all, kspec_error *err) {
    size_t count = 0;
    for (size_t i = 0; i < c->n && all; i++)
        if (!(flags[i] & LEFT_OUT)) index[count++] = i;
    return all ? KSPEC_OK : walk(c, flags, index, &count, err);
}

kspec_status ks_select_parse(const char *spec, size_t n, char *const *names, const char *what,
                             const char *name, size_t **index, size_t *count, kspec_error *err) {
    choice c = {spec, n, names, what, name, {0}};
    *index = NULL;
    *count = 0;
    if (!spec[strspn(spec, " ")]) return ks_fail(err, KSPEC_E_ARG, "%s selection is empty", what);
    if (!n)
        return ks_fail(err, KSPEC_E_ARG, "%s '%.80s' is out of range: %s has 0 %ss", what, spec, name, what);
    if (names) {
        kspec_status st = ks_names_open(&c.index, names, n, err);
        if (st) return st;
    }
    int all = 0;
    unsigned char *flags = ks_zalloc(n, 1);
    kspec_status st = flags ? mark(&c, flags, count, &all, err) : ks_nomem(err, "selection", n);
    if (!st) {
        *index = ks_alloc(*count, sizeof **index);
        st = *index ? list(&c, flags, *index, all, err)
                    : ks_nomem(err, "selection", ks_size(*count, sizeof **index));
    }
    ks_free(flags);
    ks_names_close(&c.index);
    if (st) *count = 0;
    return st;
}
