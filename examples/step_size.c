/*
 * How large a step may gradient descent on a kernel regression take? Below 2/|K|, K_ij = k(x_i, x_j).
 *
 * |K| comes from products with K, exactly, and from random features, with an interval, for data where even
 * products are too slow. Then 200 steps just below the bound and just above it show that it is one.
 *
 *     cc step_size.c $(pkg-config --cflags --libs kspec) -o step_size
 *     ./step_size [ROWS]      one row per point: x.npy, x.csv, ...
 */
#include <kspec.h>

#include <stdio.h>
#include <stdlib.h>

static void check(kspec_status status, const kspec_error *err) {
    if (status == KSPEC_OK) return;
    fprintf(stderr, "step_size: %s\n", err->msg);
    exit(1);
}

/* The part of the residual that is left after some steps r <- r - step K r: |r|^2 / |r at the start|^2 */
static double descend(const double *K, size_t n, double step, int steps, double *r, double *Kr) {
    kspec_random_normal(0, 0, 0, n, r);
    double first = 0, last = 0;
    for (size_t i = 0; i < n; i++) first += r[i] * r[i];
    for (int s = 0; s < steps; s++) {
        for (size_t i = 0; i < n; i++) {
            Kr[i] = 0;
            for (size_t j = 0; j < n; j++) Kr[i] += K[i * n + j] * r[j];
        }
        for (size_t i = 0; i < n; i++) r[i] -= step * Kr[i];
    }
    for (size_t i = 0; i < n; i++) last += r[i] * r[i];
    return last / first;
}

int main(int argc, char **argv) {
    enum { ROWS = 400, DIM = 10 };
    static double points[ROWS * DIM];
    kspec_matrix x = {points, ROWS, DIM, DIM, 1};
    kspec_dataset *file = NULL;
    kspec_error err;
    if (argc > 1) {
        const char *inputs[] = {argv[1]};
        check(kspec_read(inputs, 1, NULL, &file, &err), &err);
        x = kspec_dataset_trial(file, 0);
    } else {
        kspec_random_normal(1, 0, 0, ROWS * DIM, points);
    }

    kspec_norm_opts opts = {.size = sizeof opts,
                            .methods = KSPEC_NORM_METHOD_LANCZOS | KSPEC_NORM_METHOD_RFF_DEBIASED,
                            .median_sigma = 1};
    kspec_norm_result *norm;
    check(kspec_norm(&x, &opts, &norm, &err), &err);
    printf("%zu rows, sigma %.4g\n", norm->n, norm->sigma);
    for (size_t i = 0; i < norm->count; i++) {
        const kspec_norm_entry *e = norm->entries[i];
        printf("%-12s |K| = %.5g", kspec_name(KSPEC_NAMES_NORM_METHOD, e->method), e->value);
        if (e->method == KSPEC_NORM_METHOD_RFF_DEBIASED)
            printf(", between %.4g and %.4g", e->ci_low, e->ci_high);
        putchar('\n');
    }
    double bound =
        2 / norm->entries[0]->value; /* entries are in the order of the methods: lanczos is the first */

    kspec_norm_opts kernel = {.size = sizeof kernel, .sigma = norm->sigma};
    size_t n = norm->n;
    double *K = malloc(sizeof *K * n * (n + 2));
    if (!K) return fputs("step_size: out of memory\n", stderr), 1;
    check(kspec_gram(&x, &kernel, K, &err), &err);
    double *r = K + n * n;
    printf("largest step 2/|K| = %.5g\n", bound);
    for (int i = -1; i <= 1; i += 2)
        printf("left after 200 steps of %.2f times that: %.3g\n", 1 + 0.05 * i,
               descend(K, n, (1 + 0.05 * i) * bound, 200, r, r + n));
    free(K);
    kspec_free(norm);
    kspec_free(file);
    return 0;
}
