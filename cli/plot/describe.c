/* Describes a figure in words, for readers who cannot see it and for titles under the pointer. */
#include "plot/describe.h"
#include "plot/page.h"

#include <math.h>

/* FEW is the largest number of points that are described one by one. Points of a series longer than MOST
 * have no titles. */
enum { FEW = 12, MOST = 200 };

static void put_point(FILE *to, const plot_point *q) {
    fprintf(to, "%.4g at %.4g", q->y, q->x);
    if (isfinite(q->low) && isfinite(q->high)) fprintf(to, " (%.3g to %.3g)", q->low, q->high);
}

/* ---- the whole figure ---- */

static void describe_series(FILE *to, const plot_panel *p, const plot_series *s) {
    double least = INFINITY, most = -INFINITY;
    size_t count = 0;
    for (size_t i = 0; i < s->count; i++) {
        if (!isfinite(s->at[i].x) || !isfinite(s->at[i].y)) continue;
        least = fmin(least, s->at[i].y), most = fmax(most, s->at[i].y);
        count++;
    }
    if (!count) return;
    fputc(' ', to);
    page_plain(to, s->label ? s->label : p->series_count > 1 ? "Without a name" : "Values");
    if (count > FEW || p->name_count || p->xname_count) {
        fprintf(to, ": %zu point%s, %.4g to %.4g.", count, cli_s(count), least, most);
        return;
    }
    const char *before = ": ";
    for (size_t i = 0; i < s->count; i++) {
        if (!isfinite(s->at[i].x) || !isfinite(s->at[i].y)) continue;
        fputs(before, to);
        put_point(to, &s->at[i]);
        before = ", ";
    }
    fputc('.', to);
}

void plot_describe(FILE *to, const plot_figure *f) {
    for (size_t k = 0; k < f->panel_count; k++) {
        const plot_panel *p = f->panels[k];
        if (k) fputc(' ', to);
        if (p->title) page_plain(to, p->title), fputs(": ", to);
        page_plain(to, p->y.label ? p->y.label : "values");
        fputs(" against ", to);
        page_plain(to, p->x.label ? p->x.label : "index");
        fputc('.', to);
        for (size_t i = 0; i < p->series_count; i++) describe_series(to, p, p->series[i]);
        for (size_t i = 0; i < p->mark_count; i++) {
            fputs(" A line at ", to);
            fprintf(to, "%.4g", p->marks[i].at);
            if (p->marks[i].label) fputs(": ", to), page_plain(to, p->marks[i].label);
            fputc('.', to);
        }
        if (p->note) fputc(' ', to), page_plain(to, p->note), fputc('.', to);
    }
}

/* ---- a place ---- */

/* Returns the position of x on an axis: 0 at the low end, 1 at the high end. */
static double along(const plot_axis *a, double x) {
    if (a->scale != PLOT_LOG) return (x - a->low) / (a->high - a->low);
    return x > 0 ? log(x / a->low) / log(a->high / a->low) : NAN;
}

/* Returns 1 if a mark in the picture shows this point. gnuplot does not name the points, so the function
 * compares places, which gnuplot writes with two digits. */
static int is_drawn(const plot_panel *p, const plot_series *s, const plot_point *q, const plot_layout *l,
                    const plot_place *frame, double x, double y) {
    static const double NEAR = 0.3;
    double u = frame->left + along(&p->x, q->x + s->shift) * (frame->right - frame->left),
           v = frame->bottom + along(&p->y, q->y) * (frame->top - frame->bottom);
    return fabs(u * round(l->width) - x) < NEAR && fabs((1 - v) * round(l->height) - y) < NEAR;
}

int plot_describe_place(FILE *to, const plot_figure *f, const plot_layout *l, double x, double y,
                        const char *before) {
    int found = 0;
    for (size_t i = 0; i < f->panel_count; i++)
        for (size_t k = 0; k < f->panels[i]->series_count; k++) {
            const plot_panel *p = f->panels[i];
            const plot_series *s = p->series[k];
            for (size_t j = 0; j < s->count && s->count <= MOST; j++) {
                if (!is_drawn(p, s, &s->at[j], l, &l->places[i], x, y)) continue;
                fputs(found++ ? "; " : before, to);
                if (s->label) page_plain(to, s->label), fputs(": ", to);
                put_point(to, &s->at[j]);
            }
        }
    return found;
}
