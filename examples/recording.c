/*
 * Do two populations of neurons see the same stimuli alike?
 *
 * Two areas, repeats of the same stimuli: their dimensions without noise, the difference between them with a
 * p-value, and how alike their kernels are. Repeats keep noise from counting as dimensions.
 *
 *     cc recording.c $(pkg-config --cflags --libs kspec) -o recording
 *     ./recording [AREA AREA]      repeats x stimuli x neurons each: x.npy, x.npz:key, x.h5:/path, x.mat:name
 */
#include <kspec.h>

#include <stdio.h>
#include <stdlib.h>

enum { REPEATS = 4, STIMULI = 200, NEURONS = 40 };

static void check(kspec_status status, const kspec_error *err) {
    if (status == KSPEC_OK) return;
    fprintf(stderr, "recording: %s\n", err->msg);
    exit(1);
}

/* An example: one population in 10 dimensions, whose even and odd neurons are the two areas; much noise */
static void example(kspec_matrix areas[2][REPEATS]) {
    static double x[REPEATS][STIMULI * 2 * NEURONS];
    kspec_generate_opts opts = {.size = sizeof opts,
                                .process = KSPEC_PROCESS_LINEAR,
                                .dim = 10,
                                .noise = 1.5,
                                .trials = REPEATS,
                                .seed = 3};
    kspec_error err;
    check(kspec_generate(STIMULI, 2 * NEURONS, &opts, x[0], &err), &err);
    for (size_t t = 0; t < REPEATS; t++)
        for (size_t a = 0; a < 2; a++)
            areas[a][t] = (kspec_matrix){x[t] + a, STIMULI, NEURONS, 2 * NEURONS, 2};
}

static void print(const char *what, const kspec_matrix *repeats, size_t count) {
    kspec_dimension_result *all, *one;
    kspec_error err;
    check(kspec_dimension(repeats, count, NULL, &all, &err), &err);
    check(kspec_dimension(repeats, 1, NULL, &one, &err), &err);
    printf("%s: %.3g dimensions (%.3g to %.3g); one repeat counts noise: %.3g\n", what, all->dimension,
           all->ci_low, all->ci_high, one->dimension);
    kspec_free(all);
    kspec_free(one);
}

int main(int argc, char **argv) {
    kspec_matrix made[2][REPEATS], *areas[2] = {made[0], made[1]};
    size_t counts[2] = {REPEATS, REPEATS};
    kspec_dataset *files[2] = {NULL, NULL};
    kspec_error err;
    if (argc != 1 && argc != 3) return fputs("usage: recording [AREA AREA]\n", stderr), 2;
    if (argc == 1) example(made);
    for (int a = 0; a < 2 && argc == 3; a++) {
        const char *inputs[] = {argv[a + 1]};
        check(kspec_read(inputs, 1, NULL, &files[a], &err), &err);
        counts[a] = files[a]->trials;
        areas[a] = malloc(counts[a] * sizeof *areas[a]);
        if (!areas[a]) return fputs("recording: out of memory\n", stderr), 1;
        for (size_t t = 0; t < counts[a]; t++) areas[a][t] = kspec_dataset_trial(files[a], t);
    }
    print("first ", areas[0], counts[0]);
    print("second", areas[1], counts[1]);
    kspec_compare_result *c;
    check(kspec_compare(areas[0], counts[0], areas[1], counts[1], NULL, &c, &err), &err);
    printf("difference of dimension %.2g +- %.2g, p = %.2g\n", c->differences[0]->value,
           c->differences[0]->std_error, c->differences[0]->p);
    printf("alignment %.3g (%.3g to %.3g); the usual one %.3g\n", c->alignment, c->alignment_ci_low,
           c->alignment_ci_high, c->alignment_biased);
    kspec_free(c);
    for (int a = 0; a < 2 && argc == 3; a++) {
        free(areas[a]);
        kspec_free(files[a]);
    }
    return 0;
}
