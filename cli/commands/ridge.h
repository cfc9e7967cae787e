/* What `kspec ridge` is told, and the data that it reads. */
#ifndef KSPEC_CLI_RIDGE_H
#define KSPEC_CLI_RIDGE_H

#include "core/cli.h"

typedef struct {
    cli_common common;
    const char *target, *target_cols, *test, *test_target;
    cli_list classes;
    size_t per_class, test_per_class;
    int center, scale;
    const char *sigma;
    cli_list features, lambda;
    double test_noise, tolerance, cost_limit; /* 0: not given */
    size_t empirical;
    const char *solver, *optimize;
} ridge_args;

/* Training or test rows and targets: views of files, or rows picked from them */
typedef struct {
    kspec_matrix x, y;
    kspec_dataset x_file, y_file;
    double *x_rows, *y_rows; /* picked by class */
} ridge_set;

/* Reads and checks the files; returns an exit status after a message. test->x.rows is 0 where there is no
   test set. */
int ridge_read(const ridge_args *a, ridge_set *train, ridge_set *test);
void ridge_set_free(ridge_set *s);

#endif
