/*
 * kspec_read(): every rule with its message, and random arrays in every memory order, with random axes,
 * selections and gaps, against a slow reading of the same rules.
 */
#include "failing_alloc.h"
#include "io/array.h"
#include "test.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

static kspec_error err;
static char folder[] = "/tmp/kspec-test-read-XXXXXX";

/* The path of a file in the test's folder; good for the next 31 calls. */
static const char *path(const char *name) {
    static char room[32][256];
    static int next;
    char *p = room[next++ % 32];
    snprintf(p, sizeof room[0], "%s/%s", folder, name);
    return p;
}

static const char *fixture(const char *name) {
    static char p[4096];
    snprintf(p, sizeof p, "%s/tests/fixtures/%s", TEST_SOURCE_DIR, name);
    return p;
}

static const char *put_bytes(const char *name, const void *head, size_t head_size, const void *body,
                             size_t size) {
    FILE *f = fopen(path(name), "wb");
    fwrite(head, 1, head_size, f);
    fwrite(body, 1, size, f);
    fclose(f);
    return path(name);
}

static const char *put_text(const char *name, const char *text) {
    return put_bytes(name, text, strlen(text), "", 0);
}

static const char *put_npy(const char *name, int ndim, const size_t *shape, int fortran, const double *x) {
    char head[128], dims[64] = "";
    size_t count = 1;
    for (int d = 0; d < ndim; d++) {
        sprintf(dims + strlen(dims), "%zu,", shape[d]);
        count *= shape[d];
    }
    memset(head, ' ', sizeof head);
    memcpy(head, "\x93NUMPY\1\0\x76\0", 10);
    int n = sprintf(head + 10, "{'descr': '<f8', 'fortran_order': %s, 'shape': (%s), }",
                    fortran ? "True" : "False", dims);
    head[10 + n] = ' ';
    head[127] = '\n';
    return put_bytes(name, head, sizeof head, x, count * sizeof *x);
}

/* An array of 0, 1, 2, ... */
static const char *put_counting(const char *name, int ndim, size_t a, size_t b, size_t c) {
    static double x[10000];
    for (int i = 0; i < 10000; i++) x[i] = i;
    return put_npy(name, ndim, (size_t[]){a, b, c}, 0, x);
}

static kspec_status read_one(const char *input, const kspec_read_opts *opts, kspec_dataset *d) {
    err.msg[0] = 0;
    kspec_status st = kspec_read(&input, 1, opts, d, &err);
    kspec_dataset empty = {0};
    if (st) CHECK_MSG(memcmp(d, &empty, sizeof empty) == 0, "a failure leaves the data set empty");
    return st;
}

#define OPTS(...) (&(kspec_read_opts){.size = sizeof(kspec_read_opts), __VA_ARGS__})
#define REFUSES(input, opts, code, text)                               \
    do {                                                               \
        kspec_dataset refused;                                         \
        CHECK_FAILS(read_one(input, opts, &refused), code, err, text); \
    } while (0)

static void check_data(int line, const kspec_dataset *d, size_t trials, size_t rows, size_t cols,
                       const double *want) {
    CHECK_MSG(d->trials == trials && d->rows == rows && d->cols == cols, "line %d: %zu x %zu x %zu", line,
              d->trials, d->rows, d->cols);
    if (d->trials != trials || d->rows != rows || d->cols != cols) return;
    for (size_t k = 0; k < trials * rows * cols; k++)
        CHECK_MSG(d->data[k] == want[k] || (isnan(d->data[k]) && isnan(want[k])),
                  "line %d: entry %zu is %g, not %g", line, k, d->data[k], want[k]);
}

static void check_reads(int line, const char *input, const kspec_read_opts *opts, size_t trials, size_t rows,
                        size_t cols, const double *want) {
    kspec_dataset d;
    kspec_status st = read_one(input, opts, &d);
    CHECK_MSG(st == KSPEC_OK && err.code == KSPEC_OK, "line %d: %s", line, err.msg);
    if (!st) check_data(line, &d, trials, rows, cols, want);
    kspec_dataset_free(&d);
}

#define READS(input, opts, t, r, c, ...) \
    check_reads(__LINE__, input, opts, t, r, c, (const double[]){__VA_ARGS__})

/* ------------------------------------------------------------------ formats */

static kspec_status from_stdin(const char *file, const kspec_read_opts *opts, kspec_dataset *d) {
    int saved = dup(0), fd = open(file, O_RDONLY);
    dup2(fd, 0);
    close(fd);
    kspec_status st = read_one("-", opts, d);
    dup2(saved, 0);
    close(saved);
    return st;
}

