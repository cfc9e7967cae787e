/* .npz: every type and order as NumPy writes them, the choice of a member, zip64, and spoilt files. */
#include "help/io.h"

#include <zlib.h>

static kspec_status parse_any(ks_bytes *b, const char *name, ks_array *out, kspec_error *err) {
    return ks_npz_parse(b, NULL, name, out, err);
}

/* Every dtype x byte order x memory order x number of axes, stored and deflated. */
TEST(every_dtype) {
    static const char *const dtypes[] = {"b1", "i1", "u1", "i2", "i4", "i8",
                                         "u2", "u4", "u8", "f2", "f4", "f8"};
    const char *const archives[] = {"dtypes.npz", "dtypes_deflated.npz"};
    int read = 0;
    for (int z = 0; z < 2; z++) {
        ks_bytes b = fixture(archives[z]);
        CHECK(ks_npz_match(&b));
        for (int t = 0; t < 12; t++)
            for (int order = 0; order < 3; order++) /* none (bytes), little, big */
                for (int ndim = 1; ndim <= 3; ndim++)
                    for (int fortran = 0; fortran <= (ndim > 1); fortran++) {
                        if ((dtypes[t][1] == '1') != (order == 0)) continue;
                        char key[32];
                        snprintf(key, sizeof key, "%s_%s_%c_%d", dtypes[t],
                                 order == 0   ? "na"
                                 : order == 1 ? "le"
                                              : "be",
                                 fortran ? 'F' : 'C', ndim);
                        ks_array a;
                        kspec_error err = {0};
                        ks_bytes borrowed = {.data = b.data, .size = b.size};
                        CHECK_MSG(ks_npz_parse(&borrowed, key, key, &a, &err) == KSPEC_OK, "%s", err.msg);
                        check_array(&a, dtypes[t][0], ndim, fixture_shape[ndim], key);
                        CHECK_MSG(a.stride[fortran ? 0 : ndim - 1] == 1, "%s", key);
                        ks_array_free(&a);
                        read++;
                    }
        ks_bytes_close(&b);
    }
    CHECK_MSG(read == 2 * 21 * 5, "%d arrays", read);
}

TEST(unsupported_arrays_are_named) {
    static const char *const refused[][2] = {
        {"complex256", "dtype complex256 ('<c32')"},
        {"float128", "dtype float128 ('<f16') is not supported; save it as float64 first"},
        {"object", "dtype object ('|O')"},
        {"bytes", "dtype bytes string ('|S2')"},
        {"unicode", "dtype unicode string ('<U2')"},
        {"datetime", "dtype datetime64 ('<M8[ns]')"},
        {"timedelta", "dtype timedelta64 ('<m8[s]')"},
        {"void", "dtype void ('|V8')"},
        {"structured", "a structured dtype is not supported; save one field as float64"},
        {"scalar", "the array has 0 axes; 1 to 3 can be read"},
        {"four", "the array has 4 axes; 1 to 3 can be read"},
        {"empty", "the array is empty: axis 1 has length 0"},
    };
    ks_bytes b = fixture("refused.npz");
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        ks_array a;
        kspec_error err = {0};
        CHECK_FAILS(ks_npz_parse(&b, refused[i][0], "x", &a, &err), KSPEC_E_IO, err, refused[i][1]);
        CHECK(a.ndim == 0 && b.data != NULL);
    }
    ks_bytes_close(&b);
}

/* Whether they are wanted is for kspec_read() to say */
TEST(complex_vectors_are_pairs) {
    ks_bytes b = fixture("refused.npz");
    const char *const keys[] = {"complex64", "complex128"};
    for (int i = 0; i < 2; i++) {
        ks_array a;
        CHECK(ks_npz_parse(&b, keys[i], "x", &a, NULL) == KSPEC_OK);
        CHECK(a.is_complex && a.ndim == 2 && a.shape[0] == 3 && a.shape[1] == 2 && a.data[5] == 0);
        ks_array_free(&a);
    }
    ks_bytes_close(&b);
}

