/* Reads and writes a figure as JSON, for programs that draw their own pictures. */
#include "plot/plot.h"

#include <math.h>
#include <string.h>

/* clang-format off */
static const cli_choice styles[] = {
    {"line", PLOT_LINE},     {"points", PLOT_POINTS}, {"linespoints", PLOT_LINESPOINTS},
    {"dashed", PLOT_DASHED}, {"dotted", PLOT_DOTTED}, {"band", PLOT_BAND},
    {"steps", PLOT_STEPS},   {"levels", PLOT_LEVELS}, {"bars", PLOT_BARS},
    {"tiles", PLOT_TILES},   {0},
};
static const cli_choice bars[] = {
    {"interval", PLOT_INTERVAL}, {"spread", PLOT_SPREAD}, {"bound", PLOT_BOUND}, {0},
};
static const cli_choice scales[] = {{"auto", PLOT_AUTO}, {"linear", PLOT_LINEAR}, {"log", PLOT_LOG}, {0}};
/* clang-format on */

static double element(const json_t *list, size_t i) { return plot_value(json_array_get(list, i)); }

static int read_series(plot_figure *f, plot_panel *p, const plot_source *src, const json_t *o, size_t where) {
    const json_t *x = json_object_get(o, "x"), *y = json_object_get(o, "y"), *low = json_object_get(o, "low"),
                 *high = json_object_get(o, "high");
    const char *word = plot_word(o, "style", "linespoints");
    const cli_choice *style = cli_find_choice(styles, word, strlen(word));
    size_t n = json_array_size(x ? x : y);
    char names[200];
    if (!style)
        return plot_unfit(src, "series %zu: \"style\" '%s' must be one of %s", where, word,
                          cli_choice_list(styles, names, sizeof names));
    const char *bar = plot_word(o, "bars", "interval");
    const cli_choice *kind = cli_find_choice(bars, bar, strlen(bar));
    if (!kind)
        return plot_unfit(src, "series %zu: \"bars\" '%s' must be one of %s", where, bar,
                          cli_choice_list(bars, names, sizeof names));
    int band = style->value == PLOT_BAND;
    const struct {
        const char *key;
        const json_t *list;
    } lists[] = {{"x", x}, {"y", y}, {"low", low}, {"high", high}};
    for (size_t k = 0; k < 4; k++) {
        if (!lists[k].list && (k == 0 || k >= 2 || band)) continue;
        if (!json_is_array(lists[k].list))
            return plot_unfit(src, "series %zu: \"%s\" is %s", where, lists[k].key,
                              lists[k].list ? "not a list" : "missing");
        if (json_array_size(lists[k].list) != n)
            return plot_unfit(src, "series %zu: \"%s\" has %zu values, \"%s\" %zu", where, lists[k].key,
                              json_array_size(lists[k].list), x ? "x" : "y", n);
    }
    if (!low != !high)
        return plot_unfit(src, "series %zu: \"%s\" without \"%s\"", where, low ? "low" : "high",
                          low ? "high" : "low");
    if (band && !low) return plot_unfit(src, "series %zu: a band needs \"low\" and \"high\"", where);
    const json_t *color = json_object_get(o, "color");
    if (color && !json_is_null(color) &&
        !(json_is_integer(color) && json_integer_value(color) >= 0 &&
          json_integer_value(color) < PLOT_COLORS))
        return plot_unfit(src, "series %zu: \"color\" is not a whole number from 0 to %d", where,
                          PLOT_COLORS - 1);
    plot_series *s =
        plot_add_series(f, p, json_string_value(json_object_get(o, "label")), (plot_style)style->value,
                        json_is_integer(color) ? (int)json_integer_value(color) : -1);
    double shift = plot_number(o, "shift");
    if (s && isfinite(shift)) s->shift = shift;
    if (s) s->bars = (plot_bars)kind->value;
    for (size_t i = 0; i < n; i++)
        plot_add_point(f, s, x ? element(x, i) : (double)(i + 1), element(y, i), element(low, i),
                       element(high, i));
    return EXIT_DONE;
}

static int read_axis(plot_axis *a, const plot_source *src, const json_t *o, const char *scale,
                     const char *range) {
    const char *word = plot_word(o, scale, "auto");
    const json_t *ends = json_object_get(o, range);
    const cli_choice *which = cli_find_choice(scales, word, strlen(word));
    if (!which) return plot_unfit(src, "\"%s\" '%s' must be one of auto, linear, log", scale, word);
    a->scale = (plot_scale)which->value;
    if (ends && !json_is_null(ends) && json_array_size(ends) != 2)
        return plot_unfit(src, "\"%s\" is not a pair of numbers", range);
    a->low = element(ends, 0), a->high = element(ends, 1);
    return EXIT_DONE;
}

