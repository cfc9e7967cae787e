/*
 * Draws recovered eigenvalues with their intervals, the eigenvalues of the sample matrix, and the true ones,
 * on linear and logarithmic axes.
 */
#include "plot/plot.h"

#include <math.h>
#include <string.h>

/* Returns the length of a list up to its last non-zero entry. */
static size_t length_of(const json_t *list) {
    size_t n = json_array_size(list);
    while (n > 1 && plot_value(json_array_get(list, n - 1)) == 0) n--;
    return n;
}

static void add_list(plot_figure *f, plot_panel *p, const char *label, const json_t *list, const json_t *low,
                     const json_t *high, plot_style style, int color) {
    if (json_array_size(list) == 0) return;
    plot_series *s = plot_add_series(f, p, label, style, color);
    for (size_t k = 0; k < length_of(list); k++)
        plot_add_point(f, s, (double)(k + 1), plot_value(json_array_get(list, k)),
                       plot_value(json_array_get(low, k)), plot_value(json_array_get(high, k)));
}

/* Adds the eigenvalues of kspec theory, each repeated by its multiplicity, but at most `most` points. */
static int add_truth(plot_figure *f, plot_panel *p, const plot_source *src, size_t most) {
    const json_t *list = json_object_get(src->json, "eigenvalues"),
                 *N = json_object_get(src->json, "multiplicities");
    if (json_array_size(list) == 0)
        return plot_unfit(src, "missing \"eigenvalues\": kspec theory rbf lists them with --eigenvalues K");
    plot_series *s = plot_add_series(f, p, src->name ? src->name : "truth", PLOT_STEPS, PLOT_BLACK);
    size_t l = 0;
    for (size_t k = 0; k < json_array_size(list) && l < most; k++) {
        double times = N ? plot_value(json_array_get(N, k)) : 1;
        if (isnan(times)) times = (double)most; /* null stands for a multiplicity above the largest double */
        for (double t = 0; t < times && l < most; t++)
            plot_add_point(f, s, (double)++l, plot_value(json_array_get(list, k)), NAN, NAN);
    }
    return EXIT_DONE;
}

/* Adds the true eigenvalues that a result contains (--truth). */
static void add_own_truth(plot_figure *f, plot_panel *p, const plot_source *s) {
    char label[256];
    const json_t *list = json_object_get(s->json, "truth");
    if (json_array_size(list) == 0) return;
    plot_label(s, "truth", label, sizeof label);
    plot_series *t = plot_add_series(f, p, label, PLOT_STEPS, PLOT_BLACK);
    for (size_t k = 0; k < json_array_size(list); k++)
        plot_add_point(f, t, (double)(k + 1), plot_value(json_array_get(list, k)), NAN, NAN);
}

/* Ends a logarithmic axis above sample eigenvalues that are rounding errors of zero. */
static void cut_rounding(plot_figure *f, plot_panel *p) {
    double largest = 0, least = INFINITY;
    int cut = 0;
    for (int pass = 0; pass < 2; pass++)
        for (size_t k = 0; p && k < p->series_count; k++)
            for (size_t i = 0; i < p->series[k]->count; i++) {
                double y = p->series[k]->at[i].y;
                if (pass == 0) largest = fmax(largest, y);
                if (pass == 1 && y > 0 && y < 1e-13 * largest) cut = 1;
                if (pass == 1 && y >= 1e-13 * largest && y > 0) least = fmin(least, y);
            }
    if (!cut || !isfinite(least)) return;
    p->y.low = least / 2;
    plot_text(f, &p->note, "values below 10^{−13} of the largest are not shown");
}

static void add_result(plot_figure *f, plot_panel *p, const plot_source *s) {
    char label[256];
    const json_t *o = s->json;
    const json_t *list = json_object_get(o, "eigenvalues");
    int band =
        json_array_size(list) > 12 && isfinite(plot_value(json_array_get(json_object_get(o, "ci_low"), 0)));
    const char *method = json_string_value(json_object_get(o, "method"));
    int crossed = method && strcmp(method, "cvpca") == 0;
    plot_label(s, crossed ? "cross-validated" : "recovered", label, sizeof label);
    add_list(f, p, label, list, json_object_get(o, "ci_low"), json_object_get(o, "ci_high"),
             band ? PLOT_BAND : PLOT_LINESPOINTS, -1);
    plot_label(s, "of the sample matrix", label, sizeof label);
    add_list(f, p, label, json_object_get(o, "singular_values"), NULL, NULL, PLOT_POINTS, -1);
    add_own_truth(f, p, s);
}

