/*
 * Products of matrices in strips. C = op(A) op(B): each rank makes its own rows of C from its own rows of
 * op(A), and gets op(B) panel by panel. Of a symmetric C = op(A) op(B), strip r makes the blocks with the
 * strips r ... r + half of them, round about, so that all have as much to do; a block below the diagonal is
 * made as its mirror image above, as one process makes it, and sent to those whose rows it is in.
 */
#include "device/ranks.h"

#include "base/digest.h"
#include "base/error.h"
#include "base/memory.h"
#include "linalg/linalg.h"
#include "team/keep.h"

/* ---- operands ---- */

/* Some of op(A) (its rows i, by k) or of op(B) (its columns i, by k), from i0 and k0 on */
typedef struct {
    const double *x;
    size_t ld, i0, k0;
    int turned; /* k by i */
} view;

static const double *at(const view *v, size_t i, size_t k) {
    return v->turned ? v->x + (k - v->k0) * v->ld + (i - v->i0) : v->x + (i - v->i0) * v->ld + (k - v->k0);
}

typedef struct {
    const ks_strips *of;
    int turned;
    /* where not all of it is here: this rank's i, and those of the panel */
    ks_columns columns;
    double *panel, *packed;
    view own, now;
} side;

static int is_here(kspec_team *t, const side *s) { return ks_strips_here(t, s->of) != NULL; }

static side side_of(kspec_team *t, const double *p, int turned) {
    side s = {.of = ks_strips_at(p), .turned = turned};
    s.own = s.now = (view){ks_strips_here(t, s.of), s.of->cols, 0, 0, turned};
    return s;
}

static size_t depth(size_t k) { return k < KS_DEPTH ? k : KS_DEPTH; }

static kspec_status begin_own(kspec_team *t, side *s, kspec_error *err) {
    if (is_here(t, s)) return KSPEC_OK;
    if (s->turned) return ks_columns_begin(t, s->of, &s->columns, err);
    const ks_range rows = ks_strip_rows(s->of->rows, KS_STRIP, t->comm.rank, t->comm.ranks);
    s->own = (view){s->of->own, s->of->cols, rows.from, 0, 0};
    return KSPEC_OK;
}

static kspec_status get_own(kspec_team *t, side *s, kspec_error *err) {
    if (!s->columns.of) return KSPEC_OK;
    kspec_status st = ks_columns_get(t, &s->columns, err);
    const ks_range i = s->columns.range;
    s->own = (view){s->columns.x, ks_range_size(i), i.from, 0, 1};
    return st;
}

/* Doubles of a panel and, where all ranks bring parts of it, of this one's */
static size_t packed_room(size_t rows, size_t width) { return ks_size(depth(rows), width); }

static kspec_status begin_panel(kspec_team *t, side *s, size_t width, size_t k, kspec_error *err) {
    if (is_here(t, s)) return KSPEC_OK;
    const ks_range rows = ks_strip_rows(s->of->rows, KS_STRIP, t->comm.rank, t->comm.ranks);
    const size_t room = ks_size(width, depth(k));
    s->panel = ks_alloc(room, sizeof(double));
    if (s->turned) s->packed = ks_alloc(packed_room(ks_range_size(rows), width), sizeof(double));
    return s->panel && (s->packed || !s->turned) ? KSPEC_OK
                                                 : ks_nomem(err, "a panel", ks_size(room, sizeof(double)));
}

static kspec_status get_panel(kspec_team *t, side *s, ks_range i, ks_range k, kspec_error *err) {
    if (is_here(t, s)) return KSPEC_OK;
    s->now = (view){s->panel, ks_range_size(s->turned ? i : k), i.from, k.from, s->turned};
    return ks_block_get(t, s->of, s->turned ? k : i, s->turned ? i : k, s->packed, s->panel, err);
}

static void end_side(side *s) {
    ks_columns_end(&s->columns);
    ks_free(s->panel);
    ks_free(s->packed);
}

/*
 * How wide panels are, in multiples of `unit`: about 64 MB, for fewer and longer messages. Of the shape
 * alone.
 */
static size_t panel_width(size_t unit, size_t n, size_t k) {
    const size_t most = ((size_t)8 << 20) / (unit * depth(k)), all = (n + unit - 1) / unit;
    const size_t units = most < 1 ? 1 : most < 4 ? most : 4;
    return unit * (units < all ? units : all);
}

/* ---- any product ---- */

