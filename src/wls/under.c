/*
 * Computes the expected errors for p < N. Let x_m (p coefficients) be the fit of the mode z^m, z = e^{ix},
 * by the modes below p: a unit vector for m < p. A mode that is not learned contributes x_m to theta^, and
 * so
 *
 *     E_0 = sum_{k>=p} c t_k^(-2 gamma) + sum_{m<p} kappa_m + sum_{p<=m<N} kappa'_m |x_m|^2
 *     E_noise = (1/N) sum_{m<N} s_m |x_m|^2,   s_m the spectrum of the noise (noise^2)
 *
 * with kappa_m the variance of m's aliases m+N, m+2N, ... and kappa'_m = c t_m^(-2 gamma) + kappa_m: all
 * terms are positive.
 *
 * On the circle, fitting commutes with multiplication by z. Let Phi be the monic polynomial of degree p
 * orthogonal to all polynomials of lower degree (z^p minus its fit x_p), Phi*_k = conj(Phi_{p-k}),
 * nu = <Phi,Phi>. Projecting on degrees 0 ... p-1 and on 1 ... p differs by Phi* and Phi only, hence
 *
 *     x_m = z x_{m-1} + a_m Phi* - b_m Phi,    b_m = <z^m,Phi>/nu,  a_m = <z^m,Phi*>/nu = conj(b_{p-m}),
 *
 * m modulo N. Each m takes one shift and two additions of a multiple of a vector; their rounding errors are
 * shifted out, not amplified. Reversing the coefficients maps x_m to x_{p-1-m}, so half of the m suffice.
 * Where the two halves meet they must agree; the difference measures the accuracy.
 */
#include "base/error.h"
#include "team/team.h"
#include "wls/grid.h"

#include <math.h>
#include <string.h>

typedef struct {
    const ks_wls_grid *g;
    const ks_wls_place *at;
    /* of each place */
    ks_wls_errors *made;
    /* N numbers each: the weights, kappa_m, and c t_m^(-2 gamma) */
    const double *w, *kappa, *own;
    const ks_fft *fft;
    /* per worker */
    ks_cplx *scratch;
    size_t scratch_size;
} under_job;

/* Holds sums over the fits of all modes. */
typedef struct {
    /* norms is the sum of s_m |x_m|^2 over m < N. weighted is the sum of kappa'_m |x_m|^2 over p <= m < N. */
    double norms, weighted;
    /* the squared Frobenius norms of sum_m s_m x_m x_m* and of sum_m s_m x_m x_-m^T */
    double hermitian, symmetric;
    double accuracy;
} fits;

static ks_wls_errors finish(const under_job *j, size_t p, const fits *x) {
    const ks_wls_grid *g = j->g;
    double N = (double)g->N, e = 0;
    for (size_t m = g->N; m-- > 0;) e += m < p ? 2 * j->kappa[m] : j->own[m] + j->kappa[m];
    /*
     * 2 sum (Re G)^2 is tr G^2 + |sum_m x_m x_-m^T|^2/N^2 for real noise, and tr G^2 for circular complex
     * noise.
     */
    double variance = 1 / (N * N) * (x->hermitian + (g->complex_noise ? 0 : x->symmetric));
    return (ks_wls_errors){.error_noise_free = e + x->weighted,
                           .error_noise = x->norms / N,
                           .variance = g->no_variance ? NAN : variance,
                           .accuracy = fmax(x->accuracy, 2.3e-16)};
}

