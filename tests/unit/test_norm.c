/* kspec_norm(): methods against each other and against oracles, the debiased interval, warnings. */
#include "help/norm.h"
#include "linalg/eigen.h"
#include "linalg/linalg.h"
#include "norm/debiased.h"
#include "norm/methods.h"
#include "norm/iterate.h"

/* The largest eigenvalue of x x^T-like matrices by LAPACK on the whole spectrum */
static double largest(double *A, size_t n) {
    double *w = malloc(n * sizeof *w), top;
    CHECK(ks_syevd(0, n, A, n, w, NULL) == KSPEC_OK);
    top = w[n - 1];
    free(w);
    return top;
}

#define BIT(code) (1ull << KSPEC_DOUBT_##code)

/* The doubts about a method, as a set of bits */
static unsigned long long doubts(const kspec_norm_result *r, kspec_norm_method method) {
    unsigned long long set = 0;
    for (size_t k = 0; k < r->doubt_count; k++)
        if (r->doubts[k]->where &&
            strcmp(r->doubts[k]->where, kspec_name(KSPEC_NAMES_NORM_METHOD, method)) == 0)
            set |= 1ull << r->doubts[k]->code;
    return set;
}

TEST(exact_methods_agree) {
    const size_t ns[] = {1, 2, 3, 50, 257, 700};
    for (int kernel = 0; kernel < 3; kernel++)
        for (size_t a = 0; a < 6; a++) {
            size_t n = ns[a], p = 3;
            double *x = normals(n, n, p), *K = malloc(n * n * sizeof *K);
            kspec_matrix m = view(x, n, p), given = view(K, n, n);
            kspec_norm_opts o = {.size = sizeof o,
                                 .methods = KSPEC_NORM_METHOD_EIGEN | KSPEC_NORM_METHOD_POWER |
                                            KSPEC_NORM_METHOD_LANCZOS,
                                 .kernel = (kspec_kernel)kernel,
                                 .sigma = 1.3};
            kspec_norm_opts k = {.size = sizeof k, .kernel = (kspec_kernel)kernel, .sigma = 1.3};
            kspec_norm_result *r, *s;
            kspec_error e;
            CHECK_MSG(kspec_norm(&m, &o, &r, &e) == KSPEC_OK, "%s", e.msg);
            CHECK(r->count == 3 && r->n == n && r->p == p && r->sigma == 1.3 && r->constant_columns == 0);
            CHECK(kspec_gram(&m, &k, K, NULL) == KSPEC_OK);
            o = (kspec_norm_opts){
                .size = sizeof o, .methods = o.methods | KSPEC_NORM_METHOD_NYSTROM, .gram = 1, .sample = n};
            /* and from the matrix itself */
            CHECK_MSG(kspec_norm(&given, &o, &s, &e) == KSPEC_OK, "%s", e.msg);
            double want = largest(K, n);
            CHECK_CLOSE(find(r, KSPEC_NORM_METHOD_EIGEN)->value, want, 1e-13);
            CHECK_CLOSE(find(r, KSPEC_NORM_METHOD_LANCZOS)->value, want, 1e-10);
            CHECK_CLOSE(find(r, KSPEC_NORM_METHOD_POWER)->value, want, 1e-8);
            CHECK_CLOSE(find(s, KSPEC_NORM_METHOD_EIGEN)->value, want, 1e-13);
            CHECK_CLOSE(find(s, KSPEC_NORM_METHOD_LANCZOS)->value, want, 1e-10);
            CHECK_CLOSE(find(s, KSPEC_NORM_METHOD_NYSTROM)->value, want, 1e-10); /* a sample of all rows */
            for (size_t c = 0; c < 3; c++) {
                CHECK(r->entries[c]->residual < (c ? 1e-4 : 1e-12) && !doubts(r, r->entries[c]->method) &&
                      r->entries[c]->seconds >= 0);
                CHECK(isnan(r->entries[c]->ci_low));
                if (r->entries[c]->method != KSPEC_NORM_METHOD_POWER)
                    CHECK(isnan(r->entries[c]->bound) && !r->entries[c]->has_bound);
            }
            if (n == 1)
                CHECK(find(r, KSPEC_NORM_METHOD_LANCZOS)->value == 1 &&
                      find(r, KSPEC_NORM_METHOD_POWER)->value == 1);
            kspec_free(r);
            kspec_free(s);
            free(x);
            free(K);
        }
}

