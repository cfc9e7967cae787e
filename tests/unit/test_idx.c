/* idx files, plain and gzipped. */
#include "help/io.h"
#include "kspec/host.h"

#include <zlib.h>

TEST(every_type) {
    static const char *const types[] = {"u1", "i1", "i2", "i4", "f4", "f8"};
    static const size_t images[] = {2, 6}; /* 2 x 3 x 2 read as rows x pixels */
    for (int t = 0; t < 6; t++)
        for (int ndim = 1; ndim <= 3; ndim++)
            for (int gz = 0; gz <= (t == 0 || t == 5); gz++) {
                char name[32];
                snprintf(name, sizeof name, "%s-idx%d%s", types[t], ndim, gz ? ".gz" : "");
                ks_bytes b = fixture(name);
                ks_array a;
                kspec_error err = {0};
                CHECK_MSG(ks_idx_match(&b), "%s", name);
                CHECK_MSG(ks_idx_parse(&b, name, &a, &err) == KSPEC_OK, "%s", err.msg);
                check_array(&a, types[t][0], ndim == 3 ? 2 : ndim, ndim == 3 ? images : fixture_shape[ndim],
                            name);
                ks_array_free(&a);
                ks_bytes_close(&b);
            }
}

static int matches(const char *bytes, size_t n) {
    ks_bytes b = {.data = (const unsigned char *)bytes, .size = n};
    return ks_idx_match(&b);
}

TEST(what_is_idx) {
    CHECK(matches("\0\0\x08\1\0\0\0\2ab", 10));
    CHECK(matches("\0\0\x08\1\0\0\0\2a", 9));     /* truncated, which the parser says */
    CHECK(matches("\0\0\x08\3\0\0\0\2", 8));      /* even in its header */
    CHECK(!matches("\0\0\x08\1\0\0\0\2abc", 11)); /* longer than it says: something else */
    CHECK(!matches("\0\0\x08", 3));
    CHECK(!matches("\0\0\x0a\1\0\0\0\2ab", 10)); /* no such type */
    CHECK(!matches("\0\0\x08\0\0\0\0\2ab", 10)); /* no axes */
    CHECK(!matches("\0\0\x08\4\0\0\0\2ab", 10)); /* four */
    CHECK(!matches("\0\1\x08\1\0\0\0\2ab", 10));
    CHECK(!matches("1,2\n3,4\n5,6", 11));
    ks_bytes b = fixture("text.gz");
    CHECK(!ks_idx_match(&b));
    kspec_error err = {0};
    CHECK_FAILS(survive(ks_idx_parse, b.data, b.size, &err), KSPEC_E_IO, err, "not an idx file");
    ks_bytes_close(&b);
    CHECK(!matches("\x1f\x8b", 2) && !matches("\x1f\x8b\x08 nonsense", 12));
}

TEST(messages) {
    kspec_error err = {0};
#define PARSE(bytes, n) survive(ks_idx_parse, (const unsigned char *)(bytes), n, &err)
    CHECK_FAILS(PARSE("\0\0\x08\1\0\0\0\2a", 9), KSPEC_E_IO, err, "needs 2 bytes of data, has 1");
    CHECK_FAILS(PARSE("\0\0\x08\1\0\0\0\2abc", 11), KSPEC_E_IO, err, "needs 2 bytes of data, has 3");
    CHECK_FAILS(PARSE("\0\0\x08\3\0\0\0\2", 8), KSPEC_E_IO, err,
                "truncated: idx header needs 16 bytes, has 8");
    CHECK_FAILS(PARSE("\0\0\x0e\2\0\0\0\2\0\0\0\0", 12), KSPEC_E_IO, err, "empty: axis 1 has length 0");
    CHECK_FAILS(PARSE("\0\0\x0e\3\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", 16), KSPEC_E_IO, err,
                "impossibly large");
#undef PARSE
    ks_bytes b = fixture("u1-idx3.gz");
    CHECK_FAILS(survive(ks_idx_parse, b.data, b.size - 6, &err), KSPEC_E_IO, err, "truncated");
    CHECK_FAILS(survive(ks_idx_parse, b.data, 20, &err), KSPEC_E_IO, err, "the compressed data is truncated");
    ks_bytes_close(&b);
}

/* gzip -c of `n` bytes in `members` pieces, one after the other. */
static size_t gzip_pieces(const unsigned char *data, size_t n, int members, unsigned char *out,
                          size_t capacity) {
    size_t used = 0;
    for (int i = 0; i < members; i++) {
        size_t from = n * (size_t)i / (size_t)members, to = n * (size_t)(i + 1) / (size_t)members;
        z_stream z = {0};
        deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
        z.next_in = (Bytef *)(uintptr_t)(data + from);
        z.avail_in = (uInt)(to - from);
        z.next_out = out + used;
        z.avail_out = (uInt)(capacity - used);
        CHECK(deflate(&z, Z_FINISH) == Z_STREAM_END);
        used += z.total_out;
        deflateEnd(&z);
    }
    return used;
}

