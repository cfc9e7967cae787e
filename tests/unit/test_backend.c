/* A backend that only this test has: the estimators compute by it without knowing of it. */
#include "test.h"

#include "help/fifth_backend.h"
#include "oracle/exact.h"
#include "path/kv.h"
#include "path/naive.h"

static const ks_run one = {.threads = 1, .to = 1};

TEST(golden_values_of_exact) { /* those of test_exact.c, by way of the fifth backend */
    static const struct {
        uint64_t seed;
        size_t P, Q;
        double m[4];
    } golden[] = {
        {11,
         7,
         6,
         {0.35440689481797305, 0.004092448587047388, -0.0006994892740178081, 5.1415028575012346e-05}},
        {12,
         12,
         9,
         {0.3947111870269605, -0.001735795448070707, 6.595767353628496e-05, -1.761750228935219e-06}},
        {13,
         40,
         30,
         {0.3806968046436463, 0.0029379848633388924, 0.0001624315503931345, 8.768594870977528e-06}},
    };
    fifth_backend_begin();
    for (size_t k = 0; k < 3; k++) {
        double *A = oracle_matrix(golden[k].seed, golden[k].P, golden[k].Q), m[4], terms[4];
        const ks_pair p = {A, A, golden[k].P, golden[k].Q, 4};
        fifth_operations = 0;
        CHECK(exact_once(&one, &p, KSPEC_SAMPLED_BOTH, &(ks_moments_out){.m = m}, terms, NULL) == KSPEC_OK);
        CHECK_MSG(fifth_operations > 10, "%zu operations", fifth_operations);
        for (int n = 0; n < 4; n++)
            CHECK_MSG(fabs(m[n] - golden[k].m[n]) <= 1e-12 * terms[n], "m(%d): %.17g, not %.17g", n + 1, m[n],
                      golden[k].m[n]);
        free(A);
    }
    fifth_backend_end();
}

enum { P = 11, Q = 9, NMAX = 5 };
typedef struct {
    double m[NMAX], rows[NMAX * P], cols[NMAX * Q];
} estimates;

static kspec_status naive(const ks_pair *p, kspec_sampled s, const ks_moments_out *out) {
    (void)s;
    return ks_naive(&one, p, out, NULL);
}
static kspec_status kong_valiant(const ks_pair *p, kspec_sampled s, const ks_moments_out *out) {
    (void)s;
    return ks_kv_row(&one, p, out, NULL);
}
static kspec_status exact(const ks_pair *p, kspec_sampled s, const ks_moments_out *out) {
    return exact_once(&one, p, s, out, NULL, NULL);
}

/* With error bars, hard graphs and all: as on the processor, up to rounding */
TEST(every_estimator_computes_by_it) {
    static kspec_status (*const of[])(const ks_pair *, kspec_sampled,
                                      const ks_moments_out *) = {exact, exact, exact, naive, kong_valiant};
    double *A = oracle_matrix(1, P, Q), *B = oracle_matrix(2, P, Q);
    for (int k = 0; k < 10; k++) {
        const ks_pair p = {A, k % 2 ? B : A, P, Q, NMAX};
        const kspec_sampled s = k / 2 < 3 ? (kspec_sampled)(k / 2) : KSPEC_SAMPLED_BOTH;
        estimates want, got;
        CHECK(of[k / 2](&p, s, &(ks_moments_out){want.m, want.rows, want.cols}) == KSPEC_OK);
        fifth_backend_begin();
        fifth_operations = 0;
        CHECK(of[k / 2](&p, s, &(ks_moments_out){got.m, got.rows, got.cols}) == KSPEC_OK);
        fifth_backend_end();
        CHECK(fifth_operations > 5);
        const double *x = got.m, *y = want.m;
        for (size_t i = 0; i < sizeof got / sizeof *x; i++)
            CHECK_MSG(fabs(x[i] - y[i]) <= 1e-10 * fmax(1, fabs(y[i])), "%d, [%zu]: %.17g, not %.17g", k, i,
                      x[i], y[i]);
    }
    free(A), free(B);
}

int main(void) {
    RUN(golden_values_of_exact);
    RUN(every_estimator_computes_by_it);
    return test_done();
}
