#include "commands/estimation.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    cli_common common;
    cli_estimation how;
    size_t rank, grid;
    double upper;
    int draws, weights, spacing, quantile;
    const char *moments;
    cli_list std_errors, t;
} spectrum_args;

#define ARG(field) offsetof(spectrum_args, field)
#define HOW(field) offsetof(spectrum_args, how.field)

/* clang-format off */
static const cli_choice weights[] = {
    {"unit",       KSPEC_WEIGHTS_UNIT},
    {"stderr",     KSPEC_WEIGHTS_STDERR},
    {"covariance", KSPEC_WEIGHTS_COVARIANCE},
    {0},
};
static const cli_choice spacings[] = {
    {"uniform", KSPEC_GRID_UNIFORM}, {"geometric", KSPEC_GRID_GEOMETRIC}, {0},
};
static const cli_choice quantiles[] = {
    {"paper", KSPEC_QUANTILE_PAPER}, {"midpoint", KSPEC_QUANTILE_MIDPOINT}, {0},
};

static const cli_option options[] = {
    {"rank",      0, OPT_SIZE,   ARG(rank),       "D",
     "number of eigenvalues (default min(rows, columns)); more add little but zeros", .min = 1},
    {"moments",   0, OPT_STRING, ARG(moments),    "M1,M2,...|FILE",
     "from these moments, not a matrix: a list, or JSON of kspec theory; needs --rank"},
    {"stderr",    0, OPT_LIST,   ARG(std_errors), "S1,S2,...",
     "with --moments: their standard errors", .positive = 1},
    {"estimator", 0, OPT_CHOICE, HOW(estimators), "E",
     "auto (the default), naive, kv-row, kv-col, path or exact", cli_single_estimators},
    {"weights",   0, OPT_CHOICE, ARG(weights),    "W",
     "of the moments' residuals: covariance (the default where errors are known), stderr, unit", weights},
    {"grid",      0, OPT_SIZE,   ARG(grid),       "T",
     "points of the grid (default 1001)", .min = 3},
    {"spacing",   0, OPT_CHOICE, ARG(spacing),    "S",
     "of the grid: uniform (the default) or geometric", spacings},
    {"upper",     0, OPT_DOUBLE, ARG(upper),      "B",
     "upper end of the grid (default: from the data)", .positive = 1},
    {"quantile",  0, OPT_CHOICE, ARG(quantile),   "Q",
     "levels j/(D+1) (paper, the default) or (j-1/2)/D (midpoint)", quantiles},
    {"draws",     0, OPT_INT,    ARG(draws),      "R",
     "draws of the moments from their errors (default 200)", .min = 2},
    {"at",        0, OPT_LIST,   ARG(t),          "T1,T2,...",
     "where to give the effective dimension (default: from the spectrum)", .positive = 1},
    CLI_ESTIMATION_OPTIONS(HOW),
    {0},
};
/* clang-format on */

static kspec_spectrum_opts spectrum_opts(const spectrum_args *a) {
    return (kspec_spectrum_opts){
        .size = sizeof(kspec_spectrum_opts),
        .rank = a->rank,
        .grid = a->grid,
        .spacing = (kspec_grid)a->spacing,
        .upper = a->upper,
        .weights = (kspec_weights)a->weights,
        .quantile = (kspec_quantile)a->quantile,
        .draws = a->draws,
        .no_draws = a->how.no_stderr,
        .t = a->t.count ? a->t.at : NULL,
        .t_count = a->t.count,
        .seed = a->common.seed,
        .threads = a->common.threads,
        .progress = cli_progress(&a->common),
    };
}

/* ---- where the moments come from ---- */

/* Options for a matrix, or for error bars, need one. */
static int check_options(const spectrum_args *a) {
    static const char *const of_a_matrix[] = {
        "estimator",   "permutations", "side",      "sampled",         "trial-scheme",
        "splits",      "no-stderr",    "normalize", "center",          "select-cols",
        "select-rows", "axes",         "nan",       "population-rows", "population-cols",
        NULL};
    for (const char *const *name = of_a_matrix; a->moments && *name; name++)
        if (cli_given(&a->common, *name))
            return cli_error(EXIT_USAGE, "spectrum: --%s needs an INPUT, not --moments", *name);
    if (a->draws && (a->how.no_stderr || (a->moments && !a->std_errors.count)))
        return cli_error(EXIT_USAGE, "spectrum: --draws needs error bars%s",
                         a->moments ? " (--stderr)" : ", which --no-stderr leaves out");
    return EXIT_DONE;
}

