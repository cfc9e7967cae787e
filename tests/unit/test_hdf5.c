/*
 * HDF5 and MATLAB files through the program kspec-hdf5. The files are made by tests/fixtures/make_hdf5.py;
 * the entries of all arrays follow one formula (see `value`). Then what happens when that program misbehaves:
 * a shell script takes its place.
 */
#include "test.h"

#include "help/locale.h"
#include "formats/array.h"
#include "formats/child.h"
#include "kspec.h"
#include "kspec/host.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *fixture(const char *name) {
    static char path[4096];
    snprintf(path, sizeof path, "%s/tests/fixtures/hdf5/%s", TEST_SOURCE_DIR, name);
    return path;
}

/* 'i' signed, 'u' unsigned, 'f' floating point, 'b' logical */
static double value(size_t i, size_t j, size_t k, char kind) {
    long v = (long)(17 * i + 5 * j + k);
    return kind == 'b'   ? (double)(v % 2)
           : kind == 'u' ? (double)v
                         : (double)(v - 20) + (kind == 'f' ? 0.25 : 0);
}

static void check_array(const ks_array *a, const char *what, int ndim, const size_t *shape, char kind) {
    CHECK_MSG(a->ndim == ndim, "%s: %d axes", what, a->ndim);
    if (a->ndim != ndim) return;
    size_t n[3] = {1, 1, 1};
    for (int d = 0; d < ndim; d++) {
        CHECK_MSG(a->shape[d] == shape[d], "%s: axis %d is %zu", what, d, a->shape[d]);
        if (a->shape[d] != shape[d]) return;
        n[d] = shape[d];
    }
    for (size_t i = 0; i < n[0]; i++)
        for (size_t j = 0; j < n[1]; j++)
            for (size_t k = 0; k < n[2]; k++) {
                ptrdiff_t at = (ptrdiff_t)i * a->stride[0];
                if (ndim > 1) at += (ptrdiff_t)j * a->stride[1];
                if (ndim > 2) at += (ptrdiff_t)k * a->stride[2];
                double want = value(i, j, k, kind);
                CHECK_MSG(a->data[at] == want, "%s(%zu,%zu,%zu) = %g, not %g", what, i, j, k, a->data[at],
                          want);
            }
}

static void check_file(const char *file, const char *key, int ndim, const size_t *shape, char kind) {
    char what[200];
    ks_array a;
    kspec_error err = {0};
    int matlab = strstr(file, ".mat") != NULL;
    snprintf(what, sizeof what, "%s:%s", file, key);
    kspec_status st = ks_hdf5_read(fixture(file), key, matlab, what, &a, &err);
    CHECK_MSG(st == KSPEC_OK, "%s", err.msg);
    if (st) return;
    check_array(&a, what, ndim, shape, kind);
    ks_array_free(&a);
    CHECK(a.data == NULL && a.storage.map == NULL);
}

static const size_t shape2[] = {4, 3}, shape3[] = {4, 3, 2};

TEST(every_number_type) {
    static const char *const types[] = {"i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8"};
    for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
        char key[16];
        snprintf(key, sizeof key, "%s_le", types[t]);
        check_file("types.h5", key, 2, shape2, types[t][0]);
        snprintf(key, sizeof key, "/%s_be", types[t]);
        check_file("types.h5", key, 2, shape2, types[t][0]);
        if (strcmp(types[t], "f2") == 0) continue;
        check_file("v5.mat", types[t], 2, shape2, types[t][0]);
        check_file("v7.mat", types[t], 2, shape2, types[t][0]);
        check_file("v73.mat", types[t], 2, shape2, types[t][0]);
    }
    check_file("types.h5", "bool", 2, shape2, 'b');
    check_file("types.h5", "long", 2, shape2, 'f');
}

TEST(every_layout) {
    static const char *const keys[] = {"contiguous", "chunked",  "gzip",      "szip",
                                       "compact",    "a/b/deep", "/a/b/deep", "soft"};
    for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) check_file("layouts.h5", keys[k], 2, shape2, 'f');
    check_file("layouts.h5", "resizable", 2, shape2, 'i');
    check_file("layouts.h5", "line", 1, shape2, 'f');
    check_file("layouts.h5", "cube", 3, shape3, 'f');
    check_file("layouts.h5", "gzip_f4", 3, shape3, 'f');
}

