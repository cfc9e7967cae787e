/*
 * Reads INPUTs with an axis `batch`: one matrix for each index of the batch. Several INPUTs are trials of all
 * these matrices.
 */
#pragma once

#include "core/cli.h"

typedef struct {
    size_t count, trials;
    kspec_dataset **data; /* a data set for each INPUT */
    kspec_matrix *phi;    /* the trials of matrix k begin at phi[k * trials] */
    char *names;          /* "0", "1", ... as labels[k] */
    cli_recording *at;
} cli_batch;

/* Do the INPUTs have an axis `batch`? */
int cli_has_batch(const cli_common *c);

/*
 * Reads `count` INPUTs, noted under `role` (NULL: the input), and returns an exit status. Call
 * cli_batch_free() in any case. at[k] has only a name.
 */
int cli_batch_read(const cli_common *c, const char *role, const char *const *inputs, size_t count,
                   cli_batch *b);
void cli_batch_free(cli_batch *b);
