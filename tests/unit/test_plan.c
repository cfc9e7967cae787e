/*
 * What is planned for which matrix, without computing anything; and that path takes no more memory than it
 * says.
 */
#include "oracle/brute.h"
#include "help/failing_alloc.h"
#include "help/heap.h"
#include "moments/plan.h"
#include "test.h"

/* The list of tasks, whose plan of exact is not kept. */
static kspec_status make(kspec_moments_opts *o, size_t P, size_t Q, size_t repeats, int two, ks_tasks *t,
                         kspec_error *e) {
    kspec_status st = ks_tasks_make(o, P, Q, repeats, two, NULL, t, e);
    ks_tasks_free(t);
    return st;
}

static ks_tasks plan(kspec_moments_opts o, size_t P, size_t Q, size_t repeats, int two) {
    ks_tasks t;
    kspec_error e = {0};
    CHECK_MSG(make(&o, P, Q, repeats, two, &t, &e) == KSPEC_OK, "%s", e.msg);
    return t;
}

static void check_task(const ks_task *t, kspec_estimator label, int first, int last, int permutations) {
    CHECK_MSG(t->label == label && t->first == first && t->last == last && t->permutations == permutations,
              "%s, orders %d to %d, %d permutations", kspec_name(KSPEC_NAMES_ESTIMATOR, t->label), t->first,
              t->last, t->permutations);
}

/*
 * exact is planned, or not, by the memory of a GPU that is asked for by name, or by the host's where that is
 * more.
 */
static size_t gpu_memory;
static size_t gpu_available(ks_gpu *gpu) {
    (void)gpu;
    return gpu_memory;
}

TEST(memory_of_a_device) {
    const ks_plugin plugin = {.version = KS_PLUGIN_VERSION, .available = gpu_available};
    const ks_device device = {.plugin = &plugin};
    const unsigned by_name[] = {KSPEC_ESTIMATOR_EXACT, KSPEC_ESTIMATOR_NAIVE, KSPEC_ESTIMATOR_KV_ROW};
    const size_t large = 2000000; /* whose Gram matrix no host holds */
    ks_tasks t;
    kspec_error e = {0};
    for (int k = 0; k < 3; k++) {
        kspec_moments_opts o = {.nmax = 4, .estimators = by_name[k]};
        gpu_memory = SIZE_MAX;
        CHECK_MSG(!ks_tasks_make(&o, large, large, 1, 0, &device, &t, &e), "%s", e.msg);
        check_task(&t.task[0], by_name[k], 1, 4, 0);
        ks_tasks_free(&t);
        CHECK(make(&o, large, large, 1, 0, &t, &e) != KSPEC_OK);
    }
    kspec_moments_opts o = {.nmax = 4, .estimators = KSPEC_ESTIMATOR_EXACT};
    /* auto takes no more than 4 GB for exact of a sample, whatever there is: the same on every machine */
    kspec_moments_opts automatic = {.nmax = 4};
    CHECK_MSG(!ks_tasks_make(&automatic, 20000, 20000, 1, 0, &device, &t, &e), "%s", e.msg);
    CHECK_MSG(t.task[0].last < 4 && t.task[t.count - 1].label == KSPEC_ESTIMATOR_PATH, "exact to order %d",
              t.task[0].last);
    ks_tasks_free(&t);
    automatic = (kspec_moments_opts){.nmax = 4, .sampled = KSPEC_SAMPLED_ROWS};
    CHECK_MSG(!ks_tasks_make(&automatic, 20000, 20000, 1, 0, &device, &t, &e), "%s", e.msg);
    check_task(&t.task[0], KSPEC_ESTIMATOR_EXACT, 1, 4, 0);
    ks_tasks_free(&t);
    gpu_memory = 10000000; /* its matrices are the host's, then */
    CHECK_MSG(!ks_tasks_make(&o, 1000, 1000, 1, 0, &device, &t, &e), "%s", e.msg);
    check_task(&t.task[0], KSPEC_ESTIMATOR_EXACT, 1, 4, 0);
    ks_tasks_free(&t);
    CHECK(ks_tasks_make(&o, large, large, 1, 0, &device, &t, &e) == KSPEC_E_ARG);
    CHECK_MSG(strstr(e.msg, "MB that are available") && !strstr(e.msg, "or the 10.0 MB"), "%s", e.msg);
    ks_tasks_free(&t);
    CHECK(!make(&o, 1000, 1000, 1, 0, &t, &e));
    ks_tasks_free(&t);
}

