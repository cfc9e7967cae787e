/* kspec_read(): formats, keys, axes, selections and trials, every rule with its message. */
#include "help/data.h"
#include "help/failing_alloc.h"
#include "io/read.h"
#include "help/read.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

/* ------------------------------------------------------------------ formats */

static kspec_status from_stdin(const char *file, const kspec_read_opts *opts, kspec_dataset **d) {
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
    READS(fixture("binary/u1-idx3"), NULL, 1, 2, 6, 0, 37, 74, 10, 47, 84, 20, 57, 94, 30, 67,
          3); /* pixels */
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

/* A suffix says nothing while the file can be read, and something when it cannot. */
TEST(damaged_files_are_told_by_their_suffix) {
    static const struct {
        const char *file, *kind;
    } kinds[] = {{"bad.npy", "an npy"},
                 {"bad.npz", "an npz"},
                 {"bad.h5", "an HDF5"},
                 {"bad.hdf5", "an HDF5"},
                 {"bad.mat", "a MATLAB (v5 or later)"}};
    for (size_t k = 0; k < 5; k++) {
        char want[200], keyed[300];
        snprintf(want, sizeof want, "(it is not %s file, whatever its suffix says)", kinds[k].kind);
        REFUSES(put_bytes(kinds[k].file, "\x89H\0F", 4, "", 0), NULL, KSPEC_E_IO, want);
        CHECK(strstr(err.msg, "is not text (byte 0x00 at offset 2), nor a format that kspec reads"));
        snprintf(keyed, sizeof keyed, "%s:/x", path(kinds[k].file));
        snprintf(want, sizeof want,
                 "/%s is not an npz, HDF5 or MATLAB (v5 or later) file, so it has no array '/x'",
                 kinds[k].file);
        REFUSES(keyed, NULL, KSPEC_E_IO, want);
        snprintf(want, sizeof want, "leave the column out (it is not %s file", kinds[k].kind);
        REFUSES(put_text(kinds[k].file, "\x93NUM"), NULL, KSPEC_E_IO, "(it is not");
        REFUSES(put_text(kinds[k].file, "1,2\n3,x\n"), NULL, KSPEC_E_IO, want);
        READS(put_text(kinds[k].file, "1,2\n3,4\n"), NULL, 1, 2, 2, 1, 2, 3, 4);
        const char *input = put_text(kinds[k].file, "1,x\n");
        kspec_dataset *d;
        CHECK(kspec_read(&input, 1, NULL, &d, NULL) == KSPEC_E_IO);
    }
    REFUSES(put_text("bad.csv", "1,2\n3,x\n"), NULL, KSPEC_E_IO, "leave the column out");
    CHECK(strcmp(err.option, "select_cols") == 0);
    REFUSES(path("nowhere"), NULL, KSPEC_E_IO, "nowhere");
    CHECK(!err.option[0] && !err.setting[0]); /* of the failure before */
    CHECK(!strstr(err.msg, "suffix"));
}

TEST(keys) {
    put_counting("x.npy", 2, 2, 2, 0);
    put_text("x.csv", "5\n");
    put_text("odd:name.csv", "1\n");
    put_text("odd", "2\n");
    REFUSES(path("x.npy:key"), NULL, KSPEC_E_ARG,
            "x.npy is an npy file, which has no named arrays; leave out ':key'");
    REFUSES(path("x.csv:key"), NULL, KSPEC_E_IO,
            "x.csv is not an npz, HDF5 or MATLAB (v5 or later) file, so it has no array 'key'");
    REFUSES(fixture("binary/u1-idx1:key"), NULL, KSPEC_E_ARG, "is an idx file, which has no named arrays");
    REFUSES(path("x.npy:"), NULL, KSPEC_E_ARG, "nothing follows the colon");
    READS(path("odd:name.csv"), NULL, 1, 1, 1, 1); /* a colon may be part of the name */
    REFUSES(path("odd:other"), NULL, KSPEC_E_IO, "so it has no array 'other'");
    REFUSES(fixture("binary/one.npz:nothing"), NULL, KSPEC_E_IO, "nothing");
    REFUSES(fixture("binary/one.npz:a:b"), NULL, KSPEC_E_IO, "'a:b'"); /* so may it of the key's */
}

/* However long a name is, and whatever is in it, the message is one line that says what is wrong. */
TEST(long_and_odd_names) {
    char name[210], deep[5000], two[420];
    memset(name, 'd', sizeof name);
    memcpy(name + sizeof name - 7, "/x.csv", 7);
    name[0] = 'D';
    snprintf(deep, sizeof deep, "%s", path(name));
    REFUSES(deep, NULL, KSPEC_E_IO, "ddd/x.csv: No such file");
    CHECK_MSG(strstr(err.msg, "cannot open …ddd") && !strchr(err.msg, 'D'), "%s", err.msg);
    memset(name, 'd', sizeof name);
    strcpy(name + sizeof name - 6, ".csv");
    put_text(name, "1,2\n3,x\n");
    REFUSES(path(name), NULL, KSPEC_E_IO,
            "dd.csv: line 2, column 1: 'x' is not a number; leave the column out");
    REFUSES(path(name), OPTS(.select_cols = "2"), KSPEC_E_ARG, "dd.csv has 2 columns, 0 to 1");
    put_text(name, "1,NA\n2,3\n");
    REFUSES(path(name), NULL, KSPEC_E_IO, "omit-rows leaves 1 of 2 rows, omit-cols 1 of 2 columns");
    const char *other = put_text("short.csv", "1,2\n"), *unlike[] = {path(name), other};
    kspec_dataset *d;
    put_text(name, "1,2\n3,4\n");
    CHECK_FAILS(kspec_read(unlike, 2, NULL, &d, &err), KSPEC_E_IO, err, "dd.csv) is 2 x 2");
    memset(deep, 'd', sizeof deep);
    deep[sizeof deep - 1] = 0;
    REFUSES(deep, NULL, KSPEC_E_IO, "ddd: File name too long");
    put_counting("x.npy", 2, 2, 2, 0);
    snprintf(two, sizeof two, "%s:%300d", path("x.npy"), 7);
    REFUSES(two, NULL, KSPEC_E_ARG, "x.npy is an npy file, which has no named arrays; leave out ':   ");
    snprintf(deep, sizeof deep, "%s:%300d", fixture("binary/three.npz"), 7);
    REFUSES(deep, NULL, KSPEC_E_IO, "; the archive holds 3 arrays: a, ");
    snprintf(deep, sizeof deep, "cp %s '%s'", fixture("binary/dtypes.npz"), path(name));
    CHECK(system(deep) == 0);
    REFUSES(path(name), NULL, KSPEC_E_IO, "dd.csv:b1_na_C_1");
    REFUSES(path("a\nb\x1b[31m\x7f"), NULL, KSPEC_E_IO, "/a?b?[31m?: No such file");
    for (size_t shift = 0; shift < 2; shift++) { /* a name is not cut inside a character */
        memset(name, 'x', shift);
        for (size_t i = shift; i + 2 < sizeof name; i += 2) memcpy(name + i, "\xc3\xa4", 3);
        name[207 + shift] = 0;
        name[206 + shift] = 'z';
        REFUSES(name, NULL, KSPEC_E_IO, "\xc3\xa4z: No such file");
        CHECK_MSG(strstr(err.msg, "…\xc3\xa4") != NULL, "%s", err.msg);
    }
}

TEST(standard_input) {
    kspec_dataset *d;
    CHECK_MSG(from_stdin(put_text("in", "a b\n1 2\n"), NULL, &d) == KSPEC_OK, "%s", err.msg);
    CHECK(d->rows == 1 && d->cols == 2 && d->data[1] == 2 && strcmp(d->col_names[1], "b") == 0);
    kspec_free(d);
    CHECK(from_stdin(put_counting("in", 3, 2, 3, 2), NULL, &d) == KSPEC_OK && d->trials == 2);
    kspec_free(d);
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
    kspec_dataset *d;
    const char *none = NULL, *blank = "";
    CHECK_FAILS(kspec_read(NULL, 1, NULL, &d, &err), KSPEC_E_ARG, err, "no input given");
    CHECK_FAILS(kspec_read(&none, 0, NULL, &d, &err), KSPEC_E_ARG, err, "no input given");
    CHECK_FAILS(kspec_read(&none, 1, NULL, &d, &err), KSPEC_E_ARG, err, "input 1 has no name");
    CHECK_FAILS(kspec_read(&blank, 1, NULL, &d, &err), KSPEC_E_ARG, err, "input 1 has no name");
    REFUSES("x", OPTS(.nan = (kspec_nan)5), KSPEC_E_ARG, "unknown missing-value policy 5");
    REFUSES("x", &(kspec_read_opts){.size = 0}, KSPEC_E_ARG, "size field is 0");
    CHECK(kspec_read(&blank, 1, NULL, &d, NULL) == KSPEC_E_ARG);
    CHECK(d == NULL);
    kspec_free(NULL);
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
    kspec_dataset *d;
    CHECK(read_one(path("t.csv"), OPTS(.axes = "cols,rows"), &d) == KSPEC_OK && !d->col_names &&
          d->array_dims == 2);
    kspec_free(d);
    CHECK(read_one(path("three"), OPTS(.axes = "cols,rows,trials"), &d) == KSPEC_OK && d->array_dims == 3);
    kspec_matrix m = kspec_dataset_trial(d, 1);
    CHECK(m.data == d->data + 6 && m.rows == 3 && m.cols == 2 && m.row_stride == 2 && m.col_stride == 1);
    kspec_free(d);
    CHECK(read_one(path("one"), NULL, &d) == KSPEC_OK && d->array_dims == 1);
    kspec_free(d);

    REFUSES(path("two"), OPTS(.axes = "rows,columns"), KSPEC_E_ARG,
            "axes 'rows,columns': 'columns' must be one of trials, rows, cols");
    REFUSES(path("two"), OPTS(.axes = "rows,"), KSPEC_E_ARG, "'' must be one of trials, rows, cols");
    REFUSES(path("two"), OPTS(.axes = ""), KSPEC_E_ARG, "'' must be one of trials, rows, cols");
    REFUSES(path("two"), OPTS(.axes = "rows,rows"), KSPEC_E_ARG, "axes 'rows,rows' names rows twice");
    REFUSES(path("two"), OPTS(.axes = "trials,rows"), KSPEC_E_ARG,
            "axes 'trials,rows': trials are an axis of 3-D arrays");
    REFUSES(path("two"), OPTS(.axes = "trials,rows,cols"), KSPEC_E_ARG, "axes: 3 named, but ");
    REFUSES(path("three"), OPTS(.axes = "rows,cols"), KSPEC_E_ARG, "axes: 2 named, but ");
    REFUSES(path("three"), OPTS(.axes = "rows"), KSPEC_E_ARG, "axes: 1 named, but ");
    put_counting("tall", 3, 4, 3, 2);
    REFUSES(path("tall"), NULL, KSPEC_E_IO, "tall is 4 x 3 x 2");
    CHECK(strstr(err.msg, "would mean 4 trials of 3 x 2") && strcmp(err.option, "axes") == 0 &&
          strcmp(err.setting, "cols,rows,trials") == 0);
    CHECK(read_one(path("tall"), OPTS(.axes = "trials,rows,cols"), &d) == KSPEC_OK && d->trials == 4);
    kspec_free(d);
    CHECK(read_one(put_counting("square", 3, 2, 3, 2), NULL, &d) == KSPEC_OK && d->trials == 2);
    kspec_free(d);
}

TEST(selections) {
    put_counting("two", 2, 3, 4, 0);
    READS(path("two"), OPTS(.select_rows = "2,0", .select_cols = "1-2"), 1, 2, 2, 9, 10, 1, 2);
    REFUSES(path("two"), OPTS(.select_rows = "3"), KSPEC_E_ARG, "two has 3 rows, 0 to 2");
    REFUSES(path("two"), OPTS(.select_cols = "x"), KSPEC_E_ARG, "column 'x' is not a number or a range");
    REFUSES(path("two"), OPTS(.select_rows = "1", .select_cols = ""), KSPEC_E_ARG,
            "column selection is empty");
    kspec_dataset *d;
    put_text("t.csv", "a;b;c\n1;2;3\n4;5;6\n");
    CHECK(read_one(path("t.csv"), OPTS(.select_rows = "1", .select_cols = "c,0"), &d) == KSPEC_OK);
    CHECK(d->rows == 1 && d->cols == 2 && d->data[0] == 6 && d->data[1] == 4 &&
          strcmp(d->col_names[0], "c") == 0 && strcmp(d->col_names[1], "a") == 0);
    kspec_free(d);
    READS(put_text("inf", "1,inf\n-inf,2\n"), NULL, 1, 2, 2, 1, INFINITY, -INFINITY, 2); /* is a value */
}

/* ------------------------------------------------------------------- trials */

TEST(several_inputs_are_trials) {
    kspec_dataset *d;
    const char *three[] = {put_text("a.csv", "1,2\n3,4\n"), put_counting("b.npy", 2, 2, 2, 0),
                           put_text("c.csv", "x y\n5 6\n7 8\n")};
    CHECK(kspec_read(three, 3, NULL, &d, &err) == KSPEC_OK);
    check_data(__LINE__, d, 3, 2, 2, (const double[]){1, 2, 3, 4, 0, 1, 2, 3, 5, 6, 7, 8});
    CHECK(!d->col_names && d->array_dims == 2);
    kspec_free(d);
    CHECK(kspec_read(three, 3, OPTS(.select_cols = "1"), &d, &err) == KSPEC_OK);
    check_data(__LINE__, d, 3, 2, 1, (const double[]){2, 4, 1, 3, 6, 8});
    kspec_free(d);

    const char *mixed[] = {put_counting("d.npy", 3, 2, 2, 2), three[0]};
    CHECK(kspec_read(mixed, 2, NULL, &d, &err) == KSPEC_OK);
    check_data(__LINE__, d, 3, 2, 2, (const double[]){0, 1, 2, 3, 4, 5, 6, 7, 1, 2, 3, 4});
    kspec_free(d);

    const char *lines[] = {put_counting("e", 1, 2, 0, 0), put_text("f", "7\n8\n")};
    CHECK(kspec_read(lines, 2, NULL, &d, &err) == KSPEC_OK);
    check_data(__LINE__, d, 2, 2, 1, (const double[]){0, 1, 7, 8});
    kspec_free(d);

    char want[600];
    const char *differ[] = {put_counting("g.npy", 2, 5, 3, 0), put_counting("h.npy", 2, 5, 4, 0)};
    snprintf(want, sizeof want, "trial 2 (%s) is 5 x 4, trial 1 (%s) is 5 x 3", differ[1], differ[0]);
    CHECK_FAILS(kspec_read(differ, 2, NULL, &d, &err), KSPEC_E_IO, err, want);
    CHECK(kspec_read(differ, 2, OPTS(.select_cols = "1-2"), &d, &err) == KSPEC_OK && d->trials == 2);
    CHECK(d->data[2] == 4 && d->data[12] == 5); /* row 1, column 1 of each */
    kspec_free(d);
    const char *later[] = {mixed[0], differ[0]};
    CHECK_FAILS(kspec_read(later, 2, NULL, &d, &err), KSPEC_E_IO, err, "trial 3 (");
}

/* ------------------------------------------------------- what the file was */

/* Header, axes and lengths in the file, whatever was selected or transposed; the number of missing values */
static void check_origin(int line, const char *input, const kspec_read_opts *opts, int header, size_t missing,
                         int dims, size_t a, size_t b, size_t c) {
    kspec_dataset *d;
    CHECK_MSG(read_one(input, opts, &d) == KSPEC_OK, "line %d: %s", line, err.msg);
    if (!d) return;
    CHECK_MSG(d->has_header == header && d->missing == missing, "line %d: header %d, %zu missing", line,
              d->has_header, d->missing);
    const size_t *s = d->array_shape;
    CHECK_MSG(d->array_dims == dims && s[0] == a && s[1] == b && s[2] == c,
              "line %d: %d axes, %zu x %zu x %zu", line, d->array_dims, s[0], s[1], s[2]);
    kspec_free(d);
}

#define ORIGIN(...) check_origin(__LINE__, __VA_ARGS__)

TEST(a_data_set_says_what_the_file_was) {
    put_text("h.csv", "a,b,c\n1,2,3\n4,,6\n7,NA,9\n");
    put_text("plain.csv", "1,2\n3,4\n5,6\n");
    ORIGIN(path("plain.csv"), NULL, 0, 0, 2, 3, 2, 1);
    ORIGIN(path("h.csv"), OPTS(.nan = KSPEC_NAN_KEEP), 1, 2, 2, 3, 3, 1);
    ORIGIN(path("h.csv"), OPTS(.nan = KSPEC_NAN_OMIT_ROWS), 1, 2, 2, 3, 3, 1);
    ORIGIN(path("h.csv"), OPTS(.nan = KSPEC_NAN_OMIT_COLS), 1, 2, 2, 3, 3, 1);
    /* not those that are not selected */
    ORIGIN(path("h.csv"), OPTS(.select_cols = "c,a"), 1, 0, 2, 3, 3, 1);
    ORIGIN(path("h.csv"), OPTS(.select_rows = "0-1", .nan = KSPEC_NAN_KEEP), 1, 1, 2, 3, 3, 1);
    /* a header of rows names no columns, and is a header all the same */
    ORIGIN(path("h.csv"), OPTS(.axes = "cols,rows", .select_rows = "0,2"), 1, 0, 2, 3, 3, 1);
    put_counting("line", 1, 5, 0, 0);
    put_counting("cube", 3, 2, 4, 3);
    ORIGIN(path("line"), NULL, 0, 0, 1, 5, 1, 1);
    ORIGIN(path("cube"), NULL, 0, 0, 3, 2, 4, 3);
    ORIGIN(path("cube"), OPTS(.axes = "cols,rows,trials", .select_rows = "1"), 0, 0, 3, 2, 4, 3);
    ORIGIN(fixture("binary/u1-idx3"), NULL, 0, 0, 2, 2, 6, 1); /* images are rows */
    const double gaps[] = {1, 2, 5, 6, NAN, NAN, 7, 8, NAN, NAN, 9, 10, 3, 4, NAN, NAN};
    put_npy("ragged", 3, (const size_t[]){4, 2, 2}, 0, gaps);
    ORIGIN(path("ragged"), OPTS(.axes = "trials,rows,cols", .nan = KSPEC_NAN_RAGGED_TRIALS), 0, 6, 3, 4, 2,
           2);
}

/* ------------------------------------------------------------------- memory */

static const ks_array *storage_of(const kspec_dataset *d) { return &((const ks_dataset *)d)->storage; }

TEST(what_is_laid_out_right_is_not_copied) {
    kspec_dataset *d;
    put_counting("x.npy", 3, 2, 30, 20);
    CHECK(read_one(path("x.npy"), NULL, &d) == KSPEC_OK);
    const ks_array *storage = storage_of(d);
    const char *map = storage->storage.map;
    CHECK(map && (const char *)d->data > map && (const char *)d->data < map + storage->storage.map_size);
    kspec_free(d);
    CHECK(read_one(path("x.npy"), OPTS(.nan = KSPEC_NAN_OMIT_ROWS), &d) ==
          KSPEC_OK); /* nothing to leave out */
    storage = storage_of(d);
    CHECK(storage->storage.map != NULL);
    kspec_free(d);
    CHECK(read_one(put_counting("y.npy", 3, 1, 30, 20), OPTS(.axes = "rows,trials,cols"), &d) == KSPEC_OK);
    storage = storage_of(d);
    CHECK(storage->storage.map && d->trials == 30 && d->rows == 1); /* an axis of one may stand anywhere */
    kspec_free(d);
    CHECK(read_one(path("x.npy"), OPTS(.select_rows = "1"), &d) == KSPEC_OK);
    storage = storage_of(d);
    CHECK(!storage->storage.map && d->data[0] == 20);
    kspec_free(d);
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
            kspec_dataset *d;
            kspec_error e = {0};
            failing_alloc_arm(k);
            kspec_status st = kspec_read(cases[c].inputs, cases[c].count, cases[c].opts, &d, &e);
            if (st) CHECK(d == NULL);
            kspec_free(d);
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

TEST(wine) {
    const char *file = find_data("wine/winequality-white.csv");
    if (!file) SKIP_WITHOUT("wine/winequality-white.csv");
    kspec_dataset *d;
    CHECK(read_one(file, OPTS(.select_cols = "0-10", .select_rows = "0,4897"), &d) == KSPEC_OK);
    CHECK(d->trials == 1 && d->rows == 2 && d->cols == 11 && d->data[10] == 8.8 &&
          strcmp(d->col_names[10], "alcohol") == 0);
    kspec_free(d);
    CHECK(read_one(file, NULL, &d) == KSPEC_OK && d->rows == 4898 && d->cols == 12);
    kspec_free(d);
}

TEST(communities) {
    const char *file = find_data("communities/communities.data");
    if (!file) SKIP_WITHOUT("communities/communities.data");
    kspec_dataset *d;
    REFUSES(file, NULL, KSPEC_E_IO, "line 1, column 3: 'Lakewoodcity' is not a number; leave the column out");
    REFUSES(file, OPTS(.select_cols = "5-126"), KSPEC_E_IO,
            "36850 missing values, the first at row 1, column 101 (from 0)");
    CHECK(strstr(err.msg, "omit-cols 100 of 122 columns") != NULL);
    CHECK(read_one(file, OPTS(.select_cols = "5-126", .nan = KSPEC_NAN_OMIT_COLS), &d) == KSPEC_OK);
    CHECK(d->rows == 1994 && d->cols == 100 && d->omitted_cols == 22 && d->data[0] == 0.19);
    kspec_free(d);
    CHECK(read_one(file, OPTS(.select_cols = "5-126", .nan = KSPEC_NAN_OMIT_ROWS), &d) == KSPEC_OK);
    CHECK(d->rows == 319 && d->cols == 122 && d->omitted_rows == 1675);
    kspec_free(d);
}

TEST(v4) {
    const char *file = find_data("v4/responses_210325.npy");
    if (!file) SKIP_WITHOUT("v4/responses_210325.npy");
    kspec_dataset *d, *raw;
    REFUSES(file, OPTS(.axes = "cols,rows,trials"), KSPEC_E_IO, "ragged-trials");
    CHECK(read_one(file, OPTS(.axes = "cols,rows,trials", .nan = KSPEC_NAN_KEEP), &raw) == KSPEC_OK);
    CHECK(read_one(file, OPTS(.axes = "cols,rows,trials", .nan = KSPEC_NAN_RAGGED_TRIALS), &d) == KSPEC_OK);
    CHECK(d->trials == 10 && d->rows == 640 && d->cols == 50 && d->array_dims == 3);
    size_t least = 10, most = 0;
    for (size_t i = 0; i < d->rows && d->row_trials; i++) {
        size_t have = 0;
        for (size_t t = 0; t < 10; t++) {
            const double *from = raw->data + (t * 640 + i) * 50;
            if (isnan(from[0])) continue;
            CHECK(memcmp(from, d->data + (have * 640 + i) * 50, 50 * sizeof *from) == 0);
            have++;
        }
        CHECK(d->row_trials[i] == have);
        if (have < least) least = have;
        if (have > most) most = have;
    }
    CHECK_MSG(least == 6 && most == 10, "%zu to %zu", least, most);
    kspec_free(d);
    kspec_free(raw);
}

int main(void) {
    make_folder();
    RUN(formats_are_told_by_content);
    RUN(damaged_files_are_told_by_their_suffix);
    RUN(keys);
    RUN(long_and_odd_names);
    RUN(standard_input);
    RUN(arguments);
    RUN(axes_are_named);
    RUN(selections);
    RUN(several_inputs_are_trials);
    RUN(a_data_set_says_what_the_file_was);
    RUN(what_is_laid_out_right_is_not_copied);
    RUN(allocations_may_fail);
    RUN(wine);
    RUN(communities);
    RUN(v4);
    remove_folder();
    return test_done();
}
