/* Describes numbers as binary files store them, and converts them to doubles. */
#pragma once

#include <stddef.h>

typedef struct {
    char kind;     /* NumPy's letters: 'f' float, 'i' signed, 'u' unsigned, 'b' bool. 0 means none. */
    unsigned size; /* Size in bytes. Floats have 2, 4 or 8, integers 1, 2, 4 or 8, and bool has 1. */
    int swap;      /* If swap is 1, the byte order of the file differs from the byte order of this machine. */
} ks_element;

#define KS_LITTLE_ENDIAN (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)

/* Does ks_element_convert() support this type? */
int ks_element_known(ks_element e);

/*
 * Converts `count` elements at `in`, of any alignment, to doubles. `e` must be a known type. The conversion
 * is exact, except that 64-bit integers beyond 2^53 are rounded to the nearest double.
 */
void ks_element_convert(ks_element e, const unsigned char *in, size_t count, double *out);

/* Can the elements be used as doubles in place? */
static inline int ks_element_is_double(ks_element e) { return e.kind == 'f' && e.size == 8 && !e.swap; }
