/*
 * The path estimator where it takes longer: sizes of several bands, tiles and chunks, and the range of
 * doubles.
 */
#include "oracle/path.h"
#include "kspec/host.h"

TEST(large_matrix) {
    const size_t P = 520, Q = 300;
    const int nmax = 8;
    double *A = random_matrix(1, P, Q), *B = random_matrix(2, P, Q), want[8], size[8], m[8];
    for (int two = 0; two < 2; two++) {
        const double *second = two ? B : A;
        oracle_pair(A, second, P, Q, nmax, want);
        sizes_pair(A, second, P, Q, nmax, size);
        EACH_ISA({
            path(A, second, P, Q, nmax, 2, m, NULL, NULL);
            for (int n = 0; n < nmax; n++)
                CHECK_WITHIN(m[n], want[n], size[n], 1e-14, "n = %d, %s", n + 1, kspec_isa());
        });
    }
    free(A), free(B);
}

/* C(3000,50) C(50,50) is 10^109: nothing may overflow or vanish. */
TEST(fifty_orders_of_a_tall_matrix) { check_rank_one(3000, 50, 50, 1e-11); }

TEST(fifty_orders_that_need_scaling) {
    ks_path_plan plan;
    CHECK(ks_path_plan_make(&plan, 900, 400, 60, &(ks_run){.threads = 1}, NULL) == KSPEC_OK);
    CHECK(plan.log2_scale < 0);
    check_rank_one(900, 400, 60, 1e-11);
}

TEST(leave_one_out_of_larger_matrices) {
    const struct {
        size_t P, Q;
        int nmax;
    } s[] = {{100, 85, 8}, {180, 30, 6}, {30, 150, 4}, {48, 46, 40}, {60, 60, 16}};
    for (size_t i = 0; i < sizeof s / sizeof *s; i++) {
        double *A = random_matrix(i, s[i].P, s[i].Q), *B = random_matrix(i + 50, s[i].P, s[i].Q);
        check_loo(A, i % 2 ? B : A, s[i].P, s[i].Q, s[i].nmax);
        free(A), free(B);
    }
}

int main(void) {
    RUN(large_matrix);
    RUN(fifty_orders_of_a_tall_matrix);
    RUN(fifty_orders_that_need_scaling);
    RUN(leave_one_out_of_larger_matrices);
    return test_done();
}
