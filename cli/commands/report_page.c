/* The page of a report: an answer first, then the numbers, what they are worth, and how they were made. */
#include "commands/report.h"
#include "plot/page.h"
#include "plot/plot.h"

#include <math.h>
#include <string.h>

static const json_t *of(const report *r, int part) { return r->part[part].object; }
static double at(const json_t *list, size_t i) { return plot_value(json_array_get(list, i)); }

/* ---- pieces ---- */

static void heading(FILE *to, const char *text) { fprintf(to, "<h2>%s</h2>\n", text); }

static void cell(FILE *to, double x) {
    if (isfinite(x))
        fprintf(to, "<td>%.6g</td>", x);
    else
        fputs("<td></td>", to);
}

static void begin_table(FILE *to, const char *caption, const char *const *columns) {
    fprintf(to, "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"%s\">\n", caption);
    fprintf(to, "<table>\n<caption>%s</caption>\n<thead><tr>", caption);
    for (; *columns; columns++) fprintf(to, "<th scope=\"col\">%s</th>", *columns);
    fputs("</tr></thead>\n<tbody>\n", to);
}

static void end_table(FILE *to) { fputs("</tbody>\n</table>\n</div>\n", to); }

static void picture(FILE *to, const report *r, int part) {
    const report_part *p = &r->part[part];
    if (!p->svg) return;
    fputs("<figure>\n", to);
    page_svg(to, p->svg, p->svg_size);
    fputs("</figure>\n", to);
}

/* A part that is not there says why. */
static int is_missing(FILE *to, const report *r, int part) {
    if (of(r, part)) return 0;
    fputs("<p>Not computed: ", to);
    page_text(to, r->part[part].why);
    fputs(".</p>\n", to);
    return 1;
}

/* ---- the data ---- */

static void fact(FILE *to, const char *name, const char *text) {
    fprintf(to, "<tr><th scope=\"row\">%s</th><td>", name);
    page_escape(to, text);
    fputs("</td></tr>\n", to);
}

static void counted(FILE *to, const char *name, const json_t *o, const char *key) {
    char text[40];
    double x = plot_number(o, key);
    if (!(x > 0)) return;
    snprintf(text, sizeof text, "%.0f", x);
    fact(to, name, text);
}

static void data_section(FILE *to, const report *r) {
    const json_t *d = of(r, REPORT_DIMENSION), *in = json_object_get(d, "input"), *paths, *path;
    size_t i;
    heading(to, "The data");
    begin_table(to, "What was read, and how it was understood", (const char *const[]){"", "", NULL});
    paths = json_object_get(in, "paths");
    json_array_foreach(paths, i, path) { fact(to, i ? "" : "files", json_string_value(path)); }
    if (!paths) fact(to, "file", plot_word(in, "path", ""));
    if (plot_word(in, "key", NULL)) fact(to, "array in it", plot_word(in, "key", ""));
    counted(to, "rows (inputs)", d, "rows");
    counted(to, "columns (features)", d, "cols");
    counted(to, "trials (repeats)", d, "trials");
    counted(to, "groups of rows", d, "groups");
    counted(to, "groups of columns", d, "col_groups");
    fact(to, "axes of the file", plot_word(in, "axes", ""));
    if (plot_word(in, "select_rows", NULL)) fact(to, "rows taken", plot_word(in, "select_rows", ""));
    if (plot_word(in, "select_cols", NULL)) fact(to, "columns taken", plot_word(in, "select_cols", ""));
    counted(to, "missing values", in, "missing_count");
    counted(to, "rows left out", in, "omitted_rows");
    counted(to, "columns left out", in, "omitted_cols");
    fact(to, "centred",
         json_is_true(json_object_get(d, "centered")) ? "yes: the mean of each column takes no part" : "no");
    end_table(to);
}

/* ---- the answer ---- */

static void answer(FILE *to, const report *r) {
    const json_t *d = of(r, REPORT_DIMENSION);
    double x = plot_number(d, "dimension"), low = plot_number(d, "ci_low"), high = plot_number(d, "ci_high"),
           naive = plot_number(d, "naive");
    fputs("<p class=\"answer\">", to);
    if (isfinite(x))
        fprintf(to, "The data fill about <strong>%.3g dimension%s</strong>", x, x == 1 ? "" : "s");
    else
        fputs("The dimension of the data <strong>cannot be told</strong> from a matrix of this size", to);
    if (isfinite(x) && isfinite(low)) fprintf(to, " (95%% interval %.3g to %.3g)", low, high);
    fputs(".", to);
    if (isfinite(naive))
        fprintf(
            to,
            " The matrix itself has %.3g: that number depends on how many rows and columns were measured.",
            naive);
    fputs("</p>\n", to);
}

