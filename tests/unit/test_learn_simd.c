/* The training kernels of every instruction set against plain loops in double precision. */
#include "simd/simd.h"
#include "kspec.h"
#include "test.h"

#include <float.h>

static float *floats(uint64_t stream, size_t count) {
    float *x = malloc(count * sizeof *x);
    double *z = malloc(count * sizeof *z);
    kspec_random_normal(5, stream, 0, count, z);
    for (size_t k = 0; k < count; k++) x[k] = (float)z[k];
    free(z);
    return x;
}

/* entry (i,j) of the product, and the sum of the absolute values of its terms */
static double entry(const ks_train_product *p, size_t i, size_t j, double *size) {
    double sum = 0;
    *size = 0;
    for (size_t k = 0; k < p->depth; k++) {
        double term = (double)p->a[i * p->lda + k] * p->b[k * p->ldb + j];
        sum += term;
        *size += fabs(term);
    }
    return sum;
}

static const size_t shapes[][3] = {{8, 16, 1},  {8, 32, 7},   {16, 48, 32}, {24, 16, 100},
                                   {40, 80, 3}, {8, 784, 32}, {32, 16, 784}};

TEST(products) {
    for (ks_isa isa = 0; isa <= ks_isa_best(); isa++)
        for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
            for (size_t pad = 0; pad < 2; pad++) {
                size_t m = shapes[s][0], n = shapes[s][1], d = shapes[s][2];
                size_t lda = d + 3 * pad, ldb = n + 5 * pad, ld = n + 2 * pad;
                float *a = floats(1, m * lda), *b = floats(2, d * ldb), *c = floats(3, m * ld),
                      *before = floats(3, m * ld);
                ks_train_product p = {m, n, d, a, lda, b, ldb};
                ks_simd_of(isa)->train_product(&p, c, ld);
                for (size_t i = 0; i < m; i++)
                    for (size_t j = 0; j < ld; j++) {
                        double size, want = j < n ? entry(&p, i, j, &size) : before[i * ld + j];
                        double tol = j < n ? (double)(d + 1) * FLT_EPSILON * size : 0;
                        CHECK_MSG(fabs(c[i * ld + j] - want) <= tol,
                                  "%s %zu x %zu x %zu at %zu, %zu: %.9g, not %.9g", ks_isa_name(isa), m, n, d,
                                  i, j, (double)c[i * ld + j], want);
                    }
                free(a), free(b), free(c), free(before);
            }
}

/* One step on given means, then a second on what it left: against the same in double precision. */
TEST(adam_on_products) {
    for (ks_isa isa = 0; isa <= ks_isa_best(); isa++)
        for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
            size_t m = shapes[s][0], n = shapes[s][1], d = shapes[s][2], count = m * n;
            float *a = floats(1, m * d), *b = floats(2, d * n), *w = floats(3, count),
                  *mean = floats(4, count), *v = floats(6, count);
            double *W = malloc(count * sizeof *W), *M = malloc(count * sizeof *M),
                   *V = malloc(count * sizeof *V);
            for (size_t k = 0; k < count; k++) W[k] = w[k], M[k] = mean[k], V[k] = v[k] = fabsf(v[k]) + 0.1f;
            ks_train_product p = {m, n, d, a, d, b, n};
            for (int step = 0; step < 2; step++) {
                ks_adam adam = {0.9f, 0.1f, 0.999f, 0.001f, 0.01f * (float)(step + 1), 1e-3f};
                ks_simd_of(isa)->train_adam(&p, &adam, w, mean, v, n);
                for (size_t k = 0; k < count; k++) {
                    double size, g = entry(&p, k / n, k % n, &size);
                    M[k] = adam.b1 * M[k] + adam.c1 * g;
                    V[k] = adam.b2 * V[k] + adam.c2 * g * g;
                    W[k] -= adam.rate * M[k] / (sqrt(V[k]) + adam.eps);
                    double tol = 4 * (double)(d + 4) * FLT_EPSILON;
                    CHECK_MSG(fabs(mean[k] - M[k]) <= tol * (size + 4) &&
                                  fabs(v[k] - V[k]) <= tol * (size * size + 4) &&
                                  fabs(w[k] - W[k]) <= tol * (size + 4) * 0.1 + 1e-6,
                              "%s: %.9g %.9g %.9g, not %.9g %.9g %.9g", ks_isa_name(isa), (double)mean[k],
                              (double)v[k], (double)w[k], M[k], V[k], W[k]);
                }
            }
            free(a), free(b), free(w), free(mean), free(v), free(W), free(M), free(V);
        }
}

/*
 * A parameter that starts at 1 with gradients 1, -2, 0.5 and step 0.1, worked out by hand: m = 0.1, -0.11,
 * -0.049; v = 0.001, 0.004999, 0.005244001; corrected m 1, -0.11/0.19, -0.049/0.271; corrected v 1,
 * 0.004999/0.001999, 0.005244001/0.002997001; so w = 0.900000001, 0.936610353..., 0.950279420...
 */
TEST(adam_by_hand) {
    const double g[] = {1, -2, 0.5}, want[] = {0.900000001, 0.936610353472, 0.950279419674};
    for (ks_isa isa = 0; isa <= ks_isa_best(); isa++) {
        float a[8] = {1, 1, 1, 1, 1, 1, 1, 1}, b[16], w[128], m[128] = {0}, v[128] = {0};
        for (int k = 0; k < 128; k++) w[k] = 1;
        for (int t = 1; t <= 3; t++) {
            for (int k = 0; k < 16; k++) b[k] = (float)g[t - 1];
            double root = sqrt(1 - pow(0.999, t));
            ks_adam adam = {
                0.9f, 0.1f, 0.999f, 0.001f, (float)(0.1 * root / (1 - pow(0.9, t))), (float)(1e-8 * root)};
            ks_simd_of(isa)->train_adam(&(ks_train_product){8, 16, 1, a, 1, b, 16}, &adam, w, m, v, 16);
            for (int k = 0; k < 128; k++) CHECK_CLOSE(w[k], want[t - 1], 2e-7);
        }
    }
}

/*
 * What has decayed below the smallest normal number is zero from there on, and the caller's arithmetic is as
 * it was.
 */
TEST(tiny_means_vanish) {
    for (ks_isa isa = 0; isa <= ks_isa_best(); isa++) {
        float a[8] = {0}, b[16] = {0}, w[128], m[128], v[128];
        for (int k = 0; k < 128; k++) w[k] = 1, m[k] = v[k] = 1.05f * FLT_MIN;
        ks_adam adam = {0.9f, 0.1f, 0.9f, 0.1f, 0.1f, 1e-8f};
        ks_simd_of(isa)->train_adam(&(ks_train_product){8, 16, 1, a, 1, b, 16}, &adam, w, m, v, 16);
#if defined(__SSE__)
        for (int k = 0; k < 128; k++) CHECK(m[k] == 0 && v[k] == 0 && w[k] == 1);
#endif
        volatile float tiny = FLT_MIN;
        CHECK(tiny / 2 > 0);
    }
}

int main(void) {
    RUN(products);
    RUN(adam_on_products);
    RUN(adam_by_hand);
    RUN(tiny_means_vanish);
    return test_done();
}
