/*
 * Multiplies matrices in strips. For C = op(A) op(B), each rank computes its own rows of C from its own rows
 * of op(A), and receives op(B) panel by panel. Ranks on one machine share tiles instead (ranks_shared.c).
 */
#include "device/ranks.h"

#include "base/digest.h"
#include "base/error.h"
#include "base/memory.h"
#include "linalg/linalg.h"
#include "team/area.h"
#include "team/store.h"

/* ---- operands ---- */

typedef struct {
    const ks_strips *of;
    /* NULL: in strips */
    const double *all;
    int turned;
    /*
     * For a matrix in strips, `columns` contains the columns of this rank, and panel the columns of the
     * panel.
     */
    ks_columns columns;
    double *panel, *packed;
    ks_view own, now;
} side;

static side side_of(kspec_team *t, const ks_mat *p, int turned) {
    side s = {.of = ks_strips_at(p), .turned = turned};
    s.all = ks_strips_own(t, s.of);
    return s;
}

/*
 * On one machine, ranks read each other's strips directly. share() prepares the operands for direct reading.
 * B may be A, and C is the number of entries of the product.
 */
static kspec_status share(kspec_team *t, side *A, side *B, size_t C, kspec_error *err) {
    side *sides[] = {A, B};
    const ks_strips *of[2];
    const double *all[2] = {0};
    int count = 0, which[2];
    for (int k = 0; k < (A == B ? 1 : 2); k++)
        if (!sides[k]->all) which[count] = k, of[count++] = sides[k]->of;
    kspec_status st = count ? ks_strips_share(t, of, count, C, all, err) : KSPEC_OK;
    for (int k = 0; k < count; k++) sides[which[k]]->all = all[k];
    for (int k = 0; k < 2; k++)
        sides[k]->own = sides[k]->now = (ks_view){sides[k]->all, sides[k]->of->cols, 0, 0, sides[k]->turned};
    return st;
}

static kspec_status begin_own(kspec_team *t, side *s, kspec_error *err) {
    if (s->all) return KSPEC_OK;
    if (s->turned) return ks_columns_begin(t, s->of, &s->columns, err);
    const ks_range rows = ks_strip_rows(s->of->rows, KS_STRIP, t->comm.rank, t->comm.ranks);
    s->own = (ks_view){s->of->own, s->of->cols, rows.from, 0, 0};
    return KSPEC_OK;
}

static kspec_status get_own(kspec_team *t, side *s, kspec_error *err) {
    if (!s->columns.of) return KSPEC_OK;
    kspec_status st = ks_columns_get(t, &s->columns, err);
    const ks_range i = s->columns.range;
    s->own = (ks_view){s->columns.x, ks_range_size(i), i.from, 0, 1};
    return st;
}

/* Returns the doubles of a panel, plus this rank's contribution if all ranks contribute. */
static size_t packed_room(size_t rows, size_t width) { return ks_size(ks_depth(rows), width); }

static kspec_status begin_panel(kspec_team *t, side *s, size_t width, size_t k, kspec_error *err) {
    if (s->all) return KSPEC_OK;
    const ks_range rows = ks_strip_rows(s->of->rows, KS_STRIP, t->comm.rank, t->comm.ranks);
    const size_t room = ks_size(width, ks_depth(k));
    s->panel = ks_alloc(room, sizeof(double));
    if (s->turned) s->packed = ks_alloc(packed_room(ks_range_size(rows), width), sizeof(double));
    return s->panel && (s->packed || !s->turned) ? KSPEC_OK
                                                 : ks_nomem(err, "a panel", ks_size(room, sizeof(double)));
}

static kspec_status get_panel(kspec_team *t, side *s, ks_range i, ks_range k, kspec_error *err) {
    if (s->all) return KSPEC_OK;
    s->now = (ks_view){s->panel, ks_range_size(s->turned ? i : k), i.from, k.from, s->turned};
    return ks_block_get(t, s->of, s->turned ? k : i, s->turned ? i : k, s->packed, s->panel, err);
}

static void end_side(side *s) {
    ks_columns_end(&s->columns);
    ks_free(s->panel);
    ks_free(s->packed);
}

/*
 * Returns the number of columns of a panel, which takes about 64 MB, for fewer and longer messages. The
 * number depends on the shape alone.
 */
static size_t panel_width(size_t n, size_t k) {
    const size_t most = ((size_t)8 << 20) / (KS_STRIP_COLS * ks_depth(k)),
                 all = (n + KS_STRIP_COLS - 1) / KS_STRIP_COLS;
    const size_t units = most < 1 ? 1 : most < 4 ? most : 4;
    return KS_STRIP_COLS * (units < all ? units : all);
}

/* ---- any product ---- */

static kspec_status panels(const ks_run *run, const ks_mat_product *p, side *A, side *B, kspec_error *err) {
    kspec_team *t = run->team;
    const ks_range rows = ks_strip_rows(p->m, KS_STRIP, t->comm.rank, t->comm.ranks);
    const size_t width = panel_width(p->n, p->k);
    kspec_status st = begin_own(t, A, err);
    if (!st) st = begin_panel(t, B, width, p->k, err);
    if (!A->all || !B->all) st = ks_ranks_synchronise(t, st, err); /* otherwise nothing could fail */
    if (!st) st = get_own(t, A, err);
    ks_run alone = ks_run_alone(run);
    for (ks_range j = {0, 0}; j.from < p->n; j.from = j.to) {
        j.to = p->n - j.from < width ? p->n : j.from + width;
        for (ks_range k = {0, 0}; k.from < p->k; k.from = k.to) {
            k.to = p->k - k.from < KS_DEPTH ? p->k : k.from + KS_DEPTH;
            if (!B->all) st = ks_ranks_synchronise(t, st, err);
            if (!st) st = get_panel(t, B, j, k, err);
            if (st) return st;
            const ks_run part =
                ks_run_part(&alone, (double)j.from / (double)p->n, (double)j.to / (double)p->n);
            st = ks_gemm_tiled(&part, p->ta, p->tb, ks_range_size(rows), ks_range_size(j), ks_range_size(k),
                               p->alpha, ks_view_at(&A->own, rows.from, k.from), A->own.ld,
                               ks_view_at(&B->now, j.from, k.from), B->now.ld, k.from ? 1 : p->beta,
                               ks_strips_at(p->C)->own + j.from, p->n, err);
        }
    }
    return st;
}

