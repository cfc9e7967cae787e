/* Computes second-order sums of two matrices on the CPU, also without each row and column. */
#include "pairs/sums.h"

#include "base/error.h"
#include "linalg/linalg.h"
#include "pairs/lists.h"
#include "pairs/sums_device.h"
#include "team/team.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* ---- averages ---- */

/*
 * Returns the mean over tuples of different rows, where n = P is the number of rows. For data that are not
 * centred, this mean is (s_xy s_zw - s_xyzw) / (n)_2. For centred data, the mean is the unbiased estimate of
 * the product of two covariances (a polykay). From sums of centred data, this estimate is
 *     ((n^2 - 3n + 1) s_xy s_zw + s_xz s_yw + s_xw s_yz - n (n-1) s_xyzw) / (n)_4.
 */
static double all_different(double own, double second, double third, double d, int centered, double n) {
    if (!centered) return (own - d) / (n * (n - 1));
    double sum = (n * n - 3 * n + 1) * own + second + third - n * (n - 1) * d;
    return sum / (n * (n - 1) * (n - 2) * (n - 3));
}

/*
 * Estimates the product of covariances of a finite population of N rows. This product is a mean over all
 * tuples of r rows of the population, where rows may be equal. Of these N^r tuples, (N)_k have k different
 * rows. The sample's tuples of k different rows estimate the mean over the population's tuples of k different
 * rows without bias, for any N. If the data are not centred, r = 2. Then s_xyzw contains the tuples with one
 * row, and s_xy s_zw - s_xyzw the tuples with two rows.
 *
 * If the data are centred, r = 4, and a tuple has the value (x_i - x_j) (y_i - y_j) (z_k - z_l) (w_k - w_l) /
 * 4. Tuples of 4 rows have the sum in the numerator above. Tuples of 2 rows have the sum 2 S_2 with S_2 = (n
 * s_xyzw + s_xy s_zw + s_xz s_yw + s_xw s_yz) / 2. Tuples of 3 rows have the rest of n^2 s_xy s_zw, which is
 * the sum over all tuples.
 */
static double of_population(double own, double second, double third, double d, int centered, double n,
                            double N) {
    double two = 1 / n * ((N - 1) / (N * (n - 1)));
    if (!centered) return two * (own - d) + d / (N * n);
    double three = two * ((N - 2) / (N * (n - 2))), four = three * ((N - 3) / (N * (n - 3)));
    double s4 = (n * n - 3 * n + 1) * own + second + third - n * (n - 1) * d,
           s2 = n * d + own + second + third, s3 = n * n * own - s4 - s2;
    return four * s4 + three / N * s3 + two / N / N * s2;
}

static double average(double own, double second, double third, double d, const ks_sums_rows *rows,
                      double pairs) {
    double n = (double)rows->P, N = rows->population;
    double mean = isinf(N)   ? all_different(own, second, third, d, rows->centered, n)
                  : !(N > n) ? own / (n * n)
                             : of_population(own, second, third, d, rows->centered, n, N);
    return mean / pairs;
}

double ks_sums_cross(const ks_quad *q, const ks_sums_rows *rows, double pairs) {
    return average(q->a, q->b, q->c, q->d, rows, pairs);
}

double ks_sums_traces(const ks_quad *q, const ks_sums_rows *rows, double pairs) {
    return average(q->b, q->a, q->c, q->d, rows, pairs);
}

double ks_sums_terms(const ks_sums_rows *rows, double pairs) {
    const double n = (double)rows->P, N = rows->population, M = isinf(N) ? 1 : N;
    if (!(N > n)) return 1 / (n * n) / pairs;
    const double two = 1 / (n * (n - 1)), single = isinf(N) ? 0 : 1 / (N * n);
    if (!rows->centered) return (2 * two + single) / pairs;
    const double s4 = fabs(n * n - 3 * n + 1) + 2 + n * (n - 1), s2 = n + 3, three = two / (n - 2);
    const double four = three / (n - 3) * s4;
    return (isinf(N) ? four : four + three / M * (n * n + s4 + s2) + two / M / M * s2) / pairs;
}

