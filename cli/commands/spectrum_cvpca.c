/* Prints the result of `kspec spectrum --method cvpca`. */
#include "commands/spectrum.h"

#include <math.h>

json_t *spectrum_cvpca_json(const void *result) {
    const spectrum_output *u = result;
    const kspec_spectrum_result *r = u->r;
    json_t *o = spectrum_json(u, u->a->count && u->a->count < r->rank ? u->a->count : r->rank, NULL);
    json_object_set_new(o, "splits", json_integer(r->cvpca->splits));
    json_object_set_new(o, "groups", json_integer(r->cvpca->groups));
    json_object_set_new(o, "error_bars",
                        json_string(r->cvpca->groups ? "jackknife over groups of rows" : "none"));
    return o;
}

void spectrum_cvpca_print(FILE *f, const void *result) {
    const spectrum_output *u = result;
    const kspec_spectrum_result *r = u->r;
    size_t most = u->a->count ? u->a->count : SPECTRUM_SHOWN, shown = most < r->rank ? most : r->rank;
    double sum = 0;
    for (size_t k = 0; k < r->rank; k++) sum += r->eigenvalues[k];
    spectrum_print_head(f, u);
    spectrum_print_eigenvalues(f, u, shown);
    if (shown < r->rank) fprintf(f, "   …  %zu more\n", r->rank - shown);
    fprintf(f, "\nsum of all %.5g, from %d split%s of the trials in both orders\n", sum, r->cvpca->splits,
            cli_s((size_t)r->cvpca->splits));
    if (r->cvpca->groups) fprintf(f, "intervals: jackknife over %d groups of rows\n", r->cvpca->groups);
    fputs("participation ratio", f);
    cli_cell_rounded(f, 10, r->participation_ratio,
                     cli_error_shown(r->participation_ratio, r->participation_ratio_std_error));
    if (isfinite(r->participation_ratio_std_error)) fprintf(f, " ± %.2g", r->participation_ratio_std_error);
    fprintf(f, " (unbiased, %s)\n", cli_center_words(r->center));
}
