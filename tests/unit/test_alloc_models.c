/* Allocations that fail: what is made of matrices and moments. */
#include "help/spectrum.h"
#include "help/alloc_attempts.h"

static kspec_status spectrum(const void *ctx, kspec_error *err) {
    kspec_matrix phi = {entries[0], P, Q, Q, 1};
    kspec_moments_opts how = {.size = sizeof how, .nmax = 3, .estimators = KSPEC_ESTIMATOR_NAIVE};
    kspec_spectrum_opts o = {
        .size = sizeof o, .rank = 3, .grid = 11, .draws = 3, .threads = *(const int *)ctx};
    kspec_spectrum_result *r;
    kspec_status st = spectrum_of(&phi, 1, &how, &o, &r, err);
    if (st)
        CHECK_MSG(!r, "a failure has a result");
    else
        CHECK(r->rank == 3 && r->lp->draws == 3 && r->sample_count == Q);
    kspec_free(r);
    return st;
}

static kspec_status spectrum_free(const void *ctx, kspec_error *err) {
    const double m[] = {1, 0.4, 0.2}, se[] = {0.01, 0.01, 0.01};
    kspec_spectrum_opts o = {.size = sizeof o, .grid = 11, .draws = 3, .threads = *(const int *)ctx};
    kspec_spectrum_result *r;
    kspec_status st = spectrum_from(m, se, NULL, 3, 0, &o, &r, err);
    if (st)
        CHECK_MSG(!r, "a failure has a result");
    else
        CHECK(r->lp->free_mass && r->lp->draws == 3 && r->lp->number > 1);
    kspec_free(r);
    return st;
}

static kspec_status spectrum_cvpca(const void *ctx, kspec_error *err) {
    kspec_matrix phi[2] = {{entries[0], P, Q, Q, 1}, {entries[1], P, Q, Q, 1}};
    kspec_moments_opts how = {.size = sizeof how, .estimators = KSPEC_ESTIMATOR_NAIVE};
    kspec_spectrum_opts o = {
        .size = sizeof o, .method = KSPEC_SPECTRUM_METHOD_CVPCA, .threads = *(const int *)ctx};
    kspec_spectrum_result *r;
    kspec_status st = spectrum_of(phi, 2, &how, &o, &r, err);
    if (st)
        CHECK_MSG(!r, "a failure has a result");
    else
        CHECK(r->rank == Q && r->sample_count == Q && r->cvpca->splits == 1);
    kspec_free(r);
    return st;
}

static kspec_status spectrum_newton(const void *ctx, kspec_error *err) {
    const double m[] = {4, 10};
    kspec_spectrum_opts o = {
        .size = sizeof o, .method = KSPEC_SPECTRUM_METHOD_NEWTON, .rank = 2, .threads = *(const int *)ctx};
    kspec_spectrum_result *r;
    kspec_status st = spectrum_from(m, NULL, NULL, 2, 2, &o, &r, err);
    if (st)
        CHECK_MSG(!r, "a failure has a result");
    else
        CHECK(r->rank == 2 && r->newton->complex_count == 0);
    kspec_free(r);
    return st;
}

static kspec_status spectrum_fit(const void *ctx, kspec_error *err) {
    kspec_matrix phi = {entries[0], P, Q, Q, 1};
    kspec_moments_opts how = {.size = sizeof how, .nmax = 2, .estimators = KSPEC_ESTIMATOR_NAIVE};
    kspec_spectrum_opts o = {.size = sizeof o, .threads = *(const int *)ctx};
    kspec_spectrum_result *r;
    kspec_status st = spectrum_of(&phi, 1, &how, &o, &r, err);
    if (st)
        CHECK_MSG(!r, "a failure has a result");
    else
        CHECK(r->method == KSPEC_SPECTRUM_METHOD_FIT && r->sample_count == Q && r->fit->family_count > 0);
    kspec_free(r);
    return st;
}

