/* Part of kspec.h: kernel moments of a network while it learns. */
#ifndef KSPEC_LEARN_H
#define KSPEC_LEARN_H
#include "kspec/moments.h"

/* The scaling of pixels before they enter the network. UNIT: subtract the mean training image, then scale to
 * a mean |x|^2 of 1 over the training images. 255: divide by 255. */
typedef enum { KSPEC_PIXELS_UNIT = 0, KSPEC_PIXELS_255 } kspec_pixels;

#define KSPEC_LEARN_MAX_CLASSES 10000

typedef struct {
    size_t size;
    kspec_pixels pixels;
    size_t train_count; /* train on the first train_count images; default 10,000, or all if fewer */
    size_t probe;       /* P: measure on the first `probe` test images; default 1,000, or all if fewer */
    size_t classes;     /* at most KSPEC_LEARN_MAX_CLASSES; default: the largest training label plus 1 */
} kspec_learn_data_opts;

/* Copies images and labels, the images in single precision, the probe in double. An image is a row; its label
 * is a class: 0, 1, 2, ... test_labels may be NULL. Test images are shifted and scaled like the training
 * images. KSPEC_E_DATA: a pixel is not finite or beyond single precision, a label is not a class, or all
 * training images are equal (KSPEC_PIXELS_UNIT). */
typedef struct kspec_learn_data kspec_learn_data;
KSPEC_API kspec_status kspec_learn_open(const kspec_matrix *images, const kspec_matrix *labels,
                                        const kspec_matrix *test_images, const kspec_matrix *test_labels,
                                        const kspec_learn_data_opts *opts, kspec_learn_data **out,
                                        kspec_error *err);
KSPEC_API void kspec_learn_close(kspec_learn_data *data);

/* The sizes of the data in use. */
typedef struct {
    size_t train_count, test_count, pixels, classes, probe;
    double pixel_factor; /* by which the call multiplied the pixels */
} kspec_learn_shape;

/* Valid until the data are closed. */
KSPEC_API const kspec_learn_shape *kspec_learn_data_shape(const kspec_learn_data *data);

/* How weights and steps scale with the width N: hidden weights w ~ N(0, 1/N^hidden_power), output weights a ~
 * N(0, 1/N^output_power), Adam's step rate/N^rate_power. The default is the maximal-update parameterisation:
 * rate 0.1, and all three powers 1. */
typedef struct {
    double rate, rate_power, hidden_power, output_power;
} kspec_learn_scaling;

/* Checkpoint callbacks. Each may be NULL. The library calls one at a time, but not always from the same
 * thread. A status other than KSPEC_OK ends kspec_learn() with that status and message. */
typedef struct {
    void *ctx;
    /* Receives Phi of a run at an epoch: probe x width, normalised; valid during the call. */
    kspec_status (*activations)(void *ctx, size_t width, uint64_t seed, size_t epoch, const kspec_matrix *phi,
                                kspec_error *err);
    /* Replaces the stored checkpoint of a run: write all bytes, or keep the old ones. */
    kspec_status (*save)(void *ctx, size_t width, uint64_t seed, const void *bytes, size_t count,
                         kspec_error *err);
    /* Returns the stored checkpoint. The first call has bytes NULL and sets *count, 0 if none is stored. The
     * second fills `bytes` with the same checkpoint, even if another process has replaced it. */
    kspec_status (*load)(void *ctx, size_t width, uint64_t seed, void *bytes, size_t *count,
                         kspec_error *err);
} kspec_learn_store;

typedef struct {
    size_t size;
    size_t seeds; /* networks of each width, whose seeds are seed, seed+1, ...; default 1 */
    uint64_t seed;
    size_t epochs; /* passes through the training images; 0 only measures the initialisation */
    size_t every;  /* measure at epochs 0, every, 2 every, ... and the last; default 2 */
    size_t batch;  /* images in a mini-batch; default 32, or all if fewer */
    const kspec_learn_scaling *scaling;
    size_t subsample;    /* Q: also measure a random subset of Q neurons, in networks with at least Q */
    int nmax;            /* default 4, or the length of the shorter side if less */
    unsigned estimators; /* default: naive and auto; this and the next three: as in kspec_moments_opts */
    int permutations, no_stderr;
    kspec_side side;
    const kspec_learn_store *store; /* NULL: none */
    int threads;
    kspec_progress progress;
    kspec_team *team; /* each process needs a separate store */
} kspec_learn_opts;

/* Moments estimated from one Phi. */
typedef struct {
    size_t count; /* the estimates, by estimator and then by order */
    kspec_estimate **estimates;
    double *ratio_error; /* the standard error of m(n)/m(1)^n, the estimate from a normalised Phi */
} kspec_learn_moments;

typedef struct {
    size_t epoch;
    double loss;                    /* squared errors: sum over classes, mean over training images */
    double accuracy, test_accuracy; /* the fractions of images whose class has the largest output */
    kspec_learn_moments *moments, *subsample; /* from all neurons, and from the subsample; or NULL */
} kspec_learn_epoch;

typedef struct {
    size_t width;
    uint64_t seed;
    size_t epoch_count;
    kspec_learn_epoch **epochs;
    size_t resumed;                        /* the epoch at which a checkpoint was continued; 0 without one */
    double train_seconds, measure_seconds; /* of training, and of activations, estimates, loss and accuracy */
    double fma_rate; /* multiply-adds of training per second of the thread's processor time */
} kspec_learn_run;

typedef struct {
    size_t count, every, batch; /* the runs, by width as given and then by seed; every and batch as used */
    kspec_learn_run **runs;
    int nmax;
    double seconds;
} kspec_learn_result;

/* Trains one-hidden-layer ReLU networks, y_j = sum_i a_ji max(x.w_i, 0), of each of `width_count` different
 * widths N, on one-hot classes with squared loss and Adam (0.9, 0.999, 1e-8), and estimates the moments of
 * the kernel behind the hidden layer as it changes. Every epoch takes the training images in a new random
 * order. Networks run in parallel, each on one thread. Training is in single precision; moments are in
 * double. With a store, the call saves a run after each measurement, and continues a stored run to the same
 * bits. A checkpoint that is damaged, or has other data or options (except epochs), is KSPEC_E_IO and stays
 * unchanged. Memory beyond the data: for each thread 12 bytes a weight, the activations, and the needs of
 * kspec_moments(). KSPEC_E_NUMERIC: a loss that is not finite, or a million times the first. */
KSPEC_API kspec_status kspec_learn(const kspec_learn_data *data, const size_t *widths, size_t width_count,
                                   const kspec_learn_opts *opts, kspec_learn_result **out, kspec_error *err);
#endif
