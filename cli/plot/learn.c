/* Draws the moments of a network's features while the network learns. Each order has a column, with the
 * naive estimate above and the unbiased estimate below. A line shows the mean over the seeds of one
 * width, and a band shows the middle half of the seeds. With a single seed, bars show 95% intervals. A
 * dotted line shows the estimate from a subsample. */
#include "plot/plot.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMNS = 7, WIDTHS = 16 };

/* Returns the q-quantile of sorted values by linear interpolation. */
static double quantile(const double *v, size_t n, double q) {
    double at = q * (double)(n - 1);
    size_t i = (size_t)at;
    return i + 1 < n ? v[i] + (at - (double)i) * (v[i + 1] - v[i]) : v[n - 1];
}

static double element(const json_t *epoch, const char *key, size_t order) {
    return plot_value(json_array_get(json_object_get(epoch, key), order - 1));
}

/* Adds the values of m(order) of one width over the seeds, at each epoch. */
static int add_width(plot_figure *f, plot_panel *p, const plot_source *s, double width, const char *key,
                     size_t order, const char *label, int color, int dotted) {
    const json_t *runs = json_object_get(s->json, "runs"), *run, *epochs = NULL;
    size_t i, count = json_array_size(runs), longest = 0;
    double *v = malloc((count + 1) * sizeof *v);
    if (!v) return cli_error(EXIT_FAILED, "out of memory for the picture");
    json_array_foreach(runs, i, run) {
        const json_t *list = json_object_get(run, "epochs");
        if (plot_number(run, "width") == width && json_array_size(list) > longest)
            epochs = list, longest = json_array_size(list);
    }
    plot_series *line = NULL;
    for (size_t t = 0; t < longest; t++) { /* the k-th entry of every run belongs to the same epoch */
        double at = plot_number(json_array_get(epochs, t), "epoch"), sum = 0, half = NAN;
        size_t n = 0;
        json_array_foreach(runs, i, run) {
            const json_t *epoch = json_array_get(json_object_get(run, "epochs"), t);
            double m = element(epoch, key, order);
            if (plot_number(run, "width") != width || plot_number(epoch, "epoch") != at || !isfinite(m))
                continue;
            v[n++] = m;
            sum += m;
            if (strcmp(key, "unbiased") == 0) half = 1.96 * element(epoch, "stderr", order);
        }
        if (!n) continue;
        cli_sort(v, n);
        if (!line) line = plot_add_series(f, p, label, dotted ? PLOT_DOTTED : PLOT_LINESPOINTS, color);
        int band = n > 1 && !dotted;
        if (line && band) line->style = PLOT_BAND;
        plot_add_point(f, line, at, sum / (double)n, band ? quantile(v, n, 0.25) : sum - half,
                       band ? quantile(v, n, 0.75) : sum + half);
    }
    free(v);
    return EXIT_DONE;
}

/* Finds the different widths of a result in increasing order, and the number of orders. */
static int survey(const plot_source *s, double *widths, size_t *count, size_t *orders) {
    const json_t *runs = plot_list(s, "runs"), *run;
    size_t i;
    if (!runs) return plot_refused(s);
    *count = 0;
    json_array_foreach(runs, i, run) {
        double w = plot_number(run, "width");
        const json_t *epochs = json_object_get(run, "epochs");
        if (!isfinite(w)) return plot_unfit(s, "missing number \"width\" in run %zu", i + 1);
        if (json_array_size(epochs) == 0) return plot_unfit(s, "missing \"epochs\" in run %zu", i + 1);
        size_t n = json_array_size(json_object_get(json_array_get(epochs, 0), "unbiased")), k = 0;
        if (n > *orders) *orders = n;
        while (k < *count && widths[k] != w) k++;
        if (k == WIDTHS) return plot_unfit(s, "more than %d widths do not fit into one picture", WIDTHS);
        if (k == *count) widths[(*count)++] = w;
    }
    cli_sort(widths, *count);
    return EXIT_DONE;
}

