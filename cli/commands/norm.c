#include "core/cli.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    cli_common common;
    const char *method, *sigma, *kernel;
    cli_list gamma, stop, tolerance, memory; /* one number each: a 0 that was given is told from none */
    size_t features, sample;
    int standardize, minmax, gram, sample_first, updates, repeat, draws;
} norm_args;

#define ARG(field) offsetof(norm_args, field)

static const char method_names[] = "eigen|power|lanczos|rff-power|nystrom|rff-nystrom|rff-debiased";

static const cli_option options[] = {
    {"method", 0, OPT_STRING, ARG(method), "LIST",
     "eigen, power, lanczos, rff-power, nystrom, rff-nystrom, rff-debiased, separated by commas",
     method_names},
    {"sigma", 0, OPT_STRING, ARG(sigma), "S", "scale of the kernel: a number, or median (of the distances)",
     "median"},
    {"gamma", 0, OPT_LIST, ARG(gamma), "G", "instead of --sigma: 1/(2 S^2); laplace 1/S, cauchy 1/S^2"},
    {"kernel", 0, OPT_CHOICE, ARG(kernel), "K", "gaussian (the default), laplace or cauchy",
     "gaussian|laplace|cauchy"},
    {"standardize", 0, OPT_FLAG, ARG(standardize), NULL,
     "scale each column to mean 0 and standard deviation 1"},
    {"minmax", 0, OPT_FLAG, ARG(minmax), NULL, "scale each column to the range 0 to 1"},
    {"gram", 0, OPT_FLAG, ARG(gram), NULL, "INPUT is the Gram matrix itself"},
    {"features", 0, OPT_SIZE, ARG(features), "q", "random features (default 256)", .min = 1},
    {"sample", 0, OPT_SIZE, ARG(sample), "r", "rows that the Nystrom methods sample (default 1000, or all)",
     .min = 1},
    {"sample-first", 0, OPT_FLAG, ARG(sample_first), NULL, "sample the first r rows, not r at random"},
    {"updates", 0, OPT_INT, ARG(updates), "t", "at most t updates of an iteration (default 1000)", .min = 1},
    {"stop", 0, OPT_LIST, ARG(stop), "E",
     "end an iteration at this estimated relative error (default 1e-10)"},
    {"repeat", 0, OPT_INT, ARG(repeat), "k",
     "mean and spread over k draws of features and samples (default 1)", .min = 1},
    {"draws", 0, OPT_FLAG, ARG(draws), NULL, "list the single draws in the JSON output"},
    {"tolerance", 0, OPT_LIST, ARG(tolerance), "EPS",
     "double q until rff-debiased's interval is narrower than EPS times its value"},
    {"memory", 0, OPT_LIST, ARG(memory), "GIB",
     "hold matrices up to this size, remake larger ones (default 1)"},
    {0},
};

static int parse_methods(const char *list, unsigned *set) {
    *set = 0;
    if (!list) return cli_error(EXIT_USAGE, "norm: --method is missing: %s", method_names);
    for (const char *text = list; text; text = strchr(text, ',') ? strchr(text, ',') + 1 : NULL) {
        size_t n = strcspn(text, ",");
        unsigned found = 0;
        for (unsigned m = 1; kspec_norm_method_name(m); m <<= 1)
            if (strlen(kspec_norm_method_name(m)) == n && strncmp(text, kspec_norm_method_name(m), n) == 0)
                found = m;
        if (!found)
            return cli_error(EXIT_USAGE, "--method: '%.*s' is none of %s", (int)n, text, method_names);
        *set |= found;
    }
    return EXIT_DONE;
}

/* An option that was given has one number above 0 (or from 0 on), which goes to *to. */
static int number(const char *name, const cli_list *given, int zero_too, double *to) {
    if (!given->count) return EXIT_DONE;
    if (given->count > 1) return cli_error(EXIT_USAGE, "--%s: takes one number, not %zu", name, given->count);
    *to = given->at[0];
    if (*to > 0 || (zero_too && *to == 0)) return EXIT_DONE;
    return cli_error(EXIT_USAGE, "--%s: %g is not above 0", name, *to);
}

