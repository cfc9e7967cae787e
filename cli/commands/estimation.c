#include "commands/estimation.h"

#include <stdlib.h>
#include <string.h>

const char cli_estimator_names[] = "auto|naive|kv-row|kv-col|path|exact|all";

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
            return cli_error(EXIT_USAGE, "--estimator: '%.*s' is none of %s", (int)n, text,
                             cli_estimator_names);
        *set |= found;
    }
    return EXIT_DONE;
}

/* The place of a word in "a|b|c", 0 where it is not given: the enums of the library stand in the same order */
static int place(const char *word, const char *choices) {
    int k = 0;
    for (const char *p = choices; word && p; p = strchr(p, '|') ? strchr(p, '|') + 1 : NULL, k++)
        if (strncmp(p, word, strlen(word)) == 0 && strchr("|", p[strlen(word)])) return k;
    return 0;
}

int cli_estimation_opts(const cli_common *c, const cli_estimation *e, kspec_moments_opts *o) {
    *o = (kspec_moments_opts){
        .size = sizeof *o,
        .nmax = e->nmax,
        .seed = c->seed,
        .threads = c->threads,
        .splits = e->splits,
        .scheme = (kspec_trial_scheme)place(e->scheme, "split|assignment"),
        .permutations = e->permutations,
        .side = (kspec_side)place(e->side, "auto|given|transposed"),
        .sampled = (kspec_sampled)place(e->sampled, "both|rows|cols"),
        .no_stderr = e->no_stderr,
        .normalize = e->normalize,
        .center = e->center,
    };
    return parse_estimators(e->estimator, &o->estimators);
}

void cli_estimation_warn(const cli_common *c, const cli_estimation *e, const kspec_dataset *d,
                         const kspec_moments_result *r, json_t *warnings) {
    if (e->center)
        cli_warn(c, warnings,
                 "--center: with the sample means removed the estimates are no longer exactly unbiased");
    else if (r->mean_share > 0.5 && d->rows > 2)
        cli_warn(c, warnings,
                 "the column means make up %.0f%% of m(1) and dominate the spectrum; --center looks at "
                 "what varies around them",
                 100 * r->mean_share);
}

kspec_matrix *cli_estimation_trials(const kspec_dataset *d, kspec_moments_opts *o) {
    kspec_matrix *phi = malloc(d->trials * sizeof *phi);
    for (size_t t = 0; t < d->trials && phi; t++) phi[t] = kspec_dataset_trial(d, t);
    o->row_trials = d->row_trials;
    return phi;
}

int cli_known_moments(const char *option, const char *text, cli_list *list) {
    *list = (cli_list){0};
    if (!text) return EXIT_DONE;
    json_error_t where;
    json_t *file = json_load_file(text, 0, &where), *moments = json_object_get(file, "moments");
    size_t n = json_array_size(moments);
    if (file && !n) {
        json_decref(file);
        return cli_error(EXIT_INPUT, "%s: %s holds no \"moments\"", option, text);
    }
    for (const char *p = text; !file && p; p = strchr(p, ',') ? strchr(p, ',') + 1 : NULL) n++;
    list->at = malloc(n * sizeof *list->at);
    if (!list->at) {
        json_decref(file);
        return cli_error(EXIT_FAILED, "out of memory");
    }
    const char *p = text;
    for (; list->count < n; list->count++) {
        char *end = "";
        json_t *entry = json_array_get(moments, list->count);
        list->at[list->count] = file ? json_number_value(entry) : strtod(p, &end);
        int status = EXIT_DONE;
        if (file && !json_is_number(entry)) /* null: kspec writes it for what has no double */
            status = cli_error(EXIT_INPUT, "%s: m(%zu) of %s is not a number", option, list->count + 1, text);
        else if (!file && (end == p || (*end && *end != ',')))
            status = cli_error(EXIT_USAGE, "%s: '%s' is neither a list of numbers nor a readable JSON file",
                               option, text);
        if (status) {
            json_decref(file);
            free(list->at);
            return status;
        }
        p = end + 1;
    }
    json_decref(file);
    return EXIT_DONE;
}
