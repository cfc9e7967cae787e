/* Chooses scales and ranges of a figure's axes and thins long series. Adds a note with the number of
 * values that cannot be drawn. */
#include "plot/plot.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The smallest number that a logarithmic axis shows. Computing tick marks for smaller numbers would
 * underflow in gnuplot. */
static const double TINY = 1e-290;

/* ---- the values of an axis ---- */

typedef struct {
    double *at;
    size_t count, room;
} values;

static void keep(plot_figure *f, values *v, double x) {
    if (!isfinite(x)) return;
    if (v->count == v->room) {
        double *more = realloc(v->at, (v->room = 2 * v->room + 64) * sizeof *more);
        if (!more) {
            f->failed = 1;
            v->room = v->count;
            return;
        }
        v->at = more;
    }
    v->at[v->count++] = x;
}

/* Collects the main values of an axis and, separately, the ends of error bars, which may lie far out. */
static void collect(plot_figure *f, const plot_panel *p, char axis, values *main, values *ends) {
    for (size_t k = 0; k < p->series_count; k++) {
        const plot_series *s = p->series[k];
        int band = s->style == PLOT_BAND;
        for (size_t i = 0; i < s->count; i++) {
            const plot_point *q = &s->at[i];
            int drawn = isfinite(q->x) && (isfinite(q->y) || (isfinite(q->low) && isfinite(q->high)));
            if (!drawn) continue;
            if (axis == 'x') {
                double aside = s->style == PLOT_LEVELS ? 0.36 : fabs(s->shift);
                keep(f, main, q->x);
                keep(f, main, aside > 0 ? q->x - aside : NAN);
                keep(f, main, aside > 0 ? q->x + aside : NAN);
            } else {
                keep(f, main, q->y);
                keep(f, band || !isfinite(q->y) ? main : ends, q->low);
                keep(f, band || !isfinite(q->y) ? main : ends, q->high);
            }
        }
        if (s->style == PLOT_BARS && axis == 'x') keep(f, main, 0);
    }
    for (size_t k = 0; k < p->mark_count; k++)
        if (p->marks[k].axis == axis) keep(f, main, p->marks[k].at);
}

/* ---- scale ---- */

/* Chooses the scale. The axis y is logarithmic if all values are positive and not nearly equal, or if all
 * but a few are positive and span at least two decades. The axis x is logarithmic if all values are
 * positive, span at least two decades and are not evenly spaced like 1 to 256. */
static plot_scale choose(const values *v, char axis) {
    size_t below = 0;
    while (below < v->count && v->at[below] < TINY) below++;
    size_t positive = v->count - below;
    if (positive == 0 || below > (axis == 'x' ? 0 : positive / 4)) return PLOT_LINEAR;
    double least = v->at[below], most = v->at[v->count - 1], median = v->at[below + positive / 2];
    if (most / least < (axis == 'y' && !below ? 3 : 100)) return PLOT_LINEAR;
    return axis == 'x' && median > most / 10 ? PLOT_LINEAR : PLOT_LOG;
}

/* ---- range ---- */

static double scaled(const plot_axis *a, double x) { return a->scale == PLOT_LOG ? log10(x) : x; }
static double unscaled(const plot_axis *a, double x) { return a->scale == PLOT_LOG ? pow(10, x) : x; }
static int shows(const plot_axis *a, double x) { return isfinite(x) && (a->scale != PLOT_LOG || x >= TINY); }

/* Finds the smallest and the largest value that the axis can show on its scale. If the axis can show
 * none, low > high. */
static void extent(const plot_axis *a, const values *v, double *low, double *high) {
    *low = INFINITY, *high = -INFINITY;
    for (size_t i = 0; i < v->count; i++)
        if (shows(a, v->at[i])) {
            *low = fmin(*low, scaled(a, v->at[i]));
            *high = fmax(*high, scaled(a, v->at[i]));
        }
}

/* Chooses the range of an axis. The range contains all values, and the ends of error bars except ends
 * that lie far out. The frame cuts these bars off. */
static void range(plot_axis *a, char axis, const values *v, const values *ends) {
    int log = a->scale == PLOT_LOG;
    double low, high, far_low, far_high;
    extent(a, v, &low, &high);
    extent(a, ends, &far_low, &far_high);
    if (low > high) low = far_low, high = far_high;
    if (low > high) low = 0, high = 1; /* no values */
    double beyond = log ? 1 : fmax(high - low, 0.5 * fabs(high));
    /* an axis without negative values begins at 0, but a point at x = 0 must not lie on the axis y */
    int positive = !log && (axis == 'x' ? low > 0 : low >= 0) && !(far_low < 0);
    low = fmin(low, fmax(far_low, low - beyond));
    high = fmax(high, fmin(far_high, high + beyond));
    if (shows(a, a->low) && scaled(a, a->low) < high) low = scaled(a, a->low);
    if (shows(a, a->high) && scaled(a, a->high) > low) high = scaled(a, a->high);
    /* all values are equal up to rounding */
    double pad = fmax(0.05 * (high - low), log ? 0.1 : 1e-9 * fabs(high));
    if (high == low && !log) pad = high != 0 ? 0.1 * fabs(high) : 1;
    pad = fmax(pad, 1e-300);
    low = positive ? fmax(0, low - pad) : low - pad;
    high += pad;
    if (log) low = fmax(low, log10(TINY));
    int given = shows(a, a->low) && shows(a, a->high) && a->low != a->high;
    double from = given ? fmin(a->low, a->high) : shows(a, a->low) ? a->low : unscaled(a, low);
    double to = given ? fmax(a->low, a->high) : shows(a, a->high) ? a->high : unscaled(a, high);
    /* the user gave one end of the range, which lies beyond all values */
    if (!(from < to)) from = unscaled(a, low), to = unscaled(a, high);
    a->low = from, a->high = to;
}

