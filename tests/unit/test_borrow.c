/*
 * kspec_borrow(): arrays in memory are read as files of the same numbers are, with and without a copy. Those
 * on a GPU stay there, or are copied to the host.
 */
#include "help/failing_alloc.h"
#include "help/read.h"
#include "kspec/host.h"

#include <pthread.h>

/* 2 trials x 3 rows x 4 columns of 0, 1, 2, ..., and room for the same in other orders */
enum { T = 2, R = 3, C = 4, ALL = T * R * C };
static double plain[ALL], turned[ALL];

static void make_numbers(void) {
    for (int t = 0; t < T; t++)
        for (int i = 0; i < R; i++)
            for (int j = 0; j < C; j++) {
                double x = (t * R + i) * C + j;
                plain[(t * R + i) * C + j] = x;
                turned[(j * R + i) * T + t] = x;
            }
}

/* An array is meant by the address of its name. */
static const char X[] = "x", Y[] = "y";

static const kspec_array stored = {X, plain, 3, {T, R, C}, {R * C, C, 1}, NULL};
/* the same numbers by other ways: (cols, rows, trials) as they lie, and by negative strides */
static const kspec_array fortran = {X, turned, 3, {C, R, T}, {R * T, T, 1}, NULL};
static const kspec_array backwards = {X, plain + ALL - 1, 3, {T, R, C}, {-R * C, -C, -1}, NULL};

static double at(const kspec_matrix *m, size_t i, size_t j) {
    return m->data[(ptrdiff_t)i * m->row_stride + (ptrdiff_t)j * m->col_stride];
}

static void check_numbers(const kspec_dataset *d, int reversed) {
    CHECK(d->trials == T && d->rows == R && d->cols == C && d->array_dims == 3);
    for (size_t t = 0; t < T; t++) {
        kspec_matrix m = kspec_dataset_trial(d, t);
        for (size_t i = 0; i < R; i++)
            for (size_t j = 0; j < C; j++) {
                double x = (double)((t * R + i) * C + j);
                CHECK(at(&m, i, j) == (reversed ? ALL - 1 - x : x));
            }
    }
}

TEST(every_layout_is_read) {
    const struct {
        const kspec_array *array;
        const char *axes;
        int reversed, copied;
    } cases[] = {{&stored, NULL, 0, 0}, {&fortran, "cols,rows,trials", 0, 1}, {&backwards, NULL, 1, 1}};
    for (size_t k = 0; k < 3; k++)
        for (int in_place = 0; in_place < 2; in_place++) {
            kspec_dataset *d;
            kspec_borrow(&(kspec_borrowed){cases[k].array, 1, NULL, NULL});
            CHECK(read_one(X, OPTS(.axes = cases[k].axes, .in_place = in_place), &d) == KSPEC_OK);
            if (!d) continue;
            check_numbers(d, cases[k].reversed);
            const double *first = kspec_dataset_trial(d, 0).data, *lent = cases[k].array->data;
            CHECK((first == lent) == (in_place || !cases[k].copied));
            CHECK((d->data == NULL) == (in_place && cases[k].copied));
            kspec_free(d);
        }
    kspec_borrow(NULL);
}

TEST(several_arrays_are_trials) {
    const char *const inputs[] = {"a", "b"};
    const kspec_array two[] = {{inputs[0], plain, 2, {R, C}, {C, 1}, NULL},
                               {inputs[1], plain + R * C, 2, {R, C}, {C, 1}, NULL}};
    kspec_dataset *d;
    kspec_borrow(&(kspec_borrowed){two, 2, NULL, NULL});
    CHECK(kspec_read(inputs, 2, OPTS(.in_place = 1), &d, &err) == KSPEC_OK);
    CHECK(d->trials == 2 && d->data == NULL);
    CHECK(kspec_dataset_trial(d, 1).data == plain + R * C);
    kspec_free(d);
    kspec_borrow(NULL);
}

TEST(columns_have_names) {
    const char *const names[] = {"red", "green", NULL, "blue"};
    const kspec_array one = {X, plain, 2, {R, C}, {C, 1}, names};
    kspec_dataset *d;
    kspec_labels *l;
    kspec_borrow(&(kspec_borrowed){&one, 1, NULL, NULL});
    CHECK(read_one(X, OPTS(.select_cols = "blue,red", .in_place = 1), &d) == KSPEC_OK);
    CHECK(d->cols == 2 && d->data[0] == 3 && d->data[1] == 0 && !d->has_header);
    CHECK(strcmp(d->col_names[0], "blue") == 0 && strcmp(d->col_names[1], "red") == 0);
    kspec_free(d);
    REFUSES(X, OPTS(.select_cols = "grene"), KSPEC_E_ARG, "did you mean 'green'?");
    CHECK(kspec_read_labels(X, OPTS(.select_cols = "green"), &l, &err) == KSPEC_OK);
    CHECK(l->count == R && l->groups == R && l->column == 1 && l->columns == C);
    kspec_free(l);
    kspec_borrow(NULL);
}