static int from_moments(const spectrum_args *a, kspec_spectrum_result **r) {
    cli_list m;
    kspec_error err;
    if (a->common.input_count)
        return cli_error(EXIT_USAGE, "spectrum takes --moments or an INPUT ('%s'), not both",
                         a->common.inputs[0]);
    if (!a->rank) return cli_error(EXIT_USAGE, "spectrum --moments: --rank is missing");
    int status = cli_known_moments(&a->common, "--moments", a->moments, &m);
    if (status) return status;
    size_t n = m.count;
    if (a->how.nmax && (size_t)a->how.nmax > n) {
        status = cli_error(EXIT_USAGE, "-n: %d exceeds the %zu moments that are given", a->how.nmax, n);
    } else if (a->std_errors.count && a->std_errors.count != n) {
        status = cli_error(EXIT_USAGE, "--stderr has %zu values, --moments %zu", a->std_errors.count, n);
    } else {
        kspec_spectrum_opts o = spectrum_opts(a);
        kspec_status st =
            kspec_spectrum_from_moments(m.at, a->std_errors.count ? a->std_errors.at : NULL, NULL,
                                        a->how.nmax ? (size_t)a->how.nmax : n, a->rank, &o, r, &err);
        if (st) status = cli_fail(st, &err);
    }
    free(m.at);
    return status;
}

static int from_matrix(const spectrum_args *a, const kspec_dataset *d, kspec_spectrum_result **r) {
    kspec_moments_opts how = cli_estimation_opts(&a->common, &a->how);
    kspec_matrix *phi = cli_estimation_trials(&a->common, d, &how);
    kspec_spectrum_opts o = spectrum_opts(a);
    kspec_error err = {KSPEC_E_NOMEM, "out of memory"};
    kspec_status st = phi ? kspec_spectrum(phi, d->trials, &how, &o, r, &err) : KSPEC_E_NOMEM;
    free(phi);
    return st ? cli_fail(st, &err) : EXIT_DONE;
}

/* ---- output ---- */

static const char *upper_reason(const kspec_spectrum_result *r) {
    switch (r->upper_from) {
    case KSPEC_UPPER_SAMPLE: return "largest eigenvalue of the sample matrix, which is biased upwards";
    case KSPEC_UPPER_MOMENTS:
        return "least (m(n) + 2 std. errors)^(1/n), each of which bounds the largest eigenvalue";
    case KSPEC_UPPER_GIVEN: break;
    }
    return "given";
}

static const char *error_bars(const kspec_spectrum_result *r) {
    return r->draws ? "parametric: moments drawn from their error covariance" : "none";
}

/* Estimates are off by a standard error or so; three, or any distance without errors, deserve a warning. */
static void warn_of_distance(const spectrum_args *a, const kspec_spectrum_result *r) {
    if (r->distance <= (r->distance_in_errors ? 3 : 1e-6)) return;
    int n = r->distance_order;
    char errors[64] = "";
    if (r->distance_in_errors) snprintf(errors, sizeof errors, ", %.1f standard errors away", r->distance);
    cli_warn(&a->common,
             "no measure on [0, %.4g] has these moments: m(%d) = %.6g, but %.6g in the nearest one%s; try a "
             "larger "
             "--rank or --upper, or other --weights",
             r->upper, n, r->given[n - 1], r->fitted[n - 1], errors);
}

static void warn(const spectrum_args *a, const kspec_spectrum_result *r) {
    warn_of_distance(a, r);
    if (r->given_std_error[0] > 0.5 * fabs(r->given[0])) /* NaN: none */
        cli_warn(&a->common,
                 "m(1) = %.4g ± %.2g is too uncertain: eigenvalues and their error bars mean little",
                 r->given[0], r->given_std_error[0]);
    if (r->given[0] > 0 && r->eigenvalues[0] == 0)
        cli_warn(&a->common,
                 "all eigenvalues are below the first step of the grid, %.4g; --upper %g is too large",
                 r->grid_step, r->upper);
    for (size_t n = 0; n < r->count && r->moments && !a->how.no_stderr; n++)
        if (!isfinite(r->given_std_error[n])) {
            cli_warn(
                &a->common,
                "m(%zu) has no error bar, so there are unit weights and no draws; try fewer moments (-n)",
                n + 1);
            break;
        }
}

