/* Computes the lists of pairs/lists.h on a device, by products and sums over rows and columns. */
#include "pairs/lists.h"
#include "pairs/sums_device.h"

#include "base/error.h"
#include "device/squares.h"

typedef struct {
    ks_squares *at;
    const ks_run *run;
    const ks_mat *X, *Y;
    size_t P, Q, R;
} held;

/* Sums row[i] col[j] X[i,j]^power over rows or over columns. If row or col is NULL, its factors are 1. */
static void powers(const held *h, const ks_mat *X, size_t cols, int power, const double *row,
                   const double *col, ks_tile_result what, double *out) {
    const ks_mat_expression e = {
        .m = h->P, .n = cols, .alpha = 1, .row = row, .col = col, .count = 1, .factor = {{X, 0, power}}};
    ks_squares *at = h->at;
    if (!at->status) at->status = at->at->expression(h->run, &e, what, NULL, out, at->err);
}

/* Computes the square matrix Z = X X^T, or Z = X^T X if `turned` is 1. X has P rows and `cols` columns. */
static void gram(const held *h, const ks_run *run, const ks_mat *X, size_t cols, int turned, ks_mat *Z) {
    const size_t n = turned ? cols : h->P;
    const ks_mat_product p = {turned, !turned, n, n, turned ? h->P : cols, 1, X, cols, X, cols, 0, Z, n, 1};
    if (!h->at->status) h->at->status = h->at->at->product(run, &p, h->at->err);
}

/* Computes the lists through M = X^T Y. */
static void by_columns(const held *h, const ks_lists *l) {
    ks_squares *at = h->at;
    const int same = l->t->same;
    const ks_run first = ks_run_part(h->run, 0, 0.5), second = ks_run_part(h->run, 0.5, 1);
    ks_mat *M = ks_squares_matrix(at, h->Q, h->R);
    if (same)
        gram(h, &first, h->X, h->Q, 1, M);
    else
        ks_squares_product(at, &first, h->Q, h->R, h->P, 1, h->X, h->Y, KS_TURN_FIRST, 0, M);
    ks_squares_sums(at, h->Q, h->R, 1, M, M, 0, KS_TILE_ROW_SUMS, l->c);
    if (!same) ks_squares_sums(at, h->Q, h->R, 1, M, M, 0, KS_TILE_COL_SUMS, l->o);
    if (l->t->whole) return;
    ks_mat *T = ks_squares_matrix(at, h->P, h->Q);
    ks_squares_product(at, &second, h->P, h->Q, h->R, 1, h->Y, M, same ? 0 : KS_TURN_SECOND, 0, T);
    ks_squares_sums(at, h->P, h->Q, 1, h->X, T, 0, KS_TILE_ROW_SUMS, l->form);
}

/* Computes the sums of X o (B X) over rows, where B = Y Y^T. */
static void columns(const held *h, const ks_run *run, const ks_mat *B, const ks_mat *X, size_t cols,
                    double *out) {
    ks_mat *T = ks_squares_matrix(h->at, h->P, cols);
    ks_squares_product(h->at, run, h->P, cols, h->P, 1, B, X, 0, 0, T);
    ks_squares_sums(h->at, h->P, cols, 1, X, T, 0, KS_TILE_COL_SUMS, out);
    if (T) ks_squares_drop_last(h->at);
}

/* Computes the lists through K = X X^T and L = Y Y^T. */
static void by_rows(const held *h, const ks_lists *l) {
    ks_squares *at = h->at;
    const size_t P = h->P;
    const ks_run first = ks_run_part(h->run, 0, 0.5), second = ks_run_part(h->run, 0.5, 1);
    ks_mat *K = ks_squares_matrix(at, P, P), *L = l->t->same ? K : ks_squares_matrix(at, P, P);
    gram(h, &first, h->X, h->Q, 0, K);
    if (L != K) gram(h, &first, h->Y, h->R, 0, L);
    ks_squares_sums(at, P, P, 1, K, L, 0, KS_TILE_ROW_SUMS, l->form);
    if (l->t->whole) {
        for (size_t i = 0; i < P && !at->status; i++) l->c[0] += l->form[i];
        return;
    }
    columns(h, &second, L, h->X, h->Q, l->c);
    if (L != K) columns(h, &second, K, h->Y, h->R, l->o);
}

/* Computes the lists that need no products of matrices. */
static void simple(const held *h, const ks_lists *l) {
    const ks_two *t = l->t;
    const size_t Q = h->Q, R = h->R;
    const int own = t->same && (ks_lists_own(t, 0) > 0 || ks_lists_own(t, 1) > 0);
    double *line = ks_squares_vector(h->at, h->P), *tx = ks_squares_vector(h->at, Q > R ? Q : R);
    powers(h, h->X, Q, 2, NULL, NULL, KS_TILE_ROW_SUMS, l->u);
    powers(h, h->X, Q, 2, NULL, NULL, KS_TILE_COL_SUMS, l->v);
    if (!t->same) {
        powers(h, h->Y, R, 2, NULL, NULL, KS_TILE_ROW_SUMS, l->u2);
        powers(h, h->Y, R, 2, NULL, NULL, KS_TILE_COL_SUMS, l->v2);
    }
    if (own || (t->same && !t->whole)) powers(h, h->X, Q, 4, NULL, NULL, KS_TILE_COL_SUMS, l->S4);
    if (t->whole) return;
    powers(h, h->X, Q, 2, l->u2, NULL, KS_TILE_COL_SUMS, l->d);
    if (!t->same) powers(h, h->Y, R, 2, l->u, NULL, KS_TILE_COL_SUMS, l->d2);
    if (own) {
        powers(h, h->X, Q, 3, NULL, NULL, KS_TILE_COL_SUMS, l->S3);
        powers(h, h->X, Q, 4, NULL, NULL, KS_TILE_ROW_SUMS, l->fourth);
        powers(h, h->X, Q, 2, NULL, l->v, KS_TILE_ROW_SUMS, l->squares);
    }
    if (!t->centered) return;
    if (own) powers(h, h->X, Q, 1, NULL, l->S3, KS_TILE_ROW_SUMS, l->cubes);
    powers(h, h->X, Q, 1, l->u2, NULL, KS_TILE_COL_SUMS, tx);
    powers(h, h->X, Q, 1, NULL, tx, KS_TILE_ROW_SUMS, l->third);
    if (!t->same) {
        powers(h, h->Y, R, 1, l->u, NULL, KS_TILE_COL_SUMS, tx);
        powers(h, h->Y, R, 1, NULL, tx, KS_TILE_ROW_SUMS, line);
    }
    for (size_t i = 0; i < h->P && !h->at->status; i++) l->third[i] += t->same ? l->third[i] : line[i];
}

kspec_status ks_lists_on_device(const ks_run *run, const ks_lists *l, kspec_error *err) {
    static const char what[] = "the sums of products";
    const ks_two *t = l->t;
    const ks_pair first = {t->X, t->X, t->P, t->Q, 2}, second = {t->Y, t->Y, t->P, t->R, 2};
    ks_squares at = ks_squares_begin(run, &first, 3, what, err), other = {.run = run, .at = at.at};
    if (!t->same && !at.status)
        other = ks_squares_begin(run, &second, 1, what, err), at.status = other.status;
    const held h = {&at, run, at.A, t->same ? at.A : other.A, t->P, t->Q, t->R};
    if (ks_sums_by_columns(t->P, t->Q, t->R))
        by_columns(&h, l);
    else
        by_rows(&h, l);
    simple(&h, l);
    ks_squares_end(&other);
    return ks_squares_end(&at);
}
