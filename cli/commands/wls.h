/* Declares the parts that the verbs of kspec wls share. Each verb has a file wls_VERB.c with its options
 * and its command. All verbs use the same struct of arguments, so that kspec wls without a verb can pass
 * the arguments on. */
#pragma once

#include "core/cli.h"

typedef struct {
    cli_common common;
    /* the key "mode" of the JSON object, if it differs from the verb */
    const char *mode;
    cli_ranges learn;
    size_t grid, modes, draws, ntk;
    double alpha, beta, gamma, noise, zeta, rank_tol, ridge, sigma, ntk_scale;
    int complex_noise, best_p, best_weights, degree, unit, kernel;
    /* Files. The first three members are the possible INPUTs of a verb. */
    const char *fit, *features, *decay;
    const char *at, *theta, *predictions;
    const char *target, *data_weights, *feature_weights, *prior, *noise_cov, *noise_spectrum;
    /* a smooth curve */
    int basis, complex, stop_at_noise, gaps;
    /* 1 for kspec wls --fit Y without a verb, where --learn means the papers' modes e^{ikx} even for real
     * data. */
    int no_verb;
    double period;
    const char *x, *sample_weight;
} wls_args;

#define WLS_ARG(field) offsetof(wls_args, field)

/* clang-format off */

/* The following macros define lines of the options tables. */
#define WLS_LEARN_OPTION \
    {"learn", 0, OPT_RANGES, WLS_ARG(learn), "p,...", \
     "how many modes or features to learn: numbers, ranges 1-64, 1-64:4; of a curve one, or auto", \
     .automatic = 1}
#define WLS_GRID_OPTIONS \
    {"grid",  0, OPT_SIZE,   WLS_ARG(grid),  "N", \
     "points of the grid (of a fit: as many as Y has rows)", .min = 1}, \
    {"modes", 0, OPT_SIZE,   WLS_ARG(modes), "P", \
     "modes of the truth (default: N, or the largest p)", .min = 1}, \
    {"alpha", 0, OPT_DOUBLE, WLS_ARG(alpha), "A", \
     "data point j has the weight (1+j)^-A (default 0)"}, \
    {"beta",  0, OPT_DOUBLE, WLS_ARG(beta),  "B", \
     "mode k has the weight (1+k)^-B (default 0; of a curve auto: chosen)", .automatic = 1}, \
    {"gamma", 0, OPT_DOUBLE, WLS_ARG(gamma), "G", \
     "the truth's mode k has a variance like (1+k)^-2G (default 0)"}, \
    {"noise", 0, OPT_DOUBLE, WLS_ARG(noise), "S", \
     "standard deviation of the noise (default 0; of a curve auto: estimated)", .automatic = 1}
#define WLS_DRAW_OPTIONS \
    {"complex-noise", 0, OPT_FLAG, WLS_ARG(complex_noise), NULL, \
     "circular complex noise instead of real"}, \
    {"empirical",     0, OPT_SIZE, WLS_ARG(draws),         "K", \
     "also measure the errors on K random draws", .min = 2}
#define WLS_SPECTRUM_OPTION \
    {"noise-spectrum", 0, OPT_STRING, WLS_ARG(noise_spectrum), "FILE", \
     "in place of --noise: the N eigenvalues of the covariance of stationary noise on the grid"}
#define WLS_BEST_OPTIONS \
    {"best-p",       0, OPT_FLAG, WLS_ARG(best_p),       NULL, \
     "the p of --learn (default: of all) of least error"}, \
    {"best-weights", 0, OPT_FLAG, WLS_ARG(best_weights), NULL, \
     "for each p, the alpha or beta in 0 ... 3 of least error"}
#define WLS_ZETA_OPTION \
    {"zeta", 0, OPT_DOUBLE, WLS_ARG(zeta), "Z", \
     "features with singular values t^-Z: error and bound of Theorem 5.1", .positive = 1}
