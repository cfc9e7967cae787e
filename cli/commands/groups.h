/* Labels of rows and columns that depend on each other. */
#pragma once

#include "core/cli.h"

/* The files of --groups and --col-groups, and the column of --groups-column */
typedef struct {
    const char *rows, *cols, *column;
} cli_group_files;

/* clang-format off */

/* Lines of an options table; FIELD(x) is the offset of member x of the command's cli_group_files. */
#define CLI_GROUPS_OPTIONS(FIELD) \
    {"groups",        0, OPT_STRING, FIELD(rows),   "FILE", \
     "labels of rows, one a line; rows of one label depend on each other"}, \
    {"groups-column", 0, OPT_STRING, FIELD(column), "NAME", \
     "the same from a column of the table, which is then not a feature"}, \
    {"col-groups",    0, OPT_STRING, FIELD(cols),   "FILE", \
     "labels of columns that depend on each other, one a line"}

/* clang-format on */

typedef struct {
    /* NULL where there are none */
    kspec_labels *rows, *cols;
    /* the selection of the other columns, where the labels are one of them */
    char *others;
} cli_groups;

/* cli_read() with the labels of rows and columns, as many as the data set has. */
int cli_read_grouped(cli_common *c, const cli_group_files *f, kspec_dataset **d, cli_groups *g);
void cli_groups_free(cli_groups *g);

/*
 * "12 groups of rows, 7 of columns" on a line, and the keys groups and col_groups; nothing where there are
 * none
 */
void cli_groups_print(FILE *f, size_t rows, size_t cols);
void cli_groups_json(json_t *o, size_t rows, size_t cols);
