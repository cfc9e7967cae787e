/* A figure in words: for who cannot see it, and under the pointer of who can. */
#pragma once

#include "plot/layout.h"

/* All of it: axes, series, marks, notes */
void plot_describe(FILE *to, const plot_figure *f);

/* `before`, and what is drawn at a place, in pixels from the upper left corner; 0: nothing is */
int plot_describe_place(FILE *to, const plot_figure *f, const plot_layout *l, double x, double y,
                        const char *before);
