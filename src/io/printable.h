/* Bytes from a file, made fit for a one-line message. */
#ifndef KS_IO_PRINTABLE_H
#define KS_IO_PRINTABLE_H

#include <stddef.h>

/* Copies n bytes as a string: control characters become '?', a text too long for dst ends in "...". */
static inline char *ks_printable(char *dst, size_t capacity, const void *text, size_t n) {
    const unsigned char *s = text;
    size_t keep = n < capacity ? n : capacity - 4;
    for (size_t i = 0; i < keep; i++) dst[i] = (char)(s[i] < 0x20 || s[i] == 0x7f ? '?' : s[i]);
    if (keep < n)
        for (size_t i = 0; i < 3; i++) dst[keep++] = '.';
    dst[keep] = 0;
    return dst;
}

#endif
