/*
 * A report: the results of several commands on one page. report.c runs them and has the page written by
 * report_page.c, which has report_numbers.c and report_worth.c write their sections.
 */
#pragma once

#include "core/cli.h"

enum { REPORT_DIMENSION, REPORT_MOMENTS, REPORT_SPECTRUM, REPORT_PARTS };

/* A command of the report: its JSON object, or why there is none; its picture, or NULL */
typedef struct {
    json_t *object;
    char *why, *svg;
    size_t svg_size;
} report_part;

typedef struct {
    const cli_common *common;
    report_part part[REPORT_PARTS];
    /* when it was made, in UTC */
    char time[40];
    /* rows have groups; moments end early, since the matrix is large */
    int grouped, fewer_moments;
} report;

/* The whole page */
void report_page(FILE *to, const report *r);

/* Sections: what the numbers are worth, with all warnings; the numbers themselves, with their pictures */
void report_worth(FILE *to, const report *r);
void report_dimension(FILE *to, const report *r);
void report_spectrum(FILE *to, const report *r);
void report_moments(FILE *to, const report *r);

/* A section by its name and its title; plain words both */
void report_begin_section(FILE *to, const char *id, const char *title);
void report_end_section(FILE *to);

/* Is it an estimate of the matrix itself? */
int report_is_naive(const json_t *estimate);
