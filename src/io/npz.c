/* NumPy's archives: a zip file whose members NAME.npy are arrays. */
#include "io/npy.h"

#include "base/error.h"
#include "io/printable.h"
#include "io/zip.h"

#include <stdio.h>
#include <string.h>

int ks_npz_match(const ks_bytes *b) {
    return b->size >= 4 && (memcmp(b->data, "PK\3\4", 4) == 0 || memcmp(b->data, "PK\5\6", 4) == 0);
}

/* The name as NumPy shows it: without ".npy". */
static size_t key_length(const ks_zip_member *m) {
    size_t n = m->name_length;
    return n > 4 && memcmp(m->name + n - 4, ".npy", 4) == 0 ? n - 4 : n;
}

static int is_array(const ks_zip_member *m) { return key_length(m) < m->name_length; }

/* "a, b, c", cut short where it would be long. */
static void append_key(char *list, size_t capacity, const ks_zip_member *m) {
    size_t used = strlen(list);
    if (used > capacity - 80) {
        if (list[used - 1] != '.') snprintf(list + used, capacity - used, ", ...");
        return;
    }
    char key[64];
    ks_printable(key, sizeof key, m->name, key_length(m));
    snprintf(list + used, capacity - used, "%s%s", used ? ", " : "", key);
}

/* Finds the member that `key` names, or the only array where there is no key. */
static kspec_status choose(const ks_zip *z, const char *key, ks_zip_member *chosen, kspec_error *err) {
    int keyed = key && *key;
    size_t key_size = keyed ? strlen(key) : 0, arrays = 0;
    int rank = 0; /* of the choice so far: 2 for the member's full name, 1 without ".npy" */
    char list[300] = "", first[64] = "", shown[64];
    /* the name may stand in the message twice; the list takes the rest */
    size_t length = strlen(z->name);
    size_t room = length > KS_NAME_LENGTH ? 80 : 400 - 2 * length;
    if (room > sizeof list) room = sizeof list;
    if (keyed) ks_printable(shown, sizeof shown, key, key_size);
    for (size_t at = z->begin; at < z->end;) {
        ks_zip_member m;
        kspec_status status = ks_zip_next(z, &at, &m, err);
        if (status) return status;
        if (is_array(&m)) {
            if (arrays++ == 0) ks_printable(first, sizeof first, m.name, key_length(&m));
            append_key(list, room, &m);
        }
        int match = 0;
        if (!keyed)
            match = is_array(&m);
        else if (memcmp(m.name, key, m.name_length < key_size ? m.name_length : key_size) == 0)
            match = m.name_length == key_size ? 2 : is_array(&m) && key_length(&m) == key_size;
        if (match && match >= rank) { /* of two with one name the later is meant, as in Python */
            rank = match;
            *chosen = m;
        }
    }
    const char *s = arrays == 1 ? "" : "s";
    if (keyed && !rank && !arrays)
        return ks_fail(err, KSPEC_E_IO, "%s: no array '%s'; the archive holds no arrays", z->name, shown);
    if (keyed && !rank)
        return ks_fail(err, KSPEC_E_IO, "%s: no array '%s'; the archive holds %zu array%s: %s", z->name,
                       shown, arrays, s, list);
    if (!keyed && arrays == 0) return ks_fail(err, KSPEC_E_IO, "%s holds no arrays", z->name);
    if (!keyed && arrays > 1)
        return ks_fail(err, KSPEC_E_IO, "%s holds %zu arrays: %s; name one as %s:%s", z->name, arrays, list,
                       z->name, first);
    return KSPEC_OK;
}

kspec_status ks_npz_parse(ks_bytes *bytes, const char *key, const char *name, ks_array *out,
                          kspec_error *err) {
    *out = (ks_array){0};
    ks_zip zip;
    ks_zip_member member = {0};
    const unsigned char *data;
    size_t size;
    ks_bytes unpacked;
    kspec_status status = ks_zip_open(&zip, bytes, name, err);
    if (status == KSPEC_OK) status = choose(&zip, key, &member, err);
    if (status == KSPEC_OK) status = ks_zip_extract(&zip, &member, &data, &size, &unpacked, err);
    if (status) return status;
    status = ks_npy_decode(data, size, unpacked.heap ? &unpacked : bytes, name, out, err);
    ks_bytes_close(&unpacked);
    return status;
}
