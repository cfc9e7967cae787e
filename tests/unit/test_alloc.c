/*
 * Every public call that allocates, allowed 0, 1, 2, ... allocations until it succeeds: each time it fails
 * with KSPEC_E_NOMEM and one line, holds no memory afterwards, and leaves its result empty.
 */
#include "failing_alloc.h"
#include "kspec.h"
#include "test.h"

#include <unistd.h>

/* One call: makes it, checks that a failure leaves the result empty, releases the result of a success. */
typedef kspec_status (*attempt)(const void *ctx, kspec_error *err);

static void until_it_succeeds(attempt call, const void *ctx, long least, const char *what) {
    failing_alloc_install();
    long k = 0;
    for (; k < 20000; k++) {
        kspec_error err = {0};
        failing_alloc_arm(k);
        kspec_status st = call(ctx, &err);
        CHECK_MSG(failing_alloc_live() == 0, "%s: %ld leaked at %ld", what, failing_alloc_live(), k);
        CHECK_MSG(err.code == st, "%s: status %d, error %d", what, (int)st, (int)err.code);
        if (st == KSPEC_OK) break;
        CHECK_MSG(st == KSPEC_E_NOMEM && err.msg[0] && !strchr(err.msg, '\n'), "%s at %ld: status %d: %s",
                  what, k, (int)st, err.msg);
        if (failing_alloc_live() || st != KSPEC_E_NOMEM) break;
        failing_alloc_arm(k); /* without a place for the message */
        CHECK_MSG(call(ctx, NULL) == KSPEC_E_NOMEM, "%s at %ld without an error struct", what, k);
    }
    CHECK_MSG(k >= least && k < 20000, "%s: ends after %ld allocations", what, k);
    failing_alloc_uninstall();
}

static int empty(const void *p, size_t size) {
    const unsigned char *c = p;
    for (size_t i = 0; i < size; i++)
        if (c[i]) return 0;
    return 1;
}

/* ---------------------------------------------------------------------------------------------- moments */

enum { P = 9, Q = 8, TRIALS = 4 };
static double entries[TRIALS][P * Q];

typedef struct {
    kspec_moments_opts opts;
    size_t trials;
} moments_case;

static kspec_status moments(const void *ctx, kspec_error *err) {
    const moments_case *c = ctx;
    kspec_matrix phi[TRIALS];
    for (int t = 0; t < TRIALS; t++) phi[t] = (kspec_matrix){entries[t], P, Q, Q, 1};
    kspec_moments_result r;
    memset(&r, 1, sizeof r);
    kspec_status st = kspec_moments(phi, c->trials, &c->opts, &r, err);
    if (st)
        CHECK_MSG(empty(&r, sizeof r), "the result of a failure is not empty");
    else
        CHECK(r.count > 0 && isfinite(r.estimates[0].value));
    kspec_moments_free(&r);
    return st;
}

TEST(moments_of_every_estimator) {
    static const size_t ragged[P] = {4, 2, 3, 4, 2, 2, 3, 4, 4};
    static const size_t trials[] = {1, 2, 4, 4};
    for (int t = 0; t < TRIALS; t++) kspec_random_normal(3, (uint64_t)t, 0, P * Q, entries[t]);
    unsigned sets[33] = {0}, count = 0; /* each estimator alone, and all together */
    for (; kspec_estimator_name(1u << count); count++) sets[count] = 1u << count;
    sets[count] = (1u << count) - 1;
    CHECK(count >= 3);
    for (int threads = 1; threads <= 2; threads++)
        for (size_t k = 0; k < sizeof trials / sizeof *trials; k++)
            for (unsigned s = 0; s <= count; s++)
                for (int flags = 0; flags < 4; flags++) {
                    moments_case c = {.trials = trials[k]};
                    c.opts = (kspec_moments_opts){.size = sizeof c.opts,
                                                  .nmax = 3,
                                                  .estimators = sets[s],
                                                  .seed = 5,
                                                  .threads = threads,
                                                  .row_trials = k == 3 ? ragged : NULL,
                                                  .splits = 2,
                                                  .no_stderr = flags & 1,
                                                  .center = flags >> 1,
                                                  .normalize = flags >> 1};
                    char what[80];
                    snprintf(what, sizeof what, "estimators 0x%x, %zu trials, %d threads, flags %d", sets[s],
                             trials[k], threads, flags);
                    until_it_succeeds(moments, &c, 1, what);
                }
}

