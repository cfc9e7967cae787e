/*
 * Declares a report: the results of several commands on one page. report.c runs the commands. report_page.c
 * writes the page, with the sections of report_numbers.c and report_worth.c.
 */
#pragma once

#include "core/cli.h"

enum { REPORT_DIMENSION, REPORT_MOMENTS, REPORT_SPECTRUM, REPORT_PARTS };

/*
 * A part of the report: the JSON object of a command, or the reason why it is missing; and its picture, or
 * NULL
 */
typedef struct {
    json_t *object;
    char *why, *svg;
    size_t svg_size;
} report_part;

typedef struct {
    const cli_common *common;
    report_part part[REPORT_PARTS];
    /* the time of the report, in UTC */
    char time[40];
    /* grouped: rows have groups. fewer_moments: the matrix is large, so the moments end at a lower order */
    int grouped, fewer_moments;
} report;

/* Writes the whole page. */
void report_page(FILE *to, const report *r);

/*
 * Write the sections: how far to trust the numbers, with all warnings; then the numbers with their pictures.
 */
void report_worth(FILE *to, const report *r);
void report_dimension(FILE *to, const report *r);
void report_spectrum(FILE *to, const report *r);
void report_moments(FILE *to, const report *r);

/* Writes a section with its name and its title, both plain words. */
void report_begin_section(FILE *to, const char *id, const char *title);
void report_end_section(FILE *to);

/* Does an estimate describe the matrix itself (naive)? */
int report_is_naive(const json_t *estimate);
