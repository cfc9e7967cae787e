/* What the numbers of a report are worth at this size, in sentences; and the warnings of its commands. */
#include "commands/report.h"
#include "plot/page.h"
#include "plot/plot.h"

#include <math.h>

static void point(FILE *to, const char *text) { fprintf(to, "<li>%s</li>\n", text); }

static void dimension_worth(FILE *to, const json_t *d) {
    /* of the interval before it is cut at 1 */
    double x = plot_number(d, "dimension"), factor = exp(1.96 * plot_number(d, "stderr") / x);
    char text[300];
    if (!isfinite(x))
        point(to, "The dimension is not known: more rows, columns or trials are needed.");
    else if (!isfinite(plot_number(d, "ci_low")))
        point(to, "The dimension has no interval: there are too few rows or columns for one.");
    else {
        snprintf(
            text, sizeof text,
            factor > 10
                ? "The dimension is hardly known: it is uncertain by a factor of %.2g either way. More rows, "
                  "columns or trials help."
            : factor > 1.75 ? "The dimension is known in its order of magnitude only: it is uncertain by a "
                              "factor of %.2g either way. More rows and columns help."
                            : "The dimension is uncertain by a factor of %.2g either way.",
            factor);
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
        if (report_is_naive(e)) continue;
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
    if (noise > 0) {
        snprintf(text, sizeof text,
                 "Noise of standard deviation %.3g in every entry was taken out of the eigenvalues.", noise);
        point(to, text);
    }
}

static void put_warnings(FILE *to, const json_t *warnings) {
    size_t i;
    const json_t *w;
    if (!json_array_size(warnings)) return;
    report_begin_section(to, "warnings", "Warnings");
    fputs("<ul class=\"warnings\">\n", to);
    json_array_foreach(warnings, i, w) {
        fputs("<li>", to);
        page_escape(to, json_string_value(w));
        fputs("</li>\n", to);
    }
    fputs("</ul>\n", to);
    report_end_section(to);
}

void report_worth(FILE *to, const report *r) {
    report_begin_section(to, "known", "What is and is not known at this size");
    fputs("<ul>\n", to);
    dimension_worth(to, r->part[REPORT_DIMENSION].object);
    moments_worth(to, r->part[REPORT_MOMENTS].object);
    spectrum_worth(to, r->part[REPORT_SPECTRUM].object);
    point(to, r->grouped
                  ? "Rows of one group depend on each other, and were taken so; the eigenvalues take them as "
                    "independent."
                  : "Rows are taken as independent draws. Where they are not, as time bins of one trial, the "
                    "intervals are too narrow: --groups tells which belong together.");
    fputs("</ul>\n", to);
    report_end_section(to);
    put_warnings(to, r->common->warnings);
}
