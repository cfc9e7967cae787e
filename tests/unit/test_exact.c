#include "test.h"

#include "help/heap.h"
#include "oracle/exact.h"

static const ks_run one = {1, {NULL, NULL}, 0, 1};

static const kspec_sampled all_modes[] = {KSPEC_SAMPLED_BOTH, KSPEC_SAMPLED_ROWS, KSPEC_SAMPLED_COLS};

static void estimate(const ks_pair *p, kspec_sampled s, double *m, double *terms) {
    kspec_error err = {0};
    ks_moments_out out = {.m = m};
    CHECK_MSG(exact_once(&one, p, s, &out, terms, &err) == KSPEC_OK, "%s", err.msg);
}

#define CHECK_TERMS(a, b, terms)                                                                         \
    CHECK_MSG(fabs((a) - (b)) <= 1e-12 * (terms), "%.17g != %.17g (terms %g)", (double)(a), (double)(b), \
              (double)(terms))

TEST(golden_values) {
    static const struct {
        uint64_t seed;
        size_t P, Q;
        double m[4];
    } one_trial[] = {
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
    static const double two_trials[] = {0.057681512587359166, 0.008256670870022501, 0.00033694964268840707};
    double m[4], terms[4];
    for (size_t k = 0; k < 3; k++) {
        double *A = oracle_matrix(one_trial[k].seed, one_trial[k].P, one_trial[k].Q);
        estimate(&(ks_pair){A, A, one_trial[k].P, one_trial[k].Q, 4}, KSPEC_SAMPLED_BOTH, m, terms);
        for (int n = 0; n < 4; n++) CHECK_TERMS(m[n], one_trial[k].m[n], terms[n]);
        free(A);
    }
    double *A = oracle_matrix(111, 6, 5), *B = oracle_matrix(211, 6, 5);
    estimate(&(ks_pair){A, B, 6, 5, 3}, KSPEC_SAMPLED_BOTH, m, terms);
    for (int n = 0; n < 3; n++) CHECK_TERMS(m[n], two_trials[n], terms[n]);
    free(A), free(B);
}

/*
 * Every shape of 1 ... 6 rows and columns, both numbers of trials, all three modes, every order that exists.
 */
TEST(equals_the_sum_over_all_cycles) {
    uint64_t seed = 1;
    for (size_t P = 1; P <= 6; P++)
        for (size_t Q = 1; Q <= 6; Q++)
            for (int k = 0; k < 6; k++) {
                kspec_sampled s = all_modes[k / 2];
                size_t most = s == KSPEC_SAMPLED_ROWS ? P : s == KSPEC_SAMPLED_COLS ? Q : P < Q ? P : Q;
                double *A = oracle_matrix(seed++, P, Q), *B = k % 2 ? oracle_matrix(seed++, P, Q) : A;
                ks_pair p = {A, B, P, Q, most < 5 ? (int)most : 5};
                if (P * Q > 25 && p.nmax > 4) p.nmax = P + Q > 11 ? 4 : 5; /* the oracle is slow */
                double m[5], terms[5];
                estimate(&p, s, m, terms);
                for (int n = 1; n <= p.nmax; n++)
                    CHECK_TERMS(m[n - 1], oracle_moment(&p, s, n), terms[n - 1]);
                if (B != A) free(B);
                free(A);
            }
}

TEST(rank_one_is_known) { /* Phi = x y^T: m(n) = e_n(x^2) e_n(y^2) / (C(P,n) C(Q,n)), e_n elementary symmetric
                           */
    enum { P = 23, Q = 17 };
    double x[P], y[Q], A[P * Q], ex[6] = {1}, ey[6] = {1}, m[5], terms[5];
    oracle_fill(5, P, x);
    oracle_fill(6, Q, y);
    for (int i = 0; i < P; i++)
        for (int a = 0; a < Q; a++) A[i * Q + a] = x[i] * y[a];
    for (int i = 0; i < P; i++)
        for (int n = 5; n >= 1; n--) ex[n] += ex[n - 1] * x[i] * x[i];
    for (int a = 0; a < Q; a++)
        for (int n = 5; n >= 1; n--) ey[n] += ey[n - 1] * y[a] * y[a];
    estimate(&(ks_pair){A, A, P, Q, 5}, KSPEC_SAMPLED_BOTH, m, terms);
    double nf = 1;
    for (int n = 1; n <= 5; n++) {
        nf *= n;
        double want = ex[n] * ey[n] / (oracle_count(P, n, 0) / nf) / (oracle_count(Q, n, 0) / nf);
        CHECK_TERMS(m[n - 1], want, terms[n - 1]);
        CHECK_CLOSE(m[n - 1], want, 1e-11);
    }
}

TEST(ones_have_moments_one) {
    enum { P = 37, Q = 33 };
    double A[P * Q], m[5], terms[5];
    for (int i = 0; i < P * Q; i++) A[i] = 1;
    for (int k = 0; k < 3; k++) {
        estimate(&(ks_pair){A, A, P, Q, 5}, all_modes[k], m, terms);
        for (int n = 0; n < 5; n++) CHECK_TERMS(m[n], 1, terms[n]);
    }
}

TEST(integers_are_exact) { /* all sums stay below 2^53 and every operation is an addition or a product */
    enum { P = 7, Q = 6 };
    double A[P * Q], B[P * Q], m[4], terms[4];
    for (int i = 0; i < P * Q; i++) A[i] = (i * 7 + i / 5) % 5 - 2, B[i] = (i * 11 + i / 3) % 5 - 2;
    for (int two = 0; two < 2; two++) {
        ks_pair p = {A, two ? B : A, P, Q, 4};
        estimate(&p, KSPEC_SAMPLED_BOTH, m, terms);
        for (int n = 1; n <= 4; n++) {
            oracle o = {.p = p, .n = n};
            double cycles = oracle_count(P, n, 0) * oracle_count(Q, n, 0);
            CHECK_MSG(m[n - 1] == (double)oracle_rows(&o, 0) / cycles, "order %d: %.17g", n, m[n - 1]);
        }
    }
}

/* Order of rows and columns, transposition, order of the trials, and scaling by a power of two. */
TEST(invariances) {
    enum { P = 31, Q = 45 };
    double *A = oracle_matrix(1, P, Q), *B = oracle_matrix(2, P, Q);
    double *A2 = malloc(P * Q * sizeof *A2), *B2 = malloc(P * Q * sizeof *B2), m[5], m2[5], terms[5];
    for (int two = 0; two < 2; two++) {
        ks_pair p = {A, two ? B : A, P, Q, 5}, p2 = {A2, two ? B2 : A2, P, Q, 5};
        estimate(&p, KSPEC_SAMPLED_BOTH, m, terms);
        for (size_t i = 0; i < P; i++)
            for (size_t a = 0; a < Q; a++) {
                size_t to = (i * 12 + 5) % P * Q + (a * 7 + 3) % Q;
                A2[to] = A[i * Q + a], B2[to] = B[i * Q + a];
            }
        estimate(&p2, KSPEC_SAMPLED_BOTH, m2, NULL);
        for (int n = 0; n < 5; n++) CHECK_TERMS(m2[n], m[n], terms[n]);

        for (size_t i = 0; i < P; i++)
            for (size_t a = 0; a < Q; a++) A2[a * P + i] = A[i * Q + a], B2[a * P + i] = B[i * Q + a];
        p2.P = Q, p2.Q = P;
        estimate(&p2, KSPEC_SAMPLED_BOTH, m2, NULL);
        for (int n = 0; n < 5; n++) CHECK_TERMS(m2[n], m[n], terms[n]);
        double rows[5], cols[5], t[5];
        estimate(&p, KSPEC_SAMPLED_ROWS, rows, t);
        estimate(&p2, KSPEC_SAMPLED_COLS, cols, NULL);
        for (int n = 0; n < 5; n++) CHECK_TERMS(cols[n], rows[n], t[n]);

        ks_pair swapped = {p.B, p.A, P, Q, 5};
        estimate(&swapped, KSPEC_SAMPLED_BOTH, m2, NULL);
        for (int n = 0; n < 5; n++) CHECK_TERMS(m2[n], m[n], terms[n]);

        for (int i = 0; i < P * Q; i++) A2[i] = 8 * A[i], B2[i] = 8 * B[i];
        p2.P = P, p2.Q = Q;
        estimate(&p2, KSPEC_SAMPLED_BOTH, m2, NULL);
        for (int n = 0; n < 5; n++) CHECK(m2[n] == ldexp(m[n], 6 * (n + 1)));
    }
    free(A), free(B), free(A2), free(B2);
}

TEST(low_orders_do_not_depend_on_nmax) {
    double *A = oracle_matrix(3, 20, 25), m[5], k[5], terms[5];
    estimate(&(ks_pair){A, A, 20, 25, 5}, KSPEC_SAMPLED_BOTH, m, terms);
    for (int n = 1; n < 5; n++) {
        estimate(&(ks_pair){A, A, 20, 25, n}, KSPEC_SAMPLED_BOTH, k, NULL);
        for (int j = 0; j < n; j++) CHECK_TERMS(k[j], m[j], terms[j]);
    }
    free(A);
}

TEST(leaving_one_out_is_leaving_it_out) {
    uint64_t seed = 50;
    static const size_t shapes[][2] = {{7, 6}, {4, 4}, {3, 9}, {6, 5}, {33, 70}, {1, 3}};
    for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++)
        for (int mode = 0; mode < 6; mode++) {
            size_t P = shapes[k][0], Q = shapes[k][1];
            kspec_sampled s = all_modes[mode / 2];
            size_t most = s == KSPEC_SAMPLED_ROWS ? P : s == KSPEC_SAMPLED_COLS ? Q : P < Q ? P : Q;
            int nmax = most < 5 ? (int)most : P > 30 ? 4 : 5;
            double *A = oracle_matrix(seed++, P, Q), *B = mode % 2 ? oracle_matrix(seed++, P, Q) : A;
            double m[5], terms[5], less[5], plain[5];
            double *rows = malloc(5 * P * sizeof *rows), *cols = malloc(5 * Q * sizeof *cols);
            ks_pair p = {A, B, P, Q, nmax};
            kspec_error err = {0};
            CHECK_MSG(exact_once(&one, &p, s, &(ks_moments_out){m, rows, cols}, terms, &err) == KSPEC_OK,
                      "%s", err.msg);
            estimate(&p, s, plain, NULL);
            for (int n = 0; n < nmax; n++) CHECK(m[n] == plain[n]);
            for (size_t i = 0; i < P + Q; i++) {
                int row = i < P ? (int)i : -1, col = i < P ? -1 : (int)(i - P);
                const double *got = i < P ? rows + i : cols + (i - P);
                size_t stride = i < P ? P : Q;
                if (s == (i < P ? KSPEC_SAMPLED_COLS : KSPEC_SAMPLED_ROWS)) { /* a complete side */
                    for (int n = 0; n < nmax; n++) CHECK(got[(size_t)n * stride] == m[n]);
                    continue;
                }
                double *A2 = oracle_without(A, P, Q, row, col),
                       *B2 = B == A ? A2 : oracle_without(B, P, Q, row, col);
                ks_pair q = {A2, B2, P - (i < P), Q - (i >= P), nmax};
                size_t left = i < P ? q.P : q.Q;
                if ((size_t)q.nmax > left) {
                    CHECK(isnan(got[(size_t)left * stride]));
                    q.nmax = (int)left;
                }
                double few[5];
                if (q.nmax) estimate(&q, s, less, few);
                for (int n = 0; n < q.nmax; n++) {
                    double scale = terms[n] > few[n] ? terms[n] : few[n];
                    /*
                     * S - (cycles through i) over fewer cycles: rounding of the whole, in units of the rest
                     */
                    scale *= oracle_count(left + 1, n + 1, 0) / oracle_count(left, n + 1, 0);
                    CHECK_TERMS(got[(size_t)n * stride], less[n], scale);
                }
                if (B2 != A2) free(B2);
                free(A2);
            }
            if (B != A) free(B);
            free(A), free(rows), free(cols);
        }
}