TEST(formats_are_told_by_content) {
    const double v = 0.25 - 20; /* the HDF5 fixtures are 17 i + 5 j + k - 19.75 */
    READS(put_text("a.npy", "1,2\n3,4\n"), NULL, 1, 2, 2, 1, 2, 3, 4); /* the suffix says nothing */
    READS(put_counting("a.csv", 2, 2, 2, 0), NULL, 1, 2, 2, 0, 1, 2, 3);
    READS(fixture("binary/one.npz"), OPTS(.select_rows = "0", .select_cols = "0"), 1, 1, 1, -50. / 8);
    READS(fixture("binary/f8-idx2.gz"), OPTS(.select_rows = "0", .select_cols = "0-1"), 1, 1, 2, -50. / 8,
          -13. / 8);
    READS(fixture("hdf5/single.h5"), OPTS(.select_rows = "1"), 1, 1, 3, v + 17, v + 22, v + 27);
    READS(fixture("hdf5/layouts.h5:/a/b/deep"), OPTS(.select_rows = "2,1", .select_cols = "2"), 1, 2, 1,
          v + 44, v + 27);
    READS(fixture("hdf5/v5.mat:f8"), OPTS(.select_rows = "1"), 1, 1, 3, v + 17, v + 22, v + 27);
    READS(fixture("hdf5/v73.mat:f8"), OPTS(.select_rows = "1"), 1, 1, 3, v + 17, v + 22, v + 27);
    READS(fixture("hdf5/v73.mat:cube"), OPTS(.select_rows = "1", .axes = "rows,cols,trials"), 2, 1, 3, v + 17,
          v + 22, v + 27, v + 18, v + 23, v + 28);
    REFUSES(fixture("hdf5/v5.mat:nothing"), NULL, KSPEC_E_IO, "nothing");
    REFUSES(path("absent.npy"), NULL, KSPEC_E_IO, "cannot open");
    REFUSES(path("absent.npz:key"), NULL, KSPEC_E_IO, "absent.npz:key");
    REFUSES(folder, NULL, KSPEC_E_IO, "cannot read");
    REFUSES(put_bytes("zero", "1,2\n\0", 5, "", 0), NULL, KSPEC_E_IO, "is not text (byte 0x00 at offset 4)");
    REFUSES(put_text("empty", ""), NULL, KSPEC_E_IO, "is empty");
}

TEST(keys) {
    put_counting("x.npy", 2, 2, 2, 0);
    put_text("x.csv", "5\n");
    put_text("odd:name.csv", "1\n");
    put_text("odd", "2\n");
    REFUSES(path("x.npy:key"), NULL, KSPEC_E_ARG,
            "x.npy is an npy file, which has no named arrays; leave out ':key'");
    REFUSES(path("x.csv:key"), NULL, KSPEC_E_ARG, "x.csv is a text file, which has no named arrays");
    REFUSES(fixture("binary/u1-idx1:key"), NULL, KSPEC_E_ARG, "is an idx file, which has no named arrays");
    REFUSES(path("x.npy:"), NULL, KSPEC_E_ARG, "nothing follows the colon");
    READS(path("odd:name.csv"), NULL, 1, 1, 1, 1); /* a colon may be part of the name */
    REFUSES(path("odd:other"), NULL, KSPEC_E_ARG, "no named arrays; leave out ':other'");
    REFUSES(fixture("binary/one.npz:nothing"), NULL, KSPEC_E_IO, "nothing");
    REFUSES(fixture("binary/one.npz:a:b"), NULL, KSPEC_E_IO, "'a:b'"); /* so may it of the key's */
}

TEST(standard_input) {
    kspec_dataset d;
    CHECK_MSG(from_stdin(put_text("in", "a b\n1 2\n"), NULL, &d) == KSPEC_OK, "%s", err.msg);
    CHECK(d.rows == 1 && d.cols == 2 && d.data[1] == 2 && strcmp(d.col_names[1], "b") == 0);
    kspec_dataset_free(&d);
    CHECK(from_stdin(put_counting("in", 3, 2, 3, 2), NULL, &d) == KSPEC_OK && d.trials == 2);
    kspec_dataset_free(&d);
    CHECK_FAILS(from_stdin(put_text("in", "1\nx\n"), NULL, &d), KSPEC_E_IO, err,
                "standard input: line 2, column 0: 'x'");
    CHECK_FAILS(from_stdin(fixture("hdf5/single.h5"), NULL, &d), KSPEC_E_IO, err,
                "standard input is an HDF5 file, which kspec reads from files only");
    CHECK_FAILS(from_stdin(fixture("hdf5/v5.mat"), NULL, &d), KSPEC_E_IO, err,
                "standard input is a MATLAB file");
    const char *twice[] = {"-", "-"};
    CHECK_FAILS(kspec_read(twice, 2, NULL, &d, &err), KSPEC_E_ARG, err, "standard input (-) is given twice");
}

TEST(arguments) {
    kspec_dataset d;
    const char *none = NULL, *blank = "";
    CHECK_FAILS(kspec_read(NULL, 1, NULL, &d, &err), KSPEC_E_ARG, err, "no input given");
    CHECK_FAILS(kspec_read(&none, 0, NULL, &d, &err), KSPEC_E_ARG, err, "no input given");
    CHECK_FAILS(kspec_read(&none, 1, NULL, &d, &err), KSPEC_E_ARG, err, "input 1 has no name");
    CHECK_FAILS(kspec_read(&blank, 1, NULL, &d, &err), KSPEC_E_ARG, err, "input 1 has no name");
    CHECK_FAILS(kspec_read(&blank, 1, NULL, NULL, &err), KSPEC_E_ARG, err, "no place");
    REFUSES("x", OPTS(.nan = (kspec_nan_policy)5), KSPEC_E_ARG,
            "missing-value policy 5 is not one of 0 to 4");
    REFUSES("x", &(kspec_read_opts){.size = 0}, KSPEC_E_ARG, "size field is 0");
    CHECK(kspec_read(&blank, 1, NULL, &d, NULL) == KSPEC_E_ARG);
    kspec_dataset_free(&d);
    kspec_dataset_free(NULL);
}

