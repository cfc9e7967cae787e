/*
 * Time of the exact estimator beside DGEMM in the same process: bench_exact [P Q nmax threads trials].
 * Prints the time of a whole call with error bars, of its plan, and of the estimator alone: in seconds,
 * and in matrix products of P x Q x min(P,Q) on one thread (best of a few runs each). Set
 * OPENBLAS_NUM_THREADS=1, or the time of waiting threads of OpenBLAS counts as well. With a sixth
 * argument it prints what the plans of centred rows and of none consist of instead, in graphs, products
 * and sums over a side.
 */
#include "base/clock.h"
#include "linalg/linalg.h"
#include "exact/exact.h"
#include "kspec.h"
#include "engine/run.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static void die(const kspec_error *e) {
    fprintf(stderr, "%s\n", e->msg);
    exit(1);
}

/*
 * Seconds: of the processor on one thread, where other work on the machine does not count, or of the
 * clock
 */
static double seconds(const ks_run *run) {
    return run->threads == 1 ? (double)clock() / CLOCKS_PER_SEC : ks_now();
}

static double best_of(int repeats, const ks_run *run, ks_exact_plan *plan, const ks_pair *p,
                      ks_moments_out *out) {
    double best = 1e300;
    for (int r = 0; r < repeats; r++) {
        kspec_error err;
        double t = seconds(run);
        if (ks_exact(run, plan, p, out, &err)) die(&err);
        t = seconds(run) - t;
        if (t < best) best = t;
    }
    return best;
}

/*
 * The first call of kspec_moments() in this process, the best of some, and the plan that each of them makes.
 */
static void whole_calls(const kspec_matrix *phi, size_t trials, int nmax, int threads) {
    kspec_moments_opts o = {.device = KSPEC_DEVICE_CPU,
                            .size = sizeof o,
                            .nmax = nmax,
                            .estimators = KSPEC_ESTIMATOR_EXACT,
                            .threads = threads};
    double first = 0, best = 1e300, plan = 1e300;
    for (int r = 0; r < 20 && (r < 3 || best < 0.1); r++) {
        kspec_moments_result *m;
        kspec_error err;
        double t = ks_now();
        if (kspec_moments(phi, trials, &o, &m, &err)) die(&err);
        t = ks_now() - t;
        kspec_free(m);
        if (r == 0) first = t;
        if (t < best) best = t;
        ks_cycles p;
        t = ks_now();
        if (ks_cycles_make(&p, (ks_exact_form){0, trials == 2}, phi->rows, phi->cols, nmax, &err)) die(&err);
        t = ks_now() - t;
        ks_cycles_free(&p);
        if (t < plan) plan = t;
    }
    printf("kspec_moments() with error bars: %.2f ms at first, %.2f ms at best, of which the plan %.2f ms\n",
           1e3 * first, 1e3 * best, 1e3 * plan);
}

/*
 * One plan. pinned: the sides whose indices are left out by fixing vertices; backward: by the derivative,
 * for all indices at once (of centred rows that is right for columns alone).
 */
static void count(const char *name, int centred, int two, int rows, int cols, int backward, size_t P,
                  size_t Q, int nmax) {
    static const double one, other; /* a dry execution does not look at entries */
    const ks_run run = {.threads = 1};
    const ks_exact_form form = {.two_trials = two,
                                .weighted = centred,
                                .split = {centred, 0},
                                .population = {INFINITY, INFINITY},
                                .pinned = {rows, cols}};
    kspec_error err;
    ks_cycles p;
    size_t products = 0, sums = 0, matrices = 0;
    if (ks_cycles_make(&p, form, P, Q, nmax, &err)) die(&err);
    const ks_plan *pl = &p.plan;
    unsigned char *seen = calloc(pl->bytes, 1); /* more than edges */
    double *const through[KS_AXES] = {NULL};
    for (size_t k = 0; k < pl->nops && seen; k++) {
        products += pl->ops[k].kind == KS_OP_PRODUCT;
        if (pl->ops[k].kind != KS_OP_VECTOR) continue;
        sums++;
        matrices += !seen[pl->vectors[pl->ops[k].index].E];
        seen[pl->vectors[pl->ops[k].index].E] = 1;
    }
    ks_exec_state x = {.plan = pl, .run = &run, .what = "this", .keep = backward, .dry = 1, .err = &err};
    ks_exec_begin(&x);
    ks_exec_source(&x, 0, &one);
    if (two) ks_exec_source(&x, 1, &other);
    ks_exec_forward(&x);
    for (int n = 1; n <= nmax && backward; n++) {
        for (size_t g = 0; g < p.ngraphs; g++) x.seed[g] = p.graphs[g].n == n;
        ks_exec_backward(&x, through);
    }
    ks_exec_end(&x);
    if (x.status) die(&err);
    printf("%-40s %5zu graphs %4zu products %5zu sums (of %4zu matrices) %7.1f products of work\n", name,
           p.ngraphs, products, sums, matrices, x.work / (double)(P * Q * (P < Q ? P : Q)));
    free(seen);
    ks_cycles_free(&p);
}

