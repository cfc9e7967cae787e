/*
 * Reads values that the user of `kspec spectrum` already knows: moments (--moments) and true eigenvalues
 * (--truth).
 */
#include "commands/spectrum.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- moments ---- */

/* Returns a number of a list, or NaN for null, which kspec writes for an unknown value. */
static double number(const json_t *entry) { return json_is_number(entry) ? json_number_value(entry) : NAN; }

/* Reads the estimates in a result of kspec moments, which must contain each of the orders 1, 2, ... once. */
static int read_estimates(const char *path, const json_t *file, spectrum_moments *g) {
    const json_t *list = json_object_get(file, "estimates"), *R = json_object_get(file, "correlation");
    size_t n = json_array_size(list), missing = 0;
    if (!(g->m = malloc(n * sizeof *g->m)) || !(g->std_error = malloc(n * sizeof *g->std_error)) ||
        (R && !(g->correlation = malloc(n * n * sizeof *g->correlation))))
        return cli_no_memory();
    g->count = n;
    for (size_t k = 0; k < n; k++) {
        const json_t *e = json_array_get(list, k);
        if (number(json_object_get(e, "n")) != (double)(k + 1))
            return cli_error(
                EXIT_INPUT,
                "--moments: estimate %zu of %s is not of order %zu; run kspec moments with one --estimator",
                k + 1, path, k + 1);
        g->m[k] = number(json_object_get(e, "value"));
        g->std_error[k] = number(json_object_get(e, "stderr"));
        if (isnan(g->m[k]))
            return cli_error(EXIT_INPUT, "--moments: m(%zu) of %s is not a number", k + 1, path);
        missing += isnan(g->std_error[k]);
        for (size_t l = 0; l < n && R; l++)
            g->correlation[k * n + l] = number(json_array_get(json_array_get(R, k), l));
    }
    /* A result of kspec moments --no-stderr contains no errors. */
    if (missing == n) {
        free(g->std_error);
        g->std_error = NULL;
    }
    return EXIT_DONE;
}

/* Keeps the first `nmax` moments with their errors. */
static int cut(const spectrum_args *a, spectrum_moments *g) {
    size_t n = a->how.nmax ? (size_t)a->how.nmax : g->count;
    if (n > g->count)
        return cli_error(EXIT_USAGE, "-n: %zu exceeds the %zu moments that are given", n, g->count);
    for (size_t k = 0; k < n && g->correlation; k++)
        memmove(g->correlation + k * n, g->correlation + k * g->count, n * sizeof *g->correlation);
    /* If one correlation is unknown, the whole matrix of correlations is unusable. */
    for (size_t k = 0; k < n * n && g->correlation; k++)
        if (isnan(g->correlation[k])) {
            free(g->correlation);
            g->correlation = NULL;
        }
    g->count = n;
    return EXIT_DONE;
}

/* If the moments have no errors, takes the errors from --stderr. */
static int take_std_errors(const spectrum_args *a, spectrum_moments *g) {
    if (!a->std_errors.count) return EXIT_DONE;
    if (g->std_error)
        return cli_error(EXIT_USAGE, "--stderr: %s already contains standard errors", a->moments);
    if (a->std_errors.count != g->count)
        return cli_error(EXIT_USAGE, "--stderr has %zu value%s, --moments %zu", a->std_errors.count,
                         cli_s(a->std_errors.count), g->count);
    if (!(g->std_error = malloc(g->count * sizeof *g->std_error))) return cli_no_memory();
    memcpy(g->std_error, a->std_errors.at, g->count * sizeof *g->std_error);
    return EXIT_DONE;
}

