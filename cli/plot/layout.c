/* Places a figure's panels and legends. */
#include "plot/layout.h"

#include <math.h>
#include <string.h>

/* The mean width of a letter as a fraction of the font's size. The value is slightly large, because fonts
 * differ. */
static const double LETTER = 0.58;
/* Sizes in pixels: the height of a named bar, and the space to the left of a legend's text. */
enum { BAR_NAME_ROW = 24, SAMPLE = 78 };

/* ---- legends ---- */

static size_t legend_entries(const plot_panel *p) {
    size_t n = 0;
    for (size_t k = 0; k < p->series_count; k++) n += p->series[k]->label && p->series[k]->count;
    for (size_t k = 0; k < p->mark_count; k++) n += p->marks[k].label != NULL;
    return n > 1 ? n : 0; /* a single series has no legend, since the title names the series */
}

static double text_width(const char *text, double font) {
    size_t n = text ? plot_letters(text) : 0;
    return LETTER * font * (double)(n > PLOT_LEGEND_LETTERS ? PLOT_LEGEND_LETTERS : n);
}

static double legend_width(const plot_panel *p, double font) {
    double widest = 0;
    for (size_t k = 0; k < p->series_count; k++)
        if (p->series[k]->count) widest = fmax(widest, text_width(p->series[k]->label, font));
    for (size_t k = 0; k < p->mark_count; k++) widest = fmax(widest, text_width(p->marks[k].label, font));
    return legend_entries(p) ? widest + SAMPLE : 0;
}

static int same(const char *a, const char *b) { return a && b ? strcmp(a, b) == 0 : a == b; }

static int color_of(const plot_panel *p, size_t k) {
    return p->series[k]->color >= 0 ? p->series[k]->color : plot_color(k);
}

/* Returns 1 if the legend of panel a contains all entries of the legend of panel b. */
static int covers(const plot_panel *a, const plot_panel *b) {
    for (size_t k = 0; k < b->series_count; k++) {
        const plot_series *s = b->series[k];
        size_t i = 0;
        if (!s->label || !s->count) continue;
        while (i < a->series_count &&
               !(same(s->label, a->series[i]->label) && s->style == a->series[i]->style &&
                 a->series[i]->count && color_of(a, i) == color_of(b, k)))
            i++;
        if (i == a->series_count) return 0;
    }
    for (size_t k = 0; k < b->mark_count; k++) {
        size_t i = 0;
        while (i < a->mark_count &&
               !(same(a->marks[i].label, b->marks[k].label) && plot_mark_dash(a, i) == plot_mark_dash(b, k)))
            i++;
        if (b->marks[k].label && i == a->mark_count) return 0;
    }
    return 1;
}

/* ---- the grid of panels ---- */

static size_t columns_of(const plot_figure *f, const plot_look *look) {
    size_t n = f->panel_count, c = look->narrow ? 1 : f->columns ? f->columns : n <= 3 ? n : n == 4 ? 2 : 3;
    return c > n ? n : c ? c : 1;
}

/* Returns the panel whose legend serves the whole row r, or SIZE_MAX. */
static size_t row_legend(const plot_figure *f, size_t C, size_t r) {
    for (size_t i = r * C; i < f->panel_count && i < (r + 1) * C; i++) {
        size_t k = r * C;
        while (k < f->panel_count && k < (r + 1) * C && covers(f->panels[i], f->panels[k])) k++;
        if (k == f->panel_count || k == (r + 1) * C) return i;
    }
    return SIZE_MAX;
}

/* Chooses the panels with a legend. If one legend per row is enough, each legend stands to the right of
 * its row, and *right is set. A row with the same series as the row above then gets no legend. Otherwise
 * each panel has a legend of its own. */
static void choose_legends(const plot_figure *f, size_t C, size_t R, int *right, plot_layout *l) {
    *right = 1;
    for (size_t r = 0; r < R && f->panel_count; r++) *right &= row_legend(f, C, r) != SIZE_MAX;
    const plot_panel *above = NULL;
    for (size_t r = 0; r < R && *right && f->panel_count; r++) {
        size_t i = row_legend(f, C, r);
        if (above && covers(above, f->panels[i])) continue;
        above = f->panels[i];
        l->places[i].legend = legend_entries(above) > 0;
    }
    for (size_t i = 0; i < f->panel_count && !*right; i++)
        l->places[i].legend = legend_entries(f->panels[i]) > 0;
}

