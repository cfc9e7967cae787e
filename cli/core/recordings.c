/* Sorts the INPUTs of a command into recordings: several matrices, each with its trials. */
#include "core/cli.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST = 1000 };

static int add(cli_recordings *r, const char *name, const char *const *inputs, size_t count) {
    if (r->count == MOST) return cli_error(EXIT_USAGE, "more than %d recordings", MOST);
    cli_recording *more = realloc(r->at, (r->count + 1) * sizeof *more);
    if (!more) return cli_no_memory();
    r->at = more;
    cli_recording *one = &r->at[r->count];
    *one = (cli_recording){name ? name : inputs[0], malloc((count + 1) * sizeof *one->inputs), count, NULL};
    if (!one->inputs) return cli_no_memory();
    memcpy((void *)one->inputs, inputs, count * sizeof *inputs);
    r->count++;
    return EXIT_DONE;
}

/* ---- a list of recordings ---- */

/*
 * Adds a line, which r then owns. Tabs separate the words of the line. The first of several words is the
 * label.
 */
static int add_line(cli_recordings *r, const char *path, size_t number, char *line) {
    char **lines = realloc(r->lines, (r->line_count + 1) * sizeof *lines);
    if (!lines) {
        free(line);
        return cli_no_memory();
    }
    r->lines = lines;
    r->lines[r->line_count++] = line;
    line[strcspn(line, "\r\n")] = 0;
    if (!line[strspn(line, " \t")] || line[0] == '#') return EXIT_DONE;
    const char *words[64];
    size_t count = 0;
    for (char *word = line, *end; word; word = end) {
        if ((end = strchr(word, '\t'))) *end++ = 0;
        if (count == sizeof words / sizeof *words)
            return cli_error(EXIT_INPUT, "%s: line %zu has more than %zu words", path, number, count);
        if (!*word) return cli_error(EXIT_INPUT, "%s: line %zu has an empty word", path, number);
        words[count++] = word;
    }
    /* A list inside a list is refused, because a list might contain itself. */
    for (size_t k = count > 1; k < count; k++)
        if (words[k][0] == '@' && access(words[k], F_OK) != 0)
            return cli_error(EXIT_INPUT, "%s: line %zu: %s: a list cannot contain a list", path, number,
                             words[k]);
    return count == 1 ? add(r, NULL, words, 1) : add(r, words[0], words + 1, count - 1);
}

static int add_list(cli_recordings *r, const char *path) {
    FILE *f = fopen(path, "r");
    if (!f) return cli_error(EXIT_INPUT, "cannot open %s: %s", path, strerror(errno));
    size_t before = r->count, number = 0;
    int status = EXIT_DONE;
    for (char *line = NULL; !status; line = NULL) {
        size_t room = 0;
        if (getline(&line, &room, f) < 0) {
            free(line);
            break;
        }
        status = add_line(r, path, ++number, line);
    }
    if (!status && ferror(f)) status = cli_error(EXIT_INPUT, "cannot read %s: %s", path, strerror(errno));
    fclose(f);
    if (!status && r->count == before) status = cli_error(EXIT_INPUT, "%s lists no recording", path);
    return status;
}

/* Checks that all ranks read the same list; its recordings begin at `from`. */
static int same_list(const cli_common *c, const char *path, const cli_recordings *r, size_t from) {
    cli_text text;
    FILE *f = cli_text_open(&text);
    for (size_t k = from; f && k < r->count; k++) {
        fprintf(f, "%s\n", r->at[k].name);
        for (size_t i = 0; i < r->at[k].count; i++) fprintf(f, "\t%s\n", r->at[k].inputs[i]);
    }
    if (!cli_text_close(&text)) return cli_no_memory();
    int status = cli_ranks_bytes(c, path, text.data, text.size);
    free(text.data);
    return status;
}

/* ---- the command line ---- */