/* What does not go together, and what the library would take for "the default" although it was given */
static int check(const norm_args *a, kspec_norm_opts *o) {
    int scaled = a->sigma || a->gamma.count;
    double memory = NAN;
    if (a->sigma && a->gamma.count)
        return cli_error(EXIT_USAGE, "norm: only one of --sigma and --gamma can be given");
    if (a->gram && (scaled || a->kernel || a->standardize || a->minmax))
        return cli_error(EXIT_USAGE,
                         "norm: --gram takes no --kernel, --sigma, --gamma, --standardize or --minmax");
    if (!a->gram && !scaled) return cli_error(EXIT_USAGE, "norm: --sigma or --gamma is missing");
    if (a->standardize && a->minmax)
        return cli_error(EXIT_USAGE, "norm: only one of --standardize and --minmax can be given");
    if (a->sigma && strcmp(a->sigma, "median") != 0) {
        char *end;
        o->sigma = strtod(a->sigma, &end);
        if (end == a->sigma || *end)
            return cli_error(EXIT_USAGE, "--sigma: '%s' is neither a number nor median", a->sigma);
        if (!(o->sigma > 0)) return cli_error(EXIT_USAGE, "--sigma: %s is not above 0", a->sigma);
    }
    int status = number("gamma", &a->gamma, 0, &o->gamma);
    if (!status) status = number("stop", &a->stop, 0, &o->stop);
    if (!status) status = number("tolerance", &a->tolerance, 0, &o->tolerance);
    if (!status) status = number("memory", &a->memory, 1, &memory);
    if (memory > 1e9) status = cli_error(EXIT_USAGE, "--memory: %g exceeds 1e9", memory);
    if (!status && memory >= 0) o->memory = (size_t)(memory * 0x1p30) + 1; /* 0 would be the default */
    return status;
}

/* ---- output ---- */

static const char *doubt(const kspec_norm_entry *e, size_t n, char *text, size_t size) {
    size_t rows = e->sample ? e->sample : n;
    double floor = (double)n / (double)e->features;
    const char *name = kspec_norm_method_name(e->method);
    if (e->doubts & KSPEC_NORM_NEAR_FLOOR)
        snprintf(text, size,
                 "%s: %.4g is near n/q = %.4g, below which it cannot fall whatever the norm is: it "
                 "overestimates; use more "
                 "features or rff-debiased",
                 name, e->value, floor);
    else if (e->doubts & KSPEC_NORM_DISAGREES)
        snprintf(
            text, size,
            "%s: %.4g disagrees with the debiased estimate, %.4g, from the same features; use more of them "
            "or rff-debiased",
            name, e->value, e->debiased);
    else if (e->doubts & KSPEC_NORM_TOLERANCE_MISSED)
        snprintf(text, size, "%s: the interval is still wider than asked for with %zu features", name,
                 e->features);
    else if (e->doubts & KSPEC_NORM_NO_ORDER)
        snprintf(text, size, "%s: %zu features of %zu rows are too few to tell anything", name, e->features,
                 rows);
    else if (e->doubts & KSPEC_NORM_NOT_CONVERGED)
        snprintf(text, size, "%s: not converged after %.4g updates (residual %.1e)", name, e->iterations,
                 e->residual);
    else
        return NULL;
    return text;
}

