/* Writes arrays to .npy, .csv and .json, a band of rows at a time. */
#include "formats/element.h"
#include "write/temp.h"

#include "base/error.h"
#include "base/memory.h"
#include "kspec/host.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef enum { NPY, CSV, JSON } format;
enum {
    BUFFER = 1 << 16,
    LONGEST = 64
}; /* LONGEST is the largest number of characters of a number with its brackets */

struct kspec_writer {
    ks_temp file;
    format format;
    int ndim;
    size_t shape[3];
    size_t total, written;
    /* After a failure, every call returns the same failure. */
    kspec_error failure;
    /* the number of used bytes in the buffer */
    size_t used;
    char buffer[BUFFER];
};

static kspec_status flush(kspec_writer *w, kspec_error *err) {
    kspec_status status = ks_temp_write(&w->file, w->buffer, w->used, err);
    w->used = 0;
    return status;
}

/* --------------------------------------------------------------- formats */

/* Writes a header of version 1.0. Blanks pad the dictionary so that the numbers begin at a multiple of 64
 * bytes. */
static void put_npy_header(kspec_writer *w) {
    char shape[80];
    int n = snprintf(shape, sizeof shape, "%zu, %zu", w->shape[0], w->shape[1]);
    if (w->ndim == 3) snprintf(shape + n, sizeof shape - (size_t)n, ", %zu", w->shape[2]);
    char *dict = w->buffer + 10;
    size_t length =
        (size_t)snprintf(dict, 200, "{'descr': '<f8', 'fortran_order': False, 'shape': (%s), }", shape);
    size_t total = (10 + length + 1 + 63) / 64 * 64;
    memcpy(w->buffer, "\x93NUMPY\1\0", 8);
    w->buffer[8] = (char)((total - 10) & 0xff);
    w->buffer[9] = (char)((total - 10) >> 8);
    memset(dict + length, ' ', total - 10 - length - 1);
    w->buffer[total - 1] = '\n';
    w->used = total;
}

static kspec_status put_npy(kspec_writer *w, const double *values, size_t count, kspec_error *err) {
    kspec_status status = flush(w, err); /* the first flush writes the header */
    if (KS_LITTLE_ENDIAN)
        return status ? status : ks_temp_write(&w->file, values, count * sizeof *values, err);
    while (count && status == KSPEC_OK) {
        size_t n = count < BUFFER / sizeof *values ? count : BUFFER / sizeof *values;
        for (size_t i = 0; i < n; i++) {
            uint64_t u;
            memcpy(&u, values + i, sizeof u);
            u = __builtin_bswap64(u);
            memcpy(w->buffer + i * sizeof u, &u, sizeof u);
        }
        w->used = n * sizeof *values;
        status = flush(w, err);
        values += n;
        count -= n;
    }
    return status;
}

/* Writes a number with the fewest digits (at least 15) that read back as the same double. */
static size_t put_number(char *to, double v) {
    int n = 0;
    for (int digits = 15;; digits++) {
        n = snprintf(to, LONGEST / 2, "%.*g", digits, v);
        if (digits == 17 || strtod(to, NULL) == v) break; /* 17 digits are always enough */
    }
    return (size_t)n;
}

/* Returns how many axes begin at entry k. For k+1, this is the number of axes that end at entry k. Each
 * axis has a bracket or a line of its own. */
static int boundaries(const kspec_writer *w, size_t k) {
    int n = 0;
    size_t block = 1;
    for (int d = w->ndim - 1; d >= 0; d--) {
        block *= w->shape[d];
        if (k % block) break;
        n++;
    }
    return n;
}

static void put_csv(kspec_writer *w, double v, size_t k) {
    char *to = w->buffer + w->used;
    size_t n = v != v ? (size_t)snprintf(to, LONGEST, "nan") : put_number(to, v);
    to[n++] = boundaries(w, k + 1) ? '\n' : ',';
    w->used += n;
}

static void put_json(kspec_writer *w, double v, size_t k) {
    char *to = w->buffer + w->used;
    size_t n = 0;
    for (int open = boundaries(w, k); open; open--) to[n++] = '[';
    if (v - v == 0)
        n += put_number(to + n, v);
    else
        n += (size_t)snprintf(to + n, LONGEST / 2,
                              "null"); /* JSON has neither NaN nor infinity, so null replaces them */
    int close = boundaries(w, k + 1);
    for (int i = 0; i < close; i++) to[n++] = ']';
    if (close < w->ndim) to[n++] = ',';
    if (close) to[n++] = '\n';
    w->used += n;
}

static kspec_status put_text(kspec_writer *w, const double *values, size_t count, kspec_error *err) {
    locale_t plain = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0), before = (locale_t)0;
    if (!plain) return ks_nomem(err, "a locale", sizeof *plain);
    before = uselocale(plain); /* numbers have a decimal point in every locale */
    kspec_status status = KSPEC_OK;
    for (size_t i = 0; i < count && status == KSPEC_OK; i++) {
        if (w->format == CSV)
            put_csv(w, values[i], w->written + i);
        else
            put_json(w, values[i], w->written + i);
        if (w->used > BUFFER - LONGEST) status = flush(w, err);
    }
    uselocale(before);
    freelocale(plain);
    return status;
}

