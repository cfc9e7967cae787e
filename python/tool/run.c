/* kspec_tool_run(): a command's messages and results, kept instead of printed. */
#include "kspec_tool.h"

#include "core/cli.h"
#include "kspec/host.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* The first message counts: a later one is about what followed from it. */
static void keep_error(void *ctx, int status, const char *text) {
    kspec_tool_result *r = ctx;
    (void)status;
    if (!r->message) r->message = strdup(text);
}

static void keep_code(void *ctx, kspec_status code) {
    kspec_tool_result *r = ctx;
    if (!r->code) r->code = code;
}

static void keep_result(void *ctx, char *table, char *json) {
    kspec_tool_result *r = ctx;
    free(r->table);
    free(r->json);
    r->table = table;
    r->json = json;
}

/* A host's callback takes a while, an interpreter's lock for one: it is not called for every report. */
typedef struct {
    const kspec_progress *to;
    double last;
} paced;

static int report(void *ctx, double fraction) {
    enum { A_SECOND = 20 };
    paced *p = ctx;
    double now = cli_now();
    if ((now - p->last) * A_SECOND < 1) return 0;
    p->last = now;
    return p->to->report(p->to->ctx, fraction);
}

static kspec_tool_result *run(int argc, const char *const *argv, const kspec_borrowed *arrays,
                              const kspec_progress *progress, kspec_accumulator *rows) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, cli_memory_watch);
    kspec_tool_result *r = calloc(1, sizeof *r);
    if (!r) return NULL;
    paced pace = {progress, cli_now()};
    const kspec_progress rarely = {progress && progress->report ? report : NULL, &pace};
    const cli_host host = {r, keep_error, keep_code, keep_result, rarely, .shows = 1, .accumulator = rows};
    const cli_call outer = cli_call_begin(&host);
    kspec_borrowed mine = arrays ? *arrays : (kspec_borrowed){0};
    mine.copies = 1;
    mine.waiting = rarely;
    const kspec_borrowed lent = kspec_borrow(&mine);
    r->status = cli_run(argc, (char **)argv, NULL);
    kspec_borrow(&lent);
    cli_call_end(outer);
    if (!r->message) r->message = strdup("");
    if (r->message && (r->status || r->json)) return r;
    kspec_tool_free(r);
    return NULL;
}

kspec_tool_result *kspec_tool_run(int argc, const char *const *argv, const kspec_borrowed *arrays,
                                  const kspec_progress *progress) {
    return run(argc, argv, arrays, progress, NULL);
}

kspec_tool_result *kspec_tool_accumulated(kspec_accumulator *rows) {
    static const char *const sampled[] = {
        [KSPEC_SAMPLED_BOTH] = "both", [KSPEC_SAMPLED_ROWS] = "rows", [KSPEC_SAMPLED_COLS] = "cols"};
    const kspec_accumulator_shape *s = kspec_accumulator_describe(rows);
    const int two = s->other_features > 0;
    const char *words[6] = {two ? "compare" : "dimension", two ? "first" : "rows"};
    int count = 2;
    if (two) words[count++] = "second";
    if (s->sampled != KSPEC_SAMPLED_BOTH) words[count++] = "--sampled", words[count++] = sampled[s->sampled];
    if (s->center == KSPEC_CENTER_NONE) words[count++] = "--center=none";
    return run(count, words, NULL, NULL, rows);
}

void kspec_tool_free(kspec_tool_result *result) {
    if (!result) return;
    free(result->message);
    free(result->table);
    free(result->json);
    free(result);
}
