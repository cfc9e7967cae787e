/*
 * Matrices of the caller's in the memory of a GPU (KSPEC_MEMORY_DEVICE), beside the same in the host's: on
 * the plain plugin, which counts what is copied to the host, and on CUDA's where there is a GPU.
 */
#include "help/lent.h"

static void same(const kspec_moments_result *a, const kspec_moments_result *b) {
    CHECK(a->count == b->count && a->side == b->side && a->permutations == b->permutations);
    for (size_t k = 0; k < a->count; k++) {
        const kspec_estimate *x = a->estimates[k], *y = b->estimates[k];
        CHECK(x->estimator == y->estimator && x->n == y->n);
        CHECK_CLOSE(x->value, y->value, 1e-11);
        if (isfinite(y->std_error)) CHECK_CLOSE(x->std_error, y->std_error, 1e-9);
    }
    CHECK(isnan(a->participation_ratio) == isnan(b->participation_ratio));
    if (!isnan(b->participation_ratio)) {
        CHECK_CLOSE(a->participation_ratio, b->participation_ratio, 1e-10);
        CHECK_CLOSE(a->participation_ratio_naive, b->participation_ratio_naive, 1e-10);
    }
    CHECK(isnan(a->mean_share) == isnan(b->mean_share));
    if (!isnan(b->mean_share)) CHECK_CLOSE(a->mean_share, b->mean_share, 1e-10);
}

/* An entry is so much larger than the others; 0: none is */
static double large;

/* `direct`: less than a matrix comes back */
static void one(layout l, size_t trials, double scale, kspec_moments_opts o, int direct, const char *what) {
    kspec_matrix here[3], there[3];
    kspec_moments_result *a = NULL, *b = NULL;
    kspec_error err = {0};
    for (size_t k = 0; k < trials; k++) {
        double *x = numbers(k + 1, l.count, scale);
        if (large) x[7] *= large;
        here[k] = (kspec_matrix){x + l.first, P, Q, l.row, l.col};
        there[k] = (kspec_matrix){upload(x, l.count) + l.first, P, Q, l.row, l.col};
    }
    o.size = sizeof o, o.device = KSPEC_DEVICE_GPU;
    CHECK_MSG(kspec_moments(here, trials, &o, &a, &err) == KSPEC_OK, "%s: %s", what, err.msg);
    o.device = KSPEC_DEVICE_AUTO, o.data_memory = KSPEC_MEMORY_DEVICE;
    const size_t before = copied ? *copied : 0;
    CHECK_MSG(kspec_moments(there, trials, &o, &b, &err) == KSPEC_OK, "%s: %s", what, err.msg);
    if (a && b) same(b, a);
    if (b) CHECK(strcmp(b->device.why, "the data are there") == 0 && b->device.name[0] == 'g');
    if (copied) CHECK_MSG((*copied - before < (size_t)P * Q) == direct, "%s: %zu", what, *copied - before);
    kspec_free(a), kspec_free(b);
    for (size_t k = 0; k < trials; k++) {
        release((double *)there[k].data - l.first);
        free((double *)here[k].data - l.first);
    }
}