TEST(auto_takes_exact_where_it_can) {
    ks_tasks t = plan((kspec_moments_opts){0}, 300, 600, 1, 0);
    CHECK(t.count == 2 && !t.transposed);
    check_task(&t.task[0], KSPEC_ESTIMATOR_EXACT, 1, 5, 0);
    check_task(&t.task[1], KSPEC_ESTIMATOR_PATH, 6, 6, 8);
    t = plan((kspec_moments_opts){.nmax = 8}, 1000, 1000, 1, 0); /* order 5 would take 1e12 and more */
    check_task(&t.task[0], KSPEC_ESTIMATOR_EXACT, 1, 4, 0);
    check_task(&t.task[1], KSPEC_ESTIMATOR_PATH, 5, 8, 3); /* as many orders as a few seconds allow */
    t = plan((kspec_moments_opts){0}, 1000, 1000, 8,
             1); /* eight splits of trials: each has an order of its own */
    check_task(&t.task[0], KSPEC_ESTIMATOR_EXACT, 1, 3, 0); /* and exact is paid for eight times */
    check_task(&t.task[1], KSPEC_ESTIMATOR_PATH, 4, 6, 1);
    t = plan((kspec_moments_opts){.nmax = 3}, 5, 4, 1, 0);
    CHECK(t.count == 1);
    t = plan((kspec_moments_opts){0}, 1, 1, 1, 0);
    check_task(&t.task[0], KSPEC_ESTIMATOR_EXACT, 1, 1, 0);
}

/* A few seconds on a recording of usual size; more where it is asked for, less likewise. */
TEST(effort) {
    ks_tasks t = plan((kspec_moments_opts){0}, 3200, 168, 1, 0);
    check_task(&t.task[0], KSPEC_ESTIMATOR_EXACT, 1, 4, 0);
    check_task(&t.task[1], KSPEC_ESTIMATOR_PATH, 5, 6, 8);
    t = plan((kspec_moments_opts){.effort = 10}, 3200, 168, 1, 0);
    check_task(&t.task[0], KSPEC_ESTIMATOR_EXACT, 1, 5, 0);
    check_task(&t.task[1], KSPEC_ESTIMATOR_PATH, 6, 6, 8);
    t = plan((kspec_moments_opts){.effort = 0.1}, 3200, 168, 1, 0);
    check_task(&t.task[1], KSPEC_ESTIMATOR_PATH, 4, 6, 4);
    t = plan((kspec_moments_opts){.effort = 3, .nmax = 8}, 1000, 1000, 1, 0);
    check_task(&t.task[1], KSPEC_ESTIMATOR_PATH, 5, 8, 8);
    kspec_error e;
    for (int k = 0; k < 3; k++) {
        kspec_moments_opts o = {.size = sizeof o, .effort = (const double[]){-1, NAN, INFINITY}[k]};
        CHECK_FAILS(make(&o, 10, 10, 1, 0, &t, &e), KSPEC_E_ARG, e, "must be a number above 0");
    }
}

TEST(auto_leaves_exact_on_large_data) {
    ks_tasks t = plan((kspec_moments_opts){0}, 50000, 2000, 1, 0);
    CHECK(t.count == 2 && t.transposed);
    check_task(&t.task[0], KSPEC_ESTIMATOR_EXACT, 1, 3, 0); /* 1.5e12, where path takes several times that */
    check_task(&t.task[1], KSPEC_ESTIMATOR_PATH, 4, 6, 0);  /* one order, which is the given one */
    t = plan((kspec_moments_opts){.side = KSPEC_SIDE_GIVEN, .no_stderr = 1}, 50000, 2000, 1, 0);
    CHECK(!t.transposed);
}

TEST(one_side_complete) {
    ks_tasks t = plan((kspec_moments_opts){.sampled = KSPEC_SAMPLED_COLS}, 5000, 100, 1, 0);
    check_task(&t.task[0], KSPEC_ESTIMATOR_EXACT, 1, 5, 0);
    check_task(&t.task[1], KSPEC_ESTIMATOR_KV_COL, 6, 6, 8);
    t = plan((kspec_moments_opts){.sampled = KSPEC_SAMPLED_ROWS,
                                  .estimators = KSPEC_ESTIMATOR_PATH,
                                  .permutations = 3},
             50, 10, 1, 0);
    check_task(&t.task[0], KSPEC_ESTIMATOR_PATH, 1, 6, 3);
    CHECK(t.task[0].method == KSPEC_ESTIMATOR_KV_ROW);
}

TEST(nothing_twice) { /* auto beside path or exact adds only what they do not give */
    ks_tasks t =
        plan((kspec_moments_opts){.estimators = KSPEC_ESTIMATOR_AUTO | KSPEC_ESTIMATOR_PATH, .nmax = 7}, 100,
             100, 1, 0);
    CHECK(t.count == 2);
    check_task(&t.task[0], KSPEC_ESTIMATOR_PATH, 1, 7, 0);
    check_task(&t.task[1], KSPEC_ESTIMATOR_EXACT, 1, 5, 0);
}