static int read_panel(plot_figure *f, const plot_source *src, const json_t *o) {
    const json_t *series = json_object_get(o, "series"), *marks = json_object_get(o, "marks"), *entry;
    size_t i;
    if (!json_is_array(series)) return plot_unfit(src, "missing list \"series\" in a panel");
    plot_panel *p = plot_add_panel(f, json_string_value(json_object_get(o, "title")),
                                   plot_word(o, "xlabel", NULL), plot_word(o, "ylabel", NULL));
    if (!p) return EXIT_DONE; /* plot_add_panel() has then set `failed`, which the caller checks at the end */
    if (plot_word(o, "note", NULL)) plot_text(f, &p->note, "%s", plot_word(o, "note", ""));
    int status = read_axis(&p->x, src, o, "xscale", "xrange");
    if (!status) status = read_axis(&p->y, src, o, "yscale", "yrange");
    if (status) return status;
    json_array_foreach(series, i, entry) if ((status = read_series(f, p, src, entry, i + 1))) return status;
    json_array_foreach(json_object_get(o, "names"), i, entry) {
        plot_add_name(f, p, json_string_value(entry));
    }
    json_array_foreach(json_object_get(o, "xnames"), i, entry) {
        plot_add_xname(f, p, json_string_value(entry));
    }
    json_array_foreach(marks, i, entry) {
        const char *axis = plot_word(entry, "axis", "");
        if ((strcmp(axis, "x") != 0 && strcmp(axis, "y") != 0) || !isfinite(plot_number(entry, "at")))
            return plot_unfit(src, "mark %zu needs \"axis\", x or y, and a number \"at\"", i + 1);
        plot_add_mark(f, p, axis[0], plot_number(entry, "at"), plot_word(entry, "label", NULL));
    }
    return EXIT_DONE;
}

int plot_figure_json(plot_figure *f, const plot_source *s, size_t count) {
    for (size_t k = 0; k < count; k++) {
        const json_t *panels = plot_list(&s[k], "panels"), *entry;
        size_t i;
        if (!panels) return EXIT_INPUT;
        if (k == 0 && plot_word(s->json, "title", NULL))
            plot_text(f, &f->title, "%s", plot_word(s->json, "title", ""));
        double columns = plot_number(s[k].json, "columns");
        if (count == 1 && columns >= 1 && columns <= 64) f->columns = (size_t)columns;
        json_array_foreach(panels, i, entry) {
            int status = read_panel(f, &s[k], entry);
            if (status) return status;
        }
    }
    return EXIT_DONE;
}

/* ---- writing ---- */

static void set_text(json_t *o, const char *key, const char *text) {
    if (text) json_object_set_new(o, key, cli_string(text));
}

static void set_column(json_t *o, const char *key, const plot_series *s, size_t offset) {
    json_t *list = json_array();
    int any =
        offset == offsetof(plot_point, x) || (offset == offsetof(plot_point, y) && s->style != PLOT_BAND);
    for (size_t i = 0; i < s->count; i++) {
        double v = *(const double *)(const void *)((const char *)&s->at[i] + offset);
        any |= isfinite(v);
        json_array_append_new(list, cli_real(v));
    }
    if (any) json_object_set(o, key, list);
    json_decref(list);
}

static json_t *series_json(const plot_series *s) {
    json_t *o = json_object();
    set_text(o, "label", s->label);
    set_column(o, "x", s, offsetof(plot_point, x));
    set_column(o, "y", s, offsetof(plot_point, y));
    set_column(o, "low", s, offsetof(plot_point, low));
    set_column(o, "high", s, offsetof(plot_point, high));
    json_object_set_new(o, "style", json_string(cli_choice_name(styles, s->style)));
    if (s->color >= 0) json_object_set_new(o, "color", json_integer(s->color));
    if (s->shift != 0) json_object_set_new(o, "shift", cli_real(s->shift));
    if (s->bars != PLOT_INTERVAL) json_object_set_new(o, "bars", json_string(cli_choice_name(bars, s->bars)));
    return o;
}

static void axis_json(json_t *o, const plot_axis *a, const char *label, const char *scale,
                      const char *range) {
    set_text(o, label, a->label);
    json_object_set_new(o, scale, json_string(cli_choice_name(scales, a->scale)));
    json_object_set_new(o, range, json_pack("[o, o]", cli_real(a->low), cli_real(a->high)));
}

static void set_names(json_t *o, const char *key, char *const *names, size_t count) {
    json_t *list = json_array();
    for (size_t k = 0; k < count; k++) json_array_append_new(list, cli_string(names[k]));
    if (count) json_object_set(o, key, list);
    json_decref(list);
}

json_t *plot_to_json(const plot_figure *f) {
    json_t *panels = json_array(), *o = json_pack("{s:s}", "command", "figure");
    set_text(o, "title", f->title);
    if (f->columns) json_object_set_new(o, "columns", json_integer((json_int_t)f->columns));
    for (size_t i = 0; i < f->panel_count; i++) {
        const plot_panel *p = f->panels[i];
        json_t *panel = json_object(), *series = json_array(), *marks = json_array();
        set_text(panel, "title", p->title);
        set_text(panel, "note", p->note);
        axis_json(panel, &p->x, "xlabel", "xscale", "xrange");
        axis_json(panel, &p->y, "ylabel", "yscale", "yrange");
        for (size_t k = 0; k < p->series_count; k++) json_array_append_new(series, series_json(p->series[k]));
        for (size_t k = 0; k < p->mark_count; k++) {
            json_t *mark =
                json_pack("{s:s#, s:o}", "axis", &p->marks[k].axis, 1, "at", cli_real(p->marks[k].at));
            set_text(mark, "label", p->marks[k].label);
            json_array_append_new(marks, mark);
        }
        json_object_set_new(panel, "series", series);
        set_names(panel, "names", p->names, p->name_count);
        set_names(panel, "xnames", p->xnames, p->xname_count);
        if (json_array_size(marks)) json_object_set(panel, "marks", marks);
        json_decref(marks);
        json_array_append_new(panels, panel);
    }
    json_object_set_new(o, "panels", panels);
    return o;
}
