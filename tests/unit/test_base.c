#include "base/cpu.h"
#include "base/matrix.h"
#include "base/sort.h"
#include "help/isa.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "help/failing_alloc.h"
#include "help/locale.h"
#include "test.h"
#include "kspec/host.h"

#include <limits.h>
#include <pthread.h>

/* Whatever is in it, a message is letters, and its numbers have decimal points. */
TEST(messages_are_fit_for_a_terminal) {
    kspec_error err;
    ks_fail(&err, KSPEC_E_ARG, "%s",
            "a\nb\033[1mc\x7f d\xc2\x9b"
            "31m e\x9b f\xc3\x97 \xe2\x80\xa6 \xff \xed\xa0\x80");
    CHECK_MSG(strcmp(err.msg, "a?b?[1mc? d??31m e? f\xc3\x97 \xe2\x80\xa6 ? ???") == 0, "%s", err.msg);
    char text[700];
    memset(text, 'x', sizeof text);
    memcpy(text + 510, "\xc3\x97", 3); /* cut in the middle */
    ks_fail(&err, KSPEC_E_ARG, "%s", text);
    CHECK(strlen(err.msg) == 511 && err.msg[510] == '?');
    int set = set_comma_locale();
    ks_fail(&err, KSPEC_E_ARG, "%g s", 1.5);
    setlocale(LC_ALL, "C");
    CHECK_MSG(strcmp(err.msg, "1.5 s") == 0, "%s", err.msg);
    if (!set) SKIP(NO_COMMA_LOCALE);
}

TEST(sizes_saturate) {
    CHECK(ks_size(3, 7) == 21);
    CHECK(ks_size(SIZE_MAX, 2) == SIZE_MAX);
    CHECK(ks_size(0, SIZE_MAX) == 0);
    CHECK(ks_size_add(SIZE_MAX - 1, 2) == SIZE_MAX);
    CHECK(ks_alloc(SIZE_MAX / 4, 8) == NULL);
    CHECK(ks_alloc(SIZE_MAX, 1) == NULL);
    void *p = ks_alloc(0, 8); /* zero bytes are no failure */
    CHECK(p != NULL);
    ks_free(p);
}

TEST(arena_aligns_and_fails_once) {
    ks_arena a = {0};
    for (size_t n = 1; n < 2000; n = n * 3 + 1) {
        unsigned char *p = ks_arena_zalloc(&a, n, 1);
        CHECK(p && (uintptr_t)p % KS_ALIGN == 0 && p[0] == 0 && p[n - 1] == 0);
    }
    CHECK(a.failed == 0);
    CHECK(ks_arena_alloc(&a, SIZE_MAX / 2, 8) == NULL);
    CHECK(a.failed == SIZE_MAX);
    CHECK(ks_arena_alloc(&a, 1, 1) == NULL); /* after one failure all fail */
    ks_arena_free(&a);
    CHECK(a.blocks == NULL && a.failed == 0);
}

TEST(messages_name_value_and_bound) {
    kspec_error e = {0};
    CHECK(ks_fail(&e, KSPEC_E_ARG, "order %d exceeds %d", 9, 8) == KSPEC_E_ARG);
    CHECK(e.code == KSPEC_E_ARG && strcmp(e.msg, "order 9 exceeds 8") == 0);
    CHECK(ks_fail(NULL, KSPEC_E_IO, "x") == KSPEC_E_IO);
    char longer[2000];
    memset(longer, 'a', sizeof longer);
    longer[sizeof longer - 1] = 0;
    ks_fail(&e, KSPEC_E_IO, "%s", longer);
    CHECK(strlen(e.msg) == sizeof e.msg - 1);
    for (int s = 0; s <= KSPEC_E_CANCELLED + 1; s++)
        CHECK(kspec_name(KSPEC_NAMES_STATUS, (kspec_status)s)[0] != 0);
}

typedef struct {
    size_t size;
    int a, b;
} opts_old;
typedef struct {
    size_t size;
    int a, b, c, d;
} opts_new;

