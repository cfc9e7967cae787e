/* Ends every command: prints its table or JSON object, and draws its picture. */
#include "core/cli.h"
#include "kspec/host.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- values and cells ---- */

/* Is the output a terminal? A launcher may give its processes a terminal and write their output to a file. */
static int styled(const cli_common *c) {
    return !c->output && !c->json && isatty(1) && !getenv("NO_COLOR") && !cli_is_launched();
}

const char *cli_bold(const cli_common *c) { return styled(c) ? "\033[1m" : ""; }
const char *cli_plain(const cli_common *c) { return styled(c) ? "\033[0m" : ""; }

/* JSON needs UTF-8. In a text with other bytes, all bytes above 127 become '?'. */
json_t *cli_string(const char *s) {
    json_t *o = json_string(s);
    char *copy = o ? NULL : strdup(s);
    if (!o && !copy) cli_memory_lost();
    for (char *c = copy; c && *c; c++)
        if ((unsigned char)*c > 127) *c = '?';
    if (copy) o = json_string(copy);
    free(copy);
    return o ? o : json_null();
}

void cli_cell(FILE *f, const char *format, int width, double x) {
    char cell[40] = "";
    if (isfinite(x)) snprintf(cell, sizeof cell, format, x + 0.0); /* no "-0" */
    fprintf(f, "  %*s", width, cell);
}

void cli_print_p(FILE *f, int width, double p) {
    if (p < 1e-16)
        fprintf(f, "%*s", width, "<1e-16");
    else if (isfinite(p))
        fprintf(f, "%*.2g", width, p);
    else
        fprintf(f, "%*s", width, "");
}

json_t *cli_real(double x) { return isfinite(x) ? json_real(x) : json_null(); }

json_t *cli_reals(const double *x, size_t count) {
    json_t *a = json_array();
    for (size_t i = 0; i < count; i++) json_array_append_new(a, cli_real(x[i]));
    return a;
}

json_t *cli_real_rows(const double *x, size_t rows, size_t cols) {
    json_t *a = json_array();
    for (size_t i = 0; i < rows; i++) json_array_append_new(a, cli_reals(x + i * cols, cols));
    return a;
}

void cli_set_reals(json_t *object, const cli_member *members) {
    for (; members->key; members++) json_object_set_new(object, members->key, cli_real(members->value));
}

/* ---- the end of every command ---- */

static int send_out(const char *output, const char *data, size_t size) {
    if (output && strcmp(output, "-") != 0) {
        kspec_error err;
        kspec_status st = kspec_write_text(output, data, size, &err);
        return st ? cli_fail_writing(st, &err) : EXIT_DONE;
    }
    int lost = fwrite(data, 1, size, stdout) != size || fflush(stdout) != 0;
    clearerr(stdout); /* Clears the error, because a host may still use stdout. */
    return lost ? cli_fail_output() : EXIT_DONE;
}

static int send_table(const char *output, void (*print)(FILE *f, const void *result), const void *result) {
    cli_text text;
    FILE *f = cli_text_open(&text);
    if (f) print(f, result);
    if (!cli_text_close(&text)) return cli_no_memory();
    cli_make_printable(text.data, text.size, 1);
    int status = send_out(output, text.data, text.size);
    free(text.data);
    return status;
}

int cli_print(void (*print)(FILE *f, const void *what), const void *what) {
    return send_table(NULL, print, what);
}

/* Escapes DEL and the control characters of C1 (\u007f and so on), which jansson writes unchanged. */
static char *escape_controls(char *dump) {
    size_t n = strlen(dump), count = 0;
    for (size_t i = 0; i < n; i++)
        count += dump[i] == 127 || (dump[i] == '\xc2' && cli_is_control(dump + i, 2));
    char *escaped = count ? malloc(n + 5 * count + 2) : NULL, *to = escaped;
    if (!escaped) return count ? NULL : dump;
    for (size_t i = 0; i < n;) {
        size_t k = dump[i] == '\xc2' ? 2 : 1;
        if (dump[i] == 127 || (k == 2 && cli_is_control(dump + i, 2)))
            to += sprintf(to, "\\u%04x", (unsigned)(unsigned char)dump[i + k - 1]), i += k;
        else
            *to++ = dump[i++];
    }
    *to = 0;
    free(dump);
    return escaped;
}

static int send_object(const char *output, const json_t *object) {
    char *dump = json_dumps(object, JSON_INDENT(1) | JSON_REAL_PRECISION(17));
    char *whole = dump;
    if (dump) dump = escape_controls(dump);
    if (!dump || cli_memory_failed()) {
        free(dump ? dump : whole);
        return cli_error(EXIT_FAILED, "out of memory for the JSON output");
    }
    size_t n = strlen(dump);
    dump[n] = '\n'; /* replaces the terminator: send_out() knows the size */
    int status = send_out(output, dump, n + 1);
    free(dump);
    return status;
}

/* Gives the host the object, and the table if the host wants one. */
static int hand_over(const cli_common *c, void (*print)(FILE *f, const void *result),
                     json_t *(*keys)(const void *result), const void *result) {
    cli_text table = {0};
    json_t *object = cli_envelope(c, keys(result));
    char *json = json_dumps(object, JSON_COMPACT | JSON_REAL_PRECISION(17));
    FILE *f = cli_hosted->shows ? cli_text_open(&table) : NULL;
    if (f && print) print(f, result);
    int whole = (!cli_hosted->shows || cli_text_close(&table)) && json && !cli_memory_failed();
    if (whole) {
        cli_make_printable(table.data, table.size, 1);
        cli_hosted->done(cli_hosted->ctx, table.data, json);
    } else {
        free(table.data);
        free(json);
    }
    json_decref(object);
    return whole ? EXIT_DONE : cli_no_memory();
}

int cli_done(const cli_common *c, void (*print)(FILE *f, const void *result),
             json_t *(*keys)(const void *result), const void *result) {
    cli_progress_end();
    int changed = cli_check_mapped(c);
    if (changed) return changed;
    if (cli_hosted) return hand_over(c, print, keys, result);
    const char *output = c->command->writes_output ? NULL : c->output;
    json_t *object = cli_wants_object(c) ? cli_envelope(c, keys(result)) : NULL;
    int status = EXIT_DONE;
    if (cli_memory_failed()) /* An allocation failed, so the result is incomplete */
        status = cli_no_memory();
    else if (c->json)
        status = send_object(output, object);
    else if (print)
        status = send_table(output, print, result);
    /* The result is already written, even if drawing fails. */
    if (c->plot && object && !cli_memory_failed()) {
        int drawn = c->draw(c->plot, object);
        if (!status) status = drawn;
    }
    json_decref(object);
    return status;
}
