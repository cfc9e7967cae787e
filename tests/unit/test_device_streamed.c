/*
 * Matrices that do not fit a device: they move between it and the host's memory, or products go through it in
 * tiles and everything else is the processor's. A small room makes many tiles and panels of small matrices.
 */
#include "device/resident.h"
#include "device/streamed.h"
#include "help/bed.h"
#include "help/failing_alloc.h"
#include "kspec.h"
#include "exact/exact.h"
#include "path/kv.h"
#include "path/naive.h"

static const size_t rooms[] = {1, 40, 300, 2048, 1 << 20};
enum { ROOMS = sizeof rooms / sizeof *rooms };

/* ---- products ---- */

/* Page-locked, or no longer; it may be refused where memory of another matrix is on the same page */
static void set_lock(const bed *b, double *p, size_t count, int on) {
    const ks_device *d = b->run.device;
    if (on)
        d->plugin->lock(d->gpu, p, count * sizeof *p);
    else
        d->plugin->unlock(d->gpu, p);
}

/* C = 0.5 op(A) op(B) + beta C inside of larger matrices, whose other entries stay; every other one locked */
static void product(const bed *b, size_t m, size_t n, size_t k, int turn, double beta) {
    enum { MORE = 3 };
    const int ta = turn & 1, tb = turn / 2;
    const size_t lda = (ta ? m : k) + MORE, ldb = (tb ? k : n) + MORE, ldc = n + MORE;
    double *A = matrix(1, ta ? k : m, lda), *B = matrix(2, tb ? n : k, ldb), *C = matrix(3, m, ldc),
           *got = malloc(m * ldc * sizeof *got);
    memcpy(got, C, m * ldc * sizeof *got);
    const ks_matmul p = {ta, tb, m, n, k, 0.5, A, lda, B, ldb, beta, got, ldc, 0};
    kspec_error err = {0};
    double *const all[] = {A, B, got};
    const size_t count[] = {(ta ? k : m) * lda, (tb ? n : k) * ldb, m * ldc};
    for (int l = 0; l < 3 && turn % 2; l++) set_lock(b, all[l], count[l], 1);
    CHECK_MSG(ks_streamed_product(&b->run, &p, &err) == KSPEC_OK, "%s", err.msg);
    for (int l = 0; l < 3; l++) set_lock(b, all[l], count[l], 0);
    double worst = 0;
    for (size_t i = 0; i < m; i += 1 + m / 80)
        for (size_t j = 0; j < ldc; j++) {
            double want = C[i * ldc + j];
            if (j < n) want *= beta;
            for (size_t l = 0; l < k && j < n; l++)
                want += 0.5 * A[ta ? l * lda + i : i * lda + l] * B[tb ? j * ldb + l : l * ldb + j];
            if (!(fabs(got[i * ldc + j] - want) <= worst)) worst = fabs(got[i * ldc + j] - want);
        }
    CHECK_MSG(worst <= 1e-13 * (double)k, "%zu x %zu x %zu, turn %d, room %zu: %g", m, n, k, turn,
              b->run.device->streamed, worst);
    free(A), free(B), free(C), free(got);
}

/* X X^T or X^T X: symmetric to the last bit */
static void gram(const bed *b, size_t n, size_t k, int ta) {
    double *X = matrix(4, n, k), *C = malloc(n * n * sizeof *C);
    const size_t ld = ta ? n : k;
    const ks_matmul p = {ta, !ta, n, n, k, 1, X, ld, X, ld, 0, C, n, 1};
    kspec_error err = {0};
    CHECK_MSG(ks_streamed_product(&b->run, &p, &err) == KSPEC_OK, "%s", err.msg);
    double worst = 0;
    int symmetric = 1;
    for (size_t i = 0; i < n; i += 1 + n / 50)
        for (size_t j = 0; j < n; j++) {
            double want = 0;
            for (size_t l = 0; l < k; l++)
                want += ta ? X[l * n + i] * X[l * n + j] : X[i * k + l] * X[j * k + l];
            worst = fmax(worst, fabs(C[i * n + j] - want));
            symmetric &= isfinite(C[i * n + j]) && C[i * n + j] == C[j * n + i];
        }
    CHECK_MSG(worst <= 1e-13 * (double)k && symmetric, "symmetric %zu, %zu: %g", n, k, worst);
    free(X), free(C);
}

