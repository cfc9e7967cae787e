/* kspec ridge: predicts the training and test error of random features, without training. */
#include "commands/ridge.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ARG(field) offsetof(ridge_args, field)

/* clang-format off */
static const cli_choice median[] = {{"median", 0}, {0}};
static const cli_choice all[] = {{"all", 0}, {0}};
static const cli_choice searches[] = {{"lambda", RIDGE_LAMBDA}, {"features", RIDGE_FEATURES}, {0}};
static const cli_choice solvers[] = {
    {"newton", KSPEC_RIDGE_SOLVER_NEWTON}, {"fixed-point", KSPEC_RIDGE_SOLVER_FIXED_POINT}, {0},
};

static const cli_choice yes_no[] = {{"yes", RIDGE_YES}, {"no", RIDGE_NO}, {0}};
static const cli_choice activations[] = {
    {"fourier", KSPEC_RIDGE_ACTIVATION_FOURIER}, {"relu", KSPEC_RIDGE_ACTIVATION_RELU},
    {"leaky", KSPEC_RIDGE_ACTIVATION_LEAKY}, {"erf", KSPEC_RIDGE_ACTIVATION_ERF},
    {"sign", KSPEC_RIDGE_ACTIVATION_SIGN}, {"abs", KSPEC_RIDGE_ACTIVATION_ABS},
    {"cos", KSPEC_RIDGE_ACTIVATION_COS}, {"quadratic", KSPEC_RIDGE_ACTIVATION_QUADRATIC},
    {"phases", KSPEC_RIDGE_ACTIVATION_PHASES}, {0},
};

static const cli_choice kernels[] = {
    {"gaussian", KSPEC_KERNEL_GAUSSIAN}, {"matern", KSPEC_KERNEL_MATERN}, {0},
};

static const cli_option options[] = {
    {"target",         0, OPT_STRING, ARG(target),         "Y",
     "a column of INPUT by name or number, or a file; several columns are several regressions"},
    {"target-cols",    0, OPT_STRING, ARG(target_cols),    "LIST",
     "use only these columns of the target files"},
    {"test",           0, OPT_STRING, ARG(test),           "X2",
     "rows to test on"},
    {"test-target",    0, OPT_STRING, ARG(test_target),    "Y2",
     "their targets"},
    {"test-fraction",  0, OPT_DOUBLE, ARG(test_fraction),  "F",
     "test on this fraction of the rows, drawn by the seed (0.3 for a recommendation)", .positive = 1},
    {"features",       0, OPT_LIST,   ARG(features),       "N,...",
     "numbers of random features (each is a cosine and a sine)", .whole = 1},
    {"lambda",         0, OPT_LIST,   ARG(lambda),         "L,...",
     "ridge strengths; 0 is the ridgeless limit"},
    {"empirical",      0, OPT_SIZE,   ARG(empirical),      "K",
     "also measure the errors with K draws of the features (default 8 if they are cheap; 0: theory only)"},
    {"sigma",          0, OPT_SIGMA,  ARG(sigma),          "S|median",
     "bandwidth of the kernel (default 1), or the median distance", median},
    {"kernel",         0, OPT_CHOICE, ARG(kernel),         "K",
     "gaussian (the default), or matern with the activations fourier, phases and cos", kernels},
    {"nu",             0, OPT_DOUBLE, ARG(nu),             "V",
     "smoothness of the matern kernel (default 1.5)", .positive = 1},
    {"check",          0, OPT_FLAG,   ARG(check),          NULL,
     "train the recommended model and two others with real draws (8, or --empirical)"},
    {"activation",     0, OPT_CHOICE, ARG(activation),     "F",
     "features f(w.x): fourier (the default), relu, leaky, erf, sign, abs, cos, quadratic or phases",
     activations},
    {"slope",          0, OPT_DOUBLE, ARG(slope),          "S",
     "slope of the activation leaky below 0 (default 0.1)"},
    {"center-target",  0, OPT_CHOICE, ARG(center_target),  "yes|no",
     "subtract the mean of the training targets (default: yes if the target is a column of INPUT)",
     yes_no, .bare = "yes"},
    {"intercept",      0, OPT_FLAG,   ARG(intercept),      NULL,
     "add an intercept without a penalty, like Ridge of scikit-learn"},
    {"standardize",    0, OPT_CHOICE, ARG(standardize),    "yes|no",
     "scale columns to mean 0 and standard deviation 1 (default for a recommendation)",
     yes_no, .bare = "yes"},
    {"center",         0, OPT_FLAG,   ARG(center),         NULL,
     "subtract the mean of the training and test rows together"},
    {"scale",          0, OPT_FLAG,   ARG(scale),          NULL,
     "scale all rows by one factor, to a mean squared length of 1"},
    {"classes",        0, OPT_LIST,   ARG(classes),        "A,B|all",
     "use the rows with these two labels, as targets -1 and 1, or all classes (all), one-hot", all},
    {"per-class",      0, OPT_SIZE,   ARG(per_class),      "M",
     "train on the first M rows of each class (default: all)", .min = 1},
    {"test-per-class", 0, OPT_SIZE,   ARG(test_per_class), "M",
     "test on the first M rows of each class; without --test on the next M of INPUT", .min = 1},
    {"test-noise",     0, OPT_DOUBLE, ARG(test_noise),     "S",
     "test on the training rows plus normal noise of this standard deviation", .positive = 1},
    {"density",        0, OPT_FLAG,   ARG(density),        NULL,
     "also print the density of the eigenvalues of the features' Gram matrix"},
    {"bilinear",       0, OPT_STRING, ARG(bilinear),       "A,B",
     "also print a'Qb for columns a and b of two files, with one number for each training row"},
    {"optimize",       0, OPT_CHOICE, ARG(optimize),       "WHAT",
     "find the lambda, or the number of features, with the least predicted test error", searches},
    {"cost-limit",     0, OPT_DOUBLE, ARG(cost_limit),     "C",
     "with --optimize features: the most multiply-adds of a regression", .positive = 1},
    {"solver",         0, OPT_CHOICE, ARG(solver),         "S",
     "newton (the default), or the published fixed-point", solvers},
    {"tolerance",      0, OPT_DOUBLE, ARG(tolerance),      "T",
     "relative accuracy of delta (default 1e-12)", .positive = 1},
    CLI_DEVICE_OPTION(ARG),
    {0},
};
/* clang-format on */

