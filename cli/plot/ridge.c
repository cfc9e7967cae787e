/* Draws the errors of ridge regression on random features: predicted curves, measured points with their
 * spread, and the predicted error of the kernel itself. One row of panels shows these errors against
 * lambda for each N, another against N/n for each lambda. Training and test errors have panels side by
 * side. */
#include "plot/plot.h"

#include <math.h>
#include <stdlib.h>

/* The largest number of curves in a panel. */
enum { CURVES = 7 };

typedef struct {
    double *at;
    size_t count;
} values;

/* Lists the different values of a key in all points, in increasing order. */
static int distinct(const json_t *points, const char *key, values *v) {
    size_t n = json_array_size(points), kept = 0;
    v->count = 0;
    v->at = malloc((n + 1) * sizeof *v->at);
    if (!v->at) return cli_error(EXIT_FAILED, "out of memory for the picture");
    for (size_t i = 0; i < n; i++) {
        double x = plot_number(json_array_get(points, i), key);
        if (isfinite(x)) v->at[v->count++] = x;
    }
    cli_sort(v->at, v->count);
    for (size_t i = 0; i < v->count; i++)
        if (i == 0 || v->at[i] != v->at[kept - 1]) v->at[kept++] = v->at[i];
    v->count = kept;
    return EXIT_DONE;
}

/* Returns the point whose key `of` has the given value and whose other key has the value x. */
static const json_t *find(const json_t *points, const char *of, double value, const char *x_key, double x) {
    size_t i;
    const json_t *e;
    json_array_foreach(points, i, e) if (plot_number(e, of) == value && plot_number(e, x_key) == x) return e;
    return NULL;
}

/* A view of the errors: the key of the horizontal axis, the key of the parameter that distinguishes the
 * curves, and the letter of this parameter. */
typedef struct {
    const char *x, *of, *symbol;
} view;

static const view against_lambda = {"lambda", "features", "N"};
static const view against_features = {"features", "lambda", "λ"};

/* Adds the curves of one result to one panel: predicted errors, errors of the kernel itself, and measured
 * errors. */
static void add_curves(plot_figure *f, plot_panel *p, const plot_source *s, const view *v, const values *xs,
                       const values *of, double per, const char *which, size_t first_color) {
    const json_t *points = json_object_get(s->json, "points");
    char key[40], sd_key[40], nice[40], text[80], label[256];
    const char *const forms[] = {"%s_mse", "kernel_%s_mse", "empirical_%s_mse"};
    snprintf(sd_key, sizeof sd_key, "empirical_%s_sd", which);
    size_t shown = of->count < CURVES ? of->count : CURVES;
    for (size_t c = 0; c < shown; c++) {
        double value = of->at[shown > 1 ? c * (of->count - 1) / (shown - 1) : 0];
        int color = plot_color(first_color + c);
        snprintf(text, sizeof text, "%s = %s", v->symbol, plot_nice(value, nice));
        plot_label(s, text, label, sizeof label);
        for (int form = 0; form < 3; form++) {
            plot_series *line = NULL;
            if (form == 1 && c + 1 < shown) continue; /* one line for the kernel itself is enough */
            snprintf(key, sizeof key, forms[form], which);
            for (size_t i = 0; i < xs->count; i++) {
                const json_t *e = find(points, v->of, value, v->x, xs->at[i]);
                double y = plot_number(e, key), sd = NAN;
                if (!isfinite(y) && !(form == 0 && e)) continue; /* a prediction that diverges leaves a gap */
                if (!line)
                    line = plot_add_series(f, p, form ? NULL : label,
                                           form == 0   ? PLOT_LINE
                                           : form == 1 ? PLOT_DOTTED
                                                       : PLOT_POINTS,
                                           form == 1 ? PLOT_BLACK : color);
                if (form == 2) sd = plot_number(e, sd_key);
                plot_add_point(f, line, xs->at[i] / per, y, y - sd, y + sd);
            }
        }
    }
}

