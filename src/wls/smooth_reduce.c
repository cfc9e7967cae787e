/*
 * Expresses data in a basis. On a regular grid it uses one Fourier transform, otherwise one QR
 * factorisation, which combines blocks of rows one after the other.
 */
#include "base/error.h"
#include "linalg/qr.h"
#include "wls/smooth.h"

#include <math.h>
#include <string.h>

static const double PI = 3.14159265358979323846;

/* ---- on a regular grid ---- */

/* A cosine transform is the Fourier transform of the points and their mirror image. */
static size_t transform_length(const ks_basis *b, size_t N) {
    return b->kind == KSPEC_WLS_BASIS_COSINE ? 2 * N : N;
}

/* Nyquist's frequency has only a cosine, whose squares add up to 2N. */
static int is_nyquist(const ks_reduced *r, size_t k) {
    return r->basis.kind == KSPEC_WLS_BASIS_REAL && r->N % 2 == 0 && k == r->N - 1;
}

/* Returns the angle between the first point and `low`, which rotates function k of a periodic basis. */
static ks_cplx phase(double angle) { return (ks_cplx){cos(angle), sin(angle)}; }

static void coefficients(const ks_reduced *r, const ks_cplx *t, double *z, size_t rows) {
    const double N = (double)r->N, two = sqrt(2 / N), one = 1 / sqrt(N);
    for (size_t k = 0; k < rows; k++) {
        const size_t l = ks_basis_level(&r->basis, k);
        switch (r->basis.kind) {
        case KSPEC_WLS_BASIS_FOURIER: z[k] = one * (k % 2 ? t[l].im : t[l].re); break;
        case KSPEC_WLS_BASIS_COSINE: {
            const ks_cplx turned = ks_cmul(t[l], phase(-PI * (double)l / (2 * N)));
            z[k] = 0.5 * (l ? two : one) * turned.re;
            break;
        }
        default: z[k] = l == 0 || is_nyquist(r, k) ? one * t[l].re : k % 2 ? two * t[l].re : -two * t[l].im;
        }
    }
}

static kspec_status reduce_grid(const ks_smooth_data *d, ks_arena *arena, ks_reduced *r, kspec_error *err) {
    const size_t N = d->N, length = transform_length(&r->basis, N), rows = r->rows;
    ks_fft *fft = NULL;
    kspec_status st = ks_fft_make(length, &fft, err);
    if (st) return st;
    const size_t room = ks_size_add(length, ks_fft_scratch(fft));
    ks_cplx *t = ks_alloc(room, sizeof *t);
    double *z = ks_arena_alloc(arena, rows, sizeof *z);
    r->diagonal = ks_arena_alloc(arena, r->K, sizeof *r->diagonal);
    if (!t || arena->failed) {
        st = ks_nomem(err, "a Fourier transform", ks_size(room, sizeof *t));
    } else {
        memcpy(t, d->y, N * sizeof *t);
        for (size_t j = 0; j < length - N; j++) t[length - 1 - j] = t[j];
        ks_fft_run(fft, -1, t, t + length);
        coefficients(r, t, z, rows);
        for (size_t k = r->K; k < rows; k++) r->rest += z[k] * z[k];
        for (size_t k = 0; k < r->K; k++) r->diagonal[k] = sqrt((is_nyquist(r, k) ? 2. : 1.) * (double)N);
        r->z = z;
    }
    ks_free(t);
    ks_fft_free(fft);
    return st;
}

/* ---- back to the grid ---- */

/* Places the coefficients for the transform: e^{i angle(l)} theta_l goes to place `twice` l. */
static void place(const ks_reduced *r, const double *theta, ks_cplx *t, size_t length) {
    const double root2 = sqrt(2.0), N = (double)r->N;
    memset(t, 0, length * sizeof *t);
    for (size_t k = 0; k < r->K; k++) {
        const size_t l = ks_basis_level(&r->basis, k);
        const double x = theta[k];
        switch (r->basis.kind) {
        case KSPEC_WLS_BASIS_FOURIER: *(k % 2 ? &t[l].im : &t[l].re) += x; break;
        case KSPEC_WLS_BASIS_COSINE: {
            const ks_cplx e = phase(PI * (double)l / (2 * N));
            t[l].re += (l ? root2 : 1) * x * e.re, t[l].im += (l ? root2 : 1) * x * e.im;
            break;
        }
        default:
            if (k == 0 || k % 2)
                t[l].re += (l ? root2 : 1) * x;
            else
                t[l].im -= root2 * x;
        }
    }
}

/* Prepares the sum of v_k phi_k^2, using 2 cos^2 = 1 + cos(2u) and 2 sin^2 = 1 - cos(2u). */
static void place_squares(const ks_reduced *r, const double *v, ks_cplx *t, size_t length) {
    const size_t N = r->N;
    memset(t, 0, length * sizeof *t);
    for (size_t k = 0; k < r->K; k++) {
        const size_t l = ks_basis_level(&r->basis, k), twice = 2 * l % length;
        if (r->basis.kind == KSPEC_WLS_BASIS_FOURIER) {
            t[0].re += v[k] / 2; /* The two functions of a mode have equal v, and cos^2 + sin^2 = 1. */
            continue;
        }
        t[0].re += v[k];
        if (k == 0) continue;
        if (r->basis.kind == KSPEC_WLS_BASIS_COSINE) {
            const ks_cplx e = phase(PI * (double)l / (double)N);
            t[twice].re += v[k] * e.re, t[twice].im += v[k] * e.im;
        } else {
            t[twice].re += k % 2 ? v[k] : -v[k];
        }
    }
}

