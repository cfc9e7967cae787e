/* .npy: every type, order and number of axes as NumPy writes them (through dtypes.npz in test_npz.c as well),
   headers of every shape, and spoilt files. */
#include "help/io.h"

#include "base/memory.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static void read_fixture(const char *name, ks_array *a) {
    kspec_error err = {0};
    ks_bytes b = fixture(name);
    CHECK(ks_npy_match(&b));
    CHECK_MSG(ks_npy_parse(&b, name, a, &err) == KSPEC_OK, "%s: %s", name, err.msg);
    ks_bytes_close(&b);
}

TEST(versions_agree) {
    const char *const names[] = {"v1.npy", "v2.npy", "v3.npy"};
    for (int i = 0; i < 3; i++) {
        ks_array a;
        read_fixture(names[i], &a);
        check_array(&a, 'f', 2, fixture_shape[2], names[i]);
        CHECK_MSG(a.storage.map != NULL, "%s is copied", names[i]);
        CHECK((const unsigned char *)a.data > a.storage.data && a.stride[0] == 4 && a.stride[1] == 1);
        ks_array_free(&a);
    }
}

TEST(fortran_order_is_used_in_place) {
    ks_array a;
    read_fixture("fortran.npy", &a);
    check_array(&a, 'f', 3, fixture_shape[3], "fortran");
    CHECK(a.storage.map != NULL && a.stride[0] == 1 && a.stride[1] == 2 && a.stride[2] == 6);
    ks_array_free(&a);
    read_fixture("swapped.npy", &a);
    check_array(&a, 'i', 2, fixture_shape[2], "swapped");
    CHECK(a.storage.map == NULL && a.storage.heap != NULL);
    ks_array_free(&a);
}

TEST(halves_and_large_integers) {
    static const double half[] = {0, -0.0, 0x1p-24, -0x1p-24, 0x1.ff8p-15, 0x1p-14,
                                  1, -2,   65504,   INFINITY, -INFINITY,   NAN};
    ks_array a;
    read_fixture("half.npy", &a);
    CHECK(a.ndim == 1 && a.shape[0] == 12);
    for (size_t k = 0; k < 12; k++)
        CHECK_MSG(isnan(half[k]) ? isnan(a.data[k])
                                 : a.data[k] == half[k] && !signbit(a.data[k]) == !signbit(half[k]),
                  "half %zu is %g", k, a.data[k]);
    ks_array_free(&a);
    static const double wide[2][4] = {{0x1p53, 0x1p63, -0x1p63, -1}, {0x1p53, 0x1p64, 0x1p63, 1}};
    for (int i = 0; i < 2; i++) {
        read_fixture(i ? "uint64.npy" : "int64.npy", &a);
        for (size_t k = 0; k < 4; k++) CHECK_MSG(a.data[k] == wide[i][k], "%.17g", a.data[k]);
        ks_array_free(&a);
    }
}

/* All 65536 halves against the definition: (-1)^s 2^(e-15) (1 + f/1024), or 2^-14 f/1024 for e = 0. */
TEST(every_half) {
    enum { N = 65536, HEAD = 128 };
    unsigned char *file = malloc(HEAD + 2 * N);
    char head[HEAD + 1];
    snprintf(head, sizeof head, "%-117s\n", "{'descr': '<f2', 'fortran_order': False, 'shape': (65536,), }");
    memcpy(file, "\x93NUMPY\1\0\x76\0", 10);
    memcpy(file + 10, head, 118);
    for (unsigned u = 0; u < N; u++)
        file[HEAD + 2 * u] = u & 0xff, file[HEAD + 2 * u + 1] = (unsigned char)(u >> 8);
    ks_bytes b = {.data = file, .size = HEAD + 2 * N};
    ks_array a;
    kspec_error err = {0};
    CHECK_MSG(ks_npy_parse(&b, "x", &a, &err) == KSPEC_OK, "%s", err.msg);
    int wrong = 0;
    for (unsigned u = 0; u < N && a.data; u++) {
        int e = u >> 10 & 31, f = u & 1023;
        double want = e == 0 ? ldexp(f, -24) : e == 31 ? (f ? NAN : INFINITY) : ldexp(1024 + f, e - 25);
        if (u >> 15) want = -want;
        wrong += isnan(want) ? !isnan(a.data[u]) : a.data[u] != want || signbit(a.data[u]) != signbit(want);
    }
    CHECK_MSG(wrong == 0, "%d halves are wrong", wrong);
    ks_array_free(&a);
    free(file);
}

