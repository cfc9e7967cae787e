/* kspec theory: computes moments and eigenvalues that are known in closed form. */
#include "commands/theory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ARG(field) offsetof(theory_args, field)

enum { RBF = 1u << THEORY_RBF, LINEAR = 1u << THEORY_LINEAR, SPHERE = 1u << THEORY_SPHERE };

/* clang-format off */
static const cli_option options[] = {
    {"dim",         0,   OPT_SIZE,   ARG(dim),         "D",
     "dimension of the inputs (rbf, linear: as many as values are given)", .min = 1},
    {"n",           'n', OPT_INT,    ARG(nmax),        "NMAX",
     "highest order of the moments (default 6)", .min = 1},
    {"eta",         0,   OPT_LIST,   ARG(eta),         "E[,E...]",
     "rbf: eigenvalues of Sigma_x Sigma^-1, one for all or one per dimension", .of = RBF},
    {"sigma",       0,   OPT_STRING, ARG(sigma),       "FILE",
     "rbf: matrix Sigma of the kernel, from any INPUT (default: identity)", .of = RBF},
    {"sigma-x",     0,   OPT_STRING, ARG(sigma_x),     "FILE",
     "rbf: covariance Sigma_x of the inputs, from any INPUT (default: identity)", .of = RBF},
    {"eigenvalues", 0,   OPT_SIZE,   ARG(eigenvalues), "K",
     "rbf: also list the K largest eigenvalues", .min = 1, .of = RBF},
    {"eigenfunctions", 0, OPT_STRING, ARG(eigenfunctions), "POINTS",
     "rbf: also list the eigenfunctions at the rows of this INPUT", .of = RBF},
    {"eigenvalue",  0,   OPT_LIST,   ARG(eigenvalue),  "C[,C...]",
     "linear: the eigenvalues, one for all or one per dimension", .of = LINEAR},
    {"kernel",      0,   OPT_CHOICE, ARG(kernel),      "KERNEL",
     "sphere: gaussian, polynomial or ntk", theory_sphere_kernels, .of = SPHERE},
    {"degree",      0,   OPT_SIZE,   ARG(degree),      "KMAX",
     "sphere: list degrees 0 to KMAX, at most 1000 (10)", .of = SPHERE},
    {"scale",       0,   OPT_DOUBLE, ARG(scale),       "S",
     "sphere, gaussian: kernel exp(-|x-y|^2/S^2) (1)", .of = SPHERE},
    {"power",       0,   OPT_SIZE,   ARG(power),       "Q",
     "sphere, polynomial: kernel (1+<x,y>)^Q (2)", .of = SPHERE},
    {"check",       0,   OPT_FLAG,   ARG(check),       NULL,
     "sum the eigenvalues and compare with the moments in closed form"},
    {0},
};

static const cli_choice spaces[] = {
    {"rbf", THEORY_RBF}, {"linear", THEORY_LINEAR}, {"sphere", THEORY_SPHERE}, {0},
};
/* clang-format on */

int theory_room(theory_spectrum *s, size_t count, int multiplicities) {
    double *all = calloc((multiplicities ? 4 : 2) * count, sizeof *all);
    if (!all) return cli_error(EXIT_FAILED, "out of memory for %zu eigenvalues", count);
    s->count = count;
    s->lambda = all, s->log_lambda = all + count;
    if (multiplicities) s->N = all + 2 * count, s->log_N = all + 3 * count;
    return EXIT_DONE;
}

/* Returns log sum_k N_k lambda_k^n. The sum is in units of its largest term, which may be beyond the
 * range of doubles. */
static long double log_sum(const theory_spectrum *s, int n) {
    long double unit = -INFINITY, sum = 0;
    for (int pass = 0; pass < 2; pass++)
        for (size_t k = 0; k < s->count; k++) {
            long double term = n * (long double)s->log_lambda[k] + (s->N ? s->log_N[k] : 0);
            /* The loop can stop here: the terms decrease, and even 10^8 more terms would add nothing
             * visible. */
            if (!s->N && term < unit - 60) break;
            if (pass == 0)
                unit = fmaxl(unit, term);
            else if (isfinite(term))
                sum += expl(term - unit);
        }
    return sum > 0 ? unit + logl(sum) : -INFINITY; /* the loop finds no term if every eigenvalue is 0 */
}