TEST(options_of_older_and_newer_callers) {
    opts_new o = {.c = 5};
    kspec_error e;
    opts_old old = {sizeof old, 1, 2};
    CHECK(ks_take_opts(&o, sizeof o, &old, &e) == KSPEC_OK && o.a == 1 && o.b == 2 && o.c == 0 && o.d == 0);
    CHECK(ks_take_opts(&o, sizeof o, NULL, &e) == KSPEC_OK && o.a == 0);
    struct {
        opts_new n;
        long more;
    } newer = {.n = {.size = sizeof newer}};
    CHECK(ks_take_opts(&o, sizeof o, &newer, &e) == KSPEC_OK); /* what is not known here is zero */
    newer.more = 1;
    CHECK_FAILS(ks_take_opts(&o, sizeof o, &newer, &e), KSPEC_E_ARG, e, "is set, but this library");
    newer.n.size = 4097;
    CHECK_FAILS(ks_take_opts(&o, sizeof o, &newer, &e), KSPEC_E_ARG, e, "size field");
    old.size = 0;
    CHECK_FAILS(ks_take_opts(&o, sizeof o, &old, &e), KSPEC_E_ARG, e, "size field is 0");
}

/* ---- parallel-for ---- */

typedef struct {
    double sums[1000];
    int busy[16], clashes, fail_from;
    pthread_t main_thread;
} loop_test;

static kspec_status add_up(void *ctx, size_t chunk, const ks_worker *worker) {
    loop_test *t = ctx;
    if (__atomic_fetch_add(&t->busy[worker->index], 1, __ATOMIC_SEQ_CST))
        __atomic_fetch_add(&t->clashes, 1, __ATOMIC_SEQ_CST);
    double s = 0;
    for (int k = 1; k < 2000; k++) s += 1.0 / (k + (double)chunk);
    t->sums[chunk] += s;
    __atomic_fetch_sub(&t->busy[worker->index], 1, __ATOMIC_SEQ_CST);
    return t->fail_from && chunk >= (size_t)t->fail_from ? (chunk % 2 ? KSPEC_E_NUMERIC : KSPEC_E_NOMEM)
                                                         : KSPEC_OK;
}

TEST(every_chunk_once_whatever_the_threads) {
    static loop_test one, many;
    kspec_error e;
    for (int threads = 1; threads <= 16; threads++) {
        memset(&many, 0, sizeof many);
        ks_run run;
        CHECK(ks_run_init(&run, threads, (kspec_progress){0}, &e) == KSPEC_OK);
        CHECK(ks_parallel_for(&run, 1000, add_up, &many, &e) == KSPEC_OK);
        if (threads == 1) one = many;
        CHECK(memcmp(one.sums, many.sums, sizeof one.sums) == 0);
        CHECK(many.clashes == 0);
    }
    ks_run run = {4, {0}, 0, 1};
    CHECK(ks_parallel_for(&run, 0, add_up, &many, &e) == KSPEC_OK);
    CHECK(ks_workers(&run, 2) == 2 && ks_workers(&run, 9) == 4 && ks_workers(&run, 0) == 1);
}

TEST(the_lowest_failing_chunk_decides) {
    static loop_test t;
    kspec_error e;
    for (int threads = 1; threads <= 8; threads++) {
        memset(&t, 0, sizeof t);
        t.fail_from = 7; /* odd: numeric; later ones fail differently */
        ks_run run = {threads, {0}, 0, 1};
        CHECK(ks_parallel_for(&run, 1000, add_up, &t, &e) == KSPEC_E_NUMERIC);
        CHECK(t.sums[999] == 0);
    }
}

typedef struct {
    double last, stop_after;
    pthread_t caller;
} progress_test;

static int watch(void *ctx, double f) {
    progress_test *p = ctx;
    CHECK(f >= p->last && f <= 1 && pthread_equal(p->caller, pthread_self()));
    p->last = f;
    return f > p->stop_after;
}