TEST(moments_where_they_are) {
    const unsigned all = 31, path = KSPEC_ESTIMATOR_PATH;
    for (size_t t = 1; t <= 2; t++) {
        one(dense, t, 1, (kspec_moments_opts){.nmax = 4, .estimators = all}, 1, "all");
        one(dense, t, 1, (kspec_moments_opts){.nmax = 4, .estimators = all, .no_stderr = 1}, 1, "no bars");
        one(dense, t, 1, (kspec_moments_opts){.nmax = 3, .estimators = path, .side = KSPEC_SIDE_GIVEN}, 1,
            "given");
        one(dense, t, 1e-9, (kspec_moments_opts){.nmax = 4, .estimators = all}, 1, "scaled");
        one(dense, t, 7, (kspec_moments_opts){.nmax = 4, .estimators = all, .normalize = 1}, 1, "normalised");
        one(by_columns, t, 1, (kspec_moments_opts){.nmax = 4, .estimators = all}, 1, "by columns");
        one(dense, t, 1, (kspec_moments_opts){.nmax = 1, .estimators = KSPEC_ESTIMATOR_NAIVE}, 1, "naive");
        one(padded, t, 1, (kspec_moments_opts){.nmax = 3, .estimators = path}, 1, "padded");
        one(apart, t, 7, (kspec_moments_opts){.nmax = 3, .estimators = all}, 1, "apart");
        one(backward, t, 1, (kspec_moments_opts){.nmax = 3, .estimators = path}, 1, "backward");
        /* by way of the host */
        one(dense, t, 1, (kspec_moments_opts){.nmax = 4, .estimators = KSPEC_ESTIMATOR_NAIVE}, 0, "no m(2)");
        one(dense, t, 1e-120, (kspec_moments_opts){.nmax = 1, .estimators = path}, 0, "tiny");
        one(dense, t, 1, (kspec_moments_opts){.nmax = 3, .estimators = path, .permutations = 3}, 0, "orders");
        one(dense, t, 1, (kspec_moments_opts){.nmax = 3}, 0, "auto");
        one(dense, t, 1, (kspec_moments_opts){.nmax = 3, .center = KSPEC_CENTER_ROWS}, 0, "centred");
        one(apart, t, 1, (kspec_moments_opts){.nmax = 3, .center = KSPEC_CENTER_ROWS}, 0, "apart, centred");
        one(backward, t, 1, (kspec_moments_opts){.nmax = 3, .center = KSPEC_CENTER_ROWS}, 0,
            "backward, centred");
    }
    one(dense, 3, 1, (kspec_moments_opts){.nmax = 3, .estimators = path}, 0, "three trials");
    large = 1e6; /* which exact takes apart, on the host */
    for (size_t t = 1; t <= 2; t++)
        one(dense, t, 1, (kspec_moments_opts){.nmax = 3, .estimators = KSPEC_ESTIMATOR_EXACT}, 0,
            "a large entry");
    large = 0;
}

/* A dimension from where the matrix is; `direct`: less than a matrix comes back */
static void dimension(layout l, double scale, kspec_dimension_opts o, int direct, const char *what) {
    double *x = sample(3, l.count, scale);
    const kspec_matrix here = {x + l.first, P, Q, l.row, l.col},
                       there = {upload(x, l.count) + l.first, P, Q, l.row, l.col};
    kspec_dimension_result *a = NULL, *b = NULL;
    kspec_error err = {0};
    o.size = sizeof o, o.device = KSPEC_DEVICE_CPU;
    CHECK_MSG(kspec_dimension(&here, 1, &o, &a, &err) == KSPEC_OK, "%s: %s", what, err.msg);
    o.device = KSPEC_DEVICE_AUTO, o.data_memory = KSPEC_MEMORY_DEVICE;
    const size_t before = copied ? *copied : 0;
    CHECK_MSG(kspec_dimension(&there, 1, &o, &b, &err) == KSPEC_OK, "%s: %s", what, err.msg);
    if (copied) CHECK_MSG((*copied - before < (size_t)P * Q) == direct, "%s: %zu", what, *copied - before);
    if (a && b) {
        CHECK(b->device.name[0] == 'g' || o.row_groups);
        CHECK_CLOSE(b->dimension, a->dimension, 1e-9);
        CHECK_CLOSE(b->std_error, a->std_error, 1e-7);
        CHECK_CLOSE(b->naive, a->naive, 1e-9);
        CHECK_CLOSE(b->trace, a->trace, 1e-10);
        CHECK(b->signal == a->signal);
        if (isfinite(a->signal_z)) CHECK_CLOSE(b->signal_z, a->signal_z, 1e-8);
    }
    kspec_free(a), kspec_free(b);
    release((double *)there.data - l.first);
    free(x);
}

TEST(dimensions_where_they_are) {
    uint64_t labels[P];
    for (size_t i = 0; i < P; i++) labels[i] = i / 2;
    dimension(dense, 1, (kspec_dimension_opts){0}, 1, "dense");
    dimension(dense, 1, (kspec_dimension_opts){.sampled = KSPEC_SAMPLED_ROWS}, 1, "all columns");
    dimension(dense, 1, (kspec_dimension_opts){.center = KSPEC_CENTER_NONE}, 1, "not centred");
    dimension(dense, 1e-30, (kspec_dimension_opts){0}, 1, "scaled");
    dimension(by_columns, 1, (kspec_dimension_opts){.center = KSPEC_CENTER_COLS}, 1, "over columns");
    dimension(padded, 1, (kspec_dimension_opts){0}, 1, "padded");
    dimension(backward, 1, (kspec_dimension_opts){.population_cols = 2 * Q}, 1, "backward");
    dimension(dense, 1, (kspec_dimension_opts){.row_groups = labels}, 0, "groups");
    dimension(dense, 1, (kspec_dimension_opts){.curve = 3}, 0, "curve");
    dimension(dense, 1e-120, (kspec_dimension_opts){0}, 0, "tiny");
}

