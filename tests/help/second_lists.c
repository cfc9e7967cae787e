/*
 * second_lists: reads pairs of matrices, and prints what the library makes of them to second order, for
 * tests/cli/second_order.py. A pair is "centred trials P Q R" and its entries, those of the first matrix's
 * trials and then those of the second's. A line is a name and numbers: a list's rounding (all, a row, a
 * column), its exponent and its values; or a value and its rounding.
 */
#include "kspec.h"
#include "moments/second.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static void print_list(const char *name, const double *x, size_t count, const ks_lost *lost, int exponent) {
    printf("%s %a %a %a %d", name, lost->all, lost->row, lost->col, exponent);
    for (size_t k = 0; k < count; k++) printf(" %a", x[k]);
    putchar('\n');
}

static void print_lists(const ks_run *run, ks_measured *first, ks_measured *second, ks_arena *arena) {
    kspec_error err;
    ks_second s[2];
    double *cross, own;
    ks_lost lost;
    ks_measured *m[2] = {first, second};
    for (int k = 0; k < 2; k++) {
        if (ks_second_make(run, m[k], 3, 0, &s[k], arena, &err)) return (void)printf("failed %s\n", err.msg);
        const size_t count = 1 + s[k].P + s[k].Q;
        print_list(k ? "trace2" : "trace", s[k].trace, count, &s[k].lost[0], 2 * s[k].exponent);
        print_list(k ? "square2" : "square", s[k].square, count, &s[k].lost[1], 4 * s[k].exponent);
        print_list(k ? "moment2" : "moment", s[k].moment, count, &s[k].lost[2], 4 * s[k].exponent);
    }
    if (ks_cross_make(run, first, second, 3, 0, &cross, &lost, &own, arena, &err))
        return (void)printf("failed %s\n", err.msg);
    print_list("cross", cross, 1 + s[0].P + s[0].Q + s[1].Q, &lost, 2 * (s[0].exponent + s[1].exponent));
}

static void print_results(const kspec_matrix *phi, const kspec_matrix *psi, size_t trials, int centred) {
    const kspec_center center = centred ? KSPEC_CENTER_ROWS : KSPEC_CENTER_NONE;
    kspec_dimension_opts o = {.size = sizeof o, .center = center, .threads = 1};
    kspec_compare_opts p = {.size = sizeof p, .center = center, .threads = 1};
    kspec_dimension_result *d = NULL;
    kspec_compare_result *c = NULL;
    kspec_error err;
    if (kspec_dimension(phi, trials, &o, &d, &err))
        printf("refused dimension: %s\n", err.msg);
    else
        printf("dimension %a %a %a %a\n", d->dimension, d->rounding, d->ci_low, d->ci_high);
    if (kspec_compare(phi, trials, psi, trials, &p, &c, &err))
        printf("refused compare: %s\n", err.msg);
    else
        printf("alignment %a %a %a %a\n", c->alignment, c->alignment_rounding, c->alignment_ci_low,
               c->alignment_ci_high);
    for (size_t k = 0; c && k < c->count; k++)
        printf("difference%d %a %a\n", c->differences[k]->n, c->differences[k]->value,
               c->differences[k]->rounding);
    kspec_free(d);
    kspec_free(c);
}

int main(void) {
    int centred;
    size_t T, P, Q, R;
    while (scanf("%d %zu %zu %zu %zu", &centred, &T, &P, &Q, &R) == 5) {
        const double all[2] = {INFINITY, INFINITY};
        const size_t cols[2] = {Q, R};
        const ks_run run = {.threads = 1, .to = 1};
        kspec_matrix phi[2][4];
        ks_measured m[2];
        ks_arena arena = {0};
        kspec_error err;
        int fails = T > 4;
        for (int k = 0; k < 2; k++)
            for (size_t t = 0; t < T && !fails; t++) {
                double *x = ks_arena_alloc(&arena, P * cols[k], sizeof *x);
                phi[k][t] = (kspec_matrix){x, P, cols[k], (ptrdiff_t)cols[k], 1};
                for (size_t i = 0; i < P * cols[k] && !fails; i++) fails = !x || scanf("%la", &x[i]) != 1;
            }
        for (int k = 0; k < 2 && !fails; k++)
            if (ks_measured_open(&m[k], phi[k], T, NULL, all, centred, "a matrix", &arena, &err))
                fails = printf("failed %s\n", err.msg) > 0;
        if (!fails) print_lists(&run, &m[0], &m[1], &arena);
        if (!fails) print_results(phi[0], phi[1], T, centred);
        puts("end");
        ks_arena_free(&arena);
    }
    return 0;
}
