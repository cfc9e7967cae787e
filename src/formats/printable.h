/* Makes bytes from a file, or a file's name, safe for a one-line message. */
#pragma once

#include "base/letters.h"

#include <string.h>

/*
 * Copies n bytes as a string. Bytes that belong to no letter become '?', and a text too long for dst ends in
 * "...".
 */
static inline char *ks_printable(char *dst, size_t capacity, const void *text, size_t n) {
    const unsigned char *s = text;
    size_t keep = n < capacity ? n : capacity - 4;
    while (keep && keep < n && (s[keep] & 0xc0) == 0x80) keep--; /* never cuts a character */
    ks_copy_printable(dst, s, keep);
    if (keep < n)
        for (size_t i = 0; i < 3; i++) dst[keep++] = '.';
    dst[keep] = 0;
    return dst;
}

/* The largest printed name of an input has this length, which leaves space for the rest of the message. */
enum { KS_NAME_LENGTH = 160 };
typedef char ks_name[KS_NAME_LENGTH + 1];

/*
 * Shortens the name of an input for messages. A long path is cut at its beginning, because its end is more
 * specific.
 */
static inline char *ks_display_name(ks_name dst, const char *input) {
    static const char cut[] = "…";
    if (strcmp(input, "-") == 0) return strcpy(dst, "standard input");
    size_t n = strlen(input), at = 0;
    if (n > KS_NAME_LENGTH) {
        at = sizeof cut - 1;
        input += n - (KS_NAME_LENGTH - at);
        while ((*input & 0xc0) == 0x80) input++; /* whole UTF-8 characters */
        memcpy(dst, cut, at);
    }
    ks_printable(dst + at, KS_NAME_LENGTH + 1 - at, input, strlen(input));
    return dst;
}
