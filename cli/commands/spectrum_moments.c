/* What `kspec spectrum --method moments` prints. */
#include "commands/spectrum.h"

#include <math.h>
#include <string.h>

static const char *upper_reason(const kspec_spectrum_result *r) {
    switch (r->upper_from) {
    case KSPEC_UPPER_SAMPLE: return "largest eigenvalue of the sample matrix, which is biased upwards";
    case KSPEC_UPPER_MOMENTS:
        return "least (m(n) + 2 std. errors)^(1/n), each of which bounds the largest eigenvalue";
    case KSPEC_UPPER_GIVEN: break;
    }
    return "given";
}

static const char *error_bars(const kspec_spectrum_result *r) {
    return r->draws ? "parametric: moments drawn from their error covariance" : "none";
}

/* Estimates are off by a standard error or so; three, or any distance without errors, deserve a warning. */
static void warn_of_distance(const spectrum_args *a, const kspec_spectrum_result *r) {
    if (r->distance <= (r->distance_in_errors ? 3 : 1e-6)) return;
    int n = r->distance_order;
    char errors[64] = "";
    if (r->distance_in_errors) snprintf(errors, sizeof errors, ", %.1f standard errors away", r->distance);
    cli_warn(&a->common,
             "no measure on [0, %.4g] has these moments: m(%d) = %.6g, but %.6g in the nearest one%s; try a "
             "larger "
             "--rank or --upper, or other --weights",
             r->upper, n, r->given[n - 1], r->fitted[n - 1], errors);
}

void spectrum_moments_warn(const spectrum_args *a, const kspec_spectrum_result *r) {
    warn_of_distance(a, r);
    if (r->given_std_error[0] > 0.5 * fabs(r->given[0])) /* NaN: none */
        cli_warn(&a->common,
                 "m(1) = %.4g ± %.2g is too uncertain: eigenvalues and their error bars mean little",
                 r->given[0], r->given_std_error[0]);
    if (r->given[0] > 0 && r->eigenvalues[0] == 0)
        cli_warn(&a->common,
                 "all eigenvalues are below the first step of the grid, %.4g; --upper %g is too large",
                 r->grid_step, r->upper);
    for (size_t n = 0; n < r->count && r->moments && !a->how.no_stderr; n++)
        if (!isfinite(r->given_std_error[n])) {
            cli_warn(
                &a->common,
                "m(%zu) has no error bar, so there are unit weights and no draws; try fewer moments (-n)",
                n + 1);
            break;
        }
}

static void add_arrays(json_t *o, const spectrum_output *u) {
    const kspec_spectrum_result *r = u->r;
    size_t shown = u->a->count && u->a->count < r->rank ? u->a->count : r->rank;
    const struct {
        const char *name;
        const double *x;
        size_t n;
    } arrays[] = {
        {"eigenvalues", r->eigenvalues, shown},
        {"stderr", r->std_error, shown},
        {"ci_low", r->ci_low, shown},
        {"ci_high", r->ci_high, shown},
        {"eigenvalues_plain", r->plain, shown},
        {"support", r->support, r->atoms},
        {"mass", r->mass, r->atoms},
        {"moments", r->given, r->count},
        {"moments_stderr", r->given_std_error, r->count},
        {"moments_fitted", r->fitted, r->count},
        {"singular_values", r->sample_eigenvalues, r->sample_count},
    };
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++)
        json_object_set_new(o, arrays[k].name, cli_reals(arrays[k].x, arrays[k].n));
    if (u->truth)
        json_object_set_new(o, "truth", cli_reals(u->truth, u->truth_count < shown ? u->truth_count : shown));
    json_t *list = json_array();
    for (size_t k = 0; k < r->t_count; k++)
        json_array_append_new(list, json_pack("{s:o, s:o, s:o}", "t", cli_real(r->t[k]), "value",
                                              cli_real(r->effective_dimension[k]), "stderr",
                                              cli_real(r->effective_dimension_std_error[k])));
    json_object_set_new(o, "effective_dimension", list);
}

