/* Draws a recommended regression on random features: the predicted test error against the number of
 * features, lambda and sigma. The picture marks the recommended model, the error with lambda = 0, and
 * measured errors. */
#include "plot/plot.h"

#include <math.h>

static const struct {
    const char *key, *title, *axis;
} views[] = {
    {"features", "by features", "features N"},
    {"lambda", "by lambda", "ridge λ"},
    {"sigma", "by sigma", "bandwidth σ"},
};

static void add_curve(plot_figure *f, plot_panel *p, const json_t *points, const char *x, const char *y,
                      const char *label, plot_style form, int color) {
    size_t k;
    const json_t *e;
    plot_series *line = plot_add_series(f, p, label, form, color);
    json_array_foreach(points, k, e) {
        plot_add_point(f, line, plot_number(e, x), plot_number(e, y), NAN, NAN);
    }
}

/* Adds the measured errors of the trained models. Models whose number of features differs from the
 * recommended number belong to the first panel. */
static void add_measured(plot_figure *f, plot_panel *p, const plot_source *s, const char *x) {
    size_t k;
    const json_t *e;
    plot_series *dots = NULL;
    json_array_foreach(json_object_get(s->json, "points"), k, e) {
        const double y = plot_number(e, "empirical_test_mse"), sd = plot_number(e, "empirical_test_sd");
        if (!isfinite(y) || (x && k)) continue;
        if (!dots) dots = plot_add_series(f, p, "measured, ± SD", PLOT_POINTS, PLOT_BLACK);
        const double at =
            x ? plot_number(json_object_get(s->json, "recommended"), x) : plot_number(e, "features");
        plot_add_point(f, dots, at, y, y - sd, y + sd);
    }
}

int plot_ridge_advice(plot_figure *f, const plot_source *s) {
    const json_t *curves = json_object_get(s->json, "curves");
    const json_t *chosen = json_object_get(s->json, "recommended");
    plot_panel *panels[3];
    for (int k = 0; k < 3; k++) {
        const json_t *points = json_object_get(curves, views[k].key);
        plot_panel *p = plot_add_panel(f, views[k].title, views[k].axis, "predicted mean squared error");
        panels[k] = p;
        if (!p) continue;
        p->x.scale = PLOT_LOG;
        add_curve(f, p, points, views[k].key, "test_mse", "test", PLOT_LINE, plot_color(0));
        add_curve(f, p, points, views[k].key, "train_mse", "training", PLOT_DASHED, plot_color(1));
        add_measured(f, p, s, k ? views[k].key : NULL);
        plot_add_mark(f, p, 'x', plot_number(chosen, views[k].key), "recommended");
    }
    plot_share_y(panels, 3);
    f->columns = 3;
    plot_text(f, &f->title, "recommended: N = %.0f, λ = %.3g, σ = %.4g; R² = %.3f",
              plot_number(chosen, "features"), plot_number(chosen, "lambda"), plot_number(chosen, "sigma"),
              plot_number(chosen, "r2"));
    return EXIT_DONE;
}
