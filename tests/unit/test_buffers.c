/* OpenBLAS's buffers where memory is limited, and small products that would need a malloc() inside it. */
#include "linalg/linalg.h"
#include "linalg/small.h"
#include "test.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef KSPEC_SANITIZED
/* Counts what OpenBLAS takes. */
extern void *__libc_malloc(size_t size);
static long mallocs;
void *malloc(size_t size) {
    mallocs++;
    return __libc_malloc(size);
}
#endif

enum { MOST = 40 };

static double entry(size_t i, size_t j) { return 1 / (double)(1 + i * 7 % 13 + j * 5 % 11); }

/* C = 0.5 A B + beta C by the definition */
static void check_product(size_t m, size_t n, size_t k, double beta) {
    static double A[MOST * MOST * 8], B[MOST * MOST * 8], C[MOST * MOST * 8], want[MOST * MOST * 8];
    size_t lda = k + 1, ldb = n + 2, ldc = n + 3;
    for (size_t i = 0; i < m; i++)
        for (size_t l = 0; l < k; l++) A[i * lda + l] = entry(i, l);
    for (size_t l = 0; l < k; l++)
        for (size_t j = 0; j < n; j++) B[l * ldb + j] = entry(l + 3, j);
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < ldc; j++) {
            /* beta = 0 must not read C */
            C[i * ldc + j] = want[i * ldc + j] = beta == 0 && j < n ? NAN : entry(j, i);
            double sum = 0;
            for (size_t l = 0; l < k && j < n; l++) sum += A[i * lda + l] * B[l * ldb + j];
            if (j < n) want[i * ldc + j] = 0.5 * sum + (beta == 0 ? 0 : beta * want[i * ldc + j]);
        }
    ks_small_product(m, n, k, 0.5, A, lda, B, ldb, beta, C, ldc);
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < ldc; j++)
            CHECK_MSG(fabs(C[i * ldc + j] - want[i * ldc + j]) <= 1e-13 * (1 + (double)k),
                      "%zu x %zu x %zu, beta %g: entry (%zu,%zu) is %.17g, not %.17g", m, n, k, beta, i, j,
                      C[i * ldc + j], want[i * ldc + j]);
}

TEST(small_products) {
    static const size_t sizes[] = {1, 2, 3, 7, 8, 9, 16, 17, 23, 33}, depths[] = {1, 16, 17, 255, 256, 257};
    for (size_t a = 0; a < sizeof sizes / sizeof *sizes; a++)
        for (size_t b = 0; b < sizeof sizes / sizeof *sizes; b++)
            for (size_t c = 0; c < sizeof depths / sizeof *depths; c++)
                for (int beta = 0; beta < 3; beta++)
                    check_product(sizes[a], sizes[b], depths[c], (double)beta / 2);
    check_product(300, 11, 20, 1);
}

TEST(no_product_takes_memory) {
#ifndef KSPEC_SANITIZED
    static double A[300 * 300], B[300 * 300], C[300 * 300];
    ks_gemm(0, 0, 300, 300, 300, 1, A, 300, B, 300, 0, C, 300);
    for (size_t m = 1; m < 120; m += 7)
        for (size_t n = 1; n < 120; n++)
            for (size_t k = 1; k < 300; k += 23)
                for (int t = 0; t < 4; t++) {
                    mallocs = 0;
                    ks_gemm(t & 1, t >> 1, m, n, k, 1, A, 300, B, 300, 0, C, 300);
                    if (mallocs) CHECK_MSG(0, "%ld of %zu x %zu x %zu, %d", mallocs, m, n, k, t);
                }
#endif
}

/* ---- with little memory, in a child, since a limit cannot be taken back ---- */

static size_t address_space(void) {
    size_t pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    if (!f || fscanf(f, "%zu", &pages) != 1) pages = 0;
    if (f) fclose(f);
    return pages * (size_t)sysconf(_SC_PAGESIZE);
}

static int never(void *ctx, double f) {
    (void)ctx, (void)f;
    return 0;
}

static int soon(void *ctx, double f) {
    (void)f;
    return ++*(int *)ctx > 3;
}

enum { SIDE = 700 };
static double X[SIDE * SIDE], Y[SIDE * SIDE], Z[2][SIDE * SIDE];

/* A product on 16 threads with `spare` bytes: the status, or 100 where the bits are others. */
static int product_in(size_t spare, int cancel) {
    pid_t child = fork();
    if (child == 0) {
        alarm(60); /* it used to try for ever */
        struct rlimit r = {address_space() + spare, address_space() + spare};
        setrlimit(RLIMIT_AS, &r);
        int calls = 0;
        ks_run run = {16, {cancel ? soon : never, &calls}, 0, 1};
        kspec_error err = {0};
        kspec_status st = ks_blas_enter(run.threads, &err);
        if (st) _exit(st == KSPEC_E_NOMEM && strstr(err.msg, "OpenBLAS needs a buffer") ? st : 99);
        do /* until it is cancelled, where it is to be */
            st = ks_gemm_tiled(&run, 0, 1, SIDE, SIDE, SIDE, 1, X, SIDE, Y, SIDE, 0, Z[1], SIDE, &err);
        while (cancel && !st);
        ks_blas_exit();
        _exit(st ? (int)st : memcmp(Z[0], Z[1], sizeof Z[0]) == 0 ? 0 : 100);
    }
    int status = -1;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

TEST(little_memory) {
    if (SANITIZED) {
        printf("skip: sanitizers need all of the address space; run the tests without them\n");
        return;
    }
    for (size_t i = 0; i < SIDE * SIDE; i++) X[i] = entry(i, 1), Y[i] = entry(i, 2);
    /* the child has what its parent has mapped: here one buffer */
    CHECK(ks_blas_enter(1, NULL) == KSPEC_OK);
    ks_gemm_tiled(&(ks_run){1, {0}, 0, 1}, 0, 1, SIDE, SIDE, SIDE, 1, X, SIDE, Y, SIDE, 0, Z[0], SIDE, NULL);
    ks_blas_exit();
    for (size_t mb = 1; mb <= 2400; mb = mb * 3 / 2 + 1) {
        CHECK_MSG(product_in(mb << 20, 0) == 0, "with %zu MB: %d", mb, product_in(mb << 20, 0));
        CHECK_MSG(product_in(mb << 20, 1) == KSPEC_E_CANCELLED, "cancelled with %zu MB: %d", mb,
                  product_in(mb << 20, 1));
    }
}

TEST(too_little_memory) {
    if (SANITIZED) return;
    CHECK(product_in((size_t)100 << 20, 0) == KSPEC_E_NOMEM);
    CHECK(product_in((size_t)1 << 20, 1) == KSPEC_E_NOMEM);
    CHECK(product_in((size_t)400 << 20, 1) == KSPEC_E_CANCELLED);
}

int main(int argc, char **argv) {
    (void)argc;
    /* OpenBLAS's own threads map buffers, too, as soon as they start */
    if (!getenv("OPENBLAS_NUM_THREADS") && setenv("OPENBLAS_NUM_THREADS", "1", 1) == 0)
        execv("/proc/self/exe", argv);
    RUN(too_little_memory); /* first: no buffer is mapped */
    RUN(small_products);
    RUN(no_product_takes_memory);
    RUN(little_memory);
    return test_done();
}