TEST(what_is_wrong) {
    double *x = numbers(1, (size_t)P * Q, 1);
    kspec_moments_result *r, *cpu;
    kspec_error err = {0};
    kspec_moments_opts o = {.size = sizeof o, .nmax = 3, .estimators = KSPEC_ESTIMATOR_PATH};
    const kspec_matrix here = {x, P, Q, Q, 1};
    o.device = KSPEC_DEVICE_CPU;
    CHECK(kspec_moments(&here, 1, &o, &cpu, &err) == KSPEC_OK);
    o.data_memory = KSPEC_MEMORY_DEVICE;
    CHECK(kspec_moments(&here, 1, &o, &r, &err) == KSPEC_E_ARG && !r);
    CHECK_MSG(strcmp(err.msg, "matrix 0 is not in the memory of a GPU") == 0, "%s", err.msg);
    kspec_matrix there = {upload(x, (size_t)P * Q), P, Q, Q, 1}, none = {0};
    CHECK_MSG(kspec_moments(&there, 1, &o, &r, &err) == KSPEC_OK, "%s", err.msg); /* on the processor */
    if (r) CHECK(strcmp(r->device.name, "cpu") == 0);
    if (r) same(r, cpu);
    kspec_free(r), kspec_free(cpu);
    o.device = KSPEC_DEVICE_AUTO;
    if (copied) { /* the plain plugin's second device: AUTO and GPU are where the data are */
        kspec_matrix second = {there.data + (ptrdiff_t)((uintptr_t)1 << 53), P, Q, Q, 1};
        for (int device = KSPEC_DEVICE_AUTO; device <= KSPEC_DEVICE_GPU; device += KSPEC_DEVICE_GPU) {
            o.device = (kspec_device)device;
            CHECK_MSG(kspec_moments(&second, 1, &o, &r, &err) == KSPEC_OK, "%s", err.msg);
            if (r) CHECK_MSG(strcmp(r->device.name, "gpu:1 Plain 1") == 0, "%s", r->device.name);
            kspec_free(r);
        }
        o.device = KSPEC_DEVICE_GPU_FIRST;
        CHECK(kspec_moments(&second, 1, &o, &r, &err) == KSPEC_E_ARG);
        CHECK_MSG(strcmp(err.msg, "the matrix is on gpu:1, not on gpu:0") == 0, "%s", err.msg);
        o.device = KSPEC_DEVICE_AUTO;
    }
    CHECK(kspec_moments(&none, 1, &o, &r, &err) == KSPEC_E_ARG &&
          kspec_moments(&there, 0, &o, &r, &err) == KSPEC_E_ARG);
    x[5 * Q + 7] = NAN;
    CHECK(own.device->plugin->put(own.device->gpu, (double *)there.data, x, (size_t)P * Q) == KS_PLUGIN_OK);
    CHECK(kspec_moments(&there, 1, &o, &r, &err) == KSPEC_E_DATA);
    CHECK_MSG(strcmp(err.msg, "the matrix: row 5, column 7 (from 0) is NaN") == 0, "%s", err.msg);
    o.data_memory = (kspec_memory)7;
    CHECK(kspec_moments(&there, 1, &o, &r, &err) == KSPEC_E_ARG && strcmp(err.msg, "unknown memory 7") == 0);
    release((double *)there.data);
    free(x);
}