/* A spectrum with a gap of 2%: power needs hundreds of products for what Lanczos does in tens */
typedef struct {
    size_t n;
    int products;
} diagonal;

static kspec_status apply_diagonal(void *ctx, const ks_run *run, const double *x, double *y,
                                   kspec_error *err) {
    (void)run, (void)err;
    diagonal *d = ctx;
    d->products++;
    for (size_t i = 0; i < d->n; i++)
        y[i] = x[i] * (i == 0 ? 1 : 0.98 * (double)(d->n - i) / (double)(d->n - 1));
    return KSPEC_OK;
}

TEST(lanczos_needs_fewer_products) {
    ks_run run = {1, {0}, 0, 1};
    for (uint64_t seed = 0; seed < 5; seed++) {
        diagonal d = {500, 0};
        ks_operator A = {500, apply_diagonal, &d};
        ks_iteration o = {1000, 1e-10, seed, 0};
        ks_top power, lanczos;
        CHECK(ks_power(&run, &A, &o, &power, NULL) == KSPEC_OK);
        CHECK(d.products == power.iterations + 1);
        CHECK(ks_lanczos(&run, &A, &o, &lanczos, NULL) == KSPEC_OK);
        CHECK(power.converged && lanczos.converged);
        CHECK_MSG(fabs(power.value - 1) < 2e-10 && fabs(lanczos.value - 1) < 1e-10, "%g %g", power.value - 1,
                  lanczos.value - 1);
        CHECK_MSG(4 * lanczos.iterations < power.iterations, "%d, %d", lanczos.iterations, power.iterations);
        o.updates = 5; /* cut short: five updates, and an honest residual */
        CHECK(ks_power(&run, &A, &o, &power, NULL) == KSPEC_OK && power.iterations == 5 && !power.converged);
        CHECK(power.residual > 1e-3 && power.value < 1 && power.value > 0.5);
        CHECK(ks_lanczos(&run, &A, &o, &lanczos, NULL) == KSPEC_OK && lanczos.iterations == 5 &&
              !lanczos.converged);
        CHECK(lanczos.value > power.value - 0.05 && lanczos.value < 1);
    }
    /* three dimensions are exhausted in three products */
    diagonal d = {3, 0};
    ks_operator A = {3, apply_diagonal, &d};
    ks_iteration o = {1000, 1e-10, 1, 0};
    ks_top top;
    CHECK(ks_lanczos(&run, &A, &o, &top, NULL) == KSPEC_OK && fabs(top.value - 1) < 1e-14 &&
          top.iterations <= 3);
}

static kspec_status apply_dense(void *ctx, const ks_run *run, const double *x, double *y, kspec_error *err) {
    (void)run, (void)err;
    size_t n = *(size_t *)ctx;
    for (size_t i = 0; i < n; i++) y[i] = x[i] * (1 - 1e-3 * (double)i / (double)n);
    return KSPEC_OK;
}

/* 4000 eigenvalues between 0.999 and 1: the basis is started again, and the gap is not known */
TEST(lanczos_starts_again) {
    ks_run run = {1, {0}, 0, 1};
    size_t n = 4000;
    ks_operator A = {n, apply_dense, &n};
    ks_iteration o = {1000, 1e-10, 3, 0};
    ks_top top;
    CHECK(ks_lanczos(&run, &A, &o, &top, NULL) == KSPEC_OK);
    CHECK_MSG(top.converged && top.iterations > 96 && fabs(top.value - 1) < 1e-9, "%d %g", top.iterations,
              top.value - 1);
}

