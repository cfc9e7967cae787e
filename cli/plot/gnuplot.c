/* Writes the gnuplot script of a figure. Every text is a string in single quotes, in which gnuplot
 * neither runs commands nor replaces anything. A data block contains the original numbers, and the plot
 * command converts them for the axis. */
#include "plot/plot.h"
#include "plot/layout.h"

#include <math.h>
#include <string.h>

/* The colours of Okabe and Ito, which most colour-blind people can distinguish, in the order of the series */
static const char *const colors[PLOT_COLORS] = {"#000000", "#E69F00", "#56B4E9", "#009E73",
                                                "#F0E442", "#0072B2", "#D55E00", "#CC79A7"};
static const int order[PLOT_COLORS] = {5, 6, 3, 1, 7, 2, 0, 4};
int plot_color(size_t turn) { return order[turn % PLOT_COLORS]; }

/* the numbers of gnuplot's filled marks, open marks and dash patterns; pattern 3 is reserved for dotted
 * series */
static const int shapes[] = {7, 5, 9, 13, 11, 4, 6, 8};
static const int dashes[] = {1, 2, 4, 5};
/* A line of at most this many points has marks. */
enum { FEW = 60 };

/* ---- texts ---- */

/* Writes a run of text. Some characters have a special meaning in gnuplot's enhanced text; a backslash
 * before them removes this meaning. */
static void put_run(FILE *to, const char *run, size_t n, char kind) {
    if (kind) fprintf(to, "%c{", kind);
    for (size_t i = 0; i < n; i++) {
        if (run[i] == '\\')
            fputs("\\\\{}",
                  /*
                   * Braces separate the backslash from a following U+, because \U+ names a letter by its
                   * number.
                   */
                  to);
        else if (run[i] == '>' && (i == 0 || run[i - 1] == ']'))
            fputs("{}>", to); /* gnuplot writes > unchanged, but XML does not allow ]]> in a text */
        else if (strchr("{}^_@&~", run[i]))
            fprintf(to, "\\%c", run[i]);
        else if (run[i] == '\'')
            fputs("’", to); /* gnuplot cannot write ' at the start of a quoted string. */
        else
            fputc(run[i], to);
    }
    if (kind) fputc('}', to);
}

static void put_text(FILE *to, const char *text, size_t most) {
    fputc('\'', to);
    plot_runs(to, text, most, put_run);
    fputc('\'', to);
}

/* Writes the name of a tick. gnuplot reads the name as a format string, so the function doubles each '%'. */
static void put_name_run(FILE *to, const char *run, size_t n, char kind) {
    for (size_t i = 0, k; i < n; i += k) {
        for (k = run[i] == '%'; i + k < n && run[i] != '%' && run[i + k] != '%';) k++;
        put_run(to, run[i] == '%' ? "%%" : run + i, run[i] == '%' ? 2 : k, kind);
    }
}

/* ---- axes ---- */

/* Finds the numbers k 10^e on the axis, for k = 1, 2, 5 or (`all`) for k = 1 to 9. Returns their count,
 * which is at most `most`. */
static int multiples(const plot_axis *a, int all, int most, double *to) {
    int count = 0;
    for (double e = floor(log10(a->low)); e <= log10(a->high); e++)
        for (int k = 1; k < 10 && count < most; k++) {
            const double tick = k * pow(10, e);
            if (tick >= a->low && tick <= a->high && (all || k == 1 || k == 2 || k == 5)) to[count++] = tick;
        }
    return count;
}

/* The step is 1, 2 or 5 times a power of ten. A short axis contains four to nine multiples of this step. */
static int even_steps(const plot_axis *a, int most, double *to) {
    const double least = (a->high - a->low) / 9, power = pow(10, floor(log10(least)));
    const double step = power * (least <= power ? 1 : least <= 2 * power ? 2 : least <= 5 * power ? 5 : 10);
    int count = 0;
    for (double k = ceil(a->low / step); k * step <= a->high && count < most; k++) to[count++] = k * step;
    return count;
}

/* Writes the names of a logarithmic axis that has fewer than three powers of ten. A reader recognises a
 * logarithmic scale by the distances between three names. The function tries 1, 2 and 5 times powers of
 * ten (unless the axis is very short), then 1 to 9 times powers of ten, then equal steps, and uses the
 * first that gives three names. */
