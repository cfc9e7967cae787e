#include "kspec.h"
#include "test.h"
#include "wls/fft.h"
#include "oracle/wls.h"

static void signal_of(size_t n, ks_cplx *z) { kspec_random_normal(7, n, 0, 2 * n, (double *)z); }

/* Both signs against the sum itself; errors relative to the root mean square of the outcome, sqrt(2n) */
static void compare(size_t n) {
    ks_fft *f;
    ks_cplx *z = malloc(n * sizeof *z), *y = malloc(n * sizeof *y);
    CHECK(ks_fft_make(n, &f, NULL) == KSPEC_OK);
    ks_cplx *scratch = malloc(ks_fft_scratch(f) * sizeof *scratch);
    signal_of(n, z);
    for (int sign = -1; sign <= 1; sign += 2) {
        double worst = 0;
        memcpy(y, z, n * sizeof *z);
        ks_fft_run(f, sign, y, scratch);
        size_t step = n < 300 ? 1 : n / 100;
        for (size_t k = 0; k < n; k += step) {
            lc sum = 0;
            for (size_t j = 0; j < n; j++) {
                lc r = oracle_root(j, k, n);
                sum += (z[j].re + I * (ld)z[j].im) * (sign < 0 ? conjl(r) : r);
            }
            worst = fmax(worst, (double)cabsl(sum - (y[k].re + I * (ld)y[k].im)));
        }
        CHECK_MSG(worst <= 3e-15 * sqrt(2 * (double)n), "n = %zu, sign %d: %g", n, sign,
                  worst / sqrt(2 * (double)n));
    }
    ks_fft_free(f);
    free(z), free(y), free(scratch);
}

TEST(every_length_against_the_sum) {
    for (size_t n = 1; n <= 130; n++) compare(n);
    const size_t more[] = {243, 625, 1024, 1000, 2310, 997, 4096, 5040, 2 * 1009};
    for (int i = 0; i < 9; i++) compare(more[i]);
}

/* Forth and back is n times the same: primes, powers, and products with a large prime factor */
TEST(long_ones_there_and_back) {
    const size_t sizes[] = {65537, 65536, 59049, 100000, 2 * 30011};
    for (int i = 0; i < 5; i++) {
        size_t n = sizes[i];
        ks_fft *f;
        CHECK(ks_fft_make(n, &f, NULL) == KSPEC_OK);
        ks_cplx *z = malloc(n * sizeof *z), *y = malloc(n * sizeof *y),
                *scratch = malloc(ks_fft_scratch(f) * sizeof *scratch);
        signal_of(n, z);
        memcpy(y, z, n * sizeof *z);
        ks_fft_run(f, -1, y, scratch);
        ks_fft_run(f, 1, y, scratch);
        double worst = 0;
        for (size_t k = 0; k < n; k++)
            worst = fmax(worst, hypot(y[k].re / (double)n - z[k].re, y[k].im / (double)n - z[k].im));
        CHECK_MSG(worst < 2e-14, "n = %zu: %g", n, worst);
        ks_fft_free(f);
        free(z), free(y), free(scratch);
    }
}

int main(void) {
    RUN(every_length_against_the_sum);
    RUN(long_ones_there_and_back);
    return test_done();
}
