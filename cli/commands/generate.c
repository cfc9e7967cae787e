/* kspec generate: writes a random matrix whose kernel is known. */
#include "core/cli.h"
#include "kspec/host.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
    cli_common common;
    size_t rows, cols, dim, trials;
    cli_list eta, eigenvalues;
    double noise, noise_share;
    int noise_correlation;
    const char *sigma, *sigma_x;
} generate_args;

#define ARG(field) offsetof(generate_args, field)

enum { LINEAR = 1u << KSPEC_PROCESS_LINEAR, RBF = 1u << KSPEC_PROCESS_RFF | 1u << KSPEC_PROCESS_GAUSSIAN };

/* clang-format off */
static const cli_choice processes[] = {
    {"rff",      KSPEC_PROCESS_RFF},
    {"linear",   KSPEC_PROCESS_LINEAR},
    {"gaussian", KSPEC_PROCESS_GAUSSIAN},
    {0},
};
static const cli_choice correlations[] = {
    {"rows", KSPEC_NOISE_ROWS}, {"cols", KSPEC_NOISE_COLS}, {"both", KSPEC_NOISE_BOTH}, {0},
};

static const cli_option options[] = {
    {"rows",              0, OPT_SIZE,   ARG(rows),              "P",
     "rows: sampled inputs", .min = 1},
    {"cols",              0, OPT_SIZE,   ARG(cols),              "Q",
     "columns: sampled features", .min = 1},
    {"dim",               0, OPT_SIZE,   ARG(dim),               "D",
     "dimension of the inputs", .min = 1},
    {"eta",               0, OPT_LIST,   ARG(eta),               "E[,E...]",
     "rff, gaussian: E of the kernel exp(-E|x-x'|^2/2), one value or one per dimension (1)", .of = RBF},
    {"sigma",             0, OPT_STRING, ARG(sigma),             "FILE",
     "rff, gaussian: matrix Sigma of the kernel, from any INPUT (identity)", .of = RBF},
    {"sigma-x",           0, OPT_STRING, ARG(sigma_x),           "FILE",
     "rff, gaussian: covariance Sigma_x of the inputs, from any INPUT (identity)", .of = RBF},
    {"eigenvalue",        0, OPT_LIST,   ARG(eigenvalues),       "C[,C...]",
     "linear: the eigenvalues, one for all or one per dimension (1)", .of = LINEAR},
    {"noise",             0, OPT_DOUBLE, ARG(noise),             "S",
     "standard deviation of the noise in every entry (0)"},
    {"noise-correlation", 0, OPT_CHOICE, ARG(noise_correlation), "ALONG",
     "the entries of a row, of a column, or of both share noise", correlations},
    {"noise-share",       0, OPT_DOUBLE, ARG(noise_share),       "RHO",
     "the fraction of the noise's variance that is shared (1)"},
    {"trials",            0, OPT_SIZE,   ARG(trials),            "T",
     "write T trials, which differ in their noise (1)", .min = 1},
    {0},
};
/* clang-format on */

/* The program writes about 16 MB at a time, since the matrix may be larger than memory. */
enum { BAND_VALUES = 1 << 21 };

static kspec_status stream(kspec_generator *g, kspec_writer *w, const generate_args *a, kspec_error *err) {
    size_t band = BAND_VALUES / a->cols, P = a->rows;
    size_t least = 64 * (size_t)(a->common.threads ? a->common.threads : kspec_default_threads());
    band = band < least ? least : band / 64 * 64; /* each thread gets a tile of 64 rows or more */
    if (band > P) band = P;
    double *rows =
        band > PTRDIFF_MAX / sizeof(double) / a->cols ? NULL : malloc(band * a->cols * sizeof *rows);
    if (!rows) {
        *err = (kspec_error){KSPEC_E_NOMEM, "out of memory for a band of rows"};
        return KSPEC_E_NOMEM;
    }
    kspec_status st = KSPEC_OK;
    for (size_t t = 0; t < a->trials && !st; t++)
        for (size_t i = 0; i < P && !st; i += band) {
            size_t n = P - i < band ? P - i : band;
            st = kspec_generate_rows(g, t, i, n, rows, err);
            if (!st) st = kspec_write_values(w, rows, n * a->cols, err);
        }
    free(rows);
    return st;
}

static int check(const generate_args *a) {
    if (!a->common.output)
        return cli_error(EXIT_USAGE,
                         "generate: -o FILE is missing (.npy, .csv or .json; - is npy on standard output)");
    const char *missing = !a->rows                              ? "rows"
                          : !a->cols                            ? "cols"
                          : !a->dim && !a->sigma && !a->sigma_x ? "dim"
                                                                : NULL;
    if (missing) return cli_error(EXIT_USAGE, "generate: --%s is missing", missing);
    if (a->noise_correlation && !cli_given(&a->common, "noise"))
        return cli_error(EXIT_USAGE, "generate: --noise-correlation needs --noise");
    if (cli_given(&a->common, "noise-share") && !a->noise_correlation)
        return cli_error(EXIT_USAGE, "generate: --noise-share needs --noise-correlation");
    if (cli_given(&a->common, "noise-share") && !(a->noise_share > 0 && a->noise_share <= 1))
        return cli_error(EXIT_USAGE, "--noise-share: %g is not above 0 and at most 1", a->noise_share);
    if (strcmp(a->common.output, "-") == 0 && a->common.json)
        return cli_error(EXIT_USAGE, "generate: --json and -o - would both write to standard output");
    return EXIT_DONE;
}

/* Returns the moments m(1) to m(6) of the kernel without noise, or null if they have no closed form in
 * doubles. */