TEST(the_only_one_needs_no_name) {
    check_file("single.h5", "", 2, shape2, 'f');
    check_file("userblock.h5", "", 2, shape2, 'f');
    check_file("single_v5.mat", "", 2, shape2, 'f');
    check_file("single_v7.mat", "", 2, (size_t[]){40, 30}, 'f');
}

TEST(matlab_orientation) {
    static const char *const files[] = {"v5.mat", "v7.mat", "v73.mat"};
    for (int f = 0; f < 3; f++) {
        check_file(files[f], "logical", 2, shape2, 'b');
        check_file(files[f], "cube", 3, shape3, 'f');
        check_file(files[f], "row", 2, (size_t[]){1, 4}, 'f');
        check_file(files[f], "/f8", 2, shape2, 'f');
    }
    for (int f = 0; f < 2; f++) {
        check_file(files[f], "whole", 2, shape2, 'i');
        check_file(files[f], "scalar", 2, (size_t[]){1, 1}, 'f');
    }
    check_file("v73.mat", "struct/x", 2, shape2, 'f');
    check_file("v73.mat", "struct.x", 2, shape2, 'f');
}

TEST(what_cannot_be_read_is_named) {
    static const char *const cases[][3] = {
        {"unfit.h5", "complex", "x: complex is complex; real numbers are read"},
        {"unfit.h5", "/text", "x: /text is text, not numbers"},
        {"unfit.h5", "record", "table of records"},
        {"unfit.h5", "scalar", "single number"},
        {"unfit.h5", "four", "has 4 axes; 1 to 3 are read"},
        {"unfit.h5", "empty", "is empty"},
        {"unfit.h5", "null", "is empty"},
        {"unfit.h5", "reference", "references"},
        {"unfit.h5", "varying", "varying length"},
        {"unfit.h5", "labels", "enumeration"},
        {"unfit.h5", "opaque", "opaque"},
        {"unfit.h5", "arrays", "arrays as entries"},
        {"unfit.h5", "lzf", "filter 32000 (lzf), which this HDF5 library lacks"},
        {"unfit.h5", "elsewhere", "values in other files"},
        {"unfit.h5", "virtual", "virtual data set"},
        {"unfit.h5", "link", "cannot be opened"},
        {"unfit.h5", "dangling", "cannot be opened"},
        {"unfit.h5", "type", "is a named type"},
        {"unfit.h5", "", "holds no numeric data set of 1 to 3 axes: /arrays has arrays as entries"},
        {"only_complex.h5", "", "holds no numeric data set of 1 to 3 axes: /z is complex"},
        {"nothing.h5", "", "holds no numeric data set of 1 to 3 axes"},
        {"nothing.h5", "g", "g is a group, and there is no numeric data set"},
        {"bad_chunk.h5", "x", "x cannot be read: "}, /* and HDF5's own words, which differ by version */
        {"huge.h5", "x", "too large for the address space"},
        {"layouts.h5", "",
         "holds 10 data sets, name one after a colon: /a/b/deep (4 x 3), /chunked (4 x 3), "},
        {"layouts.h5", "a", "a is a group; data sets: a/b/deep (4 x 3)"},
        {"layouts.h5", "/", "/ is a group; data sets: /a/b/deep (4 x 3), /chunked"},
        {"layouts.h5", "no/such", "no/such is not there; data sets: /a/b/deep (4 x 3), "},
        {"many.h5", "", "holds 40 data sets, name one after a colon: /quite a long name 00 (1), "},
        {"many.h5", "", ", ..."},
        {"v73.mat", "text", "text is a MATLAB char array"},
        {"v73.mat", "struct", "struct is a MATLAB struct; data sets: struct.x (4 x 3)"},
        {"single_v73.mat", "", "holds 2 data sets, name one after a colon: s (3 x 3), x (4 x 3)"},
        {"v73.mat", "complex", "is complex"},
        {"v73.mat", "empty", "is empty"},
        {"v73.mat", "", "cube (4 x 3 x 2), f4 (4 x 3)"},
        {"v73.mat", "nope", "nope is not there; data sets: cell (2 x 2), cube (4 x 3 x 2)"},
        {"v5.mat", "text", "text is a MATLAB char array"},
        {"v5.mat", "cell", "cell is a MATLAB cell array"},
        {"v5.mat", "struct", "struct is a MATLAB struct; variables: struct.x (1 x 2)"},
        {"v5.mat", "complex", "is complex"},
        {"v5.mat", "empty", "is empty"},
        {"v7.mat", "four", "has 4 axes; 1 to 3 are read"},
        {"v7.mat", "", "holds 17 variables, name one after a colon: i1 (4 x 3), i2"},
        {"v7.mat", "nope", "nope is not there; variables: i1 (4 x 3)"},
        {"v4.mat", "x", "x: is not a MATLAB file of version 5 or later"},
        {"make_hdf5.py", "x", "cannot open: No such file or directory"},
        {"../make_hdf5.py", "x", "cannot be opened as HDF5: "},
        {"..", "x", "is not a regular file"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        ks_array a;
        kspec_error err = {0};
        int matlab = strstr(cases[k][0], ".mat") != NULL;
        CHECK_FAILS(ks_hdf5_read(fixture(cases[k][0]), cases[k][1], matlab, "x", &a, &err), KSPEC_E_IO, err,
                    cases[k][2]);
        CHECK(a.data == NULL && a.storage.map == NULL && a.ndim == 0);
    }
    ks_array a;
    kspec_error err = {0};
    CHECK_FAILS(ks_hdf5_read(fixture("huge.h5"), "y", 0, "x", &a, &err), KSPEC_E_NOMEM, err,
                "needs 17592186.0 MB");
    CHECK_FAILS(ks_hdf5_read(fixture("../make_hdf5.py"), "y", 1, "x", &a, &err), KSPEC_E_IO, err,
                "MATLAB file");
    CHECK(ks_hdf5_read(fixture("nothing.h5"), "", 0, "x", &a, NULL) == KSPEC_E_IO);
}

static void check_match(const char *file, int hdf5, int mat) {
    ks_bytes b;
    kspec_error err = {0};
    CHECK_MSG(ks_bytes_open(&b, fixture(file), &err) == KSPEC_OK, "%s", err.msg);
    CHECK_MSG(ks_hdf5_match(&b) == hdf5, "%s", file);
    CHECK_MSG(ks_mat_match(&b) == mat, "%s", file);
    ks_bytes_close(&b);
}

TEST(formats_are_told_by_content) {
    check_match("single.h5", 1, 0);
    check_match("userblock.h5", 1, 0);
    check_match("v73.mat", 1, 0);
    check_match("v5.mat", 0, 1);
    check_match("v7.mat", 0, 1);
    check_match("v4.mat", 0, 0);
    check_match("../make_hdf5.py", 0, 0);
    static const unsigned char big[128] = "MATLAB 5.0";
    unsigned char buffer[128];
    memcpy(buffer, big, 128);
    memcpy(buffer + 124, "\1\0MI", 4); /* written on a big-endian machine */
    for (size_t n = 0; n <= 128; n++) {
        CHECK(ks_mat_match(&(ks_bytes){.data = buffer, .size = n}) == (n == 128));
        CHECK(!ks_hdf5_match(&(ks_bytes){.data = buffer, .size = n}));
    }
    memcpy(buffer + 124, "\0\2IM", 4);
    CHECK(!ks_mat_match(&(ks_bytes){.data = buffer, .size = 128}));
    CHECK(!ks_hdf5_match(&(ks_bytes){0}));
}

/* --------------------------------------------------------------------- a reader that does not do its duty */

static char folder[] = "/tmp/kspec-hdf5-XXXXXX";

static void write_file(const char *name, const void *data, size_t size, mode_t mode) {
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, mode);
    CHECK(fd >= 0 && write(fd, data, size) == (ssize_t)size);
    close(fd);
}