/* Adds series without points, whose entries in the legend explain the dotted line and the measured points. */
static void explain(plot_figure *f, plot_panel *p, int measured) {
    plot_add_point(f, plot_add_series(f, p, "kernel alone, for the last curve", PLOT_DOTTED, PLOT_BLACK), NAN,
                   NAN, NAN, NAN);
    if (measured)
        plot_add_point(f, plot_add_series(f, p, "measured, ± SD", PLOT_POINTS, PLOT_BLACK), NAN, NAN, NAN,
                       NAN);
}

static int has(const plot_source *s, size_t count, const char *key) {
    for (size_t k = 0; k < count; k++) {
        size_t i;
        const json_t *e;
        json_array_foreach(json_object_get(s[k].json, "points"), i,
                           e) if (isfinite(plot_number(e, key))) return 1;
    }
    return 0;
}

/* Returns the smallest value that the lines of a panel show, or NaN. */
static double least(const plot_panel *p) {
    double low = NAN;
    for (size_t k = 0; p && k < p->series_count; k++)
        for (size_t i = 0; i < p->series[k]->count; i++)
            if (p->series[k]->at[i].y > 0) low = fmin(low, p->series[k]->at[i].y);
    return low;
}

static int add_row(plot_figure *f, const plot_source *s, size_t count, const view *v) {
    int status = EXIT_DONE,
        measured = has(s, count, "empirical_train_mse") || has(s, count, "empirical_test_mse");
    int by_features = v == &against_features;
    plot_panel *both[2] = {NULL, NULL};
    for (int test = 0; test < 2 && !status; test++) {
        const char *which = test ? "test" : "train";
        if (test && !has(s, count, "test_mse")) break;
        plot_panel *p =
            plot_add_panel(f, test ? "test" : "training", by_features ? "features per row, N/n" : "ridge λ",
                           "mean squared error");
        size_t color = 0;
        for (size_t k = 0; k < count && !status; k++) {
            values xs, of = {0};
            const json_t *points = json_object_get(s[k].json, "points");
            double n = plot_number(s[k].json, "rows"), per = by_features ? n : 1;
            if (!(per > 0)) return plot_unfit(&s[k], "missing \"rows\", expected in a kspec ridge result");
            status = distinct(points, v->x, &xs);
            if (!status) status = distinct(points, v->of, &of);
            if (!status) add_curves(f, p, &s[k], v, &xs, &of, per, which, color);
            if (!status && p && !by_features && xs.count &&
                xs.at[xs.count - 1] >= 100 * xs.at[xs.at[0] == 0 && xs.count > 1])
                p->x.scale = PLOT_LOG; /* the axis of lambda is logarithmic even if one lambda is 0 */
            if (!status && p && of.count > CURVES)
                plot_text(f, &p->note, "curves for %d of %zu values of %s", CURVES, of.count, v->symbol);
            color += of.count < CURVES ? of.count : CURVES;
            free(xs.at);
            free(of.at);
        }
        explain(f, p, measured);
        if (by_features) plot_add_mark(f, p, 'x', 0.5, "2N = n");
        both[test] = p;
    }
    /* training errors close to 0 would flatten the test curves */
    const double apart = 1e4;
    if (!status && !(least(both[0]) * apart < least(both[1]))) plot_share_y(both, 2);
    return status;
}

/* Begins the title with the point of the least predicted test error. */
static void lead(plot_figure *f, const json_t *points) {
    size_t i;
    const json_t *e, *best = NULL;
    char nice[40];
    json_array_foreach(points, i, e) {
        const double y = plot_number(e, "test_mse");
        if (isfinite(y) && (!best || y < plot_number(best, "test_mse"))) best = e;
    }
    if (best)
        plot_lead(f, "least test error %.3g at N = %.0f, λ = %s", plot_number(best, "test_mse"),
                  plot_number(best, "features"), plot_nice(plot_number(best, "lambda"), nice));
}

