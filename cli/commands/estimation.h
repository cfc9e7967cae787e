/* Declares the options for estimating moments, which several commands share. */
#pragma once

#include "core/cli.h"

typedef struct {
    int nmax, permutations, splits, no_stderr, normalize, standardize;
    unsigned estimators;
    int side, sampled, scheme, center, device;
    double effort;
    size_t population_rows, population_cols;
} cli_estimation;

/* clang-format off */

/* Lines of an options table; FIELD(x) is the offset of member x of the command's cli_estimation. */
#define CLI_NMAX_OPTION(FIELD, HELP) \
    {"n", 'n', OPT_INT, FIELD(nmax), "NMAX", HELP, .min = 1}
#define CLI_PERMUTATIONS_OPTION(FIELD, HELP) \
    {"permutations", 0, OPT_INT, FIELD(permutations), "R", HELP, .min = 1}
#define CLI_SIDE_OPTION(FIELD) \
    {"side", 0, OPT_CHOICE, FIELD(side), "SIDE", \
     "path on the matrix given, transposed, or the cheaper (auto)", cli_sides}
#define CLI_NO_STDERR_OPTION(FIELD) \
    {"no-stderr", 0, OPT_FLAG, FIELD(no_stderr), NULL, "no error bars"}

#define CLI_STANDARDIZE_OPTION(FIELD) \
    {"standardize",  0, OPT_FLAG,   FIELD(standardize), NULL, \
     "divide each column by its standard deviation"}

/* --center and --no-center set the same field. --no-center sets the field to 1, which is
 * KSPEC_CENTER_NONE. */
#define CLI_CENTER_OPTIONS(FIELD, USUAL) \
    {"center",       0, OPT_CHOICE, FIELD(center),    "WHICH", \
     "remove the mean over none, rows (of each column), cols or both (default " USUAL "; alone: rows)", \
     cli_centers, .bare = "rows"}, \
    {"no-center",    0, OPT_FLAG,   FIELD(center),    NULL, \
     "the same as --center=none: means count as dimensions"}
_Static_assert(KSPEC_CENTER_NONE == 1, "--no-center sets 1");

/* Options for the populations from which rows and columns are sampled. They set the members sampled,
 * population_rows and population_cols. */
#define CLI_SAMPLED_OPTIONS(FIELD) \
    {"sampled",      0, OPT_CHOICE, FIELD(sampled),   "WHICH", \
     "which sides are samples: both (default), rows (you have all units of the layer), or cols", \
     cli_sampled_sides}, \
    {"population-rows", 0, OPT_SIZE, FIELD(population_rows), "N", \
     "the rows are a sample without replacement of N (default: of infinitely many)", .min = 1}, \
    {"population-cols", 0, OPT_SIZE, FIELD(population_cols), "M", \
     "the same for the columns", .min = 1}

#define CLI_ESTIMATION_OPTIONS(FIELD, CENTERED) \
    CLI_NMAX_OPTION(FIELD, "highest order (default min(6, rows, columns))"), \
    CLI_PERMUTATIONS_OPTION(FIELD, "average path over R random orders (default 1; auto: up to 8)"), \
    CLI_SIDE_OPTION(FIELD), \
    CLI_SAMPLED_OPTIONS(FIELD), \
    {"trial-scheme", 0, OPT_CHOICE, FIELD(scheme),    "S", \
     "more than two trials: split (halves, the default) or assignment", cli_trial_schemes}, \
    {"splits",       0, OPT_INT,    FIELD(splits),    "R", \
     "random splits or assignments to average over (default 8)", .min = 1}, \
    {"effort",       0, OPT_DOUBLE, FIELD(effort),    "F", \
     "auto may spend F times its usual work, a few seconds (default 1)", .positive = 1}, \
    CLI_NO_STDERR_OPTION(FIELD), \
    {"normalize",    0, OPT_FLAG,   FIELD(normalize), NULL, \
     "divide the matrix by its root mean square"}, \
    CLI_STANDARDIZE_OPTION(FIELD), \
    CLI_CENTER_OPTIONS(FIELD, CENTERED)

/* clang-format on */

/* The names of the estimators: auto, naive, ... and all. The second table does not contain "all". */
extern const cli_choice cli_estimators[], cli_single_estimators[];
extern const cli_choice cli_sides[], cli_sampled_sides[], cli_trial_schemes[], cli_centers[];

/* Returns the library's options, except the options that depend on the data. */
kspec_moments_opts cli_estimation_opts(const cli_common *c, const cli_estimation *e);

/* Of all estimators, selects those that support the requested centring, finite populations, groups and
 * missing entries. */
void cli_estimation_all(kspec_moments_opts *o);

/* Returns views of all trials of a data set, and sets the number of trials of each row in o. Also records
 * for the JSON object whether the data are centred and normalised. The caller frees the result; NULL: no
 * memory. */
kspec_matrix *cli_estimation_trials(const cli_common *c, const kspec_dataset *d, kspec_moments_opts *o);

/* The first function adds the key "center" to a result. The second returns the centring in words, such as
 * "rows centred". */
void cli_center_key(kspec_center center, json_t *to);

/* Reports whether the data hold any signal: the keys `signal` and `signal_z`, and a line of the table. */
void cli_signal_keys(kspec_evidence signal, double z, json_t *to);
void cli_signal_print(FILE *f, kspec_evidence signal, double z);
const char *cli_center_words(kspec_center center);
/* Returns the centring that the JSON object of a kspec result states; without a statement, no centring.
 * DEFAULT for NULL or another object. */
kspec_center cli_center_of(const json_t *result);

/* The first function adds the keys "sampled", "population_rows" and "population_cols", with null for an
 * infinite population. The second prints these values in words if they are not the default. */
void cli_sampled_keys(int sampled, size_t population_rows, size_t population_cols, json_t *to);
void cli_sampled_print(FILE *f, int sampled, size_t population_rows, size_t population_cols);

/* Adds the key "center" and the keys of cli_sampled_keys(). */
void cli_estimation_keys(const cli_estimation *e, kspec_center center, json_t *to);

/* Reads numbers separated by commas, or the "moments" of a JSON file of kspec theory. Free list->at. */
int cli_known_moments(const cli_common *c, const char *option, const char *text, cli_list *list);