static void counts(int two, size_t P, size_t Q, int nmax) {
    count("not centred, value", 0, two, 0, 0, 0, P, Q, nmax);
    count("not centred, error bars", 0, two, 0, 0, 1, P, Q, nmax);
    count("rows centred, value", 1, two, 0, 0, 0, P, Q, nmax);
    count("rows centred, error bars of rows alone", 1, two, 1, 0, 0, P, Q, nmax);
    count("rows centred, of columns alone", 1, two, 0, 1, 0, P, Q, nmax);
    count("rows centred, error bars", 1, two, 1, 1, 0, P, Q, nmax);
    count("rows centred, by the derivative", 1, two, 0, 0, 1, P, Q, nmax);
}

/* The orders to n by `exact`, planned for this call, and order n as an expression: the same engine */
static void as_expressions(const ks_run *run, const ks_pair *p, const ks_moments_out *out, double gemm) {
    static const char *const text[] = {"X[i,a] X[j,a] X[j,b] X[i,b]",
                                       "X[i,a] X[j,a] X[j,b] X[k,b] X[k,c] X[i,c]",
                                       "X[i,a] X[j,a] X[j,b] X[k,b] X[k,c] X[l,c] X[l,d] X[i,d]"};
    const kspec_matrix phi = {p->A, p->P, p->Q, (ptrdiff_t)p->Q, 1};
    const kspec_operand of = {"X", &phi, 1};
    for (int k = 0; k < 6; k++) {
        const int n = 2 + k / 2, loo = k % 2;
        const kspec_unbiased_opts o = {
            .size = sizeof o, .no_stderr = !loo, .threads = run->threads, .device = KSPEC_DEVICE_CPU};
        const ks_moments_out to = {out->m, loo ? out->rows : NULL, loo ? out->cols : NULL};
        double best[2] = {1e300, 1e300};
        for (int r = 0; r < 14; r++) { /* by turns */
            kspec_error err;
            kspec_unbiased_result *u = NULL;
            ks_exact_plan plan = {.P = p->P, .Q = p->Q};
            ks_pair pair = *p;
            pair.nmax = n;
            double t = seconds(run);
            if (r % 2 ? kspec_unbiased(text[n - 2], &of, 1, &o, &u, &err)
                      : ks_exact(run, &plan, &pair, &to, &err))
                die(&err);
            t = seconds(run) - t;
            best[r % 2] = fmin(best[r % 2], t);
            kspec_free(u);
            ks_exact_plan_free(&plan);
        }
        printf("m(%d), %-13s exact %8.4f s, kspec_unbiased() %8.4f s: %.2f times, %.2f DGEMM\n", n,
               loo ? "leave-one-out" : "value", best[0], best[1], best[1] / best[0], best[1] / gemm);
    }
}

