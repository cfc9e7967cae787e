/* Parses decimal numbers with correct rounding, at high speed. */
#include "formats/number.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The number in a field is +-w * 10^exp10. If the number has many digits, w is cut off at 2^64. */
typedef struct {
    const char *digits, *digits_end; /* With at most one point. */
    ptrdiff_t count;                 /* includes leading zeros */
    uint64_t w;
    int64_t exp10;
    int negative;
} decimal;

enum { EXACT_DIGITS = 19, MAX_EXP = 27 }; /* 10^19 < 2^64, 5^27 < 2^63 */

static inline int is_digit(char c) { return (unsigned char)(c - '0') < 10; }

/* Returns a lower-case letter. Digits, '?' and '/' stay as they are. */
static inline char lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c; }

static int is_word(const char *s, size_t len, const char *word) {
    for (; len && *word; len--, s++, word++)
        if (lower(*s) != *word) return 0;
    return !len && !*word;
}

/*
 * Reads an optional sign: +, - or U+2212, the minus of typesetters and of spreadsheets. If the next byte is a
 * digit, one comparison excludes all of them (bytes above 127 are negative as char).
 */
static inline const char *scan_sign(const char *p, const char *end, int *negative) {
    *negative = 0;
    if (p == end || (signed char)*p >= '0') return p;
    if (*p == '-' || *p == '+') {
        *negative = *p == '-';
        return p + 1;
    }
    if (end - p < 3 || memcmp(p, "\xe2\x88\x92", 3) != 0) return p;
    *negative = 1;
    return p + 3;
}

/* Parses a field without digits: an infinity or a missing value. */
static ks_number_kind parse_word(const char *s, size_t len, double *value) {
    int negative;
    size_t sign = (size_t)(scan_sign(s, s + len, &negative) - s);
    if (is_word(s + sign, len - sign, "inf") || is_word(s + sign, len - sign, "infinity")) {
        *value = negative ? -INFINITY : INFINITY;
        return KS_NUMBER;
    }
    *value = NAN;
    if (!len || is_word(s, len, "na") || is_word(s, len, "n/a") || is_word(s, len, "?") ||
        is_word(s, len, "null") || is_word(s + sign, len - sign, "nan"))
        return KS_MISSING;
    return KS_NO_NUMBER;
}

/*
 * Converts up to eight digits at once. Bytes become pairs, then fours, then eight. Reading all digits without
 * a branch for each is fast, since the processor cannot predict the end of a number.
 */
static inline unsigned eight_digits(const char *p, uint64_t *w) {
    static const uint64_t ten[] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000};
    uint64_t x;
    memcpy(&x, p, 8);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    x = __builtin_bswap64(x);
#endif
    x ^= UINT64_C(0x3030303030303030); /* digits become 0 ... 9 */
    uint64_t others = ((x + UINT64_C(0x7676767676767676)) | x) & UINT64_C(0x8080808080808080);
    unsigned n = others ? (unsigned)__builtin_ctzll(others) / 8 : 8;
    x = x << (32 - 4 * n) << (32 - 4 * n);
    x = x * 10 + (x >> 8);
    x = (x & UINT64_C(0x00ff00ff00ff00ff)) * 100 + (x >> 16 & UINT64_C(0x00ff00ff00ff00ff));
    x = (x & UINT64_C(0x0000ffff0000ffff)) * 10000 + (x >> 32 & UINT64_C(0x0000ffff));
    *w = *w * ten[n] + (x & UINT64_C(0xffffffff));
    return n;
}

static inline const char *scan_digits(const char *p, const char *end, uint64_t *w) {
    for (unsigned n = 8; n == 8 && end - p >= 8; p += n) n = eight_digits(p, w);
    while (p < end && is_digit(*p)) *w = 10 * *w + (uint64_t)(*p++ - '0');
    return p;
}

/* Scans the longest number at s. Returns NULL if s does not begin with a number. */
static inline const char *scan(const char *s, const char *end, char point, decimal *d) {
    const char *p = scan_sign(s, end, &d->negative);
    d->w = 0;
    d->digits = p;
    while (p < end && is_digit(*p)) d->w = 10 * d->w + (uint64_t)(*p++ - '0');
    d->count = p - d->digits;
    d->exp10 = 0;
    if (p < end && *p == point) {
        const char *fraction = ++p;
        p = scan_digits(p, end, &d->w);
        d->exp10 = fraction - p;
        d->count += p - fraction;
    }
    d->digits_end = p;
    if (!d->count) return NULL;
    /* Fortran writes the exponent of a double with a D. */
    if (p < end && (lower(*p) == 'e' || lower(*p) == 'd')) {
        int minus;
        p = scan_sign(p + 1, end, &minus);
        if (p == end || !is_digit(*p)) return NULL;
        int64_t e = 0;
        for (; p < end && is_digit(*p); p++) /* 2^50 is enough */
            if (e < INT64_C(1) << 50) e = 10 * e + (*p - '0');
        d->exp10 += minus ? -e : e;
    }
    return p;
}

