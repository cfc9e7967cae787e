/* Reads and writes the files of a command. */
#include "core/cli.h"
#include "kspec/host.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Finds row and column of the first infinite entry; 0 if all are finite. */
static int find_infinite(const kspec_matrix *m, size_t *row, size_t *col, double *value) {
    for (size_t i = 0; i < m->rows; i++)
        for (size_t j = 0; j < m->cols; j++) {
            *value = m->data[(ptrdiff_t)i * m->row_stride + (ptrdiff_t)j * m->col_stride];
            *row = i, *col = j;
            if (isinf(*value)) return 1;
        }
    return 0;
}

/* Rejects infinite entries, under every policy for missing ones. */
static int check_finite(const char *path, const kspec_dataset *d) {
    for (size_t t = 0; t < d->trials; t++) {
        const kspec_matrix m = kspec_dataset_trial(d, t);
        /*
         * Scans a column-major matrix in the order of memory. If an entry is bad, a second scan finds the
         * first one by rows.
         */
        const kspec_matrix turned = {m.data, m.cols, m.rows, m.col_stride, m.row_stride};
        size_t row, col;
        double value;
        int lies_turned = labs(m.row_stride) < labs(m.col_stride);
        if (!find_infinite(lies_turned ? &turned : &m, &row, &col, &value)) continue;
        char where[40] = "";
        find_infinite(&m, &row, &col, &value);
        if (d->trials > 1) snprintf(where, sizeof where, " of trial %zu", t);
        return cli_error(EXIT_INPUT, "%s: row %zu, column %zu%s (from 0) is %sinfinite", path, row, col,
                         where, value < 0 ? "minus " : "");
    }
    return EXIT_DONE;
}

static int is_of_missing(kspec_doubt_code code) {
    return code == KSPEC_DOUBT_EMPTY_ROWS || code == KSPEC_DOUBT_EMPTY_COLS;
}

/* Mentions a column of times or trials, if the command can use groups of rows and none are given. */
static void tell_doubts(const cli_common *c, const kspec_dataset *d) {
    const int ungrouped =
        cli_takes(c->command, "groups") && !cli_given(c, "groups") && !cli_given(c, "groups-column");
    for (size_t k = 0; k < d->doubt_count; k++) {
        const kspec_doubt_code code = d->doubts[k]->code;
        if (is_of_missing(code)) continue; /* cli_doubts_of_missing() */
        if (ungrouped || (code != KSPEC_DOUBT_TIME_COLUMN && code != KSPEC_DOUBT_TRIAL_COLUMN))
            cli_doubts(c, NULL, &d->doubts[k], 1);
    }
}

void cli_doubts_of_missing(const cli_common *c, const kspec_dataset *d) {
    for (size_t k = 0; k < d->doubt_count; k++)
        if (is_of_missing(d->doubts[k]->code)) cli_doubts(c, NULL, &d->doubts[k], 1);
}

/* Returns a list of the numbers that change when someone writes to a file, or NULL. */
static json_t *state_of(const char *path) {
    struct stat s;
    if (stat(path, &s) != 0) return NULL;
    return json_pack("[I, I, I, I, I]", (json_int_t)s.st_dev, (json_int_t)s.st_ino, (json_int_t)s.st_size,
                     (json_int_t)s.st_mtim.tv_sec, (json_int_t)s.st_mtim.tv_nsec);
}

static void watch_mapped(const cli_common *c, const kspec_dataset *d) {
    json_t *state = d->file ? state_of(d->file) : NULL;
    if (state) json_array_append_new(c->mapped, json_pack("[o, o]", json_string(d->file), state));
}

int cli_check_mapped(const cli_common *c) {
    size_t k;
    const json_t *file;
    json_array_foreach(c->mapped, k, file) {
        const char *path = json_string_value(json_array_get(file, 0));
        const json_t *before = json_array_get(file, 1);
        json_t *now = path ? state_of(path) : NULL;
        /* A new file of the same name does not change the mapped file. */
        const int same = now && json_equal(json_array_get(before, 0), json_array_get(now, 0)) &&
                         json_equal(json_array_get(before, 1), json_array_get(now, 1));
        const int changed = same && !json_equal(before, now);
        json_decref(now);
        if (changed)
            return cli_error(EXIT_INPUT, "%s changed while it was in use: run again once it is complete",
                             path);
    }
    return EXIT_DONE;
}