/* ---------------------------------------------------------------------------------- theory and generators */

static kspec_status eigenvalues(const void *ctx, kspec_error *err) {
    const double *eta = ctx;
    double lambda[50];
    kspec_status st = kspec_theory_rbf_eigenvalues(eta, 3, 50, lambda, NULL, err);
    if (!st) CHECK(lambda[0] > lambda[49] && lambda[49] > 0);
    return st;
}

static kspec_status eta_of_matrices(const void *ctx, kspec_error *err) {
    const double S[4] = {2, 1, 1, 2}, Sx[4] = {1, 0, 0, 3};
    const kspec_matrix s = {S, 2, 2, 2, 1}, x = {Sx, 2, 2, 2, 1};
    double eta[2];
    size_t count;
    (void)ctx;
    kspec_status st = kspec_theory_rbf_eta(&s, &x, eta, &count, err);
    CHECK(count == (st ? 0 : 2));
    return st;
}

static kspec_status sphere(const void *ctx, kspec_error *err) {
    double m[4] = {0};
    (void)ctx;
    kspec_status st = kspec_theory_sphere_moments(KSPEC_SPHERE_NTK, 0, 3, 4, m, NULL, err);
    CHECK(st ? m[0] == 0 : m[3] > 0);
    return st;
}

static kspec_status generate(const void *ctx, kspec_error *err) {
    const kspec_generate_opts *o = ctx;
    kspec_generator *g = (kspec_generator *)(uintptr_t)1;
    double rows[80 * 7];
    kspec_status st = kspec_generate_open(o, &g, err);
    if (st) {
        CHECK(g == NULL);
        return st;
    }
    st = kspec_generate_rows(g, 1, 10, 80, rows, err);
    if (!st) CHECK(isfinite(rows[0]) && isfinite(rows[80 * 7 - 1]));
    kspec_generate_close(g);
    return st;
}

TEST(theory_and_generators) {
    static const double eta[3] = {4, 1, 0.25};
    until_it_succeeds(eigenvalues, eta, 1, "eigenvalues");
    until_it_succeeds(eta_of_matrices, NULL, 4, "eta");
    until_it_succeeds(sphere, NULL, 1, "sphere");
    for (int process = KSPEC_GENERATE_RFF; process <= KSPEC_GENERATE_GAUSSIAN; process++)
        for (int threads = 1; threads <= 2; threads++) {
            kspec_generate_opts o = {.size = sizeof o,
                                     .process = (kspec_process)process,
                                     .rows = 150,
                                     .cols = 7,
                                     .dim = 3,
                                     .noise = 0.5,
                                     .trials = 2,
                                     .threads = threads};
            if (process == KSPEC_GENERATE_LINEAR)
                o.eigenvalues = eta, o.eigenvalue_count = 3;
            else
                o.eta = eta, o.eta_count = 3;
            char what[40];
            snprintf(what, sizeof what, "process %d, %d threads", process, threads);
            until_it_succeeds(generate, &o, 1, what);
            if (process == KSPEC_GENERATE_LINEAR) continue;
            static const double S[9] = {2, 1, 0, 1, 2, 0, 0, 0, 1};
            static const kspec_matrix sigma = {S, 3, 3, 3, 1};
            o.eta_count = 0, o.sigma = o.sigma_x = &sigma, o.noise_correlation = KSPEC_NOISE_BOTH;
            until_it_succeeds(generate, &o, 1, what);
        }
}

/* ------------------------------------------------------------------------------------------------- wls */

typedef struct {
    kspec_wls_opts opts;
    size_t p;
} wls_case;

static kspec_status wls_theory(const void *ctx, kspec_error *err) {
    const wls_case *c = ctx;
    kspec_wls_point q;
    kspec_status st = kspec_wls_theory(&c->opts, &c->p, 1, &q, err);
    kspec_wls_bound_point b;
    if (!st && c->p < c->opts.N && c->opts.beta > 0)
        st = kspec_wls_bound(&c->opts, 7, &c->p, 1, &b, NULL, err);
    if (!st) CHECK(q.error_noise > 0);
    return st;
}

