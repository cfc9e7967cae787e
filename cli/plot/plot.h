/*
 * Draws results as pictures. The JSON object of a result becomes a figure (panels of series), the figure
 * becomes a gnuplot script, and gnuplot draws it. kinds.c assigns each command's object to a file COMMAND.c.
 * gnuplot.c writes the script, and run.c runs it. html.c makes a page of the picture and its numbers.
 */
#pragma once

#include "core/cli.h"

/* ---- the figure ---- */

/* Styles of a series. A band covers the range from low to high, with a line along y. Levels are short
 * horizontal lines at whole numbers x. Bars are horizontal, from 0 to x at the height y, with the panel's
 * names next to them. A tile at x, y shows the number `low`, from 0 to 1, which also sets its colour. */
typedef enum {
    PLOT_LINESPOINTS,
    PLOT_LINE,
    PLOT_POINTS,
    PLOT_DASHED,
    PLOT_DOTTED,
    PLOT_BAND,
    PLOT_STEPS,
    PLOT_LEVELS,
    PLOT_BARS,
    PLOT_TILES
} plot_style;

typedef enum { PLOT_AUTO, PLOT_LINEAR, PLOT_LOG } plot_scale;

/* The meaning of error bars: a solid bar is a 95% interval, a dashed bar is the spread of draws, and a
 * dotted bar is a bound. */
typedef enum { PLOT_INTERVAL, PLOT_SPREAD, PLOT_BOUND } plot_bars;

/* The colours are numbered as in the palette of Okabe and Ito. -1 stands for the next colour. */
enum { PLOT_COLORS = 8, PLOT_BLACK = 0 };
/* Returns the colour of the series number `turn` in a panel. */
int plot_color(size_t turn);

/* A point of a series. A missing value is NaN. */
typedef struct {
    double x, y, low, high;
} plot_point;

typedef struct {
    /* The name in the legend, or NULL if the legend omits the series. */
    char *label;
    plot_style style;
    int color;
    /* The shift of x in the picture, so that error bars of several series stand side by side. */
    double shift;
    plot_bars bars;
    /* `all` is the number of points before thinning. */
    plot_point *at;
    size_t count, all;
} plot_series;

/* A mark is a line across the panel, at a place on the axis 'x' or 'y'. */
typedef struct {
    char axis;
    double at;
    char *label;
} plot_mark;

/* An axis. The ends of the axis are NaN if they follow from the data. */
typedef struct {
    char *label;
    plot_scale scale;
    double low, high;
} plot_axis;

typedef struct {
    char *title, *note;
    plot_axis x, y;
    plot_series **series;
    size_t series_count;
    plot_mark *marks;
    size_t mark_count;
    /* Names for the whole numbers 0, 1, ...: `names` for bars and tiles on the axis y, `xnames` for the
     * axis x. */
    char **names, **xnames;
    size_t name_count, xname_count;
} plot_panel;

/* gnuplot's dash pattern for the k-th mark of a panel; named marks alternate between two patterns */
int plot_mark_dash(const plot_panel *p, size_t k);

/* A figure consists of panels. If `columns` is 0, the layout chooses the number of columns. `failed` is 1
 * if memory ran out while the figure was built. */
typedef struct {
    char *title;
    plot_panel **panels;
    size_t panel_count, columns;
    int failed;
} plot_figure;

/* If memory runs out, these functions set `failed` and return NULL. They accept NULL for a missing part,
 * so one check at the end is enough. */
