/*
 * The contract of kspec.h, true of every call: one table of all of them, each tried with NULL options, zeroed
 * options, options of an older program, a wrong size, no error struct, allocation failing at each step, and
 * cancellation at each report. tests/check_api.py fails where a public function is missing here.
 */
#include "base/streams.h"
#include "help/contract_calls.h"
#include "help/failing_alloc.h"
#include "kspec.h"
#include "test.h"
#include "kspec/host.h"

#include <stdlib.h>
#include <unistd.h>

/* ---------------------------------------------------------------------------------------- the table */

typedef struct {
    const char *name;
    kspec_status (*call)(const void *opts, int *held, kspec_error *err);
    /* of its options, and where the progress callback is in them; 0: none */
    size_t size, progress;
    /* 1: it allocates */
    int allocates;
    /* options for the sweeps below, which make the call thousands of times; NULL: the defaults */
    const void *quick;
} row;

static const kspec_learn_opts quick_learn = {.size = sizeof quick_learn, .epochs = 1, .nmax = 2, .every = 1};

static const kspec_ridge_opts checked_ridge = {.size = sizeof checked_ridge, .check_draws = 2};
static const kspec_accumulator_opts quick_accumulator = {.size = sizeof quick_accumulator, .reservoir = 8};

#define OPTS(T)  sizeof(T), offsetof(T, progress)
#define PLAIN(T) sizeof(T), 0