static json_t *true_moments(const generate_args *a, const cli_covariances *c) {
    enum { ORDERS = 6 };
    double m[ORDERS], log_m[ORDERS], one = 1;
    kspec_status st;
    kspec_error err;
    if (a->common.what == KSPEC_PROCESS_LINEAR) {
        const cli_list *list = &a->eigenvalues;
        st = kspec_theory_linear_moments(list->count ? list->at : &one, list->count ? list->count : 1, a->dim,
                                         ORDERS, m, log_m, &err);
    } else if (c->eta) {
        st = kspec_theory_rbf_moments(c->eta, c->eta_count, ORDERS, m, log_m, &err);
    } else {
        double *eta = a->dim < PTRDIFF_MAX / sizeof *eta ? malloc(a->dim * sizeof *eta) : NULL;
        for (size_t i = 0; i < a->dim && eta; i++)
            eta[i] = a->eta.count ? a->eta.at[a->eta.count == 1 ? 0 : i] : 1;
        st = eta ? kspec_theory_rbf_moments(eta, a->dim, ORDERS, m, log_m, &err) : KSPEC_E_NOMEM;
        free(eta);
    }
    return st ? json_null() : cli_reals(m, ORDERS);
}

static kspec_status write_all(kspec_generator *g, const generate_args *a, kspec_error *err) {
    kspec_writer *w;
    size_t shape[3] = {a->trials, a->rows, a->cols};
    int one = a->trials == 1;
    kspec_status st = kspec_write_open(a->common.output, one ? 2 : 3, shape + one, &w, err);
    if (st) return st;
    st = stream(g, w, a, err);
    if (!st) return kspec_write_close(w, err);
    kspec_write_abort(w);
    return st;
}

static kspec_generate_opts make_opts(const generate_args *a, const cli_covariances *c) {
    return (kspec_generate_opts){
        .size = sizeof(kspec_generate_opts),
        .process = (kspec_process)a->common.what,
        .dim = a->dim,
        .eta = a->eta.at,
        .eta_count = a->eta.count,
        .Sigma = a->sigma ? &c->sigma : NULL,
        .Sigma_x = a->sigma_x ? &c->sigma_x : NULL,
        .eigenvalues = a->eigenvalues.at,
        .eigenvalue_count = a->eigenvalues.count,
        .noise = a->noise,
        .noise_correlation = (kspec_noise)a->noise_correlation,
        .noise_share = a->noise_share,
        .trials = a->trials,
        .seed = a->common.seed,
        .threads = a->common.threads,
        .progress = cli_progress(&a->common),
    };
}

typedef struct {
    const generate_args *a;
    const cli_covariances *c;
} output;

static json_t *to_json(const void *result) {
    const output *u = result;
    const generate_args *a = u->a;
    return json_pack("{s:s, s:I, s:I, s:I, s:I, s:I, s:o, s:o}", "process",
                     cli_choice_name(processes, a->common.what), "rows", (json_int_t)a->rows, "cols",
                     (json_int_t)a->cols, "trials", (json_int_t)a->trials, "dim", (json_int_t)a->dim, "seed",
                     (json_int_t)a->common.seed, "output", cli_string(a->common.output), "moments",
                     true_moments(a, u->c));
}

/* ---- the command ---- */

static int run(void *args) {
    generate_args *a = args;
    if (a->trials == 0) a->trials = 1;
    if (a->dim == 0 && !a->sigma && !a->sigma_x) a->dim = a->eta.count ? a->eta.count : a->eigenvalues.count;
    cli_covariances c = {0};
    int status = check(a);
    if (!status && (a->sigma || a->sigma_x))
        status = cli_read_covariances(&a->common, a->sigma, a->sigma_x, &a->dim, &c);
    if (status) return status;
    kspec_generate_opts opts = make_opts(a, &c);
    kspec_generator *g = NULL;
    kspec_error err;
    kspec_status st = kspec_generate_open(a->rows, a->cols, &opts, &g, &err);
    if (st)
        status = cli_fail(st, &err);
    else if ((st = write_all(g, a, &err)))
        status = cli_fail_writing(st, &err);
    else {
        if (a->trials > 1 && (a->trials > a->rows || a->trials > a->cols))
            cli_warn(&a->common,
                     "%s is %zu x %zu x %zu, whose first axis is not the shortest: read it with --axes "
                     "trials,rows,cols",
                     a->common.output, a->trials, a->rows, a->cols);
        status = cli_done(&a->common, NULL, to_json, &(output){a, &c});
    }
    if (g) kspec_generate_close(g);
    cli_covariances_free(&c);
    return status;
}

const cli_command cmd_generate = {
    .name = "generate",
    .summary = "write a random matrix whose kernel is known",
    .synopsis =
        "generate rff|gaussian --rows P --cols Q --dim D [--eta E[,E...] | --sigma FILE --sigma-x FILE] "
        "[--noise S] [--noise-correlation ALONG] [--trials T] -o FILE [OPTIONS]\n"
        "generate linear --rows P --cols Q --dim D [--eigenvalue C[,C...]] [--noise S] [--noise-correlation "
        "ALONG] "
        "[--trials T] -o FILE [OPTIONS]",
    .description = "Writes a P x Q matrix (T x P x Q with several trials) to FILE: .npy, .csv or .json.\n"
                   "  rff       sqrt(2) sin(w.x + b): random Fourier features of the kernel "
                   "exp(-E|x-x'|^2/2), x ~ N(0,I),\n"
                   "            or of exp(-(x-x')^T Sigma^-1 (x-x')/2), x ~ N(0, Sigma_x)\n"
                   "  gaussian  columns are draws of the Gaussian process with that kernel\n"
                   "  linear    sum of sqrt(C) x w over D dimensions, x and w standard normal",
    .what = processes,
    .options = options,
    .args_size = sizeof(generate_args),
    .writes_output = 1,
    .run = run,
};
