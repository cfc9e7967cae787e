/*
 * The estimators on a GPU beside those of the processor. They run on every plugin that is there: the plain
 * one of the tests always, CUDA's where there is a GPU. Differences are measured in the sum of |terms|.
 */
#include "device/backend.h"
#include "device/device.h"
#include "help/bed.h"
#include "help/failing_alloc.h"
#include "exact/exact.h"
#include "path/kv.h"
#include "path/naive.h"
#include "path/path.h"
#include "test.h"
#include "kspec/host.h"

static double *absolute(const double *x, size_t count) {
    double *y = malloc(count * sizeof *y);
    for (size_t i = 0; i < count; i++) y[i] = fabs(x[i]);
    return y;
}

/* ---- operations ---- */

static void upload(const bed *b, const double *x, size_t count, ks_mat **out) {
    const ks_mat *there;
    CHECK(ks_gpu_backend.copy_in(&b->run, x, 1, count, "a test", &there, NULL) == KSPEC_OK);
    *out = (ks_mat *)there;
}

static void expressions(const bed *b, size_t m, size_t n) {
    const ks_backend *gpu = &ks_gpu_backend;
    const ks_run cpu = {.threads = 1, .to = 1};
    double *x[3], *row = matrix(7, m, 1), *col = matrix(8, n, 1), *out = matrix(9, m, n);
    ks_mat *there[3], *out_on_device;
    for (int k = 0; k < 3; k++) x[k] = matrix((uint64_t)k + 1, m, n), upload(b, x[k], m * n, &there[k]);
    upload(b, out, m * n, &out_on_device);
    double *want = malloc((m * n + m + n) * sizeof *want), *got = malloc((m * n + m + n) * sizeof *got);
    memcpy(want, out, m * n * sizeof *want);
    for (int what = 0; what < 4; what++)
        for (int turn = 0; turn < 4; turn++) {
            ks_mat_expression e = {.m = m, .n = n, .alpha = 1.5, .count = 3, .row = turn & 1 ? NULL : row};
            e.col = turn & 2 ? col : NULL;
            size_t count = what < 2 ? m * n : what == KS_TILE_ROW_SUMS ? m : n;
            for (int k = 0; k < 3; k++)
                e.factor[k] = (ks_mat_factor){ks_mat_of(x[k]), k == turn || (k == 2 && turn == 3), k + 1};
            CHECK(ks_backend_of(&cpu)->expression(&cpu, &e, (ks_tile_result)what, NULL, want, NULL) ==
                  KSPEC_OK);
            for (int k = 0; k < 3; k++) e.factor[k].x = there[k];
            CHECK(gpu->expression(&b->run, &e, (ks_tile_result)what, what < 2 ? out_on_device : NULL, got,
                                  NULL) == KSPEC_OK);
            if (what < 2) CHECK(gpu->get(&b->run, got, out_on_device, count, 1, NULL) == KSPEC_OK);
            for (size_t i = 0; i < count; i++)
                if (!(fabs(got[i] - want[i]) <= 1e-13 * (double)(m + n)))
                    CHECK_MSG(0, "%zu x %zu, what %d, turn %d, [%zu]: %g, not %g", m, n, what, turn, i,
                              got[i], want[i]);
        }
    for (int k = 0; k < 3; k++) gpu->drop(&b->run, there[k]), free(x[k]);
    gpu->drop(&b->run, out_on_device);
    free(row), free(col), free(out), free(want), free(got);
}

