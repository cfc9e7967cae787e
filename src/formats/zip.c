/* Reads the directory and the members of a zip archive. */
#include "formats/zip.h"

#include "base/error.h"
#include "base/memory.h"
#include "formats/inflate.h"

#include <string.h>
#include <zlib.h>

static unsigned u16(const unsigned char *p) { return p[0] | (unsigned)p[1] << 8; }
static uint32_t u32(const unsigned char *p) { return u16(p) | (uint32_t)u16(p + 2) << 16; }
static uint64_t u64(const unsigned char *p) { return u32(p) | (uint64_t)u32(p + 4) << 32; }

/* Does a file of `size` bytes have n bytes at offset `at`? */
static int within(uint64_t at, uint64_t n, uint64_t size) { return at <= size && n <= size - at; }

enum { END_SIZE = 22, END64_SIZE = 56, LOCATOR_SIZE = 20, ENTRY_SIZE = 46, LOCAL_SIZE = 30 };

/*
 * Finds the end record of the archive. The end record is followed only by a comment of at most 65535 bytes.
 */
static const unsigned char *find_end(const unsigned char *data, size_t size) {
    for (size_t back = END_SIZE; back <= size && back <= END_SIZE + 65535; back++) {
        const unsigned char *p = data + (size - back);
        if (memcmp(p, "PK\5\6", 4) == 0 && u16(p + 20) <= back - END_SIZE) return p;
    }
    return NULL;
}

kspec_status ks_zip_open(ks_zip *z, const ks_bytes *bytes, const char *name, kspec_error *err) {
    *z = (ks_zip){.data = bytes->data, .size = bytes->size, .name = name};
    const unsigned char *end = find_end(z->data, z->size);
    if (!end)
        return ks_fail(err, KSPEC_E_IO, "%s: truncated: the zip archive has no directory at its end", name);
    size_t end_at = (size_t)(end - z->data);
    uint64_t length = u32(end + 12), begin = u32(end + 16);

    /* In zip64, a locator just before the end record points to an end record with wider fields. */
    if (end_at >= LOCATOR_SIZE && memcmp(end - LOCATOR_SIZE, "PK\6\7", 4) == 0) {
        uint64_t at = u64(end - LOCATOR_SIZE + 8);
        if (!within(at, END64_SIZE, z->size) || memcmp(z->data + at, "PK\6\6", 4) != 0)
            return ks_fail(err, KSPEC_E_IO, "%s: damaged: no zip64 end record at offset %llu", name,
                           (unsigned long long)at);
        const unsigned char *end64 = z->data + at;
        if (length == 0xffffffff) length = u64(end64 + 40);
        if (begin == 0xffffffff) begin = u64(end64 + 48);
    }
    if (!within(begin, length, end_at))
        return ks_fail(err, KSPEC_E_IO, "%s: damaged: zip directory of %llu bytes at offset %llu of %zu",
                       name, (unsigned long long)length, (unsigned long long)begin, z->size);
    z->begin = (size_t)begin;
    z->end = (size_t)(begin + length);
    return KSPEC_OK;
}

/*
 * Reads the 64-bit values of size, packed size and offset from extra field 1, in this order. The field
 * contains only values whose 32-bit field is all ones.
 */
static int read_zip64(const unsigned char *extra, size_t n, ks_zip_member *m) {
    uint64_t *wide[3] = {&m->size, &m->packed, &m->offset};
    while (n >= 4) {
        unsigned id = u16(extra);
        size_t length = u16(extra + 2);
        extra += 4;
        n -= 4;
        if (length > n) return 0;
        if (id == 1) {
            for (int i = 0; i < 3; i++) {
                if (*wide[i] != 0xffffffff) continue;
                if (length < 8) return 0;
                *wide[i] = u64(extra);
                extra += 8;
                length -= 8;
            }
            return 1;
        }
        extra += length;
        n -= length;
    }
    return 1;
}