/* ---- output ---- */

/* Writes whole numbers as integers, as long as a double is exact. */
static json_t *wholes(const double *N, size_t count) {
    json_t *list = json_array();
    for (size_t k = 0; k < count; k++)
        json_array_append_new(list, N[k] < 0x1p53 ? json_integer((json_int_t)N[k]) : cli_real(N[k]));
    return list;
}

typedef struct {
    const theory_args *a;
    const theory_spectrum *s;
} output;

/* Holds the moment of order n as a sum over the eigenvalues, and the relative difference from the closed
 * form. */
typedef struct {
    double sum, log_sum, off;
} comparison;

static comparison compare(const theory_spectrum *s, int n) {
    long double log_s = log_sum(s, n);
    double log_m = s->log_m[n - 1];
    /* Equal logarithms mean no difference. If all eigenvalues are 0, both logarithms are minus infinity. */
    return (comparison){(double)expl(log_s), (double)log_s,
                        log_s == log_m ? 0 : (double)expm1l(log_s - log_m)};
}

static json_t *comparisons_json(const theory_spectrum *s) {
    json_t *list = json_array();
    for (int n = 1; n <= s->closed; n++) {
        comparison c = compare(s, n);
        json_array_append_new(list, json_pack("{s:i, s:o, s:o, s:o}", "n", n, "moment", cli_real(s->m[n - 1]),
                                              "sum", cli_real(c.sum), "discrepancy", cli_real(c.off)));
    }
    return list;
}

static json_t *to_json(const void *result) {
    const output *u = result;
    const theory_spectrum *s = u->s;
    size_t orders = (size_t)u->a->nmax;
    json_t *o = json_copy(s->about);
    json_object_set_new(o, "moments", cli_reals(s->m, orders));
    json_object_set_new(o, "log_moments", cli_reals(s->log_m, orders));
    if (s->listed) {
        json_object_set_new(o, "eigenvalues", cli_reals(s->lambda, s->count));
        json_object_set_new(o, "log_eigenvalues", cli_reals(s->log_lambda, s->count));
    }
    if (s->functions) {
        json_object_set_new(o, "points", cli_real_rows(s->at, s->points, s->dim));
        json_object_set_new(o, "eigenfunctions", cli_real_rows(s->functions, s->points, s->count));
    }
    if (s->N) {
        json_object_set_new(o, "multiplicities", wholes(s->N, s->count));
        json_object_set_new(o, "log_multiplicities", cli_reals(s->log_N, s->count));
    }
    if (u->a->check) json_object_set_new(o, "check", comparisons_json(s));
    return o;
}

/* Prints a number, or its logarithm if it is beyond the range of doubles. */
static void number(FILE *f, int width, double x, double log_x) {
    char text[40];
    if (isnan(log_x))
        snprintf(text, sizeof text, "unknown");
    else if (isinf(x) || (x == 0 && isfinite(log_x)))
        snprintf(text, sizeof text, "exp(%.15g)", log_x);
    else
        snprintf(text, sizeof text, "%.15g", x);
    fprintf(f, "  %-*s", width, text);
}

static void print_eigenvalues(FILE *f, const theory_args *a, const theory_spectrum *s) {
    fprintf(f, "\n%s%s  eigenvalue%s%s\n", cli_bold(&a->common), s->index ? s->index : "   k",
            s->N ? "              multiplicity" : "", cli_plain(&a->common));
    int width = s->index ? (int)strlen(s->index) : 4;
    for (size_t k = 0; k < s->count; k++) {
        fprintf(f, "%*zu", width, s->index ? k : k + 1);
        number(f, s->N ? 22 : 0, s->lambda[k], s->log_lambda[k]);
        if (s->N) number(f, 0, s->N[k], s->log_N[k]);
        fputc('\n', f);
    }
}