TEST(progress_rises_and_cancels) {
    static loop_test t;
    kspec_error e;
    for (int threads = 1; threads <= 4; threads++) {
        progress_test p = {0, 2, pthread_self()};
        ks_run run = {threads, {watch, &p}, 0, 1};
        CHECK(ks_parallel_for(&run, 1000, add_up, &t, &e) == KSPEC_OK);
        p = (progress_test){0, -1, pthread_self()}; /* at once */
        memset(&t, 0, sizeof t);
        CHECK_FAILS(ks_parallel_for(&run, 1000, add_up, &t, &e), KSPEC_E_CANCELLED, e, "cancelled");
        CHECK(t.sums[999] == 0);
    }
    progress_test half = {0, 0.5, pthread_self()}; /* with one thread, after half of the chunks */
    memset(&t, 0, sizeof t);
    CHECK(ks_parallel_for(&(ks_run){1, {watch, &half}, 0, 1}, 1000, add_up, &t, &e) == KSPEC_E_CANCELLED);
    CHECK(t.sums[500] > 0 && t.sums[501] == 0);
    ks_run part = ks_run_part(&(ks_run){1, {0}, 0.5, 1}, 0.5, 1);
    CHECK_CLOSE(part.from, 0.75, 1e-15);
    CHECK_CLOSE(part.to, 1, 1e-15);
}

/* ---- loops that follow each other ---- */

enum { STEPS = 60 };

typedef struct {
    size_t width[STEPS], made[STEPS], asked[STEPS], early, fail_at;
    double sums[STEPS][20];
} steps_test;

/* What a step needs of the one before it: all of it */
static void is_done(steps_test *t, size_t step) {
    if (step && __atomic_load_n(&t->made[step - 1], __ATOMIC_SEQ_CST) != t->width[step - 1])
        __atomic_fetch_add(&t->early, 1, __ATOMIC_SEQ_CST);
}

static size_t width_of(void *ctx, size_t step) {
    steps_test *t = ctx;
    is_done(t, step);
    t->asked[step]++;
    return t->width[step];
}

static kspec_status make_step(void *ctx, size_t step, size_t chunk, const ks_worker *worker) {
    steps_test *t = ctx;
    is_done(t, step);
    double s = (double)chunk;
    for (int k = 1; k < 500; k++) s += 1.0 / (k + s);
    for (size_t c = 0; step && c < t->width[step - 1]; c++) s += t->sums[step - 1][c] / 20;
    t->sums[step][chunk] = s;
    __atomic_fetch_add(&t->made[step], 1, __ATOMIC_SEQ_CST);
    return t->fail_at && step == t->fail_at && chunk > 1
               ? ks_fail(worker->err, KSPEC_E_NUMERIC, "chunk %zu of step %zu", chunk, step)
               : KSPEC_OK;
}

TEST(steps_follow_each_other) {
    static steps_test one, t;
    const ks_steps all = {STEPS, 20, width_of, make_step};
    kspec_error e;
    for (int threads = 1; threads <= 16; threads++) {
        const ks_run run = {threads, {0}, 0, 1};
        memset(&t, 0, sizeof t);
        for (size_t k = 0; k < STEPS; k++) t.width[k] = k * k * 7 % 21; /* also none, also one */
        steps_test failing = t;
        CHECK(ks_parallel_steps(&run, &all, &t, &e) == KSPEC_OK && t.early == 0);
        for (size_t k = 0; k < STEPS; k++) CHECK(t.asked[k] == 1 && t.made[k] == t.width[k]);
        if (threads == 1) one = t;
        CHECK(memcmp(one.sums, t.sums, sizeof one.sums) == 0);
        for (ks_threads_most = 0; ks_threads_most < 3; ks_threads_most++) { /* no more can be started */
            t = failing;
            CHECK(ks_parallel_steps(&run, &all, &t, &e) == KSPEC_OK && t.early == 0);
            CHECK(memcmp(one.sums, t.sums, sizeof one.sums) == 0);
        }
        ks_threads_most = INT_MAX;
        t = failing;
        t.fail_at = 31, t.width[31] = 20;
        CHECK_FAILS(ks_parallel_steps(&run, &all, &t, &e), KSPEC_E_NUMERIC, e, "chunk 2 of step 31");
        CHECK(t.early == 0 && t.asked[31] == 1 && t.asked[32] == 0 && t.made[32] == 0);
    }
    CHECK(ks_parallel_steps(&(ks_run){4, {0}, 0, 1}, &(ks_steps){0, 0, width_of, make_step}, &t, &e) ==
          KSPEC_OK);
}

