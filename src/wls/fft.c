/* Computes discrete Fourier transforms of any length. */
#include "wls/fft.h"

#include "base/error.h"
#include "base/memory.h"

#include <math.h>
#include <string.h>

struct ks_fft {
    size_t n;
    /* the radix of each stage; 0 ends this list */
    int radix[64];
    /* e^(-2 pi i k/n), k < n */
    ks_cplx *root;
    /*
     * the transform that Bluestein's algorithm uses: jk = (j^2 + k^2 - (j-k)^2)/2 makes the sum a
     * convolution with e^(pi i j^2/n), computed by a transform of length m = 2^l >= 2n-1. The pointer is
     * NULL if n has no prime factor above 5.
     */
    ks_fft *longer;
    /* chirp holds e^(-pi i j^2/n) for j < n. */
    ks_cplx *chirp, *filter;
};

/* Returns e^(-2 pi i k/n). It first reduces the angle below pi/4, in exact arithmetic. */
static ks_cplx root_of_unity(size_t k, size_t n) {
    size_t r = 8 * (k % n), octant = r / n; /* The angle is 2 pi k/n = (pi/4) r/n. */
    size_t rest = r - octant * n;
    if (octant % 2) rest = n - rest; /* Odd octants count backwards from the next multiple of pi/2. */
    double t = 0.78539816339744831 * (double)rest / (double)n, c = cos(t), s = sin(t);
    const ks_cplx turn[8] = {{c, s}, {s, c}, {-s, c}, {-c, s}, {-c, -s}, {-s, -c}, {s, -c}, {c, -s}};
    return ks_conj(turn[octant]);
}

static kspec_status make_chirp(ks_fft *f, kspec_error *err) {
    size_t n = f->n, m = 1;
    while (m < 2 * n - 1) m *= 2;
    kspec_status st = ks_fft_make(m, &f->longer, err);
    if (st) return st;
    f->chirp = ks_alloc(n, sizeof *f->chirp);
    f->filter = ks_zalloc(m, sizeof *f->filter);
    ks_cplx *scratch = ks_alloc(m, sizeof *scratch);
    if (f->chirp && f->filter && scratch) {
        size_t square = 0; /* j^2 mod 2n */
        for (size_t j = 0; j < n; j++) {
            f->chirp[j] = root_of_unity(square, 2 * n);
            square = (square + 2 * j + 1) % (2 * n);
            f->filter[j] = f->filter[(m - j) % m] = ks_conj(f->chirp[j]);
        }
        ks_fft_run(f->longer, -1, f->filter, scratch);
    } else {
        st = ks_nomem(err, "a Fourier transform", ks_size(3 * m, sizeof *scratch));
    }
    ks_free(scratch);
    return st;
}

kspec_status ks_fft_make(size_t n, ks_fft **out, kspec_error *err) {
    *out = NULL;
    if (n > SIZE_MAX / 64)
        return ks_fail(err, KSPEC_E_ARG, "a Fourier transform of length %zu is too long", n);
    kspec_status st = ks_check_memory(err, ks_size(n, sizeof(ks_cplx)), "a Fourier transform");
    if (st) return st;
    ks_fft *f = ks_zalloc(1, sizeof *f);
    if (!f) return ks_nomem(err, "a Fourier transform", sizeof *f);
    f->n = n;
    size_t rest = n, stages = 0;
    const size_t radices[] = {4, 2, 3, 5};
    for (int r = 0; r < 4; r++)
        for (; rest % radices[r] == 0; rest /= radices[r]) f->radix[stages++] = (int)radices[r];
    if (rest > 1) {
        st = make_chirp(f, err);
    } else {
        f->root = ks_alloc(n, sizeof *f->root);
        if (!f->root) st = ks_nomem(err, "a Fourier transform", ks_size(n, sizeof *f->root));
        for (size_t k = 0; k < n && !st; k++) f->root[k] = root_of_unity(k, n);
    }
    if (st) {
        ks_fft_free(f);
        return st;
    }
    *out = f;
    return KSPEC_OK;
}

void ks_fft_free(ks_fft *f) {
    if (!f) return;
    ks_fft_free(f->longer);
    ks_free(f->root);
    ks_free(f->chirp);
    ks_free(f->filter);
    ks_free(f);
}

size_t ks_fft_scratch(const ks_fft *f) { return f->longer ? 2 * f->longer->n : f->n; }

static inline ks_cplx add(ks_cplx a, ks_cplx b) { return (ks_cplx){a.re + b.re, a.im + b.im}; }
static inline ks_cplx sub(ks_cplx a, ks_cplx b) { return (ks_cplx){a.re - b.re, a.im - b.im}; }
static inline ks_cplx scale(double c, ks_cplx a) { return (ks_cplx){c * a.re, c * a.im}; }
static inline ks_cplx minus_i(ks_cplx a) { return (ks_cplx){a.im, -a.re}; }

