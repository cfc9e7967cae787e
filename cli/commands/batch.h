/* Reads INPUTs that have an axis `batch`: each index of the axis is one matrix. If there are several
 * INPUTs, each INPUT holds one trial of every matrix. */
#pragma once

#include "core/cli.h"

typedef struct {
    size_t count, trials;
    kspec_dataset **data; /* the data set of each INPUT */
    kspec_matrix *phi;    /* views of all trials; the trials of matrix k begin at phi[k * trials] */
    char *names;          /* the texts "0", "1", ...; labels[k] points to the k-th text */
    cli_recording *at;
} cli_batch;

/* Returns 1 if the INPUTs have an axis `batch`. */
int cli_has_batch(const cli_common *c);

/* Reads `count` INPUTs and returns an exit status. The JSON object lists the files under `role`, or as
 * its input if role is NULL. Call cli_batch_free() even after a failure. Of the element at[k] only the
 * name is set. */
int cli_batch_read(const cli_common *c, const char *role, const char *const *inputs, size_t count,
                   cli_batch *b);
void cli_batch_free(cli_batch *b);