/* clang-format off */
static const row rows[] = {
    {"kspec_moments",               moments,                OPTS(kspec_moments_opts),       1},
    {"kspec_moments, two trials",   moments_of_trials,      OPTS(kspec_moments_opts),       1},
    {"kspec_spectrum",              spectrum,               OPTS(kspec_spectrum_opts), 1, &quick_spectrum},
    {"kspec_spectrum, fit",         spectrum,               OPTS(kspec_spectrum_opts), 1, &fit_spectrum},
    {"kspec_spectrum, cvpca",       spectrum_of_trials,     OPTS(kspec_spectrum_opts), 1, &cvpca_spectrum},
    {"kspec_spectrum, newton",      spectrum,               OPTS(kspec_spectrum_opts), 1, &newton_spectrum},
    {"kspec_spectrum, estimation",  spectrum_estimation,    PLAIN(kspec_moments_opts), 1, &quick_moments},
    {"kspec_spectrum_from_moments", spectrum_from_moments,  OPTS(kspec_spectrum_opts), 1, &ranked_spectrum},
    {"kspec_spectrum_from_moments, free mass", spectrum_from_moments, OPTS(kspec_spectrum_opts), 1,
     &quick_spectrum},
    {"kspec_dimension",             dimension,              OPTS(kspec_dimension_opts),     1},
    {"kspec_compare",               compare,                OPTS(kspec_compare_opts),       1},
    {"kspec_unbiased",              unbiased,               OPTS(kspec_unbiased_opts),      1},
    {"kspec_jackknife",             jackknife,              0, 0,                           0},
    {"kspec_accumulator",           accumulator,            PLAIN(kspec_accumulator_opts),  1,
     &quick_accumulator},
    {"kspec_norm",                  norm,                   OPTS(kspec_norm_opts),          1},
    {"kspec_features",              features,               OPTS(kspec_norm_opts),        1},
    {"kspec_gram",                  gram,                   OPTS(kspec_norm_opts),        1},
    {"kspec_generate",              generate,               OPTS(kspec_generate_opts),      1},
    {"kspec_generate_open",         generate_rows,          OPTS(kspec_generate_opts),      1},
    {"kspec_ridge_predict",         ridge_predict,             OPTS(kspec_ridge_opts),         1},
    {"kspec_ridge_predict, checked", ridge_predict,            OPTS(kspec_ridge_opts), 1, &checked_ridge},
    {"kspec_ridge_best_lambda",     ridge_best_lambda,      OPTS(kspec_ridge_opts),         1},
    {"kspec_ridge_best_features",   ridge_best_features,    OPTS(kspec_ridge_opts),         1},
    {"kspec_ridge_empirical",       ridge_empirical,        OPTS(kspec_ridge_opts),         1},
    {"kspec_ridge_recommend",       ridge_recommend,        OPTS(kspec_ridge_opts),         1},
    {"kspec_ridge_bilinear",        ridge_bilinear,         OPTS(kspec_ridge_opts),         1},
    {"kspec_ridge_density",         ridge_density,          0, 0,                           0},
    {"kspec_wls_theory",            wls_theory,             OPTS(kspec_wls_opts),           1},
    {"kspec_wls_empirical",         wls_empirical,          OPTS(kspec_wls_opts),           1},
    {"kspec_wls_best_p",            wls_best_p,             OPTS(kspec_wls_opts),           1},
    {"kspec_wls_best_weight",       wls_best_weight,        OPTS(kspec_wls_opts),           1},
    {"kspec_wls_fit",               wls_fit,                PLAIN(kspec_wls_opts),          1},
    {"kspec_wls_smooth",            wls_smooth,             OPTS(kspec_wls_smooth_opts),    1},
    {"kspec_wls_smooth, any points", wls_smooth_any,        OPTS(kspec_wls_smooth_opts),    1},
    {"kspec_wls_bound",             wls_bound,              PLAIN(kspec_wls_opts),          1},
    {"kspec_wls_features",          wls_features,           OPTS(kspec_wls_features_opts),  1},
    {"kspec_wls_decay",             wls_decay,              OPTS(kspec_wls_decay_opts),     1},
    {"kspec_wls_ntk",               wls_ntk,                0, 0,                           0},
    {"kspec_wls_predict",           wls_predict,            0, 0,                           0},
    {"kspec_learn_open",            learn_open,             PLAIN(kspec_learn_data_opts),   1},
    {"kspec_learn",                 learn,                  OPTS(kspec_learn_opts),         1, &quick_learn},
    {"kspec_team_open",             team_open,              0, 0,                           1},
    {"kspec_mpi_open",              mpi_open,               0, 0,                           0},
    {"kspec_read",                  read_file,              PLAIN(kspec_read_opts),         1},
    {"kspec_read, lent",            read_lent,              PLAIN(kspec_read_opts),         1},
    {"kspec_read, from a GPU",      read_on_device,             PLAIN(kspec_read_opts),         1},
    {"kspec_read_labels",           read_labels,            PLAIN(kspec_read_opts),         1},
    {"kspec_write",                 write_file,             0, 0,                           1},
    {"kspec_write_text",            write_text,             0, 0,                           0},
    {"kspec_write_check",           write_check,            0, 0,                           0},
    {"kspec_theory_rbf_moments",    theory_rbf,             0, 0,                           0},
    {"kspec_theory_rbf_eigenvalues", theory_rbf_eigenvalues, 0, 0,                          1},
    {"kspec_theory_rbf_eigenfunctions", theory_rbf_eigenfunctions, 0, 0,                    1},
    {"kspec_theory_rbf_eta",        theory_rbf_eta,         0, 0,                           1},
    {"kspec_theory_linear_moments", theory_linear,          0, 0,                           0},
    {"kspec_theory_sphere_eigenvalues", theory_sphere,      0, 0,                           0},
    {"kspec_theory_sphere_moments", theory_sphere_moments,  0, 0,                           0},
};
/* clang-format on */

#define EACH_ROW(r) for (const row *r = rows; r < rows + sizeof rows / sizeof *rows; r++)

/* Options of the row: zeroed, with this size field. A buffer that any of them fits in. */
static union {
    unsigned char bytes[1024];
    size_t size;
    max_align_t align;
} options;

static void *zeroed(const row *r, size_t size) {
    CHECK_MSG(r->size <= sizeof options, "%s: the options have %zu bytes", r->name, r->size);
    memset(&options, 0, sizeof options);
    options.size = size;
    return &options;
}

/* ---------------------------------------------------------------------------------------- the promises */

