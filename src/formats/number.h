/* Parses decimal numbers and missing values in a field of a text file. */
#pragma once

#include <stddef.h>

typedef enum { KS_NO_NUMBER = 0, KS_NUMBER, KS_MISSING } ks_number_kind;

/*
 * Reads the `len` characters at s, all of them, as a decimal number or as a missing value, in any case.
 * Numbers may look like 1, -1.5, .5, 5., 1e-3, inf or infinity. Missing values are an empty field, NA, N/A,
 * ?, nan and null. An exponent may be Fortran's (1.0D+02), and a minus may be U+2212. *value receives the
 * double nearest to the decimal, ties to even, in every locale. A missing value gives NaN.
 */
ks_number_kind ks_number_parse(const char *s, size_t len, double *value);

/*
 * Reads the longest decimal number at the start of s ... end and returns its end. Returns NULL if s does not
 * begin with a number. The function serves where the end of the field is not yet known. Unlike
 * ks_number_parse(), it reads no words.
 */
const char *ks_number_prefix(const char *s, const char *end, double *value);

/* Does the text begin like a number, such as 0x10, 5 kg or 1st? */
int ks_number_begins(const char *s, size_t len);

/* Is the text a number with a decimal comma, such as 1,5 or -0,25e3? */
int ks_number_has_comma(const char *s, size_t len);
