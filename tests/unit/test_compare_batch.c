/* kspec_compare_batch() beside a loop of kspec_compare(), on random sizes, settings and threads. */
#include "help/failing_alloc.h"
#include "kspec/dimension.h"
#include "test.h"

enum { MOST = 5, TRIALS = 3 };

static uint64_t state;
static double uniform(void) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return 2 * ((double)(state >> 11) * 0x1p-53) - 1;
}

/* `count` matrices with the rows' factors f in common, each with `trials` trials */
static void make_batch(kspec_matrix *phi, size_t count, size_t trials, size_t P, size_t Q, const double *f,
                       double scale) {
    for (size_t k = 0; k < count; k++) {
        double weight[4 * 40];
        for (size_t j = 0; j < 4 * Q; j++) weight[j] = uniform();
        for (size_t t = 0; t < trials; t++) {
            double *x = malloc(P * Q * sizeof *x);
            for (size_t i = 0; i < P; i++)
                for (size_t j = 0; j < Q; j++) {
                    x[i * Q + j] = scale * (0.7 * uniform() + 2 + (double)k);
                    for (size_t d = 0; d < 4; d++)
                        x[i * Q + j] += scale * f[i * 8 + (d + k) % 8] * weight[d * Q + j];
                }
            phi[k * trials + t] = (kspec_matrix){x, P, Q, (ptrdiff_t)Q, 1};
        }
    }
}

static void free_batch(kspec_matrix *phi, size_t count) {
    for (size_t k = 0; k < count; k++) free((double *)phi[k].data);
}

static void close_to(double a, double b, double scale, const char *what) {
    CHECK_MSG((isnan(a) && isnan(b)) || fabs(a - b) <= 1e-12 * fmax(fabs(b), scale), "%s: %.17g, not %.17g",
              what, a, b);
}

static void same(const kspec_compare_result *a, const kspec_compare_result *b) {
    CHECK(a->P == b->P && a->Q == b->Q && a->other_Q == b->other_Q && a->center == b->center);
    CHECK(a->trials == b->trials && a->other_trials == b->other_trials && a->groups == b->groups);
    close_to(a->alignment, b->alignment, 0, "alignment");
    close_to(a->alignment_std_error, b->alignment_std_error, 0, "its error");
    close_to(a->alignment_ci_low, b->alignment_ci_low, 0, "its interval");
    close_to(a->alignment_ci_high, b->alignment_ci_high, 0, "its interval");
    close_to(a->alignment_biased, b->alignment_biased, 0, "the biased alignment");
    close_to(a->alignment_p, b->alignment_p, 1e-3, "its p");
    close_to(a->dimension, b->dimension, 0, "dimension");
    close_to(a->other_dimension, b->other_dimension, 0, "dimension of the other");
    CHECK(a->count == b->count && isnan(a->shared_dimension));
    for (size_t k = 0; k < a->count && k < b->count; k++) {
        close_to(a->differences[k]->value, b->differences[k]->value, 0, "difference");
        close_to(a->differences[k]->std_error, b->differences[k]->std_error, 0, "error of a difference");
        close_to(a->differences[k]->p, b->differences[k]->p, 1e-3, "p of a difference");
    }
}

/* psi = NULL: phi with itself */
static void one(const kspec_matrix *phi, size_t n, size_t trials, const kspec_matrix *psi, size_t m,
                size_t other_trials, kspec_compare_opts o) {
    kspec_compare_result *out[MOST * MOST], *loop;
    kspec_error err = {0};
    o.size = sizeof o;
    const kspec_matrix *second = psi ? psi : phi;
    const size_t columns = psi ? m : n, of_second = psi ? other_trials : trials;
    kspec_status st = kspec_compare_batch(phi, n, trials, psi, m, other_trials, &o, out, &err);
    CHECK_MSG(st == KSPEC_OK, "%s", err.msg);
    o.no_shared = 1;
    for (size_t i = 0; i < n && !st; i++)
        for (size_t k = 0; k < columns; k++) {
            const kspec_compare_result *r = out[i * columns + k];
            CHECK((r != NULL) == (psi || i < k));
            if (!r) continue;
            CHECK_MSG(kspec_compare(phi + i * trials, trials, second + k * of_second, of_second, &o, &loop,
                                    &err) == KSPEC_OK,
                      "%s", err.msg);
            if (loop) same(r, loop);
            kspec_free(loop);
            kspec_free(out[i * columns + k]);
        }
}

TEST(as_a_loop) {
    for (int trial = 0; trial < 12; trial++) {
        const size_t P = 12 + (size_t)(trial * 5) % 17, Q = 6 + (size_t)trial % 5, R = 7 + (size_t)trial % 3;
        const size_t n = 2 + (size_t)trial % 3, m = 1 + (size_t)trial % 4, T = trial % 4 ? 1 : TRIALS,
                     U = trial % 3 ? 1 : 2;
        kspec_matrix phi[MOST * TRIALS], psi[MOST * TRIALS];
        uint64_t labels[40];
        double f[40 * 8];
        state = 77 + (uint64_t)trial;
        for (size_t i = 0; i < 40 * 8; i++) f[i] = uniform();
        for (size_t i = 0; i < 40; i++) labels[i] = i / 2;
        make_batch(phi, n, T, P, Q, f, trial == 7 ? 1e-40 : 1);
        make_batch(psi, m, U, P, R, f, 3);
        const kspec_compare_opts o = {.threads = 1 + trial % 3,
                                      .seed = (uint64_t)trial,
                                      .center = trial % 5 == 4 ? KSPEC_CENTER_NONE : KSPEC_CENTER_ROWS,
                                      .sampled = trial % 3 == 1 ? KSPEC_SAMPLED_ROWS : KSPEC_SAMPLED_BOTH,
                                      .row_groups = trial % 6 == 5 ? labels : NULL,
                                      .population_cols = trial % 6 == 2 ? 50 : 0,
                                      .standardize = trial % 6 == 3};
        one(phi, n, T, psi, m, U, o);
        one(phi, n, T, NULL, 0, 0, o);
        free_batch(phi, n * T), free_batch(psi, m * U);
    }
}

