/* Declares how rows and columns contribute to an interval's width, and the interval's width at another
 * size of the matrix. */
#ifndef KSPEC_SIDES_H
#define KSPEC_SIDES_H

#include "core/cli.h"

/* The parts of a variance that are due to rows, to columns, and to the columns of a second matrix (0
 * without one). */
typedef struct {
    double rows, cols, other;
} cli_parts;

/* Prints each side's share of the variance, and what would halve the interval. Nothing if undefined */
void cli_sides_print(FILE *f, const cli_parts *s);

/* Reads a size such as "2000x500" as two numbers, and returns an exit status. */
int cli_plan_parse(const char *text, double size[2]);

/* The result of --plan: the expected interval at size[0] x size[1], and the ratio of its width to the
 * present width on a logarithmic scale. */
typedef struct {
    double low, high, std_error, ratio;
} cli_plan;
cli_plan cli_plan_make(const kspec_dimension_result *r, const double size[2]);

#endif
