/*
 * What gnuplot's SVG lacks: a title and a description that a screen reader can read, and names of its parts
 * that stay apart where several pictures are on one page. What it has too much of: empty groups.
 */
#include "plot/page.h"
#include "plot/plot.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- in words ---- */

enum { FEW = 12 }; /* points that are read one by one */

static void describe_series(FILE *to, const plot_panel *p, const plot_series *s) {
    double least = INFINITY, most = -INFINITY;
    size_t count = 0;
    for (size_t i = 0; i < s->count; i++) {
        if (!isfinite(s->at[i].x) || !isfinite(s->at[i].y)) continue;
        least = fmin(least, s->at[i].y), most = fmax(most, s->at[i].y);
        count++;
    }
    if (!count) return;
    fputc(' ', to);
    page_plain(to, s->label ? s->label : p->series_count > 1 ? "Without a name" : "Values");
    if (count > FEW || p->name_count || p->xname_count) {
        fprintf(to, ": %zu points, %.4g to %.4g.", count, least, most);
        return;
    }
    const char *before = ": ";
    for (size_t i = 0; i < s->count; i++) {
        const plot_point *q = &s->at[i];
        if (!isfinite(q->x) || !isfinite(q->y)) continue;
        fprintf(to, "%s%.4g at %.4g", before, q->y, q->x);
        if (isfinite(q->low) && isfinite(q->high)) fprintf(to, " (%.3g to %.3g)", q->low, q->high);
        before = ", ";
    }
    fputc('.', to);
}

static void describe(FILE *to, const plot_figure *f) {
    for (size_t k = 0; k < f->panel_count; k++) {
        const plot_panel *p = f->panels[k];
        if (k) fputc(' ', to);
        if (p->title) page_plain(to, p->title), fputs(": ", to);
        page_plain(to, p->y.label ? p->y.label : "values");
        fputs(" against ", to);
        page_plain(to, p->x.label ? p->x.label : "index");
        fputc('.', to);
        for (size_t i = 0; i < p->series_count; i++) describe_series(to, p, p->series[i]);
        for (size_t i = 0; i < p->mark_count; i++) {
            fputs(" A line at ", to);
            fprintf(to, "%.4g", p->marks[i].at);
            if (p->marks[i].label) fputs(": ", to), page_plain(to, p->marks[i].label);
            fputc('.', to);
        }
        if (p->note) fputc(' ', to), page_plain(to, p->note), fputc('.', to);
    }
}

/* ---- the file ---- */

static int starts(const char *line, const char *end, const char *with) {
    size_t n = strlen(with);
    return (size_t)(end - line) >= n && memcmp(line, with, n) == 0;
}

/* A line, with `prefix` before each name that it gives or uses */
static void put_line(FILE *to, const char *line, const char *next, const char *prefix) {
    static const char *const names[] = {" id='", " id=\"", "href='#", "url(#"};
    while (line < next) {
        size_t k = 0;
        while (k < sizeof names / sizeof *names && !starts(line, next, names[k])) k++;
        if (k == sizeof names / sizeof *names) {
            fputc(*line++, to);
            continue;
        }
        fprintf(to, "%s%s", names[k], prefix);
        line += strlen(names[k]);
    }
}

static void put_words(FILE *to, const plot_figure *f, const char *prefix) {
    fprintf(to, "<title id=\"%stitle\">", prefix);
    page_plain(to, f->title                                ? f->title
                   : f->panel_count && f->panels[0]->title ? f->panels[0]->title
                                                           : "kspec");
    fprintf(to, "</title>\n<desc id=\"%sdesc\">", prefix);
    describe(to, f);
    fputs("</desc>\n", to);
}

int plot_finish_svg(const plot_figure *f, const char *prefix, char **svg, size_t *size) {
    static const char empty[] = "</g>\n";
    cli_text text;
    FILE *to = cli_text_open(&text);
    for (const char *line = *svg, *end = line + *size; to && line < end;) {
        const char *next = memchr(line, '\n', (size_t)(end - line));
        next = next ? next + 1 : end;
        if (starts(line, end, "<g fill=") && starts(next, end, empty)) { /* half of the file */
            line = next + sizeof empty - 1;
            continue;
        }
        if (starts(line, end, "<svg"))
            fprintf(to, "<svg role=\"img\" aria-labelledby=\"%stitle %sdesc\"\n", prefix, prefix);
        else if (starts(line, end, "<title>"))
            put_words(to, f, prefix);
        else if (!starts(line, end, "<desc>"))
            put_line(to, line, next, prefix);
        line = next;
    }
    if (!cli_text_close(&text)) return cli_error(EXIT_FAILED, "out of memory for the picture");
    free(*svg);
    *svg = text.data, *size = text.size;
    return EXIT_DONE;
}
