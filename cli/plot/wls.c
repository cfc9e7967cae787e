/*
 * Draws weighted least squares: errors against the number p of modes learned, coefficients, singular values.
 */
#include "plot/plot.h"

#include <math.h>
#include <string.h>

/* Adds a series of points[i].key (+ points[i].plus) against p, with error bars ± points[i].spread. Adds
 * nothing if no point has the key. */
static void add_curve(plot_figure *f, plot_panel *p, const plot_source *s, const char *text, const char *key,
                      const char *plus, const char *spread, plot_style style, int color) {
    plot_series *line = NULL;
    char label[256];
    size_t i;
    const json_t *e;
    plot_label(s, text, label, sizeof label);
    json_array_foreach(json_object_get(s->json, "points"), i, e) {
        double y = plot_number(e, key), d = spread ? plot_number(e, spread) : NAN;
        if (plus) y += plot_number(e, plus);
        if (!isfinite(y) && !line) continue;
        if (!line) line = plot_add_series(f, p, *label ? label : NULL, style, color);
        plot_add_point(f, line, plot_number(e, "p"), y, y - d, y + d);
    }
}

/* Adds a list against its index: its numbers, or the absolute values of complex numbers given as pairs. */
static void add_list(plot_figure *f, plot_panel *p, const plot_source *s, const char *label,
                     const json_t *list, int from) {
    plot_series *line = plot_add_series(f, p, s->name ? s->name : label, PLOT_LINESPOINTS, -1);
    for (size_t k = 0; k < json_array_size(list); k++) {
        const json_t *e = json_array_get(list, k);
        double y = json_is_array(e) ? hypot(plot_value(json_array_get(e, 0)),
                                            json_array_size(e) > 1 ? plot_value(json_array_get(e, 1)) : 0)
                                    : plot_value(e);
        plot_add_point(f, line, (double)k + from, y, NAN, NAN);
    }
}

/* Adds the fitted line k^-exponent over the first half of the values, as far as they exceed 1e-12 of the
 * largest value. Smaller values are rounding errors and must not extend the axis. */
static void add_decay(plot_figure *f, plot_panel *p, const json_t *values, double exponent) {
    size_t n = json_array_size(values), count = 0;
    double first = plot_value(json_array_get(values, 0)), mean = 0;
    for (; count < (n + 1) / 2; count++) {
        double y = plot_value(json_array_get(values, count));
        if (!(y > 1e-12 * first)) break;
        mean += log(y) + exponent * log((double)count + 1);
    }
    if (!count || !isfinite(exponent)) return;
    plot_series *line = plot_add_series(f, p, "fitted", PLOT_DASHED, PLOT_BLACK);
    for (size_t k = 1; k <= count; k = 2 * k < count || k == count ? 2 * k : count)
        plot_add_point(f, line, (double)k, exp(mean / (double)count - exponent * log((double)k)), NAN, NAN);
    double least = first;
    for (size_t k = 0; k < n; k++) {
        double y = plot_value(json_array_get(values, k));
        if (y > 1e-14 * first) least = fmin(least, y);
    }
    if (p) p->y.low = isfinite(p->y.low) ? fmin(p->y.low, least / 2) : least / 2;
}

/* Returns the scale for all parts of the error, which is logarithmic if the whole error spans decades. */
static plot_scale error_scale(const plot_source *s, size_t count) {
    double least = INFINITY, most = 0;
    for (size_t k = 0; k < count; k++) {
        size_t i;
        const json_t *e;
        json_array_foreach(json_object_get(s[k].json, "points"), i, e) {
            double y = plot_number(e, "error_noise_free") + plot_number(e, "error_noise");
            if (y > 0) least = fmin(least, y), most = fmax(most, y);
        }
    }
    return most >= 30 * least ? PLOT_LOG : PLOT_LINEAR;
}

static void errors_panel(plot_figure *f, const plot_source *s, size_t count) {
    plot_panel *p = plot_add_panel(f, NULL, "modes learned, p", "expected squared error");
    if (p) p->y.scale = error_scale(s, count);
    for (size_t k = 0; k < count; k++) {
        int color = plot_color(k);
        add_curve(f, p, &s[k], count > 1 ? NULL : "error", "error_noise_free", "error_noise", NULL, PLOT_LINE,
                  color);
        add_curve(f, p, &s[k], "measured, ± std. error", "empirical", NULL, "empirical_stderr", PLOT_POINTS,
                  color);
        if (count > 1) continue; /* for several results, the parts of the error would give too many curves */
        add_curve(f, p, &s[k], "without noise", "error_noise_free", NULL, NULL, PLOT_LINE, plot_color(1));
        add_curve(f, p, &s[k], "of the noise", "error_noise", NULL, NULL, PLOT_LINE, plot_color(2));
    }
    double N = plot_number(s->json, "grid");
    for (size_t k = 1; k < count; k++)
        if (plot_number(s[k].json, "grid") != N) N = NAN;
    plot_add_mark(f, p, 'x', N, "p = N");
}