ks_lost ks_sums_lost(const ks_sums_rows *rows, double pairs, double fewer, double error) {
    const double n = (double)rows->P, f = rows->centered ? n / (n - 1) : 1;
    const ks_sums_rows less = {rows->centered, rows->P - 1, rows->population};
    if (error > 0) error += DBL_MIN / DBL_EPSILON; /* products may underflow */
    return (ks_lost){error * ks_sums_terms(rows, pairs),
                     error * (1 + f) * (1 + f) * ks_sums_terms(&less, pairs),
                     error * ks_sums_terms(rows, fewer)};
}

/*
 * The bound covers products of a few terms, sums in blocks, and the subtraction of a column's mean. The error
 * of the subtraction is relative to the largest entry of the column, which is at most sqrt(P) times the root
 * mean square.
 */
double ks_sums_epsilon(size_t P) { return DBL_EPSILON * (32 + 8 * sqrt((double)P)); }

double ks_sums_trace(const ks_quad *q, const ks_sums_rows *rows, size_t Q) {
    double n = (double)rows->P;
    if (!rows->centered || !(rows->population > n)) return q->t / (n * (double)Q);
    return q->t / ((n - 1) * (double)Q) * (1 - 1 / rows->population);
}

/*
 * Two columns drawn from a population of M are different in 1 - 1/M of all cases, and equal in 1/M. The
 * sample's pairs of different columns estimate the mean over different columns, and its single columns
 * estimate the mean over equal ones. So the estimate is (1 - 1/M) / (Q) times the sum over all pairs
 * minus `share` times the sum over single columns, where share is (M - Q) / (M - 1).
 */
double ks_sums_own_share(size_t count, double population) {
    double Q = (double)count;
    if (isinf(population)) return 1;
    return population > Q ? (population - Q) / (population - 1) : 0;
}

double ks_sums_pairs(size_t count, double population) {
    double Q = (double)count;
    if (isinf(population)) return Q * (Q - 1);
    return population > Q ? Q * (Q - 1) / (1 - 1 / population) : Q * Q;
}

/* ---- products ---- */

/* ---- by columns ---- */

enum { BAND = 64 };

typedef struct {
    const ks_two *t;
    const double *M, *left, *right;
    /* Each worker has BAND x Q numbers in T. */
    double **T, *rows;
} forms_job;

static kspec_status forms_band(void *ctx, size_t chunk, const ks_worker *worker) {
    const forms_job *j = ctx;
    const size_t Q = j->t->Q, R = j->t->R, i0 = chunk * BAND, m = j->t->P - i0 < BAND ? j->t->P - i0 : BAND;
    double *T = j->T[worker->index];
    ks_gemm(0, 1, m, Q, R, 1, j->right + i0 * R, R, j->M, R, 0, T, Q);
    for (size_t i = 0; i < m; i++) j->rows[i0 + i] += ks_dot(Q, j->left + (i0 + i) * Q, T + i * Q);
    return KSPEC_OK;
}

/* Adds to rows[i] the sum of M[alpha,gamma] left[i,alpha] right[i,gamma] over alpha and gamma. */
static kspec_status add_forms(const ks_run *run, const ks_two *t, const double *M, const double *left,
                              const double *right, double **T, double *rows, kspec_error *err) {
    const size_t chunks = (t->P + BAND - 1) / BAND;
    forms_job j = {t, M, left, right, T, rows};
    return ks_team_for(run, "forms", chunks, forms_band, &j, (ks_share[]){{rows, sizeof *rows, t->P, BAND}},
                       1, err);
}

/* Computes the Q x R matrix M = l^T r. If both matrices are one, half of the work suffices. */
static kspec_status columns_product(const ks_run *run, const ks_two *t, const double *l, const double *r,
                                    double *M, kspec_error *err) {
    return l == r ? ks_gemm_symmetric_tiled(run, 1, 0, t->Q, t->P, 1, l, t->Q, r, t->Q, M, t->Q, err)
                  : ks_gemm_tiled(run, 1, 0, t->Q, t->R, t->P, 1, l, t->Q, r, t->R, 0, M, t->R, err);
}

/*
 * Computes the pair (s_xy, s_zw), or the pair (s_xw, s_zy). For the first pair, l, r, l2 and r2 are x, y, z
 * and w. For the second, they are x, w, z and y. For two trials of one matrix, l2 and r2 are r and l, and the
 * second product is the transpose of the first.
 */
