/* Reads the covariances of an RBF kernel and of its inputs. */
#include "core/cli.h"

#include <stdlib.h>

/* Reads one square matrix from a file. */
static int read_square(const cli_common *c, const char *role, const char *option, const char *file,
                       kspec_dataset **data, kspec_matrix *m) {
    const kspec_read_opts how = {.size = sizeof how};
    int status = cli_read_one(c, role, file, &how, data);
    if (status) return status;
    const kspec_dataset *d = *data;
    *m = kspec_dataset_trial(d, 0);
    if (d->rows == d->cols) return EXIT_DONE;
    return cli_error(EXIT_INPUT, "%s: %s is %zu x %zu, not square", option, file, d->rows, d->cols);
}

int cli_read_covariances(const cli_common *common, const char *sigma, const char *sigma_x, size_t *dim,
                         cli_covariances *c) {
    *c = (cli_covariances){0};
    int status = EXIT_DONE;
    if (sigma) status = read_square(common, "sigma", "--sigma", sigma, &c->data[0], &c->sigma);
    if (!status && sigma_x)
        status = read_square(common, "sigma_x", "--sigma-x", sigma_x, &c->data[1], &c->sigma_x);
    size_t d = sigma ? c->sigma.rows : c->sigma_x.rows;
    if (!status && sigma && sigma_x && c->sigma_x.rows != d)
        status = cli_error(EXIT_INPUT, "Sigma has %zu dimensions, Sigma_x %zu", d, c->sigma_x.rows);
    if (!status && *dim && *dim != d)
        status = cli_error(EXIT_USAGE, "--dim is %zu, but %s has %zu dimensions", *dim,
                           sigma ? sigma : sigma_x, d);
    if (!status) {
        kspec_error err = {KSPEC_E_NOMEM, "out of memory"};
        kspec_status st = KSPEC_E_NOMEM;
        c->eta = malloc(d * sizeof *c->eta);
        if (c->eta)
            st = kspec_theory_rbf_eta(sigma ? &c->sigma : NULL, sigma_x ? &c->sigma_x : NULL, c->eta,
                                      &c->eta_count, &err);
        if (st) status = cli_fail_data(st, &err);
    }
    if (status)
        cli_covariances_free(c);
    else
        *dim = d;
    return status;
}

void cli_covariances_free(cli_covariances *c) {
    kspec_free(c->data[0]);
    kspec_free(c->data[1]);
    free(c->eta);
}
