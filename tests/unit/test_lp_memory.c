/*
 * Clp without memory: each of its allocations fails, once or together with all that follow, and each time
 * the caller gets an answer or KSPEC_E_NOMEM. The program has C++'s operators new and delete of its own.
 */
#include "lp/lp.h"
#include "test.h"

extern void _ZSt17__throw_bad_allocv(void); /* std::__throw_bad_alloc() */
static long left = -1;                      /* allocations until one fails; -1: none does */
static int for_ever;

/* operator new and operator delete, of one object and of an array, with a size and without; for Clp to see */
#pragma GCC visibility push(default)
void *_Znwm(size_t size);
void *_Znam(size_t size);
void _ZdlPv(void *p);
void _ZdaPv(void *p);
void _ZdlPvm(void *p, size_t size);
void _ZdaPvm(void *p, size_t size);
/* under AddressSanitizer: what Clp holds when an exception leaves it is lost, and not ours */
const char *__asan_default_options(void);
#pragma GCC visibility pop

const char *__asan_default_options(void) { return "detect_leaks=0"; }

void *_Znwm(size_t size) {
    int fails = left == 0;
    if (left > 0 || (left == 0 && !for_ever)) left--;
    void *p = fails ? NULL : malloc(size ? size : 1);
    if (!p) _ZSt17__throw_bad_allocv();
    return p;
}
void *_Znam(size_t size) { return _Znwm(size); }
void _ZdlPv(void *p) { free(p); }
void _ZdaPv(void *p) { free(p); }
void _ZdlPvm(void *p, size_t size) {
    (void)size;
    free(p);
}
void _ZdaPvm(void *p, size_t size) {
    (void)size;
    free(p);
}

enum { ROWS = 4, COLS = 30 };

TEST(every_allocation_fails) {
    double A[COLS * ROWS], b[ROWS] = {0}, c[COLS], want[COLS], x[COLS], y[ROWS];
    for (int j = 0; j < COLS; j++) {
        double t = (j + 1) / (double)COLS, power = 1;
        for (int i = 0; i < ROWS; i++) {
            A[j * ROWS + i] = power;
            b[i] += power / COLS;
            power *= t;
        }
        c[j] = t * t * t * t;
    }
    const ks_lp lp = {ROWS, COLS, A, b, c};
    int iterations;
    CHECK(ks_lp_solve(&lp, want, y, &iterations, NULL) == KSPEC_OK && iterations > 0);
    long cases = 0, failed = 0;
    for (for_ever = 0; for_ever < 2; for_ever++)
        for (long k = 0;; k++) {
            kspec_error err = {0};
            left = k;
            kspec_status st = ks_lp_solve(&lp, x, y, &iterations, &err);
            int reached = for_ever ? left == 0 : left < 0;
            left = -1;
            cases++;
            failed += st != KSPEC_OK;
            if (!st) CHECK_MSG(memcmp(x, want, sizeof x) == 0, "allocation %ld changes the answer", k);
            CHECK_MSG(!st || (st == KSPEC_E_NOMEM && strstr(err.msg, "out of memory")),
                      "allocation %ld: status %d: %s", k, (int)st, err.msg);
            if (!reached || k > 5000) break;
        }
    CHECK_MSG(cases > 40 && failed > 40, "%ld cases, of which %ld failed", cases, failed);
    printf("%ld cases, %ld without memory\n", cases, failed);
}

int main(void) {
    RUN(every_allocation_fails);
    return test_done();
}
