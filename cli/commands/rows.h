/* Rows that an accumulator has had, in place of a data set. */
#pragma once

#include "core/cli.h"

/* Matrix k = 0 or 1 of the accumulator, as INPUT k; noted for the JSON object. Nothing to free. */
void cli_rows_shape(const cli_common *c, kspec_accumulator *rows, int k, kspec_dataset *shape,
                    cli_recording *one);