typedef struct {
    const spectrum_args *a;
    const kspec_dataset *d;
    const kspec_spectrum_result *r;
} output;

/* The shape of the matrix, and the estimator of each moment */
static void add_matrix(json_t *o, const cli_estimation *how, const kspec_dataset *d,
                       const kspec_moments_result *m) {
    json_t *names = json_array();
    for (size_t k = 0; k < m->count; k++)
        json_array_append_new(names, json_string(kspec_estimator_name(m->estimates[k]->estimator)));
    json_object_set_new(o, "rows", json_integer((json_int_t)d->rows));
    json_object_set_new(o, "cols", json_integer((json_int_t)d->cols));
    json_object_set_new(o, "trials", json_integer((json_int_t)d->trials));
    json_object_set_new(o, "estimators", names);
    cli_estimation_keys(how, o);
}

static void add_arrays(json_t *o, const kspec_spectrum_result *r) {
    const struct {
        const char *name;
        const double *x;
        size_t n;
    } arrays[] = {
        {"eigenvalues", r->eigenvalues, r->rank},
        {"stderr", r->std_error, r->rank},
        {"ci_low", r->ci_low, r->rank},
        {"ci_high", r->ci_high, r->rank},
        {"eigenvalues_plain", r->plain, r->rank},
        {"support", r->support, r->atoms},
        {"mass", r->mass, r->atoms},
        {"moments", r->given, r->count},
        {"moments_stderr", r->given_std_error, r->count},
        {"moments_fitted", r->fitted, r->count},
        {"singular_values", r->sample_eigenvalues, r->sample_count},
    };
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++)
        json_object_set_new(o, arrays[k].name, cli_reals(arrays[k].x, arrays[k].n));
    json_t *list = json_array();
    for (size_t k = 0; k < r->t_count; k++)
        json_array_append_new(list, json_pack("{s:o, s:o, s:o}", "t", cli_real(r->t[k]), "value",
                                              cli_real(r->effective_dimension[k]), "stderr",
                                              cli_real(r->effective_dimension_std_error[k])));
    json_object_set_new(o, "effective_dimension", list);
}

static json_t *to_json(const void *result) {
    const output *u = result;
    const kspec_spectrum_result *r = u->r;
    json_t *o = json_object();
    if (r->moments) add_matrix(o, &u->a->how, u->d, r->moments);
    json_object_set_new(o, "rank", json_integer((json_int_t)r->rank));
    add_arrays(o, r);
    cli_set_reals(o, (cli_member[]){{"participation_ratio", r->participation_ratio},
                                    {"participation_ratio_stderr", r->participation_ratio_std_error},
                                    {"operator_norm", r->eigenvalues[0]},
                                    {"residual", r->residual},
                                    {"distance", r->distance},
                                    {"upper", r->upper},
                                    {"seconds", r->seconds},
                                    {0}});
    json_object_set_new(o, "distance_unit", json_string(r->distance_in_errors ? "standard errors" : "D B^n"));
    json_object_set_new(o, "distance_order", json_integer(r->distance_order));
    json_object_set_new(o, "upper_reason", json_string(upper_reason(r)));
    json_object_set_new(o, "weights", json_string(cli_choice_name(weights, r->weights)));
    json_object_set_new(o, "error_bars", json_string(error_bars(r)));
    json_object_set_new(o, "draws", json_integer(r->draws));
    json_object_set_new(o, "seed", json_integer((json_int_t)u->a->common.seed));
    return o;
}

/* Eigenvalues in the table; the JSON object has all. */
enum { SHOWN = 20 };

static void print_eigenvalues(FILE *f, const spectrum_args *a, const kspec_spectrum_result *r) {
    const char *bold = cli_bold(&a->common), *plain = cli_plain(&a->common);
    fprintf(f, "\n%s   k   eigenvalue   std. error   95%% interval from … to%s%s\n", bold,
            r->sample_count ? "    of the sample" : "", plain);
    size_t positive = 0;
    while (positive < r->rank && r->eigenvalues[positive] > 0) positive++;
    size_t shown = positive < SHOWN ? positive : SHOWN;
    for (size_t k = 0; k < shown; k++) {
        fprintf(f, "%4zu", k + 1);
        cli_cell(f, "%.5g", 11, r->eigenvalues[k]);
        cli_cell(f, "%.2g", 11, r->std_error[k]);
        cli_cell(f, "%.4g", 11, r->ci_low[k]);
        cli_cell(f, "%.4g", 11, r->ci_high[k]);
        if (r->sample_count) cli_cell(f, "%.5g", 15, k < r->sample_count ? r->sample_eigenvalues[k] : NAN);
        fputc('\n', f);
    }
    if (positive > shown)
        fprintf(f, "   …  %zu more, down to %.3g\n", positive - shown, r->eigenvalues[positive - 1]);
    if (positive < r->rank) fprintf(f, "   …  %zu of %zu are zero\n", r->rank - positive, r->rank);
}

