/*
 * Handles missing values: refuses them, omits their rows or columns, or treats them as missing repeats.
 */
#include "io/read.h"

#include "base/error.h"
#include "base/memory.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct {
    size_t trial, row, col;
} place;

/* The numbers of missing values and the positions of the first ones. */
typedef struct {
    /* `count` is the number of missing values. `partial_count` is the number of rows of single trials in
     * which some values but not all are missing. The other members are the positions of the first missing
     * value and of the first such row. */
    size_t count, partial_count;
    place first, partial;
    /* for each row, the number of trials without missing values */
    size_t *whole;
    /* for each column, 1 if it has a missing value */
    unsigned char *col_misses;
    size_t whole_rows, whole_cols;
} census;

static size_t count_missing(const double *x, size_t n) {
    size_t count = 0;
    for (size_t j = 0; j < n; j++) count += x[j] != x[j];
    return count;
}

static kspec_status census_take(census *c, const kspec_dataset *d, kspec_error *err) {
    *c = (census){0};
    c->whole = ks_zalloc(d->rows, sizeof *c->whole);
    c->col_misses = ks_zalloc(d->cols, 1);
    if (!c->whole || !c->col_misses)
        return ks_nomem(err, "a count of missing values", ks_size(d->rows, 8) + d->cols);
    const double *x = d->data;
    for (size_t t = 0; t < d->trials; t++)
        for (size_t i = 0; i < d->rows; i++, x += d->cols) {
            size_t missing = count_missing(x, d->cols), first = d->cols;
            c->whole[i] += !missing;
            if (!missing) continue;
            for (size_t j = d->cols; j-- > 0;)
                if (isnan(x[j])) c->col_misses[j] = 1, first = j;
            if (!c->count) c->first = (place){t, i, first};
            c->count += missing;
            if (missing < d->cols && !c->partial_count++) c->partial = (place){t, i, first};
        }
    for (size_t i = 0; i < d->rows; i++) c->whole_rows += c->whole[i] == d->trials;
    for (size_t j = 0; j < d->cols; j++) c->whole_cols += !c->col_misses[j];
    return KSPEC_OK;
}

static void census_free(census *c) {
    ks_free(c->whole);
    ks_free(c->col_misses);
}

/* ----------------------------------------------------------------- messages */

/* Returns the input file that contains trial t. */
static const ks_part *input_of(const ks_part *parts, size_t t) {
    for (; t >= parts->view.shape[KS_TRIALS]; parts++) t -= parts->view.shape[KS_TRIALS];
    return parts;
}

/* Converts a position in the data set to the position in the file, before rows and columns were selected. */
static place in_file(const ks_part *part, place p) {
    return (place){p.trial, ks_view_origin(&part->view, KS_ROWS, p.row),
                   ks_view_origin(&part->view, KS_COLS, p.col)};
}

static kspec_status fail_missing(const kspec_dataset *d, const census *c, const ks_part *parts,
                                 kspec_error *err) {
    const ks_part *part = input_of(parts, c->first.trial);
    place first = in_file(part, c->first);
    char trial[48] = "", column[80] = "", axes[120] = "", advice[200];
    if (d->array_dims == 3) /* the advice at the end of the message depends on the shape of the array */
        snprintf(axes, sizeof axes, "taken as %zu trials x %zu rows x %zu columns (axes), ", d->trials,
                 d->rows, d->cols);
    if (d->trials > 1) snprintf(trial, sizeof trial, "trial %zu, ", first.trial);
    if (d->col_names) snprintf(column, sizeof column, " ('%.64s')", d->col_names[c->first.col]);
    int ragged = d->trials > 1 && !c->partial_count;
    /* The message suggests the policy ragged-trials only if every row has at least two whole trials. */
    for (size_t i = 0; i < d->rows; i++) ragged &= c->whole[i] >= 2;
    const char *policy = ragged ? "ragged-trials" : "omit-rows";
    if (ragged)
        snprintf(advice, sizeof advice, "%s takes rows missing from a trial as repeats not made", policy);
    else if (d->array_dims == 3 && d->cols <= d->trials) /* the columns may in fact be the trials */
        snprintf(advice, sizeof advice, "omit-rows leaves %zu of %zu rows", c->whole_rows, d->rows);
    else
        snprintf(advice, sizeof advice, "omit-rows leaves %zu of %zu rows, omit-cols %zu of %zu columns",
                 c->whole_rows, d->rows, c->whole_cols, d->cols);
    ks_fail(err, KSPEC_E_IO, "%s: %s%zu missing value%s, the first at %srow %zu, column %zu%s (from 0); %s",
            part->name, axes, c->count, c->count == 1 ? "" : "s", trial, first.row, first.col, column,
            advice);
    return ks_about(err, "nan", policy, KSPEC_E_IO);
}

