/* `exact` where its definition takes seconds: the full sums at 7 x 7, and really leaving out at order 5. */
#include "test.h"

#include "oracle/exact.h"

static const ks_run one = {1, {NULL, NULL}, 0, 1};

TEST(order_five_at_seven_by_seven) {
    static const kspec_sampled modes[] = {KSPEC_SAMPLED_BOTH, KSPEC_SAMPLED_ROWS, KSPEC_SAMPLED_COLS};
    for (int k = 0; k < 6; k++) {
        double *A = oracle_matrix(31, 7, 7), *B = k % 2 ? oracle_matrix(32, 7, 7) : A, m[5], terms[5];
        ks_pair p = {A, B, 7, 7, 5};
        CHECK(exact_once(&one, &p, modes[k / 2], &(ks_moments_out){.m = m}, terms, NULL) == KSPEC_OK);
        for (int n = 1; n <= 5; n++) {
            double want = oracle_moment(&p, modes[k / 2], n);
            CHECK_MSG(fabs(m[n - 1] - want) <= 1e-12 * terms[n - 1], "n = %d: %g != %g", n, m[n - 1], want);
        }
        if (B != A) free(B);
        free(A);
    }
}

TEST(leaving_out_at_order_five) {
    static const size_t shapes[][2] = {{37, 41}, {200, 9}, {9, 150}};
    for (int k = 0; k < 6; k++) {
        size_t P = shapes[k / 2][0], Q = shapes[k / 2][1];
        double *A = oracle_matrix(33, P, Q), *B = k % 2 ? oracle_matrix(34, P, Q) : A, m[5], terms[5],
               less[5];
        double *rows = malloc(5 * P * sizeof *rows), *cols = malloc(5 * Q * sizeof *cols);
        ks_pair p = {A, B, P, Q, 5};
        CHECK(exact_once(&one, &p, KSPEC_SAMPLED_BOTH, &(ks_moments_out){m, rows, cols}, terms, NULL) ==
              KSPEC_OK);
        for (size_t i = 0; i < P + Q; i += 7) {
            int row = i < P ? (int)i : -1, col = i < P ? -1 : (int)(i - P);
            double *A2 = oracle_without(A, P, Q, row, col),
                   *B2 = B == A ? A2 : oracle_without(B, P, Q, row, col);
            ks_pair q = {A2, B2, P - (i < P), Q - (i >= P), 5};
            CHECK(exact_once(&one, &q, KSPEC_SAMPLED_BOTH, &(ks_moments_out){.m = less}, NULL, NULL) ==
                  KSPEC_OK);
            for (size_t n = 0; n < 5; n++) {
                double got = i < P ? rows[n * P + i] : cols[n * Q + i - P];
                CHECK_MSG(fabs(got - less[n]) <= 4e-12 * terms[n], "n = %zu: %g != %g", n + 1, got, less[n]);
            }
            if (B2 != A2) free(B2);
            free(A2);
        }
        /* each cycle passes n rows and n columns: the mean of the leave-one-out values is m itself */
        for (size_t n = 0; n < 5; n++) {
            double sum = 0;
            for (size_t i = 0; i < P; i++) sum += rows[n * P + i] / (double)P;
            CHECK_MSG(fabs(sum - m[n]) <= 1e-12 * terms[n], "n = %zu: %g != %g", n + 1, sum, m[n]);
        }
        if (B != A) free(B);
        free(A), free(rows), free(cols);
    }
}

int main(void) {
    RUN(order_five_at_seven_by_seven);
    RUN(leaving_out_at_order_five);
    return test_done();
}