static void expect_success(const row *r, const void *opts, const char *how) {
    int held = 0;
    kspec_error err = {KSPEC_E_NUMERIC, "left from before"};
    kspec_status st = r->call(opts, &held, &err);
    CHECK_MSG(st == KSPEC_OK && err.code == KSPEC_OK && err.msg[0] == 0, "%s, %s: status %d: %s", r->name,
              how, (int)st, err.msg);
    CHECK_MSG(r->call(opts, &held, NULL) == KSPEC_OK, "%s, %s, without an error struct", r->name, how);
}

TEST(options_may_be_null_or_zeroed_or_those_of_an_older_program) {
    EACH_ROW(r) {
        expect_success(r, NULL, "NULL options");
        if (!r->size) continue;
        expect_success(r, zeroed(r, r->size), "zeroed options");
        expect_success(r, zeroed(r, sizeof(size_t)), "options with the size field alone");
    }
}

/* Fields that this library does not know must be zero, which means their defaults. */
TEST(options_of_a_newer_program_are_those_we_know) {
    EACH_ROW(r) {
        if (!r->size) continue;
        expect_success(r, zeroed(r, r->size + 64), "64 bytes more, all zero");
        const size_t set[] = {r->size, r->size + 63};
        for (int k = 0; k < 2; k++) {
            int held = 0;
            kspec_error err = {0};
            char where[32];
            zeroed(r, r->size + 64);
            options.bytes[set[k]] = 1;
            snprintf(where, sizeof where, "byte %zu", set[k]);
            kspec_status st = r->call(&options, &held, &err);
            CHECK_MSG(st == KSPEC_E_ARG && err.code == st && strstr(err.msg, where) && !held, "%s: %d: %s",
                      r->name, (int)st, err.msg);
        }
    }
}

TEST(a_wrong_size_is_refused) {
    EACH_ROW(r) {
        const size_t wrong[] = {0, 4, 4097, SIZE_MAX};
        for (size_t k = 0; k < sizeof wrong / sizeof *wrong && r->size; k++) {
            int held = 0;
            kspec_error err = {0};
            kspec_status st = r->call(zeroed(r, wrong[k]), &held, &err);
            CHECK_MSG(st == KSPEC_E_ARG && err.code == st && strstr(err.msg, "size"), "%s, size %zu: %d: %s",
                      r->name, wrong[k], (int)st, err.msg);
            CHECK_MSG(!held, "%s, size %zu: the pointer is not NULL", r->name, wrong[k]);
            CHECK_MSG(r->call(zeroed(r, wrong[k]), &held, NULL) == st, "%s without an error struct", r->name);
        }
    }
}

TEST(every_allocation_may_fail) {
    EACH_ROW(r) {
        long k = 0;
        kspec_status st = KSPEC_E_NOMEM;
        failing_alloc_install();
        for (; k < 20000 && st == KSPEC_E_NOMEM; k += SWEEP_STEP) {
            int held = 0;
            kspec_error err = {0};
            failing_alloc_arm(k);
            st = r->call(r->quick, &held, &err);
            CHECK_MSG(failing_alloc_live() == 0, "%s: %ld blocks leaked at %ld", r->name,
                      failing_alloc_live(), k);
            CHECK_MSG(err.code == st && !held, "%s at %ld: status %d, error %d, %s", r->name, k, (int)st,
                      (int)err.code, held ? "a pointer is left" : "no pointer is left");
            CHECK_MSG(!st || (err.msg[0] && !strchr(err.msg, '\n')), "%s at %ld: '%s'", r->name, k, err.msg);
            failing_alloc_arm(k);
            CHECK_MSG(r->call(r->quick, &held, NULL) == st, "%s at %ld without an error struct", r->name, k);
        }
        failing_alloc_uninstall();
        CHECK_MSG(st == KSPEC_OK && k > r->allocates, "%s: status %d after %ld allocations", r->name, (int)st,
                  k);
    }
}

typedef struct {
    int left, reports, outside;
} countdown;

static int report(void *ctx, double fraction) {
    countdown *c = ctx;
    c->outside |= !(fraction >= 0 && fraction <= 1);
    c->reports++;
    return c->left-- <= 0;
}

