/* Draws the result of kspec dimension: the dimension against the number of rows. The points of a curve
 * are estimates from parts of the matrix; the last one uses all rows. The picture also shows the biased
 * dimension of the matrix itself, which grows with the number of rows. Several matrices without curves
 * are drawn side by side above their names. The matrices of a batch form a line over its index. */
#include "plot/plot.h"

#include <math.h>

static int check(const plot_source *s, const json_t *result) {
    static const char *const keys[] = {"rows", "dimension", "naive", "curve"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (!json_object_get(result, keys[i]))
            return plot_unfit(s, "missing \"%s\", expected in a kspec dimension result", keys[i]);
    return EXIT_DONE;
}

static void add_curve(plot_figure *f, plot_panel *p, const plot_source *s, const json_t *result,
                      const char *key, const char *label) {
    char name[256], full[512];
    const char *own = plot_word(result, "label", NULL);
    const json_t *curve = json_object_get(result, "curve");
    int unbiased = key[0] == 'd';
    double low = plot_number(result, "ci_low"), high = plot_number(result, "ci_high");
    plot_label(s, label, name, sizeof name);
    snprintf(full, sizeof full, "%s%s%s", own ? own : "", own ? ": " : "", name);
    plot_series *line = plot_add_series(f, p, full, PLOT_LINESPOINTS, -1);
    /* The loop skips the last point of the curve: this point is the whole matrix, whose numbers have
     * separate keys. */
    for (size_t k = 0; k + 1 < json_array_size(curve); k++) {
        const json_t *point = json_array_get(curve, k);
        plot_add_point(f, line, plot_number(point, "rows"), plot_number(point, key), NAN, NAN);
    }
    plot_add_point(f, line, plot_number(result, "rows"), plot_number(result, key), unbiased ? low : NAN,
                   unbiased ? high : NAN);
}

static int add_curves(plot_figure *f, plot_panel *p, const plot_source *s, const json_t *result) {
    int status = check(s, result);
    if (status) return status;
    add_curve(f, p, s, result, "dimension", "unbiased, 95% interval");
    add_curve(f, p, s, result, "naive", "of the matrix itself");
    return EXIT_DONE;
}

/* ---- several matrices without curves ---- */

static int any_curve(const json_t *results) {
    const json_t *e;
    size_t i;
    json_array_foreach(results, i, e) if (json_array_size(json_object_get(e, "curve"))) return 1;
    return 0;
}

/* Adds the dimension of result number i, with its interval, to the first series, and the biased dimension
 * of the matrix to the second. */
static int add_pair(plot_figure *f, const plot_source *s, plot_series *const all[2], size_t i,
                    const json_t *e) {
    int status = check(s, e);
    if (status) return status;
    plot_add_point(f, all[0], (double)i, plot_number(e, "dimension"), plot_number(e, "ci_low"),
                   plot_number(e, "ci_high"));
    plot_add_point(f, all[1], (double)i, plot_number(e, "naive"), NAN, NAN);
    return EXIT_DONE;
}

static int add_row(plot_figure *f, const plot_source *s, const json_t *results) {
    const json_t *e;
    size_t i;
    plot_panel *p = plot_add_panel(f, s->name, NULL, "dimension");
    plot_series *all[2] = {plot_add_series(f, p, "unbiased, 95% interval", PLOT_POINTS, -1),
                           plot_add_series(f, p, "of the matrix itself", PLOT_POINTS, -1)};
    plot_set_aside(all[0], all[1]);
    json_array_foreach(results, i, e) {
        int status = add_pair(f, s, all, i, e);
        if (status) return status;
        plot_add_xname(f, p, plot_word(e, "label", "?"));
    }
    return EXIT_DONE;
}

/* Adds a batch as a line with a band, drawn over the index of the batch. */
static int add_batch(plot_figure *f, const plot_source *s, const json_t *results) {
    const json_t *e;
    size_t i;
    plot_panel *p = plot_add_panel(f, s->name, "index", "dimension");
    plot_series *all[2] = {plot_add_series(f, p, "unbiased, 95% interval", PLOT_BAND, -1),
                           plot_add_series(f, p, "of the matrix itself", PLOT_LINESPOINTS, -1)};
    json_array_foreach(results, i, e) {
        int status = add_pair(f, s, all, i, e);
        if (status) return status;
    }
    return EXIT_DONE;
}

/* Adds a matrix without a curve as a single point. */
static int add_alone(plot_figure *f, const plot_source *s) {
    char size[80];
    int status = check(s, s->json);
    if (status) return status;
    plot_panel *p = plot_add_panel(f, NULL, NULL, "dimension");
    plot_series *all[2] = {plot_add_series(f, p, "unbiased, 95% interval", PLOT_POINTS, -1),
                           plot_add_series(f, p, "of the matrix itself", PLOT_POINTS, -1)};
    plot_set_aside(all[0], all[1]);
    plot_add_point(f, all[0], 0, plot_number(s->json, "dimension"), plot_number(s->json, "ci_low"),
                   plot_number(s->json, "ci_high"));
    plot_add_point(f, all[1], 0, plot_number(s->json, "naive"), NAN, NAN);
    snprintf(size, sizeof size, "%.0f × %.0f", plot_number(s->json, "rows"), plot_number(s->json, "cols"));
    plot_add_xname(f, p, size);
    return EXIT_DONE;
}

int plot_dimension(plot_figure *f, const plot_source *s, size_t count) {
    plot_panel *curves = NULL;
    for (size_t k = 0; k < count; k++) {
        const json_t *results = json_object_get(s[k].json, "results"), *e;
        size_t i;
        int status = EXIT_DONE;
        if (json_object_get(s[k].json, "batch") && !any_curve(results)) {
            if ((status = add_batch(f, &s[k], results))) return status;
            continue;
        }
        if (json_array_size(results) && !any_curve(results)) {
            if ((status = add_row(f, &s[k], results))) return status;
            continue;
        }
        if (count == 1 && !json_array_size(results) &&
            !json_array_size(json_object_get(s[k].json, "curve"))) {
            if ((status = add_alone(f, &s[k]))) return status;
            continue;
        }
        if (!curves) curves = plot_add_panel(f, NULL, "rows", "dimension");
        if (!json_array_size(results)) status = add_curves(f, curves, &s[k], s[k].json);
        json_array_foreach(results, i, e) if (!status) status = add_curves(f, curves, &s[k], e);
        if (status) return status;
    }
    plot_shape_title(f, s, count);
    const double d = plot_number(s->json, "dimension");
    plot_words text;
    if (count == 1 && isfinite(d))
        plot_lead(f, "dimension %s",
                  plot_interval(&text, d, plot_number(s->json, "ci_low"), plot_number(s->json, "ci_high")));
    return EXIT_DONE;
}
