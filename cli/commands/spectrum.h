/* Declares the parts that the methods of `kspec spectrum` share: spectrum.c runs the command,
 * spectrum_given.c reads known values, and each spectrum_METHOD.c prints the result of one method. */
#pragma once

#include "commands/estimation.h"
#include "commands/groups.h"

typedef struct {
    cli_common common;
    cli_estimation how;
    cli_group_files groups;
    size_t rank, grid, count;
    double upper, noise;
    int method, draws, weights, spacing, quantile, truth_center;
    const char *moments, *truth;
    /* the option that chose the method, if --method did not */
    const char *implied_by;
    cli_list std_errors, t;
    cli_ranges exponent;
} spectrum_args;

typedef struct {
    const spectrum_args *a;
    const kspec_dataset *d;
    const kspec_spectrum_result *r;
    /* the true eigenvalues in decreasing order, or NULL without --truth */
    const double *truth;
    size_t truth_count;
} spectrum_output;

extern const cli_choice spectrum_weights[];

/* The moments given by --moments, as a list or as the JSON output of kspec theory or kspec moments.
 * Unknown errors are NULL. */
typedef struct {
    double *m, *std_error, *correlation;
    size_t count;
} spectrum_moments;
int spectrum_read_moments(const spectrum_args *a, spectrum_moments *g);
void spectrum_moments_free(spectrum_moments *g);

/* Reads the decreasing eigenvalues of --truth into a list, which the caller frees. Without the option the
 * list is empty. Also sets the centring in a. */
int spectrum_read_truth(spectrum_args *a, cli_list *list);

typedef struct {
    const char *name;
    const double *x;
    size_t n;
} spectrum_array;

/* Prints the input, its shape, the method and the centring in one line. */
void spectrum_print_head(FILE *f, const spectrum_output *u);

/* Returns a JSON object with the keys that all methods share and the first `shown` eigenvalues. The list
 * `more` of further arrays ends with a NULL name. */
json_t *spectrum_json(const spectrum_output *u, size_t shown, const spectrum_array *more);

/* The number of eigenvalues in the table unless --count sets it, and the function that prints the
 * eigenvalues with their errors. */
enum { SPECTRUM_SHOWN = 20 };
void spectrum_print_eigenvalues(FILE *f, const spectrum_output *u, size_t shown);

/* Functions that print a spectrum_output or convert it to JSON, for cli_done(). */
void spectrum_moments_print(FILE *f, const void *result);
json_t *spectrum_moments_json(const void *result);

void spectrum_cvpca_print(FILE *f, const void *result);
json_t *spectrum_cvpca_json(const void *result);

void spectrum_newton_print(FILE *f, const void *result);
json_t *spectrum_newton_json(const void *result);

void spectrum_fit_print(FILE *f, const void *result);
json_t *spectrum_fit_json(const void *result);
