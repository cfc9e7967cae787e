/* kspec wls: lists the verbs, holds the code that they share, and chooses a verb by the options if the
 * user gives none. */
#include "commands/wls.h"

#include <math.h>
#include <string.h>

/* ---- shared by the verbs ---- */

kspec_wls_opts wls_opts(const wls_args *a) {
    /* Returns P, or the smallest possible value if P is not given. */
    size_t most = a->modes ? a->modes : a->grid;
    for (size_t i = 0; i < a->learn.count && !a->modes; i++)
        most = a->learn.at[i] > most ? a->learn.at[i] : most;
    return (kspec_wls_opts){.size = sizeof(kspec_wls_opts),
                            .P = most,
                            .alpha = a->alpha,
                            .beta = a->beta,
                            .gamma = a->gamma,
                            .noise = a->noise,
                            .complex_noise = a->complex_noise,
                            .seed = a->common.seed,
                            .threads = a->common.threads,
                            .progress = cli_progress(&a->common)};
}

int wls_read(const wls_args *a, const char *role, const char *path, int rows, int cols, kspec_dataset **d) {
    const kspec_read_opts how = {.size = sizeof how,
                                 .select_rows = rows ? a->common.select_rows : NULL,
                                 .select_cols = cols ? a->common.select_cols : NULL,
                                 .complex_pairs = path == a->fit};
    return cli_read_one(&a->common, role, path, &how, d);
}

int wls_write(const char *path, const double *x, size_t rows, size_t cols) {
    kspec_error err;
    kspec_status st = path ? cli_write_array(path, x, rows, cols, &err) : KSPEC_OK;
    return st ? cli_fail_writing(st, &err) : EXIT_DONE;
}

int wls_check_outputs(const wls_args *a, const char *verb) {
    if (a->predictions && !a->at) return cli_error(EXIT_USAGE, "%s: --predictions needs --at X", verb);
    if (a->learn.count > 1 && (a->theta || a->predictions))
        return cli_error(EXIT_USAGE, "%s: --theta and --predictions hold one fit, but --learn has %zu values",
                         verb, a->learn.count);
    return EXIT_DONE;
}

void wls_print_setting(FILE *f, const wls_args *a, const kspec_wls_opts *o) {
    fprintf(f, "%zu point%s", a->grid, cli_s(a->grid));
    if (!a->fit || wls_expects(a)) {
        fprintf(f, ", %zu mode%s, gamma %g, noise ", o->P, cli_s(o->P), o->gamma);
        if (a->noise_spectrum)
            fprintf(f, "with the spectrum %s", a->noise_spectrum);
        else
            fprintf(f, "%g", o->noise);
        if (o->complex_noise) fputs(" (complex)", f);
    }
    fprintf(f, ", weights alpha %g, beta %g\n\n", o->alpha, o->beta);
}

void wls_print_rows(FILE *f, const wls_args *a, const char *title, const double *x, size_t rows, size_t cols,
                    int is_complex) {
    enum { FEW = 8 };
    fprintf(f, "\n%s%s%s\n", cli_bold(&a->common), title, cli_plain(&a->common));
    for (size_t i = 0; i < rows && i < FEW; i++) {
        fprintf(f, "%8zu", i);
        if (is_complex)
            fprintf(f, "  %14.8g %c %.8g i", x[2 * i], x[2 * i + 1] < 0 ? '-' : '+', fabs(x[2 * i + 1]));
        for (size_t k = 0; k < cols && k < FEW && !is_complex; k++) fprintf(f, "  %14.8g", x[i * cols + k]);
        fputc('\n', f);
    }
    if (rows > FEW) fprintf(f, "     ... %zu in all\n", rows);
}

json_t *wls_json(const wls_args *a, const char *mode, const kspec_wls_opts *o, json_t *points) {
    return json_pack("{s:s, s:I, s:I, s:f, s:f, s:f, s:f, s:b, s:I, s:o}", "mode", a->mode ? a->mode : mode,
                     "grid", (json_int_t)a->grid, "modes", (json_int_t)o->P, "alpha", o->alpha, "beta",
                     o->beta, "gamma", o->gamma, "noise", o->noise, "complex_noise", o->complex_noise, "seed",
                     (json_int_t)o->seed, "points", points);
}

json_t *wls_point_json(const kspec_wls_point *q, const kspec_wls_point *m) {
    json_t *o = json_pack("{s:I, s:s}", "p", (json_int_t)q->p, "regime", wls_regime(q->regime));
    cli_set_reals(o, (cli_member[]){{"error_noise_free", q->error_noise_free},
                                    {"error_noise", q->error_noise},
                                    {"variance", q->variance},
                                    {"accuracy", q->accuracy},
                                    {"empirical", m ? m->error : NAN},
                                    {0}});
    if (m)
        cli_set_reals(o, (cli_member[]){{"empirical_stderr", m->error_se},
                                        {"empirical_noise_free", m->error_noise_free},
                                        {"empirical_noise_free_stderr", m->error_noise_free_se},
                                        {"empirical_noise", m->error_noise},
                                        {"empirical_noise_stderr", m->error_noise_se},
                                        {"empirical_variance", m->variance},
                                        {"empirical_variance_stderr", m->variance_se},
                                        {0}});
    return o;
}