static void products(const bed *b, size_t m, size_t n, size_t k) {
    const ks_backend *gpu = &ks_gpu_backend;
    double *A = matrix(1, m, k), *B = matrix(2, k, n), *C = matrix(3, m, n), *got = malloc(m * n * 8);
    ks_mat *A2, *B2, *C2;
    for (int turn = 0; turn < 4; turn++) {
        upload(b, A, m * k, &A2), upload(b, B, k * n, &B2), upload(b, C, m * n, &C2);
        int ta = turn & 1, tb = turn / 2;
        const ks_mat_product p = {.ta = ta,
                                  .tb = tb,
                                  .m = m,
                                  .n = n,
                                  .k = k,
                                  .alpha = 0.5,
                                  .A = A2,
                                  .lda = ta ? m : k,
                                  .B = B2,
                                  .ldb = tb ? k : n,
                                  .beta = 2,
                                  .C = C2,
                                  .ldc = n};
        CHECK(gpu->product(&b->run, &p, NULL) == KSPEC_OK);
        CHECK(gpu->get(&b->run, got, C2, m * n, 1, NULL) == KSPEC_OK);
        for (size_t i = 0; i < m; i++)
            for (size_t j = 0; j < n; j++) {
                double want = 2 * C[i * n + j];
                for (size_t l = 0; l < k; l++)
                    want += 0.5 * A[ta ? l * m + i : i * k + l] * B[tb ? j * k + l : l * n + j];
                if (!(fabs(got[i * n + j] - want) <= 1e-13 * (double)k))
                    CHECK_MSG(0, "product %d: %g, not %g", turn, got[i * n + j], want);
            }
        gpu->drop(&b->run, A2), gpu->drop(&b->run, B2), gpu->drop(&b->run, C2);
    }
    free(A), free(B), free(C), free(got);
}

/* X X^T by half of it, and X + X^T */
static void symmetric(const bed *b, size_t n, size_t k) {
    const ks_backend *gpu = &ks_gpu_backend;
    ks_mat *X2, *C2;
    double *X = matrix(4, n, k), *got = malloc(n * n * 8), *again = malloc(n * n * 8);
    upload(b, X, n * k, &X2);
    CHECK(gpu->hold(&b->run, n, n, "a test", &C2, NULL) == KSPEC_OK);
    ks_mat_product p = {.tb = 1,
                        .m = n,
                        .n = n,
                        .k = k,
                        .alpha = 1,
                        .A = X2,
                        .lda = k,
                        .B = X2,
                        .ldb = k,
                        .C = C2,
                        .ldc = n,
                        .symmetric = 1};
    CHECK(gpu->product(&b->run, &p, NULL) == KSPEC_OK);
    CHECK(gpu->get(&b->run, got, C2, n * n, 1, NULL) == KSPEC_OK);
    double worst = 0;
    for (size_t i = 0; i < n; i += 1 + n / 50)
        for (size_t j = 0; j < n; j++) {
            double want = 0;
            for (size_t l = 0; l < k; l++) want += X[i * k + l] * X[j * k + l];
            worst = fmax(worst, fabs(got[i * n + j] - want));
        }
    CHECK_MSG(worst <= 1e-13 * (double)k, "symmetric %zu: %g", n, worst);
    double *Y = matrix(5, n, n);
    CHECK(gpu->put(&b->run, C2, Y, n * n, NULL) == KSPEC_OK);
    CHECK(gpu->symmetrise(&b->run, n, C2, NULL) == KSPEC_OK);
    CHECK(gpu->get(&b->run, again, C2, n * n, 1, NULL) == KSPEC_OK);
    int same = 1;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) same &= again[i * n + j] == Y[i * n + j] + Y[j * n + i];
    CHECK(same);
    gpu->drop(&b->run, X2), gpu->drop(&b->run, C2);
    free(X), free(Y), free(got), free(again);
}

TEST(operations) {
    bed b;
    if (!make_bed(&b)) SKIP("no GPU; nothing can be done");
    static const size_t sizes[][2] = {{1, 1}, {1, 70}, {33, 7}, {40, 130}, {130, 40}, {64, 64}};
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) expressions(&b, sizes[k][0], sizes[k][1]);
    expressions(&b, is_small(&b) ? 90 : 1300, is_small(&b) ? 50 : 700);
    products(&b, 1, 1, 1);
    products(&b, 33, 7, 20);
    symmetric(&b, 1, 3);
    symmetric(&b, 45, 12);
    if (!is_small(&b)) symmetric(&b, 2500, 40);
    ks_placement_close(&b.place);
}

/* ---- estimators ---- */

typedef kspec_status (*estimator)(const ks_run *run, const ks_pair *p, const ks_moments_out *out,
                                  double *terms, kspec_error *err);

