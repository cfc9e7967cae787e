/*
 * Reads IDX, the format of the MNIST files. A file has two zero bytes, the type, the number of axes, their
 * lengths (32 bits), and the numbers. All are big-endian, and the file is often gzipped.
 */
#include "formats/array.h"

#include "base/error.h"
#include "base/memory.h"
#include "formats/element.h"
#include "formats/inflate.h"

#include <stdint.h>

/* Returns the element type of a code. The kind is 0 for an unknown code. */
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

static int is_magic(const unsigned char *p) {
    return p[0] == 0 && p[1] == 0 && type_of(p[2]).kind && p[3] >= 1 && p[3] <= 3;
}

static size_t header_size(const unsigned char *p) { return 4 + 4 * (size_t)p[3]; }

/*
 * Returns the number of data bytes that the header promises, or SIZE_MAX if that overflows. Writes the
 * lengths to shape.
 */
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
 * A file shorter than its header promises still matches, so that the parser can report that it is truncated.
 * A longer file has another format.
 */
int ks_idx_match(const ks_bytes *b) {
    if (ks_gzip_match(b)) {
        unsigned char start[4];
        size_t got;
        kspec_status status = ks_gunzip(b->data, b->size, start, sizeof start, &got, "", NULL);
        return status == KSPEC_E_NOMEM || /* the parser reports it */
               (got == sizeof start && is_magic(start));
    }
    if (b->size < 4 || !is_magic(b->data)) return 0;
    size_t shape[3];
    return b->size < header_size(b->data) || b->size - header_size(b->data) <= data_size(b->data, shape);
}

/* Describes the beginning of a file, with the shape, the offset of the data, and the number of data bytes. */
typedef struct {
    ks_element element;
    int ndim;
    size_t shape[3], offset, need;
} idx_header;

static kspec_status read_header(const unsigned char *p, size_t size, const char *name, idx_header *h,
                                kspec_error *err) {
    if (size < 4 || !is_magic(p)) return ks_fail(err, KSPEC_E_IO, "%s: not an idx file of 1 to 3 axes", name);
    *h = (idx_header){.element = type_of(p[2]), .ndim = p[3], .offset = header_size(p)};
    if (size < h->offset)
        return ks_fail(err, KSPEC_E_IO, "%s: truncated: idx header needs %zu bytes, has %zu", name, h->offset,
                       size);
    h->need = data_size(p, h->shape);
    for (int d = 0; d < h->ndim; d++)
        if (h->shape[d] == 0)
            return ks_fail(err, KSPEC_E_IO, "%s: the array is empty: axis %d has length 0", name, d);
    if (h->need > PTRDIFF_MAX)
        return ks_fail(err, KSPEC_E_IO, "%s: the shape in the header is impossibly large", name);
    return KSPEC_OK;
}

/* Converts the `have` bytes of data that follow the header. */
static kspec_status convert(const idx_header *h, const unsigned char *data, size_t have, const char *name,
                            ks_array *out, kspec_error *err) {
    if (h->need != have)
        return ks_fail(err, KSPEC_E_IO, "%s: needs %zu bytes of data, has %zu", name, h->need, have);
    int images = h->ndim == 3; /* one row each */
    size_t shape[2] = {h->shape[0], images ? h->shape[1] * h->shape[2] : h->shape[1]};
    double *x;
    kspec_status status = ks_array_new(out, images ? 2 : h->ndim, shape, &x, name, err);
    if (status == KSPEC_OK) ks_element_convert(h->element, data, h->need / h->element.size, x);
    return status;
}

/*
 * Unpacks the header first. The header tells how much memory the values need, and one more byte tells whether
 * the file is longer. So a file that unpacks to gigabytes costs no more than its header claims, and the
 * packed size limits this claim.
 */
static kspec_status parse_gzip(const ks_bytes *bytes, const char *name, ks_array *out, kspec_error *err) {
    unsigned char start[4 + 4 * 3];
    size_t got;
    idx_header h;
    kspec_status status = ks_gunzip(bytes->data, bytes->size, start, sizeof start, &got, name, err);
    if (status == KSPEC_OK) status = read_header(start, got, name, &h, err);
    if (status) return status;
    size_t most = ks_size(bytes->size, KS_DEFLATE_RATIO), capacity = h.offset + h.need + 1;
    if (h.need > most)
        return ks_fail(err, KSPEC_E_IO, "%s: needs %zu bytes of data, %zu bytes of gzip hold at most %zu",
                       name, h.need, bytes->size, most);
    unsigned char *plain = ks_alloc(capacity, 1);
    if (!plain) return ks_nomem(err, name, capacity);
    status = ks_gunzip(bytes->data, bytes->size, plain, capacity, &got, name, err);
    if (status == KSPEC_OK && got == capacity)
        status = ks_fail(err, KSPEC_E_IO, "%s: needs %zu bytes of data, unpacks to more", name, h.need);
    if (status == KSPEC_OK)
        status = convert(&h, plain + h.offset, got > h.offset ? got - h.offset : 0, name, out, err);
    ks_free(plain);
    return status;
}

kspec_status ks_idx_parse(ks_bytes *bytes, const char *name, ks_array *out, kspec_error *err) {
    *out = (ks_array){0};
    if (ks_gzip_match(bytes)) return parse_gzip(bytes, name, out, err);
    idx_header h;
    kspec_status status = read_header(bytes->data, bytes->size, name, &h, err);
    if (status) return status;
    return convert(&h, bytes->data + h.offset, bytes->size - h.offset, name, out, err);
}