static void dimension_section(FILE *to, const report *r) {
    const json_t *d = of(r, REPORT_DIMENSION), *curve = json_object_get(d, "curve"), *p;
    size_t i;
    heading(to, "How many dimensions");
    fputs(
        "<p>The dimension is the participation ratio (Σλ)²/Σλ² of the eigenvalues λ of the covariance behind "
        "the data: of n equal ones it is n. Estimated without the bias that a matrix of finite size "
        "has.</p>\n",
        to);
    begin_table(to, "Dimension", (const char *const[]){"", "dimension", "from", "to", NULL});
    fputs("<tr><th scope=\"row\">without bias, 95% interval</th>", to);
    cell(to, plot_number(d, "dimension"));
    cell(to, plot_number(d, "ci_low"));
    cell(to, plot_number(d, "ci_high"));
    fputs("</tr>\n<tr><th scope=\"row\">of the matrix itself</th>", to);
    cell(to, plot_number(d, "naive"));
    fputs("<td></td><td></td></tr>\n", to);
    end_table(to);
    picture(to, r, REPORT_DIMENSION);
    if (json_array_size(curve) < 2) return;
    fputs("<details><summary>From fewer rows and columns</summary>\n", to);
    begin_table(to, "Dimension of parts of the matrix, taken at random",
                (const char *const[]){"rows", "columns", "without bias", "of the part", NULL});
    json_array_foreach(curve, i, p) {
        fprintf(to, "<tr><th scope=\"row\">%.0f</th>", plot_number(p, "rows"));
        cell(to, plot_number(p, "cols"));
        cell(to, plot_number(p, "dimension"));
        cell(to, plot_number(p, "naive"));
        fputs("</tr>\n", to);
    }
    end_table(to);
    fputs("</details>\n", to);
}

/* ---- moments ---- */

static double naive_of(const json_t *estimates, double n) {
    size_t i;
    const json_t *e;
    json_array_foreach(estimates, i,
                       e) if (plot_number(e, "n") == n && strcmp(plot_word(e, "estimator", ""), "naive") ==
                                                              0) return plot_number(e, "value");
    return NAN;
}

static void moments_section(FILE *to, const report *r) {
    const json_t *list = json_object_get(of(r, REPORT_MOMENTS), "estimates"), *e;
    size_t i;
    heading(to, "Moments of the spectrum");
    if (is_missing(to, r, REPORT_MOMENTS)) return;
    fputs("<p>m(n) = Σλⁿ. Beside each estimate stands that of the matrix itself (naive), which is too "
          "large.</p>\n",
          to);
    begin_table(to, "Moments, with 95% intervals",
                (const char *const[]){"n", "m(n)", "from", "to", "estimator", "naive", NULL});
    json_array_foreach(list, i, e) {
        if (strcmp(plot_word(e, "estimator", ""), "naive") == 0) continue;
        fprintf(to, "<tr><th scope=\"row\">%.0f</th>", plot_number(e, "n"));
        cell(to, plot_number(e, "value"));
        cell(to, plot_number(e, "ci_low"));
        cell(to, plot_number(e, "ci_high"));
        fprintf(to, "<td>%s</td>", plot_word(e, "estimator", ""));
        cell(to, naive_of(list, plot_number(e, "n")));
        fputs("</tr>\n", to);
    }
    end_table(to);
    picture(to, r, REPORT_MOMENTS);
}

/* ---- eigenvalues ---- */

static void spectrum_section(FILE *to, const report *r) {
    enum { SHOWN = 12 };
    const json_t *s = of(r, REPORT_SPECTRUM), *values = json_object_get(s, "eigenvalues"),
                 *low = json_object_get(s, "ci_low"), *high = json_object_get(s, "ci_high");
    heading(to, "Eigenvalues");
    if (is_missing(to, r, REPORT_SPECTRUM)) return;
    begin_table(to, "The largest eigenvalues of the kernel, with 95% intervals",
                (const char *const[]){"i", "λ", "from", "to", NULL});
    for (size_t i = 0; i < json_array_size(values) && i < SHOWN; i++) {
        fprintf(to, "<tr><th scope=\"row\">%zu</th>", i + 1);
        cell(to, at(values, i));
        cell(to, at(low, i));
        cell(to, at(high, i));
        fputs("</tr>\n", to);
    }
    end_table(to);
    picture(to, r, REPORT_SPECTRUM);
}

/* ---- what it is worth ---- */

static void point(FILE *to, const char *text) { fprintf(to, "<li>%s</li>\n", text); }

static void dimension_worth(FILE *to, const json_t *d) {
    double low = plot_number(d, "ci_low"), high = plot_number(d, "ci_high");
    char text[300];
    if (!isfinite(plot_number(d, "dimension")))
        point(to, "The dimension is not known: more rows, columns or trials are needed.");
    else if (!isfinite(low))
        point(to, "The dimension has no interval: there are too few rows or columns for one.");
    else {
        snprintf(text, sizeof text,
                 high > 3 * low
                     ? "The dimension is known in its order of magnitude only: its interval spans a "
                       "factor of %.2g. More rows and columns narrow it."
                     : "The dimension is known within a factor of %.2g, at 95%%.",
                 high / low);
        point(to, text);
    }
    if (plot_number(d, "trials") <= 1)
        point(to,
              "There is one trial: noise that is independent in every entry counts as dimensions. Repeats of "
              "the same rows and columns would take it out.");
}

