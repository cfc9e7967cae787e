/*
 * Makes text from outside safe for a terminal. The result is UTF-8 without control characters, and also
 * without the C1 controls (U+0080 to U+009F), which a terminal may obey like escape sequences.
 */
#pragma once

#include <stddef.h>

/*
 * Returns the length of the UTF-8 character at s, given `left` remaining bytes. Returns 0 if the bytes are
 * not UTF-8.
 */
static inline size_t ks_letter(const void *text, size_t left) {
    const unsigned char *s = text;
    size_t n = s[0] < 0x80 ? 1 : s[0] < 0xc2 ? 0 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : s[0] < 0xf5 ? 4 : 0;
    if (!n || n > left) return 0;
    for (size_t i = 1; i < n; i++)
        if ((s[i] & 0xc0) != 0x80) return 0;
    if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) || (s[0] == 0xf0 && s[1] < 0x90) ||
        (s[0] == 0xf4 && s[1] > 0x8f))
        return 0; /* surrogate or overlong */
    return n;
}

/* Is the character of n bytes at s a control character? */
static inline int ks_is_control(const void *text, size_t n) {
    const unsigned char *s = text;
    return n == 1 ? s[0] < 0x20 || s[0] == 0x7f : n == 2 && s[0] == 0xc2 && s[1] < 0xa0;
}

/*
 * Copies n bytes from `from` to `to`, which may be the same, and writes '?' for each byte that belongs to no
 * letter.
 */
static inline void ks_copy_printable(char *to, const void *from, size_t n) {
    const unsigned char *s = from;
    for (size_t i = 0; i < n;) {
        size_t k = ks_letter(s + i, n - i), bad = !k || ks_is_control(s + i, k);
        for (size_t end = i + (k ? k : 1); i < end; i++) to[i] = bad ? '?' : (char)s[i];
    }
}
