/*
 * Every public call of kspec.h, quick and on small inputs, as test_contract.c's table and checks take them.
 */
#ifndef KS_TEST_CONTRACT_CALLS_H
#define KS_TEST_CONTRACT_CALLS_H

#include "kspec.h"
#include "test.h"
#include "kspec/host.h"

#include <stdlib.h>
#include <unistd.h>

/* ---------------------------------------------------------------------------------------- small inputs */

enum { P = 5, Q = 4, TABLE = 3, IMAGES = 12, PIXELS = 6, GRID = 6 };

static double phi_at[2][P * Q], table_at[P * TABLE], target_at[GRID], images_at[IMAGES * PIXELS],
    labels_at[IMAGES];
static kspec_matrix phi[2], table, target, images, labels;
static char file[64], names[64];

static void make_inputs(void) {
    for (int t = 0; t < 2; t++) {
        kspec_random_normal(3, (uint64_t)t, 0, P * Q, phi_at[t]);
        phi[t] = (kspec_matrix){phi_at[t], P, Q, Q, 1};
    }
    kspec_random_normal(4, 0, 0, P * TABLE, table_at);
    kspec_random_normal(4, 1, 0, GRID, target_at);
    kspec_random_uniform(4, 2, 0, IMAGES * PIXELS, images_at);
    for (int i = 0; i < IMAGES; i++) labels_at[i] = i % 3;
    table = (kspec_matrix){table_at, P, TABLE, TABLE, 1};
    target = (kspec_matrix){target_at, P, 1, 1, 1};
    images = (kspec_matrix){images_at, IMAGES, PIXELS, PIXELS, 1};
    labels = (kspec_matrix){labels_at, IMAGES, 1, 1, 1};
}

/* Options that make a call quick */
static const kspec_spectrum_opts quick_spectrum = {.size = sizeof quick_spectrum, .grid = 11, .draws = 2};
static const kspec_spectrum_opts ranked_spectrum = {
    .size = sizeof ranked_spectrum, .rank = 4, .grid = 11, .draws = 2};
static const kspec_spectrum_opts fit_spectrum = {.size = sizeof fit_spectrum,
                                                 .method = KSPEC_SPECTRUM_METHOD_FIT};
static const kspec_spectrum_opts cvpca_spectrum = {.size = sizeof cvpca_spectrum,
                                                   .method = KSPEC_SPECTRUM_METHOD_CVPCA};
static const kspec_spectrum_opts newton_spectrum = {
    .size = sizeof newton_spectrum, .method = KSPEC_SPECTRUM_METHOD_NEWTON, .rank = 2};
static const kspec_moments_opts quick_moments = {.size = sizeof quick_moments, .nmax = 2};

/* ---------------------------------------------------------------------------------------- the calls
 *
 * Each makes the call with the options it is given, frees the result of a success, and tells in *held whether
 * a failure left a pointer behind. Results start as a pointer to nowhere, so that one that is not set is
 * seen.
 */
#define NOWHERE(type) ((type *)(void *)(uintptr_t)64)

#define CALL(name) static kspec_status name(const void *opts, int *held, kspec_error *err)

/* The call `made`, whose handle r of type T is released by `release`; whose result r of type T is freed. */
#define HANDLE(T, release, made)  \
    do {                          \
        T *r = NOWHERE(T);        \
        kspec_status st = (made); \
        if (st)                   \
            *held = r != NULL;    \
        else                      \
            release(r);           \
        return st;                \
    } while (0)
#define RESULT(T, made) HANDLE(T, kspec_free, made)

