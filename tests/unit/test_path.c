/* The path estimator against its definition, known answers and golden values. */
#include "oracle/path.h"
#include "kspec/host.h"

static void check_pair(const double *A, const double *B, size_t P, size_t Q, int nmax, double tol) {
    double want[MOST_ORDERS], size[MOST_ORDERS], m[MOST_ORDERS];
    oracle_pair(A, B, P, Q, nmax, want);
    sizes_pair(A, B, P, Q, nmax, size);
    EACH_ISA({
        for (int threads = 1; threads <= 3; threads++) {
            path(A, B, P, Q, nmax, threads, m, NULL, NULL);
            for (int n = 0; n < nmax; n++)
                CHECK_WITHIN(m[n], want[n], size[n], tol, "%zu x %zu, n = %d, %s", P, Q, n + 1, kspec_isa());
        }
    });
}

TEST(the_oracle_is_the_definition) {
    int t[2 * MOST_ORDERS], close[MOST_ORDERS];
    double m[8];
    for (int round = 0; round < 12; round++) {
        size_t P = 1 + (size_t)(round * 5 % 8), Q = 1 + (size_t)(round * 3 % 8);
        int nmax = (int)(P < Q ? P : Q);
        double *M[3];
        for (int k = 0; k < 3; k++) M[k] = random_matrix((uint64_t)(100 * round + k), P, Q);
        for (int e = 0; e < 16; e++) t[e] = (e * 7 + round) % 3, close[e / 2] = (e / 2 + round) % 3;
        oracle((const double *const *)M, P, Q, nmax, t, close, m);
        for (int n = 1; n <= nmax; n++)
            CHECK_WITHIN(m[n - 1], brute((const double *const *)M, P, Q, n, t, close), 1, 1e-14, "n = %d", n);
        for (int k = 0; k < 3; k++) free(M[k]);
    }
}

TEST(agrees_with_the_definition) {
    int t[2 * MOST_ORDERS], close[MOST_ORDERS];
    pair_edges(t, close);
    for (uint64_t seed = 1; seed <= 20; seed++) {
        size_t P = 1 + seed * 7 % 8, Q = 1 + seed * 5 % 7;
        int nmax = (int)(P < Q ? P : Q);
        double *A = random_matrix(seed, P, Q), *B = random_matrix(seed + 1000, P, Q), m[8];
        EACH_ISA({
            for (int two = 0; two < 2; two++) {
                const double *pair[2] = {A, two ? B : A};
                path(pair[0], pair[1], P, Q, nmax, 1 + (int)(seed % 3), m, NULL, NULL);
                for (int n = 1; n <= nmax; n++)
                    CHECK_WITHIN(m[n - 1], brute(pair, P, Q, n, t, close), 1, 1e-14, "%zu x %zu, n = %d, %s",
                                 P, Q, n, kspec_isa());
            }
        });
        free(A), free(B);
    }
}

TEST(any_shape) {
    const size_t sizes[] = {1, 7, 8, 9, 15, 16, 17, 33};
    for (size_t p = 0; p < 8; p++)
        for (size_t q = 0; q < 8; q++) {
            size_t P = sizes[p], Q = sizes[q];
            int nmax = (int)(P < Q ? P : Q);
            if (nmax > 12) nmax = 12 - (int)((p + q) % 9);
            double *A = random_matrix(p * 8 + q, P, Q), *B = random_matrix(1000 + p * 8 + q, P, Q);
            check_pair(A, (p + q) % 2 ? B : A, P, Q, nmax, 1e-14);
            free(A), free(B);
        }
}

TEST(more_columns_than_a_tile_and_more_rows_than_a_band) {
    const struct {
        size_t P, Q;
        int nmax;
    } s[] = {{20, 129, 2}, {21, 257, 4}, {30, 100, 8}, {26, 39, 8},
             {290, 20, 8}, {90, 25, 20}, {130, 17, 12}};
    for (size_t i = 0; i < sizeof s / sizeof *s; i++) {
        double *A = random_matrix(i, s[i].P, s[i].Q), *B = random_matrix(i + 50, s[i].P, s[i].Q);
        check_pair(A, i % 2 ? B : A, s[i].P, s[i].Q, s[i].nmax, 1e-14);
        free(A), free(B);
    }
}