int spectrum_read_moments(const spectrum_args *a, spectrum_moments *g) {
    cli_list list;
    *g = (spectrum_moments){0};
    json_t *file = cli_json_file(a->moments);
    if (cli_memory_failed()) return cli_no_memory();
    int status;
    if (json_array_size(json_object_get(file, "estimates"))) {
        status = read_estimates(a->moments, file, g);
        if (!status) cli_note_input(&a->common, "moments", &a->moments, 1, NULL, NULL);
    } else {
        status = cli_known_moments(&a->common, "--moments", a->moments, &list);
        g->m = list.at;
        g->count = list.count;
    }
    json_decref(file);
    if (!status) status = cli_ranks_bytes(&a->common, a->moments, g->m, g->count * sizeof *g->m);
    if (!status) status = take_std_errors(a, g);
    if (!status) status = cut(a, g);
    if (!status && a->draws && !g->std_error)
        status = cli_error(EXIT_USAGE, "spectrum: --draws needs error bars (--stderr)");
    if (status) spectrum_moments_free(g);
    return status;
}

void spectrum_moments_free(spectrum_moments *g) {
    free(g->m);
    free(g->std_error);
    free(g->correlation);
    *g = (spectrum_moments){0};
}

/* ---- eigenvalues ---- */

/* Reads the eigenvalues from a kspec result. Each is repeated by its multiplicity, up to a million
 * eigenvalues in all. */
static int from_json(const char *path, const json_t *file, cli_list *list) {
    enum { MOST = 1000000 };
    const json_t *values = json_object_get(file, "eigenvalues"),
                 *times = json_object_get(file, "multiplicities");
    if (!json_array_size(values))
        return cli_error(EXIT_INPUT,
                         "--truth: missing \"eigenvalues\" in %s; kspec theory rbf lists them with "
                         "--eigenvalues K",
                         path);
    for (int pass = 0; pass < 2; pass++) {
        size_t n = 0;
        for (size_t k = 0; k < json_array_size(values) && n < MOST; k++) {
            const json_t *entry = json_array_get(values, k), *N = json_array_get(times, k);
            double repeat = json_is_number(N) ? json_number_value(N) : N ? MOST : 1;
            /* JSON has null for an eigenvalue below the smallest double */
            if (!json_is_number(entry)) continue;
            for (double t = 0; t < repeat && n < MOST; t++, n++)
                if (pass) list->at[n] = json_number_value(entry);
        }
        list->count = n;
        if (!pass && !(list->at = malloc((n ? n : 1) * sizeof *list->at))) return cli_no_memory();
    }
    return EXIT_DONE;
}

/* Reads a row or a column of numbers, in any format that kspec reads. */
static int from_array(const cli_common *c, const char *path, cli_list *list) {
    kspec_dataset *d = NULL;
    const kspec_read_opts how = {.size = sizeof how};
    int status = cli_read_one(c, "truth", path, &how, &d);
    if (status) return status;
    size_t n = d->rows * d->cols;
    if (d->rows > 1 && d->cols > 1)
        status = cli_error(EXIT_INPUT,
                           "--truth: %s is %zu x %zu; one row or one column of eigenvalues is expected", path,
                           d->rows, d->cols);
    else if (!(list->at = malloc(n * sizeof *list->at)))
        status = cli_no_memory();
    else
        memcpy(list->at, d->data, (list->count = n) * sizeof *list->at);
    kspec_free(d);
    return status;
}

int spectrum_read_truth(spectrum_args *a, cli_list *list) {
    *list = (cli_list){0};
    if (!a->truth) return EXIT_DONE;
    json_t *file = cli_json_file(a->truth);
    if (cli_memory_failed()) return cli_no_memory();
    int status = file ? from_json(a->truth, file, list) : from_array(&a->common, a->truth, list);
    if (file && !status) cli_note_input(&a->common, "truth", &a->truth, 1, NULL, NULL);
    a->truth_center = (int)cli_center_of(file);
    json_decref(file);
    for (size_t k = 0; k < list->count && !status; k++)
        if (!(list->at[k] >= 0))
            status = cli_error(EXIT_INPUT, "--truth: eigenvalue %zu of %s is %g, below 0", k + 1, a->truth,
                               list->at[k]);
    if (status) {
        free(list->at);
        *list = (cli_list){0};
        return status;
    }
    cli_sort(list->at, list->count);
    for (size_t k = 0; k < list->count / 2; k++) {
        double x = list->at[k];
        list->at[k] = list->at[list->count - 1 - k];
        list->at[list->count - 1 - k] = x;
    }
    return EXIT_DONE;
}
