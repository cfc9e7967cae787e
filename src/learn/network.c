/* Trains a network with one hidden layer. */
#include "learn/network.h"

#include "base/error.h"
#include "base/streams.h"

#include <math.h>
#include <string.h>

static const double BETA1 = 0.9, BETA2 = 0.999, EPSILON = 1e-8;

static size_t padded(size_t n, size_t unit) { return ks_size_add(n, unit - 1) / unit * unit; }

uint64_t ks_learn_stream(size_t width, uint64_t purpose) {
    return ks_stream(KS_STREAM_LEARN, ((uint64_t)width << 32) + purpose);
}

/* The sizes, and the number of floats that they need */
static size_t measure(ks_network *net, size_t N, const kspec_learn_data *data, size_t batch) {
    *net = (ks_network){.N = N,
                        .classes = data->shape.classes,
                        .d = data->shape.pixels,
                        .rows = padded(N, KS_TRAIN_ROWS),
                        .outputs = padded(data->shape.classes, KS_TRAIN_COLS),
                        .cols = data->train.stride,
                        .batch = padded(batch, KS_TRAIN_COLS)};
    net->weights = ks_size(net->rows, ks_size_add(net->cols, net->outputs));
    size_t images = ks_size(net->batch, ks_size_add(net->cols, ks_size_add(net->rows, 2 * net->outputs)));
    return ks_size_add(ks_size(3, net->weights),
                       ks_size_add(ks_size(2, images), ks_size(net->rows, net->outputs)));
}

size_t ks_network_bytes(size_t N, const kspec_learn_data *data, size_t batch) {
    ks_network net;
    return ks_size(measure(&net, N, data, batch), sizeof(float));
}

/*
 * Rows of normal numbers with this standard deviation: number j of row i is number i*count + j of the stream
 */
static void draw(const ks_network *net, uint64_t purpose, double deviation, size_t count, size_t ld,
                 double *row, float *out) {
    for (size_t i = 0; i < net->N; i++) {
        kspec_random_normal(net->seed, ks_learn_stream(net->N, purpose), i * count, count, row);
        for (size_t j = 0; j < count; j++) out[i * ld + j] = (float)(deviation * row[j]);
    }
}

kspec_status ks_network_make(ks_network *net, ks_arena *arena, size_t N, uint64_t seed,
                             const kspec_learn_data *data, size_t batch, const kspec_learn_scaling *scaling,
                             kspec_error *err) {
    size_t floats = measure(net, N, data, batch), hidden = net->rows * net->cols,
           output = net->rows * net->outputs;
    net->seed = seed;
    net->step_size = scaling->rate * pow((double)N, -scaling->rate_power);
    kspec_status st = ks_simd_choose(&net->k, err);
    if (st) return st;
    float *p = ks_arena_zalloc(arena, floats, sizeof *p);
    double *row = ks_arena_alloc(arena, net->d > net->classes ? net->d : net->classes, sizeof *row);
    net->image = ks_arena_alloc(arena, net->batch, sizeof *net->image);
    if (arena->failed) return ks_nomem(err, "a network", arena->failed);
    net->state = p;
    float **hidden_parts[] = {&net->W, &net->MW, &net->VW}, **output_parts[] = {&net->A, &net->MA, &net->VA};
    for (int k = 0; k < 3; k++, p += hidden) *hidden_parts[k] = p;
    for (int k = 0; k < 3; k++, p += output) *output_parts[k] = p;
    net->AT = p, p += output;
    net->X = p, p += net->batch * net->cols;
    net->XT = p, p += net->batch * net->cols;
    net->H = p, p += net->batch * net->rows;
    net->D = p, p += net->batch * net->rows;
    net->Y = p, p += net->batch * net->outputs;
    net->R = p, p += net->batch * net->outputs;
    net->RT = p;
    draw(net, KS_LEARN_HIDDEN, pow((double)N, -scaling->hidden_power / 2), net->d, net->cols, row, net->W);
    draw(net, KS_LEARN_OUTPUT, pow((double)N, -scaling->output_power / 2), net->classes, net->outputs, row,
         net->A);
    return KSPEC_OK;
}

/* Fills XT with the rows of `count` images; the remaining columns become zero. */
static void transpose_images(ks_network *net, size_t count) {
    for (size_t k = 0; k < net->cols; k++) {
        float *to = net->XT + k * net->batch;
        for (size_t b = 0; b < count; b++) to[b] = net->image[b][k];
        for (size_t b = count; b < net->batch; b++) to[b] = 0;
    }
}

