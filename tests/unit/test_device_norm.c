/*
 * The norm on a GPU beside the processor's: products with the Gram matrix of a kernel, and random features.
 */
#include "device/backend.h"
#include "help/bed_faults.h"
#include "kspec.h"
#include "norm/rff.h"

static double furthest(size_t count, const double *x, const double *y) {
    double worst = 0;
    for (size_t i = 0; i < count; i++)
        if (!(fabs(x[i] - y[i]) <= worst)) worst = fabs(x[i] - y[i]);
    return worst;
}

/* ---- features ---- */

/* w = Z^T Z v and G: on the processor (device NULL), or there with Z held or not */
static kspec_status features(const ks_run *run, kspec_kernel kernel, size_t n, size_t p, size_t q,
                             size_t memory, double *w, double *G, kspec_error *err) {
    double *x = matrix(n + p, n, p), *v = matrix(q, 1, q);
    const ks_inputs in = {.x = x, .n = n, .p = p};
    ks_arena arena = {0};
    ks_rff z = {0};
    kspec_status st = ks_rff_open(&z, run, &in, &(ks_kernel){.kind = kernel}, q, 5, 1, memory, &arena, err);
    if (!st) st = ks_rff_apply(&z, run, v, w, err);
    if (!st) st = ks_rff_gram(&z, run, G, err);
    if (run->device && !st) CHECK(z.on_device.held == (memory > 0));
    ks_rff_close(&z, run);
    ks_arena_free(&arena);
    free(x), free(v);
    return st;
}

static void compare(const bed *b, kspec_kernel kernel, size_t n, size_t p, size_t q) {
    const ks_run cpu = {.threads = 2, .to = 1};
    const size_t each = q + q * q, usual = ks_rff_device_entries;
    double *room = calloc(3 * each, sizeof *room), *far = room + each, *again = far + each;
    CHECK(features(&cpu, kernel, n, p, q, 0, room, room + q, NULL) == KSPEC_OK);
    const size_t entries[] = {usual, 7 * q, 1};
    for (int k = 0; k < 3; k++) {
        kspec_error err = {0};
        ks_rff_device_entries = entries[k];
        CHECK_MSG(features(&b->run, kernel, n, p, q, 0, far, far + q, &err) == KSPEC_OK, "%s", err.msg);
        CHECK(features(&b->run, kernel, n, p, q, SIZE_MAX, again, again + q, NULL) == KSPEC_OK);
        CHECK_MSG(memcmp(far, again, each * sizeof *far) == 0, "%zu x %zu, %zu: other bits where held", n, p,
                  q);
        /* Z v is at most |v| sqrt(2) in each of n rows; entries of G are at most 2 */
        const double w = furthest(q, room, far) / (2 * (double)n), G = furthest(q * q, room + q, far + q);
        /* frequencies of the Laplace kernel are Cauchy's, and phases thousands of turns */
        const double tolerance = kernel == KSPEC_KERNEL_LAPLACE ? 1e-11 : 1e-13;
        CHECK_MSG(w <= tolerance && G <= tolerance, "kernel %d, %zu x %zu, %zu: %g, %g", kernel, n, p, q, w,
                  G);
        if (k == 1 && n > 100) break; /* a row each is for small ones */
    }
    ks_rff_device_entries = usual;
    free(room);
}

TEST(tiles_of_features) {
    bed b;
    if (!make_bed(&b)) SKIP("no GPU; nothing can be done");
    static const size_t sizes[][3] = {{1, 1, 1}, {2, 3, 5}, {33, 7, 40}, {7, 40, 33}, {61, 11, 129}};
    for (size_t k = 0; k < (tiny ? 4 : sizeof sizes / sizeof *sizes); k++)
        for (int kernel = 0; kernel < 3; kernel++)
            compare(&b, (kspec_kernel)kernel, sizes[k][0], sizes[k][1], sizes[k][2]);
    if (!is_small(&b)) compare(&b, KSPEC_KERNEL_GAUSSIAN, 30000, 11, 1300);
    if (!is_small(&b)) compare(&b, KSPEC_KERNEL_LAPLACE, 9000, 40, 300);
    ks_placement_close(&b.place);
}

/* ---- failures ---- */

enum { N = 21, COLS = 4, FEATURES = 9 };

typedef struct {
    kspec_kernel kernel;
    size_t memory;
} features_job;

static kspec_status make_features(void *ctx, const ks_run *run, kspec_error *err) {
    const features_job *j = ctx;
    double w[FEATURES], G[FEATURES * FEATURES];
    return features(run, j->kernel, N, COLS, FEATURES, j->memory, w, G, err);
}

TEST(failing_features) {
    bed b;
    if (!make_bed(&b)) SKIP("no GPU; nothing can be done");
    const size_t usual = ks_rff_device_entries;
    ks_rff_device_entries = 5 * FEATURES;
    failing_alloc_install();
    for (int held = 0; held < 2; held++)
        for (int device = 0; device < 2; device++) {
            features_job j = {KSPEC_KERNEL_GAUSSIAN, held ? SIZE_MAX : 0};
            const long k = bed_failing(&b, device, make_features, &j);
            CHECK_MSG(k > (device ? 4 : 1) && k <= 1000, "%ld allocations", k);
        }
    failing_alloc_uninstall();
    for (int held = 0; held < 2; held++) {
        features_job j = {KSPEC_KERNEL_CAUCHY, held ? SIZE_MAX : 0};
        const long at = bed_cancelling(&b, make_features, &j, 1000);
        CHECK(at > 10 && at < 1000);
    }
    ks_rff_device_entries = usual;
    ks_placement_close(&b.place);
}

