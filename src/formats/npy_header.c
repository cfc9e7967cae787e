/*
 * Parses the header of a NumPy array, which is a Python dict literal such as
 *    {'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }
 * Its keys may be in any order, with either kind of quotes, and blanks anywhere.
 */
#include "formats/npy.h"

#include "base/error.h"
#include "formats/printable.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { MAX_HEADER = 1 << 20 }; /* A header takes about 100 bytes. */

typedef struct {
    const char *at, *end;
    const char *name; /* the input's name */
    kspec_error *err;
} cursor;

static kspec_status bad(const cursor *c, const char *what) {
    char host[24];
    ks_printable(host, sizeof host, c->at, (size_t)(c->end - c->at));
    return ks_fail(c->err, KSPEC_E_IO, "%s: bad npy header: %s at \"%s\"", c->name, what, host);
}

static char peek(cursor *c) {
    while (c->at < c->end && (*c->at == ' ' || *c->at == '\n' || *c->at == '\t' || *c->at == '\r')) c->at++;
    return c->at < c->end ? *c->at : '\0';
}

static int take(cursor *c, char wanted) {
    if (peek(c) != wanted) return 0;
    c->at++;
    return 1;
}

/* Reads a quoted string without escapes. NumPy writes no escapes. */
static int take_string(cursor *c, const char **text, size_t *length) {
    char quote = peek(c);
    if (quote != '\'' && quote != '"') return 0;
    const char *begin = c->at + 1, *close = memchr(begin, quote, (size_t)(c->end - begin));
    if (!close || memchr(begin, '\\', (size_t)(close - begin))) return 0;
    *text = begin;
    *length = (size_t)(close - begin);
    c->at = close + 1;
    return 1;
}

static int take_word(cursor *c, const char *word) {
    size_t n = strlen(word);
    peek(c);
    if ((size_t)(c->end - c->at) < n || memcmp(c->at, word, n) != 0) return 0;
    c->at += n;
    return 1;
}

/* ---- descr ---- */

/* Reports an unsupported dtype, and suggests a conversion that helps. */
static kspec_status refuse_dtype(const cursor *c, char kind, unsigned size, const char *descr) {
    static const char *const others[] = {"Oobject", "Sbytes string", "abytes string", "Uunicode string",
                                         "Vvoid",   "Mdatetime64",   "mtimedelta64"}; /* letter, name */
    char what[32] = "";
    if ((kind == 'c' || kind == 'f') && size)
        snprintf(what, sizeof what, "%s%u", kind == 'c' ? "complex" : "float", 8 * size);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (others[i][0] == kind) snprintf(what, sizeof what, "%s", others[i] + 1);
    if (!*what) return ks_fail(c->err, KSPEC_E_IO, "%s: dtype '%s' is not known", c->name, descr);
    return ks_fail(c->err, KSPEC_E_IO, "%s: dtype %s ('%s') is not supported; %s", c->name, what, descr,
                   kind == 'c' ? "take the real part or the absolute value first"
                               : "save it as float64 first");
}

/*
 * Parses a type such as '<f8', '|b1' or '>i4'. The byte order may be missing or '='. A missing order and '='
 * both mean this machine's order, as in NumPy. Complex numbers are pairs of floating-point ones.
 */
static kspec_status parse_descr(cursor *c, ks_npy_header *h) {
    ks_element *e = &h->element;
    if (peek(c) == '[' || peek(c) == '(')
        return ks_fail(c->err, KSPEC_E_IO,
                       "%s: a structured dtype is not supported; save one field as float64", c->name);
    const char *s;
    size_t n, i = 0;
    if (!take_string(c, &s, &n)) return bad(c, "descr is not a string");

    char descr[32];
    ks_printable(descr, sizeof descr, s, n);
    char order = n && memchr("<>|=", s[0], 4) ? s[i++] : '=';
    *e = (ks_element){.kind = i < n ? s[i] : '\0'};
    for (i++; i < n && s[i] >= '0' && s[i] <= '9' && e->size < 1000; i++)
        e->size = 10 * e->size + (unsigned)(s[i] - '0');
    h->is_complex = i == n && e->kind == 'c' && (e->size == 8 || e->size == 16);
    if (h->is_complex) *e = (ks_element){.kind = 'f', .size = e->size / 2};
    if (i < n || !ks_element_known(*e)) return refuse_dtype(c, e->kind, e->size, descr);
    e->swap = e->size > 1 && (order == '<' || order == '>') && (order == '<') != KS_LITTLE_ENDIAN;
    return KSPEC_OK;
}

/* ---- shape ---- */

/*
 * Parses a shape such as (), (3,) or (3, 4). A number may end in L, from Python 2. The function counts the
 * axes after the third, too.
 */
