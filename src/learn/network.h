/*
 * One hidden layer of N ReLU neurons, trained in single precision:
 *
 *     h_i = max(w_i . x, 0),   y_j = sum_i a_ij h_i,   loss = mean over images of sum_j (y_j - t_j)^2.
 *
 * Neurons, pixels, classes and the images of a batch are padded with zeros to the sizes that the kernels
 * need; padded weights have gradient zero and stay zero. The columns of the batch matrices are images, except
 * in X, where the rows are images.
 */
#pragma once

#include "simd/simd.h"
#include "learn/data.h"

typedef struct {
    size_t N, classes, d;              /* without padding */
    size_t rows, outputs, cols, batch; /* N, classes, pixels and images of a batch, padded */
    double step_size;
    uint64_t seed, steps; /* Adam's t */
    const ks_simd *k;
    size_t weights;      /* the number of weights of both layers: rows (cols + outputs) */
    float *state;        /* the next six arrays in one block, which a checkpoint stores */
    float *W, *MW, *VW;  /* rows x cols */
    float *A, *MA, *VA;  /* rows x outputs */
    const float **image; /* pointers to the current images */
    float *X, *XT;       /* the images of the batch, batch x cols, and their transpose */
    float *H, *D;        /* rows x batch: the activations, and the derivative of the loss by w_i . x */
    float *AT;           /* outputs x rows */
    /* outputs x batch: the outputs, later the residuals y - t; and the derivative of the loss by y */
    float *Y, *R;
    float *RT; /* batch x outputs */
} ks_network;

/*
 * Streams of random numbers. Each width has separate streams, so that networks with the same seed are
 * independent.
 */
enum { KS_LEARN_HIDDEN, KS_LEARN_OUTPUT, KS_LEARN_SUBSAMPLE, KS_LEARN_ORDER }; /* last: + epoch */
uint64_t ks_learn_stream(size_t width, uint64_t purpose);

/* Returns the bytes of memory for a network of width N. */
size_t ks_network_bytes(size_t N, const kspec_learn_data *data, size_t batch);

/* Allocates the network in the arena and draws its weights. */
kspec_status ks_network_make(ks_network *net, ks_arena *arena, size_t N, uint64_t seed,
                             const kspec_learn_data *data, size_t batch, const kspec_learn_scaling *scaling,
                             kspec_error *err);

/*
 * Takes one step of Adam on `count` images (at most batch), given by their numbers, and returns the sum of
 * their losses before the step.
 */
double ks_network_step(ks_network *net, const ks_images *s, const size_t *image, size_t count);

/* Computes the mean loss and the fraction of correct classes over all images of a set with labels. */
void ks_network_evaluate(ks_network *net, const ks_images *s, double *loss, double *accuracy);

/* Returns the multiply-adds of one pass through n images. */
double ks_network_fma(const ks_network *net, size_t n);