/* Prints a row for each eigenvalue: the eigenfunction's values at the first points, one column per point. */
static void print_functions(FILE *f, const theory_args *a, const theory_spectrum *s) {
    enum { MOST = 6 };
    const size_t shown = s->points < MOST ? s->points : MOST;
    fprintf(f, "\n%s   k  eigenfunction at point 1%s%zu%s\n", cli_bold(&a->common), shown > 1 ? " to " : "",
            shown, cli_plain(&a->common));
    for (size_t k = 0; k < s->count; k++) {
        fprintf(f, "%4zu", k + 1);
        for (size_t i = 0; i < shown; i++) fprintf(f, "  %12.6g", s->functions[i * s->count + k]);
        fputc('\n', f);
    }
    if (shown < s->points) fprintf(f, "--json lists all %zu points\n", s->points);
}

/* Prints the moments in closed form next to the sums over the listed eigenvalues. */
static void print_comparisons(FILE *f, const theory_args *a, const theory_spectrum *s) {
    char title[40];
    snprintf(title, sizeof title, "sum over %zu", s->count);
    fprintf(f, "\n%s   n  %-22s  %-22s  sum / closed form - 1%s\n", cli_bold(&a->common), "closed form",
            title, cli_plain(&a->common));
    for (int n = 1; n <= s->closed; n++) {
        comparison c = compare(s, n);
        fprintf(f, "%4d", n);
        number(f, 22, s->m[n - 1], s->log_m[n - 1]);
        number(f, 22, c.sum, c.log_sum);
        fprintf(f, "  %.2g\n", c.off);
    }
}

static void print_table(FILE *f, const void *result) {
    const output *u = result;
    const theory_args *a = u->a;
    const theory_spectrum *s = u->s;
    fprintf(f, "%s\n\n%s   n  moment m(n) = sum of lambda^n%s\n", s->title, cli_bold(&a->common),
            cli_plain(&a->common));
    for (int n = 1; n <= a->nmax; n++) {
        fprintf(f, "%4d", n);
        number(f, 0, s->m[n - 1], s->log_m[n - 1]);
        fputc('\n', f);
    }
    if (s->listed) print_eigenvalues(f, a, s);
    if (s->functions) print_functions(f, a, s);
    if (a->check) print_comparisons(f, a, s);
}

/* ---- the command ---- */

static int run(void *args) {
    static int (*const fill[])(theory_args * a, theory_spectrum * s) = {
        [THEORY_RBF] = theory_rbf, [THEORY_LINEAR] = theory_linear, [THEORY_SPHERE] = theory_sphere};
    theory_args *a = args;
    if (a->nmax == 0) a->nmax = 6;
    if (a->nmax > 100000) return cli_error(EXIT_USAGE, "-n: %d is not between 1 and 100000", a->nmax);
    theory_spectrum s = {.m = calloc(2 * (size_t)a->nmax, sizeof(double))};
    if (!s.m) return cli_no_memory();
    s.log_m = s.m + a->nmax;
    int status = fill[a->common.what](a, &s);
    if (!status) status = cli_done(&a->common, print_table, to_json, &(output){a, &s});
    json_decref(s.about);
    free(s.m);
    free(s.lambda);
    free(s.functions);
    free(s.at);
    return status;
}

const cli_command cmd_theory = {
    .name = "theory",
    .summary = "print moments and eigenvalues that are known in closed form",
    .synopsis = "theory rbf (--eta E[,E...] | --sigma FILE --sigma-x FILE) [--dim D] [-n NMAX] "
                "[--eigenvalues K] [--eigenfunctions POINTS] [--check] "
                "[OPTIONS]\n"
                "theory linear --eigenvalue C[,C...] [--dim D] [-n NMAX] [--check] [OPTIONS]\n"
                "theory sphere --kernel KERNEL --dim D [--degree KMAX] [--scale S] [--power Q] [-n NMAX] "
                "[--check] [OPTIONS]",
    .description = "Spectral moments m(n) and eigenvalues of kernels whose spectrum is known:\n"
                   "  rbf     exp(-(x-x')^T Sigma^-1 (x-x')/2) under inputs x ~ N(0, Sigma_x)\n"
                   "  linear  sum of C x x' over D dimensions, x standard normal\n"
                   "  sphere  gaussian, polynomial and ReLU tangent kernels, x uniform on the unit sphere of "
                   "D dimensions",
    .what = spaces,
    .options = options,
    .args_size = sizeof(theory_args),
    .run = run,
};