TEST(same_bits_at_any_thread_count) {
    static const size_t shapes[][2] = {{90, 71}, {700, 40}, {40, 600}};
    for (size_t k = 0; k < 3; k++)
        for (int mode = 0; mode < 6; mode++) {
            size_t P = shapes[k][0], Q = shapes[k][1], len = 5 * (1 + P + Q);
            double *A = oracle_matrix(7, P, Q), *B = mode % 2 ? oracle_matrix(8, P, Q) : A;
            double *want = calloc(len, sizeof *want), *got = calloc(len, sizeof *got);
            ks_pair p = {A, B, P, Q, k == 0 ? 5 : 4};
            for (int t = 0; t < 4; t++) {
                ks_run run = one;
                run.threads = (int[]){1, 2, 3, 7}[t];
                double *x = t ? got : want;
                kspec_error err = {0};
                ks_moments_out out = {x, x + 5, x + 5 * (1 + P)};
                CHECK_MSG(exact_once(&run, &p, all_modes[mode / 2], &out, NULL, &err) == KSPEC_OK, "%s",
                          err.msg);
                if (t)
                    CHECK_MSG(!memcmp(got, want, len * sizeof *got), "%d threads, %zu x %zu", run.threads, P,
                              Q);
            }
            if (B != A) free(B);
            free(A), free(want), free(got);
        }
}

