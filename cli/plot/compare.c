/* Draws the result of kspec compare. For several matrices, the picture is a square of tiles, one for each
 * alignment. For two matrices, it shows the alignment with its interval, the biased alignment, and the
 * differences in units of standard errors. */
#include "plot/plot.h"

#include <math.h>
#include <string.h>

/* Adds the alignments of all results side by side, labelled by the rows and, for several results, by the
 * results' names. */
static void add_alignments(plot_figure *f, plot_panel *p, const plot_source *s, size_t count) {
    plot_series *all[2] = {plot_add_series(f, p, "unbiased, 95% interval", PLOT_POINTS, -1),
                           plot_add_series(f, p, "of the matrices themselves", PLOT_POINTS, -1)};
    plot_set_aside(all[0], all[1]);
    for (size_t k = 0; k < count; k++) {
        const json_t *o = s[k].json;
        char name[256];
        plot_add_point(f, all[0], (double)k, plot_number(o, "alignment"), plot_number(o, "alignment_ci_low"),
                       plot_number(o, "alignment_ci_high"));
        plot_add_point(f, all[1], (double)k, plot_number(o, "alignment_biased"), NAN, NAN);
        snprintf(name, sizeof name, "%s%s%.0f rows", s[k].name ? s[k].name : "", s[k].name ? ", " : "",
                 plot_number(o, "rows"));
        plot_add_xname(f, p, name);
    }
}

/* Returns the z whose two-sided p-value is the p of the difference, with the sign of the difference. It
 * may differ from value / stderr, because p may be computed on logarithms. The function solves p = erfc(z
 * / sqrt 2) by bisection. */
static double z_of(const json_t *difference) {
    double p = plot_number(difference, "p"), low = 0, high = 38;
    if (!(p >= 0)) return NAN;
    for (int k = 0; k < 60; k++) {
        double z = (low + high) / 2;
        *(erfc(z / sqrt(2)) > p ? &low : &high) = z;
    }
    return copysign(low, plot_number(difference, "value"));
}

/* Adds a bar for each difference, with the first difference on top and later results further down. */
static size_t add_differences(plot_figure *f, plot_panel *p, const plot_source *s, size_t left) {
    const json_t *e;
    size_t i;
    plot_series *bars = plot_add_series(f, p, s->name, PLOT_BARS, -1);
    json_array_foreach(json_object_get(s->json, "differences"), i, e) {
        double z = z_of(e);
        left--;
        if (isfinite(z)) plot_add_point(f, bars, z, (double)left, NAN, NAN);
    }
    return left;
}

static void add_name(plot_figure *f, plot_panel *p, const json_t *difference) {
    char name[40];
    snprintf(name, sizeof name, "m(%.0f)", plot_number(difference, "n"));
    int moment = strcmp(plot_word(difference, "what", ""), "moment") == 0;
    plot_add_name(f, p, moment ? name : plot_word(difference, "what", "?"));
}

/* ---- several matrices ---- */

/* For two batches, the columns are the matrices of the second batch. */
static int plot_square(plot_figure *f, const plot_source *s) {
    const json_t *labels = plot_list(s, "labels"), *rows = plot_list(s, "alignments");
    const json_t *other = json_object_get(s->json, "other_labels");
    if (!labels || !rows) return plot_refused(s);
    if (!other) other = labels;
    const size_t n = json_array_size(labels), m = json_array_size(other), most = n > m ? n : m;
    if (most > 60) return plot_unfit(s, "%zu matrices exceed the 60 of one picture", most);
    const int two = other != labels;
    plot_panel *p = plot_add_panel(f, s->name, two ? "second batch" : NULL, two ? "first batch" : NULL);
    plot_series *tiles = plot_add_series(f, p, NULL, PLOT_TILES, -1);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < m; k++) {
            double a = plot_value(json_array_get(json_array_get(rows, i), k));
            plot_add_point(f, tiles, (double)k, (double)(n - 1 - i), a, a);
        }
    for (size_t k = 0; k < m; k++) plot_add_xname(f, p, json_string_value(json_array_get(other, k)));
    for (size_t i = 0; i < n; i++) /* from below */
        plot_add_name(f, p, json_string_value(json_array_get(labels, n - 1 - i)));
    if (!f->title) plot_text(f, &f->title, "alignment without bias");
    return EXIT_DONE;
}

static int plot_pairs(plot_figure *f, const plot_source *s, size_t count);

