/* How fast training could be at best: the BLAS on products of the same shapes, and on large ones. */
#include "base/clock.h"
#include "learn/network.h"
#include "linalg/single.h"

enum { SQUARE = 512, REPEATS = 5 };

double ks_network_fma(const ks_network *net, size_t n) {
    return (double)n * (double)net->N * (2 * (double)net->d + 3 * (double)net->classes);
}

/* The best of a few runs: seconds for the two products of a step, H = X W^T and G = D^T X */
static double step_seconds(const ks_network *net, const float *X, const float *W, float *H, float *G) {
    double best = 1e300;
    for (int r = 0; r < REPEATS; r++) {
        double start = ks_thread_seconds();
        ks_sgemm(0, 1, net->batch, net->rows, net->cols, X, net->cols, W, net->cols, H, net->rows);
        ks_sgemm(1, 0, net->rows, net->cols, net->batch, H, net->rows, X, net->cols, G, net->cols);
        double t = ks_thread_seconds() - start;
        if (t < best) best = t;
    }
    return best;
}

static double square_seconds(const float *A, float *C) {
    double best = 1e300;
    for (int r = 0; r < REPEATS; r++) {
        double start = ks_thread_seconds();
        ks_sgemm(0, 0, SQUARE, SQUARE, SQUARE, A, SQUARE, A, SQUARE, C, SQUARE);
        double t = ks_thread_seconds() - start;
        if (t < best) best = t;
    }
    return best;
}

void ks_network_blas(const ks_network *net, double *same, double *square) {
    ks_arena arena = {0};
    float *G = ks_arena_alloc(&arena, ks_size(net->rows, net->cols), sizeof *G);
    float *H = ks_arena_alloc(&arena, ks_size(net->rows, net->batch), sizeof *H);
    float *A = ks_arena_zalloc(&arena, SQUARE * SQUARE, sizeof *A);
    float *C = ks_arena_alloc(&arena, SQUARE * SQUARE, sizeof *C);
    *same = *square = 0;
    if (!arena.failed) {
        *same = 2 * (double)net->batch * (double)net->rows * (double)net->cols /
                step_seconds(net, net->X, net->W, H, G);
        *square = (double)SQUARE * SQUARE * SQUARE / square_seconds(A, C);
    }
    ks_arena_free(&arena);
}
