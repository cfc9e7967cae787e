/* Reads a target: labels of the rows, in a separate file or in columns of the table. */
#pragma once

#include "core/cli.h"

/* Does a word look like a file name, or is it an existing file, or an array of the host? */
int cli_names_file(const char *word);

/* A selection of columns without some of them: "!quality" or "0-5,!quality"; the caller frees it */
char *cli_all_but(const char *columns, const char *without);

/* The --target of a command on one matrix. Zero it before use and free it afterwards. */
typedef struct {
    kspec_dataset *file;
    kspec_matrix values;
    /* the selection of the other columns, if the target is a column of INPUT */
    char *others;
    const char *name;
} cli_target;

/*
 * Reads the target; call it before reading INPUT. If the target is columns of INPUT, c->select_cols then
 * excludes them. Reads nothing if word is NULL.
 */
int cli_target_read(cli_common *c, const char *word, cli_target *t);
/* Checks that the target has a value for each row of INPUT. */
int cli_target_check(const cli_target *t, const kspec_dataset *d, const char *input);
void cli_target_free(cli_target *t);

/* Report the results: lines after a table, and the key "targets". */
void cli_target_print(FILE *f, const cli_common *c, const cli_target *t, const kspec_dimension_result *r);
void cli_target_json(json_t *o, const cli_target *t, const kspec_dimension_result *r);
