/* Part of kspec.h: kernel moments of a network while it learns. */
#ifndef KSPEC_LEARN_H
#define KSPEC_LEARN_H

#include "kspec/moments.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---------------------------------------------------------------- the data */

/* What is done to the pixels before they enter the network. */
typedef enum {
    KSPEC_PIXELS_UNIT = 0, /* less the mean training image, then scaled to mean |x|^2 = 1 in training */
    KSPEC_PIXELS_255       /* divided by 255 */
} kspec_pixels;

enum { KSPEC_MOST_CLASSES = 10000 };

typedef struct {
    size_t size;
    kspec_pixels pixels;
    size_t train_count; /* train on that many images, the first; default 10,000, or all */
    size_t probe;       /* P: measure on that many test images, the first; default 1,000, or all */
    size_t classes;     /* default: the largest training label and one; at most KSPEC_MOST_CLASSES */
} kspec_learn_data_opts;

/*
 * Images are rows; a label, in a column of its own, is a class: 0, 1, 2, ... test_labels may be NULL. The images are
 * copied (in single precision, the probe in double). Test images are shifted and scaled as the training images are.
 */
typedef struct kspec_learn_data kspec_learn_data;
KSPEC_API kspec_status kspec_learn_open(const kspec_matrix *images, const kspec_matrix *labels,
                                        const kspec_matrix *test_images, const kspec_matrix *test_labels,
                                        const kspec_learn_data_opts *opts, kspec_learn_data **out,
                                        kspec_error *err);
KSPEC_API void kspec_learn_close(kspec_learn_data *data);

/* What was made of it. */
typedef struct {
    size_t train_count, test_count, pixels, classes, probe;
    double scale; /* what pixels were multiplied by */
} kspec_learn_shape;
KSPEC_API kspec_learn_shape kspec_learn_data_shape(const kspec_learn_data *data);

/* ------------------------------------------------------------ the training */

/*
 * How weights and steps scale with the width N: hidden weights w ~ N(0, 1/N^hidden_power), output weights
 * a ~ N(0, 1/N^output_power), Adam's step rate/N^rate_power. The maximal-update parameterisation, which is the
 * default, has 0.1 and three times 1.
 */
typedef struct {
    double rate, rate_power, hidden_power, output_power;
} kspec_learn_scaling;

/*
 * What leaves a computation that may take hours, and comes back to it. Each function may be NULL; none is called twice
 * at a time, though not always from the same thread. A status other than KSPEC_OK ends the call with it and its message.
 */
typedef struct {
    void *ctx;
    /* Phi of a run at an epoch: probe x width, divided by its root mean square; valid during the call only. */
    kspec_status (*activations)(void *ctx, size_t width, uint64_t seed, size_t epoch, const kspec_matrix *phi,
                                kspec_error *err);
    /* Keep these bytes in place of the last ones of the same run: all of them, or those of before. */
    kspec_status (*save)(void *ctx, size_t width, uint64_t seed, const void *bytes, size_t count,
                         kspec_error *err);
    /* Give them back. bytes NULL: sets *count to how many there are, 0 for none; else *count is that number. */
    kspec_status (*load)(void *ctx, size_t width, uint64_t seed, void *bytes, size_t *count,
                         kspec_error *err);
} kspec_learn_store;

typedef struct {
    size_t size;
    const size_t *widths; /* the N of each network, all different */
    size_t width_count;
    size_t seeds;  /* how many networks of each width; default 1. Their seeds are seed, seed+1, ... */
    uint64_t seed; /* of the first */
    size_t epochs; /* passes through the training images; 0 measures the initialisation alone */
    size_t every;  /* measure at epochs 0, every, 2 every, ... and the last; default 2 */
    size_t batch;  /* images in a mini-batch; default 32, or all */
    const kspec_learn_scaling *scaling;
    size_t subsample; /* Q: measure a random Q of the neurons, too, where there are as many; default none */
    int nmax;         /* highest order; default 4, or less where a side is shorter */
    unsigned estimators; /* default KSPEC_ESTIMATOR_NAIVE | KSPEC_ESTIMATOR_AUTO */
    int permutations;    /* as in kspec_moments_opts, all three */
    kspec_side side;
    int no_stderr;
    kspec_learn_store store;
    int threads;
    kspec_progress progress;
} kspec_learn_opts;

/*
 * An estimate from Phi, and the standard error of m(n)/m(1)^n: what Phi over its root mean square is meant to estimate. In
 * it the errors of m(n) and m(1), which go together, cancel in part; std_error takes the scale for known, and is larger.
 */
typedef struct {
    kspec_estimate e;
    double ratio_error; /* NaN where std_error is */
} kspec_learn_estimate;

typedef struct {
    size_t epoch;
    double loss;          /* sum of squared errors over the classes, mean over the training images */
    double accuracy;      /* the share of training images whose class has the largest output */
    double test_accuracy; /* the same of all test images; NaN without labels */
    size_t count;         /* estimates, by estimator then by order, from all neurons */
    kspec_learn_estimate *estimates;
    size_t subsample_count; /* and from the subsample */
    kspec_learn_estimate *subsample;
} kspec_learn_epoch;

typedef struct {
    size_t width;
    uint64_t seed;
    size_t epoch_count;
    kspec_learn_epoch *epochs;
    size_t resumed;         /* the epoch that a checkpoint took it to; 0 without one */
    double train_seconds;   /* in this call, without measurements */
    double measure_seconds; /* activations, estimates, loss and accuracy */
    /* Multiply-adds of training per second that the thread had the processor; 0 where nothing was trained */
    double fma_rate;
} kspec_learn_run;

typedef struct {
    size_t count; /* runs, by width as given, then by seed */
    kspec_learn_run *runs;
    size_t every, batch; /* as used */
    int nmax;
    double seconds;
} kspec_learn_result;

/*
 * Trains one-hidden-layer ReLU networks, y_j = sum_i a_ji max(x.w_i, 0), on one-hot classes with squared loss and Adam
 * (0.9, 0.999, 1e-8), and estimates the moments of the kernel behind their hidden layer as it changes. (Written as
 * phi = sqrt(N) max(x.w, 0), y = a.phi/sqrt(N), outputs and gradients are the same, and Phi is divided by its root mean
 * square.) Every epoch goes through the training images once, in an order of its own.
 *
 * Networks run side by side, the widest first, each on one thread: a seed's bits are the same at any number of threads,
 * on one machine. Training is in single precision, loss and moments in double. With a store, a run is saved whenever it
 * has been measured; a run that is found there goes on from that point to the same bits as without interruption. What is
 * found must be of the same data and options (epochs excepted), and whole: else KSPEC_E_IO, and it is left as it is.
 *
 * Memory beyond the data: for each thread 12 bytes a weight, the activations, and what kspec_moments() takes for them.
 * A loss that is not finite, or a million times what it was, is KSPEC_E_NUMERIC; the message names run and epoch.
 */
KSPEC_API kspec_status kspec_learn(const kspec_learn_data *data, const kspec_learn_opts *opts,
                                   kspec_learn_result *out, kspec_error *err);
KSPEC_API void kspec_learn_free(kspec_learn_result *result);

#ifdef __cplusplus
}
#endif
#endif