static void fake_reader(const char *script) {
    char text[512];
    int n = snprintf(text, sizeof text, "#!/bin/sh\ncd %s\n%s\n", folder, script);
    write_file(KS_CHILD_PROGRAM, text, (size_t)n, 0700);
    setenv("KSPEC_LIBEXEC", folder, 1);
}

static size_t open_files(void) {
    size_t n = 0;
    DIR *d = opendir("/proc/self/fd");
    while (d && readdir(d)) n++;
    if (d) closedir(d);
    return n;
}

static void check_fake(const char *script, kspec_status want, const char *text) {
    ks_array a;
    kspec_error err = {0};
    size_t before = open_files();
    fake_reader(script);
    CHECK_FAILS(ks_hdf5_read("f.h5", "", 0, "f.h5", &a, &err), want, err, text);
    CHECK(strncmp(err.msg, "f.h5: ", 6) == 0);
    CHECK(a.data == NULL && a.storage.map == NULL);
    CHECK_MSG(open_files() == before, "%zu, then %zu", before, open_files());
    CHECK(waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD);
}

/* The fake reader answers with this header, in a file of `size` bytes. */
static void check_answer(const ks_child_header *h, size_t size, kspec_status want, const char *text) {
    char script[128];
    write_file("header", h, sizeof *h, 0600);
    snprintf(script, sizeof script, "cat header >&3; truncate -s %zu /proc/self/fd/3", size);
    check_fake(script, want, text);
}

