/*
 * Writes the page of a report: first an answer, then how far to trust it, the numbers, and the commands
 * behind them.
 */
#include "commands/report.h"
#include "plot/page.h"
#include "plot/plot.h"

#include <math.h>
#include <string.h>

void report_begin_section(FILE *to, const char *id, const char *title) {
    fprintf(to, "<section aria-labelledby=\"%s\">\n<h2 id=\"%s\">%s</h2>\n", id, id, title);
}

void report_end_section(FILE *to) { fputs("</section>\n", to); }

/* ---- the answer ---- */

static void answer(FILE *to, const json_t *d) {
    double x = plot_number(d, "dimension"), low = plot_number(d, "ci_low"), high = plot_number(d, "ci_high"),
           naive = plot_number(d, "naive");
    const cli_interval in = cli_round_interval(x, low, high);
    fputs("<p class=\"answer\">", to);
    if (isfinite(x))
        fprintf(to, "The data fill about <strong>%s dimension%s</strong>", in.value.text, x == 1 ? "" : "s");
    else
        fputs("The dimension of the data <strong>cannot be told</strong> from a matrix of this size", to);
    if (isfinite(x) && isfinite(low)) fprintf(to, " (95%% interval %s to %s)", in.low.text, in.high.text);
    fputs(".", to);
    if (isfinite(naive))
        fprintf(
            to,
            " The matrix itself has %.3g: that number depends on how many rows and columns were measured.",
            naive);
    fputs("</p>\n", to);
}

/* ---- the data ---- */

static void fact(FILE *to, const char *name, const char *text) {
    if (!text) return;
    page_row_head(to, name);
    fputs("<td>", to);
    page_escape(to, text);
    fputs("</td>", to);
    page_end_row(to);
}

static void counted(FILE *to, const char *name, const json_t *o, const char *key) {
    char text[40];
    double x = plot_number(o, key);
    if (!(x > 0)) return;
    snprintf(text, sizeof text, "%.0f", x);
    fact(to, name, text);
}

/* Writes "6", or "3 to 6" if rows have different numbers of trials. */
static void trials(FILE *to, const json_t *d, const json_t *in) {
    const json_t *each = json_object_get(in, "row_trials");
    char text[80];
    if (!each) {
        counted(to, "trials (repeats)", d, "trials");
        return;
    }
    snprintf(text, sizeof text, "%.0f to %.0f", plot_value(json_array_get(each, 0)),
             plot_value(json_array_get(each, 1)));
    fact(to, "trials (repeats)", text);
}

static void data_section(FILE *to, const json_t *d) {
    const json_t *in = json_object_get(d, "input"), *paths = json_object_get(in, "paths"), *path;
    size_t i;
    char name[40];
    report_begin_section(to, "data", "The data");
    page_begin_table(to, "How kspec understood the file", NULL);
    json_array_foreach(paths, i, path) {
        snprintf(name, sizeof name, "file %zu", i + 1);
        fact(to, name, json_string_value(path));
    }
    if (!paths) fact(to, "file", plot_word(in, "path", NULL));
    fact(to, "array in it", plot_word(in, "key", NULL));
    counted(to, "rows (inputs)", d, "rows");
    counted(to, "columns (features)", d, "cols");
    trials(to, d, in);
    counted(to, "groups of rows", d, "groups");
    counted(to, "groups of columns", d, "col_groups");
    fact(to, "axes of the file", plot_word(in, "axes", NULL));
    fact(to, "rows taken", plot_word(in, "select_rows", NULL));
    fact(to, "columns taken", plot_word(in, "select_cols", NULL));
    counted(to, "missing values", in, "missing_count");
    counted(to, "rows left out", in, "omitted_rows");
    counted(to, "columns left out", in, "omitted_cols");
    fact(to, "centred",
         !json_is_true(json_object_get(d, "centered"))     ? "no"
         : strcmp(plot_word(d, "center", ""), "cols") == 0 ? "yes: the mean of each row takes no part"
                                                           : "yes: the mean of each column takes no part");
    page_end_table(to);
    report_end_section(to);
}

/* ---- how to repeat it ---- */

static void made_section(FILE *to, const report *r) {
    char *line = cli_line_take(); /* the command line of the report */
    report_begin_section(to, "made", "How to repeat it");
    fputs("<pre>", to);
    page_escape(to, line ? line : "kspec report");
    fputs("</pre>\n<p>which ran</p>\n<pre>", to);
    for (int k = 0; k < REPORT_PARTS; k++) {
        if (!r->part[k].object) continue;
        page_escape(to, plot_word(r->part[k].object, "command_line", ""));
        fputc('\n', to);
    }
    fprintf(to, "</pre>\n<p class=\"soft\">kspec %s, %s</p>\n", kspec_version(), r->time);
    report_end_section(to);
    cli_line_give(line);
}

/* ---- the page ---- */

/* Returns the name of the data, which is the name of their file. */
static const char *name_of(const json_t *d) {
    const char *path = plot_word(json_object_get(d, "input"), "path", "-"), *slash = strrchr(path, '/');
    if (slash && slash[1]) path = slash + 1;
    return strcmp(path, "-") == 0 ? "standard input" : path;
}

void report_page(FILE *to, const report *r) {
    const json_t *d = r->part[REPORT_DIMENSION].object;
    page_begin(to);
    page_escape(to, name_of(d));
    fputs(": a report by kspec", to);
    page_begin_body(to);
    fputs("<h1>How many dimensions do the data in ", to);
    page_escape(to, name_of(d));
    fputs(" have?</h1>\n", to);
    answer(to, d);
    report_worth(to, r);
    data_section(to, d);
    report_dimension(to, r);
    report_spectrum(to, r);
    report_moments(to, r);
    made_section(to, r);
    page_end(to);
}