/* Computes Phi and Phi* (p+1 coefficients each) and b (N numbers). It returns 0 if the solver fails. */
static int orthogonal(const ks_toeplitz *t, ks_cplx *Phi, ks_cplx *Star, ks_cplx *b, ks_cplx *scratch) {
    size_t N = t->N, p = t->p;
    double nu = 0;
    for (size_t m = 0; m < N; m++) b[m] = (ks_cplx){m == p, 0};
    ks_fft_run(t->fft, 1, b, scratch);
    if (ks_toeplitz_solve(t, b, Phi, scratch) < 0) return 0;
    for (size_t k = 0; k < p; k++) Phi[k] = (ks_cplx){-Phi[k].re, -Phi[k].im};
    Phi[p] = (ks_cplx){1, 0};
    for (size_t k = 0; k <= p; k++) Star[k] = ks_conj(Phi[p - k]);
    ks_synthesis(t->fft, N, Phi, p + 1, b, scratch);
    for (size_t i = 0; i < N; i++) nu += t->w[i] * ks_cabs2(b[i]);
    for (size_t i = 0; i < N; i++) b[i].re *= t->w[i] / nu, b[i].im *= t->w[i] / nu;
    ks_fft_run(t->fft, -1, b, scratch);
    for (size_t m = 0; m < N; m++) b[m] = ks_conj(b[m]);
    return 1;
}

/* Adds a s - b f to x, and returns |x|^2. */
static double step(size_t p, ks_cplx *x, ks_cplx a, const ks_cplx *s, ks_cplx b, const ks_cplx *f) {
    double norm = 0;
    for (size_t k = 0; k < p; k++) {
        x[k].re += a.re * s[k].re - a.im * s[k].im - b.re * f[k].re + b.im * f[k].im;
        x[k].im += a.re * s[k].im + a.im * s[k].re - b.re * f[k].im - b.im * f[k].re;
        norm += ks_cabs2(x[k]);
    }
    return norm;
}

static ks_cplx a_of(const ks_cplx *b, size_t N, size_t p, size_t m) { return ks_conj(b[(p + N - m) % N]); }

/*
 * Returns the distance of x from y. x is fitted upwards from x_{p-1}; y is fitted down from x_N, then
 * reversed and conjugated.
 */
static double mismatch(size_t p, const ks_cplx *x, const ks_cplx *y) {
    double most = 0, size = 1;
    for (size_t k = 0; k < p; k++) {
        ks_cplx d = {x[k].re - y[p - 1 - k].re, x[k].im + y[p - 1 - k].im};
        most = fmax(most, ks_cabs2(d));
        size = fmax(size, ks_cabs2(x[k]));
    }
    return sqrt(most / size);
}

/* Computes |x_m|^2 for all m. Scratch: path has room for N + 2 numbers, before for p numbers. */
static void norms(const under_job *j, size_t p, const ks_cplx *Phi, const ks_cplx *Star, const ks_cplx *b,
                  ks_cplx *path, ks_cplx *before, fits *f) {
    size_t N = j->g->N, modes = N - p, half = (modes + 1) / 2;
    /* A shift of x_m only moves the pointer back by one, so no coefficient is copied. */
    ks_cplx *x = path + half + 1;
    memset(path, 0, (half + 1 + p) * sizeof *path);
    x[p - 1].re = 1;
    f->norms = f->weighted = 0;
    for (size_t m = 0; m < p; m++) f->norms += ks_wls_noise(j->g, m);
    for (size_t i = 0; i < half; i++) {
        size_t m = p + i, mirror = N - 1 - i;
        double norm = step(p, --x, a_of(b, N, p, m), Star, b[m], Phi);
        f->norms += (ks_wls_noise(j->g, m) + (mirror == m ? 0 : ks_wls_noise(j->g, mirror))) * norm;
        f->weighted += (j->own[m] + j->kappa[m]) * norm;
        if (mirror != m) f->weighted += (j->own[mirror] + j->kappa[mirror]) * norm;
    }
    memcpy(before, x, p * sizeof *x);
    if (modes % 2 == 0) step(p, --x, a_of(b, N, p, p + half), Star, b[p + half], Phi);
    f->accuracy = mismatch(p, x, before);
}

