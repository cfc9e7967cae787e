/* JSON values, and the cells of tables: numbers rounded to their uncertainty. */
#pragma once

#include <jansson.h>
#include <stddef.h>
#include <stdio.h>

/* A JSON string from any bytes */
json_t *cli_string(const char *s);
/* A number, null if x is not finite; an array of numbers, and an array of rows */
json_t *cli_real(double x);
json_t *cli_reals(const double *x, size_t count);
json_t *cli_real_rows(const double *x, size_t rows, size_t cols);

/* Sets members of an object to numbers, null if not finite. The list ends with a NULL key. */
typedef struct {
    const char *key;
    double value;
} cli_member;
void cli_set_reals(json_t *object, const cli_member *members);
/* Members for an interval, and for a standard error with it, from the fields of r that begin with FIELD */
#define CLI_ENDS(KEY, r, FIELD) \
    {KEY "ci_low", (r)->FIELD##ci_low}, { KEY "ci_high", (r)->FIELD##ci_high }
#define CLI_ERRORS(KEY, r, FIELD) {KEY "stderr", (r)->FIELD##std_error}, CLI_ENDS(KEY, r, FIELD)

/* Prints a number as one column of a table, blank if it is not finite. */
void cli_cell(FILE *f, const char *format, int width, double x);

/*
 * Rounds numbers to their uncertainty: the last digit shown is the second digit of the error. If the error is
 * unknown or 0, shows four digits. The text is "" for a number that is not finite.
 */
typedef struct {
    char text[40];
} cli_number;
const char *cli_rounded(cli_number *to, double x, double error);
void cli_cell_rounded(FILE *f, int width, double x, double error);
/* An estimate with its interval. Its error is the geometric mean of the distances to both ends. */
typedef struct {
    cli_number value, low, high;
} cli_interval;
cli_interval cli_round_interval(double x, double low, double high);
double cli_error_of(double x, double low, double high);
/*
 * An error for rounding a quantity that is positive, such as a dimension: a number far below its error keeps
 * one digit, and does not become 0. cli_round_interval() does the same if the interval is positive.
 */
double cli_error_shown(double x, double error);
/* Prints "20.2 (95% interval 19.6 … 20.7)", or the estimate alone if the interval is unknown. */
void cli_print_interval(FILE *f, double x, double low, double high);
/* Prints two cells: the ends of the interval. */
void cli_cell_interval(FILE *f, int width, double x, double low, double high);

/*
 * Prints a probability in a field of this width, such as "0.03". Below 1e-16 it prints "<1e-16", because the
 * approximation behind it is too inaccurate there.
 */
void cli_print_p(FILE *f, int width, double p);
