/* What the two files of kspec wls share: wls.c has the options and what needs no file, wls_files.c the rest. */
#ifndef KSPEC_CLI_WLS_H
#define KSPEC_CLI_WLS_H

#include "core/cli.h"

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

/* P, where it is not given the least that it can be */
size_t wls_modes(const wls_args *a);

/* Is anything said of the truth, so that errors can be expected of a fit? */
static inline int wls_expects(const wls_args *a) { return a->modes || a->gamma != 0 || a->noise != 0; }

/* The table's first lines on the grid; the JSON object with what was asked for, and one of its points (m may be NULL) */
void wls_print_setting(const wls_args *a, const kspec_wls_opts *o);
json_t *wls_json(const wls_args *a, const char *mode, json_t *points);
json_t *wls_point_json(const kspec_wls_point *q, const kspec_wls_measured *m);

/* Each returns an exit status. */
int wls_fit(wls_args *a);
int wls_features(wls_args *a);
int wls_decay(wls_args *a);

#endif