kspec_status ks_zip_next(const ks_zip *z, size_t *at, ks_zip_member *m, kspec_error *err) {
    const unsigned char *p = z->data + *at;
    size_t left = z->end - *at, total = ENTRY_SIZE;
    int sound = left >= ENTRY_SIZE && memcmp(p, "PK\1\2", 4) == 0;
    if (sound) {
        size_t name_length = u16(p + 28), extra_length = u16(p + 30);
        total += name_length + extra_length + u16(p + 32);
        *m = (ks_zip_member){.name = (const char *)p + ENTRY_SIZE,
                             .name_length = name_length,
                             .flags = u16(p + 8),
                             .method = u16(p + 10),
                             .crc = u32(p + 16),
                             .packed = u32(p + 20),
                             .size = u32(p + 24),
                             .offset = u32(p + 42)};
        sound = total <= left && read_zip64(p + ENTRY_SIZE + name_length, extra_length, m);
    }
    if (!sound) return ks_fail(err, KSPEC_E_IO, "%s: damaged zip directory at offset %zu", z->name, *at);
    *at += total;
    return KSPEC_OK;
}

static kspec_status refuse_method(const ks_zip *z, unsigned method, kspec_error *err) {
    static const struct {
        unsigned method;
        const char *name;
    } others[] = {{1, "shrink"},     {6, "implode"}, {9, "deflate64"}, {12, "bzip2"},         {14, "LZMA"},
                  {93, "Zstandard"}, {95, "XZ"},     {98, "PPMd"},     {99, "AES encryption"}};
    const char *name = "unknown";
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (others[i].method == method) name = others[i].name;
    return ks_fail(err, KSPEC_E_IO, "%s: zip compression method %u (%s); only stored and deflate can be read",
                   z->name, method, name);
}

kspec_status ks_zip_extract(const ks_zip *z, const ks_zip_member *m, const unsigned char **data, size_t *size,
                            ks_bytes *unpacked, kspec_error *err) {
    *unpacked = (ks_bytes){0};
    if (m->flags & 1) return ks_fail(err, KSPEC_E_IO, "%s: the archive is encrypted", z->name);
    if (m->method != 0 && m->method != 8) return refuse_method(z, m->method, err);

    /* The local header may lack the sizes, so the code uses only the lengths of its name and extra field. */
    if (!within(m->offset, LOCAL_SIZE, z->size) || memcmp(z->data + m->offset, "PK\3\4", 4) != 0)
        return ks_fail(err, KSPEC_E_IO, "%s: damaged: no zip member at offset %llu", z->name,
                       (unsigned long long)m->offset);
    const unsigned char *local = z->data + m->offset;
    uint64_t start = m->offset + LOCAL_SIZE + u16(local + 26) + u16(local + 28);
    if (!within(start, m->packed, z->size))
        return ks_fail(err, KSPEC_E_IO, "%s: truncated: zip member of %llu bytes at offset %llu of %zu",
                       z->name, (unsigned long long)m->packed, (unsigned long long)start, z->size);
    const unsigned char *packed = z->data + start;

    *data = packed;
    *size = (size_t)m->size;
    if (m->method == 0 && m->size != m->packed)
        return ks_fail(err, KSPEC_E_IO, "%s: damaged: stored zip member of %llu bytes claims %llu", z->name,
                       (unsigned long long)m->packed, (unsigned long long)m->size);
    if (m->method == 8) {
        /*
         * Check the size before the allocation. packed is at most the size of the file, so the product cannot
         * overflow.
         */
        if (m->size / KS_DEFLATE_RATIO > m->packed)
            return ks_fail(err, KSPEC_E_IO, "%s: damaged: deflated zip member of %llu bytes claims %llu",
                           z->name, (unsigned long long)m->packed, (unsigned long long)m->size);
        unsigned char *heap = ks_alloc(*size, 1);
        if (!heap) return ks_nomem(err, z->name, *size);
        *unpacked = (ks_bytes){.data = heap, .size = *size, .heap = heap};
        *data = heap;
        kspec_status status = ks_inflate(packed, (size_t)m->packed, heap, *size, z->name, err);
        if (status) {
            ks_bytes_close(unpacked);
            return status;
        }
    }
    uint32_t crc = (uint32_t)crc32_z(0, *data, *size);
    if (crc != m->crc) {
        ks_bytes_close(unpacked);
        return ks_fail(err, KSPEC_E_IO, "%s: damaged: zip member has CRC %08x, its directory says %08x",
                       z->name, (unsigned)crc, (unsigned)m->crc);
    }
    return KSPEC_OK;
}
