/* kspec_read_labels() in one process: turns the rows' labels into numbers, in order of first appearance. */
#include "io/read.h"

#include "base/error.h"
#include "base/result.h"
#include "formats/inflate.h"
#include "formats/number.h"
#include "formats/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* One label in a file: a word of a text, or a number of an array (then s is NULL). */
typedef struct {
    const char *s;
    size_t len;
    double x;
    size_t at;
} piece;

typedef struct {
    const char *name;
    const kspec_read_opts *o;
    ks_arena arena;
    /* the text that contains the words */
    ks_bytes bytes;
    piece *list;
    size_t count, column, columns;
} reading;

static int compare(const piece *a, const piece *b) {
    if (!a->s) return a->x < b->x ? -1 : a->x > b->x;
    int order = memcmp(a->s, b->s, a->len < b->len ? a->len : b->len);
    return order ? order : a->len < b->len ? -1 : a->len > b->len;
}

static int by_label(const void *a, const void *b) {
    const piece *x = a, *y = b;
    int order = compare(x, y);
    return order ? order : x->at < y->at ? -1 : 1;
}

static kspec_status reserve(reading *r, size_t count, kspec_error *err) {
    r->list = ks_arena_alloc(&r->arena, count, sizeof *r->list);
    return r->list ? KSPEC_OK : ks_nomem(err, r->name, r->arena.failed);
}

/* ---- text ---- */

/* Finds the next line that is not blank, without surrounding blanks and quotes. Returns 0 at the end of
 * the text. */
static int next_line(const char **p, const char *end, piece *out) {
    while (*p < end) {
        const char *s = *p, *stop = s;
        while (stop < end && *stop != '\n' && *stop != '\r') stop++;
        *p = stop < end ? stop + 1 : end;
        while (s < stop && (*s == ' ' || *s == '\t')) s++;
        while (s < stop && (stop[-1] == ' ' || stop[-1] == '\t')) stop--;
        if (stop - s >= 2 && *s == '"' && stop[-1] == '"') s++, stop--;
        *out = (piece){.s = s, .len = (size_t)(stop - s)};
        if (s < stop) return 1;
    }
    return 0;
}

static int is_number(const piece *p) {
    double x;
    return ks_number_parse(p->s, p->len, &x) == KS_NUMBER;
}

static kspec_status read_lines(reading *r, const char *text, size_t size, kspec_error *err) {
    const char *p = text;
    piece line;
    size_t count = 0, numbers = 0;
    while (next_line(&p, text + size, &line)) count++;
    kspec_status st = reserve(r, count, err);
    p = text;
    while (!st && r->count < count && next_line(&p, text + size, &line)) {
        numbers += (size_t)is_number(&line);
        r->list[r->count++] = line;
    }
    if (!st && count > 1 && numbers == count - 1 && !is_number(&r->list[0])) r->list++, r->count--;
    return st;
}

static kspec_status read_column(reading *r, const char *text, size_t size, kspec_error *err) {
    ks_layout layout;
    char **names = NULL;
    size_t *index = NULL, picked;
    kspec_status st = ks_text_layout(text, size, r->name, &layout, err);
    if (!st && layout.header) st = ks_text_names(&layout, r->name, &names, err);
    if (!st)
        st = ks_select_parse(r->o->select_cols, layout.cols, names, "column", r->name, &index, &picked, err);
    if (!st && picked != 1)
        st = ks_fail(err, KSPEC_E_ARG, "labels are one column, not %zu: '%.80s'", picked, r->o->select_cols);
    if (!st) st = reserve(r, layout.rows, err);
    if (!st) r->column = index[0], r->columns = layout.cols;
    for (ks_scanner sc = layout.body; !st && r->count < layout.rows && ks_scan_row(&sc); r->count++) {
        size_t j = 0;
        for (ks_field_end end = KS_FIELD_MORE; end == KS_FIELD_MORE; j++) {
            ks_field f;
            end = ks_scan_field(&sc, &f);
            if (end > KS_FIELD_LAST) break;
            if (j == r->column) r->list[r->count] = (piece){.s = f.s, .len = f.len};
        }
        if (j != layout.fields) break;
    }
    if (!st && r->count != layout.rows)
        st = ks_fail(err, KSPEC_E_IO, "%s changed while it was being read", r->name);
    ks_free(index);
    ks_free(names);
    return st;
}

/* ---- arrays of numbers ---- */