TEST(products) {
    bed b;
    if (!make_bed(&b)) SKIP("no GPU; nothing can be done");
    static const size_t sizes[][3] = {{1, 1, 1}, {33, 7, 20}, {7, 90, 3}, {70, 5, 64}, {40, 41, 90}};
    for (int r = is_plain(&b) ? 0 : 2; r < ROOMS; r++) { /* on a GPU each copy takes its time */
        b.run.device->streamed = rooms[r];
        for (size_t s = 0; s < (tiny ? 2 : sizeof sizes / sizeof *sizes); s++)
            for (int turn = 0; turn < 4; turn++)
                for (int beta = 0; beta < 2; beta++)
                    product(&b, sizes[s][0], sizes[s][1], sizes[s][2], turn, 2.5 * beta);
        for (int ta = 0; ta < 2; ta++) gram(&b, 1, 1, ta), gram(&b, 45, 12, ta), gram(&b, 9, 30, ta);
    }
    if (!is_small(&b)) /* panels of many megabytes, several on their way */
        for (int turn = 0; turn < 4; turn++) {
            b.run.device->streamed = (size_t)1 << 21;
            product(&b, 1700, 1300, 1100, turn, turn);
            gram(&b, 2100, 300, turn & 1);
        }
    ks_placement_close(&b.place);
}

TEST(room) {
    CHECK(ks_streamed_room(0) == 0 && ks_streamed_room(16) == 1);
    CHECK(ks_streamed_room((size_t)139 << 30) == (size_t)8 << 30); /* 64 GiB */
    CHECK(ks_streamed_room((size_t)130 << 30) == ks_streamed_room((size_t)139 << 30));
}

/* ---- estimators ---- */

enum { EXACT, CENTRED, SIDED, KV, NAIVE, ESTIMATORS };

static kspec_status estimate(int which, const ks_run *run, const ks_pair *p, const ks_moments_out *out,
                             kspec_error *err) {
    if (which == KV) return ks_kv_row(run, p, out, err);
    if (which == NAIVE) return ks_naive(run, p, out, err);
    ks_exact_plan plan = {.P = p->P, .Q = p->Q, .two = p->A != p->B};
    if (which == CENTRED) plan.center = KSPEC_CENTER_ROWS;
    if (which == SIDED) plan.sampled = KSPEC_SAMPLED_COLS;
    kspec_status st = ks_exact(run, &plan, p, out, err);
    ks_exact_plan_free(&plan);
    return st;
}

/* Beside the processor's; and twice the same bits */
static void compare(const bed *b, int which, size_t P, size_t Q, int two, int loo) {
    /* at n = 5 there are thousands of operations, which a sanitizer of GPUs sees once */
    const int quick =
        small_only && !is_plain(b) && (which != EXACT || two || !loo || b->run.device->streamed < 2000);
    const int nmax = which != EXACT && which != SIDED ? 3 : quick ? 4 : 5;
    const size_t n = (size_t)nmax, each = n * (1 + P + Q);
    double *A = matrix(11, P, Q), *B = two ? matrix(12, P, Q) : A, *room = calloc(3 * each, sizeof *room);
    const ks_pair p = {A, B, P, Q, nmax};
    const ks_run cpu = {.threads = 2, .to = 1};
    for (int k = 0; k < 3; k++) {
        double *at = room + (size_t)k * each;
        const ks_moments_out out = {at, loo ? at + n : NULL, loo ? at + n + n * P : NULL};
        kspec_error err = {0};
        CHECK_MSG(estimate(which, k ? &b->run : &cpu, &p, &out, &err) == KSPEC_OK, "%s", err.msg);
    }
    CHECK(memcmp(room + each, room + 2 * each, each * sizeof *room) == 0);
    double worst = 0;
    for (size_t i = 0; i < each; i++) /* entries are below 1.25, and so are all means of cycles */
        if (!isnan(room[i]) || !isnan(room[each + i])) {
            const double d = fabs(room[i] - room[each + i]);
            if (!(d <= worst)) worst = d;
        }
    CHECK_MSG(worst <= 1e-11, "estimator %d, %zu x %zu, two %d, loo %d: %g", which, P, Q, two, loo, worst);
    if (B != A) free(B);
    free(A), free(room);
}

