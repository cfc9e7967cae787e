/* What `kspec spectrum --method cvpca` prints. */
#include "commands/spectrum.h"

#include <math.h>

json_t *spectrum_cvpca_json(const void *result) {
    const spectrum_output *u = result;
    const kspec_spectrum_result *r = u->r;
    size_t shown = u->a->count && u->a->count < r->rank ? u->a->count : r->rank;
    json_t *o = json_object();
    json_object_set_new(o, "method", json_string("cvpca"));
    spectrum_add_matrix(o, u);
    const spectrum_array arrays[] = {
        {"singular_values", r->sample_eigenvalues, r->sample_count},
        {"moments", r->given, r->count},
        {"moments_stderr", r->given_std_error, r->count},
        {0},
    };
    json_object_set_new(o, "rank", json_integer((json_int_t)r->rank));
    spectrum_add_arrays(o, u, shown, arrays);
    cli_set_reals(o, (cli_member[]){{"participation_ratio", r->participation_ratio},
                                    {"participation_ratio_stderr", r->participation_ratio_std_error},
                                    {"participation_ratio_ci_low", r->participation_ratio_ci_low},
                                    {"participation_ratio_ci_high", r->participation_ratio_ci_high},
                                    {"operator_norm", r->eigenvalues[0]},
                                    {"seconds", r->seconds},
                                    {0}});
    json_object_set_new(o, "splits", json_integer(r->cvpca->splits));
    json_object_set_new(o, "groups", json_integer(r->cvpca->groups));
    json_object_set_new(o, "error_bars",
                        json_string(r->cvpca->groups ? "jackknife over groups of rows" : "none"));
    json_object_set_new(o, "seed", json_integer((json_int_t)u->a->common.seed));
    return o;
}

/* Eigenvalues in the table, unless --count says otherwise. */
enum { SHOWN = 20 };

void spectrum_cvpca_print(FILE *f, const void *result) {
    const spectrum_output *u = result;
    const spectrum_args *a = u->a;
    const kspec_spectrum_result *r = u->r;
    size_t most = a->count ? a->count : SHOWN, shown = most < r->rank ? most : r->rank;
    spectrum_print_head(f, u);
    fprintf(f, "\n%s   k   eigenvalue   std. error   95%% interval from … to%s%s%s\n", cli_bold(&a->common),
            r->sample_count ? "    of the sample" : "", u->truth ? "        truth" : "",
            cli_plain(&a->common));
    double sum = 0;
    for (size_t k = 0; k < r->rank; k++) sum += r->eigenvalues[k];
    for (size_t k = 0; k < shown; k++) {
        fprintf(f, "%4zu", k + 1);
        cli_cell(f, "%.5g", 11, r->eigenvalues[k]);
        cli_cell(f, "%.2g", 11, r->std_error[k]);
        cli_cell(f, "%.4g", 11, r->ci_low[k]);
        cli_cell(f, "%.4g", 11, r->ci_high[k]);
        if (r->sample_count) cli_cell(f, "%.5g", 15, r->sample_eigenvalues[k]);
        if (u->truth) cli_cell(f, "%.5g", 11, k < u->truth_count ? u->truth[k] : 0);
        fputc('\n', f);
    }
    if (shown < r->rank) fprintf(f, "   …  %zu more\n", r->rank - shown);
    fprintf(f, "\nsum of all %.5g, from %d split%s of the trials in both orders\n", sum, r->cvpca->splits,
            cli_s((size_t)r->cvpca->splits));
    if (r->cvpca->groups) fprintf(f, "intervals: jackknife over %d groups of rows\n", r->cvpca->groups);
    fputs("participation ratio", f);
    cli_cell(f, "%.5g", 10, r->participation_ratio);
    if (isfinite(r->participation_ratio_std_error)) fprintf(f, " ± %.2g", r->participation_ratio_std_error);
    fprintf(f, " (unbiased, %s)\n", cli_center_words(r->center));
}