/* sigma_1(Z)^2 from the whole Z; held or remade, at any number of threads, the same bits */
TEST(random_features) {
    enum { N = 900, P = 4, Q = 60 };
    double *x = normals(5, N, P), *y = malloc(N * P * sizeof *y), *Z = malloc(N * Q * sizeof *Z), G[Q * Q];
    kspec_matrix m = view(x, N, P), centred = view(y, N, P);
    for (size_t l = 0; l < P; l++) { /* the norm's features are those of the centred rows */
        double mean = 0;
        for (size_t i = 0; i < N; i++) mean += x[i * P + l] / N;
        for (size_t i = 0; i < N; i++) y[i * P + l] = x[i * P + l] - mean;
    }
    for (int kernel = 0; kernel < 3; kernel++) {
        kspec_norm_opts k = {
            .size = sizeof k, .kernel = (kspec_kernel)kernel, .sigma = 2, .features = Q, .seed = 9};
        CHECK(kspec_features(&centred, &k, Z, NULL) == KSPEC_OK);
        ks_gemm(1, 0, Q, Q, N, 1, Z, Q, Z, Q, 0, G, Q);
        double want = largest(G, Q);
        kspec_norm_result *first = NULL;
        for (int c = 0; c < 4; c++) {
            kspec_norm_opts o = {.size = sizeof o,
                                 .methods = ALL,
                                 .kernel = (kspec_kernel)kernel,
                                 .sigma = 2,
                                 .features = Q,
                                 .sample = N,
                                 .seed = 9,
                                 .threads = c == 3 ? 2 : c + 1,
                                 .memory = c == 3 ? 1 : 0};
            kspec_norm_result *r;
            CHECK(kspec_norm(&m, &o, &r, NULL) == KSPEC_OK && r->count == 7);
            CHECK_CLOSE(find(r, KSPEC_NORM_METHOD_RFF_POWER)->value, want, 1e-8);
            CHECK(find(r, KSPEC_NORM_METHOD_RFF_NYSTROM)->value ==
                  find(r, KSPEC_NORM_METHOD_RFF_POWER)->value); /* all rows */
            for (size_t e = 0; e < r->count && c; e++) {
                CHECK(r->entries[e]->value == first->entries[e]->value &&
                      r->entries[e]->iterations == first->entries[e]->iterations);
                CHECK(e < 6 || (r->entries[e]->ci_low == first->entries[e]->ci_low &&
                                r->entries[e]->order == first->entries[e]->order));
                CHECK(isnan(r->entries[e]->debiased) ||
                      r->entries[e]->debiased == first->entries[e]->debiased);
            }
            if (c)
                kspec_free(r);
            else
                first = r;
        }
        const kspec_norm_entry *d = find(first, KSPEC_NORM_METHOD_RFF_DEBIASED);
        double norm = find(first, KSPEC_NORM_METHOD_EIGEN)->value;
        CHECK_MSG(d->ci_low <= norm && norm <= d->ci_high && d->ci_low >= 1 && d->ci_high <= N, "%g %g %g",
                  d->ci_low, norm, d->ci_high);
        kspec_free(first);
    }
    free(x), free(y), free(Z);
}

/*
 * The debiased estimate from its definition: unbiased moments of the feature matrix, columns sampled, rows
 * complete, and the same without each column in turn
 */
