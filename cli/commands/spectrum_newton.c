/* What `kspec spectrum --method newton` prints. */
#include "commands/spectrum.h"

#include <math.h>

json_t *spectrum_newton_json(const void *result) {
    const spectrum_output *u = result;
    const kspec_spectrum_result *r = u->r;
    json_t *o = json_object();
    json_object_set_new(o, "method", json_string("newton"));
    spectrum_add_matrix(o, u);
    json_object_set_new(o, "rank", json_integer((json_int_t)r->rank));
    const spectrum_array arrays[] = {
        {"imaginary", r->newton->imaginary, r->rank},
        {"moments", r->given, r->count},
        {"moments_stderr", r->given_std_error, r->count},
        {"singular_values", r->sample_eigenvalues, r->sample_count},
        {0},
    };
    spectrum_add_arrays(o, u, r->rank, arrays);
    json_object_set_new(o, "complex", json_integer((json_int_t)r->newton->complex_count));
    cli_set_reals(o, (cli_member[]){{"condition", r->newton->condition},
                                    {"participation_ratio", r->participation_ratio},
                                    {"participation_ratio_stderr", r->participation_ratio_std_error},
                                    {"participation_ratio_ci_low", r->participation_ratio_ci_low},
                                    {"participation_ratio_ci_high", r->participation_ratio_ci_high},
                                    {"operator_norm", r->eigenvalues[0]},
                                    {"seconds", r->seconds},
                                    {0}});
    json_object_set_new(o, "error_bars", json_string("none"));
    json_object_set_new(o, "seed", json_integer((json_int_t)u->a->common.seed));
    return o;
}

void spectrum_newton_print(FILE *f, const void *result) {
    const spectrum_output *u = result;
    const kspec_spectrum_result *r = u->r;
    if (u->d) spectrum_print_head(f, u);
    fprintf(f, "%zu roots of the polynomial that Newton's identities make of m(1) ... m(%zu)\n\n", r->rank,
            r->rank);
    fprintf(f, "%s   k    real part    imaginary%s%s\n", cli_bold(&u->a->common),
            u->truth ? "        truth" : "", cli_plain(&u->a->common));
    for (size_t k = 0; k < r->rank; k++) {
        fprintf(f, "%4zu", k + 1);
        cli_cell(f, "%.5g", 11, r->eigenvalues[k]);
        cli_cell(f, "%.5g", 11, r->newton->imaginary[k]);
        if (u->truth) cli_cell(f, "%.5g", 11, k < u->truth_count ? u->truth[k] : 0);
        fputc('\n', f);
    }
    fprintf(
        f,
        "\ncondition number %.3g: errors of 1%% in every moment move a root by up to %.3g%% of the largest\n",
        r->newton->condition, r->newton->condition);
}