/* ---- symmetric products ---- */

static kspec_status symmetric(const ks_run *run, const ks_mat_product *p, side *A, side *B,
                              kspec_error *err) {
    kspec_team *t = run->team;
    kspec_status st = begin_own(t, A, err);
    if (!st && B != A) st = begin_own(t, B, err);
    /* otherwise nothing could fail */
    if (A->columns.of || B->columns.of) st = ks_ranks_synchronise(t, st, err);
    if (!st) st = get_own(t, A, err);
    if (!st && B != A) st = get_own(t, B, err);
    if (st) return st;
    const ks_operand operands[] = {{A->own, A->all != NULL}, {B->own, B->all != NULL}};
    return ks_ranks_symmetric(run, p, operands, B == A ? 1 : 2, err);
}

/* ---- product ---- */

static kspec_status make(const ks_run *run, const ks_mat_product *p, kspec_error *err) {
    kspec_team *t = run->team;
    if (p->symmetric && t->comm.ranks == 1) {
        const ks_run alone = ks_run_alone(run);
        return ks_gemm_symmetric_tiled(
            &alone, p->ta, p->tb, p->n, p->k, p->alpha, ks_strips_own(t, ks_strips_at(p->A)), p->lda,
            ks_strips_own(t, ks_strips_at(p->B)), p->ldb, ks_strips_at(p->C)->own, p->ldc, err);
    }
    side A = side_of(t, p->A, p->ta), B = side_of(t, p->B, !p->tb);
    const int same = p->A == p->B && A.turned == B.turned;
    side *other = same ? &A : &B;
    const size_t count = ks_size(p->m, p->n);
    double *C = NULL;
    kspec_status st = share(t, &A, other, count, err);
    if (!st && A.all && other->all && p->beta == 0)
        st = ks_area_get(t, ks_size(count, sizeof *C), 1, &C, err);
    if (!st)
        st = C              ? ks_ranks_shared(run, p, A.all, other->all, C, err)
             : p->symmetric ? symmetric(run, p, &A, other, err)
                            : panels(run, p, &A, other, err);
    end_side(&A);
    end_side(&B);
    return st;
}

/*
 * Reads a product from the checkpoint. Each rank reads its own strips. If any strip is missing, the ranks
 * compute the product again. The ranks always repeat the work between products.
 */
static kspec_status stored(const ks_run *run, const ks_mat_product *p, const ks_stored_loop *l,
                           kspec_error *err) {
    kspec_team *t = run->team;
    kspec_status st = ks_store_begin(t->store, l, err);
    st = ks_team_synchronise(t, KS_AT_LOOP, st, "checkpoint", ks_digest(KS_DIGEST, l->have, l->chunks), err);
    size_t found = 0;
    for (size_t s = 0; s < l->chunks; s++) found += l->have[s];
    if (st || found == l->chunks) return st;
    st = make(run, p, err);
    for (size_t s = l->mine[0]; s < l->mine[1] && !st; s++) st = ks_store_add(t->store, l, s, err);
    return st ? st : ks_store_flush(t->store, l, err);
}

kspec_status ks_ranks_product(const ks_run *run, const ks_mat_product *p, kspec_error *err) {
    kspec_team *t = run->team;
    t->loops++;
    if (!t->store || p->beta != 0) return make(run, p, err);
    const size_t strips = (p->m + KS_STRIP - 1) / KS_STRIP;
    const ks_range own = ks_strip_rows(strips, 1, t->comm.rank, t->comm.ranks);
    const ks_share rows = {.to = ks_strips_at(p->C)->own,
                           .each = p->n * sizeof(double),
                           .count = p->m,
                           .per = KS_STRIP,
                           .first = own.from * KS_STRIP};
    ks_stored_loop l = {.loop = t->loops,
                        .what = "strips",
                        .chunks = strips,
                        .shares = &rows,
                        .count = 1,
                        .have = ks_zalloc(strips, 1),
                        .mine = {own.from, own.to}};
    kspec_status st = l.have ? stored(run, p, &l, err) : ks_nomem(err, "a product", strips);
    ks_free(l.have);
    return st;
}

size_t ks_ranks_product_room(int ranks, const ks_mat_product *p, int whole) {
    if (ranks <= 1) return 0;
    const size_t columns = ks_columns_room(ranks, p->k, p->m);
    size_t room = p->ta && !(whole & KS_WHOLE_A) ? columns : 0;
    if (!p->symmetric) {
        const size_t width = panel_width(p->n, p->k);
        return whole & KS_WHOLE_B ? room : ks_size_add(room, ks_size(2, ks_size(width, ks_depth(p->k))));
    }
    if (!p->tb && !(whole & KS_WHOLE_B)) room = ks_size_add(room, columns);
    return ks_size_add(room, ks_ranks_symmetric_room(ranks, p, whole));
}
