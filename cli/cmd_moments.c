#include "cli.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    cli_common common;
    int nmax, permutations, splits, no_stderr, normalize, center, bound;
    const char *estimator, *side, *sampled, *scheme, *truth;
} moments_args;

#define ARG(field) offsetof(moments_args, field)

static const char estimator_names[] = "auto|naive|kv-row|kv-col|path|exact|all";

static const cli_option options[] = {
    {"n", 'n', OPT_INT, ARG(nmax), "NMAX", "highest order (default min(6, rows, columns))", .min = 1},
    {"estimator", 0, OPT_STRING, ARG(estimator), "LIST",
     "auto (the default), naive, kv-row, kv-col, path, exact, separated by commas, or all", estimator_names},
    {"permutations", 0, OPT_INT, ARG(permutations), "R",
     "average path over R random orders (default 1; auto: up to 8)", .min = 1},
    {"side", 0, OPT_CHOICE, ARG(side), "SIDE", "path on the matrix given, transposed, or the cheaper (auto)",
     "auto|given|transposed"},
    {"sampled", 0, OPT_CHOICE, ARG(sampled), "WHICH",
     "which sides are samples, the other being complete: both, rows, cols", "both|rows|cols"},
    {"trial-scheme", 0, OPT_CHOICE, ARG(scheme), "S",
     "more than two trials: split (halves, the default) or assignment", "split|assignment"},
    {"splits", 0, OPT_INT, ARG(splits), "R", "random splits or assignments to average over (default 8)",
     .min = 1},
    {"no-stderr", 0, OPT_FLAG, ARG(no_stderr), NULL, "no error bars"},
    {"bound", 0, OPT_FLAG, ARG(bound), NULL, "the variance bound and its Chebyshev interval, too"},
    {"normalize", 0, OPT_FLAG, ARG(normalize), NULL, "divide the matrix by its root mean square"},
    {"center", 0, OPT_FLAG, ARG(center), NULL, "subtract the mean of each column"},
    {"truth", 0, OPT_STRING, ARG(truth), "M1,M2,...|FILE",
     "known moments to print beside: a list, or JSON of kspec theory"},
    {0},
};

static int parse_estimators(const char *list, unsigned *set) {
    const unsigned all = KSPEC_NAIVE | KSPEC_KV_ROW | KSPEC_KV_COL | KSPEC_PATH | KSPEC_EXACT;
    *set = 0;
    for (const char *text = list ? list : "auto"; text;
         text = strchr(text, ',') ? strchr(text, ',') + 1 : NULL) {
        size_t n = strcspn(text, ",");
        unsigned found = n == 3 && strncmp(text, "all", 3) == 0 ? all : 0;
        for (unsigned e = 1; kspec_estimator_name(e); e <<= 1)
            if (strlen(kspec_estimator_name(e)) == n && strncmp(text, kspec_estimator_name(e), n) == 0)
                found = e;
        if (!found)
            return cli_error(EXIT_USAGE, "--estimator: '%.*s' is none of %s", (int)n, text, estimator_names);
        *set |= found;
    }
    return EXIT_DONE;
}

/* The place of a word in "a|b|c", 0 where it is not given: the enums of the library stand in the same order
 */
static int place(const char *word, const char *choices) {
    int k = 0;
    for (const char *p = choices; word && p; p = strchr(p, '|') ? strchr(p, '|') + 1 : NULL, k++)
        if (strncmp(p, word, strlen(word)) == 0 && strchr("|", p[strlen(word)])) return k;
    return 0;
}

