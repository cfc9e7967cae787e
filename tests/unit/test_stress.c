/*
 * Many threads make all calls of the contract's table at once, on two or three threads each, and cancel them
 * at random reports: each call ends as it does alone or is cancelled, and says so. For the thread sanitizer
 * (make tsan).
 */
#include "test.h"

#include <pthread.h>

/* What each call of the table ends with by itself */
static int alone[100];

int contract_main(void);
#define main contract_main
#include "unit/test_contract.c"
#undef main

enum { THREADS = 4, CALLS = 150 };

typedef struct {
    uint64_t state;
    /* reports until the call is cancelled; -1: it is not */
    long left;
    long cancelled, done;
} caller;

static unsigned draw(caller *c, unsigned n) {
    c->state = c->state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(c->state >> 33) % n;
}

static int stop(void *ctx, double f) {
    caller *c = ctx;
    CHECK_MSG(f >= 0 && f <= 1.0000001, "reports %g", f);
    return c->left >= 0 && c->left-- == 0;
}

static void *work(void *arg) {
    caller *c = arg;
    for (int k = 0; k < CALLS; k++) {
        unsigned which = draw(c, sizeof rows / sizeof *rows);
        const row *r = &rows[which];
        /* a file has one writer */
        if (strstr(r->name, "kspec_write") || !r->size) continue;
        union {
            unsigned char bytes[1024];
            size_t size;
            max_align_t align;
        } opts = {{0}};
        if (r->quick) memcpy(&opts, r->quick, r->size);
        opts.size = r->size;
        const kspec_progress progress = {stop, c};
        if (r->progress) memcpy(opts.bytes + r->progress, &progress, sizeof progress);
        c->left = draw(c, 3) == 0 ? -1 : (long)draw(c, 30);
        int wanted = c->left >= 0 && r->progress, held = 0;
        kspec_error err = {0};
        kspec_status st = r->call(&opts, &held, &err);
        int right = (int)st == alone[which] || (st == KSPEC_E_CANCELLED && wanted);
        CHECK_MSG(!held && err.code == st && right, "%s: status %d: %s", r->name, (int)st, err.msg);
        c->cancelled += st == KSPEC_E_CANCELLED;
        c->done += st != KSPEC_E_CANCELLED;
    }
    return NULL;
}

TEST(all_calls_at_once) {
    pthread_t thread[THREADS];
    caller callers[THREADS];
    long cancelled = 0, done = 0;
    for (int t = 0; t < THREADS; t++) {
        callers[t] = (caller){.state = (uint64_t)t + 1};
        pthread_create(&thread[t], NULL, work, &callers[t]);
    }
    for (int t = 0; t < THREADS; t++) {
        pthread_join(thread[t], NULL);
        cancelled += callers[t].cancelled, done += callers[t].done;
    }
    CHECK_MSG(cancelled > THREADS * CALLS / 20 && done > THREADS * CALLS / 5, "%ld cancelled, %ld done",
              cancelled, done);
    printf("%ld calls done, %ld cancelled\n", done, cancelled);
}

int main(void) {
    setenv("KSPEC_THREADS", "3", 1);
    make_inputs();
    snprintf(file, sizeof file, "stress-%ld.npy", (long)getpid());
    int held;
    CHECK(write_file(NULL, &held, NULL) == KSPEC_OK);
    _Static_assert(sizeof rows / sizeof *rows <= sizeof alone / sizeof *alone, "a longer list");
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
        alone[k] = (int)rows[k].call(rows[k].quick, &held, NULL);
    RUN(all_calls_at_once);
    unlink(file);
    return test_done();
}