TEST(every_report_may_cancel) {
    EACH_ROW(r) {
        kspec_status st = KSPEC_E_CANCELLED;
        int k = 0;
        failing_alloc_install();
        for (; k < 2000 && st == KSPEC_E_CANCELLED && r->progress; k++) {
            int held = 0;
            kspec_error err = {0};
            countdown c = {.left = k};
            kspec_progress progress = {report, &c};
            zeroed(r, r->size);
            if (r->quick) memcpy(&options, r->quick, r->size);
            memcpy(options.bytes + r->progress, &progress, sizeof progress);
            st = r->call(&options, &held, &err);
            CHECK_MSG(!c.outside, "%s: a fraction is not between 0 and 1", r->name);
            CHECK_MSG(failing_alloc_live() == 0 && !held, "%s cancelled at report %d: %ld blocks leaked",
                      r->name, k, failing_alloc_live());
            CHECK_MSG(st == KSPEC_OK || (st == KSPEC_E_CANCELLED && err.code == st && err.msg[0]),
                      "%s cancelled at report %d: status %d: %s", r->name, k, (int)st, err.msg);
            CHECK_MSG(st != KSPEC_E_CANCELLED || c.reports == k + 1, "%s: reports after it was cancelled",
                      r->name);
        }
        failing_alloc_uninstall();
        if (r->progress)
            CHECK_MSG(st == KSPEC_OK && k > 1, "%s: status %d after %d reports", r->name, (int)st, k);
    }
}