/* The policies for missing values see what they would see in a file. */
TEST(values_are_missing) {
    double x[R * C];
    memcpy(x, plain, sizeof x);
    x[1 * C + 2] = NAN;
    const kspec_array given = {X, x + R * C - 1, 2, {R, C}, {-C, -1}, NULL};
    kspec_dataset *d;
    kspec_borrow(&(kspec_borrowed){&given, 1, NULL, NULL});
    REFUSES(X, OPTS(.in_place = 1), KSPEC_E_IO, "x: 1 missing value, the first at row 1, column 1 (from 0)");
    CHECK(read_one(X, OPTS(.in_place = 1, .nan = KSPEC_NAN_KEEP), &d) == KSPEC_OK);
    CHECK(d->missing == 1 && kspec_dataset_trial(d, 0).data == given.data);
    kspec_free(d);
    CHECK(read_one(X, OPTS(.in_place = 1, .nan = KSPEC_NAN_OMIT_ROWS), &d) == KSPEC_OK);
    CHECK(d->missing == 1 && d->rows == 2 && d->omitted_rows == 1 && d->data[0] == R * C - 1);
    kspec_free(d);
    kspec_borrow(NULL);
}

TEST(refusals) {
    const kspec_array four = {X, plain, 4, {1, 1, 1}, {1, 1, 1}, NULL},
                      none = {X, NULL, 2, {2, 2}, {2, 1}, NULL}, empty = {X, plain, 2, {0, 3}, {3, 1}, NULL};
    kspec_borrow(&(kspec_borrowed){&four, 1, NULL, NULL});
    REFUSES(X, NULL, KSPEC_E_ARG, "x has 4 axes; 1 to 3 are expected");
    kspec_borrow(&(kspec_borrowed){&none, 1, NULL, NULL});
    REFUSES(X, NULL, KSPEC_E_ARG, "x has no data");
    kspec_borrow(&(kspec_borrowed){&empty, 1, NULL, NULL});
    REFUSES(X, NULL, KSPEC_E_IO, "x: the array is empty: axis 0 has length 0");
    kspec_borrow(&(kspec_borrowed){NULL, 5, NULL, NULL});
    REFUSES(X, NULL, KSPEC_E_IO, "x");
}

static void *look(void *found) {
    const char *input = X;
    kspec_dataset *d;
    kspec_error mine;
    *(int *)found = kspec_read(&input, 1, NULL, &d, &mine) == KSPEC_OK;
    if (*(int *)found) kspec_free(d);
    return NULL;
}

TEST(other_threads_do_not_see_them) {
    int found = 0;
    pthread_t other;
    kspec_borrow(&(kspec_borrowed){&stored, 1, NULL, NULL});
    CHECK(pthread_create(&other, NULL, look, &found) == 0);
    pthread_join(other, NULL);
    CHECK(!found);
    look(&found);
    CHECK(found);
    kspec_borrow(NULL);
}

TEST(a_file_of_the_same_name_is_another_input) {
    char same[] = "x";
    kspec_borrow(&(kspec_borrowed){&stored, 1, NULL, NULL});
    REFUSES(same, NULL, KSPEC_E_IO, "cannot open x: No such file");
    const kspec_borrowed before = kspec_borrow(&(kspec_borrowed){&fortran, 1, NULL, NULL});
    CHECK(before.arrays == &stored && before.count == 1 && !before.on_device);
    kspec_borrow(&before);
    int found = 0;
    look(&found);
    CHECK(found);
    kspec_borrow(NULL);
}

