/* Describes a figure in words, for readers who cannot see it and for titles under the pointer. */
#pragma once

#include "plot/layout.h"

/* Writes a description of the axes, series, marks and notes of a figure. */
void plot_describe(FILE *to, const plot_figure *f);

/* Writes `before` and then a description of the points at (x, y), in pixels from the upper left corner.
 * Returns 0 if no point is at that place. */
int plot_describe_place(FILE *to, const plot_figure *f, const plot_layout *l, double x, double y,
                        const char *before);
