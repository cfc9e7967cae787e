/*
 * Parses an expression such as "X[i,a] X[j,a] X[j,b] X[i,b] - 2 Y[i,a]". An error message marks the place in
 * the text. Calls within the library may pass several expressions, separated by ";".
 */
#pragma once

#include "kspec/base.h"

#include <stddef.h>

enum { KS_FORMULA_FACTORS = 10, KS_FORMULA_TERMS = 12, KS_FORMULA_INDICES = 60, KS_FORMULA_LENGTH = 2000 };

typedef struct {
    int at, length;
} ks_word;

/* Describes an entry of a matrix. The two numbers `index` refer to names in ks_formula.index. */
typedef struct {
    ks_word matrix, name[2];
    int index[2];
} ks_formula_entry;

typedef struct {
    double coefficient;
    /* part is the number of the term's expression. */
    int at, count, part;
    ks_formula_entry factor[KS_FORMULA_FACTORS];
} ks_formula_term;

typedef struct {
    const char *text;
    int terms, indices, parts;
    ks_formula_term term[KS_FORMULA_TERMS];
    /* The names of the indices, at the first occurrence of each name in the text. */
    ks_word index[KS_FORMULA_INDICES];
} ks_formula;

/* Parses a text that contains exactly `parts` expressions. */
kspec_status ks_formula_parse(const char *text, int parts, ks_formula *out, kspec_error *err);

/* Reports a failure at position `at`. The message is the text with a mark, followed by the reason. */
kspec_status ks_formula_fail(const char *text, int at, kspec_error *err, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

int ks_word_is(const char *text, ks_word w, const char *name);
