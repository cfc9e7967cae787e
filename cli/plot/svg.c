/* Completes gnuplot's SVG. This file adds a title and a description for screen readers, names of parts
 * that stay unique if several pictures share a page, and numbers that appear under the pointer. It
 * removes empty groups and gnuplot's own titles. */
#include "plot/describe.h"
#include "plot/page.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int starts(const char *line, const char *end, const char *with) {
    size_t n = strlen(with);
    return (size_t)(end - line) >= n && memcmp(line, with, n) == 0;
}

static const char *find(const char *from, const char *end, const char *what) {
    return memmem(from, (size_t)(end - from), what, strlen(what));
}

/* Writes bytes of the picture, with `prefix` before each name that these bytes define or use. */
static void put_prefixed(FILE *to, const char *from, const char *end, const char *prefix) {
    static const char *const names[] = {" id='", " id=\"", "href='#", "url(#"};
    while (from < end) {
        size_t k = 0;
        while (k < sizeof names / sizeof *names && !starts(from, end, names[k])) k++;
        if (k == sizeof names / sizeof *names) {
            fputc(*from++, to);
            continue;
        }
        fprintf(to, "%s%s", names[k], prefix);
        from += strlen(names[k]);
    }
}

/* Everything that is needed to complete the picture. */
typedef struct {
    const plot_figure *f;
    const char *prefix;
    /* The places of marks, or NULL if marks do not show their numbers. */
    const plot_layout *layout;
} finish;

/* Writes a mark, "<use ... translate(X,Y) ... />", with a title that browsers show under the pointer. */
static void put_mark(FILE *to, const finish *g, const char *mark, const char *end) {
    const char *place = find(mark, end, "translate(");
    char *rest = NULL;
    double x = place ? strtod(place + strlen("translate("), &rest) : NAN;
    double y = rest && *rest == ',' ? strtod(rest + 1, NULL) : NAN;
    put_prefixed(to, mark, end, g->prefix);
    int found = plot_describe_place(to, g->f, g->layout, x, y, "><title>");
    fputs(found ? "</title></use>" : "/>", to);
}

static void put_line(FILE *to, const finish *g, const char *line, const char *next) {
    /* the title that gnuplot gives to a group without a name */
    const char *own = find(line, next, "<title>gnuplot_plot_");
    if (own) {
        put_prefixed(to, line, own, g->prefix);
        fputc('\n', to);
        return;
    }
    for (const char *mark; g->layout && (mark = find(line, next, "<use "));) {
        const char *end = find(mark, next, "/>");
        if (!end) break;
        put_prefixed(to, line, mark, g->prefix);
        put_mark(to, g, mark, end);
        line = end + strlen("/>");
    }
    put_prefixed(to, line, next, g->prefix);
}

static void put_words(FILE *to, const finish *g) {
    const plot_figure *f = g->f;
    const char *prefix = g->prefix;
    fprintf(to, "<title id=\"%stitle\">", prefix);
    page_plain(to, f->title                                ? f->title
                   : f->panel_count && f->panels[0]->title ? f->panels[0]->title
                                                           : "kspec");
    fprintf(to, "</title>\n<desc id=\"%sdesc\">", prefix);
    plot_describe(to, f);
    fputs("</desc>\n", to);
}

int plot_finish_svg(const plot_figure *f, const char *prefix, const plot_look *hover, char **svg,
                    size_t *size) {
    plot_layout l;
    const finish g = {f, prefix, hover ? &l : NULL};
    static const char empty[] = "</g>\n";
    cli_text text;
    FILE *to = cli_text_open(&text);
    if (hover) plot_lay_out(f, hover, &l);
    for (const char *line = *svg, *end = line + *size; to && line < end;) {
        const char *next = memchr(line, '\n', (size_t)(end - line));
        next = next ? next + 1 : end;
        /* skips empty groups, which make up half of the file */
        if (starts(line, end, "<g fill=") && starts(next, end, empty)) {
            line = next + sizeof empty - 1;
            continue;
        }
        if (starts(line, end, "<svg"))
            fprintf(to, "<svg role=\"img\" aria-labelledby=\"%stitle %sdesc\"\n", prefix, prefix);
        else if (starts(line, end, "<title>"))
            put_words(to, &g);
        else if (!starts(line, end, "<desc>"))
            put_line(to, &g, line, next);
        line = next;
    }
    if (!cli_text_close(&text)) return cli_error(EXIT_FAILED, "out of memory for the picture");
    free(*svg);
    *svg = text.data, *size = text.size;
    return EXIT_DONE;
}
