/* kspec norm: computes the spectral norm of the Gram matrix of a kernel by several methods. */
#include "core/cli.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    cli_common common;
    unsigned methods;
    cli_sigma sigma;
    double gamma, nu, stop, tolerance, error, memory;
    size_t features, sample;
    int kernel, frequencies, standardize, minmax, unit, gram, sample_first, updates, repeat, draws, device;
} norm_args;

#define ARG(field) offsetof(norm_args, field)

/* clang-format off */
static const cli_choice methods[] = {
    {"eigen",        KSPEC_NORM_METHOD_EIGEN},
    {"power",        KSPEC_NORM_METHOD_POWER},
    {"lanczos",      KSPEC_NORM_METHOD_LANCZOS},
    {"rff-power",    KSPEC_NORM_METHOD_RFF_POWER},
    {"nystrom",      KSPEC_NORM_METHOD_NYSTROM},
    {"rff-nystrom",  KSPEC_NORM_METHOD_RFF_NYSTROM},
    {"rff-debiased", KSPEC_NORM_METHOD_RFF_DEBIASED},
    {"auto",         KSPEC_NORM_METHOD_AUTO},
    {"bound",        KSPEC_NORM_METHOD_POWER | KSPEC_NORM_METHOD_RFF_POWER}, /* Theorems 2.5 and 2.1 */
    {0},
};
static const cli_choice kernels[] = {
    {"gaussian", KSPEC_KERNEL_GAUSSIAN},
    {"laplace",  KSPEC_KERNEL_LAPLACE},
    {"cauchy",   KSPEC_KERNEL_CAUCHY},
    {"matern",   KSPEC_KERNEL_MATERN},
    {0},
};
static const cli_choice frequencies[] = {
    {"iid", KSPEC_FREQUENCIES_IID}, {"orthogonal", KSPEC_FREQUENCIES_ORTHOGONAL}, {0},
};
static const cli_choice units[] = {
    {"rows", KSPEC_SCALING_UNIT_ROWS}, {"cols", KSPEC_SCALING_UNIT_COLS}, {0},
};
static const cli_choice median[] = {{"median", 0}, {0}};

static const cli_option options[] = {
    {"method",       0, OPT_SET,    ARG(methods),      "LIST",
     "eigen, power, lanczos, rff-power, nystrom, rff-nystrom, rff-debiased, separated by commas "
     "(default auto: lanczos, rff-debiased or both, in a few seconds), or bound: power, rff-power", methods},
    {"sigma",        0, OPT_SIGMA,  ARG(sigma),        "S",
     "bandwidth of the kernel: a number, or the median distance of two rows (the default)", median},
    {"gamma",        0, OPT_DOUBLE, ARG(gamma),        "G",
     "use instead of --sigma S: G is 1/(2 S^2); for laplace and matern 1/S, for cauchy 1/S^2", .positive = 1},
    {"kernel",       0, OPT_CHOICE, ARG(kernel),       "K",
     "gaussian (the default), laplace, cauchy or matern", kernels},
    {"nu",           0, OPT_DOUBLE, ARG(nu),           "V",
     "smoothness of the matern kernel (default 1.5)", .positive = 1},
    {"frequencies",  0, OPT_CHOICE, ARG(frequencies),  "F",
     "draw the random features' frequencies iid (the default) or orthogonal", frequencies},
    {"standardize",  0, OPT_FLAG,   ARG(standardize),  NULL,
     "scale each column to mean 0 and standard deviation 1"},
    {"minmax",       0, OPT_FLAG,   ARG(minmax),       NULL,
     "scale each column to the range 0 to 1"},
    {"unit",         0, OPT_CHOICE, ARG(unit),         "WHAT",
     "scale each row, or each column (cols), to length 1", units},
    {"gram",         0, OPT_FLAG,   ARG(gram),         NULL,
     "INPUT is the Gram matrix itself"},
    {"features",     0, OPT_BLOCK,  ARG(features),     "q",
     "number of random features (default 256); auto: as many as --error needs"},
    {"error",        0, OPT_DOUBLE, ARG(error),        "E",
     "with --features auto: the largest relative error of rff-power (default 0.05)", .positive = 1},
    {"sample",       0, OPT_SIZE,   ARG(sample),       "r",
     "rows that the Nystrom methods sample (default 1000, or all)", .min = 1},
    {"sample-first", 0, OPT_FLAG,   ARG(sample_first), NULL,
     "sample the first r rows instead of r random ones"},
    {"updates",      0, OPT_INT,    ARG(updates),      "t",
     "end an iteration after t updates (default 1000)", .min = 1},
    {"stop",         0, OPT_DOUBLE, ARG(stop),         "E",
     "end an iteration at this estimated relative error (default 1e-10)", .positive = 1},
    {"repeat",       0, OPT_INT,    ARG(repeat),       "k",
     "print mean and spread over k draws of features and samples (default 1)", .min = 1},
    {"draws",        0, OPT_FLAG,   ARG(draws),        NULL,
     "list each draw in the JSON output"},
    {"tolerance",    0, OPT_DOUBLE, ARG(tolerance),    "EPS",
     "double q until the interval of rff-debiased is narrower than EPS times its value", .positive = 1},
    {"memory",       0, OPT_DOUBLE, ARG(memory),       "GIB",
     "store matrices up to this many GiB, and recompute larger ones (default 1)"},
    CLI_DEVICE_OPTION(ARG),
    {0},
};
/* clang-format on */

