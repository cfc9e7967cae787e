/* Turns the options for estimating moments into the options of the library. */
#include "commands/estimation.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* clang-format off */
#define SINGLE_ESTIMATORS \
    {"auto",   KSPEC_ESTIMATOR_AUTO},   {"naive",  KSPEC_ESTIMATOR_NAIVE}, \
    {"kv-row", KSPEC_ESTIMATOR_KV_ROW}, {"kv-col", KSPEC_ESTIMATOR_KV_COL}, \
    {"path",   KSPEC_ESTIMATOR_PATH},   {"exact",  KSPEC_ESTIMATOR_EXACT}
enum { EVERY_ESTIMATOR = KSPEC_ESTIMATOR_AUTO - 1 }; /* the bits below the bit of auto: all estimators */
const cli_choice cli_single_estimators[] = {SINGLE_ESTIMATORS, {0}};
const cli_choice cli_estimators[] = {SINGLE_ESTIMATORS, {"all", EVERY_ESTIMATOR}, {0}};
const cli_choice cli_sides[] = {
    {"auto", KSPEC_SIDE_AUTO}, {"given", KSPEC_SIDE_GIVEN}, {"transposed", KSPEC_SIDE_TRANSPOSED}, {0},
};
const cli_choice cli_sampled_sides[] = {
    {"both", KSPEC_SAMPLED_BOTH}, {"rows", KSPEC_SAMPLED_ROWS}, {"cols", KSPEC_SAMPLED_COLS}, {0},
};
const cli_choice cli_trial_schemes[] = {
    {"split", KSPEC_TRIALS_SPLIT}, {"assignment", KSPEC_TRIALS_ASSIGNMENT}, {0},
};
const cli_choice cli_centers[] = {
    {"none", KSPEC_CENTER_NONE}, {"rows", KSPEC_CENTER_ROWS},
    {"cols", KSPEC_CENTER_COLS}, {"both", KSPEC_CENTER_BOTH}, {0},
};
/* clang-format on */

kspec_moments_opts cli_estimation_opts(const cli_common *c, const cli_estimation *e) {
    return (kspec_moments_opts){
        .size = sizeof(kspec_moments_opts),
        .nmax = e->nmax,
        .estimators = e->estimators,
        .seed = c->seed,
        .threads = c->threads,
        .splits = e->splits,
        .scheme = (kspec_trials)e->scheme,
        .permutations = e->permutations,
        .side = (kspec_side)e->side,
        .sampled = (kspec_sampled)e->sampled,
        .no_stderr = e->no_stderr,
        .normalize = e->normalize,
        .standardize = e->standardize,
        .effort = e->effort,
        .center = (kspec_center)e->center,
        .population_rows = e->population_rows,
        .population_cols = e->population_cols,
        .device = (kspec_device)e->device,
    };
}

void cli_estimation_all(kspec_moments_opts *o) {
    const int centred = o->center > KSPEC_CENTER_NONE;
    const unsigned dependent = centred ? KSPEC_ESTIMATOR_EXACT : KSPEC_ESTIMATOR_PATH | KSPEC_ESTIMATOR_EXACT;
    if (o->estimators != EVERY_ESTIMATOR) return;
    if (o->row_groups || o->col_groups || o->block || o->pairwise)
        o->estimators = dependent;
    else if (centred || o->population_rows || o->population_cols)
        o->estimators = KSPEC_ESTIMATOR_NAIVE | KSPEC_ESTIMATOR_EXACT;
}

kspec_matrix *cli_estimation_trials(const cli_common *c, const kspec_dataset *d, kspec_moments_opts *o) {
    o->row_trials = d->row_trials;
    cli_note_treatment(c, NULL, o->center > KSPEC_CENTER_NONE, o->normalize);
    return cli_trials(d);
}

static json_t *population(size_t n) { return n ? json_integer((json_int_t)n) : json_null(); }

void cli_center_key(kspec_center center, json_t *to) {
    json_object_set_new(to, "center", json_string(cli_choice_name(cli_centers, (int)center)));
}

void cli_signal_keys(kspec_evidence signal, double z, json_t *to) {
    const char *name = kspec_name(KSPEC_NAMES_EVIDENCE, signal);
    json_object_set_new(to, "signal", name ? json_string(name) : json_null());
    json_object_set_new(to, "signal_z", cli_real(z));
}

