/* Writes the numbers of a report: dimension, eigenvalues and moments, each as a table and a picture. */
#include "commands/report.h"
#include "plot/page.h"
#include "plot/plot.h"

#include <math.h>
#include <string.h>

enum { DIGITS = 4, MOST_EIGENVALUES = 20, FEW_EIGENVALUES = 12 };

/* Writes a number without a known error. */
static void cell(FILE *to, double x) { page_cell(to, x, DIGITS); }

/* Writes an estimate and the ends of its interval, rounded to the interval. */
static void interval(FILE *to, double x, double low, double high) {
    page_cell_rounded(to, x, cli_error_of(x, low, high));
    page_cell_rounded(to, low, fabs(x - low));
    page_cell_rounded(to, high, fabs(high - x));
}

static void head(FILE *to, double n) {
    char text[40];
    snprintf(text, sizeof text, "%.0f", n);
    page_row_head(to, text);
}

static void picture(FILE *to, const report_part *p) {
    if (!p->svg) return;
    fputs("<figure>\n", to);
    page_svg(to, p->svg, p->svg_size);
    fputs("</figure>\n", to);
}

/* If a part is missing, writes the reason and returns 1. */
static int is_missing(FILE *to, const report_part *p) {
    if (p->object) return 0;
    fputs("<p>Not computed: ", to);
    page_escape(to, p->why);
    fputs(".</p>\n", to);
    return 1;
}

/* ---- dimension ---- */

/* Writes the estimates from parts of the matrix in a folded table, since the picture shows them too. */
static void curve_table(FILE *to, const json_t *curve) {
    size_t i;
    const json_t *p;
    if (json_array_size(curve) < 2) return;
    fputs("<details><summary>From fewer rows and columns</summary>\n", to);
    page_begin_table(to, "Dimension of random parts of the matrix",
                     (const char *const[]){"rows", "columns", "without bias", "of the part", NULL});
    json_array_foreach(curve, i, p) {
        head(to, plot_number(p, "rows"));
        cell(to, plot_number(p, "cols"));
        cell(to, plot_number(p, "dimension"));
        cell(to, plot_number(p, "naive"));
        page_end_row(to);
    }
    page_end_table(to);
    fputs("</details>\n", to);
}

void report_dimension(FILE *to, const report *r) {
    const report_part *p = &r->part[REPORT_DIMENSION];
    report_begin_section(to, "dimension", "How many dimensions");
    fputs(
        "<p>The dimension is the participation ratio (Σλ)²/Σλ² of the eigenvalues λ of the covariance behind "
        "the data: of n equal ones it is n. This estimate does not have the bias of a matrix of finite "
        "size.</p>\n",
        to);
    page_begin_table(to, "Dimension", (const char *const[]){"", "dimension", "from", "to", NULL});
    page_row_head(to, "without bias, 95% interval");
    interval(to, plot_number(p->object, "dimension"), plot_number(p->object, "ci_low"),
             plot_number(p->object, "ci_high"));
    page_end_row(to);
    page_row_head(to, "of the matrix itself");
    cell(to, plot_number(p->object, "naive"));
    fputs("<td></td><td></td>", to);
    page_end_row(to);
    page_end_table(to);
    const char *signal = plot_word(p->object, "signal", NULL);
    const double z = plot_number(p->object, "signal_z");
    if (signal) fprintf(to, "<p>Signal: %s (z = %.*f against pure noise).</p>\n", signal, fabs(z) < 10, z);
    picture(to, p);
    curve_table(to, json_object_get(p->object, "curve"));
    report_end_section(to);
}

/* ---- eigenvalues ---- */

static double at(const json_t *list, size_t i) { return plot_value(json_array_get(list, i)); }

