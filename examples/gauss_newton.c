/*
 * Weighted Gauss-Newton: fits a nonlinear model by solving, at each step,
 *
 *     step = argmin |A (J step - r)|^2,   r = y - f(theta), J = df/dtheta, A the data weights
 *
 * (equation (64) of A Generalized Weighted Optimization Method for Computational Learning and Inversion, with
 * weights). Two problems, y = a exp(-b x) + noise: where the noise differs between points the weights 1/sigma
 * help, where it is the same everywhere weights cannot, and wrong ones harm.
 *
 *     cc gauss_newton.c $(pkg-config --cflags --libs kspec) -lm -o gauss_newton && ./gauss_newton
 */
#include <kspec.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { POINTS = 60, PARAMETERS = 2, DRAWS = 200, STEPS = 30 };

/* The residual callback: r (POINTS) and the derivatives J (POINTS x PARAMETERS) of the model at theta */
typedef void (*residual_fn)(const void *data, const double *theta, double *r, double *J);

static void gauss_newton(residual_fn residual, const void *data, const double *weights, double *theta) {
    double r[POINTS], J[POINTS * PARAMETERS];
    const kspec_matrix psi = {J, POINTS, PARAMETERS, PARAMETERS, 1}, y = {r, POINTS, 1, 1, 1};
    const kspec_matrix A = {weights, POINTS, 1, 1, 1};
    const kspec_wls_features_opts opts = {
        .size = sizeof opts, .data_weights = weights ? &A : NULL, .threads = 1};
    for (int k = 0; k < STEPS; k++) {
        kspec_wls_features_result *step;
        kspec_error err;
        double moved = 0;
        residual(data, theta, r, J);
        if (kspec_wls_features(&psi, &y, &opts, &step, &err)) {
            fprintf(stderr, "gauss_newton: %s\n", err.msg);
            exit(1);
        }
        for (int j = 0; j < PARAMETERS; j++) {
            theta[j] += step->theta[j];
            moved = fmax(moved, fabs(step->theta[j]));
        }
        kspec_free(step);
        if (moved < 1e-10) return;
    }
}

static double place(int i) { return 4.0 * i / (POINTS - 1); }

static void decay(const void *y, const double *theta, double *r, double *J) {
    for (int i = 0; i < POINTS; i++) {
        const double e = exp(-theta[1] * place(i));
        r[i] = ((const double *)y)[i] - theta[0] * e;
        J[PARAMETERS * i] = e;
        J[PARAMETERS * i + 1] = -theta[0] * place(i) * e;
    }
}

/* The root mean square error of b over draws of the noise */
static double error_of(const double *sigma, const double *weights) {
    double square = 0, y[POINTS], z[POINTS];
    for (int draw = 0; draw < DRAWS; draw++) {
        double theta[PARAMETERS] = {2, 0.7};
        kspec_random_normal(1, (uint64_t)draw, 0, POINTS, z);
        for (int i = 0; i < POINTS; i++) y[i] = 2 * exp(-0.7 * place(i)) + sigma[i] * z[i];
        gauss_newton(decay, y, weights, theta);
        square += (theta[1] - 0.7) * (theta[1] - 0.7) / DRAWS;
    }
    return sqrt(square);
}

int main(void) {
    double uneven[POINTS], even[POINTS], weights[POINTS];
    for (int i = 0; i < POINTS; i++) {
        uneven[i] = i % 3 ? 0.02 : 0.4; /* every third point is poor */
        even[i] = 0.1;
        weights[i] = 1 / uneven[i];
    }
    printf("error of b, noise that differs between points: plain %.4f, weighted %.4f\n",
           error_of(uneven, NULL), error_of(uneven, weights));
    printf("error of b, equal noise: plain %.4f, with those weights %.4f\n", error_of(even, NULL),
           error_of(even, weights));
    return 0;
}
