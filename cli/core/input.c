#include "core/cli.h"

#include <math.h>
#include <string.h>

static kspec_nan_policy nan_policy(const char *name) {
    if (!name || strcmp(name, "error") == 0) return KSPEC_NAN_ERROR;
    if (strcmp(name, "omit-rows") == 0) return KSPEC_NAN_OMIT_ROWS;
    if (strcmp(name, "omit-cols") == 0) return KSPEC_NAN_OMIT_COLS;
    return KSPEC_NAN_RAGGED_TRIALS;
}

int cli_read(const cli_common *c, kspec_dataset *d) {
    kspec_error err;
    kspec_read_opts opts = {.size = sizeof opts,
                            .axes = c->axes,
                            .select_rows = c->select_rows,
                            .select_cols = c->select_cols,
                            .nan = nan_policy(c->nan),
                            .complex_pairs = c->complex_pairs};
    kspec_status st = kspec_read(c->inputs, c->input_count, &opts, d, &err);
    if (st) return cli_fail(st, &err);
    size_t n = d->trials * d->rows * d->cols;
    for (size_t k = 0; k < n; k++)
        if (isinf(d->data[k])) {
            size_t row = k / d->cols % d->rows, col = k % d->cols, trial = k / d->cols / d->rows;
            double x = d->data[k];
            char where[40] = "";
            if (d->trials > 1) snprintf(where, sizeof where, " of trial %zu", trial);
            kspec_dataset_free(d);
            return cli_error(EXIT_INPUT, "%s: row %zu, column %zu%s (from 0) is %sinfinite", c->inputs[0],
                             row, col, where, x < 0 ? "minus " : "");
        }
    return EXIT_DONE;
}

/* A file's name may hold line breaks and escape sequences, and be longer than a line: its end is printed. */
static void print_name(FILE *f, const char *name) {
    enum { LONGEST = 160 };
    size_t n = strlen(name);
    if (n > LONGEST) {
        name += n - LONGEST;
        while ((*name & 0xc0) == 0x80) name++; /* not from the middle of a UTF-8 character */
        fputs("…", f);
    }
    for (; *name; name++) fputc((unsigned char)*name < 32 || *name == 127 ? '?' : *name, f);
}

void cli_print_shape(FILE *f, const cli_common *c, const kspec_dataset *d) {
    print_name(f, c->inputs[0]);
    fputs(c->input_count > 1 ? ", …: " : ": ", f);
    if (d->trials > 1) {
        if (d->row_trials) {
            size_t low = d->trials;
            for (size_t i = 0; i < d->rows; i++)
                if (d->row_trials[i] < low) low = d->row_trials[i];
            fprintf(f, "%zu to ", low);
        }
        fprintf(f, "%zu trials × ", d->trials);
    }
    fprintf(f, "%zu row%s × %zu column%s", d->rows, d->rows == 1 ? "" : "s", d->cols,
            d->cols == 1 ? "" : "s");
    if (d->col_names) fputs(" (header: first row)", f);
    if (d->omitted_rows) fprintf(f, " (%zu rows with missing values left out)", d->omitted_rows);
    if (d->omitted_cols) fprintf(f, " (%zu columns with missing values left out)", d->omitted_cols);
    fputc('\n', f);
}