TEST(debiased_from_the_definition) {
    enum { N = 300, P = 3, Q = 24, ORDERS = 5 };
    double *x = normals(6, N, P), *Z = malloc(N * Q * sizeof *Z), *without = malloc(N * Q * sizeof *without),
           G[Q * Q];
    kspec_matrix m = view(x, N, P);
    kspec_norm_opts k = {.size = sizeof k, .sigma = 4, .features = Q};
    CHECK(kspec_features(&m, &k, Z, NULL) == KSPEC_OK);
    for (size_t i = 0; i < N * Q; i++) Z[i] *= sqrt(Q);
    ks_gemm(1, 0, Q, Q, N, 1.0 / N, Z, Q, Z, Q, 0, G, Q);
    double all[ORDERS], loo[ORDERS][Q];
    for (size_t out = 0; out <= Q; out++) { /* without column `out`; Q: with all of them */
        size_t cols = out < Q ? Q - 1 : Q, c = 0;
        for (size_t i = 0; i < N; i++)
            for (size_t a = 0; a < Q; a++)
                if (a != out) without[c++] = Z[i * Q + a];
        kspec_matrix phi = view(without, N, cols);
        kspec_moments_opts o = {.size = sizeof o,
                                .nmax = ORDERS,
                                .estimators = KSPEC_ESTIMATOR_EXACT,
                                .sampled = KSPEC_SAMPLED_COLS,
                                .no_stderr = 1};
        kspec_moments_result *r;
        CHECK(kspec_moments(&phi, 1, &o, &r, NULL) == KSPEC_OK && r->count == ORDERS);
        for (size_t n = 0; n < ORDERS; n++) *(out < Q ? &loo[n][out] : &all[n]) = r->estimates[n]->value;
        kspec_free(r);
    }
    ks_run run = {1, {0}, 0, 1};
    ks_debiased d, read = ks_debiased_read(all, loo[0], ORDERS, Q, N);
    CHECK(ks_debias(&run, G, Q, 0, N, ORDERS, 0, 0, &d, NULL) == KSPEC_OK);
    CHECK(d.order == read.order && d.order >= 3);
    CHECK_CLOSE(d.value, read.value, 1e-10);
    CHECK_CLOSE(d.low, read.low, 1e-9);
    CHECK_CLOSE(d.high, read.high, 1e-9);
    /* and what is read is what the manual says */
    int o = d.order;
    double mean[2] = {0}, square[2] = {0};
    for (int pass = 0; pass < 2; pass++)
        for (size_t a = 0; a < Q; a++) {
            double t[2] = {log(loo[o - 1][a]) / o, log(loo[o - 1][a] / loo[o - 2][a])};
            for (int c = 0; c < 2; c++) {
                if (pass == 0)
                    mean[c] += t[c] / Q;
                else
                    square[c] += (t[c] - mean[c]) * (t[c] - mean[c]) * (Q - 1) / Q;
            }
        }
    double value = N * pow(all[o - 1], 1.0 / o);
    CHECK_CLOSE(read.value, value, 1e-12);
    CHECK_CLOSE(read.high, fmin(N, value * exp(1.959963984540054 * sqrt(square[0]))), 1e-9);
    CHECK_CLOSE(read.low, N * all[o - 1] / all[o - 2] * exp(-1.959963984540054 * sqrt(square[1])), 1e-9);
    free(x), free(Z), free(without);
}

/* tr of the product of 2 x 2 blocks D[a_k][a_k+1], averaged over different pairs a_k other than `out` */
static double pair_cycles(const double *D, size_t pairs, int n, size_t out, double count[1]) {
    size_t at[5], steps = 1;
    double sum = 0;
    *count = 0;
    for (int k = 0; k < n; k++) steps *= pairs;
    for (size_t s = 0; s < steps; s++) {
        int apart = 1;
        for (size_t k = 0, rest = s; k < (size_t)n; k++, rest /= pairs) {
            at[k] = rest % pairs;
            apart &= at[k] != out;
            for (size_t l = 0; l < k; l++) apart &= at[l] != at[k];
        }
        if (!apart) continue;
        double M[4] = {1, 0, 0, 1};
        for (int k = 0; k < n; k++) {
            const double *B = D + at[k] * 4 * pairs + 2 * at[(k + 1) % n]; /* rows of 2 pairs */
            const double m[4] = {M[0] * B[0] + M[1] * B[2 * pairs], M[0] * B[1] + M[1] * B[2 * pairs + 1],
                                 M[2] * B[0] + M[3] * B[2 * pairs], M[2] * B[1] + M[3] * B[2 * pairs + 1]};
            memcpy(M, m, sizeof M);
        }
        sum += M[0] + M[3], ++*count;
    }
    return sum / *count;
}

/*
 * Pairs of a cosine and a sine: the estimate up to order 3 from its definition, a sum over different pairs;
 * and one of higher order in the mean over draws, whose variance is a fraction of that of random phases
 */
