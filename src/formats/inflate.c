/* Decompresses gzip files and zip members with zlib. */
#include "formats/inflate.h"

#include "base/error.h"
#include "base/memory.h"

#include <limits.h>
#define ZLIB_CONST
#include <zlib.h>

enum { RAW = -15, GZIP = 15 + 16 }; /* for inflateInit2() */

typedef struct {
    z_stream z;
    const unsigned char *in;
    size_t n; /* bytes left */
    unsigned char *out;
    size_t room;   /* space left */
    size_t wanted; /* the failed allocation */
} stream;

static void *take(void *ctx, uInt count, uInt size) {
    ((stream *)ctx)->wanted = ks_size(count, size);
    return ks_alloc(count, size);
}

static void give(void *ctx, void *p) {
    (void)ctx;
    ks_free(p);
}

static int start(stream *s, int window_bits) {
    s->z = (z_stream){.zalloc = take, .zfree = give, .opaque = s};
    return inflateInit2(&s->z, window_bits);
}

/*
 * Inflates until the stream ends (Z_STREAM_END), or breaks (Z_DATA_ERROR ...), or cannot continue
 * (Z_BUF_ERROR). In the last case, the output is full, or the input has ended too early. The loop is needed
 * because zlib counts in unsigned int.
 */
static int pump(stream *s) {
    for (;;) {
        uInt give_in = s->n < UINT_MAX / 2 ? (uInt)s->n : UINT_MAX / 2;
        uInt give_out = s->room < UINT_MAX / 2 ? (uInt)s->room : UINT_MAX / 2;
        s->z.next_in = s->in;
        s->z.avail_in = give_in;
        s->z.next_out = s->out;
        s->z.avail_out = give_out;
        int r = inflate(&s->z, Z_NO_FLUSH);
        size_t eaten = give_in - s->z.avail_in, made = give_out - s->z.avail_out;
        s->in += eaten;
        s->n -= eaten;
        s->out += made;
        s->room -= made;
        if (r != Z_OK) return r;
        if (!eaten && !made) return Z_BUF_ERROR;
    }
}

static kspec_status broken(const stream *s, int r, const char *name, kspec_error *err) {
    if (r == Z_MEM_ERROR) return ks_nomem(err, name, s->wanted);
    if (r == Z_BUF_ERROR && !s->n)
        return ks_fail(err, KSPEC_E_IO, "%s: the compressed data is truncated", name);
    return ks_fail(err, KSPEC_E_IO, "%s: the compressed data is damaged (%s)", name,
                   s->z.msg ? s->z.msg : "wrong size");
}

kspec_status ks_inflate(const unsigned char *in, size_t n, unsigned char *out, size_t size, const char *name,
                        kspec_error *err) {
    stream s = {.in = in, .n = n, .out = out, .room = size};
    int r = start(&s, RAW);
    if (r == Z_OK) r = pump(&s);
    kspec_status status = KSPEC_OK;
    if (r == Z_STREAM_END && s.room)
        status = ks_fail(err, KSPEC_E_IO, "%s: the compressed data gives %zu bytes, its header says %zu",
                         name, size - s.room, size);
    else if (r != Z_STREAM_END)
        status = broken(&s, r, name, err);
    inflateEnd(&s.z);
    return status;
}

static int all_zero(const unsigned char *p, size_t n) {
    while (n && !p[n - 1]) n--;
    return n == 0;
}

kspec_status ks_gunzip(const unsigned char *in, size_t n, unsigned char *out, size_t size, size_t *got,
                       const char *name, kspec_error *err) {
    stream s = {.in = in, .n = n, .out = out, .room = size};
    int r = start(&s, GZIP);
    for (int more = r == Z_OK; more;) {
        r = pump(&s);
        more = r == Z_STREAM_END && s.n >= 2 && s.in[0] == 0x1f && s.in[1] == 0x8b && /* the next member */
               inflateReset(&s.z) == Z_OK;
    }
    *got = size - s.room;
    int full = r == Z_BUF_ERROR && s.room == 0;
    kspec_status status = r == Z_STREAM_END || full ? KSPEC_OK : broken(&s, r, name, err);
    if (r == Z_STREAM_END && !all_zero(s.in, s.n)) /* tapes add zeros */
        status = ks_fail(err, KSPEC_E_IO, "%s: %zu bytes that are not compressed follow the compressed data",
                         name, s.n);
    inflateEnd(&s.z);
    return status;
}

int ks_gzip_match(const ks_bytes *b) { return b->size >= 2 && b->data[0] == 0x1f && b->data[1] == 0x8b; }

/*
 * The unpacked size is unknown, so the code tries four times as much space until the contents fit. Unknown
 * sizes take a third more time than known ones.
 */
kspec_status ks_gunzip_bytes(ks_bytes *b, const char *name, kspec_error *err) {
    size_t most = ks_size_add(ks_size(b->size, KS_DEFLATE_RATIO), 1), room = ks_size(b->size, 8), got;
    for (;; room = ks_size(room, 4)) {
        if (room > most) room = most;
        if (room < 64) room = 64;
        unsigned char *heap = room <= ks_memory_for(room) ? ks_alloc(room, 1) : NULL;
        if (!heap) return ks_nomem(err, name, room);
        kspec_status st = ks_gunzip(b->data, b->size, heap, room, &got, name, err);
        if (!st && got == room && room < most) {
            ks_free(heap);
            continue;
        }
        if (!st && got == 0) st = ks_fail(err, KSPEC_E_IO, "%s unpacks to nothing", name);
        if (st) {
            ks_free(heap);
            return st;
        }
        ks_bytes_close(b);
        *b = (ks_bytes){.data = heap, .size = got, .heap = heap};
        return KSPEC_OK;
    }
}
