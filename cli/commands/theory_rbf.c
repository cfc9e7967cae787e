/* Computes the spectrum of an RBF kernel for `kspec theory`. */
#include "commands/theory.h"

#include <stdlib.h>

/* Default numbers: of the eigenvalues that --check sums, and of the functions that --eigenfunctions lists. */
enum { CHECKED = 1000000, FUNCTIONS = 10 };

/* Finds the parameter eta of every dimension: from a list, from one value for all dimensions, or from two
 * covariance matrices. Sets a->dim. */
static int find_eta(theory_args *a, double **eta, size_t *count) {
    if (a->sigma || a->sigma_x) {
        if (a->eta.count)
            return cli_error(EXIT_USAGE, "theory rbf takes --eta or --sigma and --sigma-x, not both");
        cli_covariances c;
        int status = cli_read_covariances(&a->common, a->sigma, a->sigma_x, &a->dim, &c);
        if (status) return status;
        *eta = c.eta, *count = c.eta_count;
        c.eta = NULL;
        cli_covariances_free(&c);
        return EXIT_DONE;
    }
    if (a->eta.count == 0)
        return cli_error(EXIT_USAGE, "theory rbf: --eta, or --sigma and --sigma-x, is missing");
    if (a->dim == 0) a->dim = a->eta.count;
    if (a->eta.count != 1 && a->eta.count != a->dim)
        return cli_error(EXIT_USAGE, "theory rbf: --eta has %zu value%s, --dim is %zu", a->eta.count,
                         cli_s(a->eta.count), a->dim);
    if (a->dim > 1000000) return cli_error(EXIT_USAGE, "--dim: %zu exceeds 1000000", a->dim);
    *count = a->dim;
    *eta = malloc(a->dim * sizeof **eta);
    if (!*eta) return cli_no_memory();
    for (size_t i = 0; i < a->dim; i++) (*eta)[i] = a->eta.at[a->eta.count == 1 ? 0 : i];
    return EXIT_DONE;
}

/*
 * Computes the eigenfunctions at the points of a file, in coordinates in which the inputs are standard
 * normal.
 */
static int find_functions(const theory_args *a, const double *eta, size_t dim, theory_spectrum *s) {
    kspec_dataset *d = NULL;
    kspec_error err;
    const kspec_read_opts how = {.size = sizeof how};
    int status = cli_read_one(&a->common, "eigenfunctions", a->eigenfunctions, &how, &d);
    if (status) return status;
    const kspec_matrix points = kspec_dataset_trial(d, 0);
    if (points.cols != dim) {
        status = cli_error(EXIT_INPUT, "--eigenfunctions: %s has points in %zu dimension%s, --dim is %zu",
                           a->eigenfunctions, points.cols, cli_s(points.cols), dim);
    } else {
        s->points = points.rows, s->dim = dim;
        s->functions = calloc(points.rows, s->count * sizeof *s->functions);
        s->at = calloc(points.rows, dim * sizeof *s->at);
        if (!s->functions || !s->at) status = cli_no_memory();
    }
    for (size_t i = 0; i < s->points * s->dim && !status; i++)
        s->at[i] =
            points.data[(ptrdiff_t)(i / dim) * points.row_stride + (ptrdiff_t)(i % dim) * points.col_stride];
    if (!status) {
        kspec_status st = kspec_theory_rbf_eigenfunctions(eta, dim, &points, s->count, s->functions, &err);
        if (st) status = cli_fail(st, &err);
    }
    kspec_free(d);
    return status;
}

int theory_rbf(theory_args *a, theory_spectrum *s) {
    if (a->eigenfunctions && (a->sigma || a->sigma_x))
        return cli_error(EXIT_USAGE, "theory rbf: --eigenfunctions needs --eta, not --sigma or --sigma-x");
    if (a->eigenfunctions && a->eigenvalues == 0) a->eigenvalues = FUNCTIONS;

    if (a->eigenvalues > 100000000)
        return cli_error(EXIT_USAGE, "--eigenvalues: %zu exceeds 100000000", a->eigenvalues);
    double *eta = NULL;
    size_t dim = 0;
    int status = find_eta(a, &eta, &dim);
    if (status) return status;
    s->listed = a->eigenvalues > 0;
    if (s->listed || a->check) status = theory_room(s, s->listed ? a->eigenvalues : CHECKED, 0);
    if (!status) {
        kspec_error err;
        kspec_status st = kspec_theory_rbf_moments(eta, dim, a->nmax, s->m, s->log_m, &err);
        if (!st && s->count)
            st = kspec_theory_rbf_eigenvalues(eta, dim, s->count, s->lambda, s->log_lambda, &err);
        if (st) status = cli_fail(st, &err);
    }
    if (!status && a->eigenfunctions) status = find_functions(a, eta, dim, s);
    s->closed = a->nmax;
    s->about =
        json_pack("{s:s, s:I, s:o}", "kernel", "rbf", "dim", (json_int_t)a->dim, "eta", cli_reals(eta, dim));
    int n = snprintf(s->title, sizeof s->title, "RBF kernel, Gaussian inputs in %zu dimension%s", a->dim,
                     cli_s(a->dim));
    if (dim < a->dim) snprintf(s->title + n, sizeof s->title - (size_t)n, ", in %zu of which they vary", dim);
    free(eta);
    return status;
}