int plot_names_powers(const plot_axis *a) {
    const double first = ceil(log10(a->low) - 1e-9), last = floor(log10(a->high) + 1e-9);
    return last - first >= 2;
}

/* Returns the approximate length of the longest number next to the axis, in letters. A linear axis has
 * steps of about a sixth of its length; a logarithmic axis has powers of ten. */
static double tick_letters(const plot_axis *a) {
    double largest = fmax(fabs(a->low), fabs(a->high)), step = (a->high - a->low) / 6;
    if (a->scale == PLOT_LOG && plot_names_powers(a)) return 4; /* 10^{-5} */
    if (a->scale == PLOT_LOG) step = a->low;
    double digits = fmax(1, floor(log10(largest)) + 1), decimals = fmax(0, ceil(-log10(step)));
    /* longer numbers are printed with an exponent */
    return fmin(digits + (decimals > 0) + decimals + (a->low < 0), 8);
}

static double left_margin(const plot_panel *p) {
    double names = 0;
    for (size_t k = 0; k < p->name_count; k++) names = fmax(names, text_width(p->names[k], PLOT_FONT));
    return names > 0 ? names + 24 : 84 + LETTER * PLOT_FONT * fmax(0, tick_letters(&p->y) - 5);
}

/* Returns the left margin of panel i. All frames of a column begin at the same place, except frames with
 * names. */
static double column_margin(const plot_figure *f, size_t C, size_t i) {
    double margin = left_margin(f->panels[i]);
    for (size_t k = i % C; k < f->panel_count && !f->panels[i]->name_count; k += C)
        if (!f->panels[k]->name_count) margin = fmax(margin, left_margin(f->panels[k]));
    return margin;
}

static double longest_xname(const plot_panel *p) {
    double longest = 0;
    for (size_t k = 0; k < p->xname_count; k++) longest = fmax(longest, text_width(p->xnames[k], PLOT_FONT));
    return longest;
}

int plot_names_slant(const plot_panel *p) {
    enum { NARROWEST = 260 }; /* the narrowest frame, in pixels */
    return (longest_xname(p) + PLOT_FONT) * (double)p->xname_count > NARROWEST;
}

/* Returns the extra height in pixels of names below the axis x that are written at an angle of 30 degrees. */
static double below_axis(const plot_panel *p) {
    return plot_names_slant(p) ? fmin(0.5 * longest_xname(p), 120) : 0;
}

/* Returns the height in pixels that row r needs for its bars and legends. */
static double row_height(const plot_figure *f, size_t C, size_t r, double usual, double font) {
    double height = usual;
    for (size_t i = r * C; i < f->panel_count && i < (r + 1) * C; i++) {
        const plot_panel *p = f->panels[i];
        if (p->xname_count && p->name_count) /* tiles */
            height = fmax(height, fmin(90 + below_axis(p) + 40 * (double)p->name_count, 1600));
        else if (p->name_count)
            height = fmax(180, fmin(110 + BAR_NAME_ROW * (double)p->name_count, 1600));
        height = fmax(height, fmin(80 + 1.5 * font * (double)legend_entries(p), 900));
    }
    return height;
}

/* Returns the height in pixels of the legend below panel i. */
static double legend_height(const plot_figure *f, const plot_layout *l, size_t i, double font) {
    return l->places[i].legend ? 12 + 1.5 * font * (double)legend_entries(f->panels[i]) : 0;
}

/* Returns the largest space that a panel of row r needs below its frame for axis, names and a note. All
 * frames of a row end at the same height. */
static double row_foot(const plot_figure *f, size_t C, size_t r) {
    double foot = 0;
    for (size_t i = r * C; i < f->panel_count && i < (r + 1) * C; i++)
        foot = fmax(foot, 56 + (f->panels[i]->note ? 16 : 0) + below_axis(f->panels[i]));
    return foot;
}