/* What fails on the device under AUTO is the processor's; a failing allocation leaves nothing behind. */
TEST(failures) {
    double *x = numbers(1, (size_t)P * Q, 1);
    kspec_moments_result *r;
    kspec_error err = {0};
    kspec_moments_opts o = {.size = sizeof o, .nmax = 3, .estimators = KSPEC_ESTIMATOR_EXACT, .threads = 1};
    kspec_matrix there = {upload(x, (size_t)P * Q), P, Q, Q, 1};
    o.data_memory = KSPEC_MEMORY_DEVICE;
    if (copied) {
        setenv("PLAIN_PLUGIN", "small", 1);
        CHECK_MSG(kspec_moments(&there, 1, &o, &r, &err) == KSPEC_OK, "%s", err.msg);
        if (r) CHECK(strcmp(r->device.name, "cpu") == 0 && r->device.unusable);
        kspec_free(r);
        o.device = KSPEC_DEVICE_GPU;
        CHECK(kspec_moments(&there, 1, &o, &r, &err) == KSPEC_E_NOMEM);
        o.device = (kspec_device)(KSPEC_DEVICE_GPU_FIRST + 1);
        CHECK(kspec_moments(&there, 1, &o, &r, &err) == KSPEC_E_ARG);
        CHECK_MSG(strcmp(err.msg, "the matrix is on gpu:0, not on gpu:1") == 0, "%s", err.msg);
        setenv("PLAIN_PLUGIN", "fine", 1);
    }
    o.device = KSPEC_DEVICE_GPU;
    failing_alloc_install();
    for (int by_host = 0; by_host < 2; by_host++) { /* centred: by way of the host */
        kspec_status st = KSPEC_E_NOMEM;
        o.center = by_host ? KSPEC_CENTER_ROWS : KSPEC_CENTER_NONE;
        for (long k = 0; k < 3000 && st; k++) {
            failing_alloc_arm(k);
            st = kspec_moments(&there, 1, &o, &r, &err);
            if (st) CHECK_MSG(st == KSPEC_E_NOMEM && failing_alloc_live() == 0, "%ld: %d %s", k, st, err.msg);
        }
        CHECK(st == KSPEC_OK);
        if (!st) kspec_free(r);
    }
    failing_alloc_uninstall();
    release((double *)there.data);
    free(x);
}

TEST(norms) {
    double *x = numbers(1, (size_t)P * Q, 1);
    const kspec_matrix here = {x, P, Q, 1, P}, there = {upload(x, (size_t)P * Q), P, Q, 1, P};
    kspec_norm_result *a, *b;
    kspec_error err = {0};
    kspec_norm_opts o = {.size = sizeof o, .median_sigma = 1, .methods = KSPEC_NORM_METHOD_LANCZOS};
    for (int device = KSPEC_DEVICE_CPU; device <= KSPEC_DEVICE_GPU; device++) {
        o.device = (kspec_device)device, o.data_memory = KSPEC_MEMORY_HOST;
        CHECK_MSG(kspec_norm(&here, &o, &a, &err) == KSPEC_OK, "%s", err.msg);
        o.data_memory = KSPEC_MEMORY_DEVICE;
        CHECK_MSG(kspec_norm(&there, &o, &b, &err) == KSPEC_OK, "%s", err.msg);
        if (a && b) CHECK(a->entries[0]->value == b->entries[0]->value);
        if (a && b) CHECK(strcmp(a->device.name, b->device.name) == 0);
        kspec_free(a), kspec_free(b);
    }
    CHECK(kspec_norm(&here, &o, &b, &err) == KSPEC_E_ARG && kspec_norm(NULL, &o, &b, &err) == KSPEC_E_ARG);
    release((double *)there.data);
    free(x);
}

/* ---- accumulators ---- */

enum { ROWS = 700, COLS = 17, OTHER = 9 };

static void same_dimension(kspec_accumulator *a, kspec_accumulator *b, int which) {
    kspec_dimension_result *r, *s;
    kspec_error err;
    CHECK_MSG(kspec_accumulator_dimension(a, which, &r, &err) == KSPEC_OK, "%s", err.msg);
    CHECK_MSG(kspec_accumulator_dimension(b, which, &s, &err) == KSPEC_OK, "%s", err.msg);
    if (!r || !s) return;
    CHECK(r->P == s->P && r->Q == s->Q);
    CHECK_CLOSE(r->trace, s->trace, 1e-10);
    CHECK_CLOSE(r->trace_squared, s->trace_squared, 1e-10);
    CHECK_CLOSE(r->second_moment, s->second_moment, 1e-10);
    CHECK_CLOSE(r->naive, s->naive, 1e-10);
    CHECK_CLOSE(r->ci_low, s->ci_low, 1e-6);
    CHECK_CLOSE(r->ci_high, s->ci_high, 1e-6);
    kspec_free(r), kspec_free(s);
}

