/* A report: the results of several commands on one page. */
#ifndef KSPEC_REPORT_H
#define KSPEC_REPORT_H

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
    /* all warnings, each once */
    json_t *warnings;
    /* when it was made, in UTC */
    char time[40];
    int grouped;
} report;

void report_page(FILE *to, const report *r);

#endif