/* Begins the title with the alignment or, without one, with the difference of dimensions. */
static void lead(plot_figure *f, const json_t *o) {
    const double a = plot_number(o, "alignment"), p = plot_number(o, "alignment_p");
    const json_t *list = json_object_get(o, "differences"), *e;
    plot_words text;
    cli_number d;
    size_t i;
    char chance[40] = "";
    if (p >= 0) snprintf(chance, sizeof chance, p < 1e-16 ? ", p < 1e-16" : ", p %.2g", p);
    if (isfinite(a))
        plot_lead(
            f, "alignment %s%s",
            plot_interval(&text, a, plot_number(o, "alignment_ci_low"), plot_number(o, "alignment_ci_high")),
            chance);
    json_array_foreach(list, i, e) {
        const double value = plot_number(e, "value"), error = plot_number(e, "stderr");
        if (isfinite(a) || !isfinite(value) || strcmp(plot_word(e, "what", ""), "dimension") != 0) continue;
        plot_lead(f, "dimensions differ by %s ± %.2g", cli_rounded(&d, value, error), error);
    }
}

/* Begins the title with the two most similar matrices. */
static void lead_square(plot_figure *f, const json_t *labels, const json_t *other, const json_t *rows) {
    size_t at[2] = {0, 0};
    double most = -INFINITY;
    for (size_t i = 0; i < json_array_size(rows); i++)
        for (size_t k = 0; k < (other ? json_array_size(other) : i); k++) {
            const double a = plot_value(json_array_get(json_array_get(rows, i), k));
            if (a > most) most = a, at[0] = k, at[1] = i;
        }
    if (isfinite(most))
        plot_lead(f, "most alike: %.30s and %.30s (%.2f)",
                  json_string_value(json_array_get(labels, at[!other ? 0 : 1])),
                  json_string_value(json_array_get(other ? other : labels, at[!other ? 1 : 0])), most);
}

int plot_compare(plot_figure *f, const plot_source *s, size_t count) {
    size_t several = 0;
    for (size_t k = 0; k < count; k++) several += json_object_get(s[k].json, "alignments") != NULL;
    if (!several) return plot_pairs(f, s, count);
    if (several < count)
        return plot_unfit(s, "a comparison of two matrices and one of more matrices cannot share a picture");
    int status = EXIT_DONE;
    for (size_t k = 0; k < count && !status; k++) status = plot_square(f, &s[k]);
    if (!status && count == 1)
        lead_square(f, json_object_get(s->json, "labels"), json_object_get(s->json, "other_labels"),
                    json_object_get(s->json, "alignments"));
    return status;
}

/* ---- two matrices ---- */

static int plot_pairs(plot_figure *f, const plot_source *s, size_t count) {
    size_t most = 0, aligned = 0;
    for (size_t k = 0; k < count; k++) {
        const json_t *list = plot_list(&s[k], "differences");
        if (!list) return plot_refused(&s[k]);
        if (!isfinite(plot_number(s[k].json, "rows")))
            return plot_unfit(&s[k], "missing \"rows\", expected in a kspec compare result");
        most += json_array_size(list);
        aligned += isfinite(plot_number(s[k].json, "alignment_biased"));
    }
    if (most > 60) return plot_unfit(s, "%zu bars exceed the 60 of one picture", most);
    f->columns = 1;
    if (aligned) {
        plot_panel *p = plot_add_panel(f, NULL, NULL, "alignment");
        add_alignments(f, p, s, count);
        plot_add_mark(f, p, 'y', 0, NULL);
        plot_add_mark(f, p, 'y', 1, NULL);
    }
    plot_panel *differences = plot_add_panel(f, "first less second; beyond 1.96: p < 0.05",
                                             "difference in standard errors (z of its p)", NULL);
    size_t left = most;
    for (size_t k = 0; k < count; k++) left = add_differences(f, differences, &s[k], left);
    for (size_t k = count; k-- > 0;) { /* from below */
        const json_t *list = json_object_get(s[k].json, "differences");
        for (size_t i = json_array_size(list); i-- > 0;) add_name(f, differences, json_array_get(list, i));
    }
    plot_add_mark(f, differences, 'x', -1.96, NULL);
    plot_add_mark(f, differences, 'x', 1.96, NULL);
    if (count == 1)
        plot_text(f, &f->title, "%s (%.0f × %.0f) and %s (%.0f × %.0f)", plot_word(s->json, "first", "first"),
                  plot_number(s->json, "rows"), plot_number(s->json, "cols"),
                  plot_word(s->json, "second", "second"), plot_number(s->json, "other_rows"),
                  plot_number(s->json, "other_cols"));
    if (count == 1) lead(f, s->json);
    return EXIT_DONE;
}
