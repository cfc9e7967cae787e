/* What the two files of kspec wls share: cmd_wls.c has the options and what needs no file, wls_files.c the rest. */
#ifndef KSPEC_CLI_WLS_H
#define KSPEC_CLI_WLS_H

#include "cli.h"

typedef struct {
    cli_common common;
    size_t grid, modes, draws;
    double alpha, beta, gamma, noise, zeta, rank_tol, sigma;
    int complex_noise, best_p, best_weights, degree, unit;
    const char *learn, *fit, *at, *theta, *predictions;
    const char *features, *target, *data_weights, *feature_weights, *prior, *noise_cov;
    const char *decay, *kernel;
    size_t *p; /* --learn, read */
    size_t count;
} wls_args;

/* The options of a call on the grid */
kspec_wls_opts wls_opts(const wls_args *a);

/* The table's first lines on the grid */
void wls_print_setting(const wls_args *a, const kspec_wls_opts *o);

/* Each returns an exit status. */
int wls_fit(wls_args *a);
int wls_features(wls_args *a);
int wls_decay(wls_args *a);

#endif