/*
 * Computes sums over all modes by the recursion, with vectors of p+1 coefficients. For H = sum_m x_m x_m*,
 * f = sum_m conj(a_m) x_m, g = sum_m conj(b_m) x_m, A = sum |a_m|^2 = sum |b_m|^2, c = sum a_m conj(b_m),
 * F = f - A/2 Phi* + conj(c)/2 Phi and G = g + A/2 Phi - c/2 Phi*,
 *
 *     H_kl - H_{k-1,l-1} = F_k conj(Phi*_l) + Phi*_k conj(F_l) - G_k conj(Phi_l) - Phi_k conj(G_l);
 *
 * and for S = sum_m x_m x_-m^T, h = sum_m a_{1-m} x_m, q = sum_m b_{1-m} x_m,
 *
 *     S_{k,l-1} - S_{k-1,l} = Phi*_k h_l - Phi_k q_l - h_k Phi*_l + q_k Phi_l.
 *
 * f, g, h and q are fits of the functions sum_m conj(a_m) z^m, ... The diagonals (antidiagonals) are
 * summed in run[].
 */
static double hermitian_sum(size_t p, const ks_cplx *Phi, const ks_cplx *Star, const ks_cplx *F,
                            const ks_cplx *G, ks_cplx *run, double *corner) {
    double sum = 0;
    memset(run, 0, (p + 1) * sizeof *run);
    for (size_t k = 0; k < p; k++) {
        ks_cplx s = Star[k], e = Phi[k], u = F[k], v = G[k];
        double row = 0;
        for (size_t d = 0; d < p - k; d++) {
            ks_cplx S = Star[k + d], E = Phi[k + d], U = F[k + d], V = G[k + d];
            run[d].re += u.re * S.re + u.im * S.im + s.re * U.re + s.im * U.im - v.re * E.re - v.im * E.im -
                         e.re * V.re - e.im * V.im;
            run[d].im += u.im * S.re - u.re * S.im + s.im * U.re - s.re * U.im - v.im * E.re + v.re * E.im -
                         e.im * V.re + e.re * V.im;
            row += ks_cabs2(run[d]);
        }
        sum += 2 * row - ks_cabs2(run[0]);
    }
    /* Row p of H is zero. */
    *corner = run[0].re +
              2 * (F[p].re * Star[p].re + F[p].im * Star[p].im - G[p].re * Phi[p].re - G[p].im * Phi[p].im);
    return sum;
}

static double symmetric_sum(size_t p, const ks_cplx *Phi, const ks_cplx *Star, const ks_cplx *h,
                            const ks_cplx *q, ks_cplx *run) {
    double sum = 0;
    memset(run, 0, 2 * p * sizeof *run);
    for (size_t k = 0; k < p; k++) {
        ks_cplx s = Star[k], e = Phi[k], u = h[k], v = q[k], *r = run + k;
        double row = 0;
        for (size_t c = k; c < p; c++) {
            ks_cplx S = Star[c + 1], E = Phi[c + 1], U = h[c + 1], V = q[c + 1];
            r[c].re += s.re * U.re - s.im * U.im - e.re * V.re + e.im * V.im - u.re * S.re + u.im * S.im +
                       v.re * E.re - v.im * E.im;
            r[c].im += s.re * U.im + s.im * U.re - e.re * V.im - e.im * V.re - u.re * S.im - u.im * S.re +
                       v.re * E.im + v.im * E.re;
            row += ks_cabs2(r[c]);
        }
        sum += 2 * row - ks_cabs2(r[k]);
    }
    return sum;
}

/* Computes fit[0 ... p] = sum_m c_m x_m. grid holds c and is overwritten. */
static int fit_sum(const ks_toeplitz *t, ks_cplx *grid, ks_cplx *fit, ks_cplx *scratch) {
    ks_fft_run(t->fft, 1, grid, scratch);
    fit[t->p] = (ks_cplx){0, 0};
    return ks_toeplitz_solve(t, grid, fit, scratch) >= 0;
}

static void add_scaled(size_t n, ks_cplx *y, ks_cplx c, const ks_cplx *x) {
    for (size_t k = 0; k < n; k++) {
        ks_cplx d = ks_cmul(c, x[k]);
        y[k].re += d.re, y[k].im += d.im;
    }
}