static void put_short_log(FILE *to, char axis, const plot_axis *a) {
    enum { MOST = 32, LEAST = 3 };
    double ticks[MOST];
    int count = a->high < 6 * a->low ? 0 : multiples(a, 0, MOST, ticks);
    if (count < LEAST) count = multiples(a, 1, MOST, ticks);
    if (count < LEAST) count = even_steps(a, MOST, ticks);
    fprintf(to, "set format %c '%%h'\nset %ctics (", axis, axis);
    for (int k = 0; k < count; k++) fprintf(to, "%s%.15g", k ? ", " : "", ticks[k]);
    fputs(")\n", to);
}

static int whole(const plot_panel *p) {
    for (size_t k = 0; k < p->series_count; k++)
        for (size_t i = 0; i < p->series[k]->count; i++)
            if (p->series[k]->at[i].x != floor(p->series[k]->at[i].x)) return 0;
    return 1;
}

static void put_names(FILE *to, char axis, char *const *names, size_t count) {
    fprintf(to, "set %ctics (", axis);
    for (size_t k = 0; k < count; k++) {
        fputs(k ? ", '" : "'", to);
        plot_runs(to, names[k], PLOT_LEGEND_LETTERS, put_name_run);
        fprintf(to, "' %zu", k);
    }
    fputs(")\n", to);
}

/* Writes ticks at powers of ten, so far apart that their names do not overlap. `room` is the length of
 * the axis in pixels. */
static void put_powers(FILE *to, char axis, const plot_axis *a, double room) {
    enum { NAME = 46 };
    const double low = log10(a->low), high = log10(a->high), step = ceil((high - low) * NAME / room);
    if (axis == 'x' && step > 1) {
        const char *comma = "";
        fputs("set xtics (", to);
        for (double e = step * ceil(low / step); e <= high; e += step) {
            fprintf(to, "%s1e%.0f", comma, e);
            comma = ", ";
        }
        fputs(")\n", to);
    }
    fprintf(to, "set format %c '10^{%%T}'\n", axis);
}

static void put_axis(FILE *to, char axis, const plot_panel *p, size_t letters, double room) {
    const plot_axis *a = axis == 'x' ? &p->x : &p->y;
    fprintf(to, "set %crange [%.17g:%.17g]\n", axis, a->low, a->high);
    fprintf(to, "set %clabel ", axis);
    put_text(to, a->label ? a->label : "", letters);
    fputc('\n', to);
    if (a->scale == PLOT_LOG) {
        fprintf(to, "set logscale %c\nset %ctics autofreq\n", axis, axis);
        double decades = log10(a->high) - log10(a->low);
        fprintf(to, decades > 5 ? "unset m%ctics\n" : "set m%ctics default\n", axis);
        if (!plot_names_powers(a))
            put_short_log(to, axis, a);
        else
            put_powers(to, axis, a, room);
    } else {
        fprintf(to, "unset logscale %c\nunset m%ctics\nset format %c '%%h'\n", axis, axis, axis);
        int few = axis == 'x' && a->high - a->low < 12 && whole(p) && !p->name_count;
        fprintf(to, few ? "set %ctics 1\n" : "set %ctics autofreq\n", axis);
    }
    if (axis == 'x')
        fputs(plot_names_slant(p) ? "set xtics rotate by -30 left\n" : "set xtics norotate center\n", to);
    if (axis == 'x' && p->xname_count) put_names(to, axis, p->xnames, p->xname_count);
    if (axis == 'y' && p->name_count) put_names(to, axis, p->names, p->name_count);
}

/* ---- series ---- */

static void put_number(FILE *to, double x) {
    if (isfinite(x))
        fprintf(to, " %.17g", x);
    else
        fputs(" NaN", to);
}

static void put_data(FILE *to, size_t panel, size_t series, const plot_series *s) {
    fprintf(to, "$p%zus%zu << END\n", panel, series);
    for (size_t i = 0; i < s->count; i++) {
        put_number(to, s->at[i].x);
        put_number(to, s->at[i].y);
        put_number(to, s->at[i].low);
        put_number(to, s->at[i].high);
        fputc('\n', to);
    }
    fputs("END\n", to);
}

/* One plot command, whose clauses are separated by commas. `clauses` is the number of clauses so far. */
typedef struct {
    FILE *to;
    size_t panel, clauses, letters;
    const plot_panel *p;
} clause_list;