/* Warns of options that no chosen method uses. They are not rejected, because a script may give the same
 * options to one method after the other. The library itself rejects orthogonal frequencies that no method
 * uses. */
static void warn_unused(const norm_args *a) {
    const unsigned rff =
        KSPEC_NORM_METHOD_RFF_POWER | KSPEC_NORM_METHOD_RFF_NYSTROM | KSPEC_NORM_METHOD_RFF_DEBIASED;
    const unsigned sampled = KSPEC_NORM_METHOD_NYSTROM | KSPEC_NORM_METHOD_RFF_NYSTROM;
    const int automatic = a->methods & KSPEC_NORM_METHOD_AUTO && !a->gram;
    const unsigned chosen = a->methods | (automatic ? (unsigned)KSPEC_NORM_METHOD_RFF_DEBIASED : 0);
    const struct {
        const char *option, *what;
        unsigned methods;
    } table[] = {
        {"features", "random features: rff-power, rff-nystrom, rff-debiased", rff},
        {"sample", "a sample of the rows: nystrom, rff-nystrom", sampled},
        {"sample-first", "a sample of the rows: nystrom, rff-nystrom", sampled},
        {"repeat", "random draws: rff-power, rff-nystrom, rff-debiased, nystrom", rff | sampled},
    };
    for (size_t k = 0; k < sizeof table / sizeof *table; k++)
        if (cli_given(&a->common, table[k].option) && !(chosen & table[k].methods) &&
            !(k == 0 && a->features == KSPEC_BLOCK_AUTO))
            cli_warn(&a->common, "--%s has no effect: it is for methods with %s", table[k].option,
                     table[k].what);
}

/* Rejects options that cannot be combined, and chooses the methods. */
static int check(norm_args *a) {
    const cli_common *c = &a->common;
    int scaled = cli_given(c, "sigma") || a->gamma > 0;
    const int debiased = a->frequencies == KSPEC_FREQUENCIES_IID && a->features != KSPEC_BLOCK_AUTO;
    const int features = cli_given(c, "features") || cli_given(c, "frequencies") ||
                         cli_given(c, "tolerance") || cli_given(c, "repeat") || cli_given(c, "draws");
    if (!a->methods) a->methods = KSPEC_NORM_METHOD_AUTO;
    /* If the user gave an option for features, the automatic choice takes a method that uses features. */
    if (a->methods == KSPEC_NORM_METHOD_AUTO && features && !a->gram)
        a->methods = KSPEC_NORM_METHOD_LANCZOS |
                     (debiased ? KSPEC_NORM_METHOD_RFF_DEBIASED : KSPEC_NORM_METHOD_RFF_POWER);
    if (!a->gram && !scaled) a->sigma.median = 1;
    if (a->standardize + a->minmax + (a->unit != 0) > 1)
        return cli_error(EXIT_USAGE, "norm: only one of --standardize, --minmax and --unit can be given");
    if (a->error > 0 && a->features != KSPEC_BLOCK_AUTO)
        return cli_error(EXIT_USAGE,
                         "--error: a wanted error chooses the features; it needs --features auto");
    if (!(a->memory >= 0 && a->memory <= 1e9))
        return cli_error(EXIT_USAGE, "--memory: %g is not between 0 and 1e9", a->memory);
    warn_unused(a);
    return EXIT_DONE;
}

