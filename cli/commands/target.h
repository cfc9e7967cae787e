/* Declares the target of a command: values for each row, in a separate file or in columns of the table. */
#pragma once

#include "core/cli.h"

/* Returns 1 if a word looks like a file name, or names an existing file or an array of the host program. */
int cli_names_file(const char *word);

/* Returns a selection of columns that excludes some columns, such as "!quality" or "0-5,!quality". The
 * caller frees the selection. */
char *cli_all_but(const char *columns, const char *without);

/* The --target of a command on one matrix. Set the struct to zero before use and free it afterwards. */
typedef struct {
    kspec_dataset *file;
    kspec_matrix values;
    /* if the target is a column of INPUT: the selection of all other columns */
    char *others;
    const char *name;
} cli_target;

/* Reads the target. Call this function before reading INPUT. If the target is columns of INPUT,
 * c->select_cols then excludes them. If word is NULL, the function reads nothing. */
int cli_target_read(cli_common *c, const char *word, cli_target *t);
/* Checks that the target has a value for each row of INPUT. */
int cli_target_check(const cli_target *t, const kspec_dataset *d, const char *input);
void cli_target_free(cli_target *t);

/* The first function prints the results as lines after a table. The second adds the key "targets". */
void cli_target_print(FILE *f, const cli_common *c, const cli_target *t, const kspec_dimension_result *r);
void cli_target_json(json_t *o, const cli_target *t, const kspec_dimension_result *r);
