/* Draws each method's norm against its time, with the interval, the spread or the bound as error bars. */
#include "plot/plot.h"

#include <math.h>
#include <string.h>

enum { METHODS = 16 };

/* Returns 1 if two results have the same matrix and kernel. In this case the points of a method form one
 * curve. */
static int same_matrix(const json_t *a, const json_t *b) {
    static const char *const keys[] = {"input", "scaling", "rows", "cols", "kernel", "sigma"};
    for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) {
        const json_t *x = json_object_get(a, keys[k]), *y = json_object_get(b, keys[k]);
        if (x != y && !json_equal(x, y)) return 0;
    }
    return 1;
}

static void add_entry(plot_figure *f, plot_series *s, const json_t *e, int single, int *kinds) {
    double y = plot_number(e, "value"), low = plot_number(e, "ci_low"), high = plot_number(e, "ci_high");
    int kind = PLOT_INTERVAL;
    if (!isfinite(low) || !isfinite(high)) {
        double half = plot_number(e, "spread");
        kind = isfinite(half) ? PLOT_SPREAD : PLOT_BOUND;
        if (!isfinite(half)) half = plot_number(e, "bound");
        low = y - half, high = y + half;
    }
    if (s && isfinite(low)) s->bars = kind, *kinds |= 1 << kind;
    plot_add_point(f, s, single ? 0 : plot_number(e, "seconds"), y, low, high);
}

/* Begins the title with the exact norm if known, otherwise with the first norm that has an interval,
 * otherwise with the first norm. */
static void lead(plot_figure *f, const json_t *list, double exact) {
    size_t i;
    const json_t *e, *best = NULL;
    plot_words text;
    json_array_foreach(list, i, e) if (isfinite(plot_number(e, "ci_low")) && !best) best = e;
    if (!best) best = json_array_get(list, 0);
    if (isfinite(exact))
        plot_lead(f, "spectral norm %.6g", exact);
    else if (best)
        plot_lead(f, "spectral norm %s",
                  plot_interval(&text, plot_number(best, "value"), plot_number(best, "ci_low"),
                                plot_number(best, "ci_high")));
}

int plot_norm(plot_figure *f, const plot_source *s, size_t count) {
    /* 1 if the figure has a single number, which needs no axis of time */
    const int single = count == 1 && json_array_size(json_object_get(s->json, "results")) == 1;
    plot_panel *p = plot_add_panel(f, NULL, single ? NULL : "time in seconds", "spectral norm");
    const char *names[METHODS];
    size_t n = 0, i;
    const json_t *e;
    const plot_source unnamed = {0};
    int same = 1, kinds = 0;
    double exact = NAN;
    if (p && !single) p->x.scale = PLOT_LOG;
    for (size_t k = 0; k < count; k++) {
        const json_t *list = plot_list(&s[k], "results");
        if (!list) return plot_refused(&s[k]);
        same &= same_matrix(s->json, s[k].json);
        json_array_foreach(list, i, e) {
            const char *name = plot_word(e, "method", NULL);
            size_t known = 0;
            if (!name) return plot_unfit(&s[k], "missing \"method\" in result %zu", i + 1);
            while (known < n && strcmp(names[known], name) != 0) known++;
            if (known == METHODS)
                return plot_unfit(&s[k], "more than %d methods do not fit into one picture", METHODS);
            if (known == n) names[n++] = name;
        }
    }
    for (size_t k = 0; k < (same ? 1 : count); k++)
        for (size_t m = 0; m < n; m++) {
            char label[256];
            plot_label(same ? &unnamed : &s[k], names[m], label, sizeof label);
            plot_series *line = NULL;
            for (size_t j = same ? 0 : k; j < (same ? count : k + 1); j++)
                json_array_foreach(json_object_get(s[j].json, "results"), i, e) {
                    if (strcmp(plot_word(e, "method", ""), names[m]) != 0) continue;
                    if (!line) line = plot_add_series(f, p, single ? NULL : label, PLOT_POINTS, -1);
                    add_entry(f, line, e, single, &kinds);
                    int done =
                        strcmp(names[m], "eigen") == 0 ||
                        (strcmp(names[m], "lanczos") == 0 && json_is_true(json_object_get(e, "converged")));
                    if (done && isnan(exact)) exact = plot_number(e, "value");
                }
        }
    static const char *const words[] = {"bar: 95% interval", "bar: spread of draws", "bar: bound"};
    static const plot_style styles[] = {PLOT_LINE, PLOT_DASHED, PLOT_DOTTED};
    for (int k = 0; k < 3;
         k++) /* The following series have no points; they only add entries to the legend. */
        if (kinds & 1 << k)
            plot_add_point(f, plot_add_series(f, p, words[k], styles[k], PLOT_BLACK), NAN, NAN, NAN, NAN);
    if (single) plot_add_xname(f, p, names[0]);
    if (same && !single) plot_add_mark(f, p, 'y', exact, "exact");
    if (same && isfinite(plot_number(s->json, "sigma")))
        plot_text(f, &f->title, "%s kernel of %.0f rows × %.0f columns, σ = %.4g",
                  plot_word(s->json, "kernel", "Gram"), plot_number(s->json, "rows"),
                  plot_number(s->json, "cols"), plot_number(s->json, "sigma"));
    if (count == 1) lead(f, json_object_get(s->json, "results"), exact);
    return EXIT_DONE;
}