TEST(debiased_of_pairs) {
    enum { N = 60, P = 3, Q = 12, PAIRS = Q / 2 };
    double *x = normals(6, N, P), Z[N * Q], G[Q * Q], D[Q * Q], all[3], loo[3][PAIRS], count;
    for (size_t k = 0; k < PAIRS; k++) {
        double w[P];
        kspec_random_normal(11, 1, k * P, P, w);
        for (size_t i = 0; i < N; i++) {
            double t = 0.3;
            for (size_t l = 0; l < P; l++) t += w[l] * x[i * P + l] / 4;
            Z[i * Q + 2 * k] = sqrt(2) * cos(t), Z[i * Q + 2 * k + 1] = sqrt(2) * sin(t);
        }
    }
    ks_gemm(1, 0, Q, Q, N, 1.0 / N, Z, Q, Z, Q, 0, G, Q);
    for (size_t k = 0; k < Q * Q; k++) D[k] = G[k] / 2;
    for (int n = 1; n <= 3; n++) {
        all[n - 1] = pair_cycles(D, PAIRS, n, PAIRS, &count);
        for (size_t out = 0; out < PAIRS; out++) loo[n - 1][out] = pair_cycles(D, PAIRS, n, out, &count);
    }
    const ks_run run = {1, {0}, 0, 1};
    ks_debiased d, read = ks_debiased_read(all, loo[0], 3, PAIRS, N);
    CHECK(ks_debias(&run, G, Q, 1, N, 3, 0, 0, &d, NULL) == KSPEC_OK);
    CHECK(d.order == 3 && read.order == 3);
    CHECK_CLOSE(d.value, read.value, 1e-10);
    CHECK_CLOSE(d.low, read.low, 1e-9);
    CHECK_CLOSE(d.high, read.high, 1e-9);
    free(x);

    /* sigma = 3 times the median distance of these rows */
    enum { ROWS = 200, DRAWS = 40 };
    x = normals(8, ROWS, P);
    const kspec_matrix m = view(x, ROWS, P);
    double mean[2] = {0}, square[2] = {0}, norm = 0;
    for (int paired = -1; paired < 2; paired++) {
        ks_norm_pairs = paired;
        const kspec_norm_opts o = {.size = sizeof o,
                                   .methods = KSPEC_NORM_METHOD_RFF_DEBIASED |
                                              (paired < 0 ? KSPEC_NORM_METHOD_EIGEN : 0),
                                   .sigma = 7,
                                   .features = 32,
                                   .repeats = DRAWS,
                                   .threads = 1};
        kspec_norm_result *r;
        if (kspec_norm(&m, &o, &r, NULL)) continue;
        const kspec_norm_entry *e = r->entries[r->count - 1];
        CHECK(e->paired == (paired != 0) && e->order >= (e->paired ? 4 : 2));
        if (paired < 0)
            norm = r->entries[0]->value;
        else
            mean[paired] = e->value, square[paired] = e->spread * e->spread;
        int held = 0;
        for (size_t k = 0; k < e->draw_count && norm > 0; k++)
            held += e->draws[k]->ci_low <= norm && norm <= e->draws[k]->ci_high;
        CHECK_MSG(held >= 35, "paired %d: %d of %d intervals hold", paired, held, DRAWS);
        kspec_free(r);
    }
    ks_norm_pairs = -1;
    for (int k = 0; k < 2; k++) /* 4 standard errors: one false alarm in 15,000 */
        CHECK_MSG(fabs(mean[k] - norm) < 4 * sqrt(square[k] / DRAWS) + 1e-3 * norm, "%d: %g, norm %g", k,
                  mean[k], norm);
    CHECK_MSG(square[0] > 50 * square[1], "variances %g and %g", square[0], square[1]);
    free(x);
}