/* What a call cannot do without: NULL is refused by name, and leaves NULL. */
TEST(null_inputs_are_refused) {
    kspec_error err;
    double x[16];
#define REFUSES_NULL(call) CHECK_FAILS(call, KSPEC_E_ARG, err, "(NULL)")
    {
        kspec_moments_result *r = NOWHERE(kspec_moments_result);
        REFUSES_NULL(kspec_moments(NULL, 1, NULL, &r, &err));
        CHECK(r == NULL);
        kspec_spectrum_result *s = NOWHERE(kspec_spectrum_result);
        REFUSES_NULL(kspec_spectrum(NULL, 1, NULL, &s, &err));
        REFUSES_NULL(kspec_spectrum_from_moments(NULL, NULL, NULL, 2, NULL, &s, &err));
        kspec_dimension_result *d = NOWHERE(kspec_dimension_result);
        REFUSES_NULL(kspec_dimension(NULL, 1, NULL, &d, &err));
        REFUSES_NULL(kspec_dimension_batch(NULL, 1, 1, NULL, &d, &err));
        kspec_compare_result *c = NOWHERE(kspec_compare_result);
        REFUSES_NULL(kspec_compare(phi, 1, NULL, 1, NULL, &c, &err));
        REFUSES_NULL(kspec_compare_batch(NULL, 2, 1, NULL, 0, 0, NULL, &c, &err));
        kspec_unbiased_result *u = NOWHERE(kspec_unbiased_result);
        REFUSES_NULL(kspec_unbiased("X[i,a]", NULL, 1, NULL, &u, &err));
        REFUSES_NULL(kspec_unbiased(NULL, &(kspec_operand){"X", phi, 1}, 1, NULL, &u, &err));
        CHECK(u == NULL);
        REFUSES_NULL(kspec_jackknife(1, NULL, (size_t[]){3}, x, 1, x, &err));
        kspec_blocks *blocks = NOWHERE(kspec_blocks);
        kspec_matrix block;
        REFUSES_NULL(kspec_blocks_open(NULL, 1, NULL, 0, &blocks, &err));
        REFUSES_NULL(kspec_blocks_next(NULL, &block, NULL, &err));
        CHECK(blocks == NULL);
        kspec_accumulator *a = NOWHERE(kspec_accumulator);
        size_t bytes = 0;
        REFUSES_NULL(kspec_accumulator_update(NULL, phi, NULL, NULL, &err));
        REFUSES_NULL(kspec_accumulator_update_device(NULL, phi, NULL, &err));
        REFUSES_NULL(kspec_accumulator_merge(NULL, NULL, &err));
        REFUSES_NULL(kspec_accumulator_dimension(NULL, 0, &d, &err));
        REFUSES_NULL(kspec_accumulator_compare(NULL, &c, &err));
        REFUSES_NULL(kspec_accumulator_pack(NULL, NULL, &bytes, &err));
        REFUSES_NULL(kspec_accumulator_unpack(NULL, 0, &a, &err));
        CHECK(a == NULL && !kspec_accumulator_describe(NULL));
        kspec_norm_result *n = NOWHERE(kspec_norm_result);
        REFUSES_NULL(kspec_norm(NULL, NULL, &n, &err));
        CHECK(s == NULL && d == NULL && c == NULL && n == NULL);
    }
    REFUSES_NULL(kspec_features(NULL, NULL, x, &err));
    REFUSES_NULL(kspec_features(&table, NULL, NULL, &err));
    REFUSES_NULL(kspec_gram(NULL, NULL, x, &err));
    REFUSES_NULL(kspec_gram(&table, NULL, NULL, &err));
    REFUSES_NULL(kspec_generate_rows(NULL, 0, 0, 1, x, &err));
    {
        kspec_ridge *plan = NOWHERE(kspec_ridge);
        REFUSES_NULL(kspec_ridge_open(NULL, &target, NULL, NULL, NULL, &plan, &err));
        REFUSES_NULL(kspec_ridge_open(&table, NULL, NULL, NULL, NULL, &plan, &err));
        CHECK(plan == NULL && isnan(kspec_ridge_sigma(NULL)) && isnan(kspec_ridge_cost(NULL, 3)));
        kspec_ridge_result *r = NOWHERE(kspec_ridge_result);
        REFUSES_NULL(kspec_ridge_predict(NULL, (size_t[]){4, 7}, 2, lambda, 2, &r, &err));
        REFUSES_NULL(kspec_ridge_best_lambda(NULL, 4, 0.1, 1, &r, &err));
        REFUSES_NULL(kspec_ridge_best_features(NULL, 1, 1e9, &r, &err));
        kspec_ridge_empirical_result *e = NOWHERE(kspec_ridge_empirical_result);
        REFUSES_NULL(kspec_ridge_empirical(NULL, 4, lambda, 2, 3, &e, &err));
        kspec_ridge_recommend_result *found = NOWHERE(kspec_ridge_recommend_result);
        REFUSES_NULL(kspec_ridge_recommend(NULL, 0, &found, &err));
        kspec_ridge_bilinear_result *forms = NOWHERE(kspec_ridge_bilinear_result);
        REFUSES_NULL(
            kspec_ridge_bilinear(NULL, &target, &target, (size_t[]){4}, 1, lambda, 2, 3, &forms, &err));
        kspec_ridge_density_result *density = NOWHERE(kspec_ridge_density_result);
        REFUSES_NULL(kspec_ridge_density(NULL, 4, 5, &density, &err));
        CHECK(r == NULL && e == NULL && found == NULL);
    }
    {
        kspec_wls_result *r = NOWHERE(kspec_wls_result);
        REFUSES_NULL(kspec_wls_theory(GRID, NULL, 2, NULL, &r, &err));
        REFUSES_NULL(kspec_wls_empirical(GRID, NULL, 2, 3, NULL, &r, &err));
        REFUSES_NULL(kspec_wls_best_p(GRID, NULL, 2, NULL, &r, &err));
        kspec_wls_fit_result *f = NOWHERE(kspec_wls_fit_result);
        REFUSES_NULL(kspec_wls_fit(GRID, 3, NULL, NULL, &f, &err));
        kspec_wls_features_result *w = NOWHERE(kspec_wls_features_result);
        REFUSES_NULL(kspec_wls_features(NULL, &target, NULL, &w, &err));
        kspec_wls_decay_result *d = NOWHERE(kspec_wls_decay_result);
        REFUSES_NULL(kspec_wls_decay(NULL, NULL, &d, &err));
        CHECK(r == NULL && f == NULL && w == NULL && d == NULL);
    }
    {
        kspec_learn_data *data = NOWHERE(kspec_learn_data);
        REFUSES_NULL(kspec_learn_open(NULL, &labels, &images, NULL, NULL, &data, &err));
        kspec_learn_result *r = NOWHERE(kspec_learn_result);
        REFUSES_NULL(kspec_learn(NULL, p_list, 1, NULL, &r, &err));
        CHECK(data == NULL && r == NULL && kspec_learn_data_shape(NULL) == NULL);
    }
    {
        kspec_team *team = NOWHERE(kspec_team);
        CHECK(kspec_team_open(&(kspec_comm){.size = sizeof(kspec_comm), .rank = 2, .ranks = 2}, &team,
                              &err) == KSPEC_E_ARG);
        CHECK(team == NULL);
        REFUSES_NULL(kspec_team_checkpoint(NULL, "x", "y", &err));
        REFUSES_NULL(kspec_team_same(NULL, "x", 1, &err));
        CHECK(kspec_team_agree(NULL, KSPEC_E_NUMERIC, NULL) == KSPEC_E_NUMERIC);
    }
    CHECK(kspec_dataset_trial(NULL, 0).data == NULL);
    REFUSES_NULL(kspec_theory_rbf_moments(NULL, 2, 3, x, NULL, &err));
    REFUSES_NULL(kspec_theory_rbf_eigenvalues(NULL, 2, 3, x, NULL, &err));
    REFUSES_NULL(kspec_theory_linear_moments(NULL, 1, 2, 3, x, NULL, &err));
}