TEST(allocations_may_fail) {
    const char *const names[] = {"a", "b", "c", "d"};
    const kspec_array arrays[] = {{"n", plain, 2, {R, C}, {C, 1}, names}, fortran};
    kspec_dataset *d;
    for (int k = 0; k < 2; k++) {
        const char *input = arrays[k].name;
        const kspec_read_opts *o =
            k ? OPTS(.in_place = 1, .axes = "cols,rows,trials") : OPTS(.in_place = 1, .select_cols = "d,a");
        kspec_borrow(&(kspec_borrowed){arrays, 2, NULL, NULL});
        failing_alloc_install();
        long n = 0;
        for (; n < 100; n++) {
            failing_alloc_arm(n);
            kspec_status st = kspec_read(&input, 1, o, &d, &err);
            CHECK(!st == (d != NULL));
            kspec_free(d);
            CHECK_MSG(failing_alloc_live() == 0, "%s leaks at %ld", input, n);
            if (!st) break;
            CHECK(st == KSPEC_E_NOMEM);
        }
        CHECK_MSG(n >= 3 && n < 100, "%s: %ld", input, n);
        failing_alloc_uninstall();
    }
    kspec_borrow(NULL);
}

/* ---- on a GPU: at addresses that nobody here may look at ---- */

static const kspec_array away = {X, (const double *)((uintptr_t)1 << 62), 3, {C, R, T}, {R * T, T, 1}, NULL};
static int brought, refuse;
static int copy_in(void *ctx, size_t k, kspec_array *here) {
    CHECK(ctx == &brought && k == 1 && here->data == away.data);
    here->data = turned;
    brought++;
    return refuse;
}

TEST(arrays_stay_on_a_gpu) {
    const kspec_array arrays[] = {stored, away};
    const int is[] = {0, 1};
    const kspec_device_array there = {is, copy_in, &brought};
    const char *const inputs[] = {Y, X};
    const kspec_read_opts *const by_host[] = {
        OPTS(.axes = "cols,rows,trials"), OPTS(.in_place = 1, .axes = "cols,rows,trials"),
        OPTS(.on_device = 1, .axes = "cols,rows,trials"),
        OPTS(.on_device = 1, .in_place = 1, .axes = "cols,rows,trials", .select_rows = "0-2"),
        OPTS(.on_device = 1, .in_place = 1, .axes = "cols,rows,trials", .nan = KSPEC_NAN_OMIT_ROWS)};
    kspec_array renamed[] = {arrays[0], arrays[1]};
    kspec_dataset *d;
    renamed[0].name = Y;
    kspec_borrow(&(kspec_borrowed){renamed, 2, &there, NULL});
    CHECK(kspec_read(inputs + 1, 1, OPTS(.on_device = 1, .in_place = 1, .axes = "cols,rows,trials"), &d,
                     &err) == KSPEC_OK);
    if (d) {
        CHECK(d->memory == KSPEC_MEMORY_DEVICE && d->trials == T && d->rows == R && d->cols == C && !brought);
        for (size_t t = 0; t < T; t++) {
            const kspec_matrix m = kspec_dataset_trial(d, t);
            CHECK(m.data == away.data + t && m.row_stride == T && m.col_stride == R * T);
        }
    }
    kspec_free(d);
    for (size_t k = 0; k < sizeof by_host / sizeof *by_host; k++) {
        CHECK_MSG(kspec_read(inputs + 1, 1, by_host[k], &d, &err) == KSPEC_OK, "%zu: %s", k, err.msg);
        CHECK(brought == (int)k + 1 && d && d->memory == KSPEC_MEMORY_HOST);
        if (d) check_numbers(d, 0);
        kspec_free(d);
    }
    /* one here, one there: both here */
    const kspec_array mixed[] = {{Y, plain, 2, {C, R}, {R, 1}, NULL},
                                 {X, away.data, 2, {C, R}, {R, 1}, NULL}};
    kspec_borrow(&(kspec_borrowed){mixed, 2, &there, NULL});
    CHECK(kspec_read(inputs, 2, OPTS(.on_device = 1, .in_place = 1), &d, &err) == KSPEC_OK && d->trials == 2);
    if (d) CHECK(d->memory == KSPEC_MEMORY_HOST && kspec_dataset_trial(d, 1).data == turned);
    kspec_free(d);
    refuse = 1;
    CHECK(kspec_read(inputs + 1, 1, NULL, &d, &err) == KSPEC_E_DATA && !d);
    kspec_borrow(NULL);
    CHECK(kspec_read(inputs + 1, 1, NULL, &d, &err) == KSPEC_E_IO);
}

int main(void) {
    make_numbers();
    RUN(every_layout_is_read);
    RUN(several_arrays_are_trials);
    RUN(columns_have_names);
    RUN(values_are_missing);
    RUN(refusals);
    RUN(other_threads_do_not_see_them);
    RUN(a_file_of_the_same_name_is_another_input);
    RUN(allocations_may_fail);
    RUN(arrays_stay_on_a_gpu);
    return test_done();
}
