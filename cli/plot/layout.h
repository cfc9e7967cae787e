/*
 * Places the panels and legends of a figure. Positions are fractions of the picture, from its lower left
 * corner.
 */
#pragma once

#include "plot/plot.h"

enum { PLOT_FONT = 13, PLOT_NOTE_FONT = 10, PLOT_LEGEND_LETTERS = 40, PLOT_MOST_PANELS = 64 };

/* The frame of a panel, the room for its texts, and whether a legend stands next to it */
typedef struct {
    double left, right, bottom, top;
    double note_height, legend_left, legend_top, legend_font;
    size_t title_letters, ylabel_letters, note_letters, legend_letters;
    int legend;
} plot_place;

/* Width and height in units of 1/96 inch. Without title_letters the page shows the title. */
typedef struct {
    double width, height;
    double title_height, title_font;
    size_t title_letters;
    plot_place places[PLOT_MOST_PANELS];
} plot_layout;

/* Are the names below the axis x too long to stand upright next to each other? */
int plot_names_slant(const plot_panel *p);

/* Are the names of a logarithmic axis powers of ten? At least three of them lie on it. */
int plot_names_powers(const plot_axis *a);

void plot_lay_out(const plot_figure *f, const plot_look *look, plot_layout *l);
