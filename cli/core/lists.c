/* Runs a command for each line of a list "@FILE", and prints one table of the results. */
#include "core/cli.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
    const cli_common *c;
    json_t *results;
} list;

/* ---- one line ---- */

/* Returns 1 for an INPUT, and for an option that says where the result goes. */
static int is_apart(const cli_common *c, const char *const *argv, size_t k) {
    for (size_t i = 0; i < c->input_count; i++)
        if (c->inputs[i] == argv[k]) return 1;
    int value = k > 0 && (strcmp(argv[k - 1], "-o") == 0 || strcmp(argv[k - 1], "--output") == 0);
    return value || strncmp(argv[k], "-o", 2) == 0 || strncmp(argv[k], "--output", 8) == 0;
}

/* Moves the keys of the envelope to the list: the input goes to the list's inputs, with a label. */
static void take(list *l, const char *label, json_t *object) {
    static const char *const envelope[] = {"schema", "kspec", "command", "command_line", "input", "warnings"};
    json_t *matrices = json_object_get(l->c->input, "matrices"), *input = json_object_get(object, "input");
    size_t k;
    if (!matrices && json_object_set_new(l->c->input, "matrices", json_array()) == 0)
        matrices = json_object_get(l->c->input, "matrices");
    json_object_set_new(input, "label", cli_string(label));
    json_array_append(matrices, input);
    for (k = 0; k < sizeof envelope / sizeof *envelope; k++) json_object_del(object, envelope[k]);
    json_object_set_new(object, "label", cli_string(label));
    json_array_append_new(l->results, object);
}

static int run_one(list *l, const cli_recording *r, size_t argc, const char *const *argv) {
    const char **words = calloc(argc + r->count + 1, sizeof *words);
    size_t n = 0;
    if (!words) return cli_no_memory();
    words[n++] = l->c->command->name;
    for (size_t k = 0; k < argc; k++)
        if (!is_apart(l->c, argv, k)) words[n++] = argv[k];
    for (size_t k = 0; k < r->count; k++) words[n++] = r->inputs[k];
    json_t *object;
    char *message;
    int status = cli_run_inner(l->c, n, words, &object, &message);
    int told = !message ||
               strstr(message, r->name); /* Returns 1 if the message begins with the name of its INPUT. */
    if (!status)
        take(l, r->name, object);
    else
        cli_error(status, "%s%s%s", told ? "" : r->name, told ? "" : ": ",
                  message ? message : "out of memory");
    free(message);
    free((void *)words);
    return status;
}

/* ---- all lines ---- */

static json_t *to_json(const void *result) {
    return json_pack("{s:O}", "results", ((const list *)result)->results);
}

/* Finds "estimates.0.value" in an object, or returns NULL. */
static const json_t *look_up(const json_t *o, const char *path) {
    while (o && *path) {
        char step[64];
        size_t n = strcspn(path, ".");
        snprintf(step, sizeof step, "%.*s", (int)n, path);
        o = json_is_array(o) ? json_array_get(o, strtoul(step, NULL, 10)) : json_object_get(o, step);
        path += n + (path[n] == '.');
    }
    return o;
}

static void print_table(FILE *f, const void *result) {
    const list *l = result;
    const cli_column *columns = l->c->command->columns;
    const json_t *o;
    size_t k;
    int width = 0;
    json_array_foreach(l->results, k, o) {
        int n = cli_name_width(json_string_value(json_object_get(o, "label")));
        width = n > width ? n : width;
    }
    fprintf(f, "%s%*s", cli_bold(l->c), width, "");
    for (const cli_column *c = columns; c->path; c++) fprintf(f, "  %12s", c->heading);
    fprintf(f, "%s\n", cli_plain(l->c));
    json_array_foreach(l->results, k, o) {
        cli_print_name(f, json_string_value(json_object_get(o, "label")), width);
        for (const cli_column *c = columns; c->path; c++) {
            const json_t *v = look_up(o, c->path);
            if (json_is_integer(v))
                fprintf(f, "  %12lld", (long long)json_integer_value(v));
            else if (json_is_real(v))
                fprintf(f, "  %12.5g", json_real_value(v));
            else
                fprintf(f, "  %12s", json_is_string(v) ? json_string_value(v) : "");
        }
        fputc('\n', f);
    }
}

int cli_is_list(const cli_common *c) {
    for (size_t k = 0; k < c->input_count; k++)
        if (c->command->columns && c->inputs[k][0] == '@' && c->inputs[k][1]) return 1;
    return 0;
}

int cli_run_list(const cli_common *c, size_t argc, const char *const *argv) {
    cli_recordings of;
    if (c->plot) return cli_error(EXIT_USAGE, "--plot draws one matrix, not a list of them");
    list l = {c, json_array()};
    json_t *o;
    int status = cli_recordings_make(c, &(cli_labels){0}, 0, &of);
    if (!l.results) status = cli_no_memory();
    for (size_t k = 0; k < of.count && !status; k++) status = run_one(&l, &of.at[k], argc, argv);
    for (size_t k = 0; !status && (o = json_array_get(l.results, k));
         k++) { /* Only the first failure gets a message. */
        cli_doubts_of(c, json_string_value(json_object_get(o, "label")), o);
        json_object_del(o, "doubts");
    }
    if (!status) status = cli_done(c, print_table, to_json, &l);
    cli_recordings_free(&of);
    json_decref(l.results);
    return status;
}
