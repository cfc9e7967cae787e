/* Searches for the families of spectra that explain the data best. */
#include "fit/search.h"

#include "base/error.h"
#include "base/memory.h"
#include "team/team.h"

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
        ks_arena_alloc(arena, K + 2 * (KS_PIECES_MAX + 1) * (K + 1) + 3 * (K + 1), sizeof *s->scratch);
    s->nothing = ks_arena_alloc(arena, K, sizeof *s->nothing);
    for (size_t i = 0; i < K && !arena->failed; i++) s->nothing[i] = (ks_cplx){NAN, NAN};
    return arena->failed ? ks_nomem(err, "the families of spectra", arena->failed) : KSPEC_OK;
}

/* Returns the mode of a family among the first `limit` modes, or NULL if the family was not tried yet. */
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

/* Returns the mode's log weight, or -infinity for a mode that is not trustworthy. */
static double value(const ks_mode *m) { return m && m->found == 2 ? m->log_weight : -INFINITY; }

/* ---- shapes ---- */

typedef struct {
    ks_family family;
    const double *theta;
    const ks_cplx *log_c;
    /* `own` points to KS_SHAPE_COUNT reserved modes, and limit is the number of earlier modes. */
    ks_mode *own;
    size_t limit;
    const ks_mode *best;
} block;

static void run_block(const ks_search *s, ks_mode_work *w, block *b) {
    const double *theta = b->theta;
    const ks_cplx *log_c = b->log_c;
    b->best = NULL;
    for (size_t shape = 0; shape < KS_SHAPE_COUNT; shape++) {
        ks_family f = b->family;
        f.shape = shape;
        b->own[shape].family = f;
        /* A constant spectrum cannot continue without end. */
        if (shape == KS_SHAPE_FLAT && f.end == s->p->end && !s->p->o->x->low_rank) continue;
        ks_mode *m = lookup(s, b->limit, &f);
        if (!m) ks_mode_find(s->p, w, theta, log_c, m = &b->own[shape]);
        if (m->found == 2) theta = m->theta, log_c = m->log_c;
        if (value(m) > value(b->best)) b->best = m;
    }
}

static void reserve_block(ks_search *s, block *b) {
    b->own = &s->modes[s->count];
    for (size_t shape = 0; shape < KS_SHAPE_COUNT; shape++) reserve(s, &b->family);
    /* A reserved mode without a result must not look like a tried family. */
    for (size_t shape = 0; shape < KS_SHAPE_COUNT; shape++) b->own[shape].family.end = 0;
}

/* ---- tries ---- */

typedef struct {
    const ks_search *s;
    const ks_mode *from;
    ks_mode *todo[KS_TRIES_MAX];
    block *blocks;
    /* `made` lists the modes that the chunks of all ranks found. */
    ks_mode *made;
} tries;

/*
 * Finds modes that were reserved consecutively, `per` in each chunk, so that the numbers of a chunk are
 * adjacent. In a team all ranks receive the modes, but not their pointers.
 */
static kspec_status find_all(const ks_run *run, ks_chunk_fn fn, tries *t, ks_mode *first, size_t chunks,
                             size_t per, kspec_error *err) {
    const ks_problem *p = t->s->p;
    const size_t count = chunks * per;
    if (!run->team || !chunks) return ks_parallel_for(run, chunks, fn, t, err);
    if (!(t->made = ks_zalloc(count, sizeof *t->made)))
        return ks_nomem(err, "the families of all ranks", ks_size(count, sizeof *t->made));
    const ks_share shares[] = {{t->made, sizeof *t->made, count, per},
                               {first->theta, 2 * p->N * sizeof *first->theta, count, per},
                               {first->log_c, p->o->K * sizeof *first->log_c, count, per}};
    kspec_status st = ks_team_for(run, "families", chunks, fn, t, shares, 3, err);
    for (size_t k = 0; k < count && !st; k++) {
        const ks_mode own = first[k];
        first[k] = t->made[k];
        first[k].theta = own.theta, first[k].variance = own.variance, first[k].log_c = own.log_c;
    }
    ks_free(t->made);
    t->made = NULL;
    return st;
}

/*
 * Computes the start of a flat family. Between breaks, theta is the mean of the rough mode. The noise is that
 * of the rough mode.
 */
static void between_breaks(const ks_problem *p, const ks_mode *rough, const ks_family *f, double *theta) {
    size_t n = ks_family_nodes(p, f), first = 0;
    memcpy(theta, rough->theta, p->N * sizeof *theta);
    for (size_t b = 0; b <= f->breaks; b++) {
        size_t last = b < f->breaks ? f->at[b] : n - 1;
        double sum = 0, count = 0;
        for (size_t l = first; l <= last; l++) {
            sum += p->weight[l] * exp(rough->theta[l]);
            count += p->weight[l];
        }
        for (size_t l = first; l <= last; l++) theta[l] = log(sum / count);
        first = last + 1;
    }
}

