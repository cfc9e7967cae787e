/* How many dimensions does a recording (x.npy, x.h5:/path, text, ...) have, and what is doubtful about it?
 *     cc dimension.c $(pkg-config --cflags --libs kspec) -o dimension && ./dimension RECORDING */
#include <kspec.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
    const char *input = argc > 1 ? argv[1] : "-";
    kspec_error err = {KSPEC_E_NOMEM, "out of memory"};
    kspec_dataset *data;
    kspec_dimension_result *r = NULL;
    kspec_status st = kspec_read(&input, 1, NULL, &data, &err);
    kspec_matrix *trials = st ? NULL : calloc(data->trials, sizeof *trials);
    for (size_t t = 0; trials && t < data->trials; t++) trials[t] = kspec_dataset_trial(data, t);
    if (trials) st = kspec_dimension(trials, data->trials, NULL, &r, &err);
    if (!r) return fprintf(stderr, "dimension: %s\n", err.msg), 1;
    printf("dimension %.3g (%.3g ... %.3g)\n", r->dimension, r->ci_low, r->ci_high);
    char text[512];
    for (size_t k = 0; k < r->doubt_count; k++) puts(kspec_doubt_text(r->doubts[k], text, sizeof text));
    kspec_free(r);
    kspec_free(data);
    free(trials);
    return st;
}