TEST(spectra) {
    alloc_fill_entries();
    for (int threads = 1; threads <= 2; threads++) until_it_succeeds(spectrum, &threads, 30, "spectrum");
    for (int threads = 1; threads <= 2; threads++)
        until_it_succeeds(spectrum_free, &threads, 20, "free mass");
    for (int threads = 1; threads <= 2; threads++) until_it_succeeds(spectrum_cvpca, &threads, 20, "cvpca");
    until_it_succeeds(spectrum_newton, &(int){1}, 3, "newton");
    for (int threads = 1; threads <= 2; threads++) until_it_succeeds(spectrum_fit, &threads, 30, "fit");
}

typedef struct {
    kspec_wls_opts opts;
    size_t N, p;
} wls_case;

static kspec_status wls_theory(const void *ctx, kspec_error *err) {
    const wls_case *c = ctx;
    kspec_wls_result *r = (kspec_wls_result *)(uintptr_t)1;
    kspec_wls_bound_result *b = NULL;
    kspec_status st = kspec_wls_theory(c->N, &c->p, 1, &c->opts, &r, err);
    CHECK(st ? r == NULL : r->points[0]->error_noise > 0);
    if (!st && c->p < c->N) st = kspec_wls_bound(c->N, 7, 1, &c->p, 1, &c->opts, &b, err);
    kspec_free(r);
    kspec_free(b);
    return st;
}

static kspec_status wls_best(const void *ctx, kspec_error *err) {
    const wls_case *c = ctx;
    kspec_wls_result *best = NULL, *weight = NULL;
    kspec_status st = kspec_wls_best_p(c->N, NULL, 0, &c->opts, &best, err);
    if (!st) st = kspec_wls_best_weight(c->N, c->p, 0, 1, &c->opts, &weight, err);
    if (!st) CHECK(best->points[0]->error > 0 && weight->points[0]->error > 0);
    kspec_free(best);
    kspec_free(weight);
    return st;
}

static kspec_status wls_fit(const void *ctx, kspec_error *err) {
    const wls_case *c = ctx;
    kspec_wls_fit_result *fit = NULL;
    kspec_wls_result *m = NULL;
    kspec_status st = kspec_wls_fit(c->N, c->p, entries[0], &c->opts, &fit, err);
    if (!st) st = kspec_wls_empirical(c->N, &c->p, 1, 3, &c->opts, &m, err);
    if (!st) CHECK(isfinite(fit->theta[0]) && m->points[0]->error > 0);
    kspec_free(fit);
    kspec_free(m);
    return st;
}

static kspec_status wls_features(const void *ctx, kspec_error *err) {
    const kspec_wls_features_opts *o = ctx;
    kspec_matrix psi = {entries[0], P, Q, Q, 1}, y = {entries[1], P, 2, 2, 1};
    kspec_wls_features_result *r = (kspec_wls_features_result *)(uintptr_t)1;
    kspec_status st = kspec_wls_features(&psi, &y, o, &r, err);
    CHECK(st ? r == NULL : r->rank == Q && isfinite(r->theta[0]));
    kspec_free(r);
    return st;
}

static kspec_status wls_decay(const void *ctx, kspec_error *err) {
    kspec_matrix X = {entries[0], P, Q, Q, 1};
    kspec_wls_decay_result *r = (kspec_wls_decay_result *)(uintptr_t)1;
    kspec_status st = kspec_wls_decay(&X, ctx, &r, err);
    CHECK(st ? r == NULL : r->count == P);
    kspec_free(r);
    return st;
}

