/* Images and labels in the form that the networks read. */
#pragma once

#include "kspec/learn.h"

#include "base/memory.h"

/*
 * Holds n images of d pixels, row-major. stride is a multiple of KS_TRAIN_COLS, and rows are padded with
 * zeros.
 */
typedef struct {
    size_t n, stride;
    float *x;
    /* NULL: unknown */
    int *label;
} ks_images;

struct kspec_learn_data {
    kspec_learn_shape shape;
    kspec_pixels pixels;
    ks_images train, test;
    /* the first `probe` test images, probe x pixels */
    double *probe;
    /* the hash of all fields above */
    uint64_t digest;
    ks_arena arena;
};

/* Computes the FNV-1a hash of bytes, continued from h; begin with KS_FNV. */
#define KS_FNV UINT64_C(0xcbf29ce484222325)
uint64_t ks_fnv(uint64_t h, const void *bytes, size_t count);
