/* How moments are to be estimated: the options that every command has that estimates them. */
#ifndef KSPEC_ESTIMATION_H
#define KSPEC_ESTIMATION_H

#include "core/cli.h"

typedef struct {
    int nmax, permutations, splits, no_stderr, normalize, center;
    const char *estimator, *side, *sampled, *scheme;
} cli_estimation;

/* Lines of an options table; FIELD(x) is the offset of member x of the command's cli_estimation. */
#define CLI_ESTIMATION_OPTIONS(FIELD)                                                                          \
    {"n", 'n', OPT_INT, FIELD(nmax), "NMAX", "highest order (default min(6, rows, columns))", .min = 1},       \
        {"permutations",                                                                                       \
         0,                                                                                                    \
         OPT_INT,                                                                                              \
         FIELD(permutations),                                                                                  \
         "R",                                                                                                  \
         "average path over R random orders (default 1; auto: up to 8)",                                       \
         .min = 1},                                                                                            \
        {"side",                                                                                               \
         0,                                                                                                    \
         OPT_CHOICE,                                                                                           \
         FIELD(side),                                                                                          \
         "SIDE",                                                                                               \
         "path on the matrix given, transposed, or the cheaper (auto)",                                        \
         "auto|given|transposed"},                                                                             \
        {"sampled",       0,       OPT_CHOICE,                                                                 \
         FIELD(sampled),  "WHICH", "which sides are samples, the other being complete: both, rows, cols",      \
         "both|rows|cols"},                                                                                    \
        {"trial-scheme",    0,   OPT_CHOICE,                                                                   \
         FIELD(scheme),     "S", "more than two trials: split (halves, the default) or assignment",            \
         "split|assignment"},                                                                                  \
        {"splits", 0, OPT_INT, FIELD(splits), "R", "random splits or assignments to average over (default 8)", \
         .min = 1},                                                                                            \
        {"no-stderr", 0, OPT_FLAG, FIELD(no_stderr), NULL, "no error bars"},                                   \
        {"normalize", 0, OPT_FLAG, FIELD(normalize), NULL, "divide the matrix by its root mean square"}, {     \
        "center", 0, OPT_FLAG, FIELD(center), NULL, "subtract the mean of each column"                         \
    }

extern const char cli_estimator_names[]; /* "auto|naive|...|all" */

/* Fills o from the options, but for the data's; an exit status after a message. */
int cli_estimation_opts(const cli_common *c, const cli_estimation *e, kspec_moments_opts *o);

/* Warns of what centring does, or would show. */
void cli_estimation_warn(const cli_common *c, const cli_estimation *e, const kspec_dataset *d,
                         const kspec_moments_result *r, json_t *warnings);

/* Views of all trials of a data set, and the number each row has, into o; free() what it returns; NULL: no memory. */
kspec_matrix *cli_estimation_trials(const kspec_dataset *d, kspec_moments_opts *o);

/* Numbers separated by commas, or the "moments" of a JSON file, such as kspec theory writes; free list->at. */
int cli_known_moments(const char *option, const char *text, cli_list *list);

#endif