/* Nothing can be read where the moments are not known: the trivial interval, and it says so */
TEST(debiased_without_an_order) {
    double m[3] = {1, 0.1, -0.01}, loo[3 * 4] = {1, 1, 1, 1, 0.3, -0.1, 0.1, 0.1, 0, 0, 0, 0};
    ks_debiased d = ks_debiased_read(m, loo, 3, 4, 100);
    CHECK(d.order == 0 && d.value == 100 && d.low == 1 && d.high == 100);
    double sure[3 * 4] = {1, 1, 1, 1, 0.1, 0.1, 0.1, 0.1, -0.01, -0.01, -0.01, -0.01};
    d = ks_debiased_read(m, sure, 3, 4, 100); /* the third moment is negative: read at the second */
    CHECK(d.order == 2 && fabs(d.value - 100 * sqrt(0.1)) < 1e-12 && fabs(d.low - 10) < 1e-12 &&
          d.high == d.value);
    double *x = normals(7, 200, 2);
    kspec_matrix all = view(x, 200, 2);
    kspec_norm_opts o = {
        .size = sizeof o, .methods = KSPEC_NORM_METHOD_RFF_DEBIASED, .sigma = 1e-6, .features = 2};
    kspec_norm_result *r;
    CHECK(kspec_norm(&all, &o, &r, NULL) == KSPEC_OK);
    CHECK(doubts(r, KSPEC_NORM_METHOD_RFF_DEBIASED) == BIT(TOO_FEW_FEATURES) && r->entries[0]->ci_low == 1 &&
          r->entries[0]->ci_high == 200);
    kspec_free(r);
    free(x);
}

/*
 * K is nearly the identity, n/q = 30: sigma_1(Z)^2 is far too large and says so. With a wide kernel it is
 * right.
 */
TEST(warnings) {
    double *x = normals(8, 900, 6);
    kspec_matrix m = view(x, 900, 6);
    kspec_norm_opts o = {.size = sizeof o,
                         .methods = KSPEC_NORM_METHOD_LANCZOS | KSPEC_NORM_METHOD_RFF_POWER |
                                    KSPEC_NORM_METHOD_RFF_DEBIASED,
                         .sigma = 0.05,
                         .features = 30};
    kspec_norm_result *r;
    CHECK(kspec_norm(&m, &o, &r, NULL) == KSPEC_OK);
    const kspec_norm_entry *e = find(r, KSPEC_NORM_METHOD_RFF_POWER);
    CHECK(e->value > 25 && find(r, KSPEC_NORM_METHOD_LANCZOS)->value < 1.1);
    CHECK(doubts(r, e->method) & BIT(NEAR_FLOOR));
    kspec_free(r);
    o.sigma = 1.5; /* |K| is a few times n/q: not near the floor, but the debiased value is another */
    o.features = 100;
    CHECK(kspec_norm(&m, &o, &r, NULL) == KSPEC_OK);
    e = find(r, KSPEC_NORM_METHOD_RFF_POWER);
    double norm = find(r, KSPEC_NORM_METHOD_LANCZOS)->value;
    CHECK_MSG(!(doubts(r, e->method) & BIT(NEAR_FLOOR)) && e->value > 18, "%g", e->value);
    CHECK_MSG((doubts(r, e->method) & BIT(DISAGREES)) == 0 || e->value > 1.1 * norm, "%g %g", e->value, norm);
    kspec_free(r);
    o.sigma = 0.7;
    CHECK(kspec_norm(&m, &o, &r, NULL) == KSPEC_OK);
    e = find(r, KSPEC_NORM_METHOD_RFF_POWER);
    norm = find(r, KSPEC_NORM_METHOD_LANCZOS)->value;
    CHECK_MSG(doubts(r, e->method) == BIT(DISAGREES) && e->value > 1.2 * norm &&
                  fabs(e->debiased - norm) < fabs(e->value - norm),
              "%g %g %g", e->value, e->debiased, norm);
    kspec_free(r);
    o.sigma = 10;
    CHECK(kspec_norm(&m, &o, &r, NULL) == KSPEC_OK);
    e = find(r, KSPEC_NORM_METHOD_RFF_POWER);
    CHECK_MSG(!doubts(r, e->method) && fabs(e->value / find(r, KSPEC_NORM_METHOD_LANCZOS)->value - 1) < 0.3,
              "%g", e->value);
    kspec_free(r);
    /*
     * K is nearly all ones: half of the draws are above n = |K|, by noise of sqrt(1/(2q)) = 4%, and nothing
     * is wrong
     */
    o.sigma = 1000, o.features = 300, o.methods = KSPEC_NORM_METHOD_RFF_POWER;
    int above = 0;
    for (o.seed = 0; o.seed < 8; o.seed++) {
        CHECK(kspec_norm(&m, &o, &r, NULL) == KSPEC_OK);
        above += r->entries[0]->value > 900;
        CHECK_MSG(!doubts(r, r->entries[0]->method), "seed %d: %g", (int)o.seed, r->entries[0]->value);
        kspec_free(r);
    }
    CHECK(above > 0);
    free(x);
}