kspec_status ks_smooth_on_grid(const ks_reduced *r, const double *theta, const double *v, ks_cplx *curve,
                               double *variance, kspec_error *err) {
    const size_t N = r->N, length = transform_length(&r->basis, N);
    ks_fft *fft = NULL;
    kspec_status st = ks_fft_make(length, &fft, err);
    if (st) return st;
    const size_t room = ks_size_add(length, ks_fft_scratch(fft));
    ks_cplx *t = ks_alloc(room, sizeof *t);
    if (!t) {
        ks_fft_free(fft);
        return ks_nomem(err, "a Fourier transform", ks_size(room, sizeof *t));
    }
    place(r, theta, t, length);
    ks_fft_run(fft, 1, t, t + length);
    for (size_t j = 0; j < N; j++)
        curve[j] = (ks_cplx){t[j].re, r->basis.kind == KSPEC_WLS_BASIS_FOURIER ? t[j].im : 0};
    if (v) {
        place_squares(r, v, t, length);
        ks_fft_run(fft, 1, t, t + length);
        for (size_t j = 0; j < N; j++) variance[j] = t[j].re;
    }
    ks_free(t);
    ks_fft_free(fft);
    return st;
}

/* ---- any points ---- */

typedef struct {
    const ks_basis *b;
    const ks_smooth_data *d;
    /* the points of a block, the columns of [Phi y], and R of each block (width x width, row-major) */
    size_t points, width;
    double *R;
} qr_job;

/*
 * Computes R of the column-major A (m x n). R is n x n and row-major, with zeros below the diagonal and in
 * rows that A lacks.
 */
static kspec_status triangle(size_t m, size_t n, double *A, double *R, kspec_error *err) {
    kspec_status st = ks_qr(m, n, A, err);
    memset(R, 0, n * n * sizeof *R);
    for (size_t j = 0; j < n && !st; j++)
        for (size_t i = 0; i <= j && i < m; i++) R[i * n + j] = A[j * m + i];
    return st;
}

static kspec_status qr_block(void *ctx, size_t chunk, const ks_worker *worker) {
    const qr_job *j = ctx;
    const size_t parts = ks_basis_parts(j->b), K = j->b->K, n = j->width, first = chunk * j->points,
                 count = j->d->N - first < j->points ? j->d->N - first : j->points, m = count * parts;
    double *A = ks_alloc(ks_size(m, n) + parts * K, sizeof *A);
    if (!A) return ks_nomem(worker->err, "a block of functions", ks_size(ks_size(m, n), sizeof *A));
    double *phi = A + m * n;
    for (size_t i = 0; i < count; i++) {
        const double w = j->d->root_weight ? j->d->root_weight[first + i] : 1;
        const ks_cplx y = j->d->y[first + i];
        ks_basis_values(j->b, j->d->x[first + i], phi);
        for (size_t c = 0; c < parts; c++) {
            for (size_t k = 0; k < K; k++) A[k * m + i * parts + c] = w * phi[c * K + k];
            A[K * m + i * parts + c] = w * (c ? y.im : y.re);
        }
    }
    kspec_status st = triangle(m, n, A, j->R + chunk * n * n, worker->err);
    ks_free(A);
    return st;
}

/* Computes R of two stacked triangles into the first triangle. */
static kspec_status combine(size_t n, double *top, const double *below, double *A, kspec_error *err) {
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < n; i++)
            A[j * 2 * n + i] = top[i * n + j], A[j * 2 * n + n + i] = below[i * n + j];
    return triangle(2 * n, n, A, top, err);
}

static kspec_status reduce_any(const ks_run *run, const ks_smooth_data *d, ks_arena *arena, ks_reduced *r,
                               kspec_error *err) {
    const size_t K = r->K, n = K + 1, points = 4 * n > 2048 ? 4 * n : 2048,
                 blocks = (d->N + points - 1) / points, square = ks_size(n, n);
    kspec_status st = ks_check_memory(err, ks_size(ks_size(blocks + 2, square), sizeof(double)),
                                      "a QR factorisation of %zu functions", K);
    if (st) return st;
    double *all = ks_alloc(ks_size(blocks + 2, square), sizeof *all);
    r->z = ks_arena_alloc(arena, K, sizeof *r->z);
    r->R = ks_arena_alloc(arena, ks_size(K, K), sizeof *r->R);
    if (!all || arena->failed) {
        ks_free(all);
        return ks_nomem(err, "a QR factorisation", ks_size(ks_size(blocks + 2, square), sizeof *all));
    }
    qr_job j = {&r->basis, d, points, n, all};
    st = ks_parallel_for(run, blocks, qr_block, &j, err);
    for (size_t k = 1; k < blocks && !st; k++)
        st = combine(n, all, all + k * square, all + blocks * square, err);
    for (size_t i = 0; i < K && !st; i++) {
        /* a positive diagonal */
        const double sign = all[i * n + i] < 0 ? -1 : 1;
        for (size_t k = 0; k < K; k++) r->R[i * K + k] = sign * all[i * n + k];
        r->z[i] = sign * all[i * n + K];
    }
    r->rest = all[K * n + K] * all[K * n + K];
    ks_free(all);
    return st;
}

kspec_status ks_smooth_reduce(const ks_run *run, const ks_basis *b, const ks_smooth_data *d, ks_arena *arena,
                              ks_reduced *out, kspec_error *err) {
    *out = (ks_reduced){
        .basis = *b, .K = b->K, .flat = ks_basis_parts(b), .rows = d->N * ks_basis_parts(b), .N = d->N};
    return ks_basis_is_regular(b, d) ? reduce_grid(d, arena, out, err) : reduce_any(run, d, arena, out, err);
}