int main(int argc, char **argv) {
    size_t P = argc > 1 ? strtoul(argv[1], NULL, 10) : 1000, Q = argc > 2 ? strtoul(argv[2], NULL, 10) : 1000;
    int nmax = argc > 3 ? atoi(argv[3]) : 4, threads = argc > 4 ? atoi(argv[4]) : 1,
        trials = argc > 5 ? atoi(argv[5]) : 1;
    if (argc > 6) {
        counts(trials == 2, P, Q, nmax);
        return 0;
    }
    size_t least = P < Q ? P : Q, most = P < Q ? Q : P;
    double *A = malloc(P * Q * sizeof *A), *B = malloc(P * Q * sizeof *B),
           *C = malloc(most * most * sizeof *C);
    kspec_random_normal(1, 0, 0, P * Q, A);
    kspec_random_normal(1, 1, 0, P * Q, B);

    const kspec_matrix phi[2] = {{A, P, Q, (ptrdiff_t)Q, 1}, {B, P, Q, (ptrdiff_t)Q, 1}};
    whole_calls(phi, (size_t)trials, nmax, threads);

    double gemm = 1e300;
    ks_run run;
    ks_run_init(&run, threads, (kspec_progress){0}, NULL);
    if (ks_blas_enter(1, NULL)) return 1;
    for (int r = 0; r < 7; r++) { /* the longer side is summed over or kept: P Q min(P,Q) multiply-adds */
        double t = seconds(&run);
        if (P < Q)
            ks_gemm(0, 1, P, P, Q, 1, A, Q, B, Q, 0, C, P);
        else
            ks_gemm(1, 0, Q, Q, P, 1, A, Q, B, Q, 0, C, Q);
        t = seconds(&run) - t;
        if (t < gemm) gemm = t;
    }
    ks_blas_exit();
    printf("%zu x %zu, %d trial(s), n <= %d, %d thread(s); DGEMM %.4f s (%.1f G multiply-adds/s)\n", P, Q,
           trials, nmax, threads, gemm, 1e-9 * (double)(P * Q * least) / gemm);

    ks_pair p = {A, trials == 2 ? B : A, P, Q, nmax};
    double m[5], *rows = malloc(5 * P * sizeof *rows), *cols = malloc(5 * Q * sizeof *cols);
    /* the times do not depend on the entries, so the means stay where they are */
    const struct {
        const char *name;
        kspec_sampled sampled;
        kspec_center center;
        double population;
    } form[] = {{"both sampled", KSPEC_SAMPLED_BOTH, KSPEC_CENTER_NONE, 0},
                {"rows sampled", KSPEC_SAMPLED_ROWS, KSPEC_CENTER_NONE, 0},
                {"cols sampled", KSPEC_SAMPLED_COLS, KSPEC_CENTER_NONE, 0},
                {"rows of a population", KSPEC_SAMPLED_BOTH, KSPEC_CENTER_NONE, 3 * (double)P},
                {"rows centred", KSPEC_SAMPLED_BOTH, KSPEC_CENTER_ROWS, 0},
                {"cols centred", KSPEC_SAMPLED_BOTH, KSPEC_CENTER_COLS, 0},
                {"both centred", KSPEC_SAMPLED_BOTH, KSPEC_CENTER_BOTH, 0}};
    for (size_t s = 0; s < sizeof form / sizeof *form; s++) {
        ks_exact_plan plan = {.P = P,
                              .Q = Q,
                              .sampled = form[s].sampled,
                              .two = trials == 2,
                              .center = form[s].center,
                              .population = {form[s].population, 0}};
        p.nmax = nmax < ks_exact_highest(&plan) ? nmax : ks_exact_highest(&plan);
        for (int loo = 0; loo < 2; loo++) {
            ks_moments_out out = {m, loo ? rows : NULL, loo ? cols : NULL};
            double work, t, planning = seconds(&run);
            size_t bytes;
            if (ks_exact_cost(&plan, p.nmax, loo, &work, &bytes, NULL)) return 1;
            planning = seconds(&run) - planning;
            t = best_of(3, &run, &plan, &p, &out);
            printf("%-20s n <= %d, %-13s %8.4f s = %7.2f DGEMM (foreseen %7.2f), %8.1f MB, plan %5.1f ms\n",
                   form[s].name, p.nmax, loo ? "leave-one-out" : "value", t, t / gemm,
                   work / (double)(P * Q * least), 1e-6 * (double)bytes, 1e3 * planning);
        }
        ks_exact_plan_free(&plan);
    }
    if (trials == 1) as_expressions(&run, &p, &(ks_moments_out){m, rows, cols}, gemm);
    free(A), free(B), free(C), free(rows), free(cols);
    return 0;
}