TEST(steps_report_and_are_cancelled) {
    static steps_test t;
    const ks_steps all = {STEPS, 20, width_of, make_step};
    kspec_error e;
    for (int threads = 1; threads <= 5; threads++) {
        memset(&t, 0, sizeof t);
        for (size_t k = 0; k < STEPS; k++) t.width[k] = 20;
        progress_test p = {0, 2, pthread_self()};
        const ks_run run = {threads, {watch, &p}, 0, 1};
        CHECK(ks_parallel_steps(&run, &all, &t, &e) == KSPEC_OK && t.early == 0 && p.last > 0);
        memset(t.made, 0, sizeof t.made), memset(t.asked, 0, sizeof t.asked);
        p = (progress_test){0, 0.5, pthread_self()};
        CHECK_FAILS(ks_parallel_steps(&run, &all, &t, &e), KSPEC_E_CANCELLED, e, "cancelled");
        CHECK(t.asked[STEPS / 2 - 1] == 1 && (threads > 1 || t.asked[STEPS / 2 + 1] == 0));
    }
}

TEST(threads_out_of_range) {
    ks_run run;
    kspec_error e;
    CHECK_FAILS(ks_run_init(&run, -1, (kspec_progress){0}, &e), KSPEC_E_ARG, e, "threads -1");
    CHECK_FAILS(ks_run_init(&run, 1025, (kspec_progress){0}, &e), KSPEC_E_ARG, e, "1024");
    CHECK(ks_run_init(&run, 0, (kspec_progress){0}, &e) == KSPEC_OK &&
          run.threads == kspec_default_threads());
    setenv("KSPEC_THREADS", "3", 1);
    CHECK(kspec_default_threads() == 3);
    unsetenv("KSPEC_THREADS");
}

TEST(isa_override) {
    kspec_error e;
    ks_isa isa;
    use_isa("generic");
    CHECK(ks_isa_choose(&isa, &e) == KSPEC_OK && isa == KS_ISA_GENERIC &&
          strcmp(kspec_isa(), "generic") == 0);
    /* chosen once: a later change of the environment plays no part */
    setenv("KSPEC_ISA", "sse9", 1);
    CHECK(ks_isa_choose(&isa, &e) == KSPEC_OK && strcmp(kspec_isa(), "generic") == 0);
    use_isa("sse9");
    CHECK_FAILS(ks_isa_choose(&isa, &e), KSPEC_E_ARG, e, "KSPEC_ISA=sse9 must be one of " KSPEC_ISA_NAMES);
    CHECK_FAILS(ks_isa_choose(&isa, &e), KSPEC_E_ARG, e, "KSPEC_ISA=sse9");
    use_isa(NULL);
    CHECK(ks_isa_choose(&isa, &e) == KSPEC_OK && isa == ks_isa_best());
}

/* The message of the lowest chunk that fails reaches the caller, whichever worker wrote it. */
static kspec_status fail_from_three(void *ctx, size_t chunk, const ks_worker *worker) {
    (void)ctx;
    return chunk < 3 ? KSPEC_OK : ks_fail(worker->err, KSPEC_E_NUMERIC, "chunk %zu broke", chunk);
}

static kspec_status fail_without_words(void *ctx, size_t chunk, const ks_worker *worker) {
    (void)ctx, (void)chunk, (void)worker;
    return KSPEC_E_NOMEM;
}

TEST(worker_messages_reach_the_caller) {
    for (int threads = 1; threads <= 3; threads++) {
        kspec_error e;
        ks_run run;
        CHECK(ks_run_init(&run, threads, (kspec_progress){0}, &e) == KSPEC_OK);
        CHECK_FAILS(ks_parallel_for(&run, 20, fail_from_three, NULL, &e), KSPEC_E_NUMERIC, e,
                    "chunk 3 broke");
        CHECK(ks_parallel_for(&run, 20, fail_from_three, NULL, NULL) == KSPEC_E_NUMERIC);
        CHECK_FAILS(ks_parallel_for(&run, 20, fail_without_words, NULL, &e), KSPEC_E_NOMEM, e,
                    "out of memory");
    }
}

