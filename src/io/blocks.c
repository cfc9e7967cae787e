/* kspec_blocks_*: reads a matrix in blocks of rows, from files that are larger than memory. */
#define _DEFAULT_SOURCE /* madvise */
#include "io/read.h"

#include "base/error.h"
#include "base/matrix.h"
#include "formats/foreign.h"
#include "formats/inflate.h"
#include "formats/npy.h"
#include "formats/text.h"
#include "kspec/host.h"

#include <math.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* An open file, and the position of its next row. */
typedef struct {
    ks_name name;
    size_t rows, at;
    /* for numbers that are converted block by block: their position in the file and their byte order */
    ks_bytes bytes;
    ks_npy_header npy;
    const unsigned char *numbers;
    int by_cols;
    /* for text: the lines, which begin at layout.body; column j of the file goes to place[j] */
    int is_text;
    ks_layout layout;
    size_t *place;
    /* the whole array, for mapped doubles and for formats that cannot be read in blocks */
    ks_part whole;
    /*
     * the number of columns in the file, the number of selected columns, and the selected columns (NULL: all)
     */
    size_t width, cols, *index;
} source;

struct kspec_blocks {
    char **inputs;
    size_t count, file, block, done, cols;
    kspec_read_opts o;
    ks_axes axes;
    char *select_cols;
    source now;
    int open;
    double *data, *wide; /* data: a block of the selected columns; wide: of all columns */
    size_t wide_count;
    ks_arena arena;
};

static void close_source(source *s) {
    ks_free(s->place);
    ks_free(s->index);
    ks_view_free(&s->whole.view);
    ks_array_free(&s->whole.array);
    ks_bytes_close(&s->bytes);
    *s = (source){0};
}

/* Releases the pages of the file that are already read. Otherwise the system would count them as memory
 * of this process. */
static void leave_pages(const unsigned char *from, size_t bytes) {
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE),
                    first = ((uintptr_t)from + page - 1) / page * page,
                    last = ((uintptr_t)from + bytes) / page * page;
    if (last > first) (void)madvise((void *)first, last - first, MADV_DONTNEED);
}

/* ---- opening ---- */

static kspec_status select_columns(const kspec_blocks *b, source *s, char *const *names, kspec_error *err) {
    s->cols = s->width;
    if (!b->select_cols) return KSPEC_OK;
    return ks_select_parse(b->select_cols, s->width, names, "column", s->name, &s->index, &s->cols, err);
}

/* Opens a .npy file whose numbers must be converted to double. */
static kspec_status open_npy(const kspec_blocks *b, source *s, kspec_error *err) {
    const int turned = b->axes.count == 2 && b->axes.of[0] == KS_COLS;
    const size_t count = ks_size(s->npy.shape[0], s->npy.shape[1]),
                 need = ks_size(count, s->npy.element.size), have = s->bytes.size - s->npy.data_offset;
    if (need > have)
        return ks_fail(err, KSPEC_E_IO, "%s: needs %zu bytes of data, has %zu", s->name, need, have);
    s->numbers = s->bytes.data + s->npy.data_offset;
    s->rows = s->npy.shape[turned], s->width = s->npy.shape[!turned];
    s->by_cols = s->npy.fortran != turned;
    return select_columns(b, s, NULL, err);
}

static kspec_status open_text(const kspec_blocks *b, source *s, kspec_error *err) {
    size_t mark;
    char **names = NULL;
    kspec_status st = ks_text_check(&s->bytes, s->name, &mark, err);
    if (!st)
        st = ks_text_layout((const char *)s->bytes.data + mark, s->bytes.size - mark, s->name, &s->layout,
                            err);
    if (st) return st;
    leave_pages(s->bytes.data, s->bytes.size);
    s->is_text = 1, s->rows = s->layout.rows, s->width = s->layout.cols;
    if (s->layout.header) st = ks_text_names(&s->layout, s->name, &names, err);
    if (!st) st = select_columns(b, s, names, err);
    ks_free(names);
    if (st || !s->index) return st;
    if (!(s->place = ks_alloc(s->width, sizeof *s->place)))
        return ks_nomem(err, "column selection", ks_size(s->width, sizeof *s->place));
    memset(s->place, 0xff, s->width * sizeof *s->place);
    for (size_t k = 0; k < s->cols; k++) s->place[s->index[k]] = k;
    return KSPEC_OK;
}