/* --------------------------------------------------------------------- axes */

TEST(axes_are_named) {
    put_counting("one", 1, 3, 0, 0);
    put_counting("two", 2, 2, 3, 0);
    put_counting("three", 3, 2, 3, 2);
    READS(path("one"), NULL, 1, 3, 1, 0, 1, 2);
    READS(path("one"), OPTS(.axes = "cols"), 1, 1, 3, 0, 1, 2);
    READS(path("two"), NULL, 1, 2, 3, 0, 1, 2, 3, 4, 5);
    READS(path("two"), OPTS(.axes = "rows,cols"), 1, 2, 3, 0, 1, 2, 3, 4, 5);
    READS(path("two"), OPTS(.axes = "cols,rows"), 1, 3, 2, 0, 3, 1, 4, 2, 5);
    READS(path("two"), OPTS(.axes = "cols,rows", .select_rows = "2", .select_cols = "1,0"), 1, 1, 2, 5, 2);
    READS(path("three"), NULL, 2, 3, 2, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11);
    READS(path("three"), OPTS(.axes = "cols,rows,trials"), 2, 3, 2, 0, 6, 2, 8, 4, 10, 1, 7, 3, 9, 5, 11);
    READS(path("three"), OPTS(.axes = "rows,cols,trials", .select_cols = "2"), 2, 2, 1, 4, 10, 5, 11);
    put_text("t.csv", "a,b,c\n1,2,3\n4,5,6\n");
    READS(path("t.csv"), OPTS(.axes = "cols,rows"), 1, 3, 2, 1, 4, 2, 5, 3, 6);
    READS(path("t.csv"), OPTS(.axes = "cols,rows", .select_rows = "c,a", .select_cols = "1"), 1, 2, 1, 6, 4);
    REFUSES(path("t.csv"), OPTS(.axes = "cols,rows", .select_cols = "2"), KSPEC_E_ARG,
            "column 2 is out of range");
    kspec_dataset d;
    CHECK(read_one(path("t.csv"), OPTS(.axes = "cols,rows"), &d) == KSPEC_OK && !d.col_names &&
          d.array_dims == 2);
    kspec_dataset_free(&d);
    CHECK(read_one(path("three"), OPTS(.axes = "cols,rows,trials"), &d) == KSPEC_OK && d.array_dims == 3);
    kspec_matrix m = kspec_dataset_trial(&d, 1);
    CHECK(m.data == d.data + 6 && m.rows == 3 && m.cols == 2 && m.row_stride == 2 && m.col_stride == 1);
    kspec_dataset_free(&d);
    CHECK(read_one(path("one"), NULL, &d) == KSPEC_OK && d.array_dims == 1);
    kspec_dataset_free(&d);

    REFUSES(path("two"), OPTS(.axes = "rows,columns"), KSPEC_E_ARG,
            "axes 'rows,columns': 'columns' is not one of trials, rows, cols");
    REFUSES(path("two"), OPTS(.axes = "rows,"), KSPEC_E_ARG, "'' is not one of trials, rows, cols");
    REFUSES(path("two"), OPTS(.axes = ""), KSPEC_E_ARG, "'' is not one of trials, rows, cols");
    REFUSES(path("two"), OPTS(.axes = "rows,rows"), KSPEC_E_ARG, "axes 'rows,rows' names rows twice");
    REFUSES(path("two"), OPTS(.axes = "trials,rows"), KSPEC_E_ARG,
            "axes 'trials,rows': trials are an axis of 3-D arrays");
    REFUSES(path("two"), OPTS(.axes = "trials,rows,cols"), KSPEC_E_ARG, "axes are named for 3 axes");
    REFUSES(path("three"), OPTS(.axes = "rows,cols"), KSPEC_E_ARG, "axes are named for 2 axes");
    REFUSES(path("three"), OPTS(.axes = "rows"), KSPEC_E_ARG, "axes are named for 1 axis");
    put_counting("tall", 3, 4, 3, 2);
    REFUSES(path("tall"), NULL, KSPEC_E_IO, "tall is 4 x 3 x 2");
    CHECK(strstr(err.msg, "more trials than rows") && strstr(err.msg, "--axes cols,rows,trials"));
    CHECK(read_one(path("tall"), OPTS(.axes = "trials,rows,cols"), &d) == KSPEC_OK && d.trials == 4);
    kspec_dataset_free(&d);
    CHECK(read_one(put_counting("square", 3, 3, 3, 2), NULL, &d) == KSPEC_OK && d.trials == 3);
    kspec_dataset_free(&d);
}