#define WLS_FIT_OPTIONS \
    {"at",          0, OPT_STRING, WLS_ARG(at),          "X", \
     "predict at: a file of x, or of features"}, \
    {"theta",       0, OPT_STRING, WLS_ARG(theta),       "FILE", \
     "write the coefficients to FILE (.npy, .csv, .json)", .writes = WRITES_ARRAY}, \
    {"predictions", 0, OPT_STRING, WLS_ARG(predictions), "FILE", \
     "write the predictions to FILE", .writes = WRITES_ARRAY}
#define WLS_SMOOTH_OPTIONS \
    {"x",             0, OPT_STRING, WLS_ARG(x),             "COLUMN", \
     "where the data are: a column of Y by name or number, or a file (default: an even grid)"}, \
    {"basis",         0, OPT_CHOICE, WLS_ARG(basis),         "B", \
     "auto (chosen from the next three, the default), real, cosine, legendre, chebyshev or fourier", \
     wls_bases}, \
    {"period",        0, OPT_DOUBLE, WLS_ARG(period),        "T", \
     "of the bases real and fourier (default: N steps of an even grid)", .positive = 1}, \
    {"complex",       0, OPT_FLAG,   WLS_ARG(complex),       NULL, \
     "two columns are the real and the imaginary part"}, \
    {"sample-weight", 0, OPT_STRING, WLS_ARG(sample_weight), "W", \
     "weights of the points, as in scikit-learn: a column of Y, or a file"}, \
    {"nan",           0, OPT_CHOICE, WLS_ARG(gaps),          "POLICY", \
     "missing values: error (the default), or omit-rows: gaps, at which the curve is given", wls_gaps}, \
    {"stop-at-noise", 0, OPT_FLAG,   WLS_ARG(stop_at_noise), NULL, \
     "least squares with the fewest functions that leave a residual of the noise's size"}
#define WLS_FEATURES_OPTIONS \
    {"target",           0, OPT_STRING, WLS_ARG(target),          "Y", \
     "the data, a column for each output"}, \
    {"data-weights",     0, OPT_STRING, WLS_ARG(data_weights),    "FILE", \
     "weights of the residuals, the square roots of scikit-learn's sample_weight: N, or N x N"}, \
    {"feature-weights",  0, OPT_STRING, WLS_ARG(feature_weights), "FILE", \
     "weights of the features: p numbers, or p x p"}, \
    {"prior",            0, OPT_STRING, WLS_ARG(prior),           "FILE", \
     "covariance of the coefficients: P numbers, or P x P"}, \
    {"noise-covariance", 0, OPT_STRING, WLS_ARG(noise_cov),       "FILE", \
     "covariance of the noise: N numbers, or N x N"}, \
    {"ntk",              0, OPT_SIZE,   WLS_ARG(ntk),             "M", \
     "the INPUT has rows x: its features are derivatives of a two-layer network of M neurons", .min = 1}, \
    {"ntk-scale",        0, OPT_DOUBLE, WLS_ARG(ntk_scale),       "K", \
     "standard deviation of that network's first weights (default 1)", .positive = 1}, \
    {"ridge",            0, OPT_DOUBLE, WLS_ARG(ridge),           "B", \
     "add B |w|^2 to the squared residuals (default 0)", .positive = 1}, \
    {"rank-tol",         0, OPT_DOUBLE, WLS_ARG(rank_tol),        "T", \
     "singular values below T times the largest are zero", .positive = 1}
#define WLS_DECAY_OPTIONS \
    {"kernel", 0, OPT_CHOICE, WLS_ARG(kernel), "K", \
     "gaussian (the default) or polynomial", wls_kernels}, \
    {"sigma",  0, OPT_DOUBLE, WLS_ARG(sigma),  "S", \
     "exp(-|x-y|^2/(2 S^2)), or (S x.y + 1)^q (default 1)", .positive = 1}, \
    {"degree", 0, OPT_INT,    WLS_ARG(degree), "q", \
     "of the polynomial kernel (default 3)", .min = 1}, \
    {"unit",   0, OPT_FLAG,   WLS_ARG(unit),   NULL, \
     "divide each row of X by its length"}