static void spectrum_numbers(FILE *to, const json_t *s) {
    const json_t *values = json_object_get(s, "eigenvalues"), *low = json_object_get(s, "ci_low"),
                 *high = json_object_get(s, "ci_high");
    const double resolved = plot_number(s, "resolved");
    size_t count = json_array_size(values), shown = 0;
    /* the table shows the resolved eigenvalues, or a few eigenvalues if none is resolved */
    const size_t known = resolved > 0 ? (size_t)resolved : count < FEW_EIGENVALUES ? count : FEW_EIGENVALUES;
    page_begin_table(to, "The largest eigenvalues of the kernel, with 95% intervals",
                     (const char *const[]){"i", "λ", "from", "to", NULL});
    for (; shown < count && shown < known && shown < MOST_EIGENVALUES; shown++) {
        if (at(values, shown) == 0 && shown > 0) break;
        head(to, (double)shown + 1);
        interval(to, at(values, shown), at(low, shown), at(high, shown));
        page_end_row(to);
    }
    page_end_table(to);
    if (shown < count && at(values, shown) == 0)
        fputs(
            "<p class=\"soft\">A matrix of this size does not distinguish further eigenvalues from 0.</p>\n",
            to);
    else if (shown < known)
        fprintf(to,
                "<p class=\"soft\">The table shows the first %zu of the %zu eigenvalues that are known "
                "individually.</p>\n",
                shown, known);
    else if (shown < count)
        fprintf(to,
                "<p class=\"soft\">The table shows the first %zu eigenvalues; the other %zu are known only "
                "as a whole.</p>\n",
                shown, count - shown);
}

void report_spectrum(FILE *to, const report *r) {
    const report_part *p = &r->part[REPORT_SPECTRUM];
    report_begin_section(to, "eigenvalues", "Eigenvalues");
    if (!is_missing(to, p)) {
        spectrum_numbers(to, p->object);
        picture(to, p);
    }
    report_end_section(to);
}

/* ---- moments ---- */

int report_is_naive(const json_t *estimate) {
    return strcmp(plot_word(estimate, "estimator", ""), "naive") == 0;
}

/* Returns the naive estimate of order n, which describes the matrix itself, or NULL if this estimate is
 * missing. */
static const json_t *naive_at(const json_t *estimates, double n) {
    size_t i;
    const json_t *e;
    json_array_foreach(estimates, i, e) {
        if (report_is_naive(e) && plot_number(e, "n") == n) return e;
    }
    return NULL;
}

static void moments_numbers(FILE *to, const json_t *estimates) {
    size_t i;
    const json_t *e;
    /* the naive estimate does not exist with groups or missing entries */
    const char *naive = naive_at(estimates, 1) ? "naive" : NULL;
    page_begin_table(to, "Moments, with 95% intervals",
                     (const char *const[]){"n", "m(n)", "from", "to", "estimator", naive, NULL});
    json_array_foreach(estimates, i, e) {
        if (report_is_naive(e)) continue;
        head(to, plot_number(e, "n"));
        interval(to, plot_number(e, "value"), plot_number(e, "ci_low"), plot_number(e, "ci_high"));
        fprintf(to, "<td>%s</td>", plot_word(e, "estimator", ""));
        if (naive) cell(to, plot_number(naive_at(estimates, plot_number(e, "n")), "value"));
        page_end_row(to);
    }
    page_end_table(to);
}

void report_moments(FILE *to, const report *r) {
    const report_part *p = &r->part[REPORT_MOMENTS];
    report_begin_section(to, "moments", "Moments of the spectrum");
    if (!is_missing(to, p)) {
        const json_t *estimates = json_object_get(p->object, "estimates");
        fputs(naive_at(estimates, 1) ? "<p>m(n) = Σλⁿ. Next to each estimate is the naive one, of the matrix "
                                       "itself, which is biased by its size.</p>\n"
                                     : "<p>m(n) = Σλⁿ, estimated without bias.</p>\n",
              to);
        moments_numbers(to, estimates);
        if (r->fewer_moments)
            fputs("<p class=\"soft\">Higher orders of a matrix this large take longer, so they are omitted; "
                  "-n 4 adds one.</p>\n",
                  to);
        picture(to, p);
    }
    report_end_section(to);
}
