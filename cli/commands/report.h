/*
 * Declares a report, a page with the results of several commands. report.c runs the commands. report_page.c
 * writes the page, with the sections of report_numbers.c and report_worth.c.
 */
#pragma once

#include "core/cli.h"

enum { REPORT_DIMENSION, REPORT_MOMENTS, REPORT_SPECTRUM, REPORT_PARTS };

/* A part of the report holds the JSON object of a command, or the reason why this object is missing. It
 * also holds a picture, or NULL. */
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
    /* grouped is 1 if rows have groups. fewer_moments is 1 if the matrix is so large that the moments end
     * at a lower order. */
    int grouped, fewer_moments;
} report;

/* Writes the whole page. */
void report_page(FILE *to, const report *r);

/* The first function writes how far to trust the numbers, with all warnings. The second writes the
 * numbers with their pictures. */
void report_worth(FILE *to, const report *r);
void report_dimension(FILE *to, const report *r);
void report_spectrum(FILE *to, const report *r);
void report_moments(FILE *to, const report *r);

/* Begins a section. Its name and its title are plain text without HTML. */
void report_begin_section(FILE *to, const char *id, const char *title);
void report_end_section(FILE *to);

/* Returns 1 if an estimate is naive, which means that it describes the matrix itself. */
int report_is_naive(const json_t *estimate);
