/*
 * kspec_dimension(), kspec_compare() and kspec_spectrum() give on a GPU what they give on the processor. So
 * do the sums and products behind them: for every shape, streamed too, with faults at each step.
 */
#include "device/product.h"
#include "help/bed_faults.h"
#include "kspec.h"
#include "pairs/sums.h"

enum { TRIALS = 3 };

/* Trials of a matrix of rank 7 with noise, so that all estimates are well above 0 */
static double *trials(uint64_t seed, size_t P, size_t Q, kspec_matrix phi[TRIALS]) {
    enum { RANK = 7 };
    double *x = malloc(TRIALS * P * Q * sizeof *x), *u = matrix(seed, P, RANK),
           *v = matrix(seed + 1, RANK, Q);
    for (size_t t = 0; t < TRIALS; t++) {
        double *at = x + t * P * Q, *noise = matrix(seed + 2 + t, P, Q);
        for (size_t i = 0; i < P; i++)
            for (size_t j = 0; j < Q; j++) {
                at[i * Q + j] = 0.3 * noise[i * Q + j];
                for (size_t k = 0; k < RANK; k++) at[i * Q + j] += u[i * RANK + k] * v[k * Q + j];
            }
        phi[t] = (kspec_matrix){at, P, Q, (ptrdiff_t)Q, 1};
        free(noise);
    }
    free(u), free(v);
    return x;
}

static const size_t shapes[][2] = {{5, 3}, {9, 40}, {40, 9}, {33, 33}, {70, 130}, {130, 70}};

/* ---- the sums ---- */

static double furthest(const ks_quad *x, const ks_quad *y, size_t count) {
    double worst = 0;
    for (size_t k = 0; k < count; k++) {
        const double *a = &x[k].a, *b = &y[k].a;
        for (int n = 0; n < 5; n++) worst = fmax(worst, fabs(a[n] - b[n]) / (fabs(b[n]) + fabs(y->b) * 1e-3));
    }
    return worst;
}

static void same_sums(const bed *b, const ks_two *t) {
    const ks_run cpu = {.threads = 2, .to = 1};
    ks_arena arena = {0};
    ks_sums x, y, again;
    CHECK(ks_sums_make(&cpu, t, &x, &arena, NULL) == KSPEC_OK);
    CHECK(ks_sums_make(&b->run, t, &y, &arena, NULL) == KSPEC_OK);
    CHECK(ks_sums_make(&b->run, t, &again, &arena, NULL) == KSPEC_OK);
    double worst = furthest(&y.all, &x.all, 1);
    CHECK_CLOSE(y.size, x.size, 1e-12);
    CHECK_CLOSE(y.other_size, x.other_size, 1e-12);
    if (!(t->whole && t->X != t->Z)) CHECK_CLOSE(y.whole, x.whole, 1e-11);
    if (t->whole) {
        CHECK_MSG(worst <= 1e-11, "%zu x %zu, whole: %g", t->P, t->Q, worst);
        ks_arena_free(&arena);
        return;
    }
    worst = fmax(worst, fmax(furthest(y.row, x.row, t->P), furthest(y.col, x.col, t->Q)));
    if (!t->same) worst = fmax(worst, furthest(y.other, x.other, t->R));
    CHECK_MSG(worst <= 1e-11, "%zu x %zu, %zu, same %d: %g", t->P, t->Q, t->R, t->same, worst);
    CHECK(memcmp(y.row, again.row, t->P * sizeof *y.row) == 0);
    CHECK(memcmp(y.col, again.col, t->Q * sizeof *y.col) == 0);
    ks_arena_free(&arena);
}

