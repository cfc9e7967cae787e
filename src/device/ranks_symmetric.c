/*
 * Computes symmetric products C = op(A) op(B) of matrices in strips. Strip r computes its blocks with half of
 * the strips, r ... r + half, cyclically, so that all have the same work. A block below the diagonal is
 * computed as its mirror image above, in the same way as by a single process. At the end it is sent to the
 * ranks that have its rows.
 *
 * Every rank receives the strips that it needs in windows, which are ranges of strips. A rank's first window
 * begins at its own strips, and all windows advance together. At every step all ranks compute equally many
 * blocks, so no rank waits for another.
 */
#include "base/error.h"
#include "base/memory.h"
#include "device/ranks.h"
#include "linalg/linalg.h"

#include <string.h>

enum { BLOCK = KS_STRIP * KS_STRIP };

/* op(A) or op(B) */
typedef struct {
    const ks_view *own;
    int local;
    /*
     * In each step, `sent` contains the data to send, `got` the received data, and `at` the position of each
     * strip of the window.
     */
    double *sent, *got;
    ks_view *at;
} operand;

typedef struct {
    const ks_mat_product *p;
    operand operands[2];
    int count;
    /*
     * `strips` is the number of strips, width is the number of strips in a window, and own is the range of
     * this rank's strips.
     */
    size_t strips, width;
    ks_range own;
    size_t steps, step;
    ks_range k;
    /* `blocks` contains the block above the diagonal for each own strip and each strip of the window. */
    double *blocks, *C;
    size_t *bytes;
} square;

/* ---- blocks ---- */

static ks_range strip(const square *q, size_t s) {
    const size_t to = (s + 1) * KS_STRIP;
    return (ks_range){s * KS_STRIP, to < q->p->n ? to : q->p->n};
}

static ks_range strips_of(const kspec_team *t, const square *q, int rank) {
    return ks_strip_rows(q->strips, 1, rank, t->comm.ranks);
}

static int within(ks_range r, size_t s) { return s >= r.from && s < r.to; }

/* Does strip r compute the block of strips r and c? Of any two strips, exactly one does. */
static int makes(const square *q, size_t r, size_t c) {
    const size_t ahead = (c + q->strips - r) % q->strips;
    return 2 * ahead < q->strips || (2 * ahead == q->strips && r < c);
}

/* Returns the window of a rank with these strips at a step. After the last strip follows the first. */
static ks_range window(const square *q, ks_range own, size_t step) {
    const size_t end = ks_range_size(own) ? own.to + q->strips / 2 : own.from;
    const size_t from = own.from + step * q->width, to = from + q->width;
    if (from >= end) return (ks_range){end, end};
    return (ks_range){from, to < end ? to : end};
}

/* Returns the number of steps. `rows` is the largest number of rows of a rank. */
static size_t steps_of(const square *q, size_t rows) {
    const size_t most = (rows + KS_STRIP - 1) / KS_STRIP + q->strips / 2;
    return (most + q->width - 1) / q->width;
}

/* ---- windows ---- */

/* Returns the number of entries of a strip, for the k of this step. */
static size_t numbers(const square *q, size_t s) { return ks_range_size(strip(q, s)) * ks_range_size(q->k); }

/* Returns the number of entries of the strips that `has` and a window have in common. */
static size_t common(const square *q, ks_range has, ks_range w) {
    size_t sum = 0;
    for (size_t s = w.from; s < w.to; s++)
        if (within(has, s % q->strips)) sum += numbers(q, s % q->strips);
    return sum;
}

/* Copies strip s of op(A) to `to` as a dense matrix. Returns the end of the copy. */
static double *pack(const square *q, double *to, const ks_view *v, size_t s) {
    const ks_range i = strip(q, s), outer = v->turned ? q->k : i, inner = v->turned ? i : q->k;
    for (size_t a = outer.from; a < outer.to; a++, to += ks_range_size(inner)) {
        const double *x = v->turned ? ks_view_at(v, i.from, a) : ks_view_at(v, a, q->k.from);
        memcpy(to, x, ks_range_size(inner) * sizeof *to);
    }
    return to;
}

/* Sets the positions of a window's strips as they are received, rank after rank. */
static void lay_out(const kspec_team *t, const square *q, operand *o, ks_range w) {
    const double *from = o->got;
    for (size_t s = w.from; s < w.to; s++) o->at[s - w.from] = *o->own;
    for (int rank = 0; rank < t->comm.ranks && !o->local; rank++) {
        const ks_range theirs = strips_of(t, q, rank);
        for (size_t s = w.from; s < w.to && rank != t->comm.rank; s++) {
            const size_t c = s % q->strips;
            if (!within(theirs, c)) continue;
            const ks_range i = strip(q, c);
            o->at[s - w.from] =
                (ks_view){from, ks_range_size(o->own->turned ? i : q->k), i.from, q->k.from, o->own->turned};
            from += numbers(q, c);
        }
    }
}