static kspec_status panels(const ks_run *run, const ks_matmul *p, side *A, side *B, kspec_error *err) {
    kspec_team *t = run->team;
    const ks_range rows = ks_strip_rows(p->m, KS_STRIP, t->comm.rank, t->comm.ranks);
    const size_t width = panel_width(KS_STRIP_COLS, p->n, p->k);
    kspec_status st = begin_own(t, A, err);
    if (!st) st = begin_panel(t, B, width, p->k, err);
    st = ks_ranks_meet(t, st, err);
    if (!st) st = get_own(t, A, err);
    ks_run alone = ks_run_alone(run);
    for (ks_range j = {0, 0}; j.from < p->n; j.from = j.to) {
        j.to = p->n - j.from < width ? p->n : j.from + width;
        for (ks_range k = {0, 0}; k.from < p->k; k.from = k.to) {
            k.to = p->k - k.from < KS_DEPTH ? p->k : k.from + KS_DEPTH;
            st = ks_ranks_meet(t, st, err);
            if (!st) st = get_panel(t, B, j, k, err);
            if (st) return st;
            const ks_run part =
                ks_run_part(&alone, (double)j.from / (double)p->n, (double)j.to / (double)p->n);
            st = ks_gemm_tiled(&part, p->ta, p->tb, ks_range_size(rows), ks_range_size(j), ks_range_size(k),
                               p->alpha, at(&A->own, rows.from, k.from), A->own.ld,
                               at(&B->now, j.from, k.from), B->now.ld, k.from ? 1 : p->beta,
                               ks_strips_at(p->C)->own + j.from, p->n, err);
        }
    }
    return st;
}

/* ---- symmetric products ---- */

enum { BLOCK = KS_STRIP * KS_STRIP };

typedef struct {
    const ks_matmul *p;
    const side *A, *B;
    /* of this rank, of the panel, of all */
    ks_range own, now;
    size_t strips;
    ks_range k;
    /* per own strip and strip of the panel: a block as it is above the diagonal */
    double *blocks, *C;
} square;

static ks_range strip(const square *q, size_t s) {
    const size_t to = (s + 1) * KS_STRIP;
    return (ks_range){s * KS_STRIP, to < q->p->n ? to : q->p->n};
}

/* Is the block of the strips r and c made by r? Of any two strips one is. */
static int makes(const square *q, size_t r, size_t c) {
    const size_t ahead = (c + q->strips - r) % q->strips;
    return 2 * ahead < q->strips || (2 * ahead == q->strips && r < c);
}

/* C[i,j] = x[i,j], or x[j,i] if turned, for i of strip r and j of strip c */
static void place(const square *q, size_t r, size_t c, const double *x, size_t ld, int turned) {
    const ks_range i = strip(q, r), j = strip(q, c);
    double *C = q->C + (i.from - q->own.from * KS_STRIP) * q->p->n + j.from;
    for (size_t a = 0; a < ks_range_size(i); a++)
        for (size_t b = 0; b < ks_range_size(j); b++)
            C[a * q->p->n + b] = turned ? x[b * ld + a] : x[a * ld + b];
}

static kspec_status block(void *ctx, size_t chunk, const ks_worker *worker) {
    (void)worker;
    const square *q = ctx;
    const size_t panel = ks_range_size(q->now), r = q->own.from + chunk / panel,
                 c = q->now.from + chunk % panel;
    if (!makes(q, r, c)) return KSPEC_OK;
    const ks_range i = strip(q, r < c ? r : c), j = strip(q, r < c ? c : r);
    const view *a = r <= c ? &q->A->own : &q->A->now, *b = r <= c ? &q->B->now : &q->B->own;
    double *x = q->blocks + chunk * BLOCK;
    ks_gemm(q->p->ta, q->p->tb, ks_range_size(i), ks_range_size(j), ks_range_size(q->k), q->p->alpha,
            at(a, i.from, q->k.from), a->ld, at(b, j.from, q->k.from), b->ld, q->k.from ? 1 : 0, x, KS_STRIP);
    if (q->k.to < q->p->k) return KSPEC_OK;
    if (r == c) /* what is above the diagonal counts */
        for (size_t u = 0; u < ks_range_size(i); u++)
            for (size_t v = 0; v < u; v++) x[u * KS_STRIP + v] = x[v * KS_STRIP + u];
    place(q, r, c, x, KS_STRIP, r > c);
    if (r != c && c >= q->own.from && c < q->own.to) place(q, c, r, x, KS_STRIP, r < c);
    return KSPEC_OK;
}

static ks_range strips_of(const kspec_team *t, const square *q, int rank) {
    return ks_strip_rows(q->strips, 1, rank, t->comm.ranks);
}

/* Numbers of the blocks that `from` makes and sends to another rank */
static size_t mirrored(const square *q, ks_range from, ks_range to) {
    size_t count = 0;
    for (size_t r = from.from; r < from.to; r++)
        for (size_t c = to.from; c < to.to; c++)
            if (makes(q, r, c)) count += ks_range_size(strip(q, r)) * ks_range_size(strip(q, c));
    return count;
}

/* What goes round at the end */
typedef struct {
    double *sent, *got;
    size_t *bytes;
} mirror;