TEST(sums) {
    bed b;
    if (!make_bed(&b)) SKIP("no GPU; nothing can be done");
    for (int streamed = 0; streamed < 2; streamed++)
        for (size_t k = 0; k < (tiny ? 3 : sizeof shapes / sizeof *shapes); k++)
            for (int two = 0; two < 2; two++) {
                const size_t P = shapes[k][0], Q = shapes[k][1], R = k % 2 ? 11 : 64;
                double *A = matrix(1, P, Q), *B = matrix(2, P, Q), *C = matrix(3, P, R), *D = matrix(4, P, R);
                const double *Z = two ? B : A, *W = two ? D : C;
                b.run.device->streamed = streamed ? 3 * P * Q / 4 + 500 : 0;
                same_sums(&b, &(ks_two){A, Z, Z, A, P, Q, Q, 1, (double)Q, 1, 0});
                same_sums(&b, &(ks_two){A, Z, Z, A, P, Q, Q, 1, k % 2 ? 0 : (double)(2 * Q), 1, 0});
                same_sums(&b, &(ks_two){A, Z, Z, A, P, Q, Q, 1, 0, 0, 0});
                same_sums(&b, &(ks_two){A, Z, Z, A, P, Q, Q, 1, 0, 1, 1});
                same_sums(&b, &(ks_two){A, Z, C, W, P, Q, R, 0, 0, 1, 0});
                same_sums(&b, &(ks_two){A, Z, C, C, P, Q, R, 0, 0, 0, 0});
                free(A), free(B), free(C), free(D);
            }
    b.run.device->streamed = 0;
    ks_placement_close(&b.place);
}

static kspec_status make_sums(void *ctx, const ks_run *run, kspec_error *err) {
    ks_sums s;
    ks_arena arena = {0};
    kspec_status st = ks_sums_make(run, ctx, &s, &arena, err);
    ks_arena_free(&arena);
    return st;
}

TEST(failing_sums) {
    bed b;
    if (!make_bed(&b)) SKIP("no GPU; nothing can be done");
    double *A = matrix(1, 20, 30), *B = matrix(2, 20, 30), *C = matrix(3, 20, 9);
    ks_two of[] = {
        {A, A, A, A, 20, 30, 30, 1, 1}, {A, B, C, C, 20, 30, 9, 0, 1}, {C, C, C, C, 20, 9, 9, 1, 1}};
    failing_alloc_install();
    for (int k = 0; k < 3; k++)
        for (int device = 0; device < 2; device++) {
            const long n = bed_failing(&b, device, make_sums, &of[k]);
            CHECK_MSG(n > 2 && n <= 1000, "%ld allocations", n);
        }
    failing_alloc_uninstall();
    for (int k = 0; k < 3; k++) CHECK(bed_cancelling(&b, make_sums, &of[k], 100) > 4);
    free(A), free(B), free(C);
    ks_placement_close(&b.place);
}

/* ---- the calls ---- */

static void same_dimension(const kspec_dimension_result *a, const kspec_dimension_result *b) {
    CHECK(strcmp(a->device.name, "cpu") == 0 && strncmp(b->device.name, "gpu:0 ", 6) == 0);
    CHECK_CLOSE(b->dimension, a->dimension, 1e-9);
    CHECK_CLOSE(b->std_error, a->std_error, 1e-8);
    CHECK_CLOSE(b->naive, a->naive, 1e-9);
    CHECK_CLOSE(b->trace_squared, a->trace_squared, 1e-9);
    CHECK_CLOSE(b->second_moment, a->second_moment, 1e-9);
    CHECK(a->P == b->P && a->Q == b->Q && a->curve_count == b->curve_count);
    for (size_t k = 0; k < a->curve_count; k++)
        if (isfinite(a->curve[k]->dimension))
            CHECK_CLOSE(b->curve[k]->dimension, a->curve[k]->dimension, 1e-8);
}

