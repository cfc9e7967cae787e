#include "commands/wls.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ARG(field) offsetof(wls_args, field)

static const cli_option options[] = {
    {"grid", 0, OPT_SIZE, ARG(grid), "N", "points of the grid (--fit: as many as Y has rows)", .min = 1},
    {"learn", 0, OPT_STRING, ARG(learn), "p,...",
     "how many modes or features to learn: numbers, ranges 1-64, 1-64:4"},
    {"modes", 0, OPT_SIZE, ARG(modes), "P", "modes of the truth (default: N, or the largest p)", .min = 1},
    {"alpha", 0, OPT_DOUBLE, ARG(alpha), "A", "data point j has the weight (1+j)^-A (default 0)"},
    {"beta", 0, OPT_DOUBLE, ARG(beta), "B", "mode k has the weight (1+k)^-B (default 0)"},
    {"gamma", 0, OPT_DOUBLE, ARG(gamma), "G", "the truth's mode k has a variance like (1+k)^-2G (default 0)"},
    {"noise", 0, OPT_DOUBLE, ARG(noise), "S", "standard deviation of the noise (default 0)"},
    {"complex-noise", 0, OPT_FLAG, ARG(complex_noise), NULL, "circular complex noise instead of real"},
    {"empirical", 0, OPT_SIZE, ARG(draws), "K", "measure the errors on K random draws, too", .min = 2},
    {"best-p", 0, OPT_FLAG, ARG(best_p), NULL, "which p of --learn (default: of all) has the least error"},
    {"best-weights", 0, OPT_FLAG, ARG(best_weights), NULL, "for each p, which alpha or beta in 0 ... 3 has"},
    {"zeta", 0, OPT_DOUBLE, ARG(zeta), "Z",
     "features with singular values t^-Z: error and bound of Theorem 5.1", .positive = 1},
    {"fit", 0, OPT_STRING, ARG(fit), "Y",
     "fit data on the grid: a file of one column, or two (real, imaginary)"},
    {"at", 0, OPT_STRING, ARG(at), "X", "predict at: a file of x (--fit), or of features (--features)"},
    {"theta", 0, OPT_STRING, ARG(theta), "FILE", "write the coefficients to FILE (.npy, .csv, .json)"},
    {"predictions", 0, OPT_STRING, ARG(predictions), "FILE", "write the predictions to FILE"},
    {"features", 0, OPT_STRING, ARG(features), "PSI", "fit with any feature matrix: a file of N x P"},
    {"target", 0, OPT_STRING, ARG(target), "Y", "the data that go with --features, a column for each output"},
    {"data-weights", 0, OPT_STRING, ARG(data_weights), "FILE", "of --features: N numbers, or N x N"},
    {"feature-weights", 0, OPT_STRING, ARG(feature_weights), "FILE", "of --features: p numbers, or p x p"},
    {"prior", 0, OPT_STRING, ARG(prior), "FILE", "covariance of the coefficients: P numbers, or P x P"},
    {"noise-covariance", 0, OPT_STRING, ARG(noise_cov), "FILE",
     "covariance of the noise: N numbers, or N x N"},
    {"rank-tol", 0, OPT_DOUBLE, ARG(rank_tol), "T", "singular values below T times the largest are zero",
     .positive = 1},
    {"decay", 0, OPT_STRING, ARG(decay), "X", "singular values of the kernel matrix of the rows of X"},
    {"kernel", 0, OPT_CHOICE, ARG(kernel), "K", "of --decay: gaussian (the default) or polynomial",
     "gaussian|polynomial"},
    {"sigma", 0, OPT_DOUBLE, ARG(sigma), "S", "exp(-|x-y|^2/(2 S^2)), or (S x.y + 1)^q (default 1)",
     .positive = 1},
    {"degree", 0, OPT_INT, ARG(degree), "q", "of the polynomial kernel (default 3)", .min = 1},
    {"unit", 0, OPT_FLAG, ARG(unit), NULL, "divide each row of --decay's X by its length"},
    {"select-rows", 0, OPT_STRING, ARG(common.select_rows), "LIST",
     "rows of PSI and Y, or of X, to use: 0-10,13"},
    {"select-cols", 0, OPT_STRING, ARG(common.select_cols), "LIST",
     "columns of PSI, or of X, by number or header name"},
    {0},
};