CALL(moments) { RESULT(kspec_moments_result, kspec_moments(phi, 1, opts, &r, err)); }
CALL(moments_of_trials) { RESULT(kspec_moments_result, kspec_moments(phi, 2, opts, &r, err)); }
CALL(spectrum) { RESULT(kspec_spectrum_result, kspec_spectrum(phi, 1, opts, &r, err)); }
CALL(spectrum_of_trials) {
    const kspec_matrix same[2] = {phi[0], phi[0]}; /* the default method refuses trials that are all noise */
    RESULT(kspec_spectrum_result, kspec_spectrum(same, 2, opts, &r, err));
}
CALL(spectrum_estimation) {
    const kspec_spectrum_opts with = {.size = sizeof with, .grid = 11, .draws = 2, .moments = opts};
    RESULT(kspec_spectrum_result, kspec_spectrum(phi, 1, &with, &r, err));
}
static const double known[] = {1, 0.4, 0.2}, known_errors[] = {0.01, 0.01, 0.01};
CALL(spectrum_from_moments) {
    RESULT(kspec_spectrum_result, kspec_spectrum_from_moments(known, known_errors, NULL, 3, opts, &r, err));
}
CALL(dimension) { RESULT(kspec_dimension_result, kspec_dimension(phi, 1, opts, &r, err)); }
CALL(compare) { RESULT(kspec_compare_result, kspec_compare(phi, 2, phi + 1, 1, opts, &r, err)); }
CALL(unbiased) {
    const kspec_operand of[2] = {{"X", phi, 2}, {"Y", phi, 1}};
    RESULT(kspec_unbiased_result,
           kspec_unbiased("X1[i,a] X2[j,a] Y[j,b] Y[i,b] - 2 Y[i,a] Y[i,a]", of, 2, opts, &r, err));
}
CALL(jackknife) {
    const double without[3] = {1, 2, 4}, share = 1;
    const size_t size = 3;
    double bar[3];
    (void)opts, (void)held;
    return kspec_jackknife(2, (const double *const[]){without}, &size, &share, 1, bar, err);
}
/* Everything that is done with an accumulator: rows, a merge, both kinds of result, bytes */
CALL(accumulator) {
    kspec_accumulator *a = NOWHERE(kspec_accumulator), *b = NULL, *c = NULL;
    kspec_compare_result *r = NULL;
    kspec_dimension_result *d = NULL;
    kspec_accumulator_opts o = {.size = sizeof o, .other_features = Q};
    size_t size = 0;
    kspec_status st = kspec_accumulator_open(Q, opts, &a, err);
    if (st) {
        *held = a != NULL;
        return st;
    }
    st = kspec_accumulator_update(a, phi, NULL, NULL, err);
    if (!st) st = kspec_accumulator_dimension(a, 0, &d, err);
    if (!st) st = kspec_accumulator_open(Q, &o, &b, err);
    if (!st) st = kspec_accumulator_open(Q, &o, &c, err);
    if (!st) st = kspec_accumulator_update(b, phi, phi + 1, NULL, err);
    if (!st) st = kspec_accumulator_update(c, phi + 1, phi, NULL, err);
    if (!st) st = kspec_accumulator_merge(b, c, err);
    if (!st) st = kspec_accumulator_compare(b, &r, err);
    if (!st) CHECK(kspec_accumulator_describe(b)->rows == 2 * (uint64_t)P);
    kspec_accumulator_close(c);
    c = NULL;
    if (!st) st = kspec_accumulator_pack(a, NULL, &size, err);
    void *bytes = st ? NULL : malloc(size);
    if (bytes) st = kspec_accumulator_pack(a, bytes, &size, err);
    if (bytes && !st) st = kspec_accumulator_unpack(bytes, size, &c, err);
    free(bytes);
    kspec_free(d), kspec_free(r);
    kspec_accumulator_close(a), kspec_accumulator_close(b), kspec_accumulator_close(c);
    return st;
}
CALL(norm) { RESULT(kspec_norm_result, kspec_norm(&table, opts, &r, err)); }
CALL(features) {
    (void)held;
    static double Z[P * 256];
    return kspec_features(&table, opts, Z, err);
}
CALL(gram) {
    (void)held;
    static double K[P * P];
    return kspec_gram(&table, opts, K, err);
}
CALL(generate) {
    double out[P * Q];
    (void)held;
    return kspec_generate(P, Q, opts, out, err);
}
CALL(generate_rows) {
    double out[P * Q];
    kspec_generator *g = NOWHERE(kspec_generator);
    kspec_status st = kspec_generate_open(P, Q, opts, &g, err);
    if (st) {
        *held = g != NULL;
        return st;
    }
    st = kspec_generate_rows(g, 0, 0, P, out, err);
    kspec_generate_close(g);
    return st;
}

/* What is done with an open plan of ridge regression. */
typedef kspec_status (*ridge_step)(kspec_ridge *plan, int *held, kspec_error *err);

static kspec_status with_ridge(const void *opts, int *held, kspec_error *err, ridge_step step) {
    kspec_ridge *plan = NOWHERE(kspec_ridge);
    kspec_status st = kspec_ridge_open(&table, &target, &table, &target, opts, &plan, err);
    if (st) {
        *held = plan != NULL;
        return st;
    }
    CHECK(kspec_ridge_sigma(plan) > 0 && kspec_ridge_cost(plan, 4) > 0);
    st = step(plan, held, err);
    kspec_ridge_close(plan);
    return st;
}

static const double lambda[] = {1, 0.1};

