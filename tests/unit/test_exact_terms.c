/* Centred kernels and finite populations by `exact`, against sums over all tuples of rows and columns. */
#include "test.h"

#include "help/isa.h"
#include "moments/exact_terms.h"
#include "oracle/terms.h"

static const ks_run one = {1, {NULL, NULL}, 0, 1};

/* The data without the means that the form removes, and their estimates */
static void estimate(const terms_oracle *t, const ks_run *run, int nmax, double *m, double *terms,
                     double *rows, double *cols) {
    size_t P = t->p.P, Q = t->p.Q;
    int two = t->p.A != t->p.B;
    double *x[2];
    for (int k = 0; k < 2; k++) {
        x[k] = malloc(P * Q * sizeof(double));
        memcpy(x[k], k ? t->p.B : t->p.A, P * Q * sizeof(double));
        if (t->split[0]) terms_centre(x[k], P, Q, 1);
        if (t->split[1]) terms_centre(x[k], P, Q, 0);
    }
    ks_exact_plan plan = {
        .P = P, .Q = Q, .two = two, .center = (kspec_center)(t->split[0] + 2 * t->split[1])};
    for (int s = 0; s < 2; s++) plan.population[s] = isinf(t->population[s]) ? 0 : t->population[s];
    ks_pair p = {x[0], x[two], P, Q, nmax};
    kspec_error err = {0};
    CHECK_MSG(ks_exact_terms(run, &plan, &p, &(ks_moments_out){m, rows, cols}, terms, &err) == KSPEC_OK, "%s",
              err.msg);
    ks_exact_plan_free(&plan);
    free(x[0]), free(x[1]);
}

#define CHECK_TERMS(a, b, terms)                                                                         \
    CHECK_MSG(fabs((a) - (b)) <= 1e-13 * (terms), "%.17g != %.17g (terms %g)", (double)(a), (double)(b), \
              (double)(terms))

/* One form on one shape: the estimates, and those without each row and column, against the definition */
static void compare(terms_oracle t, int nmax) {
    size_t P = t.p.P, Q = t.p.Q;
    double m[4], terms[4], again[4], *rows = malloc(4 * P * sizeof *rows),
                                     *cols = malloc(4 * Q * sizeof *cols);
    estimate(&t, &one, nmax, m, terms, rows, cols);
    estimate(&t, &one, nmax, again, terms, NULL, NULL);
    for (int n = 1; n <= nmax; n++) {
        double want = terms_moment(&t, n), unit = terms[n - 1];
        CHECK_TERMS(m[n - 1], want, unit);
        CHECK_TERMS(again[n - 1], want, unit);
        for (int side = 0; side < 2; side++) {
            size_t size = side ? Q : P, needs = (size_t)(t.split[side] ? 2 * n : n);
            const double *loo = side ? cols + (size_t)(n - 1) * Q : rows + (size_t)(n - 1) * P;
            for (size_t i = 0; i < size; i++) {
                if (t.population[side] == (double)size) { /* complete: nothing is left out */
                    CHECK(loo[i] == m[n - 1]);
                } else if (needs >= size) {
                    CHECK(isnan(loo[i]));
                } else {
                    terms_oracle less = t;
                    int row = side ? -1 : (int)i, col = side ? (int)i : -1;
                    double *A = oracle_without(t.p.A, P, Q, row, col),
                           *B = oracle_without(t.p.B, P, Q, row, col);
                    less.p = (ks_pair){A, B, P - !side, Q - (size_t)side, n};
                    CHECK_TERMS(loo[i], terms_moment(&less, n), unit);
                    free(A), free(B);
                }
            }
        }
    }
    free(rows), free(cols);
}

/* What the oracle goes through for all leave-one-out estimates, roughly */
static double tuples(size_t P, size_t Q, const int split[2], const double population[2], int n) {
    double count = (double)(P + Q);
    for (int s = 0; s < 2; s++) {
        int slots = split[s] ? 2 * n : n;
        double size = (double)(s ? Q : P) + (isinf(population[s]) ? 0 : slots);
        for (int k = 0; k < slots; k++) count *= size - k < 1 ? 1 : size - k;
    }
    return count;
}

/* Every centring and several populations, one and two trials, on every shape that has enough rows and columns */
TEST(equals_the_sum_over_all_tuples) {
    static const double population[][2] = {{INFINITY, INFINITY}, {9, INFINITY}, {INFINITY, 7.0}, {8, 30}};
    uint64_t seed = 500;
    for (size_t P = 1; P <= 6; P++)
        for (size_t Q = 1; Q <= 6; Q++)
            for (int form = 0; form < 16; form++)
                for (int two = 0; two < 2; two++) {
                    int split[2] = {form & 1, form >> 1 & 1};
                    const double *N = population[form >> 2];
                    if (form == 0) continue;
                    size_t rows = P / (split[0] ? 2 : 1), cols = Q / (split[1] ? 2 : 1),
                           most = rows < cols ? rows : cols;
                    while (most && tuples(P, Q, split, N, (int)most) > 2e5) most--; /* the oracle is slow */
                    if (most < 1) continue;
                    double *A = oracle_matrix(seed++, P, Q), *B = oracle_matrix(seed++, P, Q);
                    terms_oracle t = {.p = {A, two ? B : A, P, Q, 0}, .split = {split[0], split[1]}};
                    t.population[0] = N[0], t.population[1] = N[1];
                    compare(t, (int)most);
                    free(A), free(B);
                }
}

int main(void) {
    RUN(equals_the_sum_over_all_tuples);
    return test_done();
}
