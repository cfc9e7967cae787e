#include "spectrum/search.h"

#include "base/error.h"

#include <math.h>
#include <string.h>

kspec_status ks_search_init(const ks_run *run, ks_search *s, const ks_problem *p, ks_arena *arena,
                            kspec_error *err) {
    size_t workers = (size_t)ks_workers(run, KS_TRIES_MAX), K = p->o->K;
    *s = (ks_search){.p = p};
    s->work = ks_arena_alloc(arena, workers, sizeof *s->work);
    for (size_t w = 0; w < workers && !arena->failed; w++) ks_mode_work_alloc(p, arena, &s->work[w]);
    s->modes = ks_arena_zalloc(arena, KS_MODES_MAX, sizeof *s->modes);
    if (!arena->failed) ks_mode_alloc(p, arena, KS_MODES_MAX, s->modes);
    s->scratch =
        ks_arena_alloc(arena, K + 2 * (KS_MOVES_MAX + 1) * (K + 1) + 3 * (K + 1), sizeof *s->scratch);
    return arena->failed ? ks_nomem(err, "the families of spectra", arena->failed) : KSPEC_OK;
}

/* The mode of a family among the first `limit`; NULL: not tried yet. */
static ks_mode *lookup(const ks_search *s, size_t limit, const ks_family *f) {
    for (size_t k = 0; k < limit; k++)
        if (ks_family_same(&s->modes[k].family, f)) return &s->modes[k];
    return NULL;
}

static ks_mode *reserve(ks_search *s, const ks_family *f) {
    ks_mode *m = &s->modes[s->count++];
    m->family = *f;
    m->found = 0;
    return m;
}

/* By weight; nothing for a mode that cannot be trusted */
static double value(const ks_mode *m) { return m && m->found == 2 ? m->log_weight : -INFINITY; }

/* ---- every shape of one structure, each started by the one before ---- */

typedef struct {
    ks_family family;
    const double *theta;
    const ks_cplx *log_kappa;
    /* KS_SHAPE_COUNT reserved ones; where earlier ones end */
    ks_mode *own;
    size_t limit;
    const ks_mode *best;
} block;

static void run_block(const ks_search *s, ks_mode_work *w, block *b) {
    const double *theta = b->theta;
    const ks_cplx *log_kappa = b->log_kappa;
    b->best = NULL;
    for (size_t shape = 0; shape < KS_SHAPE_COUNT; shape++) {
        ks_family f = b->family;
        f.shape = shape;
        b->own[shape].family = f;
        /* without noise a constant spectrum of no end is not one */
        if (shape == KS_SHAPE_FLAT && f.end == s->p->end && !s->p->o->x->low_rank) continue;
        ks_mode *m = lookup(s, b->limit, &f);
        if (!m) ks_mode_find(s->p, w, theta, log_kappa, m = &b->own[shape]);
        if (m->found == 2) theta = m->theta, log_kappa = m->log_kappa;
        if (value(m) > value(b->best)) b->best = m;
    }
}

static void reserve_block(ks_search *s, block *b) {
    b->own = &s->modes[s->count];
    for (size_t shape = 0; shape < KS_SHAPE_COUNT; shape++) reserve(s, &b->family);
    /* places that find nothing of their own must not be taken for tried ones */
    for (size_t shape = 0; shape < KS_SHAPE_COUNT; shape++) b->own[shape].family.end = 0;
}

/* ---- one family each ---- */

typedef struct {
    const ks_search *s;
    const ks_mode *from;
    ks_mode *todo[KS_TRIES_MAX];
    block *blocks;
} tries;

static kspec_status one_try(void *ctx, size_t k, const ks_worker *worker) {
    const tries *t = ctx;
    ks_mode_find(t->s->p, &t->s->work[worker->index], t->from->theta, t->from->log_kappa, t->todo[k]);
    return KSPEC_OK;
}

static kspec_status one_block(void *ctx, size_t k, const ks_worker *worker) {
    const tries *t = ctx;
    run_block(t->s, &t->s->work[worker->index], &t->blocks[k]);
    return KSPEC_OK;
}