plot_panel *plot_add_panel(plot_figure *f, const char *title, const char *xlabel, const char *ylabel);
plot_series *plot_add_series(plot_figure *f, plot_panel *p, const char *label, plot_style style, int color);
void plot_add_point(plot_figure *f, plot_series *s, double x, double y, double low, double high);
void plot_add_mark(plot_figure *f, plot_panel *p, char axis, double at, const char *label);
void plot_add_name(plot_figure *f, plot_panel *p, const char *name);
void plot_add_xname(plot_figure *f, plot_panel *p, const char *name);
/* Places two series at whole numbers x side by side. */
void plot_set_aside(plot_series *a, plot_series *b);
void plot_text(plot_figure *f, char **to, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
void plot_free(plot_figure *f);

/* ---- results ---- */

typedef struct {
    const json_t *json;
    /* "moments" */
    const char *command;
    /* The path of the result's file, or NULL for the result of the running command. */
    const char *path;
    /* The name that distinguishes several results of the same command, or NULL for a single result. */
    char *name;
} plot_source;

/* Each of these functions makes the figure for the results of one command, or of several commands that
 * share a figure, and returns an exit status. */
int plot_figure_json(plot_figure *f, const plot_source *s, size_t count);
int plot_moments(plot_figure *f, const plot_source *s, size_t count);
int plot_dimension(plot_figure *f, const plot_source *s, size_t count);
int plot_compare(plot_figure *f, const plot_source *s, size_t count);
int plot_spectrum(plot_figure *f, const plot_source *s, size_t count);
int plot_theory(plot_figure *f, const plot_source *s, size_t count);
int plot_norm(plot_figure *f, const plot_source *s, size_t count);
int plot_ridge(plot_figure *f, const plot_source *s, size_t count);
int plot_ridge_advice(plot_figure *f, const plot_source *s);
int plot_wls(plot_figure *f, const plot_source *s, size_t count);
int plot_wls_curve(plot_figure *f, const plot_source *s, size_t count);
int plot_learn(plot_figure *f, const plot_source *s, size_t count);

/* Makes the figure that fits the commands of the results, which must be able to share a figure. */
int plot_make(plot_figure *f, const plot_source *s, size_t count);

/* Returns the figure as a JSON object that plot_figure_json() can read. */
json_t *plot_to_json(const plot_figure *f);

/* ---- reading results ---- */

/* Prints a message that begins with "x.json: " or "the result: ", and returns exit status 3 for a file or
 * 1 for the running command's result. */
int plot_unfit(const plot_source *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Returns a JSON number as a double, or NaN if it is not a number or too large to draw. The next function
 * does this for a member of an object. */
double plot_value(const json_t *number);
double plot_number(const json_t *object, const char *key);
const char *plot_word(const json_t *object, const char *key, const char *otherwise);
/* Returns a member that must be a list with entries. On failure prints a message and returns NULL. */
const json_t *plot_list(const plot_source *s, const char *key);
/* Returns the exit status for a source that plot_list() has rejected. */
static inline int plot_refused(const plot_source *s) { return s->path ? EXIT_INPUT : EXIT_FAILED; }
/* Writes "name: label", or only the label if the source has no name. */
void plot_label(const plot_source *s, const char *label, char *to, size_t size);
/* Sets a title such as "x.npy: 300 rows × 600 columns, centred" if one of the sources has a shape. */
void plot_shape_title(plot_figure *f, const plot_source *s, size_t count);
/*
 * Puts the answer before the title, since a narrow picture cuts the title's end: "answer; x.npy: 300 rows".
 */
void plot_lead(plot_figure *f, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Holds a text such as "20.1 (95%: 18.8 … 21.5)", rounded to the interval. If the ends are unknown, the
 * text is the number alone. */
typedef struct {
    char text[140];
} plot_words;
const char *plot_interval(plot_words *to, double x, double low, double high);
/* Gives several panels the same scale and range of y. Skips NULL. */
void plot_share_y(plot_panel *const *panels, size_t count);
/* Writes a number such as 1e-06 as 10^{−6}. `to` has room for 40 bytes. */
const char *plot_nice(double x, char *to);

/* ---- drawing ---- */

typedef struct {
    /* A title that replaces the figure's own title, or NULL. */
    const char *title;
    /* The size in pixels, or 0 if the number of panels decides. */
    size_t width, height;
    /* Scales that replace the scales of all panels. With PLOT_AUTO each panel keeps its scale. */
    plot_scale x, y;
    /* 1 for a narrow page that shows the title itself. Panels and their legends are then drawn below each
     * other. */
    int narrow;
} plot_look;

/*
 * Sets the scale and range of every axis, thins series that are too long, and notes values that cannot be
 * drawn.
 */
void plot_settle(plot_figure *f, const plot_look *look);

typedef enum { PLOT_SVG, PLOT_PNG, PLOT_PDF, PLOT_HTML, PLOT_GP } plot_format;

/* Writes the gnuplot script of a settled figure. */
void plot_script(FILE *to, const plot_figure *f, const plot_look *look, plot_format format);

/* Writes a whole page around a picture in SVG; `commands` are the command lines behind it. */
void plot_html(FILE *to, const plot_figure *f, const char *svg, size_t size, const json_t *commands);

/* Replaces gnuplot's SVG by a longer SVG that describes the figure in words and names its parts. If
 * `hover` (the look of the drawing) is not NULL, pointing at a mark also shows the numbers of the mark. */
int plot_finish_svg(const plot_figure *f, const char *prefix, const plot_look *hover, char **svg,
                    size_t *size);

/* Runs gnuplot on a script. gnuplot's output goes to *picture, which the caller frees. */
int plot_run(const char *script, size_t length, char **picture, size_t *size);

/* Returns 1 if gnuplot, or the program that replaces gnuplot, is installed. A report works without
 * gnuplot. */
int plot_has_gnuplot(void);

/* Checks that gnuplot is installed and that its time limit is a number. On failure prints a message and
 * returns an exit status. */
int plot_find_gnuplot(void);

/* Checks before any computation that a picture with this file name can be drawn: its suffix must be known
 * and gnuplot installed. */
int plot_check(const char *option, const char *path);

/* Draws the figure of these results to a file, in the format of its suffix. *If `figure` is not NULL, it
 * receives the figure as a JSON object. */
int plot_write(const char *path, const plot_source *s, size_t count, const plot_look *look, json_t **figure);

/* Draws a single result that this process has just computed (cli_common.draw) to a file. */
int plot_result(const char *path, const json_t *object);

/* Draws each panel of one result as a separate SVG for a page. The names of all parts begin with the
 * prefix. The caller frees the SVGs. */
int plot_inline(const plot_source *s, const char *prefix, char **svg, size_t *size);

/* ---- words ---- */

/* Splits a text into plain runs and runs in ^{...} and _{...}, which are raised and lowered. Calls `put`
 * for each run of bytes; `kind` is 0, '^' or '_'. Bytes that are not UTF-8 become '?', and control
 * characters become blanks. The runs contain at most `most` letters in all. */
void plot_runs(FILE *to, const char *text, size_t most,
               void (*put)(FILE *to, const char *run, size_t n, char kind));
/* Returns the number of letters that plot_runs() shows. */
size_t plot_letters(const char *text);
