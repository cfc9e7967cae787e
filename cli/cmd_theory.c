#include "cli.h"

#include <stdlib.h>

typedef struct {
    cli_common common;
    size_t dim;
    cli_list eta;
    int nmax;
    size_t eigenvalues;
} theory_args;

#define ARG(field) offsetof(theory_args, field)

static const cli_option options[] = {
    {"dim", 0, OPT_SIZE, ARG(dim), "D", "dimension of the inputs (default: as many as --eta has)", .min = 1},
    {"eta", 0, OPT_LIST, ARG(eta), "E[,E...]", "eigenvalues of Sigma_x Sigma^-1: one, or one per dimension"},
    {"n", 'n', OPT_INT, ARG(nmax), "NMAX", "highest order of the moments (default 6)", .min = 1},
    {"eigenvalues", 0, OPT_SIZE, ARG(eigenvalues), "K", "list the K largest eigenvalues, too", .min = 1},
    {0},
};

/* One value of eta stands for every dimension. */
static int spread(theory_args *a) {
    if (a->eta.count == 0) return cli_error(EXIT_USAGE, "theory rbf: --eta is missing");
    if (a->dim == 0) a->dim = a->eta.count;
    if (a->eta.count != 1 && a->eta.count != a->dim)
        return cli_error(EXIT_USAGE, "theory rbf: --eta has %zu values, --dim is %zu", a->eta.count, a->dim);
    if (a->dim > 1000000) return cli_error(EXIT_USAGE, "--dim: %zu exceeds 1000000", a->dim);
    double first = a->eta.at[0];
    if (a->eta.count == 1) {
        double *all = realloc(a->eta.at, a->dim * sizeof *all);
        if (!all) return cli_error(EXIT_FAILED, "out of memory");
        for (size_t i = 0; i < a->dim; i++) all[i] = first;
        a->eta = (cli_list){all, a->dim};
    }
    return EXIT_DONE;
}

static void print_table(const theory_args *a, const double *m, const double *lambda) {
    FILE *f = cli_text();
    const char *bold = cli_bold(&a->common), *plain = cli_plain(&a->common);
    fprintf(f, "RBF kernel, Gaussian inputs in %zu dimension%s\n\n", a->dim, a->dim == 1 ? "" : "s");
    fprintf(f, "%s   n  moment m(n) = sum of lambda^n%s\n", bold, plain);
    for (int n = 1; n <= a->nmax; n++) fprintf(f, "%4d  %.15g\n", n, m[n - 1]);
    if (a->eigenvalues) fprintf(f, "\n%s   k  eigenvalue%s\n", bold, plain);
    for (size_t k = 0; k < a->eigenvalues; k++) fprintf(f, "%4zu  %.15g\n", k + 1, lambda[k]);
}

static int run(void *args) {
    theory_args *a = args;
    int status = spread(a);
    if (status) return status;
    if (a->nmax == 0) a->nmax = 6;
    if (a->nmax < 0 || a->nmax > 100000)
        return cli_error(EXIT_USAGE, "-n: %d is not between 1 and 100000", a->nmax);
    if (a->eigenvalues > 100000000)
        return cli_error(EXIT_USAGE, "--eigenvalues: %zu exceeds 100000000", a->eigenvalues);

    double *m = calloc(2 * (size_t)a->nmax, sizeof *m),
           *lambda = calloc(2 * a->eigenvalues + 1, sizeof *lambda);
    kspec_error err;
    kspec_status st = KSPEC_OK;
    if (!m || !lambda) {
        status = cli_error(EXIT_FAILED, "out of memory for %zu eigenvalues", a->eigenvalues);
        goto done;
    }
    double *log_m = m + a->nmax, *log_lambda = lambda + a->eigenvalues;
    st = kspec_theory_rbf_moments(a->eta.at, a->dim, a->nmax, m, log_m, &err);
    if (!st && a->eigenvalues)
        st = kspec_theory_rbf_eigenvalues(a->eta.at, a->dim, a->eigenvalues, lambda, log_lambda, &err);
    if (st) {
        status = cli_fail(st, &err);
        goto done;
    }
    json_t *o = NULL;
    if (a->common.json) {
        o = json_pack("{s:s, s:s, s:I, s:o, s:o}", "command", "theory", "kernel", "rbf", "dim",
                      (json_int_t)a->dim, "eta", cli_reals(a->eta.at, a->eta.count), "moments",
                      cli_reals(m, (size_t)a->nmax));
        json_object_set_new(o, "log_moments", cli_reals(log_m, (size_t)a->nmax));
        if (a->eigenvalues) {
            json_object_set_new(o, "eigenvalues", cli_reals(lambda, a->eigenvalues));
            json_object_set_new(o, "log_eigenvalues", cli_reals(log_lambda, a->eigenvalues));
        }
    } else {
        print_table(a, m, lambda);
    }
    status = cli_finish(&a->common, o);
done:
    free(m);
    free(lambda);
    return status;
}

const cli_command cmd_theory = {
    .name = "theory",
    .summary = "moments and eigenvalues that are known in closed form",
    .synopsis = "theory rbf --eta E[,E...] [--dim D] [-n NMAX] [--eigenvalues K] [OPTIONS]",
    .description =
        "Spectral moments m(n), and the largest eigenvalues repeated by multiplicity, of the kernel\n"
        "exp(-(x-x')^T Sigma^-1 (x-x')/2) under inputs x ~ N(0, Sigma_x).",
    .verbs = "rbf",
    .options = options,
    .args_size = sizeof(theory_args),
    .run = run,
};