/* A point of the output has a prediction, a measurement, and whether a search ended at the end of its
 * range. */
typedef struct {
    kspec_ridge_point p;
    kspec_ridge_measured e;
    /* "low" or "high" if the search ended at the low or high end of its range, else NULL */
    const char *at_bound;
    double cost;
} row;

/* The result of the command. The data have n training rows, nt test rows, p columns and m targets. */
typedef struct {
    const ridge_args *a;
    kspec_ridge *plan;
    size_t n, nt, p, m;
    row *rows;
    size_t count;
    int measured; /* 1 if some point has a measurement */
    ridge_advice advice;
    ridge_forms forms;
    kspec_ridge_density_result **densities; /* with --density: one result for each N of --features */
    double mean_train_mse, mean_test_mse;   /* the errors of predicting the mean of the training targets */
    double *columns;                        /* the errors of each single target: 2 m numbers per point */
    double seconds;
    /* the device that computed the predictions: of the last call, or of a call that lost its GPU */
    kspec_device_used device;
} result;

/* ---- progress: each library call is one part of the whole ---- */

static struct {
    kspec_progress base;
    double part, parts;
} whole;

static int report_part(void *ctx, double fraction) {
    (void)ctx;
    return whole.base.report(whole.base.ctx, fmin(1, (whole.part + fraction) / whole.parts));
}

/* ---- the request ---- */

static int check_recommendation(const ridge_args *a) {
    if (a->cost_limit > 0) return cli_error(EXIT_USAGE, "--cost-limit is for --optimize features");
    if (a->check && cli_given(&a->common, "empirical") && !a->empirical)
        return cli_error(EXIT_USAGE, "--check needs draws, and --empirical 0 makes none");
    if (cli_given(&a->common, "sigma"))
        return cli_error(EXIT_USAGE,
                         "--sigma: a recommendation chooses it; give --features and --lambda as well");
    if (a->standardize == RIDGE_YES && (a->center || a->scale))
        return cli_error(EXIT_USAGE, "--standardize and --%s cannot be combined",
                         a->center ? "center" : "scale");
    return EXIT_DONE;
}

