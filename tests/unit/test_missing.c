/*
 * Missing values: every policy with its messages, and random arrays in every memory order, with random axes,
 * selections and gaps, against a slow reading of the same rules.
 */
#include "help/read.h"

TEST(missing_values_are_named) {
    put_text("m.csv", "a,b,c\n1,2,3\n4,NA,6\n7,,9\n");
    REFUSES(path("m.csv"), NULL, KSPEC_E_IO,
            "m.csv: 2 missing values, the first at row 1, column 1 ('b') (from 0); "
            "omit-rows leaves 1 of 3 rows, omit-cols 2 of 3 columns");
    REFUSES(path("m.csv"), OPTS(.select_rows = "2,0"), KSPEC_E_IO,
            "1 missing value, the first at row 2, column 1 ('b') (from 0); ");
    REFUSES(path("m.csv"), OPTS(.select_rows = "2,0", .select_cols = "c,b"), KSPEC_E_IO,
            "the first at row 2, column 1 ('b') (from 0); "); /* where the file has it */
    REFUSES(path("m.csv"), OPTS(.axes = "cols,rows", .select_rows = "c,b", .select_cols = "1-2"), KSPEC_E_IO,
            "2 missing values, the first at row 1, column 1 (from 0); ");
    REFUSES(path("m.csv"), OPTS(.axes = "cols,rows", .select_rows = "b", .select_cols = "2"), KSPEC_E_IO,
            "the first at row 1, column 2 (from 0); ");
    READS(path("m.csv"), OPTS(.nan = KSPEC_NAN_KEEP), 1, 3, 3, 1, 2, 3, 4, NAN, 6, 7, NAN, 9);
    READS(path("m.csv"), OPTS(.nan = KSPEC_NAN_OMIT_ROWS), 1, 1, 3, 1, 2, 3);
    READS(path("m.csv"), OPTS(.nan = KSPEC_NAN_OMIT_COLS), 1, 3, 2, 1, 3, 4, 6, 7, 9);
    READS(path("m.csv"), OPTS(.select_cols = "2,0"), 1, 3, 2, 3, 1, 6, 4, 9, 7);
    kspec_dataset *d;
    CHECK(read_one(path("m.csv"), OPTS(.nan = KSPEC_NAN_OMIT_COLS), &d) == KSPEC_OK && d->omitted_cols == 1 &&
          d->omitted_rows == 0);
    CHECK(strcmp(d->col_names[0], "a") == 0 && strcmp(d->col_names[1], "c") == 0);
    kspec_free(d);
    CHECK(read_one(path("m.csv"), OPTS(.nan = KSPEC_NAN_OMIT_ROWS), &d) == KSPEC_OK && d->omitted_cols == 0 &&
          d->omitted_rows == 2);
    CHECK(strcmp(d->col_names[1], "b") == 0);
    kspec_free(d);
    put_text("all.csv", "1,NA\nNA,2\n");
    REFUSES(path("all.csv"), OPTS(.nan = KSPEC_NAN_OMIT_ROWS), KSPEC_E_IO,
            "every row misses a value, omit-rows leaves none");
    REFUSES(path("all.csv"), OPTS(.nan = KSPEC_NAN_OMIT_COLS), KSPEC_E_IO,
            "every column misses a value, omit-cols leaves none");
    CHECK(strcmp(err.option, "nan") == 0 && !err.setting[0]);
    const double x[] = {1, 2, 3, 4, 5, NAN, 7, 8};
    put_npy("two", 3, (size_t[]){2, 2, 2}, 0, x);
    REFUSES(path("two"), NULL, KSPEC_E_IO,
            "two: taken as 2 trials x 2 rows x 2 columns (axes), 1 missing value, the first at trial 1, row "
            "0, column 1 (from 0); omit-rows leaves 1 of 2");
    READS(path("two"), OPTS(.nan = KSPEC_NAN_OMIT_ROWS), 2, 1, 2, 3, 4, 7, 8); /* out of every trial */
    READS(path("two"), OPTS(.nan = KSPEC_NAN_OMIT_COLS), 2, 2, 1, 1, 3, 5, 7);
    const char *both[] = {put_text("p", "1\n2\n"), put_text("q", "1\n?\n")};
    CHECK_FAILS(kspec_read(both, 2, NULL, &d, &err), KSPEC_E_IO, err,
                "/q: 1 missing value, the first at trial 1, row 1, column 0");
    const char *turned[] = {put_text("p", "a,b\n1,2\n3,4\n"), put_text("q", "b,a\n5,6\nNA,8\n")};
    CHECK_FAILS(
        kspec_read(turned, 2, OPTS(.select_cols = "b", .select_rows = "1"), &d, &err), KSPEC_E_IO, err,
        "/q: 1 missing value, the first at trial 1, row 1, column 0"); /* each file has its own columns */
}