static kspec_status begin_mirror(kspec_team *t, const square *q, mirror *m, kspec_error *err) {
    const size_t ranks = (size_t)t->comm.ranks;
    size_t sent = 0, got = 0;
    m->bytes = ks_alloc(ranks, 2 * sizeof *m->bytes);
    if (!m->bytes) return ks_nomem(err, "a product", ks_size(ranks, 2 * sizeof *m->bytes));
    for (size_t r = 0; r < ranks; r++) {
        const int other = (int)r != t->comm.rank;
        const ks_range theirs = strips_of(t, q, (int)r);
        const size_t to = other ? mirrored(q, q->own, theirs) : 0,
                     from = other ? mirrored(q, theirs, q->own) : 0;
        m->bytes[r] = to * sizeof(double), m->bytes[ranks + r] = from * sizeof(double);
        sent += to, got += from;
    }
    m->sent = ks_alloc(sent, sizeof *m->sent);
    m->got = ks_alloc(got, sizeof *m->got);
    return m->sent && m->got ? KSPEC_OK : ks_nomem(err, "a product", ks_size(sent + got, sizeof(double)));
}

static kspec_status get_mirror(kspec_team *t, const square *q, mirror *m, kspec_error *err) {
    const size_t n = q->p->n;
    double *to = m->sent;
    for (int rank = 0; rank < t->comm.ranks; rank++) {
        const ks_range theirs = strips_of(t, q, rank);
        for (size_t r = q->own.from; r < q->own.to && rank != t->comm.rank; r++)
            for (size_t c = theirs.from; c < theirs.to; c++) {
                if (!makes(q, r, c)) continue;
                const ks_range i = strip(q, r), j = strip(q, c);
                const double *x = q->C + (i.from - q->own.from * KS_STRIP) * n;
                for (size_t a = i.from; a < i.to; a++, x += n)
                    for (size_t b = j.from; b < j.to; b++) *to++ = x[b];
            }
    }
    kspec_status st = ks_team_exchange(t, m->sent, m->bytes, m->got, m->bytes + t->comm.ranks, err);
    const double *from = m->got;
    for (int rank = 0; rank < t->comm.ranks && !st; rank++) {
        const ks_range theirs = strips_of(t, q, rank);
        for (size_t r = theirs.from; r < theirs.to && rank != t->comm.rank; r++)
            for (size_t c = q->own.from; c < q->own.to; c++) {
                if (!makes(q, r, c)) continue;
                place(q, c, r, from, ks_range_size(strip(q, c)), 1);
                from += ks_range_size(strip(q, r)) * ks_range_size(strip(q, c));
            }
    }
    return st;
}

static kspec_status square_panels(const ks_run *run, square *q, side *A, side *B, size_t width, mirror *m,
                                  kspec_error *err) {
    kspec_team *t = run->team;
    const ks_run alone = ks_run_alone(run);
    kspec_status st = ks_ranks_meet(t, KSPEC_OK, err);
    if (!st) st = get_own(t, A, err);
    if (!st && B != A) st = get_own(t, B, err);
    const size_t k = q->p->k, step = width / KS_STRIP;
    for (q->now.from = 0; q->now.from < q->strips; q->now.from = q->now.to) {
        q->now.to = q->strips - q->now.from < step ? q->strips : q->now.from + step;
        const ks_range i = {strip(q, q->now.from).from, strip(q, q->now.to - 1).to};
        for (q->k.from = 0; q->k.from < k; q->k.from = q->k.to) {
            q->k.to = k - q->k.from < KS_DEPTH ? k : q->k.from + KS_DEPTH;
            st = ks_ranks_meet(t, st, err);
            if (!st) st = get_panel(t, A, i, q->k, err);
            if (!st && B != A) st = get_panel(t, B, i, q->k, err);
            if (st) return st;
            const double all = (double)q->strips;
            const ks_run part = ks_run_part(&alone, (double)q->now.from / all, (double)q->now.to / all);
            st = ks_parallel_for(&part, ks_range_size(q->own) * ks_range_size(q->now), block, q, err);
        }
    }
    st = ks_ranks_meet(t, st, err);
    return st ? st : get_mirror(t, q, m, err);
}