static int check_lists(const ridge_args *a) {
    if ((a->density || a->bilinear) && a->optimize != RIDGE_GRID)
        return cli_error(EXIT_USAGE, "--%s needs --features and --lambda",
                         a->density ? "density" : "bilinear");
    if (cli_given(&a->common, "slope") && a->activation != KSPEC_RIDGE_ACTIVATION_LEAKY)
        return cli_error(EXIT_USAGE, "--slope is for --activation leaky");
    if (cli_given(&a->common, "slope") && a->slope == 0)
        return cli_error(EXIT_USAGE, "--slope: leaky with slope 0 is --activation relu");
    if (a->nu > 0 && !a->kernel) return cli_error(EXIT_USAGE, "--nu is for --kernel matern");
    if (a->kernel && a->optimize == RIDGE_RECOMMEND)
        return cli_error(EXIT_USAGE,
                         "--kernel matern needs --features and --lambda: a recommendation is for the "
                         "gaussian kernel");
    if (a->intercept && a->center_target == RIDGE_NO)
        return cli_error(EXIT_USAGE, "--intercept and --center-target=no cannot be combined");
    if (a->optimize == RIDGE_RECOMMEND) return check_recommendation(a);
    if (a->check)
        return cli_error(
            EXIT_USAGE,
            "--check needs a recommendation, without --features and --lambda; with them, use --empirical K");
    int for_lambda = a->optimize == RIDGE_LAMBDA, for_features = a->optimize == RIDGE_FEATURES;
    if (!a->features.count && !(for_features && a->cost_limit > 0))
        return cli_error(EXIT_USAGE, "ridge: --features is missing");
    if (!a->lambda.count && !for_lambda) return cli_error(EXIT_USAGE, "ridge: --lambda is missing");
    for (size_t k = 0; k < a->lambda.count; k++)
        if (!(a->lambda.at[k] >= 0)) return cli_error(EXIT_USAGE, "--lambda: %g is below 0", a->lambda.at[k]);
    if (for_lambda && a->lambda.count && a->lambda.count != 2)
        return cli_error(EXIT_USAGE,
                         "--optimize lambda: --lambda gives the ends of its range, two numbers, not %zu",
                         a->lambda.count);
    if (a->cost_limit > 0 && !for_features)
        return cli_error(EXIT_USAGE, "--cost-limit is for --optimize features");
    if (a->cost_limit > 0 && a->features.count)
        return cli_error(EXIT_USAGE,
                         "--optimize features takes --cost-limit or --features as its limit, not both");
    if (a->tolerance >= 1) return cli_error(EXIT_USAGE, "--tolerance: %g is not below 1", a->tolerance);
    return EXIT_DONE;
}

static kspec_ridge_opts make_opts(const ridge_args *a) {
    const int recommend = a->optimize == RIDGE_RECOMMEND, untreated = !a->center && !a->scale;
    const int drawn = cli_given(&a->common, "empirical");
    const int tested = a->test || a->test_noise > 0 || a->test_per_class;
    return (kspec_ridge_opts){.size = sizeof(kspec_ridge_opts),
                              .center = a->center,
                              .unit_length = a->scale,
                              .test_noise = a->test_noise,
                              .sigma = a->sigma.value, /* 0: the default */
                              .median_sigma = a->sigma.median,
                              .tolerance = a->tolerance,
                              .solver = (kspec_ridge_solver)a->solver,
                              .seed = a->common.seed,
                              .threads = a->common.threads,
                              .device = (kspec_device)a->device,
                              .activation = (kspec_ridge_activation)a->activation,
                              .slope = a->slope,
                              .kernel = (kspec_kernel)a->kernel,
                              .nu = a->nu,
                              .classify = a->label_count > 0,
                              .intercept = a->intercept,
                              .standardize =
                                  a->standardize ? a->standardize == RIDGE_YES : recommend && untreated,
                              .center_target = a->intercept       ? 1
                                               : a->center_target ? a->center_target == RIDGE_YES
                                                                  : a->in_table || recommend,
                              .test_fraction = a->test_fraction > 0   ? a->test_fraction
                                               : recommend && !tested ? 0.3
                                                                      : 0,
                              .most_rows = recommend ? RIDGE_THEORY_ROWS : 0,
                              .check_draws = drawn ? a->empirical : RIDGE_CHECK_DRAWS,
                              .check_work = a->check || drawn ? INFINITY : 0};
}

