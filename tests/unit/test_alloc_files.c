/* Allocations that fail: reading and writing files. */
#include "help/alloc_attempts.h"
#include "kspec/host.h"

#include <unistd.h>

typedef struct {
    const char *inputs[2];
    kspec_read_opts opts;
} read_case;

static kspec_status read_files(const void *ctx, kspec_error *err) {
    const read_case *c = ctx;
    kspec_dataset *d = (kspec_dataset *)(uintptr_t)1;
    kspec_status st = kspec_read(c->inputs, c->inputs[1] ? 2 : 1, &c->opts, &d, err);
    if (st)
        CHECK_MSG(d == NULL, "a failure leaves a data set");
    else
        CHECK(d->rows > 0 && d->cols > 0);
    kspec_free(d);
    return st;
}

#define BINARY TEST_SOURCE_DIR "/tests/fixtures/binary/"
#define HDF5   TEST_SOURCE_DIR "/tests/fixtures/hdf5/"

TEST(reading) {
    static char text[] = "/tmp/kspec-alloc-XXXXXX";
    FILE *f = fdopen(mkstemp(text), "w");
    fputs("one,two,three\n1,2,3\n4,nan,6\n7,8,9\n", f);
    fclose(f);
    const size_t size = sizeof(kspec_read_opts);
    const read_case cases[] = {
        {{BINARY "v1.npy"}, {size}},
        {{BINARY "v1.npy", BINARY "v2.npy"}, {size}},
        {{BINARY "fortran.npy"}, {size, .select_rows = "0-1", .select_cols = "1,0"}},
        {{BINARY "swapped.npy"}, {size}},
        {{BINARY "three.npz:a"}, {size}},
        {{BINARY "one.npz"}, {size}},
        {{BINARY "csr.npz"}, {size}},
        {{BINARY "text.gz"}, {size}},
        {{BINARY "u1-idx3.gz"}, {size}},
        {{BINARY "f8-idx2"}, {size, .axes = "cols,rows"}},
        {{HDF5 "single.h5"}, {size}},
        {{HDF5 "single_v7.mat"}, {size}},
        {{text}, {size, .nan = KSPEC_NAN_OMIT_ROWS}},
        {{text}, {size, .nan = KSPEC_NAN_OMIT_COLS}},
        {{text}, {size, .nan = KSPEC_NAN_KEEP}},
        {{text, text}, {size, .select_cols = "three,one"}},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        kspec_error err; /* memory apart, the case is sound */
        CHECK_MSG(read_files(&cases[k], &err) == KSPEC_OK, "%s: %s", cases[k].inputs[0], err.msg);
        until_it_succeeds(read_files, &cases[k], 1, cases[k].inputs[0]);
    }
    unlink(text);
}

static kspec_status write_array(const void *ctx, kspec_error *err) {
    const char *path = ctx;
    const size_t shape[2] = {2, 3};
    const double values[6] = {1, 2, 3, 4, 5, 0.1};
    kspec_writer *w = (kspec_writer *)(uintptr_t)1;
    kspec_status st = kspec_write_open(path, 2, shape, &w, err);
    if (st) {
        CHECK(w == NULL && access(path, F_OK) != 0);
        return st;
    }
    st = kspec_write_values(w, values, 6, err);
    if (st)
        kspec_write_abort(w);
    else
        st = kspec_write_close(w, err);
    if (!st) CHECK(unlink(path) == 0);
    return st;
}

static kspec_status write_text(const void *ctx, kspec_error *err) {
    kspec_status st = kspec_write_text(ctx, "text\n", 5, err);
    CHECK((unlink(ctx) == 0) == (st == KSPEC_OK));
    return st;
}

TEST(writing) {
    char dir[] = "/tmp/kspec-alloc-XXXXXX", path[64];
    CHECK(mkdtemp(dir) != NULL);
    const char *const names[] = {"x.npy", "x.csv", "x.json"};
    for (int k = 0; k < 3; k++) {
        snprintf(path, sizeof path, "%s/%s", dir, names[k]);
        until_it_succeeds(write_array, path, 1, names[k]);
    }
    until_it_succeeds(write_text, path, 0, "text");
    CHECK_MSG(rmdir(dir) == 0, "a file is left in %s", dir);
}

int main(void) {
    RUN(reading);
    RUN(writing);
    return test_done();
}