static kspec_status parse_shape(cursor *c, ks_npy_header *h) {
    h->ndim = 0;
    if (!take(c, '(')) return bad(c, "shape is not a tuple");
    while (!take(c, ')')) {
        size_t v = 0;
        char digit = peek(c);
        if (digit < '0' || digit > '9') return bad(c, "no whole number in shape");
        for (; c->at < c->end && *c->at >= '0' && *c->at <= '9'; c->at++)
            if (__builtin_mul_overflow(v, 10, &v) || __builtin_add_overflow(v, (size_t)(*c->at - '0'), &v))
                v = SIZE_MAX; /* too large anyway */
        if (c->at < c->end && *c->at == 'L') c->at++;
        if (h->ndim < 3) h->shape[h->ndim] = v;
        h->ndim++;
        if (!take(c, ',') && peek(c) != ')') return bad(c, "no comma in shape");
    }
    return KSPEC_OK;
}

static kspec_status check_shape(const cursor *c, const ks_npy_header *h) {
    if (h->ndim < 1 || h->ndim > 3)
        return ks_fail(c->err, KSPEC_E_IO, "%s: the array has %d axes; 1 to 3 can be read", c->name, h->ndim);
    for (int d = 0; d < h->ndim; d++)
        if (h->shape[d] == 0)
            return ks_fail(c->err, KSPEC_E_IO, "%s: the array is empty: axis %d has length 0", c->name, d);
    return KSPEC_OK;
}

/*
 * Turns a complex vector, or a single complex column, into two columns of real numbers. A complex matrix has
 * no such view.
 */
static kspec_status make_pairs(const cursor *c, ks_npy_header *h) {
    if (h->ndim > 2 || (h->ndim == 2 && h->shape[1] != 1))
        return ks_fail(
            c->err, KSPEC_E_IO,
            "%s: a complex array of %d axes is not supported; take the real part or the absolute value "
            "first",
            c->name, h->ndim);
    h->ndim = 2;
    h->shape[1] = 2;
    h->fortran = 0; /* both orders agree */
    return KSPEC_OK;
}

/* ---- dict ---- */

static const char *const keys[] = {"descr", "fortran_order", "shape"};

static kspec_status parse_value(cursor *c, int key, ks_npy_header *h) {
    if (key == 0) return parse_descr(c, h);
    if (key == 2) return parse_shape(c, h);
    h->fortran = take_word(c, "True");
    return h->fortran || take_word(c, "False") ? KSPEC_OK : bad(c, "fortran_order is not True or False");
}

static kspec_status parse_dict(cursor *c, ks_npy_header *h) {
    unsigned seen = 0;
    if (!take(c, '{')) return bad(c, "no dictionary");
    while (!take(c, '}')) {
        const char *s;
        size_t n;
        if (!take_string(c, &s, &n)) return bad(c, "no key");
        int key = 0;
        while (key < 3 && (strlen(keys[key]) != n || memcmp(s, keys[key], n) != 0)) key++;
        if (key == 3 || !take(c, ':')) return bad(c, key == 3 ? "unknown key before" : "no colon");
        kspec_status status = parse_value(c, key, h);
        if (status) return status;
        seen |= 1u << key;
        if (!take(c, ',') && peek(c) != '}') return bad(c, "no comma");
    }
    for (int key = 0; key < 3; key++)
        if (!(seen >> key & 1))
            return ks_fail(c->err, KSPEC_E_IO, "%s: bad npy header: no %s", c->name, keys[key]);
    kspec_status status = check_shape(c, h);
    return status || !h->is_complex ? status : make_pairs(c, h);
}

kspec_status ks_npy_header_parse(const unsigned char *data, size_t size, const char *name, ks_npy_header *h,
                                 kspec_error *err) {
    *h = (ks_npy_header){0};
    if (size < 6 || memcmp(data, "\x93NUMPY", 6) != 0)
        return ks_fail(err, KSPEC_E_IO, "%s: not a NumPy array: it does not begin with \\x93NUMPY", name);
    if (size < 12)
        return ks_fail(err, KSPEC_E_IO, "%s: truncated: %zu bytes are too few for an npy file", name, size);

    int version = data[6];
    if (version < 1 || version > 3)
        return ks_fail(err, KSPEC_E_IO, "%s: npy version %d.%d; 1.0 to 3.0 can be read", name, version,
                       data[7]);
    size_t length = data[8] | (size_t)data[9] << 8, start = 10;
    if (version > 1) {
        length |= (size_t)data[10] << 16 | (size_t)data[11] << 24;
        start = 12;
    }
    if (length > MAX_HEADER)
        return ks_fail(err, KSPEC_E_IO, "%s: npy header of %zu bytes; at most %d can be read", name, length,
                       MAX_HEADER);
    if (length > size - start)
        return ks_fail(err, KSPEC_E_IO, "%s: truncated: needs %zu bytes of npy header, has %zu", name, length,
                       size - start);
    h->data_offset = start + length;
    const char *text = (const char *)data + start;
    cursor c = {text, text + length, name, err};
    return parse_dict(&c, h);
}
