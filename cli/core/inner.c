/* Runs commands inside other commands: one table from many INPUTs, or a report on one. */
#include "core/cli.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
    char *message, *json;
} heard;

static void keep_error(void *ctx, int status, const char *text) {
    heard *h = ctx;
    (void)status;
    if (!h->message) h->message = strdup(text);
}

static void keep_code(void *ctx, kspec_status status) { (void)ctx, (void)status; }

static void keep_result(void *ctx, char *table, char *json) {
    heard *h = ctx;
    (void)table; /* The outer command does not print tables of inner commands. */
    free(h->json);
    h->json = json;
}

int cli_run_inner(const cli_common *c, size_t argc, const char *const *argv, json_t **object,
                  char **message) {
    heard h = {0};
    const cli_host *outer = cli_hosted;
    const cli_host host = {&h, keep_error, keep_code, keep_result, cli_progress(c), outer ? outer->inner : 1};
    char *line = cli_line_take();
    json_error_t where;
    cli_hosted = &host;
    int status = cli_run((int)argc, (char **)argv, NULL);
    cli_hosted = outer;
    cli_line_give(line);
    cli_progress_end();
    *object = !status && h.json ? cli_json_parse(h.json, strlen(h.json), &where) : NULL;
    if (!status && !*object) status = EXIT_FAILED;
    free(h.json);
    *message = h.message;
    return status;
}
