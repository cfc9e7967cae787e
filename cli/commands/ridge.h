/* The arguments of `kspec ridge`, and the data that it reads. */
#pragma once

#include "core/cli.h"

/* What --optimize searches */
enum { RIDGE_GRID, RIDGE_LAMBDA, RIDGE_FEATURES };

typedef struct {
    cli_common common;
    const char *target, *target_cols, *test, *test_target;
    cli_list classes, features, lambda;
    size_t per_class, test_per_class, empirical;
    int center, scale, solver, optimize, device;
    cli_sigma sigma;
    /* 0: not given */
    double test_noise, tolerance, cost_limit;
} ridge_args;

/* Training or test rows and targets: views of files, or of rows picked from them by class */
typedef struct {
    kspec_matrix x, y;
    kspec_dataset *x_file, *y_file;
    double *x_rows, *y_rows;
} ridge_set;

/* Reads and checks the files; an exit status after a message. test->x.rows is 0 without a test set. */
int ridge_read(const ridge_args *a, ridge_set *train, ridge_set *test);
void ridge_set_free(ridge_set *s);