TEST(estimators) {
    bed b;
    if (!make_bed(&b)) SKIP("no GPU; nothing can be done");
    /* all in tiles; the smaller matrices there; all there, of which few at a time; also those of n = 5 */
    static const size_t some[] = {100, 500, 2400, 30000};
    for (int r = 0; r < 4; r++) {
        b.run.device->streamed = some[r];
        for (int which = 0; which < ESTIMATORS; which++)
            for (int two = 0; two < 2; two++)
                for (int loo = 0; loo < 2; loo++) {
                    compare(&b, which, 33, 12, two, loo);
                    if (!small_only) compare(&b, which, 25, 60, two, loo);
                }
    }
    ks_placement_close(&b.place);
}

/* ---- moving ---- */

/* How a device is in the way: page-locking is allowed, refused, or every other time; memory runs out */
typedef struct {
    size_t share; /* 0: so little that matrices move */
    int refuse, scarce;
} obstacle;

/* Around the plugin: what it is asked for */
static struct {
    const ks_plugin *inner;
    const ks_device *device;
    obstacle o;
    const double *data;
    int asked, locked, unlocked, moved, denied;
} seen;

static ks_plugin_status lock(ks_gpu *gpu, void *p, size_t bytes) {
    const int no = seen.o.refuse == 1 || (seen.o.refuse == 2 && seen.asked % 2);
    const ks_plugin_status st = no ? KS_PLUGIN_NOMEM : seen.inner->lock(gpu, p, bytes);
    CHECK(p != seen.data); /* the caller's stays as it is */
    seen.asked++, seen.locked += !st;
    return st;
}

static void unlock(ks_gpu *gpu, void *p) {
    seen.unlocked++;
    seen.inner->unlock(gpu, p);
}

static ks_plugin_status move(ks_gpu *gpu, double *to, const double *from, size_t count, size_t step) {
    seen.moved += step == 1; /* not a diagonal */
    return seen.inner->get(gpu, to, from, count, step);
}

/* Scarce: now and then there is no room while others than the operation's own are there */
static ks_plugin_status take(ks_gpu *gpu, size_t bytes, void **out) {
    const ks_device *d = seen.device;
    const size_t own = d->streamed / 4 * 7 * sizeof(double);
    if (!seen.o.share) CHECK(d->taken + bytes <= 2 * d->streamed * sizeof(double));
    if (!seen.o.scarce || d->taken <= own || ++seen.denied % 3) return seen.inner->alloc(gpu, bytes, out);
    *out = NULL;
    return KS_PLUGIN_NOMEM;
}