/* ---- the points ---- */

/* Copies point l of a library result to row k of the output. The first point also copies the doubts. */
static void take(result *r, size_t k, const kspec_ridge_result *from, size_t l) {
    const kspec_ridge_point *p = from->points[l];
    static const kspec_ridge_measured none = {NAN, NAN, NAN, NAN, NAN, NAN};
    if (!r->device.unusable) r->device = from->device;
    r->n = from->rows, r->nt = from->test_rows;
    r->mean_train_mse = from->mean_train_mse, r->mean_test_mse = from->mean_test_mse;
    cli_doubts(&r->a->common, NULL, from->doubts, l == 0 ? from->doubt_count : 0);
    double *columns = r->columns + k * 2 * r->m;
    memcpy(columns, p->train_columns, r->m * sizeof *columns);
    memcpy(columns + r->m, p->test_columns, r->m * sizeof *columns);
    r->rows[k] = (row){.p = *p, .e = p->measured ? *p->measured : none};
    r->rows[k].cost = kspec_ridge_cost(r->plan, p->N);
    r->measured |= p->measured != NULL;
}

static kspec_status grid(result *r, kspec_error *err) {
    const ridge_args *a = r->a;
    size_t paths = a->features.count, *N = malloc(paths * sizeof *N);
    kspec_status st = N ? KSPEC_OK : KSPEC_E_NOMEM;
    if (st) snprintf(err->msg, sizeof err->msg, "out of memory for %zu numbers of features", paths);
    for (size_t k = 0; k < paths && !st; k++) N[k] = (size_t)a->features.at[k];
    kspec_ridge_result *out = NULL;
    if (!st) st = kspec_ridge_predict(r->plan, N, paths, a->lambda.at, a->lambda.count, &out, err);
    for (size_t k = 0; k < r->count && !st; k++) take(r, k, out, k);
    kspec_free(out);
    free(N);
    whole.part++;
    return st;
}

static kspec_status best_lambdas(result *r, kspec_error *err) {
    const ridge_args *a = r->a;
    double low = 1e-8, high = 100;
    if (a->lambda.count)
        low = fmin(a->lambda.at[0], a->lambda.at[1]), high = fmax(a->lambda.at[0], a->lambda.at[1]);
    kspec_status st = KSPEC_OK;
    for (size_t k = 0; k < a->features.count && !st; k++, whole.part++) {
        kspec_ridge_result *out;
        st = kspec_ridge_best_lambda(r->plan, (size_t)a->features.at[k], low, high, &out, err);
        if (!st) take(r, k, out, 0);
        if (!st) r->rows[k].at_bound = out->at_low ? "low" : out->at_high ? "high" : NULL;
        kspec_free(out);
    }
    return st;
}

static kspec_status best_features(result *r, kspec_error *err) {
    const ridge_args *a = r->a;
    double limit = a->cost_limit;
    for (size_t k = 0; k < a->features.count; k++)
        limit = fmax(limit, kspec_ridge_cost(r->plan, (size_t)a->features.at[k]));
    kspec_status st = KSPEC_OK;
    for (size_t l = 0; l < a->lambda.count && !st; l++, whole.part++) {
        kspec_ridge_result *out;
        st = kspec_ridge_best_features(r->plan, a->lambda.at[l], limit, &out, err);
        if (!st) take(r, l, out, 0);
        if (!st) r->rows[l].at_bound = out->at_high ? "high" : NULL;
        kspec_free(out);
    }
    return st;
}

