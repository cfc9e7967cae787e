/* Numbers as binary files store them, and their conversion to doubles. */
#pragma once

#include <stddef.h>

typedef struct {
    char kind;     /* 'f' float, 'i' signed, 'u' unsigned, 'b' bool: NumPy's letters; 0: none */
    unsigned size; /* size in bytes: 2, 4 or 8 for f; 1, 2, 4 or 8 for i and u; 1 for b */
    int swap;      /* 1 if the byte order of the file differs from the byte order of this machine */
} ks_element;

#define KS_LITTLE_ENDIAN (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)

/* Is this one of the types listed above? */
int ks_element_known(ks_element e);

/*
 * Converts `count` elements at `in`, of any alignment, to doubles. The conversion is exact, except that
 * 64-bit integers beyond 2^53 are rounded to the nearest double. `e` must be known.
 */
void ks_element_convert(ks_element e, const unsigned char *in, size_t count, double *out);

/* Can the bytes be used as doubles in place? */
static inline int ks_element_is_double(ks_element e) { return e.kind == 'f' && e.size == 8 && !e.swap; }