static void begin(clause_list *c, size_t series) {
    fprintf(c->to, "%s$p%zus%zu using ", c->clauses++ ? ", \\\n    " : "plot ", c->panel, series);
}

static void put_title(const clause_list *c, const char *label) {
    if (!label) {
        fputs(" notitle", c->to);
        return;
    }
    fputs(" title ", c->to);
    put_text(c->to, label, c->letters);
}

/* Writes gnuplot's expression for column 1, shifted by the offset of the series. */
static void put_x(FILE *to, const plot_series *s) {
    if (s->shift != 0)
        fprintf(to, "($1+%.6g)", s->shift);
    else
        fputs("1", to);
}

static int has_bars(const plot_series *s) {
    for (size_t i = 0; i < s->count; i++)
        if (isfinite(s->at[i].low) && isfinite(s->at[i].high)) return 1;
    return 0;
}

static int has_line(const plot_series *s) {
    for (size_t i = 0; i < s->count; i++)
        if (isfinite(s->at[i].x) && isfinite(s->at[i].y)) return 1;
    return 0;
}

static void put_band(clause_list *c, size_t k, const char *color, const char *label) {
    const plot_series *s = c->p->series[k];
    begin(c, k);
    put_x(c->to, s);
    /* on a logarithmic axis, a band whose lower end is not positive reaches down to the frame, and a band
     * whose upper end is not positive is not drawn */
    if (c->p->y.scale == PLOT_LOG)
        fprintf(c->to, ":($4>0?($3>0?$3:%.17g):NaN):($4>0?$4:NaN)", c->p->y.low);
    else
        fputs(":3:4", c->to);
    fprintf(c->to, " with filledcurves fillcolor rgb '%s' fillstyle transparent solid 0.2 noborder", color);
    put_title(c, label);
}

static void put_error_bars(clause_list *c, size_t k, const char *color, int above_frame_only) {
    const plot_series *s = c->p->series[k];
    double low = c->p->y.low;
    begin(c, k);
    put_x(c->to, s);
    if (above_frame_only) /* the value lies outside the axis, but its error bar reaches the frame */
        fprintf(c->to, ":($2<=0&&$4>0?%.17g:NaN):(%.17g):4", low, low);
    else if (c->p->y.scale == PLOT_LOG)
        fprintf(c->to, ":($3<=$4?$2:NaN):($3>0?$3:%.17g):4", low);
    else /* A point without an error bar is skipped, because gnuplot would draw a stray cap. */
        fputs(":($3<=$4?$2:NaN):3:4", c->to);
    fprintf(c->to,
            " with yerrorbars linetype 1 dashtype %d linecolor rgb '%s' linewidth 1 pointtype 0 pointsize 0 "
            "notitle",
            s->bars == PLOT_SPREAD  ? 2
            : s->bars == PLOT_BOUND ? 3
                                    : 1,
            color);
}

static void put_bars(clause_list *c, size_t k, const char *color, const char *label) {
    begin(c, k);
    fprintf(
        c->to,
        "(0):2:(0):1:($2-0.36):($2+0.36) with boxxyerror fillcolor rgb '%s' fillstyle solid 0.85 noborder",
        color);
    put_title(c, label);
}

/* Draws tiles, whose colour goes from white at 0 to blue at 1, and writes the number on each tile. */
static void put_tiles(clause_list *c, size_t k) {
    begin(c, k);
    fputs("1:2:(0.48):(0.48):3 with boxxyerror fillcolor palette fillstyle solid noborder notitle", c->to);
    begin(c, k);
    /* An undefined value has no label (gnuplot would print "NaN"), and 0.00 has no minus. */
    fputs("1:2:(strcol(3) eq 'NaN'?'':abs($3)<0.005?'0.00':sprintf('%.2f',$3)) with labels notitle", c->to);
}