/*
 * Theorem 2.1: the bound solves 2n exp(-e^2 q/(10 n^2 + 2 n e)) = 0.05, and is no number where it exceeds n
 */
TEST(bound) {
    double *x = normals(9, 500, 3);
    kspec_matrix m = view(x, 500, 3);
    kspec_norm_opts o = {.size = sizeof o,
                         .methods = KSPEC_NORM_METHOD_RFF_POWER | KSPEC_NORM_METHOD_RFF_NYSTROM,
                         .sigma = 3,
                         .features = 150,
                         .sample = 200};
    kspec_norm_result *r;
    CHECK(kspec_norm(&m, &o, &r, NULL) == KSPEC_OK);
    for (int k = 0; k < 2; k++) {
        double n = k ? 200 : 500, e = r->entries[k]->bound * n / 500;
        CHECK_CLOSE(2 * n * exp(-e * e * 150 / (10 * n * n + 2 * n * e)), 0.05, 1e-10);
        CHECK(e < n && r->entries[k]->has_bound);
    }
    kspec_free(r);
    o.features = 100;
    CHECK(kspec_norm(&m, &o, &r, NULL) == KSPEC_OK);
    CHECK(r->entries[0]->has_bound && isnan(r->entries[0]->bound)); /* log(20000) 12 > 100 */
    kspec_free(r);
    free(x);
}

/* Rows that are all the same: K is all ones. Rows that come d times: the norm is at least d. */
TEST(duplicates) {
    double x[40 * 2];
    for (size_t k = 0; k < 80; k++) x[k] = 3.5;
    kspec_matrix m = view(x, 40, 2);
    kspec_norm_opts o = {.size = sizeof o, .methods = ALL, .sigma = 1e-3, .sample = 10};
    kspec_norm_result *r;
    CHECK(kspec_norm(&m, &o, &r, NULL) == KSPEC_OK);
    for (size_t k = 0; k < r->count; k++)
        if (r->entries[k]->method < KSPEC_NORM_METHOD_RFF_POWER ||
            r->entries[k]->method == KSPEC_NORM_METHOD_NYSTROM)
            CHECK_CLOSE(r->entries[k]->value, 40, 1e-12);
        else
            CHECK_MSG(r->entries[k]->value > 20 && r->entries[k]->value < 80, "%g", r->entries[k]->value);
    kspec_free(r);
    kspec_random_normal(10, 0, 0, 80, x);
    for (size_t i = 0; i < 7; i++) x[2 * i] = x[0], x[2 * i + 1] = x[1];
    o.methods = KSPEC_NORM_METHOD_EIGEN | KSPEC_NORM_METHOD_LANCZOS;
    CHECK(kspec_norm(&m, &o, &r, NULL) == KSPEC_OK);
    CHECK(r->entries[0]->value >= 7 - 1e-12 && fabs(r->entries[0]->value - r->entries[1]->value) < 1e-9);
    kspec_free(r);
}

