/*
 * kspec_read() and kspec_read_labels(), for one process or for a team: every rank reads files that can be
 * mapped, and only rank 0 reads files that must be parsed.
 */
#include "base/error.h"
#include "base/memory.h"
#include "base/shared.h"
#include "io/names.h"
#include "io/read.h"

#include <string.h>

static int shared(const kspec_team *t) { return t && ks_calls_of(t)->ranks(t) > 1; }

/* Returns 1 if every rank can read the inputs itself. The decision depends only on the inputs' names,
 * which are the same on all ranks. */
static int read_by_each(const char *const *inputs, size_t count) {
    static const char *const formats[] = {".npy", ".h5", ".hdf5", ".mat"};
    for (size_t k = 0; k < count; k++) {
        if (!inputs[k] || ks_is_borrowed(inputs[k])) continue;
        int found = 0;
        for (size_t f = 0; f < sizeof formats / sizeof *formats && !found; f++) {
            const char *at = strstr(inputs[k], formats[f]);
            const size_t length = strlen(formats[f]);
            for (; at && !found; at = strstr(at + 1, formats[f])) found = !at[length] || at[length] == ':';
        }
        if (!found) return 0;
    }
    return 1;
}

/* The message that rank 0 sends before the values: the status of reading, and the data set without its
 * pointers. */
typedef struct {
    kspec_error failure;
    kspec_dataset d;
    int ragged;
    /* the number of bytes of the column names with their final zeros, or 0 without names */
    size_t names;
} notice;

static size_t names_bytes(const kspec_dataset *d) {
    size_t bytes = 0;
    for (size_t j = 0; d->col_names && j < d->cols; j++) bytes += strlen(d->col_names[j]) + 1;
    return bytes;
}

static void write_notice(const kspec_dataset *d, notice *n) {
    n->d = *d;
    n->d.data = NULL, n->d.row_trials = NULL, n->d.col_names = NULL;
    n->ragged = d->row_trials != NULL;
    n->names = names_bytes(d);
}

/* Allocates memory for the data from rank 0, and `text` for the column names. */
static kspec_status make_room(const notice *n, kspec_dataset **out, char **text, kspec_error *err) {
    const size_t shape[3] = {n->d.trials, n->d.rows, n->d.cols};
    double *data;
    ks_dataset *set = ks_dataset_new();
    if (!set) return ks_nomem(err, "the data set", sizeof *set);
    *out = &set->d;
    kspec_status st = ks_array_new(&set->storage, 3, shape, &data, "the data set", err);
    if (st) return st;
    set->d = n->d;
    set->d.data = data;
    if (n->ragged && !(set->d.row_trials = ks_alloc(n->d.rows, sizeof *set->d.row_trials)))
        return ks_nomem(err, "the trials of each row", ks_size(n->d.rows, sizeof *set->d.row_trials));
    if (n->names && !(*text = ks_alloc(n->names, 1))) return ks_nomem(err, "the column names", n->names);
    return KSPEC_OK;
}

static kspec_status copy_names(kspec_dataset *d, const char *text, kspec_error *err) {
    const char **names = ks_alloc(d->cols, sizeof *names);
    if (!names) return ks_nomem(err, "the column names", ks_size(d->cols, sizeof *names));
    for (size_t j = 0; j < d->cols; j++, text += strlen(text) + 1) names[j] = text;
    kspec_status st = ks_names_copy(names, NULL, d->cols, "the column names", &d->col_names, err);
    ks_free(names);
    return st;
}

/* Sends the values of *out from rank 0 to all ranks, after every rank has allocated memory. */
static kspec_status send(kspec_team *t, const notice *n, kspec_dataset **out, kspec_error *err) {
    char *text = NULL;
    kspec_status st = KSPEC_OK;
    if (ks_calls_of(t)->rank(t) > 0) {
        st = make_room(n, out, &text, err);
    } else if (n->names) {
        if (!(text = ks_alloc(n->names, 1))) st = ks_nomem(err, "the column names", n->names);
        for (size_t j = 0, at = 0; j < n->d.cols && text; at += strlen(text + at) + 1, j++)
            strcpy(text + at, (*out)->col_names[j]);
    }
    st = ks_calls_of(t)->synchronise(t, st, "data set", n->d.rows, err);
    const size_t values = n->d.trials * n->d.rows * n->d.cols;
    if (!st) st = ks_calls_of(t)->send(t, (void *)(*out)->data, values * sizeof(double), err);
    if (!st && n->ragged)
        st = ks_calls_of(t)->send(t, (*out)->row_trials, n->d.rows * sizeof *(*out)->row_trials, err);
    if (!st && n->names) st = ks_calls_of(t)->send(t, text, n->names, err);
    if (!st && n->names && ks_calls_of(t)->rank(t) > 0) st = copy_names(*out, text, err);
    ks_free(text);
    return st;
}

