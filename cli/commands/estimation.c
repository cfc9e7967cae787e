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
enum { EVERY_ESTIMATOR = KSPEC_ESTIMATOR_AUTO - 1 }; /* the bits below auto's */
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
    if (o->row_groups || o->col_groups || o->pairwise)
        o->estimators = dependent;
    else if (centred || o->population_rows || o->population_cols)
        o->estimators = KSPEC_ESTIMATOR_NAIVE | KSPEC_ESTIMATOR_EXACT;
}

/* The lowest order whose moment is too small for a double, though its root is not; 0: none */
static int underflow(const kspec_moments_result *r) {
    int lowest = 0;
    for (size_t k = 0; k < r->count; k++) {
        const kspec_estimate *e = r->estimates[k];
        if (e->root != 0 && fabs(e->value) < DBL_MIN && (!lowest || e->n < lowest)) lowest = e->n;
    }
    return lowest;
}

/* Every moment is 0 for want of digits: nothing in the table means anything. */
static int all_lost(const kspec_moments_result *r) {
    for (size_t k = 0; k < r->count; k++)
        if (r->estimates[k]->value != 0 || r->estimates[k]->root != 0) return 0;
    return r->count && r->participation_ratio_naive > 0; /* which knows the scale of the data */
}

/* The value of an estimator at order n, or NaN */
static double value_of(const kspec_moments_result *r, kspec_estimator e, int n) {
    for (size_t k = 0; k < r->count; k++)
        if (r->estimates[k]->estimator == e && r->estimates[k]->n == n) return r->estimates[k]->value;
    return NAN;
}

/*
 * A kernel has m(n) > 0 and, by Jensen for the weights lambda/m(1), m(n) >= m(2)^(n-1)/m(1)^(n-2). Flat
 * spectra are at the second bound, so that chance puts estimates below it: two standard errors are not
 * chance.
 */
static void warn_bounds(const cli_common *c, const kspec_moments_result *r) {
    if (r->participation_ratio < 1 - 1e-9) /* one dimension is 1 but for rounding */
        cli_warn(
            c, "participation ratio %.4g is below 1, the least that a kernel has: the estimate is imprecise",
            r->participation_ratio);
    for (size_t k = 0; k < r->count; k++) {
        const kspec_estimate *e = r->estimates[k];
        double m1 = value_of(r, e->estimator, 1), m2 = value_of(r, e->estimator, 2),
               bound = e->n > 2 && m1 > 0 && m2 > 0 ? m1 * pow(m2 / m1, e->n - 1) : 0,
               chance = isfinite(e->std_error) ? 2 * e->std_error : 0;
        if (e->value > 0 && !(e->value + chance < bound * (1 - 1e-9))) continue;
        cli_warn(c,
                 "m(%d) = %.3g (%s) is %s %.3g, the least that a kernel has: orders from %d on say nothing; "
                 "more rows, columns or trials are needed",
                 e->n, e->value, kspec_estimator_name(e->estimator), e->value > 0 ? "below" : "not above",
                 e->value > 0 ? bound : 0, e->n);
        break;
    }
}

void cli_estimation_warn(const cli_common *c, const kspec_dataset *d, const kspec_moments_result *r) {
    cli_device_warn(c, &r->device);
    if (all_lost(r)) {
        cli_warn(c, "the data are so small that every moment underflows to 0; scale them or use --normalize");
        return;
    }
    if (!underflow(r)) warn_bounds(c, r);
    if (underflow(r))
        cli_warn(c,
                 "m(%d) is below the smallest double, %.1e: from there on roots are right, values and error "
                 "bars are lost; scale the data or use --normalize",
                 underflow(r), DBL_MIN);
    for (size_t k = 0; k < r->count; k++) {
        const kspec_estimate *m = r->estimates[k];
        if (!kspec_estimate_doubtful(m)) continue;
        cli_warn(
            c,
            "exact: rounding may have moved m(%d) by %.2g, more than a tenth of its %s: the entries differ "
            "too widely; use path",
            m->n, m->rounding, isfinite(m->std_error) ? "standard error" : "value");
        break;
    }
    if (r->groups || r->col_groups || r->missing)
        return; /* centring has no bias then, and shows nothing else */
    if (r->center == KSPEC_CENTER_NONE && r->mean_share > 0.5 && d->rows > 2)
        cli_warn(c,
                 "the column means make up %.0f%% of m(1) and dominate the spectrum; --center shows what "
                 "varies around them",
                 100 * r->mean_share);
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

const char *cli_center_words(kspec_center center) {
    return center == KSPEC_CENTER_ROWS   ? "rows centred"
           : center == KSPEC_CENTER_COLS ? "columns centred"
           : center == KSPEC_CENTER_BOTH ? "rows and columns centred"
                                         : "not centred";
}

void cli_estimation_keys(const cli_estimation *e, kspec_center center, json_t *to) {
    cli_center_key(center, to);
    json_object_set_new(to, "population_rows", population(e->population_rows));
    json_object_set_new(to, "population_cols", population(e->population_cols));
}

/* ---- known moments ---- */

/* The k-th number of a list: of a JSON array, or of the text at *p, which moves to the next one */
static int known_moment(const char *option, const char *text, const json_t *array, size_t k, const char **p,
                        double *m) {
    if (array) {
        json_t *entry = json_array_get(array, k);
        *m = json_number_value(entry);
        if (json_is_number(entry)) return EXIT_DONE; /* null: kspec writes it for what has no double */
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