static kspec_status by_columns_once(const ks_run *run, const ks_two *t, const double *l, const double *r,
                                    const double *l2, const double *r2, double *M, double **T, double *q,
                                    double *c, double *o, kspec_error *err) {
    size_t P = t->P, Q = t->Q, R = t->R;
    const int turned = l == r2 && r == l2;
    double *N = turned ? M : M + Q * R;
    kspec_status st = columns_product(run, t, l, r, M, err);
    if (!st && !turned) st = columns_product(run, t, l2, r2, N, err);
    for (size_t g0 = 0; g0 < R && !st; g0 += BAND) /* transposes stay in the cache */
        for (size_t k = 0; k < Q; k++)
            for (size_t g = g0; g < R && g < g0 + BAND; g++) {
                double x = M[k * R + g] * (turned ? M[g * R + k] : N[k * R + g]);
                c[k] += x;
                if (!t->same) o[g] += x;
            }
    if (t->whole) return st;
    if (!st) st = add_forms(run, t, M, l2, r2, T, q, err);
    if (!st && !turned) st = add_forms(run, t, N, l, r, T, q, err);
    for (size_t i = 0; i < P && turned && !st; i++) q[i] *= 2;
    return st;
}

static kspec_status by_columns(const ks_run *run, ks_sums_work *w, ks_arena *arena, kspec_error *err) {
    const ks_two *t = w->t;
    double *M = ks_arena_alloc(arena, ks_size(2, ks_size(t->Q, t->R)), sizeof *M);
    const size_t workers = (size_t)ks_workers(run, (t->P + BAND - 1) / BAND);
    double **T = ks_arena_alloc(arena, workers, sizeof *T);
    for (size_t k = 0; k < workers && T; k++) T[k] = ks_arena_alloc(arena, ks_size(BAND, t->Q), sizeof **T);
    if (arena->failed) return ks_nomem(err, "the products of columns", arena->failed);
    ks_run first = ks_run_part(run, 0, 0.5), second = ks_run_part(run, 0.5, 1);
    kspec_status st = by_columns_once(&first, t, t->X, t->Y, t->Z, t->W, M, T, w->qa, w->ca, w->oa, err);
    const int needed = !t->whole || t->centered; /* c serves only these cases */
    if (!st && needed)
        st = by_columns_once(&second, t, t->X, t->W, t->Z, t->Y, M, T, w->qc, w->cc, w->oc, err);
    return st;
}

/*
 * The functions below compute the sums through the P x P matrices K = X Z^T and L = Y W^T and their
 * transposes, band by band. The code never stores a whole P x P matrix. For one matrix, L is the transpose of
 * K.
 */

typedef struct {
    ks_sums_work *w;
    /* Each worker has four bands, of K, K^T, L and L^T, and BAND x max(Q,R) further numbers. */
    double **room;
    /* Each chunk has Q + Q + R + R sums over its rows. */
    double *sums;
} row_job;

/*
 * Adds to out[alpha] the sum over the band's rows of left[i,alpha] (B right)[i,alpha], where B is a band of a
 * P x P matrix.
 */
static void add_columns(const double *B, size_t rows, size_t P, const double *left, const double *right,
                        size_t cols, double *T, double *out) {
    ks_gemm(0, 0, rows, cols, P, 1, B, P, right, cols, 0, T, cols);
    for (size_t i = 0; i < rows; i++)
        for (size_t k = 0; k < cols; k++) out[k] += left[i * cols + k] * T[i * cols + k];
}