TEST(a_reader_that_crashes_or_lies) {
    check_fake("exit 0", KSPEC_E_IO, "the HDF5 reader ended without an answer");
    check_fake("exit 7", KSPEC_E_IO, "the HDF5 reader crashed (exit status 7): the file is damaged");
    check_fake("kill -SEGV $$", KSPEC_E_IO, "the HDF5 reader crashed (signal 11): the file is damaged");
    check_fake("kill -ABRT $$", KSPEC_E_IO, "crashed (signal 6)");
    check_fake("kill -KILL $$", KSPEC_E_IO, "killed (signal 9), perhaps because memory was short");
    check_fake("kill -XCPU $$", KSPEC_E_IO, "limit on processor time");
    check_fake("head -c 100000 /dev/urandom >&3", KSPEC_E_IO, "another version");
    check_fake("truncate -s 0 /proc/self/fd/3", KSPEC_E_IO, "without an answer");
    check_fake("[ $# = 3 ] && [ \"$1:$2:$3\" = f.h5::hdf5 ] || exit 9; read x && exit 8; exit 6", KSPEC_E_IO,
               "status 6");

    ks_child_header good = {
        .magic = KS_CHILD_MAGIC, .version = 1, .status = KS_CHILD_DONE, .ndim = 2, .shape = {4, 3}};
    ks_child_header h = good;
    h.version = 2;
    check_answer(&h, 4192, KSPEC_E_IO, "another version");
    h = good;
    h.status = 17;
    check_answer(&h, 4192, KSPEC_E_IO, "answer is inconsistent");
    h.status = KS_CHILD_UNFINISHED;
    check_answer(&h, 4192, KSPEC_E_IO, "answer is inconsistent");
    for (uint32_t ndim = 0; ndim < 9; ndim += 4) {
        h = good;
        h.ndim = ndim;
        check_answer(&h, 4192, KSPEC_E_IO, "answer is inconsistent");
    }
    h = good;
    h.column_major = 2;
    check_answer(&h, 4192, KSPEC_E_IO, "answer is inconsistent");
    check_answer(&good, 4191, KSPEC_E_IO, "answer is inconsistent"); /* 4096 + 4*3*8 would be right */
    check_answer(&good, 4193, KSPEC_E_IO, "answer is inconsistent");
    static const uint64_t shapes[][2] = {{UINT64_MAX, UINT64_MAX},
                                         {UINT64_C(1) << 61, 1},
                                         {UINT64_C(1) << 32, UINT64_C(1) << 29},
                                         {UINT64_C(1) << 60, 16},
                                         {0, 3},
                                         {4, 0},
                                         {UINT64_C(1) << 40, 8}};
    for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++) {
        h = good;
        memcpy(h.shape, shapes[k], sizeof shapes[k]);
        check_answer(&h, 4192, KSPEC_E_IO, "answer is inconsistent");
        check_answer(&h, 4096, KSPEC_E_IO, "answer is inconsistent");
    }

    h = (ks_child_header){.magic = KS_CHILD_MAGIC, .version = 1, .status = KS_CHILD_UNFIT};
    memset(h.message, 'x', sizeof h.message); /* no end */
    memcpy(h.message, "a\nb\033[1mc\177", 9);
    check_answer(&h, 4096, KSPEC_E_IO, "f.h5: a?b?[1mc?xxx");
    h.status = KS_CHILD_NOMEM;
    check_answer(&h, 4096, KSPEC_E_NOMEM, "f.h5: a?b?[1mc?xxx");

    /* and the right answer is taken: zeros */
    ks_array a;
    kspec_error err = {0};
    write_file("header", &good, sizeof good, 0600);
    fake_reader("cat header >&3; truncate -s 4192 /proc/self/fd/3; echo noise; echo noise >&2");
    CHECK_MSG(ks_hdf5_read("f.h5", "", 0, "f.h5", &a, &err) == KSPEC_OK, "%s", err.msg);
    CHECK(a.ndim == 2 && a.shape[0] == 4 && a.shape[1] == 3 && a.stride[0] == 3 && a.stride[1] == 1);
    for (int i = 0; a.data && i < 12; i++) CHECK(a.data[i] == 0);
    ks_array_free(&a);
}