static kspec_norm_opts make_opts(const norm_args *a) {
    const int choose = a->features == KSPEC_BLOCK_AUTO;
    return (kspec_norm_opts){
        .size = sizeof(kspec_norm_opts),
        .methods = a->methods,
        .device = (kspec_device)a->device,
        .kernel = (kspec_kernel)a->kernel,
        .sigma = a->sigma.value,
        .median_sigma = a->sigma.median,
        .gamma = a->gamma,
        .nu = a->nu,
        .frequencies = (kspec_frequencies)a->frequencies,
        .scaling = a->standardize ? KSPEC_SCALING_STANDARDIZE
                   : a->minmax    ? KSPEC_SCALING_MINMAX
                                  : (kspec_scaling)a->unit, /* not given: none */
        .gram = a->gram,
        .features = choose ? 0 : a->features,
        .error = !choose        ? 0
                 : a->error > 0 ? a->error
                                : 0.05,
        .sample = a->sample,
        .sample_first = a->sample_first,
        .updates = a->updates,
        .stop = a->stop,
        .repeats = a->repeat,
        .tolerance = a->tolerance,
        .memory = cli_given(&a->common, "memory") ? (size_t)(a->memory * 0x1p30) + 1 : 0, /* 0: the default */
        .seed = a->common.seed,
        .threads = a->common.threads,
        .progress = cli_progress(&a->common),
    };
}

/* ---- output ---- */

/* Returns the first doubt about a method, or NULL. *converged is 0 if a doubt says that the method did
 * not converge. */
static const kspec_doubt *doubt(const kspec_norm_result *r, const char *method, int *converged) {
    const kspec_doubt *first = NULL;
    *converged = 1;
    for (size_t k = 0; k < r->doubt_count; k++) {
        const kspec_doubt *d = r->doubts[k];
        if (!d->where || strcmp(d->where, method) != 0) continue;
        if (d->code == KSPEC_DOUBT_NOT_CONVERGED) *converged = 0;
        if (!first) first = d;
    }
    return first;
}

static json_t *entry_json(const norm_args *a, const kspec_norm_entry *e, const kspec_norm_result *r) {
    char text[512];
    int converged;
    const char *name = kspec_name(KSPEC_NAMES_NORM_METHOD, e->method);
    const kspec_doubt *d = doubt(r, name, &converged);
    json_t *o = json_pack("{s:s}", "method", name);
    cli_set_reals(o, (cli_member[]){{"value", e->value},
                                    {"seconds", e->seconds},
                                    {"iterations", e->iterations},
                                    {"residual", e->residual},
                                    {"bound", e->bound},
                                    {"ci_low", e->ci_low},
                                    {"ci_high", e->ci_high},
                                    {"debiased", e->debiased},
                                    {"spread", e->spread},
                                    {0}});
    if (e->iterations == floor(e->iterations))
        json_object_set_new(o, "iterations", json_integer((json_int_t)e->iterations));
    json_object_set_new(o, "bound_vacuous", json_boolean(e->has_bound && !isfinite(e->bound)));
    json_object_set_new(o, "order", e->order ? json_integer(e->order) : json_null());
    json_object_set_new(o, "paired",
                        e->method == KSPEC_NORM_METHOD_RFF_DEBIASED ? json_boolean(e->paired) : json_null());
    json_object_set_new(o, "features", e->features ? json_integer((json_int_t)e->features) : json_null());
    json_object_set_new(o, "sample", e->sample ? json_integer((json_int_t)e->sample) : json_null());
    json_object_set_new(o, "repeats", json_integer((json_int_t)e->draw_count));
    json_object_set_new(o, "converged", json_boolean(converged));
    json_object_set_new(o, "warning", d ? cli_string(kspec_doubt_text(d, text, sizeof text)) : json_null());
    if (!a->draws) return o;
    json_t *draws = json_array();
    for (size_t k = 0; k < e->draw_count; k++)
        json_array_append_new(draws, json_pack("{s:o, s:o, s:o}", "value", cli_real(e->draws[k]->value),
                                               "ci_low", cli_real(e->draws[k]->ci_low), "ci_high",
                                               cli_real(e->draws[k]->ci_high)));
    json_object_set_new(o, "draws", draws);
    return o;
}