/* ---- which options go together ---- */

enum { THEORY = 1, FIT = 2, BOUND = 4, FEATURES = 8, DECAY = 16 };

static int check_together(const wls_args *a, unsigned mode) {
    const struct {
        const char *name;
        int given;
        unsigned modes;
        const char *with;
    } uses[] = {
        {"grid", a->grid > 0, THEORY | FIT | BOUND, "the Fourier grid"},
        {"modes", a->modes > 0, THEORY | FIT | BOUND, "the Fourier grid"},
        {"learn", a->learn != NULL, THEORY | FIT | BOUND | FEATURES, "fits"},
        {"alpha", a->alpha != 0, THEORY | FIT | BOUND, "the Fourier grid"},
        {"beta", a->beta != 0, THEORY | FIT | BOUND, "the Fourier grid"},
        {"gamma", a->gamma != 0, THEORY | FIT | BOUND, "expected errors"},
        {"noise", a->noise != 0, THEORY | FIT | BOUND, "expected errors"},
        {"complex-noise", a->complex_noise, THEORY | FIT, "expected errors on the Fourier grid"},
        {"empirical", a->draws > 0, THEORY | FIT, "expected errors on the Fourier grid"},
        {"best-p", a->best_p, THEORY, "expected errors on the Fourier grid"},
        {"best-weights", a->best_weights, THEORY, "expected errors on the Fourier grid"},
        {"at", a->at != NULL, FIT | FEATURES, "--fit or --features"},
        {"theta", a->theta != NULL, FIT | FEATURES, "--fit or --features"},
        {"predictions", a->predictions != NULL, FIT | FEATURES, "--fit or --features"},
        {"target", a->target != NULL, FEATURES, "--features"},
        {"data-weights", a->data_weights != NULL, FEATURES, "--features"},
        {"feature-weights", a->feature_weights != NULL, FEATURES, "--features"},
        {"prior", a->prior != NULL, FEATURES, "--features"},
        {"noise-covariance", a->noise_cov != NULL, FEATURES, "--features"},
        {"rank-tol", a->rank_tol != 0, FEATURES, "--features"},
        {"kernel", a->kernel != NULL, DECAY, "--decay"},
        {"sigma", a->sigma != 0, DECAY, "--decay"},
        {"degree", a->degree != 0, DECAY, "--decay"},
        {"unit", a->unit, DECAY, "--decay"},
        {"select-rows", a->common.select_rows != NULL, FEATURES | DECAY, "--features or --decay"},
        {"select-cols", a->common.select_cols != NULL, FEATURES | DECAY, "--features or --decay"},
    };
    for (size_t k = 0; k < sizeof uses / sizeof *uses; k++)
        if (uses[k].given && !(uses[k].modes & mode))
            return cli_error(EXIT_USAGE, "wls: --%s goes with %s", uses[k].name, uses[k].with);
    if (!!a->fit + !!a->features + !!a->decay + (a->zeta != 0) > 1)
        return cli_error(EXIT_USAGE,
                         "wls: only one of --fit, --features, --decay and --zeta can be done at a time");
    if (a->predictions && !a->at) return cli_error(EXIT_USAGE, "wls: --predictions needs --at X");
    if (a->at && a->features && !a->target) return cli_error(EXIT_USAGE, "wls: --at needs --target Y");
    if (a->theta && a->features && !a->target) return cli_error(EXIT_USAGE, "wls: --theta needs --target Y");
    return EXIT_DONE;
}

/* ---- the list of p ---- */

/* A whole number of at least 1 at *text, which moves behind it */
static int parse_number(const char **text, size_t *out) {
    char *end;
    errno = 0;
    if (!isdigit((unsigned char)**text)) return 0;
    unsigned long long u = strtoull(*text, &end, 10);
    *text = end;
    *out = (size_t)u;
    return errno == 0 && u <= PTRDIFF_MAX;
}