TEST(selections) {
    put_counting("two", 2, 3, 4, 0);
    READS(path("two"), OPTS(.select_rows = "2,0", .select_cols = "1-2"), 1, 2, 2, 9, 10, 1, 2);
    REFUSES(path("two"), OPTS(.select_rows = "3"), KSPEC_E_ARG, "two has 3 rows, 0 to 2");
    REFUSES(path("two"), OPTS(.select_cols = "x"), KSPEC_E_ARG, "column 'x' is not a number or a range");
    REFUSES(path("two"), OPTS(.select_rows = "1", .select_cols = ""), KSPEC_E_ARG,
            "column selection is empty");
    kspec_dataset d;
    put_text("t.csv", "a;b;c\n1;2;3\n4;5;6\n");
    CHECK(read_one(path("t.csv"), OPTS(.select_rows = "1", .select_cols = "c,0"), &d) == KSPEC_OK);
    CHECK(d.rows == 1 && d.cols == 2 && d.data[0] == 6 && d.data[1] == 4 &&
          strcmp(d.col_names[0], "c") == 0 && strcmp(d.col_names[1], "a") == 0);
    kspec_dataset_free(&d);
    READS(put_text("inf", "1,inf\n-inf,2\n"), NULL, 1, 2, 2, 1, INFINITY, -INFINITY, 2); /* is a value */
}

/* ------------------------------------------------------------------- trials */

TEST(several_inputs_are_trials) {
    kspec_dataset d;
    const char *three[] = {put_text("a.csv", "1,2\n3,4\n"), put_counting("b.npy", 2, 2, 2, 0),
                           put_text("c.csv", "x y\n5 6\n7 8\n")};
    CHECK(kspec_read(three, 3, NULL, &d, &err) == KSPEC_OK);
    check_data(__LINE__, &d, 3, 2, 2, (const double[]){1, 2, 3, 4, 0, 1, 2, 3, 5, 6, 7, 8});
    CHECK(!d.col_names && d.array_dims == 2);
    kspec_dataset_free(&d);
    CHECK(kspec_read(three, 3, OPTS(.select_cols = "1"), &d, &err) == KSPEC_OK);
    check_data(__LINE__, &d, 3, 2, 1, (const double[]){2, 4, 1, 3, 6, 8});
    kspec_dataset_free(&d);

    const char *mixed[] = {put_counting("d.npy", 3, 2, 2, 2), three[0]};
    CHECK(kspec_read(mixed, 2, NULL, &d, &err) == KSPEC_OK);
    check_data(__LINE__, &d, 3, 2, 2, (const double[]){0, 1, 2, 3, 4, 5, 6, 7, 1, 2, 3, 4});
    kspec_dataset_free(&d);

    const char *lines[] = {put_counting("e", 1, 2, 0, 0), put_text("f", "7\n8\n")};
    CHECK(kspec_read(lines, 2, NULL, &d, &err) == KSPEC_OK);
    check_data(__LINE__, &d, 2, 2, 1, (const double[]){0, 1, 7, 8});
    kspec_dataset_free(&d);

    char want[600];
    const char *differ[] = {put_counting("g.npy", 2, 5, 3, 0), put_counting("h.npy", 2, 5, 4, 0)};
    snprintf(want, sizeof want, "trial 2 (%s) is 5 x 4, trial 1 (%s) is 5 x 3", differ[1], differ[0]);
    CHECK_FAILS(kspec_read(differ, 2, NULL, &d, &err), KSPEC_E_IO, err, want);
    CHECK(kspec_read(differ, 2, OPTS(.select_cols = "1-2"), &d, &err) == KSPEC_OK && d.trials == 2);
    CHECK(d.data[2] == 4 && d.data[12] == 5); /* row 1, column 1 of each */
    kspec_dataset_free(&d);
    const char *later[] = {mixed[0], differ[0]};
    CHECK_FAILS(kspec_read(later, 2, NULL, &d, &err), KSPEC_E_IO, err, "trial 3 (");
}

/* ----------------------------------------------------------- missing values */