typedef struct {
    const norm_args *a;
    const kspec_dataset *d;
    const kspec_norm_result *r;
} output;

static json_t *to_json(const void *result) {
    const output *u = result;
    const norm_args *a = u->a;
    const kspec_norm_result *r = u->r;
    json_t *list = json_array();
    for (size_t k = 0; k < r->count; k++) json_array_append_new(list, entry_json(a, r->entries[k], r));
    const char *scaling = a->standardize                       ? "standardize"
                          : a->minmax                          ? "minmax"
                          : a->unit == KSPEC_SCALING_UNIT_ROWS ? "unit-rows"
                          : a->unit == KSPEC_SCALING_UNIT_COLS ? "unit-cols"
                                                               : "none";
    json_t *o = json_pack("{s:s, s:I, s:I, s:o, s:o, s:o, s:I, s:o, s:f}", "scaling", scaling, "rows",
                          (json_int_t)r->n, "cols", (json_int_t)r->p, "kernel",
                          a->gram ? json_null() : json_string(cli_choice_name(kernels, a->kernel)), "sigma",
                          cli_real(r->sigma), "gamma", cli_real(r->gamma), "seed", (json_int_t)a->common.seed,
                          "results", list, "seconds", r->seconds);
    json_object_set_new(o, "nu", cli_real(r->nu));
    json_object_set_new(o, "frequencies", json_string(cli_choice_name(frequencies, a->frequencies)));
    json_object_set_new(o, "expected_error", cli_real(r->expected_error));
    cli_device_keys(&r->device, o);
    return o;
}

static void print_entry(FILE *f, const kspec_norm_entry *e) {
    char range[60] = "", residual[20] = "", bound[20] = "";
    if (isfinite(e->ci_low))
        snprintf(range, sizeof range, "%.5g … %.5g", e->ci_low, e->ci_high);
    else if (isfinite(e->spread))
        snprintf(range, sizeof range, "± %.4g", e->spread);
    if (isfinite(e->residual)) snprintf(residual, sizeof residual, "%.1e", e->residual);
    if (e->has_bound) snprintf(bound, sizeof bound, isfinite(e->bound) ? "± %.4g" : "vacuous", e->bound);
    /* "±" has two bytes and "…" three, so the column needs one or two bytes more */
    int wide = strstr(range, "…") ? 2 : strstr(range, "±") ? 1 : 0;
    fprintf(f, "%-13s %14.8g  %-*s %5.4g  %9s  %9.3g  %*s\n", kspec_name(KSPEC_NAMES_NORM_METHOD, e->method),
            e->value, 26 + wide, range, e->iterations, residual, e->seconds, 9 + (strstr(bound, "±") != NULL),
            bound);
}

/* Returns the number of random features that the method rff-power used. */
static size_t chosen(const kspec_norm_result *r) {
    size_t features = 0;
    for (size_t k = 0; k < r->count; k++)
        if (r->entries[k]->features) features = r->entries[k]->features;
    return features;
}