static kspec_status predict(kspec_ridge *plan, int *held, kspec_error *err) {
    const size_t N[] = {4, 7};
    RESULT(kspec_ridge_result, kspec_ridge_predict(plan, N, 2, lambda, 2, &r, err));
}
static kspec_status best_lambda(kspec_ridge *plan, int *held, kspec_error *err) {
    RESULT(kspec_ridge_result, kspec_ridge_best_lambda(plan, 4, 0.1, 10, &r, err));
}
static kspec_status best_features(kspec_ridge *plan, int *held, kspec_error *err) {
    double limit = kspec_ridge_cost(plan, 5);
    RESULT(kspec_ridge_result, kspec_ridge_best_features(plan, 1, limit, &r, err));
}
static kspec_status empirical(kspec_ridge *plan, int *held, kspec_error *err) {
    RESULT(kspec_ridge_empirical_result, kspec_ridge_empirical(plan, 4, lambda, 2, 3, &r, err));
}
static kspec_status recommend(kspec_ridge *plan, int *held, kspec_error *err) {
    RESULT(kspec_ridge_recommend_result, kspec_ridge_recommend(plan, 5, &r, err));
}
static kspec_status density(kspec_ridge *plan, int *held, kspec_error *err) {
    RESULT(kspec_ridge_density_result, kspec_ridge_density(plan, 5, 20, &r, err));
}
static kspec_status bilinear(kspec_ridge *plan, int *held, kspec_error *err) {
    const size_t N[] = {4, 7};
    RESULT(kspec_ridge_bilinear_result,
           kspec_ridge_bilinear(plan, &target, &target, N, 2, lambda, 2, 3, &r, err));
}
CALL(ridge_bilinear) { return with_ridge(opts, held, err, bilinear); }
CALL(ridge_predict) { return with_ridge(opts, held, err, predict); }
CALL(ridge_best_lambda) { return with_ridge(opts, held, err, best_lambda); }
CALL(ridge_best_features) { return with_ridge(opts, held, err, best_features); }
CALL(ridge_recommend) { return with_ridge(opts, held, err, recommend); }
CALL(ridge_density) { return with_ridge(opts, held, err, density); }
CALL(ridge_empirical) { return with_ridge(opts, held, err, empirical); }

static const size_t p_list[] = {3, 8};

CALL(wls_theory) { RESULT(kspec_wls_result, kspec_wls_theory(GRID, p_list, 2, opts, &r, err)); }
CALL(wls_empirical) { RESULT(kspec_wls_result, kspec_wls_empirical(GRID, p_list, 2, 4, opts, &r, err)); }
CALL(wls_best_p) { RESULT(kspec_wls_result, kspec_wls_best_p(GRID, NULL, 0, opts, &r, err)); }
CALL(wls_best_weight) { RESULT(kspec_wls_result, kspec_wls_best_weight(GRID, 3, 0, 1, opts, &r, err)); }
CALL(wls_fit) { RESULT(kspec_wls_fit_result, kspec_wls_fit(GRID, 3, target_at, opts, &r, err)); }
CALL(wls_smooth) { RESULT(kspec_wls_smooth_result, kspec_wls_smooth(GRID, NULL, target_at, opts, &r, err)); }
CALL(wls_smooth_any) { /* with QR */
    static const double x[GRID] = {0, 1, 3, 7.5, 7.5, 9};
    RESULT(kspec_wls_smooth_result, kspec_wls_smooth(GRID, x, target_at, opts, &r, err));
}
CALL(wls_bound) { RESULT(kspec_wls_bound_result, kspec_wls_bound(GRID, 1, 0.5, p_list, 1, opts, &r, err)); }
CALL(wls_features) { RESULT(kspec_wls_features_result, kspec_wls_features(&table, &target, opts, &r, err)); }
CALL(wls_decay) { RESULT(kspec_wls_decay_result, kspec_wls_decay(&table, opts, &r, err)); }
CALL(wls_ntk) {
    (void)opts, (void)held;
    double psi[3 * 4], start[3];
    const double x[] = {1, 0, 2, 1, 3, 1};
    return kspec_wls_ntk(&(kspec_matrix){x, 3, 2, 2, 1}, 2, 1, 5, psi, start, err);
}
CALL(wls_predict) {
    (void)opts, (void)held;
    static const double theta[] = {1, 0, 2, 1}, x[] = {0, 1, 2};
    double f[6];
    return kspec_wls_predict(theta, 2, x, 3, f, 1, err);
}

CALL(learn_open) {
    HANDLE(kspec_learn_data, kspec_learn_close,
           kspec_learn_open(&images, &labels, &images, NULL, opts, &r, err));
}
CALL(learn) {
    static const size_t widths[] = {4, 5};
    kspec_learn_data *data = NOWHERE(kspec_learn_data);
    kspec_status st = kspec_learn_open(&images, &labels, &images, &labels, NULL, &data, err);
    if (st) {
        *held = data != NULL;
        return st;
    }
    CHECK(kspec_learn_data_shape(data)->train_count == IMAGES);
    kspec_learn_result *r = NOWHERE(kspec_learn_result);
    st = kspec_learn(data, widths, 2, opts, &r, err);
    if (st)
        *held = r != NULL;
    else
        kspec_free(r);
    kspec_learn_close(data);
    return st;
}

