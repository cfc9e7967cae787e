/* Writes a page with the picture, the commands behind it, and the numbers in it. */
#include "plot/page.h"
#include "plot/plot.h"

#include <math.h>

enum { DIGITS = 10 };

/* Writes a position on an axis as its name, or as a number if the position has no name. */
static void put_named(FILE *to, double x, char *const *names, size_t count) {
    if (!(x >= 0 && x < (double)count)) {
        page_cell(to, x, DIGITS);
        return;
    }
    fputs("<td>", to);
    page_text(to, names[(size_t)x]);
    fputs("</td>", to);
}

static void put_series(FILE *to, const plot_panel *p, const plot_series *s) {
    char thinned[512];
    for (size_t i = 0; i < s->count; i++) {
        const plot_point *q = &s->at[i];
        snprintf(thinned, sizeof thinned, "%.400s (%zu of %zu points, as drawn)", s->label ? s->label : "",
                 s->count, s->all);
        page_row_head(to, i == 0 && s->count < s->all ? thinned : s->label);
        put_named(to, q->x, p->xnames, p->xname_count);
        put_named(to, q->y, p->names, p->name_count);
        page_cell(to, q->low, DIGITS);
        page_cell(to, q->high, DIGITS);
        page_end_row(to);
    }
}

static void put_table(FILE *to, const plot_panel *p) {
    const char *const columns[] = {
        "", p->x.label ? p->x.label : "x", p->y.label ? p->y.label : "y", "from", "to", NULL};
    page_begin_table(to, p->title ? p->title : "Values", columns);
    for (size_t k = 0; k < p->series_count; k++) put_series(to, p, p->series[k]);
    for (size_t k = 0; k < p->mark_count; k++) {
        const plot_mark *m = &p->marks[k];
        page_row_head(to, m->label);
        page_cell(to, m->axis == 'x' ? m->at : NAN, DIGITS);
        page_cell(to, m->axis == 'y' ? m->at : NAN, DIGITS);
        fputs("<td></td><td></td>", to);
        page_end_row(to);
    }
    page_end_table(to);
}

void plot_html(FILE *to, const plot_figure *f, const char *svg, size_t size, const json_t *commands) {
    size_t i;
    const json_t *line;
    page_begin(to);
    page_plain(to, f->title ? f->title : "kspec");
    page_begin_body(to);
    fputs("<figure>\n", to);
    page_svg(to, svg, size);
    fputs("</figure>\n", to);
    if (json_array_size(commands)) fputs("\n<h2>Made by</h2>\n<pre>", to);
    json_array_foreach(commands, i, line) {
        page_escape(to, json_string_value(line));
        fputc('\n', to);
    }
    if (json_array_size(commands)) fputs("</pre>\n", to);
    fputs("\n<h2>Numbers</h2>\n", to);
    for (size_t k = 0; k < f->panel_count; k++) put_table(to, f->panels[k]);
    page_end(to);
}