TEST(dimensions) {
    bed b;
    if (!make_bed(&b)) SKIP("no GPU; nothing can be done");
    ks_placement_close(&b.place);
    static const kspec_center centers[] = {KSPEC_CENTER_ROWS, KSPEC_CENTER_COLS, KSPEC_CENTER_NONE};
    for (size_t k = 3; k < (small_only ? 4 : sizeof shapes / sizeof *shapes); k++)
        for (size_t n = tiny ? TRIALS : 1; n <= TRIALS; n++) {
            kspec_matrix phi[TRIALS];
            double *x = trials(k, shapes[k][0], shapes[k][1], phi);
            kspec_dimension_opts o = {.size = sizeof o, .center = centers[n - 1], .curve = n == 3 ? 3 : 0};
            kspec_dimension_result *cpu, *gpu;
            kspec_error err = {0};
            o.device = KSPEC_DEVICE_CPU;
            CHECK_MSG(kspec_dimension(phi, n, &o, &cpu, &err) == KSPEC_OK, "%s", err.msg);
            for (int small = 0; small < 2; small++) {
                if (small) setenv("KSPEC_GPU_MEMORY", "1e-5", 1);
                o.device = KSPEC_DEVICE_GPU;
                CHECK_MSG(kspec_dimension(phi, n, &o, &gpu, &err) == KSPEC_OK, "%s", err.msg);
                CHECK((strstr(gpu->device.why, "in host memory") != NULL) == small);
                same_dimension(cpu, gpu);
                kspec_free(gpu);
                unsetenv("KSPEC_GPU_MEMORY");
            }
            kspec_free(cpu);
            free(x);
        }
}

TEST(refusals) {
    bed b;
    if (!make_bed(&b)) SKIP("no GPU; nothing can be done");
    ks_placement_close(&b.place);
    kspec_matrix phi[TRIALS];
    double *x = trials(1, 33, 33, phi);
    uint64_t labels[33];
    kspec_dimension_result *r;
    kspec_error err;
    for (size_t i = 0; i < 33; i++) labels[i] = i / 2;
    kspec_dimension_opts o = {.size = sizeof o, .device = KSPEC_DEVICE_GPU, .row_groups = labels};
    CHECK_FAILS(kspec_dimension(phi, 1, &o, &r, &err), KSPEC_E_ARG, err, "there is no dimension of groups");
    o.row_groups = NULL, o.pairwise = 1;
    CHECK_FAILS(kspec_dimension(phi, 1, &o, &r, &err), KSPEC_E_ARG, err, "with missing entries on a GPU");
    o.device = KSPEC_DEVICE_AUTO;
    CHECK(kspec_dimension(phi, 1, &o, &r, &err) == KSPEC_OK && strcmp(r->device.name, "cpu") == 0);
    kspec_free(r);
    free(x);
}

TEST(comparisons) {
    bed b;
    if (!make_bed(&b)) SKIP("no GPU; nothing can be done");
    ks_placement_close(&b.place);
    for (size_t n = 1; n <= TRIALS; n++) {
        kspec_matrix phi[TRIALS], psi[TRIALS];
        double *x = trials(3, 40, 30, phi), *y = trials(3, 40, 22, psi);
        kspec_compare_opts o = {
            .size = sizeof o, .nmax = 4, .center = n == 2 ? KSPEC_CENTER_NONE : KSPEC_CENTER_DEFAULT};
        kspec_compare_result *cpu, *gpu;
        kspec_error err = {0};
        o.device = KSPEC_DEVICE_CPU;
        CHECK_MSG(kspec_compare(phi, n, psi, 1, &o, &cpu, &err) == KSPEC_OK, "%s", err.msg);
        for (int small = 0; small < 2; small++) {
            if (small) setenv("KSPEC_GPU_MEMORY", "1e-5", 1);
            o.device = KSPEC_DEVICE_GPU;
            CHECK_MSG(kspec_compare(phi, n, psi, 1, &o, &gpu, &err) == KSPEC_OK, "%s", err.msg);
            if (!gpu) return;
            CHECK(strcmp(cpu->device.name, "cpu") == 0 && strncmp(gpu->device.name, "gpu:0 ", 6) == 0);
            CHECK(gpu->count == cpu->count && cpu->count == 5);
            CHECK_CLOSE(gpu->alignment, cpu->alignment, 1e-9);
            CHECK_CLOSE(gpu->alignment_std_error, cpu->alignment_std_error, 1e-7);
            CHECK_CLOSE(gpu->alignment_biased, cpu->alignment_biased, 1e-10);
            CHECK_CLOSE(gpu->dimension, cpu->dimension, 1e-9);
            for (size_t k = 0; k < cpu->count; k++)
                CHECK_CLOSE(gpu->differences[k]->std_error, cpu->differences[k]->std_error, 1e-7);
            kspec_free(gpu);
            unsetenv("KSPEC_GPU_MEMORY");
        }
        kspec_free(cpu);
        free(x), free(y);
    }
}