static kspec_status get_window(kspec_team *t, const square *q, operand *o, kspec_error *err) {
    const ks_range mine = window(q, q->own, q->step);
    lay_out(t, q, o, mine);
    if (o->local) return KSPEC_OK;
    size_t *send = q->bytes, *receive = q->bytes + t->comm.ranks;
    double *to = o->sent;
    for (int rank = 0; rank < t->comm.ranks; rank++) {
        const int other = rank != t->comm.rank;
        const ks_range theirs = strips_of(t, q, rank), w = window(q, theirs, q->step);
        send[rank] = other ? common(q, q->own, w) * sizeof *to : 0;
        receive[rank] = other ? common(q, theirs, mine) * sizeof *to : 0;
        for (size_t s = w.from; s < w.to && other; s++)
            if (within(q->own, s % q->strips)) to = pack(q, to, o->own, s % q->strips);
    }
    return ks_team_exchange(t, o->sent, send, o->got, receive, err);
}

/* ---- blocks ---- */

/*
 * Copies x to the block of C for strips r and c. C[i,j] is x[i,j], or x[j,i] if turned is 1, for i of strip r
 * and j of strip c.
 */
static void place(const square *q, size_t r, size_t c, const double *x, size_t ld, int turned) {
    const size_t rows = ks_range_size(strip(q, r)), cols = ks_range_size(strip(q, c)), n = q->p->n;
    double *C = q->C + (r - q->own.from) * KS_STRIP * n + c * KS_STRIP;
    for (size_t a = 0; a < rows && !turned; a++) memcpy(C + a * n, x + a * ld, cols * sizeof *C);
    if (turned) ks_transpose(C, n, x, ld, rows, cols);
}

static kspec_status block(void *ctx, size_t chunk, const ks_worker *worker) {
    (void)worker;
    const square *q = ctx;
    const ks_range w = window(q, q->own, q->step);
    const size_t at = chunk % ks_range_size(w), r = q->own.from + chunk / ks_range_size(w),
                 c = (w.from + at) % q->strips;
    if (!makes(q, r, c)) return KSPEC_OK;
    const operand *A = &q->operands[0], *B = &q->operands[q->count - 1];
    const ks_range i = strip(q, r < c ? r : c), j = strip(q, r < c ? c : r);
    const ks_view *a = r <= c ? A->own : &A->at[at], *b = r <= c ? &B->at[at] : B->own;
    double *x = q->blocks + (chunk / ks_range_size(w) * q->width + at) * BLOCK;
    const double beta = q->k.from ? 1 : 0;
    if (r == c && q->count == 1)
        ks_gemm_diagonal(q->p->ta, ks_range_size(i), ks_range_size(q->k), q->p->alpha,
                         ks_view_at(a, i.from, q->k.from), a->ld, beta, x, KS_STRIP);
    else
        ks_gemm(q->p->ta, q->p->tb, ks_range_size(i), ks_range_size(j), ks_range_size(q->k), q->p->alpha,
                ks_view_at(a, i.from, q->k.from), a->ld, ks_view_at(b, j.from, q->k.from), b->ld, beta, x,
                KS_STRIP);
    if (q->k.to < q->p->k) return KSPEC_OK;
    if (r == c) /* upper triangle only */
        for (size_t u = 0; u < ks_range_size(i); u++)
            for (size_t v = 0; v < u; v++) x[u * KS_STRIP + v] = x[v * KS_STRIP + u];
    place(q, r, c, x, KS_STRIP, r > c);
    if (r != c && within(q->own, c)) place(q, c, r, x, KS_STRIP, r < c);
    return KSPEC_OK;
}

/* ---- mirror ---- */

/*
 * Returns the number of entries of the blocks that the rank of `from` computes and sends to the rank of `to`.
 */
static size_t mirrored(const square *q, ks_range from, ks_range to) {
    size_t count = 0;
    for (size_t r = from.from; r < from.to; r++)
        for (size_t c = to.from; c < to.to; c++)
            if (makes(q, r, c)) count += ks_range_size(strip(q, r)) * ks_range_size(strip(q, c));
    return count;
}

/* The data that the ranks exchange at the end. */
typedef struct {
    double *sent, *got;
    size_t *bytes;
} mirror;