static int fill(plot_figure *f, plot_panel *p, const plot_source *s, size_t count, const char *key,
                size_t order) {
    char label[256], text[64], part[40];
    size_t color = 0;
    int status = EXIT_DONE;
    for (size_t k = 0; k < count && !status; k++) {
        double widths[WIDTHS];
        size_t n, orders = 0;
        status = survey(&s[k], widths, &n, &orders);
        for (size_t w = 0; w < n && !status; w++, color++) {
            snprintf(text, sizeof text, "width %.0f", widths[w]);
            plot_label(&s[k], text, label, sizeof label);
            status = add_width(f, p, &s[k], widths[w], key, order, label, plot_color(color), 0);
            if (status || plot_number(s[k].json, "subsample") >= widths[w]) continue; /* all features */
            snprintf(part, sizeof part, "%s_subsample", key);
            snprintf(text, sizeof text, "%.0f of width %.0f", plot_number(s[k].json, "subsample"), widths[w]);
            if (!isfinite(plot_number(s[k].json, "subsample")))
                snprintf(text, sizeof text, "width %.0f, subsample", widths[w]);
            plot_label(&s[k], text, label, sizeof label);
            status = add_width(f, p, &s[k], widths[w], part, order, label, plot_color(color), 1);
        }
    }
    return status;
}

/* Returns 1 if some width occurs more than once, with different seeds. */
static int has_seeds(const plot_source *s, size_t count) {
    for (size_t k = 0; k < count; k++) {
        double widths[WIDTHS];
        size_t n, orders = 0;
        if (survey(&s[k], widths, &n, &orders)) return 0;
        if (json_array_size(json_object_get(s[k].json, "runs")) > n) return 1;
    }
    return 0;
}

/* Begins the title with the change of the first plotted moment during the last run, which has the largest
 * width. */
static void lead(plot_figure *f, const json_t *runs, size_t order) {
    const json_t *run = json_array_get(runs, json_array_size(runs) - 1),
                 *epochs = json_object_get(run, "epochs");
    const json_t *first = json_array_get(epochs, 0),
                 *last = json_array_get(epochs, json_array_size(epochs) - 1);
    cli_number from, to;
    cli_rounded(&from, element(first, "unbiased", order), element(first, "stderr", order));
    cli_rounded(&to, element(last, "unbiased", order), element(last, "stderr", order));
    if (*from.text && *to.text)
        plot_lead(f, "m(%zu) %s → %s at width %.0f", order, from.text, to.text, plot_number(run, "width"));
}

int plot_learn(plot_figure *f, const plot_source *s, size_t count) {
    size_t orders = 0, n;
    double widths[WIDTHS];
    int status = EXIT_DONE;
    for (size_t k = 0; k < count && !status; k++) status = survey(&s[k], widths, &n, &orders);
    if (status) return status;
    if (!orders) return plot_unfit(s, "missing lists \"unbiased\" in the epochs");
    /* The plot begins at order 2, because the features are scaled so that m(1) is 1. */
    size_t first = orders > 1 ? 2 : 1;
    f->columns = orders - first + 1 < COLUMNS ? orders - first + 1 : COLUMNS;
    plot_panel *panels[COLUMNS][2];
    for (int r = 0; r < 2; r++)
        for (size_t c = 0; c < f->columns && !status; c++) {
            char title[80], label[40];
            snprintf(title, sizeof title, "%s, n = %zu", r ? "unbiased" : "naive", first + c);
            snprintf(label, sizeof label, "m(%zu)", first + c);
            panels[c][r] = plot_add_panel(f, title, "epoch", label);
            status = fill(f, panels[c][r], s, count, r ? "unbiased" : "naive", first + c);
        }
    for (size_t c = 0; c < f->columns && !status; c++) plot_share_y(panels[c], 2);
    plot_panel *last = status ? NULL : panels[f->columns - 1][1];
    plot_text(f, &f->title, "%s",
              has_seeds(s, count) ? "bands: the middle half of the seeds"
                                  : "bars: 95% intervals of one seed");
    if (count == 1 && !status) lead(f, json_object_get(s->json, "runs"), first);
    if (last && first + f->columns <= orders)
        plot_text(f, &last->note, "orders above %zu of %zu are not drawn", first + f->columns - 1, orders);
    return status;
}