/* Computes both squares. v is scratch for 7 (N+1) numbers, plus the scratch of the solver. */
static int squares(const ks_toeplitz *t, int complex_noise, const ks_cplx *Phi, const ks_cplx *Star,
                   const ks_cplx *b, ks_cplx *v, fits *x) {
    size_t N = t->N, p = t->p, n = p + 1;
    ks_cplx *F = v, *G = F + n, *h = F, *q = G, *run = G + n, *grid = run + 2 * n, *scratch = grid + N;
    double A = 0, corner;
    ks_cplx c = {0, 0};
    for (size_t m = 0; m < N; m++) {
        ks_cplx a = a_of(b, N, p, m), ab = ks_cmul(a, ks_conj(b[m]));
        A += ks_cabs2(a);
        c.re += ab.re, c.im += ab.im;
        grid[m] = ks_conj(a);
    }
    if (!fit_sum(t, grid, F, scratch)) return 0;
    for (size_t m = 0; m < N; m++) grid[m] = ks_conj(b[m]);
    if (!fit_sum(t, grid, G, scratch)) return 0;
    add_scaled(n, F, (ks_cplx){-A / 2, 0}, Star);
    add_scaled(n, F, (ks_cplx){c.re / 2, -c.im / 2}, Phi);
    add_scaled(n, G, (ks_cplx){A / 2, 0}, Phi);
    add_scaled(n, G, (ks_cplx){-c.re / 2, -c.im / 2}, Star);
    x->hermitian = hermitian_sum(p, Phi, Star, F, G, run, &corner);
    x->accuracy = fmax(x->accuracy, fabs(corner) / sqrt(x->hermitian));
    if (complex_noise) return 1;
    for (size_t m = 0; m < N; m++) grid[m] = a_of(b, N, p, (N + 1 - m) % N);
    if (!fit_sum(t, grid, h, scratch)) return 0;
    for (size_t m = 0; m < N; m++) grid[m] = b[(N + 1 - m) % N];
    if (!fit_sum(t, grid, q, scratch)) return 0;
    x->symmetric = symmetric_sum(p, Phi, Star, h, q, run);
    return 1;
}

static const double worst_accuracy = 1e-9; /* QR replaces it */

static kspec_status one_point(void *ctx, size_t chunk, const ks_worker *worker) {
    under_job *j = ctx;
    size_t N = j->g->N, p = j->at[chunk].p;
    ks_cplx *Phi = j->scratch + (size_t)worker->index * j->scratch_size, *Star = Phi + N + 1,
            *b = Star + N + 1, *rest = b + N;
    ks_toeplitz t = {N, p, j->w, j->fft, NULL};
    fits x = {.accuracy = INFINITY};
    int ok = orthogonal(&t, Phi, Star, b, rest);
    if (ok) norms(j, p, Phi, Star, b, rest, rest + N + 2, &x);
    if (ok && !j->g->no_variance && j->g->spectrum)
        x.accuracy = INFINITY; /* The recursion for sums of squares needs white noise. */
    else if (ok && !j->g->no_variance) {
        ok = squares(&t, j->g->complex_noise, Phi, Star, b, rest, &x);
        const double s4 = j->g->noise * j->g->noise * j->g->noise * j->g->noise;
        x.hermitian *= s4, x.symmetric *= s4;
    }
    if (!ok) x.accuracy = INFINITY;
    j->made[chunk] = finish(j, p, &x);
    return KSPEC_OK;
}