static json_t *entry_json(const norm_args *a, const kspec_norm_entry *e, size_t n) {
    char text[400];
    const char *warning = doubt(e, n, text, sizeof text);
    json_t *o =
        json_pack("{s:s, s:o, s:o, s:o, s:o, s:o}", "method", kspec_norm_method_name(e->method), "value",
                  cli_real(e->value), "seconds", cli_real(e->seconds), "iterations", cli_real(e->iterations),
                  "residual", cli_real(e->residual), "bound", cli_real(e->bound));
    if (e->iterations == floor(e->iterations))
        json_object_set_new(o, "iterations", json_integer((json_int_t)e->iterations));
    json_object_set_new(o, "bound_vacuous", json_boolean(e->has_bound && !isfinite(e->bound)));
    json_object_set_new(o, "ci_low", cli_real(e->ci_low));
    json_object_set_new(o, "ci_high", cli_real(e->ci_high));
    json_object_set_new(o, "order", e->order ? json_integer(e->order) : json_null());
    json_object_set_new(o, "debiased", cli_real(e->debiased));
    json_object_set_new(o, "features", e->features ? json_integer((json_int_t)e->features) : json_null());
    json_object_set_new(o, "sample", e->sample ? json_integer((json_int_t)e->sample) : json_null());
    json_object_set_new(o, "repeats", json_integer((json_int_t)e->draw_count));
    json_object_set_new(o, "spread", cli_real(e->spread));
    json_object_set_new(o, "converged", json_boolean(!(e->doubts & KSPEC_NORM_NOT_CONVERGED)));
    json_object_set_new(o, "warning", warning ? json_string(warning) : json_null());
    if (!a->draws) return o;
    json_t *draws = json_array();
    for (size_t k = 0; k < e->draw_count; k++)
        json_array_append_new(draws, json_pack("{s:o, s:o, s:o}", "value", cli_real(e->draws[k].value),
                                               "ci_low", cli_real(e->draws[k].ci_low), "ci_high",
                                               cli_real(e->draws[k].ci_high)));
    json_object_set_new(o, "draws", draws);
    return o;
}

static json_t *to_json(const norm_args *a, const kspec_norm_result *r, json_t *warnings) {
    json_t *list = json_array();
    for (size_t k = 0; k < r->count; k++) json_array_append_new(list, entry_json(a, &r->entries[k], r->n));
    const char *scaling = a->standardize ? "standardize" : a->minmax ? "minmax" : "none";
    return json_pack("{s:s, s:o, s:s, s:I, s:I, s:o, s:o, s:o, s:I, s:o, s:f, s:o}", "command", "norm",
                     "input", cli_string(a->common.inputs[0]), "scaling", scaling, "rows", (json_int_t)r->n,
                     "cols", (json_int_t)r->p, "kernel",
                     a->gram ? json_null() : json_string(a->kernel ? a->kernel : "gaussian"), "sigma",
                     cli_real(r->sigma), "gamma", cli_real(r->gamma), "seed", (json_int_t)a->common.seed,
                     "results", list, "seconds", r->seconds, "warnings", warnings);
}

static void print_table(const norm_args *a, const kspec_dataset *d, const kspec_norm_result *r) {
    FILE *f = cli_text();
    const char *bold = cli_bold(&a->common), *plain = cli_plain(&a->common);
    cli_print_shape(f, &a->common, d);
    if (a->gram)
        fputs("spectral norm of the Gram matrix given\n\n", f);
    else
        fprintf(f, "spectral norm of the %s Gram matrix, sigma = %.6g%s\n\n",
                a->kernel ? a->kernel : "gaussian", r->sigma,
                a->standardize ? ", columns standardised"
                : a->minmax    ? ", columns scaled to 0 … 1"
                               : "");
    fprintf(f, "%s%-13s %14s  %-26s %5s  %9s  %9s  %9s%s\n", bold, "method", "norm",
            "95% interval, or ± spread", "iter.", "residual", "seconds", "bound", plain);
    for (size_t k = 0; k < r->count; k++) {
        const kspec_norm_entry *e = &r->entries[k];
        char range[60] = "", residual[20] = "", bound[20] = "";
        if (isfinite(e->ci_low))
            snprintf(range, sizeof range, "%.5g … %.5g", e->ci_low, e->ci_high);
        else if (isfinite(e->spread))
            snprintf(range, sizeof range, "± %.4g", e->spread);
        if (isfinite(e->residual)) snprintf(residual, sizeof residual, "%.1e", e->residual);
        if (e->has_bound) snprintf(bound, sizeof bound, isfinite(e->bound) ? "± %.4g" : "vacuous", e->bound);
        int wide = strstr(range, "…") || strstr(range, "±"); /* one letter of several bytes */
        fprintf(f, "%-13s %14.8g  %-*s %5.4g  %9s  %9.3g  %*s\n", kspec_norm_method_name(e->method), e->value,
                26 + wide * (strstr(range, "…") ? 2 : 1), range, e->iterations, residual, e->seconds,
                9 + (strstr(bound, "±") != NULL), bound);
    }
}