/* "3,8-16,20-40:5" to a->p */
static int parse_learn(wls_args *a) {
    enum { MOST = 100000000 };
    size_t room = 0;
    for (const char *s = a->learn; s && *s;) {
        size_t first, last, by = 1;
        int ok = parse_number(&s, &first);
        last = first;
        if (ok && *s == '-') s++, ok = parse_number(&s, &last);
        if (ok && *s == ':') s++, ok = parse_number(&s, &by);
        if (!ok || (*s && *s != ',') || (*s == ',' && !s[1]))
            return cli_error(EXIT_USAGE, "--learn: '%s' is not a list of whole numbers and ranges", a->learn);
        if (first == 0 || by == 0 || last < first)
            return cli_error(EXIT_USAGE, "--learn: '%s' holds a number below 1 or an empty range", a->learn);
        size_t n = (last - first) / by + 1;
        if (n > MOST - a->count) return cli_error(EXIT_USAGE, "--learn: more than %d values", MOST);
        if (a->count + n > room) {
            room = 2 * (a->count + n);
            size_t *p = realloc(a->p, room * sizeof *p);
            if (!p) return cli_error(EXIT_FAILED, "out of memory for %zu values of p", room);
            a->p = p;
        }
        for (size_t q = first; n > 0; q += by, n--) a->p[a->count++] = q;
        if (*s) s++;
    }
    return EXIT_DONE;
}

/* ---- the errors on the grid ---- */

kspec_wls_opts wls_opts(const wls_args *a) {
    return (kspec_wls_opts){.size = sizeof(kspec_wls_opts),
                            .N = a->grid,
                            .P = a->modes,
                            .alpha = a->alpha,
                            .beta = a->beta,
                            .gamma = a->gamma,
                            .sigma = a->noise,
                            .complex_noise = a->complex_noise,
                            .seed = a->common.seed,
                            .threads = a->common.threads,
                            .progress = cli_progress(&a->common)};
}

/* P where it is not given */
size_t wls_modes(const wls_args *a) {
    size_t most = a->modes ? a->modes : a->grid;
    for (size_t i = 0; i < a->count && !a->modes; i++) most = a->p[i] > most ? a->p[i] : most;
    return most;
}

void wls_print_setting(const wls_args *a, const kspec_wls_opts *o) {
    FILE *f = cli_text();
    fprintf(f, "%zu point%s", o->N, o->N == 1 ? "" : "s");
    if (!a->fit || wls_expects(a))
        fprintf(f, ", %zu modes, gamma %g, noise %g%s", o->P, o->gamma, o->sigma,
                o->complex_noise ? " (complex)" : "");
    fprintf(f, ", weights alpha %g, beta %g\n\n", o->alpha, o->beta);
}

json_t *wls_json(const wls_args *a, const char *mode, json_t *points) {
    return json_pack("{s:s, s:s, s:I, s:I, s:f, s:f, s:f, s:f, s:b, s:I, s:o}", "command", "wls", "mode",
                     mode, "grid", (json_int_t)a->grid, "modes", (json_int_t)wls_modes(a), "alpha", a->alpha,
                     "beta", a->beta, "gamma", a->gamma, "noise", a->noise, "complex_noise", a->complex_noise,
                     "seed", (json_int_t)a->common.seed, "points", points);
}

json_t *wls_point_json(const kspec_wls_point *q, const kspec_wls_measured *m) {
    json_t *o =
        json_pack("{s:I, s:s, s:o, s:o, s:o, s:o, s:o}", "p", (json_int_t)q->p, "regime",
                  kspec_wls_regime_name(q->regime), "error_noise_free", cli_real(q->error_noise_free),
                  "error_noise", cli_real(q->error_noise), "variance", cli_real(q->variance), "accuracy",
                  cli_real(q->accuracy), "empirical", m ? cli_real(m->error) : json_null());
    if (!m) return o;
    const struct {
        const char *name;
        double value;
    } more[] = {{"empirical_stderr", m->error_se},
                {"empirical_noise_free", m->error_noise_free},
                {"empirical_noise_free_stderr", m->error_noise_free_se},
                {"empirical_noise", m->error_noise},
                {"empirical_noise_stderr", m->error_noise_se},
                {"empirical_variance", m->variance},
                {"empirical_variance_stderr", m->variance_se}};
    for (size_t k = 0; k < sizeof more / sizeof *more; k++)
        json_object_set_new(o, more[k].name, cli_real(more[k].value));
    return o;
}