static ks_exact_plan form; /* of exact(): what is asked for besides the shape */
static kspec_status exact(const ks_run *run, const ks_pair *p, const ks_moments_out *out, double *terms,
                          kspec_error *err) {
    ks_exact_plan plan = form;
    plan.P = p->P, plan.Q = p->Q, plan.two = p->A != p->B;
    kspec_status st = ks_exact_terms(run, &plan, p, out, terms, err);
    ks_exact_plan_free(&plan);
    return st;
}

/* The others' terms: the estimate of the absolute values */
#define OTHER(name, call)                                                                                   \
    static kspec_status name(const ks_run *run, const ks_pair *p, const ks_moments_out *out, double *terms, \
                             kspec_error *err) {                                                            \
        double *A = absolute(p->A, p->P * p->Q), *B = p->A == p->B ? A : absolute(p->B, p->P * p->Q);       \
        const ks_run cpu = {.threads = 1, .to = 1};                                                         \
        const ks_pair q = {A, B, p->P, p->Q, p->nmax};                                                      \
        kspec_status st = terms ? call(&cpu, &q, &(ks_moments_out){terms, NULL, NULL}, NULL) : KSPEC_OK;    \
        if (B != A) free(B);                                                                                \
        free(A);                                                                                            \
        return st ? st : call(run, p, out, err);                                                            \
    }
OTHER(path, ks_path)
OTHER(kv, ks_kv_row)
OTHER(naive, ks_naive)

static double close_to(size_t count, const double *x, const double *y) {
    double worst = 0;
    for (size_t i = 0; i < count; i++) {
        if (isnan(x[i]) && isnan(y[i])) continue;
        double d = fabs(x[i] - y[i]);
        if (!(d <= worst)) worst = d;
    }
    return worst;
}

/* On both, twice on the GPU; the greatest difference in units of the terms */
static void compare(const bed *b, const char *name, estimator of, size_t P, size_t Q, int nmax, int two,
                    int loo, double tolerance) {
    double *A = matrix(11, P, Q), *B = two ? matrix(12, P, Q) : A;
    const ks_pair p = {A, B, P, Q, nmax};
    size_t n = (size_t)nmax, each = n * (1 + P + Q);
    double *room = calloc(3 * each, sizeof *room), *terms = calloc(n, sizeof *terms), worst = 0;
    ks_moments_out out[3];
    const ks_run cpu = {.threads = 2, .to = 1};
    kspec_error err = {0};
    for (int k = 0; k < 3; k++) {
        double *at = room + (size_t)k * each;
        out[k] = (ks_moments_out){at, loo ? at + n : NULL, loo ? at + n + n * P : NULL};
        kspec_status st = of(k ? &b->run : &cpu, &p, &out[k], k ? NULL : terms, &err);
        CHECK_MSG(st == KSPEC_OK, "%s %zu x %zu: %s", name, P, Q, err.msg);
    }
    for (size_t i = 0; i < n; i++) {
        worst = fmax(worst, close_to(1, &out[0].m[i], &out[1].m[i]) / terms[i]);
        if (!loo) continue;
        worst = fmax(worst, close_to(P, out[0].rows + i * P, out[1].rows + i * P) / terms[i]);
        worst = fmax(worst, close_to(Q, out[0].cols + i * Q, out[1].cols + i * Q) / terms[i]);
    }
    CHECK_MSG(worst <= tolerance, "%s %zu x %zu, n = %d, two %d, loo %d: %.2g of the terms", name, P, Q, nmax,
              two, loo, worst);
    CHECK_MSG(memcmp(room + each, room + 2 * each, each * sizeof *room) == 0, "%s %zu x %zu: other bits",
              name, P, Q);
    if (A != B) free(B);
    free(A), free(room), free(terms);
}

static const size_t shapes[][2] = {{1, 1}, {2, 2}, {33, 7}, {7, 33}, {9, 9}, {40, 65}, {70, 30}};
/* leaving out goes by differences on some devices: what that costs */
static const double TOLERANCE = 1e-11;

static int smaller(size_t P, size_t Q, int n) {
    return (size_t)n > P || (size_t)n > Q ? (int)(P < Q ? P : Q) : n;
}