TEST(every_number_of_orders) {
    double *A = random_matrix(5, 26, 27), *B = random_matrix(6, 26, 27);
    for (int nmax = 1; nmax <= 26; nmax++) {
        check_pair(A, A, 26, 27, nmax, 1e-14);
        check_pair(A, B, 26, 27, nmax, 1e-14);
    }
    free(A), free(B);
}

TEST(fifty_orders) {
    double *A = random_matrix(50, 60, 60);
    check_pair(A, A, 60, 60, 50, 1e-13);
    free(A);
}

TEST(any_assignment_of_trials) {
    for (uint64_t seed = 1; seed <= 12; seed++) {
        size_t P = 3 + seed * 5 % 19, Q = 2 + seed * 11 % 40;
        int nmax = (int)(P < Q ? P : Q), T = 2 + (int)(seed % 4), t[2 * MOST_ORDERS], close[MOST_ORDERS];
        double *M[5], *abs[5], want[MOST_ORDERS], size[MOST_ORDERS], m[MOST_ORDERS];
        for (int k = 0; k < T; k++) {
            M[k] = random_matrix(seed * 10 + (uint64_t)k, P, Q);
            abs[k] = absolute(M[k], P, Q);
        }
        for (int e = 0; e < 2 * MOST_ORDERS; e++) t[e] = (int)((seed * 7 + (uint64_t)(e * e)) % (uint64_t)T);
        for (int n = 0; n < MOST_ORDERS; n++) close[n] = (int)((seed + (uint64_t)n / 3) % (uint64_t)T);
        oracle((const double *const *)M, P, Q, nmax, t, close, want);
        oracle((const double *const *)abs, P, Q, nmax, t, close, size);
        EACH_ISA({
            ks_run run;
            kspec_error err = {0};
            ks_run_init(&run, 1 + (int)(seed % 3), (kspec_progress){0}, &err);
            CHECK(ks_path_assigned(&run, (const double *const *)M, P, Q, nmax, t, close, m, &err) ==
                  KSPEC_OK);
            for (int n = 0; n < nmax; n++)
                CHECK_WITHIN(m[n], want[n], size[n], 1e-14, "%zu x %zu, n = %d, %s", P, Q, n + 1,
                             kspec_isa());
        });
        for (int k = 0; k < T; k++) free(M[k]), free(abs[k]);
    }
}

/*
 * The same sum through the general kernel and the fast one, and not a bit of difference in what is not
 * rounded.
 */
TEST(a_pair_is_one_assignment) {
    double *A = random_matrix(1, 20, 30), *B = random_matrix(2, 20, 30), one[6], two[6];
    int t[2 * MOST_ORDERS], close[MOST_ORDERS];
    pair_edges(t, close);
    ks_run run;
    kspec_error err = {0};
    ks_run_init(&run, 1, (kspec_progress){0}, &err);
    path(A, B, 20, 30, 6, 1, one, NULL, NULL);
    CHECK(ks_path_assigned(&run, (const double *const[]){A, B}, 20, 30, 6, t, close, two, &err) == KSPEC_OK);
    CHECK(memcmp(one, two, sizeof one) == 0);
    free(A), free(B);
}

static void check_golden(uint64_t seed, size_t P, size_t Q, const double *want,
                         const double *want_transposed) {
    double *A = random_matrix(seed, P, Q), *At = new_matrix(Q, P), m[6];
    for (size_t i = 0; i < P; i++)
        for (size_t a = 0; a < Q; a++) At[a * P + i] = A[i * Q + a];
    EACH_ISA({
        path(A, A, P, Q, 6, 2, m, NULL, NULL);
        for (int n = 0; n < 6; n++) CHECK_CLOSE(m[n], want[n], 1e-10);
        path(At, At, Q, P, 6, 2, m, NULL, NULL);
        for (int n = 0; n < 6; n++) CHECK_CLOSE(m[n], want_transposed[n], 1e-10);
    });
    free(A), free(At);
}

