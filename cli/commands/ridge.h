/* Declares the arguments of `kspec ridge` and the data that it reads. */
#pragma once

#include "core/cli.h"

/*
 * The search of --optimize. Without --optimize, --features and --lambda the command searches all: a
 * recommendation
 */
enum { RIDGE_GRID, RIDGE_LAMBDA, RIDGE_FEATURES, RIDGE_RECOMMEND };

/* Draws that check a prediction, unless --empirical gives their number */
enum { RIDGE_CHECK_DRAWS = 8 };

/* --standardize and --center-target; 0: not given */
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
    /* set by ridge_read(): 1 if the target is a column of INPUT */
    int in_table;
    /* set by ridge_read(), with --classes: the labels, in the order of the columns of one-hot targets */
    double *labels;
    size_t label_count;
} ridge_args;

/* Training or test rows and targets: views of files, or rows picked from files by class */
typedef struct {
    kspec_matrix x, y;
    kspec_dataset *x_file, *y_file;
    double *x_rows, *y_rows;
    double *complete; /* rows and targets without missing values, after --nan omit-rows */
} ridge_set;

/*
 * Reads and checks the files; returns an exit status after a message. test->x.rows is 0 without a test set.
 */
int ridge_read(ridge_args *a, ridge_set *train, ridge_set *test);
void ridge_set_free(ridge_set *s);

/* ---- bilinear forms ---- */

/* The vectors of --bilinear, and the forms for each N and lambda */
typedef struct {
    kspec_dataset *left, *right; /* the two sides of a bilinear form; right NULL: the same as left */
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
    /* the number of training rows of the table; the theory may use fewer */
    size_t training_rows;
    double r2, median;
    /* seconds of a regression on all training rows, extrapolated from one on the rows in use */
    double training_seconds;
} ridge_advice;

/*
 * Gives N and lambda of choice k: the recommended model, a model with half its features, and one with twice
 * its features
 */
void ridge_choice(const ridge_advice *r, size_t k, size_t *N, double *lambda);
void ridge_print_advice(FILE *f, const ridge_advice *r, const ridge_args *a);
void ridge_advice_keys(const ridge_advice *r, json_t *to);
