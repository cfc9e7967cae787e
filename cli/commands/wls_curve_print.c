/* Prints a curve as text, and adds it to the JSON object. */
#include "commands/wls.h"

#include <math.h>

static const double TURN = 6.283185307179586;

/* Returns x of point i, even if the user gave no column of x. */
static double x_of(const wls_points *p, size_t i) {
    return p->x ? p->x->data[i] : TURN * (double)i / (double)p->rows;
}

static const char *basis_name(kspec_wls_basis basis) { return cli_choice_name(wls_bases, (int)basis); }

/* ---- text ---- */

static void print_interval(FILE *f, const char *name, double value, double low, double high) {
    const cli_interval in = cli_round_interval(value, low, high);
    fprintf(f, "%s %s", name, in.value.text);
    if (isfinite(low)) fprintf(f, " (95%%: %s … %s)", in.low.text, in.high.text);
}

static void print_choice(FILE *f, const kspec_wls_smooth_result *r) {
    const kspec_wls_choice *in_use = r->choices[0];
    fprintf(f, "basis %s", basis_name(r->basis));
    if (isfinite(r->period))
        fprintf(f, ", period %.6g", r->period);
    else
        fprintf(f, " on %.6g … %.6g", r->low, r->high);
    for (size_t k = 0; k < r->choice_count && r->choice_count > 1; k++)
        fprintf(f, "%s%s %.2g", k == 0 ? "; probability: " : ", ", basis_name(r->choices[k]->basis),
                r->choices[k]->probability);
    fprintf(f, "\n");
    for (size_t k = 1; k < r->choice_count; k++)
        if (r->choices[k]->basis == r->basis) in_use = r->choices[k];
    if (in_use != r->choices[0])
        fprintf(
            f,
            "%s is in use: its curve stays in the band of %s, and its widest band is at most half as wide\n",
            basis_name(r->basis), basis_name(r->choices[0]->basis));
    print_interval(f, "noise", r->noise, r->noise_low, r->noise_high);
    print_interval(f, "; smoothness beta", r->beta, r->beta_low, r->beta_high);
    fprintf(f, "\nprior: power law %.2g, exponential %.2g, sharp degree %.2g\n", in_use->prior[0],
            in_use->prior[1], in_use->prior[2]);
}

static void print_row(FILE *f, const wls_points *p, size_t i, double x, const double *y, const double *value,
                      double half) {
    const size_t at = p->is_complex ? 2 * i : i;
    fprintf(f, "%8zu  %10.5g", i, x);
    if (y && p->is_complex && isfinite(y[at]))
        fprintf(f, "  %10.5g %c %.5g i", y[at], y[at + 1] < 0 ? '-' : '+', fabs(y[at + 1]));
    else if (y)
        cli_cell(f, "%.5g", 12, y[at]);
    const cli_interval in = cli_round_interval(value[at], value[at] - half, value[at] + half);
    cli_number other;
    if (p->is_complex)
        fprintf(f, "  %12s %c %s i  ± %.2g\n", in.value.text, value[at + 1] < 0 ? '-' : '+',
                cli_rounded(&other, fabs(value[at + 1]), half), half);
    else
        fprintf(f, "  %12s  %12s … %s\n", in.value.text, in.low.text, in.high.text);
}

enum { FEW = 8 };

static void print_rest(FILE *f, size_t rows) {
    if (rows > FEW) fprintf(f, "     ... %zu in all\n", rows);
}

void wls_print_curve(FILE *f, const wls_args *a, const wls_points *p, const kspec_wls_smooth_result *r) {
    const char *bold = cli_bold(&a->common), *plain = cli_plain(&a->common);
    fprintf(f, "%zu point%s%s", r->N, cli_s(r->N), r->regular ? " on an even grid" : "");
    if (r->gaps) fprintf(f, ", %zu of them without a value", r->gaps);
    fprintf(f, "; %zu function%s\n", r->p, cli_s(r->p));
    print_choice(f, r);
    if (a->stop_at_noise)
        fprintf(f, "least squares with %zu functions: fewer leave a residual larger than the noise\n", r->p);
    fprintf(
        f,
        "expected error of the curve (rms): %.3g; of least squares with its best p = %zu: %.3g, with p = N: "
        "%.3g\n",
        sqrt(r->error), r->best->p, sqrt(r->best->error), r->noise);
    fprintf(f, "\n%s       i           x             y         curve  95%% band%s\n", bold, plain);
    for (size_t i = 0; i < r->N && i < FEW; i++)
        print_row(f, p, i, x_of(p, i), p->y->data, r->fitted, r->half_width[i]);
    print_rest(f, r->N);
    if (!p->at) return;
    fprintf(f, "\n%s       i           x         curve  95%% band%s\n", bold, plain);
    for (size_t i = 0; i < p->at->rows && i < FEW; i++)
        print_row(f, p, i, p->at->data[i], NULL, r->at_fitted, r->at_half_width[i]);
    print_rest(f, p->at->rows);
}