TEST(missing_values_are_named) {
    put_text("m.csv", "a,b,c\n1,2,3\n4,NA,6\n7,,9\n");
    REFUSES(path("m.csv"), NULL, KSPEC_E_IO,
            "m.csv: 2 missing values, the first at row 1, column 1 ('b') (from 0); "
            "--nan omit-rows leaves 1 of 3 rows, --nan omit-cols 2 of 3 columns");
    REFUSES(path("m.csv"), OPTS(.select_rows = "2,0"), KSPEC_E_IO,
            "1 missing value, the first at row 0, column 1 ('b') of the selection, from 0; ");
    READS(path("m.csv"), OPTS(.nan = KSPEC_NAN_KEEP), 1, 3, 3, 1, 2, 3, 4, NAN, 6, 7, NAN, 9);
    READS(path("m.csv"), OPTS(.nan = KSPEC_NAN_OMIT_ROWS), 1, 1, 3, 1, 2, 3);
    READS(path("m.csv"), OPTS(.nan = KSPEC_NAN_OMIT_COLS), 1, 3, 2, 1, 3, 4, 6, 7, 9);
    READS(path("m.csv"), OPTS(.select_cols = "2,0"), 1, 3, 2, 3, 1, 6, 4, 9, 7);
    kspec_dataset d;
    CHECK(read_one(path("m.csv"), OPTS(.nan = KSPEC_NAN_OMIT_COLS), &d) == KSPEC_OK && d.omitted_cols == 1 &&
          d.omitted_rows == 0);
    CHECK(strcmp(d.col_names[0], "a") == 0 && strcmp(d.col_names[1], "c") == 0);
    kspec_dataset_free(&d);
    CHECK(read_one(path("m.csv"), OPTS(.nan = KSPEC_NAN_OMIT_ROWS), &d) == KSPEC_OK && d.omitted_cols == 0 &&
          d.omitted_rows == 2);
    CHECK(strcmp(d.col_names[1], "b") == 0);
    kspec_dataset_free(&d);
    put_text("all.csv", "1,NA\nNA,2\n");
    REFUSES(path("all.csv"), OPTS(.nan = KSPEC_NAN_OMIT_ROWS), KSPEC_E_IO,
            "every row misses a value, --nan omit-rows leaves none");
    REFUSES(path("all.csv"), OPTS(.nan = KSPEC_NAN_OMIT_COLS), KSPEC_E_IO,
            "every column misses a value, --nan omit-cols leaves none");
    const double x[] = {1, 2, 3, 4, 5, NAN, 7, 8};
    put_npy("two", 3, (size_t[]){2, 2, 2}, 0, x);
    REFUSES(path("two"), NULL, KSPEC_E_IO,
            "two: 1 missing value, the first at trial 1, row 0, column 1 (from 0); --nan omit-rows leaves 1 "
            "of 2");
    READS(path("two"), OPTS(.nan = KSPEC_NAN_OMIT_ROWS), 2, 1, 2, 3, 4, 7, 8); /* out of every trial */
    READS(path("two"), OPTS(.nan = KSPEC_NAN_OMIT_COLS), 2, 2, 1, 1, 3, 5, 7);
    const char *both[] = {put_text("p", "1\n2\n"), put_text("q", "1\n?\n")};
    CHECK_FAILS(kspec_read(both, 2, NULL, &d, &err), KSPEC_E_IO, err,
                "/q: 1 missing value, the first at trial 1, row 1, column 0");
}

TEST(ragged_trials) {
    const double x[] = {1,  2,  NAN, NAN, /* trial 0: row 1 is missing */ NAN, NAN, 5, 6, 7, 8, 9, 10,
                        11, 12, NAN, NAN};
    put_npy("r", 3, (size_t[]){4, 2, 2}, 0, x);
    const kspec_read_opts *ragged = OPTS(.axes = "trials,rows,cols", .nan = KSPEC_NAN_RAGGED_TRIALS);
    REFUSES(path("r"), OPTS(.axes = "trials,rows,cols"), KSPEC_E_IO,
            "r: 6 missing values, the first at trial 0, row 1, column 0 (from 0); --nan ragged-trials");
    kspec_dataset d;
    CHECK_MSG(read_one(path("r"), ragged, &d) == KSPEC_OK, "%s", err.msg);
    check_data(__LINE__, &d, 3, 2, 2, (const double[]){1, 2, 5, 6, 7, 8, 9, 10, 11, 12, NAN, NAN});
    CHECK(d.row_trials && d.row_trials[0] == 3 && d.row_trials[1] == 2 && !d.omitted_rows);
    kspec_dataset_free(&d);
    CHECK(read_one(path("r"),
                   OPTS(.axes = "trials,rows,cols", .nan = KSPEC_NAN_RAGGED_TRIALS, .select_rows = "1,0"),
                   &d) == KSPEC_OK);
    check_data(__LINE__, &d, 3, 2, 2, (const double[]){5, 6, 1, 2, 9, 10, 7, 8, NAN, NAN, 11, 12});
    CHECK(d.row_trials[0] == 2 && d.row_trials[1] == 3);
    kspec_dataset_free(&d);

    CHECK(read_one(put_counting("full", 3, 2, 3, 2), OPTS(.nan = KSPEC_NAN_RAGGED_TRIALS), &d) == KSPEC_OK);
    CHECK(d.trials == 2 && d.row_trials[0] == 2 && d.row_trials[2] == 2 && d.data[11] == 11);
    kspec_dataset_free(&d);
    REFUSES(put_counting("single", 2, 2, 3, 0), OPTS(.nan = KSPEC_NAN_RAGGED_TRIALS), KSPEC_E_IO,
            "single has 1 trial; --nan ragged-trials needs several");
    double y[16];
    memcpy(y, x, sizeof y);
    y[9] = NAN;
    put_npy("partly", 3, (size_t[]){4, 2, 2}, 0, y);
    REFUSES(path("partly"), ragged, KSPEC_E_IO, "partly: trial 2, row 0 misses column 1 but not all columns");
    REFUSES(path("partly"), OPTS(.axes = "trials,rows,cols"), KSPEC_E_IO,
            "--nan omit-rows leaves 0 of 2 rows");
    memcpy(y, x, sizeof y);
    y[10] = y[11] = NAN;
    put_npy("few", 3, (size_t[]){4, 2, 2}, 0, y);
    REFUSES(path("few"), ragged, KSPEC_E_IO,
            "few: row 1 (from 0) was measured in 1 of 4 trials; at least 2 are needed");
    y[6] = y[7] = NAN; /* row 1 is nowhere: no ragged trials */
    put_npy("none", 3, (size_t[]){4, 2, 2}, 0, y);
    REFUSES(path("none"), OPTS(.axes = "trials,rows,cols"), KSPEC_E_IO, "--nan omit-rows leaves 0 of 2 rows");
}

