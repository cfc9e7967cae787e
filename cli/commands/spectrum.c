/* kspec spectrum: estimates the eigenvalues of the kernel operator behind a matrix. */
#include "commands/spectrum.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ARG(field)    offsetof(spectrum_args, field)
#define HOW(field)    offsetof(spectrum_args, how.field)
#define GROUPS(field) offsetof(spectrum_args, groups.field)

/* clang-format off */
const cli_choice spectrum_weights[] = {
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

static const cli_choice methods[] = {
    {"fit", KSPEC_SPECTRUM_METHOD_FIT}, {"moments", KSPEC_SPECTRUM_METHOD_MOMENTS},
    {"cvpca", KSPEC_SPECTRUM_METHOD_CVPCA}, {"newton", KSPEC_SPECTRUM_METHOD_NEWTON}, {0},
};

static const cli_option options[] = {
    {"method",    0, OPT_CHOICE, ARG(method),     "M",
     "fit (of the matrix's own eigenvalues, the default), moments, cvpca (cross-validated) or newton",
     methods},
    {"count",     0, OPT_SIZE,   ARG(count),      "K",
     "print K eigenvalues (default: 20 in the table, min(rows, columns) in JSON)", .min = 1},
    {"noise",     0, OPT_DOUBLE, ARG(noise),      "S",
     "fit: standard deviation of the independent noise in each entry; 0: no noise (default: estimated)"},
    {"exponent",  0, OPT_RANGES, ARG(exponent),   "I-J",
     "fit: measure the exponent of the decay over eigenvalues I to J (default: the last resolved decade)"},
    {"truth",     0, OPT_STRING, ARG(truth),      "FILE",
     "also show these true eigenvalues: a file with one row or column, or JSON of kspec theory"},
    {"rank",      0, OPT_SIZE,   ARG(rank),       "D",
     "moments, newton: number of eigenvalues (default: the fewest that fit); implies --method moments",
     .min = 1},
    {"moments",   0, OPT_STRING, ARG(moments),    "M1,M2,...|FILE",
     "use these moments instead of a matrix: a list, or JSON of kspec moments or kspec theory"},
    {"stderr",    0, OPT_LIST,   ARG(std_errors), "S1,S2,...",
     "with --moments: the standard errors of the moments", .positive = 1},
    {"estimator", 0, OPT_CHOICE, HOW(estimators), "E",
     "auto (the default), naive, kv-row, kv-col, path or exact", cli_single_estimators},
    {"weights",   0, OPT_CHOICE, ARG(weights),    "W",
     "weigh the residuals of the moments by covariance (the default if errors are known), stderr or unit",
     spectrum_weights},
    {"grid",      0, OPT_SIZE,   ARG(grid),       "T",
     "number of points of the grid of eigenvalues (default 1001)", .min = 3},
    {"spacing",   0, OPT_CHOICE, ARG(spacing),    "S",
     "spacing of the grid: uniform (the default) or geometric", spacings},
    {"upper",     0, OPT_DOUBLE, ARG(upper),      "B",
     "upper end of the grid (default: from the data)", .positive = 1},
    {"quantile",  0, OPT_CHOICE, ARG(quantile),   "Q",
     "take the quantiles at j/(D+1) (paper, the default) or at (j-1/2)/D (midpoint)", quantiles},
    {"draws",     0, OPT_INT,    ARG(draws),      "R",
     "draw the moments R times from their errors (default 200)", .min = 2},
    {"at",        0, OPT_LIST,   ARG(t),          "T1,T2,...",
     "print the effective dimension at each T (default: chosen by the spectrum)", .positive = 1},
    CLI_ESTIMATION_OPTIONS(HOW, "rows; with --method moments none"),
    CLI_GROUPS_OPTIONS(GROUPS),
    CLI_DEVICE_OPTION(HOW),
    {0},
};
/* clang-format on */

static kspec_spectrum_opts spectrum_opts(const spectrum_args *a) {
    const cli_ranges *e = &a->exponent;
    return (kspec_spectrum_opts){
        .size = sizeof(kspec_spectrum_opts),
        .method = (kspec_spectrum_method)a->method,
        .truth_center = (kspec_center)a->truth_center,
        .noise = a->noise,
        .no_noise = cli_given(&a->common, "noise") && a->noise == 0,
        .exponent_from = e->count ? e->at[0] : 0,
        .exponent_to = e->count ? e->at[e->count - 1] : 0,
        .rank = a->rank,
        .grid = a->grid,
        .spacing = (kspec_grid)a->spacing,
        .upper = a->upper,
        .weights = (kspec_weights)a->weights,
        .quantile = (kspec_quantile)a->quantile,
        .draws = a->draws,
        .no_draws = a->how.no_stderr && a->method == KSPEC_SPECTRUM_METHOD_MOMENTS,
        .t = a->t.count ? a->t.at : NULL,
        .t_count = a->t.count,
        .seed = a->common.seed,
        .threads = a->common.threads,
        .progress = cli_progress(&a->common),
    };
}

/* ---- the source of the moments ---- */

/* Finds the method from the options. An option of the linear program selects the method `moments`, and
 * contradicts a request for a fit. Groups do the same, because a fit assumes independent rows. */
static int check_method(spectrum_args *a) {
    static const char *const of_the_program[] = {
        "rank",  "moments", "weights",       "grid",       "spacing", "upper", "quantile",
        "draws", "groups",  "groups-column", "col-groups", "block",   NULL};
    for (const char *const *name = of_the_program; *name; name++) {
        if (!cli_given(&a->common, *name)) continue;
        if (cli_given(&a->common, "method") && a->method == KSPEC_SPECTRUM_METHOD_FIT)
            return cli_error(EXIT_USAGE, "spectrum: --%s needs --method moments", *name);
        if (cli_given(&a->common, "method")) continue;
        if (!a->implied_by) a->implied_by = *name;
        a->method = KSPEC_SPECTRUM_METHOD_MOMENTS;
    }
    return EXIT_DONE;
}

/* Rejects options that need a matrix or error bars if the user gave neither a matrix nor error bars. */
static int check_options(spectrum_args *a) {
    static const char *const of_a_matrix[] = {
        "estimator", "permutations",  "side",       "sampled",         "trial-scheme",    "splits",
        "no-stderr", "normalize",     "center",     "no-center",       "select-cols",     "select-rows",
        "axes",      "nan",           "fill",       "population-rows", "population-cols", "standardize",
        "groups",    "groups-column", "col-groups", "block",           "device",          NULL};
    for (const char *const *name = of_a_matrix; a->moments && *name; name++)
        if (cli_given(&a->common, *name))
            return cli_error(EXIT_USAGE, "spectrum: --%s needs an INPUT, not --moments", *name);
    int status = check_method(a);
    if (status) return status;
    if (a->draws && a->how.no_stderr)
        return cli_error(EXIT_USAGE, "spectrum: --draws needs standard errors, which --no-stderr omits");
    return EXIT_DONE;
}

static int from_moments(const spectrum_args *a, kspec_spectrum_result **r) {
    spectrum_moments g;
    kspec_error err;
    if (a->common.input_count)
        return cli_error(EXIT_USAGE, "spectrum takes --moments or an INPUT ('%s'), not both",
                         a->common.inputs[0]);
    int status = spectrum_read_moments(a, &g);
    if (status) return status;
    kspec_spectrum_opts o = spectrum_opts(a);
    kspec_status st = cli_team(&a->common, &o.team, &err);
    if (!st) st = kspec_spectrum_from_moments(g.m, g.std_error, g.correlation, g.count, &o, r, &err);
    spectrum_moments_free(&g);
    return st ? cli_fail(st, &err) : EXIT_DONE;
}

static int from_matrix(const spectrum_args *a, const kspec_dataset *d, const cli_groups *groups,
                       kspec_spectrum_result **r) {
    kspec_moments_opts how = cli_estimation_opts(&a->common, &a->how);
    kspec_matrix *phi = cli_estimation_trials(&a->common, d, &how);
    kspec_spectrum_opts o = spectrum_opts(a);
    o.center = how.center;
    o.moments = &how;
    o.device = how.device;
    how.row_groups = groups->rows ? groups->rows->of : NULL;
    how.col_groups = groups->cols ? groups->cols->of : NULL;
    how.block = a->groups.block;
    /* The seed is fixed, because this result must not depend on --seed. */
    how.seed = 0;
    how.threads = 0;
    how.center = (kspec_center)0;
    how.device = KSPEC_DEVICE_AUTO;
    kspec_error err = {KSPEC_E_NOMEM, "out of memory"};
    kspec_status st = phi ? cli_team(&a->common, &o.team, &err) : KSPEC_E_NOMEM;
    if (!st) st = kspec_spectrum(phi, d->trials, &o, r, &err);
    free(phi);
    if (st) return cli_fail(st, &err);
    cli_note_treatment(&a->common, NULL, (*r)->center > KSPEC_CENTER_NONE, how.normalize);
    return EXIT_DONE;
}

/* ---- output ---- */

void spectrum_print_head(FILE *f, const spectrum_output *u) {
    char how[96], because[32] = "";
    if (u->a->implied_by) snprintf(because, sizeof because, " (as --%s implies)", u->a->implied_by);
    snprintf(how, sizeof how, "method %s%s, %s", cli_choice_name(methods, (int)u->r->method), because,
             cli_center_words(u->r->center));
    cli_print_shape(f, &u->a->common, u->d, how);
    if (u->r->moments)
        cli_groups_print(f, u->r->moments->groups, u->r->moments->col_groups, u->r->moments->block);
    if (u->r->moments) cli_device_print(f, &u->r->device);
}

void spectrum_print_eigenvalues(FILE *f, const spectrum_output *u, size_t shown) {
    const kspec_spectrum_result *r = u->r;
    const cli_common *c = &u->a->common;
    fprintf(f, "\n%s   k   eigenvalue   std. error   95%% interval from … to%s%s%s\n", cli_bold(c),
            r->sample_count ? "    of the sample" : "", u->truth ? "        truth" : "", cli_plain(c));
    for (size_t k = 0; k < shown; k++) {
        fprintf(f, "%4zu", k + 1);
        cli_cell_rounded(f, 11, r->eigenvalues[k], r->std_error[k]);
        cli_cell(f, "%.2g", 11, r->std_error[k]);
        cli_cell_interval(f, 11, r->eigenvalues[k], r->ci_low[k], r->ci_high[k]);
        if (r->sample_count) cli_cell(f, "%.4g", 15, k < r->sample_count ? r->sample_eigenvalues[k] : NAN);
        if (u->truth) cli_cell(f, "%.5g", 11, k < u->truth_count ? u->truth[k] : 0);
        fputc('\n', f);
    }
}

static void add_array(json_t *o, const char *name, const double *x, size_t n) {
    json_object_set_new(o, name, cli_reals(x, n));
}

/* Adds the shape of the matrix and the estimator of each moment, unless the user gave the moments. */
static void add_matrix(json_t *o, const spectrum_output *u) {
    const kspec_dataset *d = u->d;
    const kspec_moments_result *m = u->r->moments;
    if (!m) return;
    json_t *names = json_array();
    for (size_t k = 0; k < m->count; k++)
        json_array_append_new(names,
                              json_string(kspec_name(KSPEC_NAMES_ESTIMATOR, m->estimates[k]->estimator)));
    json_object_set_new(o, "rows", json_integer((json_int_t)d->rows));
    json_object_set_new(o, "cols", json_integer((json_int_t)d->cols));
    json_object_set_new(o, "trials", json_integer((json_int_t)d->trials));
    json_object_set_new(o, "estimators", names);
    cli_estimation_keys(&u->a->how, m->center, o);
    cli_groups_json(o, m->groups, m->col_groups, m->block);
    cli_device_keys(&u->r->device, o);
}

json_t *spectrum_json(const spectrum_output *u, size_t shown, const spectrum_array *more) {
    const kspec_spectrum_result *r = u->r;
    json_t *o = json_pack("{s:s, s:I, s:I}", "method", cli_choice_name(methods, (int)r->method), "rank",
                          (json_int_t)r->rank, "seed", (json_int_t)u->a->common.seed);
    add_matrix(o, u);
    add_array(o, "eigenvalues", r->eigenvalues, shown);
    add_array(o, "stderr", r->std_error, shown);
    add_array(o, "ci_low", r->ci_low, shown);
    add_array(o, "ci_high", r->ci_high, shown);
    add_array(o, "singular_values", r->sample_eigenvalues, r->sample_count);
    add_array(o, "moments", r->given, r->count);
    add_array(o, "moments_stderr", r->given_std_error, r->count);
    for (; more && more->name; more++) add_array(o, more->name, more->x, more->n);
    if (u->truth) add_array(o, "truth", u->truth, u->truth_count < shown ? u->truth_count : shown);
    cli_set_reals(o, (cli_member[]){{"participation_ratio", r->participation_ratio},
                                    CLI_ERRORS("participation_ratio_", r, participation_ratio_),
                                    {"operator_norm", r->eigenvalues[0]},
                                    {"seconds", r->seconds},
                                    {0}});
    return o;
}

extern const cli_command cmd_spectrum;

static int run(void *args) {
    spectrum_args *a = args;
    kspec_dataset *d = NULL;
    kspec_spectrum_result *r = NULL;
    cli_list truth = {0};
    cli_groups groups = {0};
    int status = check_options(a);
    if (!status) status = spectrum_read_truth(a, &truth);
    if (status) return status;
    if (a->moments) {
        status = from_moments(a, &r);
    } else if (!a->common.input_count) {
        status = cli_no_input(&cmd_spectrum);
    } else if (a->std_errors.count) {
        status = cli_error(EXIT_USAGE, "spectrum: --stderr needs --moments");
    } else {
        status = cli_read_grouped(&a->common, &a->groups, &d, &groups);
        if (!status) status = from_matrix(a, d, &groups, &r);
    }
    if (!status) {
        cli_doubts(&a->common, NULL, r->doubts, r->doubt_count);
        static const struct {
            void (*print)(FILE *f, const void *result);
            json_t *(*json)(const void *result);
        } of[] = {
            [KSPEC_SPECTRUM_METHOD_FIT] = {spectrum_fit_print, spectrum_fit_json},
            [KSPEC_SPECTRUM_METHOD_MOMENTS] = {spectrum_moments_print, spectrum_moments_json},
            [KSPEC_SPECTRUM_METHOD_CVPCA] = {spectrum_cvpca_print, spectrum_cvpca_json},
            [KSPEC_SPECTRUM_METHOD_NEWTON] = {spectrum_newton_print, spectrum_newton_json},
        };
        status = cli_done(&a->common, of[r->method].print, of[r->method].json,
                          &(spectrum_output){a, d, r, truth.at, truth.count});
    }
    free(truth.at);
    kspec_free(r);
    kspec_free(d);
    cli_groups_free(&groups);
    return status;
}

static const cli_column columns[] = {
    {"rows", "rows"},         {"columns", "cols"},      {"trials", "trials"},
    {"1st", "eigenvalues.0"}, {"2nd", "eigenvalues.1"}, {"3rd", "eigenvalues.2"},
    {"resolved", "resolved"}, {"noise", "noise"},       {0},
};

const cli_command cmd_spectrum = {
    .name = "spectrum",
    .summary = "eigenvalues of the kernel operator behind a matrix",
    .synopsis = "spectrum INPUT... [--method fit] [--count K] [--noise S] [--exponent I-J] [--truth FILE] "
                "[OPTIONS]\n"
                "spectrum INPUT... --method moments [--rank D] [-n NMAX] [--estimator E] [--weights W] "
                "[--grid T] [--upper B] [OPTIONS]\n"
                "spectrum INPUT... --method cvpca [--splits R] [OPTIONS]\n"
                "spectrum INPUT... --method newton --rank D [-n NMAX] [OPTIONS]\n"
                "spectrum --moments M1,M2,...|FILE [--rank D] [--stderr S1,S2,...] [OPTIONS]",
    .description = "Estimates the eigenvalues of the kernel operator. --method fit undoes the spread that "
                   "sampling gives to\n"
                   "the matrix's own eigenvalues. moments finds the measure on [0, B] with the nearest "
                   "unbiased moments (Kong\n"
                   "and Valiant). cvpca cross-validates over trials. newton uses Newton's identities, a "
                   "baseline for exact\n"
                   "moments.",
    .options = options,
    .args_size = sizeof(spectrum_args),
    .reads_input = 1,
    .shares = 1,
    .input_optional = 1,
    .columns = columns,
    .run = run,
};