static kspec_status begin_mirror(const kspec_team *t, const square *q, mirror *m, kspec_error *err) {
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

static kspec_status send_mirror(kspec_team *t, const square *q, mirror *m, kspec_error *err) {
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
    const kspec_status st = ks_team_exchange(t, m->sent, m->bytes, m->got, m->bytes + t->comm.ranks, err);
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

/* Receives the mirrored blocks from the other ranks. st is this rank's status so far. */
static kspec_status get_mirror(kspec_team *t, const square *q, kspec_status st, kspec_error *err) {
    mirror m = {0};
    if (!st) st = begin_mirror(t, q, &m, err);
    st = ks_ranks_synchronise(t, st, err);
    if (!st) st = send_mirror(t, q, &m, err);
    ks_free(m.sent);
    ks_free(m.got);
    ks_free(m.bytes);
    return st;
}

/* ---- product ---- */

/* Returns the number of strips of a window, which takes about 64 MB, for fewer and longer messages. */
static size_t window_width(size_t strips, size_t k) {
    const size_t most = ((size_t)8 << 20) / (KS_STRIP * ks_depth(k)), units = most < 1   ? 1
                                                                              : most < 8 ? most
                                                                                         : 8;
    return units < strips ? units : strips;
}

/* Returns the largest number of entries that this rank sends in a step. */
static size_t sent_most(const kspec_team *t, square *q) {
    size_t most = 0;
    q->k = (ks_range){0, ks_depth(q->p->k)};
    for (size_t step = 0; step < q->steps; step++) {
        size_t sum = 0;
        for (int rank = 0; rank < t->comm.ranks; rank++)
            if (rank != t->comm.rank) sum += common(q, q->own, window(q, strips_of(t, q, rank), step));
        if (sum > most) most = sum;
    }
    return most;
}

static kspec_status begin(kspec_team *t, square *q, kspec_error *err) {
    const size_t strips = ks_size(ks_range_size(q->own), q->width);
    const size_t sent = sent_most(t, q), got = ks_size(q->width * KS_STRIP, ks_depth(q->p->k));
    q->bytes = ks_alloc((size_t)t->comm.ranks, 2 * sizeof *q->bytes);
    q->blocks = ks_alloc(strips, BLOCK * sizeof *q->blocks);
    int all = q->bytes && q->blocks;
    for (operand *o = q->operands; o < q->operands + q->count; o++) {
        o->at = ks_alloc(q->width, sizeof *o->at);
        if (!o->local) o->sent = ks_alloc(sent, sizeof *o->sent), o->got = ks_alloc(got, sizeof *o->got);
        all &= o->at && (o->local || (o->sent && o->got));
    }
    if (all) return KSPEC_OK;
    return ks_nomem(err, "a product", ks_size(ks_size_add(sent, got), sizeof(double)));
}

static kspec_status step(const ks_run *run, square *q, kspec_error *err) {
    const ks_run alone = ks_run_alone(run);
    const double all = (double)q->steps;
    const ks_run part = ks_run_part(&alone, (double)q->step / all, (double)(q->step + 1) / all);
    const size_t count = ks_range_size(q->own) * ks_range_size(window(q, q->own, q->step));
    kspec_status st = KSPEC_OK;
    for (operand *o = q->operands; o < q->operands + q->count && !st; o++)
        st = get_window(run->team, q, o, err);
    return st ? st : ks_parallel_for(&part, count, block, q, err);
}

/* Runs all steps of the product. st is this rank's status so far. */
static kspec_status all_steps(const ks_run *run, square *q, kspec_status st, kspec_error *err) {
    int local = 1;
    for (int i = 0; i < q->count; i++) local &= q->operands[i].local;
    for (q->step = 0; q->step < q->steps; q->step++)
        for (q->k = (ks_range){0, 0}; q->k.from < q->p->k; q->k.from = q->k.to) {
            q->k.to = q->p->k - q->k.from < KS_DEPTH ? q->p->k : q->k.from + KS_DEPTH;
            if (!local) st = ks_ranks_synchronise(run->team, st, err);
            if (!st) st = step(run, q, err);
        }
    return st;
}

kspec_status ks_ranks_symmetric(const ks_run *run, const ks_mat_product *p, const ks_operand *operands,
                                int count, kspec_error *err) {
    kspec_team *t = run->team;
    square q = {
        .p = p, .count = count, .strips = (p->n + KS_STRIP - 1) / KS_STRIP, .C = ks_strips_at(p->C)->own};
    for (int i = 0; i < count; i++)
        q.operands[i] = (operand){.own = &operands[i].own, .local = operands[i].local};
    q.own = strips_of(t, &q, t->comm.rank);
    q.width = window_width(q.strips, p->k);
    q.steps = steps_of(&q, ks_strip_rows_most(p->n, t->comm.ranks));
    kspec_status st = begin(t, &q, err);
    st = all_steps(run, &q, st, err);
    st = get_mirror(t, &q, st, err);
    for (int i = 0; i < count; i++) {
        ks_free(q.operands[i].sent);
        ks_free(q.operands[i].got);
        ks_free(q.operands[i].at);
    }
    ks_free(q.blocks);
    ks_free(q.bytes);
    return st;
}

size_t ks_ranks_symmetric_room(int ranks, const ks_mat_product *p, int whole) {
    const size_t width = window_width((p->n + KS_STRIP - 1) / KS_STRIP, p->k) * KS_STRIP;
    const size_t own = ks_strip_rows_most(p->n, ranks);
    /*
     * The product needs memory for the received window, for twice as many strips to send, and for the strips
     * of this rank.
     */
    const size_t windows = ks_size(ks_size_add(3 * width, own + KS_STRIP), ks_depth(p->k));
    size_t room = ks_size(own, width);
    if (!(whole & KS_WHOLE_A)) room = ks_size_add(room, windows);
    if (!(whole & KS_WHOLE_B)) room = ks_size_add(room, windows);
    /* The product needs memory to send and receive the mirrored half. */
    return ks_size_add(room, ks_size(own, p->n + 2 * KS_STRIP));
}