/* ---- progress and failures ---- */

typedef struct {
    double last;
    int calls, stop_at, backwards;
} watcher;

static int watch(void *ctx, double f) {
    watcher *w = ctx;
    w->backwards += f < w->last - 1e-12 || f > 1 + 1e-12;
    w->last = f;
    return ++w->calls == w->stop_at;
}

TEST(progress_rises_to_one_and_cancels) {
    double *A = oracle_matrix(1, 40, 40), m[5], rows[200], cols[200];
    ks_pair p = {A, A, 40, 40, 5};
    heap_install();
    watcher w = {0};
    ks_run run = {2, {watch, &w}, 0, 1};
    kspec_error err = {0};
    CHECK(exact_once(&run, &p, KSPEC_SAMPLED_BOTH, &(ks_moments_out){m, rows, cols}, NULL, &err) == KSPEC_OK);
    CHECK(w.calls > 20 && !w.backwards);
    CHECK_CLOSE(w.last, 1, 1e-6);
    for (int stop = 1; stop < w.calls; stop += 1 + w.calls / 25) {
        watcher v = {.stop_at = stop};
        run.progress.ctx = &v;
        CHECK_FAILS(exact_once(&run, &p, KSPEC_SAMPLED_BOTH, &(ks_moments_out){m, rows, cols}, NULL, &err),
                    KSPEC_E_CANCELLED, err, "cancelled");
        CHECK(heap.blocks == 0);
    }
    heap_uninstall();
    free(A);
}

