/* Reads and prints the bilinear forms of `kspec ridge`: --bilinear A,B. */
#include "commands/ridge.h"

#include <stdlib.h>
#include <string.h>

static int read_vectors(const ridge_args *a, const char *path, kspec_dataset **d) {
    const kspec_read_opts how = {.size = sizeof how};
    return cli_read_one(&a->common, "bilinear", path, &how, d);
}

int ridge_forms_read(const ridge_args *a, ridge_forms *f) {
    if (!a->bilinear) return EXIT_DONE;
    const char *comma = strchr(a->bilinear, ',');
    char *left = strdup(a->bilinear);
    if (!left) return cli_no_memory();
    if (comma) left[comma - a->bilinear] = 0;
    int status = read_vectors(a, left, &f->left);
    if (!status && comma) status = read_vectors(a, comma + 1, &f->right);
    free(left);
    return status;
}

kspec_status ridge_forms_make(ridge_forms *f, const ridge_args *a, kspec_ridge *plan, size_t draws,
                              kspec_error *err) {
    const size_t paths = a->features.count;
    size_t *N = malloc(paths * sizeof *N);
    if (!N) return KSPEC_E_NOMEM;
    for (size_t k = 0; k < paths; k++) N[k] = (size_t)a->features.at[k];
    const kspec_matrix left = kspec_dataset_trial(f->left, 0),
                       right = f->right ? kspec_dataset_trial(f->right, 0) : left;
    kspec_status st = kspec_ridge_bilinear(plan, &left, &right, N, paths, a->lambda.at, a->lambda.count,
                                           draws, &f->made, err);
    free(N);
    if (st == KSPEC_E_ARG) snprintf(err->option, sizeof err->option, "bilinear");
    return st;
}

void ridge_forms_keys(const ridge_forms *f, size_t k, json_t *to) {
    const kspec_ridge_bilinear_point *p = f->made->points[k];
    json_object_set_new(to, "bilinear", cli_reals(p->predicted, f->made->forms));
    json_object_set_new(to, "empirical_bilinear", cli_reals(p->measured, f->made->forms));
    json_object_set_new(to, "empirical_bilinear_sd", cli_reals(p->spread, f->made->forms));
}

void ridge_forms_print(FILE *out, const ridge_forms *f, const cli_common *c) {
    enum { FEW = 4 };
    fprintf(out, "\n%s%7s  %9s  %10s  %10s  %9s%s\n", cli_bold(c), "N", "lambda", "a'Qb", "measured", "± SD",
            cli_plain(c));
    for (size_t k = 0; k < f->made->count; k++) {
        const kspec_ridge_bilinear_point *p = f->made->points[k];
        for (size_t j = 0; j < f->made->forms && j < FEW; j++) {
            fprintf(out, "%7zu  %9.4g", p->N, p->lambda);
            cli_cell(out, "%.5g", 10, p->predicted[j]);
            cli_cell(out, "%.5g", 10, p->measured[j]);
            cli_cell(out, "%.2g", 9, p->spread[j]);
            fputc('\n', out);
        }
    }
    if (f->made->forms > FEW) fprintf(out, "  the first %d of %zu pairs of vectors\n", FEW, f->made->forms);
}

void ridge_forms_free(ridge_forms *f) {
    kspec_free(f->made);
    kspec_free(f->left);
    kspec_free(f->right);
}
