/*
 * Comparisons of matrices that are in the memory of a GPU, beside the same in the host's: on the plain
 * plugin, which counts what is copied to the host, and on CUDA's where there is a GPU.
 */
#include "help/lent.h"

/* A comparison from where both matrices are; `direct`: less than the smaller matrix comes back */
static void comparison(layout l, layout m, double scale, kspec_compare_opts o, int direct, const char *what) {
    double *x = sample(3, l.count, scale), *y = sample(3, m.count, 2 * scale),
           *z = numbers(9, m.count, scale);
    for (size_t i = 0; i < m.count; i++) y[i] += z[i]; /* both matrices share factors */
    const kspec_matrix here[2] = {{x + l.first, P, Q, l.row, l.col}, {y + m.first, P, Q - 4, m.row, m.col}};
    kspec_matrix there[2] = {here[0], here[1]};
    there[0].data = upload(x, l.count) + l.first, there[1].data = upload(y, m.count) + m.first;
    kspec_compare_result *a = NULL, *b = NULL;
    kspec_error err = {0};
    o.size = sizeof o, o.device = KSPEC_DEVICE_CPU;
    CHECK_MSG(kspec_compare(&here[0], 1, &here[1], 1, &o, &a, &err) == KSPEC_OK, "%s: %s", what, err.msg);
    o.device = KSPEC_DEVICE_AUTO, o.data_memory = KSPEC_MEMORY_DEVICE;
    const size_t before = copied ? *copied : 0;
    CHECK_MSG(kspec_compare(&there[0], 1, &there[1], 1, &o, &b, &err) == KSPEC_OK, "%s: %s", what, err.msg);
    const size_t matrix = (size_t)P * (Q - 4), test = direct && b && b->alignment_p >= 0 ? 2 * P * P : 0;
    if (copied) CHECK_MSG((*copied - before < matrix + test) == direct, "%s: %zu", what, *copied - before);
    if (a && b) {
        CHECK(b->device.name[0] == 'g' || o.row_groups);
        CHECK_CLOSE(b->dimension, a->dimension, 1e-9);
        CHECK_CLOSE(b->other_dimension, a->other_dimension, 1e-9);
        CHECK(a->count == b->count && isnan(a->alignment) == isnan(b->alignment));
        for (size_t k = 0; k < a->count; k++) {
            CHECK_CLOSE(b->differences[k]->value, a->differences[k]->value, 1e-7);
            CHECK_CLOSE(b->differences[k]->std_error, a->differences[k]->std_error, 1e-7);
            CHECK_CLOSE(b->differences[k]->p, a->differences[k]->p, 1e-6);
        }
        if (isfinite(a->alignment)) {
            CHECK_CLOSE(b->alignment, a->alignment, 1e-9);
            CHECK_CLOSE(b->alignment_std_error, a->alignment_std_error, 1e-7);
            CHECK_CLOSE(b->alignment_biased, a->alignment_biased, 1e-9);
            if (isfinite(a->alignment_p)) CHECK_CLOSE(b->alignment_p, a->alignment_p, 1e-6);
        }
        CHECK(isnan(a->shared_dimension) == isnan(b->shared_dimension));
        if (isfinite(a->shared_dimension)) CHECK_CLOSE(b->shared_dimension, a->shared_dimension, 1e-9);
    }
    kspec_free(a), kspec_free(b);
    release((double *)there[0].data - l.first), release((double *)there[1].data - m.first);
    free(x), free(y), free(z);
}

TEST(comparisons_where_they_are) {
    uint64_t labels[P];
    for (size_t i = 0; i < P; i++) labels[i] = i / 2;
    const kspec_compare_opts none = {.no_shared = 1};
    kspec_compare_opts o = none;
    comparison(dense, dense, 1, o, 1, "dense");
    comparison(dense, padded, 1e-30, o, 1, "scaled");
    comparison(backward, by_columns, 1, o, 1, "other layouts");
    o.sampled = KSPEC_SAMPLED_ROWS;
    comparison(dense, apart, 1, o, 1, "all columns");
    o = none, o.center = KSPEC_CENTER_NONE;
    comparison(dense, dense, 1, o, 1, "not centred");
    o = none, o.paired = KSPEC_PAIRED_NONE;
    comparison(dense, dense, 1, o, 1, "not paired");
    o = none, o.population_cols = 2 * Q;
    comparison(dense, dense, 1, o, 1, "a finite population");
    comparison(dense, dense, 1, (kspec_compare_opts){0}, 0, "shared dimension");
    o = none, o.nmax = 3;
    comparison(dense, dense, 1, o, 0, "m(3)");
    o = none, o.row_groups = labels;
    comparison(dense, dense, 1, o, 0, "groups");
    comparison(dense, dense, 1e-120, none, 0, "tiny");
}

