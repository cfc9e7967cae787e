/* Computes the spectrum of a linear kernel for `kspec theory`. */
#include "commands/theory.h"

#include <math.h>

int theory_linear(theory_args *a, theory_spectrum *s) {
    cli_list *c = &a->eigenvalue;
    if (c->count == 0) return cli_error(EXIT_USAGE, "theory linear: --eigenvalue is missing");
    if (a->dim == 0) a->dim = c->count;
    kspec_error err;
    kspec_status st = kspec_theory_linear_moments(c->at, c->count, a->dim, a->nmax, s->m, s->log_m, &err);
    if (st) return cli_fail(st, &err);
    int status = theory_room(s, c->count, 1);
    if (status) return status;

    /* after sorting, this loop merges equal eigenvalues and counts them */
    cli_sort(c->at, c->count);
    s->count = 0;
    for (size_t l = c->count; l-- > 0;) {
        if (l + 1 < c->count && c->at[l] == c->at[l + 1]) {
            s->N[s->count - 1]++;
        } else {
            s->lambda[s->count] = c->at[l];
            s->N[s->count++] = c->count == 1 ? (double)a->dim : 1;
        }
    }
    for (size_t l = 0; l < s->count; l++) {
        s->log_lambda[l] = log(s->lambda[l]);
        s->log_N[l] = log(s->N[l]);
    }
    s->listed = 1;
    s->closed = a->nmax;
    s->about = json_pack("{s:s, s:I}", "kernel", "linear", "dim", (json_int_t)a->dim);
    snprintf(s->title, sizeof s->title, "linear kernel, Gaussian inputs in %zu dimension%s", a->dim,
             cli_s(a->dim));
    return EXIT_DONE;
}