/* ------------------------------------------------------------- the writer */

static kspec_status choose_format(const char *path, int ndim, format *f, kspec_error *err) {
    const char *dot = strrchr(path, '.'), *slash = strrchr(path, '/');
    if (!dot || (slash && dot < slash)) dot = "";
    if (strcmp(dot, ".npy") == 0)
        *f = NPY;
    else if (strcmp(dot, ".csv") == 0)
        *f = CSV;
    else if (strcmp(dot, ".json") == 0)
        *f = JSON;
    else if (ks_temp_is_direct(path))
        *f = NPY;
    else
        return ks_fail(err, KSPEC_E_ARG, "cannot write %s: the suffix must be one of .npy, .csv, .json",
                       path);
    if (*f == CSV && ndim != 2)
        return ks_fail(err, KSPEC_E_ARG, "cannot write %s: csv takes 2 axes, not %d; use .npy or .json", path,
                       ndim);
    return KSPEC_OK;
}

kspec_status kspec_write_check(const char *path, int ndim, kspec_error *err) {
    ks_clear(err);
    format f;
    if (!path) return ks_fail(err, KSPEC_E_ARG, "no path to write to (NULL)");
    if (ndim && ndim != 2 && ndim != 3)
        return ks_fail(err, KSPEC_E_ARG, "cannot write %s: %d axes, not 2 or 3", path, ndim);
    kspec_status status = ndim ? choose_format(path, ndim, &f, err) : KSPEC_OK;
    return status ? status : ks_temp_check(path, err);
}

kspec_status kspec_write_open(const char *path, int ndim, const size_t *shape, kspec_writer **out,
                              kspec_error *err) {
    if (ks_begin(err, out)) return KSPEC_E_ARG;
    if (!path) return ks_fail(err, KSPEC_E_ARG, "no path to write to (NULL)");
    if (!shape) return ks_fail(err, KSPEC_E_ARG, "cannot write %s: no shape (NULL)", path);
    if (ndim != 2 && ndim != 3)
        return ks_fail(err, KSPEC_E_ARG, "cannot write %s: %d axes, not 2 or 3", path, ndim);
    size_t total = 1;
    for (int d = 0; d < ndim; d++) {
        if (shape[d] == 0) return ks_fail(err, KSPEC_E_ARG, "cannot write %s: axis %d has length 0", path, d);
        total = ks_size(total, shape[d]);
    }
    if (ks_size(total, sizeof(double)) > PTRDIFF_MAX)
        return ks_fail(err, KSPEC_E_ARG, "cannot write %s: the shape is too large", path);
    format f;
    kspec_status status = choose_format(path, ndim, &f, err);
    if (status) return status;

    kspec_writer *w = ks_zalloc(1, sizeof *w);
    if (!w) return ks_nomem(err, "a file writer", sizeof *w);
    w->format = f;
    w->ndim = ndim;
    memcpy(w->shape, shape, (size_t)ndim * sizeof *shape);
    w->total = total;
    status = ks_temp_open(&w->file, path, err);
    if (status) {
        ks_free(w);
        return status;
    }
    if (f == NPY) put_npy_header(w);
    *out = w;
    return KSPEC_OK;
}

static kspec_status report(const kspec_writer *w, kspec_error *err) {
    if (err) *err = w->failure;
    return w->failure.code;
}

kspec_status kspec_write_values(kspec_writer *w, const double *values, size_t count, kspec_error *err) {
    ks_clear(err);
    if (!w) return ks_fail(err, KSPEC_E_ARG, "no writer (NULL)");
    if (count && !values) return ks_fail(err, KSPEC_E_ARG, "no values to write (NULL)");
    if (w->failure.code) return report(w, err);
    if (count > w->total - w->written)
        ks_fail(&w->failure, KSPEC_E_ARG, "cannot write %s: %zu values where %zu of %zu are left",
                w->file.target, count, w->total - w->written, w->total);
    else if (w->format == NPY)
        put_npy(w, values, count, &w->failure);
    else
        put_text(w, values, count, &w->failure);
    if (w->failure.code) {
        /* The temporary file is removed at once, because on a full disk every byte counts. */
        ks_temp_discard(&w->file);
        return report(w, err);
    }
    w->written += count;
    return KSPEC_OK;
}

kspec_status kspec_write_close(kspec_writer *w, kspec_error *err) {
    ks_clear(err);
    if (!w) return KSPEC_OK;
    if (!w->failure.code && w->written < w->total)
        ks_fail(&w->failure, KSPEC_E_ARG, "cannot write %s: %zu of %zu values were given", w->file.target,
                w->written, w->total);
    if (!w->failure.code) flush(w, &w->failure);
    if (!w->failure.code) ks_temp_commit(&w->file, &w->failure);
    kspec_status status = report(w, err);
    kspec_write_abort(w);
    return status;
}

void kspec_write_abort(kspec_writer *w) {
    if (!w) return;
    ks_temp_discard(&w->file);
    ks_free(w);
}