void cli_signal_print(FILE *f, kspec_evidence signal, double z) {
    const char *name = kspec_name(KSPEC_NAMES_EVIDENCE, signal);
    if (name) fprintf(f, "signal: %s (z = %.*f against pure noise)\n", name, fabs(z) < 10, z);
}

kspec_center cli_center_of(const json_t *result) {
    const char *word = json_string_value(json_object_get(result, "center"));
    const cli_choice *c = word ? cli_find_choice(cli_centers, word, strlen(word)) : NULL;
    return c                                    ? (kspec_center)c->value
           : json_object_get(result, "command") ? KSPEC_CENTER_NONE
                                                : KSPEC_CENTER_DEFAULT;
}

const char *cli_center_words(kspec_center center) {
    return center == KSPEC_CENTER_ROWS   ? "rows centred"
           : center == KSPEC_CENTER_COLS ? "columns centred"
           : center == KSPEC_CENTER_BOTH ? "rows and columns centred"
                                         : "not centred";
}

void cli_sampled_keys(int sampled, size_t population_rows, size_t population_cols, json_t *to) {
    json_object_set_new(to, "sampled", json_string(cli_choice_name(cli_sampled_sides, sampled)));
    json_object_set_new(to, "population_rows", population(population_rows));
    json_object_set_new(to, "population_cols", population(population_cols));
}

void cli_sampled_print(FILE *f, int sampled, size_t population_rows, size_t population_cols) {
    if (sampled == KSPEC_SAMPLED_ROWS)
        fputs("all columns were measured, so the interval leaves out only rows\n", f);
    if (sampled == KSPEC_SAMPLED_COLS)
        fputs("all rows were measured, so the interval leaves out only columns\n", f);
    if (population_rows) fprintf(f, "the rows are a sample of %zu\n", population_rows);
    if (population_cols) fprintf(f, "the columns are a sample of %zu\n", population_cols);
}

void cli_estimation_keys(const cli_estimation *e, kspec_center center, json_t *to) {
    cli_center_key(center, to);
    cli_sampled_keys(e->sampled, e->population_rows, e->population_cols, to);
}

/* ---- known moments ---- */

/*
 * Reads the k-th known moment from a JSON array, or from the text at *p. Then p moves to the next number.
 */
static int known_moment(const char *option, const char *text, const json_t *array, size_t k, const char **p,
                        double *m) {
    if (array) {
        json_t *entry = json_array_get(array, k);
        *m = json_number_value(entry);
        /* JSON has null for a number beyond the range of doubles */
        if (json_is_number(entry)) return EXIT_DONE;
        return cli_error(EXIT_INPUT, "%s: m(%zu) of %s is not a number", option, k + 1, text);
    }
    char *end;
    *m = strtod(*p, &end);
    if (end == *p || (*end && *end != ','))
        return cli_error(EXIT_USAGE, "%s: '%s' is neither a list of numbers nor a readable JSON file", option,
                         text);
    *p = end + (*end == ',');
    return EXIT_DONE;
}

int cli_known_moments(const cli_common *c, const char *option, const char *text, cli_list *list) {
    *list = (cli_list){0};
    if (!text) return EXIT_DONE;
    json_t *file = cli_json_file(text), *array = json_object_get(file, "moments");
    if (cli_memory_failed()) return cli_no_memory();
    size_t n = json_array_size(array);
    int status = EXIT_DONE;
    if (file && !n) status = cli_error(EXIT_INPUT, "%s: missing \"moments\" in %s", option, text);
    for (const char *p = text; !file && p; p = strchr(p, ',') ? strchr(p, ',') + 1 : NULL) n++;
    if (!status && !(list->at = malloc(n * sizeof *list->at))) status = cli_no_memory();
    const char *p = text;
    for (; list->count < n && !status; list->count++)
        status = known_moment(option, text, array, list->count, &p, &list->at[list->count]);
    if (file && !status) cli_note_input(c, option + 2, &text, 1, NULL, NULL);
    if (status) {
        free(list->at);
        *list = (cli_list){0};
    }
    json_decref(file);
    return status;
}
