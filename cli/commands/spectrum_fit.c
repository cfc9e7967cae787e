/* Prints the result of `kspec spectrum --method fit`. */
#include "commands/spectrum.h"

#include <math.h>

static const char *noise_reason(const kspec_spectrum_result *r) {
    switch (r->fit->noise_from) {
    case KSPEC_NOISE_FROM_GIVEN: return "given";
    case KSPEC_NOISE_FROM_TRIALS: return "from the differences of trials";
    case KSPEC_NOISE_FROM_NOWHERE: return "none";
    case KSPEC_NOISE_FROM_FIT: break;
    }
    return "found by the fit";
}

/* ---- JSON ---- */

static size_t default_count(const kspec_dataset *d) { return d->rows < d->cols ? d->rows : d->cols; }

static size_t least(size_t a, size_t b) { return a < b ? a : b; }

static json_t *family_list(const kspec_spectrum_result *r) {
    json_t *list = json_array();
    for (size_t k = 0; k < r->fit->family_count; k++)
        json_array_append_new(list, json_pack("{s:s, s:o, s:o}", "name", r->fit->families[k]->name, "weight",
                                              cli_real(r->fit->families[k]->weight), "chi2",
                                              cli_real(r->fit->families[k]->chi2)));
    return list;
}

static json_t *dimension_list(const kspec_spectrum_result *r) {
    json_t *list = json_array();
    for (size_t k = 0; k < r->t_count; k++) {
        json_t *o = json_object();
        cli_set_reals(o, (cli_member[]){{"t", r->t[k]},
                                        {"value", r->effective_dimension[k]},
                                        {"stderr", r->effective_dimension_std_error[k]},
                                        {"ci_low", r->effective_dimension_ci_low[k]},
                                        {"ci_high", r->effective_dimension_ci_high[k]},
                                        {0}});
        json_array_append_new(list, o);
    }
    return list;
}

json_t *spectrum_fit_json(const void *result) {
    const spectrum_output *u = result;
    const kspec_spectrum_result *r = u->r;
    size_t shown = least(u->a->count ? u->a->count : default_count(u->d), r->rank);
    const kspec_spectrum_fit *fit = r->fit;
    const spectrum_array arrays[] = {
        {"moments_fitted", r->fitted, r->count},
        {"moments_z", fit->z, r->count},
        {"cross_validated", fit->crossed, fit->crossed_count},
        {0},
    };
    json_t *o = spectrum_json(u, shown, arrays);
    json_object_set_new(o, "levels", json_integer((json_int_t)fit->levels));
    json_object_set_new(o, "resolved", json_integer((json_int_t)fit->resolved));
    int ranged = fit->exponent_to > 0; /* without a range of resolved eigenvalues, the fit has no exponent */
    json_object_set_new(o, "exponent_from",
                        ranged ? json_integer((json_int_t)fit->exponent_from) : json_null());
    json_object_set_new(o, "exponent_to", ranged ? json_integer((json_int_t)fit->exponent_to) : json_null());
    cli_set_reals(o, (cli_member[]){{"beyond", fit->beyond},
                                    CLI_ENDS("beyond_", fit, beyond_),
                                    {"noise", fit->noise},
                                    CLI_ENDS("noise_", fit, noise_),
                                    {"exponent", fit->exponent},
                                    CLI_ENDS("exponent_", fit, exponent_),
                                    {"exponent_unweighted", fit->exponent_unweighted},
                                    CLI_ENDS("exponent_unweighted_", fit, exponent_unweighted_),
                                    {"columns_excess", fit->columns_excess},
                                    {"participation_ratio_fitted", fit->participation_ratio},
                                    CLI_ENDS("participation_ratio_fitted_", fit, participation_ratio_),
                                    {"participation_ratio_z", fit->participation_ratio_z},
                                    {"widened", fit->widened},
                                    {"noise_of_trials", fit->noise_of_trials},
                                    {0}});
    json_object_set_new(o, "noise_reason", json_string(noise_reason(r)));
    cli_signal_keys(r->fit->signal, r->fit->signal_z, o);
    json_object_set_new(o, "effective_dimension", dimension_list(r));
    json_object_set_new(o, "families", family_list(r));
    return o;
}

/* ---- the table ---- */

/* Families in the table */
enum { FAMILIES = 4 };

static void print_eigenvalues(FILE *f, const spectrum_output *u) {
    const kspec_spectrum_result *r = u->r;
    const char *bold = cli_bold(&u->a->common), *plain = cli_plain(&u->a->common);
    fprintf(f, "\n%s   i   eigenvalue   95%% interval from … to   of the sample%s%s%s\n", bold,
            r->fit->crossed ? "   cross-validated" : "", u->truth ? "         truth" : "", plain);
    size_t most = u->a->count ? u->a->count : SPECTRUM_SHOWN, shown = least(most, r->rank);
    if (!u->a->count && r->fit->resolved > 0 && shown > r->fit->resolved) shown = r->fit->resolved;
    for (size_t k = 0; k < shown; k++) {
        fprintf(f, "%4zu", k + 1);
        const double error = cli_error_of(r->eigenvalues[k], r->ci_low[k], r->ci_high[k]);
        cli_cell_rounded(f, 11, r->eigenvalues[k], error);
        cli_cell_interval(f, 11, r->eigenvalues[k], r->ci_low[k], r->ci_high[k]);
        cli_cell(f, "%.4g", 14, k < r->sample_count ? r->sample_eigenvalues[k] : NAN);
        if (r->fit->crossed) cli_cell(f, "%.4g", 16, k < r->fit->crossed_count ? r->fit->crossed[k] : NAN);
        if (u->truth) cli_cell(f, "%.5g", 12, k < u->truth_count ? u->truth[k] : 0);
        fputc('\n', f);
    }
    if (r->fit->resolved == 0) {
        fprintf(f, "\nresolved: none, from %zu eigenvalues of the sample\n", r->fit->levels);
        return;
    }
    fprintf(f, "\nresolved: the first %zu, from %zu eigenvalues of the sample; beyond them lies",
            r->fit->resolved, r->fit->levels);
    fprintf(f, " %.3g of the trace (%.2g … %.2g)\n", r->fit->beyond, r->fit->beyond_ci_low,
            r->fit->beyond_ci_high);
}

