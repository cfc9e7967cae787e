/* kspec wls decay: computes the singular values of a kernel matrix, and the exponent of their decay. */
#include "commands/wls.h"

/* clang-format off */
const cli_choice wls_kernels[] = {
    {"gaussian", KSPEC_WLS_KERNEL_GAUSSIAN}, {"polynomial", KSPEC_WLS_KERNEL_POLYNOMIAL}, {0},
};

static const cli_option options[] = {WLS_DECAY_OPTIONS, WLS_SELECT_OPTIONS, {0}};
/* clang-format on */

typedef struct {
    const wls_args *a;
    const kspec_dataset *d;
    const kspec_wls_decay_result *r;
} output;

static json_t *to_json(const void *result) {
    const output *u = result;
    return json_pack("{s:s, s:I, s:I, s:s, s:o, s:o}", "mode", "decay", "rows", (json_int_t)u->d->rows,
                     "cols", (json_int_t)u->d->cols, "kernel", cli_choice_name(wls_kernels, u->a->kernel),
                     "exponent", cli_real(u->r->exponent), "singular_values",
                     cli_reals(u->r->values, u->r->count));
}

static void print_table(FILE *f, const void *result) {
    const output *u = result;
    size_t rows = u->d->rows, cols = u->d->cols;
    fprintf(f, "%s kernel on %zu row%s of %zu column%s: singular values like k^-%.3g\n\n",
            u->a->kernel == KSPEC_WLS_KERNEL_POLYNOMIAL ? "polynomial" : "Gaussian", rows, cli_s(rows), cols,
            cli_s(cols), u->r->exponent);
    fprintf(f, "%s%8s  %14s%s\n", cli_bold(&u->a->common), "k", "singular value", cli_plain(&u->a->common));
    for (size_t k = 1; k <= rows; k *= 2) fprintf(f, "%8zu  %14.6g\n", k, u->r->values[k - 1]);
}

static int run(void *args) {
    wls_args *a = args;
    kspec_dataset *d = NULL;
    int polynomial = a->kernel == KSPEC_WLS_KERNEL_POLYNOMIAL;
    a->decay = a->common.inputs[0];
    if (a->degree && !polynomial)
        return cli_error(EXIT_USAGE, "wls decay: --degree needs --kernel polynomial");
    int status = wls_read(a, NULL, a->decay, 1, 1, &d);
    if (status) return status;
    const kspec_wls_decay_opts o = {.size = sizeof o,
                                    .kernel = (kspec_wls_kernel)a->kernel,
                                    .sigma = polynomial ? 0 : a->sigma,
                                    .slope = polynomial ? a->sigma : 0,
                                    .degree = a->degree,
                                    .unit_sphere = a->unit,
                                    .threads = a->common.threads,
                                    .progress = cli_progress(&a->common)};
    kspec_matrix X = kspec_dataset_trial(d, 0);
    kspec_wls_decay_result *r;
    kspec_error err;
    kspec_status st = kspec_wls_decay(&X, &o, &r, &err);
    if (st == KSPEC_E_ARG || st == KSPEC_E_DATA) /* the file could be read, but its contents are wrong */
        status = cli_error(EXIT_INPUT, "%s: %s", a->decay, err.msg);
    else
        status = st ? cli_fail(st, &err) : cli_done(&a->common, print_table, to_json, &(output){a, d, r});
    kspec_free(r);
    kspec_free(d);
    return status;
}

const cli_command wls_decay = {
    .name = "wls decay",
    .synopsis = "wls decay X [--kernel K] [--sigma S] [--degree q] [--unit] [OPTIONS]",
    .description = "Computes the singular values of the kernel matrix of the rows of X, and the power by "
                   "which they decay.",
    .options = options,
    .args_size = sizeof(wls_args),
    .takes_files = 1,
    .most_inputs = 1,
    .run = run,
};