/* ---- without a verb ---- */

/* clang-format off */
static const cli_option options[] = {
    WLS_LEARN_OPTION,
    WLS_GRID_OPTIONS,
    WLS_DRAW_OPTIONS,
    WLS_SPECTRUM_OPTION,
    WLS_BEST_OPTIONS,
    WLS_ZETA_OPTION,
    {"fit",      0, OPT_STRING, WLS_ARG(fit),      "Y",
     "the same as kspec wls fit Y; --learn selects the modes e^(ikx)"},
    WLS_FIT_OPTIONS,
    WLS_SMOOTH_OPTIONS,
    {"features", 0, OPT_STRING, WLS_ARG(features), "PSI", "the same as kspec wls features PSI"},
    WLS_FEATURES_OPTIONS,
    {"decay",    0, OPT_STRING, WLS_ARG(decay),    "X",   "the same as kspec wls decay X"},
    WLS_DECAY_OPTIONS,
    WLS_SELECT_OPTIONS,
    {0},
};
/* clang-format on */

/* Finds the verb that the options imply, and the INPUT of this verb if it needs one. */
static const cli_command *verb_of(const wls_args *a, const char **input, const char **option) {
    const struct {
        const char *input, *option;
        const cli_command *verb;
    } by[] = {
        {a->fit, "fit", &wls_fit}, {a->features, "features", &wls_features}, {a->decay, "decay", &wls_decay}};
    for (size_t k = 0; k < sizeof by / sizeof *by; k++)
        if (by[k].input) {
            *input = by[k].input, *option = by[k].option;
            return by[k].verb;
        }
    return a->zeta > 0 ? &wls_bound : a->best_p || a->best_weights ? &wls_select : &wls_theory;
}

static int run(void *args) {
    wls_args *a = args;
    cli_common *c = &a->common;
    const char *input = NULL, *option = "";
    if (!!a->fit + !!a->features + !!a->decay + (a->zeta > 0) > 1)
        return cli_error(EXIT_USAGE, "wls: only one of --fit, --features, --decay and --zeta can be given");
    const cli_command *verb = verb_of(a, &input, &option);
    for (size_t i = 0; i < c->given_count; i++) {
        const char *name = c->given[i]->name;
        if (cli_has_option(options, name) && !cli_has_option(verb->options, name) &&
            strcmp(name, option) != 0)
            return cli_error(EXIT_USAGE, "%s takes no --%s", verb->name, name);
    }
    if (c->checkpoint && !verb->shares) return cli_error(EXIT_USAGE, "%s takes no --checkpoint", verb->name);
    if (input) c->inputs[c->input_count++] = input;
    if (verb == &wls_select) a->mode = "theory";
    a->no_verb = 1;
    return verb->run(args);
}

static const cli_command *const verbs[] = {&wls_theory,   &wls_select, &wls_bound, &wls_fit,
                                           &wls_features, &wls_decay,  NULL};

const cli_command cmd_wls = {
    .name = "wls",
    .summary = "fit by weighted least squares with Fourier or other features, and predict errors",
    .synopsis =
        "wls theory --grid N --learn p,... [--modes P] [--alpha A] [--beta B] [--gamma G] [--noise S] "
        "[--empirical K] [OPTIONS]\n"
        "wls select --grid N [--learn p,...] [--best-p] [--best-weights] [OPTIONS]\n"
        "wls bound --zeta Z --grid N --learn p,... [OPTIONS]\n"
        "wls fit Y [--x COLUMN] [--basis B] [--learn p] [--beta B] [--noise S] [--at X] [OPTIONS]\n"
        "wls features PSI [--target Y] [--prior FILE] [--noise-covariance FILE] [OPTIONS]\n"
        "wls decay X [--kernel K] [--sigma S] [OPTIONS]\n"
        "wls [--zeta Z | --fit Y | --features PSI | --decay X] [OPTIONS]",
    .description =
        "Weighted least squares with p of P Fourier modes on N points, with more or fewer modes than "
        "points:\n"
        "  theory    expected errors, and measured ones with --empirical\n"
        "  select    the p, or the weights, of least expected error\n"
        "  bound     the bound of Theorem 5.1 on the error\n"
        "  fit       a smooth curve through the data Y with a band, or with --learn p,... a fit on that "
        "grid\n"
        "  features  a fit with any features PSI, and its expected errors\n"
        "  decay     singular values of the kernel matrix of the rows of X\n"
        "Without a verb the options decide: theory, unless one of those in the last line is given.",
    .verbs = verbs,
    .options = options,
    .args_size = sizeof(wls_args),
    .shares = 1,
    .run = run,
};
