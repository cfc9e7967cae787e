/* Declares the arguments of `kspec ridge` and the data that it reads. */
#pragma once

#include "core/cli.h"

/* What --optimize searches for. Without --optimize, --features and --lambda the command searches for both
 * numbers, which makes a recommendation. */
enum { RIDGE_GRID, RIDGE_LAMBDA, RIDGE_FEATURES, RIDGE_RECOMMEND };

/* The number of draws that check a prediction, unless --empirical sets another number. */
enum { RIDGE_CHECK_DRAWS = 8 };

/* The values of --standardize and --center-target. The value is 0 if the option is not given. */
enum { RIDGE_YES = 1, RIDGE_NO };

typedef struct {
    cli_common common;
    const char *target, *target_cols, *test, *test_target, *bilinear;
    cli_list classes, features, lambda;
    size_t per_class, test_per_class, empirical;
    int center, scale, solver, optimize, device, standardize, center_target, activation, check, intercept;
    int density, kernel;
    cli_sigma sigma;
    /* 0: not given */
    double test_noise, tolerance, cost_limit, test_fraction, slope, nu;
    /* 1 if the target is a column of INPUT; set by ridge_read() */
    int in_table;
    /* with --classes: the label of each column of the one-hot targets; set by ridge_read() */
    double *labels;
    size_t label_count;
} ridge_args;

/* Training or test data: views of the rows and targets in files, or copies of rows that were picked by
 * class. */
typedef struct {
    kspec_matrix x, y;
    kspec_dataset *x_file, *y_file;
    double *x_rows, *y_rows;
    double *complete; /* with --nan omit-rows: copies of the rows and targets without missing values */
} ridge_set;

/* Reads and checks the files. On failure prints a message and returns an exit status. test->x.rows is 0
 * without a test set. */
int ridge_read(ridge_args *a, ridge_set *train, ridge_set *test);
void ridge_set_free(ridge_set *s);

/* ---- bilinear forms ---- */

/* Holds the vectors of --bilinear and the values of the bilinear forms for each N and lambda. */
typedef struct {
    kspec_dataset *left,
        *right; /* the two sides of each bilinear form; right is NULL if both sides are equal */
    kspec_ridge_bilinear_result *made;
} ridge_forms;

int ridge_forms_read(const ridge_args *a, ridge_forms *f);
kspec_status ridge_forms_make(ridge_forms *f, const ridge_args *a, kspec_ridge *plan, size_t draws,
                              kspec_error *err);
void ridge_forms_keys(const ridge_forms *f, size_t k, json_t *to);
void ridge_forms_print(FILE *out, const ridge_forms *f, const cli_common *c);
void ridge_forms_free(ridge_forms *f);

/* ---- a recommendation ---- */

enum { RIDGE_THEORY_ROWS = 1000, RIDGE_CHOICES = 3 };

typedef struct {
    kspec_ridge_recommend_result *found;
    /* the number of training rows in the table; the theory may use fewer rows */
    size_t training_rows;
    double r2, median;
    /* seconds of a regression on all training rows, extrapolated from a regression on the rows in use */
    double training_seconds;
} ridge_advice;

/* Sets N and lambda of choice k. The choices are the recommended model, a model with half as many
 * features and a model with twice as many features. */
void ridge_choice(const ridge_advice *r, size_t k, size_t *N, double *lambda);
void ridge_print_advice(FILE *f, const ridge_advice *r, const ridge_args *a);
void ridge_advice_keys(const ridge_advice *r, json_t *to);