static kspec_status read_array(reading *r, const char *input, kspec_error *err) {
    ks_array a;
    size_t *index = NULL, picked;
    kspec_status st = ks_input_read(input, NULL, r->name, &a, err);
    if (st) return st;
    size_t rows = a.shape[0], cols = a.ndim > 1 ? a.shape[1] : 1, last = a.ndim > 2 ? a.shape[2] : 1;
    if (last > 1 || a.is_complex)
        st = ks_fail(err, KSPEC_E_IO, "%s has %d axes; labels are one column", r->name, a.ndim);
    if (!st && r->o->select_cols) {
        st = ks_select_parse(r->o->select_cols, cols, a.col_names, "column", r->name, &index, &picked, err);
        if (!st) r->column = index[0], r->columns = cols;
    } else if (!st && cols > 1) {
        st = ks_fail(err, KSPEC_E_IO, "%s has %zu columns; labels are one", r->name, cols);
    }
    if (!st) st = reserve(r, rows, err);
    for (size_t i = 0; i < rows && !st; i++)
        r->list[r->count++] = (piece){
            .x = a.data[(ptrdiff_t)i * a.stride[0] + (a.ndim > 1 ? (ptrdiff_t)r->column * a.stride[1] : 0)]};
    ks_free(index);
    ks_array_free(&a);
    return st;
}

/* Reads labels from any file. The first bytes show whether the file is text. An input such as "x.npz:key"
 * does not name a whole file, and is never text. */
static kspec_status read_any(reading *r, const char *input, kspec_error *err) {
    if (ks_is_borrowed(input)) return read_array(r, input, err);
    ks_bytes *b = &r->bytes;
    size_t mark;
    kspec_status st = ks_bytes_open(b, input, err);
    if (st && !strchr(input, ':')) return st;
    int other =
        st || ks_npz_match(b) || ks_hdf5_match(b) || ks_mat_match(b) || ks_npy_match(b) || ks_idx_match(b);
    if (!other && ks_gzip_match(b)) {
        st = ks_gunzip_bytes(b, r->name, err);
        if (st) return st;
        other = ks_npy_match(b) || ks_npz_match(b);
    }
    if (!other) {
        st = ks_text_check(b, r->name, &mark, err);
        const char *text = (const char *)b->data + mark;
        if (!st)
            st = r->o->select_cols ? read_column(r, text, b->size - mark, err)
                                   : read_lines(r, text, b->size - mark, err);
        return st ? st : ks_bytes_check(b, err);
    }
    ks_bytes_close(b);
    return read_array(r, input, err);
}

/* ---- the call ---- */

static kspec_status check_labels(const reading *r, kspec_error *err) {
    if (r->count == 0) return ks_fail(err, KSPEC_E_IO, "%s has no labels", r->name);
    for (size_t i = 0; i < r->count; i++)
        if (r->list[i].s ? r->list[i].len == 0 : isnan(r->list[i].x))
            return ks_fail(err, KSPEC_E_IO, "%s: the label of row %zu (from 0) is missing", r->name, i);
    return KSPEC_OK;
}

static kspec_status select_rows(reading *r, kspec_error *err) {
    size_t *index, count;
    if (!r->o->select_rows) return KSPEC_OK;
    kspec_status st = ks_select_parse(r->o->select_rows, r->count, NULL, "row", r->name, &index, &count, err);
    if (st) return st;
    piece *all = r->list;
    st = reserve(r, count, err);
    for (size_t k = 0; k < count && !st; k++) r->list[k] = all[index[k]];
    r->count = count;
    ks_free(index);
    return st;
}

/*
 * Numbers the labels in order of first appearance. First, of[i] becomes the first row with the label of
 * row i. Then of[i] becomes the number of this label.
 */
static void number(reading *r, kspec_labels *out) {
    for (size_t i = 0; i < r->count; i++) r->list[i].at = i;
    qsort(r->list, r->count, sizeof *r->list, by_label);
    for (size_t i = 0, first = 0; i < r->count; i++) {
        if (i == 0 || compare(&r->list[i], &r->list[i - 1]) != 0) first = r->list[i].at;
        out->of[r->list[i].at] = first;
    }
    for (size_t i = 0; i < r->count; i++) out->of[i] = out->of[i] == i ? out->groups++ : out->of[out->of[i]];
}

kspec_status ks_labels_new(size_t count, kspec_labels **out, kspec_error *err) {
    *out = ks_result_new(sizeof **out);
    if (*out) (*out)->of = ks_arena_alloc(ks_result_arena(*out), count, sizeof *(*out)->of);
    if (*out && (*out)->of) {
        (*out)->count = count;
        return KSPEC_OK;
    }
    kspec_free(*out);
    *out = NULL;
    return ks_nomem(err, "the labels", ks_size(count, sizeof *(*out)->of));
}

kspec_status ks_read_labels(const char *input, const kspec_read_opts *o, kspec_labels **out,
                            kspec_error *err) {
    ks_name name;
    *out = NULL;
    if (!input || !*input) return ks_fail(err, KSPEC_E_ARG, "the labels have no name");
    ks_display_name(name, input);
    reading r = {.name = name, .o = o, .columns = 1};
    kspec_status st = read_any(&r, input, err);
    if (!st) st = select_rows(&r, err);
    if (!st) st = check_labels(&r, err);
    if (!st) st = ks_labels_new(r.count, out, err);
    if (!st) {
        (*out)->column = r.column, (*out)->columns = r.columns;
        number(&r, *out);
    }
    ks_arena_free(&r.arena);
    ks_bytes_close(&r.bytes);
    return st;
}