static kspec_status row_band(void *ctx, size_t chunk, const ks_worker *worker) {
    const row_job *j = ctx;
    const ks_two *t = j->w->t;
    size_t P = t->P, Q = t->Q, R = t->R, i0 = chunk * BAND, m = P - i0 < BAND ? P - i0 : BAND;
    int one = t->X == t->Z, other_one = t->Y == t->W;
    double *K = j->room[worker->index], *KT = one ? K : K + BAND * P, *T = K + 4 * BAND * P,
           *L = t->same ? KT : K + 2 * BAND * P,
           *LT = t->same     ? K
                 : other_one ? L
                             : L + BAND * P;
    ks_gemm(0, 1, m, P, Q, 1, t->X + i0 * Q, Q, t->Z, Q, 0, K, P);
    if (!one) ks_gemm(0, 1, m, P, Q, 1, t->Z + i0 * Q, Q, t->X, Q, 0, KT, P);
    if (!t->same) ks_gemm(0, 1, m, P, R, 1, t->Y + i0 * R, R, t->W, R, 0, L, P);
    if (!t->same && !other_one) ks_gemm(0, 1, m, P, R, 1, t->W + i0 * R, R, t->Y, R, 0, LT, P);
    for (size_t i = 0; i < m; i++) {
        const double *k = K + i * P, *kt = KT + i * P, *l = L + i * P, *lt = LT + i * P;
        j->w->qa[i0 + i] = ks_dot(P, k, l) + ks_dot(P, kt, lt);
        j->w->qc[i0 + i] = ks_dot(P, k, lt) + ks_dot(P, kt, l);
    }
    double *ca = j->sums + chunk * 2 * (Q + R), *cc = ca + Q, *oa = cc + Q, *oc = oa + R;
    for (size_t i = 0; i < m && t->whole; i++) *ca += j->w->qa[i0 + i] / 2, *cc += j->w->qc[i0 + i] / 2;
    if (t->whole) return KSPEC_OK;
    add_columns(L, m, P, t->X + i0 * Q, t->Z, Q, T, ca);
    if (LT == L)
        memcpy(cc, ca, Q * sizeof *cc);
    else
        add_columns(LT, m, P, t->X + i0 * Q, t->Z, Q, T, cc);
    if (t->same) return KSPEC_OK;
    add_columns(K, m, P, t->Y + i0 * R, t->W, R, T, oa);
    add_columns(K, m, P, t->W + i0 * R, t->Y, R, T, oc);
    return KSPEC_OK;
}

static kspec_status by_rows(const ks_run *run, ks_sums_work *w, ks_arena *arena, kspec_error *err) {
    const ks_two *t = w->t;
    size_t P = t->P, Q = t->Q, R = t->R, longer = Q > R ? Q : R, chunks = (P + BAND - 1) / BAND;
    int workers = ks_workers(run, chunks);
    row_job j = {.w = w};
    j.room = ks_arena_alloc(arena, (size_t)workers, sizeof *j.room);
    for (int k = 0; k < workers && j.room; k++)
        j.room[k] = ks_arena_alloc(arena, ks_size(BAND, ks_size_add(ks_size(4, P), longer)), sizeof(double));
    j.sums = ks_arena_zalloc(arena, ks_size(chunks, 2 * (Q + R)), sizeof *j.sums);
    if (arena->failed) return ks_nomem(err, "the products of rows", arena->failed);
    const ks_share shares[] = {{w->qa, sizeof(double), P, BAND},
                               {w->qc, sizeof(double), P, BAND},
                               {j.sums, 2 * (Q + R) * sizeof(double), chunks, 1}};
    kspec_status st = ks_team_for(run, "rows", chunks, row_band, &j, shares, 3, err);
    for (size_t k = 0; k < chunks && !st; k++) {
        const double *ca = j.sums + k * 2 * (Q + R), *cc = ca + Q, *oa = cc + Q, *oc = oa + R;
        for (size_t a = 0; a < Q; a++) w->ca[a] += ca[a], w->cc[a] += cc[a];
        for (size_t g = 0; g < R; g++) w->oa[g] += oa[g], w->oc[g] += oc[g];
    }
    return st;
}

/* ---- Gram ---- */

/* The code stores Gram matrices with sides up to this length as a whole. */
enum { HELD = 4096 };

static int is_squared(const ks_two *t) { return t->whole && t->same && t->X == t->Z && t->P <= HELD; }

static kspec_status by_gram(const ks_run *run, ks_sums_work *w, ks_arena *arena, kspec_error *err) {
    const ks_two *t = w->t;
    const size_t P = t->P;
    double *G = ks_arena_alloc(arena, ks_size(P, P), sizeof *G);
    if (!G) return ks_nomem(err, "the Gram matrix", arena->failed);
    kspec_status st = ks_gemm_symmetric_tiled(run, 0, 1, P, t->Q, 1, t->X, t->Q, t->X, t->Q, G, P, err);
    for (size_t i = 0; i < P && !st; i++) w->ca[0] += ks_dot(P, G + i * P, G + i * P);
    w->cc[0] = w->ca[0];
    return st;
}

/* ---- sums ---- */

/*
 * Sums for single columns, v = s_xz and v2 = s_yw, and for single rows, u = sum of x z and u2 = sum of y w.
 */