static void same_spectrum(const kspec_spectrum_result *a, const kspec_spectrum_result *b, int moments) {
    CHECK(strcmp(a->device.name, "cpu") == 0 && strncmp(b->device.name, "gpu:0 ", 6) == 0);
    CHECK(a->rank == b->rank && a->sample_count == b->sample_count);
    /* a fit amplifies rounding, and the least eigenvalues of a matrix of low rank are nothing else */
    for (size_t i = 0; i < a->rank && i < 3; i++)
        CHECK_CLOSE(b->eigenvalues[i], a->eigenvalues[i], moments ? 1e-5 : 1e-6);
    for (size_t i = 0; i < a->sample_count; i++)
        CHECK(fabs(b->sample_eigenvalues[i] - a->sample_eigenvalues[i]) <= 1e-12 * a->sample_eigenvalues[0]);
    CHECK_CLOSE(b->participation_ratio, a->participation_ratio, 1e-9);
}

TEST(spectra) {
    bed b;
    if (!make_bed(&b)) SKIP("no GPU; nothing can be done");
    ks_placement_close(&b.place);
    static const kspec_spectrum_method methods[] = {KSPEC_SPECTRUM_METHOD_FIT, KSPEC_SPECTRUM_METHOD_MOMENTS,
                                                    KSPEC_SPECTRUM_METHOD_CVPCA};
    const size_t least = ks_eigen_least;
    for (int k = 0; k < (tiny ? 1 : 3); k++)
        for (int wide = 0; wide < 2; wide++) {
            kspec_matrix phi[TRIALS];
            ks_eigen_least = wide ? 1 : least;
            double *x = trials((uint64_t)k, wide ? 30 : 45, wide ? 45 : 30, phi);
            kspec_spectrum_opts o = {
                .size = sizeof o, .method = methods[k], .device = KSPEC_DEVICE_CPU, .no_draws = k == 1};
            kspec_spectrum_result *cpu, *gpu;
            kspec_error err = {0};
            const size_t n = k == 2 ? 2 : 1;
            CHECK_MSG(kspec_spectrum(phi, n, &o, &cpu, &err) == KSPEC_OK, "%s", err.msg);
            o.device = KSPEC_DEVICE_GPU;
            CHECK_MSG(kspec_spectrum(phi, n, &o, &gpu, &err) == KSPEC_OK, "%s", err.msg);
            same_spectrum(cpu, gpu, k == 1);
            kspec_free(gpu);
            kspec_free(cpu);
            free(x);
        }
    ks_eigen_least = least;
}

static const size_t ORDER = 40;

static kspec_status solve(void *ctx, const ks_run *run, kspec_error *err) {
    double *G = ctx, copy[40 * 40], w[40], Z[7 * 40];
    memcpy(copy, G, sizeof copy);
    return ks_eigen_of_host(run, 1, ORDER, copy, w, 7, Z, err);
}

/* The rows of V are unit vectors with G v = w v, and w are the processor's values. */
static void check_eigen(size_t n, const double *G, const double *w, const double *expected, size_t first,
                        const double *V) {
    for (size_t k = 0; k < n; k++) CHECK(fabs(w[k] - expected[k]) <= 1e-12 * expected[n - 1]);
    for (size_t k = first; k < n && V; k++)
        for (size_t i = 0; i < n; i++) {
            const double *v = V + (k - first) * n;
            double product = 0, unit = 0;
            for (size_t j = 0; j < n; j++) product += G[i * n + j] * v[j], unit += v[j] * v[j];
            CHECK(fabs(product - w[k] * v[i]) <= 1e-12 * expected[n - 1] && fabs(unit - 1) <= 1e-12);
        }
}

