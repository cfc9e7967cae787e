/*
 * What the verbs of `kspec theory` share. A verb is a file theory_VERB.c with one function, which fills a
 * theory_spectrum from the arguments, and a line in the table of theory.c, which prints it.
 */
#ifndef KSPEC_CLI_THEORY_H
#define KSPEC_CLI_THEORY_H

#include "core/cli.h"

typedef struct {
    cli_common common;
    size_t dim, degree, eigenvalues, power;
    cli_list eta, eigenvalue;
    double scale;
    int nmax, check;
    const char *kernel, *sigma, *sigma_x;
} theory_args;

typedef struct {
    char title[160];
    json_t *about;     /* what the JSON says of the kernel */
    double *m, *log_m; /* m(1) ... m(nmax), to be filled by the verb */
    int closed;        /* how many of them are closed forms, against which a sum can be checked */
    size_t count;      /* eigenvalues */
    double *lambda, *log_lambda;
    double *N, *log_N; /* their multiplicities; NULL: each is repeated as often as it occurs */
    int listed;        /* are they printed? */
    const char *index; /* what numbers them: "k" from 1, or "degree" from 0 */
} theory_spectrum;

/* Makes room for `count` eigenvalues, and for multiplicities if wanted; an exit status. */
int theory_room(theory_spectrum *s, size_t count, int multiplicities);

/* The verbs: each returns an exit status after a message. */
int theory_rbf(theory_args *a, theory_spectrum *s);
int theory_linear(theory_args *a, theory_spectrum *s);
int theory_sphere(theory_args *a, theory_spectrum *s);

#endif