typedef struct {
    double *v, *v2, *u, *u2;
    /* x2, z2, y2 and w2 are the sums of squares of the columns of X, Z, Y and W. */
    double *x2, *z2, *y2, *w2;
    /* over all columns */
    double V, V2;
    /*
     * For centred data, tx and tz are the sums of u2 x and u2 z over rows, for each column of the first
     * matrix. ty and tw are the sums of u y and u w, for each column of the second matrix.
     */
    double *tx, *tz, *ty, *tw;
    /*
     * For one matrix, xxz and xzz are the sums over rows of x^2 z and x z^2. The sums tx ... tw contain these
     * parts too often.
     */
    double *xxz, *xzz;
    /*
     * For one matrix, own is the fraction of the pairs of a column with itself that the sums subtract.
     * own_less is this fraction if one column is left out.
     */
    double own, own_less;
} simple;

/* Adds each product a[k] b[k] to sum[k] and to *all. */
static void add_products(size_t n, const double *restrict a, const double *restrict b, double *restrict all,
                         double *restrict sum) {
    for (size_t k = 0; k < n; k++) sum[k] += a[k] * b[k];
    for (size_t k = 0; k < n; k++) *all += a[k] * b[k];
}

/* Adds a[k]^2 to square[k], and a[k] b[k] a[k] to cube[k] unless that is NULL. */
static void add_squares(size_t n, const double *restrict a, const double *restrict b, double *restrict square,
                        double *restrict cube) {
    for (size_t k = 0; k < n; k++) square[k] += a[k] * a[k];
    for (size_t k = 0; k < n && cube; k++) cube[k] += a[k] * b[k] * a[k];
}

/* Adds factor x[k] to sum[k]. */
static void add_multiple(size_t n, double factor, const double *restrict x, double *restrict sum) {
    for (size_t k = 0; k < n; k++) sum[k] += factor * x[k];
}

static kspec_status simple_sums(const ks_two *t, simple *s, ks_arena *arena, kspec_error *err) {
    size_t P = t->P, Q = t->Q, R = t->R;
    double *columns = ks_arena_zalloc(arena, 7 * Q + 5 * R, sizeof *columns);
    double *rows = ks_arena_zalloc(arena, 2 * P, sizeof *rows);
    if (arena->failed) return ks_nomem(err, "sums over columns", arena->failed);
    *s = (simple){.v = columns,
                  .x2 = columns + Q,
                  .z2 = columns + 2 * Q,
                  .tx = columns + 3 * Q,
                  .tz = columns + 4 * Q,
                  .xxz = columns + 5 * Q,
                  .xzz = columns + 6 * Q,
                  .v2 = columns + 7 * Q,
                  .ty = columns + 7 * Q + R,
                  .tw = columns + 7 * Q + 2 * R,
                  .y2 = columns + 7 * Q + 3 * R,
                  .w2 = columns + 7 * Q + 4 * R,
                  .u = rows,
                  .u2 = rows + P,
                  .own = ks_sums_own_share(Q, t->columns > 0 ? t->columns : INFINITY),
                  .own_less = ks_sums_own_share(Q - 1, t->columns > 0 ? t->columns : INFINITY)};
    if (t->X == t->Z) s->z2 = s->x2, s->xzz = s->xxz;
    for (size_t i = 0; i < P; i++) {
        const double *x = t->X + i * Q, *z = t->Z + i * Q, *y = t->Y + i * R, *w = t->W + i * R;
        add_products(Q, x, z, &s->u[i], s->v);
        add_squares(Q, x, z, s->x2, s->xxz);
        if (t->X != t->Z) add_squares(Q, z, x, s->z2, s->xzz);
        if (t->same) continue;
        add_products(R, y, w, &s->u2[i], s->v2);
        add_squares(R, y, w, s->y2, NULL), add_squares(R, w, y, s->w2, NULL);
    }
    if (t->same) s->u2 = s->u, s->v2 = s->v, s->y2 = s->z2, s->w2 = s->x2;
    for (size_t k = 0; k < Q; k++) s->V += s->v[k];
    for (size_t g = 0; g < R; g++) s->V2 += s->v2[g];
    if (t->whole) return KSPEC_OK;
    if (t->X == t->Z) s->tz = s->tx;
    for (size_t i = 0; i < P; i++) {
        add_multiple(Q, s->u2[i], t->X + i * Q, s->tx);
        if (t->X != t->Z) add_multiple(Q, s->u2[i], t->Z + i * Q, s->tz);
        if (t->same) continue;
        add_multiple(R, s->u[i], t->Y + i * R, s->ty);
        add_multiple(R, s->u[i], t->W + i * R, s->tw);
    }
    if (t->same) s->ty = s->tz, s->tw = s->tx;
    return KSPEC_OK;
}