TEST(eigenproblems) {
    bed b;
    if (!make_bed(&b)) SKIP("no GPU; nothing can be done");
    const size_t n = ORDER, least = ks_eigen_least;
    double *A = matrix(4, n, n + 3), G[40 * 40], copy[40 * 40], w[40], expected[40], Z[7 * 40];
    kspec_error err = {0};
    for (size_t i = 0; i < n * n; i++) {
        G[i] = 0;
        for (size_t k = 0; k < n + 3; k++) G[i] += A[i / n * (n + 3) + k] * A[i % n * (n + 3) + k];
    }
    memcpy(copy, G, sizeof G);
    const ks_run alone = {.threads = 1, .to = 1};
    CHECK(ks_eigen_of_host(&alone, 0, n, copy, expected, 0, NULL, &err) == KSPEC_OK);
    ks_eigen_least = 1;
    memcpy(copy, G, sizeof G);
    CHECK_MSG(ks_eigen_of_host(&b.run, 0, n, copy, w, 0, NULL, &err) == KSPEC_OK, "%s", err.msg);
    check_eigen(n, G, w, expected, 0, NULL);
    memcpy(copy, G, sizeof G);
    CHECK(ks_eigen_of_host(&b.run, 1, n, copy, w, 0, NULL, &err) == KSPEC_OK);
    check_eigen(n, G, w, expected, 0, copy);
    memcpy(copy, G, sizeof G);
    CHECK(ks_eigen_of_host(&b.run, 1, n, copy, w, 7, Z, &err) == KSPEC_OK);
    check_eigen(n, G, w, expected, n - 7, Z);
    /* without memory on the device, the processor solves the problem */
    for (long after = 0; after < 2; after++) {
        b.run.device->plugin->fail_after(b.run.device->gpu, after);
        memcpy(copy, G, sizeof G);
        CHECK(ks_eigen_of_host(&b.run, 1, n, copy, w, 7, Z, &err) == KSPEC_OK);
        b.run.device->plugin->fail_after(b.run.device->gpu, -1);
        check_eigen(n, G, w, expected, n - 7, Z);
    }
    failing_alloc_install();
    bed_failing(&b, 0, solve, G);
    failing_alloc_uninstall();
    ks_eigen_least = least;
    free(A);
    ks_placement_close(&b.place);
}

static kspec_status make_gram(void *ctx, const ks_run *run, kspec_error *err) {
    double G[20 * 20];
    return ks_gram_of_host(run, 20, 30, 1, ctx, G, "the Gram matrix", err);
}

TEST(failing_products) {
    bed b;
    if (!make_bed(&b)) SKIP("no GPU; nothing can be done");
    double *A = matrix(1, 20, 30), *B = matrix(2, 30, 9), C[20 * 9], expected[20 * 9];
    const ks_matmul p = {
        .m = 20, .n = 9, .k = 30, .alpha = 0.5, .A = A, .lda = 30, .B = B, .ldb = 9, .C = C, .ldc = 9};
    for (int i = 0; i < 20; i++)
        for (int j = 0; j < 9; j++) {
            expected[i * 9 + j] = 0;
            for (int k = 0; k < 30; k++) expected[i * 9 + j] += 0.5 * A[i * 30 + k] * B[k * 9 + j];
        }
    for (size_t streamed = 0; streamed <= 500; streamed += 500) {
        b.run.device->streamed = streamed;
        memset(C, 0, sizeof C);
        CHECK(ks_product_of_host(&b.run, &p, "a product", NULL) == KSPEC_OK);
        for (int i = 0; i < 20 * 9; i++) CHECK(fabs(C[i] - expected[i]) <= 1e-13 * 30);
    }
    b.run.device->streamed = 0;
    failing_alloc_install();
    for (int device = 0; device < 2; device++) bed_failing(&b, device, make_gram, A);
    failing_alloc_uninstall();
    free(A), free(B);
    ks_placement_close(&b.place);
}

static void all(void) {
    RUN(sums);
    RUN(dimensions);
    RUN(spectra);
    RUN(eigenproblems);
    if (tiny) return;
    RUN(comparisons);
    RUN(refusals);
    if (!small_only || SANITIZED) RUN(failing_sums);
    RUN(failing_products);
}

int main(int argc, char **argv) { return bed_main(argc, argv, NULL, all); }
