/* Parses the text of an expression. */
#include "einsum/formula.h"

#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int ks_word_is(const char *text, ks_word w, const char *name) {
    return strlen(name) == (size_t)w.length && !strncmp(text + w.at, name, (size_t)w.length);
}

kspec_status ks_formula_fail(const char *text, int at, kspec_error *err, const char *fmt, ...) {
    enum { AROUND = 60 };
    char what[300];
    va_list args;
    va_start(args, fmt);
    vsnprintf(what, sizeof what, fmt, args);
    va_end(args);
    const int from = at > AROUND ? at - AROUND : 0, length = (int)strlen(text + at);
    return ks_fail(err, KSPEC_E_ARG, "%s%.*s >>> %.*s%s: %s", from ? "... " : "", at - from, text + from,
                   length > AROUND ? AROUND : length, text + at, length > AROUND ? " ..." : "", what);
}

/* ---- parser ---- */

typedef struct {
    ks_formula *to;
    const char *text;
    int at, parts;
    kspec_error *err;
} reader;

static int is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
static int is_digit(char c) { return c >= '0' && c <= '9'; }

static char next(reader *r) {
    while (r->text[r->at] == ' ' || r->text[r->at] == '\t' || r->text[r->at] == '\n') r->at++;
    return r->text[r->at];
}

static ks_word word(reader *r) {
    ks_word w = {.at = r->at};
    while (is_letter(r->text[r->at]) || is_digit(r->text[r->at]) || r->text[r->at] == '\'') r->at++;
    w.length = r->at - w.at;
    return w;
}

/* Finds the number of an index by the name of the index. */
static kspec_status number(reader *r, ks_word w, int *out) {
    ks_formula *t = r->to;
    for (int k = 0; k < t->indices; k++)
        if (t->index[k].length == w.length &&
            !strncmp(r->text + t->index[k].at, r->text + w.at, (size_t)w.length)) {
            *out = k;
            return KSPEC_OK;
        }
    if (t->indices == KS_FORMULA_INDICES)
        return ks_formula_fail(r->text, w.at, r->err, "more than %d different names of indices",
                               KS_FORMULA_INDICES);
    t->index[ *out = t->indices++] = w;
    return KSPEC_OK;
}

static kspec_status factor(reader *r, ks_formula_term *t) {
    ks_formula_entry f = {.matrix = word(r)};
    kspec_status st = KSPEC_OK;
    if (t->count == KS_FORMULA_FACTORS)
        return ks_formula_fail(r->text, f.matrix.at, r->err, "a product has %d entries at most",
                               KS_FORMULA_FACTORS);
    if (next(r) != '[')
        return ks_formula_fail(r->text, r->at, r->err, "'[' is missing; write %.*s[i,a]", f.matrix.length,
                               r->text + f.matrix.at);
    r->at++;
    for (int k = 0; k < 2 && !st; k++) {
        if (!is_letter(next(r)))
            return ks_formula_fail(r->text, r->at, r->err,
                                   "the name of an index is missing; write such as %.*s[i,a]",
                                   f.matrix.length, r->text + f.matrix.at);
        f.name[k] = word(r);
        st = number(r, f.name[k], &f.index[k]);
        if (st) return st;
        const char c = next(r);
        if (c == ',' && k == 1)
            return ks_formula_fail(r->text, r->at, r->err,
                                   "a matrix has two indices, a row and a column; write such as X[i,a]");
        if (c == ']' && k == 0)
            return ks_formula_fail(r->text, r->at, r->err,
                                   "a matrix has two indices, a row and a column; write such as X[i,a]");
        if (c != (k ? ']' : ','))
            return ks_formula_fail(r->text, r->at, r->err, "'%c' is missing; write such as X[i,a]",
                                   k ? ']' : ',');
        r->at++;
    }
    t->factor[t->count++] = f;
    return st;
}