TEST(paths) {
    bed b;
    if (!make_bed(&b)) SKIP("no GPU; nothing can be done");
    for (size_t k = tiny ? 2 : 0; k < (tiny ? 4 : sizeof shapes / sizeof *shapes); k++)
        for (int two = 0; two < 2; two++) {
            size_t P = shapes[k][0], Q = shapes[k][1];
            for (int n = tiny ? 7 : 1; n <= 8; n += small_only ? 3 : 1) {
                compare(&b, "path", path, P, Q, smaller(P, Q, n), two, 0, TOLERANCE);
                /* past half of the rows low orders are larger, and both round what they take away */
                int high = 2 * (size_t)smaller(P, Q, n) > (P < Q ? P : Q);
                compare(&b, "path", path, P, Q, smaller(P, Q, n), two, 1, high ? 2e-9 : TOLERANCE);
            }
            if (tiny) continue;
            compare(&b, "path", path, P, Q, smaller(P, Q, 11), two, 0, TOLERANCE);
            compare(&b, "path", path, P, Q, smaller(P, Q, 16), two, 0, TOLERANCE);
        }
    for (int n = 1; n <= 8 && !is_small(&b); n++) /* several panels and blocks; P << Q, Q << P */
        for (int two = 0; two < 2; two++) {
            compare(&b, "path", path, 1200, 450, n, two, 0, TOLERANCE);
            compare(&b, "path", path, 130, 1500, n, two, 0, TOLERANCE);
            compare(&b, "path", path, 150, 450, n, two, 1, TOLERANCE);
            compare(&b, "path", path, 1100, 70, n, two, 1, TOLERANCE);
        }
    if (!is_small(&b)) compare(&b, "path", path, 4400, 40, 3, 0, 1, TOLERANCE); /* several parts */
    ks_placement_close(&b.place);
}

TEST(exacts) {
    bed b;
    if (!make_bed(&b)) SKIP("no GPU; nothing can be done");
    for (size_t k = 2; k < (small_only ? 4 : sizeof shapes / sizeof *shapes); k++)
        for (int two = 0; two < 2; two++)
            for (int loo = 0; loo < 2; loo++) {
                size_t P = shapes[k][0], Q = shapes[k][1];
                form = (ks_exact_plan){0};
                compare(&b, "exact", exact, P, Q, 5, two, loo, TOLERANCE);
                form.sampled = KSPEC_SAMPLED_ROWS;
                compare(&b, "exact, rows", exact, P, Q, 5, two, loo, TOLERANCE);
                form.sampled = KSPEC_SAMPLED_COLS;
                compare(&b, "exact, columns", exact, P, Q, 5, two, loo, TOLERANCE);
                form = (ks_exact_plan){.population = {100, 80}};
                compare(&b, "exact, finite", exact, P, Q, 3, two, loo, TOLERANCE);
                form = (ks_exact_plan){.center = KSPEC_CENTER_ROWS};
                compare(&b, "exact, centred", exact, P, Q, P >= 8 ? 4 : 3, two, loo, TOLERANCE);
                form = (ks_exact_plan){.center = KSPEC_CENTER_BOTH};
                if (P >= 9 && Q >= 9) compare(&b, "exact, both centred", exact, P, Q, 3, two, loo, TOLERANCE);
            }
    form = (ks_exact_plan){0};
    for (int loo = 0; loo < 2 && !is_small(&b); loo++) {
        compare(&b, "exact", exact, 1500, 1100, 4, 0, loo, TOLERANCE);
        compare(&b, "exact", exact, 300, 200, 5, 1, loo, TOLERANCE);
    }
    ks_placement_close(&b.place);
}

TEST(others) {
    bed b;
    if (!make_bed(&b)) SKIP("no GPU; nothing can be done");
    for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++)
        for (int two = 0; two < 2; two++)
            for (int loo = 0; loo < 2; loo++)
                for (int n = 1; n <= 9; n += small_only ? 4 : 2) {
                    size_t P = shapes[k][0], Q = shapes[k][1];
                    compare(&b, "naive", naive, P, Q, n, two, loo, TOLERANCE);
                    if ((size_t)n <= P) compare(&b, "kv", kv, P, Q, n, two, loo, TOLERANCE);
                }
    ks_placement_close(&b.place);
}

