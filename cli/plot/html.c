/* A page: the picture, the commands behind it, the numbers in it. */
#include "plot/plot.h"

#include <math.h>
#include <string.h>

static void put_escaped(FILE *to, const char *run, size_t n) {
    for (size_t i = 0; i < n; i++) switch (run[i]) {
        case '<': fputs("&lt;", to); break;
        case '>': fputs("&gt;", to); break;
        case '&': fputs("&amp;", to); break;
        case '"': fputs("&quot;", to); break;
        default: fputc(run[i], to);
        }
}

static void put_run(FILE *to, const char *run, size_t n, char kind) {
    const char *tag = kind == '^' ? "sup" : "sub";
    if (kind) fprintf(to, "<%s>", tag);
    put_escaped(to, run, n);
    if (kind) fprintf(to, "</%s>", tag);
}

/* Where tags are not allowed */
static void put_plain_run(FILE *to, const char *run, size_t n, char kind) {
    if (kind) fputc(kind, to);
    put_escaped(to, run, n);
}

static void put_text(FILE *to, const char *text) { plot_runs(to, text ? text : "", SIZE_MAX, put_run); }

static void put_cell(FILE *to, double x) {
    if (isfinite(x))
        fprintf(to, "<td>%.10g</td>", x);
    else
        fputs("<td></td>", to);
}

/* A place of an axis by its name, where it has one */
static void put_named(FILE *to, double x, char *const *names, size_t count) {
    if (!(x >= 0 && x < (double)count)) {
        put_cell(to, x);
        return;
    }
    fputs("<td>", to);
    put_text(to, names[(size_t)x]);
    fputs("</td>", to);
}

static void put_table(FILE *to, const plot_panel *p) {
    fputs("<table>\n<tr><th></th><th>", to);
    put_text(to, p->x.label ? p->x.label : "x");
    fputs("</th><th>", to);
    put_text(to, p->y.label ? p->y.label : "y");
    fputs("</th><th>from</th><th>to</th></tr>\n", to);
    for (size_t k = 0; k < p->series_count; k++) {
        const plot_series *s = p->series[k];
        for (size_t i = 0; i < s->count; i++) {
            const plot_point *q = &s->at[i];
            fputs("<tr><th>", to);
            put_text(to, s->label);
            if (i == 0 && s->count < s->all) fprintf(to, " (%zu of %zu points, as drawn)", s->count, s->all);
            fputs("</th>", to);
            put_named(to, q->x, p->xnames, p->xname_count);
            put_named(to, q->y, p->names, p->name_count);
            put_cell(to, q->low);
            put_cell(to, q->high);
            fputs("</tr>\n", to);
        }
    }
    for (size_t k = 0; k < p->mark_count; k++) {
        const plot_mark *m = &p->marks[k];
        fputs("<tr><th>", to);
        put_text(to, m->label);
        fputs("</th>", to);
        put_cell(to, m->axis == 'x' ? m->at : NAN);
        put_cell(to, m->axis == 'y' ? m->at : NAN);
        fputs("<td></td><td></td></tr>\n", to);
    }
    fputs("</table>\n", to);
}

void plot_html(FILE *to, const plot_figure *f, const char *svg, size_t size, const json_t *commands) {
    const char *title = f->title ? f->title : "kspec";
    fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>", to);
    plot_runs(to, title, SIZE_MAX, put_plain_run);
    fputs("</title>\n<style>\n"
          "body { font-family: sans-serif; max-width: 72em; margin: 2em auto; padding: 0 1em; color: #222 }\n"
          "svg { max-width: 100%; height: auto }\n"
          "pre { background: #f4f4f4; padding: 0.6em; overflow-x: auto }\n"
          "table { border-collapse: collapse; font-size: 0.85em; font-variant-numeric: tabular-nums }\n"
          "td, th { padding: 0.1em 0.8em; border-bottom: 1px solid #ddd; text-align: right; font-weight: "
          "normal }\n"
          "th:first-child { text-align: left }\n"
          "</style>\n</head>\n<body>\n",
          to);
    const char *start = memmem(svg, size, "<svg", 4); /* without the XML declaration */
    fwrite(start ? start : svg, 1, start ? size - (size_t)(start - svg) : size, to);
    size_t i;
    const json_t *line;
    if (json_array_size(commands)) fputs("\n<h2>Made by</h2>\n<pre>", to);
    json_array_foreach(commands, i, line) {
        put_escaped(to, json_string_value(line), strlen(json_string_value(line)));
        fputc('\n', to);
    }
    if (json_array_size(commands)) fputs("</pre>\n", to);
    fputs("\n<h2>Numbers</h2>\n", to);
    for (size_t k = 0; k < f->panel_count; k++) {
        if (f->panels[k]->title) {
            fputs("<h3>", to);
            put_text(to, f->panels[k]->title);
            fputs("</h3>\n", to);
        }
        put_table(to, f->panels[k]);
    }
    fputs("</body>\n</html>\n", to);
}