/* The highest order up to which every interval is above 0 */
static void moments_worth(FILE *to, const json_t *m) {
    const json_t *list = json_object_get(m, "estimates"), *e;
    double known = 0, last = 0;
    size_t i;
    char text[200];
    json_array_foreach(list, i, e) {
        double n = plot_number(e, "n");
        if (strcmp(plot_word(e, "estimator", ""), "naive") == 0) continue;
        if (plot_number(e, "ci_low") > 0 && known == n - 1) known = n;
        if (n > last) last = n;
    }
    if (!m) return;
    if (known == 0)
        snprintf(text, sizeof text, "No moment is told from 0 at this size.");
    else if (known < last)
        snprintf(text, sizeof text,
                 "Moments up to order %.0f are above 0 at 95%%; higher ones are not known at this size.",
                 known);
    else
        snprintf(text, sizeof text, "All moments shown, up to order %.0f, are above 0 at 95%%.", known);
    point(to, text);
}

static void spectrum_worth(FILE *to, const json_t *s) {
    double resolved = plot_number(s, "resolved"), noise = plot_number(s, "noise");
    char text[300];
    if (json_is_true(json_object_get(s, "all_noise")))
        point(to, "The matrix may be all noise: its eigenvalues mean little.");
    if (resolved > 0) {
        snprintf(text, sizeof text, "%.0f eigenvalue%s told one by one; the others only as a whole.",
                 resolved, resolved == 1 ? " is" : "s are");
        point(to, text);
    } else if (isfinite(resolved)) {
        point(to, "No eigenvalue is told one by one: the list is a likely spectrum.");
    }
    if (isfinite(noise)) {
        snprintf(text, sizeof text,
                 "Noise of standard deviation %.3g in every entry was taken out of the eigenvalues.", noise);
        point(to, text);
    }
}

static void worth_section(FILE *to, const report *r) {
    heading(to, "What is and is not known at this size");
    fputs("<ul>\n", to);
    dimension_worth(to, of(r, REPORT_DIMENSION));
    moments_worth(to, of(r, REPORT_MOMENTS));
    spectrum_worth(to, of(r, REPORT_SPECTRUM));
    point(to, r->grouped
                  ? "Rows of one group depend on each other, and were taken so; the eigenvalues take them as "
                    "independent."
                  : "Rows are taken as independent draws. Where they are not, as time bins of one trial, the "
                    "intervals are too narrow: --groups tells which belong together.");
    fputs("</ul>\n", to);
    if (!json_array_size(r->warnings)) return;
    heading(to, "Warnings");
    fputs("<ul class=\"warnings\">\n", to);
    size_t i;
    const json_t *w;
    json_array_foreach(r->warnings, i, w) {
        fputs("<li>", to);
        page_escape(to, json_string_value(w));
        fputs("</li>\n", to);
    }
    fputs("</ul>\n", to);
}

/* ---- the whole ---- */

static void made_section(FILE *to, const report *r) {
    char *line = cli_line_take(); /* of the report itself */
    heading(to, "How it was made");
    fputs("<pre>", to);
    page_escape(to, line ? line : "kspec report");
    fputs("</pre>\n<p>which ran</p>\n<pre>", to);
    for (int k = 0; k < REPORT_PARTS; k++) {
        if (!of(r, k)) continue;
        page_escape(to, plot_word(of(r, k), "command_line", ""));
        fputc('\n', to);
    }
    fprintf(to, "</pre>\n<p class=\"soft\">kspec %s, %s</p>\n", kspec_version(), r->time);
    cli_line_give(line);
}

void report_page(FILE *to, const report *r) {
    const json_t *in = json_object_get(of(r, REPORT_DIMENSION), "input");
    const char *path = plot_word(in, "path", "standard input"), *slash = strrchr(path, '/');
    if (slash && slash[1]) path = slash + 1;
    if (strcmp(path, "-") == 0) path = "standard input";
    fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
          "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
          "<link rel=\"icon\" href=\"data:,\">\n<title>",
          to);
    page_escape(to, path);
    fputs(": a report by kspec</title>\n", to);
    page_style(to);
    fputs("</head>\n<body>\n<main>\n<h1>How many dimensions do the data in ", to);
    page_escape(to, path);
    fputs(" have?</h1>\n", to);
    answer(to, r);
    worth_section(to, r);
    data_section(to, r);
    dimension_section(to, r);
    spectrum_section(to, r);
    moments_section(to, r);
    made_section(to, r);
    fputs("</main>\n</body>\n</html>\n", to);
}