/* The size at the end of the file is that of its last member only. */
TEST(long_and_several_members) {
    enum { N = 300000 };
    unsigned char *plain = malloc(N + 8), *packed = malloc(2 * N);
    memcpy(plain, "\0\0\x08\1\0\4\x93\xe0", 8);
    for (size_t i = 0; i < N; i++) plain[8 + i] = (unsigned char)(i * i >> 8 ^ i);
    for (int members = 1; members <= 7; members += 3) {
        size_t size = gzip_pieces(plain, N + 8, members, packed, 2 * N);
        memset(packed + size, 0, 16); /* tapes are padded with zeros */
        ks_bytes b = {.data = packed, .size = size + (members == 4 ? 16 : 0)};
        ks_array a;
        kspec_error err = {0};
        CHECK(ks_idx_match(&b));
        CHECK_MSG(ks_idx_parse(&b, "x", &a, &err) == KSPEC_OK, "%s", err.msg);
        int wrong = a.shape[0] != N;
        for (size_t i = 0; i < N && !wrong; i++) wrong = a.data[i] != plain[8 + i];
        CHECK_MSG(!wrong, "%d members", members);
        ks_array_free(&a);
        check_allocations(ks_idx_parse, &b, 4);
    }
    free(plain);
    free(packed);
}

static size_t largest; /* allocation */

static void *watched_take(void *ctx, size_t size, size_t align) {
    (void)ctx;
    if (size > largest) largest = size;
    return aligned_alloc(align, (size + align - 1) / align * align);
}

static void watched_give(void *ctx, void *p) {
    (void)ctx;
    free(p);
}

/* Megabytes of zeros behind a header that speaks of a few bytes, and gigabytes promised by a few bytes. */
TEST(what_is_unpacked_is_bounded) {
    enum { N = 1 << 24 };
    unsigned char *plain = calloc(N, 1), *packed = malloc(1 << 20);
    kspec_error err = {0};
    kspec_allocator watched = {watched_take, watched_give, NULL};
    memcpy(plain, "\0\0\x08\1\0\0\0\2ab", 10);
    for (size_t extra = 0; extra <= N - 10; extra = extra ? extra * 4194 : 1) {
        size_t size = gzip_pieces(plain, 10 + extra, 1, packed, 1 << 20);
        kspec_set_allocator(&watched);
        largest = 0;
        kspec_status status = survive(ks_idx_parse, packed, size, &err);
        kspec_set_allocator(NULL);
        CHECK_MSG(largest && largest < 100000, "%zu bytes more than claimed: %zu allocated", extra, largest);
        if (extra)
            CHECK_FAILS(status, KSPEC_E_IO, err, "needs 2 bytes of data, unpacks to more");
        else
            CHECK_MSG(status == KSPEC_OK, "%s", err.msg);
    }
    size_t short_by_one = gzip_pieces(plain, 9, 1, packed, 1 << 20);
    CHECK_FAILS(survive(ks_idx_parse, packed, short_by_one, &err), KSPEC_E_IO, err,
                "needs 2 bytes of data, has 1");
    memcpy(plain, "\0\0\x08\1\x7f\xff\xff\xff", 8);
    size_t size = gzip_pieces(plain, 1000, 1, packed, 1 << 20);
    kspec_set_allocator(&watched);
    largest = 0;
    CHECK_FAILS(survive(ks_idx_parse, packed, size, &err), KSPEC_E_IO, err,
                "needs 2147483647 bytes of data, ");
    kspec_set_allocator(NULL);
    CHECK_MSG(strstr(err.msg, " bytes of gzip hold at most ") && largest < 100000, "%zu: %s", largest,
              err.msg);
    free(plain);
    free(packed);
}

TEST(spoilt_files) {
    const char *const names[] = {"u1-idx3", "f8-idx2", "u1-idx1.gz", "f8-idx3.gz"};
    for (int i = 0; i < 4; i++) {
        ks_bytes b = fixture(names[i]);
        check_truncations(ks_idx_parse, &b);
        check_flips(ks_idx_parse, &b);
        for (size_t n = 0; n <= b.size; n++) { /* the match must survive them as well */
            unsigned char *copy = malloc(n ? n : 1);
            memcpy(copy, b.data, n);
            ks_bytes beginning = {.data = copy, .size = n};
            CHECK(ks_idx_match(&beginning) <= 1);
            free(copy);
        }
        ks_bytes_close(&b);
    }
}

TEST(failing_memory) {
    ks_bytes b = fixture("i4-idx2");
    check_allocations(ks_idx_parse, &b, 1);
    ks_bytes_close(&b);
    b = fixture("f8-idx3.gz");
    check_allocations(ks_idx_parse, &b, 3);
    ks_bytes_close(&b);
}

int main(void) {
    RUN(every_type);
    RUN(what_is_idx);
    RUN(messages);
    RUN(long_and_several_members);
    RUN(what_is_unpacked_is_bounded);
    RUN(spoilt_files);
    RUN(failing_memory);
    return test_done();
}
