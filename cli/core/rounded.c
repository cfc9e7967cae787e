/* Rounds numbers to their uncertainty for tables, titles and pages; JSON keeps all digits. */
#include "core/cli.h"

#include <math.h>
#include <string.h>

/* How many digits a table shows: of an error, of a number at most, and of a number with unknown error */
enum { OF_ERROR = 2, MOST = 6, USUAL = 4 };

/* Returns the power of ten of the number's first digit */
static int first_place(double x) { return x != 0 ? (int)floor(log10(fabs(x))) : 0; }

const char *cli_rounded(cli_number *to, double x, double error) {
    to->text[0] = 0;
    if (!isfinite(x)) return to->text;
    if (!(error > 0 && isfinite(error))) {
        snprintf(to->text, sizeof to->text, "%.*g", USUAL, x + 0.0);
        return to->text;
    }
    /* 0.0996 becomes 0.10, whose second digit is the hundredths */
    int place = first_place(error * (1 + 0.5 * pow(10, -OF_ERROR))) - OF_ERROR + 1;
    if (place < first_place(x) - MOST + 1) place = first_place(x) - MOST + 1;
    const double unit = pow(10, place), rounded = place > 0 ? round(x / unit) * unit : x;
    const int digits = first_place(x) - place;
    if (fabs(x) < 0.5 * unit)
        strcpy(to->text, "0");
    else if (fabs(x) < 1e6 && fabs(x) >= 1e-4 && place > -9)
        snprintf(to->text, sizeof to->text, "%.*f", place > 0 ? 0 : -place, rounded);
    else
        snprintf(to->text, sizeof to->text, "%.*e", digits > 0 ? digits : 0, x);
    return to->text;
}

double cli_error_of(double x, double low, double high) { return sqrt(fabs(x - low) * fabs(high - x)); }

double cli_error_shown(double x, double error) { return x > 0 && error > 10 * x ? 10 * x : error; }

cli_interval cli_round_interval(double x, double low, double high) {
    cli_interval r;
    const double above = high - x, below = x - low, error = cli_error_of(x, low, high);
    const int positive = low > 0;
    cli_rounded(&r.value, x, positive ? cli_error_shown(x, error) : error);
    cli_rounded(&r.low, low, positive ? cli_error_shown(low, fabs(below)) : fabs(below));
    cli_rounded(&r.high, high, fabs(above));
    return r;
}

void cli_print_interval(FILE *f, double x, double low, double high) {
    const cli_interval r = cli_round_interval(x, low, high);
    fputs(r.value.text, f);
    if (isfinite(low)) fprintf(f, " (95%% interval %s … %s)", r.low.text, r.high.text);
}

void cli_cell_rounded(FILE *f, int width, double x, double error) {
    cli_number text;
    fprintf(f, "  %*s", width, cli_rounded(&text, x, error));
}

void cli_cell_interval(FILE *f, int width, double x, double low, double high) {
    cli_cell_rounded(f, width, low, fabs(x - low));
    cli_cell_rounded(f, width, high, fabs(high - x));
}