static void same_alignment(kspec_accumulator *a, kspec_accumulator *b) {
    kspec_compare_result *r, *s;
    kspec_error err;
    CHECK_MSG(kspec_accumulator_compare(a, &r, &err) == KSPEC_OK, "%s", err.msg);
    CHECK_MSG(kspec_accumulator_compare(b, &s, &err) == KSPEC_OK, "%s", err.msg);
    if (!r || !s) return;
    CHECK_CLOSE(r->alignment, s->alignment, 1e-9);
    CHECK_CLOSE(r->alignment_ci_low, s->alignment_ci_low, 1e-6);
    CHECK_CLOSE(r->alignment_biased, s->alignment_biased, 1e-10);
    kspec_free(r), kspec_free(s);
}

static kspec_matrix part_of(const double *x, size_t from, size_t to, size_t cols, size_t width) {
    return (kspec_matrix){x + from * width, to - from, cols, (ptrdiff_t)width, 1};
}

/* Batches of several sizes, of which those in `here` come from the host's memory */
static void stream(const double *x, const double *y, const double *there_x, const double *there_y,
                   unsigned here, size_t width, kspec_accumulator *a) {
    static const size_t end[] = {3, 4, 260, 400, 401, 690, ROWS};
    kspec_error err;
    for (size_t k = 0, from = 0; k < sizeof end / sizeof *end; from = end[k++]) {
        const int host = (here >> k) & 1;
        const kspec_matrix b = part_of(host ? x : there_x, from, end[k], COLS, width),
                           c = part_of(host ? y : there_y, from, end[k], OTHER, OTHER),
                           *second = y ? &c : NULL;
        kspec_status st = host ? kspec_accumulator_update(a, &b, second, NULL, &err)
                               : kspec_accumulator_update_device(a, &b, second, &err);
        CHECK_MSG(st == KSPEC_OK, "%zu: %s", k, err.msg);
    }
}

/* Whatever the order of batches from the host and from the device: as from the host alone */
static void accumulate(int with_other, size_t width, double offset, size_t reservoir) {
    double *x = numbers(4, ROWS * width, 1), *y = numbers(5, (size_t)ROWS * OTHER, 1),
           *f = numbers(6, (size_t)ROWS * 2, 3);
    for (size_t i = 0; i < ROWS; i++) { /* two factors, that both matrices have */
        for (size_t k = 0; k < COLS; k++)
            x[i * width + k] += offset + f[2 * i] * sin((double)k) + f[2 * i + 1] * cos(2 * (double)k);
        for (size_t k = 0; k < OTHER; k++) y[i * OTHER + k] += f[2 * i] * cos((double)k) + f[2 * i + 1];
    }
    double *there = upload(x, ROWS * width), *other = upload(y, (size_t)ROWS * OTHER);
    static const unsigned orders[] = {0, 0x55, 0x2a, 0x60, 0x07};
    kspec_accumulator_opts o = {.size = sizeof o,
                                .other_features = with_other ? OTHER : 0,
                                .reservoir = reservoir,
                                .stream = 5,
                                .threads = 1};
    kspec_error err;
    kspec_accumulator *whole, *a, *back;
    CHECK(kspec_accumulator_open(COLS, &o, &whole, &err) == KSPEC_OK);
    stream(x, with_other ? y : NULL, NULL, NULL, ~0u, width, whole);
    for (size_t k = 0; k < sizeof orders / sizeof *orders; k++) {
        CHECK(kspec_accumulator_open(COLS, &o, &a, &err) == KSPEC_OK);
        stream(x, with_other ? y : NULL, there, other, orders[k], width, a);
        for (int w = 0; w <= with_other; w++) same_dimension(a, whole, w);
        if (with_other) same_alignment(a, whole);
        size_t bytes = 0;
        CHECK(kspec_accumulator_pack(a, NULL, &bytes, &err) == KSPEC_OK);
        void *packed = malloc(bytes);
        CHECK(kspec_accumulator_pack(a, packed, &bytes, &err) == KSPEC_OK);
        CHECK(kspec_accumulator_unpack(packed, bytes, &back, &err) == KSPEC_OK);
        if (back) same_dimension(back, whole, 0);
        free(packed);
        kspec_accumulator_close(a), kspec_accumulator_close(back);
    }
    /* and merged: one half from either, of a state that stays on the device */
    kspec_accumulator *half[2];
    for (int k = 0; k < 2; k++) {
        const kspec_matrix b = part_of(there, k ? 300 : 0, k ? ROWS : 300, COLS, width),
                           c = part_of(other, k ? 300 : 0, k ? ROWS : 300, OTHER, OTHER);
        o.stream = 5 + (uint64_t)k;
        CHECK(kspec_accumulator_open(COLS, &o, &half[k], &err) == KSPEC_OK);
        CHECK(kspec_accumulator_update_device(half[k], &b, with_other ? &c : NULL, &err) == KSPEC_OK);
    }
    CHECK(kspec_accumulator_merge(half[0], half[1], &err) == KSPEC_OK);
    if (reservoir >= ROWS) same_dimension(half[0], whole, 0);
    kspec_accumulator_close(half[0]), kspec_accumulator_close(half[1]), kspec_accumulator_close(whole);
    release(there), release(other);
    free(x), free(y), free(f);
}

