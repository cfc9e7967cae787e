/*
 * Memory of the tool. Where JSON values and tables are made, nobody looks at each allocation; so a failure is
 * remembered, and what was made is not printed: cli_done() ends in one message.
 */
#include "core/cli.h"

#include <stdlib.h>
#include <string.h>

static int failed;

void cli_memory_lost(void) { failed = 1; }

int cli_memory_failed(void) { return failed; }

static void *take(size_t size) {
    void *p = malloc(size);
    if (!p) cli_memory_lost();
    return p;
}

void cli_memory_watch(void) { json_set_alloc_funcs(take, free); }

/* ---- a text that grows: open_memstream() forgets what it had no memory for ---- */

static ssize_t append(void *cookie, const char *bytes, size_t size) {
    cli_text *t = cookie;
    if (size > t->room - t->size) {
        size_t room = 2 * t->room + size + 4096;
        char *more = realloc(t->data, room);
        if (!more) {
            cli_memory_lost();
            t->failed = 1;
            return 0; /* sets the stream's error, too */
        }
        t->data = more, t->room = room;
    }
    memcpy(t->data + t->size, bytes, size);
    t->size += size;
    return (ssize_t)size;
}

FILE *cli_text_open(cli_text *t) {
    *t = (cli_text){0};
    t->stream = fopencookie(t, "w", (cookie_io_functions_t){.write = append});
    if (!t->stream) cli_memory_lost();
    return t->stream;
}

int cli_text_close(cli_text *t) {
    if (!t->stream) return 0;
    fputc(0, t->stream); /* for who reads it as a string */
    int lost = ferror(t->stream);
    lost |= fclose(t->stream) != 0;
    if (lost || t->failed) {
        free(t->data);
        *t = (cli_text){.failed = 1};
        return 0;
    }
    t->size--;
    return 1;
}