static void put_series(clause_list *c, size_t k, size_t turn) {
    const plot_series *s = c->p->series[k];
    const char *color = colors[s->color >= 0 ? s->color : plot_color(turn)];
    for (size_t t = 0; t < PLOT_COLORS; t++) /* Each colour has a fixed mark and a fixed dash pattern. */
        if (s->color == plot_color(t)) turn = t;
    int shape = shapes[turn % (sizeof shapes / sizeof *shapes)], dash = 1;
    int marks =
        s->style == PLOT_POINTS || (s->style == PLOT_LINESPOINTS && (s->count <= FEW || s->count < 2));
    int lines = s->style != PLOT_POINTS && s->style != PLOT_BARS;
    double size = s->count > FEW ? 0.35 : 0.75;
    if (s->style == PLOT_DASHED) dash = 2;
    if (s->style == PLOT_DOTTED) dash = 3;
    /* Series differ in dashes as well as in colours; the black series is solid. */
    if (!marks && s->color != PLOT_BLACK &&
        (s->style == PLOT_LINE || s->style == PLOT_LINESPOINTS || s->style == PLOT_BAND))
        dash = dashes[turn % (sizeof dashes / sizeof *dashes)];
    if (s->style == PLOT_BARS) {
        put_bars(c, k, color, s->label);
        return;
    }
    if (s->style == PLOT_TILES) {
        put_tiles(c, k);
        return;
    }
    if (s->style == PLOT_LEVELS) {
        begin(c, k);
        fprintf(c->to, "($1-0.36):2:(0.72):(0) with vectors nohead linecolor rgb '%s' linewidth 2", color);
        put_title(c, s->label);
        return;
    }
    if (s->style == PLOT_BAND) {
        if (has_bars(s)) put_band(c, k, color, has_line(s) ? NULL : s->label);
        if (!has_line(s)) return;
    } else if (has_bars(s)) {
        put_error_bars(c, k, color, 0);
    }
    begin(c, k);
    put_x(c->to, s);
    fprintf(c->to, ":2 with %s",
            s->style == PLOT_STEPS ? "steps"
            : !lines               ? "points"
            : marks                ? "linespoints"
                                   : "lines");
    fprintf(c->to, " dashtype %d linecolor rgb '%s' linewidth %g", dash, color, marks ? 1.4 : 1.8);
    if (marks) fprintf(c->to, " pointtype %d pointsize %g", shape, size);
    put_title(c, s->label);
    if (!marks || s->count > FEW || c->p->y.scale != PLOT_LOG) return;
    /* An open triangle at the foot of the axis stands for values that the axis cannot show. */
    int below = 0, reaching = 0;
    for (size_t i = 0; i < s->count; i++) {
        below |= s->at[i].y <= 0;
        reaching |= s->at[i].y <= 0 && s->at[i].high > c->p->y.low;
    }
    if (reaching) put_error_bars(c, k, color, 1);
    if (!below) return;
    begin(c, k);
    put_x(c->to, s);
    fprintf(
        c->to,
        ":($2<=0?%.17g:NaN) with points pointtype 10 pointsize 0.9 linecolor rgb '%s' linewidth 1.2 notitle",
        c->p->y.low, color);
}

/* ---- marks: lines across the panel, named in the legend ---- */

int plot_mark_dash(const plot_panel *p, size_t k) {
    size_t named = 0;
    for (size_t i = 0; i < k; i++) named += p->marks[i].label != NULL;
    return p->marks[k].label && named % 2 ? 4 : 3;
}

static void put_mark_lines(FILE *to, const plot_panel *p) {
    fputs("unset arrow\n", to);
    for (size_t k = 0; k < p->mark_count; k++) {
        const plot_mark *m = &p->marks[k];
        const plot_axis *a = m->axis == 'x' ? &p->x : &p->y;
        if (!(m->at >= a->low && m->at <= a->high)) continue;
        fprintf(to,
                m->axis == 'x' ? "set arrow from %.17g, graph 0 to %.17g, graph 1"
                               : "set arrow from graph 0, first %.17g to graph 1, first %.17g",
                m->at, m->at);
        /*
         * Without a linetype, SVG joins lines of one colour, and the second line gets the dashes of the
         * first.
         */
        fprintf(to, " nohead back linetype 1 dashtype %d linecolor rgb '#555555' linewidth 1.2\n",
                plot_mark_dash(p, k));
    }
}

static void put_mark_names(clause_list *c) {
    for (size_t k = 0; k < c->p->mark_count; k++) {
        const plot_mark *m = &c->p->marks[k];
        if (!m->label) continue;
        fprintf(c->to, "%sNaN with lines dashtype %d linecolor rgb '#555555' linewidth 1.2",
                c->clauses++ ? ", \\\n    " : "plot ", plot_mark_dash(c->p, k));
        put_title(c, m->label);
    }
}

/* ---- the whole script ---- */

