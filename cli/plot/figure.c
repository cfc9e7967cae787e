/* Builds figures: adds their parts, reads numbers from results, and frees figures. */
#include "plot/plot.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* Makes room for one more entry in a list of `count`. If memory runs out, the function returns NULL and
 * marks the figure as failed. */
static void *grow(plot_figure *f, void *list, size_t count, size_t size) {
    void *more = (count & (count - 1)) == 0 ? realloc(list, (count ? 2 * count : 1) * size) : list;
    if (!more) f->failed = 1;
    return more;
}

static char *copy(plot_figure *f, const char *text) {
    char *s = text ? strdup(text) : NULL;
    if (text && !s) f->failed = 1;
    return s;
}

plot_panel *plot_add_panel(plot_figure *f, const char *title, const char *xlabel, const char *ylabel) {
    plot_panel **list = grow(f, f->panels, f->panel_count, sizeof(plot_panel *)), *p = NULL;
    if (list) f->panels = list, p = calloc(1, sizeof *p);
    if (!p) {
        f->failed = 1;
        return NULL;
    }
    f->panels[f->panel_count++] = p;
    p->title = copy(f, title);
    p->x = (plot_axis){copy(f, xlabel), PLOT_AUTO, NAN, NAN};
    p->y = (plot_axis){copy(f, ylabel), PLOT_AUTO, NAN, NAN};
    return p;
}

plot_series *plot_add_series(plot_figure *f, plot_panel *p, const char *label, plot_style style, int color) {
    if (!p) return NULL;
    plot_series **list = grow(f, p->series, p->series_count, sizeof(plot_series *)), *s = NULL;
    if (list) p->series = list, s = calloc(1, sizeof *s);
    if (!s) {
        f->failed = 1;
        return NULL;
    }
    p->series[p->series_count++] = s;
    s->label = copy(f, label);
    s->style = style;
    s->color = color;
    return s;
}

void plot_add_point(plot_figure *f, plot_series *s, double x, double y, double low, double high) {
    if (!s) return;
    plot_point *list = grow(f, s->at, s->count, sizeof *list);
    if (!list) return;
    s->at = list;
    s->at[s->count++] = (plot_point){x, y, low, high};
    s->all = s->count;
}

void plot_add_mark(plot_figure *f, plot_panel *p, char axis, double at, const char *label) {
    if (!p || !isfinite(at)) return;
    plot_mark *list = grow(f, p->marks, p->mark_count, sizeof *list);
    if (!list) return;
    p->marks = list;
    p->marks[p->mark_count++] = (plot_mark){axis, at, copy(f, label)};
}

static void add_name(plot_figure *f, char ***names, size_t *count, const char *name) {
    char **list = grow(f, *names, *count, sizeof *list);
    if (!list) return;
    *names = list;
    list[(*count)++] = copy(f, name ? name : "");
}

void plot_add_name(plot_figure *f, plot_panel *p, const char *name) {
    if (p) add_name(f, &p->names, &p->name_count, name);
}

void plot_add_xname(plot_figure *f, plot_panel *p, const char *name) {
    if (p) add_name(f, &p->xnames, &p->xname_count, name);
}

void plot_set_aside(plot_series *a, plot_series *b) {
    if (a) a->shift = -0.06;
    if (b) b->shift = 0.06;
}

void plot_text(plot_figure *f, char **to, const char *fmt, ...) {
    char text[512];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    free(*to);
    *to = copy(f, text);
}

void plot_free(plot_figure *f) {
    for (size_t i = 0; i < f->panel_count; i++) {
        plot_panel *p = f->panels[i];
        for (size_t k = 0; k < p->series_count; k++) {
            free(p->series[k]->label);
            free(p->series[k]->at);
            free(p->series[k]);
        }
        for (size_t k = 0; k < p->mark_count; k++) free(p->marks[k].label);
        for (size_t k = 0; k < p->name_count; k++) free(p->names[k]);
        free(p->series);
        free(p->marks);
        for (size_t k = 0; k < p->xname_count; k++) free(p->xnames[k]);
        free((void *)p->names);
        free((void *)p->xnames);
        free(p->title);
        free(p->note);
        free(p->x.label);
        free(p->y.label);
        free(p);
    }
    free(f->panels);
    free(f->title);
    *f = (plot_figure){0};
}

/* ---- reading results ---- */

int plot_unfit(const plot_source *s, const char *fmt, ...) {
    char text[512];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    return cli_error(plot_refused(s), "%s: %s", s->path ? s->path : "the result", text);
}

double plot_value(const json_t *number) {
    double x = json_is_number(number) ? json_number_value(number) : NAN;
    return fabs(x) < 1e290 ? x : NAN; /* larger numbers would overflow sums and axes */
}

double plot_number(const json_t *object, const char *key) { return plot_value(json_object_get(object, key)); }

