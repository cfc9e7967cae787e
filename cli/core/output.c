#include "core/cli.h"
#include "plot/plot.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char *text;
static size_t text_size;
static FILE *stream;

FILE *cli_text(void) {
    if (!stream) stream = open_memstream(&text, &text_size);
    return stream ? stream : stderr;
}

static int styled(const cli_common *c) { return !c->output && !c->json && isatty(1) && !getenv("NO_COLOR"); }

const char *cli_bold(const cli_common *c) { return styled(c) ? "\033[1m" : ""; }
const char *cli_plain(const cli_common *c) { return styled(c) ? "\033[0m" : ""; }

/* Bytes that are not UTF-8 cannot stand in JSON: all bytes above 127 then become '?'. */
json_t *cli_string(const char *s) {
    json_t *o = json_string(s);
    char *copy = o ? NULL : strdup(s);
    for (char *c = copy; c && *c; c++)
        if ((unsigned char)*c > 127) *c = '?';
    if (copy) o = json_string(copy);
    free(copy);
    return o ? o : json_null();
}

void cli_cell(FILE *f, const char *format, int width, double x) {
    char cell[40] = "";
    if (isfinite(x)) snprintf(cell, sizeof cell, format, x);
    fprintf(f, "  %*s", width, cell);
}

json_t *cli_real(double x) { return isfinite(x) ? json_real(x) : json_null(); }

json_t *cli_reals(const double *x, size_t count) {
    json_t *a = json_array();
    for (size_t i = 0; i < count; i++) json_array_append_new(a, cli_real(x[i]));
    return a;
}

static int send_out(const cli_common *c, const char *data, size_t size) {
    if (c->output && strcmp(c->output, "-") != 0) {
        kspec_error err;
        if (kspec_write_text(c->output, data, size, &err)) return cli_error(EXIT_FAILED, "%s", err.msg);
        return EXIT_DONE;
    }
    if (fwrite(data, 1, size, stdout) != size || fflush(stdout) != 0)
        return cli_error(EXIT_FAILED, "cannot write to standard output: %s", strerror(errno));
    return EXIT_DONE;
}

/* ---- the command line, as a shell would take it ---- */

static char *line;

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
    char *longer = NULL;
    size_t size;
    FILE *f = open_memstream(&longer, &size);
    if (!f) return; /* without memory the command will fail soon enough */
    fprintf(f, "%s ", line ? line : "kspec");
    quote(f, word);
    if (fclose(f) != 0) {
        free(longer);
        return;
    }
    free(line);
    line = longer;
}

/* ---- the end of every command ---- */

static int draw(const cli_common *c, const json_t *object) {
    const plot_source s = {object, plot_word(object, "command", NULL), NULL, NULL};
    return plot_write(c->plot, &s, 1, &(plot_look){0}, NULL);
}

int cli_finish(const cli_common *c, json_t *object) {
    cli_progress_end();
    int status;
    if (object) json_object_set_new(object, "command_line", cli_string(line ? line : "kspec"));
    if (c->json) {
        char *dump = json_dumps(object, JSON_INDENT(1) | JSON_REAL_PRECISION(17));
        if (!dump) {
            status = cli_error(EXIT_FAILED, "out of memory for the JSON output");
        } else {
            size_t n = strlen(dump);
            dump[n] = '\n'; /* in place of the terminator: send_out() goes by size */
            status = send_out(c, dump, n + 1);
        }
        free(dump);
    } else {
        status = cli_text() == stderr || fflush(stream) != 0 ? cli_error(EXIT_FAILED, "out of memory")
                                                             : send_out(c, text, text_size);
    }
    if (c->plot) { /* the result is out, whatever comes of its picture */
        int drawn = draw(c, object);
        if (!status) status = drawn;
    }
    json_decref(object);
    if (stream) fclose(stream);
    stream = NULL;
    free(text);
    free(line);
    text = line = NULL;
    return status;
}