static inline double power_of_two(int k) { /* |k| < 1000 */
    uint64_t bits = (uint64_t)(1023 + k) << 52;
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/*
 * Computes w * 10^e for |e| <= 27 in integers. 10^e is 2^e 5^e, and 5^27 has 63 bits. So the product is exact
 * in 128 bits. The quotient has 62 correct bits. Rounding then needs to know only whether the remainder is 0.
 */
static double exact(uint64_t w, int e) {
#define FOUR_FROM(x) (x), 5 * (x), 25 * (x), 125 * (x)
    static const uint64_t five[MAX_EXP + 1] = {
        FOUR_FROM(UINT64_C(1)),
        FOUR_FROM(UINT64_C(625)),
        FOUR_FROM(UINT64_C(390625)),
        FOUR_FROM(UINT64_C(244140625)),
        FOUR_FROM(UINT64_C(152587890625)),
        FOUR_FROM(UINT64_C(95367431640625)),
        FOUR_FROM(UINT64_C(59604644775390625)),
    };
    if (e >= 0) return (double)((unsigned __int128)w * five[e]) * power_of_two(e);
    int wshift = __builtin_clzll(w), dshift = __builtin_clzll(five[-e]);
    unsigned __int128 numerator = (unsigned __int128)(w << wshift) << 63;
    uint64_t divisor = five[-e] << dshift;
    uint64_t quotient = (uint64_t)(numerator / divisor); /* in [2^62, 2^64) */
    int rest = (unsigned __int128)quotient * divisor != numerator;
    return (double)(quotient | (uint64_t)rest) * power_of_two(e - 63 - wshift + dshift);
}

/*
 * Converts any number of digits by strtod(), which rounds correctly. strtod() receives the digits as one
 * integer without a point, because every locale reads integers alike. 767 digits suffice to round correctly.
 * Digits after the 800th matter only if one of them is not 0. Then a final 1 replaces these digits.
 */
static double by_strtod(const decimal *d) {
    enum { KEEP = 800 };
    char text[KEEP + 32];
    size_t n = 0;
    int64_t exp10 = d->exp10;
    int rest = 0;
    for (const char *p = d->digits; p < d->digits_end; p++) {
        if (!is_digit(*p) || (n == 0 && *p == '0')) continue;
        if (n < KEEP) {
            text[n++] = *p;
        } else {
            rest |= *p != '0';
            exp10++;
        }
    }
    if (rest) {
        text[n++] = '1';
        exp10--;
    }
    if (exp10 > 100000) exp10 = 100000;
    if (exp10 < -100000) exp10 = -100000;
    snprintf(text + n, sizeof text - n, "e%d", (int)exp10);
    return n ? strtod(text, NULL) : 0.0;
}

static double evaluate(const decimal *d) {
    static const double ten[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    ptrdiff_t significant = d->count;
    if (significant > EXACT_DIGITS) /* w ignores leading zeros */
        for (const char *p = d->digits; p < d->digits_end && (*p == '0' || !is_digit(*p)); p++)
            significant -= *p == '0';
    if (significant > EXACT_DIGITS || d->exp10 > MAX_EXP || d->exp10 < -MAX_EXP) return by_strtod(d);
    if (!d->w) return 0.0;
    int e = (int)d->exp10;
    /* Both operands are exact doubles, so the operation rounds once. */
    if (d->w <= UINT64_C(1) << 53 && e <= 22 && e >= -22)
        return e < 0 ? (double)d->w / ten[-e] : (double)d->w * ten[e];
    return exact(d->w, e);
}

const char *ks_number_prefix(const char *s, const char *end, double *value) {
    decimal d;
    const char *p = scan(s, end, '.', &d);
    if (!p) return NULL;
    double x = evaluate(&d);
    *value = d.negative ? -x : x;
    return p;
}

ks_number_kind ks_number_parse(const char *s, size_t len, double *value) {
    return len && ks_number_prefix(s, s + len, value) == s + len ? KS_NUMBER : parse_word(s, len, value);
}

int ks_number_begins(const char *s, size_t len) {
    int negative;
    const char *end = s + len, *p = scan_sign(s, end, &negative);
    if (p < end && *p == '.') p++;
    return p < end && is_digit(*p);
}

int ks_number_has_comma(const char *s, size_t len) {
    decimal d;
    return memchr(s, ',', len) && scan(s, s + len, ',', &d) == s + len;
}