TEST(members_are_chosen_by_name) {
    ks_array a;
    kspec_error err = {0};
    ks_bytes b = fixture("three.npz");
    CHECK_FAILS(ks_npz_parse(&b, NULL, "x.npz", &a, &err), KSPEC_E_IO, err,
                "x.npz holds 3 arrays: a, b, c; name one as x.npz:a");
    CHECK_FAILS(ks_npz_parse(&b, "", "x.npz", &a, &err), KSPEC_E_IO, err, "3 arrays");
    CHECK_FAILS(ks_npz_parse(&b, "d", "x.npz:d", &a, &err), KSPEC_E_IO, err,
                "x.npz:d: no array 'd'; the archive holds 3 arrays: a, b, c");
    CHECK_FAILS(ks_npz_parse(&b, "a.np", "x", &a, &err), KSPEC_E_IO, err, "no array 'a.np'");
    const char *const keys[] = {"b", "b.npy"};
    for (int i = 0; i < 2; i++) {
        CHECK(ks_npz_parse(&b, keys[i], "x", &a, &err) == KSPEC_OK);
        check_array(&a, 'f', 2, fixture_shape[2], keys[i]);
        ks_array_free(&a);
    }
    CHECK(ks_npz_parse(&b, "a", "x", &a, &err) == KSPEC_OK);
    CHECK(a.storage.heap &&
          (const unsigned char *)a.data == a.storage.data + 128); /* unpacked, and not copied again */
    ks_array_free(&a);
    ks_bytes_close(&b);

    b = fixture("one.npz");
    CHECK(ks_npz_parse(&b, NULL, "x", &a, &err) == KSPEC_OK);
    check_array(&a, 'f', 2, fixture_shape[2], "one");
    ks_array_free(&a);
    CHECK_FAILS(ks_npz_parse(&b, "y", "x", &a, &err), KSPEC_E_IO, err, "holds 1 array: x");
    ks_bytes_close(&b);

    b = fixture("dtypes.npz");
    CHECK_FAILS(ks_npz_parse(&b, NULL, "x", &a, &err), KSPEC_E_IO, err,
                "x holds 105 arrays: b1_na_C_1, b1_na_C_2, ");
    CHECK_MSG(strstr(err.msg, ", ...; name one as x:b1_na_C_1"), "%s", err.msg);
    ks_bytes_close(&b);
}

TEST(other_archives) {
    ks_array a;
    kspec_error err = {0};
    ks_bytes b = fixture("lzma.npz");
    CHECK_FAILS(ks_npz_parse(&b, NULL, "x", &a, &err), KSPEC_E_IO, err,
                "method 14 (LZMA); only stored and deflate");
    ks_bytes_close(&b);
    b = fixture("bzip2.npz");
    CHECK_FAILS(ks_npz_parse(&b, NULL, "x", &a, &err), KSPEC_E_IO, err, "method 12 (bzip2)");
    ks_bytes_close(&b);
    b = fixture("other.npz");
    CHECK_FAILS(ks_npz_parse(&b, NULL, "x", &a, &err), KSPEC_E_IO, err, "x holds no arrays");
    CHECK_FAILS(ks_npz_parse(&b, "y", "x", &a, &err), KSPEC_E_IO, err,
                "no array 'y'; the archive holds no arrays");
    CHECK_FAILS(ks_npz_parse(&b, "readme.txt", "x", &a, &err), KSPEC_E_IO, err, "not a NumPy array");
    ks_bytes_close(&b);
    unsigned char empty[22] = "PK\5\6";
    b = (ks_bytes){.data = empty, .size = sizeof empty};
    CHECK(ks_npz_match(&b));
    CHECK_FAILS(ks_npz_parse(&b, NULL, "x", &a, &err), KSPEC_E_IO, err, "x holds no arrays");
    CHECK_FAILS(survive(parse_any, (const unsigned char *)"PK\3\4 and no more", 16, &err), KSPEC_E_IO, err,
                "truncated: the zip archive has no directory");
}

/* ------------------------------------------------- archives made by hand, to have every field as we like */

typedef struct {
    int zip64_entry; /* sizes and offset of the entry only in its extra field */
    int zip64_end;   /* directory offset and length only in the zip64 end record */
    int comment;     /* bytes of comment after the end record */
    int deflate;     /* method 8 */
    unsigned flags;  /* of the entry */
    uint64_t size, packed, offset, begin, end64; /* added to the true values of these fields */
} recipe;

static unsigned char made[4096];
static size_t made_size;