TEST(accumulators) {
    for (int with_other = 0; with_other < 2; with_other++) {
        accumulate(with_other, COLS, 0, 2 * ROWS);
        accumulate(with_other, COLS + 3, 1e6, 100);
    }
}

/* NaN, numbers without a square, another width, the host's memory: the message, and the state as it was */
TEST(batches_that_are_wrong) {
    double *x = numbers(6, (size_t)ROWS * COLS, 1), *y = numbers(6, (size_t)ROWS * COLS, 1);
    kspec_accumulator *a, *whole;
    kspec_error err;
    kspec_accumulator_opts o = {.size = sizeof o, .stream = 1, .threads = 1};
    CHECK(kspec_accumulator_open(COLS, &o, &whole, &err) == KSPEC_OK);
    o.stream = 2;
    CHECK(kspec_accumulator_open(COLS, &o, &a, &err) == KSPEC_OK);
    for (size_t i = 0; i < (size_t)ROWS * COLS; i++)
        x[i] += 3 * cos((double)(i / COLS * 7 % 11 * (1 + i % COLS)));
    const kspec_matrix here = {x, 300, COLS, COLS, 1}, rest = {x + 300 * COLS, 400, COLS, COLS, 1};
    CHECK(kspec_accumulator_update(whole, &here, NULL, NULL, &err) == KSPEC_OK);
    CHECK(kspec_accumulator_update(whole, &rest, NULL, NULL, &err) == KSPEC_OK);
    y[7 * COLS + 3] = NAN;
    kspec_matrix good = {upload(x, (size_t)ROWS * COLS), 300, COLS, COLS, 1}, next = good,
                 bad = {upload(y, (size_t)ROWS * COLS), 300, COLS, COLS, 1}, narrow = good, empty = good;
    next.data += 300 * COLS, next.rows = 400, narrow.cols--, empty.rows = 0;
    CHECK(kspec_accumulator_update_device(a, &good, NULL, &err) == KSPEC_OK);
    CHECK(kspec_accumulator_update_device(a, &bad, NULL, &err) == KSPEC_E_DATA);
    CHECK_MSG(strcmp(err.msg, "the batch: row 7, column 3 (from 0) is NaN") == 0, "%s", err.msg);
    CHECK(kspec_accumulator_update_device(a, &narrow, NULL, &err) == KSPEC_E_ARG);
    CHECK(kspec_accumulator_update_device(a, &empty, NULL, &err) == KSPEC_E_ARG);
    CHECK(kspec_accumulator_update_device(a, &good, &good, &err) == KSPEC_E_ARG);
    CHECK(kspec_accumulator_update_device(a, &here, NULL, &err) == KSPEC_E_ARG);
    CHECK_MSG(strcmp(err.msg, "the batch is not in the memory of a GPU") == 0, "%s", err.msg);
    CHECK(kspec_accumulator_update_device(a, &next, NULL, &err) == KSPEC_OK);
    same_dimension(a, whole, 0);
    for (size_t k = 0; k < (size_t)ROWS * COLS; k++)
        y[k] = 1e150 * x[k]; /* 1e150^2 is all right, a sum of 4 is not */
    CHECK(own.device->plugin->put(own.device->gpu, (double *)bad.data, y, (size_t)ROWS * COLS) ==
          KS_PLUGIN_OK);
    CHECK_MSG(kspec_accumulator_update_device(a, &bad, NULL, &err) == KSPEC_OK, "%s", err.msg);
    kspec_accumulator_close(a), kspec_accumulator_close(whole);
    release((double *)good.data), release((double *)bad.data);
    free(x), free(y);
}

/* ---- batches ---- */