static void print_check(FILE *f, const spectrum_output *u) {
    const kspec_spectrum_result *r = u->r;
    const char *bold = cli_bold(&u->a->common), *plain = cli_plain(&u->a->common);
    fprintf(f, "\n%scheck                  fitted     unbiased   std. error        z%s\n", bold, plain);
    for (size_t n = 0; n < r->count; n++) {
        fprintf(f, "m(%zu)            ", n + 1);
        const double noise = n == 0 && u->d->trials == 1 ? r->fit->noise * r->fit->noise : 0;
        cli_cell_rounded(f, 11, r->fitted[n] + noise, r->given_std_error[n]);
        cli_cell_rounded(f, 11, r->given[n], r->given_std_error[n]);
        cli_cell_rounded(f, 11, r->given_std_error[n], r->given_std_error[n]);
        cli_cell(f, "%.1f", 7, r->fit->z[n]);
        fputs(n == 0 && u->d->trials == 1 ? "  (with noise, as the unbiased one)\n" : "\n", f);
    }
    fputs("participation   ", f);
    cli_cell_rounded(f, 11, r->fit->participation_ratio,
                     cli_error_shown(r->fit->participation_ratio, r->participation_ratio_std_error));
    cli_cell_rounded(f, 11, r->participation_ratio,
                     cli_error_shown(r->participation_ratio, r->participation_ratio_std_error));
    cli_cell_rounded(f, 11, r->participation_ratio_std_error, r->participation_ratio_std_error);
    cli_cell(f, "%.1f", 7, r->fit->participation_ratio_z);
    fprintf(f, "  (%s)\n", cli_center_words(r->center));
}

static void print_families(FILE *f, const kspec_spectrum_result *r) {
    fputs("\nfamilies of spectra:\n", f);
    for (size_t k = 0; k < r->fit->family_count && k < FAMILIES; k++)
        fprintf(f, "%5.0f%%  %s\n", 100 * r->fit->families[k]->weight, r->fit->families[k]->name);
}

static void print_noise_and_exponent(FILE *f, const kspec_spectrum_result *r) {
    const kspec_spectrum_fit *t = r->fit;
    const cli_interval noise = cli_round_interval(t->noise, t->noise_ci_low, t->noise_ci_high),
                       a = cli_round_interval(t->exponent, t->exponent_ci_low, t->exponent_ci_high),
                       plain = cli_round_interval(t->exponent_unweighted, t->exponent_unweighted_ci_low,
                                                  t->exponent_unweighted_ci_high);
    if (t->noise_from == KSPEC_NOISE_FROM_NOWHERE)
        fputs("noise: none\n", f);
    else
        fprintf(f, "noise: standard deviation %s (%s … %s), %s\n", noise.value.text, noise.low.text,
                noise.high.text, noise_reason(r));
    if (isfinite(t->exponent))
        fprintf(
            f,
            "exponent: λ_i ~ i^-a, a = %s (%s … %s) over i = %zu … %zu; without weights 1/i %s (%s … %s)\n",
            a.value.text, a.low.text, a.high.text, t->exponent_from, t->exponent_to, plain.value.text,
            plain.low.text, plain.high.text);
}

static void print_effective(FILE *f, const kspec_spectrum_result *r, size_t k) {
    const cli_interval d = cli_round_interval(r->effective_dimension[k], r->effective_dimension_ci_low[k],
                                              r->effective_dimension_ci_high[k]);
    fprintf(f, "effective dimension at %-8.3g %8s (%s … %s)\n", r->t[k], d.value.text, d.low.text,
            d.high.text);
}

void spectrum_fit_print(FILE *f, const void *result) {
    const spectrum_output *u = result;
    const kspec_spectrum_result *r = u->r;
    spectrum_print_head(f, u);
    print_eigenvalues(f, u);
    cli_signal_print(f, r->fit->signal, r->fit->signal_z);
    print_noise_and_exponent(f, r);
    print_check(f, u);
    cli_left_out_print(f, &u->a->common, r->doubts, r->doubt_count);
    fputc('\n', f);
    for (size_t k = 0; k < r->t_count; k++)
        if (isnan(r->effective_dimension[k]))
            fprintf(f, "effective dimension at %-8.3g not resolved\n", r->t[k]);
        else
            print_effective(f, r, k);
    print_families(f, r);
}
