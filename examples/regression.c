/*
 * How many random features, and how much ridge? Known before anything is trained.
 *
 * For each number N of random Fourier features: the ridge strength of least predicted test error, that error,
 * and, to see whether it is true, the error of ten regressions that are really made.
 *
 *     cc regression.c $(pkg-config --cflags --libs kspec) -o regression
 *     ./regression [X Y]      rows x variables, and a target for each row: x.npy, x.csv, ...
 *
 * The last third of the rows is for testing.
 */
#include <kspec.h>

#include <stdio.h>
#include <stdlib.h>

static void check(kspec_status status, const kspec_error *err) {
    if (status == KSPEC_OK) return;
    fprintf(stderr, "regression: %s\n", err->msg);
    exit(1);
}

/*
 * An example: 180 points of a 20-dimensional normal distribution, a target of -1 or 1 by a plane, and noise
 * of variance 1/4.
 */
enum { ROWS = 180, DIM = 20, DRAWS = 10 };
static double points[ROWS * DIM], targets[ROWS];

static void example(void) {
    kspec_random_normal(1, 5, 0, ROWS * DIM, points);
    kspec_random_normal(1, 6, 0, ROWS, targets);
    for (size_t i = 0; i < ROWS; i++) {
        double side = 0;
        for (size_t j = 0; j < DIM; j += 2) side += points[i * DIM + j];
        targets[i] = (side > 0 ? 1 : -1) + targets[i] / 2;
    }
}

/* Rows first ... first+count-1 of a matrix: no copy is made. */
static kspec_matrix rows(kspec_matrix m, size_t first, size_t count) {
    return (kspec_matrix){m.data + (ptrdiff_t)first * m.row_stride, count, m.cols, m.row_stride,
                          m.col_stride};
}

int main(int argc, char **argv) {
    kspec_matrix x = {points, ROWS, DIM, DIM, 1}, y = {targets, ROWS, 1, 1, 1};
    kspec_dataset *files[2] = {0};
    kspec_error err;
    if (argc > 2) {
        for (int i = 0; i < 2; i++) {
            const char *inputs[] = {argv[1 + i]};
            check(kspec_read(inputs, 1, NULL, &files[i], &err), &err);
        }
        x = kspec_dataset_trial(files[0], 0);
        y = kspec_dataset_trial(files[1], 0);
        if (y.rows != x.rows)
            return fprintf(stderr, "regression: %zu rows, %zu targets\n", x.rows, y.rows), 1;
    } else {
        example();
    }

    size_t n = x.rows - x.rows / 3, n_test = x.rows / 3;
    kspec_matrix x_train = rows(x, 0, n), x_test = rows(x, n, n_test), y_train = rows(y, 0, n),
                 y_test = rows(y, n, n_test);
    kspec_ridge_opts opts = {.size = sizeof opts, .center = 1, .unit_length = 1};
    kspec_ridge *ridge;
    check(kspec_ridge_open(&x_train, &y_train, &x_test, &y_test, &opts, &ridge, &err), &err);
    printf("%zu rows to train, %zu to test\n\n   N   best lambda   test error   measured\n", n, n_test);
    for (size_t features = (n + 7) / 8; features <= 2 * n; features *= 2) {
        kspec_ridge_result *found;
        check(kspec_ridge_best_lambda(ridge, features, 1e-6, 100, &found, &err), &err);
        const kspec_ridge_point *best = found->points[0];
        kspec_ridge_empirical_result *drawn;
        check(kspec_ridge_empirical(ridge, features, &best->lambda, 1, DRAWS, &drawn, &err), &err);
        const kspec_ridge_measured *measured = drawn->points[0];
        printf("%4zu   %-11.3g   %-10.4f   %.4f (spread %.2g)\n", features, best->lambda, best->test_mse,
               measured->test_mse, measured->test_sd);
        kspec_free(drawn);
        kspec_free(found);
    }
    kspec_ridge_close(ridge);
    kspec_free(files[0]);
    kspec_free(files[1]);
    return 0;
}