/* Computes H and Y from XT. */
static void forward(ks_network *net) {
    size_t hidden = net->rows * net->batch;
    for (size_t i = 0; i < net->rows; i++)
        for (size_t j = 0; j < net->outputs; j++) net->AT[j * net->rows + i] = net->A[i * net->outputs + j];
    net->k->train_product(
        &(ks_train_product){net->rows, net->batch, net->cols, net->W, net->cols, net->XT, net->batch}, net->H,
        net->batch);
    for (size_t k = 0; k < hidden; k++) net->H[k] = net->H[k] < 0 ? 0 : net->H[k]; /* NaN stays */
    net->k->train_product(
        &(ks_train_product){net->outputs, net->batch, net->rows, net->AT, net->rows, net->H, net->batch},
        net->Y, net->batch);
}

/* Turns output j of image b into y - t; returns the image's loss. */
static double residual(ks_network *net, size_t b, int label) {
    double sum = 0;
    net->Y[(size_t)label * net->batch + b] -= 1;
    for (size_t j = 0; j < net->classes; j++) {
        double r = net->Y[j * net->batch + b];
        sum += r * r;
    }
    return sum;
}

double ks_network_step(ks_network *net, const ks_images *s, const size_t *image, size_t count) {
    size_t hidden = net->rows * net->batch, outputs = net->outputs;
    for (size_t b = 0; b < count; b++) {
        net->image[b] = s->x + image[b] * s->stride;
        memcpy(net->X + b * net->cols, net->image[b], net->cols * sizeof *net->X);
    }
    transpose_images(net, count);
    forward(net);
    double loss = 0;
    for (size_t b = 0; b < count; b++) loss += residual(net, b, s->label[image[b]]);

    /*
     * Computes dL/dy = (2/count)(y - t) and dL/d(w_i.x) = 1[h_i > 0] sum_j a_ij dL/dy_j. Images beyond count
     * give zero
     */
    float factor = 2.0f / (float)count;
    for (size_t j = 0; j < outputs; j++)
        for (size_t b = 0; b < net->batch; b++) {
            float r = b < count ? factor * net->Y[j * net->batch + b] : 0;
            net->R[j * net->batch + b] = net->RT[b * outputs + j] = r;
        }
    net->k->train_product(
        &(ks_train_product){net->rows, net->batch, outputs, net->A, outputs, net->R, net->batch}, net->D,
        net->batch);
    for (size_t k = 0; k < hidden; k++) net->D[k] = net->H[k] > 0 ? net->D[k] : 0;

    /*
     * Takes one step of Adam with dL/dw_ik = sum_b D_ib x_bk and dL/da_ij = sum_b h_ib dL/dy_bj; each
     * entry is used as soon as it is computed.
     */
    double t = (double)++net->steps, root = sqrt(1 - pow(BETA2, t));
    ks_adam adam = {(float)BETA1,
                    (float)(1 - BETA1),
                    (float)BETA2,
                    (float)(1 - BETA2),
                    (float)(net->step_size * root / (1 - pow(BETA1, t))),
                    (float)(EPSILON * root)};
    net->k->train_adam(
        &(ks_train_product){net->rows, net->cols, count, net->D, net->batch, net->X, net->cols}, &adam,
        net->W, net->MW, net->VW, net->cols);
    net->k->train_adam(&(ks_train_product){net->rows, outputs, count, net->H, net->batch, net->RT, outputs},
                       &adam, net->A, net->MA, net->VA, outputs);
    return loss;
}

void ks_network_evaluate(ks_network *net, const ks_images *s, double *loss, double *accuracy) {
    size_t right = 0;
    double sum = 0;
    for (size_t first = 0; first < s->n; first += net->batch) {
        size_t count = s->n - first < net->batch ? s->n - first : net->batch;
        for (size_t b = 0; b < count; b++) net->image[b] = s->x + (first + b) * s->stride;
        transpose_images(net, count);
        forward(net);
        for (size_t b = 0; b < count; b++) {
            size_t best = 0;
            for (size_t j = 1; j < net->classes; j++)
                if (net->Y[j * net->batch + b] > net->Y[best * net->batch + b]) best = j;
            right += best == (size_t)s->label[first + b];
            sum += residual(net, b, s->label[first + b]);
        }
    }
    *loss = sum / (double)s->n;
    *accuracy = (double)right / (double)s->n;
}

double ks_network_fma(const ks_network *net, size_t n) {
    return (double)n * (double)net->N * (2 * (double)net->d + 3 * (double)net->classes);
}