static int read_all(const cli_common *c, const char *role, const char *const *paths, size_t count,
                    const kspec_read_opts *how, int one, kspec_dataset **out) {
    kspec_error err;
    kspec_read_opts together = *how;
    together.team = cli_ranks_reading(c);
    kspec_status st = kspec_read(paths, count, &together, out, &err);
    if (st == KSPEC_E_IO && role && how->select_cols) {
        char option[160];
        snprintf(option, sizeof option, "--%s %s", role, how->select_cols);
        cli_error_prefix(&err, option);
    }
    if (st) return cli_fail(st, &err);
    const kspec_dataset *d = *out;
    int status = EXIT_DONE;
    if (one && d->trials > 1)
        status = cli_error(EXIT_INPUT, "%s holds %zu trials; one matrix is expected", paths[0], d->trials);
    else if (!d->memory)
        status = check_finite(paths[0], d);
    if (status) {
        kspec_free(*out);
        *out = NULL;
        return status;
    }
    cli_note_input(c, role, paths, count, how, d);
    watch_mapped(c, d);
    if (d->memory) return EXIT_DONE; /* The scan reads host memory only. */
    if (!role || !one) tell_doubts(c, d);
    status = cli_ranks_input(c, paths[0], d);
    if (status) {
        kspec_free(*out);
        *out = NULL;
    }
    return status;
}

/* Returns the library's options for reading, made from the command's options. */
static kspec_read_opts as_asked(const cli_common *c) {
    return (kspec_read_opts){.size = sizeof(kspec_read_opts),
                             .axes = c->axes,
                             .select_rows = c->select_rows,
                             .select_cols = c->select_cols,
                             .nan = (kspec_nan)c->nan,
                             .fill = c->fill.at,
                             .fill_count = c->fill.count,
                             .in_place = 1,
                             .on_device = c->on_device};
}

int cli_read(const cli_common *c, kspec_dataset **d) {
    const kspec_read_opts how = as_asked(c);
    return read_all(c, NULL, c->inputs, c->input_count, &how, 0, d);
}

int cli_fail_of(const cli_common *c, const kspec_dataset *d, kspec_status st, const kspec_error *err) {
    kspec_dataset *host = NULL;
    cli_common again = *c;
    again.on_device = 0;
    int status = st == KSPEC_E_DATA && d->memory ? cli_read(&again, &host) : EXIT_DONE;
    kspec_free(host);
    return status ? status : cli_fail(st, err);
}

int cli_read_inputs(const cli_common *c, const char *role, const char *const *paths, size_t count,
                    kspec_dataset **d) {
    const kspec_read_opts how = as_asked(c);
    return read_all(c, role, paths, count, &how, 0, d);
}

int cli_read_one(const cli_common *c, const char *role, const char *path, const kspec_read_opts *how,
                 kspec_dataset **d) {
    return read_all(c, role, &path, 1, how, 1, d);
}

kspec_matrix *cli_trials(const kspec_dataset *d) {
    kspec_matrix *phi = malloc(d->trials * sizeof *phi);
    for (size_t t = 0; t < d->trials && phi; t++) phi[t] = kspec_dataset_trial(d, t);
    return phi;
}

/* ---- how the input was understood ---- */

/*
 * A file's name may hold line breaks and escape sequences, and be longer than a line. Only its end is
 * printed.
 */
enum { LONGEST_NAME = 160 };
static const char *end_of(const char *name) {
    size_t n = strlen(name);
    if (n <= LONGEST_NAME) return name;
    name += n - LONGEST_NAME;
    while ((*name & 0xc0) == 0x80) name++; /* a UTF-8 character stays whole */
    return name;
}

int cli_name_width(const char *name) {
    const char *end = end_of(name);
    int letters = end != name;
    for (; *end; end++) letters += (*end & 0xc0) != 0x80;
    return letters;
}

void cli_print_name(FILE *f, const char *name, int width) {
    const char *end = end_of(name);
    if (end != name) fputs("…", f);
    char shown[LONGEST_NAME + 1];
    snprintf(shown, sizeof shown, "%s", end);
    cli_make_printable(shown, strlen(shown), 0);
    fputs(shown, f);
    for (int k = cli_name_width(name); k < width; k++) fputc(' ', f);
}

void cli_print_shape(FILE *f, const cli_common *c, const kspec_dataset *d, const char *how) {
    cli_print_name(f, c->inputs[0], 0);
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
    fprintf(f, "%zu row%s × %zu column%s", d->rows, cli_s(d->rows), d->cols, cli_s(d->cols));
    if (d->has_header) fputs(" (header: first row)", f);
    if (d->omitted_rows)
        fprintf(f, " (%zu row%s with missing values left out)", d->omitted_rows, cli_s(d->omitted_rows));
    if (d->omitted_cols)
        fprintf(f, " (%zu column%s with missing values left out)", d->omitted_cols, cli_s(d->omitted_cols));
    if (how) fprintf(f, "; %s", how);
    fputc('\n', f);
}

/* ---- writing ---- */

kspec_status cli_write_array(const char *path, const double *x, size_t rows, size_t cols, kspec_error *err) {
    kspec_writer *w;
    kspec_status st = kspec_write_open(path, 2, (size_t[]){rows, cols}, &w, err);
    if (st) return st;
    st = kspec_write_values(w, x, rows * cols, err);
    if (!st) return kspec_write_close(w, err);
    kspec_write_abort(w);
    return st;
}