static void put(uint64_t value, int bytes) {
    for (int i = 0; i < bytes; i++) made[made_size++] = (unsigned char)(value >> 8 * i);
}
static void put_bytes(const void *p, size_t n) {
    memcpy(made + made_size, p, n);
    made_size += n;
}

static void make_zip(const recipe *r) {
    ks_bytes npy = fixture("v1.npy");
    unsigned char packed[1024];
    uint64_t size = npy.size, packed_size = npy.size;
    memcpy(packed, npy.data, npy.size);
    uint32_t crc = (uint32_t)crc32(0, npy.data, (uInt)npy.size);
    if (r->deflate) {
        z_stream z = {0};
        deflateInit2(&z, 9, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY);
        z.next_in = (Bytef *)(uintptr_t)npy.data;
        z.avail_in = (uInt)npy.size;
        z.next_out = packed;
        z.avail_out = sizeof packed;
        CHECK(deflate(&z, Z_FINISH) == Z_STREAM_END);
        packed_size = z.total_out;
        deflateEnd(&z);
    }
    ks_bytes_close(&npy);
    made_size = 0;
    unsigned method = r->deflate ? 8 : 0;

    put_bytes("PK\3\4", 4);
    put(20, 2), put(r->flags, 2), put(method, 2), put(0, 4), put(0, 4), put(0, 4), put(0, 4);
    put(5, 2), put(3, 2), put_bytes("x.npy", 5), put_bytes("pad", 3);
    put_bytes(packed, packed_size);

    uint64_t begin = made_size, fields[3] = {size + r->size, packed_size + r->packed, r->offset};
    put_bytes("PK\1\2", 4);
    put(20, 2), put(20, 2), put(r->flags, 2), put(method, 2), put(0, 4), put(crc, 4);
    put(r->zip64_entry ? UINT32_MAX : fields[1], 4), put(r->zip64_entry ? UINT32_MAX : fields[0], 4);
    put(5, 2), put(r->zip64_entry ? 4 + 2 + 4 + 24 : 0, 2), put(0, 2), put(0, 2), put(0, 2), put(0, 4);
    put(r->zip64_entry ? UINT32_MAX : fields[2], 4), put_bytes("x.npy", 5);
    if (r->zip64_entry) {
        put(0x7075, 2), put(2, 2), put(0, 2); /* some other extra field first */
        put(1, 2), put(24, 2), put(fields[0], 8), put(fields[1], 8), put(fields[2], 8);
    }
    uint64_t length = made_size - begin, end64 = made_size;
    if (r->zip64_end) {
        put_bytes("PK\6\6", 4);
        put(44, 8), put(45, 2), put(45, 2), put(0, 4), put(0, 4), put(1, 8), put(1, 8);
        put(length, 8), put(begin + r->begin, 8);
        put_bytes("PK\6\7", 4);
        put(0, 4), put(end64 + r->end64, 8), put(1, 4);
    }
    put_bytes("PK\5\6", 4);
    put(0, 2), put(0, 2), put(1, 2), put(1, 2);
    put(r->zip64_end ? UINT32_MAX : length, 4), put(r->zip64_end ? UINT32_MAX : begin + r->begin, 4);
    put((uint64_t)r->comment, 2);
    for (int i = 0; i < r->comment; i++) put('c', 1);
}

TEST(zip64_and_comments) {
    for (int bits = 0; bits < 16; bits++) {
        recipe r = {.zip64_entry = bits & 1,
                    .zip64_end = bits >> 1 & 1,
                    .comment = bits >> 2 & 1 ? 100 : 0,
                    .deflate = bits >> 3 & 1};
        make_zip(&r);
        ks_bytes b = {.data = made, .size = made_size};
        ks_array a;
        kspec_error err = {0};
        CHECK_MSG(ks_npz_parse(&b, "x", "x", &a, &err) == KSPEC_OK, "%d: %s", bits, err.msg);
        check_array(&a, 'f', 2, fixture_shape[2], "made");
        ks_array_free(&a);
    }
}

