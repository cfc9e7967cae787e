/*
 * Which weights should a fit with more modes than data points have?
 *
 * N measurements on a grid, P > N Fourier modes. Mode k gets the weight (1+k)^-beta; the beta of least
 * expected error follows from how fast the modes of such functions fall off (variance like (1+k)^-2 gamma)
 * and from the noise, without a fit.
 *
 *     cc weights.c $(pkg-config --cflags --libs kspec) -lm -o weights
 *     ./weights [Y GAMMA NOISE]      measurements in a column: y.npy, y.csv, ...
 */
#include <kspec.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static void check(kspec_status status, const kspec_error *err) {
    if (status == KSPEC_OK) return;
    fprintf(stderr, "weights: %s\n", err->msg);
    exit(1);
}

enum { POINTS = 64, MODES = 256 }; /* of the example */
static double theta[2 * MODES], grid[POINTS], data[2 * POINTS];

/*
 * A random function of the kind described, measured at 2 pi j/N with noise (real and imaginary parts are
 * pairs of numbers)
 */
static void example(double gamma, double noise) {
    double total = 0, errors[POINTS];
    kspec_error err;
    for (size_t k = 0; k < MODES; k++) total += pow(1 + k, -2 * gamma);
    kspec_random_normal(1, 5, 0, 2 * MODES, theta);
    for (size_t k = 0; k < 2 * MODES; k++) theta[k] *= pow(1 + k / 2, -gamma) / sqrt(2 * total);
    for (size_t j = 0; j < POINTS; j++) grid[j] = 2 * 3.14159265358979323846 * j / POINTS;
    check(kspec_wls_predict(theta, MODES, grid, POINTS, data, 0, &err), &err);
    kspec_random_normal(1, 6, 0, POINTS, errors);
    for (size_t j = 0; j < POINTS; j++) data[2 * j] += noise * errors[j];
}

int main(int argc, char **argv) {
    double gamma = argc > 3 ? strtod(argv[2], NULL) : 0.8, noise = argc > 3 ? strtod(argv[3], NULL) : 0.1;
    kspec_wls_opts opts = {.size = sizeof opts, .gamma = gamma, .noise = noise, .complex_data = argc <= 3};
    size_t N = POINTS, P = MODES;
    kspec_dataset *file = NULL;
    const double *y = data;
    kspec_error err;
    if (argc > 3) {
        const char *inputs[] = {argv[1]};
        check(kspec_read(inputs, 1, NULL, &file, &err), &err);
        if (file->trials * file->cols != 1)
            return fprintf(stderr, "weights: %s is not one column\n", argv[1]), 1;
        y = file->data;
        N = file->rows;
        P = 4 * N;
    } else {
        example(gamma, noise);
    }

    kspec_wls_result *best;
    check(kspec_wls_best_weight(N, P, 0, 3, &opts, &best, &err), &err);
    printf("%zu points, %zu modes, best beta %.4g\n", N, P, best->points[0]->beta);
    for (int i = 0; i < 2; i++) {
        kspec_wls_result *expected;
        kspec_wls_fit_result *fit;
        opts.beta = i ? best->points[0]->beta : 0;
        check(kspec_wls_theory(N, &P, 1, &opts, &expected, &err), &err);
        check(kspec_wls_fit(N, P, y, &opts, &fit, &err), &err);
        printf("beta %-6.3g expected error %.4f", opts.beta, expected->points[0]->error);
        if (argc <= 3) { /* the truth is known */
            double error = 0;
            for (size_t k = 0; k < 2 * MODES; k++)
                error += (fit->theta[k] - theta[k]) * (fit->theta[k] - theta[k]);
            printf(", of this fit %.4f", error);
        }
        putchar('\n');
        kspec_free(expected);
        kspec_free(fit);
    }
    kspec_free(best);
    kspec_free(file);
    return 0;
}
