/* Draws the random features of the rows of a prediction. */
#include "ridge/features.h"

#include "base/streams.h"
#include "features/fourier.h"
#include "linalg/linalg.h"
#include "ridge/activation.h"

enum { BLOCK = 128 /* columns of W that are drawn together */ };

size_t ks_ridge_features_room(const kspec_ridge *r) { return ks_size(BLOCK, r->p + 1); }

/* Draws columns k ... k+c-1 of W, and phases. */
static void draw_frequencies(const kspec_ridge *r, size_t draw, size_t k, size_t c, double *W,
                             double *phases) {
    const uint64_t seed = r->o.seed;
    kspec_random_normal(seed, ks_stream(KS_STREAM_RIDGE, draw), k * r->p, c * r->p, W);
    if (r->mix) ks_student_scale(W, r->o.nu, r->p, k, c, seed, ks_stream(KS_STREAM_RIDGE_SCALES, draw));
    if (r->o.activation != KSPEC_RIDGE_ACTIVATION_PHASES) return;
    kspec_random_uniform(seed, ks_stream(KS_STREAM_RIDGE_PHASES, draw), k, c, phases);
    for (size_t i = 0; i < c; i++) phases[i] *= 2 * 3.14159265358979323846;
}

/* Subtracts the means of S from S and St. */
static void center(const kspec_ridge *r, size_t width, double *S, double *St) {
    const size_t n = r->n, nt = St ? r->nt : 0;
    for (size_t k = 0; k < width; k++) {
        double mean = 0;
        for (size_t i = 0; i < n; i++) mean += S[i * width + k] / (double)n;
        for (size_t i = 0; i < n; i++) S[i * width + k] -= mean;
        for (size_t i = 0; i < nt; i++) St[i * width + k] -= mean;
    }
}

void ks_ridge_features(const kspec_ridge *r, size_t N, size_t draw, double *S, double *St, double *room) {
    const ks_activation f = {r->o.activation, r->o.slope};
    const double *X[2] = {r->X, r->Xt};
    double *to[2] = {S, St}, *W = room, *phases = room + BLOCK * r->p;
    const size_t rows[2] = {r->n, St ? r->nt : 0}, p = r->p, width = ks_activation_width(f.kind) * N;
    for (size_t k = 0; k < N; k += BLOCK) {
        const size_t c = N - k < BLOCK ? N - k : BLOCK;
        draw_frequencies(r, draw, k, c, W, phases);
        for (int s = 0; s < 2; s++) {
            if (!rows[s]) continue;
            ks_gemm(0, 1, rows[s], c, p, 1, X[s], p, W, p, 0, to[s] + k, width);
            for (size_t i = 0; i < rows[s]; i++)
                if (f.kind == KSPEC_RIDGE_ACTIVATION_FOURIER)
                    r->simd->cos_sin(to[s] + i * width + k, to[s] + i * width + N + k, c);
                else
                    ks_activate(&f, to[s] + i * width + k, phases, c);
        }
    }
    if (r->o.intercept) center(r, width, S, St);
}