/* ------------------------------------------------------------- random arrays */

static size_t below(size_t n) {
    static uint64_t index;
    double u;
    kspec_random_uniform(11, 0, index++, 1, &u);
    return (size_t)(u * (double)n);
}

/* A random selection of 0 ... n-1, as text and as list. */
static size_t some_of(size_t n, char *spec, size_t *list) {
    size_t count = 0, used[64] = {0};
    spec[0] = 0;
    do {
        size_t i = below(n);
        if (used[i]++) continue;
        sprintf(spec + strlen(spec), count ? ",%zu" : "%zu", i);
        list[count++] = i;
    } while (below(8));
    return count;
}

/* The rules of the missing-value policies, slowly: the wanted array in x, or 0 where there is to be an error.
 */
static int slow_policy(kspec_nan_policy policy, double *x, size_t n[3], size_t *row_trials) {
    size_t T = n[0], R = n[1], C = n[2], total = T * R * C, keep[2] = {0, 0};
    static double y[64 * 64 * 64];
    unsigned char bad_row[64] = {0}, bad_col[64] = {0};
    memcpy(y, x, total * sizeof *x);
    int any = 0;
    for (size_t k = 0; k < total; k++)
        if (isnan(x[k])) any = bad_row[k / C % R] = bad_col[k % C] = 1;
    if (policy == KSPEC_NAN_KEEP) return 1;
    if (policy == KSPEC_NAN_ERROR) return !any;
    if (policy == KSPEC_NAN_RAGGED_TRIALS) {
        size_t most = 0;
        if (T < 2) return 0;
        for (size_t i = 0; i < R; i++) {
            row_trials[i] = 0;
            for (size_t t = 0; t < T; t++) {
                size_t gaps = 0;
                for (size_t j = 0; j < C; j++) gaps += isnan(y[(t * R + i) * C + j]) != 0;
                if (gaps && gaps < C) return 0;
                if (gaps) continue;
                memcpy(x + (row_trials[i] * R + i) * C, y + (t * R + i) * C, C * sizeof *x);
                row_trials[i]++;
            }
            for (size_t t = row_trials[i]; t < T; t++)
                for (size_t j = 0; j < C; j++) x[(t * R + i) * C + j] = NAN;
            if (row_trials[i] < 2) return 0;
            if (row_trials[i] > most) most = row_trials[i];
        }
        n[0] = most;
        return 1;
    }
    for (size_t i = 0; i < R; i++) keep[0] += policy != KSPEC_NAN_OMIT_ROWS || !bad_row[i];
    for (size_t j = 0; j < C; j++) keep[1] += policy != KSPEC_NAN_OMIT_COLS || !bad_col[j];
    size_t at = 0;
    for (size_t k = 0; k < total; k++)
        if (!(policy == KSPEC_NAN_OMIT_ROWS && bad_row[k / C % R]) &&
            !(policy == KSPEC_NAN_OMIT_COLS && bad_col[k % C]))
            x[at++] = y[k];
    n[1] = keep[0];
    n[2] = keep[1];
    return n[1] && n[2];
}