/* Adds the density of eigenvalues per decade as a curve, in front of the histogram of one draw. */
static int add_density(plot_figure *f, const json_t *d) {
    enum { BINS = 40 };
    const json_t *x = json_object_get(d, "x"), *density = json_object_get(d, "density"),
                 *eigenvalues = json_object_get(d, "eigenvalues");
    const size_t points = json_array_size(x), n = json_array_size(eigenvalues);
    char title[80], nice[40];
    if (!points || !n) return EXIT_DONE;
    snprintf(title, sizeof title, "N = %s: eigenvalues of the Gram matrix",
             plot_nice(plot_number(d, "features"), nice));
    plot_panel *p = plot_add_panel(f, title, "eigenvalue", "share for each factor of 10");
    if (!p) return EXIT_DONE;
    p->x.scale = PLOT_LOG, p->y.scale = PLOT_LINEAR;
    const double low = log10(json_number_value(json_array_get(x, 0))),
                 high = log10(json_number_value(json_array_get(x, points - 1)));
    double bins[BINS] = {0};
    for (size_t i = 0; i < n; i++) {
        const double v = json_number_value(json_array_get(eigenvalues, i));
        const double at = v > 0 ? (log10(v) - low) / (high - low) * BINS : -1;
        if (at >= 0 && at < BINS) bins[(int)at] += BINS / (high - low) / (double)n;
    }
    plot_series *drawn = plot_add_series(f, p, "a draw", PLOT_STEPS, plot_color(1));
    for (int k = 0; k < BINS; k++)
        plot_add_point(f, drawn, pow(10, low + (high - low) * k / BINS), bins[k], NAN, NAN);
    plot_series *line = plot_add_series(f, p, "predicted", PLOT_LINE, plot_color(0));
    for (size_t k = 0; k < points; k++) {
        const double v = json_number_value(json_array_get(x, k));
        plot_add_point(f, line, v, log(10) * v * json_number_value(json_array_get(density, k)), NAN, NAN);
    }
    const double atom = plot_number(d, "atom");
    if (atom > 0) plot_text(f, &p->note, "and a share of %.3g at 0", atom);
    return EXIT_DONE;
}

int plot_ridge(plot_figure *f, const plot_source *s, size_t count) {
    size_t most[2] = {0, 0}; /* the largest number of lambdas, and of N, in a result */
    if (count == 1 && json_object_get(s->json, "curves")) return plot_ridge_advice(f, s);
    for (size_t k = 0; k < count; k++) {
        const json_t *points = plot_list(&s[k], "points");
        if (!points) return plot_refused(&s[k]);
        for (int i = 0; i < 2; i++) {
            values v;
            int status = distinct(points, i ? "features" : "lambda", &v);
            free(v.at);
            if (status) return status;
            if (!v.count)
                return plot_unfit(&s[k], "missing \"%s\" in every point", i ? "features" : "lambda");
            if (v.count > most[i]) most[i] = v.count;
        }
    }
    int status = EXIT_DONE;
    if (most[0] > 1 || most[1] <= 1) status = add_row(f, s, count, &against_lambda);
    if (most[1] > 1 && !status) status = add_row(f, s, count, &against_features);
    const json_t *densities = count == 1 ? json_object_get(s->json, "densities") : NULL;
    for (size_t k = 0; k < json_array_size(densities) && !status; k++)
        status = add_density(f, json_array_get(densities, k));
    f->columns = has(s, count, "test_mse") ? 2 : 1;
    if (count == 1) {
        plot_text(f, &f->title, "%.0f training rows × %.0f columns, σ = %.4g", plot_number(s->json, "rows"),
                  plot_number(s->json, "cols"), plot_number(s->json, "sigma"));
        lead(f, json_object_get(s->json, "points"));
    }
    return status;
}
