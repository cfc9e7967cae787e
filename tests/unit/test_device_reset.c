/*
 * A context that another part of the program resets, by cuDevicePrimaryCtxReset(), as cudaDeviceReset() does:
 * between calls it does no harm, and within a call, from its own progress report, it is an error, or under
 * AUTO the processor's. CUDA allows no more: what another thread resets while this one is inside CUDA is
 * undefined.
 */
#include "test.h"

#include "kspec.h"
#include "kspec/host.h"

#include <dlfcn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int (*reset_context)(int device);

static int find_reset(void) {
    void *driver = dlopen("libcuda.so.1", RTLD_NOW);
    void *symbol = driver ? dlsym(driver, "cuDevicePrimaryCtxReset_v2") : NULL;
    memcpy(&reset_context, &symbol, sizeof symbol);
    return symbol && kspec_gpu();
}

/* Resets at a call's report number `at`; 0: never */
typedef struct {
    int at, reports;
} trap;

static int report(void *ctx, double fraction) {
    trap *t = ctx;
    (void)fraction;
    if (++t->reports == t->at) reset_context(0);
    return 0;
}

enum { P = 700, Q = 600, CALLS = 5 };
static double x[P * Q];

static kspec_status moments(unsigned estimators, int no_stderr, kspec_device device, trap *t, double *value,
                            kspec_device_used *used, kspec_error *err) {
    const kspec_matrix phi = {x, P, Q, Q, 1};
    const kspec_moments_opts o = {.size = sizeof o,
                                  .nmax = 4,
                                  .estimators = estimators,
                                  .no_stderr = no_stderr,
                                  .device = device,
                                  .progress = {report, t}};
    kspec_moments_result *r;
    kspec_status st = kspec_moments(&phi, 1, &o, &r, err);
    if (st) return st;
    *value = r->estimates[r->count - 1]->value;
    *used = r->device;
    kspec_free(r);
    return KSPEC_OK;
}

static kspec_status norm(trap *t, double *value, kspec_error *err) {
    const kspec_matrix rows = {x, P * Q / 12, 12, 12, 1};
    const kspec_norm_opts o = {.size = sizeof o,
                               .methods = KSPEC_NORM_METHOD_LANCZOS,
                               .device = KSPEC_DEVICE_GPU,
                               .progress = {report, t}};
    kspec_norm_result *r;
    kspec_status st = kspec_norm(&rows, &o, &r, err);
    if (st) return st;
    *value = r->entries[0]->value;
    kspec_free(r);
    return KSPEC_OK;
}

static kspec_status one(int what, trap *t, double *value, kspec_error *err) {
    kspec_device_used used;
    if (what == 3) return norm(t, value, err);
    if (what == 4) setenv("KSPEC_GPU_MEMORY", "0.02", 1); /* matrices move, and are page-locked */
    const kspec_status st = moments(what == 2 || what == 4 ? KSPEC_ESTIMATOR_EXACT : KSPEC_ESTIMATOR_PATH,
                                    what == 0, KSPEC_DEVICE_GPU, t, value, &used, err);
    unsetenv("KSPEC_GPU_MEMORY");
    if (what == 4 && !st) CHECK(strstr(used.why, "kspec keeps the matrices in host memory"));
    return st;
}

TEST(between_calls) {
    for (int what = 0; what < CALLS; what++) {
        trap none = {0, 0};
        double first = 0, again = 1;
        kspec_error err = {0};
        CHECK_MSG(one(what, &none, &first, &err) == KSPEC_OK, "%d: %s", what, err.msg);
        CHECK(reset_context(0) == 0);
        CHECK_MSG(one(what, &none, &again, &err) == KSPEC_OK, "%d, after the reset: %s", what, err.msg);
        CHECK(memcmp(&first, &again, sizeof first) == 0);
    }
}

/* At each report in turn: the call fails and says why, or had no more to do there; the next one works. */
TEST(within_a_call) {
    for (int what = 0; what < CALLS; what++) {
        trap none = {0, 0};
        double first = 0, value;
        int failed = 0;
        kspec_error err = {0};
        CHECK_MSG(one(what, &none, &first, &err) == KSPEC_OK, "%d: %s", what, err.msg);
        for (int at = 1, step = 1; at <= none.reports; at += step, step += at > 6 ? step : 0) {
            trap t = {at, 0};
            kspec_status st = one(what, &t, &value, &err);
            if (st)
                CHECK_MSG(strstr(err.msg, "another part of this program has reset the GPU"), "%s", err.msg);
            if (!st) CHECK(memcmp(&first, &value, sizeof first) == 0);
            failed += st != KSPEC_OK;
            trap quiet = {0, 0};
            CHECK_MSG(one(what, &quiet, &value, &err) == KSPEC_OK, "%d after %d: %s", what, at, err.msg);
            CHECK(memcmp(&first, &value, sizeof first) == 0);
        }
        CHECK_MSG(failed > 0, "%d: of %d reports", what, none.reports);
    }
}

/* A child for each, so that a crash is a failure like another one */
static int apart(void (*test)(void), const char *name) {
    int status = 0;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        if (!find_reset()) _exit(77);
        for (size_t i = 0; i < P * Q; i++)
            x[i] = sin(0.37 * (double)i + 1e-4 * (double)(i % 977) * (double)i);
        test();
        const int bad = test_done();
        fflush(stdout);
        _exit(bad);
    }
    waitpid(child, &status, 0);
    if (WIFEXITED(status)) return WEXITSTATUS(status);
    printf("FAILED %s: signal %d\n", name, WTERMSIG(status));
    return 1;
}

static void first_test(void) { RUN(between_calls); }
static void second_test(void) { RUN(within_a_call); }

int main(void) {
    const int first = apart(first_test, "between_calls"), second = apart(second_test, "within_a_call");
    if (first == 77 && second == 77)
        printf("skip: there is no GPU that kspec can use; run it on a machine with one\n");
    return first ? first : second;
}