static kspec_status wls_best(const void *ctx, kspec_error *err) {
    const wls_case *c = ctx;
    kspec_wls_point best;
    double weight;
    kspec_status st = kspec_wls_best_p(&c->opts, NULL, 0, &best, err);
    if (!st) st = kspec_wls_best_weight(&c->opts, c->p, 0, 1, &weight, &best, err);
    if (!st) CHECK(best.error_noise_free > 0);
    return st;
}

static kspec_status wls_fit(const void *ctx, kspec_error *err) {
    const wls_case *c = ctx;
    kspec_wls_measured m;
    double theta[2 * 40];
    kspec_status st = kspec_wls_fit(&c->opts, c->p, entries[0], 0, theta, NULL, err);
    if (!st) st = kspec_wls_empirical(&c->opts, &c->p, 1, 3, &m, err);
    if (!st) CHECK(isfinite(theta[0]) && m.error > 0);
    return st;
}

static kspec_status wls_features(const void *ctx, kspec_error *err) {
    const kspec_wls_features_opts *o = ctx;
    kspec_matrix psi = {entries[0], P, Q, Q, 1}, y = {entries[1], P, 2, 2, 1};
    kspec_wls_features_result r;
    memset(&r, 1, sizeof r);
    kspec_status st = kspec_wls_features(&psi, &y, o, &r, err);
    if (st)
        CHECK_MSG(empty(&r, sizeof r), "the result of a failure is not empty");
    else
        CHECK(r.rank == Q && isfinite(r.theta[0]));
    kspec_wls_features_free(&r);
    return st;
}

static kspec_status wls_decay(const void *ctx, kspec_error *err) {
    kspec_matrix X = {entries[0], P, Q, Q, 1};
    double s[P];
    return kspec_wls_decay(&X, ctx, s, NULL, err);
}

TEST(weighted_least_squares) {
    for (int t = 0; t < 2; t++) kspec_random_normal(3, (uint64_t)t, 0, P * Q, entries[t]);
    const wls_case cases[] = {
        {{sizeof(kspec_wls_opts), .N = 7, .P = 20, .alpha = 0.5, .beta = 1, .gamma = 1, .sigma = 1,
          .threads = 2},
         5},
        {{sizeof(kspec_wls_opts), .N = 16, .P = 20, .beta = 0.5, .gamma = 1, .sigma = 1, .threads = 1}, 18},
        {{sizeof(kspec_wls_opts), .N = 40, .P = 40, .alpha = 6, .gamma = 1, .sigma = 1, .threads = 1}, 20}};
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
    kspec_wls_decay_opts d = {.size = sizeof d, .kernel = KSPEC_WLS_GAUSSIAN, .threads = 1};
    until_it_succeeds(wls_decay, &d, 3, "wls decay");
}

/* ---------------------------------------------------------------------------------------------- files */

typedef struct {
    const char *inputs[2];
    kspec_read_opts opts;
} read_case;

static kspec_status read_files(const void *ctx, kspec_error *err) {
    const read_case *c = ctx;
    kspec_dataset d;
    memset(&d, 1, sizeof d);
    kspec_status st = kspec_read(c->inputs, c->inputs[1] ? 2 : 1, &c->opts, &d, err);
    if (st)
        CHECK_MSG(empty(&d, sizeof d), "the data set of a failure is not empty");
    else
        CHECK(d.rows > 0 && d.cols > 0);
    kspec_dataset_free(&d);
    return st;
}

#define BINARY TEST_SOURCE_DIR "/tests/fixtures/binary/"
#define HDF5   TEST_SOURCE_DIR "/tests/fixtures/hdf5/"