/* A version 1.0 file with this dictionary and `count` doubles 0, 1, 2, ... */
static kspec_status parse_with(const char *dict, size_t count, ks_array *a, kspec_error *err) {
    static _Alignas(64) unsigned char file[4096];
    size_t n = strlen(dict);
    memcpy(file, "\x93NUMPY\1\0", 8);
    file[8] = n & 0xff;
    file[9] = (unsigned char)(n >> 8);
    memcpy(file + 10, dict, n);
    for (size_t k = 0; k < count; k++) {
        double v = (double)k;
        memcpy(file + 10 + n + 8 * k, &v, 8);
    }
    ks_bytes b = {.data = file, .size = 10 + n + 8 * count};
    return ks_npy_parse(&b, "x.npy", a, err);
}

TEST(headers_are_python_literals) {
    static const char *const good[] = {
        "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }",
        "{'shape': (2, 3), 'fortran_order': False, 'descr': '<f8'}",
        "{\"descr\":\"<f8\",\"fortran_order\":False,\"shape\":(2,3)}   \n",
        "  {  'descr'  :  '<f8'  ,  'fortran_order' : False ,\n 'shape' : ( 2 , 3 , ) , }",
        "{'descr': '=f8', 'fortran_order': False, 'shape': (2L, 3L), }",
        "{'descr': 'f8', 'fortran_order': False, 'shape': (002, 3), }",
    };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        ks_array a;
        kspec_error err = {0};
        CHECK_MSG(parse_with(good[i], 6, &a, &err) == KSPEC_OK, "%s: %s", good[i], err.msg);
        CHECK_MSG(a.ndim == 2 && a.shape[0] == 2 && a.shape[1] == 3 && a.data[5] == 5, "%s", good[i]);
        ks_array_free(&a);
    }
    /* complex numbers of one column are pairs, whatever the memory order is said to be */
    static const char *const pairs[] = {"{'descr': '<c16', 'fortran_order': False, 'shape': (3,)}",
                                        "{'shape': (3, 1), 'fortran_order': True, 'descr': '<c16'}"};
    for (int i = 0; i < 2; i++) {
        ks_array a;
        CHECK(parse_with(pairs[i], 6, &a, NULL) == KSPEC_OK && a.is_complex && a.ndim == 2);
        CHECK(a.shape[0] == 3 && a.shape[1] == 2 && a.stride[0] == 2 && a.stride[1] == 1 && a.data[5] == 5);
        ks_array_free(&a);
    }
    static const char *const bad[][2] = {
        {"", "no dictionary"},
        {"['descr']", "no dictionary"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3)", "no comma"},
        {"{'descr': '<f8', 'fortran_order': False}", "no shape"},
        {"{'fortran_order': False, 'shape': (2, 3)}", "no descr"},
        {"{'descr': '<f8', 'shape': (2, 3)}", "no fortran_order"},
        {"{'descr': '<f8', 'fortran_order': 0, 'shape': (2, 3)}",
         "fortran_order is not True or False at \"0, 'sh"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': 6}", "shape is not a tuple"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (2, -3)}", "no whole number in shape at \"-3)"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (2 3)}", "no comma in shape"},
        {"{'descr': '<f8' 'fortran_order': False, 'shape': (2, 3)}", "no comma"},
        {"{'descr' '<f8', 'fortran_order': False, 'shape': (2, 3)}", "no colon"},
        {"{'descr': '<f8', 'other': 1}", "unknown key"},
        {"{'descr': 8}", "descr is not a string"},
        {"{'descr': '<f8}", "descr is not a string"},
        {"{'descr': '<f\\x38'}", "descr is not a string"},
        {"{'descr': '', ", "dtype '' is not known"},
        {"{'descr': '<q8', ", "dtype '<q8' is not known"},
        {"{'descr': '<f', ", "dtype '<f' is not known"},
        {"{'descr': '<i16', ", "dtype '<i16' is not known"},
        {"{'descr': '<f\n8', ", "dtype '<f?8' is not known"},
        {"{'descr': '<f88888888888888888888888888888888888888888', ", "..."},
        {"{'descr': [('a', '<f8')], ", "a structured dtype is not supported; save one field"},
        {"{'descr': '<c16', 'fortran_order': False, 'shape': (1, 3)}",
         "a complex array of 2 axes is not supported; take the real part or the absolute value"},
        {"{'descr': '<c16', 'fortran_order': False, 'shape': (1, 1, 1)}", "a complex array of 3 axes"},
        {"{'descr': '<c16', 'fortran_order': False, 'shape': (4,)}", "needs 64 bytes of data, has 48"},
        {"{'descr': '<c16', 'fortran_order': False, 'shape': (0,)}", "empty: axis 0 has length 0"},
        {"{'descr': '<c4', ", "dtype complex32 ('<c4') is not supported"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': ()}", "has 0 axes; 1 to 3"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (1,1,1,1,6)}", "has 5 axes; 1 to 3"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (6, 0)}", "empty: axis 1 has length 0"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (7,)}", "needs 56 bytes of data, has 48"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (4294967296, 4294967296)}", "impossibly large"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (2305843009213693952,)}", "impossibly large"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (18446744073709551617,)}", "impossibly large"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999999999999999999,)}",
         "impossibly large"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        ks_array a;
        kspec_error err = {0};
        CHECK_FAILS(parse_with(bad[i][0], 6, &a, &err), KSPEC_E_IO, err, bad[i][1]);
        CHECK(a.ndim == 0 && !a.data);
    }
}

TEST(bad_beginnings) {
    kspec_error err = {0};
    CHECK_FAILS(survive(ks_npy_parse, (const unsigned char *)"hello, world", 12, &err), KSPEC_E_IO, err,
                "not a NumPy");
    CHECK_FAILS(survive(ks_npy_parse, (const unsigned char *)"\x93NUMPY\4\0\0\0\0\0", 12, &err), KSPEC_E_IO,
                err, "npy version 4.0; 1.0 to 3.0");
    CHECK_FAILS(survive(ks_npy_parse, (const unsigned char *)"\x93NUMPY\2\0\0\0\0\x7f", 12, &err), KSPEC_E_IO,
                err, "header of 2130706432 bytes; at most 1048576");
    CHECK_FAILS(survive(ks_npy_parse, (const unsigned char *)"\x93NUMPY\1\0\xff\xff{}", 12, &err), KSPEC_E_IO,
                err, "needs 65535 bytes of npy header, has 2");
    ks_bytes b = {.data = (const unsigned char *)"\x93NUMP", .size = 5};
    CHECK(!ks_npy_match(&b));
}

TEST(misaligned_doubles_are_copied) {
    ks_bytes b = fixture("v1.npy");
    unsigned char *room = malloc(b.size + 8);
    for (size_t shift = 0; shift < 8; shift++) {
        memcpy(room + shift, b.data, b.size);
        ks_bytes shifted = {.data = room + shift, .size = b.size};
        ks_array a;
        kspec_error err = {0};
        CHECK(ks_npy_parse(&shifted, "x", &a, &err) == KSPEC_OK);
        check_array(&a, 'f', 2, fixture_shape[2], "shifted");
        CHECK((a.storage.heap == NULL) == (shift == 0) && (shifted.data == NULL) == (shift == 0));
        ks_array_free(&a);
    }
    free(room);
    ks_bytes_close(&b);
}

TEST(spoilt_files) {
    const char *const names[] = {"v1.npy", "v3.npy", "swapped.npy"};
    for (int i = 0; i < 3; i++) {
        ks_bytes b = fixture(names[i]);
        check_truncations(ks_npy_parse, &b);
        CHECK(check_flips(ks_npy_parse, &b) > 0); /* of the numbers any bits will do */
        ks_bytes_close(&b);
    }
}

TEST(failing_memory) {
    ks_bytes b = fixture("swapped.npy");
    check_allocations(ks_npy_parse, &b, 1);
    ks_bytes_close(&b);
    b = fixture("v1.npy");
    check_allocations(ks_npy_parse, &b, 0); /* used in place */
    ks_bytes_close(&b);

    ks_array a;
    double *data;
    kspec_error err = {0};
    size_t shape[] = {SIZE_MAX / 4, 2, 3};
    CHECK_FAILS(ks_array_new(&a, 3, shape, &data, "x.npy", &err), KSPEC_E_NOMEM, err, "x.npy is too large");
    CHECK(a.ndim == 0);
}

/* ------------------------------------------------------- the bytes of a file */

TEST(files_that_cannot_be_read) {
    char dir[] = "/tmp/kspec-test-XXXXXX", path[64];
    CHECK(mkdtemp(dir) != NULL);
    kspec_error err = {0};
    ks_bytes b;
    CHECK_FAILS(ks_bytes_open(&b, dir, &err), KSPEC_E_IO, err, "Is a directory");
    snprintf(path, sizeof path, "%s/x", dir);
    CHECK_FAILS(ks_bytes_open(&b, path, &err), KSPEC_E_IO, err, "No such file");
    CHECK(strstr(err.msg, path) != NULL && b.data == NULL);
    close(open(path, O_CREAT | O_WRONLY, 0600));
    CHECK_FAILS(ks_bytes_open(&b, path, &err), KSPEC_E_IO, err, "is empty");
    chmod(path, 0);
    if (geteuid() != 0) CHECK_FAILS(ks_bytes_open(&b, path, &err), KSPEC_E_IO, err, "Permission denied");
    unlink(path);
    rmdir(dir);
}

/* Standard input: from a pipe, from the middle of a file, and from its beginning (then it is mapped). */
TEST(standard_input) {
    enum { N = 200000 }; /* more than a first buffer */
    char path[] = "/tmp/kspec-test-XXXXXX";
    unsigned char *want = malloc(N);
    for (size_t i = 0; i < N; i++) want[i] = (unsigned char)(i * i >> 3);
    int fd = mkstemp(path), before = dup(STDIN_FILENO);
    CHECK(fd >= 0 && before >= 0 && write(fd, want, N) == N);
    for (int way = 0; way < 3; way++) {
        size_t skip = way == 1 ? 5 : 0;
        FILE *child = NULL;
        if (way == 2) {
            char command[64];
            snprintf(command, sizeof command, "cat %s", path);
            child = popen(command, "r");
            dup2(fileno(child), STDIN_FILENO);
        } else {
            lseek(fd, (off_t)skip, SEEK_SET);
            dup2(fd, STDIN_FILENO);
        }
        ks_bytes b;
        kspec_error err = {0};
        CHECK_MSG(ks_bytes_open(&b, "-", &err) == KSPEC_OK, "%s", err.msg);
        CHECK_MSG(b.size == N - skip && memcmp(b.data, want + skip, N - skip) == 0, "way %d: %zu bytes", way,
                  b.size);
        CHECK((b.map != NULL) == (way == 0) && (b.heap != NULL) == (way != 0));
        ks_bytes_close(&b);
        if (child) pclose(child);
    }
    failing_alloc_install();
    for (long k = 0; k < 3; k++) { /* 64 and 128 KiB are had, 256 are not */
        kspec_error err = {0};
        ks_bytes b;
        lseek(fd, 1, SEEK_SET);
        dup2(fd, STDIN_FILENO);
        failing_alloc_arm(k);
        CHECK_FAILS(ks_bytes_open(&b, "-", &err), KSPEC_E_NOMEM, err, "standard input needs");
        CHECK(failing_alloc_live() == 0);
    }
    failing_alloc_uninstall();
    dup2(before, STDIN_FILENO);
    close(before);
    close(fd);
    unlink(path);
    free(want);
}

int main(void) {
    RUN(versions_agree);
    RUN(fortran_order_is_used_in_place);
    RUN(halves_and_large_integers);
    RUN(every_half);
    RUN(headers_are_python_literals);
    RUN(bad_beginnings);
    RUN(misaligned_doubles_are_copied);
    RUN(spoilt_files);
    RUN(failing_memory);
    RUN(files_that_cannot_be_read);
    RUN(standard_input);
    return test_done();
}