static kspec_status check_ragged(const kspec_dataset *d, const census *c, const ks_part *parts,
                                 kspec_error *err) {
    const char *name = parts->name;
    if (d->trials < 2) return ks_fail(err, KSPEC_E_IO, "%s has 1 trial; ragged-trials needs several", name);
    if (c->partial_count) {
        const ks_part *part = input_of(parts, c->partial.trial);
        place partial = in_file(part, c->partial);
        return ks_fail(err, KSPEC_E_IO,
                       "%s: trial %zu, row %zu misses column %zu but not all columns (from 0); ragged-trials "
                       "needs each row of a trial to be complete or missing as a whole",
                       part->name, partial.trial, partial.row, partial.col);
    }
    for (size_t i = 0; i < d->rows; i++)
        if (c->whole[i] < 2)
            return ks_fail(err, KSPEC_E_IO,
                           "%s: row %zu (from 0) was measured in %zu of %zu trials; at least 2 are needed",
                           name, ks_view_origin(&parts->view, KS_ROWS, i), c->whole[i], d->trials);
    return KSPEC_OK;
}

/* ------------------------------------------------------------------ changes */

/* The next three functions only move values towards the beginning, so they can work in place or write to
 * new memory. The old array has trials x rows x cols values, and y is the new array. */
static void keep_rows(const kspec_dataset *d, const census *c, double *y) {
    const double *x = d->data;
    for (size_t t = 0; t < d->trials; t++)
        for (size_t i = 0; i < d->rows; i++, x += d->cols) {
            if (c->whole[i] < d->trials) continue;
            memmove(y, x, d->cols * sizeof *y);
            y += d->cols;
        }
}

static void keep_cols(const kspec_dataset *d, const census *c, double *y) {
    const double *x = d->data;
    for (size_t r = 0; r < d->trials * d->rows; r++, x += d->cols)
        for (size_t j = 0; j < d->cols; j++)
            if (!c->col_misses[j]) *y++ = x[j];
}

/*
 * Moves the whole trials of row i to trials 0 ... whole[i]-1, in order. Later trials of the row become NaN.
 */
static void pack_trials(const kspec_dataset *d, const census *c, size_t trials, double *y) {
    size_t cols = d->cols, step = d->rows * cols;
    for (size_t i = 0; i < d->rows; i++) {
        const double *x = d->data + i * cols;
        double *to = y + i * cols;
        for (size_t t = 0; t < d->trials; t++, x += step)
            if (!isnan(x[0])) {
                memmove(to, x, cols * sizeof *to);
                to += step;
            }
        for (size_t t = c->whole[i]; t < trials; t++, to += step)
            for (size_t j = 0; j < cols; j++) to[j] = NAN;
    }
}