static kspec_status one_try(void *ctx, size_t k, const ks_worker *worker) {
    const tries *t = ctx;
    ks_mode *m = t->todo[k];
    const ks_search *s = t->s;
    if (m->family.shape == KS_SHAPE_FLAT) {
        between_breaks(s->p, s->rough, &m->family, m->theta);
        ks_mode_find(s->p, &s->work[worker->index], m->theta, s->nothing, m);
    } else {
        ks_mode_find(s->p, &s->work[worker->index], t->from->theta, t->from->log_c, m);
    }
    if (t->made) t->made[k] = *m;
    return KSPEC_OK;
}

static kspec_status one_block(void *ctx, size_t k, const ks_worker *worker) {
    const tries *t = ctx;
    run_block(t->s, &t->s->work[worker->index], &t->blocks[k]);
    if (t->made) memcpy(&t->made[k * KS_SHAPE_COUNT], t->blocks[k].own, KS_SHAPE_COUNT * sizeof *t->made);
    return KSPEC_OK;
}

/* Finds the best of the families. The search for each new family starts from one given mode. */
static kspec_status best_of(const ks_run *run, ks_search *s, const ks_mode *from, size_t count,
                            const ks_family *f, const ks_mode **best, kspec_error *err) {
    tries t = {.s = s, .from = from};
    ks_mode *m[KS_TRIES_MAX];
    size_t todo = 0;
    for (size_t k = 0; k < count; k++)
        if (!(m[k] = lookup(s, s->count, &f[k]))) m[k] = t.todo[todo++] = reserve(s, &f[k]);
    kspec_status st = find_all(run, one_try, &t, todo ? t.todo[0] : NULL, todo, 1, err);
    for (size_t k = 0; k < count && !st; k++)
        if (value(m[k]) > value(*best)) *best = m[k];
    return st;
}

/* ---- moves ---- */

typedef struct {
    /* into lists the breaks that divide the spectrum into 1, 2, ... pieces. */
    size_t pieces, into[KS_PIECES_MAX][KS_PIECES_MAX];
    size_t cuts, cut[KS_CUTS_MAX];
    size_t ends, end[KS_END_COUNT + KS_CUTS_MAX];
} places;

static void add_place(size_t x, size_t *count, size_t *list) {
    for (size_t k = 0; k < *count; k++)
        if (list[k] == x) return;
    list[(*count)++] = x;
}

/*
 * Proposes breaks by cutting the rough mode into constant pieces, and at the first nodes. Also proposes ends.
 */
static void find_places(const ks_search *s, places *q) {
    const ks_problem *p = s->p;
    size_t K = p->o->K, most = KS_PIECES_MAX < K - 1 ? KS_PIECES_MAX : K - 1;
    double *w = s->scratch;
    *q = (places){0};
    for (size_t k = 0; k < K; k++) w[k] = 1 / fmax(s->rough->variance[k], 1e-3);
    q->pieces = ks_segment(K, s->rough->theta, w, most, w + K, q->into);
    for (size_t k = 1; k < q->pieces; k++)
        for (size_t b = 0; b < k; b++) add_place(q->into[k][b], &q->cuts, q->cut);
    if (!p->o->x->low_rank) {
        for (size_t k = 0; k < KS_END_COUNT; k++)
            add_place((size_t)nearbyint((double)p->o->used * KS_ENDS[k]), &q->ends, q->end);
        for (size_t k = 0; k < q->cuts; k++) add_place(p->before[q->cut[k] + 1], &q->ends, q->end);
    }
    for (size_t k = 0; k < KS_SPIKES_MAX; k++) add_place(k, &q->cuts, q->cut);
}

/*
 * A spectrum may end only beyond three eigenvalues and beyond the last break. Without noise, it may end only
 * beyond the eigenvalues used.
 */
static int may_end(const ks_problem *p, const ks_family *f, size_t end) {
    size_t least = p->dust ? 3 : p->o->used > 3 ? p->o->used : 3;
    return end >= least && end < p->end && (!f->breaks || end > p->before[f->at[f->breaks - 1] + 1]);
}

