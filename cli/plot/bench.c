/* Speeds beside DGEMM, as bars. */
#include "plot/plot.h"

#include <math.h>

int plot_bench(plot_figure *f, const plot_source *s, size_t count) {
    plot_panel *p = plot_add_panel(f, NULL, "multiply-adds per second, in those of DGEMM", NULL);
    size_t bars = 0, most = 0, i;
    const json_t *e;
    for (size_t k = 0; k < count; k++) {
        const json_t *list = plot_list(&s[k], "results");
        if (!list) return plot_refused(&s[k]);
        most += json_array_size(list);
    }
    if (most > 60) return plot_unfit(s, "%zu bars exceed the 60 of one picture", most);
    for (size_t k = 0; k < count; k++) {
        plot_series *line = plot_add_series(f, p, s[k].name, PLOT_BARS, -1);
        json_array_foreach(json_object_get(s[k].json, "results"), i, e) {
            plot_add_point(f, line, plot_number(e, "ratio"), (double)(most - 1 - bars++), NAN, NAN);
        }
    }
    for (size_t k = count; k-- > 0;) { /* from below */
        const json_t *list = json_object_get(s[k].json, "results");
        for (i = json_array_size(list); i-- > 0;)
            plot_add_name(f, p, plot_word(json_array_get(list, i), "name", "?"));
    }
    plot_add_mark(f, p, 'x', 1, "DGEMM");
    if (count == 1)
        plot_text(f, &f->title, "%.0f × %.0f, %s", plot_number(s->json, "rows"), plot_number(s->json, "cols"),
                  plot_word(s->json, "isa", "speed"));
    return EXIT_DONE;
}