TEST(golden_values) {
    check_golden(11, 7, 6,
                 (double[]){0.35440689481797305, 0.004092448587047381, -0.00036048295331650443,
                            0.00018569902210290468, 0.00011838481101324148, -1.6085774885792684e-05},
                 (double[]){0.35440689481797305, 0.004092448587047383, -0.0007127945653420739,
                            -0.00025292460640822964, 2.602012664945321e-05, -2.1652272130239663e-06});
    check_golden(12, 12, 9,
                 (double[]){0.3947111870269605, -0.0017357954480707138, -0.0001593150146596023,
                            -2.160061680178422e-05, -2.8571507071966043e-06, -2.374484434197758e-06},
                 (double[]){0.39471118702696045, -0.0017357954480707132, -0.00016434483896619163,
                            1.5928109511479465e-05, -1.9001207045962254e-06, 2.573004892892393e-08});
    check_golden(13, 40, 30,
                 (double[]){0.3806968046436463, 0.0029379848633388924, 0.00016441744402808915,
                            7.420388313354264e-06, 3.72165130273847e-07, 3.867722381223842e-09},
                 (double[]){0.3806968046436463, 0.0029379848633388924, 0.00016133058478591108,
                            7.2354760265657965e-06, 2.4196951648655646e-07, 6.604790690961706e-09});

    const double first[] = {0.057681512587359166, 0.004523539347062033, -0.0001295136737445461,
                            -5.466344395796033e-06};
    const double other[] = {0.057681512587359166, 0.011989802392982975, -0.0012003195406571155,
                            0.0004255047789618675};
    double *A = random_matrix(111, 6, 5), *B = random_matrix(211, 6, 5), m[4];
    path(A, B, 6, 5, 4, 1, m, NULL, NULL);
    for (int n = 0; n < 4; n++) CHECK_CLOSE(m[n], first[n], 1e-10);
    path(B, A, 6, 5, 4, 1, m, NULL, NULL);
    for (int n = 0; n < 4; n++) CHECK_CLOSE(m[n], other[n], 1e-10);
    free(A), free(B);
}

TEST(scaling_the_matrix) {
    double *A = random_matrix(3, 25, 31), *B = new_matrix(25, 31), m[9], scaled[9];
    for (size_t i = 0; i < 25 * 31; i++) B[i] = 8 * A[i];
    path(A, A, 25, 31, 9, 1, m, NULL, NULL);
    path(B, B, 25, 31, 9, 1, scaled, NULL, NULL);
    for (int n = 1; n <= 9; n++) CHECK(scaled[n - 1] == ldexp(m[n - 1], 6 * n)); /* 8^(2n), exactly */
    free(A), free(B);
}

TEST(rank_one) { check_rank_one(23, 14, 14, 1e-13); }

/* Small whole numbers: every sum is exact, in any order. */
TEST(whole_numbers) {
    const size_t P = 19, Q = 18;
    double *A = random_matrix(8, P, Q), m[5];
    for (size_t i = 0; i < P * Q; i++) A[i] = floor(3 * A[i]);
    ld want[6] = {0};
    double *state = new_matrix(Q, 6), R[6];
    for (size_t h = 0; h < P; h++) { /* the recursion in whole numbers below 2^53 */
        for (size_t b = 0; b < Q; b++)
            for (int n = 1; n < 6; n++) state[b * 6 + (size_t)n] = n == 1 ? A[h * Q + b] : 0;
        for (size_t a = h + 1; a < P; a++) {
            memset(R, 0, sizeof R);
            for (size_t b = 0; b < Q; b++) {
                double phi = A[a * Q + b];
                for (size_t n = 5; n >= 2; n--) {
                    double old = state[b * 6 + n];
                    state[b * 6 + n] += R[n - 1] * phi;
                    R[n] += old * phi;
                }
                R[1] += state[b * 6 + 1] * phi;
            }
        }
        for (size_t b = 0; b < Q; b++)
            for (size_t n = 1; n < 6; n++) want[n] += (ld)state[b * 6 + n] * A[h * Q + b];
    }
    EACH_ISA({
        path(A, A, P, Q, 5, 2, m, NULL, NULL);
        for (int n = 1; n <= 5; n++) {
            CHECK(fabsl(want[n]) < 1e13L);
            CHECK(rintl((ld)m[n - 1] * binomials(P, Q, n)) == want[n]);
        }
    });
    free(A), free(state);
}