#define WLS_SELECT_OPTIONS \
    {"select-rows", 0, OPT_STRING, WLS_ARG(common.select_rows), "LIST", \
     "rows of PSI and Y, or of X, to use: 0-10,13"}, \
    {"select-cols", 0, OPT_STRING, WLS_ARG(common.select_cols), "LIST", \
     "columns of PSI, or of X, by number or header name"}

/* clang-format on */

extern const cli_choice wls_kernels[], wls_bases[], wls_gaps[];

extern const cli_command wls_theory, wls_select, wls_bound, wls_fit, wls_features, wls_decay;

/*
 * The kinds of fit: a smooth curve, the papers' model, or the kind that the data suggest.
 */
typedef enum { WLS_CURVE, WLS_MODES, WLS_BY_DATA } wls_wanted;
wls_wanted wls_wants(const wls_args *a);
/* Fits the curve through y, or through the file if y is NULL, and frees y; returns an exit status. */
int wls_curve(wls_args *a, kspec_dataset *y);
/* The points of a curve. wls_points_read() in wls_curve_data.c reads them and records doubts and file
 * names. */
typedef struct {
    kspec_dataset *x, *y, *weights, *at;
    size_t rows;
    int is_complex;
} wls_points;
int wls_points_read(wls_args *a, wls_points *to);
void wls_points_free(wls_points *p);
void wls_print_curve(FILE *f, const wls_args *a, const wls_points *p, const kspec_wls_smooth_result *r);
json_t *wls_curve_json(const wls_args *a, const wls_points *p, const kspec_wls_smooth_result *r);

/* Holds NTK features of rows, and the outputs of the untrained network. */
typedef struct {
    double *psi, *start;
    kspec_matrix view;
} wls_ntk;

/* The first function computes the features. The second computes the target minus the output of the
 * untrained network, which the caller frees. Both return an exit status. */
int wls_ntk_make(const wls_args *a, const kspec_matrix *x, wls_ntk *to);
int wls_ntk_rest(const wls_ntk *of, const kspec_matrix *y, double **rest);
void wls_ntk_free(wls_ntk *n);

/* Computes the errors of kspec wls theory and select; returns an exit status. */
int wls_errors(wls_args *a);

/* Returns the library's options for a computation on the grid. */
kspec_wls_opts wls_opts(const wls_args *a);

/* The first function returns the name of a regime. The second returns 1 if the truth is described, so
 * that a fit has an expected error. */
static inline const char *wls_regime(int over) { return over ? "over" : "under"; }
static inline int wls_expects(const wls_args *a) { return a->modes || a->gamma != 0 || a->noise != 0; }

/* Reads one file, which the JSON object lists under a role. Applies --select-rows and --select-cols on
 * request. */
int wls_read(const wls_args *a, const char *role, const char *path, int rows, int cols, kspec_dataset **d);

/* These functions print the first lines of a table on the grid, build the JSON object of the settings,
 * and build the JSON object of one point. m is the measured point or NULL. */
void wls_print_setting(FILE *f, const wls_args *a, const kspec_wls_opts *o);
json_t *wls_json(const wls_args *a, const char *mode, const kspec_wls_opts *o, json_t *points);
json_t *wls_point_json(const kspec_wls_point *q, const kspec_wls_point *m);

/* Prints the first few rows of coefficients or predictions. */
void wls_print_rows(FILE *f, const wls_args *a, const char *title, const double *x, size_t rows, size_t cols,
                    int is_complex);

/* Writes rows x cols numbers to a file, unless path is NULL; returns an exit status. */
int wls_write(const char *path, const double *x, size_t rows, size_t cols);

/* Checks --theta and --predictions. These files hold a single fit and need the options that request this
 * fit. */
int wls_check_outputs(const wls_args *a, const char *verb);
