/* Reads matrices through an accumulator, block by block, instead of into a data set. */
#pragma once

#include "core/cli.h"

/* Describes matrix k (0 or 1) of the accumulator as INPUT k, and records this description for the JSON
 * object. The caller does not free the description. */
void cli_rows_shape(const cli_common *c, kspec_accumulator *rows, int k, kspec_dataset *shape,
                    cli_recording *one);

/* The options for reading in blocks: --chunk ROWS (0 if not given) and --concat. */
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

/* Reads the INPUTs through an accumulator: as separate matrices if `several` is 1, otherwise as rows of
 * one matrix. Returns an exit status. `refused` names a given option that does not work in blocks, or is
 * NULL. */
int cli_rows_read(const cli_common *c, const cli_chunks *how, int several, const char *refused,
                  const kspec_accumulator_opts *opts, kspec_accumulator **out);
