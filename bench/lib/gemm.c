#include "base/clock.h"
#include "base/memory.h"
#include "bench/lib/rates.h"
#include "linalg/linalg.h"

double bench_gemm_rate(size_t n, int repeats) {
    ks_arena arena = {0};
    double *A = ks_arena_alloc(&arena, ks_size(n, n), sizeof *A);
    double *B = ks_arena_alloc(&arena, ks_size(n, n), sizeof *B);
    double *C = ks_arena_zalloc(&arena, ks_size(n, n), sizeof *C), best = 0;
    if (!arena.failed && n > 0 && !ks_blas_enter(1, NULL)) {
        for (size_t k = 0; k < n * n; k++) A[k] = 1 / (double)(k % 97 + 1), B[k] = 1 / (double)(k % 89 + 1);
        for (int r = 0; r < repeats; r++) {
            double t = ks_now();
            ks_gemm(0, 0, n, n, n, 1, A, n, B, n, 0, C, n);
            double rate = (double)n * (double)n * (double)n / (ks_now() - t);
            if (rate > best) best = rate;
        }
        ks_blas_exit();
    }
    ks_arena_free(&arena);
    return best;
}