/* A call without a place for its result fails, and does not crash. */
TEST(a_missing_out_is_refused) {
    kspec_error err;
#define NO_OUT(call) CHECK_FAILS(call, KSPEC_E_ARG, err, "out is missing (NULL)")
    NO_OUT(kspec_moments(phi, 1, NULL, NULL, &err));
    NO_OUT(kspec_spectrum(phi, 1, NULL, NULL, &err));
    NO_OUT(kspec_spectrum_from_moments(known, known_errors, NULL, 3, NULL, NULL, &err));
    NO_OUT(kspec_dimension(phi, 1, NULL, NULL, &err));
    NO_OUT(kspec_dimension_batch(phi, 1, 1, NULL, NULL, &err));
    NO_OUT(kspec_compare(phi, 1, phi, 1, NULL, NULL, &err));
    NO_OUT(kspec_compare_batch(phi, 1, 1, phi, 1, 1, NULL, NULL, &err));
    NO_OUT(kspec_unbiased("X[i,a]", &(kspec_operand){"X", phi, 1}, 1, NULL, NULL, &err));
    NO_OUT(kspec_blocks_open((const char *const[]){"x.npy"}, 1, NULL, 0, NULL, &err));
    NO_OUT(kspec_accumulator_open(Q, NULL, NULL, &err));
    NO_OUT(kspec_accumulator_dimension(NULL, 0, NULL, &err));
    NO_OUT(kspec_accumulator_compare(NULL, NULL, &err));
    NO_OUT(kspec_accumulator_unpack(NULL, 0, NULL, &err));
    NO_OUT(kspec_norm(&table, NULL, NULL, &err));
    NO_OUT(kspec_generate_open(P, Q, NULL, NULL, &err));
    NO_OUT(kspec_ridge_open(&table, &target, NULL, NULL, NULL, NULL, &err));
    kspec_ridge *plan;
    CHECK(kspec_ridge_open(&table, &target, &table, &target, NULL, &plan, NULL) == KSPEC_OK);
    NO_OUT(kspec_ridge_predict(plan, p_list, 2, lambda, 2, NULL, &err));
    NO_OUT(kspec_ridge_best_lambda(plan, 4, 0.1, 1, NULL, &err));
    NO_OUT(kspec_ridge_best_features(plan, 1, 1e9, NULL, &err));
    NO_OUT(kspec_ridge_empirical(plan, 4, lambda, 2, 3, NULL, &err));
    NO_OUT(kspec_ridge_recommend(plan, 4, NULL, &err));
    NO_OUT(kspec_ridge_bilinear(plan, &target, &target, p_list, 2, lambda, 2, 3, NULL, &err));
    NO_OUT(kspec_ridge_density(plan, 4, 5, NULL, &err));
    kspec_ridge_close(plan);
    NO_OUT(kspec_wls_theory(GRID, p_list, 2, NULL, NULL, &err));
    NO_OUT(kspec_wls_empirical(GRID, p_list, 2, 4, NULL, NULL, &err));
    NO_OUT(kspec_wls_best_p(GRID, NULL, 0, NULL, NULL, &err));
    NO_OUT(kspec_wls_best_weight(GRID, 3, 0, 1, NULL, NULL, &err));
    NO_OUT(kspec_wls_fit(GRID, 3, target_at, NULL, NULL, &err));
    NO_OUT(kspec_wls_smooth(GRID, NULL, target_at, NULL, NULL, &err));
    NO_OUT(kspec_wls_bound(GRID, 1, 0.5, p_list, 1, NULL, NULL, &err));
    NO_OUT(kspec_wls_features(&table, &target, NULL, NULL, &err));
    NO_OUT(kspec_wls_decay(&table, NULL, NULL, &err));
    NO_OUT(kspec_learn_open(&images, &labels, &images, NULL, NULL, NULL, &err));
    kspec_learn_data *data;
    CHECK(kspec_learn_open(&images, &labels, &images, NULL, NULL, &data, NULL) == KSPEC_OK);
    NO_OUT(kspec_learn(data, p_list, 1, NULL, NULL, &err));
    kspec_learn_close(data);
    NO_OUT(kspec_team_open(NULL, NULL, &err));
    NO_OUT(kspec_mpi_open(NULL, &err));
    NO_OUT(kspec_read((const char *[]){file}, 1, NULL, NULL, &err));
    NO_OUT(kspec_read_labels(names, NULL, NULL, &err));
    NO_OUT(kspec_write_open(file, 2, (size_t[]){P, TABLE}, NULL, &err));
    kspec_generator *g;
    CHECK(kspec_generate_open(P, Q, NULL, &g, NULL) == KSPEC_OK);
    CHECK_FAILS(kspec_generate_rows(g, 0, 0, 1, NULL, &err), KSPEC_E_ARG, err, "(NULL)");
    CHECK_FAILS(kspec_generate(P, Q, NULL, NULL, &err), KSPEC_E_ARG, err, "(NULL)");
    kspec_generate_close(g);
    CHECK_FAILS(kspec_device_parse("cpu", NULL, &err), KSPEC_E_ARG, err, "(NULL)");
    CHECK_FAILS(kspec_wls_ntk(NULL, 1, 1, 0, NULL, NULL, &err), KSPEC_E_ARG, err, "(NULL)");
    CHECK_FAILS(kspec_wls_ntk(&(kspec_matrix){known, 1, 1, 1, 1}, 1, 1, 0, NULL, NULL, &err), KSPEC_E_ARG,
                err, "(NULL)");
    CHECK_FAILS(kspec_wls_predict(known, 1, known, 1, NULL, 1, &err), KSPEC_E_ARG, err, "(NULL)");
    CHECK_FAILS(kspec_theory_rbf_eigenfunctions(known, 1, &(kspec_matrix){known, 1, 1, 1, 1}, 1, NULL, &err),
                KSPEC_E_ARG, err, "(NULL)");
    CHECK_FAILS(kspec_theory_rbf_eta(&(kspec_matrix){known, 1, 1, 1, 1}, NULL, NULL, &(size_t){0}, &err),
                KSPEC_E_ARG, err, "(NULL)");
    /* closed forms fill the arrays that they are given */
    CHECK(kspec_theory_rbf_moments(eta, 2, 3, NULL, NULL, NULL) == KSPEC_OK);
    CHECK(kspec_theory_rbf_eigenvalues(eta, 2, 3, NULL, NULL, NULL) == KSPEC_OK);
    CHECK(kspec_theory_linear_moments(eta, 2, 2, 3, NULL, NULL, NULL) == KSPEC_OK);
    CHECK(kspec_theory_sphere_eigenvalues(0, 1, 3, 4, NULL, NULL, NULL, NULL, NULL) == KSPEC_OK);
    CHECK(kspec_theory_sphere_moments(0, 1, 3, 3, NULL, NULL, NULL) == KSPEC_OK);
}