TEST(random_arrays_read_as_the_slow_reader_reads_them) {
    static const char *const orders[] = {"trials,rows,cols", "trials,cols,rows", "rows,trials,cols",
                                         "rows,cols,trials", "cols,trials,rows", "cols,rows,trials"};
    static const int axis_of[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    static double logical[20 * 64 * 64], stored[20 * 64 * 64], want[20 * 64 * 64];
    int read = 0, refused = 0;
    for (int round = 0; round < 2000; round++) {
        size_t n[3] = {1 + below(10), 1 + below(round % 10 ? 9 : 50), 1 + below(round % 10 ? 9 : 50)},
               shape[3];
        int order = (int)below(6), fortran = (int)below(2), ndim = below(3) ? 3 : 2, gaps = (int)below(4);
        kspec_nan_policy policy = (kspec_nan_policy)below(5);
        if (ndim == 2) n[0] = 1;
        for (size_t k = 0; k < n[0] * n[1] * n[2]; k++) logical[k] = (double)k;
        if (gaps == 1) /* single values */
            for (size_t k = below(4); k-- > 0;) logical[below(n[0] * n[1] * n[2])] = NAN;
        if (gaps == 2) /* whole rows of trials */
            for (size_t k = below(4); k-- > 0;) {
                size_t row = below(n[0] * n[1]);
                for (size_t j = 0; j < n[2]; j++) logical[row * n[2] + j] = NAN;
            }
        /* store it: file axis d is axis_of[order][d], in either memory order */
        for (int d = 0; d < 3; d++) shape[d] = n[axis_of[order][d]];
        for (size_t k = 0; k < n[0] * n[1] * n[2]; k++) {
            size_t i[3] = {k / (n[1] * n[2]), k / n[2] % n[1], k % n[2]}, f[3];
            for (int d = 0; d < 3; d++) f[d] = i[axis_of[order][d]];
            stored[fortran ? f[0] + shape[0] * (f[1] + shape[1] * f[2])
                           : (f[0] * shape[1] + f[1]) * shape[2] + f[2]] = logical[k];
        }
        const char *axes = orders[order];
        if (ndim == 2) { /* the axis of one trial goes */
            size_t flat[2], m = 0;
            for (int d = 0; d < 3; d++)
                if (axis_of[order][d]) flat[m++] = shape[d];
            memcpy(shape, flat, sizeof flat);
            axes = order == 0 || order == 2 || order == 3 ? "rows,cols" : "cols,rows";
        }
        put_npy("x.npy", ndim, shape, fortran, stored);

        char rows[400], cols[400];
        size_t row_list[64], col_list[64], m[3] = {n[0], n[1], n[2]}, row_trials[64];
        int pick_rows = !below(3), pick_cols = !below(3);
        if (pick_rows) m[1] = some_of(n[1], rows, row_list);
        if (pick_cols) m[2] = some_of(n[2], cols, col_list);
        for (size_t k = 0; k < m[0] * m[1] * m[2]; k++) {
            size_t i = k / m[2] % m[1], j = k % m[2];
            want[k] = logical[(k / (m[1] * m[2]) * n[1] + (pick_rows ? row_list[i] : i)) * n[2] +
                              (pick_cols ? col_list[j] : j)];
        }
        size_t before[3] = {m[0], m[1], m[2]};
        int fine = slow_policy(policy, want, m, row_trials);
        kspec_dataset d;
        kspec_status st = read_one(path("x.npy"),
                                   OPTS(.axes = axes, .select_rows = pick_rows ? rows : NULL,
                                        .select_cols = pick_cols ? cols : NULL, .nan = policy),
                                   &d);
        CHECK_MSG(st == (fine ? KSPEC_OK : KSPEC_E_IO), "round %d: %s", round, err.msg);
        if (!st && fine) {
            check_data(round, &d, m[0], m[1], m[2], want);
            CHECK(d.omitted_rows == before[1] - m[1] && d.omitted_cols == before[2] - m[2]);
            CHECK(!d.row_trials == (policy != KSPEC_NAN_RAGGED_TRIALS));
            if (d.row_trials) CHECK(memcmp(d.row_trials, row_trials, m[1] * sizeof *row_trials) == 0);
        }
        *(st ? &refused : &read) += 1;
        kspec_dataset_free(&d);
    }
    CHECK_MSG(read > 500 && refused > 100, "%d read, %d refused", read, refused);
}

/* ------------------------------------------------------------------- memory */

TEST(what_is_laid_out_right_is_not_copied) {
    kspec_dataset d;
    put_counting("x.npy", 3, 2, 30, 20);
    CHECK(read_one(path("x.npy"), NULL, &d) == KSPEC_OK);
    const ks_array *storage = d.storage;
    const char *map = storage->storage.map;
    CHECK(map && (const char *)d.data > map && (const char *)d.data < map + storage->storage.map_size);
    kspec_dataset_free(&d);
    CHECK(read_one(path("x.npy"), OPTS(.nan = KSPEC_NAN_OMIT_ROWS), &d) ==
          KSPEC_OK); /* nothing to leave out */
    storage = d.storage;
    CHECK(storage->storage.map != NULL);
    kspec_dataset_free(&d);
    CHECK(read_one(put_counting("y.npy", 3, 1, 30, 20), OPTS(.axes = "rows,trials,cols"), &d) == KSPEC_OK);
    storage = d.storage;
    CHECK(storage->storage.map && d.trials == 30 && d.rows == 1); /* an axis of one may stand anywhere */
    kspec_dataset_free(&d);
    CHECK(read_one(path("x.npy"), OPTS(.select_rows = "1"), &d) == KSPEC_OK);
    storage = d.storage;
    CHECK(!storage->storage.map && d.data[0] == 20);
    kspec_dataset_free(&d);
}

static int open_files(void) {
    DIR *dir = opendir("/proc/self/fd");
    if (!dir) return 0;
    int count = 0;
    while (readdir(dir)) count++;
    closedir(dir);
    return count;
}

TEST(allocations_may_fail) {
    const double x[] = {1, 2, NAN, NAN, NAN, NAN, 5, 6, 7, 8, 9, 10, 11, 12, NAN, NAN};
    put_npy("r", 3, (size_t[]){4, 2, 2}, 0, x);
    put_npy("f", 2, (size_t[]){4, 4}, 1, x);
    put_text("t", "a,b,c\n1,2,3\n4,NA,6\n");
    put_text("u", "a,b,c\n1,2,3\n4,5,6\n");
    const struct {
        const char *inputs[2];
        size_t count;
        const kspec_read_opts *opts;
        long least;
    } cases[] = {
        {{path("r")}, 1, OPTS(.axes = "trials,rows,cols", .nan = KSPEC_NAN_RAGGED_TRIALS), 6},
        {{path("f")}, 1, OPTS(.nan = KSPEC_NAN_OMIT_COLS, .select_rows = "0-1", .select_cols = "3,0-1"), 8},
        {{path("t"), path("u")}, 2, OPTS(.nan = KSPEC_NAN_OMIT_COLS, .select_cols = "c,b"), 15},
    };
    int files = open_files();
    for (size_t c = 0; c < 3; c++) {
        failing_alloc_install();
        long k = 0;
        for (; k < 100; k++) {
            kspec_dataset d, empty = {0};
            kspec_error e = {0};
            failing_alloc_arm(k);
            kspec_status st = kspec_read(cases[c].inputs, cases[c].count, cases[c].opts, &d, &e);
            if (st) CHECK(memcmp(&d, &empty, sizeof d) == 0);
            kspec_dataset_free(&d);
            CHECK_MSG(failing_alloc_live() == 0, "case %zu leaks at %ld", c, k);
            if (!st) break;
            CHECK_MSG(st == KSPEC_E_NOMEM && e.msg[0], "case %zu at %ld: %s", c, k, e.msg);
        }
        CHECK_MSG(k >= cases[c].least && k < 100, "case %zu: %ld", c, k);
        failing_alloc_uninstall();
    }
    CHECK_MSG(open_files() == files, "files are left open");
}

/* --------------------------------------------------------------- real files */

static const char *real(const char *file) {
    static char p[4096];
    const char *data = getenv("KSPEC_DATA");
    snprintf(p, sizeof p, "%s/%s", data ? data : TEST_SOURCE_DIR "/../shared/data", file);
    return access(p, R_OK) == 0 ? p : NULL;
}

TEST(wine) {
    const char *file = real("wine/winequality-white.csv");
    if (!file) SKIP("no wine data; set KSPEC_DATA");
    kspec_dataset d;
    CHECK(read_one(file, OPTS(.select_cols = "0-10", .select_rows = "0,4897"), &d) == KSPEC_OK);
    CHECK(d.trials == 1 && d.rows == 2 && d.cols == 11 && d.data[10] == 8.8 &&
          strcmp(d.col_names[10], "alcohol") == 0);
    kspec_dataset_free(&d);
    CHECK(read_one(file, NULL, &d) == KSPEC_OK && d.rows == 4898 && d.cols == 12);
    kspec_dataset_free(&d);
}

TEST(communities) {
    const char *file = real("communities/communities.data");
    if (!file) SKIP("no communities data; set KSPEC_DATA");
    kspec_dataset d;
    REFUSES(file, NULL, KSPEC_E_IO, "line 1, column 3: 'Lakewoodcity' is not a number; leave the column out");
    REFUSES(file, OPTS(.select_cols = "5-126"), KSPEC_E_IO,
            "36850 missing values, the first at row 1, column 96");
    CHECK(strstr(err.msg, "--nan omit-cols 100 of 122 columns") != NULL);
    CHECK(read_one(file, OPTS(.select_cols = "5-126", .nan = KSPEC_NAN_OMIT_COLS), &d) == KSPEC_OK);
    CHECK(d.rows == 1994 && d.cols == 100 && d.omitted_cols == 22 && d.data[0] == 0.19);
    kspec_dataset_free(&d);
    CHECK(read_one(file, OPTS(.select_cols = "5-126", .nan = KSPEC_NAN_OMIT_ROWS), &d) == KSPEC_OK);
    CHECK(d.rows == 319 && d.cols == 122 && d.omitted_rows == 1675);
    kspec_dataset_free(&d);
}

TEST(v4) {
    const char *file = real("v4/responses_210325.npy");
    if (!file) SKIP("no V4 data; set KSPEC_DATA");
    kspec_dataset d, raw;
    REFUSES(file, OPTS(.axes = "cols,rows,trials"), KSPEC_E_IO, "--nan ragged-trials");
    CHECK(read_one(file, OPTS(.axes = "cols,rows,trials", .nan = KSPEC_NAN_KEEP), &raw) == KSPEC_OK);
    CHECK(read_one(file, OPTS(.axes = "cols,rows,trials", .nan = KSPEC_NAN_RAGGED_TRIALS), &d) == KSPEC_OK);
    CHECK(d.trials == 10 && d.rows == 640 && d.cols == 50 && d.array_dims == 3);
    size_t least = 10, most = 0;
    for (size_t i = 0; i < d.rows && d.row_trials; i++) {
        size_t have = 0;
        for (size_t t = 0; t < 10; t++) {
            const double *from = raw.data + (t * 640 + i) * 50;
            if (isnan(from[0])) continue;
            CHECK(memcmp(from, d.data + (have * 640 + i) * 50, 50 * sizeof *from) == 0);
            have++;
        }
        CHECK(d.row_trials[i] == have);
        if (have < least) least = have;
        if (have > most) most = have;
    }
    CHECK_MSG(least == 6 && most == 10, "%zu to %zu", least, most);
    kspec_dataset_free(&d);
    kspec_dataset_free(&raw);
}

int main(void) {
    if (!mkdtemp(folder)) return 1;
    RUN(formats_are_told_by_content);
    RUN(keys);
    RUN(standard_input);
    RUN(arguments);
    RUN(axes_are_named);
    RUN(selections);
    RUN(several_inputs_are_trials);
    RUN(missing_values_are_named);
    RUN(ragged_trials);
    RUN(random_arrays_read_as_the_slow_reader_reads_them);
    RUN(what_is_laid_out_right_is_not_copied);
    RUN(allocations_may_fail);
    RUN(wine);
    RUN(communities);
    RUN(v4);
    char command[100];
    snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command) ? 1 : test_done();
}
