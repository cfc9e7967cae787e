/* Draws spectra known in closed form: eigenvalues by their index or degree, multiplicities, moments. */
#include "plot/plot.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Returns the k-th entry of a list. If `logs` is given, returns instead the base-10 logarithm, computed
 * from this list of natural logarithms, for numbers beyond the range of doubles. */
static double entry(const json_t *list, const json_t *natural_logs, size_t k, int logs) {
    return logs ? plot_value(json_array_get(natural_logs, k)) / log(10) : plot_value(json_array_get(list, k));
}

/* Returns 1 if some entry is beyond the range of doubles. */
static int beyond_doubles(const json_t *list, const json_t *natural_logs) {
    for (size_t k = 0; k < json_array_size(natural_logs); k++)
        if (fabs(plot_value(json_array_get(natural_logs, k))) > 600 && k < json_array_size(list)) return 1;
    return 0;
}

static void add_list(plot_figure *f, plot_panel *p, const plot_source *s, const char *key,
                     const char *log_key, const char *label, int from, int logs) {
    const json_t *list = json_object_get(s->json, key), *natural_logs = json_object_get(s->json, log_key);
    plot_series *line = plot_add_series(f, p, label, PLOT_LINESPOINTS, -1);
    for (size_t k = 0; k < json_array_size(list); k++)
        plot_add_point(f, line, (double)k + from, entry(list, natural_logs, k, logs), NAN, NAN);
}

/* Returns 1 if the entries span two decades. Zeros do not count, since every second eigenvalue may be 0. */
static int decades(const plot_source *s, size_t count, const char *key) {
    double least = INFINITY, most = 0;
    for (size_t i = 0; i < count; i++) {
        size_t k;
        const json_t *e;
        json_array_foreach(json_object_get(s[i].json, key), k, e) {
            double x = plot_value(e);
            if (x > 0) least = fmin(least, x), most = fmax(most, x);
        }
    }
    return most >= 100 * least;
}

/* Adds a panel that shows one list of each result, unless no result has this list. */
static void add_panel(plot_figure *f, const plot_source *s, size_t count, const char *key, const char *title,
                      const char *xlabel, const char *ylabel, int from) {
    char log_key[40], text[80];
    int logs = 0;
    size_t most = 0;
    snprintf(log_key, sizeof log_key, "log_%s", key);
    for (size_t i = 0; i < count; i++) {
        const json_t *list = json_object_get(s[i].json, key);
        logs |= beyond_doubles(list, json_object_get(s[i].json, log_key));
        most = json_array_size(list) > most ? json_array_size(list) : most;
    }
    if (!most) return;
    snprintf(text, sizeof text, logs ? "log_{10} %s" : "%s", ylabel);
    plot_panel *p = plot_add_panel(f, title, xlabel, text);
    if (p && logs) p->y.scale = PLOT_LINEAR;
    if (p && !logs && decades(s, count, key)) p->y.scale = PLOT_LOG;
    for (size_t i = 0; i < count; i++) add_list(f, p, &s[i], key, log_key, s[i].name, from, logs);
}

typedef struct {
    double x;
    size_t row;
} place;

static int by_x(const void *a, const void *b) {
    const double x = ((const place *)a)->x, y = ((const place *)b)->x;
    return (x > y) - (x < y);
}

/* Adds a panel with the first eigenfunctions as curves, if the points have only one coordinate. */
static int add_functions(plot_figure *f, const plot_source *s) {
    enum { CURVES = 5 };
    const json_t *points = json_object_get(s->json, "points"),
                 *functions = json_object_get(s->json, "eigenfunctions");
    const size_t count = json_array_size(points);
    if (count < 2 || json_array_size(json_array_get(points, 0)) != 1 || json_array_size(functions) != count)
        return EXIT_DONE;
    place *at = calloc(count, sizeof *at);
    if (!at) return cli_no_memory();
    for (size_t i = 0; i < count; i++)
        at[i] = (place){plot_value(json_array_get(json_array_get(points, i), 0)), i};
    qsort(at, count, sizeof *at, by_x);
    plot_panel *p = plot_add_panel(f, "eigenfunctions", "x", "φ_{k}(x)");
    for (size_t k = 0; k < CURVES && k < json_array_size(json_array_get(functions, 0)); k++) {
        char label[40];
        snprintf(label, sizeof label, "k = %zu", k + 1);
        plot_series *line = plot_add_series(f, p, label, PLOT_LINE, plot_color(k));
        for (size_t i = 0; i < count; i++)
            plot_add_point(f, line, at[i].x,
                           plot_value(json_array_get(json_array_get(functions, at[i].row), k)), NAN, NAN);
    }
    free(at);
    return EXIT_DONE;
}

int plot_theory(plot_figure *f, const plot_source *s, size_t count) {
    int degrees = 1, distinct = 0;
    for (size_t i = 0; i < count; i++) {
        degrees &= strcmp(plot_word(s[i].json, "space", ""), "sphere") == 0;
        distinct |= json_array_size(json_object_get(s[i].json, "multiplicities")) > 0;
        if (!plot_list(&s[i], "moments")) return plot_refused(&s[i]);
    }
    const char *index = degrees ? "degree k" : distinct ? "k-th different eigenvalue" : "index k";
    add_panel(f, s, count, "eigenvalues", "eigenvalues", index, "λ_{k}", degrees ? 0 : 1);
    add_panel(f, s, count, "multiplicities", "multiplicities", index, "multiplicity", degrees ? 0 : 1);
    add_panel(f, s, count, "moments", "moments", "order n", "m(n)", 1);
    if (count == 1 && plot_word(s->json, "kernel", NULL))
        plot_text(f, &f->title, "%s kernel%s, %.0f dimension%s", plot_word(s->json, "kernel", ""),
                  degrees ? " on the sphere" : "", plot_number(s->json, "dim"),
                  plot_number(s->json, "dim") == 1 ? "" : "s");
    const json_t *m = json_object_get(s->json, "moments");
    const double first = plot_value(json_array_get(m, 0)), second = plot_value(json_array_get(m, 1));
    if (count == 1 && isfinite(first * first / second))
        plot_lead(f, "dimension %.4g", first * first / second);
    return count == 1 ? add_functions(f, s) : EXIT_DONE;
}
