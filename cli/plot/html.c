/* A page: the picture, the commands behind it, the numbers in it. */
#include "plot/page.h"
#include "plot/plot.h"

#include <math.h>
#include <string.h>

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
    page_text(to, names[(size_t)x]);
    fputs("</td>", to);
}

static void put_table(FILE *to, const plot_panel *p) {
    fputs("<div class=\"scroll\">\n<table>\n<tr><th></th><th>", to);
    page_text(to, p->x.label ? p->x.label : "x");
    fputs("</th><th>", to);
    page_text(to, p->y.label ? p->y.label : "y");
    fputs("</th><th>from</th><th>to</th></tr>\n", to);
    for (size_t k = 0; k < p->series_count; k++) {
        const plot_series *s = p->series[k];
        for (size_t i = 0; i < s->count; i++) {
            const plot_point *q = &s->at[i];
            fputs("<tr><th>", to);
            page_text(to, s->label);
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
        page_text(to, m->label);
        fputs("</th>", to);
        put_cell(to, m->axis == 'x' ? m->at : NAN);
        put_cell(to, m->axis == 'y' ? m->at : NAN);
        fputs("<td></td><td></td></tr>\n", to);
    }
    fputs("</table>\n</div>\n", to);
}

void plot_html(FILE *to, const plot_figure *f, const char *svg, size_t size, const json_t *commands) {
    const char *title = f->title ? f->title : "kspec";
    fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
          "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>",
          to);
    page_plain(to, title);
    fputs("</title>\n", to);
    page_style(to);
    fputs("</head>\n<body>\n<figure>\n", to);
    page_svg(to, svg, size);
    fputs("</figure>\n", to);
    size_t i;
    const json_t *line;
    if (json_array_size(commands)) fputs("\n<h2>Made by</h2>\n<pre>", to);
    json_array_foreach(commands, i, line) {
        page_escape(to, json_string_value(line));
        fputc('\n', to);
    }
    if (json_array_size(commands)) fputs("</pre>\n", to);
    fputs("\n<h2>Numbers</h2>\n", to);
    for (size_t k = 0; k < f->panel_count; k++) {
        if (f->panels[k]->title) {
            fputs("<h3>", to);
            page_text(to, f->panels[k]->title);
            fputs("</h3>\n", to);
        }
        put_table(to, f->panels[k]);
    }
    fputs("</body>\n</html>\n", to);
}
