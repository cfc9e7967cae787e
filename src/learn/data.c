/* Checks images and labels, and scales the pixels. */
#include "learn/data.h"

#include "base/error.h"
#include "base/matrix.h"
#include "simd/train.h"

#include <float.h>
#include <math.h>
#include <string.h>

uint64_t ks_fnv(uint64_t h, const void *bytes, size_t count) {
    const unsigned char *p = bytes;
    for (size_t k = 0; k < count; k++) h = (h ^ p[k]) * UINT64_C(0x100000001b3);
    return h;
}

/* Holds one of the two sets of images, with its name in messages. */
typedef struct {
    const char *images, *labels, *matrix, *column;
} set_name;

static const set_name training = {"images", "labels", "the matrix of images", "the column of labels"};
static const set_name test = {"test images", "test labels", "the matrix of test images",
                              "the column of test labels"};

/* Checks that the images exist and are finite, with a label for each; `labels` may be NULL. */
static kspec_status check_images(const set_name *set, const kspec_matrix *x, const kspec_matrix *labels,
                                 kspec_error *err) {
    kspec_status st = ks_matrix_check(x, set->matrix, err);
    if (!st && labels) st = ks_matrix_check(labels, set->column, err);
    if (st) return st;
    if (labels && labels->cols != 1)
        return ks_fail(err, KSPEC_E_ARG, "%s have %zu columns, not 1", set->labels, labels->cols);
    if (labels && labels->rows != x->rows)
        return ks_fail(err, KSPEC_E_ARG, "%zu %s, but %zu labels", x->rows, set->images, labels->rows);
    return ks_matrix_finite(x, set->images, err);
}

/* Copies the first n labels, 0 ... classes-1. If *classes is 0, it becomes the largest label plus 1. */
static kspec_status take_labels(const set_name *set, const kspec_matrix *labels, size_t n, size_t *classes,
                                int *out, kspec_error *err) {
    double most = *classes ? (double)*classes : KSPEC_LEARN_MAX_CLASSES;
    int largest = 0;
    for (size_t i = 0; i < n; i++) {
        double c = ks_at(labels, i, 0);
        if (!(c >= 0 && c < most && c == floor(c)))
            return ks_fail(err, KSPEC_E_DATA, "%s: row %zu (from 0) is %g, not a whole number from 0 to %g",
                           set->labels, i, c, most - 1);
        out[i] = (int)c;
        if (out[i] > largest) largest = out[i];
    }
    if (!*classes) *classes = (size_t)largest + 1;
    return KSPEC_OK;
}

/* Computes the mean of each pixel over the training images, and returns the mean square of the deviations. */
static double center(const kspec_matrix *x, size_t n, double *mean) {
    memset(mean, 0, x->cols * sizeof *mean);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < x->cols; k++) mean[k] += ks_at(x, i, k) / (double)n;
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < x->cols; k++) sum += pow(ks_at(x, i, k) - mean[k], 2);
    return sum / (double)n;
}

/* Copies the images of a set, shifted and scaled. */
static kspec_status take_images(const set_name *set, const kspec_matrix *x, const double *mean, double scale,
                                ks_images *to, kspec_error *err) {
    for (size_t i = 0; i < to->n; i++)
        for (size_t k = 0; k < x->cols; k++) {
            double v = scale * (ks_at(x, i, k) - mean[k]);
            if (!(fabs(v) <= FLT_MAX))
                return ks_fail(
                    err, KSPEC_E_DATA,
                    "%s: row %zu, column %zu (from 0) is %g, scaled %g: beyond %g in single precision",
                    set->images, i, k, ks_at(x, i, k), v, (double)FLT_MAX);
            to->x[i * to->stride + k] = (float)v;
        }
    return KSPEC_OK;
}

static kspec_status take_pixels(kspec_learn_data *t, const kspec_matrix *images,
                                const kspec_matrix *test_images, kspec_error *err) {
    size_t d = images->cols, n = t->train.n;
    double *mean = ks_zalloc(d, sizeof *mean), scale = 1.0 / 255;
    if (!mean) return ks_nomem(err, "the mean image", ks_size(d, sizeof *mean));
    if (t->pixels == KSPEC_PIXELS_UNIT) {
        double square = center(images, n, mean);
        scale = 1 / sqrt(square);
        if (!(square > 0 && isfinite(square) && isfinite(scale))) {
            ks_free(mean);
            return ks_fail(err, KSPEC_E_DATA,
                           "the %zu training images vary by a mean square of %g: cannot be scaled to 1", n,
                           square);
        }
    }
    kspec_status st = take_images(&training, images, mean, scale, &t->train, err);
    if (!st) st = take_images(&test, test_images, mean, scale, &t->test, err);
    for (size_t i = 0; i < t->shape.probe; i++)
        for (size_t k = 0; k < d; k++) t->probe[i * d + k] = scale * (ks_at(test_images, i, k) - mean[k]);
    ks_free(mean);
    t->shape.pixel_factor = scale;
    return st;
}