/* All pairs of batches where they are, beside the host's; by way of the host with groups */
static void batches(int alone, kspec_compare_opts o) {
    enum { N = 3 };
    kspec_matrix here[2][N], there[2][N];
    kspec_compare_result *a[N * N], *b[N * N];
    kspec_error err = {0};
    for (int s = 0; s < 2; s++)
        for (uint64_t k = 0; k < N; k++) {
            double *x = sample(3 + k, (size_t)P * Q, 1),
                   *z = numbers(20 * (uint64_t)s + k, (size_t)P * Q, 0.2);
            for (size_t i = 0; i < (size_t)P * Q; i++) x[i] += z[i];
            here[s][k] = (kspec_matrix){x, P, Q, Q, 1}, there[s][k] = here[s][k];
            there[s][k].data = upload(x, (size_t)P * Q);
            free(z);
        }
    o.size = sizeof o, o.device = KSPEC_DEVICE_CPU;
    CHECK_MSG(kspec_compare_batch(here[0], N, 1, alone ? NULL : here[1], N, 1, &o, a, &err) == KSPEC_OK, "%s",
              err.msg);
    o.device = KSPEC_DEVICE_AUTO, o.data_memory = KSPEC_MEMORY_DEVICE;
    CHECK_MSG(kspec_compare_batch(there[0], N, 1, alone ? NULL : there[1], N, 1, &o, b, &err) == KSPEC_OK,
              "%s", err.msg);
    for (int k = 0; k < N * N; k++) {
        CHECK((a[k] == NULL) == (b[k] == NULL));
        if (!a[k] || !b[k]) continue;
        CHECK(b[k]->device.name[0] == (o.row_groups ? 'c' : 'g'));
        CHECK_CLOSE(b[k]->alignment, a[k]->alignment, 1e-9);
        CHECK_CLOSE(b[k]->alignment_std_error, a[k]->alignment_std_error, 1e-7);
        CHECK_CLOSE(b[k]->dimension, a[k]->dimension, 1e-9);
        kspec_free(a[k]), kspec_free(b[k]);
    }
    for (int s = 0; s < 2; s++)
        for (int k = 0; k < N; k++) free((double *)here[s][k].data), release((double *)there[s][k].data);
}

TEST(batches_where_they_are) {
    uint64_t labels[P];
    for (size_t i = 0; i < P; i++) labels[i] = i / 2;
    for (int alone = 0; alone < 2; alone++) {
        batches(alone, (kspec_compare_opts){.sampled = KSPEC_SAMPLED_ROWS});
        batches(alone, (kspec_compare_opts){.center = KSPEC_CENTER_NONE});
        batches(alone, (kspec_compare_opts){.row_groups = labels});
    }
    if (!copied) return;
    setenv("PLAIN_PLUGIN", "small", 1); /* a GPU without enough memory: the CPU computes it */
    double *x = sample(3, (size_t)P * Q, 1), *y = upload(x, (size_t)P * Q);
    const kspec_matrix twice[2] = {{y, P, Q, Q, 1}, {y, P, Q, Q, 1}};
    const kspec_compare_opts o = {.size = sizeof o, .data_memory = KSPEC_MEMORY_DEVICE};
    kspec_compare_result *r[4];
    kspec_error err;
    CHECK_MSG(kspec_compare_batch(twice, 2, 1, NULL, 0, 0, &o, r, &err) == KSPEC_OK, "%s", err.msg);
    if (r[1]) CHECK(strcmp(r[1]->device.name, "cpu") == 0 && r[1]->device.unusable);
    kspec_free(r[1]);
    setenv("PLAIN_PLUGIN", "fine", 1);
    release(y), free(x);
}

TEST(comparisons_that_are_wrong) {
    double *x = sample(3, (size_t)P * Q, 1);
    kspec_compare_result *r;
    kspec_error err = {0};
    kspec_compare_opts o = {.size = sizeof o, .data_memory = KSPEC_MEMORY_DEVICE};
    const kspec_matrix here = {x, P, Q, Q, 1};
    kspec_matrix there = {upload(x, (size_t)P * Q), P, Q, Q, 1}, fewer = there;
    CHECK(kspec_compare(&there, 1, &here, 1, &o, &r, &err) == KSPEC_E_ARG && !r);
    CHECK_MSG(strcmp(err.msg, "matrix 1 is not in the memory of a GPU") == 0, "%s", err.msg);
    CHECK(kspec_compare(&there, 1, NULL, 1, &o, &r, &err) == KSPEC_E_ARG);
    CHECK(kspec_compare(&there, 1, &there, 0, &o, &r, &err) == KSPEC_E_ARG);
    fewer.rows--;
    CHECK(kspec_compare(&there, 1, &fewer, 1, &o, &r, &err) == KSPEC_E_ARG);
    CHECK_MSG(strncmp(err.msg, "the matrices have 40 and 39 rows", 32) == 0, "%s", err.msg);
    o.standardize = 1;
    CHECK(kspec_compare(&there, 1, &there, 1, &o, &r, &err) == KSPEC_E_ARG);
    CHECK_MSG(strcmp(err.msg, "standardize takes matrices in the host's memory") == 0, "%s", err.msg);
    o.standardize = 0;
    if (copied) { /* a GPU without enough memory: the CPU computes it */
        setenv("PLAIN_PLUGIN", "small", 1);
        CHECK_MSG(kspec_compare(&there, 1, &there, 1, &o, &r, &err) == KSPEC_OK, "%s", err.msg);
        if (r) CHECK(strcmp(r->device.name, "cpu") == 0 && r->device.unusable);
        kspec_free(r);
        setenv("PLAIN_PLUGIN", "fine", 1);
    }
    failing_alloc_install();
    kspec_status st = KSPEC_E_NOMEM;
    o.device = KSPEC_DEVICE_GPU, o.no_shared = 1, o.threads = 1;
    for (long k = 0; k < 3000 && st; k++) {
        failing_alloc_arm(k);
        st = kspec_compare(&there, 1, &there, 1, &o, &r, &err);
        if (st) CHECK_MSG(st == KSPEC_E_NOMEM && failing_alloc_live() == 0, "%ld: %d %s", k, st, err.msg);
    }
    CHECK(st == KSPEC_OK);
    if (!st) kspec_free(r);
    failing_alloc_uninstall();
    release((double *)there.data);
    free(x);
}

static void all(void) {
    RUN(comparisons_where_they_are);
    RUN(batches_where_they_are);
    RUN(comparisons_that_are_wrong);
}

int main(void) { return lent_main(all); }
