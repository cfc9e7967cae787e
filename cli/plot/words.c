/* Cleans the texts of a figure: valid UTF-8 without control characters, for any input. */
#include "plot/plot.h"

#include <string.h>

/* Returns the length in bytes of the letter at s, or 0 if XML does not allow these bytes as UTF-8. */
static size_t letter(const char *s, size_t left) {
    size_t n = cli_letter(s, left);
    return n == 3 && memcmp(s, "\xef\xbf", 2) == 0 && (unsigned char)s[2] >= 0xbe ? 0
                                                                                  : n; /* U+FFFE, U+FFFF */
}

/* Returns the length of the plain text in braces after ^ or _, or 0 without braces. */
static size_t braced(const char *s) {
    size_t n = s[1] == '{' ? strcspn(s + 2, "{}^_") : 0;
    return n && s[2 + n] == '}' ? n : 0;
}

typedef void put_run(FILE *to, const char *run, size_t n, char kind);

/* Passes up to `most` letters of a run to put(), which may be NULL, and returns their number. */
static size_t plain(FILE *to, const char *text, size_t size, size_t most, char kind, put_run *put) {
    char run[512];
    size_t n = 0, letters = 0;
    for (const char *s = text; s < text + size && letters < most; letters++) {
        size_t bytes = letter(s, (size_t)(text + size - s));
        if (n + 4 > sizeof run) {
            if (put) put(to, run, n, kind);
            n = 0;
        }
        if (bytes == 0) {
            run[n++] = '?', s++;
        } else if (cli_is_control(s, bytes)) {
            run[n++] = ' ', s += bytes;
        } else {
            memcpy(run + n, s, bytes);
            n += bytes, s += bytes;
        }
    }
    if (n && put) put(to, run, n, kind);
    return letters;
}

static size_t walk(FILE *to, const char *text, size_t most, put_run *put) {
    size_t letters = 0;
    while (*text && letters < most) {
        size_t n = *text == '^' || *text == '_' ? braced(text) : 0;
        if (n) {
            letters += plain(to, text + 2, n, most - letters, *text, put);
            text += n + 3;
        } else {
            n = 1 + strcspn(text + 1, "^_");
            letters += plain(to, text, n, most - letters, 0, put);
            text += n;
        }
    }
    return letters;
}

size_t plot_letters(const char *text) { return walk(NULL, text, SIZE_MAX, NULL); }

void plot_runs(FILE *to, const char *text, size_t most, put_run *put) {
    int cut = plot_letters(text) > most;
    walk(to, text, cut ? most - 1 : most, put);
    if (cut) put(to, "…", strlen("…"), 0);
}