/* ---- failures ---- */

/* Every allocation of the device, and every one of the host, fails once: a message, and nothing is lost. */
static void failures(const bed *b, const char *name, estimator of, int loo, int device) {
    enum { P = 21, Q = 17, N = 4 };
    double *A = matrix(1, P, Q), room[N * (1 + P + Q)], terms[N];
    const ks_pair p = {A, A, P, Q, N};
    const ks_moments_out out = {room, loo ? room + N : NULL, loo ? room + N + N * P : NULL};
    ks_device *d = b->run.device;
    CHECK(of(&b->run, &p, &out, terms, NULL) == KSPEC_OK);
    const size_t before = ks_device_available(d);
    long k = 0;
    for (;; k += SWEEP_STEP) {
        kspec_error err = {0};
        if (device)
            d->plugin->fail_after(d->gpu, k);
        else
            failing_alloc_arm(k);
        kspec_status st = of(&b->run, &p, &out, NULL, &err);
        d->plugin->fail_after(d->gpu, -1);
        failing_alloc_disarm();
        CHECK_MSG(failing_alloc_live() == 0, "%s: %ld blocks are lost", name, failing_alloc_live());
        if (is_plain(b)) CHECK(ks_device_available(d) == before);
        if (st == KSPEC_OK) break;
        CHECK_MSG(st == KSPEC_E_NOMEM && strstr(err.msg, "memory"), "%s, %ld: %d %s", name, k, st, err.msg);
        if (device) CHECK_MSG(d->failed && strncmp(err.msg, "gpu:0", 5) == 0, "%s", err.msg);
        d->failed = 0;
        if (k > 5000) break;
    }
    CHECK_MSG(k > 1 && k <= 5000, "%s: %ld allocations", name, k);
    free(A);
}

TEST(allocations) {
    bed b;
    if (!make_bed(&b)) SKIP("no GPU; nothing can be done");
    failing_alloc_install();
    form = (ks_exact_plan){0};
    for (int device = 0; device < 2; device++)
        for (int loo = 0; loo < 2; loo++) {
            failures(&b, "path", path, loo, device);
            failures(&b, "exact", exact, loo, device);
            failures(&b, "kv", kv, loo, device);
            failures(&b, "naive", naive, loo, device);
        }
    failing_alloc_uninstall();
    ks_placement_close(&b.place);
}

TEST(cancelling) {
    bed b;
    if (!make_bed(&b)) SKIP("no GPU; nothing can be done");
    enum { P = 60, Q = 40, N = 4 };
    double *A = matrix(1, P, Q), room[N * (1 + P + Q)];
    const ks_pair p = {A, A, P, Q, N};
    const ks_moments_out out = {room, room + N, room + N + N * P};
    const estimator all[] = {exact, kv, naive};
    form = (ks_exact_plan){0};
    for (int k = 0; k < 3; k++) {
        long at = 0, left;
        kspec_status st;
        do {
            left = at;
            b.run.progress = (kspec_progress){stop_at, &left};
            kspec_error err = {0};
            st = all[k](&b.run, &p, &out, NULL, &err);
            CHECK_MSG(st == KSPEC_OK || (st == KSPEC_E_CANCELLED && left == -1), "%d: %s", st, err.msg);
        } while (st && ++at < 5000);
        CHECK(at > 2);
    }
    long left = 0; /* path is asked while it runs: a GPU may be done before it is stopped */
    b.run.progress = (kspec_progress){stop_at, &left};
    kspec_status st = ks_path(&b.run, &p, &out, NULL);
    CHECK(st == KSPEC_E_CANCELLED || (st == KSPEC_OK && !is_plain(&b)));
    ks_placement_close(&b.place);
    free(A);
}

/* ---- the call ---- */

static kspec_status moments(const double *A, size_t P, size_t Q, kspec_moments_opts o,
                            kspec_moments_result **r, kspec_error *err) {
    const kspec_matrix phi = {A, P, Q, (ptrdiff_t)Q, 1};
    o.size = sizeof o;
    return kspec_moments(&phi, 1, &o, r, err);
}