/* However few are there at a time, and whichever of them are page-locked: the same bits */
TEST(moving) {
    static const obstacle obstacles[] = {{1 << 30, 0, 0}, {0, 0, 0}, {0, 1, 0}, {0, 2, 0}, {1 << 30, 0, 1}};
    bed b;
    if (!make_bed(&b)) SKIP("no GPU; nothing can be done");
    enum { P = 35, Q = 27, N = 4, ALL = N * (1 + P + Q) };
    ks_device *d = b.run.device;
    double *A = matrix(7, P, Q), room[2][ALL];
    const ks_pair p = {A, A, P, Q, N};
    const ks_plugin *inner = d->plugin;
    ks_plugin around = *inner;
    around.lock = lock, around.unlock = unlock, around.get = move, around.alloc = take;
    d->plugin = &around;
    const size_t least = ks_resident_lock_least;
    ks_resident_lock_least = 1;
    for (int which = 0; which < ESTIMATORS; which++)
        for (int k = 0; k < 9; k++) { /* all there; the larger ones in tiles, not scarce */
            const int tiles = k / 5, first = k % 5 == 0;
            double *at = room[!first];
            const ks_moments_out out = {at, at + N, at + N + N * P};
            kspec_error err = {0};
            seen.inner = inner, seen.device = d, seen.o = obstacles[k % 5], seen.data = A;
            seen.asked = seen.locked = seen.moved = seen.denied = 0;
            d->streamed = tiles ? 1600 : 2400, d->share = seen.o.share;
            memset(at, 0, sizeof room[0]);
            CHECK_MSG(estimate(which, &b.run, &p, &out, &err) == KSPEC_OK, "%s", err.msg);
            CHECK(d->resident == NULL && d->taken == 0);
            CHECK_MSG(memcmp(room[0], at, sizeof room[0]) == 0, "estimator %d, %d", which, k);
            CHECK((seen.locked > 0) == (seen.asked > (seen.o.refuse == 1 ? INT_MAX - 1 : 0)));
            if (first && !tiles && which != NAIVE) /* which turns the data there */
                CHECK_MSG(seen.moved == 0, "estimator %d: %d copies out", which, seen.moved);
            if (!first && !tiles && (which == EXACT || which == KV)) /* they have matrices enough */
                CHECK_MSG(seen.moved > 0 && (seen.asked > 1 || seen.o.scarce), "estimator %d, %d: %d copies",
                          which, k, seen.moved);
            if (seen.o.scarce && which == EXACT && !tiles) CHECK(seen.denied > 3);
        }
    CHECK(seen.unlocked > 0);
    ks_resident_lock_least = least;
    d->plugin = inner;
    ks_placement_close(&b.place);
    free(A);
}

/* ---- failures ---- */

TEST(failures) {
    bed b;
    if (!make_bed(&b)) SKIP("no GPU; nothing can be done");
    enum { P = 15, Q = 11, N = 4 };
    double *A = matrix(1, P, Q), room[N * (1 + P + Q)];
    const ks_pair p = {A, A, P, Q, N};
    const ks_moments_out out = {room, room + N, room + N + N * P};
    ks_device *d = b.run.device;
    const size_t before = ks_device_available(d);
    failing_alloc_install();
    for (int w = 0; w < 6; w++) { /* the host's memory, the device's, and every report cancels */
        const int what = w % 3;
        long k = 0, left;
        d->streamed = w < 3 ? 200 : 500; /* in tiles; moving */
        for (;; k += k < (is_plain(&b) ? 60 : 12) ? 1 : is_plain(&b) ? 17 : 293) {
            kspec_error err = {0};
            left = k;
            if (what == 0) failing_alloc_arm(k);
            if (what == 1) d->plugin->fail_after(d->gpu, k);
            b.run.progress = (kspec_progress){what == 2 ? stop_at : NULL, &left};
            kspec_status st = estimate(EXACT, &b.run, &p, &out, &err);
            d->plugin->fail_after(d->gpu, -1);
            failing_alloc_disarm();
            CHECK(failing_alloc_live() == 0 && d->resident == NULL && d->taken == 0);
            if (is_plain(&b)) CHECK(ks_device_available(d) == before);
            if (st == KSPEC_OK || k > 20000) break;
            CHECK_MSG(st == (what == 2 ? KSPEC_E_CANCELLED : KSPEC_E_NOMEM), "%d: %s", what, err.msg);
            if (what == 1) CHECK(d->failed && strncmp(err.msg, "gpu:0", 5) == 0);
            d->failed = 0;
        }
        CHECK_MSG(k > 60 && k <= 20000, "%ld", k);
    }
    failing_alloc_uninstall();
    ks_placement_close(&b.place);
    free(A);
}