static uint64_t digest_of(const ks_images *s, uint64_t h) {
    h = ks_fnv(h, s->x, s->n * s->stride * sizeof *s->x);
    return s->label ? ks_fnv(h, s->label, s->n * sizeof *s->label) : h;
}

/* How many of `have` to use: `wanted`, which must not exceed `have`, or by default min(usual, have) */
static kspec_status choose(const char *what, size_t wanted, size_t usual, size_t have, size_t *out,
                           kspec_error *err) {
    if (wanted > have)
        return ks_fail(err, KSPEC_E_ARG, "%zu %s images exceed the %zu given", wanted, what, have);
    *out = wanted ? wanted : usual < have ? usual : have;
    return KSPEC_OK;
}

static kspec_status fill(kspec_learn_data *t, const kspec_matrix *images, const kspec_matrix *labels,
                         const kspec_matrix *test_images, const kspec_matrix *test_labels, kspec_error *err) {
    size_t d = images->cols, stride = (d + KS_TRAIN_COLS - 1) / KS_TRAIN_COLS * KS_TRAIN_COLS;
    size_t n = t->shape.train_count, nt = test_images->rows;
    size_t floats = ks_size(ks_size_add(n, nt), stride), doubles = ks_size(t->shape.probe, d);
    size_t bytes = ks_size_add(ks_size(floats, sizeof *t->train.x), ks_size(doubles, sizeof *t->probe));
    kspec_status st = ks_check_memory(err, bytes, "the images in single precision");
    if (st) return st;
    t->train = (ks_images){n, stride, ks_arena_zalloc(&t->arena, ks_size(n, stride), sizeof(float)),
                           ks_arena_alloc(&t->arena, n, sizeof(int))};
    t->test = (ks_images){nt, stride, ks_arena_zalloc(&t->arena, ks_size(nt, stride), sizeof(float)),
                          test_labels ? ks_arena_alloc(&t->arena, nt, sizeof(int)) : NULL};
    t->probe = ks_arena_alloc(&t->arena, doubles, sizeof *t->probe);
    if (t->arena.failed) return ks_nomem(err, "the images in single precision", bytes);
    if ((st = take_labels(&training, labels, n, &t->shape.classes, t->train.label, err))) return st;
    if (test_labels && (st = take_labels(&test, test_labels, nt, &t->shape.classes, t->test.label, err)))
        return st;
    if ((st = take_pixels(t, images, test_images, err))) return st;
    t->digest = digest_of(&t->test, digest_of(&t->train, KS_FNV));
    return KSPEC_OK;
}

kspec_status kspec_learn_open(const kspec_matrix *images, const kspec_matrix *labels,
                              const kspec_matrix *test_images, const kspec_matrix *test_labels,
                              const kspec_learn_data_opts *opts, kspec_learn_data **out, kspec_error *err) {
    if (ks_begin(err, out)) return KSPEC_E_ARG;
    kspec_learn_data_opts o;
    kspec_status st = ks_take_opts(&o, sizeof o, opts, err);
    if (!st) st = ks_matrix_check(labels, training.column, err);
    if (!st) st = check_images(&training, images, labels, err);
    if (!st) st = check_images(&test, test_images, test_labels, err);
    if (st) return st;
    if (o.pixels < KSPEC_PIXELS_UNIT || o.pixels > KSPEC_PIXELS_255)
        return ks_fail(err, KSPEC_E_ARG, "unknown scaling of pixels %d", (int)o.pixels);
    if (o.classes > KSPEC_LEARN_MAX_CLASSES)
        return ks_fail(err, KSPEC_E_ARG, "classes %zu exceeds %d", o.classes, KSPEC_LEARN_MAX_CLASSES);
    if (test_images->cols != images->cols)
        return ks_fail(err, KSPEC_E_ARG, "test images have %zu pixels, but the images have %zu",
                       test_images->cols, images->cols);
    kspec_learn_shape s = {.test_count = test_images->rows, .pixels = images->cols, .classes = o.classes};
    st = choose("training", o.train_count, 10000, images->rows, &s.train_count, err);
    if (!st) st = choose("test", o.probe, 1000, test_images->rows, &s.probe, err);
    if (st) return st;

    kspec_learn_data *t = ks_zalloc(1, sizeof *t);
    if (!t) return ks_nomem(err, "the images", sizeof *t);
    t->shape = s;
    t->pixels = o.pixels;
    if ((st = fill(t, images, labels, test_images, test_labels, err))) {
        kspec_learn_close(t);
        return st;
    }
    *out = t;
    return KSPEC_OK;
}

void kspec_learn_close(kspec_learn_data *data) {
    if (!data) return;
    ks_arena_free(&data->arena);
    ks_free(data);
}

const kspec_learn_shape *kspec_learn_data_shape(const kspec_learn_data *data) {
    return data ? &data->shape : NULL;
}
