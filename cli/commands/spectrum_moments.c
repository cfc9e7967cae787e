/* Prints the result of `kspec spectrum --method moments`. */
#include "commands/spectrum.h"

#include <math.h>
#include <string.h>

static const char *upper_reason(const kspec_spectrum_result *r) {
    switch (r->lp->upper_from) {
    case KSPEC_UPPER_SAMPLE: return "largest eigenvalue of the sample matrix, which is biased upwards";
    case KSPEC_UPPER_MOMENTS:
        return "least (m(n) + 2 std. errors)^(1/n), each of which bounds the largest eigenvalue";
    case KSPEC_UPPER_GIVEN: break;
    }
    return "given";
}

static const char *error_bars(const kspec_spectrum_result *r) {
    return r->lp->draws ? "parametric: moments drawn from their error covariance" : "none";
}

/* Returns the unit of the distance between the given moments and the fit's moments. */
static const char *distance_unit(const kspec_spectrum_result *r) {
    return r->lp->distance_in_errors ? "standard errors" : r->lp->free_mass ? "m(1) B^(n-1)" : "D B^n";
}

json_t *spectrum_moments_json(const void *result) {
    const spectrum_output *u = result;
    const kspec_spectrum_result *r = u->r;
    size_t most = u->a->count ? u->a->count : r->rank;
    if (!u->a->count && r->lp->free_mass && u->d) most = u->d->rows < u->d->cols ? u->d->rows : u->d->cols;
    size_t shown = most < r->rank ? most : r->rank;
    json_t *list = json_array();
    for (size_t k = 0; k < r->t_count; k++)
        json_array_append_new(list, json_pack("{s:o, s:o, s:o}", "t", cli_real(r->t[k]), "value",
                                              cli_real(r->effective_dimension[k]), "stderr",
                                              cli_real(r->effective_dimension_std_error[k])));
    const spectrum_array arrays[] = {
        {"eigenvalues_plain", r->lp->plain, shown},  {"support", r->lp->support, r->lp->atoms},
        {"mass", r->lp->mass, r->lp->atoms},         {"moments_fitted", r->fitted, r->count},
        {"moments_listed", r->lp->listed, r->count}, {0},
    };
    json_t *o = spectrum_json(u, shown, arrays);
    json_object_set_new(o, "effective_dimension", list);
    json_object_set_new(o, "free_mass", json_boolean(r->lp->free_mass));
    if (r->lp->free_mass)
        cli_set_reals(o, (cli_member[]){{"number", r->lp->number}, CLI_ENDS("number_", r->lp, number_), {0}});
    cli_set_reals(
        o, (cli_member[]){
               {"residual", r->lp->residual}, {"distance", r->lp->distance}, {"upper", r->lp->upper}, {0}});
    json_object_set_new(o, "distance_unit", json_string(distance_unit(r)));
    json_object_set_new(o, "distance_order", json_integer(r->lp->distance_order));
    json_object_set_new(o, "upper_reason", json_string(upper_reason(r)));
    json_object_set_new(o, "weights", json_string(cli_choice_name(spectrum_weights, r->lp->weights)));
    json_object_set_new(o, "error_bars", json_string(error_bars(r)));
    json_object_set_new(o, "draws", json_integer(r->lp->draws));
    return o;
}

static void print_eigenvalues(FILE *f, const spectrum_output *u) {
    const kspec_spectrum_result *r = u->r;
    size_t positive = 0;
    while (positive < r->rank && r->eigenvalues[positive] > 0) positive++;
    size_t most = u->a->count ? u->a->count : SPECTRUM_SHOWN, shown = positive < most ? positive : most;
    spectrum_print_eigenvalues(f, u, shown);
    if (positive > shown)
        fprintf(f, "   …  %zu more, down to %.3g\n", positive - shown, r->eigenvalues[positive - 1]);
    if (positive < r->rank) fprintf(f, "   …  %zu of %zu are zero\n", r->rank - positive, r->rank);
}

void spectrum_moments_print(FILE *f, const void *result) {
    const spectrum_output *u = result;
    const spectrum_args *a = u->a;
    const kspec_spectrum_result *r = u->r;
    const char *bold = cli_bold(&a->common), *plain = cli_plain(&a->common);
    if (r->moments) spectrum_print_head(f, u);
    print_eigenvalues(f, u);
    fprintf(f, "\n%s   n  moment given   std. error       fitted  of the list%s\n", bold, plain);
    for (size_t n = 0; n < r->count; n++) {
        fprintf(f, "%4zu", n + 1);
        cli_cell_rounded(f, 12, r->given[n], r->given_std_error[n]);
        cli_cell(f, "%.2g", 11, r->given_std_error[n]);
        cli_cell(f, "%.5g", 11, r->fitted[n]);
        cli_cell(f, "%.5g", 11, r->lp->listed[n]);
        fputc('\n', f);
    }
    fprintf(f, "\nresidual %.3g (weights: %s); nearest measure %.2g %s away at m(%d)\n", r->lp->residual,
            cli_choice_name(spectrum_weights, r->lp->weights), r->lp->distance, distance_unit(r),
            r->lp->distance_order);
    if (r->lp->free_mass) {
        fprintf(f, "number of eigenvalues %.5g", r->lp->number);
        if (r->lp->draws) fprintf(f, " (%.4g … %.4g)", r->lp->number_ci_low, r->lp->number_ci_high);
        fputs(": the smallest number that has these moments\n", f);
    }
    fprintf(f, "upper end %.5g: %s\n", r->lp->upper, upper_reason(r));
    if (r->lp->draws)
        fprintf(f, "eigenvalues: %s %d draws of the moments from their errors\n",
                r->lp->free_mass ? "of the mean measure of" : "means and spread over", r->lp->draws);
    fputs("\noperator norm", f);
    cli_cell_rounded(f, 24, r->eigenvalues[0], r->lp->draws ? r->std_error[0] : NAN);
    if (r->lp->draws) fprintf(f, " ± %.2g", r->std_error[0]);
    fputs("\nparticipation ratio", f);
    cli_cell_rounded(f, 18, r->participation_ratio,
                     cli_error_shown(r->participation_ratio, r->participation_ratio_std_error));
    if (isfinite(r->participation_ratio_std_error)) fprintf(f, " ± %.2g", r->participation_ratio_std_error);
    if (r->moments) fprintf(f, " (%s)", cli_center_words(r->center));
    for (size_t k = 0; k < r->t_count; k++) {
        fprintf(f, "\neffective dimension at %-8.3g", r->t[k]);
        cli_cell_rounded(f, 6, r->effective_dimension[k],
                         r->lp->draws ? r->effective_dimension_std_error[k] : NAN);
        if (r->lp->draws) fprintf(f, " ± %.2g", r->effective_dimension_std_error[k]);
    }
    fputc('\n', f);
}
