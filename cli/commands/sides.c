/* Reports how much rows and columns contribute to an interval's width, and how wide the interval would be
 * for a matrix of another size. */
#include "commands/sides.h"

#include <math.h>
#include <stdlib.h>

/* Returns how many times more rows (or columns) halve the standard error. The jackknife's variance V = R
 * + C has a part R due to rows, which falls like 1/P, and a part C due to columns, which falls like 1/Q.
 * The function solves R/k + C = V/4 for the factor k. */
static double times_more(double part, double rest) {
    const double k = part / ((part + rest) / 4 - rest);
    return k > 0 ? k : INFINITY;
}

void cli_sides_print(FILE *f, const cli_parts *s) {
    const double all = s->rows + s->cols + s->other;
    if (!(all > 0) || !isfinite(all)) return;
    const double rows = 100 * s->rows / all, cols = 100 * s->cols / all, other = 100 * s->other / all;
    fprintf(f, "uncertainty: %.0f%% from rows, %.0f%% from columns", rows, cols);
    if (s->other > 0) fprintf(f, ", %.0f%% from the second one's columns", other);
    const double by_rows = times_more(s->rows, all - s->rows),
                 by_cols = s->other > 0 ? INFINITY : times_more(s->cols, all - s->cols);
    if (fmin(by_rows, by_cols) < 100)
        fprintf(f, "; %.2g times as many %s would halve it\n", fmin(by_rows, by_cols),
                by_rows <= by_cols ? "rows" : "columns");
    else
        fputs("; 4 times as many rows and columns would halve it\n", f);
}

int cli_plan_parse(const char *text, double size[2]) {
    char *end = NULL;
    size[0] = size[1] = 0;
    if (!text) return EXIT_DONE;
    const unsigned long long rows = text[0] >= '0' && text[0] <= '9' ? strtoull(text, &end, 10) : 0;
    const int times = rows && end[0] == 'x' && end[1] >= '0' && end[1] <= '9';
    const unsigned long long cols = times ? strtoull(end + 1, &end, 10) : 0;
    if (!cols || *end || rows < 3 || cols < 1 || rows > 1000000000000 || cols > 1000000000000)
        return cli_error(EXIT_USAGE, "--plan: '%s' must be rows x columns, such as 2000x500", text);
    size[0] = (double)rows, size[1] = (double)cols;
    return EXIT_DONE;
}

cli_plan cli_plan_make(const kspec_dimension_result *r, const double size[2]) {
    const double P = (double)r->P, Q = (double)r->Q, now = r->row_variance + r->col_variance,
                 then = r->row_variance * P / size[0] + r->col_variance * Q / size[1],
                 ratio = sqrt(then / now);
    return (cli_plan){fmax(1, r->dimension * pow(r->ci_low / r->dimension, ratio)),
                      r->dimension * pow(r->ci_high / r->dimension, ratio), r->std_error * ratio, ratio};
}
