/*
 * Draws moments m(n) and their roots m(n)^(1/n) by estimator, with intervals and true values. The true values
 * come from the result itself, or from results of kspec theory and kspec generate, which can also be drawn
 * alone.
 */
#include "plot/plot.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static double signed_root(double m, double n) { return copysign(pow(fabs(m), 1 / n), m); }

/* Adds the true moments to both panels: as level lines behind the estimates, or as points if the figure
 * has no estimates. */
static void add_truth(plot_figure *f, plot_panel *const panels[2], const json_t *moments, const char *label,
                      int alone) {
    for (int roots = 0; roots < 2; roots++) {
        plot_series *s = plot_add_series(f, panels[roots], label, alone ? PLOT_LINESPOINTS : PLOT_LEVELS,
                                         alone ? -1 : PLOT_BLACK);
        for (size_t i = (size_t)roots; i < json_array_size(moments); i++) { /* roots begin at order 2 */
            double n = (double)(i + 1), m = plot_value(json_array_get(moments, i));
            plot_add_point(f, s, n, roots ? signed_root(m, n) : m, NAN, NAN);
        }
    }
}

/* Adds the estimates of one estimator, number `k` of `all`, to both panels. The estimators of one order
 * are drawn side by side. */
static void add_estimator(plot_figure *f, plot_panel *const panels[2], const plot_source *src,
                          const char *name, size_t k, size_t all) {
    char label[256];
    const json_t *list = json_object_get(src->json, "estimates"), *e;
    size_t i;
    plot_label(src, name, label, sizeof label);
    for (int roots = 0; roots < 2; roots++) {
        plot_series *s = plot_add_series(f, panels[roots], label, PLOT_POINTS, -1);
        double step = fmin(0.18, 0.6 / (double)all);
        if (s) s->shift = step * ((double)k - 0.5 * (double)(all - 1));
        json_array_foreach(list, i, e) {
            if (strcmp(plot_word(e, "estimator", ""), name) != 0) continue;
            double n = plot_number(e, "n"), m = plot_number(e, "value"), low = plot_number(e, "ci_low"),
                   high = plot_number(e, "ci_high");
            if (roots && n < 2) continue;
            if (roots) m = signed_root(m, n), low = signed_root(low, n), high = signed_root(high, n);
            plot_add_point(f, s, n, m, low, high);
        }
    }
}

enum { NAMES = 16 };

static void swap(const char **a, const char **b) {
    const char *c = *a;
    *a = *b, *b = c;
}

/*
 * Moves the naive estimator to the second place, so that it has the colour that the biased value has in other
 * pictures.
 */
static void order_names(const char **names, size_t count) {
    if (count > 1 && strcmp(names[0], "naive") == 0) swap(&names[0], &names[1]);
    for (size_t k = 2; k < count; k++)
        if (strcmp(names[k], "naive") == 0)
            for (; k > 1; k--) swap(&names[k], &names[k - 1]);
}

/* Lists the different estimators of a result. */
static int estimators(const plot_source *s, const char *names[NAMES], size_t *count) {
    const json_t *list = plot_list(s, "estimates"), *e;
    size_t i;
    *count = 0;
    if (!list) return plot_refused(s);
    json_array_foreach(list, i, e) {
        const char *name = plot_word(e, "estimator", NULL);
        size_t k = 0;
        if (!name || !isfinite(plot_number(e, "n")))
            return plot_unfit(s, "missing \"estimator\" or \"n\" in estimate %zu", i + 1);
        while (k < *count && strcmp(names[k], name) != 0) k++;
        if (k == NAMES) return plot_unfit(s, "more than %d estimators do not fit into one picture", NAMES);
        if (k == *count) names[(*count)++] = name;
    }
    order_names(names, *count);
    return EXIT_DONE;
}

/* Begins the title with the dimension that follows from m(1) and m(2). */
static void lead(plot_figure *f, const json_t *o) {
    const double naive = plot_number(o, "participation_ratio_naive"),
                 d = plot_number(o, "participation_ratio");
    plot_words text;
    char own[60] = "";
    if (!isfinite(d)) return;
    if (isfinite(naive)) snprintf(own, sizeof own, ", of the matrix itself %.3g", naive);
    plot_lead(f, "dimension %s%s",
              plot_interval(&text, d, plot_number(o, "participation_ratio_ci_low"),
                            plot_number(o, "participation_ratio_ci_high")),
              own);
}

int plot_moments(plot_figure *f, const plot_source *s, size_t count) {
    plot_panel *panels[2] = {plot_add_panel(f, "moments, bars: 95% intervals", "order n", "m(n)"),
                             plot_add_panel(f, "their roots", "order n", "m(n)^{1/n}")};
    const char *names[NAMES];
    size_t all = 0, truths = 0, k = 0, n;
    const json_t *truth = NULL;
    for (size_t i = 0; i < count; i++)
        if (strcmp(s[i].command, "moments") == 0) {
            int status = estimators(&s[i], names, &n);
            if (status) return status;
            all += n;
        } else {
            truths++;
        }
    for (size_t i = 0; i < count; i++) {
        if (strcmp(s[i].command, "moments") == 0) {
            estimators(&s[i], names, &n);
            for (size_t e = 0; e < n; e++) add_estimator(f, panels, &s[i], names[e], k++, all);
            if (!truth && !truths) truth = json_object_get(s[i].json, "truth");
        } else {
            const json_t *moments = plot_list(&s[i], "moments"),
                         *eigenvalues = json_object_get(s[i].json, "eigenvalues");
            if (!moments) return plot_refused(&s[i]);
            add_truth(f, panels, moments,
                      s[i].name    ? s[i].name
                      : truths > 1 ? s[i].command
                                   : "truth",
                      all == 0);
            double norm = plot_value(json_array_get(eigenvalues, 0));
            for (size_t l = 1; l < json_array_size(eigenvalues); l++)
                norm = fmax(norm, plot_value(json_array_get(eigenvalues, l)));
            plot_add_mark(f, panels[1], 'y', norm, "operator norm");
        }
    }
    if (truth) add_truth(f, panels, truth, "truth", 0);
    if (all) plot_shape_title(f, s, count);
    if (all && count == 1)
        lead(f, s->json);
    else if (!all && count == 1)
        plot_text(f, &f->title, "the moments of the kernel: %s, %.0f dimension%s",
                  plot_word(s->json, "process", "known"), plot_number(s->json, "dim"),
                  plot_number(s->json, "dim") == 1 ? "" : "s");
    return EXIT_DONE;
}