/* What --best-weights found for one p */
typedef struct {
    double weight;
    kspec_wls_point point;
} best_weight;

static const char *weight_name(const kspec_wls_point *q, size_t N) {
    return q->p < N ? "alpha" : q->p > N ? "beta" : NULL;
}

static json_t *best_json(const best_weight *b, size_t N) {
    const char *name = weight_name(&b->point, N);
    return json_pack("{s:o, s:o, s:o, s:o}", "weight", name ? json_string(name) : json_null(), "value",
                     name ? cli_real(b->weight) : json_null(), "error_noise_free",
                     cli_real(b->point.error_noise_free), "error_noise", cli_real(b->point.error_noise));
}

static void print_points(const wls_args *a, const kspec_wls_point *q, const kspec_wls_measured *m,
                         const best_weight *b) {
    FILE *f = cli_text();
    fprintf(f, "%s%8s  %-6s  %12s  %12s  %12s  %12s%s%s%s\n", cli_bold(&a->common), "p", "regime",
            "noise-free", "noise", "error", "SD of noise", m ? "      measured  std. error" : "",
            b ? "   best weight     its error" : "", cli_plain(&a->common));
    for (size_t i = 0; i < a->count; i++) {
        fprintf(f, "%8zu  %-6s  %12.6g  %12.6g  %12.6g  %12.4g", q[i].p, kspec_wls_regime_name(q[i].regime),
                q[i].error_noise_free, q[i].error_noise, q[i].error_noise_free + q[i].error_noise,
                sqrt(q[i].variance));
        if (m) fprintf(f, "  %12.6g  %10.2g", m[i].error, m[i].error_se);
        if (b && weight_name(&q[i], a->grid))
            fprintf(f, "  %5s = %-6.4g  %12.6g", weight_name(&q[i], a->grid), b[i].weight,
                    b[i].point.error_noise_free + b[i].point.error_noise);
        else if (b)
            fprintf(f, "  %14s  %12.6g", "any", q[i].error_noise_free + q[i].error_noise);
        fputc('\n', f);
    }
}

static int theory(wls_args *a) {
    if (!a->grid) return cli_error(EXIT_USAGE, "wls: --grid N is missing (or --fit, --features, --decay)");
    if (!a->count && !a->best_p) return cli_error(EXIT_USAGE, "wls: --learn p,... is missing (or --best-p)");
    if (!a->count && (a->draws || a->best_weights))
        return cli_error(EXIT_USAGE, "wls: --%s needs --learn p,...",
                         a->draws ? "empirical" : "best-weights");
    kspec_wls_opts o = wls_opts(a);
    o.P = wls_modes(a);
    kspec_error err;
    kspec_status st = KSPEC_OK;
    kspec_wls_point *q = calloc(a->count + 1, sizeof *q), best;
    kspec_wls_measured *m = a->draws ? calloc(a->count + 1, sizeof *m) : NULL;
    best_weight *b = a->best_weights ? calloc(a->count + 1, sizeof *b) : NULL;
    int status = EXIT_DONE;
    if (!q || (a->draws && !m) || (a->best_weights && !b)) {
        status = cli_error(EXIT_FAILED, "out of memory for %zu values of p", a->count);
        goto done;
    }
    if (a->count) st = kspec_wls_theory(&o, a->p, a->count, q, &err);
    if (!st && m) st = kspec_wls_empirical(&o, a->p, a->count, a->draws, m, &err);
    for (size_t i = 0; i < a->count && b && !st; i++)
        st = kspec_wls_best_weight(&o, a->p[i], 0, 3, &b[i].weight, &b[i].point, &err);
    if (!st && a->best_p) st = kspec_wls_best_p(&o, a->p, a->count, &best, &err);
    if (st) {
        status = cli_fail(st, &err);
        goto done;
    }
    json_t *object = NULL;
    if (cli_wants_object(&a->common)) {
        json_t *points = json_array();
        for (size_t i = 0; i < a->count; i++) {
            json_t *point = wls_point_json(&q[i], m ? &m[i] : NULL);
            if (b) json_object_set_new(point, "best_weight", best_json(&b[i], a->grid));
            json_array_append_new(points, point);
        }
        object = wls_json(a, "theory", points);
        if (a->draws) json_object_set_new(object, "draws", json_integer((json_int_t)a->draws));
        if (a->best_p) json_object_set_new(object, "best", wls_point_json(&best, NULL));
    }
    if (!a->common.json) {
        wls_print_setting(a, &o);
        if (a->count) print_points(a, q, m, b);
        if (a->best_p)
            fprintf(cli_text(), "%sleast error %.6g at p = %zu\n", a->count ? "\n" : "",
                    best.error_noise_free + best.error_noise, best.p);
    }
    status = cli_finish(&a->common, object);
done:
    free(q);
    free(m);
    free(b);
    return status;
}

