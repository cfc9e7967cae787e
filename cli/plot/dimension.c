/*
 * The dimension against the number of rows: from the parts of the curve, where there is one, and from all
 * with its interval; beside it that of the matrix itself, which climbs.
 */
#include "plot/plot.h"

#include <math.h>

static void add_curve(plot_figure *f, plot_panel *p, const plot_source *s, const char *key,
                      const char *label) {
    char name[256];
    const json_t *curve = json_object_get(s->json, "curve");
    int unbiased = key[0] == 'd';
    double low = plot_number(s->json, "ci_low"), high = plot_number(s->json, "ci_high");
    plot_label(s, label, name, sizeof name);
    plot_series *line = plot_add_series(f, p, name, PLOT_LINESPOINTS, -1);
    /* the last point of the curve is the whole matrix, which has its own keys */
    for (size_t k = 0; k + 1 < json_array_size(curve); k++) {
        const json_t *point = json_array_get(curve, k);
        plot_add_point(f, line, plot_number(point, "rows"), plot_number(point, key), NAN, NAN);
    }
    plot_add_point(f, line, plot_number(s->json, "rows"), plot_number(s->json, key), unbiased ? low : NAN,
                   unbiased ? high : NAN);
}

int plot_dimension(plot_figure *f, const plot_source *s, size_t count) {
    static const char *const keys[] = {"rows", "dimension", "naive", "curve"};
    plot_panel *p = plot_add_panel(f, NULL, "rows", "dimension");
    for (size_t k = 0; k < count; k++) {
        for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
            if (!json_object_get(s[k].json, keys[i]))
                return plot_unfit(&s[k], "missing \"%s\", expected in a kspec dimension result", keys[i]);
        add_curve(f, p, &s[k], "dimension", "unbiased, 95% interval");
        add_curve(f, p, &s[k], "naive", "of the matrix itself");
    }
    plot_shape_title(f, s, count);
    return EXIT_DONE;
}