TEST(same_bits_at_any_thread_count) {
    const size_t P = 150, Q = 45;
    const int nmax = 7, threads[] = {2, 3, 7};
    double *A = random_matrix(21, P, Q), *B = random_matrix(22, P, Q);
    size_t bytes_rows = P * (size_t)nmax * sizeof(double), bytes_cols = Q * (size_t)nmax * sizeof(double);
    double m[7], other[7];
    double *rows = malloc(bytes_rows), *cols = malloc(bytes_cols), *r = malloc(bytes_rows),
           *c = malloc(bytes_cols);
    EACH_ISA({
        path(A, B, P, Q, nmax, 1, m, rows, cols);
        path(A, B, P, Q, nmax, 1, other, NULL, NULL);
        CHECK(memcmp(m, other, sizeof m) == 0); /* nor do the estimates depend on the error bars */
        for (int i = 0; i < 3; i++) {
            path(A, B, P, Q, nmax, threads[i], other, NULL, NULL);
            CHECK(memcmp(m, other, sizeof m) == 0);
            path(A, B, P, Q, nmax, threads[i], other, r, c);
            CHECK(memcmp(m, other, sizeof m) == 0);
            CHECK(memcmp(rows, r, bytes_rows) == 0);
            CHECK(memcmp(cols, c, bytes_cols) == 0);
        }
    });
    free(A), free(B), free(rows), free(cols), free(r), free(c);
}

TEST(the_range_of_doubles) {
    const ks_run alone = {.threads = 1};
    ks_path_plan plan;
    kspec_error err = {0};
    CHECK(ks_path_plan_make(&plan, 50000, 2000, 50, &alone, &err) == KSPEC_OK);
    CHECK(plan.log2_scale < 0);
    ld c = binomials(50000, 2000, 50); /* 10^270 */
    ks_path_factor mean = ks_path_mean(&plan, 50000, 2000, 50);
    CHECK_CLOSE((double)(ldexpl(mean.f, mean.e + 2 * 50 * plan.log2_scale) * c), 1, 1e-13);
    for (int n = 1; n <= 50; n++) { /* sums of terms of size 1, as scaled */
        int e;
        frexpl(ldexpl(binomials(50000, 2000, n), 2 * n * plan.log2_scale), &e);
        CHECK_MSG(e > -640 && e < 500, "2^%d at order %d", e, n);
    }
    CHECK(ks_path_plan_make(&plan, 1000, 1000, 8, &alone, &err) == KSPEC_OK);
    CHECK(plan.log2_scale == 0);
    CHECK_FAILS(ks_path_plan_make(&plan, 5000, 5000, 5000, &alone, &err), KSPEC_E_NUMERIC, err, "order 5000");
}

/* ---- leaving one out
 * ---------------------------------------------------------------------------------------------- */

TEST(leave_one_out_small) {
    for (uint64_t seed = 1; seed <= 25; seed++) {
        size_t P = 1 + seed * 7 % 9, Q = 1 + seed * 5 % 11;
        int nmax = (int)(P < Q ? P : Q);
        double *A = random_matrix(seed, P, Q), *B = random_matrix(seed + 99, P, Q);
        check_loo(A, seed % 2 ? A : B, P, Q, nmax);
        free(A), free(B);
    }
}

TEST(leave_one_out_any_shape) {
    const struct {
        size_t P, Q;
        int nmax;
    } s[] = {{9, 33, 7},  {17, 16, 8}, {33, 25, 8}, {16, 50, 5}, {25, 26, 12},
             {40, 20, 3}, {1, 5, 1},   {6, 1, 1},   {70, 9, 9}};
    for (size_t i = 0; i < sizeof s / sizeof *s; i++) {
        double *A = random_matrix(i, s[i].P, s[i].Q), *B = random_matrix(i + 50, s[i].P, s[i].Q);
        check_loo(A, i % 2 ? A : B, s[i].P, s[i].Q, s[i].nmax);
        free(A), free(B);
    }
}