/* A doubt about a matrix comes with its first pair, not with every one. */
TEST(doubts_come_once) {
    kspec_matrix phi[4];
    kspec_compare_result *out[16];
    kspec_error err;
    double f[40 * 8];
    state = 5;
    for (size_t i = 0; i < 40 * 8; i++) f[i] = uniform();
    make_batch(phi, 4, 1, 30, 12, f, 1);
    ((double *)phi[2].data)[40] = 1e5; /* stands out */
    const kspec_compare_opts o = {.size = sizeof o, .name = "layers"};
    CHECK(kspec_compare_batch(phi, 4, 1, NULL, 0, 0, &o, out, &err) == KSPEC_OK);
    int told = 0, at = 0;
    for (int k = 0; k < 16; k++)
        for (size_t d = 0; out[k] && d < out[k]->doubt_count; d++)
            if (out[k]->doubts[d]->where && strcmp(out[k]->doubts[d]->where, "layers[2]") == 0)
                told++, at = k;
    CHECK(told > 0 && at == 2);
    for (int k = 0; k < 16; k++) kspec_free(out[k]);
    free_batch(phi, 4);
}

static void refused(const kspec_matrix *phi, size_t n, const kspec_matrix *psi, size_t m,
                    kspec_compare_opts o, const char *message) {
    kspec_compare_result *out[MOST * MOST];
    kspec_error err = {0};
    o.size = sizeof o;
    CHECK(kspec_compare_batch(phi, n, 1, psi, m, 1, &o, out, &err) == KSPEC_E_ARG ||
          err.code == KSPEC_E_DATA);
    CHECK_MSG(strcmp(err.msg, message) == 0, "%s", err.msg);
}

TEST(what_is_refused) {
    kspec_matrix phi[3], psi[3], bad[3];
    size_t ragged[20] = {0};
    double f[40 * 8];
    for (size_t i = 0; i < 40 * 8; i++) f[i] = uniform();
    make_batch(phi, 3, 1, 20, 8, f, 1), make_batch(psi, 3, 1, 19, 8, f, 1);
    memcpy(bad, phi, sizeof bad);
    const kspec_compare_opts o = {0};
    refused(NULL, 3, phi, 3, o, "the batch is missing (NULL)");
    refused(phi, 0, phi, 3, o, "a batch of 0 matrices is below 1");
    refused(phi, 3, phi, 0, o, "a batch of 0 matrices is below 1");
    refused(phi, 1, NULL, 0, o, "a batch of 1 matrices is below 2");
    refused(phi, 3, psi, 3, o, "first[0] has 20 rows and second[0] has 19: they cannot be the same inputs");
    refused(phi, 3, phi, 3, (kspec_compare_opts){.nmax = 3},
            "a batch and moments above m(2) cannot be combined");
    refused(phi, 3, phi, 3, (kspec_compare_opts){.paired = KSPEC_PAIRED_COLS},
            "a batch and a pairing other than rows cannot be combined");
    refused(phi, 3, phi, 3, (kspec_compare_opts){.block = 4}, "a batch and blocks cannot be combined");
    refused(phi, 3, phi, 3, (kspec_compare_opts){.row_trials = ragged},
            "a batch and ragged trials cannot be combined");
    double *x = malloc(20 * 8 * sizeof *x);
    memcpy(x, phi[1].data, 20 * 8 * sizeof *x);
    x[3 * 8 + 2] = NAN;
    bad[1].data = x;
    refused(phi, 3, bad, 3, (kspec_compare_opts){.threads = 2},
            "second[1]: the matrix: row 3, column 2 (from 0) is NaN");
    free(x);
    free_batch(phi, 3), free_batch(psi, 3);
}

TEST(without_memory) {
    kspec_matrix phi[3];
    kspec_compare_result *out[9];
    kspec_error err = {0};
    double f[40 * 8];
    for (size_t i = 0; i < 40 * 8; i++) f[i] = uniform();
    make_batch(phi, 3, 1, 20, 8, f, 1);
    const kspec_compare_opts o = {.size = sizeof o, .threads = 1};
    kspec_status st = KSPEC_E_NOMEM;
    failing_alloc_install();
    for (long k = 0; k < 20000 && st; k++) {
        failing_alloc_arm(k);
        st = kspec_compare_batch(phi, 3, 1, NULL, 0, 0, &o, out, &err);
        if (!st) break;
        CHECK_MSG(st == KSPEC_E_NOMEM && failing_alloc_live() == 0, "%ld: %d %s", k, st, err.msg);
        for (int i = 0; i < 9; i++) CHECK(out[i] == NULL);
    }
    CHECK(st == KSPEC_OK);
    for (int i = 0; i < 9 && !st; i++) kspec_free(out[i]);
    failing_alloc_uninstall();
    free_batch(phi, 3);
}

int main(void) {
    RUN(as_a_loop);
    RUN(doubts_come_once);
    RUN(what_is_refused);
    RUN(without_memory);
    return test_done();
}