/* Reads digits with a decimal point in every locale. */
static kspec_status decimal(reader *r, double *out) {
    double digits = 0, unit = 1;
    int count = 0, point = 0;
    const int start = r->at;
    for (;; r->at++) {
        const char c = r->text[r->at];
        if (c == '.' && !point) {
            point = 1;
        } else if (is_digit(c)) {
            digits = 10 * digits + (c - '0'), unit *= point ? 10 : 1, count++;
        } else {
            break;
        }
    }
    *out = digits / unit;
    const char after = r->text[r->at], power = r->text[r->at + (after ? 1 : 0)];
    if (count && (after == 'e' || after == 'E') && (is_digit(power) || power == '-' || power == '+'))
        return ks_formula_fail(r->text, r->at, r->err,
                               "write a number without a power of ten, such as 0.001");
    if (!count || count > 15)
        return ks_formula_fail(r->text, start, r->err, "a number has 1 to 15 digits, such as 0.5 or 1/3");
    return KSPEC_OK;
}

/* Reads a number or a fraction, and a '*' that may follow. */
static kspec_status coefficient(reader *r, double *out) {
    double x = 1, y = 1;
    const int start = r->at;
    kspec_status st = decimal(r, &x);
    if (!st && next(r) == '/') {
        r->at++;
        next(r);
        st = decimal(r, &y);
    }
    if (!st && !(x > 0 && y > 0))
        st =
            ks_formula_fail(r->text, start, r->err, "the factor of this product is 0; leave the product out");
    if (!st && next(r) == '*') r->at++;
    *out *= x / y;
    return st;
}

/* Reports a letter that cannot begin an entry, and says which text to write instead. */
static kspec_status fail_letter(reader *r, const char *otherwise) {
    const char c = next(r);
    const char *instead = c == '^' || c == '*'
                              ? "powers are not supported; write the entry again, as in X[i,a] X[i,a]"
                          : c == '/' ? "write a number before its product, as in 1/2 X[i,a]"
                          : c == '(' ? "parentheses are not supported; multiply the products out"
                                     : otherwise;
    return ks_formula_fail(r->text, r->at, r->err, "%s", instead);
}

/* Reads a term: [+ or -] [number] [*] entry [*] entry ... */
static kspec_status term(reader *r, int first) {
    if (r->to->terms == KS_FORMULA_TERMS)
        return ks_formula_fail(r->text, r->at, r->err, "a sum has %d products at most", KS_FORMULA_TERMS);
    ks_formula_term *t = &r->to->term[r->to->terms++];
    char c = next(r);
    if (c == ';' && !first && r->to->parts < r->parts) {
        r->to->parts++, r->at++;
        c = next(r), first = 1;
    }
    *t = (ks_formula_term){.coefficient = 1, .part = r->to->parts - 1};
    if (c == '+' || c == '-') {
        if (c == '-') t->coefficient = -1;
        r->at++;
    } else if (!first) {
        return fail_letter(r, "expected an entry such as X[i,a], or + or -");
    }
    c = next(r);
    t->at = r->at;
    if (is_digit(c) || c == '.') {
        kspec_status st = coefficient(r, &t->coefficient);
        if (st) return st;
    }
    while (is_letter(next(r))) {
        kspec_status st = factor(r, t);
        if (st) return st;
        if (next(r) == '*') {
            r->at++;
            if (!is_letter(next(r))) return fail_letter(r, "an entry such as X[i,a] is missing after '*'");
        }
    }
    if (!t->count) return fail_letter(r, "an entry is missing; write such as X[i,a]");
    return KSPEC_OK;
}

kspec_status ks_formula_parse(const char *text, int parts, ks_formula *out, kspec_error *err) {
    memset(out, 0, sizeof *out);
    out->text = text, out->parts = 1;
    reader r = {out, text, 0, parts, err};
    if (strlen(text) > KS_FORMULA_LENGTH)
        return ks_fail(err, KSPEC_E_ARG, "the expression has %zu letters; %d is the most", strlen(text),
                       KS_FORMULA_LENGTH);
    if (!next(&r)) return ks_fail(err, KSPEC_E_ARG, "the expression is empty; write such as X[i,a] X[i,b]");
    for (int first = 1; next(&r); first = 0) {
        kspec_status st = term(&r, first);
        if (st) return st;
    }
    return KSPEC_OK;
}