static int run(void *args) {
    norm_args *a = args;
    kspec_norm_opts o = {.size = sizeof o,
                         .scaling = a->standardize ? KSPEC_SCALING_STANDARDIZE
                                    : a->minmax    ? KSPEC_SCALING_MINMAX
                                                   : KSPEC_SCALING_NONE,
                         .gram = a->gram,
                         .features = a->features,
                         .sample = a->sample,
                         .sample_first = a->sample_first,
                         .updates = a->updates,
                         .repeats = a->repeat,
                         .seed = a->common.seed,
                         .threads = a->common.threads};
    kspec_dataset d;
    int status = parse_methods(a->method, &o.methods);
    if (!status) status = check(a, &o);
    if (!status) status = cli_read(&a->common, &d);
    if (status) return status;
    for (int k = 0; a->kernel && kspec_kernel_name((kspec_kernel)k); k++)
        if (strcmp(a->kernel, kspec_kernel_name((kspec_kernel)k)) == 0) o.kernel = (kspec_kernel)k;
    o.progress = cli_progress(&a->common);
    kspec_norm_result r = {0};
    kspec_error err;
    if (d.trials > 1) {
        status = cli_error(EXIT_INPUT, "norm: takes one matrix, not %zu trials of one", d.trials);
    } else {
        kspec_matrix x = kspec_dataset_trial(&d, 0);
        kspec_status st = kspec_gram_norm(&x, &o, &r, &err);
        if (st) status = cli_fail(st, &err);
    }
    if (!status) {
        json_t *warnings = json_array();
        char text[400];
        if (r.constant_columns)
            cli_warn(&a->common, warnings,
                     "%zu of %zu columns are constant: set to 0, they add nothing to any distance",
                     r.constant_columns, r.p);
        for (size_t k = 0; k < r.count; k++)
            if (doubt(&r.entries[k], r.n, text, sizeof text)) cli_warn(&a->common, warnings, "%s", text);
        json_t *object = NULL;
        if (!a->common.json) print_table(a, &d, &r);
        if (cli_wants_object(&a->common))
            object = to_json(a, &r, warnings);
        else
            json_decref(warnings);
        status = cli_finish(&a->common, object);
    }
    kspec_norm_free(&r);
    kspec_dataset_free(&d);
    return status;
}

const cli_command cmd_norm = {
    .name = "norm",
    .summary = "spectral norm of the Gram matrix of a kernel",
    .synopsis = "norm INPUT --method LIST --sigma S|median [--kernel K] [--standardize|--minmax] [--features "
                "q] [--sample r] "
                "[--updates t] [OPTIONS]\n"
                "norm INPUT --method LIST --gamma G [OPTIONS]\n"
                "norm INPUT --method LIST --gram [OPTIONS]",
    .description = "Estimates the largest eigenvalue of K_ij = k(x_i, x_j), x_i the rows of INPUT, exactly "
                   "(eigen, lanczos,\n"
                   "power), from a sample of the rows (nystrom) or from random Fourier features (rff-...).",
    .options = options,
    .args_size = sizeof(norm_args),
    .reads_input = 1,
    .run = run,
};