static kspec_status open_whole(const kspec_blocks *b, source *s, const char *input, kspec_error *err) {
    const int turned = b->axes.count == 2 && b->axes.of[0] == KS_COLS;
    ks_display_name(s->whole.name, input);
    kspec_status st = ks_input_read(input, turned ? NULL : b->select_cols, s->name, &s->whole.array, err);
    if (!st && s->whole.array.is_complex)
        st = ks_fail(err, KSPEC_E_IO, "%s: complex numbers are not supported", s->name);
    if (!st) st = ks_view_make(&s->whole, &b->axes, NULL, b->select_cols, err);
    if (!st && s->whole.view.shape[KS_TRIALS] != 1)
        st = ks_fail(err, KSPEC_E_IO, "%s holds %zu trials; one matrix is expected", s->name,
                     s->whole.view.shape[KS_TRIALS]);
    s->rows = s->whole.view.shape[KS_ROWS], s->cols = s->whole.view.shape[KS_COLS];
    return st;
}

/* Returns 1 if the rows of the file can be read one after the other. Otherwise the whole file is read at
 * once. */
static int looks_plain(source *s) {
    const ks_bytes *f = &s->bytes;
    kspec_error unused;
    if (!f->map) return 0;
    if (ks_npy_match(f))
        return !ks_npy_header_parse(f->data, f->size, s->name, &s->npy, &unused) && s->npy.ndim == 2 &&
               !s->npy.is_complex && !ks_element_is_double(s->npy.element);
    return !ks_gzip_match(f) && !ks_npz_match(f) && !ks_hdf5_match(f) && !ks_mat_match(f) &&
           !ks_idx_match(f) && !ks_foreign(f);
}

static kspec_status open_source(kspec_blocks *b, const char *input, kspec_error *err) {
    source *s = &b->now;
    kspec_error unused;
    *s = (source){0};
    ks_display_name(s->name, input);
    int plain = !ks_is_borrowed(input) && strcmp(input, "-") != 0 && !ks_foreign_folder(input) &&
                ks_bytes_open(&s->bytes, input, &unused) == KSPEC_OK;
    const int text = plain && !ks_npy_match(&s->bytes),
              turned = b->axes.count == 2 && b->axes.of[0] == KS_COLS;
    plain = plain && looks_plain(s) && !(text && turned);
    if (!plain) ks_bytes_close(&s->bytes);
    b->open = 1;
    kspec_status st = !plain ? open_whole(b, s, input, err)
                      : text ? open_text(b, s, err)
                             : open_npy(b, s, err);
    if (!st && s->rows == 0) st = ks_fail(err, KSPEC_E_IO, "%s has no rows", s->name);
    if (!st && b->cols && s->cols != b->cols)
        st = ks_fail(err, KSPEC_E_IO, "%s has %zu columns, %s has %zu: they are not rows of one matrix",
                     s->name, s->cols, b->inputs[0], b->cols);
    b->cols = st ? b->cols : s->cols;
    return st;
}

kspec_status kspec_blocks_open(const char *const *inputs, size_t count, const kspec_read_opts *opts,
                               size_t rows, kspec_blocks **out, kspec_error *err) {
    if (ks_begin(err, out)) return KSPEC_E_ARG;
    kspec_read_opts o;
    kspec_status st = ks_take_opts(&o, sizeof o, opts, err);
    if (!st) st = ks_check_pointer(err, inputs, "the inputs");
    if (!st && !count) st = ks_fail(err, KSPEC_E_ARG, "no input given");
    if (!st && o.select_rows)
        st = ks_about(err, "select_rows", NULL,
                      ks_fail(err, KSPEC_E_ARG, "a selection of rows and blocks of rows cannot be combined"));
    if (!st && o.nan != KSPEC_NAN_ERROR && o.nan != KSPEC_NAN_OMIT_ROWS)
        st = ks_about(err, "nan", NULL,
                      ks_fail(err, KSPEC_E_ARG, "in blocks of rows, missing values are errors or omit-rows"));
    if (!st) st = ks_fill_check(&o, err);
    if (st) return st;
    kspec_blocks *b = ks_zalloc(1, sizeof *b);
    if (!b) return ks_nomem(err, "blocks of rows", sizeof *b);
    b->count = count, b->block = rows, b->o = o;
    st = ks_axes_parse(o.axes, &b->axes, err);
    b->inputs = ks_arena_zalloc(&b->arena, count, sizeof *b->inputs);
    for (size_t k = 0; k < count && b->inputs; k++) {
        b->inputs[k] = ks_arena_alloc(&b->arena, strlen(inputs[k]) + 1, 1);
        if (b->inputs[k]) strcpy(b->inputs[k], inputs[k]);
    }
    if (o.select_cols && (b->select_cols = ks_arena_alloc(&b->arena, strlen(o.select_cols) + 1, 1)))
        strcpy(b->select_cols, o.select_cols);
    if (!st && b->arena.failed) st = ks_nomem(err, "blocks of rows", b->arena.failed);
    if (!st) st = open_source(b, b->inputs[0], err);
    enum { ENTRIES = 1 << 21 }; /* 16 MB */
    if (!st && !b->block) b->block = ENTRIES / b->cols + 1;
    if (!st && !(b->data = ks_arena_alloc(&b->arena, b->block, ks_size(b->cols, sizeof(double)))))
        st = ks_nomem(err, "a block of rows", b->arena.failed);
    if (st)
        kspec_blocks_close(b);
    else
        *out = b;
    return st;
}