TEST(fields_that_lie) {
    const uint64_t big[] = {1,          (uint64_t)1 << 32, (uint64_t)1 << 40, (uint64_t)1 << 63,
                            UINT64_MAX, UINT64_MAX - 30};
    kspec_error err;
    for (int deflate = 0; deflate < 2; deflate++)
        for (int i = 0; i < 6; i++)
            for (int field = 0; field < 5; field++) {
                recipe r = {.zip64_entry = 1, .zip64_end = 1, .deflate = deflate};
                *(field == 0   ? &r.size
                  : field == 1 ? &r.packed
                  : field == 2 ? &r.offset
                  : field == 3 ? &r.begin
                               : &r.end64) = big[i];
                make_zip(&r);
                /* one byte more of deflated data, and it is still whole */
                int harmless = deflate && field == 1 && i == 0;
                CHECK_MSG((survive(parse_any, made, made_size, &err) == KSPEC_OK) == harmless, "%d %d", i,
                          field);
            }
    /* no memory is asked for what cannot be */
    failing_alloc_install();
    failing_alloc_arm(0);
    make_zip(&(recipe){.zip64_entry = 1, .deflate = 1, .size = (uint64_t)1 << 40});
    CHECK_FAILS(survive(parse_any, made, made_size, &err), KSPEC_E_IO, err, "claims 1099511628000");
    failing_alloc_uninstall();
    make_zip(&(recipe){.zip64_entry = 1, .offset = (uint64_t)5 << 32});
    CHECK_FAILS(survive(parse_any, made, made_size, &err), KSPEC_E_IO, err,
                "no zip member at offset 21474836480");
    make_zip(&(recipe){.zip64_end = 1, .begin = (uint64_t)5 << 32});
    CHECK_FAILS(survive(parse_any, made, made_size, &err), KSPEC_E_IO, err,
                "zip directory of 51 bytes at offset");
    make_zip(&(recipe){.zip64_end = 1, .end64 = 1});
    CHECK_FAILS(survive(parse_any, made, made_size, &err), KSPEC_E_IO, err, "no zip64 end record");
    make_zip(&(recipe){.packed = 1, .size = 2});
    CHECK_FAILS(survive(parse_any, made, made_size, &err), KSPEC_E_IO, err,
                "stored zip member of 225 bytes claims 226");
    make_zip(&(recipe){.deflate = 1, .size = 2});
    CHECK_FAILS(survive(parse_any, made, made_size, &err), KSPEC_E_IO, err,
                "gives 224 bytes, its header says 226");
    make_zip(&(recipe){.deflate = 1, .size = (uint64_t)-2});
    CHECK_FAILS(survive(parse_any, made, made_size, &err), KSPEC_E_IO, err, "damaged (wrong size)");
    make_zip(&(recipe){.deflate = 1, .packed = (uint64_t)-5});
    CHECK_FAILS(survive(parse_any, made, made_size, &err), KSPEC_E_IO, err,
                "the compressed data is truncated");
    make_zip(&(recipe){.flags = 1});
    CHECK_FAILS(survive(parse_any, made, made_size, &err), KSPEC_E_IO, err, "encrypted");
    make_zip(&(recipe){.flags = 0});
    made[200] ^= 1; /* one bit of a number */
    CHECK_FAILS(survive(parse_any, made, made_size, &err), KSPEC_E_IO, err, "CRC");
}

TEST(spoilt_files) {
    const char *const names[] = {"one.npz", "lzma.npz"};
    for (int i = 0; i < 2; i++) {
        ks_bytes b = fixture(names[i]);
        if (i == 0) check_truncations(parse_any, &b);
        check_flips(parse_any, &b);
        ks_bytes_close(&b);
    }
    for (int bits = 0; bits < 4; bits++) {
        make_zip(
            &(recipe){.zip64_entry = 1, .zip64_end = 1, .deflate = bits & 1, .comment = bits & 2 ? 3 : 0});
        ks_bytes b = {.data = made, .size = made_size};
        check_flips(parse_any, &b);
        check_truncations(parse_any, &b);
    }
}

TEST(failing_memory) {
    ks_bytes b = fixture("one.npz");
    check_allocations(parse_any, &b, 0);
    ks_bytes_close(&b);
    make_zip(&(recipe){.deflate = 1});
    b = (ks_bytes){.data = made, .size = made_size};
    check_allocations(parse_any, &b, 2);
}

int main(void) {
    RUN(every_dtype);
    RUN(unsupported_arrays_are_named);
    RUN(complex_vectors_are_pairs);
    RUN(members_are_chosen_by_name);
    RUN(other_archives);
    RUN(zip64_and_comments);
    RUN(fields_that_lie);
    RUN(spoilt_files);
    RUN(failing_memory);
    return test_done();
}
