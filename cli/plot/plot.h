/*
 * Pictures. A result's JSON object becomes a figure (panels of series), a figure becomes a gnuplot script,
 * and gnuplot draws it. kinds.c knows which command's object goes to which COMMAND.c, gnuplot.c writes the
 * script, run.c runs it, html.c makes a page of the picture and its numbers.
 */
#pragma once

#include "core/cli.h"

/* ---- the figure ---- */

/*
 * A band goes from low to high, with a line along y. Levels are short level lines at whole numbers x. Bars go
 * from 0 to x at the height y; the panel's names stand beside them. A tile at x, y has the colour of its
 * `low`, 0 to 1, which is also written on it.
 */
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

/* What error bars are: 95% intervals are solid, the spread of draws dashed, a bound dotted */
typedef enum { PLOT_INTERVAL, PLOT_SPREAD, PLOT_BOUND } plot_bars;

/* The palette of Okabe and Ito, in its order; -1 is the next colour */
enum { PLOT_COLORS = 8, PLOT_BLACK = 0 };
/* The colour that the turn-th series takes */
int plot_color(size_t turn);

/* NaN: none */
typedef struct {
    double x, y, low, high;
} plot_point;

typedef struct {
    /* NULL: not in the legend */
    char *label;
    plot_style style;
    int color;
    /* Moves x in the picture, so that error bars stand side by side */
    double shift;
    plot_bars bars;
    /* `all` counts the points before thinning */
    plot_point *at;
    size_t count, all;
} plot_series;

/* A line across the panel at a place of the axis 'x' or 'y' */
typedef struct {
    char axis;
    double at;
    char *label;
} plot_mark;

/* The ends are NaN where the data set them. */
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
    /* Of whole numbers from 0: on the axis y, for bars and tiles, and on x */
    char **names, **xnames;
    size_t name_count, xname_count;
} plot_panel;

/* gnuplot's kind of line for the k-th mark of a panel: of those with names, every other one differs */
int plot_mark_dash(const plot_panel *p, size_t k);

/* 0 columns: as fits. `failed`: memory ran out on the way. */
typedef struct {
    char *title;
    plot_panel **panels;
    size_t panel_count, columns;
    int failed;
} plot_figure;