static int bound(wls_args *a) {
    if (!a->grid || !a->count) return cli_error(EXIT_USAGE, "wls: --zeta needs --grid N and --learn p,...");
    kspec_wls_opts o = wls_opts(a);
    o.P = wls_modes(a);
    kspec_wls_bound_point *q = calloc(a->count, sizeof *q);
    kspec_wls_bound_best best;
    kspec_error err;
    if (!q) return cli_error(EXIT_FAILED, "out of memory for %zu values of p", a->count);
    kspec_status st = kspec_wls_bound(&o, a->zeta, a->p, a->count, q, &best, &err);
    if (st) {
        free(q);
        return cli_fail(st, &err);
    }
    json_t *object, *points = json_array();
    if (!a->common.json) {
        wls_print_setting(a, &o);
        fprintf(cli_text(), "%s%8s  %12s  %12s%s\n", cli_bold(&a->common), "p", "error", "bound",
                cli_plain(&a->common));
    }
    for (size_t i = 0; i < a->count; i++) {
        json_array_append_new(points, json_pack("{s:I, s:o, s:o}", "p", (json_int_t)q[i].p, "error",
                                                cli_real(q[i].error), "bound", cli_real(q[i].bound)));
        if (!a->common.json) fprintf(cli_text(), "%8zu  %12.6g  %12.6g\n", q[i].p, q[i].error, q[i].bound);
    }
    object = wls_json(a, "bound", points);
    json_object_set_new(object, "zeta", json_real(a->zeta));
    json_object_set_new(object, "best_p_theorem", cli_real(best.theorem));
    json_object_set_new(object, "best_p", cli_real(best.least));
    if (!a->common.json)
        fprintf(cli_text(), "\nthe bound is least at p = %.4g; the theorem's p, to leading order: %.4g\n",
                best.least, best.theorem);
    free(q);
    return cli_finish(&a->common, object);
}

static int run(void *args) {
    wls_args *a = args;
    unsigned mode = a->fit ? FIT : a->features ? FEATURES : a->decay ? DECAY : a->zeta != 0 ? BOUND : THEORY;
    int status = check_together(a, mode);
    if (!status) status = parse_learn(a);
    if (!status)
        status = mode == FIT        ? wls_fit(a)
                 : mode == FEATURES ? wls_features(a)
                 : mode == DECAY    ? wls_decay(a)
                 : mode == BOUND    ? bound(a)
                                    : theory(a);
    free(a->p);
    return status;
}

const cli_command cmd_wls = {
    .name = "wls",
    .summary = "weighted least squares with Fourier or any features: errors and fits",
    .synopsis = "wls --grid N --learn p,... [--modes P] [--alpha A] [--beta B] [--gamma G] [--noise S] "
                "[--empirical K] [OPTIONS]\n"
                "wls --fit Y --learn p,... [--alpha A] [--beta B] [--at X] [OPTIONS]\n"
                "wls --features PSI [--target Y] [--prior FILE] [--noise-covariance FILE] [OPTIONS]\n"
                "wls --zeta Z --grid N --learn p,... [OPTIONS]\n"
                "wls --decay X [--kernel K] [--sigma S] [OPTIONS]",
    .description = "Expected errors of weighted least squares with p of P Fourier modes on N points, with "
                   "more or fewer\n"
                   "modes than points; fits of data on that grid or with any features; decay of kernels' "
                   "singular values.",
    .options = options,
    .args_size = sizeof(wls_args),
    .run = run,
};