json_t *spectrum_moments_json(const void *result) {
    const spectrum_output *u = result;
    const kspec_spectrum_result *r = u->r;
    json_t *o = json_object();
    json_object_set_new(o, "method", json_string("moments"));
    spectrum_add_matrix(o, u);
    json_object_set_new(o, "rank", json_integer((json_int_t)r->rank));
    add_arrays(o, u);
    cli_set_reals(o, (cli_member[]){{"participation_ratio", r->participation_ratio},
                                    {"participation_ratio_stderr", r->participation_ratio_std_error},
                                    {"operator_norm", r->eigenvalues[0]},
                                    {"residual", r->residual},
                                    {"distance", r->distance},
                                    {"upper", r->upper},
                                    {"seconds", r->seconds},
                                    {0}});
    json_object_set_new(o, "distance_unit", json_string(r->distance_in_errors ? "standard errors" : "D B^n"));
    json_object_set_new(o, "distance_order", json_integer(r->distance_order));
    json_object_set_new(o, "upper_reason", json_string(upper_reason(r)));
    json_object_set_new(o, "weights", json_string(cli_choice_name(spectrum_weights, r->weights)));
    json_object_set_new(o, "error_bars", json_string(error_bars(r)));
    json_object_set_new(o, "draws", json_integer(r->draws));
    json_object_set_new(o, "seed", json_integer((json_int_t)u->a->common.seed));
    return o;
}

/* Eigenvalues in the table, unless --count says otherwise. */
enum { SHOWN = 20 };

static void print_eigenvalues(FILE *f, const spectrum_output *u) {
    const spectrum_args *a = u->a;
    const kspec_spectrum_result *r = u->r;
    const char *bold = cli_bold(&a->common), *plain = cli_plain(&a->common);
    fprintf(f, "\n%s   k   eigenvalue   std. error   95%% interval from … to%s%s%s\n", bold,
            r->sample_count ? "    of the sample" : "", u->truth ? "        truth" : "", plain);
    size_t positive = 0;
    while (positive < r->rank && r->eigenvalues[positive] > 0) positive++;
    size_t most = a->count ? a->count : SHOWN, shown = positive < most ? positive : most;
    for (size_t k = 0; k < shown; k++) {
        fprintf(f, "%4zu", k + 1);
        cli_cell(f, "%.5g", 11, r->eigenvalues[k]);
        cli_cell(f, "%.2g", 11, r->std_error[k]);
        cli_cell(f, "%.4g", 11, r->ci_low[k]);
        cli_cell(f, "%.4g", 11, r->ci_high[k]);
        if (r->sample_count) cli_cell(f, "%.5g", 15, k < r->sample_count ? r->sample_eigenvalues[k] : NAN);
        if (u->truth) cli_cell(f, "%.5g", 11, k < u->truth_count ? u->truth[k] : 0);
        fputc('\n', f);
    }
    if (positive > shown)
        fprintf(f, "   …  %zu more, down to %.3g\n", positive - shown, r->eigenvalues[positive - 1]);
    if (positive < r->rank) fprintf(f, "   …  %zu of %zu are zero\n", r->rank - positive, r->rank);
}

void spectrum_moments_print(FILE *f, const void *result) {
    const spectrum_output *u = result;
    const spectrum_args *a = u->a;
    const kspec_spectrum_result *r = u->r;
    const char *bold = cli_bold(&a->common), *plain = cli_plain(&a->common);
    if (r->moments) cli_print_shape(f, &a->common, u->d);
    print_eigenvalues(f, u);
    fprintf(f, "\n%s   n  moment given   std. error       fitted%s\n", bold, plain);
    for (size_t n = 0; n < r->count; n++) {
        fprintf(f, "%4zu", n + 1);
        cli_cell(f, "%.5g", 12, r->given[n]);
        cli_cell(f, "%.2g", 11, r->given_std_error[n]);
        cli_cell(f, "%.5g", 11, r->fitted[n]);
        fputc('\n', f);
    }
    fprintf(f, "\nresidual %.3g (weights: %s); nearest measure %.2g %s away at m(%d)\n", r->residual,
            cli_choice_name(spectrum_weights, r->weights), r->distance,
            r->distance_in_errors ? "standard errors" : "of D B^n", r->distance_order);
    fprintf(f, "upper end %.5g: %s\n", r->upper, upper_reason(r));
    if (r->draws)
        fprintf(f, "eigenvalues: means and spread over %d draws of the moments from their errors\n",
                r->draws);
    fputs("\noperator norm", f);
    cli_cell(f, "%.5g", 24, r->eigenvalues[0]);
    if (r->draws) fprintf(f, " ± %.2g", r->std_error[0]);
    fputs("\nparticipation ratio", f);
    cli_cell(f, "%.5g", 18, r->participation_ratio);
    if (isfinite(r->participation_ratio_std_error)) fprintf(f, " ± %.2g", r->participation_ratio_std_error);
    for (size_t k = 0; k < r->t_count; k++) {
        fprintf(f, "\neffective dimension at %-8.3g", r->t[k]);
        cli_cell(f, "%.5g", 6, r->effective_dimension[k]);
        if (r->draws) fprintf(f, " ± %.2g", r->effective_dimension_std_error[k]);
    }
    fputc('\n', f);
}