/* ---- the call ---- */

static void same(const kspec_moments_result *x, const kspec_moments_result *y) {
    CHECK(x->count == y->count);
    for (size_t k = 0; k < x->count; k++) {
        CHECK_CLOSE(x->estimates[k]->value, y->estimates[k]->value, 1e-10);
        CHECK_CLOSE(x->estimates[k]->std_error, y->estimates[k]->std_error, 1e-8);
    }
}

/* KSPEC_GPU_MEMORY in GB: what the call says, and that its numbers are the processor's */
TEST(calls) {
    bed b;
    if (!make_bed(&b)) SKIP("no GPU; nothing can be done");
    enum { P = 60, Q = 50 };
    double *A = matrix(3, P, Q);
    void *there = NULL;
    ks_device *d = b.place.device;
    CHECK(d->plugin->alloc(d->gpu, P * Q * sizeof *A, &there) == KS_PLUGIN_OK);
    CHECK(d->plugin->put(d->gpu, there, A, P * Q) == KS_PLUGIN_OK);
    kspec_matrix phi = {A, P, Q, Q, 1};
    kspec_moments_result *cpu, *gpu;
    kspec_error err;
    const kspec_moments_opts plain = {.size = sizeof plain, .nmax = 4, .device = KSPEC_DEVICE_CPU};
    for (int which = 0; which < 3; which++) {
        kspec_moments_opts o = plain;
        o.estimators = which == 0   ? KSPEC_ESTIMATOR_EXACT
                       : which == 1 ? KSPEC_ESTIMATOR_NAIVE | KSPEC_ESTIMATOR_KV_ROW
                                    : KSPEC_ESTIMATOR_EXACT | KSPEC_ESTIMATOR_PATH;
        /* 100 kB: less than the matrices of each; with path, what it takes, and no more */
        setenv("KSPEC_GPU_MEMORY", which == 2 && !is_plain(&b) ? "0.02" : "1e-4", 1);
        CHECK(kspec_moments(&phi, 1, &o, &cpu, &err) == KSPEC_OK);
        for (int lent = 0; lent < 2; lent++) {
            kspec_matrix at = phi;
            o.device = KSPEC_DEVICE_GPU;
            o.data_memory = lent ? KSPEC_MEMORY_DEVICE : KSPEC_MEMORY_HOST;
            if (lent) at.data = there;
            const kspec_status st = kspec_moments(&at, 1, &o, &gpu, &err);
            CHECK_MSG(st == KSPEC_OK, "%s", err.msg);
            if (st) continue;
            const int streamed = which < 2 || is_plain(&b);
            if (streamed)
                CHECK_MSG(strstr(gpu->device.why, "; kspec keeps the matrices in host memory"), "%s",
                          gpu->device.why);
            CHECK(strncmp(gpu->device.name, "gpu:0 ", 6) == 0);
            same(gpu, cpu);
            kspec_free(gpu);
        }
        kspec_free(cpu);
    }
    kspec_moments_opts o = plain;
    o.device = KSPEC_DEVICE_GPU;
    setenv("KSPEC_GPU_MEMORY", "lots", 1);
    CHECK(kspec_moments(&phi, 1, &o, &gpu, &err) == KSPEC_E_ARG);
    CHECK_MSG(strstr(err.msg, "KSPEC_GPU_MEMORY: 'lots' must be a number of GB above 0"), "%s", err.msg);
    unsetenv("KSPEC_GPU_MEMORY");
    d->plugin->release(d->gpu, there);
    ks_placement_close(&b.place);
    free(A);
}

static void all(void) {
    RUN(products);
    RUN(moving);
    if (tiny) return;
    RUN(estimators);
    if (!small_only || SANITIZED) RUN(failures);
    RUN(calls);
}

static void before(void) { RUN(room); }

int main(int argc, char **argv) { return bed_main(argc, argv, before, all); }