/* Adds panels with the coefficients of a single fit, or with the errors of several fits. */
static void fit_panels(plot_figure *f, const plot_source *s, size_t count, int several) {
    plot_panel *p = several ? plot_add_panel(f, "residual", "modes learned, p", "residual (rms)")
                            : plot_add_panel(f, "coefficients", "mode k", "|θ_{k}|");
    int expected = 0;
    for (size_t k = 0; k < count; k++) {
        const json_t *first = json_array_get(json_object_get(s[k].json, "points"), 0);
        if (several)
            add_curve(f, p, &s[k], NULL, "residual", NULL, NULL, PLOT_LINESPOINTS, -1);
        else
            add_list(f, p, &s[k], NULL, json_object_get(first, "theta"), 0);
        expected |= isfinite(plot_number(first, "error_noise_free"));
    }
    if (several && expected) errors_panel(f, s, count);
}

static void features_panels(plot_figure *f, const plot_source *s, size_t count, int several) {
    plot_panel *p = plot_add_panel(f, "singular values", "index k", "singular value");
    int expected = 0;
    for (size_t k = 0; k < count; k++) {
        const json_t *points = json_object_get(s[k].json, "points");
        const json_t *last = json_array_get(points, json_array_size(points) - 1);
        add_list(f, p, &s[k], NULL, json_object_get(last, "singular_values"), 1);
        expected |= isfinite(plot_number(last, "error_noise_free"));
    }
    if (!several) return;
    p = plot_add_panel(f, "residual", "features learned, p", "residual (rms)");
    for (size_t k = 0; k < count; k++)
        add_curve(f, p, &s[k], NULL, "residual", NULL, NULL, PLOT_LINESPOINTS, -1);
    if (expected) errors_panel(f, s, count);
}

static double expected_error(const json_t *point) {
    const double whole = plot_number(point, "error");
    return isfinite(whole) ? whole
                           : plot_number(point, "error_noise_free") + plot_number(point, "error_noise");
}

/* If the result has several points, begins the title with the least expected error and its p. */
static void lead(plot_figure *f, const json_t *points) {
    size_t i;
    const json_t *e, *best = NULL;
    json_array_foreach(points, i, e) {
        const double y = expected_error(e);
        if (isfinite(y) && (!best || y < expected_error(best))) best = e;
    }
    if (best && json_array_size(points) > 1)
        plot_lead(f, "least error %.3g at p = %.0f", expected_error(best), plot_number(best, "p"));
}

/* Returns the verb of kspec wls that made the result, by the keys of the result. A result of select has
 * the points of theory and more keys, and a curve has the key "choices". */
static const char *mode_of(const plot_source *s) {
    const char *mode = plot_word(s->json, "mode", "theory");
    if (json_object_get(s->json, "choices")) return "fit (a curve)";
    return strcmp(mode, "select") == 0 ? "theory" : mode;
}

int plot_wls(plot_figure *f, const plot_source *s, size_t count) {
    const char *mode = mode_of(s);
    int decay = strcmp(mode, "decay") == 0, curve = strcmp(mode, "fit (a curve)") == 0, several = 0;
    for (size_t k = 0; k < count; k++) {
        const char *other = mode_of(&s[k]);
        if (strcmp(mode, other) != 0)
            return plot_unfit(&s[k],
                              "a result of kspec wls %s cannot share a picture with one of kspec wls %s",
                              other, mode);
        const json_t *list = curve ? s[k].json : plot_list(&s[k], decay ? "singular_values" : "points");
        if (!list) return plot_refused(&s[k]);
        several |= json_array_size(list) > 1;
    }
    if (curve) return plot_wls_curve(f, s, count);
    if (decay) {
        plot_panel *p = plot_add_panel(f, NULL, "index k", "singular value of the kernel matrix");
        if (p) p->x.scale = p->y.scale = PLOT_LOG;
        for (size_t k = 0; k < count; k++) {
            const json_t *values = json_object_get(s[k].json, "singular_values");
            add_list(f, p, &s[k], "singular values", values, 1);
            add_decay(f, p, values, plot_number(s[k].json, "exponent"));
        }
        if (count == 1 && isfinite(plot_number(s->json, "exponent")))
            plot_text(f, &f->title, "%s kernel: singular values like k^{−%.3g}",
                      plot_word(s->json, "kernel", "the"), plot_number(s->json, "exponent"));
        return EXIT_DONE;
    }
    if (strcmp(mode, "fit") == 0) {
        fit_panels(f, s, count, several);
    } else if (strcmp(mode, "features") == 0) {
        features_panels(f, s, count, several);
    } else if (strcmp(mode, "bound") == 0) {
        plot_panel *p = plot_add_panel(f, NULL, "features learned, p", "expected squared error");
        for (size_t k = 0; k < count; k++) {
            add_curve(f, p, &s[k], "error", "error", NULL, NULL, PLOT_LINE, plot_color(k));
            add_curve(f, p, &s[k], "bound", "bound", NULL, NULL, PLOT_DASHED, plot_color(k));
        }
    } else {
        errors_panel(f, s, count);
    }
    if (count == 1 && strcmp(mode, "features") != 0) {
        char noise[40] = "by its spectrum";
        if (!json_object_get(s->json, "noise_spectrum"))
            snprintf(noise, sizeof noise, "%g", plot_number(s->json, "noise"));
        plot_text(f, &f->title, "N = %.0f points, P = %.0f modes, α = %g, β = %g, γ = %g, noise %s",
                  plot_number(s->json, "grid"), plot_number(s->json, "modes"), plot_number(s->json, "alpha"),
                  plot_number(s->json, "beta"), plot_number(s->json, "gamma"), noise);
        lead(f, json_object_get(s->json, "points"));
    }
    return EXIT_DONE;
}