/*
 * Computes the sums without row i. For n centred rows, removing row i changes s_xy to s_xy - f x_i y_i with f
 * = n/(n-1), and changes s_xyzw to
 *     s_xyzw + e (s_xyz w_i + ...) + e^2 (s_xy z_i w_i + ...) + (n e^4 - (1+e)^4) x_i y_i z_i w_i,
 * with e = 1/(n-1). For data that are not centred, f is 1 and e is 0. The sums over pairs of columns are the
 * sums over all pairs, minus the pairs of a column with itself.
 */
static ks_quad without_row(const ks_two *t, const ks_sums_work *w, const simple *s, const ks_quad *all,
                           size_t i) {
    size_t Q = t->Q, R = t->R;
    const double *x = t->X + i * Q, *z = t->Z + i * Q, *y = t->Y + i * R, *v = t->W + i * R;
    double n = (double)t->P, f = t->centered ? n / (n - 1) : 1, e = t->centered ? 1 / (n - 1) : 0;
    double uu = s->u[i] * s->u2[i], third = 0, qa = w->qa[i], qc = w->qc[i],
           qb = s->V * s->u2[i] + s->V2 * s->u[i];
    for (size_t g = 0; g < R && t->centered; g++) third += s->ty[g] * v[g] + s->tw[g] * y[g];
    for (size_t k = 0; k < Q && t->centered; k++) third += s->tx[k] * z[k] + s->tz[k] * x[k];
    const double own = s->own;
    for (size_t k = 0; k < Q && t->same && own > 0; k++) {
        double p = x[k] * z[k];
        uu -= own * (p * p);
        qa -= own * (2 * s->v[k] * p);
        qb -= own * (2 * s->v[k] * p);
        qc -= own * (s->x2[k] * z[k] * z[k] + s->z2[k] * x[k] * x[k]);
        third -= own * (2 * (s->xxz[k] * z[k] + s->xzz[k] * x[k]));
    }
    double d = all->d + e * third + e * e * (qa + qb + qc) + (n * pow(e, 4) - pow(1 + e, 4)) * uu;
    return (ks_quad){all->a - f * qa + f * f * uu, all->b - f * qb + f * f * uu, all->c - f * qc + f * f * uu,
                     d, all->t - f * s->u[i]};
}

/*
 * Computes the sums without each column, by subtracting the pairs with that column. d receives the sums of
 * u[i] x z. If both matrices are the same, a column's pairs count twice, except for the pair of a column with
 * itself. The sums in `all` contain such self-pairs with a fraction that own_less describes, so own_part = (1
 * + own_less) / 2.
 */
static void without_columns(const ks_two *t, const ks_sums_work *w, const simple *s, int second,
                            const ks_quad *all, double *d, ks_quad *out) {
    size_t cols = second ? t->R : t->Q;
    const double *l = second ? t->Y : t->X, *r = second ? t->W : t->Z, *u = second ? s->u : s->u2;
    const double *v = second ? s->v2 : s->v, *a = second ? w->oa : w->ca, *c = second ? w->oc : w->cc;
    double V = second ? s->V : s->V2, times = t->same ? 2 : 1, own_part = t->same ? (1 + s->own_less) / 2 : 0;
    memset(d, 0, cols * sizeof *d);
    for (size_t i = 0; i < t->P; i++)
        for (size_t k = 0; k < cols; k++) {
            double p = l[i * cols + k] * r[i * cols + k];
            d[k] += p * (u[i] - own_part * p);
        }
    for (size_t k = 0; k < cols; k++) {
        double own = t->same ? own_part * (v[k] * v[k]) : 0,
               own_c = t->same ? own_part * (s->x2[k] * s->z2[k]) : 0;
        out[k] = (ks_quad){all->a - times * (a[k] - own), all->b - times * (v[k] * V - own),
                           all->c - times * (c[k] - own_c), all->d - times * d[k],
                           second ? all->t : all->t - v[k]};
    }
}

/*
 * Returns the sums over all pairs of columns, minus the fraction `own` of the pairs of a column with itself.
 */