TEST(calls) {
    bed b;
    if (!make_bed(&b)) SKIP("no GPU; nothing can be done");
    ks_placement_close(&b.place);
    double *A = matrix(3, 50, 40);
    kspec_moments_result *cpu, *gpu;
    kspec_error err;
    for (int e = 0; e < 3; e++) {
        kspec_moments_opts o = {
            .nmax = 4, .permutations = e == 1 ? 3 : 0, .center = e == 2 ? KSPEC_CENTER_ROWS : 0};
        o.estimators = e == 2 ? KSPEC_ESTIMATOR_EXACT : 31;
        o.device = KSPEC_DEVICE_CPU;
        CHECK(moments(A, 50, 40, o, &cpu, &err) == KSPEC_OK);
        o.device = KSPEC_DEVICE_GPU;
        CHECK_MSG(moments(A, 50, 40, o, &gpu, &err) == KSPEC_OK, "%s", err.msg);
        CHECK(strcmp(cpu->device.name, "cpu") == 0 && strncmp(gpu->device.name, "gpu:0 ", 6) == 0);
        CHECK(strcmp(gpu->device.why, "asked for") == 0 && gpu->count == cpu->count);
        for (size_t k = 0; k < cpu->count; k++) {
            CHECK_CLOSE(gpu->estimates[k]->value, cpu->estimates[k]->value, 1e-9);
            CHECK_CLOSE(gpu->estimates[k]->std_error, cpu->estimates[k]->std_error, 1e-8);
        }
        kspec_free(cpu), kspec_free(gpu);
    }
    const uint64_t groups[50] = {1, 1};
    CHECK(moments(A, 50, 40, (kspec_moments_opts){.device = KSPEC_DEVICE_GPU, .row_groups = groups}, &gpu,
                  &err) == KSPEC_E_ARG);
    CHECK_MSG(strstr(err.msg, "there is no groups of rows or columns on a GPU; use the cpu"), "%s", err.msg);
    CHECK(moments(
              A, 50, 40,
              (kspec_moments_opts){
                  .device = KSPEC_DEVICE_GPU, .nmax = 20, .estimators = KSPEC_ESTIMATOR_PATH, .no_stderr = 1},
              &gpu, &err) == KSPEC_E_ARG);
    CHECK_MSG(strstr(err.msg, "path of this order"), "%s", err.msg);
    CHECK(moments(A, 50, 40, (kspec_moments_opts){.device = (kspec_device)(KSPEC_DEVICE_GPU_FIRST + 99)},
                  &gpu, &err) == KSPEC_E_ARG);
    CHECK_MSG(strstr(err.msg, "gpu:99 is not there"), "%s", err.msg);
    free(A);
}