static void print_table(FILE *f, const void *result) {
    char nu[40] = "";
    const output *u = result;
    const norm_args *a = u->a;
    const kspec_norm_result *r = u->r;
    cli_print_shape(f, &a->common, u->d, NULL);
    if (isfinite(r->nu)) snprintf(nu, sizeof nu, ", nu = %.6g", r->nu);
    if (a->gram)
        fputs("spectral norm of the Gram matrix given\n\n", f);
    else
        fprintf(f, "spectral norm of the %s Gram matrix, sigma = %.6g%s%s\n\n",
                cli_choice_name(kernels, a->kernel), r->sigma, nu,
                a->standardize                       ? ", columns standardised"
                : a->minmax                          ? ", columns scaled to 0 … 1"
                : a->unit == KSPEC_SCALING_UNIT_ROWS ? ", rows of length 1"
                : a->unit == KSPEC_SCALING_UNIT_COLS ? ", columns of length 1"
                                                     : "");
    fprintf(f, "%s%-13s %14s  %-26s %5s  %9s  %9s  %9s%s\n", cli_bold(&a->common), "method", "norm",
            "95% interval, or ± spread", "iter.", "residual", "seconds", "bound", cli_plain(&a->common));
    for (size_t k = 0; k < r->count; k++) print_entry(f, r->entries[k]);
    if (isfinite(r->expected_error))
        fprintf(f, "\n%zu features, for an expected error of rff-power of %.2g%%\n", chosen(r),
                100 * r->expected_error);
    cli_left_out_print(f, &a->common, r->doubts, r->doubt_count);
    if (strcmp(r->device.name, "cpu") != 0) fprintf(f, "\nproducts and features on %s\n", r->device.name);
}

/* ---- the command ---- */

static int run(void *args) {
    norm_args *a = args;
    kspec_dataset *d = NULL;
    a->common.on_device = a->device != KSPEC_DEVICE_CPU;
    int status = check(a);
    if (!status) status = cli_read(&a->common, &d);
    if (status) return status;
    cli_note_treatment(&a->common, NULL, a->standardize, a->standardize || a->minmax || a->unit);
    kspec_norm_opts o = make_opts(a);
    o.data_memory = d->memory;
    kspec_norm_result *r = NULL;
    kspec_error err;
    if (d->trials > 1) {
        status = cli_error(EXIT_INPUT, "norm takes one matrix, not %zu trials", d->trials);
    } else {
        kspec_matrix x = kspec_dataset_trial(d, 0);
        kspec_status st = cli_team(&a->common, &o.team, &err);
        if (!st) st = kspec_norm(&x, &o, &r, &err);
        if (st) status = cli_fail_of(&a->common, d, st, &err);
    }
    if (!status) {
        cli_doubts(&a->common, NULL, r->doubts, r->doubt_count);
        status = cli_done(&a->common, print_table, to_json, &(output){a, d, r});
    }
    kspec_free(r);
    kspec_free(d);
    return status;
}

static const cli_column columns[] = {
    {"rows", "rows"},
    {"columns", "cols"},
    {"sigma", "sigma"},
    {"method", "results.0.method"},
    {"norm", "results.0.value"},
    {0},
};

const cli_command cmd_norm = {
    .name = "norm",
    .summary = "spectral norm of the Gram matrix of a kernel",
    .synopsis = "norm INPUT [--method LIST] [--sigma S|median | --gamma G] [--kernel K] "
                "[--standardize|--minmax|--unit WHAT] "
                "[--features q] [--sample r] [--updates t] [OPTIONS]\n"
                "norm INPUT --gram [--method LIST] [OPTIONS]",
    .description = "Estimates the largest eigenvalue of K_ij = k(x_i, x_j), x_i the rows of INPUT, exactly "
                   "(eigen, lanczos,\n"
                   "power), from a sample of the rows (nystrom) or from random Fourier features (rff-...).\n"
                   "@FILE is an INPUT for each of its lines, and makes one table.",
    .options = options,
    .args_size = sizeof(norm_args),
    .reads_input = 1,
    .shares = 1,
    .columns = columns,
    .run = run,
};
