/* Images and labels as the networks take them. */
#ifndef KS_LEARN_DATA_H
#define KS_LEARN_DATA_H

#include "kspec/learn.h"

#include "base/memory.h"

/* n images of d pixels, row-major with stride `stride`, a multiple of KS_TRAIN_COLS; the rest of a row is zero. */
typedef struct {
    size_t n, stride;
    float *x;
    int *label; /* NULL: not known */
} ks_images;

struct kspec_learn_data {
    kspec_learn_shape shape;
    kspec_pixels pixels;
    ks_images train, test;
    double *probe;   /* the first test images: probe x pixels */
    uint64_t digest; /* of all of the above */
    ks_arena arena;
};

/* FNV-1a over bytes, going on from h; begin with KS_FNV. */
#define KS_FNV UINT64_C(0xcbf29ce484222325)
uint64_t ks_fnv(uint64_t h, const void *bytes, size_t count);

#endif