/* --truth: numbers, or the "moments" of a JSON file */
static int parse_truth(const char *text, cli_list *truth) {
    *truth = (cli_list){0};
    if (!text) return EXIT_DONE;
    json_error_t where;
    json_t *file = json_load_file(text, 0, &where), *list = json_object_get(file, "moments");
    size_t n = json_array_size(list);
    if (file && !n) {
        json_decref(file);
        return cli_error(EXIT_INPUT, "--truth: %s holds no \"moments\"", text);
    }
    for (const char *p = text; !file && p; p = strchr(p, ',') ? strchr(p, ',') + 1 : NULL) n++;
    truth->at = malloc(n * sizeof *truth->at);
    if (!truth->at) {
        json_decref(file);
        return cli_error(EXIT_FAILED, "out of memory");
    }
    const char *p = text;
    for (; truth->count < n; truth->count++) {
        char *end = "";
        truth->at[truth->count] =
            file ? json_number_value(json_array_get(list, truth->count)) : strtod(p, &end);
        if (!file && (end == p || (*end && *end != ','))) {
            free(truth->at);
            return cli_error(EXIT_USAGE,
                             "--truth: '%s' is neither a list of numbers nor a readable JSON file", text);
        }
        p = end + 1;
    }
    json_decref(file);
    return EXIT_DONE;
}

/* ---- output ---- */

static const char *side_name(const kspec_moments_result *r) {
    return r->side == KSPEC_SIDE_TRANSPOSED ? "transposed" : "given";
}

static json_t *estimate_json(const moments_args *a, const kspec_estimate *e) {
    json_t *o =
        json_pack("{s:s, s:i, s:o, s:o, s:o, s:o, s:o}", "estimator", kspec_estimator_name(e->estimator), "n",
                  e->n, "value", cli_real(e->value), "stderr", cli_real(e->std_error), "ci_low",
                  cli_real(e->ci_low), "ci_high", cli_real(e->ci_high), "root", cli_real(e->root));
    if (a->bound) {
        json_object_set_new(o, "variance_bound", cli_real(e->variance_bound));
        json_object_set_new(o, "chebyshev_low", cli_real(e->chebyshev_low));
        json_object_set_new(o, "chebyshev_high", cli_real(e->chebyshev_high));
    }
    return o;
}

static json_t *to_json(const moments_args *a, const kspec_dataset *d, const kspec_moments_result *r,
                       const cli_list *truth, json_t *warnings) {
    json_t *list = json_array();
    for (size_t k = 0; k < r->count; k++) json_array_append_new(list, estimate_json(a, &r->estimates[k]));
    json_t *o = json_pack("{s:s, s:I, s:I, s:I, s:s, s:I, s:o, s:o, s:o, s:f}", "command", "moments", "rows",
                          (json_int_t)d->rows, "cols", (json_int_t)d->cols, "trials", (json_int_t)d->trials,
                          "side", side_name(r), "seed", (json_int_t)a->common.seed, "estimates", list,
                          "participation_ratio", cli_real(r->participation_ratio), "mean_share",
                          cli_real(r->mean_share), "seconds", r->seconds);
    if (r->permutations) json_object_set_new(o, "permutations", json_integer(r->permutations));
    if (truth->count) json_object_set_new(o, "truth", cli_reals(truth->at, truth->count));
    json_object_set_new(o, "warnings", warnings);
    return o;
}

/* A number in a column of its own, blank where there is none */
static void cell(FILE *f, const char *format, int width, double x) {
    char text[40] = "";
    if (isfinite(x)) snprintf(text, sizeof text, format, x);
    fprintf(f, "  %*s", width, text);
}

static void print_table(const moments_args *a, const kspec_dataset *d, const kspec_moments_result *r,
                        const cli_list *truth) {
    FILE *f = cli_text();
    const char *bold = cli_bold(&a->common), *plain = cli_plain(&a->common);
    cli_print_shape(f, &a->common, d);
    fprintf(f, "\n%s   n  estimator      estimate   std. error%s     95%% interval from … to    %10s%s%s\n",
            bold, truth->count ? "       truth" : "", "root", a->bound ? "    Chebyshev from … to" : "",
            plain);
    kspec_estimator last = 0;
    for (size_t k = 0; k < r->count; k++) {
        const kspec_estimate *e = &r->estimates[k];
        if (last && e->estimator != last) fputc('\n', f);
        last = e->estimator;
        fprintf(f, "%4d  %-9s", e->n, kspec_estimator_name(e->estimator));
        cell(f, "%.5g", 12, e->value);
        cell(f, "%.2g", 11, e->std_error);
        if (truth->count) cell(f, "%.5g", 10, (size_t)e->n <= truth->count ? truth->at[e->n - 1] : NAN);
        cell(f, "%.4g", 12, e->ci_low);
        cell(f, "%.4g", 12, e->ci_high);
        cell(f, "%.5g", 10, e->root);
        if (a->bound) {
            cell(f, "%.3g", 11, e->chebyshev_low);
            cell(f, "%.3g", 11, e->chebyshev_high);
        }
        fputc('\n', f);
    }
    if (r->permutations > 1 || r->side == KSPEC_SIDE_TRANSPOSED)
        fprintf(f, "\npath: %s matrix%s", side_name(r), r->permutations > 1 ? "" : "\n");
    if (r->permutations > 1)
        fprintf(f, ", averaged over %d random orders of rows and columns\n", r->permutations);
    fprintf(f, "\nparticipation ratio m(1)²/m(2): ");
    if (isfinite(r->participation_ratio))
        fprintf(f, "%.4g\n", r->participation_ratio);
    else
        fputs("undefined (m(2) is not positive, or not computed)\n", f);
}