/* Predicts the errors of the recommended model and of two other models. */
static kspec_status choices(result *r, kspec_error *err) {
    kspec_status st = KSPEC_OK;
    for (size_t k = 0; k < r->count && !st; k++, whole.part++) {
        size_t N;
        double lambda;
        kspec_ridge_result *out;
        ridge_choice(&r->advice, k, &N, &lambda);
        st = kspec_ridge_predict(r->plan, &N, 1, &lambda, 1, &out, err);
        if (!st) take(r, k, out, 0);
        if (!st && k == 0) r->advice.r2 = out->points[0]->test_r2;
        kspec_free(out);
    }
    /* The time of a regression is extrapolated from a measured regression on the rows in use. The work is
     * proportional to the number of rows times the square of the smaller side of the feature matrix. */
    kspec_ridge_empirical_result *timed = NULL;
    const double ratio = (double)r->advice.training_rows / (double)r->n, n = (double)r->n;
    const double columns = (r->a->activation ? 1 : 2) * (double)r->rows[0].p.N;
    const double sides = fmin(columns, n * ratio) / fmin(columns, n);
    if (!st) st = kspec_ridge_empirical(r->plan, r->rows[0].p.N, &r->rows[0].p.lambda, 1, 1, &timed, err);
    if (!st) r->advice.training_seconds = timed->seconds * ratio * sides;
    kspec_free(timed);
    whole.part++;
    return st;
}

/* The number of points of a density. A single kernel has more points, because its points cost almost no
 * time. */
enum { SEVERAL_POINTS = 96, ONE_POINTS = 300 };

static kspec_status compute(result *r, kspec_error *err) {
    const ridge_args *a = r->a;
    kspec_status st = KSPEC_OK;
    if (a->bilinear) st = ridge_forms_make(&r->forms, a, r->plan, make_opts(a).check_draws, err);
    if (!st)
        st = a->optimize == RIDGE_LAMBDA      ? best_lambdas(r, err)
             : a->optimize == RIDGE_FEATURES  ? best_features(r, err)
             : a->optimize == RIDGE_RECOMMEND ? choices(r, err)
                                              : grid(r, err);
    const int several = a->activation == KSPEC_RIDGE_ACTIVATION_FOURIER || a->kernel;
    const size_t points = several ? SEVERAL_POINTS : ONE_POINTS;
    for (size_t k = 0; k < a->features.count && a->density && !st; k++)
        st = kspec_ridge_density(r->plan, (size_t)a->features.at[k], points, &r->densities[k], err);
    return st;
}

/* ---- output ---- */

static const double DEFAULT_NU = 1.5;

static const char *const states[] = {"converged", "floor", "unfinished", "divergent"};

static json_t *point_json(const result *r, size_t k) {
    const kspec_ridge_point *p = &r->rows[k].p;
    const kspec_ridge_measured *e = &r->rows[k].e;
    json_t *o = json_pack("{s:I, s:f, s:o, s:o, s:o, s:o, s:i, s:s}", "features", (json_int_t)p->N, "lambda",
                          p->lambda, "delta_cos", cli_real(p->delta_cos), "delta_sin", cli_real(p->delta_sin),
                          "train_mse", cli_real(p->train_mse), "test_mse", cli_real(p->test_mse),
                          "iterations", p->iterations, "state", states[p->state]);
    cli_set_reals(o, (cli_member[]){{"empirical_train_mse", e->train_mse},
                                    {"empirical_train_sd", e->train_sd},
                                    {"empirical_test_mse", e->test_mse},
                                    {"empirical_test_sd", e->test_sd},
                                    {"kernel_train_mse", p->kernel_train_mse},
                                    {"kernel_test_mse", p->kernel_test_mse},
                                    {"theta_cos", p->theta_cos},
                                    {"theta_sin", p->theta_sin},
                                    {"residual", p->residual},
                                    {"delta_error", p->delta_error},
                                    {"cost", r->rows[k].cost},
                                    {"train_r2", p->train_r2},
                                    {"test_r2", p->test_r2},
                                    {0}});
    if (r->a->label_count) {
        json_object_set_new(o, "classification_error", cli_real(p->test_error));
        json_object_set_new(o, "empirical_classification_error", cli_real(e->test_error));
    }
    if (r->a->activation) json_object_set_new(o, "delta", cli_real(p->delta_cos));
    if (r->a->optimize == RIDGE_LAMBDA || r->a->optimize == RIDGE_FEATURES)
        json_object_set_new(o, "at_bound",
                            r->rows[k].at_bound ? json_string(r->rows[k].at_bound) : json_null());
    if (r->a->bilinear) ridge_forms_keys(&r->forms, k, o);
    if (r->m > 1 && !r->a->optimize) {
        json_object_set_new(o, "train_mse_columns", cli_reals(r->columns + k * 2 * r->m, r->m));
        json_object_set_new(o, "test_mse_columns", cli_reals(r->columns + (2 * k + 1) * r->m, r->m));
    }
    return o;
}