void kspec_blocks_close(kspec_blocks *b) {
    if (!b) return;
    close_source(&b->now);
    ks_free(b->wide);
    ks_arena_free(&b->arena);
    ks_free(b);
}

/* ---- reading ---- */

static kspec_status read_npy(kspec_blocks *b, source *s, size_t n, kspec_error *err) {
    const size_t size = s->npy.element.size, need = ks_size(n, s->width);
    if (s->by_cols) {
        double *line = b->wide;
        if (b->wide_count < n) {
            ks_free(b->wide);
            b->wide_count = 0, b->wide = line = ks_alloc(n, sizeof *line);
            if (!line) return ks_nomem(err, "a block of rows", ks_size(n, sizeof *line));
            b->wide_count = n;
        }
        for (size_t k = 0; k < s->cols; k++) {
            const size_t j = s->index ? s->index[k] : k;
            ks_element_convert(s->npy.element, s->numbers + (j * s->rows + s->at) * size, n, line);
            for (size_t i = 0; i < n; i++) b->data[i * s->cols + k] = line[i];
        }
        return KSPEC_OK;
    }
    const unsigned char *from = s->numbers + s->at * s->width * size;
    if (!s->index) {
        ks_element_convert(s->npy.element, from, need, b->data);
    } else {
        if (b->wide_count < need) {
            ks_free(b->wide);
            b->wide_count = 0, b->wide = ks_alloc(need, sizeof *b->wide);
            if (!b->wide) return ks_nomem(err, "a block of rows", ks_size(need, sizeof *b->wide));
            b->wide_count = need;
        }
        ks_element_convert(s->npy.element, from, need, b->wide);
        for (size_t i = 0; i < n; i++)
            for (size_t k = 0; k < s->cols; k++)
                b->data[i * s->cols + k] = b->wide[i * s->width + s->index[k]];
    }
    leave_pages(from, need * size);
    return KSPEC_OK;
}

static void read_whole(kspec_blocks *b, source *s, size_t n) {
    ks_view part = s->whole.view;
    part.data += (ptrdiff_t)s->at * part.stride[KS_ROWS];
    part.shape[KS_ROWS] = n;
    ks_view_copy(&part, b->data);
    const ks_array *a = &s->whole.array;
    if (a->storage.map && part.stride[KS_COLS] == 1 && part.stride[KS_ROWS] > 0)
        leave_pages((const unsigned char *)part.data, n * (size_t)part.stride[KS_ROWS] * sizeof(double));
}

static kspec_status check_infinite(const kspec_blocks *b, const source *s, size_t n, kspec_error *err) {
    for (size_t k = 0; k < n * s->cols; k++)
        if (isinf(b->data[k]) || (isnan(b->data[k]) && b->o.nan == KSPEC_NAN_ERROR))
            return ks_fail(err, KSPEC_E_DATA, "%s: row %zu, column %zu (from 0) is %s", s->name,
                           s->at + k / s->cols, k % s->cols, isnan(b->data[k]) ? "missing" : "infinite");
    return KSPEC_OK;
}

kspec_status kspec_blocks_next(kspec_blocks *b, kspec_matrix *out, double *fraction, kspec_error *err) {
    ks_clear(err);
    kspec_status st = ks_check_pointer(err, b, "the blocks");
    if (!st) st = ks_check_pointer(err, out, "the block");
    if (st) return st;
    source *s = &b->now;
    *out = (kspec_matrix){.cols = b->cols, .row_stride = (ptrdiff_t)b->cols, .col_stride = 1};
    if (s->at == s->rows && b->file + 1 < b->count) {
        close_source(s);
        b->file++;
        st = open_source(b, b->inputs[b->file], err);
    }
    if (st || s->at == s->rows) return st;
    const size_t n = s->rows - s->at < b->block ? s->rows - s->at : b->block;
    const char *line = s->layout.body.p;
    if (s->is_text)
        st = ks_text_rows(&s->layout, n, s->place, s->cols, b->data, s->name, err);
    else if (s->numbers)
        st = read_npy(b, s, n, err);
    else
        read_whole(b, s, n);
    if (s->is_text && !st) leave_pages((const unsigned char *)line, (size_t)(s->layout.body.p - line));
    if (!st) ks_fill_entries(b->data, n * s->cols, &b->o);
    if (!st) st = check_infinite(b, s, n, err);
    if (!st && s->bytes.map) st = ks_bytes_check(&s->bytes, err);
    if (st) return st;
    s->at += n, b->done += n;
    out->data = b->data, out->rows = n;
    if (fraction) *fraction = ((double)b->file + (double)s->at / (double)s->rows) / (double)b->count;
    return KSPEC_OK;
}