TEST(ragged_trials) {
    const double x[] = {1,  2,  NAN, NAN, /* trial 0: row 1 is missing */ NAN, NAN, 5, 6, 7, 8, 9, 10,
                        11, 12, NAN, NAN};
    put_npy("r", 3, (size_t[]){4, 2, 2}, 0, x);
    const kspec_read_opts *ragged = OPTS(.axes = "trials,rows,cols", .nan = KSPEC_NAN_RAGGED_TRIALS);
    REFUSES(path("r"), OPTS(.axes = "trials,rows,cols"), KSPEC_E_IO,
            "r: taken as 4 trials x 2 rows x 2 columns (axes), 6 missing values, the first at trial 0, row "
            "1, column 0 (from 0); ragged-trials");
    CHECK(strcmp(err.option, "nan") == 0 && strcmp(err.setting, "ragged-trials") == 0);
    kspec_dataset *d;
    CHECK_MSG(read_one(path("r"), ragged, &d) == KSPEC_OK, "%s", err.msg);
    check_data(__LINE__, d, 3, 2, 2, (const double[]){1, 2, 5, 6, 7, 8, 9, 10, 11, 12, NAN, NAN});
    CHECK(d->row_trials && d->row_trials[0] == 3 && d->row_trials[1] == 2 && !d->omitted_rows);
    kspec_free(d);
    CHECK(read_one(path("r"),
                   OPTS(.axes = "trials,rows,cols", .nan = KSPEC_NAN_RAGGED_TRIALS, .select_rows = "1,0"),
                   &d) == KSPEC_OK);
    check_data(__LINE__, d, 3, 2, 2, (const double[]){5, 6, 1, 2, 9, 10, 7, 8, NAN, NAN, 11, 12});
    CHECK(d->row_trials[0] == 2 && d->row_trials[1] == 3);
    kspec_free(d);

    CHECK(read_one(put_counting("full", 3, 2, 3, 2), OPTS(.nan = KSPEC_NAN_RAGGED_TRIALS), &d) == KSPEC_OK);
    CHECK(d->trials == 2 && d->row_trials[0] == 2 && d->row_trials[2] == 2 && d->data[11] == 11);
    kspec_free(d);
    REFUSES(put_counting("single", 2, 2, 3, 0), OPTS(.nan = KSPEC_NAN_RAGGED_TRIALS), KSPEC_E_IO,
            "single has 1 trial; ragged-trials needs several");
    double y[16];
    memcpy(y, x, sizeof y);
    y[9] = NAN;
    put_npy("partly", 3, (size_t[]){4, 2, 2}, 0, y);
    REFUSES(path("partly"), ragged, KSPEC_E_IO, "partly: trial 2, row 0 misses column 1 but not all columns");
    REFUSES(path("partly"),
            OPTS(.axes = "trials,rows,cols", .nan = KSPEC_NAN_RAGGED_TRIALS, .select_rows = "1,0",
                 .select_cols = "1,0"),
            KSPEC_E_IO, "partly: trial 2, row 0 misses column 1 but not all columns");
    REFUSES(path("partly"), OPTS(.axes = "trials,rows,cols"), KSPEC_E_IO, "omit-rows leaves 0 of 2 rows");
    memcpy(y, x, sizeof y);
    y[10] = y[11] = NAN;
    put_npy("few", 3, (size_t[]){4, 2, 2}, 0, y);
    REFUSES(path("few"), ragged, KSPEC_E_IO,
            "few: row 1 (from 0) was measured in 1 of 4 trials; at least 2 are needed");
    REFUSES(path("few"),
            OPTS(.axes = "trials,rows,cols", .nan = KSPEC_NAN_RAGGED_TRIALS, .select_rows = "1",
                 .select_cols = "1"),
            KSPEC_E_IO, "few: row 1 (from 0) was measured in 1 of 4 trials; at least 2 are needed");
    REFUSES(path("few"), OPTS(.axes = "trials,rows,cols"), KSPEC_E_IO, "omit-rows leaves 0 of 2 rows");
    CHECK_MSG(!strstr(err.msg, "ragged"), "advice that would fail: %s", err.msg);
    y[6] = y[7] = NAN; /* row 1 is nowhere: no ragged trials */
    put_npy("none", 3, (size_t[]){4, 2, 2}, 0, y);
    REFUSES(path("none"), OPTS(.axes = "trials,rows,cols"), KSPEC_E_IO, "omit-rows leaves 0 of 2 rows");
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
static int slow_policy(kspec_nan policy, double *x, size_t n[3], size_t *row_trials) {
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
        kspec_nan policy = (kspec_nan)below(5);
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
        size_t before[3] = {m[0], m[1], m[2]}, missing = 0;
        for (size_t k = 0; k < m[0] * m[1] * m[2]; k++) missing += isnan(want[k]) != 0;
        int fine = slow_policy(policy, want, m, row_trials);
        kspec_dataset *d;
        kspec_status st = read_one(path("x.npy"),
                                   OPTS(.axes = axes, .select_rows = pick_rows ? rows : NULL,
                                        .select_cols = pick_cols ? cols : NULL, .nan = policy),
                                   &d);
        CHECK_MSG(st == (fine ? KSPEC_OK : KSPEC_E_IO), "round %d: %s", round, err.msg);
        if (!st && fine) {
            check_data(round, d, m[0], m[1], m[2], want);
            CHECK(d->missing == missing && d->array_dims == ndim);
            CHECK(d->omitted_rows == before[1] - m[1] && d->omitted_cols == before[2] - m[2]);
            CHECK(!d->row_trials == (policy != KSPEC_NAN_RAGGED_TRIALS));
            if (d->row_trials) CHECK(memcmp(d->row_trials, row_trials, m[1] * sizeof *row_trials) == 0);
        }
        *(st ? &refused : &read) += 1;
        kspec_free(d);
    }
    CHECK_MSG(read > 500 && refused > 100, "%d read, %d refused", read, refused);
}

int main(void) {
    make_folder();
    RUN(missing_values_are_named);
    RUN(ragged_trials);
    RUN(random_arrays_read_as_the_slow_reader_reads_them);
    remove_folder();
    return test_done();
}
