/* Writes pictures of results to a file: finds the format, checks that it can be written, and writes it. */
#include "plot/plot.h"
#include "plot/layout.h"
#include "plot/page.h"
#include "kspec/host.h"

#include <stdlib.h>
#include <string.h>

static const char *const suffixes[] = {".svg", ".png", ".pdf", ".html", ".gp", NULL};

/* Returns the number of the format that the suffix of a path names, or -1. */
static int format_of(const char *path) {
    const char *dot = strrchr(path, '.');
    for (int k = 0; dot && suffixes[k]; k++)
        if (strcmp(dot, suffixes[k]) == 0) return k;
    return -1;
}

int plot_check(const char *option, const char *path) {
    int format = format_of(path);
    if (format < 0)
        return cli_error(EXIT_USAGE, "%s: '%s' must end in .svg, .png, .pdf, .html or .gp", option, path);
    return format == PLOT_GP ? EXIT_DONE : plot_find_gnuplot();
}

/* Removes the time that cairo writes into a PDF, so that equal figures have equal bytes. */
static void undate(char *pdf, size_t size) {
    static const char key[] = "/CreationDate (D:";
    for (char *p = pdf; p && (p = memmem(p, size - (size_t)(p - pdf), key, sizeof key - 1)); p++)
        for (char *digit = p + sizeof key - 1; digit < pdf + size && *digit >= '0' && *digit <= '9'; digit++)
            *digit = digit == p + sizeof key - 1 + 5 || digit == p + sizeof key - 1 + 7 ? '1' : '0';
}

static int save(const char *path, const char *data, size_t size) {
    kspec_error err;
    if (kspec_write_text(path, data, size, &err)) return cli_error(EXIT_FAILED, "%s", err.msg);
    return EXIT_DONE;
}

/* Returns the command lines behind the picture, from all results that contain their command line. */
static json_t *command_lines(const plot_source *s, size_t count) {
    json_t *list = json_array();
    for (size_t k = 0; k < count; k++) {
        const char *line = plot_word(s[k].json, "command_line", NULL);
        if (line) json_array_append_new(list, json_string(line));
    }
    return list;
}

/* Draws a settled figure; the caller frees the picture. In an SVG, every name begins with `prefix`. On an
 * HTML page, the picture also shows the numbers of a mark under the pointer. */
static int make_picture(const plot_figure *f, const plot_look *look, plot_format format, const char *prefix,
                        char **picture, size_t *size) {
    cli_text script;
    *picture = NULL;
    FILE *to = cli_text_open(&script);
    if (to && format == PLOT_GP) fprintf(to, "# gnuplot THIS > picture.svg\n");
    if (to) plot_script(to, f, look, format);
    int status =
        cli_text_close(&script) ? EXIT_DONE : cli_error(EXIT_FAILED, "out of memory for the picture");
    if (!status && format == PLOT_GP) {
        *picture = script.data, *size = script.size;
        return EXIT_DONE;
    }
    if (!status) status = plot_run(script.data, script.size, picture, size);
    if (!status && format == PLOT_PDF) undate(*picture, *size);
    if (!status && (format == PLOT_SVG || format == PLOT_HTML))
        status = plot_finish_svg(f, prefix, format == PLOT_HTML ? look : NULL, picture, size);
    free(script.data);
    return status;
}

static int draw(const char *path, const plot_figure *f, const plot_source *s, size_t count,
                const plot_look *look) {
    plot_format format = (plot_format)format_of(path);
    char *picture;
    size_t size = 0;
    int status = make_picture(f, look, format, "", &picture, &size);
    if (!status && format == PLOT_HTML) {
        cli_text page;
        json_t *lines = command_lines(s, count);
        FILE *to = cli_text_open(&page);
        if (to) plot_html(to, f, picture, size, lines);
        status = cli_text_close(&page) && !cli_memory_failed()
                     ? save(path, page.data, page.size)
                     : cli_error(EXIT_FAILED, "out of memory for the page");
        json_decref(lines);
        free(page.data);
    } else if (!status) {
        status = save(path, picture, size);
    }
    free(picture);
    return status;
}

/* Draws each panel separately, so that a page can place the panels next to or below each other. */
int plot_inline(const plot_source *s, const char *prefix, char **svg, size_t *size) {
    plot_figure f = {0};
    const plot_look narrow = {.narrow = 1}, *look = &narrow;
    cli_text text;
    *svg = NULL;
    int status = plot_make(&f, s, 1);
    if (!status) plot_settle(&f, look);
    if (!status && f.failed) status = cli_error(EXIT_FAILED, "out of memory for the picture");
    FILE *to = cli_text_open(&text);
    for (size_t i = 0; i < f.panel_count && !status; i++) {
        plot_figure one = {.title = f.title, .panels = &f.panels[i], .panel_count = 1};
        char own[40], *picture;
        size_t length;
        snprintf(own, sizeof own, "%s%zu-", prefix, i);
        status = make_picture(&one, look, PLOT_HTML, own, &picture, &length);
        if (!status && to) page_svg(to, picture, length);
        free(picture);
    }
    if (!cli_text_close(&text) && !status) status = cli_error(EXIT_FAILED, "out of memory for the picture");
    plot_free(&f);
    if (status)
        free(text.data);
    else
        *svg = text.data, *size = text.size;
    return status;
}

int plot_write(const char *path, const plot_source *s, size_t count, const plot_look *look, json_t **figure) {
    plot_figure f = {0};
    int status = plot_make(&f, s, count);
    if (!status && f.panel_count > PLOT_MOST_PANELS)
        status = plot_unfit(s, "%zu panels exceed the %d of one picture", f.panel_count, PLOT_MOST_PANELS);
    if (!status) plot_settle(&f, look);
    if (!status && f.failed) status = cli_error(EXIT_FAILED, "out of memory for the picture");
    if (!status && path) status = draw(path, &f, s, count, look);
    if (!status && figure) *figure = plot_to_json(&f);
    plot_free(&f);
    return status;
}

int plot_result(const char *path, const json_t *object) {
    const plot_source s = {object, plot_word(object, "command", NULL), NULL, NULL};
    return plot_write(path, &s, 1, &(plot_look){0}, NULL);
}