static void same_results(const kspec_dimension_result *a, const kspec_dimension_result *b) {
    CHECK(a->P == b->P && a->Q == b->Q && a->trials == 1 && a->center == b->center && a->signal == b->signal);
    CHECK_CLOSE(a->trace, b->trace, 1e-11);
    CHECK_CLOSE(a->trace_squared, b->trace_squared, 1e-11);
    CHECK_CLOSE(a->second_moment, b->second_moment, 1e-9);
    CHECK_CLOSE(a->naive, b->naive, 1e-11);
    CHECK_CLOSE(a->signal_z, b->signal_z, 1e-8);
    CHECK(isnan(a->ci_low) == isnan(b->ci_low) && a->doubt_count == b->doubt_count);
    if (isnan(b->ci_low)) return;
    CHECK_CLOSE(a->dimension, b->dimension, 1e-9);
    CHECK_CLOSE(a->ci_low, b->ci_low, 1e-6);
    CHECK_CLOSE(a->ci_high, b->ci_high, 1e-6);
}

/* Many matrices of rows x cols against one call for each, in the host's memory and on the device */
static void batch(size_t rows, size_t cols, kspec_sampled sampled, int centred, int spread) {
    enum { COUNT = 7 };
    const size_t each = rows * cols, step = each + (spread ? 5 : 0);
    double *x = numbers(rows + cols, COUNT * step, 1);
    for (size_t k = 0; k < COUNT; k++) {
        for (size_t i = 0; i < each && k != 3; i++) /* number 3 is noise */
            x[k * step + i] +=
                2 * sin(1 + (double)(k + i / cols * 5 % 7)) * cos((double)(i % cols * (1 + k)));
        for (size_t i = 0; i < each && k == 5; i++) x[k * step + i] *= 1e70; /* for the host to scale */
    }
    double *there = upload(x, COUNT * step);
    kspec_matrix here[COUNT], on[COUNT];
    kspec_dimension_result *r[COUNT], *found[2][COUNT];
    kspec_error err;
    kspec_dimension_opts o = {.size = sizeof o, .sampled = sampled, .threads = 2};
    o.center = centred ? KSPEC_CENTER_ROWS : KSPEC_CENTER_NONE;
    for (size_t k = 0; k < COUNT; k++) {
        here[k] = (kspec_matrix){x + k * step, rows, cols, (ptrdiff_t)cols, 1};
        on[k] = (kspec_matrix){there + k * step, rows, cols, (ptrdiff_t)cols, 1};
        o.device = KSPEC_DEVICE_CPU;
        CHECK_MSG(kspec_dimension(&here[k], 1, &o, &r[k], &err) == KSPEC_OK, "%s", err.msg);
    }
    o.device = KSPEC_DEVICE_AUTO;
    CHECK_MSG(kspec_dimension_batch(here, COUNT, 1, &o, found[0], &err) == KSPEC_OK, "%s", err.msg);
    o.data_memory = KSPEC_MEMORY_DEVICE;
    CHECK_MSG(kspec_dimension_batch(on, COUNT, 1, &o, found[1], &err) == KSPEC_OK, "%s", err.msg);
    for (int w = 0; w < 2; w++)
        for (size_t k = 0; k < COUNT; k++) {
            if (r[k] && found[w][k] && w == 0) same_results(found[w][k], r[k]);
            if (r[k] && found[w][k] && w == 1 && k != 3) {
                CHECK(strcmp(found[w][k]->device.name, "cpu") != 0);
                r[k]->doubt_count = found[w][k]->doubt_count; /* nothing looks at entries there */
                same_results(found[w][k], r[k]);
            }
            kspec_free(found[w][k]);
        }
    for (size_t k = 0; k < COUNT; k++) kspec_free(r[k]);
    release(there);
    free(x);
}

TEST(batches_of_matrices) {
    for (int sampled = KSPEC_SAMPLED_BOTH; sampled <= KSPEC_SAMPLED_ROWS; sampled++)
        for (int centred = 0; centred < 2; centred++) {
            batch(20, 13, (kspec_sampled)sampled, centred, 0);
            batch(13, 20, (kspec_sampled)sampled, centred, 1);
            batch(40, 70, (kspec_sampled)sampled, centred, 0);
        }
}

static void all(void) {
    RUN(batches_of_matrices);
    RUN(accumulators);
    RUN(batches_that_are_wrong);
    RUN(moments_where_they_are);
    RUN(dimensions_where_they_are);
    RUN(what_is_wrong);
    RUN(failures);
    RUN(norms);
}

int main(void) { return lent_main(all); }