TEST(repeats_samples_and_tolerance) {
    double *x = normals(11, 400, 3);
    kspec_matrix m = view(x, 400, 3);
    kspec_norm_opts o = {.size = sizeof o,
                         .methods = ALL & ~KSPEC_NORM_METHOD_EIGEN,
                         .sigma = 1,
                         .features = 40,
                         .sample = 100,
                         .repeats = 6};
    kspec_norm_result *r, *one;
    CHECK(kspec_norm(&m, &o, &r, NULL) == KSPEC_OK);
    o.repeats = 1;
    CHECK(kspec_norm(&m, &o, &one, NULL) == KSPEC_OK);
    for (size_t k = 0; k < r->count; k++) {
        const kspec_norm_entry *e = r->entries[k];
        int random = e->features || e->sample;
        CHECK(e->draw_count == (random ? 6 : 1) && isfinite(e->spread) == random);
        CHECK(e->draws[0]->value ==
              one->entries[k]->value); /* the first draw is the only one of a single run */
        double mean = 0, square = 0;
        for (size_t d = 0; d < e->draw_count; d++) mean += e->draws[d]->value / (double)e->draw_count;
        for (size_t d = 0; d < e->draw_count; d++) square += pow(e->draws[d]->value - mean, 2);
        CHECK_CLOSE(e->value, mean, 1e-14);
        if (random) CHECK_CLOSE(e->spread, sqrt(square / 5), 1e-12);
        if (random) CHECK(e->draws[0]->value != e->draws[1]->value);
    }
    kspec_free(r);
    kspec_free(one);
    o = (kspec_norm_opts){.size = sizeof o,
                          .methods = KSPEC_NORM_METHOD_NYSTROM,
                          .sigma = 1,
                          .sample = 100,
                          .sample_first = 1,
                          .repeats = 3};
    CHECK(kspec_norm(&m, &o, &r, NULL) == KSPEC_OK);
    kspec_matrix head = view(x, 100, 3);
    o.methods = KSPEC_NORM_METHOD_LANCZOS;
    CHECK(kspec_norm(&head, &o, &one, NULL) == KSPEC_OK);
    CHECK_CLOSE(r->entries[0]->value, 4 * one->entries[0]->value,
                1e-9); /* the first 100 of 400 rows; drawn once */
    CHECK(r->entries[0]->draw_count == 1);
    kspec_free(r);
    kspec_free(one);
    /*
     * q is doubled from 16 until the interval is narrower than 20% of the value; the other RFF methods take
     * the same q
     */
    o = (kspec_norm_opts){.size = sizeof o,
                          .methods = KSPEC_NORM_METHOD_RFF_POWER | KSPEC_NORM_METHOD_RFF_DEBIASED,
                          .sigma = 2,
                          .features = 16,
                          .tolerance = 0.2};
    CHECK(kspec_norm(&m, &o, &r, NULL) == KSPEC_OK);
    const kspec_norm_entry *d = find(r, KSPEC_NORM_METHOD_RFF_DEBIASED);
    size_t q = d->features;
    CHECK(q >= 32 && (q & (q - 1)) == 0 && r->entries[0]->features == q && !doubts(r, d->method));
    CHECK(d->ci_high - d->ci_low <= 0.2 * d->value);
    o.features = q / 2, o.tolerance = 0; /* half of it is not enough */
    CHECK(kspec_norm(&m, &o, &one, NULL) == KSPEC_OK);
    d = find(one, KSPEC_NORM_METHOD_RFF_DEBIASED);
    CHECK(d->ci_high - d->ci_low > 0.2 * d->value);
    kspec_free(r);
    kspec_free(one);
    free(x);
}

int main(void) {
    /* some tests call what lies below the public functions, which do this */
    CHECK(ks_blas_enter(4, NULL) == KSPEC_OK);
    RUN(exact_methods_agree);
    RUN(lanczos_needs_fewer_products);
    RUN(lanczos_starts_again);
    RUN(random_features);
    RUN(debiased_from_the_definition);
    RUN(debiased_of_pairs);
    RUN(debiased_without_an_order);
    RUN(warnings);
    RUN(bound);
    RUN(duplicates);
    RUN(repeats_samples_and_tolerance);
    ks_blas_exit();
    return test_done();
}