/* AUTO with the plain plugin: what a place decides, and how it falls back */
TEST(places) {
    ks_placement p;
    kspec_error err;
    kspec_device_used used;
    ks_plugin_use(bed_plain);
    setenv("PLAIN_PLUGIN", "fine", 1);
    CHECK(!ks_placement_open(&p, KSPEC_DEVICE_AUTO, &err) && !ks_placement_decide(&p, 1e3, NULL, &err) &&
          !p.device);
    CHECK(strstr(p.why, "small"));
    CHECK(!ks_placement_decide(&p, 1e15, "thing", &err) && !p.device &&
          strstr(p.why, "there is no thing on a GPU"));
    CHECK(!ks_placement_decide(&p, 1e15, NULL, &err) && p.device &&
          strcmp(p.why, "faster for this size") == 0);
    CHECK(!ks_placement_fit(&p, 100, &err) && p.device);
    CHECK(!ks_placement_fit(&p, SIZE_MAX, &err) && !p.device && p.unusable);
    ks_placement_describe(&p, &used);
    CHECK_MSG(strcmp(used.name, "cpu") == 0 && used.unusable && strstr(used.why, "MB are free"), "%s",
              used.why);
    CHECK(!ks_placement_decide(&p, 1e15, NULL, &err) && !p.device); /* not again */
    setenv("PLAIN_PLUGIN", "slow",
           1); /* as fast as one core: no gain, but not unusable, and not if asked for */
    CHECK(!ks_placement_open(&p, KSPEC_DEVICE_AUTO, &err) && !ks_placement_decide(&p, 1e15, NULL, &err));
    CHECK_MSG(!p.device && !p.unusable, "%s", p.why);
    CHECK_MSG(strcmp(p.why, "the GPU does 0.04 TFLOP/s in double precision, which is too slow") == 0, "%s",
              p.why);
    CHECK(!ks_placement_open(&p, KSPEC_DEVICE_GPU, &err) && !ks_placement_decide(&p, 1e15, NULL, &err));
    CHECK(p.device != NULL);
    ks_placement_close(&p);
    setenv("PLAIN_PLUGIN", "broken", 1);
    CHECK(!ks_placement_open(&p, KSPEC_DEVICE_AUTO, &err) && !ks_placement_decide(&p, 1e15, NULL, &err));
    CHECK(!p.device && p.unusable && strstr(p.why, "in use by another process"));
    CHECK(ks_placement_open(&p, KSPEC_DEVICE_GPU, &err) == KSPEC_E_ARG);
    CHECK(strcmp(err.msg, "no GPU can be used: gpu:0: the device is in use by another process") == 0);
    CHECK(strcmp(err.option, "device") == 0);
    setenv("PLAIN_PLUGIN", "none", 1);
    CHECK(!ks_placement_open(&p, KSPEC_DEVICE_AUTO, &err) && !ks_placement_decide(&p, 1e15, NULL, &err));
    CHECK(!p.device && !p.unusable && strstr(p.why, "no GPU"));
    unsetenv("PLAIN_PLUGIN");
    ks_plugin_use("/nowhere/libkspec_cuda.so");
    CHECK(ks_placement_open(&p, KSPEC_DEVICE_GPU, &err) == KSPEC_E_ARG &&
          strstr(err.msg, "/nowhere/libkspec_cuda.so"));
    setenv("KSPEC_DEVICE", "gpu", 1);
    CHECK(ks_placement_open(&p, KSPEC_DEVICE_AUTO, &err) == KSPEC_E_ARG);
    CHECK(ks_placement_open(&p, KSPEC_DEVICE_CPU, &err) == KSPEC_OK);
    setenv("KSPEC_DEVICE", "tpu", 1);
    CHECK(ks_placement_open(&p, KSPEC_DEVICE_AUTO, &err) == KSPEC_E_ARG);
    CHECK_MSG(strstr(err.msg, "KSPEC_DEVICE: device 'tpu' must be one of auto, cpu, gpu, gpu:0"), "%s",
              err.msg);
    unsetenv("KSPEC_DEVICE");
    CHECK(ks_placement_open(&p, (kspec_device)7, &err) == KSPEC_E_ARG);
}

TEST(words) {
    static const char *const good[] = {"auto", "cpu", "gpu", "gpu:0", "gpu:255"};
    static const int value[] = {0, 1, 2, 16, 16 + 255};
    static const char *const bad[] = {"", "GPU", "gpu:", "gpu:256", "gpu:-1", "gpu:1x", "cpu ", NULL};
    kspec_device d;
    kspec_error err;
    for (int k = 0; k < 5; k++)
        CHECK(kspec_device_parse(good[k], &d, &err) == KSPEC_OK && (int)d == value[k]);
    for (int k = 0; k < 8; k++) CHECK(kspec_device_parse(bad[k], &d, &err) == KSPEC_E_ARG && err.msg[0]);
}

static void before(void) {
    RUN(words);
    RUN(places);
}

static void all(void) {
    RUN(operations);
    RUN(paths);
    setenv("KSPEC_GPU_SHARED", "99", 1); /* the kernels of GPUs with less shared memory */
    RUN(paths);
    unsetenv("KSPEC_GPU_SHARED");
    if (tiny) return;
    RUN(exacts);
    RUN(others);
    if (!small_only || SANITIZED) RUN(allocations);
    RUN(cancelling);
    RUN(calls);
}

int main(int argc, char **argv) { return bed_main(argc, argv, before, all); }
