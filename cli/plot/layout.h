/*
 * Places the panels and legends of a figure. Positions are fractions of the picture, from its lower left
 * corner.
 */
#pragma once

#include "plot/plot.h"

enum { PLOT_FONT = 13, PLOT_NOTE_FONT = 10, PLOT_LEGEND_LETTERS = 40, PLOT_MOST_PANELS = 64 };

/* The place of a panel: its frame, the space for its texts, and the place of its legend. */
typedef struct {
    double left, right, bottom, top;
    double note_height, legend_left, legend_top, legend_font;
    size_t title_letters, ylabel_letters, note_letters, legend_letters;
    int legend;
} plot_place;

/* Width and height in units of 1/96 inch. If title_letters is 0, the page shows the title. */
typedef struct {
    double width, height;
    double title_height, title_font;
    size_t title_letters;
    plot_place places[PLOT_MOST_PANELS];
} plot_layout;

/* Returns 1 if the names below the axis x are too long for horizontal text, and so are written at an
 * angle. */
int plot_names_slant(const plot_panel *p);

/* Returns 1 if a logarithmic axis is named by powers of ten, because at least three powers lie on the
 * axis. */
int plot_names_powers(const plot_axis *a);

void plot_lay_out(const plot_figure *f, const plot_look *look, plot_layout *l);
