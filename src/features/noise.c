/* Adds noise to generated matrices. */
#include "features/noise.h"

#include "base/streams.h"

#include <math.h>

ks_noise ks_noise_of(double S, kspec_noise correlation, double rho) {
    if (correlation == KSPEC_NOISE_INDEPENDENT) return (ks_noise){S, 0, 0};
    double shared = S * sqrt(correlation == KSPEC_NOISE_BOTH ? rho / 2 : rho);
    return (ks_noise){S * sqrt(1 - rho), correlation == KSPEC_NOISE_COLS ? 0 : shared,
                      correlation == KSPEC_NOISE_ROWS ? 0 : shared};
}

/* Adds own e_ia + row r_i + col c_a to entry (i,a). */
void ks_noise_add(const ks_noise *n, uint64_t seed, size_t trial, size_t first, size_t count, size_t cols,
                  double *out, double *scratch) {
    double *e = scratch, *c = scratch + cols, r;
    if (n->col > 0) kspec_random_normal(seed, ks_stream(KS_STREAM_NOISE_COL, trial), 0, cols, c);
    for (size_t i = first; i < first + count; i++, out += cols) {
        if (n->own > 0) {
            kspec_random_normal(seed, ks_stream(KS_STREAM_NOISE, trial), i * cols, cols, e);
            for (size_t a = 0; a < cols; a++) out[a] += n->own * e[a];
        }
        if (n->row > 0) {
            kspec_random_normal(seed, ks_stream(KS_STREAM_NOISE_ROW, trial), i, 1, &r);
            for (size_t a = 0; a < cols; a++) out[a] += n->row * r;
        }
        if (n->col > 0)
            for (size_t a = 0; a < cols; a++) out[a] += n->col * c[a];
    }
}
