/* A target: labels of the rows, in a file of their own or in columns of the table. */
#pragma once

#include "core/cli.h"

/* Does a word look like the name of a file, or is it one, or an array of the host's? */
int cli_names_file(const char *word);

/* A selection of columns without some of them: "!quality" or "0-5,!quality"; for free() */
char *cli_all_but(const char *columns, const char *without);

/* --target of a command on one matrix; all zero before, and free afterwards */
typedef struct {
    kspec_dataset *file;
    kspec_matrix values;
    /* the selection of the other columns, where the target is one of INPUT's */
    char *others;
    const char *name;
} cli_target;

/*
 * Call it before INPUT is read: where the target is columns of it, c->select_cols leaves them out. Reads
 * nothing where word is NULL.
 */
int cli_target_read(cli_common *c, const char *word, cli_target *t);
/* The target must have a value for each row that was read. */
int cli_target_check(const cli_target *t, const kspec_dataset *d, const char *input);
void cli_target_free(cli_target *t);

/* Results: lines after a table, and the key "targets" */
void cli_target_print(FILE *f, const cli_common *c, const cli_target *t, const kspec_dimension_result *r);
void cli_target_json(json_t *o, const cli_target *t, const kspec_dimension_result *r);
