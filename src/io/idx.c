/*
 * The format of the MNIST files: two zero bytes, the type, the number of axes, their lengths (32 bits), and
 * the numbers; all big-endian, and often gzipped.
 */
#include "io/array.h"

#include "base/error.h"
#include "base/memory.h"
#include "io/element.h"
#include "io/inflate.h"

/* The element of a type code; its kind is 0 where there is none. */
static ks_element type_of(unsigned char code) {
    static const struct {
        unsigned char code;
        char kind;
        unsigned size;
    } types[] = {{0x08, 'u', 1}, {0x09, 'i', 1}, {0x0b, 'i', 2},
                 {0x0c, 'i', 4}, {0x0d, 'f', 4}, {0x0e, 'f', 8}};
    ks_element e = {.swap = KS_LITTLE_ENDIAN};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (types[i].code == code) e.kind = types[i].kind, e.size = types[i].size;
    return e;
}

static int is_gzip(const ks_bytes *b) { return b->size >= 2 && b->data[0] == 0x1f && b->data[1] == 0x8b; }

static int is_magic(const unsigned char *p) {
    return p[0] == 0 && p[1] == 0 && type_of(p[2]).kind && p[3] >= 1 && p[3] <= 3;
}

static size_t header_size(const unsigned char *p) { return 4 + 4 * (size_t)p[3]; }

/* Bytes of data that the header promises; SIZE_MAX if that overflows. Writes the lengths to shape. */
static size_t data_size(const unsigned char *p, size_t *shape) {
    size_t bytes = type_of(p[2]).size;
    for (int d = 0; d < p[3]; d++) {
        const unsigned char *q = p + 4 + 4 * d;
        shape[d] = (size_t)q[0] << 24 | (size_t)q[1] << 16 | (size_t)q[2] << 8 | q[3];
        bytes = ks_size(bytes, shape[d]);
    }
    return bytes;
}

/*
 * A file shorter than its header promises still matches, so that the parser can say that it is truncated; one
 * that is longer is something else.
 */
int ks_idx_match(const ks_bytes *b) {
    if (is_gzip(b)) {
        unsigned char start[4];
        size_t got = ks_gunzip_start(b->data, b->size, start, sizeof start);
        return got == SIZE_MAX ||
               (got == sizeof start && is_magic(start)); /* no memory: the parser says so */
    }
    if (b->size < 4 || !is_magic(b->data)) return 0;
    size_t shape[3];
    return b->size < header_size(b->data) || b->size - header_size(b->data) <= data_size(b->data, shape);
}

static kspec_status parse_plain(const unsigned char *p, size_t size, const char *name, ks_array *out,
                                kspec_error *err) {
    if (size < 4 || !is_magic(p)) return ks_fail(err, KSPEC_E_IO, "%s: not an idx file of 1 to 3 axes", name);
    size_t header = header_size(p);
    if (size < header)
        return ks_fail(err, KSPEC_E_IO, "%s: truncated: idx header needs %zu bytes, has %zu", name, header,
                       size);

    int ndim = p[3];
    size_t shape[3], need = data_size(p, shape), have = size - header;
    for (int d = 0; d < ndim; d++)
        if (shape[d] == 0)
            return ks_fail(err, KSPEC_E_IO, "%s: the array is empty: axis %d has length 0", name, d);
    if (need == SIZE_MAX)
        return ks_fail(err, KSPEC_E_IO, "%s: the shape in the header is impossibly large", name);
    if (need != have)
        return ks_fail(err, KSPEC_E_IO, "%s: needs %zu bytes of data, has %zu", name, need, have);

    if (ndim == 3) { /* images: one row each */
        ndim = 2;
        shape[1] *= shape[2];
    }
    double *data;
    kspec_status status = ks_array_new(out, ndim, shape, &data, name, err);
    ks_element e = type_of(p[2]);
    if (status == KSPEC_OK) ks_element_convert(e, p + header, need / e.size, data);
    return status;
}

kspec_status ks_idx_parse(ks_bytes *bytes, const char *name, ks_array *out, kspec_error *err) {
    *out = (ks_array){0};
    if (!is_gzip(bytes)) return parse_plain(bytes->data, bytes->size, name, out, err);
    ks_bytes plain;
    kspec_status status = ks_gunzip(bytes->data, bytes->size, &plain, name, err);
    if (status == KSPEC_OK) status = parse_plain(plain.data, plain.size, name, out, err);
    ks_bytes_close(&plain);
    return status;
}
