/*
 * Reads NumPy's archives. An archive is a zip file whose members NAME.npy are arrays. A sparse matrix of
 * SciPy has five members: format, shape, data, indices and indptr.
 */
#include "formats/npy.h"

#include "base/error.h"
#include "base/memory.h"
#include "formats/printable.h"
#include "formats/sparse.h"
#include "formats/zip.h"

#include <stdio.h>
#include <string.h>

int ks_npz_match(const ks_bytes *b) {
    return b->size >= 4 && (memcmp(b->data, "PK\3\4", 4) == 0 || memcmp(b->data, "PK\5\6", 4) == 0);
}

/* Returns the length of the name as NumPy shows it, without ".npy". */
static size_t key_length(const ks_zip_member *m) {
    size_t n = m->name_length;
    return n > 4 && memcmp(m->name + n - 4, ".npy", 4) == 0 ? n - 4 : n;
}

static int is_array(const ks_zip_member *m) { return key_length(m) < m->name_length; }

/* Appends a name to a list such as "a, b, c", which is shortened if it would be long. */
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

/* Finds the member that `key` names, or the only array if `key` is empty. */
static kspec_status choose(const ks_zip *z, const char *key, ks_zip_member *chosen, kspec_error *err) {
    int keyed = key && *key;
    size_t key_size = keyed ? strlen(key) : 0, arrays = 0;
    int rank = 0; /* 2: full name matches */
    char list[300] = "", first[64] = "", shown[64];
    /* The name may appear twice in the message. The list of members gets the remaining space. */
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
        if (match && match >= rank) { /* Python reads the last */
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

/*
 * Reads the array of a member. If its numbers can be used in place, the array takes over *bytes, the archive.
 */
static kspec_status decode(const ks_zip *zip, const ks_zip_member *member, ks_bytes *bytes, const char *name,
                           ks_array *out, kspec_error *err) {
    const unsigned char *data;
    size_t size;
    ks_bytes unpacked;
    kspec_status status = ks_zip_extract(zip, member, &data, &size, &unpacked, err);
    if (status) return status;
    status = ks_npy_decode(data, size, unpacked.heap ? &unpacked : bytes, name, out, err);
    ks_bytes_close(&unpacked);
    return status;
}

/* ---- sparse ---- */

enum { SHAPE, INDPTR, INDICES, DATA, PARTS };
static const char *const part_names[] = {"shape.npy", "indptr.npy", "indices.npy", "data.npy"};

/*
 * Finds out whether the archive is a sparse matrix. For a sparse matrix, the function sets format to "csr" or
 * the like and finds the members. Otherwise, format is "". A damaged archive also gives "", because the code
 * that reads the archive next reports the damage.
 */
static kspec_status find_sparse(const ks_zip *z, char format[8], ks_zip_member *parts, int *has_parts,
                                kspec_error *err) {
    *has_parts = 0;
    for (size_t at = z->begin; at < z->end;) {
        ks_zip_member m;
        if (ks_zip_next(z, &at, &m, NULL)) break;
        for (int k = 0; k < PARTS; k++)
            if (m.name_length == strlen(part_names[k]) && memcmp(m.name, part_names[k], m.name_length) == 0)
                parts[k] = m, *has_parts |= 1 << k;
        const unsigned char *data;
        size_t size;
        ks_bytes unpacked;
        if (m.name_length != 10 || memcmp(m.name, "format.npy", 10) != 0 || m.size > 1000) continue;
        kspec_status st = ks_zip_extract(z, &m, &data, &size, &unpacked, err);
        if (st == KSPEC_E_NOMEM) return st;
        if (st) continue;
        /* The archive stores the format's three letters in ASCII or in UTF-32. */
        const unsigned char *word = size > 12 ? data + size - (data[size - 1] ? 3 : 12) : NULL;
        for (int k = 0; word && k < 3; k++) format[k] = (char)word[data[size - 1] ? k : 4 * k];
        ks_bytes_close(&unpacked);
    }
    if (!(*has_parts & 1 << SHAPE) || !(*has_parts & 1 << DATA)) *format = 0;
    ks_clear(err);
    return KSPEC_OK;
}

static size_t length_of(const ks_array *a) { return a->ndim == 1 ? a->shape[0] : 0; }

static kspec_status expand(const ks_array *part, int by_columns, const char *name, ks_array *out,
                           kspec_error *err) {
    const double *shape = part[SHAPE].data;
    if (length_of(&part[SHAPE]) != 2 ||
        !(shape[0] >= 1 && shape[0] < 1e15 && shape[1] >= 1 && shape[1] < 1e15))
        return ks_fail(err, KSPEC_E_IO, "%s is a sparse matrix without a shape", name);
    const ks_sparse s = {.rows = (size_t)shape[0],
                         .cols = (size_t)shape[1],
                         .by_columns = by_columns,
                         .start = part[INDPTR].data,
                         .starts = length_of(&part[INDPTR]),
                         .index = part[INDICES].data,
                         .indices = length_of(&part[INDICES]),
                         .value = part[DATA].data,
                         .values = length_of(&part[DATA])};
    const char *why = ks_sparse_unfit(&s);
    if (why) return ks_fail(err, KSPEC_E_IO, "%s %s", name, why);
    size_t bytes = ks_size(ks_size(s.rows, s.cols), sizeof(double)), free = ks_memory_for(bytes);
    if (bytes > free)
        return ks_fail(err, KSPEC_E_NOMEM,
                       "%s: the sparse matrix is %.1f MB when full, %.1f MB are available", name,
                       (double)bytes / 1e6, (double)free / 1e6);
    double *dense;
    kspec_status st = ks_array_new(out, 2, (size_t[]){s.rows, s.cols}, &dense, name, err);
    if (st) return st;
    memset(dense, 0, bytes);
    ks_sparse_expand(&s, dense);
    return KSPEC_OK;
}

static kspec_status parse_sparse(const ks_zip *zip, const char *format, const ks_zip_member *members,
                                 int has_parts, const char *name, ks_array *out, kspec_error *err) {
    int by_columns = strcmp(format, "csc") == 0;
    char shown[8];
    ks_printable(shown, sizeof shown, format, strlen(format));
    if (!by_columns && strcmp(format, "csr") != 0)
        return ks_fail(err, KSPEC_E_IO, "%s is a sparse matrix of format '%s'; only csr and csc can be read",
                       name, shown);
    if (has_parts != (1 << PARTS) - 1)
        return ks_fail(err, KSPEC_E_IO,
                       "%s is a sparse matrix without all of shape, indptr, indices and data", name);
    ks_array part[PARTS] = {{0}};
    kspec_status st = KSPEC_OK;
    for (int k = 0; k < PARTS && !st; k++) {
        /* The archive still belongs to the caller. */
        ks_bytes borrowed = {.data = zip->data, .size = zip->size};
        st = decode(zip, &members[k], &borrowed, name, &part[k], err);
        if (!st && part[k].is_complex)
            st = ks_fail(err, KSPEC_E_IO, "%s is a complex sparse matrix; real numbers are read", name);
    }
    if (!st) st = expand(part, by_columns, name, out, err);
    for (int k = 0; k < PARTS; k++) ks_array_free(&part[k]);
    return st;
}

kspec_status ks_npz_parse(ks_bytes *bytes, const char *key, const char *name, ks_array *out,
                          kspec_error *err) {
    *out = (ks_array){0};
    ks_zip zip;
    ks_zip_member member = {0}, parts[PARTS];
    char format[8] = "";
    int has_parts;
    kspec_status status = ks_zip_open(&zip, bytes, name, err);
    if (!status && !(key && *key)) status = find_sparse(&zip, format, parts, &has_parts, err);
    if (!status && *format) return parse_sparse(&zip, format, parts, has_parts, name, out, err);
    if (!status) status = choose(&zip, key, &member, err);
    return status ? status : decode(&zip, &member, bytes, name, out, err);
}