/* The best of the families, each started from one mode unless it was tried before. */
static kspec_status best_of(const ks_run *run, ks_search *s, const ks_mode *from, size_t count,
                            const ks_family *f, const ks_mode **best, kspec_error *err) {
    tries t = {.s = s, .from = from};
    ks_mode *m[KS_TRIES_MAX];
    size_t todo = 0;
    for (size_t k = 0; k < count; k++)
        if (!(m[k] = lookup(s, s->count, &f[k]))) m[k] = t.todo[todo++] = reserve(s, &f[k]);
    kspec_status st = ks_parallel_for(run, todo, one_try, &t, err);
    for (size_t k = 0; k < count && !st; k++)
        if (value(m[k]) > value(*best)) *best = m[k];
    return st;
}

/* ---- moves: a break more, or an end ---- */

typedef struct {
    size_t cuts, cut[KS_CUTS_MAX];
    size_t ends, end[KS_END_COUNT + KS_CUTS_MAX];
} places;

static void add_place(size_t x, size_t *count, size_t *list) {
    for (size_t k = 0; k < *count; k++)
        if (list[k] == x) return;
    list[(*count)++] = x;
}

/* Cuts of the rough mode into up to four constant pieces, and the first three nodes; ends beside them. */
static void find_places(const ks_search *s, const ks_mode *rough, places *q) {
    const ks_problem *p = s->p;
    size_t K = p->o->K, cut[KS_MOVES_MAX][KS_MOVES_MAX], most = KS_MOVES_MAX < K - 1 ? KS_MOVES_MAX : K - 1;
    double *w = s->scratch;
    *q = (places){0};
    for (size_t k = 0; k < K; k++) w[k] = 1 / fmax(rough->variance[k], 1e-3);
    size_t pieces = ks_segment(K, rough->theta, w, most, w + K, cut);
    for (size_t k = 1; k < pieces; k++)
        for (size_t b = 0; b < k; b++) add_place(cut[k][b], &q->cuts, q->cut);
    if (!p->o->x->low_rank) {
        for (size_t k = 0; k < KS_END_COUNT; k++)
            add_place((size_t)nearbyint((double)p->o->used * KS_ENDS[k]), &q->ends, q->end);
        for (size_t k = 0; k < q->cuts; k++) add_place(p->before[q->cut[k] + 1], &q->ends, q->end);
    }
    for (size_t k = 0; k < 3; k++) add_place(k, &q->cuts, q->cut);
}

/* Spectra end beyond three eigenvalues and the last break; without noise, beyond those that are seen. */
static int may_end(const ks_problem *p, const ks_family *f, size_t end) {
    size_t least = p->dust ? 3 : p->o->used > 3 ? p->o->used : 3;
    return end >= least && end < p->end && (!f->breaks || end > p->before[f->at[f->breaks - 1] + 1]);
}

static size_t list_moves(const ks_problem *p, const ks_family *f, int breaks, const places *q,
                         ks_family *out) {
    size_t n = 0;
    for (size_t k = 0; k < q->cuts && breaks && f->breaks < KS_MOVES_MAX; k++) {
        ks_family g = *f;
        size_t at = q->cut[k], i = g.breaks;
        int taken = p->before[at + 1] >= f->end;
        for (size_t b = 0; b < f->breaks; b++) taken |= f->at[b] == at;
        if (taken) continue;
        for (; i > 0 && g.at[i - 1] > at; i--) g.at[i] = g.at[i - 1];
        g.at[i] = at;
        g.breaks++;
        out[n++] = g;
    }
    for (size_t k = 0; k < q->ends && f->end == p->end; k++)
        if (may_end(p, f, q->end[k])) {
            out[n] = *f;
            out[n++].end = q->end[k];
        }
    return n;
}

