/* Reads labels that mark which rows and columns depend on each other. */
#pragma once

#include "core/cli.h"

/* Holds the files of --groups and --col-groups, the column of --groups-column and the number of rows of
 * --block. */
typedef struct {
    const char *rows, *cols, *column;
    size_t block;
} cli_group_files;

/* clang-format off */

/* Defines lines of an options table. FIELD(x) is the offset of member x of the command's cli_group_files. */
#define CLI_ROW_GROUPS_OPTIONS(FIELD) \
    {"groups",        0, OPT_STRING, FIELD(rows),   "FILE", \
     "labels of rows, one a line; rows of one label depend on each other"}, \
    {"block",         0, OPT_BLOCK,  FIELD(block),  "L|auto", \
     "a series: blocks of L rows that follow each other are groups; auto: as long as rows are alike"}
#define CLI_GROUPS_OPTIONS(FIELD) \
    CLI_ROW_GROUPS_OPTIONS(FIELD), \
    {"groups-column", 0, OPT_STRING, FIELD(column), "NAME", \
     "take the labels of the rows from this column of the table, which is then not a feature"}, \
    {"col-groups",    0, OPT_STRING, FIELD(cols),   "FILE", \
     "labels of columns that depend on each other, one a line"}

/* clang-format on */

typedef struct {
    /* NULL without labels */
    kspec_labels *rows, *cols;
    /* if a column of the table holds the labels: the selection of all other columns */
    char *others;
} cli_groups;

/* Reads INPUTs like cli_read(), together with the labels of rows and columns, and checks the number of
 * labels. */
int cli_read_grouped(cli_common *c, const cli_group_files *f, kspec_dataset **d, cli_groups *g);
/* Reads the labels of --groups, one for each row. */
int cli_read_row_groups(const cli_common *c, const char *path, size_t rows, kspec_labels **out);
void cli_groups_free(cli_groups *g);

/* The first function prints a line such as "12 groups of rows, 7 of columns". The second adds the keys
 * groups, col_groups and block. Without groups both functions do nothing. block is the number of rows of
 * a block, or 0. */
void cli_groups_print(FILE *f, size_t rows, size_t cols, size_t block);
void cli_groups_json(json_t *o, size_t rows, size_t cols, size_t block);
