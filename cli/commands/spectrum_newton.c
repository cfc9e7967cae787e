/* Prints the result of `kspec spectrum --method newton`. */
#include "commands/spectrum.h"

#include <math.h>

json_t *spectrum_newton_json(const void *result) {
    const spectrum_output *u = result;
    const kspec_spectrum_result *r = u->r;
    json_t *o = spectrum_json(u, r->rank,
                              (const spectrum_array[]){{"imaginary", r->newton->imaginary, r->rank}, {0}});
    json_object_set_new(o, "complex", json_integer((json_int_t)r->newton->complex_count));
    json_object_set_new(o, "condition", cli_real(r->newton->condition));
    json_object_set_new(o, "error_bars", json_string("none"));
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