static json_t *densities_json(const result *r) {
    json_t *list = json_array();
    for (size_t k = 0; k < r->a->features.count; k++) {
        const kspec_ridge_density_result *d = r->densities[k];
        json_array_append_new(
            list, json_pack("{s:I, s:f, s:o, s:o, s:o}", "features", (json_int_t)r->a->features.at[k], "atom",
                            d->atom, "x", cli_reals(d->x, d->count), "density",
                            cli_reals(d->density, d->count), "eigenvalues", cli_reals(d->eigenvalues, d->n)));
    }
    return list;
}

static json_t *to_json(const void *of) {
    const result *r = of;
    json_t *points = json_array();
    for (size_t k = 0; k < r->count; k++) json_array_append_new(points, point_json(r, k));
    json_t *o =
        json_pack("{s:I, s:I, s:I, s:I, s:f, s:s, s:I, s:I, s:o, s:f}", "rows", (json_int_t)r->n, "test_rows",
                  (json_int_t)r->nt, "cols", (json_int_t)r->p, "targets", (json_int_t)r->m, "sigma",
                  kspec_ridge_sigma(r->plan), "solver", cli_choice_name(solvers, r->a->solver), "draws",
                  (json_int_t)(r->measured ? make_opts(r->a).check_draws : 0), "seed",
                  (json_int_t)r->a->common.seed, "points", points, "seconds", r->seconds);
    json_object_set_new(o, "activation", json_string(cli_choice_name(activations, r->a->activation)));
    json_object_set_new(o, "kernel", json_string(cli_choice_name(kernels, r->a->kernel)));
    if (r->a->kernel) json_object_set_new(o, "nu", json_real(r->a->nu > 0 ? r->a->nu : DEFAULT_NU));
    json_object_set_new(o, "target_centered", json_boolean(make_opts(r->a).center_target));
    json_object_set_new(o, "intercept", json_boolean(r->a->intercept));
    json_object_set_new(o, "standardized", json_boolean(make_opts(r->a).standardize));
    json_object_set_new(o, "classes",
                        r->a->label_count ? cli_reals(r->a->labels, r->a->label_count) : json_null());
    cli_set_reals(
        o, (cli_member[]){{"mean_train_mse", r->mean_train_mse}, {"mean_test_mse", r->mean_test_mse}, {0}});
    if (r->a->density) json_object_set_new(o, "densities", densities_json(r));
    if (r->advice.found) ridge_advice_keys(&r->advice, o);
    cli_device_keys(&r->device, o);
    return o;
}

/* a text such as " ± 0.012", or blanks */
static void spread(FILE *f, double x) {
    if (isfinite(x))
        fprintf(f, " ± %-7.2g", x);
    else
        fprintf(f, "%10s", "");
}

static void print_point(FILE *f, const result *r, const row *at) {
    const kspec_ridge_point *p = &at->p;
    const kspec_ridge_measured *e = &at->e;
    int measured = r->measured;
    fprintf(f, "%7zu  %9.4g", p->N, p->lambda);
    cli_cell(f, "%.4g", 10, p->delta_cos);
    if (!r->a->activation) cli_cell(f, "%.4g", 10, p->delta_sin);
    cli_cell(f, "%.4g", 10, p->train_mse);
    if (measured) cli_cell_rounded(f, 10, e->train_mse, e->train_sd), spread(f, e->train_sd);
    cli_cell(f, "%.4g", 10, p->kernel_train_mse);
    if (r->nt) {
        cli_cell(f, "%.4g", 10, p->test_mse);
        if (measured) cli_cell_rounded(f, 10, e->test_mse, e->test_sd), spread(f, e->test_sd);
        cli_cell(f, "%.4g", 10, p->kernel_test_mse);
        if (r->a->label_count) cli_cell(f, "%.2f", 8, 100 * p->test_error);
        if (r->a->label_count && measured) cli_cell(f, "%.2f", 8, 100 * e->test_error);
    }
    if (r->a->in_table) cli_cell(f, "%.3f", 6, r->nt ? p->test_r2 : p->train_r2);
    fprintf(f, "  %5d", p->iterations);
    if (p->state != KSPEC_RIDGE_STATE_CONVERGED) fprintf(f, "  %s", states[p->state]);
    if (at->at_bound) fprintf(f, "  at the %s end", at->at_bound);
    fputc('\n', f);
}

