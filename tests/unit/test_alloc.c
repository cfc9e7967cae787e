/* Allocations that fail: moments, closed forms, generators. */
#include "help/alloc_attempts.h"
#include "kspec/host.h"

typedef struct {
    kspec_moments_opts opts;
    size_t trials;
} moments_case;

static kspec_status moments(const void *ctx, kspec_error *err) {
    const moments_case *c = ctx;
    kspec_matrix phi[TRIALS];
    for (int t = 0; t < TRIALS; t++) phi[t] = (kspec_matrix){entries[t], P, Q, Q, 1};
    kspec_moments_result *r;
    kspec_status st = kspec_moments(phi, c->trials, &c->opts, &r, err);
    if (st)
        CHECK_MSG(!r, "a failure has a result");
    else
        CHECK(r->count > 0 && isfinite(r->estimates[0]->value));
    kspec_free(r);
    return st;
}

TEST(moments_of_every_estimator) {
    static const size_t ragged[P] = {4, 2, 3, 4, 2, 2, 3, 4, 4};
    static const size_t trials[] = {1, 2, 4, 4};
    alloc_fill_entries();
    unsigned sets[33] = {0}, count = 0; /* each estimator alone, and all together */
    for (; kspec_name(KSPEC_NAMES_ESTIMATOR, 1u << count); count++) sets[count] = 1u << count;
    sets[count] = (1u << count) - 1;
    CHECK(count >= 3);
    for (size_t k = 0; k < sizeof trials / sizeof *trials; k++)
        for (unsigned s = 0; s <= count; s++)
            for (int flags = 0; flags < 4; flags++) {
                int threads = 1 + (int)(k + s + (unsigned)flags) % 2; /* each estimator meets both */
                moments_case c = {.trials = trials[k]};
                /* all but naive and exact refuse to centre */
                int centred =
                    flags >> 1 &&
                    !(sets[s] & ~(KSPEC_ESTIMATOR_NAIVE | KSPEC_ESTIMATOR_EXACT | KSPEC_ESTIMATOR_AUTO));
                c.opts = (kspec_moments_opts){.size = sizeof c.opts,
                                              .nmax = 3,
                                              .estimators = sets[s],
                                              .seed = 5,
                                              .threads = threads,
                                              .row_trials = k == 3 ? ragged : NULL,
                                              .splits = 2,
                                              .no_stderr = flags & 1,
                                              .correlation = !(flags & 1),
                                              .center = centred ? KSPEC_CENTER_ROWS : KSPEC_CENTER_NONE,
                                              .normalize = flags >> 1};
                char what[80];
                snprintf(what, sizeof what, "estimators 0x%x, %zu trials, %d threads, flags %d", sets[s],
                         trials[k], threads, flags);
                until_it_succeeds(moments, &c, 1, what);
            }
}

/* Exact, which takes the entry apart that spoils its rounding; alone and as AUTO's */
TEST(moments_with_a_large_entry) {
    alloc_fill_entries();
    for (int t = 0; t < TRIALS; t++) entries[t][7] *= 1e9;
    for (int k = 0; k < 4; k++) {
        moments_case c = {.trials = k & 1 ? 2 : 1};
        c.opts = (kspec_moments_opts){.size = sizeof c.opts,
                                      .nmax = 3,
                                      .estimators = k & 2 ? KSPEC_ESTIMATOR_AUTO : KSPEC_ESTIMATOR_EXACT,
                                      .threads = 1};
        char what[80];
        snprintf(what, sizeof what, "a large entry, case %d", k);
        until_it_succeeds(moments, &c, 1, what);
    }
}

/* Groups, then missing entries; each plain and centred, with one trial and with four */
TEST(moments_of_groups_and_holes) {
    static const uint64_t rows[P] = {0, 1, 0, 2, 3, 4, 4, 5, 6}, cols[Q] = {1, 1, 2};
    for (int k = 0; k < 8; k++) {
        int holes = k & 1, centred = k >> 1 & 1;
        alloc_fill_entries();
        if (holes) entries[0][4] = entries[0][11] = NAN;
        moments_case c = {.trials = k & 4 ? 4 : 1};
        c.opts = (kspec_moments_opts){.size = sizeof c.opts,
                                      .nmax = holes && !centred ? 3 : 2,
                                      .splits = 2,
                                      .threads = 1 + k % 2,
                                      .center = centred ? KSPEC_CENTER_ROWS : KSPEC_CENTER_NONE,
                                      .estimators = centred ? KSPEC_ESTIMATOR_AUTO
                                                            : KSPEC_ESTIMATOR_PATH | KSPEC_ESTIMATOR_EXACT,
                                      .row_groups = holes ? NULL : rows,
                                      .col_groups = holes ? NULL : cols,
                                      .pairwise = holes};
        char what[80];
        snprintf(what, sizeof what, "%s%s, %zu trials", holes ? "holes" : "groups",
                 centred ? ", centred" : "", c.trials);
        until_it_succeeds(moments, &c, 1, what);
    }
    alloc_fill_entries();
}

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
    kspec_status st = kspec_generate_open(150, 7, o, &g, err);
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
    for (int process = KSPEC_PROCESS_RFF; process <= KSPEC_PROCESS_GAUSSIAN; process++)
        for (int threads = 1; threads <= 2; threads++) {
            kspec_generate_opts o = {.size = sizeof o,
                                     .process = (kspec_process)process,
                                     .dim = 3,
                                     .noise = 0.5,
                                     .trials = 2,
                                     .threads = threads};
            if (process == KSPEC_PROCESS_LINEAR)
                o.eigenvalues = eta, o.eigenvalue_count = 3;
            else
                o.eta = eta, o.eta_count = 3;
            char what[40];
            snprintf(what, sizeof what, "process %d, %d threads", process, threads);
            until_it_succeeds(generate, &o, 1, what);
            if (process == KSPEC_PROCESS_LINEAR) continue;
            static const double S[9] = {2, 1, 0, 1, 2, 0, 0, 0, 1};
            static const kspec_matrix sigma = {S, 3, 3, 3, 1};
            o.eta_count = 0, o.Sigma = o.Sigma_x = &sigma, o.noise_correlation = KSPEC_NOISE_BOTH;
            until_it_succeeds(generate, &o, 1, what);
        }
}

int main(void) {
    RUN(moments_of_every_estimator);
    RUN(moments_with_a_large_entry);
    RUN(moments_of_groups_and_holes);
    RUN(theory_and_generators);
    return test_done();
}