TEST(weighted_least_squares) {
    alloc_fill_entries();
    const size_t size = sizeof(kspec_wls_opts);
    const wls_case cases[] = {
        {{size, .P = 20, .alpha = 0.5, .beta = 1, .gamma = 1, .noise = 1, .threads = 2}, 7, 5},
        {{size, .P = 20, .beta = 0.5, .gamma = 1, .noise = 1, .threads = 1}, 16, 18},
        {{size, .P = 40, .alpha = 6, .gamma = 1, .noise = 1, .threads = 1}, 40, 20}};
    for (int k = 0; k < 3; k++) {
        until_it_succeeds(wls_theory, &cases[k], 3, "wls theory");
        until_it_succeeds(wls_fit, &cases[k], 3, "wls fit");
    }
    until_it_succeeds(wls_best, &cases[0], 3, "wls best");
    kspec_matrix w = {entries[1], P, 1, 1, 1}, w8 = {entries[1], P, Q, Q, 1}, K = {entries[2], Q, 1, 1, 1},
                 C = {entries[2], P, 1, 1, 1};
    for (int k = 0; k < P * Q; k++) entries[2][k] = 1 + k % 3;
    kspec_wls_features_opts o = {
        .size = sizeof o, .data_weights = &w, .prior = &K, .noise_cov = &C, .at = &w8, .threads = 1};
    until_it_succeeds(wls_features, &o, 3, "wls features");
    kspec_wls_decay_opts d = {.size = sizeof d, .threads = 1};
    until_it_succeeds(wls_decay, &d, 3, "wls decay");
}

static kspec_status ridge(const void *ctx, kspec_error *err) {
    const kspec_ridge_opts *o = ctx;
    kspec_matrix x = {entries[0], P, Q, Q, 1}, y = {entries[1], P, 2, 2, 1};
    kspec_matrix xt = {entries[2], 5, Q, Q, 1}, yt = {entries[3], 5, 2, 2, 1};
    const double lambda[] = {1, 0.1, 0};
    kspec_ridge_result *p[3] = {NULL, NULL, NULL};
    kspec_ridge_empirical_result *m = NULL;
    kspec_ridge *r = (kspec_ridge *)(uintptr_t)1;
    kspec_status st = kspec_ridge_open(&x, &y, &xt, &yt, o, &r, err);
    if (st) CHECK(r == NULL);
    if (!st) st = kspec_ridge_predict(r, &(size_t){3}, 1, lambda, 3, &p[0], err);
    if (!st) st = kspec_ridge_best_lambda(r, 3, 0.1, 1, &p[1], err);
    if (!st) st = kspec_ridge_best_features(r, 1, kspec_ridge_cost(r, 2), &p[2], err);
    if (!st) st = kspec_ridge_empirical(r, 3, lambda, 3, 2, &m, err);
    CHECK((st == KSPEC_OK) == (m != NULL));
    if (!st) CHECK(m->points[0]->test_mse > 0 && p[2]->points[0]->test_mse > 0);
    for (int k = 0; k < 3; k++) kspec_free(p[k]);
    kspec_free(m);
    kspec_ridge_close(r);
    return st;
}

TEST(ridge_prediction) {
    alloc_fill_entries();
    for (int threads = 1; threads <= 2; threads++)
        for (int median = 0; median < 2; median++) {
            kspec_ridge_opts o = {.size = sizeof o, .threads = threads, .median_sigma = median};
            until_it_succeeds(ridge, &o, 20, "ridge");
        }
}

static kspec_status norm(const void *ctx, kspec_error *err) {
    kspec_matrix x = {entries[0], P, Q, Q, 1};
    kspec_norm_result *r = (kspec_norm_result *)(uintptr_t)1;
    kspec_status st = kspec_norm(&x, ctx, &r, err);
    if (st)
        CHECK(r == NULL);
    else
        CHECK(r->count > 0 && isfinite(r->entries[0]->draws[0]->value));
    kspec_free(r);
    return st;
}

static kspec_status norm_of_gram(const void *ctx, kspec_error *err) {
    const double K[4] = {2, 1, 1, 2};
    kspec_matrix k = {K, 2, 2, 2, 1};
    kspec_norm_result *r = (kspec_norm_result *)(uintptr_t)1;
    kspec_status st = kspec_norm(&k, ctx, &r, err);
    if (st) CHECK(r == NULL);
    kspec_free(r);
    return st;
}

static kspec_status gram_and_features(const void *ctx, kspec_error *err) {
    kspec_matrix x = {entries[0], P, Q, Q, 1};
    double out[P * P];
    kspec_status st = kspec_gram(&x, ctx, out, err);
    return st ? st : kspec_features(&x, ctx, out, err);
}

