/* Converts numbers of every binary type to doubles. */
#include "formats/element.h"

#include <stdint.h>
#include <string.h>

static inline uint8_t swap8(uint8_t v) { return v; }
#define swap16 __builtin_bswap16
#define swap32 __builtin_bswap32
#define swap64 __builtin_bswap64

/*
 * Defines a loop over elements of `bits` bits. VALUE turns the integer u that contains an element into a
 * double. Swapped bytes have a separate loop, so that both loops vectorise.
 */
#define CONVERT(name, bits, VALUE)                                                                     \
    static void name(const unsigned char *restrict in, size_t count, int swap, double *restrict out) { \
        uint##bits##_t u;                                                                              \
        if (swap)                                                                                      \
            for (size_t i = 0; i < count; i++) {                                                       \
                memcpy(&u, in + i * sizeof u, sizeof u);                                               \
                u = swap##bits(u);                                                                     \
                out[i] = VALUE;                                                                        \
            }                                                                                          \
        else                                                                                           \
            for (size_t i = 0; i < count; i++) {                                                       \
                memcpy(&u, in + i * sizeof u, sizeof u);                                               \
                out[i] = VALUE;                                                                        \
            }                                                                                          \
    }

static inline double double_of(uint64_t u) {
    double v;
    memcpy(&v, &u, sizeof v);
    return v;
}

static inline double single_of(uint32_t u) {
    float v;
    memcpy(&v, &u, sizeof v);
    return v;
}

/*
 * Converts a half-precision number, which has 1 sign bit, 5 exponent bits (bias 15) and 10 fraction bits.
 * After a shift of exponent and fraction to a double's positions, the value is too small by the factor
 * 2^(15-1023), also for subnormal numbers. Exponent 31 (infinity, NaN) must become 2047.
 */
static inline double half_of(uint16_t u) {
    uint64_t magnitude = (uint64_t)(u & 0x7fff) << 42;
    uint64_t sign = (uint64_t)(u & 0x8000) << 48;
    double finite = double_of(magnitude | sign) * 0x1p1008;
    double special = double_of(magnitude | sign | (uint64_t)0x7ff << 52);
    return (u & 0x7c00) == 0x7c00 ? special : finite;
}

CONVERT(from_b1, 8, u != 0)
CONVERT(from_u1, 8, u)
CONVERT(from_i1, 8, (int8_t)u)
CONVERT(from_u2, 16, u)
CONVERT(from_i2, 16, (int16_t)u)
CONVERT(from_u4, 32, u)
CONVERT(from_i4, 32, (int32_t)u)
CONVERT(from_u8, 64, (double)u)
CONVERT(from_i8, 64, (double)(int64_t)u)
CONVERT(from_f2, 16, half_of(u))
CONVERT(from_f4, 32, single_of(u))
CONVERT(from_f8, 64, double_of(u))

static const struct {
    char kind;
    unsigned size;
    void (*convert)(const unsigned char *restrict in, size_t count, int swap, double *restrict out);
} table[] = {
    {'b', 1, from_b1}, {'u', 1, from_u1}, {'u', 2, from_u2}, {'u', 4, from_u4},
    {'u', 8, from_u8}, {'i', 1, from_i1}, {'i', 2, from_i2}, {'i', 4, from_i4},
    {'i', 8, from_i8}, {'f', 2, from_f2}, {'f', 4, from_f4}, {'f', 8, from_f8},
};
enum { KNOWN = sizeof table / sizeof *table };

int ks_element_known(ks_element e) {
    for (int i = 0; i < KNOWN; i++)
        if (table[i].kind == e.kind && table[i].size == e.size) return 1;
    return 0;
}

void ks_element_convert(ks_element e, const unsigned char *in, size_t count, double *out) {
    for (int i = 0; i < KNOWN; i++)
        if (table[i].kind == e.kind && table[i].size == e.size) table[i].convert(in, count, e.swap, out);
}
