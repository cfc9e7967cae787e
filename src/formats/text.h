/* Declares the scanner of rows and fields, and the layout (delimiter, header, shape) of a text file. */
#pragma once

#include "formats/array.h"

/*
 * Describes a place in a text. Rows end in \n, \r\n or \r, and fields at the delimiter. Quotes protect both.
 */
typedef struct {
    const char *p, *end;
    size_t line; /* counted from 1 */
    char delim;  /* delim is ',', ';' or '\t', or ' ' for any number of blanks and tabs. */
} ks_scanner;

/* Describes a field without its quotes and surrounding blanks. Inside quotes, "" stands for ". */
typedef struct {
    const char *s;
    size_t len;
    int quoted;
} ks_field;

typedef enum { KS_FIELD_MORE, KS_FIELD_LAST, KS_FIELD_UNCLOSED, KS_FIELD_TRAILING } ks_field_end;

/*
 * Moves to the first field of the next row, skipping blank lines and comments. Returns 0 at the end of the
 * text.
 */
int ks_scan_row(ks_scanner *sc);

/*
 * Reads the next field of the row. LAST means that the field ended the row, and the scanner is at the next
 * line. UNCLOSED means that a quote never ends. TRAILING means that characters other than a delimiter follow
 * a closing quote.
 */
ks_field_end ks_scan_field(ks_scanner *sc, ks_field *f);

/*
 * Reads a field that is a plain number, at high speed. For any other field the function returns 0 and does
 * not move the scanner.
 */
int ks_scan_number(ks_scanner *sc, double *value, ks_field_end *end);

/* The layout of a file, which the first pass finds. */
typedef struct {
    ks_scanner first, body; /* `first` is at the first row, and `body` at the first row of data. */
    size_t rows, cols;      /* of the data */
    /*
     * `fields` is the number of fields in a line, which is cols, or one more if every line ends in a
     * delimiter.
     */
    size_t fields;
    int header;
    int decimal_commas; /* If decimal_commas is 1, the commas that separate columns may be decimal commas. */
} ks_layout;

/* Finds the layout of a text without zero bytes and without a byte order mark. */
kspec_status ks_text_layout(const char *text, size_t size, const char *name, ks_layout *out,
                            kspec_error *err);

/* If the file has a header, copies its names into one allocation, which ks_free() frees. */
kspec_status ks_text_names(const ks_layout *layout, const char *name, char ***out, kspec_error *err);

/*
 * Converts the next `rows` rows from layout->body on, and moves layout->body behind them. Column j of the
 * file goes to column place[j] of `width` columns. If place[j] is SIZE_MAX, the function skips the column. If
 * place is NULL, it copies all columns in order.
 */
kspec_status ks_text_rows(ks_layout *layout, size_t rows, const size_t *place, size_t width, double *data,
                          const char *name, kspec_error *err);

/* Fails if the bytes are not text. *mark is the length of UTF-8's byte order mark, or 0. */
kspec_status ks_text_check(const ks_bytes *b, const char *name, size_t *mark, kspec_error *err);