static kspec_status symmetric(const ks_run *run, const ks_matmul *p, side *A, side *B, kspec_error *err) {
    kspec_team *t = run->team;
    square q = {
        .p = p, .A = A, .B = B, .strips = (p->n + KS_STRIP - 1) / KS_STRIP, .C = ks_strips_at(p->C)->own};
    q.own = strips_of(t, &q, t->comm.rank);
    const size_t width = panel_width(KS_STRIP, p->n, p->k);
    const size_t count = ks_size(ks_range_size(q.own), width / KS_STRIP);
    mirror m = {0};
    kspec_status st = begin_own(t, A, err);
    if (!st) st = begin_panel(t, A, width, p->k, err);
    if (!st && B != A) st = begin_own(t, B, err);
    if (!st && B != A) st = begin_panel(t, B, width, p->k, err);
    if (!st) st = begin_mirror(t, &q, &m, err);
    q.blocks = ks_alloc(count, BLOCK * sizeof *q.blocks);
    if (!st && !q.blocks) st = ks_nomem(err, "a product", ks_size(count, BLOCK * sizeof *q.blocks));
    st = ks_ranks_meet(t, st, err);
    if (!st) st = square_panels(run, &q, A, B, width, &m, err);
    ks_free(q.blocks);
    ks_free(m.sent);
    ks_free(m.got);
    ks_free(m.bytes);
    return st;
}

/* ---- all ---- */

static kspec_status make(const ks_run *run, const ks_matmul *p, kspec_error *err) {
    kspec_team *t = run->team;
    if (p->symmetric && t->comm.ranks == 1) {
        const ks_run alone = ks_run_alone(run);
        return ks_gemm_symmetric_tiled(
            &alone, p->ta, p->tb, p->n, p->k, p->alpha, ks_strips_here(t, ks_strips_at(p->A)), p->lda,
            ks_strips_here(t, ks_strips_at(p->B)), p->ldb, ks_strips_at(p->C)->own, p->ldc, err);
    }
    side A = side_of(t, p->A, p->ta), B = side_of(t, p->B, !p->tb);
    const int same = p->A == p->B && A.turned == B.turned;
    kspec_status st = p->symmetric ? symmetric(run, p, &A, same ? &A : &B, err) : panels(run, p, &A, &B, err);
    end_side(&A);
    end_side(&B);
    return st;
}

/*
 * A product whose strips are all in the checkpoint is taken from there, each rank its own strips; one of
 * which a strip is missing is made again. All that lies between products is made again.
 */
static kspec_status kept(const ks_run *run, const ks_matmul *p, const ks_kept_loop *l, kspec_error *err) {
    kspec_team *t = run->team;
    kspec_status st = ks_keep_begin(t->keep, l, err);
    st = ks_team_meet(t, KS_AT_LOOP, st, "checkpoint", ks_digest(KS_DIGEST, l->have, l->chunks), err);
    size_t there = 0;
    for (size_t s = 0; s < l->chunks; s++) there += l->have[s];
    if (st || there == l->chunks) return st;
    st = make(run, p, err);
    for (size_t s = l->mine[0]; s < l->mine[1] && !st; s++) st = ks_keep_add(t->keep, l, s, err);
    return st ? st : ks_keep_flush(t->keep, l, err);
}

kspec_status ks_ranks_product(const ks_run *run, const ks_matmul *p, kspec_error *err) {
    kspec_team *t = run->team;
    t->loops++;
    if (!t->keep || p->beta != 0) return make(run, p, err);
    const size_t strips = (p->m + KS_STRIP - 1) / KS_STRIP;
    const ks_range own = ks_strip_rows(strips, 1, t->comm.rank, t->comm.ranks);
    const ks_share rows = {.to = ks_strips_at(p->C)->own,
                           .each = p->n * sizeof(double),
                           .count = p->m,
                           .per = KS_STRIP,
                           .first = own.from * KS_STRIP};
    ks_kept_loop l = {.loop = t->loops,
                      .what = "strips",
                      .chunks = strips,
                      .shares = &rows,
                      .count = 1,
                      .have = ks_zalloc(strips, 1),
                      .mine = {own.from, own.to}};
    kspec_status st = l.have ? kept(run, p, &l, err) : ks_nomem(err, "a product", strips);
    ks_free(l.have);
    return st;
}

size_t ks_ranks_product_room(int ranks, const ks_matmul *p, int whole) {
    if (ranks <= 1) return 0;
    const size_t unit = p->symmetric ? KS_STRIP : KS_STRIP_COLS, width = panel_width(unit, p->n, p->k);
    const size_t panel = ks_size(2, ks_size(width, depth(p->k)));
    const size_t columns = ks_columns_room(ranks, p->k, p->m);
    size_t room = p->ta && !(whole & KS_WHOLE_A) ? columns : 0;
    if (!(whole & KS_WHOLE_B)) room = ks_size_add(room, panel);
    if (!p->symmetric) return room;
    if (!(whole & KS_WHOLE_A)) room = ks_size_add(room, panel);
    if (!p->tb && !(whole & KS_WHOLE_B)) room = ks_size_add(room, columns);
    const size_t own = ks_strip_rows_most(p->n, ranks);
    room = ks_size_add(room, ks_size(own + KS_STRIP, width));
    return ks_size_add(room, ks_size(own, p->n + 2 * KS_STRIP)); /* the mirrored half, sent and received */
}