const char *plot_word(const json_t *object, const char *key, const char *otherwise) {
    const char *s = json_string_value(json_object_get(object, key));
    return s ? s : otherwise;
}

const json_t *plot_list(const plot_source *s, const char *key) {
    const json_t *list = json_object_get(s->json, key);
    if (!list)
        plot_unfit(s, "missing \"%s\", expected in a kspec %s result", key, s->command);
    else if (!json_is_array(list))
        plot_unfit(s, "\"%s\" is not a list", key);
    else if (json_array_size(list) == 0)
        plot_unfit(s, "\"%s\" is empty", key);
    else
        return list;
    return NULL;
}

void plot_label(const plot_source *s, const char *label, char *to, size_t size) {
    snprintf(to, size, "%s%s%s", s->name ? s->name : "", s->name && label ? ": " : "", label ? label : "");
}

static const char *plural(double count) { return count == 1 ? "" : "s"; }

void plot_shape_title(plot_figure *f, const plot_source *s, size_t count) {
    const json_t *only = NULL;
    for (size_t k = 0; k < count; k++)
        if (strcmp(s[k].command, "theory") != 0 && strcmp(s[k].command, "generate") != 0) {
            if (only) return; /* with several results, the legend names them and the title stays empty */
            only = s[k].json;
        }
    double rows = plot_number(only, "rows"), cols = plot_number(only, "cols"),
           trials = plot_number(only, "trials");
    if (!isfinite(rows) || !isfinite(cols)) return;
    const json_t *in = json_object_get(only, "input"), *each = json_object_get(in, "row_trials");
    const char *path = plot_word(in, "path", ""), *slash = strrchr(path, '/');
    char name[64] = "", repeats[64] = "";
    if (slash) path = slash + 1;
    if (*path && strcmp(path, "-") != 0) snprintf(name, sizeof name, "%.50s: ", path);
    if (each)
        snprintf(repeats, sizeof repeats, "%.0f to %.0f trials × ", plot_value(json_array_get(each, 0)),
                 plot_value(json_array_get(each, 1)));
    else if (trials > 1)
        snprintf(repeats, sizeof repeats, "%.0f trials × ", trials);
    plot_text(f, &f->title, "%s%s%.0f row%s × %.0f column%s%s", name, repeats, rows, plural(rows), cols,
              plural(cols), json_is_true(json_object_get(in, "centered")) ? ", centred" : "");
}

const char *plot_interval(plot_words *to, double x, double low, double high) {
    const cli_interval in = cli_round_interval(x, low, high);
    snprintf(to->text, sizeof to->text, isfinite(low) && isfinite(high) ? "%s (95%%: %s … %s)" : "%s",
             in.value.text, in.low.text, in.high.text);
    return to->text;
}

void plot_lead(plot_figure *f, const char *fmt, ...) {
    char answer[600], *rest = f->title;
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(answer, sizeof answer, fmt, ap);
    va_end(ap);
    f->title = NULL;
    plot_text(f, &f->title, "%s%s%s", answer, rest ? "; " : "", rest ? rest : "");
    free(rest);
}

void plot_share_y(plot_panel *const *panels, size_t count) {
    double low = INFINITY, high = -INFINITY;
    for (size_t r = 0; r < count; r++)
        for (size_t k = 0; panels[r] && k < panels[r]->series_count; k++)
            for (size_t i = 0; i < panels[r]->series[k]->count; i++) {
                const plot_point *q = &panels[r]->series[k]->at[i];
                if (!isfinite(q->y)) continue;
                low = fmin(low, q->low > 0 || q->y <= 0 ? fmin(q->y, q->low) : q->y);
                high = fmax(high, fmax(q->y, q->high));
            }
    int decades = low > 0 && high >= 3 * low;
    double margin = decades ? pow(high / low, 0.05) : 0.05 * (high - low);
    for (size_t r = 0; r < count && low < high; r++)
        if (panels[r]) {
            panels[r]->y.scale = decades ? PLOT_LOG : PLOT_LINEAR;
            panels[r]->y.low = decades ? low / margin : low - margin;
            panels[r]->y.high = decades ? high * margin : high + margin;
        }
}

const char *plot_nice(double x, char *to) {
    char text[32];
    int small = x != 0 && (fabs(x) < 0.01 || fabs(x) >= 1e6);
    snprintf(text, sizeof text, small ? "%.2e" : "%.6g", x);
    char *e = small ? strchr(text, 'e') : NULL;
    if (!e) return strcpy(to, text);
    *e = 0;
    double mantissa = atof(text);
    if (mantissa == 1)
        sprintf(to, "10^{%s%d}", e[1] == '-' ? "−" : "", atoi(e + 2) % 1000);
    else
        sprintf(to, "%.3g×10^{%s%d}", mantissa, e[1] == '-' ? "−" : "", atoi(e + 2) % 1000);
    return to;
}