/* Marks the number of resolved eigenvalues, and on logarithmic axes draws the fitted power law over its
 * range. */
static void add_resolved(plot_figure *f, plot_panel *p, const plot_source *s, int log) {
    char text[160];
    const json_t *o = s->json, *list = json_object_get(o, "eigenvalues");
    const double resolved = plot_number(o, "resolved"), a = plot_number(o, "exponent"),
                 from = plot_number(o, "exponent_from"), to = plot_number(o, "exponent_to");
    if (p && resolved > 0 && resolved < (double)json_array_size(list)) {
        snprintf(text, sizeof text, "%.0f resolved", resolved);
        plot_add_mark(f, p, 'x', resolved + 0.5, text);
    }
    if (!log || !isfinite(a) || !(from >= 1 && to > from && to <= (double)json_array_size(list))) return;
    double mean = 0; /* the mean of log lambda_i + a * log i gives the level of the line */
    for (size_t i = (size_t)from; i <= (size_t)to; i++) {
        const double y = plot_value(json_array_get(list, i - 1));
        mean += ((y > 0 ? log10(y) : NAN) + a * log10((double)i)) / (to - from + 1);
    }
    if (!isfinite(mean)) return;
    snprintf(text, sizeof text, "i^{−%.2g}, i = %.0f … %.0f", a, from, to);
    plot_series *line = plot_add_series(f, p, text, PLOT_DASHED, PLOT_BLACK);
    for (int end = 0; end < 2; end++) {
        const double i = end ? to : from;
        plot_add_point(f, line, i, pow(10, mean - a * log10(i)), NAN, NAN);
    }
}

/*
 * Begins the title with the number of resolved eigenvalues and their decay. If the number is unknown, the
 * title begins with the largest eigenvalue.
 */
static void lead(plot_figure *f, const json_t *o) {
    const double resolved = plot_number(o, "resolved"), a = plot_number(o, "exponent");
    const json_t *low = json_object_get(o, "ci_low"), *high = json_object_get(o, "ci_high");
    plot_words text;
    if (isnan(resolved))
        plot_lead(f, "largest eigenvalue %s",
                  plot_interval(&text, plot_value(json_array_get(json_object_get(o, "eigenvalues"), 0)),
                                plot_value(json_array_get(low, 0)), plot_value(json_array_get(high, 0))));
    else if (plot_number(o, "exponent_ci_low") > 0 && resolved > 0)
        plot_lead(
            f, "%.0f eigenvalue%s resolved, exponent %s", resolved, cli_s((size_t)resolved),
            plot_interval(&text, a, plot_number(o, "exponent_ci_low"), plot_number(o, "exponent_ci_high")));
    else
        plot_lead(f, "%.0f eigenvalue%s resolved", resolved, cli_s((size_t)resolved));
}

int plot_spectrum(plot_figure *f, const plot_source *s, size_t count) {
    size_t most = 0, spectra = 0, only = 0;
    for (size_t i = 0; i < count; i++)
        if (strcmp(s[i].command, "spectrum") == 0) {
            spectra++, only = i;
            const json_t *list = plot_list(&s[i], "eigenvalues");
            if (!list) return plot_refused(&s[i]);
            size_t sample = json_array_size(json_object_get(s[i].json, "singular_values"));
            if (json_array_size(list) > most) most = json_array_size(list);
            if (sample > most) most = sample;
        }
    for (int log = 0; log < 2; log++) {
        plot_panel *p = plot_add_panel(f, log ? "logarithmic" : "linear", "index i", "eigenvalue λ_{i}");
        if (p) p->x.scale = log && most > 50 ? PLOT_LOG : PLOT_LINEAR;
        if (p) p->y.scale = log ? PLOT_LOG : PLOT_LINEAR;
        for (size_t i = 0; i < count; i++) {
            int status = EXIT_DONE;
            if (strcmp(s[i].command, "theory") == 0)
                status = add_truth(f, p, &s[i], most);
            else
                add_result(f, p, &s[i]);
            if (status) return status;
        }
        if (spectra == 1) add_resolved(f, p, &s[only], log);
        if (log) cut_rounding(f, p);
    }
    plot_shape_title(f, s, count);
    if (spectra == 1) lead(f, s[only].json);
    return EXIT_DONE;
}
