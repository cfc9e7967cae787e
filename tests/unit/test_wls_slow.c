/* Double descent as in the paper's Figure 1b, theory on top of simulation; and larger grids against QR. */
#include "base/memory.h"
#include "help/wls.h"
#include "linalg/linalg.h"
#include "wls/grid.h"

/*
 * N = 64, gamma = beta = 0.3, alpha = 0, 0.3, 0.8; 1000 draws. 192 comparisons at 5 standard errors: a false
 * alarm has probability below 2e-4 (6e-7 each); the seed is fixed.
 */
TEST(double_descent) {
    const double alphas[] = {0, 0.3, 0.8};
    size_t p[64];
    for (size_t i = 0; i < 64; i++) p[i] = 4 * (i + 1);
    for (int a = 0; a < 3; a++) {
        kspec_wls_opts o = {
            .size = sizeof o, .P = 256, .alpha = alphas[a], .beta = 0.3, .gamma = 0.3, .noise = 0.2};
        kspec_wls_result *expected, *measured;
        o.seed = 17;
        CHECK(kspec_wls_theory(64, p, 64, &o, &expected, NULL) == KSPEC_OK);
        CHECK(kspec_wls_empirical(64, p, 64, 1000, &o, &measured, NULL) == KSPEC_OK);
        kspec_wls_point **q = expected->points;
        for (int i = 0; i < 64; i++) {
            const kspec_wls_point *m = measured->points[i];
            CHECK_MSG(fabs(m->error - q[i]->error) < 5 * m->error_se, "alpha = %g, p = %zu: %g +- %g, not %g",
                      alphas[a], p[i], m->error, m->error_se, q[i]->error);
            CHECK_MSG(fabs(m->error_noise - q[i]->error_noise) < 5 * m->error_noise_se, "alpha = %g, p = %zu",
                      alphas[a], p[i]);
        }
        /* descent, ascent to p = N, and descent below what came before */
        CHECK(q[3]->error_noise_free < q[0]->error_noise_free || alphas[a] > 0.5);
        CHECK(q[15]->error_noise_free > q[31]->error_noise_free &&
              q[31]->error_noise_free > q[63]->error_noise_free);
        CHECK(q[63]->error_noise_free < q[3]->error_noise_free);
        kspec_free(expected);
        kspec_free(measured);
    }
}

/* The map itself, by QR, gives the same errors of noise, both variances, and the same fits */
TEST(the_recursion_against_qr) {
    const size_t sizes[][2] = {{512, 256}, {700, 333}, {601, 600}, {601, 40}, {1024, 512}};
    const double alphas[] = {0.3, 1, -0.8};
    CHECK(ks_blas_enter(4, NULL) == KSPEC_OK);
    for (int s = 0; s < 5; s++)
        for (int a = 0; a < 3; a++) {
            size_t N = sizes[s][0], p = sizes[s][1];
            kspec_wls_opts o = {.size = sizeof o, .P = N, .alpha = alphas[a], .gamma = 1, .noise = 1}, z = o;
            ks_wls_grid g = {.N = N, .alpha = alphas[a]};
            kspec_wls_fit_result *fit;
            kspec_wls_point real, circular;
            z.complex_noise = 1;
            CHECK(expect_at(N, p, &o, &real, NULL) == KSPEC_OK);
            CHECK(expect_at(N, p, &z, &circular, NULL) == KSPEC_OK);
            ks_arena arena = {0};
            ks_cplx *map, *gram = malloc(p * p * sizeof *gram);
            double *w = malloc(N * sizeof *w), *y = malloc(N * sizeof *y);
            double accuracy, H, S, trace = 0, off = 0, size = 0;
            ks_wls_weights(&g, w);
            CHECK(ks_wls_dense_map(N, p, w, &arena, &map, &accuracy, NULL) == KSPEC_OK && accuracy < 1e-11);
            ks_gram_norms(N, p, map, gram, &H, &S);
            for (size_t i = 0; i < N * p; i++) trace += ks_cabs2(map[i]);
            CHECK_CLOSE(real.error_noise, trace, 1e-10);
            CHECK_CLOSE(circular.variance, H, 1e-10);
            CHECK_CLOSE(real.variance, H + S, 1e-10);
            kspec_random_normal(6, 0, 0, N, y);
            CHECK(kspec_wls_fit(N, p, y, &o, &fit, NULL) == KSPEC_OK);
            for (size_t k = 0; k < p; k++) {
                ks_cplx t = {0, 0};
                for (size_t j = 0; j < N; j++)
                    t.re += map[k * N + j].re * y[j], t.im -= map[k * N + j].im * y[j];
                off = fmax(off, hypot(t.re - fit->theta[2 * k], t.im - fit->theta[2 * k + 1]));
                size = fmax(size, hypot(t.re, t.im));
            }
            CHECK_MSG(off < 1e-11 * size, "N = %zu, p = %zu, alpha = %g: %g", N, p, alphas[a], off / size);
            ks_arena_free(&arena);
            kspec_free(fit);
            free(gram), free(w), free(y);
        }
    ks_blas_exit();
}

int main(void) {
    RUN(double_descent);
    RUN(the_recursion_against_qr);
    return test_done();
}
