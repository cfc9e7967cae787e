/*
 * How many dimensions does a noisy recording have?
 *
 * PCA looks at some neurons and some stimuli, through noise, and answers for just those. The participation
 * ratio m(1)^2/m(2) of unbiased moments is that of all neurons and stimuli of their kind, without the noise.
 *
 *     cc dimension.c $(pkg-config --cflags --libs kspec) -o dimension
 *     ./dimension [RECORDING]      repeats x stimuli x neurons: x.npy, x.npz:key, x.h5:/path, x.mat:name
 */
#include <kspec.h>

#include <stdio.h>
#include <stdlib.h>

static void check(kspec_status status, const kspec_error *err) {
    if (status == KSPEC_OK) return;
    fprintf(stderr, "dimension: %s\n", err->msg);
    exit(1);
}

/*
 * An example: 4 repeats of 120 x 60 responses in 10 dimensions; the noise of a repeat is shared by whole rows
 * and columns.
 */
static void example(kspec_matrix *repeats) {
    enum { REPEATS = 4, ROWS = 120, COLS = 60 };
    kspec_generate_opts opts = {.size = sizeof opts,
                                .process = KSPEC_PROCESS_LINEAR,
                                .dim = 10,
                                .noise = 1,
                                .noise_correlation = KSPEC_NOISE_BOTH,
                                .trials = REPEATS,
                                .seed = 1};
    kspec_generator *generator;
    kspec_error err;
    static double x[REPEATS][ROWS * COLS];
    check(kspec_generate_open(ROWS, COLS, &opts, &generator, &err), &err);
    for (size_t t = 0; t < REPEATS; t++) {
        check(kspec_generate_rows(generator, t, 0, ROWS, x[t], &err), &err);
        repeats[t] = (kspec_matrix){x[t], ROWS, COLS, COLS, 1};
    }
    kspec_generate_close(generator);
}

int main(int argc, char **argv) {
    kspec_error err;
    kspec_dataset *file = NULL;
    size_t count = 4;
    if (argc > 1) {
        const char *inputs[] = {argv[1]};
        check(kspec_read(inputs, 1, NULL, &file, &err), &err);
        count = file->trials;
    }
    kspec_matrix *repeats = malloc(sizeof *repeats * count);
    if (!repeats) return fputs("dimension: out of memory\n", stderr), 1;
    if (argc == 1) example(repeats);
    for (size_t t = 0; file && t < file->trials; t++) repeats[t] = kspec_dataset_trial(file, t);

    /* m(1), m(2), their errors and, for comparison, the spectrum of the averaged matrix itself */
    kspec_moments_opts how = {.size = sizeof how, .nmax = 2};
    kspec_spectrum_opts opts = {
        .size = sizeof opts, .method = KSPEC_SPECTRUM_METHOD_MOMENTS, .moments = &how};
    kspec_spectrum_result *s;
    check(kspec_spectrum(repeats, count, &opts, &s, &err), &err);
    double sum = 0, squares = 0;
    for (size_t k = 0; k < s->sample_count; k++) {
        sum += s->sample_eigenvalues[k];
        squares += s->sample_eigenvalues[k] * s->sample_eigenvalues[k];
    }
    printf("%zu repeats of %zu x %zu responses\n", count, repeats[0].rows, repeats[0].cols);
    printf("dimension by PCA    %.3g\n", sum * sum / squares);
    printf("dimension, unbiased %.3g +- %.2g\n", s->participation_ratio, s->participation_ratio_std_error);
    if (argc == 1) printf("truth               10\n");

    kspec_spectrum_free(s);
    kspec_dataset_free(file);
    free(repeats);
    return 0;
}