CALL(team_open) {
    (void)opts;
    HANDLE(kspec_team, kspec_team_close, kspec_team_open(NULL, &r, err));
}
CALL(mpi_open) {
    (void)opts;
    HANDLE(kspec_comm, kspec_mpi_close, kspec_mpi_open(&r, err));
}

CALL(read_labels) { RESULT(kspec_labels, kspec_read_labels(names, opts, &r, err)); }
static kspec_status read_table(const char *input, const void *opts, int *held, kspec_error *err) {
    kspec_dataset *d = NOWHERE(kspec_dataset);
    kspec_status st = kspec_read(&input, 1, opts, &d, err);
    if (st) {
        *held = d != NULL;
        return st;
    }
    kspec_matrix m = kspec_dataset_trial(d, 0);
    CHECK(m.rows == P && m.cols == TABLE && m.data[0] == table_at[0]);
    kspec_free(d);
    return KSPEC_OK;
}
CALL(read_file) { return read_table(file, opts, held, err); }
CALL(read_lent) {
    const kspec_array lent = {"in memory", table_at, 2, {P, TABLE}, {TABLE, 1}, NULL};
    kspec_borrow(&(kspec_borrowed){&lent, 1, NULL, NULL});
    kspec_status st = read_table(lent.name, opts, held, err);
    kspec_borrow(NULL);
    return st;
}
static int bring_table(void *ctx, size_t k, kspec_array *here) {
    here[k].data = ctx;
    return 0;
}
CALL(read_on_device) {
    const kspec_array lent = {"on a GPU", table_at + 1, 2, {P, TABLE}, {TABLE, 1}, NULL};
    const int is = 1;
    const kspec_device_array there = {&is, bring_table, (void *)table_at};
    kspec_borrow(&(kspec_borrowed){&lent, 1, &there, NULL});
    kspec_status st = read_table(lent.name, opts, held, err);
    kspec_borrow(NULL);
    return st;
}
CALL(write_file) {
    (void)opts;
    const size_t shape[] = {P, TABLE};
    kspec_writer *w = NOWHERE(kspec_writer);
    kspec_status st = kspec_write_open(file, 2, shape, &w, err);
    if (st) {
        *held = w != NULL;
        return st;
    }
    st = kspec_write_values(w, table_at, P * TABLE, err);
    if (st) {
        kspec_write_abort(w);
        return st;
    }
    return kspec_write_close(w, err);
}
CALL(write_text) {
    (void)opts, (void)held;
    char path[80];
    snprintf(path, sizeof path, "%s.txt", file);
    kspec_status st = kspec_write_text(path, "1,2\n", 4, err);
    unlink(path);
    return st;
}
CALL(write_check) {
    (void)opts, (void)held;
    return kspec_write_check(file, 2, err);
}

static const double eta[] = {0.5, 1};

CALL(theory_rbf) {
    (void)opts, (void)held;
    double m[4], logs[4];
    return kspec_theory_rbf_moments(eta, 2, 4, m, logs, err);
}
CALL(theory_rbf_eigenvalues) {
    (void)opts, (void)held;
    double l[5], logs[5];
    return kspec_theory_rbf_eigenvalues(eta, 2, 5, l, logs, err);
}
CALL(theory_rbf_eigenfunctions) {
    (void)opts, (void)held;
    static const double at[] = {0, 1, -1, 0.5};
    double f[10];
    return kspec_theory_rbf_eigenfunctions(eta, 2, &(kspec_matrix){at, 2, 2, 2, 1}, 5, f, err);
}
CALL(theory_rbf_eta) {
    (void)opts, (void)held;
    static const double S[] = {2, 0.5, 0.5, 1};
    const kspec_matrix Sx = {S, 2, 2, 2, 1};
    double out[2];
    size_t count;
    return kspec_theory_rbf_eta(NULL, &Sx, out, &count, err);
}
CALL(theory_linear) {
    (void)opts, (void)held;
    double m[4], logs[4];
    return kspec_theory_linear_moments(eta, 2, 2, 4, m, logs, err);
}
CALL(theory_sphere) {
    (void)opts, (void)held;
    double l[5], logs[5], N[5], log_N[5];
    return kspec_theory_sphere_eigenvalues(0, 1, 3, 4, l, logs, N, log_N, err);
}
CALL(theory_sphere_moments) {
    (void)opts, (void)held;
    double m[3], logs[3];
    return kspec_theory_sphere_moments(0, 1, 3, 3, m, logs, err);
}

#endif