static int run(void *args) {
    moments_args *a = args;
    unsigned estimators;
    cli_list truth;
    kspec_dataset d;
    int status = parse_estimators(a->estimator, &estimators);
    if (status) return status;
    if ((status = parse_truth(a->truth, &truth))) return status;
    if ((status = cli_read(&a->common, &d))) {
        free(truth.at);
        return status;
    }
    kspec_moments_opts opts = {
        .size = sizeof opts,
        .nmax = a->nmax,
        .estimators = estimators,
        .seed = a->common.seed,
        .threads = a->common.threads,
        .progress = cli_progress(&a->common),
        .row_trials = d.row_trials,
        .splits = a->splits,
        .scheme = (kspec_trial_scheme)place(a->scheme, "split|assignment"),
        .permutations = a->permutations,
        .side = (kspec_side)place(a->side, "auto|given|transposed"),
        .sampled = (kspec_sampled)place(a->sampled, "both|rows|cols"),
        .bound = a->bound,
        .no_stderr = a->no_stderr,
        .normalize = a->normalize,
        .center = a->center,
    };
    kspec_matrix *phi = malloc(d.trials * sizeof *phi);
    kspec_moments_result r = {0};
    kspec_error err = {KSPEC_E_NOMEM, "out of memory"};
    kspec_status st = KSPEC_E_NOMEM;
    if (phi) {
        for (size_t t = 0; t < d.trials; t++) phi[t] = kspec_dataset_trial(&d, t);
        st = kspec_moments(phi, d.trials, &opts, &r, &err);
    }
    if (st) {
        status = cli_fail(st, &err);
    } else {
        json_t *warnings = json_array();
        if (a->center)
            cli_warn(&a->common, warnings,
                     "--center: with the sample means removed the estimates are no longer exactly unbiased");
        else if (r.mean_share > 0.5 && d.rows > 2)
            cli_warn(&a->common, warnings,
                     "the column means make up %.0f%% of m(1) and dominate the spectrum; --center looks at "
                     "what varies around them",
                     100 * r.mean_share);
        json_t *o = NULL;
        if (a->common.json) {
            o = to_json(a, &d, &r, &truth, warnings);
        } else {
            print_table(a, &d, &r, &truth);
            json_decref(warnings);
        }
        status = cli_finish(&a->common, o);
    }
    kspec_moments_free(&r);
    kspec_dataset_free(&d);
    free(phi);
    free(truth.at);
    return status;
}

const cli_command cmd_moments = {
    .name = "moments",
    .summary = "spectral moments of the kernel operator behind a matrix",
    .synopsis = "moments INPUT... [-n NMAX] [--estimator LIST] [--permutations R] [--side SIDE] [--sampled "
                "WHICH] [OPTIONS]",
    .description =
        "Estimates m(n) = tr T^n of the kernel operator T behind a matrix (rows: inputs, columns: "
        "features).\n"
        "INPUT is .npy, .npz:key, .h5:/path, .mat:name, idx or text; several are trials of one matrix.",
    .options = options,
    .args_size = sizeof(moments_args),
    .reads_input = 1,
    .run = run,
};