/* These take NULL for what could not be added before, and set `failed`: one check at the end is enough. */
plot_panel *plot_add_panel(plot_figure *f, const char *title, const char *xlabel, const char *ylabel);
plot_series *plot_add_series(plot_figure *f, plot_panel *p, const char *label, plot_style style, int color);
void plot_add_point(plot_figure *f, plot_series *s, double x, double y, double low, double high);
void plot_add_mark(plot_figure *f, plot_panel *p, char axis, double at, const char *label);
void plot_add_name(plot_figure *f, plot_panel *p, const char *name);
void plot_add_xname(plot_figure *f, plot_panel *p, const char *name);
/* Two series at whole numbers x stand side by side. */
void plot_set_aside(plot_series *a, plot_series *b);
void plot_text(plot_figure *f, char **to, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
void plot_free(plot_figure *f);

/* ---- results ---- */

typedef struct {
    const json_t *json;
    /* "moments" */
    const char *command;
    /* NULL: the result of this very command */
    const char *path;
    /* Tells it from the others of its command; NULL where it is the only one */
    char *name;
} plot_source;

/* Each makes the figure of the results of one command, or of several that go together; an exit status. */
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

/* Any of these, by the commands of the results, which must go together */
int plot_make(plot_figure *f, const plot_source *s, size_t count);

/* The figure as a JSON object that plot_figure_json() reads. */
json_t *plot_to_json(const plot_figure *f);

/* ---- reading results ---- */

/* "x.json: " or "the result: " and the rest of a message; status 3, or 1 */
int plot_unfit(const plot_source *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* NaN where it is not a number, or too large to draw; the same of a member */
double plot_value(const json_t *number);
double plot_number(const json_t *object, const char *key);
const char *plot_word(const json_t *object, const char *key, const char *otherwise);
/* A member that is a list with something in it; NULL after a message. */
const json_t *plot_list(const plot_source *s, const char *key);
/* The status of a source that plot_list() refused */
static inline int plot_refused(const plot_source *s) { return s->path ? EXIT_INPUT : EXIT_FAILED; }
/* "name: label", or just the label where there is one source */
void plot_label(const plot_source *s, const char *label, char *to, size_t size);
/* "x.npy: 300 rows × 600 columns, centred" where one of the sources has a shape */
void plot_shape_title(plot_figure *f, const plot_source *s, size_t count);
/* The answer before the title, which a narrow picture cuts at its end: "answer; x.npy: 300 rows" */
void plot_lead(plot_figure *f, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* "20.1 (95%: 18.8 … 21.5)", rounded to the interval; the number alone where its ends are not known */
typedef struct {
    char text[140];
} plot_words;
const char *plot_interval(plot_words *to, double x, double low, double high);
/* One scale and range of y for panels that are to be compared; NULL is left out. */
void plot_share_y(plot_panel *const *panels, size_t count);
/* 1e-06 as 10^{−6}; to[40] */
const char *plot_nice(double x, char *to);

/* ---- drawing ---- */

typedef struct {
    /* In place of the figure's own */
    const char *title;
    /* 0: by the number of panels */
    size_t width, height;
    /* In place of the panels' own; PLOT_AUTO: theirs */
    plot_scale x, y;
    /* 1: for a narrow page, which has the title: one panel below the other and legends below them */
    int narrow;
} plot_look;

/* Sets every axis' scale and range, thins what is too long to draw, notes what cannot be drawn. */
void plot_settle(plot_figure *f, const plot_look *look);

typedef enum { PLOT_SVG, PLOT_PNG, PLOT_PDF, PLOT_HTML, PLOT_GP } plot_format;

/* The gnuplot script of a settled figure. */
void plot_script(FILE *to, const plot_figure *f, const plot_look *look, plot_format format);

/* A whole page around a picture in SVG; commands are what made it. */
void plot_html(FILE *to, const plot_figure *f, const char *svg, size_t size, const json_t *commands);

/*
 * Gives an SVG of gnuplot the words and the names of the figure, in place, by a longer one; where hover is
 * the look that it was drawn with, also numbers under the pointer.
 */
int plot_finish_svg(const plot_figure *f, const char *prefix, const plot_look *hover, char **svg,
                    size_t *size);

/* Runs gnuplot on a script; its output to *picture, for free(). */
int plot_run(const char *script, size_t length, char **picture, size_t *size);

/* Is gnuplot installed, or another one named? A report does without it. */
int plot_has_gnuplot(void);

/* Is gnuplot installed, and its time limit a number? An exit status after a message */
int plot_find_gnuplot(void);

/* Can a picture of that name be drawn? Checks suffix and gnuplot before anything is computed. */
int plot_check(const char *option, const char *path);

/* The figure of these results to a file, by its suffix; figure, unless NULL, gets it as a JSON object. */
int plot_write(const char *path, const plot_source *s, size_t count, const plot_look *look, json_t **figure);

/* The same of a single result that this process has just made (cli_common.draw) */
int plot_result(const char *path, const json_t *object);

/* The panels of one result, an SVG each, for a page, for free(); the names of their parts have the prefix. */
int plot_inline(const plot_source *s, const char *prefix, char **svg, size_t *size);

/* ---- words ---- */

/*
 * Text is plain but for ^{...} and _{...}, which are raised and lowered. Calls put for each run of bytes:
 * kind is 0, '^' or '_'. Bytes that are not UTF-8 become '?', control characters blanks. At most `most`
 * letters.
 */
void plot_runs(FILE *to, const char *text, size_t most,
               void (*put)(FILE *to, const char *run, size_t n, char kind));
/* How many letters that shows */
size_t plot_letters(const char *text);