TEST(a_reader_that_hangs) {
    setenv("KSPEC_READER_TIMEOUT", "0.3", 1);
    check_fake("exec sleep 100", KSPEC_E_IO, "the HDF5 reader made no progress for 0.3 s and was stopped");
    check_fake("kill -STOP $$", KSPEC_E_IO, "made no progress");
    /* 0.6 s with progress in between is not a hang */
    check_fake("for i in 1 2 3 4 5 6; do sleep 0.1; head -c 8192 /dev/zero >&3; done; exit 5", KSPEC_E_IO,
               "status 5");
    static const char *const bad[] = {"0", "-1", "soon", "nan", "1x"};
    for (int k = 0; k < 5; k++) {
        ks_array a;
        kspec_error err = {0};
        setenv("KSPEC_READER_TIMEOUT", bad[k], 1);
        CHECK_FAILS(ks_hdf5_read("f", "", 0, "f", &a, &err), KSPEC_E_ARG, err, bad[k]);
    }
    unsetenv("KSPEC_READER_TIMEOUT");
}

/* In a program that has set a locale with a decimal comma, 1.5 seconds are 1.5 seconds. */
TEST(the_timeout_does_not_depend_on_the_locale) {
    int set = set_comma_locale();
    setenv("KSPEC_READER_TIMEOUT", "1.5", 1);
    unsetenv("KSPEC_LIBEXEC");
    check_file("single.h5", "", 2, shape2, 'f');
    setenv("KSPEC_READER_TIMEOUT", "1,5", 1);
    ks_array a;
    kspec_error err = {0};
    CHECK_FAILS(ks_hdf5_read("f", "", 0, "f", &a, &err), KSPEC_E_ARG, err, "1,5 is not a positive number");
    unsetenv("KSPEC_READER_TIMEOUT");
    setlocale(LC_ALL, "C");
    if (!set) SKIP(NO_COMMA_LOCALE);
}

TEST(a_reader_that_is_not_there) {
    ks_array a;
    kspec_error err = {0};
    setenv("KSPEC_LIBEXEC", "/nonexistent", 1);
    CHECK_FAILS(ks_hdf5_read("f", "", 0, "f", &a, &err), KSPEC_E_IO, err,
                "no program kspec-hdf5 in KSPEC_LIBEXEC=/nonexistent");
    setenv("KSPEC_LIBEXEC", folder, 1);
    write_file(KS_CHILD_PROGRAM, "\177ELF not really", 15, 0700);
    CHECK_FAILS(ks_hdf5_read("f", "", 0, "f", &a, &err), KSPEC_E_IO, err, "cannot run /tmp/kspec-hdf5-");
    unsetenv("KSPEC_LIBEXEC");
}