static kspec_status change(ks_dataset *set, const census *c, kspec_nan policy, const char *name,
                           kspec_error *err) {
    kspec_dataset *d = &set->d;
    size_t shape[3] = {d->trials, d->rows, d->cols};
    if (policy == KSPEC_NAN_OMIT_ROWS) shape[1] = c->whole_rows;
    if (policy == KSPEC_NAN_OMIT_COLS) shape[2] = c->whole_cols;
    if (policy == KSPEC_NAN_RAGGED_TRIALS) {
        shape[0] = 0;
        for (size_t i = 0; i < d->rows; i++)
            if (c->whole[i] > shape[0]) shape[0] = c->whole[i];
    }
    ks_array fresh = {0};
    /* the library's memory, not a mapped file */
    double *y = set->storage.storage.heap ? (double *)d->data : NULL;
    if (!y) {
        kspec_status st = ks_array_new(&fresh, 3, shape, &y, name, err);
        if (st) return st;
    }
    if (policy == KSPEC_NAN_OMIT_ROWS) keep_rows(d, c, y);
    if (policy == KSPEC_NAN_OMIT_COLS) keep_cols(d, c, y);
    if (policy == KSPEC_NAN_RAGGED_TRIALS) pack_trials(d, c, shape[0], y);
    if (policy == KSPEC_NAN_OMIT_COLS && d->col_names)
        for (size_t j = 0, k = 0; j < d->cols; j++)
            if (!c->col_misses[j]) d->col_names[k++] = d->col_names[j];
    if (fresh.data) {
        ks_array_free(&set->storage);
        set->storage = fresh;
        d->data = y, d->file = NULL;
    }
    d->omitted_rows = d->rows - shape[1];
    d->omitted_cols = d->cols - shape[2];
    d->trials = shape[0];
    d->rows = shape[1];
    d->cols = shape[2];
    return KSPEC_OK;
}

static kspec_status apply(ks_dataset *set, census *c, const ks_part *parts, kspec_nan policy,
                          kspec_error *err) {
    kspec_dataset *d = &set->d;
    kspec_status st = KSPEC_OK;
    if (policy == KSPEC_NAN_RAGGED_TRIALS) {
        st = check_ragged(d, c, parts, err);
    } else if (c->count && policy == KSPEC_NAN_ERROR) {
        return fail_missing(d, c, parts, err);
    } else if (policy == KSPEC_NAN_OMIT_ROWS && !c->whole_rows) {
        st = ks_fail(err, KSPEC_E_IO,
                     "%s: every row misses a value, omit-rows leaves none; omit-cols leaves "
                     "%zu of %zu columns",
                     parts->name, c->whole_cols, d->cols);
    } else if (policy == KSPEC_NAN_OMIT_COLS && !c->whole_cols) {
        st = ks_fail(err, KSPEC_E_IO,
                     "%s: every column misses a value, omit-cols leaves none; omit-rows leaves "
                     "%zu of %zu rows",
                     parts->name, c->whole_rows, d->rows);
    }
    if (st) return ks_about(err, "nan", NULL, st);
    if (c->count) st = change(set, c, policy, parts->name, err);
    if (!st && policy == KSPEC_NAN_RAGGED_TRIALS) {
        d->row_trials = c->whole;
        c->whole = NULL;
    }
    return st;
}

/*
 * The inner loop runs along the axis with shorter strides, in the order of memory. 
 */
size_t ks_missing_count(const kspec_matrix *m) {
    ptrdiff_t outer = m->row_stride, inner = m->col_stride;
    size_t count = 0, slow = m->rows, fast = m->cols;
    if ((outer < 0 ? -outer : outer) < (inner < 0 ? -inner : inner)) {
        outer = m->col_stride, inner = m->row_stride;
        slow = m->cols, fast = m->rows;
    }
    for (size_t i = 0; i < slow; i++) {
        const double *x = m->data + (ptrdiff_t)i * outer;
        for (size_t j = 0; j < fast; j++) {
            double value = x[(ptrdiff_t)j * inner];
            count += value != value;
        }
    }
    return count;
}

kspec_status ks_missing_apply(ks_dataset *set, const ks_part *parts, const kspec_read_opts *opts,
                              kspec_error *err) {
    kspec_dataset *d = &set->d;
    if (opts->nan == KSPEC_NAN_KEEP) {
        d->missing = count_missing(d->data, d->trials * d->rows * d->cols);
        return KSPEC_OK;
    }
    census c;
    kspec_status st = census_take(&c, d, err);
    d->missing = c.count;
    if (!st) st = apply(set, &c, parts, opts->nan, err);
    census_free(&c);
    return st;
}