TEST(norm_and_features) {
    alloc_fill_entries();
    for (unsigned m = 1; kspec_name(KSPEC_NAMES_NORM_METHOD, m); m <<= 1)
        for (size_t memory = 0; memory < 2; memory++) {
            kspec_norm_opts o = {.size = sizeof o,
                                 .methods = m,
                                 .sigma = memory ? 20 : 0,
                                 .median_sigma = !memory,
                                 .features = 7,
                                 .sample = 5,
                                 .memory = memory,
                                 .threads = 2};
            until_it_succeeds(norm, &o, 1, kspec_name(KSPEC_NAMES_NORM_METHOD, m));
        }
    kspec_norm_opts given = {
        .size = sizeof given, .methods = KSPEC_NORM_METHOD_EIGEN | KSPEC_NORM_METHOD_NYSTROM, .gram = 1};
    until_it_succeeds(norm_of_gram, &given, 10, "norm of a Gram matrix");
    static const char *const names[] = {"gaussian", "laplace", "cauchy"};
    for (int kernel = 0; kernel < 3; kernel++) {
        kspec_norm_opts o = {.size = sizeof o, .kernel = (kspec_kernel)kernel, .features = 7};
        until_it_succeeds(gram_and_features, &o, 1, names[kernel]);
        o.median_sigma = 1;
        until_it_succeeds(gram_and_features, &o, 1, names[kernel]);
    }
}

static kspec_status keep(void *ctx, size_t width, uint64_t seed, const void *bytes, size_t count,
                         kspec_error *err) {
    (void)width, (void)seed, (void)err;
    memcpy(ctx, &count, sizeof count);
    memcpy((char *)ctx + sizeof count, bytes, count);
    return KSPEC_OK;
}

static kspec_status give_back(void *ctx, size_t width, uint64_t seed, void *bytes, size_t *count,
                              kspec_error *err) {
    (void)width, (void)seed, (void)err;
    memcpy(count, ctx, sizeof *count);
    if (bytes) memcpy(bytes, (char *)ctx + sizeof *count, *count);
    return KSPEC_OK;
}

/* Two epochs, and then, from what was kept, two more */
static kspec_status learn(const void *ctx, kspec_error *err) {
    static char kept[1 << 16];
    const size_t width = 5;
    kspec_matrix x = {entries[0], P, Q, Q, 1}, y = {entries[3], P, 1, 1, 1};
    kspec_learn_data *data = (kspec_learn_data *)(uintptr_t)1;
    const kspec_learn_store store = {.ctx = kept, .save = keep, .load = give_back};
    memset(kept, 0, sizeof(size_t));
    kspec_status st = kspec_learn_open(&x, &y, &x, &y, NULL, &data, err);
    if (st) CHECK(data == NULL);
    for (size_t epochs = 2; epochs <= 4 && !st; epochs += 2) {
        kspec_learn_opts o = {.size = sizeof o,
                              .epochs = epochs,
                              .batch = 4,
                              .subsample = 4,
                              .nmax = 2,
                              .store = &store,
                              .threads = *(const int *)ctx};
        kspec_learn_result *r = (kspec_learn_result *)(uintptr_t)1;
        st = kspec_learn(data, &width, 1, &o, &r, err);
        if (st)
            CHECK_MSG(r == NULL, "a failure leaves a result");
        else
            CHECK(r->runs[0]->epoch_count == epochs / 2 + 1 && r->runs[0]->resumed == epochs - 2);
        kspec_free(r);
    }
    kspec_learn_close(data);
    return st;
}

TEST(learning) {
    alloc_fill_entries();
    for (int i = 0; i < P; i++) entries[3][i] = i % 3;
    for (int threads = 1; threads <= 2; threads++) until_it_succeeds(learn, &threads, 30, "learn");
}

int main(void) {
    RUN(spectra);
    RUN(weighted_least_squares);
    RUN(ridge_prediction);
    RUN(norm_and_features);
    RUN(learning);
    return test_done();
}