/* ---- failures
 * ----------------------------------------------------------------------------------------------------- */

static size_t allowed, held;
static void *limited(void *ctx, size_t size, size_t align) {
    (void)ctx;
    if (!allowed) return NULL;
    allowed--;
    held++;
    return aligned_alloc(align, (size + align - 1) / align * align);
}
static void give_back(void *ctx, void *ptr) {
    (void)ctx;
    held--;
    free(ptr);
}

TEST(memory_runs_out) {
    double *A = random_matrix(1, 20, 20), m[10], rows[100], cols[100];
    int t[2 * MOST_ORDERS], close[MOST_ORDERS];
    pair_edges(t, close);
    ks_run run;
    kspec_error err = {0};
    ks_run_init(&run, 2, (kspec_progress){0}, &err);
    kspec_set_allocator(&(kspec_allocator){limited, give_back, NULL});
    for (int which = 0; which < 4; which++) {
        const size_t P = which == 3 ? 10 : 20; /* at order 10 of 10 leave-one-out goes another way */
        const int nmax = which == 3 ? 10 : 5;
        kspec_status st = KSPEC_E_NOMEM;
        size_t give = 0;
        for (; st == KSPEC_E_NOMEM && give < 5000; give++) {
            allowed = give;
            st = which == 2
                     ? ks_path_assigned(&run, (const double *const[]){A, A}, 20, 20, 5, t, close, m, &err)
                     : ks_path(&run, &(ks_pair){A, A, P, P, nmax},
                               &(ks_moments_out){m, which ? rows : NULL, which ? cols : NULL}, &err);
            CHECK(held == 0);
        }
        CHECK(st == KSPEC_OK && give > 5);
    }
    kspec_set_allocator(NULL);
    free(A);
}

static int refuse(void *ctx, double fraction) {
    int *calls = ctx;
    CHECK(fraction >= 0 && fraction <= 1);
    return ++*calls == 3;
}

TEST(cancelled_half_way) {
    double *A = random_matrix(1, 300, 30), m[5], *rows = new_matrix(5, 300), *cols = new_matrix(5, 30);
    for (int loo = 0; loo < 2; loo++)
        for (int threads = 1; threads <= 2; threads++) {
            int calls = 0;
            ks_run run;
            kspec_error err = {0};
            ks_run_init(&run, threads, (kspec_progress){refuse, &calls}, &err);
            ks_pair p = {A, A, 300, 30, 5};
            kspec_status st =
                ks_path(&run, &p, &(ks_moments_out){m, loo ? rows : NULL, loo ? cols : NULL}, &err);
            CHECK(calls <= 3);
            CHECK(threads > 1 ||
                  calls == 3); /* a second thread may leave the reporting one too little to do */
            CHECK(st == (calls == 3 ? KSPEC_E_CANCELLED : KSPEC_OK));
            if (st) CHECK(strcmp(err.msg, "cancelled") == 0);
        }
    free(A), free(rows), free(cols);
}

int main(void) {
    RUN(the_oracle_is_the_definition);
    RUN(agrees_with_the_definition);
    RUN(any_shape);
    RUN(more_columns_than_a_tile_and_more_rows_than_a_band);
    RUN(every_number_of_orders);
    RUN(fifty_orders);
    RUN(any_assignment_of_trials);
    RUN(a_pair_is_one_assignment);
    RUN(golden_values);
    RUN(scaling_the_matrix);
    RUN(rank_one);
    RUN(whole_numbers);
    RUN(same_bits_at_any_thread_count);
    RUN(the_range_of_doubles);
    RUN(leave_one_out_small);
    RUN(leave_one_out_any_shape);
    RUN(memory_runs_out);
    RUN(cancelled_half_way);
    return test_done();
}
