/*
 * Explains in a report how far to trust its numbers at this sample size: the doubts of its parts, in
 * sentences.
 */
#include "commands/report.h"
#include "plot/page.h"
#include "plot/plot.h"

#include <math.h>
#include <string.h>

static void point(FILE *to, const char *text) { fprintf(to, "<li>%s</li>\n", text); }

static void spectrum_worth(FILE *to, const json_t *s) {
    double resolved = plot_number(s, "resolved"), noise = plot_number(s, "noise");
    char text[300];
    if (resolved > 0) {
        snprintf(text, sizeof text, "%.0f eigenvalue%s known individually, the others only as a whole.",
                 resolved, resolved == 1 ? " is" : "s are");
        point(to, text);
    } else if (isfinite(resolved)) {
        point(to, "No single eigenvalue is reliable: the list is one likely spectrum.");
    }
    if (noise > 0) {
        snprintf(text, sizeof text,
                 "Noise of standard deviation %.3g in every entry was taken out of the eigenvalues.", noise);
        point(to, text);
    }
}

/* Writes either the doubts that are only notes, or all other doubts. */
static void put_doubts(FILE *to, const json_t *doubts, int notes) {
    size_t i;
    const json_t *d;
    json_array_foreach(doubts, i, d) {
        if ((strcmp(json_string_value(json_object_get(d, "severity")), "note") == 0) != notes) continue;
        fputs("<li>", to);
        page_escape(to, json_string_value(json_object_get(d, "text")));
        fputs("</li>\n", to);
    }
}

void report_worth(FILE *to, const report *r) {
    const json_t *doubts = r->common->doubts;
    report_begin_section(to, "known", "How reliable is this at this size?");
    fputs("<ul>\n", to);
    put_doubts(to, doubts, 1);
    spectrum_worth(to, r->part[REPORT_SPECTRUM].object);
    point(to, r->grouped
                  ? "Rows of one group may depend on each other, and intervals allow for that; only the "
                    "eigenvalues treat all rows as independent."
                  : "kspec treats rows as independent draws. If they are not, such as time bins of one "
                    "trial, the intervals are too narrow; use --groups to say which rows belong together.");
    fputs("</ul>\n", to);
    report_end_section(to);
    if (!json_array_size(r->common->warnings)) return;
    report_begin_section(to, "warnings", "Warnings");
    fputs("<ul class=\"warnings\">\n", to);
    put_doubts(to, doubts, 0);
    fputs("</ul>\n", to);
    report_end_section(to);
}
