/* Small images with classes that can be learnt, one-line calls, and a store in memory. */
#ifndef LEARN_HELP_H
#define LEARN_HELP_H

#include "kspec.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

/* Images are normal around one centre per class; label i is i mod classes. */
typedef struct {
    size_t n, d, classes;
    double *x, *y;
} image_set;

static inline image_set make_images(uint64_t seed, size_t n, size_t d, size_t classes) {
    image_set s = {n, d, classes, malloc(n * d * sizeof(double)), malloc(n * sizeof(double))};
    double *centre = malloc(classes * d * sizeof *centre);
    kspec_random_normal(77, 0, 0, classes * d, centre);
    kspec_random_normal(seed, 1, 0, n * d, s.x);
    for (size_t i = 0; i < n; i++) {
        s.y[i] = (double)(i % classes);
        for (size_t k = 0; k < d; k++)
            s.x[i * d + k] = 100 + 30 * (s.x[i * d + k] + 2 * centre[i % classes * d + k]);
    }
    free(centre);
    return s;
}

static inline void free_images(image_set *s) {
    free(s->x);
    free(s->y);
}

static inline kspec_matrix view(const double *x, size_t rows, size_t cols) {
    return (kspec_matrix){x, rows, cols, (ptrdiff_t)cols, 1};
}

/* Training and test sets drawn from the same classes */
static inline kspec_learn_data *open_images(size_t n, size_t nt, size_t d, size_t classes,
                                            kspec_pixels pixels) {
    image_set a = make_images(1, n, d, classes), b = make_images(2, nt, d, classes);
    kspec_matrix x = view(a.x, n, d), y = view(a.y, n, 1), xt = view(b.x, nt, d), yt = view(b.y, nt, 1);
    kspec_learn_data_opts o = {.size = sizeof o, .pixels = pixels, .classes = classes};
    kspec_learn_data *data;
    kspec_error err;
    CHECK_MSG(kspec_learn_open(&x, &y, &xt, &yt, &o, &data, &err) == KSPEC_OK, "%s", err.msg);
    free_images(&a);
    free_images(&b);
    return data;
}

/* Bit by bit the same: what was measured in every run, not how long it took */
static inline int same_moments(const kspec_learn_moments *a, const kspec_learn_moments *b) {
    if (!a || !b) return a == b;
    if (a->count != b->count) return 0;
    for (size_t k = 0; k < a->count; k++) {
        const kspec_estimate *e = a->estimates[k], *f = b->estimates[k];
        const double x[] = {e->value, e->std_error, e->ci_low, e->ci_high, e->root, a->ratio_error[k]};
        const double y[] = {f->value, f->std_error, f->ci_low, f->ci_high, f->root, b->ratio_error[k]};
        if (e->estimator != f->estimator || e->n != f->n || memcmp(x, y, sizeof x)) return 0;
    }
    return 1;
}

static inline int same_runs(const kspec_learn_run *x, const kspec_learn_run *y) {
    if (x->width != y->width || x->seed != y->seed || x->epoch_count != y->epoch_count) return 0;
    for (size_t k = 0; k < x->epoch_count; k++) {
        const kspec_learn_epoch *e = x->epochs[k], *f = y->epochs[k];
        if (e->epoch != f->epoch || memcmp(&e->loss, &f->loss, sizeof e->loss) ||
            memcmp(&e->accuracy, &f->accuracy, sizeof e->loss) ||
            memcmp(&e->test_accuracy, &f->test_accuracy, sizeof e->loss) ||
            !same_moments(e->moments, f->moments) || !same_moments(e->subsample, f->subsample))
            return 0;
    }
    return 1;
}

static inline int same_results(const kspec_learn_result *a, const kspec_learn_result *b) {
    if (a->count != b->count) return 0;
    for (size_t r = 0; r < a->count; r++)
        if (!same_runs(a->runs[r], b->runs[r])) return 0;
    return 1;
}

/* ---- a store in memory */

enum { SLOTS = 16 };
typedef struct {
    size_t width[SLOTS], size[SLOTS], count;
    uint64_t seed[SLOTS];
    unsigned char *bytes[SLOTS];
    int saves;
} memory_store;

static inline size_t slot_of(memory_store *m, size_t width, uint64_t seed) {
    size_t k = 0;
    while (k < m->count && (m->width[k] != width || m->seed[k] != seed)) k++;
    return k;
}

static inline kspec_status memory_save(void *ctx, size_t width, uint64_t seed, const void *bytes,
                                       size_t count, kspec_error *err) {
    memory_store *m = ctx;
    (void)err;
    size_t k = slot_of(m, width, seed);
    if (k == m->count) m->width[k] = width, m->seed[k] = seed, m->bytes[k] = NULL, m->count++;
    free(m->bytes[k]);
    m->bytes[k] = malloc(count);
    memcpy(m->bytes[k], bytes, count);
    m->size[k] = count;
    m->saves++;
    return KSPEC_OK;
}

static inline kspec_status memory_load(void *ctx, size_t width, uint64_t seed, void *bytes, size_t *count,
                                       kspec_error *err) {
    memory_store *m = ctx;
    (void)err;
    size_t k = slot_of(m, width, seed);
    if (!bytes)
        *count = k < m->count ? m->size[k] : 0;
    else
        memcpy(bytes, m->bytes[k], *count);
    return KSPEC_OK;
}

static inline kspec_learn_store store_in(memory_store *m) {
    return (kspec_learn_store){.ctx = m, .save = memory_save, .load = memory_load};
}

static inline void memory_free(memory_store *m) {
    for (size_t k = 0; k < m->count; k++) free(m->bytes[k]);
    *m = (memory_store){0};
}

#endif
