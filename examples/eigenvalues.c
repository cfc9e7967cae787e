/*
 * The eigenvalues of the kernel behind a matrix of activations.
 *
 * Those of the matrix itself are spread by its finite size: large ones are too large, and there are too many
 * small ones. A fit undoes the spread; there is nothing to choose.
 *
 *     cc eigenvalues.c $(pkg-config --cflags --libs kspec) -o eigenvalues
 *     ./eigenvalues [ACTIVATIONS]      inputs x units: x.npy, x.csv, ...
 */
#include <kspec.h>

#include <stdio.h>
#include <stdlib.h>

static void check(kspec_status status, const kspec_error *err) {
    if (status == KSPEC_OK) return;
    fprintf(stderr, "eigenvalues: %s\n", err->msg);
    exit(1);
}

/* The example's kernel: 20 eigenvalues of 0.3, seen through 100 inputs and 100 units. */
enum { SIZE = 100, RANK = 20 };
static const double truth = 0.3;

static void example(double *x) {
    kspec_generate_opts opts = {.size = sizeof opts,
                                .process = KSPEC_PROCESS_LINEAR,
                                .dim = RANK,
                                .eigenvalues = &truth,
                                .eigenvalue_count = 1};
    kspec_error err;
    check(kspec_generate(SIZE, SIZE, &opts, x, &err), &err);
}

int main(int argc, char **argv) {
    static double x[SIZE * SIZE];
    kspec_matrix activations = {x, SIZE, SIZE, SIZE, 1};
    kspec_dataset *file = NULL;
    kspec_error err;
    if (argc > 1) {
        const char *inputs[] = {argv[1]};
        check(kspec_read(inputs, 1, NULL, &file, &err), &err);
        activations = kspec_dataset_trial(file, 0);
    } else {
        example(x);
    }

    kspec_spectrum_result *s;
    check(kspec_spectrum(&activations, 1, NULL, &s, &err), &err);
    printf("  k   kernel    95%% interval        matrix%s\n", argc > 1 ? "" : "    truth");
    double missed = 0, missed_by_matrix = 0; /* sums of |estimate - truth| */
    for (size_t k = 0; k < s->rank && k < RANK; k++) {
        double of_matrix = k < s->sample_count ? s->sample_eigenvalues[k] : 0;
        printf("%3zu   %-8.3g  %-8.3g %-8.3g  %-8.3g", k + 1, s->eigenvalues[k], s->ci_low[k], s->ci_high[k],
               of_matrix);
        if (argc == 1) printf("  %g", truth);
        putchar('\n');
        missed += s->eigenvalues[k] > truth ? s->eigenvalues[k] - truth : truth - s->eigenvalues[k];
        missed_by_matrix += of_matrix > truth ? of_matrix - truth : truth - of_matrix;
    }
    if (argc == 1) printf("off by %.3g in all; those of the matrix by %.3g\n", missed, missed_by_matrix);

    kspec_free(s);
    kspec_free(file);
    return 0;
}