/* ---- JSON ---- */

/* Returns an entry of the key `fitted` or `predictions`. For complex data the entry includes the
 * imaginary parts. */
static json_t *point_json(const wls_points *p, size_t i, double x, const double *y, const double *value,
                          double half) {
    json_t *o = json_object();
    const size_t parts = p->is_complex ? 2 : 1;
    static const char *const keys[2][4] = {{"y", "value", "ci_low", "ci_high"},
                                           {"y_imag", "value_imag", "ci_low_imag", "ci_high_imag"}};
    cli_set_reals(o, (cli_member[]){{"x", x}, {0}});
    for (size_t c = 0; c < parts; c++) {
        const double v = value[parts * i + c];
        if (y) json_object_set_new(o, keys[c][0], cli_real(y[parts * i + c]));
        cli_set_reals(o,
                      (cli_member[]){{keys[c][1], v}, {keys[c][2], v - half}, {keys[c][3], v + half}, {0}});
    }
    return o;
}

static json_t *choices_json(const kspec_wls_smooth_result *r) {
    json_t *list = json_array();
    for (size_t k = 0; k < r->choice_count; k++) {
        const kspec_wls_choice *c = r->choices[k];
        json_t *o = json_pack("{s:s}", "basis", basis_name(c->basis));
        cli_set_reals(o, (cli_member[]){{"probability", c->probability},
                                        {"power_law", c->prior[0]},
                                        {"exponential", c->prior[1]},
                                        {"sharp_degree", c->prior[2]},
                                        {0}});
        json_array_append_new(list, o);
    }
    return list;
}

static json_t *errors_json(size_t p, double error, double residual) {
    json_t *o = json_pack("{s:I}", "p", (json_int_t)p);
    cli_set_reals(o, (cli_member[]){{"error", error}, {"residual", residual}, {0}});
    return o;
}

json_t *wls_curve_json(const wls_args *a, const wls_points *p, const kspec_wls_smooth_result *r) {
    json_t *o = json_pack("{s:s, s:I, s:I, s:s, s:b, s:b, s:b}", "mode", "fit", "grid", (json_int_t)r->N, "p",
                          (json_int_t)r->p, "basis", basis_name(r->basis), "regular", r->regular, "complex",
                          p->is_complex, "stop_at_noise", a->stop_at_noise);
    cli_set_reals(o, (cli_member[]){{"beta", r->beta},
                                    {"beta_ci_low", r->beta_low},
                                    {"beta_ci_high", r->beta_high},
                                    {"noise", r->noise},
                                    {"noise_ci_low", r->noise_low},
                                    {"noise_ci_high", r->noise_high},
                                    {"low", r->low},
                                    {"high", r->high},
                                    {"period", r->period},
                                    {"error", r->error},
                                    {0}});
    json_object_set_new(o, "choices", choices_json(r));
    json_t *fitted = json_array(), *predictions = json_array(), *curve = json_array();
    for (size_t i = 0; i < r->N; i++)
        json_array_append_new(fitted, point_json(p, i, x_of(p, i), p->y->data, r->fitted, r->half_width[i]));
    for (size_t i = 0; p->at && i < p->at->rows; i++)
        json_array_append_new(predictions,
                              point_json(p, i, p->at->data[i], NULL, r->at_fitted, r->at_half_width[i]));
    for (size_t k = 0; k < r->curve_count; k++)
        json_array_append_new(curve, errors_json(r->curve[k]->p, r->curve[k]->error, r->curve[k]->residual));
    json_object_set_new(o, "theta",
                        r->basis == KSPEC_WLS_BASIS_FOURIER ? cli_real_rows(r->theta, r->p, 2)
                                                            : cli_reals(r->theta, r->p));
    json_object_set_new(o, "fitted", fitted);
    json_object_set_new(o, "predictions", predictions);
    json_object_set_new(o, "curve", curve);
    json_object_set_new(o, "under", errors_json(r->best->p, r->best->error, r->best->residual));
    json_object_set_new(o, "over", errors_json(r->N - r->gaps, r->noise * r->noise, 0));
    json_object_set_new(o, "points", json_array());
    return o;
}