TEST(orders_out_of_range_are_refused) {
    double A[40] = {0}, m[8];
    kspec_error err = {0};
    ks_moments_out out = {.m = m};
    CHECK_FAILS(exact_once(&one, &(ks_pair){A, A, 6, 6, 6}, KSPEC_SAMPLED_BOTH, &out, NULL, &err),
                KSPEC_E_ARG, err, "order 6");
    CHECK_FAILS(exact_once(&one, &(ks_pair){A, A, 6, 6, 0}, KSPEC_SAMPLED_BOTH, &out, NULL, &err),
                KSPEC_E_ARG, err, "order 0");
    CHECK_FAILS(exact_once(&one, &(ks_pair){A, A, 8, 4, 5}, KSPEC_SAMPLED_BOTH, &out, NULL, &err),
                KSPEC_E_ARG, err, "order 5 exceeds min(P,Q)=4");
    CHECK_FAILS(exact_once(&one, &(ks_pair){A, A, 8, 4, 5}, KSPEC_SAMPLED_COLS, &out, NULL, &err),
                KSPEC_E_ARG, err, "order 5 exceeds Q=4");
    CHECK(exact_once(&one, &(ks_pair){A, A, 8, 4, 5}, KSPEC_SAMPLED_ROWS, &out, NULL, &err) == KSPEC_OK);
}

TEST(work_is_foreseen) { /* a few matrix products up to order 4; P^2 Q^2 at order 5 */
    const size_t N = 2000;
    double A[1], gemm = (double)(N * N * N);
    double w4, l4, w5;
    size_t bytes;
    CHECK(exact_cost(&(ks_pair){A, A, N, N, 4}, KSPEC_SAMPLED_BOTH, 0, &w4, &bytes) == KSPEC_OK);
    CHECK(exact_cost(&(ks_pair){A, A, N, N, 4}, KSPEC_SAMPLED_BOTH, 1, &l4, &bytes) == KSPEC_OK);
    CHECK(exact_cost(&(ks_pair){A, A, N, N, 5}, KSPEC_SAMPLED_BOTH, 0, &w5, &bytes) == KSPEC_OK);
    CHECK_MSG(w4 > 4 * gemm && w4 < 22 * gemm, "%g", w4 / gemm);
    CHECK_MSG(l4 > 2 * w4 && l4 < 5 * w4, "%g", l4 / w4);
    CHECK_MSG(w5 > gemm * (double)N / 2 && w5 < gemm * (double)N, "%g", w5 / gemm);
}

int main(void) {
    RUN(golden_values);
    RUN(equals_the_sum_over_all_cycles);
    RUN(rank_one_is_known);
    RUN(ones_have_moments_one);
    RUN(integers_are_exact);
    RUN(invariances);
    RUN(low_orders_do_not_depend_on_nmax);
    RUN(leaving_one_out_is_leaving_it_out);
    RUN(same_bits_at_any_thread_count);
    RUN(progress_rises_to_one_and_cancels);
    RUN(orders_out_of_range_are_refused);
    RUN(work_is_foreseen);
    return test_done();
}
