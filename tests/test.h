/*
 * A few macros instead of a framework. A test program is a list of functions:
 *
 *     TEST(sums_add_up) { CHECK(1 + 1 == 2); CHECK_CLOSE(0.1 + 0.2, 0.3, 1e-15); }
 *     int main(void) { RUN(sums_add_up); return test_done(); }
 *
 * A failing check prints file, line and values, and the test goes on. SKIP(why) ends a test early.
 */
#ifndef KSPEC_TEST_H
#define KSPEC_TEST_H

#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef KSPEC_SANITIZED
enum { SANITIZED = 1 };
#else
enum { SANITIZED = 0 };
#endif
/* A sweep over all allocations takes each; under a sanitizer, ten times as slow, every third. */
enum { SWEEP_STEP = SANITIZED ? 3 : 1 };

static atomic_int test_failures, test_checks; /* threads check, too */
static int test_count, test_skips;

#define TEST(name) static void name(void)
#define RUN(name)                                                            \
    do {                                                                     \
        int before = test_failures;                                          \
        test_count++;                                                        \
        name();                                                              \
        printf("%s %s\n", test_failures == before ? "ok  " : "FAIL", #name); \
        fflush(stdout);                                                      \
    } while (0)

#define SKIP(...)            \
    do {                     \
        test_skips++;        \
        printf("skip: ");    \
        printf(__VA_ARGS__); \
        printf("\n");        \
        return;              \
    } while (0)

#define CHECK(condition) CHECK_MSG(condition, "%s", "")

/* As CHECK, with a printf message that gives the values at hand. */
#define CHECK_MSG(condition, ...)                                  \
    do {                                                           \
        test_checks++;                                             \
        if (!(condition)) {                                        \
            test_failures++;                                       \
            printf("%s:%d: %s  ", __FILE__, __LINE__, #condition); \
            printf(__VA_ARGS__);                                   \
            printf("\n");                                          \
        }                                                          \
    } while (0)

/* |a - b| <= tol * |b|, or both within 1e-300 of zero. NaN never passes. */
#define CHECK_CLOSE(a, b, tol)                                                                        \
    do {                                                                                              \
        double check_a = (a), check_b = (b);                                                          \
        CHECK_MSG(fabs(check_a - check_b) <= (tol)*fabs(check_b) + 1e-300, "%.17g != %.17g", check_a, \
                  check_b);                                                                           \
    } while (0)

/* The status is as wanted and the message holds `text`. */
#define CHECK_FAILS(call, want, err, text)                                                     \
    do {                                                                                       \
        kspec_status check_st = (call);                                                        \
        CHECK_MSG(check_st == (want), "status %d: %s", (int)check_st, (err).msg);              \
        CHECK_MSG(strstr((err).msg, (text)) != NULL, "message: %s", (err).msg);                \
        CHECK_MSG(strchr((err).msg, '\n') == NULL, "message has a line break: %s", (err).msg); \
    } while (0)

static inline int test_done(void) {
    printf("%d checks in %d tests: %d failed, %d skipped\n", test_checks, test_count, test_failures,
           test_skips);
    if (test_failures) return 1;
    return test_skips && test_checks == 0 ? 77 : 0; /* 77: CTest reports the program as skipped */
}

#endif
