/*
 * Remembers any failed allocation, so that the tool never prints an incomplete result. Code that builds JSON
 * values and tables does not check each allocation. If one failed, cli_done() prints one message instead.
 */
#include "core/cli.h"

#include <stdlib.h>
#include <string.h>

static _Thread_local int failed;

void cli_memory_forget(void) { failed = 0; }

void cli_memory_lost(void) { failed = 1; }

int cli_memory_failed(void) { return failed; }

/*
 * Memory that jansson may use between two of our calls while it parses JSON. Without this reserve its scanner
 * would skip a letter that found no room, and end the process if that letter was a quote.
 */
static _Thread_local struct {
    char *bytes;
    size_t size, used;
} reserve;

static void *take(size_t size) {
    void *p = malloc(size);
    if (p) return p;
    cli_memory_lost();
    size = (size + 15) / 16 * 16;
    if (size > reserve.size - reserve.used) return NULL;
    reserve.used += size;
    return reserve.bytes + reserve.used - size;
}

static void give(void *p) {
    const char *c = p;
    if (!reserve.bytes || c < reserve.bytes || c >= reserve.bytes + reserve.size) free(p);
}

void cli_memory_watch(void) { json_set_alloc_funcs(take, give); }

/* ---- parsing JSON ---- */

static char *read_all(FILE *f, size_t *size) {
    char *text = NULL;
    size_t room = 0, n = 0;
    do {
        if (n == room) {
            room = 2 * room + 65536;
            char *more = realloc(text, room);
            if (!more) {
                cli_memory_lost();
                free(text);
                return NULL;
            }
            text = more;
        }
        *size = n += fread(text + n, 1, room - n, f);
    } while (n == room);
    return text;
}

typedef struct {
    const char *at, *end;
} rest;

/* Ends the text once memory is short: jansson asks for little at a time. */
static size_t next(void *to, size_t most, void *data) {
    rest *r = data;
    size_t n = (size_t)(r->end - r->at);
    if (failed) return (size_t)-1;
    if (n > most) n = most;
    memcpy(to, r->at, n);
    r->at += n;
    return n;
}

json_t *cli_json_parse(const char *text, size_t size, json_error_t *where) {
    /* jansson asks for this many bytes at a time, and each takes about 128 bytes of memory */
    enum { SCANNED = 1024 };
    json_t *json = NULL;
    /* The current word, which may be the whole text, also needs memory. */
    reserve.size = 3 * size + 256 * SCANNED;
    reserve.used = 0;
    reserve.bytes = malloc(reserve.size);
    if (reserve.bytes) {
        rest r = {text, text + size};
        json = json_load_callback(next, &r, 0, where);
        if (failed) {
            json_decref(json);
            json = NULL;
        }
        free(reserve.bytes);
    } else {
        cli_memory_lost();
    }
    reserve.bytes = NULL, reserve.size = reserve.used = 0;
    return json;
}

json_t *cli_json_load(FILE *f, json_error_t *where) {
    size_t size = 0;
    char *text = read_all(f, &size);
    json_t *json = text ? cli_json_parse(text, size, where) : NULL;
    free(text);
    return json;
}

json_t *cli_json_file(const char *path) {
    json_error_t where;
    FILE *f = fopen(path, "rb");
    json_t *json = f ? cli_json_load(f, &where) : NULL;
    if (f) fclose(f);
    return json;
}

/* ---- a growing text: open_memstream() forgets text that found no memory ---- */

static ssize_t append(void *cookie, const char *bytes, size_t size) {
    cli_text *t = cookie;
    if (size > t->room - t->size) {
        size_t room = 2 * t->room + size + 4096;
        char *more = realloc(t->data, room);
        if (!more) {
            cli_memory_lost();
            t->failed = 1;
            return 0; /* also sets the error of the stream */
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
    fputc(0, t->stream); /* A final zero makes the text a C string. */
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