/* Adds INPUTs from ... to-1, which follow one label or none. */
static int add_inputs(const cli_common *c, const char *label, size_t from, size_t to, int each,
                      cli_recordings *r) {
    int status = EXIT_DONE;
    size_t first = from; /* This trial is the first of the current recording */
    for (size_t i = from; i <= to && !status; i++) {
        int list = i < to && c->inputs[i][0] == '@' && c->inputs[i][1];
        if (list && label)
            return cli_error(EXIT_USAGE, "--label %s: %s is a list, whose lines have their own labels", label,
                             c->inputs[i]);
        int ends = i == to || list || (each && !label && i > first);
        if (ends && i > first) status = add(r, label, c->inputs + first, i - first);
        if (ends) first = i;
        if (list && !status) {
            const size_t before = r->count;
            status = add_list(r, c->inputs[i] + 1), first = i + 1;
            if (!status) status = same_list(c, c->inputs[i] + 1, r, before);
        }
    }
    return status;
}

int cli_recordings_make(const cli_common *c, const cli_labels *labels, int each, cli_recordings *r) {
    *r = (cli_recordings){0};
    int status = EXIT_DONE;
    /* Begins with the INPUTs before the first label. */
    for (size_t k = 0; k <= labels->count && !status; k++) {
        size_t from = k ? labels->from[k - 1] : 0, to = k < labels->count ? labels->from[k] : c->input_count;
        const char *label = k ? labels->name[k - 1] : NULL;
        if (label && !*label) return cli_error(EXIT_USAGE, "--label: the name is empty");
        if (label && from == to) return cli_error(EXIT_USAGE, "--label %s: no INPUT follows it", label);
        status = add_inputs(c, label, from, to, each, r);
    }
    for (size_t k = 0; k < r->count && !status; k++)
        for (size_t l = 0; l < k && !status; l++)
            if ((r->count > 2 || !each) && strcmp(r->at[k].name, r->at[l].name) == 0)
                status = cli_error(EXIT_USAGE, "two recordings are named %s; --label tells them apart",
                                   r->at[k].name);
    size_t standard = 0;
    for (size_t k = 0; k < r->count; k++)
        for (size_t i = 0; i < r->at[k].count; i++) standard += strcmp(r->at[k].inputs[i], "-") == 0;
    if (!status && standard > 1)
        status = cli_error(EXIT_USAGE, "%s: only one of the INPUTs can be standard input", c->command->name);
    return status;
}

/* Moves the note under "matrix" to the list "matrices", with its label. */
static void list_matrix(const cli_common *c, const char *label) {
    json_t *list = json_object_get(c->input, "matrices"), *one = json_object_get(c->input, "matrix");
    if (!list && json_object_set_new(c->input, "matrices", json_array()) == 0)
        list = json_object_get(c->input, "matrices");
    json_object_set_new(one, "label", cli_string(label));
    json_array_append(list, one);
    json_object_del(c->input, "matrix");
}

int cli_recordings_read(const cli_common *c, cli_recordings *r, int centered) {
    int status = EXIT_DONE;
    const char *role = r->count > 1 ? "matrix" : NULL;
    for (size_t k = 0; k < r->count && !status; k++) {
        cli_recording *one = &r->at[k];
        status = cli_read_inputs(c, role, one->inputs, one->count, &one->data);
        if (status) break;
        cli_note_treatment(c, role, centered, 0);
        if (role) list_matrix(c, one->name);
    }
    return status;
}

int cli_check_paired(const cli_recording *r, int rows, int cols) {
    const size_t of_rows = rows ? r->data->omitted_rows : 0, of_cols = cols ? r->data->omitted_cols : 0;
    if (!of_rows && !of_cols) return EXIT_DONE;
    return cli_error(
        EXIT_INPUT,
        "%s: %zu %s%s with missing values would be left out of it alone, and the others no longer "
        "pair; leave the same out of all (--select-%s)",
        r->name, of_rows + of_cols, of_rows ? "row" : "column", cli_s(of_rows + of_cols),
        of_rows ? "rows" : "cols");
}

void cli_recordings_free(cli_recordings *r) {
    for (size_t k = 0; k < r->count; k++) {
        kspec_free(r->at[k].data);
        free((void *)r->at[k].inputs);
    }
    for (size_t k = 0; k < r->line_count; k++) free(r->lines[k]);
    free(r->lines);
    free(r->at);
    *r = (cli_recordings){0};
}

cli_common cli_of_recording(const cli_common *c, const cli_recording *r) {
    cli_common one = *c;
    one.inputs = r->inputs, one.input_count = r->count;
    return one;
}