/* ---- the call ---- */

/* The norm by products on the device, beside the eigenvalue of the whole matrix */
TEST(norms) {
    bed b;
    if (!make_bed(&b)) SKIP("no GPU; nothing can be done");
    ks_placement_close(&b.place);
    static const size_t sizes[][2] = {{1, 1}, {2, 3}, {65, 11}, {130, 40}, {300, 16}};
    /* each call starts the GPU, which takes long under compute-sanitizer */
    for (size_t k = small_only ? 2 : 0; k < (small_only ? 3 : sizeof sizes / sizeof *sizes); k++)
        for (int kernel = 0; kernel < 3; kernel++) {
            const size_t n = sizes[k][0], p = sizes[k][1];
            double *x = matrix(k + 1, n, p);
            const kspec_matrix X = {x, n, p, (ptrdiff_t)p, 1};
            kspec_norm_opts o = {.size = sizeof o, .kernel = (kspec_kernel)kernel, .median_sigma = n > 1};
            kspec_norm_result *r, *again;
            kspec_error err;
            o.methods = KSPEC_NORM_METHOD_EIGEN | KSPEC_NORM_METHOD_POWER | KSPEC_NORM_METHOD_LANCZOS;
            o.device = KSPEC_DEVICE_GPU;
            CHECK_MSG(kspec_norm(&X, &o, &r, &err) == KSPEC_OK, "%s", err.msg);
            CHECK(strncmp(r->device.name, "gpu:0 ", 6) == 0);
            CHECK_CLOSE(r->entries[1]->value, r->entries[0]->value, 1e-8);
            CHECK_CLOSE(r->entries[2]->value, r->entries[0]->value, 1e-9);
            CHECK(kspec_norm(&X, &o, &again, &err) == KSPEC_OK);
            CHECK(again->entries[2]->value == r->entries[2]->value);
            kspec_free(r), kspec_free(again);
            o.methods = KSPEC_NORM_METHOD_EIGEN;
            CHECK(kspec_norm(&X, &o, &r, &err) == KSPEC_E_ARG && strstr(err.msg, "no method of these"));
            free(x);
        }
}

/* All of what a result says of random features, on both */
static void same_entries(const kspec_norm_result *a, const kspec_norm_result *b, double tolerance) {
    CHECK(a->count == b->count && a->doubt_count == b->doubt_count);
    for (size_t k = 0; k < b->doubt_count; k++) CHECK(a->doubts[k]->code == b->doubts[k]->code);
    for (size_t k = 0; k < a->count; k++) {
        const kspec_norm_entry *x = a->entries[k], *y = b->entries[k];
        CHECK_CLOSE(x->value, y->value, tolerance);
        CHECK(x->order == y->order && x->features == y->features);
        CHECK(x->iterations == y->iterations && x->draw_count == y->draw_count);
        CHECK(isnan(x->ci_low) == isnan(y->ci_low) && isnan(x->debiased) == isnan(y->debiased));
        if (!isnan(y->ci_low)) CHECK_CLOSE(x->ci_low, y->ci_low, 100 * tolerance);
        if (!isnan(y->ci_low)) CHECK_CLOSE(x->ci_high, y->ci_high, 100 * tolerance);
        if (!isnan(y->debiased)) CHECK_CLOSE(x->debiased, y->debiased, tolerance);
    }
}

TEST(calls_with_features) {
    bed b;
    if (!make_bed(&b)) SKIP("no GPU; nothing can be done");
    const int small = is_small(&b);
    ks_placement_close(&b.place);
    const size_t n = small ? 60 : 3000, p = 5;
    double *x = matrix(3, n, p);
    const kspec_matrix X = {x, n, p, (ptrdiff_t)p, 1};
    kspec_norm_opts o = {.size = sizeof o, .sigma = 2, .features = small ? 24 : 200, .repeats = 2};
    o.methods = KSPEC_NORM_METHOD_RFF_POWER | KSPEC_NORM_METHOD_RFF_NYSTROM | KSPEC_NORM_METHOD_RFF_DEBIASED;
    o.sample = n / 2;
    for (int wide = 0; wide < 2; wide++) {
        kspec_norm_result *cpu, *gpu, *again;
        kspec_error err;
        if (wide) o.methods = KSPEC_NORM_METHOD_RFF_DEBIASED, o.tolerance = 0.5, o.features = 8;
        o.device = KSPEC_DEVICE_CPU;
        CHECK_MSG(kspec_norm(&X, &o, &cpu, &err) == KSPEC_OK, "%s", err.msg);
        o.device = KSPEC_DEVICE_GPU;
        CHECK_MSG(kspec_norm(&X, &o, &gpu, &err) == KSPEC_OK, "%s", err.msg);
        CHECK(kspec_norm(&X, &o, &again, &err) == KSPEC_OK);
        CHECK(strncmp(gpu->device.name, "gpu:0 ", 6) == 0 && strcmp(cpu->device.name, "cpu") == 0);
        same_entries(gpu, cpu, 1e-11);
        same_entries(again, gpu, 0);
        kspec_free(cpu), kspec_free(gpu), kspec_free(again);
    }
    free(x);
}

static void all(void) {
    RUN(norms);
    RUN(tiles_of_features);
    if (tiny) return;
    RUN(calls_with_features);
    if (!small_only || SANITIZED) RUN(failing_features);
}

int main(int argc, char **argv) { return bed_main(argc, argv, NULL, all); }