TEST(free_and_close_take_null) {
    kspec_free(NULL);
    kspec_accumulator_close(NULL);
    kspec_blocks_close(NULL);
    kspec_ridge_close(NULL);
    kspec_generate_close(NULL);
    kspec_learn_close(NULL);
    kspec_team_close(NULL);
    kspec_mpi_close(NULL);
    kspec_write_abort(NULL);
}

TEST(calls_that_cannot_fail) {
    CHECK(strcmp(kspec_version(), KSPEC_VERSION) == 0 && kspec_isa()[0] && kspec_blas()[0]);
    CHECK(kspec_hdf5_sandbox() && kspec_hdf5_sandbox()[0]);
    CHECK(kspec_lp_solver()[0] && kspec_default_threads() >= 1);
    CHECK(kspec_blas_advice() == NULL || kspec_blas_advice()[0]);
    CHECK(!kspec_gpu() != !kspec_gpu_problem()); /* one of them says something */
    CHECK(!kspec_mpi() || kspec_mpi()[0]);
    CHECK(kspec_device_parse("tpu", &(kspec_device){0}, NULL) == KSPEC_E_ARG);
    CHECK(strcmp(kspec_name(KSPEC_NAMES_ESTIMATOR, KSPEC_ESTIMATOR_EXACT), "exact") == 0);
    CHECK(strcmp(kspec_name(KSPEC_NAMES_EVIDENCE, KSPEC_EVIDENCE_WEAK), "weak") == 0);
    CHECK(strcmp(kspec_name(KSPEC_NAMES_DOUBT, KSPEC_DOUBT_ONE_TRIAL), "one-trial") == 0);
    CHECK(kspec_doubt_text(&(kspec_doubt){.code = KSPEC_DOUBT_ONE_TRIAL}, names + sizeof names - 1, 1)[0] ==
          0);
    CHECK(strcmp(kspec_name(KSPEC_NAMES_NORM_METHOD, KSPEC_NORM_METHOD_EIGEN), "eigen") == 0);
    CHECK(kspec_name(KSPEC_NAMES_ESTIMATOR, (kspec_estimator)77) == NULL);
    CHECK(kspec_name(KSPEC_NAMES_NORM_METHOD, (kspec_norm_method)77) == NULL);
    for (int st = 0; st <= (int)KSPEC_E_DATA; st++)
        CHECK(kspec_name(KSPEC_NAMES_STATUS, (kspec_status)st)[0]);
    CHECK(strcmp(kspec_name(KSPEC_NAMES_STATUS, (kspec_status)99), "unknown status") == 0);
    kspec_set_allocator(NULL);
    kspec_write_discard_all();
}

int main(void) {
    setenv("KSPEC_THREADS", "2", 1);
    make_inputs();
    snprintf(file, sizeof file, "contract-%ld.npy", (long)getpid());
    int held;
    snprintf(names, sizeof names, "contract-%ld.labels", (long)getpid());
    CHECK(kspec_write_text(names, "b\na\nb\n", 6, NULL) == KSPEC_OK);
    CHECK(write_file(NULL, &held, NULL) == KSPEC_OK);
    RUN(options_may_be_null_or_zeroed_or_those_of_an_older_program);
    RUN(options_of_a_newer_program_are_those_we_know);
    RUN(a_wrong_size_is_refused);
    RUN(every_allocation_may_fail);
    RUN(every_report_may_cancel);
    RUN(null_inputs_are_refused);
    RUN(a_missing_out_is_refused);
    RUN(free_and_close_take_null);
    RUN(calls_that_cannot_fail);
    unlink(file);
    unlink(names);
    return test_done();
}
