/*
 * Reads text files in two passes. ks_text_layout() first finds delimiter, header and shape. The second pass
 * converts the selected columns, into memory of exactly the needed size.
 */
#include "formats/text.h"

#include "base/error.h"
#include "base/memory.h"
#include "formats/number.h"
#include "formats/printable.h"

#include <stdio.h>
#include <string.h>

kspec_status ks_text_check(const ks_bytes *b, const char *name, size_t *mark, kspec_error *err) {
    *mark = b->size >= 3 && memcmp(b->data, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    if (b->size >= 2 && (b->data[0] ^ b->data[1]) == 1 && (b->data[0] | b->data[1]) == 0xff)
        return ks_fail(err, KSPEC_E_IO, "%s is not text (byte 0x%02x at offset 0: UTF-16); save it as UTF-8",
                       name, b->data[0]);
    const unsigned char *zero = b->size ? memchr(b->data, 0, b->size) : NULL;
    if (zero)
        return ks_fail(err, KSPEC_E_IO,
                       "%s is not text (byte 0x00 at offset %td), nor a format that kspec reads", name,
                       zero - b->data);
    return KSPEC_OK;
}

/* ---- names ---- */

/*
 * Copies a field of the header. In the copy, "" becomes ", a byte that is not UTF-8 becomes '?', and a
 * control character becomes a blank.
 */
static char *copy_name(char *dst, const ks_field *f) {
    const unsigned char *s = (const unsigned char *)f->s;
    for (size_t i = 0; i < f->len;) {
        size_t n = ks_letter(s + i, f->len - i);
        if (!n || ks_is_control(s + i, n)) {
            *dst++ = n ? ' ' : '?';
            i += n ? n : 1;
        } else if (s[i] == '"' && f->quoted) {
            *dst++ = '"';
            i += 2;
        } else {
            memcpy(dst, s + i, n);
            dst += n;
            i += n;
        }
    }
    *dst++ = 0;
    return dst;
}

/* Allocates the pointers to the names, followed by the names themselves. */
kspec_status ks_text_names(const ks_layout *layout, const char *name, char ***out, kspec_error *err) {
    size_t text = (size_t)(layout->body.p - layout->first.p);
    size_t bytes = ks_size_add(ks_size(layout->cols, sizeof(char *) + 1), text);
    char **names = ks_alloc(bytes, 1);
    if (!names) return ks_nomem(err, name, bytes);
    ks_scanner sc = layout->first;
    /* If the file changes while it is read, the names must not overrun their array. */
    sc.end = layout->body.p;
    char *dst = (char *)(names + layout->cols);
    for (size_t j = 0; j < layout->cols; j++) {
        ks_field f = {0};
        ks_scan_field(&sc, &f);
        names[j] = dst;
        dst = copy_name(dst, &f);
    }
    *out = names;
    return KSPEC_OK;
}

/* Keeps the names of the selected columns in the order of the selection. */
static kspec_status pick_names(char ***names, const size_t *index, size_t count, kspec_error *err) {
    size_t bytes = ks_size(count, sizeof(char *));
    for (size_t k = 0; k < count; k++) bytes += strlen((*names)[index[k]]) + 1;
    char **picked = ks_alloc(bytes, 1);
    if (!picked) return ks_nomem(err, "column names", bytes);
    char *dst = (char *)(picked + count);
    for (size_t k = 0; k < count; k++) {
        const char *from = (*names)[index[k]];
        picked[k] = strcpy(dst, from);
        dst += strlen(from) + 1;
    }
    ks_free(*names);
    *names = picked;
    return KSPEC_OK;
}

/* ---- values ---- */

/*
 * Writes the columns that are numbers in a row as a selection such as "0-1,3-". The text is empty if the
 * selection is too long.
 */
static void numeric_columns(ks_scanner row, size_t cols, char *text, size_t size) {
    size_t used = 0, first = SIZE_MAX;
    *text = 0;
    for (size_t j = 0; j <= cols && used < size; j++) {
        ks_field f = {0};
        if (j < cols) ks_scan_field(&row, &f);
        double x;
        const int number = j < cols && ks_number_parse(f.s, f.len, &x) != KS_NO_NUMBER;
        if (number && first == SIZE_MAX) first = j;
        if (number || first == SIZE_MAX) continue;
        used += (size_t)snprintf(text + used, size - used, "%s%zu", used ? "," : "", first);
        if (used < size && (j == cols || j - first > 1))
            used += (size_t)(j == cols ? snprintf(text + used, size - used, "-")
                                       : snprintf(text + used, size - used, "-%zu", j - 1));
        first = SIZE_MAX;
    }
    if (used >= size) *text = 0;
}

/*
 * Reports a field that is not a number. If the row is given, the message suggests a selection of its columns
 * that are numbers.
 */
static kspec_status fail_field(const ks_field *f, const ks_scanner *row, size_t cols, size_t line,
                               size_t column, const char *name, kspec_error *err) {
    char shown[48];
    ks_printable(shown, sizeof shown, f->s, f->len);
    if (ks_number_has_comma(f->s, f->len))
        return ks_fail(err, KSPEC_E_IO,
                       "%s: line %zu, column %zu: '%s' has a decimal comma; kspec reads decimal points", name,
                       line, column, shown);
    if (!row)
        return ks_fail(err, KSPEC_E_IO, "%s: line %zu, column %zu: '%s' is not a number", name, line, column,
                       shown);
    char others[32];
    numeric_columns(*row, cols, others, sizeof others);
    return ks_refuse(err, KSPEC_E_IO, "select_cols", *others ? others : NULL,
                     "%s: line %zu, column %zu: '%s' is not a number; leave the column out", name, line,
                     column, shown);
}

kspec_status ks_text_rows(ks_layout *layout, size_t rows, const size_t *place, size_t width, double *data,
                          const char *name, kspec_error *err) {
    ks_scanner sc = layout->body;
    size_t row = 0;
    for (; row < rows && ks_scan_row(&sc); row++, data += width) {
        const ks_scanner begin = sc;
        size_t line = sc.line, j = 0;
        for (ks_field_end end = KS_FIELD_MORE; end == KS_FIELD_MORE && j < layout->fields; j++) {
            size_t to = j == layout->cols ? SIZE_MAX : place ? place[j] : j;
            if (to != SIZE_MAX && ks_scan_number(&sc, &data[to], &end)) continue;
            ks_field f;
            end = ks_scan_field(&sc, &f);
            if (end > KS_FIELD_LAST) break;
            if (to != SIZE_MAX && ks_number_parse(f.s, f.len, &data[to]) == KS_NO_NUMBER)
                return fail_field(&f, place && width == 1 ? NULL : &begin, layout->cols, line, j, name, err);
        }
        if (j != layout->fields) break;
    }
    if (row != rows) return ks_fail(err, KSPEC_E_IO, "%s changed while it was being read", name);
    layout->body = sc;
    return KSPEC_OK;
}

/* ---- reading ---- */

static kspec_status place_columns(const size_t *index, size_t count, size_t cols, size_t **place,
                                  kspec_error *err) {
    *place = ks_alloc(cols, sizeof **place);
    if (!*place) return ks_nomem(err, "column selection", ks_size(cols, sizeof **place));
    memset(*place, 0xff, cols * sizeof **place);
    for (size_t k = 0; k < count; k++) (*place)[index[k]] = k;
    return KSPEC_OK;
}

static kspec_status parse(ks_layout *layout, const char *select_cols, const char *name, ks_array *out,
                          char ***names, size_t **index, size_t **place, kspec_error *err) {
    kspec_status st = KSPEC_OK;
    size_t shape[2] = {layout->rows, layout->cols};
    if (layout->header) st = ks_text_names(layout, name, names, err);
    if (!st && select_cols) {
        st = ks_select_parse(select_cols, layout->cols, *names, "column", name, index, &shape[1], err);
        if (!st) st = place_columns(*index, shape[1], layout->cols, place, err);
        if (!st && *names) st = pick_names(names, *index, shape[1], err);
    }
    double *data;
    if (!st) st = ks_array_new(out, 2, shape, &data, name, err);
    if (!st) st = ks_text_rows(layout, layout->rows, *place, shape[1], data, name, err);
    return st;
}

kspec_status ks_text_parse(ks_bytes *bytes, const char *select_cols, const char *name, ks_array *out,
                           kspec_error *err) {
    *out = (ks_array){0};
    size_t mark;
    kspec_status st = ks_text_check(bytes, name, &mark, err);
    if (st) return st;
    ks_layout layout;
    st = ks_text_layout((const char *)bytes->data + mark, bytes->size - mark, name, &layout, err);
    if (st) return st;

    char **names = NULL;
    size_t *index = NULL, *place = NULL;
    st = parse(&layout, select_cols, name, out, &names, &index, &place, err);
    ks_free(place);
    if (st) {
        ks_free(index);
        ks_free(names);
        ks_array_free(out);
        return st;
    }
    out->has_header = layout.header;
    out->decimal_commas = layout.decimal_commas;
    out->col_names = names;
    out->col_index = index;
    out->file_cols = layout.cols;
    return KSPEC_OK;
}