static void print_heading(FILE *f, const result *r) {
    const ridge_args *a = r->a;
    const char *measured = r->measured ? "    measured ± SD     " : "";
    fprintf(f, "\n%s%7s  %9s", cli_bold(&a->common), "N", "lambda");
    if (a->activation)
        fprintf(f, "  %10s", "delta");
    else
        fprintf(f, "  %10s  %10s", "delta_cos", "delta_sin");
    fprintf(f, "  %10s%s  %10s", "train MSE", measured, "kernel's");
    if (r->nt) fprintf(f, "  %10s%s  %10s", "test MSE", measured, "kernel's");
    if (r->nt && a->label_count) fprintf(f, "  %8s%s", "wrong, %", *measured ? "  measured" : "");
    if (a->in_table) fprintf(f, "  %6s", "R2");
    fprintf(f, "  %5s%s\n", "steps", cli_plain(&a->common));
}

static void print_table(FILE *f, const void *of) {
    const result *r = of;
    const ridge_args *a = r->a;
    if (r->advice.found) ridge_print_advice(f, &r->advice, a);
    fprintf(f, "%zu training row%s", r->n, cli_s(r->n));
    if (r->nt) fprintf(f, ", %zu test row%s", r->nt, cli_s(r->nt));
    fprintf(f, " × %zu column%s, %zu target%s, sigma %.4g", r->p, cli_s(r->p), r->m, cli_s(r->m),
            kspec_ridge_sigma(r->plan));
    if (a->kernel) fprintf(f, ", matern kernel of nu %g", a->nu > 0 ? a->nu : DEFAULT_NU);
    fputc('\n', f);
    if (make_opts(a).center_target) {
        fprintf(f, "predicting the mean of the training targets errs by %.4g in training", r->mean_train_mse);
        if (r->nt) fprintf(f, ", %.4g in testing", r->mean_test_mse);
        fputc('\n', f);
    }
    print_heading(f, r);
    for (size_t k = 0; k < r->count; k++) {
        if (k && a->optimize == RIDGE_GRID && r->rows[k].p.N != r->rows[k - 1].p.N && a->lambda.count > 1)
            fputc('\n', f);
        print_point(f, r, &r->rows[k]);
    }
    if (a->bilinear) ridge_forms_print(f, &r->forms, &a->common);
    for (size_t k = 0; k < a->features.count && a->density; k++) {
        const kspec_ridge_density_result *d = r->densities[k];
        size_t zero = 0;
        while (zero < d->n && !(d->eigenvalues[zero] > 1e-10 * d->eigenvalues[d->n - 1])) zero++;
        fprintf(f,
                "%sN = %zu: a share of %.3g of the Gram matrix's eigenvalues is 0 (of a draw %.3g), the "
                "largest of a draw is %.4g\n",
                k ? "" : "\n", (size_t)a->features.at[k], d->atom, (double)zero / (double)d->n,
                d->eigenvalues[d->n - 1]);
    }
    if (strcmp(r->device.name, "cpu") != 0) fprintf(f, "\npredicted on %s\n", r->device.name);
}

/* ---- the command ---- */

/* Opens the plan. For a recommendation, the plan uses the sigma that another plan has already found. */
static kspec_status open_plan(result *r, const ridge_set *train, const ridge_set *test,
                              const kspec_ridge_opts *opts, kspec_error *err) {
    const kspec_matrix *xt = test->x.rows ? &test->x : NULL, *yt = test->x.rows ? &test->y : NULL;
    if (r->a->optimize != RIDGE_RECOMMEND)
        return kspec_ridge_open(&train->x, &train->y, xt, yt, opts, &r->plan, err);
    kspec_ridge_opts o = *opts;
    o.median_sigma = 1;
    kspec_status st = kspec_ridge_open(&train->x, &train->y, xt, yt, &o, &r->plan, err);
    if (!st) st = kspec_ridge_recommend(r->plan, 0, &r->advice.found, err);
    whole.part++;
    if (st) return st;
    const kspec_ridge_recommend_result *found = r->advice.found;
    cli_doubts(&r->a->common, NULL, found->doubts, found->doubt_count);
    r->advice.median = kspec_ridge_sigma(r->plan);
    r->advice.training_rows = train->x.rows;
    if (o.test_fraction > 0)
        r->advice.training_rows -= (size_t)(o.test_fraction * (double)train->x.rows + 0.5);
    kspec_ridge_close(r->plan);
    o.median_sigma = 0, o.sigma = found->recommended->sigma;
    return kspec_ridge_open(&train->x, &train->y, xt, yt, &o, &r->plan, err);
}

