/*
 * How alike are the layers of a network, and how many dimensions does each have?
 *
 * The rows are inputs, the columns neurons that were looked at. The usual alignment (CKA) of few inputs and
 * many neurons is near 1 whatever the layers do; the one of kspec_compare() has no such bias.
 *
 *     cc layers.c $(pkg-config --cflags --libs kspec) -o layers
 *     ./layers [LAYER...]      inputs x neurons each: x.npy, x.npz:key, x.h5:/path, x.mat:name
 */
#include <kspec.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { INPUTS = 150, WIDTH = 500, NEURONS = 100, PIXELS = 20, LAYERS = 4 };

static void check(kspec_status status, const kspec_error *err) {
    if (status == KSPEC_OK) return;
    fprintf(stderr, "layers: %s\n", err->msg);
    exit(1);
}

/* An example: a wide network with random weights, each layer max(0, W x); some neurons of each are seen */
static void network(kspec_matrix *layers) {
    static double x[INPUTS * PIXELS], w[WIDTH * WIDTH], phi[LAYERS][INPUTS * WIDTH];
    kspec_random_normal(1, 0, 0, INPUTS * PIXELS, x);
    for (size_t l = 0; l < LAYERS; l++) {
        const double *before = l ? phi[l - 1] : x;
        size_t n = l ? WIDTH : PIXELS;
        kspec_random_normal(1, 1 + l, 0, WIDTH * n, w);
        for (size_t i = 0; i < INPUTS; i++)
            for (size_t k = 0; k < WIDTH; k++) {
                double sum = 0;
                for (size_t j = 0; j < n; j++) sum += w[k * n + j] * before[i * n + j] / sqrt((double)n);
                phi[l][i * WIDTH + k] = sum > 0 ? sum : 0;
            }
        layers[l] = (kspec_matrix){phi[l], INPUTS, NEURONS, WIDTH, 1};
    }
}

int main(int argc, char **argv) {
    kspec_error err;
    size_t count = argc > 1 ? (size_t)argc - 1 : LAYERS;
    kspec_matrix *layers = malloc(count * sizeof *layers);
    kspec_dataset **files = calloc(count, sizeof(kspec_dataset *));
    if (!layers || !files) return fputs("layers: out of memory\n", stderr), 1;
    if (argc == 1) network(layers);
    for (size_t l = 0; l < count && argc > 1; l++) {
        const char *inputs[] = {argv[l + 1]};
        check(kspec_read(inputs, 1, NULL, &files[l], &err), &err);
        layers[l] = kspec_dataset_trial(files[l], 0);
    }
    for (size_t l = 0; l < count; l++) {
        kspec_dimension_result *d;
        check(kspec_dimension(&layers[l], 1, NULL, &d, &err), &err);
        printf("layer %zu: %.3g dimensions (%.3g to %.3g), by PCA %.3g\n", l + 1, d->dimension, d->ci_low,
               d->ci_high, d->naive);
        kspec_free(d);
    }
    for (size_t l = 1; l < count; l++) {
        kspec_compare_opts o = {.size = sizeof o, .nmax = 1};
        kspec_compare_result *c;
        check(kspec_compare(&layers[0], 1, &layers[l], 1, &o, &c, &err), &err);
        printf("layer %zu with layer 1: alignment %.3f (%.3f to %.3f), the usual one %.3f\n", l + 1,
               c->alignment, c->alignment_ci_low, c->alignment_ci_high, c->alignment_biased);
        kspec_free(c);
    }
    for (size_t l = 0; l < count; l++) kspec_free(files[l]);
    free(files);
    free(layers);
    return 0;
}