static void print_table(FILE *f, const void *result) {
    const output *u = result;
    const spectrum_args *a = u->a;
    const kspec_spectrum_result *r = u->r;
    const char *bold = cli_bold(&a->common), *plain = cli_plain(&a->common);
    if (r->moments) cli_print_shape(f, &a->common, u->d);
    print_eigenvalues(f, a, r);
    fprintf(f, "\n%s   n  moment given   std. error       fitted%s\n", bold, plain);
    for (size_t n = 0; n < r->count; n++) {
        fprintf(f, "%4zu", n + 1);
        cli_cell(f, "%.5g", 12, r->given[n]);
        cli_cell(f, "%.2g", 11, r->given_std_error[n]);
        cli_cell(f, "%.5g", 11, r->fitted[n]);
        fputc('\n', f);
    }
    fprintf(f, "\nresidual %.3g (weights: %s); nearest measure %.2g %s away at m(%d)\n", r->residual,
            cli_choice_name(weights, r->weights), r->distance,
            r->distance_in_errors ? "standard errors" : "of D B^n", r->distance_order);
    fprintf(f, "upper end %.5g: %s\n", r->upper, upper_reason(r));
    if (r->draws)
        fprintf(f, "eigenvalues: means and spread over %d draws of the moments from their errors\n",
                r->draws);
    fputs("\noperator norm", f);
    cli_cell(f, "%.5g", 24, r->eigenvalues[0]);
    if (r->draws) fprintf(f, " ± %.2g", r->std_error[0]);
    fputs("\nparticipation ratio", f);
    cli_cell(f, "%.5g", 18, r->participation_ratio);
    if (isfinite(r->participation_ratio_std_error)) fprintf(f, " ± %.2g", r->participation_ratio_std_error);
    for (size_t k = 0; k < r->t_count; k++) {
        fprintf(f, "\neffective dimension at %-8.3g", r->t[k]);
        cli_cell(f, "%.5g", 6, r->effective_dimension[k]);
        if (r->draws) fprintf(f, " ± %.2g", r->effective_dimension_std_error[k]);
    }
    fputc('\n', f);
}

extern const cli_command cmd_spectrum;

static int run(void *args) {
    spectrum_args *a = args;
    kspec_dataset *d = NULL;
    kspec_spectrum_result *r = NULL;
    int status = check_options(a);
    if (status) return status;
    if (a->moments) {
        status = from_moments(a, &r);
    } else if (!a->common.input_count) {
        status = cli_no_input(&cmd_spectrum);
    } else if (a->std_errors.count) {
        status = cli_error(EXIT_USAGE, "spectrum: --stderr needs --moments");
    } else {
        status = cli_read(&a->common, &d);
        if (!status) status = from_matrix(a, d, &r);
    }
    if (!status) {
        if (r->moments) cli_estimation_warn(&a->common, &a->how, d, r->moments);
        warn(a, r);
        status = cli_done(&a->common, print_table, to_json, &(output){a, d, r});
    }
    kspec_spectrum_free(r);
    kspec_dataset_free(d);
    return status;
}

const cli_command cmd_spectrum = {
    .name = "spectrum",
    .summary = "eigenvalues of the kernel operator behind a matrix",
    .synopsis = "spectrum INPUT... [--rank D] [-n NMAX] [--estimator E] [--weights W] [--grid T] [--upper B] "
                "[OPTIONS]\n"
                "spectrum --moments M1,M2,...|FILE --rank D [--stderr S1,S2,...] [OPTIONS]",
    .description = "From unbiased moments to the eigenvalues of the kernel operator: the measure on [0, B] "
                   "whose moments are\n"
                   "nearest, by linear programming (Kong and Valiant), and D quantiles of it.",
    .options = options,
    .args_size = sizeof(spectrum_args),
    .reads_input = 1,
    .input_optional = 1,
    .run = run,
};