static size_t list_breaks(const ks_problem *p, const ks_family *f, const places *q, ks_family *out) {
    size_t n = 0;
    for (size_t k = 0; k < q->cuts && f->breaks < KS_BREAKS_MAX; k++) {
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
    return n;
}

static size_t list_ends(const ks_problem *p, const ks_family *f, const places *q, ks_family *out) {
    size_t n = 0;
    for (size_t k = 0; k < q->ends; k++)
        if (may_end(p, f, q->end[k])) {
            out[n] = *f;
            out[n++].end = q->end[k];
        }
    return n;
}

/* Moves the end in steps of 4, 2 and 1 nodes as long as this improves the mode. */
static kspec_status refine(const ks_run *run, ks_search *s, const ks_mode *from, const ks_mode **best,
                           kspec_error *err) {
    kspec_status st = KSPEC_OK;
    for (size_t step = 4; step > 0 && !st && *best && (*best)->family.end < s->p->end; step /= 2) {
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

/* The modes found so far, one for each accepted move. */
typedef struct {
    size_t count;
    const ks_mode *at[KS_REACHED_MAX];
} reached;

/* Improves a mode by moves: adds a break, or an end if the family has none yet. Stops when no move helps. */
static kspec_status climb(const ks_run *run, ks_search *s, const ks_mode *current, const places *q,
                          reached *to, kspec_error *err) {
    const ks_problem *p = s->p;
    for (int move = 0; move < KS_MOVES_MAX; move++) {
        ks_family next[KS_TRIES_MAX];
        const ks_family *f = &current->family;
        size_t n = list_breaks(p, f, q, next);
        if (f->end == p->end) n += list_ends(p, f, q, next + n);
        const ks_mode *best = NULL;
        kspec_status st = best_of(run, s, current, n, next, &best, err);
        if (!st) st = refine(run, s, current, &best, err);
        if (st) return st;
        if (!best || value(best) < value(current) - 1) break;
        current = to->at[to->count++] = best;
    }
    return KSPEC_OK;
}

/*
 * Finds the best flat spectrum. The function first chooses the breaks, with an end beyond the sample's
 * spectrum, and then the end. *best is NULL if no flat spectrum fits.
 */
static kspec_status find_flat(const ks_run *run, ks_search *s, const places *q, const ks_mode **best,
                              kspec_error *err) {
    const ks_problem *p = s->p;
    ks_family f[KS_PIECES_MAX + KS_SPIKES_MAX], next[KS_TRIES_MAX];
    size_t n = 0, K = p->o->K, end = p->end;
    if (!p->o->x->low_rank) {
        end = (size_t)(KS_FLAT_END * (double)p->o->used);
        if (end > p->end - 1) end = p->end - 1;
    }
    for (size_t k = 0; k < q->pieces; k++) {
        f[n] = (ks_family){.shape = KS_SHAPE_FLAT, .end = end, .breaks = k};
        memcpy(f[n++].at, q->into[k], k * sizeof *f->at);
    }
    for (size_t k = 1; k <= KS_SPIKES_MAX && k + 1 < K; k++) {
        f[n] = (ks_family){.shape = KS_SHAPE_FLAT, .end = end, .breaks = k};
        for (size_t b = 0; b < k; b++) f[n].at[b] = b;
        n++;
    }
    *best = NULL;
    kspec_status st = best_of(run, s, s->rough, n, f, best, err);
    if (st || !*best || p->o->x->low_rank) return st;
    st = best_of(run, s, s->rough, list_ends(p, &(*best)->family, q, next), next, best, err);
    return st ? st : refine(run, s, s->rough, best, err);
}

/*
 * Tries every shape with the breaks and the end of each mode that the moves reached. Skips modes that are far
 * worse than the best.
 */
static kspec_status all_shapes(const ks_run *run, ks_search *s, const reached *to, const ks_mode *top,
                               kspec_error *err) {
    block blocks[KS_REACHED_MAX];
    double most = value(top);
    size_t n = 0, limit = s->count;
    for (size_t k = 0; k < to->count; k++) most = fmax(most, value(to->at[k]));
    for (size_t k = 0; k < to->count; k++) {
        const ks_mode *m = to->at[k];
        int twice = 0;
        for (size_t b = 0; b < n; b++) {
            ks_family f = m->family;
            f.shape = blocks[b].family.shape;
            twice |= ks_family_same(&f, &blocks[b].family);
        }
        if (twice || value(m) <= most - 4) continue;
        blocks[n] = (block){m->family, m->theta, m->log_c, .limit = limit};
        reserve_block(s, &blocks[n++]);
    }
    tries t = {.s = s, .blocks = blocks};
    return find_all(run, one_block, &t, n ? blocks[0].own : NULL, n, KS_SHAPE_COUNT, err);
}

kspec_status ks_search_run(const ks_run *run, ks_search *s, const double *theta, const ks_cplx *log_c,
                           int all, kspec_error *err) {
    const ks_problem *p = s->p;
    ks_run parts[] = {ks_run_part(run, 0, 0.2), ks_run_part(run, 0.2, 0.5), ks_run_part(run, 0.5, 0.8),
                      ks_run_part(run, 0.8, 1)};
    s->count = 0;
    block whole = {.family = {.end = p->end}, .theta = theta, .log_c = log_c};
    reserve_block(s, &whole);
    /* Every rank of a team computes this chunk, so every rank knows the best mode. */
    kspec_status st = ks_parallel_for(&parts[0], 1, one_block, &(tries){.s = s, .blocks = &whole}, err);
    const ks_mode *top = whole.best, *flat;
    if (st || !all || p->o->used < 4 || !top) return st;
    ks_mode *rough = reserve(s, &(ks_family){.shape = KS_SHAPE_ROUGH, .end = p->end});
    ks_mode_find(p, &s->work[0], top->theta, top->log_c, rough);
    s->rough = rough->found == 2 ? rough : top;
    places q;
    reached to = {0};
    find_places(s, &q);
    if (top->family.shape != KS_SHAPE_FLAT) st = climb(&parts[1], s, top, &q, &to, err);
    if (!st) st = find_flat(&parts[2], s, &q, &flat, err);
    if (!st && flat) {
        to.at[to.count++] = flat;
        st = climb(&parts[2], s, flat, &q, &to, err);
    }
    return st ? st : all_shapes(&parts[3], s, &to, top, err);
}