static size_t count_points(const ridge_args *a) {
    if (a->optimize == RIDGE_RECOMMEND) return RIDGE_CHOICES;
    return (a->optimize == RIDGE_FEATURES ? 1 : a->features.count) *
           (a->optimize == RIDGE_LAMBDA ? 1 : a->lambda.count);
}

static int run_on(ridge_args *a, const ridge_set *train, const ridge_set *test,
                  const kspec_ridge_opts *opts) {
    double start = cli_now();
    result r = {.a = a, .p = train->x.cols, .m = train->y.cols, .count = count_points(a)};
    r.rows = calloc(r.count, sizeof *r.rows);
    r.columns = calloc(r.count, 2 * r.m * sizeof *r.columns);
    r.densities = calloc(a->features.count + 1, sizeof(kspec_ridge_density_result *));
    kspec_error err = {KSPEC_E_NOMEM, "out of memory for the points"};
    int status = EXIT_DONE;
    kspec_status st = r.rows && r.columns && r.densities ? KSPEC_OK : KSPEC_E_NOMEM;
    if (!st) st = open_plan(&r, train, test, opts, &err);
    if (!st) status = ridge_forms_read(a, &r.forms);
    if (!st && !status) st = compute(&r, &err);
    r.seconds = cli_now() - start;
    if (!status) status = st ? cli_fail(st, &err) : cli_done(&a->common, print_table, to_json, &r);
    kspec_ridge_close(r.plan);
    kspec_free(r.advice.found);
    ridge_forms_free(&r.forms);
    for (size_t k = 0; k < a->features.count && r.densities; k++) kspec_free(r.densities[k]);
    free(r.densities);
    free(r.rows);
    free(r.columns);
    return status;
}

static int run(void *args) {
    ridge_args *a = args;
    if (!a->optimize && !a->features.count && !a->lambda.count) a->optimize = RIDGE_RECOMMEND;
    int status = check_lists(a);
    if (status) return status;
    ridge_set train, test;
    status = ridge_read(a, &train, &test);
    if (!status) {
        kspec_ridge_opts opts = make_opts(a);
        size_t calls = a->optimize == RIDGE_FEATURES    ? a->lambda.count
                       : a->optimize == RIDGE_LAMBDA    ? a->features.count
                       : a->optimize == RIDGE_RECOMMEND ? RIDGE_CHOICES + 2
                                                        : 1;
        whole.base = cli_progress(&a->common);
        whole.part = 0, whole.parts = (double)calls;
        if (whole.base.report) opts.progress = (kspec_progress){report_part, NULL};
        kspec_error err;
        kspec_status st = cli_team(&a->common, &opts.team, &err);
        status = st ? cli_fail(st, &err) : run_on(a, &train, &test, &opts);
    }
    ridge_set_free(&train);
    ridge_set_free(&test);
    free(a->labels);
    return status;
}

const cli_command cmd_ridge = {
    .name = "ridge",
    .summary = "predict training and test error of random features, without training",
    .synopsis =
        "ridge INPUT --target Y [--test-fraction F] [--check] [OPTIONS]\n"
        "ridge INPUT --target Y [--test X2 --test-target Y2] --features N,... --lambda L,... [--empirical K] "
        "[OPTIONS]",
    .description =
        "Predicts the mean squared errors of ridge regression on N random Fourier features (2N columns) of\n"
        "the rows of INPUT, from the rows and targets alone, and checks them with real draws. Without "
        "--features\n"
        "and --lambda, recommends both and a bandwidth.",
    .options = options,
    .args_size = sizeof(ridge_args),
    .reads_input = 1,
    .most_inputs = 1,
    .shares = 1,
    .run = run,
};