TEST(what_cannot_be_done) {
    kspec_error e;
    ks_tasks t;
    kspec_moments_opts o = {.size = sizeof o, .estimators = KSPEC_ESTIMATOR_EXACT, .nmax = 6};
    CHECK_FAILS(make(&o, 100, 100, 1, 0, &t, &e), KSPEC_E_ARG, e, "exact: order 6 exceeds 5");
    o.nmax = 5;
    CHECK_FAILS(make(&o, 20000, 20000, 1, 0, &t, &e), KSPEC_E_ARG, e, "multiply-adds");
    o.nmax = 0; /* no order asked for: what it can */
    CHECK(make(&o, 3000, 3000, 1, 0, &t, &e) == KSPEC_OK && t.task[0].last == 4);
    o = (kspec_moments_opts){.size = sizeof o, .estimators = KSPEC_ESTIMATOR_KV_ROW};
    CHECK_FAILS(make(&o, 10000000, 10, 1, 0, &t, &e), KSPEC_E_NOMEM, e, "MB are available");
    o = (kspec_moments_opts){.size = sizeof o, .permutations = -1};
    CHECK_FAILS(make(&o, 10, 10, 1, 0, &t, &e), KSPEC_E_ARG, e, "permutations -1");
    o = (kspec_moments_opts){.size = sizeof o, .side = (kspec_side)7};
    CHECK_FAILS(make(&o, 10, 10, 1, 0, &t, &e), KSPEC_E_ARG, e, "side 7");
    o = (kspec_moments_opts){.size = sizeof o, .sampled = (kspec_sampled)7};
    CHECK_FAILS(make(&o, 10, 10, 1, 0, &t, &e), KSPEC_E_ARG, e, "sampled 7");
}

/* The widest matrix of 60 rows on which AUTO takes exact to order 5: 4 GB decide, at any thread count. */
TEST(auto_does_the_same_at_any_thread_count) {
    size_t most[3], at = 0;
    for (int threads = 1; threads <= 16; threads *= 4) {
        size_t low = 1000, high = 10000;
        while (high - low > 1) {
            const size_t Q = (low + high) / 2;
            ks_tasks t =
                plan((kspec_moments_opts){.nmax = 5, .effort = 100, .threads = threads}, 60, Q, 1, 0);
            *(t.task[0].last == 5 ? &low : &high) = Q;
        }
        most[at++] = low;
    }
    CHECK_MSG(most[0] > 3000 && most[0] < 9000 && most[1] == most[0] && most[2] == most[0], "%zu %zu %zu",
              most[0], most[1], most[2]);
}

/* ---- memory of path: O(n (P+Q)) registers a thread, no copy of the matrix ---- */

TEST(path_needs_little_memory) {
    const size_t shapes[][2] = {{3000, 300}, {300, 3000}, {1200, 1200}};
    for (size_t k = 0; k < 3; k++) {
        size_t P = shapes[k][0], Q = shapes[k][1];
        double *x = malloc(P * Q * sizeof *x);
        brute_matrix(k + 1, P * Q, x);
        kspec_matrix phi = {x, P, Q, (ptrdiff_t)Q, 1};
        kspec_moments_opts o = {.size = sizeof o,
                                .nmax = 4,
                                .estimators = KSPEC_ESTIMATOR_PATH,
                                .side = KSPEC_SIDE_GIVEN,
                                .threads = 1,
                                .no_stderr = 1};
        kspec_moments_result *r;
        heap_install();
        CHECK(kspec_moments(&phi, 1, &o, &r, NULL) == KSPEC_OK);
        kspec_free(r);
        heap_uninstall();
        double allowed = 3.0 * 8 * 8 * 4 * (double)(P + Q) + 65536; /* 3 n (P+Q) registers of 8 doubles */
        CHECK_MSG((double)heap.peak < allowed, "%zu x %zu: %zu bytes, %g allowed", P, Q, heap.peak, allowed);
        CHECK(heap.live == 0);
        free(x);
    }
}

int main(void) {
    RUN(memory_of_a_device);
    RUN(auto_takes_exact_where_it_can);
    RUN(effort);
    RUN(auto_does_the_same_at_any_thread_count);
    RUN(auto_leaves_exact_on_large_data);
    RUN(one_side_complete);
    RUN(nothing_twice);
    RUN(what_cannot_be_done);
    RUN(path_needs_little_memory);
    return test_done();
}
