/* Draws a smooth curve: the data, the curve with its band, and the error of least squares. */
#include "plot/plot.h"

#include <math.h>
#include <stdlib.h>

/* The number x of a point and its index, for sorting points by x. */
typedef struct {
    double x;
    const json_t *point;
} place;

static int by_x(const void *a, const void *b) {
    const place *p = a, *q = b;
    return (p->x > q->x) - (p->x < q->x);
}

static place *sorted(const json_t *list) {
    size_t i;
    const json_t *e;
    place *at = malloc((json_array_size(list) + 1) * sizeof *at);
    if (!at) return NULL;
    json_array_foreach(list, i, e) at[i] = (place){plot_number(e, "x"), e};
    qsort(at, json_array_size(list), sizeof *at, by_x);
    return at;
}

static void add_points(plot_figure *f, plot_panel *p, const plot_source *s, const char *label,
                       const char *key, int color) {
    size_t i;
    const json_t *e;
    char text[256];
    plot_label(s, label, text, sizeof text);
    plot_series *points = plot_add_series(f, p, text, PLOT_POINTS, color);
    json_array_foreach(json_object_get(s->json, "fitted"), i, e) {
        plot_add_point(f, points, plot_number(e, "x"), plot_number(e, key), NAN, NAN);
    }
}

static void add_band(plot_figure *f, plot_panel *p, const plot_source *s, const char *label, int imaginary,
                     int color) {
    const char *const keys[2][3] = {{"value", "ci_low", "ci_high"},
                                    {"value_imag", "ci_low_imag", "ci_high_imag"}};
    const json_t *list = json_object_get(s->json, "fitted");
    char text[256];
    plot_label(s, label, text, sizeof text);
    plot_series *band = plot_add_series(f, p, text, PLOT_BAND, color);
    place *at = sorted(list);
    if (!at) f->failed = 1;
    for (size_t i = 0; at && i < json_array_size(list); i++)
        plot_add_point(f, band, at[i].x, plot_number(at[i].point, keys[imaginary][0]),
                       plot_number(at[i].point, keys[imaginary][1]),
                       plot_number(at[i].point, keys[imaginary][2]));
    free(at);
}

static void error_panel(plot_figure *f, const plot_source *s) {
    plot_panel *p =
        plot_add_panel(f, "least squares with p functions", "functions learned, p", "expected error (rms)");
    plot_series *line = plot_add_series(f, p, "least squares", PLOT_LINE, plot_color(0));
    size_t i;
    const json_t *e;
    if (p) p->y.scale = PLOT_LOG;
    json_array_foreach(json_object_get(s->json, "curve"), i, e) {
        plot_add_point(f, line, plot_number(e, "p"), sqrt(plot_number(e, "error")), NAN, NAN);
    }
    plot_add_mark(f, p, 'y', sqrt(plot_number(s->json, "error")), "the curve");
    plot_add_mark(f, p, 'x', plot_number(json_object_get(s->json, "under"), "p"), "best p");
}

int plot_wls_curve(plot_figure *f, const plot_source *s, size_t count) {
    int imaginary = 0;
    plot_panel *p = plot_add_panel(f, NULL, "x", "y");
    if (p) p->y.scale = PLOT_LINEAR;
    for (size_t k = 0; k < count; k++) {
        if (!plot_list(&s[k], "fitted")) return plot_refused(&s[k]);
        const int color = plot_color(k);
        imaginary |= json_is_true(json_object_get(s[k].json, "complex"));
        add_points(f, p, &s[k], count > 1 ? "" : "data", "y", count > 1 ? color : PLOT_BLACK);
        add_band(f, p, &s[k], "curve, 95% band", 0, color);
    }
    if (imaginary) {
        plot_panel *q = plot_add_panel(f, NULL, "x", "y, imaginary part");
        if (q) q->y.scale = PLOT_LINEAR;
        for (size_t k = 0; k < count; k++) {
            add_points(f, q, &s[k], count > 1 ? "" : "data", "y_imag",
                       count > 1 ? plot_color(k) : PLOT_BLACK);
            add_band(f, q, &s[k], "curve, 95% band", 1, plot_color(k));
        }
    }
    if (count > 1) return EXIT_DONE;
    error_panel(f, s);
    plot_words noise;
    plot_text(f, &f->title, "curve known to ± %.2g (rms), noise %s; %.0f points, basis %s",
              sqrt(plot_number(s->json, "error")),
              plot_interval(&noise, plot_number(s->json, "noise"), plot_number(s->json, "noise_ci_low"),
                            plot_number(s->json, "noise_ci_high")),
              plot_number(s->json, "grid"), plot_word(s->json, "basis", "?"));
    return EXIT_DONE;
}