/* Computes a point from the map M: x_m = M z^m, so sums over m are N M M* and N M M^T. */
static kspec_status dense_point(const under_job *j, size_t p, ks_wls_errors *out, kspec_error *err) {
    size_t N = j->g->N;
    ks_arena arena = {0};
    fits x = {0};
    ks_cplx *B, *grid = NULL, *gram = NULL;
    kspec_status st = ks_wls_dense_map(N, p, j->w, &arena, &B, &x.accuracy, err);
    if (!st) {
        grid = ks_arena_alloc(&arena, ks_size_add(N, ks_fft_scratch(j->fft)), sizeof *grid);
        gram = ks_arena_alloc(&arena, j->g->no_variance ? 1 : ks_size(p, p), sizeof *gram);
        if (arena.failed) st = ks_nomem(err, "a QR factorisation", arena.failed);
    }
    for (size_t k = 0; k < p && !st; k++) {
        ks_cplx *row = B + k * N;
        for (size_t i = 0; i < N; i++) grid[i] = ks_conj(row[i]);
        ks_fft_run(j->fft, 1, grid, grid + N);
        for (size_t m = 0; m < N; m++) {
            const double s = ks_wls_noise(j->g, m), norm = m < p ? (double)(m == k) : ks_cabs2(grid[m]);
            x.norms += s * norm;
            if (m >= p) x.weighted += (j->own[m] + j->kappa[m]) * norm;
            /* In this basis, the square root of the covariance of the noise is diagonal. */
            grid[m].re *= sqrt(s) / (double)N, grid[m].im *= sqrt(s) / (double)N;
        }
        ks_fft_run(j->fft, -1, grid, grid + N);
        for (size_t i = 0; i < N; i++) row[i] = ks_conj(grid[i]);
    }
    if (!st && !j->g->no_variance) {
        double scale = (double)N * (double)N;
        ks_gram_norms(N, p, B, gram, &x.hermitian, &x.symmetric);
        x.hermitian *= scale, x.symmetric *= scale;
    }
    if (!st) *out = finish(j, p, &x);
    ks_arena_free(&arena);
    return st;
}

kspec_status ks_wls_under(const ks_run *run, const ks_wls_grid *g, const ks_wls_place *at, size_t count,
                          int qr, ks_wls_errors *out, kspec_error *err) {
    size_t N = g->N, workers = (size_t)ks_workers(run, count);
    ks_arena arena = {0};
    ks_fft *fft;
    kspec_status st = ks_fft_make(N, &fft, err);
    if (st) return st;
    double *w = ks_arena_alloc(&arena, N, sizeof *w), *kappa = ks_arena_zalloc(&arena, N, sizeof *kappa),
           *own = ks_arena_alloc(&arena, N, sizeof *own), prior = ks_wls_prior_sum(g);
    under_job j = {.g = g, .at = at, .w = w, .kappa = kappa, .own = own, .fft = fft};
    j.scratch_size = 3 * N + 2 + 5 * (N + 1) + ks_toeplitz_scratch(&(ks_toeplitz){N, N, w, fft, NULL});
    st = ks_check_memory(err, ks_size(ks_size(workers, j.scratch_size), sizeof *j.scratch),
                         "the fits of all modes");
    j.made = ks_arena_alloc(&arena, count, sizeof *j.made);
    if (!st) j.scratch = ks_arena_alloc(&arena, ks_size(workers, j.scratch_size), sizeof *j.scratch);
    if (!st && arena.failed) st = ks_nomem(err, "the fits of all modes", arena.failed);
    if (!st) {
        ks_wls_weights(g, w);
        for (size_t k = g->P; k-- > N;) kappa[k % N] += ks_wls_power(k, -2 * g->gamma) / prior;
        for (size_t m = 0; m < N; m++) own[m] = ks_wls_power(m, -2 * g->gamma) / prior;
        const ks_share made = {j.made, sizeof *j.made, count, 1};
        st = ks_team_for(run, "points", count, one_point, &j, &made, 1, err);
        for (size_t i = 0; i < count && !st; i++) out[at[i].index] = j.made[i];
    }
    for (size_t i = 0; i < count && qr && g->spectrum && !g->no_variance && !st; i++) {
        const double work = (double)N * (double)at[i].p * (double)at[i].p;
        if (work > 1e11)
            st = ks_fail(
                err, KSPEC_E_NUMERIC,
                "the variance with a noise spectrum would take N p^2 = %.2g above 1e+11; leave it out", work);
    }
    for (size_t i = 0; i < count && qr && !st; i++)
        if (!(out[at[i].index].accuracy <= worst_accuracy)) {
            st = dense_point(&j, at[i].p, &out[at[i].index], err);
            if (!st && ks_run_report(run, 1)) st = ks_fail(err, KSPEC_E_CANCELLED, "cancelled");
        }
    ks_fft_free(fft);
    ks_arena_free(&arena);
    return st;
}
