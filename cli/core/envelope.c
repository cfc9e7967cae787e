/*
 * Builds the envelope: the keys that every JSON object has, around the command's own keys.
 *
 *     schema    "kspec-COMMAND/VERSION": the version grows when a key changes its form or goes
 *     kspec     the version of kspec
 *     command, command_line
 *     input     an object: the matrix as kspec understood it; empty without a matrix
 *     ...       the command's own keys
 *     doubts    a list of objects: code, severity, text and the values concerned
 *     warnings  the texts of all doubts but notes
 *     seconds   of the computation if the command reports it, else of the whole command
 */
#include "core/cli.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { SCHEMA = 1 };

static _Thread_local const cli_common *running;

const cli_common *cli_running(void) { return running; }

int cli_envelope_open(cli_common *c, const cli_command *command) {
    c->outer = running;
    running = c;
    c->command = command;
    c->input = json_object();
    c->warnings = json_array();
    c->doubts = json_array();
    c->mapped = json_array();
    c->start = cli_now();
    return c->input && c->warnings && c->doubts && c->mapped;
}

static _Thread_local char *line;

void cli_envelope_close(cli_common *c) {
    json_decref(c->input);
    json_decref(c->warnings);
    json_decref(c->doubts);
    json_decref(c->mapped);
    if (running == c) running = c->outer;
    free(line);
    line = NULL;
}

/* ---- the command line, quoted for a shell ---- */

static void quote(FILE *f, const char *word) {
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-";
    if (*word && !word[strspn(word, plain)]) {
        fputs(word, f);
        return;
    }
    fputc('\'', f);
    for (; *word; word++)
        if (*word == '\'')
            fputs("'\\''", f);
        else
            fputc(*word, f);
    fputc('\'', f);
}

void cli_remember(const char *word) {
    cli_text longer;
    FILE *f = cli_text_open(&longer);
    if (f) {
        fprintf(f, "%s ", line ? line : "kspec");
        quote(f, word);
    }
    if (!cli_text_close(&longer)) return;
    free(line);
    line = longer.data;
}

const char *cli_line(void) { return line ? line : "kspec"; }

char *cli_line_take(void) {
    char *taken = line;
    line = NULL;
    return taken;
}

void cli_line_give(char *back) {
    free(line);
    line = back;
}

/* ---- a call inside another one's callback ---- */

cli_call cli_call_begin(const cli_host *host) {
    const cli_call outer = {cli_hosted, running, cli_line_take(), cli_memory_failed()};
    cli_hosted = host;
    running = NULL;
    cli_memory_forget();
    return outer;
}

void cli_call_end(cli_call outer) {
    cli_hosted = outer.hosted;
    running = outer.running;
    cli_line_give(outer.line);
    cli_memory_forget();
    if (outer.memory_failed) cli_memory_lost();
}

/* ---- input ---- */

static int is_file(const char *path) {
    struct stat s;
    return strcmp(path, "-") == 0 || stat(path, &s) == 0;
}

/* Splits "x.npz:key" like kspec_read(): at the last colon that follows the name of an existing file. */
static void set_path(json_t *to, const char *input) {
    char *path = strdup(input), *colon = NULL;
    if (!path) cli_memory_lost();
    if (path && !is_file(path)) {
        for (size_t i = strlen(path); i-- > 0 && !colon;) {
            if (path[i] != ':') continue;
            path[i] = 0;
            if (is_file(path))
                colon = path + i;
            else
                path[i] = ':';
        }
    }
    json_object_set_new(to, "path", cli_string(path ? path : input));
    json_object_set_new(to, "key", colon && colon[1] ? cli_string(colon + 1) : json_null());
    free(path);
}

static json_t *string_or_null(const char *s) { return s ? cli_string(s) : json_null(); }

static void set_shape(json_t *to, const kspec_read_opts *how, const kspec_dataset *d) {
    static const char *const usual[] = {"rows", "rows,cols", "trials,rows,cols"};
    json_t *shape = json_array();
    if (d->trials > 1) json_array_append_new(shape, json_integer((json_int_t)d->trials));
    json_array_append_new(shape, json_integer((json_int_t)d->rows));
    json_array_append_new(shape, json_integer((json_int_t)d->cols));
    json_object_set_new(to, "shape", shape);
    if (d->row_trials) {
        size_t least = d->trials, most = 0;
        for (size_t i = 0; i < d->rows; i++) {
            if (d->row_trials[i] < least) least = d->row_trials[i];
            if (d->row_trials[i] > most) most = d->row_trials[i];
        }
        json_object_set_new(to, "row_trials", json_pack("[I, I]", (json_int_t)least, (json_int_t)most));
    }
    int axes = d->trials > 1 ? 3 : d->array_dims < 1 ? 1 : d->array_dims > 3 ? 3 : d->array_dims;
    json_object_set_new(to, "axes", cli_string(how->axes ? how->axes : usual[axes - 1]));
    json_object_set_new(to, "select_rows", string_or_null(how->select_rows));
    json_object_set_new(to, "select_cols", string_or_null(how->select_cols));
    json_object_set_new(to, "missing", json_string(cli_choice_name(cli_nan_policies, (int)how->nan)));
    json_object_set_new(to, "missing_count", json_integer((json_int_t)d->missing));
    json_object_set_new(to, "omitted_rows", json_integer((json_int_t)d->omitted_rows));
    json_object_set_new(to, "omitted_cols", json_integer((json_int_t)d->omitted_cols));
    json_object_set_new(to, "header", json_boolean(d->has_header));
    json_object_set_new(to, "centered", json_false());
    json_object_set_new(to, "normalized", json_false());
}

void cli_note_input(const cli_common *c, const char *role, const char *const *paths, size_t count,
                    const kspec_read_opts *how, const kspec_dataset *d) {
    json_t *to = role ? json_object() : json_incref(c->input);
    set_path(to, paths[0]);
    if (count > 1) {
        json_t *list = json_array();
        for (size_t i = 0; i < count; i++) json_array_append_new(list, cli_string(paths[i]));
        json_object_set_new(to, "paths", list);
    }
    if (how && d) set_shape(to, how, d);
    if (role)
        json_object_set_new(c->input, role, to);
    else
        json_decref(to);
}

void cli_note_treatment(const cli_common *c, const char *role, int centered, int normalized) {
    json_t *to = role ? json_object_get(c->input, role) : c->input;
    if (!to) return;
    json_object_set_new(to, "centered", json_boolean(centered));
    json_object_set_new(to, "normalized", json_boolean(normalized));
}

/* ---- the object ---- */

json_t *cli_envelope(const cli_common *c, json_t *keys) {
    char schema[64], command[40];
    /* A command may name its result differently: plot makes a figure. */
    const char *own = json_string_value(json_object_get(keys, "command"));
    snprintf(command, sizeof command, "%.*s", (int)strcspn(c->command->name, " "), c->command->name);
    if (own) snprintf(command, sizeof command, "%s", own);
    snprintf(schema, sizeof schema, "kspec-%s/%d", command, SCHEMA);
    json_t *o = json_pack("{s:s, s:s, s:s, s:o, s:O}", "schema", schema, "kspec", kspec_version(), "command",
                          command, "command_line", cli_string(line ? line : "kspec"), "input", c->input);
    json_object_update(o, keys);
    json_object_set(o, "doubts", c->doubts);
    json_object_set(o, "warnings", c->warnings);
    if (!json_object_get(o, "seconds")) json_object_set_new(o, "seconds", json_real(cli_now() - c->start));
    json_decref(keys);
    return o;
}