static ks_quad all_of(const ks_two *t, const ks_sums_work *w, const simple *s, double own) {
    ks_quad q = {0, s->V * s->V2, 0, 0, s->V};
    for (size_t k = 0; k < t->Q; k++) q.a += w->ca[k], q.c += w->cc[k];
    for (size_t i = 0; i < t->P; i++) q.d += s->u[i] * s->u2[i];
    if (!t->same || own == 0) return q;
    for (size_t k = 0; k < t->Q; k++) {
        q.a -= own * (s->v[k] * s->v[k]);
        q.b -= own * (s->v[k] * s->v[k]);
        q.c -= own * (s->x2[k] * s->z2[k]);
    }
    for (size_t k = 0; k < t->P * t->Q; k++) {
        double p = t->X[k] * t->Z[k];
        q.d -= own * (p * p);
    }
    return q;
}

/* Returns the sum of |x| |z| over the columns. */
static double size_of(const double *x2, const double *z2, size_t n) {
    double sum = 0;
    for (size_t k = 0; k < n; k++) sum += sqrt(x2[k]) * sqrt(z2[k]);
    return sum;
}

/* Computes the sums of matrices with one trial each through X^T Y, on the CPU or on a device. */
static kspec_status by_lists(const ks_run *run, const ks_two *t, ks_sums *s, ks_arena *arena,
                             kspec_error *err) {
    ks_arena scratch = {0};
    ks_lists lists;
    kspec_status st = ks_lists_open(&lists, t, &scratch, err);
    if (!st)
        st = run->device ? ks_lists_on_device(run, &lists, err)
                         : ks_lists_on_host(run, &lists, &s->scaled, err);
    s->has_scaled = !run->device && t->scaled && !t->whole;
    if (!st) st = ks_lists_sums(&lists, s, arena, err);
    ks_arena_free(&scratch);
    return st;
}

kspec_status ks_sums_make(const ks_run *run, const ks_two *t, ks_sums *s, ks_arena *arena, kspec_error *err) {
    size_t P = t->P, Q = t->Q, R = t->R, longer = Q > R ? Q : R;
    const int columns = ks_sums_by_columns(P, Q, R), one_trial = t->X == t->Z && t->Y == t->W;
    *s = (ks_sums){0};
    if (one_trial && (run->device || columns)) return by_lists(run, t, s, arena, err);
    ks_arena scratch = {0};
    double *q = ks_arena_zalloc(&scratch, 2 * (P + Q + R), sizeof *q);
    double *d = ks_arena_alloc(&scratch, longer, sizeof *d);
    s->row = t->whole ? NULL : ks_arena_alloc(arena, P, sizeof *s->row);
    s->col = t->whole ? NULL : ks_arena_alloc(arena, Q, sizeof *s->col);
    s->other = t->same ? NULL : ks_arena_alloc(arena, R, sizeof *s->other);
    simple one = {0};
    ks_sums_work w;
    kspec_status st = KSPEC_OK;
    if (scratch.failed || arena->failed)
        st = ks_nomem(err, "leave-one-out sums", scratch.failed ? scratch.failed : arena->failed);
    if (!st) {
        w = (ks_sums_work){t, q, q + P, q + 2 * P, q + 2 * P + Q, q + 2 * P + 2 * Q, q + 2 * P + 2 * Q + R};
        st = run->device     ? ks_sums_on_device(run, &w, columns, err)
             : columns       ? by_columns(run, &w, &scratch, err)
             : is_squared(t) ? by_gram(run, &w, &scratch, err)
                             : by_rows(run, &w, &scratch, err);
    }
    if (!st) st = simple_sums(t, &one, &scratch, err);
    if (!st) {
        s->whole = 0;
        s->size = size_of(one.x2, one.z2, Q);
        s->other_size = t->same ? s->size : size_of(one.y2, one.w2, R);
        for (size_t k = 0; k < Q; k++) s->whole += w.ca[k];
        s->all = all_of(t, &w, &one, one.own);
    }
    if (!st && !t->whole) {
        const ks_quad less = one.own_less == one.own ? s->all : all_of(t, &w, &one, one.own_less);
        for (size_t i = 0; i < P; i++) s->row[i] = without_row(t, &w, &one, &s->all, i);
        without_columns(t, &w, &one, 0, &less, d, s->col);
        if (!t->same) without_columns(t, &w, &one, 1, &less, d, s->other);
    }
    ks_arena_free(&scratch);
    return st;
}
