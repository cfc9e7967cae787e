#include "io/inflate.h"

#include "base/error.h"
#include "base/memory.h"

#include <limits.h>
#include <string.h>
#define ZLIB_CONST
#include <zlib.h>

enum { RAW = -15, GZIP = 15 + 16 }; /* window bits, as inflateInit2 wants them */

typedef struct {
    z_stream z;
    const unsigned char *in;
    size_t n; /* bytes left at in */
    unsigned char *out;
    size_t room;   /* bytes left at out */
    size_t wanted; /* what the last failed allocation was for */
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
 * Inflates until the stream ends (Z_STREAM_END), it breaks (Z_DATA_ERROR ...), or nothing more can be done
 * (Z_BUF_ERROR): then either room == 0, or the input has ended too early. zlib counts in unsigned int.
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

/* Makes the memory twice as large; the stream goes on where it was. */
static int grow(stream *s, unsigned char **heap, size_t *capacity) {
    unsigned char *larger = ks_alloc(*capacity, 2);
    s->wanted = ks_size(*capacity, 2);
    if (!larger) return 0;
    size_t used = (size_t)(s->out - *heap);
    memcpy(larger, *heap, used);
    ks_free(*heap);
    *heap = larger;
    *capacity *= 2;
    s->out = larger + used;
    s->room = *capacity - used;
    return 1;
}

/* The last four bytes are the size modulo 2^32 of the last member: right for nearly every file. */
static size_t first_guess(const unsigned char *in, size_t n) {
    size_t least = 4096, guess = 0;
    if (n >= 18) guess = in[n - 4] | in[n - 3] << 8 | in[n - 2] << 16 | (size_t)in[n - 1] << 24;
    if (guess > ks_size(n, KS_DEFLATE_RATIO)) guess = ks_size(n, 4);
    return guess < least ? least : guess;
}

kspec_status ks_gunzip(const unsigned char *in, size_t n, ks_bytes *out, const char *name, kspec_error *err) {
    *out = (ks_bytes){0};
    size_t capacity = first_guess(in, n);
    unsigned char *heap = ks_alloc(capacity, 1);
    if (!heap) return ks_nomem(err, name, capacity);
    stream s = {.in = in, .n = n, .out = heap, .room = capacity};
    int r = start(&s, GZIP);
    for (int more = r == Z_OK; more;) {
        r = pump(&s);
        more = 0;
        if (r == Z_STREAM_END && s.n >= 2 && s.in[0] == 0x1f && s.in[1] == 0x8b)
            more = inflateReset(&s.z) == Z_OK;
        else if (r == Z_BUF_ERROR && s.room == 0) {
            more = grow(&s, &heap, &capacity);
            if (!more) r = Z_MEM_ERROR;
        }
    }
    kspec_status status = KSPEC_OK;
    if (r == Z_STREAM_END)
        *out = (ks_bytes){.data = heap, .size = (size_t)(s.out - heap), .heap = heap};
    else {
        status = broken(&s, r, name, err);
        ks_free(heap);
    }
    inflateEnd(&s.z);
    return status;
}

size_t ks_gunzip_start(const unsigned char *in, size_t n, unsigned char *out, size_t size) {
    stream s = {.in = in, .n = n, .out = out, .room = size};
    int r = start(&s, GZIP);
    if (r == Z_OK) r = pump(&s);
    inflateEnd(&s.z);
    return r == Z_MEM_ERROR ? SIZE_MAX : size - s.room;
}