TEST(reading) {
    static char text[] = "/tmp/kspec-alloc-XXXXXX";
    FILE *f = fdopen(mkstemp(text), "w");
    fputs("one,two,three\n1,2,3\n4,nan,6\n7,8,9\n", f);
    fclose(f);
    const size_t size = sizeof(kspec_read_opts);
    const read_case cases[] = {
        {{BINARY "v1.npy"}, {size}},
        {{BINARY "v1.npy", BINARY "v2.npy"}, {size}},
        {{BINARY "fortran.npy"}, {size, .select_rows = "0-1", .select_cols = "1,0"}},
        {{BINARY "swapped.npy"}, {size}},
        {{BINARY "three.npz:a"}, {size}},
        {{BINARY "one.npz"}, {size}},
        {{BINARY "u1-idx3.gz"}, {size}},
        {{BINARY "f8-idx2"}, {size, .axes = "cols,rows"}},
        {{HDF5 "single.h5"}, {size}},
        {{HDF5 "single_v7.mat"}, {size}},
        {{text}, {size, .nan = KSPEC_NAN_OMIT_ROWS}},
        {{text}, {size, .nan = KSPEC_NAN_OMIT_COLS}},
        {{text}, {size, .nan = KSPEC_NAN_KEEP}},
        {{text, text}, {size, .select_cols = "three,one"}},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        kspec_error err; /* memory apart, the case is sound */
        CHECK_MSG(read_files(&cases[k], &err) == KSPEC_OK, "%s: %s", cases[k].inputs[0], err.msg);
        until_it_succeeds(read_files, &cases[k], 1, cases[k].inputs[0]);
    }
    unlink(text);
}

static kspec_status write_array(const void *ctx, kspec_error *err) {
    const char *path = ctx;
    const size_t shape[2] = {2, 3};
    const double values[6] = {1, 2, 3, 4, 5, 0.1};
    kspec_writer *w = (kspec_writer *)(uintptr_t)1;
    kspec_status st = kspec_write_open(path, 2, shape, &w, err);
    if (st) {
        CHECK(w == NULL && access(path, F_OK) != 0);
        return st;
    }
    st = kspec_write_values(w, values, 6, err);
    if (st)
        kspec_write_abort(w);
    else
        st = kspec_write_close(w, err);
    if (!st) CHECK(unlink(path) == 0);
    return st;
}

static kspec_status write_text(const void *ctx, kspec_error *err) {
    kspec_status st = kspec_write_text(ctx, "text\n", 5, err);
    CHECK((unlink(ctx) == 0) == (st == KSPEC_OK));
    return st;
}

TEST(writing) {
    char dir[] = "/tmp/kspec-alloc-XXXXXX", path[64];
    CHECK(mkdtemp(dir) != NULL);
    const char *const names[] = {"x.npy", "x.csv", "x.json"};
    for (int k = 0; k < 3; k++) {
        snprintf(path, sizeof path, "%s/%s", dir, names[k]);
        until_it_succeeds(write_array, path, 1, names[k]);
    }
    until_it_succeeds(write_text, path, 0, "text");
    CHECK_MSG(rmdir(dir) == 0, "a file is left in %s", dir);
}

/* --------------------------------------------------------------------------------------------- spectrum */

static kspec_status spectrum(const void *ctx, kspec_error *err) {
    kspec_matrix phi = {entries[0], P, Q, Q, 1};
    kspec_moments_opts how = {.size = sizeof how, .nmax = 3, .estimators = KSPEC_NAIVE};
    kspec_spectrum_opts o = {
        .size = sizeof o, .rank = 3, .grid = 11, .draws = 3, .threads = *(const int *)ctx};
    kspec_spectrum_result r;
    memset(&r, 1, sizeof r);
    kspec_status st = kspec_spectrum(&phi, 1, &how, &o, &r, err);
    if (st)
        CHECK_MSG(empty(&r, sizeof r), "the result of a failure is not empty");
    else
        CHECK(r.rank == 3 && r.draws == 3 && r.sample_count == Q);
    kspec_spectrum_free(&r);
    return st;
}

TEST(spectra) {
    for (int threads = 1; threads <= 2; threads++) until_it_succeeds(spectrum, &threads, 30, "spectrum");
}

int main(void) {
    RUN(moments_of_every_estimator);
    RUN(theory_and_generators);
    RUN(spectra);
    RUN(weighted_least_squares);
    RUN(reading);
    RUN(writing);
    return test_done();
}
