/* Declares the parts that the kernels of `kspec theory` share. Each kernel has a file theory_KERNEL.c
 * with one function, which computes a theory_spectrum from the arguments. A table in theory.c lists these
 * functions, and theory.c prints the spectrum. */
#pragma once

#include "core/cli.h"

typedef struct {
    cli_common common;
    size_t dim, degree, eigenvalues, power;
    cli_list eta, eigenvalue;
    double scale;
    int nmax, check, kernel;
    const char *sigma, *sigma_x, *eigenfunctions;
} theory_args;

/* The first argument */
enum { THEORY_RBF, THEORY_LINEAR, THEORY_SPHERE };

/* The kernels of the family kspec_sphere: gaussian, polynomial and ntk. */
extern const cli_choice theory_sphere_kernels[];

typedef struct {
    char title[160];
    /* The kernel's description in the JSON object */
    json_t *about;
    /* m(1) ... m(nmax). The first `closed` of them are closed forms, which --check compares with sums */
    double *m, *log_m;
    int closed;
    /* The eigenvalues and their multiplicities N. If N is NULL, each eigenvalue is repeated by its
     * multiplicity. */
    size_t count;
    double *lambda, *log_lambda;
    double *N, *log_N;
    /* `listed` is 1 if the eigenvalues are printed; their index is "k" from 1, or "degree" from 0. */
    int listed;
    const char *index;
    /* The values of `count` eigenfunctions at some points (points x count), or NULL. `at` holds the
     * points (points x dim). */
    size_t points, dim;
    double *functions, *at;
} theory_spectrum;

/* Allocates `count` eigenvalues, and multiplicities on request; returns an exit status. */
int theory_room(theory_spectrum *s, size_t count, int multiplicities);

/* The function of each kernel computes a spectrum and returns an exit status. On failure it prints a
 * message. */
int theory_rbf(theory_args *a, theory_spectrum *s);
int theory_linear(theory_args *a, theory_spectrum *s);
int theory_sphere(theory_args *a, theory_spectrum *s);
