/* The sides of a matrix that an interval's width comes from, and its width at another size. */
#ifndef KSPEC_SIDES_H
#define KSPEC_SIDES_H

#include "core/cli.h"

/* The parts of a variance: due to rows, to columns, and to the columns of a second matrix (or 0) */
typedef struct {
    double rows, cols, other;
} cli_parts;

/* Prints each side's share of the variance, and what would halve the interval. Nothing if undefined */
void cli_sides_print(FILE *f, const cli_parts *s);

/* Reads "2000x500" as two numbers; exit status. */
int cli_plan_parse(const char *text, double size[2]);

/*
 * With --plan: the interval expected at size[0] x size[1], with the ratio of its width, on the scale of the
 * logarithm.
 */
typedef struct {
    double low, high, std_error, ratio;
} cli_plan;
cli_plan cli_plan_make(const kspec_dimension_result *r, const double size[2]);

#endif