/* Computes the transforms of length 2 to 5 in place: x_k = sum_j x_j e^(-2 pi i jk/r). */
static inline void butterfly2(ks_cplx *x) {
    ks_cplx a = x[0];
    x[0] = add(a, x[1]), x[1] = sub(a, x[1]);
}
static inline void butterfly3(ks_cplx *x) {
    const double s = 0.86602540378443865; /* sin(2 pi/3) */
    ks_cplx sum = add(x[1], x[2]), middle = sub(x[0], scale(0.5, sum)),
            turn = scale(s, minus_i(sub(x[1], x[2])));
    x[0] = add(x[0], sum), x[1] = add(middle, turn), x[2] = sub(middle, turn);
}
static inline void butterfly4(ks_cplx *x) {
    ks_cplx a = add(x[0], x[2]), b = sub(x[0], x[2]), c = add(x[1], x[3]), d = minus_i(sub(x[1], x[3]));
    x[0] = add(a, c), x[1] = add(b, d), x[2] = sub(a, c), x[3] = sub(b, d);
}
static inline void butterfly5(ks_cplx *x) {
    const double c1 = 0.30901699437494742, c2 = -0.80901699437494742, s1 = 0.95105651629515357,
                 s2 = 0.58778525229247313; /* These are the cosines and sines of 2 pi/5 and 4 pi/5. */
    ks_cplx p = add(x[1], x[4]), q = add(x[2], x[3]), u = sub(x[1], x[4]), v = sub(x[2], x[3]);
    ks_cplx a = add(x[0], add(scale(c1, p), scale(c2, q))), b = add(x[0], add(scale(c2, p), scale(c1, q)));
    ks_cplx c = minus_i(add(scale(s1, u), scale(s2, v))), d = minus_i(sub(scale(s2, u), scale(s1, v)));
    x[0] = add(x[0], add(p, q)), x[1] = add(a, c), x[2] = add(b, d), x[3] = sub(b, d), x[4] = sub(a, c);
}

/*
 * Performs a stage of Stockham's algorithm. A stage takes n = len*s values as s interleaved sequences of
 * length len = r*m, and turns them into s*r interleaved sequences of length m. Entries i, i+m, i+2m, ...
 * of sequence q enter one butterfly. Its result number k is multiplied by e^(-2 pi i ik/len).
 */
#define STAGE(r)                                                                                  \
    static void stage##r(size_t m, size_t s, const ks_cplx *root, const ks_cplx *x, ks_cplx *y) { \
        for (size_t i = 0; i < m; i++) {                                                          \
            ks_cplx turn[r], v[r];                                                                \
            for (size_t k = 0; k < r; k++) turn[k] = root[i * k * s];                             \
            for (size_t q = 0; q < s; q++) {                                                      \
                for (size_t k = 0; k < r; k++) v[k] = x[q + s * (i + m * k)];                     \
                butterfly##r(v);                                                                  \
                y[q + s * r * i] = v[0];                                                          \
                for (size_t k = 1; k < r; k++) y[q + s * (r * i + k)] = ks_cmul(v[k], turn[k]);   \
            }                                                                                     \
        }                                                                                         \
    }
STAGE(2)
STAGE(3)
STAGE(4)
STAGE(5)

static void forward(const ks_fft *f, ks_cplx *z, ks_cplx *scratch) {
    ks_cplx *x = z, *y = scratch;
    size_t s = 1;
    for (const int *r = f->radix; *r; s *= (size_t)*r, r++) {
        size_t m = f->n / s / (size_t)*r;
        (*r == 4 ? stage4 : *r == 2 ? stage2 : *r == 3 ? stage3 : stage5)(m, s, f->root, x, y);
        ks_cplx *swap = x;
        x = y, y = swap;
    }
    if (x != z) memcpy(z, x, f->n * sizeof *z);
}

static void conjugate(ks_cplx *z, size_t n) {
    for (size_t k = 0; k < n; k++) z[k].im = -z[k].im;
}

static void bluestein(const ks_fft *f, ks_cplx *z, ks_cplx *scratch) {
    size_t n = f->n, m = f->longer->n;
    ks_cplx *u = scratch;
    for (size_t j = 0; j < n; j++) u[j] = ks_cmul(z[j], f->chirp[j]);
    memset(u + n, 0, (m - n) * sizeof *u);
    forward(f->longer, u, scratch + m);
    for (size_t k = 0; k < m; k++) u[k] = ks_conj(ks_cmul(u[k], f->filter[k]));
    /* The inverse transform conjugates the numbers before and after the transform. */
    forward(f->longer, u, scratch + m);
    for (size_t k = 0; k < n; k++) z[k] = scale(1 / (double)m, ks_cmul(ks_conj(u[k]), f->chirp[k]));
}

void ks_fft_run(const ks_fft *f, int sign, ks_cplx *z, ks_cplx *scratch) {
    if (sign > 0) conjugate(z, f->n);
    if (f->longer)
        bluestein(f, z, scratch);
    else
        forward(f, z, scratch);
    if (sign > 0) conjugate(z, f->n);
}
