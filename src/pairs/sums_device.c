/* Computes the products behind second-order sums on a device. */
#include "pairs/sums_device.h"

#include "device/squares.h"

/* Contains the matrices of ks_two on the device. */
typedef struct {
    ks_squares *at;
    const ks_two *t;
    const ks_mat *X, *Z, *Y, *W;
    double *more;
} moved;

/*
 * Sets to[i] to the sum of X o Y over row i plus the sum over column i. X and Y are P x P matrices, and Y is
 * transposed if `turned` is 1.
 */
static void both_sums(const moved *d, const ks_mat *X, const ks_mat *Y, int turned, double *to) {
    const size_t P = d->t->P;
    ks_squares_sums(d->at, P, P, 1, X, Y, turned, KS_TILE_ROW_SUMS, to);
    ks_squares_sums(d->at, P, P, 1, X, Y, turned, KS_TILE_COL_SUMS, d->more);
    for (size_t i = 0; i < P && !d->at->status; i++) to[i] += d->more[i];
}

/*
 * Computes the pair (s_xy, s_zw) or the pair (s_xw, s_zy), depending on the arguments. by_columns_once() in
 * sums.c does the same on the CPU.
 */
static void by_columns_once(const moved *d, const ks_run *run, const ks_mat *l, const ks_mat *r,
                            const ks_mat *l2, const ks_mat *r2, ks_mat *const M[2], ks_mat *T, double *q,
                            double *c, double *o) {
    const size_t P = d->t->P, Q = d->t->Q, R = d->t->R;
    ks_mat *N = M[1];
    ks_squares_product(d->at, run, Q, R, P, 1, l, r, KS_TURN_FIRST, 0, M[0]);
    ks_squares_product(d->at, run, Q, R, P, 1, l2, r2, KS_TURN_FIRST, 0, N);
    ks_squares_sums(d->at, Q, R, 1, M[0], N, 0, KS_TILE_ROW_SUMS, c);
    ks_squares_sums(d->at, Q, R, 1, M[0], N, 0, KS_TILE_COL_SUMS, o);
    ks_squares_product(d->at, run, P, Q, R, 1, r2, M[0], KS_TURN_SECOND, 0, T);
    ks_squares_sums(d->at, P, Q, 1, l2, T, 0, KS_TILE_ROW_SUMS, q);
    ks_squares_product(d->at, run, P, Q, R, 1, r, N, KS_TURN_SECOND, 0, T);
    ks_squares_sums(d->at, P, Q, 1, l, T, 0, KS_TILE_ROW_SUMS, d->more);
    for (size_t i = 0; i < P && !d->at->status; i++) q[i] += d->more[i];
}

static void by_columns(const moved *d, const ks_run *run, const ks_sums_work *w) {
    const ks_two *t = d->t;
    ks_mat *M[2] = {ks_squares_matrix(d->at, t->Q, t->R), ks_squares_matrix(d->at, t->Q, t->R)};
    ks_mat *T = ks_squares_matrix(d->at, t->P, t->Q);
    const ks_run first = ks_run_part(run, 0, 0.5), second = ks_run_part(run, 0.5, 1);
    by_columns_once(d, &first, d->X, d->Y, d->Z, d->W, M, T, w->qa, w->ca, w->oa);
    by_columns_once(d, &second, d->X, d->W, d->Z, d->Y, M, T, w->qc, w->cc, w->oc);
}

/* Sets out to the sums over rows of left o (B right), where B is a P x P matrix. */
static void column_sums(const moved *d, const ks_run *run, const ks_mat *B, int turned, const ks_mat *left,
                        const ks_mat *right, size_t cols, ks_mat *T, double *out) {
    const size_t P = d->t->P;
    ks_squares_product(d->at, run, P, cols, P, 1, B, right, turned, 0, T);
    ks_squares_sums(d->at, P, cols, 1, left, T, 0, KS_TILE_COL_SUMS, out);
}

/* Computes the sums through the P x P matrices K = X Z^T and L = Y W^T. */
static void by_rows(const moved *d, const ks_run *run, const ks_sums_work *w) {
    const ks_two *t = d->t;
    ks_mat *K = ks_squares_matrix(d->at, t->P, t->P), *L = ks_squares_matrix(d->at, t->P, t->P);
    ks_squares_product(d->at, run, t->P, t->P, t->Q, 1, d->X, d->Z, KS_TURN_SECOND, 0, K);
    ks_squares_product(d->at, run, t->P, t->P, t->R, 1, d->Y, d->W, KS_TURN_SECOND, 0, L);
    both_sums(d, K, L, 0, w->qa);
    both_sums(d, K, L, 1, w->qc);
    const ks_run rest = ks_run_part(run, 0.5, 1);
    ks_mat *T = ks_squares_matrix(d->at, t->P, t->Q);
    column_sums(d, &rest, L, 0, d->X, d->Z, t->Q, T, w->ca);
    column_sums(d, &rest, L, KS_TURN_FIRST, d->X, d->Z, t->Q, T, w->cc);
    if (t->same || d->at->status) return;
    ks_squares_drop_last(d->at);
    T = ks_squares_matrix(d->at, t->P, t->R);
    column_sums(d, &rest, K, 0, d->Y, d->W, t->R, T, w->oa);
    column_sums(d, &rest, K, 0, d->W, d->Y, t->R, T, w->oc);
}

kspec_status ks_sums_on_device(const ks_run *run, const ks_sums_work *w, int columns, kspec_error *err) {
    static const char what[] = "the sums of products";
    const ks_two *t = w->t;
    const ks_pair first = {t->X, t->Z, t->P, t->Q, 2}, second = {t->Y, t->W, t->P, t->R, 2};
    const int one = t->Y == t->Z && t->W == t->X;
    ks_squares at = ks_squares_begin(run, &first, 3, what, err), other = {.run = run, .at = at.at};
    if (!one && !at.status) other = ks_squares_begin(run, &second, 1, what, err), at.status = other.status;
    moved d = {&at, t, at.A, at.B, one ? at.B : other.A, one ? at.A : other.B, NULL};
    d.more = ks_squares_vector(&at, t->P);
    if (columns)
        by_columns(&d, run, w);
    else
        by_rows(&d, run, w);
    ks_squares_end(&other);
    return ks_squares_end(&at);
}