void plot_lay_out(const plot_figure *f, const plot_look *look, plot_layout *l) {
    size_t n = f->panel_count, C = columns_of(f, look), R = n ? (n + C - 1) / C : 1;
    double font = PLOT_FONT - 1, shared = 0, beside[PLOT_MOST_PANELS] = {0}, rows[PLOT_MOST_PANELS],
           total = 0;
    double column[PLOT_MOST_PANELS], height = R == 1 && C < 3 ? 380 : 320;
    double band = f->title && !look->narrow ? 40 : 12; /* the height of the figure's title in pixels */
    int right;
    memset(l, 0, sizeof *l);
    choose_legends(f, C, R, &right, l);
    right &= !look->narrow;
    for (size_t i = 0; i < n && !look->narrow; i++) {
        double w = l->places[i].legend ? legend_width(f->panels[i], font) : 0;
        if (right)
            shared = fmax(shared, w);
        else
            beside[i % C] = fmax(beside[i % C], w);
    }
    for (size_t r = 0; r < R; r++) {
        rows[r] = row_height(f, C, r, height, font) + (look->narrow ? legend_height(f, l, r, font) : 0);
        total += rows[r];
    }
    l->width = shared, l->height = band + total;
    for (size_t c = 0; c < C; c++) {
        column[c] = look->narrow ? 460 : C == 1 ? 540 : C == 2 ? 420 : 360;
        for (size_t i = c; i < n; i += C)
            if (f->panels[i]->name_count) column[c] = fmax(column[c], left_margin(f->panels[i]) + 420);
        l->width += column[c] + beside[c];
    }
    double stretch = 1, taller = 1; /* the option --size stretches the frames but not the letters */
    if (look->width) {
        shared = fmin(shared, 0.45 * (double)look->width);
        stretch = ((double)look->width - shared) / (l->width - shared);
        taller = fmax(0.1, ((double)look->height - band) / total);
        l->width = (double)look->width, l->height = (double)look->height;
    }
    l->title_height = 1 - 0.55 * band / l->height;
    /* a long title gets smaller letters before its end is cut off */
    const double wanted = l->width / (LETTER * fmax(1, f->title ? (double)plot_letters(f->title) : 0));
    l->title_font = fmax(11, fmin(15, wanted));
    l->title_letters = look->narrow ? 0 : (size_t)fmax(8, l->width / (l->title_font * LETTER));

    double from_top = band;
    for (size_t r = 0; r < R; r++) {
        double from_left = 0, h = taller * rows[r], foot = row_foot(f, C, r);
        for (size_t c = 0; c < C && r * C + c < n; c++) {
            const plot_panel *p = f->panels[r * C + c];
            plot_place *at = &l->places[r * C + c];
            double cell = stretch * (column[c] + beside[c]), legend = fmin(beside[c], 0.45 * cell);
            double left = fmin(column_margin(f, C, r * C + c), 0.5 * (cell - legend)),
                   key = look->narrow ? legend_height(f, l, r * C + c, font) : 0, below = foot + key;
            double end = fmax(from_left + cell - legend - 16, from_left + left + 40);
            at->left = (from_left + left) / l->width;
            at->right = end / l->width;
            at->bottom = 1 - (from_top + h - fmin(below, 0.4 * h)) / l->height;
            at->top = 1 - (from_top + fmin(p->title ? 30 : 10, 0.2 * h)) / l->height;
            at->note_height = 1 - (from_top + h - 10 - key) / l->height;
            at->title_letters = (size_t)fmax(8, (cell - legend) / (PLOT_FONT * LETTER));
            at->ylabel_letters = (size_t)fmax(8, h / (PLOT_FONT * LETTER));
            at->note_letters = (size_t)fmax(8, (cell - legend) / (PLOT_NOTE_FONT * LETTER));
            at->legend_font = fmax(5, fmin(font, (h - 40) / (1.5 * fmax(1, (double)legend_entries(p)))));
            at->legend_left = right ? 1 - (shared - 4) / l->width : at->right + 12 / l->width;
            at->legend_top = key > 0 ? 1 - (from_top + h - key) / l->height : at->top;
            if (key > 0) at->legend_left = at->left;
            double room = (key > 0 ? cell - left : right ? shared : legend) - SAMPLE;
            at->legend_letters =
                (size_t)fmin(PLOT_LEGEND_LETTERS, fmax(6, room / (LETTER * at->legend_font) + 0.5));
            from_left += cell;
        }
        from_top += h;
    }
}
