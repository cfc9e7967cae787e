/* INPUTs with an axis `batch`: a matrix for each of its indices, several INPUTs being trials of them all. */
#pragma once

#include "core/cli.h"

typedef struct {
    size_t count, trials;
    kspec_dataset **data; /* one for each INPUT */
    kspec_matrix *phi;    /* of index k the trials from phi[k * trials] on */
    char *names;          /* "0", "1", ... as labels[k] */
    cli_recording *at;
} cli_batch;

/* Is there such an axis? */
int cli_has_batch(const cli_common *c);

/* An exit status; cli_batch_free() in any case. at[k] has a name alone. */
int cli_batch_read(const cli_common *c, cli_batch *b);
void cli_batch_free(cli_batch *b);