/* matio would fill the gaps with zeros and pass over the checksum */
TEST(matlab_files_must_be_whole) {
    unsigned char data[4096];
    char path[256];
    ks_array a;
    kspec_error err = {0};
    snprintf(path, sizeof path, "%s/damaged.mat", folder);
    for (int compressed = 0; compressed < 2; compressed++) {
        FILE *f = fopen(fixture(compressed ? "single_v7.mat" : "single_v5.mat"), "rb");
        size_t n = f ? fread(data, 1, sizeof data, f) : 0;
        if (f) fclose(f);
        CHECK(n > 200 && n < sizeof data);
        for (size_t left = 129; left < n; left += 1 + n / 25) {
            write_file("damaged.mat", data, left, 0600);
            kspec_status st = ks_hdf5_read(path, "x", 1, "x", &a, &err);
            CHECK_MSG(st == KSPEC_E_IO && strstr(err.msg, "x: is cut short after "), "%zu bytes: %s", left,
                      err.msg);
            if (!st) ks_array_free(&a);
        }
        if (!compressed) continue;
        data[n - 1] ^= 1; /* the checksum */
        write_file("damaged.mat", data, n, 0600);
        CHECK_FAILS(ks_hdf5_read(path, "x", 1, "x", &a, &err), KSPEC_E_IO, err,
                    "does not inflate to its checksum");
    }
}

/* -------------------------------------------------------------------------------- awkward circumstances */

static void on_alarm(int sig) { (void)sig; }

TEST(signals_and_closed_descriptors) {
    /* a timer that interrupts every system call */
    struct sigaction act = {.sa_handler = on_alarm}, old;
    sigaction(SIGALRM, &act, &old);
    setitimer(ITIMER_REAL, &(struct itimerval){{0, 500}, {0, 500}}, NULL);
    for (int k = 0; k < 5; k++) check_file("single.h5", "", 2, shape2, 'f');
    setitimer(ITIMER_REAL, &(struct itimerval){{0, 0}, {0, 0}}, NULL);
    sigaction(SIGALRM, &old, NULL);

    /* a caller that is not told of its children, or masks everything */
    signal(SIGCHLD, SIG_IGN);
    check_file("single.h5", "", 2, shape2, 'f');
    signal(SIGCHLD, SIG_DFL);
    sigset_t all, before;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before);
    check_file("single.h5", "", 2, shape2, 'f');
    sigprocmask(SIG_SETMASK, &before, NULL);

    /* the memory file becomes descriptor 0, then (0 taken) whatever comes */
    int saved = fcntl(0, F_DUPFD_CLOEXEC, 100);
    if (saved < 0) SKIP("no standard input to close");
    close(0);
    check_file("single.h5", "", 2, shape2, 'f');
    dup2(saved, 0);
    close(saved);
}

static void *no_alloc(void *ctx, size_t size, size_t align) {
    (void)size, (void)align;
    ++*(int *)ctx;
    return NULL;
}
static void no_release(void *ctx, void *ptr) { (void)ctx, (void)ptr; }

TEST(no_memory_of_ours_is_needed) {
    int count = 0;
    kspec_set_allocator(&(kspec_allocator){no_alloc, no_release, &count});
    check_file("single.h5", "", 2, shape2, 'f');
    check_file("v7.mat", "f8", 2, shape2, 'f');
    kspec_set_allocator(NULL);
    CHECK(count == 0);
}

int main(void) {
    unsetenv("KSPEC_LIBEXEC");
    if (!mkdtemp(folder)) return 1;
    RUN(every_number_type);
    RUN(every_layout);
    RUN(the_only_one_needs_no_name);
    RUN(matlab_orientation);
    RUN(what_cannot_be_read_is_named);
    RUN(formats_are_told_by_content);
    RUN(a_reader_that_crashes_or_lies);
    RUN(a_reader_that_hangs);
    RUN(the_timeout_does_not_depend_on_the_locale);
    RUN(a_reader_that_is_not_there);
    RUN(matlab_files_must_be_whole);
    RUN(signals_and_closed_descriptors);
    RUN(no_memory_of_ours_is_needed);
    char command[64];
    snprintf(command, sizeof command, "rm -r %s", folder);
    CHECK(system(command) == 0);
    return test_done();
}
