/* Rows that an accumulator has had, in place of a data set. */
#pragma once

#include "core/cli.h"

/* Matrix k = 0 or 1 of the accumulator, as INPUT k; noted for the JSON object. Nothing to free. */
void cli_rows_shape(const cli_common *c, kspec_accumulator *rows, int k, kspec_dataset *shape,
                    cli_recording *one);

/* Rows that are read in blocks: --chunk ROWS (0: not given) and --concat */
typedef struct {
    size_t rows;
    int concat;
} cli_chunks;

#define CLI_CHUNK_OPTION(ARG)                                                                 \
    {                                                                                         \
        "chunk", 0, OPT_SIZE, ARG(chunks.rows), "ROWS",                                       \
            "read blocks of so many rows in one pass, for files larger than memory", .min = 1 \
    }
#define CLI_CONCAT_OPTION(ARG)                                           \
    {                                                                    \
        "concat", 0, OPT_FLAG, ARG(chunks.concat), NULL,                 \
            "several INPUTs are more rows of one matrix, read in blocks" \
    }

/*
 * INPUTs 0 ... count-1, each a matrix of its own (`several`), or all rows of one: through an accumulator. An
 * exit status. `refused`: an option that was given and is not for blocks, or NULL
 */
int cli_rows_read(const cli_common *c, const cli_chunks *how, int several, const char *refused,
                  const kspec_accumulator_opts *opts, kspec_accumulator **out);