static kspec_status read_and_send(const char *const *inputs, size_t count, const kspec_read_opts *o,
                                  kspec_dataset **out, kspec_error *err) {
    kspec_team *t = o->team;
    notice n;
    memset(&n, 0, sizeof n);
    ks_calls_of(t)->count(t);
    if (ks_calls_of(t)->rank(t) == 0) {
        kspec_read_opts how = *o;
        how.in_place = 0; /* rank 0 sends a contiguous copy of the values */
        n.failure.code = ks_read(inputs, count, &how, out, &n.failure);
        if (!n.failure.code) write_notice(*out, &n);
    }
    kspec_status st = ks_calls_of(t)->synchronise(t, KSPEC_OK, "reading", count, err);
    if (!st) st = ks_calls_of(t)->send(t, &n, sizeof n, err);
    if (!st && n.failure.code) st = ks_fail_again(err, &n.failure);
    return st ? st : send(t, &n, out, err);
}

kspec_status kspec_read(const char *const *inputs, size_t count, const kspec_read_opts *opts,
                        kspec_dataset **out, kspec_error *err) {
    kspec_read_opts o;
    if (ks_begin(err, out)) return KSPEC_E_ARG;
    kspec_status st = ks_take_opts(&o, sizeof o, opts, err);
    if (st) return st;
    const int together = shared(o.team) && inputs && !read_by_each(inputs, count);
    o.size = sizeof o;
    st = together ? read_and_send(inputs, count, &o, out, err) : ks_read(inputs, count, &o, out, err);
    if (!st) st = ks_dataset_doubt(*out, inputs, count, &o, err);
    if (o.team) st = ks_calls_of(o.team)->end(o.team, st, err);
    if (st) kspec_free(*out), *out = NULL;
    return st;
}

/* ---- labels ---- */

static kspec_status labels_of_first(const char *input, const kspec_read_opts *o, kspec_labels **out,
                                    kspec_error *err) {
    kspec_team *t = o->team;
    struct {
        kspec_error failure;
        kspec_labels l;
    } n;
    memset(&n, 0, sizeof n);
    ks_calls_of(t)->count(t);
    if (ks_calls_of(t)->rank(t) == 0) {
        n.failure.code = ks_read_labels(input, o, out, &n.failure);
        if (!n.failure.code) n.l = **out;
    }
    kspec_status st = ks_calls_of(t)->synchronise(t, KSPEC_OK, "reading", 0, err);
    if (!st) st = ks_calls_of(t)->send(t, &n, sizeof n, err);
    if (!st && n.failure.code) st = ks_fail_again(err, &n.failure);
    if (st) return st;
    if (ks_calls_of(t)->rank(t) > 0) st = ks_labels_new(n.l.count, out, err);
    st = ks_calls_of(t)->synchronise(t, st, "labels", n.l.count, err);
    if (!st) st = ks_calls_of(t)->send(t, (*out)->of, n.l.count * sizeof *n.l.of, err);
    if (!st) (*out)->groups = n.l.groups, (*out)->column = n.l.column, (*out)->columns = n.l.columns;
    return st;
}

kspec_status kspec_read_labels(const char *input, const kspec_read_opts *opts, kspec_labels **out,
                               kspec_error *err) {
    kspec_read_opts o;
    if (ks_begin(err, out)) return KSPEC_E_ARG;
    kspec_status st = ks_take_opts(&o, sizeof o, opts, err);
    if (st) return st;
    o.size = sizeof o;
    st = shared(o.team) ? labels_of_first(input, &o, out, err) : ks_read_labels(input, &o, out, err);
    if (o.team) st = ks_calls_of(o.team)->end(o.team, st, err);
    if (st) kspec_free(*out), *out = NULL;
    return st;
}