/* Writes the commands for a panel. `unit` is the size that gnuplot's terminal calls a font of size 1. */
static void put_panel(FILE *to, const plot_figure *f, size_t i, const plot_layout *l, double unit) {
    const plot_panel *p = f->panels[i];
    const plot_place *at = &l->places[i];
    for (size_t k = 0; k < p->series_count; k++)
        if (p->series[k]->count) put_data(to, i, k, p->series[k]);
    fprintf(to, "set lmargin at screen %.6f\nset rmargin at screen %.6f\n", at->left, at->right);
    fprintf(to, "set bmargin at screen %.6f\nset tmargin at screen %.6f\n", at->bottom, at->top);
    fputs("set title ", to);
    put_text(to, p->title ? p->title : "", at->title_letters);
    fputs("\nunset label\n", to);
    if (i == 0 && f->title && l->title_letters) {
        fputs("set label ", to);
        put_text(to, f->title, l->title_letters);
        fprintf(to, " at screen 0.5, screen %.6f center font ',%g'\n", l->title_height, l->title_font * unit);
    }
    if (p->note) {
        fputs("set label ", to);
        put_text(to, p->note, at->note_letters);
        fprintf(to, " at screen %.6f, screen %.6f right font ',%g' textcolor rgb '#666666'\n", at->right,
                at->note_height, PLOT_NOTE_FONT * unit);
    }
    if (at->legend)
        fprintf(
            to,
            "set key at screen %.6f, screen %.6f left top Left reverse samplen 4 spacing 1.2 font ',%g'\n",
            at->legend_left, at->legend_top, at->legend_font * unit);
    else
        fputs("unset key\n", to);
    put_axis(to, 'x', p, at->title_letters, (at->right - at->left) * l->width);
    put_axis(to, 'y', p, at->ylabel_letters, (at->top - at->bottom) * l->height);
    put_mark_lines(to, p);
    clause_list c = {to, i, 0, at->legend_letters, p};
    for (int bands = 1; bands >= 0; bands--) /* Bands are drawn first, behind everything else. */
        for (size_t k = 0; k < p->series_count; k++)
            if (p->series[k]->count && (p->series[k]->style == PLOT_BAND) == bands) put_series(&c, k, k);
    put_mark_names(&c);
    fputs(c.clauses ? "\n" : "plot NaN notitle\n", to);
}

void plot_script(FILE *to, const plot_figure *f, const plot_look *look, plot_format format) {
    plot_layout l;
    plot_lay_out(f, look, &l);
    double w = l.width, h = l.height,
           unit = format == PLOT_PNG || format == PLOT_PDF ? 0.75 : 1; /* points, or pixels */
    fputs("set encoding utf8\nset decimalsign '.'\n", to);
    if (format == PLOT_PNG) {
        double s = look->width ? 1 : 2; /* A default size is doubled, so that it is sharp on any screen. */
        fprintf(to,
                "set terminal pngcairo size %.0f,%.0f fontscale %g linewidth %g pointscale %g dashlength 1.2",
                s * w, s * h, s, s, s);
    } else if (format == PLOT_PDF) {
        fprintf(to, "set terminal pdfcairo size %.4fin,%.4fin fontscale 0.75 linewidth 2 dashlength 1.2",
                w / 96, h / 96);
    } else {
        fprintf(to, "set terminal svg size %.0f,%.0f dashlength 2", w, h);
    }
    fprintf(to, " enhanced font 'sans-serif,%g' background '#ffffff'\n", PLOT_FONT * unit);
    if (unit == 1)
        fputs("set xtics offset 0,0.3\nset xlabel offset 0,0.7\nset ylabel offset 0.8,0\n",
              to); /* raised and lowered text needs more space */
    fputs("set border 3 linecolor rgb '#444444'\nset tics nomirror out scale 0.6 textcolor rgb '#222222'\n"
          "set grid xtics ytics nomxtics nomytics linetype 1 linecolor rgb '#dddddd' linewidth 0.6\n"
          "set bars 0.6\nset title offset 0,-0.3\n"
          "set palette defined (0 '#f7f7f7', 1 '#56b4e9')\nset cbrange [0:1]\nunset colorbox\n",
          to);
    fputs("set multiplot\n", to);
    for (size_t i = 0; i < f->panel_count; i++) put_panel(to, f, i, &l, unit);
    fputs("unset multiplot\n", to);
}