/* Steps of 4, 2 and 1 towards a better end. */
static kspec_status refine(const ks_run *run, ks_search *s, const ks_mode *from, const ks_mode **best,
                           kspec_error *err) {
    kspec_status st = KSPEC_OK;
    for (size_t step = 4; step > 0 && !st; step /= 2) {
        ks_family f[2];
        size_t n = 0, end = (*best)->family.end;
        for (int up = 0; up < 2; up++) {
            f[n] = (*best)->family;
            f[n].end = up ? end + step : end > step ? end - step : 0;
            if (may_end(s->p, &f[n], f[n].end)) n++;
        }
        st = best_of(run, s, from, n, f, best, err);
    }
    return st;
}

/* From the best mode of a shape, moves while they help; where they lead goes to got. */
static kspec_status climb(const ks_run *run, ks_search *s, size_t shape, const ks_mode *top, const places *q,
                          size_t *got, const ks_mode **reached, kspec_error *err) {
    const ks_problem *p = s->p;
    ks_family whole = {.shape = shape, .end = p->end};
    const ks_mode *current = lookup(s, s->count, &whole);
    if (!current || !current->found) current = top;
    double before = current->family.shape == shape ? value(current) : -INFINITY;
    for (int move = 0; move < KS_MOVES_MAX; move++) {
        ks_family f = current->family, next[KS_TRIES_MAX];
        int same = f.shape == shape;
        f.shape = shape;
        size_t n = list_moves(p, &f, same, q, next);
        const ks_mode *best = NULL;
        kspec_status st = best_of(run, s, current, n, next, &best, err);
        if (!st && best && best->family.end < p->end) st = refine(run, s, current, &best, err);
        if (st) return st;
        if (!best || value(best) < before - 1) break;
        before = value(best);
        current = reached[(*got)++] = best;
    }
    return KSPEC_OK;
}

static kspec_status all_shapes(const ks_run *run, ks_search *s, size_t got, const ks_mode **reached,
                               const ks_mode *top, kspec_error *err) {
    block blocks[2 * KS_MOVES_MAX];
    double most = value(top);
    size_t n = 0, limit = s->count;
    for (size_t k = 0; k < got; k++) most = fmax(most, value(reached[k]));
    for (size_t k = 0; k < got; k++)
        if (value(reached[k]) > most - 4) {
            int twice = 0;
            for (size_t b = 0; b < n; b++) {
                ks_family f = reached[k]->family;
                f.shape = blocks[b].family.shape;
                twice |= ks_family_same(&f, &blocks[b].family);
            }
            if (twice) continue;
            blocks[n] = (block){reached[k]->family, reached[k]->theta, reached[k]->log_kappa, .limit = limit};
            reserve_block(s, &blocks[n++]);
        }
    return ks_parallel_for(run, n, one_block, &(tries){.s = s, .blocks = blocks}, err);
}

kspec_status ks_search_run(const ks_run *run, ks_search *s, const double *theta, const ks_cplx *log_kappa,
                           int all, kspec_error *err) {
    const ks_problem *p = s->p;
    ks_run parts[] = {ks_run_part(run, 0, 0.2), ks_run_part(run, 0.2, 0.5), ks_run_part(run, 0.5, 0.8),
                      ks_run_part(run, 0.8, 1)};
    s->count = 0;
    block whole = {.family = {.end = p->end}, .theta = theta, .log_kappa = log_kappa};
    reserve_block(s, &whole);
    kspec_status st = ks_parallel_for(&parts[0], 1, one_block, &(tries){.s = s, .blocks = &whole}, err);
    const ks_mode *top = whole.best;
    if (st || !all || p->o->used < 4 || !top) return st;
    ks_family f = {.shape = KS_SHAPE_ROUGH, .end = p->end};
    ks_mode *rough = reserve(s, &f);
    ks_mode_find(p, &s->work[0], top->theta, top->log_kappa, rough);
    places q;
    find_places(s, rough->found == 2 ? rough : top, &q);
    const ks_mode *reached[2 * KS_MOVES_MAX];
    size_t got = 0;
    st = climb(&parts[1], s, top->family.shape, top, &q, &got, reached, err);
    if (!st && top->family.shape != KS_SHAPE_FLAT)
        st = climb(&parts[2], s, KS_SHAPE_FLAT, top, &q, &got, reached, err);
    return st ? st : all_shapes(&parts[3], s, got, reached, top, err);
}