static void settle_axis(plot_figure *f, plot_panel *p, char axis, plot_scale asked) {
    plot_axis *a = axis == 'x' ? &p->x : &p->y;
    values main = {0}, ends = {0};
    collect(f, p, axis, &main, &ends);
    if (main.count) cli_sort(main.at, main.count);
    if (asked != PLOT_AUTO) a->scale = asked;
    if (a->scale == PLOT_AUTO) a->scale = p->name_count ? PLOT_LINEAR : choose(&main, axis);
    /* The axis stays linear if all values are 0, since 0 has no logarithm. */
    if (a->scale == PLOT_LOG && !(main.count && main.at[main.count - 1] >= TINY)) a->scale = PLOT_LINEAR;
    range(a, axis, &main, &ends);
    if (p->xname_count && axis == 'x') {
        a->scale = PLOT_LINEAR;
        a->low = -0.6, a->high = (double)p->xname_count - 0.4;
    }
    if (p->name_count && axis == 'y') a->low = -0.6, a->high = (double)p->name_count - 0.4;
    free(main.at);
    free(ends.at);
}

/* ---- thinning ---- */

enum { MOST = 2000, PARTS = 300 };

static int below(double x, double least) { return x < least || (isnan(least) && !isnan(x)); }

/* Thins a series. In each of PARTS parts of the axis the function keeps at most 7 points: the first, the
 * last, the smallest y, the largest y, the smallest low, the largest high, and a gap. The picture of the
 * remaining points looks the same as before. */
static void thin(plot_series *s, const plot_axis *x) {
    if (s->count <= MOST) return;
    int ordered = 1;
    for (size_t i = 1; i < s->count && ordered; i++) ordered = s->at[i].x >= s->at[i - 1].x;
    size_t kept = 0;
    double from = scaled(x, x->low), width = (scaled(x, x->high) - from) / PARTS;
    for (size_t i = 0, next; i < s->count; i = next) {
        size_t pick[7] = {i, i, i, i, i, i, i};
        double part = -1;
        for (next = i; next < s->count; next++) {
            const plot_point *q = &s->at[next];
            double place = !ordered         ? floor((double)next * PARTS / (double)s->count)
                           : shows(x, q->x) ? floor((scaled(x, q->x) - from) / width)
                                            : -2;
            if (next == i) part = place;
            if (place != part) break;
            if (below(q->y, s->at[pick[1]].y)) pick[1] = next;
            if (below(-q->y, -s->at[pick[2]].y)) pick[2] = next;
            if (below(q->low, s->at[pick[3]].low)) pick[3] = next;
            if (below(-q->high, -s->at[pick[4]].high)) pick[4] = next;
            if (!isfinite(q->y)) pick[6] = next; /* keeps one missing point, so that a gap remains a gap */
            pick[5] = next;
        }
        for (size_t at = i; at < next; at++) { /* writes the chosen points in order, each once */
            size_t k = 0;
            while (k < 7 && pick[k] != at) k++;
            if (k < 7) s->at[kept++] = s->at[at];
        }
    }
    s->count = kept;
}

/* ---- the whole figure ---- */

/* Adds a note below the panel with the number of values that a logarithmic axis cannot show. */
static void note(plot_figure *f, plot_panel *p) {
    size_t missing[2] = {0, 0};
    for (size_t k = 0; k < p->series_count; k++)
        for (size_t i = 0; i < p->series[k]->count; i++) {
            const plot_point *q = &p->series[k]->at[i];
            missing[0] += isfinite(q->x) && !shows(&p->x, q->x);
            missing[1] += isfinite(q->y) && !shows(&p->y, q->y);
        }
    if (!missing[0] && !missing[1]) return;
    size_t n = missing[0] + missing[1];
    char *before = p->note, text[80];
    snprintf(text, sizeof text, "%zu value%s ≤ 0, not on %s", n, n == 1 ? "" : "s",
             missing[0] && missing[1] ? "these log axes" : "this log axis");
    if (before && strstr(before, text)) return; /* An earlier call has already added this note. */
    p->note = NULL;
    plot_text(f, &p->note, "%s%s%s", before ? before : "", before ? "; " : "", text);
    free(before);
}

/* Names a single series after the panel's title instead of in a legend. */
static void name_alone(plot_figure *f, plot_panel *p) {
    const plot_series *only = NULL;
    for (size_t k = 0; k < p->series_count; k++) {
        if (!p->series[k]->count) continue;
        if (only || !p->series[k]->label) return;
        only = p->series[k];
    }
    for (size_t k = 0; k < p->mark_count; k++)
        if (p->marks[k].label) return;
    char *before = p->title;
    if (!only || (before && strstr(before, only->label))) return;
    p->title = NULL;
    plot_text(f, &p->title, "%s%s%s", before ? before : "", before ? ": " : "", only->label);
    free(before);
}

void plot_settle(plot_figure *f, const plot_look *look) {
    if (look->title) plot_text(f, &f->title, "%s", look->title);
    for (size_t i = 0; i < f->panel_count; i++) {
        plot_panel *p = f->panels[i];
        settle_axis(f, p, 'x', look->x);
        settle_axis(f, p, 'y', p->name_count ? PLOT_LINEAR : look->y);
        note(f, p);
        name_alone(f, p);
        for (size_t k = 0; k < p->series_count; k++) thin(p->series[k], &p->x);
    }
}
