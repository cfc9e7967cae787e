#include "base/streams.h"
#include "kspec.h"
#include "simd/simd.h"
#include "test.h"

/* The known answer of Random123 for philox4x64-10 with counter 0 and key 0 */
TEST(philox_known_answer) {
    const uint64_t words[4] = {0x16554d9eca36314c, 0xdb20fe9d672d0fdc, 0xd7e772cee186176b,
                               0x7e68b68aec7ba23b};
    double u[4];
    kspec_random_uniform(0, 0, 0, 4, u);
    for (int k = 0; k < 4; k++) CHECK(u[k] == ((double)(words[k] >> 12) + 0.5) / 4503599627370496.0);
}

TEST(any_part_of_a_stream_is_the_same) {
    enum { N = 2500 };
    static double all[N], part[N];
    for (int normal = 0; normal < 2; normal++) {
        void (*f)(uint64_t, uint64_t, uint64_t, size_t, double *) =
            normal ? kspec_random_normal : kspec_random_uniform;
        f(7, 3, 0, N, all);
        for (size_t first = 0; first < 40; first++)
            for (size_t count = 0; count < 1400; count = count * 2 + 1) {
                f(7, 3, first, count, part);
                CHECK(memcmp(part, all + first, count * sizeof *part) == 0);
            }
        double other[4];
        f(7, 4, 0, 4, other);
        CHECK(memcmp(other, all, sizeof other) != 0);
        f(8, 3, 0, 4, other);
        CHECK(memcmp(other, all, sizeof other) != 0);
    }
}

/* Box-Muller in long double from the stream's own uniforms */
TEST(normals_against_long_double) {
    enum { N = 40000 };
    static double u[N], z[N];
    kspec_random_uniform(1, 2, 0, N, u);
    kspec_random_normal(1, 2, 0, N, z);
    const long double pi = 3.14159265358979323846264338327950288L;
    double worst = 0;
    for (int k = 0; k < N; k += 2) {
        long double r = sqrtl(-2 * logl(u[k])), a = 2 * pi * u[k + 1];
        double d0 = fabs(z[k] - (double)(r * cosl(a))), d1 = fabs(z[k + 1] - (double)(r * sinl(a)));
        if (d0 > worst) worst = d0;
        if (d1 > worst) worst = d1;
    }
    CHECK_MSG(worst < 4e-15, "%g", worst);
}

TEST(same_bits_on_every_instruction_set) {
    double u[3][64], v[3][64];
    for (int isa = 0; isa <= (int)ks_isa_best(); isa++) {
        kspec_random_uniform(5, 6, 0, 64, u[isa]);
        kspec_random_uniform(5, 7, 0, 64, v[isa]);
        u[isa][3] = 0x1p-53, v[isa][3] = 1 - 0x1p-53; /* the ends of the range */
        ks_simd_of((ks_isa)isa)->box_muller(u[isa], v[isa], 64);
        CHECK(memcmp(u[isa], u[0], sizeof u[0]) == 0);
        CHECK(memcmp(v[isa], v[0], sizeof v[0]) == 0);
        CHECK(fabs(u[isa][3]) < 8.6);
    }
}

/* Mean, variance, skewness and kurtosis of 10^6 numbers, each within 4.4 standard errors (two-sided 1e-5
   each); and the largest gap between the empirical and the true distribution (Kolmogorov-Smirnov,
   1e-5: 2.47/sqrt(N)). */
static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

TEST(distributions) {
    enum { N = 1000000 };
    double *x = malloc(N * sizeof *x);
    for (int normal = 0; normal < 2; normal++) {
        (normal ? kspec_random_normal : kspec_random_uniform)(42, 1, 0, N, x);
        double s[4] = {0};
        for (int k = 0; k < N; k++) {
            double y = normal ? x[k] : (x[k] - 0.5) * sqrt(12.0);
            s[0] += y, s[1] += y * y, s[2] += y * y * y, s[3] += y * y * y * y;
        }
        /* moments and variances of y, y^2, y^3, y^4: 0,1,0,3 | 1,2,15,96 normal; 0,1,0,1.8 | 1,.8,27/7,9-3.24
         * uniform */
        const double mean[2][4] = {{0, 1, 0, 1.8}, {0, 1, 0, 3}},
                     var[2][4] = {{1, 0.8, 27.0 / 7, 5.76}, {1, 2, 15, 96}};
        for (int k = 0; k < 4; k++) {
            double z = (s[k] / N - mean[normal][k]) / sqrt(var[normal][k] / N);
            CHECK_MSG(fabs(z) < 4.4, "moment %d: z = %g", k + 1, z);
        }
        qsort(x, N, sizeof *x, ascending);
        double gap = 0;
        for (int k = 0; k < N; k++) {
            double F = normal ? 0.5 * erfc(-x[k] / sqrt(2.0)) : x[k];
            gap = fmax(gap, fmax(fabs(F - (double)k / N), fabs(F - (k + 1.0) / N)));
        }
        CHECK_MSG(gap * sqrt((double)N) < 2.47, "%g", gap * sqrt((double)N));
        if (!normal) CHECK(x[0] > 0 && x[N - 1] < 1);
    }
    free(x);
}

TEST(permutations) {
    size_t p[500];
    for (size_t n = 0; n <= 500; n = n * 2 + 1) {
        int seen[500] = {0};
        ks_random_permutation(3, n, n, p);
        for (size_t i = 0; i < n; i++) CHECK(p[i] < n && !seen[p[i]]++);
    }
    /* all 24 orders of 4 equally often in 24,000 streams: chi-square with 23 degrees, 1e-5 point 62.0 */
    int count[256] = {0}, kinds = 0;
    double chi2 = 0;
    for (uint64_t s = 0; s < 24000; s++) {
        ks_random_permutation(9, s, 4, p);
        count[p[0] * 64 + p[1] * 16 + p[2] * 4 + p[3]]++;
    }
    for (int k = 0; k < 256; k++)
        if (count[k]) kinds++, chi2 += (count[k] - 1000.0) * (count[k] - 1000.0) / 1000;
    CHECK_MSG(kinds == 24 && chi2 < 62, "%d kinds, chi2 %g", kinds, chi2);
}

int main(void) {
    RUN(philox_known_answer);
    RUN(any_part_of_a_stream_is_the_same);
    RUN(normals_against_long_double);
    RUN(same_bits_on_every_instruction_set);
    RUN(distributions);
    RUN(permutations);
    return test_done();
}