TEST(matrix_copies) {
    double x[12], out[12];
    kspec_error e;
    for (int k = 0; k < 12; k++) x[k] = k;
    /* 3 x 2 of every other column of a 3 x 4 array, bottom row first */
    kspec_matrix m = {x + 8, 3, 2, -4, 2};
    CHECK(ks_matrix_copy(&m, 0, 3, "x", out, &e) == KSPEC_OK);
    const double want[] = {8, 10, 4, 6, 0, 2};
    for (int k = 0; k < 6; k++) CHECK(out[k] == want[k]);
    CHECK(ks_matrix_copy(&m, 1, 1, "x", out, &e) == KSPEC_OK && out[0] == 4 && out[1] == 6);
    x[6] = NAN;
    CHECK_FAILS(ks_matrix_copy(&m, 0, 3, "the table", out, &e), KSPEC_E_DATA, e,
                "the table: row 1, column 1 (from 0) is NaN");
    CHECK(ks_matrix_copy(&m, 2, 1, "x", out, &e) == KSPEC_OK);
    x[6] = INFINITY;
    CHECK_FAILS(ks_matrix_finite(&m, "y", &e), KSPEC_E_DATA, e, "y: row 1, column 1 (from 0) is infinite");
    x[6] = 6;
    CHECK(ks_matrix_finite(&m, "y", &e) == KSPEC_OK && ks_matrix_check(&m, "y", &e) == KSPEC_OK);
    CHECK_FAILS(ks_matrix_check(NULL, "y", &e), KSPEC_E_ARG, e, "y is missing");
    m.data = NULL;
    CHECK_FAILS(ks_matrix_check(&m, "y", &e), KSPEC_E_ARG, e, "y has no data");
    m.rows = 0;
    CHECK_FAILS(ks_matrix_check(&m, "y", &e), KSPEC_E_ARG, e, "y is empty: 0 x 2");
}

TEST(sorting) {
    double x[] = {3, -1, 7, 3, 0};
    size_t order[5];
    ks_order_descending(x, 5, order);
    CHECK(order[0] == 2 && order[1] == 0 && order[2] == 3 && order[3] == 4 && order[4] == 1);
    ks_sort_ascending(x, 5);
    for (int k = 1; k < 5; k++) CHECK(x[k - 1] <= x[k]);
    ks_sort_descending(x, 5);
    for (int k = 1; k < 5; k++) CHECK(x[k - 1] >= x[k]);
    CHECK(x[0] == 7 && x[4] == -1);
}

TEST(one_sentence_about_memory) {
    kspec_error e;
    CHECK(ks_check_memory(&e, 1000, "a table of %d", 3) == KSPEC_OK);
    CHECK_FAILS(ks_check_memory(&e, (size_t)1 << 60, "a table of %d", 3), KSPEC_E_NOMEM, e,
                "a table of 3 needs 1152921504606.8 MB, ");
    CHECK(strstr(e.msg, " MB are available") != NULL);
    CHECK_FAILS(ks_check_memory(&e, SIZE_MAX, "a table"), KSPEC_E_NOMEM, e,
                "too large for the address space");
}

int main(void) {
    RUN(messages_are_fit_for_a_terminal);
    RUN(sizes_saturate);
    RUN(arena_aligns_and_fails_once);
    RUN(messages_name_value_and_bound);
    RUN(options_of_older_and_newer_callers);
    RUN(every_chunk_once_whatever_the_threads);
    RUN(the_lowest_failing_chunk_decides);
    RUN(progress_rises_and_cancels);
    RUN(steps_follow_each_other);
    RUN(steps_report_and_are_cancelled);
    RUN(threads_out_of_range);
    RUN(isa_override);
    RUN(worker_messages_reach_the_caller);
    RUN(matrix_copies);
    RUN(sorting);
    RUN(one_sentence_about_memory);
    return test_done();
}
